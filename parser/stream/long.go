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
	r.deferred.place = r.base + int64(at)
	r.messages.noLiteral = false
	r.messages.line(r.line, r.base+int64(at), r.buf[at:end], false)
	header := r.messages.physical.First
	r.long, r.alone = &header, false
	r.messages.longLineEnds = inLongLine
	r.done = end
}

// readLong reads the parts of the long line up to end. It is false when the next part may go on behind it.
func (r *Reader) readLong(end int, last bool, spots *[]literal.Hit) bool {
	stop, ends := end, last
	if i := bytes.IndexByte(r.buf[r.done:end], '\n'); i >= 0 {
		stop, ends = r.done+i, true
	}
	for r.done < stop {
		for len(*spots) > 0 && (*spots)[0].Pos < r.done {
			*spots = (*spots)[1:]
		}
		if !r.messages.needsEveryLine(r.line, r.base+int64(r.done)) && !r.leapInLong(stop, ends, *spots) {
			break
		}
		to := r.partEnd(stop, *spots)
		if to == stop && !ends {
			return false
		}
		from := max(r.done-overlap, 0)
		from += bytes.LastIndexAny(r.buf[from:r.done], "\r\n") + 1
		r.deliver(from, to, r.fates(spots, to))
		r.done = to
		if to < stop && r.buf[to] == '\r' {
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
	r.long, r.alone = nil, false
	r.messages.longLineEnds = at
}

// leapInLong goes to some text before the next literal of a long line. It is false when there is none up to stop.
func (r *Reader) leapInLong(stop int, ends bool, spots []literal.Hit) bool {
	if len(spots) == 0 || spots[0].Pos >= stop {
		if ends {
			r.done = stop
		} else {
			r.done = max(r.done, stop-maxExcerpt) // it may stand before a literal behind stop
		}
		return false
	}
	pos := spots[0].Pos
	from := max(r.done, pos-r.around(spots[0]))
	r.done = from + bytes.LastIndexByte(r.buf[from:pos], '\r') + 1
	return true
}

// around is how much text around a literal of a long line is read.
func (r *Reader) around(spot literal.Hit) int {
	if r.table.literals[spot.ID].fate&read == 0 {
		return keptAround
	}
	return maxExcerpt
}

// partEnd returns where the part of a long line ends that begins at done.
func (r *Reader) partEnd(stop int, spots []literal.Hit) int {
	end := min(r.done+longAhead, stop)
	if i := bytes.IndexByte(r.buf[r.done:end], '\r'); i >= 0 {
		return r.done + i
	}
	to := r.done + maxExcerpt
	if len(spots) > 0 {
		to = r.done + r.around(spots[0])
	}
	for _, s := range spots {
		if s.Pos >= to {
			break
		}
		if r.around(s) == maxExcerpt {
			to = max(to, s.Pos+maxExcerpt)
		}
	}
	return min(to, end)
}
