package classifier

import (
	"math"
	"slices"

	"oomscan/parser"
	"oomscan/parser/traceback"
)

// texts holds one copy of each text. Unpacking makes one for every place where a text stands, and the messages of a log repeat most of
// theirs: its name, the names of fields, labels, paths and code.
type texts map[string]string

func (t texts) share(places ...*string) {
	for _, p := range places {
		if same, ok := t[*p]; ok {
			*p = same
		} else {
			t[*p] = *p
		}
	}
}

func (t texts) shareEvent(e *event) {
	h := &e.Header
	t.share(&e.At.Source, &e.Pattern, (*string)(&e.Kind), (*string)(&e.Role), &e.Text, &e.Clock, &e.Timer, &e.TimerBy,
		&h.Clock, &h.Host, &h.Process, &h.Actor, &h.Logger, &h.Stream)
	if e.Fields != nil {
		fields := make(parser.Fields, len(e.Fields))
		for k, v := range e.Fields {
			t.share(&k, &v)
			fields[k] = v
		}
		e.Fields = fields
	}
	for trace := e.Trace; trace != nil; trace = trace.Cause {
		t.shareTrace(trace)
	}
}

func (t texts) shareTrace(trace *traceback.Trace) {
	t.share(&trace.Exception, &trace.Message)
	for i := range trace.Frames {
		f := &trace.Frames[i]
		t.share(&f.File, &f.Func, &f.Code)
	}
}

// maxJob is about how many bytes the events of one job may take.
const maxJob = 48 << 20

// Size is about how many bytes the events take in memory.
func (c *Collector) Size() (n int) {
	for _, f := range c.files {
		n += f.size()
	}
	return n
}

// Share returns, from the sizes of a job's logs, how much of what a job may take each of them may, for [Collector.Bound]: what small
// ones do not need is for the larger ones.
func Share(sizes []int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	left := maxJob
	for i, size := range sizes {
		if rest := len(sizes) - i; size > left/rest {
			return left / rest
		}
		left -= size
	}
	return math.MaxInt
}

// Bound shortens what the events of each input take to about most bytes, and returns how many messages it shortened or left out. A
// quarter is for the first ones, as they are; then tracebacks and details are left out, and at last the messages themselves, which
// are only counted. The first message of a pattern always stays. After that, Result may be called once.
func (c *Collector) Bound(most int) (shortened int) {
	for _, f := range c.files {
		f.once = true
		if f.size() > most {
			shortened += f.bound(most)
		}
	}
	return shortened
}

func (f *file) bound(most int) (shortened int) {
	var kept []*event
	held, seen, last := 0, map[string]bool{}, map[parser.Kind]*event{}
	for _, e := range dedupe(f) {
		e.Fields, e.fields, e.details = e.fields, nil, nil // completed
		first := !seen[e.Pattern]
		seen[e.Pattern] = true
		if !first && held+e.size() > most/4 {
			shortened++
			e.Text, e.Trace = short(e.Text), originOf(e.Trace)
			if e.Role == parser.Detail {
				continue
			}
			if held+e.size() > most {
				if of := last[e.Kind]; of != nil && e.Role == parser.Evidence {
					of.More++
				}
				continue
			}
		}
		if e.Role == parser.Evidence {
			last[e.Kind] = e
		}
		held += e.size()
		kept = append(kept, e)
	}
	f.Events = kept
	return shortened
}

// size is about how many bytes the events of an input take.
func (f *file) size() (n int) {
	for _, e := range f.Events {
		n += e.size()
	}
	return n
}

// Bytes of an event, of its fields and of each of them, without the texts.
const (
	eventBytes  = 704
	fieldsBytes = 96
	fieldBytes  = 40
)

func (e *event) size() int {
	n := eventBytes + len(e.Text) + e.Trace.Size() + fieldsBytes
	for _, v := range e.Fields {
		n += fieldBytes + len(v)
	}
	return n
}
