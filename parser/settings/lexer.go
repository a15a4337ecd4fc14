package settings

import (
	"bytes"

	"oomscan/parser/ascii"
)

// nameEnd returns the length of the name that s begins with.
func nameEnd(s []byte) int {
	i := 0
	for i < len(s) && (ascii.IsWord(s[i]) || (i > 0 && (s[i] == '.' || s[i] == '-'))) {
		i++
	}
	return i
}

// stringEnd returns the length of the string literal that s begins with, or -1 if it is not closed.
func stringEnd(s []byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return -1
}

// blankSeparated reports whether a key begins at i after a blank, as in pydantic's `a=1 b='x'`.
func blankSeparated(text []byte, i int) bool {
	if i == 0 || text[i-1] != ' ' || !ascii.IsLetter(text[i]) && text[i] != '_' {
		return false
	}
	n := i + nameEnd(text[i:min(len(text), i+MaxKey)])
	return n+1 < len(text) && text[n] == '=' && text[n+1] != '=' && text[n+1] != ' '
}

// unquote returns the text of a string literal.
func unquote(lit []byte) []byte {
	s := lit[1 : len(lit)-1]
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, min(len(s), MaxValue+1))
	for i := 0; i < len(s) && len(out) <= MaxValue; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			switch s[i] {
			case 'n', 'r', 't':
				out = append(out, ' ')
				continue
			case '\\', '\'', '"', '/':
			default:
				out = append(out, '\\')
			}
		}
		out = append(out, s[i])
	}
	return out
}

// closers maps opening brackets to closing ones.
var closers = [256]byte{'{': '}', '[': ']', '(': ')'}
