package traceback

import (
	"bytes"
	"strings"
)

// What pytest shows of a test that failed (_pytest/_code/code.py, 3 to 8): the first and the last call in full, with the source of their
// functions, those between as places, and the error behind an E. Only the places are read as frames.
//
//	____________ TestTrainer.test_fit ____________
//	_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
//	/opt/lib/python3.11/site-packages/torch/_tensor.py:626: in backward
//	    torch.autograd.backward(
//	E   torch.OutOfMemoryError: CUDA out of memory.

// isTestHeading reports whether a line names the test whose failure follows.
func isTestHeading(body []byte) bool {
	name := bytes.Trim(body, "_")
	return bytes.HasPrefix(body, []byte("__")) && len(name) > 2 && name[0] == ' ' && name[len(name)-1] == ' '
}

// isTestBreak reports whether a line stands between two calls.
func isTestBreak(body []byte) bool {
	return bytes.HasPrefix(body, []byte("_ _ _ _ _ ")) && len(bytes.Trim(body, "_ ")) == 0
}

func (a *Assembler) isTestFrame() (ok bool) {
	if a.line.indent == 0 {
		a.line.frame, ok = parsePlace(head(a.line.body), ": in ")
	}
	return ok && a.line.frame.Func != "" && !strings.ContainsAny(a.line.frame.File, " \t")
}

// isTestCode reports whether a line is the source of the last frame.
func (a *Assembler) isTestCode() bool {
	return a.draft.frames > 0 && a.draft.code == 0 && a.line.indent >= 4
}

func (a *Assembler) isTestError() bool {
	text, ok := bytes.CutPrefix(a.line.body, []byte("E  "))
	if !ok || a.line.indent > 0 || a.draft.frames == 0 {
		return false
	}
	a.line.exception = parseException(bytes.TrimLeft(text, " "))
	return a.line.exception.sure == errorLike
}
