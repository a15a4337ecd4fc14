package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/traceback"
)

// firstChange is what the first proposal changes, "none" where there is none.
func firstChange(c Checklist) string {
	if len(c.Proposals) == 0 || len(c.Proposals[0].Changes) == 0 {
		return "none"
	}
	ch := c.Proposals[0].Changes[0]
	if ch.To == nil {
		return ch.Key
	}
	return ch.Key + "=" + *ch.To
}

func TestTheFirstProposalOfAnEngine(t *testing.T) {
	app := func(id string, pairs ...string) *classifier.Run {
		r := run("torch", pairs...)
		r.Application = id
		return r
	}
	full := func(phase string, stack *traceback.Trace) *classifier.Incident {
		return with(gpuOOM(phase), func(r *classifier.Root) {
			r.Total, r.Free, r.Requested, r.Trace = gibs(24), gibs(0.25), gibs(0.5), stack
			r.ProcessBytes, r.Allocated = gibs(23.5), gibs(22.5)
		})
	}
	gguf := func(gauge string, fields map[string]float64, pairs ...string) *classifier.Run {
		r := app("llamacpp", pairs...)
		r.Gauges = append(r.Gauges, reading(gauge, fields))
		return r
	}
	growing := func(version string, r *classifier.Run) *classifier.Run {
		step := 20
		r.EngineVersion, r.LastStep = version, &step
		r.Growth = []classifier.Trend{{Name: "reading.rss", Count: 12, Rises: 11, First: 9 << 30, Last: 64 << 30}}
		return r
	}
	driver := func(message string) *classifier.Incident {
		in := &classifier.Incident{Kind: parser.GPUDriverOOM, Resource: "gpu", Phase: "init", Root: rootOf(message)}
		in.Root.Requested, in.Root.At = gibs(40.5), parser.Position{Source: "a.log", Line: 9}
		return in
	}
	part := func(in *classifier.Incident, what string) *classifier.Incident {
		in.Root.Fields = parser.Fields{"method": what}
		return in
	}
	read := func(in *classifier.Incident, pattern, key, value string) *classifier.Incident {
		in.Root.Pattern, in.Root.Fields = pattern, parser.Fields{key: value}
		return in
	}
	tensor := func(shape string) *classifier.Incident {
		return with(gpuOOM("unknown"), func(r *classifier.Root) {
			*r = rootOf("ResourceExhaustedError: OOM when allocating tensor with shape[" + shape + "] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc")
		})
	}
	free := func(n float64) *classifier.Incident {
		return with(cache(desired), func(r *classifier.Root) { r.Pattern, r.Free, r.Total = "vllm.free_memory", gibs(n), gibs(79) })
	}
	worker := killed("data", "RuntimeError: DataLoader worker (pid 12890) is killed by signal: Killed.")
	worker.Root = rootOf(worker.Root.Message)
	refused := driver("llama_model_load: error loading model: unable to allocate CUDA0 buffer")
	computes := driver("ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 43486543872")
	none := cache(noBlocks)
	load := frames("/x/vllm/worker/model_runner.py|load_model|get_model(", "/x/vllm/layers/linear.py|create_weights|torch.empty(")
	capture := frames("/x/vllm/worker/model_runner.py|capture_model|graph_runner.capture(")
	moved := "/x/torch/nn/modules/module.py|convert|return t.to("
	for _, tt := range []struct {
		name string
		run  *classifier.Run
		in   *classifier.Incident
		want string
	}{
		{"a setting that nobody set starts from the engine's default", as(run("vllm"), "", "vllm", ""), full("init", capture), "--gpu-memory-utilization=0.83"},
		{"a share below the usual is raised before the length is cut", as(run("vllm", "max_seq_len", "8192", "gpu_memory_utilization", "0.7"), "", "vllm", ""), none, "--gpu-memory-utilization=0.8"},
		{"a share at its limit leaves the length", as(run("vllm", "max_seq_len", "8192", "gpu_memory_utilization", "0.95"), "", "vllm", ""), none, "--max-model-len=4096"},
		{"weights that do not fit go to two cards, not into the 16 bits that they have", as(run("vllm"), "", "vllm", ""), full("init", load), "--tensor-parallel-size=2"},
		{"a pipeline that is moved whole gets its parts one after the other", app("diffusers"), full("init", frames("/x/gen.py|main|pipe.to(\"cuda\")", moved)), "pipe.enable_model_cpu_offload()=True"},
		{"a part of an offloaded pipeline that is too large gets its layers one after the other", app("diffusers"), full("rollout", frames("/x/gen.py|main|pipe(", "/x/accelerate/hooks.py|pre_forward|module.to(self.execution_device)", moved)), "pipe.enable_sequential_cpu_offload()=True"},
		{"ComfyUI keeps more of the card free", app("comfyui"), full("forward", frames("/x/nodes.py|common_ksampler|", "/x/comfy/ldm/wan/model.py|forward|optimized_attention(")), "--reserve-vram=2"},
		{"as many layers as fit into what was free", gguf("ggml.device", map[string]float64{"free": 22}, "-ngl", "99", "n_layer", "80"), refused, "-ngl=40"},
		{"a tenth fewer layers where nothing tells what was free", gguf("none", nil, "-ngl", "99", "n_layer", "80"), refused, "-ngl=73"},
		{"without flash attention the scores of the whole context are what is large", gguf("none", nil, "n_ctx", "131072", "flash_attn", "disabled"), computes, "--flash-attn=on"},
		{"a build that logs it as a number has a switch without a value", gguf("none", nil, "n_ctx", "131072", "flash_attn", "0"), computes, "--flash-attn=True"},
		{"with it, the tokens of one step", gguf("none", nil, "n_ctx", "131072", "flash_attn", "enabled", "n_ubatch", "2048"), computes, "--ubatch-size=512"},
		{"Ollama's buffer is the scores that flash attention does not keep", app("ollama", "n_ctx", "32768", "n_ubatch", "512", "n_head", "32", "flash_attn", "0"), with(driver("ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 2248158208"), func(r *classifier.Root) { r.Requested = gibs(2.09) }), "OLLAMA_FLASH_ATTENTION=1"},
		{"half of the context of one of Ollama's slots, where its cache was refused", app("ollama", "--ctx-size", "131072", "--parallel", "4"), part(driver("llama_kv_cache_init: failed to allocate buffer for kv cache"), "kv cache"), "num_ctx=16384"},
		{"TensorRT-LLM's cache of the planned size could not be made", app("trtllm"), part(with(gpuOOM("init"), func(r *classifier.Root) {
			r.Message = "Executor creation failed due to insufficient GPU memory."
		}), "KV cache"), "--kv_cache_free_gpu_memory_fraction=0.8"},
		{"JAX's pool ran out, and nobody set its share", run("jax"), gpuOOM("unknown"), "XLA_PYTHON_CLIENT_MEM_FRACTION=0.85"},
		{"a neighbor that leaves most of the card is left beside a smaller share", as(run("vllm", "gpu_memory_utilization", "0.9"), "", "vllm", ""), free(67), "--gpu-memory-utilization=0.8"},
		{"a neighbor that takes most of the card has to go", as(run("vllm", "gpu_memory_utilization", "0.9"), "", "vllm", ""), free(30), "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv"},
		{"a loader's worker was killed, and nothing tells how many there are", run("torch"), worker, "num_workers=0"},
		{"a loader's worker was killed, and the log tells how many there are", run("torch", "num_workers", "16"), worker, "num_workers=4"},
		{"a model larger than the machine needs to be a smaller one", app("ollama"), with(&classifier.Incident{Kind: parser.HostOOM, Resource: "host", Phase: "init"}, func(r *classifier.Root) {
			r.Message, r.Requested, r.Free = "Error: model requires more system memory (41.5 GiB) than is available (29.0 GiB)", gibs(41.5), gibs(29)
		}), "model=a tag of a smaller quantization or size"},
		{"several slots of Ollama go before the context", app("ollama", "--ctx-size", "131072", "--parallel", "4", "OLLAMA_NUM_PARALLEL", "4"), part(driver("llama_kv_cache_init: failed to allocate buffer for kv cache"), "kv cache"), "OLLAMA_NUM_PARALLEL=1"},
		{"each sequence takes a block of a state-space model's cache", as(run("vllm", "max_num_seqs", "1024"), "", "vllm", ""), read(cache("ValueError: max_num_seqs (1024) exceeds available Mamba cache blocks (856)."), "vllm.mamba_blocks", "blocks", "856"), "--max-num-seqs=512"},
		{"half of the sequences where no blocks are counted", as(run("vllm", "max_num_seqs", "1024"), "", "vllm", ""), part(full("init", frames("/x/vllm/v1/worker/gpu_model_runner.py|_dummy_sampler_run|self.sampler(")), ""), "--max-num-seqs=512"},
		{"SGLang says above which share the weights leave something", as(run("sglang", "mem_fraction_static", "0.5"), "", "sglang", ""), read(cache("RuntimeError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.5. Raise above 0.627"), "sglang.weights_leave_nothing", "least", "0.627"), "--mem-fraction-static=0.76"},
		{"TensorRT-LLM says how many tokens its cache holds", app("trtllm"), read(cache("Assertion failed: maxTokensInPagedKvCache (8832) must be large enough to process at least 1 sequence to completion"), "trtllm.one_sequence", "tokens_available", "8832"), "--max_seq_len=8832"},
		{"cards that are free come before those who hold the others", func() *classifier.Run {
			r := as(run("sglang", "tp_size", "2", "CUDA_VISIBLE_DEVICES", "0,1"), "", "sglang", "")
			for _, card := range []string{"0", "1", "2"} {
				r.Gauges = append(r.Gauges, classifier.Gauge{Name: "smi.row", Fields: parser.Fields{"device": card}})
			}
			r.Gauges = append(r.Gauges, classifier.Gauge{Name: "smi.process", Fields: parser.Fields{"device": "1", "pid": "17345", "comm": "python", "used": itoa(*gibs(9.6))}})
			return r
		}(), recognized("sglang.unbalanced", cache("ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes.")), "CUDA_VISIBLE_DEVICES=0,2"},
		{"a neighbor that holds a fifth of the card is left beside a smaller share", as(run("vllm", "gpu_memory_utilization", "0.9"), "", "vllm", ""), with(full("init", frames("/x/vllm/worker/cache_engine.py|allocate_gpu_cache|torch.empty(")), func(r *classifier.Root) {
			r.OtherProcesses, r.ProcessBytes, r.Allocated = gibs(4.8), gibs(18.8), gibs(18)
		}), "--gpu-memory-utilization=0.8"},
		{"Triton's ONNX Runtime has an arena, no cache of TensorRT-LLM", app("triton"), driver("onnxruntime/core/framework/bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(size_t, bool) Failed to allocate memory for requested buffer of size 2147483648"), "memory.enable_memory_arena_shrinkage=gpu:0"},
		{"XLA's error as Python has it, of a program that nothing names", run("unknown"), with(gpuOOM("unknown"), func(r *classifier.Root) {
			*r = rootOf("ValueError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1610612736 bytes.")
		}), "XLA_PYTHON_CLIENT_MEM_FRACTION=0.85"},
		{"TensorFlow's tensor begins with the batch", app("tensorflow"), tensor("256,112,112,64"), "batch_size=128"},
		{"a convolution's kernel does not", app("tensorflow"), tensor("7,7,512,4096"), `set_global_policy=tf.keras.mixed_precision.set_global_policy("mixed_float16")`},
		{"pieces of images, folded into the first size, are no batch", app("tensorflow"), tensor("5760,4,4,2048"), `set_global_policy=tf.keras.mixed_precision.set_global_policy("mixed_float16")`},
		{"a host cache shrinks to what was free", as(run("sglang", "hicache_ratio", "2.0"), "", "sglang", ""), with(&classifier.Incident{Kind: parser.HostOOM, Resource: "host", Phase: "init"}, func(r *classifier.Root) {
			*r = rootOf("ValueError: Not enough host memory available. Requesting 200.00 GB but only have 150.00 GB free.")
			r.Requested, r.Free = gibs(200), gibs(150)
		}), "--hicache-ratio=1.25"},
		{"the host caches of all ranks shrink to the node", func() *classifier.Run {
			r := as(run("sglang", "hicache_ratio", "2.0", "tp_size", "8"), "", "sglang", "")
			r.Gauges = append(r.Gauges, reading("sglang.host_pool", map[string]float64{"needed": 104.33}), reading("free", map[string]float64{"host_total": 768}))
			return r
		}(), killed("init", "Out of memory: Killed process 1 (sglang::schedul)"), "--hicache-ratio=1.55"},
		{"vLLM keeps what it makes of images", growing("0.7.2", as(run("vllm"), "", "vllm", "Qwen/Qwen2-VL-7B-Instruct")), killed("rollout", "Out of memory: Killed process 1 (python)"), "--disable-mm-preprocessor-cache=True"},
		{"but not of text", growing("0.7.2", as(run("vllm"), "", "vllm", "Qwen/Qwen2-7B-Instruct")), killed("rollout", "Out of memory: Killed process 1 (python)"), "MALLOC_ARENA_MAX=2"},
		{"nor since it bounds the cache", growing("0.11.0", as(run("vllm"), "", "vllm", "Qwen/Qwen2-VL-7B-Instruct")), killed("rollout", "Out of memory: Killed process 1 (python)"), "MALLOC_ARENA_MAX=2"},
		{"ROLL hands the switch to its engine", growing("", of("roll", as(run("megatron"), "megatron", "vllm", "Qwen/Qwen2.5-VL-7B-Instruct"))), killed("rollout", "Out of memory: Killed process 1 (ray::ActorWorke)"), "actor_infer.strategy_args.strategy_config.disable_mm_preprocessor_cache=true"},
		{"a host cache of a set size is that size, whatever the ratio", as(run("sglang", "hicache_ratio", "2.0", "hicache_size", "40"), "", "sglang", ""), killed("rollout", "Out of memory: Killed process 1 (sglang::schedul)"), "--hicache-size=20"},
		{"a host cache is halved where no figure tells", as(run("sglang", "hicache_ratio", "1.5"), "", "sglang", ""), killed("rollout", "Out of memory: Killed process 1 (sglang::schedul)"), "--hicache-ratio=0.75"},
		{"shards of known weights need as many cards as hold them", as(app("tgi", "num_shard", "2"), "", "", "meta-llama/Llama-3.1-70B-Instruct"), with(full("init", frames("/x/models/flash_llama.py|__init__|", "/x/utils/weights.py|get_sharded|")), func(r *classifier.Root) { r.Total = gibs(47.5) }), "--num-shard=4"},
		{"shards that do not load need more cards, not fewer prompt tokens", app("tgi", "num_shard", "2"), full("init", frames("/x/models/flash_llama.py|__init__|", "/x/utils/weights.py|get_sharded|")), "--num-shard=4"},
		{"LMDeploy's cache finds no room", app("lmdeploy", "cache_max_entry_count", "0.2"), cache("RuntimeError: No enough gpu memory for kv cache."), "--cache-max-entry-count=0.55"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, firstChange(For(tt.run, tt.in)))
		})
	}
}

func TestAScriptsFlagsAreWrittenAsItsCommandLineWritesThem(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"--batch_size", "--batch-size", "-b"} {
		r := run("torch", key, "8")
		r.Config[key] = classifier.Value{Value: "8", Form: "command"}
		assert.Equal(t, key+"=2", firstChange(For(r, with(gpuOOM("forward"), func(r *classifier.Root) {
			r.Total, r.Free, r.Requested = gibs(24), gibs(0.25), gibs(0.5)
		}))), key)
	}
}
