package parser

// ggmlPatterns are llama.cpp/ggml, TensorRT and TensorRT-LLM, bitsandbytes, cupy and rmm.
func ggmlPatterns() []Pattern {
	return append(ggmlOwnPatterns(), nativePatterns()...)
}

func ggmlOwnPatterns() []Pattern {
	return []Pattern{
		phaseMarker("ggml.loading", "init", "open", "model loading", "llama.cpp, src/llama-model.cpp, llama-context.cpp (llama.cpp before 2025)",
			`^\s{0,4}(?:load_tensors: |llm_load_tensors: |llama_model_loader: |llama_new_context_with_model: |llama_context: |llama_kv_cache\w{0,20}: )`,
			[]string{"load_tensors: ", "llama_model_loader: ", "llama_new_context_with_model: ", "llama_context: ", "llama_kv_cache"},
			"load_tensors: loading model tensors, this can take a while... (mmap = true)", "llama_new_context_with_model: n_ctx      = 65536"),
		{
			Name:    "ggml.serving",
			Needles: []string{"server is listening on ", "all slots are idle"},
			Expr:    `main: server is listening on |update_slots: all slots are idle`,
			Marker:  "phase", Set: map[string]string{"phase": "init", "edge": "close", "label": "model loading"},
			Source: "llama.cpp, tools/server/server.cpp",
			Match: []Sample{
				{"main: server is listening on http://127.0.0.1:8080 - starting the main loop", Fields{"phase": "init", "edge": "close", "label": "model loading"}},
				{"srv  update_slots: all slots are idle", Fields{"phase": "init", "edge": "close", "label": "model loading"}},
			},
		},
		{
			Name:    "ggml.malloc",
			Needles: []string{"alloc failed: out of memory"},
			Expr:    `allocating (?<requested_mib>\d{1,9}(?:\.\d{1,6})?) MiB on device (?<device>\d{1,4}): (?:cuda|hip|musa)Malloc\w{0,16} failed: out of memory`,
			Kind:    GPUDriverOOM, Role: Evidence,
			Source: "ggml, src/ggml-cuda/ggml-cuda.cu",
			Match: []Sample{{
				"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 1024.50 MiB on device 1: cudaMalloc failed: out of memory",
				Fields{"requested": "1074266112", "device": "1"},
			}},
		},
		{
			Name:    "ggml.place",
			Needles: []string{"current device: "},
			Expr:    `^\s{0,8}current device: (?<device>\d{1,4}), in function \w{1,120} at `,
			Kind:    GPUDriverOOM, Role: Detail,
			Source: "ggml, src/ggml-cuda/ggml-cuda.cu ggml_cuda_error: the line below the error",
			Match:  []Sample{{"  current device: 2, in function alloc at /src/llama.cpp/ggml/src/ggml-cuda/ggml-cuda.cu:441", Fields{"device": "2"}}},
		},
		{
			Name:    "ggml.buffer",
			Needles: []string{"failed to allocate ", "unable to allocate "},
			Expr:    `(?:failed|unable) to allocate (?:CUDA|ROCm|HIP|MUSA|Vulkan|SYCL|CANN|Metal)(?<device>\d{0,4}) buffer(?: of size (?<requested_b>\d{1,19}))?`,
			Kind:    GPUDriverOOM, Role: Evidence,
			Source: "ggml, src/ggml-alloc.c; llama.cpp, src/llama-model.cpp",
			Match: []Sample{
				{"ggml_gallocr_reserve_n_impl: failed to allocate CUDA0 buffer of size 2147483648", Fields{"device": "0", "requested": "2147483648"}},
				{"llama_model_load: error loading model: unable to allocate CUDA1 buffer", Fields{"device": "1"}},
			},
			NoMatch: []string{
				"ggml_cuda_host_malloc: failed to allocate 1024.00 MiB of pinned memory: out of memory",
				"failed to allocate port 30000",
				"failed to allocate CUDA_Host buffer of size 4096",
			},
		},
		{
			Name:    "ggml.buffer_host",
			Needles: []string{"failed to allocate CPU", "unable to allocate CPU"},
			Expr:    `(?:failed|unable) to allocate CPU\w{0,12} buffer(?: of size (?<requested_b>\d{1,19}))?`,
			Kind:    HostOOM, Role: Evidence,
			Source: "ggml, src/ggml-alloc.c and ggml-backend.cpp",
			Match:  []Sample{{"ggml_gallocr_reserve_n: failed to allocate CPU buffer of size 34359738368", Fields{"requested": "34359738368"}}},
		},
	}
}

func nativePatterns() []Pattern {
	return []Pattern{
		{
			Name:    "trtllm.runtime",
			Needles: []string{"CUDA runtime error in "},
			Expr:    `CUDA runtime error in .{1,300}?: out of memory \(`,
			Kind:    GPUDriverOOM, Role: Evidence,
			Source: "TensorRT-LLM, cpp/include/tensorrt_llm/common/cudaUtils.h [TensorRT-LLM issue 1060]",
			Match: []Sample{{
				"[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, mCudaStream->get()): out of memory (/app/tensorrt_llm/cpp/include/tensorrt_llm/runtime/tllmBuffers.h:112)",
				Fields{},
			}},
			NoMatch: []string{"[TensorRT-LLM][ERROR] CUDA runtime error in cudaDeviceSynchronize(): an illegal memory access was encountered (/app/x.cpp:1)"},
		},
		{
			Name:    "tensorrt.runtime",
			Needles: []string{"uda Runtime (out of memory)", ": 2 (out of memory)"},
			Expr:    `[Ee]rror [Cc]ode:? 1: [Cc]uda Runtime \(out of memory\)|Cuda Error in [\w:]{1,80}: 2 \(out of memory\)`,
			Kind:    GPUDriverOOM, Role: Evidence,
			Source: "TensorRT 7-10, defaultAllocator.cpp, safeRuntime.cpp [TensorRT issues 2198, 948]",
			Match: []Sample{
				{"[TRT] [E] 1: [defaultAllocator.cpp::allocate::20] Error Code 1: Cuda Runtime (out of memory)", Fields{}},
				{"[E] [TRT] ../rtSafe/safeRuntime.cpp (25) - Cuda Error in allocate: 2 (out of memory)", Fields{}},
			},
		},
		{
			Name:    "tensorrt.deserialize",
			Needles: []string{"[deserialize.cpp::"},
			Expr:    `\[deserialize\.cpp::\w{1,40}::\d{1,6}\] Error Code 2: Out[oO]f[mM]emory \(Requested size was (?<requested_b>\d{1,19}) bytes`,
			Kind:    GPUDriverOOM, Role: Detail, Phase: "init",
			Source: "TensorRT 10: an engine is loaded",
			Match: []Sample{{
				"[TensorRT-LLM][ERROR] [deserialize.cpp::load::572] Error Code 2: OutOfMemory (Requested size was 7169084620 bytes.)", Fields{"requested": "7169084620"},
			}},
			NoMatch: []string{"[deserialize.cpp::load::572] Error Code 1: Serialization"},
			Also:    []string{"tensorrt.requested"},
		},
		{
			Name:    "tensorrt.requested",
			Needles: []string{"Requested amount of ", "Requested size was "},
			Expr:    `Requested amount of (?:GPU )?memory \((?<requested_b>\d{1,19}) bytes\) could not be allocated|[Mm]emory \(Requested size was (?<requested_b>\d{1,19}) bytes`,
			Kind:    GPUDriverOOM, Role: Detail,
			Source: "TensorRT, beside the status: how much was wanted [torch2trt issue 661]",
			Match: []Sample{
				{"[TensorRT] ERROR: Requested amount of GPU memory (150994944 bytes) could not be allocated. There may not be enough free memory for allocation to succeed.", Fields{"requested": "150994944"}},
				{"[E] [virtualMemoryBuffer.cpp::resizePhysical::140] Error Code 2: OutOfMemory (Requested size was 4294967296 bytes.)", Fields{"requested": "4294967296"}},
			},
		},
		{
			Name:    "bitsandbytes.status",
			Needles: []string{"Error out of memory at line "},
			Expr:    `Error out of memory at line \d{1,6} in file `,
			Kind:    GPUDriverOOM, Role: Evidence,
			Source: "bitsandbytes, csrc/compat.cuh CUDA_CHECK_RETURN, on stderr",
			Match:  []Sample{{"Error out of memory at line 380 in file /src/csrc/pythonInterface.c", Fields{}}},
		},
		{
			Name:    "cupy.oom",
			Needles: []string{"ut of memory allocating ", "ut of memory to allocate "},
			Expr: `[Oo]ut of memory (?:allocating (?<requested_b>\d[\d,]{0,24}) bytes \(allocated so far: (?<allocated_b>\d[\d,]{0,24}) bytes(?:, limit set to: (?<limit_b>\d[\d,]{0,24}) bytes)?` +
				`|to allocate (?<requested_b>\d{1,19}) bytes \(total (?<allocated_b>\d{1,19}) bytes)\)`,
			Kind: GPUOOM, Role: Evidence,
			Set:    map[string]string{"library": "cupy"},
			Source: "cupy, cupy/cuda/memory.pyx; before version 6 without thousands separators, its total being what the pool holds [cupy issues 2537, 1912]",
			Match: []Sample{
				{"cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 25,600,000 bytes (allocated so far: 3,635,267,072 bytes).", Fields{"library": "cupy", "requested": "25600000", "allocated": "3635267072"}},
				{"cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,024 bytes (allocated so far: 2,048 bytes, limit set to: 4,096 bytes).", Fields{"library": "cupy", "requested": "1024", "allocated": "2048", "limit": "4096"}},
				{"cupy.cuda.memory.OutOfMemoryError: out of memory to allocate 1073741824 bytes (total 12373894656 bytes)", Fields{"library": "cupy", "requested": "1073741824", "allocated": "12373894656"}},
			},
			NoMatch: []string{"cc1plus: out of memory allocating 65536 bytes after a total of 4096 bytes"},
		},
		{
			Name:    "rmm.pool",
			Needles: []string{"RMM failure at"},
			Expr:    `RMM failure at ?:.{1,400}?[Mm]aximum pool size exceeded(?: \(failed to allocate (?<requested_sz>` + torchSize + `)\))?`,
			Kind:    GPUOOM, Role: Evidence,
			Set:    map[string]string{"library": "rmm"},
			Source: "rmm, include/rmm/mr/device/pool_memory_resource.hpp: it says MemoryError and means the device [cupoch issue 98]",
			Match: []Sample{{
				"MemoryError: std::bad_alloc: RMM failure at:/opt/rmm/include/rmm/mr/device/pool_memory_resource.hpp:179: Maximum pool size exceeded (failed to allocate 2.0 GiB)",
				Fields{"library": "rmm", "requested": "2147483648"},
			}},
		},
	}
}
