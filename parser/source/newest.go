package source

import (
	"bytes"
	"slices"

	"oomscan/parser/lazyre"
)

// lineTime is the time with which a collector begins a line, or which a record has.
var lineTime = lazyre.New(`^[\["]{0,2}(20\d\d[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|\d{13,19}\b)|^\{.*?"(?:@?time(?:stamp)?|_time|date|ts)": ?"?(20\d\d[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|\d{10,19}\b)`)

// timeOf is the time of a line, in a form that compares as text; nil for a line without one.
func timeOf(row []byte) []byte {
	if bytes.IndexByte([]byte(`["{123456789`), row[0]) < 0 {
		return nil // the search takes far longer
	}
	m := lineTime().FindSubmatch(row)
	if m == nil {
		return nil
	}
	return append(m[1], m[2]...)
}

// minBackward is how many times that are earlier than the one before show that a log has its newest line first, fewBackward the same where
// each line is earlier.
const (
	minBackward = 6
	fewBackward = 4
)

// isNewestFirst reports whether the times of a text run backward, as web pages of collectors show and export a log. A clock that is set back
// does so once.
func isNewestFirst(text []byte) bool {
	var last []byte
	backward, rows := 0, 0
	for row := range bytes.Lines(text) {
		rows++
		at := timeOf(row)
		if at == nil {
			continue
		}
		switch order := bytes.Compare(at, last); {
		case len(last) == 0:
		case order > 0:
			return false
		case order < 0:
			backward++
		}
		last = at
	}
	return backward >= minBackward || backward >= fewBackward && backward == rows-1
}

// maxReversed bounds a log that is turned around. It must be read to its end first.
const maxReversed = 4 << 20

// reverser turns a log around that has its newest line first. Lines without a time stay below the one before them. The numbers of lines
// are then those of the log in its order.
type reverser struct {
	text []byte
	over bool // the log is too long
}

func (d *reverser) Append(dst, src []byte) []byte {
	if d.over {
		return append(dst, src...)
	}
	if d.text = append(d.text, src...); len(d.text) <= maxReversed {
		return dst
	}
	dst, d.text, d.over = append(dst, d.text...), nil, true
	return dst
}

func (d *reverser) Close(dst []byte) []byte {
	var entries [][]byte
	from := 0
	for at := 0; at < len(d.text); {
		end := len(d.text)
		if i := bytes.IndexByte(d.text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if at > from && timeOf(d.text[at:end]) != nil {
			entries, from = append(entries, d.text[from:at]), at
		}
		at = end
	}
	if len(d.text) > 0 {
		entries = append(entries, slices.Concat(bytes.TrimSuffix(d.text[from:], []byte{'\n'}), []byte{'\n'}))
	}
	for _, entry := range slices.Backward(entries) {
		dst = append(dst, entry...)
	}
	return dst
}
