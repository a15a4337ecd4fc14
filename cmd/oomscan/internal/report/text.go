package report

import (
	"io"
	"slices"
)

// Style is how text is laid out.
type Style struct {
	// Color says that SGR codes may be written. They are the only difference between text with and without colour.
	Color bool
	// Width is how many columns a line may have. Zero means 100, less than 40 is treated as 40. Prose is never wider than 100;
	// what is to be pasted or clicked is never broken.
	Width int
	// ASCII asks for drawing with ASCII alone, which survives mail, issue trackers and a POSIX locale. Text that comes from logs
	// stays as it is.
	ASCII bool
	// Full asks for everything that is known: reasons, figures, traceback and the log's own lines, not the answer alone.
	Full bool
	// Link returns the address of an input, empty for none. Nil: the terminal shows no links.
	Link func(name string) string
}

// Bounds of the layout, in columns.
const (
	defaultWidth = 100
	minWidth     = 40
	maxProse     = 100 // longer lines of prose are hard to read
	maxBar       = 80
)

// Lists longer than these are cut, with a line that says so.
const (
	maxProposals    = 3
	maxBeforeLast   = 18 // lines of a page that leave room for a third proposal
	maxChanges      = 8
	maxPasted       = 12
	maxHolders      = 6
	maxAfter        = 3
	maxConsequences = 8
	maxChecklist    = 80
	maxFolded       = 4 // lines
	maxFoldedTitles = 3 // for one reason
	maxLines        = 12
	maxProblems     = 12
	maxOverview     = 4
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

// Text writes the report for people: what ran out, how much was missing, why, and what to change first, in this order; then
// the evidence and the guide's checklist. Every list and every string has a bound, and is shown without control and format
// characters. The only errors are those of w.
func Text(w io.Writer, r *Report, st Style) error {
	return write(w, st, func(p *page) { writeReport(p, r) })
}

func writeReport(p *page, r *Report) {
	short := withShortNames(r)
	p.links = links(r, p.link)
	writePartial(p, r.Partial, len(failures(r)), len(r.Inputs))
	if len(r.Incidents) == 0 {
		writeNone(p, r)
		writeFooter(p, r)
		return
	}
	writeOverview(p, short)
	for i := range short.Incidents {
		if i > 0 {
			p.blank()
			p.blank()
		}
		if i > 0 && !p.full {
			writeShort(p, short, i)
		} else {
			writeIncident(p, short, i)
		}
	}
	writeEnding(p, short)
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
	writeIncident(p, withShortNames(&one), 0)
	p.rule()
}

// writeEnding is what stands once below the incidents: what could not be read, and the closing line.
func writeEnding(p *page, r *Report) {
	p.blank()
	if p.full || slices.ContainsFunc(r.Inputs, func(in Input) bool { return in.Truncated+in.Shortened > 0 }) {
		writeFooter(p, r)
	} else {
		writeErrors(p, failures(r))
	}
	if s := closing(r); s != "" {
		p.para(block{indent: 1, hang: 3, full: true}, span{bold, s})
	}
}
