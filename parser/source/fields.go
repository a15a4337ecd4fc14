package source

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser/lazyre"
)

// blockField is a field of YAML with a program's output: in a block of lines below it, or in one string.
var blockField = lazyre.New(`^( {1,40})(?:message|logs?|stdout|stderr|output): (?:[|][+-]?\d?\s*$|(".*\\n.*\\n))`)

// blockRow returns what takes the indent off the lines of such fields, one line at a time.
func blockRow() func(line []byte) []byte {
	field, text := -1, 0 // their indents: no field is open, the first line of the text comes
	return func(line []byte) []byte {
		n := len(line) - len(bytes.TrimLeft(line, " "))
		switch m := blockField().FindSubmatch(line); {
		case len(bytes.TrimSpace(line)) == 0:
		case field >= 0 && n > field:
			if text == 0 {
				text = n
			}
			return line[min(n, text):]
		case m == nil:
			field = -1
		case len(m[2]) == 0:
			field, text = len(m[1]), 0
		default:
			if s, err := strconv.Unquote(string(bytes.TrimSpace(line[bytes.IndexByte(line, '"'):]))); err == nil {
				return []byte(strings.TrimSuffix(s, "\n") + "\n")
			}
		}
		return line
	}
}

// fieldForm is a form of records with a line for each field.
type fieldForm struct {
	texts  []string // how the fields with the log's text begin
	clock  string   // the same for the time, which comes before
	beside string   // and for a field that only such records have
	closes string   // what ends a text
	next   []string // the fields behind a text whose lines are not indented
	yaml   bool     // a text may be in quotes or in a block
}

var fieldForms = []fieldForm{
	{texts: []string{"MESSAGE=", binaryField}, clock: "__REALTIME_TIMESTAMP=", beside: "_HOSTNAME="},                                           // journalctl -o export, verbose
	{texts: []string{"textPayload: ", "message: "}, clock: "receiveTimestamp: ", beside: "insertId: ", yaml: true},                             // gcloud logging read
	{texts: []string{"Body: Str("}, clock: "ObservedTimestamp: ", beside: "Flags: ", closes: ")", next: []string{"Attributes:", "Trace ID: "}}, // OpenTelemetry Collector, debugexporter/internal/otlptext/logs.go
}

// binaryField begins a text that holds control characters, such as colors, in journalctl's export: its length follows in eight bytes, the
// lowest first (systemd, docs/JOURNAL_EXPORT_FORMATS.md).
const binaryField = "MESSAGE\n"

// fieldDecoder returns a decoder for a log of such records, or nil.
func fieldDecoder(head []byte) Decoder {
	const least = 2
	for line := range bytes.Lines(head) {
		if line[0] == ' ' && blockField().Match(line) {
			return &rowReader{decode: blockRow()}
		}
	}
	for _, form := range fieldForms {
		texts, beside := 0, 0
		for line := range bytes.Lines(head) {
			switch field := string(bytes.TrimLeft(line, " ")); {
			case form.isText(field) > 0:
				texts++
			case strings.HasPrefix(field, form.beside):
				beside++
			}
		}
		if texts >= least && beside >= least {
			return &fieldReader{fieldForm: form}
		}
	}
	return nil
}

// isText returns where the text of a field begins, 0 if it is another one's.
func (f *fieldForm) isText(field string) int {
	i := slices.IndexFunc(f.texts, func(key string) bool { return strings.HasPrefix(field, key) })
	if i < 0 {
		return 0
	}
	return len(f.texts[i])
}

// fieldReader makes of each text a JSON record on a line of its own.
type fieldReader struct {
	fieldForm
	part   []byte
	time   string
	text   []string // its lines
	indent int      // of its field
}

func (d *fieldReader) Append(dst, src []byte) []byte {
	for line := range bytes.Lines(src) {
		if d.part = append(d.part, line...); line[len(line)-1] == '\n' && len(d.part) >= d.needs() {
			dst = d.take(dst, strings.TrimSuffix(strings.TrimSuffix(string(d.part), "\n"), "\r"))
			d.part = d.part[:0]
		}
	}
	return dst
}

// needs is how many bytes the current field has at least.
func (d *fieldReader) needs() int {
	const head = len(binaryField) + 8
	if !bytes.HasPrefix(d.part, []byte(binaryField)) || !slices.Contains(d.texts, binaryField) {
		return 0
	}
	if len(d.part) < head {
		return head
	}
	if n := binary.LittleEndian.Uint64(d.part[len(binaryField):]); n < maxRow {
		return head + int(n) + len("\n")
	}
	return 0
}

func (d *fieldReader) take(dst []byte, line string) []byte {
	field := strings.TrimLeft(line, " ")
	goes := len(line)-len(field) > d.indent || field == ""
	if len(d.next) > 0 {
		goes = !slices.ContainsFunc(d.next, func(key string) bool { return strings.HasPrefix(line, key) })
	}
	if len(d.text) > 0 && goes && len(d.text) < maxFieldLines {
		d.text = append(d.text, line)
		return dst
	}
	dst = d.end(dst)
	if n := d.isText(field); n > 0 {
		if field[:n] == binaryField {
			n = min(n+8, len(field))
		}
		d.text, d.indent = append(d.text, field[n:]), len(line)-len(field)
		return dst
	}
	if at, ok := strings.CutPrefix(field, d.clock); ok {
		d.time = strings.TrimSuffix(strings.Trim(at, `'"`), " +0000 UTC")
	}
	return dst
}

// maxFieldLines bounds the lines of a text.
const maxFieldLines = 4096

// end writes the text as a record.
func (d *fieldReader) end(dst []byte) []byte {
	if len(d.text) == 0 {
		return dst
	}
	text := strings.TrimSuffix(strings.TrimRight(strings.Join(d.text, "\n"), "\n"), d.closes)
	if d.yaml {
		text = scalar(d.text)
	}
	record, _ := json.Marshal(map[string]string{"logtag": "F", "message": text, "time": d.time})
	d.text = d.text[:0]
	return append(append(dst, record...), '\n')
}

// scalar reads a text as YAML writes it: in quotes, in a block below a sign, or plain. Other writers only indent its later lines.
func scalar(lines []string) string {
	first, more := lines[0], lines[1:]
	switch {
	case len(more) > 0 && (strings.HasPrefix(first, "|") || strings.HasPrefix(first, ">")) && len(first) <= 2:
		indent := len(more[0]) - len(strings.TrimLeft(more[0], " "))
		for i, line := range more {
			more[i] = line[min(indent, len(line)):]
		}
		return strings.TrimRight(strings.Join(more, "\n"), "\n")
	case strings.HasPrefix(first, "'"), strings.HasPrefix(first, `"`):
		for i, line := range more {
			more[i] = strings.TrimLeft(line, " ")
		}
		text := strings.TrimRight(strings.Join(lines, " "), " ")
		if quoted, err := strconv.Unquote(text); err == nil && text[0] == '"' {
			return quoted
		}
		return strings.ReplaceAll(strings.TrimSuffix(text[1:], text[:1]), "''", "'")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func (d *fieldReader) Close(dst []byte) []byte {
	if len(d.part) > 0 {
		dst = d.take(dst, string(d.part))
	}
	return d.end(dst)
}
