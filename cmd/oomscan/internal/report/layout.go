package report

import (
	"bufio"
	"encoding/json"
	"io"
	"reflect"
	"strings"
)

// layout is a writer of JSON that indents what passes through it, two blanks a level, as [json.Indent] does: it needs no
// copy of the whole document, and a tenth of the time. What is written to it must be valid.
type layout struct {
	out    *bufio.Writer
	prefix string // of every line but the first
	depth  int
	opened bool // a list or an object has begun, and nothing of it was written
	quoted bool // inside a string
	escape bool // behind a backslash in it
}

func newLayout(w io.Writer, prefix string) *layout {
	return &layout{out: bufio.NewWriterSize(w, 32<<10), prefix: prefix}
}

// Write takes a part of the document, cut anywhere. Errors of the writer below show when it is flushed, at the latest.
func (l *layout) Write(p []byte) (int, error) {
	from := 0 // of what is copied as it is
	for i, c := range p {
		if l.quoted {
			switch {
			case l.escape:
				l.escape = false
			case c == '\\':
				l.escape = true
			case c == '"':
				l.quoted = false
			}
			continue
		}
		switch c {
		case ' ', '\n', '\r', '\t':
			_, _ = l.out.Write(p[from:i])
			from = i + 1
		case '{', '[':
			l.begin(p[from:i])
			_ = l.out.WriteByte(c)
			from = i + 1
			l.depth++
			l.opened = true
		case '}', ']':
			_, _ = l.out.Write(p[from:i])
			from = i
			if l.depth--; !l.opened {
				l.line()
			}
			l.opened = false
		case ',':
			_, _ = l.out.Write(p[from : i+1])
			from = i + 1
			l.line()
		case ':':
			_, _ = l.out.Write(p[from : i+1])
			_ = l.out.WriteByte(' ')
			from = i + 1
		default:
			if l.opened {
				l.begin(p[from:i])
				from = i
			}
			l.quoted = c == '"'
		}
	}
	_, err := l.out.Write(p[from:])
	return len(p), err
}

// begin writes what stands before a value, and a line's end if it is the first of its list.
func (l *layout) begin(before []byte) {
	_, _ = l.out.Write(before)
	if l.opened {
		l.opened = false
		l.line()
	}
}

func (l *layout) line() {
	_ = l.out.WriteByte('\n')
	_, _ = l.out.WriteString(l.prefix)
	for range l.depth {
		_, _ = l.out.WriteString("  ")
	}
}

// encode writes the document of a value: of a list in a struct, one element after the other.
func (l *layout) encode(v any) error {
	enc := json.NewEncoder(l)
	enc.SetEscapeHTML(false)
	s := reflect.Indirect(reflect.ValueOf(v))
	if s.Kind() != reflect.Struct {
		return enc.Encode(v)
	}
	lead := "{"
	for _, f := range reflect.VisibleFields(s.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || f.Anonymous {
			continue
		}
		_, _ = io.WriteString(l, lead+`"`+name+`":`)
		lead = ","
		if err := encodeEach(enc, l, s.FieldByIndex(f.Index)); err != nil {
			return err
		}
	}
	_, err := io.WriteString(l, "}")
	return err
}

func encodeEach(enc *json.Encoder, l *layout, v reflect.Value) error {
	if v.Kind() != reflect.Slice || v.IsNil() {
		return enc.Encode(v.Interface())
	}
	lead := "["
	for i := range v.Len() {
		_, _ = io.WriteString(l, lead)
		lead = ","
		if err := enc.Encode(v.Index(i).Addr().Interface()); err != nil {
			return err
		}
	}
	if lead == "[" {
		_, _ = io.WriteString(l, lead)
	}
	_, err := io.WriteString(l, "]")
	return err
}
