package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// jobs names and sorts the groups.
func (g *grouper) jobs() []Job {
	if len(g.groups) == 0 && len(g.shared) > 0 { // only logs of nodes
		g.groups = []*group{{why: whyNodes}}
	}
	shared := map[*entry][]*group{}
	for _, e := range g.shared {
		if among := g.around(e); len(among) == 1 {
			among[0].add(e)
		} else {
			shared[e] = among
		}
	}
	names := g.names()
	slices.SortFunc(g.groups, func(a, b *group) int { return natural(names[a], names[b]) })
	out := make([]Job, 0, len(g.groups)+len(shared))
	at := map[*group]int{}
	for i, x := range g.groups {
		at[x] = i
		j := Job{Name: names[x], ID: x.key, Why: x.why, Aliases: x.ids()}
		if ids := x.ids(); x.key == "" && len(ids) == 1 {
			j.ID = ids[0]
		} else if x.key != "" {
			j.Aliases = slices.Compact(slices.Sorted(slices.Values(append(ids, x.key))))
		}
		for _, e := range x.entries {
			j.Logs = append(j.Logs, e.i)
		}
		j.Series = x.work()
		slices.Sort(j.Logs)
		out = append(out, j)
	}
	for _, e := range g.shared {
		among, ok := shared[e]
		if !ok {
			continue
		}
		j := Job{Name: e.name, Why: whyShared, Logs: []int{e.i}}
		for _, x := range among {
			j.Among = append(j.Among, at[x])
		}
		slices.Sort(j.Among)
		out = append(out, j)
	}
	slices.SortStableFunc(out[len(g.groups):], func(a, b Job) int { return natural(a.Name, b.Name) })
	return out
}

// around returns the groups that a node's log may be about: those with logs in its folder or below, or else in the
// nearest folder above.
func (g *grouper) around(e *entry) []*group {
	for f := e.folder; f != nil && len(g.groups) > 1; f = f.up {
		var out []*group
		for _, x := range g.groups {
			if slices.ContainsFunc(x.folders, func(h *folder) bool { return h.below(f) }) {
				out = append(out, x)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return g.groups
}

// names gives each group a unique name.
func (g *grouper) names() map[*group]string {
	out := map[*group]string{}
	used := map[string]int{}
	for _, x := range g.groups {
		ids := x.ids()
		var name string
		switch {
		case x.key != "":
			name = x.key
		case len(ids) == 1:
			name = ids[0]
		case x.why == whyFolder && x.common().path != "":
			name = x.common().path
		case len(x.entries) == 1:
			name = x.entries[0].name
		default:
			name = fmt.Sprintf("%s and %d more", x.first(), len(x.entries)-1)
		}
		out[x] = name
		used[name]++
	}
	for x, name := range out {
		if used[name] > 1 {
			out[x] = fmt.Sprintf("%s (%s)", name, x.first())
		}
	}
	return out
}

// work returns the name of what was submitted: the common name of the scheduler's files without the id, or else of
// all files with an id. Empty if the names differ.
func (x *group) work() string {
	for _, schedulers := range []bool{true, false} {
		var names []string
		found := false
		for _, e := range x.entries {
			if e.id.id != "" && (streamOf(e.base) || !schedulers) {
				names = append(names, e.id.work())
				found = true
			}
		}
		slices.Sort(names)
		if names = slices.Compact(names); found && len(names) == 1 {
			return names[0]
		} else if found {
			return ""
		}
	}
	return ""
}

// common returns the folder that contains all logs of a group.
func (x *group) common() *folder {
	f := x.folders[0]
	for _, h := range x.folders[1:] {
		for !h.below(f) {
			f = f.up
		}
	}
	return f
}

// first returns the name of a group's first log.
func (x *group) first() string {
	return slices.MinFunc(x.entries, func(a, b *entry) int { return cmp.Compare(a.name, b.name) }).name
}

// natural compares names, with numbers by value.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := digitRun(x), digitRun(y)
		var c int
		if n > 0 && m > 0 {
			p, q := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
			c = cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q))
		} else {
			n, m = 1, 1
			c = cmp.Compare(x[0], y[0])
		}
		if c != 0 {
			return c
		}
		x, y = x[n:], y[m:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digitRun returns how many digits a string begins with.
func digitRun(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
