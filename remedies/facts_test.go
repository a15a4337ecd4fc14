package remedies

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
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
	for _, g := range guides(t) {
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
