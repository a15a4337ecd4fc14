package settings

import (
	"bytes"
	"slices"
	"strings"

	"oomscan/parser/ascii"
)

var (
	// defines begins the calls that declare a flag with absl and TensorFlow; its default is the second argument.
	defines = []byte("DEFINE_")
	comment = []byte(" #")
)

// script reads a line of a script: an argument of a call, a parameter with its type and default, or a field of a dataclass, on a line of
// its own, indented or with the number that grep -n puts before it, or the default of a flag, as TensorFlow and argparse declare them.
func (r *Reader) script(text []byte) bool {
	const mostLine = 300
	if len(text) > mostLine {
		return false
	}
	if i := bytes.Index(text, comment); i >= 0 {
		text = text[:i]
	}
	text = bytes.TrimRight(text, " \t")
	if !bytes.HasSuffix(text, []byte(",")) && !bytes.HasSuffix(text, []byte(")")) && !typed(text) {
		return false
	}
	rest, numbered := withoutNumber(text)
	s := strings.TrimSpace(string(rest))
	key, value, ok := flagDefault(s)
	if !ok && (numbered || len(rest) > 0 && ascii.IsBlank(rest[0])) && (strings.HasSuffix(s, ",") || typed(text)) {
		key, value, ok = strings.Cut(strings.TrimSuffix(s, ","), "=")
		if name, _, annotated := strings.Cut(key, ": "); annotated { // a function's parameter with its type
			key = strings.TrimRight(name, " ")
		}
	}
	value = strings.TrimSpace(value)
	if !ok || !isName(key) || !isKnown(key) || metric(key) || !scalar(value) && !product(value) {
		return false
	}
	r.report(Pair{Key: key, Value: value, Line: r.line, Form: Script})
	return true
}

// types are those of a dataclass's fields that are settings.
var types = [][]byte{[]byte(": int = "), []byte(": float = "), []byte(": bool = ")}

// typed reports whether a line may be a field of a dataclass, `batch_size : int = 8`. It does not allocate.
func typed(text []byte) bool {
	return slices.ContainsFunc(types, func(t []byte) bool { return bytes.Contains(text, t) })
}

// product reports whether a value is a product of whole numbers, as scripts write sizes: 64*1024.
func product(v string) bool {
	const most = 32
	return len(v) <= most && strings.Contains(v, "*") && !strings.Contains(v, "**") && ascii.IsDigit(v[0]) && ascii.IsDigit(v[len(v)-1]) && strings.Trim(v, "0123456789 *") == ""
}

// withoutNumber returns a line without the number that grep -n puts before it.
func withoutNumber(text []byte) (rest []byte, ok bool) {
	const most = 6 // digits
	n := 0
	for n < min(len(text), most) && ascii.IsDigit(text[n]) {
		n++
	}
	if n == 0 || n >= len(text) || text[n] != '-' && text[n] != ':' {
		return text, false
	}
	return text[n+1:], true
}

// flagDefault returns the name and the default of a flag that a line declares: DEFINE_integer('x', 8, 'help') or
// add_argument('--x', type=int, default=8).
func flagDefault(s string) (key, value string, ok bool) {
	if _, rest, found := strings.Cut(s, "DEFINE_"); found {
		_, rest, _ = strings.Cut(rest, "(")
		key, rest, _ = strings.Cut(rest, ",")
		value, _, ok = strings.Cut(rest, ",")
		return bareWord(key), bareWord(value), ok
	}
	_, rest, found := strings.Cut(s, ".add_argument(")
	if !found {
		return "", "", false
	}
	key, rest, _ = strings.Cut(rest, ",")
	_, rest, ok = strings.Cut(rest, "default=")
	if i := strings.IndexAny(rest, ",)"); i >= 0 {
		rest = rest[:i]
	}
	return strings.TrimLeft(bareWord(key), "-"), bareWord(rest), ok
}

func bareWord(s string) string { return strings.Trim(strings.TrimSpace(s), `"'`) }

// declares reports whether a line may declare a flag. It does not allocate.
func declares(text []byte) bool { return bytes.Contains(text, defines) }
