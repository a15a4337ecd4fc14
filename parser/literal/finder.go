// Package literal finds a thousand literals in a log at a few gigabytes a second, in plain Go.
//
// A gram is 5 bytes. The search looks at the gram at every fourth offset. Wherever a literal of 8 bytes or more stands in the
// text, one of those offsets falls on a gram that lies wholly inside it, and which of its grams that is depends only on where
// the literal starts, modulo four. So four grams of each literal are registered, one for each remainder. A filter of 256 KiB,
// indexed by a hash of the gram, rejects nearly every other gram; fifteen look-ups are OR-ed before the first branch. A hash
// map of the registered grams and a comparison with the literal settle the rest.
package literal

import (
	"bytes"
	_ "embed" // healthy.txt
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	gramLen = 5
	stride  = 4
	// MinLen is the length of the shortest literal. One of fewer than wholeLen bytes is found only as a word of its own.
	MinLen = 6
	// MaxLen is the length of the longest literal.
	MaxLen   = 255
	wholeLen = stride + gramLen - 1 // a text of this length holds a whole gram wherever the stride falls

	loadLen   = 8                           // a gram is loaded together with the three bytes after it
	partLen   = 5 * stride                  // bytes whose grams are looked at one by one if one of them passes the filter
	blockLen  = 3 * partLen                 // bytes between two branches of the filter
	blockText = blockLen - stride + loadLen // bytes that a block loads

	// Filter entries are loaded four at a time and all but the first are thrown away: the loads then join without a
	// conversion in between.
	entriesLen = 4

	filterBits  = 18
	filterShift = 64 - filterBits
	gramBits    = 8 * gramLen
	gramMask    = 1<<gramBits - 1

	// hashMul mixes a gram. It is shifted so that the three bytes loaded behind the gram do not reach the product's top.
	// Of 200 random multipliers, it let the fewest grams of logs collide with those of the event literals.
	hashMul = 0xAF3F0D6FB73C32ED << (64 - gramBits) & (1<<64 - 1)
)

// MaxEscape is how many bytes of a terminal escape sequence before a word are looked at. "ESC[1;38;2;180;140;80m" has 20.
const MaxEscape = 32

// Finder finds literals in text. It does not change once built and serves any number of goroutines.
//
// A literal of 8 bytes or more is found wherever it occurs. A shorter one is found only as a word: after a delimiter (a blank or
// ASCII punctuation, the end of a color escape, or the edge of the text) and, if it has 6 bytes, before one too.
type Finder struct {
	literals []string
	longest  int
	filter   *[1<<filterBits + entriesLen - 1]byte // the fingerprint of the registered gram that hashes there, 0: none does
	slots    []slot                                // the registered grams, open addressing
	shift    uint8                                 // of a hash to a slot
	places   []place                               // places[0] is none
}

// slot is a registered gram and its first place. An empty slot has none.
type slot struct {
	gram  uint64
	first int32
}

// place is where a gram sits in a literal.
type place struct {
	id     int32
	offset int16 // of the gram in the literal; -1: the gram begins with the byte before the literal
	next   int32 // place of the same gram
}

// NewFinder builds a finder; a literal's id is its index. Literals may repeat and contain each other. Each has [MinLen] to
// [MaxLen] bytes and no line feed. A thousand literals take one to two milliseconds.
func NewFinder(literals []string) (*Finder, error) {
	f := &Finder{literals: slices.Clone(literals), filter: new([1<<filterBits + entriesLen - 1]byte)}
	choose := newChooser()
	grams := make([]registered, 0, 8*len(literals))
	for id, lit := range literals {
		if len(lit) < MinLen || len(lit) > MaxLen || strings.Contains(lit, "\n") {
			return nil, fmt.Errorf("literal %d %q: it must have %d to %d bytes and no line feed", id, lit, MinLen, MaxLen)
		}
		f.longest = max(f.longest, len(lit))
		if len(lit) < wholeLen {
			grams = appendWord(grams, lit, int32(id))
			continue
		}
		for _, at := range choose.best(lit) {
			grams = append(grams, registered{gramOf(lit[at:]), int32(id), int16(at)})
		}
	}
	f.register(grams)
	return f, nil
}

// registered is a gram to look for and one of its places.
type registered struct {
	gram   uint64
	id     int32
	offset int16
}

// register fills the filter and the map.
func (f *Finder) register(grams []registered) {
	size := uint8(4)
	for 1<<size < 2*len(grams) {
		size++
	}
	f.slots, f.shift, f.places = make([]slot, 1<<size), 64-size, make([]place, 1, 1+len(grams))
	for _, g := range grams {
		hash := g.gram * hashMul
		switch entry := &f.filter[hash>>filterShift]; *entry {
		case 0, fingerprint(hash):
			*entry = fingerprint(hash)
		default:
			*entry = severalGrams
		}
		s := f.slot(g.gram)
		f.places = append(f.places, place{g.id, g.offset, s.first})
		*s = slot{g.gram, int32(len(f.places) - 1)}
	}
}

// severalGrams is the fingerprint of an entry to which several registered grams hash.
const severalGrams = 0xff

// fingerprint distinguishes the grams of one filter entry, by bits of the hash that the entry's index does not hold. It is
// neither 0 nor severalGrams.
func fingerprint(hash uint64) byte { return 1 + byte(hash>>(filterShift-7)&0x7f) }

// slot returns the slot of a gram, or the empty one that it would take.
func (f *Finder) slot(gram uint64) *slot {
	for at := gram * hashMul >> f.shift; ; at = (at + 1) & uint64(len(f.slots)-1) {
		if s := &f.slots[at]; s.gram == gram || s.first == 0 {
			return s
		}
	}
}

// healthy is what logs are full of when all is well: lines of many programs, one of each kind.
//
//go:embed healthy.txt
var healthy string

// chooser picks the grams of literals that healthy logs hold least often.
type chooser struct {
	seen   [1 << filterBits]uint8 // how often the grams of [healthy] fall on each filter entry, as far as it counts
	chosen map[uint64]bool        // the grams of literals so far
}

func newChooser() *chooser {
	c := &chooser{chosen: map[uint64]bool{}}
	gram := uint64(0)
	for i := range len(healthy) {
		gram = gram>>8 | uint64(healthy[i])<<(gramBits-8)
		if n := &c.seen[gram*hashMul>>filterShift]; *n < math.MaxUint8 {
			*n++
		}
	}
	return c
}

// best returns the offsets of the grams to register for a literal: of those that leave the same remainder, one each. That is a gram
// which another literal needs too, or else the rarest, unless it is common: the fewer grams, the fewer collisions.
func (c *chooser) best(lit string) (best [stride]int) {
	least := [stride]int{math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt}
	for at := 0; at+gramLen <= len(lit); at++ {
		gram := gramOf(lit[at:])
		price := commonBytes*int(c.seen[gram*hashMul>>filterShift]) + commonBytesIn(lit[at:at+gramLen])
		if !c.chosen[gram] {
			price += commonBytes - 1
		}
		if r := at % stride; price < least[r] {
			best[r], least[r] = at, price
		}
	}
	for _, at := range best {
		c.chosen[gramOf(lit[at:])] = true
	}
	return best
}

// commonBytes is more than [commonBytesIn] returns.
const commonBytes = 3*gramLen + 1

// commonBytesIn ranks grams that the sample does not hold: numbers, spaces and lower-case letters are the most common.
func commonBytesIn(gram string) (n int) {
	for _, c := range []byte(gram) {
		switch {
		case c >= '0' && c <= '9':
			n += 3
		case c == ' ' || c == '.' || c == ':':
			n += 2
		case c >= 'a' && c <= 'z':
			n++
		}
	}
	return n
}

// appendWord registers a literal that is too short to hold a gram at every remainder: with the delimiters around it, which
// each make a gram of their own.
func appendWord(grams []registered, lit string, id int32) []registered {
	for at := 0; at+gramLen <= len(lit); at++ {
		grams = append(grams, registered{gramOf(lit[at:]), id, int16(at)})
	}
	for _, d := range []byte(delimiters + escapeEnds) {
		grams = append(grams, registered{gramOf(string(d) + lit), id, -1})
	}
	if endsWord(lit) {
		last := len(lit) - gramLen + 1
		for _, d := range []byte(delimiters) {
			grams = append(grams, registered{gramOf(lit[last:] + string(d)), id, int16(last)})
		}
	}
	return grams
}

// Hit is an occurrence of a literal.
type Hit struct {
	Pos int // offset of its first byte
	ID  int // of the literal
}

// Scan appends the occurrences that start in [lo, hi) to hits, each once. Those of one line come together and the lines in
// order; within a line the order is not defined. The text before lo and behind hi must be there as far as it is needed:
// [MaxEscape] bytes and the longest literal. It allocates only what hits needs.
func (f *Finder) Scan(text []byte, lo, hi int, hits []Hit) []Hit {
	end := min(hi+f.longest, len(text)) // a gram at the end of a literal may lie behind hi
	filter := f.filter
	x := lo
	last := min(end+blockText, len(text)) // the last block may go on behind end
	for rest := text[min(x, last):last]; len(rest) >= blockText; rest = rest[blockLen:] {
		t := (*[blockText]byte)(rest)
		// A helper function around each load would cost a fifth of the speed (Go 1.26).
		first := binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[0:8])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[4:12])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[8:16])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[12:20])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[16:24])*hashMul>>filterShift:])
		second := binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[20:28])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[24:32])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[28:36])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[32:40])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[36:44])*hashMul>>filterShift:])
		third := binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[40:48])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[44:52])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[48:56])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[52:60])*hashMul>>filterShift:]) |
			binary.LittleEndian.Uint32(filter[binary.LittleEndian.Uint64(t[56:64])*hashMul>>filterShift:])
		if (first|second|third)&0xff != 0 {
			for i, entries := range [...]uint32{first, second, third} {
				if entries&0xff != 0 {
					hits = f.part(text, last-len(rest)+i*partLen, lo, hi, hits)
				}
			}
		}
		x = last - len(rest) + blockLen
	}
	for ; x < end; x += stride {
		hits = f.gram(text, x, lo, hi, hits)
	}
	return hits
}

// part looks at each gram of a third of a block in which one passed the filter.
func (f *Finder) part(text []byte, x, lo, hi int, hits []Hit) []Hit {
	for end := x + partLen; x < end; x += stride {
		hash := load(text[x:]) * hashMul
		if entry := f.filter[hash>>filterShift]; entry != 0 && (entry == fingerprint(hash) || entry == severalGrams) {
			hits = f.gram(text, x, lo, hi, hits)
		}
	}
	return hits
}

// gram compares the text around x with the literals that hold the gram there.
func (f *Finder) gram(text []byte, x, lo, hi int, hits []Hit) []Hit {
	for i := f.slot(gramAt(text, x)).first; i > 0; i = f.places[i].next {
		p := &f.places[i]
		start := x - int(p.offset)
		if start < lo || start >= hi || !f.at(text, start, int(p.id)) {
			continue
		}
		// A word's grams overlap: it may have been found by the one before.
		if len(f.literals[p.id]) < wholeLen && f.has(hits, Hit{start, int(p.id)}) {
			continue
		}
		hits = append(hits, Hit{start, int(p.id)})
	}
	return hits
}

// has reports whether a hit is among others, which are in the order of their grams: behind one that is further back than the longest
// literal it cannot be. A window may have ten thousand hits.
func (f *Finder) has(hits []Hit, hit Hit) bool {
	for _, h := range slices.Backward(hits) {
		if h == hit || h.Pos+f.longest < hit.Pos {
			return h == hit
		}
	}
	return false
}

// at reports whether a literal stands at start, delimited as its length requires.
func (f *Finder) at(text []byte, start, id int) bool {
	lit := f.literals[id]
	end := start + len(lit)
	if start < 0 || end > len(text) || string(text[start:end]) != lit {
		return false
	}
	if len(lit) >= wholeLen {
		return true
	}
	return beginsWord(text, start) && (!endsWord(lit) || end == len(text) || isDelimiter(text[end]))
}

// endsWord reports whether a literal is so short that a delimiter must follow it.
func endsWord(lit string) bool { return len(lit) < wholeLen-1 }

func load(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// gramAt returns the gram at x, with line feeds for what lies outside of the text: its edges are delimiters.
func gramAt(text []byte, x int) uint64 {
	if x+loadLen <= len(text) {
		return load(text[x:]) & gramMask
	}
	padded := [loadLen]byte{'\n', '\n', '\n', '\n', '\n'}
	copy(padded[:gramLen], text[x:])
	return load(padded[:])
}

func gramOf(s string) uint64 {
	var b [loadLen]byte
	copy(b[:gramLen], s)
	return load(b[:])
}

// escapeEnds are the last bytes of the control sequences that stand before words: colors and "erase the line".
const escapeEnds = "mK"

// beginsWord reports whether no letter, digit or underscore of the same word stands before start: a delimiter does, or the last
// byte of a control sequence. Some programs lose the sequence's escape byte, so it may be missing.
func beginsWord(text []byte, start int) bool {
	if start == 0 || isDelimiter(text[start-1]) {
		return true
	}
	if strings.IndexByte(escapeEnds, text[start-1]) < 0 {
		return false
	}
	params := bytes.TrimRight(text[max(0, start-1-MaxEscape):start-1], "0123456789;")
	return bytes.HasSuffix(params, []byte{'['})
}

// delimiters are the bytes that end words.
var delimiters = func() string {
	var all []byte
	for c := range 0x80 {
		if isDelimiter(byte(c)) {
			all = append(all, byte(c))
		}
	}
	return string(all)
}()

// isDelimiter reports whether c ends a word. Bytes of other scripts do not, nor do control characters that text does not hold: each
// delimiter costs a gram for each word.
func isDelimiter(c byte) bool {
	switch {
	case c < ' ':
		return strings.IndexByte("\x00\t\n\r\x1b", c) >= 0
	case c == '_' || c >= 0x7f:
		return false
	}
	return (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
}
