package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
)

const oomLine = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 17.66 GiB. GPU 0 has a total capacity of 79.18 GiB of which 4.97 GiB is free. Of the allocated memory 100.77 GiB is allocated by PyTorch"

// TestAnOpenPipeIsAnsweredWithinASecond writes one line, with and without its newline, and keeps the pipe open.
func TestAnOpenPipeIsAnsweredWithinASecond(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"with newline": oomLine + "\n", "without newline": oomLine} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, write, err := os.Pipe()
			require.NoError(t, err)
			read, out, err := os.Pipe()
			require.NoError(t, err)
			status := make(chan int, 1)
			go func() {
				var errs bytes.Buffer
				status <- cli.Main([]string{"--format", "ndjson"}, cli.Streams{In: in, Out: out, Err: &errs, Env: func(string) string { return "" }})
				out.Close()
			}()
			_, err = write.WriteString("epoch 1\n" + text)
			require.NoError(t, err)
			begin := time.Now()
			lines := bufio.NewReader(read)
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			assert.Less(t, time.Since(begin), 5*time.Second, "a busy machine may be slow; it never waits for the end of the input")
			assert.Contains(t, line, `"requested_bytes":18962280612`)
			assert.Contains(t, line, `"update":false`)
			// the rest of the line brings an update of the same incident, and no second one
			_, err = write.WriteString(", and 1.00 GiB is reserved by PyTorch but unallocated.\nbye\n")
			require.NoError(t, err)
			require.NoError(t, write.Close())
			rest, _ := lines.ReadString(0)
			require.Equal(t, 1, strings.Count(rest, "\n"), "%.300s", rest)
			assert.Contains(t, rest, `"reserved_unallocated_bytes":1073741824`)
			assert.True(t, strings.HasSuffix(rest, `"update":true}`+"\n"))
			assert.Equal(t, idOf(t, line), idOf(t, rest))
			assert.Equal(t, 1, <-status)
		})
	}
}

// idOf is the id of a line of ndjson.
func idOf(t *testing.T, line string) string {
	t.Helper()
	var in struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(line), &in), "%.300s", line)
	require.NotEmpty(t, in.ID)
	return in.ID
}

// follow runs the command on a pipe that stays open, in the text form, and returns the pipe's end, what the command
// writes, the switch that interrupts it, and its status.
func follow(t *testing.T) (in *os.File, out *os.File, interrupt chan struct{}, status chan int) {
	t.Helper()
	read, in, err := os.Pipe()
	require.NoError(t, err)
	out, write, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, out.SetReadDeadline(time.Now().Add(time.Minute)))
	interrupt, status = make(chan struct{}), make(chan int, 1)
	go func() {
		var errs bytes.Buffer
		status <- cli.Main([]string{}, cli.Streams{In: read, Out: write, Err: &errs, Env: func(string) string { return "" }, Interrupt: interrupt})
		write.Close()
	}()
	t.Cleanup(func() { in.Close(); out.Close() })
	return in, out, interrupt, status
}

// until reads lines up to one that holds text and returns them.
func until(t *testing.T, r *bufio.Reader, text string) string {
	t.Helper()
	var seen strings.Builder
	for {
		line, err := r.ReadString('\n')
		seen.WriteString(line)
		if strings.Contains(line, text) {
			return seen.String()
		}
		require.NoError(t, err, "%s", seen.String())
	}
}

func TestAFollowedLogIsToldOnceInText(t *testing.T) {
	t.Parallel()
	in, out, _, status := follow(t)
	lines := bufio.NewReader(out)
	_, err := in.WriteString("[rank0]: " + oomLine + "\n")
	require.NoError(t, err)
	text := until(t, lines, "Tried to allocate")
	// a further rank fails, and another program afterwards: one update, one footer
	_, err = in.WriteString("[rank1]: " + oomLine + "\nstep 1 loss 1\nOSError: [Errno 28] No space left on device: '/dev/shm/torch_1'\n")
	require.NoError(t, err)
	text += until(t, lines, "same error 2 more times")
	require.NoError(t, in.Close())
	rest, err := lines.ReadString(0)
	require.ErrorIs(t, err, io.EOF)
	text += rest
	assert.Equal(t, 1, strings.Count(text, "Tried to allocate"), text)
	assert.Equal(t, 1, len(regexp.MustCompile(`1 incident: .*stdin:1\n`).FindAllString(text, -1)), "the closing line stands once, at the end")
	assert.Equal(t, 1, <-status)
}

func TestAnInterruptTellsWhatIsKnown(t *testing.T) {
	t.Parallel()
	in, out, interrupt, status := follow(t)
	_, err := in.WriteString(oomLine + "\nand on it goes\n")
	require.NoError(t, err)
	lines := bufio.NewReader(out)
	text := until(t, lines, "Tried to allocate")
	close(interrupt)
	rest, _ := lines.ReadString(0)
	assert.Equal(t, 1, strings.Count(text+rest, "Tried to allocate"))
	assert.Contains(t, rest, "stdin")
	assert.NotContains(t, rest, "interrupted", "an interrupt is the end of a pipe")
	assert.Equal(t, 1, <-status)
}

func TestAnInterruptBeforeAPipeHoldsAnythingIsNoAnswer(t *testing.T) {
	t.Parallel()
	_, out, interrupt, status := follow(t)
	close(interrupt)
	text, _ := bufio.NewReader(out).ReadString(0)
	assert.Contains(t, text, "interrupted before everything was read")
	assert.Equal(t, 130, <-status)
}

func TestAnInterruptEndsTheReadingOfFiles(t *testing.T) {
	t.Parallel()
	interrupt := make(chan struct{})
	close(interrupt)
	var out, errs bytes.Buffer
	path := write(t, "a.log", []byte(oomLine))
	status := cli.Main([]string{path}, cli.Streams{Out: &out, Err: &errs, Env: func(string) string { return "" }, Interrupt: interrupt})
	assert.Equal(t, 130, status)
	assert.Contains(t, out.String(), "interrupted")
	assert.Empty(t, errs.String())
	pages := t.TempDir()
	cli.Main([]string{"-o", pages, path}, cli.Streams{Out: &out, Err: &errs, Env: func(string) string { return "" }, Interrupt: interrupt})
	assert.NoFileExists(t, filepath.Join(pages, "report.txt"), "where nothing was read, no earlier report is replaced")
}

func TestAReaderWhoHadEnoughIsNoError(t *testing.T) {
	t.Parallel()
	in, out, _, status := follow(t)
	require.NoError(t, out.Close())
	_, err := in.WriteString(oomLine + "\n")
	require.NoError(t, err)
	assert.Equal(t, 1, <-status, "it ends although the input does not, and says what it found")
}
