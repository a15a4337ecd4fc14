package remedies

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
)

// reading is a gauge of line 5 with amounts in GiB.
func reading(name string, fields map[string]float64) classifier.Gauge {
	g := classifier.Gauge{Name: name, At: parser.Position{Source: "a.log", Line: 5}, Fields: parser.Fields{}}
	for k, v := range fields {
		if k != "tokens" {
			v *= gib
		}
		g.Fields[k] = strconv.FormatInt(int64(v), 10)
	}
	return g
}

// TestSharesStayWithinWhatWorks holds the knobs that go wrong both ways to the band between weights and cache on one side
// and what lies beside them on the other.
func TestSharesStayWithinWhatWorks(t *testing.T) {
	t.Parallel()
	capture := func(asked, free float64) *classifier.Incident {
		return with(gpuOOM("init"), func(r *classifier.Root) {
			r.At = parser.Position{Source: "a.log", Line: 90}
			r.Message, r.Process = "Capture cuda graph failed", "sglang::scheduler"
			r.Requested, r.Free, r.Total = gibs(asked), gibs(free), gibs(80)
		})
	}
	tooSmall := func(needed, left float64) *classifier.Incident {
		in := &classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: classifier.Root{
			At: parser.Position{Source: "a.log", Line: 90}, Message: "KV cache is needed, which is larger than the available", Requested: gibs(needed),
		}}
		in.Shortfall = gibs(needed - left)
		return in
	}
	serve := func(framework string, pairs []string, gauges ...classifier.Gauge) *classifier.Run {
		r := run(framework, pairs...)
		r.Engine, r.Gauges = framework, gauges
		return r
	}
	for name, c := range map[string]struct {
		run     *classifier.Run
		in      *classifier.Incident
		id, key string
		want    string // the next value; "-" when the item is ruled out
		why     string // of it
	}{
		"a tenth less leaves the weights no room: the middle": {
			serve("sglang", []string{"mem_fraction_static", "0.95"}, reading("sglang.mem_weights", map[string]float64{"used": 70, "free": 8})),
			capture(1, .2), "sglang.mem-fraction-down", "--mem-fraction-static", "0.92", "the middle between 0.9 (70.00 GiB of weights",
		},
		"room for one sequence of the context": {
			serve("sglang", []string{"mem_fraction_static", "0.95", "context_length", "49152"}, reading("sglang.mem_weights", map[string]float64{"used": 60, "free": 18}),
				reading("sglang.mem_kv_pool", map[string]float64{"used": 14, "tokens": 65536})),
			capture(1, .2), "sglang.mem-fraction-down", "--mem-fraction-static", "0.91", "49,152 tokens",
		},
		"a trainer that fails before its first step needs more than the request lacked": {
			serve("trl", []string{"vllm_gpu_memory_utilization", "0.7", "vllm_mode", "colocate"}, reading("vllm.profile", map[string]float64{"weights": 3, "non_torch": 1, "activations": 4})),
			with(gpuOOM("init"), func(r *classifier.Root) {
				r.At, r.Requested, r.Free, r.Total = parser.Position{Source: "a.log", Line: 90}, gibs(3.7), gibs(3.5), gibs(80)
			}), "trl.vllm-utilization", "vllm_gpu_memory_utilization", "0.4", "the first step's tensors are still to come",
		},
		"in a step the request is what lacked": {
			serve("trl", []string{"vllm_gpu_memory_utilization", "0.7", "vllm_mode", "colocate"}, reading("vllm.profile", map[string]float64{"weights": 3, "non_torch": 1, "activations": 4})),
			with(gpuOOM("backward"), func(r *classifier.Root) {
				r.At, r.Requested, r.Free, r.Total = parser.Position{Source: "a.log", Line: 90}, gibs(3.7), gibs(3.5), gibs(80)
			}), "trl.vllm-utilization", "vllm_gpu_memory_utilization", "0.64", "was missing",
		},
		"weights that nearly fill the card: no value works": {
			serve("sglang", []string{"mem_fraction_static", "0.98"}, reading("sglang.mem_weights", map[string]float64{"used": 76, "free": 2})),
			capture(2, .2), "sglang.mem-fraction-down", "--mem-fraction-static", "-", "no value of",
		},
		"what a cache lacks, and a margin": {
			serve("vllm", []string{"gpu_memory_utilization", "0.7"}, reading("vllm.budget", map[string]float64{"total": 80})),
			tooSmall(10, 4), "vllm.utilization-up", "--gpu-memory-utilization", "0.8", "6.00 GiB that the cache lacks",
		},
		"what a cache lacks, up to the usual share": {
			serve("vllm", []string{"gpu_memory_utilization", "0.7"}, reading("vllm.budget", map[string]float64{"total": 80})),
			tooSmall(16, 2), "vllm.utilization-up", "--gpu-memory-utilization", "0.9", "14.00 GiB that the cache lacks",
		},
		"a cache that no share holds": {
			serve("vllm", []string{"gpu_memory_utilization", "0.85"}, reading("vllm.budget", map[string]float64{"total": 80})),
			tooSmall(20, 8), "vllm.utilization-up", "--gpu-memory-utilization", "-", "more tensor parallelism, quantized weights or a shorter context do",
		},
		"without the card's size nothing is ruled out": {
			serve("vllm", []string{"gpu_memory_utilization", "0.85"}), tooSmall(20, 8), "vllm.utilization-up", "--gpu-memory-utilization", "0.9", "0.85 + 0.05, a first guess",
		},
		"what was free at the start is less than the weights": {
			serve("vllm", []string{"gpu_memory_utilization", "0.9"}, reading("vllm.weights", map[string]float64{"used": 60})),
			&classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: classifier.Root{
				At: parser.Position{Source: "a.log", Line: 90}, Pattern: "vllm.free_memory", Message: "Free memory on device (40/80 GiB) on startup is less than desired GPU memory utilization", Free: gibs(40), Total: gibs(80),
			}}, "vllm.utilization-fit", "--gpu-memory-utilization", "-", "no value of",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := For(c.run, c.in)
			r := pick(t, list, c.id)
			assert.Equal(t, c.want, toOf(r, c.key), r.AppliesWhy)
			if c.want == "-" {
				require.NotNil(t, r.Applies)
				assert.False(t, *r.Applies)
				assert.Contains(t, r.AppliesWhy, c.why)
				assert.NotContains(t, list.StartWith, c.id)
				return
			}
			require.NotNil(t, r.Applies)
			assert.True(t, *r.Applies)
			assert.Contains(t, r.Changes[0].ComputedFrom, c.why)
		})
	}
}

func TestAShareDecidesNothingBeforeTheCache(t *testing.T) {
	t.Parallel()
	in := with(gpuOOM("init"), func(r *classifier.Root) {
		r.Requested, r.Free, r.Total = gibs(4), gibs(1), gibs(24)
		r.Trace = frames("/x/vllm/v1/worker/gpu_worker.py|determine_available_memory|self.model_runner.profile_run()", "/x/vllm/model_executor/models/llama.py|forward|x = self.act_fn(x)")
	})
	r := run("vllm", "gpu_memory_utilization", "0.9", "max_num_seqs", "256")
	r.Engine = "vllm"
	c := For(r, in)
	down := pick(t, c, "vllm.utilization-down")
	require.NotNil(t, down.Applies)
	assert.False(t, *down.Applies)
	assert.True(t, strings.Contains(down.AppliesWhy, "profiling run"), down.AppliesWhy)
	assert.Contains(t, c.StartWith, "vllm.max-num-batched-tokens")
}
