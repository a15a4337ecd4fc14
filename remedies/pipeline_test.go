package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

func TestNoStepChangesTheContext(t *testing.T) {
	t.Parallel()
	r := run("verl", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "8", "actor_rollout_ref.actor.fsdp_config.param_offload", "False", "trainer.n_gpus_per_node", "8")
	r.Engine, r.Backend = "vllm", "fsdp"
	in := with(gpuOOM("backward"), func(r *classifier.Root) { r.Requested, r.Free, r.Total = gibs(3), gibs(1), gibs(80) })
	ctx := newContext(r, in)
	chosen := candidates(ctx, listsFor(ctx, nil))
	require.NotEmpty(t, chosen)
	var items []assessment
	for _, c := range chosen {
		items = append(items, assess(ctx, c))
	}
	require.NotEmpty(t, rank(items))
	findingsOf(ctx, items)
	want := newContext(r, in)
	ctx.held, ctx.worst = want.held, want.worst // what was asked
	assert.Equal(t, want, ctx)
}

func TestTheBestEffectOfAnItemCounts(t *testing.T) {
	t.Parallel()
	small, large := gibs(1), gibs(4)
	for name, test := range map[string]struct {
		effects []effect
		changes int
		want    effect
	}{
		"nothing is known":                {nil, 2, effect{}},
		"the most that is freed":          {[]effect{{freed: small}, {freed: large}}, 2, effect{freed: large}},
		"one that is enough":              {[]effect{{small, no, "short"}, {large, yes, "fits"}, {small, no, "short"}}, 3, effect{large, yes, "fits"}},
		"none is enough":                  {[]effect{{small, no, "short"}}, 1, effect{small, no, "short"}},
		"none so far, and one is unknown": {[]effect{{small, no, "short"}}, 2, effect{freed: small}},
	} {
		assert.Equal(t, test.want, best(test.effects, test.changes), name)
	}
}

func TestItemsThatTheEvidenceSupportsComeFirst(t *testing.T) {
	t.Parallel()
	applies, denied := true, false
	item := func(id string, applies *bool, change func(a *assessment)) assessment {
		a := assessment{Remedy: Remedy{ID: id, Applies: applies}}
		change(&a)
		return a
	}
	for name, test := range map[string]struct {
		items []assessment
		want  []string
	}{
		"none": {nil, nil},
		"a fact before a value that can move": {[]assessment{
			item("moves", &applies, func(a *assessment) { a.own, a.movable = true, true }),
			item("fact", &applies, func(a *assessment) { a.supported = true }),
			item("denied", &denied, func(a *assessment) { a.supported = true }),
		}, []string{"fact", "moves"}},
		"what only tells more is for last": {[]assessment{
			item("late", &applies, func(a *assessment) { a.supported, a.late = true, true }),
			item("open", nil, func(a *assessment) { a.own = true }),
		}, []string{"open"}},
		"where nothing applies, the first of the phase's own list": {[]assessment{
			item("general", nil, func(*assessment) {}),
			item("first", nil, func(a *assessment) { a.own = true }),
			item("second", nil, func(a *assessment) { a.own = true }),
			item("third", nil, func(a *assessment) { a.own = true }),
		}, []string{"first", "second"}},
		"one setting goes one way": {[]assessment{
			item("down", &applies, func(a *assessment) { a.Changes = []Change{{Key: "k"}} }),
			item("up", &applies, func(a *assessment) { a.Changes = []Change{{Key: "k"}} }),
		}, []string{"down"}},
	} {
		assert.Equal(t, test.want, rank(test.items), name)
	}
}

func TestAnItemIsDecidedByWhatSpeaksAgainstItFirst(t *testing.T) {
	t.Parallel()
	changes := []change{{Change: Change{Key: "k", To: new(string)}, parameter: &Parameter{}}}
	size := []memory.Explanation{{What: "logits", Key: "k", Met: true}}
	for name, test := range map[string]struct {
		item    Item
		request []memory.Explanation
		want    decision
	}{
		"nothing is known":                {Item{}, nil, decision{}},
		"a fact speaks for it":            {Item{Supports: []string{"phase:logprob"}}, nil, decision{yes, "it failed in the log-probability pass", true, false}},
		"it decides the request's size":   {Item{}, size, decision{yes, "the request is logits: k decides its size", true, false}},
		"both":                            {Item{Supports: []string{"phase:logprob"}}, size, decision{yes, "the request is logits: k decides its size", true, false}},
		"it is for another resource":      {Item{Resources: []string{"shm"}, Supports: []string{"phase:logprob"}}, size, decision{no, "only for shared memory", false, false}},
		"what it needs may not be there":  {Item{Requires: []string{"moe"}}, size, decision{doubtful: true}},
		"what it needs is certainly away": {Item{Requires: []string{"kv_sizing"}}, size, decision{no, "no engine failed to size its cache", false, false}},
	} {
		ctx := newContext(run("verl"), gpuOOM("logprob"))
		ctx.request = test.request
		assert.Equal(t, test.want, check(ctx, candidate{item: &test.item}, changes, estimate{}), name)
	}
}
