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

// An online judge gives a verdict on each program in capitals, and some print below one what the program wrote to standard error.
var (
	verdict  = lazyre.New(`[\s:|\]](?:AC|WA|RE|RTE|TLE|MLE)(?:[\s(|,]|$)`)
	ofStderr = lazyre.New(`^\s{2,40}(?:[a-z][\w']{0,20} ){0,3}std ?err:?$`)
)

// leastJudged is how many verdicts stand above such an output, with its own.
const leastJudged = 3

// inJudged reports whether an event is in such an output: nothing else is between it and its heading, right below a verdict.
func (r *Reader) inJudged(e *parser.Event, at int) bool {
	if !r.holdsAbove(at, "stderr") {
		return false // as most events
	}
	line, begins, heading, verdicts := e.At.Line, e.At.Line, 0, 0
	if e.Trace != nil {
		begins = e.Trace.Line
	}
	for above := range r.above(at) {
		line--
		switch {
		case line >= begins:
		case heading == 0 && !ofStderr().Match(above), line == heading-1 && !verdict().Match(above):
			return false
		case heading == 0:
			heading = line
		case verdict().Match(above):
			if verdicts++; verdicts == leastJudged {
				return true
			}
		}
	}
	return false
}
