package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEachFormatLooksLikeItsGolden holds each format of two reports to a file: what a change does to a format is seen in its diff.
// UPDATE_GOLDEN=1 writes them. Text has more goldens of its own.
func TestEachFormatLooksLikeItsGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gpu_oom", "host_kill"} {
		for format, of := range Formats() {
			if format == "text" || format == "json" && name == "host_kill" {
				continue
			}
			path := filepath.Join("testdata", "formats", name+"."+format)
			got := written(t, of, samples(t)[name])
			if os.Getenv("UPDATE_GOLDEN") != "" {
				require.NoError(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err, "UPDATE_GOLDEN=1 writes it")
			assert.Equal(t, string(want), string(got), path)
		}
	}
}
