package phase

// nemoRules: NeMo-RL (7ea279abf, 2026-08): the policy workers of its DTensor and Megatron backends have the same methods.
func nemoRules() []rule {
	return []rule{
		r("*policy_worker*.py", "__init__", Init, decisive),
		r("*policy_worker*.py", "get_logprobs get_reference_policy_logprobs get_topk_logits get_full_logits_ipc "+
			"prepare_for_lp_inference use_reference_model score", LogProb, decisive),
		r("*policy_worker*.py", "train prepare_for_training", Training, decisive),
		r("*policy_worker*.py", "stream_weights* broadcast_weights* offload_before_refit offload_after_refit "+
			"prepare_weights_for_ipc get_weights_ipc_handles prepare_refit_info", WeightUpdate, decisive),
		r("*policy_worker*.py", "save_checkpoint load_checkpoint", Checkpoint, decisive),
		r("*policy_worker*.py", "generate", Rollout, decisive),
		r("nemo_rl/models/policy/utils.py", "stream_weights*", WeightUpdate, decisive),
		r("nemo_rl/models/generation/", "__init__ _create_engine", Init, decisive),
		r("nemo_rl/models/generation/", "update_weights* prepare_refit_info init_collective", WeightUpdate, decisive),
		r("nemo_rl/models/generation/", "generate* _generate*", Rollout, decisive),
		r("nemo_rl/models/generation/", "wake_up*", WeightUpdate, strong),
		r("nemo_rl/algorithms/*.py", "setup", Init, strong),
		r("nemo_rl/algorithms/*.py", "refit_policy_generation", WeightUpdate, strong),
		r("nemo_rl/algorithms/*.py", "validate", Rollout, strong).says("a validation run generates"),
		r("nemo_rl/experience/", "", Rollout, strong),
		r("nemo_rl/utils/*checkpoint*.py", "", Checkpoint, strong),
		shared("nemo_rl/algorithms/loss_functions.py", ""),
		shared("nemo_rl/distributed/", "").with(opaque),
		r("nemo_rl/data/", "", Data, strong),
	}
}
