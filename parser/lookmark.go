package parser

import "bytes"

// What stands in a printed sample did not happen, and a sample is known by its marks. Where the input can be read again, the
// marks are looked for when a line is about to be read: in the lines before it that are near enough to tell.

// lookMarks looks for marks in the last lines before the one at offset, as far as nobody did.
func (s *Scanner) lookMarks(offset int64) {
	h := &s.history
	if s.again == nil || offset <= h.marked {
		return
	}
	from := h.marked
	h.marked = offset
	if n := len(h.long); n > 0 {
		last := h.long[n-1]
		if !last.ended || last.to > offset {
			return // amidst a long line, all of which is searched
		}
		from = max(from, last.to)
	}
	begin, line := s.linesBack(offset, from, sampleLines)
	for begin < offset {
		text, ok := s.past(begin, min(begin+s.window(), offset))
		if !ok {
			return // the input is not what it was
		}
		if begin+int64(len(text)) < offset {
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

// linesBack goes from the line at offset so many lines back, but not before the line at from, and returns where that line
// begins and its number. At the end of an input without a last line feed it goes back from within the last line.
func (s *Scanner) linesBack(offset, from int64, lines int) (begin int64, line int) {
	begin, line = offset, s.line
	hi := offset - 1 // the byte before offset ends the line before
	if s.ended && s.begun {
		hi, line, lines = offset, s.line+1, lines+1
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
	h, r := &s.history, s.recall
	h.hits = s.table.finder.Scan(text, 0, len(text), markClass, h.hits[:0])
	now, at := r.now, 0
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
		r.now = offset + int64(begin)
		r.line(sampleKind, line, r.now, text[begin:end], nil, false)
		line++
	}
	r.now = now
}
