// Package stream turns the bytes of one log into observations, in one forward pass: every line that holds a literal of the
// pattern table is read once, in order. It is the reference for what a log says; [ReadFile] only skips work.
package stream

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/literal"
)

// Sizes of a reader.
const (
	// blockSize is how much is searched at a time: enough for the search to run, small enough for the cache.
	blockSize = 256 << 10
	// firstRead is how much is read at first: a short log should not take the memory of a long one.
	firstRead = 64 << 10
	// minTake is how much of a long line is worth a search of its own.
	minTake = 64 << 10
)

// Of a log in which nothing fails, only the beginning and the end describe the run. So [ReadFile] can leave out what is between
// them, and a reader that has read it says nothing of it.
const (
	leadBytes = 4 << 20
	tailBytes = 1 << 20
)

// Stats counts what was read.
type Stats struct {
	Bytes     int64
	Lines     int // a last line without newline counts
	Truncated int // lines longer than the limit, read in parts (see [LineLimit])
}

// A Reader turns the bytes of one input into observations. Feed it with [Reader.ReadFrom] or [Reader.Write] in any chunks, then
// [Reader.Close] it: the chunking never changes what it emits. It keeps one block of the input and what its open reports need,
// however long the input or its lines are. A Reader serves one goroutine.
type Reader struct {
	table    *table
	messages *messageReader
	replays  *messageReader // reads deferred lines
	deferred *deferred
	emit     func(parser.Observation)

	buf  []byte // what was read and not consumed, after a little that was
	base int64  // offset of buf[0] in the input
	done int    // buf[:done] is consumed
	hits []literal.Hit

	line    int              // number of the line in which done is, 1-based
	led     bool             // the beginning of the input is over
	failed  bool             // something failed: all of the input matters
	long    *envelope.Header // of the first segment of the long line that is being read; nil outside of one
	stats   Stats
	maxLine int // bytes of a line that is read as a whole
}

// NewReader returns a reader for the input of that name.
func NewReader(name string, emit func(parser.Observation), options ...Option) *Reader {
	return newReader(name, builtin(), emit, options...)
}

func newReader(name string, t *table, emit func(parser.Observation), options ...Option) *Reader {
	r := &Reader{table: t, deferred: newDeferred(), emit: emit, line: 1, maxLine: DefaultLine}
	for _, set := range options {
		set(r)
	}
	r.messages = newMessageReader(name, t, r.maxLine, r.observe)
	r.replays = newReplayReader(name, t, r.maxLine, emit)
	return r
}

// Read reads in to its end. The only errors are in's; what was read before is emitted all the same.
func Read(name string, in io.Reader, emit func(parser.Observation), options ...Option) (Stats, error) {
	r := NewReader(name, emit, options...)
	_, err := r.ReadFrom(in)
	return r.Close(), err
}

// Buffer is memory that readers of small inputs use one after the other. The zero value is ready. It serves one reader at a time.
type Buffer struct{ buf []byte }

// Read is [Read] with this buffer.
func (b *Buffer) Read(name string, in io.Reader, emit func(parser.Observation), options ...Option) (Stats, error) {
	r := NewReader(name, emit, options...)
	r.buf = b.buf[:0]
	_, err := r.ReadFrom(in)
	st := r.Close()
	b.buf = r.buf[:0]
	return st, err
}

// ReadFrom reads in until EOF or an error.
func (r *Reader) ReadFrom(in io.Reader) (int64, error) {
	var total int64
	for {
		n, err := in.Read(r.space(int(max(firstRead, min(blockSize, total/4)))))
		r.advance(n)
		total += int64(n)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// Write feeds p. It never fails.
func (r *Reader) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := copy(r.space(len(rest)), rest)
		r.advance(n)
		rest = rest[n:]
	}
	return len(p), nil
}

// Close reads the last line if it had no newline, finishes open reports and emits what was deferred.
func (r *Reader) Close() Stats {
	r.consume(len(r.buf), true)
	st := r.stats
	if st.Lines = r.line - 1; len(r.buf) > 0 && r.buf[len(r.buf)-1] != '\n' {
		st.Lines++
	}
	r.messages.flush()
	r.flush(r.describes())
	return st
}

// Stats returns what was read so far.
func (r *Reader) Stats() Stats {
	st := r.stats
	st.Lines = r.line
	return st
}

// space is where the next bytes go, never empty. The buffer is as large as what is fed at a time: of thousands of logs that are
// followed, each gets a few lines now and then.
func (r *Reader) space(want int) []byte {
	full := overlap + blockSize + r.ahead()
	free := cap(r.buf) - len(r.buf)
	if need := min(full, len(r.buf)+want); cap(r.buf) < need && (free == 0 || free < want/2) {
		r.buf = append(make([]byte, 0, min(full, max(need, 2*cap(r.buf), 4<<10))), r.buf...)
	}
	return r.buf[len(r.buf):cap(r.buf)]
}

// ahead is how many bytes are needed to tell that a line is long and how its next part ends.
func (r *Reader) ahead() int { return max(r.maxLine+1, minTake+longAhead) }

// advance takes n more bytes and consumes what is complete: whole lines, and the parts of a long line.
func (r *Reader) advance(n int) {
	old := len(r.buf)
	r.buf = r.buf[:old+n]
	r.stats.Bytes += int64(n)
	end := r.done
	if bytes.IndexByte(r.buf[old:], '\n') >= 0 { // much faster than to search backwards in vain
		end = old + bytes.LastIndexByte(r.buf[old:], '\n') + 1
	}
	if len(r.buf)-end >= r.ahead() {
		end = len(r.buf) - longAhead
	}
	if end > r.done {
		r.consume(end, false)
	}
	if from := r.done - overlap; from > 0 && cap(r.buf)-len(r.buf) < blockSize/2 {
		r.base += int64(from)
		r.done = overlap
		r.buf = r.buf[:copy(r.buf, r.buf[from:])]
	}
}

// consume reads the buffer up to end: the end of a line, or a place in a long line. last says that the input ends there.
func (r *Reader) consume(end int, last bool) {
	r.search(end)
	spots := r.hits
	for r.done < end {
		if r.long != nil {
			if !r.readLong(end, last, &spots) {
				return // the next part needs more text
			}
			continue
		}
		if !r.messages.needsEveryLine(r.line, r.base+int64(r.done)) {
			r.leap(end, spots)
		}
		if r.done < end {
			r.readLine(&spots)
		}
	}
}

// search finds the literals that matter up to end, in order.
func (r *Reader) search(end int) {
	r.hits = r.table.finder.Scan(r.buf, r.done, end, r.hits[:0])
	r.hits = slices.DeleteFunc(r.hits, func(h literal.Hit) bool { return r.table.literals[h.ID].fate == 0 })
	byPos := func(a, b literal.Hit) int { return cmp.Compare(a.Pos, b.Pos) }
	if !slices.IsSortedFunc(r.hits, byPos) {
		slices.SortStableFunc(r.hits, byPos)
	}
}

// leap goes to the next line that holds a literal or is long.
func (r *Reader) leap(end int, spots []literal.Hit) {
	to := end
	if len(spots) > 0 {
		to = r.done + bytes.LastIndexByte(r.buf[r.done:spots[0].Pos], '\n') + 1
	}
	to = r.firstLong(to)
	r.line += bytes.Count(r.buf[r.done:to], newline)
	r.done = to
}

var newline = []byte{'\n'}

// firstLong returns where the first line longer than maxLine begins before to, or to.
func (r *Reader) firstLong(to int) int {
	for at := r.done; at < to; {
		end := min(at+r.maxLine+1, len(r.buf))
		i := bytes.LastIndexByte(r.buf[at:end], '\n')
		switch {
		case i >= 0:
			at += i + 1
		case end-at > r.maxLine:
			return at
		default:
			return to // the last line of the buffer
		}
	}
	return to
}

// readLine reads the line that begins at done.
func (r *Reader) readLine(spots *[]literal.Hit) {
	at := r.done
	end := min(at+r.maxLine+1, len(r.buf))
	if i := bytes.IndexByte(r.buf[at:end], '\n'); i >= 0 {
		end = at + i
	} else if end-at > r.maxLine {
		r.beginLong()
		return
	}
	r.deliver(at, end, r.fates(spots, end))
	r.messages.endOfLine()
	r.done = end
	if end < len(r.buf) {
		r.line++
		r.done++
	}
}

// fates joins what the literals before end ask for, and takes them.
func (r *Reader) fates(spots *[]literal.Hit, end int) (f fate) {
	n := 0
	for n < len(*spots) && (*spots)[n].Pos < end {
		f |= r.table.literals[(*spots)[n].ID].fate
		n++
	}
	*spots = (*spots)[n:]
	return f
}

// deliver lets a line, or a part of a long one, meet its fate.
func (r *Reader) deliver(from, to int, f fate) {
	m, raw, offset := r.messages, r.buf[from:to], r.base+int64(from)
	if !r.led && offset >= leadBytes {
		r.endLead()
	}
	r.deferred.place = offset
	watched, head := m.watched.covers(r.line, offset), m.inHead(r.line, offset)
	switch {
	case f&read != 0, head, watched && mayCount(raw):
	case f != 0 && (len(raw) > maxDeferredLine || isChunk(raw)): // too long to wait, or the rest of it is on another line
	case m.mayContinue(raw, r.long):
	default:
		if f != 0 {
			r.deferred.keepLine(f, r.line, raw, r.long)
		}
		if len(m.open) > 0 {
			m.skipLine()
		}
		return
	}
	if f&keepSampleMark != 0 {
		r.deferred.keepLine(f, r.line, raw, r.long)
	}
	// Of a JSON record, only what is decoded tells whether it holds a literal.
	m.noLiteral = f == 0 && !head && (!watched || bytes.IndexByte(raw, '{') < 0)
	m.line(r.line, offset, raw, r.long != nil)
}

// observe takes an observation of the lines that are read now.
func (r *Reader) observe(o parser.Observation) {
	if r.deferred.keepMade(o, !r.led) {
		return
	}
	if _, ok := o.(parser.Event); ok {
		r.failed = true
	}
	r.flush(0)
	r.emit(o)
}

// endLead emits what the beginning of the input has told.
func (r *Reader) endLead() {
	r.flush(0)
	r.led = true
}

// describes is the offset from which on deferred entries describe the run.
func (r *Reader) describes() int64 {
	if r.failed || !r.led {
		return 0
	}
	return r.stats.Bytes - tailBytes
}

// flush emits what was deferred at an offset or after it, and forgets the rest.
func (r *Reader) flush(from int64) {
	r.deferred.inOrder(from, func(e *entry) {
		if e.made != nil {
			r.emit(e.made)
		} else {
			r.replays.replayLine(e)
		}
	})
	r.deferred.clear()
}
