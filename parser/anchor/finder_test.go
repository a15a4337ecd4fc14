package anchor

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

// typical are needles like those of the pattern tables.
var typical = []string{
	"out of memory", "Out of memory", "OutOfMemoryError", "OUT_OF_MEMORY", "Tried to allocate", "tried to allocate", "oom-kill",
	"oom_kill", "OOM Killed", "Killed process", "Killed", "SIGKILL", "exitcode  : -9", "exit code 137", "NCCL WARN ",
	"ncclUnhandledCudaError", "ncclSystemError", "ncclRemoteError", "unhandled cuda error", "Watchdog caught collective",
	"DistBackendError", "Failed to CUDA calloc", "bad_alloc", "MemoryError", "Cannot allocate memory", "DefaultCPUAllocator",
	"mem-fraction-static", "mem_fraction_static", "gpu_memory_utilization", "No available memory for the cache blocks",
	"KV cache is needed", "KV cache pool is full", "cuMemCreate", "cudaMalloc", "ALLOC_FAILED", "CUBLAS_STATUS", "CUDNN_STATUS",
	"RESOURCE_EXHAUSTED", "Bus error", "/dev/shm", "No space left on device", "memory pressure", "low on memory",
	"ActorDiedError", "WorkerCrashedError", "RayTaskError", "ChildFailedError", "Traceback (most recent call last)",
	"illegal memory access", "device-side assert", "NPU out of", "HSA_STATUS_ERROR", "EngineDeadError", "total-vm:",
	"invoked oom-killer", "Memory cgroup", "Exited with exit code", "CANCELLED AT", "DUE TO TIME LIMIT", "scancel",
}

func newFinder(tb testing.TB, needles ...string) *Finder {
	tb.Helper()
	f, err := New(needles)
	require.NoError(tb, err)
	return f
}

// afterCode is what a colour code looks like at the end of a text.
var afterCode = regexp.MustCompile(`\[[0-9:;]*[mK]$`)

// naive returns the offsets of all occurrences, by needle.
func naive(needles []string, b []byte) [][]int {
	all := make([][]int, len(needles))
	for id, n := range needles {
		for i := 0; i+len(n) <= len(b); i++ {
			if string(b[i:i+len(n)]) != n {
				continue
			}
			before := i == 0 || isDelimiter(b[i-1]) || afterCode.Match(b[max(0, i-MaxCode):i])
			after := i+len(n) == len(b) || isDelimiter(b[i+len(n)])
			if len(n) >= 8 || before && (len(n) == 7 || after) {
				all[id] = append(all[id], i)
			}
		}
	}
	return all
}

// check compares a finder with the naive search.
func check(tb testing.TB, f *Finder, b []byte) {
	tb.Helper()
	want := naive(f.needles, b)
	starts := slices.Concat(want...)
	slices.Sort(starts)
	line := func(pos int) int { return strings.Count(string(b[:pos]), "\n") }

	for from := 0; from <= len(b); {
		i, _ := slices.BinarySearch(starts, from)
		pos, ok := f.Next(b, from)
		if i == len(starts) {
			require.False(tb, ok, "invents an occurrence at %d in %q", pos, b)
			break
		}
		require.True(tb, ok, "misses the occurrence at %d from %d in %q", starts[i], from, b)
		_, real := slices.BinarySearch(starts[i:], pos)
		require.True(tb, real, "no needle at %d in %q", pos, b)
		require.Equal(tb, line(starts[i]), line(pos), "skips a line from %d in %q", from, b)
		from = pos + 1
	}

	for lo := 0; lo <= len(b); lo += 1 + len(b)/3 {
		hi := min(len(b), lo+1+len(b)/2)
		all := map[Hit]bool{}
		last := 0
		for _, h := range f.Scan(b, lo, hi, All, nil) {
			require.False(tb, all[h], "%v twice in %q", h, b)
			all[h] = true
			if len(f.tiny) == 0 {
				require.GreaterOrEqual(tb, line(h.Pos), last, "hits of a later line come first in %q", b)
				last = line(h.Pos)
			}
		}
		n := 0
		for id := range want {
			for _, pos := range want[id] {
				if pos >= lo && pos < hi {
					n++
					require.True(tb, all[Hit{pos, id}], "Scan misses %q at %d of [%d,%d) in %q", f.needles[id], pos, lo, hi, b)
				}
			}
		}
		require.Len(tb, all, n)
	}

	var got, ids []int
	f.Needles(b, func(id int) bool { got = append(got, id); return true })
	for id := range want {
		if len(want[id]) > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(got)
	require.Equal(tb, ids, got, "needles of %q", b)
}

func TestNewRejectsNeedles(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"", "oom", "out of\nmemory", "oom\n"} {
		_, err := New([]string{"out of memory", n})
		assert.ErrorContains(t, err, fmt.Sprintf("needle 1 %q", n))
	}
}

func TestFinderWithoutNeedlesFindsNothing(t *testing.T) {
	t.Parallel()
	f := newFinder(t)
	check(t, f, []byte(strings.Repeat("a line\n", 100)))
	assert.Zero(t, f.MaxLen())
}

func TestMaxLenCountsAllNeedles(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 4, newFinder(t, "abcd").MaxLen())
	assert.Equal(t, 13, newFinder(t, "abcd", "out of memory", "Killed").MaxLen())
}

func TestFinderFindsEveryNeedleAtEveryOffset(t *testing.T) {
	t.Parallel()
	f := newFinder(t, typical...)
	for _, n := range typical {
		for at := range 2*blockLen + stride {
			for _, tail := range []int{0, 1, 2, 3, 4, 5, 59, 60, 61} {
				b := []byte(strings.Repeat(".", at) + n + strings.Repeat(" ", tail))
				pos, ok := f.Next(b, 0)
				require.True(t, ok, "%q at %d before %d", n, at, tail)
				if pos != at { // another needle inside this one
					require.Contains(t, slices.Concat(naive(typical, b)...), pos)
				}
			}
		}
	}
}

func TestShortNeedlesAreWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		needle, text string
		want         int
	}{
		{"Killed", "Killed", 0},
		{"Killed", "line 3: 12 Killed  python", 11},
		{"Killed", "\nKilled\n", 1},
		{"Killed", "canKilled", -1},
		{"Killed", "Killeds", -1},
		{"Killed", "_Killed", -1},
		{"Killed", "Killed_", -1},
		{"Killed", "unKilled Killed!", 9},
		{"Killed", "é Killed.", 3},
		{"Killed", "éKilled.", -1},
		{"Killed", "\x1b[31mKilled\x1b[0m", 5},
		{"Killed", "\x1b[1;38;2;180;140;80mKilled\x1b[0m", 20},
		{"Killed", "\x1b[0m\x1b[KKilled", 7},
		{"Killed", "[mKilled", 2},
		{"Killed", "mKilled", -1},
		{"Killed", "31mKilled", -1},
		{"Killed", "\x1b[31 mKilled", -1},
		{"Killed", "\x1b[" + strings.Repeat("1;", 20) + "mKilled", -1},
		{"OOM!", "\x1b[31mOOM!\x1b[0m", 5},
		{"scancel", "\x1b[31mscancelled", 5},
		{"scancel", "(scancelled)", 1},
		{"scancel", "(scancel)", 1},
		{"scancel", "xscancel", -1},
		{"SIGKILL", "9SIGKILL", -1},
		{"OOM!", "a OOM! b", 2},
		{"OOM!", "aOOM! OOM!", 6},
		{"OOM!", "OOM!", 0},
		{"OOM!!", "OOM!! x", 0},
		{"OOM!!", "xOOM!!", -1},
	} {
		b := []byte(tc.text)
		pos, ok := newFinder(t, tc.needle).Next(b, 0)
		assert.Equal(t, tc.want >= 0, ok, "%q in %q", tc.needle, tc.text)
		if ok {
			assert.Equal(t, tc.want, pos, "%q in %q", tc.needle, tc.text)
		}
		check(t, newFinder(t, tc.needle), b)
	}
}

func TestShortNeedlesAreFoundBesideEveryDelimiter(t *testing.T) {
	t.Parallel()
	needles := []string{"word", "words", "Killed", "SIGKILL"}
	f := newFinder(t, needles...)
	for c := range 256 {
		for _, n := range needles {
			for at := range stride {
				check(t, f, []byte(strings.Repeat("-", at)+string([]byte{byte(c)})+n+string([]byte{byte(c)})+strings.Repeat("-", at)))
			}
		}
	}
}

func TestNextStartsAtFrom(t *testing.T) {
	t.Parallel()
	f := newFinder(t, "out of memory")
	b := []byte("out of memory, out of memory")
	for from, want := range map[int]int{-7: 0, 0: 0, 1: 15, 15: 15} {
		pos, ok := f.Next(b, from)
		assert.True(t, ok)
		assert.Equal(t, want, pos, "from %d", from)
	}
	for _, from := range []int{16, len(b), len(b) + 9} {
		_, ok := f.Next(b, from)
		assert.False(t, ok, "from %d", from)
	}
}

func TestNeedlesCountsOverlapsAndEqualOnes(t *testing.T) {
	t.Parallel()
	f := newFinder(t, "CUDA out of memory", "out of memory", "memory. Tried", "out of memory", "of memory (unseen)")
	var got []int
	line := []byte("RuntimeError: CUDA out of memory. Tried to allocate; CUDA out of memory")
	f.Needles(line, func(id int) bool { got = append(got, id); return true })
	assert.ElementsMatch(t, []int{0, 1, 2, 3}, got)

	got = nil
	f.Needles(line, func(id int) bool { got = append(got, id); return false })
	assert.Len(t, got, 1, "yield said stop")
}

func TestNeedlesOfManyNeedles(t *testing.T) {
	t.Parallel()
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprintf("needle %04d", i)
	}
	f := newFinder(t, many...)
	check(t, f, []byte("needle 0000, needle 2047, needle 2048, needle 2999, needle 3000"))
}

// randomText mixes pieces of needles with noise over few bytes, so that windows, half windows and delimiters meet.
func randomText(r *rand.Rand, needles []string, n int) []byte {
	var b []byte
	for len(b) < n {
		needle := needles[r.IntN(len(needles))]
		switch r.IntN(4) {
		case 0:
			b = append(b, needle...)
		case 1:
			b = append(b, needle[r.IntN(len(needle)):]...)
		case 2:
			b = append(b, needle[:r.IntN(len(needle))]...)
		}
		for range r.IntN(9) {
			b = append(b, " \n_a.:K\x00\xe9[1m"[r.IntN(12)])
		}
	}
	return b[:n]
}

func TestFinderEqualsNaiveSearch(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	sets := [][]string{
		typical,
		append([]string{"OOM:", "oom's", "Kill"}, typical...),
		{"aaaaaaaa", "aaaaaaaaaa", "aaaaaa", "aaaaaaa", "aaaa"},
		{"\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00", "........", "......"},
		{"........:", ".......", "a.a.a.a.a.a"},
	}
	for _, needles := range sets {
		f := newFinder(t, needles...)
		for range 100 {
			check(t, f, randomText(r, needles, r.IntN(4*blockLen)))
		}
		check(t, f, randomText(r, needles, 3*tinyBlock))
	}
}

// TestChunksFindTheSame splits a text in two at every place, with the overlap that the documentation asks for.
func TestChunksFindTheSame(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	needles := append([]string{"OOM:"}, typical...)
	f := newFinder(t, needles...)
	b := randomText(r, needles, 700)
	lineAt := func(pos int) int { return strings.LastIndexByte(string(b[:pos]), '\n') + 1 }
	lines := func(cuts ...int) map[int]bool {
		found := map[int]bool{}
		for i := 1; i < len(cuts); i++ {
			lo, hi := cuts[i-1], cuts[i]
			first := max(lo-MaxCode, 0)
			chunk := b[first:min(hi+f.MaxLen(), len(b))]
			for from := lo - first; ; {
				pos, ok := f.Next(chunk, from)
				if !ok || first+pos >= hi {
					break
				}
				found[lineAt(first+pos)] = true
				from = pos + 1
			}
		}
		return found
	}
	want := lines(0, len(b))
	require.NotEmpty(t, want)
	for cut := 1; cut < len(b); cut++ {
		require.Equal(t, want, lines(0, cut, len(b)), "cut at %d", cut)
	}
}

func FuzzFinder(f *testing.F) {
	f.Add([]byte("CUDA out of memory. Tried to allocate 2 GiB\nKilled"), "out of memory", "Killed")
	f.Add([]byte("xKilled\n\nKilled\x00"), "Killed", "d\x00\x00\x00\x00\x00\x00\x00")
	f.Add([]byte(strings.Repeat("a", 200)), "aaaaaaaa", "aaaa")
	f.Fuzz(func(t *testing.T, text []byte, one, two string) {
		finder, err := New([]string{one, two, "out of memory", "Killed"})
		if err != nil {
			t.Skip()
		}
		check(t, finder, text[:min(len(text), 1<<10)])
	})
}

func TestANeedleWithOneCommonGramIsFoundByWhatStandsBeforeIt(t *testing.T) {
	t.Parallel()
	const needle = " on cuda:" // " cuda" is its only gram of that remainder, and healthy logs are full of it
	plan := Choose([]string{needle}, nil, 8)
	require.Equal(t, byte(outside), plan.Grams[stride-1])
	f, err := Planned([]string{needle}, nil, plan)
	require.NoError(t, err)
	for pad := range 2 * stride {
		for c := range 256 {
			check(t, f, []byte(strings.Repeat("x", pad)+string([]byte{byte(c)})+needle+"0, cuda graph: True"))
		}
		check(t, f, []byte(strings.Repeat("x", pad)+needle))
	}
	check(t, f, []byte(needle))

	plan.Grams = strings.Replace(plan.Grams, string([]byte{outside}), "\x02", 1)
	_, err = Planned([]string{needle}, nil, plan)
	require.ErrorIs(t, err, errStale)
}
