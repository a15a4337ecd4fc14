package phase

// rlinfRules: RLinf (2026-08): workers of actors, engines and embodied policies, and the managers that wrap their models.
// A rollout worker's predict and generate_one_epoch act in the environment; run_inference computes log-probabilities.
func rlinfRules() []rule {
	return []rule{
		r("rlinf/", "init_worker setup_model_and_optimizer init_rollout_model init_trainer_resharding _init_engine "+
			"model_provider_func build_critic_module setup_sac_components", Init, decisive),
		r("rlinf/hybrid_engines/fsdp/", "wrap_model", Init, decisive),
		r("rlinf/hybrid_engines/fsdp/", "build_optimizer*", Init, strong).with(alone), // also behind the steps of a critic's warm-up
		r("rlinf/", "sync_model_* sync_hf_weight batch_load_hf_weight get_rollout_state_dict divide_model_to_bucket", WeightUpdate, decisive),
		r("rlinf/hybrid_engines/weight_syncer/", "", WeightUpdate, decisive),
		r("rlinf/hybrid_engines/", "resume_memory_occupation release_memory_occupation", WeightUpdate, strong),
		r("rlinf/workers/", "run_inference inference_step compute_logprobs compute_proximal_logprobs compute_opd_teacher_logprobs",
			LogProb, decisive),
		r("rlinf/workers/", "run_training run_training_pipeline training_step train_micro_batch update_one_epoch "+
			"update_*_one_epoch _train_sft_epoch run_forward_backward*", Training, decisive),
		r("rlinf/workers/actor/", "forward_actor forward_critic forward_alpha nft_forward_and_loss", Forward, strong),
		r("rlinf/workers/rollout/", "rollout rollout_serverless generate generate_one_epoch predict evaluate async_generate "+
			"_async_generate_group", Rollout, decisive),
		r("rlinf/workers/env/", "", Rollout, strong),
		r("rlinf/workers/sft/", "run_eval", Forward, strong).says("an evaluation"),
		r("rlinf/", "optimizer_step", Optimizer, decisive),
		r("rlinf/", "load_optimizer onload_optimizer", Optimizer, strong).says("it brings the optimizer state back to the GPU"),
		shared("rlinf/", "load_param_and_grad onload_param_and_grad offload_param_and_grad offload_optimizer _load_weight_and_optimizer").with(mover),
		r("rlinf/", "save_checkpoint load_checkpoint", Checkpoint, decisive),
		r("rlinf/data/datasets/", "", Data, strong),
	}
}
