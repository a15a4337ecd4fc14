package phase

// deepspeedRules: DeepSpeed up to 2026. Name traps: initialize_optimizer_states runs at start-up, not in a step, and
// ZeRO-3 gathers parameters below every phase (GatheredParameters, __all_gather_params).
func deepspeedRules() []rule {
	return []rule{
		r("deepspeed/__init__.py", "initialize init_inference tp_model_init", Init, decisive),
		r("deepspeed/runtime/engine.py", "__init__ _configure_distributed_model _configure_optimizer "+
			"_configure_zero_optimizer _configure_basic_optimizer _broadcast_model", Init, decisive),
		r("deepspeed/runtime/zero/stage*.py", "__init__ _setup_for_real_optimizer initialize_optimizer_states "+
			"_create_fp32_partitions _create_fp16_partitions_with_defragmentation _create_fp16_sub_groups "+
			"create_reduce_and_remove_grad_hooks", Init, decisive),
		r("deepspeed/runtime/*_optimizer.py", "__init__ initialize_optimizer_states", Init, decisive),
		r("deepspeed/runtime/zero/partition_parameters.py", "wrapper wrapped_fn _convert_to_deepspeed_param "+
			"_post_init_method _convert_to_zero_parameters __init__", Init, decisive),

		r("deepspeed/runtime/pipe/engine.py", "train_batch", Training, strong),
		r("deepspeed/runtime/pipe/engine.py", "eval_batch", Forward, strong).says("an evaluation"),
		r("deepspeed/runtime/pipe/engine.py", "_exec_forward_pass", Forward, strong),
		r("deepspeed/runtime/pipe/engine.py", "_exec_backward_pass _exec_reduce_grads", Backward, decisive),
		r("deepspeed/runtime/pipe/engine.py", "_exec_optimizer_step", Optimizer, decisive),

		r("step3_rlhf_finetuning/ppo_trainer.py", "_generate_sequence", Rollout, decisive), // DeepSpeed-Chat's
		r("step3_rlhf_finetuning/ppo_trainer.py", "generate_experience", LogProb, decisive),
		r("rlhf/ppo/ppo_trainer.py", "_generate_sequence", Rollout, decisive),
		r("rlhf/ppo/ppo_trainer.py", "generate_experience", LogProb, decisive),

		r("deepspeed/runtime/engine.py", "forward", Forward, strong),
		r("deepspeed/runtime/engine.py", "backward _backward* allreduce_gradients buffered_allreduce_fallback", Backward, decisive),
		r("deepspeed/runtime/engine.py", "step _take_model_step", Optimizer, decisive),
		r("deepspeed/runtime/base_optimizer.py", "backward", Backward, decisive),
		r("deepspeed/runtime/zero/stage*.py", "step _optimizer_step _prepare_sub_group unscale_and_clip_grads "+
			"_reassign_or_swap_out_partitioned_parameters get_flat_partition _partition_all_parameters "+
			"_prepare_fp32_grad_for_sub_group scaled_global_norm complete_grad_norm_calculation*", Optimizer, decisive),
		r("deepspeed/runtime/zero/stage*.py", "reduce_* __reduce_* __avg_scatter_* partition_grads backward "+
			"backward_prologue backward_epilogue average_tensor independent_gradient_partition_epilogue "+
			"overlapping_partition_gradients_reduce_epilogue", Backward, decisive),
		r("deepspeed/runtime/*_optimizer.py", "step", Optimizer, decisive),
		r("deepspeed/runtime/*_optimizer.py", "backward", Backward, decisive),
		r("deepspeed/runtime/fp16/", "step", Optimizer, decisive),
		r("deepspeed/runtime/fp16/", "backward", Backward, decisive),
		r("deepspeed/ops/", "step", Optimizer, decisive),

		r("deepspeed/runtime/zero/parameter_offload.py", "pre_sub_module_forward_function", Forward, strong),
		r("deepspeed/runtime/zero/parameter_offload.py", "pre_sub_module_backward_function", Backward, strong),
		r("deepspeed/runtime/zero/partitioned_param_coordinator.py", "fetch_sub_module __all_gather_params*", Forward, strong),
		r("deepspeed/runtime/activation_checkpointing/", "backward", Backward, strong),
		r("deepspeed/runtime/activation_checkpointing/", "forward checkpoint", Forward, weak),

		r("deepspeed/runtime/engine.py", "save_checkpoint save_16bit_model _zero3_consolidated_16bit_state_dict "+
			"_save_zero_checkpoint _save_checkpoint load_checkpoint _load_checkpoint _load_zero_checkpoint",
			Checkpoint, strong),
		r("deepspeed/runtime/zero/stage*.py", "load_state_dict state_dict _rigid_load_state_dict _restore_*", Checkpoint, strong),
		r("deepspeed/runtime/checkpoint_engine/", "", Checkpoint, strong),
		r("deepspeed/utils/zero_to_fp32.py", "", Checkpoint, strong),
		shared("site-packages/deepspeed/", "").with(opaque),
		shared("deepspeed/runtime/", "").with(opaque),
	}
}
