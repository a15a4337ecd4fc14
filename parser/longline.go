package parser

import (
	"bytes"
	"cmp"
	"slices"

	"oomscan/parser/anchor"
	"oomscan/parser/envelope"
)

// A line longer than maxLine is read in parts, and only where a needle calls for it. Its cold needles, those that a healthy
// line is full of, call for nothing: where the input can be read again they are looked for backwards, like those of other
// lines, and what they tell is a piece of the line whose bounds depend on nothing but the text near it. So it does not
// matter from which side, when and in what blocks the line was looked at.

const (
	// maxPiece bounds what stands between two carriage returns and is one piece.
	maxPiece = maxExcerpt
	// cellSize is what belongs to one piece of longer text without a carriage return. overlap is read before it and behind.
	cellSize = 4 << 10
	// around a needle so much is looked at to tell the bounds of its piece
	pieceMargin = maxPiece
)

// extent is a line longer than maxLine, as far as it was seen.
type extent struct {
	from, to int64
	ended    bool             // to is behind its line feed
	body     int64            // what begins before was read when the line was met
	outer    *envelope.Header // of its first segment
}

// span is a part of an input.
type span struct{ from, to int64 }

// piece is a part of a long line around cold needles.
type piece struct {
	begin, end int // of what is read
	lo, hi     int // needles that begin here belong to it
}

// pieceAt is the piece around text[at], which is behind the place unread of the line: what stands between two carriage
// returns, or, where these are far apart, a cell of a grid. text goes on pieceMargin bytes behind at, or up to the end of the
// input, and begins as much before, or at unread.
func pieceAt(text []byte, off int64, at int, unread int64) piece {
	from := max(at-pieceMargin, int(max(unread-off, 0)))
	begins := int64(from) == unread-off
	begin := from
	if i := bytes.LastIndexByte(text[from:at], '\r'); i >= 0 {
		begin, begins = from+i+1, true
	}
	to := min(at+pieceMargin, len(text))
	ends := to < at+pieceMargin
	end := to
	if i := bytes.IndexByte(text[at:end], '\r'); i >= 0 {
		end, ends = at+i, true
	}
	if i := bytes.IndexByte(text[at:end], '\n'); i >= 0 {
		end, ends = at+i, true
	}
	if begins && ends && end-begin <= maxPiece {
		return piece{begin, end, begin, end}
	}
	cell := int((off+int64(at))/cellSize*cellSize - off)
	p := piece{cell - overlap, cell + cellSize + overlap, cell, cell + cellSize}
	if begins {
		p.begin, p.lo = max(p.begin, begin), max(p.lo, begin)
	}
	if ends {
		p.end, p.hi = min(p.end, end), min(p.hi, end)
	}
	return p
}

// pieceKind says as what a piece waits. Not at all, if it waits for what else it holds, or that was read.
func (s *Scanner) pieceKind(text []byte, p piece) (kind int, waits bool) {
	c := s.coldIn(text, p.lo, p.hi, anyClass)
	switch {
	case c&marks != 0:
		return sampleKind, true
	case c&common == 0 || c&^(tries|common) != 0:
		return 0, false
	}
	return kindFor(c & common), true
}

// remember lets the pieces wait whose cold needles stand before text[to] of the block, in a long line of an input that can
// not be read again.
func (s *Scanner) remember(b *block, to int) {
	if s.again != nil {
		return
	}
	for ; len(s.cold) > 0 && s.cold[0].pos < to; s.cold = s.cold[1:] {
		at := s.cold[0].pos
		if !s.cold[0].cold() || b.off+int64(at) < s.unread {
			continue
		}
		p := pieceAt(b.text, b.off, at, s.unread)
		if b.off+int64(p.lo) == s.remembered {
			continue
		}
		s.remembered = b.off + int64(p.lo)
		if kind, ok := s.pieceKind(b.text, p); ok {
			s.lineAt(b.off+int64(p.begin), kind, s.line, b.text[p.begin:p.end], s.outer)
		}
	}
}

// longEnds notes that the long line which is being read ends at text[at] of the block.
func (s *Scanner) longEnds(b *block, at int) {
	s.remember(b, at)
	s.inLong = false
	s.parser.long = b.off + int64(at)
}

// lineAt is [recall.keep] for what stands at another place than is being read.
func (s *Scanner) lineAt(offset int64, kind, line int, text []byte, outer *envelope.Header) {
	r := s.recall
	now := r.now
	r.now = offset
	r.keep(kind, line, offset, text, outer, false)
	r.now = now
}

// partRead notes that a part of a long line was read, and all that matters for it before.
func (s *Scanner) partRead(from, to int64) {
	s.pieceRead(from, to)
	if s.again != nil {
		s.history.marked = to
	}
}

// pieceRead notes that a part of a long line was read, or is kept to be read.
func (s *Scanner) pieceRead(from, to int64) {
	s.unread = to
	h := &s.history
	if s.again == nil {
		return
	}
	n := len(h.parts)
	if n > 0 && h.parts[n-1].to+1 >= from { // but for a carriage return
		h.parts[n-1].to = to
		return
	}
	if n == maxRead {
		h.parts = slices.Delete(h.parts, 0, maxRead/2)
		h.looked = max(h.looked, h.parts[0].from)
	}
	h.parts = append(h.parts, span{from, to})
}

// unreadAt says whether the place of a long line was not read, and where the text begins that was not.
func (h *history) unreadAt(e *extent, at int64) (unread int64, ok bool) {
	i, _ := slices.BinarySearchFunc(h.parts, at, func(p span, at int64) int { return cmp.Compare(p.from, at+1) })
	if i == 0 {
		return e.body, true
	}
	last := h.parts[i-1] // begins at that place or before
	return max(e.body, last.to), at >= last.to
}

// pieces calls yield for the pieces with cold needles of a class that stand between two places of a long line, from behind
// or from the front, until it returns false. An input that is not what it was has none.
func (s *Scanner) pieces(e *extent, from, to int64, class anchor.Class, backwards bool, yield func(text []byte, off int64, p piece) bool) {
	h := &s.history
	last := int64(-1)
	step := s.window()
	for lo, hi := from, to; lo < hi; {
		a, z := lo, min(lo+step, hi)
		if backwards {
			a, z = max(hi-step, lo), hi
		}
		off := max(0, a-pieceMargin-anchor.MaxCode)
		text, ok := s.past(off, min(z+pieceMargin+int64(s.table.finder.MaxLen()), s.size))
		if !ok {
			return
		}
		h.pieces = s.table.finder.Scan(text, int(a-off), int(z-off), class, h.pieces[:0])
		slices.SortFunc(h.pieces, func(x, y anchor.Hit) int { return cmp.Compare(x.Pos, y.Pos) })
		if backwards {
			slices.Reverse(h.pieces)
		}
		for _, hit := range h.pieces {
			unread, ok := h.unreadAt(e, off+int64(hit.Pos))
			if !ok {
				continue
			}
			p := pieceAt(text, off, hit.Pos, unread)
			if key := off + int64(p.lo); key != last {
				last = key
				if !yield(text, off, p) {
					return
				}
			}
		}
		if backwards {
			hi = a
		} else {
			lo = z
		}
	}
}

// sightLong finds the cold pieces of a long line between two places of it, the last first.
func (s *Scanner) sightLong(e *extent, from, to int64, number int, now int64, seen *tally) {
	s.pieces(e, max(from, e.body), to, coldClass, true, func(text []byte, off int64, p piece) bool {
		begin := off + int64(p.begin)
		kind, ok := s.pieceKind(text, p)
		switch {
		case !ok || begin < now-s.table.reach(kind):
		case kind == sampleKind && s.recall.kinds[sampleKind].holds(begin):
		case seen.takes(kind, p.end-p.begin):
			s.history.found = append(s.history.found, sighting{kind, waiting{
				when: begin, line: number, offset: begin, text: bytes.Clone(text[p.begin:p.end]), outer: e.outer, size: p.end - p.begin,
			}})
		}
		return !seen.full(begin)
	})
}

// markInLong lets the pieces with marks wait that stand between two places of a long line.
func (s *Scanner) markInLong(e *extent, from, to int64, number int) {
	s.pieces(e, max(from, e.body), to, markClass, false, func(text []byte, off int64, p piece) bool {
		if kind, ok := s.pieceKind(text, p); ok && kind == sampleKind {
			s.lineAt(off+int64(p.begin), kind, number, text[p.begin:p.end], e.outer)
		}
		return true
	})
}
