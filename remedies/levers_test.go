package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
)

// TestLeversOfTrainers checks the first proposal, others that are expected, and some that must not be made.
func TestLeversOfTrainers(t *testing.T) {
	t.Parallel()
	moments := frames("/x/train.py|main|engine.step()", "/x/torch/optim/adamw.py|_init_group|state[\"exp_avg\"] = torch.zeros_like(")
	mlp := frames("/x/train.py|training_step|loss = self.compute_loss(model, inputs)", "/x/transformers/models/qwen2/modeling_qwen2.py|forward|down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))")
	backward := frames("/x/train.py|main|engine.backward(loss)", "/x/torch/autograd/graph.py|_engine_run_backward|return Variable._execution_engine.run_backward(")
	summon := frames("/verl/workers/sharding_manager/fsdp_vllm.py|__enter__|params = __collect_lora_params()", "/verl/workers/sharding_manager/fsdp_vllm.py|__collect_lora_params|with FSDP.summon_full_params(self.module, writeback=False):",
		"/x/torch/distributed/fsdp/_unshard_param_utils.py|_unshard_fsdp_state_params|handle.unshard()", "/x/torch/distributed/fsdp/_flat_param.py|unshard|_alloc_storage(unsharded_flat_param)")
	critic := frames("/verl/workers/fsdp_workers.py|update_critic|metrics = self.critic.update_critic(data=data)", "/verl/workers/critic/dp_critic.py|_optimizer_step|self.critic_optimizer.step()", "/x/torch/optim/adamw.py|_init_group|state[\"exp_avg\"] = torch.zeros_like(")
	nemo := frames("/opt/NeMo/examples/nlp/megatron_gpt_pretraining.py|main|trainer.fit(model)", "/opt/megatron/core/transformer/mlp.py|forward|intermediate_parallel = bias_swiglu_impl(")
	save := frames("/verl/workers/fsdp_workers.py|save_checkpoint|self.checkpoint_manager.save_checkpoint(", "/verl/utils/checkpoint/fsdp_checkpoint_manager.py|save_checkpoint|state_dict = get_fsdp_full_state_dict(self.model)", "/x/torch/distributed/fsdp/_flat_param.py|_alloc_padded_unsharded_flat_param|_alloc_storage(unsharded_flat_param)")
	resume := frames("/w/train.py|main|ckpt = torch.load(args.resume)", "/x/torch/serialization.py|load|return _load(", "/x/torch/serialization.py|_cuda_deserialize|return obj.cuda(device)")
	started := frames("/x/deepspeed/runtime/zero/stage3.py|__init__|self._setup_for_real_optimizer()", "/x/deepspeed/runtime/zero/stage3.py|initialize_optimizer_states|self._optimizer_step(i)", "/x/deepspeed/ops/adam/fused_adam.py|step|state['exp_avg_sq'] = torch.zeros_like(p.data)")
	const batch, qwen7, qwen14 = "per_device_train_batch_size", "Qwen/Qwen2.5-7B", "Qwen/Qwen2.5-14B"
	on := func(gpus int, r *classifier.Run) *classifier.Run { r.WorldSize = &gpus; return r }
	zero := func(stage string, more ...string) *classifier.Run {
		return on(8, as(run("deepspeed", append([]string{"zero_optimization_stage", stage, "train_micro_batch_size_per_gpu", "1"}, more...)...), "deepspeed", "", ""))
	}
	lora := func(free string) *classifier.Run {
		return as(run("verl", "actor_rollout_ref.model.lora_rank", "32", "actor_rollout_ref.rollout.layered_summon", "False", "actor_rollout_ref.rollout.free_cache_engine", free, "actor_rollout_ref.rollout.gpu_memory_utilization", "0.4"), "fsdp", "vllm", "")
	}
	ranked := func(rank int, in *classifier.Incident) *classifier.Incident {
		card := 0
		in.Root.Rank, in.Root.Device, in.Root.Allocated, in.Root.OtherProcesses = &rank, &card, gibs(2), gibs(75)
		return in
	}
	for _, c := range []struct {
		name               string
		run                *classifier.Run
		in                 *classifier.Incident
		first, then, never []string
	}{
		{"where ZeRO is off, it is turned on, and offloading needs it", zero("0"), gpu("optimizer", 5.8, 5.2, 31.7, moments), []string{"stage = 1"}, []string{"device = cpu", "stage = 2"}, []string{"reduce_bucket_size down"}},
		{"on many ranks the weights are more than a rank's part of the states", zero("2"), gpu("optimizer", 5.8, 5.2, 31.7, moments), []string{"stage = 3"}, []string{"device = cpu"}, nil},
		{"where it is on, offloading needs no other stage", on(4, zero("2")), gpu("optimizer", 5.8, 5.2, 31.7, moments), []string{"device = cpu"}, []string{"stage = 3"}, []string{"stage = 2"}},
		{"at start-up the moments leave the card, not the weights", on(1, zero("3")), gpu("init", 3.74, 2.94, 39.4, started), []string{"device = cpu"}, nil, []string{"zero_optimization.offload_param.device"}},
		{"less states make room where no batch can be smaller", zero("1"), gpu("backward", .27, .11, 79.1, backward), nil, []string{"stage = 2", "device = cpu"}, nil},
		{"not those of a small model", counted(zero("1"), 120_000_000, 0), gpu("backward", .27, .11, 79.1, backward), nil, nil, []string{"stage = 2", "device = cpu"}},
		{"recomputation comes before a smaller batch, set or not", on(8, as(of("hf_trainer", run("torch", batch, "4", "block_size", "4096")), "", "", qwen7)), gpu("forward", .578125, .107, 79.1, mlp), []string{"gradient_checkpointing = True"}, []string{batch + " = 2"}, nil},
		{"FSDP has a switch of its own", on(8, as(run("hf_trainer", batch, "4", "fsdp_config.fsdp_activation_checkpointing", "false"), "fsdp", "", qwen14)), gpu("forward", .578, .107, 79.1, mlp), []string{"fsdp_activation_checkpointing = true"}, nil, []string{"gradient_checkpointing set"}},
		{"a whole model is gathered before the engine wakes", lora("True"), gpu("weight_update", 3.3, 2, 79.1, summon), []string{"layered_summon = True"}, nil, []string{"gpu_memory_utilization down", "param_offload = True"}},
		{"an engine that never sleeps is there", lora("False"), gpu("weight_update", 3.3, 2, 79.1, summon), []string{"layered_summon = True"}, nil, nil},
		{"the critic has a strategy of its own", on(8, as(run("verl", "algorithm.adv_estimator", "gae"), "fsdp", "", qwen14)), with(gpu("optimizer", 1.3, .7, 79.1, critic), func(r *classifier.Root) { r.Allocated = gibs(73) }), nil, []string{"critic.strategy"}, []string{"actor_rollout_ref.actor.strategy"}},
		{"what a save gathers comes before what is offloaded", as(run("verl", "actor_rollout_ref.actor.checkpoint.save_contents", "[hf_model,model,optimizer,extra]", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "1"), "fsdp", "", "Qwen/Qwen2.5-72B-Instruct"), gpu("checkpoint", 3.3, 1.7, 79.1, save), []string{"save_contents = [model,optimizer,extra]"}, nil, nil},
		{"NeMo has names of its own", formed(run("megatron", "model.micro_batch_size", "4", "model.tensor_model_parallel_size", "2", "model.activations_checkpoint_granularity", "null"), "yaml"), gpu("forward", .43, .1, 79.1, nemo), []string{"activations_checkpoint_granularity = full", "activations_checkpoint_method = uniform"}, nil, []string{"recompute_granularity set"}},
		{"a script's own switch splits it", on(8, run("torch", "train.enable_full_shard", "True")), gpu("optimizer", 1.3, .9, 79.1, moments), nil, nil, []string{"fully_shard set"}},
		{"SkyRL splits the model by itself", of("skyrl", on(8, run("torch", "trainer.strategy", "fsdp2"))), gpu("optimizer", 1.3, .9, 79.1, moments), nil, nil, []string{"fully_shard set"}},
		{"a rank that reads onto the first card is not at home there", on(8, run("torch", "batch_size", "4")), ranked(3, gpu("checkpoint", .125, .06, 79.1, resume)), []string{`map_location = "cpu"`}, nil, nil},
		{"the first rank is", on(8, run("torch", "batch_size", "4")), ranked(0, gpu("checkpoint", .125, .06, 79.1, resume)), nil, []string{"other processes set"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			list := For(c.run, c.in)
			first, all := proposed(list)
			for _, proposal := range list.Proposals {
				for _, change := range proposal.Changes {
					all = append(all, change.Key)
				}
			}
			require.NotNil(t, list.Cause)
			assert.Subset(t, first, c.first, list.Cause.ID)
			assert.Subset(t, all, c.then, list.Cause.ID)
			for _, bad := range c.never {
				assert.NotContains(t, all, bad, list.Cause.ID)
			}
		})
	}
}
