package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// launchRanks are lines in which a process tells its own rank. A process group may be smaller than the job: where the
// line tells the group's size it is in "world_size", and only the largest group's rank is the global one.
func launchRanks() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "launch.gloo_rank",
			Literals: []string{"[Gloo] Rank "},
			Expr:     `\[Gloo\] Rank (?<rank>\d{1,6}) is connected to (?<peers>\d{1,6}) peer ranks`,
			Marker:   "identity", Source: "gloo, used by torch 2.6+ (TCP and IB pairs); the group has one rank more than peers",
			Match: []pattern.Sample{{
				Line: "[Gloo] Rank 3 is connected to 7 peer ranks. Expected number of connected peer ranks is : 7", Want: parser.Fields{"rank": "3", "peers": "7"},
			}},
		},
		{
			// Process group 0 is the whole job; in any other, Rank is that group's.
			Name:     "launch.c10d_device",
			Literals: []string{" as device used by this process", " to perform barrier as devices"},
			Expr:     `\[(?:PG ID 0 PG GUID 0[^\]\n]{0,40} )?Rank (?<rank>\d{1,6})\]\s{1,4}using GPU (?<device>\d{1,4}) (?:as device used by this process|to perform barrier)`,
			Marker:   "identity", Source: "torch 2.0-2.1x, ProcessGroupNCCL.cpp barrier",
			Match: []pattern.Sample{
				{Line: "[PG ID 0 PG GUID 0 Rank 3]  using GPU 1 as device used by this process is currently unknown.", Want: parser.Fields{"rank": "3", "device": "1"}},
				{Line: "[Rank 5]  using GPU 5 to perform barrier as devices used by this process are currently unknown.", Want: parser.Fields{"rank": "5", "device": "5"}},
			},
			NoMatch: []string{"[PG ID 2 PG GUID 20 Rank 1]  using GPU 1 as device used by this process is currently unknown."},
		},
		{
			// The rank stands in front of the line; see envelope.Header.
			Name:     "launch.c10d_guess",
			Literals: []string{"Guessing device ID based on global rank"},
			Expr:     `Guessing device ID based on global rank`,
			Marker:   "identity", Source: "torch 2.7-2.9, ProcessGroupNCCL.cpp",
			Match: lines("Guessing device ID based on global rank. This can cause a hang if rank to GPU mapping is heterogeneous. You can specify device_id in init_process_group()"),
		},
		{
			Name:     "launch.c10d_rank",
			Literals: []string{"[PG ID 0 PG GUID 0"},
			Expr:     `\[PG ID 0 PG GUID 0[^\]\n]{0,40} Rank (?<rank>\d{1,6})\]`,
			Marker:   "identity", Source: "torch 2.4-2.1x, ProcessGroupNCCL.cpp logPrefix",
			Match: []pattern.Sample{{
				Line: "[PG ID 0 PG GUID 0(default_pg) Rank 11] Process group watchdog thread terminated with exception", Want: parser.Fields{"rank": "11"},
			}},
			NoMatch: []string{"[PG ID 2 PG GUID 20 Rank 11] Process group watchdog thread terminated with exception"},
		},
		{
			Name:     "launch.nccl_rank",
			Literals: []string{" nranks "},
			Expr:     `comm 0x[0-9a-f]{1,16} rank (?<rank>\d{1,6}) n[Rr]anks (?<world_size>\d{1,6}) cudaDev (?<device>\d{1,4})`,
			Marker:   "identity", Source: "NCCL 2.3-2.30, init.cc",
			Match: []pattern.Sample{{
				Line: "NCCL INFO ncclCommInitRank comm 0x55c8b7ed9050 rank 1 nranks 16 cudaDev 1 nvmlDev 1 busId 3a000 commId 0x11e3 - Init COMPLETE",
				Want: parser.Fields{"rank": "1", "world_size": "16", "device": "1"},
			}},
		},
		{
			Name:     "launch.hf_rank",
			Literals: []string{"Process rank: "},
			Expr:     `Process rank: (?<rank>\d{1,6}), (?:world size: (?<world_size>\d{1,6}), )?device: [a-z]{2,5}:(?<device>\d{1,4})`,
			Marker:   "identity", Source: "transformers examples, LLaMA-Factory hparams/parser.py, open-r1",
			Match: []pattern.Sample{
				{Line: "Process rank: 2, world size: 8, device: cuda:2, distributed training: True", Want: parser.Fields{"rank": "2", "world_size": "8", "device": "2"}},
				{Line: "Process rank: 0, device: cuda:0, n_gpu: 1", Want: parser.Fields{"rank": "0", "device": "0"}},
			},
		},
		{
			Name:     "launch.pid_rank",
			Literals: []string{" world rank ", "global rank ", "global_rank="},
			Expr:     `(?:\bhost:? (?<host>[\w.-]{1,64}), )?\bpid[:=]? ?(?<pid>\d{1,10}), (?:world |global |global_)?rank[:=]? ?(?<rank>\d{1,6})\b`,
			Marker:   "identity", Source: "realhf (AReaL to 0.3.0), system/worker_base.py, and banners like it",
			Match: []pattern.Sample{
				{Line: "Worker model_worker/7 configured, host cn12, pid 8120, world rank 7, gpu 3.", Want: parser.Fields{"host": "cn12", "pid": "8120", "rank": "7"}},
				{Line: "pid=8120, global_rank=7", Want: parser.Fields{"pid": "8120", "rank": "7"}},
			},
			NoMatch: []string{"pid 8120, local rank 3"},
		},
		{
			Name:     "launch.rank_pid",
			Literals: []string{" local_rank ", " local_rank="},
			Expr:     `(?<!_|local )\b(?:global |world )?rank[ =:]{1,2}(?<rank>\d{1,6})(?:/\d{1,6})?\]?(?:,? (?:local_rank[ =:]{1,2}(?<local_rank>\d{1,4})|host(?:name)?[ =:]{1,2}(?<host>[A-Za-z][\w.-]{0,62})|pid[ =:]{1,2}(?<pid>\d{1,10}))){3}`,
			Marker:   "identity", Source: "common banner of training scripts",
			Match: []pattern.Sample{
				{Line: "rank 3 local_rank 1 host nid0012 pid 4715 gpu X", Want: parser.Fields{"rank": "3", "local_rank": "1", "host": "nid0012", "pid": "4715"}},
				{Line: "[rank 5/8] host nid0012 local_rank 1 pid 4715 torch 1.7.1", Want: parser.Fields{"rank": "5", "local_rank": "1", "host": "nid0012", "pid": "4715"}},
				{Line: "rank=3, local_rank=1, host=nid0012, pid=4715", Want: parser.Fields{"rank": "3", "local_rank": "1", "host": "nid0012", "pid": "4715"}},
			},
			NoMatch: []string{"the host nid0012 went down"},
		},
		{
			Name:     "launch.submitit",
			Literals: []string{"JobEnvironment(job_id="},
			Expr:     `\bJobEnvironment\(job_id=\w{1,24}, hostname=(?<host>[\w.-]{1,64}), local_rank=(?<local_rank>\d{1,4})\(\d{1,4}\), node=\d{1,5}\(\d{1,5}\), global_rank=(?<rank>\d{1,6})\((?<world_size>\d{1,6})\)\)`,
			Marker:   "identity", Source: "submitit 1.0-1.5, core/submission.py and core/job_environment.py: each task has a log of its own",
			Match: []pattern.Sample{
				{Line: "Starting with JobEnvironment(job_id=17015819, hostname=nid0012, local_rank=2(3), node=1(2), global_rank=5(6))", Want: parser.Fields{"host": "nid0012", "local_rank": "2", "rank": "5", "world_size": "6"}},
			},
			NoMatch: []string{"JobEnvironment(job_id=17015819, hostname=nid0012)"},
		},
		{
			Name:     "launch.env_rank",
			Literals: []string{"RANK=0 WORLD", "RANK=1 WORLD", "RANK=2 WORLD", "RANK=3 WORLD", "RANK=4 WORLD", "RANK=5 WORLD", "RANK=6 WORLD", "RANK=7 WORLD", "RANK=8 WORLD", "RANK=9 WORLD"},
			Expr:     `(?<![A-Z_])RANK=(?<rank>\d{1,6}) WORLD_SIZE=(?<world_size>\d{1,6})`,
			Marker:   "identity", Source: "entry points of PyTorchJob pods",
			Match:   []pattern.Sample{{Line: "starting trainer pod w-3 (RANK=3 WORLD_SIZE=8 LOCAL_RANK=0)", Want: parser.Fields{"rank": "3", "world_size": "8"}}},
			NoMatch: []string{"LOCAL_RANK=3 WORLD_SIZE=8"},
		},
		{
			Name:     "launch.signal_block",
			Literals: []string{"*** Process received signal ***"},
			Expr:     `(?:\[(?<host>[A-Za-z][\w.-]{0,62}):(?<pid>\d{1,10})\] |^)\*\*\* Process received signal \*\*\*`,
			Marker:   "identity", Source: "Open MPI, opal/util/stacktrace.c: the process that is dying",
			Match:   lines("*** Process received signal ***"), // its label names the process
			NoMatch: []string{"no *** Process received signal ***"},
		},
		{
			Name:     "launch.rank_of_world",
			Literals: []string{" world size ", " world_size ", ", world_size="},
			Expr:     `\brank[ =](?<rank>\d{1,6}),? world[ _]size[ =](?<world_size>\d{1,6})\b`,
			Marker:   "identity", Source: "common banner of training actors, behind a label with the pid; Ray Train, torch/config.py",
			Match: []pattern.Sample{
				{Line: "MegatronTrainRayActor rank 6 world size 8 local_rank 6", Want: parser.Fields{"rank": "6", "world_size": "8"}},
				{Line: "Setting up process group for: env:// [rank=3, world_size=8]", Want: parser.Fields{"rank": "3", "world_size": "8"}},
			},
			NoMatch: []string{"local_rank 6 world size 8"},
		},
		{
			Name: "launch.rank_initialized",
			Literals: []string{
				"0 initialized", "1 initialized", "2 initialized", "3 initialized", "4 initialized", "5 initialized", "6 initialized", "7 initialized",
				"8 initialized", "9 initialized", "0] initialized", "1] initialized", "2] initialized", "3] initialized", "4] initialized", "5] initialized",
				"6] initialized", "7] initialized", "8] initialized", "9] initialized",
			},
			Expr:   `(?<!local )\b[Rr]ank[ =:]?(?<rank>\d{1,6})\]? initialized\b`,
			Marker: "identity", Source: "common banner of training actors, behind a label with the pid; ROLL, distributed/executor/worker.py",
			Match: []pattern.Sample{
				{Line: "rank 6 initialized, master_addr 10.44.0.12, CUDA_VISIBLE_DEVICES 6", Want: parser.Fields{"rank": "6"}},
				{Line: "[Rank 11] initialized", Want: parser.Fields{"rank": "11"}},
			},
			NoMatch: []string{"local rank 6 initialized", "rank-6 initialized adapter", "6 initialized"},
		},
		{
			Name:     "launch.engine_rank",
			Literals: []string{" is assigned as DP rank "},
			Expr:     `\brank (?<engine_rank>\d{1,6}) in world size \d{1,6} is assigned as DP rank `,
			Marker:   "identity", Source: "vLLM 0.6-0.15, distributed/parallel_state.py: the rank in the engine, behind a label with the pid",
			Match: []pattern.Sample{
				{Line: "rank 1 in world size 2 is assigned as DP rank 0, PP rank 0, TP rank 1, EP rank 1", Want: parser.Fields{"engine_rank": "1"}},
			},
		},
		{
			Name: "launch.script_rank",
			// What stands before " on cuda:" tells it from the "cuda graph: True" of every batch of an engine.
			Literals: append(after("0123456789abcdefghijklmnopqrstuvwxyz)],;:", " on cuda:"), " device cuda:", " device=cuda:", " device: cuda:", " using cuda:"),
			Expr: `(?<!local )\b[Rr]ank[ =:]{1,2}(?<rank>\d{1,6})(?:(?:/| of )\d{1,6})?\]?` +
				`(?:[,;:]? (?:\(?pid[ =:]{1,2}(?<pid>\d{1,10})\)?|(?:running )?on (?:host |node )?(?!cuda\b)(?<host>[A-Za-z][\w.-]{0,62}?)|host(?:name)?[ =:]{1,2}(?<host>[A-Za-z][\w.-]{0,62}?))){0,2}` +
				`[,;:]? (?:using |on )?(?:device[ =:]{1,2})?cuda:(?<device>\d{1,4})\b`,
			Marker: "identity", Source: "common banner of training scripts",
			Match: []pattern.Sample{
				{Line: "rank 1 device cuda:1 n_gpu 1 distributed True fp16 True", Want: parser.Fields{"rank": "1", "device": "1"}},
				{Line: "rank 1/4 pid 66311 on rack4-node2 device cuda:1 NVIDIA H200", Want: parser.Fields{"rank": "1", "pid": "66311", "host": "rack4-node2", "device": "1"}},
				{Line: "[rank 5/8] running on host nid0012, using cuda:1", Want: parser.Fields{"rank": "5", "host": "nid0012", "device": "1"}},
				{Line: "Rank 3 of 8 (pid 4715) on cuda:3", Want: parser.Fields{"rank": "3", "pid": "4715", "device": "3"}},
				{Line: "rank=3, host=nid0012, device=cuda:3", Want: parser.Fields{"rank": "3", "host": "nid0012", "device": "3"}},
			},
			NoMatch: []string{"local_rank 1 device cuda:1", "local rank 1 on cuda:1", "model of rank 64 is on cuda:1"},
		},
	}
}

// launchHosts are the banners in which a job or a process names its node. A list of nodes names nobody.
func launchHosts() []pattern.Pattern {
	const host = `(?<host>[A-Za-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,6})`
	return []pattern.Pattern{
		{
			Name:     "launch.host_variable",
			Literals: []string{"SLURMD_NODENAME=", "HOSTNAME=", "SLURM_NODELIST=", "SLURM_JOB_NODELIST="},
			Expr:     `(?:^|\s)(?:SLURMD_NODENAME|HOSTNAME|SLURM_(?:JOB_)?NODELIST)=["']?` + host + `["']?\s*$`,
			Marker:   "identity", Source: "environment of a job",
			Match: []pattern.Sample{
				{Line: "SLURM_JOB_NODELIST=node01", Want: parser.Fields{"host": "node01"}},
				{Line: "HOSTNAME=gpu-7.cluster.local", Want: parser.Fields{"host": "gpu-7.cluster.local"}},
			},
			NoMatch: []string{"SLURM_NODELIST=node[01-02]", "SLURM_JOB_NODELIST=n1,n2", "export HOSTNAME=$(hostname)"},
		},
		{
			Name:     "launch.host_banner",
			Literals: []string{" on node ", " on node: ", " on host ", " on host: ", "ostname: ", "odelist: ", "odeList: "},
			Expr:     `(?:^|\s)(?:(?:[Rr]unning|[Ss]tart(?:s|ed|ing)) on (?:node|host):? |[Hh]ostname: |[Nn]ode[Ll]ist: )` + host + `(?:\s*$| at (?=\w{3} ))`,
			Marker:   "identity", Source: "common banners of batch scripts",
			Match: []pattern.Sample{
				{Line: "Running on node gpu-c12", Want: parser.Fields{"host": "gpu-c12"}},
				{Line: "Job 1200 (array 1180, task 7) starts on node rc-b1 at Fri Mar 19 22:10:41 GMT 2021", Want: parser.Fields{"host": "rc-b1"}},
				{Line: "hostname: cn-0421", Want: parser.Fields{"host": "cn-0421"}},
			},
			NoMatch: []string{"Nodelist: gpu[14-15]", "hostname: "},
		},
		{
			Name:     "launch.hostname_asked",
			Literals: []string{"+ hostname"},
			Expr:     `^\++ hostname(?: -[sf]| --(?:short|fqdn|long))?\s*$`,
			Marker:   "launch", Source: "a batch script under set -x",
			Match:   lines("+ hostname", "++ hostname -s"),
			NoMatch: []string{"+ hostname -I", "+ echo hostname"},
		},
		{
			Name:  "launch.hostname_answer",
			After: []string{"launch.hostname_asked"}, Within: 1,
			Expr:   `^` + host + `\s*$`,
			Marker: "identity", Source: "hostname(1), traced by the shell just before",
			Match:   []pattern.Sample{{Line: "cn-0421", Want: parser.Fields{"host": "cn-0421"}}},
			NoMatch: []string{"+ date", "hostname: command not found"},
		},
		{
			Name:     "launch.host_job_banner",
			Literals: []string{"== job ", "== Job ", "-- job ", "-- Job ", "## job ", "## Job ", "** job ", "** Job ", "== task ", "== Task ", "-- task ", "-- Task ", "## task ", "## Task ", "** task ", "** Task "},
			Expr:     `[=#*-]{2,12} (?:[Jj]ob \d{1,12}(?:_\d{1,7})?|[Tt]ask \d{1,7}(?:(?:/| of )\d{1,7})?)(?: (?:on|running on|started on)|, (?:on )?(?:host|node):?) ` + host + `(?![\w.\[-]|,\S)`,
			Marker:   "identity", Source: "common banners of batch scripts",
			Match: []pattern.Sample{{Line: "==== job 718823 on gpu-c12 (sft-tok) ====", Want: parser.Fields{"host": "gpu-c12"}}, {Line: "== task 7 of 12, host bcn-2207, Thu Aug 14 02:11:09 CEST 2025", Want: parser.Fields{"host": "bcn-2207"}}, {Line: "### Task 3/8 on gpu12 ###", Want: parser.Fields{"host": "gpu12"}}},
			NoMatch: []string{
				"==== job 12 on gpu[14-15] ====", "==== job 12 on n1,n2 ====", "== task 7 of 12, lr 0.1", "slurmstepd: error: *** JOB 93110 ON c043 CANCELLED",
			},
		},
		{
			Name: "launch.job_banner",
			Literals: []string{
				"== job ", "== Job ", "-- job ", "-- Job ", "## job ", "## Job ", "** job ", "** Job ", " starting on ", " started on ", " running on ",
			},
			Expr:   `(?:[=#*-]{2,12} [Jj]ob (?<job>\d{1,12})\b|^Job (?<job>\d{1,12}) [^\n]{0,80}?(?:starting|started|running) on )`,
			Marker: "launch", Source: "common banners of batch scripts",
			Match: []pattern.Sample{
				{Line: "==== job 718823 on gpu-c12 (sft-tok) ====", Want: parser.Fields{"job": "718823"}},
				{Line: "Job 4243 sft-8b starting on n031 n032", Want: parser.Fields{"job": "4243"}},
			},
			NoMatch: []string{"Uvicorn running on http://0.0.0.0:30001"},
		},
	}
}
