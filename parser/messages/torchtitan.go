package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// torchtitanPatterns are torchtitan's step line, with the peak of reserved memory, and its checkpoints.
func torchtitanPatterns() []pattern.Pattern {
	const src = "torchtitan 0.1-0.2, components/metrics.py, components/checkpoint.py"
	stage := markers{kind: "phase", source: src}
	return []pattern.Pattern{
		{
			Name:     "torchtitan.step",
			Literals: []string{"  loss: "},
			Expr:     `\bstep: {1,6}(?<step>\d{1,9}) {1,6}loss: `,
			Marker:   "step", Common: true, Source: src,
			Match: []pattern.Sample{{Line: "step: 10  loss:  7.1352  grad_norm:  2.1  memory: 47.50GiB(60.06%)  tps: 5,210", Want: parser.Fields{"step": "10"}}},
		},
		{
			Name:     "torchtitan.memory",
			Literals: []string{"%)  tps: ", "%)  wps: "},
			Expr:     `  memory: {1,4}(?<reserved_sz>\d+(?:\.\d+)?GiB)\(\d{1,3}\.\d{1,2}%\)  [tw]ps: `,
			Gauge:    true, Source: src,
			Match: []pattern.Sample{{
				Line: "step: 10  loss:  7.1352  grad_norm:  2.1  memory: 47.50GiB(60.06%)  tps: 5,210", Want: parser.Fields{"reserved": "51002736640"},
			}},
		},
		markers{kind: "launch", source: "torchtitan 0.1-0.2, models/*/infra/parallelize.py"}.line("launch.torchtitan_fsdp", parser.Fields{"backend": "fsdp2"},
			`Applied (?:FSDP|HSDP) to the model`, []string{"Applied FSDP to the model", "Applied HSDP to the model"}, "[titan] 2026-02-27 18:22:56,040 - root - INFO - Applied FSDP to the model"),
		stage.line("torchtitan.train", point("training", "train"), `Training starts at step \d`, []string{"Training starts at step"},
			"Training starts at step 1, with local batch size 8"),
		stage.line("torchtitan.save", opens("checkpoint", "save"), `Saving the (?:full )?checkpoint`, []string{"Saving the checkpoint", "Saving the full checkpoint"},
			"Saving the checkpoint (or staging if async is enabled)."),
		stage.line("torchtitan.saved", closes("checkpoint", "save"), `Finished saving the checkpoint`, []string{"Finished saving the checkpoint"},
			"Finished saving the checkpoint (or staging if async is enabled) in 4.10 seconds."),
	}
}
