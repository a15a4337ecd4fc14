package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestALineOfADiffIsQuoted prints diffs with a failure in them or behind them.
func TestALineOfADiffIsQuoted(t *testing.T) {
	t.Parallel()
	const oom = " RuntimeError: CUDA error: out of memory\n"
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a line that did not change":   {"@@ -269,3 +269,3 @@ def f():\n a\n" + oom + " b\n", true},
		"the first line of a hunk":     {"@@ -1,2 +1 @@\n" + oom + "-x\n", true},
		"behind changes":               {"@@ -1,3 +1,3 @@\n-a\n+b\n-c\n+d\n" + oom, true},
		"a hunk without counts":        {"@@ -1 +1 @@\n" + oom, true},
		"a file's end without newline": {"@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n+b\n" + oom, true},
		"a kill":                       {"@@ -1,2 +1,2 @@\n slurm\n slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n", true},
		"behind a hunk":                {"@@ -1,2 +1,2 @@\n a\n b\n" + oom, false},
		"behind what a run printed":    {"@@ -1,5 +1,5 @@\n a\nLoading the model\n" + oom, false},
		"without a head":               {" a\n b\n" + oom, false},
		"behind other words":           {"@@ step 1 @@\n" + oom, false},
		"a long hunk of few changes":   {"@@ -1,90000 +1,90000 @@\n" + strings.Repeat(" a\n", behind/3) + oom, false},
		"a log that was added":         {"@@ -0,0 +1,90000 @@\n" + strings.Repeat("+INFO step\n", behind/10) + "+2026-05-18 09:02:33,101 ERROR" + oom, true},
		"a log that was taken away":    {"@@ -1,90000 +0,0 @@\n" + strings.Repeat("-INFO step\n-\n", behind/10) + "-2026-05-18 09:02:33,101 ERROR" + oom, true},
		"a log that was changed":       {"@@ -1,90000 +1,90000 @@\n" + strings.Repeat("-INFO step\n+INFO loss\n a\n", behind/20) + "+2026-05-18 09:02:33,101 ERROR" + oom, true},
		"a log as a list":              {strings.Repeat("- INFO step\n", behind/10) + "- 2026-05-18 09:02:33,101 ERROR" + oom, false},
		"an indented log":              {strings.Repeat("  INFO step\n", behind/10) + " " + oom, false},
		"a commit's message":           {"Author: A <a@b>\nDate:   Thu Feb 26 17:46:46 2026 -0800\n\n" + strings.Repeat("    Fails so:\n    \n\n", 100) + "   " + oom, true},
		"a commit's full message":      {"CommitDate: Thu Feb 26 17:46:46 2026 -0800\n\n    Fix it\n" + "   " + oom, true},
		"behind a commit's message":    {"Date:   Thu Feb 26 17:46:46 2026 -0800\n\n    Fix it\nstep 1\n   " + oom, false},
		"below a date":                 {"Date:   Thu Feb 26 17:46:46 2026 -0800\n   " + oom, false},
		"a mail":                       {"Date: Thu, 26 Feb 2026 17:46:46 -0800\n\n    step 1\n   " + oom, false},
		"behind a long hunk":           {"@@ -0,0 +1,90000 @@\n" + strings.Repeat("+INFO step\n", behind/10) + "Loading the model\n" + oom, false},
	} {
		for _, head := range []bool{true, false} {
			at, quoted := eventLines(t, filler+c.log, head)
			assert.Equal(t, c.quoted, len(at) == 0, "%s (head: %v)", name, head)
			assert.Equal(t, c.quoted, quoted > 0, "%s (head: %v)", name, head)
		}
	}
}
