package stream

import (
	"bytes"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// What follows a line may prove that it is quoted: a caret, where a compiler or a linter shows the line of a source below its place; the answer,
// where a bot logs what it was told; the value, where an agent (smolagents, agents.py) shows what its code printed.

// caret is below the column that is meant; Clang underlines more of the line. codeLogs heads what code printed, and codeValue is behind it: both
// are printed at once when the code has ended.
const (
	caret     = "^"
	codeLogs  = "Execution logs:"
	codeValue = "Out: "
)

// placed is the place of what a compiler or a linter found, up to the column (pycodestyle.py, StandardReport; flake8, Clang). told is what somebody
// said, behind the name of a bot: the answer has an arrow between the two. belowCode is the rule below the code that was run.
var (
	placed    = lazyre.New(`^[\w./+-]{1,200}\.\w{1,6}:\d{1,7}:\d{1,5}: \S`)
	told      = lazyre.New(`^([\w-]{1,30} )(?:<- )?((?:#[\w-]{1,60} )?@[\w.-]{1,60}: )`)
	belowCode = lazyre.New(`^ ?─{8,}$`)
)

// findProof makes an event wait for the line that proves it quoted, where one may come and nothing else is waited for.
func (r *Reader) findProof(e *parser.Event) {
	at, ok := r.lineOf(e)
	if !ok || r.fence.until > 0 || r.long != nil || e.Role == parser.Context || !r.mayLookBack(0) {
		return
	}
	f := fence{stream: e.Header.Stream, by: e.Header.Stream, here: true, text: e.At.Line, from: e.At.Line - 1, until: r.line + watchLines}
	if own, _, _ := bytes.Cut(r.buf[at:], newline); bytes.IndexByte(own, '@') >= 0 {
		body, _ := envelope.Peel(own)
		if m := told().FindSubmatch(body); m != nil {
			f.end = string(m[1]) + "-> " + string(m[2])
		}
	}
	if before, ok := r.lineBefore(at); ok && placed().Match(r.buf[before:at]) {
		f.end, f.until = caret, e.At.Line+1
	}
	if from := r.belowLogs(e, at); from > 0 {
		f.end, f.from, f.text = codeValue, from, 0
	}
	if f.end == "" {
		return // as most events
	}
	line := e.At.Line
	for raw := range bytes.Lines(r.buf[at:]) { // some events are emitted only when they are over
		if line > e.At.Line {
			f.read(line, raw)
		}
		if line++; line > min(r.line, f.until) {
			break
		}
	}
	r.fence = f
}

// belowLogs is the line that heads what code printed, if an event is in it, or 0.
func (r *Reader) belowLogs(e *parser.Event, at int) (heading int) {
	if !r.holdsAbove(at, codeLogs) {
		return 0
	}
	line := e.At.Line
	for above := range r.above(at) {
		line--
		switch {
		case heading > 0 && belowCode().Match(above):
			return heading
		case heading > 0 || bytes.HasPrefix(above, []byte(codeValue)):
			return 0
		case string(above) == codeLogs:
			heading = line
		}
	}
	return 0
}
