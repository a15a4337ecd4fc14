package classifier

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"oomscan/parser"
)

// Limits of what an incident lists.
const (
	maxConsequences = 60
	maxEvidence     = 12
	// nearLines is the most lines between evidence and a detail. reportLines is the same inside the kernel's report, which has
	// a task table in between.
	nearLines   = 12
	reportLines = 1500
	// abortLines is how far after a fatal allocation failure the interpreter's last message may be.
	abortLines = 60
	// reprintLines is how far after a failure's first line its traceback may be, with lines of other processes between.
	reprintLines = 200
)

// Result is the classification of one job.
type Result struct {
	Run       Run
	Incidents []Incident        // in order of occurrence
	EndedBy   []Ending          // where there are no incidents
	Quoted    []parser.Position // of messages that are no incidents, because of how their log ends
}

// Overrides are what the user knows better than the log.
type Overrides struct {
	Framework string           // one of the stable ids; empty: detect it
	Settings  []parser.Setting // settings that the log does not print; those it prints win
}

// Result classifies what was added so far. It changes nothing: more may be added, and Result called again.
func (c *Collector) Result() Result { return c.ResultWith(Overrides{}) }

// ResultWith is Result with what the user knows better.
func (c *Collector) ResultWith(o Overrides) Result {
	files, places := c.sorted()
	j := &job{files: files, places: places, before: map[*file][]*file{}, run: describe(files, o)}
	for i, f := range files {
		events := dedupe(f)
		if i > 0 && places.continues(f, files[i-1]) {
			carry(files[i-1], events)
			resume(files[i-1], events)
			j.before[f] = append([]*file{files[i-1]}, j.before[files[i-1]]...)
		}
		j.events = append(j.events, events...)
	}
	j.dropOtherJobs()
	j.assignAttempts()
	j.takeClasses()
	j.takeRecoveries()
	j.index = newIndex(j)
	r := Result{Run: j.run}
	r.Incidents, r.Quoted = j.incidents()
	if len(r.Incidents) == 0 {
		r.EndedBy = j.ended()
	}
	return r
}

// takeClasses treats exceptions that can only mean memory as failures if no message reports one: refused host or shared memory
// raises other exceptions. When a driver passes on several, the innermost comes last.
func (j *job) takeClasses() {
	proven := map[int]bool{}
	for _, e := range j.events {
		proven[e.Attempt] = proven[e.Attempt] || e.Role == parser.Evidence && e.Kind != parser.HostOOM && e.Kind != parser.SHMExhausted
	}
	last := map[writer]*event{}
	for _, e := range j.events {
		if e.Pattern != classAlone || proven[e.Attempt] || e.Trace == nil && strings.HasPrefix(e.fields["class"], "torch.") {
			continue
		}
		if old := last[writerOf(e)]; old != nil && e.At.Behind(old.At) <= chainLines {
			old.Kind, old.Role = parser.Exception, parser.Context
		}
		e.Kind, e.Role = parser.GPUOOM, parser.Evidence
		last[writerOf(e)] = e
	}
}

// takeRecoveries treats what a program says of a failure that it caught as a failure of its own only if nothing else is reported
// until the run has gone on: the failure itself may be printed, too, and what it dies of a moment later counts.
func (j *job) takeRecoveries() {
	type stretch struct {
		file           *file
		attempt, steps int
	}
	told := map[stretch]bool{}
	for _, e := range j.events {
		told[stretch{e.file, e.Attempt, e.Steps}] = told[stretch{e.file, e.Attempt, e.Steps}] || e.Role == parser.Evidence && e.Pattern != wentOn
	}
	for _, e := range j.events {
		if e.Pattern == wentOn && told[stretch{e.file, e.Attempt, e.Steps}] {
			e.Kind, e.Role = parser.Recovered, parser.Context
		}
	}
}

// wentOn is what a program says that goes on in another way.
const wentOn = "trainer.went_on"

// classAlone is an exception's class without the message. A driver repeats it within chainLines.
const (
	classAlone = "torch.oom.alone"
	chainLines = 24
)

// sorted returns the inputs in an order that does not depend on the command line.
func (c *Collector) sorted() ([]*file, places) {
	files := slices.Collect(maps.Values(c.files))
	places := placesOf(slices.Collect(maps.Keys(c.files)))
	slices.SortFunc(files, func(a, b *file) int { return places.compare(a.Name, b.Name) })
	return files, places
}

// job is a result under construction.
type job struct {
	files  []*file
	places places
	before map[*file][]*file // the files that one goes on from, the latest first
	run    Run
	events []*event
	index  *index // of the events, once they are settled
}

// dropOtherJobs drops the kernel's reports about other jobs of the node.
func (j *job) dropOtherJobs() {
	if j.run.JobID == "" {
		return
	}
	known := sync.OnceValue(j.knowsJob) // no event that names it is dropped
	j.events = slices.DeleteFunc(j.events, func(e *event) bool {
		job := e.fields["job"]
		return e.pattern.Program.Name == "kernel" && job != "" && !sameJob(job, j.run.JobID) && known()
	})
}

// knowsJob reports whether the job id occurs outside the kernel's log.
func (j *job) knowsJob() bool {
	return slices.ContainsFunc(j.events, func(e *event) bool {
		return e.pattern.Program.Name != "kernel" && sameJob(e.fields["job"], j.run.JobID)
	}) || slices.ContainsFunc(j.files, func(f *file) bool {
		return slices.ContainsFunc(f.Launches, func(m parser.Marker) bool { return sameJob(m.Fields["job"], j.run.JobID) })
	})
}

// sameJob compares Slurm job ids: "4242.batch" and "4242" are one job.
func sameJob(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return a != "" && a == b
}

// incidents groups the evidence into incidents, in order of occurrence. Where it is no incident, quoted is where it stands.
func (j *job) incidents() (out []Incident, quoted []parser.Position) {
	var clusters []*cluster
	byAttempt := map[int][]*cluster{}
	for _, e := range j.ordered(parser.Evidence) {
		cl := clusterFor(byAttempt[e.Attempt], e)
		if cl == nil {
			cl = &cluster{job: j, writers: map[writer]bool{}}
			byAttempt[e.Attempt] = append(byAttempt[e.Attempt], cl)
			clusters = append(clusters, cl)
		}
		cl.add(e)
	}
	if len(clusters) == 0 {
		if cl := j.suspicion(); cl != nil {
			clusters = append(clusters, cl)
		}
	}
	next := nextStarts(clusters)
	attempts := map[parser.Position]int{}
	for _, cl := range clusters {
		c := cl.conclude(next[cl])
		if c.quoted() {
			for _, e := range c.evidence {
				quoted = append(quoted, e.At)
			}
			continue
		}
		in := c.incident()
		attempts[in.Root.At] = c.root.Attempt
		out = append(out, in)
	}
	slices.SortStableFunc(out, func(a, b Incident) int {
		return j.occurrence(&a, &b, cmp.Compare(attempts[a.Root.At], attempts[b.Root.At]))
	})
	for i := range out {
		out[i].ID = fmt.Sprintf("%s@%s:%d", out[i].Kind, out[i].Root.At.Source, out[i].Root.At.Line)
	}
	return out, quoted
}

// clusterFor returns the cluster that a piece of evidence belongs to, or nil if it begins a new one. Of several it prefers the
// latest with evidence by the same writer, then the latest.
func clusterFor(clusters []*cluster, e *event) *cluster {
	var best *cluster
	for _, cl := range slices.Backward(clusters) {
		if (best == nil || cl.hasWriter(e)) && cl.accepts(e) {
			if cl.hasWriter(e) {
				return cl
			}
			best = cl
		}
	}
	return best
}

// occurrence orders incidents by time if both have one of the same clock, then by the attempts that they ended, then by
// position.
func (j *job) occurrence(a, b *Incident, attempts int) int {
	if a.Root.At.Source != b.Root.At.Source && a.Root.Clock == b.Root.Clock && !a.Root.Time.IsZero() && !b.Root.Time.IsZero() {
		return a.Root.Time.Compare(b.Root.Time)
	}
	return cmp.Or(attempts, j.places.compare(a.Root.At.Source, b.Root.At.Source), cmp.Compare(a.Root.At.Line, b.Root.At.Line))
}

// ordered returns the events of one role, by time across inputs where they share a clock, else by input and line.
func (j *job) ordered(role parser.Role) []*event {
	var out []*event
	for _, e := range j.events {
		if e.Role == role {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *event) int {
		if a.file != b.file && a.Clock != "" && a.Clock == b.Clock && !a.When.IsZero() && !b.When.IsZero() {
			if d := a.When.Compare(b.When); d != 0 {
				return d
			}
		}
		return 0
	})
	return out
}

// suspicion returns the kills that nothing else explains, for logs that do not prove that memory ran out.
func (j *job) suspicion() *cluster {
	explained := map[string]bool{}
	killed := map[*file]bool{}
	var kills []*event
	for _, e := range j.events {
		switch {
		case e.fields["reason"] == "launcher":
			explained[e.fields["pid"]] = true
		case e.Role == parser.Suspicion:
			killed[e.file] = true
		case e.Kind == parser.NCCLFailure && killed[e.file] && lostPeer(e):
		case e.Kind == parser.NCCLFailure || e.Kind == parser.IllegalAccess:
			return nil
		case e.Kind == parser.Exception && !technical(e) && e.Steps == e.file.Steps:
			return nil // it was the last thing that happened: no training step came after it
		}
	}
	for _, e := range j.events {
		if e.Role != parser.Suspicion || explained[e.fields["pid"]] && e.fields["pid"] != "" || j.cancelled(e) {
			continue
		}
		kills = append(kills, e)
	}
	if len(kills) == 0 {
		return nil
	}
	return &cluster{job: j, evidence: kills, suspect: true}
}

// cancelled reports whether the scheduler explains a kill: it ended the job for its own reason, or cancelled something earlier.
// A later cancellation without a reason is a consequence, as with --kill-on-bad-exit.
func (j *job) cancelled(kill *event) bool {
	return slices.ContainsFunc(j.events, func(e *event) bool {
		return e.Kind == parser.JobCancelled && (e.fields["reason"] != "cancelled" || e.file != kill.file || e.At.Line < kill.At.Line)
	})
}

// lostPeer reports whether a collective failed because another process was gone. After a kill, that is a consequence of the
// kill.
func lostPeer(e *event) bool {
	return strings.Contains(e.Text, "by peer") || strings.Contains(e.Text, "by remote peer") || strings.Contains(e.Text, "gloo::IoException")
}

// technical reports whether an exception only follows from the death of a process or the end of the job.
func technical(e *event) bool {
	class := e.fields["class"]
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		class = class[i+1:]
	}
	switch class {
	case "", "ChildFailedError", "CalledProcessError", "SystemExit", "KeyboardInterrupt", "BrokenPipeError", "ConnectionResetError",
		"ConnectionRefusedError", "ConnectionError", "ConnectionAbortedError", "EOFError", "ActorDiedError", "RayActorError",
		"WorkerCrashedError", "SignalException", "ProcessExitedException", "BrokenProcessPool", "RayTaskError",
		"EngineDeadError", "TerminatedWorkerError", "RemoteDisconnected":
		return true
	}
	return false
}
