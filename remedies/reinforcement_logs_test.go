package remedies

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatRunsOfReinforcementLearningAreTold has frameworks by phases, with the command line in the log and without: what comes first,
// and what must not come at all.
func TestWhatRunsOfReinforcementLearningAreTold(t *testing.T) {
	t.Parallel()
	full := func(asked, free, own, other float64) string {
		neighbor := ""
		if other > 0 {
			neighbor = fmt.Sprintf(" Process 4242 has %.2f GiB memory in use.", other)
		}
		return fmt.Sprintf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %.2f GiB. GPU 3 has a total capacity of %.2f GiB of which %.2f GiB is free.%s Including non-PyTorch memory, this process has %.2f GiB memory in use. Of the allocated memory %.2f GiB is allocated by PyTorch, and 0.21 GiB is reserved by PyTorch but unallocated.",
			asked, own+free+other, free, neighbor, own, own-2)
	}
	held := func(each float64, name string) string {
		rows := ""
		for i := range 8 {
			rows += fmt.Sprintf("%d\t%.2f\tray::%s\n", 5000+i, each-float64(i)*.3, name)
		}
		return "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.3, ID: 4f) where the task (actor ID: 8a, name=WorkerDict.__init__, pid=5000, memory used=" +
			fmt.Sprintf("%.2fGB) was running was %.2fGB / %.2fGB", each, each*8.4, each*8.8) + " (0.955562), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: c0) because it was the most recently scheduled task; to see more information about memory usage on this node, use `ray logs raylet.out -ip 10.0.0.3`. To see the logs of the worker, use `ray logs worker-c0*out -ip 10.0.0.3. Top 10 memory users:\nPID\tMEM(GB)\tCOMMAND\n" +
			rows + "Refer to the documentation on how to address the out of memory issue: https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html.\n"
	}
	workers := func(each float64) string { return held(each, "WorkerDict.actor_rollout_generate_sequences") }
	trainers := func(each float64) string { return held(each, "MegatronTrainRayActor.train") }
	const (
		backward = "torch/autograd/graph.py|_engine_run_backward|return Variable._execution_engine.run_backward("
		adam     = "torch/optim/adamw.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like("
		fused    = "deepspeed/ops/adam/fused_adam.py|step|state['exp_avg_sq'] = torch.zeros_like(p.data)"
		megatron = "transformer_engine/pytorch/optimizers/fused_adam.py|_initialize_state|data = torch.empty(param.shape, dtype=dtype, device=param.device)"
		logits   = "torch/nn/functional.py|log_softmax|ret = input.log_softmax(dim)"
		eager    = "transformers/models/qwen2/modeling_qwen2.py|eager_attention_forward|attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query.dtype)"
		layer    = "/opt/Megatron-LM/megatron/core/transformer/mlp.py|forward|intermediate_parallel = self.activation_func(intermediate_parallel)"
		grads    = "/opt/Megatron-LM/megatron/core/distributed/finalize_model_grads.py|finalize_model_grads|model_chunk.finish_grad_sync()"
		load     = "transformers/modeling_utils.py|_load_state_dict_into_meta_model|param = param[...].to(param_device)"
		nccl     = "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:94, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.27.5\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nFailed to CUDA calloc async %d bytes"

		inSlime    = "/root/slime/slime/backends/megatron_utils/model.py|train_one_step|x"
		inOpenRLHF = "/openrlhf/openrlhf/trainer/ray/ppo_actor.py|ppo_train|x"
		inAReaL    = "/AReaL/areal/engine/fsdp_engine.py|_create_device_model|x"
		inSkyRL    = "/home/ray/SkyRL/skyrl-train/skyrl_train/workers/worker.py|optim_step|x"
		inSwift    = "swift/megatron/trainers/base.py|train_step|x"
		inGRPO     = "/opt/ms-swift/swift/trainers/rlhf_trainer/grpo_trainer.py|_get_per_token_logps_and_entropies_single|x"
		inPrime    = "/home/u/prime-rl/src/prime_rl/trainer/rl/train.py|train|x"
		inEasyR1   = "/workspace/EasyR1/verl/trainer/ray_trainer.py|fit|self.actor_rollout_wg.generate_sequences(gen_batch)"
		inOpen     = "/w/open-instruct/open_instruct/grpo_fast.py|train|x"

		slime    = "+ ray job submit '--runtime-env-json={\"env_vars\": {\"CUDA_DEVICE_MAX_CONNECTIONS\": \"1\"}}' -- python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --colocate --hf-checkpoint /root/Qwen3-8B --rollout-batch-size 32 --rollout-max-response-len 8192 --global-batch-size 256 --tensor-model-parallel-size 2 --sequence-parallel --recompute-granularity full --recompute-method uniform --recompute-num-layers 1 --use-dynamic-batch-size --max-tokens-per-gpu 9216 --sglang-mem-fraction-static 0.7\n"
		openrlhf = "+ ray job submit '--runtime-env-json={\"working_dir\": \"/o\"}' -- python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 1 --actor_num_gpus_per_node 8 --vllm_num_engines 4 --vllm_gpu_memory_utilization 0.6 --pretrain Qwen/Qwen2.5-7B-Instruct --micro_train_batch_size 4 --train_batch_size 128 --micro_rollout_batch_size 8 --rollout_batch_size 1024 --prompt_max_len 1024 --generate_max_len 3072 --zero_stage 3 --bf16 --gradient_checkpointing --flash_attn"
		areal    = "+ python3 examples/math/gsm8k_rl.py --config examples/math/gsm8k_grpo.yaml\nallocation_mode: sglang:d2t8+fsdp:d16\nactor:\n  path: Qwen/Qwen2.5-72B-Instruct\n  dtype: bfloat16\n  gradient_checkpointing: true\n  fsdp: {offload_params: false, memory_efficient_load: false}\n  mb_spec: {max_tokens_per_mb: 16384}\ngconfig: {n_samples: 8, max_new_tokens: 4096}\n"
		skyrl    = "+ uv run --extra vllm -m skyrl_train.entrypoints.main_base trainer.policy.model.path=Qwen/Qwen2.5-7B-Instruct trainer.placement.colocate_all=true trainer.placement.policy_num_gpus_per_node=8 trainer.strategy=fsdp2 trainer.micro_train_batch_size_per_gpu=8 generator.gpu_memory_utilization=0.8 generator.num_inference_engines=8\n"
		swift    = "+ NPROC_PER_NODE=8 megatron rlhf --rlhf_type grpo --model Qwen/Qwen3-30B-A3B --tuner_type full --tensor_model_parallel_size 2 --expert_model_parallel_size 4 --micro_batch_size 1 --global_batch_size 64 --max_length 8192 --recompute_granularity selective"
		grpo     = "+ NPROC_PER_NODE=4 swift rlhf --rlhf_type grpo --model /models/Qwen2.5-7B-Instruct --train_type lora --torch_dtype bfloat16 --use_vllm true --vllm_mode colocate --vllm_gpu_memory_utilization 0.5 --sleep_level 1 --max_length 2048 --max_completion_length 4096 --per_device_train_batch_size 4 --gradient_accumulation_steps 4 --num_generations 8 --gradient_checkpointing true "
		prime    = " INFO Starting RL trainer in World(world_size=8, rank=0, local_rank=0, local_world_size=8, num_nodes=1)\n INFO Initializing model (name='Qwen/Qwen3-8B' impl='custom' seq_len=32768 cp=2 ep=1 optim_cpu_offload=False fused_lm_head_token_chunk_size=1024 ac=ActivationCheckpointConfig(mode='full', freq=1))\n"
		easyr1   = "+ python3 -m verl.trainer.main config=examples/config.yaml worker.actor.model.model_path=Qwen/Qwen2.5-VL-7B-Instruct data.rollout_batch_size=512 worker.rollout.gpu_memory_utilization=0.6 trainer.n_gpus_per_node=8 trainer.nnodes=1\n(WorkerDict pid=88412) Qwen2_5_VLForConditionalGeneration contains 8.29B parameters.\n"
		step     = "Running step:  10%|#         | 9/60 [36:21<5:26:58, 363.3s/it]\n"
		vllm     = "(WorkerDict pid=88412) INFO 03-24 17:54:07 [core.py:53] Initializing a V1 LLM engine (v0.8.1) with config: model='Qwen/Qwen2.5-VL-7B-Instruct'\n"
		open     = "+ python open_instruct/grpo_fast.py --model_name_or_path Qwen/Qwen3-1.7B --per_device_train_batch_size 1 --pack_length 8192 --response_length 2048 --deepspeed_stage 2 --num_learners_per_node 1 --single_gpu_mode --vllm_gpu_memory_utilization 0.5 --gradient_checkpointing\n"
	)
	replay := func(length string) string {
		return strings.NewReplacer("--rollout-batch-size 32", "--rollout-batch-size 96 --n-samples-per-prompt 16 --use-rollout-routing-replay --optimizer-cpu-offload --num-layers 47 --moe-router-topk 4", "--rollout-max-response-len 8192", "--rollout-max-response-len "+length).Replace(slime) + "\n"
	}
	const (
		scores  = "/root/slime/slime/backends/megatron_utils/loss.py|get_log_probs_and_entropy|log_prob, entropy = calculate_log_probs_and_entropy("
		entropy = "/root/slime/slime/utils/ppo_utils.py|compute_entropy_from_logits|return _VocabParallelEntropy.apply(logits, process_group)"
		apply   = "torch/autograd/function.py|apply|return super().apply(*args, **kwargs)"
		shifted = "/root/slime/slime/utils/ppo_utils.py|forward|normalized_vocab_parallel_logits = vocab_parallel_logits - logits_max"
	)
	chunked := strings.NewReplacer("gpu 9216", "gpu 24576 --log-probs-chunk-size 1024 --vocab-size 151936", " --colocate", " --rollout-num-gpus 8").Replace(slime)
	for _, c := range []struct {
		name, log, cause string
		first            string
		never            []string
	}{
		{"slime's engine sleeps and keeps its contexts", slime + stackOf(full(2.61, 2.2, 70.9, 5.98), inSlime, logits), "logits", "log_probs_chunk_size = 1024", []string{"sglang_mem_fraction_static down", "optimizer_cpu_offload set"}},
		{"autograd keeps all of slime's chunks", strings.TrimSuffix(slime, "\n") + " --log-probs-chunk-size 8192\n" + stackOf(full(1.16, .85, 70.9, 5.98), inSlime, logits), "logits", "", []string{"log_probs_chunk_size down"}},
		{"a chunk of slime's entropy says nothing of the pack", chunked + stackOf(full(.29, .21, 78.7, 0), inSlime, scores, entropy, apply, shifted), "entropy_chain", "max_tokens_per_gpu down", []string{"recompute_loss_function set", "context_parallel_size up", "log_probs_chunk_size down"}},
		{"nor does one sample of several", strings.ReplaceAll(chunked, " --log-probs-chunk-size 1024", "") + stackOf(full(1.77, .3, 74.4, 0), inSlime, scores, entropy, apply, shifted), "entropy_chain", "max_tokens_per_gpu down", []string{"context_parallel_size up"}},
		{"and at its optimizer's first step", slime + stackOf(full(.3, .1, 73, 5.9), inSlime, megatron), "optimizer_first_step", "optimizer_cpu_offload", []string{"sglang_mem_fraction_static down", "max_tokens_per_gpu down"}},
		{"slime's log-probs have a budget of their own, which counts for each rank", strings.NewReplacer("--max-tokens-per-gpu", "--log-probs-max-tokens-per-gpu 131072 --max-tokens-per-gpu").Replace(slime) + stackOf(full(37.02, 34.2, 44, 0), "/root/slime/slime/backends/megatron_utils/model.py|forward_only|forward_data_store += forward_backward_func(", "/root/slime/slime/backends/megatron_utils/actor.py|compute_log_prob|return forward_only(", "/root/Megatron-LM/megatron/core/transformer/module.py|float_conversion|val = val.float()"), "logits", "log_probs_max_tokens_per_gpu down", []string{"max_tokens_per_gpu down", "context_parallel_size up"}},
		{"a trainer still needs memory after its engine has started", "trl 0.15.2\nGRPOConfig(use_vllm=True, vllm_gpu_memory_utilization=0.9, per_device_train_batch_size=8)\nINFO 03-21 08:12:49 worker.py:267] the current vLLM instance can use total_gpu_memory (79.11GiB) x gpu_memory_utilization (0.90) = 71.20GiB\nINFO 03-21 08:12:49 worker.py:267] model weights take 14.25GiB; non_torch_memory takes 0.15GiB; PyTorch activation peak memory takes 4.35GiB; the rest of the memory reserved for KV Cache is 52.45GiB.\n" + stackOf(full(1.87, 1.09, 78.01, 0), "trl/trainer/grpo_trainer.py|__init__|self.llm = LLM(", "vllm/worker/worker.py|_init_cache_engine|CacheEngine(self.cache_config", "vllm/worker/cache_engine.py|_allocate_kv_cache|layer_kv_cache = torch.zeros(alloc_shape,"), "engine_share_too_large", "vllm_gpu_memory_utilization = 0.5", nil},
		{"slime without its command line", stackOf(full(.3, .1, 73, 5.9), inSlime, megatron), "optimizer_first_step", "optimizer_cpu_offload", []string{"sglang_mem_fraction_static down", "max_tokens_per_gpu down"}},
		{"a collective of slime's step, whose engine sleeps", slime + stackOf(fmt.Sprintf(nccl, 10485760), inSlime, grads), "nccl_no_margin", "max_tokens_per_gpu down", []string{"sglang_mem_fraction_static down", "nccl_nvls_enable = 0"}},
		{"OpenRLHF's engines have cards of their own", openrlhf + "\n" + stackOf(full(.5, .4, 76.7, 2), inOpenRLHF, backward), "activations", "micro_train_batch_size down", []string{"vllm_gpu_memory_utilization down", "vllm_enable_sleep = True"}},
		{"where they share them, they sleep if they are told to", openrlhf + " --colocate_all_models\n" + stackOf(full(1.9, .4, 31, 46), inOpenRLHF, fused), "engine_share_too_large", "vllm_enable_sleep = True", []string{"micro_train_batch_size down"}},
		{"and then the optimizer's states are what counts", strings.ReplaceAll(openrlhf, "7B", "32B") + " --colocate_all_models --vllm_enable_sleep\n" + stackOf(full(1.9, .4, 73, 4), inOpenRLHF, fused), "optimizer_first_step", "adam_offload = True", []string{"vllm_gpu_memory_utilization down", "use_liger_kernel set"}},
		{"weights on every card, where the batch is one sample", strings.NewReplacer("batch_size 4", "batch_size 1", "stage 3", "stage 2 --adam_offload").Replace(openrlhf) + "\n" + stackOf(full(.2, .1, 23, 0), inOpenRLHF, backward), "not_sharded", "zero_stage = 3", []string{"adam_offload set", "micro_train_batch_size down"}},
		{"AReaL loads before it splits", areal + stackOf(full(.45, .35, 78.7, 0), inAReaL, load), "states_too_big", "memory_efficient_load = true", []string{"offload_params = true", "max_new_tokens down", "device_map = auto"}},
		{"SkyRL's engine sleeps at the optimizer's step", strings.ReplaceAll(skyrl, "7B", "32B") + stackOf(full(.3, .1, 75, 3.1), inSkyRL, adam), "optimizer_first_step", "", []string{"gpu_memory_utilization down", "micro_train_batch_size_per_gpu down"}},
		{"a collective of ms-swift's step is helped by what frees memory there", swift + " --nccl_comm_warmup false\n" + stackOf(fmt.Sprintf(nccl, 10485760), inSwift, grads), "nccl_no_margin", "nccl_comm_warmup = true", []string{"nccl_nvls_enable = 0", "micro_batch_size down"}},
		{"attention that somebody chose comes before a batch that fits", grpo + "--attn_impl eager\n" + stackOf(full(15.75, 12.92, 26.47, 0), inGRPO, eager, "torch/nn/functional.py|softmax|ret = input.softmax(dim, dtype=dtype)"), "attention_scores", "attn_impl = flash_attn", []string{"per_device_train_batch_size = 2", "gradient_checkpointing set"}},
		{"a version without the switch recomputes first", swift + "\n" + stackOf(fmt.Sprintf(nccl, 67108864), inSwift, grads), "nccl_no_margin", "", []string{"nccl_comm_warmup = true"}},
		{"ms-swift's layers", swift + "\n" + stackOf(full(.6, .3, 78, 0), inSwift, layer), "activations", "recompute_granularity = full", []string{"micro_batch_size down"}},
		{"prime-rl shards by itself, and its head is in pieces", prime + stackOf(full(.3, .1, 78.7, 0), inPrime, adam), "optimizer_first_step", "fsdp_cpu_offload = true", []string{"optim_cpu_offload = true", "fully_shard set", "fused_lm_head_token_chunk_size down"}},
		{"prime-rl moves Adam's states to the host after a step", strings.ReplaceAll(prime, "optim_cpu_offload=False", "optim_cpu_offload=True full_offload=None") + "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:          128Gi\n", "host_offload", "optim_cpu_offload = false", []string{"full_offload = false"}},
		{"slime's routing replay", replay("65536") + stackOf(trainers(104), inSlime), "loader_workers", "use_rollout_routing_replay = False", []string{"max_tokens_per_gpu down"}},
		{"of rollouts that are small for the node", replay("4096") + stackOf(trainers(104), inSlime), "host_offload", "optimizer_cpu_offload = False", []string{"use_rollout_routing_replay = False", "rollout_batch_size down"}},
		{"a version of vLLM that leaks", easyr1 + vllm + step + stackOf(workers(170), inEasyR1), "leak_over_steps", "vllm", []string{"rollout_batch_size down", "memory up"}},
		{"workers that hold more than model and states explain", easyr1 + step + stackOf(workers(170), inEasyR1), "leak_over_steps", "", []string{"rollout_batch_size down"}},
		{"workers that hold what they need", easyr1 + step + stackOf(workers(60), inEasyR1), "limit_too_small", "", nil},
		{"ranks whose data another process loads", "+ docker run --gpus all --memory=96g verl bash run.sh\n+ python3 -m verl.trainer.main_ppo data.dataloader_num_workers=2 actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct actor_rollout_ref.actor.fsdp_config.param_offload=False actor_rollout_ref.actor.fsdp_config.optimizer_offload=False trainer.n_gpus_per_node=8 trainer.nnodes=1\n" + stackOf(workers(10.9), "/workspace/verl/verl/trainer/ppo/ray_trainer.py|fit|gen_batch_output = self.actor_rollout_wg.generate_sequences(gen_batch)"), "limit_too_small", "memory = 144G", []string{"num_workers down"}},
		{"and before a step", easyr1 + stackOf(workers(170), inEasyR1), "limit_too_small", "", nil},
		{"Open-Instruct on one GPU with its engine", open + stackOf(full(2, .4, 48, 30), inOpen, fused), "optimizer_first_step", "deepspeed_offload_optimizer = True", []string{"deepspeed_stage up", "optim = adamw_8bit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.log)
			require.NotNil(t, a.Cause)
			assert.Equal(t, c.cause, a.Cause.ID)
			first, all := proposed(a)
			assert.Contains(t, strings.Join(first, "; "), c.first)
			for _, bad := range c.never {
				assert.NotContains(t, all, bad)
			}
		})
	}
}
