package remedies

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/cause"
)

// tokenStep is the step of token budgets.
const tokenStep = 512

// mostRanks is more than share a sequence in any run.
const mostRanks = 1 << 10

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// budgetVerl halves the token budget of a micro-batch, but not below the longest sequence: verl asserts that the budget
// times the sequence-parallel size holds it (verl/utils/seqlen_balancing.py). Without that bound there is no safe
// value.
func budgetVerl(q *paramQuery, n int64) proposedValue {
	low, how, ok := q.verlBound()
	if !ok {
		return proposedValue{}
	}
	if n <= low {
		return atBound("%s is %d, and the longest sequence needs %s = %d", q.p.Key, n, how, low)
	}
	half := n / 2 / tokenStep * tokenStep
	if fits, fit, ok := q.fits(); ok && fits < half {
		if to := max(fits/tokenStep*tokenStep, low); to < half {
			return proposedValue{to: itoa(to), how: fit + fmt.Sprintf(", rounded down to %d; at least the longest sequence: %s = %d", to, how, low)}
		}
	}
	to := max(half, low)
	if to == half {
		return proposedValue{to: itoa(to), how: fmt.Sprintf("%d / 2 = %d, at least the longest sequence: %s = %d", n, to, how, low)}
	}
	return proposedValue{to: itoa(to), how: fmt.Sprintf("the longest sequence, which is the least possible: %s = %d", how, low)}
}

// verlBound returns the longest sequence per GPU.
func (q *paramQuery) verlBound() (low int64, how string, ok bool) {
	prompt, ok1 := q.settings.integer("data.max_prompt_length", "actor_rollout_ref.rollout.prompt_length")
	answer, ok2 := q.settings.integer("data.max_response_length", "actor_rollout_ref.rollout.response_length")
	if length, ok := q.settings.integer("data.max_length"); ok && !ok1 && !ok2 { // of fine-tuning
		return length, "data.max_length", true
	}
	if !ok1 || !ok2 {
		return 0, "", false
	}
	sp, ok := q.settings.integer("actor_rollout_ref.actor.ulysses_sequence_parallel_size", "actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size")
	how = fmt.Sprintf("%d + %d", prompt, answer)
	if !ok || sp == 1 {
		return prompt + answer, how, true
	}
	return ceilDiv(prompt+answer, sp), fmt.Sprintf("(%s) / %d", how, sp), true
}

// budgetStart returns the first budget for micro-batches by tokens: the longest sequence. A value that is set but not used
// does not matter unless it is smaller.
func budgetStart(q *paramQuery) proposedValue {
	low, how, ok := q.verlBound()
	if !ok {
		return proposedValue{}
	}
	if n, ok := q.int(); ok && n <= low {
		return atBound("%s is %d already", q.p.Key, n)
	}
	return proposedValue{to: itoa(low), how: "the longest sequence: " + how}
}

// budgetAReaL goes directly to the least budget that holds a sequence, as the guide advises: a longer one raises an error
// (areal/utils/seqpack.py).
func budgetAReaL(q *paramQuery) proposedValue {
	prompt, ok1 := q.settings.integer("train_dataset.max_length")
	answer, ok2 := q.settings.integer("gconfig.max_new_tokens")
	if !ok1 || !ok2 {
		n, ok := q.int()
		if ok && ok2 && n/2 <= answer { // an answer of this length must fit, and its prompt
			return atBound("%s is %d, and an answer alone may have %d tokens", q.p.Key, n, answer)
		} else if ok {
			return halve(q, n)
		}
		return proposedValue{}
	}
	low := prompt + answer
	if n, ok := q.int(); ok && n <= low {
		return atBound("%s is %d, and the longest sequence needs %d + %d = %d", q.p.Key, n, prompt, answer, low)
	} else if !ok && !isNone(q.cur) {
		return proposedValue{}
	}
	return proposedValue{to: itoa(low), how: fmt.Sprintf("train_dataset.max_length %d + gconfig.max_new_tokens %d = %d", prompt, answer, low)}
}

// budgetTokens lowers the budget of Relax, slime and OpenRLHF by a third, or by half if the request was more than 1.5 times
// what was free or was for one sample of several, but not below one rank's part of the longest sample: no budget splits one, so a lower one leaves it as it is
// (slime/utils/dp_schedule.py; openrlhf/utils/seqlen_balancing.py).
func budgetTokens(q *paramQuery, n int64) proposedValue {
	low, why := int64(tokenStep), "the minimum"
	if longest, how, ok := q.longestSample(); ok {
		low, why = longest, how
		parts := int64(1)
		for _, k := range []string{"context_parallel_size", "ring_attn_size", "ds_tensor_parallel_size"} {
			if n, ok := q.settings.integer(k); ok {
				parts *= min(n, mostRanks)
			}
		}
		if parts > 1 {
			low, why = ceilDiv(longest, parts), fmt.Sprintf("%s, %d tokens on %d GPUs,", how, longest, parts)
		}
	}
	if n <= low {
		return atBound("%s is %d already, %s needs %d", q.p.Key, n, why, low)
	}
	raw, how := n*2/3, fmt.Sprintf("a third less than %d", n)
	r := q.root
	if r.Requested != nil && r.Free != nil && *r.Free > 0 && float64(*r.Requested) > 1.5*float64(*r.Free) {
		raw, how = n/2, fmt.Sprintf("%d / 2", n)
	}
	if slices.Contains(training, q.phase) && cause.ComputesEntropy(q.input()) != "" {
		raw, how = n/2, fmt.Sprintf("%d / 2: the entropy's backward pass takes as much again", n)
	}
	if q.phase != "logprob" && failedInPart(q.Context) { // which keeps the tensors of each sample of the pack for the backward pass
		raw, how = n/2, fmt.Sprintf("%d / 2: the request is for one sample of the micro-batch, and the tensors of the others are kept, too", n)
	}
	if fits, fit, ok := q.fits(); ok && fits < raw {
		raw, how = fits, fit
	}
	to := max(raw/tokenStep*tokenStep, low)
	if to >= n {
		return proposedValue{}
	}
	if to == low {
		how += fmt.Sprintf(", not below %d (%s)", low, why)
	} else {
		if !strings.HasSuffix(how, itoa(raw)) {
			how += fmt.Sprintf(" = %d", raw)
		}
		if raw != to {
			how += fmt.Sprintf(", rounded down to %d", to)
		}
	}
	return proposedValue{to: itoa(to), how: how}
}

// budgetPacked lowers the tokens of a packed micro-batch of NeMo-RL, ROLL and SkyRL by a third, or to what had room, but not below the
// longest sequence, which must fit in one (nemo_rl/data/packing, roll/utils/sequence_packing.py, dynamic_batching.py).
func budgetPacked(q *paramQuery, n int64) proposedValue {
	low, ok := q.settings.integer("policy.max_total_sequence_length")
	if longest, _, known := q.longestSample(); known {
		low, ok = longest, true
	}
	raw := n * 2 / 3
	if fits, _, ok := q.fits(); ok {
		raw = min(raw, fits)
	}
	switch to := max(raw/tokenStep*tokenStep, low); {
	case ok && n <= low:
		return atBound("%s is %d, and the longest sequence needs %d", q.p.Key, n, low)
	case to < n && to == low:
		return proposedValue{to: itoa(to), how: fmt.Sprintf("the longest sequence, which is the least possible: %d", low)}
	case to > 0 && to < n:
		return proposedValue{to: itoa(to), how: fmt.Sprintf("%d of %d, rounded down to %d", raw, n, to)}
	}
	return proposedValue{}
}

// longestSample returns the longest sample that the settings allow, or the longest answer where they have no more. Supervised runs print
// rollouts of one token.
func (q *paramQuery) longestSample() (tokens int64, what string, ok bool) {
	answer, answers := q.settings.integer(answerKeys...)
	if answers = answers && answer > 1 && answer <= mostTokens; answers {
		tokens, what = answer, "the longest response"
		if prompt, ok := q.settings.integer(promptKeys...); ok && prompt <= mostTokens {
			tokens, what = prompt+answer, "the longest sample"
		}
	}
	if l := q.limit; q.bounds() && !l.Uncut && l.AtLeast > max(tokens, 1) {
		tokens, what = l.AtLeast, "the longest sample"
	}
	return tokens, what, tokens > 0
}

// bounds reports whether the parameter, under any of its names, bounds the failed micro-batch.
func (q *paramQuery) bounds() bool {
	l := q.limit
	return l != nil && (sameKey(l.Key, q.p.Key) || slices.ContainsFunc(q.p.Spellings, func(s Spelling) bool { return sameKey(l.Key, s.Key) }))
}

// fits returns how many tokens of the failed micro-batch had room, if the request grew with them and this parameter bounds
// them.
func (q *paramQuery) fits() (tokens int64, how string, ok bool) {
	list := q.request
	r := q.root
	if len(list) == 0 || list[0].Low <= 0 || list[0].Over || failedInPart(q.Context) || q.amongActivations() || r.Free == nil || *r.Free <= 0 || *r.Free >= *r.Requested {
		return 0, "", false
	}
	if !q.bounds() {
		return 0, "", false
	}
	e := &list[0]
	n := e.Low
	if l := q.limit; e.Met {
		n = l.Tokens
	}
	copies := int64(1)
	if e.What == "logits" && q.stackContains(2, "float_conversion", "convert_to_fp32") { // before the loss, which copies them
		copies += q.copiesAfter()
	}
	room := *r.Free
	if copies > 1 {
		room = max(room-leastMargin(q.Context), 1)
	}
	fit := int64(math.Floor(float64(n) * (float64(room) / float64(copies) / float64(*r.Requested))))
	how = fmt.Sprintf("%d tokens needed %s, %s was free: room for %d", n, classifier.GiB(*r.Requested), classifier.GiB(*r.Free), fit)
	if copies > 1 {
		how += fmt.Sprintf(" with the copy that the loss makes and a margin of %s", classifier.GiB(*r.Free-room))
	}
	return fit, how, true
}
