package traceback

import "bytes"

// line is the line at hand, and what its form found in it.
type line struct {
	number    int
	body      []byte // without the blanks at both ends
	indent    int    // leading blanks
	frame     Frame
	at        int // where in body the frame or Ray's header begins
	exception exception
	origin    *Origin
}

// form makes a form of a check that needs the line's text alone.
func form(is func(body []byte) bool) func(*Assembler) bool {
	return func(a *Assembler) bool { return is(a.line.body) }
}

// header makes a form of a check for a header. In an open traceback a frame goes before: the header was written into it.
func header(is func(body []byte) bool) func(*Assembler) bool {
	return func(a *Assembler) bool {
		if !is(a.line.body) {
			return false
		}
		_, _, torn := parseFrame(a.line.body)
		return !torn || !a.Building()
	}
}

// mayBeHeader says quickly of most lines that none of [headers] fits: each begins or ends with one of a few bytes.
func mayBeHeader(body []byte) bool {
	if len(body) == 0 {
		return false
	}
	first, last := body[0], body[len(body)-1]
	return last == ':' || last == ')' || first == 'F' || first == "╭"[0]
}

func suffix(text string) func([]byte) bool {
	return func(body []byte) bool { return bytes.HasSuffix(body, []byte(text)) }
}

func prefix(text string) func([]byte) bool {
	return func(body []byte) bool { return bytes.HasPrefix(body, []byte(text)) }
}

func isOnly(text string) func([]byte) bool {
	return func(body []byte) bool { return string(body) == text }
}

// isProcessHeader recognises the header of torch/multiprocessing/spawn.py.
func isProcessHeader(body []byte) bool {
	return bytes.HasPrefix(body, []byte("-- Process ")) && bytes.HasSuffix(body, []byte("terminated with the following error:"))
}

func isBoxHeader(body []byte) bool {
	return bytes.HasPrefix(body, []byte("╭─")) && bytes.Contains(head(body), textBoxTitle)
}

// isRemoteHeader recognises Ray's header, and a driver's repetition of a remote failure.
func (a *Assembler) isRemoteHeader() bool {
	o, at, ok := parseRay(a.line.body)
	if !ok {
		o, ok = parseEcho(a.line.body)
	}
	if ok {
		a.line.origin, a.line.at = o, at
	}
	return ok
}

func (a *Assembler) isFrame() bool {
	f, at, ok := parseFrame(a.line.body)
	if ok {
		a.line.frame, a.line.at = f, at
	}
	return ok
}

// isWholeFrame recognises a frame that begins its line and names a line of source.
func (a *Assembler) isWholeFrame() bool {
	return a.isFrame() && a.line.at == 0 && a.line.frame.Line > 0
}

// isHeadlessFrame recognises a frame whose header is lost. Without its indentation it must name a function: a syntax
// error's place does not.
func (a *Assembler) isHeadlessFrame() bool {
	return a.isWholeFrame() && (a.line.indent >= 2 || a.line.frame.Func != "")
}

// isResumedFrame recognises a further frame of the traceback that seemed to end a few lines before.
func (a *Assembler) isResumedFrame() bool {
	return a.draft != nil && a.line.indent == a.draft.frameAt && a.isWholeFrame()
}

// isResumedException recognises the exception line of the traceback that seemed to end a few lines before.
func (a *Assembler) isResumedException() bool {
	if a.draft == nil || a.line.indent > a.draft.base() {
		return false
	}
	a.line.exception = parseException(a.line.body)
	return a.line.exception.sure == errorLike
}

// isException recognises the line that ends an open traceback.
func (a *Assembler) isException() bool {
	e := parseException(a.line.body)
	a.line.exception = e
	return e.sure == errorLike || e.sure == namedLike && a.line.indent <= a.draft.base()
}

// isExceptionBehindBar recognises an exception line that was written behind a progress bar without a line end.
func (a *Assembler) isExceptionAfterBar() bool {
	if !isBar(a.line.body) {
		return false
	}
	a.line.exception = afterBar(a.line.body)
	return a.line.exception.sure != notException
}

// isText recognises a line that stands where the exception belongs and is none.
func (a *Assembler) isText() bool {
	return a.draft.frames > 0 && a.line.indent <= a.draft.base() && !isLogRecord(a.line.body)
}

// isSource recognises an indented line as source quoted below the last frame. Right below the frame anything is; further
// down, a line that reads as an error's message is one that lost its place.
func (a *Assembler) isSource() bool {
	d, body := a.draft, a.line.body
	if d.frames == 0 {
		return false
	}
	if d.flat() {
		return d.code == 0 && parseException(body).sure != errorLike && !isBar(body) && !isLogRecord(body)
	}
	if a.line.indent < d.frameAt+2 || d.code >= maxSource {
		return false
	}
	if d.code == 0 {
		return true
	}
	e := parseException(body)
	return (e.sure != errorLike || !e.colon) && !isBar(body)
}

// endsThread recognises the blank line behind a thread's frames.
func (a *Assembler) endsThread() bool { return len(a.line.body) == 0 && a.draft.frames > 0 }

// isGroupBorder recognises the line between the parts of an exception group.
func (a *Assembler) isGroupBorder() bool {
	return a.group && bytes.HasPrefix(a.line.body, []byte("+-"))
}

// isNoMessage recognises a line that no message goes on with.
func (a *Assembler) isNoMessage() bool {
	body := a.line.body
	return isBar(body) || isLogRecord(body) || a.group && body[0] == '+'
}

// isSummary recognises the headings within a message of PaddlePaddle (phi/core/enforce.h): what went wrong stands behind
// its stack of C++ and an empty line.
func isSummary(body []byte) bool {
	switch string(bytes.TrimRight(body, " ")) {
	case "Error Message Summary:", "ResourceExhaustedError:", ":ResourceExhaustedError:":
		return true
	}
	return false
}

// isNativeStack recognises the headings of the stack above that.
func isNativeStack(body []byte) bool {
	switch string(bytes.TrimRight(body, " ")) {
	case "C++ Traceback (most recent call last):", "C++ Call Stacks (More useful to developers):":
		return true
	}
	return false
}

// isError recognises a line that reads like another exception.
func isError(body []byte) bool { return parseException(body).sure == errorLike }

// isChain recognises the sentences that tie a traceback to the one before (Lib/traceback.py).
func isChain(body []byte) bool {
	return bytes.HasPrefix(body, textDirect) || bytes.HasPrefix(body, textDuring)
}

// isMarks recognises lines that only point into the source line above, ^^^^ or ~~~~^^^^, or stand for repeated frames.
func isMarks(body []byte) bool {
	if bytes.HasPrefix(body, []byte("[Previous line repeated ")) {
		return true
	}
	return len(body) > 0 && len(bytes.Trim(body, "^~ ")) == 0
}
