package main

import (
	"bufio"
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
)

// deadline is how long a test waits for what must come within a second: other work may hold the machine.
const deadline = 60 * time.Second

// process is a running command.
type process struct {
	*testing.T
	cmd  *exec.Cmd
	out  chan string // lines of its standard output
	errs *os.File
	dir  string
}

// start runs the command in a folder until the test ends.
func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	exe, err := exec.LookPath("oomscan") // of [TestMain]
	require.NoError(t, err)
	cmd := exec.Command(exe, args...)
	cmd.Dir = dir
	p := &process{T: t, cmd: cmd, out: make(chan string, 1000), dir: dir}
	p.errs, err = os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	cmd.Stderr = p.errs
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	go func() {
		defer close(p.out)
		r := bufio.NewReader(stdout)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				p.out <- line
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); p.errs.Close() })
	return p
}

// until returns the next line that holds text, and the lines before it.
func (p *process) until(text string) (line, all string) {
	p.Helper()
	timer := time.NewTimer(deadline)
	defer timer.Stop()
	for {
		select {
		case line, ok := <-p.out:
			all += line
			if !ok || strings.Contains(line, text) {
				require.True(p, ok, "it ended without %q:\n%.2000s\n%s", text, all, p.stderr())
				return line, all
			}
		case <-timer.C:
			require.Fail(p, "no line with "+text, "%.2000s\n%s", all, p.stderr())
		}
	}
}

// says waits until the command has written text to standard error.
func (p *process) says(text string) {
	p.Helper()
	require.Eventually(p, func() bool { return strings.Contains(p.stderr(), text) }, deadline, 10*time.Millisecond, text)
}

func (p *process) stderr() string {
	b, err := os.ReadFile(p.errs.Name())
	require.NoError(p, err)
	return string(b)
}

// interrupt ends the command as Ctrl-C does and returns what it still writes, and its exit status.
func (p *process) interrupt() (rest string, status int) {
	p.Helper()
	require.NoError(p, p.cmd.Process.Signal(syscall.SIGINT))
	return p.end()
}

func (p *process) end() (rest string, status int) {
	p.Helper()
	timer := time.AfterFunc(deadline, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	for line := range p.out {
		rest += line
	}
	_ = p.cmd.Wait()
	return rest, p.cmd.ProcessState.ExitCode()
}

// append adds text to a file in the command's folder.
func (p *process) append(name, text string) { appendTo(p.T, filepath.Join(p.dir, name), text) }

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// settled is a line of ndjson, as far as these tests look at it.
type settled struct {
	ID, Kind string
	Update   bool
	Repeats  int
	Survived bool
	Root     struct {
		File string
		Line int
	}
	Consequences []struct{ Kind, File string }
}

func (p *process) incident() settled {
	p.Helper()
	line, _ := p.until("{")
	return decode(p.T, line)
}

func decode(t *testing.T, line string) (s settled) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(line), &s), "%.300s", line)
	return s
}

const (
	otherLine = "OSError: [Errno 28] No space left on device: '/dev/shm/torch_1'\n"
	steps     = "step:1 - actor/loss:1.0\nstep:2 - actor/loss:1.0\n"
	killLine  = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
)

func TestFollowTellsWhatGrows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	appendTo(t, dir+"/a.log", "epoch 1\n"+oomLine+"\n"+steps)
	p := start(t, dir, "--follow", "--format", "ndjson", ".")
	first := p.incident()
	assert.Equal(t, "gpu_oom@a.log:2", first.ID)
	assert.False(t, first.Update)
	// without a newline, as a writer leaves it that is killed
	p.append("a.log", strings.TrimSuffix(otherLine, "\n"))
	second := p.incident()
	for second.Update { // the run went on after the first one
		second = p.incident()
	}
	assert.Equal(t, "shm_exhausted@a.log:5", second.ID)
	_, status := p.interrupt()
	assert.Equal(t, 1, status, "to interrupt it is how following ends")
	assert.Empty(t, p.stderr())
}

func TestFollowWaitsForAFileAndForNewOnesInAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/logs", 0o755))
	p := start(t, dir, "--follow", "--format", "ndjson", "slurm.err", "logs")
	p.says("slurm.err: not there yet")
	p.append("logs/node1/rank_0.log", "[rank0]: "+oomLine+"\n")
	assert.Equal(t, "logs/node1/rank_0.log", p.incident().Root.File)
	p.append("slurm.err", "srun: error: node1: task 0: Exited with exit code 1\n")
	in := p.incident()
	assert.True(t, in.Update)
	assert.Equal(t, "gpu_oom@logs/node1/rank_0.log:1", in.ID)
	require.NotEmpty(t, in.Consequences)
	assert.Equal(t, "slurm.err", in.Consequences[0].File)
	_, status := p.interrupt()
	assert.Equal(t, 1, status)
}

func TestFollowGoesOnWhereARotatedLogEnded(t *testing.T) {
	t.Parallel()
	for name, rotate := range map[string]func(t *testing.T, path string){
		"renamed": func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+".1"))
		},
		"copied and cut": func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			appendTo(t, path+".1", string(b))
			require.NoError(t, os.Truncate(path, 0))
		},
		"replaced": func(t *testing.T, path string) {
			appendTo(t, path+"~", "")
			require.NoError(t, os.Rename(path+"~", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			appendTo(t, dir+"/a.log", "epoch 1\n"+otherLine)
			p := start(t, dir, "--follow", "--format", "ndjson", ".")
			assert.Equal(t, "shm_exhausted@a.log:2", p.incident().ID)
			rotate(t, dir+"/a.log")
			p.append("a.log", steps+oomLine+"\n")
			in := p.incident()
			for in.Update {
				in = p.incident()
			}
			assert.Equal(t, "gpu_oom@a.log:5", in.ID, "lines count on")
			rest, status := p.interrupt()
			assert.NotContains(t, rest, `"update":false`, "what was read is not read again under another name")
			assert.Equal(t, 1, status)
		})
	}
}

func TestFollowTellsAnIncidentOnceInText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	appendTo(t, dir+"/a.log", "[rank0]: "+oomLine+"\n")
	p := start(t, dir, "--follow", "a.log")
	_, all := p.until("OUT OF MEMORY")
	p.append("a.log", "[rank1]: "+oomLine+"\nsrun: error: node1: task 0: Exited with exit code 1\n")
	_, more := p.until("process exited")
	all += more
	assert.Contains(t, more, "  update    a.log:1 (gpu_oom)\n  process   rank 0, GPU 0 on node1\n  then      same error once more, a process exited at a.log:3\n")
	rest, status := p.interrupt()
	all += rest
	assert.Equal(t, 1, strings.Count(all, "Tried to allocate"), all)
	assert.Regexp(t, `1 incident: .*a\.log:1\n`, rest)
	assert.NotContains(t, rest, "interrupted")
	assert.Equal(t, 1, status)
}

func TestFollowReadsManyFilesWithFewOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const n = 60
	name := func(i int) string { return fmt.Sprintf("rank_%d.log", i) }
	for i := range n {
		appendTo(t, filepath.Join(dir, name(i)), "epoch 1\n")
	}
	p := start(t, dir, "--follow", "--max-open", "3", "--format", "ndjson", ".")
	p.says("--follow: 60 files, of which 3 are kept open (--max-open)")
	p.append(name(17), oomLine+"\n")
	assert.Equal(t, name(17), p.incident().Root.File)
	for i := range n {
		if i != 17 {
			p.append(name(i), oomLine+"\n")
		}
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err == nil {
		logs := 0
		for _, fd := range fds {
			if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", p.cmd.Process.Pid, fd.Name())); err == nil && strings.Contains(to, "rank_") {
				logs++
			}
		}
		assert.LessOrEqual(t, logs, 4) // one of them may be looked at
	}
	in := p.incident()
	for in.Repeats < n-1 {
		in = p.incident()
	}
	assert.True(t, in.Update)
	_, status := p.interrupt()
	assert.Equal(t, 1, status)
}

func TestFollowDoesNotReadItsOwnReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	appendTo(t, dir+"/a.log", oomLine+"\n")
	p := start(t, dir, "--follow", "-o", "report", ".")
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(dir + "/report")
		return err == nil && strings.Contains(string(b), "OUT OF MEMORY")
	}, deadline, 10*time.Millisecond)
	p.append("a.log", "bye\n")
	_, status := p.interrupt()
	assert.Equal(t, 1, status)
	b, err := os.ReadFile(dir + "/report")
	require.NoError(t, err)
	assert.Regexp(t, `1 incident: .*a\.log:1\n`, string(b))
}

func TestFollowEndsWhenThereIsNothingToFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	appendTo(t, dir+"/model.bin", "\x7fELF\x02\x01\x01\x00")
	p := start(t, dir, "--follow", "model.bin")
	_, status := p.end()
	assert.Equal(t, 2, status)
	assert.Contains(t, p.stderr(), "binary file")
}

func TestFollowSaysWhatNeverCame(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--follow", "--format", "json", "a.log")
	p.says("not there yet")
	rest, status := p.interrupt()
	assert.Equal(t, 2, status)
	assert.Contains(t, rest, `"error": "file does not exist"`)
}
