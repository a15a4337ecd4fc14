package stream

import (
	"strconv"
	"strings"
	"testing"
)

// TestAProgramInASandboxIsNoneOfTheRun puts a failure into the record of a program that a sandbox has run.
func TestAProgramInASandboxIsNoneOfTheRun(t *testing.T) {
	t.Parallel()
	record := func(output string, code int) string {
		return `{"status":"done","stdout":"","stderr":` + strconv.Quote(output) + `,"exit_code":` + strconv.Itoa(code) + "}\n"
	}
	well, failed := record("", 0), record(oomReport, 1)
	const on = "step 1 loss 3\nstep 2 loss 2.9\nstep 3 loss 2.8\n"
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a case that fails":             {strings.Repeat("case 3: "+well, 3) + "case 4: " + failed + on, true},
		"the first case":                {"case 0: " + failed + strings.Repeat("case 3: "+well, 3) + on, true},
		"several":                       {strings.Repeat("case 3: "+well+"case 4: "+failed, 3) + on, true},
		"a run that counts on":          {"step 7 loss 3\n" + strings.Repeat(well, 3) + failed + "step 8 loss 3\n", true},
		"another writer counts":         {"(Reward pid=7) " + strings.Repeat(well+"(Reward pid=7) ", 3) + failed + "(Runner pid=8) " + strings.ReplaceAll(on, "\nstep", "\n(Runner pid=8) step"), true},
		"a run that ends there":         {strings.Repeat(well, 3) + failed, false},
		"a run that starts again":       {"step 7 loss 3\n" + strings.Repeat(well, 3) + failed + on, false},
		"a job alone":                   {failed + on, false},
		"most nodes of a job":           {"node 0: " + well + "node 1: " + failed + "node 2: " + failed + "node 3: " + well + on, false},
		"a failure of the run behind":   {strings.Repeat(well, 3) + oomReport + on, false},
		"the grader itself":             {strings.Repeat("case 3: "+well, 3) + "grader: " + strings.TrimSpace(oomMessage) + "\n" + on, false},
		"another record":                {strings.Repeat("case 3: "+well, 3) + `job 4: {"id":1,"stdout":"","stderr":` + strconv.Quote(oomReport) + `,"exit_code":1}` + "\n" + on, false},
		"a process that dies behind it": {strings.Repeat(well, 3) + failed + "srun: error: node1: task 0: Exited with exit code 1\n" + on, false},
	} {
		assertQuoted(t, c.quoted, filler+c.log, true, name)
	}
}

// TestAJudgedProgramIsNoneOfTheRun puts a failure below the verdict on a program that a model wrote.
func TestAJudgedProgramIsNoneOfTheRun(t *testing.T) {
	t.Parallel()
	const (
		rows    = "[judge 03] LCB/2800 sample 0: AC   0.36s\n[judge 11] LCB/2807 sample 0: TLE  0.75s\n"
		failed  = "[judge 08] LCB/3339 sample 0: RE   0.48s\n"
		heading = "           program's stderr:\n"
	)
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a traceback":                    {rows + failed + heading + oomReport, true},
		"a message alone":                {rows + failed + "    stderr:\n" + oomMessage, true},
		"another one":                    {rows + failed + heading + oomReport + rows + failed + heading + oomReport, true},
		"the judge's own":                {rows + failed + oomReport, false},
		"the judge's own behind a text":  {rows + failed + heading + "killed\n" + rows + oomReport, false},
		"a traceback behind the output":  {rows + failed + heading + "killed\n" + oomReport, false},
		"no verdict":                     {rows + "[worker 3] exited with 1\n" + heading + oomReport, false},
		"the first verdict":              {failed + heading + oomReport, false},
		"a heading at the margin":        {rows + failed + "stderr:\n" + oomReport, false},
		"a worker's standard error":      {"worker 1 done\nworker 2 done\nworker 3 failed\n  stderr:\n" + oomReport, false},
		"words that are not in capitals": {strings.Repeat("job 3: re 0.4s\n", 3) + heading + oomReport, false},
	} {
		for _, head := range []bool{true, false} {
			assertQuoted(t, c.quoted, filler+c.log, head, name)
		}
	}
}
