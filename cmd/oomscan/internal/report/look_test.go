package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/messages"
	"oomscan/remedies/memory"
)

func TestTheFixStandsWithinTwelveLinesAndTheAnswerWithinForty(t *testing.T) {
	t.Parallel()
	for name, r := range samples(t) {
		if len(r.Incidents) != 1 || len(r.Incidents[0].Proposals) == 0 || r.Incidents[0].Verdict != "memory" {
			continue
		}
		lines := strings.Split(text(t, r, Style{Width: 80}), "\n")
		at := func(heading string) int {
			return slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, " "+heading) })
		}
		fix := max(at(wordTry), at(wordTrySurvived))
		assert.True(t, fix >= 0 && fix < 12, "%s: line %d", name, fix+1)
		assert.LessOrEqual(t, at(wordChecklist), 41, name)
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
		"/logs/a/train.log": "a/train.log", "/logs/b/train.log": "b/train.log", "job.tar.gz!n0/stderr.log": "stderr.log", "-": "stdin", "dir/": "dir/",
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
	for _, want := range []string{badgeWordSuspect, "sacct -j 4242 ", "dmesg", "As root on node02", "pid 77"} {
		assert.Contains(t, got, want)
	}
	id = "1; rm -rf ~"
	assert.Contains(t, text(t, r, Style{Width: 80}), "sacct -j JOBID ", "what a log writes is pasted into no shell")
	r.Run.Launcher = &k8s
	assert.Contains(t, text(t, r, Style{Width: 80}), "kubectl describe pod")
	r.Incidents[0].Resource, r.Incidents[0].Kind = "shm", "shm_exhausted"
	assert.Contains(t, text(t, r, Style{Width: 80}), "df -h /dev/shm")
	r.Incidents[0].Verdict = "memory"
	assert.NotContains(t, text(t, r, Style{Width: 80}), wordConfirm)
}

func TestWhatTheLogDoesNotTellIsSaid(t *testing.T) {
	t.Parallel()
	r := &Report{Incidents: []Incident{{Verdict: "memory", Kind: "host_oom", Resource: "host", Phase: "unknown", Root: Root{File: "a.log", Line: 3}}}}
	got := text(t, r, Style{Width: 80})
	assert.Contains(t, got, "not in the log   the phase, which process failed, memory figures\n")
	assert.NotContains(t, got, labelPhase)
}

func TestTheUseOfAHostIsDrawnAgainstItsLimit(t *testing.T) {
	t.Parallel()
	limit, use, own := int64(100<<30), int64(90<<30), int64(60<<30)
	in := Incident{Verdict: "memory", Kind: "oom_kill", Resource: "host", Root: Root{Limit: &limit, Used: &use, OwnBytes: &own}}
	got := text(t, &Report{Incidents: []Incident{in}}, Style{Width: 80})
	assert.Contains(t, got, "60.00 the killed process")
	assert.Contains(t, got, "30.00 others")
	assert.Contains(t, got, "10.00 free")
	use = 101 << 30
	assert.NotContains(t, text(t, &Report{Incidents: []Incident{in}}, Style{Width: 80}), " free")
}

func TestAKillSaysWhoseLimitWasReached(t *testing.T) {
	t.Parallel()
	limit, job, host := int64(480<<30), "61877", "gpu31"
	for of, want := range map[string]string{
		"job":       "host RAM: job 61877 reached its own limit, 480 GiB, on gpu31",
		"container": "host RAM: the container reached its limit, 480 GiB, on gpu31",
		"group":     "host RAM: a control group reached its limit, 480 GiB, on gpu31",
		"node":      "host RAM: the whole node was full on gpu31",
		"":          "host RAM on gpu31",
	} {
		r := &Report{Run: Run{JobID: &job}, Incidents: []Incident{{Verdict: "memory", Kind: "oom_kill", Resource: "host", Root: Root{Limit: &limit, Host: &host, LimitOf: &of}}}}
		assert.Contains(t, strings.ReplaceAll(text(t, r, Style{Width: 100}), string(nbsp), " "), " "+want+"\n")
	}
}

func TestSeveralIncidentsBeginWithAnOverview(t *testing.T) {
	t.Parallel()
	lines := strings.Split(text(t, samples(t)["two"], Style{Width: 120}), "\n")
	require.Greater(t, len(lines), 3)
	assert.Contains(t, lines[0], "1.  OUT OF MEMORY ")
	assert.Contains(t, lines[1], "2.  OUT OF MEMORY ")
}

func TestItemsThatDoNotApplyAreFoldedByReason(t *testing.T) {
	t.Parallel()
	no := false
	item := func(n int, why string) Remedy {
		return Remedy{Order: n, Title: "An item", Applies: &no, AppliesWhy: why, Caution: "careful", Changes: []Change{{Key: "k", Snippet: "k=1"}}}
	}
	to := "2"
	second := []Change{{Key: "n", To: &to, Snippet: "n=2"}}
	r := &Report{Incidents: []Incident{{Verdict: "memory", Kind: "gpu_oom", Remedies: []Remedy{
		item(1, "it is off"),
		{Order: 2, ID: "b", Title: "Second item", Changes: second},
		item(3, "the actor failed"), item(4, "the actor failed"), item(5, "the actor failed"),
		item(6, "the actor failed"),
		{Order: 7, ID: "c", Title: "Seventh item", Changes: second},
	}}}}
	got := text(t, r, Style{Width: 100})
	assert.Contains(t, got, "      2  Second item: n=2\n     Not applicable:  an item (off); an item, an item, 2 others (the actor failed); seventh item\n         (same as item 2)\n")
	assert.NotContains(t, got, "careful")
	assert.Contains(t, text(t, r, Style{Width: 80, Full: true}), "It is off.\n")
}

func TestWhatIsPastedIsNeverBroken(t *testing.T) {
	t.Parallel()
	long := "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=2 actor_rollout_ref.actor.use_dynamic_bsz=True"
	r := &Report{Incidents: []Incident{{Verdict: "memory", Kind: "gpu_oom", Proposals: []Proposal{{Changes: []Change{{Key: "k", Snippet: long}}, Text: "t"}}}}}
	assert.Contains(t, text(t, r, Style{Width: 60}), "\n   "+long+"\n")
}

func TestPlacesAreLinksWhereTheTerminalShowsThem(t *testing.T) {
	t.Parallel()
	r := &Report{Inputs: []Input{{Name: "logs/a.log"}}, Incidents: []Incident{{Verdict: "memory", Kind: "gpu_oom", Root: Root{File: "logs/a.log", Line: 3}}}}
	linked := text(t, r, Style{Width: 80, Link: func(name string) string { return "file:///" + name }})
	assert.Contains(t, linked, "\x1b]8;;file:///logs/a.log\x1b\\a.log:3\x1b]8;;\x1b\\")
	assert.NotContains(t, text(t, r, Style{Width: 80}), "\x1b")
}

func TestEverySuspicionHasWordsOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, p := range messages.All() {
		if p.Role == parser.Suspicion {
			assert.Contains(t, suspects, string(p.Kind), p.Name)
		}
	}
}

// TestTheJobInACommandIsOneWord gives a job an id that a shell would run: commands of the page are there to be pasted.
func TestTheJobInACommandIsOneWord(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"4711_3": "sacct -j 4711_3 ", "1;reboot": "sacct -j JOBID ", "": "sacct -j JOBID "} {
		r := Report{Run: Run{Launcher: new("slurm"), JobID: new(id)}, Inputs: []Input{{Name: "a.log"}}, Stats: Stats{Lines: 1, Bytes: 1}}
		out := text(t, &r, Style{Width: 100})
		assert.Contains(t, out, want)
	}
}

// TestWhatCouldNotBeReadIsSaidOnce has an incident beside an input that failed.
func TestWhatCouldNotBeReadIsSaidOnce(t *testing.T) {
	t.Parallel()
	for _, truncated := range []int{0, 1} {
		r := Report{
			Incidents: []Incident{{Kind: "gpu_oom"}},
			Inputs:    []Input{{Name: "a.log", Counts: parser.Counts{Truncated: truncated}}, {Name: "b.log", Error: new("permission denied")}},
			Stats:     Stats{Lines: 1, Bytes: 1},
		}
		out := text(t, &r, Style{Width: 100})
		assert.Equal(t, 1, strings.Count(out, "b.log: permission denied"), out)
	}
}

func TestMessagesThatAreOnlyCountedAreSaid(t *testing.T) {
	t.Parallel()
	for shortened, want := range map[int]bool{0: false, 1200: true} {
		for _, incidents := range [][]Incident{{{Kind: "gpu_oom"}}, {{Kind: "gpu_oom"}, {Kind: "gpu_oom"}}} {
			r := Report{Incidents: incidents, Inputs: []Input{{Name: "a.log"}, {Name: "b.log", Shortened: shortened}}, Stats: Stats{Lines: 1, Bytes: 1}}
			assert.Equal(t, want, strings.Contains(text(t, &r, Style{Width: 100}), "shortened 1,200 messages without traceback or only counted"))
		}
	}
}

// TestAProposalWithNothingToTypeNamesTheNextCommand has what is known of a run decide which command that is.
func TestAProposalWithNothingToTypeNamesTheNextCommand(t *testing.T) {
	t.Parallel()
	others := int64(1 << 30)
	for want, r := range map[string]*Report{
		"Next: df -h /dev/shm":                       {Incidents: []Incident{{Resource: "shm"}}},
		"Next: ps -eo pid,rss,args":                  {Incidents: []Incident{{Resource: "host"}}},
		"Next: kubectl top pod POD":                  {Run: Run{Launcher: new("k8s")}, Incidents: []Incident{{Resource: "host"}}},
		"Next: sacct -j 4242 ":                       {Run: Run{Launcher: new("slurm"), JobID: new("4242")}, Incidents: []Incident{{Resource: "host"}}},
		"Next: nvidia-smi --query-compute-apps=":     {Run: Run{Framework: "torch"}, Incidents: []Incident{{Resource: "gpu", Ledger: &memory.Ledger{OtherProcesses: &others}}}},
		"Next: jax.profiler.":                        {Run: Run{Framework: "jax"}, Incidents: []Incident{{Resource: "gpu"}}},
		"Next: torch.cuda.memory._record_memory_":    {Run: Run{Framework: "torch"}, Incidents: []Incident{{Resource: "gpu"}}},
		"Next: oomscan --run-config run.yaml LOGS":   {Run: Run{Framework: "verl"}, Incidents: []Incident{{Resource: "gpu"}}},
		"Next: oomscan plan LOGS --set ":             {Run: Run{Framework: "vllm", Config: map[string]Setting{"model": {Value: "m"}}}, Incidents: []Incident{{Resource: "gpu"}}},
		"Next: nvidia-smi --query-gpu=timestamp,mem": {Run: Run{Framework: "unknown"}, Incidents: []Incident{{Resource: "gpu"}}},
	} {
		in := &r.Incidents[0]
		in.Verdict, in.Kind, in.Remedies = "memory", "gpu_oom", []Remedy{{Title: "An item"}}
		assert.Contains(t, text(t, r, Style{Width: 100}), want)
		in.Proposals = []Proposal{{Title: "Use a smaller batch"}}
		assert.Contains(t, text(t, r, Style{Width: 100}), want)
		in.Proposals[0].Changes = []Change{{Key: "batch", Direction: "down"}}
		assert.NotContains(t, text(t, r, Style{Width: 100}), wordNext)
	}
}

func TestCommandsNameTheInputs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inputs []string
		want   string
	}{
		"one":                  {[]string{"train.log"}, "train.log"},
		"two":                  {[]string{"out/a.err", "b.log"}, "out/a.err b.log"},
		"too many":             {[]string{"a", "b", "c", "d"}, "LOGS"},
		"a space":              {[]string{"my log.txt"}, "LOGS"},
		"stdin":                {[]string{"-"}, "LOGS"},
		"what a shell expands": {[]string{"a.log", "$(x)"}, "LOGS"},
	} {
		r := &Report{}
		for _, n := range c.inputs {
			r.Inputs = append(r.Inputs, Input{Name: n})
		}
		assert.Equal(t, "oomscan plan "+c.want+" --set a=b", onInputs(r, "oomscan plan LOGS --set a=b"), name)
	}
}

func TestATimeWithoutAYearIsShownAsTheLogWritesIt(t *testing.T) {
	t.Parallel()
	at := time.Date(0, 5, 24, 19, 24, 7, 0, time.UTC)
	for clock, want := range map[string]string{"syslog": "May 24 19:24:07", "clock": "", "monotonic": ""} {
		assert.Equal(t, want, root(&classifier.Root{Time: at, Clock: clock}).Day, clock)
	}
	in := Incident{Verdict: "memory", Kind: "oom_kill", Resource: "host", Root: root(&classifier.Root{Time: at, Clock: "syslog"})}
	assert.Contains(t, killText(&Report{}, &in), "was killed at May"+string(nbsp)+"24"+string(nbsp)+"19:24:07.")
}
