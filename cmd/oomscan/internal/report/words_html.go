package report

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// This file has the sentences of the HTML page; its template has the headings and labels.

// Falls says what a change does to the request.
func (s *htmlScale) Falls() string {
	return fmt.Sprintf("the request falls from %s to %s; %s are free", size(s.Request), size(s.After), size(s.Free))
}

// Range is the part's range, empty if it is a point.
func (b *htmlBudget) Range() string {
	switch {
	case b.Low == b.High:
		return ""
	case b.Bytes == 0 && b.Low == 0:
		return "up to " + size(b.High)
	}
	return fmt.Sprintf("(%s to %s)", size(b.Low), size(b.High))
}

// doNotApplyItems counts the items of a list that do not apply.
func doNotApplyItems(n int) string { return count(n, "item does not apply", "items do not apply") }

// caption says what the drawing's axis is: lines of a file or time, before the first failure and after it.
func (x *axis) caption() string {
	if x.file != "" && x.first == x.root {
		return byLines(x.root, x.last, x.file)
	}
	var parts []string
	if x.file == "" {
		if x.first < x.root {
			parts = append(parts, fmt.Sprintf("Before the failure: %s, from %s.", seconds(x.root-x.first), clock(x.from)))
		}
		if x.last > x.root {
			parts = append(parts, fmt.Sprintf("After it: %s, from %s.", seconds(x.last-x.root), clock(x.at)))
		}
		return strings.Join(parts, " ")
	}
	text := byLines(x.first, x.root, x.file)
	if x.last > x.root {
		text += fmt.Sprintf(" After the failure: to line %s.", grouped(int(x.last)))
	}
	return text
}

// seconds is a time in seconds, or in minutes where there are many.
func seconds(ms float64) string {
	if ms < 600_000 {
		return fmt.Sprintf("%.3g%cs", ms/1000, nbsp)
	}
	return duration(int64(ms))
}

// byLines says that the drawing's axis is lines of a file.
func byLines(from, to float64, file string) string {
	return fmt.Sprintf("Left to right: lines %s to %s of %s.", grouped(int(from)), grouped(int(to)), path.Base(file))
}

// wordOtherParts are the small parts of a budget together.
const wordOtherParts = "other parts"

// phaseName names a phase in the key of the timeline.
func phaseName(phase string) string {
	switch phase {
	case "init":
		return "start-up"
	case "logprob":
		return "log-prob"
	}
	return strings.ReplaceAll(phase, "_", " ")
}

// measureWords say what a reading is of.
var measureWords = map[string]string{"allocated": "allocated", "used": "in use", "reserved": "reserved by PyTorch", "max_allocated": "peak allocated"}

// readingTitle names a drawing of readings by so many writers.
func readingTitle(x *Readings, writers int) string {
	where := "GPU memory"
	if x.Resource == "host" {
		where = "Host memory"
	}
	title := where + ", " + cmp.Or(measureWords[x.Measure], x.Measure)
	if writers > 1 {
		return fmt.Sprintf("%s, %d processes", title, writers)
	}
	if who := placeText(&Root{Rank: x.Rank, Host: x.Host}); who != "" {
		title += ", " + who
	}
	return title
}

// readingText says how a reading went.
func readingText(x *Readings, least, most *Reading) string {
	last := &x.Points[len(x.Points)-1]
	text := fmt.Sprintf("%s to %s, at last %s", size(least.Bytes), size(most.Bytes), size(last.Bytes))
	if least.Bytes == most.Bytes {
		text = "always " + size(last.Bytes)
	}
	if x.Grows {
		text += ", never lower than before"
	}
	return closed(text)
}

// placeOnAxis names an end of a drawing's axis: the step, else the time or the line.
func placeOnAxis(p *Reading, stepped, timed bool) string {
	switch {
	case stepped:
		return fmt.Sprintf("step %s", grouped(*p.Step))
	case timed:
		return clock(*p.Time)
	}
	return "line " + grouped(p.Line)
}

// budgetTitle names a bar of the budget: what the settings make of it, or after the first change.
func budgetTitle(after bool, n int64) string {
	if after {
		return "after the first change: " + size(n)
	}
	return "computed from the settings: " + size(n)
}
