package parser

// elasticPatterns are launchers that report how their children ended: torchrun and its older names, spawn, DeepSpeed,
// accelerate and subprocess, MPI.
//
// A child that died of SIGKILL is a suspicion of the OOM killer, unless the launcher says that the signal was its own
// (reason=launcher). A bus error is a suspicion of /dev/shm. Everything else follows from what the child printed.
var elasticPatterns = makers{torchrunPatterns, lightningPatterns, spawnPatterns, mpiPatterns}

// lightningPatterns are the launcher of Lightning's DDP strategy, which runs rank 0 itself.
func lightningPatterns() []Pattern {
	const src = "Lightning 2.x, lightning/fabric/strategies/launchers/subprocess_script.py"
	return []Pattern{
		{
			Name:    "lightning.child",
			Needles: []string{" Child process with PID "},
			Expr:    `rank: (?<rank>\d{1,6})\] Child process with PID (?<pid>\d{1,10}) terminated with code (?!-9\b|0\b)(?<exitcode>-?\d{1,5})`,
			Kind:    ProcessExit, Role: Consequence, Source: src,
			Match: []Sample{{
				"[rank: 2] Child process with PID 3187 terminated with code 1. Forcefully terminating all other processes to avoid zombies 🧟",
				Fields{"rank": "2", "pid": "3187", "exitcode": "1"},
			}},
		},
		{
			Name:    "lightning.child_sigkill",
			Needles: []string{" Child process with PID "},
			Expr:    `rank: (?<rank>\d{1,6})\] Child process with PID (?<pid>\d{1,10}) terminated with code (?<exitcode>-9)\b`,
			Kind:    OOMKill, Role: Suspicion, Source: src,
			Match: []Sample{{
				"[rank: 2] Child process with PID 3187 terminated with code -9. Forcefully terminating all other processes to avoid zombies 🧟",
				Fields{"rank": "2", "pid": "3187", "exitcode": "-9"},
			}},
		},
	}
}

// torchrunPatterns are torch.distributed.elastic and its failure block, line by line.
func torchrunPatterns() []Pattern {
	const elastic = "torch 1.9-2.11 torch/distributed/elastic/multiprocessing/api.py"
	const block = "torch 1.9-2.11 torch/distributed/elastic/multiprocessing/errors/__init__.py"
	return []Pattern{
		{
			Name:    "elastic.failed_sigkill",
			Needles: []string{"failed (exitcode: "},
			Expr:    `failed \(exitcode: (?<exitcode>-9|137)\)(?: local_rank: (?<local_rank>\d+) \(pid: (?<pid>\d+)\))?(?: of (?:binary|fn): (?<cmd>\S{1,300}))?`,
			Kind:    OOMKill, Role: Suspicion, Source: elastic,
			Match: []Sample{
				{`failed (exitcode: -9) local_rank: 3 (pid: 41013) of binary: /opt/conda/bin/python`, Fields{"exitcode": "-9", "local_rank": "3", "pid": "41013", "cmd": "/opt/conda/bin/python"}},
				{`failed (exitcode: 137) local_rank: 0 (pid: 77) of fn: train (start_method: spawn)`, Fields{"exitcode": "137", "local_rank": "0", "pid": "77", "cmd": "train"}},
			},
			NoMatch: []string{`failed (exitcode: 1) local_rank: 3 (pid: 41013) of binary: /opt/conda/bin/python`},
		},
		{
			Name:    "elastic.failed_sigbus",
			Needles: []string{"failed (exitcode: "},
			Expr:    `failed \(exitcode: (?<exitcode>-7|135)\)(?: local_rank: (?<local_rank>\d+) \(pid: (?<pid>\d+)\))?(?: of (?:binary|fn): (?<cmd>\S{1,300}))?`,
			Kind:    SHMExhausted, Role: Suspicion, Source: elastic,
			Match:   []Sample{{`failed (exitcode: -7) local_rank: 1 (pid: 512) of binary: /usr/bin/python3`, Fields{"exitcode": "-7", "local_rank": "1", "pid": "512", "cmd": "/usr/bin/python3"}}},
			NoMatch: []string{`failed (exitcode: -6) local_rank: 1 (pid: 512) of binary: /usr/bin/python3`},
		},
		{
			Name:    "elastic.failed",
			Needles: []string{"failed (exitcode: "},
			Expr:    `failed \(exitcode: (?!(?:-9|137|-7|135)\))(?<exitcode>-?\d+)\)(?: local_rank: (?<local_rank>\d+) \(pid: (?<pid>\d+)\))?(?: of (?:binary|fn): (?<cmd>\S{1,300}))?`,
			Kind:    ProcessExit, Role: Consequence, Source: elastic,
			Match: []Sample{
				{`failed (exitcode: 1) local_rank: 1 (pid: 2988) of binary: /opt/conda/bin/python`, Fields{"exitcode": "1", "local_rank": "1", "pid": "2988", "cmd": "/opt/conda/bin/python"}},
				{`failed (exitcode: -6) local_rank: 0 (pid: 50311) of binary: /opt/conda/bin/python`, Fields{"exitcode": "-6", "local_rank": "0", "pid": "50311", "cmd": "/opt/conda/bin/python"}},
			},
			NoMatch: []string{`failed (exitcode: -9) local_rank: 3 (pid: 41013) of binary: /opt/conda/bin/python`},
		},
		{
			Name:    "elastic.exitcode_sigkill",
			Needles: []string{"exitcode  :", "exitcode :", "exitcode:"},
			Expr:    `exitcode {0,8}: (?<exitcode>-9|137) \(pid: (?<pid>\d+)\)`,
			Kind:    OOMKill, Role: Suspicion, Source: block,
			Match: []Sample{
				{`  exitcode  : -9 (pid: 41)`, Fields{"exitcode": "-9", "pid": "41"}},
				{`  exitcode: -9 (pid: 4802)`, Fields{"exitcode": "-9", "pid": "4802"}},
			},
			NoMatch: []string{`  exitcode  : 1 (pid: 41)`},
		},
		{
			Name:    "elastic.exitcode_sigbus",
			Needles: []string{"exitcode  :", "exitcode :", "exitcode:"},
			Expr:    `exitcode {0,8}: (?<exitcode>-7|135) \(pid: (?<pid>\d+)\)`,
			Kind:    SHMExhausted, Role: Suspicion, Source: block,
			Match:   []Sample{{`  exitcode  : -7 (pid: 41)`, Fields{"exitcode": "-7", "pid": "41"}}},
			NoMatch: []string{`  exitcode  : 7 (pid: 41)`},
		},
		{
			Name:    "elastic.exitcode",
			Needles: []string{"exitcode  :", "exitcode :", "exitcode:"},
			Expr:    `exitcode {0,8}: (?!(?:-9|137|-7|135|0) )(?<exitcode>-?\d+) \(pid: (?<pid>\d+)\)`,
			Kind:    ProcessExit, Role: Consequence, Source: block,
			Match: []Sample{
				{`  exitcode  : 1 (pid: 1863)`, Fields{"exitcode": "1", "pid": "1863"}},
				{`  exitcode  : -6 (pid: 291044)`, Fields{"exitcode": "-6", "pid": "291044"}},
			},
			NoMatch: []string{`  exitcode  : 0 (pid: 41)`, `failed (exitcode: 1) local_rank: 1 (pid: 2988) of binary: /opt/conda/bin/python`},
		},
		{
			Name:    "elastic.received_sigkill",
			Needles: []string{" received by PID "},
			Expr:    `Signal 9 \((?<signal>SIGKILL)\) received by PID (?<pid>\d+)`,
			Kind:    OOMKill, Role: Suspicion, Source: block,
			Match:   []Sample{{`  traceback : Signal 9 (SIGKILL) received by PID 41`, Fields{"signal": "SIGKILL", "pid": "41"}}},
			NoMatch: []string{`  traceback : Signal 6 (SIGABRT) received by PID 41`},
		},
		{
			Name:    "elastic.received_sigbus",
			Needles: []string{" received by PID "},
			Expr:    `Signal \d+ \((?<signal>SIGBUS)\) received by PID (?<pid>\d+)`,
			Kind:    SHMExhausted, Role: Suspicion, Source: block,
			Match:   []Sample{{`  traceback : Signal 7 (SIGBUS) received by PID 41`, Fields{"signal": "SIGBUS", "pid": "41"}}},
			NoMatch: []string{`  traceback : Signal 9 (SIGKILL) received by PID 41`},
		},
		{
			Name:    "elastic.received",
			Needles: []string{" received by PID "},
			Expr:    `Signal \d+ \((?!SIGKILL|SIGBUS)(?<signal>SIG\w{1,12})\) received by PID (?<pid>\d+)`,
			Kind:    ProcessExit, Role: Consequence, Source: block,
			Match:   []Sample{{`  traceback : Signal 6 (SIGABRT) received by PID 50311`, Fields{"signal": "SIGABRT", "pid": "50311"}}},
			NoMatch: []string{`  traceback : Signal 9 (SIGKILL) received by PID 41`},
		},
		{
			// Sent to the healthy siblings of the one that failed.
			Name:    "elastic.closing",
			Needles: []string{" closing signal SIG", " via signal SIG"},
			Expr:    `(?:Sending process (?<pid>\d+) closing signal|(?:Closing|Terminating) process (?<pid>\d+) via signal) (?<signal>SIG\w{1,12})`,
			Kind:    ProcessExit, Role: Consequence, Set: map[string]string{"reason": "launcher"},
			Source: elastic + "; torch/multiprocessing/spawn.py; nvidia-resiliency-ext",
			Match: []Sample{
				{`Sending process 291047 closing signal SIGTERM`, Fields{"pid": "291047", "signal": "SIGTERM", "reason": "launcher"}},
				{`Terminating process 311 via signal SIGTERM`, Fields{"pid": "311", "signal": "SIGTERM", "reason": "launcher"}},
			},
		},
		{
			// The SIGKILL is the launcher's own: the exit status -9 of this pid says nothing about memory.
			Name:    "elastic.forced",
			Needles: []string{"forcefully exit"},
			Expr:    `Unable to shutdown process(?:es)?(?: (?<pid>\d+))? via (?:Signals\.)?\w{1,10} ?, forcefully exitt?ing via (?:Signals\.)?(?<signal>\w{1,10})`,
			Kind:    ProcessExit, Role: Consequence, Set: map[string]string{"reason": "launcher"},
			Source: elastic + "; torch/multiprocessing/spawn.py (blank before the comma)",
			Match: []Sample{
				{`Unable to shutdown process 291041 via 15, forcefully exiting via 9`, Fields{"pid": "291041", "signal": "9", "reason": "launcher"}},
				{`Unable to shutdown process 88 via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL`, Fields{"pid": "88", "signal": "SIGKILL", "reason": "launcher"}},
				{`Unable to shutdown process 88 via SIGTERM , forcefully exiting via SIGKILL`, Fields{"pid": "88", "signal": "SIGKILL", "reason": "launcher"}},
				{`Unable to shutdown processes via 15, forcefully exitting via 9`, Fields{"signal": "9", "reason": "launcher"}},
			},
		},
		{
			// The agent itself was told to end: by scancel, a preemption, a closed terminal, or a kill of the whole step.
			Name:    "elastic.death_signal",
			Needles: []string{" death signal, shutting down workers", ".SignalException: "},
			Expr:    `(?:Received (?:Signals\.)?(?<signal>\w{1,10}) death signal, shutting down workers|SignalException: Process (?<pid>\d+) got signal: (?<signal>\d+))`,
			Kind:    ProcessExit, Role: Consequence, Set: map[string]string{"reason": "signal"},
			Source: "torch 1.9-2.11 torch/distributed/elastic/agent/server/api.py, multiprocessing/api.py",
			Match: []Sample{
				{`Received Signals.SIGTERM death signal, shutting down workers`, Fields{"signal": "SIGTERM", "reason": "signal"}},
				{`Received 15 death signal, shutting down workers`, Fields{"signal": "15", "reason": "signal"}},
				{`torch.distributed.elastic.multiprocessing.api.SignalException: Process 88120 got signal: 15`, Fields{"pid": "88120", "signal": "15", "reason": "signal"}},
			},
		},
		{
			Name:    "elastic.child_failed",
			Needles: []string{"errors.ChildFailedError", "elastic.rendezvous.api.Rendezvous"},
			Expr:    `(?:errors\.ChildFailedError|elastic\.rendezvous\.api\.Rendezvous\w{1,30}Error)(?::|\s*$)`,
			Kind:    ProcessExit, Role: Consequence,
			Source: "torch 1.9-2.11 torch/distributed/launcher/api.py, elastic/rendezvous/api.py",
			Match: []Sample{
				{`torch.distributed.elastic.multiprocessing.errors.ChildFailedError: `, Fields{}},
				{`torch.distributed.elastic.rendezvous.api.RendezvousClosedError`, Fields{}},
			},
			NoMatch: []string{`    raise ChildFailedError(`, `from torch.distributed.elastic.multiprocessing.errors import ChildFailedError`},
		},
		{
			Name:    "elastic.restart",
			Needles: []string{"will restart worker group", "restart_count="},
			Expr:    `(?:(?:attempts left; ?|from group_rank=\d+; ?)will restart worker group|^\s*restart_count=(?<count>[1-9]\d*)\s*$)`,
			Kind:    Restart, Role: Context,
			Source: "torch 1.9-2.11 torch/distributed/elastic/agent/server/api.py; DLRover",
			Match: []Sample{
				{`[default] Worker group FAILED. 1/1 attempts left; will restart worker group`, Fields{}},
				{`[default] Detected 1 new nodes from group_rank=0; will restart worker group`, Fields{}},
				{`  restart_count=1`, Fields{"count": "1"}},
			},
			NoMatch: []string{`  restart_count=0`, `  max_restarts     : 1`},
		},
	}
}

// spawnPatterns are Python launchers: torch.multiprocessing.spawn, DeepSpeed, subprocess.
func spawnPatterns() []Pattern {
	const spawn = "torch 1.4-2.11 torch/multiprocessing/spawn.py; the index is the process's, 0 to nprocs-1"
	const deepspeed = "DeepSpeed 0.3-0.18 deepspeed/launcher/launch.py; torch 1.7-1.8 torch/distributed/launch.py"
	const subprocess = "CPython 3.5-3.14 Lib/subprocess.py CalledProcessError"
	return []Pattern{
		{
			Name:    "spawn.sigkill",
			Needles: []string{" terminated with signal SIG", " terminated with exit code "},
			Expr:    `process (?<local_rank>\d+) terminated with (?:signal (?<signal>SIGKILL)|exit code (?<exitcode>137)\b)`,
			Kind:    OOMKill, Role: Suspicion, Source: spawn,
			Match: []Sample{
				{`torch.multiprocessing.spawn.ProcessExitedException: process 5 terminated with signal SIGKILL`, Fields{"local_rank": "5", "signal": "SIGKILL"}},
				{`Exception: process 0 terminated with signal SIGKILL`, Fields{"local_rank": "0", "signal": "SIGKILL"}},
			},
			NoMatch: []string{`torch.multiprocessing.spawn.ProcessExitedException: process 5 terminated with signal SIGTERM`},
		},
		{
			Name:    "spawn.sigbus",
			Needles: []string{" terminated with signal SIG"},
			Expr:    `process (?<local_rank>\d+) terminated with signal (?<signal>SIGBUS)`,
			Kind:    SHMExhausted, Role: Suspicion, Source: spawn,
			Match:   []Sample{{`torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal SIGBUS`, Fields{"local_rank": "2", "signal": "SIGBUS"}}},
			NoMatch: []string{`process 2 terminated with signal SIGSEGV`},
		},
		{
			Name:    "spawn.exited",
			Needles: []string{" terminated with signal SIG", " terminated with exit code ", " terminated with the following error"},
			Expr:    `[Pp]rocess (?<local_rank>\d+) terminated with (?:signal (?!SIGKILL|SIGBUS)(?<signal>SIG\w{1,12})|exit code (?!137\b)(?<exitcode>-?\d+)|the following error)`,
			Kind:    ProcessExit, Role: Consequence, Source: spawn,
			Match: []Sample{
				{`torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with exit code 1`, Fields{"local_rank": "1", "exitcode": "1"}},
				{`torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGABRT`, Fields{"local_rank": "0", "signal": "SIGABRT"}},
				{`-- Process 3 terminated with the following error:`, Fields{"local_rank": "3"}},
			},
			NoMatch: []string{`process 5 terminated with signal SIGKILL`},
		},
		{
			// Printed for every sibling that was still healthy.
			Name:    "deepspeed.killing",
			Needles: []string{"Killing subprocess ", " received SIGTERM, exiting", " received SIGINT, exiting"},
			Expr:    `(?:Killing subprocess (?<pid>\d+)\s*$|Main process received (?<signal>SIG\w{1,12}), exiting)`,
			Kind:    ProcessExit, Role: Consequence, Set: map[string]string{"reason": "launcher"}, Source: deepspeed,
			Match: []Sample{
				{`Killing subprocess 97`, Fields{"pid": "97", "reason": "launcher"}},
				{`Main process received SIGTERM, exiting`, Fields{"signal": "SIGTERM", "reason": "launcher"}},
			},
			NoMatch: []string{`Killing subprocess group`},
		},
		{
			Name:    "deepspeed.sigkill",
			Needles: []string{"exits with return code = ", "ssh exited with exit code "},
			Expr:    `(?:exits with return code = (?<exitcode>-9|137)|(?<![\w.-])(?<node>[\w.-]{1,253}): ssh exited with exit code (?<exitcode>137))(?!\d)`,
			Kind:    OOMKill, Role: Suspicion, Source: deepspeed + "; pdsh",
			Match: []Sample{
				{`['/usr/bin/python3', '-u', 'train.py', '--local_rank=7'] exits with return code = -9`, Fields{"exitcode": "-9"}},
				{`pdsh@gpu-01: gpu-02: ssh exited with exit code 137`, Fields{"exitcode": "137", "node": "gpu-02"}},
			},
			NoMatch: []string{`['/usr/bin/python3', '-u', 'train.py'] exits with return code = 1`},
		},
		{
			Name:    "deepspeed.exited",
			Needles: []string{"exits with return code = ", "ssh exited with exit code "},
			Expr:    `(?:exits with return code = (?!-9\b|137\b|0\b)(?<exitcode>-?\d+)|(?<![\w.-])(?<node>[\w.-]{1,253}): ssh exited with exit code (?!137\b|0\b)(?<exitcode>\d+))`,
			Kind:    ProcessExit, Role: Consequence, Source: deepspeed + "; pdsh",
			Match: []Sample{
				{`['/usr/bin/python3', '-u', 'train.py', '--local_rank=7'] exits with return code = 1`, Fields{"exitcode": "1"}},
				{`pdsh@gpu-01: gpu-02: ssh exited with exit code 1`, Fields{"exitcode": "1", "node": "gpu-02"}},
			},
			NoMatch: []string{`Process 4411 exits with return code = 0`, `['python', 'train.py'] exits with return code = -9`},
		},
		{
			Name:    "python.child_sigkill",
			Needles: []string{"<Signals.SIGKILL: 9>", "returned non-zero exit status "},
			Expr:    `(?:died with <Signals\.(?<signal>SIGKILL): 9>|returned non-zero exit status (?<exitcode>137|-9)\b)`,
			Kind:    OOMKill, Role: Suspicion, Source: subprocess,
			Match: []Sample{
				{`subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGKILL: 9>.`, Fields{"signal": "SIGKILL"}},
				{`subprocess.CalledProcessError: Command 'bash run.sh' returned non-zero exit status 137.`, Fields{"exitcode": "137"}},
			},
			NoMatch: []string{`subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGABRT: 6>.`},
		},
		{
			Name:    "python.child_sigbus",
			Needles: []string{"<Signals.SIGBUS: "},
			Expr:    `died with <Signals\.(?<signal>SIGBUS): \d+>`,
			Kind:    SHMExhausted, Role: Suspicion, Source: subprocess,
			Match:   []Sample{{`subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGBUS: 7>.`, Fields{"signal": "SIGBUS"}}},
			NoMatch: []string{`died with <Signals.SIGKILL: 9>.`},
		},
		{
			Name:    "python.child_exited",
			Needles: []string{"died with <Signals.SIG", "returned non-zero exit status "},
			Expr:    `(?:'--local_rank=(?<local_rank>\d{1,4})'.{0,800}?)?(?:died with <Signals\.(?!SIGKILL|SIGBUS)(?<signal>SIG\w{1,12}): \d+>|returned non-zero exit status (?!137\b|-9\b)(?<exitcode>-?\d+))`,
			Kind:    ProcessExit, Role: Consequence, Source: subprocess,
			Match: []Sample{
				{`subprocess.CalledProcessError: Command '['/opt/conda/bin/python', '-u', 'train.py']' returned non-zero exit status 1.`, Fields{"exitcode": "1"}},
				{`subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGABRT: 6>.`, Fields{"signal": "SIGABRT"}},
				{
					`subprocess.CalledProcessError: Command '['/usr/bin/python', '-u', 'train.py', '--local_rank=3', '--seed', '0']' returned non-zero exit status 1.`,
					Fields{"exitcode": "1", "local_rank": "3"},
				},
			},
			NoMatch: []string{`returned non-zero exit status 137.`},
		},
	}
}

// mpiPatterns are Open MPI, PRRTE, MPICH and Intel MPI. Open MPI 4 prints PID 0 where it does not know.
func mpiPatterns() []Pattern {
	const openmpi = "Open MPI 1.4-5.0 orte/tools/orterun/help-orterun.txt, PRRTE"
	const hydra = "MPICH and Intel MPI src/pm/hydra/pm/pmiserv"
	return []Pattern{
		{
			Name:    "mpi.sigkill",
			Needles: []string{" noticed that process rank "},
			Expr:    `noticed that process rank (?<rank>\d+) with PID (?:0\b|(?<pid>\d+)) on node (?<node>\S{1,253}) exited on signal (?<signal>9)\b`,
			Kind:    OOMKill, Role: Suspicion, Source: openmpi,
			Match: []Sample{
				{`mpirun noticed that process rank 4 with PID 21183 on node host01 exited on signal 9 (Killed).`, Fields{"rank": "4", "pid": "21183", "node": "host01", "signal": "9"}},
				{`prterun noticed that process rank 0 with PID 0 on node gpu-3 exited on signal 9 (Killed).`, Fields{"rank": "0", "node": "gpu-3", "signal": "9"}},
			},
			NoMatch: []string{`mpirun noticed that process rank 0 with PID 636 on node fl98 exited on signal 11 (Segmentation fault).`},
		},
		{
			Name:    "mpi.signal",
			Needles: []string{" noticed that process rank "},
			Expr:    `noticed that process rank (?<rank>\d+) with PID (?:0\b|(?<pid>\d+)) on node (?<node>\S{1,253}) exited on signal (?!9\b)(?<signal>\d+)`,
			Kind:    ProcessExit, Role: Consequence, Source: openmpi,
			Match: []Sample{{`mpiexec noticed that process rank 0 with PID 636 on node fl98 exited on signal 11 (Segmentation fault).`, Fields{"rank": "0", "pid": "636", "node": "fl98", "signal": "11"}}},
		},
		{
			Name:    "hydra.sigkill",
			Needles: []string{"KILLED BY SIGNAL: ", "=   EXIT CODE: ", "EXIT STRING: "},
			Expr:    `(?:KILLED BY SIGNAL: (?<signal>9)\b|EXIT STRING: Killed \(signal (?<signal>9)\)|=   EXIT CODE: (?<exitcode>9|137)\s*$)`,
			Kind:    OOMKill, Role: Suspicion, Source: hydra,
			Match: []Sample{
				{`=   KILLED BY SIGNAL: 9 (Killed)`, Fields{"signal": "9"}},
				{`=   EXIT CODE: 9`, Fields{"exitcode": "9"}},
				{`YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)`, Fields{"signal": "9"}},
			},
			NoMatch: []string{`=   EXIT CODE: 1`, `=   KILLED BY SIGNAL: 11 (Segmentation fault)`, `Process killed by signal: 9 (SIGKILL)`},
		},
		{
			Name:    "hydra.where",
			Needles: []string{" RUNNING AT "},
			Expr:    `=   (?:RANK (?<rank>\d+) )?PID (?<pid>\d+) RUNNING AT (?<node>\S{1,253})`,
			Kind:    OOMKill, Role: Detail, Source: hydra,
			Match: []Sample{
				{`=   RANK 3 PID 1234 RUNNING AT c001-001`, Fields{"rank": "3", "pid": "1234", "node": "c001-001"}},
				{`=   PID 5490 RUNNING AT gn59`, Fields{"pid": "5490", "node": "gn59"}},
			},
		},
	}
}
