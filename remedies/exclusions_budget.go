package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
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
