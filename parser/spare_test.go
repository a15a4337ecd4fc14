package parser_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
)

const failure = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free."

// TestWhatIsLeftOutChangesNoJudgement composes logs of writers that say the same again and again between failures, and
// holds what the classifier makes of them against a scan that reads every line.
func TestWhatIsLeftOutChangesNoJudgement(t *testing.T) {
	t.Parallel()
	var phases []string
	for _, p := range parser.Patterns() {
		if p.Marker == "phase" || p.Marker == "timer" || p.Marker == "launch" || p.Gauge {
			for _, s := range p.Match {
				if !strings.Contains(s.Line, "\n") {
					phases = append(phases, s.Line)
				}
			}
		}
	}
	seeds := uint64(12)
	if testing.Short() {
		seeds = 2
	}
	told, all := 0, 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 5))
		var some []string // a log knows a few of them
		for range 6 {
			some = append(some, phases[r.IntN(len(phases))])
		}
		some = append(some, "After update policy, memory allocated (GB): 2.31, memory reserved (GB): 40.10", "Before update policy, memory allocated (GB): 2.31, memory reserved (GB): 40.10")
		var b strings.Builder
		b.WriteString(strings.Repeat("a line that says nothing\n", 700))
		for n := range 2500 {
			who := []string{"", "[rank1]: ", "[rank2]: ", "0: ", "(WorkerDict pid=7) ", "(WorkerDict pid=8, ip=10.0.0.2) ", "(TaskRunner pid=9) "}[r.IntN(7)]
			stamp := []string{"", "", fmt.Sprintf("2026-01-01 10:%02d:%02d,000 - INFO - ", n/60%60, n%60), fmt.Sprintf("INFO:2026-01-01 10:%02d:%02d,000:", n/60%60, n%60)}[r.IntN(4)]
			switch r.IntN(300) {
			case 0:
				b.WriteString(who + failure)
			case 1:
				b.WriteString(who + "Traceback (most recent call last):\n" + who + "  File \"/srv/a.py\", line 3, in f\n" + who + "ValueError: no answer")
			case 2:
				b.WriteString(who + []string{"[prompt] how?", "[score] 1.0", "<|im_start|>user", "text </s>", "[INST] why"}[r.IntN(5)])
			case 3:
				b.WriteString(who + fmt.Sprintf("step:%d - actor/entropy:0.281", n))
			case 4:
				b.WriteString("slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.")
			case 5, 6, 7, 8:
				b.WriteString("a line that says nothing")
			default:
				b.WriteString(who + stamp + some[r.IntN(len(some))])
			}
			b.WriteString("\n")
		}
		got, want := classifier.NewCollector(), classifier.NewCollector()
		_, err := parser.Scan("a.log", strings.NewReader(b.String()), func(o parser.Observation) {
			if m, ok := o.(parser.Marker); ok && m.Name == "phase" {
				told++
			}
			got.Add(o)
		})
		require.NoError(t, err)
		_, err = parser.ScanInFull("a.log", strings.NewReader(b.String()), func(o parser.Observation) {
			if m, ok := o.(parser.Marker); ok && m.Name == "phase" {
				all++
			}
			want.Add(o)
		})
		require.NoError(t, err)
		require.Equal(t, want.Result(), got.Result(), "seed %d", seed)
	}
	assert.Less(t, told, all, "something is left out")
}
