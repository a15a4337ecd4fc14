// Package anchor finds the few places of a log that are worth looking at: the occurrences of some hundred literals,
// at a few gigabytes a second and in plain Go.
//
// How: of each literal (needle) of 8 bytes or more one window of 8 bytes is chosen. A window holds five 4-byte grams,
// and so whoever looks at the gram at every fifth offset of a text looks at one gram of every window that occurs in it.
// A 64 KiB table, indexed by the top bits of gram*multiplier, tells grams of windows from others with few mistakes; 12
// look-ups are OR-ed before the first branch. What passes is compared exactly. The windows are the rarest part of each
// needle and the multiplier is the one that collides least with the grams that logs are full of; see grams.go.
package anchor

import (
	"bytes"
	"encoding/binary"
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

	tableBits = 16
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
	table   [1 << tableBits]byte // bit k: the gram at offset k of some window, or one that collides with it
	grams   gramMap              // the number of a gram's group, from 1
	groups  [][]place
}

// place is where a gram sits in a needle: the needle starts back bytes before the gram, or after it where back is
// negative (the gram then begins with a delimiter).
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
	for x, group := f.sample(b, lo, hi); group != nil; x, group = f.sample(b, x+stride, hi) {
		for _, p := range group {
			start := x - int(p.back)
			if start >= from && (!ok || start < pos) && f.at(b, start, int(p.needle)) {
				pos, ok = start, true
			}
		}
		if ok {
			return pos, true
		}
	}
	return 0, false
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
	for x, group := f.sample(line, 0, len(line)); group != nil; x, group = f.sample(line, x+stride, len(line)) {
		for _, p := range group {
			word, bit := &seen[p.needle/64], uint64(1)<<(p.needle%64)
			if *word&bit != 0 || !f.at(line, x-int(p.back), int(p.needle)) {
				continue
			}
			*word |= bit
			if !yield(int(p.needle)) {
				return
			}
		}
	}
	for _, id := range f.tiny {
		if f.indexTiny(line, id, 0, len(line)) >= 0 && !yield(id) {
			return
		}
	}
}

// sample returns the first of the offsets lo, lo+stride, ... below hi at which a gram of a needle is, and the places
// of that gram. It returns no places when there is no such offset.
func (f *Finder) sample(b []byte, lo, hi int) (x int, group []place) {
	mul, table := f.mul, &f.table
	for x = lo; x+blockLen <= hi; x += blockLen {
		t := (*[blockLen]byte)(b[x:])
		hit := table[gram(t[0:4])*mul>>tableBits] | table[gram(t[5:9])*mul>>tableBits] |
			table[gram(t[10:14])*mul>>tableBits] | table[gram(t[15:19])*mul>>tableBits] |
			table[gram(t[20:24])*mul>>tableBits] | table[gram(t[25:29])*mul>>tableBits] |
			table[gram(t[30:34])*mul>>tableBits] | table[gram(t[35:39])*mul>>tableBits] |
			table[gram(t[40:44])*mul>>tableBits] | table[gram(t[45:49])*mul>>tableBits] |
			table[gram(t[50:54])*mul>>tableBits] | table[gram(t[55:59])*mul>>tableBits]
		if hit == 0 {
			continue
		}
		for i := x; i < x+blockLen; i += stride {
			g := gram(b[i:])
			if v := table[g*mul>>tableBits]; v == 0 || !f.plausible(b, i, v) {
				continue
			}
			if group = f.group(g); group != nil {
				return i, group
			}
		}
	}
	for ; x < hi; x += stride {
		g := gramAt(b, x)
		if table[g*mul>>tableBits] == 0 {
			continue
		}
		if group = f.group(g); group != nil {
			return x, group
		}
	}
	return x, nil
}

// plausible reports whether the gram next to the one at x, whose table entry is v, is in the table too, at the next
// offset of a window. It spares most mistakes the exact comparison. There must be five bytes at x.
func (f *Finder) plausible(b []byte, x int, v byte) bool {
	if v&(f.table[gram(b[x+1:])*f.mul>>tableBits]>>1) != 0 {
		return true
	}
	const last = 1 << (stride - 1)
	return v&last != 0 && x > 0 && f.table[gram(b[x-1:])*f.mul>>tableBits]&(last>>1) != 0
}

// group returns the places of a gram, nil if no window holds it.
func (f *Finder) group(g uint32) []place {
	if i := f.grams.get(g); i != 0 {
		return f.groups[i-1]
	}
	return nil
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
