package report

import (
	"fmt"
	"time"
)

// This file has the words that only the HTML page says.

// htmlWords are the page's headings and labels, by the names that its template has for them.
var htmlWords = map[string]string{
	"report": "report", "jobs": "jobs", "filter": wordFilter, "filterLabel": "filter the jobs", "noneMatches": wordNoneMatches, "status": "verdict", "fix": "fix",
	"noIncident": badgeWordNone, "why": "Why", "confirm": "Confirm first", "instead": "Or instead", "holders": "Who held it",
	"process": "process", "memory": "memory", "budget": "Where the memory should be", "evidence": "Evidence", "trace": "Traceback, innermost last",
	"findings": "Figures", "checklist": "Checklist", "recommended": "Recommended", "was": "was", "note": "Note:", "next": "Next:", "costs": "Costs:",
	"now": "now", "then": "then", "free": "free", "requested": "requested", "tooMuch": "too much", "measured": "measured", "afterwards": "Afterwards:",
	"copy": "Copy", "copied": "Copied", "press": "Press Ctrl-C", "job": "job", "timeline": "What happened, in order", "first": "first failure",
	"followed": "what followed", "parts": "part by part", "growth": "Memory over time",
}

// requestFalls says what a change does to the request.
func (s *htmlScale) requestFalls() string {
	return fmt.Sprintf("the request falls from %s to %s; %s are free", size(s.Request), size(s.After), size(s.Free))
}

// rangeText is a range of bytes: nothing where it is a point.
func (b *htmlBudget) rangeText() string {
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

// byLines says what the drawing's axis is: lines of a file.
func byLines(from, to int, file string) string {
	return fmt.Sprintf("Left to right: lines %s to %s of %s.", grouped(from), grouped(to), file)
}

// byTime says what the drawing's axis is: time.
func byTime(from, to time.Time) string {
	return fmt.Sprintf("Left to right: %s, from %s on.", duration(to.Sub(from).Milliseconds()), clock(from))
}

// confidenceOf says how sure the phase is and how it is known.
func confidenceOf(in *Incident) string {
	return fmt.Sprintf("Phase (%s confidence): %s", in.Confidence, closed(reason(in)))
}

// budgetTitle names a bar of the budget: what the settings make of it, or after the first change.
func budgetTitle(after bool, n int64) string {
	if after {
		return "after the first change: " + size(n)
	}
	return "computed from the settings: " + size(n)
}

// capacityText names the line of what there is.
func capacityText(name string, n int64) string { return name + " has " + size(n) }

// growthText says how a reading went.
func growthText(name string, count int, first, last int64) string {
	return fmt.Sprintf("%s: %s to %s over %s readings, never lower", name, size(first), size(last), grouped(count))
}
