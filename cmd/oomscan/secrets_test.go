package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser/secret/secrettest"
)

// TestNoKindOfSecretReachesAReport puts each kind of credential at each place into a job's log: on a line of its own, in the
// code of a frame and in the message of the failure.
func TestNoKindOfSecretReachesAReport(t *testing.T) {
	t.Parallel()
	for _, k := range sample(secrettest.Kinds(), 1) {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			for i, p := range secrettest.Places() {
				line := p.Line(k)
				fmt.Fprintf(&log, `%[2]s
[rank%[1]d]: Traceback (most recent call last):
[rank%[1]d]:   File "/src/train%[1]d.py", line %[1]d, in main
[rank%[1]d]:     %[2]s
[rank%[1]d]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %[1]d.00 GiB. GPU %[1]d has a total capacity of 79.15 GiB of which 1.00 GiB is free. %[2]s
`, i, line)
			}
			path := write(t, "in.log", []byte(log.String()))
			for _, format := range []string{"text", "json", "ndjson", "html", "markdown", "obs"} {
				_, out, errs := call(t, nil, "--format", format, path)
				if format == "obs" {
					out = []byte(unpacked(t, write(t, "out.obs", out)))
				}
				leak := k.Leak(string(out) + string(errs))
				at := strings.Index(string(out), leak)
				assert.Empty(t, leak, "%s: %s", format, out[max(0, at-200):min(len(out), at+100)])
				assert.NotEmpty(t, out, format)
			}
			_, out, _ := call(t, nil, "rules", "try", log.String())
			assert.Empty(t, k.Leak(string(out)))
		})
	}
}

// TestNoSecretOfAPathReachesAReport names folders by a credential and reads them as several jobs.
func TestNoSecretOfAPathReachesAReport(t *testing.T) {
	t.Parallel()
	key := "hf" + "_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3h"
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
	dir := t.TempDir()
	var logs []string
	for _, job := range []string{"a", "b"} {
		logs = append(logs, filepath.Join(dir, key+job, "rank0.log"))
		require.NoError(t, os.MkdirAll(filepath.Dir(logs[len(logs)-1]), 0o755))
		require.NoError(t, os.WriteFile(logs[len(logs)-1], []byte(oom), 0o600))
	}
	for _, format := range []string{"text", "json", "ndjson", "html", "markdown", "junit", "sarif", "prom"} {
		for _, args := range [][]string{logs, append([]string{"--each"}, logs...), {dir}} {
			_, out, errs := call(t, nil, append([]string{"--format", format}, args...)...)
			assert.NotContains(t, string(out)+string(errs), key[:12], "%s %q", format, args)
		}
	}
}
