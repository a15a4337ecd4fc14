package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// vllmGauges are the sizes of start-up and of sleep mode.
func vllmGauges() []pattern.Pattern {
	const src = "vLLM 0.2-0.2x, worker/worker.py, v1/worker/gpu_worker.py, v1/core/kv_cache_utils.py; GB is 2^30"
	return []pattern.Pattern{
		{
			// May be negative: then vllm.no_cache_blocks follows.
			Name:     "vllm.kv_available",
			Literals: []string{"Available KV cache memory: ", "Memory profiling results: total_gpu_memory="},
			Expr: `Available KV cache memory: (?<available_sz>-?\d+(?:\.\d+)? ?Gi?B)` +
				`|profiling results: total_gpu_memory=(?<total_sz>\d{1,4}\.\d\dGiB) .{1,200} non_torch_memory=(?<non_torch_sz>\d{1,4}\.\d\dGiB) kv_cache_size=(?<available_sz>-?\d{1,4}\.\d\dGiB)`,
			Gauge: true, Source: src + "; 0.6.4, worker/worker.py: all figures in one line",
			Match: []pattern.Sample{
				{
					Line: "Memory profiling results: total_gpu_memory=24.00GiB initial_memory_usage=12.74GiB peak_torch_memory=2.38GiB memory_usage_post_profile=12.91GiB non_torch_memory=11.97GiB kv_cache_size=-7.25GiB gpu_memory_utilization=0.30",
					Want: parser.Fields{"total": "25769803776", "non_torch": "12852689633", "available": "-7784628224"},
				},
				{Line: "Available KV cache memory: 11.25 GiB", Want: parser.Fields{"available": "12079595520"}},
				{Line: "Available KV cache memory: -0.5 GiB", Want: parser.Fields{"available": "-536870912"}},
			},
			NoMatch: []string{"GPU KV cache usage: 66.2%"},
		},
		{
			// Before the line above, for models that also read pictures, video or sound.
			Name:     "vllm.encoder_cache",
			Literals: []string{"Encoder cache will be initialized with a budget of "},
			Expr:     `Encoder cache will be initialized with a budget of \d{1,9} tokens, and profiled with (?<items>\d{1,6}) (?<media>\w{1,16}) items`,
			Gauge:    true, Source: src,
			Match: []pattern.Sample{
				{Line: "Encoder cache will be initialized with a budget of 16384 tokens, and profiled with 1 image items of the maximum feature size.", Want: parser.Fields{"items": "1", "media": "image"}},
			},
			NoMatch: []string{"Encoder cache is disabled"},
		},
		{
			// V0 profiles as many sequences as have room for the inputs that one may have (worker/model_runner.py, _dummy_run).
			Name:     "vllm.profiles_one",
			Literals: []string{"Computed max_num_seqs (min("},
			Expr:     `Computed max_num_seqs \(min\(\d{1,9}, \d{1,9} // \d{1,9}\)\) to be less than 1`,
			Gauge:    true, Source: src,
			Match: []pattern.Sample{
				{Line: "Computed max_num_seqs (min(256, 5120 // 65536)) to be less than 1. Setting it to the minimum value of 1."},
			},
			NoMatch: []string{"max_num_seqs is 32"},
		},
		{
			Name:     "vllm.weights",
			Literals: []string{"Loading model weights took ", "Model loading took "},
			Expr:     `(?:Loading model weights|Model loading) took (?<used_sz>\d+(?:\.\d+)? ?Gi?B)`,
			Gauge:    true, Source: src,
			Match: []pattern.Sample{
				{Line: "Loading model weights took 7.25 GB", Want: parser.Fields{"used": "7784628224"}},
				{Line: "Model loading took 27.5 GiB memory and 7.883142 seconds", Want: parser.Fields{"used": "29527900160"}},
			},
			NoMatch: []string{"Loading weights took 7.02 seconds"},
		},
		{
			Name:     "vllm.graphs",
			Literals: []string{"Graph capturing finished in "},
			Expr:     `Graph capturing finished in [\d.]{1,12} secs?, took (?<used_sz>-?\d+(?:\.\d+)? ?Gi?B)`,
			Gauge:    true, Source: src,
			Match:   []pattern.Sample{{Line: "Graph capturing finished in 21 secs, took 0.50 GiB", Want: parser.Fields{"used": "536870912"}}},
			NoMatch: []string{"Capturing CUDA graph shapes:   0%|          | 0/67"},
		},
		{
			Name:     "engine.graphs_done",
			Literals: []string{"Capturing CUDA graph", "Capturing batches ("},
			Expr:     `Capturing (?:CUDA graph shapes|CUDA graphs \([^)]{1,60}\)|batches \([^)]{1,100}\)):\s{1,4}\d{1,3}%\|[^|]{0,60}\| (?<done>\d{1,4})/(?<total>\d{1,4}) \[`,
			Gauge:    true, Source: "vLLM, v1/worker/gpu_model_runner.py; SGLang, model_executor/cuda_graph_runner.py: a bar of tqdm over the sizes, the largest first",
			Also: []string{"bar.graph_capture", "bar.graph_capture_done"},
			Match: []pattern.Sample{
				{Line: "Capturing CUDA graph shapes:  31%|###1      | 11/35 [00:09<00:20,  1.20it/s]", Want: parser.Fields{"done": "11", "total": "35"}},
				{Line: "Capturing batches (bs=8 avail_mem=1.02 GB):   9%|9         | 9/100 [00:09<01:30,  1.00it/s]", Want: parser.Fields{"done": "9", "total": "100"}},
			},
			NoMatch: []string{"Graph capturing finished in 21 secs, took 0.50 GiB"},
		},
		{
			// The unit b only takes the thousands separators out: these are tokens.
			Name:     "vllm.kv_tokens",
			Literals: []string{"GPU KV cache size: "},
			Expr:     `GPU KV cache size: (?<tokens_b>\d[\d,]{0,20}) tokens`,
			Gauge:    true, Source: src,
			Match:   []pattern.Sample{{Line: "GPU KV cache size: 1,021,440 tokens", Want: parser.Fields{"tokens": "1021440"}}},
			NoMatch: []string{"Maximum concurrency for 9,216 tokens per request: 51.17x"},
		},
		{
			Name:     "vllm.blocks",
			Literals: []string{", # CPU blocks: "},
			Expr:     `# \w{2,8} blocks: (?<count>\d+), # CPU blocks: \d+`,
			Gauge:    true, Source: src,
			Match: []pattern.Sample{{Line: "# CUDA blocks: 123588, # CPU blocks: 9362", Want: parser.Fields{"count": "123588"}}},
		},
		{
			Name:     "vllm.budget",
			Literals: []string{"vLLM instance can use total_gpu_memory"},
			Expr: `can use total_gpu_memory \((?<total_sz>\d+(?:\.\d+)? ?GiB)\) x gpu_memory_utilization \((?<fraction>\d+(?:\.\d+)?)\)` +
				` = (?<allowed_sz>\d+(?:\.\d+)? ?GiB)`,
			Gauge: true, Tells: map[string]string{"gpu_memory_utilization": "fraction"}, Source: src,
			Match: []pattern.Sample{{
				Line: "the current vLLM instance can use total_gpu_memory (79.00GiB) x gpu_memory_utilization (0.50) = 39.50GiB",
				Want: parser.Fields{"total": "84825604096", "fraction": "0.50", "allowed": "42412802048"},
			}},
		},
		{
			Name:     "vllm.profile",
			Literals: []string{"PyTorch activation peak memory takes "},
			Expr: `model weights take (?<weights_sz>-?\d+(?:\.\d+)? ?GiB); non_torch_memory takes (?<non_torch_sz>-?\d+(?:\.\d+)? ?GiB); ` +
				`PyTorch activation peak memory takes (?<activations_sz>-?\d+(?:\.\d+)? ?GiB); ` +
				`the rest of the memory reserved for KV Cache is (?<available_sz>-?\d+(?:\.\d+)? ?GiB)`,
			Gauge: true, Source: src,
			Match: []pattern.Sample{{
				Line: "model weights take 7.00GiB; non_torch_memory takes 1.00GiB; PyTorch activation peak memory takes 2.50GiB; the rest of the memory reserved for KV Cache is 52.75GiB.",
				Want: parser.Fields{"weights": "7516192768", "non_torch": "1073741824", "activations": "2684354560", "available": "56639881216"},
			}},
		},
		{
			// Printed once the engine is up. Since 0.21 weights and what lies outside of PyTorch are one figure.
			Name:     "vllm.usage",
			Literals: []string{"Desired GPU memory utilization is ("},
			Expr: `Free memory on device(?: [a-z]{1,8}:\d+)? \((?<free_gib>-?\d+(?:\.\d+)?)/(?<total_gib>\d+(?:\.\d+)?) GiB\) on startup\. ` +
				`Desired GPU memory utilization is \((?<fraction>\d(?:\.\d+)?), \d+(?:\.\d+)? GiB\)\. Actual usage is ` +
				`(?:(?<weights_sz>\d+(?:\.\d+)? GiB) for weight|(?<consumed_sz>\d+(?:\.\d+)? GiB) for consumed memory[^,]{0,40}), ` +
				`(?<activations_sz>\d+(?:\.\d+)? GiB) for peak activation,(?: (?<non_torch_sz>-?\d+(?:\.\d+)? GiB) for non-torch memory,)? ` +
				`and (?<graphs_sz>-?\d+(?:\.\d+)? GiB) for CUDAGraph memory`,
			Gauge: true, Source: "vLLM since 0.10.2, v1/worker/gpu_worker.py, compile_or_warm_up_model",
			Match: []pattern.Sample{
				{
					Line: "Free memory on device (43.0/44.0 GiB) on startup. Desired GPU memory utilization is (0.8, 35.2 GiB). Actual usage is 4.75 GiB for weight, " +
						"0.25 GiB for peak activation, 0.5 GiB for non-torch memory, and 0.5 GiB for CUDAGraph memory. Replace gpu_memory_utilization config with",
					Want: parser.Fields{
						"free": "46170898432", "total": "47244640256", "fraction": "0.8", "weights": "5100273664", "activations": "268435456",
						"non_torch": "536870912", "graphs": "536870912",
					},
				},
				{
					Line: "Free memory on device cuda:0 (79.5/80.0 GiB) on startup. Desired GPU memory utilization is (0.92, 73.6 GiB). Actual usage is 51.5 GiB for consumed memory (weights + " +
						"non-torch), 2.5 GiB for peak activation, and 0.5 GiB for CUDAGraph memory.",
					Want: parser.Fields{"free": "85362475008", "total": "85899345920", "fraction": "0.92", "consumed": "55297703936", "activations": "2684354560", "graphs": "536870912"},
				},
			},
			NoMatch: []string{"Free memory on device (37.25/79.00 GiB) on startup is less than desired GPU memory utilization (0.8, 63.25 GiB)."},
		},
		{
			Name:     "vllm.share",
			Literals: []string{"The current --gpu-memory-utilization="},
			Expr:     `The current --gpu-memory-utilization=(?<fraction>[01]\.\d{1,6}?)0* is equivalent to `,
			Gauge:    true, Tells: map[string]string{"gpu_memory_utilization": "fraction"}, Source: "vLLM since 0.19, v1/worker/gpu_worker.py",
			Match: []pattern.Sample{{
				Line: "CUDA graph memory profiling is enabled (default since v0.21.0). The current --gpu-memory-utilization=0.9200 is equivalent to --gpu-memory-utilization=0.9048 without CUDA graph memory profiling.",
				Want: parser.Fields{"fraction": "0.92"},
			}},
		},
		{
			Name:     "vllm.graphs_estimated",
			Literals: []string{"Estimated CUDA graph memory: "},
			Expr:     `Estimated CUDA graph memory: (?<used_sz>\d+(?:\.\d+)? GiB) total`,
			Gauge:    true, Source: "vLLM since 0.19, v1/worker/gpu_model_runner.py: taken off the cache since 0.21",
			Match: []pattern.Sample{{Line: "Estimated CUDA graph memory: 0.50 GiB total", Want: parser.Fields{"used": "536870912"}}},
		},
		{
			Name:     "vllm.backed_up",
			Literals: []string{" is backed up in CPU and the rest "},
			Expr:     `of which (?<used_sz>\d+(?:\.\d+)? ?GiB) is backed up in CPU and the rest `,
			Gauge:    true, Source: "vLLM since 0.10, device_allocator/cumem.py: what level 1 of sleep keeps in pinned host memory",
			Match: []pattern.Sample{{
				Line: "CuMemAllocator: sleep freed 66.16 GiB memory in total, of which 53.10 GiB is backed up in CPU and the rest 13.06 GiB is discarded directly.",
				Want: parser.Fields{"used": "57015690854"},
			}},
		},
		{
			Name:     "vllm.eager",
			Literals: []string{"enforce-eager is enabled", "Cudagraph is disabled under eager mode"},
			Expr:     `(?:\benforce-eager is enabled|\bCudagraph is disabled under eager mode)`,
			Gauge:    true, Source: "vLLM, config.py: what an engine without CUDA graphs says at its start",
			Match: lines("To see benefits of async output processing, enable CUDA graph. Since, enforce-eager is enabled, async output processor cannot be used",
				"Cudagraph is disabled under eager mode"),
			NoMatch: []string{"enforce_eager=True"},
		},
		{
			Name:     "vllm.slept",
			Literals: []string{"Sleep mode freed "},
			Expr:     `Sleep mode freed (?<freed_sz>-?\d+(?:\.\d+)? ?GiB) memory, (?<used_sz>-?\d+(?:\.\d+)? ?GiB) memory is still in use`,
			Gauge:    true, Source: "vLLM since 0.7, worker/worker.py, v1/worker/gpu_worker.py",
			Match: []pattern.Sample{{
				Line: "Sleep mode freed 61.00 GiB memory, 16.50 GiB memory is still in use.",
				Want: parser.Fields{"freed": "65498251264", "used": "17716740096"},
			}},
		},
		{
			Name:     "vllm.woke",
			Literals: []string{" seconds to wake up"},
			Expr:     `It took [\d.]{1,16} seconds to wake up(?: tags [\[{](?<tags>[^\]}]{1,60})[\]}])?`,
			Gauge:    true, Source: "vLLM since 0.8.3, executor/executor_base.py: what took its memory back, all of it where no tags are named", Also: []string{"vllm.awake", "vllm.awake_weights"},
			Match: []pattern.Sample{
				{Line: "It took 0.731000 seconds to wake up tags {'weights'}.", Want: parser.Fields{"tags": "'weights'"}},
				{Line: "It took 0.731000 seconds to wake up."},
			},
			NoMatch: []string{"It took 1.206518 seconds to fall asleep."},
		},
	}
}

// vllmMarkers tell how far start-up came, when the engine serves, and when sleep mode takes memory away and back.
func vllmMarkers() []pattern.Pattern {
	const src = "vLLM 0.6-0.2x, v1/engine/core.py, v1/worker/gpu_model_runner.py, executor/executor_base.py"
	stage := markers{kind: "phase", source: src}
	return []pattern.Pattern{
		stage.line("vllm.init_weights", point("init", "weights"),
			`(?:Initializing an? (?:V\d )?LLM engine \(v|Starting to load model |Failed to load model - not enough GPU memory)`,
			[]string{" LLM engine (v", "Starting to load model ", "Failed to load model - "}, "Initializing a V1 LLM engine (v0.11.0) with config: model='/data/hf/m'",
			"Starting to load model /data/hf/Qwen3-14B..."),
		stage.line("vllm.init_kv", point("init", "kv cache"), `(?:Model loading took |Loading model weights took |Memory profiling takes |Available KV cache memory: )`,
			[]string{"Model loading took ", "Loading model weights took ", "Memory profiling takes ", "Available KV cache memory: "},
			"Model loading took 27.5187 GiB and 7.883142 seconds"),
		stage.line("vllm.init_graphs", point("init", "graph capture"), `(?:GPU KV cache size: |# \w{2,8} blocks: \d+, # CPU blocks: |Capturing CUDA graphs? shapes:   0%)`,
			[]string{"GPU KV cache size: ", ", # CPU blocks: ", "shapes:   0%"}, "GPU KV cache size: 471,616 tokens", "# GPU blocks: 123588, # CPU blocks: 9362"),
		{
			Name: "vllm.ready",
			Literals: []string{
				"init engine (profile, create kv cache, warmup model) took", "Application startup complete", "Starting vLLM API server", "Uvicorn running on ",
			},
			Expr: `(?:init engine \(profile, create kv cache, warmup model\) took|Application startup complete` +
				`|Starting vLLM API server|Uvicorn running on )`,
			Marker: "ready", Source: src + "; uvicorn",
			Match: lines(
				"init engine (profile, create kv cache, warmup model) took 9.61 seconds",
				"Application startup complete.",
				"Starting vLLM API server 0 on http://0.0.0.0:8000",
				"INFO:     Uvicorn running on http://0.0.0.0:30001 (Press CTRL+C to quit)",
			),
			NoMatch: []string{"Waiting for application startup."},
		},
		stage.line("vllm.asleep", closes("rollout", "sleep"), `It took [\d.]{1,16} seconds to fall asleep`, []string{" seconds to fall asleep"},
			"It took 1.206518 seconds to fall asleep."),
		// With the weights alone awake, the trainer is about to replace them; the cache comes back to generate.
		stage.line("vllm.awake_weights", point("weight_update", "wake up"), `It took [\d.]{1,16} seconds to wake up tags [\[{]'weights'[\]}]`,
			[]string{" seconds to wake up"}, "It took 0.731000 seconds to wake up tags {'weights'}."),
		stage.line("vllm.awake", opens("rollout", "sleep"), `It took [\d.]{1,16} seconds to wake up(?! tags [\[{]'weights'[\]}])`, []string{" seconds to wake up"},
			"It took 0.731000 seconds to wake up.", "It took 0.2 seconds to wake up tags ['kv_cache']."),
	}
}
