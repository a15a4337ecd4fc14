package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"oomscan/parser/secret"
)

// maxIssue is how much GitHub takes in one issue or comment, in characters, with a margin.
const maxIssue = 60_000

// NewMarkdown returns the reporter of what one pastes into an issue: the answer, then the evidence and the run's settings
// folded. It is never longer than an issue may be.
func NewMarkdown(o Output) Reporter { return &markdownReporter{out: o.Writer} }

type markdownReporter struct {
	out  io.Writer
	text markdown
}

// Begin implements [Reporter].
func (m *markdownReporter) Begin(*Answer) error { return nil }

// Job implements [Reporter].
func (m *markdownReporter) Job(j *Job) error {
	if m.text.Len() > maxIssue {
		return nil
	}
	if j.Name != "" {
		m.text.f("# job %s\n\n", md(secret.Text(j.Name)))
	}
	r := withShortNames(j.Report)
	if len(r.Incidents) == 0 {
		m.text.f("**%s**\n\n", md(sentence(noneText(r))))
	}
	for i := range r.Incidents {
		m.text.incident(r, i)
	}
	m.text.settings(r)
	return nil
}

// End implements [Reporter].
func (m *markdownReporter) End() error {
	text := []rune(m.text.String())
	if len(text) > maxIssue {
		text = append(text[:maxIssue], []rune("\n```\n</details>\n\n"+wordCut+"\n")...)
	}
	_, err := io.WriteString(m.out, string(text))
	return err
}

func (m *markdown) incident(r *Report, i int) {
	in := &r.Incidents[i]
	_, word := verdict(in)
	m.f("### %s: %s\n\n", word, md(subject(r, in)))
	for _, s := range leads(r, in) {
		m.f("%s\n", md(s))
	}
	if in.Cause != nil {
		m.f("\n**%s** %s\n", wordWhy, md(whyText(in)))
	}
	for k := range in.Proposals {
		switch k {
		case 0:
			m.f("\n**%s**\n\n", tryHeading(in))
		case 1:
			m.f("\n**%s**\n\n", wordInstead)
		}
		m.proposal(in, &in.Proposals[k])
	}
	if x := nextStep(r, in); x != nil {
		m.f("\n%s%s\n\n%s\n", wordNext, ticked(x.Command), md(x.Reading))
	}
	m.f("\n<details><summary>%s</summary>\n\n", wordEvidenceFolded)
	m.f("%s", md(position(in.Root.File, in.Root.Line)))
	if in.Repeats > 0 {
		m.f(", %s", md(sameError(in, in.Repeats)))
	}
	m.f("\n\n")
	m.fence("", in.Root.Message+"\n\n"+traceText(in), "")
	if in.phased() {
		m.f("\n%s%s%s: %s\n", labelPhase, in.Confidence, labelConfidence, md(reason(in)))
	}
	if after := plainText(afterwards(newPage(Style{ASCII: true}), in)); after != "" {
		m.f("\n%s: %s\n", labelAfter, md(after))
	}
	m.f("\n</details>\n\n")
}

// proposal writes a change as a block to paste, and what it does.
func (m *markdown) proposal(in *Incident, x *Proposal) {
	var lines []string
	for i := range x.Changes {
		c := &x.Changes[i]
		switch {
		case c.Snippet != "" && noteOf(c) != "" && !strings.Contains(c.Snippet, "\n"):
			lines = append(lines, c.Snippet+"  "+noteOf(c))
		case c.Snippet != "":
			lines = append(lines, c.Snippet)
		case c.Key != "":
			lines = append(lines, fmt.Sprintf("%s: %s", c.Key, verbs[c.Direction]))
		}
	}
	syntax := ""
	if len(x.Changes) > 0 {
		syntax = x.Changes[0].Syntax
	}
	m.fence(syntax, strings.Join(lines, "\n"), "")
	say := htmlProposalOf(in, x)
	m.f("%s\n", md(strings.TrimSpace(say.Text+" "+say.Worst)))
	for _, n := range say.Needs {
		m.f("\n%s%s", wordFirst, md(n.Reading))
		if n.Command != "" {
			m.f(" %s", ticked(n.Command))
		}
		m.f("\n")
	}
	if say.Costs != "" {
		m.f("\n%s%s\n", wordCosts, md(say.Costs))
	}
	m.f("\n")
}

// settings writes what the run is and its settings, as a maintainer asks for them.
func (m *markdown) settings(r *Report) {
	if run := plainText(runFacts(&asciiGlyphs, r)); run != "" {
		m.f("%s: %s\n\n", labelRun, md(run))
	}
	if len(r.Run.Config) == 0 {
		return
	}
	m.f("<details><summary>%s</summary>\n\n", count(len(r.Run.Config), "setting", "settings"))
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(r.Run.Config)) {
		fmt.Fprintf(&b, "%s = %s\n", k, clip(r.Run.Config[k].Value))
	}
	m.fence("", b.String(), "")
	m.f("\n</details>\n")
}
