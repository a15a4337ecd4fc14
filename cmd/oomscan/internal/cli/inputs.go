package cli

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser/source"
)

// part is what one input gave: a log, or the logs of an archive.
type part struct {
	collector *classifier.Collector
	inputs    []report.Input
	problems  []problem
	skipped   source.Skipped
}

// read notes a log that was read, as far as err let it.
func (p *part) read(in report.Input, err error) {
	if err != nil && err != io.EOF {
		p.fail(&in, err, "what was read before is in the report")
	}
	p.inputs = append(p.inputs, in)
}

// fail notes that an input could not be read to its end.
func (p *part) fail(in *report.Input, err error, hint string) {
	what := cause(err)
	in.Error = &what
	if !errors.Is(err, errInterrupted) { // the user knows
		p.problems = append(p.problems, problem{where: in.Name, what: what, hint: hint})
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

// one scans one input from its beginning to its end, with so many workers. The logs of an archive are listed as those of
// a folder are, whatever their order there.
func (j *scan) one(u *source.Unpacker, in source.Input, workers int) part {
	p := part{collector: classifier.NewCollector()}
	if closed(j.streams.Interrupt) {
		p.read(report.Input{Name: in.Name}, errInterrupted)
		return p
	}
	skipped, problems := u.Walk(in, func(name string, r io.Reader) {
		p.read(j.whole(name, r, workers, p.collector))
	})
	p.skipped = skipped
	for _, q := range problems {
		hint := q.Hint
		if hint == "" {
			hint = "what could be read is in the report"
		}
		res := report.Input{Name: q.Name}
		p.fail(&res, q.Err, hint)
		p.inputs = append(p.inputs, res)
	}
	slices.SortStableFunc(p.inputs, func(a, b report.Input) int { return comparePaths(a.Name, b.Name) })
	return p
}

// comparePaths orders names as folders list them: part by part.
func comparePaths(a, b string) int {
	for a != "" && b != "" {
		i, j := strings.IndexAny(a, "/!"), strings.IndexAny(b, "/!")
		x, y := a, b
		a, b = "", ""
		if i >= 0 {
			x, a = x[:i], x[i+1:]
		}
		if j >= 0 {
			y, b = y[:j], y[j+1:]
		}
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return cmp.Compare(a, b)
}

// take adds what an input gave to the whole.
func (j *scan) take(in *source.Input, p *part) {
	if p.collector != nil {
		j.collector.Merge(p.collector)
	}
	j.done = append(j.done, p.inputs...)
	for _, q := range p.problems {
		complain(j.streams.Err, q)
	}
	if p.skipped != (source.Skipped{}) {
		name := cmp.Or(in.From, in.Name)
		if j.skipped == nil {
			j.skipped = map[string]source.Skipped{}
		}
		sum := j.skipped[name]
		sum.Add(p.skipped)
		j.skipped[name] = sum
		if !slices.Contains(j.order, name) {
			j.order = append(j.order, name)
		}
	}
}

// unlisted tells what is not among the inputs and says whether that is a failure.
func (j *scan) unlisted(problems []source.Problem, others bool) (failed bool) {
	for _, q := range problems {
		if q.Note {
			continue
		}
		failed = true
		hint := q.Hint
		if hint == "" && others {
			hint = "it is missing in the report; the other inputs are read"
		}
		what := cause(q.Err)
		complain(j.streams.Err, problem{where: q.Name, what: what, hint: hint})
		j.done = append(j.done, report.Input{Name: q.Name, Error: &what})
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
		complain(j.streams.Err, problem{where: q.Name, what: sum.Error(), hint: q.Hint})
	}
	for _, name := range j.order {
		if s, ok := j.skipped[name]; ok {
			complain(j.streams.Err, problem{where: name, what: s.Error()})
		}
	}
}
