// Package stream turns the bytes of one log into observations, in one forward pass: every line that holds a literal of the
// pattern table is read once, in order. It is the reference for what a log says; [ReadFile] only skips work.
package stream

import (
	"bytes"
	"errors"
	"io"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/literal"
	"oomscan/parser/sample"
)

// Of a log in which nothing fails, only the beginning and the end describe the run. So [ReadFile] can leave out what is between
// them, and a reader that has read it emits nothing of it.
const (
	leadBytes = 4 << 20
	tailBytes = 1 << 20
)

// A Reader turns the bytes of one input into observations. Feed it with [Reader.ReadFrom] or [Reader.Write] in any chunks, then
// [Reader.Close] it: the chunking never changes what it emits. It keeps one block of the input and what its open reports need,
// however long the input or its lines are. A Reader serves one goroutine.
type Reader struct {
	table    *Table
	messages *messageReader
	replays  *messageReader // reads deferred lines
	deferred *deferred
	sink     func(parser.Observation)

	cutter cutter
	buf    []byte        // the text of the window that is read
	base   int64         // offset of buf[0] in the input
	done   int           // buf[:done] is consumed
	hits   []literal.Hit // of the literals in the window
	next   int           // hits[:next] are consumed

	line       int // number of the line in which done is, 1-based
	samples    sampleReach
	pastLead   bool                  // the beginning of the input is over
	failed     bool                  // something failed: all of the input matters
	inUse      map[string]inUseReach // of the readings above failures, by the memory that failed
	begun      bool                  // the beginning of the input is read
	source     bool                  // and was source code
	prose      prose                 // or opened a document
	fence      fence                 // in which it failed, where a run prints blocks of text
	printed    printed               // commits and diffs
	unfenced   int64                 // up to this offset, text before events was searched for blocks and had none
	block      int                   // the indent of a block that may quote the event that is read
	lookedBack int64                 // bytes before events that were searched for what quotes them
	recount    int                   // the line from which on a failure shows anew what the run counted before it
	long       *envelope.Header      // of the first segment of the long line that is being read; nil outside of one
	stats      parser.Counts
	maxLine    int // bytes of a line that is read as a whole
}

// NewReader returns a reader for the input of that name.
func NewReader(name string, emit func(parser.Observation), options ...Option) *Reader {
	r := &Reader{deferred: newDeferred(), sink: emit, line: 1, maxLine: DefaultLine, inUse: map[string]inUseReach{}}
	for _, set := range options {
		set(r)
	}
	if r.table == nil {
		r.table = builtin()
	}
	t := r.table
	r.cutter = cutter{table: t, maxLine: r.maxLine}
	r.messages = newMessageReader(name, t, r.maxLine, r.observe)
	r.messages.await = r.await
	r.replays = newReplayReader(name, t, r.maxLine, r.messages.lead, r.emit)
	return r
}

// Read reads in to its end. The only errors are in's; what was read before is emitted all the same.
func Read(name string, in io.Reader, emit func(parser.Observation), options ...Option) (parser.Counts, error) {
	return new(Buffer).Read(name, in, emit, options...)
}

// Buffer is memory that readers of small inputs use one after the other. The zero value is ready. It serves one reader at a time.
type Buffer struct{ buf []byte }

// Read is [Read] with this buffer.
func (b *Buffer) Read(name string, in io.Reader, emit func(parser.Observation), options ...Option) (parser.Counts, error) {
	r := NewReader(name, emit, options...)
	r.cutter.buf = b.buf[:0]
	_, err := r.ReadFrom(in)
	st := r.Close()
	b.buf = r.cutter.buf[:0]
	return st, err
}

// ReadFrom reads in until EOF or an error.
func (r *Reader) ReadFrom(in io.Reader) (int64, error) {
	var total int64
	for {
		n, err := in.Read(r.cutter.space(int(max(firstRead, min(blockSize, total/4)))))
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
		n := copy(r.cutter.space(len(rest)), rest)
		r.advance(n)
		rest = rest[n:]
	}
	return len(p), nil
}

// Close reads the last line if it had no newline, finishes open reports and emits what was deferred.
func (r *Reader) Close() parser.Counts {
	r.consume(r.cutter.rest())
	if r.messages.lead.end() {
		r.readAgain(len(r.buf))
		r.consume(r.cutter.rest())
	}
	r.applyMarks()
	st := r.stats
	if st.Lines = r.line - 1; len(r.buf) > 0 && r.buf[len(r.buf)-1] != '\n' {
		st.Lines++
	}
	r.messages.flush()
	r.flush(r.describes())
	r.settle()
	st.Quoted = r.messages.quoted
	return st
}

// Stats returns what was read so far.
func (r *Reader) Stats() parser.Counts {
	st := r.stats
	st.Lines, st.Quoted = r.line, r.messages.quoted
	return st
}

// advance takes n more bytes and reads what is complete.
func (r *Reader) advance(n int) {
	r.stats.Bytes += int64(n)
	if w, ok := r.cutter.cut(n); ok {
		r.consume(w)
	}
}

// consume reads a window, and what was left of the one before.
func (r *Reader) consume(w window) {
	moved := int(r.base - w.base)
	r.buf, r.base, r.done = w.text, w.base, r.done+moved
	r.hits, r.next = append(r.hits[:0], r.hitsAhead()...), 0
	for i := range r.hits {
		r.hits[i].Pos += moved
	}
	r.hits = append(r.hits, w.hits...)
	long := r.firstLong(w.to)
	for r.done < w.to {
		if r.long != nil {
			if !r.readLong(w.to, w.last) {
				break // the next part needs more text
			}
			long = r.firstLong(w.to)
			continue
		}
		if r.line > r.samples.until && r.fence.until == 0 && !r.printed.open() && !r.messages.needsEveryLine(r.line, r.base+int64(r.done)) {
			r.skipToLiteral(long)
		}
		if r.done < w.to {
			r.readLine()
		}
		if r.messages.lead.learned() {
			r.readAgain(w.to)
			long = r.firstLong(w.to)
		}
	}
	if !r.begun && r.done >= sourceBytes { // buf still holds it
		r.begun, r.source, r.prose = true, isSource(r.buf), proseOf(r.buf)
	}
}

// readAgain begins anew, up to a place, where a lead was found while nothing had failed: the lines before were read with it.
func (r *Reader) readAgain(to int) {
	if r.failed || r.base > 0 {
		return
	}
	m := newMessageReader(r.messages.source, r.table, r.maxLine, r.observe)
	m.await, m.lead = r.await, r.messages.lead
	r.messages, r.replays = m, newReplayReader(m.source, r.table, r.maxLine, m.lead, r.emit)
	r.deferred, r.samples, r.printed = newDeferred(), sampleReach{}, printed{}
	r.hits, r.next = r.table.hits(r.buf, 0, to, r.hits[:0]), 0
	r.done, r.line = 0, 1
}

// hitsAhead are the literals that are not consumed.
func (r *Reader) hitsAhead() []literal.Hit { return r.hits[r.next:] }

// skipToLiteral goes to the next line before end that holds a literal, or to end.
func (r *Reader) skipToLiteral(end int) {
	to := end
	if hits := r.hitsAhead(); len(hits) > 0 && hits[0].Pos < end {
		to = r.done + bytes.LastIndexByte(r.buf[r.done:hits[0].Pos], '\n') + 1
	}
	r.line += bytes.Count(r.buf[r.done:to], newline)
	if r.messages.passed > 0 { // a log that was broken into rows has some in its head
		r.messages.passed += bytes.Count(r.buf[max(r.done-1, 0):to], quotedLine)
	}
	r.done = to
}

var newline, quotedLine = []byte{'\n'}, []byte("\n" + Quoted)

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

func (r *Reader) readLine() {
	at := r.done
	end := min(at+r.maxLine+1, len(r.buf))
	if i := bytes.IndexByte(r.buf[at:end], '\n'); i >= 0 {
		end = at + i
	} else if end-at > r.maxLine {
		r.beginLong()
		return
	}
	r.deliver(at, end, r.fates(end))
	r.messages.endOfLine()
	r.done = end
	if end < len(r.buf) {
		r.line++
		r.done++
	}
}

// fates joins the fates of the literals before end, and consumes them.
func (r *Reader) fates(end int) (f fate) {
	for ; r.next < len(r.hits) && r.hits[r.next].Pos < end; r.next++ {
		f |= r.table.literals[r.hits[r.next].ID].fate
	}
	return f
}

// deliver reads, keeps or ignores a line, or a part of a long one.
func (r *Reader) deliver(from, to int, f fate) {
	m, raw, offset := r.messages, r.buf[from:to], r.base+int64(from)
	if bytes.HasPrefix(raw, quoted) {
		m.passOver()
		return
	}
	if r.long == nil && r.printed.holds(raw) {
		if f&read != 0 {
			m.countQuoted(r.line, offset, raw)
		}
		return
	}
	if !r.pastLead && offset >= leadBytes {
		r.endLead()
	}
	r.deferred.place, r.deferred.passed = offset, m.passed
	if f := &r.fence; f.until > 0 {
		if r.line > f.until {
			r.settle()
		} else if f.read(r.line, raw) || f.settled() {
			r.release(true)
		}
	}
	if f&keepSampleMark != 0 {
		r.samples.note(r.line, raw)
	}
	watched, head := m.watched.covers(r.line, offset), m.inHead(r.line, offset)
	switch {
	case f&read != 0, head, watched && (f&keepSampleMark != 0 || m.watched.mayCount(raw)):
	case f != 0 && (len(raw) > maxDeferredLine || envelope.IsCutBySrun(raw)): // too long to wait, or the rest of it is on another line
	case m.mayContinue(raw, r.long):
	default:
		if f&keepSampleMark == 0 && r.samples.mayEndOn(r.line, raw) {
			f |= keepSampleMark
		}
		if f != 0 {
			r.deferred.keepLine(f, r.line, raw, r.long)
		}
		if len(m.open) > 0 {
			m.skipLine()
		}
		return
	}
	r.applyMarks()
	if f&keepSampleMark != 0 {
		r.deferred.keepLine(f, r.line, raw, r.long)
		r.deferred.marked = r.deferred.seq // it is read now
	}
	// A JSON record must be decoded to see whether it holds a literal.
	m.noLiteral = f == 0 && !head && (!watched || bytes.IndexByte(raw, '{') < 0)
	m.line(r.line, offset, raw, r.long != nil)
}

// applyMarks lets the marks of samples count that were kept since a line was read last, as far as their samples may reach to here.
func (r *Reader) applyMarks() {
	d := r.deferred
	marks := &d.rings[sampleMarkKind]
	for i := max(0, marks.n-int(d.seq-d.marked)); i < marks.n; i++ {
		if e := marks.at(i); e.seq > d.marked && !sample.Over(r.line-e.line, d.place-e.place, e.place < r.messages.longLineEnds) {
			r.messages.mark(e)
		}
	}
	d.marked = d.seq
}

// observe takes an observation of the lines that are read now.
func (r *Reader) observe(o parser.Observation) {
	if r.deferred.keepObservation(o, !r.pastLead && (r.failed || !r.messages.lead.mayCome())) {
		return
	}
	if _, ok := o.(parser.Setting); ok {
		r.deferred.settings(r.emit) // they came before
	}
	e, ok := o.(parser.Event)
	if ok && r.isQuoted(&e) {
		r.messages.quoted++
		return
	}
	if ok && !r.failed && r.base == 0 && r.long == nil && r.messages.lead.settle() {
		return // it is read again without the lead
	}
	r.failed = r.failed || ok
	r.flush(0)
	if ok {
		if r.rankedByRecord(&e) {
			o = e
		}
		r.findFence(&e)
		r.findProof(&e)
		r.noteCount(&e)
		r.readInUse(&e)
	}
	r.emit(o)
}

// isQuoted reports whether the lines around an event show that it did not happen.
func (r *Reader) isQuoted(e *parser.Event) bool {
	return r.inExample(e) || r.inBlockquote(e) || r.inSource(e) || r.inTable(e) || r.isEnclosed(e)
}

// endLead emits what was deferred at the beginning of the input.
func (r *Reader) endLead() {
	r.flush(0)
	r.pastLead = true
}

// describes is the offset from which on deferred entries describe the run.
func (r *Reader) describes() int64 {
	if r.failed || !r.pastLead {
		return 0
	}
	return r.stats.Bytes - tailBytes
}

// flush emits what was deferred at an offset or after it, and forgets the rest.
func (r *Reader) flush(from int64) {
	r.deferred.inOrder(from, r.replays.replayEntry)
	r.deferred.clear()
}
