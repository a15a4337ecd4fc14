package report

import (
	"slices"
	"strings"
)

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
