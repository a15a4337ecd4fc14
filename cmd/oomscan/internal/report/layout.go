package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
)

// layout writes JSON as a [json.Encoder] with an indent of two blanks does, but the fields of a struct one after the other,
// and the elements of a list in it: it needs no copy of the whole document.
type layout struct {
	out    *bufio.Writer
	prefix string // of every line but the first
	piece  bytes.Buffer
}

func newLayout(w io.Writer, prefix string) *layout {
	return &layout{out: bufio.NewWriterSize(w, 32<<10), prefix: prefix}
}

// encode writes the document of a value. Errors of the writer below show when it is flushed, at the latest.
func (l *layout) encode(v any) error {
	s := reflect.Indirect(reflect.ValueOf(v))
	if s.Kind() != reflect.Struct {
		return l.value(v, l.prefix)
	}
	lead, inner := "{\n", l.prefix+"  "
	for _, f := range reflect.VisibleFields(s.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || f.Anonymous {
			continue
		}
		_, _ = l.out.WriteString(lead + inner + `"` + name + `": `)
		lead = ",\n"
		if err := l.each(s.FieldByIndex(f.Index), inner); err != nil {
			return err
		}
	}
	_, err := l.out.WriteString("\n" + l.prefix + "}")
	return err
}

// each writes a list one element after the other, and anything else as it is.
func (l *layout) each(v reflect.Value, prefix string) error {
	if v.Kind() != reflect.Slice || v.Len() == 0 {
		return l.value(v.Interface(), prefix)
	}
	lead, inner := "[\n", prefix+"  "
	for i := range v.Len() {
		_, _ = l.out.WriteString(lead + inner)
		lead = ",\n"
		if err := l.value(v.Index(i).Addr().Interface(), inner); err != nil {
			return err
		}
	}
	_, err := l.out.WriteString("\n" + prefix + "]")
	return err
}

// value writes the document of a value.
func (l *layout) value(v any, prefix string) error {
	l.piece.Reset()
	enc := json.NewEncoder(&l.piece)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := l.out.Write(bytes.TrimSuffix(l.piece.Bytes(), []byte("\n")))
	return err
}
