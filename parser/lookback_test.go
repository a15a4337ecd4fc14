package parser

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	oomMessage  = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free."
	afterUpdate = "(WorkerDict pid=7) INFO:2026-01-01 10:00:00,000:After update policy, memory allocated (GB): 2.31, memory reserved (GB): 40.10"
)

func step(n int) string { return fmt.Sprintf("(TaskRunner pid=3901) step:%d - actor/entropy:0.281", n) }

// TestCommonLinesAreNotSearchedFor holds the search to what it spares.
func TestCommonLinesAreNotSearchedFor(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat(step(12)+"\n"+afterUpdate+"\n", 50))
	b := block{text: text, hi: len(text), maxLine: DefaultLine}
	b.survey(newSurveyor(table()), false)
	assert.Empty(t, b.spots)
	assert.Equal(t, 100, b.newlines)
	b.survey(newSurveyor(table()), true)
	assert.Len(t, b.spots, 100)
}

// TestTheLastStepsAreFoundBehindAnEvent counts on the last steps before it, and on their lines and offsets.
func TestTheLastStepsAreFoundBehindAnEvent(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for range headLines {
		b.WriteString("a line that says nothing\n")
	}
	want := map[int]int64{}
	const steps = 3000
	for n := range steps {
		if n >= steps-keepOf[commonStepKind] {
			want[headLines+1+n*9] = int64(b.Len())
		}
		b.WriteString(step(n) + "\n" + strings.Repeat("a line that says nothing\n", 8))
	}
	b.WriteString(oomMessage + "\n")
	text := b.String()
	got := map[int]int64{}
	_, err := ScanAt("in", strings.NewReader(text), int64(len(text)), 3, func(o Observation) {
		if m, ok := o.(Marker); ok && m.Name == "step" {
			got[m.At.Line] = m.At.Offset
		}
	})
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// TestLookingBackSeesWhatASearchSees composes logs full of common lines, and reads them as streams and in parts, with a
// bound for looking back that is soon met.
func TestLookingBackSeesWhatASearchSees(t *testing.T) {
	t.Parallel()
	tab := *table()
	tab.headLines, tab.lookBack, tab.markBack = 3, 150_000, 40_000
	seeds, lines := uint64(8), 1500
	if testing.Short() {
		seeds, lines = 1, 300
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		var b bytes.Buffer
		for n := range 400 + r.IntN(lines) {
			end := "\n"
			switch r.IntN(60) {
			case 0:
				b.WriteString(oomMessage)
			case 1:
				b.WriteString("[rank1]: Traceback (most recent call last):\n[rank1]:   File \"/srv/a.py\", line 3, in f\n[rank1]: ValueError: " + step(n))
			case 2:
				b.WriteString(strings.Repeat("\r"+step(n)+"\r 3%|#   | 40/1171 [39:20<18:32:22, 59.01s/it]", 1+r.IntN(1200)))
			case 3:
				b.WriteString(strings.Repeat("0123456789abcdef ", r.IntN(9000)) + step(n))
			case 4:
				b.WriteString("(TaskRunner pid=3901) [prompt] " + step(n))
			case 5:
				b.WriteString("hint: should you see CUDA out of memory, wait for " + step(n))
			case 6:
				b.WriteString("0: " + step(n) + strings.Repeat(" - perf/x:1.0", r.IntN(200)))
			case 7, 8, 9, 10, 11, 12, 13, 14:
				b.WriteString(step(n))
			case 15, 16, 17, 18:
				b.WriteString(afterUpdate)
			case 19:
				end = "\r\n"
			case 20:
				b.WriteString("[rank1]: [response] " + strings.Repeat("it depends ", r.IntN(1500)) + oomMessage)
			case 21:
				b.WriteString("[score] 0.5")
			case 22:
				b.WriteString("Timer actor_train start <|im_end|>")
			case 23:
				b.WriteString("[rank1]: <|im_start|>user\n[rank1]: Timer rollout start\n" + oomMessage + "\n[rank1]: " + oomMessage)
			case 24:
				b.WriteString(strings.Repeat("\r<|im_start|>"+step(n)+"\r[score] ", 1+r.IntN(400)))
			case 25:
				b.WriteString("0: [prompt] " + strings.Repeat("x", 1024))
			case 26:
				longLine(&b, r, n)
			default:
				b.WriteString(strings.Repeat("a line that says nothing, ", r.IntN(20)))
			}
			b.WriteString(end)
		}
		text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		if seed%2 > 0 {
			text = append(text, "\n[score] 0.5"...)
		}
		want := everything(t, func(emit func(Observation)) (Stats, error) {
			s := newScanner("in", &tab, emit)
			_, err := s.ReadFrom(bytes.NewReader(text))
			return s.Close(), err
		})
		for _, length := range []int{1 << 10, 30_000, 512 << 10} {
			got := everything(t, func(emit func(Observation)) (Stats, error) {
				return scanAt(newScanner("in", &tab, emit), newFleeting(text), int64(len(text)), 1+int(seed%3), length)
			})
			same(t, want, got)
		}
	}
}

// longLine writes a long line of bars and flat text, with cold needles, others and messages anywhere in it.
func longLine(b *bytes.Buffer, r *rand.Rand, n int) {
	words := []string{
		step(n), afterUpdate, "[prompt] ", "<|im_end|>", "Timer actor_train start", oomMessage, "0123456789abcdef ", "\r",
		"\r 3%|#   | 40/1171 [39:20<18:32:22, 59.01s/it]\r", "\r[rank1]: Traceback (most recent call last):\r[rank1]:   File \"/srv/a.py\", line 3, in f\r",
		"hint: should you see CUDA out of memory, ", "iteration 7/ 500 | consumed samples: 7 | elapsed time per iteration (ms): 7.0 | learning rate: 1E-05 |",
	}
	b.WriteString([]string{"", "[rank1]: ", "(TaskRunner pid=3901) "}[r.IntN(3)])
	for size := b.Len() + 2*LeastLine + r.IntN(4*DefaultLine); b.Len() < size; {
		if r.IntN(3) == 0 {
			b.WriteString(strings.Repeat("0123456789abcdef ", r.IntN(1+r.IntN(2000))))
		}
		b.WriteString(words[r.IntN(len(words))])
		if r.IntN(4) > 0 {
			b.WriteString("\r")
		}
	}
}

// TestColdNeedlesOfALongLineAreNotSearchedFor holds the search to what it spares.
func TestColdNeedlesOfALongLineAreNotSearchedFor(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat(step(12)+"\r"+afterUpdate+"\r[score] 0.5\r", 4000))
	b := block{text: text, hi: len(text), maxLine: DefaultLine}
	b.survey(newSurveyor(table()), false)
	assert.Empty(t, b.spots)
	assert.Equal(t, []int{0}, b.long)
}

// TestTheLastStepsOfALongLineAreFound counts on the last steps before an event amidst a line of megabytes.
func TestTheLastStepsOfALongLineAreFound(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("begin\r")
	want := map[string]int64{}
	const steps = 9000
	for n := range steps {
		if n >= steps-keepOf[commonStepKind] {
			want[fmt.Sprint(n)] = int64(b.Len())
		}
		b.WriteString(step(n) + "\r 3%|#   | 40/1171 [39:20<18:32:22, 59.01s/it]\r")
	}
	b.WriteString(oomMessage + "\r")
	for n := range steps {
		b.WriteString(step(steps+n) + "\r")
	}
	text := b.String()
	for _, scan := range []func(emit func(Observation)) (Stats, error){
		func(emit func(Observation)) (Stats, error) { return Scan("in", strings.NewReader(text), emit) },
		func(emit func(Observation)) (Stats, error) {
			return ScanAt("in", strings.NewReader(text), int64(len(text)), 3, emit)
		},
	} {
		got, over := map[string]int64{}, false
		_, err := scan(func(o Observation) {
			switch o := o.(type) {
			case Marker:
				if o.Name == "step" && !over && o.At.Offset > headBytes {
					assert.Equal(t, 1, o.At.Line)
					got[o.Fields["step"]] = o.At.Offset
				}
			case Event:
				over = true
			}
		})
		require.NoError(t, err)
		assert.True(t, over)
		assert.Equal(t, want, got)
	}
}

// TestMarksOfALongLineReachAsFarAsTheyAreLookedFor puts an event near the mark of a sample that was not closed, and far
// from it, with the closing mark between that nobody looked for.
func TestMarksOfALongLineReachAsFarAsTheyAreLookedFor(t *testing.T) {
	t.Parallel()
	bars := func(n int) string { return strings.Repeat("\r 3%|#   | 40/1171 [39:20<18:32:22, 59.01s/it]", n) }
	for name, c := range map[string]struct {
		text   string
		events int
	}{
		"near":              {"(A pid=1) x" + bars(3000) + "\r[rank1]: <|im_start|>user" + bars(20) + "\r[rank1]: " + oomMessage + bars(3000), 0},
		"far":               {"(A pid=1) x" + bars(3000) + "\r[rank1]: <|im_start|>user" + bars(2000) + "\r[rank1]: " + oomMessage + bars(3000), 1},
		"near, and far":     {"x" + bars(3000) + "\r[rank1]: [prompt] a\r[rank1]: " + oomMessage + bars(2000) + "\r[rank1]: [score] 1" + bars(2000) + "\r[rank1]: " + oomMessage, 1},
		"on the next line":  {"x" + bars(3000) + "\r[rank1]: [prompt] a\n[rank1]: " + oomMessage + "\n", 0},
		"far, and the next": {"x" + bars(3000) + "\r[rank1]: [prompt] a" + bars(2000) + "\n[rank1]: " + oomMessage + "\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for k := range 2 {
				events := 0
				emit := func(o Observation) {
					if e, ok := o.(Event); ok && e.Role == Evidence {
						events++
					}
				}
				var err error
				if k == 0 {
					_, err = Scan("in", strings.NewReader(c.text), emit)
				} else {
					_, err = ScanAt("in", strings.NewReader(c.text), int64(len(c.text)), 2, emit)
				}
				require.NoError(t, err)
				assert.Equal(t, c.events, events)
			}
		})
	}
}
