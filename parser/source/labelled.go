package source

import (
	"bytes"
	"math"

	"oomscan/parser/envelope"
)

// labelledUnwrapper joins the rows of a program that broke its lines itself, as rich does where there is no terminal, behind the prefix that
// a launcher or a collector put before each row.
type labelledUnwrapper struct {
	rows   unwrapper // of what is behind the prefixes
	peeler envelope.Peeler
	depth  int      // how many prefixes each row has
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
	d := &labelledUnwrapper{depth: math.MaxInt}
	head = wholeRows(head)
	for row := range bytes.Lines(head) {
		if label, _, depth, _ := d.peeler.Outer(row, d.depth); depth > 0 {
			d.depth = depth
			if form := formOf(label); d.least == "" || len(form) < len(d.least) {
				d.least = form
			}
		}
	}
	if d.least == "" || d.least[0] == '>' { // a mail's mark, which detectWrapping knows
		return nil
	}
	d.form = d.least
	const most = 20 // rows for one without a prefix
	rows, bare := 0, 0
	var bodies []byte
	for row := range bytes.Lines(head) {
		label, body, _, _ := d.split(row)
		if len(label) == 0 && len(bytes.TrimSpace(body)) > 0 {
			bare++
		}
		if rows++; bare > 1+rows/most {
			return nil
		}
		bodies = append(bodies, body...)
	}
	if d.rows = (unwrapper{wrapping: detectWrapping(bodies), starts: forms{}}); d.rows.width == 0 {
		return nil
	}
	return d
}

// split returns a row's prefixes and what is behind them. A collector's stamp and the program's own prefix may look like one prefix; then the
// row has the shortest prefixes only. The rest of a line may look like a part of a program's own prefix; then the row has prefixes of the same
// form as the last one.
func (d *labelledUnwrapper) split(row []byte) (label, body []byte, depth int, stream string) {
	label, body, depth, stream = d.peeler.Outer(row, d.depth)
	if depth > 0 {
		if n := len(d.least); n < len(label) && bytes.HasPrefix(row, label) && formOf(row[:n]) == d.least {
			label, body = row[:n], row[n:]
		}
		d.form = formOf(label)
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
