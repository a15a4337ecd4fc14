package traceback

import "bytes"

// unwrap takes the drawing off a line: the bar of exception groups, loguru's mark before the failing frame.
func (a *Assembler) unwrap(body []byte, indent int) ([]byte, int) {
	if a.group || bytes.HasPrefix(body, []byte("| ")) && bytes.HasSuffix(body, textTraceback) {
		if len(body) > 0 && body[0] == '|' {
			inner, n := split(body[1:])
			return inner, max(n-1, 0)
		}
		a.group = a.open != nil || bytes.HasPrefix(body, []byte("+"))
	}
	if bytes.HasPrefix(body, []byte(`> File "`)) {
		return body[2:], indent + 2
	}
	return body, indent
}

// insideBox handles the lines of rich's box. The exception stands below it.
func (a *Assembler) insideBox(line int, body []byte) (State, bool) {
	d := a.open
	d.frameAt = 2
	inner, boxed := bytes.CutPrefix(body, []byte("│"))
	if !boxed {
		return Code, bytes.HasPrefix(body, []byte("╰")) || bytes.HasPrefix(body, []byte("╭")) || bytes.HasPrefix(body, []byte("├"))
	}
	inner, _ = split(bytes.TrimSuffix(inner, []byte("│")))
	d.foreign = 0
	if f, ok := d.boxFrame(inner); ok {
		d.add(line, f, 2, false)
		return FrameLine, true
	}
	if code, ok := bytes.CutPrefix(inner, []byte("❱ ")); ok {
		if _, code, ok = bytes.Cut(code, []byte("│")); ok {
			code, _ = split(bytes.TrimLeft(code, "│ \t")) // guides of the indentation
			d.setCode(code)
		}
	}
	return Code, true
}

// boxFrame reads a frame of rich's box, which a narrow terminal breaks within the path or before the function's name.
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
