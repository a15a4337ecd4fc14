package classifier

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
	"oomscan/parser/stream"
)

// runOf is what a log says of its run.
func runOf(t testing.TB, log string) Run {
	t.Helper()
	c := NewCollector()
	_, err := stream.Read("a.log", strings.NewReader(log), c.Add)
	require.NoError(t, err)
	return c.Result().Run
}

// stagesOf are the phases of a log's only writer, as "line phase".
func stagesOf(t testing.TB, log string) (out []string) {
	t.Helper()
	tracks := runOf(t, log).Tracks
	require.Len(t, tracks, 1)
	for _, s := range tracks[0].Stages {
		out = append(out, strings.TrimSpace(fmt.Sprint(s.Line, " ", s.Phase)))
	}
	return out
}

func TestPhasesAreNotedWhereTheyChange(t *testing.T) {
	t.Parallel()
	const reading = ", memory allocated (GB): 6.82, memory reserved (GB): 7.10, device memory used/total (GB): 15.77/79.11\n"
	for name, c := range map[string]struct {
		log  string
		want []string
	}{
		"timers that are nested": {
			"Timer train_wait start\nTimer train_wait start\nTimer train_wait end (elapsed: 1.0s)\nTimer ref_log_probs start\nTimer ref_log_probs end (elapsed: 2.1s)\n",
			[]string{"1 rollout", "4 logprob", "5 rollout"},
		},
		"stages that open and close": {
			"Before compute_log_prob" + reading + "After compute_log_prob" + reading + "Before update_policy" + reading,
			[]string{"1 logprob", "2", "3 training"},
		},
		"start-up, which a step ends": {
			"After actor FSDP init" + reading + "step:1 - train/loss:0.81\nBefore update_policy" + reading,
			[]string{"1 init", "2", "3 training"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, stagesOf(t, c.log))
		})
	}
}

func TestOfManyPhasesTheLastAreKept(t *testing.T) {
	t.Parallel()
	c := NewCollector()
	for i := range 1000 {
		for writer := range 100 {
			m := parser.Marker{At: parser.Position{Source: "a", Line: i + 1}, Name: "phase", Fields: parser.Fields{"phase": []string{"rollout", "training"}[i%2]}}
			m.Header.Stream, m.Header.Rank = fmt.Sprint(writer), writer
			c.Add(m)
		}
	}
	tracks := c.Result().Run.Tracks
	assert.Len(t, tracks, maxTracks)
	stages := tracks[0].Stages
	assert.Equal(t, 1000, stages[len(stages)-1].Line)
	all := 0
	for _, s := range c.files["a"].Streams {
		assert.LessOrEqual(t, len(s.Stages), maxStages)
		all += len(s.Stages)
	}
	assert.LessOrEqual(t, all, maxAllStages)
}

func TestReadingsAreThinnedEvenly(t *testing.T) {
	t.Parallel()
	var trend Trend
	for i := range 10_000 {
		g := parser.Gauge{Name: "reading.card", Fields: parser.Fields{"allocated": fmt.Sprint(i + 1)}}
		g.At.Line = i + 1
		trend = trend.sample(&g, i)
	}
	require.LessOrEqual(t, len(trend.Points), maxPoints)
	require.GreaterOrEqual(t, len(trend.Points), maxPoints/2)
	assert.Equal(t, 1, trend.Points[0].Line)
	for i := range trend.Points[1:] {
		assert.Equal(t, trend.Every, trend.Points[i+1].Line-trend.Points[i].Line)
	}
	assert.Less(t, 10_000-trend.Points[len(trend.Points)-1].Line, trend.Every)
}

func TestReadingsOfEachDeviceAreKept(t *testing.T) {
	t.Parallel()
	const line = "llama_model_load_from_file_impl: using device CUDA%d (NVIDIA GeForce RTX 3090) - %d MiB free\n"
	gauges := runOf(t, fmt.Sprintf(line+line, 0, 23870, 1, 11000)).Gauges
	require.GreaterOrEqual(t, len(gauges), 2)
	assert.Equal(t, []string{"0 25029509120", "1 11534336000"}, []string{gauges[0].Fields["device"] + " " + gauges[0].Fields["free"], gauges[1].Fields["device"] + " " + gauges[1].Fields["free"]})
}

func TestReadingsBeforeAFailureOutliveTheNextStart(t *testing.T) {
	t.Parallel()
	const weights = "[2026-04-10 09:27:22] Load weight end. type=Qwen2ForCausalLM, dtype=torch.bfloat16, avail mem=%d.50 GB, mem usage=59.50 GB.\n"
	const failure = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n"
	var free []string
	for _, g := range runOf(t, fmt.Sprintf(weights+failure+weights+failure+weights, 19, 18, 17)).Gauges {
		if g.Name != "reading.card_above" {
			free = append(free, g.Fields["free"])
		}
	}
	assert.Equal(t, []string{"20937965568", "18790481920"}, free)
}

func TestReadingsHaveTheStepOfTheirLine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, "step:%d - global_seqlen/min:1 - perf/max_memory_allocated_gb:%d.5 - perf/cpu_memory_used_gb:%d.0\n", i+1, 60+i, 200+10*i)
	}
	series := runOf(t, b.String()).Series
	require.Len(t, series, 2)
	assert.Equal(t, []string{"host used", "gpu max_allocated"}, []string{series[0].Resource + " " + series[0].Field, series[1].Resource + " " + series[1].Field})
	assert.True(t, series[0].Grows)
	for _, s := range series {
		require.Len(t, s.Points, 5)
		assert.Equal(t, []int{1, 5}, []int{s.Points[0].Step, s.Points[4].Step})
	}
	assert.Empty(t, runOf(t, strings.Repeat("Loading model weights took 15.27 GiB\n", 5)).Series, "sizes of the start have no course")
}

// TestAReadingOfAMomentIsFollowedByWhatTheCardHolds has slime print two moments of each step. What the trainer allocated stays the same,
// and what all processes use grows.
func TestAReadingOfAMomentIsFollowedByWhatTheCardHolds(t *testing.T) {
	t.Parallel()
	const line = "(MegatronTrainRayActor pid=55120) [2025-12-20 09:19:31] memory_utils.py:42 - [Rank 0] Memory-Usage %s: {'gpu': '0', 'total_GB': 191.98, 'free_GB': %d.0, 'used_GB': %d.0, 'allocated_GB': 0.04, 'reserved_GB': 0.10}\n"
	var b strings.Builder
	for i := range 6 {
		fmt.Fprintf(&b, line, "after offload model", 180-5*i, 10+5*i)
		fmt.Fprintf(&b, line, "after wake_up model", 150-5*i, 40+5*i)
	}
	series := runOf(t, b.String()).Series
	require.Len(t, series, 2)
	for _, s := range series {
		assert.Equal(t, "used", s.Field)
		assert.True(t, s.Grows)
		assert.Len(t, s.Points, 6)
		assert.EqualValues(t, 25<<30, s.Points[5].Bytes-s.Points[0].Bytes)
	}
}
