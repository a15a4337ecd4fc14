package phase

// relaxRules: names in Relax (redai-studio/Relax, 2026) that differ from slime, whose structure it shares. slimeRules has the names
// they share (backends/*/actor.py, model.py, loss.py).
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
