package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/pack"
)

// TestTheTopicShowsASoundPack makes files of the examples of the topic: people copy them.
func TestTheTopicShowsASoundPack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	blocks := regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(topic(t, "rules"), -1)
	for _, block := range blocks {
		name := map[string]string{"patterns:": "messages.yaml", "id: acme-rl": "acme-rl.yaml"}[strings.TrimSpace(strings.SplitN(block, "\n", 2)[0])]
		if name == "" {
			continue
		}
		text := regexp.MustCompile(`(?m)^    `).ReplaceAllString(block, "")
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	p, faults := pack.Load([]string{dir})
	require.Empty(t, faults)
	assert.Len(t, p.Patterns, 1)
	assert.Len(t, p.Guides, 1)
}
