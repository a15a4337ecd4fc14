package remedies

import (
	"testing"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/traceback"
)

// TestWhatFrameworksOfReinforcementLearningAreToldFirst has a group of situations for each kind of evidence: the same failure in
// several frameworks.
func TestWhatFrameworksOfReinforcementLearningAreToldFirst(t *testing.T) {
	t.Parallel()
	backward := frames("/x/train.py|main|trainer.train()", "/x/torch/autograd/graph.py|_engine_run_backward|return Variable._execution_engine.run_backward(")
	waking := frames("/x/vllm/v1/worker/gpu_worker.py|wake_up|allocator.wake_up(tags)", "/x/vllm/device_allocator/cumem.py|create_and_map|python_create_and_map(")
	moments := frames("/x/train.py|main|trainer.train()", "/x/torch/optim/adamw.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like(")
	partitions := frames("/x/openrlhf/trainer/ray/ppo_actor.py|init_model_from_pretrained|strategy.prepare(", "/x/deepspeed/runtime/zero/stage3.py|_create_fp32_partitions|.clone().float().detach()")
	fullTensor := frames("/x/areal/engine/fsdp_engine.py|_get_full_tensor|tensor = tensor.full_tensor()", "/x/torch/distributed/tensor/_api.py|full_tensor|redist_res = self.redistribute(")
	own := func(in *classifier.Incident) *classifier.Incident { // no other process is on the card
		return with(in, func(r *classifier.Root) { r.ProcessBytes, r.Allocated = gibs(78), gibs(76) })
	}
	flags := func(framework string, pairs ...string) *classifier.Run {
		more := []string{"--bf16", "true", "--learning_rate", "1e-6", "--num_train_epochs", "1", "--logging_steps", "1", "--max_prompt_length", "512", "--save_steps", "100"}
		return formed(run(framework, append(more, pairs...)...), "command")
	}
	trl := func(pairs ...string) *classifier.Run {
		return flags("trl", append([]string{"--use_vllm", "true", "--vllm_mode", "colocate", "--vllm_gpu_memory_utilization", "0.5", "--per_device_train_batch_size", "8", "--gradient_checkpointing", "true"}, pairs...)...)
	}
	swift := func(pairs ...string) *classifier.Run {
		r := flags("trl", append([]string{"--vllm_mode", "colocate", "--vllm_gpu_memory_utilization", "0.5", "--per_device_train_batch_size", "8"}, pairs...)...)
		r.Engine = "vllm"
		return of("swift", r)
	}
	cache := func(message string, free, total float64) *classifier.Incident {
		in := with(gpuOOM("init"), func(r *classifier.Root) {
			r.Message, r.Trace = message, frames("/x/vllm/v1/core/kv_cache_utils.py|check_enough_kv_cache_memory|raise ValueError(")
			if total > 0 {
				r.Free, r.Total = gibs(free), gibs(total)
			}
		})
		in.Kind = parser.KVCache
		return in
	}
	roll := func(pairs ...string) *classifier.Run {
		const config = "actor_train.strategy_args.strategy_config."
		return of("roll", as(formed(run("megatron", append([]string{config + "tensor_model_parallel_size", "2", config + "pipeline_model_parallel_size", "1", config + "use_distributed_optimizer", "true"}, pairs...)...), "yaml"), "megatron", "", ""))
	}
	verl := func(backend string, pairs ...string) *classifier.Run {
		return as(run("verl", append([]string{"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "4", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.6"}, pairs...)...), backend, "vllm", "")
	}
	alone := func(r *classifier.Run) *classifier.Run { r.WorldSize = new(1); return r }
	trlx := func(pairs ...string) *classifier.Run {
		return of("trlx", as(run("torch", append([]string{"train.batch_size", "16", "train.seq_length", "1024", "method.chunk_size", "128"}, pairs...)...), "", "", ""))
	}
	easyr1 := func(micro string) *classifier.Run {
		r := run("verl", "worker.actor.global_batch_size", "64", "worker.rollout.n", "5", "worker.actor.fsdp.enable_cpu_offload", "false", "worker.actor.offload.offload_params", "true", "worker.actor.offload.offload_optimizer", "true", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "1")
		if micro != "" {
			r.Config["worker.actor.micro_batch_size_per_device_for_update"] = classifier.Value{Value: micro}
		}
		return of("easyr1", as(formed(r, "pprint"), "fsdp", "", ""))
	}
	for group, cases := range map[string][]struct {
		name         string
		run          *classifier.Run
		in           *classifier.Incident
		first, never []string
	}{
		"an engine that shares the card and never sleeps": {
			{"TRL has a switch, off by default", trl(), own(gpu("backward", 2, .6, 79, backward)), []string{"vllm_enable_sleep_mode = true"}, nil},
			{"on, it is not advised", trl("--vllm_enable_sleep_mode", "true"), own(gpu("backward", 2, .6, 79, backward)), nil, []string{"vllm_enable_sleep_mode set", "vllm_gpu_memory_utilization down"}},
			{
				"verl has one, on by default", as(run("verl", "actor_rollout_ref.rollout.free_cache_engine", "False", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.6"), "fsdp", "vllm", ""),
				own(gpu("backward", 2, .6, 79, backward)),
				[]string{"free_cache_engine = True"},
				nil,
			},
			{
				"what the others hold is what it frees, not the least by the settings", as(run("verl", "actor_rollout_ref.rollout.free_cache_engine", "False", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.6", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "1"), "fsdp", "vllm", "Qwen2.5-7B"),
				with(gpu("backward", 2, .6, 79, backward), func(r *classifier.Root) { r.ProcessBytes, r.Allocated, r.OtherProcesses = gibs(32), gibs(30), gibs(46) }),
				[]string{"free_cache_engine = True"},
				nil,
			},
			{"ms-swift has levels", swift(), own(gpu("backward", 2, .6, 79, backward)), []string{"sleep_level = 1"}, nil},
			{"level 1 sleeps", swift("--sleep_level", "1"), own(gpu("backward", 2, .6, 79, backward)), nil, []string{"sleep_level set", "vllm_gpu_memory_utilization down"}},
			{
				"a collective that found no memory is beside it, too", trl(), with(gpuOOM("nccl"), func(r *classifier.Root) { r.Message = "NCCL error: out of memory" }),
				[]string{"vllm_gpu_memory_utilization down"},
				nil,
			},
		},
		"an engine that sleeps unless told otherwise has no share to give": {
			{"SkyRL", of("skyrl", as(run("torch", "generator.gpu_memory_utilization", "0.8", "trainer.micro_train_batch_size_per_gpu", "8"), "fsdp", "vllm", "")), own(gpu("backward", 4, 2, 79, backward)), []string{"micro_train_batch_size_per_gpu down"}, []string{"gpu_memory_utilization down"}},
			{"ROLL", roll("actor_train.training_args.per_device_train_batch_size", "4", "actor_infer.strategy_args.strategy_config.gpu_memory_utilization", "0.6"), own(gpu("backward", 4, 2, 79, backward)), nil, []string{"gpu_memory_utilization down"}},
		},
		"engines on cards of their own": {
			{
				"AReaL's layout gives each its own", run("areal", "allocation_mode", "sglang:d4+fsdp:d4", "sglang.mem_fraction_static", "0.8"), gpu("weight_update", 1, .4, 79, fullTensor),
				[]string{"weight_chunked_mem_mb = 512"},
				[]string{"mem_fraction_static down"},
			},
			{
				"a cluster of one GPU has none for each", as(run("areal", "allocation_mode", "sglang.d1+d1", "cluster.n_gpus_per_node", "1", "sglang.mem_fraction_static", "0.8"), "fsdp", "sglang", ""),
				with(gpu("backward", 2, .6, 79, backward), func(r *classifier.Root) { r.ProcessBytes, r.Allocated, r.OtherProcesses = gibs(12), gibs(11), gibs(66) }),
				[]string{"mem_fraction_static down"},
				nil,
			},
		},
		"who is on the card of an engine apart from the trainer": {
			{
				"verl's receiver of weights shares the engine's card, not the trainer's", verl("megatron", "rollout.nnodes", "2", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.8"),
				with(gpu("weight_update", 4, 3, 79, nil), func(r *classifier.Root) {
					r.Trace = &traceback.Trace{Origin: &traceback.Origin{Actor: "CheckpointEngineWorker", Method: "execute_checkpoint_engine"}}
					r.ProcessBytes, r.Allocated, r.OtherProcesses = gibs(8), gibs(6), gibs(68)
				}),
				[]string{"gpu_memory_utilization down"},
				[]string{"param_offload set", "optimizer_offload set"},
			},
		},
		"prime-rl cuts samples where it makes micro-batches smaller": {
			{"the head in pieces comes first", of("prime_rl", run("torch", "seq_len", "65536", "fused_lm_head_chunk_size", "disabled")), gpu("forward", 37, 20, 79, frames("/x/prime_rl/trainer/models/layers/lm_head.py|forward|logits = logits.float()")), []string{"fused_lm_head_chunk_size = 1024"}, nil},
		},
		"the text is not what a vision tower works on": {
			{
				"ms-swift's pixels are", of("swift", flags("trl", "--max_length", "4096", "--per_device_train_batch_size", "1")),
				gpu("forward", 1, .6, 79, frames("/x/swift/trainers/mixin.py|compute_loss|outputs = model(**inputs)", "/x/transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|image_embeds = self.visual(pixel_values, grid_thw=image_grid_thw)", "/x/transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|hidden_states = blk(hidden_states")),
				[]string{"max_pixels = 1003520"},
				[]string{"max_length down", "use_liger_kernel set"},
			},
		},
		"an engine's settings are written as the program hands them on": {
			{"ROLL", of("roll", as(run("torch"), "", "vllm", "")), cache(noBlocks, 0, 0), []string{"gpu_memory_utilization = 0.95"}, nil},
			{
				"NeMo-RL", as(run("nemo_rl", "policy.generation.vllm_cfg.gpu_memory_utilization", "0.9"), "", "vllm", ""),
				with(gpuOOM("init"), func(r *classifier.Root) {
					r.Message, r.Trace = warmUp, frames("/x/vllm/v1/worker/gpu_model_runner.py|profile_run|", "/x/vllm/v1/worker/gpu_model_runner.py|_dummy_sampler_run|raise RuntimeError(")
				}),
				[]string{"max_num_seqs down"},
				nil,
			},
		},
		"states and their levers": {
			{
				"DeepSpeed makes the optimizer's partitions at start-up", as(run("openrlhf", "--zero_stage", "3", "--micro_train_batch_size", "4"), "deepspeed", "", ""), gpu("init", 3.7, 1, 79, partitions),
				[]string{"adam_offload = True"},
				[]string{"vllm_tensor_parallel_size up"},
			},
			{
				"packing and fused losses do nothing for Adam's first step", as(run("openrlhf", "--zero_stage", "2", "--micro_train_batch_size", "1"), "deepspeed", "", ""), gpu("optimizer", 14, 3, 79, moments),
				[]string{"adam_offload = True"},
				[]string{"packing_samples set", "use_liger_kernel set", "micro_train_batch_size down"},
			},
			{
				"DeepSpeed-Chat has flags of its own", as(flags("deepspeed", "--per_device_training_batch_size", "8", "--actor_zero_stage", "2"), "deepspeed", "", ""), gpu("optimizer", 6, .5, 79, moments),
				[]string{"offload = True"},
				[]string{"device = cpu"},
			},
		},
		"offloaded states come back for the update": {
			{
				"verl's FSDP2 can step on the host instead", verl("fsdp2", "actor_rollout_ref.actor.strategy", "fsdp2"), gpu("optimizer", .3, .1, 79, moments),
				[]string{"offload_policy = True"},
				[]string{"optimizer_offload set", "param_offload set"},
			},
			{"nothing is gained in the backward pass, either", verl("fsdp"), gpu("backward", 2, .6, 79, backward), []string{"ppo_micro_batch_size_per_gpu down"}, []string{"optimizer_offload set", "param_offload set"}},
			{"Megatron's can step on the host, too", verl("megatron"), gpu("optimizer", 1.2, .5, 79, moments), []string{"optimizer_cpu_offload = True"}, []string{"optimizer_offload set"}},
			{
				"the other model's stay away", verl("fsdp", "algorithm.adv_estimator", "gae", "actor_rollout_ref.actor.fsdp_config.optimizer_offload", "True"), gpu("optimizer", .3, .1, 79, moments),
				[]string{"optimizer_offload = True"},
				nil,
			},
			{"EasyR1 has an optimizer in bf16", of("easyr1", as(run("verl", "worker.actor.micro_batch_size_per_device_for_update", "1"), "fsdp", "", "")), gpu("optimizer", .3, .1, 79, moments), []string{"strategy = adamw_bf16"}, []string{"offload_optimizer set"}},
			{"what an engine that wakes needs is free", verl("fsdp"), gpu("weight_update", 0, 0, 0, waking), nil, []string{"offload_policy set"}},
			{"DeepSpeed steps on the host", of("open_instruct", as(run("deepspeed", "--deepspeed_stage", "2", "--pack_length", "16384"), "deepspeed", "", "")), gpu("optimizer", 6, 2, 79, moments), []string{"deepspeed_offload_optimizer = True"}, []string{"pack_length down", "device = cpu"}},
		},
		"trlX": {
			{"trains in minibatches", trlx(), gpu("backward", 2, .6, 79, backward), []string{"minibatch_size = 4"}, []string{"chunk_size down", "per_device_train_batch_size down"}},
			{"generates and scores in chunks", trlx(), gpu("logprob", 12, 8, 79, nil), []string{"chunk_size = 64"}, []string{"minibatch_size down", "batch_size down"}},
			{"trains some of the layers on one GPU", alone(trlx()), gpu("optimizer", .3, .1, 79, moments), []string{"num_layers_unfrozen = 2"}, []string{"minibatch_size down"}},
			{"or fewer than all, which it does already", trlx("model.num_layers_unfrozen", "8"), gpu("optimizer", .3, .1, 79, moments), nil, []string{"num_layers_unfrozen set", "minibatch_size down"}},
		},
		"micro-batches by their programs' names": {
			{"DeepSpeed-Chat trains", as(flags("deepspeed", "--per_device_training_batch_size", "8", "--actor_zero_stage", "3", "--actor_gradient_checkpointing", "True"), "deepspeed", "", ""), gpu("backward", 2, 1.2, 79, backward), []string{"per_device_training_batch_size = 4"}, nil},
			{
				"and scores what it generated", as(flags("deepspeed", "--per_device_training_batch_size", "8", "--per_device_generation_batch_size", "16", "--actor_zero_stage", "3"), "deepspeed", "", ""),
				gpu("logprob", 3, 1.2, 79, frames("/x/step3_rlhf_finetuning/ppo_trainer.py|generate_experience|logits = output.logits", "/x/torch/nn/modules/linear.py|forward|return F.linear(")),
				[]string{"per_device_generation_batch_size down"},
				[]string{"per_device_training_batch_size down"},
			},
			{
				"TRL's PPO generates and scores", run("trl", "--local_rollout_forward_batch_size", "64", "--per_device_train_batch_size", "64"),
				gpu("rollout", 18, 9, 79, frames("/x/trl/trainer/ppo_trainer.py|train|query_responses, logitss = batch_generation(", "/x/trl/trainer/utils.py|batch_generation|padded_logitss = pad(logitss")),
				[]string{"per_device_train_batch_size = 32"},
				[]string{"use_liger_kernel set", "local_rollout_forward_batch_size down"},
			},
			{
				"and keeps the scores of all answers of a rollout, however many it accumulates", run("trl", "--local_rollout_forward_batch_size", "4", "--per_device_train_batch_size", "1", "--gradient_accumulation_steps", "64", "--response_length", "1024", "vocab_size", "151936"),
				gpu("rollout", 37.09, 33.25, 79, frames("/x/trl/experimental/ppo/ppo_trainer.py|train|query_responses, logitss = batch_generation(", "/x/trl/experimental/ppo/ppo_trainer.py|batch_generation|padded_logitss = pad(logitss, padding_value=0, padding_side=\"right\")", "/x/trl/trainer/utils.py|pad|output = torch.full((len(tensors), *output_shape), padding_value)")),
				[]string{"gradient_accumulation_steps = 32"},
				[]string{"local_rollout_forward_batch_size down", "max_completion_length down", "vllm_enable_sleep_mode set", "ds3_gather_for_generation set"},
			},
			{
				"where one piece's scores are joined, those of others are kept", run("trl", "--local_rollout_forward_batch_size", "16", "--per_device_train_batch_size", "1", "--gradient_accumulation_steps", "64", "--response_length", "1024"),
				gpu("rollout", 9.27, 8.25, 79, frames("/x/trl/trainer/ppo_trainer.py|train|query_responses, logitss = batch_generation(", "/x/trl/trainer/utils.py|batch_generation|query_response, logits = generate(", "/x/trl/trainer/utils.py|generate|logits = torch.stack(output.scores, 1)")),
				[]string{"gradient_accumulation_steps = 32"},
				nil,
			},
			{
				"samples to look at are no rollout", run("trl", "--local_rollout_forward_batch_size", "64", "--per_device_train_batch_size", "1", "--gradient_accumulation_steps", "64"),
				gpu("rollout", 37.09, 33.25, 79, frames("/x/trl/trainer/ppo_trainer.py|generate_completions|query_response, _ = batch_generation(", "/x/trl/trainer/utils.py|batch_generation|query_response, logits = generate(")),
				[]string{"local_rollout_forward_batch_size down"},
				[]string{"gradient_accumulation_steps down"},
			},
			{
				"ROLL packs by tokens, whatever its batch",
				roll("actor_train.strategy_args.strategy_config.recompute_granularity", "full", "actor_train.training_args.per_device_train_batch_size", "8", "actor_train.use_sequence_packing", "true", "actor_train.sequence_packing_args.algorithm", "load_balance", "actor_train.sequence_packing_args.max_packed_sequence_length_train", "65536", "prompt_length", "2048", "response_length", "8192"),
				gpu("forward", .3, .1, 79, frames("/x/megatron/core/transformer/mlp.py|forward|")),
				nil,
				[]string{"per_device_train_batch_size down", "use_dynamic_batching_in_train set"},
			},
			{"ROLL recomputes only what its file says", roll("actor_train.training_args.per_device_train_batch_size", "1"), gpu("forward", .3, .1, 79, frames("/x/megatron/core/transformer/mlp.py|forward|")), []string{"recompute_granularity = full"}, nil},
		},
		"EasyR1 refuses to offload shards while it accumulates gradients": {
			{"as it does", easyr1("8"), gpu("optimizer", .4, .3, 139, moments), []string{"strategy = adamw_bf16"}, []string{"enable_cpu_offload set", "enable_cpu_offload = true"}},
			{"without a sign of its micro-batch, too", easyr1(""), gpu("optimizer", .4, .3, 139, moments), []string{"strategy = adamw_bf16"}, []string{"enable_cpu_offload set", "enable_cpu_offload = true"}},
		},
		"an engine whose card others fill is told about its share only": {
			{"graphs are not part of it", run("openrlhf", "--vllm_gpu_memory_utilization", "0.8"), recognized("vllm.free_memory", cache(desired, 51, 79)), []string{"vllm_gpu_memory_utilization down"}, []string{"enforce_eager set"}},
		},
		"a full engine is put in its place when it wakes": {
			{"EasyR1", of("easyr1", as(run("verl", "worker.rollout.gpu_memory_utilization", "0.85"), "fsdp", "vllm", "")), gpu("rollout", 0, 0, 0, waking), []string{"gpu_memory_utilization down"}, nil},
			{"slime's engine, while weights are updated", as(run("slime", "--sglang-mem-fraction-static", "0.85", "--update-weight-buffer-size", "536870912"), "megatron", "sglang", ""), recognized("tms.resume", gpu("weight_update", 0, 0, 0, nil)), []string{"sglang_mem_fraction_static down"}, []string{"update_weight_buffer_size down"}},
		},
	} {
		for _, c := range cases {
			t.Run(group+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				proposes(t, For(c.run, c.in), c.first, c.never)
			})
		}
	}
}
