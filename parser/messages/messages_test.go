package messages

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"oomscan/parser/pattern"

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

// TestReadingsAboveAFailureReadTheirSamples proves the patterns that are in no table, because no literal leads to them.
func TestReadingsAboveAFailureReadTheirSamples(t *testing.T) {
	t.Parallel()
	for _, p := range []pattern.Pattern{HostInUse(), CardInUse()} {
		m := pattern.Matcher{Pattern: &p}
		for _, s := range p.Match {
			got, ok := m.FieldsOf(pattern.Runes(nil, []byte(s.Line)))
			assert.True(t, ok, s.Line)
			assert.Equal(t, s.Want, got, s.Line)
		}
		for _, line := range p.NoMatch {
			assert.False(t, m.Matches(pattern.Runes(nil, []byte(line))), line)
		}
	}
}

// TestPatterns proves the whole table, pattern by pattern.
func TestPatterns(t *testing.T) {
	t.Parallel()
	all := All()
	seen := map[string]bool{}
	for i := range all {
		p := &all[i]
		t.Run(p.Name, func(t *testing.T) {
			require.Regexp(t, patternName, p.Name)
			require.False(t, seen[p.Name], "name is taken")
			seen[p.Name] = true
			assert.Empty(t, p.Prove())
			m := pattern.Matcher{Pattern: p}
			assert.NotEmpty(t, p.Source, "say which program, version and file prints this")
			assert.True(t, phases[p.Phase], "phase %q", p.Phase)
			yields := 0
			for _, y := range []bool{p.Kind != "", p.Marker != "", p.Gauge, p.Veto} {
				if y {
					yields++
				}
			}
			assert.Equal(t, 1, yields, "exactly one of Kind, Marker, Gauge, Veto")
			for _, a := range p.After {
				assert.True(t, slices.ContainsFunc(all, func(q pattern.Pattern) bool { return q.Name == a && len(q.Literals) > 0 }), "After: no pattern %q with literals", a)
			}
			for _, l := range healthy {
				if p.Marker != "" || p.Gauge {
					continue
				}
				_, ok := m.FieldsOf([]rune(l))
				assert.False(t, ok, "claims a healthy line: %q", l)
			}
		})
	}
}

// TestPatternsDoNotOverlap holds every sample against every other pattern: a message has one owner.
func TestPatternsDoNotOverlap(t *testing.T) {
	t.Parallel()
	all := matchers()
	for i := range all {
		p := &all[i]
		if p.Marker != "" || p.Gauge || isForm(p.Pattern) {
			continue
		}
		for _, s := range p.Match {
			for j := range all {
				q := &all[j]
				if i == j || q.Marker != "" || q.Gauge || len(q.Literals) == 0 || !containsAny(s.Line, q.Literals) {
					continue
				}
				if _, ok := q.FieldsOf([]rune(s.Line)); ok && !slices.Contains(p.Also, q.Name) && !slices.Contains(q.Also, p.Name) {
					t.Errorf("%s and %s both claim %q: tell them apart, or name one in the other's Also", p.Name, q.Name, s.Line)
				}
			}
		}
	}
}

func containsAny(s string, literals []string) bool {
	for _, n := range literals {
		if strings.Contains(s, n) {
			return true
		}
	}
	return false
}

// matchers are all patterns, ready to match.
func matchers() []pattern.Matcher {
	all := make([]pattern.Matcher, len(All()))
	for i := range all {
		all[i].Pattern = &All()[i]
	}
	return all
}

func TestByName(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "shell.killed", ByName("shell.killed").Name)
	assert.Nil(t, ByName("shell.unheard_of"))
}

// isForm reports whether a pattern is a veto by the form of a message, which is tried whatever words the message holds.
func isForm(p *pattern.Pattern) bool { return p.Veto && len(p.Literals) == 0 }
