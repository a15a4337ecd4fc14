package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// slurmPatterns are Slurm's own words in a job's files, in sacct, scontrol and seff output, and in daemon logs.
//
// Nodes and tasks are as printed: "node[01-04]", "3,10-11". A job id is the job's own, never an array's ("17", where
// squeue says "15_2"), except in sacct tables, which print "15_2".
var slurmPatterns = by(
	pattern.Program{Name: "slurm", Launcher: "slurm", Scheduler: "slurm", Authority: pattern.Counted, Killer: "kernel"},
	slurmMemoryPatterns, slurmCancelPatterns, slurmExitPatterns,
)

// slurmstepd kills a step over its limit itself, where Slurm polls what the step uses.
var slurmstepd = pattern.Program{Name: "slurm", Launcher: "slurm", Scheduler: "slurm", Authority: pattern.Counted, Killer: "slurm"}

// slurmdbd is Slurm's accounting of the job, sacct its table of any jobs; slurmd and slurmctld are the daemons' logs.
var (
	slurmdbd  = pattern.Program{Name: "slurm", Launcher: "slurm", Scheduler: "slurm", Authority: pattern.Accounted}
	sacct     = pattern.Program{Name: "slurm", Launcher: "slurm", Scheduler: "slurm", Authority: pattern.Accounted, Node: true}
	slurmd    = pattern.Program{Name: "slurmd", Node: true}
	slurmctld = pattern.Program{Name: "slurmctld", Node: true}
)

// slurmMemoryPatterns are kills and limits that Slurm itself puts down to memory.
func slurmMemoryPatterns() []pattern.Pattern {
	const state = "Slurm 17.11-26.05 src/common/job_state_string.c"
	return []pattern.Pattern{
		{
			// Printed once per node when the step ends, after the application's last words.
			Name:     "slurm.oom_kill",
			Literals: []string{" oom-kill event", " oom_kill event"},
			Expr:     `(?:slurmstepd-(?<node>[\w.-]{1,253}): (?:error: )?)?Detected (?<count>\d+) oom[-_]kill event(?:\(s\)|s)? in (?:step |StepId=)(?<job>\d+)(?:\+\d+)?\.(?<step>\w{1,16})`,
			Kind:     parser.OOMKill, Role: parser.Evidence,
			Source: "Slurm 17.11-22.05 and (oom_kill) 23.02-26.05 src/plugins/task/cgroup/task_cgroup_memory.c",
			Match: []pattern.Sample{
				{Line: `slurmstepd: error: Detected 1 oom-kill event(s) in step 4.batch cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.`, Want: parser.Fields{"count": "1", "job": "4", "step": "batch"}},
				{Line: `slurmstepd: error: Detected 3 oom-kill event(s) in StepId=812.0 cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.`, Want: parser.Fields{"count": "3", "job": "812", "step": "0"}},
				{Line: `slurmstepd-node01: error: Detected 2 oom-kill event(s) in StepId=24.batch. Some of your processes may have been killed by the cgroup out-of-memory handler.`, Want: parser.Fields{"count": "2", "job": "24", "step": "batch", "node": "node01"}},
				{Line: `slurmstepd: error: Detected 1 oom_kill event in StepId=718823.extern. Some of the step tasks have been OOM Killed.`, Want: parser.Fields{"count": "1", "job": "718823", "step": "extern"}},
				{Line: `error: Detected 12 oom_kill events in StepId=9+1.2. Some of the step tasks have been OOM Killed.`, Want: parser.Fields{"count": "12", "job": "9", "step": "2"}},
			},
			NoMatch: []string{`oom_kill_step=1`, `task/cgroup: StepId=4.batch hit memory limit at least once during execution. This may or may not result in some failure.`},
		},
		{
			// Once per srun, and it lists tasks that merely ended after the kill as well.
			Name:     "slurm.srun_oom",
			Literals: []string{": Out Of Memory"},
			Expr:     `(?<![\w.\[\],-])(?<node>[\w.\[\],-]{1,253}): tasks? (?<task>[\d,-]{1,256}): Out Of Memory`,
			Kind:     parser.OOMKill, Role: parser.Evidence,
			Source: "Slurm 17.11-26.05 src/srun/launch.c",
			Match: []pattern.Sample{
				{Line: `srun: error: node01: task 7: Out Of Memory`, Want: parser.Fields{"node": "node01", "task": "7"}},
				{Line: `srun: error: node[01-04]: tasks 0-3,9: Out Of Memory`, Want: parser.Fields{"node": "node[01-04]", "task": "0-3,9"}},
			},
			NoMatch: []string{`srun: error: node01: task 7: Killed`},
		},
		{
			Name:     "slurm.limit",
			Program:  slurmstepd,
			Literals: []string{" exceeded memory limit (", " exceeded virtual memory limit ("},
			Expr:     `StepId=(?<job>\d+)(?:\+\d+)?\.(?<step>\w{1,16}) exceeded (?:virtual )?memory limit \((?<used_b>\d+) ?> ?(?<limit_b>\d+)\)`,
			Kind:     parser.OOMKill, Role: parser.Evidence,
			Source: "Slurm 20.11-26.05 src/plugins/jobacct_gather/common: bytes",
			Match: []pattern.Sample{
				{Line: `slurmstepd-node01: error: StepId=2.batch exceeded memory limit (213176320 > 209715200), being killed`, Want: parser.Fields{"job": "2", "step": "batch", "used": "213176320", "limit": "209715200"}},
			},
			NoMatch: []string{`slurmstepd: error: Step 2.0 exceeded memory limit (213176 > 209715), being killed`},
		},
		{
			// KB up to 17.11, bytes since 18.08, and the line does not say which.
			Name:     "slurm.limit_unitless",
			Program:  slurmstepd,
			Literals: []string{" exceeded memory limit (", " exceeded virtual memory limit ("},
			Expr:     `\b(?:Job (?<job>\d+)|Step (?<job>\d+)\.(?<step>\w{1,16})) exceeded (?:virtual )?memory limit \((?<used_raw>\d+) ?> ?(?<limit_raw>\d+)\)`,
			Kind:     parser.OOMKill, Role: parser.Evidence,
			Source: "Slurm 14.11-20.02 src/common/slurm_jobacct_gather.c; slurmd req.c",
			Match: []pattern.Sample{
				{Line: `slurmstepd: error: Job 4 exceeded memory limit (1843460 > 1843200), being killed`, Want: parser.Fields{"job": "4", "used_raw": "1843460", "limit_raw": "1843200"}},
				{Line: `slurmstepd: error: Step 4.0 exceeded memory limit (1843460 > 1843200), being killed`, Want: parser.Fields{"job": "4", "step": "0", "used_raw": "1843460", "limit_raw": "1843200"}},
				{Line: `Job 4 exceeded memory limit (2100>2048), cancelling it`, Want: parser.Fields{"job": "4", "used_raw": "2100", "limit_raw": "2048"}},
			},
			NoMatch: []string{`slurmstepd: error: StepId=2.batch exceeded memory limit (213176320 > 209715200), being killed`},
		},
		{
			Name:     "slurm.limit_old",
			Program:  slurmstepd,
			Literals: []string{"KB memory limit", "KB virtual memory limit"},
			Expr:     `\b(?:Job (?<job>\d+)|Step (?<job>\d+)\.(?<step>\w{1,16})) exceeded (?<limit_kib>\d+) KB (?:virtual )?memory limit`,
			Kind:     parser.OOMKill, Role: parser.Evidence,
			Source: "Slurm 2.2-14.03 src/common/slurm_jobacct_gather.c",
			Match:  []pattern.Sample{{Line: `slurmd[n12]: Job 88 exceeded 4194304 KB memory limit, being killed`, Want: parser.Fields{"job": "88", "limit": "4294967296"}}},
		},
		{
			Name:     "slurm.limit_word",
			Program:  slurmstepd,
			Literals: []string{"Exceeded job memory limit", "Exceeded step memory limit"},
			Expr:     `Exceeded (?:job|step) memory limit(?! at some point)`,
			Kind:     parser.OOMKill, Role: parser.Evidence,
			Source:  "Slurm up to 26.05 src/common/slurm_jobacct_gather.c: the step's task sees its own kill",
			Match:   lines(`slurmstepd-node01: error: Exceeded job memory limit`),
			NoMatch: []string{`slurmstepd: error: Exceeded job memory limit at some point.`},
		},
		{
			// The page cache alone brings a cgroup to its limit: no proof.
			Name:     "slurm.limit_hint",
			Literals: []string{" memory limit at some point", "limit at least once during execution"},
			Expr:     `(?:Exceeded (?:job|step) memory limit at some point|(?:StepId=(?<job>\d+)(?:\+\d+)?\.(?<step>\w{1,16})|Job (?<job>\d+)|Step (?<job>\d+)\.(?<step>\w{1,16})) hit memory(?:\+swap)? limit at least once during execution)`,
			Kind:     parser.Pressure, Role: parser.Context,
			Source: "Slurm up to 17.02 ('at some point') and 17.11-26.05 src/plugins/task/cgroup/task_cgroup_memory.c",
			Match: []pattern.Sample{
				{Line: `slurmstepd: error: Exceeded step memory limit at some point.`},
				{Line: `slurmstepd: StepId=4.batch hit memory limit at least once during execution. This may or may not result in some failure.`, Want: parser.Fields{"job": "4", "step": "batch"}},
				{Line: `slurmstepd: Job 12 hit memory+swap limit at least once during execution. This may or may not result in some failure.`, Want: parser.Fields{"job": "12"}},
			},
		},
		{
			Name:     "slurm.job_state",
			Program:  slurmdbd,
			Literals: []string{"JobState=OUT_OF_MEMORY", "State: OUT_OF_MEMORY"},
			Expr:     `(?:^\s*JobId=(?<job>\d+)\b.{0,1500}?)?(?:JobState=|\bState: )OUT_OF_MEMORY`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: state + "; scontrol show job, seff",
			Match: []pattern.Sample{
				{Line: `   JobState=OUT_OF_MEMORY Reason=OutOfMemory Dependency=(null)`},
				{Line: `JobId=54 JobName=wrap UserId=user(2001) Nice=0 QOS=normal JobState=OUT_OF_MEMORY Reason=OutOfMemory Requeue=1 ExitCode=0:125`, Want: parser.Fields{"job": "54"}},
				{Line: `State: OUT_OF_MEMORY (exit code 0)`},
			},
			NoMatch: []string{`   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)`},
			Also:    []string{"slurm.exit_125"},
		},
		{
			Name:  "slurm.seff_memory",
			After: []string{"slurm.job_state"}, Within: 12,
			Expr: `^(?:# )?\s{0,8}Memory Efficiency: {1,8}\d{1,4}(?:\.\d{1,4})?% of (?<limit_sz>\d{1,6}(?:\.\d{1,4})? [KMGT]B)\b`,
			Kind: parser.OOMKill, Role: parser.Detail,
			Source: "Slurm contribs/seff: units of 1024, per node in brackets behind it",
			Match: []pattern.Sample{
				{Line: `Memory Efficiency: 99.91% of 96.00 GB`, Want: parser.Fields{"limit": "103079215104"}},
				{Line: `# Memory Efficiency: 93.80% of 4.00 GB (1.00 GB/core)`, Want: parser.Fields{"limit": "4294967296"}},
			},
			NoMatch: []string{`CPU Efficiency: 7.60% of 02:07:28 core-walltime`},
		},
		{
			Name:     "slurm.exit_125",
			Program:  slurmdbd,
			Literals: []string{"ExitCode=0:125"},
			Expr:     `ExitCode=0:125\b`,
			Kind:     parser.OOMKill, Role: parser.Evidence,
			Source:  "Slurm 17.11-26.05: SIG_OOM is 253, shown as signal 125; scontrol show job",
			Match:   lines(`   DerivedExitCode=0:125`),
			NoMatch: []string{`   DerivedExitCode=0:12`, `   ExitCode=125:0`},
		},
		{
			Name:     "slurm.sacct",
			Program:  sacct,
			Literals: []string{"OUT_OF_ME+", "OUT_OF_MEMORY"},
			Expr:     `^\s*(?:(?=.{0,400}?[ |\t](?<limit_sz>\d{1,8}(?:\.\d{1,3})?[MGT])n?(?:[ |\t]|$))|)(?<job>\d{1,10}(?:_\d{1,7})?)(?:\+\d+)?(?:\.(?<step>\w{1,16}))?[ |\t](?:.{0,300}[ |\t])?OUT_OF_ME(?:MORY(?=[ |\t]|\s*$)|\+)`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: state + "; sacct, whose column cuts the word",
			Match: []pattern.Sample{
				{Line: `54                 wrap       main       test          1 OUT_OF_ME+    0:125 `, Want: parser.Fields{"job": "54"}},
				{Line: `54.batch|batch|OUT_OF_MEMORY|0:125|||0|node01||`, Want: parser.Fields{"job": "54", "step": "batch"}},
				{Line: `15_2  gpu  train  OUT_OF_MEMORY`, Want: parser.Fields{"job": "15_2"}},
				{Line: `1000         OUT_OF_ME+        32G            `, Want: parser.Fields{"job": "1000", "limit": "34359738368"}}, // ReqMem; MaxRSS is in KiB
				{Line: `1000         OUT_OF_ME+   2063882M   00:07:12`, Want: parser.Fields{"job": "1000", "limit": "2164137132032"}},
			},
			NoMatch: []string{
				`RuntimeError: CUDA error: CUDA_ERROR_OUT_OF_MEMORY`, `   JobState=OUT_OF_MEMORY Reason=OutOfMemory`,
				`OUT_OF_MEMORY Job experienced out of memory error.`,
			},
		},
		{
			Name:     "slurm.mail",
			Program:  sacct,
			Literals: []string{"Slurm Job_id="},
			Expr:     `Slurm Job_id=(?<job>\d+) .{0,300}?, OUT_OF_MEMORY`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "Slurm 20.02-26.05 src/slurmctld/agent.c: the subject of MailProg",
			Match:   []pattern.Sample{{Line: `Slurm Job_id=26 Name=wrap Failed, Run time 00:00:00, OUT_OF_MEMORY`, Want: parser.Fields{"job": "26"}}},
			NoMatch: []string{`Slurm Job_id=26 Name=wrap Failed, Run time 00:00:00, FAILED, ExitCode 1`},
		},
		{
			Name:     "slurmctld.oom",
			Program:  slurmctld,
			Literals: []string{" OOM failure"},
			Expr:     `JobId=(?:\d+_\d+\()?(?<job>\d+)\)?(?:\+\d+)?(?:\(\d+\))? OOM failure`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "Slurm 18.08-26.05 src/slurmctld/job_mgr.c _job_complete",
			Match: []pattern.Sample{
				{Line: `_job_complete: JobId=4 OOM failure`, Want: parser.Fields{"job": "4"}},
				{Line: `_job_complete: JobId=15_2(17) OOM failure`, Want: parser.Fields{"job": "17"}},
			},
			NoMatch: []string{`_job_complete: JobId=4 done`},
		},
	}
}

// slurmCancelPatterns are the scheduler's word that it ended a job or step, and why. They explain every SIGKILL and
// SIGTERM behind them.
func slurmCancelPatterns() []pattern.Pattern {
	const (
		head   = `\*\*\* (?:JOB (?<job>\d+)(?:\+\d+)?|STEP (?<job>\d+)(?:\+\d+)?\.(?<step>\w{1,16}))`
		on     = `(?: ON (?<node>\S{1,253}))?`
		at     = ` CANCELLED AT (?<time>[\dT:-]{8,25})(?![\dT:-])`
		behind = `(?: \*\*\* on (?<node>\S{1,253}))?`
		source = "Slurm 2.6-26.05 src/slurmd/slurmd/req.c; 14.11 names the node behind"
	)
	cancelled := func(name, reason, tail string, samples ...pattern.Sample) pattern.Pattern {
		return pattern.Pattern{
			Name: "slurm.cancel_" + name, Literals: []string{"CANCELLED AT "},
			Expr: head + on + at + tail, Kind: parser.JobCancelled, Role: parser.Context,
			Set: map[string]string{"reason": reason}, Source: source, Match: samples,
			NoMatch: []string{`*** JOB 7 ON n1 FAILED (non-zero exit code or other failure mode) ***`, `CANCELLED AT 2025-04-30T08:00:19 DUE TO TIME LIMIT`},
		}
	}
	return []pattern.Pattern{
		cancelled(
			"time_limit", "time_limit", ` DUE TO TIME LIMIT`+behind,
			pattern.Sample{
				Line: `slurmstepd: error: *** JOB 771234 ON gpu-14 CANCELLED AT 2025-04-30T08:00:19 DUE TO TIME LIMIT ***`,
				Want: parser.Fields{"job": "771234", "node": "gpu-14", "time": "2025-04-30T08:00:19", "reason": "time_limit"},
			},
			pattern.Sample{
				Line: `slurmd[n12]: *** STEP 88.0 CANCELLED AT 2013-02-01T10:00:00 DUE TO TIME LIMIT ***`,
				Want: parser.Fields{"job": "88", "step": "0", "time": "2013-02-01T10:00:00", "reason": "time_limit"},
			},
			pattern.Sample{
				Line: `slurmstepd: error: *** JOB 88 CANCELLED AT 2015-02-01T10:00:00 DUE TO TIME LIMIT *** on n12`,
				Want: parser.Fields{"job": "88", "node": "n12", "time": "2015-02-01T10:00:00", "reason": "time_limit"},
			},
		),
		cancelled("preemption", "preemption", ` DUE TO PREEMPTION`, pattern.Sample{
			Line: `slurmstepd: error: *** STEP 93110.0 ON c043 CANCELLED AT 2025-10-15T18:26:40 DUE TO PREEMPTION ***`,
			Want: parser.Fields{"job": "93110", "step": "0", "node": "c043", "time": "2025-10-15T18:26:40", "reason": "preemption"},
		}),
		cancelled("node_failure", "node_failure", ` DUE TO NODE FAILURE`, pattern.Sample{
			Line: `slurmstepd: error: *** JOB 10 ON node01 CANCELLED AT 2026-11-21T00:41:09 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***`,
			Want: parser.Fields{"job": "10", "node": "node01", "time": "2026-11-21T00:41:09", "reason": "node_failure"},
		}),
		cancelled("requeue", "requeue", ` DUE TO JOB REQUEUE`, pattern.Sample{
			Line: `slurmstepd: error: *** JOB 29 ON node01 CANCELLED AT 2026-11-21T00:37:50 DUE TO JOB REQUEUE ***`,
			Want: parser.Fields{"job": "29", "node": "node01", "time": "2026-11-21T00:37:50", "reason": "requeue"},
		}),
		cancelled("signal", "signal", ` DUE (?:to|TO) SIGNAL (?<signal>\w{1,20})`, pattern.Sample{
			Line: `slurmstepd: error: *** STEP 29.1 ON node01 CANCELLED AT 2026-11-21T00:37:50 DUE to SIGNAL Killed ***`,
			Want: parser.Fields{"job": "29", "step": "1", "node": "node01", "time": "2026-11-21T00:37:50", "signal": "Killed", "reason": "signal"},
		}),
		cancelled("task_failure", "task_failure", ` DUE TO TASK FAILURE`, pattern.Sample{
			Line: `slurmstepd: error: *** STEP 29.1 ON node01 CANCELLED AT 2026-11-21T00:37:50 DUE TO TASK FAILURE ***`,
			Want: parser.Fields{"job": "29", "step": "1", "node": "node01", "time": "2026-11-21T00:37:50", "reason": "task_failure"},
		}),
		cancelled(
			"plain", "cancelled", `(?! DUE (?:TO (?:TIME LIMIT|PREEMPTION|NODE FAILURE|JOB REQUEUE|TASK FAILURE|SIGNAL)|to SIGNAL))`+behind,
			pattern.Sample{
				Line: `slurmstepd-node01: error: *** STEP 27.0 ON node01 CANCELLED AT 2026-11-21T00:37:19 ***`,
				Want: parser.Fields{"job": "27", "step": "0", "node": "node01", "time": "2026-11-21T00:37:19", "reason": "cancelled"},
			},
			pattern.Sample{
				Line: `slurmstepd: error: *** JOB 27 CANCELLED AT 2015-02-01T10:00:00 *** on n12`,
				Want: parser.Fields{"job": "27", "node": "n12", "time": "2015-02-01T10:00:00", "reason": "cancelled"},
			},
			pattern.Sample{
				Line: `slurmstepd: error: *** JOB 27 ON n1 CANCELLED AT 2031-02-01T10:00:00 DUE TO A REASON OF TOMORROW ***`,
				Want: parser.Fields{"job": "27", "node": "n1", "time": "2031-02-01T10:00:00", "reason": "cancelled"},
			},
		),
		{
			Name:     "slurm.failed",
			Literals: []string{" FAILED (non-zero exit code or other failure mode)", " STEPD TERMINATED ON "},
			Expr:     head + `(?: ON (?<node>\S{1,253}) FAILED \(non-zero exit code or other failure mode\)| STEPD TERMINATED ON (?<node>\S{1,253}) AT (?<time>[\dT:-]{8,25}))`,
			Kind:     parser.JobCancelled, Role: parser.Context, Set: map[string]string{"reason": "failed"}, Source: source,
			Match: []pattern.Sample{
				{Line: `slurmstepd: error: *** STEP 9.0 ON n1 FAILED (non-zero exit code or other failure mode) ***`, Want: parser.Fields{"job": "9", "step": "0", "node": "n1"}},
				{Line: `slurmstepd-node01: error: *** JOB 25 STEPD TERMINATED ON node01 AT 2026-11-21T00:49:54 DUE TO JOB NOT ENDING WITH SIGNALS ***`, Want: parser.Fields{"job": "25", "node": "node01", "time": "2026-11-21T00:49:54"}},
			},
		},
		{
			// A broken DIMM, not a shortage.
			Name:     "slurm.hardware",
			Literals: []string{"UNCORRECTABLE MEMORY ERROR"},
			Expr:     head + on + ` UNCORRECTABLE MEMORY ERROR(?: AT (?<time>[\dT:-]{8,25}))?`,
			Kind:     parser.JobCancelled, Role: parser.Context, Set: map[string]string{"reason": "hardware"}, Source: source,
			Match: []pattern.Sample{
				{Line: `slurmstepd: error: *** JOB 9 ON n1 UNCORRECTABLE MEMORY ERROR AT 2024-05-02T01:02:03 ***`, Want: parser.Fields{"job": "9", "node": "n1", "time": "2024-05-02T01:02:03"}},
			},
		},
		{
			Name:     "slurm.node_failure",
			Literals: []string{"error: Node failure on "},
			Expr:     `error: Node failure on (?<node>[\w.\[\],-]{1,253})`,
			Kind:     parser.JobCancelled, Role: parser.Context, Set: map[string]string{"reason": "node_failure"},
			Source: "Slurm src/srun/libsrun/allocate.c",
			Match:  []pattern.Sample{{Line: `srun: error: Node failure on node02`, Want: parser.Fields{"node": "node02"}}},
		},
		{
			Name:     "slurm.interrupted",
			Literals: []string{"srun: sending Ctrl-C to ", "srun: forcing job termination", "srun: Job has been cancelled"},
			Expr:     `srun: (?:sending Ctrl-C to |forcing job termination|Job has been cancelled)`,
			Kind:     parser.JobCancelled, Role: parser.Context, Set: map[string]string{"reason": "cancelled"},
			Source: "Slurm src/srun/launch.c, src/srun/libsrun/srun_job.c",
			Match:  lines(`srun: forcing job termination`, `srun: sending Ctrl-C to StepId=12.0`),
		},
		{
			Name:     "slurmctld.requeue",
			Program:  slurmctld,
			Literals: []string{"equeue job JobId=", "equeuing JobId=", "equeue JobId="},
			Expr:     `[Rr]equeu(?:e job|e|ing) JobId=(?:\d+_\d+\()?(?<job>\d+)`,
			Kind:     parser.Restart, Role: parser.Context,
			Source: "Slurm src/slurmctld/job_mgr.c",
			Match: []pattern.Sample{
				{Line: `Requeuing JobId=29 State=0x0 NodeCnt=0`, Want: parser.Fields{"job": "29"}},
				{Line: `requeue job JobId=31 due to failure of node n7`, Want: parser.Fields{"job": "31"}},
			},
		},
	}
}

// slurmExitPatterns are how srun and slurmd report the end of tasks and steps.
func slurmExitPatterns() []pattern.Pattern {
	const (
		task   = `(?<![\w.\[\],-])(?<node>[\w.\[\],-]{1,253}): tasks? (?<task>[\d,-]{1,256}): `
		source = "Slurm 2.2-26.05 src/srun/launch.c"
		daemon = "Slurm src/slurmd/slurmstepd/mgr.c"
	)
	return []pattern.Pattern{
		{
			Name:     "slurm.task_killed",
			Literals: []string{": Killed", ": Exited with exit code 137"},
			Expr:     task + `(?:(?<signal>Killed)(?: \(core dumped\))?\s*$|Exited with exit code (?<exitcode>137)\b)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: source + "; 137 is a shell or container whose child was killed",
			Match: []pattern.Sample{
				{Line: `srun: error: n032: task 1: Killed`, Want: parser.Fields{"node": "n032", "task": "1", "signal": "Killed"}},
				{Line: `srun: error: node01: tasks 3,10-11: Killed`, Want: parser.Fields{"node": "node01", "task": "3,10-11", "signal": "Killed"}},
				{Line: `srun: error: node02: task 2: Exited with exit code 137`, Want: parser.Fields{"node": "node02", "task": "2", "exitcode": "137"}},
			},
			NoMatch: []string{`srun: error: c044: task 0: Terminated`, `srun: error: n1: task 0: Exited with exit code 1`},
		},
		{
			Name:     "slurm.task_bus_error",
			Literals: []string{": Bus error", ": Exited with exit code 135"},
			Expr:     task + `(?:(?<signal>Bus error)|Exited with exit code (?<exitcode>135)\b)`,
			Kind:     parser.SHMExhausted, Role: parser.Suspicion, Source: source,
			Match: []pattern.Sample{
				{Line: `srun: error: comput123: tasks 29,31: Bus error (core dumped)`, Want: parser.Fields{"node": "comput123", "task": "29,31", "signal": "Bus error"}},
			},
			NoMatch: []string{`srun: error: node01: task 0: Segmentation fault`},
		},
		{
			Name: "slurm.task_exited",
			Literals: []string{
				": Exited with exit code ", ": Terminated", ": Aborted", ": Segmentation fault", ": Floating point exception",
				": Illegal instruction", ": Hangup", ": Interrupt", ": Broken pipe", ": CPU time limit exceeded", ": File size limit exceeded",
			},
			Expr: task + `(?:Exited with exit code (?!137\b|135\b)(?<exitcode>\d+)|(?<signal>Terminated|Aborted|Segmentation fault|Floating point exception|Illegal instruction|Hangup|Interrupt|Broken pipe|CPU time limit exceeded|File size limit exceeded))`,
			Kind: parser.ProcessExit, Role: parser.Consequence, Source: source,
			Match: []pattern.Sample{
				{Line: `srun: error: pool0-0071: task 0: Exited with exit code 1`, Want: parser.Fields{"node": "pool0-0071", "task": "0", "exitcode": "1"}},
				{Line: `srun: error: gpu-15: tasks 4-7: Terminated`, Want: parser.Fields{"node": "gpu-15", "task": "4-7", "signal": "Terminated"}},
				{Line: `srun: error: node01: task 0: Aborted (core dumped)`, Want: parser.Fields{"node": "node01", "task": "0", "signal": "Aborted"}},
			},
		},
		{
			Name:     "slurmd.task_killed",
			Program:  slurmd,
			Literals: []string{"exited. Killed by signal ", ") exited with exit code "},
			Expr:     `task (?<task>\d+) \((?<pid>\d+)\) exited(?:\. Killed by signal (?<signal>9)\b| with exit code (?<exitcode>137)\b)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: daemon,
			Match: []pattern.Sample{
				{Line: `task 3 (7578) exited. Killed by signal 9.`, Want: parser.Fields{"task": "3", "pid": "7578", "signal": "9"}},
				{Line: `task 0 (7578) exited with exit code 137.`, Want: parser.Fields{"task": "0", "pid": "7578", "exitcode": "137"}},
			},
			NoMatch: []string{`task 0 (7578) exited with exit code 0.`, `task 0 (7578) exited. Killed by signal 15.`},
		},
		{
			Name:     "slurmd.task_exited",
			Program:  slurmd,
			Literals: []string{"exited. Killed by signal ", ") exited with exit code "},
			Expr:     `task (?<task>\d+) \((?<pid>\d+)\) exited(?:\. Killed by signal (?!9\b)(?<signal>\d+)| with exit code (?!0\b|137\b)(?<exitcode>\d+))`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: daemon,
			Match:   []pattern.Sample{{Line: `task 1 (7579) exited with exit code 1.`, Want: parser.Fields{"task": "1", "pid": "7579", "exitcode": "1"}}},
			NoMatch: []string{`task 0 (7578) exited with exit code 0.`},
		},
		{
			Name: "slurm.step_ended",
			Literals: []string{
				"srun: Job step aborted: ", "Force Terminated ", "Terminating StepId=", "srun: Terminating job step ",
				"Job/step already completing or completed", "srun: First task exited ",
			},
			Expr: `(?:srun: Job step aborted: |Force Terminated (?:StepId=|job step )?(?:(?<job>\d+)(?:\+\d+)?\.(?<step>\w{1,16}))?|Terminating StepId=(?<job>\d+)(?:\+\d+)?\.(?<step>\w{1,16})|srun: Terminating job step (?<job>\d+)\.(?<step>\w{1,16})|Job/step already completing or completed|srun: First task exited )`,
			Kind: parser.ProcessExit, Role: parser.Consequence, Source: "Slurm 2.2-26.05 src/srun",
			Match: []pattern.Sample{
				{Line: `srun: Job step aborted: Waiting up to 92 seconds for job step to finish.`},
				{Line: `srun: Force Terminated StepId=93111.0`, Want: parser.Fields{"job": "93111", "step": "0"}},
				{Line: `srun: launch/slurm: _step_signal: Terminating StepId=11.2`, Want: parser.Fields{"job": "11", "step": "2"}},
				{Line: `srun: Terminating job step 88.0`, Want: parser.Fields{"job": "88", "step": "0"}},
				{Line: `srun: First task exited 60s ago`},
			},
			NoMatch: []string{`srun: error: Unable to create step for job 12: Memory required by task is not available`},
		},
	}
}
