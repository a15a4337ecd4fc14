package stream

import (
	"strings"
	"testing"
)

// TestATestThatPassesProvokedItsFailure runs a failure within tests of several programs.
func TestATestThatPassesProvokedItsFailure(t *testing.T) {
	t.Parallel()
	const (
		session = "============ test session starts ============\ncollected 3 items\n\n"
		live    = session + "tests/test_x.py::test_retry \n----- live log call -----\nERROR    retry:retry.py:12 the step failed\n@"
		bus     = "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n"
		logged  = "14:02:12 ERROR    trainer.shm:shm.py:21 "
		killed  = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
		dots    = session + "tests/test_x.py @"
		jest    = "  console.error\n    RuntimeError: CUDA error: out of memory\n\n      at Object.error (src/x.test.ts:42:13)\n\n"
	)
	const trying = "Trying:\n    parse('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.11 GiB of which 1.02 GiB is free.').device\nExpecting:\n    1\n"
	tap := "TAP version 13\n1..3\nok 1 a\n# the log:\n#   " + strings.ReplaceAll(strings.TrimSpace(oomReport), "\n", "\n#   ") + "\n"
	const pages = "INFO    -  Cleaning site directory\nINFO    -  Building documentation to directory: /site\n--- faq.md ---\n@"
	ctest := "test 12\n    Start 12: big\n\n12: Test command: /b/big\n12: " + strings.ReplaceAll(strings.TrimSpace(oomReport), "\n", "\n12: ") + "\n"
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"pytest with a live log":       {live + "PASSED                  [ 33%]\n", true},
		"a loader's worker in a test":  {live[:len(live)-1] + bus + "PASSED\n", true},
		"what a test logs of one":      {live[:len(live)-1] + logged + strings.TrimPrefix(bus, "RuntimeError: ") + "PASSED                  [ 33%]\n", true},
		"what a test logs of a kill":   {live[:len(live)-1] + logged + killed + "PASSED                  [ 33%]\n", true},
		"a kill of a test's step":      {live[:len(live)-1] + killed + "PASSED                  [ 33%]\n", false},
		"a loader's worker that fails": {live[:len(live)-1] + bus + "FAILED\n", false},
		"pytest -s":                    {session + "tests/test_x.py::test_retry @PASSED\n", true},
		"pytest, expected to fail":     {live + "XFAIL\n", true},
		"pytest without names":         {dots + "...\n\n==== 3 passed, 1 warning in 0.02s ====\n", true},
		"unittest":                     {"test_a (t.T) ... ok\ntest_b (t.T.test_b) ... @ok\n", true},
		"unittest, first test":         {"test_b (t.T.test_b) ... @ok\n", true},
		"unittest with a logger":       {"test_b (t.T.test_b) ... ERROR:retry:it failed\n@ok\n", true},
		"unittest with a docstring":    {"test_b (t.T.test_b)\nIt fails ... @ok\n", true},
		"a docstring, and a logger":    {"test_b (t.T.test_b)\nIt says ... RuntimeError: CUDA error: out of memory\nok\n", true},
		"a docstring of a later test":  {"test_b (t.T.test_b)\nIt fails ... @test_c (t.T.test_c)\nIt passes ... ok\n", false},
		"a test with one that fails":   {"test_b (t.T.test_b)\nIt fails ... @ERROR\ntest_c (t.T.test_c)\nIt passes ... ok\n", false},
		"a version above a failure":    {"loader (v1.2)\n@saving ... ok\n", false},
		"go test":                      {"=== RUN   TestRetry\n@--- PASS: TestRetry (0.00s)\n", true},
		"go test, within another":      {"=== RUN   TestRetry\n=== RUN   TestRetry/once\n@    --- PASS: TestRetry/once (0.00s)\n", true},
		"GoogleTest":                   {"[ RUN      ] Alloc.Big\n@[       OK ] Alloc.Big (1 ms)\n", true},
		"cargo test":                   {"running 2 tests\n@test retry ... ok\n\ntest result: ok. 2 passed; 0 failed\n", true},
		"ctest -V":                     {ctest + "12/41 Test #12: big ....   Passed    1.21 sec\n", true},
		"Playwright":                   {"Running 9 tests using 3 workers\n@  1 skipped\n  8 passed (11.4s)\n", true},
		"Jest":                         {jest + "PASS src/x.test.ts\n", true},
		"pytest in a collector's log":  {"2026-03-01T10:00:00.1Z " + strings.ReplaceAll(live, "\n", "\n2026-03-01T10:00:00.1Z ") + "2026-03-01T10:00:00.1Z PASSED\n", true},
		"a page that is built":         {pages + "INFO    -  Documentation built in 4.11 seconds\n", true},
		"a page whose code fails":      {pages + "WARNING -  Execution of a code block exited with errors\nINFO    -  Documentation built in 4.11 seconds\n", false},
		"a page that was warned of":    {pages[:len(pages)-1] + "WARNING -  Execution of a code block exited with errors:\n@INFO    -  Documentation built in 4.11 seconds\n", false},
		"a build that is aborted":      {pages + "\nAborted with a BuildError!\nINFO    -  Building documentation...\nINFO    -  Documentation built in 4.11 seconds\n", false},
		"a build that dies":            {pages, false},
		"a failure behind a build":     {pages[:len(pages)-1] + "INFO    -  Documentation built in 4.11 seconds\n@INFO    -  Documentation built in 4.11 seconds\n", false},
		"a test of pytest that fails":  {live + "FAILED                  [ 33%]\nPASSED\n", false},
		"a session that fails":         {dots + "..F\n\n==== 1 failed, 2 passed in 0.02s ====\n", false},
		"a unit test that fails":       {"test_b (t.T.test_b) ... @ERROR\n\nok\n", false},
		"a test in Go that fails":      {"=== RUN   TestRetry\n@--- FAIL: TestRetry (0.00s)\n", false},
		"the result of another test":   {"=== RUN   TestRetry\n@--- PASS: TestOther (0.00s)\n", false},
		"a test in Rust that fails":    {"running 2 tests\n@test retry ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed\n", false},
		"a test of ctest that fails":   {ctest + "12/41 Test #12: big ....***Failed    1.21 sec\n12/41 Test #12: big ....   Passed    1.21 sec\n", false},
		"another test of ctest":        {ctest + "11/41 Test #11: big ....   Passed    1.21 sec\n", false},
		"a task of srun":               {strings.ReplaceAll(ctest, "Test command: ", "") + "12/41 Test #12: big ....   Passed    1.21 sec\n", false},
		"a test of another number":     {strings.ReplaceAll(ctest, "12: Test", "11: Test") + "11/41 Test #11: big ....   Passed    1.21 sec\n", false},
		"a session of Playwright":      {"Running 9 tests using 3 workers\n@  1 failed\n  8 passed (11.4s)\n", false},
		"a file of Jest that fails":    {jest + "FAIL src/x.test.ts\nPASS src/x.test.ts\n", false},
		"doctest -v":                   {trying + "ok\n", true},
		"doctest, what is expected":    {"Trying:\n    f()\nExpecting:\n    " + strings.ReplaceAll(strings.TrimSpace(oomReport), "\n", "\n    ") + "\nok\n", true},
		"doctest that fails":           {trying + "******\nFile \"x.py\", line 3, in x\nFailed example:\n    f()\nTrying:\n    g()\nExpecting nothing\nok\n", false},
		"doctest, what was raised":     {"Trying:\n    f()\nExpecting nothing\n******\nFailed example:\n    f()\nException raised:\n    " + strings.ReplaceAll(strings.TrimSpace(oomReport), "\n", "\n    ") + "\nTrying:\n    g()\nExpecting nothing\nok\n", false},
		"doctest that was killed":      {trying + "Killed\nTrying:\n    g()\nok\n", false},
		"doctest behind its tests":     {"Trying:\n    f()\nExpecting nothing\nok\n@ok\n", false},
		"TAP":                          {tap + "# found: it\nok 2 b # skip none\n", true},
		"TAP within a test":            {"    " + strings.ReplaceAll(tap, "\n", "\n    ") + "ok 2 - b\n", true},
		"TAP, a test that fails":       {strings.Replace(tap, "ok 1", "not ok 1", 1) + "ok 2 b\n", false},
		"TAP, the next one fails":      {tap + "not ok 2 b\nok 3 c\n", false},
		"TAP that is given up":         {tap + "Bail out! no card\nok 3 c\n", false},
		"TAP whose process dies":       {tap + "Killed\nok 2 b\n", false},
		"TAP without a result":         {tap, false},
		"TAP, a line of its program":   {"ok 1 a\n@ok 2 b\n", false},
		"a comment without tests":      {strings.ReplaceAll(tap, "ok 1 a\n", "") + "done\n", false},
		"a console without a result":   {jest + "done\n", false},
		"a test whose result is lost":  {live, false},
		"a failure behind the tests":   {session + "tests/test_x.py::test_a PASSED [100%]\n\n==== 1 passed in 0.02s ====\n@", false},
		"a result a long way off":      {live + strings.Repeat("and on\n", watchLines) + "PASSED\n", false},
		"a job between two sessions":   {session + "tests/test_x.py ...\n\n==== 3 passed in 0.02s ====\n@" + session + "tests/test_y.py .\n\n==== 1 passed in 0.01s ====\n", false},
		"a session that was killed":    {dots + "Killed\n" + session + "tests/test_x.py ...\n\n==== 3 passed in 0.02s ====\n", false},
		"another test that passes":     {live + "tests/test_x.py::test_b PASSED\n==== 1 passed in 0.02s ====\n", false},
		"sessions of two ranks":        {session + session + "tests/test_x.py @.\n==== 1 passed in 8.02s ====\nF\n==== 1 failed in 8.12s ====\n", false},
		"another rank that passes":     {"[default1]:tests/test_x.py::test_a \n[default1]:" + strings.ReplaceAll(strings.TrimSpace(oomReport), "\n", "\n[default1]:") + "\n[default0]:PASSED\n", false},
		"a kill of the machine":        {live[:len(live)-1] + "Mar  1 10:00:00 n1 kernel: Out of memory: Killed process 4121 (train) total-vm:91234564kB, anon-rss:65011220kB, file-rss:0kB\nPASSED\n", false},
		"a run that only says PASSED":  {"step 1 loss 3\n@PASSED\n", false},
		"an item with a name like one": {"tests/test_x.py::test_a PASSED\n@done\n", false},
	} {
		assertQuoted(t, c.quoted, strings.ReplaceAll(c.log, "@", oomReport), true, name)
	}
}

// TestTextBelowAHeadingIsQuotedWhereTheRunCountsOn puts a failure right below a heading.
func TestTextBelowAHeadingIsQuotedWhereTheRunCountsOn(t *testing.T) {
	t.Parallel()
	const on = "step 2 loss 2.9\nstep 3 loss 2.8\n"
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"what a model wrote":          {"step 1 loss 3\nModel output:\n@\n" + on, true},
		"an empty line between":       {"step 1 loss 3\n=== Sample 3 ===\n\n@" + on, true},
		"with its number":             {"step 1 loss 3\n[sample 0] Response text:\n@" + on, true},
		"a message":                   {"step 1 loss 3\nPrediction:\nRuntimeError: CUDA error: out of memory\n" + on, true},
		"before the first step":       {"Decoded output:\n@step 1 loss 3\n" + on, true},
		"a run that ends there":       {"step 1 loss 3\nModel output:\n@", false},
		"a run that is launched anew": {"step 1 loss 3\nstep 2 loss 2.9\nModel output:\n@step 1 loss 3\n", false},
		"a run from a checkpoint":     {"step 500 loss 3\nModel output:\n@step 400 loss 3\nstep 510 loss 2.9\nstep 520 loss 2.9\n", false},
		"another label":               {"[w0] step 1 loss 3\n[w0] Prediction:\n[w1] RuntimeError: CUDA error: out of memory\n[w0] step 2 loss 3\n", false},
		"the end of a sample":         {"step 1 loss 3\n===== end sample =====\n@" + on, false},
		"what a program begins":       {"step 1 loss 3\n***** Running Prediction *****\n@" + on, false},
		"a kill below a heading":      {"step 1 loss 3\nModel output:\nslurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n" + on, false},
		"a worker below a heading":    {"step 1 loss 3\nModel output:\nRuntimeError: DataLoader worker (pid 4242) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n" + on, false},
		"a process that dies":         {"step 1 loss 3\nModel output:\n@E0301 10:00:00.000000 12 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 4121) of binary: /usr/bin/python\n" + on, false},
		"what a command printed":      {"step 1 loss 3\nCommand output:\n@" + on, false},
		"a worker's errors":           {"step 1 loss 3\nOutput of worker stderr:\n@" + on, false},
		"other text between":          {"step 1 loss 3\nModel output:\n42\n@" + on, false},
		"words without a sign":        {"step 1 loss 3\nwriting the output\n@" + on, false},
	} {
		assertQuoted(t, c.quoted, filler+strings.ReplaceAll(c.log, "@", oomReport), true, name)
	}
}

// TestAListOfMessagesIsQuoted puts a message into the help of a program, a list of commits, a page of a manual and a prompt.
func TestAListOfMessagesIsQuoted(t *testing.T) {
	t.Parallel()
	const message = "RuntimeError: CUDA error: out of memory\n"
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"the help of an option":       {"usage: t.py [-h] [--retry]\n\noptions:\n  -h, --help  show this\n  --retry     again, after\n              " + message, true},
		"an error below a usage":      {"usage: t.py [-h]\n" + message, false},
		"an error behind a usage":     {"usage: t.py [-h]\n\nrunning with 8 workers\n    " + message, false},
		"a commit":                    {"0a1b2c3 (HEAD -> main) Add x\n1a1b2c3 " + message, true},
		"seconds since 1970":          {"1772355600 starting\n1772355601 " + message, false},
		"a label that comes again":    {"0a1b2c3d starting\n0a1b2c3d " + message, false},
		"what a watchdog looks for":   {"10:00:01 INFO w: pattern 1: r'torch\\.(cuda\\.)?Out'\n10:00:01 INFO w: pattern 2: 'x'\n10:00:02 INFO w: pattern 3: 'CUDA error: out of memory'\n", true},
		"what a watchdog has found":   {"INFO w: match 1: 'a.*'\nINFO w: match 2: 'CUDA error: out of memory'\n", false},
		"a list of texts":             {"INFO w: line 1: 'a'\nINFO w: line 2: 'CUDA error: out of memory'\n", false},
		"a failure below expressions": {"INFO w: pattern 1: 'a.*'\nINFO w: step 2: 'CUDA error: out of memory'\n", false},
		"a message behind a label":    {"INFO w: pattern 1: 'a.*'\nINFO w: pattern 2: CUDA error: out of memory\n", false},
		"a page of a manual":          {".TH OOM 1\n.nf\n  oom try '" + strings.TrimSpace(message) + "'\n", true},
		"a prompt that lm-eval shows": {"context prompt (starting on next line):\nWhy?\n@(end of prompt on previous line)\n", true},
		"a prompt, and a failure":     {"context prompt (starting on next line):\nWhy?\n(end of prompt on previous line)\n@", false},
	} {
		assertQuoted(t, c.quoted, strings.ReplaceAll(c.log, "@", oomReport), true, name)
	}
}

// TestWhatAScriptPrintsIsItsOwnWhereARunGoesOn traces a script with set -x.
func TestWhatAScriptPrintsIsItsOwnWhereARunGoesOn(t *testing.T) {
	t.Parallel()
	const message, on = "RuntimeError: CUDA error: out of memory\n", "step 1 loss 3\nstep 2 loss 2.9\nstep 3 loss 2.8\n"
	const echo = "+ echo 'RuntimeError: CUDA error: out of memory'\n"
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a text in quotes":            {"+ case \"$rc\" in\n" + echo + message + on, true},
		"a word":                      {"+ echo MemoryError\nMemoryError\n" + on, true},
		"with a quote in it":          {"+ echo -e 'don'\\''t: CUDA error: out of memory'\ndon't: CUDA error: out of memory\n" + on, true},
		"a script that tells the end": {"+ grep -q memory train.log\n" + echo + message + "+ exit 1\n", false},
		"what it has found":           {"++ grep -m1 error train.log\n" + echo + message + on, false},
		"what it reads":               {"+ read -r line\n" + echo + message + on, false},
		"figures that it has found":   {"+ tail train.log\n+ echo '" + strings.TrimSpace(oomMessage) + "'\n" + oomMessage + on, false},
		"a failure behind its text":   {echo + "ready\n" + message + on, false},
		"another text":                {"+ echo start\n" + message + on, false},
	} {
		assertQuoted(t, c.quoted, filler+c.log, true, name)
	}
}

// TestABuildStepThatIsDoneDidNoHarm lets the steps of a build print messages.
func TestABuildStepThatIsDoneDidNoHarm(t *testing.T) {
	t.Parallel()
	const (
		oom  = "RuntimeError: CUDA error: out of memory\n"
		step = "#8 [4/7] RUN cat /etc/motd\n#8 0.211 Known messages:\n#8 0.212   " + oom
		next = "#9 [5/7] RUN true\n"
		done = "#8 DONE 0.3s\n"
	)
	traced := "#8 [4/7] RUN python x.py | tee x.log\n#8 1.2 " + strings.ReplaceAll(strings.TrimSpace(oomReport), "\n", "\n#8 1.2 ") + "\n"
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a step that is done":             {step + "#8 0.3 end\n" + done, true},
		"behind a collector's time":       {"2025-06-01T10:00:00.100Z " + strings.ReplaceAll(step+"#8 DONE 0.3s", "\n", "\n2025-06-01T10:00:00.100Z ") + "\n", true},
		"beside another step":             {step + next + "#9 0.1 x\n#9 ERROR: process \"/bin/sh -c x\" did not complete successfully: exit code: 1\n" + done, true},
		"a step that fails":               {step + "#8 ERROR: process \"/bin/sh -c python x.py\" did not complete successfully: exit code: 137\n", false},
		"a step that is canceled":         {step + "#8 CANCELED\n" + done, false},
		"another step that is done":       {step + next + "#9 DONE 0.1s\n", false},
		"a step without an end":           {step, false},
		"a process that is killed":        {step + "#8 12.1 Killed\n" + done, false},
		"a kill":                          {"#8 [4/7] RUN make\n#8 12.1 c++: fatal error: Killed signal terminated program cc1plus\n" + done, false},
		"a program whose pipe succeeds":   {traced + done, false},
		"a failure behind the build":      {"#8 0.3 end\n" + done + oom + "#9 DONE 0.1s\n", false},
		"a frame of a debugger's numbers": {"#8 0x7f2a in f\n" + oom + done, false},
	} {
		for _, head := range []bool{true, false} {
			assertQuoted(t, c.quoted, filler+c.log, head, name)
		}
	}
}
