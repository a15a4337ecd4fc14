package parser

import "oomscan/parser/traceback"

// Shift returns the observation as if its input began so many lines and bytes later: a log that was begun anew goes on where the
// old one ended. The observation itself does not change.
func Shift(o Observation, lines int, bytes int64) Observation {
	at := func(p Position) Position {
		p.Line += lines
		p.Offset += bytes
		return p
	}
	switch o := o.(type) {
	case Event:
		o.At = at(o.At)
		o.Trace = shiftTrace(o.Trace, lines)
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

// shiftTrace copies a traceback and its causes, so many lines later.
func shiftTrace(t *traceback.Trace, lines int) *traceback.Trace {
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
