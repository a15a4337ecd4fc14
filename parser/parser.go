package parser

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"

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
	maxNames   = 8    // writers whose names are looked for in a line before it is peeled
)

// Quoted begins the lines that oomscan itself wrote into a log. They quote other lines of it and are not read: not even by
// a report that is open around them.
const Quoted = "oomscan| "

// unclaimed is the pattern of an exception that no pattern claims.
const unclaimed = "traceback"

var quoted = []byte(Quoted)

// childCommand is in an exception that quotes the whole command of a child that failed, as accelerate launch ends with.
var childCommand = []byte("Error: Command '['")

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
	prober  prober
	peeler  envelope.Peeler
	now     int  // line being read
	plain   bool // it holds no needle
	muted   bool // what its needles say is told later
	retold  bool // the lines have waited: they only tell where the run is
	begun   map[string]begun
	tick    int // messages read: a line may hold many
	watched watch
	sweepAt int   // tick at which the next of those who are awaited may have been silent for long enough
	held    int   // bytes that all streams keep
	most    int   // streams told apart
	maxLine int   // bytes of a line that is read as a whole
	long    int64 // where the last line ends that is longer, or inLongLine
}

// inLongLine says that the line that is being read is longer than is read as a whole.
const inLongLine = math.MaxInt64

func newParser(source string, t *compiled, emit func(Observation)) *Parser {
	return &Parser{
		source: source, table: t, prober: prober{table: t}, emit: emit, alike: map[uint64]int{}, maxLine: DefaultLine,
		most: maxStreams, streams: map[string]*stream{}, open: map[*stream]struct{}{}, cuts: map[string]*cut{},
	}
}

// wants says whether the line at this place is to be delivered whether it holds a needle or not.
func (p *Parser) wants(line int, offset int64) bool {
	return len(p.open) > 0 || len(p.cuts) > 0 || p.head(line, offset)
}

// concerned says whether a line without a needle might be of a writer whose next lines are awaited. To peel the line would
// tell for sure; to look for the writer's name is far cheaper. outer is nil for a line: the pieces of a long one may leave the
// name to its first segment.
func (p *Parser) concerned(line int, offset int64, raw []byte, outer *envelope.Header) bool {
	if len(p.cuts) > 0 || len(p.open) > maxNames || p.head(line, offset) || len(raw) > 0 && raw[0] == '{' {
		return true
	}
	for s := range p.open {
		if len(s.name) == 0 || bytes.Contains(raw, s.name) || outer != nil && strings.Contains(outer.Stream, string(s.name)) {
			return true
		}
	}
	return false
}

// pass notes a line of a writer whose lines nobody awaits.
func (p *Parser) pass() {
	p.tick++
	p.mind()
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
		if p.inLine && !p.wants(at.Line, at.Offset) && (!p.watched.covers(at.Line, at.Offset) || !mayCount(seg)) {
			// one of the thousand states of a progress bar: most say nothing
			if _, ok := p.table.finder.Next(seg, 0); !ok {
				return true
			}
		}
		if p.inLine {
			body, h = p.peeler.PeelInherit(seg, p.outer)
		} else {
			body, h = p.peeler.Peel(seg)
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

// message reads one message of one writer.
func (p *Parser) message(at Position, body []byte, h envelope.Header) {
	if bytes.HasPrefix(body, quoted) {
		return
	}
	if p.retold {
		p.retell(at, body, h)
		return
	}
	if p.plain && !h.Partial {
		s := p.streams[h.Stream]
		if (s == nil || len(s.pending) == 0 && !p.awaits(s)) && (!p.watched.covers(at.Line, at.Offset) || !p.shows(body, s)) {
			p.pass()
			return
		}
	}
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
	needles := p.find(body)
	if s.sample.covers(at, p.long, body, &h) || p.quoting(body, needles) {
		p.track(s)
		return
	}
	if !p.muted && p.watched.covers(at.Line, at.Offset) {
		p.watch(at, body, h)
	}
	p.introduce(at, h, s)
	state := s.trace.Feed(at.Line, body)
	if state == traceback.Header {
		s.opened = h
	}
	p.reports(at, body, h, s, needles)
	if state == traceback.Outside || s.settings.Open() || state == traceback.Final && bytes.Contains(body, childCommand) {
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
				At: at, Header: h, Pattern: unclaimed, Kind: Exception, Role: Context,
				Fields: Fields{"class": trace.Exception}, Text: clip(body), Trace: trace,
			})
		}
	}
	p.track(s)
	p.weigh(s)
}

// introduce notes which process a writer is where its envelope alone says so, at the beginning of an input: structured
// loggers put rank, host and pid on their records, and a later one may name only one of them.
func (p *Parser) introduce(at Position, h envelope.Header, s *stream) {
	if s.introduced || h.Rank < 0 || h.PID <= 0 || h.Host == "" || !p.head(at.Line, at.Offset) {
		return
	}
	s.introduced = true
	p.emit(Marker{At: at, Header: h, Name: "identity", Fields: Fields{}})
}

// inherit completes the envelope of a message's later line by that of the line which opened its traceback.
func inherit(h envelope.Header, first *envelope.Header) envelope.Header {
	// a stamp of the program itself begins a message of its own; one that a collector put on every line does not
	bare := h.Time.IsZero() || h.Clock != "local" && h.Level == 0 && h.Logger == "" && h.Stream == first.Stream
	for _, t := range []struct{ to, from *int }{{&h.TP, &first.TP}, {&h.DP, &first.DP}, {&h.PP, &first.PP}, {&h.EP, &first.EP}, {&h.Rank, &first.Rank}} {
		if *t.to < 0 && bare {
			*t.to = *t.from
		}
	}
	if h.Time.IsZero() {
		h.Time, h.Clock = first.Time, first.Clock
	}
	return h
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

// mark follows the marks of samples in a line that nobody else reads.
func (p *Parser) mark(e *waiting) {
	outer, first := envelope.Header{}, true
	if e.outer != nil {
		outer, first = *e.outer, false
	}
	envelope.Segments(e.text, func(seg []byte) bool {
		var body []byte
		var h envelope.Header
		if first {
			body, h = p.peeler.Peel(seg)
			outer, first = h, false
		} else {
			body, h = p.peeler.PeelInherit(seg, outer)
		}
		p.stream(&h).sample.covers(Position{Line: e.line, Offset: e.offset}, p.long, body, &h)
		return true
	})
}

// flood says that so many events came out of messages with these candidates that more of them tell nothing new.
func (p *Parser) flood(kind uint64) bool { return p.alike[kind] >= maxAlike }

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
			trace, copied.armed, copied.sample = s.trace.Snapshot(), slices.Clone(s.armed), s.sample
		}
		at := Position{Source: p.source, Line: num, Offset: offset}
		if needles := q.find(body); !copied.sample.covers(at, q.long, body, &h) && !q.quoting(body, needles) {
			q.match(at, body, h, &copied, trace, needles)
		}
		return true
	})
}
