package stream

import (
	"math/bits"

	"oomscan/parser"
	"oomscan/parser/envelope"
)

// Most of what a healthy log prints of its run it repeats all the time: the phase, the step, which process is which, how much
// memory is free. It matters once something fails. Until then such lines are kept unread, and observations of lines that were
// read anyway are kept too: the latest of each kind. An event lets all of them be read and emitted first, in the order in which
// they came.

// kinds of deferred entries: one for each fate that keeps, and what only observations are.
const (
	sampleMarkKind = iota // lines that open or close a printed sample: what stands between them is not read
	identityKind
	phaseKind
	timerKind
	startKind
	stepKind
	gaugeKind
	commonPhaseKind
	commonStepKind
	exceptionKind // exceptions that no pattern claims
	settingKind   // settings behind the head of the input
	pressureKind  // shortages that an engine handled
	kinds
)

// keepOf is how many entries of each kind are kept. Of the common phases enough for the last lines of 64 writers: those
// of the others serve for one whose own are further back.
var keepOf = [kinds]int{
	sampleMarkKind: 160, identityKind: 4096, phaseKind: 256, timerKind: 256, startKind: 256, stepKind: 64, gaugeKind: 128,
	commonPhaseKind: 64, commonStepKind: 64, exceptionKind: 64, settingKind: 4096, pressureKind: 64,
}

const (
	maxDeferredLine = 8 << 10   // bytes of a line that is deferred; a longer one is read at once
	maxDeferred     = 512 << 10 // bytes of one kind
	minBuffer       = 1 << 10   // capacity that a free entry keeps at least
)

// kindOf is the kind of a line with this fate. Of several, the one that is kept longest.
func kindOf(f fate) int {
	return bits.TrailingZeros16(uint16(f&^read)) - 1
}

// entry is a line that was not read, or an observation that was not emitted.
type entry struct {
	seq         uint64
	place       int64 // offset of the line in the input
	size        int
	observation parser.Observation // nil: a line
	line        int
	passed      int
	text        []byte
	header      *envelope.Header // of the line's first segment, where text is a later one
}

// begun is the line that an entry is of: one that has begun where its text is a later segment.
func (e *entry) begun() (l envelope.Line) {
	if e.header != nil {
		l = envelope.Line{First: *e.header, Begun: true}
	}
	return l
}

// ring holds the latest entries of one kind.
type ring struct {
	entries []entry
	first   int
	n       int
	size    int
	keep    int
}

func (r *ring) at(i int) *entry { return &r.entries[(r.first+i)%len(r.entries)] }

// drop forgets the oldest entry and keeps its buffer.
func (r *ring) drop() {
	e := r.at(0)
	r.size -= e.size
	text := e.text[:0]
	if cap(text) > max(minBuffer, maxDeferred/r.keep) {
		text = nil
	}
	*e = entry{text: text}
	r.first = (r.first + 1) % len(r.entries)
	r.n--
}

// push returns the place of a new entry of that size.
func (r *ring) push(size int) *entry {
	for r.n > 0 && (r.n == r.keep || r.size+size > maxDeferred) {
		r.drop()
	}
	if r.n == len(r.entries) {
		grown := make([]entry, min(max(16, 2*r.n), r.keep))
		for i := range r.n {
			grown[i] = *r.at(i)
		}
		r.entries, r.first = grown, 0
	}
	r.n++
	r.size += size
	e := r.at(r.n - 1)
	e.size = size
	return e
}

// deferred holds the lines and observations of one input that only an event makes matter.
type deferred struct {
	rings  [kinds]ring
	seq    uint64
	marked uint64 // the marks of samples up to this one count for their writers
	place  int64  // offset of the line that is being read
	passed int    // lines before it that are not the log's own, see parser.Position
}

func newDeferred() *deferred {
	d := new(deferred)
	for k := range d.rings {
		d.rings[k].keep = keepOf[k]
	}
	return d
}

// keepLine defers a line. header is that of its first segment where text is a later one.
func (d *deferred) keepLine(f fate, line int, text []byte, header *envelope.Header) {
	e := d.rings[kindOf(f)].push(len(text))
	d.seq++
	e.seq, e.place, e.passed, e.line, e.header = d.seq, d.place, d.passed, line, header
	e.text = append(e.text, text...)
}

// keepObservation defers an observation if it is of a kind that can wait.
func (d *deferred) keepObservation(o parser.Observation, inHead bool) bool {
	kind, size := 0, 0
	switch o := o.(type) {
	case parser.Marker:
		kind, size = kindOf(fateOfMarker(o.Name)), len(o.Text)
	case parser.Gauge:
		kind, size = gaugeKind, len(o.Text)
	case parser.Setting:
		if inHead {
			return false
		}
		kind, size = settingKind, len(o.Key)+len(o.Value)
	case parser.Event:
		switch {
		case o.Pattern == unclaimed:
			kind, size = exceptionKind, len(o.Text)+o.Trace.Size()
		case o.Kind == parser.Pressure && !inHead:
			kind, size = pressureKind, len(o.Text)
		default:
			return false
		}
	}
	e := d.rings[kind].push(size)
	d.seq++
	e.seq, e.place, e.observation = d.seq, d.place, o
	return true
}

// clear forgets everything.
func (d *deferred) clear() {
	for k := range d.rings {
		for r := &d.rings[k]; r.n > 0; {
			r.drop()
		}
	}
}

// settings calls yield with the deferred settings and forgets them.
func (d *deferred) settings(yield func(parser.Observation)) {
	for r := &d.rings[settingKind]; r.n > 0; r.drop() {
		yield(r.at(0).observation)
	}
}

// inOrder calls yield with every entry that lies at an offset or after it, in the order in which they came.
func (d *deferred) inOrder(from int64, yield func(*entry)) {
	var next [kinds]int
	for {
		var first *entry
		kind := 0
		for k := range d.rings {
			if r := &d.rings[k]; next[k] < r.n {
				if e := r.at(next[k]); first == nil || e.seq < first.seq {
					first, kind = e, k
				}
			}
		}
		if first == nil {
			return
		}
		next[kind]++
		if first.place >= from {
			yield(first)
		}
	}
}
