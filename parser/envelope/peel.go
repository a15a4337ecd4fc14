package envelope

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// maxDepth is the most prefixes that one line may have.
const maxDepth = 8

// Peel takes the prefixes off line, one physical line or one of its [Segments], without its newline, and returns the
// program's own text and what the prefixes said. It never fails: what does not parse as a prefix is text.
//
// body shares line's memory, except when a container's record or a terminal sequence had to be decoded; it is never
// longer than line and holds no ESC. A record may decode to text with carriage returns in it: pass that through
// [Segments] again.
func Peel(line []byte) (body []byte, h Header) {
	var p peeler
	body = p.peel(line)
	return body, p.h
}

// A Peeler peels lines one after the other. It remembers the words of their labels, a bounded number of them, so that those
// that come again and again take no memory of their own. The zero value is ready; it serves one goroutine.
type Peeler struct{ peeler }

// Peel is [Peel].
func (w *Peeler) Peel(line []byte) (body []byte, h Header) {
	if w.words == nil {
		w.words = words{}
	}
	body = w.peel(line)
	return body, w.h
}

// Outer splits off the prefixes that launchers, collectors and Ray's driver put before a line, at most as many as most, and removes colors. It
// returns how many prefixes there are, and the stream that they name. With own, the outermost may be the program's. It does not look into
// records, and finds no prefix before a part of a line that a container runtime split. The results share line's memory, or that of a copy.
func (w *Peeler) Outer(line []byte, most int, own bool) (label, body []byte, depth int, stream string) {
	if w.words == nil {
		w.words = words{}
	}
	p := &w.peeler
	p.h, p.precision, p.depth, p.inner = unknown, 0, 0, false
	p.header, p.tried.at = &p.h, nil
	if bytes.HasPrefix(line, []byte("\x1b")) {
		line = clean(line)
	}
	body = line
	for most = min(most, maxDepth); p.depth < most && len(body) > 0 && body[0] != '{'; p.depth++ {
		if f := p.one(body); f == nil || p.inner && f.name != raysWorker && !(own && p.depth == 0) {
			break
		}
		if p.h.Partial {
			return nil, line, 0, ""
		}
		p.inner = false
		body, stream = p.b, p.h.Stream
	}
	return line[:len(line)-len(body)], body, p.depth, stream
}

// peeler is the state of one line being peeled.
type peeler struct {
	matcher
	h         Header
	precision int // of h.Time
	depth     int
	inner     bool      // a prefix of the program or its runtime is off: no launcher's label can follow
	words     words     // nil: none are remembered
	stamped   []*format // of labels that a supervisor put stamps before
}

func (p *peeler) peel(line []byte) []byte {
	p.h, p.precision, p.depth, p.inner = unknown, 0, 0, false
	p.header, p.tried.at = &p.h, nil
	b := p.records(fromHTML(dropLead(line)))
	if text := clean(b); len(text) < len(b) {
		b = clean(p.records(text)) // a terminal's colors were around a record
	}
	for !p.h.Partial && p.depth < maxDepth && p.one(b) != nil {
		b = p.b
		p.depth++
	}
	if p.h.Partial {
		return b // its own prefixes are read when it is whole
	}
	b = unfold(p.repeated(b))
	p.peekRank(b)
	return b
}

// records takes the records off that are all of b.
func (p *peeler) records(b []byte) []byte {
	for !p.h.Partial && p.depth < maxDepth {
		text, ok := p.record(b)
		if !ok {
			break
		}
		b = dropLead(text)
		p.depth++
	}
	return b
}

// one takes the outermost prefix off b, leaves what is behind it in p.b and returns its format, nil when there is none.
func (p *peeler) one(b []byte) *format {
	if len(b) == 0 {
		return nil
	}
	if b[0] == '{' {
		return p.labelledRecord(b)
	}
	p.whole = b
	for _, x := range byFirst[b[0]] {
		if !p.try(x.steps) || p.inner && x.outer && !p.isLabel(x.format) {
			continue
		}
		p.inner = p.inner || x.program
		p.keepPrefix(x)
		return x.format
	}
	return nil
}

// isLabel reports whether what looks like a launcher's label behind a program's stamp is one. It is where another prefix of the program
// follows, or what a runtime prints on lines of its own: then a supervisor put its stamp before what the launcher wrote, and before the
// lines without such a prefix, too.
func (p *peeler) isLabel(f *format) bool {
	if slices.Contains(p.stamped, f) || bytes.HasSuffix(p.taken(), []byte(">:")) {
		return true // no program writes mpirun's <stderr>:
	}
	if len(p.b) == 0 {
		return false
	}
	m := matcher{header: &unknown, whole: p.b}
	ok := bytes.HasPrefix(p.b, []byte("Traceback (most recent call last):")) || bytes.HasPrefix(p.b, []byte("terminate called ")) ||
		slices.ContainsFunc(byFirst[p.b[0]], func(x *prefix) bool { return !x.outer && m.try(x.steps) })
	if ok {
		p.stamped = append(p.stamped, f)
	}
	return ok
}

// recordFormat stands for a container's record with a launcher's label in front of it.
var recordFormat = &format{name: "record"}

func (p *peeler) labelledRecord(b []byte) *format {
	if p.depth == 0 || p.inner && !bytes.Contains(b, []byte(`"stream":"std`)) {
		return nil // records without a prefix were taken first, and behind a program's prefix is its own JSON
	}
	text, ok := p.record(b)
	if !ok {
		return nil
	}
	p.b, p.inner = clean(dropLead(text)), false // what was before it was the collector's
	return recordFormat
}

// keepPrefix writes down what a prefix said.
func (p *peeler) keepPrefix(f *prefix) {
	if len(f.label) > 0 {
		var room [128]byte
		p.label(p.appendLabel(room[:0], f.label))
	}
	if f.then != nil {
		f.then(&p.matcher)
	}
	numbers := p.h.numbers()
	for i := range p.found {
		c := &p.caught[i]
		if c.slot < slotHost && numbers[c.slot] != nil {
			*numbers[c.slot] = c.n
			continue
		}
		switch c.slot {
		case slotTime:
			p.keepTime(p.time)
		case slotLevel:
			p.h.Level = byte(c.n)
		case slotHost:
			p.h.Host = p.word(c.text)
		case slotLogger:
			p.h.Logger = p.word(c.text)
		case slotProcess:
			p.process(p.word(c.text))
		case slotPartial:
			p.h.Partial = true
		}
	}
}

// numbers are the header's numbers by their slot.
func (h *Header) numbers() [slotHost]*int {
	return [slotHost]*int{
		slotRank: &h.Rank, slotLocal: &h.LocalRank, slotTask: &h.Task, slotPID: &h.PID, slotDevice: &h.Device,
		slotTP: &h.TP, slotDP: &h.DP, slotPP: &h.PP, slotEP: &h.EP,
	}
}

func (p *peeler) process(name string) {
	if name == "" || name == "kernel" {
		return
	}
	p.h.Process, p.h.Actor = name, cmp.Or(p.h.Actor, name)
}

// keepTime keeps the time that has most of the date.
func (p *peeler) keepTime(st stamp) {
	if st.precision > p.precision {
		p.precision = st.precision
		p.h.Time, p.h.Clock = st.t, st.clock
	}
}

// Classes of labels; a stream is made of them. The label of a [format] begins with one.
const (
	classContainer = 'c'
	classHost      = 'h'
	classFile      = 'f'
	classTask      = 't'
	classLocal     = 'l'
	classRank      = 'r'
	classProcess   = 'p'
	classEngine    = 'e'
)

// labelSep separates the labels of a stream. No label holds it.
const labelSep = "|"

// label adds a label to the stream.
func (p *peeler) label(b []byte) {
	for i := bytes.IndexByte(b, labelSep[0]); i >= 0; i = bytes.IndexByte(b, labelSep[0]) {
		b[i] = '/'
	}
	if p.h.Stream == "" {
		p.h.Stream = p.word(b)
	} else {
		p.h.Stream += labelSep + p.word(b)
	}
}

// Bounds of the words that are remembered.
const (
	maxWords = 512
	maxWord  = 128
)

// words are the strings that a peeler made, by their bytes.
type words map[string]string

func (p *peeler) word(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := p.words[string(b)]; ok {
		return s
	}
	s := string(b)
	if p.words != nil && len(b) <= maxWord {
		if len(p.words) >= maxWords {
			clear(p.words)
		}
		p.words[s] = s
	}
	return s
}

// PeelInherit peels a segment that is not the first of its line. outer is the first segment's header: its labels stand
// for the whole line (Ray labels a progress bar's first rewrite only), unless the segment has labels of its own.
func (w *Peeler) PeelInherit(seg []byte, outer Header) (body []byte, h Header) {
	body, h = w.Peel(seg)
	return body, inherit(h, outer)
}

// A Line is a physical line whose segments are peeled one after the other. The zero value has begun none.
type Line struct {
	First Header // of the first segment
	Begun bool   // it was peeled
	Lead  bool   // First is what a collector put before all segments: its date counts
	Rest  bool   // a segment behind that was peeled, too: First has its labels
}

// Next peels a line's next segment: the first by [Peeler.Peel], the others by [Peeler.PeelInherit].
func (w *Peeler) Next(l *Line, seg []byte) (body []byte, h Header) {
	if l.Begun {
		if body, h = w.PeelInherit(seg, l.First); l.Lead && l.First.hasDate() {
			h.Time, h.Clock = l.First.Time, l.First.Clock
		}
		if l.Lead && !l.Rest {
			l.First, l.Rest = h, true
		}
		return body, h
	}
	body, h = w.Peel(seg)
	*l = Line{First: h, Begun: true}
	return body, h
}

// peekRank reads the rank that many programs print in front of their messages, some behind the dotted name of a logger. The words stay:
// messages of the NCCL watchdog ("[Rank 8] Watchdog caught ...") are made of them.
func (p *peeler) peekRank(b []byte) {
	s := scanner{b}
	if p.h.Rank != Unknown {
		return
	}
	if t := s; p.h.Level != 0 && isDotted(t.while(place, maxLabel)) && t.blanks() > 0 {
		s = t
	}
	if !s.lit("[") {
		return
	}
	if n, ok := s.rankWord(); ok {
		if s.lit("/") {
			s.number(1, 6)
		}
		if s.lit("]") {
			p.h.Rank = n
		}
	}
}

// inherit completes the header of a later segment of a line by what the first one said about the writer. Where both
// carry a label of one kind, the segment's own begins another writer, and so ends what is inherited. The runtime's label stands before all
// labels of a line that it split.
func inherit(h, outer Header) Header {
	if h.Clock == "" || outer.hasDate() && !h.hasDate() {
		h.Time, h.Clock = outer.Time, outer.Clock
	}
	h.Partial = h.Partial || outer.Partial
	if outer.Stream == "" {
		return h
	}
	labels := strings.Split(outer.Stream, labelSep)
	for i, l := range labels {
		if h.Stream != "" && l[0] == h.Stream[0] && !outer.Partial {
			labels = labels[:i]
			break
		}
	}
	for _, l := range labels {
		h.fill(l[0], outer)
	}
	if h.Stream != "" {
		labels = append(labels, h.Stream)
	}
	h.Stream = strings.Join(labels, labelSep)
	return h
}

// hasDate reports whether the time has a year.
func (h *Header) hasDate() bool { return h.Clock == "iso" || h.Clock == "local" }

// labelled are the numbers that a label of a class says, but for a process id.
var labelled = map[byte][]slot{
	classTask: {slotTask}, classLocal: {slotLocal}, classRank: {slotRank},
	classProcess: {slotRank, slotTP, slotDP, slotPP, slotEP}, classEngine: {slotRank, slotTP, slotDP, slotPP, slotEP},
}

// fill takes over from outer what a label of that class says, as far as h does not know it.
func (h *Header) fill(class byte, outer Header) {
	to, from := h.numbers(), outer.numbers()
	for _, s := range labelled[class] {
		if *to[s] == Unknown {
			*to[s] = *from[s]
		}
	}
	if class == classProcess || class == classEngine {
		h.Actor, h.Process, h.PID = outer.Actor, cmp.Or(h.Process, outer.Process), cmp.Or(h.PID, outer.PID)
	}
	if class == classContainer || class == classHost || class == classProcess {
		h.Host = cmp.Or(h.Host, outer.Host)
	}
}
