package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
	"oomscan/cmd/oomscan/internal/report"
)

const oomLog = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"

// TestNoGoroutineOutlivesACall runs alone, so that the goroutines are its own.
func TestNoGoroutineOutlivesACall(t *testing.T) {
	dir, steps := t.TempDir(), 1<<14
	if testing.Short() { // the race detector makes it slow
		steps = 1 << 11
	}
	for _, name := range []string{"a.log", "b.log", "nested/c.log"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("step 1\n", steps)+oomLog), 0o600))
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
	out, _ = exec.Command("sh", "-c", `ulimit -v 917504; exec "$0" "$1"`, program, write(t, "oom.log", []byte(oomLog))).CombinedOutput()
	assert.Contains(t, string(out), "OUT OF MEMORY")
}

// TestAFolderOfTraps scans a folder with what a name, a link and a pipe can do.
func TestAFolderOfTraps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a\nb.log", "c\x1b[31m\x1b]0;x\a.log", "d\u202egol.txt", "-rf.log", "e\x85\u2028.log"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(oomLog), 0o600))
	}
	_ = os.WriteFile(filepath.Join(dir, "f\xff\xfe.log"), []byte(oomLog), 0o600) // where names may be so
	require.NoError(t, os.Mkdir(filepath.Join(dir, "nested"), 0o700))
	for name, to := range map[string]string{"nested/up": "..", "self": ".", "one": "two", "two": "one", "gone.log": "missing"} {
		require.NoError(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	if runtime.GOOS != "windows" {
		out, err := exec.Command("mkfifo", filepath.Join(dir, "pipe.log")).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	for _, format := range []string{"text", "json", "ndjson", "markdown", "html", "sarif"} {
		status, out, errs := call(t, nil, "--format", format, dir)
		assert.Equal(t, 1, status, format)
		noCodes(t, out)
		noCodes(t, errs)
	}
	archive := filepath.Join(t.TempDir(), "a.tar")
	out, err := exec.Command("tar", "-P", "-cf", archive, filepath.Join(dir, "-rf.log"), filepath.Join(dir, "nested", "..", "a\nb.log")).CombinedOutput()
	require.NoError(t, err, string(out))
	status, text, _ := call(t, nil, "--format", "json", archive)
	assert.Equal(t, 1, status)
	noCodes(t, text)
	_, err = os.Stat(filepath.Join(dir, "-rf.log"))
	assert.NoError(t, err)
}

// TestAReportIsNotWrittenOverItsInput: who mistypes -o keeps the log.
func TestAReportIsNotWrittenOverItsInput(t *testing.T) {
	t.Parallel()
	path := write(t, "in.log", []byte(oomLog))
	link := filepath.Join(filepath.Dir(path), "link.log")
	require.NoError(t, os.Symlink(path, link))
	for _, args := range [][]string{{path}, {link}, {"--format", "obs", path}, {"merge", path}, {"--follow", path}, {"-"}} {
		in, err := os.Open(path)
		require.NoError(t, err)
		status, _, errs := call(t, in, append(args, "-o", path)...)
		in.Close()
		assert.Equal(t, 2, status, "%q", args)
		assert.Contains(t, string(errs), "is an input, which the report would overwrite", "%q", args)
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, oomLog, string(left), "%q", args)
	}
	dir := filepath.Dir(path)
	status, _, errs := call(t, nil, filepath.Dir(link), "-o", path)
	assert.Equal(t, 2, status, "a log of the folder")
	assert.Contains(t, string(errs), "is an input, which the report would overwrite")
	for _, format := range append(slices.Sorted(maps.Keys(report.Formats())), "obs") {
		for range 2 { // the second replaces the first, which is no log
			want := 1
			if format == "obs" {
				want = 0
			}
			status, _, errs := call(t, nil, "--format", format, "-o", filepath.Join(dir, "report"), dir)
			assert.Equal(t, want, status, "%s: %s", format, errs)
		}
		_, out, _ := call(t, nil, dir)
		assert.Contains(t, string(out), "1 incident", format)
	}
	other := write(t, "report.txt", []byte("an earlier report"))
	status, _, errs = call(t, nil, path, "-o", other)
	assert.Equal(t, 1, status)
	assert.Empty(t, string(errs))
}

// TestAHoleOfATerabyteIsSkipped reads a log that was truncated while its writer went on at its offset.
func TestAHoleOfATerabyteIsSkipped(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs SEEK_DATA")
	}
	const size = 1 << 40
	path := write(t, "a.log", []byte("step 1\n"))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	if _, err = f.WriteAt([]byte(oomLine+"\n"), size); err != nil {
		t.Skip("the file system has no such files: ", err)
	}
	status, r := scan(t, filepath.Dir(path), "a.log")
	assert.Equal(t, 1, status)
	assert.EqualValues(t, size+len(oomLine)+1, r.Inputs[0].Bytes)
	assert.Equal(t, 2, r.Inputs[0].Lines)
}

// TestAFullDeviceIsSaid: half a report looks like a whole one. A reader that has enough of a report is no fault, but observations are
// read to the end.
func TestAFullDeviceIsSaid(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	path := write(t, "in.log", []byte(oomLog))
	for _, format := range append(slices.Sorted(maps.Keys(report.Formats())), "obs") {
		status, _, errs := call(t, nil, "--format", format, "-o", "/dev/full", path)
		assert.Equal(t, 2, status, format)
		assert.Equal(t, "oomscan: /dev/full: cannot be written: no space left on device\nhint: what is there is not complete: free some space, or write it elsewhere\n", string(errs), format)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	for _, args := range [][]string{{path}, {"version"}, {"version", "--full"}, {"rules"}, {"rules", "--full"}, {"explain"}, {"explain", "oom_kill"}, {"help", "jobs"}, {"schema"}} {
		var errs bytes.Buffer
		assert.Equal(t, 2, cli.Main(args, cli.Streams{Out: full, Err: &errs, Env: func(string) string { return "" }, InTerminal: true}), args)
		assert.Contains(t, errs.String(), "oomscan: /dev/full: cannot be written: no space left on device", args)
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	r.Close()
	for format, want := range map[string]int{"text": 1, "obs": 2} {
		var errs bytes.Buffer
		status := cli.Main([]string{"--format", format, path}, cli.Streams{Out: w, Err: &errs, Env: func(string) string { return "" }, InTerminal: true})
		assert.Equal(t, want, status, format)
		assert.Equal(t, format == "obs", strings.Contains(errs.String(), "standard output: was closed before all was written"), errs.String())
	}
}
