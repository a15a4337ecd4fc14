package stream

import (
	"oomscan/parser"
)

// PeekDeferred emits what was deferred, for nothing had failed. The reader's state does not change: all of it is emitted again when
// its time comes.
func (r *Reader) PeekDeferred(emit func(parser.Observation)) {
	replays := newReplayReader(r.messages.source, r.table, r.maxLine, emit)
	r.deferred.inOrder(r.describes(), func(e *entry) {
		if e.made != nil {
			emit(e.made)
		} else {
			replays.replayLine(e)
		}
	})
}

// PeekTail emits what the unfinished last line says, should it end here: a writer that stops in the middle of a line, or printed its
// last words without a newline, is heard without waiting for more. What it says is emitted again once the line is complete.
func (r *Reader) PeekTail(emit func(parser.Observation)) {
	r.applyMarks()
	c := &r.cutter
	if rest := c.buf[c.from:]; r.long == nil && len(rest) > 0 && len(rest) <= r.maxLine {
		r.messages.peek(r.line, c.base+int64(c.from), rest, emit)
	}
}

// Open says whether the input ends in a line without newline, as far as it was fed.
func (r *Reader) Open() bool { return r.cutter.from < len(r.cutter.buf) || r.long != nil }

// Rest gives back the memory that reading takes, for an input that is silent for now: thousands of them may be open. What is fed
// later is read as if nothing had happened.
func (r *Reader) Rest() {
	r.cutter.moveTo(cutter{})
	r.buf = nil
}
