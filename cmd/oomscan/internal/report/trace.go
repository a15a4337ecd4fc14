package report

import (
	"fmt"
	"slices"
	"strings"
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

// writeTrace shows the frames around the one that decided the phase, and the last one, which allocated.
func writeTrace(p *page, in *Incident) {
	frames := in.Root.Trace
	if len(frames) == 0 {
		return
	}
	decided := deciding(in)
	p.heading("Traceback", span{dim, ", innermost last"})
	width := 0
	picked := pick(len(frames), decided)
	for _, i := range picked {
		width = max(width, measure(place(&frames[i], p.g.ellipsis)))
	}
	width = min(width, p.prose-4-2-24)
	next := 0
	for _, i := range picked {
		if i > next {
			p.para(block{indent: 6, hang: 6}, span{dim, fmt.Sprintf("%s %s", p.g.ellipsis, count(i-next, "frame", "frames"))})
		}
		next = i + 1
		f := &frames[i]
		text := span{plain, pad(place(f, p.g.ellipsis), width) + "  " + f.Function}
		mark := span{plain, string(nbsp) + string(nbsp)}
		if i == decided {
			mark, text.ink = span{bold, p.g.pointer + string(nbsp)}, bold
		}
		p.para(block{indent: 4, hang: 8, full: true, lines: 3}, mark, text)
	}
	if next < len(frames) {
		p.para(block{indent: 6, hang: 6}, span{dim, fmt.Sprintf("%s %s", p.g.ellipsis, count(len(frames)-next, "frame", "frames"))})
	}
}

// deciding is the frame that the evidence for the phase names; else the innermost one that is not a library's.
func deciding(in *Incident) int {
	frames := in.Root.Trace
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		text := fmt.Sprintf("%s:%d in %s", f.File, f.Line, f.Function)
		if slices.ContainsFunc(in.Evidence, func(e Evidence) bool { return e.Text == text }) {
			return i
		}
	}
	for i := len(frames) - 1; i >= 0; i-- {
		if library(frames[i].File) < 0 {
			return i
		}
	}
	return len(frames) - 1
}

// pick chooses at most maxFrames of n frames: around the deciding one, the last one always.
func pick(n, decided int) []int {
	if n <= maxFrames {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	from := max(0, min(decided-2, n-maxFrames))
	var out []int
	for i := from; i < from+maxFrames-1; i++ {
		out = append(out, i)
	}
	return append(out, n-1)
}

// library is where a path's part inside an installed package begins, negative when it is in none.
func library(path string) int {
	for _, dir := range []string{"site-packages/", "dist-packages/", `site-packages\`, `dist-packages\`} {
		if i := strings.LastIndex(path, dir); i >= 0 {
			return i + len(dir)
		}
	}
	return -1
}

// place is a frame's file, without what every path of the installation begins with, and its line.
func place(f *Frame, ellipsis string) string {
	path := f.File
	if i := library(path); i >= 0 {
		path = path[i:]
	} else if dirs := strings.Split(path, "/"); len(dirs) > 5 {
		path = ellipsis + "/" + strings.Join(dirs[len(dirs)-4:], "/")
	}
	return position(path, f.Line)
}

// writeMessage shows the root's own words and the other lines that the verdict rests on.
func writeMessage(p *page, in *Incident) {
	rest := slices.DeleteFunc(slices.Clone(in.Evidence), func(e Evidence) bool {
		return e.File == in.Root.File && e.Line == in.Root.Line || strings.HasPrefix(e.Why, "tells the phase")
	})
	if in.Root.Message == "" && len(rest) == 0 {
		return
	}
	p.heading("In the log")
	if in.Root.Message != "" {
		p.para(block{indent: 4, hang: 4, lines: 8}, span{plain, in.Root.Message})
	}
	for i, e := range rest {
		if i == maxEvidence {
			p.more(len(rest)-i, "line", "lines")
			break
		}
		at := []span{{dim, position(e.File, e.Line)}}
		if e.Why != "" {
			at = append(at, span{dim, ", " + e.Why})
		}
		p.para(block{indent: 4, hang: 6, full: true, lines: 3}, at...)
		p.para(block{indent: 6, hang: 6, lines: 3}, span{plain, e.Text})
	}
}
