package phase

// exllamaRules: ExLlamaV2 0.1 ... 0.3 and ExLlamaV3.
func exllamaRules() []rule {
	return []rule{
		r("exllamav2/model.py", "load*", Init, decisive).says("weights are read"),
		r("exllamav2/cache.py", "__init__ create_state_tensors", Init, decisive),
		r("exllamav3/model/*.py", "load*", Init, decisive).says("weights are read"),
		r("exllamav3/cache/*.py", "__init__ alloc*", Init, decisive),
		r("exllamav2/generator/*.py", "", Rollout, strong),
		r("exllamav3/generator/*.py", "", Rollout, strong),
	}
}
