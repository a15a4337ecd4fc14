package report

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
)

// writeNone says that nothing was found and what that rests on, then what the log shows about the end, or where else to look.
func writeNone(p *page, r *Report) {
	word, ground := badgeWordNone, badgeCalm
	text := noneText(r)
	failed := failures(r)
	hint := true
	switch {
	case len(failed) > 0 && len(failed) == len(r.Inputs):
		word, ground, text = badgeWordUnread, badgeSuspect, wordNothingRead
		if r.Stats.Lines > 0 {
			text = wordUnfinished
		}
		hint = false
	case len(failed) > 0:
		ground = badgeSuspect
		text += fmt.Sprintf(formatNotInFull, count(len(failed), "input", "inputs"))
	case r.Stats.Lines == 0 && r.Stats.Bytes == 0:
		word, ground, text = badgeWordEmpty, badgeSuspect, wordEmpty
	}
	p.badge(ground, word, span{bold, text})
	switch {
	case len(r.EndedBy) > 0:
		writeEndedBy(p, r.EndedBy)
	case hint:
		writeNextPlaces(p, r)
	}
	p.blank()
}

// writeEndedBy says what the log shows about the end of the job.
func writeEndedBy(p *page, list []Ending) {
	p.heading(wordEnd)
	for i := range list {
		e := &list[i]
		p.para(block{indent: 4, hang: 6}, span{bold, named(endingWords, e.What)}, span{dim, "  " + position(called(e.File), e.Line)})
		p.para(block{indent: 6, hang: 6, lines: 2}, span{dim, e.Text})
	}
}

// writeNextPlaces says where to look when the log does not show what ended the job.
func writeNextPlaces(p *page, r *Report) {
	p.heading(wordLookNext)
	list := nextPlaces[""]
	if known := nextPlaces[deref(r.Run.Launcher)]; deref(r.Run.Launcher) != "" && known != nil {
		list = append(slices.Clone(known), list[0])
	}
	for _, x := range list {
		command := strings.ReplaceAll(x.Command, " JOB ", " "+jobID(r)+" ")
		if command == "" {
			p.para(block{indent: 4, hang: 6}, span{plain, x.Reading})
			continue
		}
		p.para(block{indent: 4, hang: 6}, span{code, command}, span{dim, "  " + x.Reading})
	}
}

func failures(r *Report) []Input {
	return kept(r.Inputs, func(in *Input) bool { return in.Error != nil })
}

// writeFooter says once what the run was, what was read, and what could not be.
func writeFooter(p *page, r *Report) {
	p.row(labelRun, runFacts(p.g, r)...)
	if m := deref(r.Run.Model.Name); m != "" {
		p.row(labelModel, span{plain, m})
	}
	failed := failures(r)
	if len(failed) < len(r.Inputs) || r.Stats.Bytes > 0 || len(failed) == 0 {
		cut, quoted, shortened := 0, 0, 0
		for i := range r.Inputs {
			cut += r.Inputs[i].Truncated
			quoted += r.Inputs[i].Quoted
			shortened += r.Inputs[i].Shortened
		}
		writeRead(p, inputs(r.Inputs), cut, r.Version, r.Stats)
		if quoted > 0 {
			p.row(labelQuoted, span{plain, quotedText(quoted)})
		}
		if shortened > 0 {
			p.row(labelShortened, span{plain, shortenedText(shortened)})
		}
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
	label, rows, listed := labelErrors, 0, map[string]bool{}
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
	text := wordInterrupted
	if failed > 0 && inputs > 1 {
		text += fmt.Sprintf(formatNotToTheEnd, grouped(failed), count(inputs, "input", "inputs"))
	}
	p.badge(badgeSuspect, badgeWordPartial, span{bold, text})
	p.blank()
}

// runFacts is what the log tells of the job, in one line.
func runFacts(g *glyphs, r *Report) []span {
	var parts [][]span
	add := func(format string, args ...any) { parts = append(parts, []span{{plain, fmt.Sprintf(format, args...)}}) }
	c := &r.Run
	application := classifier.FrameworkByID(deref(c.Application)).Name
	if application != "" {
		parts = append(parts, []span{{bold, application}})
	}
	if c.Framework != "" && c.Framework != "unknown" && (application == "" || c.Framework != "torch") {
		parts = append(parts, []span{{bold, strings.TrimSpace(c.Framework + " " + deref(c.FrameworkVersion))}})
	}
	for _, x := range runWords(c) {
		if x.value != "" && x.value != "none" && x.value != c.Framework {
			add("%s%s", x.label, x.value)
		}
	}
	switch {
	case c.Nodes != nil && c.GPUsPerNode != nil:
		add("%s", unbroken(fmt.Sprintf("%s %s %s", count(*c.Nodes, "node", "nodes"), g.times, count(*c.GPUsPerNode, "GPU", "GPUs"))))
	case c.WorldSize != nil:
		add("%s", count(*c.WorldSize, "rank", "ranks"))
	}
	if c.LastStep != nil && !stepIsFact(r) {
		add("%s", lastStepText(*c.LastStep))
	}
	return g.join(parts)
}

// writeRead says what was read and what that cost. How long a line may be, each scan of a merged report may have set itself.
func writeRead(p *page, what string, truncated int, version string, st Stats) {
	parts := [][]span{{{plain, what}}, {{plain, count(st.Lines, "line", "lines")}}, {{plain, size(st.Bytes)}}}
	if truncated > 0 {
		parts = append(parts, []span{{plain, count(truncated, "line", "lines") + wordTooLong}})
	}
	by := strings.TrimSpace("oomscan "+version) + " in " + duration(st.DurationMS)
	p.row(labelRead, p.g.join(append(parts, []span{{dim, by}}))...)
}

// inputs names what was read.
func inputs(ins []Input) string {
	if len(ins) == 1 && ins[0].Name == "-" {
		return "stdin"
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
