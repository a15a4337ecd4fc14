package traceback

import (
	"bytes"
	"slices"
)

// unwrap removes the bar of exception groups and loguru's mark before the failing frame.
func (a *Assembler) unwrap(body []byte, indent int) ([]byte, int) {
	if a.group || bytes.HasPrefix(body, []byte("| ")) && bytes.HasSuffix(body, textTraceback) {
		if len(body) > 0 && body[0] == '|' {
			inner, n := split(body[1:])
			return inner, max(n-1, 0)
		}
		a.group = a.Building() || bytes.HasPrefix(body, []byte("+"))
	}
	if bytes.HasPrefix(body, []byte(`> File "`)) {
		return body[2:], indent + 2
	}
	return body, indent
}

func (a *Assembler) isBoxFrame() (ok bool) {
	if row, boxed := boxRow(a.line.body); boxed {
		a.line.frame, ok = a.draft.boxFrame(row)
	}
	return ok
}

// isBoxRow reports whether a line is a row of rich's box or its border.
func isBoxRow(body []byte) bool {
	return slices.ContainsFunc([]string{"│", "╰", "╭", "├"}, func(edge string) bool { return bytes.HasPrefix(body, []byte(edge)) })
}

// boxRow removes the sides of the box from a row.
func boxRow(body []byte) (row []byte, ok bool) {
	if row, ok = bytes.CutPrefix(body, []byte("│")); ok {
		row, _ = split(bytes.TrimSuffix(row, []byte("│")))
	}
	return row, ok
}

// addBoxFrame adds a frame, indented by two blanks relative to the exception below the box, which stands in the column of the box's edge: a
// RichHandler prints both in the column of its messages.
func (a *Assembler) addBoxFrame() { a.draft.add(a.line.number, a.line.frame, a.line.indent+2, false) }

// quoteBox takes the source line that an arrow marks.
func (a *Assembler) quoteBox() {
	a.draft.foreign = 0
	row, _ := boxRow(a.line.body)
	if code, ok := bytes.CutPrefix(row, []byte("❱ ")); ok {
		if _, code, ok = bytes.Cut(code, []byte("│")); ok {
			code, _ = split(bytes.TrimLeft(code, "│ \t")) // indentation guides
			a.draft.setCode(code)
		}
	}
}

// boxFrame reads a frame of rich's box. A narrow terminal breaks it inside the path or before the function's name.
func (d *draft) boxFrame(inner []byte) (f Frame, ok bool) {
	if f, ok = parseBoxFrame(inner); ok {
		d.wrapped = nil
		return f, true
	}
	if n := len(d.wrapped); n > 0 && len(inner) > 0 {
		d.wrapped = append(d.wrapped, inner...)
		if f, ok = parseBoxFrame(d.wrapped); !ok {
			f, ok = parseBoxFrame(bytes.Join([][]byte{d.wrapped[:n], inner}, []byte(" ")))
		}
		if ok || len(d.wrapped) > maxPath {
			d.wrapped = nil
		}
		return f, ok
	}
	d.wrapped = nil
	if len(inner) > 1 && len(inner) <= maxPath && (inner[0] == '/' || inner[0] == '~' || inner[1] == ':') {
		d.wrapped = append(d.wrapped, inner...)
	}
	return f, false
}
