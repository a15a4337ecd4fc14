package report

import (
	"fmt"
	"slices"
	"strings"
)

// writeChecklist shows all items in the guide's order. What was said under "start with" is not said again.
func writeChecklist(p *page, in *Incident) {
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
	writeKey(p, in, shown)
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
			writeURL(p, x, urls, 4)
		}
		writeItem(p, x, shown[x.ID])
		writeURL(p, x, urls, itemIndent)
	}
}

// writeKey explains the marks that the list has.
func writeKey(p *page, in *Incident, shown map[string]bool) {
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
		p.para(block{indent: 4, hang: 4}, p.g.join(parts)...)
	}
}

func ruledOut(x *Remedy) bool { return x.Applies != nil && !*x.Applies }

// itemIndent is where the text of a checklist's item begins.
const itemIndent = 10

// writeItem writes one item of the checklist. One that does not apply has one line.
func writeItem(p *page, x *Remedy, shown bool) {
	number := fmt.Sprintf("%c%2d%c%c", nbsp, x.Order, nbsp, nbsp)
	number = unbroken(number)
	at := block{indent: 4, hang: itemIndent}
	switch {
	case ruledOut(x):
		at.lines = 1
		p.para(at, span{dim, p.g.minus + number + x.Title + against(p, x.AppliesWhy)})
	case shown:
		p.para(at, join([]span{{good, p.g.star}, {plain, number + x.Title}}, sectionOf(x))...)
		writeLonger(p, x, itemIndent)
		if how := computed(x); how != "" {
			p.para(block{indent: itemIndent, hang: itemIndent, lines: 3}, span{dim, how})
		}
		writeCaution(p, x, itemIndent, 4)
	default:
		mark := span{plain, string(nbsp)}
		if x.Applies != nil {
			mark = span{good, p.g.plus}
		}
		p.para(at, join([]span{mark, {plain, number + x.Title}}, onlyValue(p.g, x), freed(x), sectionOf(x))...)
		writeChanges(p, x, itemIndent, false)
		if len(x.Changes) == 0 && x.Detail != "" {
			p.para(block{indent: itemIndent, hang: itemIndent, lines: 2}, span{dim, x.Detail})
		}
		if x.Applies != nil && x.AppliesWhy != "" {
			p.para(block{indent: itemIndent, hang: itemIndent, lines: 1}, span{dim, closed(because(x))})
		}
		writeCaution(p, x, itemIndent, 2)
	}
}

// against says in few words why an item does not apply: settings by their last word, files by their short names.
func against(p *page, why string) string {
	if why == "" {
		return ""
	}
	for _, filler := range []string{"it is ", "the "} {
		why = strings.TrimPrefix(why, filler)
	}
	return ": " + words(why, lastPart)
}

// sectionOf names the part of the guide that an item comes from.
func sectionOf(x *Remedy) []span {
	if x.Source.Section == "" {
		return nil
	}
	s := "[" + x.Source.Section + "]"
	if len(s) <= 40 {
		s = unbroken(s)
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

// writeCaution is what an item costs or may break, in short.
func writeCaution(p *page, x *Remedy, indent, lines int) {
	if x.Caution != "" {
		p.para(block{indent: indent, hang: indent, lines: lines}, span{bold, "careful: "}, span{plain, x.Caution})
	}
}

// writeURL names an item's source, once.
func writeURL(p *page, x *Remedy, seen map[string]bool, indent int) {
	if u := deref(x.Source.URL); u != "" && !seen[u] {
		seen[u] = true
		indent = max(0, min(indent, p.width-measure(u))) // an address in one piece can be clicked
		p.para(block{indent: indent, hang: indent, full: true, lines: 3}, span{dim, u})
	}
}

// join makes one paragraph of its parts.
func join(parts ...[]span) []span { return slices.Concat(parts...) }

// onlyValue is from what to what the value goes, when an item changes just one: then it stands beside the title, and what
// is to be pasted has a line of its own.
func onlyValue(g *glyphs, x *Remedy) []span {
	if len(x.Changes) != 1 || x.Changes[0].Snippet == "" && x.Changes[0].To == nil {
		return nil
	}
	if v := value(g, &x.Changes[0]); v != nil {
		return append([]span{{plain, ": "}}, v...)
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

// writeLonger shows what is to be pasted where that takes more than the one line that stands under "start with".
func writeLonger(p *page, x *Remedy, indent int) {
	for i := range x.Changes {
		if lines := strings.Split(strings.TrimRight(x.Changes[i].Snippet, "\n"), "\n"); len(lines) > 1 && i < maxChanges {
			writePasted(p, lines, indent)
		}
	}
}

// writeChanges shows an item's settings: what to paste, and from what to what each value goes if there are several. In
// short, a snippet of several lines is named by its key.
func writeChanges(p *page, x *Remedy, indent int, short bool) {
	for i := range x.Changes {
		c := &x.Changes[i]
		if i == maxChanges {
			p.para(block{indent: indent, hang: indent}, span{dim, p.g.ellipsis})
			return
		}
		lines := strings.Split(strings.TrimRight(c.Snippet, "\n"), "\n")
		var goes []span
		if v := value(p.g, c); v != nil && (len(x.Changes) > 1 || onlyValue(p.g, x) == nil) {
			goes = append([]span{{plain, "  "}}, v...)
		}
		at := block{indent: indent, hang: indent + 2, full: true, lines: 4}
		switch {
		case c.Snippet == "":
			p.para(at, join([]span{{code, c.Key}}, goes)...)
		case len(lines) == 1:
			p.para(at, join([]span{{code, c.Snippet}}, goes)...)
		case short:
			p.para(at, join([]span{{code, c.Key}}, goes)...)
		default:
			p.para(at, join([]span{{plain, c.Key}}, goes)...)
			writePasted(p, lines, indent+2)
		}
	}
}

// writePasted writes the lines of a longer snippet with their own indentation.
func writePasted(p *page, lines []string, indent int) {
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
func value(g *glyphs, c *Change) []span {
	switch {
	case c.To != nil && c.From != nil:
		return []span{{dim, clip(*c.From) + string(nbsp) + g.arrow + string(nbsp)}, {good, clip(*c.To)}}
	case c.To != nil && c.Snippet != "":
		return nil
	case c.To != nil:
		return []span{{good, clip(*c.To)}}
	}
	verb := verbs[c.Direction]
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

// verbs say in which direction a setting goes.
var verbs = map[string]string{"up": "raise it", "down": "lower it", "set": "set it"}

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
