package report

import (
	"fmt"
	"slices"
	"strings"
)

// writeDetails is what a checklist's item says beyond its title.
func writeDetails(p *page, x *Remedy) {
	if ruledOut(x) {
		p.para(block{indent: itemIndent, hang: itemIndent}, span{dim, closed(sentence(x.AppliesWhy))})
		return
	}
	text := func(i ink, s string) { p.para(block{indent: itemIndent, hang: itemIndent}, span{i, s}) }
	for i := range x.Changes {
		c := &x.Changes[i]
		for _, l := range strings.Split(strings.TrimRight(c.Snippet, "\n"), "\n") {
			p.para(block{indent: itemIndent, hang: itemIndent + 2, full: true}, span{code, l})
		}
		if c.ComputedFrom != "" {
			text(dim, closed(c.ComputedFrom))
		}
	}
	if x.Applies != nil {
		text(plain, closed(sentence(x.AppliesWhy)))
	}
	text(plain, closed(sentence(x.Why)))
	text(dim, closed(x.Detail))
	text(bold, closed(x.Caution))
	if x.Source.Section != "" {
		text(dim, "["+x.Source.Section+"]")
	}
}

// writeFindings are sentences about the figures.
func writeFindings(p *page, in *Incident) {
	if len(in.Findings) == 0 {
		return
	}
	p.section(wordFindings)
	for _, f := range in.Findings {
		p.para(block{indent: 3, hang: 5}, span{dim, p.g.bullet + " "}, span{plain, f})
	}
}

// writeBudget lists what each part of the run should take, with the range where a setting is unknown, and what the log
// measured.
func writeBudget(p *page, in *Incident) {
	if len(in.Budget) == 0 {
		return
	}
	p.section(wordBudget)
	for i := range in.Budget {
		x := &in.Budget[i]
		name := strings.ReplaceAll(x.Part, "_", " ")
		figures := size(x.Bytes)
		if x.Low != x.High {
			figures += fmt.Sprintf(" (%s to %s)", size(x.Low), size(x.High))
		}
		p.para(block{indent: 3, hang: 5}, span{bold, pad(name, 22)}, span{plain, " " + figures + "  "}, span{dim, x.How})
	}
	if in.Unexplained != nil {
		p.para(block{indent: 3, hang: 5}, span{bold, pad(partWords[partUnknown], 22)}, span{plain, " " + size(*in.Unexplained)})
	}
}

// writeTrace shows the traceback, the frame that shows the phase marked.
func writeTrace(p *page, in *Incident) {
	frames := in.Root.Trace
	if len(frames) == 0 {
		return
	}
	p.section(wordTrace, span{dim, wordInnermost})
	why := reason(in)
	for i := range frames {
		f := &frames[i]
		mark := span{plain, string(nbsp) + string(nbsp)}
		if strings.HasPrefix(why, f.Function+" in ") {
			mark = span{bold, p.g.pointer + string(nbsp)}
		}
		p.para(block{indent: 3, hang: 7, full: true, lines: 3}, mark, span{plain, position(f.File, f.Line) + "  " + f.Function})
	}
}

// writeLog shows the lines that the verdict rests on, and what followed, in the log's own words.
func writeLog(p *page, in *Incident) {
	p.section(wordLog)
	p.para(block{indent: 3, hang: 3, lines: 8}, span{plain, in.Root.Message})
	line := func(file string, n int, why, text string) {
		spans := []span{p.at(file, n)}
		if why != "" {
			spans = append(spans, span{dim, ", " + why})
		}
		p.para(block{indent: 3, hang: 5, full: true, lines: 3}, spans...)
		p.para(block{indent: 5, hang: 5, lines: 3}, span{plain, text})
	}
	rest := slices.DeleteFunc(slices.Clone(in.Evidence), func(e Evidence) bool { return e.File == in.Root.File && e.Line == in.Root.Line })
	for i := range rest {
		if i == maxLines {
			p.more(len(rest)-i, "line", "lines")
			break
		}
		line(rest[i].File, rest[i].Line, rest[i].Why, rest[i].Text)
	}
	for i, g := range groups(in.Consequences) {
		if i == maxLines {
			break
		}
		line(g.first.File, g.first.Line, named(consequenceWords, g.first.Kind), g.first.Message)
	}
}
