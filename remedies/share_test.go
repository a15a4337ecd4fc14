package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/parser"
)

func TestAShareLeavesRoomForWhatWasStillToCome(t *testing.T) {
	at := parser.Position{Source: "a.log", Line: 2}
	gauge := func(name string, fields parser.Fields) classifier.Gauge {
		return classifier.Gauge{Name: name, Fields: fields, At: at}
	}
	graphs := func(done, total string) classifier.Gauge {
		return gauge("engine.graphs_done", parser.Fields{"done": done, "total": total})
	}
	capture := func(pools float64) *classifier.Incident {
		in := fullCard("init", 0.5, "/x/vllm/v1/worker/gpu_model_runner.py|capture_model|self._capture_cudagraphs(")
		in.Root.At = parser.Position{Source: "a.log", Line: 9}
		in.Root.Fields = parser.Fields{"private_pools": itoa(*gibs(pools))}
		return in
	}
	serving := func(request float64, stack ...string) *classifier.Incident {
		in := fullCard("rollout", request, stack...)
		in.Root.At = parser.Position{Source: "a.log", Line: 9}
		return in
	}
	const extend = "/x/sglang/srt/model_executor/model_runner.py|forward_extend|"
	pool := gauge("sglang.mem_kv_pool", parser.Fields{"used": itoa(*gibs(24)), "tokens": "400000"})
	batch := func(usage string) classifier.Gauge {
		return gauge("sglang.prefill", parser.Fields{"tokens": "512", "usage": usage})
	}
	eager := []string{extend, "/x/transformers/models/siglip/modeling_siglip.py|eager_attention_forward|attn_weights = torch.matmul(query, key.transpose(-1, -2))"}
	started := gauge("sglang.mem_available", parser.Fields{"free": itoa(*gibs(1))})
	again := func(request float64) *classifier.Incident {
		in := fullCard("init", request, "/x/sglang/srt/managers/scheduler.py|__init__|self.draft_worker = EAGLEWorker(", "/x/sglang/srt/model_executor/model_runner.py|load_model|", "/x/sglang/srt/models/glm4_moe.py|__init__|")
		in.Root.At = parser.Position{Source: "a.log", Line: 9}
		return in
	}
	weights := gauge("sglang.mem_weights", parser.Fields{"used": itoa(*gibs(14)), "free": itoa(*gibs(25))})
	for _, tt := range []struct {
		name     string
		program  string
		pairs    []string
		readings []classifier.Gauge
		in       *classifier.Incident
		want     string
	}{
		{"no bar shows how many graphs are missing", "vllm", []string{"gpu_memory_utilization", "0.95"}, nil, capture(2), "--gpu-memory-utilization=0.89"},
		{"graphs to be captured take their part of what others hold", "vllm", []string{"gpu_memory_utilization", "0.95"}, []classifier.Gauge{graphs("20", "35")}, capture(2), "--gpu-memory-utilization=0.85"},
		{"but no more than those that are there", "vllm", []string{"gpu_memory_utilization", "0.95"}, []classifier.Gauge{graphs("2", "35")}, capture(2), "--gpu-memory-utilization=0.84"},
		{"a cache in use leaves the usual margin", "sglang", []string{"mem_fraction_static", "0.9"}, []classifier.Gauge{pool, batch("0.98")}, serving(0.5, extend), "--mem-fraction-static=0.84"},
		{"a cache that is hardly used may be much smaller", "sglang", []string{"mem_fraction_static", "0.9"}, []classifier.Gauge{pool, batch("0.07")}, serving(0.5, extend), "--mem-fraction-static=0.76"},
		{"the softmax of scores lies beside them", "sglang", []string{"mem_fraction_static", "0.9"}, []classifier.Gauge{started}, serving(6, eager...), "--mem-fraction-static=0.55"},
		{"where the scores are there, it is what failed", "sglang", []string{"mem_fraction_static", "0.9"}, []classifier.Gauge{gauge("sglang.mem_available", parser.Fields{"free": itoa(*gibs(8))})}, serving(6, eager...), "--mem-fraction-static=0.7"},
		{"a model that drafts for itself is there twice", "sglang", []string{"mem_fraction_static", "0.7", "model_path", "/m/a", "speculative_draft_model_path", "/m/a"}, []classifier.Gauge{weights, pool}, again(0.5), "--mem-fraction-static=0.47"},
		{"another draft model may be small", "sglang", []string{"mem_fraction_static", "0.7", "model_path", "/m/a", "speculative_draft_model_path", "/m/b"}, []classifier.Gauge{weights, pool}, again(0.5), "--mem-fraction-static=0.64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := as(run(tt.program, tt.pairs...), "", tt.program, "Qwen/Qwen2.5-0.5B-Instruct")
			r.Gauges = append(r.Gauges, tt.readings...)
			assert.Contains(t, changesOf(For(r, tt.in)), tt.want)
		})
	}
}

func TestAShareHoldsTheWeightsAndAStep(t *testing.T) {
	t.Parallel()
	q := &paramQuery{Context: newContext(as(run("trl", "vllm_gpu_memory_utilization", "0.1", "vllm_max_model_len", "4096"), "", "trl", "Qwen/Qwen2.5-7B-Instruct"), with(cache(""), func(r *classifier.Root) { r.Total = gibs(79.15) })), p: &Parameter{Key: "vllm_gpu_memory_utilization"}, cur: "0.1"}
	assert.Equal(t, "0.28", shareUp(q).to)
}

func TestWhatOllamaPlannedIsCorrectedByItsFigures(t *testing.T) {
	const malloc = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 5030.00 MiB on device 0: cudaMalloc failed: out of memory"
	const graph = "ggml_gallocr_reserve_n: failed to allocate ROCm0 buffer of size 5274339328"
	failed := func(requested float64, evidence, text string) *classifier.Incident {
		in := recognized("ggml.malloc", with(gpuOOM("init"), func(r *classifier.Root) {
			r.Requested, r.Message = gibs(requested), malloc
		}))
		in.Kind = parser.GPUDriverOOM
		in.Evidence = append(in.Evidence, classifier.Evidence{Pattern: evidence, Text: text})
		return in
	}
	plan := []string{"layers.offload", "8", "layers.split", "4,4", "memory.graph.full", "1019.5 MiB", "memory.graph.partial", "1019.5 MiB", "OLLAMA_GPU_OVERHEAD", "0", "OLLAMA_FLASH_ATTENTION", "false"}
	for _, tt := range []struct {
		name  string
		pairs []string
		in    *classifier.Incident
		want  string
		never []string
	}{
		{"a buffer larger than planned is reserved", plan, failed(4.91, "ggml.buffer", graph), "OLLAMA_GPU_OVERHEAD=4294967296", nil},
		{"each card may have had the layer too many", plan, failed(4.91, "ggml.buffer", graph), "num_gpu=6", nil},
		{"one card has a tenth too many", []string{"layers.offload", "8", "layers.split", "8"}, failed(4.91, "ggml.buffer", graph), "num_gpu=7", nil},
		{"a buffer of unknown plan takes a GiB", []string{"layers.offload", "8", "OLLAMA_GPU_OVERHEAD", "0"}, failed(4.91, "ggml.buffer", graph), "OLLAMA_GPU_OVERHEAD=1073741824", nil},
		{"a cache is no such buffer", plan, failed(30, "ggml.buffer", "alloc_tensor_range: failed to allocate CUDA0 buffer of size 32212254720"), "OLLAMA_GPU_OVERHEAD=1073741824", nil},
		{"weights do not shrink with the cache or the step", plan, failed(23, "ggml.load_backend", ""), "num_gpu=6", []string{"OLLAMA_FLASH_ATTENTION=1", "OLLAMA_KV_CACHE_TYPE=q8_0", "num_batch=256", "OLLAMA_CONTEXT_LENGTH=2048"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := changesOf(For(as(run("ollama", tt.pairs...), "", "ollama", "deepseek-r1"), tt.in))
			assert.Contains(t, got, tt.want)
			for _, no := range tt.never {
				assert.NotContains(t, got, no)
			}
		})
	}
}

func TestASmallShareMeansThatOtherProgramsAreExpected(t *testing.T) {
	for _, tt := range []struct{ name, share, want string }{
		{"less than half of a card", "0.35", "--gpu-memory-utilization=0.3"},
		{"most of a card", "0.9", "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := with(cache(desired), func(r *classifier.Root) {
				r.Pattern, r.Free, r.Total = "vllm.free_memory", gibs(38.7), gibs(121.6)
			})
			got := changesOf(For(as(run("vllm", "gpu_memory_utilization", tt.share), "", "vllm", "Qwen/Qwen2.5-0.5B-Instruct"), in))
			assert.Equal(t, tt.want, got[0])
		})
	}
}

func TestRanksOnProcessorsShareTheMachinesMemory(t *testing.T) {
	for _, tt := range []struct {
		name, device, ranks, share string
		want, never                string
	}{
		{"each takes its part", "cpu", "6", "0.88", "--mem-fraction-static=0.14", ""},
		{"parts that fit together stay", "cpu", "6", "0.14", "", "--mem-fraction-static=0.02"},
		{"cards are not the machine's memory", "cuda", "6", "0.88", "", "--mem-fraction-static=0.14"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := as(run("sglang", "device", tt.device, "tp_size", tt.ranks, "mem_fraction_static", tt.share), "", "sglang", "Qwen/Qwen2.5-0.5B-Instruct")
			got := changesOf(For(r, killed("init", "Out of memory: Killed process 5121 (sglang::schedul)")))
			if tt.want != "" {
				assert.Equal(t, tt.want, got[0])
			}
			assert.NotContains(t, got, tt.never)
		})
	}
}
