package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGenuineSlurmLogs reads the logs of a real Slurm. How each was made: fixtures/slurm-logs/README.md.
func TestGenuineSlurmLogs(t *testing.T) {
	t.Parallel()
	type want struct {
		verdict, kind string
		line          int
		pid           int   // 0: not told
		limit         int64 // 0: not told
		phase         string
		job           string
	}
	oom := func(line, pid int, job string) want { return want{"memory", "oom_kill", line, pid, 0, "unknown", job} }
	none := want{}
	suspect := func(line, pid int, phase, job string) want {
		return want{"suspect", "oom_kill", line, pid, 0, phase, job}
	}
	for name, w := range map[string]want{
		"cgroup-oom-batch.log":               oom(10, 21356, "4"),
		"cgroup-oom-exec.log":                oom(8, 0, "5"),
		"cgroup-oom-srun-label.log":          oom(10, 0, "6"),
		"cgroup-oom-srun.log":                oom(10, 0, "7"),
		"cgroup-oom-survived.log":            oom(3, 23375, "8"),
		"cgroup-oom-heredoc.log":             oom(10, 23740, "12"),
		"cgroup-oom-cpp.log":                 oom(5, 23741, "13"),
		"cgroup-oom-split.err":               oom(3, 23855, "14"),
		"cgroup-oom-array-task-2.log":        oom(5, 0, "17"),
		"cgroup-oom-dataloader.log":          {"memory", "oom_kill", 46, 24840, 0, "data", "24"},
		"cgroup-oom-futures.log":             {"memory", "oom_kill", 21, 0, 0, "data", "25"},
		"cgroup-oom-srun-o-file.log":         oom(5, 0, "36"),
		"cgroup-oom-srun-interactive.log":    oom(5, 0, "7"),
		"cgroup-oom-salloc.log":              oom(7, 0, "8"),
		"srun-label-12-tasks.log":            oom(43, 0, "1"),
		"llm-client.err":                     oom(7, 7582, "4"),
		"taskepilog-in-log.log":              oom(3, 0, "23"),
		"overmemory-kill-batch.log":          {"memory", "oom_kill", 8, 0, 209715200, "unknown", "2"},
		"overmemory-kill-srun.log":           {"memory", "oom_kill", 1, 0, 209715200, "unknown", "3"},
		"dmesg-oom-cgroup-v1.log":            {"memory", "oom_kill", 79, 9892, 157286400, "unknown", ""},
		"slurmd-log-oom.log":                 oom(11, 0, "4"),
		"slurmctld-log-oom.log":              oom(3, 0, "4"),
		"sacct-oom.txt":                      oom(3, 0, "54"),
		"sacct-oom-parsable.txt":             {"memory", "oom_kill", 2, 0, 100 << 20, "unknown", "54"}, // ReqMem
		"scontrol-show-job-oom.txt":          oom(4, 0, "54"),
		"scontrol-show-job-oom-oneliner.txt": oom(1, 0, "54"),
		"python-memoryerror.log":             {"memory", "host_oom", 6, 0, 0, "unknown", ""},
		"numpy-arraymemoryerror.log":         {"memory", "host_oom", 7, 0, 0, "unknown", ""},
		"cpp-bad-alloc.log":                  {"memory", "host_oom", 4, 0, 0, "unknown", "19"},
		"torch-cpu-allocator.log":            {"memory", "host_oom", 5, 0, 0, "unknown", ""},
		"torch-cpu-allocator-huge.log":       {"memory", "host_oom", 6, 0, 0, "init", ""},
		"torch-dataloader-shm-bus-error.log": {"memory", "shm_exhausted", 3, 26037, 0, "data", ""},
		"go-out-of-memory.log":               {"memory", "host_oom", 3, 0, 0, "unknown", ""},
		"cgroup-oom-split.out":               none,
		"cgroup-oom-array-task-1.log":        none,
		"cgroup-oom-array-task-3.log":        none,
		"llm-client.out":                     none,
		"llm_server.log":                     none,
		"sigkill-script.log":                 none, // nobody wrote anything
		"time-limit.log":                     none,
		"scancel.log":                        none,
		"requeue.log":                        none,
		"preempted.log":                      none,
		"node-failure.log":                   none,
		"stepd-terminated.log":               none,
		"srun-137.log":                       suspect(3, 0, "unknown", "11"),
		"two-nodes-kill.log":                 suspect(5, 0, "unknown", "9"),
		"bash-killed.log":                    suspect(2, 23432, "unknown", "10"),
		"het-job.log":                        suspect(43, 0, "unknown", "14"),
		"torch-dataloader-sigkill.log":       suspect(22, 24832, "data", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, r := scan(t, "../../fixtures/slurm-logs", name)
			if w == none {
				assert.Equal(t, 0, status)
				assert.Empty(t, r.Incidents)
				return
			}
			require.Len(t, r.Incidents, 1)
			in := &r.Incidents[0]
			assert.Equal(t, w.verdict == "memory", status == 1, "exit status %d", status)
			got := want{in.Verdict, in.Kind, in.Root.Line, 0, 0, in.Phase, ""}
			if in.Root.PID != nil {
				got.pid = *in.Root.PID
			}
			if in.Root.Limit != nil {
				got.limit = *in.Root.Limit
			}
			if r.Run.JobID != nil {
				got.job = *r.Run.JobID
			}
			assert.Equal(t, w, got)
		})
	}
}
