package stream

import (
	"bytes"
	"slices"
	"sync"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/messages"
	"oomscan/parser/pattern"
)

// inUse reads what scripts print of the memory that is in use, by which one it is.
var inUse = sync.OnceValue(func() map[string]*pattern.Matcher {
	host, card := messages.HostInUse(), messages.CardInUse()
	return map[string]*pattern.Matcher{"host": {Pattern: &host}, "gpu": {Pattern: &card}}
})

// How far above a failure such readings are looked for, and how long a line of one may be.
const (
	inUseLines     = 500
	longestReading = 1 << 10
)

// readInUse emits how much memory was in use by the lines above the first failure of it: whether it grew until then is the first
// question. Such lines are too common in healthy logs to be searched for.
func (r *Reader) readInUse(e *parser.Event) {
	resource := e.Kind.Resource()
	reads := inUse()[resource]
	if reads == nil || slices.Contains(r.inUseRead, resource) || e.Role != parser.Evidence && e.Role != parser.Suspicion || r.long != nil {
		return
	}
	r.inUseRead = append(r.inUseRead, resource)
	at, ok := r.lineOf(e)
	if !ok {
		return
	}
	var found []parser.Gauge
	var peeler envelope.Peeler
	for line := e.At.Line - 1; line >= max(1, e.At.Line-inUseLines); line-- {
		before, ok := r.lineBefore(at)
		if !ok {
			break
		}
		raw := bytes.TrimRight(r.buf[before:at], "\r\n")
		if at = before; len(raw) > longestReading {
			continue
		}
		text, h := peeler.Peel(raw)
		if f, ok := reads.FieldsOf(pattern.Runes(nil, text)); ok {
			place := parser.Position{Source: e.At.Source, Line: line, Offset: r.base + int64(before), Passed: e.At.Passed}
			found = append(found, parser.Gauge{At: place, Header: h, Name: reads.Name, Fields: f, Text: string(text)})
		}
	}
	for _, g := range slices.Backward(found) {
		r.emit(g)
	}
}
