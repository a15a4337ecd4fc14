package stream

import (
	"strings"
	"testing"
)

// TestALineOfADiffIsQuoted prints diffs with a failure in them or behind them.
func TestALineOfADiffIsQuoted(t *testing.T) {
	t.Parallel()
	const (
		oom    = " RuntimeError: CUDA error: out of memory\n"
		file   = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n"
		colors = "\x1b[1mdiff --git a/x b/x\x1b[m\n\x1b[1mindex 1..2 100644\x1b[m\n\x1b[1m--- a/x\x1b[m\n\x1b[1m+++ b/x\x1b[m\n\x1b[36m@@ -1,3 +1,3 @@\x1b[m def f():\n"
		black  = "--- a.py\t2025-06-11 08:14:02.118220+00:00\n+++ a.py\t2025-06-11 08:15:40.771032+00:00\n"
		raised = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
		merge  = "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n"
		commit = "commit 992551922134c99627d73b2b3a5273ee7a6e608e\nAuthor: A <a@b>\nDate:   Thu Feb 26 17:46:46 2026 -0800\n\n"
		mail   = "From 992551922134c99627d73b2b3a5273ee7a6e608e Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nDate: Mon, 2 Jun 2025 10:00:00 +0200\nSubject: [PATCH] retry\n\n"
	)
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a diff of black":              {black + "@@ -1,3 +1,3 @@\n \n-a\n+b\n " + raised, true},
		"one of black behind stamps":   {strings.ReplaceAll("\n"+black+"@@ -1,3 +1,3 @@\n \n-a\n+b\n "+raised, "\n", "\n2026-03-01T09:00:00.123456789Z "), true},
		"a later hunk of it":           {black + "@@ -1 +1 @@\n-a\n+b\n@@ -7,2 +7,2 @@\n x\n " + raised, true},
		"behind a diff of black":       {black + "@@ -1,1 +1,1 @@\n-a\n+b\n " + raised, false},
		"a record behind stamps":       {strings.ReplaceAll("\n"+black+"@@ -1,3 +1,3 @@\n a\nINFO step 1\n "+raised, "\n", "\n2026-03-01T09:00:00.123456789Z "), false},
		"a line that did not change":   {file + "@@ -269,3 +269,3 @@ def f():\n a\n" + oom + " b\n", true},
		"the first line of a hunk":     {file + "@@ -1,2 +1 @@\n" + oom + "-x\n", true},
		"behind changes":               {file + "@@ -1,3 +1,3 @@\n-a\n+b\n-c\n+d\n" + oom, true},
		"a hunk without counts":        {file + "@@ -1 +1 @@\n" + oom, true},
		"a file's end without newline": {file + "@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n+b\n" + oom, true},
		"a kill":                       {file + "@@ -1,2 +1,2 @@\n slurm\n slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n", true},
		"behind a hunk":                {file + "@@ -1,2 +1,2 @@\n a\n b\n" + oom, false},
		"behind what a run printed":    {file + "@@ -1,5 +1,5 @@\n a\nLoading the model\n" + oom, false},
		"without a head":               {" a\n b\n" + oom, false},
		"behind other words":           {"@@ step 1 @@\n" + oom, false},
		"a long hunk of few changes":   {file + "@@ -1,90000 +1,90000 @@\n" + strings.Repeat(" a\n", behind/3) + oom, true},
		"a log that was added":         {file + "@@ -0,0 +1,90000 @@\n" + strings.Repeat("+INFO step\n", behind/10) + "+2026-05-18 09:02:33,101 ERROR" + oom, true},
		"a log that was taken away":    {file + "@@ -1,90000 +0,0 @@\n" + strings.Repeat("-INFO step\n-\n", behind/10) + "-2026-05-18 09:02:33,101 ERROR" + oom, true},
		"a log that was changed":       {file + "@@ -1,90000 +1,90000 @@\n" + strings.Repeat("-INFO step\n+INFO loss\n a\n", behind/20) + "+2026-05-18 09:02:33,101 ERROR" + oom, true},
		"a line of a merge":            {merge + "@@@ -1,2 -1,2 +1,3 @@@ def f():\n  a\n+ b\n +2026-05-18 09:02:33,101 ERROR" + oom + "  c\n", true},
		"one that both parents had":    {strings.Replace(merge, "--cc", "--combined", 1) + "@@@ -1,2 -1,2 +1,1 @@@\n--2026-05-18 09:02:33,101 ERROR" + oom + "  c\n", true},
		"one that one parent had":      {merge + "@@@ -1,1 -1,2 +1,1 @@@\n -a\n  b\n" + strings.Repeat("\n", 3) + oom, false},
		"a merge of three":             {merge + "@@@@ -1,1 -1,1 -1,1 +1,2 @@@@\n   a\n+++2026-05-18 09:02:33,101 ERROR" + oom, true},
		"behind a merge":               {merge + "@@@ -1,2 -1,2 +1,2 @@@\n  a\n  b\n" + oom, false},
		"behind one that is cut":       {merge + "@@@ -1,9 -1,9 +1,9 @@@\n  a\n" + oom[1:], false},
		"a merge without its columns":  {merge + "@@@ -1,2 +1,2 @@@\n" + oom, false},
		"a hunk in color":              {colors + "\x1b[31m-a\x1b[m\n\x1b[32m+\x1b[m\x1b[32mb\x1b[m\n c\n" + oom, true},
		"behind what a run colors":     {colors + "\x1b[31m-a\x1b[m\n\x1b[36m(Worker pid=1)\x1b[0m step 1\n" + oom, false},
		"behind a hunk in color":       {colors + " a\n\x1b[31m-b\x1b[m\n\x1b[32m+\x1b[m\x1b[32mb\x1b[m\n c\n" + oom, false},
		"a hunk in color behind pods":  {strings.ReplaceAll("\n"+colors+"\x1b[31m-a\x1b[m\n\x1b[32m+\x1b[m\x1b[32mb\x1b[m\n c\n"+oom, "\n", "\n2026-03-01T09:00:00.123456789Z "), true},
		"a log as a list":              {strings.Repeat("- INFO step\n", behind/10) + "- 2026-05-18 09:02:33,101 ERROR" + oom, false},
		"an indented log":              {strings.Repeat("  INFO step\n", behind/10) + " " + oom, false},
		"a commit's message":           {commit + strings.Repeat("    Fails so:\n    \n\n", 100) + "   " + oom, true},
		"a commit's long message":      {commit + strings.Repeat("    Fails so:\n\n", behind/7) + "   " + oom, true},
		"a worker's traceback in one":  {commit + strings.Repeat("    Fails so:\n\n", 200) + "    [rank0]:" + oom, true},
		"one behind stamps":            {strings.ReplaceAll(commit+strings.Repeat("    Fails so:\n", 200)+"   "+oom, "\n", "\n2026-03-01T09:00:00.123456789Z "), true},
		"a commit's full message":      {"Author:     A <a@b>\nAuthorDate: Thu\nCommit:     A <a@b>\nCommitDate: Thu Feb 26 17:46:46 2026 -0800\n\n    Fix it\n" + "   " + oom, true},
		"behind a commit's message":    {commit + "    Fix it\nstep 1\n   " + oom, false},
		"behind a long message":        {commit + strings.Repeat("    Fails so:\n\n", behind/7) + "step 1\n   " + oom, false},
		"behind a commit and its diff": {commit + "    Fix it\n\n" + file + "@@ -1 +1 @@\n-a\n+b\n" + oom, false},
		"below a date":                 {"Date:   Thu Feb 26 17:46:46 2026 -0800\n   " + oom, false},
		"a mail":                       {"Date: Thu, 26 Feb 2026 17:46:46 -0800\n\n    step 1\n   " + oom, false},
		"a commit as a mail":           {mail + "We saw\n\n " + oom + "\n---\n x | 2 +-\n", true},
		"a mail behind stamps":         {strings.ReplaceAll("\n"+mail+"We saw\n\n "+oom+"\n---\n x | 2 +-\n", "\n", "\n2026-03-01T09:00:00.123456789Z "), true},
		"behind a commit as a mail":    {mail + "Fix it\n---\n x | 2 +-\n\n" + file + "@@ -1 +1 @@\n-a\n+b\n-- \n2.43.0\n" + oom, false},
		"behind a mail without files":  {mail + "Fix it\n---\n" + oom, false},
		"behind a mail without an end": {mail + strings.Repeat("Fix it\n", beforeFiles) + oom, false},
		"a mail of somebody":           {"From a@b Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\n" + oom, false},
		"behind a long hunk":           {file + "@@ -0,0 +1,90000 @@\n" + strings.Repeat("+INFO step\n", behind/10) + "Loading the model\n" + oom, false},
	} {
		for _, head := range []bool{true, false} {
			assertQuoted(t, c.quoted, filler+c.log, head, name)
		}
	}
}
