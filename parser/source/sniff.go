package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"syscall"
)

// sniffLen is how many bytes of a file decide what it is.
const sniffLen = 8 << 10

type kind uint8

const (
	text kind = iota
	utf16
	compressed
	binaryData
)

// content is what a file's first bytes tell.
type content struct {
	kind   kind
	format string // "gzip"; empty if unknown
}

// sniffFile tells what is in a regular file. An empty one is text, and is not opened: files of /proc look empty, and
// some of them block. It returns [ErrKind] if the file is no regular one any more.
func sniffFile(path string, size int64) (content, error) {
	if size == 0 {
		return content{kind: text}, nil
	}
	// Not blocking, should the file have become a FIFO meanwhile.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return content{}, err
	}
	if !info.Mode().IsRegular() {
		return content{}, ErrKind
	}
	b := make([]byte, sniffLen)
	n, err := readAt(f, b, 0)
	if err != nil {
		return content{}, err
	}
	if n == sniffLen && allZero(b) && size > sniffLen {
		// A log that was truncated while its writer kept its offset begins with a hole. The end tells.
		if n, err = readAt(f, b, size-sniffLen); err != nil {
			return content{}, err
		}
		b = bytes.TrimLeft(b[:n], "\x00")
		n = len(b)
		if n == 0 {
			return content{kind: binaryData}, nil
		}
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

// sniff tells what a file is that begins with b. It would rather take a binary file for a log, which costs time, than
// the other way round: logs hold NUL bytes, terminal escapes, broken UTF-8 and other encodings.
func sniff(b []byte) content {
	for _, m := range magics {
		if len(b) >= m.at && bytes.HasPrefix(b[m.at:], []byte(m.bytes)) {
			return content{m.kind, m.format}
		}
	}
	if c := structured(b); c.format != "" {
		return c
	}
	var zero, control, high int
	for _, c := range b {
		switch {
		case c == 0:
			zero++
		case c >= 0x80:
			high++
		case c == 0x7f, c < 0x20 && (c < '\a' || c > '\r') && c != 0x1b:
			control++
		}
	}
	n := len(b)
	switch {
	case (zero+control)*100 > 30*n:
		return content{kind: binaryData}
	case control*100 > 5*n && high*100 > 30*n:
		// Evenly spread bytes: numbers, encrypted or packed data. Text of any encoding has hardly a control byte.
		return content{kind: binaryData}
	}
	return content{kind: text}
}

// magics are the first bytes of file formats, as their specifications and file(1) give them. Where a text might begin
// with the same letters, the bytes behind them are included.
var magics = []struct {
	at     int
	bytes  string
	kind   kind
	format string
}{
	{0, "\x1f\x8b", compressed, "gzip"},
	{0, "\x28\xb5\x2f\xfd", compressed, "zstd"},
	{0, "\xfd7zXZ\x00", compressed, "xz"},
	{0, "BZh91AY&SY", compressed, "bzip2"},
	{0, "\x04\x22\x4d\x18", compressed, "lz4"},
	{0, "7z\xbc\xaf\x27\x1c", compressed, "7z"},
	{0, "Rar!\x1a\x07", compressed, "rar"},
	{257, "ustar\x00", compressed, "tar"},
	{257, "ustar  \x00", compressed, "tar"},
	{0, "\xff\xfe", utf16, ""},
	{0, "\xfe\xff", utf16, ""},

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

// structured recognises formats that have no constant first bytes.
func structured(b []byte) content {
	if len(b) < 12 {
		return content{}
	}
	head := b[:min(len(b), 256)]
	switch n := binary.LittleEndian.Uint64(b); {
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return content{zipped(head), "zip"}
	case bytes.HasPrefix(b, []byte("PK\x05\x06")):
		return content{compressed, "zip"} // an empty one
	case b[0] == 0x80 && b[1] >= 2 && b[1] <= 5:
		return content{binaryData, "pickle"} // PROTO and its version; torch.save before 1.6 as well
	case (b[1] == 0x0d || b[1] == 0x0e) && b[2] == 0x0d && b[3] == 0x0a:
		return content{binaryData, "Python bytecode"} // 3.5 to 3.15; the first byte counts up
	case n > 1 && n < 100<<20 && b[8] == '{' && b[9] == '"':
		return content{binaryData, "safetensors"} // the length of a JSON header, and the header
	case n > 0 && n < 1<<20 && bytes.Contains(head, []byte("brain.Event:")):
		return content{binaryData, "TensorBoard events"} // a TFRecord of the file's version
	}
	return content{}
}

// zipped tells the zip files that hold logs, perhaps, from those of programs, by the first member's name: torch.save
// writes NAME/data.pkl first since 1.6, numpy.savez NAME.npy.
func zipped(head []byte) kind {
	for _, name := range []string{"/data.pkl", ".npy", "[Content_Types].xml", "META-INF/"} {
		if bytes.Contains(head, []byte(name)) {
			return binaryData
		}
	}
	return compressed
}
