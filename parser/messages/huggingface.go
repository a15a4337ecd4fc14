package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// huggingFaceMarkers are those of transformers, datasets, accelerate and of everything built on them. A bar is matched
// at 0 % only: it marks the beginning and is not redrawn.
func huggingFaceMarkers() []pattern.Pattern {
	const src = "transformers 4.x-5.x, trainer.py, modeling_utils.py; datasets, arrow_dataset.py"
	return []pattern.Pattern{
		{
			Name:     "trainer.load_weights",
			Literals: []string{"checkpoint shards: ", "Loading pipeline components...: "},
			Expr:     `Loading (?:(?:safetensors |pt )?checkpoint shards|pipeline components\.\.\.):\s{1,4}\d{1,2}%`,
			Marker:   "phase", Set: parser.Fields{"phase": "init", "edge": "point", "label": "weights"}, Source: src,
			Match: lines(
				"Loading checkpoint shards:   0%|          | 0/17 [00:00<00:51,  2.90s/it]",
				"Loading safetensors checkpoint shards:   0% Completed | 0/4 [00:00<00:04,  1.18it/s]",
				"Loading pipeline components...:  57%|#####7    | 4/7 [00:30<00:20,  6.81s/it]",
				"Loading checkpoint shards:  43%|####3     | 13/30 [02:08<02:40,  9.1s/it]",
			),
		},
		{
			Name:     "trainer.dataset_processes",
			Literals: []string{" (num_proc="},
			Expr:     `^(?:[A-Z][\w ]{2,40}) \(num_proc=(?<count>\d{1,4})\):`,
			Gauge:    true, Source: src,
			Match:   []pattern.Sample{{Line: "Running tokenizer on dataset (num_proc=64):  40%|####      | 400000/1000000 [01:00<01:30, 6666.67 examples/s]", Want: parser.Fields{"count": "64"}}},
			NoMatch: []string{"dataset.map(tokenize, num_proc=64)"},
		},
		{
			Name:     "trainer.datasets",
			Literals: []string{":   0%|   ", " examples/s]"},
			Expr:     `(?:Tokenizing|Map|Filter|Filtering|Truncating|Packing|Converting|Applying|Adding EOS|Extracting prompt|Running tokenizer|Generating|Grouping)\b[^|\n]{0,100}:\s{1,4}(?:0%|\d{1,3}%\|.{0,200} examples/s\]|\d{1,12} examples \[)`,
			Marker:   "phase", Set: parser.Fields{"phase": "data", "edge": "point", "label": "dataset"}, Source: src,
			Match: lines(
				"Tokenizing train dataset (num_proc=64):   0%|          | 0/1143205 [00:00<05:00, 3329.67 examples/s]",
				"Map:   0%|          | 0/1000 [00:00<?, ? examples/s]",
				"Filter (num_proc=64):  12%|#1        | 12000/100000 [00:10<05:00, 300.00 examples/s]",
				"Generating train split: 120000 examples [00:30, 4000.00 examples/s]",
			),
		},
		{
			Name:     "trainer.loss",
			Literals: []string{"{'loss': "},
			Expr:     `^\s{0,4}\{'loss': .{0,1000}'epoch': `,
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "point", "label": "loss"}, Source: "transformers 3.x-5.x, trainer_callback.py: the metrics of some steps",
			Match: lines(
				"{'loss': 0.9234, 'learning_rate': 0.0001, 'epoch': 1.38}",
				"{'loss': '0.9234', 'grad_norm': '1.25', 'learning_rate': '1e-05', 'epoch': '1.38'}",
			),
		},
		{
			Name:     "trainer.train",
			Literals: []string{"***** Running training *****"},
			Expr:     `\*\*\*\*\* Running training \*\*\*\*\*`,
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "point", "label": "train", "starts": "trainer"}, Source: src,
			Match: lines("***** Running training *****"),
		},
		{
			Name:     "transformers.generate",
			Literals: []string{"Setting `pad_token_id` to `eos_token_id`"},
			Expr:     "Setting `pad_token_id` to `eos_token_id`: ?\\[?\\d",
			Marker:   "phase", Set: parser.Fields{"phase": "rollout", "edge": "point", "label": "generate"}, Common: true, Source: "transformers 4.x-5.x, generation/utils.py: at each call without a padding token",
			Match: lines("Setting `pad_token_id` to `eos_token_id`:128001 for open-end generation.", "Setting `pad_token_id` to `eos_token_id`:50256 for open-end generation."),
		},
		{
			Name:     "timm.train_benchmark",
			Literals: []string{"Running train benchmark on "},
			Expr:     `Running train benchmark on `,
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "point", "label": "train benchmark"}, Source: "timm, benchmark.py",
			Match: lines("Running train benchmark on maxvit_base_tf_512 for 40 steps w/ input size (3, 512, 512) and batch size 256."),
		},
		{
			Name:     "timm.inference_benchmark",
			Literals: []string{"Running inference benchmark on "},
			Expr:     `Running inference benchmark on `,
			Marker:   "phase", Set: parser.Fields{"phase": "forward", "edge": "point", "label": "inference benchmark"}, Source: "timm, benchmark.py",
			Match: lines("Running inference benchmark on vit_large_patch14_clip_336 for 40 steps w/ input size (3, 336, 336) and batch size 256."),
		},
		{
			Name:     "trainer.evaluate",
			Literals: []string{"***** Running E", "***** Running e", "***** Running Prediction"},
			Expr:     `\*\*\*\*\* Running (?:[Ee]valuation|Prediction) \*\*\*\*\*`,
			Marker:   "phase", Set: parser.Fields{"phase": "forward", "edge": "point", "label": "evaluate"}, Source: src,
			Match: lines("***** Running Evaluation *****"),
		},
		{
			Name:     "trainer.save",
			Literals: []string{"Saving model checkpoint to", "Saving current state to", "[Torch] Saving ", "Saving Optimizer state to", "Processing zero checkpoint '"},
			Expr:     `(?:Saving model checkpoint to|Saving current state to|\[Torch\] Saving |Saving Optimizer state to|Processing zero checkpoint ')`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "point", "label": "save"}, Source: src + "; accelerate; DeepSpeed, utils/zero_to_fp32.py among it",
			Match: lines("Saving model checkpoint to /out/checkpoint-500", "Saving Optimizer state to out/optimizer.bin", "Processing zero checkpoint 'out/global_step500'"),
		},
		{
			Name:     "trainer.saving",
			Literals: []string{"aving checkpoint to ", "aving a checkpoint to ", "aving training state to "},
			Expr:     `^[Ss]aving (?:(?:a )?checkpoint to \S{0,400}/|training state to \S{0,400}/)`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "point", "label": "save"}, Source: "trainers of users",
			Match:   lines("saving checkpoint to /out/step_20", "Saving a checkpoint to ./ckpt", "Saving training state to runs/1/state"),
			NoMatch: []string{"Saving checkpoint to disk is disabled", "Saving checkpoint took 61.20 secs", "It is saving checkpoint to /out each time"},
		},
		{
			Name:     "trainer.lightning_sanity",
			Literals: []string{"Sanity Checking"},
			Expr:     `Sanity Checking(?: DataLoader \d{1,3})?:\s{1,4}0%`,
			Marker:   "phase", Set: parser.Fields{"phase": "forward", "edge": "point", "label": "sanity check"}, Source: "PyTorch Lightning 1.x-2.x, callbacks/progress",
			Match: lines("Sanity Checking DataLoader 0:   0%|          | 0/2 [00:00<?, ?it/s]"),
		},
	}
}
