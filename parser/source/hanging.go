package source

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// minPlaces is how many places in the source must end in one column to show that they stand at the right edge of a console.
const minPlaces = 3

// minHang is how far rows are indented at least that go on with a line. One blank is what a terminal broke before.
const minHang = 2

// maxHanging is how many indented rows below long ones are looked at for messages that go on. Few logs have that many that were not broken.
const maxHanging = 4 * maxFull

// detectHanging recognizes a log in which all rows of a line but the first one are indented to one column: that of the messages, as rich's
// handler writes them, or that of a program which indents the rest of its lines (textwrap). The rows have no blanks at their ends. Indented
// lines are many things, so known messages must go on from one row to the next, or the places at the right edge must show the columns. Where
// they show a console, known is true: its full rows were not broken in another way. A screen, whose rows are padded with blanks to one width,
// breaks lines anywhere, and the rest may begin with blanks of the line: there only places show a column.
func detectHanging(rows [][]byte, isScreen bool) (w wrapping, known bool) {
	w = wrapping{atSpaces: true, trimmed: true, width: placesEnd(rows)}
	switch w.places = w.width > 0; {
	case !w.places && isScreen:
	case !w.places:
		w.hang, w.width = hangOfMessages(rows)
	case w.width <= maxWidth:
		w.hang = w.columnOfMessages(rows)
	}
	if w.hang == 0 {
		return wrapping{}, w.places
	}
	return w, true
}

// columnOfMessages is where both the message of a row with a place and the row below begin, 0 if there is no such row.
func (w wrapping) columnOfMessages(rows [][]byte) int {
	for i, next := range rows[1:] {
		text, place := w.cutPlace(rows[i])
		if place == 0 || leftOf(next) < minHang {
			continue
		}
		w.hang = leftOf(next)
		if _, ok := w.behindHang(next); ok && leftOf(text) < w.hang && beginsWord(text, w.hang) {
			return w.hang
		}
	}
	return 0
}

// hangOfMessages is how far rows are indented with which known messages go on, and how wide rows are at most: with the next word, a row would
// have been wider. A number behind a sign may have blanks before it in any message, so a word must stand on one side.
func hangOfMessages(rows [][]byte) (hang, width int) {
	tried := 0
	for i, next := range rows[min(1, len(rows)):] {
		n, left := utf8.RuneCount(rows[i]), leftOf(next)
		if n < minWidth || n > maxWidth || left < minHang || left == len(next) || hang > 0 && left != hang || isWhole(rows[i]) || isFramed(next) ||
			!ascii.IsLetter(next[left]) && !ascii.IsLetter(rows[i][len(rows[i])-1]) {
			continue
		}
		if tried++; tried > maxHanging {
			break
		}
		word, _, _ := bytes.Cut(next[left:], []byte{' '})
		if most := n + utf8.RuneCount(word); inMessage(rows[i], next[left:], " ") && (width == 0 || most < width) {
			hang, width = left, most
		}
	}
	return hang, width
}

// leftOf is how many blanks a row begins with.
func leftOf(row []byte) int { return len(row) - len(bytes.TrimLeft(row, " ")) }

// indentOf is how many blanks stand before each row of a log that was pasted into another text, such as a list, below a prompt or a heading; 0
// for any other log. In a traceback that is the whole log, all rows but two are indented, and those with a file the least.
func indentOf(rows [][]byte) (indent int) {
	isOutside := func(row []byte) bool { return leftOf(row) < minHang }
	others := len(rows) / 10
	first, end := 0, len(rows)
	for ; first < end && first <= others && isOutside(rows[first]); first++ {
	}
	for ; end > first && end > len(rows)-others && isOutside(rows[end-1]); end-- {
	}
	if rows = rows[first:end]; len(rows) < minRows {
		return 0
	}
	for _, row := range rows {
		switch n := leftOf(row); {
		case len(row) == 0:
		case n < minHang:
			return 0
		case indent == 0 || n < indent:
			indent = n
		}
	}
	if slices.ContainsFunc(rows, func(row []byte) bool { return bytes.HasPrefix(row[min(indent, len(row)):], []byte(`File "`)) }) {
		return 0
	}
	return indent
}

// beginsWord reports whether a word of a row begins in a column.
func beginsWord(row []byte, column int) bool {
	return column < len(row) && row[column] != ' ' && row[column-1] == ' '
}

// behindHang returns a row without the blanks before it. ok is false for a row that cannot go on with a line: it has more or fewer of them,
// begins a line of its own with that many, or has a place, as only first rows do.
func (w wrapping) behindHang(row []byte) (rest []byte, ok bool) {
	if w.hang == 0 {
		return row, true
	}
	if leftOf(row) != w.hang || len(row) == w.hang || lineStart().Match(row) {
		return row, false
	}
	_, place := w.cutPlace(row)
	return row[w.hang:], place == 0
}

// placesEnd is the column in which the places in the source end that rich's handler prints beside its messages (rich/logging.py), 0 if a log
// has no such places: not even a few end with the row in the last column that any does, behind two blanks or more.
func placesEnd(rows [][]byte) (column int) {
	places := 0
	for _, row := range rows {
		if at := placeIn(row); at < 2 || row[at-2] != ' ' {
			continue
		}
		switch n := utf8.RuneCount(row); {
		case n > column:
			column, places = n, 1
		case n == column:
			places++
		}
	}
	if places < minPlaces {
		return 0
	}
	return column
}

// placeIn is where the name of a file or a module with the number of a line begins that a row ends with behind a blank, 0 if there is none.
func placeIn(row []byte) int {
	name := bytes.TrimRight(row, "0123456789")
	if len(name) == len(row) || len(name) == 0 || name[len(name)-1] != ':' {
		return 0
	}
	at := bytes.LastIndexByte(name, ' ') + 1
	if name = name[at : len(name)-1]; !hasWords(name) || bytes.ContainsFunc(name, isNotOfName) {
		return 0 // a time, alone or in a record
	}
	return at
}

// isNotOfName reports whether a character is in no name of a file or a module.
func isNotOfName(r rune) bool {
	return r < utf8.RuneSelf && !ascii.IsWord(byte(r)) && !strings.ContainsRune("./-<>", r)
}

// cutPlace returns a row without the place at the right edge, and the column in which that begins, 0 if there is none.
func (w wrapping) cutPlace(row []byte) (text []byte, column int) {
	if !w.places {
		return row, 0
	}
	at := placeIn(row)
	if at == 0 || utf8.RuneCount(row) != w.width {
		return row, 0
	}
	return bytes.TrimRight(row[:at], " "), utf8.RuneCount(row[:at])
}

// upTo is how the rows of a line were broken, the first of which has a place that begins in a column: it leaves a blank before that.
func (w wrapping) upTo(place int) wrapping {
	if place > 0 {
		w.width = place - 1
	}
	return w
}

// longestRow is how wide the widest row is that has several words: a word that is too long has a row of its own.
func longestRow(rows [][]byte) (width int) {
	for _, row := range rows {
		if bytes.IndexByte(bytes.TrimLeft(row, " "), ' ') > 0 {
			width = max(width, utf8.RuneCount(row))
		}
	}
	return width
}

// isFull reports whether the first word of the next row would not have fit into a row.
func (w wrapping) isFull(row, next []byte) bool {
	word, _, _ := bytes.Cut(next, []byte{' '})
	n := utf8.RuneCount(row)
	return len(word) > 0 && n > 0 && n+1+utf8.RuneCount(word) > w.width
}

// isWhole reports whether a row is a line, however long it is: the head of a frame of a traceback, or a row or a border of a table or a box.
func isWhole(row []byte) bool {
	return isFramed(row) || len(row) > 0 && (ascii.IsWord(row[len(row)-1]) || row[len(row)-1] == '>') && wholeFrame().Match(row)
}

// isFramed reports whether a row is one of a table or a box, or its border.
func isFramed(row []byte) bool {
	row = bytes.TrimLeft(row, " ")
	first, _ := utf8.DecodeRune(row)
	last, _ := utf8.DecodeLastRune(row)
	return len(row) > 0 && (isDrawn(first) || isDrawn(last) || isTableRow(row))
}

// isTableRow reports whether a row stands between the edges of a table.
func isTableRow(row []byte) bool {
	return bytes.ContainsRune([]byte("|+"), rune(row[0])) && bytes.ContainsRune([]byte("|+"), rune(row[len(row)-1]))
}

// isBoxRow reports whether a row stands between the edges of a box.
func isBoxRow(row []byte) bool {
	edge := []byte("│")
	return bytes.HasPrefix(row, edge) && bytes.HasSuffix(row, edge) && len(row) > len(edge)
}

// isBorder reports whether a row is a whole border of a box.
func isBorder(row []byte) bool {
	return len(row) > 3 && bytes.ContainsAny(row[:3], "╭╰┌└├┏┗") && bytes.ContainsAny(row[len(row)-3:], "╮╯┐┘┤┓┛")
}

// isDrawn reports whether a character is one of those that boxes are drawn with.
func isDrawn(r rune) bool { return r >= '─' && r <= '╿' }

// wholeFrame ends the first line of a frame of a traceback.
var wholeFrame = lazyre.New(`", line \d{1,7}, in [\w<>.]+$`)
