// Package secret finds credentials in text and masks them: nothing that a log holds of tokens, keys and passwords may
// leave in a report.
//
// It knows what issued credentials look like (the prefixes that their issuers document for scanners) and which names
// people give to theirs. What merely looks random is left alone: commit hashes, Ray's ids and checksums are what a reader
// of a log needs. That is why no ready set of rules is used: those of scanners for repositories, such as gitleaks, take
// entropy for a sign, know exact lengths rather than what a log has cut or wrapped, and come with a configuration language.
package secret

import (
	"strings"
	"unicode/utf8"

	"oomscan/parser/ascii"
)

// Mask stands for the text of a secret.
const Mask = "***"

// A credential of less than minBare bytes holds one of these signs, or stands beside one.
const (
	minBare = 20
	signs   = "=:-_@./ \t"
)

// Text masks every credential in text. Names, and whatever else stands beside, stay.
func Text(text string) string {
	if len(text) < 6 || len(text) < minBare && !strings.ContainsAny(text, signs) {
		return text
	}
	for i := range shapes {
		x := &shapes[i]
		if strings.Contains(text, x.need) && (x.near == "" || strings.ContainsAny(text, x.near)) {
			text = maskAll(text, x.re().FindAllStringSubmatchIndex(text, -1), func(m []int) (int, int) {
				lo, hi := m[len(m)-2], m[len(m)-1]
				if x.ok != nil && !x.ok(text[lo:hi]) {
					return 0, 0
				}
				return lo, hi
			})
		}
	}
	return maskNamed(maskIssued(text))
}

// Stable is [Text] such that masking again changes nothing: what a mask uncovers, or what stands beside it, may look like a
// credential in turn.
func Stable(text string) string {
	const rounds = 8
	for range rounds {
		masked := Text(text)
		if masked == text {
			break
		}
		text = masked
	}
	return text
}

// maxWord is the longest word that [Clip] leaves out as a whole rather than cut it.
const maxWord = 256

// Clip is the beginning of a text, of at most so many bytes, without credentials, and such that [Text] leaves it as it is.
// It hides before it cuts, and cuts between words: half a credential no longer looks like one.
func Clip(text string, limit int) string {
	text = Stable(text)
	for size := limit; len(text) > limit; size -= len("password") {
		if size <= 0 {
			return ""
		}
		end := size
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		if i := strings.LastIndexAny(text[:end], " \t\n"); i > 0 && end-i <= maxWord {
			end = i
		}
		text = Stable(text[:end])
	}
	return text
}

// Bounds of what stands between a name and its value.
const (
	maxName   = 80
	maxBlanks = 8
)

// named masks the values of what is called like a credential: `name=value`, `name: value`, `"name": "value"`, `--name value`,
// `'--name', 'value'` and `("name", "value")`.
func maskNamed(text string) string {
	var out strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		var name string
		at := 0
		switch c := text[i]; {
		case c == '=' || c == ':':
			name, at = nameBefore(text[from:i]), i+1
			if strings.HasPrefix(text[at:], ">") {
				at++
			}
		case c == ',' && isListed(text[from:i]):
			name, at = nameBefore(text[from:i]), i+1
		case c == '-' && strings.HasPrefix(text[i:], "--"):
			at = i + 2 + nameLength(text[i+2:])
			name = text[i:at]
			if at < len(text) && text[at] != ' ' && text[at] != '\t' {
				continue // the value follows another sign, which comes next
			}
		default:
			continue
		}
		if len(name) > maxName || !Key(name) {
			continue
		}
		lo, hi := value(text, at)
		if !isValue(name, text[i:lo], text[lo:hi]) {
			continue
		}
		out.WriteString(text[from:lo] + Mask)
		from, i = hi, hi-1
	}
	if from == 0 {
		return text
	}
	return out.String() + text[from:]
}

// nameBefore is the name that text ends with, quotes and blanks behind it aside.
func nameBefore(text string) string {
	end := len(text)
	for range maxBlanks {
		if end > 0 && (text[end-1] == ' ' || text[end-1] == '\t') {
			end--
		}
	}
	if end > 0 && (text[end-1] == '"' || text[end-1] == '\'') {
		end--
		if end > 0 && text[end-1] == '\\' {
			end--
		}
	}
	begin := end
	for begin > 0 && end-begin <= maxName && nameByte(text[begin-1]) {
		begin--
	}
	return text[begin:end]
}

// listed says that text ends with a flag in quotes or with the first of a pair in quotes: what follows the comma is its value.
func isListed(text string) bool {
	name := nameBefore(text)
	quoted := strings.TrimRight(text, `"'\`)
	if name == "" || quoted == text || !strings.HasSuffix(quoted, name) {
		return false
	}
	before := strings.TrimRight(strings.TrimSuffix(quoted, name), `"'\`)
	return name[0] == '-' || strings.HasSuffix(strings.TrimSuffix(before, "b"), "(")
}

func nameByte(c byte) bool {
	return ascii.IsWord(c) || c == '-' || c == '.'
}

// words is how many bytes at the beginning of text belong to a name, or one more than a name may have.
func nameLength(text string) int {
	n := 0
	for n < len(text) && n <= maxName && nameByte(text[n]) {
		n++
	}
	return n
}

// value finds the value that begins at or behind at. One in quotes ends at the same quote, one without at white space or
// at what separates values.
func value(text string, at int) (lo, hi int) {
	lo = at
	for lo < len(text) && lo-at < maxBlanks && (text[lo] == ' ' || text[lo] == '\t') {
		lo++
	}
	if strings.HasPrefix(text[lo:], `b'`) || strings.HasPrefix(text[lo:], `b"`) {
		lo++
	}
	escaped := strings.HasPrefix(text[lo:], `\`)
	if escaped {
		lo++
	}
	if lo == len(text) || text[lo] != '"' && text[lo] != '\'' {
		if n := strings.IndexAny(text[lo:], " \t\r\n\"',;&(){}[]\\"); n >= 0 {
			return lo, lo + n
		}
		return lo, len(text)
	}
	quote := text[lo]
	lo++
	for hi = lo; hi < len(text) && text[hi] != quote; hi++ {
		if text[hi] == '\\' {
			if escaped {
				break
			}
			hi++
		}
	}
	return lo, min(hi, len(text))
}

// material says that a value may be a secret's: not empty, no word of a configuration, no number where tokens are
// counted, and behind the colon of a sentence nothing that is a word.
func isValue(name, between, value string) bool {
	switch strings.ToLower(value) {
	case "", "none", "null", "true", "false", Mask, "<redacted>", "redacted":
		return false
	}
	if strings.HasPrefix(value, Mask) || strings.HasPrefix(value, "<|") || strings.HasPrefix(value, "--") || isVariable(value) {
		return false
	}
	password := strings.Contains(strings.ToLower(name), "pass")
	if !password && strings.Trim(value, digits+".-") == "" {
		return false
	}
	if strings.HasSuffix(between, ": ") && !strings.ContainsAny(between, `"'`) {
		return password || len(value) >= 8 && strings.ContainsAny(value, digits)
	}
	return true
}

// variable says that a value is a shell's variable.
func isVariable(value string) bool {
	return value == "$" || len(value) > 1 && value[0] == '$' && (ascii.IsUpper(value[1]) || value[1] == '{' || value[1] == '(' || value[1] == '_')
}

// maskAll replaces the ranges that pick gives for each match; an empty range replaces nothing.
func maskAll(text string, matches [][]int, pick func(m []int) (lo, hi int)) string {
	var out strings.Builder
	from := 0
	for _, m := range matches {
		lo, hi := pick(m)
		if lo < from || hi <= lo {
			continue
		}
		out.WriteString(text[from:lo] + Mask)
		from = hi
	}
	if from == 0 {
		return text
	}
	return out.String() + text[from:]
}
