package report

import (
	"io"
)

// Style is how text is laid out.
type Style struct {
	// Color says that SGR codes may be written. They are the only difference between text with and without colour.
	Color bool
	// Width is how many columns a line may have. Zero means that no terminal reads along: lines are laid out for 100
	// columns and drawn with ASCII alone, which survives mail, issue trackers and a POSIX locale. Less than 40 is
	// treated as 40.
	Width int
	// ASCII asks for drawing without other characters on a terminal, too. Text that comes from logs stays as it is.
	ASCII bool
}

// Bounds of the layout, in columns.
const (
	defaultWidth = 100
	minWidth     = 40
	maxProse     = 112 // longer lines of prose are hard to read; paths and code use the full width
)

// Text writes the report for people: what ran out, when, who first, how much was missing and what to do first, in
// this order; then what followed, the guide's checklist, the traceback, and what was read. The whole text is made in memory first (it is short, whatever the log was: every list and
// every string has a bound) and written at once. Strings are shown without control and format characters. The only
// errors are those of w.
func Text(w io.Writer, r *Report, st Style) error {
	p := newPage(st)
	p.tails = tails(r)
	if r.Partial {
		p.partial(len(failures(r)), len(r.Inputs))
	}
	p.overview(r)
	for i := range r.Incidents {
		if i > 0 {
			p.rule()
		}
		p.incident(r, i)
	}
	if len(r.Incidents) == 0 {
		p.none(r)
	} else {
		p.rule()
	}
	p.footer(r)
	_, err := w.Write(p.buf.Bytes())
	return err
}

// TextIncident writes incident i of the report alone, followed by a rule: for streams, whose incidents are told as they
// come and whose end is not known yet. [TextFooter] is the rest of the text.
func TextIncident(w io.Writer, r *Report, i int, st Style) error {
	one := *r
	one.Incidents = r.Incidents[i : i+1]
	p := newPage(st)
	p.incident(&one, 0)
	p.rule()
	_, err := w.Write(p.buf.Bytes())
	return err
}

// TextFooter writes what stands once below the incidents: what the run was, what was read, and what could not be.
func TextFooter(w io.Writer, r *Report, st Style) error {
	p := newPage(st)
	if r.Partial {
		p.partial(len(failures(r)), len(r.Inputs))
	}
	p.footer(r)
	_, err := w.Write(p.buf.Bytes())
	return err
}

// incident writes one incident, from its answer down to the lines it rests on.
func (p *page) incident(r *Report, i int) {
	in := &r.Incidents[i]
	p.headline(in, i, len(r.Incidents))
	p.facts(r, in)
	p.memory(in)
	p.findings(in)
	p.confirm(r, in)
	p.startWith(in)
	p.patch(in)
	p.followed(in)
	p.checklist(in)
	p.trace(in)
	p.message(in)
}

// findings are sentences about the figures, under the bar that shows them.
func (p *page) findings(in *Incident) {
	if len(in.Findings) == 0 {
		return
	}
	p.blank()
	for i, f := range in.Findings {
		if i == maxFindings {
			p.more(len(in.Findings)-i, "finding", "findings")
			break
		}
		p.para(block{indent: 4, hang: 6, lines: 6}, span{dim, p.g.bullet + " "}, span{plain, p.near(f)})
	}
}
