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
		kill  = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
		shell = "run.sh: line 4: 24310 Killed                  python train.py\n"
		gpu   = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
	)
	var lines strings.Builder
	for i := range 4 {
		fmt.Fprintf(&lines, "step %d, loss 2.31, rss %d.5 GiB\nbatch %d\n", i, 10+i, i)
	}
	for name, c := range map[string]struct {
		log  string
		want []int // lines
	}{
		"a kill":                             {lines.String() + kill, []int{1, 3, 5, 7}},
		"a second kill":                      {lines.String() + kill + "step 9, rss 20.5 GiB\n" + kill, []int{1, 3, 5, 7}},
		"a failure of a card":                {strings.ReplaceAll(lines.String(), "rss", "mem") + gpu, []int{1, 3, 5, 7}},
		"host memory and a card":             {lines.String() + gpu, nil},
		"no failure":                         {lines.String(), nil},
		"a shell's word of an earlier kill":  {shell + lines.String() + shell, []int{2, 4, 6, 8}},
		"a second kill by the shell":         {lines.String() + shell + "step 9, rss 20.5 GiB\n" + shell, []int{1, 3, 5, 7}},
		"columns of ps":                      {"$ ps -eo pid,rss,comm\n24310 9173584 python\n2431 1000 bash\n24310 99173584 python\n" + shell, []int{2, 4}},
		"columns of ps that hold no memory":  {"$ ps -eo pid,vsz,comm\n24310 9173584 python\n" + shell, nil},
		"numbers beside a process":           {"24310 9173584 python\n" + shell, nil},
		"columns of ps and a script's words": {"$ ps -eo pid,rss,comm\n24310 9173584 python\nstep 1, rss 8.5 GiB\n" + shell, []int{3}},
		"a kill at the beginning":            {kill + lines.String(), nil},
		"readings in records":                {strings.ReplaceAll(lines.String(), "step", "2026-03-01 09:00:00,123 INFO step") + kill, []int{1, 3, 5, 7}},
		"a reading in a long line":           {"step 1, rss 10.5 GiB" + strings.Repeat(" x", longestReading) + "\n" + kill, nil},
		"readings far above a kill":          {lines.String() + strings.Repeat("step\n", inUseLines) + kill, nil},
		"a reading of the card's":            {"step 1 GPU memory 10.5 GiB\n" + kill, nil},
		"a limit that is not in use":         {"memory limit 64 GiB\n" + kill, nil},
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
