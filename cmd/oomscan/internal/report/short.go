package report

import (
	"cmp"
	"strings"
)

// Short says in four lines what ended a job, for a log: what, when, why, and what to try first. It is about the first incident that
// was not survived, and says how many more there are. Empty: there is none.
func Short(r *Report) []string {
	r = withShortNames(r)
	var in *Incident
	for i := range r.Incidents {
		if x := &r.Incidents[i]; in == nil || in.Survived && !x.Survived {
			in = x
		}
	}
	if in == nil {
		return nil
	}
	_, word := verdict(in)
	what := word + "  " + subject(r, in)
	if n := len(r.Incidents) - 1; n > 0 {
		what += moreIncidents(n)
	}
	when := []string{}
	if in.Root.Time != nil {
		when = append(when, in.Root.Time.Format("2006-01-02 15:04:05"))
	}
	if r.Run.LastStep != nil {
		when = append(when, lastStepText(*r.Run.LastStep))
	}
	why, fix := labelMissing, wordSeeTheReport
	if in.Cause != nil && in.Cause.ID != "unknown" {
		why = strings.TrimSuffix(whyText(in), ".")
	}
	if len(in.Proposals) > 0 {
		fix = cmp.Or(fixOf(&in.Proposals[0]), fix)
	}
	lines := []string{"what  " + what, "when  " + strings.Join(append(when, position(in.Root.File, in.Root.Line)), ", "), "why   " + why, "fix   " + fix}
	for i := range lines {
		lines[i] = strings.ReplaceAll(strings.ReplaceAll(lines[i], string(nbsp), " "), "\n", " ")
	}
	return lines
}
