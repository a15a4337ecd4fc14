package parser

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser/source"
)

// viewed writes a log to a file and looks at it there.
func viewed(t *testing.T, text []byte) (*source.View, *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	v := source.NewView(f, 0, int64(len(text)))
	if _, release, ok := v.Window(0, 1); ok {
		release()
	} else if runtime.GOOS != "linux" {
		t.Skip("files are always copied here")
	} else {
		require.True(t, ok, "no window of a file in %s", path)
	}
	return v, f
}

func TestWindowsDoNotMatter(t *testing.T) {
	t.Parallel()
	text := woven(t)
	lengths := []int{4 << 10, windowSize}
	if testing.Short() { // the race detector makes it slow
		text, lengths = text[:len(text)/8], []int{100_000}
	}
	v, f := viewed(t, text)
	want := everything(t, func(emit func(Observation)) (Stats, error) { return Scan("in", bytes.NewReader(text), emit) })
	for _, length := range lengths {
		for _, workers := range []int{1, 16} {
			t.Run(fmt.Sprintf("%d/%d", length, workers), func(t *testing.T) {
				got := everything(t, func(emit func(Observation)) (Stats, error) {
					return scanAt(newScanner("in", table(), emit), v, int64(len(text)), workers, length)
				})
				same(t, want, got)
			})
		}
	}
	t.Run("from the middle of a file", func(t *testing.T) {
		const from = 12_345
		text := text[:len(text)/4]
		want := everything(t, func(emit func(Observation)) (Stats, error) {
			return Scan("in", bytes.NewReader(text[from:]), emit)
		})
		got := everything(t, func(emit func(Observation)) (Stats, error) {
			v := source.NewView(f, from, int64(len(text)-from))
			return scanAt(newScanner("in", table(), emit), v, int64(len(text)-from), 2, 64<<10)
		})
		same(t, want, got)
	})
}

// counted is a view that counts the windows in use, and lets something happen once some were given out.
type counted struct {
	*source.View
	open, given atomic.Int64
	after       int64
	then        func()
}

func (c *counted) Window(off int64, n int) ([]byte, func(), bool) {
	text, release, ok := c.View.Window(off, n)
	if !ok {
		return nil, nil, false
	}
	c.open.Add(1)
	if c.given.Add(1) == c.after {
		c.then()
	}
	return text, func() { c.open.Add(-1); release() }, true
}

func TestAWindowOfATruncatedFileIsReadAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("a line of a log that says nothing\n", 60_000))
	const left = 34 * 20_000
	for _, workers := range []int{1, 3} {
		v, f := viewed(t, text)
		c := &counted{View: v, after: 5, then: func() { assert.NoError(t, f.Truncate(left)) }}
		st, err := scanAt(newScanner("in", table(), func(Observation) {}), c, int64(len(text)), workers, 256<<10)
		require.NoError(t, err, "a file that was truncated meanwhile is no error")
		assert.GreaterOrEqual(t, st.Bytes, int64(left))
		assert.LessOrEqual(t, st.Bytes, int64(5*256<<10), "nothing is behind what was seen before")
		assert.Zero(t, c.open.Load(), "windows left open")
	}
}

func TestATruncatedFileThatAWorkerHasSeenEndsTheInput(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("a line of a log that says nothing\n", 3_000) + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
	for _, waits := range []bool{false, true} {
		v, f := viewed(t, text)
		if _, release, ok := v.Window(0, 1); ok {
			release()
		}
		s := newScanner("in", table(), func(Observation) {})
		s.again, s.recall.look = v, s.lookBack
		p := newPart(s, v, int64(len(text)), 1<<20, 0)
		p.fill(0, newSurveyor(s.table))
		require.NotNil(t, p.release, "the text is looked at in the file")
		require.NotEmpty(t, p.spots)
		if waits {
			q, _ := newQueue(v, 2)
			p.wait(q)
			require.Nil(t, p.release)
		}
		require.NoError(t, f.Truncate(0))
		require.Error(t, s.part(&p))
		assert.Nil(t, p.release)
		assert.NotPanics(t, func() { s.close() })
	}
}

// While one part is read, workers search those behind it, and keep none of them in memory.
func TestPartsFarAheadAreNotKeptInMemory(t *testing.T) {
	t.Parallel()
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	text := []byte(strings.Repeat(oom+strings.Repeat("a line of a log that says nothing\n", 3_000), farAhead))
	const workers, length = 2, 32 << 10
	v, _ := viewed(t, text)
	want := everything(t, func(emit func(Observation)) (Stats, error) { return Scan("in", bytes.NewReader(text), emit) })
	c := &counted{View: v}
	var once sync.Once
	got := everything(t, func(emit func(Observation)) (Stats, error) {
		return scanAt(newScanner("in", table(), func(o Observation) {
			once.Do(func() {
				assert.Eventually(t, func() bool { return c.given.Load() >= farAhead }, 10*time.Second, time.Millisecond, "workers wait for what is read")
				assert.Eventually(t, func() bool { return c.open.Load() <= nearBy }, 10*time.Second, time.Millisecond, "parts far ahead are kept")
			})
			emit(o)
		}), c, int64(len(text)), workers, length)
	})
	same(t, want, got)
	assert.Zero(t, c.open.Load())
}

// A part with something to read in every line is not kept before its turn either: what was found in it takes room too.
func TestPartsFullOfFindingsWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	const workers, length = 2, 80 << 10
	require.Greater(t, length/len(oom), manySpots)
	parts := 12
	if testing.Short() { // the race detector makes it slow
		parts = 5
	}
	text := []byte(strings.Repeat(oom, parts*length/len(oom)))
	v, _ := viewed(t, text)
	c := &counted{View: v}
	most := int64(0)
	_, err := scanAt(newScanner("in", table(), func(Observation) { most = max(most, c.open.Load()) }), c, int64(len(text)), workers, length)
	require.NoError(t, err)
	assert.LessOrEqual(t, most, int64(nearBy+workers), "each worker may hold one more")
	assert.LessOrEqual(t, c.given.Load(), int64(parts+1), "none is looked at twice, and one byte is to see whether there are windows")
}

func TestAPartThatWaitedIsReadWhereThereIsNoWindowAnyMore(t *testing.T) {
	t.Parallel()
	text := []byte("a line\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
	v, _ := viewed(t, text)
	c := &closing{View: v}
	var got []Observation
	s := newScanner("in", table(), func(o Observation) { got = append(got, o) })
	s.again, s.recall.look = c, s.lookBack
	p := newPart(s, c, int64(len(text)), 1<<20, 0)
	p.fill(0, newSurveyor(s.table))
	q, places := newQueue(c, 2)
	require.Equal(t, farAhead, places)
	require.True(t, q.far(nearBy))
	p.wait(q)
	require.Nil(t, p.text)
	c.closed = true
	require.NoError(t, s.part(&p))
	s.close()
	assert.Len(t, got, 1)
}

// closing is a view that gives no more windows once it is closed.
type closing struct {
	*source.View
	closed bool
}

func (c *closing) Window(off int64, n int) ([]byte, func(), bool) {
	if c.closed {
		return nil, nil, false
	}
	return c.View.Window(off, n)
}

func TestOtherPanicsAreNoFaults(t *testing.T) {
	t.Parallel()
	assert.PanicsWithValue(t, "a mistake of ours", func() { unfaulted(func() { panic("a mistake of ours") }) })
	assert.Panics(t, func() { unfaulted(func() { var s *Scanner; s.line++ }) })
	err := errors.New("an error")
	assert.PanicsWithError(t, err.Error(), func() { unfaulted(func() { panic(err) }) })
}

func TestWindowsAreGivenBack(t *testing.T) {
	t.Parallel()
	text := woven(t)
	text = text[:min(len(text), 1<<20)]
	for _, workers := range []int{1, 4} {
		v, _ := viewed(t, text)
		c := &counted{View: v}
		_, err := scanAt(newScanner("in", table(), func(Observation) {}), c, int64(len(text)), workers, 64<<10)
		require.NoError(t, err)
		assert.Positive(t, c.given.Load())
		assert.Zero(t, c.open.Load())
	}
}
