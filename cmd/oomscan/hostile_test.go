package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
	"oomscan/cmd/oomscan/internal/report"
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

// smallLogs are the [sample] of the fixtures' logs that begins with the first-th, but for the few very long ones.
func smallLogs(t testing.TB, first int) []string {
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
	return sample(out, first)
}

// eachLog runs a test on each log of [smallLogs], side by side.
func eachLog(t *testing.T, first int, test func(t *testing.T, i int, log []byte)) {
	t.Helper()
	for i, path := range smallLogs(t, first) {
		t.Run(kindAndName(path), func(t *testing.T) {
			t.Parallel()
			log, err := os.ReadFile(path)
			require.NoError(t, err)
			test(t, i, log)
		})
	}
}

// scanLog is the report on a log.
func scanLog(t *testing.T, log []byte) report.Report {
	t.Helper()
	_, r := scan(t, filepath.Dir(write(t, "in.log", log)), "in.log")
	return r
}

// sample is every 20th of a list from the first-th on, every 240th under -short, which the race detector runs with, every sixth where
// OOMSCAN_TEST_ALL is 1, as .ci/run sets it, and all of it where it is nightly. It serves tests of what holds for any log: each begins
// elsewhere.
func sample[T any](list []T, first int) (some []T) {
	every := 20
	switch {
	case os.Getenv("OOMSCAN_TEST_ALL") == "1":
		every, first = 6, first%6
	case os.Getenv("OOMSCAN_TEST_ALL") != "":
		return list
	case testing.Short():
		every = 240
	}
	for i := first; i < len(list); i += every {
		some = append(some, list[i])
	}
	return some
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
	require.NoError(t, fits(t, "report", out))
	var r report.Report
	require.NoError(t, json.Unmarshal(out, &r))
	memory := slices.ContainsFunc(r.Incidents, func(in report.Incident) bool { return in.Verdict == "memory" })
	require.Equal(t, memory, status == 1, "the exit status agrees with the verdicts")
	noCodes(t, out)

	again, text, _ := stdin()
	require.Equal(t, status, again)
	noCodes(t, text)
}

// noCodes says that text is UTF-8 which controls no terminal.
func noCodes(t testing.TB, text []byte) {
	t.Helper()
	require.True(t, utf8.Valid(text))
	i := bytes.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) })
	if i >= 0 {
		t.Fatalf("a code that controls a terminal: %q", text[max(0, i-40):min(len(text), i+40)])
	}
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

// TestMutatedLogsGiveSoundReports breaks each log in one of the ways, in turn.
func TestMutatedLogsGiveSoundReports(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range mutations {
		names = append(names, n)
	}
	slices.Sort(names)
	eachLog(t, 0, func(t *testing.T, i int, log []byte) {
		name := names[i%len(names)]
		t.Run(name, func(t *testing.T) { sound(t, mutations[name](rand.New(rand.NewPCG(uint64(i), 7)), log)) })
	})
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

// TestLineEndsDoNotMatter reads logs with LF and with CR LF, which offsets count.
func TestLineEndsDoNotMatter(t *testing.T) {
	t.Parallel()
	eachLog(t, 1, func(t *testing.T, _ int, log []byte) {
		path := write(t, "in.log", nil)
		read := func(log []byte) []report.Incident {
			require.NoError(t, os.WriteFile(path, log, 0o600))
			_, r := scan(t, filepath.Dir(path), "in.log")
			for i := range r.Incidents {
				r.Incidents[i].Root.Offset = 0
			}
			return r.Incidents
		}
		lf := bytes.ReplaceAll(log, []byte("\r\n"), []byte("\n"))
		assert.Equal(t, read(lf), read(bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n"))))
	})
}

// TestOrderOfFilesDoesNotMatter gives the files of cases forwards and backwards.
func TestOrderOfFilesDoesNotMatter(t *testing.T) {
	t.Parallel()
	several := 0
	for _, dir := range sample(caseFolders(t), 1) {
		names := logs(t, dir)
		if len(names) < 2 {
			continue
		}
		several++
		_, forwards := scan(t, dir, names...)
		slices.Reverse(names)
		_, backwards := scan(t, dir, names...)
		assert.Equal(t, forwards.Incidents, backwards.Incidents, dir)
	}
	assert.Positive(t, several)
}

// TestAPipeGivesWhatTheFileGives writes logs into a pipe in pieces of odd sizes.
func TestAPipeGivesWhatTheFileGives(t *testing.T) {
	t.Parallel()
	eachLog(t, 2, func(t *testing.T, i int, log []byte) {
		f, err := os.Open(write(t, "in.log", log))
		require.NoError(t, err)
		defer f.Close()
		_, whole, _ := call(t, f, "--format", "json")
		in, out, err := os.Pipe()
		require.NoError(t, err)
		defer in.Close()
		go func() {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			most := []int{7, 100, 4096, 70_000}[i%4]
			for len(log) > 0 {
				n := min(len(log), 1+r.IntN(most))
				_, _ = out.Write(log[:n])
				log = log[n:]
			}
			out.Close()
		}()
		_, piped, _ := call(t, in, "--format", "json")
		assert.Equal(t, timeless(whole), timeless(piped))
	})
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
		if format != "text" { // the page shows neither the message nor the settings
			assert.Contains(t, string(out), "***")
			assert.Contains(t, string(out), "CUDA out of memory")
		}
	}
	dir := filepath.Dir(path)
	require.NoError(t, os.Rename(path, filepath.Join(dir, hf+".log")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.log"), []byte(log), 0o600))
	for _, format := range slices.Sorted(maps.Keys(report.Formats())) {
		_, out, _ := call(t, nil, "--each", "--all", "--full", "--format", format, dir)
		assert.NotContains(t, string(out), hf, "%s: the name of a job", format)
	}
	pages := t.TempDir() + "/"
	call(t, nil, "--each", "--all", "--format", "html", "-o", pages, dir)
	assert.NoFileExists(t, pages+hf+".log.html")
	index, err := os.ReadFile(pages + "index.html")
	require.NoError(t, err)
	assert.NotContains(t, string(index), hf)
	config := write(t, "run.yaml", []byte("lr: 1\n api_key: "+hf+"\n"))
	for _, args := range [][]string{{filepath.Join(dir, hf)}, {"--job", hf + "x", "--each", dir}, {"--format", hf, dir}} {
		status, _, errs := call(t, nil, args...)
		assert.Equal(t, 2, status, "%q", args)
		assert.Contains(t, string(errs), "***", "%q", args)
		assert.NotContains(t, string(errs), hf, "%q", args)
	}
	status, _, errs := call(t, nil, "--run-config", config, dir)
	assert.Equal(t, 2, status)
	assert.Contains(t, string(errs), "is not valid YAML")
	assert.NotContains(t, string(errs), "api_key", "a line of the file, which may hold a value alone")
}
