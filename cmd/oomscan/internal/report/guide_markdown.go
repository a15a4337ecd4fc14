package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"oomscan/remedies"
)

// GuideMarkdown writes a guide as Markdown: for an issue, a wiki, a merge request.
func GuideMarkdown(w io.Writer, g *Guide) error {
	m := &markdown{}
	m.f("# %s: %s\n", md(g.Guide.ID), md(g.Guide.Title))
	m.text(g.Guide.Note)
	if g.Guide.URL != nil {
		m.text("<" + *g.Guide.URL + ">")
	}
	if len(g.Diagnosis) > 0 {
		m.f("\n## Which one is it?\n\n| where | seen as | mostly | first |\n|---|---|---|---|\n")
		for _, x := range g.Diagnosis {
			m.f("| %s | %s | %s | %s |\n", cell(x.Where), cell(x.Symptom), cell(x.Cause), cell(x.First))
		}
	}
	for i := range g.Lists {
		l := &g.Lists[i]
		m.f("\n## %s\n\n", md(l.Heading))
		for j := range l.Items {
			m.item(&l.Items[j])
		}
	}
	m.manual(g)
	_, err := w.Write(m.Bytes())
	return err
}

// markdown is a text that is being written.
type markdown struct{ bytes.Buffer }

func (m *markdown) f(format string, args ...any) { fmt.Fprintf(m, format, args...) }

func (m *markdown) text(s string) {
	if s != "" {
		m.f("\n%s\n", s)
	}
}

// writeItem writes one item of a list. What belongs to it is indented by three columns, as the number asks for.
func (m *markdown) item(x *GuideItem) {
	m.f("%d. **%s**", x.Order, md(x.Title))
	if x.Source.Section != "" {
		m.f(" (%s)", md(x.Source.Section))
	}
	m.f("\n")
	if x.Applies != nil && !*x.Applies {
		m.f("   *already so or ruled out: %s*\n", md(x.AppliesWhy))
	}
	for _, s := range []string{x.Detail, x.Why} {
		if s != "" {
			m.f("   %s\n", md(s))
		}
	}
	if len(x.Needs) > 0 {
		m.f("   Needs: %s.\n", md(strings.Join(x.Needs, "; ")))
	}
	if x.Caution != "" {
		m.f("   **Careful:** %s\n", md(x.Caution))
	}
	m.corrections(x.Corrections, "   ")
	for i := range x.Parameters {
		p := &x.Parameters[i]
		var notes []string
		for _, b := range []struct {
			word string
			v    *string
		}{{"default", p.Default}, {"at least", p.Min}, {"at most", p.Max}} {
			if b.v != nil {
				notes = append(notes, b.word+" "+ticked(*b.v))
			}
		}
		for _, s := range p.Spellings {
			n := "also " + ticked(s.Key)
			if s.Versions != "" {
				n += " (" + md(s.Versions) + ")"
			}
			notes = append(notes, n)
		}
		m.f("   - %s", ticked(p.Key))
		if len(notes) > 0 {
			m.f(": %s", strings.Join(notes, ", "))
		}
		m.f("\n")
	}
	m.fence(x.Syntax, x.Snippet, "   ")
}

func (m *markdown) corrections(list []remedies.Correction, indent string) {
	for _, c := range list {
		m.f("%s*Corrected (%s):* the document says %s; in fact %s", indent, md(c.ID), md(strings.TrimSuffix(c.Says, ".")), md(strings.TrimSuffix(c.Is, ".")))
		if c.Versions != "" {
			m.f(" (%s)", md(c.Versions))
		}
		m.f(".\n")
	}
}

// manual writes what the guide tells besides its lists.
func (m *markdown) manual(g *Guide) {
	head := func(n int, title string) {
		if n > 0 {
			m.f("\n## %s\n", title)
		}
	}
	head(len(g.Parameters), "Parameters")
	for _, x := range g.Parameters {
		m.f("\n- %s: %s %s\n", ticked(x.Key), md(x.Meaning), md(x.Constraint))
		if x.URL != "" {
			m.f("  <%s>\n", x.URL)
		}
		m.corrections(x.Corrections, "  ")
	}
	head(len(g.Steps), "Finding out more")
	for _, x := range g.Steps {
		m.part(x.Title, x.Detail, x.Syntax, x.Snippet, x.Corrections)
		if x.Caution != "" {
			m.f("\n**Careful:** %s\n", md(x.Caution))
		}
	}
	head(len(g.Templates), "Templates")
	for _, x := range g.Templates {
		m.part(x.Title, x.Detail, x.Syntax, x.Snippet, x.Corrections)
	}
	head(len(g.Messages), "Messages")
	for _, x := range g.Messages {
		m.f("\n- %s (%s): %s %s\n", ticked(x.Text), md(x.Kind), md(x.Means), md(x.Do))
		m.corrections(x.Corrections, "  ")
	}
	if len(g.Goals) > 0 {
		m.f("\n## In short\n\n| goal | use |\n|---|---|\n")
		for _, x := range g.Goals {
			m.f("| %s | %s |\n", cell(x.Goal), strings.ReplaceAll(ticked(x.Use), "|", `\|`))
		}
	}
	if len(g.Compared) > 0 {
		m.f("\n## Before and after\n\n| parameter | before | after | effect |\n|---|---|---|---|\n")
		for _, x := range g.Compared {
			m.f("| %s | %s | %s | %s |\n", ticked(x.Key), cell(x.Before), cell(x.After), cell(x.Effect))
		}
	}
	head(len(g.Notes), "Worth knowing")
	for _, x := range g.Notes {
		m.part(x.Title, x.Text, x.Syntax, x.Snippet, x.Corrections)
		if x.URL != "" {
			m.f("\n<%s>\n", x.URL)
		}
	}
}

func (m *markdown) part(title, text, syntax, snippet string, corrections []remedies.Correction) {
	m.f("\n### %s\n", md(title))
	m.text(md(text))
	if snippet != "" {
		m.f("\n")
	}
	m.fence(syntax, snippet, "")
	if len(corrections) > 0 {
		m.f("\n")
	}
	m.corrections(corrections, "")
}

// languages are the names that fences have for syntaxes.
var languages = map[string]string{"yaml": "yaml", "python": "python", "shell": "bash", "flag": "bash", "env": "bash", "sbatch": "bash", "hydra": "bash"}

// fence writes a block of code behind a fence that the block does not hold.
func (m *markdown) fence(syntax, text, indent string) {
	if text == "" {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	m.f("%s%s%s\n", indent, fence, languages[syntax])
	for l := range strings.Lines(strings.TrimRight(printableText(text), "\n") + "\n") {
		m.f("%s%s", indent, l)
	}
	m.f("%s%s\n", indent, fence)
}

// marks are what means something in the middle of a Markdown line.
var marks = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"\n", " ", "\r", " ", "#", `\#`, "~", `\~`)

// md is text that shows as it is.
func md(s string) string { return marks.Replace(printableText(s)) }

// cell is text for a table.
func cell(s string) string { return strings.ReplaceAll(md(s), "|", `\|`) }

// ticked is a name or a value in backticks, more of them than it holds.
func ticked(s string) string {
	s = strings.ReplaceAll(printableText(s), "\n", " ")
	tick := "`"
	for strings.Contains(s, tick) {
		tick += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return tick + s + tick
}

// printableText takes out what could control a terminal; see [safe].
func printableText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return safe(r)
	}, s)
}
