package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// trtllmPatterns are the words of TensorRT-LLM's executor of PyTorch models, which explains why it could not start.
func trtllmPatterns() []pattern.Pattern {
	const src = "TensorRT-LLM since 0.19, tensorrt_llm/_torch/pyexecutor/py_executor_creator.py"
	return []pattern.Pattern{
		{
			// Printed for an error whose class or text says that memory ran out, and for no other.
			Name:     "trtllm.executor",
			Literals: []string{"insufficient GPU memory"},
			Expr:     `(?:\bon rank (?<rank>\d{1,6}): )?Executor creation failed due to insufficient GPU memory`,
			Kind:     parser.GPUOOM, Role: parser.Evidence, Phase: "init",
			Source: src,
			Match: []pattern.Sample{
				{Line: "RuntimeError: Executor creation failed due to insufficient GPU memory."},
				{Line: "Failed to initialize executor on rank 3: Executor creation failed due to insufficient GPU memory.", Want: parser.Fields{"rank": "3"}},
			},
			NoMatch: []string{
				"RuntimeError: Executor creation failed with NCCL error: Failed, NCCL error /src/x.cpp:12 'unhandled cuda error (run with NCCL_DEBUG=INFO for details)'",
				"Executor creation failed with an error which might indicate insufficient GPU memory.",
				"RuntimeError: Executor worker died during initialization",
			},
		},
		{
			// NCCL, asked for its own logs, would tell more.
			Name:     "trtllm.executor_perhaps",
			Literals: []string{"insufficient GPU memory"},
			Expr:     `(?:\bon rank (?<rank>\d{1,6}): )?Executor creation failed with an error which might indicate insufficient GPU memory`,
			Kind:     parser.GPUOOM, Role: parser.Suspicion, Phase: "init",
			Source: src + ": a collective's unhandled CUDA error",
			Match:  lines("RuntimeError: Executor creation failed with an error which might indicate insufficient GPU memory."),
		},
		{
			Name:     "trtllm.scratch",
			Literals: []string{" bytes of scratch space, but only "},
			Expr:     `requires (?<requested_b>\d{6,15}) bytes of scratch space, but only (?<free_b>\d{4,15}) is available`,
			Kind:     parser.GPUOOM, Role: parser.Evidence, Phase: "init",
			Source: "TensorRT 8-10, while an engine is built: what a plugin's kernel needs beside its inputs",
			Match: []pattern.Sample{{
				Line: "[TRT] [E] 4: Internal error: plugin node LLaMAForCausalLM/layers/0/attention/PLUGIN_V2_GPTAttention_0 requires 56405524864 bytes of scratch space, but only 47590277120 is available. Try increasing the workspace size with IBuilderConfig::setMemoryPoolLimit().",
				Want: parser.Fields{"requested": "56405524864", "free": "47590277120"},
			}},
		},
		{
			Name:     "trtllm.one_sequence",
			Literals: []string{"must be large enough to process at least 1 sequence"},
			Expr:     `maxTokensInPagedKvCache \((?<tokens_available>\d{1,12})\) must be large enough to process at least 1 sequence to completion`,
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "init",
			Source: "TensorRT-LLM 0.5-1.x, cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp",
			Match: []pattern.Sample{{
				Line: "[TensorRT-LLM][ERROR] Assertion failed: maxTokensInPagedKvCache (8832) must be large enough to process at least 1 sequence to completion (i.e. must be larger than beam_width (1) * tokensPerBlock (64) * maxBlocksPerSeq (512))",
				Want: parser.Fields{"tokens_available": "8832"},
			}},
			NoMatch: []string{"maxAttentionWindow and maxSequenceLen are too large for at least one sequence to fit in kvCache. they are reduced to 8832"},
		},
		{
			Name:     "trtllm.cache",
			Literals: []string{" KV cache primary pool: ", " for max tokens in paged KV cache ("},
			Expr:     `Number of blocks in KV cache primary pool: (?<count>\d{1,9})|Allocated (?<used_gib>\d{1,5}(?:\.\d{1,3})?) GiB for max tokens in paged KV cache \((?<tokens>\d{1,12})\)`,
			Gauge:    true, Source: "TensorRT-LLM 0.9-1.x, cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp, trtGptModelInflightBatching.cpp",
			Match: []pattern.Sample{
				{Line: "[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 6935", Want: parser.Fields{"count": "6935"}},
				{Line: "[TensorRT-LLM][INFO] Allocated 54.18 GiB for max tokens in paged KV cache (443840)", Want: parser.Fields{"used": "58175332024", "tokens": "443840"}},
			},
			NoMatch: []string{"[TensorRT-LLM][INFO] Number of blocks in KV cache secondary pool: 0"},
		},
		{
			Name:     "trtllm.cache_planned",
			Literals: []string{" bytes for k/v cache."},
			Expr:     `Allocate (?<needed_b>\d{6,15}) bytes for k/v cache\.`,
			Gauge:    true, Source: "TensorRT-LLM 0.5-0.8, cpp/tensorrt_llm/runtime/gptSession.cpp, batch_manager: the line before the cache is allocated",
			Match: []pattern.Sample{
				{Line: "[TensorRT-LLM][INFO] Allocate 102005473280 bytes for k/v cache. ", Want: parser.Fields{"needed": "102005473280"}},
			},
			NoMatch: []string{"[TensorRT-LLM][INFO] Allocated 54.18 GiB for max tokens in paged KV cache (443840)"},
		},
		{
			Name:     "trtllm.host_tier",
			Literals: []string{" host cache quota set to "},
			Expr:     `KV cache manager v2 host cache quota set to (?<used_gib>\d{1,6}(?:\.\d{1,3})?)GiB`,
			Gauge:    true, Source: "TensorRT-LLM 1.3, _torch/pyexecutor/resource_manager.py: of each rank",
			Match:   []pattern.Sample{{Line: "[TRT-LLM] [RANK 4] [I] KV cache manager v2 host cache quota set to 64.50GiB", Want: parser.Fields{"used": "69256347648"}}},
			NoMatch: []string{"[TRT-LLM] [RANK 4] [I] KV cache manager v2 device quota set to 64.50GiB"},
		},
		{
			// The decoder's buffers come next, and the cache after them.
			Name:     "trtllm.buffers",
			Literals: []string{" GPU memory for runtime buffers.", " GPU memory for decoder."},
			Expr:     `Allocated [\d.]{1,9} [KMG]B GPU memory for (?<method>runtime buffers|decoder)\.`,
			Gauge:    true, Source: "TensorRT-LLM 0.9-1.x, cpp/tensorrt_llm/batch_manager/trtGptModelInflightBatching.cpp",
			Match: []pattern.Sample{
				{Line: "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 2.93 GB GPU memory for runtime buffers.", Want: parser.Fields{"method": "runtime buffers"}},
				{Line: "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 180.30 MB GPU memory for decoder.", Want: parser.Fields{"method": "decoder"}},
			},
			NoMatch: []string{"[TensorRT-LLM][INFO] [MemUsageChange] Allocated 1728.25 MiB for execution context memory."},
		},
		{
			// The free amount is that before the component was begun: what it could have had. The table below these lines
			// is of components that were created.
			Name:  "trtllm.executor_memory",
			After: []string{"trtllm.executor", "trtllm.executor_perhaps"}, Within: 8,
			Expr: `^\s{0,8}(?:The following component could not be created: (?<method>[^\n]{1,80}?)\s*$` +
				`|Total GPU memory \(GiB\): (?<total_gib>\d{1,6}(?:\.\d{1,4})?)\s*$` +
				`|Free GPU memory before component creation attempt \(GiB\): (?<free_gib>\d{1,6}(?:\.\d{1,4})?)\s*$)`,
			Kind: parser.GPUOOM, Role: parser.Detail, Phase: "init",
			Source: src,
			Match: []pattern.Sample{
				{Line: "The following component could not be created: KV cache", Want: parser.Fields{"method": "KV cache"}},
				{Line: "Total GPU memory (GiB): 79.25", Want: parser.Fields{"total": "85094039552"}},
				{Line: "Free GPU memory before component creation attempt (GiB): 40.50", Want: parser.Fields{"free": "43486543872"}},
			},
			NoMatch: []string{
				"Previously created components and free GPU memory before/after creation (GiB):",
				"Sampler: 110.70 / 110.70",
			},
		},
	}
}
