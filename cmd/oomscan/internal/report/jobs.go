package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"oomscan/parser/secret"
)

// Brief is a job in a line: what is kept of its report when there are many.
type Brief struct {
	Job       string // its name among the others
	Series    string // what it has in common with other submissions of the same work, empty: nothing
	Batch     string // the array that it is a task of, empty: none
	Node      bool   // not a job but a log beside several
	Framework string
	World     int // ranks, 0: unknown
	Causes    []Cause
}

// Cause is what one job's incidents have in common: what ran out, where in the run, with what certainty.
type Cause struct {
	Verdict, Kind, Resource, Phase string
	Survived                       bool
	Times                          int // incidents of this cause; of one job only
	Rank, Device                   *int
	Host                           string
	Why                            string // id of the cause, empty: unknown
	Fix                            string // the first proposal
	File                           string // of the root
	Line                           int
	Time                           *time.Time
}

// same reports whether two causes are the same to a person who repairs them.
func (c *Cause) same(o *Cause) bool {
	return c.Verdict == o.Verdict && c.Kind == o.Kind && c.Resource == o.Resource && c.Phase == o.Phase && c.Survived == o.Survived
}

// class orders causes by what to look at first: what killed the job, what may have, what it survived.
func (c *Cause) class() int {
	switch {
	case c.Survived:
		return 2
	case c.Verdict == "memory":
		return 0
	}
	return 1
}

// Brief is the job in a line. Its series is the run's own name for itself, else the one given.
func (r *Report) Brief(job, series, batch string) Brief {
	b := Brief{Job: secret.Text(job), Series: secret.Text(series), Batch: batch, Framework: r.Run.Framework}
	if r.Run.WorldSize != nil {
		b.World = *r.Run.WorldSize
	}
	if w := r.work(); w != "" {
		b.Series = w
	}
	for i := range r.Incidents {
		in := &r.Incidents[i]
		c := Cause{
			Verdict: in.Verdict, Kind: in.Kind, Resource: in.Resource, Phase: in.Phase, Survived: in.Survived, Times: 1,
			Rank: in.Root.Rank, Device: in.Root.Device, Host: deref(in.Root.Host),
			File: in.Root.File, Line: in.Root.Line, Time: in.Root.Time,
		}
		if in.Cause != nil {
			c.Why = in.Cause.ID
		}
		if len(in.Proposals) > 0 {
			c.Fix = fixOf(&in.Proposals[0])
		}
		if k := slices.IndexFunc(b.Causes, func(o Cause) bool { return o.same(&c) }); k >= 0 {
			b.Causes[k].Times++
		} else {
			b.Causes = append(b.Causes, c)
		}
	}
	slices.SortStableFunc(b.Causes, func(x, y Cause) int { return cmp.Compare(x.class(), y.class()) })
	return b
}

// work is what the run calls itself in its settings.
func (r *Report) work() string {
	for _, key := range []string{"trainer.experiment_name", "experiment_name", "job-name", "--job-name", "job_name", "run_name", "--run_name"} {
		if s, ok := r.Run.Config[key]; ok && s.Value != "" && s.Value != "None" && s.Value != "null" {
			return s.Value
		}
	}
	return ""
}

// JobQuery chooses the jobs that are reported, by their incidents. The empty one takes all jobs.
type JobQuery struct {
	Kind, Host string
	Since      time.Time
}

// Takes reports whether a job has an incident of the kind, on the host and since the time that are asked for. An incident whose time the
// log does not tell is not since any.
func (q JobQuery) Takes(b *Brief) bool {
	return q == JobQuery{} || slices.ContainsFunc(b.Causes, func(c Cause) bool {
		return (q.Kind == "" || c.Kind == q.Kind) && (q.Host == "" || c.Host == q.Host || strings.HasPrefix(c.Host, q.Host+".")) &&
			(q.Since.IsZero() || c.Time != nil && !c.Time.Before(q.Since))
	})
}

// sorts are the orders of the table, by the words of --sort.
var sorts = map[string]func(a, b *Brief) int{
	"priority": func(_, _ *Brief) int { return 0 },
	"name":     func(a, b *Brief) int { return strings.Compare(a.Job, b.Job) },
	"kind":     func(a, b *Brief) int { return compareKnown(a.Causes[0].Kind, b.Causes[0].Kind) },
	"phase":    func(a, b *Brief) int { return compareKnown(a.Causes[0].Phase, b.Causes[0].Phase) },
	"cause":    func(a, b *Brief) int { return compareKnown(a.Causes[0].Why, b.Causes[0].Why) },
	"host":     func(a, b *Brief) int { return compareKnown(a.Causes[0].Host, b.Causes[0].Host) },
	"size":     func(a, b *Brief) int { return cmp.Compare(b.World, a.World) },
	"time":     func(a, b *Brief) int { return stampOf(b).Compare(stampOf(a)) },
}

// compareKnown compares words, those that are not known behind the others.
func compareKnown(a, b string) int {
	a, b = unknownless(a), unknownless(b)
	return cmp.Or(before(a != "", b != ""), strings.Compare(a, b))
}

// Sorts are the words of --sort.
func Sorts() []string { return slices.Sorted(maps.Keys(sorts)) }

// stampOf is when a job's first incident happened, the zero time when the log does not tell.
func stampOf(b *Brief) time.Time {
	if t := b.Causes[0].Time; t != nil {
		return *t
	}
	return time.Time{}
}

// Summary is what many jobs have in common. Its keys are always present.
type Summary struct {
	Jobs       int            `json:"jobs"`
	Memory     int            `json:"memory"`   // jobs with an incident of verdict memory that they did not survive
	Suspect    int            `json:"suspect"`  // of the others, those with a suspect
	Survived   int            `json:"survived"` // of the others, those that survived one
	Healthy    int            `json:"healthy"`  // jobs without an incident
	Kinds      map[string]int `json:"kinds"`    // jobs by what they have incidents of
	Phases     map[string]int `json:"phases"`
	Frameworks map[string]int `json:"frameworks"`
	Hosts      map[string]int `json:"hosts"`
	First      []string       `json:"look_at_first"`    // jobs with incidents, in this order
	Places     []Place        `json:"recurring_places"` // where memory ran out first again and again
	Repeats    []Repeat       `json:"repeated_causes"`  // work that was tried again and died of the same
}

// Place is a node, or a GPU of one, that keeps appearing.
type Place struct {
	Host   string   `json:"host"`
	Device *int     `json:"device"`
	Jobs   []string `json:"jobs"`
	Of     int      `json:"of"` // jobs with incidents that tell such a place
}

// Repeat is work that died of one cause more than once.
type Repeat struct {
	Work  string   `json:"work"` // the job, the array, or what the submissions are called
	How   string   `json:"how"`  // restarted, resubmitted, array
	Jobs  []string `json:"jobs"`
	Times int      `json:"times"`
	Of    int      `json:"of"` // submissions or tasks in all; for a job that was started again, its incidents
	Kind  string   `json:"kind"`
	Phase string   `json:"phase"`
}

// Bounds of what is said about many jobs.
const (
	leastPlace = 3 // jobs that a place must appear in
	leastArray = 3 // tasks
)

// Summarize tells what jobs have in common, and in which order to look at them: those that died of memory first; among
// equals those that died of the same before, then the largest.
func Summarize(jobs []Brief) Summary {
	s := Summary{
		Kinds: map[string]int{}, Phases: map[string]int{}, Frameworks: map[string]int{}, Hosts: map[string]int{},
		First: []string{}, Places: []Place{}, Repeats: []Repeat{},
	}
	var hurt []*Brief
	for i := range jobs {
		b := &jobs[i]
		if !b.Node {
			s.Jobs++
		}
		if len(b.Causes) == 0 {
			if !b.Node {
				s.Healthy++
			}
			continue
		}
		hurt = append(hurt, b)
		s.count(b)
	}
	s.Repeats = append(s.Repeats, repeats(jobs)...)
	s.Places = append(s.Places, places(hurt)...)
	again := map[string]bool{}
	for _, r := range s.Repeats {
		for _, j := range r.Jobs {
			again[j] = true
		}
	}
	slices.SortStableFunc(hurt, func(a, b *Brief) int {
		return cmp.Or(
			cmp.Compare(a.Causes[0].class(), b.Causes[0].class()), before(again[a.Job], again[b.Job]),
			before(!a.Node, !b.Node), cmp.Compare(b.World, a.World),
		)
	})
	for _, b := range hurt {
		s.First = append(s.First, b.Job)
	}
	return s
}

// before orders what is so before what is not.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// count adds a job with incidents to the counts.
func (s *Summary) count(b *Brief) {
	if !b.Node {
		switch b.Causes[0].class() {
		case 0:
			s.Memory++
		case 1:
			s.Suspect++
		default:
			s.Survived++
		}
		s.Frameworks[b.Framework]++
	}
	tally(s.Kinds, b, func(c *Cause) string { return c.Kind })
	tally(s.Phases, b, func(c *Cause) string { return c.Phase })
	tally(s.Hosts, b, func(c *Cause) string { return c.Host })
}

// tally counts a job once for each word that its causes have.
func tally(to map[string]int, b *Brief, word func(*Cause) string) {
	var seen []string
	for i := range b.Causes {
		if w := word(&b.Causes[i]); w != "" && !slices.Contains(seen, w) {
			seen = append(seen, w)
			to[w]++
		}
	}
}

// places finds the nodes and GPUs where memory ran out first in more jobs than elsewhere: at least three, and twice as many
// as on the others on average.
func places(hurt []*Brief) []Place {
	hosts, devices := map[string][]string{}, map[string][]string{}
	device := map[string]Cause{}
	on := func(m map[string][]string, key, job string) {
		if l := m[key]; len(l) == 0 || l[len(l)-1] != job {
			m[key] = append(l, job)
		}
	}
	for _, b := range hurt {
		for i := range b.Causes {
			c := &b.Causes[i]
			if c.Host == "" {
				continue
			}
			on(hosts, c.Host, b.Job)
			if c.Device != nil && c.Resource == "gpu" {
				key := fmt.Sprintf("%s\x00%d", c.Host, *c.Device)
				device[key] = *c
				on(devices, key, b.Job)
			}
		}
	}
	var out []Place
	for _, set := range []map[string][]string{devices, hosts} {
		sum := 0
		for _, l := range set {
			sum += len(l)
		}
		for key, l := range set {
			if others := len(set) - 1; len(l) < leastPlace || others > 0 && len(l)*others < 2*(sum-len(l)) {
				continue
			}
			p := Place{Host: key, Jobs: l, Of: sum}
			if c, ok := device[key]; ok {
				p.Host, p.Device = c.Host, c.Device
			}
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Place) int {
		return cmp.Or(cmp.Compare(len(b.Jobs), len(a.Jobs)), strings.Compare(a.Host, b.Host), before(a.Device != nil, b.Device != nil))
	})
	// A GPU stands out of its node when most of the node's failures are its own; when all are, the node says nothing new.
	found := slices.Clone(out)
	return slices.DeleteFunc(out, func(p Place) bool {
		if p.Device != nil {
			return 2*len(p.Jobs) < len(hosts[p.Host])
		}
		return slices.ContainsFunc(found, func(q Place) bool { return q.Device != nil && q.Host == p.Host && len(q.Jobs) == len(p.Jobs) })
	})
}

// repeats finds what died of one cause more than once: a job whose attempts did, and work that was submitted anew and the
// tasks of an array, if at least half of them did.
func repeats(jobs []Brief) []Repeat {
	var out []Repeat
	type submission struct{ series, kind, phase, framework string }
	again := map[submission][]*Brief{}
	arrays := map[submission][]*Brief{}
	all := map[string]int{} // submissions by series, tasks by array
	for i := range jobs {
		b := &jobs[i]
		if b.Node {
			continue
		}
		all[b.group()]++
		seen := map[submission]bool{}
		for i := range b.Causes {
			c := &b.Causes[i]
			if c.class() != 0 {
				continue
			}
			if c.Times > 1 {
				out = append(out, Repeat{Work: b.Job, How: "restarted", Jobs: []string{b.Job}, Times: c.Times, Of: c.Times, Kind: c.Kind, Phase: c.Phase})
			}
			key := submission{b.group(), c.Kind, c.Phase, b.Framework}
			to := again
			if b.Batch != "" {
				to = arrays
			}
			if key.series != "" && !seen[key] {
				seen[key] = true
				to[key] = append(to[key], b)
			}
		}
	}
	add := func(how string, set map[submission][]*Brief, least int) {
		for key, list := range set {
			if len(list) < least || 2*len(list) < all[key.series] {
				continue
			}
			r := Repeat{Work: key.series, How: how, Times: len(list), Of: all[key.series], Kind: key.kind, Phase: key.phase}
			for _, b := range list {
				r.Jobs = append(r.Jobs, b.Job)
			}
			out = append(out, r)
		}
	}
	add("resubmitted", again, 2)
	add("array", arrays, leastArray)
	slices.SortFunc(out, func(a, b Repeat) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), strings.Compare(a.Work, b.Work), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Phase, b.Phase))
	})
	return out
}

// group is the array that a job is a task of, else the work that it was submitted for.
func (b *Brief) group() string { return cmp.Or(b.Batch, b.Series) }
