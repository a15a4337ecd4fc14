package source

import (
	"bytes"
	"unicode/utf8"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// wrapped is how the lines of a log were broken into rows.
type wrapping struct {
	width       int    // of a row, in characters; 0: they were not
	left, right string // around each row
	atSpaces    bool   // rows end where words do
}

const (
	minWidth       = 60
	maxWidth       = 240
	maxFlowedWidth = 132 // where rows end at words
)

// edges are what stands around the rows of a log that somebody quoted.
var quoteMarks = []wrapping{{}, {left: "> "}, {left: "│ ", right: "│"}, {left: "┃ ", right: "┃"}}

// wrapOf recognizes a log whose lines were broken at a width, as a terminal, a box and a mail do: no row is longer, and words go on on
// the next row.
func detectWrapping(head []byte) wrapping {
	for _, w := range quoteMarks {
		if w.left != "" && !bytes.Contains(head, []byte(w.left)) {
			continue
		}
		var rows [][]byte
		all, box := 0, 0
		for row := range bytes.SplitSeq(head[:bytes.LastIndexByte(head, '\n')+1], []byte{'\n'}) {
			all++
			if inside, ok := w.inside(row); ok {
				rows = append(rows, inside)
				w.width = max(w.width, utf8.RuneCount(inside))
				box = max(box, utf8.RuneCount(row)-len("| "+" |"))
			}
		}
		if len(rows)*10 < all*9 {
			continue // some rows are quoted in it
		}
		if w.right != "" && box >= minWidth && box <= maxWidth {
			w.atSpaces, w.width = true, box
			return w
		}
		if w.width >= minWidth && w.width <= maxWidth && w.breaksWords(rows) {
			return w
		}
		w.atSpaces, w.width = true, 0
		for _, row := range rows {
			if bytes.IndexByte(bytes.TrimLeft(row, " "), ' ') > 0 { // a word that is too long has a row of its own
				w.width = max(w.width, utf8.RuneCount(row))
			}
		}
		if w.width >= minWidth && w.width <= maxFlowedWidth && w.flows(rows) {
			return w
		}
	}
	return wrapping{}
}

// inside is a row without what stands around it. It is not ok for one that has nothing of that, such as a box's upper edge.
func (w wrapping) inside(row []byte) ([]byte, bool) {
	row = bytes.TrimSuffix(row, []byte{'\r'})
	if w.left == "" {
		return row, true
	}
	left := bytes.TrimRight([]byte(w.left), " ")
	if !bytes.HasPrefix(row, left) || !bytes.HasSuffix(row, []byte(w.right)) {
		return nil, false
	}
	row = bytes.TrimPrefix(row[len(left):], []byte{' '})
	if w.right != "" && len(row) >= len(w.right) {
		row = bytes.TrimRight(row[:len(row)-len(w.right)], " ")
	}
	return row, true
}

// leastBroken is how many words show that rows were broken.
const minBroken = 2

// leastFlowed is the same for rows that end where words do.
const minFlowed = 4

// breaksWords says whether rows show that they are of that width: words are broken at it, and what follows does not begin as the row does, which
// is what a program's lines of one length do.
func (w wrapping) breaksWords(rows [][]byte) bool {
	full, broken := 0, 0
	for i, row := range rows[:max(0, len(rows)-1)] {
		next := rows[i+1]
		if utf8.RuneCount(row) != w.width || len(next) == 0 {
			continue
		}
		full++
		if ascii.IsLower(row[len(row)-1]) && ascii.IsLower(next[0]) && !bytes.HasPrefix(next, row[:4]) {
			broken++
		}
	}
	return broken >= minBroken && broken*6 >= full
}

// flows says whether rows show that they end where the next word would not have fit.
func (w wrapping) flows(rows [][]byte) bool {
	full, lowercase, starts := 0, map[string]bool{}, map[string]bool{}
	for i, row := range rows[:max(0, len(rows)-1)] {
		next := rows[i+1]
		if len(row) < w.width/2 || !w.continues(row, next) || bytes.HasPrefix(next, row[:4]) {
			continue
		}
		full++
		start := string(next[:min(len(next), 4)])
		starts[start] = true
		if ascii.IsLower(next[0]) {
			lowercase[start] = true
		}
	}
	return len(lowercase) >= minFlowed && full*10 >= len(rows) || len(starts) >= 2*minFlowed && full*3 >= len(rows)
}

// goesOn says whether a line goes on from one row to the next.
func (w wrapping) continues(row, next []byte) bool {
	if lineStart().Match(next) {
		return false
	}
	n := utf8.RuneCount(row)
	switch {
	case w.atSpaces:
		word, _, _ := bytes.Cut(next, []byte{' '})
		return len(word) > 0 && n > 0 && n+1+utf8.RuneCount(word) > w.width
	case w.right != "" && n == w.width-1:
		return true // its last character was a blank
	}
	return n == w.width
}

// breaksWord says whether a full row ends within a word. Where rows end at words, only one that is longer than a row is broken.
func (w wrapping) breaksWord(row []byte) bool {
	return utf8.RuneCount(row) == w.width && (!w.atSpaces || bytes.IndexByte(bytes.TrimLeft(row, " "), ' ') < 0)
}

// fresh is how a line begins that is no rest of the line before.
var lineStart = lazyre.New(`^(?:\[?(?:19|20)\d\d[-/]\d\d[-/]\d\d[ T]|\[rank\d+\]|\(\w+ pid=\d+|\[?\d\d:\d\d:\d\d|(?:INFO|ERROR|WARNING|DEBUG)\b|Traceback \(most|  File "|[IWEF]\d{4} \d\d:|[\w.]+(?:Error|Exception|Interrupt)\b|\s*$)`)

// unwrapper joins the rows of a log that was wrapped.
type unwrapper struct {
	wrapping
	part    []byte // of a row
	line    []byte // the line so far
	last    []byte // its last row
	hasLine bool   // there is a line
}

// maxJoined bounds a line that is joined.
const maxJoined = 64 << 10

// Append is [Decoder.Append].
func (d *unwrapper) Append(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '\n')
		if i < 0 {
			d.part = append(d.part, src...)
			return dst
		}
		d.part = append(d.part, src[:i]...)
		src = src[i+1:]
		dst = d.take(dst)
		d.part = d.part[:0]
	}
}

// take reads a row. A line that begins as the one before does not go on from it: programs print lines of one form.
func (d *unwrapper) take(dst []byte) []byte {
	const form = 8
	row, ok := d.inside(d.part)
	if !ok {
		row = d.part
	}
	alike := len(d.line) >= form && bytes.HasPrefix(row, d.line[:form])
	if !d.hasLine || alike || len(d.line)+len(row) > maxJoined || !d.continues(d.last, row) {
		dst = d.end(dst)
	} else if !d.breaksWord(d.last) {
		d.line = append(d.line, ' ')
	}
	d.line, d.last, d.hasLine = append(d.line, row...), append(d.last[:0], row...), true
	return dst
}

// end writes the line.
func (d *unwrapper) end(dst []byte) []byte {
	if d.hasLine {
		dst = append(append(dst, d.line...), '\n')
	}
	d.line, d.hasLine = d.line[:0], false
	return dst
}

// Close is [Decoder.Close].
func (d *unwrapper) Close(dst []byte) []byte {
	if len(d.part) > 0 {
		dst = d.take(dst)
	}
	return d.end(dst)
}
