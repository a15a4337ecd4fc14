package classifier

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
)

// A Store keeps the collectors of many logs in a fraction of their room: as bytes, with every text once for all of them.
// The logs of one cluster have most of their texts in common. It may serve several goroutines.
type Store struct {
	mu    sync.RWMutex
	ids   map[string]uint64
	texts []string
}

// Packed is a collector in a store.
type Packed []byte

// Pack takes what a collector holds into the store. The collector must not be used afterwards.
func (s *Store) Pack(c *Collector) Packed {
	frozen := make([]frozenFile, 0, len(c.files))
	for _, f := range c.files {
		frozen = append(frozen, f.freeze())
	}
	p := packer{store: s, seen: map[any]uint64{}}
	p.value(reflect.ValueOf(frozen))
	return Packed(append([]byte(nil), p.out...))
}

// Unpack makes a collector of what the store holds, equal to the one that was packed.
func (s *Store) Unpack(packed Packed) *Collector {
	u := unpacker{store: s, in: packed}
	var frozen []frozenFile
	u.value(reflect.ValueOf(&frozen).Elem())
	c := NewCollector()
	for i := range frozen {
		c.files[frozen[i].Name] = frozen[i].thaw()
	}
	return c
}

// id is the number of a text.
func (s *Store) id(text string) uint64 {
	s.mu.RLock()
	id, ok := s.ids[text]
	s.mu.RUnlock()
	if ok {
		return id
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.ids[text]; ok {
		return id
	}
	if s.ids == nil {
		s.ids = map[string]uint64{}
	}
	id = uint64(len(s.texts))
	text = strings.Clone(text) // not what it was cut from
	s.ids[text] = id
	s.texts = append(s.texts, text)
	return id
}

func (s *Store) text(id uint64) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.texts[id]
}

var timeType = reflect.TypeFor[time.Time]()

// packer writes values by their types: numbers as varints, texts by their numbers, what pointers lead to once.
type packer struct {
	store *Store
	out   []byte
	seen  map[any]uint64
}

func (p *packer) value(v reflect.Value) {
	if v.Type() == timeType {
		t := v.Interface().(time.Time)
		_, zone := t.Zone()
		p.out = binary.AppendVarint(p.out, t.Unix())
		p.out = binary.AppendVarint(p.out, int64(t.Nanosecond()))
		p.out = binary.AppendVarint(p.out, int64(zone))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		n := byte(0)
		if v.Bool() {
			n = 1
		}
		p.out = append(p.out, n)
	case reflect.Int, reflect.Int64:
		p.out = binary.AppendVarint(p.out, v.Int())
	case reflect.Uint8:
		p.out = binary.AppendUvarint(p.out, v.Uint())
	case reflect.String:
		p.out = binary.AppendUvarint(p.out, p.store.id(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			p.value(v.Field(i))
		}
	case reflect.Pointer:
		p.pointer(v)
	case reflect.Slice:
		if p.length(v); !v.IsNil() {
			for i := range v.Len() {
				p.value(v.Index(i))
			}
		}
	case reflect.Map:
		if p.length(v); !v.IsNil() {
			for it := v.MapRange(); it.Next(); {
				p.value(it.Key())
				p.value(it.Value())
			}
		}
	default:
		panic(fmt.Sprintf("classifier: cannot pack a %s", v.Type()))
	}
}

// length writes 0 for nil, else the length and one.
func (p *packer) length(v reflect.Value) {
	n := uint64(0)
	if !v.IsNil() {
		n = uint64(v.Len()) + 1
	}
	p.out = binary.AppendUvarint(p.out, n)
}

// pointer writes 0 for nil, 1 and the value, or the place of a value that was written.
func (p *packer) pointer(v reflect.Value) {
	switch id, ok := p.seen[v.Interface()]; {
	case v.IsNil():
		p.out = append(p.out, 0)
	case ok:
		p.out = binary.AppendUvarint(p.out, id)
	default:
		p.seen[v.Interface()] = uint64(len(p.seen)) + 2
		p.out = append(p.out, 1)
		p.value(v.Elem())
	}
}

// unpacker reads what a packer wrote.
type unpacker struct {
	store *Store
	in    []byte
	seen  []reflect.Value
}

func (u *unpacker) uint() uint64 {
	n, size := binary.Uvarint(u.in)
	u.in = u.in[size:]
	return n
}

func (u *unpacker) int() int64 {
	n, size := binary.Varint(u.in)
	u.in = u.in[size:]
	return n
}

func (u *unpacker) value(v reflect.Value) {
	if v.Type() == timeType {
		t := time.Unix(u.int(), u.int()).UTC()
		if zone := int(u.int()); zone != 0 {
			t = t.In(time.FixedZone("", zone))
		}
		v.Set(reflect.ValueOf(t))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(u.uint() == 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(u.int())
	case reflect.Uint8:
		v.SetUint(u.uint())
	case reflect.String:
		v.SetString(u.store.text(u.uint()))
	case reflect.Struct:
		for i := range v.NumField() {
			u.value(v.Field(i))
		}
	case reflect.Pointer:
		u.pointer(v)
	case reflect.Slice:
		if n := int(u.uint()); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				u.value(v.Index(i))
			}
		}
	case reflect.Map:
		if n := int(u.uint()); n > 0 {
			v.Set(reflect.MakeMapWithSize(v.Type(), n-1))
			for range n - 1 {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				u.value(key)
				u.value(value)
				v.SetMapIndex(key, value)
			}
		}
	default:
		panic(fmt.Sprintf("classifier: cannot unpack a %s", v.Type()))
	}
}

func (u *unpacker) pointer(v reflect.Value) {
	switch id := u.uint(); id {
	case 0:
	case 1:
		to := reflect.New(v.Type().Elem())
		u.seen = append(u.seen, to)
		u.value(to.Elem())
		v.Set(to)
	default:
		v.Set(u.seen[id-2])
	}
}
