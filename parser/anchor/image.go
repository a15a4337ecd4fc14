package anchor

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Image returns the tables of the finder.
func (f *Finder) Image() []byte {
	b := binary.LittleEndian.AppendUint64(nil, f.mul)
	b = append(b, f.grams.shift, byte(f.maxLen), byte(len(f.tiny)), 0)
	for _, id := range f.tiny {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
	}
	b = slices.Concat(b, f.table[:], f.grams.sieve, f.grams.slots)
	for i := range f.places {
		p := &f.places[i]
		b = binary.LittleEndian.AppendUint64(b, p.key)
		b = binary.LittleEndian.AppendUint32(b, uint32(p.needle))
		b = binary.LittleEndian.AppendUint16(b, uint16(p.back))
		b = append(b, byte(p.keyAt), byte(p.flags))
	}
	return b
}

const (
	headLen  = 12 // of an image, before its tables
	placeLen = 16
)

// Load makes the finder of these needles from its [Finder.Image], which it keeps and which must not change any more.
// classes is that of the needles, nil for [First] everywhere. It is [Planned] for a program in a hurry: of the large tables
// nothing is read but the pages that a search asks for. Whether the image was made for the needles is not looked into
// beyond sizes: that is for a test to prove.
func Load(needles []string, classes []Class, image []byte) (*Finder, error) {
	if len(image) < headLen {
		return nil, errImage
	}
	f := &Finder{needles: needles, classes: classes, mul: binary.LittleEndian.Uint64(image), maxLen: int(image[9])}
	if classes == nil {
		f.classes = firstOnly(len(needles))
	}
	f.grams.shift = image[8]
	tiny := int(image[10])
	rest := image[headLen:]
	var slots int
	if s := f.grams.shift; s > 32 && s < 64 {
		slots = 1 << (64 - s)
	}
	if slots == 0 || len(rest) < 4*tiny+tableLen+slots*(slotLen+sieveLen) {
		return nil, errImage
	}
	for range tiny {
		id := int(binary.LittleEndian.Uint32(rest))
		if id >= len(needles) {
			return nil, errImage
		}
		f.tiny, rest = append(f.tiny, id), rest[4:]
	}
	f.table, rest = (*[tableLen]byte)(rest), rest[tableLen:]
	f.grams.sieve, rest = rest[:slots*sieveLen:slots*sieveLen], rest[slots*sieveLen:]
	f.grams.slots, rest = rest[:slots*slotLen:slots*slotLen], rest[slots*slotLen:]
	if len(rest)%placeLen != 0 {
		return nil, errImage
	}
	f.places = make([]place, len(rest)/placeLen)
	for i := range f.places {
		b := (*[placeLen]byte)(rest[placeLen*i:])
		f.places[i] = place{
			key: binary.LittleEndian.Uint64(b[0:8]), needle: int32(binary.LittleEndian.Uint32(b[8:12])),
			back: int16(binary.LittleEndian.Uint16(b[12:14])), keyAt: int8(b[14]), flags: Class(b[15]),
		}
	}
	return f, nil
}

var errImage = errors.New("anchor: not the image of a finder")

// gramMap maps grams to numbers from 1 to maxPlaces. It is an open-addressed hash table, at most half full: a slot is the
// gram and behind it the number, 0 where it is free.
//
// Most that is asked for is not there, and asked for so seldom that meanwhile the text has driven the slots out of the
// processor's near caches. So a sieve of eight bits for a slot is asked first: it is small enough to stay.
type gramMap struct {
	shift uint8
	sieve []byte // a bit for each of the hashes, of three bits more than a slot's number
	slots []byte // of slotLen each
}

const (
	slotLen   = 8
	sieveLen  = 1 // of a slot
	placeBits = 24
	maxPlaces = 1<<placeBits - 1
	gramMul   = 0x9E3779B97F4A7C15 << gramShift & (1<<64 - 1)
)

func newGramMap(n int) gramMap {
	size := uint8(1)
	for 1<<size < n+n/2 { // no more than two thirds are taken
		size++
	}
	return gramMap{shift: 64 - size, sieve: make([]byte, sieveLen<<size), slots: make([]byte, slotLen<<size)}
}

func (m *gramMap) len() int { return len(m.slots) / slotLen }

// at returns what is in a slot; n is 0 where it is free.
func (m *gramMap) at(i int) (g uint64, n uint32) {
	s := binary.LittleEndian.Uint64(m.slots[slotLen*i:])
	return s >> placeBits, uint32(s & maxPlaces)
}

func (m *gramMap) get(g uint64) uint32 {
	h := g * gramMul
	if m.sieve[h>>m.shift]>>(h>>(m.shift-3)&7)&1 == 0 {
		return 0
	}
	return m.find(g)
}

func (m *gramMap) find(g uint64) uint32 {
	slots := m.slots
	mask := uint64(len(slots) - 1)
	for i := g * gramMul >> m.shift * slotLen; ; i += slotLen {
		s := binary.LittleEndian.Uint64(slots[i&mask:])
		if s>>placeBits == g || s&maxPlaces == 0 {
			return uint32(s & maxPlaces)
		}
	}
}

func (m *gramMap) put(g uint64, value uint32) {
	h := g * gramMul
	m.sieve[h>>m.shift] |= 1 << (h >> (m.shift - 3) & 7)
	binary.LittleEndian.PutUint64(m.slots[slotLen*m.slot(g):], g<<placeBits|uint64(value))
}

// slot returns where g is, or the free slot where it would go.
func (m *gramMap) slot(g uint64) int {
	mask := m.len() - 1
	for i := int(g * gramMul >> m.shift); ; i++ {
		if have, n := m.at(i & mask); n == 0 || have == g {
			return i & mask
		}
	}
}
