package envelope

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// maxRecord bounds a record that is decoded. Container runtimes cut at 16 KiB; a longer line is some program's JSON.
const maxRecord = 256 << 10

// record takes a whole line that is a JSON record of a log: docker's json-file driver (log, stream, time), fluent
// forwarders, journalctl -o json, structured loggers (message, levelname, asctime). The text needs company that only a
// log has, so that a program's own JSON stays what it is.
func (p *peeler) record(b []byte) ([]byte, bool) {
	if len(b) < 2 || len(b) > maxRecord || b[0] != '{' || b[1] != '"' && b[1] != ' ' {
		return nil, false
	}
	if !bytes.Contains(b, []byte(`"log"`)) && !bytes.Contains(b, []byte(`"m`)) && !bytes.Contains(b, []byte(`"MESSAGE"`)) {
		return nil, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) != nil {
		return nil, false
	}
	text, isDocker := fields["log"]
	for _, key := range [...]string{"message", "msg", "MESSAGE"} {
		if text == nil {
			text = fields[key]
		}
	}
	if len(text) < 2 || text[0] != '"' {
		return nil, false
	}
	st, timed := recordTime(fields)
	stream, streamed := fields["stream"]
	if !timed && !streamed {
		return nil, false
	}
	if timed {
		p.stamped(st)
	}
	for _, key := range [...]string{"levelname", "level", "severity", "lvl"} {
		if lv := levelFold(bytes.Trim(fields[key], `"`)); lv != 0 {
			p.h.Level = lv
		}
	}
	if streamed {
		p.label(append([]byte{classContainer}, unquote(stream)...))
	}
	p.who(fields)
	out := append(unquote(text), trouble(fields, 0)...)
	if isDocker {
		cut, whole := bytes.CutSuffix(out, []byte{'\n'})
		out, p.h.Partial = cut, p.h.Partial || !whole
	} else {
		out = bytes.TrimSuffix(out, []byte{'\n'})
	}
	return out, true
}

// trouble returns what loggers keep of an exception beside the message, each piece on lines of its own: exc_info
// (python-json-logger), exception (structlog), error and stacktrace (zap), an object with both (Elastic's schema, pino).
func trouble(fields map[string]json.RawMessage, depth int) []byte {
	var out []byte
	for _, key := range [...]string{
		"error", "err", "exc_info", "exc_text", "exc", "exception", "traceback", "stack", "stack_trace", "stacktrace", "error.message", "error.stack_trace",
	} {
		raw := bytes.TrimSpace(fields[key])
		switch {
		case len(raw) > 2 && raw[0] == '"':
			out = append(append(out, '\n'), unquote(raw)...)
		case len(raw) > 2 && raw[0] == '{' && depth == 0:
			var inner map[string]json.RawMessage
			if json.Unmarshal(raw, &inner) == nil {
				out = append(append(out, trouble(map[string]json.RawMessage{"error": inner["message"]}, 1)...), trouble(inner, 1)...)
			}
		}
	}
	return out
}

// who reads the writer of a record.
func (p *peeler) who(fields map[string]json.RawMessage) {
	before := p.h.Rank
	for _, t := range [...]struct {
		to   *int
		keys []string
	}{
		{&p.h.Rank, []string{"rank", "global_rank"}},
		{&p.h.LocalRank, []string{"local_rank"}},
		{&p.h.PID, []string{"pid", "process"}},
	} {
		for _, key := range t.keys {
			s := scanner{bytes.Trim(fields[key], `"`)}
			if n, ok := s.number(1, 9); ok && len(s.b) == 0 {
				*t.to = n
			}
		}
	}
	if p.h.Rank != before {
		p.label(strconv.AppendInt([]byte{classRank}, int64(p.h.Rank), 10))
	}
	for _, key := range [...]string{"host", "hostname", "_HOSTNAME"} {
		if name := unquote(fields[key]); p.h.Host == "" && len(name) < 254 && all(name, hostname) {
			p.h.Host = p.word(name)
		}
	}
}

// recordTime reads the time of a record.
func recordTime(fields map[string]json.RawMessage) (stamp, bool) {
	for _, key := range [...]string{"time", "timestamp", "ts", "asctime", "@timestamp", "t"} {
		s := scanner{bytes.Trim(fields[key], `"`)}
		if st, ok := s.stamp(); ok && len(s.b) == 0 {
			return st, true
		}
	}
	for _, key := range [...]string{"ts", "time", "timestamp"} { // seconds since 1970, with a fraction (zap, bunyan's kin)
		s := scanner{fields[key]}
		if sec, ok := s.fixed(9); ok {
			if last, ok := s.fixed(1); ok && (len(s.b) == 0 || s.peek() == '.') {
				return stamp{t: unixMicro((int64(sec)*10 + int64(last)) * 1e6), clock: clockISO, precision: toYear}, true
			}
		}
	}
	// journalctl -o json: microseconds since 1970, as a string.
	s := scanner{bytes.Trim(fields["__REALTIME_TIMESTAMP"], `"`)}
	if sec, ok := s.fixed(9); ok && len(s.b) == 7 && all(s.b, digit) {
		micro := int64(sec)*1e7 + int64(atoi(s.b))
		return stamp{t: unixMicro(micro), clock: clockISO, precision: toYear}, true
	}
	return stamp{}, false
}

func unixMicro(n int64) time.Time { return time.UnixMicro(n).UTC() }

// unquote decodes a JSON string that is known to be valid. Unlike encoding/json it keeps bytes that are no UTF-8: they
// are the program's, and a decoder that widens them would shift every offset.
func unquote(q []byte) []byte {
	if len(q) < 2 || q[0] != '"' {
		return nil
	}
	q = q[1 : len(q)-1]
	out := make([]byte, 0, len(q))
	for {
		i := bytes.IndexByte(q, '\\')
		if i < 0 || i+1 >= len(q) {
			return append(out, q...)
		}
		out = append(out, q[:i]...)
		c := q[i+1]
		q = q[i+2:]
		switch c {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			var r rune
			r, q = unicodeEscape(q)
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
}

// unicodeEscape reads the four digits behind \u, and the second half of a surrogate pair.
func unicodeEscape(q []byte) (rune, []byte) {
	r := hex4(q)
	q = q[min(4, len(q)):]
	if utf16.IsSurrogate(r) && len(q) >= 6 && q[0] == '\\' && q[1] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(q[2:])); pair != utf8.RuneError {
			return pair, q[6:]
		}
	}
	return r, q
}

func hex4(b []byte) rune {
	n, err := strconv.ParseUint(string(b[:min(4, len(b))]), 16, 16)
	if err != nil || len(b) < 4 {
		return utf8.RuneError
	}
	return rune(n)
}
