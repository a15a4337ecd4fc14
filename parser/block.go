package parser

import (
	"bytes"
	"slices"

	"oomscan/parser/anchor"
)

// Around a block the bytes are needed in which its last line ends, and those in which a message of a huge line begins.
const behind = maxExcerpt

// ahead is how many bytes behind a block are needed at most: a line to the limit of its length and one more, and what is
// looked at of a longer one at a time.
func ahead(maxLine int) int { return max(maxLine+1, stretchAhead) }

// block is a part of an input and what the finder saw in it: everything about it that can be told without what came
// before. Any number of blocks may be surveyed at once.
type block struct {
	text []byte
	off  int64 // of text in the input
	// text[lo:hi] is the block's own. Unless the input ends sooner, text has behind bytes before and, where a line
	// goes on behind hi, what is left of it or ahead bytes.
	lo, hi  int
	maxLine int // bytes of a line that is read as a whole

	spots    []spot
	asides   []aside
	begun    int   // where the line ends that began before the block; lo: there is none
	long     []int // where the lines begin that are longer than maxLine
	over     []int // where each of them ends, as far as that is in the text
	newlines int   // in text[lo:hi]
	counted  int   // up to where they are counted; behind hi, where the last line goes on, there are none
	last     int   // the last of them, -1: none

	*surveyor // who surveys it, nil when nobody does
}

// surveyor is what it takes to survey one block after the other.
type surveyor struct {
	table  *compiled
	hits   []anchor.Hit
	prober prober
}

func newSurveyor(t *compiled) *surveyor { return &surveyor{table: t, prober: prober{table: t}} }

// spot is a place of a block that holds needles.
type spot struct {
	pos  int
	line int // line feeds in text[lo:pos]

	needle int32 // one of them
	care   care
}

// silent says that nothing about the line asks for its being read.
func (s *spot) silent() bool { return s.care&hopeless != 0 && s.care&^(tries|hopeless) == 0 }

// cold says that the needle asks for nothing before something happens.
func (s *spot) cold() bool { return s.care&^(common|marks) == 0 }

// survey searches the block: for everything, or for all but what is looked for later.
func (b *block) survey(by *surveyor, everything bool) {
	b.surveyor = by
	defer func() { b.surveyor = nil }()
	t := by.table
	b.spots, b.counted, b.newlines = b.spots[:0], b.lo, 0
	class := anchor.First
	if everything {
		class = anyClass
	}
	b.search(t, b.lo, b.hi, class)
	b.findLong()
	b.search(t, b.hi, b.searched(), class)
	b.probe(t)
	b.setAside(t)
	if b.last = -1; b.newlines > 0 {
		b.last = b.lo + bytes.LastIndexByte(b.text[b.lo:b.hi], '\n')
	}
}

// within says that the block is a part of one line.
func (b *block) within() bool {
	return b.begun == len(b.text) && b.hi > b.lo && b.text[b.hi-1] != '\n'
}

// searchStep is searched before its lines are counted: the first of the processor's caches still holds it then.
const searchStep = 16 << 10

// search looks for a class of needles in text[lo:hi].
func (b *block) search(t *compiled, lo, hi int, class anchor.Class) {
	for ; lo < hi; lo += searchStep {
		end := min(lo+searchStep, hi)
		b.hits = t.finder.Scan(b.text, lo, end, class, b.hits[:0])
		from := len(b.spots)
		for _, h := range b.hits {
			if c := t.cares[h.Needle]; c != 0 {
				b.spots = append(b.spots, spot{pos: h.Pos, needle: int32(h.Needle), care: c})
			}
		}
		found := b.spots[from:]
		if !slices.IsSortedFunc(found, bySpot) {
			slices.SortStableFunc(found, bySpot)
		}
		for i := range found {
			b.count(found[i].pos)
			found[i].line = b.newlines
		}
		b.count(end)
	}
}

// count counts line feeds up to an offset, if that was not done.
func (b *block) count(to int) {
	if b.counted < to {
		b.newlines += bytes.Count(b.text[b.counted:to], newline)
		b.counted = to
	}
}

// searched is up to where the block is searched: who reads its last line wants to know all of it. Of a line that is longer
// than maxLine a part is read.
func (b *block) searched() int {
	switch rest := b.text[b.hi:]; {
	case b.hi == b.lo || b.text[b.hi-1] == '\n' || len(rest) == 0:
		return b.hi
	case b.within() && b.hi-b.lo > b.maxLine:
		rest = rest[:min(stretchAhead, len(rest))]
		for _, end := range "\r\n" {
			if i := bytes.IndexByte(rest, byte(end)); i >= 0 {
				rest = rest[:i]
			}
		}
		return b.hi + len(rest)
	default:
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			return b.hi + i
		}
		return len(b.text)
	}
}

var newline = []byte{'\n'}

func bySpot(a, b spot) int { return a.pos - b.pos }

// findLong looks for lines that are longer than maxLine and begin in the block, whose line feeds are counted: from a line's
// beginning it leaps to the last line feed that such a line could not reach.
func (b *block) findLong() {
	b.long, b.over = b.long[:0], b.over[:0]
	at := b.lo
	if b.off+int64(at) > 0 && (at == 0 || b.text[at-1] != '\n') {
		if b.newlines == 0 {
			b.begun = len(b.text)
			return
		}
		at += bytes.IndexByte(b.text[at:b.hi], '\n') + 1
	}
	b.begun = at
	for at < b.hi {
		end := min(at+b.maxLine+1, len(b.text))
		if i := bytes.LastIndexByte(b.text[at:end], '\n'); i >= 0 {
			at += i + 1
			continue
		}
		if end-at <= b.maxLine {
			return // the end of the input
		}
		b.long, b.over = append(b.long, at), append(b.over, len(b.text))
		i := bytes.IndexByte(b.text[end:], '\n')
		if i < 0 {
			return
		}
		at = end + i + 1
		b.over[len(b.over)-1] = at
	}
}
