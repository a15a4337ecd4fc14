package parser

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of [literals].
const (
	minLiteral  = 4 // bytes: shorter ones are in most lines
	maxLiterals = 3
)

// literals returns some texts that each match of a regexp2 expression holds, the longest ones. It looks only at what stands
// outside all groups and classes, and knows only expressions without options and without alternatives there: of others it
// returns none. Searching for a text is far cheaper than matching.
func literals(expr string) [][]byte {
	if strings.Contains(expr, "(?i") || strings.Contains(expr, "(?x") || strings.Contains(expr, "(?n") {
		return nil
	}
	var found []string
	var run strings.Builder
	end := func() {
		if run.Len() >= minLiteral {
			found = append(found, run.String())
		}
		run.Reset()
	}
	for i := 0; i < len(expr); {
		c, n := utf8.DecodeRuneInString(expr[i:])
		plain := false
		switch {
		case c == '|':
			return nil
		case c == '(':
			n = groupLen(expr[i:])
		case c == '[':
			n = classLen(expr[i:])
		case c == '\\' && i+1 < len(expr):
			var m int
			c, m = utf8.DecodeRuneInString(expr[i+1:])
			n += m
			if strings.ContainsRune("xucpPk", c) {
				return nil // what follows belongs to it
			}
			plain = !unicode.IsLetter(c) && !unicode.IsDigit(c)
		case strings.ContainsRune(".^$*+?{}\\", c):
		default:
			plain = true
		}
		if n == 0 {
			return nil // not understood
		}
		i += n
		repeats, optional := quantifier(expr[i:])
		switch {
		case plain && !optional:
			run.WriteRune(c)
			if repeats > 0 {
				end()
			}
		default:
			end()
		}
		i += repeats
	}
	end()
	slices.SortStableFunc(found, func(a, b string) int { return len(b) - len(a) })
	var out [][]byte
	for _, lit := range found[:min(len(found), maxLiterals)] {
		out = append(out, []byte(lit))
	}
	return out
}

// quantifier returns the length of the quantifier that s begins with, 0: none, and whether what it repeats may be missing.
func quantifier(s string) (n int, optional bool) {
	if s == "" {
		return 0, false
	}
	switch s[0] {
	case '?', '*':
		n, optional = 1, true
	case '+':
		n = 1
	case '{':
		if n = strings.IndexByte(s, '}') + 1; n == 0 {
			return 0, false
		}
		optional = strings.HasPrefix(s, "{0") || strings.HasPrefix(s, "{,")
	default:
		return 0, false
	}
	if n < len(s) && (s[n] == '?' || s[n] == '+') {
		n++ // lazy, or possessive
	}
	return n, optional
}

// groupLen returns the length of the group that s begins with, 0 when it has no end.
func groupLen(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			n := classLen(s[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// classLen returns the length of the character class that s begins with, 0 when it has no end.
func classLen(s string) int {
	i := 1
	if i < len(s) && s[i] == '^' {
		i++
	}
	for first := i; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ']':
			if i > first {
				return i + 1
			}
		}
	}
	return 0
}
