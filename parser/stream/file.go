package stream

import (
	"bytes"
	"io"

	"oomscan/parser"
	"oomscan/parser/literal"
	"oomscan/parser/prefilter"
)

// leastSkip is how many bytes between the beginning and the end of an input are worth a search before they are read.
const leastSkip = 4 << 20

// ReadFile reads the first size bytes of in, as [Read] does. Of a large input it reads the beginning and lets so many workers search
// the rest for events: if there is none, it skips all but the end. An input that ends sooner is read as far as it goes. The only
// errors are in's; what was read before is emitted all the same.
func ReadFile(name string, in io.ReaderAt, size int64, workers int, emit func(parser.Observation), options ...Option) (parser.Counts, error) {
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
	to, inLine, ok := r.resumeAt(in, size-tailBytes)
	if !ok || r.failed || r.printed.open() || r.cutter.holes || r.messages.indent > 0 || r.messages.lead.known || r.messages.passed > 0 || len(r.messages.cuts) > 0 || inLine && r.long == nil {
		return
	}
	before := make([]byte, behind) // what stands before a line may matter to it
	if n, _ := in.ReadAt(before, to-behind); n < behind || bytes.IndexByte(before, 0) >= 0 {
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
	if !inLine && r.long != nil {
		r.endLong(to)
	}
	r.base, r.done, r.hits, r.next = to-behind, behind, r.hits[:0], 0
	r.stats.Bytes = to
	r.cutter.base, r.cutter.from, r.cutter.buf = r.base, behind, append(r.cutter.buf[:0], before...)
}

// resumeAt returns where reading can go on at about an offset: with a line, or inside of a long line, with a part of it.
func (r *Reader) resumeAt(in io.ReaderAt, offset int64) (to int64, inLine, ok bool) {
	buf := make([]byte, r.maxLine+1)
	n, _ := in.ReadAt(buf, offset-1)
	if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
		return offset + int64(i), false, true
	}
	if i := bytes.IndexByte(buf[:n], '\r'); i >= 0 {
		return offset + int64(i), true, true
	}
	to, ok = r.gapBefore(in, offset)
	return to, true, ok
}

// maxGap is how many bytes of a long line are searched for a gap.
const maxGap = 256 << 10

// gapBefore returns where a part of a long line begins whatever was read before it: no part around an earlier literal reaches to there.
func (r *Reader) gapBefore(in io.ReaderAt, offset int64) (at int64, ok bool) {
	c := cutter{table: r.table, buf: make([]byte, maxGap), base: offset - maxGap}
	if n, _ := in.ReadAt(c.buf, c.base); n < maxGap {
		return 0, false
	}
	reach := maxExcerpt
	for _, h := range c.upTo(maxGap).hits {
		around := r.around(h)
		if begin := h.Pos - around; begin >= reach+overlap {
			return c.base + int64(begin), true
		}
		reach = max(reach, h.Pos+around)
	}
	end := maxGap - literal.MaxLen - maxExcerpt // of what a literal behind the offset cannot reach
	return c.base + int64(end), end >= reach+overlap
}
