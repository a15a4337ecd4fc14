package settings

import (
	"bytes"
	"strings"

	"oomscan/parser/ascii"
)

// fits reports whether a line can be part of the dump.
func (d *literal) fits(s []byte) bool {
	top, c := d.top(), s[0]
	switch {
	case c == '}' || c == ']' || c == ')':
		return true
	case !top.mapping:
		n := nameEnd(s)
		object := n > 0 && n < len(s) && s[n] == '('
		return strings.IndexByte(`'"{[(-<`, c) >= 0 || ascii.IsDigit(c) || isSwitch(string(s[:n])) || object || s[len(s)-1] == ','
	case d.hasKey && len(d.val) == 0, c == ',':
		return true
	case c == '\'' || c == '"':
		n := stringEnd(s)
		if n < 0 {
			return false
		}
		rest := bytes.TrimLeft(s[n:], " ")
		if len(rest) > 0 && rest[0] == ':' {
			return top.closer == '}'
		}
		return d.hasKey && d.isStr && (len(rest) == 0 || rest[0] == ',' || rest[0] == '}' || rest[0] == ')')
	case top.closer == ')':
		n := nameEnd(s)
		if d.code && spacedBody(s) { // a constant, or an argument with others behind it: not a statement
			value := s[n+len(" = "):]
			return value[len(value)-1] == ',' || bytes.IndexByte(value, '(') < 0 && scalar(string(value))
		}
		return n > 0 && n < len(s) && s[n] == '=' && (n+1 == len(s) || (s[n+1] != '=' && s[n+1] != ' '))
	}
	return false
}

// resync uses the indentation of a line that begins with a key to repair the nesting: Ray's driver drops lines that
// another worker has already printed, including their brackets.
func (d *literal) resync(r *Reader, text []byte, i int) {
	d.continued = true
	if d.wrapped { // only brackets are reliable
		return
	}
	if text[i] != '\'' && text[i] != '"' {
		return
	}
	n := stringEnd(text[i:])
	if n < 0 || !bytes.HasPrefix(bytes.TrimLeft(text[i+n:], " "), []byte(":")) {
		return
	}
	if d.hasKey && len(d.val) > 0 {
		d.entry(r)
	}
	col := i - d.delta
	at := d.frameAt(col)
	if !d.deltaKnown {
		d.deltaKnown = true
		if from := d.frameAt(i - d.root); at < 0 && from >= 0 { // indented past the label
			d.delta, col, at = d.root, i-d.root, from
		} else if own, field := d.fieldShift(); at < 0 && field && d.frameAt(i-own) >= 0 {
			d.delta, col, at = own, i-own, d.frameAt(i-own)
		} else if top := d.top(); at < 0 && top.mapping && top.col >= 0 && abs(i-top.col) <= 2 {
			d.delta = i - top.col
			return
		}
	}
	last := len(d.stack) - 1
	top := d.top()
	if at == last || (top.mapping && top.col < 0) || top.closer == ')' {
		return
	}
	if !top.mapping && (at < 0 || top.closer == '}') {
		return
	}
	for at < 0 && len(d.stack) > 1 && d.top().col > col {
		d.drop()
	}
	if at < 0 {
		if len(d.stack) < maxDepth {
			d.stack = append(d.stack, frame{closer: '}', mapping: true, orphaned: true, entries: true, pathLen: len(d.path), col: col})
		}
		return
	}
	for len(d.stack)-1 > at {
		d.drop()
	}
}

// fieldShift returns how far a field's dict is shifted because it was formatted separately from its object, as in
// `f"{name}={pformat(value)}"`: only its first line includes the name.
func (d *literal) fieldShift() (int, bool) {
	if len(d.stack) < 2 || d.stack[0].closer != ')' || !d.stack[1].mapping || d.stack[1].col < 2 {
		return 0, false
	}
	return 1 - d.stack[1].col, true
}

// frameAt returns the index of the innermost mapping with keys in this column, or -1.
func (d *literal) frameAt(col int) int {
	for i := len(d.stack) - 1; i >= 0; i-- {
		if d.stack[i].mapping && d.stack[i].col == col {
			return i
		}
	}
	return -1
}

// drop closes the innermost frame without reporting an entry.
func (d *literal) drop() {
	d.path = d.path[:d.top().pathLen]
	d.stack = d.stack[:len(d.stack)-1]
	d.hasKey, d.rawDepth = false, 0
}

func abs(n int) int { return max(n, -n) }
