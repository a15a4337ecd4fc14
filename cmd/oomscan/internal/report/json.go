package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"oomscan/parser/obs"
	"oomscan/parser/secret"
)

// NewJSON returns the reporter of one indented document: the report of the only job or, of several jobs,
//
//	{"schema", "version", "inputs", "jobs": [{"job", "together_by", ... the document of one job}], "unattributed": [...],
//	 "summary", "partial", "stats"}
//
// where inputs are those that are no job's alone: logs of nodes, and what could not be read.
func NewJSON(o Output) Reporter { return &jsonReporter{doc: newDocument(o.Writer)} }

type jsonReporter struct {
	doc    *document
	answer *Answer
	shared bool // the list of logs beside the jobs is open
}

// Begin implements [Reporter].
func (j *jsonReporter) Begin(a *Answer) error {
	j.answer = a
	if a.Several {
		j.doc.field("schema", Schema)
		j.doc.field("version", a.Version)
		j.doc.field("inputs", append([]Input{}, a.Shared...))
		j.doc.list("jobs")
	}
	return j.doc.err
}

// Job implements [Reporter].
func (j *jsonReporter) Job(x *Job) error {
	if !j.answer.Several {
		j.doc.report(x.Report)
		return j.doc.err
	}
	if x.Shared {
		j.openShared()
	}
	one := j.doc.object()
	one.field("job", secret.Text(x.Name))
	one.field("together_by", x.Why)
	one.report(x.Report)
	j.doc.err = one.end()
	return j.doc.err
}

// End implements [Reporter].
func (j *jsonReporter) End() error {
	if j.answer.Several {
		j.openShared()
		j.doc.endList()
		j.doc.field("summary", &j.answer.Summary)
		j.doc.field("partial", j.answer.Partial)
		j.doc.field("stats", j.answer.Stats)
	}
	return j.doc.flush()
}

// openShared ends the list of jobs and begins that of the logs beside them.
func (j *jsonReporter) openShared() {
	if !j.shared {
		j.shared = true
		j.doc.endList()
		j.doc.list("unattributed")
	}
}

// JSON writes the report as one indented document.
func JSON(w io.Writer, r *Report) error {
	d := newDocument(w)
	d.report(r)
	return d.flush()
}

func (d *document) report(r *Report) {
	d.field("schema", r.Schema)
	d.field("version", r.Version)
	d.field("inputs", r.Inputs)
	d.field("run", r.Run)
	d.list("incidents")
	for i := range r.Incidents {
		d.element(&r.Incidents[i])
	}
	d.endList()
	d.field("ended_by", r.EndedBy)
	d.field("partial", r.Partial)
	d.field("stats", r.Stats)
}

// document writes an indented JSON object field by field, and its lists element by element: a document of thousands of
// incidents is never in memory as a whole. After an error it writes nothing more.
type document struct {
	out    *bufio.Writer
	enc    *encoder
	indent string // of the fields
	comma  string // in front of the next field
	lead   string // in front of the next element
	err    error
}

func newDocument(w io.Writer) *document {
	return &document{out: bufio.NewWriterSize(w, 32<<10), enc: newEncoder(), indent: "\n  ", comma: "{"}
}

func (d *document) field(name string, v any) {
	d.key(name)
	d.value(v, d.indent)
}

// list begins a field that is a list.
func (d *document) list(name string) {
	d.key(name)
	d.write("[")
	d.lead = d.indent + "  "
}

func (d *document) element(v any) {
	d.write(d.lead)
	d.value(v, d.indent+"  ")
	d.lead = "," + d.indent + "  "
}

// object begins an element that is written field by field, too.
func (d *document) object() *document {
	d.write(d.lead)
	d.lead = "," + d.indent + "  "
	return &document{out: d.out, enc: d.enc, indent: d.indent + "    ", comma: "{", err: d.err}
}

func (d *document) endList() {
	if d.lead[0] == ',' {
		d.write(d.indent)
	}
	d.write("]")
}

// end closes the object.
func (d *document) end() error {
	d.write(strings.TrimSuffix(d.indent, "  ") + "}")
	return d.err
}

func (d *document) flush() error {
	_ = d.end()
	d.write("\n")
	if d.err == nil {
		d.err = d.out.Flush()
	}
	return d.err
}

func (d *document) key(name string) {
	d.write(d.comma + d.indent + `"` + name + `": `)
	d.comma = ","
}

// value writes v, whose lines but the first begin as the field does.
func (d *document) value(v any, indent string) {
	if d.err == nil {
		var text []byte
		if text, d.err = d.enc.encode(v, indent[1:], "  "); d.err == nil {
			_, d.err = d.out.Write(text)
		}
	}
}

func (d *document) write(s string) {
	if d.err == nil {
		_, d.err = d.out.WriteString(s)
	}
}

// encoder encodes values in memory that it uses again.
type encoder struct {
	buf      bytes.Buffer
	enc      *json.Encoder
	indented []byte
}

func newEncoder() *encoder {
	e := new(encoder)
	e.enc = json.NewEncoder(&e.buf)
	e.enc.SetEscapeHTML(false)
	return e
}

// encode is v as JSON without a line end, indented by steps of indent. All lines but the first begin with the prefix.
// Codes that control a terminal are escaped, also those that JSON permits. The text is valid until the next call.
func (e *encoder) encode(v any, prefix, indent string) ([]byte, error) {
	e.buf.Reset()
	err := e.enc.Encode(v)
	text := bytes.TrimSuffix(e.buf.Bytes(), []byte("\n"))
	if indent != "" {
		e.indented = appendIndented(e.indented[:0], text, "\n"+prefix, indent)
		text = e.indented
	}
	return obs.EscapeCodes(text), err
}

// appendIndented appends what [json.Indent] makes of a text without blanks that is valid JSON. It is several times as fast, because it
// checks nothing. newline begins each line.
func appendIndented(to, text []byte, newline, indent string) []byte {
	depth := 0
	begin := func() {
		to = append(to, newline...)
		for range depth {
			to = append(to, indent...)
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			from := i
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			to = append(to, text[from:i]...)
		case (c == '}' || c == ']') && text[i-1] != '{' && text[i-1] != '[':
			depth--
			begin()
		}
		to = append(to, text[i])
		switch {
		case c == ':':
			to = append(to, ' ')
		case c == ',':
			begin()
		case (c == '{' || c == '[') && text[i+1] != '}' && text[i+1] != ']':
			depth++
			begin()
		}
	}
	return to
}

// writeJSON writes v and a line end. Without an indent it is one line.
func writeJSON(w io.Writer, v any, indent string) error {
	text, err := newEncoder().encode(v, "", indent)
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}
