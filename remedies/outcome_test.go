package remedies

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/stream"
	"oomscan/remedies/memory"
)

// failure is an incident of a fixture with its run.
type failure struct {
	dir string
	run classifier.Run
	in  classifier.Incident
}

// failures are incidents of the fixtures.
var failures = sync.OnceValues(func() ([]failure, error) {
	var out []failure
	for _, pattern := range []string{"../fixtures/cases/*/*", "../fixtures/advice/*"} {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for i := 0; i < len(dirs); i += every(4) {
			dir := dirs[i]
			r, err := readFolder(dir)
			if err != nil {
				return nil, err
			}
			for _, in := range r.Incidents {
				out = append(out, failure{dir, r.Run, in})
			}
		}
	}
	return out, nil
})

// readFolder reads the logs of a fixture.
func readFolder(dir string) (classifier.Result, error) {
	c := classifier.NewCollector()
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if n := e.Name(); n == "expect.json" || n == "report.txt" || e.IsDir() {
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return classifier.Result{}, err
		}
		_, err = stream.Read(e.Name(), f, c.Add)
		if err := f.Close(); err != nil {
			return classifier.Result{}, err
		}
		if err != nil {
			return classifier.Result{}, err
		}
	}
	return c.Result(), err
}

// TestWhatFitsFitsInEveryPhase recomputes the budgets of proposals: a change that is said to fit lets no other phase, and
// no node, grow beyond what there is.
func TestWhatFitsFitsInEveryPhase(t *testing.T) {
	t.Parallel()
	all, err := failures()
	require.NoError(t, err)
	fit, grown := 0, 0
	for _, f := range all {
		ctx := newContext(&f.run, &f.in)
		for _, p := range For(&f.run, &f.in).Proposals {
			if p.FitsWorstCase != nil && *p.FitsWorstCase {
				require.NotNil(t, p.Fits, "%s: %s", f.dir, p.Title)
				assert.True(t, *p.Fits, "%s: what fits at full length fits now: %s", f.dir, p.Title)
			}
			if p.Fits == nil || !*p.Fits {
				continue
			}
			fit++
			if p.MarginBytes != nil {
				assert.GreaterOrEqual(t, *p.MarginBytes, int64(0), "%s: %s", f.dir, p.Title)
			}
			before, after := ctx.setup.WorstCase(), ctx.with(p.Changes).setup.WorstCase()
			for _, phase := range memory.Phases {
				if slices.Contains(failedPhases(ctx), phase) || !runs(after, phase) {
					continue
				}
				for _, on := range []string{memory.OnCard, memory.OnNode} {
					was, is := held(before.Budget(phase), on).Bytes, held(after.Budget(phase), on).Bytes
					if size := sizeOf(&after, on); size.Known && is > was+rounding && was <= size.Value { // one that was too full before says nothing
						grown++
						assert.LessOrEqual(t, is, size.Value, "%s: %s in %s", f.dir, p.Title, phase)
					}
				}
			}
		}
	}
	assert.Greater(t, fit, tries(20))
	t.Logf("%d proposals fit, %d phases grow", fit, grown)
}

// TestAProposalTakenIsNotTakenBack applies the first proposal of every fixture and asks again.
func TestAProposalTakenIsNotTakenBack(t *testing.T) {
	t.Parallel()
	all, err := failures()
	require.NoError(t, err)
	taken := 0
	for _, f := range all {
		ctx := newContext(&f.run, &f.in)
		list := For(&f.run, &f.in)
		if len(list.Proposals) == 0 || len(list.Proposals[0].Changes) == 0 {
			continue
		}
		first := list.Proposals[0].Changes
		next := f.run
		next.Config = maps.Clone(next.Config)
		if next.Config == nil {
			next.Config = map[string]classifier.Value{}
		}
		for _, c := range first {
			if c.To == nil {
				continue
			}
			key := c.Key
			if at, ok := ctx.settings.find(key, true); ok {
				key = at.key // as the log writes it
			}
			next.Config[key] = classifier.Value{Value: *c.To}
		}
		for _, p := range For(&next, &f.in).Proposals {
			for _, c := range p.Changes {
				i := slices.IndexFunc(first, func(x Change) bool { return x.To != nil && sameKey(x.Key, c.Key) })
				if i < 0 {
					continue
				}
				taken++
				if c.Direction != "set" && first[i].Direction != "set" {
					assert.Equal(t, first[i].Direction, c.Direction, "%s: %s", f.dir, c.Key)
				}
				if c.To != nil && first[i].From != nil {
					assert.False(t, equal(*c.To, *first[i].From), "%s: %s goes back to %s", f.dir, c.Key, *c.To)
				}
			}
		}
	}
	assert.Positive(t, taken)
}

// TestMoreMissingNeverAsksForASmallerChange takes half of what was free away.
func TestMoreMissingNeverAsksForASmallerChange(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes it slow, and it has one goroutine")
	}
	all, err := failures()
	require.NoError(t, err)
	compared := 0
	for _, f := range all {
		if f.in.Kind != parser.GPUOOM || f.in.Root.Free == nil || f.in.Shortfall == nil {
			continue
		}
		worse := f.in
		half := *f.in.Root.Free / 2
		short := *f.in.Shortfall + *f.in.Root.Free - half
		worse.Root.Free, worse.Shortfall = &half, &short
		moves := map[string]float64{}
		for _, m := range For(&f.run, &f.in).Remedies {
			for _, c := range m.Changes {
				if to, ok := numberOf(c.To); ok && c.Direction == "down" {
					moves[m.ID+" "+c.Key] = to
				}
			}
		}
		for _, m := range For(&f.run, &worse).Remedies {
			for _, c := range m.Changes {
				if was, known := moves[m.ID+" "+c.Key]; known {
					if to, ok := numberOf(c.To); ok {
						compared++
						assert.LessOrEqual(t, to, was, "%s: %s", f.dir, c.Key)
					}
				}
			}
		}
	}
	assert.Greater(t, compared, tries(50))
}

func numberOf(v *string) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return parseNumber(*v)
}

// pageCase reads one fixture's only incident.
func pageCase(t *testing.T, dir string) []Proposal {
	t.Helper()
	r, err := readFolder(filepath.Join("../fixtures/cases", dir))
	require.NoError(t, err)
	require.NotEmpty(t, r.Incidents)
	list := For(&r.Run, &r.Incidents[0])
	require.GreaterOrEqual(t, len(list.Proposals), 2)
	return list.Proposals
}

func TestLogitsOfAnOldLogProbPass(t *testing.T) {
	t.Parallel()
	p := pageCase(t, "gpu_oom/verl-one-step-off-logprob-entropy")
	assert.Equal(t, "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=2", p[0].Changes[0].Snippet)
	assert.Equal(t, "13.92 -> 3.48 GiB, 4.1 GiB to spare; at full length 4.64, still fits.", p[0].Text)
	assert.Equal(t, "4 fits this batch, 6.96 GiB, but not full length, 9.28 GiB.", p[0].WhyNot)
	assert.Equal(t, []string{"4 times as many log-prob passes.", "Results do not change."}, p[0].Costs)
	assert.Equal(t, "actor_rollout_ref.model.use_fused_kernels=True", p[1].Changes[0].Snippet)
	assert.Contains(t, p[1].Text, "Never builds this tensor")
}

func TestALengthThatTheRequestExceedsLimitsNothing(t *testing.T) {
	t.Parallel()
	r := run("trl", "per_device_train_batch_size", "8", "max_prompt_length", "256", "max_completion_length", "1024", "gradient_accumulation_steps", "4")
	r.Model.Name = "Qwen/Qwen2-1.5B-Instruct"
	p := For(r, with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Requested, r.Free, r.Total = gibs(18.57), gibs(15.02), gibs(39.39)
		r.Message = "CUDA out of memory. Tried to allocate 18.57 GiB."
		r.Trace = frames("/x/trl/trainer/grpo_trainer.py|compute_loss|logits = model(**inputs).logits")
	})).Proposals
	texts := map[string]string{}
	for _, x := range p {
		texts[x.Changes[0].Key] = x.Text
	}
	assert.Contains(t, texts["per_device_train_batch_size"], "18.57 -> 4.64 GiB, 10 GiB to spare.")
	require.Contains(t, texts, "max_completion_length")
	assert.NotContains(t, texts["max_completion_length"], "to spare")
}

// TestCompletionsHaveOneMoreRow has no limit of prompts: TRL keeps the logits of a completion, and one more.
func TestCompletionsHaveOneMoreRow(t *testing.T) {
	t.Parallel()
	r := run("trl", "per_device_train_batch_size", "8", "max_completion_length", "2048")
	r.Model.Name = "Qwen/Qwen2.5-7B-Instruct"
	list := For(r, with(gpuOOM("backward"), func(r *classifier.Root) {
		r.Requested, r.Free, r.Total = gibs(9.29), gibs(5.96), gibs(44.39)
		r.Message = "CUDA out of memory. Tried to allocate 9.29 GiB."
	}))
	assert.Equal(t, "logits", list.Cause.ID)
	assert.Contains(t, list.Cause.Text, "8 x (2,048 + 1)")
}

func TestAJobsLimitWhileACheckpointIsSaved(t *testing.T) {
	t.Parallel()
	p := pageCase(t, "oom_kill/verl-save-checkpoint-cgroup-kill")
	assert.Equal(t, "#SBATCH --mem=720G", p[0].Changes[0].Snippet)
	assert.Equal(t, "How much was missing is not in the log; 1.5 times as much is a first guess.", p[0].Text)
	assert.Contains(t, p[0].Needs, "Does the node have it?  scontrol show node gpu31 | grep RealMemory")
	require.Len(t, p[1].Changes, 1)
	assert.Equal(t, "actor_rollout_ref.actor.fsdp_config.param_offload=False", p[1].Changes[0].Snippet)
	assert.Equal(t, "31 GiB less on the node, 7.7 GiB more on each GPU.", p[1].Text)
}

// TestAHostThatAShellWouldRunIsNotPasted takes the host's name from a log that somebody else wrote.
func TestAHostThatAShellWouldRunIsNotPasted(t *testing.T) {
	t.Parallel()
	memory := "720G"
	changes := []Change{{Syntax: "sbatch", Key: "--mem", To: &memory}}
	for host, want := range map[string]string{
		"gpu31": "gpu31", "gpu-31.cluster_a": "gpu-31.cluster_a",
		"": "NODE", "x;reboot": "NODE", "$(reboot)": "NODE", "-M other": "NODE", "-v": "NODE", strings.Repeat("a", 81): "NODE",
	} {
		ctx := newContext(&classifier.Run{}, &classifier.Incident{Root: classifier.Root{Host: host}})
		assert.Equal(t, "Does the node have it?  scontrol show node "+want+" | grep RealMemory", atTheNode(ctx, changes), "%q", host)
	}
}

// TestTwoChangesGoTogetherWhereNoneIsEnough asks for more than one change frees.
func TestTwoChangesGoTogetherWhereNoneIsEnough(t *testing.T) {
	t.Parallel()
	world := 8
	ask := func(asked float64) []Proposal {
		r := run("deepspeed", "zero_optimization.stage", "2", "zero_optimization.offload_optimizer.device", "none")
		r.WorldSize, r.Model.Name, r.Backend = &world, "Qwen2.5-7B", "deepspeed"
		in := with(gpuOOM("optimizer"), func(r *classifier.Root) {
			r.Requested, r.Free, r.Total = gibs(asked), gibs(1), gibs(80)
			r.Trace = frames("/x/torch/optim/adamw.py|_init_group|torch.zeros_like(")
		})
		return For(r, in).Proposals
	}
	one := ask(9)
	require.NotEmpty(t, one)
	assert.Len(t, one[0].Changes, 1)
	two := ask(21)
	require.NotEmpty(t, two)
	require.Len(t, two[0].Changes, 2, two[0].Title)
	assert.Contains(t, two[0].Text, "Neither is enough alone.")
	require.NotNil(t, two[0].MarginBytes)
	assert.Positive(t, *two[0].MarginBytes)
	for _, p := range two[1:] {
		assert.False(t, p.Fits != nil && *p.Fits, p.Title)
	}
	assert.Less(t, *two[0].FreesBytes, *two[1].FreesBytes+*two[2].FreesBytes+rounding, "recomputed, not added up")
}
