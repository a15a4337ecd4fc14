package settings

import (
	"strings"

	"oomscan/parser/ascii"
)

// shells run a command line that they take as one argument.
var shells = set(`bash sh zsh`)

// runsString reports whether a shell's flags, such as -lc, say that the next word is a command line.
func runsString(flags string) bool {
	letters, ok := strings.CutPrefix(flags, "-")
	return ok && strings.HasSuffix(letters, "c") && len(letters) <= 4 && strings.Trim(letters, "celiux") == ""
}

// shellWords splits a command line as a shell does, up to a pipe, a redirection or the next command. whole is false
// if a quote is left open.
func shellWords(s string) (words []string, whole bool) {
	var word []byte
	in, quote := false, byte(0)
	flush := func() {
		if in {
			words = append(words, string(word))
		}
		word, in = word[:0], false
	}
	for i := 0; i < len(s) && len(words) < 4096; i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
				continue
			}
			if c == '\\' && quote == '"' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\') {
				i++
				c = s[i]
			}
			word = append(word, c)
		case ascii.IsBlank(c):
			flush()
		case !in && c == '#': // a comment
			return words, true
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == '\\' && i+1 < len(s) && !ascii.IsWord(s[i+1]) && s[i+1] != '\\':
			i++
			word, in = append(word, s[i]), true
		case !in && (c == '|' || c == ';' || c == '&' || c == '>' || c == '<'), c == ';' && (i+1 == len(s) || s[i+1] == ' '):
			flush()
			return words, true
		case !in && (c == '1' || c == '2') && i+1 < len(s) && s[i+1] == '>':
			return words, true
		default:
			word, in = append(word, c), true
		}
	}
	flush()
	return words, quote == 0
}
