package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheManualHasEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	var out, errs bytes.Buffer
	s := Streams{Out: &out, Err: &errs, Env: func(string) string { return "" }}
	require.Zero(t, Main([]string{"man", "-o", dir}, s), errs.String())
	assert.Empty(t, out.String())
	text, err := os.ReadFile(filepath.Join(dir, "oomscan.1"))
	require.NoError(t, err)
	plain := strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "").Replace(string(text))
	for _, want := range []string{".SS oomscan plan", ".SS oomscan rules try", `\fB--run-config\fP \fIFILE\fP`, `\fB-f, --follow\fP`, "tail -f slurm-4242.err | oomscan"} {
		assert.Contains(t, plain, want)
	}
	for line := range strings.Lines(string(text)) {
		assert.NotRegexp(t, `^'`, line)
		assert.NotRegexp(t, `^\.[a-z0-9/]`, strings.NewReplacer(".nf", "", ".fi", "", ".ad l", "").Replace(line), "a request that is none")
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Log("without groff nothing reads the page")
		return
	}
	complaints, err := exec.Command("groff", "-man", "-Tascii", "-ww", "-z", filepath.Join(dir, "oomscan.1")).CombinedOutput()
	require.NoError(t, err)
	assert.Empty(t, string(complaints))
}

func TestTheManualCannotBeWrittenBelowAFile(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	s := Streams{Out: &out, Err: &errs, Env: func(string) string { return "" }}
	assert.Equal(t, exitTrouble, Main([]string{"man", "-o", "man_test.go"}, s))
	assert.Contains(t, errs.String(), "cannot be written: ")
}

// TestCompletionsAreScripts has the shells that are installed read their scripts, and asks for the words of a flag.
func TestCompletionsAreScripts(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var out, errs bytes.Buffer
		s := Streams{Out: &out, Err: &errs, Env: func(string) string { return "" }}
		require.Zero(t, Main([]string{"completion", shell}, s), errs.String())
		assert.Contains(t, out.String(), "oomscan", shell)
		if path, err := exec.LookPath(shell); err == nil && shell != "powershell" {
			cmd := exec.Command(path, "-n")
			cmd.Stdin = &out
			complaints, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s: %s", shell, complaints)
		}
	}
	var out, errs bytes.Buffer
	s := Streams{Out: &out, Err: &errs, Env: func(string) string { return "" }}
	require.Zero(t, Main([]string{"__complete", "--format", "s"}, s))
	assert.Contains(t, out.String(), "sarif\n")
}
