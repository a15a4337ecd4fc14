package parser

// ggmlPatterns are those of llama.cpp and ggml.
func ggmlPatterns() []Pattern {
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
