package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// sglangPatterns are the words of SGLang: its token pool, its start-up, its requests for new weights.
//
// SGLang writes "GB" for 2^30 bytes, with one exception (sglang.hicache).
var sglangPatterns = by(
	pattern.Program{Name: "sglang", Framework: "sglang"},
	sglangPool, sglangInit, sglangPressure, sglangDeaths, sglangGauges, sglangMarkers,
)

// sglangPool are failures of the token pool while requests are served.
func sglangPool() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "sglang.batch_out_of_memory",
			Literals: []string{"ut of memory. Try to lower your batch size"},
			Expr:     `(?:(?<method>Prefill|Decode) out|Out) of memory\. Try to lower your batch size`,
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "rollout",
			Source: "SGLang 0.2-0.5, mem_cache/common.py, managers/schedule_batch.py",
			Match: []pattern.Sample{
				{Line: "Prefill out of memory. Try to lower your batch size.", Want: parser.Fields{"method": "Prefill"}},
				{Line: "RuntimeError: Decode out of memory. Try to lower your batch size.", Want: parser.Fields{"method": "Decode"}},
				{Line: "RuntimeError: Out of memory. Try to lower your batch size."},
			},
			NoMatch: []string{
				"Decode out of memory happened. #retracted_reqs: 3, #new_token_ratio: 0.4120 -> 0.9010",
				"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
				"Out of memory. Please set a smaller number for `--max-running-requests`.",
			},
		},
		{
			Name:     "sglang.tokens_needed",
			Literals: []string{"Try to allocate "},
			Expr:     `Try to allocate (?<tokens>\d+) tokens`,
			Kind:     parser.KVCache, Role: parser.Detail,
			Source: "SGLang, second line of sglang.batch_out_of_memory",
			Match:  []pattern.Sample{{Line: "Try to allocate 8192 tokens.", Want: parser.Fields{"tokens": "8192"}}},
			NoMatch: []string{
				"Tried to allocate 8192 bytes",
				"Try to allocate 2.00 GiB",
			},
		},
		{
			Name: "sglang.tokens_available",
			Literals: []string{
				"Avaliable tokens: ", "Available tokens: ", "Available full tokens: ", "Available swa tokens: ",
			},
			// The spelling "Avaliable" is SGLang's own, until 2025.
			Expr: `(?:Avaliable|Available)(?: full| swa)? tokens: (?<tokens_available>\d+)`,
			Kind: parser.KVCache, Role: parser.Detail,
			Source: "SGLang, third line of sglang.batch_out_of_memory",
			Match: []pattern.Sample{
				{Line: "Avaliable tokens: 7120", Want: parser.Fields{"tokens_available": "7120"}},
				{Line: "Available tokens: 96 (evictable_size=32)", Want: parser.Fields{"tokens_available": "96"}},
				{Line: "Available full tokens: 310 (full_available_size=300 + full_evictable_size=10)", Want: parser.Fields{"tokens_available": "310"}},
			},
			NoMatch: []string{"#token: 523939, token usage: 0.87"},
		},
		{
			Name:     "sglang.retract_all",
			Literals: []string{"even after retracting all other requests", "No space left for only one request"},
			Expr:     `Out of memory even after retracting all other requests|Error: No space left for only one request`,
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "rollout",
			Source: "SGLang 0.4-0.5, managers/schedule_batch.py",
			Match: lines(
				"ValueError: Out of memory even after retracting all other requests in the decode batch.",
				"AssertionError: No space left for only one request, self.token_to_kv_pool_allocator.available_size()=0",
			),
		},
		{
			Name:     "sglang.request_slots",
			Literals: []string{"smaller number for `--max-running-requests`"},
			Expr: "(?:alloc_req_slots runs out of memory|Out of memory)\\. Please set a smaller number for `--max-running-requests`" +
				`(?:\.[^\n]{0,120}?num_reqs=(?<count>\d+))?`,
			Kind: parser.KVCache, Role: parser.Evidence, Phase: "rollout",
			Source: "SGLang 0.2-0.5, mem_cache/common.py, managers/schedule_batch.py",
			Match: []pattern.Sample{
				{
					Line: "RuntimeError: alloc_req_slots runs out of memory. Please set a smaller number for `--max-running-requests`. " +
						"req_to_token_pool.available_size()=3, num_reqs=17, ", Want: parser.Fields{"count": "17"},
				},
				{Line: "RuntimeError: Out of memory. Please set a smaller number for `--max-running-requests`."},
			},
			NoMatch: []string{"  --max-running-requests MAX  The maximum number of running requests."},
		},
		{
			// Raised where a request takes a slot, but older versions size the cache there too: no phase.
			Name:     "sglang.mamba_cache",
			Literals: []string{"Not enough space for mamba"},
			Expr:     `Not enough space for mamba (?:cache|ping pong|req)`,
			Kind:     parser.KVCache, Role: parser.Evidence,
			Source:  "SGLang 0.5, mem_cache/memory_pool.py",
			Match:   lines("AssertionError: Not enough space for mamba cache, try to increase --mamba-full-memory-ratio or --max-mamba-cache-size."),
			NoMatch: []string{"Mamba Cache is allocated. max_mamba_cache_size: 384, conv_state size: 0.25GB, ssm_state size: 12.66GB"},
		},
	}
}

// sglangInit are refusals to start.
func sglangInit() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "sglang.not_enough_memory",
			Literals: []string{"Please try to increase --mem-fraction-static"},
			Expr: `Not enough memory\. Please try to increase --mem-fraction-static` +
				`(?:\. Current value: (?:self\.server_args\.)?mem_fraction_static=(?<fraction>\d+(?:\.\d+)?))?`,
			Kind: parser.KVCache, Role: parser.Evidence, Phase: "init", Tells: map[string]string{"mem_fraction_static": "fraction"},
			Source: "SGLang 0.2-0.5, model_executor/model_runner.py (the value since 2025-09)",
			Match: []pattern.Sample{
				{Line: "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."},
				{
					Line: "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: self.server_args.mem_fraction_static=0.42",
					Want: parser.Fields{"fraction": "0.42"},
				},
			},
			NoMatch: []string{"2. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)"},
		},
		{
			Name:     "sglang.weights_leave_nothing",
			Literals: []string{"Loaded weights leave no GPU memory for the KV cache"},
			Expr:     `Loaded weights leave no GPU memory for the KV cache(?: under --mem-fraction-static=(?<fraction>\d(?:\.\d{1,4})?)\. Raise (?:--mem-fraction-static )?above (?<least>\d\.\d{1,4}))?`,
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "init",
			Source: "SGLang 2026, model_executor/model_runner_kv_cache_mixin.py",
			Match: []pattern.Sample{{
				Line: "RuntimeError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.4. Raise above 0.512",
				Want: parser.Fields{"fraction": "0.4", "least": "0.512"},
			}, {
				Line: "ValueError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.5. Raise --mem-fraction-static above 0.571 (minimum viable = 1 - available/pre = 0.5704).",
				Want: parser.Fields{"fraction": "0.5", "least": "0.571"},
			}},
			NoMatch: []string{"KV Cache is allocated. #tokens: 2301440, KV size: 75.33 GB"},
		},
		{
			// The smallest free memory of any rank is "available", this rank's is "free". Before 2025-05 without numbers.
			Name:     "sglang.unbalanced",
			Literals: []string{"memory capacity is unbalanced"},
			Expr: `The memory capacity is unbalanced\. Some GPUs may be occupied by other processes` +
				`(?:\.[^\n]{0,20}min_per_gpu_memory=(?<available_gib>\d+(?:\.\d+)?), local_gpu_memory=(?<free_gib>\d+(?:\.\d+)?)` +
				`(?:, local_gpu_memory \* 0\.9=(?<needed_gib>\d+(?:\.\d+)?))?)?`,
			Kind: parser.KVCache, Role: parser.Evidence, Phase: "init",
			Source: "SGLang 0.3-0.5, model_executor/model_runner.py",
			Match: []pattern.Sample{
				{Line: "ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes."},
				{
					Line: "The memory capacity is unbalanced. Some GPUs may be occupied by other processes. min_per_gpu_memory=8.5, local_gpu_memory=32.0, local_gpu_memory * 0.9=28.8",
					Want: parser.Fields{"available": "9126805504", "free": "34359738368", "needed": "30923764531"},
				},
			},
			NoMatch: []string{"load is unbalanced between the experts"},
		},
		{
			Name:     "sglang.hicache",
			Literals: []string{"Not enough host memory available"},
			Expr: `Not enough host memory available\. Requesting (?<requested_dsz>\d+(?:\.\d+)? ?GB) but only have ` +
				`(?<free_dsz>-?\d+(?:\.\d+)? ?GB) free`,
			Kind: parser.HostOOM, Role: parser.Evidence, Phase: "init",
			Source: "SGLang 0.4-0.5, mem_cache/memory_pool_host.py; GB is 10^9 here",
			Match: []pattern.Sample{{
				Line: "ValueError: Not enough host memory available. Requesting 96.50 GB but only have 41.25 GB free. Please reduce the size of the hierarchical cache.",
				Want: parser.Fields{"requested": "96500000000", "free": "41250000000"},
			}},
			NoMatch: []string{"Allocating 96.50 GB host memory for hierarchical KV cache."},
		},
	}
}

// sglangPressure are shortages that the server handles.
func sglangPressure() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "sglang.retract",
			Literals: []string{"#retracted_reqs: "},
			Expr:     `(?:KV cache pool is full\. Retract requests|Decode out of memory happened)\.[^\n]{0,20}#retracted_reqs: (?<count>\d+)`,
			Kind:     parser.Pressure, Role: parser.Context, Phase: "rollout",
			Source: "SGLang, managers/scheduler.py (first wording since 2025-06, second before)",
			Match: []pattern.Sample{
				{Line: "KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_token_ratio: 0.5512 -> 0.7210", Want: parser.Fields{"count": "2"}},
				{Line: "Decode out of memory happened. #retracted_reqs: 11, #new_token_ratio: 0.4120 -> 0.9010", Want: parser.Fields{"count": "11"}},
			},
			NoMatch: []string{"Decode batch. #running-req: 63, #token: 796224, token usage: 0.91"},
		},
		{
			Name:     "sglang.warmup_reduced",
			Literals: []string{"for warmup, reducing max_m"},
			Expr: `Available memory (?<available_sz>\d+(?:\.\d+)? ?GB) is less than required memory ` +
				`(?<needed_sz>\d+(?:\.\d+)? ?GB) for warmup, reducing max_m`,
			Kind: parser.Pressure, Role: parser.Context, Phase: "init",
			Source: "SGLang 0.5, layers/deep_gemm_wrapper/compile_utils.py",
			Match: []pattern.Sample{{
				Line: "Available memory 1.50GB is less than required memory 4.00GB for warmup, reducing max_m to 4096 to avoid out of memory",
				Want: parser.Fields{"available": "1610612736", "needed": "4294967296"},
			}},
			NoMatch: []string{"reduce batch size to avoid out of memory"},
		},
	}
}

// sglangDeaths are what the parents say when a child process of the server died.
func sglangDeaths() []pattern.Pattern {
	const src = "SGLang 0.3-0.5, entrypoints/engine.py, managers/scheduler.py"
	return []pattern.Pattern{
		{
			Name:     "sglang.exit_sigkill",
			Literals: []string{"Exit code: -9", "exit code: -9)", " terminated with -9"},
			Expr: `(?:^\s*Exit code: -9\s*$|scheduler died during initialization \(exit code: -9\)` +
				`|Scheduler or DataParallelController (?<pid>\d+) terminated with -9\b)`,
			Kind: parser.OOMKill, Role: parser.Suspicion, Set: map[string]string{"exitcode": "-9", "signal": "9"},
			Source: src + "; issues 15235 and 20287",
			Match: []pattern.Sample{
				{Line: "Exit code: -9"},
				{Line: "RuntimeError: Rank 2 scheduler died during initialization (exit code: -9)."},
				{Line: "Scheduler or DataParallelController 7712 terminated with -9", Want: parser.Fields{"pid": "7712"}},
			},
			NoMatch: []string{"Exit code: 0:9"},
		},
		{
			Name:     "sglang.exit",
			Literals: []string{"Exit code: ", "scheduler died during initialization", "Scheduler or DataParallelController"},
			Expr: `(?:^\s*Exit code: (?<exitcode>-(?!9\s*$)\d{1,3}|[1-9]\d{0,2})\s*$` +
				`|scheduler died during initialization \(exit code: (?<exitcode>(?!-9\))-?\d{1,3})\)` +
				`|Scheduler or DataParallelController (?<pid>\d+) terminated with (?<exitcode>(?!-9\b|0\b)-?\d{1,3}))`,
			Kind: parser.ProcessExit, Role: parser.Consequence,
			Source: src,
			Match: []pattern.Sample{
				{Line: "Exit code: 1", Want: parser.Fields{"exitcode": "1"}},
				{Line: "RuntimeError: Rank 2 scheduler died during initialization (exit code: -6).", Want: parser.Fields{"exitcode": "-6"}},
				{Line: "Scheduler or DataParallelController 7712 terminated with -3", Want: parser.Fields{"exitcode": "-3", "pid": "7712"}},
			},
			NoMatch: []string{"Exit code: 0", "    Exit Code:    137", "Exit code: 0:9"},
		},
		{
			Name: "sglang.child_failed",
			Literals: []string{
				"Received sigquit from a child proces", " scheduler is dead. Please check", " hit an exception: Traceback",
				"Initialization failed. Please see the error messages above", " watchdog timeout (self.watchdog_timeout",
				"there are other ranks that didn't finish loading",
			},
			Expr: `(?:Received sigquit from a child proces+\.` +
				`|(?:Rank|Node) (?:rank )?(?<local_rank>\d+) scheduler is dead\. Please check` +
				`|(?:Scheduler|DetokenizerManager|TokenizerManager|DataParallelController) hit an exception: Traceback` +
				`|Initialization failed\. Please see the error messages above` +
				`|\w{3,40} watchdog timeout \(self\.watchdog_timeout` +
				`|could finish the model loading, but there are other ranks that didn't finish loading)`,
			Kind: parser.ProcessExit, Role: parser.Consequence,
			Source: src + ", model_executor/model_runner.py",
			Match: []pattern.Sample{
				{Line: "Received sigquit from a child proces. It usually means the child failed."},
				{Line: "Rank 3 scheduler is dead. Please check if there are relevant logs.", Want: parser.Fields{"local_rank": "3"}},
				{Line: "Scheduler hit an exception: Traceback (most recent call last):"},
				{Line: "ValueError: TP rank 1 could finish the model loading, but there are other ranks that didn't finish loading. " +
					"It is likely due to unexpected failures (e.g., OOM) or a slow node."},
			},
			NoMatch: []string{"Scheduler started", "token_to_kv_pool_allocator memory leak detected! available_size=1"},
		},
	}
}

// sglangGauges are the memory readings of start-up, and the size of a batch of prompts.
func sglangGauges() []pattern.Pattern {
	const src = "SGLang 0.3-0.5, model_executor/model_runner.py, mem_cache/memory_pool.py"
	return []pattern.Pattern{
		{
			Name:     "sglang.states",
			Literals: []string{" as hybrid linear attention "},
			Expr:     `Using \w{1,40} as hybrid linear attention (?:full-attention )?backend`,
			Gauge:    true, Source: "SGLang since 0.5.3, layers/attention/attention_registry.py: a model whose layers keep a state for each request",
			Match:   lines("[2026-02-11 08:51:39 TP0] Using flashinfer as hybrid linear attention full-attention backend."),
			NoMatch: []string{"Attention backend not explicitly specified. Use flashinfer backend by default."},
		},
		{
			Name:     "sglang.mem_weights",
			Literals: []string{"Load weight end. "},
			Expr: `Load weight end\. [^\n]{0,160}?avail mem=(?<free_gib>\d+(?:\.\d+)?) GB` +
				`(?:, mem usage=(?<used_gib>\d+(?:\.\d+)?) GB)?`,
			Gauge: true, Source: src,
			Match: []pattern.Sample{{
				Line: "Load weight end. type=Qwen2ForCausalLM, dtype=torch.bfloat16, avail mem=64.25 GB, mem usage=14.50 GB.",
				Want: parser.Fields{"free": "68987912192", "used": "15569256448"},
			}},
			NoMatch: []string{"Load weight begin. avail mem=78.58 GB"},
		},
		{
			Name:     "sglang.host_pool",
			Literals: []string{"GB host memory for hierarchical KV cache"},
			Expr:     `Allocating (?<needed_dsz>\d{1,6}(?:\.\d{1,3})? ?GB) host memory for hierarchical KV cache`,
			Gauge:    true, Source: "SGLang 0.4-0.5, mem_cache/memory_pool_host.py: of one rank; GB is 10^9 here",
			Match:   []pattern.Sample{{Line: "Allocating 96.50 GB host memory for hierarchical KV cache.", Want: parser.Fields{"needed": "96500000000"}}},
			NoMatch: []string{"Not enough host memory available. Requesting 96.50 GB but only have 41.25 GB free."},
		},
		{
			Name:     "sglang.mem_kv_pool",
			Literals: []string{"KV Cache is allocated."},
			Expr: `KV Cache is allocated\. (?:[^\n]{0,60}?#tokens: (?<tokens>\d+), )?` +
				`(?:K size: (?<used_sum_sz>\d+(?:\.\d+)? GB), V size: (?<used_sum_sz>\d+(?:\.\d+)? GB)|KV size: (?<used_sum_sz>\d+(?:\.\d+)? GB))`,
			Gauge: true, Source: src,
			Match: []pattern.Sample{
				{
					Line: "KV Cache is allocated. #tokens: 41806, K size: 3.25 GB, V size: 3.25 GB",
					Want: parser.Fields{"tokens": "41806", "used": "6979321856"},
				},
				{Line: "KV Cache is allocated. #tokens: 512, KV size: 2.50 GB", Want: parser.Fields{"tokens": "512", "used": "2684354560"}},
				{Line: "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 512, KV size: 2.50 GB", Want: parser.Fields{"tokens": "512", "used": "2684354560"}},
			},
			NoMatch: []string{"KV cache pool is full. Retract requests. #retracted_reqs: 2"},
		},
		{
			Name:     "sglang.multimodal_share",
			Literals: []string{"Automatically reduce --mem-fraction-static to"},
			Expr:     `Automatically reduce --mem-fraction-static to (?<share>0\.\d{1,4}) because this is a multimodal model`,
			Gauge:    true, Source: "SGLang 0.4, model_executor/model_runner.py: any value is multiplied by 0.95, later by 0.9",
			Match: []pattern.Sample{{
				Line: "[2025-03-29 18:07:12 TP0] Automatically reduce --mem-fraction-static to 0.792 because this is a multimodal model.",
				Want: parser.Fields{"share": "0.792"},
			}},
			NoMatch: []string{"Automatically turn off --chunked-prefill-size for multimodal model."},
		},
		{
			Name: "sglang.mem_available",
			Literals: []string{
				"Load weight begin. avail mem=", "Memory pool end. avail mem=", "graph begin. This can take", " graph begin. backend=", "available_gpu_mem=",
			},
			Expr: `(?:Load weight begin\. avail mem|Memory pool end\. avail mem|graph begin\. (?:This can take [a-z ]{1,40}\.|backend=[\w=\[\], ]{1,2000},) avail mem|available_gpu_mem)` +
				`=(?<free_gib>\d+(?:\.\d+)?) GB`,
			Gauge: true, Source: src,
			Match: []pattern.Sample{
				{Line: "Load weight begin. avail mem=78.50 GB", Want: parser.Fields{"free": "84288733184"}},
				{Line: "Memory pool end. avail mem=16.00 GB", Want: parser.Fields{"free": "17179869184"}},
				{Line: "Capture cuda graph begin. This can take up to several minutes. avail mem=15.50 GB", Want: parser.Fields{"free": "16642998272"}},
				{Line: "Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=1, bs=[1, 2, 4], avail mem=15.50 GB", Want: parser.Fields{"free": "16642998272"}},
				{
					Line: "max_total_num_tokens=873416, chunked_prefill_size=-1, max_prefill_tokens=32768, max_running_requests=2048, context_len=32768, available_gpu_mem=14.50 GB",
					Want: parser.Fields{"free": "15569256448"},
				},
			},
			NoMatch: []string{"Capturing batches (bs=148 avail_mem=15.37 GB):  13%"},
		},
		{
			Name:     "sglang.found",
			Literals: []string{"Load weight begin. avail mem="},
			Expr:     `Load weight begin\. avail mem=(?<free_gib>\d+(?:\.\d+)?) GB`,
			Gauge:    true, Source: src + ": what was free before the engine put anything on the card but its context", Also: []string{"sglang.mem_available"},
			Match:   []pattern.Sample{{Line: "Load weight begin. avail mem=16.25 GB", Want: parser.Fields{"free": "17448304640"}}},
			NoMatch: []string{"Load weight end. type=Qwen2ForCausalLM, dtype=torch.bfloat16, avail mem=64.25 GB, mem usage=14.50 GB."},
		},
		{
			Name:     "sglang.mem_graphs",
			Literals: []string{" graph end. Time elapsed: ", " graph end. elapsed="},
			Expr: `graph end\. (?:Time elapsed: |elapsed=)[\d.]{1,12} s[.,](?: mem usage=(?<used_gib>\d+(?:\.\d+)?) GB[.,])?` +
				`(?: avail mem=(?<free_gib>\d+(?:\.\d+)?) GB)?`,
			Gauge: true, Source: src + "; 0.5.15 has a line for each phase",
			Match: []pattern.Sample{
				{
					Line: "Capture cuda graph end. Time elapsed: 8.61 s. mem usage=0.50 GB. avail mem=14.50 GB.",
					Want: parser.Fields{"used": "536870912", "free": "15569256448"},
				},
				{
					Line: "Capture target prefill CUDA graph end. elapsed=4.56 s, mem usage=0.50 GB, avail mem=14.50 GB.",
					Want: parser.Fields{"used": "536870912", "free": "15569256448"},
				},
			},
			NoMatch: []string{"Capture cuda graph begin. This can take up to several minutes. avail mem=15.52 GB"},
		},
		{
			Name:     "sglang.prefill",
			Literals: []string{"#new-token: "},
			Expr:     `Prefill batch[^\n]{0,80}?#new-token: (?<tokens>\d{1,9})\b(?:[^\n]{0,80}?token usage: (?<usage>[01]\.\d{1,3}))?`,
			Gauge:    true, Source: "SGLang 0.2-0.5, managers/scheduler_metrics_mixin.py",
			Match: []pattern.Sample{{
				Line: "[2026-03-09 14:44:05 TP0] Prefill batch, #new-seq: 2, #new-token: 8192, #cached-token: 0, token usage: 0.31, #running-req: 5, #queue-req: 0, ",
				Want: parser.Fields{"tokens": "8192", "usage": "0.31"},
			}},
			NoMatch: []string{"[2026-03-09 14:44:05] Decode batch, #running-req: 61, #token: 523939, token usage: 0.87"},
		},
	}
}

// sglangMarkers tell how far start-up came, when the server serves, and when the trainer replaces its weights.
func sglangMarkers() []pattern.Pattern {
	const src = "SGLang 0.3-0.5, model_executor/model_runner.py, entrypoints/http_server.py"
	stage := markers{kind: "phase", source: src}
	return []pattern.Pattern{
		stage.line("sglang.init_weights", point("init", "weights"), `(?:Init torch distributed begin|Load weight begin)\.`,
			[]string{"Init torch distributed begin.", "Load weight begin."}, "Load weight begin. avail mem=78.36 GB"),
		stage.line("sglang.init_kv", point("init", "kv cache"), `Load weight end\.`, []string{"Load weight end."},
			"Load weight end. type=Qwen2ForCausalLM, dtype=torch.bfloat16, avail mem=10.31 GB, mem usage=68.05 GB."),
		stage.line("sglang.init_graphs", point("init", "graph capture"), `(?:Memory pool end\.|Capture (?:\w+ ){1,3}graph (?:begin\.|bs \[|failed: ))`,
			[]string{"Memory pool end.", " graph begin.", " graph bs [", " graph failed: "}, "Memory pool end. avail mem=3.14 GB",
			"Capture draft cuda graph begin. This can take up to several minutes. avail mem=2.61 GB",
			"Capture draft extend CUDA graph begin. backend=full, num_tokens_per_bs=6, bs=[1, 2], avail mem=7.01 GB",
			"Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 594.00 MiB."),
		{
			Name:     "sglang.ready",
			Literals: []string{"The server is fired up and ready"},
			Expr:     `The server is fired up and ready`,
			Marker:   "ready", Source: src,
			Match:   lines("The server is fired up and ready to roll!"),
			NoMatch: []string{"Waiting for server ready..."},
		},
		// Access lines are written when the request is done; only pausing and continuing bracket the update as a whole.
		stage.line("sglang.pause", opens("weight_update", "pause_generation"), `"POST /pause_generation HTTP`, []string{"POST /pause_generation "},
			`127.0.0.1:52210 - "POST /pause_generation HTTP/1.1" 200 OK`),
		stage.line("sglang.continue", closes("weight_update", "pause_generation"), `"POST /continue_generation HTTP`, []string{"POST /continue_generation "},
			`127.0.0.1:52210 - "POST /continue_generation HTTP/1.1" 200 OK`),
		stage.line("sglang.update_weights", point("weight_update", "update_weights"),
			`(?:"POST /(?:update_weights_from_(?:tensor|distributed|disk|ipc)|init_weights_update_group|resume_memory_occupation) HTTP`+
				`|Update engine weights online from disk begin)`,
			[]string{"POST /update_weights_from_", "POST /init_weights_update_group ", "POST /resume_memory_occupation ", "Update engine weights online"},
			`10.0.0.5:41022 - "POST /update_weights_from_distributed HTTP/1.1" 200 OK`, `10.0.0.5:41022 - "POST /resume_memory_occupation HTTP/1.1" 200 OK`),
		stage.line("sglang.release_memory", closes("rollout", "release_memory_occupation"), `"POST /release_memory_occupation HTTP`,
			[]string{"POST /release_memory_occupation "}, `10.0.0.5:41022 - "POST /release_memory_occupation HTTP/1.1" 200 OK`),
	}
}
