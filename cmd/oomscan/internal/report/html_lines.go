package report

import (
	"cmp"
	"slices"
)

// htmlLine is a line of a log.
type htmlLine struct {
	Number int
	Text   string
	Root   bool
}

// linesAround are the lines around the first failure that the report has: evidence before it and beside it, and what followed, in
// the order of the log.
func linesAround(in *Incident) []htmlLine {
	const before, after = 4, 6
	text := map[int]string{}
	for i := range in.Evidence {
		if e := &in.Evidence[i]; e.File == in.Root.File {
			text[e.Line] = cmp.Or(text[e.Line], e.Text)
		}
	}
	for i := range in.Consequences {
		if c := &in.Consequences[i]; c.File == in.Root.File {
			text[c.Line] = cmp.Or(text[c.Line], c.Message)
		}
	}
	text[in.Root.Line] = in.Root.Message
	var lines []htmlLine
	for n, s := range text {
		if s == "" {
			continue
		}
		lines = append(lines, htmlLine{Number: n, Text: s, Root: n == in.Root.Line})
	}
	slices.SortFunc(lines, func(a, b htmlLine) int { return a.Number - b.Number })
	at := max(0, slices.IndexFunc(lines, func(l htmlLine) bool { return l.Root }))
	return lines[max(0, at-before):min(len(lines), at+after+1)]
}
