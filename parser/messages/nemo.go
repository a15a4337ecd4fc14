package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// nemoMarkers are the stages that NeMo-RL prints. Between "Preparing batch" and "Generating responses" it also sends
// the weights to the engine.
func nemoMarkers() []pattern.Pattern {
	const src = "NeMo-RL 0.1-0.5, nemo_rl/algorithms/grpo.py"
	stage := func(name, phase, words, needle, line string) pattern.Pattern {
		return pattern.Pattern{
			Name:     "nemo." + name,
			Literals: []string{needle},
			Expr:     `▶ (?:` + words + `)`,
			Marker:   "phase", Set: parser.Fields{"phase": phase, "edge": "point", "label": name}, Source: src,
			Match: lines(line),
		}
	}
	return []pattern.Pattern{
		stage("setup", "init", `Setting up (?:compute cluster|model|data|environment)`, "▶ Setting up", "▶ Setting up model and training..."),
		stage("prepare_batch", "data", `Preparing batch`, "▶ Preparing batch", "▶ Preparing batch..."),
		stage("generate", "rollout", `Generating responses for batch`, "▶ Generating responses", "▶ Generating responses for batch of size 512..."),
		stage("rewards", "rollout", `Processing rewards`, "▶ Processing rewards", "▶ Processing rewards...,"),
		stage("prepare_logprobs", "logprob", `Preparing for logprob inference`, "▶ Preparing for logprob", "▶ Preparing for logprob inference..."),
		stage("logprobs", "logprob", `Computing logprobs`, "▶ Computing logprobs", "▶ Computing logprobs..."),
		stage("advantages", "training", `Computing advantages`, "▶ Computing advantages", "▶ Computing advantages..."),
		stage("prepare_training", "training", `Preparing for training`, "▶ Preparing for training", "▶ Preparing for training..."),
		stage("train", "training", `Training policy`, "▶ Training policy", "▶ Training policy..."),
		stage("validate", "rollout", `Starting validation`, "▶ Starting validation", "▶ Starting validation at step 10..."),
		{
			Name:     "nemo.step",
			Literals: []string{"=== Step "},
			Expr:     `={3,60} Step (?<step>\d{1,9})/\d{1,9} ={3,60}`,
			Marker:   "step", Common: true, Source: src,
			Match: []pattern.Sample{{Line: "========================= Step 1/500 =========================", Want: parser.Fields{"step": "1"}}},
		},
		{
			Name:     "nemo.save",
			Literals: []string{"Saving checkpoint for step"},
			Expr:     `Saving checkpoint for step \d`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "point", "label": "save"}, Source: src,
			Match: lines("Saving checkpoint for step 10..."),
		},
		{
			Name:     "nemo.refit",
			Literals: []string{"GPU Memory before ", "GPU Memory after "},
			Expr:     `GPU Memory (?:before|after) (?:optimizer offload|refit)`,
			Marker:   "phase", Set: parser.Fields{"phase": "weight_update", "edge": "point", "label": "refit"}, Source: src,
			Match: lines("GPU Memory after optimizer offload: 12.51GB allocated, 14.00GB reserved"),
		},
	}
}
