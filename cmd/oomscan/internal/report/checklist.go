package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// writeChecklist shows the items in the guide's order, one line each. Those that do not apply stand below their list, with
// their numbers, together by reason. In full, each item has its details, and those that do not apply stand in their places.
func writeChecklist(p *page, in *Incident, full bool) {
	if len(in.Remedies) == 0 {
		return
	}
	started := startedBy(in)
	if !full {
		maps.DeleteFunc(started, func(_ string, place int) bool { return place > maxProposals }) // the page does not show it
	}
	name, _, _ := strings.Cut(in.Checklist, ` (guide "`)
	p.section(wordChecklist, span{plain, "  " + name}, span{dim, legend(p.g, started)})
	urls := map[string]bool{}
	list, notHere := "", wordNotHere+wordNamedInFull
	var out []*Remedy
	fold := func() {
		if len(out) > 0 {
			writeFolded(p, notHere, out)
			out, notHere = nil, wordNotHere
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
			out = append(out, x)
		default:
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

// writeFolded says which items do not apply, and why: those of one reason together.
func writeFolded(p *page, lead string, items []*Remedy) {
	var reasons []string
	numbers := map[string][]string{}
	for _, x := range items {
		why := inBrief(x.AppliesWhy)
		if numbers[why] == nil {
			reasons = append(reasons, why)
		}
		numbers[why] = append(numbers[why], strconv.Itoa(x.Order))
	}
	for i, why := range reasons {
		reasons[i] = unbroken(strings.Join(numbers[why], ", ")+": ") + why
	}
	at := block{indent: 5, hang: itemIndent}
	for n := len(reasons); n > 0; n-- {
		text := strings.Join(reasons[:n], "; ")
		if n < len(reasons) {
			text += "; " + p.g.ellipsis
		}
		if spans := []span{{dim, lead + "  "}, {plain, text}}; n == 1 || p.linesOf(at, spans) <= maxFolded {
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
