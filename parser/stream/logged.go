package stream

import (
	"bytes"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// errorLevel begins the record of an error where no time or name does.
var errorLevel = lazyre.New(`^(?:\[[^\[\]]{1,40}\]:? )?(?:ERROR|CRITICAL|FATAL):? {1,8}`)

// rankedByRecord gives an event the rank in the record right above its traceback, and reports whether there is one: logging writes the traceback
// below the message of whoever caught the exception (Logger.exception), and a program that writes its rank into its messages does so there.
func (r *Reader) rankedByRecord(e *parser.Event) bool {
	if e.Trace == nil || e.Header.Rank >= 0 || e.Header.Level != 0 || r.long != nil || !r.mayLookBack(0) {
		return false
	}
	first := e.Trace
	for first.Cause != nil {
		first = first.Cause
	}
	at, ok := r.lineOf(e)
	for line := e.At.Line; ok && line >= first.Line; line-- {
		at, ok = r.lineBefore(at)
	}
	for ok && bytes.HasPrefix(r.buf[at:], quoted) { // stands for a row that was joined to the one above
		at, ok = r.lineBefore(at)
	}
	if !ok {
		return false
	}
	record, _, _ := bytes.Cut(r.buf[at:], newline)
	body, h := envelope.Peel(record)
	if level := errorLevel().Find(body); h.Level == 0 && len(level) > 0 {
		_, own := envelope.Peel(body[len(level):])
		h.Level, h.Rank = 'E', max(h.Rank, own.Rank)
	}
	if h.Rank < 0 || h.Stream != e.Header.Stream || h.Level != 'E' && h.Level != 'F' {
		return false
	}
	e.Header.Rank = h.Rank
	return true
}
