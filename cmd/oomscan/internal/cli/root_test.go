package cli

import (
	"io"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

func TestPlainScanKnowsEveryCommand(t *testing.T) {
	t.Parallel()
	s, status := Streams{Out: io.Discard, Err: io.Discard}, 0
	for _, cmd := range []*cobra.Command{guideCmd(s), rulesCmd(s), epilogCmd(s), mergeCmd(s, &status)} {
		for _, name := range append(cmd.Aliases, cmd.Name()) {
			assert.False(t, plainScan([]string{"-q", name, "x"}), name)
		}
	}
	for _, word := range []string{"help", "completion", "-h", "-qh", "--help", "--help=true", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd} {
		assert.False(t, plainScan([]string{"x", word}), word)
	}
	assert.False(t, plainScan(nil))
	assert.True(t, plainScan([]string{"--format", "json", "logs/guide.log", "-q", "-"}))
}
