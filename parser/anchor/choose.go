package anchor

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
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
	shapes  []commonShape
	asked   [1 << tableBits]uint32 // what it costs to use an entry for grams that others ask for
	used    [1 << tableBits / 64]uint64
}

type commonGram struct {
	gram  uint64
	count uint32 // parts of a million
}

// commonShape is of grams that differ in their digits only.
type commonShape struct {
	gram   uint64 // with zeros for digits
	digits []int  // where they are in it
	asked  uint32 // what each of its grams adds to the cost of its entry
}

// part is what counts are in: a million look-ups that all hit still cost less than 1<<32.
const part = 256

// What a look-up costs that hits, in parts of what it costs to find out that one did.
const (
	hitCost   = 16
	placeCost = 4 // for each needle that is compared then
	// Any used entry is asked for by grams that are too rare to be known. They are a tenth of all.
	entryCost = hitCost * 100_000 * part >> tableBits
)

// newChooser makes a chooser, which knows of shapes only if it is to be thorough: they make it ten times slower.
func newChooser(needles []string, classes []Class, thorough bool) *chooser {
	if classes == nil {
		classes = firstOnly(len(needles))
	}
	c := &chooser{needles: needles, classes: classes, order: inOrder(needles, classes)}
	for log2, class := range slices.Backward(commonGrams[:]) {
		for ; class != ""; class = class[gramLen:] {
			c.common = append(c.common, commonGram{gramOf(class), part << log2})
		}
	}
	if thorough {
		for log2, class := range slices.Backward(commonShapes[:]) {
			for ; class != ""; class = class[gramLen:] {
				c.shapes = append(c.shapes, shapeOf(class[:gramLen], 1<<log2))
			}
		}
	}
	known, shaped := newGramMap(len(c.common)), newGramMap(len(c.shapes))
	for _, g := range c.common {
		known.put(g.gram, g.count)
	}
	for i := range c.shapes {
		shaped.put(c.shapes[i].gram, max(1, c.shapes[i].asked/hitCost))
	}
	count := func(g uint64) uint32 {
		if n := known.get(g); n != 0 {
			return n
		}
		return shaped.get(withoutDigits(g))
	}
	c.grams, c.outside = make([][]commonGram, len(needles)), make([][]commonGram, len(needles))
	for id, n := range needles {
		add := func(g uint64, _ int) { c.grams[id] = append(c.grams[id], commonGram{g, count(g)}) }
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
			if least > outsideWorth {
				outsideGrams(n, func(g uint64) { c.outside[id] = append(c.outside[id], commonGram{g, count(g)}) })
			}
		}
	}
	return c
}

// outsideWorth is what the grams inside a needle must cost for those that begin before it to be thought of.
const outsideWorth = 32 * entryCost

// shapeOf returns a shape whose grams are together so many of a million.
func shapeOf(text string, count int) commonShape {
	s := commonShape{gram: gramOf(text)}
	grams := 1
	for i, c := range []byte(text) {
		if c == '0' {
			s.digits = append(s.digits, i)
			grams *= 10
		}
	}
	s.asked = uint32((hitCost*part*count + grams/2) / grams)
	return s
}

// withoutDigits returns a gram with zeros for its digits.
func withoutDigits(g uint64) uint64 {
	for i := range gramLen {
		if c := g >> (8 * i) & 0xff; c >= '0' && c <= '9' {
			g -= (c - '0') << (8 * i)
		}
	}
	return g
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

// shortest is how many bits a multiplier has at least. Shorter ones leave entries unused.
const shortest = 16

// multiplier returns the best one of so many.
//
// Half of them are numbers of all lengths, for the short ones are often better: grams that differ in their first byte or two
// share entries or have them side by side, so that all times, or all that may stand before a word, ask for few. The others
// are near the best one so far.
func (c *chooser) multiplier(tries int) uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	shapes := c.shapes
	defer func() { c.shapes = shapes }()
	best, least := uint64(1), uint64(math.MaxUint64)
	for i := range tries {
		mul := r.Uint64() >> (gramShift + r.IntN(8*gramLen-shortest+1))
		if i > tries/2 {
			mul = best ^ 1<<r.IntN(8*gramLen) ^ mul&r.Uint64()&r.Uint64()
		}
		// Most are not good enough even if there were no shapes.
		if c.shapes = nil; c.choose(mul, least, First, nil) >= least {
			continue
		}
		c.shapes = shapes
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
	c.expect(mul)
	clear(c.used[:])
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

// expect says of each entry what it would cost to use it under a multiplier.
func (c *chooser) expect(mul uint64) {
	clear(c.asked[:])
	for _, g := range c.common {
		c.asked[g.gram*mul>>tableShift] += hitCost * g.count
	}
	for i := range c.shapes {
		s := &c.shapes[i]
		var steps [gramLen]uint64
		for k, at := range s.digits {
			steps[k] = mul << (8 * at)
		}
		c.ask(s.gram*mul, steps[:len(s.digits)], s.asked)
	}
}

// ask adds to the entries of the products that are reached by up to nine steps of each kind.
func (c *chooser) ask(product uint64, steps []uint64, asked uint32) {
	if len(steps) == 0 {
		c.asked[product>>tableShift] += asked
		return
	}
	for range 10 {
		if len(steps) > 1 {
			c.ask(product, steps[1:], asked)
		} else {
			c.asked[product>>tableShift] += asked
		}
		product += steps[0]
	}
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
