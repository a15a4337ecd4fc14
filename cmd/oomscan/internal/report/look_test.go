package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
	"oomscan/parser/messages"
)

func TestWhatToDoFirstStandsOnTheFirstScreen(t *testing.T) {
	t.Parallel()
	for name, r := range samples(t) {
		if len(r.Incidents) != 1 || len(r.Incidents[0].StartWith) == 0 {
			continue
		}
		lines := strings.Split(text(t, r, Style{Width: 80}), "\n")
		n := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), "1. ") })
		assert.True(t, n >= 0 && n < 24, "%s: line %d", name, n+1)
	}
}

func TestNamesKeepTheirCaseAtTheBeginningOfASentence(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"the stack goes through it":     "The stack goes through it",
		"actor.use_dynamic_bsz is True": "actor.use_dynamic_bsz is True",
		"batch_size is 512":             "batch_size is 512",
		"--batch-size is 12":            "--batch-size is 12",
		"vLLM's sleep mode is on":       "vLLM's sleep mode is on",
		"verl 0.7 does":                 "verl 0.7 does",
		"only.":                         "Only.",
		"":                              "",
		"8 so far":                      "8 so far",
	} {
		assert.Equal(t, want, sentence(in))
	}
}

func TestInputsAreNamedByTheShortestEndThatTellsThemApart(t *testing.T) {
	t.Parallel()
	r := &Report{Inputs: []Input{{Name: "/logs/a/train.log"}, {Name: "/logs/b/train.log"}, {Name: "job.tar.gz!n0/stderr.log"}, {Name: "-"}, {Name: "dir/"}, {Name: "train.log"}}}
	assert.Equal(t, map[string]string{
		"/logs/a/train.log": "a/train.log", "/logs/b/train.log": "b/train.log", "job.tar.gz!n0/stderr.log": "stderr.log", "-": "-", "dir/": "dir/",
		"train.log": "train.log",
	}, tails(r))
	r.Incidents = []Incident{{
		Root: Root{File: "/logs/a/train.log"}, PhaseWhy: "read `/logs/b/train.log`, then /logs/c/x", Findings: []string{"it is True already (/logs/a/train.log:50)."},
	}}
	short := withShortNames(r).Incidents[0]
	assert.Equal(t, "a/train.log", short.Root.File)
	assert.Equal(t, "read `b/train.log`, then /logs/c/x", short.PhaseWhy)
	assert.Equal(t, []string{"it is True already (a/train.log:50)."}, short.Findings)
	assert.Equal(t, "/logs/a/train.log", r.Incidents[0].Root.File, "the report stays as it is")
}

func TestSettingsInAReasonAreCutToTheirLastWord(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"actor_rollout_ref.rollout.enforce_eager is True already (a.b:50)": "enforce_eager is True already (a.b:50)",
		"10.20.30.40 and v1.2.3-rc and --a.b.c":                            "10.20.30.40 and v1.2.3-rc and --a.b.c",
		"path/to/some.py.x.y stays":                                        "path/to/some.py.x.y stays",
	} {
		assert.Equal(t, want, words(in, lastPart))
	}
}

func TestASuspicionSaysHowToConfirmIt(t *testing.T) {
	t.Parallel()
	id, host, pid, k8s := "4242", "node02", 77, "k8s"
	r := &Report{Run: Run{JobID: &id}, Incidents: []Incident{{Verdict: "suspect", Kind: "oom_kill", Resource: "host", Root: Root{Host: &host, PID: &pid}}}}
	got := text(t, r, Style{Width: 80})
	for _, want := range []string{"SUSPECT, NOT PROVEN", "sacct -j 4242 ", "dmesg", "On node02", "pid 77"} {
		assert.Contains(t, got, want)
	}
	id = "1; rm -rf ~"
	assert.Contains(t, text(t, r, Style{Width: 80}), "sacct -j JOBID ", "what a log writes is pasted into no shell")
	r.Run.Launcher = &k8s
	assert.Contains(t, text(t, r, Style{Width: 80}), "kubectl describe pod")
	r.Incidents[0].Resource, r.Incidents[0].Kind = "shm", "shm_exhausted"
	assert.Contains(t, text(t, r, Style{Width: 80}), "df -h /dev/shm")
	r.Incidents[0].Verdict = "memory"
	assert.NotContains(t, text(t, r, Style{Width: 80}), "confirm")
}

func TestWhatIsNotKnownHasNoRow(t *testing.T) {
	t.Parallel()
	r := &Report{Incidents: []Incident{{Verdict: "memory", Kind: "host_oom", Resource: "host", Phase: "unknown", Root: Root{File: "a.log", Line: 3}}}}
	got := text(t, r, Style{Width: 80})
	for _, label := range []string{"  when ", "  who first", "  how much", "  phase by"} {
		assert.NotContains(t, got, label)
	}
	assert.Contains(t, got, "not told  the phase, which process it was, any figures\n")
}

func TestTheUseOfAHostIsDrawnAgainstItsLimit(t *testing.T) {
	t.Parallel()
	limit, use, own := int64(100<<30), int64(90<<30), int64(60<<30)
	in := Incident{Verdict: "memory", Kind: "oom_kill", Resource: "host", Root: Root{Limit: &limit, Used: &use, OwnBytes: &own}}
	got := text(t, &Report{Incidents: []Incident{in}}, Style{Width: 80})
	assert.Contains(t, got, "90.00 GiB in use of 100.00 GiB")
	for _, want := range []string{"the killed process  60.00 GiB   60 %", "others              30.00 GiB   30 %", "free                10.00 GiB   10 %"} {
		assert.Contains(t, got, want)
	}
	use = 101 << 30
	assert.NotContains(t, text(t, &Report{Incidents: []Incident{in}}, Style{Width: 80}), " free")
}

func TestSeveralIncidentsBeginWithAnOverview(t *testing.T) {
	t.Parallel()
	lines := strings.Split(text(t, samples(t)["two"], Style{Width: 120}), "\n")
	require.Greater(t, len(lines), 3)
	assert.Contains(t, lines[0], "2 incidents")
	assert.Contains(t, lines[1], "1.  SURVIVED ")
	assert.Contains(t, lines[2], "2.  OUT OF MEMORY ")
}

func TestAnItemThatDoesNotApplyHasOneLine(t *testing.T) {
	t.Parallel()
	no, long := false, strings.Repeat("because of this and that ", 20)
	r := &Report{Incidents: []Incident{{Verdict: "memory", Kind: "gpu_oom", Remedies: []Remedy{
		{Order: 1, ID: "a", Title: "First item", Applies: &no, AppliesWhy: long, Caution: "careful", Changes: []Change{{Key: "k", Snippet: "k=1"}}},
		{Order: 2, ID: "b", Title: "Second item"},
	}}}}
	got := text(t, r, Style{Width: 80})
	assert.Regexp(t, `First item: because[^\n]+…\n +2  Second item\n`, got)
}

func TestTheReasonOfAFirstItemIsNotThatItsValueCanMove(t *testing.T) {
	t.Parallel()
	from, yes := "8", true
	x := &Remedy{Applies: &yes, AppliesWhy: "8 so far, and it can go down", Why: "activations grow with it.", Changes: []Change{{Key: "k", From: &from}}}
	assert.Equal(t, "Activations grow with it.", because(x))
	x.AppliesWhy = "it failed in data loading"
	assert.Equal(t, "It failed in data loading.", because(x))
	assert.Empty(t, because(&Remedy{}))
}

func TestEverySuspicionHasWordsOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, p := range messages.All() {
		if p.Role == parser.Suspicion {
			assert.Contains(t, suspectWords(), string(p.Kind), p.Name)
		}
	}
}
