package epilog

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPatternsAsSlurmExpandsThem contains what Slurm 22.05.8 made of patterns in batch jobs.
func TestPatternsAsSlurmExpandsThem(t *testing.T) {
	t.Parallel()
	single := Names{Job: 39, Array: "39", Task: noTask, User: "alice", Name: "weird", Host: "vm", Node: "node01", Restarts: "1", SLUID: "s9"}
	array := Names{Job: 42, Array: "41", Task: "12", User: "alice", Name: "a b/c", Host: "vm", Node: "node01"}
	bare := Names{Job: 7, User: "alice", Host: "vm", Node: "node01"}
	for _, x := range []struct {
		pattern string
		names   *Names
		want    string
		later   string // with the rules of new versions; empty: the same
	}{
		{"out/%u-%x_%4j-%A-%a-%N-%n-%t-%s-%J-%%-%q.out", &single, "out/alice-weird_0039-39-4294967294-vm-0-0-batch-39-%-%q.out", "out/alice-weird_0039-39-4294967294-node01-0-0-batch-39-%-%q.out"},
		{"arr-%A_%3a-%b-%j.out", &array, "arr-41_012-%b-42.out", "arr-41_012-2-42.out"},
		{`a\%j.out`, &single, "a%j.out", ""},
		{`\%x\n`, &single, "%xn", ""},
		{"%x.err", &array, "a b/c.err", ""},
		{"nl\n%j.out", &Names{Job: 31}, "nl\n31.out", ""},
		{"%20j %10j %0j", &single, "0000000039 0000000039 39", ""},
		{"%99999999999999999999j", &single, "0000000039", ""},
		{"%5u|%5x|%5s|%5N", &single, "alice|weird|batch|vm", "alice|weird|batch|node01"},
		{"%r-%S", &single, "%r-%S", "1-s9"},
		{"100%", &single, "100%", ""},
		{"%12", &single, "%12", ""},
		{"%", &single, "%", ""},
		{"%%j", &single, "%j", ""},
		{"%5q%j", &single, "%5q39", ""},
		{"%é%j", &single, "%é39", ""},
		{"%x-%A_%a.err", &bare, "\x00-\x00_\x00.err", ""},
		{"%3a", &bare, "\x00", ""},
		{"", &single, "", ""},
	} {
		assert.Equal(t, x.want, expand(x.pattern, x.names, false), "%q", x.pattern)
		if x.later == "" {
			x.later = x.want
		}
		assert.Equal(t, x.later, expand(x.pattern, x.names, true), "%q, later", x.pattern)
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"%x-%A_%a.err", "out/%u_%4j-%%-%q.out", `a\%j`, "%", "%99999999999j", "\n%é"} {
		f.Add(s, "name", uint32(7), true)
	}
	f.Fuzz(func(t *testing.T, pattern, name string, job uint32, later bool) {
		if strings.Contains(pattern+name, unknown) {
			t.Skip("a path has no NUL")
		}
		known := expand(pattern, &Names{Job: max(job, 1), Array: "1", Task: "2", User: "u", Name: name + "x", Host: "h", Node: "n", Restarts: "0", SLUID: "s"}, later)
		require.NotContains(t, known, unknown)
		wild := expand(pattern, &Names{User: "u", Host: "h", Node: "n", Restarts: "0", SLUID: "s"}, later)
		require.True(t, matches(wild, known), "%q does not fit %q", known, wild)
		if !strings.ContainsAny(pattern, `%\`) {
			require.Equal(t, pattern, known)
		}
		if hasJobID(pattern) {
			other := expand(pattern, &Names{Job: job/2 + 100_000, User: "u", Host: "h", Node: "n", Restarts: "0", SLUID: "s"}, later)
			require.NotEqual(t, other, expand(pattern, &Names{Job: 7, User: "u", Host: "h", Node: "n", Restarts: "0", SLUID: "s"}, later))
		}
	})
}

func TestWhichNamesFitUnknownParts(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		wild, name string
		want       bool
	}{
		{"\x00-17.err", "train-17.err", true},
		{"\x00-17.err", "train-117.err", false},
		{"\x00-17.err", "-17.err", true},
		{"slurm-\x00_\x00.out", "slurm-15_2.out", true},
		{"slurm-\x00_\x00.out", "slurm-15.out", false},
		{"a\x00a", "a", false},
		{"\x00", "anything", true},
		{"plain", "plain", true},
		{"plain", "plainer", false},
	} {
		assert.Equal(t, x.want, matches(x.wild, x.name), "%q %q", x.wild, x.name)
	}
}

func TestFirstHostOfAList(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"node01":            "node01",
		"node[01-02]":       "node01",
		"node[007,9-12],x":  "node007",
		"a[3,5-7]b[2-4],c1": "a3b2",
		"gpu7,node[01-02]":  "gpu7",
		"r1-c[2-9]-n[01-8]": "r1-c2-n01",
		"node[01-02":        "",
		"":                  "",
		"[":                 "",
		"../../etc":         "",
		"a b":               "",
		"-rf":               "",
		"n\n1":              "",
		"node[1-2],\x1b[2J": "node1",
	} {
		assert.Equal(t, want, firstHost(list), "%q", list)
	}
}

func FuzzFirstHost(f *testing.F) {
	f.Add("node[01-02]")
	f.Add("a[3,5-7]b[2-4],c1")
	f.Fuzz(func(t *testing.T, list string) {
		h := firstHost(list)
		require.True(t, h == "" || hostName(h))
		require.NotContains(t, h, "/")
	})
}

// TestTheRecordOfAJob reads real output of scontrol, and what a job's name can make of it.
func TestTheRecordOfAJob(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		about, out string
		job        uint32
		want       record
		found      bool
	}{
		{
			about: "a plain job", job: 54, found: true, want: record{Name: "wrap"},
			out: "JobId=54 JobName=wrap UserId=user(2001) GroupId=user(2001) MCS_label=N/A StdErr=/home/user/run/sa-54.out Power= \n",
		},
		{
			about: "a task of an array, by the array's number", job: 17, found: true, want: record{Array: "15", Task: "2", Name: "train"},
			out: "JobId=15 ArrayJobId=15 ArrayTaskId=3 JobName=train UserId=user(2001) X=1\nJobId=17 ArrayJobId=15 ArrayTaskId=2 JobName=train UserId=user(2001) X=2\n",
		},
		{
			about: "a name with a record in it", job: 31, found: true, want: record{Name: "evil\nJobId=31 ArrayJobId=9 ArrayTaskId=9 JobName=fake"},
			out: "JobId=31 JobName=evil\nJobId=31 ArrayJobId=9 ArrayTaskId=9 JobName=fake UserId=user(2001) Y=1\n",
		},
		{
			about: "a name with a user in it", job: 31, found: true, want: record{Name: "x UserId=root(0)"},
			out: "JobId=31 JobName=x UserId=root(0) UserId=user(2001) Y=1\n",
		},
		{about: "another job's", job: 5, out: "JobId=54 JobName=wrap UserId=user(2001)\n"},
		{about: "no record", job: 5, out: "slurm_load_jobs error: Invalid job id specified\n"},
		{about: "nothing", job: 5, out: ""},
		{about: "numbers that are none", job: 5, found: true, want: record{Name: "x"}, out: "JobId=5 ArrayJobId=../1 ArrayTaskId=+2 JobName=x UserId=user(2001)\n"},
	} {
		got, ok := jobRecord(x.out, x.job, 2001)
		require.Equal(t, x.found, ok, x.about)
		got.Rest = nil
		assert.Equal(t, x.want, got, x.about)
	}
}

func FuzzJobRecord(f *testing.F) {
	f.Add("JobId=17 ArrayJobId=15 ArrayTaskId=2 JobName=train UserId=user(2001) X=2\n", uint32(17))
	f.Add("JobId=31 JobName=evil\nJobId=31 ArrayJobId=9 JobName=fake UserId=user(2001)", uint32(31))
	f.Fuzz(func(t *testing.T, out string, job uint32) {
		r, ok := jobRecord(out, job, 2001)
		if !ok {
			return
		}
		require.Equal(t, r.Array, decimal(r.Array))
		require.Equal(t, r.Task, decimal(r.Task))
		require.LessOrEqual(t, len(r.Name), maxName)
	})
}

// environ looks up variables in env(1)'s output.
func environ(text string) func(string) string {
	return func(key string) string {
		for line := range strings.Lines(text) {
			if k, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok && k == key {
				return v
			}
		}
		return ""
	}
}

func TestEnvironmentOfAJob(t *testing.T) {
	t.Parallel()
	const oom = `SLURMD_NODENAME=node01
SLURM_CLUSTER_NAME=throwaway
SLURM_CONF=/etc/slurm/slurm.conf
SLURM_JOB_DERIVED_EC=0
SLURM_JOB_EXIT_CODE2=0:125
SLURM_JOB_EXIT_CODE=253
SLURM_JOB_GID=2001
SLURM_JOB_ID=4
SLURM_JOB_RESTART_COUNT=0
SLURM_JOB_STDIN=/dev/null
SLURM_JOB_UID=2001
SLURM_JOB_USER=user
SLURM_JOB_WORK_DIR=/home/user/run
SLURM_NODELIST=node01
SLURM_SCRIPT_CONTEXT=epilog_slurmd
`
	read := func(extra string) Job {
		j, err := fromEnv(environ(extra+oom), "vm.example.org")
		require.NoError(t, err)
		return j
	}
	j := read("")
	assert.Equal(t, Job{
		Context: "epilog_slurmd", ID: 4, UID: 2001, GID: 2001, User: "user", WorkDir: "/home/user/run", Batch: true, Node: "node01", First: "node01",
		Names: Names{Job: 4, User: "user", Host: "vm", Node: "node01", Restarts: "0"}, ExitCode: 253, Conf: "/etc/slurm/slurm.conf", Cluster: "throwaway",
	}, j)
	assert.True(t, j.OutOfMemory())
	assert.True(t, j.Reports())
	assert.Equal(t, "JobId=4 ExitCode=0:125 DerivedExitCode=0:0\n", j.exitCodes())

	j = read("SLURM_NODELIST=node[01-02]\nSLURMD_NODENAME=node02\n")
	assert.False(t, j.Reports(), "the second of two nodes")
	assert.Empty(t, j.Names.Host, "this machine's name is not the first node's")
	j = read("SLURM_JOB_NODELIST=node[01-02]\nSLURM_NODELIST=node9\n")
	assert.True(t, j.Reports(), "the new variable goes before the old one")

	j = read("SLURM_JOB_EXIT_CODE=0\nSLURM_JOB_DERIVED_EC=253\n")
	assert.True(t, j.OutOfMemory(), "a step")
	assert.Equal(t, "JobId=4 ExitCode=0:0 DerivedExitCode=0:125\n", j.exitCodes())
	for _, code := range []string{"0", "9", "64768", "35072", "256"} {
		j = read("SLURM_JOB_EXIT_CODE=" + code + "\n")
		assert.False(t, j.OutOfMemory(), code)
		assert.Equal(t, code != "0", j.Failed(), code)
	}
	assert.Equal(t, time.Unix(1_780_000_000, 0), func() time.Time { j := read("SLURM_JOB_START_TIME=1780000000\n"); return j.Started }())
	assert.Empty(t, func() string { j := read("SLURM_CONF=slurm.conf\n"); return j.Conf }(), "a relative path")

	for about, bad := range map[string]string{
		"no job":            "X=1\n",
		"a name for a job":  "SLURM_JOB_ID=../../etc\nSLURM_JOB_UID=1\n",
		"job 0":             "SLURM_JOB_ID=0\nSLURM_JOB_UID=1\n",
		"a large job":       "SLURM_JOB_ID=4294967296\nSLURM_JOB_UID=1\n",
		"no user":           "SLURM_JOB_ID=4\n",
		"a name for a user": "SLURM_JOB_ID=4\nSLURM_JOB_UID=root\n",
	} {
		_, err := fromEnv(environ(bad), "vm")
		assert.Error(t, err, about)
	}
}

func FuzzEnvironment(f *testing.F) {
	f.Add("SLURM_JOB_ID=4\nSLURM_JOB_UID=7\nSLURM_NODELIST=node[01-02]\nSLURM_JOB_STDERR=/x/%j\nSLURM_JOB_EXIT_CODE=253\n", "vm")
	f.Fuzz(func(t *testing.T, env, host string) {
		j, err := fromEnv(environ(env), host)
		if err != nil {
			return
		}
		require.NotZero(t, j.ID)
		require.True(t, j.Node == "" || hostName(j.Node))
		require.True(t, j.First == "" || hostName(j.First))
		require.LessOrEqual(t, len(j.Stderr), maxValue)
		require.NotContains(t, j.exitCodes()[:len(j.exitCodes())-1], "\n")
	})
}

// kernelRecords returns records of /dev/kmsg with one OOM kill in a step of a user's job.
func kernelRecords(job, uid string) []string {
	return []string{
		"6,900,4359000000,-;eth0: link up\n SUBSYSTEM=net\n DEVICE=n2\n",
		"4,901,4359029763,-;python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n",
		"6,902,4359029909,-;memory: usage 153600kB, limit 153600kB, failcnt 40\n",
		"6,903,4359030005,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/slurm_node01/uid_" + uid + "/job_" + job + ",task_memcg=/slurm_node01/uid_" + uid + "/job_" + job + "/step_0/task_0,task=python3,pid=9892,uid=" + uid + "\n",
		"3,904,4359030030,-;Memory cgroup out of memory: Killed process 9892 (python3) total-vm:177816kB, anon-rss:152832kB, file-rss:5704kB, shmem-rss:0kB, UID:" + uid + " pgtables:364kB oom_score_adj:0\n",
		"6,905,4359040000,-;something else\n",
	}
}

func TestOnlyThisJobsKernelRecordsAreTaken(t *testing.T) {
	t.Parallel()
	feed := func(k *kernelLog, records ...[]string) string {
		for _, rs := range records {
			for _, r := range rs {
				k.record([]byte(r))
			}
		}
		return string(k.out)
	}
	ours := kernelRecords("8", "2001")
	k := newKernelLog(8, 2001, "node01", 0, 0)
	got := feed(k, kernelRecords("80", "2001"), ours, kernelRecords("8", "2002"))
	assert.Equal(t, 1, k.matched)
	assert.Equal(t, uint64(905), k.last)
	assert.True(t, strings.HasPrefix(got, "[ 4359.029763] python3 invoked oom-killer: "), got)
	assert.True(t, strings.HasSuffix(got, "oom_score_adj:0\n"), got)
	assert.NotContains(t, got, "job_80")
	assert.NotContains(t, got, "2002")
	assert.NotContains(t, got, "eth0")
	assert.Equal(t, 4, strings.Count(got, "\n"))

	assert.Empty(t, feed(newKernelLog(8, 2001, "node01", 904, 0), ours), "of an earlier run")
	assert.Empty(t, feed(newKernelLog(8, 2001, "node01", 0, 4400*time.Second), ours), "before the job began")
	assert.NotEmpty(t, feed(newKernelLog(8, 2001, "node01", 0, 4300*time.Second), ours))

	forged := make([]string, 0, len(ours))
	for _, r := range ours {
		forged = append(forged, "1"+r) // level 14: facility 1, written through /dev/kmsg or by a program
	}
	assert.Empty(t, feed(newKernelLog(8, 2001, "node01", 0, 0), forged), "not the kernel's own")
	assert.Empty(t, feed(newKernelLog(8, 2001, "node02", 0, 0), ours), "another slurmd of this machine")
	scope := strings.ReplaceAll(strings.Join(ours, "\x00"), "/slurm_node01/uid_2001/", "/system.slice/slurmstepd.scope/")
	assert.NotEmpty(t, feed(newKernelLog(8, 2001, "node02", 0, 0), strings.Split(scope, "\x00")), "cgroup v2")
	named := strings.ReplaceAll(strings.Join(kernelRecords("7", "2001"), "\x00"), "task=python3", "task=x/job_8/")
	assert.Empty(t, feed(newKernelLog(8, 2001, "node01", 0, 0), strings.Split(named, "\x00")), "a program's name is no group")
}

func FuzzKernelRecords(f *testing.F) {
	f.Add([]byte(strings.Join(kernelRecords("8", "2001"), "\x00")))
	f.Fuzz(func(t *testing.T, data []byte) {
		k := newKernelLog(8, 2001, "node01", 0, 0)
		for r := range strings.SplitSeq(string(data), "\x00") {
			k.record([]byte(r))
		}
		require.LessOrEqual(t, len(k.out), maxKernel)
		if len(k.out) > 0 {
			require.Contains(t, string(k.out), "/job_8")
		}
	})
}
