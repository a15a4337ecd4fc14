// Package secret finds credentials in text and masks them, so that no token, key or password in a log gets into a report.
//
// It recognizes issued credentials by the prefixes that their issuers document for scanners, and others by the names of
// their variables. Any other long run of random letters and digits of both cases is masked too. It keeps what has one
// case, because readers of a log need commit hashes, Ray's ids and checksums. Therefore it does not use the rules of
// repository scanners such as gitleaks: those rely on entropy, expect exact lengths where a log may cut or wrap, and come
// with a configuration language.
package secret

import (
	"strings"
	"unicode/utf8"

	"oomscan/parser/ascii"
)

// Mask replaces the text of a secret.
const Mask = "***"

// A credential of less than minBare bytes contains or follows one of these signs.
const (
	minBare = 20
	signs   = "=:-_@./ \t：" // the last one is wide
)

// Text masks every credential in text and keeps the rest.
func Text(text string) string {
	if len(text) < 6 || len(text) < minBare && !strings.ContainsAny(text, signs) {
		return text
	}
	for i := range shapes {
		x := &shapes[i]
		if x.isNeeded(text) {
			text = maskAll(text, x.re().FindAllStringSubmatchIndex(text, -1), func(m []int) (int, int) {
				lo, hi := m[len(m)-2], m[len(m)-1]
				if x.ok != nil && !x.ok(text[lo:hi]) || x.named && !isNamed(text, m) {
					return 0, 0
				}
				return lo, hi
			})
		}
	}
	return maskRandom(maskNamed(maskIssued(text)))
}

// isNamed reports whether a match's last group but one is the name of a credential, and the last a value for it.
func isNamed(text string, m []int) bool {
	name, val := text[m[len(m)-4]:m[len(m)-3]], text[m[len(m)-2]:m[len(m)-1]]
	return len(name) <= maxName && Key(name) && isValue(name, "", val)
}

// Stable repeats [Text] until it changes nothing, because masking may make the rest look like another credential.
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

// maxWord is the longest word that [Clip] drops instead of cutting it.
const maxWord = 256

// Clip returns the beginning of a text, limit bytes at most, without credentials; [Text] would not change it. It
// masks before it cuts, and cuts between words, because half a credential does not look like one.
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

// Limits for a name, and the blanks between it and its value.
const (
	maxName   = 80
	maxBlanks = 8
)

// maskNamed masks values with the names of credentials: `name=value`, `name: value`, `"name": "value"`, `--name
// value`, `'--name', 'value'` and `("name", "value")`.
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
		case separator(text, i) > 0:
			name, at = nameBefore(text[from:i]), i+separator(text, i)
		case c == ',' && isListed(text[from:i]):
			name, at = nameBefore(text[from:i]), i+1
		case c == '-' && (strings.HasPrefix(text[i:], "--") || i > 0 && strings.IndexByte(" \t", text[i-1]) >= 0):
			at = i + 1 + nameLength(text[i+1:])
			name = text[i:at]
			if at < len(text) && text[at] != ' ' && text[at] != '\t' {
				continue // the value follows another sign, which the loop reaches next
			}
		default:
			continue
		}
		if len(name) > maxName {
			continue
		}
		sure, beside := Key(name), isBesideUser(name, text)
		if !sure && !beside && !mayBeKey(name) || !isClosed(text[:i], name, text[i:]) {
			continue
		}
		lo, hi := value(text, at)
		sure = sure || beside && !strings.HasPrefix(text[lo:], "/")
		if !isValue(name, text[i:lo], text[lo:hi]) || !sure && !isIssued(text[lo:hi]) {
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

// separator returns the length of what separates a name from its value at i, other than : and =: the rule of a table, an arrow,
// dots, the end of an XML tag. 0: there is none.
func separator(text string, i int) int {
	rest := text[i:]
	switch rest[0] {
	case '>', '|':
		return 1
	case '.':
		if strings.HasPrefix(rest, "...") && (i == 0 || text[i-1] != '.') {
			return len(rest) - len(strings.TrimLeft(rest, "."))
		}
	case '-', "│"[0], "："[0]:
		for _, sign := range []string{"->", "│", "┃", "："} {
			if strings.HasPrefix(rest, sign) {
				return len(sign)
			}
		}
	}
	return 0
}

// isClosed reports whether what begins before a value ends after it, if it must: an XML tag, and a cell of a table, unlike the
// commands of a pipeline.
func isClosed(before, name, rest string) bool {
	switch rest[0] {
	case '>':
		return strings.HasSuffix(before, "<"+name) && strings.Contains(rest, "</")
	case '|':
		return strings.Contains(rest[1:], " |")
	}
	return true
}

// isBesideUser reports whether a name that may mean anything, such as pass, follows or precedes the name of a user.
func isBesideUser(name, text string) bool {
	switch strings.ToLower(strings.TrimLeft(name, "-")) {
	case "pass", "pwd", "pw":
		low := strings.ToLower(text[:min(len(text), 1<<12)])
		return strings.Contains(low, "user") || strings.Contains(low, "uid")
	}
	return false
}

// nameBefore returns the name that text ends with, ignoring quotes and blanks after it.
func nameBefore(text string) string {
	end := len(text)
	for range maxBlanks {
		if end > 0 && (text[end-1] == ' ' || text[end-1] == '\t') {
			end--
		}
	}
	if strings.HasSuffix(text[:end], `"]`) || strings.HasSuffix(text[:end], `']`) { // os.environ["NAME"]
		end--
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

// isListed reports whether text ends with a quoted flag or the quoted first element of a pair, so that the value
// follows the comma.
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

// nameLength returns the length of the name that text begins with, maxName+1 at most.
func nameLength(text string) int {
	n := 0
	for n < len(text) && n <= maxName && nameByte(text[n]) {
		n++
	}
	return n
}

// value returns the bounds of the value at or after at. A quoted value ends at the same quote, others at white space
// or a separator.
func value(text string, at int) (lo, hi int) {
	lo = at
	for lo < len(text) && lo-at < maxBlanks && (text[lo] == ' ' || text[lo] == '\t') {
		lo++
	}
	if strings.HasPrefix(text[lo:], "Some(") { // in Rust
		lo += len("Some(")
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

// isValue reports whether a value may be a secret: not empty, no keyword, no number of tokens, and after the colon of
// a sentence no plain word.
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

// isIssued reports whether a value has the form of an issued key: one run of letters and digits, or a UUID.
func isIssued(value string) bool {
	const least, uuid = 24, 36
	run := len(value) >= least && strings.IndexFunc(value, func(r rune) bool { return r >= utf8.RuneSelf || !isAlnum(byte(r)) }) < 0
	return run && hasDigit(value) || len(value) == uuid && hasUUID(value)
}

// isVariable reports whether a value is a shell variable.
func isVariable(value string) bool {
	return value == "$" || len(value) > 1 && value[0] == '$' && (ascii.IsUpper(value[1]) || value[1] == '{' || value[1] == '(' || value[1] == '_')
}

// maskAll masks the range that pick returns for each match, if it is not empty.
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
