package report

import (
	"fmt"
	"slices"
	"strings"
)

// startWith shows the items that this run's evidence supports, best first: what to change, what to paste, and why this
// one. What it costs and how its values came about stand in the checklist.
func (p *page) startWith(in *Incident) {
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
	said := map[string]bool{}
	for n, x := range items {
		if n == maxStart {
			p.more(len(items)-n, "item, marked below", "items, marked below")
			break
		}
		p.para(block{indent: 4, hang: 7}, join([]span{{bold, fmt.Sprintf("%d. %s", n+1, x.Title)}}, p.only(x), freed(x))...)
		p.changes(x, 7, true)
		if len(x.Changes) == 0 && x.Detail != "" {
			p.para(block{indent: 7, hang: 7, lines: 3}, span{plain, x.Detail})
		}
		why := because(x)
		if said[why] && x.Why != "" {
			why = closed(sentence(x.Why))
		}
		said[why] = true
		p.para(block{indent: 7, hang: 7, lines: 2}, span{dim, p.near(why)})
	}
}

// patch shows what to start with as one block to paste, when that is more than the one line that stands there already.
func (p *page) patch(in *Incident) {
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

// checklist shows all items in the guide's order. What was said under "start with" is not said again.
func (p *page) checklist(in *Incident) {
	if len(in.Remedies) == 0 {
		return
	}
	var note []span
	if in.Checklist != "" {
		note = []span{{dim, "  " + in.Checklist}}
	}
	p.heading("Checklist", note...)
	shown := map[string]bool{}
	for i, x := range started(in) {
		shown[x.ID] = i < maxStart
	}
	p.key(in, shown)
	lists := map[string]bool{}
	for i := range in.Remedies {
		lists[in.Remedies[i].List] = true
	}
	list, urls := "", map[string]bool{}
	for i := range in.Remedies {
		x := &in.Remedies[i]
		if i == maxChecklist {
			p.more(len(in.Remedies)-i, "item", "items")
			break
		}
		if i == 0 || x.List != list {
			list = x.List
			if i > 0 {
				p.blank()
			}
			title := strings.Replace(list, ", ", ": ", 1) // the heading has the first list's, if it can
			if len(lists) > 1 && list != "" && (i > 0 || !strings.HasPrefix(in.Checklist, title)) {
				p.para(block{indent: 4, hang: 6}, span{plain, list})
			}
			p.url(x, urls, 4)
		}
		p.item(x, shown[x.ID])
		p.url(x, urls, itemIndent)
	}
}

// key explains the marks that the list has.
func (p *page) key(in *Incident, shown map[string]bool) {
	var star, plus, minus bool
	for i := range in.Remedies {
		x := &in.Remedies[i]
		switch {
		case ruledOut(x):
			minus = true
		case shown[x.ID]:
			star = true
		case x.Applies != nil:
			plus = true
		}
	}
	var parts [][]span
	for _, m := range []struct {
		on         bool
		ink        ink
		sign, text string
	}{
		{star, good, p.g.star, "start with (above)"},
		{plus, good, p.g.plus, "fits this run"},
		{minus, dim, p.g.minus, "does not apply: why"},
	} {
		if m.on {
			parts = append(parts, []span{{m.ink, m.sign}, {dim, " = " + m.text}})
		}
	}
	if len(parts) > 0 {
		p.para(block{indent: 4, hang: 4}, p.join(parts)...)
	}
}

func ruledOut(x *Remedy) bool { return x.Applies != nil && !*x.Applies }

// itemIndent is where the text of a checklist's item begins.
const itemIndent = 10

// item writes one item of the checklist. One that does not apply has one line.
func (p *page) item(x *Remedy, shown bool) {
	number := fmt.Sprintf("%c%2d%c%c", nbsp, x.Order, nbsp, nbsp)
	number = strings.ReplaceAll(number, " ", string(nbsp))
	at := block{indent: 4, hang: itemIndent}
	switch {
	case ruledOut(x):
		at.lines = 1
		p.para(at, span{dim, p.g.minus + number + x.Title + p.against(x.AppliesWhy)})
	case shown:
		p.para(at, join([]span{{good, p.g.star}, {plain, number + x.Title}}, section(x))...)
		p.longer(x, itemIndent)
		if how := computed(x); how != "" {
			p.para(block{indent: itemIndent, hang: itemIndent, lines: 3}, span{dim, how})
		}
		p.caution(x, itemIndent, 4)
	default:
		mark := span{plain, string(nbsp)}
		if x.Applies != nil {
			mark = span{good, p.g.plus}
		}
		p.para(at, join([]span{mark, {plain, number + x.Title}}, p.only(x), freed(x), section(x))...)
		p.changes(x, itemIndent, false)
		if len(x.Changes) == 0 && x.Detail != "" {
			p.para(block{indent: itemIndent, hang: itemIndent, lines: 2}, span{dim, x.Detail})
		}
		if x.Applies != nil && x.AppliesWhy != "" {
			p.para(block{indent: itemIndent, hang: itemIndent, lines: 1}, span{dim, closed(p.near(because(x)))})
		}
		p.caution(x, itemIndent, 2)
	}
}

// against says in few words why an item does not apply: settings by their last word, files by their short names.
func (p *page) against(why string) string {
	if why == "" {
		return ""
	}
	for _, filler := range []string{"it is ", "the "} {
		why = strings.TrimPrefix(why, filler)
	}
	return ": " + words(p.near(why), lastPart)
}

// section names the part of the guide that an item comes from.
func section(x *Remedy) []span {
	if x.Source.Section == "" {
		return nil
	}
	s := "[" + x.Source.Section + "]"
	if len(s) <= 40 {
		s = strings.ReplaceAll(s, " ", string(nbsp))
	}
	return []span{{dim, "  " + s}}
}

// freed is how much an item is expected to give back, and whether that is enough.
func freed(x *Remedy) []span {
	var out []span
	if x.Freed != nil && *x.Freed > 0 {
		out = []span{{plain, ", frees about "}, {good, size(*x.Freed)}}
	}
	switch {
	case x.Enough == nil:
	case *x.Enough:
		out = append(out, span{plain, ", "}, span{good, "enough" + string(nbsp) + "on" + string(nbsp) + "its" + string(nbsp) + "own"})
	default:
		out = append(out, span{plain, ", not enough on its own"})
	}
	return out
}

// caution is what an item costs or may break, in short.
func (p *page) caution(x *Remedy, indent, lines int) {
	if x.Caution != "" {
		p.para(block{indent: indent, hang: indent, lines: lines}, span{bold, "careful: "}, span{plain, x.Caution})
	}
}

// url names an item's source, once.
func (p *page) url(x *Remedy, seen map[string]bool, indent int) {
	if u := deref(x.Source.URL); u != "" && !seen[u] {
		seen[u] = true
		indent = max(0, min(indent, p.width-measure(u))) // an address in one piece can be clicked
		p.para(block{indent: indent, hang: indent, full: true, lines: 3}, span{dim, u})
	}
}

// join makes one paragraph of its parts.
func join(parts ...[]span) []span { return slices.Concat(parts...) }

// only is from what to what the value goes, when an item changes just one: then it stands beside the title, and what
// is to be pasted has a line of its own.
func (p *page) only(x *Remedy) []span {
	if len(x.Changes) != 1 || x.Changes[0].Snippet == "" && x.Changes[0].To == nil {
		return nil
	}
	if value := p.value(&x.Changes[0]); value != nil {
		return append([]span{{plain, ": "}}, value...)
	}
	return nil
}

// computed is the arithmetic behind an item's new values.
func computed(x *Remedy) string {
	var parts []string
	for i := range x.Changes {
		c := &x.Changes[i]
		if c.ComputedFrom == "" || c.To == nil || i >= maxChanges {
			continue
		}
		parts = append(parts, "why "+clip(*c.To)+": "+c.ComputedFrom)
	}
	return closed(strings.Join(parts, "; "))
}

// longer shows what is to be pasted where that takes more than the one line that stands under "start with".
func (p *page) longer(x *Remedy, indent int) {
	for i := range x.Changes {
		if lines := strings.Split(strings.TrimRight(x.Changes[i].Snippet, "\n"), "\n"); len(lines) > 1 && i < maxChanges {
			p.pasted(lines, indent)
		}
	}
}

// changes shows an item's settings: what to paste, and from what to what each value goes if there are several. In
// short, a snippet of several lines is named by its key.
func (p *page) changes(x *Remedy, indent int, short bool) {
	for i := range x.Changes {
		c := &x.Changes[i]
		if i == maxChanges {
			p.para(block{indent: indent, hang: indent}, span{dim, p.g.ellipsis})
			return
		}
		lines := strings.Split(strings.TrimRight(c.Snippet, "\n"), "\n")
		var value []span
		if v := p.value(c); v != nil && (len(x.Changes) > 1 || p.only(x) == nil) {
			value = append([]span{{plain, "  "}}, v...)
		}
		at := block{indent: indent, hang: indent + 2, full: true, lines: 4}
		switch {
		case c.Snippet == "":
			p.para(at, join([]span{{code, c.Key}}, value)...)
		case len(lines) == 1:
			p.para(at, join([]span{{code, c.Snippet}}, value)...)
		case short:
			p.para(at, join([]span{{code, c.Key}}, value)...)
		default:
			p.para(at, join([]span{{plain, c.Key}}, value)...)
			p.pasted(lines, indent+2)
		}
	}
}

// pasted writes the lines of a longer snippet with their own indentation.
func (p *page) pasted(lines []string, indent int) {
	for i, l := range lines {
		if i == maxChanges {
			p.para(block{indent: indent, hang: indent}, span{dim, p.g.ellipsis})
			return
		}
		text := strings.TrimLeft(l, " \t")
		in := indent + min(len(l)-len(text), 12)
		p.para(block{indent: in, hang: in + 2, full: true, lines: 4}, span{code, text})
	}
}

// value is from what to what a setting goes, or in which direction when the next value is not known; nothing when what
// is to be pasted says it all.
func (p *page) value(c *Change) []span {
	switch {
	case c.To != nil && c.From != nil:
		return []span{{dim, clip(*c.From) + string(nbsp) + p.g.arrow + string(nbsp)}, {good, clip(*c.To)}}
	case c.To != nil && c.Snippet != "":
		return nil
	case c.To != nil:
		return []span{{good, clip(*c.To)}}
	}
	verb := map[string]string{"up": "raise it", "down": "lower it", "set": "set it"}[c.Direction]
	switch {
	case verb == "" && c.From == nil:
		return nil
	case verb == "":
		return []span{{dim, "now" + string(nbsp) + clip(*c.From)}}
	case c.From == nil:
		return []span{{good, verb}}
	}
	return []span{{good, verb}, {dim, ", now" + string(nbsp) + clip(*c.From)}}
}

// clip bounds a value that a log wrote.
func clip(s string) string {
	const most = 80
	for i := range s {
		if i >= most {
			return s[:i] + "..."
		}
	}
	return s
}
