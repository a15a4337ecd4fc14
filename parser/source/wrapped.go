package source

import "bytes"

// unwrapper joins rows into lines.
type unwrapper struct {
	wrapping
	part    []byte // of the current row
	line    []byte // the line so far
	last    []byte // the line's last row
	rows    int    // the line's rows
	place   []byte // in the source, at the end of the line's first row
	edge    int    // the column in which the place of the last message begins
	hasLine bool   // line has been started
	starts  forms  // of lines that are sure to begin there
}

const (
	startLen  = 8 // bytes that show how a line begins
	maxStarts = 4096
)

// maxJoined bounds a joined line.
const maxJoined = 64 << 10

// filler replaces a row that was joined to the one before, so that later lines keep their numbers. Package stream skips it.
const filler = "oomscan| \n"

func (d *unwrapper) Append(dst, src []byte) []byte {
	dst, d.part = eachRow(dst, d.part, src, d.take)
	return dst
}

// eachRow lets take append to dst what it makes of each whole row: the first one begins with part. It returns dst and what is left of src,
// which is the next part.
func eachRow(dst, part, src []byte, take func(dst, row []byte) []byte) (out, left []byte) {
	for {
		i := bytes.IndexByte(src, '\n')
		if i < 0 {
			return dst, append(part, src...)
		}
		part = append(part, src[:i]...)
		dst, part, src = take(dst, part), part[:0], src[i+1:]
	}
}

// take adds a row. A row that begins like the line before, or as others did, is a new line: programs print many lines of one form.
func (d *unwrapper) take(dst, whole []byte) []byte {
	row, inside := d.inside(whole)
	if !inside {
		row = whole
	}
	rest, hangs := d.behindHang(row)
	last, w := row, d.upTo(d.edge)
	goes := d.hasLine && inside && hangs && len(d.line)+len(rest) <= maxJoined && w.continues(d.last, rest)
	start := rest[:min(len(rest), startLen)]
	alike := len(start) == startLen && !bytes.HasSuffix(d.last, []byte{':'}) && (bytes.HasPrefix(d.line, start) || !d.flowed && d.starts[formOf(start)])
	switch {
	case !goes:
		if len(start) == startLen && len(d.starts) < maxStarts {
			d.starts.add(start)
		}
		fallthrough
	case alike:
		dst = d.end(dst)
		rest = d.first(row)
		last = rest
	case !w.breaksWord(d.last) && !bytes.HasSuffix(d.last, []byte{' '}):
		d.line = append(d.line, ' ')
	}
	d.line, d.last, d.hasLine = append(d.line, rest...), append(d.last[:0], last...), inside
	d.rows++
	return dst
}

// first begins a line and returns its first row without the place, which is put behind the last one. A row in the column of the messages is
// of the last message, and as wide.
func (d *unwrapper) first(row []byte) []byte {
	d.place = d.place[:0]
	if leftOf(row) >= d.hang {
		return row
	}
	text, edge := d.cutPlace(row)
	d.place, d.edge = append(d.place, row[len(text):]...), edge
	return text
}

func (d *unwrapper) end(dst []byte) []byte {
	if d.rows > 0 {
		dst = append(append(append(dst, d.line...), d.place...), '\n')
	}
	for ; d.rows > 1; d.rows-- {
		dst = append(dst, filler...)
	}
	d.line, d.hasLine, d.rows = d.line[:0], false, 0
	return dst
}

func (d *unwrapper) Close(dst []byte) []byte {
	if len(d.part) > 0 {
		dst = d.take(dst, d.part)
	}
	return d.end(dst)
}
