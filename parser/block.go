package parser

import (
	"bytes"
	"slices"

	"oomscan/parser/anchor"
)

// Around a block the bytes are needed in which its last line ends, and those in which a message of a huge line begins.
const (
	ahead  = MaxLine + 1
	behind = maxExcerpt
)

// block is a part of an input and what the finder saw in it: everything about it that can be told without what came
// before. Any number of blocks may be surveyed at once.
type block struct {
	text []byte
	off  int64 // of text in the input
	// text[lo:hi] is the block's own. Unless the input ends sooner, text has behind bytes before and, where a line
	// goes on behind hi, what is left of it or ahead bytes.
	lo, hi int

	spots    []spot
	long     []int // where the lines begin that are longer than [MaxLine]
	newlines int   // in text[lo:hi]
	last     int   // the last of them, -1: none
	hits     []anchor.Hit
}

// spot is a place of a block that holds needles.
type spot struct {
	pos  int
	line int // line feeds in text[lo:pos]
	care care
}

// survey searches the block.
func (b *block) survey(t *compiled) {
	b.findLong()

	end := b.hi // the last line is searched to its end, for who reads it wants to know all of it
	if b.hi > b.lo && b.text[b.hi-1] != '\n' {
		if i := bytes.IndexByte(b.text[b.hi:], '\n'); i >= 0 {
			end += i
		} else {
			end = len(b.text)
		}
	}
	b.hits = t.finder.Scan(b.text, b.lo, end, anchor.First, b.hits[:0])
	b.spots = b.spots[:0]
	for _, h := range b.hits {
		if c := t.cares[h.Needle]; c != 0 {
			b.spots = append(b.spots, spot{pos: h.Pos, care: c})
		}
	}
	if !slices.IsSortedFunc(b.spots, bySpot) {
		slices.SortStableFunc(b.spots, bySpot)
	}
	n, at := 0, b.lo
	for i := range b.spots {
		s := &b.spots[i]
		n += bytes.Count(b.text[at:s.pos], newline)
		at, s.line = s.pos, n
	}
	b.newlines = n
	if at < b.hi {
		b.newlines += bytes.Count(b.text[at:b.hi], newline)
	}
	if b.last = -1; b.newlines > 0 {
		b.last = b.lo + bytes.LastIndexByte(b.text[b.lo:b.hi], '\n')
	}
}

var newline = []byte{'\n'}

func bySpot(a, b spot) int { return a.pos - b.pos }

// findLong looks for lines that are longer than [MaxLine] and begin in the block: from a line's beginning it leaps to the
// last line feed that such a line could not reach.
func (b *block) findLong() {
	b.long = b.long[:0]
	at := b.lo
	if b.off+int64(at) > 0 && (at == 0 || b.text[at-1] != '\n') {
		i := bytes.IndexByte(b.text[at:b.hi], '\n')
		if i < 0 {
			return
		}
		at += i + 1
	}
	for at < b.hi {
		end := min(at+MaxLine+1, len(b.text))
		if i := bytes.LastIndexByte(b.text[at:end], '\n'); i >= 0 {
			at += i + 1
			continue
		}
		if end-at <= MaxLine {
			return // the end of the input
		}
		b.long = append(b.long, at)
		i := bytes.IndexByte(b.text[end:], '\n')
		if i < 0 {
			return
		}
		at = end + i + 1
	}
}
