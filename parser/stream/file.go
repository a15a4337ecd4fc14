package stream

import (
	"bytes"
	"io"

	"oomscan/parser"
	"oomscan/parser/prefilter"
)

// leastSkip is how many bytes between the beginning and the end of an input are worth a search before they are read.
const leastSkip = 4 << 20

// ReadFile reads the first size bytes of in, as [Read] does. Of a large input it reads the beginning and lets so many workers search
// the rest for events: if there is none, it skips all but the end. An input that ends sooner is read as far as it goes. The only
// errors are in's; what was read before is emitted all the same.
func ReadFile(name string, in io.ReaderAt, size int64, workers int, emit func(parser.Observation), options ...Option) (Stats, error) {
	r := NewReader(name, emit, options...)
	at := int64(0)
	read := func(to int64) error {
		section := io.NewSectionReader(in, at, to-at)
		if workers == 1 || to-at < leadBytes {
			n, err := r.ReadFrom(section)
			at += n
			return err
		}
		n, err := r.cutter.readAhead(section, r.consume)
		r.stats.Bytes += n
		at += n
		return err
	}
	if size >= leadBytes+leastSkip+tailBytes+2*int64(r.maxLine) {
		// A reader lags behind what it was fed by less than twice what it needs ahead.
		if err := read(leadBytes + 2*int64(r.cutter.ahead())); err != nil {
			return r.Close(), err
		}
		r.skipTo(in, size, workers)
		at = r.stats.Bytes
	}
	err := read(size)
	return r.Close(), err
}

// skipTo skips to the end of an input that is size bytes long, if nothing failed so far and nothing fails before the end.
func (r *Reader) skipTo(in io.ReaderAt, size int64, workers int) {
	from := r.base + int64(r.done)
	to, inLine, ok := r.cutAfter(in, size-tailBytes)
	if !ok || r.failed || r.cutter.holes || r.messages.indent > 0 || len(r.messages.cuts) > 0 || inLine && r.long == nil {
		return
	}
	begun := from
	if r.long != nil {
		begun -= int64(r.maxLine) // it is counted as a long line once more
	}
	skipped := r.table.skips().Search(in, prefilter.Stretch{Line: begun, From: from, To: to}, workers, r.maxLine)
	if skipped.Found || inLine && skipped.Lines > 0 {
		return
	}
	if !r.pastLead {
		r.endLead()
	}
	r.line += skipped.Lines
	r.stats.Truncated += skipped.Long
	if r.long != nil {
		r.stats.Truncated--
	}
	if r.long != nil && !inLine {
		r.endLong(to)
	}
	r.stats.Bytes, r.base, r.done, r.hits, r.next = to, to, 0, r.hits[:0], 0
	r.cutter.base, r.cutter.from, r.cutter.buf = to, 0, r.cutter.buf[:0]
}

// cutAfter returns where reading can begin again at an offset or after it: with a line, or, inside of a long line, with a part of it
// behind a carriage return.
func (r *Reader) cutAfter(in io.ReaderAt, offset int64) (to int64, inLine, ok bool) {
	buf := make([]byte, r.maxLine+1)
	n, _ := in.ReadAt(buf, offset-1)
	if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
		return offset + int64(i), false, true
	}
	i := bytes.IndexByte(buf[:n], '\r')
	return offset + int64(i), true, i >= 0
}
