package phase

// sglangRules: SGLang 0.3 ... July 2026 (python/sglang/srt). Graph capture calls the model runner's forward, so its
// constructor frames come first and start-up keeps its say.
func sglangRules() []rule {
	return []rule{
		r("sglang/srt/model_executor/*graph_runner.py", "__init__ capture capture_one_batch_size run_once", Init, decisive).
			says("CUDA graphs are captured"),
		r("sglang/srt/model_executor/runner/*graph_runner.py", "__init__ capture capture_one_shape _capture_one_stream", Init, decisive).
			says("CUDA graphs are captured"),
		r("sglang/srt/model_executor/*model_runner.py", "__init__ initialize load_model init_memory_pool "+
			"init_device_graphs init_cuda_graphs init_all_cuda_graphs init_attention_backend init_torch_distributed profile_max_num_token "+
			"kernel_warmup init_piecewise_cuda_graphs", Init, decisive),
		r("sglang/srt/model_executor/*model_runner.py", "update_weights* get_weights_by_name", WeightUpdate, decisive),
		r("sglang/srt/model_executor/*model_runner.py", "forward forward_* _forward* sample", Rollout, decisive),
		r("sglang/srt/managers/router/*.py", "forward_* exposed_step", Rollout, decisive), // before 0.2
		r("sglang/srt/mem_cache/", "__init__ _create_buffers* init_*", Init, decisive),
		r("sglang/srt/model_loader/", "", Init, strong),

		r("sglang/srt/managers/scheduler_update_weights_mixin.py", "", WeightUpdate, decisive),
		r("sglang/srt/managers/*.py", "update_weights* release_memory_occupation resume_memory_occupation "+
			"init_weights_update_group", WeightUpdate, decisive),
		r("sglang/srt/managers/scheduler.py", "__init__ init_*", Init, decisive),
		r("sglang/srt/managers/tp_worker*.py", "__init__", Init, decisive),
		r("sglang/srt/managers/tp_worker*.py", "forward_*", Rollout, decisive),
		r("sglang/srt/managers/scheduler*.py", "event_loop_* run_batch get_next_batch_to_run get_new_batch_prefill "+
			"update_running_batch process_batch_result*", Rollout, decisive),
		r("sglang/srt/managers/schedule_batch.py", "", Rollout, decisive),
		r("sglang/srt/mem_cache/common.py", "", Rollout, decisive),
		r("sglang/srt/disaggregation/", "event_loop_*", Rollout, decisive),
		r("sglang/srt/speculative/", "__init__ init_*", Init, decisive),
		r("sglang/srt/speculative/", "forward_* verify draft", Rollout, decisive),
		r("sglang/srt/layers/logits_processor.py", "", Rollout, weak),

		r("sglang/srt/entrypoints/engine.py", "__init__ _launch_subprocesses", Init, strong),
		r("sglang/srt/entrypoints/engine.py", "generate async_generate", Rollout, strong),
		r("sglang/srt/entrypoints/*.py", "update_weights* resume_memory_occupation release_memory_occupation",
			WeightUpdate, strong),
		r("torch_memory_saver/", "resume pause", WeightUpdate, strong).with(yields),
		shared("sglang/srt/", "").with(opaque),
	}
}
