package stream

import (
	"strings"
	"testing"
)

// TestAReportOfOtherRunsIsQuoted prints excerpts of logs in a report, within the log of a job, and what looks like one.
func TestAReportOfOtherRunsIsQuoted(t *testing.T) {
	t.Parallel()
	const (
		kill  = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
		begun = "2026-03-01T05:00:01Z triage: start\n## Nightly triage\n\n"
		told  = "**run 4410 (owner: jo)** died in backward on rank 6:\n\n"
		shown = "```\n" + oomReport + "srun: error: n1: task 6: Exited with exit code 1\n```\n\n"
		why   = "The micro batch went from 1 to 2. Suggest going back.\n\n"
		also  = "Run 4415 was killed on the host:\n```text\n" + kill + "```\n"
		ends  = "2026-03-01T05:02:47Z triage: done, exit 0\n"
	)
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"an excerpt":                     {begun + told + shown + why + ends, true},
		"two excerpts":                   {begun + told + shown + why + also + why + ends, true},
		"one right below another":        {begun + told + shown + also + why + ends, true},
		"a heading below":                {begun + told + shown + "## What to do\n" + ends, true},
		"the stamp of a collector":       {"2026-03-01T10:00:00Z " + strings.TrimSuffix(strings.ReplaceAll(told+shown+why+"triage done, exit 0\n", "\n", "\n2026-03-01T10:00:00Z "), "2026-03-01T10:00:00Z "), true},
		"a job that says nothing":        {begun + told + shown + why, false},
		"a job that fails":               {begun + told + shown + why + "triage: done, exit 1\n", false},
		"a job that is killed":           {begun + told + shown + why + kill + ends, false},
		"what a script's commands print": {"## Training\n```\n$ python train.py\n" + oomReport + "```\n" + ends, false},
		"with a status behind":           {"## Training\nThe output of the training follows here:\n```\n" + oomReport + "```\nResult: FAIL\n" + ends, false},
		"all of a run":                   {begun + "The output of the training follows here:\n```\n" + strings.Repeat("loading\n", longestExcerpt) + oomReport + "```\n" + why + ends, false},
		"a failure behind an excerpt":    {begun + told + "```\nhello\n```\n" + why + oomReport + ends, false},
		"an excerpt that never ends":     {begun + told + "```\n" + oomReport + why + ends, false},
		"a person's issue":               {"When running the example I get the error:\n\n" + shown + "Any help with this would be appreciated.\n", false},
	} {
		for _, head := range []bool{true, false} {
			assertQuoted(t, c.quoted, filler+c.log, head, name)
		}
	}
}
