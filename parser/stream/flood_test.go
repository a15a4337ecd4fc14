package stream

import (
	"fmt"
	"strings"
	"testing"

	"oomscan/parser"

	"github.com/stretchr/testify/assert"
)

// A flood of one message is counted up to a limit; what is not the same is still read behind it, and what is quoted does not count.
func TestAFloodDoesNotDrownOtherEvents(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes it slow, and it has one goroutine")
	}
	const quoted = "RuntimeError: CUDA error: out of memory\n"
	var b strings.Builder
	b.WriteString(strings.Repeat("<|im_start|>user\n"+quoted+"<|im_end|>\n", 3*maxAlike) + quoted)
	for i := range 3 * maxAlike {
		fmt.Fprintf(&b, "(WorkerDict pid=%d) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 5.64 GiB. GPU 3 has a total capacity of 79.11 GiB of which 2.25 GiB is free.\n", i%8)
	}
	b.WriteString("slurmstepd: error: Detected 1 oom_kill event in StepId=4242.batch. Some of the step tasks have been OOM Killed.\n")
	seen := map[string]int{}
	s := NewReader("flood", func(o parser.Observation) {
		if e, ok := o.(parser.Event); ok {
			seen[e.Pattern]++
		}
	})
	_, err := s.Write([]byte(b.String()))
	s.Close()
	assert.NoError(t, err)
	assert.Equal(t, maxAlike, seen["torch.oom.of_which"])
	assert.Equal(t, 1, seen["slurm.oom_kill"], "%v", seen)
	assert.Equal(t, 1, seen["cuda.error"], "%v", seen)
}

// TestAFloodOfKillsIsCountedUpToALimit: each report of the kernel costs as much as a match.
func TestAFloodOfKillsIsCountedUpToALimit(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 2 * maxAlike {
		fmt.Fprintf(&b, "Memory cgroup out of memory: Killed process %d (python) total-vm:1kB, anon-rss:1kB, file-rss:4kB\n", i+2)
	}
	reports := 0
	_, err := Read("flood", strings.NewReader(b.String()), func(o parser.Observation) {
		if e, ok := o.(parser.Event); ok && e.Pattern == "kernel.report" {
			reports++
		}
	})
	assert.NoError(t, err)
	assert.Equal(t, maxAlike, reports)
}

// TestARepeatedTextIsTriedOnce floods a log with a word that patterns and vetoes look at, in lines and in one line, which is read in
// windows.
func TestARepeatedTextIsTriedOnce(t *testing.T) {
	t.Parallel()
	const few = 64 // texts that differ, as the pieces of a line begin at another place of the word
	for name, unit := range map[string]string{
		"a status in a line":   "CUBLAS_STATUS_ALLOC_FAILED ",
		"a status in lines":    "CUBLAS_STATUS_ALLOC_FAILED\n",
		"long lines":           strings.Repeat("cudaErrorMemoryAllocation ", 100) + "\n",
		"a word of no failure": "MemoryError ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewReader("flood", func(parser.Observation) {})
			_, err := s.Write([]byte(strings.Repeat(unit, 1<<20/len(unit))))
			s.Close()
			assert.NoError(t, err)
			assert.NotEmpty(t, s.messages.memo.known)
			assert.LessOrEqual(t, len(s.messages.memo.known), few)
		})
	}
}

// TestARepeatedTextIsToldEachTime: what is known of a text spares the expressions, and no event.
func TestARepeatedTextIsToldEachTime(t *testing.T) {
	t.Parallel()
	const lines = 5
	events := 0
	_, err := Read("flood", strings.NewReader(strings.Repeat("    raise RuntimeError('CUDA error: out of memory')\nRuntimeError: CUDA error: out of memory\n", lines)), func(o parser.Observation) {
		if e, ok := o.(parser.Event); ok && e.Pattern == "cuda.error" {
			events++
		}
	})
	assert.NoError(t, err)
	assert.Equal(t, lines, events)
}

func TestAMemoIsBounded(t *testing.T) {
	t.Parallel()
	m := newMemo()
	for i := range 3 * maxKnown {
		m.learn(m.key([]byte{byte(i), byte(i >> 8)}, 0), true)
	}
	assert.LessOrEqual(t, len(m.known), maxKnown)
	assert.NotEqual(t, m.key([]byte("a"), 1), m.key([]byte("a"), 2))
}
