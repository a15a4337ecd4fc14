package source

import (
	"bytes"
	"unicode/utf8"

	"oomscan/parser/lazyre"
)

// gridRows reads a log as bat shows it in a terminal: the number of each line, what git says of it, and a grid (bat, src/printer.rs). A line
// that is wider than the screen goes on behind an empty number.
type gridRows struct {
	column  int    // of the grid
	width   int    // of the rows that go on, behind it; 0 if not known
	part    []byte // of the current row
	line    []byte // that may go on
	isOpen  bool
	fillers int // for the rows that were joined to it
}

// gridTop is the first row of the grid, and gridRow any other one that has text.
var (
	gridTop = lazyre.New(`(?m)^─{3,12}┬─{20,}\s*$`)
	gridRow = lazyre.New(`^( {0,9}(\d{0,9}) [ +~_‾]{0,3})│(?: (.*?))?\r?\n?$`)
)

// gridDecoder returns a decoder for such a log, nil for anything else: nearly each row has the grid in the same column, and the numbers count on
// from line to line.
func gridDecoder(head []byte) Decoder {
	if !bytes.Contains(head, []byte("─┬─")) {
		return nil // as most logs
	}
	top := gridTop().Find(head)
	if top == nil {
		return nil
	}
	d := &gridRows{column: bytes.Count(top[:bytes.Index(top, []byte("┬"))], []byte("─"))}
	numbered, others, last, before := 0, 0, 0, 0
	for row := range bytes.Lines(wholeRows(head)) {
		text, n, ok := d.split(row)
		switch {
		case !ok && len(bytes.Trim(row, "─┬┼┴ \r\n")) > 0:
			others++
		case n > 0 && numbered > 0 && n != last+1:
			return nil
		case n > 0:
			numbered++
			last, before = n, utf8.RuneCount(text)
		case ok && numbered > 0:
			d.width, before = max(d.width, before), utf8.RuneCount(text)
		}
	}
	if numbered < minRows || others*10 > numbered {
		return nil
	}
	return d
}

// split returns the text of a row behind the grid, and the number of its line, 0 where it goes on.
func (d *gridRows) split(row []byte) (text []byte, number int, ok bool) {
	m := gridRow().FindSubmatch(row)
	if m == nil || utf8.RuneCount(m[1]) != d.column {
		return nil, 0, false
	}
	for _, c := range m[2] {
		number = number*10 + int(c-'0')
	}
	return m[3], number, true
}

func (d *gridRows) Append(dst, src []byte) []byte {
	dst, d.part = eachRow(dst, d.part, src, d.take)
	return dst
}

// take adds a row. A terminal may have lost the blanks at the end of one that goes on.
func (d *gridRows) take(dst, row []byte) []byte {
	text, number, ok := d.split(row)
	if ok && number == 0 && d.isOpen && len(d.line) < maxJoined {
		if behind := len(d.line) % max(1, d.width); behind > 0 && utf8.RuneCount(d.line) == len(d.line) { // else characters may be wide
			d.line = append(d.line, bytes.Repeat([]byte{' '}, d.width-behind)...)
		}
		d.line = append(d.line, text...)
		d.fillers++
		return dst
	}
	dst = d.end(dst)
	if !ok || number == 0 {
		return append(append(dst, row...), '\n') // a rule, the name of the file, or what else is on the screen
	}
	d.line, d.isOpen = append(d.line, text...), true
	return dst
}

// end ends the current line. As many fillers as rows were joined follow it.
func (d *gridRows) end(dst []byte) []byte {
	if !d.isOpen {
		return dst
	}
	dst = append(append(dst, d.line...), '\n')
	for ; d.fillers > 0; d.fillers-- {
		dst = append(dst, filler...)
	}
	d.line, d.isOpen = d.line[:0], false
	return dst
}

func (d *gridRows) Close(dst []byte) []byte {
	if len(d.part) > 0 {
		dst = d.take(dst, d.part)
	}
	return d.end(dst)
}
