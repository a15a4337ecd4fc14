package main

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnAgentCallsTheCommand has the SDK's client start the command and scan a log with it.
func TestAnAgentCallsTheCommand(t *testing.T) {
	t.Parallel()
	exe, err := exec.LookPath("oomscan") // of [TestMain]
	require.NoError(t, err)
	connect := func() (*mcp.ClientSession, *exec.Cmd) {
		cmd := exec.Command(exe, "mcp")
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		require.NoError(t, err)
		return session, cmd
	}
	session, _ := connect()
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "scan", Arguments: map[string]any{"paths": []string{write(t, "train.log", []byte(oomLine))}}})
	require.NoError(t, err)
	assert.False(t, got.IsError)
	assert.Contains(t, got.Content[0].(*mcp.TextContent).Text, "Tried to allocate 17.66 GiB")
	assert.NoError(t, session.Close(), "it ends with its input")
	session, cmd := connect()
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	_ = session.Wait()
	assert.ErrorContains(t, session.Close(), "interrupt", "and at once with an interrupt")
}
