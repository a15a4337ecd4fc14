package phase

// relaxRules: what Relax (redai-studio/Relax, 2026) names differently from slime, whose structure it shares. The shared
// names of both (backends/*/actor.py, model.py, loss.py) are in slimeRules.
func relaxRules() []rule {
	return []rule{
		r("relax/backends/*/weight_update/*.py", "", WeightUpdate, decisive),
		r("relax/backends/*/actor.py", "recv_weight_fully_async", WeightUpdate, decisive),
		r("relax/utils/reloadable_process_group.py", "reload_process_groups", Training, strong).with(yields).
			says("it re-creates the communicators that were torn down for the rollout"),
		shared("relax/utils/training/ppo_utils.py", "").with(opaque), // the log-probabilities of the enclosing pass
		shared("relax/components/", "").with(opaque),                 // the driver: it only waits for the workers
		shared("relax/core/", "").with(opaque),
		r("relax/engine/rollout/", "", Rollout, weak),
	}
}
