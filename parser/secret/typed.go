package secret

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"oomscan/parser/literal"
)

// quotings are in every text that [asTyped] changes.
var quotings = literal.Words(`\"`, `\'`, `["`, `['`, `[u'`, `[u"`, `[b'`, `[b"`, "%22", "%2F", "%2f", "&quot;", `\u`, `\t`, `\x00`, "^@")

// asTyped returns a text as someone would type it into a shell: without the backslashes of quotes within quotes, with the quotes
// that HTML encodes and the characters that a URL or JSON does, and with the quoted arguments of a list, as Python and JSON write them, between
// blanks. at has the offset in text of each of its bytes; it is nil if the text is like that already. has are the text's pairs.
func asTyped(text string, has *literal.Pairs) (view string, at []int) {
	if !slices.ContainsFunc(quotings, func(w literal.Word) bool { return has.Have(&w) && strings.Contains(text, w.Text) }) {
		return text, nil
	}
	b := make([]byte, 0, len(text))
	argument := byte(0) // the quote of a list's argument, in which i is
	for i := 0; i < len(text); i++ {
		c := text[i]
		if r, n := encoded(text[i:]); n > 0 {
			for b = utf8.AppendRune(b, r); len(at) < len(b); {
				at = append(at, i)
			}
			i += n - 1
			at[len(at)-1] = i
			continue
		}
		if c == '\\' {
			n := len(text) - i - len(strings.TrimLeft(text[i:], `\`))
			if i+n < len(text) && isQuote(text[i+n]) {
				i += n - 1
				continue
			}
			for range n {
				b, at = append(b, c), append(at, i)
				i++
			}
			i--
			continue
		}
		switch {
		case c == argument:
			var n int
			if n, argument = nextArgument(text[i+1:]); n > 0 {
				c = ' '
				i += n
			}
		case argument == 0 && len(b) > 0 && b[len(b)-1] == '[' && (isQuote(c) || isMarked(text[i:])):
			if !isQuote(c) {
				i++
			}
			c, argument = text[i], text[i]
		}
		b, at = append(b, c), append(at, i)
	}
	if len(b) == len(text) {
		return text, nil
	}
	return string(b), at
}

// encoded returns the double quote of HTML, or the character of a URL or JSON, that text begins with in its encoded form, and the
// length of that. It is 0 if there is none.
func encoded(text string) (char rune, n int) {
	if strings.HasPrefix(text, "&quot;") {
		return '"', len("&quot;")
	}
	if text[0] == '%' && len(text) > 2 {
		code, err := strconv.ParseUint(text[1:3], 16, 8)
		if err == nil && code >= ' ' && code < 0x7f {
			return rune(code), len("%22")
		}
	}
	if strings.HasPrefix(text, "^@") { // NUL, as cat -v shows it
		return ' ', len("^@")
	}
	escape := strings.TrimLeft(text, `\`)
	for _, blank := range []string{"t", "x00"} {
		if rest, ok := strings.CutPrefix(escape, blank); ok && text[0] == '\\' {
			return ' ', len(text) - len(rest)
		}
	}
	digits, ok := strings.CutPrefix(escape, "u")
	if text[0] != '\\' || !ok || len(digits) < len("0022") {
		return 0, 0
	}
	code, err := strconv.ParseUint(digits[:len("0022")], 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(code), len(text) - len(digits) + len("0022")
}

// nextArgument returns the length of what a list has between the end of one argument and the next, its quote included, and the
// quote. It is 0 if the list ends.
func nextArgument(text string) (n int, quote byte) {
	rest, ok := strings.CutPrefix(text, ",")
	if !ok {
		return 0, 0
	}
	rest = strings.TrimLeft(strings.TrimPrefix(rest, " "), `\`)
	if isMarked(rest) {
		rest = rest[1:]
	}
	if rest == "" || !isQuote(rest[0]) {
		return 0, 0
	}
	return len(text) - len(rest) + 1, rest[0]
}

// isMarked reports whether a text begins with a string that Python shows as Unicode or as bytes.
func isMarked(text string) bool {
	return len(text) > 1 && (text[0] == 'u' || text[0] == 'b') && isQuote(text[1])
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// typedIn finds what [asTyped] shows, in order and joined where it overlaps, at the offsets of the text.
func typedIn(view string, at []int) []span {
	has := literal.PairsOf(view)
	found := namedIn(view)
	for i := range shapes {
		if x := &shapes[i]; x.isNeeded(view, &has) {
			found = append(found, x.find(view)...)
		}
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	joined := found[:0]
	for _, s := range found {
		s = span{at[s.lo], at[s.hi-1] + 1}
		if n := len(joined); n > 0 && s.lo < joined[n-1].hi {
			joined[n-1].hi = max(joined[n-1].hi, s.hi)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}
