package remedies

import "slices"

// mostStarts is how many items an answer says to start with.
const mostStarts = 4

// rank picks the items that the evidence supports best. Facts of the failure come first, then items of the phase's
// own list whose value is known and can move, then other items that apply; of equals, the one that frees what was
// missing, then the guide's order. When nothing is known to apply, it is the first of the phase's own list.
func rank(items []assessment) []string {
	score := func(j *assessment) int {
		switch {
		case j.Applies != nil && !*j.Applies:
			return 0
		case j.late:
			return 1
		case j.Applies == nil && !j.own:
			return 0
		case j.Applies == nil:
			return 2
		}
		n := 10
		if j.supported {
			n += 20
		}
		if j.own {
			n += 10
		}
		if j.movable {
			n += 4
		}
		if j.Enough != nil && *j.Enough {
			n += 3
		}
		return n
	}
	type scored struct {
		id, key string
		n       int
	}
	var best []scored
	for i := range items {
		if n := score(&items[i]); n > 0 {
			key := ""
			if c := items[i].Changes; len(c) > 0 {
				key = c[0].Key
			}
			best = append(best, scored{items[i].ID, key, n})
		}
	}
	slices.SortStableFunc(best, func(a, b scored) int { return b.n - a.n })
	if len(best) == 0 {
		return nil
	}
	least, most := 10, mostStarts
	if best[0].n < least { // nothing is known to apply
		least, most = best[0].n, 2
	}
	var out []string
	keys := map[string]bool{"": false}
	for _, b := range best {
		if b.n >= least && len(out) < most && !keys[b.key] { // one setting cannot go two ways at once
			out = append(out, b.id)
			keys[b.key] = b.key != ""
		}
	}
	return out
}
