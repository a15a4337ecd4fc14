package remedies

import "slices"

// mostStarts is the number of items to start with, fewStarts the number if none is known to apply.
const mostStarts, fewStarts = 4, 2

// The scores of items. Each support for one that applies adds to its score.
const (
	lastScore  = 1 // only diagnoses, or costs more than it gains
	openScore  = 2 // of the phase's own list, and it is unknown whether it applies
	applyScore = 10
)

func score(a *assessment) int {
	switch {
	case a.Applies != nil && !*a.Applies:
		return 0
	case a.late:
		return lastScore
	case a.Applies == nil && a.own:
		return openScore
	case a.Applies == nil:
		return 0
	}
	n := applyScore
	for _, x := range []struct {
		so  bool
		add int
	}{{a.supported, 20}, {a.own, 10}, {a.movable, 4}, {a.Enough != nil && *a.Enough, 3}} {
		if x.so {
			n += x.add
		}
	}
	return n
}

// rank picks the items with the best evidence: first those supported by facts of the failure, then items of the phase's own
// list with a known value that can move, then others that apply. Among equals, the one that frees what was missing comes first,
// then the guide's order decides. If nothing is known to apply, it picks the first of the phase's list.
func rank(items []assessment) []string {
	var order []*assessment
	for i := range items {
		if score(&items[i]) > 0 {
			order = append(order, &items[i])
		}
	}
	if len(order) == 0 {
		return nil
	}
	slices.SortStableFunc(order, func(a, b *assessment) int { return score(b) - score(a) })
	least, most := applyScore, mostStarts
	if best := score(order[0]); best < least {
		least, most = best, fewStarts
	}
	var out []string
	keys := map[string]bool{}
	for _, a := range order {
		key := ""
		if len(a.Changes) > 0 {
			key = a.Changes[0].Key
		}
		if score(a) < least || len(out) == most || key != "" && keys[key] { // one setting cannot go two ways at once
			continue
		}
		out, keys[key] = append(out, a.ID), true
	}
	return out
}
