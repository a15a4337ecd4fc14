package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

func TestSettingsOfEveryDialectBecomeTheSameInputs(t *testing.T) {
	t.Parallel()
	one, two, four, eight := memory.Some(int64(1)), memory.Some(int64(2)), memory.Some(int64(4)), memory.Some(int64(8))
	on, off := memory.Some(true), memory.Some(false)
	for name, c := range map[string]struct {
		run   *classifier.Run
		phase string
		want  func(s *memory.Setup) // what differs from the setup of nothing
	}{
		"verl, FSDP, update": {run(
			"verl", "actor_rollout_ref.actor.strategy", "fsdp2", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "8", "data.max_prompt_length", "1024", "data.max_response_length", "3072",
			"trainer.n_gpus_per_node", "8", "trainer.nnodes", "1", "actor_rollout_ref.rollout.tensor_model_parallel_size", "4", "actor_rollout_ref.actor.fsdp_config.param_offload", "True",
			"actor_rollout_ref.actor.entropy_coeff", "0", "algorithm.adv_estimator", "grpo", "actor_rollout_ref.actor.use_kl_loss", "False", "algorithm.use_kl_in_reward", "True",
			"actor_rollout_ref.model.use_remove_padding", "True", "actor_rollout_ref.actor.ulysses_sequence_parallel_size", "2",
		), "backward", func(s *memory.Setup) {
			s.Framework, s.Trainer, s.World, s.GPUsPerNode, s.CP = memory.VeRL, memory.FSDP2, eight, eight, two
			s.MicroBatch, s.SequenceMax, s.EngineTP = eight, memory.Some(int64(4096)), four
			s.ParamOffload, s.Entropy, s.Critic, s.Reference, s.Padded = on, off, off, on, off
			s.Recompute, s.CompiledLoss, s.SleepLevel = memory.RecomputeFull, on, two
		}},
		"verl, FSDP, a token budget in the log-prob pass": {run(
			"verl", "actor_rollout_ref.actor.strategy", "fsdp", "actor_rollout_ref.actor.use_dynamic_bsz", "True", "actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu", "16384",
			"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "8", "actor_rollout_ref.model.enable_gradient_checkpointing", "False", "actor_rollout_ref.actor.entropy_coeff", "0",
			"actor_rollout_ref.rollout.free_cache_engine", "False", "actor_rollout_ref.rollout.tensor_model_parallel_size", "1", "actor_rollout_ref.actor.use_torch_compile", "False",
		), "logprob", func(s *memory.Setup) {
			s.Framework, s.Trainer, s.TokenBudget, s.Recompute = memory.VeRL, memory.FSDP1, memory.Some(int64(16384)), memory.RecomputeNone
			s.SleepLevel, s.EngineTP, s.CompiledLoss = memory.Some(int64(0)), one, off
		}},
		"verl, Megatron with the optimizer on the host": {run(
			"verl", "actor_rollout_ref.actor.strategy", "megatron", "actor_rollout_ref.actor.megatron.tensor_model_parallel_size", "4", "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size", "2",
			"actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity", "selective", "actor_rollout_ref.actor.megatron.override_transformer_config.recompute_modules", "['core_attn']",
			"actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_cpu_offload", "True", "actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_offload_fraction", "0.5",
			"actor_rollout_ref.rollout.tensor_model_parallel_size", "8",
		), "optimizer", func(s *memory.Setup) {
			s.Framework, s.Trainer, s.TP, s.PP, s.SequenceParallel = memory.VeRL, memory.Megatron, four, two, on
			s.Recompute, s.OptimizerOnHost, s.OptimizerOffload = memory.RecomputeSelective, on, memory.Some(0.5)
			s.EngineTP, s.SleepLevel = eight, two
		}},
		"slime's flags": {run(
			"slime", "--tensor-model-parallel-size", "4", "--max-tokens-per-gpu", "9216", "--use-dynamic-batch-size", "true", "--actor-num-gpus-per-node", "8", "--actor-num-nodes", "1",
			"--recompute-granularity", "full", "--recompute-method", "uniform", "--optimizer-cpu-offload", "true", "--use-kl-loss", "true", "--sglang-mem-fraction-static", "0.7",
			"--update-weight-buffer-size", "536870912",
		), "backward", func(s *memory.Setup) {
			s.Framework, s.Trainer, s.TP, s.World, s.GPUsPerNode = memory.Slime, memory.Megatron, four, eight, eight
			s.TokenBudget, s.Recompute, s.OptimizerOnHost, s.OptimizerOffload = memory.Some(int64(9216)), memory.RecomputeFull, on, memory.Some(1.0)
			s.Reference, s.ReferenceOffload, s.EngineShare, s.UpdateBucket = on, on, memory.Some(0.7), memory.Some(int64(512<<20))
		}},
		"Megatron that recomputes some layers of a stage": {run(
			"megatron", "recompute_granularity", "full", "recompute_method", "block", "micro_batch_size", "2", "seq_length", "4096", "use_distributed_optimizer", "True", "optimizer", "muon",
		), "backward", func(s *memory.Setup) {
			s.Framework, s.Trainer, s.MicroBatch, s.SequenceMax = memory.MegatronLM, memory.Megatron, two, memory.Some(int64(4096))
			s.DistributedOptimizer, s.Optimizer = on, memory.OtherOptimizer
		}},
		"AReaL's strategies": {run(
			"areal", "allocation_mode", "sglang:d4t2+fsdp:d2c2", "actor.mb_spec.max_tokens_per_mb", "16384", "actor.gradient_checkpointing", "true", "actor.dtype", "bfloat16",
			"actor.optimizer.type", "adam_bf16", "sglang.mem_fraction_static", "0.8", "actor.kl_ctl", "0.0",
		), "backward", func(s *memory.Setup) {
			s.Framework, s.Trainer, s.World, s.TP, s.PP, s.CP = memory.AReaL, memory.FSDP2, four, one, one, two
			s.EngineTP, s.EnginePP, s.Colocated, s.EngineShare = two, one, off, memory.Some(0.8)
			s.TokenBudget, s.Recompute, s.WeightBytes, s.Optimizer = memory.Some(int64(8192)), memory.RecomputeFull, memory.Some(2.0), "adam_bf16"
			s.Reference, s.Critic = off, off
		}},
		"OpenRLHF": {run(
			"openrlhf", "--zero_stage", "3", "--adam_offload", "true", "--micro_train_batch_size", "2", "--prompt_max_len", "1024", "--generate_max_len", "1024", "--gradient_checkpointing", "true",
			"--init_kl_coef", "0.01", "--colocate_all_models", "false", "--vllm_gpu_memory_utilization", "0.5",
		), "forward", func(s *memory.Setup) {
			s.Framework, s.Trainer, s.MicroBatch, s.SequenceMax = memory.OpenRLHF, memory.ZeRO3, two, memory.Some(int64(2048))
			s.OptimizerOffload, s.Recompute, s.Reference, s.EngineShare = memory.Some(1.0), memory.RecomputeFull, off, memory.Some(0.5)
		}},
		"TRL's GRPO with DeepSpeed's JSON": {run(
			"trl", "zero_optimization.stage", "2", "zero_optimization.offload_optimizer.device", "cpu", "zero_optimization.reduce_bucket_size", "5e7", "per_device_train_batch_size", "4",
			"max_prompt_length", "512", "max_completion_length", "512", "num_generations", "8", "use_liger_kernel", "True", "optim", "OptimizerNames.ADAMW_BNB", "beta", "0.04",
		), "backward", func(s *memory.Setup) {
			s.Framework, s.Task, s.Trainer, s.MicroBatch, s.SequenceMax = memory.TRL, "grpo", memory.ZeRO2, four, memory.Some(int64(1024))
			s.LossTokens, s.OptimizerOffload, s.ReduceBucket, s.Optimizer = memory.Some(int64(2048)), memory.Some(1.0), memory.Some(int64(5e7)), "adamw_8bit"
			s.Fused, s.FusedLoss, s.Reference, s.Critic = on, on, on, off
		}},
		"preferences have a loss of their own": {run("trl", "zero_stage", "3", "max_length", "1024", "beta", "0.1", "per_device_train_batch_size", "2"), "backward", func(s *memory.Setup) {
			s.Trainer, s.MicroBatch, s.SequenceMax, s.Reference = memory.ZeRO3, two, memory.Some(int64(1024)), on
		}},
		"the Trainer of Hugging Face, as LLaMA-Factory starts it": {run(
			"deepspeed", "deepspeed_config.zero_optimization.stage", "3", "per_device_train_batch_size", "1", "cutoff_len", "4096", "gradient_checkpointing", "true", "enable_liger_kernel", "true", "optim", "adamw_torch",
		), "forward", func(s *memory.Setup) {
			s.Framework, s.Trainer, s.MicroBatch, s.SequenceMax = memory.HFTrainer, memory.ZeRO3, one, memory.Some(int64(4096))
			s.Recompute, s.Fused, s.FusedLoss, s.Optimizer = memory.RecomputeFull, on, on, "adamw"
		}},
		"a DeepSpeed configuration that is named for its stage": {run("trl", "deepspeed", "configs/ds_z3_offload.json", "max_length", "1024", "per_device_train_batch_size", "2"), "backward", func(s *memory.Setup) {
			s.Trainer, s.MicroBatch, s.SequenceMax = memory.ZeRO3, two, memory.Some(int64(1024))
		}},
		"a configuration with offload by its name": {run("trl", "--deepspeed", "zero3_offload", "max_length", "1024", "per_device_train_batch_size", "2"), "backward", func(s *memory.Setup) {
			s.Trainer, s.MicroBatch, s.SequenceMax, s.ParamOffload, s.OptimizerOffload = memory.ZeRO3, two, memory.Some(int64(1024)), on, memory.Some(1.0)
		}},
		"vLLM alone": {run("vllm", "gpu_memory_utilization", "0.9", "max_num_seqs", "256", "max_model_len", "32768", "enforce_eager", "True", "tensor_parallel_size", "4", "kv_cache_dtype", "fp8", "swap_space", "4"), "rollout", func(s *memory.Setup) {
			s.Engine, s.EngineShare, s.MaxSeqs, s.MaxModelLen = memory.VLLM, memory.Some(0.9), memory.Some(int64(256)), memory.Some(int64(32768))
			s.CUDAGraphs, s.EngineTP, s.KVBytes, s.SwapBytes = off, four, memory.Some(1.0), memory.Some(int64(4<<30))
		}},
		"SGLang alone, its prefill not cut": {run("sglang", "mem_fraction_static", "0.88", "tp_size", "2", "chunked_prefill_size", "-1", "max_prefill_tokens", "16384", "disable_cuda_graph", "False"), "rollout", func(s *memory.Setup) {
			s.Engine, s.EngineShare, s.EngineTP, s.MaxBatchedToken, s.CUDAGraphs = memory.SGLang, memory.Some(0.88), two, memory.Some(int64(16384)), on
		}},
		"torchtitan": {run("torch", "training.local_batch_size", "2", "activation_checkpoint.mode", "selective", "activation_checkpoint.selective_ac_option", "op", "parallelism.tensor_parallel_degree", "8", "compile.enable", "true"), "forward", func(s *memory.Setup) {
			s.Framework, s.Trainer, s.TP, s.Recompute, s.Fused = memory.TorchTitan, memory.FSDP2, eight, memory.RecomputeOps, on
		}},
		"what a user tells in oomscan's own words": {run("verl", "card", "H200", "total_gpus", "4", "free_at_start", "70GiB", "critic", "true", "node_memory", "1T"), "unknown", func(s *memory.Setup) {
			s.Framework, s.World, s.FreeAtStart, s.Critic, s.NodeBytes = memory.VeRL, four, memory.Some(int64(70<<30)), on, memory.Some(int64(1<<40))
			size := 139.7
			s.CardBytes, s.EngineTP, s.SleepLevel = memory.Some(int64(size*(1<<30))), two, two
		}},
		"nothing is known": {&classifier.Run{}, "backward", func(*memory.Setup) {}},
	} {
		want := memory.Setup{}
		c.want(&want)
		assert.Equal(t, want, setupOf(newContext(c.run, gpuOOM(c.phase))), name)
	}
}

func TestTheModelOfABudgetIsPrintedNamedOrEstimated(t *testing.T) {
	t.Parallel()
	sizes := []string{"vocab_size", "1000", "hidden_size", "64", "num_hidden_layers", "2", "num_attention_heads", "4", "num_key_value_heads", "2", "intermediate_size", "128", "tie_word_embeddings", "true"}
	for name, c := range map[string]struct {
		model  string
		config []string
		want   string
		hidden int64
		others bool
	}{
		"a name of the table":              {"Qwen/Qwen2.5-7B-Instruct", nil, "Qwen2.5-7B", 3584, false},
		"printed sizes of an unknown name": {"/data/mine", sizes, "", 64, false},
		"printed sizes against the name":   {"Qwen2.5-7B", sizes, "", 64, false},
		"sizes without that of the head":   {"/data/mine", sizes[:12], "", 0, false},
		"a name that tells a size":         {"org/other-7b-chat", nil, "Qwen2-7B", 0, true},
		"no name":                          {"", nil, "", 0, false},
	} {
		r := run("torch", c.config...)
		r.Model.Name = c.model
		m, others := budgetModels(newContext(r, gpuOOM("backward")))
		assert.Equal(t, c.others, len(others) > 0, name)
		if !c.others {
			assert.Equal(t, c.want, m.Name, name)
			assert.Equal(t, c.hidden, m.Hidden, name)
		}
	}
}

func TestAdaptersAreCountedByRankAndMatrix(t *testing.T) {
	t.Parallel()
	r := run("trl", "lora_r", "8", "lora_target", "q_proj,v_proj", "num_generations", "8", "zero_stage", "2")
	r.Model.Name = "Llama-2-7b"
	s := setupOf(newContext(r, gpuOOM("backward")))
	assert.Equal(t, memory.Some(int64(8*2*(4096+4096)*32)), s.Adapters) // 4,194,304, as PEFT prints
	assert.Equal(t, memory.Some(int64(1)), s.AdaptedInputs)
	counted, all := int64(20185088), int64(7635801600)
	r.Model.Trained, r.Model.Parameters = &counted, &all
	assert.Equal(t, memory.Some(counted), setupOf(newContext(r, gpuOOM("backward"))).Adapters, "as printed")
	r = run("trl", "use_peft", "True", "num_generations", "8", "zero_stage", "2")
	r.Model.Name = "Llama-2-7b"
	assert.Empty(t, setupOf(newContext(r, gpuOOM("backward"))).Trainer, "the rank is unknown")
}

func TestWhatTheLogMeasuredIsAnInput(t *testing.T) {
	t.Parallel()
	r := run("sglang", "mem_fraction_static", "0.88")
	r.Gauges = []classifier.Gauge{{Name: "sglang.mem_weights", At: parser.Position{Source: "s.log", Line: 3}, Fields: parser.Fields{"free": "64424509440", "used": "16106127360"}}}
	in := with(gpuOOM("rollout"), func(r *classifier.Root) { r.At, r.Total = parser.Position{Source: "s.log", Line: 9}, gibs(80) })
	s := setupOf(newContext(r, in))
	assert.Equal(t, memory.Some(int64(75)<<30), s.FreeAtStart)
	assert.Equal(t, memory.Some(int64(80)<<30), s.CardBytes)
}

func TestRanksOfOneNodeShareIt(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[int]memory.Opt[int64]{1: memory.Some(int64(4)), 2: {}} {
		r := run("hf-trainer", "per_device_train_batch_size", "1")
		r.WorldSize, r.Nodes = new(4), &nodes
		assert.Equal(t, want, setupOf(newContext(r, gpuOOM("backward"))).GPUsPerNode)
	}
}

func TestOverriddenSettingsTakeThePlaceOfTheLogs(t *testing.T) {
	t.Parallel()
	r := run("verl", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "8", "critic.ppo_epochs", "1", "actor_rollout_ref.actor.ppo_epochs", "1")
	got, err := Overridden(r, map[string]string{"ppo_micro_batch_size_per_gpu": "2", "new.key": "1"})
	assert.NoError(t, err)
	assert.Equal(t, "2", got.Config["actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu"].Value)
	assert.Equal(t, "1", got.Config["new.key"].Value)
	assert.Equal(t, "8", r.Config["actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu"].Value, "the log's own settings stay")
	_, err = Overridden(r, map[string]string{"ppo_epochs": "2"})
	assert.EqualError(t, err, "several settings end in ppo_epochs: actor_rollout_ref.actor.ppo_epochs, critic.ppo_epochs")
}
