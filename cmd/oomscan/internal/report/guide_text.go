package report

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"oomscan/remedies"
)

// GuideText writes a guide for people. Where a phase or a resource was asked for, it writes the lists and what the
// guide says about just that; without, all of it.
func GuideText(w io.Writer, g *Guide, st Style) error {
	p := newPage(st)
	all := g.Phase == nil && g.Resource == nil
	writeGuideHead(p, g)
	about := func(phases []string) bool { return all || g.Phase != nil && slices.Contains(phases, *g.Phase) }
	writeSigns(p, g.Diagnosis)
	for i := range g.Lists {
		writeGuideList(p, &g.Lists[i])
	}
	if len(g.Lists) == 0 {
		p.blank()
		p.para(block{indent: 2, hang: 2}, span{plain, "The guide has no list for that."})
	}
	explained := kept(g.Parameters, func(x *remedies.Explained) bool { return about(x.Phases) })
	if len(explained) > 0 {
		p.heading("Parameters")
	}
	for i := range explained {
		x := &explained[i]
		p.para(block{indent: 4, hang: 6, full: true}, join([]span{{code, x.Key}}, inSection(x.Section))...)
		writeBody(p, 6, x.Meaning)
		writeBody(p, 6, x.Constraint)
		writeSpelled(p, x.Key, x.Spellings, 6)
		writeAddress(p, x.URL, 6)
		writeCorrected(p, x.Corrections, 6)
	}
	steps := kept(g.Steps, func(x *remedies.Step) bool { return about(x.Phases) })
	if len(steps) > 0 {
		p.heading("Finding out more")
	}
	for i := range steps {
		x := &steps[i]
		writePart(p, x.Title, x.Section, x.Detail, x.Snippet)
		writeCareful(p, x.Caution, 6)
		writeCorrected(p, x.Corrections, 6)
	}
	notes := kept(g.Notes, func(x *remedies.Note) bool { return about(x.Phases) })
	if all {
		writeWholeGuide(p, g)
	}
	if len(notes) > 0 {
		p.heading("Worth knowing")
	}
	for i := range notes {
		x := &notes[i]
		writePart(p, x.Title, x.Section, x.Text, x.Snippet)
		writeAddress(p, x.URL, 6)
		writeCorrected(p, x.Corrections, 6)
	}
	if !all && len(g.Templates)+len(g.Steps)+len(g.Notes)+len(g.Messages) > 0 {
		p.blank()
		p.para(block{indent: 2, hang: 4}, span{dim, "The whole guide, with its debugging steps, templates and tables: "}, span{code, "oomscan guide " + g.Guide.ID})
	}
	_, err := w.Write(p.buf.Bytes())
	return err
}

// writeWholeGuide writes the parts that belong to no phase.
func writeWholeGuide(p *page, g *Guide) {
	if len(g.Templates) > 0 {
		p.heading("Templates")
	}
	for i := range g.Templates {
		x := &g.Templates[i]
		writePart(p, x.Title, x.Section, x.Detail, x.Snippet)
		writeCorrected(p, x.Corrections, 6)
	}
	if len(g.Messages) > 0 {
		p.heading("Messages")
	}
	for i := range g.Messages {
		x := &g.Messages[i]
		p.para(block{indent: 4, hang: 6, full: true}, span{code, x.Text}, span{dim, "  " + x.Kind})
		writeBody(p, 6, x.Means)
		writeBody(p, 6, x.Do)
		writeCorrected(p, x.Corrections, 6)
	}
	if len(g.Goals) > 0 {
		p.heading("In short")
	}
	for _, x := range g.Goals {
		p.para(block{indent: 4, hang: 6}, span{plain, x.Goal})
		p.para(block{indent: 6, hang: 8, full: true}, span{code, x.Use})
	}
	if len(g.Compared) > 0 {
		p.heading("Before and after")
	}
	for _, x := range g.Compared {
		p.para(block{indent: 4, hang: 6, full: true}, span{code, x.Key}, span{plain, "  "}, span{dim, x.Before + string(nbsp) + p.g.arrow + string(nbsp)},
			span{good, x.After})
		writeBody(p, 6, x.Effect)
	}
}

// writeGuideHead says what document it is.
func writeGuideHead(p *page, g *Guide) {
	kind := "list made of official documents"
	if g.Guide.Document {
		kind = "guide"
	}
	p.para(block{indent: 1, hang: 2}, span{badgeCalm, " " + g.Guide.ID + " "}, span{bold, "  " + g.Guide.Title}, span{dim, "  " + kind})
	var asked []string
	for _, s := range []*string{g.Phase, g.Resource} {
		if s != nil {
			asked = append(asked, *s)
		}
	}
	if len(asked) > 0 {
		p.row("only", span{plain, strings.Join(asked, ", ")})
	}
	if g.Guide.Date != nil {
		p.row("dated", span{plain, *g.Guide.Date})
	}
	p.row("for", span{plain, g.Guide.Name})
	p.row("checked", span{plain, g.Guide.SeenIn})
	writeAddress(p, deref(g.Guide.URL), 2)
	writeBody(p, 2, g.Guide.Note)
}

// writeSigns are the rows of the diagnosis.
func writeSigns(p *page, list []remedies.Sign) {
	if len(list) == 0 {
		return
	}
	p.heading("Which one is it?")
	for i := range list {
		x := &list[i]
		p.para(block{indent: 4, hang: 6}, join([]span{{bold, x.Where}}, inSection(x.Section))...)
		writeLabelled(p, "seen as", x.Symptom)
		writeLabelled(p, "mostly", x.Cause)
		writeLabelled(p, "first", x.First)
	}
}

// writeLabelled is a text behind a faint word.
func writeLabelled(p *page, word, text string) {
	if text != "" {
		p.para(block{indent: 6, hang: 8}, span{dim, word + " "}, span{plain, text})
	}
}

// writeGuideList writes a checklist.
func writeGuideList(p *page, l *GuideList) {
	var note []span
	if l.General {
		note = []span{{dim, "  for all phases"}}
	}
	p.heading(l.Heading, note...)
	for i := range l.Items {
		writeGuideItem(p, &l.Items[i])
	}
}

// writeGuideItem writes one item in full.
func writeGuideItem(p *page, x *GuideItem) {
	number := pad("", 2-len(strconv.Itoa(x.Order))) + strconv.Itoa(x.Order) + string(nbsp) + string(nbsp)
	var marks []span
	if x.LastResort {
		marks = append(marks, span{dim, "  last resort"})
	}
	if x.Addition {
		marks = append(marks, span{dim, "  not in the document"})
	}
	const indent = 8
	p.para(block{indent: 4, hang: indent}, join([]span{{plain, number}, {bold, x.Title}}, marks, inSection(x.Source.Section))...)
	if x.Applies != nil && !*x.Applies {
		p.para(block{indent: indent, hang: indent + 2}, span{good, "already so or ruled out: "}, span{plain, closed(x.AppliesWhy)})
	}
	writeSnippet(p, x.Snippet, indent)
	if x.Snippet == "" {
		for i := range x.Parameters {
			c := Change{Key: x.Parameters[i].Key, Direction: x.Parameters[i].Direction}
			p.para(block{indent: indent, hang: indent + 2, full: true}, join([]span{{code, c.Key}, {plain, "  "}}, value(p.g, &c))...)
		}
	}
	for i := range x.Changes {
		if c := &x.Changes[i]; c.ComputedFrom != "" && c.To != nil {
			p.para(block{indent: indent, hang: indent + 2}, span{dim, closed("why " + clip(*c.To) + ": " + c.ComputedFrom)})
		}
	}
	for i := range x.Parameters {
		writeBounds(p, &x.Parameters[i], len(x.Parameters) > 1, indent)
		writeSpelled(p, x.Parameters[i].Key, x.Parameters[i].Spellings, indent)
	}
	writeBody(p, indent, x.Detail)
	writeBody(p, indent, x.Why)
	writeNeeds(p, x.Needs, indent)
	writeCareful(p, x.Caution, indent)
	writeCorrected(p, x.Corrections, indent)
}

// writeNeeds says what must be so for an item to help, and then what must not.
func writeNeeds(p *page, list []string, indent int) {
	var wanted, unwanted []string
	for _, n := range list {
		if strings.HasPrefix(n, "not ") || strings.HasPrefix(n, "never ") {
			unwanted = append(unwanted, n)
		} else {
			wanted = append(wanted, n)
		}
	}
	if len(wanted) > 0 {
		p.para(block{indent: indent, hang: indent + 2}, span{dim, "needs "}, span{plain, strings.Join(wanted, "; ")})
	}
	if len(unwanted) > 0 {
		p.para(block{indent: indent, hang: indent + 2}, span{plain, strings.Join(unwanted, "; ")})
	}
}

// writeBounds are a parameter's default and limits.
func writeBounds(p *page, x *GuideParameter, name bool, indent int) {
	var parts [][]span
	for _, b := range []struct {
		word string
		v    *string
	}{{"default", x.Default}, {"at least", x.Min}, {"at most", x.Max}} {
		if b.v != nil {
			parts = append(parts, []span{{dim, b.word + " "}, {plain, *b.v}})
		}
	}
	if len(parts) == 0 {
		return
	}
	line := p.g.join(parts)
	if name {
		line = append([]span{{dim, x.Key + ": "}}, line...)
	}
	p.para(block{indent: indent, hang: indent + 2, full: true}, line...)
}

// writeSpelled are a parameter's other names.
func writeSpelled(p *page, key string, list []remedies.Spelling, indent int) {
	var parts [][]span
	for _, s := range list {
		if s.Key == key && s.Versions == "" {
			continue
		}
		name := []span{{plain, s.Key}}
		switch {
		case s.Versions != "" && s.Surface != "":
			name = append(name, span{dim, " (" + s.Surface + ", " + s.Versions + ")"})
		case s.Versions != "":
			name = append(name, span{dim, " (" + s.Versions + ")"})
		case s.Surface != "":
			name = append(name, span{dim, " (" + s.Surface + ")"})
		}
		parts = append(parts, name)
	}
	if len(parts) > 0 {
		p.para(block{indent: indent, hang: indent + 2, full: true}, append([]span{{dim, "also written "}}, p.g.join(parts)...)...)
	}
}

// writePart is a titled text with something to paste.
func writePart(p *page, title, section, text, pasted string) {
	p.para(block{indent: 4, hang: 6}, join([]span{{bold, title}}, inSection(section))...)
	writeBody(p, 6, text)
	writeSnippet(p, pasted, 6)
}

// writeSnippet writes what is to be pasted, line by line.
func writeSnippet(p *page, s string, indent int) {
	if s == "" {
		return
	}
	for l := range strings.Lines(strings.TrimRight(s, "\n")) {
		text := strings.TrimLeft(l, " ")
		in := indent + min(len(l)-len(text), 24)
		p.para(block{indent: in, hang: in + 2, full: true}, span{code, text})
	}
}

func writeBody(p *page, indent int, text string) {
	if text != "" {
		p.para(block{indent: indent, hang: indent}, span{plain, text})
	}
}

func writeCareful(p *page, text string, indent int) {
	if text != "" {
		p.para(block{indent: indent, hang: indent + 2}, span{bold, "careful: "}, span{plain, text})
	}
}

// writeCorrected says where the document is wrong.
func writeCorrected(p *page, list []remedies.Correction, indent int) {
	for _, c := range list {
		text := "the document says " + strings.TrimSuffix(c.Says, ".") + "; in fact " + strings.TrimSuffix(c.Is, ".")
		if c.Versions != "" {
			text += " (" + c.Versions + ")"
		}
		p.para(block{indent: indent, hang: indent + 2}, span{short, "corrected: "}, span{plain, text + "."}, span{dim, " [" + c.ID + "]"})
	}
}

// writeAddress is a link on a line of its own.
func writeAddress(p *page, u string, indent int) {
	if u != "" {
		p.para(block{indent: indent, hang: indent, full: true}, span{dim, u})
	}
}

// inSection names the document's section.
func inSection(s string) []span {
	if s == "" {
		return nil
	}
	return []span{{dim, "  [" + s + "]"}}
}

func kept[T any](list []T, pass func(*T) bool) []T {
	var out []T
	for i := range list {
		if pass(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}
