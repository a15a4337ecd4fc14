package remedies

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// otherBudget says that a budget does not bound the failed micro-batch, which another setting allows and which has more tokens.
func otherBudget(q *question) string {
	if !q.fillsBudget() {
		return ""
	}
	for _, c := range q.changes {
		if sameKey(c.Key, q.limit.Key) || c.From == nil {
			return ""
		}
		if n, ok := parseInt(*c.From); ok && n > 0 && q.request[0].Low > n {
			return fmt.Sprintf("the failed micro-batch had about %s tokens, which only %s allows", memory.Thousands(q.request[0].Low), q.limit.Key)
		}
	}
	return ""
}

// budgetOfEach says that more ranks for a sequence leave each with as many tokens, where a budget counts for each of them and several
// samples fill it (verl/workers/actor/dp_actor.py; slime/utils/dp_schedule.py).
func budgetOfEach(q *question) string {
	if !packsSamples(q.Context) || !slices.Contains([]string{"verl", "slime", "relax"}, q.run.Framework) {
		return ""
	}
	return q.limit.Key + " counts for each rank, and several samples fill it: more ranks for a sequence pack more of them"
}

// packsSamples reports whether a micro-batch has room for two of the longest samples.
func packsSamples(ctx *Context) bool {
	l := ctx.limit
	if l == nil || !l.Budget || len(ctx.request) > 0 && ctx.request[0].Over {
		return false
	}
	longest := max(l.Longest, l.AtLeast)
	return longest > 0 && l.Tokens >= 2*longest
}

// failedInPart reports whether the request is for a part of the micro-batch, so that its size says nothing of the whole: slime and its forks
// go from sample to sample (slime/backends/megatron_utils/loss.py, get_log_probs_and_entropy), in chunks if they are told to
// (slime/utils/ppo_utils.py, calculate_log_probs_and_entropy).
func failedInPart(ctx *Context) bool {
	if len(ctx.request) == 0 || ctx.request[0].What != "logits" || ctx.request[0].Low <= 0 {
		return false
	}
	n, ok := ctx.settings.integer("log_probs_chunk_size")
	return ok && ctx.request[0].Low <= n || packsSamples(ctx) && ctx.request[0].Low <= max(ctx.limit.Longest, ctx.limit.AtLeast) && ctx.stackContains(8, "get_log_probs_and_entropy")
}

// keepsChunks reports whether slime or a fork of it trains and computes log-probabilities in chunks: none of a chunk's tensors is freed
// before the backward pass.
func keepsChunks(ctx *Context) bool {
	_, ok := ctx.settings.integer("log_probs_chunk_size")
	return ok && ctx.phase != "logprob" && slices.Contains([]string{"slime", "relax"}, ctx.run.Framework)
}

// recomputedWhole reports whether a loss that is recomputed takes as much at once as one that is not. slime and its forks put all of it
// into one checkpoint (slime/backends/megatron_utils/loss.py, loss_function), and its backward pass follows its forward pass at once, except
// where stages of a pipeline have several chunks of layers.
func recomputedWhole(ctx *Context) bool {
	for _, key := range []string{"num_layers_per_virtual_pipeline_stage", "num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size"} {
		if n, ok := ctx.settings.integer(key); ok && n > 0 {
			return false
		}
	}
	return slices.Contains([]string{"slime", "relax"}, ctx.run.Framework)
}

// fillsBudget reports whether the failed micro-batch has most of the tokens that a budget allows, and not more.
func (q *question) fillsBudget() bool {
	l, list := q.limit, q.request
	return l != nil && l.Budget && len(list) > 0 && (list[0].Met || list[0].Seen) && !list[0].Over && list[0].Low >= l.Tokens/5*4
}

// evaluationExceedsHost says that the logits of an evaluation, all batches together, are more than a host's memory holds, so that moving
// them there only moves the failure. It needs a request that is a whole number of batches with every sample at full length: then the others
// are as large.
func evaluationExceedsHost(q *question) string {
	const usual = 256 << 30 // of a host whose memory the log does not show
	steps := slices.ContainsFunc(q.changes, func(c change) bool { return lastWord(c.Key) == "eval_accumulation_steps" })
	samples, ok1 := q.settings.integer("Num examples")
	batch, ok2 := q.settings.integer("Batch size", "per_device_eval_batch_size")
	length, ok3 := q.settings.integer("max_length", "max_seq_length", "max_seq_len")
	if !steps || !ok1 || !ok2 || !ok3 || !q.is("joined_evaluation") || q.root.Requested == nil || q.model.Vocab.Value <= 0 ||
		samples > mostTokens || batch > samples || length > mostTokens || q.model.Vocab.Value > mostTokens {
		return ""
	}
	one := float64(length) * float64(q.model.Vocab.Value) * 4
	batches := float64(*q.root.Requested) / one / float64(batch)
	if k := math.Round(batches); k < 2 || math.Abs(batches-k) > batches/200 {
		return ""
	}
	all, host := int64(float64(samples)*one), int64(usual)
	if ram := cmp.Or(q.root.Limit, nodeRAM(q.Context)); ram != nil {
		host = *ram
	}
	if all <= host {
		return ""
	}
	return fmt.Sprintf("the logits of all %s samples take %s, more than a host's memory", memory.Thousands(samples), classifier.GiB(all))
}

// smallBucket says that a bucket of DeepSpeed's as a whole takes less than was missing: nine bytes for each of its elements at most, with the
// second bucket of overlap_comm, in 32 bits, and a copy at work.
func smallBucket(q *question) string {
	const each = 9
	short, ok := q.shortfall()
	if !ok || len(q.changes) != 1 || !strings.HasSuffix(q.changes[0].Key, "_bucket_size") || q.changes[0].From == nil {
		return ""
	}
	n, known := parseNumber(*q.changes[0].From)
	if !known || n <= 0 || n > 1e12 || int64(each*n) >= short {
		return ""
	}
	return fmt.Sprintf("the whole bucket takes %s at most, and %s was missing", classifier.GiB(int64(each*n)), classifier.GiB(short))
}

// gradientsFill says that 8-bit states find no room beside weights and gradients. Paged ones need none.
func gradientsFill(q *question) string {
	const moments = 2 // bytes per parameter
	for _, c := range q.changes {
		if c.To == nil {
			continue
		}
		switch to := strings.ToLower(*c.To); {
		case strings.Contains(to, "paged"):
			return cause.GradientsFill(q.input(), 0)
		case strings.Contains(to, "8bit"):
			return cause.GradientsFill(q.input(), moments)
		}
	}
	return ""
}
