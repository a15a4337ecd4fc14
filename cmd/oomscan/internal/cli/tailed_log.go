package cli

import (
	"bytes"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
	"oomscan/parser/source"
	"oomscan/parser/stream"
)

// tailedLog is a log that is read while it is written.
type tailedLog struct {
	name      string
	collector *classifier.Collector
	scanner   *stream.Reader // of the content that is there now
	events    int            // so far: without any, there is nothing to report
	evidence  bool           // one of them is evidence
	lines     int            // that were read, whole ones
	step      int            // the last one that was reported, -1 before any
	stepLines int            // how many lines had been read when it was looked for
	before    parser.Counts  // of the contents that were there earlier
	view      *classifier.Collector
	version   int            // of what is known
	wide      source.Decoder // nil: it is read as it is
	out       []byte
	failure   *string // why it cannot be read at the moment
	options   []stream.Option
}

func newTailedLog(name string, options []stream.Option) *tailedLog {
	g := &tailedLog{name: name, collector: classifier.NewCollector(), options: options, step: -1}
	g.scanner = stream.NewReader(name, g.add, options...)
	return g
}

func (g *tailedLog) add(o parser.Observation) { g.addTo(g.collector, o) }

// addTo adds an observation to a collector, behind what earlier contents held.
func (g *tailedLog) addTo(c *classifier.Collector, o parser.Observation) {
	if e, ok := o.(parser.Event); ok {
		g.events++
		g.evidence = g.evidence || e.Role == parser.Evidence
	}
	g.noteStep(o)
	c.Add(parser.Shift(o, g.before.Lines, g.before.Bytes))
}

func (g *tailedLog) noteStep(o parser.Observation) {
	if m, ok := o.(parser.Marker); ok && m.Name == "step" {
		if n, ok := m.Fields.Int("step"); ok {
			g.step = int(n)
		}
	}
}

// lastStep is the last step that was reported, -1 before any. Until something fails, the reader defers what tells of progress only.
func (g *tailedLog) lastStep() int {
	if g.lines != g.stepLines {
		g.stepLines = g.lines
		g.scanner.PeekDeferred(g.noteStep)
	}
	return g.step
}

func (g *tailedLog) feed(p []byte) {
	g.lines += bytes.Count(p, []byte("\n"))
	g.version++
	g.view = nil
	if g.wide != nil {
		g.out = g.wide.Append(g.out[:0], p)
		p = g.out
	}
	_, _ = g.scanner.Write(p)
}

// settle takes the last line for a whole one, and what was deferred as read, until more is fed: for a log that is
// silent. Of one that goes on, only what was kept counts. Unless something has happened here, that alone is no news, and
// only the last line is looked at.
func (g *tailedLog) settle(silent, happened bool) {
	g.version++
	g.view = nil
	var tail []parser.Observation
	keep := func(o parser.Observation) {
		_, event := o.(parser.Event)
		happened = happened || event
		tail = append(tail, o)
	}
	if !happened {
		if !silent || !g.scanner.Open() {
			return
		}
		if g.scanner.PeekTail(keep); !happened {
			return
		}
		tail = tail[:0]
	}
	if g.scanner.PeekDeferred(keep); silent {
		g.scanner.PeekTail(keep)
	}
	if len(tail) == 0 {
		return
	}
	g.view = g.collector.Clone()
	for _, o := range tail {
		g.addTo(g.view, o)
	}
}

// anew begins a new content. Its lines count on from those of the old one, and so do the run's stage and its settings:
// most logs that begin anew are those of a run that goes on.
func (g *tailedLog) anew() {
	g.version++
	g.view = nil
	g.before.Add(g.end())
	g.wide = nil
	g.scanner = stream.NewReader(g.name, g.add, g.options...)
}

// end finishes the content and returns what was read of it.
func (g *tailedLog) end() parser.Counts {
	if g.wide != nil {
		_, _ = g.scanner.Write(g.wide.Close(g.out[:0]))
	}
	g.view = nil
	return g.scanner.Close()
}

func (g *tailedLog) close() logResult {
	return g.resultOf(g.end())
}

// result is what is known by now.
func (g *tailedLog) result() logResult { return g.resultOf(g.scanner.Stats()) }

func (g *tailedLog) resultOf(st parser.Counts) logResult {
	st.Add(g.before)
	p := logResult{collector: g.collector, input: report.Input{Name: g.name, Counts: st, Error: g.failure}, version: g.version}
	if g.view != nil {
		p.collector = g.view
	}
	return p
}
