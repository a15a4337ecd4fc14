package parser

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"oomscan/parser/envelope"
	"oomscan/parser/settings"
	"oomscan/parser/traceback"
)

// stream is what one writer has begun and not finished.
type stream struct {
	trace    traceback.Assembler
	settings settings.Reader
	kernel   *traceback.KernelReport // nil for a writer who never said anything like it, as most
	elastic  traceback.ElasticBlock
	header   envelope.Header // of the last line
	record   record          // of the last line
	opened   envelope.Header // of the line that opened the traceback: engines stamp only the first line of a message
	armed    []armed
	name     []byte // a word of the envelope that stands in each of the writer's lines; empty: none is known
	sample   sampling
	pending  []byte // a record that the container runtime split
	seen     int    // tick of the last message
	held     int    // bytes kept, about

	introduced bool // its envelope told which process it is
}

// armed is a pattern that follows on another one, and the lines on which it is tried.
type armed struct {
	pattern      int32
	since, until int
	tick         int // the same in messages: one line may be all of a log
}

// perLine is how many messages a line may hold before it counts as several.
const perLine = 64

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

// stream returns the state of the writer that h names.
func (p *Parser) stream(h *envelope.Header) *stream {
	key := h.Stream
	s, ok := p.streams[key]
	if !ok {
		if len(p.streams) >= p.most {
			p.forget(p.most*3/4, maxHeld)
		}
		s = &stream{opened: envelope.NewHeader(), name: nameIn(key)}
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
	type silent struct {
		key string
		*stream
	}
	all := make([]silent, 0, len(p.streams))
	for k, s := range p.streams {
		all = append(all, silent{k, s})
	}
	slices.SortFunc(all, func(a, b silent) int { return cmp.Compare(a.seen, b.seen) })
	for _, s := range all {
		if len(p.streams) <= streams && p.held <= held {
			return
		}
		p.finish(s.stream)
		p.held -= s.held
		delete(p.streams, s.key)
		delete(p.open, s.stream)
	}
}

// track keeps the set of streams that wait for more lines.
func (p *Parser) track(s *stream) {
	waits := len(s.armed) > 0 && s.armed[len(s.armed)-1].until >= p.now && s.armed[len(s.armed)-1].tick >= p.tick
	if waits || s.trace.Open() || s.settings.Open() || s.kernel.Open() || s.elastic.Open() {
		p.open[s] = struct{}{}
		p.sweepAt = min(p.sweepAt, s.seen+quietAfter+1)
	} else {
		delete(p.open, s)
	}
	p.mind()
}

// awaits says whether more lines of a writer are awaited.
func (p *Parser) awaits(s *stream) bool {
	_, ok := p.open[s]
	return ok
}

// mind stops waiting for those who fell silent, if one of them may have.
func (p *Parser) mind() {
	if len(p.open) > 0 && p.tick >= p.sweepAt {
		p.sweep()
	}
}

// nameIn is the longest word of a stream's labels that stands as it is in the line. Short ones would be in any line.
func nameIn(stream string) []byte {
	longest := ""
	for label := range strings.SplitSeq(stream, "|") {
		if label == "" {
			continue
		}
		for word := range strings.FieldsSeq(label[1:]) {
			if len(word) > len(longest) {
				longest = word
			}
		}
	}
	if len(longest) < 5 {
		return nil
	}
	return []byte(longest)
}

// sweep stops waiting for streams that fell silent while others went on: for each as soon as it has been silent for long
// enough, whatever was read before.
func (p *Parser) sweep() {
	p.sweepAt = math.MaxInt
	for o := range p.open {
		patience := quietAfter
		if o.trace.Building() || o.settings.Open() || o.kernel.Open() || o.elastic.Open() {
			patience = staleAfter
		}
		if p.tick-o.seen > patience {
			o.trace.EndMessage()
			delete(p.open, o)
			continue
		}
		p.sweepAt = min(p.sweepAt, o.seen+patience+1)
	}
}
