package remedies

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser/stream"
)

// answerTo is the checklist for the first incident of a log.
func answerTo(t *testing.T, log string) Checklist {
	t.Helper()
	r, in := incidentOf(t, log)
	return For(r, in)
}

// incidentOf is the first incident of a log, with its run.
func incidentOf(t *testing.T, log string) (*classifier.Run, *classifier.Incident) {
	t.Helper()
	c := classifier.NewCollector()
	_, err := stream.Read("run.log", strings.NewReader(log), c.Add)
	require.NoError(t, err)
	r := c.Result()
	require.NotEmpty(t, r.Incidents)
	return &r.Run, &r.Incidents[0]
}

// rising prints a reading of a card that grows with each request.
func rising(format string) string {
	out := ""
	for i := range 14 {
		out += fmt.Sprintf(format, i, 6+i, 47)
	}
	return out
}

// stackOf is a traceback of "file|function|code" that ends in an error. A file without a leading slash is of an installed package.
func stackOf(failure string, lines ...string) string {
	out := "Traceback (most recent call last):\n"
	for _, l := range lines {
		p := strings.SplitN(l, "|", 3)
		if p[0][0] != '/' {
			p[0] = "/usr/lib/python3/dist-packages/" + p[0]
		}
		out += "  File \"" + p[0] + "\", line 1, in " + p[1] + "\n    " + p[2] + "\n"
	}
	return out + failure + "\n"
}

func TestTheCauseAndTheFirstProposalOfALog(t *testing.T) {
	t.Parallel()
	const (
		kill    = "[81231.4] Out of memory: Killed process 4711 (python) total-vm:91420112kB, anon-rss:62210344kB, file-rss:68096kB, shmem-rss:12288kB, UID:1000 pgtables:52880kB oom_score_adj:0\n"
		trt     = "[TensorRT-LLM] TensorRT-LLM version: 1.1.0\nRuntimeError: Executor creation failed due to insufficient GPU memory.\n\nThe following component could not be created: "
		noSpace = "shutil.Error: [('/m/model-00014-of-00017.safetensors', '/dev/shm/verl-cache/6f1d/m/model-00014-of-00017.safetensors', \"[Errno 28] No space left on device: '/m/model-00014-of-00017.safetensors' -> '/dev/shm/verl-cache/6f1d/m/model-00014-of-00017.safetensors'\")]\n"
		bus     = "RuntimeError: DataLoader worker (pid 512) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n"
		ray     = "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.3, ID: 4f) where the task (actor ID: 8a, name=WorkerDict.__init__, pid=3711, memory used=20.2GB) was running was 480.11GB / 503.51GB (0.953526), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: c0) because it was the most recently scheduled task; to see more information about memory usage on this node, use `ray logs raylet.out -ip 10.0.0.3`. To see the logs of the worker, use `ray logs worker-c0*out -ip 10.0.0.3. Top 10 memory users:\nPID\tMEM(GB)\tCOMMAND\n%s\nRefer to the documentation on how to address the out of memory issue: https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html.\n"
		lmd     = "2025-10-02 09:00:00,000 - lmdeploy - INFO - async_engine.py:256 - input backend=pytorch\n"
		weights = "transformers/modeling_utils.py|to|return super().to(*args, **kwargs)"
		convert = "torch/nn/modules/module.py|convert|return t.to("
		mapped  = "Map:  38%|###8      | 760/2000 [05:51<08:12,  3.51 examples/s]\n"
	)
	for _, c := range []struct{ name, log, cause, first string }{
		{
			"free's columns in a watch's words, beside an engine that leaks", "deepspeed 0.16.4\nvllm 0.7.3\n+ swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-VL-7B-Instruct --num_generations 16 --use_vllm true --tensor_parallel_size 4\nINFO 03-15 09:51:46 llm_engine.py:234] Initializing a V0 LLM engine (v0.7.3) with config: model='m'\n" +
				rising("[watch] step %d Mem: total 64 used %d free 9 shared 9 buff/cache 31 available %d\n{'loss': 0.1, 'grad_norm': 0.9, 'learning_rate': 1e-06}\n") + kill,
			"leak_over_steps", `vllm version=pip install -U "vllm>=0.8.3"`,
		},
		{
			"lm-eval's whole model in each process", "distributed_type: FSDP\nnum_processes: 8\n$ accelerate launch --no_python lm_eval --model hf --batch_size 8 --model_args pretrained=meta-llama/Llama-2-13b-hf --tasks mmlu\n" +
				stackOf(full("136.00 MiB", "21.99", "131.19 MiB", "21.55"), "/w/lm-evaluation-harness/lm_eval/models/huggingface.py|__init__|self.model.to(self.device)", weights, convert),
			"states_too_big", "parallelize=True",
		},
		{
			"Windows' page file", "C:\\w> python server.py --wbits 4\n" + stackOf("RuntimeError: [enforce fail at alloc_cpu.cpp:72] data. DefaultCPUAllocator: not enough memory: you tried to allocate 141557760 bytes.",
				`/D:\w\modules\models.py|load_model|model = AutoModelForCausalLM.from_config(config)`, `/D:\env\lib\site-packages\torch\nn\modules\linear.py|__init__|self.weight = Parameter(torch.empty((out_features, in_features), **factory_kwargs))`),
			"host_load", "page file=system managed",
		},
		{
			"a length whose cache an old vLLM has room for", "$ nvidia-smi --query-gpu=index,name,memory.total,memory.used --format=csv\n0, Tesla V100-SXM2-32GB, 32768 MiB, 3 MiB\n$ pip list\nvllm                      0.3.0\n$ python -m vllm.entrypoints.openai.api_server --model Qwen/Qwen1.5-14B-Chat --dtype half --gpu-memory-utilization 0.95\n" +
				"INFO 02-06 17:21:40 llm_engine.py:72] Initializing an LLM engine with config: model='Qwen/Qwen1.5-14B-Chat', dtype=torch.float16, max_seq_len=32768, tensor_parallel_size=1\n" +
				"{'hidden_size': 5120, 'intermediate_size': 13696, 'num_hidden_layers': 40, 'num_attention_heads': 40, 'num_key_value_heads': 40, 'vocab_size': 152064, 'max_position_embeddings': 32768}\n" +
				stackOf("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", "vllm/engine/llm_engine.py|_init_cache|raise ValueError("),
			"engine_share_too_small", "--max-model-len=2048",
		},
		{
			"Stable-Baselines3's replay buffer, which is allocated whole", "$ python dqn.py --env BreakoutNoFrameskip-v4 --buffer_size 1000000\n" +
				stackOf("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 26.3 GiB for an array with shape (1000000, 1, 4, 84, 84) and data type uint8",
					"/e/site-packages/stable_baselines3/common/off_policy_algorithm.py|_setup_model|self.replay_buffer = self.replay_buffer_class(",
					"/e/site-packages/stable_baselines3/common/buffers.py|__init__|self.observations = np.zeros((self.buffer_size, self.n_envs, *self.obs_shape), dtype=observation_space.dtype)"),
			"limit_too_small", "--buffer_size=250000",
		},
		{
			"PPO's rollout buffer", "$ python ppo.py --n_steps 2048 --n_envs 16\n" +
				stackOf("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 4.69 GiB for an array with shape (2048, 16, 3, 100, 128) and data type float32",
					"/e/site-packages/stable_baselines3/common/on_policy_algorithm.py|collect_rollouts|rollout_buffer.reset()",
					"/e/site-packages/stable_baselines3/common/buffers.py|reset|self.observations = np.zeros((self.buffer_size, self.n_envs, *self.obs_shape), dtype=np.float32)"),
			"limit_too_small", "--n_steps=1024",
		},
		{
			"recordings of any length", "[NeMo I 2024-05-21 09:12:40 speech_to_text_finetune:190] Hydra config: model:\n      train_ds:\n        batch_size: 16\n        max_duration: null\n" +
				stackOf(full("5.16 GiB", "23.65", "2.31 GiB", "20.06"), "/w/NeMo/nemo/collections/asr/models/ctc_models.py|training_step|encoded = self.forward(signal)", "/w/NeMo/nemo/collections/asr/parts/submodules/multi_head_attention.py|forward|scores = torch.matmul(q, k)"),
			"attention_scores", "train_ds.max_duration=20",
		},
		{
			"recordings longer than NeMo's recipes have", "[NeMo I 2024-05-21 09:12:40 speech_to_text_finetune:190] Hydra config: model:\n      train_ds:\n        batch_size: 16\n        max_duration: 40\n" +
				stackOf(full("5.16 GiB", "23.65", "2.31 GiB", "20.06"), "/w/NeMo/nemo/collections/asr/models/ctc_models.py|training_step|encoded = self.forward(signal)", "/w/NeMo/nemo/collections/asr/parts/submodules/multi_head_attention.py|forward|scores = torch.matmul(q, k)"),
			"attention_scores", "train_ds.max_duration=20",
		},
		{
			"recordings whose length is limited", "[NeMo I 2024-05-21 09:12:40 speech_to_text_finetune:190] Hydra config: model:\n      train_ds:\n        batch_size: 16\n        max_duration: 16.7\n" +
				stackOf(full("5.16 GiB", "23.65", "2.31 GiB", "20.06"), "/w/NeMo/nemo/collections/asr/models/ctc_models.py|training_step|encoded = self.forward(signal)", "/w/NeMo/nemo/collections/asr/parts/submodules/multi_head_attention.py|forward|scores = torch.matmul(q, k)"),
			"attention_scores", "train_ds.batch_size=4",
		},
		{
			"negatives of the batch", "SentenceTransformerTrainingArguments(\nper_device_train_batch_size=1024,\n)\n" +
				stackOf(full("1.50 GiB", "23.65", "549.88 MiB", "22.38"), "/w/train.py|<module>|trainer.train()", "sentence_transformers/losses/MultipleNegativesRankingLoss.py|forward|embeddings = [self.model(f) for f in features]", "transformers/models/bert/modeling_bert.py|forward|hidden_states = self.intermediate_act_fn(hidden_states)"),
			"activations", "loss=CachedMultipleNegativesRankingLoss(model, mini_batch_size=32)",
		},
		{
			"negatives that the data has", "SentenceTransformerTrainingArguments(\nper_device_train_batch_size=1024,\n)\n" +
				stackOf(full("1.50 GiB", "23.65", "549.88 MiB", "22.38"), "/w/train.py|<module>|trainer.train()", "sentence_transformers/losses/TripletLoss.py|forward|reps = [self.model(f) for f in features]", "transformers/models/bert/modeling_bert.py|forward|hidden_states = self.intermediate_act_fn(hidden_states)"),
			"activations", "per_device_train_batch_size=256",
		},
		{
			"trials that each read the data", "    tune.with_resources(train, {\"cpu\": 8}),\n" + strings.ReplaceAll(fmt.Sprintf(ray, "5001\t118.31\tray::ImplicitFunc.train\n5002\t117.02\tray::ImplicitFunc.train\n5003\t117.01\tray::ImplicitFunc.train\n5004\t116.9\tray::ImplicitFunc.train"), "WorkerDict", "ImplicitFunc"),
			"host_load", "tune.with_parameters=tune.with_parameters(trainable, data=data)",
		},
		{"Fooocus on a card with room", "Fooocus version: 2.1.862\nTotal VRAM 15102 MB, total RAM 12979 MB\nSet vram state to: NORMAL_VRAM\n" + kill, "limit_too_small", "--always-high-vram=True"},
		{"Fooocus on a card without", "Fooocus version: 2.1.862\nTotal VRAM 8192 MB, total RAM 12979 MB\nSet vram state to: NORMAL_VRAM\n" + kill, "limit_too_small", "--unet-in-fp8-e4m3fn=True"},
		{"a converter, which reads before it writes", "/var/spool/slurmd/job7/slurm_script: line 14: 4711 Killed                  python /w/convert_llama_weights_to_hf.py --input_dir /m --model_size 70B\n" + kill, "host_load", "--mem"},
		{"parts of ranks that are put together", "/var/spool/slurmd/job7/slurm_script: line 14: 4711 Killed                  python /w/zero_to_fp32.py . out.bin\n" + kill, "checkpoint_gather", "--mem"},
		{"weights that are pinned for an offload", stackOf("RuntimeError: CUDA error: out of memory", "/w/qwen.py|<module>|transformer.set_offload(True)", "nunchaku/models/utils.py|set_device|p.data = p.data.pin_memory()"), "host_offload", "use_pin_memory=False"},
		{
			"a worker of the same web server", "$ uvicorn app:app --workers 4\nINFO:     Started server process [4113]\n" +
				stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU 0 has a total capacity of 21.98 GiB of which 58.12 MiB is free. Process 4113 has 13.86 GiB memory in use. Including non-PyTorch memory, this process has 8.05 GiB memory in use. Of the allocated memory 7.70 GiB is allocated by PyTorch, and 1.20 MiB is reserved by PyTorch but unallocated.", "/w/app.py|<module>|model = AutoModelForCausalLM.from_pretrained(MODEL, torch_dtype=torch.float16).to(\"cuda\")", weights),
			"wrong_device", "--workers=1",
		},
		{
			"adapters that pile up", "    pipe.load_lora_weights(req.path, adapter_name=req.id)\nDiffusers\n" + rising("INFO serve: req=%04d allocated=%d.%02dGiB\n") +
				stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 22.06 GiB of which 289.06 MiB is free. Including non-PyTorch memory, this process has 21.77 GiB memory in use. Of the allocated memory 21.17 GiB is allocated by PyTorch, and 118.40 MiB is reserved by PyTorch but unallocated.", "/w/serve.py|worker|image = generate(req)", "diffusers/pipelines/sdxl/pipeline.py|__call__|image = self.vae.decode(latents)"),
			"leak_over_steps", "pipe.unload_lora_weights()=True",
		},
		{
			"a split that gives the smaller card half of the model", "$ ./llama-server -m /m/q-Q6_K.gguf -ngl 99 -ts 1,1\nllama_model_load_from_file_impl: using device CUDA0 (NVIDIA GeForce RTX 3090) - 23871 MiB free\nllama_model_load_from_file_impl: using device CUDA1 (NVIDIA GeForce RTX 3060) - 11773 MiB free\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 12433.87 MiB on device 1: cudaMalloc failed: out of memory\nllama_model_load: error loading model: unable to allocate CUDA1 buffer\n",
			"states_too_big", "-ts=23,11",
		},
		{
			"a split of a model too large for all cards", "$ ./llama-server -m /m/q-Q8_0.gguf -ngl 64 -ts 1,1\nllama_model_load_from_file_impl: using device CUDA0 (NVIDIA GeForce RTX 3090) - 23871 MiB free\nllama_model_load_from_file_impl: using device CUDA1 (NVIDIA GeForce RTX 3060) - 11773 MiB free\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 18433.87 MiB on device 1: cudaMalloc failed: out of memory\nllama_model_load: error loading model: unable to allocate CUDA1 buffer\n",
			"states_too_big", "-ngl=auto",
		},
		{
			"another model's cache beside an engine", "+ tritonserver --model-repository=/models\n[TensorRT-LLM][WARNING] kv_cache_free_gpu_mem_fraction is not specified, will use default value of 0.9 or max_tokens_in_paged_kv_cache\n[TensorRT-LLM][INFO] [MemUsageChange] Allocated 55.87 GiB for max tokens in paged KV cache (457664).\nI0904 11:20:58.440192 118 model_lifecycle.cc:839] \"successfully loaded 'llama3_8b'\"\n" +
				"[TensorRT-LLM][ERROR] [defaultAllocator.cpp::allocate::31] Error Code 1: Cuda Runtime (out of memory)\n[TensorRT-LLM][WARNING] Requested amount of GPU memory (14483464192 bytes) could not be allocated. There may not be enough free memory for allocation to succeed.\n", "engine_share_too_large", "kv_cache_free_gpu_mem_fraction=0.69",
		},
		{
			"a model that WSL has too little memory for", "5.15.167.4-microsoft-standard-WSL2\ntime=2025-04-22T21:14:31.588+02:00 level=INFO source=server.go:105 msg=\"system memory\" total=\"7.6 GiB\" free=\"6.8 GiB\" free_swap=\"2.0 GiB\"\nError: model requires more system memory (9.5 GiB) than is available (8.8 GiB)\n",
			"host_load", "memory=12 GiB",
		},
		{
			"quantized weights that the card has no room for", "==((====))==  Unsloth 2025.9.1: Fast Qwen2 patching.\nValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the quantized model.\n",
			"states_too_big", "none",
		},
		{
			"a mesh that copies the state", "Config param ici_data_parallelism: 8\nConfig param ici_fsdp_parallelism: 1\nConfig param ici_tensor_parallelism: 1\nConfig param optimizer_memory_host_offload: False\n" +
				"2024-11-20 10:31:40.511208: W external/xla/xla/tsl/framework/bfc_allocator.cc:497] Allocator (GPU_0_bfc) ran out of memory trying to allocate 5.38GiB (rounded to 5771362304)requested by op\n" +
				stackOf("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 5771362304 bytes.", "/opt/maxtext/MaxText/train.py|train_loop|) = setup_train_loop(config)", "/opt/maxtext/MaxText/max_utils.py|setup_initial_state|state = jax.jit("),
			"not_sharded", "ici_fsdp_parallelism=-1",
		},
		{
			"weights that a script casts to float32", "$ accelerate launch train_dreambooth_lora_flux.py --train_batch_size=1\nMixed precision type: no\n" + stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 144.00 MiB. GPU 0 has a total capacity of 39.39 GiB of which 91.06 MiB is free. Including non-PyTorch memory, this process has 39.29 GiB memory in use. Of the allocated memory 38.83 GiB is allocated by PyTorch, and 4.70 MiB is reserved by PyTorch but unallocated.",
				"/w/diffusers/examples/dreambooth/train_dreambooth_lora_flux.py|main|transformer.to(accelerator.device, dtype=weight_dtype)", convert), "wrong_dtype", "--mixed_precision=bf16",
		},
		{
			"the trainer beside its own engine", "(EngineCore_DP0 pid=44107) INFO 10-30 11:03:17 [gpu_model_runner.py:2653] Model loading took 1.1201 GiB and 1.402118 seconds\n(EngineCore_DP0 pid=44107) INFO 10-30 11:03:38 [gpu_worker.py:298] Available KV cache memory: 18.69 GiB\n" +
				stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 12.00 MiB. GPU 0 has a total capacity of 23.52 GiB of which 6.14 MiB is free. Process 44107 has 22.05 GiB memory in use. Including non-PyTorch memory, this process has 1.46 GiB memory in use. Of the allocated memory 1003.00 MiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but unallocated.",
					"/w/prime-rl/src/prime_rl/trainer/rl/train.py|train|model = setup_model(config.model, parallel_dims)", "/w/prime-rl/src/prime_rl/trainer/model.py|load_dcp_from_hf|model.to_empty(device=\"cuda\")"),
			"engine_share_too_large", "--gpu-memory-utilization=0.38",
		},
		{
			"XLA's largest buffers hold attention scores", "Config param attention: dot_product\nConfig param per_device_batch_size: 4\nConfig param remat_policy: full\n" + xlaLimit +
				"Peak buffers:\n\tBuffer 1:\n\t\tSize: 16.00GiB\n\t\tShape: bf16[4,32,1,8192,8192]\n" + stepOfJAX, "attention_scores", "attention=cudnn_flash_te",
		},
		{
			"TensorFlow's memory grows from episode to episode", "2023-01-14 09:02:13.741900: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1613] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9632 MB memory:  -> device: 0\n" +
				countedUp("episode %d | reward -100.00 | RSS %d.50 GiB\n", 4, 6, 8, 10, 12, 14, 16, 18, 20) + "Out of memory: Killed process 48213 (python3) total-vm:48211904kB, anon-rss:21073710kB, file-rss:214016kB, shmem-rss:8kB, UID:1000 pgtables:63012kB oom_score_adj:0\n",
			"leak_over_steps", "model()=model(x, training=False)",
		},
		{
			"ranks fill a limit once the dataset is mapped", "#BSUB -M 16GB\n#BSUB -R \"rusage[mem=16GB]\"\nMap: 100%|##########| 49401/49401 [00:19<00:00, 2519.70 examples/s]\n[rank 0] model on cuda:0, rss 3.92 GiB\n" +
				"TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 137.\n\nResource usage summary:\n\n    Max Memory :                                 16384 MB\n", "limit_too_small", "-M=24GB",
		},
		{
			"a web UI told to keep float32", "Launching Web UI with arguments: --no-half --xformers\n" + stackOf(full("180.00 MiB", "6.00", "0 bytes", "5.26"), "C:\\stable-diffusion-webui\\modules\\sd_samplers.py|sample|samples = self.launch_sampling(steps, lambda: self.func("),
			"wrong_dtype", "--no-half=False",
		},
		{
			"scores that an old web UI builds in full", "Launching Web UI with arguments: \n" + stackOf(full("8.00 GiB", "8.00", "4.39 GiB", "2.62"), "/sd/modules/sd_samplers.py|forward|x_out = self.inner_model(x_in, sigma_in, cond=cond_in)", "/sd/repositories/stable-diffusion/ldm/modules/attention.py|forward|sim = einsum('b i d, b j d -> b i j', q, k) * self.scale", "torch/functional.py|einsum|return _VF.einsum(equation, operands)"),
			"attention_scores", "--xformers=True",
		},
		{
			"TGI with one shard of a model that needs eight", "text_generation_launcher: Args {\n    model_id: \"mistralai/Mixtral-8x7B-Instruct-v0.1\",\n    num_shard: None,\n    quantize: None,\n}\nshard-manager: text_generation_launcher: Starting shard rank=0\n" +
				stackOf(full("1.75 GiB", "14.57", "182.75 MiB", "14.06"), "/opt/conda/bin/text-generation-server|<module>|sys.exit(app())", "text_generation_server/models/__init__.py|get_model|return FlashCausalLM(", "text_generation_server/layers/moe/unquantized.py|load_weights|gate_up_proj = _load_expert_multi_weights_col("), "states_too_big", "--num-shard=8",
		},
		{
			"a share below an engine's weights on a card of unknown size", "args: RLHFArguments(\nvllm_mode='colocate',\nvllm_gpu_memory_utilization=0.1,\n)\n[INFO:swift] Global seed set to 42\nINFO 06-13 10:31:17 [gpu_model_runner.py:1347] Model loading took 14.2487 GiB and 4.630215 seconds\n" +
				stackOf("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", "swift/trainers/rlhf_trainer/grpo_trainer.py|prepare_vllm|engine = GRPOVllmEngine(", "vllm/v1/core/kv_cache_utils.py|check_enough_kv_cache_memory|raise ValueError("), "engine_share_too_small", "--vllm_gpu_memory_utilization=0.28",
		},
		{
			"a vLLM that keeps each request of several answers", "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.n=8\nInitializing a V0 LLM engine (v0.7.3) with config: model='Qwen/Qwen2-7B-Instruct', dtype=torch.bfloat16\n" +
				countedUp("(TaskRunner pid=17340) step:%d - actor/entropy_loss:0.409 - perf/cpu_memory_used_gb:%d.214\n", 168, 171, 174, 176, 179, 182, 184, 187, 190, 192) +
				"Out of memory: Killed process 48213 (ray::WorkerDict) total-vm:48211904kB, anon-rss:21073710kB, file-rss:214016kB, shmem-rss:8kB, UID:1000 pgtables:63012kB oom_score_adj:0\n", "leak_over_steps", "vllm version=pip install -U \"vllm>=0.8.3\"",
		},
		// which part of an engine did not fit
		{"TensorRT-LLM: the model", trt + "Model\nTotal GPU memory (GiB): 79.18\nFree GPU memory before component creation attempt (GiB): 78.40\n", "states_too_big", "--tp_size=2"},
		{"llama.cpp: a large physical batch returns to the default", "$ llama-server -m m.gguf -c 50000 -ngl 99 -ub 4096 -b 4096 -fa on\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 51748.72 MiB on device 1: cudaMalloc failed: out of memory\n" +
			"ggml_gallocr_reserve_n_impl: failed to allocate CUDA1 buffer of size 54262464512\ngraph_reserve: failed to allocate compute buffers\n", "engine_activation", "-ub=512"},
		{"Ollama: each of the requests at a time has a context", "time=2025-05-16T15:10:00.100Z level=INFO source=routes.go:1205 msg=\"server config\" env=\"map[OLLAMA_FLASH_ATTENTION:false OLLAMA_NUM_PARALLEL:20]\"\n" +
			"time=2025-05-16T15:11:10.100Z level=INFO source=server.go:431 msg=\"starting llama server\" cmd=\"/usr/local/bin/ollama runner --model /m --ctx-size 655360 --n-gpu-layers 41 --parallel 20\"\nllama_kv_cache_unified: KV self size  = 51200.00 MiB, K (f16): 25600.00 MiB, V (f16): 25600.00 MiB\n" +
			"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 42256.00 MiB on device 0: cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 44308627456\npanic: unable to create llama context\n", "engine_activation", "OLLAMA_NUM_PARALLEL=5"},
		{"LMDeploy: the memory of a step", lmd + "RuntimeError: No enough gpu memory for runtime.\n", "engine_activation", "--max-prefill-token-num=4096"},
		{"whisperX: a batch", "$ whisperx a.mp3 --model large-v2 --batch_size 16 --compute_type float16\nTraceback (most recent call last):\n  File \"/x/whisperx/asr.py\", line 97, in generate_segment_batched\n    result = self.model.generate(\nRuntimeError: CUDA failed with error out of memory\n", "engine_activation", "--batch_size=8"},
		{"faster-whisper decodes one segment at a time, in float32", " - Selected compute type: float32\nTraceback (most recent call last):\n  File \"faster_whisper\\transcribe.py\", line 401, in generate_segments\n  File \"faster_whisper\\transcribe.py\", line 603, in generate_with_fallback\nRuntimeError: CUDA failed with error out of memory\n", "wrong_dtype", "compute_type=int8"},
		{"openai-whisper has no batch", stackOf(full("60.00 MiB", "9.78", "40.10 MiB", "9.20"), "whisper/transcribe.py|transcribe|result: DecodingResult = decode_with_fallback(mel_segment)", "whisper/transcribe.py|decode_with_fallback|decode_result = model.decode(segment, options)", "whisper/model.py|qkv_attention|a = F.scaled_dot_product_attention("), "attention_scores", "beam_size=1"},
		{"an hour of audio in NeMo", stackOf(full("42.00 GiB", "39.39", "33.10 GiB", "3.20"), "/opt/NeMo/nemo/collections/asr/parts/mixins/transcription.py|transcribe|for processed_outputs in generator:", "/opt/NeMo/nemo/collections/asr/parts/submodules/multi_head_attention.py|forward|matrix_bd = self.rel_shift(matrix_bd)"), "attention_scores", `change_attention_model=asr_model.change_attention_model("rel_pos_local_attn", [128, 128])`},
		{"faster-whisper: the weights", "Traceback (most recent call last):\n  File \"/x/faster_whisper/transcribe.py\", line 145, in __init__\n    self.model = ctranslate2.models.Whisper(\nRuntimeError: CUDA failed with error out of memory\n", "states_too_big", "compute_type=int8"},
		{"a script for sbatch that bash started", "#SBATCH --mem=128G\n#SBATCH --gres=gpu:1\n$ bash train.sh\nLoading checkpoint shards:  50%|#####     | 1/2 [00:10<00:10, 10.2s/it]\n" +
			"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/user.slice/user-1000.slice,task_memcg=/user.slice/user-1000.slice/session-5.scope,task=python,pid=20318,uid=1000\n" +
			"Memory cgroup out of memory: Killed process 20318 (python) total-vm:25829120kB, anon-rss:15829120kB, file-rss:1024kB, shmem-rss:0kB, UID:1000 pgtables:20000kB oom_score_adj:0\n", "host_load", "sbatch=sbatch SCRIPT"},
		{"NCCL's NVLink SHARP", "$ torchrun --nproc_per_node 8 train.py\nnode07:5123:9871 [3] transport/nvls.cc:254 NCCL WARN Cuda failure 2 'out of memory'\n", "nccl_no_margin", "NCCL_NVLS_ENABLE=0"},
		{"TurboMind in ms-swift's server", "$ swift deploy --model_type qwen2-7b-instruct --infer_backend lmdeploy\n[INFO:swift] device_count: 1\n[TM][INFO] Model: \ncache_max_entry_count: 0.8\n  what():  [TM][ERROR] CUDA runtime error: out of memory /lmdeploy/src/turbomind/utils/allocator.h:233\n", "engine_share_too_large", "--cache-max-entry-count=0.2"},
		{"JAX: a state beyond the card, of which no share is enough", "NVIDIA GeForce RTX 3090, 24576 MiB, 18 MiB\n$ XLA_PYTHON_CLIENT_MEM_FRACTION=0.9 python train.py\nTrainConfig(batch_size=32, fsdp_devices=1)\n" +
			"W external/xla/xla/hlo/transforms/simplifiers/hlo_rematerialization.cc:3021] Can't reduce memory use below -21.13GiB (-22686138368 bytes) by rematerialization; only reduced to 43.61GiB (46826022912 bytes), down from 43.61GiB (46826022912 bytes) originally\n" +
			stackOf("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4831838208 bytes.", "/home/u/train.py|main|state = init_train_state(config, rng, mesh)", "jax/_src/pjit.py|cache_miss|outs = _python_pjit_helper("), "states_too_big", "fsdp_devices=2"},
		{"LMDeploy: the cache of states", lmd + "RuntimeError: No enough gpu memory for state cache. Please reduce max_batch_size.\n", "engine_share_too_small", "--max-batch-size=64"},
		{"LMDeploy: the cache", lmd + "RuntimeError: No enough gpu memory for kv cache.\n", "engine_share_too_small", "--cache-max-entry-count=0.9"},
		{"TGI: the cache has fewer tokens than a request may", "text_generation_launcher: KV-cache blocks: 9000, size: 1\nError: Backend(Warmup(Generation(\"Not enough memory to handle `max_total_tokens=32768`\")))\n", "engine_share_too_small", "--max-total-tokens=9000"},
		{"MLC-LLM's weights and buffers exceed its share", "$ mlc_llm serve /m/q-MLC\nTVMError: Check failed: (output_res.IsOk()) is false: Insufficient GPU memory error: The available single GPU memory is 19652.812 MB, which is less than the sum of model weight size (15316.508 MB) and temporary buffer size (5000.129 MB).\n", "engine_share_too_small", "gpu_memory_utilization=0.9"},
		{"weights of vLLM that are larger than the card", "|  0%   46C    P8              16W / 170W |    611MiB / 12288MiB |      2%      Default |\nINFO 10-14 21:32:44 llm_engine.py:72] Initializing an LLM engine (v0.2.0) with config: model='lmsys/vicuna-7b-v1.3', tensor_parallel_size=1, dtype=torch.float16\nINFO 10-14 21:40:24 llm_engine.py:205] # GPU blocks: 0, # CPU blocks: 512\n" + stackOf("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", "vllm/engine/llm_engine.py|_init_cache|raise ValueError("), "states_too_big", "--tensor-parallel-size=2"},
		{"ComfyUI: attention over a huge picture", "Total VRAM 8192 MB, total RAM 32706 MB\n" + stackOf(full("217.06 GiB", "8.00", "1.56 GiB", "3.41"), "ComfyUI/execution.py|recursive_execute|output_data, output_ui = get_output_data(", "ComfyUI/custom_nodes/x/midas/vit.py|forward_vit|glob = pretrained.model.forward_flex(x)", "timm/models/vision_transformer.py|forward|attn = (q @ k.transpose(-2, -1)) * self.scale"), "attention_scores", "width and height of the picture=1024 or less"},
		{"an engine's weights in float32", "$ python -m vllm.entrypoints.openai.api_server --model Qwen/Qwen2-7B-Instruct --dtype=float\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 518.00 MiB. GPU 0 has a total capacty of 21.67 GiB of which 4.06 MiB is free. Process 2417585 has 21.65 GiB memory in use. Of the allocated memory 21.32 GiB is allocated by PyTorch, and 1018.00 KiB is reserved by PyTorch but unallocated.\n", "wrong_dtype", "--dtype=bfloat16"},
		{"weights larger than the card before vLLM knew fp8", "$ python -m vllm.entrypoints.openai.api_server --model mistralai/Mistral-7B-v0.1 --dtype half\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB (GPU 0; 10.73 GiB total capacity; 9.85 GiB already allocated; 46.44 MiB free; 9.86 GiB reserved in total by PyTorch)\n", "states_too_big", "--tensor-parallel-size=2"},
		{"layers that fill the card up to a small compute buffer", "$ ./tiny.F32.llamafile -ngl 9999\nllm_load_tensors: offloaded 23/23 layers to GPU\nllm_load_tensors:      CUDA0 buffer size =  3946.35 MiB\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 66.50 MiB on device 0: cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 69730304\nllama_new_context_with_model: failed to allocate compute buffers\n", "states_too_big", "-ngl=22"},
		{"activations that an engine of TensorRT-LLM was built for", "root@a:/code/tensorrt_llm/benchmarks/python# python benchmark.py -m llama_7b --mode plugin --max_input_len 2048\n[10/23/2023-06:12:44] [TRT-LLM] [I] Mode: plugin, model llama_7b: BuildConfig(num_layers=32, max_batch_size=128, max_input_len=2048)\n[10/23/2023-06:12:44] [TRT] [I] [MemUsageChange] TensorRT-managed allocation in engine deserialization: CPU +0, GPU +12853, now: CPU 0, GPU 12853 (MiB)\n[10/23/2023-06:12:44] [TRT] [I] [MemUsageChange] TensorRT-managed allocation in IExecutionContext creation: CPU +0, GPU +19328, now: CPU 0, GPU 32181 (MiB)\n[10/23/2023-06:12:44] [TRT-LLM] [E] Exception CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacty of 44.35 GiB of which 147.88 MiB is free. Process 1107750 has 44.16 GiB memory in use. Of the allocated memory 12.00 GiB is allocated by PyTorch, and 984.00 KiB is reserved by PyTorch but unallocated.\n", "engine_activation", "--max_batch_size=64"},
		{"Triton's instances of one model", "I0229 06:41:14.120943 1 python_be.cc:2363] TRITONBACKEND_ModelInstanceInitialize: q_0_0 (GPU device 0)\nI0229 06:41:41.563380 1 python_be.cc:2363] TRITONBACKEND_ModelInstanceInitialize: q_0_1 (GPU device 0)\nI0229 06:42:33.902617 1 pb_stub.cc:346] Failed to initialize Python stub: OutOfMemoryError: CUDA out of memory. Tried to allocate 86.00 MiB. GPU 0 has a total capacty of 39.39 GiB of which 2.50 MiB is free. Process 181 has 27.46 GiB memory in use. Process 249 has 11.92 GiB memory in use. Of the allocated memory 11.42 GiB is allocated by PyTorch, and 4.12 MiB is reserved by PyTorch but unallocated.\n", "states_too_big", "instance_group.count=1"},
		{"an encoder of texts, however long", "$ python train.py --batch-size 1\n" + stackOf(full("336.00 MiB", "11.17", "243.00 MiB", "10.55"), "/w/train.py|main|nlp.update(texts, cats)", "pytorch_transformers/modeling_bert.py|forward|hidden_states = self.dropout(hidden_states)"), "activations", "max_length=512"},
		{"a script that joins what it kept of all batches", stackOf("RuntimeError: [enforce fail at CPUAllocator.cpp:68] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 24053760000 bytes. Error code 12 (Cannot allocate memory)", "/w/eval_segmentation.py|main|run(cfg)", "/w/eval_segmentation.py|run|outputs = {k: torch.cat(v, dim=0) for k, v in outputs.items()}"), "leak_over_steps", "outputs.append=metric.update(output.argmax(1).cpu(), label)  # instead of append and cat"},
		{"a small request on a card with room", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 128.00 MiB (GPU 0; 44.99 GiB total capacity; 6.15 GiB already allocated; 37.32 GiB free; 6.15 GiB reserved in total by PyTorch)\n", "limit_too_small", "none"},
		{"a small request beside an engine that sleeps", "GRPOConfig(use_vllm=True, vllm_mode='colocate', vllm_enable_sleep_mode=True)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 7 has a total capacity of 79.11 GiB of which 66.43 GiB is free. Of the allocated memory 8.51 GiB is allocated by PyTorch, and 856.16 MiB is reserved by PyTorch but unallocated.\n", "unknown", "none"},
		{"a model does not even get its context", stackOf("RuntimeError: CUDA error: out of memory", "/home/u/run.py|main|model.cuda()", "torch/nn/modules/module.py|cuda|return self._apply(lambda t: t.cuda(device))", "torch/nn/modules/module.py|<lambda>|return self._apply(lambda t: t.cuda(device))"), "foreign_process", "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv"},
		{"pieces in a PyTorch without settings of its allocator", "per_device_train_batch_size=8\nRuntimeError: CUDA out of memory. Tried to allocate 2.87 GiB (GPU 0; 14.76 GiB total capacity; 8.77 GiB already allocated; 19.75 MiB free; 13.71 GiB reserved in total by PyTorch)\n", "fragmentation", "per_device_train_batch_size=4"},
		{"a batch that a shell shows after the failure", stackOf("RuntimeError: CUDA out of memory. Tried to allocate 70.00 MiB (GPU 0; 10.76 GiB total capacity; 9.72 GiB already allocated; 62.44 MiB free; 9.80 GiB reserved in total by PyTorch)", "/w/main.py|main|outputs = model(inputs)", "/w/net.py|forward|x = self.layer3(x)", "torch/nn/functional.py|batch_norm|training, momentum, eps, torch.backends.cudnn.enabled") +
			"(dl) me@lab:~/net$ grep -A1 batch main.py\nparser.add_argument('--batch_size', type=int, default=16,\n                    help='batch size')\n", "activations", "batch_size=4"},
		{"layers that are asked for are loaded whatever fits", "time=2026-03-24T10:05:12.307+01:00 level=INFO source=routes.go:1727 msg=\"server config\" env=\"map[OLLAMA_CONTEXT_LENGTH:0 OLLAMA_MAX_LOADED_MODELS:0]\"\ntime=2026-03-24T10:07:31.903+01:00 level=INFO source=server.go:757 msg=\"loading model\" \"model layers\"=49 requested=99\ntime=2026-03-24T10:07:32.488+01:00 level=INFO source=runner.go:1284 msg=load request=\"{Operation:alloc LoraPath:[] Parallel:1 BatchSize:512 FlashAttention:Enabled KvSize:16384 KvCacheType: NumThreads:8 GPULayers:49[ID:GPU-61d7c0a4-8e0f-5a0a-2e1d-3f0b8a3d77c2 Layers:49(0..48)] MultiUserCache:false ProjectorPath: MainGPU:0 UseMmap:false}\"\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 17524.42 MiB on device 0: cudaMalloc failed: out of memory\nalloc_tensor_range: failed to allocate CUDA0 buffer of size 18375686144\n", "states_too_big", "num_gpu=-1"},
		{"a context that the program did not take", "$ llama-simple --ctx-size 1024\nllama_load_model_from_file: using device CUDA0 (NVIDIA GeForce RTX 3080) - 9738 MiB free\nllm_load_print_meta: n_layer          = 32\nllm_load_tensors: offloaded 33/33 layers to GPU\nllama_new_context_with_model: n_ctx      = 131072\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 8192.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_kv_cache_init: failed to allocate buffer for kv cache\n", "engine_share_too_small", "--ctx-size=65536"},
		{"Ollama: layers with their cache, beside the buffers", "time=2025-02-17T09:12:02.361+08:00 level=INFO source=types.go:130 msg=\"inference compute\" id=GPU-6d1f library=cuda name=\"NVIDIA A100-PCIE-40GB\" total=\"39.4 GiB\" available=\"39.1 GiB\"\ntime=2025-02-17T09:13:40.271+08:00 level=INFO source=memory.go:356 msg=\"offload to cuda\" layers.requested=-1 layers.model=62 layers.offload=13 layers.split=7,6 memory.available=\"[39.1 GiB 39.1 GiB]\" memory.required.kv=\"38.1 GiB\" memory.graph.full=\"2.2 GiB\" memory.graph.partial=\"3.0 GiB\"\n" +
			"llm_load_print_meta: n_ctx_train      = 163840\nllm_load_print_meta: n_layer          = 61\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 46963.85 MiB on device 0: cudaMalloc failed: out of memory\nllama_model_load: error loading model: unable to allocate CUDA0 buffer\n", "states_too_big", "num_gpu=8"},
		{"as many cards as a server may see", "$ CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7,8,9,10,11 vllm serve /data/DeepSeek-R1-70B --tensor-parallel-size 4\nINFO 03-02 19:49:03 [llm_engine.py:234] Initializing a V0 LLM engine (v0.7.4) with config: model='/data/DeepSeek-R1-70B', dtype=torch.bfloat16, tensor_parallel_size=4, quantization=None\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 2 has a total capacity of 31.62 GiB of which 3.31 MiB is free. Including non-PyTorch memory, this process has 31.61 GiB memory in use. Of the allocated memory 31.20 GiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but unallocated.", "/x/vllm/worker/model_runner.py|load_model|self.model = get_model(vllm_config=self.vllm_config)", "/x/vllm/model_executor/layers/linear.py|create_weights|weight = Parameter(torch.empty("), "states_too_big", "--tensor-parallel-size=8"},
		{"a sample that AI Toolkit makes while it trains", stackOf(full("7.70 GiB", "23.69", "6.53 GiB", "16.31"), "/w/ai-toolkit/run.py|main|job.run()", "/w/ai-toolkit/jobs/process/BaseSDTrainProcess.py|sample|self.sd.generate_images(gen_img_config_list)", "torch/utils/_contextlib.py|decorate_context|return func(*args, **kwargs)", "diffusers/models/autoencoders/autoencoder_kl_wan.py|decode|decoded = self._decode(z).sample", "torch/nn/modules/conv.py|_conv_forward|return F.conv3d("), "activations", "train.disable_sampling=true"},
		{"a text encoder that is trained, too", "$ accelerate launch train_dreambooth.py --pretrained_model_name_or_path=CompVis/stable-diffusion-v1-4 --train_text_encoder --use_8bit_adam --gradient_checkpointing --train_batch_size=1 --mixed_precision=fp16\n" +
			stackOf("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.00 GiB total capacity; 9.15 GiB already allocated; 0 bytes free; 9.27 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.", "/w/train_dreambooth.py|main|optimizer.step()", "bitsandbytes/optim/optimizer.py|step|self.init_state(group, p, gindex, pindex)", "bitsandbytes/optim/optimizer.py|get_state_buffer|return torch.zeros_like(p, dtype=dtype, device=p.device)"), "optimizer_first_step", "--train_text_encoder=False"},
		{"LLaMA-Factory of 2023: the lengths of its data", "06/29/2023 15:04:47 - INFO - utils.ppo - ***** Running training *****\n06/29/2023 15:04:47 - INFO - utils.ppo -   Instantaneous batch size per device = 1\n06/29/2023 15:04:47 - INFO - utils.ppo -   max_source_length = 512, max_target_length = 512\n" +
			stackOf("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 192.00 MiB (GPU 0; 15.78 GiB total capacity; 14.03 GiB already allocated; 5.69 MiB free; 14.72 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.", "/root/LLaMA-Efficient-Tuning/src/utils/ppo.py|ppo_train|stats = self.step(queries, responses, rewards)", "trl/trainer/ppo_trainer.py|train_minibatch|self.accelerator.backward(loss)"), "activations", "max_source_length=256"},
		{"states on the host that exceed it without the weights", "Mem:             31           2          24           0           4          28\nname, memory.total [MiB], memory.used [MiB]\nNVIDIA GeForce RTX 3090, 24576 MiB, 512 MiB\n[2023-04-20 19:01:33,911] [INFO] [launch.py:247:main] dist_world_size=1\n$ deepspeed train.py --model_name_or_path EleutherAI/pythia-2.8b --deepspeed ds.json\n{\"zero_optimization\": {\"stage\": 3, \"offload_optimizer\": {\"device\": \"cpu\", \"pin_memory\": true}, \"offload_param\": {\"device\": \"cpu\", \"pin_memory\": true}}}\n" +
			"[2023-04-20 19:03:20,870] [INFO] [utils.py:831:see_memory_usage] Before initializing optimizer states\n" + kill, "host_offload", "zero_optimization.offload_optimizer.device=nvme"},
		{"a batch in words", "Batch size: 64\n" + stackOf(full("20.00 MiB", "11.93", "19.75 MiB", "11.07"), "/w/train.py|train|y_pred = model(x)", "/w/model.py|forward|processed_query + processed_attention_weights + processed_memory))"), "activations", "batch_size=16"},
		{"the Trainer's batch of evaluations in words", "***** Running Evaluation *****\n  Num examples = 640\n  Batch size = 64\n" + stackOf(full("20.00 MiB", "11.93", "19.75 MiB", "11.07"), "/w/train.py|train|y_pred = model(x)", "/w/model.py|forward|processed_query + processed_attention_weights + processed_memory))"), "activations", "batch_size"},
		{"a batch in a listing of a script", "16:        fp16_run=False,\n84:        batch_size=64,\n" + stackOf(full("20.00 MiB", "11.93", "19.75 MiB", "11.07"), "/w/train.py|train|y_pred = model(x)", "/w/model.py|forward|processed_query + processed_attention_weights + processed_memory))"), "activations", "batch_size=16"},
		{"attention between pairs of residues", stackOf(full("77.40 GiB", "38.61", "8.81 GiB", "13.21"), "/opt/x/inference.py|inference_model|out = model(batch)", "/opt/x/fastnn/evoformer.py|forward|pair = self.pair_stack(pair, pair_mask)", "/opt/x/fastnn/ops.py|forward|logits = torch.matmul(q, k.transpose(-1, -2))"), "attention_scores", "globals.chunk_size=4"},
		{"an input that is padded before a model is called", "batch_size: 128\n" + stackOf(full("16.02 GiB", "31.73", "15.08 GiB", "16.12"), "/w/tune.py|<module>|val_loss = validate(val_loader, model)", "/w/utils.py|validate|x = torch.nn.functional.pad(x, (context_size, 0))", "torch/nn/functional.py|pad|return torch._C._nn.pad(input, pad, mode, value)"), "activations", "batch_size=64"},
		{"the same in a layer", "batch_size: 128\n" + stackOf(full("16.02 GiB", "31.73", "15.08 GiB", "16.12"), "/w/tune.py|<module>|val_loss = validate(val_loader, model)", "/w/utils.py|validate|out = model(x)", "/w/net.py|forward|x = self.conv(x)"), "activations", "torch.no_grad=with torch.no_grad(): ..."},
		{"a flag of the command line, whatever a listing has printed since", "$ python train.py --batch_size 4\n44:p.add_argument(\"--batch_size\", type=int, default=64)\n84:        batch_size=64,\n" + stackOf(full("20.00 MiB", "11.93", "19.75 MiB", "11.07"), "/w/train.py|train|y_pred = model(x)", "/w/model.py|forward|processed_query + processed_attention_weights + processed_memory))"), "activations", "--batch_size=2"},
		{"a configuration, whatever a listing has printed since", "batch_size: 4\nlr: 0.1\nepochs: 3\n84:        batch_size=64,\n" + stackOf(full("20.00 MiB", "11.93", "19.75 MiB", "11.07"), "/w/train.py|train|y_pred = model(x)", "/w/model.py|forward|processed_query + processed_attention_weights + processed_memory))"), "activations", "batch_size=2"},
		{"ExLlama: model and cache", "max_seq_len: 65536\ncache_mode: FP16\n" + stackOf("RuntimeError: Insufficient VRAM for model and cache", "exllamav2/model.py|load_autosplit_gen|raise RuntimeError("), "engine_share_too_small", "max_seq_len=32768"},
		{"llama.cpp: layers that nobody counted", "Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6\nprint_info: n_layer          = 64\nprint_info: n_head = 40\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 29500.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_model_load: error loading model: unable to allocate CUDA0 buffer\n", "states_too_big", "--n-gpu-layers=48"},
		{"Ollama: all parts together", `time=2025-11-01T10:00:00.000Z level=INFO source=server.go:400 msg="starting runner" cmd="/usr/bin/ollama runner --ollama-engine --model /m/blob --ctx-size 65536 --parallel 1"` + "\n" +
			`time=2025-11-01T10:00:00.000Z level=INFO source=sched.go:450 msg="Load failed" error="insufficient memory - required allocations: {InputWeights:1048576}"` + "\n", "states_too_big", "num_ctx=32768"},
		{"SGLang: one card is taken", "[2025-10-02 10:00:00] server_args=ServerArgs(model_path='/m', tp_size=4)\nValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. min_per_gpu_memory=30.1, local_gpu_memory=78.6\n", "foreign_process", "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv"},
		{"vLLM: whole prompts are profiled where nothing cuts them", "Initializing an LLM engine (v0.6.3) with config: model='/m', max_seq_len=131072, tensor_parallel_size=1\n" +
			stackOf(full("7.00 GiB", "23.60", "4.10 GiB", "18.90"), "vllm/worker/worker.py|determine_num_available_blocks|self.model_runner.profile_run()", "vllm/worker/model_runner.py|profile_run|self.execute_model(", "vllm/model_executor/models/llama.py|forward|gate_up, _ = self.gate_up_proj(x)"), "engine_activation", "--max-model-len=65536"},
		{"vLLM: a profiled prompt leaves no room for a cache", "Initializing an LLM engine (v0.4.3) with config: model='/m', max_seq_len=131072, tensor_parallel_size=1\nmodel_runner.py:146] Loading model weights took 17.5635 GB\n" +
			stackOf(full("6.69 GiB", "23.65", "2.45 GiB", "20.69"), "vllm/worker/worker.py|determine_num_available_blocks|self.model_runner.profile_run()", "vllm/worker/model_runner.py|profile_run|self.execute_model(", "vllm/model_executor/models/llama.py|forward|gate_up, _ = self.gate_up_proj(x)"), "engine_activation", "--max-model-len=16384"},
		{"vLLM before 0.3: the run that measures its activations", "Initializing an LLM engine with config: model='NousResearch/Yarn-Mistral-7b-128k', dtype=torch.bfloat16, max_seq_len=524288, tensor_parallel_size=1\nLLM(model=model, gpu_memory_utilization=.5)\n" +
			stackOf(full("4.00 GiB", "39.39", "2.33 GiB", "36.52"), "/w/vllm/vllm/engine/llm_engine.py|_init_cache|num_blocks = self._run_workers(", "/w/vllm/vllm/worker/worker.py|profile_num_available_blocks|self.model(", "/w/vllm/vllm/model_executor/layers/attention.py|multi_query_kv_attention|value = torch.repeat_interleave(value,"), "engine_activation", "--max-model-len=32768"},
		{"llama.cpp: a photo, whose encoder has a buffer of its own", "Device 0: NVIDIA GeForce RTX 3080, compute capability 8.6\nllama_context: n_ctx         = 8192\nllama_context: n_ubatch      = 512\nllama_context: flash_attn    = 0\nsrv    load_model: loaded multimodal model, '/m/mmproj.gguf'\nmain: server is listening on http://127.0.0.1:8081\nsrv  process_chun: processing image...\n" +
			"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4514.05 MiB on device 0: cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 4733328896\n", "attention_scores", "--image-max-tokens=1024"},
		{"vLLM: a worker's step, whose result is called after the sampler", "non-default args: {'model': '/m', 'gpu_memory_utilization': 0.98}\nGraph capturing finished in 39 secs, took 1.94 GiB\n" + stackOf(full("3.50 GiB", "139.81", "2.24 GiB", "132.08"), "vllm/engine/llm_engine.py|step|outputs = self.model_executor.execute_model(",
			"vllm/spec_decode/spec_decode_worker.py|_run_no_spec|sampler_output = self.scorer_worker.execute_model(execute_model_req)", "vllm/model_executor/models/deepseek_v2.py|forward|final_hidden_states = self.experts(", "vllm/model_executor/layers/fused_moe/fused_moe.py|fused_experts_impl|intermediate_cache3 = torch.empty((M, topk_ids.shape[1], w2.shape[1]),"), "engine_activation", "--gpu-memory-utilization=0.92"},
		{"vLLM: slots of a high rank that leave no cache", "INFO 10-21 08:13:02 [utils.py:233] non-default args: {'model': '/m', 'gpu_memory_utilization': 0.95, 'enable_lora': True, 'max_loras': 4, 'max_lora_rank': 256}\n(EngineCore_DP0 pid=9) ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n", "engine_share_too_small", "--max-lora-rank=64"},
		{"musubi-tuner: more blocks in host memory", "INFO:musubi_tuner.dataset.config_utils:[Dataset 0]\n  resolution: (480, 480)\n  batch_size: 1\n  enable_bucket: True\n    max_frames: 129\n$ accelerate launch src/musubi_tuner/wan_train_network.py --network_module networks.lora_wan --blocks_to_swap 20 --gradient_checkpointing\nWanModel: Block swap enabled. Swapping 20 blocks out of 40 blocks. Supports backward: True\n" +
			stackOf(full("784.00 MiB", "23.52", "739.56 MiB", "22.30"), "/w/src/musubi_tuner/hv_train_network.py|train|accelerator.backward(loss)", "/w/src/musubi_tuner/wan/modules/model.py|_forward|y = self.ffn((self.norm2(x).float() * (1 + e[4]) + e[3]).to(org_dtype))"), "activations", "--blocks_to_swap=30"},
		{"Megatron Core: scores of its own attention", "+ torchrun --nproc_per_node 8 pretrain_gpt.py --seq-length 8192 --micro-batch-size 2\n------------------------ arguments ------------------------\n  seq_length ...................................... 8192\n  transformer_impl ................................ local\n  use_flash_attn .................................. False\n" +
			stackOf(full("4.00 GiB", "79.25", "3.05 GiB", "74.54"), "/w/pretrain_gpt.py|<module>|pretrain(", "/w/megatron/core/transformer/attention.py|forward|core_attn_out = self.core_attention(", "/w/megatron/core/transformer/dot_product_attention.py|forward|attention_probs: Tensor = self.scale_mask_softmax(attention_scores, attention_mask)"), "attention_scores", "--transformer-impl=transformer_engine"},
		{"vLLM: slots for adapters", "Initializing a V1 LLM engine (v0.11.0) with config: model='/m', max_seq_len=4096\nnon-default args: {'model': '/m', 'max_loras': 32, 'max_lora_rank': 256}\n" +
			stackOf(full("440.00 MiB", "23.60", "204.00 MiB", "22.70"), "vllm/v1/engine/core.py|run_engine_core|engine_core = EngineCoreProc(", "vllm/lora/models.py|_create_lora_modules|from_layer(", "vllm/lora/layers.py|create_lora_weights|torch.zeros("), "states_too_big", "--max-loras=16"},
		{"vLLM: two images are profiled though one is the limit", "Initializing a V1 LLM engine (v0.9.2) with config: model='/m', max_seq_len=32768\nnon-default args: {'model': '/m', 'limit_mm_per_prompt': {'image': 1}, 'max_num_batched_tokens': 8192}\n" +
			stackOf(full("64.00 GiB", "79.11", "44.46 GiB", "33.41"), "vllm/v1/worker/gpu_worker.py|determine_available_memory|self.model_runner.profile_run()", "vllm/v1/worker/gpu_model_runner.py|profile_run|dummy_encoder_outputs = self.model.get_multimodal_embeddings(", "vllm/model_executor/models/moonvit.py|sdpa_attention|attn_output = F.scaled_dot_product_attention("), "attention_scores", "--max-num-batched-tokens=4096"},
		{"SGLang: a chunk of a prompt is no part of an image", "[2026-06-01 08:14:31] server_args=ServerArgs(model_path='/m', chunked_prefill_size=8192, mem_fraction_static=0.8)\n" +
			stackOf(full("9.53 GiB", "79.11", "7.02 GiB", "69.98"), "sglang/srt/managers/scheduler.py|event_loop_overlap|batch_result = self.run_batch(batch)", "sglang/srt/managers/mm_utils.py|_get_chunked_prefill_embedding|embedding_per_req = data_embedding_func(embedding_items_per_req)", "sglang/srt/models/kimi_vl.py|get_image_feature|image_features = self.vision_tower(pixel_values, image_grid_hws)", "sglang/srt/models/kimi_vl_moonvit.py|sdpa_attention|attn_output = F.scaled_dot_product_attention("), "attention_scores", "--mem-fraction-static=0.71"},
		{"an engine of TensorRT is built", "$ trtllm-build --checkpoint_dir ./ckpt --output_dir ./eng --max_num_tokens 65536\n[TRT] [E] IBuilder::buildSerializedNetwork: Error Code 1: Cuda Runtime (out of memory)\n", "engine_activation", "--max_num_tokens=32768"},

		{"SGLang's images on the card of its engine", "[2025-05-07 14:00:00] server_args=ServerArgs(model_path='/m/Qwen2.5-VL-7B', tp_size=1, mem_fraction_static=0.66)\n" +
			stackOf(full("38.00 MiB", "23.65", "39.44 MiB", "1.22"), "sglang/srt/managers/multimodal_processors/qwen_vl.py|_process_single_image_task|result = processor.__call__(text=[input_text], images=images", "transformers/image_processing_utils_fast.py|rescale_and_normalize|images = self.normalize(images.to(dtype=torch.float32), image_mean, image_std)"), "foreign_process", "--disable-fast-image-processor=True"},
		{"copies that vLLM's sampler makes of whole prompts' logits", "Initializing an LLM engine (v0.6.0) with config: model='/m/Qwen2-7B', max_seq_len=32768\nnon-default args: {'gpu_memory_utilization': 0.9}\n" +
			stackOf(full("12.76 GiB", "79.15", "4.31 GiB", "73.95"), "vllm/worker/model_runner.py|execute_model|output: SamplerOutput = self.model.sample(", "vllm/model_executor/layers/sampler.py|forward|logits = logits.to(torch.float)"), "logits", "--gpu-memory-utilization=0.3"},
		{"JAX beside another process", "2024-04-12 09:03:58.220461: E external/xla/xla/stream_executor/cuda/cuda_dnn.cc:445] Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED\n" +
			"2024-04-12 09:03:58.220512: E external/xla/xla/stream_executor/cuda/cuda_dnn.cc:449] Memory usage: 61341696 bytes free, 25430786048 bytes total.\n" +
			stackOf("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 268435456 bytes.", "/home/u/train.py|<module>|model.learn(", "jax/_src/pjit.py|cache_miss|outs = _python_pjit_helper("), "foreign_process", "XLA_PYTHON_CLIENT_PREALLOCATE=false"},
		// trainers
		{"a replay buffer on the card", "Args(num_envs=4096, buffer_size=10240, batch_size=32768)\n" + stackOf(full("16.09 GiB", "23.62", "923.38 MiB", "22.10"), "/w/train.py|main|rb = SimpleReplayBuffer(", "/w/utils.py|__init__|self.next_observations = torch.zeros("), "unknown", "buffer_size=5120"},
		{"rollouts of environments that are simulated", "num_actors: 512\nhorizon_length: 64\nminibatch_size: 2048\nmixed_precision: false\n" + stackOf(full("6.75 GiB", "44.39", "4.21 GiB", "33.90"), "/w/train.py|main|runner.run({", "rl_games/common/a2c_common.py|play_steps|batch_dict = self.experience_buffer.get_transformed_list(swap_and_flatten01, self.tensor_list)",
			"rl_games/common/a2c_common.py|swap_and_flatten01|return arr.transpose(0, 1).reshape(s[0] * s[1], *s[2:])"), "unknown", "num_actors=256"},
		{"a checkpoint of FSDP whose tensors did not fit, told by a warning", "/opt/lib/python3.10/site-packages/torch/distributed/fsdp/_state_dict_utils.py:312: UserWarning: Failed to clone() tensor with name lm_head.weight on rank 1. This may mean that this state_dict entry could point to invalid memory regions after returning from state_dict() call if this parameter is managed by FSDP. Please check clone implementation of lm_head.weight. Error: CUDA out of memory. Tried to allocate 270.00 MiB (GPU 1; 79.35 GiB total capacity; 76.93 GiB already allocated; 72.19 MiB free; 77.38 GiB reserved in total by PyTorch)\n", "checkpoint_gather", "fsdp_state_dict_type=SHARDED_STATE_DICT"},
		{"Megatron of 2021 has other switches", "------------------------ arguments ------------------------\n  checkpoint_activations .......................... False\n  hidden_size ..................................... 1920\n  micro_batch_size ................................ 8\n  num_attention_heads ............................. 20\n  seq_length ...................................... 1024\n  tensor_model_parallel_size ...................... 2\n-------------------- end of arguments ---------------------\n" +
			stackOf("RuntimeError: CUDA out of memory. Tried to allocate 160.00 MiB (GPU 3; 31.75 GiB total capacity; 29.90 GiB already allocated; 98.50 MiB free; 30.31 GiB reserved in total by PyTorch)", "/w/megatron/training.py|train_step|loss, loss_reduced = forward_step_func(data_iterator, model)", "/w/megatron/model/transformer.py|forward|attention_probs = self.scale_mask_softmax(attention_scores, attention_mask)"), "attention_scores", "--checkpoint-activations=True"},
		{"Trainer passes no foreach", stackOf(full("130.00 MiB", "94.99", "1.19 MiB", "92.43"), "/home/u/sft.py|<module>|trainer.train()", "transformers/trainer.py|_inner_training_loop|self.optimizer.step()", "torch/optim/adamw.py|_multi_tensor_adamw|exp_avg_sq_sqrt = torch._foreach_sqrt(device_exp_avg_sqs)"), "optimizer_first_step", "--optim=adamw_torch_fused"},
		{"a script that decodes all frames at once", stackOf(full("3.94 GiB", "23.99", "1.00 GiB", "17.76"), "/w/scripts/sample.py|sample|samples_x = model.decode_first_stage(samples_z)", "torch/utils/_contextlib.py|decorate_context|return func(*args, **kwargs)", "/w/sgm/models/autoencoder.py|decode|x = self.decoder(z, **kwargs)", "/w/sgm/modules/model.py|nonlinearity|return x * torch.sigmoid(x)") +
			"$ grep -n int scripts/sample.py\n32:    decoding_t: int = 14,\n", "activations", "decoding_t=7"},
		{"modules that are trained whole beside adapters", "==((====))==  Unsloth 2025.9.9: Fast Gemma3N patching. Transformers: 4.56.2.\nmodel_name = \"unsloth/gemma-3n-E2B-it\",\n\\        /    Data Parallel GPUs = 1 | Total batch size (1 x 8 x 1) = 8\n \"-____-\"     Trainable parameters = 1,361,753,856 of 5,661,833,328 (24.05% trained)\n" +
			stackOf(full("2.00 GiB", "14.74", "1.19 GiB", "13.06"), "/home/u/train.py|<module>|trainer_stats = trainer.train()", "transformers/trainer.py|train|return inner_training_loop(", "accelerate/accelerator.py|backward|self.scaler.scale(loss).backward(**kwargs)"), "states_too_big", "modules_to_save=None"},
		{"the whole network of a diffusion model", "$ accelerate launch train_text_to_image_sdxl.py --pretrained_model_name_or_path=stabilityai/stable-diffusion-xl-base-1.0 --train_batch_size=1 --gradient_checkpointing --use_8bit_adam --resolution=512 --mixed_precision=fp16\n" +
			stackOf(full("50.00 MiB", "15.77", "29.31 MiB", "15.27"), "/w/examples/text_to_image/train_text_to_image_sdxl.py|main|accelerator.backward(loss)", "accelerate/accelerator.py|backward|self.scaler.scale(loss).backward(**kwargs)"), "states_too_big", "train_text_to_image_lora_sdxl.py=train_text_to_image_lora_sdxl.py"},
		{"8-bit moments of a whole network do not fit either", "$ accelerate launch sdxl_train.py --pretrained_model_name_or_path=/m/sd_xl_base_1.0.safetensors --train_batch_size=1 --gradient_checkpointing --optimizer_type=AdamW --mixed_precision=bf16\nnumber of trainable parameters: 2567463684\n" +
			stackOf(full("50.00 MiB", "23.65", "30.72 MiB", "22.83"), "/w/sd-scripts/sdxl_train.py|train|optimizer.step()", "torch/optim/adamw.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like("), "states_too_big", "--optimizer_type=Adafactor"},
		{"each rank unpacks a checkpoint of four bits", "$ llamafactory-cli train sft.yaml\nmodel_name_or_path: /m/gpt-oss-20b\nfinetuning_type: lora\nper_device_train_batch_size: 1\ndeepspeed: ds_z3_config.json\n" +
			stackOf(full("1012.50 MiB", "23.69", "571.69 MiB", "22.58"), "/w/src/llamafactory/model/loader.py|load_model|model = load_class.from_pretrained(**init_kwargs)", "transformers/quantizers/quantizer_mxfp4.py|create_quantized_param|dequantize(module, param_name, param_value, target_device)", "transformers/integrations/mxfp4.py|convert_moe_packed_tensors|out = torch.empty(rows_total, B * 2, dtype=dtype)"), "states_too_big", "model_name_or_path=<one in BF16, such as unsloth/gpt-oss-20b-BF16>"},
		{"the worker that rolls out built the trainer's model first", "+ python3 -m recipe.fully_async_policy.fully_async_main data.train_batch_size=0 actor_rollout_ref.actor.strategy=fsdp2 actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.gpu_memory_utilization=0.8\n" +
			"(DetachAsyncRolloutWorker pid=41877) After rollout FSDP init, memory allocated (GB): 11.50, memory reserved (GB): 15.42, device memory used/total (GB): 17.31/79.11\n" +
			"(DetachAsyncRolloutWorker pid=41877) ERROR:2025-11-20 19:41:44,802:vLLMAsyncRollout _loop_forever error: Free memory on device (61.80/79.11 GiB) on startup is less than desired GPU memory utilization (0.8, 63.29 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.\n", "engine_share_too_large", "actor_rollout_ref.rollout.gpu_memory_utilization=0.75"},
		{"a metric of torchmetrics keeps the predictions of an epoch", stackOf(full("2.25 GiB", "11.91", "1.52 GiB", "9.60"), "/w/anomaly_module.py|validation_step_end|self.pixel_metrics(outputs[\"anomaly_maps\"].flatten(), outputs[\"mask\"].flatten().int())", "torchmetrics/classification/auroc.py|compute|preds = dim_zero_cat(self.preds)", "torchmetrics/utilities/data.py|dim_zero_cat|return torch.cat(x, dim=0)"), "leak_over_steps", "compute_on_cpu=True"},
		{"a large picture at its full size", stackOf("RuntimeError: CUDA out of memory. Tried to allocate 8.67 GiB (GPU 0; 23.70 GiB total capacity; 9.21 GiB already allocated; 4.45 GiB free; 17.61 GiB reserved in total by PyTorch)", "/w/mmseg/models/segmentors/encoder_decoder.py|inference|seg_logit = self.whole_inference(img, img_meta, rescale)", "/w/mmseg/models/segmentors/encoder_decoder.py|whole_inference|seg_logit = self.encode_decode(img, img_meta)", "/w/mmseg/models/backbones/unet.py|forward|x = enc(x)"), "fragmentation", "model.test_cfg=model.test_cfg = dict(mode='slide', crop_size=(512, 512), stride=(341, 341))"},
		{"a reward model needs its logits", "$ llamafactory-cli train rm.yaml\nstage: rm\nper_device_train_batch_size: 1\ncutoff_len: 4096\n" +
			stackOf(full("1.96 GiB", "14.74", "1.31 GiB", "11.90"), "/w/src/llamafactory/train/rm/workflow.py|run_rm|train_result = trainer.train(", "/w/src/llamafactory/train/rm/trainer.py|compute_loss|_, _, values = model(", "transformers/models/llama/modeling_llama.py|forward|logits = logits.float()"), "logits", "cutoff_len=2048"},
		{"layers recompute by default", "$ llamafactory-cli train sft.yaml\nstage: sft\nper_device_train_batch_size: 2\ncutoff_len: 8192\n" +
			stackOf(full("1.47 GiB", "23.69", "1.02 GiB", "20.30"), "/w/src/llamafactory/train/sft/workflow.py|run_sft|train_result = trainer.train(", "transformers/trainer.py|training_step|self.accelerator.backward(loss, **kwargs)", "torch/_tensor.py|backward|torch.autograd.backward("), "activations", "per_device_train_batch_size=1"},
		{"a trainer moves its model to the card, without an engine", "$ deepspeed --module openrlhf.cli.train_ppo --pretrain /m/actor --micro_train_batch_size 2 --micro_rollout_batch_size 4 --zero_stage 2 --bf16\n" +
			stackOf(full("112.00 MiB", "39.39", "14.00 MiB", "38.34"), "openrlhf/cli/train_ppo.py|train|strategy.prepare(", "deepspeed/runtime/engine.py|_configure_distributed_model|self.module.to(self.device)", "torch/nn/modules/module.py|_apply|param_applied = fn(param)"), "states_too_big", "--zero_stage=3"},
		{"OpenRLHF copies the logits to float32", "$ python3 -m openrlhf.cli.train_ppo_ray --pretrain /m/Qwen3-8B --micro_rollout_batch_size 32 --prompt_max_len 2048 --generate_max_len 8192 --bf16\n\"vocab_size\": 151936\n" +
			stackOf(full("60.41 GiB", "79.11", "58.02 GiB", "18.93"), "/w/openrlhf/trainer/ray/launcher.py|forward|log_probs = self.model(", "/w/openrlhf/models/actor.py|forward|output = self.model(sequences, attention_mask=foward_attention_mask, position_ids=position_ids)", "transformers/models/qwen3/modeling_qwen3.py|forward|logits = self.lm_head(hidden_states[:, slice_indices, :])", "torch/nn/modules/linear.py|forward|return F.linear(input, self.weight, self.bias)"), "logits", "--micro_rollout_batch_size=8"},
		{"the buffer of all gradients", "$ torchrun pretrain_gpt.py --tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 --micro-batch-size 1 --seq-length 2048\n" +
			stackOf(full("25.10 GiB", "39.39", "24.21 GiB", "12.60"), "/w/megatron/training/training.py|get_model|DDP(", "/w/megatron/core/distributed/param_and_grad_buffer.py|__init__|self.grad_data = torch.zeros("), "states_too_big", "--pipeline-model-parallel-size=2"},
		{"accelerate wraps nothing", "distributed_type: FSDP\nfsdp_config:\n  fsdp_auto_wrap_policy: NO_WRAP\n  fsdp_sharding_strategy: FULL_SHARD\nnum_processes: 8\n" +
			stackOf(full("25.10 GiB", "44.32", "18.30 GiB", "25.30"), "/w/train.py|main|outputs = model(**batch)", "torch/distributed/fsdp/_flat_param.py|_alloc_padded_unsharded_flat_param|_alloc_storage(unsharded_flat_param, flat_param._padded_unsharded_size)"), "not_sharded", "fsdp_config.fsdp_auto_wrap_policy=TRANSFORMER_BASED_WRAP"},
		{"gradients stay whole under no_sync", "$ accelerate launch --num_processes 8 ft.py --model_name_or_path meta-llama/Llama-2-70b-hf --per_device_train_batch_size 1 --gradient_accumulation_steps 4\nDistributed environment: DistributedType.FSDP  Backend: nccl\n" +
			stackOf(full("1.70 GiB", "79.15", "1.20 GiB", "76.02"), "transformers/trainer.py|training_step|self.accelerator.backward(loss, **kwargs)", "accelerate/accelerator.py|backward|loss.backward(**kwargs)", "torch/distributed/fsdp/_flat_param.py|_alloc_padded_unsharded_flat_param|_alloc_storage("), "not_sharded", `--accelerator_config={"gradient_accumulation_kwargs": {"sync_each_batch": true}}`},
		{"gradients that ROLL adds up whole", "pretrain: Qwen/Qwen2.5-14B\nactor_train:\n  training_args:\n    per_device_train_batch_size: 1\n    gradient_accumulation_steps: 32\n  strategy_args:\n    strategy_name: fsdp2_train\n    strategy_config:\n      reduce_scatter_during_grad_accumulation: false\n" +
			stackOf(full("270.00 MiB", "79.11", "134.00 MiB", "76.48"), "/w/ROLL/roll/distributed/strategy/fsdp2_strategy.py|train_step|loss.backward()", "torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py|post_backward|fsdp_param.to_accumulated_grad_if_needed()", "torch/distributed/fsdp/_fully_shard/_fsdp_param.py|to_accumulated_grad_if_needed|self.unsharded_accumulated_grad = unsharded_grad.to(self.reduce_dtype)"), "not_sharded", "actor_train.strategy_args.strategy_config.reduce_scatter_during_grad_accumulation=true"},
		{"a vision tower with a switch of its own", "[INFO:swift] swift.__version__: 4.4.2\n[INFO:swift] args: SftArguments(freeze_vit=True, gradient_checkpointing=True, per_device_train_batch_size=8, vit_gradient_checkpointing=False)\n" +
			stackOf(full("918.00 MiB", "79.11", "582.00 MiB", "77.17"), "swift/trainers/seq2seq_trainer.py|compute_loss|outputs = model(**inputs)", "transformers/models/qwen3_vl/modeling_qwen3_vl.py|forward|hidden_states = self.mlp(self.norm2(hidden_states))"), "activations", "--vit_gradient_checkpointing=true"},
		{"a token budget that is the server's longest sequence", "from trl.experimental.async_grpo import AsyncGRPOConfig, AsyncGRPOTrainer\n    per_device_train_batch_size=8,\n07/21/2026 09:05:34 - INFO - trl.experimental.async_grpo.async_grpo_trainer - token_budget unset; defaulting to vLLM max_model_len=262144\n" +
			stackOf(full("7.69 GiB", "79.19", "4.07 GiB", "73.82"), "transformers/trainer.py|training_step|loss = self.compute_loss(model, inputs)", "trl/experimental/async_grpo/async_grpo_trainer.py|compute_loss|outputs = model(", "trl/trainer/utils.py|forward|x_sum_exp = x_sum_exp * rescale + (chunk_exp * logits_chunk).sum(dim=-1)"), "logits", "token_budget=65536"},
		{"a whole batch at once in JAX, beyond any unified memory", "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0d8f6b1c-61c3-77a4-2b0c-8f2f3f6f4a19)\nINFO - tx: Backend config: tensor_parallel_size=1 train_micro_batch_size=0 gradient_checkpointing=False\n" +
			"jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2790973767680 bytes.\n", "activations", "train_micro_batch_size=8"},
		{"answers that wait for their group", "$ cat configs/orchestrator.toml\nbatch_size = 256\noversampling_factor = 4.0\ngroup_size = 32\n[student.model]\nname = \"m\"\n17:02:14    INFO Initializing student inference pool (base_url=http://i:8000/v1, model=Qwen/Qwen3-0.6B)\n" +
			rising("[watch] step %d Mem: total 64 used %d free 9 shared 9 buff/cache 31 available %d\n02:14:07    INFO Train batch 31/256 (12.1%%) (+96 buffered) | 1024 inflight rollouts (train=1024, eval=0)\n") + kill, "leak_over_steps", "oversampling_factor=1.0"},
		{"one loader that prepares a whole data set", "+ python3 -m verl.trainer.main config=examples/config.yaml data.val_batch_size=-1 data.rollout_batch_size=128 worker.actor.offload.offload_optimizer=true\n" + fmt.Sprintf(ray, "40312\t306.41\tpt_data_worker\n39120\t22.71\tray::WorkerDict\n39455\t22.66\tray::WorkerDict"), "loader_workers", "data.val_batch_size=128"},
		{"a switch of its time", "$ python src/train_bash.py --stage sft --model_name_or_path /m/Meta-Llama-3-8B-Instruct --finetuning_type lora --per_device_train_batch_size 1 --cutoff_len 8000\n[INFO|trainer.py:1983] 2024-04-22 15:21:18,655 >> ***** Running training *****\n" +
			stackOf(full("7.63 GiB", "39.39", "5.66 GiB", "32.64"), "/w/src/llmtuner/train/sft/workflow.py|run_sft|train_result = trainer.train(", "transformers/trainer.py|training_step|loss = self.compute_loss(model, inputs)", "transformers/models/llama/modeling_llama.py|forward|attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32)"), "attention_scores", "--flash_attn=True"},
		{"and of another", "$ llamafactory-cli train sft.yaml\nstage: sft\nper_device_train_batch_size: 1\ncutoff_len: 8000\n[INFO|trainer.py:1983] 2025-04-22 15:21:18,655 >> ***** Running training *****\n" +
			stackOf(full("7.63 GiB", "39.39", "5.66 GiB", "32.64"), "/w/src/llamafactory/train/sft/workflow.py|run_sft|train_result = trainer.train(", "transformers/trainer.py|training_step|loss = self.compute_loss(model, inputs)", "transformers/models/llama/modeling_llama.py|forward|attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32)"), "attention_scores", "flash_attn=fa2"},
		{"DeepSpeed's copy of the weights", "[INFO|2025-03-11 10:12:01] llamafactory.hparams.parser:401 >> Process rank: 0, world size: 4, device: cuda:0\nmodel_name_or_path: Qwen/Qwen2.5-14B-Instruct\nfinetuning_type: full\ndeepspeed: examples/deepspeed/ds_z2_config.json\n" +
			stackOf(full("13.76 GiB", "79.11", "9.20 GiB", "68.90"), "/w/src/llamafactory/train/sft/workflow.py|run_sft|train_result = trainer.train(", "deepspeed/__init__.py|initialize|engine = DeepSpeedEngine(args=args,", "deepspeed/runtime/zero/stage_1_and_2.py|__init__|self.single_partition_of_fp32_groups.append(weights.clone().float().detach())"), "states_too_big", "deepspeed=examples/deepspeed/ds_z3_config.json"},
		{"DeepSpeed's copy of the weights beside a reserve, before Adam's states", "[INFO|2025-03-11 10:12:01] llamafactory.hparams.parser:401 >> Process rank: 0, world size: 4, device: cuda:0\nmodel_name_or_path: Qwen/Qwen2.5-7B-Instruct\nfinetuning_type: full\ndeepspeed: examples/deepspeed/ds_z2_config.json\n" +
			stackOf(strings.ReplaceAll(full("7.09 GiB", "23.64", "6.01 GiB", "14.29"), "300.00 MiB is reserved", "2.90 GiB is reserved"), "/w/src/llamafactory/train/sft/workflow.py|run_sft|train_result = trainer.train(", "deepspeed/__init__.py|initialize|engine = DeepSpeedEngine(args=args,", "deepspeed/runtime/zero/stage_1_and_2.py|__init__|self.single_partition_of_fp32_groups.append(weights.clone().float().detach())"), "states_too_big", "deepspeed=examples/deepspeed/ds_z3_config.json"},
		{"the actor is no stranger on the reference model's card", "+ python3 -m openrlhf.cli.train_ppo_ray --colocate_actor_ref --pretrain OpenRLHF/Llama-3-8b-sft-mixture --micro_rollout_batch_size 32 --prompt_max_len 1024 --generate_max_len 1024 --actor_num_gpus_per_node 4\n" +
			stackOf(strings.Replace(full("31.30 GiB", "79.25", "12.82 GiB", "39.97"), "is free. Of", "is free. Process 211873 has 24.61 GiB memory in use. Including non-PyTorch memory, this process has 41.82 GiB memory in use. Of", 1), "openrlhf/trainer/ray/launcher.py|forward|log_probs = self.model(", "openrlhf/models/utils.py|log_probs_from_logits|log_probs = F.log_softmax(logits, dim=-1)", "torch/nn/functional.py|log_softmax|ret = input.log_softmax(dim)"), "logits", "--micro_rollout_batch_size=8"},
		{"one rank of FSDP reads what all of them offload", "fsdp_version: 2\nfsdp_config:\n  offload_params: true\n  cpu_ram_efficient_loading: true\nadapter: lora\nmicro_batch_size: 1\nbase_model: Qwen/Qwen2.5-32B-Instruct\nLoading checkpoint shards:  94%|#########4| 16/17 [01:23<00:05,  5.20s/it]\n" + kill, "host_offload", "fsdp_config.offload_params=false"},
		{"scaled_dot_product_attention asks for all scores of six images", stackOf(full("30.18 GiB", "39.39", "22.54 GiB", "16.02"), "transformers/generation/utils.py|generate|result = self._sample(", "transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|image_embeds = self.visual(pixel_values, grid_thw=image_grid_thw)", "transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|attn_output = F.scaled_dot_product_attention(q, k, v, attention_mask, dropout_p=0.0)"), "attention_scores", "attn_implementation=flash_attention_2"},
		{"on a card that FlashAttention 2 may not support", stackOf(full("20.18 GiB", "31.73", "14.54 GiB", "16.02"), "transformers/generation/utils.py|generate|result = self._sample(", "transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|image_embeds = self.visual(pixel_values, grid_thw=image_grid_thw)", "transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|attn_output = F.scaled_dot_product_attention(q, k, v, attention_mask, dropout_p=0.0)"), "attention_scores", "max_pixels=1003520"},
		{"a video has frames", stackOf(full("20.18 GiB", "31.73", "14.54 GiB", "16.02"), "transformers/generation/utils.py|generate|result = self._sample(", "transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py|forward|video_embeds = self.visual(pixel_values_videos, grid_thw=video_grid_thw)", "transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py|forward|attn_output = F.scaled_dot_product_attention(q, k, v, attention_mask, dropout_p=0.0)"), "attention_scores", "fps=1.0"},
		{"vLLM's V1 makes a log-softmax in float32 of a prompt's logits", "Initializing a V1 LLM engine (v0.11.0) with config: model='meta-llama/Llama-3.1-8B-Instruct', max_seq_len=16384\nnon-default args: {'model': 'meta-llama/Llama-3.1-8B-Instruct', 'gpu_memory_utilization': 0.95, 'max_num_batched_tokens': 8192}\n" +
			stackOf(full("1.96 GiB", "39.38", "1.86 GiB", "36.55"), "vllm/v1/engine/core.py|run_engine_core|engine_core.run_busy_loop()", "vllm/v1/worker/gpu_model_runner.py|execute_model|prompt_logprobs_dict = self._get_prompt_logprobs_dict(", "vllm/v1/worker/gpu_model_runner.py|_get_prompt_logprobs_dict|logits = self.model.compute_logits(prompt_hidden_states)", "vllm/model_executor/layers/logits_processor.py|_get_logits|logits = lm_head.quant_method.apply(lm_head,"), "engine_activation", "--gpu-memory-utilization=0.79"},
		{"the log-softmax of one sample says nothing of the batch", "+ accelerate launch dpo.py --model_name_or_path mistralai/Mistral-7B-Instruct-v0.3 --per_device_train_batch_size 2 --gradient_accumulation_steps 8 --max_length 4096 --gradient_checkpointing True\n" +
			stackOf(full("256.00 MiB", "79.25", "185.94 MiB", "76.90"), "trl/trainer/dpo_trainer.py|concatenated_forward|per_token_logps = selective_log_softmax(logits, labels)", "trl/trainer/utils.py|selective_log_softmax|row_logps = F.log_softmax(row_logits, dim=-1)"), "activations", "--per_device_train_batch_size=1"},
		{"the call that makes TRL's arguments does not put the engine to sleep", "GRPOConfig(output_dir='o', per_device_train_batch_size=8, num_generations=8, max_completion_length=2048, use_vllm=True, vllm_mode='colocate', vllm_gpu_memory_utilization=0.9, gradient_checkpointing=True)\n" +
			stackOf(full("4.64 GiB", "79.25", "1.90 GiB", "76.20"), "trl/trainer/grpo_trainer.py|_compute_loss|per_token_logps = self._get_per_token_logps(model, input_ids, attention_mask, logits_to_keep)", "trl/trainer/grpo_trainer.py|_get_per_token_logps|logits = model(input_ids=input_ids_batch, logits_to_keep=logits_to_keep + 1).logits"), "engine_share_too_large", "vllm_enable_sleep_mode=true"},
		{"one rank's experts, by the other ranks' readings", "[Rank 0] (after 2 iterations) memory (MB) | allocated: 21020.1 | max allocated: 48102.2 | reserved: 49902.2 | max reserved: 49902.2\n[Rank 3] (after 2 iterations) memory (MB) | allocated: 21020.1 | max allocated: 49011.0 | reserved: 50811.0 | max reserved: 50811.0\n" +
			"[Rank 5] (after 2 iterations) memory (MB) | allocated: 21020.1 | max allocated: 70310.5 | reserved: 72110.5 | max reserved: 72110.5\n" +
			"[rank5]: " + strings.ReplaceAll(strings.TrimSpace(stackOf(full("588.00 MiB", "79.11", "301.00 MiB", "77.00"), "/opt/Megatron-LM/megatron/training/training.py|train_step|losses_reduced = forward_backward_func(", "/opt/Megatron-LM/megatron/core/pipeline_parallel/schedules.py|forward_step|output_tensor, loss_func = forward_step_func(", "/opt/Megatron-LM/megatron/core/transformer/moe/experts.py|forward|intermediate = self.linear_fc1(")), "\n", "\n[rank5]: ") + "\n", "moe_imbalance", "--recompute-granularity=full"},
		{"an engine wakes on a card whose size only its share tells", "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=/m/Qwen3-8B actor_rollout_ref.actor.strategy=fsdp actor_rollout_ref.actor.fsdp_config.optimizer_offload=False actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.gpu_memory_utilization=0.8 trainer.n_gpus_per_node=4 trainer.nnodes=1\n" +
			"(WorkerDict pid=31877) Qwen3ForCausalLM contains 8.19B parameters\n(WorkerDict pid=31877) INFO 11-14 09:40:01 [gpu_worker.py:116] Sleep mode freed 61.49 GiB memory, 10.87 GiB memory is still in use.\n" +
			stackOf("RuntimeError: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62", "/o/verl/workers/fsdp_workers.py|rollout_mode|await self.rollout.resume(tags=[\"kv_cache\"])", "vllm/device_allocator/cumem.py|wake_up|create_and_map(handle)"), "engine_share_too_large", "actor_rollout_ref.rollout.gpu_memory_utilization=0.6"},
		{"an engine wakes beside what DeepSpeed's actor holds", "+ nvidia-smi -L\nGPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-11e7b0d4-8c35-2f9b-6a1d-95c2f7e0a483)\n+ ray job submit -- python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 1 --actor_num_gpus_per_node 4 --vllm_num_engines 4 --colocate_all_models --vllm_enable_sleep --vllm_gpu_memory_utilization 0.8 --pretrain Qwen/Qwen3-8B --zero_stage 3\n(LLMRayActor pid=118204) INFO 07-02 19:40:13 [core.py:70] Initializing a V1 LLM engine (v0.9.1) with config: model='Qwen/Qwen3-8B', dtype=torch.bfloat16, max_seq_len=4096\n(LLMRayActor pid=118204) INFO 07-02 19:41:36 [gpu_worker.py:98] Sleep mode freed 61.37 GiB memory, 2.02 GiB memory is still in use.\n" +
			"(PolicyModelActor pid=119380) [2025-07-02 19:43:12,640] [INFO] [utils.py:781:see_memory_usage] After initializing ZeRO optimizer\n(PolicyModelActor pid=119380) [2025-07-02 19:43:12,641] [INFO] [utils.py:782:see_memory_usage] MA 31.48 GB         Max_MA 31.95 GB         CA 34.83 GB         Max_CA 35 GB \n" +
			stackOf("RuntimeError: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62", "/openrlhf/openrlhf/trainer/ray/vllm_engine.py|wake_up|self.llm.wake_up()", "vllm/v1/worker/gpu_worker.py|wake_up|allocator.wake_up(tags)", "vllm/device_allocator/cumem.py|create_and_map|python_create_and_map(*allocation_handle)"), "engine_share_too_large", "--vllm_gpu_memory_utilization=0.45"},
		{"an engine wakes beside an actor and a reference model, on a card that only its share tells", "+ ray job submit -- python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 1 --actor_num_gpus_per_node 4 --ref_num_nodes 1 --ref_num_gpus_per_node 4 --init_kl_coef 0.001 --vllm_num_engines 4 --colocate_all_models --vllm_enable_sleep --vllm_gpu_memory_utilization 0.7 --pretrain Qwen/Qwen3-8B --zero_stage 3\n(LLMRayActor pid=118204) INFO 07-02 19:40:13 [core.py:70] Initializing a V1 LLM engine (v0.9.1) with config: model='Qwen/Qwen3-8B', dtype=torch.bfloat16, max_seq_len=4096\n(LLMRayActor pid=118204) INFO 07-02 19:41:36 [gpu_worker.py:98] Sleep mode freed 54.05 GiB memory, 2.02 GiB memory is still in use.\n" +
			"(PolicyModelActor pid=119380) [2025-07-02 19:43:12,640] [INFO] [utils.py:781:see_memory_usage] After initializing ZeRO optimizer\n(PolicyModelActor pid=119380) [2025-07-02 19:43:12,641] [INFO] [utils.py:782:see_memory_usage] MA 31.48 GB         Max_MA 31.95 GB         CA 34.83 GB         Max_CA 35 GB \n" +
			stackOf("RuntimeError: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62", "/openrlhf/openrlhf/trainer/ray/vllm_engine.py|wake_up|self.llm.wake_up()", "vllm/v1/worker/gpu_worker.py|wake_up|allocator.wake_up(tags)", "vllm/device_allocator/cumem.py|create_and_map|python_create_and_map(*allocation_handle)"), "engine_share_too_large", "--vllm_gpu_memory_utilization=0.41"},
		{"an engine wakes on a card that nvidia-smi showed", "$ nvidia-smi --query-gpu=index,name,memory.total,memory.used,memory.free --format=csv\nindex, name, memory.total [MiB], memory.used [MiB], memory.free [MiB]\n0, NVIDIA H800, 81559 MiB, 43962 MiB, 37049 MiB\n+ python3 -m openrlhf.cli.train_ppo_ray --pretrain Qwen/Qwen2.5-7B-Instruct --vllm_gpu_memory_utilization 0.7 --colocate_all_models --vllm_enable_sleep\n" +
			stackOf("RuntimeError: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62", "/o/openrlhf/trainer/ray/vllm_engine.py|wake_up|self.llm.wake_up()", "vllm/device_allocator/cumem.py|wake_up|create_and_map(handle)"), "engine_share_too_large", "--vllm_gpu_memory_utilization=0.41"},

		// quantizers
		{"AutoGPTQ keeps its samples on the card", stackOf(full("44.00 MiB", "23.64", "31.75 MiB", "22.37"), "/home/u/quant.py|<module>|model.quantize(examples, batch_size=1)", "auto_gptq/modeling/_base.py|quantize|layer_output = move_to_device(", "transformers/models/llama/modeling_llama.py|forward|down_proj = self.down_proj("), "activations", "cache_examples_on_gpu=False"},
		{"what AutoGPTQ made generates", stackOf(full("44.00 MiB", "23.64", "31.75 MiB", "22.37"), "/home/u/chat.py|<module>|model.generate(**inputs)", "auto_gptq/modeling/_base.py|generate|return self.model.generate(**kwargs)", "transformers/generation/utils.py|_sample|outputs = self(", "transformers/models/llama/modeling_llama.py|forward|down_proj = self.down_proj("), "unknown", "none"},
		{"AutoAWQ runs all samples at once", stackOf(full("8.00 GiB", "23.64", "3.75 GiB", "12.37"), "awq/models/base.py|quantize|self.quantizer.quantize()", "awq/quantize/quantizer.py|_get_input_feat|self.inps = self._module_forward(", "transformers/models/qwen2/modeling_qwen2.py|forward|down_proj = self.down_proj("), "activations", "n_parallel_calib_samples=1"},
		{"and moves them all to the card, by the arguments of a script", "model.quantize(\n    tokenizer,\n    calib_data=load(),\n    n_parallel_calib_samples=1,\n    max_calib_samples=256,\n    max_calib_seq_len=4096,\n)\n" +
			stackOf(full("105.74 GiB", "79.15", "72.39 GiB", "5.61"), "awq/quantize/quantizer.py|quantize|scales_list = [", "awq/quantize/quantizer.py|_search_best_scale|inp = inp.to(next(module2inspect.parameters()).device)"), "activations", "max_calib_samples=128"},
		{"the Hessians of LLM Compressor", "$ python oneshot.py --num_calibration_samples 512 --max_seq_length 2048\n" + stackOf(full("3.26 GiB", "23.64", "1.10 GiB", "21.37"), "llmcompressor/entrypoints/oneshot.py|oneshot|one_shot()", "llmcompressor/pipelines/sequential/pipeline.py|__call__|subgraph.forward(model, **inputs)", "llmcompressor/modifiers/gptq/gptq_quantize.py|make_empty_hessian|return torch.zeros("), "activations", "offload_hessians=True"},
		{"a whole model beside GPTQModel's calibration", "Namespace(model='meta-llama/Llama-2-13b-hf', device_map='auto')\n" + stackOf(full("400.00 MiB", "39.39", "31.75 MiB", "37.37"), "gptqmodel/models/base.py|quantize|return module_looper.loop(", "gptqmodel/looper/module_looper.py|loop|self._loop_impl("), "states_too_big", "device_map=None"},
		{"AutoRound has features on the card", "$ auto-round --model /m --batch_size 8 --seqlen 2048\n" + stackOf(full("1.50 GiB", "23.64", "31.75 MiB", "22.37"), "auto_round/compressors/base.py|quantize_block|output_q = block_forward(", "torch/nn/modules/linear.py|forward|return F.linear("), "activations", "--low_gpu_mem_usage=True"},
		{"LLM Compressor keeps its samples in host memory", "$ python quant.py --model Qwen/Qwen3-14B --num_calibration_samples 2048 --max_seq_length 4096\n2025-12-11T10:02:47.1+0100 | initialize | INFO - Compression lifecycle initialized for 1 modifiers\n(1/41): Propagating:  62%|######    | 1290/2048 [00:55<00:32, 23.26it/s]\nKilled\n" + kill, "host_offload", "--num_calibration_samples=512"},

		// scripts of one's own
		{"many sequences are generated at once", stackOf("RuntimeError: CUDA out of memory. Tried to allocate 276.00 MiB (GPU 0; 14.76 GiB total capacity; 13.26 GiB already allocated; 187.75 MiB free; 13.72 GiB reserved in total by PyTorch)", "/home/u/gen.py|<module>|out = model.generate(ids, max_length=1024, num_return_sequences=n)",
			"transformers/generation_utils.py|sample|output_hidden_states=output_hidden_states,", "transformers/models/gpt2/modeling_gpt2.py|forward|value = torch.cat((past_value, value), dim=-2)"), "activations", "max_length=512"},
		{"a replay buffer is made at once", stackOf("MemoryError: Unable to allocate 315. GiB for an array with shape (10000, 100, 84480) and data type float32", "/home/u/ddpg.py|<module>|train()", "/home/u/rl/replay_buffer/base.py|_initialize_buffer|dtype=values.dtype)"), "limit_too_small", "replay_buffer_size"},
		{"a replay memory is made at once, without a figure", stackOf("MemoryError", "/home/u/main.py|<module>|mem = ReplayMemory(args.replay_size, args)", "/home/u/src/replay_memory.py|__init__|self.screens = np.empty((self.size, args.height, args.width), dtype = np.uint8)"), "limit_too_small", "replay_buffer_size"},
		{"fairseq's optimizer without a copy in 32 bits", "Namespace(arch='bart_large', fp16=True, memory_efficient_fp16=False, optimizer='adam', max_tokens=512)\nnum. model params: 406290432 (num. trained: 406290432)\n" +
			stackOf(full("1.51 GiB", "10.92", "1.32 GiB", "8.65"), "/h/fairseq/trainer.py|train_step|self.optimizer.step()", "/h/fairseq/optim/adam.py|step|denom = exp_avg_sq.sqrt().add_(group[\"eps\"])"), "optimizer_first_step", "memory_efficient_fp16=True"},
		{"a batch that a sampler cuts by tokens", "Namespace(batch_size=32, dynamic_batching=1, max_num_tokens=100000)\n" + stackOf(full("516.00 MiB", "79.15", "301.19 MiB", "76.91"), "/home/u/main.py|train|out = self.model(cur_batch)", "/home/u/models/transformer.py|_ff_block|x = self.linear2(self.dropout(self.activation(self.linear1(x))))"), "activations", "max_num_tokens=25000"},
		{"a model that accelerate put on one card, in training", "$ python tune.py --per_device_train_batch_size 64 --fp16\ntrainable params: 2,097,152 || all params: 7,002,656,768 || trainable%: 0.03\n" + stackOf(full("11.70 GiB", "79.15", "9.87 GiB", "67.52"), "transformers/trainer.py|training_step|loss = self.compute_loss(model, inputs)", "accelerate/hooks.py|new_forward|output = old_forward(*args, **kwargs)",
			"/c/modeling_baichuan.py|forward|loss = loss_fct(shift_logits, shift_labels)", "torch/nn/functional.py|cross_entropy|return torch._C._nn.cross_entropy_loss("), "logits", "--per_device_train_batch_size=16"},
		{"the ZeRO stage that DeepSpeed says", "$ deepspeed --num_gpus 8 train.py --deepspeed scripts/zero1.json --per_device_train_batch_size 1 --gradient_checkpointing\ntrainable params: 7,660,149,248 || all params: 8,292,166,656 || trainable%: 92.4\n[2026-04-11 09:34:51,410] [INFO] [logging.py:128:log_dist] [Rank 0] Creating torch.bfloat16 ZeRO stage 1 optimizer\n" +
			stackOf(full("130.00 MiB", "44.40", "62.31 MiB", "42.71"), "transformers/trainer.py|training_step|self.accelerator.backward(loss, **kwargs)", "deepspeed/runtime/engine.py|backward|self._do_optimizer_backward(loss, retain_graph)", "torch/autograd/graph.py|_engine_run_backward|return Variable._execution_engine.run_backward("), "states_too_big", "zero_optimization.stage=2"},
		{"logits cast before their log-softmax", "exp_name: q\nreference:\n  infer_batch_size: 8\n  strategy_args:\n    strategy_name: megatron_infer\n    strategy_config:\n      tensor_model_parallel_size: 1\nprompt_length: 2048\nresponse_length: 8192\npretrain: /m/Qwen2.5-7B\n" +
			stackOf(full("46.41 GiB", "79.11", "32.14 GiB", "38.17"), "/o/ROLL/roll/pipeline/base_worker.py|compute_log_probs|results = self.strategy.forward_step(", "/o/ROLL/roll/distributed/strategy/megatron_strategy.py|op_compute_log_probs|log_probs = vocab_parallel_logprobs(logits, labels)", "/o/ROLL/mcore_adapter/src/mcore_adapter/parallel_functions/vocab_parallel.py|forward|vocab_parallel_logits = vocab_parallel_logits.float()"), "logits", "reference.infer_batch_size=2"},
		{"logits of which the loss makes another copy", "batch_size = 32\nblock_size = 1024\nvocab_size = 50304\n" +
			stackOf(full("6.14 GiB", "15.78", "4.83 GiB", "10.16"), "/home/u/nanoGPT/train.py|<module>|losses = estimate_loss()", "/home/u/nanoGPT/model.py|forward|loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))", "torch/nn/functional.py|cross_entropy|return torch._C._nn.cross_entropy_loss("), "logits", "batch_size=8"},
		{"states of nanoGPT, which trains in float32", "number of parameters: 1555.97M\nusing fused AdamW: False\nbatch_size = 1\nblock_size = 1024\n" +
			stackOf(full("100.00 MiB", "23.68", "85.06 MiB", "21.67"), "/home/u/nanoGPT/train.py|<module>|logits, loss = model(X, Y)", "/home/u/nanoGPT/model.py|forward|x = block(x)"), "states_too_big", "optimizer=bitsandbytes.optim.AdamW8bit(model.parameters())"},
		{"torchtune's largest tensors, gathered with the rest", "Running LoRAFinetuneRecipeDistributed with resolved config:\n\nbatch_size: 1\nenable_activation_checkpointing: true\nmodel:\n  _component_: torchtune.models.llama3_1.lora_llama3_1_70b\ntokenizer:\n  max_seq_len: 512\n\n" +
			stackOf(full("1.96 GiB", "23.43", "210.06 MiB", "22.41"), "/v/site-packages/recipes/lora_finetune_distributed.py|train|logits = self._model(", "torch/distributed/_composable/fsdp/_fsdp_param_group.py|wait_for_unshard|foreach_all_gather_copy_out(", "torch/distributed/_composable/fsdp/_fsdp_param.py|init_all_gather_outputs|torch.empty(torch.Size([numel * world_size]), dtype=dtype, device=device)"), "allgather_window", "custom_sharded_layers=['tok_embeddings', 'output']"},
		{"an evaluation in JAX, whose process nvidia-smi lists", "Namespace(train_batch=2048, eval_batch=410624)\n" +
			stackOf("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 6.27GiB (6727663616B) on device ordinal 0", "/w/train_mlp.py|evaluate|pred = jax.vmap(model)(x)", "jax/_src/interpreters/pxla.py|__call__|results = self.xla_executable.execute_sharded(input_bufs)") +
			"|   0  Tesla V100-SXM2-16GB           On  | 00000000:00:1E.0 Off |                    0 |\n| N/A   51C    P0              61W / 300W |  15714MiB / 16384MiB |    100%      Default |\n|    0   N/A  N/A     41822      C   python train_mlp.py                       15710MiB |\n", "activations", "eval_batch=102656"},
		{"DataParallel over one card", "Namespace(batchsize=32, gpuids=[0])\n" + stackOf(full("314.00 MiB", "5.81", "188.19 MiB", "4.98"), "/home/u/train.py|run|out = net(data)", "torch/nn/parallel/data_parallel.py|forward|return self.module(*inputs[0], **kwargs[0])", "torch/nn/modules/pooling.py|forward|return F.max_pool2d(input, self.kernel_size, self.stride,"), "activations", "batchsize=8"},
		{"DataParallel over several cards", "Namespace(batchsize=32, gpuids=[0, 1])\n" + stackOf(full("314.00 MiB", "5.81", "188.19 MiB", "4.98"), "/home/u/train.py|run|out = net(data)", "torch/nn/parallel/data_parallel.py|forward|return self.gather(outputs, self.output_device)", "torch/nn/parallel/scatter_gather.py|gather|res = gather_map(outputs)"), "wrong_device", "CUDA_VISIBLE_DEVICES=0"},
		{"a model that a script calls once", stackOf(full("1024.00 MiB", "21.99", "441.38 MiB", "20.94"), "/home/u/sam.py|<module>|outputs = model(**inputs)", "transformers/models/sam/modeling_sam.py|forward|vision_outputs = self.vision_encoder(", "transformers/models/sam/modeling_sam.py|forward|attn_weights = self.add_decomposed_rel_pos("), "attention_scores", "torch.no_grad=with torch.no_grad(): ..."},
		{"a model that a script calls in training", "Namespace(learning_rate=1e-05, num_train_epochs=3)\n" + stackOf(full("1024.00 MiB", "21.99", "441.38 MiB", "20.94"), "/home/u/sam.py|<module>|outputs = model(**inputs)", "transformers/models/sam/modeling_sam.py|forward|vision_outputs = self.vision_encoder(", "transformers/models/sam/modeling_sam.py|forward|attn_weights = self.add_decomposed_rel_pos("), "attention_scores", "attn_implementation=flash_attention_2"},
		{"blocks of a node of ComfyUI that move to host memory", "ComfyUI version: 0.3.30\n" + stackOf("RuntimeError: CUDA error: out of memory", "/c/ComfyUI/execution.py|execute|output_data = get_output_data(obj)", "/c/ComfyUI/custom_nodes/ComfyUI-WanVideoWrapper/nodes.py|process|transformer.block_swap(", "/c/ComfyUI/custom_nodes/ComfyUI-WanVideoWrapper/wanvideo/modules/model.py|block_swap|block.to(self.offload_device, non_blocking=self.use_non_blocking)", "torch/nn/modules/module.py|convert|return t.to("), "host_offload", "use_non_blocking=False"},
		{"a killed loader worker, whose number is not in the log", stackOf("RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.", "torch/utils/data/dataloader.py|_try_get_data|data = self._data_queue.get(timeout=timeout)", "torch/utils/data/_utils/signal_handling.py|handler|_error_if_any_worker_fails()") + kill, "loader_workers", "num_workers=0"},
		{"a model that transformers made in float32", "$ trl sft --model_name_or_path Qwen/Qwen3-4B --per_device_train_batch_size 1\n  \"dtype\": \"bfloat16\",\n  \"transformers_version\": \"4.57.3\",\n[INFO|modeling_utils.py:2347] 2025-12-15 10:03:01,605 >> Instantiating Qwen3ForCausalLM model under default dtype torch.float32.\n[INFO|trainer.py:2528] 2025-12-15 10:07:10,535 >>   Number of trainable parameters = 4,022,468,096\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total capacity of 44.39 GiB of which 47.31 MiB is free. Including non-PyTorch memory, this process has 44.34 GiB memory in use. Of the allocated memory 43.75 GiB is allocated by PyTorch, and 21.49 MiB is reserved by PyTorch but unallocated.", "trl/scripts/sft.py|main|trainer.train()", "transformers/trainer.py|_inner_training_loop|self.optimizer.step()", "torch/optim/adam.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like("), "wrong_dtype", "dtype=bfloat16"},
		{"scores of a pair, whose failed pass has no frame of the model", "+ deepspeed --module openrlhf.cli.train_dpo --pretrain meta-llama/Meta-Llama-3-8B --max_len 8192 --micro_train_batch_size 1 --zero_stage 3 --bf16\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 16.00 GiB. GPU 5 has a total capacity of 79.15 GiB of which 4.66 GiB is free. Including non-PyTorch memory, this process has 74.48 GiB memory in use. Of the allocated memory 70.96 GiB is allocated by PyTorch, and 902.17 MiB is reserved by PyTorch but unallocated.", "/opt/OpenRLHF/openrlhf/trainer/dpo_trainer.py|fit|self.strategy.backward(loss, self.model, self.optimizer)", "torch/_tensor.py|backward|torch.autograd.backward(", "torch/autograd/graph.py|_engine_run_backward|return Variable._execution_engine.run_backward("), "attention_scores", "--flash_attn=True"},
		{"float32 states beside an engine in 16 bits", "$ accelerate launch --num_processes 1 train_rloo.py\nper_device_train_batch_size=4\n(EngineCore pid=9) INFO 02-18 10:21:38 [core.py:93] Initializing a V1 LLM engine (v0.12.0) with config: model='Qwen/Qwen3-4B', dtype=torch.bfloat16, max_seq_len=2048\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total capacity of 79.15 GiB of which 61.81 MiB is free. Including non-PyTorch memory, this process has 79.08 GiB memory in use. Of the allocated memory 77.91 GiB is allocated by PyTorch, and 121.49 MiB is reserved by PyTorch but unallocated.", "trl/trainer/rloo_trainer.py|train|trainer.train()", "transformers/trainer.py|_inner_training_loop|self.optimizer.step()", "torch/optim/adam.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like("), "wrong_dtype", "dtype=bfloat16"},
		{"and where nothing says how many GPUs there are", "$ python train_rloo.py\nper_device_train_batch_size=4\n(EngineCore pid=9) INFO 02-18 10:21:38 [core.py:93] Initializing a V1 LLM engine (v0.12.0) with config: model='Qwen/Qwen3-4B', dtype=torch.bfloat16, max_seq_len=2048\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total capacity of 79.15 GiB of which 61.81 MiB is free. Including non-PyTorch memory, this process has 79.08 GiB memory in use. Of the allocated memory 77.91 GiB is allocated by PyTorch, and 121.49 MiB is reserved by PyTorch but unallocated.", "trl/trainer/rloo_trainer.py|train|trainer.train()", "transformers/trainer.py|_inner_training_loop|self.optimizer.step()", "torch/optim/adam.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like("), "wrong_dtype", "dtype=bfloat16"},
		{"of weights that FSDP may keep in float32", "$ accelerate launch --num_processes 8 --use_fsdp --fsdp_version 2 train_rloo.py\nper_device_train_batch_size=4\n(EngineCore pid=9) INFO 02-18 10:21:38 [core.py:93] Initializing a V1 LLM engine (v0.12.0) with config: model='Qwen/Qwen3-4B', dtype=torch.bfloat16, max_seq_len=2048\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total capacity of 79.15 GiB of which 61.81 MiB is free. Including non-PyTorch memory, this process has 79.08 GiB memory in use. Of the allocated memory 77.91 GiB is allocated by PyTorch, and 121.49 MiB is reserved by PyTorch but unallocated.", "trl/trainer/rloo_trainer.py|train|trainer.train()", "transformers/trainer.py|_inner_training_loop|self.optimizer.step()", "torch/optim/adam.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like("), "optimizer_first_step", "optim=adamw_8bit"},
		{"8-bit states that leave no room for weights and gradients", "$ cat full.yml\nbase_model: Qwen/Qwen2.5-14B-Instruct\nmicro_batch_size: 1\noptimizer: adamw_torch_fused\nbf16: true\n$ accelerate launch --num_processes 1 -m axolotl.cli.train full.yml\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 136.00 MiB. GPU 0 has a total capacity of 79.25 GiB of which 96.81 MiB is free. Including non-PyTorch memory, this process has 79.15 GiB memory in use. Of the allocated memory 78.45 GiB is allocated by PyTorch, and 21.89 MiB is reserved by PyTorch but unallocated.", "axolotl/train.py|train|trainer.train()", "transformers/trainer.py|_inner_training_loop|self.optimizer.step()", "torch/optim/adamw.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like("), "states_too_big", "optimizer=paged_adamw_8bit"},
		{"a card that an earlier run's engine fills", "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.gpu_memory_utilization=0.6\n(WorkerDict pid=2231904) INFO:2026-04-09 18:21:20,931:Before init FSDP, memory allocated (GB): 0.00, memory reserved (GB): 0.00, device memory used/total (GB): 61.88/79.11\n" +
			"(EngineCore_DP0 pid=2236730) ERROR 04-09 18:22:41 [core.py:843] ValueError: Free memory on device (15.63/79.11 GiB) on startup is less than desired GPU memory utilization (0.6, 47.47 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.\n", "foreign_process", "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv"},
		{"the only loader worker, under a small limit", "#SBATCH --mem-per-cpu=4G\nNamespace(batch_size=16, num_workers=1)\n" + stackOf("RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.", "torch/utils/data/dataloader.py|_try_get_data|data = self._data_queue.get(timeout=timeout)", "torch/utils/data/_utils/signal_handling.py|handler|_error_if_any_worker_fails()") + "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1187733.0. Some of your processes may have been killed by the cgroup out-of-memory handler.\n", "loader_workers", "--mem-per-cpu=6G"},
		{"the workers in a call of Ultralytics", "model.train(data=data, batch=128, epochs=30,\n            weight_decay=0.025, workers=8, device='0,1')\n" + stackOf("RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.", "torch/utils/data/dataloader.py|_try_get_data|data = self._data_queue.get(timeout=timeout)", "torch/utils/data/_utils/signal_handling.py|handler|_error_if_any_worker_fails()") + kill, "loader_workers", "workers=2"},
		{"another array", stackOf("MemoryError: Unable to allocate 315. GiB for an array with shape (10000, 100, 84480) and data type float32", "/home/u/ddpg.py|<module>|train()", "/home/u/rl/images/base.py|load|dtype=values.dtype)"), "limit_too_small", "np.memmap=np.memmap(\"array.bin\", dtype=\"float32\", mode=\"w+\", shape=shape)"},
		{"Llama's cache", "Namespace(max_seq_len=1024, max_batch_size=32)\n" + stackOf(full("256.00 MiB", "23.60", "11.00 MiB", "23.10"), "/home/u/example.py|main|generator = load(", "/home/u/llama/model.py|__init__|self.attention = Attention(args)", "/home/u/llama/model.py|__init__|self.cache_k = torch.zeros("), "states_too_big", "max_batch_size=16"},
		{"a cache that a function makes", stackOf(full("256.00 MiB", "23.60", "11.00 MiB", "23.10"), "/home/u/gen.py|main|model.setup_caches(max_batch_size=8, max_seq_length=4096)", "/home/u/model.py|setup_caches|b.attention.kv_cache = KVCache(max_batch_size, max_seq_length)", "/home/u/model.py|__init__|self.register_buffer('k_cache', torch.zeros(cache_shape, dtype=dtype))"), "states_too_big", "max_batch_size"},
		{"blocks of a diffusion transformer", "$ accelerate launch flux_train_network.py --gradient_checkpointing --train_batch_size 1 --network_module networks.lora_flux\n" +
			stackOf(full("90.00 MiB", "23.64", "41.75 MiB", "23.19"), "/s/flux_train_network.py|<module>|trainer.train(args)", "/s/library/flux_models.py|forward|img, txt = block(img=img, txt=txt, vec=vec)"), "activations", "--blocks_to_swap=20"},
		{"an actor of one's own loads no model", strings.ReplaceAll(ray, "WorkerDict", "SimEnv"), "limit_too_small", "memory=760 GiB"},
		{"actors of one's own that load a model", "(TrainWorker pid=88120) Loading checkpoint shards:  50%|#####     | 7/14 [01:22<01:24, 12.07s/it]\nINFO - dtype=torch.float32 on cpu\n" + strings.ReplaceAll(fmt.Sprintf(ray, "5001\t58.11\tray::TrainWorker.run\n5002\t58.10\tray::TrainWorker.run\n5003\t58.02\tray::TrainWorker.run\n5004\t57.9\tray::TrainWorker.run\n5005\t57.9\tray::TrainWorker.run\n5006\t57.9\tray::TrainWorker.run\n5007\t57.9\tray::TrainWorker.run\n5008\t57.9\tray::TrainWorker.run"), "WorkerDict", "TrainWorker"), "host_load", "dtype=bfloat16"},
		{"many tasks of one function", strings.ReplaceAll(fmt.Sprintf(ray, "5001\t48.11\tray::embed\n5002\t48.10\tray::embed\n5003\t48.02\tray::embed\n5004\t47.9\tray::embed"), "WorkerDict", "embed"), "limit_too_small", "num_cpus=2"},
		{"a model in float32 in host memory", "Phi3Config {\n  \"hidden_size\": 3072,\n  \"model_type\": \"phi3\",\n  \"torch_dtype\": \"bfloat16\",\n  \"vocab_size\": 200064\n}\n\n" + stackOf("RuntimeError: [enforce fail at alloc_cpu.cpp:121] data. DefaultCPUAllocator: not enough memory: you tried to allocate 201326592 bytes.", "/home/u/infer.py|<module>|model = AutoModelForCausalLM.from_pretrained(", "transformers/modeling_utils.py|from_pretrained|) = cls._load_pretrained_model(", "transformers/modeling_utils.py|_load_state_dict_into_meta_model|param = param.to(casting_dtype)"), "host_load", "torch_dtype=bfloat16"},
		{"a type in the code of a script", stackOf(full("266.00 MiB", "47.40", "153.00 MiB", "46.80"), "/home/u/gen.py|<module>|model = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-2-13b-hf\", torch_dtype=torch.float32).to(\"cuda\")", weights, convert), "wrong_dtype", "torch_dtype=bfloat16"},
		{"16 bits in the code of a script", stackOf(full("131.40 GiB", "79.10", "78.50 GiB", "0.10"), "/home/u/gen.py|<module>|model = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-3.1-70B\", torch_dtype=torch.bfloat16, device_map=\"cuda:0\")", "transformers/modeling_utils.py|from_pretrained|) = cls._load_pretrained_model(", "transformers/modeling_utils.py|caching_allocator_warmup|_ = torch.empty("), "states_too_big", "device_map=auto"},
		{"a card's whole share in one piece", stackOf(full("15.15 GiB", "15.77", "14.87 GiB", "0.47"), "/home/u/gen.py|<module>|model = AutoModelForCausalLM.from_pretrained(\"facebook/opt-30b\", torch_dtype=torch.float16, device_map=\"auto\")", "transformers/modeling_utils.py|_load_pretrained_model|caching_allocator_warmup(model_to_load, expanded_device_map, factor=2)", "transformers/modeling_utils.py|caching_allocator_warmup|_ = torch.empty("), "states_too_big", "transformers=pip install -U 'transformers>=4.52'"},
		{"a batch in the code of a script", stackOf(full("8.00 GiB", "23.60", "3.00 GiB", "20.00"), "/home/u/embed.py|<module>|emb = model.encode(docs, batch_size=512)", "sentence_transformers/SentenceTransformer.py|encode|out_features = self.forward(features)", "transformers/models/bert/modeling_bert.py|forward|self.intermediate(attention_output)"), "activations", "batch_size=128"},
		{"graphs that hold much of the card already", "server_args=ServerArgs(model_path='Qwen/Qwen2.5-7B-Instruct', mem_fraction_static=0.8, cuda_graph_max_bs=256, tp_size=1)\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.10 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated memory 76.50 GiB is allocated by PyTorch, with 18.00 GiB allocated in private pools (e.g., CUDA Graphs), and 300.00 MiB is reserved by PyTorch but unallocated.",
				"/x/sglang/srt/model_executor/model_runner.py|init_cuda_graphs|self.cuda_graph_runner = CudaGraphRunner(self)", "/x/sglang/srt/model_executor/cuda_graph_runner.py|capture|) = self.capture_one_batch_size(bs, forward)"), "graph_capture", "--cuda-graph-max-bs=16"},
		{"graphs of an SGLang that has flags for each phase", "server_args=ServerArgs(model_path='Qwen/Qwen2.5-7B-Instruct', mem_fraction_static=0.8, cuda_graph_config=CudaGraphConfig(decode=PhaseConfig(backend='full', max_bs=256)), tp_size=1)\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.10 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated memory 76.50 GiB is allocated by PyTorch, with 18.00 GiB allocated in private pools (e.g., CUDA Graphs), and 300.00 MiB is reserved by PyTorch but unallocated.",
				"/x/sglang/srt/managers/scheduler.py|init_all_cuda_graphs|self.tp_worker.init_cuda_graphs()", "/x/sglang/srt/model_executor/runner/decode_cuda_graph_runner.py|capture|self.capture_one_shape(bs)"), "graph_capture", "--cuda-graph-max-bs-decode=16"},
		{"a request of JAX that is larger than the card", "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-0)\n" + stackOf("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 51868098560 bytes.", "/home/u/run.py|run_inference|result = self._model(rng_key, example)"), "activations", "TF_FORCE_UNIFIED_MEMORY=1"},
		{"a part of a pipeline has no room for its work", stackOf(full("40.00 MiB", "23.60", "20.00 MiB", "23.10"), "/home/u/run.py|<module>|image = pipe(prompt).images[0]", "diffusers/pipelines/flux/pipeline_flux.py|__call__|) = self.encode_prompt(", "diffusers/pipelines/flux/pipeline_flux.py|encode_prompt|self._get_t5_prompt_embeds(", "transformers/models/t5/modeling_t5.py|forward|hidden_states = self.wi_0(hidden_states)"), "states_too_big", "pipe.enable_model_cpu_offload()=True"},
		{"the web UI keeps one part on the card", "Launching Web UI with arguments: --xformers\n" + stackOf(full("2.50 GiB", "7.80", "1.10 GiB", "6.20"), "/data/stable-diffusion-webui/modules/processing.py|process_images_inner|samples_ddim = p.sample(", "/data/stable-diffusion-webui/modules/sd_samplers_kdiffusion.py|sample|self.launch_sampling(steps, lambda: self.func("), "activations", "--medvram=True"},

		{"an evaluation that keeps its graphs", strings.Repeat("TRAIN loss 1.9 | alloc 0.47G peak 7.7G\n", 5) + "VALID 1/676 | alloc 2.08G peak 2.4G\nVALID 2/676 | alloc 4.02G peak 4.3G\nVALID 3/676 | alloc 5.80G peak 6.1G\nVALID 4/676 | alloc 7.85G peak 8.2G\n" +
			stackOf(full("384.00 MiB", "10.75", "351.00 MiB", "9.93"), "/home/u/trainer.py|train|pred = model(src)", "torch/nn/modules/conv.py|_conv_forward|return F.conv2d("), "leak_over_steps", "torch.no_grad=with torch.no_grad(): ..."},
		{"a validation that keeps its windows' results on the card", "=> loading checkpoint './out/swin.pth'\n" + stackOf(full("2.70 GiB", "11.91", "2.31 GiB", "8.87"), "/home/u/mytest.py|main|validation(model, loader, args)", "/home/u/mytest.py|validation|pred = sliding_window_inference(image, roi, 1, model, overlap=0.5)", "/x/site-packages/monai/inferers/utils.py|sliding_window_inference|output_image_list.append(torch.zeros(output_shape, dtype=compute_dtype, device=device))"), "activations", `device=device=torch.device("cpu")`},
		{"a batch that a script writes in capitals", "BSZ = 64\n" + stackOf(full("16.39 GiB", "23.69", "12.91 GiB", "9.71"), "/home/u/eval/test_rec.py|<module>|ids = model.generate(**inputs, max_new_tokens=256)", "transformers/generation/utils.py|generate|result = self._sample(", "transformers/models/qwen2/modeling_qwen2.py|forward|logits = self.lm_head(hidden_states)"), "logits", "BSZ=32"},
		{"weights that are read several at once before they are quantized", "load_in_4bit: true\nadapter: qlora\n$ axolotl train q.yaml\n" + stackOf(full("1.00 GiB", "23.64", "861.00 MiB", "22.24"), "/w/axolotl/src/axolotl/loaders/model.py|_build_model|self.model = load()", "/x/site-packages/transformers/modeling_utils.py|from_pretrained|load_info = cls._load_pretrained_model(", "/x/site-packages/transformers/core_model_loading.py|materialize_tensors|tensors = [future.result() for future in tensors]",
			"/usr/lib/python3.11/concurrent/futures/thread.py|run|result = self.fn(*self.args, **self.kwargs)", "/x/site-packages/transformers/core_model_loading.py|_materialize_copy|tensor = tensor.to(device=device, dtype=dtype)"), "states_too_big", "HF_DEACTIVATE_ASYNC_LOAD=1"},
		{"a context of llama.cpp that the model allows", "0.00.001.040 I   Device 0: NVIDIA GeForce RTX 3060, compute capability 8.6, VMM: yes, VRAM: 11911 MiB\n0.00.001.702 I srv  load_models: preset m: model = /m.gguf, ctx-size = 0\n[45979] 0.00.930.414 I load_tensors:        CUDA0 model buffer size =  2423.66 MiB\n[45979] 0.01.046.904 I llama_context: n_ctx         = 262144\n" +
			"[45979] 0.01.047.215 E ggml_backend_cuda_buffer_type_alloc_buffer: allocating 36864.00 MiB on device 0: cudaMalloc failed: out of memory\n[45979] 0.01.047.220 E alloc_tensor_range: failed to allocate CUDA0 buffer of size 38654705664\n[45979] 0.01.048.446 E llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache\n", "engine_share_too_small", "--ctx-size=57344"},

		// host memory
		{"rows that Dataset.map has not written", mapped + "Killed\n" + kill, "loader_workers", "writer_batch_size=100"},
		{"pieces of files that load_dataset reads", stackOf("RuntimeError: One of the subprocesses has abruptly died during map operation.To debug the error, disable multiprocessing.", "/site-packages/datasets/load.py|load_dataset|builder_instance.download_and_prepare(", "/site-packages/datasets/builder.py|_prepare_split|for job_id, done, content in iflatmap_unordered(", "/site-packages/datasets/utils/py_utils.py|iflatmap_unordered|raise RuntimeError(") + kill, "loader_workers", "num_proc=1"},
		{"the states that ZeRO-2 keeps there", "$ swift sft --model Qwen/Qwen3-30B-A3B --train_type full --deepspeed zero2_offload --per_device_train_batch_size 1\nstep 3\n" + stackOf("RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 61203283968 bytes. Error code 12 (Cannot allocate memory)",
			"deepspeed/runtime/zero/stage_1_and_2.py|__init__|self.single_partition_of_fp32_groups.append(", "deepspeed/ops/adam/cpu_adam.py|step|x"), "host_offload", "--deepspeed=zero2"},
		{"processes of Dataset.map, not of the data loader", "dataloader_num_workers=0,\n" + strings.ReplaceAll(mapped, "Map:", "Map (num_proc=12):") + "RuntimeError: One of the subprocesses has abruptly died during map operation.To debug the error, disable multiprocessing.\n" + kill, "loader_workers", "num_proc=3"},
		{"logits of an evaluation", "Training/evaluation parameters TrainingArguments(\neval_accumulation_steps=1,\nper_device_eval_batch_size=8,\n)\n***** Running Evaluation *****\n  Num examples = 20000\nKilled\n" + kill, "logits", "preprocess_logits_for_metrics=preprocess_logits_for_metrics = lambda logits, labels: logits.argmax(-1)"},
		{"pinned memory for batches", stackOf("RuntimeError: CUDA error: out of memory", "torch/utils/data/_utils/pin_memory.py|do_one_step|data = pin_memory(data, device)", "torch/utils/data/_utils/pin_memory.py|pin_memory|return data.pin_memory(device)"), "loader_workers", "pin_memory=False"},
		{"pinned memory for offloaded states", stackOf("RuntimeError: CUDA error: out of memory", "deepspeed/runtime/zero/stage3.py|__init__|self._create_fp32_partitions()", "deepspeed/accelerator/cuda_accelerator.py|pin_memory|return tensor.pin_memory()"), "host_offload", "zero_optimization.offload_optimizer.pin_memory=false"},
		{"tasks of a script's own", strings.ReplaceAll(strings.ReplaceAll(fmt.Sprintf(ray, "5001\t181.31\tray::embed\n5002\t175.02\tray::embed\n5003\t171.02\tray::embed"), "WorkerDict", "embed"), "actor ID", "task ID"), "host_load", "num_cpus=2"},
		{"each rank of Megatron with its own copy", "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy=megatron actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4 data.train_batch_size=128\n" +
			fmt.Sprintf(ray, "3700\t117.31\tray::WorkerDict.actor_rollout_init_model\n3701\t117.02\tray::WorkerDict.actor_rollout_init_model\n3702\t117.01\tray::WorkerDict.actor_rollout_init_model\n3703\t116.9\tray::WorkerDict.actor_rollout_init_model"), "host_load", "actor_rollout_ref.actor.megatron.use_dist_checkpointing=True"},
		{"who held the memory of Ray's node", "+ python3 -m verl.trainer.main_ppo data.train_batch_size=128 actor_rollout_ref.rollout.agent.num_workers=16 actor_rollout_ref.actor.ppo_mini_batch_size=64\n" + fmt.Sprintf(ray, "5001\t181.31\tray::AgentLoopWorker.generate_sequences\n5002\t175.02\tray::AgentLoopWorker.generate_sequences\n3700\t38.10\tray::WorkerDict"), "loader_workers", "actor_rollout_ref.rollout.agent.num_workers=8"},
		{"the task runner, whatever the trainers offload", "+ python3 -m verl.trainer.main_ppo data.train_batch_size=512 actor_rollout_ref.actor.fsdp_config.optimizer_offload=True\n" + fmt.Sprintf(ray, "1911\t402.13\tray::TaskRunner.run\n3700\t31.00\tray::WorkerDict\n3701\t30.90\tray::WorkerDict"), "loader_workers", "data.train_batch_size=256"},
		{"trainers that offload nothing", "+ python3 -m verl.trainer.main_ppo data.train_batch_size=128\n" + fmt.Sprintf(ray, "3700\t181.31\tray::WorkerDict.actor_rollout_update_actor\n3701\t175.02\tray::WorkerDict.actor_rollout_update_actor\n5001\t3.10\tray::TaskRunner.run"), "host_offload", "memory=760 GiB"},
		{"and not its trainers", "+ python3 -m verl.trainer.main_ppo data.train_batch_size=128 data.dataloader_num_workers=1 actor_rollout_ref.actor.fsdp_config.optimizer_offload=True\n" + fmt.Sprintf(ray, "3700\t181.31\tray::WorkerDict\n3701\t175.02\tray::WorkerDict\n5001\t38.10\tray::AgentLoopWorker.generate_sequences"), "host_offload", "actor_rollout_ref.actor.fsdp_config.optimizer_offload=False"},
		{"an engine sleeps in host memory", "INFO 08-01 10:00:00 [cumem.py:197] CuMemAllocator: sleep freed 66.16 GiB memory in total, of which 53.10 GiB is backed up in CPU and the rest 13.06 GiB is discarded directly.\nINFO 08-01 10:00:00 [gpu_worker.py:117] Sleep mode freed 66.16 GiB memory, 4.10 GiB memory is still in use.\nKilled\n" + kill, "host_offload", "sleep_level=2"},
		{"vLLM's swap space", "Initializing an LLM engine (v0.6.2) with config: model='/m', max_seq_len=4096\n" + stackOf("RuntimeError: CUDA error: out of memory", "vllm/worker/worker.py|initialize_cache|self._init_cache_engine()", "vllm/worker/cache_engine.py|_allocate_kv_cache|torch.zeros(kv_cache_shape,"), "host_offload", "--swap-space=1"},
		{"finished prompts of llama.cpp", "srv        update:  - cache state: 10 prompts, 8011.100 MiB (limits: 8192.000 MiB, 65536 tokens, 9000000 est)\nKilled\n" + strings.ReplaceAll(kill, "62210344kB", "15210344kB"), "limit_too_small", "--cache-ram=0"},

		{"experts in host memory beside half-empty cards", "+ llama-server --model /m/q-IQ4_XS.gguf -ngl 99 --cpu-moe --no-mmap -c 262144\nllama_model_load_from_file_impl: using device CUDA0 (NVIDIA GeForce RTX 5090) - 31514 MiB free\nload_tensors:        CUDA0 model buffer size =  2588.14 MiB\nload_tensors:    CUDA_Host model buffer size = 116354.33 MiB\nKilled\n" + kill, "host_load", "--no-mmap=False"},
		{"a converter that holds all tensors", stackOf("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 561. MiB for an array with shape (132, 2048, 2176) and data type uint8", "/home/u/llama.cpp/convert_hf_to_gguf.py|main|model_instance.write()", "/home/u/llama.cpp/gguf-py/gguf/gguf_writer.py|add_tensor|self.tensors[-1][name] = TensorInfo("), "limit_too_small", "--use-temp-file=True"},
		{"a checkpoint of several files in float32 by default", "transformers 4.48.3 torch 2.5.1\nLoading checkpoint shards:  67%|######7   | 2/3 [00:15<00:07,  7.88s/it]\nKilled\n" + kill, "host_load", "torch_dtype=bfloat16"},
		{"a converter that can load tensors one by one", "$ python3 -m maxtext.checkpoint_conversion.to_maxtext --lazy_load_tensors=False\nLoading checkpoint shards:  90%|#########  | 27/30 [01:04<00:07, 2.40s/it]\nKilled\n" + kill, "host_load", "--lazy_load_tensors=True"},

		// whose limit
		{"a pod's volume for shared memory", "$ kubectl logs train-worker-0 -n ml\n" + bus, "shm", "dshm.emptyDir.medium=Memory"},
		{"a container's shared memory", bus, "shm", "--shm-size=16g"},
		{"a container's shared memory that somebody enlarged already", "$ docker run --gpus all --shm-size=48g trainer python train.py\n" + bus, "shm", "--shm-size=96g"},
		{"and in bytes", "$ docker run --gpus all --shm-size=34359738368 trainer python train.py\n" + bus, "shm", "--shm-size=64g"},
		{"a small one", "$ docker run --gpus all --shm-size=512m trainer python train.py\n" + bus, "shm", "--shm-size=16g"},
		{"verl's copy of the model in shared memory", "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=/m actor_rollout_ref.model.use_shm=True\n" + noSpace, "shm", "actor_rollout_ref.model.use_shm=False"},
		{"and without that copy", "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=/m actor_rollout_ref.model.use_shm=False\n" + noSpace, "shm", "--shm-size=16g"},
		{"a container of Kubernetes with many workers", "$ kubectl describe pod trainer-0\n    Command:\n      python\n      train.py\n      --num_workers=16\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:          64Gi\n", "loader_workers", "--num_workers=4"},
		{"samples to replay, by a setting of TensorFlow's program", "I0730 11:02:22.104933 470 train.py:38] tensorflow 2.3.0\n+ python -m dqn.train --max_replay_size=1000000 --batch_size=256\nslurmstepd: error: Detected 1 oom_kill event in StepId=1000.batch. Some of the step tasks have been OOM Killed.\n1000         OUT_OF_ME+         8G            \n", "limit_too_small", "--max_replay_size=250000"},
		{"a container of Docker", "$ docker inspect trainer\n            \"OOMKilled\": true,\n            \"ExitCode\": 137,\n            \"Memory\": 34359738368,\n", "limit_too_small", "--memory=48G"},
		{"what sacct says was requested", "slurmstepd: error: Detected 1 oom_kill event in StepId=1000.batch. Some of the step tasks have been OOM Killed.\n1000         OUT_OF_ME+        32G            \n1000.batch   OUT_OF_ME+              33100000K\n", "limit_too_small", "--mem=48G"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.log)
			require.NotNil(t, a.Cause)
			assert.Equal(t, c.cause, a.Cause.ID)
			assert.Equal(t, c.first, firstChange(a))
		})
	}
}

func TestNothingIsRecomputedWhereNothingIsTrained(t *testing.T) {
	t.Parallel()
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 400.00 MiB. GPU 0 has a total capacity of 47.40 GiB of which 200.00 MiB is free. Of the allocated memory 46.00 GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated."
	const layer = "transformers/models/llama/modeling_llama.py|forward|down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))"
	for script, recomputes := range map[string]bool{"/home/u/eval.py": false, "/home/u/inference_7b.py": false, "/home/u/sft.py": true} {
		var keys []string
		for _, p := range answerTo(t, stackOf(oom, script+"|<module>|outputs = model(**batch)", layer)).Proposals {
			for _, c := range p.Changes {
				keys = append(keys, c.Key)
			}
		}
		assert.Equal(t, recomputes, strings.Contains(strings.Join(keys, " "), "gradient_checkpointing"), "%s: %s", script, keys)
	}
}

// TestAReplayBufferThatHasASettingIsLoweredOnce: the words for a buffer whose setting is unknown stay away.
func TestAReplayBufferThatHasASettingIsLoweredOnce(t *testing.T) {
	t.Parallel()
	log := "+ python /home/u/train.py --replay-size 2000000\n" + stackOf("MemoryError: Unable to allocate 52.6 GiB for an array with shape (2000000, 4, 84, 84) and data type uint8",
		"/home/u/train.py|<module>|main()", "/home/u/rl/replay_buffer.py|__init__|self.obs = np.zeros(shape, dtype=np.uint8)")
	assert.Equal(t, []string{"--replay-size=500000"}, changesOf(For(incidentOf(t, log))))
}

// TestATPUHasNoOtherProcesses: nvidia-smi lists nothing of a TPU.
func TestATPUHasNoOtherProcesses(t *testing.T) {
	t.Parallel()
	const full = "RESOURCE_EXHAUSTED: Attempting to reserve 6.48G at the bottom of memory. That was not possible. There are 6.78G free, 0B reserved, and 3.33G reservable.\n"
	for log, listed := range map[string]bool{
		"E xla_util.cc:88]   OP_REQUIRES failed at tpu_execute_op.cc:266 : " + full: false,
		"GPUassert: out of memory main.cu 42\n":                                     true,
	} {
		found := false
		for _, p := range answerTo(t, log).Proposals {
			found = found || strings.Contains(p.Title, "Find other processes")
		}
		assert.Equal(t, listed, found, log)
	}
}

// TestExpertsMoveToCardsThatHaveRoom has the kernel kill llama.cpp while it reads the weights, before it makes a cache.
func TestExpertsMoveToCardsThatHaveRoom(t *testing.T) {
	t.Parallel()
	for free, moved := range map[string]bool{"31514": true, "4096": false} {
		log := "+ llama-server --model /m/q-IQ4_XS.gguf -ngl 99 --cpu-moe --no-mmap -c 262144\nllama_model_load_from_file_impl: using device CUDA0 (NVIDIA GeForce RTX 5090) - " + free + " MiB free\n" +
			"load_tensors:        CUDA0 model buffer size =  2588.14 MiB\nload_tensors:    CUDA_Host model buffer size = 116354.33 MiB\n[81231.4] Out of memory: Killed process 4711 (llama-server) total-vm:131420112kB, anon-rss:122210344kB, file-rss:68096kB, shmem-rss:12288kB, UID:1000 pgtables:52880kB oom_score_adj:0\n"
		all := strings.Join(changesOf(For(incidentOf(t, log))), " ")
		assert.Equal(t, moved, strings.Contains(all, "--n-cpu-moe=N"), "%s MiB free: %s", free, all)
		assert.NotContains(t, all, "-c=")
	}
}

// TestACacheInEightBitsIsOfferedWhereItFits has llama.cpp fail to make an 8 GiB cache beside 4.07 GiB of weights.
func TestACacheInEightBitsIsOfferedWhereItFits(t *testing.T) {
	t.Parallel()
	for card, offered := range map[string]bool{"8191": false, "12287": true} {
		log := "0.00.001.040 I   Device 0: NVIDIA GeForce RTX 3070, compute capability 8.6, VMM: yes, VRAM: " + card + " MiB\n" +
			"0.00.001.702 I srv  load_models: preset q: model = /m/q-7b.gguf, n-gpu-layers = 99, ctx-size = 65536\n[51002] 0.00.930.414 I load_tensors:        CUDA0 model buffer size =  4168.09 MiB\n[51002] 0.01.046.904 I llama_context: n_ctx         = 65536\n" +
			"[51002] 0.01.047.215 E ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8192.00 MiB on device 0: cudaMalloc failed: out of memory\n[51002] 0.01.048.446 E llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache\n"
		all := strings.Join(changesOf(For(incidentOf(t, log))), " ")
		assert.Equal(t, offered, strings.Contains(all, "--cache-type-k=q8_0"), "%s MiB: %s", card, all)
	}
}

// TestNoShorterContextIsOfferedWhereWeightsFillTheCard has vLLM measure a step beside weights that leave half a GiB.
func TestNoShorterContextIsOfferedWhereWeightsFillTheCard(t *testing.T) {
	t.Parallel()
	log := "api_server.py:727] args: Namespace(model='TheBloke/Mixtral-8x7B-Instruct-v0.1-AWQ', max_model_len=4096, tensor_parallel_size=1, gpu_memory_utilization=0.9, quantization='awq', enforce_eager=False)\n" +
		stackOf("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 384.00 MiB. GPU 0 has a total capacty of 23.69 GiB of which 214.56 MiB is free. Of the allocated memory 23.04 GiB is allocated by PyTorch, and 12.05 MiB is reserved by PyTorch but unallocated.",
			"/workspace/vllm/engine/llm_engine.py|_init_cache|num_blocks = self._run_workers(", "/workspace/vllm/worker/worker.py|profile_num_available_blocks|self.model_runner.profile_run()", "/workspace/vllm/model_executor/layers/linear.py|forward|output_parallel = self.linear_method.apply_weights(")
	a := answerTo(t, log)
	require.NotNil(t, a.Cause)
	assert.Equal(t, "states_too_big", a.Cause.ID)
	assert.Equal(t, []string{"--tensor-parallel-size=2"}, changesOf(a))
}

// TestNoSettingOfAnotherDeviceOrModelIsProposed has settings in the log that do nothing where it failed.
func TestNoSettingOfAnotherDeviceOrModelIsProposed(t *testing.T) {
	t.Parallel()
	const layer = "transformers/models/llama/modeling_llama.py|forward|down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))"
	const nccl = "h100-11:4711:4903 [2] NCCL INFO Channel 00\nh100-11:4711:4903 [2] include/alloc.h:222 NCCL WARN Cuda failure 2 'out of memory'\n"
	verl := "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8 critic.ppo_micro_batch_size_per_gpu=16 actor_rollout_ref.model.lora_rank=32 actor_rollout_ref.actor.fsdp_config.optimizer_offload=False\n"
	for name, c := range map[string]struct{ log, not string }{
		"XLA's share of a GPU on a TPU": {"jax.devices(): [TpuDevice(id=0, process_index=0, coords=(0,0,0), core_on_chip=0)]\n" + stackOf("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 12.50MiB (13107200B) on device ordinal 3", "/home/u/train.py|main|state = init_fn(params)"), "XLA_"},
		"a larger share for a program of twice the memory": {"W external/xla/xla/hlo/transforms/simplifiers/hlo_rematerialization.cc:3021] Can't reduce memory use below -21.13GiB (-22691536896 bytes) by rematerialization; only reduced to 43.77GiB (46999244800 bytes), down from 43.77GiB (46999244800 bytes) originally\n" +
			stackOf("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 67108864 bytes.", "/home/u/scripts/train.py|main|train_state = init_train_state(config, rng)", "jax/_src/pjit.py|cache_miss|outs = _python_pjit_helper("), "MEM_FRACTION"},
		"a larger share for a program that needs twice of what XLA allows": {xlaLimit + stepOfJAX, "XLA_PYTHON_CLIENT"},
		"a share that adds less than one sequence lacks": {"$ vllm serve meta-llama/Meta-Llama-3.1-8B-Instruct --tensor-parallel-size 1\nINFO 07-23 21:14:20 model_runner.py:692] Loading model weights took 14.9888 GB\n" +
			stackOf("ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (36864). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.", "vllm/engine/llm_engine.py|_initialize_kv_caches|self.model_executor.initialize_cache(", "vllm/worker/worker.py|raise_if_cache_size_invalid|raise ValueError("), "utilization"},
		"what the configuration's name says already": {"$ llamafactory-cli train sft.yaml\nmodel_name_or_path: /m/Qwen2-7B-Instruct\nfinetuning_type: lora\ncutoff_len: 32768\nper_device_train_batch_size: 1\ndeepspeed: examples/deepspeed/ds_z3_offload_config.json\n" +
			stackOf(full("18.56 GiB", "79.15", "11.41 GiB", "65.12"), "transformers/trainer.py|training_step|self.accelerator.backward(loss)", "deepspeed/runtime/zero/stage3.py|backward|self.loss_scaler.backward(loss.float())", "torch/autograd/__init__.py|backward|_engine_run_backward("), "offload_param"},
		"recomputation that LLaMA-Factory turned on": {"$ llamafactory-cli train sft.yaml\nmodel_name_or_path: /m/Qwen2-7B-Instruct\nfinetuning_type: lora\ndisable_gradient_checkpointing: true\nper_device_train_batch_size: 1\n[INFO|2025-03-11 10:12:09] llamafactory.model.model_utils.checkpointing:143 >> Gradient checkpointing enabled.\n" +
			stackOf(full("1.56 GiB", "79.15", "1.41 GiB", "75.12"), "transformers/trainer.py|training_step|self.accelerator.backward(loss)", "torch/autograd/__init__.py|backward|_engine_run_backward("), "disable_gradient_checkpointing"},
		"a share that leaves less than one sequence": {"$ vllm serve /m/GLM-4.7-Flash-AWQ --tensor-parallel-size 2 --gpu-memory-utilization 0.90 --max-model-len 32768\n(Worker_TP0 pid=812) INFO 02-05 14:29:58 [gpu_model_runner.py:4118] Model loading took 15.92 GiB memory and 44.9 seconds\n" +
			"(Worker_TP0 pid=812) INFO 02-05 14:30:41 [gpu_worker.py:356] Available KV cache memory: 2.71 GiB\n(EngineCore_DP0 pid=640) INFO 02-05 14:30:41 [kv_cache_utils.py:1307] GPU KV cache size: 53,744 tokens\n" +
			stackOf(full("304.00 MiB", "23.52", "212.62 MiB", "20.10"), "vllm/v1/worker/gpu_model_runner.py|_dummy_sampler_run|sampler_output = self.sampler(", "vllm/v1/sample/ops/topk_topp_sampler.py|apply_top_k_top_p|logits_sort, logits_idx = logits.sort(dim=-1, descending=False)"), "utilization=0.84"},
		"a limit below that of the prompts' cache": {"Containers:\n  llama-server:\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:  16Gi\nmain: n_parallel = 1, n_ctx = 131072\nsrv        update:  - cache state: 11 prompts, 14114.080 MiB (limits: 40960.000 MiB, 131072 tokens, 1003207 est)\n", "24Gi"},
		"ZeRO where tokens are generated for an evaluation": {"$ llamafactory-cli train predict.yaml\nmodel_name_or_path: /m/Codestral-22B-v0.1\ndo_predict: true\npredict_with_generate: true\nfinetuning_type: lora\n[INFO] Process rank: 0, world size: 6\n" +
			stackOf(full("192.00 MiB", "39.39", "74.19 MiB", "38.86"), "/opt/LLaMA-Factory/src/llamafactory/model/loader.py|load_model|model = load_class.from_pretrained(**init_kwargs)", "transformers/modeling_utils.py|from_pretrained|) = cls._load_pretrained_model("), "deepspeed"},
		"a batch for a library outside of JAX's pool": {"WARNING: TPU not found\nConfig param per_device_batch_size: 4.0\nConfig param remat_policy: minimal\n" + nccl + stackOf("jaxlib.xla_extension.XlaRuntimeError: INTERNAL: NCCL operation ncclGroupEnd() failed: unhandled cuda error (run with NCCL_DEBUG=INFO for details). Last NCCL warning(error) log entry (may be unrelated) 'Cuda failure 2 'out of memory''.", "/opt/maxtext/MaxText/train.py|train_loop|state, metrics = p_train_step(state, example_batch, nextrng)", "jax/_src/pjit.py|cache_miss|outs = _python_pjit_helper("), "batch_size"},
		"fused attention where the weights are used again": {"$ python3 zipformer/train.py --max-duration 300\n" +
			stackOf(full("6.86 GiB", "47.54", "2.80 GiB", "42.23"), "/opt/icefall/zipformer/zipformer.py|forward|attn_weights = self.self_attn_weights(", "/opt/icefall/zipformer/scaling.py|forward|ans = x.softmax(dim=dim)"), "scaled_dot_product_attention"},
		"the actor's batch while the critic runs": {verl + stackOf(full("344.00 MiB", "79.15", "211.40 MiB", "76.88"), "/w/verl/workers/critic/dp_critic.py|update_critic|vpreds = self._forward_micro_batch(data)", layer), "actor.ppo_micro_batch_size"},
		"the optimizer's states of adapters":      {verl + stackOf(full("1.82 GiB", "79.11", "1.45 GiB", "73.83"), "/w/verl/workers/sharding_manager/fsdp_vllm.py|__enter__|params = layered_summon_lora_params(self.module)", "torch/distributed/fsdp/_flat_param.py|_alloc_padded_unsharded_flat_param|_alloc_storage(unsharded_flat_param"), "optimizer_offload"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, change := range changesOf(answerTo(t, c.log)) {
				assert.NotContains(t, change, c.not)
			}
		})
	}
}

func TestABackboneThatIsTrainedMayBeFrozen(t *testing.T) {
	t.Parallel()
	log := "model = dict(\n    type='Cam3DTracker',\n    train_backbone=True,\n    num_classes=7)\ndata = dict(samples_per_gpu=1, workers_per_gpu=4)\nEpoch [1][50/7033]\tlr: 1.0e-04, eta: 1 day, 2:11:01, time: 1.1, loss: 9.1\n" + stackOf("RuntimeError: CUDA out of memory. Tried to allocate 376.00 MiB (GPU 0; 9.77 GiB total capacity; 7.92 GiB already allocated; 145.38 MiB free; 8.07 GiB reserved in total by PyTorch)", "/w/tools/train.py|main|custom_train_model(", "/w/projects/models/backbones/vov.py|forward|x = self.stem(x)")
	answer := answerTo(t, log)
	assert.Contains(t, changesOf(answer), "train_backbone=False")
	for _, p := range answer.Proposals {
		assert.NotEqual(t, "Use a smaller batch", p.Title, "samples_per_gpu is 1")
	}
	assert.NotContains(t, changesOf(answerTo(t, strings.ReplaceAll(log, "train_backbone=True", "train_backbone=False"))), "train_backbone=False")
}

func TestOllamaLoadsAsManyLayersAsLeaveRoomForALargerBuffer(t *testing.T) {
	t.Parallel()
	changes := changesOf(answerTo(t, "$ ollama run command-r7b\nError: llama runner process has terminated: cudaMalloc failed: out of memory\n$ journalctl -u ollama -o cat\n"+
		`time=2025-01-29T15:34:40.916+01:00 level=INFO source=memory.go:356 msg="offload to cuda" layers.requested=-1 layers.model=33 layers.offload=22 layers.split="" memory.available="[3.6 GiB]" memory.gpu_overhead="0 B" memory.graph.full="153.3 MiB" memory.graph.partial="170.7 MiB"`+"\n"+
		"llm_load_tensors:        CUDA0 model buffer size =  2752.31 MiB\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 1328.31 MiB on device 0: cudaMalloc failed: out of memory\n"+
		"ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 1392836608\nllama_new_context_with_model: failed to allocate compute buffers\n"))
	assert.Contains(t, changes, "num_gpu=12") // (1328 - 171) MiB of 125 MiB a layer are ten layers
}

// xlaLimit is XLA's warning about a program that needs twice of what it may use, and stepOfJAX the failure of its step.
const xlaLimit = "W external/xla/xla/service/hlo_rematerialization.cc:3005] Can't reduce memory use below 44.20GiB (47459630285 bytes) by rematerialization; only reduced to 86.02GiB (92363271680 bytes), down from 89.12GiB original\n"

var stepOfJAX = stackOf("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 92363271680 bytes.", "/opt/maxtext/MaxText/train.py|train_loop|state, metrics = p_train_step(state, example_batch, nextrng)")

// countedUp repeats a line, with its number and a figure.
func countedUp(line string, figures ...int) string {
	var b strings.Builder
	for i, n := range figures {
		fmt.Fprintf(&b, line, i, n)
	}
	return b.String()
}

// full is the message of a card that ran full.
func full(asked, total, free, allocated string) string {
	return "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + asked + ". GPU 0 has a total capacity of " + total + " GiB of which " + free + " is free. Of the allocated memory " + allocated +
		" GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated."
}
