package stream

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/literal"
	"oomscan/parser/sample"
	"oomscan/parser/settings"
	"oomscan/parser/traceback"
)

// Limits of what a reader keeps in memory.
const (
	maxWriters    = 4096    // writers that one input may have; beyond that, those that were idle longest are forgotten
	maxHeld       = 8 << 20 // bytes that all writers together keep of what they have begun; beyond that, the same
	maxText       = 4 << 10 // bytes of a message that an observation keeps
	maxPending    = 64 << 10
	maxFollowUps  = 32
	maxAlike      = 2048 // events of messages with the same candidates: more add nothing, and each costs a match
	maxCandidates = 1024 // sets of candidates that are counted
	staleAfter    = 1000 // messages of others after which a writer's open report is given up
	quietAfter    = 24   // the same, when only a further line of a message might come
	maxIndent     = 64
	leastQuote    = 3 // blanks before each line of a log that is quoted below some words
	maxWords      = 8 // lines of these
	maxNames      = 8 // writers whose names are looked for in a line before its prefix is stripped
)

// Quoted begins the lines that oomscan itself wrote into a log. They quote other lines and are not read, not even by an open
// report around them.
const Quoted = "oomscan| "

// unclaimed is the pattern of an exception that no pattern claims.
const unclaimed = "traceback"

var quoted = []byte(Quoted)

// childCommand is in an exception that quotes the whole command of a child that failed, as accelerate launch ends with.
var childCommand = []byte("Error: Command '['")

// messageReader reads the messages of one input, in order, from the lines that matter. It keeps the state of each writer, which
// is a process as the line prefixes distinguish them.
type messageReader struct {
	source   string
	table    *Table
	emit     func(parser.Observation)
	await    func(from int, body []byte) // see [Reader.await]
	writers  map[string]*writer
	open     map[*writer]struct{} // writers with an open report
	physical envelope.Line        // that is read
	cuts     map[string]*cut      // lines that srun cut, by their label
	peeler   envelope.Peeler

	hits       []literal.Hit // of the last search, for reuse
	literals   []int         // of the message that is read
	candidates []int32
	runes      []rune
	alike      map[uint64]int // events emitted, by the patterns that were candidates
	memo       memo

	indent       int  // blanks that every line begins with
	words        int  // lines with text that have none
	empty        bool // the last line was
	lead         *lead
	now          int  // line being read
	passed       int  // lines before it that are not the log's own, see parser.Position
	noLiteral    bool // it holds no literal
	quotation    bool // the message read last is one as a whole, and so is the rest of a long line
	replaying    bool // the lines were deferred: they only show where the run is
	tick         int  // messages read: a line may hold many
	watched      watch
	nextExpiry   int   // tick at which the next open report may be stale
	held         int   // bytes that all writers keep
	maxLine      int   // bytes of a line that is read as a whole
	quoted       int   // events that samples hold
	killed       int   // processes in reports of the kernel: [maxAlike] at most, and those of reports that were open then
	longLineEnds int64 // offset of the end of the last longer line, or inLongLine
}

// inLongLine is the end of the last longer line while it is being read.
const inLongLine = math.MaxInt64

func newMessageReader(source string, t *Table, maxLine int, emit func(parser.Observation)) *messageReader {
	return &messageReader{
		source: source, table: t, emit: emit, alike: map[uint64]int{}, memo: newMemo(), maxLine: maxLine, indent: maxIndent, lead: new(lead),
		writers: map[string]*writer{}, open: map[*writer]struct{}{}, cuts: map[string]*cut{},
	}
}

// needsEveryLine reports whether the line at this place must be looked at even if it holds no literal.
func (r *messageReader) needsEveryLine(line int, offset int64) bool {
	return len(r.open) > 0 || len(r.cuts) > 0 || r.inHead(line, offset) || r.watched.covers(line, offset)
}

// mayContinue reports whether a line without a literal might be of a writer with an open report. Only its prefix would show that
// for sure; to look for the writer's name is far cheaper. header is nil for a line: the pieces of a long one may leave the name
// to its first segment.
func (r *messageReader) mayContinue(raw []byte, header *envelope.Header) bool {
	if len(r.open) == 0 {
		return len(r.cuts) > 0
	}
	if len(r.cuts) > 0 || len(r.open) > maxNames || bytes.HasPrefix(raw, []byte{'{'}) {
		return true
	}
	for w := range r.open {
		if len(w.name) == 0 || bytes.Contains(raw, w.name) || header != nil && strings.Contains(header.Stream, string(w.name)) {
			return true
		}
	}
	return false
}

// passOver leaves out a line of oomscan itself, such as the row of a line that was broken: who waits for the next lines of a log waits on.
func (r *messageReader) passOver() {
	r.passed++
	for w := range r.open {
		for i := range w.followUps {
			w.followUps[i].until++
		}
	}
}

// skipLine counts a line of a writer without an open report.
func (r *messageReader) skipLine() {
	r.tick++
	r.expireIdle()
}

// inHead reports whether a place is in the part of the input in which every line is read.
func (r *messageReader) inHead(line int, offset int64) bool {
	return line <= r.table.headLines && offset < headBytes
}

// line reads one physical line or a piece of one.
func (r *messageReader) line(num int, offset int64, raw []byte, continued bool) {
	r.now = num
	at := parser.Position{Source: r.source, Line: num, Offset: offset, Passed: r.passed}
	if continued && r.quotation {
		return
	}
	if !continued {
		r.endOfLine()
		raw = r.unindent(at, raw)
		if !r.replaying && r.inHead(num, offset) && !r.inTraceback() {
			r.lead.learn(raw)
		}
		raw = r.withoutLead(&r.physical, raw)
		if len(r.cuts) > 0 {
			r.expireCuts(false)
		}
		var ok bool
		if at, raw, ok = r.rejoin(at, raw); !ok {
			return
		}
	}
	r.segments(at, raw, !continued)
}

// inTraceback reports whether a traceback is unfinished. Its lines must go on as they began.
func (r *messageReader) inTraceback() bool {
	for w := range r.open {
		if w.trace.Building() {
			return true
		}
	}
	return false
}

// withoutLead takes the lead off a line that l has not begun, and reads the prefixes in it.
func (r *messageReader) withoutLead(l *envelope.Line, raw []byte) []byte {
	n := r.lead.length(raw)
	if n == 0 || l.Begun {
		return raw
	}
	_, l.First = r.peeler.Peel(raw[:n])
	l.Begun, l.Lead = true, true
	return raw[n:]
}

// unindent takes the blanks off that every line of a quoted log begins with. Numbers are right-aligned for other reasons where the first line
// has one, and some programs begin their lines with one blank.
func (r *messageReader) unindent(at parser.Position, raw []byte) []byte {
	raw = envelope.Unrepr(raw)
	if r.indent == 0 {
		if !r.mayQuote(raw) {
			return raw
		}
		r.indent = maxIndent
	}
	n := len(raw) - len(bytes.TrimLeft(raw, " \t"))
	if bytes.HasPrefix(raw[n:], []byte(`File "`)) {
		n = max(n-2, 0) // a frame of a traceback has two blanks of its own
	}
	switch {
	case n == len(raw):
		return nil
	case !r.inHead(at.Line, at.Offset):
		if r.indent == maxIndent {
			r.indent = 0 // nothing was read from the beginning on
		}
	case n == 0, n == 1 && raw[0] == ' ', r.indent == maxIndent && isNumbered(raw[n:]):
		r.indent = 0
	default:
		r.indent = min(r.indent, n)
	}
	return raw[min(n, r.indent):]
}

// mayQuote reports whether a log may begin with a line that is indented: few words are before it, and then an empty line.
func (r *messageReader) mayQuote(raw []byte) bool {
	empty := r.empty
	if r.empty = len(bytes.TrimSpace(raw)) == 0; r.empty || r.words >= maxWords {
		return false
	}
	r.words++
	return empty && len(raw)-len(bytes.TrimLeft(raw, " \t")) >= leastQuote
}

// isNumbered reports whether a line begins with its number, or its task's.
func isNumbered(raw []byte) bool {
	rest := bytes.TrimLeft(raw, "0123456789")
	return len(rest) < len(raw) && (bytes.HasPrefix(rest, []byte(": ")) || bytes.HasPrefix(rest, []byte{'\t'}))
}

// segments reads the messages of a line, or of a further piece of one: several writers or states of a progress bar may share it.
func (r *messageReader) segments(at parser.Position, raw []byte, begins bool) {
	envelope.Segments(raw, func(seg []byte) bool {
		if begins || r.wantsSegment(at, seg) {
			body, h := r.peeler.Next(&r.physical, seg)
			r.parts(at, body, h)
		}
		begins = false
		return true
	})
}

// wantsSegment is false for nearly all of the thousand states of a progress bar.
func (r *messageReader) wantsSegment(at parser.Position, seg []byte) bool {
	return len(r.open) > 0 || len(r.cuts) > 0 || r.inHead(at.Line, at.Offset) ||
		r.watched.covers(at.Line, at.Offset) && r.watched.mayCount(seg) || len(r.search(seg)) > 0
}

// search returns the literals of a text. The slice is valid until the next call.
func (r *messageReader) search(text []byte) []literal.Hit {
	r.hits = r.table.finder.Scan(text, 0, len(text), r.hits[:0])
	return r.hits
}

// parts reads the lines of a record: a container's or a logger's JSON may hold several, and progress bars among them.
func (r *messageReader) parts(at parser.Position, body []byte, h envelope.Header) {
	if bytes.IndexByte(body, '\n') < 0 && bytes.IndexByte(body, '\r') < 0 {
		r.message(at, body, h)
		return
	}
	for part := range bytes.SplitSeq(body, []byte{'\n'}) {
		for seg := range bytes.SplitSeq(bytes.TrimSuffix(part, []byte{'\r'}), []byte{'\r'}) {
			r.message(at, seg, h)
		}
	}
}

func (r *messageReader) endOfLine() {
	r.physical.Begun, r.physical.Lead, r.physical.Rest, r.quotation = false, false, false, false
}

// message reads one message of one writer.
func (r *messageReader) message(at parser.Position, body []byte, h envelope.Header) {
	if bytes.HasPrefix(body, quoted) {
		return
	}
	if r.replaying {
		r.replay(at, body, h)
		return
	}
	if r.noLiteral && !h.Partial && r.isIrrelevant(at, body, &h) {
		r.skipLine()
		return
	}
	r.tick++
	w, body, ok := r.join(body, &h)
	if !ok {
		r.track(w) // its next part is read whatever it holds
		return
	}
	if rec := recordOf(&h); rec != (record{}) && rec != w.record {
		w.trace.EndMessage()
		w.record = rec
	}
	if rest := w.mark.off(body); len(rest) < len(body) {
		if r.quotation = w.mark.sandboxed; r.quotation {
			r.track(w)
			return
		}
		envelope.ReadLabel(&h, body[:len(body)-len(rest)])
		body = rest
	}
	if r.inSample(at, body, h, w) {
		r.track(w)
		return
	}
	if r.quotation = r.isQuotation(body, r.find(body)); r.quotation {
		r.track(w)
		return
	}
	if r.watched.covers(at.Line, at.Offset) {
		r.watch(at, body, h)
	}
	r.introduce(at, h, w)
	state := w.trace.Feed(at.Line, body)
	if t := w.trace.Below(); t != nil {
		r.emit(*r.cutEvent(t, w))
	}
	switch state {
	case traceback.Header:
		r.cutOff(w)
		w.opened, w.within = h, h
	case traceback.FrameLine:
		w.within, w.cut = h, nil
	}
	r.reports(at, body, h, w)
	if state == traceback.Outside || w.settings.Open() || state == traceback.Final && bytes.Contains(body, childCommand) {
		r.readSettings(at, body, h, w)
	}
	if state != traceback.FrameLine && state != traceback.Code {
		r.event(at, body, h, w, state)
	}
	r.track(w)
	r.weigh(w)
}

// mark follows the marks of samples in a line that is not read.
func (r *messageReader) mark(e *entry) {
	line := e.begun()
	envelope.Segments(r.withoutLead(&line, e.text), func(seg []byte) bool {
		body, h := r.peeler.Next(&line, seg)
		at := parser.Position{Line: e.line, Offset: e.place}
		if r.writers[h.Stream] == nil {
			if mark, _ := sample.Last(body); mark < 0 {
				return true // it has no sample that the message could end
			}
		}
		w := r.writer(&h)
		was := w.sample
		r.settle(w, w.sample.Place(at, r.longLineEnds, body, &h, counts), was, body)
		return true
	})
}

// isIrrelevant reports whether a message without a literal belongs to no open report or sample and is no sign of progress.
func (r *messageReader) isIrrelevant(at parser.Position, body []byte, h *envelope.Header) bool {
	w := r.writers[h.Stream]
	if w != nil && (len(w.pending) > 0 || r.isOpen(w) || w.sample != (sample.Tracker{})) {
		return false
	}
	return !r.watched.covers(at.Line, at.Offset) || !r.mayMatter(body, h)
}

// event matches a message, and makes an exception that no pattern claims and no veto matches an event of its own.
func (r *messageReader) event(at parser.Position, body []byte, h envelope.Header, w *writer, state traceback.State) {
	var trace *traceback.Trace
	switch state {
	case traceback.Final, traceback.Continuation:
		trace = w.trace.Trace()
		h = h.Inherit(&w.opened, &w.within)
	case traceback.Header:
		trace = w.trace.Announced() // the remote traceback itself may be cut away
	}
	claimed := r.match(at, body, h, w, trace)
	switch {
	case state != traceback.Final || claimed || trace == nil:
	case trace.Exception == "" && trace.Message != "": // that of a thread in faulthandler's dump has neither
		t := *trace
		t.EndLine, t.Message = 0, ""
		w.cut = r.cutEvent(&t, w)
	case trace.Exception != "" && !r.isVetoed(body):
		r.emit(parser.Event{
			At: at, Header: h, Pattern: unclaimed, Kind: parser.Exception, Role: parser.Context,
			Fields: parser.Fields{"class": trace.Exception}, Text: clip(body), Trace: trace,
		})
	}
}

// introduce notes which process a writer is where its line prefix alone shows it, at the beginning of an input: loggers put
// rank, pid and host on their records, and a later one may name only one of them. What has a label may count its own ranks. The
// class in Ray's label may tell the program.
func (r *messageReader) introduce(at parser.Position, h envelope.Header, w *writer) {
	if w.introduced || !r.inHead(at.Line, at.Offset) {
		return
	}
	if ranked := h.Rank >= 0 && h.PID > 0 && (h.Host != "" || h.Process == ""); !ranked && !h.OfActor() {
		return
	}
	w.introduced = true
	r.emit(parser.Marker{At: at, Header: h, Name: "identity", Fields: parser.Fields{}})
}

// readSettings reads configuration out of a message that is no part of a traceback.
func (r *messageReader) readSettings(at parser.Position, body []byte, h envelope.Header, w *writer) {
	worth := w.settings.Open() || r.inHead(at.Line, at.Offset) && settings.Worth(body) ||
		slices.ContainsFunc(r.literals, func(id int) bool { return r.table.literals[id].settings })
	if worth {
		r.emitSettings(h, w.settings.Feed(at.Line, body))
	}
}

func (r *messageReader) emitSettings(h envelope.Header, pairs []settings.Pair) {
	for _, kv := range pairs {
		at := parser.Position{Source: r.source, Line: kv.Line, Passed: r.passed}
		r.emit(parser.Setting{At: at, Header: h, Key: kv.Key, Value: kv.Value, Form: kv.Form})
	}
}

// countQuoted counts a line of which nothing is read if it holds an event.
func (r *messageReader) countQuoted(num int, offset int64, raw []byte) {
	r.peek(num, offset, raw, func(o parser.Observation) {
		if _, ok := o.(parser.Event); ok {
			r.quoted++
		}
	})
}

// peek emits what an unfinished line holds and keeps no state of it.
func (r *messageReader) peek(num int, offset int64, raw []byte, emit func(parser.Observation)) {
	q := *r
	q.emit = emit
	q.literals, q.candidates, q.runes, q.hits = nil, nil, nil, nil
	q.alike = maps.Clone(r.alike)
	raw = q.unindent(parser.Position{Line: num, Offset: offset}, raw)
	envelope.Segments(q.withoutLead(&q.physical, raw), func(seg []byte) bool {
		body, h := q.peeler.Next(&q.physical, seg)
		var trace *traceback.Trace
		var copied writer
		if w := r.writers[h.Stream]; w != nil {
			trace, copied.followUps, copied.sample = w.trace.Snapshot(), slices.Clone(w.followUps), w.sample
		}
		at := parser.Position{Source: r.source, Line: num, Offset: offset, Passed: r.passed}
		if literals := q.find(body); copied.sample.Place(at, q.longLineEnds, body, &h, counts) == sample.Outside && !q.isQuotation(body, literals) {
			q.match(at, body, h, &copied, trace)
		}
		return true
	})
}
