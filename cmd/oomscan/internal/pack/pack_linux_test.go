package pack

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "a.yaml")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{fifo, filepath.Join(dir, "none.yaml"), "/dev/zero"} {
		_, errs := Load([]string{path})
		require.Len(t, errs, 1)
		assert.True(t, strings.HasPrefix(errs[0].Error(), path+": "), errs[0])
	}
}
