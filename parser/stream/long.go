package stream

import (
	"bytes"

	"oomscan/parser/literal"
)

// A line longer than maxLine is read in parts, where a literal calls for it: what stands between two carriage returns, or, where
// these are far apart, the text around the literal.
const (
	maxExcerpt = 8 << 10        // bytes that are read before a literal and after it
	keptAround = 2 << 10        // the same, where the part is only deferred
	longAhead  = 4 * maxExcerpt // how far a part is searched for its end
	overlap    = 1 << 10        // bytes before a part that are read again with it
)

// beginLong reads the beginning of a long line in any case: its prefix names the writer of all of it.
func (r *Reader) beginLong() {
	r.stats.Truncated++
	r.release(false)
	at := r.done
	end := at + maxExcerpt
	if i := bytes.IndexByte(r.buf[at:end], '\r'); i >= 0 {
		end = at + i + 1
	}
	r.deferred.place, r.deferred.passed = r.base+int64(at), r.messages.passed
	r.messages.noLiteral = false
	r.messages.line(r.line, r.base+int64(at), r.buf[at:end], false)
	header := r.messages.physical.First
	r.long, r.samples.single, r.printed = &header, false, printed{}
	r.messages.longLineEnds = inLongLine
	r.done = end
}

// readLong reads the parts of the long line up to end. It is false when the next part may go on behind it.
func (r *Reader) readLong(end int, last bool) bool {
	stop, ends := end, last
	if i := bytes.IndexByte(r.buf[r.done:end], '\n'); i >= 0 {
		stop, ends = r.done+i, true
	}
	for r.done < stop {
		begun := r.done
		r.fates(r.done) // those before it were read with the part before
		if !r.messages.needsEveryLine(r.line, r.base+int64(r.done)) && !r.skipInLong(stop, ends) {
			break
		}
		to := r.partEnd(stop)
		if to == stop && !ends {
			return false
		}
		from := max(r.done-overlap, 0)
		from += bytes.LastIndexAny(r.buf[from:r.done], "\r\n") + 1
		if bytes.IndexByte(r.buf[begun:to], '\r') >= 0 {
			r.messages.quotation = false // another message begins
		}
		r.deliver(from, to, r.fates(to))
		r.done = to
		if to < stop && r.buf[to] == '\r' {
			r.messages.quotation = false
			r.done++
		}
	}
	if !ends {
		return false
	}
	r.endLong(r.base + int64(stop))
	r.done = stop
	if stop < end {
		r.line++
		r.done++
	}
	return true
}

// endLong ends the long line at an offset.
func (r *Reader) endLong(at int64) {
	r.messages.endOfLine()
	r.long, r.samples.single = nil, false
	r.messages.longLineEnds = at
}

// skipInLong goes to some text before the next literal of a long line. It is false when there is none up to stop.
func (r *Reader) skipInLong(stop int, ends bool) bool {
	hits := r.hitsAhead()
	if len(hits) == 0 || hits[0].Pos >= stop {
		if ends {
			r.done = stop
		} else {
			r.done = max(r.done, stop-maxExcerpt) // it may stand before a literal behind stop
		}
		return false
	}
	pos := hits[0].Pos
	from := max(r.done, pos-r.around(hits[0]))
	r.done = from + bytes.LastIndexByte(r.buf[from:pos], '\r') + 1
	return true
}

// around is how much text around a literal of a long line is read.
func (r *Reader) around(h literal.Hit) int {
	if r.table.literals[h.ID].fate&read == 0 {
		return keptAround
	}
	return maxExcerpt
}

// partEnd returns where the part of a long line ends that begins at done.
func (r *Reader) partEnd(stop int) int {
	end := min(r.done+longAhead, stop)
	if i := bytes.IndexByte(r.buf[r.done:end], '\r'); i >= 0 {
		return r.done + i
	}
	to := r.done + maxExcerpt
	hits := r.hitsAhead()
	if len(hits) > 0 {
		to = r.done + r.around(hits[0])
	}
	for _, h := range hits {
		if h.Pos >= to {
			break
		}
		if r.around(h) == maxExcerpt {
			to = max(to, h.Pos+maxExcerpt)
		}
	}
	return min(to, end)
}
