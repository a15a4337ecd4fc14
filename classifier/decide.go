package classifier

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"oomscan/classifier/phase"
	"oomscan/parser"
	"oomscan/parser/traceback"
)

// phase decides in which phase the root happened: by the message itself, the traceback, the remote method, the
// driver's pending call, an open timer or marker, the process and the file, in this order.
func (c *cluster) phase() phase.Verdict {
	e := c.root
	if e.Kind == parser.NCCLOOM {
		return phase.Verdict{Phase: phase.NCCL, Confidence: "high", Why: "the collective library itself could not allocate"}
	}
	if e.Phase != "" {
		return phase.Verdict{Phase: phase.Phase(e.Phase), Confidence: "high", Why: "only that phase prints this message"}
	}
	if v, ok := c.byTrace(); ok {
		return v
	}
	said := slices.Clone(c.evidence)
	for _, x := range c.evidence {
		said = append(said, x.details...)
	}
	for _, x := range said {
		if x.Phase != "" && sameWriter(x, e) && x.At.Line-e.At.Line <= nearLines {
			return phase.Verdict{Phase: x.Phase, Confidence: phase.High, Why: "only that phase prints the message beside it: " + clean(x.Text, 100)}
		}
	}
	if v, ok := c.byCommand(); ok {
		return v
	}
	if v, ok := c.byWitness(); ok {
		return v
	}
	return c.byContext()
}

// byTrace reads the traceback of the failure, then who called it from afar.
func (c *cluster) byTrace() (phase.Verdict, bool) {
	t := c.trace
	if t == nil {
		return phase.Verdict{}, false
	}
	v, ok := phase.FromFrames(t.Frames)
	if ok && v.Phase != phase.Training {
		return v, true
	}
	if g := t.Origin; g != nil {
		if w, good := phase.FromMethod(g.Actor, g.Method); good {
			if !ok {
				return w, true
			}
		}
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

// remote finds a Ray task's name in a process title: "ray::WorkerDict.actor_rollout_generate_sequences".
var remote = regexp.MustCompile(`ray::(?:([\w:\[\]=.-]{1,100})\.)?(\w{1,100})`)

// byCommand reads the title of the killed process.
func (c *cluster) byCommand() (phase.Verdict, bool) {
	pid := c.joined()["pid"]
	for pass := range 2 {
		for _, e := range c.evidence {
			for _, d := range append([]*event{e}, e.details...) {
				if pass == 0 && d.fields["pid"] != pid {
					continue
				}
				for _, key := range []string{"cmd", "comm", "method", "name"} {
					m := remote.FindStringSubmatch(d.fields[key])
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
	return phase.Verdict{}, false
}

// byWitness asks those who noticed a kill: a data loader's or a worker pool's parent.
func (c *cluster) byWitness() (phase.Verdict, bool) {
	if c.root.Kind != parser.OOMKill {
		return phase.Verdict{}, false
	}
	for _, e := range c.job.events {
		if e.attempt != c.root.attempt || e.Role != parser.Suspicion && e.Role != parser.Evidence {
			continue
		}
		if e.Phase != "" {
			return phase.Verdict{Phase: phase.Phase(e.Phase), Confidence: "medium", Why: "its parent noticed the kill there: " + clean(e.Text, 120)}, true
		}
	}
	for _, e := range c.job.events {
		if e.attempt != c.root.attempt || e.Trace == nil || e.Kind != parser.Exception && e.Kind != parser.ProcessExit {
			continue
		}
		if v, ok := phaseOf(e.Trace); ok && e.Trace.Cause != nil || ok && e.Trace.Origin != nil {
			v.Confidence = "low"
			return v, true
		}
	}
	return phase.Verdict{}, false
}

// phaseOf reads frames, then the remote method, then the driver's pending call.
func phaseOf(t *traceback.Trace) (phase.Verdict, bool) {
	if v, ok := phase.FromFrames(t.Frames); ok {
		return v, true
	}
	if t.Origin != nil {
		if v, ok := phase.FromMethod(t.Origin.Actor, t.Origin.Method); ok {
			return v, true
		}
	}
	return phase.FromDriver(t.Frames)
}

// byContext falls back on what the log said before: open timers, markers, the process, the file, the last step.
func (c *cluster) byContext() phase.Verdict {
	e := c.root
	if v, ok := c.stage(e); ok {
		return v
	}
	if v, ok := c.stageOfWitness(); ok {
		return v
	}
	if v, ok := c.elsewhere(); ok {
		return v
	}
	if v, ok := c.byName(); ok {
		return v
	}
	if c.job.bareEngine() {
		if e.ready {
			return phase.Verdict{Phase: phase.Rollout, Confidence: phase.Low, Why: "the server was up and serving"}
		}
		return phase.Verdict{Phase: phase.Init, Confidence: phase.Low, Why: "the server had not said that it is ready"}
	}
	if e.lastStep >= 1 && resource(e.Kind) == "gpu" {
		return phase.Verdict{Phase: phase.Training, Confidence: "low", Why: fmt.Sprintf("training steps were running (last one reported: %d) and nothing tells more", e.lastStep)}
	}
	return phase.Verdict{Phase: phase.Unknown, Confidence: "low", Why: "neither a traceback nor a stage is printed near it"}
}

// stage is what was under way when an event was printed: the open timer, the last stage that was announced.
func (c *cluster) stage(e *event) (phase.Verdict, bool) {
	if e.timer != "" {
		if v, ok := phase.FromTimer(e.timer); ok {
			return v, true
		}
	}
	m := e.marker
	if m == nil || m.Fields["phase"] == "" || e == c.root && c.started(m) {
		return phase.Verdict{}, false
	}
	return phase.Verdict{
		Phase: phase.Phase(m.Fields["phase"]), Confidence: phase.Medium,
		Why: fmt.Sprintf("the last stage that the log announced before it (line %d): %s", m.At.Line, clean(m.Text, 100)),
	}, true
}

// stageOfWitness asks the first who noticed a kill in another log what was under way there: a kernel's log knows of
// no stages.
func (c *cluster) stageOfWitness() (phase.Verdict, bool) {
	if c.root.Kind != parser.OOMKill {
		return phase.Verdict{}, false
	}
	for _, x := range c.job.events {
		if x.file == c.root.file || x.attempt != c.root.attempt || x.Kind != parser.OOMKill && x.Kind != parser.ProcessExit {
			continue
		}
		if v, ok := c.stage(x); ok {
			v.Why = fmt.Sprintf("where %s noticed the kill: %s", x.At, v.Why)
			return v, true
		}
	}
	return phase.Verdict{}, false
}

// started says that a marker of the start is out of date: another input of the attempt tells of a later stage. A job
// starts once, and a clock need not be on every line.
func (c *cluster) started(m *parser.Marker) bool {
	if m.Fields["phase"] != phase.Init {
		return false
	}
	if _, own := c.byName(); own {
		return false // engines start anew inside a run that goes on
	}
	v, ok := c.elsewhere()
	return ok && v.Phase != phase.Init
}

// byName reads the names of the process and of the log.
func (c *cluster) byName() (phase.Verdict, bool) {
	e := c.root
	for _, l := range []string{e.Header.Process, e.Header.Actor} {
		if v, ok := phase.FromLabel(l, e.ready || e.lastStep >= 0); ok && l != "" {
			return v, true
		}
	}
	return phase.FromFile(filepath.Base(strings.ReplaceAll(e.At.Source, "\\", "/")), e.ready)
}

// elsewhere reads where the job's other inputs stopped: standard output often goes to a file of its own, and what it
// announced last was under way when the job died.
func (c *cluster) elsewhere() (phase.Verdict, bool) {
	for _, f := range c.job.files {
		if f == c.root.file || f.attempt != c.root.attempt {
			continue
		}
		timer, m := f.where("")
		if v, ok := phase.FromTimer(timer); ok && timer != "" {
			return v, true
		}
		if m != nil && m.Fields["phase"] != "" && m.Fields["edge"] == "open" {
			return phase.Verdict{
				Phase: m.Fields["phase"], Confidence: phase.Low,
				Why: fmt.Sprintf("the last stage that %s announced: %s", m.At, clean(m.Text, 100)),
			}, true
		}
	}
	return phase.Verdict{}, false
}

// lines are the evidence of an incident, the root first.
func (c *cluster) lines(v phase.Verdict, in *Incident) []Evidence {
	e := c.root
	out := []Evidence{{At: e.At, Text: clean(e.Text, 400), Why: reason(e)}}
	if v.Frame != nil && c.trace != nil {
		out = append(out, Evidence{
			At:   parser.Position{Source: c.traced.At.Source, Line: c.trace.Line},
			Text: clean(fmt.Sprintf("%s:%d in %s", v.Frame.File, v.Frame.Line, v.Frame.Func), 300), Why: "tells the phase: " + v.Why,
		})
	}
	for _, d := range e.details {
		if len(out) < maxEvidence {
			out = append(out, Evidence{At: d.At, Text: clean(d.Text, 300), Why: "gives figures"})
		}
	}
	for _, x := range c.evidence {
		if x != e && len(out) < maxEvidence && (x.Pattern != e.Pattern || x.file != e.file) {
			out = append(out, Evidence{At: x.At, Text: clean(x.Text, 300), Why: "reports the same failure"})
		}
	}
	return out
}

// reason says what a root line proves.
func reason(e *event) string {
	switch e.Kind {
	case parser.GPUOOM:
		return "the GPU allocator could not serve a request"
	case parser.GPUDriverOOM:
		return "the GPU driver or runtime had no memory left"
	case parser.KVCache:
		return "the inference engine found no room for its KV cache"
	case parser.NCCLOOM:
		return "the collective library's own allocation failed"
	case parser.HostOOM:
		return "an allocation in host memory failed"
	case parser.SHMExhausted:
		return "/dev/shm ran full"
	case parser.OOMKill:
		if e.Role == parser.Suspicion {
			return "killed by SIGKILL, by whom is not said"
		}
		return "a process was killed because memory ran out"
	}
	return "the first evidence"
}

// findings are what the figures say beyond themselves.
func (c *cluster) findings(in *Incident) []string {
	var out []string
	r := &in.Root
	if left, ok := c.root.fields.Int("available"); ok && in.Kind == parser.KVCache && r.Requested != nil {
		out = append(out, fmt.Sprintf("The engine has %s left for its KV cache; what it is asked to hold needs %s.", GiB(left), GiB(*r.Requested)))
	}
	if want, ok := c.root.fields["tokens"]; ok && in.Kind == parser.KVCache && r.Requested == nil {
		s := "The amounts are tokens of the KV cache, not bytes: " + want + " were asked for"
		if have := c.root.fields["tokens_available"]; have != "" {
			s += ", " + have + " were free"
		}
		out = append(out, s+".")
	}
	if r.Allocated != nil && r.Total != nil && *r.Allocated > *r.Total {
		s := fmt.Sprintf("The figures contradict each other: PyTorch counts %s as allocated, but the device has only %s. "+
			"A sleeping inference engine (vLLM sleep mode, torch_memory_saver) gives its pages back without PyTorch's counters noticing; ",
			GiB(*r.Allocated), GiB(*r.Total))
		if r.Free != nil {
			s += fmt.Sprintf("what is really occupied is capacity minus free: %s.", GiB(*r.Total-*r.Free))
		}
		out = append(out, s)
	}
	if r.Requested != nil && r.Total != nil && *r.Requested > *r.Total && in.Resource == "gpu" {
		out = append(out, fmt.Sprintf("The request alone (%s) is larger than the device (%s): freeing memory cannot help, the tensor itself must shrink.", GiB(*r.Requested), GiB(*r.Total)))
	}
	if r.OtherProcesses != nil && r.Requested != nil && r.Free != nil && *r.OtherProcesses >= *r.Requested-*r.Free && *r.OtherProcesses > 1<<30 && r.ProcessBytes != nil {
		out = append(out, fmt.Sprintf("Other processes hold %s of this device: the engine or trainer beside this one, or a stray process (nvidia-smi tells).", GiB(*r.OtherProcesses)))
	}
	// Every allocator keeps some slack: up to a twentieth of the card is no sign of anything.
	slack := r.Total != nil && r.ReservedUnallocated != nil && *r.ReservedUnallocated < *r.Total/20
	if r.ReservedUnallocated != nil && !slack && r.Requested != nil && r.Free != nil && *r.Requested > *r.Free && *r.ReservedUnallocated >= *r.Requested-*r.Free {
		out = append(out, fmt.Sprintf("PyTorch has %s reserved but unallocated, more than the %s that were missing: fragmentation plays a part.", GiB(*r.ReservedUnallocated), GiB(*r.Requested-*r.Free)))
	}
	if s := c.largest(); s != "" {
		out = append(out, s)
	}
	if r.Requested != nil && r.Free != nil && *r.Free >= *r.Requested && in.Resource == "gpu" && in.Kind == parser.GPUOOM {
		out = append(out, fmt.Sprintf("%s were free although only %s were asked for: a limit set below the card's size (memory fraction, allocator margin) or fragmentation refused it.", GiB(*r.Free), GiB(*r.Requested)))
	}
	return out
}

// largest names the processes of a host that were reported with what they held, the largest first.
func (c *cluster) largest() string {
	if resource(c.root.Kind) != "host" {
		return ""
	}
	const most = 3
	type process struct {
		name, pid string
		bytes     int64
	}
	var found []process
	add := func(e *event) {
		n, ok := e.Fields.Int("process")
		if !ok {
			n, ok = resident(e)
		}
		p := process{clean(cmp.Or(e.Fields["cmd"], e.Fields["comm"]), 60), e.Fields["pid"], n}
		if ok && n > 0 && p.name != "" && len(found) < 100 && !slices.ContainsFunc(found, func(x process) bool { return x.pid == p.pid }) {
			found = append(found, p)
		}
	}
	for _, e := range c.evidence {
		for _, d := range e.details {
			add(d)
		}
		add(e)
	}
	if len(found) == 0 {
		return ""
	}
	slices.SortStableFunc(found, func(a, b process) int { return cmp.Compare(b.bytes, a.bytes) })
	parts := make([]string, 0, most)
	for i, p := range found {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(found)-most))
			break
		}
		who := p.name
		if p.pid != "" {
			who += " (pid " + p.pid + ")"
		}
		parts = append(parts, who+" "+GiB(p.bytes))
	}
	return "Largest processes that the log reports: " + strings.Join(parts, ", ") + "."
}

// GiB prints bytes for people, in GiB or the unit that fits.
func GiB(n int64) string {
	f, neg := float64(n), ""
	if n < 0 {
		f, neg = -f, "-"
	}
	switch {
	case f >= 1<<30:
		return fmt.Sprintf("%s%.2f GiB", neg, f/(1<<30))
	case f >= 1<<20:
		return fmt.Sprintf("%s%.1f MiB", neg, f/(1<<20))
	case f >= 1<<10:
		return fmt.Sprintf("%s%.0f KiB", neg, f/(1<<10))
	}
	return fmt.Sprintf("%s%.0f bytes", neg, f)
}

// maxWord is the longest word that clean leaves out as a whole rather than cut it.
const maxWord = 256

// clean makes log text safe to show: no control characters, at most n bytes, one line. It cuts between words: half a key
// no longer looks like one, and would not be masked.
func clean(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if len(s) > n {
		cut := n
		for cut > 0 && s[cut]&0xc0 == 0x80 {
			cut--
		}
		if i := strings.LastIndexByte(s[:cut], ' '); i > 0 && cut-i <= maxWord {
			cut = i
		}
		s = s[:cut] + " ..."
	}
	return s
}
