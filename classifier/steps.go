package classifier

import (
	"slices"
)

// maxSteppers is of how many writers of one input the training steps are counted apart. A program has one or a few that
// report them.
const maxSteppers = 8

// stepper is a writer that reports training steps.
type stepper struct {
	Label string // see envelope.Header.Launched
	Last  int    // highest step of this attempt
	Count int    // steps reported
}

// countStep counts a step for its writer.
func (f *file) countStep(label string, step int) {
	i := slices.IndexFunc(f.Steppers, func(s stepper) bool { return s.Label == label })
	if i < 0 {
		if len(f.Steppers) == maxSteppers {
			return
		}
		i = len(f.Steppers)
		f.Steppers = append(f.Steppers, stepper{Label: label, Last: -1})
	}
	if s := &f.Steppers[i]; step > s.Last {
		s.Last, s.Count = step, s.Count+1
	}
}

// stepsNow is how many steps each writer has reported so far.
func (f *file) stepsNow() []int {
	var out []int
	for _, s := range f.Steppers {
		out = append(out, s.Count)
	}
	return out
}

// ownSteps reports whether a training step was reported between two events of one input that may be their program's. Where
// every line says who wrote it, the steps of a writer that failed in another way, as another program, are not: logs of
// several programs are put together by launchers, too.
func (c *cluster) ownSteps(a, b *event) bool {
	if b.Steps-a.Steps < 1 {
		return false
	}
	if a.Header.Launched() == "" || b.Header.Launched() == "" || len(a.file.Steppers) == maxSteppers {
		return true
	}
	for i, n := range b.StepsBy {
		if i < len(a.StepsBy) {
			n -= a.StepsBy[i]
		}
		if n > 0 && !c.otherJobs(a.file.Steppers[i].Label, a, b) {
			return true
		}
	}
	return false
}

// otherJobs reports whether the programs behind two launchers' labels differ: some of their failures cannot be those of one.
func (c *cluster) otherJobs(label string, events ...*event) bool {
	return label != "" && !slices.ContainsFunc(events, func(e *event) bool {
		own := e.Header.Launched()
		return own == label || !c.job.differ(e.file, own, label)
	})
}

// differ reports whether the writers behind two labels of one input failed in ways that no one program does.
func (j *job) differ(f *file, one, other string) bool {
	pair := couple{f, one, other}
	yes, known := j.index.different[pair]
	if !known {
		yes = j.compare(f, one, other)
		j.index.different[pair] = yes
	}
	return yes
}

func (j *job) compare(f *file, one, other string) bool {
	var a, b []*event
	for _, x := range j.index.evidences[f] {
		switch x.Header.Launched() {
		case one:
			a = append(a, x)
		case other:
			b = append(b, x)
		}
	}
	return slices.ContainsFunc(a, func(x *event) bool {
		return slices.ContainsFunc(b, func(y *event) bool { return j.unrelated(x, y) })
	})
}

// unrelated reports whether two failures cannot be those of one program.
func (j *job) unrelated(a, b *event) bool {
	if incompatible(a, b) || otherDays(a, b) {
		return true
	}
	s, t := j.traceOf(a), j.traceOf(b)
	return s != nil && t != nil && j.differentPrograms(a, b, s, t)
}
