package traceback

import "bytes"

// line is the current line and what was found in it.
type line struct {
	number    int
	body      []byte // without blanks at both ends
	indent    int    // leading blanks
	frame     Frame
	at        int // index in body of the frame or Ray's header
	exception exception
	origin    *Origin
}

// form adapts a check that needs only the line's text.
func form(is func(body []byte) bool) func(*Assembler) bool {
	return func(a *Assembler) bool { return is(a.line.body) }
}

// header adapts a check for a header. In an open traceback, a line that also contains a frame is a frame: another
// process wrote the header into it.
func header(is func(body []byte) bool) func(*Assembler) bool {
	return func(a *Assembler) bool {
		if !is(a.line.body) {
			return false
		}
		_, _, torn := parseFrame(a.line.body)
		return !torn || !a.Building()
	}
}

// mayBeHeader quickly rules out most lines: all [headers] begin or end with one of a few bytes.
func mayBeHeader(body []byte) bool {
	if len(body) == 0 {
		return false
	}
	first, last := body[0], body[len(body)-1]
	return last == ':' || last == ')' || first == 'F' || first == '_' || first == "╭"[0]
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

// isProcessHeader reports whether a line is the header of torch/multiprocessing/spawn.py.
func isProcessHeader(body []byte) bool {
	return bytes.HasPrefix(body, []byte("-- Process ")) && bytes.HasSuffix(body, []byte("terminated with the following error:"))
}

// isScriptHeader reports whether a line is the header of TorchScript's interpreter (torch/csrc/jit/runtime/interpreter.cpp); for a saved model
// it prints the serialized code and the original code.
func isScriptHeader(body []byte) bool {
	return bytes.HasPrefix(body, []byte("Traceback of TorchScript")) && bytes.HasSuffix(body, []byte(" (most recent call last):"))
}

func isBoxHeader(body []byte) bool {
	return bytes.HasPrefix(body, []byte("╭─")) && bytes.Contains(head(body), textBoxTitle)
}

// isRemoteHeader reports whether a line is Ray's header, or a driver's repetition of a remote failure.
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

// isWholeFrame reports whether a line begins with a frame that has a line number.
func (a *Assembler) isWholeFrame() bool {
	return a.isFrame() && a.line.at == 0 && a.line.frame.Line > 0
}

// isHeadlessFrame reports whether a line is a frame whose header was lost. Without indentation it must name a
// function: a syntax error's position does not.
func (a *Assembler) isHeadlessFrame() bool {
	return a.isWholeFrame() && (a.line.indent >= 2 || a.line.frame.Func != "")
}

// isResumedFrame reports whether a line is a frame of a traceback that seemed to end a few lines before.
func (a *Assembler) isResumedFrame() bool {
	return a.draft != nil && a.line.indent == a.draft.frameAt && a.isWholeFrame()
}

// isResumedException reports whether a line is the exception of a traceback that seemed to end a few lines before.
func (a *Assembler) isResumedException() bool {
	if a.draft == nil || a.line.indent > a.draft.base() {
		return false
	}
	a.line.exception = parseException(a.line.body)
	return a.line.exception.sure == errorLike
}

// isException reports whether a line ends the open traceback.
func (a *Assembler) isException() bool {
	e := parseException(a.line.body)
	a.line.exception = e
	return e.sure == errorLike || e.sure == namedLike && a.line.indent <= a.draft.base()
}

// isExceptionAfterBar reports whether an exception follows a progress bar on the same line.
func (a *Assembler) isExceptionAfterBar() bool {
	if !isBar(a.line.body) {
		return false
	}
	a.line.exception = afterBar(a.line.body)
	return a.line.exception.sure != notException
}

// isText reports whether other text is in the exception's place.
func (a *Assembler) isText() bool {
	return a.draft.frames > 0 && a.line.indent <= a.draft.base() && !isLogRecord(a.line.body)
}

// isSource reports whether a line is source code quoted below the last frame. Directly below the frame, any line is;
// after that, a line that reads like an error's message is one that was moved.
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

// endsThread reports whether a line is the blank line after a thread's frames.
func (a *Assembler) endsThread() bool { return len(a.line.body) == 0 && a.draft.frames > 0 }

// isGroupBorder reports whether a line separates the parts of an exception group.
func (a *Assembler) isGroupBorder() bool {
	return a.group && bytes.HasPrefix(a.line.body, []byte("+-"))
}

// isNoMessage reports whether a line cannot be part of a message.
func (a *Assembler) isNoMessage() bool {
	body := a.line.body
	return isBar(body) || isLogRecord(body) || isPrompt(body) || a.group && body[0] == '+'
}

// isPrompt reports whether a line begins with a shell's prompt: `$ ls`, `(env) me@host:~/run$ ls`, `root@host:/run# ls`, `[me@host run]$ ls`.
func isPrompt(body []byte) bool {
	const most = 200
	body = body[:min(len(body), most)]
	if bytes.HasPrefix(body, []byte("$ ")) {
		return true
	}
	if bytes.HasPrefix(body, []byte("(")) {
		_, body, _ = bytes.Cut(body, []byte(") "))
	}
	end := bytes.IndexByte(body, ' ')
	if bytes.HasPrefix(body, []byte("[")) {
		end = bytes.IndexByte(body, ']') + 2
	}
	return end > 1 && end < len(body) && body[end] == ' ' && (body[end-1] == '$' || body[end-1] == '#') && bytes.IndexByte(body[:end], '@') > 0
}

// isSummary reports whether a line is a heading inside PaddlePaddle's messages (phi/core/enforce.h): the error
// follows a C++ stack and an empty line.
func isSummary(body []byte) bool {
	switch string(bytes.TrimRight(body, " ")) {
	case "Error Message Summary:", "ResourceExhaustedError:", ":ResourceExhaustedError:":
		return true
	}
	return false
}

// isNativeStack reports whether a line is the heading of that stack.
func isNativeStack(body []byte) bool {
	switch string(bytes.TrimRight(body, " ")) {
	case "C++ Traceback (most recent call last):", "C++ Call Stacks (More useful to developers):":
		return true
	}
	return false
}

// isError reports whether a line reads like another exception.
func isError(body []byte) bool { return parseException(body).sure == errorLike }

// isChain reports whether a line is a sentence that ties a traceback to the one before (Lib/traceback.py).
func isChain(body []byte) bool {
	return bytes.HasPrefix(body, textDirect) || bytes.HasPrefix(body, textDuring)
}

// isMarks reports whether a line only points into the source line above, ^^^^ or ~~~~^^^^, or stands for repeated
// frames.
func isMarks(body []byte) bool {
	if bytes.HasPrefix(body, []byte("[Previous line repeated ")) {
		return true
	}
	return len(body) > 0 && len(bytes.Trim(body, "^~ ")) == 0
}
