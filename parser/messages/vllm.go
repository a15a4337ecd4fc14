package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// vllmPatterns are the words of vLLM, V0 and V1: the sizing of its KV cache, its start-up, the deaths of its processes.
var vllmPatterns = by(vllm, vllmSizing, vllmPressure, vllmDeaths, vllmGauges, vllmMarkers)

var vllm = pattern.Program{Name: "vllm", Framework: "vllm"}

// vllmSizing are refusals to start because the KV cache does not fit, and out of memory while warming up.
func vllmSizing() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "vllm.no_cache_blocks_host",
			Literals: []string{"No available memory for the cache blocks"},
			Expr:     "No available memory for the cache blocks\\. Try increasing `VLLM_(?:CPU|OPENVINO)_KVCACHE_SPACE`",
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "init", Set: map[string]string{"resource": "host"},
			Source: "vLLM CPU and OpenVINO backends, worker/cpu_worker.py",
			Match:  lines("ValueError: No available memory for the cache blocks. Try increasing `VLLM_CPU_KVCACHE_SPACE` when initializing the engine."),
		},
		{
			Name:     "vllm.swap_space",
			Literals: []string{"Too large swap space. "},
			Expr:     `Too large swap space\. (?<requested_gib>\d{1,6}(?:\.\d{1,3})?) GiB out of the (?<total_gib>\d{1,6}(?:\.\d{1,3})?) GiB total CPU memory`,
			Kind:     parser.HostOOM, Role: parser.Evidence, Phase: "init",
			Source: "vLLM 0.2-0.10, vllm/config.py, verify_with_parallel_config",
			Match: []pattern.Sample{{
				Line: "ValueError: Too large swap space. 128.00 GiB out of the 125.50 GiB total CPU memory is allocated for the swap space.",
				Want: parser.Fields{"requested": "137438953472", "total": "134754598912"},
			}},
			NoMatch: []string{"Possibly too large swap space. 64.00 GiB out of the 125.50 GiB total CPU memory is allocated for the swap space."},
		},
		{
			Name:     "vllm.no_swap_space",
			Literals: []string{"Aborted due to the lack of CPU swap space"},
			Expr:     `Aborted due to the lack of CPU swap space`,
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "rollout",
			Source: "vLLM V0, core/scheduler.py, _swap_out: the cache on the card is full, and so is the one on the host to which groups of several sequences go",
			Match:  lines("RuntimeError: Aborted due to the lack of CPU swap space. Please increase the swap space to avoid this error."),
		},
		{
			Name:     "vllm.no_cache_blocks",
			Literals: []string{"No available memory for the cache blocks"},
			Expr:     "No available memory for the cache blocks\\.?(?:\\s*$| Try (?!increasing `VLLM_))", // quoted in vLLM's own help
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "init",
			Source: "vLLM 0.1-0.2x, worker/worker.py, v1/core/kv_cache_utils.py",
			Match:  lines("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine."),
			NoMatch: []string{
				"# GPU blocks: 12358, # CPU blocks: 9362",
				`an error "No available memory for the cache blocks" is raised.`,
			},
		},
		{
			Name:     "vllm.max_len_blocks",
			Literals: []string{"that can be stored in KV cache ("},
			Expr: `max seq len \((?<tokens>\d+)\) is larger than the maximum number of tokens that can be stored in KV cache ` +
				`\((?<tokens_available>\d+)\)`,
			Kind: parser.KVCache, Role: parser.Evidence, Phase: "init",
			Source: "vLLM V0 to 0.10, worker/worker.py",
			Match: []pattern.Sample{{
				Line: "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (21456). " +
					"Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
				Want: parser.Fields{"tokens": "32768", "tokens_available": "21456"},
			}},
			NoMatch: []string{"Maximum concurrency for 9,216 tokens per request: 51.17x"},
		},
		{
			Name:     "vllm.mamba_blocks",
			Literals: []string{"exceeds available Mamba cache blocks ("},
			Expr:     `max_num_seqs \((?<count>\d{1,7})\) exceeds available Mamba cache blocks \((?<blocks>\d{1,9})\)`,
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "init",
			Source: "vLLM 2026, v1/core, models with state-space layers: each sequence takes a block",
			Match: []pattern.Sample{{
				Line: "ValueError: max_num_seqs (512) exceeds available Mamba cache blocks (301). Each decode sequence requires one Mamba cache block, so CUDA graph capture cannot proceed.",
				Want: parser.Fields{"count": "512", "blocks": "301"},
			}},
			NoMatch: []string{"max_num_seqs (512) is larger than max_num_batched_tokens (256)"},
		},
		{
			// GB is 2^30, in 0.7.0 to 0.8.3. 0.8.4 and 0.8.5 lose the estimate and leave two blanks in its place.
			Name:     "vllm.kv_needed",
			Literals: []string{"serve at least one request with the model"},
			Expr: `serve at least one request with the model[s']{1,3} max seq len \((?<tokens>\d+)\)` +
				`(?:,? ?\(?(?<requested_sz>\d+(?:\.\d+)? ?Gi?B)(?: KV cache is needed, which is larger than the available ` +
				`KV cache memory \((?<available_sz>-?\d+(?:\.\d+)? ?Gi?B)\)` +
				`(?:[^\n]{0,80}?estimated maximum model length is (?<tokens_available>\d+))?)?)?`,
			Kind: parser.KVCache, Role: parser.Evidence, Phase: "init",
			Source: "vLLM V1 since 0.7, v1/core/kv_cache_utils.py",
			Match: []pattern.Sample{
				{
					Line: "ValueError: To serve at least one request with the models's max seq len (131072), (20.00 GiB KV cache is needed, which is larger " +
						"than the available KV cache memory (11.25 GiB). Based on the available memory, the estimated maximum model length is 73728. Try increasing",
					Want: parser.Fields{"tokens": "131072", "requested": "21474836480", "available": "12079595520", "tokens_available": "73728"},
				},
				{
					Line: "ValueError: To serve at least one request with the models's max seq len (8192), (1.00 GiB KV cache is needed, which is larger " +
						"than the available KV cache memory (0.50 GiB). Based on the available memory,  Try increasing `gpu_memory_utilization`",
					Want: parser.Fields{"tokens": "8192", "requested": "1073741824", "available": "536870912"},
				},
				{
					Line: "To serve at least one request with the models's max seq len (8192), (1.0 GiB KV cache is needed, which is larger than the available KV cache memory (-0.5 GiB)",
					Want: parser.Fields{"tokens": "8192", "requested": "1073741824", "available": "-536870912"},
				},
				{
					Line: "ValueError: To serve at least one request with the models's max seq len (65536), (3.00 GB KV cache is needed, which is larger than the available KV cache memory (1.50 GB). Try",
					Want: parser.Fields{"tokens": "65536", "requested": "3221225472", "available": "1610612736"},
				},
				{
					Line: "ValueError: To serve at least one request with the model's max seq len (65536), (2.50 GiB KV cach",
					Want: parser.Fields{"tokens": "65536", "requested": "2684354560"},
				},
			},
			NoMatch: []string{"Available KV cache memory: 11.27 GiB", `    raise ValueError("To serve at least one request with the models's max seq len "`},
		},
		{
			// The refusal itself follows, unless the log is cut.
			Name:     "vllm.kv_negative",
			Program:  pattern.Program{Name: "vllm", Framework: "vllm", Authority: pattern.Counted},
			Literals: []string{"vailable KV cache memory: -"},
			Expr:     `[Aa]vailable KV cache memory: (?<available_sz>-\d+(?:\.\d+)? ?GiB)`,
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "init",
			Source:  "vLLM V1, v1/worker/gpu_worker.py: weights and activations alone are larger than the share",
			Match:   []pattern.Sample{{Line: "Available KV cache memory: -3.50 GiB", Want: parser.Fields{"available": "-3758096384"}}},
			NoMatch: []string{"Available KV cache memory: 11.27 GiB"},
		},
		{
			// Terminals and log viewers of fixed width break the sentence anywhere.
			Name:  "vllm.kv_needed_rest",
			After: []string{"vllm.kv_needed"}, Within: 2,
			Expr: `^.{0,200}?available KV cache memory \((?<available_sz>-?\d+(?:\.\d+)? ?GiB)\)` +
				`(?:[^\n]{0,80}?estimated maximum model length is (?<tokens_available>\d+))?`,
			Kind: parser.KVCache, Role: parser.Detail,
			Source: "vLLM V1 since 0.7, v1/core/kv_cache_utils.py, wrapped",
			Match: []pattern.Sample{{
				Line: "e is needed, which is larger than the available KV cache memory (2.25 GiB). Based on the available memory, the estimated maximum model length is 58976. Try",
				Want: parser.Fields{"available": "2415919104", "tokens_available": "58976"},
			}},
			NoMatch: []string{"Available KV cache memory: 11.27 GiB"},
		},
		{
			Name:     "vllm.auto_fit",
			Literals: []string{"Cannot auto-fit max_model_len"},
			Expr:     `Cannot auto-fit max_model_len: not enough GPU memory`,
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "init",
			Source:  "vLLM since 0.14, v1/core/kv_cache_utils.py",
			Match:   lines("ValueError: Cannot auto-fit max_model_len: not enough GPU memory available to serve even a single token. Try increasing `gpu_memory_utilization`."),
			NoMatch: []string{"Using max model len 131072"},
		},
		{
			// "requested" is what gpu_memory_utilization wants of the whole device.
			Name:     "vllm.free_memory",
			Literals: []string{"is less than desired GPU memory utilization"},
			Expr: `Free memory on device(?: [a-z]{1,8}:(?<device>\d+)| \w{1,20})? \((?<free_gib>-?\d+(?:\.\d+)?)/(?<total_gib>\d+(?:\.\d+)?) GiB\) on startup ` +
				`is less than desired GPU memory utilization \((?<fraction>\d+(?:\.\d+)?), (?<requested_gib>\d+(?:\.\d+)?) GiB\)`,
			Kind: parser.KVCache, Role: parser.Evidence, Phase: "init", Tells: map[string]string{"gpu_memory_utilization": "fraction"},
			Source: "vLLM since 0.9.1, v1/worker/gpu_worker.py (the device's name since 2025-12)",
			Match: []pattern.Sample{
				{
					Line: "ValueError: Free memory on device (37.25/79.00 GiB) on startup is less than desired GPU memory utilization (0.8, 63.25 GiB). Decrease GPU memory utilization",
					Want: parser.Fields{"free": "39996882944", "total": "84825604096", "fraction": "0.8", "requested": "67914170368"},
				},
				{
					Line: "ValueError: Free memory on device cuda:3 (0.5/24.0 GiB) on startup is less than desired GPU memory utilization (0.92, 22.0 GiB).",
					Want: parser.Fields{"device": "3", "free": "536870912", "total": "25769803776", "fraction": "0.92", "requested": "23622320128"},
				},
			},
			NoMatch: []string{"the current vLLM instance can use total_gpu_memory (79.11GiB) x gpu_memory_utilization (0.80) = 63.29GiB"},
		},
		{
			// torch's own message stands above, in the exception that this one was caused by.
			Name:     "vllm.warm_up",
			Literals: []string{"occurred when warming up"},
			Expr:     `out of memory occurred when warming up (?<method>sampler|pooler)(?: \(task='[^']{1,40}'\))? with (?<count>\d+) dummy requests`,
			Kind:     parser.GPUOOM, Role: parser.Evidence, Phase: "init", Tells: map[string]string{"max_num_seqs": "count"},
			Source: "vLLM since 0.8, v1/worker/gpu_model_runner.py",
			Match: []pattern.Sample{
				{
					Line: "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. Please try lowering `max_num_seqs`",
					Want: parser.Fields{"method": "sampler", "count": "1024"},
				},
				{
					Line: "RuntimeError: CUDA out of memory occurred when warming up pooler (task='embed') with 256 dummy requests.",
					Want: parser.Fields{"method": "pooler", "count": "256"},
				},
			},
			NoMatch: []string{"Warming up sampler with 1024 dummy requests"},
		},
		{
			// With the allocator's message quoted at the end, that message is the better witness.
			Name:     "vllm.load",
			Literals: []string{"Failed to load model - not enough GPU memory"},
			Expr:     `Failed to load model - not enough GPU memory(?![^\n]{0,1500}Tried to allocate)`,
			Kind:     parser.GPUOOM, Role: parser.Evidence, Phase: "init",
			Source:  "vLLM since 0.13, v1/worker/gpu_model_runner.py",
			Match:   lines("Failed to load model - not enough GPU memory. Try lowering --gpu-memory-utilization to free memory for weights, increasing --tensor-parallel-size"),
			NoMatch: []string{"Failed to load model - not enough GPU memory. See https://docs.vllm.ai (original error: CUDA out of memory. Tried to allocate 2.00 GiB."},
		},
	}
}

// vllmPressure are shortages that vLLM handles, and one assertion that only looks like one.
func vllmPressure() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "vllm.preempted",
			Literals: []string{"is preempted by PreemptionMode."},
			Expr:     `is preempted by PreemptionMode\.(?<method>[A-Z]{1,20})(?:[^\n]{0,400}?total_num_cumulative_preemption=(?<count>\d+))?`,
			Kind:     parser.Pressure, Role: parser.Context, Phase: "rollout",
			Source: "vLLM V0, core/scheduler.py",
			Match: []pattern.Sample{{
				Line: "Sequence group 118 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. This can affect the end-to-end " +
					"performance. Increase gpu_memory_utilization or tensor_parallel_size. total_num_cumulative_preemption=51",
				Want: parser.Fields{"method": "RECOMPUTE", "count": "51"},
			}},
			NoMatch: []string{"slurmstepd: error: *** STEP 1.0 ON c1 CANCELLED AT 2025-10-15T18:26:40 DUE TO PREEMPTION ***"},
		},
		{
			Name:     "vllm.p2p_buffer_full",
			Literals: []string{"Tensor, Out Of Memory", "Tensor, Peer Out Of Memory"},
			Expr:     `(?:Recv Tensor, Out Of Memory|Send Tensor, Peer Out Of Memory)`,
			Kind:     parser.Pressure, Role: parser.Context,
			Source: "vLLM, distributed/kv_transfer P2P connector: a transfer buffer, handled",
			Match: lines(
				"🔴[PUT]Recv Tensor, Out Of Memory, 10.0.0.1:21001👈10.0.0.2:22001, data:{'cmd': 'PUT'}",
				"🔴Send Tensor, Peer Out Of Memory/Threshold, 10.0.0.1:21001 👉 10.0.0.2:22001",
			),
			NoMatch: []string{"srun: error: n1: task 0: Out Of Memory"},
		},
		{
			// Free memory grew while vLLM measured its own use: another process let go. Not an exhaustion.
			Name:     "vllm.profiling",
			Literals: []string{"Error in memory profiling"},
			Expr: `Error in memory profiling\.(?: Initial free memory (?<available_sz>\d+(?:\.\d+)?(?: GiB)?), ` +
				`current free memory (?<free_sz>\d+(?:\.\d+)?(?: GiB)?))?`,
			Kind: parser.Pressure, Role: parser.Context, Phase: "init",
			Source: "vLLM V0 and V1, worker/worker.py, v1/worker/gpu_worker.py (bytes before 0.9.1)",
			Match: []pattern.Sample{
				{
					Line: "AssertionError: Error in memory profiling. Initial free memory 70.5 GiB, current free memory 75.0 GiB. This happens when other processes",
					Want: parser.Fields{"available": "75698798592", "free": "80530636800"},
				},
				{
					Line: "AssertionError: Error in memory profiling. Initial free memory 1073741824, current free memory 2147483648. This happens when",
					Want: parser.Fields{"available": "1073741824", "free": "2147483648"},
				},
				{Line: "AssertionError: Error in memory profiling. This happens when the GPU memory was not properly cleaned up"},
			},
			NoMatch: []string{"Memory profiling takes 9.81 seconds"},
		},
	}
}

// vllmDeaths are what the parents say when a process of the engine died. Exit status -9 is SIGKILL, the one that the
// kernel sends when the node's memory runs out, and others too.
func vllmDeaths() []pattern.Pattern {
	const src = "vLLM 0.6-0.2x, v1/engine/core.py, v1/engine/utils.py, v1/executor/multiproc_executor.py, executor/multiproc_worker_utils.py"
	return []pattern.Pattern{
		{
			Name:     "vllm.sigkill",
			Literals: []string{"Failed core proc(s): {", " died, exit code: -9"},
			Expr: `(?:Failed core proc\(s\): \{(?:[^}]{0,400}?)'(?<comm>[^']{1,64})': -9\b` +
				`|Worker \w{1,40} pid (?<pid>\d+) died, exit code: -9\b)`,
			Kind: parser.OOMKill, Role: parser.Suspicion, Set: map[string]string{"exitcode": "-9", "signal": "9"},
			Source: src,
			Match: []pattern.Sample{
				{Line: "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': -9}", Want: parser.Fields{"comm": "EngineCore_DP0"}},
				{Line: "Worker VllmWorkerProcess pid 5120 died, exit code: -9", Want: parser.Fields{"pid": "5120"}},
			},
			NoMatch: []string{"RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': 1}"},
		},
		{
			Name:     "vllm.init_failed",
			Literals: []string{"Engine core initialization failed", " died, exit code: "},
			Expr: `(?:Engine core initialization failed(?![^\n]{0,500}': -9\b)(?:[^\n]{0,80}\{'(?<comm>[^']{1,64})': (?<exitcode>-?\d{1,3}))?` +
				`|Worker \w{1,40} pid (?<pid>\d+) died, exit code: (?<exitcode>(?!-9\b)-?\d{1,3}))`,
			Kind: parser.ProcessExit, Role: parser.Consequence,
			Source: src,
			Match: []pattern.Sample{
				{
					Line: "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_0': 1}",
					Want: parser.Fields{"comm": "EngineCore_0", "exitcode": "1"},
				},
				{Line: "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"},
				{Line: "Worker VllmWorkerProcess pid 5120 died, exit code: 1", Want: parser.Fields{"pid": "5120", "exitcode": "1"}},
			},
			NoMatch: []string{"Waiting for init message from front-end."},
		},
		{
			Name: "vllm.engine_dead",
			Literals: []string{
				"EngineCore failed to start", "EngineCore encountered a", "EngineCore hit an exception", "EngineDeadError", " died unexpectedly, shutting down",
				"WorkerProc hit an exception", "WorkerProc initialization failed", "WorkerProc failed to start", "output_handler failed",
				"might cause deadlock in distributed execution", "Killing local vLLM worker processes",
			},
			Expr: `(?:EngineCore (?:failed to start|encountered a (?:fatal error|n issue)|hit an exception)` +
				`|EngineDeadError` +
				`|(?:Engine core|Worker) proc (?<comm>[\w.-]{1,64}) died unexpectedly, shutting down` +
				`|WorkerProc (?:hit an exception|initialization failed|failed to start)` +
				`|AsyncLLM output_handler failed` +
				`|Error executing method '?(?<method>\w{1,64})'?\. This might cause deadlock in distributed execution` +
				`|Killing local vLLM worker processes)`,
			Kind: parser.ProcessExit, Role: parser.Consequence,
			Source: src + ", v1/engine/exceptions.py, v1/engine/async_llm.py",
			Match: []pattern.Sample{
				{Line: "EngineCore failed to start."},
				{Line: "EngineCore encountered a fatal error."},
				{Line: "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause."},
				{Line: "Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.", Want: parser.Fields{"comm": "EngineCore_DP0"}},
				{Line: "Worker proc VllmWorker-3 died unexpectedly, shutting down executor.", Want: parser.Fields{"comm": "VllmWorker-3"}},
				{Line: "Exception: WorkerProc initialization failed due to an exception in a background process. See stack trace for root cause."},
				{Line: "Error executing method 'determine_num_available_blocks'. This might cause deadlock in distributed execution.", Want: parser.Fields{"method": "determine_num_available_blocks"}},
			},
			NoMatch: []string{"EngineCore started", "RayWorkerProc started"},
		},
		{
			Name:     "vllm.worker_failed",
			Literals: []string{"Worker failed with error ", "while processing method "},
			// The quoted error is the root's own text: where it speaks of memory, the allocator's patterns read it.
			Expr: `(?:Worker failed with error '|Exception in worker \w{1,40} while processing method (?<method>\w{1,64}))` +
				`(?![^\n]{0,2000}(?:out of memory|OutOfMemory|cache blocks|KV cache))`,
			Kind: parser.ProcessExit, Role: parser.Consequence,
			Source: src,
			Match: []pattern.Sample{
				{Line: "RuntimeError: Worker failed with error 'list index out of range', please check the stack trace above for the root cause"},
				{Line: "Exception in worker VllmWorkerProcess while processing method load_model.", Want: parser.Fields{"method": "load_model"}},
			},
			NoMatch: []string{"RuntimeError: Worker failed with error 'CUDA out of memory. Tried to allocate 2.00 GiB.', please check the stack trace above"},
		},
	}
}
