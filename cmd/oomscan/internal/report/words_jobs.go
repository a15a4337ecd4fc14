package report

import (
	"fmt"
	"strings"
)

// This file has the words about several jobs.

const (
	badgeWordSuspects = "SUSPECTS"
	badgeWordNoJob    = "NO JOB"

	wordRepeated    = "Repeated failures"
	wordHurt        = "Jobs with incidents"
	labelOneJob     = "one job"
	labelFix        = "fix   "
	labelFile       = "file  "
	wordSharedLogs  = "( ) marks a log that several jobs share: its row is about what belongs to no single job"
	wordOfThese     = "of these"
	wordPlace       = "place"
	wordPlaces      = "places"
	wordJob         = "job "
	wordNoneMatches = "no job matches"
)

// heads are the columns of the table of jobs.
var heads = [tableColumns]string{"job", "kind", "phase", "cause", "first failure"}

// jobsHeadline is the verdict on all jobs together.
func jobsHeadline(s *Summary) (ground ink, word, text string) {
	jobs := count(s.Jobs, "job", "jobs")
	switch {
	case s.Jobs == 0:
		return badgeSuspect, badgeWordNoJob, wordNoneMatches
	case s.Memory > 0:
		return badgeMemory, badgeWordMemory, fmt.Sprintf("in %s of %s", grouped(s.Memory), jobs)
	case s.Suspect > 0:
		return badgeSuspect, badgeWordSuspects, fmt.Sprintf("in %s of %s, nothing proven", grouped(s.Suspect), jobs)
	case s.Survived > 0:
		return badgeSurvived, badgeWordSurvived, fmt.Sprintf("%s of %s went on", grouped(s.Survived), jobs)
	}
	return badgeCalm, badgeWordNone, "in " + jobs
}

// jobCounts say how many jobs had which end, where not all had the same.
func jobCounts(s *Summary) []string {
	var out []string
	for _, x := range []struct {
		n    int
		text string
	}{{s.Memory, "out of memory"}, {s.Suspect, "suspect, not proven"}, {s.Survived, "survived"}, {s.Healthy, "without an incident"}} {
		if x.n > 0 && x.n < s.Jobs {
			out = append(out, grouped(x.n)+string(nbsp)+x.text)
		}
	}
	return out
}

// matchText says how many of all jobs the flags choose.
func matchText(n, all int) string {
	return fmt.Sprintf("%s of %s match the filters (--kind, --host, --since)", grouped(n), count(all, "job", "jobs"))
}

// moreJobs says how many jobs the table leaves out.
func moreJobs(g *glyphs, n int) string {
	return fmt.Sprintf("%s and %s with incidents: --all shows them", g.ellipsis, count(n, "more job", "more jobs"))
}

// andMore counts what a list leaves out.
func andMore(g *glyphs, n int) string { return fmt.Sprintf("%s and %s more", g.ellipsis, grouped(n)) }

// text says what failed more than once.
func (r *Repeat) text(g *glyphs) string {
	cause := r.Kind
	if r.Phase != "" && r.Phase != "unknown" {
		cause += " in " + r.Phase
	}
	switch {
	case r.How == "restarted" && len(r.Jobs) > 1:
		return fmt.Sprintf("%s jobs were restarted and failed the same way: %s (%s).", grouped(len(r.Jobs)), cause, some(g, r.Jobs))
	case r.How == "restarted":
		return fmt.Sprintf("Job %s failed %d times the same way: %s.", r.Work, r.Times, cause)
	case r.How == "array":
		return fmt.Sprintf("%d of %d tasks of array %s failed the same way: %s (%s).", r.Times, r.Of, r.Work, cause, some(g, r.Jobs))
	}
	each := fmt.Sprintf("%d times", r.Times)
	if r.Times == r.Of {
		each = "each time"
	}
	return fmt.Sprintf("%s was submitted %d times and failed %s the same way: %s (jobs %s).", r.Work, r.Of, each, cause, some(g, r.Jobs))
}

// text says where the first failure was again and again.
func (x *Place) text(g *glyphs) string {
	what, names := "host "+x.Host, "a host"
	if x.Device != nil {
		what, names = fmt.Sprintf("GPU %d of host %s", *x.Device, x.Host), "a GPU"
	}
	return fmt.Sprintf("The first failure was on %s in %d of %s %s (jobs %s).", what, len(x.Jobs), count(x.Of, "job that names", "jobs that name"), names, some(g, x.Jobs))
}

// some names the first few.
func some(g *glyphs, names []string) string {
	if len(names) <= mostNames {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:mostNames], ", ") + " " + andMore(g, len(names)-mostNames)
}

// groupedBy says what keeps a job's logs together.
func groupedBy(why string) string {
	if why == "" {
		return ""
	}
	return ", grouped by " + why
}

// memoryInJobs is the headline above an overview of jobs.
func memoryInJobs(s *Summary) string {
	return fmt.Sprintf("%s of %s ran out of memory", grouped(s.Memory), count(s.Jobs, "job", "jobs"))
}
