package stream

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/sample"
	"oomscan/parser/settings"
	"oomscan/parser/traceback"
)

// writer is what one writer has begun and not finished.
type writer struct {
	trace     traceback.Assembler
	settings  settings.Reader
	kernel    *traceback.KernelReport // nil for a writer who never began one, as most
	elastic   traceback.ElasticBlock
	header    envelope.Header // of the last line
	record    record          // of the last line
	opened    envelope.Header // of the line that opened the traceback: engines stamp only the first line of a message
	within    envelope.Header // of its last frame
	cut       *parser.Event   // a traceback that ended at other text: its end was cut off, or frames follow
	followUps []followUp      // patterns that wait for the next lines
	name      []byte          // a word of the line prefix that stands in each of the writer's lines; empty: none is known
	mark      mark
	sample    sample.Tracker
	withheld  []parser.Event // of the sample that is open
	died      bool           // a process did behind them
	pending   []byte         // a record that the container runtime split
	seen      int            // tick of the last message
	held      int            // bytes kept, about

	introduced bool // its line prefix names its process, and that was emitted
}

// followUp is a pattern that follows on another one, and the lines on which it is tried.
type followUp struct {
	pattern      int32
	since, until int
	tick         int // the same in messages: one line may be all of a log
}

// perLine is how many messages a line may hold before it counts as several.
const perLine = 64

// record identifies a record of one logger: lines with the same stamp and place are one record. The zero value is a
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

// writer returns the state of the writer that h names.
func (r *messageReader) writer(h *envelope.Header) *writer {
	key := h.Stream
	w, ok := r.writers[key]
	if !ok {
		if len(r.writers) >= maxWriters {
			r.forget(maxWriters*3/4, maxHeld)
		}
		w = &writer{opened: envelope.NewHeader(), name: nameIn(key)}
		r.writers[key] = w
	}
	w.seen, w.header = r.tick, *h
	return w
}

// join returns the writer of a message, and the message. One that the container runtime split is put together and its own prefixes
// are read; it is not ok while more of it must come.
func (r *messageReader) join(body []byte, h *envelope.Header) (w *writer, whole []byte, ok bool) {
	w = r.writer(h)
	if !h.Partial && len(w.pending) == 0 {
		return w, body, true
	}
	if len(w.pending)+len(body) <= maxPending {
		w.pending = append(w.pending, body...)
	}
	if ok = !h.Partial; ok {
		h.Partial = true
		whole, *h = r.peeler.PeelInherit(w.pending, *h)
		w.pending, h.Partial = nil, false
	}
	r.weigh(w)
	return r.writer(h), whole, ok
}

// weigh notes how much a writer keeps.
func (r *messageReader) weigh(w *writer) {
	n := len(w.pending) + w.trace.Held() + w.settings.Held() + w.kernel.Held() + w.elastic.Held()
	r.held += n - w.held
	w.held = n
	if r.held > maxHeld {
		r.forget(len(r.writers), maxHeld/2)
	}
}

// forget finishes and drops the writers that were idle longest, until no more than so many writers with so many bytes
// are left.
func (r *messageReader) forget(writers, held int) {
	type silent struct {
		key string
		*writer
	}
	all := make([]silent, 0, len(r.writers))
	for k, w := range r.writers {
		all = append(all, silent{k, w})
	}
	slices.SortFunc(all, func(a, b silent) int { return cmp.Compare(a.seen, b.seen) })
	for _, w := range all {
		if len(r.writers) <= writers && r.held <= held {
			return
		}
		r.finish(w.writer)
		r.held -= w.held
		delete(r.writers, w.key)
		delete(r.open, w.writer)
	}
}

// track keeps the set of writers with an open report.
func (r *messageReader) track(w *writer) {
	if w.mayFollowUp(r.now, r.tick) || w.isBuilding() || w.trace.Open() {
		r.open[w] = struct{}{}
		r.nextExpiry = min(r.nextExpiry, w.seen+quietAfter+1)
	} else {
		delete(r.open, w)
	}
	r.expireIdle()
}

// mayFollowUp reports whether a pattern waits for a line of the writer.
func (w *writer) mayFollowUp(line, tick int) bool {
	n := len(w.followUps)
	return n > 0 && w.followUps[n-1].until >= line && w.followUps[n-1].tick >= tick
}

// isBuilding reports whether a report of the writer is sure to go on.
func (w *writer) isBuilding() bool {
	return len(w.pending) > 0 || w.trace.Building() || w.settings.Open() || w.kernel.Open() || w.elastic.Open()
}

func (r *messageReader) isOpen(w *writer) bool {
	_, ok := r.open[w]
	return ok
}

// nameIn is the longest word of a writer's labels that stands as it is in the line. Short ones would be in any line.
func nameIn(labels string) []byte {
	longest := ""
	for label := range strings.SplitSeq(labels, "|") {
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

// expireIdle gives up the open reports of writers that stopped while others went on: of each as soon as it has been idle
// for long enough.
func (r *messageReader) expireIdle() {
	if len(r.open) == 0 || r.tick < r.nextExpiry {
		return
	}
	r.nextExpiry = math.MaxInt
	for w := range r.open {
		patience := quietAfter
		if w.isBuilding() {
			patience = staleAfter
		}
		if r.tick-w.seen > patience {
			w.trace.EndMessage()
			delete(r.open, w)
			continue
		}
		r.nextExpiry = min(r.nextExpiry, w.seen+patience+1)
	}
}
