package phase

// slimeRules: slime (THUDM/slime, 2026) and, where the names are the same, Relax. train_actor carries no phase: the
// log-probability passes and the update both run below it.
func slimeRules() []rule {
	return []rule{
		r("backends/*/actor.py", "init", Init, decisive),
		r("backends/*/actor.py", "load_other_checkpoint", Init, strong),
		r("backends/*/actor.py", "compute_log_prob compute_log_probs _compute_log_prob compute_ref_log_prob "+
			"compute_actor_log_prob", LogProb, decisive),
		r("backends/*/actor.py", "_train_core _train_step", Training, decisive), // FSDP backend
		r("backends/*/actor.py", "update_weights", WeightUpdate, decisive),
		// It also precedes a save and a weight update, which it then belongs to.
		r("backends/*/actor.py", "wake_up reload_process_groups", Training, strong).with(yields).
			says("it brings the training state back to the GPU"),
		r("backends/*/actor.py", "sleep", Training, weak),
		r("backends/*/actor.py", "save_model", Checkpoint, decisive),
		r("backends/*/actor.py", "_get_rollout_data", Data, weak),
		shared("backends/*/actor.py", "train train_actor train_critic train_async train_hybrid").with(opaque),
		r("backends/*/model.py", "initialize_model_and_optimizer setup_model_and_optimizer", Init, decisive),
		r("backends/*/model.py", "forward_only", LogProb, decisive),
		r("backends/*/model.py", "train train_one_step", Training, decisive),
		r("backends/*/model.py", "save", Checkpoint, decisive),
		shared("backends/*/model.py", "forward_step"),
		r("backends/*/loss.py", "policy_loss_function loss_function value_loss_function sft_loss_function", Forward, strong),
		shared("backends/*/loss.py", "").with(opaque),
		r("backends/*/initialize.py", "", Init, decisive),
		r("backends/*/*checkpoint*.py", "", Checkpoint, decisive),
		r("backends/*/hf_to_megatron/", "", Init, decisive),
		// Saving in Hugging Face's format converts the weights by the same code.
		r("backends/*/update_weight/hf_weight_iterator*.py", "", WeightUpdate, strong).with(yields),
		r("backends/*/update_weight/common.py", "", WeightUpdate, strong).with(yields),
		r("backends/*/update_weight/*.py", "", WeightUpdate, decisive),
		r("backends/*/update_weight_utils.py", "", WeightUpdate, decisive),
		r("backends/sglang_utils/*.py", "init launch_server_process _wait_server_healthy __init__", Init, strong),
		r("backends/sglang_utils/*.py", "update_weights* init_weights_update_group pull_weights onload_weights post_process_weights "+
			"resume_memory_occupation release_memory_occupation", WeightUpdate, strong),
		r("backends/sglang_utils/*.py", "onload_kv", Rollout, strong).says("it wakes the engine's KV cache"),
		r("slime/utils/reloadable_process_group.py", "reload_process_groups", Training, strong).with(yields).
			says("it re-creates the communicators that were torn down for the rollout"),
		shared("slime/utils/ppo_utils.py", "").with(opaque), // log-probabilities of the pass around it
		r("slime/ray/rollout.py", "generate eval _get_rollout_data", Rollout, strong),
		r("slime/rollout/", "", Rollout, strong),
		r("miles/ray/rollout/", "", Rollout, strong),
		r("miles/rollout/", "", Rollout, strong),
		shared("slime/ray/", "").with(opaque),
	}
}
