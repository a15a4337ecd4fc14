package classifier

import (
	"cmp"
	"slices"
	"strings"

	"oomscan/classifier/phase"
	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/secret"
	"oomscan/parser/settings"
	"oomscan/parser/traceback"
)

// Limits of what a collector keeps of one input; everything beyond is only counted.
const (
	maxPerPattern = 256
	maxTraces     = 64 // events of one pattern that keep their traceback
	maxSettings   = 8192
	maxIdentities = 8192
	maxStreams    = 4096 // writers whose timers and phases are known
	maxTimers     = 16
	maxLaunches   = 256
	maxGauges     = 256
	maxAttempts   = 1000
	maxCounted    = 64 // of what progress is counted
	// Only hostile inputs reach these: events of all patterns together, and bytes of their texts and tracebacks. Beyond
	// the first, only the first few events of a pattern are kept; beyond the second, they are kept with short texts.
	maxEvents   = 2048
	maxHeld     = 6 << 20
	fewEvents   = 16
	shortText   = 256
	fewRepeated = 8
)

// A Collector folds the observations of one job, from any number of inputs and in any order of inputs, into what
// [Collector.Result] needs. Observations of one input must come in the order in which the reader emits them. What it keeps is bounded per input.
type Collector struct {
	files map[string]*file
	known map[string]struct{} // texts without credentials
}

// NewCollector returns an empty collector.
func NewCollector() *Collector { return &Collector{files: map[string]*file{}} }

// Add folds one observation. Credentials in it are masked before anything else.
func (c *Collector) Add(o parser.Observation) {
	if m, ok := o.(parser.Marker); ok { // there are many, and the result is not used
		c.marker(&m)
		return
	}
	c.Compact(o)
}

// Compact folds one observation and returns as much of it as another collector needs for the same result: of what is only
// counted, no texts and no traceback.
func (c *Collector) Compact(o parser.Observation) parser.Observation {
	switch o := o.(type) {
	case parser.Event:
		c.hideEvent(&o)
		return c.event(o)
	case parser.Setting:
		c.hideSetting(&o)
		c.setting(o)
		return o
	case parser.Marker:
		c.marker(&o)
		return o
	case parser.Gauge:
		c.hideGauge(&o)
		f := c.file(o.At.Source)
		f.learnHeader(&o.Header)
		key := o.Name + "\x00" + o.Header.Stream
		if pid := o.Fields["pid"]; pid != "" { // a row of a table
			key += "\x00" + o.Fields["device"] + o.Fields["bus"] + "\x00" + pid
		} else if rank := o.Fields["rank"]; rank != "" { // a rank whose lines have no writer
			key += "\x00" + rank
		} else if device := o.Fields["device"]; device != "" {
			key += "\x00" + device
		}
		if _, ok := f.Gauges[key]; ok || len(f.Gauges) < maxGauges {
			if old := f.Gauges[key]; f.FailedLine > old.At.Line && old.At.Line > 0 && len(f.Gauges) < maxGauges { // the program was started again
				f.Gauges[key+"\x00before"] = old
			}
			f.Gauges[key] = o
			trend := key
			if label := o.Fields["label"]; label != "" { // of the same moment of a step
				trend += "\x00" + label
			}
			if _, ok := f.Trends[trend]; ok || len(f.Trends) < maxGauges {
				f.Trends[trend] = f.Trends[trend].with(&o).sample(&o, f.LastStep)
			}
		}
		return o
	}
	return o
}

func (f *file) stream(key string) *streamState {
	s, ok := f.Streams[key]
	if !ok {
		if len(f.Streams) >= maxStreams {
			return &streamState{}
		}
		s = &streamState{}
		f.Streams[key] = s
	}
	return s
}

func (c *Collector) event(o parser.Event) parser.Event {
	f := c.file(o.At.Source)
	resolveTime(&o)
	f.learnHeader(&o.Header)
	reclassify(&o)
	f.learnFailed(&o)
	f.learnDevice(&o)
	f.followAttempt(&o)
	if o.Role == parser.Evidence {
		f.FailedLine = cmp.Or(f.FailedLine, o.At.Line)
		f.Waits = true
	}
	f.PerPattern[o.Pattern]++
	n := f.PerPattern[o.Pattern]
	if n > maxPerPattern || n > fewEvents && len(f.Events) >= maxEvents {
		return counted(o)
	}
	if n > maxTraces {
		o.Trace = originOf(o.Trace)
	}
	o.Trace = hideTrace(o.Trace)
	origin := originOf(o.Trace)
	if n > maxTraces {
		o.Trace = nil
	}
	f.keep(&o)
	f.insert(f.inContext(o))
	o.Trace = cmp.Or(o.Trace, origin)
	return o
}

// insert keeps events in order of lines. The reader emits one that a sample may have held once it is known to have happened.
func (f *file) insert(e *event) {
	at := len(f.Events)
	for at > 0 && f.Events[at-1].At.Line > e.At.Line {
		at--
	}
	f.Events = slices.Insert(f.Events, at, e)
}

// learnDevice notes the device of a rank that Ray's label and the rank's own prefix name on one line.
func (f *file) learnDevice(o *parser.Event) {
	if n, ok := o.Fields.Int("device"); ok && o.Header.PID > 0 && o.Header.Rank >= 0 && o.Kind.Resource() == "gpu" {
		f.learn(&identity{Rank: o.Header.Rank, LocalRank: -1, Device: int(n), PID: o.Header.PID})
	}
}

// rayDeadActor is one line of several that describe a dead actor.
const rayDeadActor = "ray.actor_died_fields"

// learnFailed identifies the process that failed, from the header of a remote traceback or from Ray's lines about a dead actor.
func (f *file) learnFailed(o *parser.Event) {
	if o.Trace != nil && o.Trace.Origin != nil {
		g := o.Trace.Origin
		f.learn(&identity{Rank: g.Rank, LocalRank: -1, Device: -1, PID: g.PID, Host: g.IP})
		if g.Actor != "" && len(f.Labels) < maxLaunches {
			f.Labels[g.Actor] = true
		}
	}
	if o.Pattern == rayDeadActor {
		f.learnDeath(o)
	}
}

// followAttempt notes that an attempt failed or ended, and begins the next one if a launcher announces it.
func (f *file) followAttempt(o *parser.Event) {
	switch {
	case o.Kind == parser.Restart:
		f.beginAttempt(o.At.Line, &o.Header)
	case o.Kind == parser.JobCancelled && o.Fields["reason"] == "requeue":
		f.Ended, f.Requeued = true, true
	case o.Role == parser.Evidence && f.Requeued:
		f.beginAttempt(o.At.Line, &o.Header)
		f.Failed, f.FailedAs = true, o.Header.Launched()
	case patternOf(o.Pattern).Ends:
		f.Ended = true
	case o.Role == parser.Evidence || o.Kind == parser.Exception:
		f.followDeath(o)
		f.Failed, f.FailedAs = true, o.Header.Launched()
		_, collected := o.Header.Collected()
		f.Over = f.Over || collected && uncaught(o.Trace)
	}
}

// inContext returns an event with what was known when it was read.
func (f *file) inContext(o parser.Event) *event {
	e := &event{
		Event: o, pattern: patternOf(o.Pattern), file: f, Attempt: f.Attempt, Steps: f.Steps, StepsBy: f.Steppers.now(), Since: f.Clocks[o.Header.Launched()], SetBack: f.SetBack,
		Progress: f.Progress, Bars: f.Bars, OldBars: f.OldBars, SignsBy: f.Signs.now(), Instead: f.Instead, LastStep: f.LastStep, Ready: f.Ready, When: o.Header.Time, Clock: o.Header.Clock,
	}
	if e.When.IsZero() {
		e.When, e.Clock = f.LastTime, f.Clock
	}
	e.Timer, e.TimerBy, e.Marker = f.underWay(o.Header.Stream)
	return e
}

// originOf reduces a traceback to its origin, nil if it has none.
func originOf(t *traceback.Trace) *traceback.Trace {
	if t == nil || t.Origin == nil {
		return nil
	}
	return &traceback.Trace{Origin: t.Origin}
}

// counted reduces an event that is only counted to its writer, its kind, and the processes that it names.
func counted(o parser.Event) parser.Event {
	o.Text, o.Phase, o.Trace = "", "", hideTrace(originOf(o.Trace))
	fields := parser.Fields{}
	for _, k := range []string{"reason", "pid", "host"} {
		if v, ok := o.Fields[k]; ok {
			fields[k] = v
		}
	}
	o.Fields = fields
	return o
}

// reclassify decides what an ambiguous exception is: a full device is a disk, unless the traceback goes
// through shared memory.
func reclassify(o *parser.Event) {
	if o.Kind != parser.Exception || o.Trace == nil || !strings.Contains(o.Text, "No space left on device") {
		return
	}
	for _, f := range o.Trace.Frames {
		for _, place := range []string{"multiprocessing/synchronize.py", "multiprocessing/heap.py", "shared_memory.py", "multiprocessing/reductions.py"} {
			if strings.HasSuffix(strings.ReplaceAll(f.File, "\\", "/"), place) || strings.Contains(o.Text, "/dev/shm") {
				o.Kind, o.Role, o.Pattern = parser.SHMExhausted, parser.Evidence, "shm.traceback"
				o.Fields = parser.Fields{"errno": "28"}
				return
			}
		}
	}
}

// keep bounds the memory that an event keeps alive.
func (f *file) keep(o *parser.Event) {
	if f.Held > maxHeld {
		o.Text, o.Trace = short(o.Text), nil
		for k, v := range o.Fields {
			o.Fields[k] = short(v)
		}
	}
	f.Held += len(o.Text) + o.Trace.Size()
	for _, v := range o.Fields {
		f.Held += len(v)
	}
}

// short copies the beginning of a text.
func short(s string) string { return strings.Clone(secret.Clip(s, shortText)) }

// beginAttempt begins a new attempt with the line of a header: workers are restarted.
func (f *file) beginAttempt(line int, h *envelope.Header) {
	if f.Attempt >= maxAttempts {
		return
	}
	f.Attempt++
	f.Done = append(f.Done, f.Steps)
	f.LastStep = -1
	for i := range f.Steppers {
		f.Steppers[i].Last = -1
	}
	f.Ready, f.Over, f.Ended, f.Failed, f.Requeued, f.Repeated, f.Death = false, false, false, false, false, 0, death{}
	for _, s := range f.Streams {
		s.Timers, s.Phase, s.Around = nil, nil, nil
		f.follow(s, line, h)
	}
}

// clearStages drops the stages that a training step ends: startup, which a restarted engine announces again, and a checkpoint
// that never announced its end.
func (f *file) clearStages() {
	for _, s := range f.Streams {
		if m := s.Phase; m != nil && (m.Fields["phase"] == phase.Init || m.Fields["phase"] == phase.Checkpoint && m.Fields["edge"] == "point") {
			s.Phase = nil
		}
	}
}

// underWay returns the innermost open timer and the last phase marker for a writer: its own, else those of the writers
// that print them for all (rank 0, the driver).
func (f *file) underWay(stream string) (name, by string, marker *parser.Marker) {
	if s, ok := f.Streams[stream]; ok {
		if n := len(s.Timers); n > 0 {
			name, by = s.Timers[n-1].Name, stream
		}
		marker = s.Phase
	}
	if name != "" && marker != nil {
		return name, by, marker
	}
	ownName, ownMarker, lastTimer, lastPhase := name != "", marker != nil, -1, -1
	for key, s := range f.Streams {
		if n := len(s.Timers); n > 0 && !ownName && s.Timers[n-1].At > lastTimer {
			name, by, lastTimer = s.Timers[n-1].Name, key, s.Timers[n-1].At
		}
		if !ownMarker && s.Phase != nil && s.PhaseAt > lastPhase {
			marker, lastPhase = s.Phase, s.PhaseAt
		}
	}
	return name, by, marker
}

func (c *Collector) setting(o parser.Setting) {
	f := c.file(o.At.Source)
	f.noteStamp(&o.Header)
	switch o.Form {
	case settings.Pprint, settings.Megatron:
		f.repeat(&o, f.Ended || f.Failed)
	case settings.YAML, settings.JSON, settings.TOML, settings.Pairs:
		f.repeat(&o, f.Over)
	case settings.Repr, settings.Engine: // an engine may be started anew inside a run that goes on
		if f.Ended {
			f.beginAttempt(o.At.Line, &o.Header)
		}
	}
	if _, ok := f.Settings[o.Key]; !ok {
		if len(f.Settings) >= maxSettings {
			return
		}
		f.Order = append(f.Order, o.Key)
	}
	f.Settings[o.Key] = Value{Value: o.Value, At: o.At, Form: o.Form}.after(f.Settings[o.Key])
}

// repeat begins a new attempt where enough settings are printed again after a failure: a dict of a few keys is no program's whole
// configuration.
func (f *file) repeat(o *parser.Setting, failed bool) {
	if old, known := f.Settings[o.Key]; !failed || !known || old.Form != o.Form {
		return
	}
	if f.Repeated++; f.Repeated >= fewRepeated {
		f.beginAttempt(o.At.Line, &o.Header)
	}
}
