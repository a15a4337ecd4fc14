package epilog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/report"
)

// user1 and user2 own jobs. Debian has both names.
const (
	user1 = nobody // nobody
	user2 = 1      // daemon
)

// site is a Slurm whose nodes have the hook.
type site struct {
	*cluster
	log string // of the hook
	etc string
}

// newSite starts a Slurm with the hook as --install sets it up, and a configuration.
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
	s.cluster = startCluster(t, nodes, append([]string{"Epilog=" + filepath.Join(s.etc, WrapperName), "PrologEpilogTimeout=20"}, lines...)...)
	return s
}

// home is a folder of a user for his jobs.
func home(t testing.TB, uid int) string {
	t.Helper()
	dir := public(t)
	require.NoError(t, os.Chown(dir, uid, uid))
	return dir
}

// said is what the hook's log says about a job.
func (s *site) said(job string) string {
	b, _ := os.ReadFile(s.log)
	var out []string
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, "job="+job+" ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// reports are the files of the hook in a folder.
func reports(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.oomscan.*"))
	require.NoError(t, err)
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	return found
}

// read reads a report, which must be the user's and as readable as its log.
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

// Jobs as people write them.
const (
	hog     = "tail /dev/zero" // grows until it is killed
	healthy = "echo training; echo step 1 loss 0.5; echo done"
)

// torchOOM prints what a torch that ran out of memory prints.
const torchOOM = `cat <<'LOG' >&2
Traceback (most recent call last):
  File "/home/user/train.py", line 41, in step
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process has 78.10 GiB memory in use. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 6.33 GiB is reserved by PyTorch but unallocated.
LOG
exit 1`

// TestOnARealSlurm runs jobs on two nodes.
func TestOnARealSlurm(t *testing.T) {
	s := newSite(t, 2, "json: true\ntextfile: %ETC%/oomscan.prom\nspool: %ETC%\n")
	node := "--nodelist=" + s.nodes[0]
	check := func(t *testing.T) {
		t.Helper()
		require.NoError(t, s.idle(), "%s", s.said(""))
	}

	t.Run("a job that the kernel kills", func(t *testing.T) {
		if !s.kills {
			t.Skip("no control groups for memory on this machine")
		}
		dir := home(t, user1)
		job := s.submit(user1, dir, hog, node, "--mem=50M")
		s.wait(job)
		check(t)
		text := read(t, dir, "slurm-"+job+".out.oomscan.txt", user1)
		assert.Contains(t, text, "OUT OF MEMORY")
		assert.Contains(t, text, "Slurm says out of memory")
		assert.Contains(t, text, "50.0 MiB", "the kernel's figures\n"+text)
		var doc report.Report
		require.NoError(t, json.Unmarshal([]byte(read(t, dir, "slurm-"+job+".out.oomscan.json", user1)), &doc))
		require.Len(t, doc.Incidents, 1)
		assert.Equal(t, "oom_kill", doc.Incidents[0].Kind)
		assert.Equal(t, job, *doc.Run.JobID)
		t.Log(s.said(job))
	})
	t.Run("a job that says that torch ran out of memory", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, torchOOM, node, "-e", "%x-%j.err", "-o", "%x-%j.out", "-J", "my job")
		s.wait(job)
		check(t)
		text := read(t, dir, "my job-"+job+".err.oomscan.txt", user1)
		assert.Contains(t, text, "GPU memory ran out in the backward pass")
		assert.Len(t, reports(t, dir), 2)
	})
	t.Run("a healthy job", func(t *testing.T) {
		dir := home(t, user1)
		job := s.submit(user1, dir, healthy, node)
		s.wait(job)
		check(t)
		assert.Empty(t, reports(t, dir))
		assert.Contains(t, s.said(job), "result=clean")
		t.Log(s.said(job))
	})
	_ = fmt.Sprint(time.Now())
}
