package report

import (
	"cmp"
	"slices"
	"strings"
)

// Bounds of the timeline, in pixels and percent of its width.
const (
	timelineRows = 12
	rowHeight    = 46
	rowCentre    = 32
	rootPercent  = 16
	lastPercent  = 97
)

// htmlTimeline is the first failure and what followed, a row a process, from left to right as it happened. Its x coordinates are in
// percent, so that text and marks keep their sizes on any screen.
type htmlTimeline struct {
	Rows           []htmlTrack
	Height         int
	RootX, RootY   float64
	BandY          float64
	Phase          string // of the band before the first failure
	Caption, Label string
	More           string
}

// htmlTrack is one process: what happened there, and when.
type htmlTrack struct {
	Label string
	Y     float64 // of its marks
	TextY float64
	Marks []float64
	who   string
	what  []string
}

// timelineOf draws an incident along time where the log has times, else along the lines of one file. Nil: it has neither, or
// nothing followed.
func timelineOf(in *Incident) *htmlTimeline {
	scale, caption := axisOf(in)
	if scale == nil {
		return nil
	}
	t := &htmlTimeline{Caption: caption, Phase: phaseText(in), RootX: rootPercent, RootY: rowCentre, BandY: rowCentre - 7}
	rows := []htmlTrack{{who: placeText(&in.Root), what: []string{named(consequenceWords(), in.Kind)}}}
	followed := 0
	for i := range in.Consequences {
		c := &in.Consequences[i]
		x, ok := scale(c)
		if !ok {
			continue
		}
		followed++
		who, what := placeText(&Root{Rank: c.Rank, Host: c.Host}), named(consequenceWords(), c.Kind)
		k := slices.IndexFunc(rows, func(r htmlTrack) bool { return r.who == who })
		if k < 0 {
			k = len(rows)
			rows = append(rows, htmlTrack{who: who})
		}
		rows[k].Marks = append(rows[k].Marks, x)
		if !slices.Contains(rows[k].what, what) {
			rows[k].what = append(rows[k].what, what)
		}
	}
	if followed == 0 {
		return nil
	}
	slices.SortStableFunc(rows[1:], func(a, b htmlTrack) int { return cmp.Compare(a.Marks[0], b.Marks[0]) })
	if len(rows) > timelineRows {
		t.More, rows = andMore(&unicodeGlyphs, len(rows)-timelineRows)+".", rows[:timelineRows]
	}
	var said []string
	for i := range rows {
		rows[i].Label = trackLabel(rows[i].who, strings.Join(rows[i].what, ", "))
		rows[i].Y, rows[i].TextY = float64(i*rowHeight+rowCentre), float64(i*rowHeight+rowCentre-14)
		said = append(said, rows[i].Label)
	}
	t.Rows, t.Height, t.Label = rows, len(rows)*rowHeight, strings.Join(said, "; ")
	return t
}

// trackLabel names a process and what happened to it, short enough for a phone.
func trackLabel(who, what string) string {
	const most = 42
	if who != "" {
		what = who + ": " + what
	}
	return cut(&unicodeGlyphs, what, most, false)
}

// axisOf is where a consequence stands on the timeline, and what the axis means.
func axisOf(in *Incident) (scale func(*Consequence) (float64, bool), caption string) {
	percent := func(part, whole float64) float64 {
		return rootPercent + (lastPercent-rootPercent)*part/whole
	}
	r := &in.Root
	if r.Time != nil {
		last := *r.Time
		for i := range in.Consequences {
			if at := in.Consequences[i].Time; at != nil && at.After(last) {
				last = *at
			}
		}
		if whole := last.Sub(*r.Time); whole > 0 {
			return func(c *Consequence) (float64, bool) {
				if c.Time == nil || c.Time.Before(*r.Time) {
					return 0, false
				}
				return percent(float64(c.Time.Sub(*r.Time)), float64(whole)), true
			}, byTime(*r.Time, last)
		}
	}
	last := r.Line
	for i := range in.Consequences {
		if c := &in.Consequences[i]; c.File == r.File {
			last = max(last, c.Line)
		}
	}
	if last == r.Line {
		return nil, ""
	}
	return func(c *Consequence) (float64, bool) {
		return percent(float64(c.Line-r.Line), float64(last-r.Line)), c.File == r.File && c.Line >= r.Line
	}, byLines(r.Line, last, r.File)
}

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
