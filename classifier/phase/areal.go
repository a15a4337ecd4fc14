package phase

// arealRules: AReaL v0.3 ... v2.0 (engine/, trainer/, infra/; experimental engines share the method names) and the older
// realhf (v0.3.0, realhf/system/model_worker.py).
func arealRules() []rule {
	return []rule{
		r("engine/*_engine.py", "initialize _create_device_model create_device_model _create_llm_actor_or_critic "+
			"_load_model_from_hf _apply_peft_wrapper _create_optimizer create_optimizer create_process_group", Init, decisive),
		r("engine/*_engine.py", "optimizer_step optimizer_zero_grad", Optimizer, decisive),
		r("engine/*_engine.py", "train_batch", Training, decisive),
		r("engine/*_engine.py", "_compute_logprobs_and_loss", Forward, strong),
		r("engine/*_engine.py", "eval_batch evaluate_lm", Forward, strong).says("an evaluation"),
		r("engine/*_engine.py", "forward_batch forward _compute_forward_result _compute_logprobs compute_values _compute_values",
			LogProb, decisive),
		r("engine/*_engine.py", "update_weights upload_weights _update_weights* _init_weight_update* _update_bucket* "+
			"_init_*weight_update* _get_full_tensor _collect_param _impl_update_*", WeightUpdate, decisive),
		r("engine/*_engine.py", "save _save_model_to_hf _save_to_dcp _save_optimizer_state", Checkpoint, decisive),
		r("engine/*_engine.py", "load _load_from_dcp _load_optimizer_state", Checkpoint, strong),
		shared("engine/*_engine.py", "onload offload _offload_aware_context").with(mover),
		shared("engine/*_engine.py", "forward_backward_batch _prepare_mb_list prepare_mb_list _sp_all_gather"),

		r("engine/vllm_ext/*.py", "areal_update_weight* areal_set_weight_meta* areal_init_*", WeightUpdate, decisive),
		r("engine/archon_weight_sync.py", "", WeightUpdate, decisive),
		r("engine/archon_checkpoint.py", "load_model_from_hf", Init, decisive),
		r("engine/archon_checkpoint.py", "save_* load_from_dcp load_optimizer_state", Checkpoint, decisive),
		r("areal/experimental/weight_update/", "", WeightUpdate, decisive),

		r("ppo/actor.py", "ppo_update _ppo_update", Training, decisive),
		r("ppo/actor.py", "grpo_loss_fn ppo_actor_loss_fn", Forward, strong),
		r("ppo/actor.py", "compute_logp _compute_logp", LogProb, decisive),
		r("ppo/actor.py", "compute_advantages _compute_advantages", Training, weak),
		r("ppo/critic.py", "ppo_update _ppo_update", Training, decisive),
		r("ppo/critic.py", "compute_values _compute_values", LogProb, decisive),
		r("sft/lm_engine.py", "train_lm", Training, decisive),
		r("sft/lm_engine.py", "evaluate_lm", Forward, strong).says("an evaluation"),
		r("sft/lm_engine.py", "compute_packed_sft_loss", Forward, strong),
		r("areal/trainer/", "train_rw train_dpo train_lm _train_rw _train_dpo _train_lm", Training, decisive),
		r("areal/trainer/", "_evaluate_rw _evaluate_dpo _evaluate_lm", Forward, strong).says("an evaluation"),
		r("areal/trainer/", "_compute_logp", LogProb, decisive),

		r("workflow_executor.py", "", Rollout, strong),
		r("areal/engine/*_remote.py", "initialize launch_server create_process_group", Init, strong),
		r("areal/engine/*_remote.py", "*update_weights* init_weights_update_group *update_group*", WeightUpdate, strong),
		r("areal/engine/*_remote.py", "", Rollout, strong),
		r("remote_inf_engine.py", "_update_weights* init_weights_update_group", WeightUpdate, strong),
		r("remote_inf_engine.py", "agenerate rollout_batch prepare_batch", Rollout, strong),
		r("areal/workflow/", "arun_episode", Rollout, strong),
		r("areal/dataset/", "", Data, strong),

		r("realhf/system/model_worker.py", "__param_realloc", WeightUpdate, strong),
		r("realhf/system/model_worker.py", "__data_transfer_among_workers", Data, strong),
		r("realhf/impl/model/interface/*.py", "generate", Rollout, decisive),
		r("realhf/impl/model/interface/*.py", "inference", LogProb, decisive),
		r("realhf/impl/model/interface/*.py", "train_step", Training, decisive),
		r("realhf/impl/model/backend/*.py", "train_batch", Training, strong),
	}
}
