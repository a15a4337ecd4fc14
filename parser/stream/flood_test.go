package stream

import (
	"fmt"
	"strings"
	"testing"

	"oomscan/parser"

	"github.com/stretchr/testify/assert"
)

// A flood of one message is counted up to a limit; what is not the same is still read behind it.
func TestAFloodDoesNotDrownOtherEvents(t *testing.T) {
	t.Parallel()
	var b strings.Builder
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
}
