package remedies

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/traceback"
	"oomscan/remedies/memory"
)

// TestMoreHostMemoryIsAGuessByItsOwnFactor states the factor that the change has, or what was in use.
func TestMoreHostMemoryIsAGuessByItsOwnFactor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to string
		used     *int64
		want     string
	}{
		"a half more":      {"480G", "720G", nil, "How much was missing is not in the log; 1.5 times as much is a first guess."},
		"twice as much":    {"2Gi", "4Gi", nil, "How much was missing is not in the log; 2 times as much is a first guess."},
		"rounded up":       {"1Gi", "4Gi", nil, "How much was missing is not in the log; 4 times as much is a first guess."},
		"unreadable":       {"some", "4Gi", nil, "How much was missing is not in the log."},
		"more than it had": {"500G", "760G", gibs(602), "It used 602.00 GiB when it was killed, and may need more."},
		"less than it had": {"500G", "752G", gibs(400), "How much was missing is not in the log; 1.5 times as much is a first guess."},
	} {
		ctx := &Context{root: &classifier.Root{Used: c.used}}
		assert.Equal(t, c.want, guess(ctx, &Change{From: &c.from, To: &c.to}), name)
	}
}

// TestAPolledLimitIsRaisedAboveWhatWasUsed asks for more than the job already used.
func TestAPolledLimitIsRaisedAboveWhatWasUsed(t *testing.T) {
	t.Parallel()
	for used, want := range map[float64]string{0: "752G", 510: "752G", 602: "760G", 900: "1128G"} {
		in := &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Phase: "training", Verdict: classifier.Memory}
		in.Root.Pattern, in.Root.Limit = "slurm.limit", gibs(500)
		if used > 0 {
			in.Root.Used = gibs(used)
		}
		r := run("torch", "--mem", "500G")
		r.Launcher, r.Scheduler = "slurm", "slurm"
		list := For(r, in)
		require.NotEmpty(t, list.Proposals)
		require.NotEmpty(t, list.Proposals[0].Changes)
		assert.Equal(t, want, orEmpty(list.Proposals[0].Changes[0].To), "%.0f", used)
	}
}

// TestACostIsSaidOnce compares a caution with the usual cost of its lever.
func TestACostIsSaidOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ caution, costs, wantCaution, wantCosts string }{
		"the same, in general words": {"Answers may change.", "some quality, from quantization", "", "some quality, from quantization"},
		"a part of it":               {"Slower.", "host memory for the weights, and time to copy them", "", "host memory for the weights, and time to copy them"},
		"the same, with a figure":    {"About a fifth slower.", "steps take about a quarter longer", "About a fifth slower.", ""},
		"the same, of one program":   {"Results differ from full fine-tuning.", "quality: only adapters are trained, or the weights are quantized", "Results differ from full fine-tuning.", ""},
		"something else":             {"ZeRO stage 3 only.", "host memory for the weights", "ZeRO stage 3 only.", "host memory for the weights"},
		"less than the cost":         {"Host memory grows by 12 bytes per parameter.", "host memory for the states, and slower steps", "Host memory grows by 12 bytes per parameter.", "host memory for the states, and slower steps"},
		"no caution":                 {"", "slower prefill", "", "slower prefill"},
	} {
		caution, costs := once(c.caution, c.costs)
		assert.Equal(t, [2]string{c.wantCaution, c.wantCosts}, [2]string{caution, costs}, name)
	}
}

// TestASwitchIsWrittenAsTheLogWritesIt keeps the case of true and false, except in Python.
func TestASwitchIsWrittenAsTheLogWritesIt(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{"false": "true", "False": "True"} {
		r := pick(t, For(run("torch", "gradient_checkpointing", from), gpuOOM("backward")), "torch.checkpointing")
		require.Len(t, r.Changes, 1)
		assert.Equal(t, want, orEmpty(r.Changes[0].To), from)
	}
}

// TestAShareSaysHowFarItMustGrow has the engine's own figure, and no card.
func TestAShareSaysHowFarItMustGrow(t *testing.T) {
	t.Parallel()
	for short, want := range map[float64]string{
		2.5: "It must grow by more than 2.50 GiB: from 0.9 to 0.95 is that much on a GPU of 51 GiB or more.",
		0:   "",
	} {
		in := recognized("vllm.no_cache_blocks", &classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Verdict: classifier.Memory})
		if short > 0 {
			in.Shortfall = gibs(short)
		}
		list := For(run("vllm"), in)
		require.NotEmpty(t, list.Proposals)
		assert.Equal(t, want, list.Proposals[0].Text)
	}
}

// TestAnAssumedDefaultIsAnAssumption computes nothing from a default as if it were the run's own value.
func TestAnAssumedDefaultIsAnAssumption(t *testing.T) {
	t.Parallel()
	in := with(gpuOOM("rollout"), func(r *classifier.Root) { r.Total, r.Free, r.Requested = gibs(80), gibs(1), gibs(2) })
	for version, want := range map[string]string{"": "If it is 0.83 now, frees about 5.6 GiB", "0.4.6": "Frees about 5.6 GiB"} {
		r := run("sglang")
		r.FrameworkVersion = version
		list := For(r, in)
		i := slices.IndexFunc(list.Proposals, func(p Proposal) bool { return slices.Contains(p.Remedies, "sglang.mem-fraction-down") })
		require.GreaterOrEqual(t, i, 0)
		assert.Contains(t, list.Proposals[i].Text, want)
	}
}

// TestAFullNodeHasNoMoreToGive says that a raised request needs another node.
func TestAFullNodeHasNoMoreToGive(t *testing.T) {
	t.Parallel()
	for used, want := range map[int64]string{
		60: "This node has only 62.00 GiB, and 60.00 GiB of it was in use: the job needs a node with more.",
		30: "The node has 62.00 GiB in all.",
	} {
		ctx := &Context{incident: &classifier.Incident{Node: &classifier.Reading{Total: 62 << 30, Used: used << 30}}}
		assert.Equal(t, want, atTheNode(ctx, []Change{{Key: "--mem", Direction: "up"}}))
	}
}

// TestWhatWasMissingIsTheLeast leaves out what would be to spare: the step may ask for more after the failed request.
func TestWhatWasMissingIsTheLeast(t *testing.T) {
	t.Parallel()
	full := func(stack ...string) *classifier.Incident {
		in := with(gpuOOM("rollout"), func(r *classifier.Root) { r.Total, r.Free, r.Requested = gibs(80), gibs(1), gibs(2) })
		in.Root.Trace = &traceback.Trace{}
		for _, s := range stack {
			in.Root.Trace.Frames = append(in.Root.Trace.Frames, traceback.Frame{File: s, Func: "generate_sequences"})
		}
		return in
	}
	for name, c := range map[string]struct{ file, want string }{
		"a share of the card":         {"verl/workers/rollout/vllm_rollout/vllm_rollout_spmd.py", "Frees about 5.6 GiB (1.00 GiB was missing)."},
		"a share of what was free":    {"verl/third_party/vllm/vllm_v_0_6_3/llm.py", "In this vLLM version, it is a share of what was free at the start; the log does not show how much that was."},
		"a share of what was free, 2": {"verl/third_party/vllm/vllm_v_0_5_4/llm.py", "In this vLLM version, it is a share of what was free at the start; the log does not show how much that was."},
	} {
		r := run("verl", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.6")
		r.Engine = "vllm"
		list := For(r, full("verl/workers/fsdp_workers.py", c.file))
		i := slices.IndexFunc(list.Proposals, func(p Proposal) bool { return slices.Contains(p.Remedies, "verl.rollout.gpu-memory-utilization") })
		require.GreaterOrEqual(t, i, 0, name)
		assert.Equal(t, c.want, list.Proposals[i].Text, name)
	}
}

// TestASecondCopyOfTheLogitsIsMentioned states it where it would not fit.
func TestASecondCopyOfTheLogitsIsMentioned(t *testing.T) {
	t.Parallel()
	const lower, cannot = "If another copy of the logits then fails, go lower.", "The loss may then need another copy of the logits, which may not fit."
	for name, c := range map[string]struct {
		free  float64
		to    string
		limit *memory.Limit
		want  string
	}{
		"little is left": {7, "4", nil, lower}, "much is left": {10.5, "4", nil, "GiB to spare."}, "one is the least": {7, "1", nil, cannot},
		"a budget can go lower":                     {7, "4096", &memory.Limit{Key: "tokens", Budget: true, AtLeast: 2048}, lower},
		"not below a sample, which it never splits": {7, "4096", &memory.Limit{Key: "tokens", Budget: true, AtLeast: 4096}, cannot},
	} {
		ctx := &Context{limit: c.limit, root: &classifier.Root{Requested: gibs(11), Free: &[]int64{int64(c.free * gib)}[0]}, request: []memory.Explanation{{What: "logits"}}}
		asks := int64(5 * gib)
		margin := *ctx.root.Free - asks
		got := textOf(ctx, &Proposal{MarginBytes: &margin, Changes: []Change{{Key: "tokens", Direction: "down", To: &c.to}}}, &outcome{asks: &asks})
		assert.True(t, strings.HasSuffix(got, c.want), "%s: %s", name, got)
	}
}
