package classifier

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
	"oomscan/parser/stream"
)

// failing is a log with n failures of one rank, each with a traceback, and as many processes that the kernel killed.
func failing(t *testing.T, rank, n int) *Collector {
	t.Helper()
	var log strings.Builder
	for i := range n {
		fmt.Fprintf(&log, "[rank%d]: Traceback (most recent call last):\n", rank)
		for frame := range 12 {
			fmt.Fprintf(&log, "[rank%d]:   File \"/opt/train/module_%d.py\", line %d, in step_%d\n", rank, frame, frame+1, i)
		}
		fmt.Fprintf(&log, "[rank%d]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n", rank, i+2)
		fmt.Fprintf(&log, "[%5d.000000] Memory cgroup out of memory: Killed process %d (python) total-vm:400000kB, anon-rss:%dkB, file-rss:0kB, shmem-rss:0kB\n", i+1, 1000+i, 1000+i)
	}
	c := NewCollector()
	_, err := stream.Read(fmt.Sprintf("rank%d.log", rank), strings.NewReader(log.String()), c.Add)
	require.NoError(t, err)
	return c
}

func TestWhatManyLogsOfAJobTakeIsBounded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes it slow, and it has one goroutine")
	}
	const logs, failures = 16, 40
	whole, bounded, want := NewCollector(), NewCollector(), 0
	for rank := range logs {
		c := failing(t, rank, failures)
		want += c.Size()
		whole.Merge(c)
	}
	most := want / 4 / logs
	var kept, shortened int
	for rank := range logs {
		c := failing(t, rank, failures).Pack().Unpack()
		shortened += c.Bound(most)
		kept += c.Size()
		bounded.Merge(c)
	}
	assert.Less(t, kept, want/3)
	assert.Greater(t, shortened, logs*failures)
	all, few := whole.Result(), bounded.Result()
	require.NotEmpty(t, all.Incidents)
	assert.Equal(t, all.Incidents[0].ID, few.Incidents[0].ID)
	all.Incidents[0].Root.Tasks, few.Incidents[0].Root.Tasks = nil, nil // of all kills that are kept
	assert.Equal(t, all.Incidents[0].Root, few.Incidents[0].Root, "the first failure is kept whole")
	assert.Equal(t, reports(all), reports(few), "what is left out is counted")
}

// reports counts the reports of each kind.
func reports(r Result) map[parser.Kind]int {
	out := map[parser.Kind]int{}
	for i := range r.Incidents {
		out[r.Incidents[i].Kind] += 1 + r.Incidents[i].Repeats
	}
	return out
}

func TestAJobWithFewFailuresIsKeptWhole(t *testing.T) {
	t.Parallel()
	c := failing(t, 0, 40)
	want := repacked(c.Result())
	c = c.Pack().Unpack()
	assert.Zero(t, c.Bound(Share([]int{c.Size()})))
	assert.Equal(t, want, repacked(c.Result()))
}

func TestShareLeavesToLargeLogsWhatSmallOnesDoNotNeed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sizes []int
		want  int
	}{
		"no log":             {nil, math.MaxInt},
		"all fit":            {[]int{maxJob / 2, maxJob / 2}, math.MaxInt},
		"two large ones":     {[]int{maxJob, maxJob}, maxJob / 2},
		"one large, a small": {[]int{2 * maxJob, maxJob / 8}, maxJob - maxJob/8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, Share(tc.sizes))
		})
	}
}

func TestUnpackedEventsShareTheirTexts(t *testing.T) {
	t.Parallel()
	a, b := "frame.py", strings.Clone("frame.py")
	texts{}.share(&a, &b)
	assert.Same(t, unsafe.StringData(a), unsafe.StringData(b))
}
