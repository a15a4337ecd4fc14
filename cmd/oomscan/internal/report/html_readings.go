package report

import (
	"fmt"
	"slices"
	"strings"
)

// Sizes of a drawing of readings, in the units of its view box.
const (
	readingsHeight = 120
	maxDrawn       = 8 // lines in one drawing
)

// htmlReadings is how one figure of memory went, a line a writer.
type htmlReadings struct {
	Title, Text, Most string
	From, To          string // what stands at the ends of the axis
	Lines             []string
	RootX             float64 // of the first failure; 0: it is not on the axis
}

// readingCharts draw the readings of a run, one drawing for each message and measure.
func readingCharts(r *Report) []htmlReadings {
	var out []htmlReadings
	for rest := r.Run.Readings; len(rest) > 0; {
		first := &rest[0]
		n := slices.IndexFunc(rest, func(x Readings) bool { return x.Name != first.Name || x.Measure != first.Measure })
		if n < 0 {
			n = len(rest)
		}
		out = append(out, readingChart(rest[:n], r.Incidents))
		rest = rest[n:]
	}
	return out
}

// readingChart draws the readings of one kind along time where each has a stamp, else along the lines of the first file.
func readingChart(all []Readings, incidents []Incident) htmlReadings {
	timed := true
	for i := range all {
		timed = timed && !slices.ContainsFunc(all[i].Points, func(p Reading) bool { return p.Time == nil })
	}
	if !timed {
		all = slices.DeleteFunc(slices.Clone(all), func(x Readings) bool { return x.File != all[0].File })
	}
	at := func(p *Reading) float64 {
		if timed {
			return float64(p.Time.UnixMilli())
		}
		return float64(p.Line)
	}
	from, to, least, most := at(&all[0].Points[0]), 0.0, all[0].Points[0], all[0].Points[0]
	for i := range all {
		for k := range all[i].Points {
			p := &all[i].Points[k]
			from, to = min(from, at(p)), max(to, at(p))
			if p.Bytes > most.Bytes {
				most = *p
			}
			if p.Bytes < least.Bytes {
				least = *p
			}
		}
	}
	c := htmlReadings{Title: readingTitle(&all[0], len(all)), Most: size(most.Bytes)}
	if root, ok := rootOnAxis(incidents, all[0].File, timed); ok && root >= from {
		to = max(to, root)
		c.RootX = drawnWidth * (root - from) / max(1, to-from)
	}
	for i := range all[:min(len(all), maxDrawn)] {
		var b strings.Builder
		for k := range all[i].Points {
			p := &all[i].Points[k]
			fmt.Fprintf(&b, "%.1f,%.1f ", drawnWidth*(at(p)-from)/max(1, to-from), 4+(readingsHeight-8)*(1-float64(p.Bytes)/float64(most.Bytes)))
		}
		c.Lines = append(c.Lines, strings.TrimSpace(b.String()))
	}
	points := all[0].Points
	stepped := points[0].Step != nil && points[len(points)-1].Step != nil
	c.From, c.To = placeOnAxis(&points[0], stepped, timed), placeOnAxis(&points[len(points)-1], stepped, timed)
	c.Text = readingText(&all[0], &least, &most)
	return c
}

// rootOnAxis is where the first failure stands among readings of a file, if it does.
func rootOnAxis(incidents []Incident, file string, timed bool) (float64, bool) {
	if len(incidents) == 0 {
		return 0, false
	}
	switch root := &incidents[0].Root; {
	case timed && root.Time != nil:
		return float64(root.Time.UnixMilli()), true
	case !timed && root.File == file:
		return float64(root.Line), true
	}
	return 0, false
}
