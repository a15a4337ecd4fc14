package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestATracebackInARecordTellsThePhase reads what torchelastic says of a worker whose output is lost.
func TestATracebackInARecordTellsThePhase(t *testing.T) {
	t.Parallel()
	const (
		oom  = "CUDA out of memory. Tried to allocate 11.50 GiB. GPU 3 has a total capacity of 79.15 GiB of which 8.12 GiB is free."
		file = `E0801 00:13:20.110000 311 torch/distributed/elastic/multiprocessing/errors/error_handler.py:141] no error file defined for parent, to copy child error file ({"message": {"message": "OutOfMemoryError: ` + oom +
			`", "extraInfo": {"py_callstack": "Traceback (most recent call last):\n  File \"/app/sft.py\", line 55, in main\n    loss.backward()\ntorch.OutOfMemoryError: ` + oom + `\n", "timestamp": "1754000000"}}})` + "\n"
	)
	got := read(t, map[string]string{"x.log": file}).Incidents
	require.Len(t, got, 1)
	assert.Equal(t, "backward", got[0].Phase)
	assert.False(t, got[0].Survived)
}
