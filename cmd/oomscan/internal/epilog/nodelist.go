package epilog

import (
	"strings"

	"oomscan/parser/ascii"
)

// firstHost returns the first name in a Slurm node list: node01 for "node[01-04],gpu7", a3b2 for "a[3,5-7]b[2-4]". It
// returns "" if it can't read the list.
func firstHost(list string) string {
	var b strings.Builder
	for list != "" {
		i := strings.IndexAny(list, "[,")
		if i < 0 {
			b.WriteString(list)
			break
		}
		b.WriteString(list[:i])
		if list[i] == ',' {
			break
		}
		inside, rest, closed := strings.Cut(list[i+1:], "]")
		if !closed {
			return ""
		}
		end := strings.IndexAny(inside, "-,")
		if end < 0 {
			end = len(inside)
		}
		b.WriteString(inside[:end])
		list = rest
	}
	if s := b.String(); hostName(s) {
		return s
	}
	return ""
}

// hostName reports whether s is a valid node name; it is used in file names and records.
func hostName(s string) bool {
	if s == "" || len(s) > 253 || s[0] == '.' || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !ascii.IsWord(c) && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
