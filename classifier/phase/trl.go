package phase

// trlRules: TRL up to 2026 and the trainers derived from it (open-r1, ms-swift, unsloth's generated trainers), which keep
// its method names; Unsloth's are GRPOTrainer.py and the like. Versions before 0.17 computed the old and reference
// log-probabilities inline, which only their quoted lines show.
func trlRules() []rule {
	return []rule{
		r("*rainer.py", "", LogProb, strong).when("ref_per_token_logps ="),
		r("*rainer.py", "", LogProb, strong).when("old_per_token_logps ="),
		r("*", "_generate_single_turn unwrap_model_for_generation _generate_completions", Rollout, decisive),
		r("trl/models/utils.py", "unwrap_model_for_generation", Rollout, decisive),
		r("trl/generation/*.py", "__init__ _init_vllm", Init, decisive),
		r("trl/generation/*.py", "sync_weights _sync_*", WeightUpdate, decisive),
		r("trl/generation/*.py", "generate*", Rollout, decisive),
		r("*", "_move_model_to_vllm _move_full_model_to_vllm _sync_fsdp1_params_to_vllm "+
			"_sync_fsdp2_params_to_vllm", WeightUpdate, decisive),
		// Past generation only forward passes are left in it: old and reference log-probabilities, reward models.
		r("*", "_generate_and_score_completions _calculate_rewards", LogProb, strong).
			says("after generation, it computes old and reference log-probabilities"),
		r("*_trainer.py", "_generate", Rollout, decisive),
		r("*Trainer.py", "_generate", Rollout, decisive),
		r("*", "compute_ref_log_probs compute_reference_log_probs _compute_ref_log_probs", LogProb, strong),
		shared("*", "_get_per_token_logps* _get_last_hidden_state"),
		r("*", "compute_liger_loss _compute_loss concatenated_forward", Forward, strong),
		r("trl/trainer/grpo_trainer.py", "__init__", Init, decisive),
		r("trlx/trainer/*.py", "make_experience", LogProb, strong).says("after generation, it computes log-probabilities"),
		r("trlx/trainer/*.py", "generate generate_eval", Rollout, decisive),
		r("trl/trainer/utils.py", "batch_generation generate", Rollout, decisive),
		r("trl/experimental/ppo/ppo_trainer.py", "batch_generation generate", Rollout, decisive),
		r("trl/trainer/utils.py", "get_reward", LogProb, strong),
	}
}
