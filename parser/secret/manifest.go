package secret

import (
	"strings"

	"oomscan/parser/lazyre"
)

// What a text has of a Secret of Kubernetes: its kind, and the fields with its values. Source: the API reference of Secret v1.
var (
	secretKind = lazyre.New(`(?:\b|\\n)kind\\*["']?\s*:\s*\\*["']?Secret(?:$|[^\w.-])`)
	secretData = lazyre.New(`(?:\b|\\n[ -]*)(data|stringData)\\*["']?\s*:[ \t]*\{?`)
)

// manifestIn finds the values of a Secret of Kubernetes, in YAML, in JSON and as Python prints it. Their names are of no use here:
// any name may have a credential.
func manifestIn(text string) (spans []span) {
	if !strings.Contains(text, "Secret") || !strings.Contains(text, "ata") || !secretKind().MatchString(text) {
		return nil
	}
	from := 0
	for _, m := range secretData().FindAllStringSubmatchIndex(text, -1) {
		lo := m[1]
		if lo <= from {
			continue
		}
		hi := len(text)
		if text[lo-1] == '{' {
			if n := strings.IndexByte(text[lo:], '}'); n >= 0 {
				hi = lo + n
			}
		} else {
			hi = lo + indented(text[lo:], column(text[:m[2]]))
		}
		if strings.TrimLeft(text[lo:hi], " \n\\rn") != "" {
			spans = append(spans, span{lo, hi})
			from = hi
		}
	}
	return spans
}

// newline is the end of a line, as it is or escaped, with the blanks that the next begins with.
var newline = lazyre.New(`(?:\n|\\+n)( *)`)

// indented returns the length of the beginning of text whose lines, from the second on, are indented more than column.
func indented(text string, column int) int {
	for at := 0; ; {
		m := newline().FindStringSubmatchIndex(text[at:])
		if m == nil {
			return len(text)
		}
		if m[3]-m[2] <= column && at+m[1] < len(text) {
			return at + m[0]
		}
		at += m[1]
	}
}

// column returns how far the end of text is from the beginning of its line, if nothing but blanks and YAML's sign of a list is
// between them, else 0.
func column(text string) int {
	const deepest = 64
	text = text[max(0, len(text)-deepest):]
	if all := newline().FindAllStringSubmatchIndex(text, -1); len(all) > 0 {
		text = text[all[len(all)-1][2]:]
	}
	if strings.Trim(text, " -") != "" {
		return 0
	}
	return len(text)
}
