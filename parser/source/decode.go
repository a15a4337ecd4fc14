package source

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
	"github.com/pierrec/lz4/v4"
)

// decoders open compressed streams, by the format that [sniff] returns. Each reads all concatenated members or
// frames, in the caller's goroutine. Archives need no decoder.
var decoders = map[string]func(io.Reader) (io.Reader, error){
	"gzip":  newGzip,
	"bzip2": func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil },
	"xz":    func(r io.Reader) (io.Reader, error) { return xz.NewReader(r, maxWindow) },
	"lz4": func(r io.Reader) (io.Reader, error) {
		z := lz4.NewReader(r)
		return z, z.Apply(lz4.ConcurrencyOption(1))
	},
	"zstd": func(r io.Reader) (io.Reader, error) {
		z, err := zstd.NewReader(r, zstdOptions()...)
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	},
}

// gzipMembers reads the members of a gzip stream one by one, so that even a few bytes after the last one are reported
// as trailing data.
type gzipMembers struct {
	*gzip.Reader
	src *bufio.Reader
}

func newGzip(r io.Reader) (io.Reader, error) {
	src := bufio.NewReader(r)
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipMembers{z, src}, nil
}

func (g *gzipMembers) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	next, err := g.src.Peek(2)
	switch {
	case len(next) == 0:
		return n, err
	case string(next) != "\x1f\x8b":
		return n, gzip.ErrHeader
	}
	err = g.Reset(g.src)
	g.Multistream(false)
	return n, err
}

func zstdOptions() []zstd.DOption {
	return []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow)}
}

// isSupported reports whether oomscan can unpack a format.
func isSupported(format string) bool {
	return decoders[format] != nil || format == "tar" || format == "zip"
}

// explain says what a decoder's error means. out is how many bytes were decoded before it.
func explain(format string, out int64, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, xz.ErrBuf):
		return fmt.Errorf("%w: the %s data ends in the middle; what was there is read", ErrCut, format)
	case out > 0 && isTrailing(err):
		return fmt.Errorf("%w: behind the end of the %s data, which was read whole; it is not read", ErrTrailing, format)
	case errors.Is(err, xz.ErrMemlimit), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("%w: the %s data needs more than %s of memory to unpack", ErrLimit, format, amount(maxWindow))
	}
	return fmt.Errorf("%w %s data: %w; what was there before is read", ErrDamaged, format, err)
}

// isTrailing reports whether a decoder found something else where the next member or frame could begin.
func isTrailing(err error) bool {
	var b bzip2.StructuralError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, xz.ErrFormat) ||
		errors.Is(err, lz4.ErrInvalidFrame) || errors.As(err, &b) && b == "bad magic value in continuation file"
}
