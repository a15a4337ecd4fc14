package envelope

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"oomscan/parser/lazyre"
)

// maxRecord bounds a record that is decoded. Container runtimes cut at 16 KiB; a longer line is some program's JSON.
const maxRecord = 256 << 10

// messageKeys are where records keep the text of the log, the most particular first. Only some company makes the others a log's.
var messageKeys = [...]string{
	"log", "message", "msg", "_msg", "MESSAGE", "line", "textPayload", "_raw", "content", "stringValue", "short_message", "LogMessage", "LogEntry", "event", "@m", "@message", "Body", "Content", "_line", "@rawstring", "__content__", "__CONTENT__", "Log",
}

// plainKeys are where records of other collectors keep it. They are words of data sets and tools as well: only a record that has nothing
// but its time and its origin (see [origins]) beside them is a log's, or a line with its time alone.
var plainKeys = [...]string{"body", "text", "output", "Output", "data", "payload", "entry", "raw", "logline", "log_line", "rawLog", "logMessage", "out"}

// origins are keys that tell where a line of a log comes from, or its level.
var origins = map[string]bool{
	"stream": true, "stream_name": true, "host": true, "hostname": true, "node": true, "pod": true, "pod_name": true, "podName": true, "container": true, "container_name": true,
	"containerName": true, "namespace": true, "service": true, "level": true, "severity": true, "severity_text": true, "severityText": true, "labels": true, "applicationName": true, "subsystemName": true,
	"kubernetes": true, "resource": true, "Action": true,
}

// besides are further keys of such records.
var besides = map[string]bool{
	"attributes": true, "container_id": true, "file": true, "path": true, "filename": true, "offset": true, "observed_timestamp": true, "ingestionTime": true,
	"severity_number": true, "trace_id": true, "span_id": true, "flags": true, "tags": true, "tag": true, "source": true, "job": true, "app": true, "Package": true, "Test": true,
}

// wrappers are the objects in which records of collectors keep their text, and some of them more. Oracle's logs have an event in the first data,
// with a data of its own. In a message is another one (Graylog), or what somebody said.
var wrappers = [...]string{
	"jsonPayload", "attributes", "body", "result", "_source", "fields", "content", "contents", "resource", "labels", "kubernetes", "record", "time", "event", "map", "log", "log_processed", "data", "properties", "logContent", "data", "metadata", "message", "LogJson", "user_data",
}

// dockerPart is how long the text is at which Docker splits a record (daemon/logger/copier.go).
const dockerPart = 16 << 10

// record takes a whole line that is a record of a log: JSON of Docker's json-file driver (log, stream, time), of the collectors that
// [messageKeys] and [wrappers] are taken from, of journalctl -o json and of structured loggers (message, levelname, asctime); or
// logfmt with the same keys. The text needs company that only a log has, so that a program's own JSON stays what it is.
func (p *peeler) record(b []byte) ([]byte, bool) {
	fields := recordFields(b)
	if fields == nil {
		return nil, false
	}
	text := messageOf(fields)
	if text == nil {
		text = plainText(fields)
	}
	st, timed := recordTime(fields)
	stream, streamed := fields["stream"]
	if name := fields["stream_name"]; !streamed && (string(name) == `"stdout"` || string(name) == `"stderr"`) {
		stream, streamed = name, true // Kaggle's log of a notebook
	}
	tagged := isAlone(fields, text) || fields["_raw"] != nil && fields["_time"] != nil || fields["specversion"] != nil || fields["elapsed"] != nil && fields["text"] != nil || fields["logtag"] != nil || fields["partial_id"] != nil || ofContainer().Match(text)
	for _, key := range [...]string{"labels", "tags", "kubernetes"} {
		tagged = tagged || bytes.HasPrefix(fields[key], []byte{'{'})
	}
	if source := string(fields["source"]); source == `"stdout"` || source == `"stderr"` {
		stream, streamed = fields["source"], true // Docker's fluentd driver
	}
	logger := fields["level"] != nil && fields["hostname"] != nil && fields["pid"] != nil // bunyan, pino
	for _, key := range [...]string{"levelname", "level", "severity", "lvl"} {
		if lv := levelFold(bytes.Trim(fields[key], `"`)); lv != 0 {
			p.h.Level, logger = lv, true
		}
	}
	if text == nil || !timed && !streamed && !tagged && !logger && !isOfStep(fields) && fields["podName"] == nil && fields["pod_name"] == nil {
		return nil, false
	}
	if timed {
		p.keepTime(st)
	}
	if label := unquote(stream); len(label) > 0 {
		p.label(append([]byte{classContainer}, label...))
	}
	p.who(fields)
	out := append(withOutput(unquote(text), fields), trouble(fields, 0)...)
	cut, whole := bytes.CutSuffix(out, []byte{'\n'})
	p.h.Partial = p.h.Partial || !whole && isPart(fields, len(out))
	return cut, true
}

// recordFields are the fields of a line that is a record, nil when it is none.
func recordFields(b []byte) map[string]json.RawMessage {
	if len(b) < 2 || len(b) > maxRecord {
		return nil
	}
	if b[0] != '{' {
		return logfmt(b)
	}
	if b[1] != '"' && b[1] != ' ' || !hasKey(b, messageKeys[:]) && !hasKey(b, plainKeys[:]) {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) != nil {
		return fields
	}
	if messageOf(fields) == nil && plainText(fields) != nil {
		for k, v := range innerFields(fields["attributes"]) {
			if strings.HasPrefix(k, otelException) {
				fields[k] = v
			}
		}
		return fields
	}
	for i, key := range wrappers {
		raw := fields[key]
		if key == "LogJson" || key == "user_data" {
			raw = unquote(raw) // of Tencent and IBM, which keep the object as a text
		}
		inner := innerFields(raw)
		if key == "message" && inner["message"] == nil {
			continue
		}
		for k, v := range inner {
			outer, ok := fields[k]
			if isOpened := ok && outer[0] == '{' && slices.Contains(wrappers[:i+1], k); !ok || isOpened {
				fields[k] = v
			}
		}
	}
	return fields
}

// innerFields are the fields of an object in a record, or of a list of keys with their values, as a log group of Alibaba's SLS has them; nil for
// anything else.
func innerFields(raw json.RawMessage) (inner map[string]json.RawMessage) {
	switch {
	case len(raw) == 0:
	case raw[0] == '{':
		if json.Unmarshal(raw, &inner) != nil {
			return nil
		}
	case bytes.HasPrefix(raw, []byte(`[{"key"`)):
		var pairs []struct {
			Key   string          `json:"key"`
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal(raw, &pairs) != nil {
			return nil
		}
		inner = map[string]json.RawMessage{}
		for _, pair := range pairs {
			inner[pair.Key] = pair.Value
		}
	}
	return inner
}

// ofContainer begins a text in JSON that is a line of a container's log, which its runtime wrote.
var ofContainer = lazyre.New(`^"20\d\d-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d) std(?:err|out) [FP](?::\w{1,16})? `)

// isAlone reports whether a record has nothing but a line of a log. Texts of several lines are data.
func isAlone(fields map[string]json.RawMessage, text json.RawMessage) bool {
	return len(fields) == 1 && len(text) > 0 && bytes.IndexByte(bytes.TrimSuffix(unquote(text), []byte{'\n'}), '\n') < 0
}

// isChatRole reports whether a role is one of a conversation. Replicas of a job have roles, too.
func isChatRole(role json.RawMessage) bool {
	switch string(bytes.ToLower(bytes.Trim(role, `"`))) {
	case "", "worker", "master", "ps", "chief", "launcher", "leader", "head", "evaluator", "scheduler", "server", "driver", "executor", "replica", "trainer", "rollout":
		return false
	}
	return true
}

func hasKey(b []byte, keys []string) bool {
	for _, key := range keys {
		for rest := b; ; {
			i := bytes.Index(rest, []byte(key))
			if i < 0 {
				break
			}
			if i > 0 && rest[i-1] == '"' {
				return true
			}
			rest = rest[i+1:]
		}
	}
	return false
}

// messageOf is the text of a record, nil when it has none. What stands beside a role was said in a chat. The text of Loguru's records,
// which alone say how long the program runs, ends with the traceback that the message lacks.
func messageOf(fields map[string]json.RawMessage) (empty json.RawMessage) {
	if _, loguru := fields["elapsed"]; loguru && len(fields["text"]) > 2 {
		return fields["text"]
	}
	switch {
	case string(fields["event"]) == `"cmd_output"`:
		return fields["output"] // Semaphore names the kind of each record
	case isOfStep(fields):
		return fields["out"]
	}
	for _, key := range messageKeys {
		text := fields[key]
		var list []json.RawMessage
		if bytes.HasPrefix(text, []byte(`["`)) && json.Unmarshal(text, &list) == nil && len(list) == 1 {
			text = list[0] // Elasticsearch's answers to a search have lists of one
		}
		if len(text) < 2 || text[0] != '"' {
			continue
		}
		if key == "content" && isChatRole(fields["role"]) {
			continue
		}
		if len(text) > len(`""`) {
			return text
		}
		if empty == nil {
			empty = text
		}
	}
	return empty
}

// isOfStep reports whether a record is a line of a step's output in Drone, with its number and the seconds since the step began
// (drone/drone, core/logs.go), or in Woodpecker, with its number and the step's name.
func isOfStep(fields map[string]json.RawMessage) bool {
	return len(fields) == 3 && fields["pos"] != nil && (fields["time"] != nil || fields["proc"] != nil) && bytes.HasPrefix(fields["out"], []byte{'"'})
}

// withOutput returns a message with what another program printed, which the logger keeps beside it. A message that only introduces that is
// left out, as it would stand between the lines of a traceback.
func withOutput(message []byte, fields map[string]json.RawMessage) []byte {
	introduces := introduction().Match(message)
	out := message
	for _, key := range [...]string{"stderr", "stdout", "line"} {
		output := unquote(fields[key])
		switch {
		case bytes.IndexByte(output, ' ') < 0 || bytes.Equal(output, message):
		case introduces:
			out, introduces = output, false
		default:
			out = append(append(out, '\n'), output...)
		}
	}
	return out
}

// introduction is a message of a few words that ends with what comes: "child output". A failure does not end so.
var introduction = lazyre.New(`^(?:\w{1,20} ){0,3}(?i:output|stdout|stderr|subprocess)$`)

// otelException begins the attributes in which OpenTelemetry keeps an exception (semantic conventions, exceptions in logs).
const otelException = "exception."

// plainText is the text of a record that says nothing but what a line was, when, and where; nil when there is more in it.
func plainText(fields map[string]json.RawMessage) (text json.RawMessage) {
	from := false
	for key, value := range fields {
		switch {
		case slices.Contains(plainKeys[:], key):
			if text != nil || len(value) < 2 || value[0] != '"' {
				return nil
			}
			text = value
		case origins[key]:
			from = true
		case !besides[key] && !strings.HasPrefix(key, otelException) && !slices.Contains(timeKeys[:], key):
			return nil
		}
	}
	if !from && (text == nil || fields["text"] != nil || bytes.IndexByte(bytes.TrimSuffix(unquote(text), []byte{'\n'}), '\n') >= 0) {
		return nil // a text of several lines, as data sets have them
	}
	return text
}

// isPart reports whether more of a record's text comes in the next one. Docker's json-file driver says so by leaving the newline out,
// as the last line of a program may, too: then the length tells.
func isPart(fields map[string]json.RawMessage, size int) bool {
	for _, t := range [...]struct{ key, part string }{{"logtag", "P"}, {"partial_message", "true"}, {"CONTAINER_PARTIAL_MESSAGE", "true"}} {
		if v, ok := fields[t.key]; ok {
			return string(bytes.Trim(v, `"`)) == t.part && string(bytes.Trim(fields["partial_last"], `"`)) != "true"
		}
	}
	_, docker := fields["log"]
	return docker && size >= dockerPart
}

// logfmt reads a line of key=value pairs, with quotes around values that hold blanks. It begins with a time or a level. Where a program
// names its source file (Go's slog does), the pairs are its own and part of the message.
func logfmt(b []byte) map[string]json.RawMessage {
	if !isLogfmt(b) {
		return nil
	}
	fields := map[string]json.RawMessage{}
	for s := (scanner{b}); len(s.b) > 0; s.blanks() {
		name := s.while(word|dash|dot, maxLabel)
		if len(name) == 0 || !s.lit("=") || string(name) == "source" {
			return nil
		}
		if s.peek() != '"' {
			value, _, _ := bytes.Cut(s.b, []byte(" "))
			fields[string(name)] = slices.Concat([]byte{'"'}, value, []byte{'"'})
			s.skip(len(value))
			continue
		}
		n := 1
		for n < len(s.b) && s.b[n] != '"' {
			if s.b[n] == '\\' {
				n++
			}
			n++
		}
		if n >= len(s.b) {
			return nil
		}
		fields[string(name)] = s.b[:n+1]
		s.skip(n + 1)
	}
	return fields
}

// isLogfmt reports whether a line begins as a record in logfmt does.
func isLogfmt(b []byte) bool {
	switch key, _, ok := bytes.Cut(b[:min(len(b), 16)], []byte{'='}); string(key) {
	case "time", "ts", "t", "timestamp", "level", "lvl":
		return ok
	}
	return false
}

// trouble returns what loggers keep of an exception beside the message, each piece on lines of its own: exc_info
// (python-json-logger), exception (structlog), error and stacktrace (zap), an object with both (Elastic's schema, pino).
func trouble(fields map[string]json.RawMessage, depth int) []byte {
	var out []byte
	for _, key := range [...]string{
		"error", "err", "exc_info", "exc_text", "exc", "exception", "traceback", "stack", "stack_trace", "stacktrace", "error.message", "error.stack_trace", "exception.message", "exception.stacktrace",
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
		case len(raw) > 2 && raw[0] == '[' && depth == 0: // structlog's dict_tracebacks
			var list []struct {
				Type  string `json:"exc_type"`
				Value string `json:"exc_value"`
			}
			if json.Unmarshal(raw, &list) == nil {
				for _, x := range list {
					out = fmt.Appendf(out, "\n%s: %s", x.Type, x.Value)
				}
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
	if p.h.PID > 0 && p.h.Rank == Unknown { // it may be that of whoever collects what others print
		p.label(strconv.AppendInt([]byte(string(classHost)+p.h.Host+" record "), int64(p.h.PID), 10))
	}
}

// timeKeys are where records keep their time.
var timeKeys = [...]string{
	"time", "timestamp", "ts", "asctime", "@timestamp", "t", "Time", "_time", "_time_", "__time__", "timeUnixNano", "receiveTimestamp", "__REALTIME_TIMESTAMP",
	"TimeGenerated", "@t", "date", "Timestamp", "TimeStamp", "_ts", "__TIMESTAMP__", "_messagetime", "dt", "line_num", // Huawei's is a time
}

func recordTime(fields map[string]json.RawMessage) (stamp, bool) {
	for _, key := range timeKeys {
		s := scanner{bytes.Trim(fields[key], `"[]`)}
		if st, ok := s.stamp(); ok && len(s.b) == 0 {
			return st, true
		}
		if st, ok := s.epoch(); ok && len(s.b) == 0 {
			return st, true
		}
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
	n, err := strconv.ParseUint(string(b[:min(4, len(b))]), 16, 16)
	if err != nil || len(b) < 4 {
		return utf8.RuneError
	}
	return rune(n)
}
