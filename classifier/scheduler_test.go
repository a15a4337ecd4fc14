package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSchedulersSayThatAJobReachedItsMemory reads the words of batch systems, clusters and daemons for a kill for memory: who
// limits it, and its limit if that is printed with a unit.
func TestSchedulersSayThatAJobReachedItsMemory(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for log, want := range map[string]struct {
		scheduler string
		limit     int64
	}{
		"slurmstepd: error: Job 4 exceeded memory limit (1843460 > 1843200), being killed":                                                                         {"slurm", 1843200 << 10}, // 2015
		"slurmd[n12]: Job 88 exceeded 4194304 KB memory limit, being killed":                                                                                       {"slurm", 4 * gib},
		"slurmstepd: error: Detected 1 oom-kill event(s) in step 4.batch cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.": {"slurm", 0}, // 17.11
		"slurmstepd: error: Detected 1 oom_kill event in StepId=718823.extern. Some of the step tasks have been OOM Killed.":                                       {"slurm", 0}, // 22.05
		"srun: error: node01: task 7: Out Of Memory":                                                                                                               {"slurm", 0},
		"15_2  gpu  train  OUT_OF_MEMORY":                                                                                             {"slurm", 0},
		"=>> PBS: job killed: mem 38427376kb exceeded limit 33554432kb":                                                               {"pbs", 32 * gib},
		"job 3132467 exceeded MEM usage hard limit (2528 > 1024)":                                                                     {"pbs", gib},
		"TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 130.\n    Max Memory :     65536 MB": {"lsf", 64 * gib},
		`05/11/2021 10:22:33|  main|node12|W|job 71231 exceeds job hard limit "h_vmem" of queue "all.q@node12" (34560000000.00000 > limit:34359738368.00000) - sending SIGKILL`:                                                                                                         {"sge", 32 * gib},
		"Error from slot1@node-3: Job has gone over cgroup memory limit of 8192 megabytes. Peak usage: 8200 megabytes.  Consider resubmitting with a higher request_memory.":                                                                                                            {"condor", 8 * gib},
		"flux-shell[0]: ERROR: oom: Memory cgroup out of memory: killed 1 task on node7.":                                                                                                                                                                                               {"", 0},
		"Containers:\n  trainer:\n    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:          64Gi":                                                                                                                     {"k8s", 64 * gib},
		"Containers:\n  proxy:\n    State:          Running\n    Limits:\n      memory:  1Gi\n  trainer:\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:          48Gi\n    Requests:\n      memory:          32Gi": {"k8s", 48 * gib},
		"Containers:\n  trainer:\n    Last State:     Terminated\n      Reason:       OOMKilled\n    Limits:\n      memory:  48Gi\n  proxy:\n    State:          Running\n    Limits:\n      memory:  1Gi":                                                                              {"k8s", 48 * gib},
		"Containers:\n  proxy:\n    State:          Running\n    Limits:\n      memory:  1Gi\n  trainer:\n    Last State:     Terminated\n      Reason:       OOMKilled\n    Requests:\n      memory:  32Gi":                                                                            {"k8s", 0},
		"spec:\n  containers:\n  - name: trainer\n    resources:\n      limits:\n        memory: 64Gi\nstatus:\n  containerStatuses:\n  - lastState:\n      terminated:\n        exitCode: 137\n        reason: OOMKilled":                                                              {"k8s", 64 * gib},
		"sft-worker-0                       0/1     OOMKilled          2 (31s ago)   5m":                                                                                                                                                                                                {"k8s", 0},
		"Warning  SystemOOM  6m57s  kubelet  System OOM encountered, victim process: python3, pid: 3419":                                                                                                                                                                                {"k8s", 0},
		"trainer.service: systemd-oomd killed 12 process(es) in this unit.":                                                                                                                                                                                                             {"", 0},
		`earlyoom[812]: sending SIGKILL to process 4711 uid 1000 "python3": badness 1211, VmRSS 1024 MiB`:                                                                                                                                                                               {"", 0},
		"distributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:38041 (pid=4711) exceeded 95% memory budget. Restarting...":                                                                                                                                                        {"", 0},
		"Container [pid=4711,containerID=container_1_2] is running beyond physical memory limits. Current usage: 8.1 GB of 8 GB physical memory used; 9 GB of 16 GB virtual memory used. Killing container.":                                                                            {"", 8 * gib},
	} {
		t.Run(log, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": log + "\n"})
			require.Len(t, got.Incidents, 1)
			in := got.Incidents[0]
			assert.Equal(t, Memory, in.Verdict)
			assert.Equal(t, "oom_kill", string(in.Kind))
			assert.Equal(t, want.scheduler, got.Run.Scheduler)
			limit := int64(0)
			if in.Root.Limit != nil {
				limit = *in.Root.Limit
			}
			assert.Equal(t, want.limit, limit)
		})
	}
	for _, log := range []string{
		"=>> PBS: job killed: walltime 3610 exceeded limit 3600",
		"TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
		`job 71231 exceeds job hard limit "h_cpu" of queue "all.q@node12" (90000.00000 > limit:86400.00000) - sending SIGKILL`,
		"slurmstepd: error: *** JOB 4242 ON n1 CANCELLED AT 2026-01-01T06:00:18 DUE TO TIME LIMIT ***",
		"Memory Efficiency: 99.91% of 96.00 GB",
		"    Limits:\n      memory:          64Gi",
		"kube_pod_container_status_last_terminated_reason{reason=\"OOMKilled\"} 0",
		"trainer.service: Main process exited, code=exited, status=1/FAILURE",
		"srun: error: pool0-0071: task 0: Exited with exit code 1",
		"distributed.worker.memory - WARNING - Worker is at 81% memory usage. Pausing worker.",
	} {
		for _, in := range read(t, map[string]string{"a.log": log + "\n"}).Incidents {
			assert.NotEqual(t, Memory, in.Verdict, log)
		}
	}
}
