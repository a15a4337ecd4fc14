package messages

import (
	"slices"

	"oomscan/parser"
	"oomscan/parser/pattern"
)

// schedulerPatterns are batch systems other than Slurm and Kubernetes, and the task systems that watch their workers'
// memory themselves: PBS and Torque, LSF, Grid Engine, Flux, HTCondor, Google's training jobs, Dask, notebooks, Spark.
var schedulerPatterns = slices.Concat(
	by(pattern.Program{Name: "pbs", Scheduler: "pbs", Killer: "pbs"}, pbsPatterns),
	by(pattern.Program{Name: "lsf", Scheduler: "lsf", Killer: "lsf"}, lsfPatterns),
	by(pattern.Program{Name: "sge", Scheduler: "sge", Killer: "sge"}, sgePatterns),
	by(pattern.Program{Name: "flux", Scheduler: "flux", Killer: "kernel"}, fluxPatterns),
	by(pattern.Program{Name: "condor", Scheduler: "condor", Killer: "condor"}, condorPatterns),
	[]table{taskPatterns},
)

func pbsPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "pbs.memory",
			Literals: []string{"PBS: job killed: ", "exceeded a memory resource limit", "exceeded MEM usage hard limit"},
			Expr: `PBS: job killed: (?:p?v?mem)(?: job total)? (?:(?<used_kib>\d{1,15}) ?kb|(?<used_b>\d{1,19})) exceeded limit (?:(?<limit_kib>\d{1,15}) ?kb|(?<limit_b>\d{1,19}))` +
				`|Job exceeded a memory resource limit \(vmem, pvmem, etc\.\)|^job \d{1,12}\S{0,80} exceeded MEM usage hard limit \((?<used_mib>\d{1,12}) > (?<limit_mib>\d{1,12})\)`,
			Kind: parser.OOMKill, Role: parser.Evidence,
			Source: "OpenPBS and PBS Pro, src/resmom/linux/mom_mach.c; Torque and Moab, mails of the server",
			Match: []pattern.Sample{
				{Line: "=>> PBS: job killed: mem 38427376kb exceeded limit 33554432kb", Want: parser.Fields{"used": "39349633024", "limit": "34359738368"}},
				{Line: "=>> PBS: job killed: mem job total 115343361 kb exceeded limit 115343360 kb", Want: parser.Fields{"used": "118111601664", "limit": "118111600640"}},
				{Line: "=>> PBS: job killed: vmem 3372163072 exceeded limit 2147483648", Want: parser.Fields{"used": "3372163072", "limit": "2147483648"}},
				{Line: "Job exceeded a memory resource limit (vmem, pvmem, etc.). Job was aborted"},
				{Line: "job 3132467 exceeded MEM usage hard limit (2528 > 1126)", Want: parser.Fields{"used": "2650800128", "limit": "1180696576"}},
			},
			NoMatch: []string{"=>> PBS: job killed: ncpus 3.1 exceeded limit 1 (sum)"},
		},
		{
			Name:     "pbs.limit",
			Literals: []string{"PBS: job killed: "},
			Expr:     `PBS: job killed: (?!p?v?mem )(?<method>\w{1,20})`,
			Kind:     parser.JobCancelled, Role: parser.Context, Set: map[string]string{"reason": "cancelled"},
			Source: "OpenPBS, src/resmom/mom_main.c: walltime, cput, ncpus",
			Match:  []pattern.Sample{{Line: "=>> PBS: job killed: walltime 3610 exceeded limit 3600", Want: parser.Fields{"method": "walltime"}}},
		},
	}
}

func fluxPatterns() []pattern.Pattern {
	return []pattern.Pattern{{
		Name:     "flux.memory",
		Literals: []string{"oom: Memory cgroup out of memory: killed "},
		Expr:     `\boom: Memory cgroup out of memory: killed (?<count>\d{1,6}) tasks?(?: on (?<host>[\w-]{1,64}(?:\.[\w-]{1,64}){0,8}))?`,
		Kind:     parser.OOMKill, Role: parser.Evidence, Source: "flux-core, src/shell/oom.c",
		Match: []pattern.Sample{
			{Line: "flux-shell[0]: ERROR: oom: Memory cgroup out of memory: killed 1 task on node7.", Want: parser.Fields{"count": "1", "host": "node7"}},
			{Line: "oom: Memory cgroup out of memory: killed 3 tasks.", Want: parser.Fields{"count": "3"}},
		},
	}}
}

func lsfPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "lsf.memory",
			Literals: []string{"job killed after reaching LSF memory usage limit"},
			Expr:     `(?:TERM_MEMLIMIT: |Exited; )job killed after reaching LSF memory usage limit`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "IBM Spectrum LSF 8-10, the report at the end of a job's output",
			Match: lines("TERM_MEMLIMIT: job killed after reaching LSF memory usage limit."),
		},
		{
			// Of a job that was ended at its limit, the most that it used is the limit.
			Name:  "lsf.most",
			After: []string{"lsf.memory"}, Within: 16,
			Expr: `^\s{0,8}Max Memory :\s{1,60}(?<limit_sz>\d{1,9}(?:\.\d{1,3})? [KMGT]B)\s*$`,
			Kind: parser.OOMKill, Role: parser.Detail, Source: "IBM Spectrum LSF 8-10, the resource usage summary",
			Match:   []pattern.Sample{{Line: "    Max Memory :                                 65536 MB", Want: parser.Fields{"limit": "68719476736"}}},
			NoMatch: []string{"    Average Memory :                             40112.00 MB"},
		},
		{
			Name:     "lsf.terminated",
			Literals: []string{"TERM_RUNLIMIT: ", "TERM_CPULIMIT: ", "TERM_OWNER: ", "TERM_ADMIN: ", "TERM_PREEMPT: ", "TERM_DEADLINE: ", "TERM_FORCE_"},
			Expr:     `TERM_(?:(?:RUN|CPU)LIMIT|OWNER|ADMIN|PREEMPT|DEADLINE|FORCE_\w{1,12}): job killed`,
			Kind:     parser.JobCancelled, Role: parser.Context, Set: map[string]string{"reason": "cancelled"},
			Source: "IBM Spectrum LSF 8-10: limits of time, and people",
			Match:  lines("TERM_RUNLIMIT: job killed after reaching LSF run time limit.", "TERM_OWNER: job killed by owner."),
		},
	}
}

func sgePatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "sge.memory",
			Literals: []string{"job hard limit \"", "job soft limit \""},
			Expr:     `job (?<job>\d{1,12})(?:\.\d{1,9})? exceeds job (?:hard|soft) limit "[hs]_(?:vmem|rss|data)" of queue "[^"@]{1,100}@?(?<node>[\w.-]{0,253})" \((?<used_b>\d{1,19})(?:\.\d+)? > limit:(?<limit_b>\d{1,19})`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "Grid Engine 6-8 and its forks, daemons/execd/reaper_execd.c, in the messages of the host",
			Match: []pattern.Sample{{
				Line: `05/11/2021 10:22:33|  main|node12|W|job 71231 exceeds job hard limit "h_vmem" of queue "all.q@node12" (34560000000.00000 > limit:34359738368.00000) - sending SIGKILL`,
				Want: parser.Fields{"job": "71231", "node": "node12", "used": "34560000000", "limit": "34359738368"},
			}},
			NoMatch: []string{`job 71231 exceeds job hard limit "h_cpu" of queue "all.q@node12" (90000.00000 > limit:86400.00000) - sending SIGKILL`},
		},
		{
			Name:     "sge.enforced",
			Literals: []string{"execd enforced "},
			Expr:     `\bfailed (?:\d{1,3} {0,4}: {0,4})?execd enforced [hs]_(?:vmem|rss|data) limit`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "Grid Engine 6-8 and its forks, the mail at the end of a job and qacct",
			Match:   lines("failed execd enforced h_vmem limit because:", "failed 37 : execd enforced h_rss limit"),
			NoMatch: []string{"failed execd enforced h_rt limit because:", "failed       37  : qmaster enforced h_rt, h_cpu, or h_vmem limit"},
		},
		{
			Name:     "sge.sigkill",
			Literals: []string{"died through signal KILL (9)"},
			Expr:     `\bjob (?<job>\d{1,12})(?:\.\d{1,9})? died through signal KILL \((?<signal>9)\)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: "Grid Engine, the mail at the end of a job",
			Match: []pattern.Sample{{Line: "job 71231.1 died through signal KILL (9)", Want: parser.Fields{"job": "71231", "signal": "9"}}},
		},
	}
}

func condorPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "condor.memory",
			Literals: []string{"memory limit of "},
			Expr:     `(?:(?:Job|Docker job) has gone over|Memory usage exceeded) (?:cgroup )?memory limit of (?<limit_mib>\d{1,9}) (?:megabytes|Mb)(?:\. (?:Peak|Last measured) usage: (?<used_mib>\d{1,9}) megabytes)?`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "HTCondor 8-24, src/condor_starter.V6.1/vanilla_proc.cpp, docker_proc.cpp",
			Match: []pattern.Sample{{
				Line: "Hold reason: Error from slot1_7@gpu-2.example.edu: Docker job has gone over memory limit of 1024 Mb", Want: parser.Fields{"limit": "1073741824"},
			}, {
				Line: "Error from slot1@node-3: Job has gone over cgroup memory limit of 8192 megabytes. Peak usage: 8200 megabytes.  Consider resubmitting with a higher request_memory.",
				Want: parser.Fields{"limit": "8589934592", "used": "8598323200"},
			}},
		},
		{
			// Each site gives its own unit.
			Name:     "condor.hold",
			Literals: []string{"put on hold by SYSTEM_PERIODIC_HOLD due to memory"},
			Expr:     `\bput on hold by SYSTEM_PERIODIC_HOLD due to memory usage \d`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "HTCondor at OSG sites, SYSTEM_PERIODIC_HOLD_REASON; DAGMan's log repeats it",
			Match: lines("Hold reason: Job in status 2 put on hold by SYSTEM_PERIODIC_HOLD due to memory usage 3000000."),
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
				{Line: "Replicas low on memory: worker. To find out more about why your job exited please check the logs"},
			},
		},
		{
			// Dask's nanny kills its worker and starts another one; the work is tried again.
			Name:     "dask.memory",
			Literals: []string{"% memory budget"},
			Expr:     `Worker (?:\S{1,120} \(pid=(?<pid>\d{1,10})\) )?exceeded \d{1,3}% memory budget\. {1,2}Restarting`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Set: map[string]string{"retries": "infinite"}, Source: "dask.distributed 1.x-2025, distributed/nanny.py, worker_memory.py",
			Match: []pattern.Sample{
				{Line: "distributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting"},
				{Line: "distributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:38041 (pid=4711) exceeded 95% memory budget. Restarting...", Want: parser.Fields{"pid": "4711"}},
			},
			NoMatch: []string{"distributed.worker.memory - WARNING - Worker is at 89% memory usage. Pausing worker.  Process memory: 2.09 GiB -- Worker memory limit: 2.33 GiB"},
		},
		{
			// Shown when the kernel of a notebook was ended; it restarts.
			Name:     "notebook.memory",
			Literals: []string{"session crashed after using all available RAM", "notebook tried to allocate more memory than is available"},
			Expr:     `^(?:Your session crashed after using all available RAM\b|Your notebook tried to allocate more memory than is available\b)`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "Google Colab and Kaggle 2020-2025, the notice on a notebook's page",
			Match: lines(
				"Your session crashed after using all available RAM. If you are interested in access to high-RAM runtimes, you may want to check out Colab Pro.",
				"Your notebook tried to allocate more memory than is available. It has restarted.",
			),
			NoMatch: []string{"Your session crashed for an unknown reason.", "KernelRestarter: restarting kernel (1/5), keep random ports"},
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
