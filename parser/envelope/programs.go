package envelope

// raysWorker is the format whose label a driver puts before all that its workers print.
const raysWorker = "Ray's worker"

// rayTemplate is the label of Ray's driver log, also found in the middle of lines.
const rayTemplate = `({?{actor} }pid={pid}{?, ip={ip}})`

// programs are the prefixes of programs, their loggers and runtimes, most particular first.
var programs = []format{
	{
		name: "c10", writer: "torch's C++ (c10/util/Logging.cpp); up to 2.3 without a time",
		template: `[{letter}{?{c10time}} {file}]{_}`,
		match: []sample{
			{`[rank3]:[E601 10:00:00.123456789 ProcessGroupNCCL.cpp:607] text`, `text`, `c10=0000-06-01T10:00:00; level=E; logger=ProcessGroupNCCL.cpp:607; rank=3; stream=r3`},
			{`[W1231 10:00:00.123456789 x.cpp:607] text`, `text`, `c10=0000-12-31T10:00:00; level=W; logger=x.cpp:607`},
			{`[E ProcessGroupNCCL.cpp:475] [Rank 8] Watchdog`, `[Rank 8] Watchdog`, `level=E; logger=ProcessGroupNCCL.cpp:475; rank=8`},
		},
		noMatch: []string{`[E]`, `[E`, `[E1331 10:00:00.123456789 x.cpp:607] text`},
	},
	{
		name: "verl with Megatron", writer: "verl, utils/logger.py",
		template: `[Rank {rank} \| Local Rank {local}] {time} {level} [{source}]{? =>{_}}`,
		match: []sample{
			{`[Rank 5 | Local Rank 1] 2025-06-01 10:00:00,123 INFO [/data/verl/x.py:103] => text`, `text`, `local=2025-06-01T10:00:00.123; level=I; logger=/data/verl/x.py:103; rank=5; local=1`},
		},
		noMatch: []string{`[Rank 5] text`},
	},
	{
		name: "NeMo", writer: "NeMo; since 2.0 with the rank",
		template: `[NeMo {letter} {time} {logger}{? {rankword}}]{_}`,
		match: []sample{
			{`[NeMo I 2025-06-01 10:00:00 nemo_logging:393] text`, `text`, `local=2025-06-01T10:00:00; level=I; logger=nemo_logging:393`},
			{`[NeMo W 2025-06-01 10:00:00 nemo_logging:393 rank:4] text`, `text`, `local=2025-06-01T10:00:00; level=W; logger=nemo_logging:393; rank=4`},
		},
		noMatch: []string{`[NeMo] text`},
	},
	{
		name: "transformers", writer: "transformers, utils/logging.py",
		template: `[{level}\|{logger}] {time} >>{_}`,
		match:    []sample{{`[INFO|trainer.py:2000] 2025-06-01 10:00:00,123 >> text`, `text`, `local=2025-06-01T10:00:00.123; level=I; logger=trainer.py:2000`}},
		noMatch:  []string{`[INFO|trainer.py:2000] text`},
	},
	{
		name: "transformers 5", writer: "transformers 5, utils/logging.py, before the first line of a message",
		template: `[{logger=transformers}]{_}`,
		match:    []sample{{`[transformers]   Num examples = 4,096`, `  Num examples = 4,096`, `logger=transformers`}},
	},
	{
		name: "LLaMA-Factory", writer: "LLaMA-Factory",
		template: `[{level}\|{time}] {logger} >>{_}`,
		match:    []sample{{`[INFO|2025-06-01 10:00:00] llamafactory.cli:143 >> text`, `text`, `local=2025-06-01T10:00:00; level=I; logger=llamafactory.cli:143`}},
		noMatch:  []string{`[INFO|2025-06-01 10:00:00] text`},
	},
	{
		name: "vLLM-Omni", writer: "vllm-omni before vLLM's prefix",
		template: `[Stage-{job:1-4}] {vllm}`, label: "eStage {job}",
		match: []sample{
			{`[Stage-0] ERROR 03-23 04:09:00 [file.py:430] text`, `text`, `vllm=0000-03-23T04:09:00; level=E; logger=file.py:430; stream=eStage 0`},
		},
		noMatch: []string{`[Stage-0] text`},
	},
	{
		name: "AReaL's merged log", writer: "AReaL's merged.log: a role padded to ten columns",
		template: `[{{process=rollout|trainer}|{worker}}]{pad:10}`, label: "p{process}",
		match: []sample{
			{`[trainer] text`, `text`, `process=trainer; stream=ptrainer`},
			{`[main]    (AReaL) 20250601-10:00:00.123 X INFO: text`, `text`, `local=2025-06-01T10:00:00.123; level=I; logger=X; process=main; stream=pmain`},
			{`[rollout] text`, `text`, `process=rollout; stream=prollout`},
		},
		noMatch: []string{`[prepare] loading 1024 parquet shards`, `[kubeflow] launcher: x`},
	},
	{
		name: "a role's worker", writer: "AReaL's and other schedulers, before all that one of a role's workers prints; padded or not",
		template: `[{process={role}/{digits}}]{_}{fill:12}`, label: "p{process}",
		match: []sample{
			{`[actor/2]   (AReaL) 20250601-10:00:00.123 [FSDPEngine Rank 2] INFO: text`, `text`, `local=2025-06-01T10:00:00.123; level=I; logger=FSDPEngine Rank 2; rank=2; process=actor/2; stream=pactor/2`},
			{`[critic/11]   File "x.py", line 3, in f`, `  File "x.py", line 3, in f`, `process=critic/11; stream=pcritic/11`},
		},
		noMatch: []string{`[actor/x] text`},
	},
	{
		name: "CANN", writer: "Ascend's torch_npu",
		template: `[{level}] {time} (PID:{pid}, Device:{{device}|-1}{?, RankID:{{rank}|-1}}){_}`,
		match:    []sample{{`[ERROR] 2025-06-01-10:00:00 (PID:30102, Device:3, RankID:-1) text`, `text`, `local=2025-06-01T10:00:00; level=E; device=3; pid=30102`}},
	},
	{
		name: "MindSpore", writer: "MindSpore, utils/log_adapter.cc: the pid, the thread and the program, then milli- and microseconds",
		template: `[{level}] {word}({pid},{word},{component}):{time}{?.{digits:3-3}} [{place}]{_}`,
		match: []sample{
			{`[ERROR] MD(30102,7fea2effd700,python):2025-06-01-10:00:00.123.181 [mindspore/ccsrc/arena.cc:250] Init] text`, `Init] text`, `local=2025-06-01T10:00:00.123; level=E; logger=mindspore/ccsrc/arena.cc:250; pid=30102; process=python`},
		},
	},
	{
		name: "level in brackets", writer: "VeOmni and others",
		template: `[{level}] {date}{fields}`,
		match:    []sample{{`[INFO] 2025-06-01 10:00:00,123 __main__ >> text`, `text`, `local=2025-06-01T10:00:00.123; level=I; logger=__main__`}},
		noMatch:  []string{`[INFO] text`, `[INFO] 10:00:00 text`},
	},
	{
		name: "Logs Explorer", writer: "Google's Logs Explorer: a summary field behind level and time when logs are copied out of it",
		template: `[resource.labels.{name}: {value}]{_}`, label: "c{name} {value}",
		match: []sample{
			{`INFO 2025-11-19T20:16:36.096600521Z [resource.labels.containerName: engine] (EngineCore_DP0 pid=27) hello`, `hello`, `iso=2025-11-19T20:16:36.096600521; level=I; DP=0; pid=27; process=EngineCore_DP0; stream=ccontainerName engine|eEngineCore_DP0 27 `},
		},
		noMatch: []string{`[resource.labels] x`},
	},
	{
		// The component names the process, but it is no label: further lines of the message do not have it.
		name: "Ray's C++", writer: "Ray, src/ray/util/logging.cc",
		template: `[{time} {letter} {pid} {digits}]{? ({component})}{_}{?{file}:{_}}`,
		match: []sample{
			{`[2025-08-06 22:10:45,331 E 270240 270241] (raylet) node_manager.cc:3193: 1 Workers`, `1 Workers`, `local=2025-08-06T22:10:45.331; level=E; logger=node_manager.cc:3193; pid=270240; process=raylet`},
			{`(raylet) [2025-08-06 22:10:45,331 E 270240 270241] (raylet) node_manager.cc:3193: 1 Workers`, `1 Workers`, `local=2025-08-06T22:10:45.331; level=E; logger=node_manager.cc:3193; pid=270240; process=raylet; stream=praylet `},
		},
	},
	{
		name: "time in brackets", writer: "SGLang with its ranks, rich, DeepSpeed, Hydra, torchrun, slime, slurmd",
		template: `[{time}{* {axis}}]{fields}`, then: rightColumn,
		match: []sample{
			{`[2026-03-01, 09:00:00 UTC] {pod_manager.py:418} INFO - [base]   File "x"`, `  File "x"`, `iso=2026-03-01T09:00:00; level=I`},
			{`[2025-06-01T10:00:00.123+0000] {subprocess.py:106} INFO -   File "x"`, `  File "x"`, `iso=2025-06-01T10:00:00.123; level=I; logger=subprocess.py:106`},
			{`[2025-03-17 10:41:14 TP0] text`, `text`, `local=2025-03-17T10:41:14; TP=0`},
			{`[2025-03-17 10:41:14 DP0 TP1 EP2 PP3] text`, `text`, `local=2025-03-17T10:41:14; TP=1; DP=0; PP=3; EP=2`},
			{`[10:41:14 TP0] text`, `text`, `clock=0000-01-01T10:41:14; TP=0`},
			{`[2025-03-17 10:41:14] INFO:     127.0.0.1:5 - "GET"`, `127.0.0.1:5 - "GET"`, `local=2025-03-17T10:41:14; level=I`},
			{`[10/21/2025-14:07:11] [TRT-LLM] [RANK 2] [E] gone`, `gone`, `local=2025-10-21T14:07:11; level=E; logger=TRT-LLM; rank=2`},
			{`[10/21/2025-14:07:11] [TRT] [W] gone`, `gone`, `local=2025-10-21T14:07:11; level=W; logger=TRT`},
			{`[2025-06-01 10:00:00,123][mod][ERROR] - text`, `text`, `local=2025-06-01T10:00:00.123; level=E; logger=mod`},
			{`[2025-06-01 10:00:00,123][axolotl.cli.train][INFO] [PID:3301] [RANK:2] text`, `text`, `local=2025-06-01T10:00:00.123; level=I; logger=axolotl.cli.train; rank=2; pid=3301`},
			{`[2026-02-03 15:24:02] [decorator.py (306)] [ERROR] [actor_train-5-G5 5 / 8][PID 9106] text`, `text`, `local=2026-02-03T15:24:02; level=E; logger=decorator.py; rank=5; pid=9106`},
			{`[2026-02-03 15:07:40] [rlvr_pipeline.py (415)] [INFO] [DRIVER 0 / 1][PID 8012] text`, `[DRIVER 0 / 1][PID 8012] text`, `local=2026-02-03T15:07:40; level=I; logger=rlvr_pipeline.py`},
			{`[2025-06-01 10:00:00] [WARNING] [batch 2 / 8] text`, `[batch 2 / 8] text`, `local=2025-06-01T10:00:00; level=W`},
			{`[2025-06-01 10:00:00] rollout.py:71 - text`, `text`, `local=2025-06-01T10:00:00; logger=rollout.py:71`},
			{`[06/01/25 10:00:00] ERROR    text`, `text`, `local=2025-06-01T10:00:00; level=E`},
			{`[06/01/25 10:00:00] ERROR    text            file.py:12`, `text`, `local=2025-06-01T10:00:00; level=E; logger=file.py:12`},
			{`[2025-06-01 10:00:00,123] [INFO] [engine.py:1:fn] [Rank 0] text`, `text`, `local=2025-06-01T10:00:00.123; level=I; logger=engine.py:1:fn; rank=0`},
			{`[2025-06-01 10:00:00,123] torch.distributed.run: [WARNING] text`, `text`, `local=2025-06-01T10:00:00.123; level=W; logger=torch.distributed.run`},
			{`[2025-06-01T10:00:00.123] [4242.batch] error: text`, `error: text`, `local=2025-06-01T10:00:00.123; logger=4242.batch`},
		},
		noMatch: []string{`[1, 2]`, `[2025-13-01 10:00:00] x`},
	},
	{
		name: "gunicorn", writer: "gunicorn, glogging.py: the arbiter's pid, not its worker's",
		template: `[{date} {\+|-}{digits:4-4}] [{digits}] [{level}]{_}`,
		match:    []sample{{`[2025-06-01 10:00:00 +0000] [18] [ERROR] text`, `text`, `local=2025-06-01T10:00:00; level=E`}},
		noMatch:  []string{`[2025-06-01 10:00:00 +0000] "GET / HTTP/1.1" 200`},
	},
	{
		name: "Megatron", writer: "Megatron's lines of progress, which begin with a blank",
		template: ` [{time}{* {axis}}]{fields}`,
		match: []sample{
			{` [2025-06-01 10:00:00.123] iteration       10/     500 | x`, `iteration       10/     500 | x`, `local=2025-06-01T10:00:00.123`},
			{` [10:41:14 TP0] text`, `text`, `clock=0000-01-01T10:41:14; TP=0`},
		},
		noMatch: []string{` [1, 2]`},
	},
	{
		name: "AReaL", writer: "AReaL, areal/utils/logging.py: a name, which may hold the rank, and a level",
		template: `{date}{!iso} {speaker}{level}:{_}`,
		match: []sample{
			{"\x1b[37m\x1b[1;38;2;180;140;80m(AReaL)\x1b[0m \x1b[37m20250601-10:00:00.123 RolloutController INFO: text\x1b[0m", `text`, `local=2025-06-01T10:00:00.123; level=I; logger=RolloutController`},
			{`20250601-10:00:00.123 [FSDP Engine Rank 2] WARNING: text`, `text`, `local=2025-06-01T10:00:00.123; level=W; logger=FSDP Engine Rank 2; rank=2`},
			{`20250601-10:00:00.123 /home/u/areal/device.py INFO: text`, `text`, `local=2025-06-01T10:00:00.123; level=I; logger=/home/u/areal/device.py`},
		},
		noMatch: []string{`2025-06-01 10:00:00 two words INFO: text`},
	},
	{
		// A full date needs no company; less of a stamp needs a level.
		name: "time", writer: "Python's logging in its many configurations, loguru, TensorFlow, Composer, icefall, Ray, servers in C++",
		template: `{time}{fields}{!vague}`,
		match: []sample{
			{`2025-06-01 10:00:00 UTC [rank3]: text`, `text`, `iso=2025-06-01T10:00:00; rank=3; stream=r3`},
			{`14:09:33    INFO Saving checkpoint`, `Saving checkpoint`, `clock=0000-01-01T14:09:33; level=I`},
			{`14:09:33 SUCCESS Step 3 | Time: 1s`, `Step 3 | Time: 1s`, `clock=0000-01-01T14:09:33; level=I`},
			{"2025-09-14 21:27:58\tTraceback (most recent call last):", `Traceback (most recent call last):`, `local=2025-09-14T21:27:58`},
			{"2025-09-14 21:27:58\t2025-09-14 21:27:58.250 [INFO] step 3", `step 3`, `local=2025-09-14T21:27:58; level=I`},
			{"2025-02-18 03:11:27,113\tINFO worker.py:1879 -- text", `text`, `local=2025-02-18T03:11:27.113; level=I; logger=worker.py:1879`},
			{`10:22:31-714511 INFO     text`, `text`, `clock=0000-01-01T10:22:31.714511; level=I`},
			{`2025-06-01 10:00:00.123: W external/xla/a.cc:12] text`, `text`, `local=2025-06-01T10:00:00.123; level=W; logger=external/xla/a.cc:12`},
			{`2025-06-01,10:00:00 | INFO |   batch_size: 8`, `  batch_size: 8`, `local=2025-06-01T10:00:00; level=I`},
			{`2025-06-01 10:00:00,123 - mod - ERROR - text`, `text`, `local=2025-06-01T10:00:00.123; level=E; logger=mod`},
			{`2025-06-01 10:00:00,123 - INFO - __main__ - text`, `text`, `local=2025-06-01T10:00:00.123; level=I; logger=__main__`},
			{`2025-06-01 10:00:00,123 - INFO - step - text`, `step - text`, `local=2025-06-01T10:00:00.123; level=I`},
			{`06/01/2025 10:00:00 - INFO - __main__ - text`, `text`, `local=2025-06-01T10:00:00; level=I; logger=__main__`},
			{`25/06/01 10:00:00 INFO TaskRunner: text`, `TaskRunner: text`, `local=2025-06-01T10:00:00; level=I`},
			{`2025-06-01T10:00:00:   File "x"`, `  File "x"`, `local=2025-06-01T10:00:00`},
			{`2025-06-01 10:00:00,123: rank3[812][MainThread]: WARNING: composer.trainer.trainer: text`, `text`, `local=2025-06-01T10:00:00.123; level=W; logger=composer.trainer.trainer; rank=3; pid=812`},
			{`2025-06-01 10:00:00 node-1 train.loop[14429] ERROR text`, `text`, `local=2025-06-01T10:00:00; level=E; logger=train.loop; host=node-1; pid=14429`},
			{`2025-06-01 10:00:00.123 | ERROR    | mod:fn:12 - text`, `text`, `local=2025-06-01T10:00:00.123; level=E; logger=mod:fn:12`},
			{`2025-06-01 10:00:00 | INFO | __main__ | text`, `text`, `local=2025-06-01T10:00:00; level=I; logger=__main__`},
			{`2025-06-01 10:00:00 | ERROR | relax.core.x:12 text`, `text`, `local=2025-06-01T10:00:00; level=E; logger=relax.core.x:12`},
			{`2025-06-01 10:00:00,123 [ERROR] trainer: text`, `trainer: text`, `local=2025-06-01T10:00:00.123; level=E`},
			{`2025-06-01 10:00:00,123 ERROR [train.py:1007] (1/4) text`, `text`, `local=2025-06-01T10:00:00.123; level=E; logger=train.py:1007; rank=1`},
			{`2025-06-01 10:00:00,123 [ERROR] [train.py:1007] (1/4) text`, `(1/4) text`, `local=2025-06-01T10:00:00.123; level=E; logger=train.py:1007`},
			{`2026-05-08 11:47:02.256 [Error] (Process) (EngineCore pid=2651)   text`, `  text`, `local=2026-05-08T11:47:02.256; level=E; logger=Process; pid=2651; process=EngineCore; stream=eEngineCore 2651 `},
		},
		noMatch: []string{`2025-13-01 10:00:00 x`, `2025-02-30 10:00:00 x`, `10:00:00 x`, `10-11 x`, `12 passed`},
	},
	{
		// The words "NCCL WARN" stay: the message is recognized by them.
		name: "NCCL", writer: "NCCL, src/debug.cc: host, pid, thread, device, place; since 2.30 the function",
		template: `{host}:{pid}:{digits:1-20} [{{device}|-{digits}}]{+}{?{file}{+}{?({until}){+}}}{!message}{nccl}`,
		match: []sample{
			{`node-a:9503:11603 [3] include/alloc.h:103 NCCL WARN Cuda failure 2 'out of memory'`, `NCCL WARN Cuda failure 2 'out of memory'`, `level=W; logger=include/alloc.h:103; host=node-a; device=3; pid=9503`},
			{`[2025-06-01 10:00:00] 7f9c4:97:98 [0] os/linux.cc:72 (shmOpen) NCCL WARN text`, `NCCL WARN text`, `local=2025-06-01T10:00:00; level=W; logger=os/linux.cc:72; host=7f9c4; device=0; pid=97`},
			{`node01:97:98 [0] NCCL INFO alloc.cc:1 -> 1`, `NCCL INFO alloc.cc:1 -> 1`, `level=I; host=node01; device=0; pid=97`},
		},
		noMatch: []string{`node01:97:98 [0] text`},
	},
	{
		name: "AReaL's name", writer: "AReaL since 0.5, before its stamp",
		template: `(AReaL){_}`,
		match:    []sample{{`(AReaL) text`, `text`, ``}},
	},
	{
		name: "vLLM's process", writer: "vLLM, utils/system_utils.py (0.6 and later); also behind Ray's label",
		template: `({engine} pid={pid}{?, ip={ip}}){_}`, label: "e{process} {pid} {host}", then: vllmProcess,
		match: []sample{
			{`(EngineCore_DP1 pid=21402) ERROR 12-03 11:20:10 [core.py:844]   File "x"`, `  File "x"`, `vllm=0000-12-03T11:20:10; level=E; logger=core.py:844; DP=1; pid=21402; process=EngineCore_DP1; stream=eEngineCore_DP1 21402 `},
			{"\x1b[36m(vLLMHttpServer pid=1, ip=10.0.0.1)\x1b[0m \x1b[1;36m(Worker_DP0_PP1_TP3_EP2 pid=2)\x1b[0;0m text", `text`, `host=10.0.0.1; TP=3; DP=0; PP=1; EP=2; pid=2; parent=1; process=Worker_DP0_PP1_TP3_EP2; actor=vLLMHttpServer; stream=pvLLMHttpServer 1 10.0.0.1|eWorker_DP0_PP1_TP3_EP2 2 `},
			{`(VllmWorker rank=3 pid=7) text`, `text`, `TP=3; pid=7; process=VllmWorker; stream=eVllmWorker rank=3 7 `},
			{`(VllmWorker PP0_TP1 pid=7) text`, `text`, `TP=1; PP=0; pid=7; process=VllmWorker PP0_TP1; stream=eVllmWorker PP0_TP1 7 `},
			{`(APIServer pid=1) INFO 03-17 10:41:02 [a.py:1] [2025-03-17 10:41:14] text`, `text`, `local=2025-03-17T10:41:14; level=I; logger=a.py:1; pid=1; process=APIServer; stream=eAPIServer 1 `},
		},
	},
	{
		name: raysWorker, writer: "Ray's driver, python/ray/_private/worker.py print_worker_logs",
		template: rayTemplate + `{_}`, label: "p{process} {pid} {host}", then: rayActor,
		match: []sample{
			{`(WorkerDict pid=123, ip=10.0.0.1)   text`, `  text`, `host=10.0.0.1; pid=123; process=WorkerDict; stream=pWorkerDict 123 10.0.0.1`},
			{`(actor_train-5 5 / 8 pid=123) text`, `text`, `rank=5; pid=123; process=actor_train-5 5 / 8; stream=pactor_train-5 5 / 8 123 `},
			{`(reader 9 / 8 pid=123) text`, `text`, `pid=123; process=reader 9 / 8; stream=preader 9 / 8 123 `},
			{"\x1b[2m\x1b[36m(WorkerDict pid=123)\x1b[0m text\x1b[32m [repeated 7x across cluster]\x1b[0m", `text`, `pid=123; process=WorkerDict; repeats=7; stream=pWorkerDict 123 `},
			{`(f pid=1) text [repeated 2x across cluster] (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication, or see https://docs.ray.io/x for more options.)`, `text`, `pid=1; process=f; repeats=2; stream=pf 1 `},
			{`[36m(WorkerDict pid=123)[0m text[32m [repeated 7x across cluster][0m`, `text`, `pid=123; process=WorkerDict; repeats=7; stream=pWorkerDict 123 `},
			{`(pid=123, ip=fe80::1) text`, `text`, `host=fe80::1; pid=123; stream=p 123 fe80::1`},
			{`(MegatronPolicyWorker[rank=9] pid=5) text`, `text`, `rank=9; pid=5; process=MegatronPolicyWorker; stream=pMegatronPolicyWorker[rank=9] 5 `},
			{`(ServeReplica:actor:Actor pid=5) text`, `text`, `pid=5; process=ServeReplica:actor:Actor; stream=pServeReplica:actor:Actor 5 `},
			{`(MapWorker(MapBatches(Embed)) pid=5) text`, `text`, `pid=5; process=MapWorker(MapBatches(Embed)); stream=pMapWorker(MapBatches(Embed)) 5 `},
		},
		noMatch: []string{`(see pid=12, why)`, `(x(pid=1) y`, `(size 4096)`, `(pid=123, ipX pid=5) text`},
	},
	{
		name: "Ray's daemons", writer: "Ray's driver",
		template: `({process=raylet|autoscaler|scheduler|gcs_server|dashboard}{? +{word}}{?, ip={ip}}){_}`, label: "p{process} {host}",
		match: []sample{
			{`(raylet, ip=10.0.0.1) text`, `text`, `host=10.0.0.1; process=raylet; stream=praylet 10.0.0.1`},
			{`(autoscaler +1m5s) text`, `text`, `process=autoscaler; stream=pautoscaler `},
			{`\\u001b[36m(raylet)\\\u001b[0m text`, `text`, `process=raylet; stream=praylet `},
			{`\u001b[36m(raylet)\u001b[0m ^[[1mtext^[[0m`, `text`, `process=raylet; stream=praylet `},
		},
		noMatch: []string{`(auto detect)`, `(raylets) x`},
	},
	{
		name: "vLLM", writer: "vllm/logger.py, before every line of a message; up to 0.7 without the opening bracket",
		template: `{vllm}`,
		match: []sample{
			{`INFO 03-17 10:41:02 __init__.py:190] text`, `text`, `vllm=0000-03-17T10:41:02; level=I; logger=__init__.py:190`},
			{"ERROR 03-17 10:41:02 [core.py:190] \r", ``, `vllm=0000-03-17T10:41:02; level=E; logger=core.py:190`},
		},
		noMatch: []string{`INFO`, `INFO 03-17 10:41:02 text`},
	},
	{
		name: "level and time", writer: "Ray Serve and others",
		template: `{level}{+}{date}{fields}`,
		match: []sample{
			{`WARNING 2026-02-18 03:11:27,113 controller 123 -- text`, `text`, `local=2026-02-18T03:11:27.113; level=W; logger=controller`},
		},
		noMatch: []string{`INFO 10:00:00 x`},
	},
	{
		name: "uvicorn", writer: "uvicorn pads level and colon to ten columns",
		template: `{level}:{uvicorn}`,
		match:    []sample{{`WARNING:  text`, `text`, `level=W; logger=uvicorn`}},
		noMatch:  []string{`ERROR: y`, `WARNING: The following`, `INFO:`},
	},
	{
		name: "verl", writer: "verl",
		template: `{level}:{date}:`,
		match:    []sample{{`ERROR:2025-06-01 10:00:00,123:text`, `text`, `local=2025-06-01T10:00:00.123; level=E`}},
	},
	{
		name: "ROLL", writer: "ROLL: the logger's name has the rank",
		template: `{level}:{roll}:`,
		match:    []sample{{`ERROR:log_rank_reference-3_3_16:text`, `text`, `level=E; logger=log_rank_reference-3_3_16; rank=3`}},
	},
	{
		name: "logging's default", writer: "Python's logging.basicConfig",
		template: `{level}:{root}:`,
		match:    []sample{{`WARNING:root:text`, `text`, `level=W; logger=root`}},
		noMatch:  []string{`ERROR:12:text`},
	},
	{
		name: "glog", writer: "glog and absl, with a year by glog's default; torch._logging with the frame's and the artefact's names; every line of a message has it",
		template: `{letter}{glogtime}{+}{?{digits:1-20}{+}}{place}]{_}{*[{tag}]{_}}`,
		match: []sample{
			{`[rank3]:W0601 10:00:00.123000 139871 torch/_dynamo/x.py:1] [0/1] [__graph]   text`, `  text`, `glog=0000-06-01T10:00:00.123; level=W; logger=torch/_dynamo/x.py:1; rank=3; stream=r3`},
			{`W0601 10:00:00.123000 139871 torch/x.py:1] `, ``, `glog=0000-06-01T10:00:00.123; level=W; logger=torch/x.py:1`},
			{`E0601 10:00:00.123456  1234 file.cc:12] text`, `text`, `glog=0000-06-01T10:00:00.123456; level=E; logger=file.cc:12`},
			{`E20250601 10:00:00 1234 file.cc:12] text`, `text`, `local=2025-06-01T10:00:00; level=E; logger=file.cc:12`},
		},
		noMatch: []string{`W1011x`, `E`},
	},
	{
		name: "llama.cpp", writer: "llama.cpp, common/log.cpp with --log-prefix and --log-timestamps: minutes, seconds, milli- and microseconds since it began; its router puts the port of a server in front",
		template: `{?[{digits:4-5}] }{digits:1-7}.{digits:2-2}.{digits:3-3}.{digits:3-3} {letter}{_}`,
		match: []sample{
			{`1.06.520.084 E graph_reserve: text`, `graph_reserve: text`, `level=E`},
			{`17903.26.283.220 I srv  init: text`, `srv  init: text`, `level=I`},
			{`[45979] 0.01.047.220 E alloc_tensor_range: text`, `alloc_tensor_range: text`, `level=E`},
		},
		noMatch: []string{`1.06.520.084 East`, `10.93.231.34 I`},
	},
	{
		name: "WASI-NN", writer: "WasmEdge, plugins/wasi_nn/GGML: what llama.cpp prints, behind spdlog's stamp and level",
		template: `[WASI-NN] llama.cpp:{_}`,
		match: []sample{
			{`[2025-06-01 10:00:00.250] [error] [WASI-NN] llama.cpp: text`, `text`, `local=2025-06-01T10:00:00.25; level=E`},
		},
		noMatch: []string{`[WASI-NN] GGML backend: text`},
	},
	{
		name: "wandb", writer: "W&B before all it prints",
		template: `{logger=wandb}:{_}`,
		match:    []sample{{`wandb: text`, `text`, `logger=wandb`}},
	},
	{
		name: "replica and an arrow", writer: "a hosted training service behind its stamp",
		template: `{replica} >>{_}`, label: "h{host}",
		match: []sample{
			{`2025-06-01 10:00:00.250 master-0 >> (EngineCore pid=9) gone`, `gone`, `local=2025-06-01T10:00:00.25; host=master-0; pid=9; process=EngineCore; stream=hmaster-0|eEngineCore 9 `},
		},
		noMatch: []string{`worker >> x`},
	},
}
