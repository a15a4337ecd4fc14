package classifier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser/stream"
)

func TestWithoutAnIncidentTheLogSaysWhatEndedTheJob(t *testing.T) {
	t.Parallel()
	const (
		limit     = "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-08T08:00:22 DUE TO TIME LIMIT ***\n"
		preempted = "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-01-08T08:00:22 DUE TO PREEMPTION ***\n"
		failed    = "srun: error: Node failure on n1\n"
		keyError  = "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    main()\nKeyError: 'rewards'\n"
		disk      = "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    save()\nOSError: [Errno 28] No space left on device: '/out/model.pt'\n"
		xid       = "[4413399.1] NVRM: Xid (PCI:0000:c1:00): 79, GPU has fallen off the bus.\n"
		exit      = "srun: error: n1: task 0: Exited with exit code 1\n"
		watchdog  = "[rank1]:[E ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600029 milliseconds before timing out.\n"
	)
	for log, want := range map[string]string{
		"a line\n":         "",
		"a line\n" + limit: "time_limit:2",
		preempted + exit:   "preemption:1",
		failed:             "node_failure:1",
		keyError + exit:    "exception:4",
		disk:               "disk_full:4",
		xid:                "hardware:1",
		exit:               "process_exit:1",
		watchdog + exit:    "nccl_failure:1",
		"cp: error writing '/o/m.pt': Disk quota exceeded\n": "quota:1",
		keyError + limit: "time_limit:5 exception:4",
		keyError + "step:118 - actor/loss:0.5\nstep:119 - actor/loss:0.5\n": "", // it went on
	} {
		c := NewCollector()
		_, err := stream.Read("a.log", strings.NewReader(log), c.Add)
		require.NoError(t, err)
		var got []string
		r := c.Result()
		for _, e := range r.EndedBy {
			got = append(got, e.What+strings.TrimPrefix(e.At.String(), "a.log"))
		}
		assert.Empty(t, r.Incidents, log)
		assert.Equal(t, want, strings.Join(got, " "), log)
	}
}

func TestWhatEndedTheJobIsNotSaidBesideAnIncident(t *testing.T) {
	t.Parallel()
	c := NewCollector()
	text := "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.\nsrun: error: Node failure on n1\n"
	_, err := stream.Read("a.log", strings.NewReader(text), c.Add)
	require.NoError(t, err)
	assert.Len(t, c.Result().Incidents, 1)
	assert.Empty(t, c.Result().EndedBy)
}
