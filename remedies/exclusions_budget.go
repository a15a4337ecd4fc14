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

// fillsBudget reports whether the failed micro-batch has most of the tokens that a budget allows, and not more.
func (q *question) fillsBudget() bool {
	l, list := q.limit, q.request
	return l != nil && l.Budget && len(list) > 0 && (list[0].Met || list[0].Seen) && !list[0].Over && list[0].Low >= l.Tokens/5*4
}
