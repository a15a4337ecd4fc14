package classifier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLaterLinesCompleteAFailure reads phase, rank, host and pid from what is printed behind the first message.
func TestLaterLinesCompleteAFailure(t *testing.T) {
	t.Parallel()
	const (
		oom       = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free."
		class     = "torch.OutOfMemoryError: " + oom + "\n"
		head      = "Traceback (most recent call last):\n"
		backward  = "  File \"/w/loop.py\", line 61, in one\n    loss.backward()\n  File \"/opt/lib/python3.11/site-packages/torch/_tensor.py\", line 581, in backward\n    torch.autograd.backward(\n"
		optimizer = "  File \"/opt/lib/python3.11/site-packages/torch/optim/adamw.py\", line 243, in step\n    adamw(\n"
	)
	for name, c := range map[string]struct {
		log, phase, host string
		rank, pid        int
		line             int
	}{
		"a bare message, then its traceback": {"ERROR step failed: " + oom + "\n" + head + backward + class, "backward", "", -1, -1, 1},
		"a repr before the traceback": {
			"Worker got an exception: OutOfMemoryError('" + oom + "')\n" + head + optimizer + class, "optimizer", "", -1, -1, 1,
		},
		"Ray's failed task behind the worker's line": {
			"(WorkerDict pid=207, ip=10.0.0.2) " + class + head + "  File \"/w/main.py\", line 9, in main\n    ray.get(x)\n" +
				"ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_update_actor() (pid=207, ip=10.0.0.2, actor_id=ab, repr=<x>)\n" + backward + class,
			"backward", "10.0.0.2", -1, 207, 1,
		},
		"Ray's FAILED line without a traceback": {
			"(WorkerDict pid=207, ip=10.0.0.2) " + class + "ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_compute_log_prob() (pid=207, ip=10.0.0.2, actor_id=ab, repr=<x>)\n",
			"logprob", "10.0.0.2", -1, 207, 1,
		},
		"the method of another worker of the engine": {
			"(VllmWorkerProcess pid=31) ERROR 03-21 14:02:51 [multiproc_worker_utils.py:242] " + class +
				"(VllmWorkerProcess pid=30) ERROR 03-21 14:02:51 [multiproc_worker_utils.py:242] Exception in worker VllmWorkerProcess while processing method start_worker_execution_loop.\n",
			"rollout", "", -1, 31, 1,
		},
		"a task that an executor reports as failed": {
			"(PolicyWorker pid=31, ip=10.0.0.3) " + class + "2026-01-02 10:00:00,123 ERROR worker.py:12 -- FAILED task ray::PolicyWorker.train_step() (pid=31, ip=10.0.0.3)\n",
			"training", "10.0.0.3", -1, 31, 1,
		},
		"a driver whose pending call names the method": {
			"(WorkerDict pid=207, ip=10.0.0.2) " + class + head + "  File \"/w/ray_trainer.py\", line 90, in fit\n    out = self.actor_rollout_wg.generate_sequences(batch)\n" +
				"  File \"/opt/lib/python3.11/site-packages/ray/_private/worker.py\", line 930, in get_objects\n    raise value.as_instanceof_cause()\n" +
				"ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_generate_sequences() (pid=207, ip=10.0.0.2)\n",
			"rollout", "10.0.0.2", -1, 207, 1,
		},
		"the same figures behind a rank's label": {head + backward + class + label("[rank5]: ", head+backward+class), "backward", "", 5, -1, 6},
		"the same figures behind the labels of two ranks": {
			head + backward + class + label("[rank5]: ", head+backward+class) + label("[rank6]: ", head+backward+class), "backward", "", -1, -1, 6,
		},
		"a wrapper above the original": {
			head + "  File \"/w/train.py\", line 9, in <module>\n    run()\n" +
				"torch.OutOfMemoryError: Caught OutOfMemoryError in replica 0 on device 3.\nOriginal " + head +
				"  File \"/w/model.py\", line 30, in forward\n    return self.net(x)\n  File \"/opt/lib/python3.11/site-packages/torch/nn/modules/linear.py\", line 125, in forward\n    return F.linear(input, self.weight, self.bias)\n" + class,
			"forward", "", -1, -1, 10,
		},
		"a server of remote calls": {
			"ERROR rpc: On WorkerInfo(id=3, name=worker3):\nOutOfMemoryError('" + oom + "')\n" + head + backward + class, "backward", "", -1, -1, 2,
		},
		"torchrun's failure table": {
			label("[rank11]: ", head+backward+class) + "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n======\ntrain.py FAILED\n------\nFailures:\n  <NO_OTHER_FAILURES>\n------\n" +
				"Root Cause (first observed failure):\n[0]:\n  time      : 2025-02-05_01:02:51\n  host      : n17\n  rank      : 11 (local_rank: 3)\n  exitcode  : 1 (pid: 907695)\n" +
				"  error_file: <N/A>\n  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n======\n",
			"backward", "n17", 11, 907695, 6,
		},
		"DeepSpeed's launcher behind pdsh": {
			label("node17: ", head+backward+class) + "node17: [2025-06-01 10:00:00,123] [INFO] [launch.py:319:sigkill_handler] Killing subprocess 907695\n" +
				"node17: [2025-06-01 10:00:00,123] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python', '-u', 'train.py'] exits with return code = 1\n",
			"backward", "node17", -1, -1, 6,
		},
		"faulthandler's reversed stack": {
			"what():  " + oom + "\nFatal Python error: Aborted\n\nCurrent thread 0x00007f12 (most recent call first):\n" +
				"  File \"/opt/lib/python3.11/site-packages/torch/autograd/__init__.py\", line 200 in backward\n  File \"/opt/lib/python3.11/site-packages/torch/_tensor.py\", line 487 in backward\n" +
				"  File \"/w/loop.py\", line 61 in one\n", "backward", "", -1, -1, 1,
		},
		"a pid that a later line ties to a rank": {
			"2025-06-01 10:00:00,123 [PID:4711] ERROR " + class + "2025-06-01 10:00:01,123 [PID:4711] [RANK:5] INFO shutting down\n", "unknown", "", 5, 4711, 1,
		},
		"frames of C++ behind rows that were joined to the message": {
			"  what():  " + oom + "\n" + strings.Repeat("oomscan| \n", nearLines) + "frame #6: torch::autograd::generated::ConvolutionBackward0::apply(std::vector<at::Tensor>&&) + 0x20a (0x7f3c061e in /opt/lib/libtorch_cpu.so)\n",
			"backward", "", -1, -1, 1,
		},
		"a call that the program names above": {"E  step 12 failed in loss.backward()\nE  " + class, "backward", "", -1, -1, 2},
		"a call that it names far above":      {"E  step 12 failed in loss.backward()\n" + strings.Repeat("I  and on\n", 2*nearLines) + "E  " + class, "unknown", "", -1, -1, 2 + 2*nearLines},
		"a traceback whose beginning was cut": {backward + class, "backward", "", -1, -1, 5},
		"a traceback whose end was cut":       {"ERROR " + oom + "\n" + head + backward, "backward", "", -1, -1, 1},
		"a message that a container's runtime split": {
			label("2026-03-01T09:00:00Z stderr F app-1  | ", head+backward) + "2026-03-01T09:00:00Z stderr P app-1  | " + class[:40] + "\n2026-03-01T09:00:00Z stderr F " + class[40:], "backward", "", -1, -1, 7,
		},
		"a frame of a C++ stack": {
			"terminate called after throwing an instance of 'c10::OutOfMemoryError'\n  what():  " + oom + "\n" + strings.Repeat("frame #9: at::native::f() + 0x1 (0x7f in /l.so)\n", 30) +
				"frame #40: torch::autograd::Engine::thread_main(x) + 0x1 (0x7f in /l.so)\n", "backward", "", -1, -1, 1,
		},
		"a second traceback through the driver": {
			"(Actor pid=31, ip=10.0.0.3) step failed: " + oom + "\n" + head + "  File \"/w/driver.py\", line 4, in loop\n    ray.get(refs)\n" +
				"ray.exceptions.RayTaskError(OutOfMemoryError): ray::Actor.run() (pid=31, ip=10.0.0.3)\n" + optimizer + class,
			"optimizer", "10.0.0.3", -1, 31, 1,
		},
		"an error of the engine that a collector joined with the original": {
			"ERROR 06-01 10:00:00 [core.py:500] EngineCore failed to start. ERROR 06-01 10:00:00 [core.py:500] " + class, "init", "", -1, -1, 1,
		},
		"an error of the engine above the original": {
			"ERROR 06-01 10:00:00 [core.py:500] EngineCore failed to start.\nERROR 06-01 10:00:00 [core.py:500] " + head +
				"ERROR 06-01 10:00:00 [core.py:500]   File \"/opt/lib/python3.11/site-packages/vllm/v1/engine/core.py\", line 70, in __init__\n" +
				"ERROR 06-01 10:00:00 [core.py:500]     self._initialize_kv_caches(config)\n" +
				"ERROR 06-01 10:00:00 [core.py:500] " + class +
				head + "  File \"/opt/lib/python3.11/site-packages/vllm/entrypoints/openai/api_server.py\", line 9, in <module>\n    run()\n" +
				"RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': 1}\n",
			"init", "", -1, -1, 5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": c.log}).Incidents
			require.Len(t, got, 1)
			r := got[0].Root
			value := func(n *int) int {
				if n == nil {
					return -1
				}
				return *n
			}
			assert.Equal(t, c.phase, got[0].Phase, got[0].PhaseWhy)
			assert.Equal(t, [3]int{c.rank, c.pid, c.line}, [3]int{value(r.Rank), value(r.PID), r.At.Line}, "rank, pid, line")
			assert.Equal(t, c.host, r.Host)
			assert.NotNil(t, r.Requested)
		})
	}
}

// TestAServerThatIsReadyNoLongerStarts reads the kernel's log beside that of a server which is killed later.
func TestAServerThatIsReadyNoLongerStarts(t *testing.T) {
	t.Parallel()
	const (
		start  = "INFO 03-14 08:03:00 [api_server.py:972] vLLM API server version 0.7.4\nINFO 03-14 08:04:41 [kv_cache_utils.py:537] GPU KV cache size: 956,112 tokens\n"
		ready  = "INFO:     Application startup complete.\n"
		killed = "[Fri Mar 14 23:11:46 2025] Memory cgroup out of memory: Killed process 48702 (python3) total-vm:68896044kB, anon-rss:42848256kB, file-rss:241664kB, shmem-rss:4096kB, UID:0\n"
	)
	for want, log := range map[string]string{"init": start, "rollout": start + ready} {
		for _, files := range []map[string]string{{"server.log": log, "dmesg.txt": killed}, {"all.log": log + killed}} {
			got := read(t, files).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, want, got[0].Phase, got[0].PhaseWhy)
		}
	}
}

func TestAFailureBetweenARequestsLinesIsItsOwn(t *testing.T) {
	t.Parallel()
	const (
		loading = "load_tensors: loading model tensors, this can take a while... (mmap = true)\n"
		serving = "main: server is listening on http://0.0.0.0:8080 - starting the main loop\nsrv  update_slots: all slots are idle\n"
		request = "slot launch_slot_: id  0 | task 0 | processing task\nslot update_slots: id  0 | task 0 | new prompt, n_ctx_slot = 131072, n_keep = 0, n_prompt_tokens = 90112\n"
		idle    = "srv  update_slots: all slots are idle\n"
	)
	for log, want := range map[string]string{
		loading: "init", loading + serving: "unknown", loading + serving + request: "rollout", loading + serving + request + idle: "unknown",
		"INFO [   launch_slot_with_task] slot is processing task | tid=\"140\" timestamp=1759185009 id_slot=0 id_task=0\n":                              "rollout",
		"0.12.000 I slot print_timing: id  0 | task 5 | prompt processing, n_tokens =   6144, progress = 0.39, t =  90.8 s / 67.66 tokens per second\n": "rollout",
	} {
		got := read(t, map[string]string{"a": log + "CUDA error: out of memory\n  current device: 1, in function alloc at /app/ggml/src/ggml-cuda/ggml-cuda.cu:461\n"}).Incidents
		require.Len(t, got, 1)
		assert.Equal(t, want, got[0].Phase, log)
	}
}

// TestATracebackWithoutItsHeadIsLessSure reads tracebacks of which only the inner frames are left.
func TestATracebackWithoutItsHeadIsLessSure(t *testing.T) {
	t.Parallel()
	const (
		loading = "INFO 03-21 14:02:00 [model_runner.py:12] Starting to load model /m...\n"
		ready   = "INFO:     Application startup complete.\n"
		header  = "Traceback (most recent call last):\n"
		runner  = "  File \"/v/site-packages/vllm/worker/model_runner.py\", line 1658, in execute_model\n    hidden = model(x)\n"
		forward = "  File \"/v/site-packages/transformers/models/llama/modeling_llama.py\", line 93, in forward\n    x = self.act(x)\n"
		oom     = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
	)
	for name, c := range map[string]struct{ log, phase, confidence string }{
		"an engine's pass with its header":     {header + runner + forward + oom, "rollout", "high"},
		"an engine's pass":                     {runner + forward + oom, "rollout", "medium"},
		"an engine's pass while it starts":     {loading + runner + forward + oom, "init", "low"},
		"an engine's pass once it serves":      {loading + ready + runner + forward + oom, "rollout", "medium"},
		"a forward pass of whatever it is for": {forward + oom, "forward", "low"},
		"a whole one of the same failure":      {forward + oom + header + runner + forward + oom, "rollout", "high"},
		"a whole one of another failure":       {forward + oom + header + runner + forward + strings.Replace(oom, "2.00", "3.00", 1), "forward", "low"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": c.log}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, [2]string{c.phase, c.confidence}, [2]string{got[0].Phase, got[0].Confidence}, got[0].PhaseWhy)
		})
	}
}
