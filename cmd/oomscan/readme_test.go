package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
)

// shown are the logs whose report the README shows, down to the first change.
const shown = "fixtures/cases/gpu_oom/verl-one-step-off-logprob-entropy/oso_32b-1184233.*"

// aLog is one of them.
const aLog = "../../fixtures/cases/gpu_oom/verl-one-step-off-logprob-entropy/oso_32b-1184233.err"

func readme(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	return string(raw)
}

// TestReadmeShowsARealReport keeps the README's example what the command prints. UPDATE_GOLDEN=1 rewrites it.
func TestReadmeShowsARealReport(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	logs, err := filepath.Glob("../../" + shown)
	require.NoError(t, err)
	env := func(name string) string { return map[string]string{"COLUMNS": "80"}[name] }
	cli.Main(logs, cli.Streams{In: os.Stdin, Out: &out, Err: &errs, Env: env, InTerminal: true})
	want, _, found := strings.Cut(out.String(), "\n\n OR INSTEAD")
	require.True(t, found)
	want += "\n"
	before, rest, ok := strings.Cut(readme(t), "```text\n")
	require.True(t, ok, "README.md has no ```text block")
	block, after, ok := strings.Cut(rest, "```\n")
	require.True(t, ok)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile("../../README.md", []byte(before+"```text\n"+want+"```\n"+after), 0o644))
		return
	}
	require.Equal(t, want, block, "UPDATE_GOLDEN=1 rewrites it")
}

// TestReadmeNamesWhatExists looks up the commands, flags, topics and files that the README names.
func TestReadmeNamesWhatExists(t *testing.T) {
	t.Parallel()
	text := readme(t)
	assert.Contains(t, text, "    go run ./cmd/oomscan "+shown+"\n    go test ./...\n")
	_, names, ok := strings.Cut(text, "`oomscan help TOPIC` tells the rest: ")
	require.True(t, ok)
	names, _, _ = strings.Cut(names, ".\n")
	var help, errs bytes.Buffer
	require.Zero(t, cli.Main([]string{"--help"}, cli.Streams{Out: &help, Err: &errs}))
	assert.Contains(t, help.String(), "\n"+names+".\n")
	for _, m := range regexp.MustCompile("(?m)(?:^    |`)oomscan ([a-z]+)(?: |`|$)").FindAllStringSubmatch(text, -1) {
		assert.Contains(t, help.String(), "\n  "+m[1]+" ", m[0])
	}
	for _, m := range regexp.MustCompile(`oomscan (--[a-z-]+)`).FindAllStringSubmatch(text, -1) {
		assert.Contains(t, help.String(), m[1])
	}
	for _, m := range regexp.MustCompile("`((?:cmd|\\.ci|fixtures)/[^`<A-Z]*)`").FindAllStringSubmatch(text, -1) {
		_, err := os.Stat("../../" + m[1])
		assert.NoError(t, err)
	}
}

// TestTheCheckRunsTheReadmesTestCommand holds .ci/run to the commands that people are given.
func TestTheCheckRunsTheReadmesTestCommand(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../.ci/run")
	require.NoError(t, err)
	assert.Contains(t, string(raw), "go run ./cmd/oomscan "+shown)
	extract := regexp.MustCompile(`(?m)^tests=\$\((.*)\)$`).FindStringSubmatch(string(raw))
	require.NotNil(t, extract)
	cmd := exec.Command("bash", "-c", extract[1])
	cmd.Dir = "../.."
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, "go test ./...\n", string(out))
	assert.Contains(t, string(raw), "\n$tests >")
}
