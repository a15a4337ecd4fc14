package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// openrlhfMarkers are the bars of OpenRLHF, and the line its vLLM workers print for each parameter they receive.
func openrlhfMarkers() []pattern.Pattern {
	const src = "OpenRLHF 0.3-0.9, trainer/ppo_trainer.py, trainer/ray/vllm_worker_wrap.py"
	stage := markers{kind: "phase", source: src}
	return []pattern.Pattern{
		stage.line("openrlhf.train", point("training", "ppo_train"), `Train epoch \[\d{1,6}/\d{1,6}\]:\s{1,4}0%`, []string{"]:   0%|"},
			"Train epoch [1/1]:   0%|          | 0/256 [00:00<05:31,  1.35s/it, pg=-0.239]"),
		{
			Name:     "openrlhf.step",
			Literals: []string{"Episode ["},
			Expr:     `Episode \[\d{1,6}/\d{1,6}\]:\s{1,4}\d{1,3}%\|[^|\n]{0,120}\|\s{0,4}(?<step>\d{1,9})/\d{1,9} \[`,
			Marker:   "step", Common: true, Source: src,
			Match: []pattern.Sample{{Line: "Episode [1/1]:   1%|          | 1/78 [09:20<11:59:11, 560.41s/it]", Want: parser.Fields{"step": "1"}}},
		},
		{
			// Training follows generation, so that the engines are up.
			Name:     "openrlhf.trained",
			Literals: []string{"]: 100%|"},
			Expr:     `Train epoch \[\d{1,6}/\d{1,6}\]: 100%`,
			Marker:   "ready", Source: src,
			Match: lines("Train epoch [1/1]: 100%|██████████| 8/8 [02:00<00:00, 15.12s/it, pg=0.319]"),
		},
		stage.line("openrlhf.experience", point("logprob", "make_experience"), `make_experience:?\s{1,4}0%`, []string{"make_experience"},
			"make_experience:   0%|          | 0/16 [00:00<?, ?it/s]"),
		stage.line("openrlhf.update_weight", point("weight_update", "update_weight"), `update weight: [\w.]{1,200}, dtype: `, []string{"update weight: "},
			"update weight: model.embed_tokens.weight, dtype: torch.bfloat16, shape: torch.Size([152064, 3584])"),
	}
}
