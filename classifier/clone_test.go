package classifier_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/stream"
)

// TestACloneGoesOnAsTheOriginalWould adds the rest of a log to a clone, from any observation on.
func TestACloneGoesOnAsTheOriginalWould(t *testing.T) {
	t.Parallel()
	const log = `epoch 1
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.
step:1 - actor/loss:1.0
step:2 - actor/loss:1.0
OSError: [Errno 28] No space left on device: '/dev/shm/torch_1'
slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.
`
	var all []parser.Observation
	_, err := stream.Read("a.log", strings.NewReader(log), func(o parser.Observation) { all = append(all, o) })
	require.NoError(t, err)
	whole := classifier.NewCollector()
	for _, o := range all {
		whole.Add(o)
	}
	want := whole.Result()
	require.Len(t, want.Incidents, 2)
	for i := range all {
		c := classifier.NewCollector()
		for _, o := range all[:i] {
			c.Add(o)
		}
		before := c.Result()
		clone := c.Clone()
		for _, o := range all[i:] {
			clone.Add(o)
		}
		assert.Equal(t, want, clone.Result(), "from observation %d on", i)
		assert.Equal(t, before, c.Result(), "what is added to the clone does not show in the original")
	}
}

// TestWhatAMarkerSaysIsNotChanged holds the collector to what parser.Marker promises others: one map serves many lines.
func TestWhatAMarkerSaysIsNotChanged(t *testing.T) {
	t.Parallel()
	const log = `(WorkerDict pid=6001) INFO:2026-03-01 00:32:07:Before update policy, memory allocated (GB): 28.95, memory reserved (GB): 70.21
(WorkerDict pid=6002) INFO:2026-03-01 00:32:08:After update policy, memory allocated (GB): 28.95, memory reserved (GB): 70.21
(WorkerDict pid=6003) INFO:2026-03-01 00:32:09:After update policy, memory allocated (GB): 28.95, memory reserved (GB): 70.21
(WorkerDict pid=6003) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.
`
	var markers []parser.Marker
	var said []parser.Fields
	c := classifier.NewCollector()
	for range 2 {
		_, err := stream.Read("a.log", strings.NewReader(log), func(o parser.Observation) {
			if m, ok := o.(parser.Marker); ok {
				markers, said = append(markers, m), append(said, maps.Clone(m.Fields))
			}
			c.Add(o)
		})
		require.NoError(t, err)
	}
	require.Len(t, c.Result().Incidents, 1)
	require.Len(t, markers, 12, "each of three writers is introduced and announces a phase, twice")
	for i, m := range markers {
		assert.Equal(t, said[i], m.Fields)
	}
}
