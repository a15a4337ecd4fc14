package parser

import (
	"slices"

	"oomscan/parser/traceback"
)

// Recall emits what is known and was kept for later, for nothing had happened: the first half of [Scanner.Peek], for an
// input that goes on and on. The scanner's state does not change.
func (s *Scanner) Recall(emit func(Observation)) { s.recall.tell(emit) }

// Open says whether the input ends in a line without newline, as far as it was fed.
func (s *Scanner) Open() bool { return s.done < len(s.buf) || s.inLong }

// Rest gives back the room that reading takes, for an input that is silent for now: thousands of them may be open. What
// is fed later is read as if nothing had happened.
func (s *Scanner) Rest() {
	from := max(0, s.done-behind)
	kept := slices.Clone(s.buf[from:])
	s.base += int64(from)
	s.done -= from
	s.buf = slices.Clip(kept)
	s.block, s.by = block{}, nil
}

// Behind is the observation as if its input began so many lines and bytes later: that of a log which was begun anew goes
// on where the old one ended. The observation itself is not changed.
func Behind(o Observation, lines int, bytes int64) Observation {
	at := func(p Position) Position {
		p.Line += lines
		p.Offset += bytes
		return p
	}
	switch o := o.(type) {
	case Event:
		o.At = at(o.At)
		o.Trace = traceBehind(o.Trace, lines)
		return o
	case Setting:
		o.At = at(o.At)
		return o
	case Marker:
		o.At = at(o.At)
		return o
	case Gauge:
		o.At = at(o.At)
		return o
	}
	return o
}

// traceBehind is a copy of a traceback and its causes so many lines later.
func traceBehind(t *traceback.Trace, lines int) *traceback.Trace {
	if t == nil || lines == 0 {
		return t
	}
	first := new(*t)
	for c := first; c != nil; c = c.Cause {
		if c.Line > 0 {
			c.Line += lines
		}
		if c.EndLine > 0 {
			c.EndLine += lines
		}
		if c.Cause != nil {
			c.Cause = new(*c.Cause)
		}
	}
	return first
}
