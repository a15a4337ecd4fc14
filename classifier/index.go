package classifier

import (
	"cmp"
	"slices"

	"oomscan/parser"
	"oomscan/parser/traceback"
)

// index holds a job's events in ordered lists. With tens of thousands of events and incidents, each incident cannot search all
// events.
type index struct {
	byFile    map[*file][]*event
	traced    []*event            // with a traceback
	tracedBy  map[writer][]*event // the same, of one writer
	evidence  map[writer][]*event // evidence of one writer
	evidences map[*file][]*event  // and of one input
	recovered []*event
	recovery  map[*file][]*event // the same, of one input
	kills     []*event           // of which a process died: by the report of the kernel or of its parent
	followers []*event           // what may be a consequence
	witnesses []*event           // evidence and suspicions that prove a phase
	suspected []*event           // suspicions of a kill
	withPID   []*event           // whose fields name a process
	slurm     []*event           // that name a task
	elastic   bool               // torchrun starts the processes

	traces    map[*event]*traceback.Trace // see [job.traceOf]
	failed    map[run][]failure           // see [job.failures]
	launched  []failure                   // all of them, by input and attempt
	different map[couple]bool             // see [job.differ]
	code      map[*traceback.Trace]*code
	places    map[string]int // of code, by their numbers
}

// figures are what two prints of one failure have in common.
type figures struct{ requested, total, free, allocated, device string }

// writer is a stream of an input.
type writer struct {
	file   *file
	stream string
}

func writerOf(e *event) writer { return writer{e.file, e.Header.Stream} }

// run is an attempt in an input.
type run struct {
	file    *file
	attempt int
}

// couple is two writers of an input, by what their launcher calls them.
type couple struct {
	file       *file
	one, other string
}

// newIndex looks through the events once. They must not change afterwards.
func newIndex(j *job) *index {
	x := &index{
		byFile: map[*file][]*event{}, tracedBy: map[writer][]*event{}, evidence: map[writer][]*event{}, evidences: map[*file][]*event{}, recovery: map[*file][]*event{},
		traces: map[*event]*traceback.Trace{}, failed: map[run][]failure{}, different: map[couple]bool{},
		code: map[*traceback.Trace]*code{}, places: map[string]int{},
	}
	for _, e := range j.events {
		e.figures = figures{e.fields["requested"], e.fields["total"], e.fields["free"], e.fields["allocated"], e.fields["device"]}
		x.byFile[e.file] = append(x.byFile[e.file], e)
		if e.Trace != nil && len(e.Trace.Frames) > 0 {
			x.traced = append(x.traced, e)
			x.tracedBy[writerOf(e)] = append(x.tracedBy[writerOf(e)], e)
		}
		switch e.Role {
		case parser.Evidence:
			x.evidence[writerOf(e)] = append(x.evidence[writerOf(e)], e)
			x.evidences[e.file] = append(x.evidences[e.file], e)
		case parser.Consequence, parser.Suspicion, parser.Context:
			x.followers = append(x.followers, e)
		}
		if e.Kind == parser.Recovered {
			x.recovered = append(x.recovered, e)
			x.recovery[e.file] = append(x.recovery[e.file], e)
		}
		if e.Kind == parser.OOMKill || e.Kind == parser.ProcessExit {
			x.kills = append(x.kills, e)
		}
		if e.Phase != "" && (e.Role == parser.Suspicion || e.Role == parser.Evidence) {
			x.witnesses = append(x.witnesses, e)
		}
		if e.Role == parser.Suspicion && e.Kind == parser.OOMKill {
			x.suspected = append(x.suspected, e)
		}
		if e.fields["pid"] != "" {
			x.withPID = append(x.withPID, e)
		}
		if e.pattern.Scheduler == "slurm" && e.fields["task"] != "" {
			x.slurm = append(x.slurm, e)
		}
		x.elastic = x.elastic || e.pattern.Launcher == "torchrun"
		if e.pattern.Child != "" && e.fields[e.pattern.Child] != "" {
			r := run{e.file, e.Attempt}
			x.failed[r] = appendFailure(x.failed[r], e)
		}
	}
	for _, f := range j.files {
		for attempt := 0; attempt <= f.Attempt; attempt++ {
			x.launched = append(x.launched, x.failed[run{f, attempt}]...)
		}
	}
	return x
}

// code is the code that a traceback goes through: places in its own program, and libraries. Both are ascending numbers.
type code struct{ own, libraries []int }

func (x *index) codeOf(t *traceback.Trace) *code {
	c, ok := x.code[t]
	if !ok {
		c = &code{x.numbers(ownCode(t)), x.numbers(libraries(t))}
		x.code[t] = c
	}
	return c
}

// numbers gives every place a number. Those of one program come together, which keeps those of different ones apart.
func (x *index) numbers(set map[string]bool) []int {
	out := make([]int, 0, len(set))
	for place := range set {
		n, ok := x.places[place]
		if !ok {
			n = len(x.places)
			x.places[place] = n
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// apart reports whether two tracebacks share none of their programs' own code, if both show some. A traceback through libraries
// alone is identified by them.
func (c *code) apart(d *code) bool {
	if len(c.own) > 0 && len(d.own) > 0 {
		return disjoint(c.own, d.own)
	}
	return len(c.own)+len(c.libraries) > 0 && len(d.own)+len(d.libraries) > 0 && disjoint(c.own, d.own) && disjoint(c.own, d.libraries) &&
		disjoint(c.libraries, d.own) && disjoint(c.libraries, d.libraries)
}

// disjoint reports whether two lists in ascending order have nothing in common.
func disjoint(a, b []int) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[len(a)-1] < b[0] || b[len(b)-1] < a[0]:
			return true
		case a[0] == b[0]:
			return false
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return true
}

// nextStarts holds, for each cluster, the line where the next incident begins in the same input.
func nextStarts(clusters []*cluster) map[*cluster]int {
	type start struct {
		line int
		of   *cluster
	}
	starts := map[*file][]start{}
	for _, c := range clusters {
		for _, e := range c.evidence {
			// its traceback is printed above its message
			line := e.At.Line
			if e.Trace != nil && e.Trace.Line > 0 {
				line = e.Trace.Line
			}
			starts[e.file] = append(starts[e.file], start{line, c})
		}
	}
	for _, list := range starts {
		slices.SortStableFunc(list, func(a, b start) int { return cmp.Compare(a.line, b.line) })
	}
	out := map[*cluster]int{}
	for _, c := range clusters {
		last := c.evidence[len(c.evidence)-1]
		list := starts[last.file]
		i, _ := slices.BinarySearchFunc(list, last.At.Line+1, func(s start, line int) int { return cmp.Compare(s.line, line) })
		for ; i < len(list); i++ {
			if list[i].of != c {
				out[c] = list[i].line
				break
			}
		}
	}
	return out
}

// unlabelled reports whether an event's line has no label of a process.
func (e *event) unlabelled() bool { return e.file.unlabelled(&e.Header) }
