package parser

import (
	"bytes"
	"slices"

	"oomscan/parser/anchor"
	"oomscan/parser/envelope"
)

// Some lines tell where a run is and are a good part of all its lines: steps, and the stages of each. Nobody needs them
// before something happens, and then only the last ones. The same holds for the marks of printed samples. So these cold
// lines are not searched for: when they are needed, the input is looked through backwards, from there to where that was
// done last. An input that cannot be read again is searched for them like for everything else, and what it says is the same.

const (
	// maxLookBack is how far off such a line may be. It bounds the time when there are few of them.
	maxLookBack = 256 << 20
	// maxMarkBack is how far off a mark may be for which of the lines that wait are text of a sample.
	maxMarkBack = 1 << 20
	// maxRead bounds the lines remembered for having been read when they were met.
	maxRead = 64 << 10
	// maxRoom is how much room for the lines that were found is kept for the next time.
	maxRoom = 256 << 10
	// maxLong bounds the long lines that are remembered: as many as are not too far off, were they no longer than by default.
	maxLong = maxLookBack / DefaultLine
)

// common are the cares of such lines.
const common = commonPhase | commonStep

var coldKinds = [...]int{sampleKind, commonPhaseKind, commonStepKind}

// The classes of needles.
const (
	commonClass = anchor.Second // of those that common lines hold, when they hold no other
	markClass   = anchor.Fourth // and samples' marks
	coldClass   = commonClass | markClass
	anyClass    = anchor.First | coldClass
)

// reach is how far off a cold line of that kind may be.
func (t *compiled) reach(kind int) int64 {
	if kind == sampleKind {
		return t.markBack
	}
	return t.lookBack
}

// history is what a scanner knows about the part of its input behind it.
type history struct {
	looked  int64    // what begins before was looked through
	marked  int64    // and before this for marks, as far as somebody is near who needs them
	read    []int64  // where the common lines began that were read when they were met
	long    []extent // the lines longer than maxLine
	parts   []span   // what was read of them behind their beginnings
	buf     []byte
	regions []region
	hits    []anchor.Hit
	others  []anchor.Hit
	pieces  []anchor.Hit
	found   []sighting
	waited  []waiting
	room    []byte // for their texts
}

// sighting is a cold line.
type sighting struct {
	kind int
	waiting
}

// coldIn says what the needles of a class ask for that begin in text[lo:hi].
func (s *Scanner) coldIn(text []byte, lo, hi int, class anchor.Class) (c care) {
	s.history.hits = s.table.finder.Scan(text, lo, hi, class, s.history.hits[:0])
	for _, h := range s.history.hits {
		c |= s.table.cares[h.Needle]
	}
	return c
}

// wasRead notes that a common line was read, and need not be found again.
func (s *Scanner) wasRead(offset int64) {
	h := &s.history
	if len(h.read) == maxRead {
		h.read = slices.Delete(h.read, 0, maxRead/2)
		h.looked = max(h.looked, h.read[0])
	}
	h.read = append(h.read, offset)
}

// lookBack looks for the last cold lines before the place that is being read, and lets them wait like others.
func (s *Scanner) lookBack() {
	h := &s.history
	to := s.recall.now
	from := max(h.looked, to-s.table.lookBack)
	h.found, h.room = h.found[:0], h.room[:0]
	seen := tally{marksFrom: to - s.table.reach(sampleKind)}
	line := s.line // in which hi is
	window := s.window()
	long := h.long
	for hi := to; hi > from && !seen.full(hi); {
		for len(long) > 0 && long[len(long)-1].from >= hi {
			long = long[:len(long)-1]
		}
		lo := max(from, hi-window)
		if len(long) > 0 {
			last := long[len(long)-1]
			if last.to >= hi {
				if last.ended && last.to == hi {
					line--
				}
				s.sightLong(&last, from, hi, line, to, &seen)
				hi = last.from
				continue
			}
			lo = max(lo, last.to)
		}
		text, ok := s.past(max(0, lo-1), hi)
		if !ok {
			break // the input is not what it was
		}
		if lo > 0 {
			i := bytes.IndexByte(text, '\n')
			if i < 0 || lo+int64(i) >= hi {
				hi = lo
				continue
			}
			text, lo = text[i+1:], lo+int64(i)
		}
		s.sight(text, lo, line, &seen)
		line -= bytes.Count(text, newline)
		hi = lo
	}
	h.looked = to
	s.forgetPast()
	s.remind()
}

// keep copies a text for as long as lines are looked for.
func (h *history) keep(text []byte) []byte {
	h.room = append(h.room, text...)
	return h.room[len(h.room)-len(text):]
}

// window is how much is looked through at a time: a line not longer than maxLine ends in it.
func (s *Scanner) window() int64 { return 2 * int64(max(s.maxLine, DefaultLine)) }

// lengthy notes a line longer than maxLine, which begins at from and goes on up to text[to] of the block.
func (s *Scanner) lengthy(b *block, from int64, to int) {
	h := &s.history
	switch n := len(h.long); {
	case s.again == nil:
		return
	case n == maxLong:
		h.looked = max(h.looked, h.long[n/2].to)
		h.long = slices.Delete(h.long, 0, n/2+1)
	}
	h.long = append(h.long, extent{from: from, body: from})
	s.lengthens(b, to)
}

// lengthens notes that the long line which is being read goes on up to text[to] of the block.
func (s *Scanner) lengthens(b *block, to int) {
	if n := len(s.history.long); n > 0 {
		e := &s.history.long[n-1]
		e.to, e.ended = b.off+int64(to), to > 0 && b.text[to-1] == '\n'
	}
}

// headed notes what was read of the long line when it was met.
func (s *Scanner) headed(body int64, outer *envelope.Header) {
	s.inLong, s.outer, s.unread, s.history.marked = true, outer, body, body
	s.parser.long = inLongLine
	if n := len(s.history.long); n > 0 {
		s.history.long[n-1].body, s.history.long[n-1].outer = body, outer
	}
}

// tally counts what was found of each cold kind, to stop where the older ones would be forgotten again.
type tally struct {
	n, size   [len(coldKinds)]int
	over      [len(coldKinds)]bool
	marksFrom int64 // earlier marks are too far off
}

// full says that nothing before an offset counts.
func (t *tally) full(offset int64) bool {
	for k, kind := range coldKinds {
		if !t.over[k] && (kind != sampleKind || offset > t.marksFrom) {
			return false
		}
	}
	return true
}

// classes are those of the needles that lines are still looked for by. A line's kind shows by all of them; see [Scanner.seen].
func (t *tally) classes(offset int64) (class anchor.Class) {
	if !t.has(sampleKind) && offset > t.marksFrom {
		class = markClass
	}
	if !t.has(commonPhaseKind) || !t.has(commonStepKind) {
		class |= commonClass
	}
	return class
}

// has says that enough lines of that kind are known.
func (t *tally) has(kind int) bool { return t.over[slices.Index(coldKinds[:], kind)] }

// takes says whether a line of that kind is among the last that are kept.
func (t *tally) takes(kind, size int) bool {
	k := slices.Index(coldKinds[:], kind)
	if t.n[k]++; t.n[k] > keepOf[kind] {
		t.over[k] = true
	}
	if t.size[k] += size; t.size[k] > maxWaits {
		t.over[k] = true
	}
	return !t.over[k]
}

// sight finds the cold lines in whole lines of text, the last first. The number is that of the line behind.
func (s *Scanner) sight(text []byte, offset int64, number int, seen *tally) {
	h := &s.history
	h.hits = s.table.finder.Scan(text, 0, len(text), seen.classes(offset+int64(len(text))), h.hits[:0])
	end := len(text)
	for hits := h.hits; len(hits) > 0 && !seen.full(offset+int64(end)); {
		begin := bytes.LastIndexByte(text[:hits[len(hits)-1].Pos], '\n') + 1
		var c care
		says := int32(0)
		for len(hits) > 0 && hits[len(hits)-1].Pos >= begin {
			n := hits[len(hits)-1].Needle
			c |= s.table.cares[n]
			if says != several {
				says = s.table.saysWith(says, n)
			}
			hits = hits[:len(hits)-1]
		}
		number -= bytes.Count(text[begin:end], newline)
		end = begin
		at := offset + int64(begin)
		kind := kindFor(c)
		if seen.has(kind) {
			continue
		}
		raw := text[begin:]
		if i := bytes.IndexByte(raw, '\n'); i >= 0 {
			raw = raw[:i]
		}
		if !s.seen(at, raw, c, seen) && seen.takes(kind, len(raw)) {
			for _, hit := range h.others {
				if says != several {
					says = s.table.saysWith(says, hit.Needle)
				}
			}
			h.found = append(h.found, sighting{kind, waiting{when: at, line: number, offset: at, text: h.keep(raw), size: len(raw), says: says}})
		}
	}
}

// seen says that a cold line need not be found: it was read, or waits, for what else it holds, or is too far off.
func (s *Scanner) seen(at int64, raw []byte, c care, t *tally) bool {
	h := &s.history
	h.others = h.others[:0]
	if c&marks != 0 {
		return at < t.marksFrom || s.recall.kinds[sampleKind].holds(at)
	}
	if _, read := slices.BinarySearch(h.read, at); read {
		return true
	}
	h.others = s.table.finder.Scan(raw, 0, len(raw), anchor.First|anchor.Third|markClass, h.others)
	return slices.ContainsFunc(h.others, func(hit anchor.Hit) bool { return s.table.cares[hit.Needle]&^tries != 0 }) // vetoes ask for nothing
}

// past returns the input between two offsets: out of the block that is being read, if all of it is there.
func (s *Scanner) past(from, to int64) ([]byte, bool) {
	if b := s.reading; b != nil && from >= b.off && to <= b.off+int64(len(b.text)) {
		return b.text[from-b.off : to-b.off], true
	}
	h := &s.history
	n := int(to - from)
	if cap(h.buf) < n {
		h.buf = make([]byte, max(n, int(s.window())+1))
	}
	got, _ := s.again.ReadAt(h.buf[:n], from)
	return h.buf[:n], got == n
}

// forgetPast forgets what lies before the place up to which the input was looked through.
func (s *Scanner) forgetPast() {
	h := &s.history
	i, _ := slices.BinarySearch(h.read, h.looked)
	h.read = slices.Delete(h.read, 0, i)
	h.long = slices.DeleteFunc(h.long, func(e extent) bool { return e.to <= h.looked })
	h.parts = slices.DeleteFunc(h.parts, func(p span) bool { return p.to <= h.looked })
}

// remind lets what was found wait, the last of which was found first, together with what waits already, out of long lines
// or from beside what was read, in the order of the input.
func (s *Scanner) remind() {
	h := &s.history
	if len(h.found) == 0 {
		return
	}
	slices.Reverse(h.found)
	for _, kind := range coldKinds {
		w := &s.recall.kinds[kind]
		h.waited = h.waited[:0]
		for ; w.n > 0; w.drop() {
			e := *w.at(0)
			e.text = h.keep(e.text)
			h.waited = append(h.waited, e)
		}
		rest := h.waited
		for i := range h.found {
			f := &h.found[i]
			if f.kind != kind {
				continue
			}
			for len(rest) > 0 && rest[0].when < f.when {
				w.put(&rest[0])
				rest = rest[1:]
			}
			f.seq = s.recall.seq // all of one place have their order already
			w.put(&f.waiting)
		}
		for i := range rest {
			w.put(&rest[i])
		}
	}
	clear(h.found)
	clear(h.waited)
	if cap(h.room) > maxRoom {
		h.room = nil
	}
}
