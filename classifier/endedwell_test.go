package classifier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	oneLine = "quoted: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
	killed  = "Out of memory: Killed process 4711 (python3) total-vm:412093344kB, anon-rss:251120928kB\n"
	traced  = "Traceback (most recent call last):\n  File \"/home/u/train.py\", line 90, in <module>\n    main()\n  File \"/home/u/train.py\", line 61, in step\n    loss.backward()\n" +
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
)

// TestAMessageThatEndsWellIsSurvived puts messages before the words with which jobs and programs end, and what tells of a death between them.
func TestAMessageThatEndsWellIsSurvived(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"a script's own exit":               {oneLine + "checked 12 files\n+ exit 0\n", true},
		"what was written":                  {oneLine + "[eval] results written to out/m/terminal.json\n", true},
		"how long it took":                  {oneLine + "[line_stats] done in 21 min 40 s\n", true},
		"tests that pass":                   {oneLine + "====== 40 passed, 2 skipped in 9.81s ======\n", true},
		"a CI job that succeeded":           {traced + "srun: error: n1: task 0: Exited with exit code 1\nCleaning up\nJob succeeded\n", true},
		"a pipe that hides a death":         {traced + "+ tee train.log\nFinished: SUCCESS\n", false},
		"nothing behind it":                 {oneLine, false},
		"a traceback that was caught":       {strings.ReplaceAll(traced, "<module>", "sweep") + "bs=16 does not fit\nsweep done in 12.1 s\n", true},
		"a training that ended":             {oneLine + "{'train_runtime': 5120.9, 'train_samples_per_second': 24.1, 'train_loss': 1.01, 'epoch': 3.0}\n", true},
		"it ended well before":              {"+ exit 0\n" + oneLine, false},
		"another exit status":               {oneLine + "+ exit 1\n", false},
		"a report of the failure":           {oneLine + "memory snapshot saved to /tmp/oom/rank3.pickle\n", false},
		"a traceback, and a script goes on": {traced + "copied, results written to /scratch/m/out.json\n+ exit 0\n", false},
		"a launcher that saw a death":       {oneLine + "srun: error: n1: task 0: Exited with exit code 1\n+ exit 0\n", false},
		"a shell that saw a kill":           {killed + "/var/spool/slurmd/job12/slurm_script: line 9:  4711 Killed                  python3 train.py\n+ exit 0\n", false},
		"a record of an error":              {"2025-05-05 10:00:00 ERROR training failed: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 39.39 GiB total capacity; 37.00 GiB already allocated; 1.00 GiB free; 37.5 GiB reserved in total by PyTorch)\nexit code 0\n", false},
		"Slurm's own words":                 {"slurmstepd: error: Detected 1 oom_kill event in StepId=123.0. Some of the step tasks have been OOM Killed.\nresults written to /scratch/x/out.json\n", false},
		"the kernel's log":                  {"[12345.678901] " + killed + "+ exit 0\n", false},
		"the state of a pod":                {"NAME READY STATUS RESTARTS AGE\ntrain-0   0/1     OOMKilled   0          3m\n+ exit 0\n", false},
		"C++ terminates":                    {"terminate called after throwing an instance of 'std::runtime_error'\n  what():  CUDA error: out of memory\n+ exit 0\n", false},
		"an engine's messages": {
			"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 20480.00 MiB on device 0: cudaMalloc failed: out of memory\nmain: error: unable to load model\nexit code 0\n", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": c.log}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, c.want, got[0].Survived)
		})
	}
}

// TestWhatStandsBeforeTheFirstLaunchKilledNoRun has messages that a job's script printed before it started anything.
func TestWhatStandsBeforeTheFirstLaunchKilledNoRun(t *testing.T) {
	t.Parallel()
	const launch = "+ torchrun --nproc_per_node 8 train.py\n"
	steps := "step 100/900 loss 2.31\nstep 200/900 loss 2.21\nstep 300/900 loss 2.11\nstep 400/900 loss 2.01\n"
	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"a message, and then the run":    {oneLine + launch + steps, true},
		"a run that shows no steps":      {killed + launch, false},
		"a run that had begun":           {launch + killed + strings.Repeat("loading\n", 9) + launch + steps, false},
		"steps alone":                    {"step 90/900 loss 2.4\n" + killed + launch + steps, false},
		"a program died of an exception": {traced + launch + steps, false},
		"a step of Slurm's that died":    {"slurmstepd: error: Detected 1 oom_kill event in StepId=123.0. Some of the step tasks have been OOM Killed.\n" + launch + steps, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": c.log}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, c.want, got[0].Survived)
		})
	}
}

// TestAKillThatOnlySomethingShowsIsQuoted has kills in nobody's own words, and logs that end well behind them.
func TestAKillThatOnlySomethingShowsIsQuoted(t *testing.T) {
	t.Parallel()
	const shown = "pred: slurmstepd: error: Detected 1 oom_kill event in StepId=123.0. Some of the step tasks have been OOM Killed.\n"
	for name, c := range map[string]struct {
		log    string
		quoted int
	}{
		"an answer":                    {shown + "results written to /scratch/x/out.json\n", 1},
		"a list, and then the run":     {killed + "+ torchrun --nproc_per_node 8 train.py\nstep 100/900 loss 2.31\nstep 200/900 loss 2.21\nstep 300/900 loss 2.11\nstep 400/900 loss 2.01\n", 1},
		"LSF's report, and the output": {"TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 130.\n\nThe output (if any) follows:\n\nresults written to /scratch/x/out.json\n", 0},
		"Slurm's accounting before it": {"4242.batch  OUT_OF_ME+  0:125\nresults written to /scratch/x/out.json\n", 0},
		"Dask's nanny":                 {"distributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:38041 (pid=4711) exceeded 95% memory budget. Restarting...\nfeatures written to results/x.parquet\n", 0},
		"an answer, and nothing else":  {shown, 0},
		"Slurm's own words":            {strings.TrimPrefix(shown, "pred: ") + "results written to /scratch/x/out.json\n", 0},
		"a shell that saw the kill":    {killed + "/var/spool/slurmd/job12/slurm_script: line 9:  4711 Killed                  python3 train.py\n+ exit 0\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": c.log})
			assert.Len(t, got.Quoted, c.quoted)
			assert.Len(t, got.Incidents, 1-c.quoted)
		})
	}
}
