package anchor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Plan is what takes long to find out about a set of needles: which of their grams to look for, and a multiplier under
// which these collide least with the grams that logs are full of. It is a value that a program can hold as a constant.
type Plan struct {
	Mul uint64
	// Grams holds, for each needle of 8 bytes or more in their order, the offsets of its four grams, one for each remainder
	// of the division by four. The last may be [outside].
	Grams string
}

// outside is the offset, in a plan, of a gram that begins a byte before the needle: of all that may stand there. Logs may be
// full of the only gram inside a short needle that has its remainder; 256 rare ones are cheaper to look for then.
const outside = 255

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
	if len(needles) >= maxPlaces/stride {
		return nil, errors.New("anchor: too many needles")
	}
	f := &Finder{needles: slices.Clone(needles), classes: classes, mul: plan.Mul << gramShift}
	if classes == nil {
		f.classes = firstOnly(len(needles))
	}
	b := builder{finder: f, grams: make([]gramPlace, 0, gramsOf(needles))}
	rest := plan.Grams
	for id, n := range needles {
		f.maxLen = max(f.maxLen, len(n))
		switch {
		case len(n) <= tinyMax:
			f.tiny = append(f.tiny, id)
		case delimitedBefore(n):
			wordGrams(n, func(g uint64, offset int) { b.take(g, id, offset) })
		default:
			if len(rest) < stride {
				return nil, errStale
			}
			for r := range stride {
				switch at := int(rest[r]); {
				case at%stride != r, at != outside && at+gramLen > len(n):
					return nil, errStale
				case at == outside:
					outsideGrams(n, func(g uint64) { b.take(g, id, -1) })
				default:
					b.take(gramOf(n[at:]), id, at)
				}
			}
			rest = rest[stride:]
		}
	}
	if rest != "" {
		return nil, errStale
	}
	b.finish()
	return f, nil
}

func firstOnly(n int) []Class { return slices.Repeat([]Class{First}, n) }

var errStale = errors.New("anchor: the plan was made for other needles")

// Choose makes the plan for a set of needles of these classes (nil: all [First]), with so many tries for the multiplier. One
// takes a tenth or two of a millisecond. With a thousand or more, what is known of numbers is looked at too: that takes a
// millisecond or two for the tries that are any good, and makes the filter hit half as often. They are worth their time
// where the plan is kept.
func Choose(needles []string, classes []Class, tries int) Plan {
	c := newChooser(needles, classes, tries >= thoroughTries)
	mul := c.multiplier(tries)
	return Plan{Mul: mul, Grams: c.plan(mul)}
}

const thoroughTries = 1000

// Grams returns the grams of the plan for a set of needles under a multiplier that was found in a thousand tries or more.
func Grams(needles []string, classes []Class, mul uint64) string {
	return newChooser(needles, classes, true).plan(mul)
}

// builder fills a finder.
type builder struct {
	finder *Finder
	grams  []gramPlace // as they are chosen
}

type gramPlace struct {
	gram uint64
	place
}

// gramsOf is how many grams the needles have, or a few more.
func gramsOf(needles []string) int {
	n := stride * len(needles)
	for _, s := range needles {
		if len(s) > tinyMax && delimitedBefore(s) {
			n += len(codeEnds) + len(delimiters)
			if delimitedAfter(s) {
				n += len(delimiters)
			}
		}
	}
	return n
}

// take adds a gram, which is at that offset of a needle.
func (b *builder) take(g uint64, id, offset int) {
	f := b.finder
	at := place{needle: int32(id), back: int16(offset), keyAt: wordKey, flags: f.classes[id]}
	if n := f.needles[id]; len(n) >= loadLen {
		from := max(0, offset-(loadLen-gramLen))
		at.key, at.keyAt = load([]byte(n[from:from+loadLen])), int8(from-offset)
	}
	b.grams = append(b.grams, gramPlace{g, at})
}

// finish lays the places of each gram end to end, in the order in which they came.
func (b *builder) finish() {
	f := b.finder
	f.table, f.grams, f.places = new([tableLen]byte), newGramMap(len(b.grams)), make([]place, len(b.grams))
	for i := range b.grams {
		g := &b.grams[i]
		f.table[g.gram*f.mul>>tableShift] |= byte(g.flags)
		f.grams.put(g.gram, f.grams.get(g.gram)+1)
	}
	next := uint32(0)
	for i := range f.grams.len() {
		if g, n := f.grams.at(i); n > 0 {
			f.grams.put(g, next+1)
			next += n
			f.places[next-1].flags = lastPlace
		}
	}
	for i := range b.grams {
		g := &b.grams[i]
		at := f.grams.get(g.gram) - 1
		for f.places[at].flags&^lastPlace != 0 {
			at++
		}
		g.flags |= f.places[at].flags
		f.places[at] = g.place
	}
}

// outsideGrams calls yield with the grams that begin a byte before a needle.
func outsideGrams(needle string, yield func(g uint64)) {
	inside := gramOf(needle) << 8 & (1<<(8*gramLen) - 1)
	for c := range uint64(256) {
		yield(inside | c)
	}
}

// wordGrams calls yield with the grams of a needle that is a byte or two shorter than what the filter needs, and with their
// offsets: the bytes around it are delimiters, each of which makes a gram of its own, and so do the ends of control sequences.
func wordGrams(word string, yield func(g uint64, offset int)) {
	for i := 0; i+gramLen <= len(word); i++ {
		yield(gramOf(word[i:]), i)
	}
	const all = 1<<(8*gramLen) - 1
	for _, d := range []byte(delimiters + codeEnds) {
		yield(gramOf(word)<<8&all|uint64(d), -1)
	}
	if last := len(word) - gramLen + 1; delimitedAfter(word) {
		for _, d := range []byte(delimiters) {
			yield(gramOf(word[last-1:])>>8|uint64(d)<<(8*(gramLen-1)), last)
		}
	}
}

// gramOf returns the gram at the beginning of s.
func gramOf(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32
}
