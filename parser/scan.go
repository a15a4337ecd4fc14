package parser

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"oomscan/parser/envelope"
)

// Limits of one scan.
const (
	// maxExcerpt bounds what is read of such a part before a needle and behind it.
	maxExcerpt = 8 << 10
	// stretchAhead is how far such a part is looked at for its end.
	stretchAhead = 4 * maxExcerpt
	// overlap is how much of an excerpt is read again with the next one of the same part.
	overlap = 1 << 10
	// blockSize is how much is searched at a time: large enough for the finder to run, small enough for the cache.
	blockSize = 256 << 10
	// firstRead is how much is read at first: a short log should not take the memory of a long one.
	firstRead = 64 << 10
	// headLines and headBytes bound the part of each input in which every line is looked at: programs print their
	// settings first, in too many forms to know them by a literal.
	headLines = 600
	headBytes = 192 << 10
)

// Stats counts what a scan read.
type Stats struct {
	Bytes     int64
	Lines     int // a last line without newline counts
	Truncated int // lines longer than the limit, read in parts (see [LineLimit])
}

// A Scanner turns the bytes of one input into observations. Feed it with [Scanner.ReadFrom] or [Scanner.Write] in any
// chunks, then [Scanner.Close] it: the chunking never changes what it emits. It keeps one block of the input and what
// its open reports need, however long the input or its lines are. A Scanner serves one goroutine.
type Scanner struct {
	parser *Parser
	recall *recall
	table  *compiled

	again   io.ReaderAt // where the input can be read again; nil: nowhere
	size    int64       // of that
	history history
	reading *block

	buf   []byte // what was read and is not consumed, and a little of what was consumed before that
	base  int64  // offset of buf[0] in the input
	done  int    // buf[:done] is consumed
	block block
	by    *surveyor // nil: nothing was surveyed lately

	next   int64            // what begins before is consumed
	line   int              // number of the line in which next is, 1-based
	first  int              // number of the line in which the next block begins
	inLong bool             // next is in a line longer than maxLine
	outer  *envelope.Header // of that line's first segment
	unread int64            // what begins before in that line was read, or is looked at no more
	cold   []spot           // of the block, where pieces of that line are about to wait for them
	// the last of these pieces, by the place where the needles begin that belong to it
	remembered int64
	begun      bool // the input does not end in a newline, as far as it was surveyed
	ended      bool // all of it was consumed
	stats      Stats

	maxLine int // bytes of a line that is read as a whole
}

// NewScanner returns a scanner for the input of that name.
func NewScanner(name string, emit func(Observation), options ...Option) *Scanner {
	return newScanner(name, table(), emit, options...)
}

func newScanner(name string, t *compiled, emit func(Observation), options ...Option) *Scanner {
	s := &Scanner{table: t, recall: newRecall(name, t, emit), line: 1, first: 1, maxLine: DefaultLine}
	for _, set := range options {
		set(s)
	}
	s.parser = newParser(name, t, s.recall.made)
	s.parser.maxLine, s.recall.reader.maxLine = s.maxLine, s.maxLine
	return s
}

// Scan reads r to its end. The only errors are r's; what was read before is emitted all the same.
func Scan(name string, r io.Reader, emit func(Observation), options ...Option) (Stats, error) {
	s := NewScanner(name, emit, options...)
	_, err := s.ReadFrom(r)
	return s.Close(), err
}

// Room is the memory that scans use one after the other, for those who read many small inputs. The zero value is ready. It
// serves one scan at a time.
type Room struct{ buf []byte }

// Scan is [Scan] in this room.
func (m *Room) Scan(name string, r io.Reader, emit func(Observation), options ...Option) (Stats, error) {
	s := NewScanner(name, emit, options...)
	s.buf = m.buf[:0]
	if cap(s.buf) == 0 {
		s.buf = nil
	}
	_, err := s.ReadFrom(r)
	st := s.Close()
	m.buf = s.buf[:0]
	return st, err
}

// ReadFrom reads r until EOF or an error.
func (s *Scanner) ReadFrom(r io.Reader) (int64, error) {
	var total int64
	for {
		n, err := r.Read(s.space(int(max(firstRead, min(blockSize, total/4)))))
		s.advance(n)
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
func (s *Scanner) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := copy(s.space(len(rest)), rest)
		s.advance(n)
		rest = rest[n:]
	}
	return len(p), nil
}

// Close reads the last line if it had no newline and finishes open reports.
func (s *Scanner) Close() Stats {
	if s.done < len(s.buf) {
		s.take(len(s.buf))
	}
	return s.close()
}

func (s *Scanner) close() Stats {
	s.recall.now, s.recall.line, s.ended = s.next, s.line, true
	s.lookMarks(s.next)
	s.recall.samples(s.parser, s.line)
	s.parser.flush()
	s.recall.flush()
	st := s.stats
	if st.Lines = s.first - 1; s.begun {
		st.Lines++
	}
	return st
}

// Stats returns what was read so far.
func (s *Scanner) Stats() Stats {
	st := s.stats
	st.Lines = s.line
	return st
}

// Peek emits what is known and was kept for later, for nothing had happened, and what the unfinished last line says,
// should it end here: a writer that stops in the middle of a line, or printed its last words without a newline, is heard
// without waiting for more. The scanner's state does not change: all of it is emitted again when its time comes.
func (s *Scanner) Peek(emit func(Observation)) {
	s.Recall(emit)
	s.Tail(emit)
}

// Tail is the second half of [Scanner.Peek]: what the unfinished last line says.
func (s *Scanner) Tail(emit func(Observation)) {
	if rest := s.buf[s.done:]; !s.inLong && len(rest) > 0 && len(rest) <= s.maxLine {
		s.recall.samples(s.parser, s.line)
		s.parser.peek(s.line, s.base+int64(s.done), rest, emit)
	}
}

// space is where the next bytes go, half of so many or more if it can be; never empty. The buffer is as large as what is
// fed at a time: of thousands of logs that are followed, each gets a few lines now and then.
func (s *Scanner) space(want int) []byte {
	full := behind + blockSize + ahead(s.maxLine)
	free := cap(s.buf) - len(s.buf)
	if need := min(full, len(s.buf)+want); cap(s.buf) < need && (free == 0 || free < want/2) {
		s.buf = append(make([]byte, 0, min(full, max(need, 2*cap(s.buf), 4<<10))), s.buf...)
	}
	return s.buf[len(s.buf):cap(s.buf)]
}

// minTake is how much of a long line is worth a look of its own.
const minTake = 16 << 10

// advance takes n more bytes and consumes what is complete: whole lines, and of a line that is longer than maxLine what
// needs no more text behind it.
func (s *Scanner) advance(n int) {
	old := len(s.buf)
	s.buf = s.buf[:old+n]
	s.stats.Bytes += int64(n)
	end := s.done
	if i := bytes.LastIndexByte(s.buf[old:], '\n'); i >= 0 {
		end = old + i + 1
	}
	if part := len(s.buf) - ahead(s.maxLine); part >= end+minTake {
		end = part
	}
	if end > s.done {
		s.take(end)
	}
	if from := s.done - behind; from > 0 && cap(s.buf)-len(s.buf) < blockSize/2 {
		s.base += int64(from)
		s.done = behind
		s.buf = s.buf[:copy(s.buf, s.buf[from:])]
	}
}

// take consumes the buffer up to end.
func (s *Scanner) take(end int) {
	b := &s.block
	b.text, b.off, b.lo, b.hi, b.maxLine = s.buf, s.base, s.done, end, s.maxLine
	if s.by == nil {
		s.by = newSurveyor(s.table)
	}
	b.survey(s.by, true)
	s.consume(b)
	s.done = end
}

// consume reads what begins in a block: the lines of interest, or all of them where the parser wants them. The blocks of
// an input come in order and without gaps.
func (s *Scanner) consume(b *block) {
	spots, long, asides := b.spots, b.long, b.asides
	s.reading, s.cold = b, b.spots
	if s.inLong {
		s.lengthens(b, b.begun)
	}
	for !s.inLong && len(spots) > 0 && spots[0].pos < b.begun {
		spots = spots[1:] // of a line that was read, or was of no interest
	}
	ends := -1 // of the long line: its newline, if that is in the block
	for {
		x := int(s.next - b.off)
		if x >= b.hi {
			break
		}
		if s.inLong && ends < x {
			if ends = b.hi; b.last >= x {
				ends = x + bytes.IndexByte(b.text[x:], '\n')
			}
		}
		for len(spots) > 0 && spots[0].pos < x {
			spots = spots[1:]
		}
		for s.inLong && len(spots) > 0 && spots[0].cold() && (spots[0].pos < ends || ends == b.hi) {
			spots = spots[1:]
		}
		for len(long) > 0 && long[0] < x {
			long = long[1:]
		}
		if !s.alert(s.next) {
			for len(spots) > 0 && spots[0].silent() {
				spots = spots[1:]
			}
			if s.inLong && ends < b.hi && (len(spots) == 0 || spots[0].pos > ends) {
				// the next line may be read for other reasons than this one
				s.longEnds(b, ends)
				s.line++
				s.next = b.off + int64(ends) + 1
				continue
			}
			for len(asides) > 0 && asides[0].pos < x {
				asides = asides[1:]
			}
			if len(asides) > 0 && len(spots) > 0 && spots[0].pos >= asides[0].pos && (len(long) == 0 || long[0] > asides[0].pos) &&
				s.setAside(b, &asides[0], spots[0].line) {
				continue
			}
			if x = s.leap(b, x, spots, long); x < 0 {
				break
			}
		}
		s.next = b.off + int64(s.unit(b, x, spots, len(long) > 0 && long[0] == x))
	}
	if end := b.off + int64(b.hi); s.next < end { // nothing more of interest
		s.next, s.line = end, s.first+b.newlines
	}
	if s.inLong {
		s.remember(b, b.hi)
	}
	s.first += b.newlines
	s.begun = b.last != b.hi-1
}

// alert says that the line at offset is read whether it holds a needle or not.
func (s *Scanner) alert(offset int64) bool {
	return s.parser.wants(s.line, offset) || s.parser.watched.covers(s.line, offset)
}

// leap goes from x to the next place of interest in the block: the beginning of a line with a needle, some text before the
// needle in a long line, or the beginning of a long line. It returns -1 when there is none in the block.
func (s *Scanner) leap(b *block, x int, spots []spot, long []int) int {
	if len(long) > 0 && (len(spots) == 0 || long[0] <= spots[0].pos) {
		s.line += bytes.Count(b.text[x:long[0]], newline)
		return long[0]
	}
	if len(spots) == 0 {
		return -1
	}
	at := spots[0]
	was := s.line
	s.line = s.first + at.line
	if s.line > was { // not so within a line of megabytes: it need not be searched
		return x + bytes.LastIndexByte(b.text[x:at.pos], '\n') + 1
	}
	if !s.inLong {
		return x
	}
	x = max(x, at.pos-maxExcerpt)
	if x += bytes.LastIndexByte(b.text[x:at.pos], '\r') + 1; x >= b.hi {
		return -1 // the next block has more of the text behind it
	}
	return x
}

// unit reads one line, or a part of a long one, and returns where the next one begins.
func (s *Scanner) unit(b *block, x int, spots []spot, long bool) int {
	s.recall.now, s.recall.line = b.off+int64(x), s.line
	switch {
	case long:
		s.stats.Truncated++
		s.lookMarks(b.off + int64(x))
		i, _ := slices.BinarySearch(b.long, x)
		s.lengthy(b, b.off+int64(x), b.over[i])
		end := x + maxExcerpt
		if i := bytes.IndexByte(b.text[x:end], '\r'); i >= 0 {
			end = x + i + 1
		}
		s.recall.samples(s.parser, s.line)
		// read in any case: it is who writes the whole line
		s.parser.plain = false
		s.parser.line(s.line, b.off+int64(x), b.text[x:end], false)
		outer := s.parser.outer
		s.headed(b.off+int64(end), &outer)
		return end
	case s.inLong:
		s.remember(b, x)
		return s.stretch(b, x, spots)
	}
	end := len(b.text)
	if i := bytes.IndexByte(b.text[x:], '\n'); i >= 0 {
		end = x + i
	}
	s.deliver(b, x, x, end, cares(spots, end, true), nil)
	s.parser.endOfLine()
	if end < len(b.text) {
		s.line++
		end++
	}
	return end
}

// stretch reads a part of a long line, from one carriage return to the next, or what stands around a needle.
func (s *Scanner) stretch(b *block, x int, spots []spot) int {
	end := min(x+stretchAhead, len(b.text))
	bar := bytes.IndexByte(b.text[x:end], '\r')
	if bar >= 0 {
		end = x + bar
	}
	ends := false
	if i := bytes.IndexByte(b.text[x:end], '\n'); i >= 0 {
		end, ends = x+i, true
	}
	if bar < 0 && !ends {
		// text without an end in sight
		stop := x + maxExcerpt
		for _, p := range spots {
			if p.pos >= stop-overlap && p.pos >= x+maxExcerpt {
				break
			}
			if !p.cold() {
				stop = max(stop, p.pos+maxExcerpt)
			}
		}
		end = min(end, stop)
	}
	from := max(x-overlap, 0)
	from += bytes.LastIndexAny(b.text[from:x], "\r\n") + 1
	s.deliver(b, from, x, end, cares(spots, end, false), s.outer)
	if ends {
		s.parser.endOfLine()
		s.longEnds(b, end)
		s.line++
		s.lengthens(b, end+1)
		return end + 1
	}
	if end < len(b.text) && b.text[end] == '\r' {
		end++
	}
	return end
}

// canWait says that what the needles of a line tell, short of an event, need not be told while the next lines of some writers
// are awaited: it waits like what other lines tell, and whose lines are awaited makes no difference to it.
func (s *Scanner) canWait(offset int64, raw []byte, c care) bool {
	p := s.parser
	return len(raw) <= maxUnread && len(p.cuts) == 0 && !p.head(s.line, offset) && (c&^(common|marks) == 0 || !chunk(raw))
}

// await reads such a line for those whose lines are awaited.
func (s *Scanner) await(offset int64, raw []byte, c care, outer *envelope.Header) {
	p := s.parser
	concerned := p.concerned(s.line, offset, raw, outer)
	if concerned {
		s.lookMarks(offset)
		s.recall.samples(p, s.line)
		p.plain, p.muted = c == 0, true
		p.line(s.line, offset, raw, outer != nil)
		p.muted = false
		if s.again != nil {
			s.history.marked = offset + int64(len(raw)) + 1
		}
	} else {
		p.pass()
	}
	switch cold := c&^common == 0 || c&marks != 0; {
	case c == 0:
	case c&marks != 0 && concerned:
		s.recall.keep(sampleKind, s.line, offset, raw, nil, true)
	case !cold, s.again == nil && outer == nil: // the pieces of a long line are remembered
		s.recall.keep(kindFor(c), s.line, offset, raw, outer, false)
	}
}

// whole says that a part of a long line is all that stands between two carriage returns, and no more than waits of them.
func whole(b *block, from, lo, hi int) bool {
	return from == lo && lo > 0 && b.text[lo-1] == '\r' && hi-lo <= maxPiece && hi < len(b.text) && (b.text[hi] == '\r' || b.text[hi] == '\n')
}

// cares joins what the needles before end ask for, the cold ones among them or not.
func cares(spots []spot, end int, cold bool) care {
	var all care
	for _, p := range spots {
		if p.pos >= end {
			break
		}
		if cold || !p.cold() {
			all |= p.care
		}
	}
	return all
}

// deliver hands a line of the block, text[from:hi], or a part of a long one that begins at text[lo] with what is needed of the
// text before it, to whom its needles call for. outer is nil for a line.
func (s *Scanner) deliver(b *block, from, lo, hi int, c care, outer *envelope.Header) {
	p := s.parser
	offset, raw := b.off+int64(from), b.text[from:hi]
	long := outer != nil
	looksBack := s.again != nil && !long
	futile := c&hopeless != 0
	c &^= hopeless
	watched := p.watched.covers(s.line, offset)
	wanted := p.wants(s.line, offset)
	counts := watched && mayCount(raw)
	if wanted && !counts && c&^(common|marks) == 0 && !p.concerned(s.line, offset, raw, outer) {
		p.pass()
		if c != 0 && !looksBack {
			s.recall.keep(kindFor(c), s.line, offset, raw, outer, false)
		}
		return
	}
	class := coldClass
	if c&^tries != 0 {
		class = markClass // only those count beside what else there is
	}
	switch {
	case long:
		c |= s.coldIn(b.text, lo, hi, class)
	case !looksBack:
	case class == markClass, c != 0 && !futile, wanted, counts: // else nobody reads it
		c |= s.coldIn(raw, 0, len(raw), class)
	}
	switch {
	case counts, c&reads != 0:
	case wanted && (!long || c&marks == 0 && whole(b, from, lo, hi)) && s.canWait(offset, raw, c) && (c&tries == 0 || futile || !p.prober.matches(raw, outer, p.flood)):
		s.await(offset, raw, c&^tries, outer)
		return
	case wanted:
		if c == 0 && !p.concerned(s.line, offset, raw, outer) {
			p.pass()
			return
		}
	case c == 0:
		return
	case c&^(common|marks) != 0 && chunk(raw): // the rest of it is on another line
	case c&tries != 0 && !futile && p.prober.matches(raw, outer, p.flood):
	case c&^tries == 0:
		return
	case c&marks != 0, c&^(tries|common) == 0:
		if !looksBack && !long {
			s.recall.keep(kindFor(c), s.line, offset, raw, outer, false)
		}
		return
	case len(raw) <= maxUnread:
		s.recall.keep(kindFor(c), s.line, offset, raw, outer, false)
		return
	}
	s.lookMarks(b.off + int64(lo))
	s.recall.samples(p, s.line)
	if looksBack && c&common != 0 && c&^(tries|common) == 0 {
		s.wasRead(offset)
	}
	// of a record, only what is decoded tells whether it holds a needle
	p.plain = c == 0 && !p.head(s.line, offset) && (!watched || bytes.IndexByte(raw, '{') < 0)
	p.line(s.line, offset, raw, outer != nil)
	if c&marks != 0 {
		s.recall.keep(sampleKind, s.line, offset, raw, outer, true)
	}
	switch {
	case long:
		s.partRead(b.off+int64(lo), b.off+int64(hi))
	case looksBack:
		s.history.marked = offset + int64(len(raw)) + 1
	}
}
