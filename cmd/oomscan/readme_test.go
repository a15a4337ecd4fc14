package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
)

// shown is the log whose report the README shows, from its first line to its checklist.
const shown = "fixtures/cases/gpu_oom/verl-fsdp-backward-after-160-steps/train.log"

// TestReadmeShowsARealReport keeps the README's example what the command prints. UPDATE_GOLDEN=1 rewrites it.
func TestReadmeShowsARealReport(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	cli.Main([]string{"../../" + shown}, cli.Streams{In: os.Stdin, Out: &out, Err: &errs, Env: func(string) string { return "" }, InTerminal: true})
	report, _, found := strings.Cut(out.String(), "\n  Checklist ")
	require.True(t, found)
	raw, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), "```text\n")
	require.True(t, ok, "README.md has no ```text block")
	block, after, ok := strings.Cut(rest, "```\n")
	require.True(t, ok)
	want := report + "\n  ... the checklist of verl's guide, the traceback, the message\n"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile("../../README.md", []byte(before+"```text\n"+want+"```\n"+after), 0o644))
		return
	}
	require.Equal(t, want, block, "UPDATE_GOLDEN=1 rewrites it")
}
