package epilog

import (
	"strconv"
	"strings"
)

// unknown stands in an expanded path for a part that is not known. It can't be in a path of its own.
const unknown = "\x00"

// noTask is what %a becomes in a job that is no task of an array (Slurm's NO_VAL).
const noTask = "4294967294"

// Names are what the patterns in the name of an output file stand for. Empty strings are unknown, but for those that
// say otherwise.
type Names struct {
	Job      uint32 // 0: unknown
	Array    string // the array's job id; the job's own id where it is no task of an array
	Task     string // noTask where it is none
	User     string
	Name     string // of the job
	Host     string // short name of the first node's machine
	Node     string // the first node's name in Slurm
	Restarts string
	SLUID    string
}

// expand puts names into a pattern of sbatch's --output or --error as slurmstepd does, for a batch job. What is not
// known becomes [unknown]. later chooses the rules of new versions: %b since 24.11, %N of 25.11, %r and %S; the others
// leave the first two alone and make %N the machine's name.
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

// value is what one letter stands for; number says that a width applies, known that it is a pattern at all.
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
		return orUnknown(n.Array), true, true
	case 'a':
		return orUnknown(n.Task), true, true
	case 'u':
		return orUnknown(n.User), false, true
	case 'x':
		return orUnknown(n.Name), false, true
	case 'n', 't':
		return "0", true, true
	case 's':
		return "batch", false, true
	case 'N':
		if later {
			return orUnknown(n.Node), false, true
		}
		return orUnknown(n.Host), false, true
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
		return orUnknown(n.Restarts), true, true
	case 'S':
		return orUnknown(n.SLUID), false, true
	}
	return "", false, false
}

func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

// maxWidth is the most that slurmstepd pads a number to.
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

// absolute makes a path that may be relative to the job's working directory absolute.
func absolute(path, dir string) string {
	if path == "" || strings.HasPrefix(path, "/") || !strings.HasPrefix(dir, "/") {
		return path
	}
	return strings.TrimSuffix(dir, "/") + "/" + path
}

// matches says whether a name fits one in which some parts are unknown.
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

// siblings is a pattern with everything unknown that differs from job to job of the same script.
func siblingPattern(pattern string) string {
	return expand(pattern, &Names{}, true)
}

// settles says whether a pattern names the job's number: then no other job's file fits it, whatever else is unknown.
func hasJobID(pattern string) bool {
	return expand(pattern, &Names{Job: 1}, true) != expand(pattern, &Names{Job: 2}, true)
}
