package classifier

import (
	"maps"
	"slices"
	"strings"
	"time"

	"oomscan/classifier/phase"
	"oomscan/parser"
	"oomscan/parser/secret"
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
	// Only hostile inputs reach these: events of all patterns together, and bytes of their texts and tracebacks. Beyond
	// the first, only the first few events of a pattern are kept; beyond the second, they are kept with short texts.
	maxEvents = 2048
	maxHeld   = 6 << 20
	fewEvents = 16
	shortText = 256
	fewRetold = 8
)

// A Collector folds the observations of one job, from any number of inputs and in any order of inputs, into what
// [Collector.Result] needs. Observations of one input must come in order of lines. What it keeps is bounded per input.
type Collector struct {
	files map[string]*file
	known map[string]struct{} // texts without credentials
}

// NewCollector returns an empty collector.
func NewCollector() *Collector { return &Collector{files: map[string]*file{}} }

// file is what one input told.
type file struct {
	name     string
	events   []*event
	perKind  map[string]int // events seen per pattern
	held     int            // bytes of the events' texts and tracebacks
	settings map[string]Value
	order    []string // keys in order of their first appearance
	streams  map[string]*streamState
	idents   map[identKey]*identity
	launches []parser.Marker
	gauges   map[string]parser.Gauge // last reading per name and writer
	labels   map[string]bool         // process labels seen

	ended      bool      // a launcher said that the job failed: what begins after that is a new attempt
	retold     int       // settings that were told again since then
	requeued   bool      // Slurm said that the job starts anew: the next failure is a new attempt's
	failed     bool      // something failed: a trainer that prints its settings after that was started again
	self       *identity // who writes this input, when unlabelled lines tell of one process only
	selves     int
	marks      int   // timers and phases seen: their order, for a line may hold several
	attempt    int   // how often a launcher started its workers anew
	done       []int // steps at the end of each attempt but the last
	steps      int   // training steps that were reported
	steppers   []stepper
	clocks     map[string]moment // last stamp of each launcher's label
	ticks      int               // stamped lines that had one
	progress   int               // weaker signs that a run goes on: see the marker "progress"
	progressAt int64             // where the last one stands
	counted    int               // the highest count of such a sign
	dead       int               // pid of an actor whose death is being told, by the writer deadBy
	deadBy     string
	lastStep   int       // highest step of this attempt, -1 before any
	ready      bool      // an engine said that it serves requests
	clock      string    // clock of lastTime
	lastTime   time.Time // last time stamp seen
}

// streamState is where one writer is.
type streamState struct {
	timers  []timer // open timers, innermost last
	phase   *parser.Marker
	phaseAt int // file.marks
}

// timer is an open timer and when it was opened, in marks of the file.
type timer struct {
	name string
	at   int
}

// event is an event with what was known when it was read.
type event struct {
	parser.Event
	file     *file
	attempt  int
	steps    int    // training steps reported before it, in its file
	stepsBy  []int  // those of each of the file's steppers
	since    moment // last stamp of its launcher's label until then
	progress int    // signs of progress before it
	lastStep int
	ready    bool
	timer    string         // innermost open timer of its stream, or the only open one of its file
	timerBy  string         // the stream that opened it
	marker   *parser.Marker // last phase marker of its stream, else of its file
	when     time.Time      // its own time, else the last one seen in its file
	clock    string
	fields   parser.Fields // Event.Fields, completed by details beside it
	details  []*event
	home     *cluster // whose evidence it is
	figures  figures
}

// Add folds one observation. Credentials in it are masked before anything else.
func (c *Collector) Add(o parser.Observation) {
	if m, ok := o.(parser.Marker); ok { // there are many of them, and nobody takes what is left of it
		c.marker(&m)
		return
	}
	c.Thin(o)
}

// Thin folds one observation and returns as much of it as another collector needs to be told the same: of what is only
// counted, no texts and no traceback.
func (c *Collector) Thin(o parser.Observation) parser.Observation {
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
		f.see(&o.Header)
		key := o.Name + "\x00" + o.Header.Stream
		if _, ok := f.gauges[key]; ok || len(f.gauges) < maxGauges {
			f.gauges[key] = o
		}
		return o
	}
	return o
}

func (c *Collector) file(name string) *file {
	f, ok := c.files[name]
	if !ok {
		f = &file{
			name: name, perKind: map[string]int{}, settings: map[string]Value{}, streams: map[string]*streamState{},
			idents: map[identKey]*identity{}, gauges: map[string]parser.Gauge{}, labels: map[string]bool{}, clocks: map[string]moment{}, lastStep: -1,
		}
		c.files[name] = f
	}
	return f
}

func (f *file) stream(key string) *streamState {
	s, ok := f.streams[key]
	if !ok {
		if len(f.streams) >= maxStreams {
			return &streamState{}
		}
		s = &streamState{}
		f.streams[key] = s
	}
	return s
}

func (c *Collector) event(o parser.Event) parser.Event {
	f := c.file(o.At.Source)
	dated(&o)
	f.see(&o.Header)
	reread(&o)
	if o.Trace != nil && o.Trace.Origin != nil {
		g := o.Trace.Origin
		f.learn(identity{rank: g.Rank, localRank: -1, device: -1, pid: g.PID, host: g.IP})
		if g.Actor != "" && len(f.labels) < maxLaunches {
			f.labels[g.Actor] = true
		}
	}
	if o.Pattern == "ray.actor_died_fields" {
		f.died(&o)
	}
	switch {
	case o.Kind == parser.Restart:
		f.again()
	case o.Kind == parser.JobCancelled && o.Fields["reason"] == "requeue":
		f.ended, f.requeued = true, true
	case o.Role == parser.Evidence && f.requeued:
		f.again()
		f.failed = true
	case o.Pattern == "elastic.child_failed" || o.Pattern == "elastic.block" || o.Pattern == "ray.job_failed" || o.Pattern == "hydracore.job_failed":
		f.ended = true
	case o.Role == parser.Evidence || o.Kind == parser.Exception:
		f.failed = true
	}
	f.perKind[o.Pattern]++
	n := f.perKind[o.Pattern]
	if n > maxPerPattern || n > fewEvents && len(f.events) >= maxEvents {
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
	e := &event{
		Event: o, file: f, attempt: f.attempt, steps: f.steps, stepsBy: f.stepsNow(), since: f.clocks[o.Header.Launched()], progress: f.progress, lastStep: f.lastStep, ready: f.ready,
		when: o.Header.Time, clock: o.Header.Clock, fields: parser.Fields{},
	}
	for k, v := range o.Fields {
		e.fields[k] = v
	}
	if e.when.IsZero() {
		e.when, e.clock = f.lastTime, f.clock
	}
	e.timer, e.timerBy, e.marker = f.where(o.Header.Stream)
	f.events = append(f.events, e)
	if o.Trace == nil {
		o.Trace = origin
	}
	return o
}

// originOf is a traceback that only tells whose it is, nil when the whole one does not.
func originOf(t *traceback.Trace) *traceback.Trace {
	if t == nil || t.Origin == nil {
		return nil
	}
	return &traceback.Trace{Origin: t.Origin}
}

// counted is what counts of an event that is not kept: who told it, what it is, and what it says of others.
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

// reread decides what an exception is whose words do not tell: a full device is a disk, unless the traceback goes
// through shared memory.
func reread(o *parser.Event) {
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

// keep bounds what an event keeps alive.
func (f *file) keep(o *parser.Event) {
	if f.held > maxHeld {
		o.Text, o.Trace = short(o.Text), nil
		for k, v := range o.Fields {
			o.Fields[k] = short(v)
		}
	}
	f.held += len(o.Text) + o.Trace.Size()
	for _, v := range o.Fields {
		f.held += len(v)
	}
}

// short is the beginning of a text, as a copy.
func short(s string) string { return strings.Clone(secret.Clip(s, shortText)) }

// again begins a new attempt: workers are started anew.
func (f *file) again() {
	if f.attempt >= maxAttempts {
		return
	}
	f.attempt++
	f.done = append(f.done, f.steps)
	f.lastStep = -1
	for i := range f.steppers {
		f.steppers[i].last = -1
	}
	f.ready, f.ended, f.failed, f.requeued, f.retold = false, false, false, false, 0
	for _, s := range f.streams {
		s.timers, s.phase = nil, nil
	}
}

// started forgets who announced the start-up: training steps come after it, and an engine that is started anew says so.
func (f *file) started() {
	for _, s := range f.streams {
		if s.phase != nil && s.phase.Fields["phase"] == phase.Init {
			s.phase = nil
		}
	}
}

// where tells the innermost open timer and the last phase marker for a writer: its own, else those of the writers
// that print them for all (rank 0, the driver).
func (f *file) where(stream string) (name, by string, marker *parser.Marker) {
	if s, ok := f.streams[stream]; ok {
		if n := len(s.timers); n > 0 {
			name, by = s.timers[n-1].name, stream
		}
		marker = s.phase
	}
	if name != "" && marker != nil {
		return name, by, marker
	}
	ownName, ownMarker, lastTimer, lastPhase := name != "", marker != nil, -1, -1
	for key, s := range f.streams {
		if n := len(s.timers); n > 0 && !ownName && s.timers[n-1].at > lastTimer {
			name, by, lastTimer = s.timers[n-1].name, key, s.timers[n-1].at
		}
		if !ownMarker && s.phase != nil && s.phaseAt > lastPhase {
			marker, lastPhase = s.phase, s.phaseAt
		}
	}
	return name, by, marker
}

func (c *Collector) setting(o parser.Setting) {
	f := c.file(o.At.Source)
	f.ticked(&o.Header)
	switch o.Form {
	case "pprint", "megatron":
		// a dict of a few keys is no program's configuration told again
		if old, told := f.settings[o.Key]; told && old.Form == o.Form && (f.ended || f.failed) {
			if f.retold++; f.retold >= fewRetold {
				f.again()
			}
		}
	case "repr", "engine": // an engine may be started anew inside a run that goes on
		if f.ended {
			f.again()
		}
	}
	if _, ok := f.settings[o.Key]; !ok {
		if len(f.settings) >= maxSettings {
			return
		}
		f.order = append(f.order, o.Key)
	}
	f.settings[o.Key] = Value{Value: o.Value, At: o.At, Form: o.Form}.after(f.settings[o.Key])
}

// marker folds a marker, and leaves of it what [Collector.Thin] returns.
func (c *Collector) marker(o *parser.Marker) {
	c.hideMarker(o)
	f := c.file(o.At.Source)
	f.see(&o.Header)
	if o.Name == "phase" && o.Fields["edge"] != "close" || o.Name == "launch" {
		o.Text = short(o.Text)
	} else {
		o.Text = "" // nobody quotes it
	}
	f.marks++
	if f.ended && begins(o) {
		f.again()
	}
	switch o.Name {
	case "step":
		n, ok := o.Fields.Int("step")
		if !ok || n >= 1<<40 {
			return
		}
		f.stepped(o.Header.Launched(), int(n))
		if int(n) > f.lastStep {
			f.lastStep = int(n)
			f.steps++
			f.started()
		}
	case "progress":
		if n, ok := o.Fields.Int("count"); ok && int(n) > f.counted && n < 1<<40 {
			f.counted = int(n)
			f.progress++
			f.progressAt = o.At.Offset
		} else if o.Fields["served"] != "" {
			f.progress++
			f.progressAt = o.At.Offset
		}
	case "ready":
		f.ready = true
	case "timer":
		f.stream(o.Header.Stream).timer(short(o.Fields["timer"]), o.Fields["edge"], f.marks)
	case "phase":
		f.phase(o)
	case "identity":
		f.identity(o)
	case "launch":
		if len(f.launches) < maxLaunches {
			f.launches = append(f.launches, *o)
		}
	}
}

// begins says that a marker is of a run that starts or goes on, not of one that ended.
func begins(o *parser.Marker) bool {
	switch o.Name {
	case "step", "ready":
		return true
	case "identity":
		return o.Fields["peers"] != "" || o.Fields["world_size"] != "" // a process group is formed
	case "phase":
		return o.Fields["phase"] == "init"
	case "launch":
		return o.Fields["starts"] != ""
	}
	return false
}

func (s *streamState) timer(name, edge string, at int) {
	if edge == "open" {
		if len(s.timers) < maxTimers {
			s.timers = append(s.timers, timer{name, at})
		}
		return
	}
	for i := len(s.timers) - 1; i >= 0; i-- {
		if s.timers[i].name == name {
			s.timers = append(s.timers[:i], s.timers[i+1:]...)
			return
		}
	}
}

func (f *file) phase(o *parser.Marker) {
	if o.Fields["edge"] == "close" {
		if s, ok := f.streams[o.Header.Stream]; ok && s.phase != nil && s.phase.Fields["phase"] == o.Fields["phase"] {
			s.phase = nil
		}
		return
	}
	s := f.stream(o.Header.Stream)
	s.phase, s.phaseAt = new(*o), f.marks
}

// Merge takes over what another collector of the same job holds. Both must hold different inputs; where one input was
// read by both, the other's view wins. The other collector must not be used afterwards.
func (c *Collector) Merge(other *Collector) {
	for name, f := range other.files {
		c.files[name] = f
	}
}

// Clone returns a copy to which more can be added without changing c.
func (c *Collector) Clone() *Collector {
	out := NewCollector()
	for name, f := range c.files {
		g := *f
		g.events = make([]*event, len(f.events))
		for i, e := range f.events {
			h := *e
			h.file = &g // what is compared is who owns them
			g.events[i] = &h
		}
		g.perKind, g.settings, g.labels = maps.Clone(f.perKind), maps.Clone(f.settings), maps.Clone(f.labels)
		g.order, g.launches, g.gauges = slices.Clone(f.order), slices.Clone(f.launches), maps.Clone(f.gauges)
		g.done, g.steppers, g.clocks = slices.Clone(f.done), slices.Clone(f.steppers), maps.Clone(f.clocks)
		g.streams = make(map[string]*streamState, len(f.streams))
		for k, s := range f.streams {
			t := *s
			t.timers = slices.Clone(s.timers)
			g.streams[k] = &t
		}
		g.idents = make(map[identKey]*identity, len(f.idents))
		for k, i := range f.idents {
			j := *i
			g.idents[k] = &j
		}
		if f.self != nil {
			g.self = new(*f.self)
		}
		out.files[name] = &g
	}
	return out
}
