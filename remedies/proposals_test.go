package remedies

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/remedies/cause"
)

// TestProposalsHoldWhateverTheLogSays holds proposals of random runs against what no proposal may do, applies the first
// one, and asks again: nothing takes it back.
func TestProposalsHoldWhateverTheLogSays(t *testing.T) {
	t.Parallel()
	all, err := Guides()
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(41, 42))
	applied := 0
	for range 1500 {
		g := &all[rng.IntN(len(all))]
		r, in := anyRun(rng, g), anyIncident(rng)
		list := For(r, in)
		if list.Cause == nil {
			continue
		}
		soundProposals(t, &list)
		if len(list.Proposals) == 0 || len(list.Proposals[0].Changes) == 0 {
			continue
		}
		first := list.Proposals[0].Changes[0]
		if first.To == nil {
			continue
		}
		applied++
		r.Config[first.Key] = classifier.Value{Value: *first.To, Form: "overrides"}
		for _, p := range For(r, in).Proposals {
			for _, c := range p.Changes {
				if sameKey(c.Key, first.Key) && first.Direction != "set" {
					assert.Equal(t, first.Direction, c.Direction, "%s is taken back: %s", first.Key, list.Cause.ID)
				}
			}
		}
	}
	assert.Greater(t, applied, 200)
}

// soundProposals holds one answer against what no proposal may do.
func soundProposals(t *testing.T, list *Checklist) {
	t.Helper()
	excluded := slices.ContainsFunc(list.Rivals, func(c cause.Cause) bool { return c.ID == "fragmentation" && len(c.Against) > 0 })
	for _, p := range list.Proposals {
		if p.Fits != nil && *p.Fits && p.MarginBytes != nil {
			assert.GreaterOrEqual(t, *p.MarginBytes, int64(0), p.Text)
		}
		for _, id := range p.Remedies {
			m := pick(t, *list, id)
			assert.False(t, m.Applies != nil && !*m.Applies, "%s: %s", id, m.AppliesWhy)
		}
		for _, c := range p.Changes {
			if c.From != nil && c.To != nil {
				assert.False(t, equal(*c.From, *c.To), "%s stays %s", c.Key, *c.To)
				from, ok1 := parseNumber(*c.From)
				to, ok2 := parseNumber(*c.To)
				if ok1 && ok2 && from > 0 && c.Direction != "set" {
					assert.Equal(t, c.Direction == "up", to > from, "%s %s: %s to %s", c.Key, c.Direction, *c.From, *c.To)
				}
			}
			if excluded {
				assert.NotContains(t, strings.ToLower(c.Key), "alloc_conf", "fragmentation is excluded")
			}
		}
	}
	for _, id := range list.StartWith {
		m := pick(t, *list, id)
		assert.False(t, m.Applies != nil && !*m.Applies, id)
	}
}

func TestAProposalOfASmallerMicroBatchIsHeldAgainstTheLongestSamples(t *testing.T) {
	t.Parallel()
	in := with(gpuOOM("logprob"), func(r *classifier.Root) {
		r.Message = "CUDA out of memory. Tried to allocate 13.92 GiB."
		r.Requested, r.Free, r.Total = gibs(13.92), gibs(7.61), gibs(79.11)
		r.Trace = frames("/verl/workers/actor/dp_actor.py|compute_log_prob|", "/verl/utils/torch_functional.py|logprobs_from_logits|logits = logits.float()")
	})
	r := run("verl", "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", "8", "data.max_prompt_length", "1024", "data.max_response_length", "3072", "vocab_size", "152064")
	list := For(r, in)
	require.NotNil(t, list.Cause)
	assert.Equal(t, "logits", list.Cause.ID)
	assert.Equal(t, "high", list.Cause.Confidence)
	i := slices.IndexFunc(list.Proposals, func(p Proposal) bool {
		return len(p.Changes) > 0 && strings.HasSuffix(p.Changes[0].Key, "log_prob_micro_batch_size_per_gpu")
	})
	require.GreaterOrEqual(t, i, 0)
	p := list.Proposals[i]
	require.NotNil(t, p.FitsWorstCase, "%+v", p)
	assert.Equal(t, "2", *p.Changes[0].To, "4 fits these samples, and not at full length")
	assert.True(t, *p.FitsWorstCase)
	assert.Equal(t, "at full length, 8192 tokens, the request is 4.64 GiB, and 7.61 GiB were free", p.WorstCase)
}
