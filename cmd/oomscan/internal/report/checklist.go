package report

import (
	"fmt"
	"slices"
	"strings"
)

// writeChecklist shows the items in the guide's order, one line each. Those that do not apply stand below their list,
// together by reason. In full, each item has its details, and those that do not apply stand in their places.
func writeChecklist(p *page, in *Incident, full bool) {
	if len(in.Remedies) == 0 {
		return
	}
	legend := ""
	if len(in.Proposals) > 0 {
		legend = "  " + unbroken(p.g.star+" = "+wordStarred)
	}
	p.section(wordChecklist, span{plain, "  " + in.Checklist}, span{dim, legend})
	started := startedBy(in)
	urls := map[string]bool{}
	list := ""
	var out []*Remedy
	for i := range in.Remedies {
		x := &in.Remedies[i]
		if i == maxChecklist {
			p.more(len(in.Remedies)-i, "item", "items")
			break
		}
		if x.List != list {
			writeFolded(p, out)
			out = nil
			if title := strings.Replace(x.List, ", ", ": ", 1); x.List != "" && !strings.HasPrefix(in.Checklist, title) {
				p.para(block{indent: 3, hang: 5}, span{bold, x.List})
			}
			list = x.List
			writeURL(p, x, urls)
		}
		switch {
		case full:
			writeItem(p, x, started[x.ID])
			writeDetails(p, x)
		case ruledOut(x):
			out = append(out, x)
		default:
			writeItem(p, x, started[x.ID])
		}
	}
	writeFolded(p, out)
}

// startedBy are the items that a proposal is made of.
func startedBy(in *Incident) map[string]bool {
	ids := map[string]bool{}
	for _, x := range in.Proposals {
		for _, id := range x.Remedies {
			ids[id] = true
		}
	}
	return ids
}

func ruledOut(x *Remedy) bool { return x.Applies != nil && !*x.Applies }

// itemIndent is where the text of a checklist's item begins.
const itemIndent = 9

// writeItem writes one line: the item's mark, number and title, and from what to what its value goes.
func writeItem(p *page, x *Remedy, started bool) {
	mark, kind := span{plain, string(nbsp)}, plain
	switch {
	case ruledOut(x):
		mark, kind = span{dim, p.g.minus}, dim
	case started:
		mark = span{good, p.g.star}
	}
	spans := []span{mark, {kind, unbroken(fmt.Sprintf(" %2d  ", x.Order))}, {kind, x.Title}}
	switch {
	case ruledOut(x):
	case len(x.Changes) == 1:
		spans = append(spans, inShort(p.g, &x.Changes[0])...)
	case len(x.Changes) > 1:
		spans = append(spans, span{dim, ": " + count(len(x.Changes), "setting", "settings")})
	}
	p.para(block{indent: 3, hang: itemIndent, lines: 1}, spans...)
}

// inShort is what one change does, as far as it fits on the item's line.
func inShort(g *glyphs, c *Change) []span {
	const most = 32
	switch {
	case c.To == nil || *c.To == c.Snippet || len(*c.To) > most || c.From != nil && len(*c.From) > most:
		return nil
	case c.Key != "" && (c.From == nil || isSwitch(*c.From)):
		return []span{{plain, ": "}, {good, lastPart(c.Key) + "=" + *c.To}}
	}
	return append([]span{{plain, ": "}}, value(g, c)...)
}

// isSwitch reports whether a value is one of a setting that is on, off or not set.
func isSwitch(value string) bool {
	return slices.Contains([]string{"true", "false", "none", "null"}, strings.ToLower(value))
}

// writeFolded says why items do not apply, how many for each reason.
func writeFolded(p *page, items []*Remedy) {
	if len(items) == 0 {
		return
	}
	var reasons []string
	times := map[string]int{}
	for _, x := range items {
		why := against(x.AppliesWhy)
		if times[why] == 0 {
			reasons = append(reasons, why)
		}
		times[why]++
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return times[b] - times[a] })
	for i, why := range reasons {
		if times[why] > 1 {
			reasons[i] += fmt.Sprintf(" (%d)", times[why])
		}
	}
	p.para(block{indent: 5, hang: itemIndent, lines: 4}, span{dim, doNotApply(len(items))}, span{plain, strings.Join(reasons, "; ")})
}

// writeURL names an item's source, once.
func writeURL(p *page, x *Remedy, seen map[string]bool) {
	if u := deref(x.Source.URL); u != "" && !seen[u] {
		seen[u] = true
		p.para(block{indent: 3, hang: 3, full: true}, span{address, u})
	}
}
