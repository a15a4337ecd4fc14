package messages

import (
	"slices"

	"oomscan/parser"
	"oomscan/parser/pattern"
)

// schedulerPatterns are batch systems other than Slurm and Kubernetes, and the task systems that watch their workers'
// memory themselves: PBS and Torque, LSF, HTCondor, Google's training jobs, Dask, Spark.
var schedulerPatterns = slices.Concat(
	by(pattern.Program{Name: "pbs", Scheduler: "pbs"}, pbsPatterns),
	by(pattern.Program{Name: "lsf", Scheduler: "lsf"}, lsfPatterns),
	by(pattern.Program{Name: "condor", Scheduler: "condor"}, condorPatterns),
	[]table{taskPatterns},
)

func pbsPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "pbs.memory",
			Literals: []string{"PBS: job killed: ", "exceeded a memory resource limit"},
			Expr: `PBS: job killed: (?:p?v?mem)(?: job total)? (?:(?<used_kib>\d{1,15}) ?kb|(?<used_b>\d{1,19})) exceeded limit (?:(?<limit_kib>\d{1,15}) ?kb|(?<limit_b>\d{1,19}))` +
				`|Job exceeded a memory resource limit \(vmem, pvmem, etc\.\)`,
			Kind: parser.OOMKill, Role: parser.Evidence,
			Source: "OpenPBS and PBS Pro, src/resmom/linux/mom_mach.c; Torque, mails of the server",
			Match: []pattern.Sample{
				{Line: "=>> PBS: job killed: mem 38427376kb exceeded limit 33554432kb", Want: parser.Fields{"used": "39349633024", "limit": "34359738368"}},
				{Line: "=>> PBS: job killed: mem job total 115343361 kb exceeded limit 115343360 kb", Want: parser.Fields{"used": "118111601664", "limit": "118111600640"}},
				{Line: "=>> PBS: job killed: vmem 3372163072 exceeded limit 2147483648", Want: parser.Fields{"used": "3372163072", "limit": "2147483648"}},
				{Line: "Job exceeded a memory resource limit (vmem, pvmem, etc.). Job was aborted", Want: parser.Fields{}},
			},
			NoMatch: []string{"=>> PBS: job killed: walltime 3610 exceeded limit 3600", "=>> PBS: job killed: ncpus 3.1 exceeded limit 1 (sum)"},
		},
		{
			Name:     "pbs.limit",
			Literals: []string{"PBS: job killed: "},
			Expr:     `PBS: job killed: (?!p?v?mem )(?<method>\w{1,20})`,
			Kind:     parser.JobCancelled, Role: parser.Context, Set: map[string]string{"reason": "cancelled"},
			Source:  "OpenPBS, src/resmom/mom_main.c: walltime, cput, ncpus",
			Match:   []pattern.Sample{{Line: "=>> PBS: job killed: walltime 3610 exceeded limit 3600", Want: parser.Fields{"method": "walltime", "reason": "cancelled"}}},
			NoMatch: []string{"=>> PBS: job killed: mem 38427376kb exceeded limit 33554432kb"},
		},
	}
}

func lsfPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "lsf.memory",
			Literals: []string{"TERM_MEMLIMIT: "},
			Expr:     `TERM_MEMLIMIT: job killed after reaching LSF memory usage limit`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "IBM Spectrum LSF 8-10, the report at the end of a job's output",
			Match: []pattern.Sample{{Line: "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.", Want: parser.Fields{}}},
		},
		{
			Name:     "lsf.terminated",
			Literals: []string{"TERM_RUNLIMIT: ", "TERM_CPULIMIT: ", "TERM_OWNER: ", "TERM_ADMIN: ", "TERM_PREEMPT: ", "TERM_DEADLINE: ", "TERM_FORCE_"},
			Expr:     `TERM_(?:(?:RUN|CPU)LIMIT|OWNER|ADMIN|PREEMPT|DEADLINE|FORCE_\w{1,12}): job killed`,
			Kind:     parser.JobCancelled, Role: parser.Context, Set: map[string]string{"reason": "cancelled"},
			Source: "IBM Spectrum LSF 8-10: limits of time, and people",
			Match:  []pattern.Sample{{Line: "TERM_RUNLIMIT: job killed after reaching LSF run time limit.", Want: parser.Fields{"reason": "cancelled"}}, {Line: "TERM_OWNER: job killed by owner.", Want: parser.Fields{"reason": "cancelled"}}},
		},
	}
}

func condorPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "condor.memory",
			Literals: []string{"memory limit of "},
			Expr:     `(?:Job has gone over|Memory usage exceeded) (?:cgroup )?memory limit of (?<limit_mib>\d{1,9}) megabytes(?:\. (?:Peak|Last measured) usage: (?<used_mib>\d{1,9}) megabytes)?`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "HTCondor 8-24, src/condor_starter.V6.1/vanilla_proc.cpp",
			Match: []pattern.Sample{{
				Line: "Error from slot1@node-3: Job has gone over cgroup memory limit of 8192 megabytes. Peak usage: 8200 megabytes.  Consider resubmitting with a higher request_memory.",
				Want: parser.Fields{"limit": "8589934592", "used": "8598323200"},
			}},
		},
	}
}

// taskPatterns are task systems that watch their workers' memory.
func taskPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "google.replica",
			Literals: []string{"ran out-of-memory and exited", "Replicas low on memory: "},
			Expr:     `The replica (?<task>[\w -]{1,60}?) ran out-of-memory and exited with a non-zero status of \d|Replicas low on memory: `,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "Google AI Platform and Vertex AI, state of a training job",
			Match: []pattern.Sample{
				{Line: "The replica master 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL).", Want: parser.Fields{"task": "master 0"}},
				{Line: "Replicas low on memory: worker. To find out more about why your job exited please check the logs", Want: parser.Fields{}},
			},
		},
		{
			// Dask's nanny kills its worker and starts another one; the work is tried again.
			Name:     "dask.memory",
			Literals: []string{"% memory budget"},
			Expr:     `Worker (?:\S{1,120} \(pid=(?<pid>\d{1,10})\) )?exceeded \d{1,3}% memory budget\. {1,2}Restarting`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "dask.distributed 1.x-2025, distributed/nanny.py, worker_memory.py",
			Match: []pattern.Sample{
				{Line: "distributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting", Want: parser.Fields{}},
				{Line: "distributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:38041 (pid=4711) exceeded 95% memory budget. Restarting...", Want: parser.Fields{"pid": "4711"}},
			},
			NoMatch: []string{"distributed.worker.memory - WARNING - Worker is at 89% memory usage. Pausing worker.  Process memory: 2.09 GiB -- Worker memory limit: 2.33 GiB"},
		},
		{
			Name:     "spark.exit_137",
			Literals: []string{"Exit status: 137", "exited with a status 137"},
			Expr:     `Exit status: (?<exitcode>137)\b|exited with a status (?<exitcode>137)\b`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: "Spark on YARN, cluster/YarnAllocator.scala",
			Match: []pattern.Sample{{Line: "ExecutorLostFailure (executor 3 exited) Reason: Container from a bad node: container_1_2 on host: h1. Exit status: 137.", Want: parser.Fields{"exitcode": "137"}}},
		},
	}
}
