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
	if f, ok := parseBoxFrame(inner); ok {
		d.add(line, f, 2, false)
		return FrameLine, true
	}
	if code, ok := bytes.CutPrefix(inner, []byte("❱ ")); ok {
		if _, code, ok = bytes.Cut(code, []byte("│")); ok {
			code, _ = split(code)
			d.setCode(code)
		}
	}
	return Code, true
}
