package epilog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"oomscan/cmd/oomscan/internal/report"
)

// oomLine is an out-of-memory error in a log.
const oomLine = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"

// stage is a job that ended on this machine. It calls the hook as slurmd does, without a Slurm.
type stage struct {
	t       testing.TB
	program string
	dir     string // the job's folder, owned by user1
	etc     string // owned by root
	config  string
	env     map[string]string
	prefix  []string // command that starts the hook
	then    func(*os.Process)
}

// outcome is the result of calling the hook.
type outcome struct {
	log  string
	took time.Duration
	cpu  time.Duration // of all its processes
	rss  int64         // bytes, of the largest process
}

func newStage(t testing.TB) *stage {
	t.Helper()
	needRoot(t)
	oomscan, err := program()
	require.NoError(t, err)
	s := &stage{t: t, dir: home(t, user1), etc: public(t)}
	s.program = filepath.Join(s.etc, "oomscan") // a unique name to recognize its processes by
	require.NoError(t, os.Link(oomscan, s.program))
	s.env = map[string]string{
		"SLURM_SCRIPT_CONTEXT": onNode, "SLURM_JOB_ID": fmt.Sprint(1_000_000 + time.Now().UnixNano()%1_000_000_000),
		"SLURM_JOB_UID": fmt.Sprint(user1), "SLURM_JOB_GID": fmt.Sprint(user1), "SLURM_JOB_USER": "nobody", "SLURM_JOB_WORK_DIR": s.dir,
		"SLURM_JOB_STDERR": s.dir + "/job.err", "SLURM_JOB_STDIN": "/dev/null", "SLURMD_NODENAME": "node01", "SLURM_NODELIST": "node01",
		"SLURM_JOB_EXIT_CODE": "256", "SLURM_JOB_DERIVED_EC": "0", "SLURM_CLUSTER_NAME": "hostile",
	}
	s.set("")
	return s
}

// set writes the configuration.
func (s *stage) set(config string) {
	s.config = filepath.Join(s.etc, ConfigName)
	require.NoError(s.t, os.WriteFile(s.config, []byte("log: "+s.etc+"/log\nlog_all: true\nscontrol: off\n"+config), 0o644))
}

// file writes a user's file into the job's folder.
func (s *stage) file(name, text string, uid int) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o644))
	require.NoError(s.t, os.Chown(path, uid, uid))
	return path
}

// run calls the hook and checks that it does not fail, print, take long, or leave a process.
func (s *stage) run() outcome {
	s.t.Helper()
	args := append(s.prefix, s.program, "epilog", "--config", s.config)
	cmd := exec.Command(args[0], args[1:]...)
	for k, v := range s.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &said, &said, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	begin := time.Now()
	require.NoError(s.t, cmd.Start())
	if s.then != nil {
		s.then(cmd.Process)
	}
	guard := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	guard.Stop()
	took := time.Since(begin)
	require.NoError(s.t, err, "exit status")
	require.Empty(s.t, said.String(), "printed")
	require.Less(s.t, took, 12*time.Second, "the deadline")
	require.Eventually(s.t, func() bool { return len(s.left()) == 0 }, 5*time.Second, 5*time.Millisecond, "processes left behind") // a killed process takes a moment to die
	b, _ := os.ReadFile(filepath.Join(s.etc, "log"))
	_ = os.Remove(filepath.Join(s.etc, "log"))
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return outcome{log: string(b), took: took, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss: usage.Maxrss << 10}
}

// left returns the remaining processes of this job's hook.
func (s *stage) left() (pids []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		exe, _ := os.Readlink(d + "/exe")
		cmd, _ := os.ReadFile(d + "/cmdline")
		if strings.HasPrefix(exe, s.etc) || bytes.Contains(cmd, []byte(s.etc)) {
			pids = append(pids, filepath.Base(d)+" "+string(cmd))
		}
	}
	return pids
}

// TestHostileLogs tries logs that are not what they should be. Each gets a report or silence, and nothing of another
// user's is in it.
func TestHostileLogs(t *testing.T) {
	needRoot(t)
	const secret = "theirs-alone"
	theirs := func(s *stage) string { // readable by everybody, but another user's
		path := filepath.Join(public(s.t), "theirs.log")
		require.NoError(s.t, os.WriteFile(path, []byte(secret+"\n"+oomLine), 0o644))
		require.NoError(s.t, os.Chown(path, user2, user2))
		return path
	}
	for name, x := range map[string]struct {
		make   func(s *stage)
		report string // must be in the report; empty: no report
		log    string // must be in the hook's log
	}{
		"as it should be": {make: func(s *stage) { s.file("job.err", oomLine, user1) }, report: "Tried to allocate", log: "result=memory"},
		"a link to what root alone reads": {make: func(s *stage) {
			require.NoError(s.t, os.Symlink("/etc/shadow", s.dir+"/job.err"))
		}, log: "permission denied"},
		"a link to another user's file": {make: func(s *stage) { require.NoError(s.t, os.Symlink(theirs(s), s.dir+"/job.err")) }, log: "another user's file"},
		"a hard link to another user's file": {make: func(s *stage) {
			path := s.file("job.err", secret+"\n"+oomLine, user2)
			require.NoError(s.t, os.Link(path, s.dir+"/second"))
		}, log: "another user's file"},
		"a FIFO":             {make: func(s *stage) { s.fifo("job.err") }, log: "not a regular file"},
		"a folder":           {make: func(s *stage) { require.NoError(s.t, os.Mkdir(s.dir+"/job.err", 0o755)) }, log: "not a regular file"},
		"deleted":            {make: func(*stage) {}, log: "result=clean"},
		"a terminal":         {make: func(s *stage) { s.env["SLURM_JOB_STDERR"] = "/dev/ptmx" }, log: "not a regular file"},
		"endless zeros":      {make: func(s *stage) { s.env["SLURM_JOB_STDERR"] = "/dev/zero" }, log: "not a regular file"},
		"nothing":            {make: func(s *stage) { s.env["SLURM_JOB_STDERR"] = "/dev/null" }, log: "result=clean"},
		"this process":       {make: func(s *stage) { s.env["SLURM_JOB_STDERR"] = "/proc/self/environ" }, log: "trouble="},
		"its memory":         {make: func(s *stage) { s.env["SLURM_JOB_STDERR"] = "/proc/self/maps" }, log: "trouble="},
		"the kernel's log":   {make: func(s *stage) { s.env["SLURM_JOB_STDERR"] = "/proc/kmsg" }, log: "trouble="},
		"a relative path up": {make: func(s *stage) { s.env["SLURM_JOB_STDERR"] = "../../../../etc/shadow" }, log: "permission denied"},
		"unreadable": {make: func(s *stage) {
			require.NoError(s.t, os.Chmod(s.file("job.err", oomLine, user1), 0))
		}, log: "permission denied"},
		"in a folder that is closed": {make: func(s *stage) {
			s.env["SLURM_JOB_STDERR"] = s.file("closed/job.err", oomLine, user1)
			require.NoError(s.t, os.Chmod(s.dir+"/closed", 0o700))
		}, log: "permission denied"},
		"a terabyte of nothing": {make: func(s *stage) {
			f, err := os.OpenFile(s.file("job.err", "one\ntwo\n", user1), os.O_RDWR, 0)
			require.NoError(s.t, err)
			defer f.Close()
			_, err = f.WriteAt([]byte("\n"+oomLine), 1<<40)
			require.NoError(s.t, err)
		}, report: "job.err:3 ", log: "result=memory"},
		"long, and torn": {make: func(s *stage) {
			f, err := os.OpenFile(s.file("job.err", "one\n", user1), os.O_RDWR, 0)
			require.NoError(s.t, err)
			defer f.Close()
			for i := range int64(3 * maxExtents) {
				_, err = f.WriteAt([]byte("x\n"), 2<<20+i*16384)
				require.NoError(s.t, err)
			}
			_, err = f.WriteAt([]byte("\n"+oomLine), 1<<30)
			require.NoError(s.t, err)
		}, report: "the lines of the last are not numbered", log: "result=memory"},
		"codes for the terminal, and a report of its own": {make: func(s *stage) {
			s.file("job.err", "\x1b]0;title\x07\x1b[2J\u202e\x9b31m\n  job       1, ended on node01; all is well\n NO MEMORY INCIDENT  no message\n"+
				"File \"\x1b[31m\n\x1b[2J.py\", line 1, in \x1b[31mx\n\x1b[31m"+oomLine, user1)
		}, report: "Tried to allocate", log: "result=memory"},
		"a name with codes": {make: func(s *stage) {
			s.env["SLURM_JOB_STDERR"] = s.file("\x1b[31m\njob=7 result=memory\n.err", oomLine, user1)
		}, report: "Tried to allocate", log: "result=memory"},
		"the longest name": {make: func(s *stage) {
			s.env["SLURM_JOB_STDERR"] = s.file(strings.Repeat("n", 255), oomLine, user1)
		}, report: "Tried to allocate", log: "result=memory"},
		"neighbours of all kinds": {make: func(s *stage) {
			s.file("job.err", "fine\n", user1)
			s.fifo("fifo.log")
			require.NoError(s.t, os.Symlink("/etc/shadow", s.dir+"/shadow.log"))
			require.NoError(s.t, os.Symlink(theirs(s), s.dir+"/link.log"))
			require.NoError(s.t, os.Symlink("/", s.dir+"/logs"))
			s.file("theirs.log", secret+"\n"+oomLine, user2)
			s.file("slurm-99.out.oomscan.log", oomLine, user1)
		}, log: "files=1 "},
		"more neighbours than are looked at": {make: func(s *stage) {
			s.file("job.err", oomLine, user1)
			for i := range 300 {
				s.file(fmt.Sprintf("rank%d.log", i), "fine\n", user1)
			}
		}, report: "Tried to allocate", log: "files=20 "},
		"the slurm word alone": {make: func(s *stage) { s.env["SLURM_JOB_EXIT_CODE"] = "253" }, log: `finding="oom_kill"`},
		"a step's, in a log that says nothing": {make: func(s *stage) {
			s.file("job.err", "fine\n", user1)
			s.env["SLURM_JOB_EXIT_CODE"], s.env["SLURM_JOB_DERIVED_EC"] = "0", "253"
		}, report: "Slurm says out of memory", log: `finding="oom_kill"`},
		"another node's": {make: func(s *stage) {
			s.file("job.err", oomLine, user1)
			s.env["SLURMD_NODENAME"], s.env["SLURM_NODELIST"] = "node02", "node[01-02]"
		}, log: "result=clean"},
		"root's": {make: func(s *stage) {
			s.file("job.err", oomLine, 0)
			s.env["SLURM_JOB_UID"], s.env["SLURM_JOB_GID"] = "0", "0"
		}},
		"root's group": {make: func(s *stage) {
			s.file("job.err", oomLine, user1)
			s.env["SLURM_JOB_GID"] = "0"
		}, report: "Tried to allocate", log: "result=memory"},
		"a user whom nothing knows": {make: func(s *stage) {
			s.file("job.err", oomLine, 54321)
			require.NoError(s.t, os.Chown(s.dir, 54321, 54321))
			s.env["SLURM_JOB_UID"], s.env["SLURM_JOB_GID"], s.env["SLURM_JOB_USER"] = "54321", "54321", ""
		}, report: "Tried to allocate", log: "result=memory"},
		"a folder that anybody writes to": {make: func(s *stage) {
			s.file("job.err", oomLine, user1)
			require.NoError(s.t, os.Chown(s.dir, user2, user2))
			require.NoError(s.t, os.Chmod(s.dir, 0o777))
		}, log: "anybody may write to it"},
		"a folder that is another's": {make: func(s *stage) {
			s.file("job.err", oomLine, user1)
			require.NoError(s.t, os.Chown(s.dir, user2, user2))
		}, log: "no report written"},
		"no Slurm at all": {make: func(s *stage) { s.env = map[string]string{"SLURM_SCRIPT_CONTEXT": onNode} }},
		"a job without a number": {make: func(s *stage) {
			s.file("job.err", oomLine, user1)
			s.env["SLURM_JOB_ID"] = "1; rm -rf /"
		}},
		"a script that is none of these": {make: func(s *stage) {
			s.file("job.err", oomLine, user1)
			s.env["SLURM_SCRIPT_CONTEXT"] = "epilog_tomorrow"
		}, log: "no epilog"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			x.make(s)
			o := s.run()
			assert.Contains(t, o.log, x.log)
			for line := range strings.Lines(o.log) {
				assert.Equal(t, line[:len(line)-1], printable(line[:len(line)-1], 5000), "the log is one line of plain text")
				assert.Contains(t, line, "job=")
			}
			assert.NotContains(t, o.log, secret)
			found, _ := filepath.Glob(filepath.Join(s.dir, "*.oomscan.txt"))
			if x.report == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1, o.log)
			uid := user1
			if s.env["SLURM_JOB_UID"] == "54321" {
				uid = 54321
			}
			text := read(t, s.dir, filepath.Base(found[0]), uid)
			assert.Contains(t, text, x.report)
			assert.True(t, strings.HasPrefix(text, " OUT OF MEMORY"), text)
			assert.NotContains(t, text, secret)
			for line := range strings.Lines(text) {
				assert.Equal(t, line[:len(line)-1], printable(line[:len(line)-1], 5000))
			}
			assert.Equal(t, 1, strings.Count(text, "\n  job   "), "the frame is ours alone\n%s", text)
		})
	}
}

func (s *stage) fifo(name string) {
	path := filepath.Join(s.dir, name)
	require.NoError(s.t, unix.Mkfifo(path, 0o644))
	require.NoError(s.t, os.Chown(path, user1, user1))
}

// TestTheReportReplacesNothing puts files, links and folders where the report would go.
func TestTheReportReplacesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.set("json: true\n")
	s.file("job.err", oomLine, user1)
	victim := filepath.Join(s.etc, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("root's"), 0o666))
	require.NoError(t, os.Chmod(victim, 0o666))
	require.NoError(t, os.Symlink(victim, s.dir+"/job.err.oomscan.txt"))
	require.NoError(t, os.Symlink(s.etc+"/made", s.dir+"/job.err.oomscan.2.txt"))
	require.NoError(t, os.Link(victim, s.dir+"/job.err.oomscan.3.txt"))
	require.NoError(t, os.Mkdir(s.dir+"/job.err.oomscan.4.txt", 0o755))
	s.fifo("job.err.oomscan.5.txt")
	s.run()
	b, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, "root's", string(b))
	assert.NoFileExists(t, s.etc+"/made")
	assert.Contains(t, read(t, s.dir, "job.err.oomscan.6.txt", user1), "OUT OF MEMORY")
	var doc report.Report
	require.NoError(t, json.Unmarshal([]byte(read(t, s.dir, "job.err.oomscan.json", user1)), &doc))
	entries, err := filepath.Glob(s.dir + "/.oomscan*")
	require.NoError(t, err)
	assert.Empty(t, entries, "files of its own")

	// A second call for the same job adds nothing.
	require.Contains(t, s.run().log, "result=clean")
	assert.NoFileExists(t, s.dir+"/job.err.oomscan.7.txt")
}

func TestTheReportIsAsReadableAsTheLog(t *testing.T) {
	t.Parallel()
	for mode, want := range map[os.FileMode]os.FileMode{0o644: 0o644, 0o600: 0o600, 0o640: 0o640, 0o666: 0o644, 0o400: 0o600} {
		s := newStage(t)
		require.NoError(t, os.Chmod(s.file("job.err", oomLine, user1), mode))
		s.run()
		st, err := os.Stat(s.dir + "/job.err.oomscan.txt")
		require.NoError(t, err)
		assert.Equal(t, want, st.Mode(), "a log of %o", mode)
	}
}

// TestAnotherNodesOwnFiles covers all_nodes: the job's log is on the first node's own disk.
func TestAnotherNodesOwnFiles(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.env["SLURMD_NODENAME"], s.env["SLURM_NODELIST"] = "node02", "node[01-02]"
	s.file("rank1.log", oomLine, user1)
	s.run()
	assert.Empty(t, reports(t, s.dir))
	s.set("all_nodes: true\n")
	s.run()
	assert.Contains(t, read(t, s.dir, "rank1.log.node02.oomscan.txt", user1), "Tried to allocate")
	assert.Len(t, reports(t, s.dir), 1)
}

// TestALogThatGrows checks that the hook reads only what was there when the job ended.
func TestALogThatGrows(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	f, err := os.OpenFile(s.file("job.err", oomLine, user1), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	stop, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		line := bytes.Repeat([]byte("step 1 loss 0.5\n"), 1000)
		for range 20_000 {
			select {
			case <-stop:
				return
			default:
				_, _ = f.Write(line)
			}
		}
	}()
	o := s.run()
	close(stop)
	<-over
	f.Close()
	assert.Less(t, o.took, 5*time.Second)
	assert.Contains(t, read(t, s.dir, "job.err.oomscan.txt", user1), "OUT OF MEMORY")
}

func TestADiskThatIsFull(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if err := unix.Mount("none", s.dir, "tmpfs", 0, fmt.Sprintf("size=64k,mode=755,uid=%d", user1)); err != nil {
		skip(t, "needs to mount a file system: "+err.Error())
	}
	t.Cleanup(func() { _ = unix.Unmount(s.dir, unix.MNT_DETACH) })
	s.file("job.err", oomLine, user1)
	_ = os.WriteFile(s.dir+"/filler", make([]byte, 64<<10), 0o644)
	o := s.run()
	assert.Contains(t, o.log, "no space left on device")
	assert.Contains(t, o.log, "result=memory")
	entries, err := os.ReadDir(s.dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2)
}

// hang returns a program that ignores SIGTERM and has a child.
func (s *stage) hang() string {
	path := filepath.Join(s.etc, "hang")
	require.NoError(s.t, os.WriteFile(path, []byte("#!/bin/sh\ntrap '' TERM\n: "+s.etc+"\nsleep 1000 &\necho JobId=1\nsleep 1000\n"), 0o755))
	return path
}

// TestScontrolThatHangs checks that the hook goes on without scontrol after two seconds.
func TestScontrolThatHangs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.set("")
	require.NoError(t, os.WriteFile(s.config, []byte("log: "+s.etc+"/log\nscontrol: "+s.hang()+"\n"), 0o644))
	s.env["SLURM_JOB_STDERR"] = s.dir + "/%x.err"
	s.file("train.err", oomLine, user1)
	o := s.run()
	assert.Contains(t, o.log, "not done after 2s")
	assert.Greater(t, o.took, 2*time.Second)
	assert.Less(t, o.took, 9*time.Second)
	text := read(t, s.dir, "train.err.oomscan.txt", user1)
	assert.Contains(t, text, "the only file that the job's name for its log fits")
}

// TestSignalsEndTheHook sends the hook a signal while it waits.
func TestSignalsEndTheHook(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		s := newStage(t)
		require.NoError(t, os.WriteFile(s.config, []byte("log: "+s.etc+"/log\nscontrol: "+s.hang()+"\n"), 0o644))
		s.env["SLURM_JOB_STDERR"] = s.dir + "/%x.err"
		s.file("train.err", oomLine, user1)
		s.then = func(p *os.Process) {
			for end := time.Now().Add(9 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				if strings.Contains(strings.Join(s.left(), " "), "show\x00job") {
					break
				}
			}
			_ = p.Signal(sig)
		}
		o := s.run()
		assert.Contains(t, o.log, "abandoned after", "%v", sig)
		assert.Empty(t, reports(t, s.dir))
	}
}

func TestTheDeadline(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	require.NoError(t, os.WriteFile(s.config, []byte("log: "+s.etc+"/log\ndeadline: 1s\nbudget: {wall: 700ms, cpu: 1s}\nscontrol: "+s.hang()+"\n"), 0o644))
	s.env["SLURM_JOB_STDERR"] = s.dir + "/%x.err"
	o := s.run()
	assert.Contains(t, o.log, "the deadline has passed")
	assert.Less(t, o.took, 5*time.Second)
}

// TestAUserWithoutProcessesLeft uses up the user's limit of processes.
func TestAUserWithoutProcessesLeft(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.file("job.err", oomLine, user1)
	for range 5 {
		c := exec.Command("sleep", "30")
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user1, Gid: user1}, Pdeathsig: syscall.SIGKILL}
		require.NoError(t, c.Start())
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	}
	s.prefix = []string{"prlimit", "--nproc=3:"}
	o := s.run()
	assert.Contains(t, o.log, "result=memory")
	assert.Contains(t, read(t, s.dir, "job.err.oomscan.txt", user1), "OUT OF MEMORY")
}

// TestAProgramThatTheUserCannotStart checks the fallback to Slurm's exit codes.
func TestAProgramThatTheUserCannotStart(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	b, err := os.ReadFile(s.program)
	require.NoError(t, err)
	s.program = filepath.Join(s.etc, "private")
	require.NoError(t, os.WriteFile(s.program, b, 0o700))
	s.file("job.err", oomLine, user1)
	s.env["SLURM_JOB_EXIT_CODE"] = "253"
	o := s.run()
	assert.Contains(t, o.log, "child: permission denied")
	assert.Contains(t, o.log, `finding="oom_kill"`)
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	for about, x := range map[string]struct{ config, log, text string }{
		"time":  {"budget: {wall: 30ms}", "the time for this job's logs is used up", ""},
		"cpu":   {"budget: {cpu: 60ms}", "the processor time for this job's logs is used up", ""},
		"bytes": {"budget: {bytes: 1M, wall: 7s, cpu: 7s}", "the bytes that are read of a job's logs are used up", ""},
		"file":  {"budget: {head: 64K, tail: 64K, wall: 7s, cpu: 7s}", "result=memory", "only the first 64 KiB and the last 64 KiB were read"},
	} {
		s := newStage(t)
		s.set(x.config)
		s.flood("job.err", 50_000)
		o := s.run()
		assert.Contains(t, o.log, x.log, about)
		assert.Less(t, o.took, 8*time.Second, about)
		if x.text != "" {
			assert.Contains(t, read(t, s.dir, "job.err.oomscan.txt", user1), x.text, about)
		}
	}
}

// TestMoreLogsThanTheBudgetHasFiles gives the job two logs when one file may be read.
func TestMoreLogsThanTheBudgetHasFiles(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.set("budget: {files: 1}")
	s.file("job.err", oomLine, user1)
	s.file("job.out", "step 1\n", user1)
	s.env["SLURM_JOB_STDOUT"] = s.dir + "/job.out"
	o := s.run()
	assert.Contains(t, o.log, "result=memory")
	assert.NotContains(t, o.log, "trouble=")
}

// flood writes a number of OOM reports in pieces, because this process's memory counts for the processes that it
// starts.
func (s *stage) flood(name string, reports int) {
	s.t.Helper()
	const one = "(WorkerDict pid=7) Traceback (most recent call last):\n  File \"x.py\", line 1, in f\n    y\n" + oomLine
	f, err := os.OpenFile(s.file(name, "", user1), os.O_WRONLY, 0)
	require.NoError(s.t, err)
	defer f.Close()
	b := strings.Repeat(one, 1000)
	for range reports / 1000 {
		_, err = f.WriteString(b)
		require.NoError(s.t, err)
	}
}

// TestMemoryStaysSmall reads much, and what is expensive to read.
func TestMemoryStaysSmall(t *testing.T) {
	s := newStage(t)
	s.set("budget: {wall: 6s, cpu: 6s}\n")
	s.flood("job.err", 10_000)
	for i := range 19 {
		s.flood(fmt.Sprintf("rank%d.log", i), 1000)
	}
	o := s.run()
	t.Logf("%d MiB, %v; %s", o.rss>>20, o.took, o.log)
	if !testing.Short() { // the race detector runs with it, whose memory in this process counts for the hook as well
		assert.Less(t, o.rss, int64(64<<20))
	}
	assert.Contains(t, o.log, "result=memory")
}

// TestAHealthyJobCostsLittle logs the processor time that the hook costs beyond a scan of the same log. The bound is
// loose, because the machine may be busy.
func TestAHealthyJobCostsLittle(t *testing.T) {
	s := newStage(t)
	path := s.file("job.err", strings.Repeat("step 1 loss 0.5\n", 10_000), user1)
	s.env["SLURM_JOB_EXIT_CODE"] = "0"
	hook, scan, wall := time.Hour, time.Hour, time.Hour
	for range 5 {
		o := s.run()
		hook, wall = min(hook, o.cpu), min(wall, o.took)
		cmd := exec.Command(s.program, "--jobs=1", path)
		require.NoError(t, cmd.Run())
		scan = min(scan, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	t.Logf("hook %v (on the clock %v), scan %v: %v beyond it", hook, wall, scan, hook-scan)
	assert.Less(t, hook-scan, 500*time.Millisecond)
	assert.Empty(t, reports(t, s.dir))
}

// TestConfigurationsThatRootDidNotWrite checks that the hook does nothing with a configuration that it cannot trust
// or read.
func TestConfigurationsThatRootDidNotWrite(t *testing.T) {
	t.Parallel()
	for about, spoil := range map[string]func(s *stage){
		"a user's":           func(s *stage) { require.NoError(t, os.Chown(s.config, user1, user1)) },
		"writable by all":    func(s *stage) { require.NoError(t, os.Chmod(s.config, 0o666)) },
		"in a user's folder": func(s *stage) { require.NoError(t, os.Chown(s.etc, user1, user1)) },
		"a link from a user": func(s *stage) {
			require.NoError(t, os.Symlink(s.file("c.yaml", "json: true\n", user1), s.etc+"/c"))
			s.config = s.etc + "/c"
		},
		"a FIFO":                 func(s *stage) { s.config = s.etc + "/f"; require.NoError(t, unix.Mkfifo(s.config, 0o644)) },
		"missing where it named": func(s *stage) { s.config += ".gone" },
		"with a mistake":         func(s *stage) { s.set("reprot: off\n") },
		"large":                  func(s *stage) { s.set(strings.Repeat("#\n", maxConfig)) },
	} {
		s := newStage(t)
		s.file("job.err", oomLine, user1)
		spoil(s)
		s.run()
		assert.Empty(t, reports(t, s.dir), about)
	}
	s := newStage(t)
	s.file("job.err", oomLine, user1)
	s.set("skip_users: [nobody]\n")
	s.run()
	assert.Empty(t, reports(t, s.dir), "a user who is left alone")
	s.set("report: off\nappend: false\n")
	assert.Contains(t, s.run().log, "result=memory")
	assert.Empty(t, reports(t, s.dir), "no reports wanted")
}

// TestNothingIsPrintedWhateverTheArguments calls the hook wrongly, which must not drain the node.
func TestNothingIsPrintedWhateverTheArguments(t *testing.T) {
	t.Parallel()
	oomscan, err := program()
	require.NoError(t, err)
	for _, args := range [][]string{{"epilog", "--nonsense"}, {"epilog", "x", "y"}, {"epilog", "--config"}, {"epilog"}} {
		for _, context := range []string{onNode, onController, inTask} {
			cmd := exec.Command(oomscan, args...)
			cmd.Env = []string{"SLURM_SCRIPT_CONTEXT=" + context}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err)
			require.Empty(t, string(out))
		}
	}
	link := filepath.Join(public(t), WrapperName)
	require.NoError(t, os.Symlink(oomscan, link))
	cmd := exec.Command(link)
	cmd.Env = []string{"SLURM_SCRIPT_CONTEXT=" + onNode}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(out), "by the name of the link")

	out, err = exec.Command(oomscan, "epilog").CombinedOutput()
	require.Error(t, err, "without Slurm it says so")
	require.Contains(t, string(out), "--check")
}

func TestTheChildIsNeverRoot(t *testing.T) {
	t.Parallel()
	needRoot(t)
	var out bytes.Buffer
	Child(strings.NewReader(`{}`), &out)
	assert.Empty(t, out.String())
}

func statOf(t testing.TB, f *os.File) unix.Stat_t {
	t.Helper()
	var st unix.Stat_t
	require.NoError(t, unix.Fstat(int(f.Fd()), &st))
	return st
}
