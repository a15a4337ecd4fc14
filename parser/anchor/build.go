package anchor

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// A Plan is what takes long to find out about a set of needles: which of their grams to look for, and a multiplier under
// which these collide least with the grams that logs are full of. It is a value that a program can hold as a constant.
type Plan struct {
	Mul uint64
	// Grams holds, for each needle of 8 bytes or more in their order, the offsets of its four grams, one for each remainder
	// of the division by four.
	Grams string
}

// longest is how long a needle may be: a plan's offsets are bytes.
const longest = 255

// New builds a finder for the needles; a needle's id is its index. Equal needles and needles inside others are allowed.
// A needle has at least 4 bytes, at most 255, and no line feed. All are of the class [First]. For a thousand needles New
// takes some milliseconds; most of it is what a [Plan] spares.
func New(needles []string) (*Finder, error) { return Planned(needles, nil, Choose(needles, nil, 32)) }

// Planned is [New] with a class for each needle, nil for [First] everywhere, and a plan made before for both. A plan that
// was made for other needles is an error, as far as it can be told: the needles would not all be found.
func Planned(needles []string, classes []Class, plan Plan) (*Finder, error) {
	for id, n := range needles {
		if len(n) < minNeedle || len(n) > longest {
			return nil, fmt.Errorf("anchor: needle %d %q: shorter than %d bytes or longer than %d", id, n, minNeedle, longest)
		}
		if strings.Contains(n, "\n") {
			return nil, fmt.Errorf("anchor: needle %d %q: holds a line feed", id, n)
		}
	}
	if len(needles) >= maxGroups/stride {
		return nil, errors.New("anchor: too many needles")
	}
	f := &Finder{needles: slices.Clone(needles), classes: classes, mul: plan.Mul << gramShift}
	if classes == nil {
		f.classes = firstOnly(len(needles))
	}
	b := newBuilder(needles, f.classes)
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
				b.take(gramOf(n[rest[r]:]), int32(id), int(rest[r]))
			}
			rest = rest[stride:]
		}
	}
	if rest != "" {
		return nil, errStale
	}
	f.grams, f.groups = b.taken, b.groups
	return f, nil
}

func firstOnly(n int) []Class { return slices.Repeat([]Class{First}, n) }

var errStale = errors.New("anchor: the plan was made for other needles")

// Choose makes the plan for a set of needles of these classes (nil: all [First]), with so many tries for the multiplier. One
// takes about 20 microseconds; some thousands are worth their time where the plan is kept.
func Choose(needles []string, classes []Class, tries int) Plan {
	if classes == nil {
		classes = firstOnly(len(needles))
	}
	b := newBuilder(needles, classes)
	b.frequencies()
	offsets := make([]string, len(needles))
	for _, id := range inOrder(needles, classes) {
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
				b.take(gramOf(n[best:]), int32(id), best)
			}
			offsets[id] = string(at[:])
		}
	}
	return Plan{Mul: b.multiplier(tries), Grams: strings.Join(offsets, "")}
}

// inOrder returns the needles' ids, class by class and the shortest first: those have the least choice, and the grams they
// take are free for the others.
func inOrder(needles []string, classes []Class) []int {
	ids := make([]int, len(needles))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(bits.TrailingZeros8(uint8(classes[a])), bits.TrailingZeros8(uint8(classes[b]))),
			cmp.Compare(len(needles[a]), len(needles[b])),
		)
	})
	return ids
}

type builder struct {
	classes []Class
	common  gramMap      // occurrences per million
	list    []commonGram // the same, the most frequent first
	finder  *Finder      // whose table is filled; nil while a plan is made
	taken   gramMap      // the chosen grams: their group's number, from 1
	first   []uint64     // those of the needles of the first class
	groups  [][]place
	room    []place
}

type commonGram struct {
	gram  uint64
	count uint32 // per million
}

func newBuilder(needles []string, classes []Class) *builder {
	n := stride * len(needles)
	for _, s := range needles {
		if len(s) > tinyMax && delimitedBefore(s) {
			n += 2 * (len(codeEnds) + len(delimiters))
		}
	}
	return &builder{classes: classes, taken: newGramMap(n)}
}

// frequencies reads how common grams are.
func (b *builder) frequencies() {
	n := 0
	for _, class := range commonGrams {
		n += len(class) / gramLen
	}
	b.common, b.list = newGramMap(n), make([]commonGram, 0, n)
	for log2, class := range slices.Backward(commonGrams[:]) {
		for ; class != ""; class = class[gramLen:] {
			g := commonGram{gramOf(class), 1 << log2}
			b.common.put(g.gram, g.count)
			b.list = append(b.list, g)
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

// addWord takes the grams of a needle that is a byte or two shorter than what the filter needs: the bytes around it are
// delimiters, each of which makes a gram of its own, and so do the ends of control sequences.
func (b *builder) addWord(id int32, word string) {
	for i := 0; i+gramLen <= len(word); i++ {
		b.take(gramOf(word[i:]), id, i)
	}
	for _, d := range []byte(delimiters + codeEnds) {
		b.take(gramOf(string([]byte{d})+word), id, -1)
	}
	if last := len(word) - gramLen + 1; delimitedAfter(word) {
		for _, d := range []byte(delimiters) {
			b.take(gramOf(word[last:]+string([]byte{d})), id, last)
		}
	}
}

// take adds a gram, which is at that offset of a needle.
func (b *builder) take(g uint64, id int32, offset int) {
	class := b.classes[id]
	if b.finder != nil {
		b.finder.table[g*b.finder.mul>>tableShift] |= class
	} else if class&First != 0 {
		b.first = append(b.first, g)
	}
	b.taken.put(g, b.join(b.taken.get(g), place{id, int16(offset), class}))
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

// cost is how many look-ups in a million ask for one more needle if it is looked for by this gram.
func (b *builder) cost(g uint64) uint32 {
	c := b.common.get(g)
	if b.taken.get(g) == 0 {
		c += entryCost
	}
	return c
}

// multiplier returns the multiplier under which the fewest common grams share a table entry with one of the first class.
func (b *builder) multiplier(tries int) uint64 {
	best, least := uint64(1), uint64(math.MaxUint64)
	for i := range uint64(tries) {
		// Numbers all over the range, the same in every process.
		mul := (i + 1) * 0x9E3779B97F4A7C15
		mul = (mul ^ mul>>31) * 0xBF58476D1CE4E5B9
		mul = (mul ^ mul>>29) | 1
		if sum := b.collisions(mul<<gramShift, least); sum < least {
			best, least = mul, sum
		}
	}
	return best
}

// collisions returns how many of a million look-ups hit an entry, or a part of that which is not below limit.
func (b *builder) collisions(mul, limit uint64) uint64 {
	var used [1 << tableBits / 64]uint64
	for _, g := range b.first {
		h := g * mul >> tableShift
		used[h/64] |= 1 << (h % 64)
	}
	var sum uint64
	for _, g := range b.list {
		h := g.gram * mul >> tableShift
		sum += uint64(g.count) & -(used[h/64] >> (h % 64) & 1)
		if sum >= limit {
			break
		}
	}
	return sum
}

// gramOf returns the gram at the beginning of s.
func gramOf(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32
}

// gramMap maps grams to numbers from 1 to maxGroups. It is an open-addressed hash table, at most half full: a slot is the
// gram and behind it the number, 0 where it is free.
type gramMap struct {
	shift uint8
	slots []uint64
}

const (
	groupBits = 24
	maxGroups = 1<<groupBits - 1
	gramMul   = 0x9E3779B97F4A7C15 << gramShift & (1<<64 - 1)
)

func newGramMap(n int) gramMap {
	size := uint8(1)
	for 1<<size < 2*n {
		size++
	}
	return gramMap{shift: 64 - size, slots: make([]uint64, 1<<size)}
}

func (m *gramMap) get(g uint64) uint32 { return uint32(*m.slot(g) & maxGroups) }

func (m *gramMap) put(g uint64, value uint32) { *m.slot(g) = g<<groupBits | uint64(value) }

// slot returns where g is, or the free slot where it would go.
func (m *gramMap) slot(g uint64) *uint64 {
	mask := uint64(len(m.slots) - 1)
	for i := g * gramMul >> m.shift; ; i++ {
		s := &m.slots[i&mask]
		if *s&maxGroups == 0 || *s>>groupBits == g {
			return s
		}
	}
}
