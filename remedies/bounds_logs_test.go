package remedies

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatBoundsARunIsNamedAndMoved has logs whose figures show what is too small or too large, and what would not change that.
func TestWhatBoundsARunIsNamedAndMoved(t *testing.T) {
	t.Parallel()
	const (
		dpo = "trl==%s\nDPOConfig(\ngradient_checkpointing=True,\nmax_length=None,\nper_device_train_batch_size=1,\n)\nBitsAndBytesConfig(load_in_4bit=True)\n" +
			"trainable params: 41,943,040 || all params: 8,072,204,288 || trainable%%: 0.5196\n[INFO] Overall lengths (prompt + max(chosen, rejected)\nMin length: 81\nMax length: 5782\n"
		shard  = "Loading safetensors checkpoint shards: 100%% Completed | 4/4 [00:03<00:00,  1.19it/s]\n"
		share  = "+ CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 NPROC_PER_NODE=8 swift rlhf --rlhf_type grpo --model /m/Qwen2.5-7B-Instruct --use_vllm true --vllm_mode colocate --vllm_gpu_memory_utilization %s --vllm_max_model_len 3072 --vllm_tensor_parallel_size 1 --max_completion_length 1024\n[INFO:swift] rank: 0, local_rank: 0, world_size: 8, local_world_size: 8\n" + shard
		sizes  = "INFO 06-13 15:23:05 [worker.py:287] the current vLLM instance can use total_gpu_memory (79.25GiB) x gpu_memory_utilization (%s) = %sGiB\nINFO 06-13 15:23:05 [worker.py:287] model weights take 14.27GiB; non_torch_memory takes 0.18GiB; PyTorch activation peak memory takes 1.43GiB; the rest of the memory reserved for KV Cache is -%sGiB.\n"
		blocks = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine."
		policy = "$ numactl -N 1 -m 1 python chat.py --gguf_path /m\nKilled\n[Fri Feb 28 14:09:47 2025] oom-kill:constraint=%s,nodemask=1,cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/user.slice/user-1000.slice/session-12.scope,task=python,pid=48213,uid=1000\n" +
			"[Fri Feb 28 14:09:47 2025] Out of memory: Killed process 48213 (python) total-vm:691213784kB, anon-rss:256011804kB, file-rss:603980kB, shmem-rss:4672kB, UID:1000 pgtables:518368kB oom_score_adj:0\n"
		packs = "+ ray job submit -- python3 train.py --train-backend fsdp --hf-checkpoint /root/Llama-3.1-8B-Instruct --actor-num-nodes 1 --actor-num-gpus-per-node 4 --colocate --gradient-checkpointing --use-dynamic-batch-size --max-tokens-per-gpu 20480 --rollout-max-response-len 8192\n"
	)
	entropy := func(code string) string {
		return stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.66 GiB. GPU 2 has a total capacity of 79.11 GiB of which 6.98 GiB is free. Including non-PyTorch memory, this process has 72.12 GiB memory in use. Of the allocated memory 66.41 GiB is allocated by PyTorch, and 742.11 MiB is reserved by PyTorch but unallocated.",
			"/root/slime/slime/backends/fsdp_utils/actor.py|_train_step|log_probs, entropy_result = get_logprob_and_entropy_with_cp(", "/root/slime/slime/backends/fsdp_utils/actor.py|get_logprob_and_entropy_with_cp|"+code)
	}
	pair := func(code string) string {
		return stackOf(full("5.52 GiB", "22.19", "4.71 GiB", "16.72"), "trl/trainer/dpo_trainer.py|compute_loss|loss, metrics = self.get_batch_loss_metrics(model, inputs, train_eval=\"train\")", "trl/trainer/dpo_trainer.py|concatenated_forward|"+code)
	}
	steps := ""
	for i := range 8 {
		steps += fmt.Sprintf("{\"system/tps\": 2210.4, \"memory/cpu/actor_infer/generate/start/rss\": %.2f, \"memory/cpu/actor_train/train_step/start/rss\": 33.90}\npipeline step %d finished\n", 28.4+11.2*float64(i), i)
	}
	cards := ""
	for i := range 8 {
		cards += fmt.Sprintf("GPU %d: Tesla T4 (UUID: GPU-1d3a77c0-52f1-60c0-8d2e-77ab10c3d2e%d)\n", i, i)
	}
	moved := func(allocated string) string {
		return "$ CUDA_VISIBLE_DEVICES='0,1,2' lmdeploy serve api_server ../Qwen1___5-7B-Chat --tp 1\n2024-04-17 16:21:09,402 - lmdeploy - INFO - input backend=pytorch, backend_config=PytorchEngineConfig(tp=1, session_len=None, cache_max_entry_count=0.8)\n" +
			stackOf(full("172.00 MiB", "15.57", "127.38 MiB", allocated), "lmdeploy/pytorch/engine/model_agent.py|_build_model|patched_model = patched_model.cuda()", "transformers/modeling_utils.py|cuda|return super().cuda(*args, **kwargs)",
				"torch/nn/modules/module.py|_apply|param_applied = fn(param)", "torch/nn/modules/module.py|<lambda>|return self._apply(lambda t: t.cuda(device))")
	}
	served := func(share string) string {
		return "$ vllm serve /m/phi --gpu-memory-utilization " + share + "\nINFO 04-01 22:58:12 [llm_engine.py:241] Initializing a V0 LLM engine (v0.8.2) with config: model='/m/phi', max_seq_len=20480, enforce_eager=False\nINFO 04-01 22:58:26 [executor_base.py:111] # cuda blocks: 3072, # CPU blocks: 2048\nINFO:     Application startup complete.\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 546.00 MiB. GPU 0 has a total capacity of 15.77 GiB of which 514.19 MiB is free. Including non-PyTorch memory, this process has 15.25 GiB memory in use. Of the allocated memory 13.73 GiB is allocated by PyTorch, and 736.86 MiB is reserved by PyTorch but unallocated.",
				"vllm/worker/worker_base.py|execute_model|output = self.model_runner.execute_model(", "vllm/worker/model_runner.py|execute_model|hidden_or_intermediate_states = model_executable(", "vllm/model_executor/models/llama.py|forward|x, _ = self.gate_up_proj(x)", "vllm/model_executor/layers/linear.py|apply|return F.linear(x, layer.weight, bias)")
	}
	for _, c := range []struct {
		name, log, cause, why, first string
		never                        []string
	}{
		{
			"one pair is far longer than the others", fmt.Sprintf(dpo, "0.13.0") + pair("per_token_logps = torch.gather(logits.log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)"),
			"logits", "11,562 tokens x 128,256 vocabulary x 4 bytes", "max_length=2560",
			[]string{"use_liger_kernel"},
		},
		{"later versions have a loss that Liger computes", fmt.Sprintf(dpo, "0.17.0") + pair("per_token_logps = selective_log_softmax(logits, labels)"), "logits", "128,256 vocabulary", "use_liger_kernel=true", nil},
		{"a share below the weights", fmt.Sprintf(share, "0.1") + fmt.Sprintf(sizes, "0.10", "7.93", "7.95") + blocks, "engine_share_too_small", "", "--vllm_gpu_memory_utilization=0.23", []string{"--vllm_max_model_len", "--vllm_tensor_parallel_size=2", "--vllm_max_num_seqs"}},
		{"a share that activations fill", fmt.Sprintf(share, "0.19") + fmt.Sprintf(sizes, "0.19", "15.06", "0.82") + blocks, "engine_share_too_small", "", "--vllm_gpu_memory_utilization=0.23", nil},
		{"memory of one NUMA node", fmt.Sprintf(policy, "CONSTRAINT_MEMORY_POLICY"), "limit_too_small", "numactl --membind", "numactl=numactl --interleave=all", []string{"swap=", "memory="}},
		{"memory of the machine", fmt.Sprintf(policy, "CONSTRAINT_NONE"), "limit_too_small", "alone held 244.73 GiB", "", []string{"numactl="}},
		{"slime's entropy over whole packs", packs + entropy("entropy = -(probs * log_probs_full).sum(dim=-1)"), "entropy_chain", "", "--max-tokens-per-gpu=10240", []string{"--log-probs-chunk-size", "--recompute-loss-function", "--optimizer-cpu-offload"}},
		{
			"ROLL's engines grow", "+ python examples/start_rlvr_vlmath_pipeline.py --config_path rlvr_math_megatron\n" + steps +
				"[Mon Jul  7 04:49:33 2025] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0-1,oom_memcg=/kubepods/pod7,task_memcg=/kubepods/pod7/c,task=ray::ActorWorke,pid=17871,uid=0\n" +
				"[Mon Jul  7 04:49:33 2025] Memory cgroup out of memory: Killed process 17871 (ray::ActorWorke) total-vm:301882116kB, anon-rss:124150120kB, file-rss:402112kB, shmem-rss:2188364kB, UID:0 pgtables:251004kB oom_score_adj:997\n",
			"leak_over_steps", "about 11.20 GiB", "",
			[]string{"limits.memory="},
		},
		{"more than 16 bits was loaded", cards + moved("15.33"), "states_too_big", "7.72B parameters x 4 bytes = 28.76 GiB", "--tp=4", []string{"--cache-max-entry-count", "--max-prefill-token-num", "--quant-policy"}},
		{"no more than 16 bits was loaded", cards + moved("13.90"), "states_too_big", "7.72B parameters x 2 bytes = 14.38 GiB", "--tp=2", nil},
		{"a share above the usual one leaves no margin", served("0.95"), "engine_share_too_large", "utilization=0.95 leaves too little", "--gpu-memory-utilization=0.89", nil},
		{"the usual share", served("0.9"), "engine_activation", "", "--gpu-memory-utilization=0.84", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.log)
			require.NotNil(t, a.Cause)
			assert.Equal(t, c.cause, a.Cause.ID, a.Cause.Text)
			assert.Contains(t, a.Cause.Text, c.why)
			changes := changesOf(a)
			if c.first != "" {
				require.NotEmpty(t, changes)
				assert.Equal(t, c.first, changes[0])
			}
			for _, bad := range c.never {
				assert.NotContains(t, strings.Join(changes, "\n"), bad)
			}
		})
	}
}
