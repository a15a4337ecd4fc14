package stream

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"sync"

	"oomscan/parser/literal"
)

// Sizes of windows.
const (
	// blockSize is how much is searched at a time: enough for the search to run, small enough for the cache.
	blockSize = 256 << 10
	// firstRead is how much is read at first: a short log should not take the memory of a long one.
	firstRead = 64 << 10
	// minTake is how much of a long line is worth a window of its own.
	minTake = 64 << 10
	// behind is how much of the window before a window still holds: a part of a long line may begin there.
	behind = longAhead + maxExcerpt + overlap
)

// window is a stretch of an input, up to text[to], with its literals. It ends where a line does, or within a long line. The text
// around it is there too: what may still be needed of the window before, and in a long line what shows where its next part ends.
type window struct {
	text []byte
	base int64 // offset of text[0] in the input
	to   int
	last bool          // the input ends there
	hits []literal.Hit // of literals whose lines have a fate, in order
}

// cutter cuts an input into windows. It needs to know nothing of what they say, and so may run ahead of who reads them.
type cutter struct {
	table   *Table
	maxLine int
	buf     []byte
	base    int64 // offset of buf[0] in the input
	from    int   // where the next window begins
	holes   bool  // text was left out: offsets are those of the text
	args    bool  // the line is a command line of /proc
	first   byte  // of the word since the last NUL, 0 if there is none yet, a blank if it is no word
	hits    []literal.Hit
}

// space is where the next bytes go, never empty. The buffer is as large as what is fed at a time: of thousands of logs that are
// followed, each gets a few lines now and then.
func (c *cutter) space(want int) []byte {
	full := behind + blockSize + c.ahead()
	if keep := c.from - behind; keep > 0 && cap(c.buf)-len(c.buf) < blockSize/2 {
		c.base += int64(keep)
		c.from = behind
		c.buf = c.buf[:copy(c.buf, c.buf[keep:])]
	}
	free := cap(c.buf) - len(c.buf)
	if need := min(full, len(c.buf)+want); cap(c.buf) < need && (free == 0 || free < want/2) {
		c.buf = append(make([]byte, 0, min(full, max(need, 2*cap(c.buf), 4<<10))), c.buf...)
	}
	return c.buf[len(c.buf):cap(c.buf)]
}

// ahead is how many bytes it takes to see that a line is long and where its next part ends.
func (c *cutter) ahead() int { return max(c.maxLine+1, minTake+longAhead) }

// cut takes n more bytes and returns the window up to where it is complete. It is not ok while no line is.
func (c *cutter) cut(n int) (w window, ok bool) {
	old := len(c.buf)
	c.buf = c.buf[:old+c.fill(c.buf[old:old+n])]
	end := c.from
	if bytes.IndexByte(c.buf[old:], '\n') >= 0 { // much faster than to search backwards in vain
		end = old + bytes.LastIndexByte(c.buf[old:], '\n') + 1
	}
	if len(c.buf)-end >= c.ahead() {
		end = len(c.buf) - longAhead
	}
	if end <= c.from {
		return window{}, false
	}
	return c.upTo(end), true
}

// fill takes the holes out of new text and returns how much is left. A file has holes where its writer went on at its offset after
// it was truncated, where a network file system lost a block, and where power failed. In the command lines of /proc, NULs separate
// the arguments (proc(5)): the first NUL behind a word that begins with a hyphen, and those after it on the line, become blanks.
func (c *cutter) fill(text []byte) int {
	kept := 0
	for rest := text; ; {
		n := bytes.IndexByte(rest, 0)
		c.holes = c.holes || n >= 0
		if n < 0 {
			n = len(rest)
		}
		kept += copy(text[kept:], rest[:n])
		c.follow(text[kept-n : kept])
		if n == len(rest) {
			return kept
		}
		rest = bytes.TrimLeft(rest[n:], "\x00")
		if c.args = c.args || c.first == '-'; c.args && c.first != 0 {
			text[kept] = ' '
			kept++
		}
		c.first = 0
	}
}

// follow notes how the word goes on that [cutter.fill] reads.
func (c *cutter) follow(text []byte) {
	if bytes.IndexByte(text, '\n') >= 0 { // which is much faster than to look for the last one
		text, c.first, c.args = text[bytes.LastIndexByte(text, '\n')+1:], 0, false
	}
	if len(text) > 0 && c.first == 0 {
		c.first = text[0]
	}
	if bytes.IndexByte(text, ' ') >= 0 {
		c.first = ' '
	}
}

func (c *cutter) rest() window {
	w := c.upTo(len(c.buf))
	w.last = true
	return w
}

func (c *cutter) upTo(end int) window {
	c.hits = c.table.hits(c.buf, c.from, end, c.hits[:0])
	w := window{text: c.buf, base: c.base, to: end, hits: c.hits}
	c.from = end
	return w
}

// hits appends the literals of a stretch of text whose lines have a fate, in order.
func (t *Table) hits(text []byte, from, to int, hits []literal.Hit) []literal.Hit {
	hits = t.finder.Scan(text, from, to, hits)
	hits = slices.DeleteFunc(hits, func(h literal.Hit) bool { return t.literals[h.ID].fate == 0 })
	byPos := func(a, b literal.Hit) int { return cmp.Compare(a.Pos, b.Pos) }
	if !slices.IsSortedFunc(hits, byPos) {
		slices.SortStableFunc(hits, byPos)
	}
	return hits
}

// readAhead cuts an input in a goroutine of its own, some windows ahead of who reads them: an event has its reader read all deferred
// lines, which takes as long as several windows take here. Of long lines, few windows may take all of the memory. The goroutine
// does not outlive the call.
func (c *cutter) readAhead(in io.Reader, consume func(window)) (total int64, err error) {
	ahead := max(2, min(16, 16*DefaultLine/c.maxLine))
	windows := make(chan window, ahead)
	free := make(chan cutter, ahead+2) // buffers
	for range ahead + 1 {
		free <- cutter{}
	}
	var cutting sync.WaitGroup
	cutting.Go(func() {
		defer close(windows)
		for {
			n, e := in.Read(c.space(blockSize))
			total += int64(n)
			if w, ok := c.cut(n); ok {
				windows <- w
				c.moveTo(<-free)
			}
			if e != nil {
				if !errors.Is(e, io.EOF) {
					err = e
				}
				return
			}
		}
	})
	for w := range windows {
		consume(w)
		free <- cutter{buf: w.text[:0], hits: w.hits[:0]}
	}
	cutting.Wait()
	return total, err
}

// moveTo goes on in other buffers: somebody still reads the last window.
func (c *cutter) moveTo(other cutter) {
	keep := max(0, c.from-behind)
	c.base += int64(keep)
	c.from -= keep
	c.buf, c.hits = append(other.buf[:0], c.buf[keep:]...), other.hits
}
