package epilog

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"oomscan/parser"
	"oomscan/parser/source"
	"oomscan/parser/stream"
)

// look writes a log and opens it.
func look(t testing.TB, text string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestHeadAndTailHaveTrueLineNumbers cuts a log in many places and checks the line numbers.
func TestHeadAndTailHaveTrueLineNumbers(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	want := map[int]bool{}
	for i := 1; i <= 400; i++ {
		if i%40 == 7 {
			b.WriteString(oomLine)
			want[i] = true
		} else {
			b.WriteString(strings.Repeat("x", i%83) + "\n")
		}
	}
	text := b.String()
	f := look(t, text)
	whole := int64(len(text))
	for _, tail := range []int64{500, 1234, 4000, 9999, whole / 2, whole} {
		m := newMeter(Budget{Wall: Duration(time.Minute), CPU: Duration(time.Hour), Bytes: 1 << 30, Head: 700, Tail: source.Size(tail), Memory: 1 << 30})
		seen := 0
		in, note := m.file("log", f, 0, whole, func(o parser.Observation) {
			if e, ok := o.(parser.Event); ok && e.Kind == parser.GPUOOM {
				assert.True(t, want[e.At.Line], "line %d with a tail of %d", e.At.Line, tail)
				assert.Equal(t, oomLine, text[e.At.Offset:][:len(oomLine)], "offset")
				seen++
			}
		})
		m.close()
		assert.Positive(t, seen)
		assert.Nil(t, in.Error)
		assert.Equal(t, whole > 700+tail, note != "", note)
		assert.LessOrEqual(t, in.Lines, 400)

		// If counting costs too much, lines have no numbers instead of wrong ones.
		m = newMeter(Budget{Wall: Duration(time.Minute), CPU: Duration(time.Hour), Bytes: source.Size(700 + tail + 100), Head: 700, Tail: source.Size(tail), Memory: 1 << 30})
		s := newScan(m, 1)
		s.log(&logFile{File: f, path: "log", stat: statOf(t, f)}, 0)
		m.close()
		r := s.report("test")
		doc, err := json.Marshal(r)
		require.NoError(t, err)
		require.NotContains(t, string(doc), fmt.Sprint(unknownLine)[:8])
		for _, in := range r.Incidents {
			for _, e := range in.Evidence {
				assert.True(t, e.Line == 0 || want[e.Line], "line %d with a tail of %d", e.Line, tail)
			}
		}
	}
}

func TestANumberInAName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"slurm-4242.out": true, "4242": true, "run_4242/x": true, "x14242.log": false, "42421": false, "a4242b": true, "": false, "424": false,
	} {
		assert.Equal(t, want, containsNumber(name, "4242"), name)
	}
	assert.False(t, containsNumber("rank7.log", "7"), "a number of one or two digits is a rank's")
}

// TestReportsAreNoLogs checks that whatever the hook writes is not read as a log later.
func TestReportsAreNoLogs(t *testing.T) {
	t.Parallel()
	for _, log := range []string{oomLine, oomLine + strings.Repeat("fine\n", 3000) + "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch. Some of the step tasks have been OOM Killed.\n"} {
		budget := Defaults().Budget
		budget.Wall, budget.CPU, budget.Memory = Duration(time.Minute), Duration(time.Hour), 64<<30 // other tests in this process use them
		m := newMeter(budget)
		s := newScan(m, 7)
		f := look(t, log)
		s.log(&logFile{File: f, path: f.Name(), stat: statOf(t, f)}, 0)
		m.close()
		w := worker{request: &request{Job: Job{ID: 7}, Config: Defaults(), Reporter: true, Dry: true, Document: true}, scan: s, meter: m, logs: []*logFile{{}}}
		rep := s.report("test")
		w.answer.Findings = findings(&rep, true)
		require.NotEmpty(t, w.answer.Findings)
		w.deliver(&rep)
		assert.False(t, source.IsLog([]byte(w.answer.Text)), "%s", w.answer.Text)
		assert.False(t, source.IsLog(w.answer.Document))
		var seen []parser.Observation
		_, err := stream.Read("log", strings.NewReader(string(quoteLines(w.answer.Short, "x"))), func(o parser.Observation) { seen = append(seen, o) })
		require.NoError(t, err)
		assert.Empty(t, seen)
		assert.Equal(t, 6, strings.Count(string(quoteLines(w.answer.Short, "x")), "\n"), "five lines, and the end of the log's last one")
		assert.Regexp(t, `^\noomscan\| what  .+\noomscan\| when  .+\noomscan\| why   .+\noomscan\| fix   .+\noomscan\| whole report: x\n$`, string(quoteLines(w.answer.Short, "x")))
	}
}

// TestAnAnswerIsNotTrusted passes the parent an answer that a user may have forged.
func TestAnAnswerIsNotTrusted(t *testing.T) {
	t.Parallel()
	a, err := readAnswer([]byte(`{"findings":[
		{"verdict":"memory","kind":"gpu_oom","phase":"backward","framework":"verl","rank":3},
		{"verdict":"memory","kind":"x\"} 1\nevil 2","phase":"unknown","framework":"verl","rank":0},
		{"verdict":"maybe","kind":"gpu_oom","phase":"unknown","framework":"verl","rank":0},
		{"verdict":"memory","kind":"gpu_oom","phase":"unknown","framework":"verl","rank":-7}],
		"files":["a\u001b[2Jb\njob=1"],"report":"` + strings.Repeat("x", 5000) + `","document":{"schema":"evil"},"marks":[{"Size":-5}]}`))
	require.NoError(t, err)
	require.Len(t, a.Findings, 1)
	assert.Equal(t, "gpu_oom in backward (verl) on rank 3", summary(a.Findings))
	assert.Equal(t, []string{"a?[2Jb?job=1"}, a.Files)
	assert.Less(t, len(a.Report), 400)
	assert.Nil(t, a.Document)
	assert.Empty(t, a.Marks)
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"findings":[{"verdict":"memory","kind":"gpu_oom","phase":"backward","framework":"verl","rank":3}],"files":["a"]}`))
	f.Add([]byte(`{"document":{"schema":"oomscan.report/v1"},"marks":[{"Size":5,"Last":"eA=="}],"troubles":["\u202e"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := readAnswer(data)
		if err != nil {
			return
		}
		s := series{}
		s.add("memory", a.Findings, time.Second)
		require.Equal(t, s, readSeries(s.text()), "counters survive the file")
		for _, x := range append(append(a.Files, a.Troubles...), a.Report, summary(a.Findings)) {
			require.Equal(t, x, printable(x, 400))
		}
		require.Regexp(t, `^[\w ().-]*$`, summary(a.Findings))
	})
}

func TestCountersContinue(t *testing.T) {
	t.Parallel()
	s := readSeries(jobsTotal + "{result=\"clean\"} 41\nforged{a=\"b\"} 7\n" + incidentsTotal + "{kind=\"a\\\"b\"} 1\n" + secondsTotal + " NaN\n")
	assert.Equal(t, series{jobsTotal + `{result="clean"}`: 41}, s)
	s.add("clean", nil, 1500*time.Millisecond)
	s.add("memory", []Finding{killFinding()}, time.Second)
	assert.Equal(t, `# HELP oomscan_epilog_jobs_total Jobs whose epilog ran, by result: clean, suspect, memory.
# TYPE oomscan_epilog_jobs_total counter
oomscan_epilog_jobs_total{result="clean"} 42
oomscan_epilog_jobs_total{result="memory"} 1
# HELP oomscan_epilog_seconds_total Time that the epilogs took.
# TYPE oomscan_epilog_seconds_total counter
oomscan_epilog_seconds_total 2.5
# HELP oomscan_incidents_total Incidents found in the logs of jobs that ended on this node.
# TYPE oomscan_incidents_total counter
oomscan_incidents_total{verdict="memory",kind="oom_kill",phase="unknown",framework="unknown"} 1
`, s.text())
	assert.Equal(t, s, readSeries(s.text()))
}

// TestTheAccountingsComment replaces sacctmgr and sacct by scripts.
func TestTheAccountingsComment(t *testing.T) {
	t.Parallel()
	const finding = "oomscan: gpu_oom (torch) - tried to allocate 2.00 GiB - 1.00 GiB free"
	for name, c := range map[string]struct{ sacct, choice, want string }{
		"none there":             {"echo", "leave", finding},
		"left":                   {"echo JS1:data==", "leave", ""},
		"appended":               {"echo JS1:data==", "append", "JS1:data==; " + finding},
		"appended once":          {"echo 'JS1:data==; " + finding + "'", "append", ""},
		"no room":                {"head -c 65500 /dev/zero | tr '\\0' x", "append", ""},
		"quotes":                 {`echo '{"a":1}'`, "append", ""},
		"it cannot be read":      {"echo lost connection; exit 1", "append", ""},
		"it cannot be read, too": {"exit 1", "leave", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args, env := comment(t, c.sacct, c.choice)
			if c.want == "" {
				assert.Empty(t, args)
				return
			}
			assert.Equal(t, "-i|modify|job|where|jobid=ID|cluster=hostile|set|AdminComment="+c.want, args)
			assert.NotContains(t, env, "SLURM_JOB", "nothing of the job's environment")
		})
	}
}

// comment runs the hook with a script for sacct and returns sacctmgr's arguments.
func comment(t *testing.T, sacct, choice string) (args, env string) {
	t.Helper()
	s := newStage(t)
	said := filepath.Join(s.etc, "said")
	toolPath := filepath.Join(s.etc, "sacctmgr")
	require.NoError(t, os.WriteFile(toolPath, []byte("#!/bin/sh\nprintf '%s|' \"$@\" > "+said+"\nenv >> "+said+"\necho noise\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(s.etc, "sacct"), []byte("#!/bin/sh\n"+sacct+"\n"), 0o755))
	s.set("sacctmgr: " + toolPath + "\nadmin_comment: " + choice + "\n")
	s.file("job.err", oomLine, user1)
	s.run()
	b, err := os.ReadFile(said)
	if os.IsNotExist(err) {
		return "", ""
	}
	require.NoError(t, err)
	end := strings.LastIndex(string(b), "|")
	return strings.ReplaceAll(string(b[:end]), s.env["SLURM_JOB_ID"], "ID"), string(b[end:])
}

func TestInstall(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b's")
	written, err := Install(dir, "/opt/it's here/oomscan")
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, WrapperName), filepath.Join(dir, ConfigName)}, written)
	out, err := exec.Command("sh", "-n", written[0]).CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command(written[0])
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "without the program it does nothing")
	assert.Empty(t, string(out))
	require.NoError(t, os.WriteFile(written[1], []byte("report: off\n"), 0o644))
	written, err = Install(dir, "/usr/bin/oomscan")
	require.NoError(t, err)
	assert.Len(t, written, 1, "a configuration stays as it is")
	_, err = Install(filepath.Join(t.TempDir(), "epilog.d"), "/usr/bin/oomscan")
	assert.ErrorContains(t, err, "link the wrapper")
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	private := filepath.Join(dir, "private")
	require.NoError(t, os.Mkdir(private, 0o700))
	program := filepath.Join(private, "oomscan")
	require.NoError(t, os.WriteFile(program, nil, 0o755))
	assert.Contains(t, Unreachable(program), private+" may not be entered")
	require.NoError(t, os.Chmod(private, 0o755))
	require.NoError(t, os.Chmod(program, 0o700))
	assert.Contains(t, Unreachable(program), "may not be read and started")
	assert.NotEmpty(t, Unreachable(filepath.Join(dir, "missing")))
	assert.Empty(t, Unreachable("/bin/sh"))
}

func TestALimitIsOnlyLowered(t *testing.T) {
	var before, after unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_CORE, &before))
	require.NoError(t, lowerLimit(unix.RLIMIT_CORE, unix.RLIM_INFINITY))
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_CORE, &after))
	assert.Equal(t, before.Max, after.Max)
	assert.ErrorIs(t, lowerLimit(1000, 0), unix.EINVAL, "a limit that the system does not have")
}
