package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds of the text about several jobs.
const (
	mostRows   = 40 // of the table
	mostNames  = 6  // of jobs in a sentence
	mostCounts = 8  // of each kind
	mostLines  = 6  // about what repeats, and about places
	jobColumn  = 12 // columns that a job's name has at least
	whoColumn  = 8  // the same for whose failure came first
)

// jobs writes how many jobs there are and of which kind, a table of those with incidents, what they have in common, and
// the first reports.
func (t *textReporter) jobs() error {
	a := t.answer
	var first []string
	if !a.Live {
		first = worthAReport(a)
	}
	err := write(t.Writer, t.Style, func(p *page) {
		writePartial(p, a.Partial, len(a.Failed), a.Inputs)
		writeJobsHeadline(p, &a.Summary)
		writeJobsTable(p, a)
		writePatterns(p, &a.Summary)
		writeCounts(p, &a.Summary)
		writeJobsFooter(p, a, len(first))
	})
	for _, name := range first {
		if err != nil {
			break
		}
		err = write(t.Writer, t.Style, func(p *page) { writeOneOfSeveral(p, a.Remake(name)) })
	}
	return err
}

// mostReports is how many full reports follow the table of jobs: a page or two each.
const mostReports = 3

// worthAReport picks the jobs whose full reports are shown: the first of each cause, and any when there are few.
func worthAReport(a *Answer) []string {
	type cause struct{ framework, verdict, kind, phase string }
	seen := map[cause]bool{}
	by := briefs(a)
	var out []string
	for _, name := range a.Summary.First {
		b := by[name]
		c := cause{b.Framework, b.Causes[0].Verdict, b.Causes[0].Kind, b.Causes[0].Phase}
		if len(out) == mostReports || seen[c] && len(a.Summary.First) > mostReports {
			continue
		}
		seen[c] = true
		out = append(out, name)
	}
	return out
}

func briefs(a *Answer) map[string]*Brief {
	by := make(map[string]*Brief, len(a.Briefs))
	for i := range a.Briefs {
		by[a.Briefs[i].Job] = &a.Briefs[i]
	}
	return by
}

// writeJobsHeadline counts the jobs.
func writeJobsHeadline(p *page, s *Summary) {
	word, ground := "OUT OF MEMORY", badgeMemory
	text := fmt.Sprintf("in %s of %s", grouped(s.Memory), count(s.Jobs, "job", "jobs"))
	switch {
	case s.Memory == 0 && s.Suspect > 0:
		word, ground, text = "SUSPECTS", badgeSuspect, fmt.Sprintf("in %s of %s, nothing proven", grouped(s.Suspect), count(s.Jobs, "job", "jobs"))
	case s.Memory == 0 && s.Survived > 0:
		word, ground, text = "SURVIVED", badgeSurvived, fmt.Sprintf("%s of %s went on", grouped(s.Survived), count(s.Jobs, "job", "jobs"))
	case s.Memory == 0:
		word, ground, text = "NO MEMORY INCIDENT", badgeCalm, "in "+count(s.Jobs, "job", "jobs")
	}
	p.badge(ground, word, span{bold, text})
	var parts [][]span
	for _, x := range []struct {
		n    int
		text string
	}{{s.Memory, "out of memory"}, {s.Suspect, "suspect, not proven"}, {s.Survived, "survived it"}, {s.Healthy, "without an incident"}} {
		if x.n > 0 && x.n < s.Jobs {
			parts = append(parts, []span{{plain, grouped(x.n) + string(nbsp)}, {plain, x.text}})
		}
	}
	if len(parts) > 0 {
		p.para(block{indent: 2, hang: 2}, p.g.join(parts)...)
	}
}

// row is a line of the table.
type row struct {
	badge ink
	word  string
	cells [6]string
	inks  [6]ink
}

var heads = [6]string{"job", "framework", "kind", "phase", "first", "short"}

// writeJobsTable lists the jobs with incidents, in the order in which to look at them.
func writeJobsTable(p *page, a *Answer) {
	by := briefs(a)
	var rows []row
	for _, name := range a.Summary.First[:min(len(a.Summary.First), mostRows)] {
		rows = append(rows, by[name].row())
	}
	if len(rows) == 0 {
		return
	}
	width := columnsOf(rows, p.width-2)
	p.blank()
	writeTableLine(p, row{cells: heads, inks: [6]ink{dim, dim, dim, dim, dim, dim}}, width)
	last, beside := "", false
	for _, r := range rows {
		beside = beside || strings.HasPrefix(r.cells[0], "(")
		if r.word != last && (last != "" || r.word != "") {
			p.para(block{indent: 1}, span{r.badge, unbroken(" " + r.word + " ")})
		}
		last = r.word
		writeTableLine(p, r, width)
	}
	if beside {
		p.para(block{indent: 2, hang: 4}, span{dim, "( ) is a log beside several jobs: what it tells of none of them alone"})
	}
	if n := len(a.Summary.First) - len(rows); n > 0 {
		p.para(block{indent: 2, hang: 4}, span{dim, fmt.Sprintf("%s and %s with incidents: --format json or ndjson has all of them", p.g.ellipsis, count(n, "more job", "more jobs"))})
	}
}

// row is the job's line: its first cause, and how many more there are.
func (b *Brief) row() row {
	c := &b.Causes[0]
	badge, word := verdict(&Incident{Verdict: c.Verdict, Survived: c.Survived})
	kind := c.Kind
	if n := len(b.Causes) - 1; n > 0 {
		kind += fmt.Sprintf(" +%d", n)
	}
	if c.Times > 1 {
		kind += fmt.Sprintf(" x%d", c.Times)
	}
	var who []string
	if c.Rank != nil {
		who = append(who, fmt.Sprintf("rank %d", *c.Rank))
	} else if c.Device != nil {
		who = append(who, fmt.Sprintf("GPU %d", *c.Device))
	}
	if c.Host != "" {
		who = append(who, c.Host)
	}
	shortfall := ""
	if c.Shortfall != nil {
		shortfall = size(*c.Shortfall)
	}
	name := b.Job
	if b.Node {
		name = "(" + b.Job + ")"
	}
	return row{
		badge: badge, word: word,
		cells: [6]string{name, unknownless(b.Framework), kind, unknownless(c.Phase), strings.Join(who, " "), shortfall},
		inks:  [6]ink{bold, plain, plain, plain, plain, short},
	}
}

// unknownless leaves out what is not known.
func unknownless(s string) string {
	if s == "unknown" {
		return ""
	}
	return s
}

// columnsOf divides a width among the columns: each has what its longest cell needs; when that is too much, the names of
// nodes and then those of jobs are cut.
func columnsOf(rows []row, width int) [6]int {
	var w [6]int
	sum := 2 * (len(w) - 1)
	for i := range w {
		w[i] = measure(heads[i])
		for _, r := range rows {
			w[i] = max(w[i], measure(r.cells[i]))
		}
		sum += w[i]
	}
	for _, x := range []struct{ column, least int }{{0, 2 * jobColumn}, {4, 2 * whoColumn}, {0, jobColumn}, {4, whoColumn}} {
		if sum > width && w[x.column] > x.least {
			cut := min(sum-width, w[x.column]-x.least)
			w[x.column] -= cut
			sum -= cut
		}
	}
	return w
}

// writeTableLine writes one line of the table. Of a job's name the end is kept, of everything else the beginning.
func writeTableLine(p *page, r row, width [6]int) {
	var spans []span
	for i, c := range r.cells {
		c = cut(p.g, unbroken(c), width[i], i == 0)
		if i < len(width)-1 {
			c = pad(c, width[i]+2)
		} else {
			c = pad("", width[i]-measure(c)) + c
		}
		spans = append(spans, span{r.inks[i], c})
	}
	p.para(block{indent: 2, hang: 2, lines: 1, full: true}, spans...)
}

// cut shortens a text to n columns: it keeps the end or the beginning, with a sign where something is left out.
func cut(g *glyphs, s string, n int, end bool) string {
	if measure(s) <= n {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && measure(g.ellipsis+string(runes)) > n {
		if end {
			runes = runes[1:]
		} else {
			runes = runes[:len(runes)-1]
		}
	}
	if end {
		return g.ellipsis + string(runes)
	}
	return string(runes) + g.ellipsis
}

// writePatterns says, each on its line, which places keep appearing and what died of the same again.
func writePatterns(p *page, s *Summary) {
	if len(s.Repeats)+len(s.Places) == 0 {
		return
	}
	p.heading("Again and again")
	for i, r := range s.Repeats {
		if i == mostLines {
			p.more(len(s.Repeats)-i, "of this kind", "of this kind")
			break
		}
		p.para(block{indent: 4, hang: 6, lines: 3}, span{dim, p.g.bullet + " "}, span{plain, r.text(p)})
	}
	for i, x := range s.Places {
		if i == mostLines {
			p.more(len(s.Places)-i, "place", "places")
			break
		}
		p.para(block{indent: 4, hang: 6, lines: 3}, span{dim, p.g.bullet + " "}, span{plain, x.text(p)})
	}
}

func (r *Repeat) text(p *page) string {
	cause := r.Kind
	if r.Phase != "" && r.Phase != "unknown" {
		cause += " in " + r.Phase
	}
	switch r.How {
	case "restarted":
		return fmt.Sprintf("Job %s was started again and died %d times of the same: %s.", r.Work, r.Times, cause)
	case "array":
		return fmt.Sprintf("%d of %d tasks of array %s died of the same: %s (%s).", r.Times, r.Of, r.Work, cause, some(p.g, r.Jobs))
	}
	each := fmt.Sprintf("%d times", r.Times)
	if r.Times == r.Of {
		each = "each time"
	}
	return fmt.Sprintf("%s was submitted %d times and died of the same %s: %s (jobs %s).", r.Work, r.Of, each, cause, some(p.g, r.Jobs))
}

func (x *Place) text(p *page) string {
	what := "Host " + x.Host
	if x.Device != nil {
		what = fmt.Sprintf("GPU %d of host %s", *x.Device, x.Host)
	}
	return fmt.Sprintf("%s: memory ran out there first in %d of %s (jobs %s).", what, len(x.Jobs), count(x.Of, "job that tells", "jobs that tell"), some(p.g, x.Jobs))
}

// some names the first few.
func some(g *glyphs, names []string) string {
	if len(names) <= mostNames {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:mostNames], ", ") + fmt.Sprintf(" %s and %d more", g.ellipsis, len(names)-mostNames)
}

// writeCounts are the jobs by kind, phase, framework and host.
func writeCounts(p *page, s *Summary) {
	if len(s.First) == 0 {
		return
	}
	p.heading("Jobs with incidents")
	for _, x := range []struct {
		label string
		of    map[string]int
	}{{"kind", s.Kinds}, {"phase", s.Phases}, {"framework", s.Frameworks}, {"host", s.Hosts}} {
		keys := slices.SortedFunc(maps.Keys(x.of), func(a, b string) int { return cmp.Or(cmp.Compare(x.of[b], x.of[a]), strings.Compare(a, b)) })
		var parts [][]span
		for i, k := range keys {
			if i == mostCounts {
				parts = append(parts, []span{{dim, fmt.Sprintf("%d more", len(keys)-i)}})
				break
			}
			parts = append(parts, []span{{plain, unbroken(k) + string(nbsp)}, {bold, grouped(x.of[k])}})
		}
		if len(parts) > 0 {
			p.row(x.label, p.g.join(parts)...)
		}
	}
}

// writeJobsFooter says what was read, what could not be, and how to see more.
func writeJobsFooter(p *page, a *Answer, shown int) {
	p.blank()
	writeRead(p, count(a.Inputs, "input", "inputs"), a.Truncated, a.Version, a.Stats)
	writeErrors(p, a.Failed)
	if n := len(a.Summary.First); n > 0 {
		text := fmt.Sprintf("%s below, the first of each cause; the others: ", count(shown, "report", "reports"))
		switch shown {
		case 0:
			text = "all of their reports are above; one alone: "
		case n:
			text = "all of their reports are below; one alone: "
		}
		p.row("reports", span{plain, text}, span{code, a.Again})
	}
}

// writeOneOfSeveral writes the report of one of several jobs, with its name above it.
func writeOneOfSeveral(p *page, j Job) {
	p.gap = false
	p.rule()
	p.para(block{full: true}, span{bold, "job " + j.Name}, span{dim, ", kept together by " + j.Why})
	p.blank()
	writeReport(p, j.Report)
}
