package stream

import (
	"maps"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/sample"
)

// maxReplayed is how many writers' samples are followed while deferred lines are read.
const maxReplayed = 512

// replayed is what a writer has begun and not finished in deferred lines. The zero value has begun nothing.
type replayed struct {
	sample  sample.Tracker
	pending string
}

// newReplayReader returns a reader of deferred lines of a log with that lead. They only show where the run is, so it follows no reports.
func newReplayReader(source string, t *Table, maxLine int, lead *lead, emit func(parser.Observation)) *messageReader {
	r := newMessageReader(source, t, maxLine, emit)
	r.replaying, r.replayed, r.lead = true, map[string]replayed{}, lead
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
	r.line(e.line, e.place, e.text, e.header != nil)
	r.endOfLine()
	r.longLineEnds = min(r.longLineEnds, e.place+int64(len(e.text)))
}

// replay reads a message of a deferred line.
func (r *messageReader) replay(at parser.Position, body []byte, h envelope.Header) {
	was := r.replayed[h.Stream]
	now := was
	if h.Partial || now.pending != "" {
		if len(now.pending)+len(body) <= maxPending {
			now.pending += string(body)
		}
		if h.Partial {
			r.begin(h.Stream, now, at)
			return
		}
		r.begin(h.Stream, replayed{sample: now.sample}, at)
		body, h = r.peeler.PeelInherit([]byte(now.pending), h)
		was = r.replayed[h.Stream]
		now = was
	}
	inSample := now.sample.Place(at, r.longLineEnds, body, &h, counts) != sample.Outside
	if now != was {
		r.begin(h.Stream, now, at)
	}
	if inSample {
		return
	}
	if literals := r.find(body); !r.isQuotation(body, literals) {
		r.match(at, body, h, &writer{}, nil)
	}
}

// begin notes what a writer has begun.
func (r *messageReader) begin(writer string, now replayed, at parser.Position) {
	if now == (replayed{}) {
		delete(r.replayed, writer)
		return
	}
	if _, ok := r.replayed[writer]; !ok && len(r.replayed) >= maxReplayed {
		maps.DeleteFunc(r.replayed, func(_ string, b replayed) bool {
			return b.pending == "" && b.sample.Over(at.Line, at.Offset, r.longLineEnds)
		})
		if len(r.replayed) >= maxReplayed {
			clear(r.replayed)
		}
	}
	r.replayed[writer] = now
}
