package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
)

// oomIn is a traceback that ends in an allocator's message.
const oomIn = `Traceback (most recent call last):
  File "/w/train.py", line 12, in main
    loss.backward()
  File "/w/torch/_tensor.py", line 503, in backward
    torch.autograd.backward(
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.`

// prefixed puts what a form makes of its number before each line of a text.
func prefixed(text string, form func(i int) string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		b.WriteString(form(i) + line + "\n")
	}
	return b.String()
}

func TestATracebackShowsThePrefixOfItsLines(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]func(int) string{
		"a word":                         func(int) string { return "stderr: " },
		"a rank in a form of one's own":  func(int) string { return "[rank: 3] " },
		"a logger's bare name":           func(int) string { return "2026-03-01 09:00:00,123 - ERROR - trainer - " },
		"a counter":                      func(i int) string { return fmt.Sprintf("#%d ", i+8) },
		"a right-aligned counter":        func(i int) string { return fmt.Sprintf("%5d | ", i+98) },
		"a time in words":                func(i int) string { return fmt.Sprintf("at 09h00m%02ds ", i) },
		"a job's name":                   func(int) string { return "train_7b/worker-2> " },
		"a container and a stream":       func(int) string { return "app[web.1] err ... " },
		"a label of Ray's behind a word": func(int) string { return "stdout: (WorkerDict pid=77) " },
		"a level and a thread's name":    func(int) string { return "[ERROR] {MainThread} " },
		"a step of a pipeline's":         func(i int) string { return fmt.Sprintf("[2026-03-01, 09:00:%02d UTC] {subprocess.py:93} INFO - ", i) },
		"marks that end without a blank": func(int) string { return "E>>" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := oneEvent(t, prefixed(oomIn, form))
			require.NotNil(t, e.Trace)
			require.Len(t, e.Trace.Frames, 2)
			assert.Equal(t, "torch.autograd.backward(", e.Trace.Frames[1].Code)
			assert.Equal(t, "torch.OutOfMemoryError", e.Trace.Exception)
		})
	}
}

// TestATracebackOfASandboxIsQuoted puts the traceback of a program that a model wrote behind the name of a stream of its sandbox.
func TestATracebackOfASandboxIsQuoted(t *testing.T) {
	t.Parallel()
	for prefix, quoted := range map[string]bool{
		"[sandbox] stderr: ":          true,
		"sandbox_fusion 12 stderr | ": true,
		"sandbox-0 | ":                false,
		"[sandbox] ":                  false,
		"/opt/sandbox stderr: ":       false,
		"stderr: ":                    false,
	} {
		at, _ := eventLines(t, filler+prefixed(oomIn, func(int) string { return prefix })+"done\n", true)
		assert.Equal(t, quoted, len(at) == 0, prefix)
	}
}

func TestWhatStandsBeforeATracebackOnceIsNoPrefix(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"a progress bar": " 16%|# | 49/304 [9:37:16<49:07:41, 1.44it/s]",
		"a sentence":     "the step raised this: ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := oneEvent(t, before+oomIn+"\n")
			require.NotNil(t, e.Trace)
			assert.Len(t, e.Trace.Frames, 2)
		})
	}
	t.Run("another process's traceback between", func(t *testing.T) {
		t.Parallel()
		rows := strings.Split(oomIn, "\n")
		e := oneEvent(t, "trainer> "+rows[0]+"\n"+strings.Join(rows[1:], "\n")+"\ntrainer> bye\n")
		require.NotNil(t, e.Trace)
		assert.Len(t, e.Trace.Frames, 2)
	})
}

// oneEvent reads a log and returns its only event.
func oneEvent(t *testing.T, log string) (e parser.Event) {
	t.Helper()
	n := 0
	_, err := Read("x.log", strings.NewReader(log), func(o parser.Observation) {
		if x, ok := o.(parser.Event); ok {
			e, n = x, n+1
		}
	})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	return e
}
