package source

import (
	"bytes"
	"unicode/utf8"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// wrapping describes how the lines of a log were broken into rows.
type wrapping struct {
	width       int    // of a row, in characters; 0 if lines were not broken
	left, right string // what surrounds each row
	atSpaces    bool   // rows end between words
}

const (
	minWidth       = 60
	maxWidth       = 240
	maxFlowedWidth = 132 // where rows end between words
)

// quoteMarks are what may surround the rows of a quoted log.
var quoteMarks = []wrapping{{}, {left: "> "}, {left: "│ ", right: "│"}, {left: "┃ ", right: "┃"}}

// detectWrapping recognizes a log whose lines were broken at a width, as terminals, boxes and mail programs do: no
// row is longer, and words continue on the next row.
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
			continue // the log only quotes some rows
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

// inside returns a row without its quote marks. ok is false for a row without them, such as the top of a box.
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

// minBroken is how many broken words prove that rows were broken at a width.
const minBroken = 2

// minFlowed is the same for rows that end between words.
const minFlowed = 4

// breaksWords reports whether rows were broken inside words. A next row that begins like the one before is a line of
// its own: programs print many lines of one length.
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

// flows reports whether rows end where the next word would not have fit.
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

// continues reports whether a line continues from one row to the next.
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

// breaksWord reports whether a full row ends inside a word. Where rows end between words, only a word that is longer
// than a row is broken.
func (w wrapping) breaksWord(row []byte) bool {
	return utf8.RuneCount(row) == w.width && (!w.atSpaces || bytes.IndexByte(bytes.TrimLeft(row, " "), ' ') < 0)
}

// lineStart matches the beginning of a new line, as opposed to the rest of the one before.
var lineStart = lazyre.New(`^(?:\[?(?:19|20)\d\d[-/]\d\d[-/]\d\d[ T]|\[rank\d+\]|\(\w+ pid=\d+|\[?\d\d:\d\d:\d\d|(?:INFO|ERROR|WARNING|DEBUG)\b|Traceback \(most|  File "|[IWEF]\d{4} \d\d:|[\w.]+(?:Error|Exception|Interrupt)\b|\s*$)`)

// unwrapper joins rows into lines.
type unwrapper struct {
	wrapping
	part    []byte // of the current row
	line    []byte // the line so far
	last    []byte // the line's last row
	rows    int    // the line's rows
	hasLine bool   // line has been started
}

// maxJoined bounds a joined line.
const maxJoined = 64 << 10

// filler replaces a row that was joined to the one before, so that later lines keep their numbers. Package stream skips it.
const filler = "oomscan| \n"

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

// take adds a row. A row that begins like the line before is a new line: programs print many lines of one form.
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
	d.rows++
	return dst
}

func (d *unwrapper) end(dst []byte) []byte {
	if d.hasLine {
		dst = append(append(dst, d.line...), '\n')
	}
	for ; d.rows > 1; d.rows-- {
		dst = append(dst, filler...)
	}
	d.line, d.hasLine, d.rows = d.line[:0], false, 0
	return dst
}

func (d *unwrapper) Close(dst []byte) []byte {
	if len(d.part) > 0 {
		dst = d.take(dst)
	}
	return d.end(dst)
}
