package report

import (
	"fmt"
	"slices"
)

// writeFollowed groups what happened after the root by kind, in the order of the first of each.
func writeFollowed(p *page, in *Incident) {
	if in.Repeats <= 0 && len(in.Consequences) == 0 {
		return
	}
	p.heading("What followed")
	at := block{indent: 4, hang: 6, full: true}
	if in.Repeats > 0 {
		p.para(at, span{bold, count(in.Repeats, "more report", "more reports")}, span{plain, " of the same failure, by other ranks or raised again"})
	}
	kinds := groups(in.Consequences)
	for i, g := range kinds {
		if i == maxConsequences {
			p.more(len(kinds)-i, "kind of failure", "kinds of failures")
			break
		}
		spans := []span{{bold, named(consequenceWords(), g.first.Kind)}}
		if g.count > 1 {
			spans = append(spans, span{plain, fmt.Sprintf(" %s%s", grouped(g.count), p.g.times)})
		}
		var where [][]span
		if g.first.Rank != nil {
			where = append(where, []span{{plain, fmt.Sprintf("rank%c%d", nbsp, *g.first.Rank)}})
		}
		if h := deref(g.first.Host); h != "" {
			where = append(where, []span{{plain, h}})
		}
		if f := position(g.first.File, g.first.Line); f != "" {
			where = append(where, []span{{plain, f}})
		}
		if g.count > 1 {
			spans = append(spans, span{dim, ", first "})
		} else {
			spans = append(spans, span{dim, ", "})
		}
		p.para(at, append(spans, p.g.join(where)...)...)
		if g.first.Message != "" {
			p.para(block{indent: 6, hang: 6, lines: 2}, span{dim, g.first.Message})
		}
	}
}

// group is the consequences of one kind.
type group struct {
	first *Consequence
	count int
}

func groups(cs []Consequence) []group {
	var out []group
	for i := range cs {
		c := &cs[i]
		n := slices.IndexFunc(out, func(g group) bool { return g.first.Kind == c.Kind })
		if n < 0 {
			out = append(out, group{first: c})
			n = len(out) - 1
		}
		out[n].count += max(1, c.Count)
	}
	return out
}
