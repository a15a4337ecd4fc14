package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
)

// Query selects parts of a guide. The empty query selects all of it.
type Query struct {
	Phase    string // one of the design's words
	Resource string // gpu, host or shm
	// Settings of a run to fill in as a report would, with KEY as the framework writes it. Nil if there is no run.
	Settings map[string]classifier.Value
	Version  string // of the framework, when it is known
}

// Browsed is a guide or a selected part of it. It shares its texts with the guide.
type Browsed struct {
	Guide    *Guide
	Chapters []Chapter
	Manual   Manual
}

// Chapter is one list with its items in full.
type Chapter struct {
	*List
	Entries []Entry
}

// Entry is one item of a list.
type Entry struct {
	*Item
	Order   int      // 1-based place in the list
	Needs   []string // what must be so for the item to help, in words
	Snippet string   // ready to paste, with the guide's own values or, where settings were given, the run's next ones
	Syntax  string   // of Snippet
	Changes []Change // filled in; only where settings were given
	// Applies is false if the settings rule the item out, nil if they do not decide.
	Applies    *bool
	AppliesWhy string
	Source     Source
}

// Browse returns the part of a guide that q selects: the lists for the phase and the resource, then the general ones, each
// whole and in the guide's order, and the manual without rows about other phases only. It fails if neither the built-in nor
// the user's guides have that id.
func Browse(id string, q Query, own ...Guide) (*Browsed, error) {
	g, err := find(id, own)
	if err != nil {
		return nil, err
	}
	b := &Browsed{Guide: g, Manual: ManualOf(id).about(q)}
	run := &classifier.Run{Framework: g.Framework, FrameworkVersion: q.Version, Config: q.Settings}
	ctx := newContext(run, &classifier.Incident{Phase: q.Phase, Resource: q.Resource})
	for _, general := range []bool{false, true} {
		for i := range g.Lists {
			if l := &g.Lists[i]; l.General == general && q.wants(l) {
				b.Chapters = append(b.Chapters, chapterOf(ctx, g, l, q.Settings != nil))
			}
		}
	}
	return b, nil
}

// find returns the guide with that id.
func find(id string, own []Guide) (*Guide, error) {
	if i := slices.IndexFunc(own, func(g Guide) bool { return g.ID == id }); i >= 0 {
		return &own[i], nil
	}
	if g := guide(id); g != nil {
		return g, nil
	}
	return nil, fmt.Errorf("there is no guide %q", id)
}

// wants reports whether the query selects a list.
func (q *Query) wants(l *List) bool {
	if q.Resource != "" && !slices.Contains(l.Resources, q.Resource) {
		return false
	}
	if q.Phase == "" {
		return true
	}
	switch {
	case l.General:
		return q.Resource != "" || slices.Contains(l.Resources, "gpu")
	case len(l.Phases) > 0:
		return slices.Contains(l.Phases, q.Phase)
	case len(l.Kinds) > 0:
		return slices.ContainsFunc(l.Kinds, func(k string) bool { return occurs(k, q.Phase) })
	}
	return q.Resource != "" || slices.Contains(l.Resources, "gpu")
}

// occurs reports whether a kind of failure occurs in a phase.
func occurs(kind, phase string) bool {
	switch kind {
	case "kv_cache":
		return phase == "init" || phase == "rollout"
	case "nccl_oom", "nccl_failure":
		return phase == "nccl"
	}
	return false
}

// chapterOf fills a list in.
func chapterOf(ctx *Context, g *Guide, l *List, filled bool) Chapter {
	c := Chapter{List: l}
	names := namingOf(ctx, g)
	for _, id := range l.Items {
		it := g.item(id)
		e := Entry{Item: it, Order: len(c.Entries) + 1, Source: sourceOf(g, it)}
		for _, r := range it.Requires {
			e.Needs = append(e.Needs, inWords(r))
		}
		if len(it.Only) > 0 {
			one := make([]string, len(it.Only))
			for i, c := range it.Only {
				one[i] = inWords(c)
			}
			e.Needs = append(e.Needs, strings.Join(one, ", or "))
		}
		if filled {
			fillIn(ctx, names, &e)
		}
		if e.Snippet == "" {
			e.Syntax, e.Snippet = it.paste()
		}
		c.Entries = append(c.Entries, e)
	}
	return c
}

// fillIn assesses an item by settings alone, without an incident.
func fillIn(ctx *Context, names *naming, e *Entry) {
	changes := propose(ctx, names, e.Item)
	var lines []string
	for _, c := range open(changes) {
		e.Changes = append(e.Changes, c.Change)
		if c.Snippet != "" && (e.Syntax == "" || e.Syntax == c.Syntax) {
			e.Syntax = c.Syntax
			lines = append(lines, c.Snippet)
		}
	}
	e.Snippet = strings.Join(lines, "\n")
	if why := ruledOutBySettings(ctx, e.Item, changes); why != "" {
		e.Applies, e.AppliesWhy = new(bool), why
	}
}

// ruledOutBySettings returns why the settings alone rule an item out, or "" if they do not.
func ruledOutBySettings(ctx *Context, it *Item, changes []change) string {
	if done := satisfied(changes); len(done) > 0 && len(done) == len(changes) {
		return strings.Join(done, "; ")
	}
	for _, r := range it.Requires {
		if v := ctx.holds(r); ofSettings(r) && v.truth == no {
			return v.why
		}
	}
	if ctx.allTrue(it.SatisfiedWhen) && ofSettings(it.SatisfiedWhen[0]) {
		return ctx.holds(it.SatisfiedWhen[0]).why
	}
	return ""
}

// ofSettings reports whether a condition is about settings rather than about a failure.
func ofSettings(cond string) bool {
	c, err := parseCondition(cond)
	if err != nil {
		return false
	}
	switch c.fact {
	case "", "backend", "engine", "framework", "since", "before", "dynamic_batch":
		return true
	}
	return false
}

// paste returns the snippet of an item's own values, without a run.
func (it *Item) paste() (syntax, text string) {
	if it.Example != nil {
		return it.Example.Syntax, it.Example.Text
	}
	var lines []string
	for i := range it.Parameters {
		p := &it.Parameters[i]
		if p.Value == "" || p.Found || syntax != "" && p.Surface != syntax {
			continue
		}
		syntax = p.Surface
		lines = append(lines, snippet(&Change{Key: p.Key, To: &p.Value, Syntax: p.Surface}, p.Plus))
	}
	return syntax, strings.Join(lines, "\n")
}

// about returns the manual without rows about other phases or resources only. It keeps rows that name none.
func (m *Manual) about(q Query) Manual {
	phase := func(list []string) bool {
		return q.Phase == "" || len(list) == 0 || slices.Contains(list, q.Phase)
	}
	out := *m
	out.Diagnosis = kept(m.Diagnosis, func(d *Sign) bool {
		return phase(d.Phases) && (q.Resource == "" || slices.Contains(orGPU(d.Resources), q.Resource))
	})
	out.Parameters = kept(m.Parameters, func(p *Explained) bool { return phase(p.Phases) })
	out.Steps = kept(m.Steps, func(s *Step) bool { return phase(s.Phases) })
	out.Goals = kept(m.Goals, func(g *Goal) bool { return phase(g.Phases) })
	out.Notes = kept(m.Notes, func(n *Note) bool { return phase(n.Phases) })
	return out
}

// kept returns a new slice of the elements that pass a test.
func kept[T any](list []T, pass func(*T) bool) []T {
	var out []T
	for i := range list {
		if pass(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}
