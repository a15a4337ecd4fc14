package phase

// lmdeployRules: LMDeploy 0.5 ... 0.16. TurboMind reads weights in Python and keeps its cache and its loop in C++.
func lmdeployRules() []rule {
	return []rule{
		r("lmdeploy/turbomind/deploy/*.py", "", Init, decisive).says("weights are read"),
		r("lmdeploy/turbomind/deploy/target_model/*.py", "", Init, decisive).says("weights are read"),
		r("lmdeploy/turbomind/turbomind.py", "_create_weight* create_shared_weights _load_weights _from_hf _create_engine", Init, decisive),
		r("lmdeploy/pytorch/engine/model_agent.py", "build_model _build_model build_cache_engine build_graph_runner", Init, decisive),
		r("lmdeploy/pytorch/engine/model_agent.py", "_async_model_forward async_forward _forward_impl", Rollout, decisive),
		r("lmdeploy/pytorch/engine/model_agent/*.py", "_async_model_forward async_forward _forward_impl model_forward", Rollout, decisive),
		r("lmdeploy/vl/engine.py", "_forward_loop forward infer", Rollout, decisive),
	}
}
