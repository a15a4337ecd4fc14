package literal

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// typical are literals like those of the pattern tables.
var typical = []string{
	"out of memory", "Out of memory", "OutOfMemoryError", "OUT_OF_MEMORY", "Tried to allocate", "oom-kill", "oom_kill", "OOM Killed",
	"Killed process", "Killed", "SIGKILL", "exitcode  : -9", "NCCL WARN ", "ncclUnhandledCudaError", "Watchdog caught collective",
	"bad_alloc", "MemoryError", "Cannot allocate memory", "DefaultCPUAllocator", "mem_fraction_static", "gpu_memory_utilization",
	"No available memory for the cache blocks", "cudaMalloc", "ALLOC_FAILED", "RESOURCE_EXHAUSTED", "Bus error", "/dev/shm",
	"memory pressure", "ActorDiedError", "ChildFailedError", "Traceback (most recent call last)", "illegal memory access",
	"total-vm:", "Exited with exit code", "CANCELLED AT", "scancel", "Sandbox", "EL0004",
}

func newFinder(tb testing.TB, literals ...string) *Finder {
	tb.Helper()
	f, err := NewFinder(literals)
	require.NoError(tb, err)
	return f
}

// afterEscape is what a color escape looks like at the end of a text.
var afterEscape = regexp.MustCompile(`\[[0-9:;]*[mK]$`)

// naive finds the literals one by one.
func naive(literals []string, text []byte, lo, hi int) []Hit {
	all := []Hit{}
	for id, lit := range literals {
		for i := lo; i < hi && i+len(lit) <= len(text); i++ {
			if string(text[i:i+len(lit)]) != lit {
				continue
			}
			end := i + len(lit)
			before := i == 0 || isDelimiter(text[i-1]) || afterEscape.Match(text[max(0, i-MaxEscape):i])
			after := end == len(text) || isDelimiter(text[end])
			if len(lit) >= 8 || before && (len(lit) == 7 || after) {
				all = append(all, Hit{i, id})
			}
		}
	}
	return all
}

// check compares a finder with the naive search, over the whole text and over stretches of it.
func check(tb testing.TB, f *Finder, text []byte) {
	tb.Helper()
	for lo := 0; lo <= len(text); lo += 1 + len(text)/3 {
		hi := min(len(text), lo+1+len(text)/2)
		got := f.Scan(text, lo, hi, []Hit{})
		require.ElementsMatch(tb, naive(f.literals, text, lo, hi), got, "[%d,%d) of %q", lo, hi, text)
		line := 0
		for _, h := range got {
			n := strings.Count(string(text[:h.Pos]), "\n")
			require.GreaterOrEqual(tb, n, line, "hits of a later line come first in %q", text)
			line = n
		}
	}
}

func TestNewFinderRejectsLiterals(t *testing.T) {
	t.Parallel()
	for _, lit := range []string{"", "short", "out of\nmemory", strings.Repeat("x", MaxLen+1)} {
		_, err := NewFinder([]string{"out of memory", lit})
		assert.ErrorContains(t, err, fmt.Sprintf("literal 1 %q", lit))
	}
}

func TestFinderWithoutLiteralsFindsNothing(t *testing.T) {
	t.Parallel()
	check(t, newFinder(t), []byte(strings.Repeat("a line\n", 100)))
}

func TestFinderFindsEveryLiteralAtEveryOffset(t *testing.T) {
	t.Parallel()
	f := newFinder(t, typical...)
	for i, lit := range typical {
		if testing.Short() && i%4 != 0 {
			continue // the race detector makes it slow
		}
		for at := range 2*blockLen + stride {
			for _, tail := range []int{0, 1, 2, 3, 4, 5, 59, 60, 61} {
				text := []byte(strings.Repeat(".", at) + lit + strings.Repeat(" ", tail))
				require.ElementsMatch(t, naive(typical, text, 0, len(text)), f.Scan(text, 0, len(text), nil), "%q at %d before %d", lit, at, tail)
			}
		}
	}
}

func TestShortLiteralsAreWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		literal, text string
		want          []int
	}{
		{"Killed", "Killed", []int{0}},
		{"Killed", "line 3: 12 Killed  python", []int{11}},
		{"Killed", "\nKilled\n", []int{1}},
		{"Killed", "canKilled Killeds _Killed Killed_", nil},
		{"Killed", "unKilled Killed!", []int{9}},
		{"Killed", "éKilled.", nil},
		{"Killed", "\x1b[31mKilled\x1b[0m", []int{5}},
		{"Killed", "\x1b[1;38;2;180;140;80mKilled\x1b[0m", []int{20}},
		{"Killed", "\x1b[0m\x1b[KKilled", []int{7}},
		{"Killed", "[mKilled", []int{2}},
		{"Killed", "mKilled 31mKilled \x1b[31 mKilled", nil},
		{"Killed", "\x1b[" + strings.Repeat("1;", 20) + "mKilled", nil},
		{"scancel", "\x1b[31mscancelled", []int{5}},
		{"scancel", "(scancelled)", []int{1}},
		{"scancel", "xscancel 9scancel", nil},
	} {
		f := newFinder(t, tc.literal)
		var got []int
		for _, h := range f.Scan([]byte(tc.text), 0, len(tc.text), nil) {
			got = append(got, h.Pos)
		}
		assert.Equal(t, tc.want, got, "%q in %q", tc.literal, tc.text)
		check(t, f, []byte(tc.text))
	}
}

func TestFinderAgreesWithTheNaiveSearch(t *testing.T) {
	t.Parallel()
	f := newFinder(t, typical...)
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		var text []byte
		for range r.IntN(30) {
			lit := typical[r.IntN(len(typical))]
			text = append(text, lit[r.IntN(2)*r.IntN(len(lit)):]...)
			text = append(text, " \n.m_K[\x1b\xc3x"[r.IntN(10)])
		}
		check(t, f, text)
	}
}

// TestAFloodOfWordsIsFoundInTime has so many words that comparing each with all before it would take minutes.
func TestAFloodOfWordsIsFoundInTime(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("Killed ", 1<<19)
	assert.Len(t, newFinder(t, "Killed").Scan([]byte(text), 0, len(text), nil), 1<<19)
}

func FuzzFinder(f *testing.F) {
	f.Add("out of memory|Killed|scancel", "\x1b[31mKilled\nout of memoryscancel")
	f.Fuzz(func(t *testing.T, literals, text string) {
		list := slices.Compact(slices.Sorted(slices.Values(strings.Split(literals, "|"))))
		finder, err := NewFinder(list)
		if err != nil || len(text) > 1<<10 {
			return
		}
		check(t, finder, []byte(text))
	})
}

func TestScanDoesNotAllocate(t *testing.T) {
	f := newFinder(t, typical...)
	text := []byte(healthy + "\nCUDA out of memory\n")
	hits := make([]Hit, 0, 1000)
	assert.Zero(t, testing.AllocsPerRun(10, func() { hits = f.Scan(text, 0, len(text), hits[:0]) }))
	assert.NotEmpty(t, hits)
}

// TestTheSampleHoldsNoFailure keeps healthy.txt what it says: grams of a failure would be shunned.
func TestTheSampleHoldsNoFailure(t *testing.T) {
	t.Parallel()
	assert.NotRegexp(t, `(?i)out.of.memory|oom.kill|CUDA error|bad_alloc`, healthy)
}

func BenchmarkScan(b *testing.B) {
	f := newFinder(b, typical...)
	text := []byte(strings.Repeat(healthy, 10))
	var hits []Hit
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		hits = f.Scan(text, 0, len(text), hits[:0])
	}
}

func BenchmarkNewFinder(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newFinder(b, typical...)
	}
}
