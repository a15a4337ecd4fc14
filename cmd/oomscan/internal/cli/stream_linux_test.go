package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// What a busy writer writes page by page is read in larger pieces: to wake a reader for each takes far longer than to read it.
func TestABusyPipeIsReadInLargePieces(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	j := &scan{streams: Streams{In: r}}
	chunks, free := j.read()
	if os.Getuid() == 0 { // others may have used up what they are given
		c, err := r.SyscallConn()
		require.NoError(t, err)
		size := 0
		require.NoError(t, c.Control(func(fd uintptr) { size, err = unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0) }))
		require.NoError(t, err)
		assert.Equal(t, 1<<20, size)
	}
	const pages = 4096
	go func() {
		defer w.Close()
		page := []byte(strings.Repeat("x", 4<<10))
		for range pages {
			if _, err := w.Write(page); err != nil {
				return
			}
		}
	}()
	n, total := 0, 0
	for c := range chunks {
		require.NoError(t, c.err)
		n++
		total += len(c.data)
		free <- c.data[:cap(c.data)]
	}
	assert.Equal(t, pages*4<<10, total)
	assert.Less(t, n, pages/4)
}

// What is there is handed on before the reader lets more of it come.
func TestAChunkIsHandedOnAtOnce(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	j := &scan{streams: Streams{In: r}}
	chunks, _ := j.read()
	_, err = w.WriteString("a line\n")
	require.NoError(t, err)
	select {
	case c := <-chunks:
		assert.Equal(t, "a line\n", string(c.data))
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for more")
	}
}
