package phase

// skyrlRules: SkyRL 0.2 ... 2026-08. Its workers are in skyrl_train/, first a separate package and later a backend of skyrl. A
// worker's forward computes log-probabilities and values; forward_backward and optim_step train.
func skyrlRules() []rule {
	return []rule{
		r("skyrl_train/weight_sync/", "", WeightUpdate, decisive),
		r("skyrl_train/workers/", "init_weight_sync_state broadcast_to_inference_engines _broadcast_to_inference_engines extract_weights "+
			"save_weights_for_sampler _save_lora_adapters_and_sync _prepare_for_weight_sync", WeightUpdate, decisive),
		r("skyrl_train/workers/", "init_model init_worker_process_group prime_optimizer_state", Init, decisive),
		r("skyrl_train/workers/", "forward_backward forward_backward_mini_batch ppo_train training_step", Training, decisive),
		r("skyrl_train/workers/", "optim_step", Optimizer, decisive),
		r("skyrl_train/workers/", "save_checkpoint load_checkpoint save_hf_model finalize_pending_saves", Checkpoint, decisive),
		r("skyrl_train/workers/worker.py", "forward _forward_micro_batch", LogProb, decisive),
		r("skyrl_train/workers/worker_dispatch.py", "forward", LogProb, strong),
		r("skyrl_train/workers/*/*_worker.py", "forward", LogProb, decisive),
		r("skyrl_train/workers/*/megatron_model_wrapper.py", "forward", LogProb, decisive),
		shared("skyrl_train/workers/", "backload_to_gpu offload_to_cpu").with(mover),

		r("skyrl_train/distributed/", "save_checkpoint load_checkpoint save_hf_model finalize_pending_saves", Checkpoint, decisive),
		r("skyrl_train/distributed/", "prepare _fsdp_init_*", Init, decisive),
		r("skyrl_train/distributed/*strategy.py", "optimizer_step", Optimizer, decisive),
		r("skyrl_train/distributed/*strategy.py", "backward", Backward, strong),
		shared("skyrl_train/distributed/*.py", "backload_to_gpu offload_to_cpu load_fsdp* offload_fsdp*").with(mover),
		shared("skyrl_train/distributed/*/*.py", "backload_to_gpu offload_to_cpu load_megatron* offload_megatron* load_*_to_gpu").with(mover),

		r("skyrl_train/inference_*/", "*weight*", WeightUpdate, decisive),
		r("skyrl_train/inference_*/", "wake_up", WeightUpdate, strong),
		r("skyrl_train/inference_*/", "generate* sample chat_completion*", Rollout, strong),
		r("skyrl_train/inference_*/", "create_* build_*", Init, strong),

		r("skyrl*/trainer.py", "fwd_logprobs_values_reward", LogProb, strong),
		r("skyrl*/trainer.py", "train_critic_and_policy", Training, strong),
		r("skyrl*/trainer.py", "init_weight_sync_state", WeightUpdate, strong),
		r("skyrl*/trainer.py", "save_checkpoints load_checkpoints save_models", Checkpoint, strong),
		r("skyrl*/trainer.py", "build_models", Init, strong),
	}
}
