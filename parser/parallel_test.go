package parser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everything is what a scan emits, in full.
func everything(t *testing.T, scan func(emit func(Observation)) (Stats, error)) []string {
	t.Helper()
	var out []string
	st, err := scan(func(o Observation) {
		b, err := json.Marshal(o)
		require.NoError(t, err)
		out = append(out, fmt.Sprintf("%T %s", o, b))
	})
	require.NoError(t, err)
	return append(out, fmt.Sprintf("%+v", st))
}

// woven is a log out of the real logs of the fixtures, with a huge line of bars and one of flat text between.
func woven(t *testing.T) []byte {
	t.Helper()
	logs, err := filepath.Glob("../fixtures/cases/*/*/*.log")
	require.NoError(t, err)
	require.NotEmpty(t, logs)
	oomLine := "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free."
	var b bytes.Buffer
	for i, name := range logs {
		if i%2 == 1 && i%8 != 5 {
			continue // enough of them
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		b.Write(text[:min(len(text), 60_000)])
		switch i % 8 {
		case 2:
			bar := strings.Repeat("\r 3%|#   | 40/1171 [39:20<18:32:22, 59.01s/it]", 2000)
			fmt.Fprintf(&b, "\n(WorkerDict pid=77) %s%s\r%s\r%s\n", bar, bar, oomLine, bar)
		case 5:
			flat := strings.Repeat("0123456789abcdef ", 6000)
			fmt.Fprintf(&b, "\n%s%s%s%s%s\n", flat, oomLine, flat, oomLine, flat)
		}
	}
	return b.Bytes()
}

// TestPartsAndWorkersDoNotMatter reads one input in every way there is: as a stream in chunks, and in parts from 1 KiB to
// 4 MiB, with 1 and 16 workers.
func TestPartsAndWorkersDoNotMatter(t *testing.T) {
	t.Parallel()
	text := woven(t)
	lengths := []int{1 << 10, 64 << 10, 4 << 20}
	if testing.Short() { // the race detector makes it slow
		text, lengths = text[:len(text)/5], lengths[1:2]
	}
	want := everything(t, func(emit func(Observation)) (Stats, error) { return Scan("in", bytes.NewReader(text), emit) })
	require.Greater(t, len(want), 500)
	for _, length := range lengths {
		for _, workers := range []int{1, 16} {
			t.Run(fmt.Sprintf("%d/%d", length, workers), func(t *testing.T) {
				t.Parallel()
				for _, in := range []io.ReaderAt{bytes.NewReader(text), newFleeting(text)}[:min(workers, 2)] {
					same(t, want, everything(t, func(emit func(Observation)) (Stats, error) {
						return scanAt(newScanner("in", table(), emit), in, int64(len(text)), workers, length)
					}))
				}
			})
		}
	}
	t.Run("chunks", func(t *testing.T) {
		t.Parallel()
		r := rand.New(rand.NewPCG(3, 4))
		got := everything(t, func(emit func(Observation)) (Stats, error) {
			s := NewScanner("in", emit)
			for rest := text; len(rest) > 0; {
				n := min(len(rest), 1+r.IntN(100_000))
				_, _ = s.Write(rest[:n])
				rest = rest[n:]
			}
			return s.Close(), nil
		})
		same(t, want, got)
	})
}

// same compares long lists without printing all of them.
func same(t *testing.T, want, got []string) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			at := 0
			for at < min(len(want[i]), len(got[i])) && want[i][at] == got[i][at] {
				at++
			}
			t.Fatalf("observation %d of %d differs: %.150s ... %.150s\nand not %.150s", i, len(want), want[i], got[i][at:], want[i][at:])
		}
	}
	assert.Len(t, got, len(want))
}

// fleeting is an input in memory whose windows are gone once they are released: whoever looks at one then sees nothing.
type fleeting struct {
	*bytes.Reader
	text []byte
}

func newFleeting(text []byte) fleeting { return fleeting{bytes.NewReader(text), text} }

func (f fleeting) Window(off int64, n int) ([]byte, func(), bool) {
	if off+int64(n) > int64(len(f.text)) {
		return nil, nil, false
	}
	w := bytes.Clone(f.text[off:][:n])
	return w, func() { clear(w) }, true
}

func TestScanAtOfAnEmptyInput(t *testing.T) {
	t.Parallel()
	st, err := ScanAt("in", bytes.NewReader(nil), 0, 4, func(Observation) { t.Error("there is nothing to tell") })
	require.NoError(t, err)
	assert.Zero(t, st)
}

// short is an input that is not as long as it was.
type short struct {
	*bytes.Reader
	err error
}

func (s short) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.Reader.ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		err = s.err
	}
	return n, err
}

func TestScanAtReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat([]byte("a line of a log that says nothing\n"), 100)
	broken := errors.New("the disk is gone")
	for _, workers := range []int{1, 3} {
		st, err := scanAt(newScanner("in", table(), func(Observation) {}), short{bytes.NewReader(text), io.EOF}, 1<<20, workers, 1000)
		require.NoError(t, err, "a file that was truncated meanwhile is no error")
		assert.Equal(t, Stats{Bytes: int64(len(text)), Lines: 100}, st)
		st, err = scanAt(newScanner("in", table(), func(Observation) {}), short{bytes.NewReader(text), broken}, 1<<20, workers, 1000)
		require.ErrorIs(t, err, broken)
		assert.Equal(t, Stats{Bytes: int64(len(text)), Lines: 100}, st, "what was read before counts")
	}
}

// TestHealthyLinesDoNotAllocate: past the head of an input, a line without a needle costs no allocation, and neither does one
// whose news can wait.
func TestHealthyLinesDoNotAllocate(t *testing.T) {
	text := bytes.Repeat(healthyLog(), 2)
	text = append(text, bytes.Repeat([]byte("(WorkerDict pid=1) INFO:2026-01-01 10:00:00,000:After update policy, memory allocated (GB): 2.31, memory reserved (GB): 40.10\n"), 2000)...)
	s := NewScanner("in", func(Observation) {})
	for range 2 {
		_, _ = s.Write(text) // the head, and what is allocated once
	}
	require.Greater(t, s.Stats().Lines, 2*headLines)
	assert.Zero(t, testing.AllocsPerRun(3, func() { _, _ = s.Write(text) }))
}

// FuzzPartsDoNotMatter composes logs of the table's samples, bars and flat text, and reads them in parts of any length.
func FuzzPartsDoNotMatter(f *testing.F) {
	f.Add(uint64(1), 1<<10)
	f.Add(uint64(2), 3000)
	f.Add(uint64(3), 70_000)
	all := Patterns()
	f.Fuzz(func(t *testing.T, seed uint64, length int) {
		if length < 64 || length > 1<<20 {
			t.Skip()
		}
		r := rand.New(rand.NewPCG(seed, 1))
		ends := []string{"\n", "\n", "\n", "\r", "\r\n", " "}
		var b bytes.Buffer
		for range 1 + r.IntN(400) {
			switch p := &all[r.IntN(len(all))]; r.IntN(12) {
			case 0:
				b.WriteString(strings.Repeat("\r 3%|#   | 40/1171 [39:20<18:32:22, 59.01s/it]", r.IntN(3000)))
			case 1:
				b.WriteString(strings.Repeat("0123456789abcdef ", r.IntN(6000)))
			case 2:
				b.WriteString("[rank1]: Traceback (most recent call last):\n[rank1]:   File \"/srv/a.py\", line 3, in f\n")
			case 3:
				b.WriteString(strings.Repeat("a line that says nothing\n", r.IntN(900)))
			case 4:
				b.WriteString(sampleMarks[r.IntN(len(sampleMarks))].mark + "some text")
			default:
				b.WriteString([]string{"", "[rank1]: ", "(WorkerDict pid=7) "}[r.IntN(3)] + p.Match[r.IntN(len(p.Match))].Line)
			}
			b.WriteString(ends[r.IntN(len(ends))])
		}
		text := b.Bytes()
		want := everything(t, func(emit func(Observation)) (Stats, error) { return Scan("in", bytes.NewReader(text), emit) })
		got := everything(t, func(emit func(Observation)) (Stats, error) {
			return scanAt(newScanner("in", table(), emit), bytes.NewReader(text), int64(len(text)), 2, length)
		})
		same(t, want, got)
		limit := LineLimit(LeastLine + r.IntN(4*DefaultLine))
		want = everything(t, func(emit func(Observation)) (Stats, error) { return Scan("in", bytes.NewReader(text), emit, limit) })
		got = everything(t, func(emit func(Observation)) (Stats, error) {
			return scanAt(newScanner("in", table(), emit, limit), newFleeting(text), int64(len(text)), 2, length)
		})
		same(t, want, got)
	})
}
