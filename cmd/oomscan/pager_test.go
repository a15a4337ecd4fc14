package main

import (
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAReportLongerThanTheScreenGoesThroughThePager runs the command with its output on a terminal, and a pager that shows the first
// line only.
func TestAReportLongerThanTheScreenGoesThroughThePager(t *testing.T) {
	t.Parallel()
	exe, err := exec.LookPath("oomscan") // of [TestMain]
	require.NoError(t, err)
	log := write(t, "train.log", []byte(oomLine+"\n"))
	for name, c := range map[string]struct {
		rows  uint16
		args  []string
		paged bool
	}{
		"longer than the screen": {10, nil, true},
		"it fits":                {500, nil, false},
		"--no-pager":             {10, []string{"--no-pager"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs, err := pty.Open()
			require.NoError(t, err)
			defer ours.Close()
			require.NoError(t, pty.Setsize(ours, &pty.Winsize{Rows: c.rows, Cols: 80}))
			cmd := exec.Command(exe, append(c.args, log)...)
			cmd.Stdout, cmd.Stderr = theirs, theirs
			cmd.Env = append(os.Environ(), "TERM=xterm", "PAGER=sed -n '1s/^/first page: /p'")
			require.NoError(t, cmd.Start())
			require.NoError(t, theirs.Close())
			shown, _ := io.ReadAll(ours) // ends with EIO when the other end is closed
			_ = cmd.Wait()
			assert.Equal(t, 1, cmd.ProcessState.ExitCode(), "the pager's end is not the scan's")
			assert.Contains(t, string(shown), "OUT OF MEMORY")
			if c.paged {
				assert.Contains(t, string(shown), "first page: ")
				assert.NotContains(t, string(shown), "EVIDENCE")
			} else {
				assert.NotContains(t, string(shown), "first page: ")
				assert.Contains(t, string(shown), "EVIDENCE")
			}
		})
	}
}
