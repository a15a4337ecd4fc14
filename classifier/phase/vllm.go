package phase

// vllmRules: vLLM 0.4 ... 0.11 and its ports to other devices (vllm_ascend keeps the file names). Start-up runs a dummy
// forward pass at the largest batch and captures graphs, so everything below those frames is start-up.
func vllmRules() []rule {
	return []rule{
		r("worker/*worker*.py", "init_device load_model determine_available_memory determine_num_available_blocks "+
			"initialize_from_config initialize_cache compile_or_warm_up_model init_worker profile_num_available_blocks",
			Init, decisive),
		r("worker/*model_runner*.py", "load_model profile_run _dummy_run _dummy_sampler_run _dummy_pooler_run "+
			"capture_model initialize_kv_cache* _allocate_kv_cache_tensors __init__", Init, decisive),
		r("worker/cache_engine.py", "__init__ _allocate_kv_cache", Init, decisive),
		r("vllm/v1/engine/core.py", "_initialize_kv_caches __init__", Init, decisive),
		r("vllm/v1/core/kv_cache_utils.py", "", Init, decisive),
		r("vllm/model_executor/model_loader/", "", Init, strong),
		r("worker/*worker*.py", "execute_model sample_tokens start_worker_execution_loop", Rollout, decisive),
		r("worker/*model_runner*.py", "execute_model sample_tokens _sample", Rollout, decisive),
		r("vllm/v1/engine/core.py", "step step_with_batch_queue _process_engine_step", Rollout, strong),
		r("vllm/v1/sample/", "", Rollout, weak),
		r("vllm/model_executor/layers/sampler.py", "", Rollout, weak),

		// Sleep mode. Awake again, the engine takes the new weights; a rollout frame further out keeps its say.
		r("worker/*worker*.py", "wake_up sleep", WeightUpdate, strong).with(yields).says("the engine wakes from sleep mode"),
		r("vllm/device_allocator/", "", WeightUpdate, strong).with(yields).says("the engine wakes from sleep mode"),
		r("vllm/executor/*.py", "wake_up sleep", WeightUpdate, strong).with(yields).says("the engine wakes from sleep mode"),
		r("vllm/engine/*.py", "wake_up sleep", WeightUpdate, strong).with(yields).says("the engine wakes from sleep mode"),
		r("vllm/v1/engine/*.py", "wake_up sleep", WeightUpdate, strong).with(yields).says("the engine wakes from sleep mode"),
		r("worker/*worker*.py", "update_weights* reload_weights", WeightUpdate, decisive),
		r("worker/*model_runner*.py", "reload_weights", WeightUpdate, decisive),

		r("vllm/entrypoints/llm.py", "wake_up sleep", WeightUpdate, strong).with(yields).says("the engine wakes from sleep mode"),
		r("vllm/entrypoints/llm.py", "__init__", Init, strong),
		r("vllm/entrypoints/llm.py", "generate chat beam_search _run_engine encode embed score", Rollout, strong),
		r("vllm/engine/llm_engine.py", "__init__ from_engine_args _initialize_kv_caches", Init, strong),
		r("vllm/engine/*llm_engine.py", "step step_async engine_step", Rollout, strong),
		r("vllm/v1/engine/llm_engine.py", "__init__ from_engine_args from_vllm_config", Init, strong),
		r("vllm/v1/engine/llm_engine.py", "step", Rollout, strong),
		r("vllm/v1/engine/async_llm.py", "__init__ from_engine_args from_vllm_config", Init, strong),
		r("vllm/executor/*.py", "_init_executor", Init, strong),
		r("vllm/v1/executor/*.py", "_init_executor", Init, strong),
		shared("site-packages/vllm/", "").with(opaque),
		shared("vllm/v1/", "").with(opaque),
		shared("vllm/model_executor/", "").with(opaque),
		shared("site-packages/vllm_ascend/", "").with(opaque),
	}
}
