package traceback

import "bytes"

// State is what a fed line is to the [Assembler].
type State int

const (
	// Outside lines are no part of a report. They may stand in the middle of one that another writer interrupts.
	Outside State = iota
	// Header lines open a traceback. They may carry a message too: Ray prints the class that ends the driver's traceback
	// and the header of the remote one on the same line.
	Header
	// FrameLine is `  File "x", line N, in f`.
	FrameLine
	// Code is a quoted source line, a caret line or a box's border. Patterns must not read it.
	Code
	// Final is the exception line: the trace is complete. Patterns read it.
	Final
	// Continuation is a further line of an exception's message. Patterns read it.
	Continuation
)

// How far, in fed lines, the assembler looks back or ahead.
const (
	maxForeign      = 16 // lines of others in a row before an open traceback is given up
	maxSource       = 24 // indented lines behind one frame that still are its source: 3.13 and loguru print many
	maxContinuation = 48 // lines of one message behind its first
	maxResume       = 3  // lines of others after which a traceback that seemed to have ended may go on
	maxChainGap     = 4  // lines between a message and the sentence that chains the next traceback
	maxLast         = 96 // lines for which the last traceback can still become a cause
)

// Assembler makes tracebacks out of the lines of one stream, in order and without envelopes. The zero value is ready. It
// keeps at most one traceback under construction and the last one that ended. It is not safe for concurrent use.
type Assembler struct {
	open    *draft // under construction
	resume  *draft // ended at a line that may have been somebody else's
	resumes int    // lines left to resume it
	out     *Trace // what Trace returns

	last      *Trace // the last one that ended: what a chain refers to
	lastSize  int    // its size
	lastLines int    // lines left for that
	chained   int    // lines left in which a header is chained to last; 0: no chain

	message int  // lines left that may continue the last message
	bare    bool // that message has no text yet
	colon   bool // its last line ends in a colon: what follows belongs to it, exception-like or not
	gap     int  // lines left in which a chaining sentence may come

	fatal      string // faulthandler's reason, until the crashed thread's frames are there
	fatalLines int    // lines left for them
	group      bool   // inside an exception group: lines begin with a bar
}

// Feed offers one line, without its envelope and line end but with its leading blanks, and says what it is. line is its
// 1-based number. text is not kept.
func (a *Assembler) Feed(line int, text []byte) State {
	a.out = nil
	a.tick()
	body, indent := a.unwrap(split(text))
	if kind := headerOf(body); kind != headerNone {
		if state, ok := a.header(line, kind, body, indent); ok {
			return state
		}
	}
	if o, start, ok := parseRay(body); ok {
		return a.remote(line, o, start, body, indent)
	}
	if o, ok := parseEcho(body); ok {
		return a.remote(line, o, 0, body, indent)
	}
	if a.open != nil {
		return a.inside(line, body, indent, len(text))
	}
	return a.outside(line, body, indent)
}

// Trace returns the traceback that the last fed line ended or continues: after [Final] and [Continuation], and after a
// [Header] that ended the traceback before it; nil otherwise. It is never changed again, the caller may keep it.
func (a *Assembler) Trace() *Trace { return a.out }

// Open says that lines are still expected: of a traceback, of its message, or of one that it caused. The caller then feeds
// the next lines of the stream even when they hold nothing else of interest.
func (a *Assembler) Open() bool {
	return a.open != nil || a.resume != nil || a.message > 0 || a.gap > 0 || a.chained > 0 || a.fatalLines > 0
}

// Building says that a traceback is under construction: more of it must come. Open without Building only waits for a
// further line of a message, or for a traceback that it caused.
func (a *Assembler) Building() bool { return a.open != nil }

// Idle says that nothing that came before has to do with the next line, unless that is the sentence that chains a
// traceback to the last one.
func (a *Assembler) Idle() bool {
	return a.open == nil && a.resume == nil && a.message == 0 && a.chained == 0 && a.fatalLines == 0
}

// EndMessage says that the next line begins a record of its own, for all that its envelope tells: it continues no message.
// An open traceback stays open, for loggers repeat their envelope before every line of one.
func (a *Assembler) EndMessage() {
	if a.message > 0 {
		a.message, a.gap = 0, maxChainGap
	}
}

// Close ends the stream. It returns the traceback that was under construction, unfinished (EndLine 0), or nil.
func (a *Assembler) Close() *Trace {
	var t *Trace
	if d := a.open; d != nil && d.frames > 0 {
		t = d.trace()
		if t.Reversed {
			a.sign(t, d)
		}
	}
	*a = Assembler{}
	return t
}

// Snapshot returns what is known of the traceback under construction, nil when there is none. The assembler's state does
// not change.
func (a *Assembler) Snapshot() *Trace {
	if a.open == nil || a.open.frames == 0 {
		return nil
	}
	return a.open.trace()
}

// tick ages what is only remembered for some lines.
func (a *Assembler) tick() {
	if a.lastLines > 0 {
		if a.lastLines--; a.lastLines == 0 {
			a.last, a.chained = nil, 0
		}
	}
	if a.chained > 0 {
		a.chained--
	}
	if a.gap > 0 {
		a.gap--
	}
	if a.fatalLines > 0 {
		if a.fatalLines--; a.fatalLines == 0 {
			a.fatal = ""
		}
	}
	if a.resume != nil {
		if a.resumes--; a.resumes < 0 {
			a.resume = nil
		}
	}
}

// header handles a line that opens a traceback. It declines when the line is a torn frame of the open one.
func (a *Assembler) header(line int, kind headerKind, body []byte, indent int) (State, bool) {
	if a.open != nil {
		if _, _, ok := parseFrame(body); ok {
			return Outside, false
		}
	}
	if kind == headerFatal {
		a.abandon()
		a.fatal, a.fatalLines = clip(body[len(textFatal):], maxMessage), maxForeign
		return Header, true
	}
	d := &draft{line: line, indent: indent, style: kind}
	switch old := a.open; {
	case old != nil && old.frames == 0 && (old.style == headerProcess || old.origin != nil):
		// "-- Process 3 terminated with the following error:" or Ray's line stands above an ordinary header.
		d.line, d.origin, d.cause = old.line, old.origin, old.cause
	case old != nil && old.style == headerFirst:
		a.endReversed()
	case a.last != nil && (a.chained > 0 || (kind == headerNested || kind == headerProcess) && a.lastLines >= maxLast-maxForeign):
		d.cause = causeOf(a.last)
	}
	if kind == headerFirst {
		d.current = bytes.HasPrefix(body, []byte("Current thread")) || bytes.HasPrefix(body, []byte("Stack "))
	}
	if kind == headerNotebook {
		class, _ := notebookHeader(body)
		d.class = clip(lastPart(class), maxClass)
	}
	a.group = a.group || kind == headerGroup
	a.start(d)
	return Header, true
}

// remote handles Ray's header. When it stands behind an exception class it ends the traceback it was printed in.
func (a *Assembler) remote(line int, o *Origin, start int, body []byte, indent int) State {
	d := &draft{line: line, indent: indent, style: headerRay, origin: o}
	e := parseException(body)
	if a.open == nil && a.resume != nil && e.sure != notException {
		a.open = a.resume
	}
	switch {
	case a.open != nil && e.sure != notException:
		d.cause = causeOf(a.finish(line, e))
	case a.open != nil && start == 0 && a.open.frames > 0:
		d.cause = causeOf(a.open.trace())
	case a.message > 0 && a.last != nil && (start == 0 || bytes.HasSuffix(body[:start], []byte("creation task, "))):
		d.cause = causeOf(a.last) // on a further line of the driver's message
	}
	a.start(d)
	return Header
}

// start opens a draft and forgets what the line before could have led to.
func (a *Assembler) start(d *draft) {
	if d.causeSize == 0 && d.cause != nil {
		d.causeSize = d.cause.Size()
	}
	a.open, a.resume = d, nil
	a.message, a.gap, a.chained = 0, 0, 0
}

// inside handles a line while a traceback is open.
func (a *Assembler) inside(line int, body []byte, indent, size int) State {
	d := a.open
	d.lines++
	d.bytes += size
	if d.lines > maxTraceLines || d.bytes > maxTraceBytes {
		a.abandon()
		return a.outside(line, body, indent)
	}
	if d.style == headerBox {
		if state, ok := a.insideBox(line, body); ok {
			return state
		}
	} else if d.style == headerNotebook {
		if state, ok := a.insideNotebook(line, body, indent); ok {
			return state
		}
	} else if f, at, ok := parseFrame(body); ok {
		if a.fatal != "" {
			a.fatalLines = maxForeign // other threads' frames may come first, by the hundred
		}
		d.add(line, f, indent, at > 0)
		return FrameLine
	}
	switch {
	case len(body) == 0:
		return a.blank()
	case isMarks(body), bytes.HasPrefix(body, []byte("[Previous line repeated ")):
		d.foreign = 0
		return Code
	case d.style == headerFirst:
		if string(body) == "..." {
			return Code
		}
		a.abandon()
		return a.outside(line, body, indent)
	case isChain(body):
		a.remember(d.trace())
		a.abandon()
		return a.outside(line, body, indent)
	case a.isCode(body, indent):
		d.setCode(body)
		d.code++
		d.foreign = 0
		return Code
	}
	return a.ending(line, body, indent)
}

// ending handles a line of an open traceback that is none of its frames and none of its source.
func (a *Assembler) ending(line int, body []byte, indent int) State {
	d := a.open
	if e := parseException(body); e.sure == errorLike || e.sure == namedLike && indent <= d.base() {
		a.finish(line, e)
		return Final
	}
	if a.group && bytes.HasPrefix(body, []byte("+-")) {
		return Outside
	}
	if isBar(body) {
		if e := behindBar(body); e.sure != notException {
			a.finish(line, e)
			return Final
		}
	} else if d.frames > 0 && indent <= d.base() && !isLogRecord(body) {
		// Text that is no exception: either a class that cannot be told, or somebody else's line. The traceback ends
		// here, but goes on if frames come right after.
		a.finish(line, exception{message: body})
		a.resume, a.resumes = d, maxResume
		return Final
	}
	if d.foreign++; d.foreign > maxForeign {
		a.abandon()
	}
	return Outside
}

// isCode says that an indented line is source quoted below the last frame. Right below the frame anything is; further
// down, a line that reads as an error's message is one that lost its place.
func (a *Assembler) isCode(body []byte, indent int) bool {
	d := a.open
	if d.frames == 0 {
		return false
	}
	if d.flat() {
		return d.code == 0 && parseException(body).sure != errorLike && !isBar(body) && !isLogRecord(body)
	}
	if indent < d.frameAt+2 || d.code >= maxSource {
		return false
	}
	if d.code == 0 {
		return true
	}
	e := parseException(body)
	return (e.sure != errorLike || !e.colon) && !isBar(body)
}

// blank handles an empty line in an open traceback: the end of faulthandler's, elsewhere noise.
func (a *Assembler) blank() State {
	d := a.open
	if d.style == headerFirst && d.frames > 0 {
		a.endReversed()
		return Final
	}
	if d.foreign++; d.foreign > maxForeign {
		a.abandon()
	}
	return Outside
}

// outside handles a line while no traceback is open.
func (a *Assembler) outside(line int, body []byte, indent int) State {
	f, at, framed := parseFrame(body)
	framed = framed && at == 0 && f.Line > 0
	if a.resume != nil {
		if state, ok := a.resumed(line, body, indent, f, framed); ok {
			return state
		}
	}
	framed = framed && indent >= 2
	if isChain(body) {
		a.message = 0
		if a.last != nil {
			a.chained = maxForeign
		}
		return Outside
	}
	if framed { // the header is lost
		a.start(&draft{line: line, indent: indent - 2})
		a.open.add(line, f, indent, false)
		return FrameLine
	}
	if a.message > 0 {
		return a.continued(body)
	}
	return Outside
}

// resumed takes up the traceback that seemed to end a few lines before.
func (a *Assembler) resumed(line int, body []byte, indent int, f Frame, framed bool) (State, bool) {
	d := a.resume
	if framed && indent == d.frameAt {
		a.start(d)
		d.add(line, f, indent, false)
		return FrameLine, true
	}
	if e := parseException(body); e.sure == errorLike && indent <= d.base() {
		a.open = d
		a.finish(line, e)
		return Final, true
	}
	return Outside, false
}

// continued decides whether a line belongs to the message before it.
func (a *Assembler) continued(body []byte) State {
	a.message--
	if len(body) == 0 {
		if !a.bare {
			a.EndMessage()
		}
		return Outside
	}
	e := parseException(body)
	if e.sure == errorLike && !a.colon && !a.bare || isBar(body) || isLogRecord(body) || a.group && body[0] == '+' {
		a.EndMessage()
		return Outside
	}
	if a.message == 0 {
		a.gap = maxChainGap
	}
	a.bare, a.colon = false, body[len(body)-1] == ':'
	a.out = a.last
	return Continuation
}

// finish ends the open traceback with an exception line.
func (a *Assembler) finish(line int, e exception) *Trace {
	t := a.open.trace()
	t.EndLine = line
	t.Exception, t.Message = clip(e.class, maxClass), clip(e.message, maxMessage)
	a.ended(t)
	a.message = maxContinuation
	a.bare = len(e.message) == 0 && e.colon
	a.colon = len(e.message) > 0 && e.message[len(e.message)-1] == ':'
	if len(e.message) == 0 && !e.colon { // a bare class: it has no message that could go on
		a.message, a.gap = 0, maxChainGap
	}
	return t
}

// endReversed ends a traceback of faulthandler's, which no exception line follows.
func (a *Assembler) endReversed() {
	d := a.open
	if d.frames == 0 {
		a.open = nil
		return
	}
	t := d.trace()
	t.EndLine = d.lastLine
	a.sign(t, d)
	a.ended(t)
}

// sign writes faulthandler's reason into the crashed thread's traceback.
func (a *Assembler) sign(t *Trace, d *draft) {
	if d.current && a.fatal != "" {
		t.Exception, t.Message = "Fatal Python error", a.fatal
		a.fatal, a.fatalLines = "", 0
	}
}

func (a *Assembler) ended(t *Trace) {
	a.remember(t)
	a.out = t
	a.open, a.resume = nil, nil
}

func (a *Assembler) remember(t *Trace) { a.last, a.lastSize, a.lastLines = t, t.Size(), maxLast }

// Held is about how many bytes the assembler keeps until the next line.
func (a *Assembler) Held() int {
	n := 0
	if a.last != nil {
		n += a.lastSize
	}
	for _, d := range []*draft{a.open, a.resume} {
		if d != nil {
			n += min(d.bytes, maxTraceBytes) + min(d.frames, maxHeadFrames+maxTailFrames)*frameBytes + d.causeSize
		}
	}
	return n
}

// abandon drops the open traceback.
func (a *Assembler) abandon() { a.open, a.resume = nil, nil }
