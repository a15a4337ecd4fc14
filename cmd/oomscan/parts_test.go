package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestALineThatWasSplitIsOne cuts a log at every few bytes of a message, as split -b and rotation by size do.
func TestALineThatWasSplitIsOne(t *testing.T) {
	t.Parallel()
	const before = "rank 2 local_rank 2 host n1 pid 715\nstep 1 loss 3\nTraceback (most recent call last):\n  File \"/opt/train.py\", line 31, in step\n    loss.backward()\n"
	const message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 17.40 GiB. GPU 2 has a total capacity of 79.11 GiB of which 9.12 GiB is free.\n"
	const log = before + message + "srun: error: n1: task 2: Exited with exit code 1\n"
	kept := func(parts map[string]string) (dir string) {
		dir = t.TempDir()
		for name, text := range parts {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		return dir
	}
	want := answers(t, kept(map[string]string{"x.log": log}), "x.log")
	require.Len(t, want, 1)
	apart := 7
	if testing.Short() { // the race detector makes it slow
		apart = 29
	}
	for at := len(before) - 9; at < len(before+message)+9; at += apart {
		for _, names := range [][]string{{"x.log.part-aa", "x.log.part-ab"}, {"xaa", "xab"}, {"x.log.aa", "x.log.ab"}, {"x.log.part9", "x.log.part10"}} {
			dir := kept(map[string]string{names[0]: log[:at], names[1]: log[at:]})
			_, r, _ := scanOnly(t, dir, names[1], names[0])
			got := answers(t, dir, names[1], names[0])
			assert.Equal(t, want, got, "%s, cut at %q", names[0], log[max(0, at-9):at])
			var size int64
			for _, in := range r.Inputs {
				size += in.Bytes
			}
			assert.Equal(t, int64(len(log)), size, "no byte counts twice")
		}
	}
	for _, rest := range []string{"ate 17.40", "7.40 GiB.", "GPU 2 has", " has a total", ".12 GiB", "12 GiB is free", "."} {
		at := len(before) + strings.Index(message, rest)
		for _, names := range [][]string{{"x.log.1", "x.log"}, {"x.log.2", "x.log.1"}, {"x.log.2026-11-01", "x.log.2026-11-02"}, {"x.log.old", "x.log"}} {
			whole := slices.Equal(want, answers(t, kept(map[string]string{names[0]: log[:at], names[1]: log[at:]}), names...))
			assert.Equal(t, rest[0] < 'A' || rest[0] > 'Z', whole, "%s, cut before %q: a line that begins with a capital letter may be another one", names, rest)
		}
	}
	for _, first := range []string{"2026-11-01 10:00:01 INFO start\n", "10:00:01 start\n", "1/100 done\n", "[rank0] start\n", "Traceback (most recent call last):\n", "\n"} {
		got := answers(t, kept(map[string]string{"x.log.1": strings.TrimSuffix(log, "\n"), "x.log": first}), "x.log.1", "x.log")
		assert.Equal(t, want, got, "%q begins a file", first)
	}
	cut := strings.Index(log, " has a total")
	for name, names := range map[string][]string{"a part is missing": {"x.log.aa", "x.log.ac"}, "two logs": {"x.log.aa", "y.log.ab"}} {
		got := answers(t, kept(map[string]string{names[0]: log[:cut], names[1]: log[cut:]}), names...)
		require.NotEmpty(t, got, name)
		assert.NotEqual(t, want[0], got[0], name)
	}
}
