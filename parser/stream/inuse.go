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

// inUsePatterns read what scripts print of the memory that is in use, by which one it is.
var inUsePatterns = sync.OnceValue(func() map[string]*pattern.Matcher {
	host, card := messages.HostInUse(), messages.CardInUse()
	return map[string]*pattern.Matcher{"host": {Pattern: &host}, "gpu": {Pattern: &card}}
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

// inUseReach is how far such readings were looked for.
type inUseReach struct {
	read bool // there were some, or a failure is certain
	to   int  // the line of the last failure above which they were looked for
}

// readInUse emits how much memory was in use by the lines above the first failure of it, or above the first suspected one that has such
// lines: whether it grew until then is the first question. They are too common in healthy logs to be searched for.
func (r *Reader) readInUse(e *parser.Event) {
	resource := e.Kind.Resource()
	reads := inUsePatterns()[resource]
	if reads == nil || r.inUse[resource].read || e.Role != parser.Evidence && e.Role != parser.Suspicion || r.long != nil {
		return
	}
	last := r.inUse[resource].to
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
		if f, ok := reads.FieldsOf(pattern.Runes(nil, text)); ok {
			found = append(found, parser.Gauge{At: place, Header: h, Name: reads.Name, Fields: f, Text: clip(text)})
		} else if n, ok := besidePID(text, e.Fields["pid"]); ok && resource == "host" {
			listed = append(listed, parser.Gauge{At: place, Header: h, Name: reads.Name, Fields: parser.Fields{"label": "rss", "used": strconv.FormatInt(n, 10)}, Text: clip(text)})
		}
		columns = columns || bytes.Contains(text, residentColumn)
	}
	if len(found) == 0 && columns {
		found = listed
	}
	certain := e.Role == parser.Evidence && e.Pattern != "kubernetes.oom_killed" // a shell's word of a kill may be of an earlier program, and a pod's state may stand anywhere
	r.inUse[resource] = inUseReach{len(found) > 0 || certain, e.At.Line}
	for _, g := range slices.Backward(found) {
		r.emit(g)
	}
}
