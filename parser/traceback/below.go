package traceback

import "bytes"

// Some programs print a message first, and its frames below: Dagster (_utils/error.py), Streamlit's page, and whoever shows what pybind11 says
// of an exception (pybind11/pytypes.h), such as Triton. pybind11 prints the innermost call first.
//
//	torch.OutOfMemoryError: CUDA out of memory. ...
//
//	Stack Trace:
//	  File "/srv/ops.py", line 88, in train
//
//	OutOfMemoryError: CUDA out of memory. ...
//
//	At:
//	  /models/m/1/model.py(41): initialize

// isBelow reports whether a line is the heading of such frames.
func isBelow(body []byte) bool {
	switch string(body) {
	case "Stack Trace:", "Stack trace:", "Traceback:", "At:":
		return true
	}
	return false
}

// parseCall reads pybind11's `PATH(LINE): FUNC`.
func parseCall(body []byte) (f Frame, ok bool) {
	place, fn, found := bytes.Cut(head(body), []byte("): "))
	at := bytes.LastIndexByte(place, '(')
	if !found || at <= 0 {
		return f, false
	}
	n, size := leadingInt(place[at+1:])
	f = Frame{File: clip(place[:at], maxPath), Line: n, Func: funcName(fn)}
	inner := bytes.HasPrefix(place, []byte("<")) && place[at-1] == '>' // of the interpreter
	return f, size > 0 && size == len(place)-at-1 && f.Func != "" && len(f.Func) == len(fn) && (inner || isSourceName(place[:at]))
}

func (a *Assembler) isCall() (ok bool) {
	a.line.frame, ok = parseCall(a.line.body)
	return ok
}

func (a *Assembler) addCall() {
	a.addFrame()
	a.draft.reversed = true
}

// endsBelow reports whether a line is behind such frames. A blank one may stand before them.
func (a *Assembler) endsBelow() bool { return len(a.line.body) > 0 || a.draft.frames > 0 }

func (a *Assembler) endBelow() {
	if a.draft.frames > 0 {
		a.below = a.draft.trace()
	}
	a.draft = nil
}
