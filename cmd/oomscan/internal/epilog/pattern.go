package epilog

import (
	"cmp"
	"strconv"
	"strings"
)

// unknown replaces unknown parts of an expanded path. It can't occur in a real path.
const unknown = "\x00"

// noTask is %a outside arrays (Slurm's NO_VAL).
const noTask = "4294967294"

// Names are the values of the patterns in an output file's name. Empty strings are unknown, unless noted.
type Names struct {
	Job      uint32 // 0: unknown
	Array    string // the array's job id; outside arrays, the job's own
	Task     string // noTask outside arrays
	User     string
	Name     string // of the job
	Host     string // short name of the first node's machine
	Node     string // the first node's name in Slurm
	Restarts string
	SLUID    string
}

// expand expands a pattern of sbatch's --output or --error for a batch job, as slurmstepd does. Unknown values become
// [unknown]. later selects the rules of new versions: %b since 24.11, %N of 25.11, %r and %S; older ones do not know
// the others and expand %N to the machine's name.
//
// Source: Slurm 22.05.8 and 26.05 src/slurmd/slurmstepd/fname.c; tried on 22.05.8.
func expand(pattern string, n *Names, later bool) string {
	if strings.ContainsRune(pattern, '\\') {
		return strings.ReplaceAll(pattern, `\`, "")
	}
	var b strings.Builder
	for {
		text, rest, found := strings.Cut(pattern, "%")
		b.WriteString(text)
		if !found {
			return b.String()
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits == len(rest) {
			b.WriteString("%" + rest)
			return b.String()
		}
		value, number, known := n.value(rest[digits], later)
		if !known {
			value = "%" + rest[:digits+1]
		} else if number && value != unknown {
			value = pad(value, rest[:digits])
		}
		b.WriteString(value)
		pattern = rest[digits+1:]
	}
}

// value returns the value of a letter. number means that a width applies, known that the letter is a pattern at all.
func (n *Names) value(letter byte, later bool) (value string, number, known bool) {
	switch letter {
	case '%':
		return "%", false, true
	case 'j', 'J':
		if n.Job == 0 {
			return unknown, true, true
		}
		return strconv.FormatUint(uint64(n.Job), 10), true, true
	case 'A':
		return cmp.Or(n.Array, unknown), true, true
	case 'a':
		return cmp.Or(n.Task, unknown), true, true
	case 'u':
		return cmp.Or(n.User, unknown), false, true
	case 'x':
		return cmp.Or(n.Name, unknown), false, true
	case 'n', 't':
		return "0", true, true
	case 's':
		return "batch", false, true
	case 'N':
		if later {
			return cmp.Or(n.Node, unknown), false, true
		}
		return cmp.Or(n.Host, unknown), false, true
	}
	if !later {
		return "", false, false
	}
	switch letter {
	case 'b':
		task, err := strconv.ParseUint(n.Task, 10, 32)
		if err != nil {
			return unknown, true, true
		}
		return strconv.FormatUint(task%10, 10), true, true
	case 'r':
		return cmp.Or(n.Restarts, unknown), true, true
	case 'S':
		return cmp.Or(n.SLUID, unknown), false, true
	}
	return "", false, false
}

// maxWidth is the largest width to which slurmstepd pads a number.
const maxWidth = 10

func pad(value, width string) string {
	w, err := strconv.Atoi(width)
	if width == "" {
		return value
	}
	if err != nil || w > maxWidth {
		w = maxWidth
	}
	return strings.Repeat("0", max(0, w-len(value))) + value
}

// absolute resolves a path relative to the job's working directory.
func absolute(path, dir string) string {
	if path == "" || strings.HasPrefix(path, "/") || !strings.HasPrefix(dir, "/") {
		return path
	}
	return strings.TrimSuffix(dir, "/") + "/" + path
}

// matches reports whether a name matches one with unknown parts.
func matches(wild, name string) bool {
	parts := strings.Split(wild, unknown)
	if len(parts) == 1 {
		return wild == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(name, p)
		if i < 0 {
			return false
		}
		name = name[i+len(p):]
	}
	return true
}

// siblingPattern expands a pattern so that it matches all jobs of the same script.
func siblingPattern(pattern string) string {
	return expand(pattern, &Names{}, true)
}

// hasJobID reports whether a pattern contains the job's id: then no other job's file matches, whatever else is
// unknown.
func hasJobID(pattern string) bool {
	return expand(pattern, &Names{Job: 1}, true) != expand(pattern, &Names{Job: 2}, true)
}
