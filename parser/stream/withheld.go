package stream

import (
	"bytes"
	"slices"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/sample"
)

// A printed sample may be cut before its closing mark, and what the process prints when it dies looks like the sample's text then.
// So the reports that no line alone can fake are withheld until more is known: a mark behind them, or a run that goes on, shows that
// they were quoted. Otherwise they happened.

// maxWithheld bounds the events that one writer withholds.
const maxWithheld = 16

// inSample reports whether a message is text of a sample.
func (r *messageReader) inSample(at parser.Position, body []byte, h envelope.Header, w *writer) bool {
	was := w.sample
	place := w.sample.Place(at, r.longLineEnds, body, &h, counts)
	r.settle(w, place, was, body)
	if place != sample.Inside && !w.sample.Withholds(at.Line) {
		return place != sample.Outside
	}
	emit := r.emit
	r.emit = func(o parser.Observation) {
		e, ok := o.(parser.Event)
		died := e.Kind == parser.ProcessExit && e.Role == parser.Consequence && len(w.withheld) > 0
		if !died && (!ok || e.Role != parser.Evidence || e.Kind == parser.Pressure) {
			return
		}
		w.died = w.died || died
		r.quoted++
		if !w.sample.Quotes() && len(w.withheld) < maxWithheld {
			w.withheld = append(w.withheld, e)
		}
	}
	r.find(body)
	r.event(at, body, h, w, w.trace.Feed(at.Line, body))
	r.emit = emit
	return true
}

// isWhole reports whether an event is a traceback with an allocator's figures, a kill as the killer reports it, a worker's death by a signal, or a
// warning behind NCCL's own prefix. Other messages need the death of a process behind them.
func isWhole(e *parser.Event) bool {
	return e.Kind == parser.OOMKill || e.Fields["signal"] != "" || e.Kind == parser.NCCLOOM && e.Header.PID > 0 && e.Header.Logger != "" || e.Trace != nil && len(e.Trace.Frames) > 0 && e.Fields["requested"] != ""
}

// settle decides about what a writer withheld, once a message has ended its sample: a dialogue's turn, or another one. A run that goes on
// shows that a traceback right below the heading of a turn was its text.
func (r *messageReader) settle(w *writer, place sample.Place, was sample.Tracker, body []byte) {
	turn := was.Turn()
	if place == sample.Inside || len(w.withheld) == 0 {
		return
	}
	c, goesOn := countIn(body)
	goesOn = goesOn && place == sample.Outside && !(turn && w.died)
	if place != sample.Marked {
		w.withheld = slices.DeleteFunc(w.withheld, func(e parser.Event) bool {
			if goesOn && (!turn || beginsTurn(was, &e)) {
				return false
			}
			if was.Waits(e.At.Line) || w.died || isWhole(&e) {
				r.emit(e)
				r.quoted--
			}
			return true
		})
	}
	if goesOn && (!turn || c.bar) {
		r.wait(w, was.Line(), body)
	}
	w.withheld, w.died = nil, false
}

// beginsTurn reports whether a failure is the beginning of what a turn holds.
func beginsTurn(turn sample.Tracker, e *parser.Event) bool {
	if e.Trace != nil {
		return turn.Begins(e.Trace.Line, e.Trace.Headless)
	}
	return e.At.Line == turn.Line()
}

// wait emits the reports that a writer withheld, and lets them wait: a dying process prints its bar once more as it stood, and a run that goes
// on counts. What else the sample holds is quoted.
func (r *messageReader) wait(w *writer, from int, body []byte) {
	for i := range w.withheld {
		if e := &w.withheld[i]; isWhole(e) {
			r.await(from, body)
			r.emit(*e)
			r.quoted--
		}
	}
}

// await lets the events of the lines behind one wait, as those in a block do, for a run that counts on from what a message counts.
func (r *Reader) await(from int, body []byte) {
	f := &r.fence
	switch {
	case f.until == 0:
		*f = fence{from: from, to: r.line, until: r.line + watchLines}
		f.count(body)
	case f.end == "":
		f.to = r.line // another sample before the run has counted on
	}
}

// sampleReach is how far samples may reach whose marks stand in lines that are not read now. The zero value is outside of any.
type sampleReach struct {
	until  int    // the last line to which one may reach
	opener []byte // what stands before the mark that opened it
	single bool   // no other sample is open
	ends   int    // lines behind its mark that may have ended it
}

// note follows a line that holds a mark. A closing mark ends the only sample where it stands behind the same text as the mark that
// opened it: then both are the same writer's.
func (s *sampleReach) note(line int, raw []byte) {
	mark, opens := sample.Last(raw)
	isOpen := line <= s.until
	same := mark >= 0 && s.single && bytes.Equal(raw[:mark], s.opener)
	switch {
	case mark < 0: // it is in a record, or quoted
		s.single = false
	case !opens && !isOpen:
		return
	case !opens && same:
		s.until = 0
		return
	case opens && !isOpen:
		s.opener, s.single = append(s.opener[:0], raw[:mark]...), true
	case opens && !same:
		s.single = false
	}
	s.until, s.ends = line+sample.MaxLines, 0
}

// maxEnds is how many lines behind a sample's mark are kept as its possible end: more writers than that are seldom at work between.
const maxEnds = 16

// mayEndOn reports whether a sample that has no closing mark may end on a line.
func (s *sampleReach) mayEndOn(line int, raw []byte) bool {
	if line > s.until || !mayEndSample(raw) {
		return false
	}
	if s.ends++; s.ends == maxEnds {
		s.until = 0
	}
	return true
}

// mayEndSample reports whether a line may end a sample that has no closing mark. It is a cheap check before the writer's sample decides.
func mayEndSample(raw []byte) bool {
	return hasClock(raw) || mayCount(raw) && counts(raw) || len(bytes.TrimSpace(raw)) == 1
}

// hasClock reports whether a line holds a time of day near its beginning.
func hasClock(raw []byte) bool {
	raw = raw[:min(len(raw), 200)]
	for at := 2; at+3 < len(raw); at++ {
		if raw[at] == ':' && digits(raw[at-2:at]) == 2 && digits(raw[at+1:at+3]) == 2 {
			return true
		}
	}
	return false
}
