package report

import (
	"io"
	"slices"
	"strings"

	"oomscan/remedies"
)

// GuidePage is what the guide command shows: a guide, the list of all, or what a search found. Text and Markdown are laid
// out from its sections.
type GuidePage struct {
	document any // for JSON
	head     *Guide
	sections []section
	closing  []line
}

// section is a titled list of entries.
type section struct {
	title, note string
	entries     []entry
}

// entry is a title, or a name in the place of one, and what is said about it.
type entry struct {
	number int // in its list; 0: none
	title  string
	code   string
	notes  []string // beside the title
	lines  []line
}

// line is a text behind its label, if it has one, or something to paste.
type line struct {
	label, text string
	syntax      string // of what is to be pasted
	kind        lineKind
}

type lineKind uint8

const (
	prose lineKind = iota
	warning
	pasted
	link
)

// GuideFormats are the words of the guide command's --format.
func GuideFormats() map[string]func(io.Writer, *GuidePage, Style) error {
	return map[string]func(io.Writer, *GuidePage, Style) error{"text": guideText, "json": guideJSON, "markdown": guideMarkdown}
}

func guideJSON(w io.Writer, g *GuidePage, _ Style) error {
	return writeJSON(w, withoutNil(g.document), "  ")
}

// Page returns what is shown of a guide: where a phase or a resource was asked for, the lists and what the guide says about
// just that, else all of it.
func (g *Guide) Page() *GuidePage {
	all := g.Phase == nil && g.Resource == nil
	about := func(phases []string) bool { return all || g.Phase != nil && slices.Contains(phases, *g.Phase) }
	page := &GuidePage{document: *g, head: g}
	add := func(title string, entries []entry) {
		if len(entries) > 0 {
			page.sections = append(page.sections, section{title: title, entries: entries})
		}
	}
	add(wordWhichOne, entries(g.Diagnosis, func(x *remedies.Sign) entry {
		return entry{title: x.Where, notes: inSection(x.Section), lines: []line{
			{label: labelSymptom, text: x.Symptom}, {label: labelUsual, text: x.Cause}, {label: labelFirst, text: x.First},
		}}
	}))
	for i := range g.Lists {
		l := &g.Lists[i]
		s := section{title: l.Heading, entries: entries(l.Items, guideEntry)}
		if l.General {
			s.note = wordAllPhases
		}
		page.sections = append(page.sections, s)
	}
	if len(g.Lists) == 0 {
		add(wordLists, []entry{{title: wordNoList}})
	}
	add(wordParameters, entries(kept(g.Parameters, func(x *remedies.Explained) bool { return about(x.Phases) }), func(x *remedies.Explained) entry {
		return entry{code: x.Key, notes: inSection(x.Section), lines: slices.Concat(
			[]line{{text: x.Meaning}, {text: x.Constraint}, spelled(x.Key, x.Spellings), {text: x.URL, kind: link}}, corrected(x.Corrections))}
	}))
	add(wordDebugging, entries(kept(g.Steps, func(x *remedies.Step) bool { return about(x.Phases) }), func(x *remedies.Step) entry {
		return entry{title: x.Title, notes: inSection(x.Section), lines: slices.Concat(
			[]line{{text: x.Detail}, {text: x.Snippet, syntax: x.Syntax, kind: pasted}, careful(x.Caution)}, corrected(x.Corrections))}
	}))
	if all {
		g.wholeGuide(add)
	}
	add(wordKnowing, entries(kept(g.Notes, func(x *remedies.Note) bool { return about(x.Phases) }), func(x *remedies.Note) entry {
		return entry{title: x.Title, notes: inSection(x.Section), lines: slices.Concat(
			[]line{{text: x.Text}, {text: x.Snippet, syntax: x.Syntax, kind: pasted}, {text: x.URL, kind: link}}, corrected(x.Corrections))}
	}))
	if !all && len(g.Templates)+len(g.Steps)+len(g.Notes)+len(g.Messages) > 0 {
		page.closing = []line{{label: labelWhole, text: commandGuide + g.Guide.ID}}
	}
	return page
}

// wholeGuide adds the sections that belong to no phase.
func (g *Guide) wholeGuide(add func(title string, entries []entry)) {
	add(wordTemplates, entries(g.Templates, func(x *remedies.Template) entry {
		return entry{title: x.Title, notes: inSection(x.Section), lines: slices.Concat(
			[]line{{text: x.Detail}, {text: x.Snippet, syntax: x.Syntax, kind: pasted}}, corrected(x.Corrections))}
	}))
	add(wordMessages, entries(g.Messages, func(x *remedies.Message) entry {
		return entry{code: x.Text, notes: []string{x.Kind}, lines: slices.Concat([]line{{text: x.Means}, {text: x.Do}}, corrected(x.Corrections))}
	}))
	add(wordInShort, entries(g.Goals, func(x *remedies.Goal) entry {
		return entry{title: x.Goal, lines: []line{{text: x.Use, kind: pasted}}}
	}))
	add(wordCompared, entries(g.Compared, func(x *remedies.Compared) entry {
		return entry{code: x.Key, notes: []string{x.Before + " -> " + x.After}, lines: []line{{text: x.Effect}}}
	}))
}

// guideEntry is an item of a checklist in full.
func guideEntry(x *GuideItem) entry {
	e := entry{number: x.Order, title: x.Title}
	if x.LastResort {
		e.notes = append(e.notes, wordLastResort)
	}
	if x.Addition {
		e.notes = append(e.notes, wordNotInGuide)
	}
	e.notes = append(e.notes, inSection(x.Source.Section)...)
	if x.Applies != nil && !*x.Applies {
		e.lines = append(e.lines, line{label: labelNotHere, text: closed(x.AppliesWhy)})
	}
	e.lines = append(e.lines, line{text: x.Snippet, syntax: x.Syntax, kind: pasted})
	for i := range x.Changes {
		if c := &x.Changes[i]; c.ComputedFrom != "" && c.To != nil {
			e.lines = append(e.lines, line{label: "why " + clip(*c.To) + ":", text: closed(c.ComputedFrom)})
		}
	}
	for i := range x.Parameters {
		p := &x.Parameters[i]
		if x.Snippet == "" {
			e.lines = append(e.lines, line{text: strings.TrimSpace(p.Key + "  " + verbs[p.Direction]), kind: pasted})
		}
		e.lines = append(e.lines, bounds(p, len(x.Parameters) > 1), spelled(p.Key, p.Spellings))
	}
	without := func(s *string) bool { return strings.HasPrefix(*s, "not ") || strings.HasPrefix(*s, "never ") }
	needs := kept(x.Needs, func(s *string) bool { return !without(s) })
	e.lines = append(e.lines, line{text: x.Detail}, line{text: x.Why}, line{label: labelNeeds, text: strings.Join(needs, "; ")},
		line{text: strings.Join(kept(x.Needs, without), "; ")}, careful(x.Caution))
	e.lines = append(e.lines, corrected(x.Corrections)...)
	return e
}

// bounds are a parameter's default and limits.
func bounds(x *GuideParameter, named bool) line {
	var parts []string
	for _, b := range []struct {
		word string
		v    *string
	}{{"default", x.Default}, {labelAtLeast, x.Min}, {labelAtMost, x.Max}} {
		if b.v != nil {
			parts = append(parts, b.word+" "+*b.v)
		}
	}
	l := line{text: strings.Join(parts, ", ")}
	if named {
		l.label = x.Key + ":"
	}
	return l
}

// spelled are a parameter's other names.
func spelled(key string, list []remedies.Spelling) line {
	var names []string
	for _, s := range list {
		if s.Key == key && s.Versions == "" {
			continue
		}
		name := s.Key
		if about := strings.Join(kept([]string{s.Surface, s.Versions}, known), ", "); about != "" {
			name += " (" + about + ")"
		}
		names = append(names, name)
	}
	return line{label: labelSpelled, text: strings.Join(names, ", ")}
}

func careful(text string) line { return line{label: labelCareful, text: text, kind: warning} }

// corrected says where the document is wrong.
func corrected(list []remedies.Correction) []line {
	var out []line
	for i := range list {
		out = append(out, line{label: labelCorrect, text: correctedText(&list[i]), kind: warning})
	}
	return out
}

func inSection(s string) []string {
	if s == "" {
		return nil
	}
	return []string{"[" + s + "]"}
}

func entries[T any](list []T, of func(*T) entry) []entry {
	out := make([]entry, len(list))
	for i := range list {
		out[i] = of(&list[i])
	}
	return out
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

func known(s *string) bool { return *s != "" }

// guideIndex is the JSON of all guides' heads.
type guideIndex struct {
	Schema string      `json:"schema"`
	Guides []GuideHead `json:"guides"`
}

// guideSearch is the JSON of what a search found.
type guideSearch struct {
	Schema string      `json:"schema"`
	Search string      `json:"search"`
	Hits   []SearchHit `json:"hits"`
}

// GuideIndex returns what guides there are: the documents first, then the lists made of official documents.
func GuideIndex(gs []remedies.Guide) *GuidePage {
	heads := make([]GuideHead, len(gs))
	sections := []section{{title: wordGuides}, {title: wordShortLists}}
	for i := range gs {
		g := &gs[i]
		heads[i] = headOf(g)
		s := &sections[1]
		if g.Document {
			s = &sections[0]
		}
		s.entries = append(s.entries, entry{code: g.ID, notes: kept([]string{g.Title, covers(g)}, known)})
	}
	return &GuidePage{sections: sections, document: guideIndex{guidesSchema, heads}, closing: []line{
		{label: labelOneGuide, text: exampleGuide}, {label: labelSearch, text: exampleSearch},
	}}
}

// covers are the phases and memories that a guide has lists for.
func covers(g *remedies.Guide) string {
	var out []string
	for i := range g.Lists {
		out = append(out, g.Lists[i].Phases...)
	}
	for i := range g.Lists {
		out = append(out, kept(g.Lists[i].Resources, func(s *string) bool { return *s != "gpu" })...)
	}
	seen := map[string]bool{}
	return strings.Join(slices.DeleteFunc(out, func(s string) bool { again := seen[s]; seen[s] = true; return again }), ", ")
}

// SearchHit is a place that a search found.
type SearchHit struct {
	Guide string   `json:"guide"`
	Key   *string  `json:"key"`   // the parameter's name today; null when only words matched
	Names []string `json:"names"` // the spellings that matched
	Item  *string  `json:"item"`  // its id; null when the guide only explains the parameter
	Title string   `json:"title"`
	Value *string  `json:"value"` // the guide's own
	Lists []string `json:"lists"`
}

// GuideSearch returns what a search found.
func GuideSearch(word string, hits []remedies.Hit) *GuidePage {
	found := make([]SearchHit, 0, len(hits))
	var sections []section
	for _, h := range hits {
		x := SearchHit{Guide: h.Guide.ID, Key: str(h.Key), Names: h.Names, Value: str(h.Value), Lists: h.Lists}
		if h.Item != nil {
			x.Item, x.Title = &h.Item.ID, h.Item.Title
		} else if h.Info != nil {
			x.Title = h.Info.Meaning
		}
		found = append(found, x)
		if n := len(sections); n == 0 || sections[n-1].title != x.Guide {
			sections = append(sections, section{title: x.Guide})
		}
		s := &sections[len(sections)-1]
		lists := line{text: x.Title + "  " + strings.Join(x.Lists, "; ")}
		switch {
		case x.Key == nil:
			s.entries = append(s.entries, entry{title: x.Title, notes: []string{strings.Join(x.Lists, "; ")}})
		case x.Value != nil:
			s.entries = append(s.entries, entry{code: strings.Join(x.Names, ", "), notes: []string{"-> " + *x.Value}, lines: []line{lists}})
		default:
			s.entries = append(s.entries, entry{code: strings.Join(x.Names, ", "), lines: []line{lists}})
		}
	}
	page := &GuidePage{sections: sections, document: guideSearch{searchSchema, word, found}}
	if len(found) == 0 {
		page.closing = []line{{text: wordNothingFound}}
	}
	return page
}
