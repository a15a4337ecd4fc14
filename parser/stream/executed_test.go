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
