package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"oomscan/parser/secret"
)

// Bounds of the text about several jobs.
const (
	mostRows   = 40 // of the table
	mostNames  = 6  // of jobs in a sentence
	mostCounts = 8  // of each kind
	mostLines  = 6  // about what repeats, and about places
	jobColumn  = 12 // columns that a job's name has at least
	whoColumn  = 9  // the same for whose failure came first
)

// jobs writes how many jobs there are and of which kind, a table of those with incidents, and what they have in common. The full
// report follows where there is only one.
func (t *textReporter) jobs() error {
	a := t.answer
	only := len(a.Summary.First) == 1 && !a.Live
	err := write(t.Writer, t.Style, func(p *page) {
		writePartial(p, a.Partial, len(a.Failed), a.Inputs)
		writeJobsHeadline(p, a)
		writeJobsTable(p, a)
		writePatterns(p, &a.Summary)
		writeCounts(p, &a.Summary)
		writeJobsFooter(p, a, only)
	})
	if err == nil && only {
		err = write(t.Writer, t.Style, func(p *page) { writeOneOfSeveral(p, a.Remake(a.Summary.First[0])) })
	}
	return err
}

func briefs(a *Answer) map[string]*Brief {
	by := make(map[string]*Brief, len(a.Briefs))
	for i := range a.Briefs {
		by[a.Briefs[i].Job] = &a.Briefs[i]
	}
	return by
}

func writeJobsHeadline(p *page, a *Answer) {
	ground, word, text := jobsHeadline(&a.Summary)
	p.badge(ground, word, span{bold, text})
	var parts [][]span
	for _, x := range jobCounts(&a.Summary) {
		parts = append(parts, []span{{plain, x}})
	}
	if len(parts) > 0 {
		p.para(block{indent: 2, hang: 2}, p.g.join(parts)...)
	}
	if a.Total > len(a.Briefs) {
		p.para(block{indent: 2, hang: 2}, span{dim, matchText(len(a.Briefs), a.Total)})
	}
}

// row is a line of the table, and below it where the first failure is and what to try first.
type row struct {
	badge ink
	word  string
	cells [tableColumns]string
	inks  [tableColumns]ink
	place string
	fix   string
}

const tableColumns = 5

// writeJobsTable lists the jobs with incidents, in the order in which to look at them.
func writeJobsTable(p *page, a *Answer) {
	by := briefs(a)
	var list []*Brief
	for _, name := range a.Summary.First {
		list = append(list, by[name])
	}
	if order := sorts[a.Sort]; order != nil {
		slices.SortStableFunc(list, order)
	}
	most := mostRows
	if a.All {
		most = len(list)
	}
	var rows []row
	for _, b := range list[:min(len(list), most)] {
		rows = append(rows, b.row())
	}
	if len(rows) == 0 {
		return
	}
	width := columnsOf(rows, p.width-2)
	p.blank()
	writeTableLine(p, row{cells: heads, inks: [tableColumns]ink{dim, dim, dim, dim, dim}}, width)
	last, beside := "", false
	for _, r := range rows {
		beside = beside || strings.HasPrefix(r.cells[0], "(")
		if r.word != last && (last != "" || r.word != "") {
			p.para(block{indent: 1}, span{r.badge, unbroken(" " + r.word + " ")})
		}
		last = r.word
		writeTableLine(p, r, width)
		if r.fix != "" {
			p.para(block{indent: 4, hang: 4, lines: 1, full: true}, span{dim, labelFix}, span{code, cut(p.g, r.fix, p.width-12, false)})
		}
		p.para(block{indent: 4, hang: 4, lines: 1, full: true}, span{dim, labelFile + unbroken(cut(p.g, r.place, p.width-10, true))})
	}
	if beside {
		p.para(block{indent: 2, hang: 4}, span{dim, wordSharedLogs})
	}
	if n := len(a.Summary.First) - len(rows); n > 0 {
		p.para(block{indent: 2, hang: 4}, span{dim, moreJobs(p.g, n)})
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
	who := ""
	if c.Rank != nil {
		who = fmt.Sprintf("rank %d", *c.Rank)
	} else if c.Device != nil {
		who = fmt.Sprintf("GPU %d", *c.Device)
	}
	at := position(c.File, c.Line)
	if c.Host != "" {
		at += " (" + c.Host + ")"
	}
	name := b.Job
	if b.Node {
		name = "(" + b.Job + ")"
	}
	return row{
		badge: badge, word: word, place: at, fix: c.Fix,
		cells: [tableColumns]string{name, kind, unknownless(c.Phase), unknownless(c.Why), who},
		inks:  [tableColumns]ink{bold, plain, plain, plain, plain},
	}
}

// unknownless leaves out what is not known.
func unknownless(s string) string {
	if s == "unknown" {
		return ""
	}
	return s
}

// columnsOf divides a width among the columns: each has what its longest cell needs; when that is too much, the heading of
// the last one and the names of jobs are cut.
func columnsOf(rows []row, width int) [tableColumns]int {
	var w [tableColumns]int
	sum := 2 * (len(w) - 1)
	for i := range w {
		w[i] = measure(heads[i])
		for _, r := range rows {
			w[i] = max(w[i], measure(r.cells[i]))
		}
		sum += w[i]
	}
	for _, x := range []struct{ column, least int }{{0, 2 * jobColumn}, {4, whoColumn}, {0, jobColumn}} {
		if sum > width && w[x.column] > x.least {
			cut := min(sum-width, w[x.column]-x.least)
			w[x.column] -= cut
			sum -= cut
		}
	}
	return w
}

// writeTableLine writes one line of the table. Of a job's name the end is kept, of everything else the beginning.
func writeTableLine(p *page, r row, width [tableColumns]int) {
	var spans []span
	for i, c := range r.cells {
		c = cut(p.g, unbroken(c), width[i], i == 0)
		if i < len(width)-1 {
			c = pad(c, width[i]+2)
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
	if most := 8 * n; len(runes) > most { // whatever combines, no more is looked at
		if end {
			runes = runes[len(runes)-most:]
		} else {
			runes = runes[:most]
		}
	}
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
	p.heading(wordRepeated)
	list := together(s.Repeats)
	for i, r := range list {
		if i == mostLines {
			p.more(len(list)-i, wordOfThese, wordOfThese)
			break
		}
		p.para(block{indent: 4, hang: 6, lines: 3}, span{dim, p.g.bullet + " "}, span{plain, r.text(p.g)})
	}
	for i, x := range s.Places {
		if i == mostLines {
			p.more(len(s.Places)-i, wordPlace, wordPlaces)
			break
		}
		p.para(block{indent: 4, hang: 6, lines: 3}, span{dim, p.g.bullet + " "}, span{plain, x.text(p.g)})
	}
}

// together makes one entry of restarted jobs that failed the same way.
func together(list []Repeat) []Repeat {
	type way struct{ kind, phase string }
	jobs := map[way][]string{}
	for _, r := range list {
		if r.How == "restarted" {
			jobs[way{r.Kind, r.Phase}] = append(jobs[way{r.Kind, r.Phase}], r.Jobs...)
		}
	}
	var out []Repeat
	for _, r := range list {
		same := jobs[way{r.Kind, r.Phase}]
		switch {
		case r.How != "restarted" || len(same) == 1:
			out = append(out, r)
		case r.Jobs[0] == same[0]:
			r.Jobs = same
			out = append(out, r)
		}
	}
	return out
}

// writeCounts are the jobs by kind, phase, framework and host.
func writeCounts(p *page, s *Summary) {
	if len(s.First) == 0 {
		return
	}
	p.heading(wordHurt)
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
func writeJobsFooter(p *page, a *Answer, only bool) {
	p.blank()
	writeRead(p, count(a.Inputs, "input", "inputs"), a.Truncated, a.Version, a.Stats)
	writeErrors(p, a.Failed)
	if len(a.Summary.First) > 0 && !only {
		p.row(labelOneJob, span{code, a.Again})
	}
}

// writeOneOfSeveral writes the report of one of several jobs, with its name above it.
func writeOneOfSeveral(p *page, j Job) {
	p.gap = false
	p.rule()
	p.para(block{full: true}, span{bold, wordJob + secret.Text(j.Name)}, span{dim, groupedBy(j.Why)})
	p.blank()
	writeReport(p, j.Report)
}
