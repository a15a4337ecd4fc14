package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// torchtunePatterns are torchtune's words about its checkpoints, which it gathers on one rank.
func torchtunePatterns() []pattern.Pattern {
	const src = "torchtune 0.3-0.6, recipes/full_finetune_distributed.py, training/checkpointing/_checkpoint_client.py"
	return []pattern.Pattern{
		{
			Name:     "torchtune.save",
			Literals: []string{"Saving checkpoint. This may", " state dict..."},
			Expr:     `Saving checkpoint\. This may take some time|Getting (?:full model|optimizer) state dict\.\.\.`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "open", "label": "save"}, Source: src,
			Match: lines(
				"Saving checkpoint. This may take some time. Retrieving full model state dict...",
				"Getting optimizer state dict...",
				"Getting full model state dict...",
			),
		},
		{
			Name:     "torchtune.saved",
			Literals: []string{"Saving checkpoint took ", "Saved checkpoint in "},
			Expr:     `Saving checkpoint took \d|^Saved checkpoint in \d`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "close", "label": "save"}, Source: src,
			Match: lines("Saving checkpoint took 61.20 secs", "Saved checkpoint in 61.20 seconds."),
		},
	}
}
