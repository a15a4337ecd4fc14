package source

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestAPipeIsWidened(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, w.Close())
	Widen(r)
	c, err := r.SyscallConn()
	require.NoError(t, err)
	size := 0
	require.NoError(t, c.Control(func(fd uintptr) { size, err = unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0) }))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, size, 64<<10, "the system gives what it will, but takes nothing away")
	if os.Getuid() == 0 {
		assert.Equal(t, pipeSize, size)
	}
}
