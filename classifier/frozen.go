package classifier

import (
	"maps"
	"time"

	"oomscan/parser"
)

// frozenFile is a file that nothing is added to any more, in types that a [Store] can write: all fields can be seen from
// outside. A field that is new in a file belongs here, too; a test finds those that were forgotten.
type frozenFile struct {
	Name     string
	Events   []frozenEvent
	PerKind  map[string]int
	Held     int
	Settings map[string]Value
	Order    []string
	Streams  map[string]frozenStream
	Idents   []frozenIdent
	Launches []parser.Marker
	Gauges   map[string]parser.Gauge
	Labels   map[string]bool

	Ended, Requeued, Failed, Ready           bool
	Self                                     *frozenIdentity
	Retold, Selves, Marks, Attempt           int
	Done                                     []int
	Steppers                                 []frozenStepper
	Clocks                                   map[string]frozenMoment
	Ticks                                    int
	Steps, Progress, Counted, Dead, LastStep int
	ProgressAt                               int64
	DeadBy, Clock                            string
	LastTime                                 time.Time
}

type frozenEvent struct {
	Event                              parser.Event
	Attempt, Steps, Progress, LastStep int
	StepsBy                            []int
	Since                              frozenMoment
	Ready                              bool
	Timer, TimerBy                     string
	Marker                             *parser.Marker
	When                               time.Time
	Clock                              string
}

type frozenStream struct {
	Timers  []frozenTimer
	Phase   *parser.Marker
	PhaseAt int
}

type frozenTimer struct {
	Name string
	At   int
}

type frozenStepper struct {
	Label   string
	Last, N int
}

type frozenMoment struct {
	At   time.Time
	Seen int
}

type frozenIdent struct {
	Kind, Key string
	Identity  frozenIdentity
}

type frozenIdentity struct {
	Rank, LocalRank, Device, PID, Group, Engine int
	Host                                        string
	Here, Mixed                                 bool
}

func (i *identity) freeze() frozenIdentity {
	return frozenIdentity{i.rank, i.localRank, i.device, i.pid, i.group, i.engine, i.host, i.here, i.mixed}
}

func (i *frozenIdentity) thaw() *identity {
	return &identity{rank: i.Rank, localRank: i.LocalRank, device: i.Device, pid: i.PID, group: i.Group, engine: i.Engine, host: i.Host, here: i.Here, mixed: i.Mixed}
}

func (f *file) freeze() frozenFile {
	z := frozenFile{
		Name: f.name, PerKind: f.perKind, Held: f.held, Settings: f.settings, Order: f.order, Streams: map[string]frozenStream{},
		Launches: f.launches, Gauges: f.gauges, Labels: f.labels,
		Ended: f.ended, Requeued: f.requeued, Failed: f.failed, Ready: f.ready,
		Retold: f.retold, Selves: f.selves, Marks: f.marks, Attempt: f.attempt, Done: f.done,
		Steps: f.steps, Progress: f.progress, ProgressAt: f.progressAt, Counted: f.counted, Dead: f.dead, LastStep: f.lastStep, DeadBy: f.deadBy, Clock: f.clock,
		LastTime: f.lastTime, Clocks: map[string]frozenMoment{}, Ticks: f.ticks,
	}
	for _, e := range f.events {
		z.Events = append(z.Events, frozenEvent{
			Event: e.Event, Attempt: e.attempt, Steps: e.steps, StepsBy: e.stepsBy, Since: frozenMoment{e.since.at, e.since.seen}, Progress: e.progress, LastStep: e.lastStep, Ready: e.ready,
			Timer: e.timer, TimerBy: e.timerBy, Marker: e.marker, When: e.when, Clock: e.clock,
		})
	}
	for key, s := range f.streams {
		x := frozenStream{Phase: s.phase, PhaseAt: s.phaseAt}
		for _, t := range s.timers {
			x.Timers = append(x.Timers, frozenTimer{t.name, t.at})
		}
		z.Streams[key] = x
	}
	for label, m := range f.clocks {
		z.Clocks[label] = frozenMoment{m.at, m.seen}
	}
	for _, s := range f.steppers {
		z.Steppers = append(z.Steppers, frozenStepper{s.label, s.last, s.n})
	}
	for key, i := range f.idents {
		z.Idents = append(z.Idents, frozenIdent{key.kind, key.key, i.freeze()})
	}
	if f.self != nil {
		self := f.self.freeze()
		z.Self = &self
	}
	return z
}

func (z *frozenFile) thaw() *file {
	f := &file{
		name: z.Name, perKind: z.PerKind, held: z.Held, settings: z.Settings, order: z.Order, streams: map[string]*streamState{},
		idents: map[identKey]*identity{}, launches: z.Launches, gauges: z.Gauges, labels: z.Labels,
		ended: z.Ended, requeued: z.Requeued, failed: z.Failed, ready: z.Ready,
		retold: z.Retold, selves: z.Selves, marks: z.Marks, attempt: z.Attempt, done: z.Done,
		steps: z.Steps, progress: z.Progress, progressAt: z.ProgressAt, counted: z.Counted, dead: z.Dead, lastStep: z.LastStep, deadBy: z.DeadBy, clock: z.Clock,
		lastTime: z.LastTime, clocks: map[string]moment{}, ticks: z.Ticks,
	}
	for i := range z.Events {
		x := &z.Events[i]
		fields := parser.Fields{}
		maps.Copy(fields, x.Event.Fields)
		f.events = append(f.events, &event{
			Event: x.Event, file: f, attempt: x.Attempt, steps: x.Steps, stepsBy: x.StepsBy, since: moment{x.Since.At, x.Since.Seen}, progress: x.Progress, lastStep: x.LastStep, ready: x.Ready,
			timer: x.Timer, timerBy: x.TimerBy, marker: x.Marker, when: x.When, clock: x.Clock, fields: fields,
		})
	}
	for key, s := range z.Streams {
		x := &streamState{phase: s.Phase, phaseAt: s.PhaseAt}
		for _, t := range s.Timers {
			x.timers = append(x.timers, timer{t.Name, t.At})
		}
		f.streams[key] = x
	}
	for label, m := range z.Clocks {
		f.clocks[label] = moment{m.At, m.Seen}
	}
	for _, s := range z.Steppers {
		f.steppers = append(f.steppers, stepper{s.Label, s.Last, s.N})
	}
	for i := range z.Idents {
		x := &z.Idents[i]
		f.idents[identKey{x.Kind, x.Key}] = x.Identity.thaw()
	}
	if z.Self != nil {
		f.self = z.Self.thaw()
	}
	return f
}
