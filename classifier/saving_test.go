package classifier

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier/phase"
)

// TestAKillAtASaveStepIsOfTheCheckpoint kills a trainer at the step after which it saves, and beside it.
func TestAKillAtASaveStepIsOfTheCheckpoint(t *testing.T) {
	t.Parallel()
	const killed = "slurmstepd: error: Detected 1 oom_kill event in StepId=42.0. Some of the step tasks have been OOM Killed.\n"
	const begins = "***** Running training *****\n"
	bars := func(last int) string {
		return fmt.Sprintf(" 10%%|#         | %d/2500 [3:17:05<29:33:45, 47.28s/it]\n", last)
	}
	losses := func(steps ...int) string {
		var b strings.Builder
		for _, n := range steps {
			fmt.Fprintf(&b, " [2025-05-20 04:10:31] iteration %8d/ 2000 | consumed samples: 100 | lm loss: 2.1E+00 |\n", n)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		log    string
		saving bool
	}{
		"a bar at the step that saves":            {"Namespace(save_steps=250)\n" + begins + bars(249) + bars(250), true},
		"a bar of something before training":      {"Namespace(save_steps=250)\n" + bars(249) + bars(250), false},
		"a bar behind it":                         {"Namespace(save_steps=250)\n" + begins + bars(250) + bars(251), false},
		"a bar that is complete":                  {"Namespace(save_steps=250)\n" + begins + bars(2500), false},
		"logged steps, the last one saves":        {"Namespace(save_interval=100)\n" + losses(50, 100, 150, 200), true},
		"all logged steps save":                   {"Namespace(save_interval=100)\n" + losses(100, 200), false},
		"a trainer that saves each epoch":         {"Namespace(save_strategy='epoch', save_steps=250)\n" + begins + bars(249) + bars(250), false},
		"an evaluation was announced at the step": {"Namespace(save_steps=250)\n" + begins + bars(249) + bars(250) + "***** Running Evaluation *****\n", false},
		"no setting":                              {begins + bars(249) + bars(250), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := read(t, map[string]string{"x.log": c.log + killed}).Incidents
			require.Len(t, in, 1)
			assert.Equal(t, c.saving, in[0].Phase == phase.Checkpoint, in[0].PhaseWhy)
		})
	}
	in := read(t, map[string]string{"x.log": "Namespace(save_interval=100)\n" + losses(50, 100, 150, 200), "slurm.err": killed}).Incidents
	require.Len(t, in, 1)
	assert.Equal(t, phase.Checkpoint, in[0].Phase, "the steps stand in another file")
}
