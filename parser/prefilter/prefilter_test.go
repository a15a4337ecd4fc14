package prefilter

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/messages"
)

const (
	oom    = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free."
	filler = "(TaskRunner pid=3901) step:12 - actor/entropy:0.281 - critic/score/mean:0.9637\n"
)

var builtin = sync.OnceValue(func() *Table {
	t, err := NewTable(messages.All())
	if err != nil {
		panic(err)
	}
	return t
})

func search(text string, workers int) Result {
	return builtin().Search(strings.NewReader(text), Stretch{To: int64(len(text))}, workers, 64<<10)
}

func TestSearchFindsWhatMayBeAnEvent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		line string
		want bool
	}{
		"an allocator's message":               {oom, true},
		"behind line prefixes":                 {"3: (WorkerDict pid=4711, ip=10.0.0.7) [rank3]: " + oom, true},
		"inside a progress bar":                {strings.Repeat(" 3%|#   | 40/1171\r", 50) + oom, true},
		"a kernel's report":                    {"[1.0] python invoked oom-killer: gfp_mask=0x0", true},
		"in a long line":                       {strings.Repeat("x", 70_000) + " " + oom, true},
		"in a line that srun may have cut":     {"12: " + strings.Repeat("x", 1000) + " CUDA out of memory yyyy", true},
		"in a record that Docker split":        {`{"log":"CUDA out of memory. Tried to allocate 2.00 GiB","stream":"stderr","time":"2025-06-01T10:00:00.1Z"}`, true},
		"words that the pattern refuses":       {"hint: should you see CUDA out of memory, lower the micro-batch", false},
		"a message that a veto speaks against": {"[reward] sandbox stderr: terminate called after throwing an instance of 'std::bad_alloc'", false},
		"text of a printed sample":             {"(TaskRunner pid=1) [response] RuntimeError: CUDA error: an illegal memory access was encountered", false},
		"a shortage that was handled":          {"INFO preempted: KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_token_ratio: 0.5", false},
		"a healthy line":                       {"actor/entropy:0.281", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, search(filler+tc.line+"\n"+filler, 1).Found)
		})
	}
}

// TestSearchFindsTheSamplesOfAllEvents holds the table against itself: what stream can read as an event is found.
func TestSearchFindsTheSamplesOfAllEvents(t *testing.T) {
	t.Parallel()
	for _, p := range messages.All() {
		if p.Kind == "" || p.Kind == "pressure" || len(p.Literals) == 0 {
			continue
		}
		for _, s := range p.Match {
			vetoed := false
			for _, q := range messages.All() {
				vetoed = vetoed || q.Veto && (contains(p.Also, q.Name) || contains(q.Also, p.Name))
			}
			if !vetoed {
				assert.True(t, search(filler+s.Line+"\n", 1).Found, "%s: %q", p.Name, s.Line)
			}
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// TestSearchFindsAnEventAtTheEdgesOfBlocks moves one message over the edge between two blocks.
func TestSearchFindsAnEventAtTheEdgesOfBlocks(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat(filler, 2*blockSize/len(filler))
	for _, before := range []int{1, 40, len(oom) / 2, len(oom), len(oom) + 1, 300} {
		text := lines[:blockSize-before]
		text = text[:strings.LastIndexByte(text, '\n')+1]
		text += strings.Repeat("x", blockSize-before-len(text)-1) + "\n" + oom + "\n" + lines
		for _, workers := range []int{1, 4} {
			assert.True(t, search(text, workers).Found, "%d bytes before the edge", before)
		}
	}
}

func TestSearchCountsLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 70_000) + "\n"
	lines := strings.Repeat(filler, 3*blockSize/len(filler))
	for name, text := range map[string]string{
		"no lines":                     "",
		"one line without an end":      "abc",
		"many blocks":                  lines,
		"long lines":                   long + filler + long + long + lines + long,
		"a long line over an edge":     lines[:blockSize-30_000] + "\n" + long + lines,
		"a long line over many blocks": filler + strings.Repeat("z", 3*blockSize) + "\n" + filler,
		"a long line at the end":       lines + strings.Repeat("z", 70_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := Result{Lines: strings.Count(text, "\n")}
			for line := range strings.SplitSeq(text, "\n") {
				if len(line) > 64<<10 {
					want.Long++
				}
			}
			for _, workers := range []int{1, 3} {
				assert.Equal(t, want, search(text, workers))
			}
		})
	}
}

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errors.New("stale file handle") }

func TestSearchLeavesErrorsToTheReader(t *testing.T) {
	t.Parallel()
	assert.True(t, builtin().Search(broken{}, Stretch{To: 10}, 1, 64<<10).Found)
	assert.True(t, builtin().Search(strings.NewReader(filler), Stretch{To: int64(len(filler)) + 1}, 1, 64<<10).Found, "a file that became shorter")
}

func BenchmarkSearch(b *testing.B) {
	text := strings.Repeat(filler, 4*blockSize/len(filler))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		search(text, 1)
	}
}
