package traceback

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func feedKernel(k *KernelReport, text string) (in string, all []KernelKill) {
	for i, l := range strings.Split(text, "\n") {
		if k.Feed(i+1, []byte(l)) {
			in += "+"
		} else {
			in += "."
		}
		all = append(all, k.Take()...)
	}
	return in, append(all, k.Close()...)
}

const memcgReport = `python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
CPU: 0 UID: 2001 PID: 9893 Comm: python Not tainted 6.18.44 #1
Call Trace:
memory: usage 153600kB, limit 153600kB, failcnt 40
memory+swap: usage 153600kB, limit 9007199254740988kB, failcnt 0
Memory cgroup stats for /slurm/uid_1/job_88:
anon 136980033536
file 140247040
shmem 40247040
Tasks state (memory values in pages):
[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name
[   9887]     0  9887    35732     1428      192     1236         0    73728        0         -1000 slurmstepd
[   9892]  2001  9892    44454    39634    38208     1426         0   372736        0             0 my (odd) name
oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/slurm/uid_1/job_88,task_memcg=/slurm/uid_1/job_88/step_batch/task_0,task=my (odd), name,pid=9892,uid=2001
Memory cgroup out of memory: Killed process 9892 (my (odd), name) total-vm:177816kB, anon-rss:152832kB, file-rss:5704kB, shmem-rss:0kB, UID:2001 pgtables:364kB oom_score_adj:0
oom_reaper: reaped process 9892 (python), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB`

func TestKernelReport(t *testing.T) {
	t.Parallel()
	var k KernelReport
	in, kills := feedKernel(&k, memcgReport)
	assert.Equal(t, "++.+++++++++++++", in)
	require.Len(t, kills, 1)
	assert.Equal(t, KernelKill{
		Line: 15, PID: 9892, Comm: "my (odd), name", Task: -1,
		TotalVM: 177816 << 10, AnonRSS: 152832 << 10, FileRSS: 5704 << 10, ShmemRSS: 0,
		Constraint: "CONSTRAINT_MEMCG", OOMMemcg: "/slurm/uid_1/job_88",
		TaskMemcg: "/slurm/uid_1/job_88/step_batch/task_0", Job: "88", Step: "batch",
		TriggerComm: "python", Usage: 153600 << 10, Limit: 153600 << 10,
		Anon: 136980033536, File: 100000000, Shmem: 40247040,
		Tasks: []KernelTask{
			{PID: 9892, Comm: "my (odd) name", RSS: 38208 * 4096},
			{PID: 9887, Comm: "slurmstepd", RSS: 192 * 4096},
		},
	}, kills[0])
}

func TestProcessesOfOneNameThatHoldMostAreSummedUp(t *testing.T) {
	t.Parallel()
	report := func(name string, rows int) string {
		s := "python invoked oom-killer: y\n[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n[    900]  1003   900 14101012  1000000  17981440    86010             0 python\n"
		for i := range rows {
			s += fmt.Sprintf("[   %d]  1003   %d 11405995   100000   5482496    23334             0 %s\n", 1000+i, 1000+i, name)
		}
		return s + "Out of memory: Killed process 900 (python) total-vm:4kB, anon-rss:1kB, file-rss:2kB, shmem-rss:3kB"
	}
	for name, c := range map[string]struct {
		log  string
		want KernelGroup
	}{
		"many, more than the table keeps": {report("pt_data_worker", 64), KernelGroup{"pt_data_worker", 64, 64 * 100000 * 4096}},
		"too few to hold most":            {report("pt_data_worker", 9), KernelGroup{}},
		"one that holds most":             {report("x", 0), KernelGroup{}},
	} {
		var k KernelReport
		_, kills := feedKernel(&k, c.log)
		require.Len(t, kills, 1, name)
		assert.Equal(t, c.want, kills[0].Biggest, name)
	}
}

func TestKernelReportForms(t *testing.T) {
	t.Parallel()
	const killed = "Memory cgroup out of memory: Killed process 7 (b) total-vm:4kB, anon-rss:1kB, file-rss:2kB, shmem-rss:3kB"
	tests := []struct {
		name, text string
		want       []string // "line pid comm anon memcg limit job"
	}{
		{"old two-line form, the child dies", "Memory cgroup out of memory: Kill process 5 (a) score 998 or sacrifice child\nKilled process 7 (b) total-vm:4kB, anon-rss:1kB, file-rss:2kB, shmem-rss:3kB", []string{"2 7 b 1024 -1 "}},
		{"old form alone", "Out of memory: Kill process 5 (a) score 998 or sacrifice child", []string{"1 5 a -1 -1 "}},
		{"old form with a user", "Killed process 7 (b), UID 0, total-vm:4kB, anon-rss:1kB, file-rss:2kB", []string{"1 7 b 1024 -1 "}},
		{"constraint alone", "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/system.slice/slurmstepd.scope/job_9/step_0/user/task_1,task=ray::W,pid=7,uid=1", []string{"1 7 ray::W -1 -1 9"}},
		{"global", "Out of memory: Killed process 7 (b) total-vm:4kB, anon-rss:1kB, file-rss:2kB, shmem-rss:3kB", []string{"1 7 b 1024 -1 "}},
		{"two kills, the second knows nothing of the first's report", memcgReport + "\n" + killed, []string{"15 9892 my (odd), name 156499968 157286400 88", "17 7 b 1024 -1 "}},
		{"a group dies together", memcgReport + "\nTasks in /slurm/uid_1/job_88 are going to be killed due to memory.oom.group set\n" + killed, []string{"15 9892 my (odd), name 156499968 157286400 88", "18 7 b 1024 157286400 88"}},
		{"cgroup v1's task line", "x invoked oom-killer: y\nTask in /slurm/uid_1/job_5/step_2 killed as a result of limit of /slurm/uid_1/job_5\nmemory: usage 8kB, limit 8kB, failcnt 1\n" + killed, []string{"4 7 b 1024 8192 5"}},
		{"no limit is no number", "x invoked oom-killer: y\nmemory: usage 8kB, limit 9007199254740988kB, failcnt 1\n" + killed, []string{"3 7 b 1024 -1 "}},
		{"time left in front", "[ 4359.029763] x invoked oom-killer: y\n[ 4359.029909] memory: usage 8kB, limit 16kB, failcnt 40\n[ 4359.029910] " + killed, []string{"3 7 b 1024 16384 "}},
		{"a launcher's words", "INFO Killed process 7 (worker)", nil},
		{"report without its last lines", "x invoked oom-killer: y\nmemory: usage 8kB, limit 16kB, failcnt 40", []string{"1 0  -1 16384 "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var k KernelReport
			_, kills := feedKernel(&k, tt.text)
			var got []string
			for _, p := range kills {
				got = append(got, fmt.Sprintf("%d %d %s %d %d %s", p.Line, p.PID, p.Comm, p.AnonRSS, p.Limit, p.Job))
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestKernelReportStats(t *testing.T) {
	t.Parallel()
	const killed = "\nMemory cgroup out of memory: Killed process 7 (b) total-vm:4kB, anon-rss:1kB, file-rss:2kB, shmem-rss:3kB"
	tests := []struct {
		name, text         string
		anon, file, shared int64
	}{
		{"cgroup v1 totals", "Memory cgroup stats for /a:\ncache 0\nrss 0\nshmem 0\ntotal_cache 900\ntotal_rss 700\ntotal_shmem 400", 700, 500, 400},
		{"pairs per group add up", "Memory cgroup stats for /a: cache:8KB rss:4KB rss_huge:0KB\nMemory cgroup stats for /a/b: cache:8KB rss:4KB", 8192, 16384, Unknown},
		{"another driver's line in between", "Memory cgroup stats for /a:\nanon 10\nhierarchical_memsw_limit 9223372036854771712\nNVRM: Xid (PCI:0000:91:00): 43\nshmem 30", 10, Unknown, 30},
		{"none", "", Unknown, Unknown, Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var k KernelReport
			_, kills := feedKernel(&k, "x invoked oom-killer: y\n"+tt.text+killed)
			require.Len(t, kills, 1)
			assert.Equal(t, []int64{tt.anon, tt.file, tt.shared}, []int64{kills[0].Anon, kills[0].File, kills[0].Shmem})
		})
	}
}

func TestKernelReportKeepsTheLargestTasks(t *testing.T) {
	t.Parallel()
	var k KernelReport
	k.Feed(1, []byte("x invoked oom-killer: y"))
	k.Feed(2, []byte("[ pid ]   uid  tgid total_vm      rss nr_ptes swapents oom_score_adj name"))
	for i := range 5000 {
		assert.True(t, k.Feed(3+i, fmt.Appendf(nil, "[%5d]     0 %d 9 %d 3 0 0 p", i+1, i+1, i*7%5000)))
	}
	k.Feed(6000, []byte("Out of memory: Killed process 7 (b) total-vm:4kB, anon-rss:1kB, file-rss:2kB"))
	kills := k.Take()
	require.Len(t, kills, 1)
	require.Len(t, kills[0].Tasks, maxTasks)
	assert.Equal(t, int64(4999*4096), kills[0].Tasks[0].RSS)
	assert.Equal(t, int64(4980*4096), kills[0].Tasks[19].RSS)
	assert.False(t, k.Open())
}
