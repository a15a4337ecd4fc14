package classifier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refused is what torch prints of a failure on a device; unnumbered, what CUDA does.
const (
	refusedOn3 = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
	unnumbered = "RuntimeError: CUDA error: out of memory\n"
	module     = "Traceback (most recent call last):\n  File \"/home/u/train.py\", line 90, in <module>\n    main()\n"
)

// TestRanksAsProgramsWriteThem reads the failing process from labels, wrappers, launchers' lines and the environment. -1 is
// unknown.
func TestRanksAsProgramsWriteThem(t *testing.T) {
	t.Parallel()
	table := func(rank, local, pid string) string {
		return "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n" + strings.Repeat("=", 60) + "\ntrain.py FAILED\n" + strings.Repeat("-", 60) +
			"\nFailures:\n  <NO_OTHER_FAILURES>\n" + strings.Repeat("-", 60) + "\nRoot Cause (first observed failure):\n[0]:\n  time      : 2025-02-05_01:02:51\n  host      : n17\n" +
			"  rank      : " + rank + " (local_rank: " + local + ")\n  exitcode  : 1 (pid: " + pid + ")\n  error_file: <N/A>\n" +
			"  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n" + strings.Repeat("=", 60) + "\n"
	}
	engine := strings.ReplaceAll(backward, "/home/u/train.py", "/opt/lib/python3.12/site-packages/vllm/v1/worker/gpu_worker.py")
	vllm := "INFO 06-01 10:00:00 [api_server.py:1289] vLLM API server version 0.11.0\n"
	bare := "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:139\n"
	raised := func(process string) string {
		return label("("+process+") ERROR 06-02 14:31:01 [core.py:1365] ", "Traceback (most recent call last):\n"+
			"  File \"/opt/lib/python3.12/site-packages/vllm/device_allocator/cumem.py\", line 59, in create_and_map\n    python_create_and_map(*allocation_handle)\n"+
			"RuntimeError: "+bare)
	}
	for name, c := range map[string]struct {
		log               string
		rank, device, pid int
		host              string
	}{
		"a worker of Ray that started several ranks": {label("(Runner pid=815) ", refusedOn3+"[rank4]: "+strings.Replace(refusedOn3, "GPU 3", "GPU 4", 1)), -1, 3, 815, ""},
		"a worker of Ray whose ranks announced themselves": {label("(Runner pid=815) 2022-09-07 20:31:05 | INFO | fairseq.distributed.utils | distributed init ",
			"(rank 0): tcp://n1:16183\n(rank 1): tcp://n1:16183\n(rank 2): tcp://n1:16183\n(rank 3): tcp://n1:16183\n") + label("(Runner pid=815) ", refusedOn3), -1, 3, 815, ""},
		"what a launcher raises in a system's log, which has one pid for all ranks": {label("Mar  1 09:00:00 n7 train[4242]: ", refusedOn3+
			"subprocess.CalledProcessError: Command '['/opt/bin/python', '-u', 'train.py', '--local_rank=3', '--launcher', 'pytorch']' returned non-zero exit status 1.\n"), 3, 3, -1, "n7"},
		"a message's own pid in such a log": {label("Mar  1 09:00:00 n7 train[4242]: ", "[ERROR] 2026-04-09-21:56:46 (PID:210907, Device:0, RankID:3) ERR00100 PTA call acl api failed.\n"+
			"[PID: 210907] 2026-04-09-21:56:40.384.694 Memory_Allocation_Failure(EL0004): Failed to allocate memory requested by GE module.\n"), 3, 0, 210907, "n7"},
		"NCCL's own pid in such a log, whose ranks named their devices": {label("Mar  1 09:00:00 n7 train[4242]: ", "INFO:__main__:rank 2 device cuda:2\nINFO:__main__:rank 3 device cuda:3\n"+
			"n7:100:179 [3] include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-14-1-2-3 (size 9637888)\n"), 3, 3, 100, "n7"},
		"padded behind a colon, before a bar": {label("rank:  3 | ", backward), 3, 3, -1, ""},
		"behind a colon, before a bar":        {label("rank: 11 | ", backward), 11, 3, -1, ""},
		"in brackets behind an equals sign":   {label("[rank=5] ", backward), 5, 3, -1, ""},
		"in brackets behind a colon":          {label("[rank: 2] ", backward), 2, 3, -1, ""},
		"in brackets behind a blank":          {label("[Rank 6] ", backward), 6, 3, -1, ""},
		"in capitals":                         {label("[RANK 4] ", backward), 4, 3, -1, ""},
		"behind a word":                       {label("Rank 7: ", backward), 7, 3, -1, ""},
		"in parentheses":                      {label("(rank 1) ", backward), 1, 3, -1, ""},
		"a task that submitit started": {
			"submitit INFO (2026-06-02 10:11:12,345) - Starting with JobEnvironment(job_id=81, hostname=cn12, local_rank=1(4), node=1(2), global_rank=5(8))\n2026-06-02 10:31:40 | ERROR | t.s | it ends here: " + refusedOn3, 5, 3, -1, "cn12",
		},
		"a rank that cannot go on":                 {"2026-06-02 10:31:40 | CRITICAL | t.s | rank 5 cannot go on after step 12, giving up: " + refusedOn3, 5, 3, -1, ""},
		"a rank that another cannot go on without": {"2026-06-02 10:31:40 | CRITICAL | t.s | it cannot go on without rank 5: " + refusedOn3, -1, 3, -1, ""},
		"a field of a logger": {
			"2025-06-01 10:00:00,123 [rank 9] ERROR train.py:12 step failed: " + refusedOn3, 9, 3, -1, "",
		},
		"an engine's tensor-parallel and expert ranks": {vllm + label("(Worker_TP7_EP7 pid=4711) ", strings.ReplaceAll(engine, "GPU 3", "GPU 7")), 7, 7, 4711, ""},
		"an engine's worker with its rank":             {vllm + label("(VllmWorker rank=3 pid=4711) ", engine), 3, 3, 4711, ""},
		"an engine that TRL's script starts alone": {
			label("(VllmWorker rank=2 pid=33122) ", engine) + "Traceback (most recent call last):\n  File \"/opt/lib/python3.12/site-packages/trl/scripts/vllm_serve.py\", line 280, in llm_worker\n    llm = LLM(\nRuntimeError: Engine core initialization failed.\n",
			2, 3, 33122, "",
		},
		"an engine inside of TRL's trainer": {
			label("(VllmWorker rank=2 pid=33122) ", engine) + "Traceback (most recent call last):\n  File \"/opt/lib/python3.12/site-packages/trl/trainer/grpo_trainer.py\", line 280, in __init__\n    self.llm = LLM(\nRuntimeError: Engine core initialization failed.\n",
			-1, 3, 33122, "",
		},
		"ROLL's logger": {
			"(ActorWorker(actor_train-5) pid=9106) [2026-02-03 15:24:02] [decorator.py (306)] [ERROR] [actor_train-5-G5 5 / 8][PID 9106] " + strings.TrimPrefix(refusedOn3, "torch.OutOfMemoryError: "), 5, 3, 9106, "",
		},
		"ROLL's driver, which counts itself": {
			"[2026-02-03 15:24:02] [decorator.py (306)] [ERROR] [DRIVER 0 / 1][PID 8012] " + refusedOn3, -1, 3, -1, "",
		},
		"an engine's stamp": {
			"[2025-03-17 10:41:02] server_args=ServerArgs(model_path='/m', tp_size=8)\n[2025-03-17 10:41:14 TP7] Scheduler hit an exception: Traceback (most recent call last):\n" +
				"  File \"/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py\", line 2215, in run_scheduler_process\n    scheduler = Scheduler(\n" +
				strings.ReplaceAll(refusedOn3, "GPU 3", "GPU 7"), 7, 7, -1, "",
		},
		"an engine's stamp behind a collector's with a level": {
			label("2026-03-01 09:00:00,123 ERROR ", "[2025-03-17 10:41:02] server_args=ServerArgs(model_path='/m', tp_size=8)\n[2025-03-17 10:41:14 TP7] Scheduler hit an exception: Traceback (most recent call last):\n"+
				"  File \"/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py\", line 2215, in run_scheduler_process\n    scheduler = Scheduler(\n"+
				strings.ReplaceAll(refusedOn3, "GPU 3", "GPU 7")), 7, 7, -1, "",
		},
		"the pid of a collector behind which rank 0 spoke": {
			label("Mar  1 09:00:00 gpu-7 train[4242]: ", "[2025-03-17 10:41:02,018] [INFO] [logging.py:96:log_dist] [Rank 0] DeepSpeed info: version=0.11.1\n"+unnumbered), -1, -1, 4242, "gpu-7",
		},
		"the pid of each of a journal's processes": {
			"Mar  1 09:00:00 gpu-7 train[41]: [2025-03-17 10:41:02,018] [INFO] [x.py:9:f] [Rank 3] start\nMar  1 09:00:00 gpu-7 train[42]: [2025-03-17 10:41:02,018] [INFO] [x.py:9:f] [Rank 4] start\n" +
				"Mar  1 09:00:01 gpu-7 train[42]: " + unnumbered, 4, -1, 42, "gpu-7",
		},
		"the pid of a collector of several ranks' lines": {
			label("<14>1 2026-03-01T09:00:00.000Z gpu-7 train 4242 - - ", "[2025-03-17 10:41:02] server_args=ServerArgs(model_path='/m', tp_size=8)\n"+
				"[2025-03-17 10:41:12 TP0] Load weight begin.\n[2025-03-17 10:41:12 TP1] Load weight begin.\n"+unnumbered), -1, -1, 4242, "gpu-7",
		},
		"a library's bare line, raised again at once": {vllm + bare + raised("EngineCore pid=48200"), -1, -1, 48200, ""},
		"the same behind the label of a worker of Ray": {
			label("(Runner pid=815) ", vllm+"(EngineCore pid=48200) INFO 06-02 13:32:16 [parallel_state.py:1735] rank 0 in world size 1 is assigned as DP rank 0, PP rank 0, TP rank 0\n"+
				bare+raised("EngineCore pid=48200")), 0, -1, 815, "",
		},
		"two bare lines, one of them raised again": {vllm + bare + bare + raised("EngineCore pid=48200"), -1, -1, -1, ""},
		"the replica of a wrapper whose original names no device": {
			module + "RuntimeError: Caught RuntimeError in replica 1 on device 2.\nOriginal Traceback (most recent call last):\n" +
				"  File \"/opt/lib/python3.10/site-packages/torch/nn/parallel/parallel_apply.py\", line 64, in _worker\n    output = module(*input, **kwargs)\n" + unnumbered, -1, 2, -1, "",
		},
		"the replica of a wrapper whose original names one": {
			module + "torch.OutOfMemoryError: Caught OutOfMemoryError in replica 0 on device 0.\nOriginal Traceback (most recent call last):\n" +
				"  File \"/opt/lib/python3.10/site-packages/torch/nn/parallel/parallel_apply.py\", line 64, in _worker\n    output = module(*input, **kwargs)\n" +
				strings.ReplaceAll(refusedOn3, "GPU 3", "GPU 0"), -1, 0, -1, "",
		},
		"the launcher's table names rank, pid and host": {
			backward + "E0205 01:02:51.000000 22 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 3 (pid: 907695) of binary: /usr/bin/python\n" +
				table("11", "3", "907695"), 11, 3, 907695, "n17",
		},
		"the launcher's table joined by the rank of a label": {label("[rank11]: ", backward) + table("11", "3", "907695"), 11, 3, 907695, "n17"},
		"the local rank of a label and the node's rank of the command": {
			"+ torchrun --nnodes=2 --node_rank=1 --nproc_per_node=8 train.py\n" + label("[default3]:", backward), 11, 3, -1, "",
		},
		"the local rank of a label and the node's rank of the environment": {
			"NNODES=2\nNODE_RANK=1\nNPROC_PER_NODE=4\n" + label("[default3]:", backward), 7, 3, -1, "",
		},
		"the one visible device":                    {"CUDA_VISIBLE_DEVICES=5\n" + module + unnumbered, -1, 5, -1, ""},
		"one of several visible devices is unknown": {"CUDA_VISIBLE_DEVICES=4,5\n" + module + unnumbered, -1, -1, -1, ""},
		"the worker below Ray's driver": {
			"ray.exceptions.RayTaskError(OutOfMemoryError): ray::main_task() (pid=100, ip=10.0.0.1)\n  File \"/w/verl/trainer/main_ppo.py\", line 9, in main_task\n    trainer.fit()\n" +
				"ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_update_actor() (pid=207, ip=10.0.0.2, actor_id=ab, repr=<verl.WorkerDict object at 0x7f>)\n" +
				"  File \"/w/verl/workers/fsdp_workers.py\", line 5, in update_actor\n    x()\n" + refusedOn3, -1, 3, 207, "10.0.0.2",
		},
		"a pid that another line ties to a rank": {
			"(WorkerDict pid=207, ip=10.0.0.2) [Rank 13] device mesh ready\n" + label("(WorkerDict pid=207, ip=10.0.0.2) ", backward), 13, 3, 207, "10.0.0.2",
		},
		"the process on the device that a banner names": {
			"[2026-06-19 17:30:10,330][sft][INFO] - rank 11/16 pid 207 on n17 device cuda:3 NVIDIA H200\n" + label("(WorkerDict pid=207) ", backward), 11, 3, 207, "n17",
		},
		"another process on the device that a banner names": {
			"[2026-06-19 17:30:10,330][sft][INFO] - rank 11/16 pid 207 on n17 device cuda:3 NVIDIA H200\n" + label("(SGLangEngine pid=5810) ", backward), -1, 3, 5810, "",
		},
		"a worker's traceback that the driver prints, its header cut off": {
			label("(TaskRunner pid=100, ip=10.0.0.1) ", "    return self.work(x)\n  File \"/w/verl/workers/fsdp_workers.py\", line 5, in update_actor\n    x()\n"+refusedOn3), -1, 3, -1, "",
		},
		"Open MPI's handler in the process that aborts": {
			"terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n[n17:04711] *** Process received signal ***\n[n17:04711] Signal: Aborted (6)\n", -1, -1, 4711, "n17",
		},
		"the only number and colon, where a long line is wrapped": {
			"Loading checkpoint shards:  67%|######7   | 2/3 [00:10<00:05,  5.30s/it]\nllama_model_load: allocating on device\n 0: cudaMalloc failed: out of memory\n", -1, -1, -1, "",
		},
		"the only labelled line under srun":           {"srun: job 4242 has been allocated resources\n3: " + unnumbered, 3, -1, -1, ""},
		"the only line":                               {"3: " + unnumbered, 3, -1, -1, ""},
		"one of several labelled lines":               {"vllm\n0: INFO 06-01 10:00:00 [api_server.py:1289] vLLM API server version 0.11.0\n3: " + unnumbered, 3, -1, -1, ""},
		"mpirun's only labelled line":                 {vllm + "[1,3]<stderr>:" + unnumbered, 3, -1, -1, ""},
		"SageMaker's launcher":                        {label("[1,mpirank:3,algo-1]<stderr>:", backward), 3, 3, -1, "algo-1"},
		"a logger's field for the whole job":          {"2025-06-01 10:00:00,123 ERROR [global_rank=11][local_rank=3] trainer: " + refusedOn3, 11, 3, -1, ""},
		"a logger's own field behind bars":            {"2025-06-01 10:00:00.123 | ERROR    | rank=2 | train:step:77 - " + refusedOn3, 2, 3, -1, ""},
		"a message that says whose it is":             {"2025-06-01 10:00:00,123 ERROR Rank 9 failed at step 77: " + refusedOn3, 9, 3, -1, ""},
		"a message behind its rank":                   {"2025-06-01 10:00:00,123 ERROR OOM on rank 9: " + refusedOn3, 9, 3, -1, ""},
		"a message about another rank":                {"2025-06-01 10:00:00,123 ERROR waiting for rank 9, got " + refusedOn3, -1, 3, -1, ""},
		"Ray Train's workers":                         {"(RayTrainWorker pid=889, ip=10.0.0.9) Setting up process group for: env:// [rank=3, world_size=8]\n" + label("(RayTrainWorker pid=889, ip=10.0.0.9) ", backward), 3, 3, 889, "10.0.0.9"},
		"mpirun's last words":                         {label("[1,3]<stderr>:", backward) + "mpirun noticed that process rank 3 with PID 881 on node node5 exited on signal 6 (Aborted).\n", 3, 3, 881, "node5"},
		"a label of an unknown form before all lines": {label("[rank 9 pid 4711] ", backward), 9, 3, 4711, ""},
		"a label of an unknown form with a host":      {label("[gpu-7:rank9] ", backward), 9, 3, -1, ""},
		"a label of an unknown form before one line":  {"<rank9> " + refusedOn3, 9, 3, -1, ""},
		"a sentence that names another process":       {"the parent of rank 9 reports: " + refusedOn3, -1, 3, -1, ""},
		"a sentence that names another process's pid": {"watchdog saw pid 4711: " + refusedOn3, -1, 3, -1, ""},
		"a local rank in a label of an unknown form":  {label("{local rank 9} ", backward), -1, 3, -1, ""},
		"Metaflow's task":                             {label("2025-06-01 10:00:00.123 [17/train/42 (pid 20113)] ", backward), -1, 3, 20113, ""},
		"the node whose only process names its rank":  {label("node17: ", "starting trainer (RANK=9 WORLD_SIZE=16 LOCAL_RANK=1)\n"+refusedOn3), 9, 3, -1, "node17"},
		"another node than that which names its rank": {"node16: starting trainer (RANK=9 WORLD_SIZE=16 LOCAL_RANK=1)\n" + label("node17: ", refusedOn3), -1, 3, -1, "node17"},
		"another pod than that which names its rank":  {"[pod/w-0/main] starting trainer (RANK=9 WORLD_SIZE=16 LOCAL_RANK=1)\n" + label("[pod/w-1/main] ", refusedOn3), -1, 3, -1, "w-1"},
		"the pid of a collector's records": {
			`{"hostname":"n17","pid":88,"level":30,"msg":"[Rank 0] DeepSpeed info: version=0.11.1"}` + "\n" + `{"hostname":"n17","pid":88,"level":50,"msg":"RuntimeError: CUDA error: out of memory"}` + "\n", -1, -1, 88, "n17",
		},
		"a driver that quotes a worker's failure": {
			"main() failed: worker 3 reported " + refusedOn3, -1, 3, -1, "",
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
			assert.Equal(t, [3]int{c.rank, c.device, c.pid}, [3]int{value(r.Rank), value(r.Device), value(r.PID)}, "rank, device, pid")
			assert.Equal(t, c.host, r.Host)
		})
	}
}

// TestAProcessOfSpawnIsNamedByTheLineAboveItsTraceback has the parent print the traceback of one of the processes that it started.
func TestAProcessOfSpawnIsNamedByTheLineAboveItsTraceback(t *testing.T) {
	t.Parallel()
	const frame = "  File \"/w/train.py\", line 9, in main\n    loss.backward()\n"
	const full = "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 11.17 GiB total capacity; 962.69 MiB already allocated; 17.19 MiB free; 982.69 MiB reserved in total by PyTorch)\n"
	r := read(t, map[string]string{"a": "Traceback (most recent call last):\n" + frame + "Exception: \n\n-- Process 5 terminated with the following error:\nTraceback (most recent call last):\n" + frame + "RuntimeError: " + full})
	require.Len(t, r.Incidents, 1)
	require.NotNil(t, r.Incidents[0].Root.Rank)
	assert.Equal(t, 5, *r.Incidents[0].Root.Rank)
	r = read(t, map[string]string{"a": "-- Process 5 terminated with the following error:\nTraceback (most recent call last):\n" + frame + "KeyError: 'a'\nTraceback (most recent call last):\n" + frame + "RuntimeError: " + full})
	require.Len(t, r.Incidents, 1)
	assert.Nil(t, r.Incidents[0].Root.Rank, "another one's traceback")
}
