package report

import (
	"fmt"
	"slices"
	"strings"
)

// startWith shows the items that this run's evidence supports, best first, with what to paste.
func (p *page) startWith(in *Incident) {
	items := started(in)
	if len(items) == 0 {
		return
	}
	p.heading("Start with")
	for n, x := range items {
		if n == maxStart {
			p.more(len(items)-n, "item, marked below", "items, marked below")
			break
		}
		p.para(block{indent: 4, hang: 7}, join([]span{{bold, fmt.Sprintf("%d. %s", n+1, x.Title)}}, p.only(x), freed(x))...)
		p.changes(x, 7)
		if len(x.Changes) == 0 && x.Detail != "" {
			p.para(block{indent: 7, hang: 7, lines: 4}, span{plain, x.Detail})
		}
		why := x.AppliesWhy
		if why == "" {
			why = x.Why
		}
		if why = strings.TrimSpace(computed(x) + " " + sentence(why)); why != "" {
			p.para(block{indent: 7, hang: 7, lines: 3}, span{dim, why})
		}
		p.caution(x, 7)
	}
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
			if len(lists) > 1 && list != "" {
				p.para(block{indent: 4, hang: 6}, span{plain, list})
			}
			p.url(x, urls, 4)
		}
		p.item(x, shown[x.ID])
		p.url(x, urls, itemIndent)
	}
}

// itemIndent is where the text of a checklist's item begins.
const itemIndent = 10

// item writes one item of the checklist.
func (p *page) item(x *Remedy, shown bool) {
	number := fmt.Sprintf("%c%2d%c%c", nbsp, x.Order, nbsp, nbsp)
	number = strings.ReplaceAll(number, " ", string(nbsp))
	at := block{indent: 4, hang: itemIndent}
	switch {
	case x.Applies != nil && !*x.Applies:
		p.para(at, span{dim, p.g.minus + number + x.Title + reason(x.AppliesWhy)})
	case shown:
		p.para(at, join([]span{{good, p.g.star}, {plain, number + x.Title}, {dim, "  (see above)"}}, section(x))...)
	default:
		mark := span{plain, string(nbsp)}
		if x.Applies != nil {
			mark = span{good, p.g.plus}
		}
		p.para(at, join([]span{mark, {plain, number + x.Title}}, p.only(x), freed(x), section(x))...)
		p.changes(x, itemIndent)
		if len(x.Changes) == 0 && x.Detail != "" {
			p.para(block{indent: itemIndent, hang: itemIndent, lines: 2}, span{dim, x.Detail})
		}
		if x.Applies != nil && x.AppliesWhy != "" {
			p.para(block{indent: itemIndent, hang: itemIndent, lines: 2}, span{dim, sentence(x.AppliesWhy)})
		}
		p.caution(x, itemIndent)
	}
}

// reason says why an item is greyed.
func reason(why string) string {
	switch {
	case why == "":
		return ": does not apply here"
	case strings.HasPrefix(strings.ToLower(why), "already"):
		return ": " + why
	}
	return ": does not apply, " + why
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

// freed is how much an item is expected to give back.
func freed(x *Remedy) []span {
	if x.Freed == nil || *x.Freed <= 0 {
		return nil
	}
	return []span{{plain, ", frees about "}, {good, size(*x.Freed)}}
}

// caution is what an item costs or may break, in short.
func (p *page) caution(x *Remedy, indent int) {
	if x.Caution != "" {
		p.para(block{indent: indent, hang: indent, lines: 2}, span{bold, "careful: "}, span{plain, x.Caution})
	}
}

// url names an item's source, once.
func (p *page) url(x *Remedy, seen map[string]bool, indent int) {
	if u := deref(x.Source.URL); u != "" && !seen[u] {
		seen[u] = true
		p.para(block{indent: indent, hang: indent, full: true, lines: 3}, span{dim, u})
	}
}

// join makes one paragraph of its parts.
func join(parts ...[]span) []span { return slices.Concat(parts...) }

// only is from what to what the value goes, when an item changes just one: then it stands beside the title, and what
// is to be pasted has a line of its own.
func (p *page) only(x *Remedy) []span {
	if len(x.Changes) != 1 {
		return nil
	}
	c, lead := &x.Changes[0], ": "
	if c.To != nil && c.From == nil && c.Snippet != "" {
		lead = "  "
	}
	value := p.value(c)
	return append([]span{{plain, lead}}, value...)
}

// computed is the arithmetic behind an item's new values.
func computed(x *Remedy) string {
	var parts []string
	for i := range x.Changes {
		if s := x.Changes[i].ComputedFrom; s != "" && i < maxChanges {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return sentence(strings.Join(parts, "; ")) + "."
}

// changes shows an item's settings: what to paste, and from what to what each value goes if there are several.
func (p *page) changes(x *Remedy, indent int) {
	for i := range x.Changes {
		c := &x.Changes[i]
		if i == maxChanges {
			p.para(block{indent: indent, hang: indent}, span{dim, p.g.ellipsis})
			return
		}
		lines := strings.Split(strings.TrimRight(c.Snippet, "\n"), "\n")
		var value []span
		if len(x.Changes) > 1 {
			value = append([]span{{plain, "  "}}, p.value(c)...)
		}
		at := block{indent: indent, hang: indent + 2, full: true, lines: 4}
		switch {
		case c.Snippet == "":
			p.para(at, join([]span{{code, c.Key}}, value)...)
		case len(lines) == 1:
			p.para(at, join([]span{{code, c.Snippet}}, value)...)
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

// value is from what to what a setting goes, or in which direction when the next value is not known.
func (p *page) value(c *Change) []span {
	from := "now" + string(nbsp) + "unknown"
	if c.From != nil {
		from = clip(*c.From)
	}
	switch {
	case c.To != nil && c.From == nil && c.Snippet != "":
		return []span{{dim, "(" + from + ")"}} // the snippet tells the rest
	case c.To != nil:
		return []span{{dim, from + string(nbsp) + p.g.arrow + string(nbsp)}, {good, clip(*c.To)}}
	}
	verb := map[string]string{"up": "raise it", "down": "lower it", "set": "set it"}[c.Direction]
	if verb == "" {
		return []span{{dim, from}}
	}
	return []span{{dim, from + ", "}, {good, verb}}
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
