package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// timerLiterals are the timers that slime and Relax open, "Timer " alone being too short to search for
// (slime/observability/timer.py and its callers, 2025-2026).
var timerLiterals = []string{"Timer train", "Timer actor_train", "Timer critic_train", "Timer log_probs", "Timer ref_log_probs", "Timer teacher_log_probs", "Timer old_log_probs", "Timer ref_model_update", "Timer data_preprocess", "Timer update_weights", "Timer wake_up", "Timer save_model", "Timer init_actor", "Timer rollout", "Timer generate", "Timer values", "Timer convert", "Timer compute", "Timer onload", "Timer offload", "Timer eval", "Timer sleep", " end (elapsed: "}

// slimePatterns are the markers of slime and of Relax, which shares its timers, memory lines and actors.
var slimePatterns = []table{slimeMarkers, slimeEngines}

// slimeMarkers are timers, steps and memory lines. Timers nest: the innermost open one tells the phase.
func slimeMarkers() []pattern.Pattern {
	const src = "slime 0.1-0.3, observability/timer.py, utils/memory_utils.py, backends/megatron_utils/actor.py; Relax, utils/timer.py"
	stage := markers{kind: "phase", source: src}
	return []pattern.Pattern{
		{
			Name:     "slime.timer_start",
			Literals: timerLiterals,
			Expr:     `Timer (?<timer>\w{1,64}) start\b`,
			Marker:   "timer", Set: map[string]string{"edge": "open"}, Source: src,
			Match:   []pattern.Sample{{Line: "Timer ref_log_probs start", Want: parser.Fields{"timer": "ref_log_probs"}}},
			NoMatch: []string{"Timer ref_log_probs end (elapsed: 19.9s)"},
		},
		{
			Name:     "slime.timer_end",
			Literals: timerLiterals,
			Expr:     `Timer (?<timer>\w{1,64}) end\b`,
			Marker:   "timer", Set: map[string]string{"edge": "close"}, Source: src,
			Match:   []pattern.Sample{{Line: "Timer ref_log_probs end (elapsed: 19.9s)", Want: parser.Fields{"timer": "ref_log_probs"}}},
			NoMatch: []string{"Timer ref_log_probs start"},
		},
		{
			Name:     "slime.step",
			Literals: []string{": {'train/"},
			Expr:     `\bstep (?<step>\d{1,9}): \{'train/`,
			Marker:   "step", Common: true, Source: src,
			Match: []pattern.Sample{{Line: "step 4: {'train/loss': 0.00096, 'train/grad_norm': 0.19, 'train/step': 4}", Want: parser.Fields{"step": "4"}}},
		},
		stage.line("slime.rollout_done", closes("rollout", "rollout"), `Final collected \d{1,9} samples from rollout to train`, []string{"samples from rollout to train"},
			"Final collected 256 samples from rollout to train"),
		stage.line("slime.reload_groups", point("training", "reload process groups"), `Reloading \d{1,6} process groups in pid`, []string{" process groups in pid "},
			"Reloading 41 process groups in pid 27513"),
		stage.line("slime.wake_up", opens("training", "wake_up"), `Memory-Usage before wake_up model`, []string{"Memory-Usage before wake_up"},
			"[Rank 5] Memory-Usage before wake_up model: {'gpu': '5', 'total_GB': 79.11}"),
		stage.line("slime.woken_up", closes("training", "wake_up"), `Memory-Usage after wake_up model`, []string{"Memory-Usage after wake_up"},
			"[Rank 5] Memory-Usage after wake_up model: {'gpu': '5', 'total_GB': 79.11}"),
		stage.line("slime.update_weights", opens("weight_update", "update_weights"), `Memory-Usage before update_weights`, []string{"Memory-Usage before update_weights"},
			"[Rank 0] Memory-Usage before update_weights: {'gpu': '0', 'total_GB': 79.11}"),
		stage.line("slime.updated_weights", closes("weight_update", "update_weights"), `Memory-Usage after update_weights`, []string{"Memory-Usage after update_weights"},
			"[Rank 0] Memory-Usage after update_weights: {'gpu': '0', 'total_GB': 79.11}"),
		markers{kind: "phase", source: "Relax, utils/reloadable_process_group.py"}.line("slime.collective_failed", point("nccl", "collective"),
			`(?:torch\.distributed\.\w{1,40} failed with context|Memory-Usage after torch distributed error)`,
			[]string{" failed with context", "Memory-Usage after torch distributed error"}, "torch.distributed.all_reduce failed with context: rank=3"),
		markers{kind: "phase", source: "Relax, backends/megatron/actor.py"}.line("slime.train_data", point("data", "train_get_data"),
			`start to get rollout_id: \d{1,9} data from transfer queue`, []string{"start to get rollout_id: "},
			"start to get rollout_id: 1 data from transfer queue for train with mcore."),
		{
			// Global rank; the device is the ordinal inside the process's CUDA_VISIBLE_DEVICES.
			Name:     "slime.rank",
			Literals: []string{"] Memory-Usage "},
			Expr:     `\[Rank (?<rank>\d{1,6})\] Memory-Usage [^{\n]{1,80}\{'(?:gpu|device)': '(?<device>\d{1,4})'`,
			Marker:   "identity", Source: src,
			Match: []pattern.Sample{{
				Line: "[Rank 5] Memory-Usage before wake_up model: {'gpu': '5', 'total_GB': 79.11, 'free_GB': 70.46}", Want: parser.Fields{"rank": "5", "device": "5"},
			}},
		},
		{
			Name:     "slime.memory",
			Literals: []string{"] Memory-Usage "},
			Expr: `Memory-Usage (?<label>[^{:\n]{1,80}):? \{[^}\n]{0,60}'total_GB': (?<total_gib>\d+(?:\.\d+)?), 'free_GB': (?<free_gib>\d+(?:\.\d+)?), ` +
				`'used_GB': (?<used_gib>\d+(?:\.\d+)?)(?:, 'allocated_GB': (?<allocated_gib>\d+(?:\.\d+)?), 'reserved_GB': (?<reserved_gib>\d+(?:\.\d+)?))?` +
				`(?:[^}\n]{0,20}'host_total_GB': (?<host_total_gib>\d+(?:\.\d+)?), 'host_available_GB': (?<host_available_gib>\d+(?:\.\d+)?))?`,
			Gauge: true, Source: src,
			Match: []pattern.Sample{{
				Line: "[Rank 5] Memory-Usage after wake_up model: {'gpu': '5', 'total_GB': 79.0, 'free_GB': 50.5, 'used_GB': 28.5, 'allocated_GB': 22.0, 'reserved_GB': 23.5, " +
					"'host_total_GB': 1000.0, 'host_available_GB': 64.0}",
				Want: parser.Fields{
					"label": "after wake_up model", "total": "84825604096", "free": "54223962112", "used": "30601641984", "allocated": "23622320128", "reserved": "25232932864",
					"host_total": "1073741824000", "host_available": "68719476736",
				},
			}},
		},
	}
}

// slimeEngines are what the rollout manager says of its inference engines: it kills the sick ones itself and replaces
// them, and that is no memory kill.
func slimeEngines() []pattern.Pattern {
	const src = "slime 0.1-0.3, utils/health_monitor.py, ray/rollout.py; Relax, components, core/controller.py"
	return []pattern.Pattern{
		{
			Name:     "slime.recovered",
			Literals: []string{" dead rollout engines"},
			Expr:     `Recovered (?<count>\d{1,6}) dead rollout engines`,
			Kind:     parser.Recovered, Role: parser.Context,
			Source:  src,
			Match:   []pattern.Sample{{Line: "Recovered 1 dead rollout engines (worker_type=regular)", Want: parser.Fields{"count": "1"}}},
			NoMatch: []string{"Recovered 0 rollout samples"},
		},
		{
			Name: "slime.engine_killed",
			Literals: []string{
				"Health check failed for rollout engine", "Killing engine group ", "Shutting down and killing engine", "Successfully killed engine",
				" failed health check. Killing replica", "Server process terminated unexpectedly",
			},
			Expr: `(?:Health check failed for rollout engine|Killing engine group \d|Shutting down and killing engine at index` +
				`|Successfully killed engine at index|failed health check\. Killing replica|Server process terminated unexpectedly)`,
			Kind: parser.ProcessExit, Role: parser.Consequence,
			Source: src + "; backends/sglang_utils/sglang_engine.py; Ray Serve",
			Match: lines(
				"Health check failed for rollout engine 2 (ray timeout or error). Killing actor. Exception: timed out",
				"Killing engine group 2...",
				"Replica(id='x1k2a9', deployment='Actor', app='actor') failed health check. Killing replica.",
				"Exception: Server process terminated unexpectedly.",
			),
			NoMatch: []string{"Health check passed for rollout engine 2"},
		},
		{
			Name:     "slime.train_failed",
			Literals: []string{"train step failed at rollout_id", "Training startup or loop failed with"},
			Expr: `(?:train step failed at rollout_id=(?<step>\d{1,9})|Training startup or loop failed with error)` +
				`(?![^\n]{0,2000}(?:out of memory|OutOfMemory))`,
			Kind: parser.ProcessExit, Role: parser.Consequence,
			Source: src,
			Match:  []pattern.Sample{{Line: "train step failed at rollout_id=31, shutting down", Want: parser.Fields{"step": "31"}}},
			NoMatch: []string{
				"Training startup or loop failed with error: CUDA out of memory. Tried to allocate 2.00 GiB.",
			},
		},
		{
			// Its snapshot of the allocator; the allocator's own message follows.
			Name:     "slime.oom_observed",
			Literals: []string{"Observe OOM, will dump snapshot"},
			Expr:     `Observe OOM, will dump snapshot`,
			Kind:     parser.GPUOOM, Role: parser.Detail,
			Source: "slime, observability/profile_utils.py; Relax, utils/profile_utils.py",
			Match:  lines("Observe OOM, will dump snapshot to /tmp/snap.pickle"),
		},
	}
}
