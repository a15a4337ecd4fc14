package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser/source"
)

// inputResult is what one input gave: a log, or the logs of an archive.
type inputResult struct {
	results  []logResult
	records  []record // of files of observations
	problems []problem
	skipped  source.Skipped
}

// read notes a log that was read, as far as err let it.
func (h *inputResult) read(in report.Input, c *classifier.Collector, err error) {
	if err != nil && err != io.EOF {
		h.fail(&in, err, "what was read before is in the report")
	}
	h.results = append(h.results, logResult{input: in, collector: c})
}

// fail notes that an input could not be read to its end.
func (h *inputResult) fail(in *report.Input, err error, hint string) {
	what := cause(err)
	in.Error = &what
	if !errors.Is(err, errInterrupted) { // the user knows
		h.problems = append(h.problems, problem{where: in.Name, what: what, hint: hint})
	}
}

// unpacker opens the inputs of this call.
func (j *scan) unpacker(stdin io.Reader) *source.Unpacker {
	return &source.Unpacker{Limits: j.options.limits, Stdin: stdin, Check: func() error {
		if closed(j.streams.Interrupt) {
			return errInterrupted
		}
		return nil
	}}
}

// one reads one input from its beginning to its end, with so many workers.
func (j *scan) one(u *source.Unpacker, in source.Input, workers int) inputResult {
	var h inputResult
	m := j.progress.meter(in.Size)
	defer m.end()
	visits := source.Visits{Observations: func(name string, r io.Reader) { j.recorded(&h, name, r) }}
	if !j.options.merging {
		visits.Log = func(name string, r io.Reader) {
			c := classifier.NewCollector()
			res, err := j.whole(name, r, workers, c.Add, m)
			h.read(res, c, err)
			j.packIfMany(&h.results[len(h.results)-1])
		}
	}
	j.walk(u, in, &h, visits, m)
	return h
}

// walk hands what is in an input to visits, which note in h what they read, notes there what went wrong besides, and
// returns the results for that. The logs of an archive are listed as those of a folder are, whatever their order there.
func (j *scan) walk(u *source.Unpacker, in source.Input, h *inputResult, visits source.Visits, m *meter) (missing []logResult) {
	if in.Packed {
		in.Count = m.add
	}
	fail := func(name string, err error, hint string) {
		res := report.Input{Name: name}
		h.fail(&res, err, hint)
		missing = append(missing, logResult{input: res})
	}
	if closed(j.streams.Interrupt) {
		fail(in.Name, errInterrupted, "")
	} else {
		var problems []source.Problem
		h.skipped, problems = u.Walk(in, visits)
		for _, q := range problems {
			fail(q.Name, q.Err, cmp.Or(q.Hint, "what could be read is in the report"))
		}
	}
	h.results = append(h.results, missing...)
	for i := range h.results {
		h.results[i].from = in.Name
	}
	slices.SortStableFunc(h.results, func(a, b logResult) int { return comparePaths(a.input.Name, b.input.Name) })
	return missing
}

// comparePaths orders names as folders list them: part by part.
func comparePaths(a, b string) int { return cmp.Compare(pathEnds.Replace(a), pathEnds.Replace(b)) }

// pathEnds makes what ends an element of a path sort before all that one may hold.
var pathEnds = strings.NewReplacer("/", "\x00", "!", "\x00")

// take says what went wrong with an input, notes what was passed over in it, and returns its results.
func (j *scan) take(in *source.Input, h *inputResult) []logResult {
	for _, q := range h.problems {
		complain(j.streams.Err, q)
	}
	j.records = append(j.records, h.records...)
	if h.skipped != (source.Skipped{}) {
		name := cmp.Or(in.From, in.Name)
		if j.skipped == nil {
			j.skipped = map[string]source.Skipped{}
		}
		sum := j.skipped[name]
		sum.Add(h.skipped)
		j.skipped[name] = sum
		if !slices.Contains(j.order, name) {
			j.order = append(j.order, name)
		}
	}
	return h.results
}

func (j *scan) takeAll(inputs []source.Input, all []inputResult) []logResult {
	results := make([]logResult, 0, len(inputs))
	for i := range all {
		results = append(results, j.take(&inputs[i], &all[i])...)
	}
	return results
}

// unlisted tells what is not among the inputs, and returns a result for each failure.
func (j *scan) unlisted(problems []source.Problem, others bool) []logResult {
	var failed []logResult
	for _, q := range problems {
		if q.Note {
			continue
		}
		hint := q.Hint
		if near, ok := source.Closest(q.Name, j.options.commands); hint == "" && ok && errors.Is(q.Err, fs.ErrNotExist) {
			hint = fmt.Sprintf("did you mean the command \"oomscan %s\"?", near)
		}
		if hint == "" && others {
			hint = "the report does not cover it; the other inputs are read"
		}
		what := cause(q.Err)
		complain(j.streams.Err, problem{where: q.Name, what: what, hint: hint})
		failed = append(failed, logResult{input: report.Input{Name: q.Name, Error: &what}})
	}
	return failed
}

// tellSkipped says in one line for each path of the command line what was passed over there, in the folder and in the
// archives that it holds.
func (j *scan) tellSkipped(problems []source.Problem) {
	for _, q := range problems {
		var s *source.Skipped
		if !q.Note || !errors.As(q.Err, &s) {
			continue
		}
		sum := *s
		sum.Add(j.skipped[q.Name])
		delete(j.skipped, q.Name)
		complain(j.streams.Err, problem{where: q.Name, what: sum.Error(), hint: sum.Hint()})
	}
	for _, name := range j.order {
		if s, ok := j.skipped[name]; ok {
			complain(j.streams.Err, problem{where: name, what: s.Error(), hint: s.Hint()})
		}
	}
}
