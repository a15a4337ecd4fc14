package source

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"oomscan/parser/ascii"
)

// markedRows joins the rows of a screen on which an editor ended each row that goes on with a mark in the last column, as Emacs does in a
// terminal. The mark alone tells how a row goes on, so nothing else is looked at.
type markedRows struct {
	width  int // of a row, with its mark
	joined int // rows of the current line, without the last one
	held   int // their bytes
}

// rowMark ends a row that goes on.
const rowMark = '\\'

// markedDecoder returns a decoder for such a screen, nil for anything else: no row is wider than those that go on, each of that width does, and
// they break words. A backslash that somebody aligned in a column, or that ends a line of a command, stands behind a blank.
func markedDecoder(head []byte) Decoder {
	const least = 3
	rows := bytes.Split(wholeRows(head), []byte{'\n'})
	width := 0
	for _, row := range rows {
		width = max(width, utf8.RuneCount(bytes.TrimSuffix(row, []byte{'\r'})))
	}
	if width < minWidth || width > maxWidth {
		return nil
	}
	d := &markedRows{width: width}
	marked, words := 0, 0
	for i, row := range rows[:len(rows)-1] {
		row = bytes.TrimSuffix(row, []byte{'\r'})
		switch {
		case utf8.RuneCount(row) < width:
			continue
		case !d.goes(row):
			return nil
		}
		marked++
		if next := rows[i+1]; len(next) > 0 && ascii.IsWord(row[len(row)-2]) && ascii.IsWord(next[0]) {
			words++
		}
	}
	if marked < least || words < minBroken {
		return nil
	}
	return &rowReader{decode: d.row}
}

// goes reports whether a row goes on with the next one.
func (d *markedRows) goes(row []byte) bool {
	return len(row) >= d.width && row[len(row)-1] == rowMark && utf8.RuneCount(row) == d.width
}

// row decodes a row. As many fillers as rows were joined follow a line.
func (d *markedRows) row(line []byte) []byte {
	if row := bytes.TrimRight(line, "\r\n"); len(row) < len(line) && d.goes(row) && d.held < maxJoined {
		d.joined++
		d.held += len(row)
		return row[:len(row)-1]
	}
	if d.joined > 0 {
		line = slices.Concat(line, bytes.Repeat([]byte(filler), d.joined))
		d.joined, d.held = 0, 0
	}
	return line
}
