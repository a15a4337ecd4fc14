package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// webPatterns are what servers of Python applications say of their processes, each of which loads the application.
func webPatterns() []pattern.Pattern {
	startup := markers{kind: "phase", source: "uvicorn 0.10-0.40, lifespan/on.py: what an application does before it takes requests, such as loading its models"}
	return []pattern.Pattern{
		startup.line("web.starting", opens("init", "application startup"), `\bWaiting for application startup\.`, []string{"Waiting for application startup."}, "INFO:     Waiting for application startup."),
		startup.line("web.started", closes("init", "application startup"), `\bApplication startup complete\.`, []string{"Application startup complete."}, "INFO:     Application startup complete."),
		{
			Name:     "web.worker",
			Literals: []string{"Started server process [", "Booting worker with pid: "},
			Expr:     `(?:\bStarted server process \[|\bBooting worker with pid: )(?<pid>\d{1,8})\b`,
			Gauge:    true, Source: "uvicorn 0.10-0.40, server.py; gunicorn 19-23, arbiter.py",
			Match: []pattern.Sample{
				{Line: "INFO:     Started server process [4113]", Want: parser.Fields{"pid": "4113"}},
				{Line: "[2024-05-01 10:00:00 +0000] [8] [INFO] Booting worker with pid: 8", Want: parser.Fields{"pid": "8"}},
			},
		},
	}
}

// diffusersPatterns are calls in a script that a log shows.
func diffusersPatterns() []pattern.Pattern {
	return []pattern.Pattern{{
		Name:     "diffusers.adapter",
		Literals: []string{".load_lora_weights("},
		Expr:     `^\s{0,24}[\w.]{1,40}\.load_lora_weights\(`,
		Gauge:    true, Source: "Diffusers 0.14-0.40, loaders/lora_pipeline.py: each call adds an adapter beside those that are loaded",
		Match:   lines(`    pipe.load_lora_weights(req.lora_path, adapter_name=f"req_{req.id}")`),
		NoMatch: []string{"# pipe.load_lora_weights(path)"},
	}, {
		// Printed once, and only where nobody asked for a generator: since 8.2 on a line of its own.
		Name:     "ultralytics.accumulates",
		Literals: []string{"nference results will accumulate in RAM unless "},
		Expr:     `^\s{0,16}(?:WARNING )?(?:[^\s#>"'/*]{1,8} {0,2})?[Ii]nference results will accumulate in RAM unless .stream=True. is passed,`,
		Gauge:    true, Source: "Ultralytics 8, engine/predictor.py, STREAM_WARNING",
		Match: lines(
			"WARNING ⚠️ inference results will accumulate in RAM unless `stream=True` is passed, causing potential out-of-memory",
			"    Inference results will accumulate in RAM unless `stream=True` is passed, which can cause out-of-memory errors for large",
		),
		NoMatch: []string{"# inference results will accumulate in RAM unless `stream=True` is passed, causing potential out-of-memory"},
	}, {
		Name:     "comfyui.memory",
		Literals: []string{"Total VRAM "},
		Expr:     `^Total VRAM (?<total_mib>\d{1,8}) MB, total RAM \d{1,9} MB`,
		Gauge:    true, Source: "ComfyUI 0.0-0.10, comfy/model_management.py; Fooocus and Forge, which have it from there", Also: []string{"launch.comfyui"},
		Match:   []pattern.Sample{{Line: "Total VRAM 15102 MB, total RAM 12979 MB", Want: parser.Fields{"total": "15835594752"}}},
		NoMatch: []string{"Total VRAM usage is high"},
	}, {
		Name:     "forge.split",
		Literals: []string{"[GPU Setting] You will use ", "[Low VRAM Warning] This means you will have "},
		Expr:     `^\[(?:GPU Setting|Low VRAM Warning)\] (?:You will use|This means you) .{1,99}% GPU memory \((?<megabytes>\d{1,7})(?:\.\d{1,2})? MB\) to do matrix computation\.`,
		Gauge:    true, Tells: map[string]string{"forge_inference_memory": "megabytes"}, Source: "Stable Diffusion WebUI Forge since August 2024, modules_forge/main_entry.py refresh_memory_management_settings",
		Match: []pattern.Sample{
			{Line: "[GPU Setting] You will use 86.88% GPU memory (6782.00 MB) to load weights, and use 13.12% GPU memory (1024.00 MB) to do matrix computation.", Want: parser.Fields{"megabytes": "1024"}},
			{Line: "[Low VRAM Warning] This means you will have 0% GPU memory (0.00 MB) to do matrix computation. Computations may fallback to CPU or go Out of Memory.", Want: parser.Fields{"megabytes": "0"}},
		},
		NoMatch: []string{"[Low VRAM Warning] In many cases, image generation will be 10x slower.", "[GPU Setting] You will use 82.18% GPU memory (40000.00 MB) to load weights"},
	}, {
		Name:     "comfyui.loads",
		Literals: []string{"Requested to load ", "model weight dtype torch."},
		Expr:     `^Requested to load \w{1,60}(?: \w{1,60}){0,4}\s*$|^model weight dtype torch\.\w{1,30}, manual cast: `,
		Gauge:    true, Source: "ComfyUI 0.0-0.10, comfy/model_management.py load_models_gpu: what a node needs next; comfy/model_base.py: a model whose file is read",
		Match:   lines("Requested to load WAN21", "Requested to load FluxClipModel_", "model weight dtype torch.bfloat16, manual cast: None"),
		NoMatch: []string{"Requested to load the page twice, giving up"},
	}, {
		Name:     "comfyui.loaded",
		Literals: []string{"loaded completely", "loaded partially"},
		Expr:     `^loaded (?:completely|partially)[; ]`,
		Gauge:    true, Source: "ComfyUI 0.2-0.10, comfy/model_patcher.py load",
		Match:   lines("loaded completely; 14319.80 MB usable, 6419.48 MB loaded, full load: True", "loaded partially 9266.81 9264.05 0"),
		NoMatch: []string{"model loaded completely in 5 s"},
	}, {
		Name:     "mmgp.pinned",
		Literals: []string{" pinned to reserved RAM: "},
		Expr:     `\bThe (?:whole model was|model was partially) pinned to reserved RAM: \d{1,6} large blocks spread across (?<used_mib>\d{1,7}(?:\.\d{1,4})?) MB`,
		Gauge:    true, Source: "mmgp 3, mmgp/offload.py _pin_to_memory: one line for each model of a pipeline",
		Match:   []pattern.Sample{{Line: "The whole model was pinned to reserved RAM: 166 large blocks spread across 16384 MB", Want: parser.Fields{"used": "17179869184"}}, {Line: "The model was partially pinned to reserved RAM: 72 large blocks spread across 8192.00 MB", Want: parser.Fields{"used": "8589934592"}}},
		NoMatch: []string{"Pinning data of 'transformer' to reserved RAM"},
	}, {
		Name:     "mmgp.needs",
		Literals: []string{"full requirements for pinned models is "},
		Expr:     `\bfull requirements for pinned models is (?<used_mib>\d{1,7}(?:\.\d{1,4})?) MB while estimated (?:available )?reservable RAM is (?<host_available_mib>\d{1,7}(?:\.\d{1,4})?) MB`,
		Gauge:    true, Source: "mmgp 3, mmgp/offload.py all: what pinning everything takes, where it decides to pin a part",
		Match: []pattern.Sample{{
			Line: "Switching to partial pinning since full requirements for pinned models is 30720.0 MB while estimated available reservable RAM is 26624.0 MB. You may increase the value of parameter 'perc_reserved_mem_max' to a value higher than 0.40 to force full pinning.",
			Want: parser.Fields{"used": "32212254720", "host_available": "27917287424"},
		}},
		NoMatch: []string{"full requirements for pinned models is unknown"},
	}, {
		Name:     "diffusers.type_ignored",
		Literals: []string{" not expected and will be ignored", " are not expected by "},
		Requires: []string{"float16"},
		Expr:     `\b(?:The config attributes|Keyword arguments) \{[^{}]{0,300}?'(?<key>\w{1,40})': torch\.b?float16\b[^{}]{0,300}\} (?:were passed to|are not expected by) (?<model>\w{1,80})(?: and will be ignored\b|, but are not expected and will be ignored\b)`,
		Gauge:    true, Source: "Diffusers 0.3-0.40, configuration_utils.py and pipelines/pipeline_utils.py: an argument that it does not know, as torch_dtype or dtype misspelled or of another version",
		Match: []pattern.Sample{
			{Line: "The config attributes {'torch_dytpe': torch.bfloat16} were passed to FluxTransformer2DModel, but are not expected and will be ignored. Please verify your config.json configuration file.", Want: parser.Fields{"key": "torch_dytpe", "model": "FluxTransformer2DModel"}},
			{Line: "Keyword arguments {'use_auth': None, 'dtype': torch.float16} are not expected by FluxPipeline and will be ignored.", Want: parser.Fields{"key": "dtype", "model": "FluxPipeline"}},
		},
		NoMatch: []string{
			"The config attributes {'interpolation_type': 'linear', 'skip_prk_steps': True} were passed to LCMScheduler, but are not expected and will be ignored. Please verify your scheduler_config.json configuration file.",
			"The config attributes {'torch_dytpe': torch.float32} were passed to FluxTransformer2DModel, but are not expected and will be ignored. Please verify your config.json configuration file.",
		},
	}, {
		Name:     "diffusers.default_type",
		Literals: []string{"Pipeline.from_pretrained("},
		Expr:     `^\s{0,24}[\w.]{1,40} = (?:\w{1,40}\.)?[A-Z]\w{1,60}Pipeline\.from_pretrained\((?!.{0,400}(?:dtype|float16|half\(|load_in_|quantization))[^()]{1,400}\)(?:\.to\([^()]{1,40}\))?\s*$`,
		Gauge:    true, Source: "Diffusers 0.3-0.40, pipelines/pipeline_utils.py: without torch_dtype (dtype from 0.40 on) weights become float32, whatever the files hold",
		Match: lines(`pipe = StableDiffusion3Pipeline.from_pretrained("stabilityai/stable-diffusion-3-medium-diffusers", variant="fp16")`, `    self.pipe = diffusers.FluxPipeline.from_pretrained(path).to("cuda")`),
		NoMatch: []string{
			`pipe = FluxPipeline.from_pretrained("black-forest-labs/FLUX.1-dev", torch_dtype=torch.bfloat16)`, "pipe = StableDiffusionPipeline.from_pretrained(", `pipe = FluxPipeline.from_pretrained(path).to(torch.float16)`,
			`pipeline = Pipeline.from_pretrained("pyannote/speaker-diarization", use_auth_token=True)`, `# pipe = FluxPipeline.from_pretrained(path)`, `pipe = FluxPipeline.from_pretrained(path, quantization_config=config)`,
		},
	}}
}

// tgiPatterns are the words of Text Generation Inference: its launcher, which starts a shard for each GPU, and its router,
// which warms the model up and then takes requests.
//
// The launcher passes on what a shard wrote last as one message of many lines, and its fields follow on the last of them.
func tgiPatterns() []pattern.Pattern {
	const src = "Text Generation Inference 0.9-3.x, launcher/src/main.rs"
	return []pattern.Pattern{
		markers{kind: "phase", source: src + ", router/src/main.rs, router/src/server.rs"}.line("tgi.starting", opens("init", "shards"),
			`(?:^|: |")(?:Starting download process\.|Starting shard (?:rank=)?\d|Waiting for shard (?:\d{1,4} )?to be ready\.\.\.|Warming up model(?:"|\s*$))`,
			[]string{"Starting download process", "Starting shard ", "Waiting for shard ", "Warming up model"}, "text_generation_launcher: Starting download process.", "shard-manager: text_generation_launcher: Starting shard rank=0",
			"text_generation_launcher: Waiting for shard to be ready... rank=3", "text_generation_launcher: Waiting for shard 1 to be ready...",
			"text_generation_router: router/src/main.rs:221: Warming up model"),
		// A shard that is ready waits for the others and for the warm-up; the line below comes behind all of them.
		markers{kind: "phase", source: "Text Generation Inference 0.9-3.x, router/src/main.rs, router/src/server.rs, backends/v3/src/lib.rs"}.line("tgi.started",
			closes("init", "shards"), `Setting max batch total tokens to \d|router/src/main\.rs:\d{1,5}: Connected\b`,
			[]string{"Setting max batch total tokens to ", "router/src/main.rs:"}, "text_generation_router: router/src/main.rs:354: Setting max batch total tokens to 43808",
			"text_generation_router: router/src/main.rs:367: Connected"),
		{
			// The shards' own error is not always passed on.
			Name:     "tgi.warmup",
			Literals: []string{"Not enough memory to handle "},
			Expr:     `(?:Warmup\(Generation\("|Server error: |^RuntimeError: )Not enough memory to handle (?:(?<tokens>\d{1,9}) total tokens with \d{1,9}|(?<prefill>\d{1,9})) prefill tokens\.`,
			Kind:     parser.GPUOOM, Role: parser.Evidence, Phase: "init", Tells: map[string]string{"max_batch_prefill_tokens": "prefill"},
			Source: "Text Generation Inference 0.9-3.x, router/src/main.rs: what a shard answered to the warm-up (server/text_generation_server/models/flash_causal_lm.py)",
			Match: []pattern.Sample{
				{Line: "Error: Warmup(Generation(\"Not enough memory to handle 16000 total tokens with 2 prefill tokens. You need to decrease `--max-batch-total-tokens` or `--max-batch-prefill-tokens`\"))", Want: parser.Fields{"tokens": "16000"}},
				{Line: "Server error: Not enough memory to handle 16384 prefill tokens. You need to decrease `--max-batch-prefill-tokens`", Want: parser.Fields{"prefill": "16384"}},
				{Line: "RuntimeError: Not enough memory to handle 32768 prefill tokens. You need to decrease `--max-batch-prefill-tokens`", Want: parser.Fields{"prefill": "32768"}},
				{Line: "Error: Backend(Warmup(Generation(\"Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`\")))", Want: parser.Fields{"prefill": "4096"}},
			},
			NoMatch: []string{`        f"Not enough memory to handle {len(batch.input_ids)} prefill tokens. "`},
		},
		{
			Name:     "tgi.blocks",
			Literals: []string{"KV-cache blocks: "},
			Expr:     `KV-cache blocks: (?<count>\d{1,9}), size: (?<size>\d{1,5})\b`,
			Gauge:    true, Source: "Text Generation Inference 2.1-3.x, server/text_generation_server/models/flash_causal_lm.py: the cache, and the tokens of a block",
			Match: []pattern.Sample{{Line: "INFO text_generation_launcher: KV-cache blocks: 9000, size: 1", Want: parser.Fields{"count": "9000", "size": "1"}}},
		},
		{
			Name:     "tgi.max_total",
			Literals: []string{"Not enough memory to handle `max_total_tokens="},
			Expr:     "Not enough memory to handle `max_total_tokens=(?<tokens>\\d{1,9})`",
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "init",
			Source:  "Text Generation Inference 3.x, backends/v3/src/lib.rs: the cache holds less than one request",
			Match:   []pattern.Sample{{Line: "Error: Backend(Warmup(Generation(\"Not enough memory to handle `max_total_tokens=32768`\")))", Want: parser.Fields{"tokens": "32768"}}},
			NoMatch: []string{"Error: `max_input_tokens` must be < `max_total_tokens`"},
		},
		{
			Name:     "tgi.shard_cannot_start",
			Literals: []string{"Error: Shard", " failed to start"},
			Expr:     `^Error: ShardCannotStart\s*$|text_generation_launcher: Shard (?<rank>\d{1,4}) failed to start|^Shard (?<rank>\d{1,4}) failed to start\s*$`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Phase: "init",
			Source: src,
			Match: []pattern.Sample{
				{Line: "Error: ShardCannotStart"},
				{Line: "text_generation_launcher: Shard 2 failed to start", Want: parser.Fields{"rank": "2"}},
			},
			NoMatch: []string{"pod tgi-0 failed to start", "Error: DownloadError"},
		},
		{
			Name:     "tgi.failed",
			Literals: []string{"Error: Shard", "Error: WebserverFailed"},
			Expr:     `^Error: (?:ShardFailed|ShardDisconnected|WebserverFailed)\s*$`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: src,
			Match:  lines("Error: ShardFailed", "Error: WebserverFailed"),
		},
		{
			Name:     "tgi.sigkill",
			Literals: []string{"was signaled to shutdown with signal "},
			Expr:     `\b(?:Download|Convert|Shard|Python Backend) process was signaled to shutdown with signal 9\b`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Set: map[string]string{"signal": "SIGKILL"},
			Source:  src + "; backends/python/src/management.rs of Text Embeddings Inference: how a child ended that downloads, converts or serves a model",
			Match:   lines("Download process was signaled to shutdown with signal 9: ", "text_generation_launcher: Shard process was signaled to shutdown with signal 9 rank=0"),
			NoMatch: []string{"Shard process was signaled to shutdown with signal 11", "The process was signaled to shutdown with signal 9"},
		},
		{
			Name:     "tgi.sigbus",
			Literals: []string{"was signaled to shutdown with signal "},
			Expr:     `\b(?:Download|Convert|Shard|Python Backend) process was signaled to shutdown with signal 7\b`,
			Kind:     parser.SHMExhausted, Role: parser.Suspicion, Set: map[string]string{"signal": "SIGBUS"},
			Source:  src + "; backends/python/src/management.rs of Text Embeddings Inference",
			Match:   lines("Download process was signaled to shutdown with signal 7: ", "Shard process was signaled to shutdown with signal 7"),
			NoMatch: []string{"Shard process was signaled to shutdown with signal 6"},
		},
		{
			Name:     "tgi.signaled",
			Literals: []string{"was signaled to shutdown with signal "},
			Expr:     `\b(?:Download|Convert|Shard|Python Backend) process was signaled to shutdown with signal (?![79]\b)(?<signal>\d{1,2})\b`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: src + "; backends/python/src/management.rs of Text Embeddings Inference",
			Match:  []pattern.Sample{{Line: "Shard process was signaled to shutdown with signal 11", Want: parser.Fields{"signal": "11"}}},
		},
		{
			Name:  "tgi.rank",
			After: []string{"torch.oom.paren", "torch.oom.of_which", "torch.oom.class", "torch.oom.cut"}, Within: 4,
			Expr: `^ {0,8}rank=(?<rank>\d{1,4})\s*$`,
			Kind: parser.GPUOOM, Role: parser.Detail,
			Source:  src + ": the last line of what a shard wrote",
			Match:   []pattern.Sample{{Line: "  rank=3", Want: parser.Fields{"rank": "3"}}, {Line: "rank=0", Want: parser.Fields{"rank": "0"}}},
			NoMatch: []string{"Starting shard rank=0", " rank=0 world_size=8"},
		},
	}
}

// lmdeployPatterns are the words of LMDeploy's PyTorch engine about what the weights leave, and of TurboMind around its cache, which it
// plans as a share of what is free and then takes.
func lmdeployPatterns() []pattern.Pattern {
	stage := markers{kind: "phase", source: "LMDeploy 0.2-0.9, src/turbomind/models/llama/BlockManager.cc, LlamaBatch.cc"}
	return []pattern.Pattern{
		stage.line("lmdeploy.cache", opens("init", "cache"), `\[TM\]\[INFO\] \[BlockManager\] `, []string{"[TM][INFO] [BlockManager] "},
			"[TM][INFO] [BlockManager] max_block_count = 6852", "[TM][INFO] [BlockManager] block_size = 4.000 MB, max_block_count = 5120, chunk_size = 5120"),
		stage.line("lmdeploy.cached", closes("init", "cache"), `\[TM\]\[INFO\] (?:LlamaBatch<T>::Start\(\)|\[Gemm2\] )`, []string{"[TM][INFO] LlamaBatch<T>::Start()", "[TM][INFO] [Gemm2] "},
			"[TM][INFO] LlamaBatch<T>::Start()", "[TM][INFO] [Gemm2] Tuning sequence: 8, 16, 32"),
		{
			Name:     "lmdeploy.no_cache",
			Literals: []string{"No enough gpu memory for "},
			Expr:     `No enough gpu memory for (?<method>kv cache|runtime|state cache)\.`,
			Kind:     parser.KVCache, Role: parser.Evidence, Phase: "init",
			Source: "LMDeploy 0.5-0.16, lmdeploy/pytorch/engine/executor/base.py",
			Match: []pattern.Sample{
				{Line: "RuntimeError: No enough gpu memory for kv cache.", Want: parser.Fields{"method": "kv cache"}},
				{Line: "RuntimeError: No enough gpu memory for runtime.", Want: parser.Fields{"method": "runtime"}},
				{Line: "RuntimeError: No enough gpu memory for state cache. Please reduce max_batch_size.", Want: parser.Fields{"method": "state cache"}},
			},
			NoMatch: []string{"No enough memory. Update max_prefill_token_num=4096"},
		},
	}
}

// exllamaPatterns are the words of ExLlama's loader, which splits a model and its cache over the cards.
func exllamaPatterns() []pattern.Pattern {
	return []pattern.Pattern{{
		Name:     "exllama.no_room",
		Literals: []string{"Insufficient VRAM ", "nsufficient VRAM in split"},
		Expr:     `Insufficient VRAM (?:in split )?for model and cache`,
		Kind:     parser.KVCache, Role: parser.Evidence, Phase: "init",
		Source: "ExLlamaV2 0.1-0.3, exllamav2/model.py; ExLlamaV3, exllamav3/model/model_ls.py",
		Match:  lines("RuntimeError: Insufficient VRAM for model and cache", "RuntimeError: Insufficient VRAM in split for model and cache"),
	}}
}

// mlcPatterns are the words of MLC-LLM's engine, which sizes its cache by what the share leaves beside weights and buffers.
func mlcPatterns() []pattern.Pattern {
	return []pattern.Pattern{{
		Name:     "mlc.no_room",
		Literals: []string{"Insufficient GPU memory error: "},
		Expr:     `Insufficient GPU memory error: The available single GPU memory is (?<available_sz>[\d.]{1,16} MB), which is less than the sum of model weight size \((?<needed_sum_sz>[\d.]{1,16} MB)\) and temporary buffer size \((?<needed_sum_sz>[\d.]{1,16} MB)\)`,
		Kind:     parser.KVCache, Role: parser.Evidence, Phase: "init",
		Source: "MLC-LLM 0.1-0.20, cpp/serve/config.cc",
		Match: []pattern.Sample{{
			Line: "TVMError: Check failed: (output_res.IsOk()) is false: Insufficient GPU memory error: The available single GPU memory is 19652.812 MB, which is less than the sum of model weight size (15316.508 MB) and temporary buffer size (5000.129 MB).",
			Want: parser.Fields{"available": "20607466996", "needed": "21303537959"},
		}},
		NoMatch: []string{"Insufficient GPU memory for 7D fields. Required: 3.00GB, Available: 1.00GB."},
	}}
}

// tritonPatterns are the words of Triton's backends.
func tritonPatterns() []pattern.Pattern {
	return []pattern.Pattern{{
		Name:     "triton.instance",
		Literals: []string{"TRITONBACKEND_ModelInstanceInitialize: "},
		Expr:     `TRITONBACKEND_ModelInstanceInitialize: (?<model>\S{1,200})_\d{1,3}_(?<index>\d{1,3}) \(GPU device (?<device>\d{1,3})\)`,
		Gauge:    true, Source: "Triton Inference Server 21.02-26.x, backends for Python, PyTorch, ONNX Runtime and TensorRT: an instance begins, numbered from 0",
		Match: []pattern.Sample{{
			Line: "I0229 06:42:08.117926 1 python_be.cc:2363] TRITONBACKEND_ModelInstanceInitialize: baichuan2_0_2 (GPU device 0)",
			Want: parser.Fields{"model": "baichuan2", "index": "2", "device": "0"},
		}},
		NoMatch: []string{"TRITONBACKEND_ModelInstanceInitialize: resnet_0_0 (CPU device 0)"},
	}}
}
