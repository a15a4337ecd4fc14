package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// nemoMarkers are the stages that NeMo-RL prints. Between "Preparing batch" and "Generating responses" it also sends
// the weights to the engine.
func nemoMarkers() []pattern.Pattern {
	const src = "NeMo-RL 0.1-0.5, nemo_rl/algorithms/grpo.py"
	stage := markers{kind: "phase", source: src}
	banner := func(name, phase, words, literal, line string) pattern.Pattern {
		return stage.line("nemo."+name, point(phase, name), `▶ (?:`+words+`)`, []string{literal}, line)
	}
	return []pattern.Pattern{
		banner("setup", "init", `Setting up (?:compute cluster|model|data|environment)`, "▶ Setting up", "▶ Setting up model and training..."),
		banner("prepare_batch", "data", `Preparing batch`, "▶ Preparing batch", "▶ Preparing batch..."),
		banner("generate", "rollout", `Generating responses for batch`, "▶ Generating responses", "▶ Generating responses for batch of size 512..."),
		banner("rewards", "rollout", `Processing rewards`, "▶ Processing rewards", "▶ Processing rewards...,"),
		banner("prepare_logprobs", "logprob", `Preparing for logprob inference`, "▶ Preparing for logprob", "▶ Preparing for logprob inference..."),
		banner("logprobs", "logprob", `Computing logprobs`, "▶ Computing logprobs", "▶ Computing logprobs..."),
		banner("advantages", "training", `Computing advantages`, "▶ Computing advantages", "▶ Computing advantages..."),
		banner("prepare_training", "training", `Preparing for training`, "▶ Preparing for training", "▶ Preparing for training..."),
		banner("train", "training", `Training policy`, "▶ Training policy", "▶ Training policy..."),
		banner("validate", "rollout", `Starting validation`, "▶ Starting validation", "▶ Starting validation at step 10..."),
		{
			Name:     "nemo.step",
			Literals: []string{"=== Step "},
			Expr:     `={3,60} Step (?<step>\d{1,9})/\d{1,9} ={3,60}`,
			Marker:   "step", Common: true, Source: src,
			Match: []pattern.Sample{{Line: "========================= Step 1/500 =========================", Want: parser.Fields{"step": "1"}}},
		},
		stage.line("nemo.save", point("checkpoint", "save"), `Saving checkpoint for step \d`, []string{"Saving checkpoint for step"}, "Saving checkpoint for step 10..."),
		stage.line("nemo.refit", point("weight_update", "refit"), `GPU Memory (?:before|after) (?:optimizer offload|refit)`,
			[]string{"GPU Memory before ", "GPU Memory after "}, "GPU Memory after optimizer offload: 12.51GB allocated, 14.00GB reserved"),
	}
}
