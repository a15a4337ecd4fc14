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
		bus     = "RuntimeError: DataLoader worker (pid 512) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n"
		ray     = "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.3, ID: 4f) where the task (actor ID: 8a, name=WorkerDict.__init__, pid=3711, memory used=20.2GB) was running was 480.11GB / 503.51GB (0.953526), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: c0) because it was the most recently scheduled task; to see more information about memory usage on this node, use `ray logs raylet.out -ip 10.0.0.3`. To see the logs of the worker, use `ray logs worker-c0*out -ip 10.0.0.3. Top 10 memory users:\nPID\tMEM(GB)\tCOMMAND\n%s\nRefer to the documentation on how to address the out of memory issue: https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html.\n"
		lmd     = "2025-10-02 09:00:00,000 - lmdeploy - INFO - async_engine.py:256 - input backend=pytorch\n"
		weights = "transformers/modeling_utils.py|to|return super().to(*args, **kwargs)"
		convert = "torch/nn/modules/module.py|convert|return t.to("
		mapped  = "Map:  38%|###8      | 760/2000 [05:51<08:12,  3.51 examples/s]\n"
	)
	for _, c := range []struct{ name, log, cause, first string }{
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
			stackOf(full("4.00 GiB", "39.39", "2.33 GiB", "36.52"), "/w/vllm/vllm/engine/llm_engine.py|_init_cache|num_blocks = self._run_workers(", "/w/vllm/vllm/worker/worker.py|profile_num_available_blocks|self.model(", "/w/vllm/vllm/model_executor/layers/attention.py|multi_query_kv_attention|value = torch.repeat_interleave(value,"), "engine_activation", "--max-model-len=65536"},
		{"llama.cpp: a photo, whose encoder has a buffer of its own", "Device 0: NVIDIA GeForce RTX 3080, compute capability 8.6\nllama_context: n_ctx         = 8192\nllama_context: n_ubatch      = 512\nllama_context: flash_attn    = 0\nsrv    load_model: loaded multimodal model, '/m/mmproj.gguf'\nmain: server is listening on http://127.0.0.1:8081\nsrv  process_chun: processing image...\n" +
			"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4514.05 MiB on device 0: cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 4733328896\n", "attention_scores", "--image-max-tokens=1024"},
		{"vLLM: a worker's step, whose result is called after the sampler", "non-default args: {'model': '/m', 'gpu_memory_utilization': 0.98}\nGraph capturing finished in 39 secs, took 1.94 GiB\n" + stackOf(full("3.50 GiB", "139.81", "2.24 GiB", "132.08"), "vllm/engine/llm_engine.py|step|outputs = self.model_executor.execute_model(",
			"vllm/spec_decode/spec_decode_worker.py|_run_no_spec|sampler_output = self.scorer_worker.execute_model(execute_model_req)", "vllm/model_executor/models/deepseek_v2.py|forward|final_hidden_states = self.experts(", "vllm/model_executor/layers/fused_moe/fused_moe.py|fused_experts_impl|intermediate_cache3 = torch.empty((M, topk_ids.shape[1], w2.shape[1]),"), "engine_activation", "--gpu-memory-utilization=0.92"},
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
			stackOf(full("12.76 GiB", "79.15", "4.31 GiB", "73.95"), "vllm/worker/model_runner.py|execute_model|output: SamplerOutput = self.model.sample(", "vllm/model_executor/layers/sampler.py|forward|logits = logits.to(torch.float)"), "logits", "--gpu-memory-utilization=0.42"},
		{"JAX beside another process", "2024-04-12 09:03:58.220461: E external/xla/xla/stream_executor/cuda/cuda_dnn.cc:445] Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED\n" +
			"2024-04-12 09:03:58.220512: E external/xla/xla/stream_executor/cuda/cuda_dnn.cc:449] Memory usage: 61341696 bytes free, 25430786048 bytes total.\n" +
			stackOf("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 268435456 bytes.", "/home/u/train.py|<module>|model.learn(", "jax/_src/pjit.py|cache_miss|outs = _python_pjit_helper("), "foreign_process", "XLA_PYTHON_CLIENT_PREALLOCATE=false"},
		// trainers
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
		{"a batch that a sampler cuts by tokens", "Namespace(batch_size=32, dynamic_batching=1, max_num_tokens=100000)\n" + stackOf(full("516.00 MiB", "79.15", "301.19 MiB", "76.91"), "/home/u/main.py|train|out = self.model(cur_batch)", "/home/u/models/transformer.py|_ff_block|x = self.linear2(self.dropout(self.activation(self.linear1(x))))"), "activations", "max_num_tokens=50000"},
		{"a model that accelerate put on one card, in training", "$ python tune.py --per_device_train_batch_size 64 --fp16\ntrainable params: 2,097,152 || all params: 7,002,656,768 || trainable%: 0.03\n" + stackOf(full("11.70 GiB", "79.15", "9.87 GiB", "67.52"), "transformers/trainer.py|training_step|loss = self.compute_loss(model, inputs)", "accelerate/hooks.py|new_forward|output = old_forward(*args, **kwargs)",
			"/c/modeling_baichuan.py|forward|loss = loss_fct(shift_logits, shift_labels)", "torch/nn/functional.py|cross_entropy|return torch._C._nn.cross_entropy_loss("), "logits", "--per_device_train_batch_size=32"},
		{"the ZeRO stage that DeepSpeed says", "$ deepspeed --num_gpus 8 train.py --deepspeed scripts/zero1.json --per_device_train_batch_size 1 --gradient_checkpointing\ntrainable params: 7,660,149,248 || all params: 8,292,166,656 || trainable%: 92.4\n[2026-04-11 09:34:51,410] [INFO] [logging.py:128:log_dist] [Rank 0] Creating torch.bfloat16 ZeRO stage 1 optimizer\n" +
			stackOf(full("130.00 MiB", "44.40", "62.31 MiB", "42.71"), "transformers/trainer.py|training_step|self.accelerator.backward(loss, **kwargs)", "deepspeed/runtime/engine.py|backward|self._do_optimizer_backward(loss, retain_graph)", "torch/autograd/graph.py|_engine_run_backward|return Variable._execution_engine.run_backward("), "states_too_big", "zero_optimization.stage=2"},
		{"states of nanoGPT, which trains in float32", "number of parameters: 1555.97M\nusing fused AdamW: False\nbatch_size = 1\nblock_size = 1024\n" +
			stackOf(full("100.00 MiB", "23.68", "85.06 MiB", "21.67"), "/home/u/nanoGPT/train.py|<module>|logits, loss = model(X, Y)", "/home/u/nanoGPT/model.py|forward|x = block(x)"), "states_too_big", "optimizer=bitsandbytes.optim.AdamW8bit(model.parameters())"},
		{"torchtune's largest tensors, gathered with the rest", "Running LoRAFinetuneRecipeDistributed with resolved config:\n\nbatch_size: 1\nenable_activation_checkpointing: true\nmodel:\n  _component_: torchtune.models.llama3_1.lora_llama3_1_70b\ntokenizer:\n  max_seq_len: 512\n\n" +
			stackOf(full("1.96 GiB", "23.43", "210.06 MiB", "22.41"), "/v/site-packages/recipes/lora_finetune_distributed.py|train|logits = self._model(", "torch/distributed/_composable/fsdp/_fsdp_param_group.py|wait_for_unshard|foreach_all_gather_copy_out(", "torch/distributed/_composable/fsdp/_fsdp_param.py|init_all_gather_outputs|torch.empty(torch.Size([numel * world_size]), dtype=dtype, device=device)"), "allgather_window", "custom_sharded_layers=['tok_embeddings', 'output']"},
		{"an evaluation in JAX, whose process nvidia-smi lists", "Namespace(train_batch=2048, eval_batch=410624)\n" +
			stackOf("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 6.27GiB (6727663616B) on device ordinal 0", "/w/train_mlp.py|evaluate|pred = jax.vmap(model)(x)", "jax/_src/interpreters/pxla.py|__call__|results = self.xla_executable.execute_sharded(input_bufs)") +
			"|   0  Tesla V100-SXM2-16GB           On  | 00000000:00:1E.0 Off |                    0 |\n| N/A   51C    P0              61W / 300W |  15714MiB / 16384MiB |    100%      Default |\n|    0   N/A  N/A     41822      C   python train_mlp.py                       15710MiB |\n", "activations", "eval_batch=102656"},
		{"DataParallel over one card", "Namespace(batchsize=32, gpuids=[0])\n" + stackOf(full("314.00 MiB", "5.81", "188.19 MiB", "4.98"), "/home/u/train.py|run|out = net(data)", "torch/nn/parallel/data_parallel.py|forward|return self.module(*inputs[0], **kwargs[0])", "torch/nn/modules/pooling.py|forward|return F.max_pool2d(input, self.kernel_size, self.stride,"), "activations", "batchsize=16"},
		{"DataParallel over several cards", "Namespace(batchsize=32, gpuids=[0, 1])\n" + stackOf(full("314.00 MiB", "5.81", "188.19 MiB", "4.98"), "/home/u/train.py|run|out = net(data)", "torch/nn/parallel/data_parallel.py|forward|return self.gather(outputs, self.output_device)", "torch/nn/parallel/scatter_gather.py|gather|res = gather_map(outputs)"), "wrong_device", "CUDA_VISIBLE_DEVICES=0"},
		{"a model that a script calls once", stackOf(full("1024.00 MiB", "21.99", "441.38 MiB", "20.94"), "/home/u/sam.py|<module>|outputs = model(**inputs)", "transformers/models/sam/modeling_sam.py|forward|vision_outputs = self.vision_encoder(", "transformers/models/sam/modeling_sam.py|forward|attn_weights = self.add_decomposed_rel_pos("), "attention_scores", "torch.no_grad=with torch.no_grad(): ..."},
		{"a model that a script calls in training", "Namespace(learning_rate=1e-05, num_train_epochs=3)\n" + stackOf(full("1024.00 MiB", "21.99", "441.38 MiB", "20.94"), "/home/u/sam.py|<module>|outputs = model(**inputs)", "transformers/models/sam/modeling_sam.py|forward|vision_outputs = self.vision_encoder(", "transformers/models/sam/modeling_sam.py|forward|attn_weights = self.add_decomposed_rel_pos("), "attention_scores", "attn_implementation=flash_attention_2"},
		{"blocks of a node of ComfyUI that move to host memory", "ComfyUI version: 0.3.30\n" + stackOf("RuntimeError: CUDA error: out of memory", "/c/ComfyUI/execution.py|execute|output_data = get_output_data(obj)", "/c/ComfyUI/custom_nodes/ComfyUI-WanVideoWrapper/nodes.py|process|transformer.block_swap(", "/c/ComfyUI/custom_nodes/ComfyUI-WanVideoWrapper/wanvideo/modules/model.py|block_swap|block.to(self.offload_device, non_blocking=self.use_non_blocking)", "torch/nn/modules/module.py|convert|return t.to("), "host_offload", "use_non_blocking=False"},
		{"a killed loader worker, whose number is not in the log", stackOf("RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.", "torch/utils/data/dataloader.py|_try_get_data|data = self._data_queue.get(timeout=timeout)", "torch/utils/data/_utils/signal_handling.py|handler|_error_if_any_worker_fails()") + kill, "loader_workers", "num_workers=0"},
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
			"[45979] 0.01.047.215 E ggml_backend_cuda_buffer_type_alloc_buffer: allocating 36864.00 MiB on device 0: cudaMalloc failed: out of memory\n[45979] 0.01.047.220 E alloc_tensor_range: failed to allocate CUDA0 buffer of size 38654705664\n[45979] 0.01.048.446 E llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache\n", "engine_share_too_small", "--ctx-size=59392"},

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

		{"a converter that holds all tensors", stackOf("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 561. MiB for an array with shape (132, 2048, 2176) and data type uint8", "/home/u/llama.cpp/convert_hf_to_gguf.py|main|model_instance.write()", "/home/u/llama.cpp/gguf-py/gguf/gguf_writer.py|add_tensor|self.tensors[-1][name] = TensorInfo("), "limit_too_small", "--use-temp-file=True"},
		{"a converter that can load tensors one by one", "$ python3 -m maxtext.checkpoint_conversion.to_maxtext --lazy_load_tensors=False\nLoading checkpoint shards:  90%|#########  | 27/30 [01:04<00:07, 2.40s/it]\nKilled\n" + kill, "host_load", "--lazy_load_tensors=True"},

		// whose limit
		{"a pod's volume for shared memory", "$ kubectl logs train-worker-0 -n ml\n" + bus, "shm", "dshm.emptyDir.medium=Memory"},
		{"a container's shared memory", bus, "shm", "--shm-size=16g"},
		{"a container of Kubernetes with many workers", "$ kubectl describe pod trainer-0\n    Command:\n      python\n      train.py\n      --num_workers=16\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:          64Gi\n", "loader_workers", "--num_workers=4"},
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
	verl := "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8 critic.ppo_micro_batch_size_per_gpu=16 actor_rollout_ref.model.lora_rank=32 actor_rollout_ref.actor.fsdp_config.optimizer_offload=False\n"
	for name, c := range map[string]struct{ log, not string }{
		"XLA's share of a GPU on a TPU":           {"jax.devices(): [TpuDevice(id=0, process_index=0, coords=(0,0,0), core_on_chip=0)]\n" + stackOf("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 12.50MiB (13107200B) on device ordinal 3", "/home/u/train.py|main|state = init_fn(params)"), "XLA_"},
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

// full is the message of a card that ran full.
func full(asked, total, free, allocated string) string {
	return "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + asked + ". GPU 0 has a total capacity of " + total + " GiB of which " + free + " is free. Of the allocated memory " + allocated +
		" GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated."
}
