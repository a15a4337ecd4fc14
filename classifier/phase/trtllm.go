package phase

// trtllmRules: TensorRT-LLM 0.7 ... 1.2, with TensorRT engines (runtime) and PyTorch models (_torch). The executor's loop also
// runs while it sizes the KV cache, in a separate thread, so below it generation is only likely.
func trtllmRules() []rule {
	return []rule{
		r("tensorrt_llm/runtime/*.py", "from_dir from_engine from_pkl from_serialized_engine _create_context _init", Init, decisive),
		r("tensorrt_llm/runtime/generation.py", "__init__", Init, decisive).says("an inference session is made"),
		r("tensorrt_llm/runtime/*.py", "generate decode* handle_per_step", Rollout, strong),

		r("tensorrt_llm/_torch/pyexecutor/py_executor_creator.py", "", Init, decisive).says("the executor is made"),
		r("tensorrt_llm/_torch/pyexecutor/_util.py", "create_py_executor* configure_kv_cache_capacity estimate_max_tokens build_managers _create_kv_cache_manager", Init, decisive),
		r("tensorrt_llm/_torch/pyexecutor/model_loader.py", "", Init, decisive),
		r("tensorrt_llm/_torch/pyexecutor/model_engine.py", "__init__ _load_model warmup load_weights_from_target_model", Init, decisive),
		r("tensorrt_llm/_torch/pyexecutor/resource_manager.py", "__init__", Init, decisive),
		r("tensorrt_llm/_torch/pyexecutor/model_engine.py", "forward _forward_step*", Rollout, strong),
		r("tensorrt_llm/_torch/pyexecutor/py_executor.py", "_executor_loop* _forward_step*", Rollout, strong),

		r("tensorrt_llm/llmapi/llm.py", "__init__ _build_model", Init, strong),
		r("tensorrt_llm/hlapi/llm.py", "__init__ _build_model", Init, strong),
		r("tensorrt_llm/llmapi/llm.py", "generate generate_async", Rollout, strong),
		r("tensorrt_llm/hlapi/llm.py", "generate generate_async", Rollout, strong),
		shared("site-packages/tensorrt_llm/", "").with(opaque),
	}
}
