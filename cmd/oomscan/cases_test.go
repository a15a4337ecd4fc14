package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
	"oomscan/cmd/oomscan/internal/report"
)

// label is expect.json: what a perfect reader concludes from a case's logs. A key K_ok lists further right answers.
type label struct {
	OOM         bool             `json:"oom"`
	Framework   string           `json:"framework"`
	FrameworkOK []string         `json:"framework_ok"`
	Config      map[string]any   `json:"config"`
	ConfigOK    map[string][]any `json:"config_ok"`
	Incidents   []map[string]any `json:"incidents"`
}

// scan runs the command in process on files of a folder and returns its exit status and its report.
func scan(t *testing.T, dir string, files ...string) (int, report.Report) {
	t.Helper()
	status, r, out := scanOnly(t, dir, files...)
	assert.NoError(t, fits(t, "report", out))
	return status, r
}

// scanOnly does not hold the report against its schema.
func scanOnly(t *testing.T, dir string, files ...string) (int, report.Report, []byte) {
	t.Helper()
	var out, errs bytes.Buffer
	args := []string{"--format", "json"}
	for _, f := range files {
		args = append(args, filepath.Join(dir, f))
	}
	status := cli.Main(args, cli.Streams{In: os.Stdin, Out: &out, Err: &errs, Env: func(string) string { return "" }, InTerminal: true})
	var r report.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &r), "stderr: %s", errs.String())
	assert.Empty(t, errs.String())
	return status, r, out.Bytes()
}

// logs are the files of a case's folder but its labels.
func logs(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		if n := e.Name(); n != "expect.json" && n != "report.txt" && !strings.HasPrefix(n, ".") {
			names = append(names, n)
		}
	}
	return names
}

// caseFolders are the folders of all labelled cases: KIND/FRAMEWORK-SLUG below fixtures/cases, where
// KIND is that of the first incident, or none.
func caseFolders(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob("../../fixtures/cases/*/*")
	require.NoError(t, err)
	require.Greater(t, len(dirs), 40)
	return dirs
}

// kindAndName are the last two parts of a case's folder.
func kindAndName(dir string) string {
	return filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir)
}

// TestCases holds the report on every labelled case against its label and against itself.
func TestCases(t *testing.T) {
	t.Parallel()
	for i, dir := range caseFolders(t) {
		if testing.Short() && i%72 != 0 {
			continue // the race detector sees enough of them
		}
		t.Run(kindAndName(dir), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join(dir, "expect.json"))
			require.NoError(t, err)
			var want label
			require.NoError(t, json.Unmarshal(raw, &want))
			status, got := scan(t, dir, logs(t, dir)...)
			check(t, &want, status, &got)
			checkProposals(t, dir, &got)
			golden(t, dir, logs(t, dir))
		})
	}
}

// volatile is what differs from one run or build to the next.
var volatile = regexp.MustCompile(`oomscan\s+\S+\s+in\s+\d[\d.]*\s?m?s`)

// golden compares the text report with report.txt, where a case has one. UPDATE_GOLDEN=1 rewrites the reports that exist,
// and writes one for a case that -run names.
func golden(t *testing.T, dir string, files []string) {
	t.Helper()
	path := filepath.Join(dir, "report.txt")
	update := os.Getenv("UPDATE_GOLDEN") != ""
	named := strings.Contains(flag.Lookup("test.run").Value.String(), filepath.Base(dir))
	want, err := os.ReadFile(path)
	if err != nil && !(update && named) {
		return
	}
	var out, errs bytes.Buffer
	args := []string{}
	for _, f := range files {
		args = append(args, filepath.Join(dir, f))
	}
	cli.Main(args, cli.Streams{In: os.Stdin, Out: &out, Err: &errs, Env: func(string) string { return "" }, InTerminal: true})
	got := volatile.ReplaceAllString(out.String(), "oomscan VERSION, TIME")
	if update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	assert.Equal(t, string(want), got, "the text report: UPDATE_GOLDEN=1 rewrites it")
}

func check(t *testing.T, want *label, status int, got *report.Report) {
	t.Helper()
	var memory []report.Incident
	for _, in := range got.Incidents {
		ledgerCloses(t, &in)
		if in.Verdict == "memory" {
			memory = append(memory, in)
		}
	}
	if !want.OOM {
		assert.Equal(t, 0, status)
		assert.Empty(t, memory, "nothing ran out of memory here")
		return
	}
	assert.Equal(t, 1, status)
	assert.Contains(t, append(want.FrameworkOK, want.Framework), got.Run.Framework, "framework")
	for k, v := range want.Config {
		assert.Contains(t, texts(append(want.ConfigOK[k], v)), norm(setting(got, k)), "setting %s", k)
	}
	require.Len(t, memory, len(want.Incidents), "incidents")
	for i, w := range want.Incidents {
		checkIncident(t, w, &memory[i])
	}
}

// ledgerCloses holds a ledger to its sum: the parts of a device or of a control group make up its capacity, or a sentence
// says which figures contradict each other.
func ledgerCloses(t *testing.T, in *report.Incident) {
	t.Helper()
	l := in.Ledger
	if l == nil || l.Capacity == nil || l.Contradiction != nil || l.Unexplained == nil {
		return
	}
	sum := int64(0)
	parts := []*int64{l.Free, l.Unexplained, l.OtherProcesses, l.Anon, l.File, l.Shmem}
	if l.ProcessRest != nil || in.Root.OwnBytes == nil || in.Resource == "host" {
		parts = append(parts, l.Allocated, l.ReservedUnallocated, l.ProcessRest)
	} else {
		parts = append(parts, in.Root.OwnBytes)
	}
	for _, p := range parts {
		if p != nil {
			assert.GreaterOrEqual(t, *p, int64(0))
			sum += *p
		}
	}
	assert.InDelta(t, *l.Capacity, sum, float64(l.Rounding)+1, "the ledger does not close")
}

func checkIncident(t *testing.T, w map[string]any, in *report.Incident) {
	t.Helper()
	right := func(key, ok string, got any) {
		if w[key] == nil {
			return
		}
		more, _ := w[ok].([]any)
		assert.Contains(t, texts(append(slices.Clone(more), w[key])), norm(got), key)
	}
	r := &in.Root
	right("kind", "kind_ok", in.Kind)
	right("resource", "resource_ok", in.Resource)
	right("phase", "phase_ok", in.Phase)
	right("rank", "rank_ok", value(r.Rank))
	right("device", "device_ok", value(r.Device))
	right("host", "host_ok", value(r.Host))
	right("pid", "pid_ok", value(r.PID))
	right("requested_bytes", "requested_ok", value(r.Request))
	right("total_bytes", "total_ok", value(r.Total))
	right("free_bytes", "free_ok", value(r.Free))
	right("allocated_bytes", "allocated_ok", value(r.Alloc))
	right("reserved_unallocated_bytes", "reserved_unallocated_ok", value(r.Reserved))
	survived, _ := w["survived"].(bool)
	assert.Equal(t, survived, in.Survived, "survived")
	places := [][2]any{{w["file"], w["line"]}}
	more, _ := w["line_ok"].([]any)
	for _, p := range more {
		pair := p.([]any)
		places = append(places, [2]any{pair[0], pair[1]})
	}
	if w["line"] != nil {
		assert.Contains(t, places, [2]any{filepath.Base(r.File), float64(r.Line)}, "root line")
	}
}

// setting finds a setting by its full key or its last parts, dashes and underscores alike.
func setting(r *report.Report, key string) any {
	if s, ok := r.Run.Config[key]; ok {
		return s.Value
	}
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(strings.TrimLeft(s, "-+")), "-", "_") }
	k := plain(key)
	for have, s := range r.Run.Config {
		if h := plain(have); h == k || strings.HasSuffix(h, "."+k) || strings.HasSuffix(k, "."+h) {
			return s.Value
		}
	}
	return nil
}

func value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// norm makes values of JSON labels and of reports comparable as text.
func norm(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case string:
		s := strings.Trim(v, `'"`)
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
		switch l := strings.ToLower(s); l {
		case "true", "false", "none":
			return l
		case "null":
			return "none"
		}
		return s
	}
	return ""
}

func texts(vs []any) []string {
	var out []string
	for _, v := range vs {
		out = append(out, norm(v))
	}
	return out
}
