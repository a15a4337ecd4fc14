package parser

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// healthy are lines of runs in which nothing went wrong: no pattern but a marker may match one.
var healthy = []string{
	"step:37 - global_seqlen/min:336810.057 - actor/entropy:0.281 - perf/max_memory_allocated_gb:61.2 - timing_s/gen:41.2",
	"[2026-03-09 14:44:05] Decode batch, #running-req: 61, #token: 523939, token usage: 0.87, cuda graph: True, gen throughput (token/s): 3238.39, #queue-req: 0, ",
	"INFO 12-03 11:20:00 [loggers.py:161] Engine 000: Avg prompt throughput: 2852.9 tokens/s, Running: 250 reqs, GPU KV cache usage: 66.2%",
	" iteration       10/     500 | consumed samples: 2560 | elapsed time per iteration (ms): 1520.2 | lm loss: 2.1E+00",
	"{'loss': 0.0005, 'grad_norm': 0.256167, 'learning_rate': 1e-06, 'epoch': 0.1}",
	"Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:00<00:02, 1.97it/s]",
	"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
	"use gradient checkpointing to avoid OOM, reduce the batch size if you run out of memory",
	"early stopping: killed by patience",
	"the classroom has room for a zoom lens",
}

var (
	patternName = regexp.MustCompile(`^[a-z0-9]+(\.[a-z0-9_]+)+$`)
	phases      = map[string]bool{"": true, "init": true, "rollout": true, "logprob": true, "forward": true, "backward": true, "optimizer": true, "training": true, "weight_update": true, "nccl": true, "checkpoint": true, "data": true}
)

// TestPatterns proves the whole table, pattern by pattern.
func TestPatterns(t *testing.T) {
	t.Parallel()
	all := Patterns()
	seen := map[string]bool{}
	for i := range all {
		p := &all[i]
		t.Run(p.Name, func(t *testing.T) {
			require.Regexp(t, patternName, p.Name)
			require.False(t, seen[p.Name], "name is taken")
			seen[p.Name] = true
			_, err := p.compile()
			require.NoError(t, err)
			assert.NotEmpty(t, p.Source, "say which program, version and file prints this")
			assert.NotEmpty(t, p.Match, "a pattern without a sample proves nothing")
			assert.True(t, phases[p.Phase], "phase %q", p.Phase)
			yields := 0
			for _, y := range []bool{p.Kind != "", p.Marker != "", p.Gauge, p.Veto} {
				if y {
					yields++
				}
			}
			assert.Equal(t, 1, yields, "exactly one of Kind, Marker, Gauge, Veto")
			assert.Equal(t, p.Kind != "", p.Role != "", "events have a role, nothing else has")
			require.True(t, len(p.Needles) > 0 || len(p.After) > 0 && p.Within > 0, "nothing leads to this pattern")
			for _, a := range p.After {
				assert.True(t, slices.ContainsFunc(all, func(q Pattern) bool { return q.Name == a && len(q.Needles) > 0 }), "After: no pattern %q with needles", a)
			}
			for _, n := range p.Needles {
				assert.GreaterOrEqual(t, len(n), 6, "needle %q is too short to be rare", n)
			}
			for _, s := range p.Match {
				got, ok := p.match([]rune(s.Line))
				if !assert.True(t, ok, "must match %q", s.Line) {
					continue
				}
				assert.Equal(t, s.Want, got, "fields of %q", s.Line)
				assert.True(t, len(p.Needles) == 0 || containsAny(s.Line, p.Needles), "no needle in %q", s.Line)
				assert.True(t, p.passes([]byte(s.Line), ofMessage), "no literal of the gate in %q", s.Line)
			}
			for _, l := range p.NoMatch {
				_, ok := p.match([]rune(l))
				assert.False(t, ok, "must not match %q", l)
			}
			for _, l := range healthy {
				if p.Marker != "" || p.Gauge {
					continue
				}
				_, ok := p.match([]rune(l))
				assert.False(t, ok, "claims a healthy line: %q", l)
			}
		})
	}
}

// TestPatternsDoNotOverlap holds every sample against every other pattern: a message has one owner.
func TestPatternsDoNotOverlap(t *testing.T) {
	t.Parallel()
	all := Patterns()
	for i := range all {
		p := &all[i]
		if p.Marker != "" || p.Gauge {
			continue
		}
		for _, s := range p.Match {
			for j := range all {
				q := &all[j]
				if i == j || q.Marker != "" || q.Gauge || len(q.Needles) == 0 || !containsAny(s.Line, q.Needles) {
					continue
				}
				if _, ok := q.match([]rune(s.Line)); ok && !has(p.Also, q.Name) && !has(q.Also, p.Name) {
					t.Errorf("%s and %s both claim %q: tell them apart, or name one in the other's Also", p.Name, q.Name, s.Line)
				}
			}
		}
	}
}

func containsAny(s string, needles []string) bool {
	for _, n := range needles {
		if strings.Contains(s, n) {
			return true
		}
	}
	return false
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// TestLiteralsAreInEveryMatch holds what is taken out of an expression against the lines that it must match.
func TestLiteralsAreInEveryMatch(t *testing.T) {
	t.Parallel()
	with := 0
	for _, p := range Patterns() {
		if len(p.holds()) > 0 {
			with++
		}
		for _, s := range p.Match {
			for _, c := range p.holds() {
				assert.True(t, c.in([]byte(s.Line), ofMessage), "%s: %+v", p.Name, c)
			}
		}
	}
	assert.Greater(t, with, len(Patterns())*3/4, "most expressions were not understood")
}

func TestSampleMarksAreToldByTheirBrackets(t *testing.T) {
	t.Parallel()
	for _, m := range sampleMarks {
		told := strings.IndexByte("<[", m.mark[0]) >= 0 && strings.IndexByte(seconds, m.mark[1]) >= 0
		assert.True(t, told || m.mark == string(labelIDs), m.mark)
	}
}

func TestTheLastMarkOpensOrCloses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		var b []byte
		for range r.IntN(6) {
			b = append(b, sampleMarks[r.IntN(len(sampleMarks))].mark...)
			b = b[:len(b)-r.IntN(2)]
			b = append(b, strings.Repeat("[<|_i", r.IntN(3))...)
		}
		last, opens := -1, false
		for _, m := range sampleMarks {
			if i := bytes.LastIndex(b, []byte(m.mark)); i > last {
				last, opens = i, m.opens
			}
		}
		marked, got := lastMark(b)
		assert.Equal(t, last >= 0, marked, "%q", b)
		assert.Equal(t, opens, got, "%q", b)
	}
}

func TestKernelWordsAreNeedles(t *testing.T) {
	t.Parallel()
	for _, w := range kernelWords {
		assert.NotEmpty(t, table().needlesIn(w, nil), "%s", w)
	}
}
