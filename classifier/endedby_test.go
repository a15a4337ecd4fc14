package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
)

// TestWhatARunDiedOfIsTheRoot has a failure without a traceback before another one: the first is the root unless the run cannot have died
// of it.
func TestWhatARunDiedOfIsTheRoot(t *testing.T) {
	t.Parallel()
	const (
		small   = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.10 GiB is free."
		large   = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 18.55 GiB. GPU 0 has a total capacity of 79.11 GiB of which 9.30 GiB is free."
		again   = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.30 GiB is free."
		trace   = "Traceback (most recent call last):\n  File \"/w/eval.py\", line 8, in <module>\n    main()\n  File \"/w/eval.py\", line 5, in main\n    logits = model(x)\n"
		noCache = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n"
		killed  = "slurmstepd: error: Detected 2 oom_kill events in StepId=660123.batch. Some of the step tasks have been OOM Killed.\n"
		work    = "starting the next task\n"
	)
	for name, c := range map[string]struct {
		log  string
		kind parser.Kind
		line int
	}{
		"a card of another size":            {"asked: " + small + "\n" + work + trace + large + "\n", parser.GPUOOM, 8},
		"a cache that has no room":          {"known: torch.OutOfMemoryError: CUDA out of memory -> use less\n" + work + trace + noCache, parser.KVCache, 8},
		"a kill":                            {"    " + small + "\n" + work + killed, parser.OOMKill, 3},
		"the host, in a traceback":          {small + "\n" + work + trace + "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 64.0 GiB for an array with shape (8, 8) and data type float64\n", parser.HostOOM, 8},
		"the same failure with its frames":  {"step 3 failed: " + large + "\n" + work + trace + large + "\n", parser.GPUOOM, 1},
		"another one on the card":           {"step 3 failed: " + large + "\n" + work + trace + again + "\n", parser.GPUOOM, 1},
		"a failure with frames and a kill":  {trace + large + "\n" + work + killed, parser.GPUOOM, 6},
		"another size without frames":       {"step 3 failed: " + large + "\n" + work + small + "\n", parser.GPUOOM, 1},
		"a kill before a device's failure":  {killed + work + small + "\n", parser.OOMKill, 1},
		"a death that is not about memory":  {"step 3 failed: " + large + "\n" + work + trace + "RuntimeError: NCCL communicator was aborted\n", parser.GPUOOM, 1},
		"an engine that repeats its worker": {"(EngineCore_0 pid=7) " + large + "\n" + trace + "RuntimeError: Engine core initialization failed. See root cause above.\n", parser.GPUOOM, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": c.log}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, c.kind, got[0].Kind)
			assert.Equal(t, c.line, got[0].Root.At.Line)
			assert.False(t, got[0].Survived)
		})
	}
}
