package messages

import (
	"slices"

	"oomscan/parser"
	"oomscan/parser/pattern"
)

// elasticPatterns are launchers that report how their children ended: torchrun and its older names, spawn, DeepSpeed,
// accelerate and subprocess, MPI.
//
// A child that died of SIGKILL is a suspicion of the OOM killer, unless the launcher says that the signal was its own
// (reason=launcher). A bus error is a suspicion of /dev/shm. Everything else follows from what the child printed.
var elasticPatterns = slices.Concat(
	by(torchrun, torchrunPatterns),
	by(pattern.Program{Name: "lightning", Child: "rank"}, lightningPatterns),
	by(pattern.Program{Name: "spawn", Framework: "torch"}, spawnPatterns),
	by(pattern.Program{Name: "deepspeed", Child: "local_rank"}, deepspeedDeaths),
	by(pattern.Program{Name: "python", Child: "local_rank"}, subprocessPatterns),
	by(pattern.Program{Name: "mpi", Child: "itself"}, mpiPatterns),
)

var torchrun = pattern.Program{Name: "elastic", Framework: "torch", Launcher: "torchrun", Child: "local_rank"}

// lightningPatterns are the launcher of Lightning's DDP strategy, which runs rank 0 itself.
func lightningPatterns() []pattern.Pattern {
	const src = "Lightning 2.x, lightning/fabric/strategies/launchers/subprocess_script.py"
	return []pattern.Pattern{
		{
			Name:     "lightning.child",
			Literals: []string{" Child process with PID "},
			Expr:     `rank: (?<rank>\d{1,6})\] Child process with PID (?<pid>\d{1,10}) terminated with code (?!-9\b|0\b)(?<exitcode>-?\d{1,5})`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: src,
			Match: []pattern.Sample{{
				Line: "[rank: 2] Child process with PID 3187 terminated with code 1. Forcefully terminating all other processes to avoid zombies 🧟",
				Want: parser.Fields{"rank": "2", "pid": "3187", "exitcode": "1"},
			}},
		},
		{
			Name:     "lightning.child_sigkill",
			Literals: []string{" Child process with PID "},
			Expr:     `rank: (?<rank>\d{1,6})\] Child process with PID (?<pid>\d{1,10}) terminated with code (?<exitcode>-9)\b`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: src,
			Match: []pattern.Sample{{
				Line: "[rank: 2] Child process with PID 3187 terminated with code -9. Forcefully terminating all other processes to avoid zombies 🧟",
				Want: parser.Fields{"rank": "2", "pid": "3187", "exitcode": "-9"},
			}},
		},
	}
}

// torchrunPatterns are torch.distributed.elastic and its failure block, line by line.
func torchrunPatterns() []pattern.Pattern {
	const elastic = "torch 1.9-2.11 torch/distributed/elastic/multiprocessing/api.py"
	const block = "torch 1.9-2.11 torch/distributed/elastic/multiprocessing/errors/__init__.py"
	return []pattern.Pattern{
		{
			Name:     "elastic.failed_sigkill",
			Literals: []string{"failed (exitcode: "},
			Expr:     `failed \(exitcode: (?<exitcode>-9|137)\)(?: local_rank: (?<local_rank>\d+) \(pid: (?<pid>\d+)\))?(?: of (?:binary|fn): (?<cmd>\S{1,300}))?`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: elastic,
			Match: []pattern.Sample{
				{Line: `failed (exitcode: -9) local_rank: 3 (pid: 41013) of binary: /opt/conda/bin/python`, Want: parser.Fields{"exitcode": "-9", "local_rank": "3", "pid": "41013", "cmd": "/opt/conda/bin/python"}},
				{Line: `failed (exitcode: 137) local_rank: 0 (pid: 77) of fn: train (start_method: spawn)`, Want: parser.Fields{"exitcode": "137", "local_rank": "0", "pid": "77", "cmd": "train"}},
			},
			NoMatch: []string{`failed (exitcode: 1) local_rank: 3 (pid: 41013) of binary: /opt/conda/bin/python`},
		},
		{
			Name:     "elastic.failed_sigbus",
			Literals: []string{"failed (exitcode: "},
			Expr:     `failed \(exitcode: (?<exitcode>-7|135)\)(?: local_rank: (?<local_rank>\d+) \(pid: (?<pid>\d+)\))?(?: of (?:binary|fn): (?<cmd>\S{1,300}))?`,
			Kind:     parser.SHMExhausted, Role: parser.Suspicion, Source: elastic,
			Match:   []pattern.Sample{{Line: `failed (exitcode: -7) local_rank: 1 (pid: 512) of binary: /usr/bin/python3`, Want: parser.Fields{"exitcode": "-7", "local_rank": "1", "pid": "512", "cmd": "/usr/bin/python3"}}},
			NoMatch: []string{`failed (exitcode: -6) local_rank: 1 (pid: 512) of binary: /usr/bin/python3`},
		},
		{
			Name:     "elastic.failed",
			GaveUp:   true,
			Literals: []string{"failed (exitcode: "},
			Expr:     `failed \(exitcode: (?!(?:-9|137|-7|135)\))(?<exitcode>-?\d+)\)(?: local_rank: (?<local_rank>\d+) \(pid: (?<pid>\d+)\))?(?: of (?:binary|fn): (?<cmd>\S{1,300}))?`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: elastic,
			Match: []pattern.Sample{
				{Line: `failed (exitcode: 1) local_rank: 1 (pid: 2988) of binary: /opt/conda/bin/python`, Want: parser.Fields{"exitcode": "1", "local_rank": "1", "pid": "2988", "cmd": "/opt/conda/bin/python"}},
				{Line: `failed (exitcode: -6) local_rank: 0 (pid: 50311) of binary: /opt/conda/bin/python`, Want: parser.Fields{"exitcode": "-6", "local_rank": "0", "pid": "50311", "cmd": "/opt/conda/bin/python"}},
			},
		},
		{
			Name:     "elastic.exitcode_sigkill",
			Literals: []string{"exitcode  :", "exitcode :", "exitcode:"},
			Expr:     `exitcode {0,8}: (?<exitcode>-9|137) \(pid: (?<pid>\d+)\)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: block,
			Match: []pattern.Sample{
				{Line: `  exitcode  : -9 (pid: 41)`, Want: parser.Fields{"exitcode": "-9", "pid": "41"}},
				{Line: `  exitcode: -9 (pid: 4802)`, Want: parser.Fields{"exitcode": "-9", "pid": "4802"}},
			},
			NoMatch: []string{`  exitcode  : 1 (pid: 41)`},
		},
		{
			Name:     "elastic.exitcode_sigbus",
			Literals: []string{"exitcode  :", "exitcode :", "exitcode:"},
			Expr:     `exitcode {0,8}: (?<exitcode>-7|135) \(pid: (?<pid>\d+)\)`,
			Kind:     parser.SHMExhausted, Role: parser.Suspicion, Source: block,
			Match:   []pattern.Sample{{Line: `  exitcode  : -7 (pid: 41)`, Want: parser.Fields{"exitcode": "-7", "pid": "41"}}},
			NoMatch: []string{`  exitcode  : 7 (pid: 41)`},
		},
		{
			Name:     "elastic.exitcode",
			Literals: []string{"exitcode  :", "exitcode :", "exitcode:"},
			Expr:     `exitcode {0,8}: (?!(?:-9|137|-7|135|0) )(?<exitcode>-?\d+) \(pid: (?<pid>\d+)\)`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: block,
			Match: []pattern.Sample{
				{Line: `  exitcode  : 1 (pid: 1863)`, Want: parser.Fields{"exitcode": "1", "pid": "1863"}},
				{Line: `  exitcode  : -6 (pid: 291044)`, Want: parser.Fields{"exitcode": "-6", "pid": "291044"}},
			},
			NoMatch: []string{`  exitcode  : 0 (pid: 41)`},
		},
		{
			Name:     "elastic.received_sigkill",
			Literals: []string{" received by PID "},
			Expr:     `Signal 9 \((?<signal>SIGKILL)\) received by PID (?<pid>\d+)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: block,
			Match:   []pattern.Sample{{Line: `  traceback : Signal 9 (SIGKILL) received by PID 41`, Want: parser.Fields{"signal": "SIGKILL", "pid": "41"}}},
			NoMatch: []string{`  traceback : Signal 6 (SIGABRT) received by PID 41`},
		},
		{
			Name:     "elastic.received_sigbus",
			Literals: []string{" received by PID "},
			Expr:     `Signal \d+ \((?<signal>SIGBUS)\) received by PID (?<pid>\d+)`,
			Kind:     parser.SHMExhausted, Role: parser.Suspicion, Source: block,
			Match: []pattern.Sample{{Line: `  traceback : Signal 7 (SIGBUS) received by PID 41`, Want: parser.Fields{"signal": "SIGBUS", "pid": "41"}}},
		},
		{
			Name:     "elastic.received",
			Literals: []string{" received by PID "},
			Expr:     `Signal \d+ \((?!SIGKILL|SIGBUS)(?<signal>SIG\w{1,12})\) received by PID (?<pid>\d+)`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: block,
			Match: []pattern.Sample{{Line: `  traceback : Signal 6 (SIGABRT) received by PID 50311`, Want: parser.Fields{"signal": "SIGABRT", "pid": "50311"}}},
		},
		{
			// Sent to the healthy siblings of the one that failed.
			Name:     "elastic.closing",
			Literals: []string{" closing signal SIG", " via signal SIG"},
			Expr:     `(?:Sending process (?<pid>\d+) closing signal|(?:Closing|Terminating) process (?<pid>\d+) via signal) (?<signal>SIG\w{1,12})`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Set: map[string]string{"reason": "launcher"},
			Source: elastic + "; torch/multiprocessing/spawn.py; nvidia-resiliency-ext",
			Match: []pattern.Sample{
				{Line: `Sending process 291047 closing signal SIGTERM`, Want: parser.Fields{"pid": "291047", "signal": "SIGTERM"}},
				{Line: `Terminating process 311 via signal SIGTERM`, Want: parser.Fields{"pid": "311", "signal": "SIGTERM"}},
			},
		},
		{
			// The SIGKILL is the launcher's own: the exit status -9 of this pid says nothing about memory.
			Name:     "elastic.forced",
			Literals: []string{"forcefully exit"},
			Expr:     `Unable to shutdown process(?:es)?(?: (?<pid>\d+))? via (?:Signals\.)?\w{1,10} ?, forcefully exitt?ing via (?:Signals\.)?(?<signal>\w{1,10})`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Set: map[string]string{"reason": "launcher"},
			Source: elastic + "; torch/multiprocessing/spawn.py (blank before the comma)",
			Match: []pattern.Sample{
				{Line: `Unable to shutdown process 291041 via 15, forcefully exiting via 9`, Want: parser.Fields{"pid": "291041", "signal": "9"}},
				{Line: `Unable to shutdown process 88 via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL`, Want: parser.Fields{"pid": "88", "signal": "SIGKILL"}},
				{Line: `Unable to shutdown process 88 via SIGTERM , forcefully exiting via SIGKILL`, Want: parser.Fields{"pid": "88", "signal": "SIGKILL"}},
				{Line: `Unable to shutdown processes via 15, forcefully exitting via 9`, Want: parser.Fields{"signal": "9"}},
			},
		},
		{
			// The agent itself was told to end: by scancel, a preemption, a closed terminal, or a kill of the whole step.
			Name:     "elastic.death_signal",
			Literals: []string{" death signal, shutting down workers", ".SignalException: "},
			Expr:     `(?:Received (?:Signals\.)?(?<signal>\w{1,10}) death signal, shutting down workers|SignalException: Process (?<pid>\d+) got signal: (?<signal>\d+))`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Set: map[string]string{"reason": "signal"},
			Source: "torch 1.9-2.11 torch/distributed/elastic/agent/server/api.py, multiprocessing/api.py",
			Match: []pattern.Sample{
				{Line: `Received Signals.SIGTERM death signal, shutting down workers`, Want: parser.Fields{"signal": "SIGTERM"}},
				{Line: `Received 15 death signal, shutting down workers`, Want: parser.Fields{"signal": "15"}},
				{Line: `torch.distributed.elastic.multiprocessing.api.SignalException: Process 88120 got signal: 15`, Want: parser.Fields{"pid": "88120", "signal": "15"}},
			},
		},
		{
			Name:     "elastic.child_failed",
			Ends:     true,
			Literals: []string{"errors.ChildFailedError", "elastic.rendezvous.api.Rendezvous"},
			Expr:     `(?:errors\.ChildFailedError|elastic\.rendezvous\.api\.Rendezvous\w{1,30}Error)(?::|\s*$)`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: "torch 1.9-2.11 torch/distributed/launcher/api.py, elastic/rendezvous/api.py",
			Match: lines(
				`torch.distributed.elastic.multiprocessing.errors.ChildFailedError: `,
				`torch.distributed.elastic.rendezvous.api.RendezvousClosedError`,
			),
			NoMatch: []string{`    raise ChildFailedError(`, `from torch.distributed.elastic.multiprocessing.errors import ChildFailedError`},
		},
		{
			Name:     "elastic.restart",
			Literals: []string{"will restart worker group", "restart_count="},
			Expr:     `(?:(?:attempts left; ?|from group_rank=\d+; ?)will restart worker group|^\s*restart_count=(?<count>[1-9]\d*)\s*$)`,
			Kind:     parser.Restart, Role: parser.Context,
			Source: "torch 1.9-2.11 torch/distributed/elastic/agent/server/api.py; DLRover",
			Match: []pattern.Sample{
				{Line: `[default] Worker group FAILED. 1/1 attempts left; will restart worker group`},
				{Line: `[default] Detected 1 new nodes from group_rank=0; will restart worker group`},
				{Line: `  restart_count=1`, Want: parser.Fields{"count": "1"}},
			},
			NoMatch: []string{`  restart_count=0`, `  max_restarts     : 1`},
		},
	}
}

// spawnPatterns are those of torch.multiprocessing.spawn.
func spawnPatterns() []pattern.Pattern {
	const spawn = "torch 1.4-2.11 torch/multiprocessing/spawn.py; the index is the process's, 0 to nprocs-1"
	return []pattern.Pattern{
		{
			Name:     "spawn.sigkill",
			Literals: []string{" terminated with signal SIG", " terminated with exit code "},
			Expr:     `process (?<local_rank>\d+) terminated with (?:signal (?<signal>SIGKILL)|exit code (?<exitcode>137)\b)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: spawn,
			Match: []pattern.Sample{
				{Line: `torch.multiprocessing.spawn.ProcessExitedException: process 5 terminated with signal SIGKILL`, Want: parser.Fields{"local_rank": "5", "signal": "SIGKILL"}},
				{Line: `Exception: process 0 terminated with signal SIGKILL`, Want: parser.Fields{"local_rank": "0", "signal": "SIGKILL"}},
			},
			NoMatch: []string{`torch.multiprocessing.spawn.ProcessExitedException: process 5 terminated with signal SIGTERM`},
		},
		{
			Name:     "spawn.sigbus",
			Literals: []string{" terminated with signal SIG"},
			Expr:     `process (?<local_rank>\d+) terminated with signal (?<signal>SIGBUS)`,
			Kind:     parser.SHMExhausted, Role: parser.Suspicion, Source: spawn,
			Match:   []pattern.Sample{{Line: `torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal SIGBUS`, Want: parser.Fields{"local_rank": "2", "signal": "SIGBUS"}}},
			NoMatch: []string{`process 2 terminated with signal SIGSEGV`},
		},
		{
			Name:     "spawn.exited",
			Literals: []string{" terminated with signal SIG", " terminated with exit code ", " terminated with the following error"},
			Expr:     `[Pp]rocess (?<local_rank>\d+) terminated with (?:signal (?!SIGKILL|SIGBUS)(?<signal>SIG\w{1,12})|exit code (?!137\b)(?<exitcode>-?\d+)|the following error)`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: spawn,
			Match: []pattern.Sample{
				{Line: `torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with exit code 1`, Want: parser.Fields{"local_rank": "1", "exitcode": "1"}},
				{Line: `torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGABRT`, Want: parser.Fields{"local_rank": "0", "signal": "SIGABRT"}},
				{Line: `-- Process 3 terminated with the following error:`, Want: parser.Fields{"local_rank": "3"}},
			},
			NoMatch: []string{`process 5 terminated with signal SIGKILL`},
		},
	}
}

// subprocessPatterns are those of Python's subprocess, which launchers start their processes with.
func subprocessPatterns() []pattern.Pattern {
	const subprocess = "CPython 3.5-3.14 Lib/subprocess.py CalledProcessError"
	return []pattern.Pattern{
		{
			Name:     "python.child_sigkill",
			Literals: []string{"<Signals.SIGKILL: 9>", "returned non-zero exit status "},
			Expr:     `(?:died with <Signals\.(?<signal>SIGKILL): 9>|returned non-zero exit status (?<exitcode>137|-9)\b)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: subprocess,
			Match: []pattern.Sample{
				{Line: `subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGKILL: 9>.`, Want: parser.Fields{"signal": "SIGKILL"}},
				{Line: `subprocess.CalledProcessError: Command 'bash run.sh' returned non-zero exit status 137.`, Want: parser.Fields{"exitcode": "137"}},
			},
		},
		{
			Name:     "python.child_sigbus",
			Literals: []string{"<Signals.SIGBUS: "},
			Expr:     `died with <Signals\.(?<signal>SIGBUS): \d+>`,
			Kind:     parser.SHMExhausted, Role: parser.Suspicion, Source: subprocess,
			Match:   []pattern.Sample{{Line: `subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGBUS: 7>.`, Want: parser.Fields{"signal": "SIGBUS"}}},
			NoMatch: []string{`died with <Signals.SIGKILL: 9>.`},
		},
		{
			Name:     "python.child_exited",
			Literals: []string{"died with <Signals.SIG", "returned non-zero exit status "},
			Expr:     `(?:'--local_rank=(?<local_rank>\d{1,4})'.{0,800}?)?(?:died with <Signals\.(?!SIGKILL|SIGBUS)(?<signal>SIG\w{1,12}): \d+>|returned non-zero exit status (?!137\b|-9\b)(?<exitcode>-?\d+))`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: subprocess,
			Match: []pattern.Sample{
				{Line: `subprocess.CalledProcessError: Command '['/opt/conda/bin/python', '-u', 'train.py']' returned non-zero exit status 1.`, Want: parser.Fields{"exitcode": "1"}},
				{Line: `subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGABRT: 6>.`, Want: parser.Fields{"signal": "SIGABRT"}},
				{
					Line: `subprocess.CalledProcessError: Command '['/usr/bin/python', '-u', 'train.py', '--local_rank=3', '--seed', '0']' returned non-zero exit status 1.`,
					Want: parser.Fields{"exitcode": "1", "local_rank": "3"},
				},
			},
			NoMatch: []string{`returned non-zero exit status 137.`},
		},
	}
}
