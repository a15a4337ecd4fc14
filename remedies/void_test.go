package remedies

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/parser"
)

// TestWhatTheRunCannotFeelIsRuledOut pairs each change that does nothing in one run with a run that it helps.
func TestWhatTheRunCannotFeelIsRuledOut(t *testing.T) {
	t.Parallel()
	sized := func(total float64) *classifier.Incident {
		return with(gpuOOM("backward"), func(r *classifier.Root) { r.Total = gibs(total) })
	}
	collective := func(frame string) *classifier.Incident {
		return &classifier.Incident{Kind: parser.NCCLOOM, Resource: "gpu", Phase: "nccl", Confidence: "high", Root: classifier.Root{Message: "NCCL WARN Cuda failure 2", Trace: frames(frame)}}
	}
	slime := run("slime", "max_tokens_per_gpu", "9216", "use_dynamic_batch_size", "true", "colocate", "true")
	later := run("slime", "max_tokens_per_gpu", "9216", "use_dynamic_batch_size", "true", "colocate", "true")
	later.LastStep = new(7)
	const updates = "/r/update_weight/common.py|all_gather_param"
	titan := func(world int, pairs ...string) *classifier.Run {
		r := run("torch", pairs...)
		r.Application, r.WorldSize = "torchtitan", &world
		return r
	}
	eager := with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Trace = frames("/x/transformers/models/llama/modeling_llama.py|eager_attention_forward|attn_weights = torch.matmul(query, key)")
	})
	float := with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Trace = frames(`/o/openrlhf/models/actor.py|forward|output["logits"] = output["logits"].to(torch.float32)`)
	})
	evaluated := with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Trace = frames("/x/transformers/trainer.py|evaluation_loop|", "/u/llama.py|forward|logits = self.lm_head(h)")
	})
	joined := with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Trace = frames("/x/transformers/trainer.py|evaluation_loop|all_preds.add(logits)", "/x/transformers/trainer_pt_utils.py|nested_concat|return torch_pad_and_concatenate(")
	})
	missing := gpuOOM("backward")
	missing.Shortfall = gibs(.25)
	withTrained := func(r *classifier.Run, n int64) *classifier.Run {
		r.Model.Trained = &n
		return r
	}
	engine := func(name string) *classifier.Run {
		r := run("verl", "actor_rollout_ref.rollout.enforce_eager", "False")
		r.Engine = name
		return r
	}
	long := run("vllm", "max_model_len", "262144")
	layer := with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Trace = frames("/x/megatron/core/transformer/mlp.py|forward|self.linear_fc1(hidden_states)")
	})
	killed := func(pattern string) *classifier.Incident {
		return recognized(pattern, &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Phase: "training", Verdict: classifier.Memory})
	}
	stopped := func(phase string, frame ...string) *classifier.Incident {
		return with(gpuOOM(phase), func(r *classifier.Root) { r.Trace = frames(frame...) })
	}
	serving := run("verl", "actor_rollout_ref.rollout.free_cache_engine", "False")
	serving.Engine = "vllm"
	serves := as(run("vllm", "tensor_parallel_size", "1", "max_num_batched_tokens", "8192"), "", "vllm", "")
	planned := as(run("vllm", "gpu_memory_utilization", "0.9"), "", "vllm", "")
	planned.FrameworkVersion = "0.20.0"
	planned.Gauges = append(planned.Gauges, reading("vllm.weights", map[string]float64{"used": 25}), reading("vllm.budget", map[string]float64{"total": 40}))
	inLog := func(in *classifier.Incident) *classifier.Incident {
		in.Root.At = parser.Position{Source: "a.log", Line: 9}
		return in
	}
	chunks := func(budget string) *classifier.Run {
		return as(run("slime", "use_dynamic_batch_size", "True", "max_tokens_per_gpu", budget, "log_probs_chunk_size", "1024", "context_parallel_size", "1", "tensor_model_parallel_size", "2", "rollout_max_response_len", "8192", "padded_vocab_size", "152064"), "megatron", "", "Qwen/Qwen3-8B")
	}
	chunk := gpu("forward", .29, .21, 79.11, frames("/r/slime/slime/utils/ppo_utils.py|compute_entropy_from_logits|", "/r/slime/slime/utils/ppo_utils.py|forward|normalized_vocab_parallel_logits = vocab_parallel_logits - logits_max"))
	lacking := func(need, left float64) *classifier.Incident {
		return &classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: classifier.Root{Requested: gibs(need), Free: gibs(left)}}
	}
	for name, c := range map[string]struct {
		run *classifier.Run
		in  *classifier.Incident
		id  string
		why string // why not; "" where it helps
	}{
		"a GPU without memory of its own":               {run("trl", "per_device_train_batch_size", "8"), sized(119.64), "torch.card.others", ""},
		"states go to the host's memory, a DGX Spark's": {run("open_instruct", "per_device_train_batch_size", "8"), sized(119.64), "open-instruct.offload-optimizer", "works in the host's memory"},
		"states go to the host's memory, a Jetson's":    {run("open_instruct", "per_device_train_batch_size", "8"), sized(122.8), "open-instruct.offload-optimizer", "works in the host's memory"},
		"states leave an NPU":                           {run("open_instruct", "per_device_train_batch_size", "8"), sized(61.28), "open-instruct.offload-optimizer", ""},
		"states leave a card":                           {run("open_instruct", "per_device_train_batch_size", "8"), sized(79.1), "open-instruct.offload-optimizer", ""},

		"recomputation under oumi's name":        {run("hf_trainer", "enable_gradient_checkpointing", "True"), gpuOOM("backward"), "hf-trainer.checkpointing", "is True already"},
		"recomputation under FSDP's name":        {run("hf_trainer", "fsdp_activation_checkpointing", "true"), gpuOOM("backward"), "hf-trainer.checkpointing", "is true already"},
		"recomputation off under oumi's name":    {run("hf_trainer", "enable_gradient_checkpointing", "False"), gpuOOM("backward"), "hf-trainer.checkpointing", ""},
		"Liger's kernels under oumi's name":      {run("hf_trainer", "enable_liger_kernel", "True"), gpuOOM("backward"), "hf-trainer.liger", "is True already"},
		"Liger's kernels off under oumi's name":  {run("hf_trainer", "enable_liger_kernel", "False"), gpuOOM("backward"), "hf-trainer.liger", ""},
		"SGD has no states, under oumi's name":   {run("hf_trainer", "training.optimizer", "sgd"), gpuOOM("backward"), "hf-trainer.optim", "sgd already"},
		"Adam has, under oumi's name":            {run("hf_trainer", "training.optimizer", "adamw_torch"), gpuOOM("backward"), "hf-trainer.optim", ""},
		"the critic's switch is not the actor's": {run("verl", "actor_rollout_ref.model.enable_gradient_checkpointing", "False", "critic.model.enable_gradient_checkpointing", "True"), gpuOOM("backward"), "verl.gradient-checkpointing", ""},

		"Unsloth's patches, over ZeRO-3":            {run("llamafactory", "use_unsloth", "true"), gpuOOM("backward"), "llamafactory.zero", "use_unsloth is true"},
		"packs are as short as a sample may be":     {run("open_instruct", "pack_length", "10240", "max_prompt_token_length", "2048", "response_length", "8192"), gpuOOM("backward"), "open-instruct.pack-length", "the longest sequence needs 10240"},
		"packs hold more than one sample":           {run("open_instruct", "pack_length", "10240", "max_prompt_token_length", "2048", "response_length", "4096"), gpuOOM("backward"), "open-instruct.pack-length", ""},
		"accelerate's file shards":                  {run("trl", "config_file", "accelerate_configs/deepspeed_zero3.yaml"), gpuOOM("backward"), "trl.zero", "config_file is"},
		"accelerate's file shards in part":          {run("trl", "config_file", "accelerate_configs/deepspeed_zero2.yaml"), gpuOOM("backward"), "trl.zero", ""},
		"accelerate's file does not shard":          {run("trl", "config_file", "multi_gpu.yaml"), gpuOOM("backward"), "trl.zero", ""},
		"nothing sleeps at start-up":                {run("trl", "vllm_mode", "colocate"), gpuOOM("init"), "trl.vllm-sleep", "no effect at start-up"},
		"the engine sleeps while the trainer works": {run("trl", "vllm_mode", "colocate"), gpuOOM("backward"), "trl.vllm-sleep", ""},

		"all GPUs are in other degrees": {titan(2, "parallelism.data_parallel_shard_degree", "1", "parallelism.tensor_parallel_degree", "2"), gpuOOM("backward"), "torchtitan.shard", "leave no more of 2 GPUs"},
		"GPUs are left to shard over":   {titan(16, "parallelism.data_parallel_shard_degree", "1", "parallelism.data_parallel_replicate_degree", "8", "parallelism.tensor_parallel_degree", "2"), gpuOOM("backward"), "torchtitan.shard", ""},

		"vLLM's graphs by size, under verl":      {engine("vllm"), gpuOOM("rollout"), "verl.rollout.capture-sizes", ""},
		"graphs that are off under another name": {run("verl", "explorer.rollout_model.enforce_eager", "true"), gpuOOM("rollout"), "verl.rollout.enforce-eager", "enforce_eager is true"},
		"SGLang's":                               {engine("sglang"), gpuOOM("rollout"), "verl.rollout.capture-sizes", "the engine is sglang"},

		"OpenRLHF takes log-probabilities of whole logits": {run("openrlhf", "zero_stage", "3"), float, "openrlhf.liger", "the request came from the logits"},

		"LLaMA-Factory's stages that need logits":    {run("llamafactory", "stage", "dpo"), gpuOOM("backward"), "llamafactory.liger", "stage is dpo"},
		"and one that does not":                      {run("llamafactory", "stage", "sft"), gpuOOM("backward"), "llamafactory.liger", ""},
		"ZeRO's own copy of the weights has 32 bits": {as(run("llamafactory", "finetuning_type", "full"), "deepspeed", "", ""), gpuOOM("optimizer"), "llamafactory.bf16", "the backend is deepspeed"},

		"outputs of an evaluation are kept at any length":           {run("hf_trainer", "max_seq_length", "512"), joined, "hf-trainer.length", "keeps the logits of all its batches"},
		"and whatever the optimizer's states take":                  {run("hf_trainer", "max_seq_length", "512"), joined, "hf-trainer.optim", "keeps the logits of all its batches"},
		"DeepSpeed-Chat's switch trains adapters":                   {as(run("torch", "only_optimize_lora", "True"), "deepspeed", "", ""), missing, "deepspeed.offload-optimizer", "only adapters are trained"},
		"states of few parameters are smaller than what is missing": {withTrained(run("hf_trainer"), 4_194_304), missing, "hf-trainer.optim", "take 32.0 MiB, less than was missing"},
		"states of many parameters are not":                         {withTrained(run("hf_trainer"), 4_194_304_000), missing, "hf-trainer.optim", ""},
		"states of adapters are small where a batch is too large":   {run("unsloth", "load_in_4bit", "True", "lora_r", "16"), evaluated, "unsloth.optim", "only adapters are trained"},

		"attention of LLaMA-Factory's own":       {run("llamafactory", "use_unsloth", "False"), eager, "llamafactory.attention", ""},
		"attention where unsloth brings its own": {run("llamafactory", "use_unsloth", "True"), eager, "llamafactory.attention", "use_unsloth is True"},

		"no GPUs are left for more context parallelism": {titan(8, "parallelism.tensor_parallel_degree", "4", "parallelism.context_parallel_degree", "2"), gpuOOM("backward"), "torchtitan.context", "8 GPUs cannot be divided by 16"},
		"GPUs are left for more of it":                  {titan(16, "parallelism.tensor_parallel_degree", "4", "parallelism.context_parallel_degree", "2"), gpuOOM("backward"), "torchtitan.context", ""},

		"weights are sent before the first step":  {slime, collective(updates), "slime.max-tokens-per-gpu", "no step has run yet"},
		"after steps, whose memory is cached":     {later, collective(updates), "slime.max-tokens-per-gpu", ""},
		"8 bits of a cache that lacks most of it": {long, lacking(24, 3), "vllm.kv-dtype", "more than twice the cache"},
		"nor of one for which nothing is left":    {run("sglang", "mem_fraction_static", "0.2"), recognized("sglang.not_enough_memory", cache("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.")), "sglang.kv-dtype", "no room for a KV cache of any type"},
		"whatever the longest sequence":           {run("sglang", "context_length", "65536"), recognized("sglang.not_enough_memory", cache("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.")), "sglang.context-length", "no room for a KV cache of any type"},
		"nothing is saved where a state is read": {run("hf_trainer"), with(gpuOOM("checkpoint"), func(r *classifier.Root) {
			r.Trace = frames("/x/transformers/trainer.py|_load_optimizer_and_scheduler|torch.load(", "/x/torch/serialization.py|_load|")
		}), "hf-trainer.sharded-save", "which is written already"},
		"DDP gathers nothing for a checkpoint":     {as(run("torch", "nproc_per_node", "4"), "ddp", "", ""), &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Phase: "checkpoint", Verdict: classifier.Memory}, "host.full-state", "the backend is ddp"},
		"the loss comes after a layer that failed": {run("verl"), layer, "verl.fused-kernels", "whose logits come later"},
		"V0 takes no step below a whole prompt":    {run("vllm", "max_model_len", "4096"), recognized("vllm.max_len_blocks", cache("ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in KV cache (3664).")), "vllm.max-num-batched-tokens", "as many tokens as the longest prompt"},
		"of one that lacks a third":                {long, lacking(24, 16), "vllm.kv-dtype", ""},
		"in a step":                                {slime, collective("/r/model.py|train_one_step|finalize_model_grads("), "slime.max-tokens-per-gpu", ""},

		"an engine that has its weights back":        {run("trl", "vllm_enable_sleep_mode", "true", "vllm_gpu_memory_utilization", "0.45"), idle(gpu("weight_update", .26, .21, 79.11, frames("/x/trl/trainer/grpo_trainer.py|_move_model_to_vllm|")), 61.66, .31), "trl.vllm-utilization", "has not taken its cache back"},
		"an engine's memory is mapped before a step": {run("sglang", "chunked_prefill_size", "8192"), recognized("tms.fatal", gpuOOM("weight_update")), "sglang.chunked-prefill", "before a step"},
		"and in a step it is there":                  {run("sglang", "chunked_prefill_size", "8192"), stopped("rollout", "/x/sglang/srt/managers/scheduler.py|run_batch|"), "sglang.chunked-prefill", ""},
		"vLLM's cache is made before a step":         {serves, stopped("init", "/x/vllm/v1/worker/gpu_model_runner.py|_allocate_kv_cache_tensors|torch.zeros("), "vllm.max-num-batched-tokens", "before a step"},
		"a trainer that slept has no batch yet":      {run("relax", "max_tokens_per_gpu", "16384"), stopped("training", "/r/actor.py|wake_up|"), "relax.max-tokens-per-gpu", "before a step"},

		"vLLM's cache takes what fewer weights leave": {serves, stopped("rollout", "/x/vllm/v1/worker/gpu_model_runner.py|execute_model|"), "vllm.tensor-parallel", "fills its share"},
		"in its profiling run there is no cache":      {serves, stopped("init", "/x/vllm/v1/worker/gpu_model_runner.py|profile_run|"), "vllm.tensor-parallel", ""},
		"SGLang's step is beside its share":           {as(run("sglang"), "", "sglang", ""), stopped("rollout", "/x/sglang/srt/managers/scheduler.py|run_batch|"), "sglang.tensor-parallel", ""},
		"slime sizes engines by another flag":         {as(run("slime"), "", "sglang", ""), stopped("weight_update", "/x/sglang/srt/managers/scheduler.py|update_weights_from_tensor|"), "sglang.tensor-parallel", "the framework is slime"},

		"Liger has no kernels for a model":             {run("hf_trainer"), stopped("forward", "/x/transformers/models/gpt2/modeling_gpt2.py|forward|"), "hf-trainer.liger", "no kernels for gpt2"},
		"nor for an accelerator":                       {run("hf_trainer"), recognized("mps.oom", gpuOOM("backward")), "hf-trainer.liger", "does not know MPS"},
		"Liger's of a language model":                  {run("hf_trainer"), stopped("forward", "/x/transformers/models/siglip/modeling_siglip.py|forward|", "/x/transformers/models/gemma3/modeling_gemma3.py|forward|"), "hf-trainer.liger", ""},
		"a loss after a log-prob pass's layer":         {run("verl"), stopped("logprob", "/x/megatron/core/transformer/mlp.py|forward|self.linear_fc1(hidden_states)"), "verl.fused-kernels", "whose logits come later"},
		"shorter answers where the weights do not fit": {run("trl", "max_completion_length", "2048", "use_vllm", "False"), stopped("rollout", "/x/trl/models/utils.py|unwrap_model_for_generation|with deepspeed.zero.GatheredParameters(model.parameters()):", "/x/deepspeed/runtime/zero/partition_parameters.py|_allgather_params_coalesced|flat_tensor = torch.empty("), "trl.completion-length", "before anything was generated"},
		"shorter answers where a token does not":       {run("trl", "max_completion_length", "2048", "use_vllm", "False"), stopped("rollout", "/x/transformers/generation/utils.py|_sample|outputs = self(**model_inputs)", "/x/transformers/cache_utils.py|update|torch.cat("), "trl.completion-length", ""},
		"an entropy after the head":                    {run("verl"), stopped("logprob", "/x/transformers/models/qwen2/modeling_qwen2.py|forward|logits = self.lm_head(hidden_states)", "/x/torch/nn/modules/linear.py|forward|return F.linear(input, self.weight, self.bias)"), "verl.entropy", "all logits before any entropy"},
		"an entropy that failed":                       {run("verl"), stopped("logprob", "/x/verl/workers/actor/dp_actor.py|_forward_micro_batch|entropy = self.compute_entropy_from_logits(logits_rmpad)", "/x/verl/utils/torch_functional.py|entropy_from_logits|pd = torch.nn.functional.softmax(logits, dim=-1)"), "verl.entropy", ""},
		"a loss after a layer of no known part":        {run("slime"), stopped("logprob", "/x/megatron/core/transformer/transformer_layer.py|forward|", "/x/context_parallel.py|forward|kv = torch.empty((2, *k.shape))"), "slime.log-probs-chunk-size", "whose logits come later"},
		"Ulysses of a reward model":                    {run("verl"), stopped("backward", "/v/prime_fsdp_workers.py|update_rm|"), "verl.ulysses", "reward"},

		"DeepSpeed's pipeline takes no higher stage": {as(run("deepspeed", "zero_optimization.stage", "1"), "deepspeed", "", ""), stopped("backward", "/x/deepspeed/runtime/pipe/engine.py|_exec_backward_pass|"), "deepspeed.stage", "deepspeed/runtime/pipe/"},
		"and without a pipeline":                     {as(run("deepspeed", "zero_optimization.stage", "1"), "deepspeed", "", ""), gpuOOM("backward"), "deepspeed.stage", ""},

		"a budget of tokens beside batches of samples": {run("verl", "actor_rollout_ref.actor.use_dynamic_bsz", "False"), stopped("logprob", "/v/fsdp_workers.py|compute_ref_log_prob|"), "verl.logprob.ref-max-token-len", "use_dynamic_bsz is False"},
		"the critic's budget for a reward model":       {run("verl", "actor_rollout_ref.actor.use_dynamic_bsz", "True"), stopped("backward", "/v/prime_fsdp_workers.py|update_rm|"), "verl.critic.max-token-len", "reward"},
		"no buckets before verl had them":              {run("verl"), stopped("weight_update", "/verl/workers/sharding_manager/fsdp_vllm.py|__enter__|"), "verl.rollout.update-bucket", "sharding_manager"},
		"an engine at work does not sleep":             {serving, stopped("rollout", "/x/vllm/v1/worker/gpu_model_runner.py|execute_model|"), "verl.rollout.free-cache-engine", "while it served"},

		"a server's share is not the trainer's setting": {run("trl", "vllm_mode", "server"), cache(noBlocks), "trl.vllm-utilization-up", "vllm_mode is server"},
		"an engine that is not on the card": {run("nemo_rl", "policy.generation.vllm_cfg.gpu_memory_utilization", "0.6", "policy.generation.colocated.enabled", "True"), with(gpuOOM("checkpoint"), func(r *classifier.Root) {
			r.Requested, r.Free, r.Total, r.ProcessBytes = gibs(1.87), gibs(1.02), gibs(79.1), gibs(78)
		}), "nemo-rl.vllm-utilization", "hold only"},

		"allocator settings came with PyTorch 1.10": {run("torch"), with(gpuOOM("backward"), func(r *classifier.Root) {
			r.Message = "CUDA out of memory. Tried to allocate 1.06 GiB (GPU 3; 10.76 GiB total capacity; 7.94 GiB already allocated; 0.80 GiB free; 9.02 GiB reserved in total by PyTorch)"
			r.Requested, r.Free, r.Total, r.Allocated, r.Reserved = gibs(1.06), gibs(.8), gibs(10.76), gibs(7.94), gibs(9.02)
		}), "torch.card.max-split-size", "before 1.10"},

		"8 GiB are more than smaller steps free":             {serves, lacking(24, 16), "vllm.max-num-batched-tokens", "frees less than the cache lacks"},
		"a pack of several samples, by its chunk's settings": {chunks("24576"), chunk, "slime.context-parallel", "several samples fill it"},
		"a pack that may be one sample":                      {chunks("12288"), chunk, "slime.context-parallel", ""},
		"a loss that comes back whole":                       {chunks("12288"), chunk, "slime.recompute-loss", "as they are now"},
		"chunks that are all kept":                           {chunks("12288"), chunk, "slime.log-probs-chunk-size", "the tensors of all of them"},

		"graphs and activations take less than the cache lacks": {planned, inLog(lacking(12, 8)), "vllm.enforce-eager", "the share holds only 3.00 GiB beside weights and cache"},
		"or more":           {planned, inLog(lacking(8.5, 8)), "vllm.enforce-eager", ""},
		"half a GiB is not": {serves, lacking(24, 23.5), "vllm.max-num-batched-tokens", ""},

		"four loader workers, of which none is known to have failed": {run("torch", "num_workers", "4"), killed("kernel.oom_kill"), "host.data-workers", "none of them is known to have failed"},
		"of which one was killed":                                    {run("torch", "num_workers", "4"), killed("dataloader.killed"), "host.data-workers", ""},
		"sixteen of them":                                            {run("torch", "num_workers", "16"), killed("kernel.oom_kill"), "host.data-workers", ""},
		"a dataset that is cached":                                   {run("torch", "num_workers", "16", "cache_images", "ram"), killed("kernel.oom_kill"), "host.data-workers", "is kept in host memory"},
		"adapters are trained by default":                            {of("llamafactory", run("torch")), gpuOOM("backward"), "llamafactory.adapter", "is lora by default"},
		"all weights are trained":                                    {counted(of("llamafactory", run("torch")), 7e9, 7e9), gpuOOM("backward"), "llamafactory.adapter", ""},
		"no sign of a loader":                                        {run("torch"), killed("kernel.oom_kill"), "host.data-workers", "no process that loads data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := pick(t, For(c.run, c.in), c.id)
			assert.Equal(t, c.why != "", a.Applies != nil && !*a.Applies, a.AppliesWhy)
			assert.Contains(t, a.AppliesWhy, c.why)
		})
	}
	left := pick(t, For(titan(16, "parallelism.data_parallel_shard_degree", "1", "parallelism.data_parallel_replicate_degree", "8", "parallelism.tensor_parallel_degree", "2"), gpuOOM("backward")), "torchtitan.shard")
	assert.Equal(t, "8", toOf(left, "--parallelism.data_parallel_shard_degree"))
	assert.Equal(t, "1", toOf(left, "--parallelism.data_parallel_replicate_degree"))
}

// TestAnotherSidesSettingIsNoLever pairs settings of generation with the same names where they are the batch's.
func TestAnotherSidesSettingIsNoLever(t *testing.T) {
	t.Parallel()
	logits := with(gpuOOM("rollout"), func(r *classifier.Root) {
		r.Requested, r.Free, r.Total = gibs(23.2), gibs(18.5), gibs(39.4)
		r.Trace = frames("/t/generation/utils.py|_sample|outputs = self(", "/t/models/qwen2_vl/modeling_qwen2_vl.py|forward|logits = logits.float()")
	})
	layer := with(gpuOOM("rollout"), func(r *classifier.Root) {
		r.Requested, r.Free, r.Total = gibs(2), gibs(1), gibs(39.4)
		r.Trace = frames("/t/generation/utils.py|_sample|outputs = self(", "/t/cache_utils.py|update|self.keys = torch.cat(")
	})
	loading := &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Phase: "init", Verdict: classifier.Memory}
	generates := func(pairs ...string) *classifier.Run {
		r := run("torch", pairs...)
		r.Engine = "hf"
		return r
	}
	for name, c := range map[string]struct {
		run  *classifier.Run
		in   *classifier.Incident
		key  string
		want bool
	}{
		"the prompt's logits":             {generates("max_new_tokens", "1024"), logits, "max_new_tokens", false},
		"the cache of what is new":        {generates("max_new_tokens", "1024"), layer, "max_new_tokens", true},
		"the length of an answer":         {run("torch", "max_tokens", "700", "temperature", "0.8"), gpuOOM("backward"), "max_tokens", false},
		"FSDP's loading by one rank, off": {run("torch", "fsdp_config.fsdp_cpu_ram_efficient_loading", "false"), loading, "fsdp_cpu_ram_efficient_loading", true},
		"FSDP's loading by one rank, on":  {run("torch", "fsdp_config.fsdp_cpu_ram_efficient_loading", "true"), loading, "fsdp_cpu_ram_efficient_loading", false},
		"a batch's tokens, as fairseq's":  {run("torch", "max_tokens", "4096"), gpuOOM("backward"), "max_tokens", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := false
			list := For(c.run, c.in).Remedies
			for _, a := range fixesFor(newContext(c.run, c.in)) {
				list = append(list, a.Remedy)
			}
			for _, a := range list {
				found = found || (a.Applies == nil || *a.Applies) && slices.ContainsFunc(a.Changes, func(ch Change) bool { return settingOf(ch.Key) == c.key })
			}
			assert.Equal(t, c.want, found)
		})
	}
}

// TestEachKindOfTrainingHasItsOwnLevers has what one kind of training reads and another one does not.
func TestEachKindOfTrainingHasItsOwnLevers(t *testing.T) {
	t.Parallel()
	saving := &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Phase: "checkpoint", Verdict: classifier.Memory}
	long := []string{"sequence_len", "2048", "trl.max_completion_length", "2048"}
	nemo := func(pairs ...string) *classifier.Run {
		return run("nemo_rl", append(pairs, "policy.max_total_sequence_length", "8192", "policy.sequence_packing.enabled", "True")...)
	}
	bucket := with(gpuOOM("backward"), func(r *classifier.Root) {
		r.Requested, r.Free, r.Total = new(int64(500_000_000*2)), gibs(.39), gibs(7.92)
		r.Trace = frames("/deepspeed/runtime/zero/stage_1_and_2.py|reduce_independent_p_g_buckets_and_remove_grads|torch.empty(self.reduce_bucket_size)")
	})
	ring := with(gpuOOM("logprob"), func(r *classifier.Root) {
		r.Trace = frames("/openrlhf/trainer/ppo_utils/experience_maker.py|make_experience_list|dist.broadcast_object_list(")
	})
	flex := with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Trace = frames("/x/torch/_higher_order_ops/flex_attention.py|math_attention|scores.softmax(dim=-1)")
	})
	three := run("openrlhf", "ring_attn_size", "1")
	three.WorldSize = new(3)
	for name, c := range map[string]struct {
		run     *classifier.Run
		in      *classifier.Incident
		id, key string
		want    string // "-" where it is no lever
	}{
		"GRPO's samples":                         {run("axolotl", append(long, "rl", "grpo")...), gpuOOM("forward"), "axolotl.length", "trl.max_completion_length", "1024"},
		"bitsandbytes has no optimizers of NPUs": {run("hf_trainer"), with(gpuOOM("optimizer"), func(r *classifier.Root) { r.Accelerator = "NPU" }), "hf-trainer.optim", "--optim", "adafactor"},
		"GRPO, rows of fine-tuning":              {run("axolotl", append(long, "rl", "grpo")...), gpuOOM("forward"), "axolotl.length", "sequence_len", "-"},
		"fine-tuning":                            {run("axolotl", long...), gpuOOM("forward"), "axolotl.length", "sequence_len", "1024"},
		"GRPO's loss":                            {run("axolotl", "rl", "grpo"), gpuOOM("forward"), "axolotl.cut-loss", "trl.use_liger_loss", "true"},
		"GRPO, fine-tuning's loss":               {run("axolotl", "rl", "grpo"), gpuOOM("forward"), "axolotl.cut-loss", "cut_cross_entropy", "-"},
		"DPO, fine-tuning's loss":                {run("axolotl", "rl", "dpo"), gpuOOM("forward"), "axolotl.cut-loss", "cut_cross_entropy", "-"},
		"fine-tuning's loss":                     {run("axolotl"), gpuOOM("forward"), "axolotl.cut-loss", "cut_cross_entropy", "true"},
		"flex_attention within a compiler":       {run("axolotl", "torch_compile", "true"), flex, "axolotl.flex", "torch_compile", "false"},
		"adapters, saved with the model":         {run("torchtune", "save_adapter_weights_only", "false", "low_cpu_ram", "false", "model.lora_rank", "8"), saving, "torchtune.async-save", "save_adapter_weights_only", "true"},
		"no adapters to save alone":              {run("torchtune", "save_adapter_weights_only", "false", "low_cpu_ram", "false"), saving, "torchtune.async-save", "save_adapter_weights_only", "-"},
		"on a host with little memory":           {run("torchtune", "low_cpu_ram", "false"), saving, "torchtune.async-save", "low_cpu_ram", "true"},
		"verl, reinforcement learning":           {run("verl", "actor_rollout_ref.rollout.name", "vllm"), gpuOOM("backward"), "verl.fused-kernels", "actor_rollout_ref.model.use_fused_kernels", "True"},
		"verl, fine-tuning":                      {run("verl", "data.micro_batch_size_per_gpu", "8"), gpuOOM("backward"), "verl.fused-kernels", "model.use_fused_kernels", "True"},
		"verl, its first trainer for that":       {run("verl", "data.micro_batch_size_per_gpu", "8", "model.partial_pretrain", "q"), gpuOOM("backward"), "verl.fused-kernels", "model.use_fused_kernels", "-"},
		"verl, the longest sample of the budget": {run("verl", "data.max_token_len_per_gpu", "40960", "data.use_dynamic_bsz", "True", "data.max_length", "30720"), gpuOOM("backward"), "verl.actor.max-token-len", "data.max_token_len_per_gpu", "30720"},
		"AReaL, a schedule of zero bubbles":      {run("areal", "actor.archon.pp_schedule", "InterleavedZeroBubble"), gpuOOM("backward"), "areal.training.pipeline-schedule", "actor.archon.pp_schedule", "Interleaved1F1B"},
		"OpenRLHF, a ring's samples":             {run("openrlhf", "rollout_batch_size", "512"), ring, "openrlhf.rollout-batch", "--rollout_batch_size", "256"},
		"OpenRLHF, a ring over three GPUs":       {three, gpuOOM("backward"), "openrlhf.ring", "--ring_attn_size", "3"},
		"LLaMA-Factory, 67 million pixels":       {run("llamafactory", "image_max_pixels", "67108864"), gpuOOM("backward"), "llamafactory.images", "image_max_pixels", "589824"},
		"LLaMA-Factory, frames of a video":       {run("llamafactory", "video_maxlen", "64"), gpuOOM("backward"), "llamafactory.images", "video_maxlen", "32"},
		"ms-swift, long samples":                 {run("swift"), gpuOOM("backward"), "ms-swift.sequence-parallel", "--sequence_parallel_size", "2"},
		"ms-swift, long samples of Megatron":     {as(run("swift"), "megatron", "", ""), gpuOOM("backward"), "ms-swift.sequence-parallel", "--context_parallel_size", "2"},
		"AutoModel, one stage for all layers":    {run("automodel", "step_scheduler.local_batch_size", "32"), gpuOOM("backward"), "automodel.batch", "step_scheduler.local_batch_size", "16"},
		"AutoModel, what a stage works on":       {run("automodel", "step_scheduler.local_batch_size", "32", "autopipeline.pp_microbatch_size", "4"), gpuOOM("backward"), "automodel.batch", "autopipeline.pp_microbatch_size", "2"},
		"DeepSpeed, the bucket that failed":      {as(run("deepspeed", "zero_optimization.reduce_bucket_size", "500000000", "zero_optimization.stage", "2"), "deepspeed", "", ""), bucket, "deepspeed.buckets", "zero_optimization.reduce_bucket_size", "62500000"},
		"packing by default, of one sample":      {nemo("policy.train_micro_batch_size", "1"), gpuOOM("forward"), "nemo-rl.packed-tokens", "policy.sequence_packing.train_mb_tokens", "-"},
		"packing by default, of more":            {nemo("policy.train_micro_batch_size", "4"), gpuOOM("forward"), "nemo-rl.packed-tokens", "policy.sequence_packing.train_mb_tokens", "21504"},
		"a recipe without the switch":            {run("torchtune"), saving, "torchtune.async-save", "low_cpu_ram", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, toOf(pick(t, For(c.run, c.in), c.id), c.key))
		})
	}
}

func TestAReasonSaysWhatTheLogHas(t *testing.T) {
	t.Parallel()
	ctx := newContext(run("torch"), with(gpuOOM("forward"), func(r *classifier.Root) { r.Trace = frames("/x/trl/trainer/sft_trainer.py|compute_loss|") }))
	assert.Equal(t, verdict{yes, "the stack passes through sft_trainer.py"}, ctx.holds("stack:sft_trainer.py"))
	assert.Equal(t, verdict{no, "the stack does not pass through dpo_trainer.py"}, ctx.holds("stack:dpo_trainer.py"))
}
