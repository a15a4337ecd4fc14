package epilog

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/report"
)

// user1 and user2 own jobs. Debian has both.
const (
	user1 = nobody // nobody
	user2 = 1      // daemon
)

// site is a Slurm with the hook on its nodes.
type site struct {
	*cluster
	log string // of the hook
	etc string
}

// newSite starts a Slurm with the hook as --install sets it up.
func newSite(t *testing.T, nodes int, config string, lines ...string) *site {
	t.Helper()
	needRoot(t)
	oomscan, err := program()
	require.NoError(t, err)
	s := &site{etc: public(t)}
	_, err = Install(s.etc, oomscan)
	require.NoError(t, err)
	s.log = filepath.Join(s.etc, "log")
	require.NoError(t, os.WriteFile(filepath.Join(s.etc, ConfigName), []byte("log: "+s.log+"\nlog_all: true\n"+strings.ReplaceAll(config, "%ETC%", s.etc)), 0o644))
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "%HOOK%", filepath.Join(s.etc, WrapperName))
	}
	s.cluster = startCluster(t, nodes, append([]string{"Epilog=" + filepath.Join(s.etc, WrapperName), "PrologEpilogTimeout=20"}, lines...)...)
	return s
}

// home returns a new folder for a user's jobs.
func home(t testing.TB, uid int) string {
	t.Helper()
	dir := public(t)
	require.NoError(t, os.Chown(dir, uid, uid))
	return dir
}

// logOf returns the lines about a job in the hook's log.
func (s *site) logOf(job string) string {
	b, _ := os.ReadFile(s.log)
	var out []string
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, "job="+job+" ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// reports returns the hook's files in a folder.
func reports(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.oomscan.*"))
	require.NoError(t, err)
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	return found
}

// read reads a report, which must belong to the user.
func read(t testing.TB, dir, name string, uid int) string {
	t.Helper()
	path := filepath.Join(dir, name)
	st, err := os.Lstat(path)
	require.NoError(t, err)
	require.True(t, st.Mode().IsRegular())
	require.Equal(t, uint32(uid), st.Sys().(*syscall.Stat_t).Uid, "owner of %s", name)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// waitForRequeue makes a requeued job start soon, instead of after Slurm's two minutes, and waits until its log
// contains word. The job must not start at once: slurmd also revokes credentials from the same second as the first
// run's ("Job credential revoked"), which ends the job.
func (s *site) waitForRequeue(job, log, word string) {
	s.t.Helper()
	hurried := false
	s.until("second run", func() bool {
		if state, _ := s.try("squeue", "--noheader", "--jobs="+job, "--format=%T %r"); !hurried && strings.TrimSpace(state) == "PENDING BeginTime" {
			_, err := s.try("scontrol", "update", "job="+job, "StartTime=now+3")
			hurried = err == nil
		}
		b, _ := os.ReadFile(log)
		return strings.Contains(string(b), word)
	})
}

// Job scripts.
const (
	hog     = "tail /dev/zero" // grows until it is killed
	healthy = "echo training; echo step 1 loss 0.5; echo done"
)

// torchOOM prints what PyTorch prints when it runs out of memory.
const torchOOM = `cat <<'LOG' >&2
Traceback (most recent call last):
  File "/home/user/train.py", line 41, in step
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process has 78.10 GiB memory in use. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 6.33 GiB is reserved by PyTorch but unallocated.
LOG
exit 1`

// TestOnARealSlurm runs jobs on two nodes.
func TestOnARealSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	t.Parallel()
	s := newSite(t, 2, "json: true\ntextfile: %ETC%/oomscan.prom\nspool: %ETC%\n")
	node := "--nodelist=" + s.nodes[0]
	check := func(t *testing.T) {
		t.Helper()
		require.NoError(t, s.idle(), "%s", s.logOf(""))
	}

	t.Run("a job that the kernel kills", func(t *testing.T) {
		if !s.kills {
			skip(t, "no control groups for memory on this machine")
		}
		dir := home(t, user1)
		job := s.submit(user1, dir, hog, node, "--mem=50M")
		s.wait(job)
		check(t)
		text := read(t, dir, "slurm-"+job+".out.oomscan.txt", user1)
		assert.Contains(t, text, "OUT OF MEMORY")
		assert.Contains(t, text, "Slurm says out of memory")
		assert.Contains(t, text, "50.0 MiB", "the kernel's figures\n"+text)
		assert.NotContains(t, text, "kmsg:", "an excerpt has no true lines")
		var doc report.Report
		require.NoError(t, json.Unmarshal([]byte(read(t, dir, "slurm-"+job+".out.oomscan.json", user1)), &doc))
		require.Len(t, doc.Incidents, 1)
		assert.Equal(t, "oom_kill", doc.Incidents[0].Kind)
		assert.Equal(t, job, *doc.Run.JobID)
		t.Log(s.logOf(job), text)
	})
	t.Run("a job that says that torch ran out of memory", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, torchOOM, node, "-e", "%x-%j.err", "-o", "%x-%j.out", "-J", "my job")
		s.wait(job)
		check(t)
		text := read(t, dir, "my job-"+job+".err.oomscan.txt", user1)
		assert.Contains(t, text, " in the backward pass")
		assert.Len(t, reports(t, dir), 2)
	})
	t.Run("a healthy job", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, healthy, node)
		s.wait(job)
		check(t)
		assert.Empty(t, reports(t, dir))
		assert.Contains(t, s.logOf(job), "result=clean")
	})
	t.Run("an array", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, `[ $SLURM_ARRAY_TASK_ID = 2 ] || exit 0; `+torchOOM, node, "--array=1-3", "-J", "sweep", "-e", "%x-%A_%a.err", "-o", "/dev/null")
		s.wait(job)
		plainJob := s.submit(user1, dir, `[ $SLURM_ARRAY_TASK_ID = 3 ] || exit 0; `+torchOOM, node, "--array=1-3")
		s.wait(plainJob)
		check(t)
		assert.Equal(t, []string{"slurm-" + plainJob + "_3.out.oomscan.json", "slurm-" + plainJob + "_3.out.oomscan.txt", "sweep-" + job + "_2.err.oomscan.json", "sweep-" + job + "_2.err.oomscan.txt"}, reports(t, dir))
		assert.NotContains(t, s.logOf(job), "trouble")
	})
	t.Run("a step with labels", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, "srun -l sh -c '[ $SLURM_PROCID = 1 ] || exit 0; "+hog+"'; exit 0", node, "--ntasks=2", "--mem=50M")
		s.wait(job)
		check(t)
		if s.kills {
			assert.Contains(t, read(t, dir, "slurm-"+job+".out.oomscan.txt", user1), "OUT OF MEMORY")
		}
	})
	t.Run("two nodes", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, "srun -o rank.%t.log sh -c 'echo ready; [ $SLURM_PROCID = 1 ] || exit 0; "+strings.ReplaceAll(torchOOM, "'LOG'", "LOG")+"\n'", "--nodes=2", "--ntasks=2", "--ntasks-per-node=1")
		s.wait(job)
		check(t)
		text := read(t, dir, "slurm-"+job+".out.oomscan.txt", user1)
		assert.Contains(t, text, "rank.1.log", "the log of a rank")
		assert.Len(t, reports(t, dir), 2, "one node reports")
		assert.Equal(t, 2, strings.Count(s.logOf(job), "context=epilog_slurmd"), "both nodes were asked")
		if !s.kills {
			return
		}
		job = s.submit(user1, dir, "srun sh -c '[ $SLURM_PROCID = 1 ] || exit 0; "+hog+"'", "--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--mem=50M")
		s.wait(job)
		check(t)
		text = read(t, dir, "slurm-"+job+".out.oomscan.txt", user1)
		assert.Contains(t, text, "OUT OF MEMORY")
		text = read(t, dir, "slurm-"+job+".out."+s.nodes[1]+".oomscan.txt", user1)
		assert.Contains(t, text, filepath.Base(kernelFile), "what only the second node saw")
		assert.Contains(t, text, "50.0 MiB")
	})
	t.Run("a server beside its client", func(t *testing.T) {
		dir := home(t, user1)
		server := strings.ReplaceAll(strings.ReplaceAll(torchOOM, ">&2", "> llm_server.log"), "exit 1", "")
		job := s.submit(user1, dir, server+"\necho 'requests.exceptions.ConnectionError: connection refused' >&2; exit 1", node, "-e", "client.err", "-o", "client.out")
		s.wait(job)
		check(t)
		text := read(t, dir, "client.err.oomscan.txt", user1)
		assert.Contains(t, text, "llm_server.log")
		assert.Contains(t, text, "may be another job's")
		job = s.submit(user1, dir, healthy, node, "-e", "other.err", "-o", "other.out")
		s.wait(job)
		assert.Len(t, reports(t, dir), 2, "a healthy job beside it is not blamed: %s", s.logOf(job))
	})
	t.Run("twenty jobs at once", func(t *testing.T) {
		dir := home(t, user2)
		var jobs, sick []string
		for i := range 20 {
			script := "sleep 1; " + healthy
			if i%4 == 3 {
				script = "sleep 1; " + torchOOM
			}
			jobs = append(jobs, s.submit(user2, dir, script, "--mem=10M"))
			if i%4 == 3 {
				sick = append(sick, "slurm-"+jobs[i]+".out.oomscan.json", "slurm-"+jobs[i]+".out.oomscan.txt")
			}
		}
		s.wait(jobs...)
		check(t)
		assert.ElementsMatch(t, sick, reports(t, dir))
	})
	never := func(t *testing.T, job, dir string) {
		t.Helper()
		check(t)
		assert.NotContains(t, s.logOf(job), "result=memory")
		for _, r := range reports(t, dir) {
			assert.NotContains(t, read(t, dir, r, user1), "OUT OF MEMORY")
		}
		assert.Contains(t, s.logOf(job), "result=clean")
	}
	t.Run("scancel", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, "echo begin; srun sleep 100", node)
		s.until("begin", func() bool { b, _ := os.ReadFile(filepath.Join(dir, "slurm-"+job+".out")); return len(b) > 0 })
		s.as(user1, dir, "scancel", job)
		s.wait(job)
		never(t, job, dir)
	})
	t.Run("preemption", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, "echo begin; srun sleep 100", node, "--exclusive", "--partition=main", "--no-requeue")
		s.until("begin", func() bool { b, _ := os.ReadFile(filepath.Join(dir, "slurm-"+job+".out")); return len(b) > 0 })
		high := s.submit(user2, home(t, user2), healthy, node, "--exclusive", "--partition=high")
		s.wait(job, high)
		b, err := os.ReadFile(filepath.Join(dir, "slurm-"+job+".out"))
		require.NoError(t, err)
		assert.Contains(t, string(b), "PREEMPTION")
		never(t, job, dir)
	})
	t.Run("requeue", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, "echo run $SLURM_RESTART_COUNT; [ -n \"$SLURM_RESTART_COUNT\" ] && exit 0; scontrol requeue $SLURM_JOB_ID; sleep 100", node, "--requeue", "--open-mode=append")
		s.waitForRequeue(job, filepath.Join(dir, "slurm-"+job+".out"), "run 1")
		s.wait(job)
		never(t, job, dir)
		assert.Equal(t, 2, strings.Count(s.logOf(job), "result=clean"))
	})
	t.Run("requeue after memory ran out", func(t *testing.T) {
		dir := home(t, user1)
		script := "[ -n \"$SLURM_RESTART_COUNT\" ] && { echo second; exit 0; }; (" + torchOOM + "); scontrol requeue $SLURM_JOB_ID; sleep 100"
		job := s.submit(user1, dir, script, node, "--requeue", "--open-mode=append")
		s.waitForRequeue(job, filepath.Join(dir, "slurm-"+job+".out"), "second")
		s.wait(job)
		check(t)
		assert.Len(t, reports(t, dir), 2, "the first run's")
		assert.Equal(t, 1, strings.Count(s.logOf(job), "result=memory"), "%s", s.logOf(job))
		assert.Equal(t, 1, strings.Count(s.logOf(job), "result=clean"), "%s", s.logOf(job))
	})
	t.Run("a name with a newline", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, torchOOM, node, "-J", "evil\nJobId=1 ArrayJobId=1 JobName=x", "-e", "%x.err", "-o", "/dev/null")
		s.wait(job)
		check(t)
		assert.Len(t, reports(t, dir), 2, "%s", s.logOf(job))
		assert.Equal(t, 1, strings.Count(s.logOf(job), "\n"), "one line in the log")
	})
	t.Run("the check", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, torchOOM, node, "-e", "%x-%j.err", "-J", "check")
		s.wait(job)
		before := reports(t, dir)
		oomscan, err := program()
		require.NoError(t, err)
		out, err := s.try(oomscan, "epilog", "--config", filepath.Join(s.etc, ConfigName), "--check", job)
		require.NoError(t, err, out)
		assert.NotContains(t, out, "NO ")
		assert.Contains(t, out, "yes   Epilog          "+filepath.Join(s.etc, WrapperName))
		assert.Contains(t, out, "reads "+dir+"/check-"+job+".err")
		assert.Contains(t, out, "finds gpu_oom in backward")
		assert.Contains(t, out, " in the backward pass", "the report")
		assert.Equal(t, before, reports(t, dir), "nothing written")
		t.Log(out[:min(len(out), 2500)])
	})
	t.Run("the kernel's word on an earlier run", func(t *testing.T) {
		if !s.kills {
			skip(t, "no control groups for memory on this machine")
		}
		dir := home(t, user1)
		script := "[ -n \"$SLURM_RESTART_COUNT\" ] && { echo second; exit 0; }; " + hog + "; scontrol requeue $SLURM_JOB_ID; sleep 100"
		job := s.submit(user1, dir, script, node, "--requeue", "--mem=50M")
		s.waitForRequeue(job, filepath.Join(dir, "slurm-"+job+".out"), "second")
		s.wait(job)
		check(t)
		assert.Equal(t, 1, strings.Count(s.logOf(job), "result=memory"), "%s", s.logOf(job))
		assert.Equal(t, 1, strings.Count(s.logOf(job), "result=clean"), "%s", s.logOf(job))
	})
	t.Run("the counters", func(t *testing.T) {
		b, err := os.ReadFile(filepath.Join(s.etc, "oomscan.prom"))
		require.NoError(t, err)
		for line := range strings.Lines(string(b)) {
			assert.Regexp(t, `^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? [0-9.e+]+)\n$`, line)
		}
		assert.Contains(t, string(b), `oomscan_incidents_total{verdict="memory",kind="gpu_oom",phase="backward",framework="torch"}`)
		st, err := os.Stat(filepath.Join(s.etc, "oomscan.prom"))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o644), st.Mode())
		sum := 0.0
		for name, n := range readSeries(string(b)) {
			if strings.HasPrefix(name, jobsTotal) {
				sum += n
			}
		}
		log, err := os.ReadFile(s.log)
		require.NoError(t, err)
		assert.Equal(t, strings.Count(string(log), "context=epilog_slurmd"), int(sum), "no job is lost when several end at once")
		docs, err := filepath.Glob(filepath.Join(s.etc, "*."+s.nodes[0]+".json"))
		require.NoError(t, err)
		assert.Greater(t, len(docs), 5, "the spool")
	})
}

// TestTheTimeLimit takes a minute, which is Slurm's shortest limit.
func TestTheTimeLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than a minute")
	}
	t.Parallel()
	s := newSite(t, 1, "")
	dir := home(t, user1)
	job := s.submit(user1, dir, "echo begin; srun sleep 300", "--time=1")
	s.until("epilog", func() bool { return s.logOf(job) != "" })
	s.wait(job)
	require.NoError(t, s.idle())
	b, err := os.ReadFile(filepath.Join(dir, "slurm-"+job+".out"))
	require.NoError(t, err)
	require.Contains(t, string(b), "TIME LIMIT")
	assert.Empty(t, reports(t, dir))
	assert.Contains(t, s.logOf(job), "result=clean")
}

// TestTheOtherHooks installs the hook everywhere and appends the report to the log too.
func TestTheOtherHooks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	s := newSite(t, 1, "append: true\n", "EpilogSlurmctld=%HOOK%", "TaskEpilog=%HOOK%")
	dir := home(t, user1)
	job := s.submit(user1, dir, torchOOM, "-e", "job.err", "-o", "job.out")
	s.wait(job)
	require.NoError(t, s.idle())
	b, err := os.ReadFile(filepath.Join(dir, "job.err"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(b), "oomscan| what  OUT OF MEMORY"), "TaskEpilog's and Epilog's\n%s", b)
	assert.Contains(t, string(b), "oomscan| whole report: "+dir+"/job.err.oomscan.txt")
	text := read(t, dir, "job.err.oomscan.txt", user1)
	assert.NotContains(t, text, "1 more report", "what the TaskEpilog wrote is not read")

	log, err := os.ReadFile(filepath.Join(s.dir, "log", "slurmctld.log"))
	require.NoError(t, err)
	assert.NotRegexp(t, `epilog.*(status|error)`, string(log), "EpilogSlurmctld")

	// Scanning the whole folder counts nothing twice.
	oomscan, err := program()
	require.NoError(t, err)
	out, _ := exec.Command(oomscan, "--format", "json", dir).Output()
	var doc report.Report
	require.NoError(t, json.Unmarshal(out, &doc))
	require.Len(t, doc.Incidents, 1)
	assert.Zero(t, doc.Incidents[0].Repeats)

	healthyJob := s.submit(user1, dir, healthy, "-e", "healthy.err", "-o", "healthy.out")
	s.wait(healthyJob)
	require.NoError(t, s.idle())
	assert.Len(t, reports(t, dir), 1)
	b, err = os.ReadFile(filepath.Join(dir, "healthy.err"))
	require.NoError(t, err)
	assert.Empty(t, string(b))
}
