package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
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
// samples fill it (verl/workers/actor/dp_actor.py; slime/backends/megatron_utils/data.py).
func budgetOfEach(q *question) string {
	if !q.fillsBudget() || !slices.Contains([]string{"verl", "slime", "relax"}, q.run.Framework) {
		return ""
	}
	if l := q.limit; max(l.Longest, l.AtLeast) > 0 && q.request[0].Low >= 2*max(l.Longest, l.AtLeast) {
		return l.Key + " counts for each rank, and several samples fill it: more ranks for a sequence pack more of them"
	}
	return ""
}

// statesExceedHost says that the optimizer's states on the host are larger than its memory on their own, so that it does not help to keep
// the weights elsewhere or to pin nothing: master weights and two moments in 32 bits.
func statesExceedHost(q *question) string {
	const each = 12 // bytes for a parameter
	p, ram := q.input().Parameters, nodeRAM(q.Context)
	weights := !slices.ContainsFunc(q.changes, func(c change) bool {
		return !strings.Contains(c.Key, "param") && !strings.HasSuffix(c.Key, "pin_memory")
	})
	if q.resource != "host" || p.Value <= 0 || ram == nil || !weights || q.run.Nodes != nil && *q.run.Nodes > 1 || p.Value*each <= *ram {
		return ""
	}
	return fmt.Sprintf("the optimizer's states take %s without the weights, and there are %s", classifier.GiB(p.Value*each), classifier.GiB(*ram))
}

// fillsBudget reports whether the failed micro-batch has most of the tokens that a budget allows, and not more.
func (q *question) fillsBudget() bool {
	l, list := q.limit, q.request
	return l != nil && l.Budget && len(list) > 0 && (list[0].Met || list[0].Seen) && !list[0].Over && list[0].Low >= l.Tokens/5*4
}

// smallWeights returns why smaller weights, or half of them and of the cache on twice the GPUs, make no room for one sequence, or "".
func smallWeights(ctx *Context, topic string) string {
	q := &paramQuery{Context: ctx, p: &Parameter{}}
	short, lacks := ctx.shortfall()
	weights, how, ok := q.weights()
	if !lacks || !ok || ctx.incident.Kind != parser.KVCache || ctx.root.Requested == nil {
		return ""
	}
	frees := int64(weights * 3 / 4) // in 4 bits
	if topic == "engine-tp" {       // half of the request must fit into the cache that is there and half of the weights
		frees = int64(weights) + *ctx.root.Requested - short
	}
	if short <= frees {
		return ""
	}
	return fmt.Sprintf("the cache of one sequence lacks %s, more than this frees of %s", classifier.GiB(short), how)
}

// exceedsIn4Bits says that an engine's weights, which must all be on its cards, do not fit in 4 bits either: with their scales those take 4.5.
func exceedsIn4Bits(ctx *Context, _ string) verdict {
	q := &paramQuery{Context: ctx, p: &Parameter{}}
	weights, how, ok := q.weights()
	total, _, known := cardCapacity(ctx)
	if !ok || !known || ctx.resource != "gpu" || ctx.is("framework:llamacpp") || ctx.is("framework:ollama") {
		return verdict{}
	}
	least := int64(weights / 16 * 4.5)
	return verdict{truthOf(least > total), fmt.Sprintf("%s take %s in 4 bits, and the card has %s", how, classifier.GiB(least), classifier.GiB(total))}
}
