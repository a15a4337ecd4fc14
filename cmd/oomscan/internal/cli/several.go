package cli

import (
	"strings"
	"sync"
	"time"

	"oomscan/cmd/oomscan/internal/report"
)

// mostReports is how many full reports the text about several jobs shows: a page or two each.
const mostReports = 3

// answer is what is known of several jobs once their reports were made.
type answer struct {
	list    []job
	briefs  []report.Brief
	at      map[string]int // the jobs' places in the list, by their names in the briefs
	inputs  int
	odd     []report.Input // not read as a whole
	failed  []report.Input // of them those with an error
	shared  []report.Input // of no job alone
	stats   report.Stats
	summary report.Summary
	partial bool

	truncated int // lines that were too long to be read whole
}

// several prints the answer to several jobs and says whether memory ran out in any. A report is made, used and dropped:
// of all jobs only the lines of the table are kept.
func (j *scan) several(list []job) (memory bool, err error) {
	a := j.answer(list)
	doc := j.document(a)
	err = j.reports(list, func(i int, rep *report.Report) error {
		x := &list[i]
		if x.shared && len(rep.Incidents) == 0 {
			return nil
		}
		memory = memory || rep.Memory()
		b := rep.Brief(x.name, x.series, x.batch)
		b.Node = x.shared
		a.briefs = append(a.briefs, b)
		a.at[b.Job] = i
		return doc.job(x, rep)
	})
	if err != nil {
		return memory, err
	}
	a.summary = report.Summarize(a.briefs)
	a.stats.DurationMS = time.Since(j.begin).Milliseconds()
	return memory, doc.end()
}

// answer begins that to several jobs.
func (j *scan) answer(list []job) *answer {
	a := &answer{list: list, at: map[string]int{}, partial: j.interrupted()}
	a.total()
	return a
}

// total counts what was read. A log beside several jobs is among the parts of each that it tells of.
func (a *answer) total() {
	seen := map[string]bool{}
	for i := range a.list {
		for _, p := range a.list[i].parts {
			in := p.input
			if a.list[i].shared {
				a.shared = append(a.shared, in)
			}
			if seen[in.Name] {
				continue
			}
			seen[in.Name] = true
			a.inputs++
			a.stats.Bytes += in.Bytes
			a.stats.Lines += in.Lines
			a.truncated += in.Truncated
			if in.Error != nil {
				a.failed = append(a.failed, in)
			}
			if in.Error != nil || in.Truncated > 0 {
				a.odd = append(a.odd, in)
			}
		}
	}
}

// reports makes the report of each job and hands them over in order, by as many workers as the user allows. No more
// reports are kept than workers.
func (j *scan) reports(list []job, use func(i int, rep *report.Report) error) error {
	made := make([]chan *report.Report, len(list))
	for i := range made {
		made[i] = make(chan *report.Report, 1)
	}
	slots, stop := make(chan struct{}, j.options.jobs), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range list {
			select {
			case slots <- struct{}{}:
			case <-stop:
				return
			}
			wg.Go(func() {
				rep := j.report(list[i].parts)
				rep.Job = list[i].name
				made[i] <- &rep
			})
		}
	})
	var err error
	for i := range list {
		if err = use(i, <-made[i]); err != nil {
			break
		}
		<-slots
	}
	close(stop)
	wg.Wait()
	return err
}

// document is one form of the answer to several jobs: the reports as they come, and what is known at the end.
type document interface {
	job(x *job, rep *report.Report) error
	end() error
}

func (j *scan) document(a *answer) document {
	switch j.options.format {
	case "json":
		return &jsonDocument{a, report.NewJobsJSON(j.printer.out, version(), a.shared)}
	case "ndjson":
		return lineDocument{j.printer, a}
	}
	return textDocument{j, a}
}

// lineDocument is ndjson.
type lineDocument struct {
	printer *printer
	answer  *answer
}

func (d lineDocument) job(x *job, rep *report.Report) error {
	x.parts = nil // nobody asks again
	for i := range rep.Incidents {
		if err := report.NDJSON(d.printer.out, rep, &rep.Incidents[i], false); err != nil {
			return err
		}
	}
	return nil
}

func (d lineDocument) end() error {
	return report.NDJSONEnd(d.printer.out, d.answer.partial, d.answer.odd)
}

// jsonDocument is one document, written as the jobs come.
type jsonDocument struct {
	answer *answer
	to     *report.JobsJSON
}

func (d *jsonDocument) job(x *job, rep *report.Report) error {
	x.parts = nil // nobody asks again
	if x.shared {
		return d.to.Shared(x.name, x.why, rep)
	}
	return d.to.Job(x.name, x.why, rep)
}

func (d *jsonDocument) end() error {
	return d.to.Close(&d.answer.summary, d.answer.partial, d.answer.stats)
}

// textDocument is the table and the first reports, which are made again: which they are is known at the end.
type textDocument struct {
	scan   *scan
	answer *answer
}

func (textDocument) job(*job, *report.Report) error { return nil }

func (d textDocument) end() error {
	a, p := d.answer, d.scan.printer
	show := a.worthAReport()
	if p.told.any() {
		show = nil // they were told as they came
	}
	text := report.JobsText{
		Jobs: a.briefs, Summary: &a.summary, Inputs: a.inputs, Failed: a.failed, Stats: a.stats, Version: version(), Again: d.scan.again(), Shown: len(show), Partial: a.partial,
		Truncated: a.truncated,
	}
	if err := text.Write(p.out, p.style()); err != nil {
		return err
	}
	for _, i := range show {
		x := &a.list[i]
		rep := d.scan.report(x.parts)
		rep.Partial = false // it is said above
		if err := report.JobText(p.out, x.name, x.why, &rep, p.style()); err != nil {
			return err
		}
	}
	return nil
}

// worthAReport picks the jobs whose full reports are shown: the first of each cause, and any when there are few.
func (a *answer) worthAReport() []int {
	type cause struct{ framework, verdict, kind, phase string }
	seen := map[cause]bool{}
	brief := map[string]*report.Brief{}
	for i := range a.briefs {
		brief[a.briefs[i].Job] = &a.briefs[i]
	}
	var out []int
	for _, name := range a.summary.First {
		b := brief[name]
		c := cause{b.Framework, b.Causes[0].Verdict, b.Causes[0].Kind, b.Causes[0].Phase}
		if len(out) == mostReports || seen[c] && len(a.summary.First) > mostReports {
			continue
		}
		seen[c] = true
		out = append(out, a.at[name])
	}
	return out
}

// again is the command line for one job's report.
func (j *scan) again() string {
	const most = 3
	words := []string{"oomscan --job NAME"}
	if j.options.merging {
		words[0] = "oomscan merge --job NAME"
	}
	if j.options.each {
		words = append(words, "--each")
	}
	for i, p := range j.paths {
		if i == most {
			words = append(words, "...")
			break
		}
		if p == "" || strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%") != "" {
			p = "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
		}
		words = append(words, p)
	}
	return strings.Join(words, " ")
}
