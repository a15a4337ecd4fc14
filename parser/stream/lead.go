package stream

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// lead is text of an unknown form at the beginning of every line of a log. If known line prefixes follow it, a collector put it there,
// because programs begin their lines with those. Its numbers may change from line to line.
type lead struct {
	last  []byte // how the line before begins
	text  []byte // before a known prefix; empty: none was found
	lines int    // read since the text was found
	fits  int    // of these, how many begin with it
	shown int    // and how many have a known prefix after it
	tried int    // lines that were searched for one
	seen  int    // lines of the head
	known bool
	used  bool // the lines before were read again, or are too many

	first  []byte // line
	shared []byte // that all lines begin with
	all    int    // how many these are
	start  []byte // of it, what is before a known prefix or a runtime's line
	least  int    // how many lines must begin with that

	task int // the number of the label that the lead ends with, in the line before
}

const (
	leadShown = 3  // lines that show a lead before it is known
	leadTries = 32 // lines that are searched
	leadSeen  = 64 // lines that are read again without a lead
	leadAll   = 12 // lines that must all begin alike where only one shows a lead by a known prefix
	leadFew   = 4  // the same where a runtime's line does
	maxLead   = 128
)

// learn follows a line of the head of a log.
func (l *lead) learn(raw []byte) {
	l.seen++
	if l.known {
		l.keepTask(raw)
	}
	if l.known || len(bytes.TrimSpace(raw)) == 0 || raw[0] == '{' {
		return // records have no lead
	}
	if l.share(raw); l.known || l.tried >= leadTries {
		return
	}
	to, _ := alike(raw, l.last)
	l.last = append(l.last[:0], raw[:min(len(raw), maxLead)]...)
	fits := false
	if len(l.text) > 0 {
		l.lines++
		if _, fits = cutLead(raw, l.text); fits {
			l.fits++
		}
	}
	n, tried := leadOf(raw, to)
	if tried {
		l.tried++
	}
	if n == 0 {
		return
	}
	if same, _ := alike(raw[:n], l.text); !fits || same < n {
		l.text, l.lines, l.fits, l.shown = bytes.Clone(raw[:n]), 1, 1, 0
	}
	l.shown++
	if l.known = l.shown >= leadShown && l.fits*10 >= l.lines*9; l.known && len(l.start) > len(l.text) {
		l.text = l.start // a part of what all lines begin with looks like a prefix of the program
	}
}

// learned reports once that the lead is known and the lines before should be read again.
func (l *lead) learned() bool {
	is := l.known && l.mayCome()
	l.used = l.used || is
	if is {
		l.task = -1
	}
	return is
}

// end is learned where the input ends.
func (l *lead) end() bool {
	l.settle()
	return l.learned()
}

// settle ends the search where the input ends or something fails: few lines show a lead too if all do. It reports whether the lines so far
// should be read again.
func (l *lead) settle() bool {
	if !l.known && l.all > 1 && len(l.start) > 0 {
		l.text, l.known = l.start, true
	}
	return l.known && l.mayCome()
}

// taskLead is a lead that ends with the label of srun -l, behind a sign, a color, a tab, blanks or a time. A word before a number says what it counts,
// and what follows digits and a colon is part of a time.
var taskLead = lazyre.New(`^((?s:.*?)(?:\x1b\[[\d;]*m|[^\w: ]|\D:|: |\dZ? )|^ {5,}) *(?:0|[1-9]\d{0,4}): $`)

// keepTask shortens a lead that ends with the label of srun -l, which tells the task of a line. Numbers of lines look the same, but they
// begin with 1 and grow from line to line.
func (l *lead) keepTask(raw []byte) {
	m := taskLead().FindSubmatch(l.text)
	if m == nil {
		return
	}
	from, same := alike(raw, m[1])
	if same < len(m[1]) {
		return
	}
	_, h := envelope.Peel(bytes.TrimLeft(raw[from:], " "))
	if h.Task == 0 || h.Task > 0 && h.Task <= l.task {
		l.text = m[1]
	}
	l.task = h.Task
}

// mayCome reports whether the lines so far may still be read again.
func (l *lead) mayCome() bool { return !l.used && l.seen <= leadSeen }

// runtimeLine begins what a runtime or a library prints on lines of its own, whatever the program puts before its messages: Python,
// C++, Rust and ggml.
var runtimeLine = lazyre.New(`^(?:Traceback \(most recent call last\)|  File "[^"\n]+", line \d|Fatal Python error: |terminate called |memory allocation of \d+ bytes failed|(?:ggml|llama)_\w+: )`)

// share follows the text that all lines begin with. It is a lead only if what a runtime prints or a known prefix begins after it on some
// line: a program may begin all of its messages alike.
func (l *lead) share(raw []byte) {
	if l.all++; l.all == 1 {
		l.first = bytes.Clone(raw[:min(len(raw), 4*maxLead)])
		l.shared = l.first[:min(recordAt(raw), maxLead)]
		return
	}
	if len(l.shared) == 0 {
		return
	}
	if l.read(raw); len(l.start) == 0 {
		l.read(l.first)
	}
	if l.known = len(l.start) > 0 && l.all >= l.least; l.known {
		l.text = l.start
	}
}

// read shortens the shared text to what a line begins with too, and notes what begins behind it.
func (l *lead) read(raw []byte) {
	n, same := alike(raw, l.shared)
	if same < len(l.shared) {
		if n < len(raw) {
			same = endOfLead(l.shared[:same])
			l.shared, l.start = l.shared[:same], nil
		}
		if n, same = alike(raw, l.shared); same < len(l.shared) {
			return // a writer trimmed it
		}
	}
	if len(l.shared) == 0 || isComment(l.shared) || n >= len(raw) {
		return
	}
	if at, _ := leadOf(raw, n); at > len(l.start) {
		l.start, l.least = bytes.Clone(raw[:at]), leadAll
	} else if task, _ := envelope.TaskLabel(raw[n:]); runtimeLine().Match(raw[n+task:]) {
		if from := knownLen(raw); from >= 0 && from < n {
			l.start, l.least = bytes.Clone(raw[:n]), leadFew
		}
	}
}

// endOfLead is where a text ends that may stand before another one: after a blank or a sign.
func endOfLead(text []byte) int {
	for len(text) > 0 && !endsLead(text) {
		text = text[:len(text)-1]
	}
	return len(text)
}

// endsLead reports whether a text ends with a sign that a lead may end with, or with a character that is not of ASCII, such as the edge
// of a box or a Chinese bracket.
func endsLead(text []byte) bool {
	c := text[len(text)-1]
	return strings.IndexByte(" \t])}|>:\"'m\a\r", c) >= 0 || c >= utf8.RuneSelf && utf8.Valid(text)
}

// length is how long the lead of a line is, 0 when it has none.
func (l *lead) length(raw []byte) int {
	if !l.known {
		return 0
	}
	rest, ok := cutLead(raw, l.text)
	if !ok {
		return 0
	}
	return len(raw) - len(rest)
}

// leadOf finds the text before a known prefix that begins at to or earlier, after the known prefixes that the line starts with.
func leadOf(raw []byte, to int) (n int, tried bool) {
	from := -1
	for i := 1; i <= min(to, recordAt(raw)) && i < len(raw); i++ {
		if !endsLead(raw[:i]) || raw[i] == ' ' || i <= from {
			continue
		}
		if from < 0 {
			if from = knownLen(raw); from < 0 {
				return 0, true
			}
			i--
			continue
		}
		if _, h := envelope.Peel(raw[i:]); isKnown(&h) && !inWords(raw[i:]) {
			if isComment(raw[from:i]) || bytes.Count(raw[:i], []byte{'"'})%2 > 0 {
				return 0, true
			}
			return i, true
		}
	}
	return 0, from >= 0
}

// recordAt is where a record of JSON may begin in a line, which no lead reaches into; otherwise the length of the line.
func recordAt(raw []byte) int {
	if i := bytes.Index(raw, []byte(`{"`)); i >= 0 {
		return i
	}
	return len(raw)
}

// knownLen is the length of the known prefixes at the beginning of a line, -1 if it is unclear where they end.
func knownLen(raw []byte) int {
	body, h := envelope.Peel(raw)
	esc := bytes.IndexByte(raw, 0x1b)
	if i := bytes.Index(raw, []byte(`\u001b`)); i > 0 && esc < 0 {
		esc = i // in a record
	}
	switch {
	case bytes.HasSuffix(raw, body):
		return len(raw) - len(body)
	case !isKnown(&h) && h.Task < 0:
		return 0
	case esc > 0: // a collector's prefix is before the first color
		if body, h = envelope.Peel(raw[:esc]); isKnown(&h) {
			return esc - len(body)
		}
	}
	return -1
}

// isKnown reports whether a line has a known prefix. Numbers before a colon are many things.
func isKnown(h *envelope.Header) bool {
	return (h.Task < 0 || !strings.HasPrefix(h.Stream, "t"+strconv.Itoa(h.Task))) && (h.Stream != "" || !h.Time.IsZero() || h.Level != 0 || h.Logger != "" || h.Device >= 0)
}

// inWords reports whether a rank is told in words, as sentences do: "distributed init (rank 3): ".
func inWords(text []byte) bool {
	return len(text) > 5 && bytes.EqualFold(bytes.TrimLeft(text, "(")[:4], []byte("rank"))
}

// isComment reports whether text consists of signs of comments, diffs or shells. What follows them is quoted.
func isComment(text []byte) bool {
	return len(bytes.TrimSpace(text)) > 0 && len(bytes.Trim(text, " \t#/+-*;%$<>")) == 0
}

// cutLead cuts a lead off a line.
func cutLead(line, text []byte) (rest []byte, ok bool) {
	n, same := alike(line, text)
	return line[n:], same == len(text) || n == len(line) && len(bytes.TrimSpace(text[same:])) == 0 // a writer trimmed it
}

// alike returns the lengths of the beginnings that two texts share. Numbers may differ, and so may the blanks before them.
func alike(a, b []byte) (inA, inB int) {
	for inA < len(a) && inB < len(b) {
		m, n := number(a[inA:]), number(b[inB:])
		if m == 0 || n == 0 {
			if a[inA] != b[inB] {
				break
			}
			m, n = 1, 1
		}
		inA, inB = inA+m, inB+n
	}
	return inA, inB
}

// number is how long a number at the beginning of a text is, with the blanks before it.
func number(text []byte) int {
	blanks := len(text) - len(bytes.TrimLeft(text, " "))
	if n := run(text[blanks:]); n > 0 {
		return blanks + n
	}
	return 0
}
