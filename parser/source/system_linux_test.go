package source

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWindowsBeginAnywhere(t *testing.T) {
	t.Parallel()
	f, err := os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	defer f.Close()
	text := make([]byte, 3*pageSize)
	for i := range text {
		text[i] = byte(i % 251)
	}
	_, err = f.Write(text)
	require.NoError(t, err)
	v := NewView(f, 7, int64(len(text))-7)
	for _, off := range []int64{0, 1, pageSize - 7, pageSize, 2*pageSize + 5} {
		got, release, ok := v.Window(off, 100)
		require.True(t, ok)
		assert.Equal(t, text[7+off:7+off+100], got)
		release()
	}
	for _, out := range []int64{-1, int64(len(text)) - 7 - 99} {
		_, _, ok := v.Window(out, 100)
		assert.False(t, ok, "outside of the view")
	}
	_, _, ok := v.Window(0, 0)
	assert.False(t, ok)

	closed := NewView(f, 0, 10)
	require.NoError(t, f.Close())
	_, _, ok = closed.Window(0, 10)
	assert.False(t, ok, "nothing can be mapped of a closed file")
}
