package remedies

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/messages"
)

func TestEveryFactHasWords(t *testing.T) {
	t.Parallel()
	for name, f := range facts {
		assert.NotEmpty(t, f.words, name)
		assert.NotEmpty(t, f.negated, name)
		assert.Equal(t, strings.Contains(f.words, "%s"), strings.Contains(f.negated, "%s"), name)
	}
}

func TestConditionsInWords(t *testing.T) {
	t.Parallel()
	for cond, want := range map[string]string{
		"backend:fsdp":          "the fsdp backend",
		"not backend:megatron":  "a backend other than megatron",
		"enforce_eager!=True":   "enforce_eager is not True",
		"not micro_batch=1":     "not: micro_batch is 1",
		"zero_stage>2":          "zero_stage is more than 2",
		"no such fact whatever": "no such fact whatever",
	} {
		assert.Equal(t, want, inWords(cond))
	}
}

func TestScoresNeedRoomForTheirSoftmax(t *testing.T) {
	t.Parallel()
	for gib, want := range map[float64]truth{18: no, 23: yes} {
		in := with(gpuOOM("forward"), func(r *classifier.Root) {
			r.Requested, r.Total, r.Free = gibs(gib), gibs(39.38), gibs(12)
			r.Trace = frames("/x/transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|attn_output = F.scaled_dot_product_attention(q, k, v)")
		})
		assert.Equal(t, want, newContext(run("ms-swift"), in).holds("oversized").truth)
	}
}

func TestPatternsThatFactsAndGuidesAskForExist(t *testing.T) {
	t.Parallel()
	for _, s := range []sign{
		lessThanDesired, cacheRanFull, inSleepAllocator, cudaLibrary, limitReached, dataLoader, ncclSegment, pinned, evicted, saverMargin, graphCapture, sampler, prefill, decode,
		npu, tpu, rayMonitor,
	} {
		for _, name := range slices.Concat(s.patterns, s.read.patterns) {
			assert.NotNil(t, messages.ByName(name), name)
		}
	}
	for _, g := range Guides() {
		for _, name := range g.Patterns() {
			assert.NotNil(t, messages.ByName(name), "%s: %s", g.ID, name)
		}
	}
}

func TestAConditionMayAskForAPattern(t *testing.T) {
	t.Parallel()
	in := &classifier.Incident{Evidence: []classifier.Evidence{{Pattern: "kernel.cgroup"}}, Root: classifier.Root{Pattern: "kernel.killed"}}
	ctx := newContext(run("torch"), in)
	for cond, want := range map[string]truth{
		"pattern:kernel.killed": yes, "pattern:kernel.cgroup": yes, "pattern:slurm.oom_kill": no, "not pattern:slurm.oom_kill": yes,
	} {
		assert.Equal(t, want, ctx.holds(cond).truth, cond)
	}
}

func TestWhatRecomputesAlreadyNeedsNoSwitch(t *testing.T) {
	t.Parallel()
	in := with(gpuOOM("backward"), func(r *classifier.Root) {
		r.Trace = frames("/x/site-packages/torch/utils/checkpoint.py|unpack_hook|", "/x/modeling_qwen3.py|forward|self.down_proj(")
	})
	assert.Equal(t, yes, newContext(run("trl"), in).holds("recomputes").truth)
	a := pick(t, For(run("trl", "per_device_train_batch_size", "8"), in), "trl.gradient-checkpointing").Applies
	assert.True(t, a != nil && !*a)
	in.Phase = "forward" // recomputation passes through the same file
	assert.Equal(t, yes, newContext(run("trl"), in).holds("recomputes").truth)
	in.Root.Trace = frames("/x/modeling_qwen3.py|forward|self.down_proj(")
	assert.Equal(t, unknown, newContext(run("trl"), in).holds("recomputes").truth)
}

func TestOuterFramesTellOnlyWhatTheyCall(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]truth{"logprobs, logits = self.batched_forward_pass(": no, "loss = self.compute_logits(": yes} {
		in := with(gpuOOM("forward"), func(r *classifier.Root) {
			r.Trace = frames("/x/ppo_trainer.py|step|"+code, "/x/value_head.py|forward|self.pretrained_model(")
		})
		assert.Equal(t, want, newContext(run("trl"), in).holds("logits").truth, code)
	}
}

func TestOneProcessThatFailsOnALaterCardHasSeveral(t *testing.T) {
	t.Parallel()
	world := func(n int, device *int) truth {
		r := run("trl")
		r.WorldSize = &n
		return newContext(r, with(gpuOOM("backward"), func(r *classifier.Root) { r.Device = device })).holds("one_gpu").truth
	}
	zero, third := 0, 2
	assert.Equal(t, yes, world(1, nil))
	assert.Equal(t, yes, world(1, &zero))
	assert.Equal(t, unknown, world(1, &third), "its layers may be spread over them")
	assert.Equal(t, no, world(4, &third))
}

func TestWhatIsTrained(t *testing.T) {
	t.Parallel()
	of := func(trained, all int64, pairs ...string) truth {
		r := run("trl", pairs...)
		if trained > 0 {
			r.Model.Trained = &trained
		}
		if all > 0 {
			r.Model.Parameters = &all
		}
		return newContext(r, gpuOOM("backward")).holds("adapters").truth
	}
	assert.Equal(t, yes, of(20e6, 7635e6))
	assert.Equal(t, yes, of(160e6, 650e6), "a large rank in a small model")
	assert.Equal(t, no, of(7615e6, 7615e6))
	assert.Equal(t, no, of(0, 0, "finetuning_type", "full"))
	assert.Equal(t, unknown, of(0, 0))
	assert.Equal(t, unknown, of(7615e6, 0))
}

func TestNothingIsSplitOverOneGPU(t *testing.T) {
	t.Parallel()
	for _, g := range Guides() {
		for i := range g.Items {
			if it := &g.Items[i]; slices.Contains(splitTopics, it.Topic) {
				why := func(gpus int) string {
					r := run("trl")
					r.WorldSize = &gpus
					return ruledOut(newContext(r, gpuOOM("backward")), it, nil, estimate{})
				}
				assert.NotEmpty(t, why(1), "%s: %s", g.ID, it.ID)
				assert.NotContains(t, why(8), "only one GPU", "%s: %s", g.ID, it.ID)
			}
		}
	}
}

func TestTheRanksCopiesOfTheWeightsAreHeldAgainstTheNode(t *testing.T) {
	t.Parallel()
	fits := func(ranks int, limit int64) truth {
		r := counted(run("torch"), 70_000_000_000, 0)
		r.WorldSize = &ranks
		in := killed("init", "")
		in.Root.Limit = &limit
		return newContext(r, in).holds("copies_too_large").truth
	}
	assert.Equal(t, yes, fits(8, 900<<30))
	assert.Equal(t, no, fits(8, 1400<<30))
	assert.Equal(t, unknown, fits(1, 100<<30), "one rank has no further copies")
}

// TestWhatThePlatformCannotDoIsRuledOut has a machine or a card that lacks what an item needs.
func TestWhatThePlatformCannotDoIsRuledOut(t *testing.T) {
	t.Parallel()
	card := func(total float64) *classifier.Incident {
		return with(gpuOOM("forward"), func(r *classifier.Root) { r.Total = gibs(total) })
	}
	for total, want := range map[float64]string{15.77: "the GPU, a V100 by its 15.77 GiB, has no bf16", 79.1: ""} {
		a := pick(t, For(run("lightning"), card(total)), "lightning.precision")
		assert.Equal(t, want != "", a.Applies != nil && !*a.Applies, total)
		assert.Contains(t, a.AppliesWhy, want)
	}
	named := run("lightning")
	named.Gauges = []classifier.Gauge{{Name: "gpu.early", Fields: parser.Fields{"card": "GeForce RTX 2080 Ti"}}}
	assert.Contains(t, pick(t, For(named, card(21.67)), "lightning.precision").AppliesWhy, "the GPU, a GeForce RTX 2080 Ti, has no bf16")
	named.Gauges = append(named.Gauges, classifier.Gauge{Name: "gpu.card", Fields: parser.Fields{"card": "RTX 3090"}})
	assert.NotContains(t, pick(t, For(named, card(21.67)), "lightning.precision").AppliesWhy, "has no bf16", "another card has it")
	started := run("vllm")
	started.Gauges = []classifier.Gauge{{Name: "vllm.eager"}}
	assert.Equal(t, yes, newContext(started, gpuOOM("rollout")).holds("eager").truth)
	for degree, want := range map[string]truth{"8": no, "1": yes} {
		titan := run("torch", "parallelism.tensor_parallel_degree", degree)
		titan.Application, titan.WorldSize = "torchtitan", new(8)
		assert.Equal(t, want, newContext(titan, gpuOOM("forward")).holds("unsharded").truth, degree)
	}
	onWindows := &classifier.Incident{Kind: parser.HostOOM, Resource: "host", Phase: "init", Root: classifier.Root{Trace: frames(`C:\x\inference.py|<module>|from_pretrained(`)}}
	ctx := newContext(run("torch"), onWindows)
	assert.Equal(t, yes, ctx.holds("windows").truth)
	assert.Equal(t, no, ctx.holds("killed").truth)
}

// TestAnotherModelsEngineTurnsNoZeROOff: a reference model's engine prints stage 0 behind the trained model's.
func TestAnotherModelsEngineTurnsNoZeROOff(t *testing.T) {
	t.Parallel()
	holds := func(in *classifier.Incident, settings ...string) truth {
		return newContext(run("openrlhf", settings...), in).holds("zero0").truth
	}
	step := frames("/x/deepspeed/runtime/zero/stage_1_and_2.py|step|self._optimizer_step(i)")
	assert.Equal(t, yes, holds(gpuOOM("optimizer"), "zero_optimization_stage", "0"))
	assert.Equal(t, no, holds(gpuOOM("optimizer"), "zero_stage", "2", "zero_optimization_stage", "0"))
	assert.Equal(t, no, holds(gpu("optimizer", 0, 0, 0, step), "zero_optimization_stage", "0"))
}

// TestALightningProcessThatSeesOneCardTrainsAlone reads what Lightning says of the devices of a process, and of others beside it.
func TestALightningProcessThatSeesOneCardTrainsAlone(t *testing.T) {
	t.Parallel()
	const sees, failed = "GPU available: True (cuda), used: True\nLOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: ", "\nTraceback (most recent call last):\n  File \"/w/train.py\", line 9, in <module>\n    trainer.fit(model)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	for log, offered := range map[string]bool{
		sees + "[0]" + failed:   false,
		sees + "[0,1]" + failed: true,
		"Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4\n" + sees + "[0]" + failed: true,
	} {
		var applies *bool
		for _, r := range answerTo(t, log).Remedies {
			if r.ID == "lightning.strategy" {
				applies = r.Applies
			}
		}
		assert.Equal(t, offered, applies == nil || *applies, log)
	}
}
