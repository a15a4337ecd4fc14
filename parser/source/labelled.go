package source

import (
	"bytes"
	"math"

	"oomscan/parser/envelope"
)

// labelledUnwrapper joins the rows of a program that broke its lines itself, as rich does where there is no terminal, behind the prefix that
// a launcher, a collector or the program's own logger put before each row.
type labelledUnwrapper struct {
	rows   unwrapper // of what is behind the prefixes
	peeler envelope.Peeler
	depth  int      // how many prefixes each row has
	own    bool     // the program put them there
	named  bool     // with the name of a logger behind each
	part   []byte   // of the current row
	labels [][]byte // of the rows whose line has not ended
	stream string   // that they name
	form   string   // of the last label
	least  string   // the form of the shortest label
	joined []byte
}

// labelledDecoder returns a decoder for such a log, nil for any other. A program's own stamps may look like a collector's, so a row's
// prefixes are as many as each row has.
func labelledDecoder(head []byte) Decoder {
	head = wholeRows(head)
	for _, own := range []bool{false, true} {
		if d := newLabelled(head, own); d.least != "" {
			if !d.detect(head) {
				return nil
			}
			return d
		}
	}
	return nil
}

// newLabelled finds the prefixes of rows. With own, these are the program's: some put one before each row of what they break.
func newLabelled(head []byte, own bool) *labelledUnwrapper {
	d := &labelledUnwrapper{depth: math.MaxInt, own: own}
	for row := range bytes.Lines(head) {
		if label, _, depth, _ := d.peeler.Outer(row, d.depth, own); depth > 0 {
			d.depth = depth
			if form := formOf(label); d.least == "" || len(form) < len(d.least) {
				d.least = form
			}
		}
	}
	d.form = d.least
	if own {
		d.named = d.areNamed(head)
	}
	return d
}

// areNamed reports whether behind the prefix of each row stands the name of a logger.
func (d *labelledUnwrapper) areNamed(head []byte) bool {
	names := 0
	for row := range bytes.Lines(head) {
		if label, body, _, _ := d.split(row); len(label) > 0 {
			if loggerName(body) == 0 {
				return false
			}
			names++
		}
	}
	return names > 0
}

// loggerName is how long the name of a logger is that a text begins with, with the sign behind it, 0 if there is none.
func loggerName(text []byte) int {
	at := bytes.IndexByte(text, ' ')
	switch {
	case at > 1 && text[at-1] == ':':
		return at + 1
	case at > 0 && bytes.HasPrefix(text[at:], []byte(" - ")):
		return at + len(" - ")
	}
	return 0
}

// detect reports whether nearly each row has a prefix, and the rows behind them are of longer lines. Most programs put a prefix of their own
// before each line, so a known message must show that a row is not one.
func (d *labelledUnwrapper) detect(head []byte) bool {
	if d.least[0] == '>' { // a mail's mark, which detectWrapping knows
		return false
	}
	const most = 20 // rows for one without a prefix
	rows, bare := 0, 0
	var bodies []byte
	var labels [][]byte
	for row := range bytes.Lines(head) {
		label, body, _, _ := d.split(row)
		if len(label) == 0 && len(bytes.TrimSpace(body)) > 0 {
			bare++
		}
		if rows++; bare > 1+rows/most {
			return false
		}
		bodies = append(bodies, body...)
		if d.own {
			labels = append(labels, label)
		}
	}
	if d.own && !breaksMessage(labels, bytes.Split(bodies, []byte{'\n'})[:rows]) {
		return false
	}
	d.rows = unwrapper{wrapping: detectWrapping(bodies), starts: forms{}}
	return d.rows.width > 0
}

// split returns a row's prefixes and what is behind them. A collector's stamp and the program's own prefix may look like one prefix; then the
// row has the shortest prefixes only. The rest of a line may look like a part of a program's own prefix; then the row has prefixes of the same
// form as the last one.
func (d *labelledUnwrapper) split(row []byte) (label, body []byte, depth int, stream string) {
	label, body, depth, stream = d.peeler.Outer(row, d.depth, d.own)
	if depth > 0 {
		if n := len(d.least); n < len(label) && bytes.HasPrefix(row, label) && formOf(row[:n]) == d.least {
			label, body = row[:n], row[n:]
		}
		d.form = formOf(label)
		if d.named {
			n := loggerName(body)
			label, body = label[:len(label)+n], body[n:]
		}
		return label, body, depth, stream
	}
	if n := len(d.form); n > 0 && len(row) >= n && formOf(row[:n]) == d.form {
		return row[:n], row[n:], d.depth, d.stream
	}
	return label, body, depth, stream
}

func (d *labelledUnwrapper) Append(dst, src []byte) []byte {
	dst, d.part = eachRow(dst, d.part, src, d.take)
	return dst
}

// take adds a row. Another program's row ends the line.
func (d *labelledUnwrapper) take(dst, row []byte) []byte {
	label, body, _, stream := d.split(row)
	if stream != d.stream {
		dst = d.label(dst, d.rows.end(d.joined[:0]))
		d.stream = stream
	}
	d.labels = append(d.labels, bytes.Clone(label))
	return d.label(dst, d.rows.take(d.joined[:0], body))
}

// label puts the prefix of its first row before each line; there are as many lines and fillers as rows.
func (d *labelledUnwrapper) label(dst, lines []byte) []byte {
	d.joined = lines
	for line := range bytes.Lines(lines) {
		if string(line) != filler {
			dst = append(dst, d.labels[0]...)
		}
		dst, d.labels = append(dst, line...), d.labels[1:]
	}
	return dst
}

func (d *labelledUnwrapper) Close(dst []byte) []byte {
	if len(d.part) > 0 {
		dst = d.take(dst, d.part)
	}
	return d.label(dst, d.rows.end(d.joined[:0]))
}
