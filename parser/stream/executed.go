package stream

import (
	"bytes"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// A sandbox runs the programs that a model wrote and prints one record after the other of how they ended. What such a program printed is no
// failure of the run. A launcher may print the same of its own programs, so most of the records must tell of a success, and the run must
// count on behind them.

// leastEnded is how many records around one that failed tell of a success.
const leastEnded = 3

// executed is the beginning of such a record, and exitCode how the program ended.
var (
	executed = lazyre.New(`^[^{}]{0,80}\{ ?"[\w-]{1,30}":`)
	exitCode = lazyre.New(`"(?:exit_?code|return_?code|exit_?status)": ?(-?\d{1,10})\b`)
)

// recordIn is how a line of a writer begins that holds such a record, and whether the program succeeded.
func recordIn(line []byte, stream string) (label []byte, succeeded bool) {
	if line = bytes.TrimRight(line, " \r"); !bytes.HasSuffix(line, []byte{'}'}) || !bytes.Contains(line, []byte(`"stdout":`)) || !bytes.Contains(line, []byte(`"stderr":`)) {
		return nil, false // as most lines
	}
	body, h := envelope.Peel(line)
	code := exitCode().FindSubmatch(body)
	if h.Stream != stream || code == nil {
		return nil, false
	}
	return executed().Find(body), string(code[1]) == "0"
}

// findExecuted makes the record of a program that failed wait for a run that counts on.
func (r *Reader) findExecuted(e *parser.Event, at int) {
	own, _, _ := bytes.Cut(r.buf[at:], newline)
	label, _ := recordIn(own, e.Header.Stream)
	if label == nil || !isSpoken(e) {
		return
	}
	f := fence{stream: e.Header.Stream, heading: true, record: bytes.Clone(label), from: e.At.Line, end: "\n"}
	beside := true
	for above := range r.above(at) {
		if beside = beside && f.follows(above); !beside && mayCount(above) && f.of == "" {
			body, _ := envelope.Peel(above)
			f.count(body)
		}
	}
	f.until = r.line + watchLines
	r.fence = f
}

// follows reports whether a line is a record like the one that failed, and counts those of a success.
func (f *fence) follows(line []byte) bool {
	label, succeeded := recordIn(line, f.stream)
	if _, same := alike(label, f.record); same < len(f.record) {
		return false
	}
	if succeeded {
		f.ended++
	}
	return true
}
