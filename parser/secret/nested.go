package secret

import (
	"slices"
	"strings"

	"oomscan/parser/lazyre"
)

// holders are names of mappings of credentials, beside those of one, in the singular or the plural.
var holders = []string{"auth", "auths", "authentication", "cookies", "creds", "tokens"}

// holds reports whether a mapping of this name has credentials under names of their own.
func holds(name string) bool {
	last := snake(name[strings.LastIndexByte(name, '.')+1:])
	return slices.Contains(holders, last) || Key(last) || Key(strings.TrimSuffix(last, "s"))
}

// isHeld reports whether a dotted name is that of an entry of such a mapping.
func isHeld(name string) bool {
	for i := strings.LastIndexByte(name, '.'); i > 0; i = strings.LastIndexByte(name, '.') {
		if name = name[:i]; holds(strings.TrimLeft(name, "-+")) {
			return true
		}
	}
	return false
}

// entry is a value of a mapping in JSON, Python and YAML.
var entry = lazyre.New(`[:=]\s*\\*["']?([^\s"'\\,:={}\[\]()]+(?:=+[^\s"'\\,:={}\[\]()]+)*=*)`)

// nestedIn finds what looks issued in a mapping of credentials, whatever its names: `"auth": {"type": "basic", "value": "x"}`, and the
// same in YAML.
func nestedIn(text string) (spans []span) {
	from := 0
	for i := 1; i < len(text); i++ {
		before, end := text[from:i], 0
		switch text[i] {
		case '{':
			if before = strings.TrimRight(before, " "); !endsWith(before, ":=") {
				continue
			}
			before = before[:len(before)-1]
		case ':':
			rest := strings.TrimLeft(text[i+1:], " ")
			if m := newline().FindStringSubmatchIndex(rest[:min(len(rest), len(`\\n `))]); m == nil || m[0] > 0 || m[2] == m[3] {
				continue
			}
			end = len(text) - len(rest)
		default:
			continue
		}
		name := nameBefore(before)
		if name == "" || len(name) > maxName || !holds(name) {
			continue
		}
		if end == 0 {
			end = i + 1 + closing(text[i+1:])
		} else {
			end += indented(text[end:], column(before[:strings.LastIndex(before, name)]))
		}
		for _, v := range entry().FindAllStringSubmatchIndex(text[i:end], -1) {
			if lo, hi := i+v[2], i+v[3]; isIssued(text[lo:hi]) {
				spans = append(spans, span{lo, hi})
			}
		}
		from, i = end, end
	}
	return spans
}

func endsWith(text, signs string) bool {
	return text != "" && strings.IndexByte(signs, text[len(text)-1]) >= 0
}

// closing returns the length of what is before the brace that closes one before the text, or of all of it.
func closing(text string) int {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return len(text)
}
