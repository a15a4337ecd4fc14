package main

import (
	"os/exec"
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
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: exec.Command(exe, "mcp")}, nil)
	require.NoError(t, err)
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "scan", Arguments: map[string]any{"paths": []string{write(t, "train.log", []byte(oomLine))}}})
	require.NoError(t, err)
	assert.False(t, got.IsError)
	assert.Contains(t, got.Content[0].(*mcp.TextContent).Text, "Tried to allocate 17.66 GiB")
	assert.NoError(t, session.Close(), "it ends with its input")
}
