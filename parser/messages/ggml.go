package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// ggmlPatterns are those of llama.cpp and ggml.
func ggmlPatterns() []pattern.Pattern {
	const idle = `update_slots: all slots are idle|(?:^|\] )all slots are idle(?: \||$)`
	return []pattern.Pattern{
		markers{kind: "phase", source: "llama.cpp, src/llama-model.cpp, llama-context.cpp (llama.cpp before 2025)"}.line("ggml.loading", opens("init", "model loading"),
			`^\s{0,4}(?:load_tensors: |llm_load_tensors: |llama_model_loader: |llama_new_context_with_model: |llama_context: |llama_kv_cache\w{0,20}: )`,
			[]string{"load_tensors: ", "llama_model_loader: ", "llama_new_context_with_model: ", "llama_context: ", "llama_kv_cache"},
			"load_tensors: loading model tensors, this can take a while... (mmap = true)", "llama_new_context_with_model: n_ctx      = 65536"),
		{
			Name:     "ggml.device",
			Literals: []string{": using device "},
			Expr:     `: using device (?:CUDA|ROCm|Vulkan|SYCL|MUSA)(?<device>\d{1,3}) \(.{1,100}\) - (?<free_mib>\d{1,8}) MiB free`,
			Gauge:    true, Source: "llama.cpp 2025, src/llama.cpp llama_model_load_from_file_impl",
			Match: []pattern.Sample{
				{Line: "llama_model_load_from_file_impl: using device CUDA0 (NVIDIA GeForce RTX 4080) - 15420 MiB free", Want: parser.Fields{"device": "0", "free": "16169041920"}},
				{Line: "llama_model_load_from_file_impl: using device ROCm1 (AMD Radeon RX 7900 XTX) (0000:03:00.0) - 24510 MiB free", Want: parser.Fields{"device": "1", "free": "25700597760"}},
			},
		},
		{
			Name:     "ggml.card",
			Literals: []string{", VRAM: "},
			Expr:     `Device (?<device>\d{1,3}): .{1,100}, VRAM: (?<total_mib>\d{1,8}) MiB`,
			Also:     []string{"gpu.card", "gpu.early"},
			Gauge:    true, Source: "llama.cpp 2026, ggml/src/ggml-cuda/ggml-cuda.cu ggml_cuda_init",
			Match: []pattern.Sample{
				{Line: "  Device 0: NVIDIA GeForce RTX 3060, compute capability 8.6, VMM: yes, VRAM: 11911 MiB", Want: parser.Fields{"device": "0", "total": "12489588736"}},
			},
		},
		{
			Name:     "ggml.layers",
			Literals: []string{" layers to GPU"},
			Expr:     `load_tensors: offloaded (?<count>\d{1,5})/\d{1,5} layers to GPU`,
			Gauge:    true, Source: "llama.cpp, src/llama-model.cpp load_tensors",
			Match:   []pattern.Sample{{Line: "load_tensors: offloaded 65/65 layers to GPU", Want: parser.Fields{"count": "65"}}},
			NoMatch: []string{"load_tensors: offloading 64 repeating layers to GPU"},
		},
		{
			Name:     "ggml.weights",
			Literals: []string{"load_tensors: "},
			Expr:     `load_tensors: {1,12}(?:CUDA|ROCm|Vulkan|SYCL|MUSA)(?<device>\d{1,3})(?: model)? buffer size = {1,8}(?<used_mib>\d{1,8}\.\d{2}) MiB`,
			Gauge:    true, Source: "llama.cpp, src/llama-model.cpp load_tensors; before 2025 without \"model\"",
			Match: []pattern.Sample{
				{Line: "load_tensors:        CUDA0 model buffer size =  4685.50 MiB", Want: parser.Fields{"device": "0", "used": "4913102848"}},
				{Line: "llm_load_tensors:      CUDA0 buffer size =  3946.35 MiB", Want: parser.Fields{"device": "0", "used": "4138047898"}},
			},
			NoMatch: []string{"load_tensors:   CPU_Mapped model buffer size =   281.81 MiB"},
		},
		{
			Name:     "ollama.weights_on_host",
			Literals: []string{`msg="model weights" `},
			Expr:     `msg="model weights" (?:device|buffer)=CPU size="(?:(?<used_gib>\d{1,6}(?:\.\d{1,3})?) GiB|(?<used_mib>\d{1,6}(?:\.\d{1,3})?) MiB)"`,
			Gauge:    true, Source: "Ollama 0.5-0.11, ml/backend/ggml/ggml.go; since 0.11.5 ml/device.go",
			Match: []pattern.Sample{
				{Line: `time=2025-10-20T10:11:14.378+02:00 level=INFO source=device.go:211 msg="model weights" device=CPU size="25.0 GiB"`, Want: parser.Fields{"used": "26843545600"}},
				{Line: `time=2025-05-17T11:08:52.530Z level=INFO source=ggml.go:299 msg="model weights" buffer=CPU size="787.5 MiB"`, Want: parser.Fields{"used": "825753600"}},
			},
			NoMatch: []string{`level=INFO source=device.go:206 msg="model weights" device=CUDA0 size="35.8 GiB"`},
		},
		{
			Name:     "ollama.weights_on_card",
			Literals: []string{`msg="model weights" `},
			Expr:     `msg="model weights" (?:device|buffer)=(?!CPU)(?<part>\w{1,20}) size="(?:(?<used_gib>\d{1,6}(?:\.\d{1,3})?) GiB|(?<used_mib>\d{1,6}(?:\.\d{1,3})?) MiB)"`,
			Gauge:    true, Source: "Ollama 0.5-0.11, ml/backend/ggml/ggml.go; since 0.11.5 ml/device.go",
			Match: []pattern.Sample{
				{Line: `time=2025-10-20T10:11:14.378+02:00 level=INFO source=device.go:206 msg="model weights" device=CUDA0 size="35.8 GiB"`, Want: parser.Fields{"part": "CUDA0", "used": "38439957299"}},
			},
			NoMatch: []string{`level=INFO source=ggml.go:299 msg="model weights" buffer=CPU size="787.5 MiB"`},
		},
		bufferReading("ggml.cache_on_host", "CPU", "KV", "kv cache", []pattern.Sample{
			{Line: "llama_kv_cache_init:        CPU KV buffer size =  1024.00 MiB", Want: parser.Fields{"used": "1073741824"}},
			{Line: `time=2026-02-07T09:13:23.413-05:00 level=INFO source=device.go:256 msg="kv cache" device=CPU size="48.0 GiB"`, Want: parser.Fields{"used": "51539607552"}},
		}, "llama_kv_cache_init:      CUDA0 KV buffer size =  1024.00 MiB"),
		bufferReading("ggml.cache_on_card", `(?!CPU)\w{1,20}`, "KV", "kv cache", []pattern.Sample{
			{Line: "llama_kv_cache_init:      Metal KV buffer size = 49152.00 MiB", Want: parser.Fields{"used": "51539607552"}},
			{Line: `time=2026-02-07T09:13:23.413-05:00 level=INFO source=device.go:251 msg="kv cache" device=CUDA0 size="512.0 MiB"`, Want: parser.Fields{"used": "536870912"}},
		}, "llama_kv_cache_init:        CPU KV buffer size =  1024.00 MiB"),
		bufferReading("ggml.compute_on_card", `(?!CPU|CUDA_Host)\w{1,20}`, "compute", "compute graph", []pattern.Sample{
			{Line: "llama_new_context_with_model:      Metal compute buffer size =  8484.00 MiB", Want: parser.Fields{"used": "8896118784"}},
			{Line: `time=2026-02-07T09:13:23.413-05:00 level=INFO source=device.go:262 msg="compute graph" device=Vulkan0 size="2.3 GiB"`, Want: parser.Fields{"used": "2469606195"}},
		}, "llama_context:  CUDA_Host compute buffer size =   262.01 MiB"),
		{
			Name:     "ggml.draft",
			Literals: []string{"draft model", "draft context"},
			Expr:     `(?:load_model|common_speculative_init): (?:loading draft model|adding \w{1,12} draft context)`,
			Gauge:    true, Source: "llama.cpp, tools/server/server-context.cpp, common/speculative.cpp",
			Match:   lines("srv    load_model: loading draft model '/models/qwen2.5-0.5b-q8_0.gguf'", "common_speculative_init: adding MTP draft context, n_max = 2"),
			NoMatch: []string{"the draft model must share the vocabulary"},
		},
		{
			Name:     "ggml.prompt",
			Literals: []string{"new prompt, n_ctx_slot = "},
			Expr:     `new prompt, n_ctx_slot = \d{1,9}, n_keep = -?\d{1,9}, (?:task\.n_tokens|n_prompt_tokens) = (?<count>\d{1,9})`,
			Gauge:    true, Source: "llama.cpp 2024-2026, tools/server/server-context.cpp update_slots",
			Match: []pattern.Sample{
				{Line: "slot update_slots: id  0 | task 402 | new prompt, n_ctx_slot = 262144, n_keep = 0, task.n_tokens = 155008", Want: parser.Fields{"count": "155008"}},
				{Line: "slot update_slots: id  1 | task 7 | new prompt, n_ctx_slot = 8192, n_keep = 0, n_prompt_tokens = 3120", Want: parser.Fields{"count": "3120"}},
			},
		},
		{
			Name:     "ggml.build",
			Literals: []string{"build_info: b", "build: 4", "build: 5", "build: 6", "build: 7", "build: 8", "build: 9", "build: 1"},
			Expr:     `^(?:main: )?build(?:_info: b|: )(?<count>\d{4,6})(?:-[0-9a-f]{7,12}$| \([0-9a-f]{7,12}\) with )`,
			Gauge:    true, Source: "llama.cpp, common/common.cpp",
			Match: []pattern.Sample{
				{Line: "build: 6700 (1f2e3d4c) with cc (Ubuntu 13.3.0) for x86_64-linux-gnu", Want: parser.Fields{"count": "6700"}},
				{Line: "main: build_info: b10488-1f2e3d4c", Want: parser.Fields{"count": "10488"}},
			},
			NoMatch: []string{"build: 6700 files in 12 s"},
		},
		markers{kind: "phase", source: "llama.cpp, tools/server/server.cpp"}.line("ggml.serving", closes("init", "model loading"),
			`main: server is listening on |`+idle, []string{"server is listening on ", "all slots are idle"},
			"main: server is listening on http://127.0.0.1:8080 - starting the main loop", "srv  update_slots: all slots are idle"),
		markers{kind: "phase", source: "llama.cpp, tools/server/server-context.cpp, server.cpp; ik_llama.cpp"}.line("ggml.request", opens("rollout", "request"),
			`\bslot +launch_slot_: id +\d{1,5} \| task \d{1,12} \| processing task\b|\bslot +(?:update_slots|print_timing): .{1,60}\| prompt processing(?: progress)?, n_\w{1,10} = +\d|(?:^|\] )slot is processing task(?: \||$)`,
			[]string{" processing task", "| prompt processing"}, "slot launch_slot_: id  0 | task 0 | processing task", "0.11.000 I slot launch_slot_: id  3 | task 5 | processing task, is_child = 0",
			"slot update_slots: id  0 | task 0 | prompt processing progress, n_past = 2048, n_tokens = 2048, progress = 0.022727",
			"slot print_timing: id  0 | task 5 | prompt processing, n_tokens =   6144, progress = 0.39", `INFO [   launch_slot_with_task] slot is processing task | tid="140" timestamp=1759185009 id_slot=0 id_task=0`),
		{
			Name:     "ggml.idle",
			Literals: []string{"all slots are idle"},
			Expr:     idle,
			Also:     []string{"ggml.serving"},
			Marker:   "phase", Set: closes("rollout", "request"), Source: "llama.cpp, tools/server/server-context.cpp, server.cpp; ik_llama.cpp",
			Match: lines("srv  update_slots: all slots are idle", `INFO [            update_slots] all slots are idle | tid="140" timestamp=1759184998`),
		},
		markers{kind: "phase", source: "Ollama 0.1-0.6, llm/server.go WaitUntilRunning"}.line("ollama.loading", opens("init", "model loading"),
			`status="llm server (?:loading model|not responding)"`, []string{`status="llm server `},
			`time=2025-03-04T09:10:11.120Z level=INFO source=server.go:591 msg="waiting for server to become available" status="llm server loading model"`,
			`msg="waiting for server to become available" status="llm server not responding"`),
		{
			Name:     "ollama.machine",
			Literals: []string{`msg="system memory" total="`},
			Expr:     `msg="system memory" total="(?<host_total_sz>\d{1,5}(?:\.\d{1,2})? [MGT]iB)"`,
			Gauge:    true, Source: "Ollama 0.3-0.33, llm/server.go: of the machine or its container",
			Match: []pattern.Sample{{Line: `time=2025-04-22T21:14:31.588+02:00 level=INFO source=server.go:105 msg="system memory" total="7.6 GiB" free="6.8 GiB" free_swap="2.0 GiB"`, Want: parser.Fields{"host_total": "8160437862"}}},
		},
		{
			Name:     "ggml.file_size",
			Literals: []string{"print_info: file size ", "llm_load_print_meta: model size "},
			Expr:     `(?:^|[ :])(?:print_info: file|llm_load_print_meta: model) size {1,20}= (?<bytes_sz>\d{1,5}(?:\.\d{1,3})? [MG]iB) \(`,
			Gauge:    true, Source: "llama.cpp 2023-2026, src/llama-model.cpp print_info, llama.cpp: all tensors of a file, wherever they go; Ollama prints it, too",
			Match: []pattern.Sample{
				{Line: "print_info: file size   = 39.59 GiB (4.82 BPW)", Want: parser.Fields{"bytes": "42509438812"}},
				{Line: "Jan 06 19:44:41 box ollama[1873]: print_info: file size   = 512.00 MiB (4.82 BPW)", Want: parser.Fields{"bytes": "536870912"}},
				{Line: "llm_load_print_meta: model size       = 14.716 GiB (4.914 BPW)", Want: parser.Fields{"bytes": "15801184682"}},
			},
			NoMatch: []string{"print_info: file format = GGUF V3 (latest)"},
		},
		{
			Name:     "ollama.card",
			Literals: []string{`msg="gpu memory" id=`},
			Expr:     `msg="gpu memory" id=(?<card>[\w.:-]{1,60}) .{0,60}?\bavailable="(?<free_sz>\d{1,5}(?:\.\d{1,2})? [MGT]iB)"`,
			Gauge:    true, Source: "Ollama 0.12-0.33, llm/server.go, server/sched.go: for each card, before a model is loaded",
			Match: []pattern.Sample{{Line: `time=2026-01-06T19:44:41.531+01:00 level=INFO source=sched.go:450 msg="gpu memory" id=GPU-3d9cb2a1-5f3e library=CUDA available="7.0 GiB" free="7.5 GiB" minimum="457.0 MiB" overhead="0 B"`, Want: parser.Fields{"card": "GPU-3d9cb2a1-5f3e", "free": "7516192768"}}},
		},
		{
			Name:     "ollama.pulled",
			Literals: []string{"pulling "},
			Requires: []string{" GB"},
			Expr:     `^pulling [0-9a-f]{12}(?:\.\.\.|:) 100% .{1,200}?(?<bytes_dsz>\d{1,4}(?:\.\d{1,2})? ?GB)\s*$`,
			Gauge:    true, Source: "Ollama 0.1-0.12, progress/bar.go: the layer of a model that holds the weights",
			Match:   []pattern.Sample{{Line: "pulling 6e9f90f02bb3: 100% ▕██████████████████▏ 9.0 GB                         ", Want: parser.Fields{"bytes": "9000000000"}}},
			NoMatch: []string{"pulling 6e4c38e1172f: 100% ▕██████████████████▏ 1.1 KB", "pulling 6e9f90f02bb3:  31% ▕█████             ▏ 2.8 GB/9.0 GB  112 MB/s     55s"},
		},
		{
			Name:     "ollama.system_memory",
			Literals: []string{"model requires more system memory ("},
			Expr: `model requires more system memory \((?:(?<requested_gib>\d{1,6}(?:\.\d{1,3})?) GiB|(?<requested_mib>\d{1,6}(?:\.\d{1,3})?) MiB)\)` +
				` than is available \((?:(?<free_gib>\d{1,6}(?:\.\d{1,3})?) GiB|(?<free_mib>\d{1,6}(?:\.\d{1,3})?) MiB)\)`,
			Kind: parser.HostOOM, Role: parser.Evidence, Phase: "init",
			Program: pattern.Program{Name: "ollama", Application: "ollama", Allocator: "ggml"},
			Source:  "Ollama 0.1-0.12, llm/server.go",
			Match: []pattern.Sample{
				{Line: "Error: model requires more system memory (41.5 GiB) than is available (29.0 GiB)", Want: parser.Fields{"requested": "44560285696", "free": "31138512896"}},
				{Line: `{"error":"model requires more system memory (5.5 GiB) than is available (812.5 MiB)"}`, Want: parser.Fields{"requested": "5905580032", "free": "851968000"}},
			},
			NoMatch: []string{"the model requires more system memory than is available on most laptops"},
		},
		{
			Name:     "ollama.killed",
			Literals: []string{"runner process has terminated: signal: killed"},
			Expr:     `\bllama runner process has terminated: signal: killed\b`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Phase: "init", Set: map[string]string{"signal": "SIGKILL"},
			Program: pattern.Program{Name: "ollama", Application: "ollama", Allocator: "ggml"},
			Source:  "Ollama 0.1-0.12, llm/server.go WaitUntilRunning: while a model loads",
			Match: lines(
				`time=2024-07-02T13:07:02.384Z level=ERROR source=sched.go:388 msg="error loading llama server" error="llama runner process has terminated: signal: killed "`,
				"Error: llama runner process has terminated: signal: killed",
			),
			NoMatch: []string{`error="llama runner process has terminated: exit status 2"`},
		},
		{
			Name:     "ollama.no_flash_attention",
			Literals: []string{"flash attention enabled but not supported by "},
			Expr:     `flash attention enabled but not supported by (?:model|gpu)`,
			Gauge:    true, Source: "Ollama 0.5-0.12, llm/server.go NewLlamaServer: then it also ignores a quantized cache",
			Match: lines(`level=WARN source=server.go:178 msg="flash attention enabled but not supported by model"`),
		},
		{
			Name:     "ollama.no_room",
			Program:  pattern.Program{Name: "ollama", Application: "ollama", Allocator: "ggml"},
			Literals: []string{"insufficient memory - required allocations: "},
			Expr:     `insufficient memory - required allocations: `,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence, Phase: "init",
			Source: "Ollama since 0.11, ml/backend.go ErrNoMem",
			Match:  lines(`level=INFO source=sched.go:450 msg="Load failed" error="insufficient memory - required allocations: {InputWeights:1048576 CPU:{} GPUs:[]}"`),
		},
		markers{kind: "phase", source: "Ollama 0.1-0.6, llm/server.go WaitUntilRunning"}.line("ollama.serving", closes("init", "model loading"),
			`msg="llama runner started in `, []string{`msg="llama runner started in `},
			`time=2025-03-04T09:10:15.120Z level=INFO source=server.go:596 msg="llama runner started in 4.02 seconds"`),
		{
			Name:     "ggml.malloc",
			Literals: []string{"alloc failed: out of memory"},
			Expr:     `allocating (?<requested_mib>\d{1,9}(?:\.\d{1,6})?) MiB on device (?<device>\d{1,4}): (?:cuda|hip|musa)Malloc\w{0,16} failed: out of memory`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "ggml, src/ggml-cuda/ggml-cuda.cu",
			Match: []pattern.Sample{{
				Line: "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 1024.50 MiB on device 1: cudaMalloc failed: out of memory",
				Want: parser.Fields{"requested": "1074266112", "device": "1"},
			}},
		},
		{
			Name:     "ggml.vulkan",
			Literals: []string{"ggml_vulkan: Device memory allocation of size "},
			Expr:     `ggml_vulkan: Device memory allocation of size (?<requested_b>\d{1,19}) failed`,
			Kind:     parser.GPUDriverOOM, Role: parser.Detail,
			Source: "ggml, src/ggml-vulkan/ggml-vulkan.cpp: smaller pieces or host memory may be tried next",
			Match:  []pattern.Sample{{Line: "ggml_vulkan: Device memory allocation of size 1073741824 failed.", Want: parser.Fields{"requested": "1073741824"}}},
		},
		{
			Name:     "ggml.place",
			Literals: []string{"current device: "},
			Expr:     `^\s{0,8}current device: (?<device>\d{1,4})(?:, in function \w{1,120} at |\s*$)`,
			Kind:     parser.GPUDriverOOM, Role: parser.Detail,
			Source: "ggml, src/ggml-cuda/ggml-cuda.cu ggml_cuda_error: the line below the error",
			Match: []pattern.Sample{
				{Line: "  current device: 2, in function alloc at /src/llama.cpp/ggml/src/ggml-cuda/ggml-cuda.cu:441", Want: parser.Fields{"device": "2"}},
				{Line: "current device: 0", Want: parser.Fields{"device": "0"}},
			},
		},
		{
			// The loader passes on what it could not do; a buffer of the graph or the cache may be refused later, too.
			Name:     "ggml.load",
			Literals: []string{"error loading model: "},
			Expr: `error loading model: (?:failed|unable) to allocate (?:CUDA|ROCm|HIP|MUSA|Vulkan|SYCL|CANN|Metal)(?<device>\d{0,4}) buffer` +
				`(?: of size (?<requested_b>\d{1,19}))?`,
			Kind: parser.GPUDriverOOM, Role: parser.Evidence, Phase: "init",
			Source: "llama.cpp, src/llama.cpp llama_model_load, src/llama-model.cpp",
			Match: []pattern.Sample{
				{Line: "llama_model_load: error loading model: unable to allocate CUDA1 buffer", Want: parser.Fields{"device": "1"}},
				{Line: "llama_model_load: error loading model: unable to allocate ROCm0 buffer", Want: parser.Fields{"device": "0"}},
			},
			NoMatch: []string{
				"llama_model_load: error loading model: missing tensor 'blk.0.attn_norm.weight'",
			},
		},
		{
			// Memory of which kind is said above it.
			Name:   "ggml.load_backend",
			After:  []string{"ggml.malloc", "ggml.buffer", "ggml.vulkan"},
			Within: 4,
			Expr:   `error loading model: unable to allocate backend buffer`,
			Kind:   parser.GPUDriverOOM, Role: parser.Evidence, Phase: "init",
			Source:  "llama.cpp 2024, src/llama.cpp llm_load_tensors",
			Match:   lines("llama_model_load: error loading model: unable to allocate backend buffer"),
			NoMatch: []string{"llama_model_load: error loading model: missing tensor 'blk.0.attn_norm.weight'"},
		},
		{
			Name:     "ggml.prompt_cache",
			Literals: []string{"prompt cache update: ", "cache state: "},
			Expr:     `(?:prompt cache update|cache state): \d{1,9} prompts, (?<used_mib>\d{1,9}(?:\.\d{1,6})?) MiB(?: \(limits: (?<limit_mib>\d{1,9}(?:\.\d{1,6})?) MiB)?`,
			Gauge:    true, Source: "llama.cpp since October 2025, tools/server/server-task.cpp",
			Match: []pattern.Sample{{
				Line: "srv  get_availabl: prompt cache update: 9044 prompts, 2410.500 MiB (limits: 8192.000 MiB, 8192 tokens)", Want: parser.Fields{"used": "2527592448", "limit": "8589934592"},
			}, {
				Line: "srv        update:  - cache state: 14 prompts, 7890.500 MiB (limits: 8192.000 MiB, 65536 tokens, 812321 est)", Want: parser.Fields{"used": "8273788928", "limit": "8589934592"},
			}},
		},
		{
			Name:     "ggml.image",
			Literals: []string{"encoding image ", "processing image..."},
			Expr:     `\bencoding image (?:or )?slice\.\.\.|\bprocessing image\.\.\.`,
			Gauge:    true, Source: "llama.cpp, tools/mtmd/mtmd-helper.cpp",
			Match:   lines("encoding image or slice...", "encoding image slice...", "srv  process_chun: processing image..."),
			NoMatch: []string{"image slice encoded in 120 ms"},
		},
		{
			Name:     "ggml.load_host",
			Literals: []string{"error loading model: "},
			Expr:     `error loading model: (?:failed|unable) to allocate CPU\w{0,12} buffer(?: of size (?<requested_b>\d{1,19}))?`,
			Kind:     parser.HostOOM, Role: parser.Evidence, Phase: "init",
			Source: "llama.cpp, src/llama.cpp llama_model_load, src/llama-model.cpp",
			Match:  lines("llama_model_load: error loading model: unable to allocate CPU buffer"),
		},
		{
			// What was being made when a buffer was refused, said behind it: it has other causes, too.
			Name:     "ggml.not_loaded",
			Literals: []string{": failed to load model", "panic: unable to load model: ", "panic: failed to reserve graph", "failed to allocate ", `msg="Load failed"`, "msg=load request=", `msg="load request`},
			Expr: `^(?:\w{2,8} {1,8})?(?:llama_(?:load_model|model_load)_from_file(?:_impl)?: failed to load model` +
				`|panic: (?:unable to load model: |failed to reserve graph\b)|(?:time=\S{1,40} level=[A-Z]{4,5} source=\w{1,20}\.go:\d{1,5} )?msg=(?:"Load failed"|"?load request"?=?"\{Operation:(?:fit|alloc|commit))` +
				`|(?!llama_kv_cache_update)\w{1,60}: (?:error: )?(?:failed to load model,? '|(?:failed to initialize the context: )?failed to allocate (?:compute (?:pp )?buffers|buffer for (?<method>kv cache))))`,
			Kind: parser.GPUDriverOOM, Role: parser.Detail, Phase: "init",
			Source: "llama.cpp 2023-2025, src/llama.cpp, src/llama-context.cpp, common/common.cpp, tools/server/server.cpp; Ollama, runner/llamarunner/runner.go, runner/ollamarunner/runner.go, server/sched.go",
			Match: append(lines(
				"llama_load_model_from_file: failed to load model",
				"llama_model_load_from_file_impl: failed to load model",
				"panic: unable to load model: /root/.ollama/models/blobs/sha256-6150",
				"panic: failed to reserve graph",
				"common_init_from_params: failed to load model 'models/qwen2.5-32b-q8_0.gguf'",
				"srv    load_model: failed to load model, 'models/qwen2.5-32b-q8_0.gguf'",
				"llama_init_from_gpt_params: error: failed to load model 'models/mixtral-8x7b.gguf'",
				"llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers",
				"llama_new_context_with_model: failed to allocate compute buffers",
				`time=2025-12-02T17:06:47.184-05:00 level=INFO source=runner.go:1271 msg=load request="{Operation:alloc LoraPath:[] Parallel:1 BatchSize:512`,
				`time=2025-12-02T17:06:48.804-05:00 level=INFO source=sched.go:470 msg="Load failed" model=/models/sha256-aabd error="failed to commit memory"`,
			), pattern.Sample{Line: "llama_kv_cache_init: failed to allocate buffer for kv cache", Want: parser.Fields{"method": "kv cache"}}),
			NoMatch: []string{
				"llama_model_load: error loading model: unable to allocate CUDA0 buffer",
				"llama_model_loader: loaded meta data with 29 key-value pairs",
				"decode: failed to find a memory slot for batch of size 512",
			},
		},
		{
			Name:     "ggml.copies",
			Literals: []string{"pipeline parallelism enabled (n_copies="},
			Expr:     `: pipeline parallelism enabled \(n_copies=(?<count>[2-9]|1\d)\)`,
			Gauge:    true, Source: "llama.cpp 2024-2025, src/llama-context.cpp; ik_llama.cpp, src/llama.cpp",
			Match:   []pattern.Sample{{Line: "llama_context: pipeline parallelism enabled (n_copies=4)", Want: parser.Fields{"count": "4"}}},
			NoMatch: []string{"llama_init_from_model: pipeline parallelism enabled (n_copies=1)"},
		},
		{
			Name:     "ggml.retried",
			Literals: []string{"retrying without pipeline parallelism"},
			Expr:     `^\w{1,60}: compute buffer allocation failed, retrying without pipeline parallelism`,
			Kind:     parser.Recovered, Role: parser.Context, Phase: "init",
			Source: "llama.cpp 2025-2026, src/llama-context.cpp: fewer copies are asked for",
			Match:  lines("sched_reserve: compute buffer allocation failed, retrying without pipeline parallelism", "llama_context: compute buffer allocation failed, retrying without pipeline parallelism"),
		},
		{
			Name:     "ggml.not_updated",
			Literals: []string{"llama_kv_cache_update"},
			Expr:     `^(?:\w{2,8} {1,8})?llama_kv_cache_update\w{0,20}: failed to allocate compute buffers`,
			Kind:     parser.GPUDriverOOM, Role: parser.Detail, Phase: "rollout",
			Source: "llama.cpp 2024-2025, src/llama.cpp: the cache is shifted or defragmented while a batch is decoded",
			Match:  lines("llama_kv_cache_update_impl: failed to allocate compute buffers", "llama_kv_cache_update_internal: failed to allocate compute buffers"),
		},
		{
			Name:     "ggml.buffer",
			Literals: []string{"failed to allocate ", "unable to allocate "},
			Expr: `(?<!error loading model: )(?:failed|unable) to allocate (?:CUDA|ROCm|HIP|MUSA|Vulkan|SYCL|CANN|Metal)(?<device>\d{0,4}) buffer(?: of size (?<requested_b>\d{1,19}))?` +
				`|alloc_tensor_range: failed to allocate (?:NVIDIA|AMD|Intel|Apple|Radeon|Quadro|Tesla|GeForce)\b[^:\n]{1,80} buffer of size (?<requested_b>\d{1,19})`,
			Kind: parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "ggml, src/ggml-alloc.c; llama.cpp, src/llama-model.cpp; its Vulkan backend of 2024 gave buffers the card's name",
			Match: []pattern.Sample{
				{Line: "ggml_gallocr_reserve_n_impl: failed to allocate CUDA0 buffer of size 2147483648", Want: parser.Fields{"device": "0", "requested": "2147483648"}},
				{Line: "alloc_tensor_range: failed to allocate CUDA1 buffer of size 1073741824", Want: parser.Fields{"device": "1", "requested": "1073741824"}},
				{Line: "alloc_tensor_range: failed to allocate NVIDIA GeForce RTX 3090 buffer of size 1073741824", Want: parser.Fields{"requested": "1073741824"}},
			},
			NoMatch: []string{
				"failed to allocate port 30000",
				"failed to allocate CUDA_Host buffer of size 4096",
			},
		},
		{
			Name:     "ggml.buffer_host",
			Literals: []string{"failed to allocate CPU", "unable to allocate CPU", "cpu_buffer_type_alloc_buffer: failed to allocate buffer"},
			Expr:     `(?:(?<!error loading model: )(?:failed|unable) to allocate CPU\w{0,12} buffer|cpu_buffer_type_alloc_buffer: failed to allocate buffer)(?: of size (?<requested_b>\d{1,19}))?`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "ggml, src/ggml-alloc.c and ggml-backend.cpp",
			Match: []pattern.Sample{
				{Line: "ggml_gallocr_reserve_n: failed to allocate CPU buffer of size 34359738368", Want: parser.Fields{"requested": "34359738368"}},
				{Line: "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 805306368032", Want: parser.Fields{"requested": "805306368032"}},
			},
		},
	}
}

// bufferReading reads what a kind of buffer takes on the devices with such names: as llama.cpp names it, and as Ollama does.
func bufferReading(name, device, kind, kindOllama string, match []pattern.Sample, noMatch ...string) pattern.Pattern {
	const size = `(?:(?<used_gib>\d{1,6}(?:\.\d{1,3})?) GiB|(?<used_mib>\d{1,6}(?:\.\d{1,3})?) MiB)`
	return pattern.Pattern{
		Name:     name,
		Literals: []string{" " + kind + " buffer size = ", `msg="` + kindOllama + `" device=`},
		Expr: `^\w{1,60}: {1,12}` + device + ` ` + kind + ` buffer size = {1,8}(?<used_mib>\d{1,8}\.\d{2}) MiB` +
			`|msg="` + kindOllama + `" device=` + device + ` size="` + size + `"`,
		Gauge: true, Source: "llama.cpp, src/llama-kv-cache.cpp, src/llama-context.cpp (src/llama.cpp before 2025); Ollama since 0.12, ml/device.go",
		Match: match, NoMatch: noMatch,
	}
}
