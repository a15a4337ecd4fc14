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
// and the elements of a list in it: it needs no copy of the whole document. A few elements at a time are put together on
// all processors.
type layout struct {
	out    *bufio.Writer
	prefix string // of every line but the first
	pieces [8]piece
}

// piece is a part of the document. Its encoder keeps its room for the next one.
type piece struct {
	bytes.Buffer
	enc *json.Encoder
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
	for i := 0; i < v.Len(); i += len(l.pieces) {
		var errs [len(l.pieces)]error
		n := min(len(l.pieces), v.Len()-i)
		together(n, func(k int) { errs[k] = l.pieces[k].encode(v.Index(i+k).Addr().Interface(), inner) })
		for k := range n {
			if errs[k] != nil {
				return errs[k]
			}
			_, _ = l.out.WriteString(lead + inner)
			_, _ = l.out.Write(l.pieces[k].Bytes())
			lead = ",\n"
		}
	}
	_, err := l.out.WriteString("\n" + prefix + "]")
	return err
}

// value writes the document of a value.
func (l *layout) value(v any, prefix string) error {
	if err := l.pieces[0].encode(v, prefix); err != nil {
		return err
	}
	_, err := l.out.Write(l.pieces[0].Bytes())
	return err
}

// encode puts the document of a value in the place of what the piece holds.
func (p *piece) encode(v any, prefix string) error {
	p.Reset()
	if p.enc == nil {
		p.enc = json.NewEncoder(p)
		p.enc.SetEscapeHTML(false)
	}
	p.enc.SetIndent(prefix, "  ")
	if err := p.enc.Encode(v); err != nil {
		return err
	}
	p.Truncate(p.Len() - len("\n"))
	return nil
}
