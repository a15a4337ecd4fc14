package envelope

// Templates that are also used by themselves.
const (
	srunTemplate    = `{left:4}{task:1-5}: {!tasked}{!listing}`
	srunHetTemplate = `P{job:1-3}{+}{task:1-5}: {!tasked}`
)

// launchers are the prefixes of launchers and collectors, most particular first.
var launchers = []format{
	{
		name: "global rank", writer: "torch's exception hook (2.3 and later, distributed_c10d.py) before every line of a traceback; also before c10's and torch._logging's prefix",
		template: `[rank{rank}]:{? }`, label: "r{rank}", anywhere: true,
		match: []sample{
			{`[rank3]:   File "x"`, `  File "x"`, `rank=3; stream=r3`},
			{`[rank3]:`, ``, `rank=3; stream=r3`},
			{`[rank3]: Jun 01 10:00:00 node01 python[12]: text`, `text`, `syslog=0000-06-01T10:00:00; host=node01; rank=3; pid=12; process=python; stream=r3|hnode01 python 12`},
			{`[rank3]: {"log":"(W pid=7) text\n","stream":"stderr","time":"2025-06-01T10:00:00.123Z"}`, `text`, `iso=2025-06-01T10:00:00.123; rank=3; pid=7; process=W; stream=r3|cstderr|pW 7 `},
		},
		noMatch: []string{`[rank 3/8] torch`, `[rank-0]: Saving model to /x`, `rank0: text`},
	},
	{
		name: "rank in words", writer: "launchers and loggers of users' own",
		template: `{{rank|Rank|RANK}{?:|=}{+}{rank} \||({rank|Rank|RANK} {rank})|{rank|Rank|RANK} {rank}:}{? }`, label: "r{rank}",
		match: []sample{
			{`rank:  3 |   File "x"`, `  File "x"`, `rank=3; stream=r3`},
			{`rank: 11 | text`, `text`, `rank=11; stream=r11`},
			{`(rank 1) text`, `text`, `rank=1; stream=r1`},
			{`Rank 7: text`, `text`, `rank=7; stream=r7`},
		},
		noMatch: []string{`rank 3 of 8`, `(rank 1 of 8) text`, `Rank 3 failed`, `ranks: 3 |`},
	},
	{
		name: "rank in brackets", writer: "formats of logging of users' own, behind the level",
		template: `[{rank|Rank|RANK}={rank}{? {node|host}={host}}]{_}`, label: "r{rank}", anywhere: true,
		match: []sample{
			{`[rank=7] text`, `text`, `rank=7; stream=r7`},
			{`[rank=7 node=gn17]   text`, `  text`, `host=gn17; rank=7; stream=r7`},
			{`2025-06-01 10:00:00,123 ERROR [rank=7 node=gn17] text`, `text`, `local=2025-06-01T10:00:00.123; level=E; host=gn17; rank=7; stream=r7`},
		},
		noMatch: []string{`[rank=3 of 8] text`, `[rank=3, loss=2] text`},
	},
	{
		name: "stream in brackets", writer: "agents that run a program and label its two streams; Jan names the program, behind a stamp of its own",
		template: `[{?{process} }std{err|out}]{_}`, anywhere: true,
		match: []sample{
			{`[stderr]   text`, `  text`, ``},
			{`[llamacpp-router stdout] text`, `text`, `process=llamacpp-router`},
		},
		noMatch: []string{`[stderr]: text`, `[stderrs] text`, `[the first stdout] text`},
	},
	{
		name: "kubectl --prefix", writer: "kubectl logs --prefix",
		template: `[pod/{host}/{container}]{_}`, label: "c{host} {name}",
		match:   []sample{{`[pod/job-0/main] text`, `text`, `host=job-0; stream=cjob-0 main`}},
		noMatch: []string{`[pod/`, `[pod/job-0] text`},
	},
	{
		name: "mpirun --tag-output", writer: "Open MPI: job and rank; 5 puts the launcher's own name in front, 4 writes no blank behind the colon",
		template: `{?{weekday}}[{?prte{launcher}@}{job},{task}]<std{err|out|diag}>:{odd}`, label: "t{job} {task}",
		match: []sample{
			{`[1,3]<stderr>: text`, `text`, `task=3; stream=t1 3`},
			{`[1,3]<stdout>:  File "x"`, `  File "x"`, `task=3; stream=t1 3`},
			{`[prterun-node01-77@1,3]<stderr>: text`, `text`, `task=3; stream=t1 3`},
			{`Sun Jun  1 10:00:00 2025[1,3]<stderr>:text`, `text`, `dmesg=2025-06-01T10:00:00; task=3; stream=t1 3`},
		},
		noMatch: []string{`[1, 2]`, `[1,3]: text`},
	},
	{
		name: "mpirun --timestamp-output", writer: "Open MPI, without --tag-output",
		template: `{weekday}<std{err|out|diag}>:{odd}`,
		match:    []sample{{`Sun Jun  1 10:00:00 2025<stderr>:  File "x"`, `  File "x"`, `dmesg=2025-06-01T10:00:00`}},
	},
	{
		name: "SageMaker's mpirun", writer: "SageMaker's training toolkit: job, rank and host",
		template: `[{job},mpirank:{rank},{host}]<std{err|out}>:{odd}`, label: "r{rank}",
		match: []sample{
			{`[1,mpirank:3,algo-1]<stderr>:  File "x"`, `  File "x"`, `host=algo-1; rank=3; stream=r3`},
		},
		noMatch: []string{`[1,mpirank:3]<stderr>:text`},
	},
	{
		name: "Metaflow", writer: "Metaflow, before all that a task prints: run, step, task and the pid of its process",
		template: `{date} [{container}/{process={word}}/{launcher} (pid {pid})]{? [{printed}]}{_}`, label: "h{name} {process} {pid}",
		match: []sample{
			{`2025-06-01 10:00:00.123 [17/train/42 (pid 20113)]   File "x"`, `  File "x"`, `local=2025-06-01T10:00:00.123; pid=20113; process=train; stream=h17 train 20113`},
			{`2025-06-01 10:00:00.123 [17/train/42 (pid 20113)] text`, `text`, `local=2025-06-01T10:00:00.123; pid=20113; process=train; stream=h17 train 20113`},
		},
		noMatch: []string{`2025-06-01 10:00:00.123 [17/train/42] text`},
	},
	{
		name: "horovodrun", writer: "Horovod, runner/gloo_run.py; with --prefix-output-with-timestamp the time stands in front",
		template: `{?{weekday}}[{rank}]<std{err|out}>:`, label: "r{rank}",
		match: []sample{
			{`[3]<stderr>:  File "x"`, `  File "x"`, `rank=3; stream=r3`},
			{`Sun Jun  1 10:00:00 2025[0]<stdout>:text`, `text`, `dmesg=2025-06-01T10:00:00; rank=0; stream=r0`},
		},
		noMatch: []string{`[3]: text`, `[3]<x>:text`},
	},
	{
		name: "dmesg", writer: "the kernel: seconds since boot, the caller with CONFIG_PRINTK_CALLER",
		template: `[{*}{uptime}]{?[{*}{T|C}{digits}]}{_}`,
		match: []sample{
			{`[    1.234567]  dump_header+0x4a`, ` dump_header+0x4a`, `monotonic=1970-01-01T00:00:01.234567`},
			{`[12345.678901][ T1234] text`, `text`, `monotonic=1970-01-01T03:25:45.678901`},
		},
		noMatch: []string{`[0.5, 0.25]`, `[ 104861]  2001 104861`},
	},
	{
		name: "dmesg -T", writer: "dmesg -T, in the language of whoever ran it",
		template: `[{ctime}]{_}`,
		match: []sample{
			{`[Sun Jun  1 10:00:00 2025] text`, `text`, `dmesg=2025-06-01T10:00:00`},
			{`[Di Mär 12 03:54:03 2025] text`, `text`, ``},
		},
		noMatch: []string{`[Gloo] Rank 1 is connected`},
	},
	{
		name: "Open MPI's own", writer: "Open MPI's runtime: host and pid",
		template: `[{node}:{pid:2-9}]{_}`, label: "h{host} {pid}",
		match:   []sample{{`[node01:123] text`, `text`, `host=node01; pid=123; stream=hnode01 123`}},
		noMatch: []string{`[node01:1] text`, `[train2.py:12] text`},
	},
	{
		name: "torchrun", writer: "torchrun: role and local rank (PyTorch 2.4, elastic/multiprocessing/tail_log.py)",
		template: `[default{local:1-5}]:`, label: "ldefault {local}", anywhere: true,
		match: []sample{
			{`[default3]:  File "x"`, `  File "x"`, `local=3; stream=ldefault 3`},
			{`[default3]:[rank11]: text`, `text`, `rank=11; local=3; stream=ldefault 3|r11`},
			{`[default3]:{"log":"text\n","stream":"stderr","time":"2025-06-01T10:00:00.123Z"}`, `text`, `iso=2025-06-01T10:00:00.123; local=3; stream=ldefault 3|cstderr`},
		},
		noMatch: []string{`[default`, `[default] text`},
	},
	{
		name: "torchrun, another role", writer: "torchrun with --role or a template of the user's",
		template: `[{launched}{local:1-5}]:{odd}`, label: "l{name} {local}", anywhere: true,
		match: []sample{{`[trainer3]: text`, `text`, `local=3; stream=ltrainer 3`}},
	},
	{
		// With a blank or nothing behind it, this is an entry of torchrun's failure report.
		name: "torchrun, no role", writer: "torchrun with a template of the user's",
		template: `[{local:1-5}]:{!blank}`, label: "l {local}", anywhere: true,
		match:   []sample{{`[3]:text`, `text`, `local=3; stream=l 3`}},
		noMatch: []string{`[3]:`, `[3]: text`},
	},
	{
		name: "CRI", writer: "containerd and CRI-O",
		template: `{utc} {name=stdout|stderr} {{partial=P}|F}{?:{word}}{_}`, label: "c{name}",
		match: []sample{
			{`2025-06-01T10:00:00.123456789Z stderr F   text`, `  text`, `iso=2025-06-01T10:00:00.123456789; stream=cstderr`},
			{`2025-06-01T12:00:00+02:00 stdout P text`, `text`, `iso=2025-06-01T10:00:00; partial; stream=cstdout`},
		},
	},
	{
		name: "priority", writer: "/proc/kmsg and RFC 3164, before the stamp",
		template: `<{priority}>{!unstamped}`,
		match: []sample{
			{`<3>[12345.678901] text`, `text`, `monotonic=1970-01-01T03:25:45.678901; level=E`},
			{`<4>Jun  1 10:00:00 node01 app: text`, `text`, `syslog=0000-06-01T10:00:00; level=W; host=node01; process=app; stream=hnode01 app 0`},
		},
		noMatch: []string{`<999>[12345.678901] text`, `<3> text`},
	},
	{
		name: "syslog", writer: "journalctl (short, short-precise, short-full), rsyslog's traditional format, RFC 3164",
		template: `{syslog} {sender}`, label: "h{host} {process} {pid}",
		match: []sample{
			{`Jun 01 10:00:00 node01 python[123]: text`, `text`, `syslog=0000-06-01T10:00:00; host=node01; pid=123; process=python; stream=hnode01 python 123`},
			{`Jun  1 10:00:00.123456 node01 kernel: [12345.678901] Killed process 7`, `Killed process 7`, `syslog=0000-06-01T10:00:00.123456; host=node01; stream=hnode01 kernel 0`},
			{`Sun 2025-06-01 10:00:00 CEST node01 systemd[1]: text`, `text`, `local=2025-06-01T10:00:00; host=node01; pid=1; process=systemd; stream=hnode01 systemd 1`},
			{`Jun  1 10:00:00 n kernel:Out of memory: Killed`, `Out of memory: Killed`, `syslog=0000-06-01T10:00:00; host=n; stream=hn kernel 0`},
		},
		noMatch: []string{`Jun  1 10:00:00 worker RuntimeError: x`, `Jun  1 is late`},
	},
	{
		name: "BuildKit", writer: "docker build --progress=plain: the step and its seconds",
		template: `#{job:1-5} {digits:1-7}.{digits:1-3}{_}`, label: "c#{job}",
		match: []sample{
			{`#11 0.513   File "x"`, `  File "x"`, `stream=c#11`},
		},
		noMatch: []string{`#11 [4/7] RUN x`, `#11 0x513 in f`, `#11 3 failed`},
	},
	{
		name: "GitLab", writer: "GitLab's runner: the number of the stream and O or E, a plus before a line that goes on",
		template: `{utc} {digits:2-2}{O|E}{\+|{_}}`,
		match:    []sample{{`2025-06-01T10:00:00.123456Z 01E text`, `text`, `iso=2025-06-01T10:00:00.123456`}},
		noMatch:  []string{`2025-06-01T10:00:00.123456Z 01 E text`},
	},
	{
		name: "aws logs tail", writer: "aws logs tail: the stream, which AWS Batch and SageMaker name by job, container and task",
		template: `{utc} {logstream}{_}`, label: "c{name}",
		match:   []sample{{`2025-06-01T10:00:00.123000+00:00 train-7/algo-1-1748772000   text`, `  text`, `iso=2025-06-01T10:00:00.123; stream=ctrain-7/algo-1-1748772000`}},
		noMatch: []string{`2025-06-01T10:00:00Z /opt/checkpoints/1748772000 text`, `2025-06-01T10:00:00Z loss/train 2.1`},
	},
	{
		name: "syslog, ISO time", writer: "journalctl (short-iso), rsyslog's file format",
		template: `{utc} {sender}`, label: "h{host} {process} {pid}",
		match: []sample{
			{`2025-06-01T10:00:00+0200 node01 kernel: text`, `text`, `iso=2025-06-01T08:00:00; host=node01; stream=hnode01 kernel 0`},
			{`2025-06-01T10:00:00.123+02:00 node01 kernel: [123.400000] text`, `text`, `iso=2025-06-01T08:00:00.123; host=node01; stream=hnode01 kernel 0`},
		},
		noMatch: []string{`2025-06-01T10:00:00Z engine app: x`},
	},
	{
		name: "syslog without a host", writer: "journalctl --no-hostname",
		template: `{monthday} {process}[{pid}]:{_}`, label: "h {process} {pid}",
		match:   []sample{{`Jun  1 10:00:00 ollama[2217]: text`, `text`, `syslog=0000-06-01T10:00:00; pid=2217; process=ollama; stream=h ollama 2217`}},
		noMatch: []string{`Jun  1 10:00:00 node01 ollama: text`, `Jun  1 10:00:00 ollama: text`},
	},
	{
		name: "ts", writer: "ts(1) of moreutils, which puts the stamp alone in front",
		template: `{monthday} {!date}`,
		match: []sample{
			{`Jun  1 10:00:00   File "a.py", line 1`, `  File "a.py", line 1`, `syslog=0000-06-01T10:00:00`},
			{`Jun  1 10:00:00 step 12`, `step 12`, `syslog=0000-06-01T10:00:00`},
		},
		noMatch: []string{`Jun  1 10:00:00 2025`, `Jun  1 10:00:00 2025: text`, `Mon Apr 28 08:00:03 UTC 2025 starting`},
	},
	{
		name: "date", writer: "scripts that put the output of date(1) before each line",
		template: `{today}{?:}{_}`,
		match: []sample{
			{`Sun Jun  1 10:00:00 UTC 2025   File "x"`, `  File "x"`, `iso=2025-06-01T10:00:00`},
			{`Sun Jun 01 10:00:00 CEST 2025: text`, `text`, `local=2025-06-01T10:00:00`},
		},
		noMatch: []string{`Sun Jun  1 10:00:00 UTC`, `Sun Jun  1 10:00:00 UTC 2025, done`},
	},
	{
		name: "TAI64N", writer: "multilog of daemontools and s6-log: seconds and nanoseconds in hexadecimal digits",
		template: `@4000{hex:20}{_}`,
		match:    []sample{{`@40000000683c2c0a0db2f3ac   File "x"`, `  File "x"`, ``}},
		noMatch:  []string{`@40000000683c2c0a0db2f3ac0 text`, `@4000 text`},
	},
	{
		name: "a pipeline's annotation", writer: "GitHub Actions and Azure Pipelines, before a line that is marked as an error; behind their stamp",
		template: `##[{error|warning|debug|command|section}]`, anywhere: true,
		match:   []sample{{`2025-06-01T10:00:00.1234567Z ##[error]  File "x"`, `  File "x"`, `iso=2025-06-01T10:00:00.1234567`}},
		noMatch: []string{`##[group]Run tests`, `## [error] text`},
	},
	{
		name: "RFC 5424", writer: "syslog daemons and forwarders",
		template: `<{priority}>1 {-|{time}} {-|{ip}} {-|{process}} {-|{pid}|{printed}} {printed} {structured}{_}{?` + "\xef\xbb\xbf" + `}`, label: "h{host} {process} {pid}",
		match: []sample{
			{`<11>1 2025-06-01T10:00:00Z node01 app 12 - [a b="]\"" c="d"][e] text`, `text`, `iso=2025-06-01T10:00:00; level=E; host=node01; pid=12; process=app; stream=hnode01 app 12`},
		},
		noMatch: []string{`<11>1 2025-06-01T10:00:00Z node01 app`},
	},
	{
		name: "bare time", writer: "kubectl logs --timestamps, dmesg --time-format iso",
		template: `{utc}{fields}{!described}`,
		match: []sample{
			{`2025-06-01T10:00:00.123Z node01: text`, `text`, `iso=2025-06-01T10:00:00.123; host=node01; stream=hnode01`},
			{`2025-08-12T03:54:03,123456+02:00 python invoked oom-killer: x`, `python invoked oom-killer: x`, `iso=2025-08-12T01:54:03.123456`},
		},
		noMatch: []string{`2025-06-01T10:00:00.123Z ERROR x`},
	},
	{
		name: "srun -l", writer: "srun --label: the task, right-aligned to the width of the largest (Slurm, common/write_labelled_message.c)",
		template: srunTemplate, label: "t{task}",
		match: []sample{
			{`3:   text`, `  text`, `task=3; stream=t3`},
			{` 3: text`, `text`, `task=3; stream=t3`},
			{`11: `, ``, `task=11; stream=t11`},
		},
		noMatch: []string{`    3`, `3:`, `1: 0xb78db3 node::OOMErrorHandler(char const*) [node]`, `  12: std::rt::lang_start`, `0:12:13`},
	},
	{
		name: "pdsh, address", writer: "pdsh, clush and DeepSpeed's launcher",
		template: `{address}:{_}`, label: "h{host}",
		match: []sample{{`10.0.0.1: text`, `text`, `host=10.0.0.1; stream=h10.0.0.1`}},
	},
	{
		name: "cat -n", writer: "cat -n: six columns and a tab",
		template: " {right:5}\t",
		match:    []sample{{"   123\ttext", `text`, ``}},
		noMatch:  []string{"311860\t45.2\tray::WorkerDict", "   12\ttext"},
	},
	{
		// Loguru's arrow at a frame stays.
		name: "quote", writer: "mails and issues; some without a blank",
		template: `>{!arrow}{odd}`,
		match: []sample{
			{`> > text`, `text`, ``},
			{`>text`, `text`, ``},
			{`> >  File "x"`, `  File "x"`, ``},
			{`>   File "x"`, `  File "x"`, ``},
			{`>  File "x"`, `  File "x"`, ``},
		},
		noMatch: []string{`> File "x"`, `>>> x`},
	},
	{
		name: "seconds since 1970", writer: "collectors and scripts; also in milliseconds, microseconds, nanoseconds",
		template: `{[{epoch}]|{epoch}}{!bytes}{_}`,
		match: []sample{
			{`1748772000   text`, `  text`, `iso=2025-06-01T10:00:00`},
			{`1748772000.123 text`, `text`, `iso=2025-06-01T10:00:00.123`},
			{`1748772000123 text`, `text`, `iso=2025-06-01T10:00:00.123`},
			{`[1748772000.123] text`, `text`, `iso=2025-06-01T10:00:00.123`},
		},
		noMatch: []string{`1748772000 bytes`, `2147483648 x`, `17487720001 x`, `1748772000: x`},
	},
	{
		name: "bar", writer: "terminals and forums that quote a log",
		template: `\|{!row}{_}`,
		match:    []sample{{`|   File "x"`, `  File "x"`, ``}},
		noMatch:  []string{`| GPU  Name |`, `||x`},
	},
	{
		name: "pm2", writer: "pm2 logs: id and name, padded to the longest",
		template: `{digits:1-4}\|{container}{*}\|{_}`, label: "c{name}",
		match:   []sample{{`0|app  |   text`, `  text`, `stream=capp`}},
		noMatch: []string{`0|1|2`, `12|train-grpo`},
	},
	{
		name: "dmesg -x", writer: "dmesg --decode",
		template: `{kern|user|mail|daemon|auth|syslog|lpr|news|local0|local7}{*}:{severity}{*}:{_}`,
		match:    []sample{{`kern  :err   : [12345.678901] text`, `text`, `monotonic=1970-01-01T03:25:45.678901; level=E`}},
		noMatch:  []string{`kern`, `kern :`, `user: text`},
	},
	{
		name: "srun -l, heterogeneous job", writer: "srun --label: the component and its task",
		template: srunHetTemplate, label: "t{job} {task}",
		match:   []sample{{`P0 3: text`, `text`, `task=3; stream=t0 3`}},
		noMatch: []string{`P0`, `P0: text`},
	},
	{
		name: "grep", writer: "grep over several logs, with -n, -A or neither; tail and scripts put a blank behind the colon",
		template: `{logfile}{:{linenr}:|-{context}|-{digits}-|:{odd}}`, label: "f{name}",
		match: []sample{
			{`logs/slurm-1.err:123:  text`, `  text`, `stream=flogs/slurm-1.err`},
			{`a.log-7-text`, `text`, `stream=fa.log`},
			{`a.log-    loss.backward()`, `    loss.backward()`, `stream=fa.log`},
			{`a.log-2026-05-24 19:00:01 text`, `text`, `local=2026-05-24T19:00:01; stream=fa.log`},
			{`train.log:  File "x"`, `  File "x"`, `stream=ftrain.log`},
			{`train.log: text`, `text`, `stream=ftrain.log`},
			{`train.log:0: text`, `text`, `task=0; stream=ftrain.log|t0`},
		},
		noMatch: []string{`a.log-7:text`},
	},
	{
		name: "docker compose", writer: "docker compose: service and ordinal, padded to the longest; SageMaker's local mode",
		template: `{{service}|{name=algo-{digits}-{word}}}{+}\|{_}`, label: "c{name}",
		match: []sample{
			{`trainer-1  | text`, `text`, `stream=ctrainer-1`},
			{`algo-1-x7k2p  | [1,mpirank:3,algo-1]<stderr>:text`, `text`, `host=algo-1; rank=3; stream=calgo-1-x7k2p|r3`},
		},
		noMatch: []string{`loss | 2.3`},
	},
	{
		name: "docker compose, named", writer: "docker compose: a container_name, padded by two blanks at least",
		template: `{hyphened} {+}\|{_}`, label: "c{name}",
		match:   []sample{{`llama-server  | text`, `text`, `stream=cllama-server`}},
		noMatch: []string{`eval-loss | 2.3`, `loss  | 2.3`, `top-5  |  91.2`},
	},
	{
		// Only the containers that training operators make (PyTorchJob, MPIJob, RayCluster, JobSet): other pairs of words look
		// too much like prose.
		name: "stern", writer: "stern: pod and container",
		template: `{pod} {name=main|pytorch|tensorflow|mpi|launcher|trainer|ray-head|ray-worker|vllm|sglang}{_}`, label: "c{host} {name}",
		match:   []sample{{`job-0 main text`, `text`, `host=job-0; stream=cjob-0 main`}},
		noMatch: []string{`worker-0 failed`, `job-0 mainly text`},
	},
	{
		name: "pdsh", writer: "pdsh, clush and DeepSpeed's launcher",
		template: `{node}:{_}{!measure}`, label: "h{host}",
		match: []sample{
			{`node01: text`, `text`, `host=node01; stream=hnode01`},
			{`gpu-a07.cluster.local:   text`, `  text`, `host=gpu-a07.cluster.local; stream=hgpu-a07.cluster.local`},
			{`ip-10-1-88-14: text`, `text`, `host=ip-10-1-88-14; stream=hip-10-1-88-14`},
		},
		noMatch: []string{
			`acc1: 0.91`, `model-00001-of-00004.safetensors:  45%|████`, `rank0: text`, `gpu0: 12 GiB`, `train2.py: x`, `torch2: x`, `python3: can't open file`,
			`cv2.error: OpenCV(4.5.2) alloc.cpp:73`, `slurmstepd-node01: error: Detected 1 oom-kill event(s) in StepId=7.0.`, `node: text`, `Qwen2ForCausalLM: x`,
		},
	},
}
