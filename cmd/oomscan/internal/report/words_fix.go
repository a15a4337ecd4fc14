package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"oomscan/parser/lazyre"
)

// This file has the short words for a proposal, and why an item does not apply.

// against says in few words why an item does not apply: settings by their last word.
func against(why string) string { return words(strings.TrimPrefix(why, "it is "), lastPart) }

// inBrief is [against] without what explains it further: the full report has that, and the place in the log.
func inBrief(why string) string {
	why, _, _ = strings.Cut(against(why), ": ")
	return strings.ReplaceAll(settingPlace().ReplaceAllString(why, ""), "; ", ", ")
}

// formatSameAsItem says that an item makes the same change as an earlier one.
const formatSameAsItem = "same as item%c%d"

// settingPlace is where the log tells a setting, behind it.
var settingPlace = lazyre.New(` \([^() ]+:\d+\)`)

// closing is the report's last line: how many incidents, the first change, and where the first one stands.
func closing(r *Report) string {
	n := len(r.Incidents)
	if n == 0 {
		return ""
	}
	in := &r.Incidents[0]
	parts := []string{position(called(in.Root.File), in.Root.Line)}
	if len(in.Proposals) > 0 {
		parts = append([]string{firstStep(in)}, parts...)
	}
	return count(n, "incident", "incidents") + ": " + strings.Join(parts, ", ")
}

// firstStep is what to do first, in a line: a fix only where the cause is proved and the change is known to be enough.
func firstStep(in *Incident) string {
	x := in.Proposals[0]
	sure := in.Verdict == "memory" && in.Cause != nil && in.Cause.Confidence == "high" && x.Fits != nil && *x.Fits && (x.FitsWorstCase == nil || *x.FitsWorstCase)
	more, typed := len(x.Changes)-1, slices.ContainsFunc(x.Changes, func(c Change) bool { return c.To != nil && keyWords[c.Key] == "" })
	x.Changes = x.Changes[:min(1, len(x.Changes))] // the others stand above
	fix := inSentence(fixOf(&x))
	switch {
	case len(x.Changes) > 0 && removes(&x.Changes[0]):
	case typed && sure:
		fix = "fix " + fix
	case typed:
		fix = "try " + fix
	}
	if more > 0 {
		fix += fmt.Sprintf(" and %s", count(more, "more change", "more changes"))
	}
	return fix
}

// fixOf is a proposal in a few words: what to type, which setting to move, or what it says; empty when it says nothing.
func fixOf(x *Proposal) string {
	var parts []string
	for _, c := range x.Changes {
		switch {
		case c.Key == "":
		case keyWords[c.Key] != "" && c.To != nil:
			parts = append(parts, "raise "+keyWords[c.Key]+" to "+*c.To)
		case c.To == nil:
			parts = append(parts, strings.TrimSuffix(cmp.Or(verbs[c.Direction], verbs["set"]), " it")+" "+cmp.Or(keyWords[c.Key], c.Key))
		case c.Snippet == "" || strings.Contains(c.Snippet, "\n") && !strings.Contains(*c.To, " "):
			parts = append(parts, c.Key+"="+*c.To)
		default:
			snippet := strings.TrimPrefix(strings.TrimPrefix(c.Snippet, "export "), "# ") // a comment says what to take out
			parts = append(parts, strings.ReplaceAll(snippet, "\n", " "))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), cmp.Or(x.Title, x.Text))
}
