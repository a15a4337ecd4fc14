package stream

import (
	"bytes"
	"slices"
	"strconv"
	"sync"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/messages"
	"oomscan/parser/pattern"
)

// hostInUse reads what scripts print of the host memory that is in use.
var hostInUse = sync.OnceValue(func() *pattern.Matcher {
	p := messages.HostInUse()
	return &pattern.Matcher{Pattern: &p}
})

// How far above a failure such readings are looked for, and how long a line of one may be.
const (
	inUseLines     = 500
	longestReading = 1 << 10
)

// besidePID returns what ps says beside the number of a process, in a column of KiB without a heading.
func besidePID(text []byte, pid string) (int64, bool) {
	if pid == "" {
		return 0, false
	}
	words := bytes.Fields(text)
	i := slices.IndexFunc(words, func(w []byte) bool { return string(w) == pid })
	if i < 0 || i+1 == len(words) {
		return 0, false
	}
	const most = 1 << 40 // KiB
	n, err := strconv.ParseInt(string(words[i+1]), 10, 64)
	return n << 10, err == nil && n > 0 && n < most
}

// residentColumn is part of a command of ps that lists what processes hold beside their numbers.
var residentColumn = []byte("pid,rss")

// readInUse emits how much host memory was in use by the lines above the first failure of host memory, or above the first kill that has
// such lines: whether it grew until then is the first question. They are too common in healthy logs to be searched for.
func (r *Reader) readInUse(e *parser.Event) {
	if r.inUseRead || e.Kind.Resource() != "host" || e.Role != parser.Evidence && e.Role != parser.Suspicion || r.long != nil {
		return
	}
	last := r.inUseTo
	r.inUseTo = e.At.Line
	at, ok := r.lineOf(e)
	if !ok {
		return
	}
	var found, listed []parser.Gauge // by words, and by the columns of ps
	columns := false
	var peeler envelope.Peeler
	for line := e.At.Line - 1; line >= max(last+1, e.At.Line-inUseLines); line-- {
		before, ok := r.lineBefore(at)
		if !ok {
			break
		}
		raw := bytes.TrimRight(r.buf[before:at], "\r\n")
		if at = before; len(raw) > longestReading {
			continue
		}
		text, h := peeler.Peel(raw)
		place := parser.Position{Source: e.At.Source, Line: line, Offset: r.base + int64(before), Passed: e.At.Passed}
		if f, ok := hostInUse().FieldsOf(pattern.Runes(nil, text)); ok {
			found = append(found, parser.Gauge{At: place, Header: h, Name: hostInUse().Name, Fields: f, Text: string(text)})
		} else if n, ok := besidePID(text, e.Fields["pid"]); ok {
			listed = append(listed, parser.Gauge{At: place, Header: h, Name: hostInUse().Name, Fields: parser.Fields{"label": "rss", "used": strconv.FormatInt(n, 10)}, Text: string(text)})
		}
		columns = columns || bytes.Contains(text, residentColumn)
	}
	if len(found) == 0 && columns {
		found = listed
	}
	r.inUseRead = len(found) > 0 || e.Role == parser.Evidence // a shell's word of a kill may be of an earlier program
	for _, g := range slices.Backward(found) {
		r.emit(g)
	}
}
