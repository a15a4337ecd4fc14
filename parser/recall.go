package parser

import (
	"maps"
	"sort"

	"oomscan/parser/anchor"
	"oomscan/parser/envelope"
)

// Most of what a healthy log tells of its run is told again and again: the stage, the step, who somebody is, how much
// memory is free. It matters once something happens. Until then such lines are kept unread, and what the parser made of
// those that it read anyway is kept too: the last of each kind. When an observation comes that is not of these kinds,
// they are read and emitted, in the order in which they came, but for what is said again and again (see spare.go), and then
// that observation.

// The kinds and how many of each are kept.
const (
	whoKind = iota
	phaseKind
	timerKind
	stepKind
	startKind
	gaugeKind
	exceptionKind // exceptions that no pattern claims, and tracebacks that stand alone
	sampleKind    // the marks of printed samples: what is told between them is no news
	commonPhaseKind
	commonStepKind
	kinds
)

// Of the common stages enough for the last words of 64 writers: one whose own are further back is spoken for by the others.
var keepOf = [kinds]int{
	whoKind: 4096, phaseKind: 256, timerKind: 256, stepKind: 64, startKind: 256, gaugeKind: 64, exceptionKind: 64, sampleKind: 160,
	commonPhaseKind: 64, commonStepKind: 64,
}

const (
	maxUnread = 8 << 10   // bytes of a line that may wait; a longer one is read at once
	maxWaits  = 512 << 10 // bytes of one kind's lines, or of its exceptions' tracebacks
	maxBegun  = 512       // writers whose samples are followed while such lines are read
	smallText = 1 << 10   // room that a place keeps for the next line, once it is over
)

// kindFor is the kind of lines that hold these needles: of several, the one that is kept longest.
func kindFor(c care) int {
	switch {
	case c&marks != 0:
		return sampleKind // nothing else of the line counts
	case c&tellsWho != 0:
		return whoKind
	case c&tellsPhase != 0:
		return phaseKind
	case c&tellsTimer != 0:
		return timerKind
	case c&tellsStart != 0:
		return startKind
	case c&tellsStep != 0:
		return stepKind
	case c&tellsGauge != 0:
		return gaugeKind
	case c&commonPhase != 0:
		return commonPhaseKind
	case c&commonStep != 0:
		return commonStepKind
	}
	return sampleKind
}

// waiting is a line that was not read, or an observation that was not emitted.
type waiting struct {
	when   int64 // what was being read, as an offset in the input
	seq    uint64
	made   Observation // nil: a line
	line   int
	offset int64
	text   []byte
	outer  *envelope.Header // of the line's first segment where text is a later one
	size   int
	known  bool  // a sample's mark that the parser of the writers' state has read
	says   int32 // the one pattern that the line may match, and one, or [several]; 0: it is not known
}

// waits is what waits of one kind: a ring.
type waits struct {
	ring  []waiting
	first int
	n     int
	size  int
	keep  int
}

func (w *waits) at(i int) *waiting { return &w.ring[(w.first+i)%len(w.ring)] }

// holds says whether the line at offset waits. Lines wait in the order of the input.
func (w *waits) holds(offset int64) bool {
	i := sort.Search(w.n, func(i int) bool { return w.at(i).offset >= offset })
	return i < w.n && w.at(i).offset == offset
}

// put lets a copy of what is known of a line wait.
func (w *waits) put(known *waiting) {
	e := w.push(known.size)
	text := append(e.text[:0], known.text...)
	*e = *known
	e.text = text
}

// drop forgets the oldest.
func (w *waits) drop() {
	e := w.at(0)
	w.size -= e.size
	text := e.text[:0]
	if cap(text) > smallText {
		text = nil
	}
	*e = waiting{text: text}
	w.first = (w.first + 1) % len(w.ring)
	w.n--
}

// push makes room for one more of that size and returns its place.
func (w *waits) push(size int) *waiting {
	for w.n > 0 && (w.n == w.keep || w.size+size > maxWaits) {
		w.drop()
	}
	if w.n == len(w.ring) {
		bigger := make([]waiting, min(max(16, 2*w.n), w.keep))
		for i := range w.n {
			bigger[i] = *w.at(i)
		}
		w.ring, w.first = bigger, 0
	}
	w.n++
	w.size += size
	e := w.at(w.n - 1)
	e.size = size
	return e
}

// recall is what one input has told and nobody has needed to know yet.
type recall struct {
	kinds  [kinds]waits
	seq    uint64
	reader *Parser // of the lines that wait; it knows of the writers only what they say
	traces *Parser // of tracebacks that stand alone; nil: there was none
	emit   func(Observation)
	now    int64  // offset of what is being read
	line   int    // and its number
	look   func() // looks for cold lines in what was read; nil: they wait here already
	fresh  int    // marks of samples that the parser of the writers' state has not read

	heard map[word]struct{} // what was emitted before
	stage map[word]int32    // the pattern, and one, of the last stage that was told of a writer
	turns []turn            // what waits, while it is being read
	later map[word]int      // of the turns, those that were seen behind the one that is looked at
	told  []Observation     // and not emitted, for a turn behind may prove the plan wrong
	holds bool              // what is told is not emitted
	count int               // what was told
	hits  []anchor.Hit
}

func newRecall(source string, t *compiled, emit func(Observation)) *recall {
	r := &recall{reader: newRetelling(source, t, emit), emit: emit, heard: map[word]struct{}{}, stage: map[word]int32{}, later: map[word]int{}}
	for k := range r.kinds {
		r.kinds[k].keep = keepOf[k]
	}
	return r
}

// line keeps a line of that kind for later.
func (r *recall) keep(kind, line int, offset int64, text []byte, outer *envelope.Header, known bool) {
	e := r.kinds[kind].push(len(text))
	r.seq++
	e.when, e.seq, e.line, e.offset, e.outer, e.known = r.now, r.seq, line, offset, outer, known
	e.text = append(e.text, text...)
	if kind == sampleKind && !known {
		r.fresh++
	}
}

// made takes an observation: it waits, or ends the waiting of all others.
func (r *recall) made(o Observation) {
	kind, size := -1, 0
	switch o := o.(type) {
	case Marker:
		kind, size = kindFor(careFor(o.Name)), len(o.Text)
	case Gauge:
		kind, size = gaugeKind, len(o.Text)
	case Event:
		if o.Pattern == unclaimed {
			kind, size = exceptionKind, len(o.Text)+o.Trace.Size()
		}
	}
	if kind < 0 {
		r.flush()
		r.emit(o)
		return
	}
	e := r.kinds[kind].push(size)
	r.seq++
	e.when, e.seq, e.made = r.now, r.seq, o
}

// flush emits everything that waits. The parser of the writers' state must know of the samples.
func (r *recall) flush() {
	if r.look != nil {
		r.look()
	}
	for _, kind := range coldKinds {
		for w := &r.kinds[kind]; w.n > 0 && w.at(0).when < r.now-r.reader.table.reach(kind); {
			w.drop()
		}
	}
	r.retellAll()
	for k := range r.kinds {
		for w := &r.kinds[k]; w.n > 0; {
			w.drop()
		}
	}
	r.fresh = 0
}

// tell emits what waits, as things are now, and goes on waiting.
func (r *recall) tell(emit func(Observation)) {
	reader, traces := newRetelling(r.reader.source, r.reader.table, emit), r.newTraces(emit)
	reader.maxLine = r.reader.maxLine
	r.inOrder(func(kind int, w *waits, i int) {
		switch e := w.at(i); {
		case e.made != nil:
			emit(e.made)
		case kind == exceptionKind:
			traces.aside(e)
		default:
			reader.reread(e)
		}
	})
}

func (r *recall) newTraces(emit func(Observation)) *Parser {
	p := newParser(r.reader.source, r.reader.table, emit)
	p.maxLine = r.reader.maxLine
	return p
}

// inOrder calls yield with everything that waits, in the order in which it came.
func (r *recall) inOrder(yield func(kind int, w *waits, i int)) {
	var next [kinds]int
	for {
		var first *waits
		var least *waiting
		kind := 0
		for k := range r.kinds {
			w := &r.kinds[k]
			if next[k] < w.n {
				if e := w.at(next[k]); first == nil || e.before(least) {
					first, least, kind = w, e, k
				}
			}
		}
		if first == nil {
			return
		}
		yield(kind, first, next[kind])
		next[kind]++
	}
}

// before says which of two came first.
func (e *waiting) before(other *waiting) bool {
	return e.when < other.when || e.when == other.when && e.seq < other.seq
}

// newRetelling returns a parser of lines that have waited. They only tell where the run is, and so it follows no reports.
func newRetelling(source string, t *compiled, emit func(Observation)) *Parser {
	p := newParser(source, t, emit)
	p.retold, p.begun = true, map[string]begun{}
	return p
}

// begun is what a writer has begun and not finished in lines that have waited. The zero value is a writer who has not.
type begun struct {
	sample  sampling
	pending string
}

// retell reads a message of a line that has waited.
func (p *Parser) retell(at Position, body []byte, h envelope.Header) {
	body, ok := p.heard(at, body, &h)
	if !ok {
		return
	}
	if needles := p.find(body); !p.quoting(body, needles) {
		p.match(at, body, h, &stream{}, nil, needles)
	}
}

// retellAs is retell of a message that holds the needles of one pattern only. That one matches nearly always, and so what
// else its matches must hold is not looked for first.
func (p *Parser) retellAs(at Position, body []byte, h envelope.Header, pattern int32) {
	body, ok := p.heard(at, body, &h)
	if !ok || p.table.traits[pattern]&(yieldsEvent|isVeto) != 0 {
		return
	}
	pat := p.table.patterns.at(pattern)
	if !pat.gated(body) {
		return
	}
	p.runes = p.runes[:0]
	if f, ok := pat.match(p.text(body)); ok {
		p.emit(pat.observed(at, body, h, f))
	}
}

// heard returns a message of a line that has waited, as far as it is one of its own and no part of a sample.
func (p *Parser) heard(at Position, body []byte, h *envelope.Header) ([]byte, bool) {
	b := p.begun[h.Stream]
	was := b
	if h.Partial || b.pending != "" {
		if len(b.pending)+len(body) <= maxPending {
			b.pending += string(body)
		}
		if h.Partial {
			p.begin(h.Stream, b, at)
			return nil, false
		}
		body, b.pending = []byte(b.pending), ""
	}
	inside := b.sample.covers(at, p.long, body, h)
	if b != was {
		p.begin(h.Stream, b, at)
	}
	return body, !inside
}

// begin notes what a writer has begun.
func (p *Parser) begin(writer string, b begun, at Position) {
	if b == (begun{}) {
		delete(p.begun, writer)
		return
	}
	if _, ok := p.begun[writer]; !ok && len(p.begun) >= maxBegun {
		maps.DeleteFunc(p.begun, func(_ string, b begun) bool { return b.pending == "" && b.sample.over(at.Line, at.Offset, p.long) })
		if len(p.begun) >= maxBegun {
			clear(p.begun)
		}
	}
	p.begun[writer] = b
}

// reread reads a line that has waited.
func (p *Parser) reread(e *waiting) {
	if e.outer != nil {
		p.outer, p.inLine, p.long = *e.outer, true, inLongLine
	}
	p.line(e.line, e.offset, e.text, e.outer != nil)
	p.inLine, p.long = false, min(p.long, e.offset+int64(len(e.text)))
}

// samples tells the parser of the writers' state about the samples that were opened and closed lately.
func (r *recall) samples(p *Parser, now int) {
	if r.fresh == 0 {
		return
	}
	w := &r.kinds[sampleKind]
	for i := max(0, w.n-r.fresh, w.n-sampleLines); i < w.n; i++ { // earlier ones are too far off, or in a line of megabytes
		if e := w.at(i); !e.known {
			e.known = true
			if e.line >= now-sampleLines && (e.outer == nil || e.when >= r.now-sampleBytes) {
				p.mark(e)
			}
		}
	}
	r.fresh = 0
}

// apart reads a traceback that has waited.
func (r *recall) apart(e *waiting) {
	if r.traces == nil {
		r.traces = r.newTraces(r.tells)
	}
	r.traces.aside(e)
}
