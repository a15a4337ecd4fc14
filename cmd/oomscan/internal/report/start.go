package report

import (
	"fmt"
	"slices"
	"strings"
)

// writeStart shows the items that this run's evidence supports, best first: what to change, what to paste, and why this
// one. What it costs and how its values came about stand in the checklist.
func writeStart(p *page, in *Incident) {
	items := started(in)
	if len(items) == 0 {
		return
	}
	switch {
	case in.Verdict == "suspect":
		p.heading("If it was memory, start with")
	case in.Survived:
		p.heading("Start with", span{dim, ", so that it does not happen again"})
	default:
		p.heading("Start with")
	}
	shown := map[string]bool{}
	for n, x := range items {
		if n == maxStart {
			p.more(len(items)-n, "item, marked below", "items, marked below")
			break
		}
		p.para(block{indent: 4, hang: 7}, join([]span{{bold, fmt.Sprintf("%d. %s", n+1, x.Title)}}, onlyValue(p.g, x), freed(x))...)
		writeChanges(p, x, 7, true)
		if len(x.Changes) == 0 && x.Detail != "" {
			p.para(block{indent: 7, hang: 7, lines: 3}, span{plain, x.Detail})
		}
		why := because(x)
		if shown[why] && x.Why != "" {
			why = closed(sentence(x.Why))
		}
		shown[why] = true
		p.para(block{indent: 7, hang: 7, lines: 2}, span{dim, why})
	}
}

// writePatch shows what to start with as one block to paste, when that is more than the one line that stands there already.
func writePatch(p *page, in *Incident) {
	lines := 0
	for _, x := range in.Patch {
		lines += 1 + strings.Count(x.Text, "\n")
	}
	if lines < 2 {
		return
	}
	p.heading("To paste", span{dim, "  all of that at once, as far as the values are known"})
	for _, x := range in.Patch {
		for i, l := range strings.Split(x.Text, "\n") {
			if i == maxPatch {
				p.para(block{indent: 4, hang: 4}, span{dim, p.g.ellipsis})
				break
			}
			text := strings.TrimLeft(l, " ")
			at := 4 + min(len(l)-len(text), 12)
			p.para(block{indent: at, hang: at + 2, full: true, lines: 4}, span{code, text})
		}
	}
}

// because is why an item is among the first: the fact of this run that speaks for it, else what the item does. That a
// value can still move is no reason of its own; the change shows it.
func because(x *Remedy) string {
	if x.AppliesWhy != "" && !slices.ContainsFunc(x.Changes, func(c Change) bool {
		return c.From != nil && strings.HasPrefix(x.AppliesWhy, *c.From+" so far")
	}) || x.Why == "" {
		return closed(sentence(x.AppliesWhy))
	}
	return closed(sentence(x.Why))
}

// closed ends in a period.
func closed(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// started are the remedies that start_with names, in its order.
func started(in *Incident) []*Remedy {
	var out []*Remedy
	for _, id := range in.StartWith {
		if i := slices.IndexFunc(in.Remedies, func(x Remedy) bool { return x.ID == id }); i >= 0 {
			out = append(out, &in.Remedies[i])
		}
	}
	return out
}
