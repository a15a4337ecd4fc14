package messages

import "oomscan/parser/pattern"

// endedWell are the lines in which a job, a test run or a program says that it ended well. A process that died prints none of them, but a
// script that goes on behind it may, so all but those of GitLab's CI only count where nothing else tells of a death.
func endedWell() []pattern.Pattern {
	const (
		// What dying programs and their launchers save, too.
		remains = `(?i:core\b|dump|snapshot|\berr|crash|trace|\blogs?\b|debug|diagnos|oom|memory|profil|experiment state)`
		took    = `(?:\d{1,3}(?::\d\d){1,3}|(?:\d[\d.]{0,12} ?[a-z]{1,7},? ?){1,3})`
		path    = `['"\x60]?(?:[^\s'"\x60]{0,300}/[^\s'"\x60]|[^\s'"\x60]{1,300}\.\w{2,8}\b)`
	)
	return []pattern.Pattern{
		{
			Name:     "job.exit_zero",
			Literals: []string{"exit 0", "code 0", "status 0", "code: 0", "status: 0", "code=0", "status=0"},
			Expr:     `(?:^|[\s,(])(?:[Ee]xit(?:ed|[ _]?[Cc]ode)?(?: with)?(?: (?:code|status))?|[Rr]eturn code)(?:[:=] {0,2}| )0[.)]?\s*$`,
			Marker:   "ended_well", Source: "bash -x; scripts, which print $?",
			Match:   lines("+ exit 0", "$ exit 0", "exit code 0", "job 4711 finished with exit code 0", "Process exited with status 0", "triage: done, exit 0"),
			NoMatch: []string{"exit code 0 of 4", "+ exit 10", "HTTP status 0", "exits with return code = -9", "expected exit code 0, got 137"},
		},
		{
			Name:     "ci.succeeded",
			Literals: []string{"Job succeeded"},
			Expr:     `^Job succeeded\s*$`,
			Marker:   "succeeded", Source: "GitLab Runner, whose shell ends at the first command that fails, in a pipe too (shells/bash.go: errexit, pipefail)",
			Match:   lines("Job succeeded"),
			NoMatch: []string{"Job succeeded in part", "Job 'raysubmit_Uv8c' succeeded"},
		},
		{
			Name:     "job.succeeded",
			Literals: []string{"BUILD SUCCESS", "Finished: SUCCESS", "uccessfully", " passed in ", " passed, ", "ll tests passed", "ll suites passed"},
			Expr: `\bBUILD SUCCESS(?:FUL)?\b|^Finished: SUCCESS\s*$|^(?:[\w ]{1,40} )?(?:completed|finished|ended) successfully[.!]?\s*$` +
				`|^(?:={3,100} )?\d{1,7} passed(?:, \d{1,7} (?:skipped|deselected|xfailed|xpassed|warnings?)){0,5} in \d[\d.]{0,12}s\b|^[Aa]ll (?:tests|suites) passed[.!]?\s*$`,
			Marker: "ended_well", Source: "Gradle, Maven; Jenkins, whose shell looks at a pipe's last command only; pytest; scripts",
			Match: lines("BUILD SUCCESSFUL in 12s", "Finished: SUCCESS", "Evaluation completed successfully.", "====== 40 passed, 2 skipped, 1 warning in 9.81s ======", "all suites passed"),
			NoMatch: []string{
				"Finished: FAILURE", "====== 1 failed, 40 passed in 9.81s ======", "tests/test_a.py::test_b passed in 0.2s", "Checkpoint 4 was written successfully to /out", "cuda:0 initialized successfully",
			},
		},
		{
			Name:     "program.done",
			Literals: []string{"done in ", "Done in ", "inished in ", "ompleted in "},
			Expr:     `^(?:.{0,200}[\]:] )?(?:\w{1,30} )?(?:[Dd]one|[Ff]inished|[Cc]ompleted) in ` + took + `[.!]?\s*$`,
			Marker:   "ended_well", Source: "scripts: how long they took",
			Match:   lines("finished in 0:41:22", "[line_stats] done in 21 min 40 s", "Training finished in 2899.3 seconds"),
			NoMatch: []string{"Checkpoint 4 done in 2 s, 3 left", "step 40 completed in 1.2 s: loss 2.1"},
		},
		{
			Name:     "program.wrote",
			Literals: []string{"aved to ", "ritten to ", "xported to ", "ecorded to "},
			Expr:     `^(?!.{0,400}` + remains + `).{0,200}\b(?:[Ss]aved|[Ww]ritten|[Ee]xported|[Rr]ecorded) to:? ` + path,
			Marker:   "ended_well", Source: "scripts: what they wrote, behind all the rest",
			Match: lines(
				"results saved to out/eval.json", "08/11/2026 10:00:00 - INFO - predictions written to out/codet5p/predictions.txt", "best: bs=64, exported to export.pkl", "Closing session. Recorded to /root/.local/share/x.jsonl",
			),
			NoMatch: []string{
				"memory snapshot saved to /tmp/oom.pickle", "An error report file is saved to /tmp/hs_err_pid7", "Core dump written to /var/crash/core.7",
				"Result files and experiment state saved to '/root/ray_results/x'",
				"it should have been written to disk", "logs written to /scratch/x",
			},
		},
	}
}
