package source

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// sniffLen is how many bytes of a file decide what it is, and wrapLen how many of a text whether its lines were broken: long lines come late.
const (
	sniffLen = 8 << 10
	wrapLen  = 64 << 10
)

type kind uint8

const (
	text kind = iota
	wide      // text that needs a [Decoder], such as UTF-16 and UTF-32
	ownReport
	observations // written by oomscan for merging
	compressed
	binaryData
)

// content is what a file's first bytes show.
type content struct {
	kind   kind
	format string // such as "gzip"; empty if unknown
}

// IsLog reports whether a file that begins with head can be read as a log without decoding: it is neither packed nor
// binary nor UTF-16 or UTF-32, and not one of oomscan's own reports. The first 8 KiB are enough.
func IsLog(head []byte) bool { return sniff(head).kind == text }

// sniffFile detects what a regular file contains. An empty file is text and is not opened: files in /proc look empty,
// and reading some of them blocks. It returns [ErrKind] if the file is not regular any more.
func sniffFile(path string, size int64) (content, error) {
	if size == 0 {
		return content{kind: text}, nil
	}
	f, err := openRegular(path)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	return sniffOpen(f, 0, size)
}

// openRegular opens a regular file without blocking, or returns [ErrKind].
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrKind
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// maxHole is the largest file that is searched for the end of a hole at its beginning.
const maxHole = 64 << 20

// sniffOpen detects what size bytes of a file contain, from an offset on.
func sniffOpen(f *os.File, from, size int64) (content, error) {
	b := make([]byte, wrapLen)
	n, err := readAt(f, b, from)
	if err != nil {
		return content{}, err
	}
	switch {
	case n < sniffLen || !allZero(b[:sniffLen]):
	case size > maxHole: // look behind the hole, or at its end instead
		if _, err = f.Seek(from, io.SeekStart); err != nil {
			return content{}, err
		}
		if r := SkipHoles(f); r != nil {
			_, what, err := skipHole(bufio.NewReaderSize(io.LimitReader(r, maxHole), sniffLen))
			_, failed := f.Seek(from, io.SeekStart)
			return what, cmp.Or(err, failed)
		}
		if n, err = readAt(f, b[:sniffLen], from+size-sniffLen); err != nil {
			return content{}, err
		}
		if b = bytes.TrimLeft(b[:n], "\x00"); len(b) == 0 {
			return content{kind: binaryData}, nil
		}
		return sniff(b), nil
	default:
		_, what, err := skipHole(bufio.NewReaderSize(io.NewSectionReader(f, from, size), sniffLen))
		return what, err
	}
	return sniff(b[:n]), nil
}

// readAt fills b from offset on, or as far as the file goes.
func readAt(f *os.File, b []byte, offset int64) (int, error) {
	n, err := f.ReadAt(b, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// sniff detects what a file that begins with b is. When in doubt it is a log: logs contain NUL bytes, terminal
// escapes, broken UTF-8 and other encodings, and reading a binary file costs only time.
func sniff(head []byte) content {
	b := head[:min(len(head), sniffLen)]
	for _, m := range magics {
		if len(b) >= m.at && bytes.HasPrefix(b[m.at:], []byte(m.bytes)) {
			if m.kind == wide && !wideText(b) {
				break
			}
			return content{m.kind, m.format}
		}
	}
	if c := structured(b); c.format != "" {
		return c
	}
	if format := damagedFormat(b); format != "" {
		return content{compressed, format}
	}
	if bytes.HasPrefix(b, []byte(observationsPrefix)) {
		return content{kind: observations}
	}
	if isReport(b) {
		return content{kind: ownReport}
	}
	if k := classify(b); k != text && unmarked(b) == nil || k == text && NewDecoder(head) == nil {
		return content{kind: k}
	}
	return content{kind: wide}
}

// damagedFormat recognizes compressed data with one wrong byte in its magic number, provided the others are not text.
func damagedFormat(b []byte) string {
	for _, m := range magics {
		if m.kind != compressed || m.at > 0 || len(m.bytes) < 4 || len(b) < len(m.bytes) {
			continue
		}
		wrong, control := 0, false
		for i := range len(m.bytes) {
			if b[i] != m.bytes[i] {
				wrong++
			} else {
				control = control || b[i] < ' ' || b[i] > '~'
			}
		}
		if wrong == 1 && control {
			return m.format
		}
	}
	return ""
}

// Form is how to read a stream.
type Form uint8

const (
	Plain  Form = iota // as it is
	Wide               // with a [Decoder]
	Packed             // with an [Unpacker]; also observations
)

// Begins detects the form of a stream from its first bytes. sure is false if more bytes could change the answer.
func Begins(head []byte) (form Form, sure bool) {
	switch sniff(head).kind {
	case compressed:
		return Packed, true
	case wide:
		return Wide, true
	case observations:
		return Packed, true
	}
	if len(head) >= blockLen {
		return Plain, true
	}
	if len(head) == 0 || bytes.IndexByte(head, 0) >= 0 || len(head) < len(observationsPrefix) && strings.HasPrefix(observationsPrefix, string(head)) {
		return Plain, false // a tar header contains many zeros
	}
	for _, m := range magics {
		if (m.kind == compressed || m.kind == wide) && m.at == 0 && strings.HasPrefix(m.bytes, string(head)) {
			return Plain, false
		}
	}
	early := func(magic string) bool {
		return len(head) < 12 && strings.HasPrefix(magic, string(head[:min(len(head), len(magic))]))
	}
	return Plain, !early("PK") && !early("BZh") && !early("P*M\x18")
}

// wideText reports whether text follows a byte order mark of UTF-16 or UTF-32: other formats begin with the same bytes.
func wideText(b []byte) bool {
	decoded := newWideReader(marked(b)).Append(nil, b)
	broken := bytes.Count(decoded, []byte("\ufffd")) // one in thirty in random bytes
	for _, unit := range []string{"\xfd\xff", "\xff\xfd"} {
		broken -= bytes.Count(b, []byte(unit)) // PowerShell writes it for what it cannot read
	}
	if feeds := bytes.Count(b[:len(b)-len(b)%4], []byte{'\n'}); feeds > 0 && !bytes.Contains(decoded, []byte{'\n'}) {
		return false // they are bytes of their own
	}
	return !bytes.HasPrefix(decoded, []byte{0}) && classify(decoded) == text && (broken < 2 || broken*100 < utf8.RuneCount(decoded))
}

// wideForms are encodings of which a text may lack the mark: which bytes of four are zero in ASCII. Those of the other ones are only in a few
// characters, such as U+2500 in the frames of boxes.
var wideForms = []struct {
	encoding.Encoding
	zero [4]bool
}{
	{unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), [4]bool{1: true, 3: true}},
	{unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), [4]bool{0: true, 2: true}},
	{utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), [4]bool{1: true, 2: true, 3: true}},
	{utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), [4]bool{0: true, 1: true, 2: true}},
}

// unmarked returns the encoding of a text in UTF-16 or UTF-32 without its mark, as the later parts of a log that was rotated have it; nil for
// anything else.
func unmarked(b []byte) encoding.Encoding {
	const least = 64
	var zeros [4]int
	for i, c := range b {
		if c == 0 {
			zeros[i%4]++
		}
	}
	for _, form := range wideForms {
		expected, others, places := 0, 0, 0
		for i, n := range zeros {
			if form.zero[i] {
				expected, places = expected+n, places+1
			} else {
				others += n
			}
		}
		if len(b) < least || expected*8 < len(b)*places || others*8 > expected { // at least half of it is ASCII
			continue
		}
		printable, decoded := 0, newWideReader(form).Append(nil, b)
		for _, c := range decoded {
			if c >= ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0x1b {
				printable++
			}
		}
		if printable*50 >= len(decoded)*49 && bytes.Contains(decoded, []byte{'\n'}) {
			return form.Encoding
		}
	}
	return nil
}

// minHole is how many NULs in a row are a hole in a text; binary numbers have fewer.
const minHole = 16

// classify tells text from other data by the distribution of its bytes. Holes do not count.
func classify(b []byte) kind {
	n := len(b)
	var zero, run, control, high int
	for _, c := range b {
		if c == 0 {
			zero++
			run++
			continue
		}
		if run >= minHole {
			zero, n = zero-run, n-run
		}
		run = 0
		switch {
		case c >= 0x80:
			high++
		case c == 0x7f, c < 0x20 && (c < '\a' || c > '\r') && c != 0x1b:
			control++
		}
	}
	if run >= minHole {
		zero, n = zero-run, n-run
	}
	switch {
	case (zero+control)*100 > 30*n:
		return binaryData
	case control*100 > 5*n && high*100 > 30*n:
		// Evenly distributed bytes are numbers, encrypted or packed data. Text in any encoding has hardly any control
		// bytes.
		return binaryData
	}
	return text
}

// magics are the magic numbers of file formats, from their specifications and file(1). Where a text could begin with
// the same letters, the table has the bytes after them too.
var magics = []struct {
	at     int
	bytes  string
	kind   kind
	format string
}{
	{0, "\x1f\x8b", compressed, "gzip"},
	{0, "\x28\xb5\x2f\xfd", compressed, "zstd"},
	{0, "\xfd7zXZ\x00", compressed, "xz"},
	{0, "\x04\x22\x4d\x18", compressed, "lz4"},
	{0, "\x02\x21\x4c\x18", compressed, "lz4"}, // the kernel's legacy format
	{0, "7z\xbc\xaf\x27\x1c", compressed, "7z"},
	{0, "Rar!\x1a\x07", compressed, "rar"},
	{257, "ustar\x00", compressed, "tar"},
	{257, "ustar  \x00", compressed, "tar"},
	{0, "\xff\xfe", wide, ""},
	{0, "\xfe\xff", wide, ""},
	{0, "\x00\x00\xfe\xff", wide, ""},

	{0, "\x7fELF", binaryData, "ELF"},
	{0, "MZ\x90\x00", binaryData, "PE"},
	{0, "\xcf\xfa\xed\xfe", binaryData, "Mach-O"},
	{0, "\xca\xfe\xba\xbe", binaryData, "Mach-O or Java class"},
	{0, "\x00asm", binaryData, "WebAssembly"},
	{0, "\x89PNG\r\n", binaryData, "PNG"},
	{0, "\xff\xd8\xff", binaryData, "JPEG"},
	{0, "GIF87a", binaryData, "GIF"},
	{0, "GIF89a", binaryData, "GIF"},
	{0, "II*\x00", binaryData, "TIFF"},
	{0, "MM\x00*", binaryData, "TIFF"},
	{4, "ftyp", binaryData, "MP4"},
	{8, "WAVEfmt ", binaryData, "WAV"},
	{8, "WEBPVP8", binaryData, "WebP"},
	{8, "AVI LIST", binaryData, "AVI"},
	{0, "\x1a\x45\xdf\xa3", binaryData, "Matroska"},
	{0, "OggS\x00", binaryData, "Ogg"},
	{0, "fLaC\x00", binaryData, "FLAC"},
	{0, "ID3\x02", binaryData, "MP3"},
	{0, "ID3\x03", binaryData, "MP3"},
	{0, "ID3\x04", binaryData, "MP3"},
	{0, "wOF2", binaryData, "font"},
	{0, "%PDF-", binaryData, "PDF"},
	{0, "SQLite format 3\x00", binaryData, "SQLite"},
	{0, "\x93NUMPY", binaryData, "NumPy"},
	{0, "\x89HDF\r\n", binaryData, "HDF5"},
	{0, "PAR1\x15", binaryData, "Parquet"},
	{0, "ARROW1\x00", binaryData, "Arrow"},
	{0, "FEA1\x00", binaryData, "Feather"},
	{0, "\xff\xff\xff\xff", binaryData, "Arrow stream"},
	{0, "GGUF\x02", binaryData, "GGUF"},
	{0, "GGUF\x03", binaryData, "GGUF"},
	{0, ":W&B", binaryData, "W&B run"},
	{0, "DIRC\x00", binaryData, "git index"},
}

// structured recognizes formats without a constant magic number.
func structured(b []byte) content {
	if len(b) < 12 {
		return content{}
	}
	head := b[:min(len(b), 256)]
	switch n := binary.LittleEndian.Uint64(b); {
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return content{zipped(head), "zip"}
	case string(b[:3]) == "BZh" && b[3] >= '1' && b[3] <= '9' && (string(b[4:10]) == "1AY&SY" || string(b[4:10]) == "\x17rE8P\x90"):
		return content{compressed, "bzip2"} // blocks of 100 to 900 kB; the second magic is an empty file's
	case b[0]&0xf0 == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18:
		return content{compressed, "zstd"} // a skippable frame, which pzstd writes first
	case bytes.HasPrefix(b, []byte("PK\x05\x06")):
		return content{compressed, "zip"} // an empty one
	case b[0] == 0x80 && b[1] >= 2 && b[1] <= 5:
		return content{binaryData, "pickle"} // PROTO and its version; also torch.save before 1.6
	case (b[1] == 0x0d || b[1] == 0x0e) && b[2] == 0x0d && b[3] == 0x0a:
		return content{binaryData, "Python bytecode"} // 3.5 to 3.15; the first byte counts up
	case n > 1 && n < 100<<20 && b[8] == '{' && b[9] == '"':
		return content{binaryData, "safetensors"} // the length of a JSON header, then the header
	case n > 0 && n < 1<<20 && bytes.Contains(head, []byte("brain.Event:")):
		return content{binaryData, "TensorBoard events"} // the TFRecord with the file's version
	}
	return content{}
}

// zipped tells zip files that may contain logs from those of programs by the first member's name: torch.save has
// written NAME/data.pkl first since 1.6, numpy.savez writes NAME.npy.
func zipped(head []byte) kind {
	for _, name := range []string{"/data.pkl", ".npy", "[Content_Types].xml", "META-INF/"} {
		if bytes.Contains(head, []byte(name)) {
			return binaryData
		}
	}
	return compressed
}
