package source

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

// wideReader decodes UTF-16, as PowerShell's redirection and other Windows tools write it, or UTF-32, to UTF-8. Invalid units become
// U+FFFD.
type wideReader struct {
	decode transform.Transformer
	left   []byte // of a character that is not complete
}

func newWideReader(e encoding.Encoding) *wideReader {
	return &wideReader{decode: e.NewDecoder().Transformer}
}

// marked returns the encoding whose byte order mark a text begins with, and without it UTF-16. The mark of UTF-32 begins with that
// of UTF-16 in one of the orders.
func marked(text []byte) encoding.Encoding {
	if bytes.HasPrefix(text, []byte("\xff\xfe\x00\x00")) || bytes.HasPrefix(text, []byte("\x00\x00\xfe\xff")) {
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	}
	return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
}

// Append implements [Decoder].
func (d *wideReader) Append(dst, src []byte) []byte { return d.transform(dst, src, false) }

// Close appends U+FFFD if the text ends inside a character.
func (d *wideReader) Close(dst []byte) []byte { return d.transform(dst, nil, true) }

func (d *wideReader) transform(dst, src []byte, last bool) []byte {
	d.left = append(d.left, src...)
	dst = slices.Grow(dst, utf8.UTFMax*(len(d.left)+1)) // of each byte one U+FFFD at most
	n, read, _ := d.decode.Transform(dst[len(dst):cap(dst)], d.left, last)
	d.left = append(d.left[:0], d.left[read:]...)
	return dst[:len(dst)+n]
}
