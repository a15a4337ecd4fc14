package classifier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestACheckpointIsOverWhenStepsGoOn reads what a job's standard output says of a kill that another log shows.
func TestACheckpointIsOverWhenStepsGoOn(t *testing.T) {
	t.Parallel()
	const (
		step  = "Step 19 | Time: 349.69s | Loss: 0.0157 | Throughput: 11661 tokens/s\n"
		later = "Step 21 | Time: 349.69s | Loss: 0.0147 | Throughput: 11661 tokens/s\n"
	)
	for out, phase := range map[string]string{
		step + "\x1b[2m06:00:33\x1b[0m \x1b[1m   INFO\x1b[0m \x1b[1m\x1b[22mSaving checkpoint at step 20\x1b[0m\n": "checkpoint",
		step + "Saving checkpoint to /out/step_20\n":                                                               "checkpoint",
		step + "saving a checkpoint to ./ckpt\n":                                                                   "checkpoint",
		step + "Saving training state to /out/state\n":                                                             "checkpoint",
		step + "Saving model checkpoint to /out/checkpoint-20\n":                                                   "checkpoint",
		step + "Saving current state to /out/20\n":                                                                 "checkpoint",
		step + "Saving checkpoint for step 20...\n":                                                                "checkpoint",
		step + "saving checkpoint at iteration     20 to /ckpt\n":                                                  "checkpoint",
		step + "Saving checkpoint. This may take some time.\n":                                                     "checkpoint",
		step + "Saving checkpoint at step 20\n" + later:                                                            "unknown",
		step + "Saving model checkpoint to /out/checkpoint-20\n" + later:                                           "unknown",
		step + "Saving checkpoint to disk is disabled\n":                                                           "unknown",
		step + "the plan: saving checkpoint at step 20 and 40\n" + later:                                           "unknown",
		step:                                    "unknown",
		step + "Saving checkpoint at step 20\n": "checkpoint",
	} {
		t.Run(out, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.out": out, "dmesg.txt": kernelKill}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, phase, got[0].Phase, got[0].PhaseWhy)
		})
	}
}

// TestGenerationEndsStartUp reads a kill whose log's last open stage is an engine's start.
func TestGenerationEndsStartUp(t *testing.T) {
	t.Parallel()
	const start, rollout = "$ ray job submit -- python3 /root/slime/train.py --actor-num-nodes 1 --colocate --rollout-batch-size 32\n(Engine pid=7) Load weight begin. avail mem=78.36 GB\n", "(RolloutController pid=9) Rollout generation:  50%|#####     | 128/256 [01:14<00:58,  2.2it/s]\n"
	for out, phase := range map[string]string{
		start:           "init",
		start + rollout: "rollout",
		start + rollout + strings.ReplaceAll(rollout, " 50%", "100%"): "unknown",
	} {
		got := read(t, map[string]string{"a.out": out, "dmesg.txt": kernelKill}).Incidents
		require.Len(t, got, 1)
		assert.Equal(t, phase, got[0].Phase, got[0].PhaseWhy)
	}
}

// TestAServerStartsUntilItSaysThatItHas reads a message of an application beside what its web server says.
func TestAServerStartsUntilItSaysThatItHas(t *testing.T) {
	t.Parallel()
	const (
		waits  = "INFO:     Started server process [1]\nINFO:     Waiting for application startup.\n"
		failed = "2025-07-21 08:00:39,115 ERROR app.models  text encoder failed (CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 23.99 GiB of which 18.25 MiB is free.)\n"
	)
	for log, phase := range map[string]string{
		waits + failed + "ERROR:    Application startup failed. Exiting.\n": "init",
		waits + "INFO:     Application startup complete.\n" + failed:        "unknown",
	} {
		got := read(t, map[string]string{"a.out": log}).Incidents
		require.Len(t, got, 1)
		assert.Equal(t, phase, got[0].Phase, got[0].PhaseWhy)
	}
}

// TestAServerThatQuotesTheFailureTellsThePhase reads a message without figures in what is printed around it.
func TestAServerThatQuotesTheFailureTellsThePhase(t *testing.T) {
	t.Parallel()
	const failure = "[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, mCudaStream->get()): out of memory (/app/tllmBuffers.h:117)"
	for behind, phase := range map[string]string{
		"E0516 11:31:07.480902 212 backend_model.cc:691] ERROR: Failed to create instance: unexpected error when creating modelInstanceState: " + failure: "init",
		"I0516 11:31:07.480902 212 model_lifecycle.cc:638] failed to load 'trt' version 1: Internal: " + failure:                                          "init",
		"| trt | 1 | UNAVAILABLE: Internal: " + failure:                                    "init",
		"Error executing load_single_module: " + failure:                                   "init",
		"Request failed during generation: Server error: " + failure:                       "rollout",
		"step 7: backward failed: " + failure:                                              "backward",
		"OOM during forward pass of batch 17: " + failure:                                  "forward",
		"recovering from OOM in forward/backward pass: " + failure:                         "training",
		"optimizer step failed: " + failure:                                                "optimizer",
		"Encountered an error: " + failure:                                                 "unknown",
		"failed to load 'trt' version 1: Internal: no such file":                           "unknown",
		strings.Repeat("all is well\n", 2*nearLines) + "optimizer step failed: " + failure: "unknown",
	} {
		t.Run(behind, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": failure + "\n" + behind + "\n"}).Incidents
			require.NotEmpty(t, got)
			assert.Equal(t, phase, got[0].Phase, got[0].PhaseWhy)
		})
	}
}

// TestTheFramesBelowAMessageTellThePhase reads what prints the frames behind the message, and a traceback of what wrapped it before.
func TestTheFramesBelowAMessageTellThePhase(t *testing.T) {
	t.Parallel()
	const (
		failure = "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free."
		outer   = "  File \"/opt/lib/python3.11/site-packages/dagster/_utils/__init__.py\", line 392, in iterate_with_context\n    next_output = next(iterator)\n"
		inner   = "  File \"/srv/ops.py\", line 88, in train\n    loss.backward()\n  File \"/opt/lib/python3.11/site-packages/torch/_tensor.py\", line 648, in backward\n    torch.autograd.backward(\n"
		calls   = "\nAt:\n  /opt/lib/python3.12/dist-packages/torch/nn/modules/module.py(1343): to\n  /models/m/1/model.py(41): initialize\n\"\n"
	)
	goesOn := strings.Repeat("2026-03-01 10:00:00 INFO the next run\n", 40)
	for name, c := range map[string]struct{ log, phase string }{
		"Dagster":     {"torch." + failure + "\n\nStack Trace:\n" + outer + "\nThe above exception was caused by the following exception:\ntorch." + failure + "\n\nStack Trace:\n" + outer + inner + "\n" + goesOn, "backward"},
		"Streamlit":   {"torch." + failure + "\nTraceback:\n" + strings.ReplaceAll(inner, "  File", "File") + "\n" + goesOn, "backward"},
		"pybind11":    {"I0612 09:14:31.552301 1 pb_stub.cc:366] \"Failed to initialize Python stub: " + failure + "\n" + calls + goesOn, "init"},
		"words alone": {"torch." + failure + "\nAt:\nnode gpu-7\n" + goesOn, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": c.log}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, c.phase, string(got[0].Phase), got[0].PhaseWhy)
		})
	}
}
