package report

import (
	"reflect"
	"time"

	"oomscan/parser/secret"
)

// instant is a type whose insides are its own.
var instant = reflect.TypeFor[time.Time]()

// mask replaces the secrets in every string that v, a pointer, leads to. It goes by the types, so that a field which is
// added later cannot be forgotten. Pointers are given new targets: what they point to may belong to somebody else.
func mask(v reflect.Value) { rewriter{text: masker{}.text}.apply(v) }

// masker knows texts without secrets: incidents of one kind have most of theirs in common, the guides' texts.
type masker map[string]struct{}

// maxClean bounds them.
const maxClean = 4096

func (m masker) text(s string) string {
	if _, clean := m[s]; clean {
		return s
	}
	t := secret.Text(s)
	if t == s && len(m) < maxClean {
		m[s] = struct{}{}
	}
	return t
}

// Rewrite makes another text of each text of a report. Fields come to field first, with their names: those that it reports as
// done stay as it leaves them.
func Rewrite(r *Report, text func(string) string, field func(name string, v reflect.Value) (done bool)) {
	rewriter{text, field}.apply(reflect.ValueOf(r))
}

// rewriter visits what a value leads to. text makes another text of each text, and field sees each field of a struct before that;
// each may be missing.
type rewriter struct {
	text  func(string) string
	field func(name string, v reflect.Value) (done bool)
}

func (f rewriter) apply(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem() == instant {
			return
		}
		if v.CanSet() && v.Type().Elem().Kind() == reflect.String {
			s := reflect.New(v.Type().Elem())
			s.Elem().Set(v.Elem())
			f.apply(s.Elem())
			v.Set(s)
			return
		}
		f.apply(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if x := v.Field(i); x.CanSet() && (f.field == nil || !f.field(v.Type().Field(i).Name, x)) {
				f.apply(x)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			f.apply(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			entry := reflect.New(v.Type().Elem()).Elem()
			entry.Set(v.MapIndex(k))
			f.apply(entry)
			v.SetMapIndex(k, entry)
		}
	case reflect.String:
		if f.text != nil {
			v.SetString(f.text(v.String()))
		}
	}
}

// withoutNil is a copy of v in which no list or map is nil: in JSON each is there, maybe empty. What v shares with others,
// such as the texts of a guide, is not changed.
func withoutNil[T any](v T) T { return filled(reflect.ValueOf(v)).Interface().(T) }

func filled(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Slice:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(filled(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMap(v.Type())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(it.Key(), filled(it.Value()))
		}
		return out
	case reflect.Pointer:
		if t := v.Type().Elem(); !v.IsNil() && t.Kind() == reflect.Struct && t != instant {
			out := reflect.New(t)
			out.Elem().Set(filled(v.Elem()))
			return out
		}
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			out.Field(i).Set(filled(v.Field(i)))
		}
		return out
	}
	return v
}
