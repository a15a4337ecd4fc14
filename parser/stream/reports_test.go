package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
)

// TestKernelWordsLeadToTheirLines keeps reports of the kernel from being skipped: each word is part of a literal or holds one.
func TestKernelWordsLeadToTheirLines(t *testing.T) {
	t.Parallel()
	for _, w := range []string{"oom-kill:constraint=", "Killed process 1 ", "Kill process 1 (a) score 1 or sacrifice child"} {
		assert.NotEmpty(t, builtin().finder.Scan([]byte(w), 0, len(w), nil), w)
	}
}

// TestRaysHeadingIsRead: it names the worker that failed, wherever it stands, and is colored where Ray writes to a terminal.
func TestRaysHeadingIsRead(t *testing.T) {
	t.Parallel()
	for _, heading := range []string{"ray::W.f() (pid=7, ip=10.0.0.1)", "\x1b[36mray::W.f()\x1b[39m (pid=7, ip=10.0.0.1)"} {
		log := strings.Repeat("step\n", headLines+10) + "(T pid=1) Unhandled error: " + heading + "\n(T pid=1)   File \"a.py\", line 1, in f\n(T pid=1)     x()\n" +
			"(T pid=1) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
		var raised []int
		_, err := Read("log", strings.NewReader(log), func(o parser.Observation) {
			if e, ok := o.(parser.Event); ok && e.Trace != nil {
				raised = append(raised, e.Trace.Origin.PID)
			}
		})
		require.NoError(t, err)
		assert.Equal(t, []int{7}, raised, heading)
	}
}

// TestAFollowerWaitsForLinesOfTheLog: rows that were joined to the line before are none.
func TestAFollowerWaitsForLinesOfTheLog(t *testing.T) {
	t.Parallel()
	for between, want := range map[string][]string{
		"":                              {"xla.exhausted", "xla.wrapped"},
		strings.Repeat(Quoted+"\n", 30): {"xla.exhausted", "xla.wrapped"},
		"another line\n":                {"xla.exhausted"},
	} {
		var got []string
		log := "Execution of replica 0 failed: RESOURCE_EXHAUSTED: Out \n" + between + "of memory while trying to allocate 12884901888 bytes.\n"
		_, err := Read("log", strings.NewReader(log), func(o parser.Observation) {
			if e, ok := o.(parser.Event); ok {
				got = append(got, e.Pattern)
			}
		})
		require.NoError(t, err)
		assert.Equal(t, want, got, "%q", between)
	}
}
