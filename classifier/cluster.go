package classifier

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"oomscan/parser"
	"oomscan/parser/traceback"
)

// cluster is the evidence of one incident, in order of occurrence.
type cluster struct {
	job      *job
	evidence []*event
	writers  map[writer]bool // of the evidence; labelled ones
	traced   []*event        // the first evidence whose traceback is known, and a few echoes of it through other code
	suspect  bool
}

// add takes a piece of evidence.
func (c *cluster) add(e *event) {
	c.evidence = append(c.evidence, e)
	if e.cluster = c; !e.unlabelled() {
		c.writers[writerOf(e)] = true
	}
	if t := c.job.traceOf(e); t != nil && (len(c.traced) == 0 || len(c.traced) < maxTraced && echo(c.traced[0], e) && c.unlikeTraced(t)) {
		c.traced = append(c.traced, e)
	}
}

// maxTraced bounds the tracebacks with which a new one is compared.
const maxTraced = 4

// unlikeTraced reports whether a traceback has no code in common with those in the cluster so far.
func (c *cluster) unlikeTraced(t *traceback.Trace) bool {
	x := c.job.index
	return !slices.ContainsFunc(c.traced, func(e *event) bool { return !x.codeOf(c.job.traceOf(e)).apart(x.codeOf(t)) })
}

// otherProgram reports whether e's traceback comes from a different program than the cluster's. A driver that repeats a
// worker's output runs its own code; the worker's other ranks run the worker's.
func (c *cluster) otherProgram(e *event) bool {
	t := c.job.traceOf(e)
	if t == nil || len(c.traced) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.traced, func(x *event) bool { return !c.job.differentPrograms(x, e, c.job.traceOf(x), t) })
}

// accepts reports whether e belongs to the incident of the cluster: it does unless another program failed there, or the
// run went on between them and failed in another way.
func (c *cluster) accepts(e *event) bool {
	if first := c.evidence[0]; labelled(first, e) && (incompatible(first, e) || otherDays(first, e)) {
		return false
	}
	last := c.evidence[len(c.evidence)-1]
	if c.otherProgram(e) || otherGroup(c.evidence[0], e) || otherStorm(last, e) {
		return false
	}
	if last.file != e.file || !c.progress(last, e) {
		return true
	}
	return last.Kind == e.Kind && leaf(last) == leaf(e) && last.Trace != nil
}

// incompatible reports whether two reports cannot be about one failure, whatever their programs are.
func incompatible(a, b *event) bool {
	if memoryOf(a) != memoryOf(b) {
		return true // one ran out of host memory, the other one of a device's
	}
	for _, x := range [][2]string{
		{a.pattern.Allocator, b.pattern.Allocator},
		{a.pattern.Scheduler, b.pattern.Scheduler},
		{a.pattern.Vendor, b.pattern.Vendor},
		{a.platform(), b.platform()},
	} {
		if x[0] != x[1] && x[0] != "" && x[1] != "" {
			return true
		}
	}
	if refused(a) && b.Kind == parser.OOMKill || refused(b) && a.Kind == parser.OOMKill {
		return true // a process that is refused memory lives on, so the kill of another one is separate
	}
	if a.Kind == parser.KVCache && b.Kind == parser.KVCache && a.fields["tokens"] != b.fields["tokens"] && a.fields["tokens"] != "" && b.fields["tokens"] != "" {
		return true // engines of different models: the length that must fit is one setting for all ranks
	}
	t, okA := a.fields.Int("total")
	u, okB := b.fields.Int("total")
	return okA && okB && memoryOf(a) == "gpu" && 50*max(t-u, u-t) > max(t, u) // cards of different sizes
}

// otherGroup reports whether two kills were caused by the limits of different control groups: two containers, two jobs. The steps of
// a job share its limit.
func otherGroup(a, b *event) bool {
	group := func(e *event) string {
		if e.Kind != parser.OOMKill || e.fields["scope"] != "cgroup" {
			return ""
		}
		path, _, _ := strings.Cut(e.fields["path"], "/step_")
		return path
	}
	x, y := group(a), group(b)
	return x != "" && y != "" && x != y
}

// otherStorm reports whether a node's killer killed again more than an hour later.
func otherStorm(a, b *event) bool {
	kills := a.Kind == parser.OOMKill && b.Kind == parser.OOMKill && a.pattern.Node && b.pattern.Node
	return kills && a.file == b.file && !a.Header.Time.IsZero() && a.Header.Clock == b.Header.Clock && b.Header.Time.Sub(a.Header.Time) > time.Hour
}

// refused reports whether an allocator refused a request and printed its size.
func refused(e *event) bool { return e.Kind == parser.HostOOM && e.fields["requested"] != "" }

// differentPrograms reports whether two failures come from different programs: different writers whose tracebacks share no
// code outside libraries. All ranks of a program share its entry point. Two programs that share a device (an engine
// and a trainer on one card) and fail together are still one incident.
func (j *job) differentPrograms(a, b *event, at, bt *traceback.Trace) bool {
	if a.Header.Stream == b.Header.Stream && a.file == b.file || at.Headless || bt.Headless || !j.index.codeOf(at).apart(j.index.codeOf(bt)) || echo(a, b) {
		return false
	}
	return !oneCard(a, b)
}

// oneCard reports whether two failures may be on the same device: any known number and size agree, and both processes would
// fit.
func oneCard(a, b *event) bool {
	if a.figures.device != b.figures.device || a.figures.total != b.figures.total {
		return false
	}
	total, known := a.fields.Int("total")
	held, first := a.fields.Int("process")
	more, second := b.fields.Int("process")
	return !known || !first || !second || held+more <= total
}

// hasWriter reports whether a labelled writer's earlier evidence is in the cluster.
func (c *cluster) hasWriter(e *event) bool {
	return !e.unlabelled() && c.writers[writerOf(e)]
}

// labelled reports whether two events of one input come from different writers that both have a label.
func labelled(a, b *event) bool {
	s, t := a.Header.Stream, b.Header.Stream
	return a.file == b.file && s != "" && t != "" && s != t
}

// memoryOf returns which memory an event is about.
func memoryOf(e *event) string {
	if r := e.fields["resource"]; r != "" {
		return r
	}
	if e.Kind == parser.KVCache {
		return string(e.Kind) // an engine's own pool
	}
	return e.Kind.Resource()
}

// traceOf returns an event's traceback, or else the one from the next time the same writer prints the failure.
func (j *job) traceOf(e *event) *traceback.Trace {
	if e.Trace != nil || e.unlabelled() {
		return e.Trace
	}
	t, known := j.index.traces[e]
	if !known {
		for _, x := range j.index.tracedBy[writerOf(e)] {
			if x.Kind == e.Kind && x.Role == e.Role && x.At.Line > e.At.Line && x.At.Behind(e.At) <= reprintLines || renamed(e, x) {
				t = x.Trace
				break
			}
		}
		j.index.traces[e] = t
	}
	return t
}

// ownCode returns the places of a traceback outside installed libraries. What torch.compile generates is another file on each rank.
func ownCode(t *traceback.Trace) map[string]bool {
	out := map[string]bool{}
	for n := 0; t != nil && n < 4; t, n = t.Cause, n+1 {
		for _, f := range t.Frames {
			if !strings.Contains(f.File, "-packages") && !strings.Contains(f.File, "lib/python") && !strings.HasPrefix(f.File, "<") && !strings.Contains(f.File, "inductor") {
				out[f.File+" "+f.Func] = true
			}
		}
	}
	return out
}

// libraries lists packages that appear in tracebacks and identify a program. Packages that every program calls are left out.
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

// progress reports whether the run went on between two events of one input.
func (c *cluster) progress(a, b *event) bool {
	return c.ownSteps(a, b) || countedOn(a, b) || slices.ContainsFunc(c.job.index.recovery[a.file], func(e *event) bool {
		return e.At.Line > a.At.Line && e.At.Line < b.At.Line && c.concerns(e)
	})
}

// concerns reports whether a recovery may be about this cluster: its writer failed in it, or did not fail at all and reports for
func (c *cluster) concerns(recovery *event) bool {
	other := false
	for _, x := range c.job.index.evidence[writerOf(recovery)] {
		if x.cluster == c {
			return true
		}
		other = true
	}
	return recovery.unlabelled() || !other
}

// leaf returns the innermost frame of an event's traceback.
func leaf(e *event) string {
	if e.Trace == nil || len(e.Trace.Frames) == 0 {
		return ""
	}
	f := e.Trace.Frames[len(e.Trace.Frames)-1]
	return fmt.Sprint(f.File, ":", f.Line)
}

// places returns the positions of the evidence.
func (c *cluster) places() []parser.Position {
	out := make([]parser.Position, len(c.evidence))
	for i, e := range c.evidence {
		out[i] = e.At
	}
	return out
}

// earlier reports whether a happened before b although it is listed later: both lines have a time of the same clock.
func earlier(a, b *event) bool {
	if a.Header.Time.IsZero() || b.Header.Time.IsZero() || a.Header.Clock != b.Header.Clock {
		return false
	}
	if a.file == b.file {
		d := b.Header.Time.Sub(a.Header.Time)
		return d > stampNoise && d < clockStep && a.SetBack == b.SetBack
	}
	return a.Header.Time.Before(b.Header.Time)
}

// echo reports whether two events print the same failure: their figures are equal.
func echo(a, b *event) bool {
	return a.Kind == b.Kind && a.figures.requested != "" && a.figures == b.figures
}

// quotes reports whether a later event repeats another one's whole message, which has no figures, within its own.
func quotes(x, e *event) bool {
	return x.Kind == e.Kind && x.Text != e.Text && e.figures.requested == "" && strings.Contains(x.Text, e.Text)
}

// renamed reports whether x is CUDA's own name for an error of the driver, or of a library above it, that was printed before.
func renamed(e, x *event) bool {
	return e.Kind == parser.GPUDriverOOM && e.Trace == nil && x.Kind == parser.Exception && strings.Contains(x.Text, "CUDA error: ") &&
		x.file == e.file && sameWriter(e, x) && x.At.Line > e.At.Line && x.At.Behind(e.At) <= abortLines
}

// stampNoise is how far out of order the time stamps of one storm in one log may be without meaning anything: loggers stamp a
// record when they come to it. Buffers that flush late are out by more. By clockStep or more, or where a
// writer's own stamps go back between the two, the clock was set back or is of another zone.
const (
	stampNoise = 5 * time.Second
	clockStep  = 15 * time.Minute
)

// platform is the word by which an allocator's message names its kind of device, "" when it has none: a build for CUDA
// and one for HIP do not run as one job.
func (e *event) platform() string { return cmp.Or(e.pattern.Device, e.fields["platform"]) }

// accelerator is what the devices are called that an allocator's message is about, "" for GPUs.
func (e *event) accelerator() string {
	if kind := cmp.Or(e.platform(), strings.ToUpper(e.pattern.Vendor)); slices.Contains([]string{"TPU", "NPU", "HPU"}, kind) {
		return kind
	}
	return ""
}
