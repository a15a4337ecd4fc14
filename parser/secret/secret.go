// Package secret finds credentials in text and masks them, so that no token, key or password in a log gets into a report.
//
// It recognizes issued credentials by the prefixes that their issuers document for scanners, and others by the names of
// their variables. Any other long run of random letters and digits of both cases is masked too. It keeps what has one
// case, because readers of a log need commit hashes, Ray's ids and checksums. Therefore it does not use the rules of
// repository scanners such as gitleaks: those rely on entropy, expect exact lengths where a log may cut or wrap, and come
// with a configuration language.
package secret

import (
	"slices"
	"strings"
	"unicode/utf8"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
	"oomscan/parser/literal"
)

// Mask replaces the text of a secret.
const Mask = "***"

// A credential of less than minBare bytes contains or follows one of these signs.
const (
	minBare = 20
	signs   = "=:-_@./\\ \t：＝" // the last two are wide
)

// Text masks every credential in text and keeps the rest.
func Text(text string) string {
	if isCut(text) || isTail(text) { // a field with the process's name alone
		return Mask
	}
	if len(text) < 6 || len(text) < minBare && !strings.ContainsAny(text, signs) {
		return text
	}
	text = mask(text, issuedIn(text)) // before a shape masks the middle of one
	has := literal.PairsOf(text)
	for i := range shapes {
		if x := &shapes[i]; x.isNeeded(text, &has) {
			text = mask(text, x.find(text))
		}
	}
	text = mask(text, manifestIn(text))
	text = mask(text, columnsIn(text))
	if hasHead(text) {
		text = mask(text, cellsIn(text))
		text = mask(text, nestedIn(text))
	}
	text = mask(text, namedIn(text))
	if view, at := asTyped(text, &has); at != nil {
		text = mask(text, typedIn(view, at))
	}
	return mask(text, randomIn(text))
}

// span is where a text has a credential.
type span struct{ lo, hi int }

// mask replaces spans, in order, of which none overlaps the one before.
func mask(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var out strings.Builder
	from := 0
	for _, s := range spans {
		out.WriteString(text[from:s.lo] + Mask)
		from = s.hi
	}
	return out.String() + text[from:]
}

// find returns what matches of the shape's expression contain.
func (x *shape) find(text string) (spans []span) {
	for _, m := range x.re().FindAllStringSubmatchIndex(text, -1) {
		if n := len(m); x.swapped {
			m[n-4], m[n-3], m[n-2], m[n-1] = m[n-2], m[n-1], m[n-4], m[n-3]
		}
		s := span{m[len(m)-2], m[len(m)-1]}
		if s.lo < s.hi && (x.ok == nil || x.ok(text[s.lo:s.hi])) && (!x.named || isNamed(text, m)) {
			spans = append(spans, s)
		}
	}
	return spans
}

// isNamed reports whether a match's last group but one is the name of a credential, and the last a value for it.
func isNamed(text string, m []int) bool {
	name, val := strings.ReplaceAll(text[m[len(m)-4]:m[len(m)-3]], " ", "_"), text[m[len(m)-2]:m[len(m)-1]]
	return len(name) <= maxName && (Key(name) || mayBeKey(name) && isIssued(val)) && isValue(name, "", val)
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
	maxBlanks = 64
	minList   = 12 // bytes of a list of credentials
)

// namedIn finds values with the names of credentials: `name=value`, `name: value`, `"name": "value"`, `--name
// value`, `'--name', 'value'` and `("name", "value")`.
func namedIn(text string) (spans []span) {
	from := 0
	for i := 0; i < len(text); i++ {
		name, at, below := nameAt(text, from, i)
		if at == 0 || len(name) > maxName {
			continue
		}
		sure, short := Key(name), isShort(name)
		if !sure && !short && (!mayBeKey(name) || isOfModel(text[from:i], name)) && !isHeld(name) || !isClosed(text[:i], name, text[i:]) {
			continue
		}
		lo, hi := value(text, at)
		sure = (sure || short && isPassword(name, text, lo, hi)) && (!below || strings.Contains(text[at:lo], "- ")) // what is below a flag may be its description, unless it is the next item of a list
		if !isValue(name, text[i:lo], text[lo:hi]) || isProse(text, i, lo, hi) || !sure && !slices.ContainsFunc(elements(text, lo, hi), isIssued) {
			continue
		}
		spans = append(spans, span{lo, hi})
		from, i = hi, hi-1
	}
	return spans
}

// nameAt returns the name whose value the sign at i introduces, and where what follows the sign begins. The name is searched
// after from. below tells a flag whose value can only stand below it. at is 0 where the sign introduces nothing.
func nameAt(text string, from, i int) (name string, at int, below bool) {
	switch c := text[i]; {
	case c == '=' || c == ':':
		name, at = nameBefore(text[from:i]), i+1
		if c == '=' && name == "string" { // a variable of Go with its type
			name = nameBefore(strings.TrimSuffix(strings.TrimRight(text[from:i], " "), name))
		}
		if c == '=' && name == "." { // an assignment of PHP, which appends: x .= "y"
			name = nameBefore(strings.TrimSuffix(strings.TrimRight(text[from:i], " "), "."))
		}
		if colons := len(text[at:]) - len(strings.TrimLeft(text[at:], ":")); c == ':' && strings.HasPrefix(text[at+colons:], "=") {
			return name, at + colons + 1, false // an assignment of Go, of Make
		}
		if strings.HasPrefix(text[at:], ">") {
			return name, at + 1, false
		}
		if strings.HasPrefix(text[at:], "= ") { // a comparison
			return "", 0, false
		}
		return name, at, false
	case separator(text, i) > 0:
		return nameBefore(text[from:i]), i + separator(text, i), false
	case c == ',' && isListed(text[from:i]):
		return nameBefore(text[from:i]), i + 1, false
	case c == '-' && (strings.HasPrefix(text[i:], "--") || i > 0 && strings.IndexByte(" \t", text[i-1]) >= 0):
		at = i + 1 + nameLength(text[i+1:])
		name = text[i:at]
		if i > 0 && isQuote(text[i-1]) && strings.HasPrefix(text[at:], text[i-1:i]) && indent(text[at+1:]) > 0 {
			at++
		}
		if below = at < len(text) && indent(text[at:]) > 0; !below && at < len(text) && text[at] != ' ' && text[at] != '\t' {
			return "", 0, false // the value follows another sign, which comes next
		}
		return name, at, below
	}
	return "", 0, false
}

// separator returns the length of what separates a name from its value at i, other than : and =: these as URLs encode them, the
// rule of a table, an arrow, dots, the end of an XML tag. 0: there is none.
func separator(text string, i int) int {
	rest := text[i:]
	switch rest[0] {
	case '>', '|':
		return 1
	case '%':
		if len(rest) >= 3 && rest[1] == '3' && (rest[2]|0x20 == 'd' || rest[2] == 'A' || rest[2] == 'a') {
			return 3
		}
	case '.':
		if strings.HasPrefix(rest, "...") && (i == 0 || text[i-1] != '.') {
			return len(rest) - len(strings.TrimLeft(rest, "."))
		}
	case '-', "│"[0], "："[0]:
		for _, sign := range []string{"->", "│", "┃", "：", "＝"} {
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
		return strings.Contains(rest[1:], " |") || strings.HasPrefix(before, "|") && strings.Contains(rest[1:], "|")
	}
	return true
}

// isProse reports whether what follows the sign at i is a description: a link in a table, and, where Markdown sets the name or the
// value off, a word without numbers before another word.
func isProse(text string, i, lo, hi int) bool {
	cell := text[i] == '|'
	if cell && text[lo-1] == '[' {
		return true
	}
	if !cell && (i == 0 || strings.IndexByte("*`", text[i-1]) < 0) && !strings.HasPrefix(text[i:], ":*") || hasDigit(text[lo:hi]) {
		return false
	}
	next, ok := strings.CutPrefix(text[hi:], " ")
	return ok && next != "" && isAlnum(next[0])
}

// isShort reports whether a name may mean a password, or anything else.
func isShort(name string) bool {
	switch strings.ToLower(strings.TrimLeft(name[strings.LastIndexByte(name, '.')+1:], "-")) {
	case "pass", "pwd", "pw":
		return true
	}
	return false
}

// isPassword reports whether the value of a name that [isShort] is a password: beside the name of a user, or as passwords look.
func isPassword(name, text string, lo, hi int) bool {
	const least = 6
	value := text[lo:hi]
	if strings.HasPrefix(value, "/") || hi < len(text) && strings.IndexByte("([", text[hi]) >= 0 { // a path, a call
		return false
	}
	low := strings.ToLower(text[:min(len(text), 1<<12)])
	for _, user := range []string{"user", "uid", "login"} {
		if strings.Contains(low, user) {
			return true
		}
	}
	return len(value) >= least && hasLetter(value) &&
		(strings.HasSuffix(strings.ToLower(name), "pw") || strings.ContainsAny(value, digits) && !isQuantity(value) || len(value) >= minRun && isDrawn(value, 60))
}

// isQuantity reports whether a value is a number, maybe with an exponent and a unit.
func isQuantity(value string) bool {
	return quantity().MatchString(value) && (len(value) <= maxNumber || strings.Trim(value, digits) != "")
}

var quantity = lazyre.New(`^[+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?:%|[A-Za-zµ]{0,4}(?:/[A-Za-z]+)?)$`)

// decoration is what stands around a name or a value: quotes, and the signs of Markdown.
const decoration = "\"'`*“”‘’«»"

// nameBefore returns the name that text ends with, ignoring decoration and blanks after it.
func nameBefore(text string) string {
	text = strings.TrimRight(text, " \t")
	text = strings.TrimRight(strings.TrimRight(text, "?+"), " \t")      // an assignment of Make
	if strings.HasSuffix(text, `"]`) || strings.HasSuffix(text, `']`) { // os.environ["NAME"]
		text = text[:len(text)-1]
	}
	if bare := strings.TrimRight(text, decoration); bare != text {
		text = strings.TrimSuffix(bare, `\`)
	}
	end := len(text)
	begin := end
	for begin > 0 && end-begin <= maxName && nameByte(text[begin-1]) {
		begin--
	}
	if begin > 0 && begin < end && text[begin-1] == '\\' && text[begin] == 'n' { // an escaped end of a line
		begin++
	}
	if begin > 0 && text[begin-1] == '%' { // after an encoded sign of a URL
		begin = min(begin+2, end)
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
	return name[0] == '-' || endsWithAny(strings.ToLower(name), services) || strings.HasSuffix(strings.TrimSuffix(before, "b"), "(")
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

// indent returns the length of the end of a line, as it is or escaped, and of the blanks before the value on the next line. It is 0
// if there is another setting, or no indented line.
func indent(text string) int {
	rest, ok := strings.CutPrefix(text, "\n")
	if !ok {
		if rest, ok = strings.CutPrefix(strings.TrimLeft(text, `\`), "n"); !ok || text[0] != '\\' {
			return 0
		}
	}
	next := strings.TrimLeft(rest, " ")
	if n := nameLength(next); next == rest && !strings.HasPrefix(next, "- ") || n < len(next) && strings.IndexByte(":=", next[n]) >= 0 {
		return 0
	}
	return len(text) - len(next)
}

// beforeValue is what may precede a value: YAML's tag or anchor, its sign of a block with the end of the line, that of a list, the
// end of Markdown's emphasis, the beginning of a heredoc, and the beginning of a mapping with nothing but a value and its description, as W&B's config.yaml has them.
var beforeValue = lazyre.New(`^(?:(?:!!?\w+|&\w+)[ \t]+)?(?:[|>][-+\d]{0,2}(?:[ \t]{2,}|[ \t]*(?:\\+n|\n) +))?(?:- +)?` +
	`(?:\*{1,2}[ \t]+|<<[-~]?["']?\w+["']?(?:\\+n|\n)\s*)?(?:\{\s*(?:\\*["']?desc\\*["']?\s*:\s*(?:null|None),\s*)?\\*["']?value\\*["']?\s*:\s*)?`)

// beforeQuote is what may precede the quote of a value: Some("x"), ['x'], b'x', Python 2's u'x', SQL's N'x'.
var beforeQuote = lazyre.New(`^(?:[\w.-]*[(\[])?[buN]?(\\*["'])`)

// elements returns the words of a list whose elements are between lo and hi, or the value itself.
func elements(text string, lo, hi int) []string {
	if lo > 0 && text[lo-1] == '[' {
		return strings.FieldsFunc(text[lo:hi], func(r rune) bool { return strings.ContainsRune(` ,"'\\`, r) })
	}
	return []string{text[lo:hi]}
}

// value returns the bounds of the value at or after at, maybe on the next line. A quoted value ends at the same quote, a list of
// words without quotes at its bracket, others at white space or a separator.
func value(text string, at int) (lo, hi int) {
	lo = at
	for lo < len(text) && lo-at < maxBlanks && (text[lo] == ' ' || text[lo] == '\t') {
		lo++
	}
	lo += len(beforeValue().FindString(text[lo:]))
	if n := indent(text[lo:]); n > 0 {
		lo += n + len(text[lo+n:]) - len(strings.TrimPrefix(text[lo+n:], "- "))
	}
	if n := strings.IndexByte(text[lo:], ']'); n >= minList && text[lo] == '[' && hasLetterAndDigit(text[lo:lo+n]) {
		return lo + 1, lo + n
	}
	if m := beforeQuote().FindStringSubmatchIndex(text[lo:]); m != nil {
		lo += m[2]
	}
	escaped := strings.HasPrefix(text[lo:], `\`)
	if escaped {
		lo++
	}
	for _, three := range []string{`"""`, "'''"} {
		if strings.HasPrefix(text[lo:], three) {
			lo += len(`""`)
		}
	}
	if lo == len(text) || !isQuote(text[lo]) && text[lo] != '`' {
		for hi = lo; hi < len(text) && !valueEnds(text[lo:hi], text[hi:]); hi++ {
		}
		return lo, hi
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

// valueEnds reports whether a value without quotes ends where rest begins. Parentheses and & may be characters of a password, but not
// those of a call, of something in parentheses, of the next setting of a URL and between commands.
func valueEnds(value, rest string) bool {
	const ends = " \t\r\n\"',;{}[]\\"
	next := rest[1:]
	switch rest[0] {
	case '(':
		called := strings.TrimPrefix(value, Mask)
		return !strings.ContainsFunc(called, func(r rune) bool { return r != '.' && (r >= utf8.RuneSelf || !ascii.IsWord(byte(r))) })
	case ')':
		return next == "" || strings.IndexByte(ends+").:", next[0]) >= 0
	case '&':
		n := nameLength(next)
		return value == "" || strings.IndexByte(ends+"&", (next + " ")[0]) >= 0 || n > 0 && strings.HasPrefix(next[n:], "=")
	}
	return strings.IndexByte(ends, rest[0]) >= 0
}

// maxNumber is the length of the largest number of 64 bits. More digits are no number of tokens.
const maxNumber = 20

// isValue reports whether a value may be a secret: not empty, no keyword, no number of tokens, and after the colon of
// a sentence no plain word.
func isValue(name, between, value string) bool {
	switch strings.ToLower(strings.Trim(value, decoration)) {
	case "", "none", "null", "true", "false", "<redacted>", "redacted":
		return false
	}
	if strings.Trim(value, " ,") == "" || strings.HasPrefix(value, "<|") || strings.HasPrefix(value, "--") || isVariable(value) {
		return false
	}
	if strings.HasSuffix(name, "pwd") && strings.HasPrefix(value, "/") { // a directory
		return false
	}
	password := strings.Contains(strings.ToLower(name), "pass")
	if !password && strings.Trim(value, digits+".-") == "" && (len(value) <= maxNumber || strings.Trim(value, digits) != "") {
		return false
	}
	sentence := strings.HasSuffix(between, ": ") || strings.HasPrefix(between, "|") || strings.HasPrefix(between, ":") && strings.ContainsAny(between, "\n\\")
	if sentence && !strings.ContainsAny(between, `"'`) {
		return password || !isQuantity(value) && len(value) >= 8 &&
			(strings.ContainsAny(value, digits) || len(value) >= minRun && isDrawn(strings.TrimRight(value, "=>)"), 30) || isDrawn(value[strings.LastIndexByte(value, '.')+1:], 50) || isDrawnWithSigns(value))
	}
	return true
}

// isIssued reports whether a value has the form of an issued key: one run of letters and digits, shorter where the letters have one
// case, as in the access keys of AWS and Huawei Cloud, a UUID, maybe behind a short prefix, 28 bytes in Base64, as in those of Ceph, or words of which one has at
// least three numbers between its letters or looks drawn at random, or of any characters but those of paths and calls with as many such
// numbers, or such a look without its signs.
func isIssued(value string) bool {
	const least, ofOneCase, part, short, uuid, prefix, base64 = 24, 20, 16, 12, 36, 8, 40
	return len(value) >= least && (hasNumbersInside(value) || isDrawnWithSigns(value)) && !strings.HasPrefix(value, "/") && !strings.ContainsAny(value, ` ([{<\`) && !strings.Contains(value, "://") ||
		len(value) >= least && hasDigit(value) && isRun(value) ||
		len(value) >= ofOneCase && hasLetterAndDigit(value) && isRun(value) && (strings.ToLower(value) == value || strings.ToUpper(value) == value) ||
		len(value) <= prefix+uuid && hasUUID(value) ||
		len(value) >= base64 && strings.HasSuffix(value, "=") && isRandom(value) && isRun(unsigned.Replace(value)) ||
		slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(wordy+".:%", r) }), func(word string) bool {
			_, numbers := classes(word)
			return len(word) >= part && (numbers >= 3 && isRun(word) || hasDigit(word) && isDrawn(word, 45) || isDrawn(word, 60)) ||
				len(word) >= short && hasDigit(word) && isDrawn(word, 70)
		})
}

// isRun reports whether a text has nothing but letters and digits.
func isRun(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || !isAlnum(byte(r)) }) < 0
}

// isVariable reports whether a value is a shell variable.
func isVariable(value string) bool {
	return value == "$" || len(value) > 1 && value[0] == '$' && (ascii.IsUpper(value[1]) || value[1] == '{' || value[1] == '(' || value[1] == '_')
}
