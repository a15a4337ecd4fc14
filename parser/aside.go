package parser

import (
	"bytes"
	"slices"

	"oomscan/parser/anchor"
	"oomscan/parser/traceback"
)

// Rewards that cannot be computed, requests that time out: healthy runs print tracebacks all day. Such a one tells something
// only beside a failure. Where a block shows that a traceback stands alone, all of it is kept like the other lines that
// wait, and read when something happens. It stands alone if nothing about its writer could make it mean anything else: not
// a sample that is printed, nor a message that goes on.

// Bounds of a traceback that is kept unread.
const (
	maxAside    = 8 << 10 // bytes
	maxWho      = 96      // bytes in front of its lines that say who writes
	asideBehind = 64      // lines behind it in which nothing may be that could belong to it
	sampleStep  = 8 << 10 // bytes before it that are looked at at once
)

// aside is a traceback that stands alone: text[pos:end], with the end of its last line. In a long line, carriage returns stand
// between its lines.
type aside struct {
	pos, end int
	head     int // where its first line ends
	last     int // where its last line begins
	lines    int
	writer   string // as far as its own lines name him: in a long line the first segment may add to it
}

var (
	headerText = []byte("Traceback (most recent call last):")
	quotedLine = []byte(frameNeedle)
)

// setAside finds the tracebacks of the block that stand alone.
func (b *block) setAside(t *compiled) {
	b.asides = b.asides[:0]
	for i := 0; i < len(b.spots); {
		if int(b.spots[i].needle) != t.traceback {
			i++
			continue
		}
		a, ok := b.alone(t, i)
		if !ok {
			i++
			continue
		}
		b.asides = append(b.asides, a)
		for i < len(b.spots) && b.spots[i].pos < a.end {
			i++
		}
	}
}

// lineEnd is what ends the lines of the block: a carriage return, if it is a part of one long line.
func (b *block) lineEnd() byte {
	if b.within() && b.hi-b.lo > b.maxLine {
		return '\r'
	}
	return '\n'
}

// alone says whether the traceback whose header holds that spot stands alone, and how far it goes.
func (b *block) alone(t *compiled, at int) (a aside, ok bool) {
	pos, end := b.spots[at].pos, b.lineEnd()
	long := end == '\r'
	begun := b.begun
	if long {
		begun = b.lo
	}
	from := max(begun, pos-maxWho)
	if from > pos {
		return aside{}, false
	}
	begin := from + bytes.LastIndexByte(b.text[from:pos], end) + 1
	who := b.text[begin:pos]
	if begin == from && (from != begun || long) || long && len(who) == 0 || !bytes.HasPrefix(b.text[pos:], headerText) {
		return aside{}, false
	}
	a = aside{pos: begin, head: pos + len(headerText), lines: 1}
	if a.end = a.head + 1; a.end > b.hi || b.text[a.head] != end {
		return aside{}, false
	}
	body, h := b.prober.peeler.Peel(b.text[begin:a.head])
	if !bytes.Equal(body, headerText) || !h.Time.IsZero() || h.Partial {
		return aside{}, false
	}
	a.writer = h.Stream
	for frames := 0; ; {
		rest := b.text[a.end:min(b.hi, begin+maxAside)]
		i := bytes.IndexByte(rest, end)
		if i < 0 || !bytes.HasPrefix(rest, who) {
			return aside{}, false
		}
		line := rest[len(who):i]
		a.last, a.end = a.end, a.end+i+1
		a.lines++
		if len(line) == 0 || bytes.IndexByte(line, '\r') >= 0 {
			return aside{}, false
		}
		if line[0] != ' ' {
			if frames == 0 {
				return aside{}, false
			}
			break // the exception
		}
		if bytes.Contains(line, quotedLine) {
			frames++
		}
	}
	if len(who) == 0 {
		line := b.text[a.last : a.end-1]
		if body, h := b.prober.peeler.Peel(line); h.Stream != a.writer || len(body) != len(line) {
			return aside{}, false
		}
	}
	for _, s := range b.spots[at:] {
		if s.pos >= a.end {
			break
		}
		if id := int(s.needle); id != t.traceback && (id != t.frame || s.pos >= a.last) {
			return aside{}, false
		}
	}
	b.hits = t.finder.Scan(b.text, a.pos, a.end, coldClass, b.hits[:0])
	if slices.ContainsFunc(b.hits, func(h anchor.Hit) bool { return t.cares[h.Needle] != 0 }) {
		return aside{}, false
	}
	if !b.silentBehind(t, &a, at, who, end) {
		return a, false
	}
	if long {
		return a, b.samplelessInLong(t, &a, who)
	}
	return a, b.sampleless(t, &a, who)
}

// silentBehind says that a writer says nothing behind its traceback while more of the message would be waited for, or
// begins another one, and that nobody else has anything to say then for which it mattered.
func (b *block) silentBehind(t *compiled, a *aside, at int, who []byte, end byte) bool {
	pos, over := a.end, false
	for range asideBehind {
		i := bytes.IndexByte(b.text[pos:], end)
		if i < 0 || end == '\r' && i > maxPiece {
			return false
		}
		switch line := b.text[pos : pos+i]; {
		case over:
		case len(who) > 0:
			if bytes.HasPrefix(line, who) {
				return false
			}
		default:
			if _, h := b.prober.peeler.Peel(line); h.Stream == a.writer {
				if h.Time.IsZero() {
					return false
				}
				over = true
			}
		}
		pos += i + 1
	}
	for _, s := range b.spots[at:] {
		if s.pos >= pos {
			break
		}
		if id := int(s.needle); id != t.traceback && id != t.frame && s.care&(reads|tries) != 0 && !s.silent() {
			return false
		}
	}
	return pos <= b.hi
}

// sampleless says that no sample can go on which the writer of a traceback prints.
func (b *block) sampleless(t *compiled, a *aside, who []byte) bool {
	from := a.pos
	for lines := 0; lines <= sampleLines; {
		if from == 0 {
			if b.off > 0 {
				return false // that cannot be told
			}
			break
		}
		to := from
		from = max(0, from-sampleStep)
		lines += bytes.Count(b.text[from:to], newline)
	}
	if len(who) > 0 && b.unheard(t, from, a.pos, who, '\n') {
		return true
	}
	b.hits = t.finder.Scan(b.text, from, a.pos, markClass, b.hits[:0])
	for _, h := range b.hits {
		if t.cares[h.Needle]&marks == 0 {
			continue
		}
		begin := from + bytes.LastIndexByte(b.text[from:h.Pos], '\n') + 1
		line := b.text[begin:a.pos]
		if bytes.Count(line, newline) > sampleLines {
			continue
		}
		line = line[:bytes.IndexByte(line, '\n')]
		if len(line) > maxUnread || bytes.IndexByte(line, '\r') >= 0 {
			return false // of several writers, maybe
		}
		same := len(who) > 0 && bytes.HasPrefix(line, who)
		if len(who) == 0 {
			_, h := b.prober.peeler.Peel(line)
			same = h.Stream == a.writer
		}
		if same {
			return false
		}
	}
	return true
}

// samplelessInLong is sampleless in a long line, in which a sample reaches so many bytes. Text of many pieces is none of the
// writer's whose name is in front of others.
func (b *block) samplelessInLong(t *compiled, a *aside, who []byte) bool {
	from := a.pos - sampleBytes - maxPiece
	return from > 0 && b.unheard(t, from, a.pos, who, '\r')
}

// unheard says that no line of text[from:to] is by the writer whose lines begin so. The text ends where a line does, and may
// begin within one. It does not say so where more would have to be looked at: marks in long lines, or in such ones of several
// writers.
func (b *block) unheard(t *compiled, from, to int, who []byte, end byte) bool {
	for first := from > 0; from < to; first = false {
		i := bytes.IndexByte(b.text[from:to], end)
		if i < 0 {
			return false
		}
		line := b.text[from : from+i]
		switch {
		case len(line) > maxUnread, end == '\n' && bytes.IndexByte(line, '\r') >= 0, end == '\r' && first:
			if b.hits = t.finder.Scan(b.text, from, from+i, markClass, b.hits[:0]); len(b.hits) > 0 {
				return false
			}
		case !first && bytes.HasPrefix(line, who):
			return false
		}
		from += i + 1
	}
	return true
}

// idle says that a writer has begun nothing that a traceback would go on with.
func (p *Parser) idle(writer string) bool {
	s := p.streams[writer]
	return s == nil || s.trace.Idle() && !s.kernel.Open() && !s.elastic.Open() && !s.settings.Open() && s.sample == (sampling{}) && len(s.pending) == 0
}

// setAside lets a traceback that stands alone wait, if nothing that its writer has begun makes it mean anything else. first is
// the number of line feeds in the block before it.
func (s *Scanner) setAside(b *block, a *aside, first int) bool {
	if long := b.lineEnd() == '\r'; long != s.inLong {
		return false
	}
	writer := a.writer
	if s.inLong {
		_, h := s.parser.peeler.PeelInherit(b.text[a.pos:a.head], *s.outer)
		if writer = h.Stream; writer == s.outer.Stream {
			return false // as text is that names nobody
		}
	}
	if !s.parser.idle(writer) {
		return false
	}
	r := s.recall
	r.now = b.off + int64(a.last)
	s.line = s.first + first
	if s.inLong {
		s.remember(b, a.pos)
		r.keep(exceptionKind, s.line, b.off+int64(a.pos), b.text[a.pos:a.end], s.outer, false)
		s.pieceRead(b.off+int64(a.pos), b.off+int64(a.end-1))
	} else {
		r.keep(exceptionKind, s.line, b.off+int64(a.pos), b.text[a.pos:a.end], nil, false)
		s.line += a.lines
	}
	if w := s.parser.streams[writer]; w != nil {
		w.trace = traceback.Assembler{} // what comes has nothing to do with the one before
	}
	s.next = b.off + int64(a.end)
	return true
}

// aside reads such a traceback.
func (p *Parser) aside(e *waiting) {
	if e.outer != nil {
		p.asideInLong(e)
	} else {
		line, offset := e.line, e.offset
		for text := range bytes.Lines(e.text) {
			p.line(line, offset, bytes.TrimSuffix(text, newline), false)
			line, offset = line+1, offset+int64(len(text))
		}
	}
	p.flush()
	clear(p.streams)
	clear(p.open)
}

// asideInLong is [Parser.aside] of one in a long line.
func (p *Parser) asideInLong(e *waiting) {
	p.outer, p.inLine, p.long = *e.outer, true, inLongLine
	offset := e.offset
	for piece := range bytes.SplitSeq(bytes.TrimSuffix(e.text, []byte{'\r'}), []byte{'\r'}) {
		p.line(e.line, offset, piece, true)
		offset += int64(len(piece)) + 1
	}
	p.inLine, p.long = false, offset
}
