package source

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// UTF16 decodes UTF-16, as PowerShell's redirection and other Windows tools write it, to UTF-8. Invalid units become
// U+FFFD. It takes the byte order from the mark at the beginning and drops the mark,
// unless it is given one.
type UTF16 struct {
	order binary.ByteOrder // nil before the byte order mark
	odd   []byte           // the first byte of an incomplete unit
	high  rune             // the first half of a surrogate pair
}

// Append decodes the next bytes, cut anywhere, and appends what is complete to dst.
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
	return utf8.AppendRune(dst, u) // an unpaired second half becomes U+FFFD
}

// Close appends U+FFFD if the text ends inside a character.
func (d *UTF16) Close(dst []byte) []byte {
	if len(d.odd) > 0 || d.high != 0 {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	d.odd, d.high = nil, 0
	return dst
}
