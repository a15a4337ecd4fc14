package classifier

import (
	"os"
	"path/filepath"
	"testing"

	"oomscan/parser/stream"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestARenamedInputIsOneOfThatName reads logs under a name and renames them, and under the new one at once.
func TestARenamedInputIsOneOfThatName(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../fixtures/cases/*/*.*")
	require.NoError(t, err)
	incidents, settings := 0, 0
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil || testing.Short() && i%8 != 0 || len(data) > 100<<10 {
			continue
		}
		read := func(name string) *Collector {
			c := NewCollector()
			s := stream.NewReader(name, c.Add)
			_, _ = s.Write(data)
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
