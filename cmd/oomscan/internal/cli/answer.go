package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/jobs"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser/secret"
	"oomscan/parser/source"
)

// finish makes jobs of all results, writes the answer and returns the exit status. The error is what kept incidents from
// being reported while logs were read, if anything: then nothing more is written.
func (j *scan) finish(results []logResult, err error) (int, error) {
	// the order in which inputs were given, or scanned elsewhere, is not to be seen
	slices.SortStableFunc(results, func(a, b logResult) int { return comparePaths(a.input.Name, b.input.Name) })
	failed := unread(results)
	list, choice := j.chosen(j.group(results))
	memory := false
	if choice != nil {
		err, failed = cmp.Or(err, choice), true
	} else {
		memory, err = j.answer(list, err)
	}
	if cerr := j.close(); err == nil {
		err = cerr
	}
	switch {
	case j.interrupted():
		return exitInterrupted, err
	case memory:
		return exitMemory, err
	case failed:
		return exitTrouble, err
	}
	return exitClean, err
}

// answer writes the reports of all jobs and says whether memory ran out in any. A report is made, written and dropped.
// After an error of the output nothing more is written.
func (j *scan) answer(list []job, failed error) (memory bool, err error) {
	a := j.total(list)
	j.redactTotal(a)
	at := map[string]*job{}
	a.Remake = func(name string) report.Job {
		x := at[name]
		rep := j.report(x.results, false)
		rep.Partial = false // it stands above the table
		j.redact(&rep)
		return x.with(&rep)
	}
	if failed == nil {
		failed = j.reporter.Begin(a)
	}
	err = j.reports(list, func(i int, rep *report.Report) error {
		x := &list[i]
		j.redactJob(x, rep)
		if x.shared && len(rep.Incidents) == 0 {
			return nil
		}
		b := rep.Brief(x.name, x.series, x.batch)
		if a.Total++; a.Several && !j.query.Takes(&b) {
			return nil
		}
		memory = memory || rep.Memory()
		if failed != nil {
			return nil // the status is wanted all the same
		}
		if a.Live {
			if err := j.state.printNew(rep, true); err != nil {
				return err
			}
		}
		if a.Several {
			b.Node = x.shared
			a.Briefs = append(a.Briefs, b)
			at[b.Job] = x
		}
		job := x.with(rep)
		if j.folder != nil && (!rep.Partial || rep.Stats.Bytes > 0) { // an earlier report may be there
			if err := j.folder.write(&job); err != nil {
				return err
			}
		}
		return j.reporter.Job(&job)
	})
	if err = cmp.Or(failed, err); err != nil {
		return memory, err
	}
	j.redactTotal(a)
	a.Summary = report.Summarize(a.Briefs)
	a.Stats.DurationMS = time.Since(j.begin).Milliseconds()
	if j.folder != nil {
		if err := j.folder.done(a); err != nil {
			return memory, err
		}
	}
	return memory, j.reporter.End()
}

// redactTotal redacts what is known beside the reports: before the first one, and with the hosts that all name.
func (j *scan) redactTotal(a *report.Answer) {
	if j.redactor == nil {
		return
	}
	for _, inputs := range [][]report.Input{a.Shared, a.Failed, a.Odd} {
		j.redactor.Inputs(inputs)
	}
	a.Again = "oomscan --job NAME LOGS"
}

// redactJob redacts a job and its report, if the user asks for that.
func (j *scan) redactJob(x *job, r *report.Report) {
	if j.redact(r); j.redactor != nil {
		x.name, x.series = j.redactor.Name(x.name), j.redactor.Name(x.series)
		r.Job = x.name
	}
}

func (j *scan) redact(r *report.Report) {
	if j.redactor != nil {
		j.redactor.Report(r)
	}
}

func (x *job) with(rep *report.Report) report.Job {
	return report.Job{Name: x.name, Why: x.why, Shared: x.shared, Report: rep}
}

// total counts what was read. A log beside several jobs is among the results of each that it tells of.
func (j *scan) total(list []job) *report.Answer {
	a := &report.Answer{Version: version(), Several: len(list) > 1, Live: j.state.any(), Partial: j.interrupted(), Again: j.again(), Sort: j.options.sort, All: j.options.all}
	seen := map[string]bool{}
	for i := range list {
		for _, p := range list[i].results {
			in := p.input
			if list[i].shared {
				a.Shared = append(a.Shared, in)
			}
			if len(list) > 1 {
				if seen[in.Name] {
					continue
				}
				seen[in.Name] = true
			}
			a.Inputs++
			a.Stats.Bytes += in.Bytes
			a.Stats.Lines += in.Lines
			a.Truncated += in.Truncated
			if in.Error != nil {
				a.Failed = append(a.Failed, in)
			}
			if in.Error != nil || in.Truncated > 0 {
				a.Odd = append(a.Odd, in)
			}
		}
	}
	return a
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
				rep := j.report(list[i].results, len(list) == 1) // of several, the reports above the table are made again
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

// again is the command line for one job's report. Credentials in the names of files are masked, as everywhere.
func (j *scan) again() string {
	const most = 3
	words := []string{"oomscan --job NAME"}
	if j.options.merging {
		words[0] = "oomscan merge --job NAME"
	}
	if j.options.each {
		words = append(words, "--each")
	}
	for _, p := range j.options.rules {
		words = append(words, "--rules", source.Quote(secret.Stable(p)))
	}
	for i, p := range j.paths {
		if i == most {
			words = append(words, "...")
			break
		}
		words = append(words, source.Quote(secret.Stable(p)))
	}
	return strings.Join(words, " ")
}

// unread reports whether an input could not be read to its end.
func unread(results []logResult) bool {
	return slices.ContainsFunc(results, func(p logResult) bool { return p.input.Error != nil })
}

// job is one run and the results that tell of it.
type job struct {
	name    string // among several; empty: it is the only one
	why     string // what keeps its logs together
	series  string
	batch   string
	shared  bool // it is no job but what is left of a log beside several
	results []logResult
}

// group tells which results are one job. The order of several does not depend on that of the results.
func (j *scan) group(results []logResult) []job {
	switch {
	case j.options.oneJob || len(results) < 2:
		return []job{{results: results}}
	case j.options.each:
		return each(results)
	}
	sorted, byName := results, func(a, b logResult) int { return comparePaths(a.input.Name, b.input.Name) }
	if !slices.IsSortedFunc(results, byName) {
		sorted = slices.Clone(results)
		slices.SortStableFunc(sorted, byName)
	}
	logs := make([]jobs.Log, len(sorted))
	for i := range sorted {
		logs[i] = jobs.Log{Name: sorted[i].input.Name, Clues: sorted[i].jobClues()}
	}
	found := jobs.Group(logs)
	own := slices.IndexFunc(found, func(f jobs.Job) bool { return f.Among != nil })
	if own < 0 {
		own = len(found)
	}
	if own < 2 {
		return []job{{results: results}} // in the order in which they were given
	}
	if j.named(results) && !differentIDs(found[:own]) {
		j.tellJobs(found[:own])
		return []job{{results: results}}
	}
	list := make([]job, 0, len(found))
	for _, f := range found[:own] {
		x := job{name: f.Name, why: f.Why, series: f.Series}
		if id, _, ok := strings.Cut(f.ID, "_"); ok && strings.Trim(id, "0123456789") == "" {
			x.batch = id
		}
		for _, i := range f.Logs {
			x.results = append(x.results, sorted[i])
		}
		list = append(list, x)
	}
	for _, f := range found[own:] {
		list = j.deal(list, &f, found, logs, sorted)
	}
	return list
}

// differentIDs reports whether the names of files carry the ids of at least two jobs.
func differentIDs(found []jobs.Job) bool {
	n := 0
	for _, f := range found {
		if f.Why == jobs.ByName {
			n++
		}
	}
	return n > 1
}

// named reports whether the user gave each log by its name: such are one job, unless their names carry different job ids.
func (j *scan) named(results []logResult) bool {
	given := map[string]bool{}
	for _, p := range j.paths {
		given[p] = true
	}
	return !slices.ContainsFunc(results, func(p logResult) bool {
		return cmp.Or(p.from, p.input.Name) != p.input.Name || !given[p.input.Name]
	})
}

// tellJobs says that logs which are read as one job look like those of several.
func (j *scan) tellJobs(found []jobs.Job) {
	const most = 3
	var names []string
	for _, f := range found[:min(most, len(found))] {
		names = append(names, f.Name)
	}
	if len(found) > most {
		names = append(names, "...")
	}
	complain(j.streams.Err, problem{
		where: strings.Join(names, ", "), what: fmt.Sprintf("the logs look like %d jobs and are read as one, because each was given by its name", len(found)),
		hint: "give the folder to separate them, or --each to make every input a job",
	})
}

// each makes a job of every input: a log, or an archive with all that it holds.
func each(results []logResult) []job {
	var list []job
	at := map[string]int{}
	for _, p := range results {
		name := cmp.Or(p.from, p.input.Name)
		i, ok := at[name]
		if !ok {
			i = len(list)
			at[name] = i
			list = append(list, job{name: name, why: "--each"})
		}
		list[i].results = append(list[i].results, p)
	}
	slices.SortStableFunc(list, func(a, b job) int { return comparePaths(a.name, b.name) })
	if len(list) == 1 {
		list[0].name = ""
	}
	return list
}

// deal gives each job what a log beside several tells of it, by the job's id or by a process that the job's own logs know.
// The rest is kept as a report of its own.
func (j *scan) deal(list []job, f *jobs.Job, found []jobs.Job, logs []jobs.Log, sorted []logResult) []job {
	p := sorted[f.Logs[0]]
	facts := p.facts()
	if facts == nil {
		return append(list, job{name: f.Name, why: f.Why, shared: true, results: []logResult{p}})
	}
	byID := map[string]int{}
	for _, i := range f.Among {
		for _, id := range append(found[i].Aliases, found[i].ID) {
			byID[id] = i
		}
	}
	dealt, rest := facts.Deal(func(v classifier.Victim) int {
		if v.Job != "" {
			if i, ok := byID[v.Job]; ok {
				return i
			}
			return -1
		}
		owner := -1
		for _, i := range f.Among {
			if slices.ContainsFunc(found[i].Logs, func(k int) bool { return knows(logs[k].Clues, v) }) {
				if owner >= 0 {
					return -1
				}
				owner = i
			}
		}
		return owner
	})
	for i, c := range dealt {
		list[i].results = append(list[i].results, logResult{input: p.input, collector: c, from: p.from, version: p.version})
	}
	return append(list, job{name: f.Name, why: f.Why, shared: true, results: []logResult{{input: p.input, collector: rest, from: p.from, version: p.version}}})
}

// knows reports whether a log tells of a process, and of no other node than the one that the process is on.
func knows(c *classifier.Clues, v classifier.Victim) bool {
	if c == nil {
		return false
	}
	if _, ok := slices.BinarySearch(c.PIDs, v.PID); !ok {
		return false
	}
	short := func(h string) string { h, _, _ = strings.Cut(h, "."); return h }
	return v.Host == "" || len(c.Hosts) == 0 || slices.ContainsFunc(c.Hosts, func(h string) bool { return short(h) == short(v.Host) })
}

// chosen keeps the job that --job names, by its name or the end of it: the table has room for no more of a long one.
func (j *scan) chosen(list []job) ([]job, error) {
	name := j.options.job
	if name == "" {
		return list, nil
	}
	var near []job
	for _, x := range list {
		if x.name == name {
			return []job{x}, nil
		}
		if strings.HasSuffix(x.name, name) {
			near = append(near, x)
		}
	}
	switch {
	case len(near) == 1:
		return near, nil
	case len(near) > 1:
		return nil, problem{where: "--job", what: fmt.Sprintf("%d jobs have names that end in %q", len(near), name), hint: fmt.Sprintf("one of them is %q", near[0].name)}
	case len(list) == 1:
		return nil, problem{where: "--job", what: "all inputs are one job", hint: "leave --job out"}
	}
	return nil, problem{where: "--job", what: fmt.Sprintf("no job is called %q", name), hint: "the table without --job has the names"}
}

// report is the answer to what one job's logs gave. The last report of a job drops what the logs gave once it is joined: packed
// results of a thousand logs take as much as a report.
func (j *scan) report(results []logResult, last bool) report.Report {
	c := classifier.NewCollector()
	inputs := make([]report.Input, 0, len(results))
	most := mostOf(results)
	for i := range results {
		in := results[i].input
		if facts := results[i].facts(); facts != nil {
			if results[i].packed != nil { // this answer's alone
				in.Shortened = facts.Bound(most)
			}
			c.Merge(facts)
		}
		if last {
			results[i].collector, results[i].packed = nil, nil
		}
		inputs = append(inputs, in)
	}
	res := c.ResultWith(classifier.Overrides{Framework: j.options.framework, Settings: j.extra})
	rep := report.New(version(), inputs, res, j.options.pack.Guides...)
	rep.Partial = j.interrupted()
	rep.Stats.DurationMS = time.Since(j.begin).Milliseconds()
	return rep
}

// mostOf is how much of what a job may take each of its packed logs may.
func mostOf(results []logResult) int {
	var sizes []int
	for i := range results {
		if results[i].packed != nil {
			sizes = append(sizes, results[i].size)
		}
	}
	return classifier.Share(sizes)
}
