package classifier

import (
	"oomscan/classifier/phase"
	"oomscan/parser"
)

// marker folds a marker, and leaves of it what [Collector.Compact] returns.
func (c *Collector) marker(o *parser.Marker) {
	c.hideMarker(o)
	f := c.file(o.At.Source)
	f.learnHeader(&o.Header)
	if o.Name == "phase" && o.Fields["edge"] != "close" || o.Name == "launch" {
		o.Text = short(o.Text)
	} else {
		o.Text = "" // it is never quoted
	}
	f.Marks++
	switch {
	case f.Begins != 0:
	case starts(o):
		f.Begins = o.At.Line
	case o.Name != "launch" && o.Name != "ended_well" && o.Name != "succeeded" && o.Name != "instead": // a launch may only name a library
		f.Begins = -1
	}
	if f.Ended && begins(o) || f.Over && starts(o) || f.Failed && f.startsAll(o) {
		f.beginAttempt(o.At.Line, &o.Header)
	}
	switch o.Name {
	case "step":
		f.step(o)
	case "progress":
		n, counts := o.Fields.Int("count")
		if counts && f.countsOn(o, int(n)) {
			return
		}
		counts = counts && n < maxCount && f.count(o.Fields["of"], int(n), o.Fields["bar"] != "")
		if counts || o.Fields["served"] != "" {
			f.Progress++
			f.ProgressAt = o.At.Offset
			f.Signs.count(o.Header.Launched(), f.Progress)
		}
	case "trained":
		f.Trained, f.EndedWell = o.At.Line, o.At.Line
	case "instead":
		f.Instead = o.At.Line
	case "ended_well":
		f.EndedWell = o.At.Line
	case "succeeded":
		f.Succeeded = o.At.Line
	case "ready":
		f.Ready = true
	case "timer":
		s := f.stream(o.Header.Stream)
		s.timer(short(o.Fields["timer"]), o.Fields["edge"], f.Marks)
		f.follow(s, o.At.Line, &o.Header)
	case "phase":
		f.phase(o)
	case "identity":
		f.learnIdentity(o)
	case "launch":
		if len(f.Launches) < maxLaunches {
			f.Launches = append(f.Launches, *o)
		}
	}
}

// maxCount bounds the number of a step; larger numbers are something else.
const maxCount = 1 << 40

// tally is the progress of something that is counted. It is kept from the first failure on.
type tally struct {
	Highest int
	New     bool // it began after that failure
}

// count notes the progress of something and reports whether it advanced.
func (f *file) count(of string, n int, bar bool) bool {
	last, known := f.Counted[of]
	if known && n <= last.Highest || !known && len(f.Counted) >= maxCounted {
		return false
	}
	now := tally{n, last.New || !known && n <= 1}
	f.Counted[short(of)] = now
	if bar {
		f.Bars++
	}
	if bar && !now.New {
		f.OldBars++
	}
	return true
}

// countsOn notes whether a run counts on from where it was when it failed. before: this is what it had counted by then.
func (f *file) countsOn(o *parser.Marker, n int) (before bool) {
	of := o.Fields["of"]
	last, known := f.CountedTo[of]
	switch before = o.Fields["before"] != ""; {
	case before:
		f.Waits = false
	case f.Waits && known:
		f.Waits, f.WentOn = false, 0
		if n > last {
			f.WentOn = o.At.Line
		}
	}
	if known || !f.Waits && len(f.CountedTo) < maxCounted {
		f.CountedTo[short(of)] = n
	}
	return before
}

// step counts a training step, once.
func (f *file) step(o *parser.Marker) {
	n, ok := o.Fields.Int("step")
	if !ok || n >= maxCount {
		return
	}
	f.PlainSteps = f.PlainSteps || f.unlabelled(&o.Header)
	f.Steppers.count(o.Header.Launched(), int(n))
	if int(n) > f.LastStep {
		f.LastStep = int(n)
		f.Steps++
		f.clearStages()
		f.stepped(o.At.Line, &o.Header)
	}
}

// begins reports whether a marker is from a run that starts or goes on, not from one that ended.
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

// starts reports whether a marker can only come from a program that starts: a command, a banner, the loading of weights.
func starts(o *parser.Marker) bool {
	return o.Fields["starts"] != "" || o.Name == "phase" && o.Fields["phase"] == phase.Init && o.Fields["label"] == "weights"
}

// startsAll reports whether a marker after a failure begins a new launch of everything: a shell, a launcher or a standalone
// server printed it.
func (f *file) startsAll(o *parser.Marker) bool {
	switch by := o.Header.Launched(); o.Fields["starts"] {
	case "launcher":
		return true
	case "command":
		return f.unlabelled(&o.Header)
	case "server":
		return !o.Header.OfActor() && (by == f.FailedAs || by == "" || f.FailedAs == "")
	}
	return false
}

func (s *streamState) timer(name, edge string, at int) {
	if edge == "open" {
		if len(s.Timers) < maxTimers {
			s.Timers = append(s.Timers, timer{name, at})
		}
		return
	}
	for i := len(s.Timers) - 1; i >= 0; i-- {
		if s.Timers[i].Name == name {
			s.Timers = append(s.Timers[:i], s.Timers[i+1:]...)
			return
		}
	}
}

func (f *file) phase(o *parser.Marker) {
	if o.Fields["edge"] == "close" { // of what was opened: a stage that was only announced goes on
		if o.Fields["phase"] == phase.Rollout {
			f.leaveStartUp()
		}
		if s, ok := f.Streams[o.Header.Stream]; ok && s.Phase != nil && s.Phase.Fields["phase"] == o.Fields["phase"] && s.Phase.Fields["edge"] != "point" {
			s.Phase, s.Around = s.Around, nil
			f.follow(s, o.At.Line, &o.Header)
		}
		return
	}
	s := f.stream(o.Header.Stream)
	switch old := s.Phase; {
	case old == nil || o.Fields["edge"] != "open" || old.Fields["phase"] != o.Fields["phase"]:
		s.Around = nil
	case old.Fields["edge"] == "point":
		s.Around = old
	}
	s.Phase, s.PhaseAt = new(*o), f.Marks
	f.follow(s, o.At.Line, &o.Header)
}

// leaveStartUp forgets the stages of start-up: a run that has generated is past them, whichever process announced them last.
func (f *file) leaveStartUp() {
	for _, s := range f.Streams {
		if s.Phase != nil && s.Phase.Fields["phase"] == phase.Init {
			s.Phase = nil
		}
	}
}
