package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
)

// everything is what a log says, in full.
func everything(t *testing.T, read func(emit func(parser.Observation)) (parser.Counts, error)) []string {
	t.Helper()
	var out []string
	st, err := read(func(o parser.Observation) {
		b, err := json.Marshal(o)
		require.NoError(t, err)
		out = append(out, fmt.Sprintf("%T %s", o, b))
	})
	require.NoError(t, err)
	return append(out, fmt.Sprintf("%+v", st))
}

// same compares long lists without printing all of them.
func same(t *testing.T, want, got []string) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Fatalf("observation %d of %d differs: %.300s\nand not %.300s", i, len(want), got[i], want[i])
		}
	}
	assert.Len(t, got, len(want))
}

// every is how far apart the members of a long list are that a test tries: n, or 1 where OOMSCAN_TEST_ALL is set, or 8n under -short,
// which the race detector runs with.
func every(n int) int {
	switch {
	case os.Getenv("OOMSCAN_TEST_ALL") != "":
		return 1
	case testing.Short():
		return 8 * n
	}
	return n
}

// realLogs are logs of the fixtures, as one.
func realLogs(t *testing.T, glob string) []byte {
	t.Helper()
	paths, err := filepath.Glob("../../fixtures/cases/" + glob)
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var b bytes.Buffer
	for i := 0; i < len(paths); i += every(8) {
		text, err := os.ReadFile(paths[i])
		require.NoError(t, err)
		b.Write(text[:min(len(text), 60_000)])
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// TestSkippingDoesNotMatter reads large logs in both gears: as a stream, and as a file of which what holds no event is skipped.
func TestSkippingDoesNotMatter(t *testing.T) {
	t.Parallel()
	enough := leadBytes + leastSkip + tailBytes + 300_000
	repeat := func(text []byte) []byte { return bytes.Repeat(text, 1+enough/len(text)) }
	healthy, noisy := repeat(healthyLog()), repeat(noisyLog())
	oom := "\n[rank3]: " + allocatorMessage + "\n"
	hunk := "diff --git a/a.py b/a.py\n@@ -1,2 +1,2002 @@\n" + strings.Repeat("+x = 1\n", 2000) + " " + allocatorMessage + "\n"
	for name, text := range map[string][]byte{
		"healthy":                      healthy,
		"healthy, with long lines":     repeat(append(healthyLog(), strings.Repeat("x\r", 50_000)+"\n"...)),
		"one long line":                bytes.ReplaceAll(healthy, newline, []byte{'\r'}),
		"one line without a break":     bytes.ReplaceAll(healthy, newline, []byte{' '}),
		"steps in such a line":         repeat(bytes.Repeat([]byte(strings.Repeat("some words of a long line ", 400)+"step:12 - actor/entropy:0.281 - critic/score/mean:0.96 "), 10)),
		"a long line at first":         append(bytes.ReplaceAll(healthy[:leadBytes+700_000], newline, []byte{'\r'}), healthy...),
		"a long line at last":          append(healthy[:len(healthy):len(healthy)], bytes.ReplaceAll(healthy, newline, []byte{'\r'})...),
		"one long line that fails":     []byte(strings.ReplaceAll(string(healthy), "\n", "\r") + strings.TrimSpace(oom) + string(bytes.ReplaceAll(healthy, newline, []byte{'\r'}))),
		"words of failures":            noisy,
		"fails in the middle":          []byte(string(noisy[:leadBytes+1_000_000]) + oom + string(noisy)),
		"fails at the beginning":       []byte(oom + string(noisy)),
		"fails at the end":             []byte(string(noisy) + oom + string(noisy[:400_000])),
		"settings in the middle":       []byte(string(healthy[:leadBytes+1_000_000]) + "\nINFO non-default args: {'model': 'm', 'max_model_len': 4096}\n" + string(healthy)),
		"a shortage that was handled":  []byte(string(healthy[:leadBytes+1_000_000]) + "\nKV cache pool is full. Retract requests. #retracted_reqs: 1, #new_token_ratio: 0.5\n" + string(healthy)),
		"an exception in the middle":   []byte(string(healthy[:leadBytes+1_000_000]) + "\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: no\n" + string(healthy)),
		"logs of the fixtures":         append(realLogs(t, "*/*/*.log"), healthy...),
		"the same in the middle":       slices.Concat(healthy[:leadBytes+1_000_000], realLogs(t, "*/*/*.log"), healthy),
		"a diff where the end begins":  []byte(string(healthy) + hunk + string(healthy[:tailBytes-len(allocatorMessage)-1000])),
		"smaller than is worth a look": noisy[:leadBytes],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name != "fails in the middle" && name != "one long line" && name != "steps in such a line" {
				t.Skip("the race detector makes it slow")
			}
			want := everything(t, func(emit func(parser.Observation)) (parser.Counts, error) {
				return Read("in", bytes.NewReader(text), emit)
			})
			require.NotEmpty(t, want)
			for _, workers := range []int{1, 3} {
				same(t, want, everything(t, func(emit func(parser.Observation)) (parser.Counts, error) {
					return ReadFile("in", bytes.NewReader(text), int64(len(text)), workers, emit)
				}))
			}
		})
	}
}

func TestReadFileOfAnEmptyInput(t *testing.T) {
	t.Parallel()
	st, err := ReadFile("in", strings.NewReader(""), 0, 2, func(parser.Observation) { t.Error("there is nothing in it") })
	require.NoError(t, err)
	assert.Zero(t, st)
}

// shorter is an input that ends before the size that it had, or fails there.
type shorter struct {
	io.ReaderAt
	size int64
	err  error
}

func (s shorter) ReadAt(p []byte, off int64) (int, error) {
	n := min(int64(len(p)), max(s.size-off, 0))
	n2, err := s.ReaderAt.ReadAt(p[:n], off)
	if n2 < len(p) {
		err = s.err
	}
	return n2, err
}

func TestReadFileReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat(healthyLog(), 8)
	copy(text[3<<20:], "\n"+allocatorMessage+"\n")
	for _, size := range []int64{3 << 20, 7 << 20} {
		want := everything(t, func(emit func(parser.Observation)) (parser.Counts, error) {
			return Read("in", bytes.NewReader(text[:size]), emit)
		})
		for _, end := range []error{io.EOF, errors.New("stale file handle")} {
			var failed error
			same(t, want, everything(t, func(emit func(parser.Observation)) (st parser.Counts, err error) {
				st, failed = ReadFile("in", shorter{bytes.NewReader(text), size, end}, int64(len(text)), 2, emit)
				return st, nil
			}))
			assert.Equal(t, end != io.EOF, failed != nil)
		}
	}
}

func TestHealthyLinesDoNotAllocate(t *testing.T) {
	text := bytes.Repeat(healthyLog(), 3)
	r := NewReader("in", func(parser.Observation) {})
	_, _ = r.Write(text) // the head of the input, and rings that grow
	per := testing.AllocsPerRun(3, func() { _, _ = r.Write(text) })
	assert.Less(t, per/float64(bytes.Count(text, newline)), 0.001, "allocations for each line")
}

// FuzzChunksAndSkippingDoNotMatter cuts any log anywhere.
func FuzzChunksAndSkippingDoNotMatter(f *testing.F) {
	for _, p := range []string{allocatorMessage, followed, "a\rb\r\n\x00\xff", "3: " + strings.Repeat("x", 1021) + "\n3: y\n"} {
		f.Add([]byte(p), 7)
	}
	f.Fuzz(func(t *testing.T, text []byte, chunk int) {
		if chunk <= 0 || len(text) > 1<<16 {
			return
		}
		want := everything(t, func(emit func(parser.Observation)) (parser.Counts, error) {
			return Read("in", bytes.NewReader(text), emit)
		})
		same(t, want, everything(t, func(emit func(parser.Observation)) (parser.Counts, error) {
			r := NewReader("in", emit)
			for rest := text; len(rest) > 0; {
				n := min(chunk, len(rest))
				_, _ = r.Write(rest[:n])
				rest = rest[n:]
			}
			return r.Close(), nil
		}))
	})
}
