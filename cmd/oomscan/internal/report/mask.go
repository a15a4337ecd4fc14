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
func mask(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem() == instant {
			return
		}
		if v.CanSet() && v.Type().Elem().Kind() == reflect.String {
			s := reflect.New(v.Type().Elem())
			s.Elem().SetString(secret.Text(v.Elem().String()))
			v.Set(s)
			return
		}
		mask(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				mask(f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			mask(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			entry := reflect.New(v.Type().Elem()).Elem()
			entry.Set(v.MapIndex(k))
			mask(entry)
			v.SetMapIndex(k, entry)
		}
	case reflect.String:
		v.SetString(secret.Text(v.String()))
	}
}
