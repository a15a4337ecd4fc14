package anchor

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Plan is what takes long to find out about a set of needles: which of their grams to look for, and a multiplier under
// which these collide least with the grams that logs are full of. It is a value that a program can hold as a constant.
type Plan struct {
	Mul uint32
	// Grams holds, for each needle of 8 bytes or more in their order, the offsets of its five grams, one for each remainder
	// of the division by five.
	Grams string
}

// longest is how long a needle may be: a plan's offsets are bytes.
const longest = 255

// New builds a finder for the needles; a needle's id is its index. Equal needles and needles inside others are allowed.
// A needle has at least 4 bytes, at most 255, and no line feed. For a thousand needles New takes some milliseconds; most
// of it is what a [Plan] spares.
func New(needles []string) (*Finder, error) { return Planned(needles, Choose(needles, 32)) }

// Planned is [New] with a plan made before. A plan that was made for other needles is an error, as far as it can be told:
// the needles would not all be found.
func Planned(needles []string, plan Plan) (*Finder, error) {
	for id, n := range needles {
		if len(n) < minNeedle || len(n) > longest {
			return nil, fmt.Errorf("anchor: needle %d %q: shorter than %d bytes or longer than %d", id, n, minNeedle, longest)
		}
		if strings.Contains(n, "\n") {
			return nil, fmt.Errorf("anchor: needle %d %q: holds a line feed", id, n)
		}
	}
	if len(needles) > math.MaxInt32 {
		return nil, errors.New("anchor: too many needles")
	}
	f := &Finder{needles: slices.Clone(needles), mul: plan.Mul}
	b := newBuilder(needles)
	b.finder = f
	rest := plan.Grams
	for id, n := range needles {
		f.maxLen = max(f.maxLen, len(n))
		switch {
		case len(n) <= tinyMax:
			f.tiny = append(f.tiny, id)
		case delimitedBefore(n):
			b.addWord(int32(id), n)
		default:
			if len(rest) < stride {
				return nil, errStale
			}
			for r := range stride {
				if at := int(rest[r]); at%stride != r || at+gramLen > len(n) {
					return nil, errStale
				}
				b.add(int32(id), n, int(rest[r]))
			}
			rest = rest[stride:]
		}
	}
	if rest != "" {
		return nil, errStale
	}
	f.windows, f.grams, f.groups = b.windows, b.words, b.groups
	return f, nil
}

var errStale = errors.New("anchor: the plan was made for other needles")

// Choose makes the plan for a set of needles, with so many tries for the multiplier. One takes about 20 microseconds; some
// thousands are worth their time where the plan is kept.
func Choose(needles []string, tries int) Plan {
	b := newBuilder(needles)
	b.grams = newGramMap(stride*len(needles) + len(b.words.slots)/2)
	b.frequencies()
	offsets := make([]string, len(needles))
	for _, id := range byLength(needles) {
		n := needles[id]
		switch {
		case len(n) < minNeedle || len(n) > longest || len(n) <= tinyMax:
		case delimitedBefore(n):
			b.addWord(int32(id), n)
		default:
			var at [stride]byte
			for r := range stride {
				best := b.rarest(n, r)
				at[r] = byte(best)
				b.add(int32(id), n, best)
			}
			offsets[id] = string(at[:])
		}
	}
	return Plan{Mul: b.multiplier(tries), Grams: strings.Join(offsets, "")}
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
	finder  *Finder    // whose table is filled; nil while a plan is made
	grams   gramMap    // those chosen and those of the short needles: their entry in the table; while a plan is made
	windows windowMap  // the chosen windows: their group's number, from 1
	words   gramMap    // the grams of the short needles: their group's number, from 1
	groups  [][]place
	room    []place
}

func newBuilder(needles []string) *builder {
	words := 0
	for _, n := range needles {
		if len(n) > tinyMax && delimitedBefore(n) {
			words++
		}
	}
	delimiters := len(codeEnds)
	for c := range 256 {
		if isDelimiter(byte(c)) {
			delimiters++
		}
	}
	return &builder{words: newGramMap((2*delimiters + gramLen) * words), windows: newWindowMap(stride * len(needles))}
}

// frequencies reads how common grams are.
func (b *builder) frequencies() {
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
}

// rarest returns the offset of the rarest of a needle's grams whose offsets leave the remainder r: one of each remainder is
// looked at wherever the needle stands.
func (b *builder) rarest(needle string, r int) int {
	best, least := r, b.cost(gramOf(needle[r:]))
	for i := r + stride; i+gramLen <= len(needle); i += stride {
		if c := b.cost(gramOf(needle[i:])); c < least {
			best, least = i, c
		}
	}
	return best
}

// add takes the gram at an offset of a needle, and with it a window of the needle that it is in.
func (b *builder) add(id int32, needle string, offset int) {
	at := min(offset/stride*stride, len(needle)-windowLen)
	b.take(gramOf(needle[offset:]), 1<<(offset-at))
	w := windowOf(needle[at:])
	s := b.windows.add(w)
	s.group = b.join(s.group, place{id, int32(at)})
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
	if b.finder != nil {
		b.finder.table[g*b.finder.mul>>tableShift] |= byte(bit)
		return
	}
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

// join returns the number of a group of places with one more in it; group 0 is empty. Many grams of a short needle are at
// the same place, beside one delimiter or another: they share a group.
func (b *builder) join(group uint32, at place) uint32 {
	if group == 0 {
		if n := len(b.groups); n > 0 && len(b.groups[n-1]) == 1 && b.groups[n-1][0] == at {
			return uint32(n)
		}
		b.groups = append(b.groups, b.places(at))
		return uint32(len(b.groups))
	}
	old := b.groups[group-1]
	if slices.Contains(old, at) {
		return group
	}
	b.groups = append(b.groups, append(b.places(old...), b.places(at)...))
	return uint32(len(b.groups))
}

// places is a slice of places out of a larger one.
func (b *builder) places(at ...place) []place {
	if cap(b.room)-len(b.room) < len(at) {
		b.room = make([]place, 0, max(1024, len(at)))
	}
	from := len(b.room)
	b.room = append(b.room, at...)
	return b.room[from:len(b.room):len(b.room)]
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

// multiplier returns the multiplier under which the fewest common grams share a table entry with a taken one.
func (b *builder) multiplier(tries int) uint32 {
	best, least := uint32(1), uint64(math.MaxUint64)
	for i := range uint32(tries) {
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

// windowMap maps windows to the numbers of groups. It is an open-addressed hash table, at most four fifths full.
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
	for 1<<bits <= n+n/4 {
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
