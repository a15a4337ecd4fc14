package classifier

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"oomscan/classifier/phase"
	"oomscan/parser"
	"oomscan/parser/lazyre"
	"oomscan/parser/traceback"
)

// phase decides in which phase the root happened: by the message itself, the traceback, what is printed beside it, the remote
// method, the driver's pending call, an open timer or marker, the process and the file, in this order.
func (c *conclusion) phase() phase.Verdict {
	e := c.root
	if e.Kind == parser.NCCLOOM {
		return phase.Verdict{Phase: phase.NCCL, Confidence: "high", Why: "the collective library itself could not allocate"}
	}
	if e.Phase != "" {
		return phase.Verdict{Phase: phase.Phase(e.Phase), Confidence: "high", Why: "only " + phase.ByID(e.Phase).Name + " prints this message"}
	}
	for _, tells := range []func() (phase.Verdict, bool){c.bySureTrace, c.byReport, c.byWords, c.byTrace, c.byEnd, c.byCommand, c.byMethod, c.byWitness} {
		if v, ok := tells(); ok {
			return v
		}
	}
	return c.byContext()
}

// byReport reads the messages that the same writer printed near the root.
func (c *conclusion) byReport() (phase.Verdict, bool) {
	for _, e := range c.evidence {
		for _, x := range append([]*event{e}, e.details...) {
			if x.Phase != "" && sameWriter(x, c.root) && (x.At.Behind(e.At) <= nearLines || x.Pattern == cppBackward) {
				return phase.Verdict{Phase: x.Phase, Confidence: phase.High, Why: "only " + phase.ByID(x.Phase).Name + " prints the message beside it: " + clean(x.Text, 100)}, true
			}
		}
	}
	return phase.Verdict{}, false
}

// namesTensor reports whether TensorFlow's kernel says below the allocator's report which tensor it was for: one has a shape, the other a size.
func namesTensor(e, x *event) bool { return e.Pattern == "xla.bfc" && x.Pattern == "tf.tensor" }

// byWords reads the rest of the failure's message, in its first report or another one nearby.
func (c *conclusion) byWords() (phase.Verdict, bool) {
	e := c.root
	if e.Kind.Resource() != "gpu" {
		return phase.Verdict{}, false
	}
	for _, x := range append([]*event{e}, c.evidence...) {
		if x == e || sameWriter(x, e) && x.At.Behind(e.At) <= nearLines && (echo(e, x) || quotes(x, e) || namesTensor(e, x)) {
			if v, ok := phase.FromWords(x.Text); ok {
				return v, true
			}
		}
	}
	return phase.Verdict{}, false
}

// byEnd reads how the failed program ended or went on, if that is printed right after the failure.
func (c *conclusion) byEnd() (phase.Verdict, bool) {
	e := c.root
	for _, x := range c.job.index.byFile[e.file] {
		behind := x.At.Behind(e.At)
		if behind > nearLines {
			break
		}
		if behind <= 0 || x.Role != parser.Consequence && x.Kind != parser.Recovered || !sameWriter(x, e) && !sameEngine(x, e) || x.Attempt != e.Attempt {
			continue
		}
		if v, ok := phase.FromMethod(x.fields["comm"], x.fields["method"]); ok && x.fields["method"] != "" {
			return v, true
		}
		if x.Phase != "" {
			return phase.Verdict{Phase: x.Phase, Confidence: phase.High, Why: "only " + phase.ByID(x.Phase).Name + " ends so: " + clean(x.Text, 100)}, true
		}
	}
	return phase.Verdict{}, false
}

// sameEngine reports whether two events of one input come from workers of one engine, which all run the same method.
func sameEngine(a, b *event) bool {
	return a.file == b.file && a.Header.Process == b.Header.Process && engineOf(a.Header.Process) != ""
}

// bySureTrace leaves out the hints: what else the failure's message says goes before them.
func (c *conclusion) bySureTrace() (phase.Verdict, bool) {
	v, ok := c.byTrace()
	return v, ok && v.Confidence != phase.Low
}

// byTrace reads the failure's traceback, then the remote caller's.
func (c *conclusion) byTrace() (phase.Verdict, bool) {
	t := c.trace
	if t == nil {
		return phase.Verdict{}, false
	}
	v, ok := phase.FromFrames(t.Frames)
	if g := t.Origin; g != nil && (!ok || v.Phase == phase.Forward) {
		w, good := phase.FromMethod(g.Actor, g.Method)
		// a bare forward pass is part of the method
		if good && (!ok || w.Confidence != phase.Low && w.Phase != phase.Training) {
			return w, true
		}
	}
	if ok && t.Headless {
		return c.withoutHead(v), true
	}
	if ok {
		return v, true
	}
	if t.Cause != nil {
		if w, good := phase.FromDriver(t.Cause.Frames); good {
			return w, true
		}
	}
	return phase.FromDriver(t.Frames)
}

// withoutHead reads the frames of a traceback without its beginning: start-up runs the engine's own forward pass, and
func (c *conclusion) withoutHead(v phase.Verdict) phase.Verdict {
	e := c.root
	if v.Phase != phase.Rollout && v.Phase != phase.Forward {
		return v
	}
	if w, ok := c.stage(e); ok && w.Phase == phase.Init && !e.Ready && e.LastStep < 0 {
		w.Confidence = phase.Low
		return w
	}
	if v.Confidence = phase.Low; v.Phase == phase.Rollout {
		v.Confidence = phase.Medium
	}
	return v
}

// remote finds a Ray task's name in a process title: "ray::WorkerDict.actor_rollout_generate_sequences".
var remote = lazyre.New(`ray::(?:([\w:\[\]=.-]{1,100})\.)?(\w{1,100})`)

// byCommand reads the title or the command line of the killed process.
func (c *conclusion) byCommand() (phase.Verdict, bool) {
	pid := c.joined()["pid"]
	for pass := range 2 {
		for _, e := range c.evidence {
			for _, d := range append([]*event{e}, e.details...) {
				if pass == 0 && d.fields["pid"] != pid {
					continue
				}
				for _, key := range []string{"cmd", "comm", "method", "name"} {
					m := remote().FindStringSubmatch(d.fields[key])
					if m == nil {
						continue
					}
					if v, ok := phase.FromMethod(m[1], m[2]); ok {
						return v, true
					}
				}
			}
		}
	}
	if c.root.Kind == parser.OOMKill {
		return phase.FromCommand(c.joined()["cmd"])
	}
	return phase.Verdict{}, false
}

// byMethod reads the remote method that other lines name for the process.
func (c *conclusion) byMethod() (phase.Verdict, bool) {
	id := ownIdentity(c.root)
	if id.PID > 0 {
		id.fillFrom(c.root.file, "pid", id.PID)
	}
	if m := remote().FindStringSubmatch(id.Method); m != nil {
		v, ok := phase.FromMethod(m[1], m[2])
		return v, ok && v.Confidence != phase.Low
	}
	return phase.Verdict{}, false
}

// byWitness takes the phase from a parent that noticed the kill, of a data loader or a worker pool.
func (c *conclusion) byWitness() (phase.Verdict, bool) {
	if c.root.Kind != parser.OOMKill {
		return phase.Verdict{}, false
	}
	for _, e := range c.job.index.witnesses {
		if e.Attempt == c.root.Attempt {
			return phase.Verdict{Phase: phase.Phase(e.Phase), Confidence: "medium", Why: "its parent noticed the kill there: " + clean(e.Text, 120)}, true
		}
	}
	for _, e := range c.job.index.traced {
		peer := e.Kind == parser.NCCLFailure // which waited for the killed process in the same stage
		if e.Attempt != c.root.Attempt || e.Kind != parser.Exception && e.Kind != parser.ProcessExit && !peer {
			continue
		}
		if v, ok := phaseOf(e.Trace); ok && (peer || e.Trace.Cause != nil || e.Trace.Origin != nil) {
			v.Confidence = "low"
			return v, true
		}
	}
	return phase.Verdict{}, false
}

// phaseOf reads frames, then the remote method, then the driver's pending call.
func phaseOf(t *traceback.Trace) (phase.Verdict, bool) {
	v, ok := phase.FromFrames(t.Frames)
	if !ok && t.Origin != nil {
		v, ok = phase.FromMethod(t.Origin.Actor, t.Origin.Method)
	}
	if ok {
		return v, true
	}
	return phase.FromDriver(t.Frames)
}

// daskMemory matches a kill by Dask itself. Its workers may run any code.
const daskMemory = "dask.memory"

// byContext falls back on what the log said before: open timers, markers, the process, the file, the last step.
func (c *conclusion) byContext() phase.Verdict {
	e := c.root
	for _, tells := range []func() (phase.Verdict, bool){c.byBar, c.bySaveStep, c.byStage, c.stageOfWitness, c.elsewhere, c.byName} {
		if v, ok := tells(); ok {
			return v
		}
	}
	if e.Pattern == daskMemory {
		return phase.Verdict{Phase: phase.Data, Confidence: phase.Low, Why: "Dask's workers process tables, unless the log says otherwise"}
	}
	if c.sharedLog(e) {
		return phase.Verdict{Phase: phase.Unknown, Confidence: phase.Low, Why: "nothing is known about this writer, and another one had its own failure"}
	}
	if isServer(c.job.run.Framework) {
		if e.Ready {
			return serving
		}
		return phase.Verdict{Phase: phase.Init, Confidence: phase.Low, Why: "the server had not said that it is ready"}
	}
	if e.LastStep >= 1 && e.Kind.Resource() == "gpu" {
		return phase.Verdict{Phase: phase.Training, Confidence: "low", Why: fmt.Sprintf("training steps were running; the last one reported is %d", e.LastStep)}
	}
	return phase.Verdict{Phase: phase.Unknown, Confidence: "low", Why: "neither a traceback nor a stage is printed near it"}
}

// serving is the phase of a server that has said that it is ready.
var serving = phase.Verdict{Phase: phase.Rollout, Confidence: phase.Low, Why: "the server was up and serving"}

func (c *conclusion) byBar() (phase.Verdict, bool) { return phase.FromBar(c.root.Text) }

func (c *conclusion) byStage() (phase.Verdict, bool) { return c.stage(c.root) }

// stage returns what was under way when an event was printed: the open timer, or the last stage that was announced.
func (c *conclusion) stage(e *event) (phase.Verdict, bool) {
	if e.Timer != "" && !c.cannotSpeakFor(e, e.TimerBy) {
		if v, ok := phase.FromTimer(e.Timer); ok {
			return v, true
		}
	}
	m := e.Marker
	if m == nil || m.Fields["phase"] == "" || c.cannotSpeakFor(e, m.Header.Stream) || e == c.root && c.started(m) || c.served(m, e.Ready) {
		return phase.Verdict{}, false
	}
	where := fmt.Sprintf("line %d", m.At.Line)
	if e.file != c.root.file {
		where = m.At.String()
	}
	return phase.Verdict{
		Phase: phase.Phase(m.Fields["phase"]), Confidence: phase.Medium,
		Why: "the last stage logged before it, " + where + ": " + clean(m.Text, 100),
	}, true
}

// cannotSpeakFor reports whether a labelled writer's stage says nothing about another writer: it had its own failure, which is
// another incident.
func (c *conclusion) cannotSpeakFor(e *event, stream string) bool {
	if stream == "" || e.Header.Stream == "" || stream == e.Header.Stream {
		return false
	}
	return slices.ContainsFunc(c.job.index.evidence[writer{e.file, stream}], func(x *event) bool { return c.failedElsewhere(x, e) })
}

// failedElsewhere reports whether x is of another incident in the attempt of e.
func (c *conclusion) failedElsewhere(x, e *event) bool {
	return x.cluster != nil && x.cluster != c.cluster && x.Attempt == e.Attempt
}

// sharedLog reports whether several programs write the log: another labelled writer had its own incident.
func (c *conclusion) sharedLog(e *event) bool {
	return slices.ContainsFunc(c.job.index.evidences[e.file], func(x *event) bool {
		return c.failedElsewhere(x, e) && labelled(x, e)
	})
}

// stageOfWitness returns what was under way in the first other log that noticed a kill: a kernel's log has no stages.
func (c *conclusion) stageOfWitness() (phase.Verdict, bool) {
	if c.root.Kind != parser.OOMKill {
		return phase.Verdict{}, false
	}
	for _, x := range c.job.index.kills {
		if x.file == c.root.file || x.Attempt != c.root.Attempt {
			continue
		}
		if v, ok := c.stage(x); ok {
			return v, true
		}
	}
	return phase.Verdict{}, false
}

// started reports whether a start-up marker is out of date: another input of the attempt is at a later stage. A job
// starts once, and a clock need not be on every line.
func (c *conclusion) started(m *parser.Marker) bool {
	if m.Fields["phase"] != phase.Init {
		return false
	}
	if _, own := c.byName(); own {
		return false // engines restart inside a run that goes on
	}
	v, ok := c.elsewhere()
	return ok && v.Phase != phase.Init
}

// served reports whether a start-up marker is out of date: the log is a server's, which has said that it is ready.
func (c *conclusion) served(m *parser.Marker, ready bool) bool {
	return ready && m.Fields["phase"] == phase.Init && isServer(c.job.run.Framework)
}

// byName reads the names of the process and of the log.
func (c *conclusion) byName() (phase.Verdict, bool) {
	e := c.root
	for _, l := range []string{e.Header.Process, e.Header.Actor} {
		if v, ok := phase.FromLabel(l, e.Ready || e.LastStep >= 0); ok && l != "" {
			return v, true
		}
	}
	return phase.FromFile(filepath.Base(strings.NewReplacer("\\", "/", "!", "/").Replace(e.At.Source)), e.Ready) // a!b is in an archive
}

// elsewhere reads where the job's other inputs stopped. Standard output often has its own file, and its last stage was running
// when the job died.
func (c *conclusion) elsewhere() (phase.Verdict, bool) {
	for _, f := range c.job.files {
		if f == c.root.file || f.Attempt != c.root.Attempt {
			continue
		}
		timer, _, m := f.underWay("")
		if v, ok := phase.FromTimer(timer); ok && timer != "" {
			return v, true
		}
		if m != nil && c.served(m, f.Ready) {
			return serving, true
		}
		// a stage without an announced end is over when training steps are reported; a checkpoint was forgotten then
		if m != nil && m.Fields["phase"] != "" && (m.Fields["edge"] == "open" || m.Fields["phase"] == phase.Checkpoint || f.LastStep < 0) {
			return phase.Verdict{
				Phase: m.Fields["phase"], Confidence: phase.Low,
				Why: fmt.Sprintf("the last stage logged, %s: %s", m.At, clean(m.Text, 100)),
			}, true
		}
	}
	return phase.Verdict{}, false
}
