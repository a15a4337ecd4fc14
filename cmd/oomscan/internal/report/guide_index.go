package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"oomscan/remedies"
)

// GuideIndex writes what guides there are: the documents first, then the lists made of official documents.
func GuideIndex(w io.Writer, gs []remedies.Guide, format string, st Style) error {
	if format == "json" {
		heads := make([]GuideHead, 0, len(gs))
		for i := range gs {
			heads = append(heads, headOf(&gs[i]))
		}
		return indented(w, struct {
			Schema string      `json:"schema"`
			Guides []GuideHead `json:"guides"`
		}{"oomscan.guides/v1", heads})
	}
	p := newPage(st)
	var m markdown
	for _, part := range []struct {
		documents bool
		title     string
	}{{true, "Guides"}, {false, "Short lists, made of official documents"}} {
		p.heading(part.title)
		m.f("## %s\n\n", part.title)
		for i := range gs {
			g := &gs[i]
			if g.Document != part.documents {
				continue
			}
			p.para(block{indent: 4, hang: 20}, span{code, pad(g.ID, 16)}, span{plain, g.Title}, span{dim, "  " + covers(g)})
			m.f("- %s %s (%s)\n", ticked(g.ID), md(g.Title), md(covers(g)))
		}
		m.f("\n")
	}
	p.blank()
	p.para(block{indent: 2, hang: 4}, span{dim, "One of them: "}, span{code, "oomscan guide verl --phase backward"},
		span{dim, "   a parameter in all of them: "}, span{code, "oomscan guide --search mem_fraction"})
	out := p.buf.Bytes()
	if format == "markdown" {
		out = m.Bytes()
	}
	_, err := w.Write(out)
	return err
}

func headOf(g *remedies.Guide) GuideHead {
	return GuideHead{g.ID, g.Name, g.Title, str(g.Date), str(g.URL), g.Framework, g.Document, g.Note, g.Seen}
}

// covers are the phases and memories that a guide has lists for.
func covers(g *remedies.Guide) string {
	var out []string
	seen := map[string]bool{}
	add := func(s string) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	for i := range g.Lists {
		for _, ph := range g.Lists[i].Phases {
			add(ph)
		}
	}
	for i := range g.Lists {
		for _, res := range g.Lists[i].Resources {
			if res != "gpu" {
				add(res)
			}
		}
	}
	return strings.Join(out, ", ")
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

// GuideSearch writes what a search found.
func GuideSearch(w io.Writer, word string, hits []remedies.Hit, format string, st Style) error {
	found := make([]SearchHit, 0, len(hits))
	for _, h := range hits {
		x := SearchHit{Guide: h.Guide.ID, Key: str(h.Key), Names: h.Names, Value: str(h.Value), Lists: h.Lists}
		if h.Item != nil {
			x.Item, x.Title = &h.Item.ID, h.Item.Title
		} else if h.Info != nil {
			x.Title = h.Info.Meaning
		}
		found = append(found, x)
	}
	if format == "json" {
		return indented(w, struct {
			Schema string      `json:"schema"`
			Search string      `json:"search"`
			Hits   []SearchHit `json:"hits"`
		}{"oomscan.search/v1", word, found})
	}
	p := newPage(st)
	var m markdown
	guide := ""
	for _, x := range found {
		if x.Guide != guide {
			guide = x.Guide
			p.heading(guide)
			m.f("\n## %s\n\n", md(guide))
		}
		name := strings.Join(x.Names, ", ")
		line := join([]span{{code, name}})
		if x.Key == nil {
			line = nil
		} else if x.Value != nil {
			line = append(line, span{dim, " " + p.g.arrow + " "}, span{good, *x.Value})
		}
		if len(line) > 0 {
			p.para(block{indent: 4, hang: 6, full: true}, line...)
		}
		indent := 6
		if x.Key == nil {
			indent = 4
		}
		p.para(block{indent: indent, hang: indent + 2}, span{plain, x.Title}, span{dim, "  " + strings.Join(x.Lists, "; ")})
		if x.Key != nil {
			m.f("- %s: %s\n", ticked(name), md(x.Title))
		} else {
			m.f("- %s\n", md(x.Title))
		}
	}
	if len(found) == 0 {
		fmt.Fprintf(&p.buf, "  nothing in any guide\n")
		m.f("nothing in any guide\n")
	}
	out := p.buf.Bytes()
	if format == "markdown" {
		out = bytes.TrimLeft(m.Bytes(), "\n")
	}
	_, err := w.Write(out)
	return err
}
