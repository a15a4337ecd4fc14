package classifier

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser/stream"
)

// smallLogs are the logs of the fixtures but the long ones, by their paths. Under -short every 32nd of them serves.
func smallLogs(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../fixtures/cases/*/*/*")
	require.NoError(t, err)
	logs := map[string]string{}
	for i, path := range paths {
		if base := filepath.Base(path); base == "expect.json" || base == "report.txt" || testing.Short() && i%32 != 0 {
			continue
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if len(data) <= 32<<10 {
			logs[path] = string(data)
		}
	}
	require.Greater(t, len(logs), 10)
	return logs
}

// TestARenamedInputIsOneOfThatName reads logs under a name and renames them, and under the new one at once.
func TestARenamedInputIsOneOfThatName(t *testing.T) {
	t.Parallel()
	incidents, settings := 0, 0
	for path, log := range smallLogs(t) {
		read := func(name string) *Collector {
			c := NewCollector()
			s := stream.NewReader(name, c.Add)
			_, _ = s.Write([]byte(log))
			s.Close()
			return c
		}
		c, want := read("a.log"), read("node7:/tmp/b.log")
		c.Rename("nobody", "c.log")
		c.Rename("a.log", "node7:/tmp/b.log")
		require.Equal(t, want, c, path)
		res := c.Result()
		require.Equal(t, want.Result(), res, path)
		incidents += len(res.Incidents)
		settings += len(res.Run.Config)
	}
	if !testing.Short() {
		assert.Greater(t, incidents, 50)
		assert.Greater(t, settings, 100)
	}
}
