package report

import "time"

// axis is what the timeline is drawn along: times, or the lines of the root's file. Its numbers are milliseconds or lines.
type axis struct {
	file              string // empty: times
	first, root, last float64
	rootX             float64 // in percent
	from, at, to      time.Time
}

// Where the first failure stands, in percent: after what came before it, before what followed, and between both.
const (
	rootFirst  = 16
	rootMiddle = 55
	rootLast   = 95
)

// axisOf is the axis of an incident, nil where the log has nothing to put on it.
func axisOf(run *Run, in *Incident) *axis {
	r := &in.Root
	if r.Time != nil {
		x := &axis{root: float64(r.Time.UnixMilli()), at: *r.Time}
		if x.reach(run, in) {
			x.from, x.to = time.UnixMilli(int64(x.first)).In(r.Time.Location()), time.UnixMilli(int64(x.last)).In(r.Time.Location())
			return x
		}
	}
	x := &axis{file: r.File, root: float64(r.Line)}
	if r.File == "" || !x.reach(run, in) {
		return nil
	}
	return x
}

// reach finds how far the axis reaches, and reports whether it has any length. Clocks that disagree with the lines make no axis.
func (x *axis) reach(run *Run, in *Incident) bool {
	x.first, x.last = x.root, x.root
	for i := range in.Consequences {
		c := &in.Consequences[i]
		if at, ok := x.place(c.File, c.Line, c.Time); ok {
			x.last = max(x.last, at)
		}
	}
	most, start := 0, x.root // of the writer that announced most
	for i := range run.Phases {
		p := &run.Phases[i]
		var before []float64
		for k := range p.Changes {
			c := &p.Changes[k]
			at, ok := x.place(p.File, c.Line, c.Time)
			if ok && p.File == in.Root.File && c.Line < in.Root.Line && at > x.root {
				return false
			}
			if ok && at < x.root && (x.file == "" || p.File == x.file) {
				before = append(before, at)
			}
		}
		if len(before) > most {
			most, start = len(before), before[max(0, len(before)-mostChanges)]
		}
	}
	switch {
	case most == 0:
		x.rootX = rootFirst
	case x.last > x.root:
		x.first, x.rootX = start, rootMiddle
	default:
		x.first, x.rootX = start, rootLast
	}
	return x.first < x.last
}

// place is where a line or its time is, if that is on the axis.
func (x *axis) place(file string, line int, at *time.Time) (float64, bool) {
	if x.file == "" {
		if at == nil {
			return 0, false
		}
		return float64(at.UnixMilli()), true
	}
	return float64(line), file == x.file
}

// percent is where a number stands.
func (x *axis) percent(at float64) float64 {
	if at < x.root {
		return x.rootX * (at - x.first) / (x.root - x.first)
	}
	if x.last == x.root {
		return x.rootX
	}
	return x.rootX + (lastPercent-x.rootX)*(at-x.root)/(x.last-x.root)
}
