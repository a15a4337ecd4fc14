package anchor

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// chooser looks for the multiplier, and for those grams of each needle, under which the table's used entries are asked for
// least where all is well: by the chosen grams themselves, and by others that share an entry with them.
type chooser struct {
	needles []string
	classes []Class
	order   []int          // the needles, as they choose
	grams   [][]commonGram // all of each needle, or what it has instead of a choice
	outside [][]commonGram // those that begin before the needle, where that might be the better choice
	common  []commonGram
	asked   [1 << tableBits]uint32 // how many look-ups in a million ask for an entry
	used    [1 << tableBits / 64]uint64
}

type commonGram struct {
	gram  uint64
	count uint32 // per million
}

// What a look-up costs that hits, in parts of what it costs to find out that one did.
const (
	hitCost   = 16
	placeCost = 4 // for each needle that is compared then
	// Any used entry is asked for by grams that are too rare to be known. They are a tenth of all.
	entryCost = hitCost * 100_000 >> tableBits
)

func newChooser(needles []string, classes []Class) *chooser {
	if classes == nil {
		classes = firstOnly(len(needles))
	}
	c := &chooser{needles: needles, classes: classes, order: inOrder(needles, classes)}
	for log2, class := range slices.Backward(commonGrams[:]) {
		for ; class != ""; class = class[gramLen:] {
			c.common = append(c.common, commonGram{gramOf(class), 1 << log2})
		}
	}
	known := newGramMap(len(c.common))
	for _, g := range c.common {
		known.put(g.gram, g.count)
	}
	c.grams, c.outside = make([][]commonGram, len(needles)), make([][]commonGram, len(needles))
	for id, n := range needles {
		add := func(g uint64, _ int) { c.grams[id] = append(c.grams[id], commonGram{g, known.get(g)}) }
		switch {
		case len(n) <= tinyMax, len(n) > longest:
		case delimitedBefore(n):
			wordGrams(n, add)
		default:
			for i := 0; i+gramLen <= len(n); i++ {
				add(gramOf(n[i:]), i)
			}
			least := uint64(math.MaxUint64)
			for i := outside % stride; i < len(c.grams[id]); i += stride {
				least = min(least, (hitCost+placeCost)*uint64(c.grams[id][i].count))
			}
			if least > 256*entryCost {
				outsideGrams(n, func(g uint64) { c.outside[id] = append(c.outside[id], commonGram{g, known.get(g)}) })
			}
		}
	}
	return c
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

// multiplier returns the best one of so many.
func (c *chooser) multiplier(tries int) uint64 {
	best, least := uint64(1), uint64(math.MaxUint64)
	for i := range uint64(tries) {
		// Numbers all over the range, the same in every process.
		mul := (i + 1) * 0x9E3779B97F4A7C15
		mul = (mul ^ mul>>31) * 0xBF58476D1CE4E5B9
		mul = (mul ^ mul>>29) | 1
		if cost := c.choose(mul, least, First, nil); cost < least {
			best, least = mul, cost
		}
	}
	return best
}

// plan returns a plan's grams under a multiplier.
func (c *chooser) plan(mul uint64) string {
	offsets := make([]string, len(c.needles))
	c.choose(mul, math.MaxUint64, All, func(id int, at [stride]byte) { offsets[id] = string(at[:]) })
	return strings.Join(offsets, "")
}

// choose chooses the grams of the needles of some classes and returns what they cost, or a part of that which is not below
// limit. It tells yield, which may be nil, of the needles that have a choice.
func (c *chooser) choose(mul, limit uint64, classes Class, yield func(id int, at [stride]byte)) (cost uint64) {
	mul <<= gramShift
	clear(c.asked[:])
	clear(c.used[:])
	for _, g := range c.common {
		c.asked[g.gram*mul>>tableShift] += hitCost * g.count
	}
	for _, id := range c.order {
		grams := c.grams[id]
		switch n := c.needles[id]; {
		case c.classes[id]&classes == 0, len(grams) == 0:
		case delimitedBefore(n):
			for _, g := range grams {
				cost += c.use(g, mul)
			}
		default:
			var at [stride]byte
			for r := range stride {
				best, least := r, c.price(grams[r], mul)
				for i := r + stride; i < len(grams); i += stride {
					if price := c.price(grams[i], mul); price < least {
						best, least = i, price
					}
				}
				if out := c.outside[id]; r == outside%stride && out != nil && c.priceOf(out, mul) < least {
					at[r] = outside
					for _, g := range out {
						cost += c.use(g, mul)
					}
					continue
				}
				at[r] = byte(best)
				cost += c.use(grams[best], mul)
			}
			if yield != nil {
				yield(id, at)
			}
		}
		if cost >= limit {
			break
		}
	}
	return cost
}

// price is what it costs to look for one more needle by this gram.
func (c *chooser) price(g commonGram, mul uint64) uint64 {
	price := placeCost * uint64(g.count)
	if e := g.gram * mul >> tableShift; c.used[e/64]>>(e%64)&1 == 0 {
		price += uint64(c.asked[e]) + entryCost
	}
	return price
}

func (c *chooser) priceOf(grams []commonGram, mul uint64) (price uint64) {
	for _, g := range grams {
		price += c.price(g, mul)
	}
	return price
}

func (c *chooser) use(g commonGram, mul uint64) uint64 {
	price := c.price(g, mul)
	e := g.gram * mul >> tableShift
	c.used[e/64] |= 1 << (e % 64)
	return price
}
