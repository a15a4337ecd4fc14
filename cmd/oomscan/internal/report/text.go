package report

import "io"

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

// NewText returns the reporter of text for people. Of several jobs it writes a table and the first reports.
func NewText(o Output) Reporter { return &textReporter{Output: o} }

type textReporter struct {
	Output
	answer         *Answer
	needsBlankLine bool // the text ends in updates
}

// Begin implements [Reporter].
func (t *textReporter) Begin(a *Answer) error { t.answer = a; return nil }

// Job implements [Reporter].
func (t *textReporter) Job(j *Job) error {
	switch {
	case t.answer.Several:
		return nil
	case t.answer.Live:
		if err := t.endUpdates(); err != nil {
			return err
		}
		return write(t.Writer, t.Style, func(p *page) { writeEnding(p, j.Report) })
	}
	return Text(t.Writer, j.Report, t.Style)
}

// End implements [Reporter].
func (t *textReporter) End() error {
	if !t.answer.Several {
		return nil
	}
	if err := t.endUpdates(); err != nil {
		return err
	}
	return t.jobs()
}

// Incident implements [Live].
func (t *textReporter) Incident(r *Report, in *Incident) error {
	if err := t.endUpdates(); err != nil {
		return err
	}
	return write(t.Writer, t.Style, func(p *page) { writeAlone(p, r, in) })
}

// Update implements [Live]. It writes a line, and the whole incident again when its headline has changed.
func (t *textReporter) Update(r *Report, in *Incident, before Snapshot) (bool, error) {
	again := in.Verdict != before.Verdict
	p := newPage(t.Style)
	short := withShortNames(&Report{Inputs: r.Inputs, Incidents: []Incident{*in}})
	writeUpdate(p, &short.Incidents[0], before)
	if p.buf.Len() == 0 && !again {
		return false, nil
	}
	if again {
		if err := t.endUpdates(); err != nil {
			return false, err
		}
	}
	t.needsBlankLine = !again
	if _, err := t.Writer.Write(p.buf.Bytes()); err != nil || !again {
		return true, err
	}
	return true, t.Incident(r, in)
}

// endUpdates puts an empty line below updates.
func (t *textReporter) endUpdates() error {
	if !t.needsBlankLine {
		return nil
	}
	t.needsBlankLine = false
	_, err := io.WriteString(t.Writer, "\n")
	return err
}

// Text writes the report for people: what ran out, when, who first, how much was missing and what to do first, in this
// order; then what followed, the guide's checklist, the traceback, and what was read. Every list and every string has a
// bound, and is shown without control and format characters. The only errors are those of w.
func Text(w io.Writer, r *Report, st Style) error {
	return write(w, st, func(p *page) { writeReport(p, r) })
}

func writeReport(p *page, r *Report) {
	r = withShortNames(r)
	writePartial(p, r.Partial, len(failures(r)), len(r.Inputs))
	writeOverview(p, r)
	for i := range r.Incidents {
		if i > 0 {
			p.rule()
		}
		writeIncident(p, r, i)
	}
	if len(r.Incidents) == 0 {
		writeNone(p, r)
	} else {
		p.rule()
	}
	writeFooter(p, r)
}

// write lays a page out and writes it at once.
func write(w io.Writer, st Style, fill func(*page)) error {
	p := newPage(st)
	fill(p)
	_, err := w.Write(p.buf.Bytes())
	return err
}

// writeAlone writes one incident that others may follow.
func writeAlone(p *page, r *Report, in *Incident) {
	one := *r
	one.Incidents = []Incident{*in}
	writeIncident(p, &one, 0)
	p.rule()
}

// writeEnding writes what stands once below the incidents.
func writeEnding(p *page, r *Report) {
	writePartial(p, r.Partial, len(failures(r)), len(r.Inputs))
	writeFooter(p, r)
}

// writeIncident writes one incident, from its answer down to the lines it rests on.
func writeIncident(p *page, r *Report, i int) {
	in := &r.Incidents[i]
	writeHeadline(p, in, i, len(r.Incidents))
	writeFacts(p, r, in)
	writeMemory(p, in)
	writeFindings(p, in)
	writeConfirm(p, r, in)
	writeStart(p, in)
	writePatch(p, in)
	writeFollowed(p, in)
	writeChecklist(p, in)
	writeTrace(p, in)
	writeMessage(p, in)
}

// writeFindings are sentences about the figures, under the bar that shows them.
func writeFindings(p *page, in *Incident) {
	if len(in.Findings) == 0 {
		return
	}
	p.blank()
	for i, f := range in.Findings {
		if i == maxFindings {
			p.more(len(in.Findings)-i, "finding", "findings")
			break
		}
		p.para(block{indent: 4, hang: 6, lines: 6}, span{dim, p.g.bullet + " "}, span{plain, f})
	}
}
