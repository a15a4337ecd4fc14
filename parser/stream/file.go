package stream

import (
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
	if size >= leadBytes+leastSkip+tailBytes {
		if err := read(leadBytes); err != nil {
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
	to, ok := lineAfter(in, size-tailBytes)
	if !ok || r.failed || r.long != nil || len(r.messages.cuts) > 0 {
		return
	}
	found := prefilter.Search(in, from, to, workers, r.maxLine)
	if found.Found {
		return
	}
	r.endLead()
	r.line += found.Lines
	r.stats.Truncated += found.Long
	r.stats.Bytes, r.base, r.done, r.hits = to, to, 0, r.hits[:0]
	r.cutter.base, r.cutter.from, r.cutter.buf = to, 0, r.cutter.buf[:0]
}

// lineAfter returns where the first line begins at an offset or after it.
func lineAfter(in io.ReaderAt, offset int64) (int64, bool) {
	var buf [maxExcerpt]byte
	n, _ := in.ReadAt(buf[:], offset-1)
	for i, c := range buf[:n] {
		if c == '\n' {
			return offset + int64(i), true
		}
	}
	return 0, false
}
