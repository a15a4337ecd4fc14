package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const oomLog = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"

// TestNoGoroutineOutlivesACall runs alone, so that the goroutines are its own.
func TestNoGoroutineOutlivesACall(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.log", "b.log", "nested/c.log"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("step 1\n", 1<<14)+oomLog), 0o600))
	}
	archive := write(t, "job.tar.gz", nil)
	out, err := exec.Command("tar", "czf", archive, "-C", dir, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	for _, args := range [][]string{
		{dir},
		{"--jobs", "4", dir},
		{archive},
		{"--format", "ndjson", dir},
		{"--format", "obs", dir},
		{"--max-total", "1K", archive},
		{filepath.Join(dir, "missing")},
		{"--run-config", "/dev/zero", dir},
		{"plan", dir},
		{"rules", "try", "a line"},
		{"guide", "verl"},
	} {
		call(t, nil, args...) // what stays for good begins here
		before := runtime.NumGoroutine()
		for range 3 {
			call(t, nil, args...)
		}
		assert.LessOrEqual(t, goroutines(before), before, "%q", args)
	}
	before := runtime.NumGoroutine()
	for range 3 {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		go func() {
			_, _ = io.WriteString(w, oomLog)
			w.Close()
		}()
		call(t, r)
		r.Close()
	}
	assert.LessOrEqual(t, goroutines(before), before, "standard input")
}

// goroutines waits for those that are about to end, until no more than so many are left.
func goroutines(want int) (n int) {
	for range 500 {
		if n = runtime.NumGoroutine(); n <= want {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return n
}

// TestAStaticBuildNeedsLittleAddressSpace builds as `.ci/package` does. Of the address space, Go's runtime reserves most for itself.
func TestAStaticBuildNeedsLittleAddressSpace(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("builds a program, and sets a limit of Linux")
	}
	t.Parallel()
	program := filepath.Join(t.TempDir(), "oomscan")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	out, _ = exec.Command("sh", "-c", `ulimit -v 786432; exec "$0" "$1"`, program, write(t, "oom.log", []byte(oomLog))).CombinedOutput()
	assert.Contains(t, string(out), "OUT OF MEMORY")
}
