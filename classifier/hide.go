package classifier

import (
	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/secret"
	"oomscan/parser/traceback"
)

// hide masks the credentials in an observation. It stands where observations come in, before any of their texts is cut or
// compared: a scan and one that was made elsewhere, which masks what it writes, judge the same texts. The observation's
// traceback is left to [hideTrace], for most are not kept.
func hide(o parser.Observation) parser.Observation {
	switch o := o.(type) {
	case parser.Event:
		o.Text, o.Phase, o.Fields = secret.Stable(o.Text), secret.Stable(o.Phase), hideFields(o.Fields)
		hideHeader(&o.Header)
		return o
	case parser.Setting:
		o.Key, o.Value = secret.Stable(o.Key), secret.Stable(o.Value)
		hideHeader(&o.Header)
		return o
	case parser.Marker:
		o.Fields = hideFields(o.Fields) // of the texts few are kept, and those are masked when they are cut
		hideHeader(&o.Header)
		return o
	case parser.Gauge:
		o.Text, o.Fields = secret.Stable(o.Text), hideFields(o.Fields)
		hideHeader(&o.Header)
		return o
	}
	return o
}

func hideHeader(h *envelope.Header) {
	for _, s := range []*string{&h.Host, &h.Process, &h.Actor, &h.Logger, &h.Stream} {
		*s = secret.Stable(*s)
	}
}

// hideFields returns the fields themselves when there is nothing to hide, as nearly always, else a copy.
func hideFields(f parser.Fields) parser.Fields {
	var out parser.Fields
	for k, v := range f {
		if s := secret.Stable(v); s != v {
			if out == nil {
				out = make(parser.Fields, len(f))
				for k, v := range f {
					out[k] = v
				}
			}
			out[k] = s
		}
	}
	if out == nil {
		return f
	}
	return out
}

// hideTrace does the same with a traceback and those that it was caused by.
func hideTrace(t *traceback.Trace) *traceback.Trace {
	if t == nil {
		return nil
	}
	out := t
	change := func() {
		if out == t {
			out = new(*t)
			out.Frames = append([]traceback.Frame(nil), t.Frames...)
			if t.Origin != nil {
				out.Origin = new(*t.Origin)
			}
		}
	}
	if s := secret.Stable(t.Exception); s != t.Exception {
		change()
		out.Exception = s
	}
	if s := secret.Stable(t.Message); s != t.Message {
		change()
		out.Message = s
	}
	for i := range t.Frames {
		f := &t.Frames[i]
		g := traceback.Frame{File: secret.Stable(f.File), Line: f.Line, Func: secret.Stable(f.Func), Code: secret.Stable(f.Code)}
		if g != *f {
			change()
			out.Frames[i] = g
		}
	}
	if o := t.Origin; o != nil {
		g := *o
		for _, s := range []*string{&g.Actor, &g.Method, &g.IP, &g.Repr} {
			*s = secret.Stable(*s)
		}
		if g != *o {
			change()
			*out.Origin = g
		}
	}
	if c := hideTrace(t.Cause); c != t.Cause {
		change()
		out.Cause = c
	}
	return out
}
