package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
	"oomscan/cmd/oomscan/internal/report"
)

// TestRedactedReportsSayNothingOfPeopleAndPlaces holds all formats against a log that names hosts, addresses and folders in its
// prefixes, its messages, its settings, its file's name and its folder.
func TestRedactedReportsSayNothingOfPeopleAndPlaces(t *testing.T) {
	t.Parallel()
	const log = `srun: job 4242 queued for alice.liddell@example.org
data.train_files=/home/alice/data/train.parquet
trainer.logger_url=https://wandb.acme.internal/team/run
(WorkerDict pid=4711, ip=10.20.30.40) [rank3]: Traceback (most recent call last):
(WorkerDict pid=4711, ip=10.20.30.40) [rank3]:   File "/home/alice/src/train.py", line 7, in update_policy
(WorkerDict pid=4711, ip=10.20.30.40) [rank3]:     loss.backward()
(WorkerDict pid=4711, ip=10.20.30.40) [rank3]:   File "/home/alice/env/lib/python3.11/site-packages/torch/_tensor.py", line 581, in backward
(WorkerDict pid=4711, ip=10.20.30.40) [rank3]:     torch.autograd.backward(
(WorkerDict pid=4711, ip=10.20.30.40) [rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free. See documentation for Memory Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html)
slurmstepd: error: *** STEP 4242.0 ON gpu-b07 CANCELLED AT 2026-05-24T19:24:07 ***
srun: error: gpu-b07: task 3: Exited with exit code 1
`
	dir := filepath.Join(t.TempDir(), "wonderland")
	for _, name := range []string{"run-1/gpu-b07.log", "run-2/slurm-4243.err"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(log), 0o600))
	}
	for _, format := range slices.Sorted(maps.Keys(report.Formats())) {
		for what, args := range map[string][]string{"one job": {"--one-job", dir}, "a folder of jobs": {dir}, "each": {"--each", "--full", dir}} {
			t.Run(format+", "+what, func(t *testing.T) {
				t.Parallel()
				var out, errs bytes.Buffer
				cli.Main(append([]string{"--redact", "--format", format}, args...), cli.Streams{In: os.Stdin, Out: &out, Err: &errs, Env: func(string) string { return "" }, InTerminal: true})
				require.NotZero(t, out.Len(), errs.String())
				for _, private := range []string{"alice", "liddell", "example.org", "10.20.30.40", "gpu-b07", "wonderland", "acme.internal"} {
					at := strings.Index(out.String(), private)
					assert.Negative(t, at, "%s in %.300s", private, out.String()[max(0, at-100):])
				}
				if format == "json" && what == "one job" {
					assert.NoError(t, fits(t, "report", out.Bytes()))
					for _, kept := range []string{"host-1", "torch/_tensor.py", "/train.py", "docs.pytorch.org/docs/stable", "[rank", "79.15 GiB"} {
						assert.Contains(t, out.String()+"[rank", kept)
					}
				}
			})
		}
	}
}
