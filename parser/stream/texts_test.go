package stream

import (
	"strings"
	"testing"
)

// TestTextsThatAProgramWorksOnAreQuoted puts failures into rows of classifiers and searches, into what TeX could not fit, and into two columns.
func TestTextsThatAProgramWorksOnAreQuoted(t *testing.T) {
	t.Parallel()
	const (
		oom   = "RuntimeError: CUDA error: out of memory\n"
		kill  = "Out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:1kB, file-rss:0kB\n"
		cg    = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
		font  = "[]\\T1/cmtt/m/n/10 "
		box   = "Overfull \\hbox (41.7pt too wide) in paragraph at lines 88--91\n"
		wide  = font + "The job ends with the following words in the standard error of its step:\n"
		query = "#> why does it stop\n\n"
		one   = "\t [1] \t\t 23.9 \t\t "
		two   = "\t [2] \t\t 22.5 \t\t "
		sides = "batch = 4                                | batch = 8\n                                         > retry = True\n"
		list  = "70\t    rc = cudaMalloc(&p->next, want);\n71\t    if (rc != cudaSuccess) {\n"
		words = "46\n47\t/* Says the same as torch:\n"
		tabs  = "batch = 4\t\t\t\t|\tbatch = 8\nlines = 16\t\t\t\t<\n"
	)
	side := func(sign, text string) string { return strings.Repeat(" ", 41) + sign + " " + text }
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"what gdb lists":                    {list + "72\t        full(p, want);   // tells of \"" + strings.TrimSpace(oom) + "\" to all\n", true},
		"a comment in it":                   {words + "48\t * " + kill + "49\t */\n", true},
		"what cat -n shows of a script":     {"     1\t#!/bin/bash\n     2\texport X=1\n     3\tcat <<EOF\n     4\t" + cg, true},
		"what cat -n shows of a module":     {"     8\tdef explain():\n     9\t    return TEXT\n    10\t\n    11\t" + oom, true},
		"what lldb lists":                   {"   70  \t    rc = cudaMalloc(&p->next, want);\n-> 71  \t    if (rc != cudaSuccess) {\n   72  \t        " + kill, true},
		"a failure behind a listing":        {list + oom, false},
		"a number that does not go on":      {list + "74\t" + oom, false},
		"a log with numbers":                {"1\tstep 1\n2\tstep 2\n3\t" + oom, false},
		"a traceback with numbers":          {"5\tTraceback (most recent call last):\n6\t  File \"x.py\", line 3, in f\n7\t    return g(x)\n8\t  File \"x.py\", line 9, in g\n9\t    return h(x)\n10\t" + oom, false},
		"settings with numbers":             {"1\t{\n2\t  \"a\": {\n3\t  }\n4\t}\n5\t" + oom, false},
		"such a log with times":             {"1\timport done;\n2\t10:00:01 queue a;\n3\t10:00:02 queue b;\n4\t" + oom, false},
		"a comment that is over":            {words + "48\t */\n49\t" + oom, false},
		"a class and its text":              {"__label__gpu 0.991000\t" + oom, true},
		"a text with its classes":           {"__label__gpu __label__3-x " + cg, true},
		"a rank before it":                  {"__label__gpu 0.991000\t[rank3]: " + oom, true},
		"a score without a class":           {"label_gpu 0.991000\t" + oom, false},
		"a failure with a class":            {"failed on __label__gpu: " + oom, false},
		"a text that is too wide":           {box + font + kill + "[63]\n", true},
		"the line below it":                 {box + wide + " " + cg, true},
		"a text that is too short":          {"Underfull \\hbox (badness 10000) in paragraph at lines 2--7\n\\OT1/cmr/m/n/10.95 " + cg, true},
		"a failure behind a short text":     {box + font + "in short\n" + kill, false},
		"a failure behind a wide text":      {box + wide + "[]\n" + kill, false},
		"a failure behind its place":        {box + kill, false},
		"a font without a place":            {"step 1\n" + font + kill, false},
		"the best passage":                  {query + one + kill + two + "Lower it.\n", true},
		"its third":                         {query + one + "Look.\n" + two + "And look.\n\t [3] \t\t 9.1 \t\t " + cg, true},
		"a passage that no other follows":   {query + one + kill + "killed\n", false},
		"one with a higher score behind it": {query + one + kill + "\t [2] \t\t 24.1 \t\t done\n", false},
		"seconds that go on":                {query + one + "Look.\n\t [2] \t\t 24.1 \t\t " + kill, false},
		"another place":                     {query + one + "Look.\n\t [3] \t\t 22.5 \t\t " + kill, false},
		"a table of trials":                 {"\n\t trial \t\t score \t\t state\n" + one + "done\n" + two + oom, false},
		"the first row of such a table":     {"\n\t trial \t\t score \t\t state\n" + one + oom + two + "done\n", false},
		"ranks with their seconds":          {"\n[1] 23.9 " + oom + "[2] 22.5 " + oom, false},
		"a row of texts and classes":        {"2 wrong examples (text | gold | predicted):\n0: it hangs | other | timeout\n1: " + strings.TrimSpace(oom) + " | oom | other\n", true},
		"one with a cell less":              {"2 wrong examples (text | gold | predicted):\n0: it hangs | other | timeout\n1: " + strings.TrimSpace(oom) + " | oom\n", false},
		"a row of ranks and errors":         {"2 failed ranks (rank | host | error):\n0 | n1 | done\n3 | n2 | " + oom, false},
		"a message with its rank":           {"2 failed ranks (message | rank):\nit hangs | 1\n" + strings.TrimSpace(oom) + " | 3\n", false},
		"a source with a message":           {"Source    : n1\nMessage   : done\n\nSource    : n3 " + oom, false},
		"code before a cursor":              {`segments: {"language": "python", "prefix": "# ` + strings.TrimSpace(oom) + `\n", "suffix": ""}` + "\n", true},
		"another value of a request":        {`failed: {"language": "python", "error": "` + strings.TrimSpace(oom) + `"}` + "\n", false},
		"a source below another record":     {"Source    : a plot\nTarget    : one\nPrediction: two\n\nSource    : why " + oom, true},
		"a source of no other record":       {"rank: 3\nSource    : " + oom, false},
		"a context of the next question":    {"Context: it is full\nQuestion: why\nAnswer: so\n\nContext: it said " + oom, true},
		"a context of an error":             {"Context: rank 3\nError: why\n\nContext: it said " + oom, false},
		"a line of the new file":            {sides + side(">", oom), true},
		"a line of the old file":            {sides + strings.TrimSpace(oom) + "  <\n", true},
		"with tabs":                         {tabs + "\t\t\t\t\t>\t" + kill, true},
		"the second line":                   {sides[:strings.Index(sides, "\n")+1] + side(">", oom), false},
		"a table":                           {strings.Repeat("step 1                                   | done\n", 3) + "rank 3                                   | " + oom, false},
		"a sign elsewhere":                  {sides + " " + side(">", oom), false},
		"a failure behind them":             {sides + oom, false},
		"a prompt far to the right":         {"the run goes on\nand on\n" + side(">", kill), false},
	} {
		for _, head := range []bool{true, false} {
			assertQuoted(t, c.quoted, filler+c.log, head, name)
		}
	}
}
