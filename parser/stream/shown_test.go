package stream

import (
	"strings"
	"testing"
)

// TestWhatAProgramShowsIsQuoted puts failures into what programs show, and behind it.
func TestWhatAProgramShowsIsQuoted(t *testing.T) {
	t.Parallel()
	const (
		oom   = "RuntimeError: CUDA error: out of memory\n"
		kill  = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
		help  = "Usage: train [OPTIONS] CONFIG\n\n  Trains a model.\n\nOptions:\n  --batch INTEGER  Samples.\n"
		page  = "SBATCH(1)                Slurm Commands                SBATCH(1)\n\nNAME\n       sbatch - Submit a script.\n\nEXIT STATUS\n       The file holds\n\n"
		codes = "JOB STATE CODES\n       BF  BOOT_FAIL\n              The job was terminated, typically because of a failure of the hardware (e.g. a node\n              did not boot and the job can not be queued again).\n\n" +
			"       PR  PREEMPTED\n              The job was terminated due to preemption.\n\n       If a job was killed for its memory then sacct prints that, and so\n       the standard error of it holds\n\n"
		foot  = "       0\n\nSlurm Commands           June 2025           SBATCH(1)\n"
		rows  = "                  prompt        completion  reward\n0  Write a poem about it   Leaves drift down     0.5\n"
		topic = "   Topic  Count  Representative_Docs\n0     -1   9121  [Error when loading]\n"
		near  = "topic 2, nearest documents:\n  0.931  RuntimeError: step\n"
		often = "   count  line\n  639456  npm ERR! code ELIFECYCLE\n  581837  make: *** [Makefile:12: all] Error 2\n"
		found = "[1] (score 0.83, kb/slurm/oom.md)\n    The log of the job says\n"
		codex = "[2025-09-02T10:00:09] bash -lc 'tail slurm-7.err' succeeded in 21ms:\n"
		tests = "==== PASSES ====\n____ test_x ____\n---- Captured log call ----\n"
		dump  = "  <row Id=\"10\" PostTypeId=\"1\" Body=\"&lt;pre&gt;Hello&#xA;"
		unit  = "# /etc/x.service\n[Service]\nOOMPolicy=continue\n\n# the kernel then says\n"
		task  = "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=python,pid=41,uid=0\n"
		sent  = "[2024-02-20 08:01:19,232 INFO] \nSENT 213: ['Der', 'Fehler']\n"
		took  = "Line #      Hits         Time  Per Hit   % Time  Line Contents\n==============================================================\n    93       400       2210.4      5.5      0.0      try:\n"
		texts = "---------- Result 3 ----------\n[[3 (99%)]] --> [[2 (52%)]]\n\n"
		lit   = "PASS: trace :: kmsg/x.test (1 of 6)\n******************** TEST 'trace :: kmsg/x.test' RESULTS ********************\nExit Code: 0\n\nCommand Output (stdout):\n--\n# RUN: at line 1\n"
		tool  = "● Bash(python main.py)\n  ⎿  step 1\n     Traceback (most recent call last):\n"
		call  = "\nTool call: tail({'path': 'logs/7.err', 'n': 3})\n  step 1\n"
	)
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a traceback that an agent sees":    {"Action: tail\nObservation: [rank2]:   File \"a.py\", line 9, in f\n[rank2]:     g()\n[rank2]: " + oom, true},
		"from its first line on":            {"[step 4] Tool output: (W pid=7) Traceback (most recent call last):\n(W pid=7)   File \"a.py\", line 9, in f\n(W pid=7)     g()\n(W pid=7) " + oom, true},
		"a rank behind an observation":      {"Observation: [rank2]: done\n[rank2]: " + oom, false},
		"a rank that an agent does not see": {"Observation: [rank2]:   File \"a.py\", line 9, in f\n[rank2]:     g()\nThought: so\n[rank2]: " + oom, false},
		"another rank":                      {"Observation: [rank2]:   File \"a.py\", line 9, in f\n[rank2]:     g()\n[rank3]: " + oom, false},
		"a traceback behind another word":   {"Failed: [rank2]:   File \"a.py\", line 9, in f\n[rank2]:     g()\n[rank2]: " + oom, false},
		"what a linter finds":               {"Linting: 84 file(s)\ndocs/faq.md:31 MD024/no-duplicate-heading Multiple headings [Context: \"" + kill[:len(kill)-1] + "\"]\n", true},
		"what a checker of types finds":     {"/x/a.py\n  /x/a.py:57:9 - error: Argument of type \"Literal['" + oom[:len(oom)-1] + "']\" is no int\n", true},
		"the lines below it":                {"/x/a.py\n  /x/a.py:57:9 - error: Argument is no int\n    \"Literal['" + oom[:len(oom)-1] + "']\" is not assignable to \"int\"\n", true},
		"a line below its place":            {"error: `untill` should be `until`\n  --> docs/slurm.md:41:71\n   |\n41 | " + kill + "   |          ^^^^^^\n", true},
		"a service that has a number":       {"41 | ready\n41 | " + kill, false},
		"a test of Robot Framework":         {"Suite :: Jobs\n" + oom[:len(oom)-1] + " In The Pane  | PASS |\n", true},
		"one that fails":                    {"Suite :: Jobs\nShows the pane  | FAIL |\n" + oom, false},
		"a span with a prompt":              {"    \"attributes\": {\n        \"gen_ai.prompt.1.content\": \"It says " + oom[:len(oom)-1] + "\",\n", true},
		"a span with an error":              {"    \"attributes\": {\n        \"exception.message\": \"" + oom[:len(oom)-1] + "\",\n", false},
		"an error with its place":           {"2 workers\nx/y.py:31: error: " + oom, false},
		"a sample of WebDataset":            {"first sample:\n{'__key__': 'a/7', 'txt': b'It ends with: " + oom[:len(oom)-1] + "'}\n", true},
		"a row that goes into a database":   {"2026-11-30 06:00:01,100 INFO sqlalchemy.engine.Engine [generated in 0.00031s] {'id': 9, 'message': '" + oom[:len(oom)-1] + "'}\n", true},
		"a failure of the database":         {"2026-11-30 06:00:01,100 INFO sqlalchemy.engine.Engine COMMIT\n" + oom, false},
		"a page that an agent sees":         {"RootWebArea 'Issue 1423', focused\n\t[b120] code ''\n\t\tStaticText '" + oom[:len(oom)-1] + "'\n", true},
		"with a column":                     {"x/y.py:31:80: E501 line too long: " + oom, true},
		"a record with its place":           {"2 workers\nx/y.py:31: " + oom, false},
		"a code of the program's own":       {"2 workers\nx/y.py:31: step E501: " + oom, false},
		"a text that is decoded":            {"  tokens : ['a']\n  decoded: a\n  equal  : True\n  tokens : ['b']\n  decoded: " + kill + "  equal  : True\n", true},
		"the first of them":                 {"  tokens : ['b']\n  decoded: " + kill, false},
		"errors one below the other":        {"  rank   : 0\n  error  : none\n  rank   : 1\n  error  : " + oom, false},
		"on several lines":                  {"msgid \"\"\n\"It ends with \"\n\"" + kill[:len(kill)-1] + "\"\n", true},
		"a log whose lines are quoted":      {"\"step 1\"\n\"" + kill[:len(kill)-1] + "\"\n", false},
		"what a model translates":           {sent + "PRED 213: " + kill + "PRED SCORE: -1.3\n", true},
		"what it should have":               {sent + "PRED 213: An error\nPRED SCORE: -1.3\nGOLD 213: " + oom, true},
		"of another sentence":               {sent + "PRED 214: " + kill, false},
		"a prediction alone":                {"the run goes on\nPRED 213: " + kill, false},
		"a failure behind a translation":    {sent + "PRED 213: An error\nPRED SCORE: -1.3\n" + kill, false},
		"a line of a profile":               {took + "    95                                                   raise " + oom, true},
		"of memory":                         {"Line #    Mem usage    Increment  Occurrences   Line Contents\n" + strings.Repeat("=", 60) + "\n    95    110.2 MiB      0.0 MiB           1       # " + oom, true},
		"a failure behind a profile":        {took + "\n    95   " + oom, false},
		"a task behind a profile":           {took + "0: " + oom, false},
		"numbers without a profile":         {"Line Contents follow\n    95    " + oom, false},
		"a text that is attacked":           {texts + kill + "\nchanged\n", true},
		"what an attack made of it":         {texts + "a text\n\n" + kill, true},
		"a failure behind an attack":        {texts + "a text\n\nchanged\n\n\n" + kill, false},
		"a failure behind one that failed":  {strings.Replace(texts, "[2 (52%)]", "[[FAILED]]", 1) + "a text\n\n\n" + kill, false},
		"click's help":                      {help + "  --retry          After\n                   " + oom, true},
		"click's help in its words":         {help[:len("Usage: train [OPTIONS] CONFIG\n\n")] + "  Trains. It may print " + oom, true},
		"an error below click's usage":      {"Usage: train [OPTIONS] CONFIG\nTry 'train --help' for help.\n\n  " + oom, false},
		"a run below click's help":          {help + "training\n    " + oom, false},
		"how much of a card is used":        {"Usage: 92% of the card\n    " + oom, false},
		"a heading of a run":                {help + "WARNING\n    " + oom, false},
		"a page of a manual":                {page + "              " + kill, true},
		"behind a page of a manual":         {page + foot + "    " + kill, false},
		"a run behind its head":             {page + "training\n    " + kill, false},
		"a call at both ends":               {"step(1) runs step(2)\n    " + kill, false},
		"two counts":                        {"GPU0(1)   GPU1(1)\n    " + kill, false},
		"a section of a page":               {codes + "           " + kill, true},
		"a run behind a section":            {codes + "EXAMPLES\n+ python train.py\n           " + kill, false},
		"a run behind the last section":     {codes + "EXAMPLES\n           " + kill, false},
		"a report with a few words":         {"JOB SUMMARY\n       The job on this node was killed by the system.\n       See the last lines of its log for the reason.\n\n           " + kill, false},
		"a log below a heading":             {"JOB LOG\n" + strings.Repeat("       10:00:01 step 1 of the run is done\n", 9) + "       " + kill, false},
		"a report near the edge":            {strings.ReplaceAll(codes, "       ", "  ") + "    " + kill, false},
		"a report that begins near it":      {strings.Replace(codes, "       PR", "    PR", 1) + "           " + kill, false},
		"what ripgrep found":                {"docs/faq.md\n3:The job died:\n4-\n12:" + kill, true},
		"with a gap":                        {"src/x.rs\n3:// It says\n--\n12:        " + oom, true},
		"what it found in a log":            {"logs/train.log\n12:" + kill, false},
		"a task of srun":                    {"conf/x.yaml\n3: " + oom, false},
		"a task before its message":         {"conf/x.yaml\n0:" + oom, false},
		"a time below a script":             {"train.py\n10:00:01 " + oom, false},
		"a date below a script":             {"train.py\n2026-03-01 10:00:01 " + oom, false},
		"numbers that do not grow":          {"docs/faq.md\n12:a\n3:" + kill, false},
		"numbers without a file":            {"found:\n12:" + kill, false},
		"a table of samples":                {rows + "1  Explain RuntimeError: CUDA error: out of memory  It is full  1.0\n", true},
		"its first row":                     {rows[:len("                  prompt        completion  reward\n")] + "0  Explain RuntimeError: CUDA error: out of memory  It is full  1.0\n", true},
		"behind a table of samples":         {rows + oom, false},
		"a rank behind it":                  {rows + "3  " + oom, false},
		"a table of errors":                 {"   prompt  error\n0  hello  " + oom, false},
		"a table of trials":                 {"   trial  batch\n0  a1  " + oom, false},
		"a table of sacct's data":           {"    JobID          State  StdErrTail\n0  88_4  OUT_OF_MEMORY  " + kill + "1    91         FAILED  " + oom, true},
		"behind a table of sacct's data":    {"    JobID          State  StdErrTail\n0  88_4  COMPLETED      none\n" + kill, false},
		"a table of workers":                {"   job_id          state  stderr\n0       1  OUT_OF_MEMORY  " + kill, false},
		"a table of topics":                 {topic + "1      0   4870  [CUDA, " + kill[:len(kill)-1] + "]\n", true},
		"what is near to a topic":           {near + "  0.915  " + kill, true},
		"the nearest one":                   {near[:len("topic 2, nearest documents:\n")] + "  0.931  " + kill, true},
		"behind what is near to a topic":    {near + kill, false},
		"seconds below such a heading":      {near + "  0.944  " + kill, false},
		"the members of clusters":           {"2026-03-01 12:00:00.000 | INFO | d:run:5 - sizes, and one member each\n2026-03-01 12:00:01.000 | INFO | d:run:5 -   n=4120   hello\n2026-03-01 12:00:01.000 | INFO | d:run:5 -   n=911    " + kill, true},
		"steps below such a heading":        {"2026-03-01 12:00:00.000 | INFO | d:run:5 - one member each\n2026-03-01 12:00:01.000 | INFO | d:run:5 -   n=411   hello\n2026-03-01 12:00:01.000 | INFO | d:run:5 -   n=911    " + kill, false},
		"a number that is no row":           {"2026-03-01 12:00:00.000 | INFO | d:run:5 - one member each\n2026-03-01 12:00:01.000 | INFO | d:run:5 - n=911    " + kill, false},
		"the most frequent lines":           {often + "  302432  " + kill, true},
		"as uniq -c counts them":            {often[len("   count  line\n"):] + "  109916  java.lang.OutOfMemoryError\n   86626  " + kill, true},
		"what a run printed a few times":    {" 639456 step\n 581837 loss\n      8 " + kill, false},
		"the second of two rows":            {"  639456  step\n  302432  " + kill, false},
		"a row with more than the last":     {often + "  602432  " + kill, false},
		"an id below such a heading":        {near[:len("topic 2, nearest documents:\n")] + "  41877  " + kill, false},
		"a row with as many":                {often + "  581837  " + kill, false},
		"a row that begins elsewhere":       {often + "   302432  " + kill, false},
		"a failure behind them":             {often + kill, false},
		"ids of processes that fall":        {"  41879  step\n  41878  step\n  41877  " + kill, false},
		"seconds of a log":                  {"starting:\n  0.931  step\n  0.931  " + kill, false},
		"trials, the best first":            {"trials, the best first:\n  0.931  done\n  0.915  " + oom, false},
		"what ShellCheck finds":             {"In scripts/x.sh line 31:\n  case \"$m\" in *\"CUDA error: out of memory\"*) k=gpu ;; esac\n", true},
		"what it would write":               {"      ^-- SC2086 (info): Quote it.\n\nDid you mean: \ncase \"$m\" in *\"CUDA error: out of memory\"*) k=gpu ;; esac\n", true},
		"behind what it finds":              {"In scripts/x.sh line 31:\n  x=1\n" + oom, false},
		"a place that a program names":      {"In scripts/x.sh line 31:\n\n" + oom, false},
		"a failure behind a linter":         {"x/y.py:31:80: E501 line too long (99 > 79 characters)\n" + kill, false},
		"a warning with its place":          {"x/y.py:31: UserWarning: retry\n" + oom, false},
		"a passage of a document":           {found + "    " + kill, true},
		"its first line":                    {found[:34] + "    " + kill, true},
		"a failure behind a passage":        {found + kill, false},
		"a failure below an answer":         {found + "All 300 are done.\n    " + kill, false},
		"a trial with its score":            {"[3] (score 0.83, run7)\n    " + oom, false},
		"a log with its score":              {"[3] (score 0.83, run7/train.log)\n    " + oom, false},
		"a score before the page":           {"  [0.813] kb/host.md\n      " + kill, true},
		"the second of such passages":       {"  [0.813] kb/host.md\n      It is full.\n  [0.772] kb/faq.md\n      It says\n      " + oom, true},
		"a hit in an index":                 {"  hit 448120  0.9112  forum/81231\n    " + oom, true},
		"the next hit":                      {"  hit 448120  0.9112  forum/81231\n    It is full.\n  hit 448377  0.8893  forum/90412\n    " + kill, true},
		"a failure behind a hit":            {"  hit 448120  0.9112  forum/81231\n    It is full.\n" + kill, false},
		"a trial with its result":           {"  trial 448120  0.9112  runs/81231\n    " + oom, false},
		"a hit that failed":                 {"  hit 3  0.912  failed\n    " + oom, false},
		"seconds before a script":           {"  [0.813] train.py\n    " + oom, false},
		"seconds before a page":             {"  [12.813] docs/train.md\n    " + oom, false},
		"seconds before a notebook":         {"  [0.813] docs/train.ipynb\n    " + oom, false},
		"polars' glimpse":                   {"$ stars     <i64> 5, 4\n$ question  <str> 'hello', '" + strings.TrimSpace(kill) + "', '" + strings.TrimSpace(oom) + "'\n", true},
		"that of dplyr":                     {"$ ticket   <chr> \"" + strings.TrimSpace(oom) + "\", \"hello\"\n", true},
		"the structure of a frame in R":     {" $ ticket: chr  \"" + strings.TrimSpace(oom) + "\" \"hello\" ...\n", true},
		"a glimpse of errors":               {"$ rank   <i64> 0, 1\n$ error  <str> 'none', '" + strings.TrimSpace(oom) + "'\n", false},
		"a failure behind a glimpse":        {"$ stars     <i64> 5, 4\n" + oom, false},
		"a command at a prompt":             {"$ python <in> 'x': " + oom, false},
		"a page without a score":            {"[3] rendering faq.md\n    " + oom, false},
		"what an agent's tool printed":      {tool + "     " + oom + "\n● It is too large.\n", true},
		"what Copilot shows of a file":      {"● Read the end\n  $ tail -n 1 w45.err\n  └ 1 line\n     " + oom, true},
		"a branch of a tree":                {"ranks\n  └ rank 3\n     " + oom, false},
		"its first line on the console":     {"● Bash(python main.py)\n  ⎿  " + oom, true},
		"an agent that dies":                {tool + "     done\n\n" + oom, false},
		"an indented failure":               {"● Bash(python main.py)\n     " + oom, false},
		"what a tool returned to llm":       {call + "  " + kill + "\nIt was killed.\n", true},
		"the first line of it":              {"Tool call: tail({})\n  [rank2]: " + oom, true},
		"behind an empty line of it":        {call + "\n    " + oom, true},
		"in the color of a terminal":        {"Tool call: tail({})\x1b[0m\n\x1b[32m\x1b[1m  step 1\n  " + kill, true},
		"the result of a tool":              {"Tool result: read_log(7)\n  " + oom, true},
		"a tool that fails itself":          {"Tool call: embed({'n': 3})\n  Error: " + oom, false},
		"what llm says of it":               {"Tool call: embed({'n': 3})\n  Error: full\n\n  Exception: " + oom, false},
		"a failure behind what it returned": {call + kill, false},
		"an indented one behind the answer": {call + "\nIt was killed.\n  " + oom, false},
		"a function that is called":         {"Function call: train(3)\n  " + oom, false},
		"a tool call in a sentence":         {"Tool call: tail failed\n  " + oom, false},
		"a logger that names a call":        {"10:00:01 | INFO | agent - Tool call: embed({'n': 3})\n  " + oom, false},
		"what a command of Codex printed":   {codex + "step 1\n" + kill + "[2025-09-02T10:00:15] thinking\n", true},
		"without a time before its lines":   {"exec\n/bin/zsh -lc 'tail slurm-7.err' in /home/me succeeded in 1.20s:\n" + oom, true},
		"behind its output":                 {codex + "step 1\n[2025-09-02T10:00:41] tokens used: 18,204\n" + oom, false},
		"behind its output, without a time": {" succeeded in 2m 01s:\nstep 1\ncodex\nDone.\n" + oom, false},
		"a run that follows at once":        {codex + strings.Repeat("step 1\n", outputOfCommand) + oom, false},
		"a command that failed":             {strings.Replace(codex, "succeeded", "exited 1", 1) + oom, false},
		"a task that succeeded":             {"Task train[7f] succeeded in 2.1s: None\nbuild succeeded in 2.1s:\n" + oom, false},
		"a test that passed":                {tests + "ERROR    x:x.py:1 caught\n" + oom, true},
		"a kill that a test parses":         {tests + "Out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:1kB\n==== 2 passed in 0.1s ====\n", true},
		"a test that failed behind it":      {tests + "ok\n==== FAILURES ====\n____ test_y ____\n" + oom, false},
		"a failure behind the session":      {tests + "ok\n==== 2 passed in 0.1s ====\n" + oom, false},
		"a test of lit that passed":         {lit + "# .---command stdout------------\n# | " + task + "# `-----------------------------\n\n--\n\n********************\n", true},
		"in lit's older form":               {strings.Replace(lit, "Exit", "Script:\n--\ncat x\n--\nExit", 1) + oom, true},
		"a test of lit that fails":          {strings.ReplaceAll(lit, "PASS", "FAIL") + oom, false},
		"one that fails behind another":     {lit + "ok\n\n********************\n" + strings.ReplaceAll(lit, "PASS", "TIMEOUT") + oom, false},
		"a failure behind lit's tests":      {lit + "ok\n\n--\n\n********************\n\nTesting Time: 0.41s\n" + oom, false},
		"results of tests without output":   {"PASS: trace :: kmsg/x.test (1 of 6)\nPASS: trace :: kmsg/y.test (2 of 6)\n" + oom, false},
		"the output of another command":     {"PASS: smoke test (1 of 6)\nExit Code: 0\n" + oom, false},
		"a row of a dump":                   {dump + oom[:len(oom)-1] + "&lt;/pre&gt;\" Title=\"Why\" />\n", true},
		"a failure behind a dump":           {dump + "\" />\n" + oom, false},
		"a result of tests in XML":          {"  <testcase name=\"x\"><failure message=\"" + oom[:len(oom)-1] + "\"/></testcase>\n", false},
		"a comment of a unit":               {unit + "# " + task, true},
		"a comment of a table in TOML":      {"[train.limits]\nmemory = \"90%\"\n#   " + task, true},
		"a kill behind a unit":              {unit + task, false},
		"a log whose lines are comments":    {strings.ReplaceAll("step 1\nbatch=8\n"+task, "\n", "\n# "), false},
		"such a log behind a setting":       {"batch=8\n# step 1\n# " + task, false},
		"behind a label in brackets":        {"[train]\n# step 1\n# " + task, false},
		"behind a unit and a command":       {unit + "$ dmesg | sed 's/^/# /'\n# " + task, false},
		"a runtime that dies behind a unit": {unit + "#\n# There is insufficient memory for the Java Runtime Environment to continue.\n", false},
		"what a classifier took it for":     {"true=host_oom   pred=node_fail  p=0.69  " + kill, true},
		"behind the label of a rank":        {"true=cuda_oom  pred=nccl  p=0.78  [rank3]: " + oom, true},
		"in the other order":                {"pred=nccl | gold=cuda_oom | " + oom, true},
		"a step with its prediction":        {"target=cuda:0  rank=3  " + oom, false},
		"a failure of a prediction":         {"pred=nccl  failed: " + oom, false},
		"a sum of what was right":           {"true=812  false=3  " + oom, false},
		"an indented failure far behind":    {tool + "\n● Done.\n     " + oom, false},
	} {
		for _, head := range []bool{true, false} {
			assertQuoted(t, c.quoted, filler+c.log, head, name)
		}
	}
}
