package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser"
)

// TestReadingsAboveAKillAreRead prints what a script says of its memory above several failures.
func TestReadingsAboveAKillAreRead(t *testing.T) {
	t.Parallel()
	const (
		kill = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
		gpu  = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
	)
	var lines strings.Builder
	for i := range 4 {
		fmt.Fprintf(&lines, "step %d, loss 2.31, rss %d.5 GiB\nbatch %d\n", i, 10+i, i)
	}
	for name, c := range map[string]struct {
		log  string
		want []int // lines
	}{
		"a kill":                     {lines.String() + kill, []int{1, 3, 5, 7}},
		"a second kill":              {lines.String() + kill + "step 9, rss 20.5 GiB\n" + kill, []int{1, 3, 5, 7}},
		"a failure of a card":        {strings.ReplaceAll(lines.String(), "rss", "mem") + gpu, []int{1, 3, 5, 7}},
		"host memory and a card":     {lines.String() + gpu, nil},
		"no failure":                 {lines.String(), nil},
		"a kill at the beginning":    {kill + lines.String(), nil},
		"readings in records":        {strings.ReplaceAll(lines.String(), "step", "2026-03-01 09:00:00,123 INFO step") + kill, []int{1, 3, 5, 7}},
		"a reading in a long line":   {"step 1, rss 10.5 GiB" + strings.Repeat(" x", longestReading) + "\n" + kill, nil},
		"readings far above a kill":  {lines.String() + strings.Repeat("step\n", inUseLines) + kill, nil},
		"a reading of the card's":    {"step 1 GPU memory 10.5 GiB\n" + kill, nil},
		"a limit that is not in use": {"memory limit 64 GiB\n" + kill, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []int
			for _, o := range feedIn(c.log, len(c.log), false) {
				if g, ok := o.(parser.Gauge); ok && strings.HasPrefix(g.Name, "reading.") && strings.HasSuffix(g.Name, "above") {
					got = append(got, g.At.Line)
				}
			}
			assert.Equal(t, c.want, got)
		})
	}
}
