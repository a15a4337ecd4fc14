package classifier

import (
	"slices"

	"oomscan/parser"
)

// maxSteppers is the most writers per input whose steps are counted separately. Few writers of a program report steps.
const maxSteppers = 8

// stepper is a writer that reports training steps, or weaker signs that it goes on.
type stepper struct {
	Label string // see envelope.Header.Launched
	Last  int    // highest step of this attempt
	Count int    // steps reported
}

// steppers are those of one input.
type steppers []stepper

// count counts for a writer what is higher than all before.
func (s *steppers) count(label string, step int) {
	i := slices.IndexFunc(*s, func(x stepper) bool { return x.Label == label })
	if i < 0 {
		if len(*s) == maxSteppers {
			return
		}
		i = len(*s)
		*s = append(*s, stepper{Label: label, Last: -1})
	}
	if x := &(*s)[i]; step > x.Last {
		x.Last, x.Count = step, x.Count+1
	}
}

// now returns how much each writer has reported so far.
func (s steppers) now() []int {
	var out []int
	for _, x := range s {
		out = append(out, x.Count)
	}
	return out
}

// behind returns how many steps were reported since then, without those of other programs than the event's.
func (c *conclusion) behind(s steppers, then []int, all int, e *event) int {
	own, others := 0, false
	for i, x := range s {
		n := x.Count - at(then, i)
		if c.job.otherJob(e.file, e.Header.Launched(), x.Label) {
			others = true
		} else {
			own += n
		}
	}
	if others {
		return min(own, all)
	}
	return all
}

// at returns an element, or 0 if there is none.
func at(list []int, i int) int {
	if i < len(list) {
		return list[i]
	}
	return 0
}

// countedOn reports whether the writer of two events of one input showed more progress between them than can wait in the
// buffer of a process that dies.
func countedOn(a, b *event) bool {
	const many = 10
	if a.Kind == parser.OOMKill && b.Kind == parser.OOMKill {
		return false // a killer also counts what it killed long before
	}
	by, signs := a.Header.Launched(), a.file.Signs
	bars := b.Bars - a.Bars // nobody buffers them
	switch {
	case len(signs) > 1, by == "" && a.Header.Stream != "":
		bars = 0 // they may be another writer's
	case uncaught(a.Trace):
		bars = b.OldBars - a.OldBars // a new one may be another program's
	}
	late := b.At.Offset-a.At.Offset < outputBuffer && bars < 3 && memoryOf(a) == memoryOf(b) // one that is dying does not fail in another way
	if late || b.Header.Launched() != by {
		return false
	}
	i := slices.IndexFunc(signs, func(s stepper) bool { return s.Label == by })
	if i < 0 && len(signs) == maxSteppers {
		return b.Progress-a.Progress >= many
	}
	return i >= 0 && at(b.SignsBy, i)-at(a.SignsBy, i) >= many
}

// ownSteps reports whether a training step between two events of one input may be their program's. If every line names its
// writer, steps of a writer that failed differently belong to another program: launchers also merge logs of several programs.
func (c *cluster) ownSteps(a, b *event) bool {
	if b.Steps-a.Steps < 1 {
		return false
	}
	if a.Header.Launched() == "" || b.Header.Launched() == "" || len(a.file.Steppers) == maxSteppers {
		return true
	}
	for i, n := range b.StepsBy {
		if n > at(a.StepsBy, i) && !c.otherJobs(a.file.Steppers[i].Label, a, b) {
			return true
		}
	}
	return false
}

// otherJobs reports whether two launchers' labels mark different programs: some of their failures cannot come from one.
func (c *cluster) otherJobs(label string, events ...*event) bool {
	return !slices.ContainsFunc(events, func(e *event) bool { return !c.job.otherJob(e.file, e.Header.Launched(), label) })
}

// otherJob reports whether two launchers' labels of one input mark different programs.
func (j *job) otherJob(f *file, own, label string) bool {
	return own != "" && label != "" && own != label && j.differ(f, own, label)
}

// differ reports whether the writers of two labels failed in ways that no single program does.
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
