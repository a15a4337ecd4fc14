package source

import "bytes"

// unwrapper joins rows into lines.
type unwrapper struct {
	wrapping
	part    []byte // of the current row
	line    []byte // the line so far
	last    []byte // the line's last row
	rows    int    // the line's rows
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
	goes := d.hasLine && inside && len(d.line)+len(row) <= maxJoined && d.continues(d.last, row)
	start := row[:min(len(row), startLen)]
	alike := len(start) == startLen && !bytes.HasSuffix(d.last, []byte{':'}) && (bytes.HasPrefix(d.line, start) || !d.flowed && d.starts[formOf(start)])
	switch {
	case !goes:
		if len(start) == startLen && len(d.starts) < maxStarts {
			d.starts.add(start)
		}
		fallthrough
	case alike:
		dst = d.end(dst)
	case !d.breaksWord(d.last) && !bytes.HasSuffix(d.last, []byte{' '}):
		d.line = append(d.line, ' ')
	}
	d.line, d.last, d.hasLine = append(d.line, row...), append(d.last[:0], row...), inside
	d.rows++
	return dst
}

func (d *unwrapper) end(dst []byte) []byte {
	if d.rows > 0 {
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
		dst = d.take(dst, d.part)
	}
	return d.end(dst)
}
