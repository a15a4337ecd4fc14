package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// shellPatterns are what shells print about their children: bash, dash, zsh, fish, GNU time and make, and the last
// words of a process about its own signal.
//
// A shell names the signal and never its sender. The words follow the shell's locale.
func shellPatterns() []pattern.Pattern {
	const (
		bash   = "bash 3-5 jobs.c; slurmd runs the batch script as .../slurm_script"
		killed = `(?:Killed|已杀死|Getötet|強制終了|Processus arrêté|Terminado \(killed\)|Ucciso|Убито)` // bash's po/*.po
		line   = `(?:line|Zeile|ligne|línea|linha|riga|строка)`
	)
	return []pattern.Pattern{
		{
			Name:     "shell.killed",
			Literals: []string{"Killed", " 已杀死", " Getötet", " 強制終了", " Processus arrêté", "Terminado (killed)", " Ucciso", " Убито"},
			Expr: `(?:: *|：)(?=\d+:? ` + killed + `)(?<=(?:: ` + line + ` \d+ ?|[:：] ?第 ?\d+ ?行|^[^\s:]{1,200}\[\d+\]|^[^\s:]{1,200}: \d+)(?:: *|：))` + // in this order: few texts get as far
				`(?<pid>\d+):? ` + killed + `(?: +(?<cmd>\S.{0,300}))?`,
			Kind: parser.OOMKill, Role: parser.Suspicion, Set: map[string]string{"signal": "SIGKILL"}, Source: bash + "; ksh",
			Match: []pattern.Sample{
				{
					Line: `/var/spool/slurmd/job00004/slurm_script: line 9:  7582 Killed                  python3 train.py --lr 1 > server.log 2>&1`,
					Want: parser.Fields{"pid": "7582", "cmd": "python3 train.py --lr 1 > server.log 2>&1"},
				},
				{Line: `bash: line 1: 4242 Killed                  python train.py`, Want: parser.Fields{"pid": "4242", "cmd": "python train.py"}},
				{Line: `run.sh: line 28: 20011 Killed`, Want: parser.Fields{"pid": "20011"}},
				{Line: `run.sh: Zeile 28: 20011 Getötet                  python train.py`, Want: parser.Fields{"pid": "20011", "cmd": "python train.py"}},
				{Line: `run.sh: ligne 28 : 20011 Processus arrêté        python train.py`, Want: parser.Fields{"pid": "20011", "cmd": "python train.py"}},
				{Line: `run.sh: 第 28 行：20011 已杀死               python train.py`, Want: parser.Fields{"pid": "20011", "cmd": "python train.py"}},
			},
			NoMatch: []string{
				`/var/spool/slurmd/job00010/slurm_script: line 5: 23433 Aborted                 ./a.out`,
				`Killing subprocess 7582`, `srun: error: n1: task 3: Killed`,
			},
		},
		{
			// The other members of a pipeline follow on lines of their own, indented.
			Name:     "shell.killed_pipeline",
			Literals: []string{" Killed  "},
			Expr:     `^\s+(?<pid>\d{1,9}) Killed {4,}(?:\| )?(?<cmd>\S.{0,300})`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Set: map[string]string{"signal": "SIGKILL"}, Source: bash,
			Match:   []pattern.Sample{{Line: `      20012 Killed                  | python train.py`, Want: parser.Fields{"pid": "20012", "cmd": "python train.py"}}},
			NoMatch: []string{`     42 Killed by patience`},
		},
		{
			Name:     "shell.killed_job",
			Literals: []string{" killed  ", " Killed  ", "zsh: killed ", "terminated by signal SIGKILL"},
			Expr:     `(?:\[\d{1,4}\][ +-]{1,8}(?:(?<pid>\d+) )?[Kk]illed {2,}(?<cmd>\S.{0,300})|zsh: killed +(?<cmd>\S.{0,300})|fish: (?:Job \d+, )?.{0,300}terminated by signal SIGKILL)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Set: map[string]string{"signal": "SIGKILL"},
			Source: "job control of bash, zsh and fish",
			Match: []pattern.Sample{
				{Line: `[1]+  Killed                  python train.py`, Want: parser.Fields{"cmd": "python train.py"}},
				{Line: `[1]  + 12345 killed     python train.py`, Want: parser.Fields{"pid": "12345", "cmd": "python train.py"}},
				{Line: `zsh: killed     python train.py`, Want: parser.Fields{"cmd": "python train.py"}},
				{Line: `fish: Job 1, 'python train.py' terminated by signal SIGKILL (Forced quit)`},
			},
			NoMatch: []string{`early stopping: killed by patience`, `[3] was killed`},
		},
		{
			Name:     "shell.killed_bare",
			Literals: []string{"Killed"},
			Expr:     `^\s*Killed(?: \(core dumped\))?\s*$`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Set: map[string]string{"signal": "SIGKILL"},
			Source:  "dash, busybox, interactive bash: the whole line",
			Match:   lines(`Killed`),
			NoMatch: []string{`Killed by user`, `Successfully Killed`, `Killed process 12 (python)`},
		},
		{
			Name: "shell.terminated_by_9",
			Literals: []string{
				"Command terminated by signal 9", "interrupted by signal 9", "] Killed", "] Error 137",
			},
			Expr: `(?:Command terminated by signal (?<signal>9)\b|interrupted by signal (?<signal>9)\b|^(?:\S*make)(?:\[\d+\])?: \*\*\* \[[^\]]{1,200}\] (?:Killed|Error (?<exitcode>137)))`,
			Kind: parser.OOMKill, Role: parser.Suspicion,
			Source: "GNU time 1.7-1.9, JetBrains consoles, GNU make",
			Match: []pattern.Sample{
				{Line: `Command terminated by signal 9`, Want: parser.Fields{"signal": "9"}},
				{Line: `Process finished with exit code 137 (interrupted by signal 9: SIGKILL)`, Want: parser.Fields{"signal": "9"}},
				{Line: `make: *** [Makefile:12: train] Killed`},
				{Line: `make[1]: *** [train] Error 137`, Want: parser.Fields{"exitcode": "137"}},
			},
			NoMatch: []string{`make: *** [Makefile:12: train] Error 1`},
			Also:    []string{"kubernetes.exit_137"},
		},
		{
			Name:     "gunicorn.killed",
			Literals: []string{") was sent SIGKILL! Perhaps out of memory?", " was terminated due to signal 9"},
			Expr:     `^Worker (?:\(pid:(?<pid>\d{1,10})\) was sent SIGKILL! Perhaps out of memory\?|with pid (?<pid>\d{1,10}) was terminated due to signal (?<signal>9)\b)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: "gunicorn 20.1-23, gunicorn/arbiter.py reap_workers",
			Match: []pattern.Sample{
				{Line: "Worker (pid:2977) was sent SIGKILL! Perhaps out of memory?", Want: parser.Fields{"pid": "2977"}},
				{Line: "Worker with pid 55 was terminated due to signal 9", Want: parser.Fields{"pid": "55", "signal": "9"}},
			},
			NoMatch: []string{"Worker (pid:3005) was sent code 134!", "Worker with pid 55 was terminated due to signal 15"},
		},
		{
			Name:     "celery.killed",
			Literals: []string{"exited prematurely: signal 9", " exited with 'signal 9 "},
			Expr:     `Worker exited prematurely: signal (?<signal>9)\b|\bProcess '[^']{1,80}' pid:(?<pid>\d{1,10}) exited with 'signal (?<signal>9) \(SIGKILL\)'`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: "billiard 3-4, billiard/pool.py; celery, celery/concurrency/asynpool.py",
			Match: []pattern.Sample{
				{Line: "billiard.exceptions.WorkerLostError: Worker exited prematurely: signal 9 (SIGKILL) Job: 0.", Want: parser.Fields{"signal": "9"}},
				{Line: "Process 'ForkPoolWorker-1' pid:109 exited with 'signal 9 (SIGKILL)'", Want: parser.Fields{"pid": "109", "signal": "9"}},
			},
			NoMatch: []string{"billiard.exceptions.WorkerLostError: Worker exited prematurely: signal 15 (SIGTERM) Job: 11."},
		},
		{
			Name:     "airflow.killed",
			Literals: []string{"Task exited with return code ", `signal_name="SIGKILL"`},
			Expr:     `\bTask exited with return code (?:Negsignal\.SIGKILL|-9)\b|\bProcess terminated by signal\. .{0,400}signal_name="SIGKILL"`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Set: map[string]string{"signal": "SIGKILL"},
			Source: "Airflow 1.10-3, jobs/local_task_job_runner.py, sdk/execution_time/supervisor.py",
			Match: lines(
				"Task exited with return code Negsignal.SIGKILL",
				"Task exited with return code -9. For more information, see https://airflow.apache.org/docs/apache-airflow/stable/troubleshooting.html#LocalTaskJob-killed",
				`Process terminated by signal. For more information, see https://airflow.apache.org/docs/apache-airflow/stable/troubleshooting.html#TaskRunner-killed: signal=-9: signal_name="SIGKILL": source="task"`,
			),
			NoMatch: []string{"Task exited with return code 1"},
		},
		{
			// It aborts the worker, then kills it.
			Name:     "gunicorn.timeout",
			Literals: []string{"WORKER TIMEOUT (pid:"},
			Expr:     `^WORKER TIMEOUT \(pid:(?<pid>\d{1,10})\)`,
			Kind:     parser.JobCancelled, Role: parser.Context, Set: map[string]string{"reason": "time_limit"},
			Source: "gunicorn 0.9-23, gunicorn/arbiter.py murder_workers",
			Match:  []pattern.Sample{{Line: "WORKER TIMEOUT (pid:2976)", Want: parser.Fields{"pid": "2976"}}},
		},
		{
			// A page behind a mapping was not there: /dev/shm is full, or the file was cut or lost under the process.
			Name:     "shell.bus_error",
			Literals: []string{"Bus error", "bus error", "SIGBUS received at time="},
			Expr:     `(?:: line \d+: +(?<pid>\d+):? Bus error(?: \(core dumped\)| {2,}|\s*$)|^\s*Bus error(?: \(core dumped\))?\s*$|zsh: bus error |Fatal Python error: Bus error|\*\*\* SIGBUS received at time=)`,
			Kind:     parser.SHMExhausted, Role: parser.Suspicion, Set: map[string]string{"signal": "SIGBUS"},
			Source: "bash, dash, zsh; CPython faulthandler; absl",
			Match: []pattern.Sample{
				{Line: `/home/u/run.sh: line 12: 33412 Bus error               (core dumped) python train.py`, Want: parser.Fields{"pid": "33412"}},
				{Line: `Bus error (core dumped)`},
				{Line: `Fatal Python error: Bus error`},
			},
			NoMatch: []string{
				`srun: error: n1: task 0: Bus error`,
			},
		},
		{
			Name: "shell.signal",
			Literals: []string{
				" Terminated", " Aborted", " Segmentation fault", " Floating point exception", " Illegal instruction", "Hangup", " Interrupt",
				" Trace/breakpoint trap", "Command terminated by signal ",
			},
			Expr: `(?:: line \d+: +(?<pid>\d+):? (?<signal>Terminated|Aborted|Segmentation fault|Floating point exception|Illegal instruction|Hangup|Interrupt|Trace/breakpoint trap)(?: +(?:\(core dumped\) *)?(?<cmd>\S.{0,300}))?|Command terminated by signal (?!9\b)(?<signal>\d+))`,
			Kind: parser.ProcessExit, Role: parser.Consequence, Source: bash + "; GNU time",
			Match: []pattern.Sample{
				{Line: `/var/spool/slurmd/job00010/slurm_script: line 5: 23433 Aborted                 ./badalloc`, Want: parser.Fields{"pid": "23433", "signal": "Aborted", "cmd": "./badalloc"}},
				{Line: `run.sh: line 8: 612 Segmentation fault      (core dumped) python train.py`, Want: parser.Fields{"pid": "612", "signal": "Segmentation fault", "cmd": "python train.py"}},
				{Line: `Command terminated by signal 15`, Want: parser.Fields{"signal": "15"}},
			},
			NoMatch: []string{`run.sh: line 28: 20011 Killed                  python train.py`},
		},
		{
			Name:     "shell.signal_bare",
			Literals: []string{"Terminated", "Aborted (core dumped)", "Segmentation fault", "Fatal Python error: ", " received at time="},
			Expr:     `(?:^\s*(?<signal>Terminated|Aborted|Segmentation fault)(?: \(core dumped\))?\s*$|Fatal Python error: (?<signal>Aborted|Segmentation fault|Floating point exception|Illegal instruction)|\*\*\* (?<signal>SIG(?!BUS)\w{1,12}) received at time=)`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: "dash, interactive bash; CPython faulthandler; absl",
			Match: []pattern.Sample{
				{Line: `Segmentation fault (core dumped)`, Want: parser.Fields{"signal": "Segmentation fault"}},
				{Line: `Fatal Python error: Aborted`, Want: parser.Fields{"signal": "Aborted"}},
				{Line: `*** SIGABRT received at time=1756858245 on cpu 41 ***`, Want: parser.Fields{"signal": "SIGABRT"}},
			},
			NoMatch: []string{`Terminated workers: 3`},
		},
		{
			// What an uncaught C++ exception was is said by the next line or by the pattern of that exception.
			Name:     "cpp.terminate",
			Literals: []string{"terminate called after throwing an instance of '", "terminate called without an active exception"},
			Expr:     `terminate called (?:without an active exception|after throwing an instance of '(?!c10::DistBackendError|gloo::|[^']{0,100}(?:bad_alloc|out_of_memory|OutOfMemory))(?<reason>[^']{1,120})')`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: "libstdc++ vterminate.cc",
			Match: []pattern.Sample{
				{Line: `terminate called after throwing an instance of 'std::runtime_error'`, Want: parser.Fields{"reason": "std::runtime_error"}},
				{Line: `terminate called after throwing an instance of 'c10::Error'`, Want: parser.Fields{"reason": "c10::Error"}},
				{Line: `terminate called without an active exception`},
			},
			NoMatch: []string{
				`terminate called after throwing an instance of 'rmm::out_of_memory'`,
			},
		},
	}
}
