package remedies

import (
	"fmt"
	"slices"
)

// reconcile compares the answers for the incidents of one job, in order. A later attempt often runs with the fix for the first
// failure and fails for another reason. To undo that fix would lead back to the first failure, so it is no answer to the
// second. The answer to the first states what followed.
func reconcile(lists []Checklist) {
	for j := range lists {
		for i := range j {
			before := lists[i].Proposals
			for k := range before {
				n := slices.IndexFunc(lists[j].Proposals, func(p Proposal) bool { return takesBack(&p, &before[k]) })
				if n < 0 {
					continue
				}
				lists[j].drop(n, fmt.Sprintf("the run failed without it before: incident %d", i+1))
				before[k].Needs = append([]string{fmt.Sprintf("A later attempt ran with this and also failed: see incident %d.", j+1)}, before[k].Needs...)
			}
		}
	}
}

// takesBack reports whether a proposal sets another one's setting back to its original value.
func takesBack(p, other *Proposal) bool {
	for _, c := range p.Changes {
		for _, d := range other.Changes {
			known := c.From != nil && c.To != nil && d.From != nil && d.To != nil
			if known && sameKey(c.Key, d.Key) && equal(*c.From, *d.To) && equal(*c.To, *d.From) {
				return true
			}
		}
	}
	return false
}

// drop removes a proposal and rules out its items.
func (l *Checklist) drop(n int, why string) {
	dropped := l.Proposals[n].Remedies
	l.Proposals = slices.Delete(l.Proposals, n, n+1)
	if len(l.StartWith) > 0 && slices.Contains(dropped, l.StartWith[0]) {
		l.Patch = nil
	}
	gone := func(id string) bool {
		return slices.Contains(dropped, id) && !slices.ContainsFunc(l.Proposals, func(p Proposal) bool { return slices.Contains(p.Remedies, id) })
	}
	l.StartWith = slices.DeleteFunc(l.StartWith, gone)
	for i := range l.Remedies {
		if r := &l.Remedies[i]; gone(r.ID) {
			r.exclude(why)
		}
	}
}
