package traceback

import (
	"bytes"
	"slices"

	"oomscan/parser/ascii"
)

// A notebook's traceback, printed by IPython (core/ultratb.py, 5 to 9) and by programs that run notebooks in batch:
// papermill, nbconvert, Colab, Databricks. The header and the last line name the class. Each frame quotes some source lines
// with their numbers, the running one after an arrow.
//
//	RuntimeError                              Traceback (most recent call last)
//	<ipython-input-3-b36> in <module>                        to IPython 7; 8 prints `Cell In[3], line 2`
//	----> 2 train(model)
//	~/env/lib/python3.9/site-packages/torch/_tensor.py in backward(self, gradient)      8: `File ~/env/..:363, in ...`

func isNotebookHeader(body []byte) bool { return len(notebookClass(body)) > 0 }

// notebookClass returns the class in IPython's header, nil if the line is no such header.
func notebookClass(body []byte) []byte {
	rest, found := bytes.CutSuffix(body, textBoxTitle)
	class := bytes.TrimRight(rest, " ")
	if !found || len(class) == 0 || len(class) == len(rest) || len(class) > maxClass || !ascii.IsUpper(class[0]) {
		return nil
	}
	for _, c := range class {
		if !ascii.IsWord(c) && c != '.' {
			return nil
		}
	}
	return class
}

// parseNotebookFrame reads the first line of a frame in all its forms.
func parseNotebookFrame(body []byte) (f Frame, ok bool) {
	body = head(body)
	for _, cell := range []string{"Cell In", "Input In"} {
		rest, found := bytes.CutPrefix(body, []byte(cell))
		end := bytes.IndexByte(rest, ']')
		if !found || end < 0 || !bytes.HasPrefix(bytes.TrimLeft(rest, " "), []byte("[")) {
			continue
		}
		if f, ok = parseFrameTail(rest[end+1:]); ok {
			f.File = clip(body[:len(cell)+end+1], maxPath)
		}
		return f, ok
	}
	if rest, found := bytes.CutPrefix(body, []byte("File ")); found {
		return parsePlace(rest, ", in ") // ~/env/lib/x.py:363, in Tensor.backward(self, gradient)
	}
	i := bytes.Index(body, []byte(" in "))
	if i < 0 {
		return f, false
	}
	name := unlinked(body[:i])
	if !isSourceName(name) {
		return f, false
	}
	f = Frame{File: clip(name, maxPath), Func: funcName(body[i+4:])}
	rest := body[i+4+len(f.Func):]
	return f, f.Func != "" && (len(rest) == 0 || rest[0] == '(' || rest[0] == ' ')
}

// parsePlace reads a file, its line and, behind what separates it, the function. There may be none.
func parsePlace(b []byte, separator string) (f Frame, ok bool) {
	where, fn, _ := bytes.Cut(b, []byte(separator))
	colon := bytes.LastIndexByte(where, ':')
	if colon <= 0 || where[0] == '"' {
		return f, false
	}
	n, size := leadingInt(where[colon+1:])
	if size == 0 || size != len(where)-colon-1 {
		return f, false
	}
	return Frame{File: clip(where[:colon], maxPath), Line: n, Func: funcName(fn)}, true
}

// unlinked strips what Colab writes around a file that is copied from it: `[/usr/lib/x.py](https://localhost:8080/#)`.
func unlinked(b []byte) []byte {
	name, target, linked := bytes.Cut(b, []byte("](https://localhost:"))
	if rest, found := bytes.CutPrefix(name, []byte("[")); linked && found && bytes.HasSuffix(target, []byte(")")) {
		return rest
	}
	return b
}

// isSourceName reports whether a frame of IPython 7 begins with a file or a cell.
func isSourceName(b []byte) bool {
	return slices.ContainsFunc([]string{".py", ".pyx", ".pxi", ".pyc"}, func(s string) bool { return bytes.HasSuffix(b, []byte(s)) }) ||
		bytes.HasPrefix(b, []byte("<ipython-input-")) && bytes.HasSuffix(b, []byte(">")) || bytes.HasPrefix(b, []byte("<command-"))
}

// notebookCode reads a quoted source line: `    63     loss = f(x)`, `---> 64     loss.backward()`.
func notebookCode(body []byte) (code []byte, line int, arrow, ok bool) {
	rest := bytes.TrimLeft(body, "-")
	if dashes := len(body) - len(rest); dashes > 0 {
		if rest, arrow = bytes.CutPrefix(rest, []byte(">")); !arrow {
			return nil, 0, false, false
		}
		rest = bytes.TrimLeft(rest, " ")
	}
	line, size := leadingInt(rest)
	if size == 0 || size < len(rest) && rest[size] != ' ' {
		return nil, 0, false, false
	}
	return bytes.TrimSpace(rest[size:]), line, arrow, true
}

func (a *Assembler) isNotebookFrame() (ok bool) {
	a.line.frame, ok = parseNotebookFrame(a.line.body)
	return ok
}

func (a *Assembler) isNotebookCode() bool {
	_, _, _, ok := notebookCode(a.line.body)
	return ok && a.draft.frames > 0
}

// isNotebookGap reports whether a line stands for omitted source lines or frames.
func (a *Assembler) isNotebookGap() bool {
	body := a.line.body
	return a.draft.frames > 0 && a.line.indent > a.draft.frameAt && (bytes.HasPrefix(body, []byte("(...)")) || bytes.HasPrefix(body, []byte("[... ")))
}

// isNotebookError reports whether a line is the last one, which repeats the class in the header.
func (a *Assembler) isNotebookError() bool {
	e := parseException(a.line.body)
	a.line.exception = e
	return e.sure == errorLike || len(e.class) > 0 && a.draft.class == string(lastPart(e.class))
}

// quoteCell takes the source line that an arrow marks. IPython 8 prints the line number only there.
func (a *Assembler) quoteCell() {
	a.draft.foreign = 0
	if code, n, arrow, _ := notebookCode(a.line.body); arrow {
		a.draft.setLine(n)
		a.draft.setCode(code)
	}
}

// lastPart returns the last part of a dotted name.
func lastPart(name []byte) []byte { return name[bytes.LastIndexByte(name, '.')+1:] }
