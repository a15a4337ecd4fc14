// Package anchor finds the few places of a log that are worth looking at: the occurrences of some hundred literals,
// at a few gigabytes a second and in plain Go.
//
// How: a gram is 4 bytes. Whoever looks at the gram at every fifth offset of a text looks, wherever a literal (needle) of 8
// bytes or more stands in it, at those of its grams whose offsets in the needle leave one remainder when divided by five.
// So five grams of each needle are chosen, the rarest of each remainder. A table of 256 KiB, indexed by the top bits of
// gram*multiplier, tells them from others with few mistakes; 12 look-ups are OR-ed before the first branch. The entry also
// says how far before the gram 8 bytes of the needle (a window) begin: with one more look-up these decide. The multiplier is
// the one under which the chosen grams collide least with those that logs are full of; see grams.go.
package anchor

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

const (
	gramLen   = 4
	stride    = 5
	windowLen = stride + gramLen - 1 // the shortest text that holds a whole gram at whatever offset the stride falls
	minNeedle = 4
	tinyMax   = 5 // needles up to this length are too short for the filter and are searched one by one

	blockLen  = 12 * stride // bytes between two branches of the filter
	tinyBlock = 4 << 10     // how far the filter runs ahead of the search for tiny needles

	tableBits  = 18
	tableShift = 32 - tableBits

	wordPhase = 1 << stride // in a table entry: the gram is of a short needle
)

// MaxCode is how many bytes of a terminal's colour code before a needle are looked at. "ESC[1;38;2;180;140;80m" has 20.
const MaxCode = 32

// Finder finds needles in text. It does not change once built and may be used by any number of goroutines.
//
// A needle of 8 bytes or more is found wherever it occurs. A shorter one is found only as a word: with a delimiter (an
// ASCII byte other than a letter, digit or underscore, the end of a terminal's colour code, or the edge of the text)
// before it, and, if it has 6 bytes or less, one after it too. Those of 4 and 5 bytes cost a separate pass over the
// text each.
//
// To search a text in chunks, and to find each occurrence that starts in [lo, hi), hand in the bytes
// [lo-MaxCode, hi+MaxLen).
type Finder struct {
	needles []string
	tiny    []int // needles of at most tinyMax bytes
	maxLen  int
	mul     uint32
	table   [1 << tableBits]byte // bit k: a chosen gram k bytes behind its window's beginning, or one that collides with it
	windows windowMap            // the windows of the needles that fill one: their group's number, from 1
	grams   gramMap              // of the shorter needles: the number of a gram's group, from 1
	groups  [][]place
}

// place is where a window or a gram sits in a needle: the needle starts back bytes before it, or after it where back is
// negative (a gram then begins with a delimiter).
type place struct{ needle, back int32 }

// MaxLen returns the length of the longest needle in bytes.
func (f *Finder) MaxLen() int { return f.maxLen }

// Next returns the offset of an occurrence of a needle that starts at from or later. No line before the one it is in
// holds such an occurrence; in its own line it need not be the first. It does not allocate.
func (f *Finder) Next(b []byte, from int) (pos int, ok bool) {
	from = max(from, 0)
	if len(f.tiny) == 0 {
		return f.next(b, from, from, len(b))
	}
	for lo := from; lo < len(b); lo += tinyBlock {
		hi := min(lo+tinyBlock, len(b))
		pos, ok = f.next(b, from, lo, hi)
		for _, id := range f.tiny {
			if p := f.indexTiny(b, id, lo, hi); p >= 0 && (!ok || p < pos) {
				pos, ok = p, true
			}
		}
		if ok {
			return pos, true
		}
	}
	return 0, false
}

// next finds the needles that the filter covers, looking at samples from lo up to hi.
func (f *Finder) next(b []byte, from, lo, hi int) (pos int, ok bool) {
	for x, v := f.sample(b, lo, hi); v != 0; x, v = f.sample(b, x+stride, hi) {
		for at, places, v := f.around(b, x, v); places != nil; at, places, v = f.around(b, x, v) {
			for _, p := range places {
				start := at - int(p.back)
				if start >= from && (!ok || start < pos) && f.at(b, start, int(p.needle)) {
					pos, ok = start, true
				}
			}
		}
		if ok {
			return pos, true
		}
	}
	return 0, false
}

// Hit is an occurrence of a needle.
type Hit struct {
	Pos    int // offset of its first byte
	Needle int // index in the slice given to [New]
}

// Scan appends the occurrences that start in [lo, hi) to hits, each once, those of one line together and the lines in
// order. The needles of up to 5 bytes come behind all others. It does not allocate beyond what hits needs.
func (f *Finder) Scan(b []byte, lo, hi int, hits []Hit) []Hit {
	end := min(hi+f.maxLen, len(b))
	first := len(hits)
	for x, v := f.sample(b, lo, end); v != 0; x, v = f.sample(b, x+stride, end) {
		for at, places, v := f.around(b, x, v); places != nil; at, places, v = f.around(b, x, v) {
			for _, p := range places {
				start := at - int(p.back)
				if start < lo || start >= hi || !f.at(b, start, int(p.needle)) || known(hits[first:], start, int(p.needle)) {
					continue
				}
				hits = append(hits, Hit{start, int(p.needle)})
			}
		}
	}
	for _, id := range f.tiny {
		for at := lo; at < hi; {
			i := f.indexTiny(b, id, at, hi)
			if i < 0 {
				break
			}
			hits = append(hits, Hit{i, id})
			at = i + 1
		}
	}
	return hits
}

// known says whether one of the last hits is of that needle at that place: a gram may stand in a short needle twice, and a
// window is met at two offsets of a needle that repeats itself.
func known(hits []Hit, pos, needle int) bool {
	for i := len(hits) - 1; i >= 0 && i >= len(hits)-8; i-- {
		if hits[i].Pos == pos && hits[i].Needle == needle {
			return true
		}
	}
	return false
}

// seenWords is how many words of 64 needles [Finder.Needles] keeps on its stack.
const seenWords = 32

// Needles calls yield once for each needle that occurs in line, with its index in the slice given to [New], in no
// particular order. Needles inside others and equal needles count each. It stops when yield returns false. It does not
// allocate unless there are more than 2048 needles.
func (f *Finder) Needles(line []byte, yield func(id int) bool) {
	var stack [seenWords]uint64
	seen := stack[:]
	if len(f.needles) > 64*seenWords {
		seen = make([]uint64, (len(f.needles)+63)/64)
	}
	for x, v := f.sample(line, 0, len(line)); v != 0; x, v = f.sample(line, x+stride, len(line)) {
		for at, places, v := f.around(line, x, v); places != nil; at, places, v = f.around(line, x, v) {
			for _, p := range places {
				word, bit := &seen[p.needle/64], uint64(1)<<(p.needle%64)
				if *word&bit != 0 || !f.at(line, at-int(p.back), int(p.needle)) {
					continue
				}
				*word |= bit
				if !yield(int(p.needle)) {
					return
				}
			}
		}
	}
	for _, id := range f.tiny {
		if f.indexTiny(line, id, 0, len(line)) >= 0 && !yield(id) {
			return
		}
	}
}

// sample returns the first of the offsets lo, lo+stride, ... below hi that is in a window or in a short needle, and what to
// begin [Finder.around] with; 0 when there is no such offset.
func (f *Finder) sample(b []byte, lo, hi int) (x int, phases byte) {
	mul, table := f.mul, &f.table
	for x = lo; x+blockLen <= hi; x += blockLen {
		t := (*[blockLen]byte)(b[x:])
		any := table[gram(t[0:4])*mul>>tableShift] | table[gram(t[5:9])*mul>>tableShift] |
			table[gram(t[10:14])*mul>>tableShift] | table[gram(t[15:19])*mul>>tableShift] |
			table[gram(t[20:24])*mul>>tableShift] | table[gram(t[25:29])*mul>>tableShift] |
			table[gram(t[30:34])*mul>>tableShift] | table[gram(t[35:39])*mul>>tableShift] |
			table[gram(t[40:44])*mul>>tableShift] | table[gram(t[45:49])*mul>>tableShift] |
			table[gram(t[50:54])*mul>>tableShift] | table[gram(t[55:59])*mul>>tableShift]
		if any == 0 {
			continue
		}
		if i, v := f.look(b, x); v != 0 {
			return i, v
		}
	}
	return f.lookAtEnd(b, x, hi)
}

// look is sample for one block, after x of which some look-up hit. It finds the look-ups that did without a branch for each
// that did not.
func (f *Finder) look(b []byte, x int) (int, byte) {
	mul, table := f.mul, &f.table
	t := (*[blockLen]byte)(b[x:])
	low := uint64(table[gram(t[0:4])*mul>>tableShift]) | uint64(table[gram(t[5:9])*mul>>tableShift])<<8 |
		uint64(table[gram(t[10:14])*mul>>tableShift])<<16 | uint64(table[gram(t[15:19])*mul>>tableShift])<<24 |
		uint64(table[gram(t[20:24])*mul>>tableShift])<<32 | uint64(table[gram(t[25:29])*mul>>tableShift])<<40
	high := uint64(table[gram(t[30:34])*mul>>tableShift]) | uint64(table[gram(t[35:39])*mul>>tableShift])<<8 |
		uint64(table[gram(t[40:44])*mul>>tableShift])<<16 | uint64(table[gram(t[45:49])*mul>>tableShift])<<24 |
		uint64(table[gram(t[50:54])*mul>>tableShift])<<32 | uint64(table[gram(t[55:59])*mul>>tableShift])<<40
	for _, hits := range [2]uint64{low, high} {
		for hits != 0 {
			k := bits.TrailingZeros64(hits) / 8
			v := byte(hits >> (8 * k))
			if i := x + k*stride; f.real(b, i, v) {
				return i, v
			}
			hits &^= 0xff << (8 * k)
		}
		x += 6 * stride
	}
	return x, 0
}

// real says whether the gram at x, whose table entry is v, is where the entry says: in a window, or in a short needle.
func (f *Finder) real(b []byte, x int, v byte) bool {
	for phases := v & (wordPhase - 1); phases != 0; phases &= phases - 1 {
		at := x - bits.TrailingZeros8(phases)
		if at >= 0 && at+windowLen <= len(b) && f.windows.has(binary.LittleEndian.Uint64(b[at:])) {
			return true
		}
	}
	return v&wordPhase != 0 && f.grams.get(gram(b[x:])) != 0
}

// lookAtEnd is sample for the end of a text.
func (f *Finder) lookAtEnd(b []byte, x, hi int) (int, byte) {
	for ; x < hi; x += stride {
		if v := f.table[gramAt(b, x)*f.mul>>tableShift]; v != 0 {
			if _, places, _ := f.around(b, x, v); places != nil {
				return x, v
			}
		}
	}
	return x, 0
}

// around returns the places of a window around the gram at x, or of a short needle's gram there, the offset of that window
// or gram, and what is left of phases, which the table has for the gram: several windows may overlap there. It returns no
// places when there are no more.
func (f *Finder) around(b []byte, x int, phases byte) (at int, places []place, rest byte) {
	for phases&(wordPhase-1) != 0 {
		at = x - bits.TrailingZeros8(phases)
		phases &= phases - 1
		if at < 0 || at+windowLen > len(b) {
			continue
		}
		if i := f.windows.get(binary.LittleEndian.Uint64(b[at:])); i != 0 {
			return at, f.groups[i-1], phases
		}
	}
	if phases != 0 {
		if i := f.grams.get(gramAt(b, x)); i != 0 {
			return x, f.groups[i-1], 0
		}
	}
	return 0, nil, 0
}

// gram reads the first four bytes of b as a number.
func gram(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// gramAt reads the gram at x. Behind the end of b it reads line feeds: the edge of a text is a delimiter.
func gramAt(b []byte, x int) uint32 {
	if x+gramLen <= len(b) {
		return gram(b[x:])
	}
	t := [gramLen]byte{'\n', '\n', '\n', '\n'}
	copy(t[:], b[x:])
	return gram(t[:])
}

// at reports whether a needle stands at start, bounded as its length asks for.
func (f *Finder) at(b []byte, start, id int) bool {
	n := f.needles[id]
	end := start + len(n)
	return start >= 0 && end <= len(b) && string(b[start:end]) == n &&
		(!delimitedBefore(n) || beginsWord(b, start)) &&
		(!delimitedAfter(n) || end == len(b) || isDelimiter(b[end]))
}

// indexTiny returns the offset of the first occurrence of a tiny needle that starts in [lo, hi), or -1.
func (f *Finder) indexTiny(b []byte, id, lo, hi int) int {
	n := f.needles[id]
	end := min(hi+len(n)-1, len(b))
	for lo < end {
		i := bytes.Index(b[lo:end], []byte(n))
		if i < 0 {
			return -1
		}
		if f.at(b, lo+i, id) {
			return lo + i
		}
		lo += i + 1
	}
	return -1
}

func delimitedBefore(needle string) bool { return len(needle) < windowLen }

func delimitedAfter(needle string) bool { return len(needle) < windowLen-1 }

// codeEnds are the last bytes of the control sequences that stand in front of words: colours, and "erase the line".
const codeEnds = "mK"

// beginsWord reports whether nothing of a word stands before start: a delimiter, or the last byte of a control sequence.
// Some programs lose the sequence's escape byte, so that one is not asked for.
func beginsWord(b []byte, start int) bool {
	if start == 0 || isDelimiter(b[start-1]) {
		return true
	}
	if strings.IndexByte(codeEnds, b[start-1]) < 0 {
		return false
	}
	for i := start - 2; i >= max(0, start-MaxCode); i-- {
		switch c := b[i]; {
		case c == '[':
			return true
		case c >= '0' && c <= ';': // digits, ':' and ';'
		default:
			return false
		}
	}
	return false
}

// isDelimiter reports whether c ends a word. The bytes of other scripts do not: with them a short needle would fill
// three times as much of the table.
func isDelimiter(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c >= 0x80:
		return false
	}
	return true
}
