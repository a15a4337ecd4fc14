package traceback

import "bytes"

// State is what a line is to the [Assembler].
type State int

const (
	// Outside lines are not part of a report, but may interrupt one when another writer prints them.
	Outside State = iota
	// Header lines open a traceback. They may contain a message too: Ray prints the class that ends the driver's
	// traceback and the header of the remote one on the same line.
	Header
	// FrameLine is `  File "x", line N, in f`.
	FrameLine
	// Code is a quoted source line, a caret line or a box's border. Patterns must not read it.
	Code
	// Final is the exception line: the trace is complete. Patterns read it.
	Final
	// Continuation is another line of an exception's message. Patterns read it.
	Continuation
)

// How many lines the assembler looks back or ahead.
const (
	maxForeign      = 16 // consecutive lines of other writers that end an open traceback
	maxSource       = 24 // indented source lines after one frame: Python 3.13 and loguru print many
	maxContinuation = 48 // lines of one message after its first
	maxResume       = 3  // lines of other writers after which a traceback that seemed to have ended may go on
	maxChainGap     = 4  // lines between a message and the sentence that chains the next traceback
	maxLast         = 96 // lines for which the last traceback can still become a cause
)

// Assembler assembles tracebacks from one writer's lines, in order and without line prefixes. The zero value is ready
// to use. It keeps at most the current traceback and the last one. It is not safe for concurrent use.
type Assembler struct {
	state state
	fed   int  // lines so far
	until int  // the line until which the states messages, ended and chained last
	line  line // the current line

	draft *draft // the current traceback; in an outside state, one that ended at a line that may be another writer's
	out   *Trace // the result of Trace
	below *Trace // the result of Below

	last     *Trace // the last finished one, to which a chain refers
	lastSize int
	lastAt   int // the line that ended it

	fatal      string // faulthandler's reason, until the crashed thread's frames are read
	fatalUntil int    // the line until which it is kept

	group bool // inside an exception group: lines begin with a bar
}

// Feed reads a line without its line prefix and line end, but with its leading blanks, and returns what it is. number
// is its 1-based line number. text is not kept.
func (a *Assembler) Feed(number int, text []byte) State {
	a.out, a.below = nil, nil
	a.fed++
	if a.state == 0 {
		a.state = idle
	}
	a.line.number = number
	a.line.body, a.line.indent = a.unwrap(split(text))
	if a.state&open != 0 && !a.draft.count(len(text)) {
		a.abandon()
	}
	t := a.next()
	a.take(t)
	if t.is == restart {
		t = a.next()
		a.take(t)
	}
	a.line = line{}
	a.expire()
	return t.is
}

// Trace returns the traceback that the last line ended or continued: after [Final], [Continuation], and a [Header]
// that ended the traceback before it; otherwise nil. It does not change any more.
func (a *Assembler) Trace() *Trace { return a.out }

// Below returns the traceback below a message that ended before the last line, otherwise nil. It has no exception of its own.
func (a *Assembler) Below() *Trace { return a.below }

// Told notes that the last line told of a failure outside of a traceback: some programs print the frames below the message.
func (a *Assembler) Told() {
	if a.state == idle {
		a.enter(told)
	}
}

// Announced returns what Ray's header tells of a remote traceback before its first frame: whose it is, and the driver's
// traceback as its cause. It is nil after any other line.
func (a *Assembler) Announced() *Trace {
	if a.state != announced || a.draft.origin == nil {
		return nil
	}
	return a.draft.trace()
}

// Open reports whether more lines are expected: of a traceback, of its message, or of one that it caused. The caller
// should then pass the writer's next lines even if they contain nothing else of interest.
func (a *Assembler) Open() bool { return !a.Idle() || a.state&(ended|told) != 0 }

// Building reports whether a traceback is unfinished. Otherwise Open only means that its message may continue or that
// it may have caused another one.
func (a *Assembler) Building() bool { return a.state&open != 0 }

// Idle reports whether the next line cannot belong to anything before it, except as the sentence that chains a
// traceback to the last one.
func (a *Assembler) Idle() bool {
	return a.state&^(idle|ended|told) == 0 && a.draft == nil && a.fatal == ""
}

// EndMessage ends the open message, because the next line's prefix shows that a new record begins. It does not end an
// open traceback, because some loggers prefix each of its lines.
func (a *Assembler) EndMessage() {
	if a.state&messages != 0 {
		a.enter(ended)
	}
}

// Close ends the input. It returns the unfinished traceback, with an EndLine of 0, or nil.
func (a *Assembler) Close() *Trace {
	t := a.Snapshot()
	if t != nil {
		a.markCrash(t)
	}
	*a = Assembler{}
	return t
}

// Snapshot returns what is known of the unfinished traceback, or nil. It does not change the state.
func (a *Assembler) Snapshot() *Trace {
	if !a.Building() || a.draft.frames == 0 {
		return nil
	}
	return a.draft.trace()
}

// Held estimates how many bytes the assembler keeps until the next line.
func (a *Assembler) Held() int {
	n := 0
	if a.last != nil {
		n += a.lastSize
	}
	if d := a.draft; d != nil {
		n += min(d.bytes, maxTraceBytes) + min(d.frames, maxHeadFrames+maxTailFrames)*frameBytes + d.causeSize
	}
	return n
}

// expire forgets what is only kept for some lines.
func (a *Assembler) expire() {
	if a.state&(ended|told|chained|messages) != 0 && a.fed >= a.until {
		if a.state&messages != 0 {
			a.enter(ended)
		} else {
			a.state = idle
		}
	}
	if a.last != nil && a.fed >= a.lastAt+maxLast {
		a.last = nil
	}
	if a.fed >= a.fatalUntil {
		a.fatal = ""
	}
	if !a.Building() && a.draft != nil && a.fed >= a.draft.until {
		a.draft = nil
	}
}

// begin opens a traceback at its header.
func (a *Assembler) begin() { a.beginChained(a.state == chained) }

// beginNested opens a traceback that a worker process printed and its parent repeats after its own.
func (a *Assembler) beginNested() {
	a.beginChained(a.state == chained || a.fed <= a.lastAt+maxForeign)
}

// beginChained opens a traceback. If tied is true, the last one is its cause.
func (a *Assembler) beginChained(tied bool) {
	d := &draft{line: a.line.number, indent: a.line.indent}
	switch old := a.draft; {
	case a.Building() && old.frames == 0 && (a.state == announced || old.origin != nil):
		d.line, d.origin, d.cause = old.line, old.origin, old.cause
	case a.state == threads:
		a.endThread()
	case a.state == below:
		a.endBelow()
	case tied && a.last != nil:
		d.cause = causeOf(a.last)
	}
	a.start(d)
}

// beginScript opens TorchScript's traceback, which its interpreter puts into the message of the Python one, whose frames come first. The
// second of two, of the original code, takes the place of that of the serialized code.
func (a *Assembler) beginScript() {
	d := &draft{line: a.line.number, indent: a.line.indent, script: true}
	switch old := a.draft; {
	case a.Building() && old.script:
		d.line, d.origin, d.cause, d.outer = old.line, old.origin, old.cause, old.outer
	case a.state&(messages|ended) != 0 && a.last != nil:
		d.line, d.origin, d.cause, d.outer = a.last.Line, a.last.Origin, a.last.Cause, a.last.Frames
	}
	for _, f := range d.outer {
		d.add(d.line, f, d.indent+2, false)
	}
	a.start(d)
}

func (a *Assembler) beginGroup() {
	a.group = true
	a.begin()
}

// beginThread opens the frames of one thread in faulthandler's dump.
func (a *Assembler) beginThread() {
	a.begin()
	a.draft.reversed = true
	a.draft.crashed = bytes.HasPrefix(a.line.body, []byte("Current thread")) || bytes.HasPrefix(a.line.body, []byte("Stack "))
}

func (a *Assembler) beginNotebook() {
	a.begin()
	a.draft.class = clip(lastPart(notebookClass(a.line.body)), maxClass)
}

// beginAtFrame opens a traceback without a header.
func (a *Assembler) beginAtFrame() {
	l := &a.line
	a.start(&draft{line: l.number, indent: l.indent - 2, headless: true})
	a.draft.add(l.number, l.frame, l.indent, false)
}

// beginRemote opens Ray's traceback. If its header follows an exception class on the same line, it also ends the
// traceback that it was printed in.
func (a *Assembler) beginRemote() {
	l := &a.line
	d := &draft{line: l.number, indent: l.indent, origin: l.origin}
	l.exception = parseException(l.body)
	switch {
	case a.draft != nil && l.exception.sure != notException:
		a.finish()
		d.cause = causeOf(a.out)
	case a.Building() && l.at == 0 && a.draft.frames > 0:
		d.cause = causeOf(a.draft.trace())
	case a.state&messages != 0 && a.last != nil && (l.at == 0 || bytes.HasSuffix(l.body[:l.at], []byte("creation task, "))):
		d.cause = causeOf(a.last) // on a later line of the driver's message
	}
	a.start(d)
}

func (a *Assembler) start(d *draft) {
	if d.cause != nil {
		d.causeSize = d.cause.Size()
	}
	a.draft = d
}

// noteFatal keeps the reason that faulthandler prints above the threads.
func (a *Assembler) noteFatal() {
	a.abandon()
	a.fatal, a.fatalUntil = clip(a.line.body[len(textFatal):], maxMessage), a.fed+maxForeign
}

func (a *Assembler) addFrame() {
	l := &a.line
	a.draft.add(l.number, l.frame, l.indent, l.at > 0)
	if a.fatal != "" {
		a.fatalUntil = a.fed + maxForeign // hundreds of frames of other threads may precede it
	}
}

// quote sets the last frame's source line.
func (a *Assembler) quote() {
	if d := a.draft; d.script {
		d.setScript(a.line.body)
	} else {
		d.setCode(a.line.body)
	}
	a.draft.code++
	a.draft.foreign = 0
}

// stay handles a line that belongs to the traceback but adds nothing.
func (a *Assembler) stay() { a.draft.foreign = 0 }

// skip counts a line outside the open traceback, and drops the traceback after too many.
func (a *Assembler) skip() {
	if a.draft.foreign++; a.draft.foreign > maxForeign {
		a.abandon()
	}
}

// abandon drops the unfinished traceback.
func (a *Assembler) abandon() {
	if a.Building() {
		a.state = idle
	}
	a.draft = nil
}

// finish ends the open traceback with the current exception.
func (a *Assembler) finish() {
	e := &a.line.exception
	t := a.draft.trace()
	t.EndLine = a.line.number
	t.Exception, t.Message = clip(e.class, maxClass), clip(e.message, maxMessage)
	a.end(t)
	a.until = a.fed + maxContinuation
	switch {
	case len(e.message) > 0:
		a.state = messageState(e.message)
	case e.colon:
		a.state = emptyMessage
	default: // a bare class has no message that could continue
		a.enter(ended)
	}
}

// finishForNow ends the open traceback at text that is not an exception: either the class is unusual, or another
// process wrote the line. If frames follow at once, the traceback continues.
func (a *Assembler) finishForNow() {
	d := a.draft
	a.line.exception = exception{message: a.line.body}
	a.finish()
	d.until = a.fed + maxResume
	a.draft = d
}

// endThread ends a thread's frames in faulthandler's dump, where no exception line follows.
func (a *Assembler) endThread() {
	if a.draft.frames == 0 {
		return
	}
	t := a.draft.trace()
	t.EndLine = a.draft.lastLine
	a.markCrash(t)
	a.end(t)
}

// markCrash adds faulthandler's reason to the crashed thread's traceback.
func (a *Assembler) markCrash(t *Trace) {
	if a.draft.crashed && a.fatal != "" {
		t.Exception, t.Message = "Fatal Python error", a.fatal
		a.fatal = ""
	}
}

func (a *Assembler) end(t *Trace) {
	a.remember(t)
	a.out, a.draft = t, nil
}

func (a *Assembler) remember(t *Trace) { a.last, a.lastSize, a.lastAt = t, t.Size(), a.fed }

// chainUnfinished makes a traceback without an exception line the cause of the next one.
func (a *Assembler) chainUnfinished() {
	a.remember(a.draft.trace())
	a.draft = nil
}

// chain makes the last traceback, if still known, the cause of the next one.
func (a *Assembler) chain() {
	if a.last == nil {
		a.state = idle
		return
	}
	a.enter(chained)
}

func (a *Assembler) continueMessage() {
	a.state = messageState(a.line.body)
	a.out = a.last
}

// continueSummary continues a message with an empty line before its last part.
func (a *Assembler) continueSummary() {
	a.state, a.until = emptyMessage, a.fed+maxContinuation
	a.out = a.last
}

// awaitSummary waits for the last part of a message after a C++ stack inside it.
func (a *Assembler) awaitSummary() {
	a.state, a.until = ended, a.fed+maxLast
	a.out = a.last
}

// messageState returns the state after a line of a message.
func messageState(text []byte) state {
	if text[len(text)-1] == ':' {
		return colonMessage
	}
	return message
}
