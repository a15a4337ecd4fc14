package remedies

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// expected is what is said of a log: its cause, the first change where that is tested, one that is among all, and one that is not.
type expected struct{ log, cause, first, has, never string }

// answersTo tests what is said of logs.
func answersTo(t *testing.T, logs map[string]expected) {
	for name, c := range logs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.log)
			require.NotNil(t, a.Cause)
			assert.Equal(t, c.cause, a.Cause.ID)
			if c.first != "" {
				assert.Equal(t, c.first, firstChange(a))
			}
			all := strings.Join(changesOf(a), " ")
			assert.Contains(t, all, c.has)
			if c.never != "" {
				assert.NotContains(t, all, c.never)
			}
		})
	}
}

// TestLogsWhoseFiguresRuleOutTheUsualChange pairs logs with the cause, the first change and what must not be proposed. Each has a twin whose
// figures differ, where the usual change stays.
func TestLogsWhoseFiguresRuleOutTheUsualChange(t *testing.T) {
	t.Parallel()
	const (
		swift   = "[INFO:swift] rank: 0, local_rank: 0, world_size: 8, local_world_size: 8\n"
		killed  = "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:  16Gi\n"
		triton  = "$ tritonserver --model-repository=/models\n"
		comfy   = "Total VRAM 24081 MB, total RAM 128638 MB\nComfyUI version: 0.3.51\ngot prompt\n"
		noCache = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine."
		tower   = "transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|attn_output = F.scaled_dot_product_attention(q, k, v, attention_mask, dropout_p=0.0)"
	)
	teacher := func(last string) string {
		return "+ swift rlhf --rlhf_type gkd --model /m/Llama-3.1-8B --teacher_model /m/Llama-3.1-70B-Instruct --torch_dtype bfloat16 --train_type full --deepspeed zero2 --per_device_train_batch_size 1\n" + swift +
			"[INFO:swift] Loading the model using model_dir: /m/Llama-3.1-8B\n[INFO:swift] Loading the model using model_dir: " + last + "\n" +
			stackOf(full("448.00 MiB", "79.15", "318.50 MiB", "78.00"), "swift/llm/train/rlhf.py|_prepare_single_model|model, processor = args.get_model_processor(", "transformers/modeling_utils.py|from_pretrained|) = cls._load_pretrained_model(",
				"transformers/modeling_utils.py|_load_parameter_into_model|module.load_state_dict({param_type: tensor}, strict=False, assign=True)")
	}
	pods := func(each int) string {
		out := triton
		for i := range 10 {
			out += fmt.Sprintf("2024-09-%02d 07:00\nranker-7c9d5b8f4d-x2lqk   2213m   %dMi   \n", i+1, 3174+each*i)
		}
		return out + "2024-09-11 07:00\nranker-7c9d5b8f4d-x2lqk   1874m   2961Mi   \n" + killed
	}
	tasks := func(pages ...int) string {
		out := comfy + "[Sun Aug 31 15:42:07 2025] python invoked oom-killer: gfp_mask=0x140dca, order=0, oom_score_adj=0\n[Sun Aug 31 15:42:07 2025] 33495082 pages RAM\n[Sun Aug 31 15:42:07 2025] Tasks state (memory values in pages):\n" +
			"[Sun Aug 31 15:42:07 2025] [  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name\n"
		for i, n := range pages {
			out += fmt.Sprintf("[Sun Aug 31 15:42:07 2025] [   %d]  1000  %[1]d 31402118 %d %[2]d     0         0 104738816   561210             0 python\n", 6120+i, n)
		}
		return out + "[Sun Aug 31 15:42:07 2025] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice/user-1000.slice/session-3.scope,task=python,pid=6120,uid=1000\n" +
			"[Sun Aug 31 15:42:07 2025] Out of memory: Killed process 6120 (python) total-vm:126247216kB, anon-rss:42781900kB, file-rss:29376kB, shmem-rss:0kB, UID:1000 pgtables:102844kB oom_score_adj:0\n"
	}
	share := func(weights string) string {
		return "index, name, memory.total [MiB], memory.used [MiB]\n0, NVIDIA L40S, 46068 MiB, 4 MiB\n$ vllm serve Qwen/Qwen2.5-7B-Instruct --gpu-memory-utilization 0.3 --max-num-batched-tokens 8192 --max-num-seqs 1024\n" +
			"INFO 06-24 14:04:13 [core.py:58] Initializing a V1 LLM engine (v0.8.5) with config: model='Qwen/Qwen2.5-7B-Instruct'\nINFO 06-24 14:04:16 [gpu_model_runner.py:1347] Model loading took " + weights + " GiB and 1.902113 seconds\n" +
			stackOf(noCache, "vllm/v1/core/kv_cache_utils.py|check_enough_kv_cache_memory|raise ValueError(")
	}
	moves := func(model string) string {
		return "+ swift rlhf --rlhf_type grpo --model /m/" + model + " --train_type lora --use_vllm true --vllm_mode colocate --vllm_gpu_memory_utilization 0.5 --deepspeed zero3 --sleep_level 1 --torch_dtype bfloat16\n" + swift +
			stackOf(full("270.00 MiB", "79.15", "188.56 MiB", "76.88"), "swift/trainers/rlhf_trainer/grpo_trainer.py|_generate_completions|inputs, outputs = self._fast_infer(inputs)", "swift/trainers/rlhf_trainer/grpo_trainer.py|_move_model_to_vllm_lmdeploy|with unwrap_model_for_generation(",
				"swift/trainers/rlhf_trainer/utils.py|unwrap_model_for_generation|with deepspeed.zero.GatheredParameters(parameters):", "deepspeed/runtime/zero/partition_parameters.py|_allgather_params_coalesced|flat_tensor = torch.empty(tensor_size, dtype=param_list[0].ds_tensor.dtype,")
	}
	pages := func(shape, asked string) string {
		return "{'input_ids': (15, 764), 'pixel_values': " + shape + ", 'image_grid_thw': (15, 3)}\n" + stackOf(full(asked, "23.55", "11.38 GiB", "11.25"), "/w/index.py|<module>|image_embeddings = model(**batch)", "transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|hidden_states = hidden_states + self.attn(", tower)
	}
	limit := func(pixels string) string {
		return "GRPOConfig(\nper_device_train_batch_size=1,\ngradient_checkpointing=False,\nmax_pixels=" + pixels + ",\n)\n" + stackOf(full("76.00 MiB", "39.39", "49.06 MiB", "38.48"), "/w/grpo_trainer.py|compute_loss|logps = self._get_per_token_logps(model, input_ids, pixel_values)",
			"transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py|forward|hidden_states = self.mlp(hidden_states)")
	}
	whole := func(each string) string {
		return "#SBATCH --cpus-per-task=2\n#SBATCH --mem-per-cpu=" + each + "\nsrun python label.py --model mistralai/Mistral-7B-Instruct-v0.3\nmodel = AutoModelForCausalLM.from_pretrained('mistralai/Mistral-7B-Instruct-v0.3', torch_dtype=torch.bfloat16).to('cuda')\n" +
			"Loading checkpoint shards:  33%|███▎      | 1/3 [00:19<00:38, 19.27s/it]slurmstepd: error: Detected 1 oom_kill event in StepId=4471902.0. Some of the step tasks have been OOM Killed.\nsrun: error: gpu14: task 0: Out Of Memory\n"
	}
	service := func(other string) string {
		return other + "embed-1  | (APIServer pid=1) INFO 09-02 08:13:06 [utils.py:326] non-default args: {'model': 'Qwen/Qwen3-Embedding-0.6B', 'task': 'embed'}\n" +
			"embed-1  | (EngineCore_0 pid=133) INFO 09-02 08:13:22 [core.py:74] Initializing a V1 LLM engine (v0.10.1.1) with config: model='Qwen/Qwen3-Embedding-0.6B'\n" +
			"embed-1  | (EngineCore_0 pid=133) ERROR 09-02 08:13:24 [core.py:700] ValueError: Free memory on device (16.61/44.39 GiB) on startup is less than desired GPU memory utilization (0.9, 39.95 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.\n"
	}
	wakes := func(file string) string {
		return "+ python3 -m openrlhf.cli.train_ppo_ray --colocate_all_models --vllm_enable_sleep --vllm_gpu_memory_utilization 0.65 --zero_stage 3\n" +
			stackOf("RuntimeError: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62", "openrlhf/trainer/ray/vllm_engine.py|wake_up|self.llm.wake_up()", file)
	}
	answersTo(t, map[string]expected{
		"an engine that wakes up beside the trainer": {log: wakes("vllm/device_allocator/cumem.py|wake_up|create_and_map(handle)"), cause: "engine_share_too_large", has: "--vllm_gpu_memory_utilization=0.48"},
		"an engine that fails elsewhere":             {log: wakes("vllm/v1/worker/gpu_worker.py|execute_model|output = self.model(inputs)"), cause: "engine_share_too_large", has: "--vllm_gpu_memory_utilization=0.55"},
		"a service that came to the card first":      {log: service("chat-1   | (EngineCore_0 pid=131) INFO 09-02 08:12:01 [gpu_model_runner.py:2007] Model loading took 9.3864 GiB and 8.402911 seconds\n"), cause: "foreign_process", first: "--gpu-memory-utilization=0.35"},
		"a card that somebody else fills":            {log: service(""), cause: "foreign_process", first: "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv"},
		"weights that exceed all processors' memory": {log: whole("4G"), cause: "host_load", first: "--mem-per-cpu=9G", never: "low_cpu_mem_usage"},
		"weights that fit once":                      {log: whole("9G"), cause: "host_load", has: "low_cpu_mem_usage"},
		"a teacher that every rank reads whole":      {log: teacher("/m/Llama-3.1-70B-Instruct"), cause: "not_sharded", first: "--deepspeed=zero3", never: "torch_dtype"},
		"the trained model in a type that was set":   {log: teacher("/m/Llama-3.1-8B"), cause: "wrong_dtype", never: "torch_dtype"},
		"a pod that grew until it was started again": {log: pods(1333), cause: "leak_over_steps", first: "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4", never: "limits.memory"},
		"a pod that stayed the same":                 {log: pods(0), cause: "limit_too_small", first: "resources.limits.memory=24Gi", never: "LD_PRELOAD"},
		"three programs that each keep their models": {log: tasks(10511974, 10695475, 9935257), cause: "host_load", first: "--cache-none=True"},
		"one of them":                                 {log: tasks(10511974), cause: "limit_too_small"},
		"a share below the weights":                   {log: share("14.2487"), cause: "engine_share_too_small", has: "gpu-memory-utilization", never: "max-num"},
		"a share above them":                          {log: share("12.1"), cause: "engine_share_too_small", has: "max-num-batched-tokens"},
		"a model gathered whole beside an engine":     {log: moves("Qwen2.5-VL-32B-Instruct"), cause: "weight_update", first: "--move_model_batches=16", never: "utilization"},
		"one that fits beside a smaller share":        {log: moves("Qwen2.5-VL-7B-Instruct"), cause: "weight_update", has: "utilization"},
		"the scores of all pages together":            {log: pages("(15, 2976, 1176)", "59.39 GiB"), cause: "attention_scores", first: "batch_size=4", never: "max_pixels"},
		"a request of another size":                   {log: pages("(15, 2976, 1176)", "50.00 GiB"), cause: "attention_scores", never: "batch_size=4"},
		"one large picture":                           {log: pages("(44640, 1176)", "59.39 GiB"), cause: "attention_scores", has: "max_pixels=1003520"},
		"a limit of pixels that few images reach":     {log: limit("12845056"), cause: "activations", has: "max_pixels=1003520", never: "max_pixels=6422528"},
		"a limit of pixels that is half of the usual": {log: limit("501760"), cause: "activations", has: "max_pixels=250880"},
	})
}

// TestAnEnginesOwnWordsShowNoFragmentation covers TensorRT-LLM, which says what it could not create and how much was free.
func TestAnEnginesOwnWordsShowNoFragmentation(t *testing.T) {
	t.Parallel()
	const refused = "$ trtllm-serve Qwen/Qwen3-32B --backend pytorch\n[08/12/2026-07:34:35] [TRT-LLM] [RANK 0] [E] Failed to initialize executor on rank 0: Executor creation failed due to insufficient GPU memory.\n\n" +
		"The following component could not be created: Additional executor resources\nTotal GPU memory (GiB): 79.25\nFree GPU memory before component creation attempt (GiB): 2.31\n"
	for _, r := range answerTo(t, refused).Remedies {
		if strings.HasPrefix(r.ID, "torch.card.expandable") || strings.HasPrefix(r.ID, "torch.card.max-split") {
			require.NotNil(t, r.Applies, r.ID)
			assert.False(t, *r.Applies, r.ID)
		}
	}
}

// TestWhatALogSaysOfItsParts pairs logs with the cause, the first change and what must not be proposed: which part of an engine is awake, what
// grows, whose scores failed. Each has a twin that says something else.
func TestWhatALogSaysOfItsParts(t *testing.T) {
	t.Parallel()
	sleeps := func(rise float64) string {
		out := "+ python3 -m verl.trainer.main config=examples/config.yaml worker.actor.micro_batch_size_per_device_for_update=4\n"
		for i := range 12 {
			out += fmt.Sprintf("(WorkerDict pid=9) Before vllm offload in sharding manager: %.2f GB / 79.25 GB.\n(WorkerDict pid=9) After vllm offload in sharding manager: %.2f GB / 79.25 GB.\nRunning step:   6%%|6         | %d/200 [0:01:36<16:36:48, 96.0s/it]\n", 32.6+rise*float64(i), 11.7+rise*float64(i), i+1)
		}
		return out + stackOf(full("4.36 GiB", "79.25", "3.76 GiB", "70.00"), "/w/EasyR1/verl/workers/actor/dp_actor.py|update_policy|loss.backward()", "torch/autograd/graph.py|_engine_run_backward|return Variable._execution_engine.run_backward(")
	}
	moves := func(woke string) string {
		return "+ swift rlhf --rlhf_type grpo --model /m/Qwen3-32B --train_type lora --use_vllm true --vllm_mode colocate --vllm_gpu_memory_utilization 0.5 --deepspeed zero3 --vllm_tensor_parallel_size 4 --move_model_batches 16 --sleep_level 1 --torch_dtype bfloat16\n" +
			"INFO 01-29 09:46:31 [executor_base.py:205] It took 0.611284 seconds to wake up" + woke + ".\n" +
			stackOf(full("250.00 MiB", "79.19", "143.36 MiB", "98.45"), "swift/trainers/rlhf_trainer/grpo_trainer.py|_fast_infer|self._move_model_to_vllm()", "swift/trainers/rlhf_trainer/rollout_mixin.py|_move_model_to_vllm|self._move_full_model_to_vllm()",
				"deepspeed/runtime/zero/partition_parameters.py|_allgather_params_coalesced|flat_tensor = torch.empty(tensor_size, dtype=param_list[0].ds_tensor.dtype,")
	}
	scores := func(frame string) string {
		return "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=/m/gpt-oss-20b actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=32 +actor_rollout_ref.model.override_config.attn_implementation=eager\n" +
			stackOf(full("24.50 GiB", "79.19", "7.09 GiB", "66.83"), "/o/verl/workers/fsdp_workers.py|compute_log_prob|outputs = self.actor.compute_log_prob(data=data)", "/o/verl/workers/actor/dp_actor.py|compute_log_prob|outputs = self._forward_micro_batch(", frame)
	}
	builds := func(model string) string {
		return "$ python3 -m sglang.launch_server --model-path Qwen/" + model + " --mem-fraction-static 0.85\n[2025-10-14 08:31:30] Load weight begin. avail mem=43.94 GB\n" +
			stackOf(full("768.00 MiB", "44.40", "245.31 MiB", "43.68"), "sglang/srt/managers/scheduler.py|__init__|self.tp_worker = TpWorkerClass(", "sglang/srt/model_executor/model_runner.py|load_model|self.model = get_model(", "sglang/srt/layers/quantization/unquant.py|create_weights|torch.empty(")
	}
	predicts := func(keeps, bar string) string {
		return "#SBATCH --mem=128G\n+ srun python predict.py --ckpt unet.ckpt\nNamespace(ckpt='unet.ckpt', batch_size=16, num_workers=8, return_predictions=" + keeps + ")\nGPU available: True (cuda), used: True\n" +
			bar + " DataLoader 0:  37%|███▋      | 1534/4120 [07:58<13:26,  3.21it/s]\nslurmstepd: error: Detected 1 oom_kill event in StepId=812231.0. Some of the step tasks have been OOM Killed.\nsrun: error: gpu07: task 0: Out Of Memory\n"
	}
	augments := func(gone string) string {
		return "#SBATCH --mem=24G\n+ srun nnUNetv2_train 42 3d_fullres 0\n2025-09-18 22:31:31.463005: Epoch 0\n" + gone + "slurmstepd: error: Detected 3 oom_kill events in StepId=812231.0. Some of the step tasks have been OOM Killed.\nsrun: error: gpu07: task 0: Out Of Memory\n"
	}
	takes := func(device string) string {
		return "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=/m/Qwen3-14B actor_rollout_ref.rollout.gpu_memory_utilization=0.6\n" + device +
			"INFO 08-14 10:23:47 [gpu_model_runner.py:1892] Model loading took 27.5185 GiB and 2.906128 seconds\nINFO 08-14 10:23:51 [gpu_worker.py:255] Available KV cache memory: -5.41 GiB\n" +
			stackOf("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", "vllm/v1/core/kv_cache_utils.py|check_enough_kv_cache_memory|raise ValueError(")
	}
	gradient := func(size, free string) string {
		return "$ python3 train.py --tensor-model-parallel-size 2 --vocab-size 152064 --max-tokens-per-gpu 40960 --use-dynamic-batch-size --colocate\n" +
			stackOf(full(size, "79.11", free, "67.02"), "/root/slime/slime/backends/megatron_utils/actor.py|train_actor|train(", "/root/Megatron-LM/megatron/core/pipeline_parallel/schedules.py|custom_backward|Variable._execution_engine.run_backward(")
	}
	encodes := "+ swift sft --model Qwen/Qwen2.5-VL-7B-Instruct --train_type lora --torch_dtype bfloat16 --per_device_train_batch_size 1 --gradient_checkpointing true --max_pixels 12845056\n[INFO:swift] rank: 0, local_rank: 0, world_size: 2, local_world_size: 2\n" +
		stackOf(full("37.60 GiB", "47.40", "28.55 GiB", "18.09"), "swift/trainers/mixin.py|compute_loss|outputs = model(**inputs)", "transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py|forward|image_embeds = self.visual(pixel_values, grid_thw=image_grid_thw)", "transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py|forward|attn_output = F.scaled_dot_product_attention(q, k, v, attention_mask, dropout_p=0.0)")
	fullTuning := func(adam, card, held string) string {
		return "$ FORCE_TORCHRUN=1 llamafactory-cli train sft.yaml\n[INFO|2025-03-19 10:02:31] llamafactory.hparams.parser:384 >> Process rank: 0, world size: 4, device: cuda:0, distributed training: True, compute dtype: torch.bfloat16\n" +
			"[INFO|2025-03-19 10:02:56] llamafactory.model.adapter:143 >> Upcasting trainable params to float32.\n[INFO|2025-03-19 10:02:57] llamafactory.model.loader:143 >> trainable params: 7,615,616,512 || all params: 7,615,616,512 || trainable%: 100.0000\n" +
			"TrainingArguments(\ndeepspeed=None,\noptim=" + adam + ",\nper_device_train_batch_size=1,\n)\n" +
			"[rank0]: " + strings.ReplaceAll(strings.TrimSuffix(stackOf(full("260.00 MiB", card, "165.75 MiB", held), "/opt/LLaMA-Factory/src/llamafactory/train/sft/workflow.py|run_sft|train_result = trainer.train(", "transformers/trainer.py|training_step|self.accelerator.backward(loss, **kwargs)", "torch/_tensor.py|backward|torch.autograd.backward("), "\n"), "\n", "\n[rank0]: ") + "\n"
	}
	flux := func(moments, cached string) string {
		return "+ accelerate launch --num_processes 1 flux_train.py --pretrained_model_name_or_path /m/flux1-dev.safetensors --train_batch_size 1 --gradient_checkpointing --cache_latents_to_disk --optimizer_type " + moments + " --mixed_precision bf16 --full_bf16" + cached + "\nnumber of trainable parameters: 11901408320\n" +
			stackOf(full("72.00 MiB", "79.11", "9.50 MiB", "78.34"), "/w/sd-scripts/flux_train.py|train|accelerator.backward(loss)", "torch/_tensor.py|backward|torch.autograd.backward(")
	}
	fills := func(n int) string {
		return fmt.Sprintf("#SBATCH --mem=128G\n+ srun python train.py --model resnet50\nTensorFlow 2.17.0, Keras 3.5.0\nI tensorflow/core/kernels/data/shuffle_dataset_op.cc:450] ShuffleDatasetV3:11: Filling up shuffle buffer (this may take a while): %d of 1281167\n", n) +
			"slurmstepd: error: Detected 1 oom_kill event in StepId=812231.0. Some of the step tasks have been OOM Killed.\nsrun: error: gpu07: task 0: Out Of Memory\n"
	}
	replicates := func(distributed string) string {
		return "+ torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --use-mcore-models\nusing world size: 16, data-parallel size: 16, context-parallel size: 1, tensor-model-parallel size: 1, pipeline-model-parallel size: 1\n------------------------ arguments ------------------------\n" +
			"  accumulate_allreduce_grads_in_fp32 .............. True\n  bf16 ............................................ True\n  ffn_hidden_size ................................. 14336\n  hidden_size ..................................... 4096\n  micro_batch_size ................................ 1\n  num_attention_heads ............................. 32\n" +
			"  num_layers ...................................... 32\n  num_query_groups ................................ 8\n  optimizer ....................................... adam\n  pipeline_model_parallel_size .................... 1\n  recompute_granularity ........................... full\n  seq_length ...................................... 4096\n" +
			"  tensor_model_parallel_size ...................... 1\n  untie_embeddings_and_output_weights ............. True\n  use_distributed_optimizer ....................... " + distributed + "\n  world_size ...................................... 16\n-------------------- end of arguments ---------------------\n" +
			" > padded vocab (size: 128256) with 0 dummy tokens (new size: 128256)\n > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 8030261248\n[before the start of training step] datetime: 2025-07-08 16:22:19 \n" +
			stackOf(full("1.96 GiB", "79.11", "931.75 MiB", "76.87"), "/w/megatron/training/training.py|train_step|losses_reduced = forward_backward_func(", "/w/megatron/core/models/gpt/gpt_model.py|forward|loss = self.compute_language_model_loss(labels, logits)",
				"/w/megatron/core/tensor_parallel/cross_entropy.py|calculate_logits_max|vocab_parallel_logits = vocab_parallel_logits.float()")
	}
	refuses := func(component, free string) string {
		return "$ trtllm-serve Qwen/Qwen2.5-7B-Instruct --backend pytorch\n[10/02/2025-08:41:50] [TRT-LLM] [E] Failed to initialize executor on rank 0: Executor creation failed due to insufficient GPU memory.\n\n" +
			"The following component could not be created: " + component + "\nTotal GPU memory (GiB): 79.18\nFree GPU memory before component creation attempt (GiB): " + free + "\n"
	}
	offloadsBoth := func(parameters string) string {
		return "$ nvidia-smi --query-gpu=name,memory.total --format=csv,noheader\nNVIDIA A100-SXM4-80GB, 81920 MiB\n$ deepspeed --num_gpus 4 finetune.py --model_name_or_path /m/base --per_device_train_batch_size 1 --gradient_checkpointing True --deepspeed ds.json\n" +
			"{\n  \"zero_optimization\": {\n    \"stage\": 3,\n    \"offload_optimizer\": {\n      \"device\": \"cpu\"\n    },\n    \"offload_param\": {\n      \"device\": \"cpu\"\n    }\n  }\n}\n" +
			"[2025-03-11 19:20:28,033] [INFO] [partition_parameters.py:348:__exit__] finished initializing model - num_params = 507, num_elems = " + parameters + "\n[2025-03-11 19:22:41,862] [INFO] [logging.py:128:log_dist] [Rank 0] Creating torch.bfloat16 ZeRO stage 3 optimizer\n" +
			"[2025-03-11 19:24:51,881] [INFO] [utils.py:781:see_memory_usage] Before initializing optimizer states\nOut of memory: Killed process 20117 (python) total-vm:412345678kB, anon-rss:91234567kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0\n"
	}
	besideEngine := func(sleeps string) string {
		return "$ trl grpo --model_name_or_path /m/Qwen3-4B --dtype bfloat16 --use_vllm True --vllm_mode colocate --vllm_gpu_memory_utilization 0.6 --vllm_enable_sleep_mode " + sleeps + " --gradient_checkpointing True --per_device_train_batch_size 2 --num_processes 1\n" +
			"INFO 10-02 13:05:43 [core.py:76] Initializing a V1 LLM engine (v0.10.2) with config: model='/m/Qwen3-4B', dtype=torch.bfloat16, max_seq_len=1536, tensor_parallel_size=1\nINFO 10-02 13:06:24 [gpu_worker.py:298] Available KV cache memory: 37.92 GiB\n***** Running training *****\n  Num examples = 93,733\n  Number of trainable parameters = 4,022,468,096\n" +
			stackOf(full("48.00 MiB", "79.11", "44.62 MiB", "76.31"), "trl/scripts/grpo.py|main|trainer.train()", "transformers/trainer.py|_inner_training_loop|self.optimizer.step()", "torch/optim/adamw.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like(")
	}
	const startsBeside = "+ swift rlhf --rlhf_type grpo --model /m/Qwen2.5-7B-Instruct --train_type lora --use_vllm true --vllm_mode colocate --vllm_gpu_memory_utilization 0.9 --offload_model false --offload_optimizer false\n"
	const eager = "transformers/models/gpt_oss/modeling_gpt_oss.py|eager_attention_forward|combined_logits = combined_logits - combined_logits.max(dim=-1, keepdim=True).values"
	answersTo(t, map[string]expected{
		"readings that climb while the engine sleeps":   {log: sleeps(0.9), cause: "leak_over_steps", first: "trainer.find_last_checkpoint=true", never: "micro_batch"},
		"readings that stay":                            {log: sleeps(0), cause: "logits", has: "micro_batch_size_per_device_for_update"},
		"an engine whose weights alone are awake":       {log: moves(" tags ['weights']"), cause: "weight_update", never: "utilization"},
		"an engine that is all awake":                   {log: moves(""), cause: "weight_update", has: "--vllm_gpu_memory_utilization"},
		"attention scores that the code calls logits":   {log: scores(eager), cause: "attention_scores", first: "actor_rollout_ref.model.override_config.attn_implementation=kernels-community/vllm-flash-attn3", never: "use_fused_kernels"},
		"another model's":                               {log: scores(strings.ReplaceAll(eager, "gpt_oss", "qwen3")), cause: "attention_scores", first: "actor_rollout_ref.model.override_config.attn_implementation=flash_attention_2"},
		"the logits of the vocabulary":                  {log: scores("verl/utils/torch_functional.py|logprobs_from_logits|output = F.log_softmax(logits, dim=-1)"), cause: "logits", has: "use_fused_kernels"},
		"experts, which bitsandbytes does not quantize": {log: builds("Qwen3-30B-A3B-Instruct-2507"), cause: "states_too_big", first: "--tp-size=2", never: "bitsandbytes"},
		"a dense model":                                 {log: builds("Qwen3-32B"), cause: "states_too_big", has: "bitsandbytes"},
		"predictions that are kept":                     {log: predicts("True", "Predicting"), cause: "leak_over_steps", first: "return_predictions=False", has: "--mem=344G"},
		"predictions that are not kept":                 {log: predicts("False", "Predicting"), cause: "limit_too_small", first: "--mem=192G"},
		"a share of a card that a reading sizes":        {log: takes("Before building vllm rollout, memory allocated (GB): 0.00, memory reserved (GB): 0.02, device memory used/total (GB): 1.38/39.39\n"), cause: "engine_share_too_small", first: "actor_rollout_ref.rollout.gpu_memory_utilization=0.81"},
		"a share of any card":                           {log: takes(""), cause: "engine_share_too_small", first: "actor_rollout_ref.rollout.gpu_memory_utilization=0.7"},
		"the gradient of all logits of a budget":        {log: gradient("11.60 GiB", "6.37 GiB"), cause: "logits", first: "--max-tokens-per-gpu=20480"},
		"a small gradient in the same frame":            {log: gradient("256.00 MiB", "120.00 MiB"), cause: "activations"},
		"a picture whose patches all attend":            {log: encodes, cause: "attention_scores", first: "--attn_impl=flash_attn", has: "--max_pixels"},
		"an augmenter that is gone":                     {log: augments("RuntimeError: One or more background workers are no longer alive. Exiting. Please check the print statements above for the actual error message\n"), cause: "loader_workers", first: "--mem=40G", has: "nnUNet_n_proc_DA=6"},
		"a buffer of which memory holds a part":         {log: fills(197483), cause: "loader_workers", first: "buffer_size=148110", has: "--mem=832G"},
		"a buffer that is nearly full":                  {log: fills(1250000), cause: "loader_workers", first: "buffer_size=320291", has: "--mem=192G"},
		"an optimizer that each rank has whole":         {log: replicates("False"), cause: "states_too_big", first: "--use-distributed-optimizer=True", never: "--context-parallel-size"},
		"one that is split":                             {log: replicates("True"), cause: "logits", has: "--context-parallel-size", never: "--use-distributed-optimizer"},
		"a card that was full before the model":         {log: refuses("Model", "4.37"), cause: "foreign_process", first: "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv"},
		"a model on an empty card":                      {log: refuses("Model", "78.60"), cause: "states_too_big", has: "tp_size"},
		"states that would fill the cards":              {log: offloadsBoth("22.25B"), cause: "host_offload", first: "zero_optimization.offload_param.device=none", never: "offload_optimizer.device=none"},
		"states for which the cards have room":          {log: offloadsBoth("8.03B"), cause: "host_offload", first: "zero_optimization.offload_optimizer.device=none"},
		"Adam's states beside an engine that stays":     {log: besideEngine("False"), cause: "optimizer_first_step", first: "--vllm_enable_sleep_mode=true", has: "--optim=adamw_8bit"},
		"beside one that sleeps":                        {log: besideEngine("True"), cause: "optimizer_first_step", first: "--optim=adamw_8bit", never: "sleep_mode"},
		"an engine that starts beside a trained model": {log: startsBeside + stackOf("ValueError: Free memory on device (62.61/79.25 GiB) on startup is less than desired GPU memory utilization (0.9, 71.33 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
			"swift/trainers/rlhf_trainer/rollout_mixin.py|_prepare_vllm_engine|engine = GRPOVllmEngine(", "vllm/v1/worker/gpu_worker.py|init_device|raise ValueError("), cause: "engine_share_too_large", first: "--vllm_gpu_memory_utilization=0.75", has: "--offload_model", never: "offload_optimizer"},
		"a process that writes predictions is gone":   {log: augments("RuntimeError: Some background workers are no longer alive\n"), cause: "loader_workers", has: "nnUNet_def_n_proc=2", never: "nnUNet_n_proc_DA"},
		"no word of an augmenter":                     {log: augments(""), cause: "limit_too_small", first: "--mem=40G", never: "nnUNet_n_proc_DA"},
		"gradients that DDP's buckets hold once more": {log: fullTuning("adamw_torch", "79.25", "77.57"), cause: "states_too_big", first: "deepspeed=examples/deepspeed/ds_z3_config.json", never: "8bit"},
		"whose buckets fit":                           {log: fullTuning("adamw_torch", "105.00", "103.57"), cause: "states_too_big", has: "optim=adamw_8bit"},
		"text encoders beside all of a transformer":   {log: flux("AdamW8bit", ""), cause: "states_too_big", first: "--optimizer_type=Adafactor", has: "--cache_text_encoder_outputs", never: "train_batch_size"},
		"text encoders that are gone":                 {log: flux("AdamW8bit", " --cache_text_encoder_outputs_to_disk"), cause: "states_too_big", first: "--optimizer_type=Adafactor", never: "cache_text_encoder_outputs="},
		"a test, whose outputs are not kept":          {log: predicts("True", "Testing"), cause: "limit_too_small", first: "--mem=192G"},
	})
}
