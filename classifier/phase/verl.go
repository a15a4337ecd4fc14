package phase

// verlRules: verl and its forks. Up to 0.7 the workers are fsdp_workers.py, megatron_workers.py, actor/, critic/ and
// sharding_manager/; from 0.7 on engine_workers.py and engine/ (verl v0.1 ... v0.9, EasyR1 at b44b311). Forks keep the
// folders and rename the package, so patterns start below it.
func verlRules() []rule {
	return []rule{
		// Workers of the old layout, and 0.6's workers/roles.
		r("workers/*_workers.py", "init_model _build_model_optimizer _build_critic_model_optimizer _build_model "+
			"_build_rollout load_pretrained_model reset", Init, decisive),
		r("workers/*_workers.py", "rollout_mode update_weights execute_checkpoint_engine sync_rollout_weights "+
			"prepare_rollout_engine", WeightUpdate, decisive),
		r("workers/*_workers.py", "trainer_mode wake_up sleep", WeightUpdate, strong),
		r("workers/*_workers.py", "update_actor update_critic update_rm train_mini_batch train_batch", Training, decisive),
		r("workers/*_workers.py", "compute_log_prob compute_log_probs compute_ref_log_prob compute_ref_log_probs infer_batch",
			LogProb, decisive),
		r("workers/*_workers.py", "compute_values compute_rm_score", LogProb, strong),
		r("workers/*_workers.py", "generate_sequences", Rollout, strong), // up to 0.6 it also hands over the weights
		r("workers/*_workers.py", "save_checkpoint load_checkpoint", Checkpoint, decisive),
		r("workers/roles/*.py", "update_actor update_critic", Training, decisive),
		r("workers/roles/*.py", "compute_log_prob compute_ref_log_prob compute_values", LogProb, decisive),
		r("workers/roles/*.py", "init_model reset", Init, decisive),
		r("workers/roles/*.py", "save_checkpoint load_checkpoint", Checkpoint, decisive),

		r("workers/actor/*.py", "_optimizer_step", Optimizer, decisive),
		r("workers/actor/*.py", "update_policy", Training, decisive),
		r("workers/actor/*.py", "compute_log_prob", LogProb, decisive),
		shared("workers/actor/*.py", "_forward_micro_batch forward_backward_batch forward_step loss_func logits_processor"),
		r("workers/critic/*.py", "_optimizer_step", Optimizer, decisive),
		r("workers/critic/*.py", "update_critic", Training, decisive),
		r("workers/critic/*.py", "compute_values", LogProb, strong),
		shared("workers/critic/*.py", "_forward_micro_batch forward_backward_batch forward_step loss_func"),
		r("workers/reward_model/", "compute_reward compute_rm_score", LogProb, strong),

		r("workers/sharding_manager/", "", Rollout, strong).when("kv_cache").
			says("it wakes the engine's KV cache"),
		r("workers/sharding_manager/", "__enter__ wake_up update_weights update_params load_vllm_and_sync_weights",
			WeightUpdate, decisive),
		r("workers/sharding_manager/", "__exit__ sleep release_memory", Rollout, weak),

		// Engines of the new layout.
		r("workers/engine/base.py", "train_batch", Training, decisive),
		r("workers/engine/base.py", "infer_batch", LogProb, decisive),
		shared("workers/engine/base.py", "_context_switch __enter__ __exit__").with(mover),
		r("workers/engine/*/*.py", "initialize _build_module _build_fsdp_module _build_megatron_module _build_optimizer "+
			"_build_model_optimizer", Init, decisive),
		r("workers/engine/*/*.py", "optimizer_step optimizer_zero_grad", Optimizer, decisive),
		r("workers/engine/*/*.py", "get_per_tensor_param* _merged_lora_per_tensor_param", WeightUpdate, decisive),
		r("workers/engine/*/*.py", "save_checkpoint load_checkpoint", Checkpoint, decisive),
		shared("workers/engine/*/*.py", "to __enter__ __exit__").with(mover),
		shared("workers/engine/*/*.py", "forward_backward_batch forward_step prepare_model_inputs prepare_model_outputs "+
			"_lm_head_logits_processor"),
		r("verl/checkpoint_engine/", "", WeightUpdate, decisive),

		// Rollout engines.
		r("workers/rollout/*/bucketed_weight_transfer.py", "", WeightUpdate, decisive),
		r("workers/rollout/*/utils.py", "update_weights*", WeightUpdate, decisive),
		r("workers/rollout/", "resume_kv_cache", Rollout, strong).says("it wakes the engine's KV cache"),
		r("workers/rollout/", "update_weights* _update_weights* _apply_buffer_updates* update_params resume resume_memory_occupation wake_up",
			WeightUpdate, decisive),
		r("workers/rollout/", "__init__ _init_inference_engine launch_server launch_servers run_server init_*", Init, decisive),
		r("workers/rollout/", "generate generate_sequences _generate* _batch_level_generate* _req_level_generate* "+
			"_async_rollout* chat_completion*", Rollout, decisive),
		r("agent_loop/", "generate_sequences _run_agent_loop run generate", Rollout, strong),

		// Moving state in and out.
		r("utils/fsdp_utils.py", "load_fsdp_optimizer", Optimizer, strong).
			says("it brings the optimizer state back to the GPU"),
		r("utils/megatron_utils.py", "load_megatron_optimizer load_megatron_copy_params", Optimizer, strong).
			says("it brings the optimizer state back to the GPU"),
		r("workers/engine/*/utils.py", "load_*_optimizer", Optimizer, strong).
			says("it brings the optimizer state back to the GPU"),
		shared("workers/engine/*/utils.py", "load_*_model_to_gpu offload_*").with(mover),
		r("utils/fsdp_utils.py", "layered_summon_lora_params collect_lora_params", WeightUpdate, strong),
		r("utils/megatron_utils.py", "per_tensor_generator", WeightUpdate, decisive),
		shared("verl/utils/fsdp_utils.py", "load_fsdp* offload_fsdp*").with(mover),
		shared("utils/megatron_utils.py", "load_megatron* offload_megatron*").with(mover),
		r("utils/checkpoint/", "save_checkpoint load_checkpoint", Checkpoint, decisive),
		shared("utils/torch_functional.py", "").with(opaque), // entropy and log-probabilities, for both passes

		// The driver: it only waits for the workers.
		r("trainer/ppo/ray_trainer.py", "init_workers", Init, strong),
		r("trainer/ppo/ray_trainer.py", "_validate", Rollout, strong).says("a validation run generates"),
		r("trainer/ppo/ray_trainer.py", "_save_checkpoint _load_checkpoint", Checkpoint, strong),
		r("trainer/ppo/ray_trainer.py", "_create_dataloader", Data, strong),
		r("trainer/ppo/core_algos.py", "compute_policy_loss* compute_value_loss agg_loss kl_penalty", Forward, strong),
		shared("verl/trainer/ppo/*.py", "").with(opaque),
		shared("verl/trainer/ppo/v1/*.py", "").with(opaque),
		r("utils/dataset/", "", Data, strong),
		r("trainer/*sft_trainer.py", "training_step _compute_loss_and_backward", Training, strong),
		r("trainer/*sft_trainer*.py", "fit", Training, weak),
		r("trainer/*sft_trainer.py", "validation_step", Forward, strong).says("an evaluation"),
		r("trainer/*sft_trainer.py", "save_checkpoint load_checkpoint", Checkpoint, strong),
		r("trainer/*sft_trainer.py", "_build_model_optimizer _build_engine", Init, strong),
	}
}
