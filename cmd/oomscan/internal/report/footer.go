package report

import (
	"fmt"
	"strings"
)

// writeNone says calmly that nothing was found, what that rests on, and where else to look.
func writeNone(p *page, r *Report) {
	word, ground := "NO MEMORY INCIDENT", badgeCalm
	text := "no message of memory running out in " + count(r.Stats.Lines, "line", "lines")
	hint := "If the job died all the same: the reason may stand in a file that was not given, such as those of other ranks and " +
		"nodes, the scheduler's own, or the node's dmesg."
	failed := failures(r)
	switch {
	case len(failed) > 0 && len(failed) == len(r.Inputs):
		word, ground, text = "NO ANSWER", badgeSuspect, "nothing could be read to its end, and nothing was found before"
		hint = ""
	case len(failed) > 0:
		ground = badgeSuspect
		text += fmt.Sprintf("; %s could not be read in full", count(len(failed), "input", "inputs"))
	case r.Stats.Lines == 0 && r.Stats.Bytes == 0:
		word, ground, text = "NOTHING TO READ", badgeSuspect, "the input is empty"
		hint = "Output of a job that was killed early may still have been in its buffers; look for its other files."
	}
	p.badge(ground, word, span{bold, text})
	if hint != "" {
		p.para(block{indent: 2, hang: 2}, span{dim, hint})
	}
	p.blank()
}

func failures(r *Report) []Input {
	return kept(r.Inputs, func(in *Input) bool { return in.Error != nil })
}

// writeFooter says once what the run was, what was read, and what could not be.
func writeFooter(p *page, r *Report) {
	p.row("run", runFacts(p.g, r)...)
	if m := deref(r.Run.Model.Name); m != "" {
		p.row("model", span{plain, m})
	}
	failed := failures(r)
	if len(failed) < len(r.Inputs) || r.Stats.Bytes > 0 || len(failed) == 0 {
		cut := 0
		for i := range r.Inputs {
			cut += r.Inputs[i].Truncated
		}
		writeRead(p, inputs(r.Inputs), cut, r.Version, r.Stats)
	}
	writeErrors(p, failed)
}

// writeErrors lists what could not be read, what has the same reason together.
func writeErrors(p *page, failed []Input) {
	const few = 3
	same := map[string]int{}
	for _, in := range failed {
		same[*in.Error]++
	}
	label, rows, listed := "errors", 0, map[string]bool{}
	for i, in := range failed {
		n := same[*in.Error]
		if n > few && listed[*in.Error] {
			continue
		}
		listed[*in.Error] = true
		if rows++; rows > maxProblems {
			p.row("", span{dim, fmt.Sprintf("%s and %s", p.g.ellipsis, count(len(failed)-i, "more", "more"))})
			return
		}
		name := in.Name
		if n > few {
			name += fmt.Sprintf(" and %s", count(n-1, "more", "more"))
		}
		p.row(label, span{short, name}, span{plain, ": " + *in.Error})
		label = ""
	}
}

// writePartial says, if so, that the answer rests on a part of what there is.
func writePartial(p *page, yes bool, failed, inputs int) {
	if !yes {
		return
	}
	text := "interrupted before everything was read"
	if failed > 0 && inputs > 1 {
		text += fmt.Sprintf(": %s of %s not read, or not to the end", grouped(failed), count(inputs, "input", "inputs"))
	}
	p.badge(badgeSuspect, "PARTIAL", span{bold, text})
	p.blank()
}

// runFacts is what the log tells of the job, in one line.
func runFacts(g *glyphs, r *Report) []span {
	var parts [][]span
	add := func(format string, args ...any) { parts = append(parts, []span{{plain, fmt.Sprintf(format, args...)}}) }
	c := &r.Run
	if c.Framework != "" && c.Framework != "unknown" {
		parts = append(parts, []span{{bold, strings.TrimSpace(c.Framework + " " + deref(c.FrameworkVersion))}})
	}
	for _, x := range []struct{ label, value string }{
		{"", deref(c.Backend)}, {"engine ", deref(c.Engine)}, {"launched by ", deref(c.Launcher)}, {"job ", deref(c.JobID)},
	} {
		if x.value != "" && x.value != "none" && x.value != c.Framework {
			add("%s%s", x.label, x.value)
		}
	}
	switch {
	case c.Nodes != nil && c.GPUsPerNode != nil:
		add("%s %s %s", count(*c.Nodes, "node", "nodes"), g.times, count(*c.GPUsPerNode, "GPU", "GPUs"))
	case c.WorldSize != nil:
		add("%s", count(*c.WorldSize, "rank", "ranks"))
	}
	if c.LastStep != nil && !stepIsFact(r) {
		add("last step%c%d", nbsp, *c.LastStep)
	}
	return g.join(parts)
}

// writeRead says what was read and what that cost. How long a line may be, each scan of a merged report may have set itself.
func writeRead(p *page, what string, truncated int, version string, st Stats) {
	parts := [][]span{{{plain, what}}, {{plain, count(st.Lines, "line", "lines")}}, {{plain, size(st.Bytes)}}}
	if truncated > 0 {
		parts = append(parts, []span{{plain, count(truncated, "line", "lines") + " too long to be read whole (--max-line)"}})
	}
	by := strings.TrimSpace("oomscan " + version)
	p.row("read", p.g.join(append(parts, []span{{dim, fmt.Sprintf("%s in %s", by, duration(st.DurationMS))}}))...)
}

// inputs names what was read.
func inputs(ins []Input) string {
	if len(ins) == 1 && ins[0].Name == "-" {
		return "standard input"
	}
	if len(ins) == 1 {
		return ins[0].Name
	}
	what := count(len(ins), "input", "inputs")
	if dir := folder(ins); dir != "" {
		what += " of " + strings.TrimSuffix(dir, "!")
	}
	return what
}

// folder is what the names of several inputs have in common: a folder, or an archive.
func folder(ins []Input) string {
	if len(ins) < 2 {
		return ""
	}
	dir := ins[0].Name
	for i := range ins {
		for dir != "" && !strings.HasPrefix(ins[i].Name, dir) {
			dir = dir[:strings.LastIndexAny(strings.TrimRight(dir, "/!"), "/!")+1]
		}
	}
	if i := strings.LastIndexAny(dir, "/!"); i < len(dir)-1 {
		dir = dir[:i+1]
	}
	return dir
}

// duration prints how long the scan took.
func duration(ms int64) string {
	switch {
	case ms < 10_000:
		return fmt.Sprintf("%d%cms", ms, nbsp)
	case ms < 600_000:
		return fmt.Sprintf("%.1f%cs", float64(ms)/1000, nbsp)
	}
	return fmt.Sprintf("%d%cmin", ms/60_000, nbsp)
}
