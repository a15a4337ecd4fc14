package classifier

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"oomscan/parser"
	"oomscan/parser/traceback"
)

// cluster is the evidence of one incident, in order of occurrence.
type cluster struct {
	job       *job
	evidence  []*event
	writers   map[writer]bool // of the evidence; labelled ones
	traced    []*event        // the first evidence whose traceback is known, and a few echoes of it through other code
	suspect   bool
	root      *event
	rootTrace *traceback.Trace // of the root, or of a report of the same failure
	tracedBy  *event           // whose trace it is
	next      int              // line of the next incident's first evidence in the root's input, 0 when there is none
}

// add takes a piece of evidence.
func (c *cluster) add(e *event) {
	c.evidence = append(c.evidence, e)
	if e.cluster = c; e.Header.Stream != "" {
		c.writers[writerOf(e)] = true
	}
	if t := c.job.traceOf(e); t != nil && (len(c.traced) == 0 || len(c.traced) < maxTraced && echo(c.traced[0], e) && c.unlikeTraced(t)) {
		c.traced = append(c.traced, e)
	}
}

// maxTraced bounds the tracebacks with which a new one is compared.
const maxTraced = 4

// unlikeTraced says that a traceback has no code in common with those that told of the cluster so far.
func (c *cluster) unlikeTraced(t *traceback.Trace) bool {
	x := c.job.index
	return !slices.ContainsFunc(c.traced, func(e *event) bool { return !x.codeOf(c.job.traceOf(e)).apart(x.codeOf(t)) })
}

// otherProgram says that e's traceback is that of another program than the cluster's. A driver that repeats what a worker
// printed goes through code of its own, and the worker's other ranks go through the worker's.
func (c *cluster) otherProgram(e *event) bool {
	t := c.job.traceOf(e)
	if t == nil || len(c.traced) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.traced, func(x *event) bool { return !c.job.differentPrograms(x, e, c.job.traceOf(x), t) })
}

// accepts says whether e tells of the same incident as the cluster: it does unless another program failed there, or the
// run went on between them and failed in another way.
func (c *cluster) accepts(e *event) bool {
	if first := c.evidence[0]; labelled(first, e) && (incompatible(first, e) || otherDays(first, e)) {
		return false
	}
	if c.otherProgram(e) {
		return false
	}
	last := c.evidence[len(c.evidence)-1]
	if last.file != e.file || !c.progress(last, e) {
		return true
	}
	return last.Kind == e.Kind && leaf(last) == leaf(e) && last.Trace != nil
}

// incompatible says that what two writers tell cannot be one failure, whatever their programs are.
func incompatible(a, b *event) bool {
	if memoryOf(a) != memoryOf(b) {
		return true // one ran out of host memory, the other one of a device's
	}
	for _, x := range [][2]string{
		{a.facts.allocator, b.facts.allocator},
		{a.facts.scheduler, b.facts.scheduler},
		{a.facts.vendor, b.facts.vendor},
		{a.deviceOf(), b.deviceOf()},
	} {
		if x[0] != x[1] && x[0] != "" && x[1] != "" {
			return true
		}
	}
	if refused(a) && b.Kind == parser.OOMKill || refused(b) && a.Kind == parser.OOMKill {
		return true // who is refused memory lives on; the kill of another process is a second story
	}
	if a.Kind == parser.KVCache && b.Kind == parser.KVCache && a.fields["tokens"] != b.fields["tokens"] && a.fields["tokens"] != "" && b.fields["tokens"] != "" {
		return true // engines of different models: the length that must fit is one setting for all ranks
	}
	t, okA := a.fields.Int("total")
	u, okB := b.fields.Int("total")
	return okA && okB && memoryOf(a) == "gpu" && 50*max(t-u, u-t) > max(t, u) // cards of different sizes
}

// refused says that an allocator was denied a request whose size it tells.
func refused(e *event) bool { return e.Kind == parser.HostOOM && e.fields["requested"] != "" }

// differentPrograms says that two failures are those of different programs: different writers whose tracebacks have none of
// their own code in common. All ranks of a program share its entry point. Two programs that share a device (an engine
// and a trainer on one card) and fail together are one story all the same.
func (j *job) differentPrograms(a, b *event, at, bt *traceback.Trace) bool {
	if a.Header.Stream == b.Header.Stream && a.file == b.file || !j.index.codeOf(at).apart(j.index.codeOf(bt)) || echo(a, b) {
		return false
	}
	return !oneCard(a, b)
}

// oneCard says that two failures may be about the same device: its number and size are the same, as far as they are told,
// and it could hold both processes.
func oneCard(a, b *event) bool {
	if a.figures.device != b.figures.device || a.figures.total != b.figures.total {
		return false
	}
	total, known := a.fields.Int("total")
	held, first := a.fields.Int("process")
	more, second := b.fields.Int("process")
	return !known || !first || !second || held+more <= total
}

// hasWriter says that a labelled writer's earlier evidence is in the cluster.
func (c *cluster) hasWriter(e *event) bool {
	return e.Header.Stream != "" && c.writers[writerOf(e)]
}

// labelled says that two events of one input come from different writers, both of which say who they are.
func labelled(a, b *event) bool {
	s, t := a.Header.Stream, b.Header.Stream
	return a.file == b.file && s != "" && t != "" && s != t
}

// memoryOf is which memory an event is about.
func memoryOf(e *event) string {
	if r := e.fields["resource"]; r != "" {
		return r
	}
	if e.Kind == parser.KVCache {
		return string(e.Kind) // an engine's own pool
	}
	return resource(e.Kind)
}

// traceOf is an event's traceback, or, of a line that stands alone, that of the next print of the failure by the same
// writer.
func (j *job) traceOf(e *event) *traceback.Trace {
	if e.Trace != nil || e.Header.Stream == "" {
		return e.Trace
	}
	t, known := j.index.traces[e]
	if !known {
		for _, x := range j.index.tracedBy[writerOf(e)] {
			if x.Kind == e.Kind && x.Role == e.Role && x.At.Line > e.At.Line && x.At.Line-e.At.Line <= reprintLines || renamed(e, x) {
				t = x.Trace
				break
			}
		}
		j.index.traces[e] = t
	}
	return t
}

// ownCode are the places of a traceback that lie outside of installed libraries.
func ownCode(t *traceback.Trace) map[string]bool {
	out := map[string]bool{}
	for n := 0; t != nil && n < 4; t, n = t.Cause, n+1 {
		for _, f := range t.Frames {
			if !strings.Contains(f.File, "-packages") && !strings.Contains(f.File, "lib/python") && !strings.HasPrefix(f.File, "<") {
				out[f.File+" "+f.Func] = true
			}
		}
	}
	return out
}

// libraries are the packages whose code is in a traceback, without those that any program calls.
func libraries(t *traceback.Trace) map[string]bool {
	out := map[string]bool{}
	for n := 0; t != nil && n < 4; t, n = t.Cause, n+1 {
		for _, f := range t.Frames {
			_, path, ok := strings.Cut(strings.ReplaceAll(f.File, `\`, "/"), "-packages/")
			if name, _, _ := strings.Cut(path, "/"); ok && !common[name] {
				out[name] = true
			}
		}
	}
	return out
}

// common are packages that say nothing about what a program is.
var common = map[string]bool{"torch": true, "ray": true, "hydra": true, "numpy": true}

// progress says whether the run went on between two events of one input.
func (c *cluster) progress(a, b *event) bool {
	if c.ownSteps(a, b) {
		return true
	}
	for _, e := range c.job.index.recovery[a.file] {
		if e.At.Line > a.At.Line && e.At.Line < b.At.Line && c.concerns(e) {
			return true
		}
	}
	return false
}

// concerns says that a recovery may be this cluster's: its writer failed in it, or did not fail at all and speaks for
// others.
func (c *cluster) concerns(recovery *event) bool {
	other := false
	for _, x := range c.job.index.evidence[writerOf(recovery)] {
		if x.cluster == c {
			return true
		}
		other = true
	}
	return recovery.Header.Stream == "" || !other
}

// leaf is the innermost frame of an event's traceback.
func leaf(e *event) string {
	if e.Trace == nil || len(e.Trace.Frames) == 0 {
		return ""
	}
	f := e.Trace.Frames[len(e.Trace.Frames)-1]
	return fmt.Sprint(f.File, ":", f.Line)
}

// places are where the evidence stands.
func (c *cluster) places() []parser.Position {
	out := make([]parser.Position, len(c.evidence))
	for i, e := range c.evidence {
		out[i] = e.At
	}
	return out
}

// incident draws the conclusions from a cluster.
func (c *cluster) incident() Incident {
	c.chooseRoot()
	c.adoptTrace()
	in := Incident{Verdict: Memory, Kind: c.root.Kind, Root: c.rootFacts(), Reports: c.places()}
	full, proven := c.hostFull()
	if c.suspect && !proven {
		in.Verdict = Suspect
	}
	if c.pinned() {
		in.Kind = parser.HostOOM
	}
	in.Resource = resource(in.Kind)
	if r := c.root.fields["resource"]; r != "" {
		in.Resource = r
	}
	if in.Resource == "host" && in.Root.Total == nil {
		in.Root.Total = in.Root.Limit
	}
	v := c.phase()
	in.Phase, in.Confidence, in.PhaseWhy = string(v.Phase), v.Confidence, v.Why
	in.Survived = c.survived()
	in.Repeats = len(c.evidence) - 1
	in.Consequences = c.consequences()
	if r := &in.Root; r.Requested != nil && r.Free != nil && *r.Requested > *r.Free {
		short := *r.Requested - *r.Free
		in.Shortfall = &short
	}
	if left, ok := c.root.fields.Int("available"); ok && in.Kind == parser.KVCache && in.Root.Requested != nil && *in.Root.Requested > left {
		short := *in.Root.Requested - max(left, 0) // the engine prints a negative rest when the weights alone overrun its share
		in.Shortfall = &short
	}
	in.Findings = c.findings(&in)
	in.Evidence = c.lines(v, &in)
	if proven {
		in.Evidence = append(in.Evidence, full)
	}
	in.Summary = summary(&in)
	return in
}

// hostFull finds the reading that makes a bare SIGKILL a kill for memory: the host's memory was used up when the log last
// told it.
func (c *cluster) hostFull() (Evidence, bool) {
	if !c.suspect || resource(c.evidence[0].Kind) != "host" {
		return Evidence{}, false
	}
	for _, f := range c.job.files {
		for _, name := range slices.Sorted(maps.Keys(f.Gauges)) {
			g := f.Gauges[name]
			used, err := strconv.ParseFloat(g.Fields["percent"], 64)
			total, known := g.Fields.Int("host_total")
			left, told := g.Fields.Int("host_available")
			if err != nil && known && told && total > 0 {
				used, err = 100*(1-float64(left)/float64(total)), nil
			}
			if err == nil && used >= hostFullPercent && used <= 100 {
				return Evidence{At: g.At, Text: clean(g.Text, 300), Why: fmt.Sprintf("%.0f %% of the host's memory was in use", used)}, true
			}
		}
	}
	return Evidence{}, false
}

// hostFullPercent is from where on a host counts as full: Ray's monitor kills there, the kernel's killer is near.
const hostFullPercent = 95

// chooseRoot picks the root: the first evidence, by time where the log tells it. Of several reports of one kill the
// kernel's is the first-hand one.
func (c *cluster) chooseRoot() {
	best := c.evidence[0]
	for _, e := range c.evidence[1:] {
		if earlier(e, best) || c.job.diedEarlier(e, best) || e.Kind == parser.OOMKill && best.Kind == parser.OOMKill && e.facts.authority > best.facts.authority {
			best = e
		}
	}
	for _, e := range c.evidence {
		if e.file != best.file && echo(best, e) && best.nameless() && !e.nameless() {
			best = e
			break
		}
	}
	c.root = best
}

// nameless says that neither a label nor a stamp of its own tells whose print a failure is: somebody else's log may
// quote it, and its place in time is that of the last stamp before it.
func (e *event) nameless() bool {
	return e.Header.Stream == "" && e.Header.Time.IsZero() && (e.Trace == nil || e.Trace.Origin == nil)
}

// earlier says that a happened before b although it is listed after it: both lines carry a time of the same clock.
func earlier(a, b *event) bool {
	if a.Header.Time.IsZero() || b.Header.Time.IsZero() || a.Header.Clock != b.Header.Clock {
		return false
	}
	if a.file == b.file {
		return b.Header.Time.Sub(a.Header.Time) > stampNoise
	}
	return a.Header.Time.Before(b.Header.Time)
}

// stampNoise is how far stamps of one storm in one log may be out of order without telling anything: loggers stamp a
// record when they come to it. Buffers that flush late are out by more.
const stampNoise = 5 * time.Second

// resource is which memory a kind is about.
func resource(k parser.Kind) string {
	switch k {
	case parser.HostOOM, parser.OOMKill:
		return "host"
	case parser.SHMExhausted:
		return "shm"
	}
	return "gpu"
}

// pinned says that a driver's failure was about pinned host memory, which prints the same words.
func (c *cluster) pinned() bool {
	if c.root.Kind != parser.GPUDriverOOM || c.rootTrace == nil {
		return false
	}
	frames := c.rootTrace.Frames
	for _, f := range frames[max(0, len(frames)-3):] {
		if strings.Contains(f.Func, "pin_memory") || strings.Contains(f.Code, "pin_memory") || strings.Contains(f.Code, "cudaHost") {
			return true
		}
	}
	return false
}

// echo says that two events are two prints of one failure: the same figures.
func echo(a, b *event) bool {
	return a.Kind == b.Kind && a.figures.requested != "" && a.figures == b.figures
}

// renamed says that x is what CUDA made of a refusal of the driver, or of what stands in front of it: an error of another name.
func renamed(e, x *event) bool {
	return e.Kind == parser.GPUDriverOOM && e.Trace == nil && x.Kind == parser.Exception && strings.Contains(x.Text, "CUDA error: ") &&
		x.file == e.file && sameWriter(e, x) && x.At.Line > e.At.Line && x.At.Line-e.At.Line <= abortLines
}

// adoptTrace finds the traceback that belongs to the root when its own line stands alone: of another print of the same
// failure, or of what the same process raised afterwards.
func (c *cluster) adoptTrace() {
	c.rootTrace, c.tracedBy = c.root.Trace, c.root
	if c.rootTrace != nil {
		return
	}
	pid := c.root.Header.PID
	best, score := (*event)(nil), 0
	for _, e := range c.job.index.traced {
		if e.Attempt != c.root.Attempt || e.file == c.root.file && e.At.Line < c.root.At.Line-nearLines {
			continue
		}
		s := 0
		switch {
		case echo(c.root, e):
			s = 5
		case pid > 0 && e.Trace.Origin != nil && e.Trace.Origin.PID == pid:
			s = 4
		case pid > 0 && e.Header.PID == pid && e.Kind != parser.Exception:
			s = 3
		case e.fields["class"] == "Fatal Python error" && sameWriter(c.root, e) && e.At.Line > c.root.At.Line && e.At.Line-c.root.At.Line <= abortLines:
			s = 3 // the allocation failed in a library that aborts, and the interpreter shows where it was
		case renamed(c.root, e):
			s = 3
		case e.Role == parser.Evidence && e.Kind == c.root.Kind && e.file == c.root.file && (e.cluster == c || e.cluster == nil && !labelled(c.root, e)):
			s = 2
		case c.root.Kind == parser.OOMKill && e.Role == parser.Suspicion:
			s = 1
		}
		if s > score {
			best, score = e, s
		}
		if score == 5 {
			break // there is no better one
		}
	}
	if c.root.Kind == parser.OOMKill && best == nil {
		for _, e := range c.job.index.traced { // the parent's words come before Slurm's
			if e.Role == parser.Suspicion && e.Attempt == c.root.Attempt {
				best = e
				break
			}
		}
	}
	if best != nil {
		c.rootTrace, c.tracedBy = best.Trace, best
	}
}
