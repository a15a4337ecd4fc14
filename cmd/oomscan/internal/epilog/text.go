package epilog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable makes text from outside a single line of at most most bytes: control characters, bidirectional controls
// and broken encodings become question marks.
func printable(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029 {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
