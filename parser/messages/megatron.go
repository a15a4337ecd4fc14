package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// megatronPatterns are those of Megatron-LM and Megatron-Core.
func megatronPatterns() []pattern.Pattern {
	const src = "Megatron-LM, training/training.py, training/checkpointing.py, training/utils"
	stage := markers{kind: "phase", source: src}
	return []pattern.Pattern{
		{
			Name:     "megatron.step",
			Literals: []string{"| consumed samples: ", "| consumed tokens: ", "| elapsed time per iteration"},
			Expr:     `iteration\s{1,12}(?<step>\d{1,9})/\s{0,12}\d{1,9} \| {1,4}(?:consumed samples|consumed tokens|elapsed time per iteration)`,
			Marker:   "step", Common: true, Source: src,
			Match: []pattern.Sample{
				{Line: " iteration       10/     500 | consumed samples: 2560 | elapsed time per iteration (ms): 1520.2 |", Want: parser.Fields{"step": "10"}},
				{Line: " iteration        4/    2000 | elapsed time per iteration (ms): 21181.4 | learning rate", Want: parser.Fields{"step": "4"}},
			},
		},
		{
			Name:     "megatron.memory",
			Literals: []string{"memory (MB) | allocated: "},
			Expr: `\[Rank (?<rank>\d{1,6})\] [^|\n]{0,60}memory \(MB\) \| allocated: (?<allocated_mib>\d+(?:\.\d+)?)` +
				`(?: \| max allocated: (?<max_allocated_mib>\d+(?:\.\d+)?) \| reserved: (?<reserved_mib>\d+(?:\.\d+)?))?`,
			Gauge: true, Source: src,
			Match: []pattern.Sample{{
				Line: "[Rank 3] (after 10 iterations) memory (MB) | allocated: 1024.0 | max allocated: 2048.5 | reserved: 4096.0 | max reserved: 4096.0",
				Want: parser.Fields{"rank": "3", "allocated": "1073741824", "max_allocated": "2148007936", "reserved": "4294967296"},
			}},
		},
		{
			Name:     "megatron.parameters",
			Literals: []string{"model parallel rank ("},
			Expr:     `> number of parameters on \(tensor, pipeline\) model parallel rank \(\d{1,5} ?, ?\d{1,5}\): (?<count>\d{1,16})`,
			Gauge:    true, Source: src + "; NeMo 2, lightning/megatron_parallel.py, with the blank before the comma",
			Match: []pattern.Sample{
				{Line: " > number of parameters on (tensor, pipeline) model parallel rank (1, 0): 4286349312", Want: parser.Fields{"count": "4286349312"}},
				{Line: " > number of parameters on (tensor, pipeline) model parallel rank (0 ,0): 70553706496", Want: parser.Fields{"count": "70553706496"}},
			},
		},
		{
			Name:     "megatron.vocabulary",
			Literals: []string{"> padded vocab (size: "},
			Expr:     `> padded vocab \(size: \d{1,9}\) with \d{1,9} dummy tokens \(new size: (?<vocabulary>\d{1,9})\)`,
			Gauge:    true,
			Source:   "Megatron-LM, training/tokenizer/tokenizer.py: it is not yet known where the arguments are printed",
			Match:    []pattern.Sample{{Line: " > padded vocab (size: 50257) with 47 dummy tokens (new size: 50304)", Want: parser.Fields{"vocabulary": "50304"}}},
		},
		stage.line("megatron.init", point("init", "model"),
			`(?:building (?:GPT|BERT|T5|\w{1,20}) model \.\.\.|number of parameters on \(tensor, pipeline\) model parallel rank|start to load megatron \w{1,16} from weights)`,
			[]string{" model ...", "model parallel rank (", "start to load megatron"}, "building GPT model ...",
			" > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 4286349312"),
		stage.line("megatron.data", point("data", "dataset"), `building train, validation, and test datasets`, []string{"building train, validation, and test"},
			"> building train, validation, and test datasets ..."),
		stage.line("megatron.train", point("training", "train"), `\[before the start of training step\]`, []string{"[before the start of training step]"},
			"[before the start of training step] datetime: 2025-06-19 03:04:10"),
		stage.line("megatron.save", opens("checkpoint", "save"), `saving checkpoint at iteration`, []string{"saving checkpoint at iteration"},
			"saving checkpoint at iteration     500 to /ckpt in torch_dist format"),
		stage.line("megatron.saved", closes("checkpoint", "save"), `successfully saved checkpoint (?:from|at) iteration`, []string{"successfully saved checkpoint"},
			"  successfully saved checkpoint from iteration     500 to /ckpt"),
		{
			Name:     "launch.megatron_world",
			Literals: []string{"using world size: "},
			Expr:     `using world size: (?<world_size>\d{1,6}), data[- ]parallel`,
			Marker:   "launch", Set: map[string]string{"backend": "megatron"},
			Source: "Megatron-LM, training/arguments.py; slime and Relax print it too",
			Match:  []pattern.Sample{{Line: "using world size: 8, data-parallel size: 1, context-parallel size: 4, tensor-model-parallel size: 2", Want: parser.Fields{"world_size": "8"}}},
		},
	}
}
