package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
)

// TestABlockThatARunPrintsIsQuoted writes a failure into a block, and something behind it.
func TestABlockThatARunPrintsIsQuoted(t *testing.T) {
	t.Parallel()
	const (
		heredoc = "cat > expected.txt <<'EOF'\n@EOF\n"
		goose   = "─── shell | developer ──────────────────────────\n"
		kill    = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
		told    = "user_proxy (to triager):\n\nexitcode: 0 (execution succeeded)\n"
		asked   = "[QUERY] What is this?\n"
		message = "---------- ToolCallExecutionEvent (triager) ----------\n"
	)
	rule := strings.Repeat("-", 80) + "\n"
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a fence":                       {"step 1 loss 3\nThe user saw:\n```\n@```\nThe answer is\nstep 2 loss 2.9\n", true},
		"a fence with a language":       {"step 1 loss 3\n```text\n@```\nstep 2 loss 2.9\n", true},
		"a message without a traceback": {"step 1 loss 3\n```\nRuntimeError: CUDA error: out of memory\n```\nstep 2 loss 2.9\n", true},
		"a run in a fence":              {"step 1 loss 3\n```\nstep 7 loss 1\n@step 8 loss 1\n```\nstep 2 loss 2.9\n", true},
		"several fences":                {"step 1 loss 3\n```\n@```\nAfter a change:\n```\n@```\nstep 2 loss 2.9\n", true},
		"a here-document":               {"step 1 loss 3\n+ " + heredoc + "step 2 loss 2.9\n", true},
		"a bar":                         {" 1%|1 | 1/100 [00:10<01:10,  1.25it/s]\n```\n@```\n 2%|1 | 2/100 [00:20<01:10,  1.25it/s]\n", true},
		"a writer among others":         {"[rank0]: step 1 loss 3\n[rank0]: ```\n" + strings.ReplaceAll("[rank0]: "+strings.TrimSpace(oomReport), "\n", "\n[rank0]: ") + "\n[rank1]: waiting\n[rank0]: ```\n[rank0]: step 2 loss 2.9\n", true},
		"a here-document of a script":   {"+ cat > check.py <<'PY'\n@PY\npython check.py\n", true},
		"a here-document with tabs":     {"cat <<-END | tee msg.txt\n\tRuntimeError: CUDA error: out of memory\n\tslurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n\tEND\n", true},
		"a kill in a here-document":     {"cat <<\\EOT >dmesg.txt\nOut of memory: Killed process 4121 (python3) total-vm:91234564kB, anon-rss:65011220kB, file-rss:0kB\nEOT\n", true},
		"two here-documents":            {"cat <<A1 >a\n@A1\ncat <<B1 >b\n@B1\n", true},
		"a manual before a run":         {"## FAQ\n~~~text\n@~~~\nstep 1 loss 3\nstep 2 loss 2.9\nstep 3 loss 2.8\n", true},
		"a manual with links":           {"see [the options](../options.md#memory)\n```\n@```\nand lower it\n", true},
		"a manual of MDX":               {"<Accordion title=\"Errors\">\n@</Accordion>\n[Start](./start.mdx)\n", true},
		"a manual with links behind":    {"```\n@```\nSee [below](#memory).\n", true},
		"lines of a kernel's log":       {"see [the options](../options.md#memory)\n```\nAug 01 18:01:30 node7 kernel: Out of memory: Killed process 4121 (python3) total-vm:91234564kB, anon-rss:65011220kB, file-rss:0kB\n```\nand lower it\n", true},
		"a report in HTML":              {"<h2>Starts</h2>\n<p>The first one failed.</p>\n<pre class=\"log\">run 1\n@</pre>\n<p>Lower the batch size.</p>\n", true},
		"a report in HTML, one line":    {"<h3>Starts</h3>\n  <pre><b>" + strings.TrimSpace(oomReport) + "</b></pre>\n<p>Lower it.</p>\n", true},
		"a report in HTML, tag alone":   {"<h2>Starts</h2>\n<pre>\n@</pre>\n<p>Lower the batch size.</p>\n", true},
		"a message in HTML":             {"<meta charset=\"utf-8\">\n<h2>Starts</h2>\n<div class=\"run\">\n<pre>RuntimeError: CUDA error: out of memory</pre>\n<p>Lower it.</p>\n", true},
		"a failure behind a report":     {"<h2>Starts</h2>\n<pre>run 1</pre>\n@", false},
		"a page with a job's output":    {"<h1>Console Output</h1>\n<pre class=\"console-output\">started\n@</pre>\n", false},
		"an element of a prompt":        {"step 1 loss 3\n<doc id=\"1\" title=\"faq\">\n@</doc>\nstep 2 loss 2.9\n", true},
		"an element in a line":          {"step 1 loss 3\n<output>" + strings.TrimSpace(oomReport) + "</output>\nstep 2 loss 2.9\n", true},
		"elements in one":               {"step 1 loss 3\n<context>\n<doc id=\"1\">\n@</doc>\n</context>\nstep 2 loss 2.9\n", true},
		"an agent's observation":        {"step 1 loss 3\n--BEGIN AGENT OBSERVATION--\n@[Python: /usr/bin/python]\n--END AGENT OBSERVATION--\nstep 2 loss 2.9\n", true},
		"an observation, and no more":   {"--BEGIN AGENT OBSERVATION--\n@--END AGENT OBSERVATION--\n", true},
		"a tool's result, and no more":  {"<tool_result>\n@</tool_result>\n", true},
		"a command of an agent":         {"User:\n<returncode>1</returncode>\n<output>\n@</output>\n", true},
		"its errors":                    {"<exit_code>-9</exit_code>\n<stderr>\n@</stderr>\n", true},
		"its output, without a newline": {"<returncode>1</returncode>\n<output>\n" + strings.TrimSpace(oomReport) + "</output>\n", true},
		"a job's report in XML":         {"<job id=\"7\">\n<returncode>1</returncode>\n<output>\n@</output>\n</job>\n", false},
		"a job's report with an indent": {"<?xml version=\"1.0\"?>\n<job>\n  <returncode>1</returncode>\n  <output>\n@  </output>\n</job>\n", false},
		"an exit code in a job's log":   {"<returncode>1</returncode>\n@<output>\nx\n</output>\n", false},
		"output without an exit code":   {"<returncode>1</returncode>\nand then\n<output>\n@</output>\n", false},
		"a command that is cut":         {"<returncode>1</returncode>\n<output>\n@", false},
		"a failure behind a command":    {"<returncode>0</returncode>\n<output>\nok\n</output>\n@", false},
		"a node that was found":         {"Query: why?\nNode ID: 7b1c109e-11d2\nText: It ends so:\n@Score:  0.871\n", true},
		"a kill in a node":              {"Node ID: 7b1c109e-11d2\nText: It ends so:\nslurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\nScore:  0.871\n", true},
		"a failure behind a node":       {"Node ID: 7b1c109e-11d2\nText: Hello\nScore:  0.871\n@", false},
		"a node without a score":        {"Node ID: 7b1c109e-11d2\nText: Hello\n@", false},
		"a node before a second run":    {"Node ID: 7b1c109e-11d2\nText: Hello\n@Node ID: 7b1c109e-11d2\nText: Hello\nScore:  0.871\n", false},
		"a node of Ray":                 {"Node ID: 7b1c109e on 10.0.0.7\n@Score:  0.871\n", false},
		"a sample between rules":        {"step 1 loss 3\ngenerating:\n---\nI get\n@---\n", true},
		"a sample that was not printed": {"step 1 loss 3\ngenerating:\n---\n@", false},
		"a failure behind a sample":     {"step 1 loss 3\ngenerating:\n---\nHello\n---\n@", false},
		"a failure below its heading":   {"step 1 loss 3\ngenerating:\n@---\n", false},
		"a sample before a second run":  {"step 9 loss 3\ngenerating:\n---\n@step 1 loss 3\ngenerating:\n---\nHello\n---\n", false},
		"a text in quotation marks":     {"Output [Text 0 Beam 0]: \" A typical one reads\n\n@\nThen lower the batch.\"\n", true},
		"a kill in quotation marks":     {"Generated text: \"A typical one reads\n\nOut of memory: Killed process 4121 (python3) total-vm:91234564kB, anon-rss:65011220kB, file-rss:0kB\n\nin \"dmesg\"\nor so.\"\n", true},
		"a text that begins with one":   {"Answer 3: \"RuntimeError: CUDA error: out of memory\nis what it says.\"\n", true},
		"a failure behind a text":       {"Output [Text 0 Beam 0]: \" It is\nwarm.\"\n@", false},
		"a text that does not end":      {"Output [Text 0 Beam 0]: \" It is\n@", false},
		"a text before a second run":    {"Prompt: \"It is\n@Prompt: \"It is\nwarm.\"\n", false},
		"a quotation within a text":     {"Answer: \"It is\n@a \"core\"\n", false},
		"what a command printed":        {"Output: \"started\n@done\"\n", false},
		"what failed to be generated":   {"Generation failed: \"started\n@done\"\n", false},
		"what an agent was told":        {told + "@\n" + rule + "triager (to user_proxy):\n\nIt is too large.\n", true},
		"a kill that it was told of":    {told + "```\n" + kill + "```\n\n" + rule, true},
		"a speaker in color":            {"\x1b[33muser_proxy\x1b[0m (to triager):\n\n@\n" + rule, true},
		"an agent that dies":            {told + "@", false},
		"an agent that is run again":    {told + "@" + told + "done\n\n" + rule, false},
		"its launcher's report":         {told + "@" + rule[:60] + "\nFailures:\n", false},
		"behind what it was told":       {told + "done\n\n" + rule + "@" + rule, false},
		"a failure of a step":           {"step 3 (to be repeated):\n@" + rule, false},
		"what a tool of goose printed":  {goose + "command: tail x.err\n\n@\nIt failed.\n\n" + goose + "command: ls\n\nx.err\n", true},
		"what its second tool printed":  {goose + "command: ls\n\nx.err\n\n" + goose + "command: tail x.err\n\n" + kill + "\nDone.\n" + goose + "command: ls\n", true},
		"what its last tool printed":    {goose + "command: tail x.err\n\n" + kill + "\nIt failed.\n\nClosing session. Recorded to /root/x.jsonl\n", true},
		"what it is killed behind":      {goose + "command: ls\n\nx.err\n\n" + goose + "command: python train.py\n\n" + kill, false},
		"a failure behind its session":  {goose + "command: ls\n\nx.err\n\nClosing session. Recorded to /root/x.jsonl\n" + kill + goose, false},
		"a heading of another program":  {"─── GPU 3 | rank 3 ──────────────────────────\n@─── GPU 4 | rank 4 ──────────────────────────\n", false},
		"what a tool of AutoGen's gave": {message + "[FunctionExecutionResult(content='x')]\n@---------- TextMessage (triager) ----------\nIt is too large.\n", true},
		"a failure behind its messages": {message + "@", false},
		"a section of a report":         {"---------- Captured log (worker) ----------\n@---------- Captured log (worker) ----------\n", false},
		"a question with its answer":    {asked + "[LABELS] It is full.\n[RESPONSE] It reads\n@" + kill + "here.\n" + rule[30:] + "[QUERY] And now?\n", true},
		"a question of several lines":   {"[QUERY] Explain:\n[rank3]: " + oomMessage + "[RESPONSE] It is full.\n" + rule[30:], true},
		"a question by itself":          {"[QUERY] " + oomMessage + "What now?\n[RESPONSE] Use less.\n" + rule[30:], true},
		"a death within an answer":      {asked + "[RESPONSE] It\n@", false},
		"a launcher's report of it":     {asked + "[RESPONSE] It\n@" + rule[20:] + "Failures:\n", false},
		"an answer before a second run": {asked + "[RESPONSE] It\n@" + asked + "[RESPONSE] It is.\n" + rule[30:], false},
		"a failure behind an answer":    {asked + "[RESPONSE] It is.\n" + rule[30:] + "@" + rule[30:], false},
		"a listing of LaTeX":            {"\\begin{lstlisting}[language=text]\n@\\end{lstlisting}\n", true},
		"a quotation of LaTeX":          {"\\begin{quote}\n@\\end{quote}\n", true},
		"an example of Org":             {"#+BEGIN_EXAMPLE\n@#+END_EXAMPLE\n", true},
		"an element of a test's report": {"<system-err>\n@</system-err>\n", false},
		"an element that never closes":  {"step 1 loss 3\n<output>\n@step 2 loss 2.9\n", false},
		"a failure behind an element":   {"step 1 loss 3\n<output>\nok\n</output>\n@step 2 loss 2.9\n", false},
		"a name of Python's":            {"step 1 loss 3\n<frozen importlib._bootstrap>\n@</frozen>\nstep 2 loss 2.9\n", false},
		"a chat":                        {"user> what is this?\nassistant> For example:\n```\n@```\nassistant> The card is full.\n", true},
		"a chat with colons":            {"User: what is this?\n```\n@```\nin my log\nAssistant: The card is full.\n", true},
		"two blocks of a chat":          {"assistant> This:\n```py\nx = 1\n```\nprints\n```\n@```\nuser> thanks\n", true},
		"a setting named like one":      {"step 1 loss 3\nuser: a\n```\nuser: b\n@```\nuser: c\n", false},
		"one in a fence":                {"step 1 loss 3\n```\nuser> b\n@```\nstep 2 loss 2.9\n", true},
		"a chat that ends":              {"user> what is this?\n```\n@```\n", false},
		"a server that somebody greets": {"```\n@```\nuser> hello\n", false},
		"a failure between two turns":   {"assistant> This:\n```py\nx = 1\n```\nuser> and then?\n@assistant> Sorry.\n", false},
		"an answer that breaks off":     {"assistant> This:\n```py\nx = 1\nuser> and then?\n@user> hello?\nassistant> This:\n```\nx\n```\nuser> so\n", false},
		"a death within a chat":         {"user> go\nassistant> This:\n```py\nx = 1\n@user> hello?\n", false},
		"a chat of a child's errors":    {"user> go\n@```\nx\n```\nuser> so\n", false},
		"an issue with links":           {"as in [the log](https://gist.example.com/x.md)\n```\n@```\nand [this](https://example.com/y)\n", false},
		"an issue and another try":      {"```\n@```\nworks with 4:\nstep 1 loss 3\nstep 2 loss 2.9\n", false},
		"a failure behind a manual":     {"see [the options](../options.md)\n```\nx = 1\n```\n@", false},
		"an open here-document":         {"cat > x <<'PY'\n@", false},
		"a failure behind one":          {"cat > x <<'PY'\nprint(1)\nPY\n@", false},
		"a stream operator":             {"std::cout << END\n@ENDED\n", false},
		"a conflict of git":             {"<<<<<<< HEAD\n@HEAD\n", false},
		"the input ends":                {"step 1 loss 3\n```\n@```\nWhat can I do?\n", false},
		"another run begins":            {"step 1 loss 3\n```\n@```\nWith a smaller batch:\nstep 1 loss 3\n", false},
		"an issue with a run":           {"I see this:\n```\nstep 1 loss 3\nstep 2 loss 2\n@```\nstep 50 loss 2 works with a smaller batch\n", false},
		"a fence that never closes":     {"step 1 loss 3\n```\n@step 2 loss 2.9\nstep 3 loss 2.8\n", false},
		"a failure behind a fence":      {"step 1 loss 3\n```\nprint(1)\n```\n@step 2 loss 2.9\n", false},
		"a rank within a task's block":  {"0: step 1 loss 3\n0: ```\n0: [rank3]: " + oomMessage + "0: ```\n0: step 2 loss 2.9\n", true},
		"a rank of another task":        {"0: step 1 loss 3\n0: ```\n1: [rank3]: " + oomMessage + "0: ```\n0: step 2 loss 2.9\n", false},
		"another writer's failure":      {"[rank0]: step 1 loss 3\n[rank0]: ```\n[rank1]: " + strings.TrimSpace(oomMessage) + "\n[rank0]: ```\n[rank0]: step 2 loss 2.9\n", false},
		"a longer line than is read":    {"step 1 loss 3\n```\n@```\n" + strings.Repeat("x", DefaultLine+1) + "\nstep 2 loss 2.9\n", false},
		"the run goes on too late":      {"step 1 loss 3\n```\n@```\n" + strings.Repeat("and on\n", watchLines) + "step 2 loss 2.9\n", false},
	} {
		log := filler + strings.ReplaceAll(c.log, "@", oomReport)
		for _, head := range []bool{true, false} {
			assertQuoted(t, c.quoted, log, head, name)
		}
	}
	assertQuoted(t, false, "<output>\n"+oomReport+"</output>\n", true, "an element at the very beginning")
}

// TestWhatWaitsBehindABlockKeepsItsOrder compares what is read of a failure in a block and of one outside.
func TestWhatWaitsBehindABlockKeepsItsOrder(t *testing.T) {
	t.Parallel()
	log := "step 1 loss 3\n%\n" + oomReport + "%\n{'loss': 1.17, 'epoch': 0.03}\nIteration 7/10\n" + oomReport + "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\nstep:1 - actor/loss:0.1\n"
	read := func(mark string) []string {
		log := strings.ReplaceAll(log, "%", mark)
		return everything(t, func(emit func(parser.Observation)) (parser.Counts, error) {
			return Read("log", strings.NewReader(log), emit)
		})
	}
	same(t, read("---"), read("```"))
}

// TestALogThatStopsBehindABlockTellsWhatItHolds looks at a log that is followed, before the line that may follow on a block.
func TestALogThatStopsBehindABlockTellsWhatItHolds(t *testing.T) {
	t.Parallel()
	r := NewReader("log", func(o parser.Observation) { assert.NotContains(t, fmt.Sprintf("%T", o), "Event") })
	_, err := r.Write([]byte("step 1 loss 3\n```\n" + oomReport + "```\n"))
	require.NoError(t, err)
	assert.True(t, r.Open())
	events := 0
	r.PeekTail(func(o parser.Observation) {
		if _, ok := o.(parser.Event); ok {
			events++
		}
	})
	assert.Equal(t, 1, events)
}

// TestAManualQuotesWhatAnIssueReports puts a failure into a fence of documents, which begin the input.
func TestAManualQuotesWhatAnIssueReports(t *testing.T) {
	t.Parallel()
	prose := strings.Repeat("The trainer keeps its state on the card.\n", 6)
	const fence = "\n```python out\n@```\n\n"
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a README":                   {"# Trainer\n\n## Install\n\n```bash\npip install x\n```\n\n" + prose + "## Memory\n" + fence + prose, true},
		"a runbook":                  {"# PodKilled\n\n## Meaning\n" + prose + "## Diagnosis\n" + fence + "## Mitigation\n" + prose, true},
		"a page with front matter":   {"---\ntitle: OOM\n---\n" + prose + fence + prose, true},
		"a page of components":       {"<Switch {fw} />\n\n# Debugging\n## Data\n<Video id=\"a\"/>\n" + prose + "## Memory\n" + fence + prose, true},
		"a logo, a list":             {"<p align=\"center\"><img src=\"x.png\"></p>\n\n# Zoo\n## FAQ\n" + prose + "1. Memory\n" + fence + "## Cite\n" + prose, true},
		"in a terminal":              {"(base) [u login]$ less docs/memory.md\n## Memory\n" + prose + fence + "### Host\n" + prose + "### Next\nHere is how I found it.\n" + prose + "(base) [u login]$ exit\n", true},
		"a log in a terminal":        {"[u login]$ cat slurm-1.out\n## Memory\n" + prose + fence + "### Host\n" + prose + "### Next\n" + prose, false},
		"a command in a terminal":    {"[u login]$ python train.py\n## Memory\n" + prose + fence + "### Host\n" + prose + "### Next\n" + prose, false},
		"a pipe in a terminal":       {"[u login]$ cat x.md | python train.py\n## Memory\n" + prose + fence + "### Host\n" + prose + "### Next\n" + prose, false},
		"a run behind a document":    {"$ cat x.md\n## Memory\n" + prose + "### Host\n" + prose + "### Next\n" + prose + "$ python train.py\n@", false},
		"a report in a terminal":     {"$ cat issue.md\n### Describe the bug\n" + prose + fence + "### Logs\n\n### System Info\n" + prose, false},
		"an issue's form":            {"### Describe the bug\n" + prose + fence + "### Logs\n\n### System Info\n" + prose, false},
		"a form of another project":  {"### Your current environment\n" + prose + "### 🐛 Describe the bug\n" + fence + "### Before submitting a new issue...\n" + prose, false},
		"a form in bold":             {"# OOM\n## Run\n**Describe the bug**\n" + prose + fence + "**Expected behavior**\n" + prose + "## More\n", false},
		"a form in Chinese":          {"## 问题描述\n" + prose + fence + "## 环境信息\n" + prose + "## 复现步骤\n" + prose, false},
		"a field without a response": {"### Which part?\n" + prose + "### Where?\n" + fence + "### Else\n\n_No response_\n" + prose, false},
		"somebody's own report":      {"# OOM on step 2\n## Run\n" + prose + "I tried a smaller batch.\n## Trace\n" + fence + "## Next\n" + prose, false},
		"a short report":             {"# OOM on step 2\n\n## Config\n\nbatch 8\n\n## Output\n" + fence + "## Hardware\n\n8xA100\n", false},
		"a block alone":              {strings.TrimLeft(fence, "\n"), false},
		"a letter":                   {"Hello all,\n" + prose + fence + prose, false},
		"a block that never closes":  {"# Run\n## Config\n## Model\n" + prose + prose + "## Train\n```\n@", false},
		"a failure behind a block":   {"# Run\n## Config\n## Model\n" + prose + prose + "```\nx = 1\n```\n@", false},
		"a job's own marks":          {"# Job\n# Node\n# Config\n" + prose + prose + "-----BEGIN STDERR-----\n@-----END STDERR-----\n", false},
		"a run with steps":           {"# Job\n# Node\n# Config\n" + prose + prose + "step 1 loss 3\n```\n@```\n", false},
		"a run that prints Markdown": {"loading\n# Run\n## Config\n## Model\n" + prose + prose + "```\n@```\n", false},
	} {
		log := strings.ReplaceAll(c.log, "@", oomReport)
		assertQuoted(t, c.quoted, log, true, name)
		if strings.HasPrefix(log, "#") {
			at, _ := eventLines(t, "[rank0]: "+strings.ReplaceAll(log, "\n", "\n[rank0]: "), true)
			assert.Equal(t, c.quoted, len(at) == 0, "%s, with a label before each line", name)
		}
	}
}
