package source

import (
	"errors"
	"fmt"
	"io"
)

// Limits bound how far archives may expand. All but Total apply to each input of the command line, and each file of a
// folder, separately.
type Limits struct {
	// Depth is how deeply archives and compressed files may be nested. An archive and its compression count as one:
	// a.zip!b.tar.gz!c.log.gz is three deep.
	Depth int
	// Expanded is how many bytes may be decompressed from one input.
	Expanded int64
	// Total is how many bytes may be decompressed from all inputs of an [Unpacker]: a folder may contain many
	// archives that each stay below Expanded.
	Total int64
	// Ratio is how many bytes one compressed byte may expand to. The first 64 MiB of a stream or zip member are
	// exempt, because one repeated line compresses that well. An input's archives in archives count together, too.
	Ratio int64
	// Members is how many members the archives of one input may have in total, skipped ones included.
	Members int
}

// DefaultLimits are far more than a job leaves and far less than would take a day. gzip reaches at most about 1:1030,
// on zeros; logs reach 1:20, one endless progress bar 1:200.
func DefaultLimits() Limits {
	return Limits{Depth: 5, Expanded: 64 << 30, Total: 1 << 40, Ratio: 1000, Members: 100_000}
}

// Limits without a flag.
const (
	freeRatio = 64 << 20  // bytes of a stream before the ratio counts
	maxZip    = 64 << 20  // bytes of zip files in memory for one input, because a zip is read from its end
	maxWindow = 128 << 20 // bytes of a decompressor's window: zstd --long=27, twice what xz -9 needs
	maxName   = 1 << 10   // bytes of a member's name; a tar allows a MiB
	// dirEntry is how many bytes of a zip's directory may be read per allowed member: 46 plus the name.
	dirEntry = 256
)

// ErrLimit is wrapped by errors that name the limit that was reached.
var ErrLimit = errors.New("limit reached")

// Errors in packed data.
var (
	// ErrCut means that the data ends in the middle.
	ErrCut = errors.New("cut short")
	// ErrDamaged means that the rest of the data cannot be decoded.
	ErrDamaged = errors.New("damaged")
	// ErrTrailing means that something else follows the data; it is not read.
	ErrTrailing = errors.New("something else follows the data")
)

// layer reads from one decompressor, enforces the limits and explains its errors. An error sticks, so that all
// readers above return the same value.
type layer struct {
	walk   *walk
	format string
	src    io.Reader
	below  *counter     // input of the decompressor; nil for a zip member
	taken  func() int64 // compressed bytes read so far
	out    int64
	spent  int64 // what other members of the archive used of freeRatio
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
		l.err = l.below.err // not what the decompressor made of it
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
	case l.walk.expanded > freeRatio && l.walk.input.Size > 0 && l.walk.expanded/limits.Ratio > l.walk.input.Size:
		l.err = fmt.Errorf("%w: all its archives together expand to more than %d times its size (--max-ratio); what follows is not read", ErrLimit, limits.Ratio)
		l.walk.stop, l.walk.over = true, l.err
	}
	return n, l.err
}

// read recovers when a decompressor panics on hostile bytes, so that the other inputs are still scanned.
func (l *layer) read(p []byte) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, fmt.Errorf("decoder: %v", r)
		}
	}()
	return l.src.Read(p)
}

// counter counts the bytes read and keeps the error that ended reading, except io.EOF.
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

// metered reports the bytes read at offsets.
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

// checked calls check before each read.
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

// budget limits how many bytes are read, because zip.NewReader reads a whole directory at once.
type budget struct {
	io.ReaderAt
	left int64 // negative: unlimited
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

// amount formats a size; most sizes here are round.
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
