package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// guideMarkdown writes a page of a guide as Markdown: for an issue, a wiki, a merge request.
func guideMarkdown(w io.Writer, g *GuidePage, _ Style) error {
	m := &markdown{}
	if g.head != nil {
		m.f("# %s: %s\n", md(g.head.Guide.ID), md(g.head.Guide.Title))
		m.line(&line{text: g.head.Guide.Note}, "\n")
		m.line(&line{text: deref(g.head.Guide.URL), kind: link}, "\n")
	}
	for i := range g.sections {
		s := &g.sections[i]
		m.f("\n## %s\n\n", md(strings.TrimSpace(s.title+"  "+s.note)))
		for k := range s.entries {
			m.entry(&s.entries[k])
		}
	}
	for i := range g.closing {
		m.line(&g.closing[i], "\n")
	}
	_, err := w.Write(bytes.TrimLeft(m.Bytes(), "\n"))
	return err
}

// markdown is a text that is being written.
type markdown struct{ bytes.Buffer }

func (m *markdown) f(format string, args ...any) { fmt.Fprintf(m, format, args...) }

// entry writes an item of a list. What belongs to it is indented as its mark asks for.
func (m *markdown) entry(e *entry) {
	mark := "- "
	if e.number > 0 {
		mark = fmt.Sprintf("%d. ", e.number)
	}
	name := ticked(e.code)
	if e.code == "" {
		name = "**" + md(e.title) + "**"
	}
	m.f("%s%s", mark, name)
	for _, n := range e.notes {
		m.f(" %s", md(n))
	}
	m.f("\n")
	for i := range e.lines {
		m.line(&e.lines[i], strings.Repeat(" ", len(mark)))
	}
}

// line writes a line behind its indent.
func (m *markdown) line(l *line, indent string) {
	switch {
	case l.text == "":
	case l.kind == pasted:
		m.fence(l.syntax, l.text, indent)
	case l.kind == link:
		m.f("%s<%s>\n", indent, l.text)
	case l.label == "":
		m.f("%s%s\n", indent, md(l.text))
	default:
		m.f("%s*%s* %s\n", indent, md(l.label), md(l.text))
	}
}

// languages are the names that fences have for syntaxes.
var languages = map[string]string{"yaml": "yaml", "python": "python", "shell": "bash", "flag": "bash", "env": "bash", "sbatch": "bash", "qsub": "bash", "bsub": "bash", "hydra": "bash"}

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
