package stream

import (
	"strings"
	"testing"
)

// TestABoxAroundTextsQuotesThem puts a failure into the tables, panels and rows that programs draw.
func TestABoxAroundTextsQuotesThem(t *testing.T) {
	t.Parallel()
	const (
		posts  = "┌────┬───────┬──────┐\n│ id │ title │ body │\n│ int64 │ varchar │ varchar │\n├────┼───────┼──────┤\n"
		rank   = "┏━━━━┳━━━━━━┳━━━━━━━┓\n┃ rank ┃ status ┃ error ┃\n┡━━━━╇━━━━━━╇━━━━━━━┩\n"
		first  = "│ 7 │ first │ hello │\n"
		row    = "│ 59129812 │ OOM │ torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. │\n"
		user   = "╭─ user ─────────╮\n│ Classify it. │\n│              │\n"
		panel  = "│ slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed. │\n╰───────╯\n"
		raised = "│ torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. │\n╰───────╯\n"
		chosen = "[rm eval] #10\n    prompt   | Why?\n    chosen   | Look at\n"
		kill   = "             | Out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:1kB, file-rss:0kB\n"
		spark  = "+-------+------------+\n|job_id |last_line   |\n+-------+------------+\n|8812041|step 1      |\n"
		told   = "|8812107|slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.|\n"
		record = "-[ RECORD 1 ]--------\nid    | 90413\nstate | solved\nempty |\nbody  | The log ends with +\n"
	)
	within := func(box string) string { // a panel
		return "╭──── Step 1 ────╮\n│ " + strings.ReplaceAll(strings.TrimSuffix(box, "\n"), "\n", " │\n│ ") + " │\n"
	}
	ascii := strings.NewReplacer("│", "|", "┌────┬───────┬──────┐", "+----+---+---+", "├────┼───────┼──────┤", "+----+---+---+")
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a frame that Spark shows":        {spark + told, true},
		"one whose cells are cut":         {strings.Replace(spark, "|job_id |last_line   |", "| job_id|   last_line|", 1) + told, true},
		"one that holds errors":           {strings.Replace(spark, "last_line", "error    ", 1) + told, false},
		"a table with blanks at bars":     {strings.Replace(spark, "|job_id |last_line   |", "| job_id | last_line |", 1) + told, false},
		"a row behind a frame":            {spark + "+-------+------------+\nstep 1\n" + told, false},
		"a table of posts":                {posts + row, true},
		"its second row":                  {posts + first + row, true},
		"a table within a panel":          {within(posts + row), true},
		"a table of ranks within one":     {within(rank + row), false},
		"a row behind a table within one": {within(posts + "└────┴───────┴──────┘\n" + row), false},
		"a panel within a panel":          {within(user + raised), true},
		"an error within a panel":         {within(strings.Replace(user, "─ user", "─ Error", 1) + raised), false},
		"a table of ASCII":                {ascii.Replace(posts + first + row), true},
		"a table of ranks":                {rank + row, false},
		"a table of trials":               {strings.NewReplacer("title", "trial", "body", "text").Replace(posts) + row, false},
		"a table of jobs":                 {strings.Replace(posts, "id", "job_id", 1) + row, false},
		"a table of models":               {strings.NewReplacer("title", "model", "body", "result").Replace(posts) + row, false},
		"records of a log":                {strings.NewReplacer("title", "level", "body", "text").Replace(posts) + row, false},
		"columns of other things":         {strings.NewReplacer("title", "name", "body", "value").Replace(posts) + row, false},
		"a row without a table":           {"the run goes on\n" + row, false},
		"a row behind a table":            {posts + first + "└────┴───────┴──────┘\n" + row, false},
		"what a user asked":               {user + panel, true},
		"an answer":                       {strings.Replace(user, "─ user", "─ Assistant", 1) + panel, true},
		"what a tool printed":             {strings.Replace(user, "─ user", "─ Tool #1 output: kubectl_describe", 1) + panel, true},
		"the result of a tool":            {strings.Replace(user, "─ user", "─ Tool Result", 1) + panel, true},
		"a tool that failed":              {strings.Replace(user, "─ user", "─ Tool #1 error", 1) + panel, false},
		"the output of a job":             {strings.Replace(user, "─ user", "─ Job #1 output: train", 1) + panel, false},
		"an error":                        {strings.Replace(user, "─ user", "─ Error", 1) + panel, false},
		"a rank":                          {strings.Replace(user, "─ user", "─ rank 3", 1) + panel, false},
		"a part of a help":                {strings.Replace(user, "─ user", "─ train options", 1) + panel, true},
		"commands of a help":              {strings.Replace(user, "─ user", "─ Commands", 1) + panel, true},
		"an option of a help":             {"╭─ Memory ───╮\n│ --oom, -o  TEXT  After " + panel[len("│ "):], true},
		"further text of an option":       {"╭─ Memory ───╮\n│ *  --oom   TEXT  After              │\n│                  or                 │\n│                " + panel[len("│ "):], true},
		"behind the text of an option":    {"╭─ Memory ───╮\n│ *  --oom   TEXT  After              │\n" + panel, false},
		"a failure of a command":          {"╭─ Runs ───╮\n│ --batch 8: " + panel[len("│ "):], false},
		"a failure beside its command":    {"╭─ Runs ───╮\n│ --batch 8    " + panel[len("│ "):], false},
		"options that failed":             {strings.Replace(user, "─ user", "─ options: error", 1) + panel, false},
		"an error below a help":           {strings.Replace(user, "─ user", "─ options", 1) + "╰──────╯\n" + strings.Replace(user, "─ user", "─ Error", 1) + panel, false},
		"a system":                        {strings.Replace(user, "─ user", "─ system", 1) + panel, false},
		"a panel without a title":         {strings.Replace(user, "─ user", "─", 1) + panel, false},
		"behind what a user asked":        {user + "╰──────╯\n" + panel, false},
		"a failure behind a panel":        {user + "╰──────╯\n" + strings.Trim(kill, " |"), false},
		"an answer that was chosen":       {chosen + kill, true},
		"the line of its label":           {"    chosen   | Out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:1kB, file-rss:0kB\n", true},
		"a kill of a service":             {strings.ReplaceAll(chosen, "chosen", "worker") + kill, false},
		"a service of Compose":            {"prompt       | started\nprompt       | Out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:1kB, file-rss:0kB\n", false},
		"a column of a record":            {record + "      | " + strings.TrimLeft(kill, " |"), true},
		"its first line":                  {record[:strings.Index(record, "body")] + "body  | " + strings.TrimLeft(kill, " |"), true},
		"a column with an error":          {strings.Replace(record, "body ", "error", 1) + "      | " + strings.TrimLeft(kill, " |"), false},
		"a record without its head":       {record[strings.Index(record, "id"):] + "      | " + strings.TrimLeft(kill, " |"), false},
		"a record behind a stamp":         {strings.ReplaceAll("\n"+record+"      | "+strings.Trim(kill, " |\n"), "\n", "\n2026-03-01T09:00:00.123456789Z ") + "\n", true},
		"a record of a service":           {strings.ReplaceAll("\n"+record+"      | "+strings.Trim(kill, " |\n"), "\n", "\ntrainer-1  | ") + "\n", true},
		"a service named like a column":   {strings.Repeat("body  | started\n", 200) + "body  | " + strings.TrimLeft(kill, " |"), false},
		"a failure behind a record":       {record + "\nbody  | " + strings.TrimLeft(kill, " |"), false},
		"a bar without a label":           {"the run goes on\n" + kill, false},
		"a failure behind such an answer": {chosen + "[rm eval] done\n" + kill, false},
	} {
		for _, head := range []bool{true, false} {
			assertQuoted(t, c.quoted, filler+c.log, head, name)
		}
	}
}
