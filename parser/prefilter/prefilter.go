// Package prefilter proves at memory speed that a stretch of a log holds no event, so that nobody need read it. It looks for the
// literals of events in blocks, on all processors, and tries their patterns on the few lines that hold one. It may find an event
// where package stream sees none, never the other way round.
package prefilter

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/literal"
	"oomscan/parser/pattern"
	"oomscan/parser/sample"
)

const (
	// blockSize is what one worker reads and searches at a time: the processor's second cache still holds what was read.
	blockSize = 256 << 10
	// margin is how much is read around a block: as much as a literal and an escape sequence before it need, and most lines.
	margin = 4 << 10
	// wideMargin is how much is read around a literal whose line goes on outside of that.
	wideMargin = 64 << 10
	// searchStep is searched before its lines are counted: the processor's first cache still holds it then.
	searchStep = 16 << 10
)

// Result is what a stretch of a log holds.
type Result struct {
	Found bool // it may hold an event; the counts are not complete then
	Lines int  // line feeds
	Long  int  // lines that are longer than the limit, as far as the stretch goes
}

// Stretch is a part of a log, by offsets. The line that From is in begins at Line.
type Stretch struct{ Line, From, To int64 }

// Search looks at a stretch of in with so many workers. maxLine is the length of a line that counts as long. The result is Found
// where in cannot be read, so that the reader meets the error.
func (t *Table) Search(in io.ReaderAt, part Stretch, workers, maxLine int) Result {
	from, to := part.From, part.To
	n := int((to - from + blockSize - 1) / blockSize)
	blocks := make([]counts, n)
	var next atomic.Int64
	var found atomic.Bool
	var wg sync.WaitGroup
	for range min(max(workers, 1), n) {
		wg.Go(func() {
			s := searcher{table: t, in: in, end: to, maxLine: maxLine}
			for k := int(next.Add(1)) - 1; k < n && !found.Load(); k = int(next.Add(1)) - 1 {
				begin := from + int64(k)*blockSize
				c, ok := s.block(begin, min(begin+blockSize, to))
				if !ok {
					found.Store(true)
				}
				blocks[k] = c
			}
		})
	}
	wg.Wait()
	if found.Load() {
		return Result{Found: true}
	}
	return sum(blocks, part, maxLine)
}

// counts are the lines of one block.
type counts struct {
	size        int
	lines       int
	long        int // lines longer than the limit that begin and end in the block
	first, last int // offsets of the first and the last line feed in the block; -1: there is none
}

// sum adds up the blocks, with the long lines that reach over their edges.
func sum(blocks []counts, part Stretch, maxLine int) Result {
	var r Result
	begun, at := part.Line, part.From // where the current line and the block begin
	for _, b := range blocks {
		r.Lines += b.lines
		r.Long += b.long
		if b.first >= 0 {
			if at+int64(b.first)-begun > int64(maxLine) {
				r.Long++
			}
			begun = at + int64(b.last) + 1
		}
		at += int64(b.size)
	}
	if part.To-begun > int64(maxLine) {
		r.Long++
	}
	return r
}

// searcher is what one worker needs.
type searcher struct {
	table   *Table
	in      io.ReaderAt
	end     int64 // of the stretch
	maxLine int
	buf     []byte // of a block
	wide    []byte // around a literal
	hits    []literal.Hit
	inLine  []literal.Hit
	runes   []rune
	peeler  envelope.Peeler
}

// block searches one block. It is not ok if the block may hold an event or cannot be read.
func (s *searcher) block(from, to int64) (c counts, ok bool) {
	text, base, ok := s.read(&s.buf, from-margin, to+margin)
	if !ok {
		return counts{}, false
	}
	return s.search(text, base, int(from-base), int(to-base))
}

// read reads a part of the stretch, and what is before it.
func (s *searcher) read(buf *[]byte, from, to int64) (text []byte, base int64, ok bool) {
	from, to = max(from, 0), min(to, s.end)
	*buf = slices.Grow((*buf)[:0], int(to-from))[:to-from]
	n, _ := s.in.ReadAt(*buf, from)
	return *buf, from, n == len(*buf)
}

// search looks for events in text[lo:hi] and counts its lines. text[0] lies at the offset base.
func (s *searcher) search(text []byte, base int64, lo, hi int) (c counts, ok bool) {
	c.size = hi - lo
	for at := lo; at < hi; at += searchStep {
		end := min(at+searchStep, hi)
		if bytes.IndexByte(text[at:end], 0) >= 0 {
			return counts{}, false // a hole may stand within a literal
		}
		s.hits = s.table.finder.Scan(text, at, end, s.hits[:0])
		done := 0
		for _, h := range s.hits {
			if h.Pos >= done {
				if done, ok = s.line(text, base, h.Pos); !ok {
					return counts{}, false
				}
			}
		}
		c.lines += bytes.Count(text[at:end], newline)
	}
	c.first, c.last = bytes.IndexByte(text[lo:hi], '\n'), -1
	if c.first >= 0 {
		c.last = bytes.LastIndexByte(text[lo:hi], '\n')
		c.long = countLong(text[lo+c.first+1:lo+c.last+1], s.maxLine)
	}
	return c, true
}

var newline = []byte{'\n'}

// countLong counts the lines of whole lines that are longer than most.
func countLong(text []byte, most int) (n int) {
	for len(text) > most {
		if i := bytes.LastIndexByte(text[:most+1], '\n'); i >= 0 {
			text = text[i+1:]
			continue
		}
		n++
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return n
}

// line looks at the line around text[pos] and returns where it ends in text. It is not ok if the line may hold an event: also if
// the line is too long to be read as a whole, or a part of a record that was split.
func (s *searcher) line(text []byte, base int64, pos int) (end int, ok bool) {
	raw, end := lineAround(text, pos)
	if raw == nil {
		wide, wideBase, ok := s.read(&s.wide, base+int64(pos)-wideMargin, base+int64(pos)+wideMargin)
		if !ok {
			return 0, false
		}
		raw, end = lineAround(wide, int(base+int64(pos)-wideBase))
		end += int(wideBase - base)
	}
	if raw == nil || len(raw) > s.maxLine || envelope.IsCutBySrun(raw) {
		return 0, false
	}
	ok = true
	var line envelope.Line
	envelope.Segments(raw, func(seg []byte) bool {
		body, h := s.peeler.Next(&line, seg)
		ok = !h.Partial && len(body) <= pattern.MaxMessage && !s.event(body)
		return ok
	})
	return end, ok
}

// lineAround returns the line around text[pos] and where it ends; nil if not all of it is in the text.
func lineAround(text []byte, pos int) (raw []byte, end int) {
	from := bytes.LastIndexByte(text[:pos], '\n') + 1
	n := bytes.IndexByte(text[pos:], '\n')
	if from == 0 || n < 0 {
		return nil, 0
	}
	return text[from : pos+n], pos + n
}

// event reports whether a message may be an event.
func (s *searcher) event(body []byte) bool {
	if mark, _ := sample.Last(body); mark >= 0 {
		return false
	}
	s.inLine = s.table.finder.Scan(body, 0, len(body), s.inLine[:0])
	s.runes = s.runes[:0]
	for _, h := range s.inLine {
		u := &s.table.literals[h.ID]
		if u.report {
			return true
		}
		for _, i := range u.patterns {
			p := &s.table.patterns[i]
			if !p.MayMatch(body) {
				continue
			}
			if len(s.runes) == 0 {
				s.runes = pattern.Runes(s.runes, body)
			}
			if p.Matches(s.runes) {
				return !s.table.vetoes.Match(body, s.runes)
			}
		}
	}
	return false
}

// Table holds the literals of events alone. It serves any number of goroutines.
type Table struct {
	finder   *literal.Finder
	patterns []pattern.Matcher
	literals []use
	vetoes   pattern.Vetoes
}

// use is what a literal is good for.
type use struct {
	patterns []int32
	report   bool // it opens text of several lines
}

// reports open the reports of several lines that become events without a pattern.
var reports = []string{" invoked oom-killer: ", "oom-kill:constraint=", "ChildFailedError", "observed failure):"}

// NewTable returns the table of all patterns of a scan. The openers begin text of several lines that has to be read to know what it quotes.
// It fails if a literal cannot be searched for.
func NewTable(all []pattern.Pattern, openers ...string) (*Table, error) {
	t := &Table{patterns: make([]pattern.Matcher, len(all))}
	ids := map[string]int{}
	var texts []string
	id := func(lit string) int {
		i, ok := ids[lit]
		if !ok {
			i = len(texts)
			ids[lit] = i
			texts, t.literals = append(texts, lit), append(t.literals, use{})
		}
		return i
	}
	leads := map[string]bool{} // patterns that an event may follow
	for i := range all {
		for _, leader := range all[i].After {
			leads[leader] = leads[leader] || all[i].Kind != ""
		}
	}
	for i := range all {
		t.patterns[i].Pattern = &all[i]
		if all[i].Veto {
			t.vetoes.Add(&t.patterns[i])
		}
		if p := &all[i]; p.Kind == parser.Pressure || p.Kind == "" && (p.Veto || !leads[p.Name]) {
			continue // a shortage that the program handled, or nothing that an event may follow
		}
		for _, lit := range all[i].Literals {
			u := &t.literals[id(lit)]
			u.patterns = append(u.patterns, int32(i))
		}
	}
	for _, lit := range slices.Concat(reports, openers) {
		t.literals[id(lit)].report = true
	}
	for _, lit := range slices.Clone(texts) {
		for _, escaped := range envelope.Escaped(lit) {
			id(escaped)
		}
	}
	var err error
	t.finder, err = literal.NewFinder(texts)
	return t, err
}
