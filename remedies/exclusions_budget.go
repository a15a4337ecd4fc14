package remedies

import (
	"fmt"
	"slices"

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
// samples fill it (verl/workers/actor/dp_actor.py; slime/utils/dp_schedule.py): by the tokens of the failed micro-batch or, where it failed
// in a chunk of these, by the settings.
func budgetOfEach(q *question) string {
	l := q.limit
	if l == nil || !l.Budget || !slices.Contains([]string{"verl", "slime", "relax"}, q.run.Framework) {
		return ""
	}
	longest, filled := max(l.Longest, l.AtLeast), int64(0)
	if q.fillsBudget() {
		filled = q.request[0].Low
	} else if failedInChunk(q.Context) {
		filled = l.Tokens
	}
	if longest <= 0 || filled < 2*longest {
		return ""
	}
	return l.Key + " counts for each rank, and several samples fill it: more ranks for a sequence pack more of them"
}

// failedInChunk reports whether the request is for a chunk of the micro-batch's tokens, so that its size says nothing of the micro-batch
// (slime/utils/ppo_utils.py, calculate_log_probs_and_entropy).
func failedInChunk(ctx *Context) bool {
	n, ok := ctx.settings.integer("log_probs_chunk_size")
	return ok && len(ctx.request) > 0 && ctx.request[0].What == "logits" && ctx.request[0].Low > 0 && ctx.request[0].Low <= n
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
