package source

import (
	"errors"
	"fmt"
	"io"
)

// Limits bound what an archive may make of its bytes. All but Total hold for each input of the command line, and for each
// file of a folder, on its own.
type Limits struct {
	// Depth is how many archives and compressed files may be inside each other. An archive and the compression around it
	// count as one: a.zip!b.tar.gz!c.log.gz is three deep.
	Depth int
	// Expanded is how many bytes the decompressors of one input may give, all of them together.
	Expanded int64
	// Total is how many bytes the decompressors of all inputs of an [Unpacker] may give together: a folder may hold any number
	// of archives, each below Expanded.
	Total int64
	// Ratio is how many bytes a compressed one may become, behind the first 64 MiB of a stream or a zip's member: the
	// same line again and again shrinks that much.
	Ratio int64
	// Members is how many members the archives of one input may have, all of them together, whatever they are.
	Members int
}

// DefaultLimits are far above what a job leaves and far below what fills a day. The best that gzip can do is about 1:1030,
// on zeros; logs shrink to a twentieth, those of one endless progress bar to a two-hundredth.
func DefaultLimits() Limits {
	return Limits{Depth: 5, Expanded: 64 << 30, Total: 1 << 40, Ratio: 1000, Members: 100_000}
}

// Limits that have no flag.
const (
	freeRatio = 64 << 20  // bytes of a stream from which on the ratio counts
	maxZip    = 64 << 20  // bytes of the zip files that are held in memory for one input, for they are read from their end
	maxWindow = 128 << 20 // bytes that a decompressor may look back: zstd --long=27, twice what xz -9 asks for
	maxName   = 1 << 10   // bytes of a member's name; a tar may give it a MiB
	// dirEntry is how many bytes of a zip's directory are read for each member that it may have: 46 and the name.
	dirEntry = 256
)

// ErrLimit is wrapped by the errors that say which of the [Limits] was reached.
var ErrLimit = errors.New("limit reached")

// What is wrong with packed data.
var (
	// ErrCut says that the data ends in the middle.
	ErrCut = errors.New("cut short")
	// ErrDamaged says that the data cannot be decoded any further.
	ErrDamaged = errors.New("damaged")
	// ErrTrailing says that behind the end of the data is something else, which is not read.
	ErrTrailing = errors.New("something else follows the data")
)

// layer reads what one decompressor gives. It stops one that gives too much and says what is wrong with the data. An
// error stays, so that everything above it meets the same value.
type layer struct {
	walk   *walk
	format string
	src    io.Reader
	below  *counter     // what the decompressor reads; nil for a zip's member
	taken  func() int64 // compressed bytes so far
	out    int64
	spent  int64 // of freeRatio, by others of the archive
	err    error
}

func (l *layer) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.read(p)
	l.out += int64(n)
	l.walk.expanded += int64(n)
	limits := &l.walk.unpacker.Limits
	total := l.walk.unpacker.expanded.Add(int64(n))
	switch {
	case err != nil && err != io.EOF && l.below != nil && l.below.err != nil:
		l.err = l.below.err // whatever the decompressor made of it
	case err != nil && err != io.EOF:
		l.err = explain(l.format, l.out, err)
	case l.walk.expanded > limits.Expanded:
		l.err = fmt.Errorf("%w: expands to more than %s (--max-expanded); what follows is not read", ErrLimit, amount(limits.Expanded))
		l.walk.stop, l.walk.over = true, l.err
	case total > limits.Total:
		l.err = fmt.Errorf("%w: all inputs together expand to more than %s (--max-total); what follows is not read", ErrLimit, amount(limits.Total))
		l.walk.stop, l.walk.over = true, l.err
	case err != nil:
		l.err = err
	case l.out > freeRatio-l.spent && l.out/limits.Ratio > l.taken():
		l.err = fmt.Errorf("%w: expands to more than %d times its size (--max-ratio); the rest of it is not read", ErrLimit, limits.Ratio)
	}
	return n, l.err
}

// read keeps a decompressor that panics on hostile bytes from ending the scan of all other inputs.
func (l *layer) read(p []byte) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, fmt.Errorf("decoder: %v", r)
		}
	}()
	return l.src.Read(p)
}

// counter counts what is read and keeps the error that ended it, except io.EOF.
type counter struct {
	io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// metered counts the bytes that are read at offsets.
type metered struct {
	io.ReaderAt
	count func(n int64)
}

func (c metered) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	if c.count != nil {
		c.count(int64(n))
	}
	return n, err
}

// checked asks before each read whether it is still wanted.
type checked struct {
	io.Reader
	check func() error
}

func (c checked) Read(p []byte) (int, error) {
	if c.check != nil {
		if err := c.check(); err != nil {
			return 0, err
		}
	}
	return c.Reader.Read(p)
}

// budget is a reader at offsets that gives only so many bytes: a zip's directory is read at once.
type budget struct {
	io.ReaderAt
	left int64 // negative: no bound any more
}

var errBudget = errors.New("over budget")

func (b *budget) ReadAt(p []byte, off int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			b.left = 0
			return 0, errBudget
		}
	}
	return b.ReaderAt.ReadAt(p, off)
}

// amount prints a size that is a round one, most times.
func amount(n int64) string {
	for _, u := range []struct {
		shift int
		name  string
	}{{40, "TiB"}, {30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if n >= 1<<u.shift {
			return fmt.Sprintf("%.4g %s", float64(n)/float64(int64(1)<<u.shift), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
