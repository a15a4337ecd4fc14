package anchor

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// New builds a finder for the needles; a needle's id is its index. Equal needles and needles inside others are allowed.
// A needle has at least 4 bytes and no line feed. New takes less than a millisecond for some hundred needles.
func New(needles []string) (*Finder, error) {
	for id, n := range needles {
		if len(n) < minNeedle {
			return nil, fmt.Errorf("anchor: needle %d %q: shorter than %d bytes", id, n, minNeedle)
		}
		if strings.Contains(n, "\n") {
			return nil, fmt.Errorf("anchor: needle %d %q: holds a line feed", id, n)
		}
	}
	if len(needles) > math.MaxInt32 {
		return nil, errors.New("anchor: too many needles")
	}
	f := &Finder{needles: slices.Clone(needles)}
	b := newBuilder(needles)
	for _, id := range byLength(needles) {
		n := needles[id]
		f.maxLen = max(f.maxLen, len(n))
		switch {
		case len(n) <= tinyMax:
			f.tiny = append(f.tiny, id)
		case delimitedBefore(n):
			b.addWord(int32(id), n)
		default:
			b.add(int32(id), n)
		}
	}
	f.windows, f.grams, f.groups = b.windows, b.words, b.groups
	f.mul = b.multiplier()
	for _, s := range b.grams.slots {
		if s.value != 0 {
			f.table[s.gram*f.mul>>tableShift] |= byte(s.value)
		}
	}
	return f, nil
}

// byLength returns the needles' ids, the shortest first: those have the least choice, and the grams they take are free for
// the others.
func byLength(needles []string) []int {
	ids := make([]int, len(needles))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(len(needles[a]), len(needles[b])) })
	return ids
}

type builder struct {
	common  gramMap    // occurrences per million
	list    []gramSlot // the same, the most frequent first
	grams   gramMap    // those of the chosen windows and of the short needles: their entry in the table
	windows windowMap  // the chosen windows: their group's number, from 1
	words   gramMap    // the grams of the short needles: their group's number, from 1
	groups  [][]place
}

func newBuilder(needles []string) *builder {
	words := 0
	for _, n := range needles {
		if len(n) > tinyMax && delimitedBefore(n) {
			words++
		}
	}
	marginal := 2 * (128 + len(codeEnds)) * words
	b := &builder{
		grams: newGramMap(stride*len(needles) + marginal), words: newGramMap(marginal), windows: newWindowMap(2 * len(needles)),
	}
	n := 0
	for _, class := range commonGrams {
		n += len(class) / gramLen
	}
	b.common, b.list = newGramMap(n), make([]gramSlot, 0, n)
	for log2, class := range slices.Backward(commonGrams[:]) {
		for ; class != ""; class = class[gramLen:] {
			s := gramSlot{gramOf(class), 1 << log2}
			b.common.put(s)
			b.list = append(b.list, s)
		}
	}
	return b
}

// add chooses the grams of a needle: of those at offsets that leave the same remainder the rarest, for one of each
// remainder is looked at wherever the needle stands. With each gram goes a window of the needle that it is in.
func (b *builder) add(id int32, needle string) {
	last := len(needle) - windowLen
	for r := range stride {
		best, least := r, b.cost(gramOf(needle[r:]))
		for i := r + stride; i+gramLen <= len(needle); i += stride {
			if c := b.cost(gramOf(needle[i:])); c < least {
				best, least = i, c
			}
		}
		at := min(best-r, last)
		b.take(gramOf(needle[best:]), 1<<(best-at))
		w := windowOf(needle[at:])
		s := b.windows.add(w)
		p := place{id, int32(at)}
		if s.group == 0 || !slices.Contains(b.groups[s.group-1], p) {
			s.group = b.join(s.group, p)
		}
	}
}

// addWord takes the grams of a needle that is a byte or two shorter than a window: the bytes around it are delimiters,
// each of which makes a gram of its own, and so do the ends of control sequences.
func (b *builder) addWord(id int32, word string) {
	for i := 0; i+gramLen <= len(word); i++ {
		b.takeWord(gramOf(word[i:]), place{id, int32(i)})
	}
	last := len(word) - gramLen + 1
	for c := range 256 {
		delimiter := isDelimiter(byte(c))
		d := string([]byte{byte(c)})
		if delimiter || strings.Contains(codeEnds, d) {
			b.takeWord(gramOf(d+word[:gramLen-1]), place{id, -1})
		}
		if delimiter && delimitedAfter(word) {
			b.takeWord(gramOf(word[last:]+d), place{id, int32(last)})
		}
	}
}

// take adds a gram with a bit of its entry in the table.
func (b *builder) take(g uint32, bit uint32) {
	s := b.grams.slot(g)
	s.gram = g
	s.value |= bit
}

// takeWord adds a gram of a short needle.
func (b *builder) takeWord(g uint32, at place) {
	b.take(g, wordPhase)
	s := b.words.slot(g)
	s.gram = g
	s.value = b.join(s.value, at)
}

// join adds a place to a group, or to a new one if the number is 0, and returns the group's number.
func (b *builder) join(group uint32, at place) uint32 {
	if group == 0 {
		b.groups = append(b.groups, nil)
		group = uint32(len(b.groups))
	}
	b.groups[group-1] = append(b.groups[group-1], at)
	return group
}

// entryCost is what any gram costs: one more used entry of the table is hit by chance that often in a million.
const entryCost = 1_000_000 >> tableBits

// cost is how many look-ups in a million a gram would add to the work.
func (b *builder) cost(g uint32) uint32 {
	if b.grams.get(g) != 0 {
		return 0
	}
	return b.common.get(g) + entryCost
}

// multiplierTries bounds the search for a multiplier: one try costs a few microseconds, and more of them gain little.
const multiplierTries = 32

// multiplier returns the multiplier under which the fewest common grams share a table entry with a taken one.
func (b *builder) multiplier() uint32 {
	best, least := uint32(1), uint64(math.MaxUint64)
	for i := range uint32(multiplierTries) {
		// Numbers all over the range, the same in every process. The even ones do not tell the highest bits of a gram's
		// last byte apart, and so the many grams of one needle that end in a delimiter share few entries.
		mul := (i + 1) * 0x9E3779B9
		mul = ((mul^mul>>15)*0x2C1B3C6D | 1) << (i % 5)
		if sum := b.collisions(mul, least); sum < least {
			best, least = mul, sum
		}
	}
	return best
}

// collisions returns how many of a million look-ups hit an entry, or a part of that which is not below limit.
func (b *builder) collisions(mul uint32, limit uint64) uint64 {
	var used [1 << tableBits / 64]uint64
	for _, s := range b.grams.slots {
		if s.value != 0 {
			h := s.gram * mul >> tableShift
			used[h/64] |= 1 << (h % 64)
		}
	}
	var sum uint64
	for _, s := range b.list {
		h := s.gram * mul >> tableShift
		sum += uint64(s.value) & -(used[h/64] >> (h % 64) & 1)
		if sum >= limit {
			break
		}
	}
	return sum
}

func gramOf(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func windowOf(s string) uint64 {
	return uint64(gramOf(s)) | uint64(gramOf(s[gramLen:]))<<32
}

// gramMap maps grams to values other than zero. It is an open-addressed hash table, at most half full.
type gramMap struct {
	shift uint8
	slots []gramSlot
}

type gramSlot struct {
	gram  uint32
	value uint32 // 0: free
}

func newGramMap(n int) gramMap {
	bits := uint8(1)
	for 1<<bits < 2*n {
		bits++
	}
	return gramMap{shift: 32 - bits, slots: make([]gramSlot, 1<<bits)}
}

func (m *gramMap) put(s gramSlot) { *m.slot(s.gram) = s }

func (m *gramMap) get(g uint32) uint32 { return m.slot(g).value }

// slot returns where g is, or the free slot where it would go.
func (m *gramMap) slot(g uint32) *gramSlot {
	mask := uint32(len(m.slots) - 1)
	for i := g * 0x9E3779B1 >> m.shift; ; i++ {
		s := &m.slots[i&mask]
		if s.value == 0 || s.gram == g {
			return s
		}
	}
}

// windowMap maps windows to the numbers of groups. It is an open-addressed hash table, at most a quarter full: nearly all
// that is looked up is not in it.
type windowMap struct {
	shift uint8
	slots []windowSlot
	some  [1 << someBits / 64]uint64 // bits of all windows' hashes: most look-ups end here, in the nearest cache
}

const someBits = 17

type windowSlot struct {
	window uint64
	group  uint32 // 0: free
}

func newWindowMap(n int) windowMap {
	bits := uint8(3)
	for 1<<bits < 4*n {
		bits++
	}
	return windowMap{shift: 64 - bits, slots: make([]windowSlot, 1<<bits)}
}

func (m *windowMap) get(w uint64) uint32 { return m.slot(w).group }

func (m *windowMap) add(w uint64) *windowSlot {
	h := w * windowMul >> (64 - someBits)
	m.some[h/64] |= 1 << (h % 64)
	s := m.slot(w)
	s.window = w
	return s
}

func (m *windowMap) has(w uint64) bool {
	h := w * windowMul >> (64 - someBits)
	return m.some[h/64]>>(h%64)&1 != 0 && m.slot(w).group != 0
}

const windowMul = 0x9E3779B97F4A7C15

// slot returns where w is, or the free slot where it would go.
func (m *windowMap) slot(w uint64) *windowSlot {
	mask := uint64(len(m.slots) - 1)
	for i := w * windowMul >> m.shift; ; i++ {
		s := &m.slots[i&mask]
		if s.group == 0 || s.window == w {
			return s
		}
	}
}
