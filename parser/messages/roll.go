package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// rollPatterns are the steps of ROLL's pipelines and, in its debug mode, what the first process of the engines and of the trainer
// holds of the node's memory in each step.
func rollPatterns() []pattern.Pattern {
	const src = "ROLL 0.1-0.3, roll/utils/context_managers.py, _get_cpu_memory_metrics: psutil's figure / 1024**3"
	return []pattern.Pattern{{
		Name:     "roll.step",
		Literals: []string{"pipeline step "},
		Expr:     `\bpipeline step (?<step>\d{1,9}) (?:start\.\.\.|finished)\s*$`,
		Marker:   "step", Common: true, Source: "ROLL 0.1-0.3, roll/pipeline/rlvr/rlvr_pipeline.py and its others",
		Match: []pattern.Sample{
			{Line: "[2025-07-06 21:34:36,234] [INFO] [rlvr_vlm_pipeline.py (612)] [run] [driver driver] pipeline step 0 finished", Want: parser.Fields{"step": "0"}},
			{Line: "pipeline step 7 start...", Want: parser.Fields{"step": "7"}},
		},
	}, {
		Name:     "roll.rss",
		Literals: []string{"memory/cpu/actor_infer/"},
		Expr:     `memory/cpu/(?<label>actor_infer/\w{1,40}/(?:start|end))/rss['"]?: (?<used_gib>\d{1,6}(?:\.\d{1,20})?)\b`,
		Gauge:    true, Source: src, Also: []string{"roll.rss_train"},
		Match: []pattern.Sample{
			{Line: `{"system/tps": 2210.4, "memory/cpu/actor_infer/generate/start/rss": 28.5, "memory/cpu/actor_infer/generate/start/vms": 201.25}`, Want: parser.Fields{"label": "actor_infer/generate/start", "used": "30601641984"}},
		},
		NoMatch: []string{`{"memory/cpu/actor_infer/generate/start/vms": 201.25}`, `{"memory/actor_infer/generate/end/onload/max_allocated/0": 69.81}`},
	}, {
		Name:     "roll.rss_train",
		Literals: []string{"memory/cpu/actor_train/"},
		Expr:     `memory/cpu/(?<label>actor_train/\w{1,40}/(?:start|end))/rss['"]?: (?<used_gib>\d{1,6}(?:\.\d{1,20})?)\b`,
		Gauge:    true, Source: src, Also: []string{"roll.rss"},
		Match: []pattern.Sample{
			{Line: `{'memory/cpu/actor_train/train_step/end/rss': 33.5}`, Want: parser.Fields{"label": "actor_train/train_step/end", "used": "35970351104"}},
		},
		NoMatch: []string{`{"memory/cpu/reference/compute_log_probs/start/rss": 21.17}`},
	}}
}
