package stream

import (
	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/sample"
)

// newReplayReader returns a reader of deferred lines of a log with that lead. They only show where the run is, so it follows no reports.
func newReplayReader(source string, t *Table, maxLine int, lead *lead, emit func(parser.Observation)) *messageReader {
	r := newMessageReader(source, t, maxLine, emit)
	r.replaying, r.lead = true, lead
	return r
}

// replayEntry emits a deferred observation, or reads a deferred line.
func (r *messageReader) replayEntry(e *entry) {
	if e.observation != nil {
		r.emit(e.observation)
		return
	}
	if r.physical = e.begun(); r.physical.Begun {
		r.longLineEnds = inLongLine
	}
	r.passed = e.passed
	r.line(e.line, e.place, e.text, e.header != nil)
	r.endOfLine()
	r.longLineEnds = min(r.longLineEnds, e.place+int64(len(e.text)))
}

// replay reads a message of a deferred line. Of its writer only a split record and a sample go on in later ones.
func (r *messageReader) replay(at parser.Position, body []byte, h envelope.Header) {
	r.tick++
	w, body, ok := r.join(body, &h)
	if ok && w.sample.Place(at, r.longLineEnds, body, &h, counts) == sample.Outside && !r.isQuotation(body, r.find(body)) {
		r.match(at, body, h, &writer{}, nil)
	}
}
