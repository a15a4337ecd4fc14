package obs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"oomscan/parser/envelope"
	"oomscan/parser/secret"
)

// texts encodes and decodes texts and numbers. err is the first value that a file must not contain.
type texts struct{ err error }

func (t *texts) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// out encodes a text: without secrets, cut to a limit, valid in JSON.
func (t *texts) out(s string, limit int) string { return escapeBytes(secret.Clip(s, limit)) }

func (t *texts) in(s string, limit int) string {
	s, err := unescapeBytes(s)
	if err != nil {
		t.fail("%w", err)
	}
	if len(s) > limit {
		t.fail("a text of %d bytes is longer than %d", len(s), limit)
		return ""
	}
	return s
}

// maxNumber bounds lines, offsets, ranks and process ids.
const maxNumber = 1 << 53

// number checks a number that cannot be negative.
func (t *texts) number(n int) int {
	if n < 0 || n > min(maxNumber, math.MaxInt) {
		t.fail("the number %d is out of range", n)
		return 0
	}
	return n
}

// optional returns a number of an envelope, nil if it is unknown.
func optional(n int) *int {
	if n <= envelope.Unknown || n > maxNumber {
		return nil
	}
	return &n
}

// escapeMark precedes two hexadecimal digits for a byte that is not UTF-8. It is a code point that Unicode reserves
// for internal use; where it occurs in a text, its own bytes are escaped too.
const escapeMark = "\ufdd0"

// escapeBytes turns any bytes into text that JSON can contain.
func escapeBytes(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, escapeMark) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || s[i:i+n] == escapeMark {
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, "%s%02x", escapeMark, c)
			}
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

var errEscape = errors.New("incomplete escaped byte")

// unescapeBytes undoes [escapeBytes].
func unescapeBytes(s string) (string, error) {
	if !strings.Contains(s, escapeMark) {
		return s, nil
	}
	first, rest, _ := strings.Cut(s, escapeMark)
	b := []byte(first)
	for part := range strings.SplitSeq(rest, escapeMark) {
		if len(part) < 2 || nibble(part[0]) < 0 || nibble(part[1]) < 0 {
			return "", errEscape
		}
		b = append(b, byte(nibble(part[0])<<4|nibble(part[1])))
		b = append(b, part[2:]...)
	}
	return string(b), nil
}

func nibble(c byte) int { return strings.IndexByte("0123456789abcdef", c) }

// EscapeCodes escapes what controls a terminal or hides text, and which a JSON encoder lets through: DEL, C1, what changes the direction
// of writing, and tags, which nobody sees but programs read. In JSON such codes are in strings only. It returns text itself if there
// are none.
func EscapeCodes(text []byte) []byte {
	if isASCII := !slices.ContainsFunc(text, func(c byte) bool { return c >= 0x7f }); isASCII || !bytes.ContainsFunc(text, isCode) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for _, r := range string(text) {
		if !isCode(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

func isCode(r rune) bool {
	return r >= 0x7f && (r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) || r >= 0xe0000 && r <= 0xe007f)
}
