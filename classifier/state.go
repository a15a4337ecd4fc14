package classifier

import (
	"maps"
	"time"

	"oomscan/parser"
	"oomscan/parser/messages"
	"oomscan/parser/obs"
	"oomscan/parser/pattern"
)

// file is what is known from one input.
type file struct {
	Name       string
	Events     []*event
	PerPattern map[string]int // events seen per pattern
	Held       int            // bytes of the events' texts and tracebacks
	Settings   map[string]Value
	Order      []string // keys in order of their first appearance
	Streams    map[string]*streamState
	Identities map[identKey]*identity
	Launches   []parser.Marker
	Gauges     map[string]parser.Gauge // last reading per name and writer, and the last before the first failure
	Trends     map[string]Trend        // the course of repeated readings
	Labels     map[string]bool         // process labels seen
	Relays     map[string]int          // pids of programs in a system's log
	Writers    map[string]bool         // programs whose loggers were seen

	Over       bool      // the only program that writes here died of an uncaught exception
	Death      death     // its death, if memory was the reason
	Ended      bool      // a launcher said that the job failed: what begins after that is a new attempt
	Repeated   int       // settings that were printed again since then
	Requeued   bool      // Slurm requeued the job: the next failure is in a new attempt
	FailedAs   string    // the launcher's label of what failed last
	FailedLine int       // line of the first failure
	Failed     bool      // something failed: a trainer that prints its settings after that was started again
	Self       *identity // who writes this input, when lines without a label of their own identify one process only
	SelfBy     string    // the collector's label of those lines
	Selves     int
	Collector  string // the last label of a collector
	Collectors bool   // there was another one
	Marks      int    // timers and phases seen: their order, for a line may hold several
	Begins     int    // line on which the first program started, -1 if one ran before that was told
	Attempt    int    // how often a launcher restarted its workers
	Done       []int  // steps at the end of each attempt but the last
	Staged     int    // changes of phase that are kept
	SteppedAt  int    // marks when the last training step was reported
	Steps      int    // training steps that were reported
	PlainSteps bool   // a line without a process's label reported some
	Steppers   steppers
	Signs      steppers          // of the writers of signs of progress
	Clocks     map[string]moment // last stamp of each launcher's label
	Ticks      int               // stamped lines that had one
	SetBack    int               // how often such a label's stamps went back
	Progress   int               // weaker signs that a run goes on: see the marker "progress"
	ProgressAt int64             // position of the last one
	Bars       int               // those of progress bars
	OldBars    int               // those of bars that were there before the first failure
	Counted    map[string]tally  // such signs, by what is counted
	CountedTo  map[string]int    // the last such signs, those before a failure among them
	Waits      bool              // something failed since
	WentOn     int               // line of the first sign behind the last failure, if it counts on from the last one before
	Trained    int               // line on which the loop of a training was last said to be over
	Instead    int               // line on which something last said what it uses instead of what failed
	EndedWell  int               // line on which something last said that it ended well
	Succeeded  int               // line on which GitLab's CI said that the whole job did
	Dead       int               // pid of an actor whose death is being reported, by the writer deadBy
	DeadBy     string
	LastStep   int       // highest step of this attempt, -1 before any
	Ready      bool      // an engine said that it serves requests
	Clock      string    // clock of lastTime
	LastTime   time.Time // last time stamp seen
	once       bool      // the result is asked for once: its events need no copies
}

// streamState is where one writer is.
type streamState struct {
	Timers  []timer // open timers, innermost last
	Phase   *parser.Marker
	PhaseAt int            // file.marks
	Around  *parser.Marker // stage of the same phase that goes on when Phase closes: the bar of a step ends before the step
	Stages  []Stage
	Writer  Writer // of the stages
}

// timer is an open timer and when it was opened, in marks of the file.
type timer struct {
	Name string
	At   int
}

// event is an event with what was known when it was read.
type event struct {
	parser.Event
	pattern  *pattern.Pattern // that it matched
	file     *file
	Attempt  int
	Steps    int    // training steps reported before it, in its file
	StepsBy  []int  // those of each of the file's steppers
	Since    moment // last stamp of its launcher's label before it
	SetBack  int    // those of the file before it
	Progress int    // signs of progress before it
	Bars     int    // those of bars
	OldBars  int    // and of older bars
	SignsBy  []int  // those of each of the file's writers of such
	Instead  int    // line before it on which something said what it uses instead of what failed, 0 where nothing did
	More     int    // reports of its kind behind it that are only counted
	LastStep int
	Ready    bool
	Timer    string         // innermost open timer of its stream, or the only open one of its file
	TimerBy  string         // the stream that opened it
	Marker   *parser.Marker // last phase marker of its stream, else of its file
	When     time.Time      // its own time, else the last one seen in its file
	Clock    string
	fields   parser.Fields // Event.Fields, completed by details beside it; of a result in the making, like what follows
	details  []*event
	cluster  *cluster // whose evidence it is
	figures  figures
}

// patternOf returns the pattern of that name. Observations written by another version may name an unknown one.
func patternOf(name string) *pattern.Pattern {
	if p := messages.ByName(name); p != nil {
		return p
	}
	return &pattern.Pattern{}
}

func (c *Collector) file(name string) *file {
	f, ok := c.files[name]
	if !ok {
		f = &file{Name: name, LastStep: -1}
		f.makeMaps()
		c.files[name] = f
	}
	return f
}

// makeMaps allocates nil maps: packing drops empty ones.
func (f *file) makeMaps() {
	makeMap(&f.PerPattern)
	makeMap(&f.Settings)
	makeMap(&f.Streams)
	makeMap(&f.Identities)
	makeMap(&f.Gauges)
	makeMap(&f.Trends)
	makeMap(&f.Labels)
	makeMap(&f.Relays)
	makeMap(&f.Writers)
	makeMap(&f.Clocks)
	makeMap(&f.Counted)
	makeMap(&f.CountedTo)
}

func makeMap[K comparable, V any](m *map[K]V) {
	if *m == nil {
		*m = map[K]V{}
	}
}

// Packed is a collector's content as compressed bytes, made by package obs.
type Packed []byte

// Empty reports whether nothing was added.
func (c *Collector) Empty() bool { return len(c.files) == 0 }

// Pack returns what was collected. A scan of thousands of logs keeps that until the jobs are known.
func (c *Collector) Pack() Packed { return obs.Pack(c.files) }

// Unpack restores a packed collector.
func (p Packed) Unpack() *Collector {
	c := NewCollector()
	obs.Unpack(p, &c.files)
	for _, f := range c.files {
		f.makeMaps()
		shared := texts{}
		for _, e := range f.Events {
			shared.shareEvent(e)
			e.file, e.pattern = f, patternOf(e.Pattern)
		}
	}
	return c
}

// Merge adds what another collector of the same job holds. Both must hold different inputs; where one input was
// read by both, the other's view wins. The other collector must not be used afterwards.
func (c *Collector) Merge(other *Collector) { maps.Copy(c.files, other.files) }

// Clone returns a copy to which more can be added without changing c.
func (c *Collector) Clone() *Collector { return c.Pack().Unpack() }

// Rename renames an input, in every position. An unknown name is ignored; what was known about the new name is dropped.
func (c *Collector) Rename(from, to string) {
	f, ok := c.files[from]
	if !ok || from == to {
		return
	}
	delete(c.files, from)
	c.files[to] = f
	f.Name = to
	at := func(p *parser.Position) {
		if p.Source == from {
			p.Source = to
		}
	}
	for _, e := range f.Events {
		at(&e.At)
		if e.Marker != nil {
			at(&e.Marker.At)
		}
	}
	for _, s := range f.Streams {
		for _, m := range []*parser.Marker{s.Phase, s.Around} {
			if m != nil {
				at(&m.At)
			}
		}
	}
	for key, v := range f.Settings {
		at(&v.At)
		for i := range v.Earlier {
			at(&v.Earlier[i].At)
		}
		f.Settings[key] = v
	}
	for i := range f.Launches {
		at(&f.Launches[i].At)
	}
	for key, g := range f.Gauges {
		at(&g.At)
		f.Gauges[key] = g
	}
}
