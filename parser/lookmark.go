package parser

import (
	"bytes"
	"slices"
)

// What stands in a printed sample did not happen, and a sample is known by its marks. Where the input can be read again, the
// marks are looked for when a line is about to be read: in the lines before it that are near enough to tell.

// region is a part of an input: whole lines, or a part of a long one.
type region struct {
	from, to int64
	line     int // its first one's number
	long     *extent
}

// lookMarks looks for marks in the last lines before the place at offset, as far as nobody did.
func (s *Scanner) lookMarks(offset int64) {
	h := &s.history
	if s.again == nil || offset <= h.marked {
		return
	}
	from := h.marked
	h.marked = offset
	h.regions = h.regions[:0]
	hi, line, long := offset, s.line, h.long
	for hi > from {
		for len(long) > 0 && long[len(long)-1].from >= hi {
			long = long[:len(long)-1]
		}
		lo := from
		if len(long) > 0 {
			last := &long[len(long)-1]
			if last.to >= hi {
				if last.ended && last.to == hi {
					line--
				}
				if line < s.line-sampleLines {
					break
				}
				h.regions = append(h.regions, region{max(from, offset-sampleBytes), hi, line, last})
				hi = last.from
				continue
			}
			lo = max(lo, last.to)
		}
		begin, first := s.linesBack(hi, lo, line, sampleLines-(s.line-line))
		h.regions = append(h.regions, region{begin, hi, first, nil})
		if begin > lo {
			break
		}
		hi, line = lo, first
	}
	for _, r := range slices.Backward(h.regions) {
		if r.long != nil {
			s.markInLong(r.long, r.from, r.to, r.line)
		} else {
			s.markInLines(r)
		}
	}
}

// markInLines lets the lines with marks of a region wait.
func (s *Scanner) markInLines(r region) {
	for begin, line := r.from, r.line; begin < r.to; {
		text, ok := s.past(begin, min(begin+s.window(), r.to))
		if !ok {
			return // the input is not what it was
		}
		if begin+int64(len(text)) < r.to {
			text = text[:bytes.LastIndexByte(text, '\n')+1]
		}
		if len(text) == 0 {
			return
		}
		s.markIn(text, begin, line)
		line += bytes.Count(text, newline)
		begin += int64(len(text))
	}
}

// countedAtOnce is in how many bytes [Scanner.linesBack] counts lines before it looks for one.
const countedAtOnce = 2 << 10

// linesBack goes from the line at offset, which has that number, so many lines back, but not before the line at from, and
// returns where that line begins and its number. At the end of an input without a last line feed it goes back from within the
// last line.
func (s *Scanner) linesBack(offset, from int64, number, lines int) (begin int64, line int) {
	begin, line = offset, number
	hi := offset - 1 // the byte before offset ends the line before
	if s.ended && s.begun && offset == s.next {
		hi, line, lines = offset, number+1, lines+1
	}
	last := line
	for hi > from {
		lo := max(from, hi-s.window())
		text, ok := s.past(lo, hi)
		if !ok {
			return begin, line
		}
		for len(text) > 0 {
			// counting is far faster than looking for one line feed after the other from behind
			at := max(0, len(text)-countedAtOnce)
			if n := bytes.Count(text[at:], newline); n > 0 && last-line+n < lines {
				begin, line = lo+int64(at+bytes.IndexByte(text[at:], '\n'))+1, line-n
			} else if n > 0 {
				for i := bytes.LastIndexByte(text, '\n'); ; i = bytes.LastIndexByte(text[:i], '\n') {
					if line--; last-line == lines {
						return lo + int64(i) + 1, line
					}
				}
			}
			text = text[:at]
		}
		hi = lo
	}
	if from < begin {
		begin, line = from, line-1
	}
	return begin, line
}

// markIn lets the lines with marks wait that are in whole lines of text, the first of which has that number.
func (s *Scanner) markIn(text []byte, offset int64, line int) {
	h := &s.history
	h.hits = s.table.finder.Scan(text, 0, len(text), markClass, h.hits[:0])
	at := 0
	for _, hit := range h.hits {
		if hit.Pos < at {
			continue // of the same line
		}
		begin := at + bytes.LastIndexByte(text[at:hit.Pos], '\n') + 1
		line += bytes.Count(text[at:begin], newline)
		end := len(text) // of the input: the last line may have no line feed
		if i := bytes.IndexByte(text[begin:], '\n'); i >= 0 {
			end = begin + i
		}
		at = end + 1
		s.lineAt(offset+int64(begin), sampleKind, line, text[begin:end], nil)
		line++
	}
}
