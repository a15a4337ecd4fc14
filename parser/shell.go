package parser

// shellPatterns are what shells print about their children: bash, dash, zsh, fish, GNU time and make, and the last
// words of a process about its own signal.
//
// A shell names the signal and never its sender. The words follow the shell's locale.
func shellPatterns() []Pattern {
	const bash = "bash 3-5 jobs.c; slurmd runs the batch script as .../slurm_script"
	return []Pattern{
		{
			Name:    "shell.killed",
			Needles: []string{"Killed", " 已杀死", " Getötet", " 強制終了"},
			Expr: `: +(?=\d+:? (?:Killed|已杀死|Getötet|強制終了))(?<=(?:: line \d+|^[^\s:]{1,200}\[\d+\]|^[^\s:]{1,200}: \d+): +)` + // in this order: few texts get as far
				`(?<pid>\d+):? (?:Killed|已杀死|Getötet|強制終了)(?: +(?<cmd>\S.{0,300}))?`,
			Kind: OOMKill, Role: Suspicion, Set: map[string]string{"signal": "SIGKILL"}, Source: bash + "; ksh",
			Match: []Sample{
				{
					`/var/spool/slurmd/job00004/slurm_script: line 9:  7582 Killed                  python3 train.py --lr 1 > server.log 2>&1`,
					Fields{"pid": "7582", "cmd": "python3 train.py --lr 1 > server.log 2>&1", "signal": "SIGKILL"},
				},
				{`bash: line 1: 4242 Killed                  python train.py`, Fields{"pid": "4242", "cmd": "python train.py", "signal": "SIGKILL"}},
				{`run.sh: line 28: 20011 Killed`, Fields{"pid": "20011", "signal": "SIGKILL"}},
			},
			NoMatch: []string{
				`/var/spool/slurmd/job00010/slurm_script: line 5: 23433 Aborted                 ./a.out`,
				`Killing subprocess 7582`, `srun: error: n1: task 3: Killed`,
			},
		},
		{
			// The other members of a pipeline follow on lines of their own, indented.
			Name:    "shell.killed_pipeline",
			Needles: []string{" Killed  "},
			Expr:    `^\s+(?<pid>\d{1,9}) Killed {4,}(?:\| )?(?<cmd>\S.{0,300})`,
			Kind:    OOMKill, Role: Suspicion, Set: map[string]string{"signal": "SIGKILL"}, Source: bash,
			Match:   []Sample{{`      20012 Killed                  | python train.py`, Fields{"pid": "20012", "cmd": "python train.py", "signal": "SIGKILL"}}},
			NoMatch: []string{`     42 Killed by patience`},
		},
		{
			Name:    "shell.killed_job",
			Needles: []string{" killed  ", " Killed  ", "zsh: killed ", "terminated by signal SIGKILL"},
			Expr:    `(?:\[\d{1,4}\][ +-]{1,8}(?:(?<pid>\d+) )?[Kk]illed {2,}(?<cmd>\S.{0,300})|zsh: killed +(?<cmd>\S.{0,300})|fish: (?:Job \d+, )?.{0,300}terminated by signal SIGKILL)`,
			Kind:    OOMKill, Role: Suspicion, Set: map[string]string{"signal": "SIGKILL"},
			Source: "job control of bash, zsh and fish",
			Match: []Sample{
				{`[1]+  Killed                  python train.py`, Fields{"cmd": "python train.py", "signal": "SIGKILL"}},
				{`[1]  + 12345 killed     python train.py`, Fields{"pid": "12345", "cmd": "python train.py", "signal": "SIGKILL"}},
				{`zsh: killed     python train.py`, Fields{"cmd": "python train.py", "signal": "SIGKILL"}},
				{`fish: Job 1, 'python train.py' terminated by signal SIGKILL (Forced quit)`, Fields{"signal": "SIGKILL"}},
			},
			NoMatch: []string{`early stopping: killed by patience`, `[3] was killed`},
		},
		{
			Name:    "shell.killed_bare",
			Needles: []string{"Killed"},
			Expr:    `^\s*Killed(?: \(core dumped\))?\s*$`,
			Kind:    OOMKill, Role: Suspicion, Set: map[string]string{"signal": "SIGKILL"},
			Source:  "dash, busybox, interactive bash: the whole line",
			Match:   []Sample{{`Killed`, Fields{"signal": "SIGKILL"}}},
			NoMatch: []string{`Killed by user`, `Successfully Killed`, `Killed process 12 (python)`},
		},
		{
			Name: "shell.terminated_by_9",
			Needles: []string{
				"Command terminated by signal 9", "interrupted by signal 9", "] Killed", "] Error 137",
			},
			Expr: `(?:Command terminated by signal (?<signal>9)\b|interrupted by signal (?<signal>9)\b|^(?:\S*make)(?:\[\d+\])?: \*\*\* \[[^\]]{1,200}\] (?:Killed|Error (?<exitcode>137)))`,
			Kind: OOMKill, Role: Suspicion,
			Source: "GNU time 1.7-1.9, JetBrains consoles, GNU make",
			Match: []Sample{
				{`Command terminated by signal 9`, Fields{"signal": "9"}},
				{`Process finished with exit code 137 (interrupted by signal 9: SIGKILL)`, Fields{"signal": "9"}},
				{`make: *** [Makefile:12: train] Killed`, Fields{}},
				{`make[1]: *** [train] Error 137`, Fields{"exitcode": "137"}},
			},
			NoMatch: []string{`Command terminated by signal 15`, `make: *** [Makefile:12: train] Error 1`},
			Also:    []string{"kubernetes.exit_137"},
		},
		{
			// A page behind a mapping was not there: /dev/shm is full, or the file was cut or lost under the process.
			Name:    "shell.bus_error",
			Needles: []string{"Bus error", "bus error", "SIGBUS received at time="},
			Expr:    `(?:: line \d+: +(?<pid>\d+):? Bus error(?: \(core dumped\)| {2,}|\s*$)|^\s*Bus error(?: \(core dumped\))?\s*$|zsh: bus error |Fatal Python error: Bus error|\*\*\* SIGBUS received at time=)`,
			Kind:    SHMExhausted, Role: Suspicion, Set: map[string]string{"signal": "SIGBUS"},
			Source: "bash, dash, zsh; CPython faulthandler; absl",
			Match: []Sample{
				{`/home/u/run.sh: line 12: 33412 Bus error               (core dumped) python train.py`, Fields{"pid": "33412", "signal": "SIGBUS"}},
				{`Bus error (core dumped)`, Fields{"signal": "SIGBUS"}},
				{`Fatal Python error: Bus error`, Fields{"signal": "SIGBUS"}},
			},
			NoMatch: []string{
				`ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).`,
				`srun: error: n1: task 0: Bus error`,
			},
		},
		{
			Name: "shell.signal",
			Needles: []string{
				" Terminated", " Aborted", " Segmentation fault", " Floating point exception", " Illegal instruction", "Hangup", " Interrupt",
				" Trace/breakpoint trap", "Command terminated by signal ",
			},
			Expr: `(?:: line \d+: +(?<pid>\d+):? (?<signal>Terminated|Aborted|Segmentation fault|Floating point exception|Illegal instruction|Hangup|Interrupt|Trace/breakpoint trap)(?: +(?:\(core dumped\) *)?(?<cmd>\S.{0,300}))?|Command terminated by signal (?!9\b)(?<signal>\d+))`,
			Kind: ProcessExit, Role: Consequence, Source: bash + "; GNU time",
			Match: []Sample{
				{`/var/spool/slurmd/job00010/slurm_script: line 5: 23433 Aborted                 ./badalloc`, Fields{"pid": "23433", "signal": "Aborted", "cmd": "./badalloc"}},
				{`run.sh: line 8: 612 Segmentation fault      (core dumped) python train.py`, Fields{"pid": "612", "signal": "Segmentation fault", "cmd": "python train.py"}},
				{`Command terminated by signal 15`, Fields{"signal": "15"}},
			},
			NoMatch: []string{`run.sh: line 28: 20011 Killed                  python train.py`, `Command terminated by signal 9`},
		},
		{
			Name:    "shell.signal_bare",
			Needles: []string{"Terminated", "Aborted (core dumped)", "Segmentation fault", "Fatal Python error: ", " received at time="},
			Expr:    `(?:^\s*(?<signal>Terminated|Aborted|Segmentation fault)(?: \(core dumped\))?\s*$|Fatal Python error: (?<signal>Aborted|Segmentation fault|Floating point exception|Illegal instruction)|\*\*\* (?<signal>SIG(?!BUS)\w{1,12}) received at time=)`,
			Kind:    ProcessExit, Role: Consequence,
			Source: "dash, interactive bash; CPython faulthandler; absl",
			Match: []Sample{
				{`Segmentation fault (core dumped)`, Fields{"signal": "Segmentation fault"}},
				{`Fatal Python error: Aborted`, Fields{"signal": "Aborted"}},
				{`*** SIGABRT received at time=1756858245 on cpu 41 ***`, Fields{"signal": "SIGABRT"}},
			},
			NoMatch: []string{`Terminated workers: 3`, `Fatal Python error: Bus error`},
		},
		{
			// What an uncaught C++ exception was is said by the next line or by the pattern of that exception.
			Name:    "cpp.terminate",
			Needles: []string{"terminate called after throwing an instance of '", "terminate called without an active exception"},
			Expr:    `terminate called (?:without an active exception|after throwing an instance of '(?!c10::DistBackendError|gloo::|[^']{0,100}(?:bad_alloc|out_of_memory|OutOfMemory))(?<reason>[^']{1,120})')`,
			Kind:    ProcessExit, Role: Consequence,
			Source: "libstdc++ vterminate.cc",
			Match: []Sample{
				{`terminate called after throwing an instance of 'std::runtime_error'`, Fields{"reason": "std::runtime_error"}},
				{`terminate called after throwing an instance of 'c10::Error'`, Fields{"reason": "c10::Error"}},
				{`terminate called without an active exception`, Fields{}},
			},
			NoMatch: []string{
				`terminate called after throwing an instance of 'std::bad_alloc'`,
				`terminate called after throwing an instance of 'rmm::out_of_memory'`,
				`terminate called after throwing an instance of 'c10::DistBackendError'`,
			},
		},
	}
}
