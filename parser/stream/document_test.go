package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWhatADocumentExplainsIsQuoted puts a message below headings and below other lines.
func TestWhatADocumentExplainsIsQuoted(t *testing.T) {
	t.Parallel()
	const kill = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
	var steps strings.Builder
	for i := range exampleLines + 2 {
		fmt.Fprintf(&steps, "step %d of the loop\n", i)
	}
	for name, c := range map[string]struct {
		before string
		quoted bool
	}{
		"examples of errors":          {"Example errors\n\n# a program started with srun\n\n", true},
		"a heading of Markdown":       {"## Common error messages\n\nThe log ends with\n\n", true},
		"with a colon":                {"Typical error:\n\n", true},
		"bold":                        {"**Example of an error message:**\n", true},
		"examples of a kind":          {"Possible failures\n-----------------\n", true},
		"the other order":             {"Error message examples:\n\n", true},
		"what a run says of samples":  {"Example outputs\n\n", false},
		"a sentence":                  {"This is an example error that we saw last week\n", false},
		"an error that is counted":    {"Common error: 3\n", false},
		"a log record":                {"INFO example errors\n", false},
		"with a stamp":                {"2026-03-01T09:00:00Z Example errors\n\n2026-03-01T09:00:01Z ", true},
		"behind a name":               {"cluster-docs ~ Example errors\n\ncluster-docs ~ ", true},
		"behind another word":         {"no example errors\n\n", false},
		"behind a logger":             {"2026-03-01 09:00:00.123  INFO 4711 --- [pool-1-thread-3] c.e.t.Runner                           : Example errors\n\n2026-03-01 09:00:00.123  INFO 4711 --- [pool-1-thread-3] c.e.t.Runner                           : ", true},
		"behind a bar":                {"\rTraining: 12%| 12/100 [00:31<03:48]\rExample errors\n\n\rTraining: 12%| 12/100 [00:31<03:48]\r", true},
		"answers to questions":        {"# Trainer\n\n## Troubleshooting\n\nIt ends with\n\n", true},
		"known problems":              {"## 已知问题\n\n", true},
		"answers in Japanese":         {"# よくある質問\n\nエラー:\n\n", true},
		"a remedy in German":          {"# Fehlerbehebung\n\n", true},
		"a script's comment":          {"# Troubleshooting\n", false},
		"far above":                   {"Example errors\n" + steps.String(), false},
		"written by two writers":      {strings.Repeat("Example errors\n", 2) + strings.Repeat("\n", 2) + strings.Repeat("# a program started with srun\n", exampleLines), true},
		"a report of what went wrong": {"Errors\n\n", false},
		"a quotation in a manual":     {"See [the options](docs/options.md).\n\n> ", true},
		"a quotation of two lines":    {"![curve](assets/loss.png)\n\n> srun: job 7 queued\n> ", true},
		"a mail":                      {"You wrote on [the list](https://example.com/list.md):\n\n> srun: job 7 queued\n> ", false},
		"a program's literal":         {"package main\n\nimport (\n\t\"testing\"\n)\n\n\t\"", true},
		"a program's own manual":      {"from __future__ import annotations\nimport os\n    ", true},
		"a value of a program":        {"\"\"\"\nTry it.\n\"\"\"\nimport os\nmessage = \"\"\"", true},
		"an item of a program":        {"#include <cuda.h>\n#include \"x.h\"\n  {", true},
		"a script above its run":      {"from __future__ import annotations\nimport os\n", false},
		"a script above its warning":  {"import os\nfrom x import y\n/opt/x/pipe.py:982: UserWarning: ", false},
		"a warning about an import":   {"  import pkg_resources\nimport pkg_resources\n  ", false},
		"a row of a table of ranks":   {"| rank | status | error |\n|------|--------|-------|\n| 0 | ok | |\n| 3 | FAILED |", false},
		"a row of a table":            {"| Message | Meaning |\n|---------|:-------:|\n| x | y |\n|", true},
		"a row of a trial's status":   {"| Trial | status |\n| x | ERROR |\n|", false},
		"a string of Python":          {"def test():\n    log = \"\"\"\nEpoch 1\n", true},
		"a string behind its quotes":  {"parse('''step 1\n", true},
		"a string that ended":         {"log = \"\"\"\nEpoch 1\n\"\"\"\n", false},
		"a worker behind a prefix":    {"n1: \"\"\"\nn1: Traceback (most recent call last):\nn1:   File \"x.py\", line 3, in f\nn1: ", false},
		"a worker behind a stamp":     {"2026-01-01T10:00:00Z w: \"\"\"\n2026-01-01T10:00:01Z w: Traceback (most recent call last):\n2026-01-01T10:00:02Z w: ", false},
		"the code of a traceback":     {"  File \"x.py\", line 3, in f\n    cur.execute(\"\"\"\n", false},
		"the code in a box":           {"│   12 │   cur.execute(\"\"\"\n", false},
		"a raw string of Go":          {"\tconst log = `\n", true},
		"a template of TypeScript":    {"  {\n    log: `Epoch 1\n", true},
		"a wrapped name in backticks": {"UserWarning: `use_\nreentrant` is old: (`x`, `use_\n", false},
		"the first line of a string":  {"  trace: `", true},
		"a comment of C":              {"/* It said\n   ", true},
		"a comment that ended":        {"/* It\n   said */\n", false},
		"reStructuredText":            {"If it dies you see::\n\n    ", true},
		"a block of Markdown":         {"# Out of memory\n\n| you see | do |\n|---|---|\n| x | y |\n\nA report by the kernel:\n\n    ", true},
		"a block below a heading":     {"# Out of memory\n\nRun log:\n\n    ", false},
		"a block below results":       {"| task | value |\n|---|---|\n| x | 0.5 |\n\nThe log says:\n\n    ", false},
		"a name with two colons":      {"in worker::\n    ", false},
		"a card of a page":            {"  <Card title=\"OOMKilled\" icon=\"x\">\n    ", true},
		"an event in XML":             {"  <Event level=\"error\">\n    ", false},
		"what a tool printed":         {"  {\n    \"role\": \"tool\",\n    \"content\": \"", true},
		"a part of what it printed":   {"  {\n    \"role\": \"tool\",\n    \"content\": [\n      {\n        \"text\": \"", true},
		"a turn in YAML":              {"- role: tool\n  content: |\n    ", true},
		"a problem in YAML":           {"instance_id: a__b-1\nproblem_statement: |-\n  It fails:\n\n  ", true},
		"a pod's message in YAML":     {"reason: Error\nmessage: |-\n  It fails:\n\n  ", false},
		"a prompt in YAML":            {"- id: 3\n  prompt: |\n    why?\n    ", true},
		"an error in YAML":            {"- prompt: hello\n  error: |\n    ", false},
		"an error beside a turn":      {"  {\n    \"role\": \"assistant\",\n    \"error\": \"", false},
		"a known error":               {"  {\n    \"solutions\": [\"more\"],\n    \"message\": \"", true},
		"a known error in YAML":       {"  - symptom: dies\n    logs: |\n      step 1\n      ", true},
		"the next item of a list":     {"  - fix: x\n    id: 1\n  - id: 2\n    message: ", false},
		"a failure in JSON":           {"  {\n    \"status\": \"failed\",\n    \"message\": \"", false},
		"a failure in YAML":           {"    terminated:\n      message: |\n        step 1\n        ", false},
		"an answer in JSON":           {"{\n  \"problem\": \"why\",\n  \"n\": [\n    1\n  ],\n  \"solution\": \"", true},
		"a generation":                {"{\n  \"instruction\": \"why\",\n  \"generation\": \"", true},
		"an answer of a model":        {"{\n  \"question\": \"why\",\n  \"model_answer_2\": \"", true},
		"one of several answers":      {"{\n  \"problem\": \"why\",\n  \"generations\": [\n    \"x\",\n    \"", true},
		"one of several errors":       {"{\n  \"problem\": \"why\",\n  \"errors\": [\n    \"x\",\n    \"", false},
		"why an answer failed":        {"{\n  \"prompt\": \"hello\",\n  \"generation_error\": \"", false},
		"an error beside a task":      {"{\n  \"prompt\": \"hello\",\n  \"error\": \"", false},
		"a result within a record":    {"{\n  \"prompt\": \"hello\",\n  \"result\": {\n    \"output\": \"", false},
		"an output of a step":         {"{\n  \"input\": \"s3://x\",\n  \"output\": \"", false},
		"an answer to an object":      {"{\n  \"query\": {\n    \"id\": 3\n  },\n  \"response\": \"", false},
		"an answer of another record": {"[\n  {\n    \"prompt\": \"hello\"\n  },\n  {\n    \"output\": \"", false},
		"a prediction":                {"[eval] 3/9 a.png\n    Q: What is red?\n    pred: ", true},
		"an error below a question":   {"[eval] 3/9 a.png\n    Q: What is red?\n    error: ", false},
		"a prediction of no question": {"[eval] 3/9 a.png\n    rank: 3\n    pred: ", false},
		"an answer in YAML":           {"- prompt: why\n  response: \"", true},
		"a long answer in YAML":       {"- prompt: why\n  response: |\n    It says\n\n    ", true},
		"an error with a long text":   {"- prompt: why\n  error: |\n    It says\n\n    ", false},
		"an answer by pprint":         {"{'prompt': 'why',\n 'response': 'It says '\n             '", true},
		"a question by pprint":        {"{'answer': 'lower it',\n 'question': 'I get '\n             '", true},
		"a turn by pprint":            {"{'conversations': [{'from': 'human',\n                    'value': 'it says\\n'\n                             '", true},
		"an error by pprint":          {"{'question': 'why',\n 'error': 'It says '\n          '", false},
		"a failure by pprint":         {"{'rank': 3,\n 'reason': 'It says '\n           '", false},
		"what a program looks for":    {"oom_patterns:\n  - NCCL WARN\n  - \"", true},
		"and in JSON":                 {"  \"keywords\": [\n    \"", true},
		"what a program found":        {"matched_patterns:\n  - \"", false},
		"an example of a rule":        {"{\n  \"rules\": [\n    {\n      \"pattern\": \"x\"\n    },\n    {\n      \"type\": \"permanent\",\n      \"example\": \"", true},
		"and in YAML":                 {"log_patterns:\n  - id: oom\n    sample: ", true},
		"what a rule writes instead":  {"- log_processing_rules:\n  - name: x\n    type: multi_line\n  - name: oom\n    replace_placeholder: ", true},
		"an error of such a rule":     {"- log_processing_rules:\n  - name: oom\n    error: ", false},
		"what is beside the rules":    {"- log_processing_rules:\n  - name: oom\n  replacement: ", false},
		"a prompt of a turn":          {"  {\n    \"role\": \"HUMAN\",\n    \"prompt\": \"Read it.\\n\\n[rank5]: ", true},
		"an error of a turn":          {"  {\n    \"role\": \"HUMAN\",\n    \"error\": \"", false},
		"an answer to some turns":     {"{\n  \"origin_prompt\": [\n    {\n      \"role\": \"HUMAN\"\n    }\n  ],\n  \"prediction\": \"", true},
		"an error beside some turns":  {"{\n  \"origin_prompt\": [\n    {\n      \"role\": \"HUMAN\"\n    }\n  ],\n  \"error\": \"", false},
		"what an index found":         {"{'ids': [['a']],\n 'distances': [[0.21]],\n 'documents': [['It says\\n'\n                '", true},
		"an error of an index":        {"{'ids': [['a']],\n 'distances': [[0.21]],\n 'errors': [['It says\\n'\n             '", false},
		"documents that failed":       {"{'ids': [['a']],\n 'errors': [[3]],\n 'documents': [['It says\\n'\n                '", false},
		"an example of a rule's hit":  {"  \"matched_rules\": [\n    {\n      \"type\": \"permanent\",\n      \"example\": \"", false},
		"an example of a group":       {"  \"groups\": [\n    {\n      \"count\": 12,\n      \"example\": \"", false},
		"an error of a rule":          {"  \"rules\": [\n    {\n      \"name\": \"train\",\n      \"error\": \"", false},
		"an example behind the rules": {"{\n  \"rules\": [\n    {\n      \"type\": \"x\"\n    }\n  ],\n  \"example\": \"", false},
		"an argument":                 {"    def boom(*a, **k):\n        raise torch.OutOfMemoryError(\n            \"", true},
		"the error behind a call":     {"    raise torch.OutOfMemoryError(\n", false},
		"a value that is printed":     {"  error = RuntimeError(\n    \"", false},
		"a list of messages":          {"  errors(\n    \"", false},
		"a list of errors":            {"errors:\n  - \"", false},
		"an error beside such a list": {"job:\n  patterns: [x]\n  error: ", false},
		"an error behind such a list": {"job:\n  patterns:\n  - x\n  error: ", false},
		"what a function raises":      {"    Raises:\n        ValueError: If it is 0.\n        ", true},
		"the same in NumPy's form":    {"    Raises\n    ------\n    ValueError\n        If it is 0.\n    ", true},
		"a section of a script":       {"    Errors:\n        ", false},
		"below a rule":                {"    Results\n    -------\n    ", false},
		"code of a page":              {".. code-block:: text\n\n   ", true},
		"below a quotation":           {"See [the options](docs/options.md).\n\n> Lower it.\n\n", false},
	} {
		for _, head := range []bool{true, false} {
			assertQuoted(t, c.quoted, filler+c.before+kill, head, name)
		}
	}
}

// TestATextAloneInARecordIsQuoted writes a failure as a member of JSON over several lines.
func TestATextAloneInARecordIsQuoted(t *testing.T) {
	t.Parallel()
	for log, quoted := range map[string]bool{
		"{\n  \"text\": \"@\"\n}\n":                                            true,
		"{\n  \"text\": \"@\",\n  \"level\": \"error\"\n}\n":                   false,
		"{\n  \"level\": \"error\",\n  \"text\": \"@\"\n}\n":                   false,
		"{\n  \"message\": \"@\"\n}\n":                                         false,
		"{\n  \"log\": \"@\"\n}\n":                                             false,
		"{\n  \"error\": {\n    \"text\": \"@\"\n  }\n}\n":                     false,
		"{\n  \"attachments\": [\n    {\n      \"text\": \"@\"\n":              false,
		"{\n  \"message\": {\n    \"message\": \"@\",\n    \"extraInfo\": {\n": false,
	} {
		at, _ := eventLines(t, filler+strings.ReplaceAll(log, "@", strings.TrimSpace(oomMessage)), true)
		assert.Equal(t, quoted, len(at) == 0, log)
	}
}

// TestABlockThatIsNearlyAllIsALog reads literal blocks of reStructuredText.
func TestABlockThatIsNearlyAllIsALog(t *testing.T) {
	t.Parallel()
	const kill = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
	const log = "    2026-03-01 09:00:00 INFO epoch 1 step 1/9 loss 2.3\n    Traceback (most recent call last):\n      File \"/x/train.py\", line 8, in f\n        y()\n" +
		"    torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.00 GiB is free.\n"
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a ticket":                {"My job died::\n\n" + log, false},
		"a block of code":         {"My job died:\n\n.. code-block:: text\n\n" + log, false},
		"the output of a cell":    {".. code:: ipython3\n\n    train()\n\n.. parsed-literal::\n\n" + log, false},
		"with thanks":             {"My job died::\n\n" + log + "\nWhat can I do?\nThanks\n", false},
		"a page":                  {"Memory\n======\n\nIf it dies you see::\n\n" + log, true},
		"a section of a page":     {strings.Repeat("Some more words.\n", maxWords) + "It says::\n\n" + log, true},
		"above more of a page":    {"It says::\n\n" + log + strings.Repeat("Some more words.\n\n", maxWords+1), true},
		"without a time or steps": {"It says::\n\n" + log[strings.IndexByte(log, '\n')+1:], true},
		"a kill among steps":      {"It says::\n\n" + strings.Repeat(log[:strings.IndexByte(log, '\n')+1], logSigns) + "    " + kill, false},
		"a kill alone":            {"It says::\n\n    " + kill, true},
	} {
		at, _ := eventLines(t, c.log, true)
		assert.Equal(t, c.quoted, len(at) == 0, name)
	}
}

// TestAReasonIsBelievedWithWhatTheKubeletTellsBesideIt reads the end of a container in JSON, in sources and in the heads of pages.
func TestAReasonIsBelievedWithWhatTheKubeletTellsBesideIt(t *testing.T) {
	t.Parallel()
	for log, quoted := range map[string]bool{
		"  \"finishedAt\": \"2026-01-01T10:00:00Z\",\n  \"reason\": \"OOMKilled\"\n":             false,
		"  \"exitCode\": 137,\n  \"reason\": \"OOMKilled\",\n  \"startedAt\": \"2026\"\n":        false,
		"  \"reason\": \"OOMKilled\",\n":                                                         false,
		`{"level":"error","pod":"x","reason":"OOMKilled"}` + "\n":                                false,
		"  \"terminated\": {\n    \"name\": \"x\",\n    \"reason\": \"OOMKilled\"\n":             true,
		"  \"event\": {\n    \"reason\": \"OOMKilled\",\n    \"message\": \"x\"\n":               true,
		`        {"lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}` + "\n": true,
		"---\ntitle: It dies\nerror_message: RuntimeError: CUDA error: out of memory\n---\n":     true,
		"---\nrank: 3\nerror_message: RuntimeError: CUDA error: out of memory\n---\n":            false,
	} {
		at, _ := eventLines(t, log, true)
		assert.Equal(t, quoted, len(at) == 0, log)
	}
}
