package traceback

import (
	"slices"
	"unicode/utf8"
)

// A traceback that runs past these many fed lines or bytes is no traceback any more: it is dropped unfinished.
const (
	maxTraceLines = 2000
	maxTraceBytes = 1 << 20
)

// maxCauses bounds the chain that [Trace.Cause] makes, so that a log cannot keep all its tracebacks alive.
const maxCauses = 8

// draft is a traceback under construction. A [Trace] is only made of it when it ends: what was handed out never changes.
type draft struct {
	line     int
	indent   int // leading blanks of the header line
	frames   int // frames seen
	frameAt  int // leading blanks of the frame lines; meaningful once frames > 0
	head     []Frame
	tail     []Frame // ring of the last maxTailFrames frames behind head
	tailAt   int     // next slot of a full ring
	code     int     // indented lines since the last frame
	foreign  int     // other writers' lines in a row
	lines    int
	bytes    int
	until    int    // once it ended at a line that may be another writer's: the fed line up to which it may go on
	reversed bool   // frames stand innermost first
	crashed  bool   // faulthandler's "Current thread": the one that crashed
	lastLine int    // line of the last frame
	class    string // the class that a notebook's header names
	wrapped  []byte // a frame of rich's box that goes on in the next line
	origin   *Origin
	cause    *Trace

	causeSize int
}

// base is the indentation at and below which the exception line stands. Frames stand two blanks deeper; they show it
// better than the header, which may be glued behind other text or may have lost its blanks to an envelope.
func (d *draft) base() int {
	if d.frames == 0 {
		return d.indent
	}
	return max(d.frameAt-2, 0)
}

// flat reports whether the frames have lost their blanks, as in what Cloud Logging and other collectors export. A source line is
// then only recognised by its place.
func (d *draft) flat() bool { return d.frames > 0 && d.frameAt == 0 }

// count counts a line and reports whether the traceback may still go on.
func (d *draft) count(size int) bool {
	d.lines++
	d.bytes += size
	return d.lines <= maxTraceLines && d.bytes <= maxTraceBytes
}

func (d *draft) add(line int, f Frame, indent int, glued bool) {
	if !glued {
		d.frameAt = indent
	} else if d.frames == 0 {
		d.frameAt = d.indent + 2
	}
	d.frames++
	d.code, d.foreign, d.lastLine = 0, 0, line
	switch {
	case len(d.head) < maxHeadFrames:
		d.head = append(d.head, f)
	case len(d.tail) < maxTailFrames:
		d.tail = append(d.tail, f)
	default:
		d.tail[d.tailAt] = f
		d.tailAt = (d.tailAt + 1) % maxTailFrames
	}
}

// last is the frame that was added last, nil when there is none.
func (d *draft) last() *Frame {
	if d.frames == 0 {
		return nil
	}
	if n := len(d.tail); n > 0 {
		return &d.tail[(d.tailAt+n-1)%n]
	}
	return &d.head[len(d.head)-1]
}

// setCode gives the last frame its source line, unless it has one.
func (d *draft) setCode(code []byte) {
	if f := d.last(); f != nil && f.Code == "" {
		f.Code = clip(code, maxCode)
	}
}

// setLine gives the last frame its line number, unless it has one.
func (d *draft) setLine(n int) {
	if f := d.last(); f != nil && f.Line == 0 {
		f.Line = n
	}
}

// trace returns what was gathered, as a Trace that shares nothing that changes.
func (d *draft) trace() *Trace {
	t := &Trace{Line: d.line, Origin: d.origin, Cause: d.cause, Reversed: d.reversed}
	t.Frames = make([]Frame, 0, len(d.head)+len(d.tail))
	t.Frames = append(t.Frames, d.head...)
	t.Frames = append(t.Frames, d.tail[d.tailAt:]...)
	t.Frames = append(t.Frames, d.tail[:d.tailAt]...)
	t.Dropped = d.frames - len(t.Frames)
	if t.Reversed {
		slices.Reverse(t.Frames)
	}
	return t
}

// causeOf returns t fit to be a Cause: chains that grow too long lose their far end.
func causeOf(t *Trace) *Trace {
	n := 0
	for c := t; c != nil; c = c.Cause {
		n++
	}
	if n < maxCauses {
		return t
	}
	short := *t
	short.Cause = nil
	return &short
}

// clip copies at most n bytes of b, cut on a rune boundary.
func clip(b []byte, n int) string {
	if len(b) <= n {
		return string(b)
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n])
}
