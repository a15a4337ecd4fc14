package stream

import (
	"bytes"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// A run may print the log of another one in a Markdown fence or a script's here-document. What failed there is quoted if the counter
// that stood before the block counts on behind it. People save such blocks too: then it happened.

// fenceOpens is the line that opens a block. Its groups close it.
var fenceOpens = lazyre.New("^(?:(```)[\\w+-]{0,20}|.{0,400}<<-? ?[\"']?(EOF)[\"']?)$")

// fence follows the blocks of one writer and the run around them.
type fence struct {
	stream string
	end    string   // the line that closes the block; empty outside of one
	of, n  string   // what the run counted last before the first event in a block
	until  int      // the last line that may show that the run goes on; 0: nothing waits
	held   []fenced // that event and all that followed
}

// fenced is an observation that waits.
type fenced struct {
	parser.Observation
	quotable bool // an event in a block
}

// hasFence says whether a text may hold the first or the last line of a block.
func hasFence(text []byte) bool {
	return bytes.Contains(text, []byte("```")) || bytes.Contains(text, []byte("EOF"))
}

// read follows a line and reports whether the run goes on there.
func (f *fence) read(raw []byte) (goesOn bool) {
	edge := hasFence(raw)
	if !edge && (f.end != "" || !mayCount(raw)) {
		return false
	}
	body, h := envelope.Peel(bytes.TrimSpace(raw))
	if edge && h.Stream == f.stream {
		if m := fenceOpens().FindSubmatch(body); f.end != "" && f.end == string(body) {
			f.end = ""
		} else if m != nil && f.end == "" {
			f.end = string(m[1]) + string(m[2])
		}
	}
	c, ok := countIn(body)
	if !ok || f.end != "" {
		return false
	}
	of, n := c.word+"/"+string(c.total), string(c.n)
	if f.until == 0 {
		f.of, f.n = of, n
	}
	return of == f.of && n != f.n && atMost([]byte(f.n), c.n)
}

// findFence makes an event wait that stands in a block of a run that counts. Only the text before an event is searched for blocks.
func (r *Reader) findFence(stream string) {
	text := r.buf[max(0, r.done-behind):r.done]
	if r.fence.until > 0 || r.long != nil || !hasFence(text) {
		return
	}
	f := fence{stream: stream}
	for line := range bytes.Lines(text) {
		f.read(line)
	}
	if f.end != "" && f.of != "" {
		f.until = r.line + watchLines
		r.fence = f
	}
}

// emit passes an observation on, or lets it wait behind an event in a block.
func (r *Reader) emit(o parser.Observation) {
	f := &r.fence
	if f.until == 0 {
		r.sink(o)
		return
	}
	e, ok := o.(parser.Event)
	f.held = append(f.held, fenced{o, ok && e.Role != parser.Context && f.end != "" && e.Header.Stream == f.stream})
}

// release passes on what waits, but for the events in blocks if they were quoted.
func (r *Reader) release(quoted bool) {
	held := r.fence.held
	r.fence = fence{}
	for _, o := range held {
		if quoted && o.quotable {
			r.messages.quoted++
		} else {
			r.sink(o.Observation)
		}
	}
}
