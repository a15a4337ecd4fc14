package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// writeChecklist shows the items in the guide's order, one line each. Those that do not apply stand below their list,
// together by reason. In full, each item has its details, and those that do not apply stand in their places.
func writeChecklist(p *page, in *Incident, full bool) {
	if len(in.Remedies) == 0 {
		return
	}
	started := startedBy(in)
	if !full {
		maps.DeleteFunc(started, func(_ string, place int) bool { return place > p.shown }) // the page does not show it
	}
	name, _, _ := strings.Cut(in.Checklist, ` (guide "`)
	p.section(wordChecklist, span{plain, "  " + name}, span{dim, legend(p.g, started)})
	urls := map[string]bool{}
	list := ""
	var out []folded
	fold := func() {
		if len(out) > 0 {
			writeFolded(p, out)
			out = nil
		}
	}
	for i := range in.Remedies {
		x := &in.Remedies[i]
		if i == maxChecklist {
			p.more(len(in.Remedies)-i, "item", "items")
			break
		}
		if x.List != list {
			fold()
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
			out = append(out, folded{x.Title, inBrief(x.AppliesWhy)})
		default:
			if first := sameChange(in.Remedies[:i], x); first != 0 && started[x.ID] == 0 {
				out = append(out, folded{x.Title, fmt.Sprintf(formatSameAsItem, nbsp, first)})
				continue
			}
			writeItem(p, x, started[x.ID])
		}
	}
	fold()
}

// startedBy are the items that a proposal is made of, each with the place of the first one.
func startedBy(in *Incident) map[string]int {
	places := map[string]int{}
	for i, x := range in.Proposals {
		for _, id := range x.Remedies {
			if places[id] == 0 {
				places[id] = i + 1
			}
		}
	}
	return places
}

// legend says what the marks of a checklist mean: what to try first has a mark of its own.
func legend(g *glyphs, places map[string]int) string {
	if len(places) == 0 {
		return ""
	}
	var first, others bool
	for _, place := range places {
		first, others = first || place == 1, others || place > 1
	}
	var out []string
	if first {
		out = append(out, g.star+" = "+wordStarred)
	}
	if others {
		out = append(out, g.other+" = "+wordOther)
	}
	return "  " + unbroken(strings.Join(out, "  "))
}

func ruledOut(x *Remedy) bool { return x.Applies != nil && !*x.Applies }

// itemIndent is where the text of a checklist's item begins.
const itemIndent = 9

// writeItem writes one line: the item's mark, number and title, and from what to what its value goes.
func writeItem(p *page, x *Remedy, place int) {
	mark, kind := span{plain, string(nbsp)}, plain
	switch {
	case ruledOut(x):
		mark, kind = span{dim, p.g.minus}, dim
	case place == 1:
		mark = span{good, p.g.star}
	case place > 1:
		mark = span{good, p.g.other}
	}
	spans := []span{mark, {kind, unbroken(fmt.Sprintf(" %2d  ", x.Order))}, {kind, x.Title}}
	var next []span
	switch {
	case ruledOut(x):
	case len(x.Changes) == 1:
		next = inShort(p.g, &x.Changes[0])
	case len(x.Changes) > 1:
		next = []span{{dim, ": " + count(len(x.Changes), "setting", "settings")}}
	}
	if itemIndent+measure(x.Title)+measure(plainText(next)) <= p.prose {
		spans = append(spans, next...)
	}
	p.para(block{indent: 3, hang: itemIndent, lines: 1}, spans...)
}

// inShort is what one change does, as far as it fits on the item's line.
func inShort(g *glyphs, c *Change) []span {
	const most = 32
	switch {
	case c.To == nil || *c.To == c.Snippet || len(*c.To) > most || c.From != nil && len(*c.From) > most:
		return nil
	case removes(c):
		return []span{{plain, ": "}, {good, strings.TrimPrefix(c.Snippet, "# ")}}
	case c.Syntax == "flag" && strings.HasPrefix(c.Snippet, "-") && (c.From == nil || isSwitch(*c.From)):
		return []span{{plain, ": "}, {good, c.Snippet}} // a switch takes no value
	case c.Key != "" && (c.From == nil || isSwitch(*c.From)):
		return []span{{plain, ": "}, {good, lastPart(c.Key) + "=" + *c.To}}
	}
	return append([]span{{plain, ": "}}, value(g, c)...)
}

// isSwitch reports whether a value is one of a setting that is on, off or not set.
func isSwitch(value string) bool {
	return slices.Contains([]string{"true", "false", "none", "null"}, strings.ToLower(value))
}

// sameChange is the number of an earlier item that makes the same changes, 0 for none.
func sameChange(earlier []Remedy, x *Remedy) int {
	same := func(a, b Change) bool { return a.Key == b.Key && a.To != nil && b.To != nil && *a.To == *b.To }
	for i := range earlier {
		if y := &earlier[i]; len(x.Changes) > 0 && !ruledOut(y) && slices.EqualFunc(x.Changes, y.Changes, same) {
			return y.Order
		}
	}
	return 0
}

// folded is an item that has no line of its own, and why.
type folded struct{ title, why string }

// writeFolded says which items have no line, and why: those of one reason together, and as many as there is room for.
func writeFolded(p *page, items []folded) {
	var reasons []string
	titles := map[string][]string{}
	for _, x := range items {
		if titles[x.why] == nil {
			reasons = append(reasons, x.why)
		}
		title, _, _ := strings.Cut(x.title, " (")
		title, _, _ = strings.Cut(title, ", and ")
		titles[x.why] = append(titles[x.why], inSentence(title))
	}
	at := block{indent: 5, hang: itemIndent}
	for shown := len(reasons); shown > 0; shown-- {
		left := len(items)
		var parts []string
		for _, why := range reasons[:shown] {
			left -= len(titles[why])
			list := titles[why]
			if len(list) > maxFoldedTitles {
				list = append(slices.Clone(list[:maxFoldedTitles-1]), others(len(list)-maxFoldedTitles+1))
			}
			parts = append(parts, strings.Join(list, ", ")+" ("+why+")")
		}
		text := strings.Join(parts, "; ")
		if left > 0 {
			text += fmt.Sprintf("; %d%cmore", left, nbsp) + unbroken(wordInFull)
		}
		if spans := []span{{dim, wordNotHere + "  "}, {plain, text}}; shown == 1 || p.linesOf(at, spans) <= maxFolded {
			p.para(at, spans...)
			return
		}
	}
}

// writeURL names an item's source, once.
func writeURL(p *page, x *Remedy, seen map[string]bool) {
	if u := deref(x.Source.URL); u != "" && !seen[u] {
		seen[u] = true
		p.para(block{indent: 3, hang: 3, full: true}, span{address, u})
	}
}
