package classifier

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"oomscan/classifier/phase"
	"oomscan/parser"
	"oomscan/parser/envelope"
)

// Limits of the timeline of a run.
const (
	maxStages    = 64   // changes of phase of one writer; the last ones are kept
	maxAllStages = 4096 // of all writers of one input
	maxPoints    = 64   // readings of one kind and writer; of more every second one is dropped
	maxTracks    = 32   // in a result
	fewPoints    = 3    // fewer readings show no course
)

// Track lists the phases that one writer announced, in order.
type Track struct {
	Source string
	Writer
	Stages []Stage
}

// Series is the course of one memory reading.
type Series struct {
	Name  string // of the pattern that read it
	Field string // that was read: allocated, used ...; see parser.Fields
	// Resource is whose memory it is: gpu, host.
	Resource string
	Source   string
	Writer
	Device int // -1: unknown
	Points []Point
	Grows  bool // it rose almost each time and never fell
}

// Writer is the process that printed something. An empty string and a rank of -1 are unknown.
type Writer struct {
	Rank          int
	Host, Process string
}

// Stage is the beginning of a phase.
type Stage struct {
	Phase string // one of package phase; empty: the one before is over, and what is under way is unknown
	Line  int
	Time  time.Time // zero: the line has no stamp
	Step  int       // the last one reported, -1 before any
}

// Point is one reading.
type Point struct {
	Line  int
	Time  time.Time // zero: the line has no stamp
	Step  int       // the last one reported, -1 before any
	Bytes int64
}

// phaseOf returns the phase that a writer is in: by the innermost open timer that has one, else by its last announcement. A phase
// without an end is over when a training step is reported.
func (f *file) phaseOf(s *streamState) string {
	for _, t := range slices.Backward(s.Timers) {
		if v, ok := phase.FromTimer(t.Name); ok {
			return v.Phase
		}
	}
	if s.Phase == nil {
		return ""
	}
	name := s.Phase.Fields["phase"]
	if s.Phase.Fields["edge"] == "point" && name != phase.Training && s.PhaseAt < f.SteppedAt {
		return ""
	}
	return name
}

// follow notes where a writer changed its phase.
func (f *file) follow(s *streamState, line int, h *envelope.Header) {
	now, n := f.phaseOf(s), len(s.Stages)
	if n == 0 && now == "" || n > 0 && s.Stages[n-1].Phase == now {
		return
	}
	if n == 0 {
		s.Writer = f.writerOf(h)
	}
	switch {
	case n == maxStages, n > 0 && f.Staged == maxAllStages:
		s.Stages = slices.Delete(s.Stages, 0, 1)
	case f.Staged == maxAllStages:
		return
	default:
		f.Staged++
	}
	s.Stages = append(s.Stages, Stage{Phase: now, Line: line, Time: stampOf(h), Step: f.LastStep})
}

// stampOf returns when a line was written, if it has a time stamp.
func stampOf(h *envelope.Header) time.Time {
	if h.Clock == "monotonic" {
		return time.Time{}
	}
	return h.Time
}

// writerOf returns the writer of a line, identified by its prefix and process.
func (f *file) writerOf(h *envelope.Header) Writer {
	id := identity{Rank: h.Rank, LocalRank: h.LocalRank, Device: -1, PID: h.PID, Host: h.Host}
	if h.PID > 0 {
		id.fillFrom(f, "pid", h.PID)
	}
	return Writer{Rank: id.Rank, Host: id.Host, Process: h.Process}
}

// measures are the fields of a reading that are followed, in the order of [Trend.with]: what all processes use of a card says more than what
// one has allocated.
var measures = []string{"used", "allocated", "reserved", "max_allocated"}

// measure returns the field of a reading that is followed, and its value.
func measure(g *parser.Gauge) (field string, n int64) {
	for _, field := range measures {
		if n, ok := g.Fields.Int(field); ok && n > 0 {
			return field, n
		}
	}
	return "", 0
}

// sample keeps a reading. Beyond maxPoints, it keeps only every second one, old and new.
func (t Trend) sample(g *parser.Gauge, step int) Trend {
	field, n := measure(g)
	if field == "" || courses[g.Name] == "" {
		return t
	}
	if t.Seen%max(1, t.Every) == 0 {
		if len(t.Points) == maxPoints {
			for i := range maxPoints / 2 {
				t.Points[i] = t.Points[2*i]
			}
			t.Points, t.Every = t.Points[:maxPoints/2], 2*max(1, t.Every)
		}
		t.Points = append(t.Points, Point{Line: g.At.Line, Time: stampOf(&g.Header), Step: step, Bytes: n})
	}
	t.Seen++
	return t
}

// stepped notes a training step: the readings of its line were taken first, and phases may be over.
func (f *file) stepped(line int, h *envelope.Header) {
	f.SteppedAt = f.Marks
	for _, t := range f.Trends {
		if n := len(t.Points); n > 0 && t.Points[n-1].Line == line {
			t.Points[n-1].Step = f.LastStep
		}
	}
	for _, s := range f.Streams {
		f.follow(s, line, h)
	}
}

// courses lists messages that programs print repeatedly, with the memory they measure. Other sizes are printed only at startup.
var courses = map[string]string{
	"reading.card": "gpu", "reading.card_named": "gpu", "reading.peak": "gpu", "verl.peak": "gpu", "deepspeed.memory": "gpu", "megatron.memory": "gpu",
	"slime.memory": "gpu", "torchtitan.memory": "gpu", "reading.gpu": "gpu", "reading.device": "gpu", "reading.card_above": "gpu",
	"reading.rss": "host", "reading.host_above": "host", "docker.stats": "host", "reading.host": "host", "reading.node": "host", "deepspeed.host_memory": "host", "roll.rss": "host", "roll.rss_train": "host", "ggml.prompt_cache": "host",
}

// tracks returns the phases of an input's writers, the lowest ranks first.
func (f *file) tracks() []Track {
	var out []Track
	for _, key := range slices.Sorted(maps.Keys(f.Streams)) {
		if s := f.Streams[key]; len(s.Stages) > 0 {
			out = append(out, Track{f.Name, s.Writer, s.Stages})
		}
	}
	slices.SortStableFunc(out, func(a, b Track) int { return cmp.Compare(a.Rank, b.Rank) })
	return out
}

// series returns an input's repeated readings, with the last of each.
func (f *file) series() []Series {
	var out []Series
	for _, key := range slices.Sorted(maps.Keys(f.Trends)) {
		t := f.Trends[key]
		g, unlabelled := f.Gauges[key]
		if !unlabelled { // the gauge's key is followed by a label of the moment
			g = f.Gauges[key[:strings.LastIndexByte(key, 0)]]
		}
		field, n := measure(&g)
		if len(t.Points) < fewPoints || n == 0 {
			continue
		}
		s := Series{Name: g.Name, Field: field, Resource: courses[g.Name], Source: f.Name, Writer: f.writerOf(&g.Header), Device: -1, Points: slices.Clone(t.Points), Grows: t.grows()}
		if unlabelled && s.Points[len(s.Points)-1].Line != g.At.Line { // else it may be of another moment
			s.Points = append(s.Points, Point{Line: g.At.Line, Time: stampOf(&g.Header), Step: f.LastStep, Bytes: n})
		}
		for name, to := range map[string]*int{"rank": &s.Rank, "device": &s.Device} {
			if n, ok := g.Fields.Int(name); ok && *to < 0 {
				*to = int(n)
			}
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Series) int { return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Rank, b.Rank)) })
	return out
}
