package stream

import (
	"bytes"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// sandbox is in the prefix that a sandbox puts before what a program printed that a model wrote.
var sandbox = lazyre.New(`(?i)(?:^|[^/\w.-])sandbox(?:_\w{1,12})?[:\]]?\s[^:]{0,60}\bstd(?:err|out)`)

// mark is a line prefix of an unknown form, learned from a traceback: the text before its header is repeated before its frames and
// before the exception. Numbers in it may change from line to line.
type mark struct {
	text  []byte // empty: none
	known bool   // a second line began with it

	sandboxed bool // it stands before what a program printed that a model wrote
}

var (
	tracebackHeader = []byte("Traceback (most recent call last):")
	frameStart      = []byte(`  File "`)
)

// maxMark bounds a prefix. A progress bar that left no newline is longer.
const maxMark = 160

// off takes the prefix off a line.
func (m *mark) off(line []byte) []byte {
	if before, ok := bytes.CutSuffix(line, tracebackHeader); ok {
		m.text, m.known = nil, false
		if len(bytes.TrimSpace(before)) > 0 && len(before) <= maxMark {
			m.text, m.sandboxed = bytes.Clone(before), sandbox().Match(before)
		}
		return line
	}
	if len(m.text) == 0 {
		return line
	}
	rest, ok := cutAlike(line, m.text)
	switch {
	case ok && (m.known || bytes.HasPrefix(rest, frameStart)):
		m.known = true
		return rest
	case !m.known:
		m.text = nil
	}
	return line
}

// cutAlike cuts the prefix text off a line. Numbers in the two may differ, and so may the blanks before them.
func cutAlike(line, text []byte) (rest []byte, ok bool) {
	line, text = bytes.TrimLeft(line, " "), bytes.TrimLeft(text, " ")
	for len(text) > 0 {
		if ascii.IsDigit(text[0]) && len(line) > 0 && ascii.IsDigit(line[0]) {
			line, text = line[run(line):], text[run(text):]
			continue
		}
		if len(line) == 0 || line[0] != text[0] {
			return nil, false
		}
		line, text = line[1:], text[1:]
	}
	return line, true
}
