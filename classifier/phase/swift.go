package phase

// swiftRules: ms-swift 3.x and 4.x. Its trainers derive from TRL's; its Megatron backend has its own.
func swiftRules() []rule {
	return []rule{
		r("swift/", "_fast_infer _engine_infer _infer _infer_single_or_multi_turn _colocate_rollout _server_rollout "+
			"_colocate_multi_turn_infer", Rollout, strong),
		r("swift/", "_prepare_vllm_engine _prepare_vllm", Init, decisive),
		r("swift/", "_move_adapter_to_vllm _load_state_dict_to_vllm _collect_state_dict_for_vllm", WeightUpdate, decisive),
		r("swift/", "compute_per_token_logps* _compute_teacher_logps _compute_ref_logps _prepare_batch_inputs", LogProb, strong),
		r("swift/megatron/trainers/", "train_step run_train_step", Training, strong),
		r("swift/megatron/trainers/", "loss_func", Forward, strong),
		r("swift/megatron/trainers/", "prepare_model setup_model_training get_optimizer_and_scheduler", Init, strong),
		r("swift/pipelines/", "_prepare_model_tokenizer prepare_model prepare_adapter", Init, strong),
		r("swift/model/", "get_model get_model_processor get_model_tokenizer*", Init, strong),
		r("swift/pipelines/", "_prepare_dataset _get_dataset _encode_dataset", Data, strong),
		r("swift/dataset/", "", Data, strong),
	}
}
