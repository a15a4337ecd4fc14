package phase

// megatronRules: Megatron-Core and Megatron-LM (d98e8a64dd, 2026-08), and the layout before Megatron-Core, where the
// same functions are in megatron/*.py.
func megatronRules() []rule {
	return []rule{
		r("megatron/training/training.py", "setup_model_and_optimizer get_model", Init, decisive),
		r("megatron/training.py", "setup_model_and_optimizer get_model", Init, decisive),
		r("megatron/training/initialize.py", "", Init, decisive),
		r("megatron/initialize.py", "", Init, decisive),
		r("megatron/core/distributed/param_and_grad_buffer.py", "__init__", Init, decisive).
			says("the gradient buffers are allocated"),
		r("megatron/core/distributed/distributed_data_parallel.py", "__init__ _allocate_buffers_for_parameters", Init, decisive),
		r("megatron/core/optimizer/distrib_optimizer.py", "__init__ _build_*", Init, decisive),
		r("megatron/core/optimizer/optimizer.py", "__init__", Init, decisive),
		r("megatron/core/optimizer/__init__.py", "get_megatron_optimizer* _get_megatron_optimizer*", Init, decisive),

		r("megatron/core/pipeline_parallel/schedules.py", "backward_step custom_backward", Backward, decisive),
		r("megatron/core/pipeline_parallel/schedules.py", "forward_step forward_step_calc_loss", Forward, strong),
		r("megatron/schedules.py", "backward_step custom_backward", Backward, decisive),
		r("megatron/schedules.py", "forward_step", Forward, strong),
		r("megatron/training.py", "backward_step backward_step_with_communication", Backward, decisive), // 1.x to 2.2
		r("megatron/training.py", "forward_step forward_step_with_communication", Forward, strong),
		shared("megatron/core/pipeline_parallel/", "").with(opaque),
		r("megatron/core/distributed/finalize_model_grads.py", "", Backward, strong),
		r("megatron/core/distributed/param_and_grad_buffer.py", "start_grad_sync finish_grad_sync", Backward, strong),
		r("megatron/core/distributed/param_and_grad_buffer.py", "start_param_sync finish_param_sync", Forward, weak),
		r("megatron/core/optimizer/", "step step_with_ready_grads prepare_grads clip_grad_norm get_grad_norm* "+
			"clip_grad_by_total_norm* _copy_* count_zeros zero_grad", Optimizer, decisive),
		r("megatron/optimizer/", "step prepare_grads clip_grad_norm* reduce_model_grads gather_model_params", Optimizer, decisive),
		r("megatron/core/optimizer/", "sharded_state_dict load_state_dict state_dict", Checkpoint, strong),
		r("megatron/core/tensor_parallel/random.py", "backward", Backward, strong),
		r("megatron/core/tensor_parallel/random.py", "forward checkpoint", Forward, weak),
		r("megatron/core/tensor_parallel/cross_entropy.py", "backward", Backward, strong),
		r("megatron/core/tensor_parallel/cross_entropy.py", "", Forward, strong),
		r("megatron/core/fusions/fused_cross_entropy.py", "backward", Backward, strong),
		r("megatron/core/fusions/fused_cross_entropy.py", "", Forward, strong),

		r("megatron/training/training.py", "train_step", Training, strong),
		r("megatron/training.py", "train_step", Training, strong),
		r("megatron/training/training.py", "evaluate*", Forward, strong).says("an evaluation"),
		r("megatron/training.py", "evaluate*", Forward, strong).says("an evaluation"),
		r("megatron/training/training.py", "save_checkpoint_and_time", Checkpoint, decisive),
		r("megatron/training/checkpointing.py", "", Checkpoint, decisive),
		r("megatron/checkpointing.py", "", Checkpoint, decisive),
		r("megatron/core/dist_checkpointing/", "", Checkpoint, decisive),
		r("megatron/core/datasets/", "", Data, strong),
		r("megatron/core/inference/", "generate* run_one_forward_step", Rollout, strong),
		r("megatron/rl/", "get_logprobs compute_logprobs_batch logprobs_forward_step", LogProb, decisive),
		r("megatron/rl/", "get_environment_rollouts get_rollout_generator", Rollout, strong),
		r("megatron/rl/", "calculate_grpo_loss", Forward, strong),
		r("megatron/core/resharding/", "", WeightUpdate, strong),
	}
}
