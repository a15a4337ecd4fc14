package stream

import (
	"oomscan/parser"
)

// PeekDeferred emits what was deferred, for nothing had failed. The reader's state does not change: all of it is emitted again when
// its time comes.
func (r *Reader) PeekDeferred(emit func(parser.Observation)) {
	r.deferred.inOrder(r.describes(), newReplayReader(r.messages.source, r.table, r.maxLine, r.messages.lead, emit).replayEntry)
}

// PeekTail emits what waits for a later line, and what the unfinished last line holds, as if the input ended here: a writer may stop
// in the middle of a line, or print its last one without a newline. The same is emitted again once more is known.
func (r *Reader) PeekTail(emit func(parser.Observation)) {
	for _, o := range r.fence.held {
		emit(o.Observation)
	}
	r.applyMarks()
	c, printed := &r.cutter, r.printed
	if rest := c.buf[c.from:]; r.long == nil && len(rest) > 0 && len(rest) <= r.maxLine && !printed.holds(rest) {
		r.messages.peek(r.line, c.base+int64(c.from), rest, emit)
	}
}

// Open reports whether the input ends, as far as it was fed, in a line without newline or in a block that later lines explain.
func (r *Reader) Open() bool {
	return r.fence.until > 0 || r.cutter.from < len(r.cutter.buf) || r.long != nil
}

// Rest gives back the memory that reading takes, for an input that does not grow for now: thousands of them may be open. What is
// fed later is read as if nothing had happened.
func (r *Reader) Rest() {
	r.cutter.moveTo(cutter{})
	r.buf = nil
}
