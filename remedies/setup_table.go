package remedies

import (
	"maps"
	"path"
	"slices"
	"strings"

	"oomscan/remedies/memory"
)

// Shorthands for the inputs that rows set.
type (
	setup  = memory.Setup
	optInt = memory.Opt[int64]
	optNum = memory.Opt[float64]
	optBit = memory.Opt[bool]
)

// States that a switch moves to the host.
func offloaded(of func(*setup) *optNum) func(*setup, string) bool {
	return word(map[string]float64{"true": 1, "on": 1, "yes": 1, "cpu": 1, "nvme": 1, "false": 0, "off": 0, "no": 0, "none": 0}, func(s *setup, f float64) { *of(s) = memory.Some(f) })
}

// quantizedBytes maps words for formats to the bytes of a weight, including scales.
var quantizedBytes = map[string]float64{
	"fp8": 1, "w8a8": 1, "int8": 1, "8bit": 1, "awq": 0.55, "awq_marlin": 0.55, "gptq": 0.55, "gptq_marlin": 0.55, "int4": 0.55, "4bit": 0.55, "bitsandbytes": 0.55, "w4a16": 0.55, "mxfp4": 0.53,
}

var quantizedWords = slices.Sorted(maps.Keys(quantizedBytes))

// wideBytes maps names of types that are wider than those of most checkpoints to the bytes of a weight.
var wideBytes = map[string]float64{"float32": 4, "float": 4, "fp32": 4, "torch.float32": 4}

// elementBytes maps names of types to the bytes of an element.
var elementBytes = map[string]float64{
	"fp32": 4, "float32": 4, "float": 4, "32": 4, "bf16": 2, "bfloat16": 2, "fp16": 2, "float16": 2, "half": 2, "auto": 2,
	"fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "fp8_inc": 1,
}

// optimizers maps optimizers to the budget's names. The states of others are unknown.
var optimizers = map[string]string{
	"adam": "adamw", "adamw": "adamw", "adamw_torch": "adamw", "adamw_torch_fused": "adamw", "adamw_hf": "adamw", "adamw_fused": "adamw", "adamw_apex_fused": "adamw",
	"fusedadam": "adamw", "deepspeedcpuadam": "adamw", "paged_adamw": "adamw", "paged_adamw_32bit": "adamw",
	"adamw_8bit": "adamw_8bit", "adamw_bnb_8bit": "adamw_8bit", "adamw_bnb": "adamw_8bit", "paged_adamw_8bit": "adamw_8bit", "adam8bit": "adamw_8bit", "adamw8bit": "adamw_8bit",
	"adam_bf16": "adam_bf16", "sgd": "sgd",
}

// recomputations maps words of switches and granularities to ways to recompute.
var recomputations = map[string]string{
	"true": memory.RecomputeFull, "on": memory.RecomputeFull, "yes": memory.RecomputeFull, "full": memory.RecomputeFull,
	"false": memory.RecomputeNone, "off": memory.RecomputeNone, "no": memory.RecomputeNone, "none": memory.RecomputeNone,
}

// setupRows lists the inputs of the budget and their settings. Sources: remedies.md part 2, that is each framework's argument
// definitions, and memory.md 0.1. A row may correct an earlier one.
var setupRows = []setupRow{
	// How the model is split.
	{"number of ranks (world size)", count(func(s *setup) *optInt { return &s.World }), map[string]string{"oomscan": "total_gpus"}},
	{"GPUs of a node", count(func(s *setup) *optInt { return &s.GPUsPerNode }), map[string]string{"oomscan": "gpus_per_node"}},
	{"", count(func(s *setup) *optInt { return &s.TP }), map[string]string{
		"verl megatron": "actor_rollout_ref.actor.megatron.tensor_model_parallel_size", "megatron": "tensor_model_parallel_size",
		"nemo_rl megatron": "policy.megatron_cfg.tensor_model_parallel_size", "nemo_rl fsdp": "policy.dtensor_cfg.tensor_parallel_size",
		"openrlhf": "ds.tensor_parallel_size ds_tensor_parallel_size", "deepspeed zero": "model_parallel_size tensor_model_parallel_size",
		"torchtitan": "parallelism.tensor_parallel_degree training.tensor_parallel_degree",
	}},
	{"", count(func(s *setup) *optInt { return &s.PP }), map[string]string{
		"verl megatron": "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size", "megatron": "pipeline_model_parallel_size",
		"nemo_rl megatron": "policy.megatron_cfg.pipeline_model_parallel_size", "deepspeed zero": "pipe_parallel_size pipeline_model_parallel_size",
		"torchtitan": "parallelism.pipeline_parallel_degree experimental.pipeline_parallel_degree",
	}},
	{"", count(func(s *setup) *optInt { return &s.VirtualStages }), map[string]string{
		"verl megatron": "actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size", "megatron": "virtual_pipeline_model_parallel_size",
	}},
	{"", count(func(s *setup) *optInt { return &s.CP }), map[string]string{
		"verl megatron": "actor_rollout_ref.actor.megatron.context_parallel_size", "megatron": "context_parallel_size",
		"verl fsdp": "actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size actor_rollout_ref.actor.ulysses_sequence_parallel_size",
		"areal":     "actor.fsdp.ulysses_sp_size", "openrlhf": "ring_attn_size ds.ring_attn_size",
		"nemo_rl megatron": "policy.megatron_cfg.context_parallel_size", "nemo_rl fsdp": "policy.dtensor_cfg.context_parallel_size",
		"torchtitan": "parallelism.context_parallel_degree experimental.context_parallel_degree",
	}},
	{"", count(func(s *setup) *optInt { return &s.EP }), map[string]string{
		"verl megatron": "actor_rollout_ref.actor.megatron.expert_model_parallel_size", "megatron": "expert_model_parallel_size",
		"nemo_rl megatron": "policy.megatron_cfg.expert_model_parallel_size", "torchtitan": "parallelism.expert_parallel_degree",
	}},
	{"", count(func(s *setup) *optInt { return &s.ETP }), map[string]string{
		"verl megatron": "actor_rollout_ref.actor.megatron.expert_tensor_parallel_size", "megatron": "expert_tensor_parallel_size",
		"nemo_rl megatron": "policy.megatron_cfg.expert_tensor_parallel_size",
	}},
	{"", toggle(func(s *setup) *optBit { return &s.SequenceParallel }), map[string]string{
		"verl megatron": "actor_rollout_ref.actor.megatron.sequence_parallel=True", "megatron": "sequence_parallel", "nemo_rl megatron": "policy.megatron_cfg.sequence_parallel",
	}},
	{"", count(func(s *setup) *optInt { return &s.ShardRanks }), map[string]string{"verl fsdp": "actor_rollout_ref.actor.fsdp_config.fsdp_size"}},
	{"", toggle(func(s *setup) *optBit { return &s.DistributedOptimizer }), map[string]string{"megatron": "use_distributed_optimizer"}},
	{"", toggle(func(s *setup) *optBit { return &s.ReshardAfterForward }), map[string]string{
		"verl fsdp": "actor_rollout_ref.actor.fsdp_config.reshard_after_forward",
	}},

	// States.
	{"", word(elementBytes, func(s *setup, b float64) { s.WeightBytes = memory.Some(b) }), map[string]string{
		"verl fsdp": "actor_rollout_ref.actor.fsdp_config.model_dtype", "areal fsdp": "actor.dtype", "trl": "model_init_kwargs.dtype model_init_kwargs.torch_dtype",
	}},
	{"", func(s *setup, v string) bool { // of LLaMA-Factory and sd-scripts: nothing is cast to 32 bits
		if on, ok := parseBool(v); ok && on {
			s.WeightBytes = memory.Some(2.0)
		}
		return true
	}, map[string]string{"hf": "pure_bf16", "diffusers": "full_bf16 full_fp16"}},
	{"", func(s *setup, v string) bool {
		if on, ok := parseBool(v); ok && on {
			s.GradBytes = memory.Some(2.0)
		}
		return true
	}, map[string]string{"megatron": "grad_reduce_in_bf16"}},
	{"", func(s *setup, v string) bool {
		v = strings.ToLower(strings.Trim(v, `"' `))
		if v == "none" {
			return false
		}
		s.Optimizer = memory.OtherOptimizer
		word(optimizers, func(s *setup, o string) { s.Optimizer = o })(s, v)
		return true
	}, map[string]string{"areal": "actor.optimizer.type", "hf": "optim", "deepspeed": "optimizer.type", "megatron": "optimizer", "torchtitan": "optimizer.name", "diffusers": "optimizer_type"}},
	{"", func(s *setup, v string) bool {
		v = path.Base(strings.Trim(v, `"' `))
		on := slices.ContainsFunc(namedConfigs, func(n [2]string) bool { return n[1] == v })
		if on {
			s.OptimizerOffload, s.ParamOffload = memory.Some(1.0), memory.Some(strings.Contains(v, "3"))
		}
		return on
	}, map[string]string{"deepspeed": "deepspeed"}},
	{"", toggle(func(s *setup) *optBit { return &s.ParamOffload }), map[string]string{
		"verl fsdp":     "actor_rollout_ref.actor.fsdp_config.param_offload actor_rollout_ref.actor.fsdp_config.offload_policy",
		"verl megatron": "actor_rollout_ref.actor.megatron.param_offload", "areal": "actor.fsdp.offload_params", "nemo_rl fsdp": "policy.dtensor_cfg.cpu_offload",
		"hf fsdp": "offload_params",
	}},
	{"", func(s *setup, v string) bool {
		on := map[string]bool{"cpu": true, "nvme": true}[strings.ToLower(strings.Trim(v, `"' `))]
		s.ParamOffload = memory.Some(on)
		return true
	}, map[string]string{"deepspeed zero": "offload_param.device"}},
	{"", offloaded(func(s *setup) *optNum { return &s.OptimizerOffload }), map[string]string{
		"verl fsdp": "actor_rollout_ref.actor.fsdp_config.optimizer_offload", "verl megatron": "actor_rollout_ref.actor.megatron.optimizer_offload",
		"openrlhf": "adam_offload ds.adam_offload", "deepspeed": "offload_optimizer.device",
	}},
	{"", func(s *setup, v string) bool { // the optimizer steps on the host (megatron/core/optimizer/cpu_offloading)
		on, ok := parseBool(v)
		if ok {
			s.OptimizerOnHost = memory.Some(on)
		}
		return ok
	}, map[string]string{
		"verl megatron": "actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_cpu_offload", "megatron": "optimizer_cpu_offload",
		"nemo_rl megatron": "policy.megatron_cfg.optimizer.optimizer_cpu_offload",
	}},
	{"", func(s *setup, v string) bool {
		f, ok := parseNumber(v)
		if ok && f >= 0 && f <= 1 && s.OptimizerOnHost.Or(false) {
			s.OptimizerOffload = memory.Some(f)
		}
		return ok
	}, map[string]string{
		"verl megatron": "actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_offload_fraction=0", "megatron": "optimizer_offload_fraction=1",
		"nemo_rl megatron": "policy.megatron_cfg.optimizer.optimizer_offload_fraction=0",
	}},
	{"", func(s *setup, v string) bool { // FSDP2's policy keeps parameters, gradients and optimizer on the host
		if on, ok := parseBool(v); ok && on {
			s.ParamOffload, s.OptimizerOffload, s.OptimizerOnHost = memory.Some(true), memory.Some(1.0), memory.Some(true)
		}
		return true
	}, map[string]string{
		"verl fsdp": "actor_rollout_ref.actor.fsdp_config.offload_policy", "areal fsdp": "actor.fsdp.offload_params", "nemo_rl fsdp": "policy.dtensor_cfg.cpu_offload",
	}},
	{"", amount(func(s *setup) *optInt { return &s.ReduceBucket }, 1), map[string]string{"deepspeed": "reduce_bucket_size"}},
	{"", amount(func(s *setup) *optInt { return &s.GatherBucket }, 1), map[string]string{"deepspeed": "allgather_bucket_size"}},
	{"", toggle(func(s *setup) *optBit { return &s.OverlapComm }), map[string]string{"deepspeed": "zero_optimization.overlap_comm zero_config.overlap_comm"}},
	{"", toggle(func(s *setup) *optBit { return &s.GradAccumulationFusion }), map[string]string{"megatron": "gradient_accumulation_fusion"}},
	{"", word(quantizedBytes, func(s *setup, b float64) { s.QuantizedBytes = memory.Some(b) }), map[string]string{"hf": "quantization_method"}},
	{"", loaded(0.52), map[string]string{"hf": "load_in_4bit", "openrlhf": "load_in_4bit"}},
	{"", loaded(1), map[string]string{"hf": "load_in_8bit"}},

	// Other models.
	{"whether a reference model is loaded", either(func(s *setup) *optBit { return &s.Reference }), map[string]string{
		"verl": "actor_rollout_ref.actor.use_kl_loss", "slime": "use_kl_loss", "areal": "actor.kl_ctl", "openrlhf": "init_kl_coef algo.kl.init_coef",
		"trl": "beta", "nemo_rl": "loss_fn.reference_policy_kl_penalty", "oomscan": "reference",
	}},
	{"", either(func(s *setup) *optBit { return &s.Reference }), map[string]string{"verl": "algorithm.use_kl_in_reward", "slime": "kl_coef"}},
	{"", func(s *setup, v string) bool {
		if on, ok := parseBool(v); ok && !on && s.Reference.Known {
			s.Reference.Value = false // it has cards of its own
		}
		return true
	}, map[string]string{"openrlhf": "colocate_all_models colocate_actor_ref train.colocate_all train.colocate_actor_ref"}},
	{"", toggle(func(s *setup) *optBit { return &s.ReferenceOffload }), map[string]string{
		"verl megatron": "actor_rollout_ref.ref.megatron.param_offload", "openrlhf": "ref_reward_offload ref.offload",
	}},
	{"whether a critic is trained on the same cards", func(s *setup, v string) bool {
		v = strings.ToLower(strings.Trim(v, `"' `))
		critic := v == "gae" || v == "ppo"
		if critic && s.Framework != memory.VeRL || v == "none" { // it may have cards of its own
			return false
		}
		s.Critic = memory.Some(critic)
		return true
	}, map[string]string{"verl": "algorithm.adv_estimator", "slime": "advantage_estimator", "openrlhf": "advantage_estimator algo.advantage.estimator"}},
	{"whether a critic is trained on the same cards", toggle(func(s *setup) *optBit { return &s.Critic }), map[string]string{"oomscan": "critic"}},

	// What a pass computes.
	{"", word(recomputations, func(s *setup, r string) { s.Recompute = r }), map[string]string{
		"verl fsdp": "actor_rollout_ref.model.enable_gradient_checkpointing=True", "areal": "actor.gradient_checkpointing",
		"openrlhf": "gradient_checkpointing actor.gradient_checkpointing_enable", "hf": "gradient_checkpointing",
		"nemo_rl megatron": "policy.megatron_cfg.activation_checkpointing", "nemo_rl fsdp": "policy.dtensor_cfg.activation_checkpointing",
		"verl megatron": "actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity", "megatron": "recompute_granularity",
		"torchtitan": "activation_checkpoint.mode",
	}},
	{"", word(map[string]string{"selective": memory.RecomputeSelective}, func(s *setup, r string) { s.Recompute = r }), map[string]string{
		"verl megatron": "actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity", "megatron": "recompute_granularity",
	}},
	{"", word(map[string]string{"op": memory.RecomputeOps}, func(s *setup, r string) { s.Recompute = r }), map[string]string{"torchtitan": "activation_checkpoint.selective_ac_option"}},
	{"", word(map[string]string{"block": ""}, func(s *setup, r string) { s.Recompute = r }), map[string]string{ // some layers, it is unknown how many of a stage
		"verl megatron": "actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method", "megatron": "recompute_method",
	}},
	{"", func(s *setup, v string) bool {
		if s.Recompute == memory.RecomputeSelective && strings.Trim(v, `[]"' `) != "core_attn" && v != "none" {
			s.Recompute = "" // more than the scores
		}
		return true
	}, map[string]string{
		"verl megatron": "actor_rollout_ref.actor.megatron.override_transformer_config.recompute_modules", "megatron": "recompute_modules",
	}},
	{"", func(s *setup, v string) bool {
		if on, ok := parseBool(v); ok && on && s.Recompute == memory.RecomputeFull {
			s.Recompute = memory.RecomputeOffload
		}
		return true
	}, map[string]string{"verl fsdp": "actor_rollout_ref.model.enable_activation_offload"}},
	{"", toggle(func(s *setup) *optBit { return &s.Fused }), map[string]string{
		"verl fsdp": "actor_rollout_ref.model.use_liger", "hf": "use_liger_kernel enable_liger_kernel use_liger", "openrlhf": "use_liger_kernel ds.use_liger_kernel",
		"torchtitan": "compile.enable training.compile",
	}},
	{"", word(map[string]bool{"eager": false, "flash_attention_2": true, "flash_attention_3": true, "fa2": true}, func(s *setup, on bool) { s.Flash = memory.Some(on) }), map[string]string{
		"hf": "attn_implementation", "trl": "model_init_kwargs.attn_implementation", "openrlhf": "attn_implementation ds.attn_implementation",
	}},
	{"", toggle(func(s *setup) *optBit { return &s.MoEFused }), map[string]string{"megatron": "moe_permute_fusion"}},
	{"", either(func(s *setup) *optBit { return &s.Dropout }), map[string]string{"megatron": "hidden_dropout"}},
	{"", opposite(func(s *setup) *optBit { return &s.Padded }), map[string]string{"verl": "actor_rollout_ref.model.use_remove_padding"}},
	{batchInput, count(func(s *setup) *optInt { return &s.TokensNow }), map[string]string{"oomscan": "micro_batch_tokens"}},
	{"longest sample", count(func(s *setup) *optInt { return &s.SequenceMax }), map[string]string{"oomscan": "longest_sample"}},

	// The loss.
	{"", toggle(func(s *setup) *optBit { return &s.FusedLoss }), map[string]string{
		"verl": "actor_rollout_ref.model.use_fused_kernels", "hf": "use_liger_kernel enable_liger_kernel", "trl": "use_liger_kernel use_liger_loss",
	}},
	{"", func(s *setup, v string) bool {
		s.FusedLoss = memory.Some(strings.Trim(v, `"' `) == "te" && s.Framework == memory.MegatronLM)
		return true
	}, map[string]string{"megatron": "cross_entropy_fusion_impl"}},
	{"", either(func(s *setup) *optBit { return &s.Entropy }), map[string]string{"verl": "actor_rollout_ref.actor.entropy_coeff", "openrlhf": "entropy_loss_coef"}},
	{"", either(func(s *setup) *optBit { return &s.Entropy }), map[string]string{"verl": "actor_rollout_ref.actor.calculate_entropy"}},
	{"", toggle(func(s *setup) *optBit { return &s.ChunkedEntropy }), map[string]string{
		"verl": "actor_rollout_ref.actor.fsdp_config.entropy_from_logits_with_chunking actor_rollout_ref.actor.entropy_from_logits_with_chunking",
	}},
	{"", toggle(func(s *setup) *optBit { return &s.EntropyCheckpointing }), map[string]string{
		"verl": "actor_rollout_ref.actor.fsdp_config.entropy_checkpointing actor_rollout_ref.actor.entropy_checkpointing",
	}},
	{"", toggle(func(s *setup) *optBit { return &s.CompiledLoss }), map[string]string{
		"verl fsdp": "actor_rollout_ref.actor.fsdp_config.use_torch_compile actor_rollout_ref.actor.use_torch_compile=True",
	}},

	// The engine.
	{"whether engine and trainer share cards", toggle(func(s *setup) *optBit { return &s.Colocated }), map[string]string{"oomscan": "colocated"}},
	{"whether the engine sleeps", word(map[string]int64{"true": 2, "false": 0}, func(s *setup, n int64) { s.SleepLevel = memory.Some(n) }), map[string]string{
		"verl": "actor_rollout_ref.rollout.free_cache_engine=True", "slime": "offload_rollout", "trl": "vllm_enable_sleep_mode",
		"openrlhf": "vllm_enable_sleep vllm.enable_sleep", "oomscan": "engine_sleeps",
	}},
	{"share of the card (gpu_memory_utilization, mem_fraction_static)", share(func(s *setup) *optNum { return &s.EngineShare }), map[string]string{
		"verl": "actor_rollout_ref.rollout.gpu_memory_utilization", "areal": "sglang.mem_fraction_static vllm.gpu_memory_utilization", "slime": "sglang_mem_fraction_static",
		"trl": "vllm_gpu_memory_utilization", "openrlhf": "vllm_gpu_memory_utilization vllm.gpu_memory_utilization",
		"nemo_rl": "policy.generation.vllm_cfg.gpu_memory_utilization", "vllm": "gpu_memory_utilization", "sglang": "mem_fraction_static",
	}},
	{"", count(func(s *setup) *optInt { return &s.EngineTP }), map[string]string{
		"verl": "actor_rollout_ref.rollout.tensor_model_parallel_size=2", "slime": "rollout_num_gpus_per_engine", "trl": "vllm_tensor_parallel_size",
		"openrlhf": "vllm_tensor_parallel_size vllm.tensor_parallel_size", "nemo_rl": "policy.generation.vllm_cfg.tensor_parallel_size",
		"vllm": "tensor_parallel_size", "sglang": "tp_size tp tensor_parallel_size",
	}},
	{"", count(func(s *setup) *optInt { return &s.EnginePP }), map[string]string{
		"nemo_rl": "policy.generation.vllm_cfg.pipeline_parallel_size", "vllm": "pipeline_parallel_size", "sglang": "pp_size pipeline_parallel_size",
	}},
	{"", word(wideBytes, func(s *setup, b float64) { s.EngineWeightBytes = memory.Some(b) }), map[string]string{
		"verl": "actor_rollout_ref.rollout.dtype", "vllm": "dtype", "sglang": "dtype",
	}},
	{"", word(quantizedBytes, func(s *setup, b float64) { s.EngineWeightBytes = memory.Some(b) }), map[string]string{
		"verl": "actor_rollout_ref.rollout.quantization", "vllm": "quantization", "sglang": "quantization",
	}},
	{"", word(elementBytes, func(s *setup, b float64) { s.KVBytes = memory.Some(b) }), map[string]string{"vllm": "kv_cache_dtype", "sglang": "kv_cache_dtype"}},
	{"", count(func(s *setup) *optInt { return &s.MaxModelLen }), map[string]string{
		"verl": "actor_rollout_ref.rollout.max_model_len", "areal": "sglang.context_length vllm.max_model_len", "slime": "sglang_context_length",
		"trl": "vllm_max_model_len vllm_max_model_length", "nemo_rl": "policy.generation.vllm_cfg.max_model_len", "vllm": "max_model_len", "sglang": "context_length",
	}},
	{"", count(func(s *setup) *optInt { return &s.MaxSeqs }), map[string]string{
		"verl": "actor_rollout_ref.rollout.max_num_seqs", "areal": "sglang.max_running_requests vllm.max_num_seqs", "slime": "sglang_max_running_requests",
		"vllm": "max_num_seqs", "sglang": "max_running_requests",
	}},
	{"", count(func(s *setup) *optInt { return &s.MaxBatchedToken }), map[string]string{
		"verl": "actor_rollout_ref.rollout.max_num_batched_tokens", "areal": "sglang.chunked_prefill_size sglang.max_prefill_tokens vllm.max_num_batched_tokens",
		"slime": "sglang_chunked_prefill_size sglang_max_prefill_tokens", "vllm": "max_num_batched_tokens", "sglang": "chunked_prefill_size max_prefill_tokens",
	}},
	{"", opposite(func(s *setup) *optBit { return &s.CUDAGraphs }), map[string]string{
		"verl": "actor_rollout_ref.rollout.enforce_eager", "areal": "sglang.disable_cuda_graph vllm.enforce_eager", "slime": "sglang_disable_cuda_graph",
		"openrlhf": "enforce_eager vllm.enforce_eager", "nemo_rl": "policy.generation.vllm_cfg.enforce_eager", "vllm": "enforce_eager", "sglang": "disable_cuda_graph",
	}},
	{"bucket of a weight update", amount(func(s *setup) *optInt { return &s.UpdateBucket }, 1<<20), map[string]string{
		"verl": "actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes actor_rollout_ref.rollout.update_weights_bucket_megabytes",
	}},
	{"bucket of a weight update", amount(func(s *setup) *optInt { return &s.UpdateBucket }, 1), map[string]string{"slime": "update_weight_buffer_size"}},
	{"", func(s *setup, v string) bool { // in one piece unless it is set
		n, ok := parseInt(v)
		if ok = ok && n < mostSize; ok || v == "none" {
			s.UpdatePieces = memory.Some(max(n, 1))
		}
		return ok
	}, map[string]string{"swift": "move_model_batches=none"}},
	{"bucket of a weight update", capacity(func(s *setup) *optInt { return &s.UpdateBucket }), map[string]string{"oomscan": "update_bucket"}},
	{"memory free when the engine started", capacity(func(s *setup) *optInt { return &s.FreeAtStart }), map[string]string{"oomscan": "free_at_start"}},
	{"size of the card", capacity(func(s *setup) *optInt { return &s.CardBytes }), map[string]string{"oomscan": "card"}},

	// The node.
	{"", capacity(func(s *setup) *optInt { return &s.NodeBytes }), map[string]string{"oomscan": "--mem"}}, // Slurm's, of the job on a node
	{"Ray's object store or the node's memory", capacity(func(s *setup) *optInt { return &s.NodeBytes }), map[string]string{"oomscan": "node_memory"}},
	{"", amount(func(s *setup) *optInt { return &s.ObjectStoreBytes }, 1), map[string]string{"oomscan": "object_store_memory"}},
	{"", count(func(s *setup) *optInt { return &s.LoaderWorkers }), map[string]string{"verl": "data.dataloader_num_workers", "hf": "dataloader_num_workers"}},
	{"memory of a loader worker", capacity(func(s *setup) *optInt { return &s.LoaderWorkerBytes }), map[string]string{"oomscan": "loader_worker_memory"}},
	{"", amount(func(s *setup) *optInt { return &s.SwapBytes }, 1<<30), map[string]string{"vllm": "swap_space"}},
	{"", amount(func(s *setup) *optInt { return &s.CPUOffloadBytes }, 1<<30), map[string]string{"vllm": "cpu_offload_gb", "sglang": "cpu_offload_gb"}},
	{"whether every rank loads the whole model", toggle(func(s *setup) *optBit { return &s.LoadOnEveryRank }), map[string]string{"oomscan": "load_on_every_rank"}},
	{"whether the state dict is gathered on one rank", toggle(func(s *setup) *optBit { return &s.CheckpointGather }), map[string]string{"oomscan": "checkpoint_gather"}},
}

// loaded reads a switch that loads frozen weights in this many bytes each.
func loaded(each float64) func(*setup, string) bool {
	return func(s *setup, v string) bool {
		on, ok := parseBool(v)
		if ok && on {
			s.QuantizedBytes = memory.Some(each)
		}
		return ok
	}
}

// either reads a switch, or a number that is on unless 0. It does not turn off what an earlier row turned on.
func either(of func(*setup) *optBit) func(*setup, string) bool {
	return func(s *setup, v string) bool {
		on, ok := parseBool(v)
		if f, isNumber := parseNumber(v); !ok && isNumber {
			on, ok = f != 0, true
		}
		if ok {
			*of(s) = memory.Some(on || of(s).Or(false))
		}
		return ok
	}
}
