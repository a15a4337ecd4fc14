// Package anchor finds the few places of a log that are worth looking at: the occurrences of a thousand literals, at a few
// gigabytes a second and in plain Go.
//
// How: a gram is 5 bytes. Whoever looks at the gram at every fourth offset of a text looks, wherever a literal (needle) of
// 8 bytes or more stands in it, at those of its grams whose offsets in the needle leave one remainder when divided by four.
// So four grams of each needle are chosen, one of each remainder. A table of 256 KiB, indexed by the top bits of
// gram*multiplier, tells them from others with few mistakes; 15 look-ups are OR-ed before the first branch. A map of the
// chosen grams settles the rest. Grams and multiplier are those under which the used entries of the table are asked for
// least by what logs are full of; see choose.go.
//
// Needles are of classes, and a search names the classes that it wants: those that a log is full of cost nothing while
// nobody asks for them.
package anchor

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

const (
	gramLen   = 5
	stride    = 4
	windowLen = stride + gramLen - 1 // the shortest text that holds a whole gram at whatever offset the stride falls
	minNeedle = 4
	tinyMax   = 5 // needles up to this length are too short for the filter and are searched one by one

	loadLen   = 8                           // a gram is read together with the bytes behind it, in one go
	blockLen  = 15 * stride                 // bytes between two branches of the filter
	blockText = blockLen - stride + loadLen // and what is read for them
	tinyBlock = 4 << 10                     // how far the filter runs ahead of the search for tiny needles

	// Entries are read four at a time, and all but the first are thrown away: so the processor reads and joins at once.
	entriesLen = 4

	tableBits  = 18
	tableLen   = 1<<tableBits + entriesLen - 1
	tableShift = 64 - tableBits
	gramShift  = 64 - 8*gramLen
)

// Class is a set of classes of needles, a bit for each. There are four.
type Class uint8

// The classes, in the order of what they cost: the grams of First are chosen before the others', and are kept rarest.
const (
	First Class = 1 << iota
	Second
	Third
	Fourth
	All = First | Second | Third | Fourth
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
	classes []Class
	maxLen  int
	mul     uint64
	table   *[tableLen]byte // [Class]: of which needles a chosen gram is, or one that collides with it
	grams   gramMap         // the chosen grams: where their places begin, from 1
	places  []place
}

// place is where a gram sits in a needle: the needle starts back bytes before it, or after it where back is negative (the
// gram then begins with the byte before the needle).
type place struct {
	key    uint64 // 8 bytes of the needle with the gram among them: most look-ups that hit end here
	needle int32
	back   int16
	keyAt  int8  // where those 8 bytes are in the text, from the gram: 1 to -3, or wordKey
	flags  Class // the needle's class, and lastPlace
}

const (
	wordKey   = 127         // the needle has not so many bytes
	lastPlace = Class(0x80) // of a gram
)

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
	s := samples{x: lo, hi: hi, class: All}
	for f.more(b, &s) {
		for x, i := f.step(b, &s); i > 0; x, i = f.step(b, &s) {
			for {
				p := &f.places[i-1]
				start := x - int(p.back)
				if f.likely(b, x, p) && start >= from && (!ok || start < pos) && f.at(b, start, int(p.needle)) {
					pos, ok = start, true
				}
				if i++; p.flags&lastPlace != 0 {
					break
				}
			}
			if ok {
				return pos, true
			}
		}
	}
	return 0, false
}

// Hit is an occurrence of a needle.
type Hit struct {
	Pos    int // offset of its first byte
	Needle int // index in the slice given to [New]
}

// Scan appends the occurrences of needles of a class that start in [lo, hi) to hits, each once, those of one line together
// and the lines in order. The needles of up to 5 bytes come behind all others. It does not allocate beyond what hits needs.
func (f *Finder) Scan(b []byte, lo, hi int, class Class, hits []Hit) []Hit {
	s := samples{x: lo, hi: min(hi+f.maxLen, len(b)), class: class} // not a variable of the loop, which each turn would copy
	for f.more(b, &s) {
		for found := s.hits; found != 0; {
			k := bits.TrailingZeros64(found) / 4
			found &^= 0xf << (4 * k)
			x := s.block + k*stride
			i := f.grams.get(gramAt(b, x))
			if i == 0 {
				continue
			}
			for {
				p := &f.places[i-1]
				start := x - int(p.back)
				if f.likely(b, x, p) && p.flags&class != 0 && start >= lo && start < hi && f.at(b, start, int(p.needle)) {
					hits = append(hits, Hit{start, int(p.needle)})
				}
				if i++; p.flags&lastPlace != 0 {
					break
				}
			}
		}
	}
	for _, id := range f.tiny {
		if f.classes[id]&class == 0 {
			continue
		}
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
	s := samples{hi: len(line), class: All}
	for f.more(line, &s) {
		for x, i := f.step(line, &s); i > 0; x, i = f.step(line, &s) {
			for {
				p := &f.places[i-1]
				word, bit := &seen[p.needle/64], uint64(1)<<(p.needle%64)
				if f.likely(line, x, p) && *word&bit == 0 && f.at(line, x-int(p.back), int(p.needle)) {
					*word |= bit
					if !yield(int(p.needle)) {
						return
					}
				}
				if i++; p.flags&lastPlace != 0 {
					break
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

// samples is a walk over the offsets lo, lo+stride, ... below hi of a text.
type samples struct {
	x     int // where the next block begins
	hi    int
	class Class
	block int    // where the last one began
	hits  uint64 // its look-ups that hit and were not yet taken, four bits each
}

// more goes to the next block in which a look-up hits. It is where a healthy log's time goes.
func (f *Finder) more(b []byte, s *samples) bool {
	mul, table, class := f.mul, f.table, s.class
	x := s.x
	if x < s.hi {
		// Cut where the last block ends that begins before hi, so that one length is all that is watched.
		end := min(s.hi-1+blockText, len(b))
		rest := b[min(x, end):end]
		for ; len(rest) >= blockText; rest = rest[blockLen:] {
			t := (*[blockText]byte)(rest)
			// A function of ours around each load would leave an instruction that does nothing, a fifth of all (go1.26).
			any := binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[0:8])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[4:12])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[8:16])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[12:20])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[16:24])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[20:28])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[24:32])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[28:36])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[32:40])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[36:44])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[40:48])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[44:52])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[48:56])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[52:60])*mul>>tableShift:]) |
				binary.LittleEndian.Uint32(table[binary.LittleEndian.Uint64(t[56:64])*mul>>tableShift:])
			if Class(any)&class == 0 {
				continue
			}
			x = end - len(rest)
			s.block, s.x = x, x+blockLen
			s.hits = f.look(t) & (uint64(class) * everySample)
			return true
		}
		x = end - len(rest)
	}
	for ; x < s.hi; x += blockLen {
		if hits := f.lookAtEnd(b, x, min(x+blockLen, s.hi)) & (uint64(class) * everySample); hits != 0 {
			s.block, s.x, s.hits = x, x+blockLen, hits
			return true
		}
	}
	s.x = x
	return false
}

const everySample = 0x1111_1111_1111_1111

// look returns all look-ups of a block.
func (f *Finder) look(t *[blockText]byte) uint64 {
	mul, table := f.mul, f.table
	return uint64(table[binary.LittleEndian.Uint64(t[0:8])*mul>>tableShift]) |
		uint64(table[binary.LittleEndian.Uint64(t[4:12])*mul>>tableShift])<<4 |
		uint64(table[binary.LittleEndian.Uint64(t[8:16])*mul>>tableShift])<<8 |
		uint64(table[binary.LittleEndian.Uint64(t[12:20])*mul>>tableShift])<<12 |
		uint64(table[binary.LittleEndian.Uint64(t[16:24])*mul>>tableShift])<<16 |
		uint64(table[binary.LittleEndian.Uint64(t[20:28])*mul>>tableShift])<<20 |
		uint64(table[binary.LittleEndian.Uint64(t[24:32])*mul>>tableShift])<<24 |
		uint64(table[binary.LittleEndian.Uint64(t[28:36])*mul>>tableShift])<<28 |
		uint64(table[binary.LittleEndian.Uint64(t[32:40])*mul>>tableShift])<<32 |
		uint64(table[binary.LittleEndian.Uint64(t[36:44])*mul>>tableShift])<<36 |
		uint64(table[binary.LittleEndian.Uint64(t[40:48])*mul>>tableShift])<<40 |
		uint64(table[binary.LittleEndian.Uint64(t[44:52])*mul>>tableShift])<<44 |
		uint64(table[binary.LittleEndian.Uint64(t[48:56])*mul>>tableShift])<<48 |
		uint64(table[binary.LittleEndian.Uint64(t[52:60])*mul>>tableShift])<<52 |
		uint64(table[binary.LittleEndian.Uint64(t[56:64])*mul>>tableShift])<<56
}

// lookAtEnd is look where a text ends.
func (f *Finder) lookAtEnd(b []byte, x, hi int) (hits uint64) {
	for k := 0; x < hi; k++ {
		hits |= uint64(f.table[gramAt(b, x)*f.mul>>tableShift]) << (4 * k)
		x += stride
	}
	return hits
}

// step takes the next sample of the block that is a chosen gram, and returns its offset and where its places begin, from 1;
// 0 when there are no more.
func (f *Finder) step(b []byte, s *samples) (x int, first uint32) {
	for s.hits != 0 {
		k := bits.TrailingZeros64(s.hits) / 4
		s.hits &^= 0xf << (4 * k)
		x = s.block + k*stride
		if i := f.grams.get(gramAt(b, x)); i != 0 {
			return x, i
		}
	}
	return 0, 0
}

// likely is false where the needle of a place of the gram at x is not there.
func (f *Finder) likely(b []byte, x int, p *place) bool {
	if p.keyAt == wordKey {
		return true
	}
	at := x + int(p.keyAt)
	return uint(at) <= uint(len(b)-loadLen) && len(b) >= loadLen && load(b[at:]) == p.key
}

// load reads the gram at the beginning of b and the bytes behind it.
func load(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// gramAt returns the gram at x. Behind the end of b it reads line feeds: the edge of a text is a delimiter.
func gramAt(b []byte, x int) uint64 {
	if x+loadLen <= len(b) {
		return load(b[x:]) & (1<<(8*gramLen) - 1)
	}
	t := [loadLen]byte{'\n', '\n', '\n', '\n', '\n'}
	copy(t[:gramLen], b[x:])
	return load(t[:])
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

// delimiters are the bytes that end words.
var delimiters = func() string {
	var all []byte
	for c := range 256 {
		if isDelimiter(byte(c)) {
			all = append(all, byte(c))
		}
	}
	return string(all)
}()

// isDelimiter reports whether c ends a word. The bytes of other scripts do not: with them a short needle would fill
// three times as much of the table.
func isDelimiter(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c >= 0x80:
		return false
	}
	return true
}
