package obs

import (
	"time"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/traceback"
)

// line is one line of a file. Exactly one field of the first group is set and tells what the line is. The fields of
// the second group describe an observation.
type line struct {
	Schema    *string `json:"schema,omitempty"`
	Input     *string `json:"input,omitempty"`
	Event     *string `json:"event,omitempty"`   // the pattern's name
	Setting   *string `json:"setting,omitempty"` // the key
	Marker    *string `json:"marker,omitempty"`
	Gauge     *string `json:"gauge,omitempty"`
	Traceback *trace  `json:"traceback,omitempty"`
	Read      *read   `json:"read,omitempty"`
	End       *end    `json:"end,omitempty"`

	Version string            `json:"version,omitempty"` // of the program that wrote the file
	In      string            `json:"in,omitempty"`      // the archive that contains the input
	Kind    string            `json:"kind,omitempty"`
	Role    string            `json:"role,omitempty"`
	Phase   string            `json:"phase,omitempty"`
	Line    int               `json:"line,omitempty"`
	Offset  int64             `json:"offset,omitempty"`
	Passed  int               `json:"passed,omitempty"`
	From    *header           `json:"from,omitempty"` // omitted if it equals the previous observation's
	Value   string            `json:"value,omitempty"`
	Form    string            `json:"form,omitempty"`
	Fields  map[string]string `json:"fields,omitempty"`
	Text    string            `json:"text,omitempty"`
	Trace   int               `json:"trace,omitempty"` // the number of a traceback in this log, from 1
}

// read is the summary at a log's end.
type read struct {
	parser.Counts
	Error  string `json:"error,omitempty"`
	Digest string `json:"digest,omitempty"`
}

// end is the last line of a file.
type end struct {
	Lines int64 `json:"lines"` // before this one
}

// header is an [envelope.Header]. Numbers that are missing are unknown.
type header struct {
	Time    *[3]int64 `json:"time,omitempty"` // seconds since 1970, nanoseconds, seconds east of UTC
	Clock   string    `json:"clock,omitempty"`
	Host    string    `json:"host,omitempty"`
	Rank    *int      `json:"rank,omitempty"`
	Local   *int      `json:"local_rank,omitempty"`
	Task    *int      `json:"task,omitempty"`
	TP      *int      `json:"tp,omitempty"`
	DP      *int      `json:"dp,omitempty"`
	PP      *int      `json:"pp,omitempty"`
	EP      *int      `json:"ep,omitempty"`
	Device  *int      `json:"device,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Parent  int       `json:"parent,omitempty"`
	Process string    `json:"process,omitempty"`
	Actor   string    `json:"actor,omitempty"`
	Level   string    `json:"level,omitempty"`
	Logger  string    `json:"logger,omitempty"`
	Repeats int       `json:"repeats,omitempty"`
	Partial bool      `json:"partial,omitempty"`
	Stream  string    `json:"stream,omitempty"`
}

// trace is a [traceback.Trace].
type trace struct {
	Line      int     `json:"line,omitempty"`
	EndLine   int     `json:"end_line,omitempty"`
	Frames    []frame `json:"frames,omitempty"`
	Dropped   int     `json:"dropped,omitempty"`
	Exception string  `json:"exception,omitempty"`
	Message   string  `json:"message,omitempty"`
	Origin    *origin `json:"origin,omitempty"`
	Reversed  bool    `json:"reversed,omitempty"`
	Headless  bool    `json:"headless,omitempty"`
	Cause     int     `json:"cause,omitempty"` // the number of another traceback
}

type frame struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Func string `json:"function,omitempty"`
	Code string `json:"code,omitempty"`
}

type origin struct {
	Actor  string `json:"actor,omitempty"`
	Method string `json:"method,omitempty"`
	PID    int    `json:"pid,omitempty"`
	IP     string `json:"ip,omitempty"`
	Repr   string `json:"repr,omitempty"`
	Rank   *int   `json:"rank,omitempty"`
}

// ints pairs the optional numbers of both forms of a header.
func (h *header) ints(e *envelope.Header) [8]struct {
	line **int
	real *int
} {
	return [8]struct {
		line **int
		real *int
	}{
		{&h.Rank, &e.Rank},
		{&h.Local, &e.LocalRank},
		{&h.Task, &e.Task},
		{&h.TP, &e.TP},
		{&h.DP, &e.DP},
		{&h.PP, &e.PP},
		{&h.EP, &e.EP},
		{&h.Device, &e.Device},
	}
}

// texts pairs the texts of both forms of a header.
func (h *header) texts(e *envelope.Header) [6]struct{ line, real *string } {
	return [6]struct{ line, real *string }{
		{&h.Clock, &e.Clock},
		{&h.Host, &e.Host},
		{&h.Process, &e.Process},
		{&h.Actor, &e.Actor},
		{&h.Logger, &e.Logger},
		{&h.Stream, &e.Stream},
	}
}

// headerOf encodes an envelope.
func (t *texts) headerOf(e *envelope.Header) *header {
	h := &header{PID: max(0, e.PID), Parent: max(0, e.Parent), Repeats: max(0, e.Repeats), Partial: e.Partial}
	if !e.Time.IsZero() {
		_, zone := e.Time.Zone()
		h.Time = &[3]int64{e.Time.Unix(), int64(e.Time.Nanosecond()), int64(zone)}
	}
	for _, x := range h.ints(e) {
		*x.line = optional(*x.real)
	}
	for _, x := range h.texts(e) {
		*x.line = t.out(*x.real, maxName)
	}
	if e.Level != 0 {
		h.Level = string(rune(e.Level))
	}
	return h
}

func (t *texts) envelope(h *header) envelope.Header {
	e := envelope.NewHeader()
	e.PID, e.Parent, e.Repeats, e.Partial = t.number(h.PID), t.number(h.Parent), t.number(h.Repeats), h.Partial
	if h.Time != nil {
		e.Time = t.time(h.Time)
	}
	for _, x := range h.ints(&e) {
		if *x.line != nil {
			*x.real = t.number(**x.line)
		}
	}
	for _, x := range h.texts(&e) {
		*x.real = t.in(*x.line, maxName)
	}
	switch h.Level {
	case "":
	case "D", "I", "W", "E", "F":
		e.Level = h.Level[0]
	default:
		t.fail("%q is not a level", h.Level)
	}
	return e
}

// sameHeader reports whether two envelopes are encoded the same way.
func sameHeader(a, b *envelope.Header) bool {
	_, za := a.Time.Zone()
	_, zb := b.Time.Zone()
	if !a.Time.Equal(b.Time) || za != zb {
		return false
	}
	x := *b
	x.Time = a.Time
	return *a == x
}

// maxYear bounds timestamps: no log prints later ones.
const maxYear = 10_000

// time decodes a timestamp.
func (t *texts) time(x *[3]int64) time.Time {
	const day = 24 * 60 * 60
	if x[0] < -maxYear*366*day || x[0] > maxYear*366*day || x[1] < 0 || x[1] >= 1e9 || x[2] <= -day || x[2] >= day {
		t.fail("%v is not a time", *x)
		return time.Time{}
	}
	at := time.Unix(x[0], x[1]).UTC()
	if x[2] != 0 {
		at = at.In(time.FixedZone("", int(x[2])))
	}
	if at.Year() < 0 || at.Year() >= maxYear {
		t.fail("%v is not a time", *x)
		return time.Time{}
	}
	return at
}

// fieldsOut encodes an observation's fields.
func (t *texts) fieldsOut(f parser.Fields) map[string]string {
	if len(f) == 0 {
		return nil
	}
	out := make(map[string]string, len(f))
	for k, v := range f {
		out[t.out(k, maxName)] = t.out(v, maxText)
	}
	return out
}

// fieldsIn decodes them.
func (t *texts) fieldsIn(f map[string]string) parser.Fields {
	if len(f) > maxFields {
		t.fail("too many fields: %d", len(f))
		return nil
	}
	out := make(parser.Fields, len(f))
	for k, v := range f {
		out[t.in(k, maxName)] = t.in(v, maxText)
	}
	return out
}

// traceOut encodes a traceback without its cause.
func (t *texts) traceOut(x *traceback.Trace) *trace {
	out := &trace{
		Line: max(0, x.Line), EndLine: max(0, x.EndLine), Dropped: max(0, x.Dropped), Exception: t.out(x.Exception, maxText), Message: t.out(x.Message, maxText),
		Reversed: x.Reversed, Headless: x.Headless, Frames: make([]frame, 0, len(x.Frames)),
	}
	for i := range x.Frames {
		f := &x.Frames[i]
		out.Frames = append(out.Frames, frame{t.out(f.File, maxText), max(0, f.Line), t.out(f.Func, maxText), t.out(f.Code, maxText)})
	}
	if o := x.Origin; o != nil {
		out.Origin = &origin{
			Actor: t.out(o.Actor, maxName), Method: t.out(o.Method, maxName), PID: max(0, o.PID), IP: t.out(o.IP, maxName), Repr: t.out(o.Repr, maxName),
			Rank: optional(o.Rank),
		}
	}
	return out
}

// traceIn decodes it.
func (t *texts) traceIn(x *trace) *traceback.Trace {
	if len(x.Frames) > maxFrames {
		t.fail("too many frames: %d", len(x.Frames))
		return nil
	}
	out := &traceback.Trace{
		Line: t.number(x.Line), EndLine: t.number(x.EndLine), Dropped: t.number(x.Dropped), Exception: t.in(x.Exception, maxText),
		Message: t.in(x.Message, maxText), Reversed: x.Reversed, Headless: x.Headless, Frames: make([]traceback.Frame, 0, len(x.Frames)),
	}
	for i := range x.Frames {
		f := &x.Frames[i]
		out.Frames = append(out.Frames, traceback.Frame{
			File: t.in(f.File, maxText), Line: t.number(f.Line), Func: t.in(f.Func, maxText), Code: t.in(f.Code, maxText),
		})
	}
	if o := x.Origin; o != nil {
		out.Origin = &traceback.Origin{
			Actor: t.in(o.Actor, maxName), Method: t.in(o.Method, maxName), PID: t.number(o.PID), IP: t.in(o.IP, maxName),
			Repr: t.in(o.Repr, maxName), Rank: envelope.Unknown,
		}
		if o.Rank != nil {
			out.Origin.Rank = t.number(*o.Rank)
		}
	}
	return out
}
