package traceback

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Tracebacks with more lines or bytes are dropped.
const (
	maxTraceLines = 2000
	maxTraceBytes = 1 << 20
)

// maxCauses bounds the chain of [Trace.Cause], so that a log cannot keep all its tracebacks in memory.
const maxCauses = 8

// draft is an unfinished traceback. Each [Trace] is made from a copy, so that it never changes.
type draft struct {
	line     int
	indent   int // leading blanks of the header line
	frames   int // frames seen
	frameAt  int // leading blanks of the frame lines, if frames > 0
	head     []Frame
	tail     []Frame // ring buffer of the last maxTailFrames frames after head
	tailAt   int     // next slot of the full ring buffer
	code     int     // indented lines since the last frame
	foreign  int     // consecutive lines of other writers
	lines    int
	bytes    int
	until    int     // after ending at a line that may be another writer's: the line until which it may go on
	headless bool    // it began at a frame
	reversed bool    // frames are printed innermost first
	crashed  bool    // faulthandler's "Current thread", which crashed
	lastLine int     // line of the last frame
	class    string  // the class in a notebook's header
	wrapped  []byte  // a frame of rich's box that continues on the next line
	script   bool    // TorchScript's, whose source lines end with a pointer to the one that failed
	pointed  bool    // that pointer was seen below the last frame
	outer    []Frame // of the Python traceback around TorchScript's
	origin   *Origin
	cause    *Trace

	causeSize int
}

// base returns the largest indentation of the exception line. Frames are indented by two more blanks. They are more
// reliable than the header, which may follow other text or have lost its blanks with a line prefix.
func (d *draft) base() int {
	if d.frames == 0 {
		return d.indent
	}
	return max(d.frameAt-2, 0)
}

// flat reports whether the frames have lost their indentation, as in exports of Cloud Logging and other collectors.
// Source lines are then recognized only by their position.
func (d *draft) flat() bool { return d.frames > 0 && d.frameAt == 0 }

// count counts a line and reports whether the traceback is within its limits.
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
	d.code, d.foreign, d.lastLine, d.pointed = 0, 0, line, false
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

func (d *draft) last() *Frame {
	if d.frames == 0 {
		return nil
	}
	if n := len(d.tail); n > 0 {
		return &d.tail[(d.tailAt+n-1)%n]
	}
	return &d.head[len(d.head)-1]
}

// setCode sets the last frame's source line, unless it has one.
func (d *draft) setCode(code []byte) {
	if f := d.last(); f != nil && f.Code == "" {
		f.Code = clip(code, maxCode)
	}
}

// setScript sets the last frame's source line to that above TorchScript's pointer, of several that it prints.
func (d *draft) setScript(code []byte) {
	if bytes.HasSuffix(code, []byte("<--- HERE")) {
		d.pointed = true
	} else if f := d.last(); f != nil && !d.pointed {
		f.Code = clip(code, maxCode)
	}
}

// setLine sets the last frame's line number, unless it has one.
func (d *draft) setLine(n int) {
	if f := d.last(); f != nil && f.Line == 0 {
		f.Line = n
	}
}

// trace returns the traceback so far. It shares no memory with the draft.
func (d *draft) trace() *Trace {
	t := &Trace{Line: d.line, Origin: d.origin, Cause: d.cause, Reversed: d.reversed, Headless: d.headless}
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

// causeOf returns t for use as a Cause, without the far end of a chain that is too long.
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

// clip copies at most n bytes of b without splitting a rune.
func clip(b []byte, n int) string {
	if len(b) <= n {
		return string(b)
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n])
}
