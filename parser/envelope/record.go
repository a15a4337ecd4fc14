package envelope

import (
	"bytes"
	"encoding/json"
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
		p.stamp(st)
	}
	for _, key := range [...]string{"levelname", "level", "severity", "lvl"} {
		p.said(levelOf(bytes.ToUpper(bytes.Trim(fields[key], `"`))), nil)
	}
	if streamed {
		p.label(classContainer, string(unquote(stream)))
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
	told := p.h.Rank
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
	if p.h.Rank != told {
		p.label(classRank, p.itoa(p.h.Rank))
	}
	for _, key := range [...]string{"host", "hostname", "_HOSTNAME"} {
		if name := unquote(fields[key]); p.h.Host == "" && len(name) < 254 && all(name, isHost) {
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
				return stamp{t: unixMicro((int64(sec)*10 + int64(last)) * 1e6), clock: clockISO, tells: tellsYear}, true
			}
		}
	}
	// journalctl -o json: microseconds since 1970, as a string.
	s := scanner{bytes.Trim(fields["__REALTIME_TIMESTAMP"], `"`)}
	if sec, ok := s.fixed(9); ok && len(s.b) == 7 && all(s.b, isDigit) {
		micro := int64(sec)*1e7 + int64(atoi(s.b))
		return stamp{t: unixMicro(micro), clock: clockISO, tells: tellsYear}, true
	}
	return stamp{}, false
}

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
	if len(b) < 4 {
		return utf8.RuneError
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return utf8.RuneError
		}
	}
	return r
}

// cri takes the record of containerd and CRI-O: `2025-06-01T10:00:00.123456789Z stderr F text`. A stamp
// alone is [isoStamp]'s.
func cri(p *peeler, s scanner) ([]byte, bool) {
	st, ok := s.stamp()
	if !ok || st.sep != 'T' || st.clock != clockISO || !s.lit(" ") {
		return nil, false
	}
	stream := "stdout"
	if !s.lit("stdout ") {
		if !s.lit("stderr ") {
			return nil, false
		}
		stream = "stderr"
	}
	partial := s.lit("P")
	if !partial && !s.lit("F") {
		return nil, false
	}
	for s.lit(":") { // further tags, none is in use
		s.while(isWord, 16)
	}
	if !s.gap() {
		return nil, false
	}
	p.stamp(st)
	p.h.Partial = p.h.Partial || partial
	p.label(classContainer, stream)
	return s.b, true
}

// isoStamp takes the bare stamp of kubectl logs --timestamps and dmesg --time-format iso. With a logger's fields behind
// it, it is [bareStamp]'s.
func isoStamp(p *peeler, s scanner) ([]byte, bool) {
	st, ok := s.stamp()
	if !ok || st.sep != 'T' || st.clock != clockISO {
		return nil, false
	}
	f := fields{rank: Unknown}
	rest, ok := f.after(s, st, false)
	if !ok || f.level != 0 || f.logger != nil {
		return nil, false
	}
	p.stamp(st)
	return rest, true
}

// kubectl takes `[pod/job-0/main] ` of kubectl logs --prefix.
func kubectl(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[pod/") {
		return nil, false
	}
	pod := s.while(isHost, 253)
	if len(pod) == 0 || !s.lit("/") {
		return nil, false
	}
	container := s.while(isHost, 253)
	if len(container) == 0 || !s.lit("]") || !s.gap() {
		return nil, false
	}
	p.pod(pod, container)
	return s.b, true
}

// gcloud takes `[resource.labels.containerName: main] `, a summary field that Google's Logs Explorer puts behind level and
// time when logs are copied out of it. It trims the blanks that lines begin with.
func gcloud(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[resource.labels.") {
		return nil, false
	}
	name := s.while(isWord, 64)
	if !s.lit(": ") {
		return nil, false
	}
	value, ok := s.until("]", maxLabel)
	if !ok || !s.gap() {
		return nil, false
	}
	p.label(classContainer, p.word(name), p.word(value))
	return s.b, true
}

func (p *peeler) pod(pod, container []byte) {
	p.h.Host = string(pod)
	p.label(classContainer, p.word(pod), p.word(container))
}

// stern takes `job-0 main `: a pod with an ordinal or a generated suffix and a container with one of the names that
// training operators give (PyTorchJob, MPIJob, RayCluster, JobSet). Other pairs of words look too much like prose.
func stern(p *peeler, s scanner) ([]byte, bool) {
	pod := s.while(isHost, 253)
	i := bytes.LastIndexByte(pod, '-')
	if i < 1 || !isPodSuffix(pod[i+1:]) || some(pod, isUpper) || !s.lit(" ") {
		return nil, false
	}
	container := s.while(isHost, 63)
	switch string(container) {
	case "main", "pytorch", "tensorflow", "mpi", "launcher", "trainer", "ray-head", "ray-worker", "vllm", "sglang":
	default:
		return nil, false
	}
	if !s.gap() {
		return nil, false
	}
	p.pod(pod, container)
	return s.b, true
}

func isPodSuffix(b []byte) bool {
	return all(b, isDigit) && len(b) < 6 || len(b) == 5 && some(b, isDigit) && all(b, isWord)
}

// compose takes `trainer-1  | ` of docker compose: service and ordinal, padded to the longest.
func compose(p *peeler, s scanner) ([]byte, bool) {
	name := s.while(isHost, 128)
	i := bytes.LastIndexAny(name, "-_")
	if i < 1 || !all(name[i+1:], isDigit) || !isLower(name[0]) || s.blanks() == 0 || !s.lit("|") || !s.gap() {
		return nil, false
	}
	p.label(classContainer, p.word(name))
	return s.b, true
}
