package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// screen is a command whose standard error is a terminal, and what it wrote there.
type screen struct {
	*testing.T
	cmd *exec.Cmd
	tty *os.File // our end of the terminal
	out bytes.Buffer

	mu   sync.Mutex
	text []byte
	gone chan struct{}
}

// onScreen starts the command on a terminal of so many columns. Its standard output is no terminal.
func onScreen(t *testing.T, dir string, columns uint16, args ...string) *screen {
	t.Helper()
	return onScreenFrom(t, nil, dir, columns, args...)
}

// onScreenFrom is onScreen with a standard input.
func onScreenFrom(t *testing.T, stdin *os.File, dir string, columns uint16, args ...string) *screen {
	t.Helper()
	exe, err := exec.LookPath("oomscan") // of [TestMain]
	require.NoError(t, err)
	ours, theirs, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(ours, &pty.Winsize{Rows: 24, Cols: columns}))
	s := &screen{T: t, cmd: exec.Command(exe, args...), tty: ours, gone: make(chan struct{})}
	if s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = dir, &s.out, theirs; stdin != nil {
		s.cmd.Stdin = stdin
	}
	s.cmd.Env = append(os.Environ(), "TERM=xterm")
	require.NoError(t, s.cmd.Start())
	require.NoError(t, theirs.Close())
	go func() {
		defer close(s.gone)
		b := make([]byte, 4096)
		for {
			n, err := ours.Read(b)
			s.mu.Lock()
			s.text = append(s.text, b[:n]...)
			s.mu.Unlock()
			if err != nil {
				return // EIO: the other end is closed
			}
		}
	}()
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait(); ours.Close() })
	return s
}

// written is everything that was written to the terminal so far.
func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text)
}

// last waits for a line that holds text and returns it.
func (s *screen) last(text string) (line string) {
	s.Helper()
	require.Eventually(s, func() bool {
		for _, l := range regexp.MustCompile("\r|\x1b\\[2K|\n").Split(s.written(), -1) {
			if strings.Contains(l, text) {
				line = l
			}
		}
		return line != ""
	}, deadline, 20*time.Millisecond, "%q", text)
	return line
}

func (s *screen) end() int {
	s.Helper()
	timer := time.AfterFunc(deadline, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	_ = s.cmd.Wait()
	<-s.gone
	return s.cmd.ProcessState.ExitCode()
}

// slow makes a folder with a log and a pipe whose writer takes its time, and returns the writer's end.
func slow(t *testing.T, dir string) *os.File {
	t.Helper()
	appendTo(t, filepath.Join(dir, "a.log"), oomLine+"\n"+strings.Repeat("a line\n", 100_000))
	path := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	w, err := os.OpenFile(path, os.O_RDWR, 0) // a writer is there from the beginning
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

func TestProgressIsShownOnATerminalAndTakenAway(t *testing.T) {
	t.Parallel()
	for _, columns := range []uint16{50, 80, 120} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w := slow(t, dir)
			s := onScreen(t, dir, columns, "a.log", "pipe")
			line := s.last("1/2 files")
			assert.LessOrEqual(t, len(line), int(columns)-1, line)
			if columns > 50 {
				assert.Contains(t, line, "683.79 KiB of 683.79 KiB")
				assert.Contains(t, line, "1 with incidents")
			}
			require.NoError(t, w.Close())
			assert.Equal(t, 1, s.end())
			assert.True(t, strings.HasSuffix(s.written(), "\r\x1b[2K"), "%q", s.written())
			assert.Contains(t, s.out.String(), "OUT OF MEMORY")
			assert.NotContains(t, s.out.String(), "files [")
		})
	}
}

func TestProgressFollowsTheSizeOfTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := slow(t, dir)
	s := onScreen(t, dir, 120, "a.log", "pipe")
	assert.Greater(t, len(s.last("1/2 files")), 100)
	require.NoError(t, pty.Setsize(s.tty, &pty.Winsize{Rows: 24, Cols: 70}))
	// the line that the terminal has broken in two by now is taken away as a whole
	require.Eventually(t, func() bool { return strings.Contains(s.written(), "\r\x1b[2K\x1b[1A\x1b[2K") }, deadline, 20*time.Millisecond)
	require.Eventually(t, func() bool { return len(s.last("1/2 files")) < 70 }, deadline, 20*time.Millisecond)
	require.NoError(t, w.Close())
	s.end()
}

func TestProgressIsShownToNobodyElse(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T, dir string) (errs func() string, end func() int){
		"no terminal": func(t *testing.T, dir string) (func() string, func() int) {
			p := start(t, dir, "a.log", "pipe")
			return p.stderr, func() int { _, status := p.end(); return status }
		},
		"quiet": func(t *testing.T, dir string) (func() string, func() int) {
			s := onScreen(t, dir, 80, "--quiet", "a.log", "pipe")
			return s.written, s.end
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, shown := t.TempDir(), t.TempDir()
			w := slow(t, dir)
			errs, end := start(t, dir)
			slow(t, shown)
			onScreen(t, shown, 80, "a.log", "pipe").last("1/2 files") // started later, and shown by now
			require.NoError(t, w.Close())
			assert.Equal(t, 1, end())
			assert.Empty(t, errs())
		})
	}
}

// TestAnInterruptTellsWhatWasRead interrupts a scan that waits for a pipe.
func TestAnInterruptTellsWhatWasRead(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "ndjson"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			slow(t, dir)
			s := onScreen(t, dir, 80, "--format", format, "a.log", "pipe")
			s.last("1/2 files")
			require.NoError(t, s.cmd.Process.Signal(syscall.SIGINT))
			assert.Equal(t, 130, s.end())
			assert.True(t, strings.HasSuffix(s.written(), "\r\x1b[2K"), "%q", s.written())
			out := s.out.String()
			switch format {
			case "json":
				assert.Contains(t, out, "CUDA out of memory")
				assert.Contains(t, out, `"partial": true`)
				return
			case "ndjson":
				assert.Contains(t, out, "CUDA out of memory")
				assert.True(t, strings.HasSuffix(out, `{"end":true,"partial":true,"inputs":[{"name":"pipe","bytes":0,"lines":0,"truncated_lines":0,"error":"interrupted, not read to its end"}]}`+"\n"), "%s", out)
				return
			}
			assert.True(t, strings.HasPrefix(out, " PARTIAL  interrupted before everything was read: 1 of 2 inputs not read, or not to the end\n"), "%.300s", out)
			assert.Contains(t, out, "Tried to allocate")
			assert.Contains(t, out, "pipe: interrupted, not read to its end")
		})
	}
}

func TestASecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	slow(t, dir)
	s := onScreen(t, dir, 80, "a.log", "pipe")
	s.last("1/2 files")
	// after the first one it waits for the pipe a second longer; two that come at once may count as one
	go func() {
		for s.cmd.Process.Signal(syscall.SIGINT) == nil {
			runtime.Gosched()
		}
	}()
	assert.Equal(t, -1, s.end(), "by the signal")
	assert.Empty(t, s.out.String())
}

// TestAStatusLineShowsWhileAPipeWaits records a session: the screen says what was read, the line gives way to the incident, and
// Ctrl-C is the end of the input.
func TestAStatusLineShowsWhileAPipeWaits(t *testing.T) {
	t.Parallel()
	read, in, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	s := onScreenFrom(t, read, t.TempDir(), 80)
	require.NoError(t, read.Close())
	s.last("stdin: waiting for input")
	_, err = in.WriteString(strings.Repeat("a line\n", 99) + "step:118 - actor/loss:0.5\n")
	require.NoError(t, err)
	assert.Equal(t, "stdin: 100 lines, step 118, no out-of-memory error so far", s.last("stdin: 100 lines"))
	_, err = in.WriteString(oomLine + "\n")
	require.NoError(t, err)
	s.last("1 incident")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGINT))
	assert.Equal(t, 1, s.end())
	assert.True(t, strings.HasSuffix(s.written(), "\r\x1b[2K"), "%q", s.written())
	assert.NotContains(t, s.written(), "\x1b[J")
	assert.Contains(t, s.out.String(), "OUT OF MEMORY")
	assert.NotContains(t, s.out.String(), "interrupted")
	assert.NotContains(t, s.out.String(), "so far")
}

func TestAStatusLineShowsWhileFilesAreFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	appendTo(t, filepath.Join(dir, "a.log"), "a line\n")
	appendTo(t, filepath.Join(dir, "b.log"), "a line\n")
	s := onScreen(t, dir, 40, "--follow", "a.log", "b.log")
	line := s.last("2 files: 2 lines")
	assert.Equal(t, "2 files: 2 lines, no out-of-memory erro", line, "as much as the terminal has room for")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGINT))
	assert.Zero(t, s.end())
	assert.True(t, strings.HasSuffix(s.written(), "\r\x1b[2K"), "%q", s.written())
}
