package messages

import "oomscan/parser/pattern"

// torchtunePatterns are torchtune's words about its checkpoints, which it gathers on one rank.
func torchtunePatterns() []pattern.Pattern {
	const src = "torchtune 0.3-0.6, recipes/full_finetune_distributed.py, training/checkpointing/_checkpoint_client.py"
	stage := markers{kind: "phase", source: src}
	return []pattern.Pattern{
		stage.line("torchtune.save", opens("checkpoint", "save"), `Saving checkpoint\. This may take some time|Starting checkpoint save\.\.\.|Getting (?:full model|optimizer) state dict\.\.\.`,
			[]string{"Saving checkpoint. This may", "Starting checkpoint save...", " state dict..."}, "Saving checkpoint. This may take some time. Retrieving full model state dict...",
			"Starting checkpoint save...", "Getting optimizer state dict...", "Getting full model state dict..."),
		stage.line("torchtune.saved", closes("checkpoint", "save"), `Saving checkpoint took \d|^(?:Saved checkpoint|Checkpoint saved) in \d`,
			[]string{"Saving checkpoint took ", "Saved checkpoint in ", "Checkpoint saved in "}, "Checkpoint saved in 12.31 seconds.", "Saving checkpoint took 61.20 secs", "Saved checkpoint in 61.20 seconds."),
	}
}
