package source

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// UTF16 turns text of two bytes a character into UTF-8, as PowerShell's redirection and Windows' tools write it. What is
// no character becomes U+FFFD. The byte order mark at the beginning gives the order of the bytes and is not passed on.
type UTF16 struct {
	order binary.ByteOrder // nil before the mark
	odd   []byte           // a byte without its second
	high  rune             // the first half of a pair
}

// Append decodes the next bytes of the text, cut anywhere, and appends what is complete to dst.
func (d *UTF16) Append(dst, src []byte) []byte {
	for len(src) > 0 {
		if len(d.odd) == 0 && len(src) == 1 {
			d.odd = append(d.odd, src[0])
			break
		}
		var pair [2]byte
		n := copy(pair[:], d.odd)
		d.odd = d.odd[:0]
		src = src[copy(pair[n:], src):]
		if d.order == nil {
			d.order = binary.ByteOrder(binary.LittleEndian)
			if pair[0] == 0xfe {
				d.order = binary.BigEndian
			}
			continue
		}
		dst = d.unit(dst, rune(d.order.Uint16(pair[:])))
	}
	return dst
}

func (d *UTF16) unit(dst []byte, u rune) []byte {
	if d.high != 0 {
		r := utf16.DecodeRune(d.high, u)
		d.high = 0
		dst = utf8.AppendRune(dst, r)
		if r != utf8.RuneError {
			return dst
		}
	}
	if u >= 0xd800 && u < 0xdc00 {
		d.high = u
		return dst
	}
	return utf8.AppendRune(dst, u) // the second half alone is no character
}

// Close appends what is left of a text that ends within a character.
func (d *UTF16) Close(dst []byte) []byte {
	if len(d.odd) > 0 || d.high != 0 {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	d.odd, d.high = nil, 0
	return dst
}
