package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
)

// call runs the command in process and returns its exit status and what it wrote.
func call(t testing.TB, in *os.File, args ...string) (status int, out, errs []byte) {
	t.Helper()
	var o, e bytes.Buffer
	status = cli.Main(args, cli.Streams{In: in, Out: &o, Err: &e, Env: func(string) string { return "" }, InTerminal: in == nil})
	return status, o.Bytes(), e.Bytes()
}

// write puts data into a file of that name and returns its path.
func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// smallLogs are the fixtures' logs but the few very long ones. Under -short, which the race detector runs with, every
// eighth of them serves.
func smallLogs(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, glob := range []string{"../../fixtures/cases/*/*/*", "../../fixtures/slurm-logs/*"} {
		paths, err := filepath.Glob(glob)
		require.NoError(t, err)
		for _, p := range paths {
			if st, err := os.Stat(p); err == nil && st.Size() < 400<<10 && !strings.HasSuffix(p, ".json") && !strings.HasSuffix(p, ".md") {
				out = append(out, p)
			}
		}
	}
	require.Greater(t, len(out), 80)
	if testing.Short() {
		for i := range len(out) / 8 {
			out[i] = out[8*i]
		}
		out = out[:len(out)/8]
	}
	return out
}

// keys are those of every report; they are always present.
var keys = map[string]string{
	"":          "schema version inputs run incidents partial stats",
	"inputs":    "name bytes lines truncated_lines error",
	"stats":     "bytes lines duration_ms",
	"run":       "framework framework_version backend engine launcher job_id world_size nodes gpus_per_node model config last_step",
	"run.model": "name parameters vocab_size hidden_size layers attention_heads dtype",
	"incidents": "id verdict kind resource phase confidence survived summary evidence root consequences repeats shortfall_bytes " +
		"ledger findings remedies start_with",
	"incidents.evidence": "file line text why",
	"incidents.root": "file line offset time host rank device pid process message requested_bytes total_bytes free_bytes allocated_bytes " +
		"reserved_unallocated_bytes process_bytes other_process_bytes limit_bytes traceback",
	"incidents.root.traceback":   "file line function",
	"incidents.consequences":     "kind file line rank host time message",
	"incidents.remedies":         "order id title detail why caution applies applies_why changes expected_freed_bytes source",
	"incidents.remedies.changes": "key from to direction syntax snippet computed_from",
	"incidents.remedies.source":  "guide section url",
}

// lists are never null.
var lists = []string{
	"inputs", "incidents", "evidence", "consequences", "findings", "remedies", "start_with", "traceback", "changes",
}

// checkKeys walks a decoded report.
func checkKeys(t testing.TB, path string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			checkKeys(t, path, x)
		}
	case map[string]any:
		for _, k := range strings.Fields(keys[path]) {
			if _, ok := v[k]; !ok {
				t.Errorf("%s has no key %q", path, k)
			}
		}
		if path == "run.config" {
			return // the user's own keys
		}
		for k, x := range v {
			if x == nil && slices.Contains(lists, k) {
				t.Errorf("%s.%s is null, not []", path, k)
			}
			checkKeys(t, strings.TrimPrefix(path+"."+k, "."), x)
		}
	case string:
		if !utf8.ValidString(v) {
			t.Errorf("%s is no UTF-8: %q", path, v)
		}
	}
}

// How long a scan took, in JSON and in text. Two expressions that begin with a literal are much faster than one with both.
var (
	tookJSON = regexp.MustCompile(`"duration_ms": \d+`)
	tookText = regexp.MustCompile(`oomscan \S+ in [\d.]+ \S+`)
)

// timeless is a report without the time that the scan took.
func timeless(report []byte) string {
	return string(tookText.ReplaceAll(tookJSON.ReplaceAll(report, nil), nil))
}

// sound holds both forms of the report on data against what every report must hold.
func sound(t testing.TB, data []byte) {
	t.Helper()
	path := write(t, "in.log", data)
	stdin := func(args ...string) (int, []byte, []byte) { // where nothing is refused for its looks
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		return call(t, f, args...)
	}
	status, out, errs := stdin("--format", "json")
	require.Empty(t, string(errs))
	require.Contains(t, []int{0, 1}, status)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(out, &doc), "%s", out)
	checkKeys(t, "", doc)

	_, text, _ := stdin()
	for i, c := range text {
		if c < ' ' && c != '\n' || c == 0x7f || c == 0xc2 && i+1 < len(text) && text[i+1] >= 0x80 && text[i+1] < 0xa0 {
			t.Fatalf("a control code in the text: %q", text[max(0, i-40):min(len(text), i+40)])
		}
	}
	require.True(t, utf8.Valid(text))
}

// mutations are what happens to logs: on the way, by interleaving writers, and by malice.
var mutations = map[string]func(r *rand.Rand, b []byte) []byte{
	"cut anywhere": func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b)+1)] },
	"begin lost":   func(r *rand.Rand, b []byte) []byte { return b[r.IntN(len(b)+1):] },
	"lines swapped": func(r *rand.Rand, b []byte) []byte {
		lines := bytes.SplitAfter(b, []byte("\n"))
		for range 10 {
			i, j := r.IntN(len(lines)), r.IntN(len(lines))
			lines[i], lines[j] = lines[j], lines[i]
		}
		return bytes.Join(lines, nil)
	},
	"bytes inserted": func(r *rand.Rand, b []byte) []byte {
		return insert(r, b, "\x00", "\x1b[31m", "\x1b]0;title\x07", "\xff\xfe", "\xc2", "\x9b", "\u202e", "\r", "\b", "\x7f", "\u2028", "\n", "[rank1]: ", "(W pid=1) ")
	},
	"braces inserted": func(r *rand.Rand, b []byte) []byte {
		return insert(r, b, "{", "[", "(", "\"", "'", "}", ")", "\\", "%", "=", ":", "{'a': ", "File \"x\", line 1", "99999999999999999999 GiB")
	},
	"CR before LF": func(_ *rand.Rand, b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) },
	"only CR":      func(_ *rand.Rand, b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r")) },
	"one line":     func(_ *rand.Rand, b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte(" ")) },
	"NUL wide": func(_ *rand.Rand, b []byte) []byte { // UTF-16, as PowerShell redirects
		var out []byte
		for _, c := range b {
			out = append(out, c, 0)
		}
		return out
	},
	"numbers changed": func(r *rand.Rand, b []byte) []byte {
		return regexp.MustCompile(`\d+`).ReplaceAllFunc(b, func(d []byte) []byte {
			return []byte([]string{string(d), "0", "18446744073709551616", "-1", "9223372036854775807", "1e309", "99999999999999999999999"}[r.IntN(7)])
		})
	},
}

// insert puts some of the texts at random places.
func insert(r *rand.Rand, b []byte, texts ...string) []byte {
	var at []int
	for range 200 {
		at = append(at, r.IntN(len(b)+1))
	}
	slices.Sort(at)
	var out []byte
	from := 0
	for _, i := range at {
		out = append(append(out, b[from:i]...), texts[r.IntN(len(texts))]...)
		from = i
	}
	return append(out, b[from:]...)
}

// TestMutatedLogsGiveSoundReports breaks every fixture in a way of its own, a different one each.
func TestMutatedLogsGiveSoundReports(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range mutations {
		names = append(names, n)
	}
	slices.Sort(names)
	for i, path := range smallLogs(t) {
		name := names[i%len(names)]
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path)+"/"+name, func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			sound(t, mutations[name](rand.New(rand.NewPCG(uint64(i), 7)), b))
		})
	}
}

// FuzzReport reads any bytes. Its seeds, broken fixtures among them, run with the tests.
func FuzzReport(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("\x00\x1b[2J\r\r\n\xff\n"))
	f.Add([]byte(oomLine))
	f.Add([]byte("Traceback (most recent call last):\n  File \"\x1b]0;x\x07\", line 1, in f\n" + oomLine + "\n"))
	f.Add([]byte("(A pid=1) slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"))
	for _, p := range []string{"gpu_oom/trl-grpo-old-logps-interleaved/grpo.log", "oom_kill/slurm-kernel-bash-one-kill/dmesg.txt"} {
		b, err := os.ReadFile("../../fixtures/cases/" + p)
		require.NoError(f, err)
		f.Add(b[max(0, len(b)-6000):])
	}
	f.Fuzz(func(t *testing.T, data []byte) { sound(t, data) })
}

// incidents are a report's incidents as text, offsets aside: they count the bytes of line ends.
func incidents(t testing.TB, report []byte) string {
	t.Helper()
	var doc struct {
		Incidents []map[string]any `json:"incidents"`
	}
	require.NoError(t, json.Unmarshal(report, &doc), "%s", report)
	for _, in := range doc.Incidents {
		delete(in["root"].(map[string]any), "offset")
	}
	out, err := json.MarshalIndent(doc.Incidents, "", " ")
	require.NoError(t, err)
	return string(out)
}

// TestLineEndsDoNotMatter reads every log with LF and with CR LF.
func TestLineEndsDoNotMatter(t *testing.T) {
	t.Parallel()
	for _, path := range smallLogs(t) {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			lf := bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
			crlf := bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n"))
			log := write(t, "in.log", nil)
			var got [2]string
			for i, data := range [][]byte{lf, crlf} {
				require.NoError(t, os.WriteFile(log, data, 0o600))
				_, out, _ := call(t, nil, "--format", "json", log)
				got[i] = incidents(t, out)
			}
			assert.Equal(t, got[0], got[1])
		})
	}
}

// TestOrderOfFilesDoesNotMatter gives the files of each case forwards and backwards.
func TestOrderOfFilesDoesNotMatter(t *testing.T) {
	t.Parallel()
	several := 0
	for _, dir := range caseFolders(t) {
		names := logs(t, dir)
		if len(names) < 2 {
			continue
		}
		several++
		args := []string{"--format", "json"}
		for _, n := range names {
			args = append(args, filepath.Join(dir, n))
		}
		_, forwards, _ := call(t, nil, args...)
		slices.Reverse(args[2:])
		_, backwards, _ := call(t, nil, args...)
		assert.Equal(t, incidents(t, forwards), incidents(t, backwards), dir)
	}
	assert.Greater(t, several, 5)
}

// TestAPipeGivesWhatTheFileGives writes logs into a pipe in pieces of odd sizes.
func TestAPipeGivesWhatTheFileGives(t *testing.T) {
	t.Parallel()
	for i, path := range smallLogs(t) {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(path)
			require.NoError(t, err)
			defer f.Close()
			_, whole, _ := call(t, f, "--format", "json")
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			in, out, err := os.Pipe()
			require.NoError(t, err)
			defer in.Close()
			go func() {
				r := rand.New(rand.NewPCG(uint64(i), 3))
				most := []int{7, 100, 4096, 70_000}[i%4]
				for len(b) > 0 {
					n := min(len(b), 1+r.IntN(most))
					_, _ = out.Write(b[:n])
					b = b[n:]
				}
				out.Close()
			}()
			_, piped, _ := call(t, in, "--format", "json")
			assert.Equal(t, timeless(whole), timeless(piped))
		})
	}
}

// TestSecretsReachNoReport puts credentials wherever a report quotes the log.
func TestSecretsReachNoReport(t *testing.T) {
	t.Parallel()
	hf, key, pass := "hf_"+strings.Repeat("aB3d", 9), strings.Repeat("0123456789abcdef", 3)[:40], "hunter2hunter2"
	log := fmt.Sprintf(`+ export HF_TOKEN=%[1]s WANDB_API_KEY=%[2]s
+ python train.py --model https://me:%[3]s@example.com/m --wandb_key %[2]s --lr 1e-5
(Worker(%[1]s) pid=7) Traceback (most recent call last):
Traceback (most recent call last):
  File "https://me:%[3]s@example.com/train.py", line 10, in %[1]s
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free. token %[1]s WANDB_API_KEY=%[2]s https://me:%[3]s@example.com/
ValueError: password='%[3]s' Authorization: Bearer %[2]s
slurmstepd: error: *** JOB 12 ON %[1]s CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***
`, hf, key, pass)
	path := write(t, "in.log", []byte(log))
	for _, format := range []string{"text", "json", "ndjson"} {
		status, out, _ := call(t, nil, "--format", format, path)
		assert.Equal(t, 1, status)
		for _, s := range []string{hf, hf[5:30], key, pass} {
			assert.NotContains(t, string(out), s, format)
		}
		assert.Contains(t, string(out), "***")
		assert.Contains(t, string(out), "CUDA out of memory")
	}
}
