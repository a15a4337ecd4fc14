package stream

import (
	"strings"
	"testing"

	"oomscan/parser"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLinesThatOomscanWroteAreNotRead appends a quoted report to a log, within a traceback and behind it.
func TestLinesThatOomscanWroteAreNotRead(t *testing.T) {
	t.Parallel()
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free."
	read := func(log string) []parser.Observation {
		var out []parser.Observation
		_, err := Read("log", strings.NewReader(log), func(o parser.Observation) { out = append(out, o) })
		require.NoError(t, err)
		return out
	}
	assert.NotEmpty(t, read(oom+"\n"))
	assert.Empty(t, read(Quoted+oom+"\n"))
	assert.Empty(t, read("0: "+Quoted+oom+"\n"), "behind the label of srun -l")
	assert.Empty(t, read(Quoted+"slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"))

	second := read(Quoted + "\n" + oom + "\n" + strings.Repeat(Quoted+"\nx\n", 2*headLines) + "[rank1]: " + oom + "\n")
	require.Len(t, second, 2)
	assert.Equal(t, 2*headLines+1, second[1].Place().Behind(second[0].Place()), "lines of the log")

	trace := "Traceback (most recent call last):\n  File \"train.py\", line 3, in step\n%    loss.backward()\n" + oom + "\n"
	whole, woven := read(strings.ReplaceAll(trace, "%", "")), read(strings.ReplaceAll(trace, "%", Quoted+"OUT OF MEMORY\n"))
	require.Len(t, woven, len(whole))
	require.Equal(t, whole[0].(parser.Event).Trace.Frames, woven[0].(parser.Event).Trace.Frames)
}
