package source

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"oomscan/parser/lazyre"
)

// minEscaped is how many escaped newlines make a long JSON string a log.
const minEscaped = 4

// isEscaped reports whether a log was saved as one JSON string, alone or in a record: a single line with escaped
// newlines. Records of rollouts and data sets look the same, but their text is quoted and did not happen.
func isEscaped(head []byte) bool {
	if len(head) == 0 || head[0] != '"' && !bytesOf().Match(head) && !isLogRecord(head) {
		return false
	}
	line, rest, _ := bytes.Cut(head, []byte{'\n'})
	return len(rest) == 0 && bytes.Count(line, []byte(`\n`))+bytes.Count(line, []byte(`\u000a`)) >= minEscaped
}

// isLogRecord reports whether text begins a record with a program's output, not with a conversation or a sample.
func isLogRecord(text []byte) bool {
	one := bytes.HasPrefix(text, []byte("[{")) && bytes.Count(text, []byte(`"message":`)) == 1 // CircleCI's answer for a step
	return (text[0] == '{' || one) && outputKey().Match(text) && !sampleKey().Match(text)
}

// bytesOf begins a child's output as Python prints bytes or a string, perhaps with the name of the stream, and what `ray job list` prints of a
// job (ray/dashboard/modules/job/cli.py).
var bytesOf = lazyre.New(`^(?:\[?JobDetails\((?s:.{0,900}?)\bmessage=|(?:stdout|stderr|output)(?:: ?|=))?b?['"]`)

var (
	outputKey = lazyre.New(`"(?:logs?|stdout|stderr|message)": ?"|"(?:title|ts)": ?"(?s:.*)"(?:body|text)": ?"`) // also of an issue, a chat
	sampleKey = lazyre.New(`"(?:role|prompts?|messages|conversations?|questions?|instruction|problem|inputs?|responses?|completions?|answer|chosen|score)": ?["\[{\d]`)
)

// unescaper decodes strings of JSON, or the bytes of Python, each onto lines of its own.
type unescaper struct {
	escape []byte // an incomplete escape sequence
	quote  byte   // around them
}

func newUnescaper(head []byte) *unescaper {
	if of := bytesOf().Find(head); len(of) > 0 {
		return &unescaper{quote: of[len(of)-1]}
	}
	return &unescaper{quote: '"'}
}

func (d *unescaper) Append(dst, src []byte) []byte {
	for _, c := range src {
		switch {
		case len(d.escape) > 0:
			dst = d.unescape(dst, c)
		case c == '\\':
			d.escape = append(d.escape, c)
		case c == d.quote:
			dst = append(dst, '\n')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// unescape takes the next byte of an escape sequence.
func (d *unescaper) unescape(dst []byte, c byte) []byte {
	d.escape = append(d.escape, c)
	if isByte := d.escape[1] == 'x'; isByte || d.escape[1] == 'u' {
		if len(d.escape) < len(`\x00`) || !isByte && len(d.escape) < len(`\u0000`) {
			return dst
		}
		n, err := strconv.ParseUint(string(d.escape[2:]), 16, 16)
		if err != nil {
			n = utf8.RuneError
		}
		if d.escape = d.escape[:0]; isByte {
			return append(dst, byte(n))
		}
		return utf8.AppendRune(dst, rune(n))
	}
	if i := bytes.IndexByte([]byte("ntrbf"), c); i >= 0 {
		c = "\n\t\r\b\f"[i]
	}
	d.escape = d.escape[:0]
	return append(dst, c)
}

func (d *unescaper) Close(dst []byte) []byte { return append(dst, d.escape...) }

// textKeys and clockKeys are keys of log records in lists that cloud tools export.
var (
	textKeys  = []string{`"message":`, `"textPayload":`, `"_raw":`, `"log":`, `"content":`, `"stringValue":`, `"msg":`, `"_msg":`, `"line":`, `"LogMessage":`, `"LogEntry":`, `"MESSAGE":`, `"@message":`, `"Content":`, `"stream_name":`, `"out":`, `"Log":`, `"__content__":`, `"LogJson":`, `"user_data":`}
	clockKeys = []string{`"timestamp":`, `"time":`, `"@timestamp":`, `"timeUnixNano":`, `"_time":`, `"ts":`, `"TimeGenerated":`, `"__REALTIME_TIMESTAMP":`, `"received_at":`, `"date":1`, `"dt":"`, `"__time__":1`, `"_messagetime":`, `"line_num":"1`, `"Time":1`, `"key":"timestamp"`}
)

// isList reports whether head begins a JSON document with a list of log records.
func isList(head []byte) bool {
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '[' && trimmed[0] != '{' {
		return false
	}
	var d recordLister
	compact := d.Append(nil, head)
	has := func(key string) bool { return bytes.Contains(compact, []byte(key)) }
	if d.broken || !slices.ContainsFunc(textKeys, has) || !slices.ContainsFunc(clockKeys, has) {
		return false
	}
	line, more, _ := bytes.Cut(head, []byte{'\n'})
	if len(bytes.TrimSpace(line)) <= len("[{") || isResourceLogs(head) {
		return true
	}
	list := bytes.Index(compact, []byte("[\n{"))
	if list < 0 {
		return trimmed[0] == '['
	}
	hasText := func(part []byte) bool {
		return slices.ContainsFunc(textKeys, func(key string) bool { return bytes.Contains(part, []byte(key)) })
	}
	return trimmed[0] == '[' || hasText(compact[list:]) && (len(more) == 0 || beginAlike(line, more) && !hasText(compact[:list]))
}

// beginAlike reports whether the lines of a file begin with the same key: each is a document that holds several records, as CloudWatch
// delivers them to a bucket.
func beginAlike(line, more []byte) bool {
	key := line[:bytes.IndexByte(line, ':')+1]
	return len(key) > 0 && bytes.HasPrefix(more, key)
}

// batchKey returns the key of the lists with the records, if head begins a file of several batches, and "" if it begins one document. What
// is around a list in a batch is dropped: it would stand in the middle of a traceback that goes on in the next batch.
func batchKey(head []byte) string {
	if isResourceLogs(head) {
		return "logRecords"
	}
	line, more, _ := bytes.Cut(head, []byte{'\n'})
	begin, _, listed := bytes.Cut(line, []byte(`":[{`))
	if !listed || !beginAlike(line, more) {
		return ""
	}
	return string(begin[bytes.LastIndexByte(begin, '"')+1:])
}

// isResourceLogs reports whether head begins a batch of OpenTelemetry's log records, deep inside of what they have in common.
func isResourceLogs(head []byte) bool {
	const blanks = " \t\r\n"
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(head, blanks), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, blanks), []byte(`"resourceLogs"`))
}

// recordLister puts each record of a JSON document on a line of its own. Text that is not JSON, or follows the
// document, is kept as it is.
type recordLister struct {
	batches string // if not empty, only what is in lists with this key is kept
	closes  bool   // what stands before the list ends there: a document of its own is no dump of settings that goes on
	depth   int
	list    int // the depth inside the list, 0 before it
	quoted  bool
	escaped bool
	broken  bool
	last    byte   // the last byte outside strings
	text    []byte // the beginning of the last string
	closers []byte // of what is around the list, from the last one on
}

func (d *recordLister) Append(dst, src []byte) []byte {
	for i, c := range src {
		if d.broken {
			return append(dst, src[i:]...)
		}
		dst = d.next(dst, c)
	}
	return dst
}

func (d *recordLister) next(dst []byte, c byte) []byte {
	if d.quoted {
		d.quoted = c != '"' || d.escaped
		if d.quoted && len(d.text) < maxKey {
			d.text = append(d.text, c)
		}
		d.escaped = c == '\\' && !d.escaped
		return d.keep(dst, c)
	}
	last := d.last
	switch c {
	case ' ', '\t', '\r', '\n':
		return dst
	case '"':
		d.quoted, d.text = true, d.text[:0]
	case '{', '[':
		if c == '{' && last == '[' && d.list == 0 && (d.batches == "" || string(d.text) == d.batches) {
			d.list = d.depth
			dst = d.closeHead(dst)
			dst = d.keep(dst, '\n')
		}
		if d.depth++; d.list == 0 {
			d.closers = append([]byte{c + 2}, d.closers[:min(len(d.closers), maxNesting)]...) // in ASCII, two behind the opening one
		}
	case '}', ']':
		if d.list == 0 {
			d.closers = d.closers[min(1, len(d.closers)):]
		}
		if d.depth--; d.batches != "" && d.depth < d.list {
			d.list = 0
		}
	case ',':
		if d.depth == d.list {
			d.last = c
			return dst
		}
	default:
		d.broken = bytes.IndexByte([]byte("0123456789+-.eE:truefalsn"), c) < 0
	}
	if d.depth < 0 || d.depth == 0 && last == 0 && c != '{' && c != '[' {
		d.broken = true
	}
	d.last = c
	if c == '}' && d.depth == d.list && (d.depth > 0 || d.batches == "") {
		return append(dst, c, '\n')
	}
	if d.depth == 0 && (c == '}' || c == ']') {
		*d = recordLister{batches: d.batches, closes: d.closes}
	}
	return d.keep(dst, c)
}

// closeHead ends what stands before the list.
func (d *recordLister) closeHead(dst []byte) []byte {
	if d.closes && d.batches == "" && len(d.closers) > 1 {
		dst = append(dst, d.closers...)
	}
	d.closers = nil
	return dst
}

// keep appends a byte that is not around the records of a batch.
func (d *recordLister) keep(dst []byte, c byte) []byte {
	if d.batches != "" && (d.list == 0 || d.depth <= d.list) {
		return dst
	}
	return append(dst, c)
}

func (d *recordLister) Close(dst []byte) []byte { return dst }
