package parser

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"oomscan/parser/envelope"
	"oomscan/parser/settings"
	"oomscan/parser/traceback"
)

// Limits of a parser's memory.
const (
	maxStreams = 4096    // writers told apart in one input; beyond that, those that were silent longest are forgotten
	maxHeld    = 8 << 20 // bytes that all streams together keep of what they have begun; beyond that, the same
	maxText    = 4 << 10 // bytes of a message that an observation keeps
	maxPending = 64 << 10
	maxArmed   = 32
	maxAlike   = 2048 // events out of messages with the same candidates; the classifier keeps far fewer, and to match is dear
	maxKinds   = 1024 // sets of candidates that are counted
	staleAfter = 1000 // messages of others after which an open report of a stream no longer asks for lines
	quietAfter = 24   // the same, when only a further line of a message might come
)

// A Parser reads the lines that matter of one input, in order. State belongs to a stream: a writer told apart by the
// envelope of its lines.
type Parser struct {
	source  string
	table   *compiled
	emit    func(Observation)
	streams map[string]*stream
	open    map[*stream]struct{} // streams with an open report
	outer   envelope.Header      // envelope of the physical line's first segment
	inLine  bool
	cuts    map[string]*cut // lines that srun cut, by their label
	runes   []rune
	hits    []int32
	alike   map[uint64]int // events emitted, by the patterns that were candidates
	needles []int
	now     int // line being read
	tick    int // messages read: a line may hold many
	watched int // last line that is read for signs that the run goes on after a failure
	swept   int // tick of the last look at streams that fell silent
	held    int // bytes that all streams keep
}

// stream is what one writer has begun and not finished.
type stream struct {
	trace    traceback.Assembler
	settings settings.Reader
	kernel   traceback.KernelReport
	elastic  traceback.ElasticBlock
	header   envelope.Header // of the last line
	record   record          // of the last line
	opened   envelope.Header // of the line that opened the traceback: engines stamp only the first line of a message
	armed    []armed
	sample   int    // line of the mark that opened a printed sample, 0 outside
	pending  []byte // a record that the container runtime split
	seen     int    // tick of the last message
	held     int    // bytes kept, about
}

// armed is a pattern that follows on another one, and the lines on which it is tried.
type armed struct {
	pattern      int32
	since, until int
}

// record tells the records of one logger apart: lines with the same stamp and place are one record. The zero value is a
// line without a stamp, which continues whatever came before.
type record struct {
	time   int64
	logger string
}

func recordOf(h *envelope.Header) record {
	if h.Time.IsZero() {
		return record{}
	}
	return record{h.Time.UnixNano(), h.Logger}
}

func newParser(source string, t *compiled, emit func(Observation)) *Parser {
	return &Parser{
		source: source, table: t, emit: emit, alike: map[uint64]int{},
		streams: map[string]*stream{}, open: map[*stream]struct{}{}, cuts: map[string]*cut{},
	}
}

// wants says whether the line at this place is to be delivered whether it holds a needle or not.
func (p *Parser) wants(line int, offset int64) bool {
	return p.head(line, offset) || line <= p.watched || len(p.open) > 0 || len(p.cuts) > 0
}

// head says whether a place is in the part of the input in which every line is looked at.
func (p *Parser) head(line int, offset int64) bool {
	return line <= p.table.headLines && offset < headBytes
}

// line reads one physical line or a piece of one.
func (p *Parser) line(num int, offset int64, raw []byte, continued bool) {
	p.now = num
	at := Position{Source: p.source, Line: num, Offset: offset}
	if !continued {
		p.inLine = false
		if len(p.cuts) > 0 {
			p.uncut(false)
		}
		var ok bool
		if at, raw, ok = p.rejoin(at, raw); !ok {
			return
		}
	}
	p.segments(at, raw)
}

// segments reads the messages of a line: several writers or states of a bar may share it.
func (p *Parser) segments(at Position, raw []byte) {
	envelope.Segments(raw, func(seg []byte) bool {
		var body []byte
		var h envelope.Header
		if p.inLine && !p.wants(at.Line, at.Offset) {
			// one of the thousand states of a progress bar: most say nothing
			if _, ok := p.table.finder.Next(seg, 0); !ok {
				return true
			}
		}
		if p.inLine {
			body, h = envelope.PeelInherit(seg, p.outer)
		} else {
			body, h = envelope.Peel(seg)
			p.outer, p.inLine = h, true
		}
		p.parts(at, body, h)
		return true
	})
}

// parts reads the lines of a record: a container's or a logger's JSON may hold several, and bars among them.
func (p *Parser) parts(at Position, body []byte, h envelope.Header) {
	if bytes.IndexByte(body, '\n') < 0 && bytes.IndexByte(body, '\r') < 0 {
		p.message(at, body, h)
		return
	}
	for part := range bytes.SplitSeq(body, []byte{'\n'}) {
		for seg := range bytes.SplitSeq(bytes.TrimSuffix(part, []byte{'\r'}), []byte{'\r'}) {
			p.message(at, seg, h)
		}
	}
}

// endOfLine says that the physical line is over.
func (p *Parser) endOfLine() { p.inLine = false }

// stream returns the state of the writer that h names.
func (p *Parser) stream(h *envelope.Header) *stream {
	key := h.Stream
	s, ok := p.streams[key]
	if !ok {
		if len(p.streams) >= maxStreams {
			p.forget(maxStreams*3/4, maxHeld)
		}
		s = &stream{opened: envelope.NewHeader()}
		p.streams[key] = s
	}
	s.seen, s.header = p.tick, *h
	return s
}

// weigh notes how much a stream keeps.
func (p *Parser) weigh(s *stream) {
	n := len(s.pending) + s.trace.Held() + s.settings.Held() + s.kernel.Held() + s.elastic.Held()
	p.held += n - s.held
	s.held = n
	if p.held > maxHeld {
		p.forget(len(p.streams), maxHeld/2)
	}
}

// forget finishes and drops the streams that were silent longest, until no more than so many streams with so many bytes
// are left.
func (p *Parser) forget(streams, held int) {
	keys := slices.SortedFunc(maps.Keys(p.streams), func(a, b string) int { return cmp.Compare(p.streams[a].seen, p.streams[b].seen) })
	for _, k := range keys {
		if len(p.streams) <= streams && p.held <= held {
			return
		}
		s := p.streams[k]
		p.finish(s)
		p.held -= s.held
		delete(p.streams, k)
		delete(p.open, s)
	}
}

// message reads one message of one writer.
func (p *Parser) message(at Position, body []byte, h envelope.Header) {
	p.tick++
	s := p.stream(&h)
	if h.Partial || len(s.pending) > 0 {
		if len(s.pending)+len(body) <= maxPending {
			s.pending = append(s.pending, body...)
		}
		if h.Partial {
			p.weigh(s)
			return
		}
		body, s.pending = s.pending, nil
	}
	if r := recordOf(&h); r != (record{}) && r != s.record {
		s.trace.EndMessage()
		s.record = r
	}
	if s.inSample(at.Line, body, &h) {
		p.track(s)
		return
	}
	if at.Line <= p.watched && at.Line > p.watched-watchLines {
		p.watch(at, body, h)
	}
	state := s.trace.Feed(at.Line, body)
	needles := p.find(body)
	if state == traceback.Header {
		s.opened = h
	}
	p.reports(at, body, h, s)
	if state == traceback.Outside || s.settings.Open() {
		p.readSettings(at, body, h, s, needles)
	}
	if state != traceback.FrameLine && state != traceback.Code {
		var trace *traceback.Trace
		if state == traceback.Final || state == traceback.Continuation {
			trace = s.trace.Trace()
			h = inherit(h, &s.opened)
		}
		claimed := p.match(at, body, h, s, trace, needles)
		if state == traceback.Final && !claimed && trace != nil && trace.Exception != "" {
			p.emit(Event{
				At: at, Header: h, Pattern: "traceback", Kind: Exception, Role: Context,
				Fields: Fields{"class": trace.Exception}, Text: clip(body), Trace: trace,
			})
		}
	}
	p.track(s)
	p.weigh(s)
}

// inherit completes the envelope of a message's later line by that of the line which opened its traceback.
func inherit(h envelope.Header, first *envelope.Header) envelope.Header {
	for _, t := range []struct{ to, from *int }{{&h.TP, &first.TP}, {&h.DP, &first.DP}, {&h.PP, &first.PP}, {&h.EP, &first.EP}} {
		if *t.to < 0 && h.Time.IsZero() {
			*t.to = *t.from
		}
	}
	if h.Time.IsZero() {
		h.Time, h.Clock = first.Time, first.Clock
	}
	return h
}

// track keeps the set of streams that wait for more lines.
func (p *Parser) track(s *stream) {
	waits := len(s.armed) > 0 && s.armed[len(s.armed)-1].until >= p.now
	if waits || s.trace.Open() || s.settings.Open() || s.kernel.Open() || s.elastic.Open() {
		p.open[s] = struct{}{}
	} else {
		delete(p.open, s)
	}
	if len(p.open) > 0 && p.tick-p.swept >= 16 {
		p.swept = p.tick
		p.sweep()
	}
}

// sweep stops waiting for streams that fell silent while others went on.
func (p *Parser) sweep() {
	for o := range p.open {
		silent := p.tick - o.seen
		building := o.trace.Building() || o.settings.Open() || o.kernel.Open() || o.elastic.Open()
		if silent > staleAfter || silent > quietAfter && !building {
			o.trace.EndMessage()
			delete(p.open, o)
		}
	}
}

// find returns the needles of a message. The slice is valid until the next call.
func (p *Parser) find(body []byte) []int {
	p.needles = p.needles[:0]
	p.table.finder.Needles(body, func(id int) bool {
		p.needles = append(p.needles, id)
		return true
	})
	return p.needles
}

// readSettings reads configuration out of a message that is no part of a traceback.
func (p *Parser) readSettings(at Position, body []byte, h envelope.Header, s *stream, needles []int) {
	worth := s.settings.Open()
	if !worth && p.head(at.Line, at.Offset) {
		worth = settings.Worth(body)
	}
	for _, id := range needles {
		worth = worth || p.table.settings[id]
	}
	if worth {
		p.emitSettings(h, s.settings.Feed(at.Line, body))
	}
}

func (p *Parser) emitSettings(h envelope.Header, pairs []settings.Pair) {
	for _, kv := range pairs {
		p.emit(Setting{At: Position{Source: p.source, Line: kv.Line}, Header: h, Key: kv.Key, Value: kv.Value, Form: kv.Form})
	}
}

// match tries the patterns whose needles the message holds. It says whether an event pattern or a veto claimed it.
func (p *Parser) match(at Position, body []byte, h envelope.Header, s *stream, trace *traceback.Trace, needles []int) bool {
	p.hits = p.hits[:0]
	for _, id := range needles {
		p.hits = append(p.hits, p.table.owners[id]...)
	}
	for _, a := range s.armed {
		if at.Line <= a.until && at.Line > a.since {
			p.hits = append(p.hits, a.pattern)
		}
	}
	if len(p.hits) == 0 {
		return false
	}
	slices.Sort(p.hits)
	p.hits = slices.Compact(p.hits)
	if len(body) <= MaxMessage {
		return p.matchText(at, body, h, s, trace)
	}
	claimed := false
	for from := 0; from < len(body); {
		pos, ok := p.table.finder.Next(body, from)
		if !ok {
			break
		}
		lo, hi := max(from, pos-MaxMessage/2), min(len(body), pos+MaxMessage/2)
		claimed = p.matchText(at, body[lo:hi], h, s, trace) || claimed
		from = hi
	}
	return claimed
}

// matchText tries p.hits on one text: vetoes come first in the table, the first event wins, markers and gauges are
// independent.
func (p *Parser) matchText(at Position, body []byte, h envelope.Header, s *stream, trace *traceback.Trace) bool {
	p.runes = appendRunes(p.runes[:0], body)
	kind := kindOf(p.hits)
	claimed := p.alike[kind] >= maxAlike // a flood: more of the same tells nothing new
	for _, i := range p.hits {
		pat := &p.table.patterns[i]
		if claimed && (pat.Kind != "" || pat.Veto) {
			continue
		}
		f, ok := pat.match(p.runes)
		if !ok {
			continue
		}
		p.arm(s, i, at.Line)
		switch {
		case pat.Veto:
			claimed = true
		case pat.Marker != "":
			p.emit(Marker{At: at, Header: h, Name: pat.Marker, Fields: f, Text: clip(body)})
		case pat.Gauge:
			p.emit(Gauge{At: at, Header: h, Name: pat.Name, Fields: f, Text: clip(body)})
		default:
			claimed = true
			if _, ok := p.alike[kind]; ok || len(p.alike) < maxKinds {
				p.alike[kind]++
			}
			if pat.Role == Evidence {
				p.watched = at.Line + watchLines
			}
			if trace != nil && at.Line > trace.EndLine && (pat.Kind == OOMKill || pat.Kind == ProcessExit) {
				trace = nil // it stands behind a traceback's message and is no part of it
			}
			p.emit(Event{
				At: at, Header: h, Pattern: pat.Name, Kind: pat.Kind, Role: pat.Role, Phase: pat.Phase, Fields: f,
				Text: clip(body), Trace: trace,
			})
		}
	}
	return claimed
}

// kindOf tells sets of candidates apart (FNV-1a).
func kindOf(hits []int32) uint64 {
	h := uint64(14695981039346656037)
	for _, i := range hits {
		h = (h ^ uint64(uint32(i))) * 1099511628211
	}
	return h
}

// arm lets the patterns that follow on this one try the writer's next lines.
func (p *Parser) arm(s *stream, pattern int32, line int) {
	next := p.table.followers[pattern]
	if len(next) == 0 {
		return
	}
	s.armed = slices.DeleteFunc(s.armed, func(a armed) bool { return a.until < line })
	for _, f := range next {
		if len(s.armed) < maxArmed {
			s.armed = append(s.armed, armed{pattern: f, since: line, until: line + p.table.patterns[f].Within})
		}
	}
}

// appendRunes appends b to dst as runes, invalid bytes as U+FFFD.
func appendRunes(dst []rune, b []byte) []rune {
	for _, r := range string(b) {
		dst = append(dst, r)
	}
	return dst
}

// clip copies a message for an observation.
func clip(b []byte) string {
	if len(b) > maxText {
		b = b[:maxText]
	}
	return string(b)
}

// peek emits what an unfinished line says, without keeping anything of it.
func (p *Parser) peek(num int, offset int64, raw []byte, emit func(Observation)) {
	q := *p
	q.emit = emit
	q.needles, q.hits, q.runes = nil, nil, nil
	q.alike = maps.Clone(p.alike)
	first := !p.inLine
	envelope.Segments(raw, func(seg []byte) bool {
		var body []byte
		var h envelope.Header
		if first {
			body, h = envelope.Peel(seg)
			q.outer, first = h, false
		} else {
			body, h = envelope.PeelInherit(seg, q.outer)
		}
		var trace *traceback.Trace
		var copied stream
		if s := p.streams[h.Stream]; s != nil {
			trace, copied.armed = s.trace.Snapshot(), slices.Clone(s.armed)
		}
		q.match(Position{Source: p.source, Line: num, Offset: offset}, body, h, &copied, trace, q.find(body))
		return true
	})
}
