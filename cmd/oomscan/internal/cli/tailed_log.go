package cli

import (
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
	before    stream.Stats   // of the contents that were there earlier
	view      *classifier.Collector
	wide      *source.UTF16 // it is in UTF-16
	out       []byte
	failure   *string // why it cannot be read at the moment
	limit     stream.Option
}

func newTailedLog(name string, limit stream.Option) *tailedLog {
	g := &tailedLog{name: name, collector: classifier.NewCollector(), limit: limit}
	g.scanner = stream.NewReader(name, g.add, limit)
	return g
}

func (g *tailedLog) add(o parser.Observation) { g.addTo(g.collector, o) }

// addTo adds an observation to a collector, behind what earlier contents held.
func (g *tailedLog) addTo(c *classifier.Collector, o parser.Observation) {
	if _, ok := o.(parser.Event); ok {
		g.events++
	}
	c.Add(parser.Shift(o, g.before.Lines, g.before.Bytes))
}

// feed reads on.
func (g *tailedLog) feed(p []byte) {
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
	g.view = nil
	st := g.end()
	g.before.Bytes += st.Bytes
	g.before.Lines += st.Lines
	g.before.Truncated += st.Truncated
	g.wide = nil
	g.scanner = stream.NewReader(g.name, g.add, g.limit)
}

// end finishes the content and returns what was read of it.
func (g *tailedLog) end() stream.Stats {
	if g.wide != nil {
		_, _ = g.scanner.Write(g.wide.Close(g.out[:0]))
	}
	g.view = nil
	return g.scanner.Close()
}

// close finishes the log.
func (g *tailedLog) close() logResult {
	st := g.end()
	return g.resultOf(st)
}

// result is what is known by now.
func (g *tailedLog) result() logResult { return g.resultOf(g.scanner.Stats()) }

func (g *tailedLog) resultOf(st stream.Stats) logResult {
	p := logResult{collector: g.collector, input: report.Input{
		Name: g.name, Bytes: g.before.Bytes + st.Bytes, Lines: g.before.Lines + st.Lines, Truncated: g.before.Truncated + st.Truncated, Error: g.failure,
	}}
	if g.view != nil {
		p.collector = g.view
	}
	return p
}
