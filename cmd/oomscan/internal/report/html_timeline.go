package report

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"oomscan/classifier/phase"
)

// Bounds of the timeline, in pixels and percent of its width.
const (
	timelineRows = 12
	rowHeight    = 46
	rowCentre    = 32
	bandRise     = 7 // of a band over its row's centre
	lastPercent  = 97
	mostLabel    = 40 // characters of a row's label, on a phone
	mostChanges  = 24 // changes of phase of one row before the first failure
)

// htmlTimeline is the run before the first failure, a band for each phase, the first failure, and what followed, a row for each
// process or node. What came before and what followed have scales of their own: hours, and then seconds. Its x coordinates are in
// percent, so that text and marks keep their sizes on any screen.
type htmlTimeline struct {
	Rows           []htmlTrack
	Height         int
	RootX, RootY   float64
	Phases         []htmlBand // one of each phase, for the key
	Caption, Label string
	More           string
	Followed       bool
}

// htmlTrack is one process: where it was, what happened there, and when.
type htmlTrack struct {
	Label, Who string  // short, and whole
	Y          float64 // of its marks
	TextY      float64
	BandY      float64
	Bands      []htmlBand
	Marks      []float64
	who        string
	rank       *int
	what       []string
}

// htmlBand is a phase of a process.
type htmlBand struct {
	X, Width    float64
	Class, Text string
}

// timelineOf draws an incident along time where the log has times, else along the lines of one file. Nil: it has neither, or nothing
// is known of what came before, and nothing followed.
func timelineOf(run *Run, in *Incident) *htmlTimeline {
	axis := axisOf(run, in)
	if axis == nil {
		return nil
	}
	rows := []htmlTrack{{who: placeText(&in.Root), rank: in.Root.Rank, what: []string{named(consequenceWords, in.Kind)}}}
	rows = axis.addConsequences(rows, in)
	rows = axis.addPhases(rows, run, in.Phase)
	if len(rows) == 1 && len(rows[0].Marks) == 0 && len(rows[0].Bands) == 0 {
		return nil
	}
	if axis.first == axis.root && phaseText(in) != "" { // nothing tells since when
		rows[0].Bands = []htmlBand{{Width: axis.rootX, Class: "p-" + in.Phase, Text: phaseText(in)}}
	}
	t := &htmlTimeline{RootX: axis.rootX, RootY: rowCentre, Caption: axis.caption(), Followed: axis.last > axis.root}
	if len(rows) > timelineRows {
		t.More, rows = andMore(&unicodeGlyphs, len(rows)-timelineRows)+".", rows[:timelineRows]
	}
	var said []string
	for i := range rows {
		r := &rows[i]
		r.Who = join(": ", r.who, strings.Join(r.what, ", "))
		r.Label = cut(&unicodeGlyphs, r.Who, mostLabel, false)
		r.Y, r.TextY, r.BandY = float64(i*rowHeight+rowCentre), float64(i*rowHeight+rowCentre-14), float64(i*rowHeight+rowCentre-bandRise)
		said = append(said, r.Who)
		for _, b := range r.Bands {
			if !slices.ContainsFunc(t.Phases, func(p htmlBand) bool { return p.Class == b.Class && p.Text == b.Text }) {
				t.Phases = append(t.Phases, b)
			}
		}
	}
	t.Rows, t.Height, t.Label = rows, len(rows)*rowHeight, strings.Join(said, "; ")
	return t
}

// addConsequences adds what followed, each process in its own row, in the order in which it began there.
func (x *axis) addConsequences(rows []htmlTrack, in *Incident) []htmlTrack {
	for i := range in.Consequences {
		c := &in.Consequences[i]
		at, ok := x.place(c.File, c.Line, c.Time)
		if !ok || at < x.root {
			continue
		}
		who, what := placeText(&Root{Rank: c.Rank, Host: c.Host}), named(consequenceWords, c.Kind)
		r := rowOf(&rows, who, c.Rank)
		r.Marks = append(r.Marks, x.percent(at))
		if !slices.Contains(r.what, what) {
			r.what = append(r.what, what)
		}
	}
	slices.SortStableFunc(rows[1:], func(a, b htmlTrack) int { return cmp.Compare(a.Marks[0], b.Marks[0]) })
	return rows
}

// addPhases adds the bands of the writers that announced phases. Those of a process that has a row already go there, the others
// stand below the first failure. Of several that have the same name, the one that announced most stands for all.
func (x *axis) addPhases(rows []htmlTrack, run *Run, failed string) []htmlTrack {
	var own []htmlTrack
	for i := range run.Phases {
		p := &run.Phases[i]
		bands := x.bands(p, failed)
		if len(bands) == 0 {
			continue
		}
		who := placeText(&Root{Rank: p.Rank, Host: p.Host})
		if p.Rank == nil {
			who = cmp.Or(join(", ", deref(p.Process), deref(p.Host)), path.Base(p.File))
		}
		if k := slices.IndexFunc(rows, func(r htmlTrack) bool { return r.is(who, p.Rank) }); k >= 0 {
			if len(bands) > len(rows[k].Bands) {
				rows[k].Bands = bands
			}
			continue
		}
		if r := rowOf(&own, who, p.Rank); len(bands) > len(r.Bands) {
			r.Bands = bands
		}
	}
	slices.SortStableFunc(own, func(a, b htmlTrack) int { return cmp.Compare(len(b.Bands), len(a.Bands)) })
	own = own[:min(len(own), timelineRows/2)]
	return slices.Insert(rows, 1, own...)
}

// rowOf returns the row of a process, and makes it when there is none.
func rowOf(rows *[]htmlTrack, who string, rank *int) *htmlTrack {
	k := slices.IndexFunc(*rows, func(r htmlTrack) bool { return r.is(who, rank) })
	if k < 0 {
		k = len(*rows)
		*rows = append(*rows, htmlTrack{who: who, rank: rank})
	}
	return &(*rows)[k]
}

// is reports whether a row is that of a process. Its host may have a name and an address; its rank is one.
func (r *htmlTrack) is(who string, rank *int) bool {
	return r.who == who || r.rank != nil && rank != nil && *r.rank == *rank
}

// bands are the phases of a writer on the axis. The last one reaches to the first failure, for nothing ended it, but start-up
// was over where another phase failed.
func (x *axis) bands(p *PhaseTrack, failed string) []htmlBand {
	var out []htmlBand
	for i := range p.Changes {
		c := &p.Changes[i]
		from, ok := x.place(p.File, c.Line, c.Time)
		if !ok || c.Phase == nil || from > x.last {
			continue
		}
		to := max(from, x.root)
		if i+1 == len(p.Changes) && *c.Phase == phase.Init && failed != phase.Init {
			continue
		}
		if i+1 < len(p.Changes) {
			next := &p.Changes[i+1]
			if at, ok := x.place(p.File, next.Line, next.Time); ok {
				to = min(at, x.last)
			}
		}
		if to < x.first {
			continue
		}
		from = max(from, x.first)
		b := htmlBand{X: x.percent(from), Class: "p-" + *c.Phase, Text: phaseName(*c.Phase)}
		b.Width = max(0.2, x.percent(to)-b.X)
		out = append(out, b)
	}
	return out
}

// join joins the texts that are not empty.
func join(by string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), by)
}
