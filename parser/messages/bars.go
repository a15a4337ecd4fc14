package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// barMarkers are progress bars of tqdm whose descriptions tell a phase, and lines with the loss of a step.
func barMarkers() []pattern.Pattern {
	var out []pattern.Pattern
	for _, b := range []struct {
		label, phase, description, source string
		literals, samples                 []string
	}{
		{
			"evaluation", "forward", `(?:Validation|Validating|Evaluation|Evaluating|Testing)(?: DataLoader \d{1,3})?`, "PyTorch Lightning, callbacks/progress; scripts",
			[]string{"Validation: ", "Validation DataLoader ", "Validating: ", "Evaluation: ", "Evaluating: ", "Testing: ", "Testing DataLoader "},
			[]string{"Validation", "Validation DataLoader 0", "Validating", "Evaluation", "Evaluating", "Testing", "Testing DataLoader 0"},
		},
		{
			"prediction", "forward", `Predicting(?: DataLoader \d{1,3})?`, "PyTorch Lightning 1.9-2.x, callbacks/progress/tqdm_progress.py; scripts",
			[]string{"Predicting: ", "Predicting DataLoader "},
			[]string{"Predicting", "Predicting DataLoader 0"},
		},
		{
			"generation", "rollout", `(?:Generating|Generating responses|Rollout generation|Sampling|sampling loop time step|Processed prompts)`, "vLLM, entrypoints/llm.py; slime, rollout/sglang_rollout.py; guided-diffusion; scripts",
			[]string{"Generating: ", "Generating responses: ", "Rollout generation: ", "Sampling: ", "sampling loop time step: ", "Processed prompts: "},
			[]string{"Generating", "Generating responses", "Rollout generation", "Sampling", "sampling loop time step", "Processed prompts"},
		},
		{
			"graph_capture", "init", `Capturing (?:CUDA graph shapes|CUDA graphs \([^)]{1,60}\)|batches \([^)]{1,100}\))`, "vLLM, v1/worker/gpu_model_runner.py; SGLang, model_executor/cuda_graph_runner.py",
			[]string{"Capturing CUDA graph", "Capturing batches ("},
			[]string{"Capturing CUDA graph shapes", "Capturing CUDA graphs (decode, FULL)", "Capturing batches (bs=8 avail_mem=1.02 GB)"},
		},
		{
			"calibration", "forward", `(?:\(\d{1,4}/\d{1,4}\): (?:Calibrating|Propagating)|AWQ)`, "LLM Compressor 0.5-0.9, pipelines/sequential/pipeline.py; AutoAWQ 0.1-0.2, quantize/quantizer.py",
			[]string{"): Calibrating: ", "): Propagating: ", "AWQ:  ", "AWQ: 100"},
			[]string{"(3/41): Calibrating", "(41/41): Propagating", "AWQ"},
		},
		{
			"image_cache", "data", `Caching images \(\d{1,5}(?:\.\d)?GB(?: (?:ram|RAM|True))?\)`, "YOLOv5 6-7, utils/dataloaders.py; Ultralytics 8, data/base.py cache_images: all images come into memory before training",
			[]string{"Caching images ("},
			[]string{"train: Caching images (5.3GB ram)", "train: Caching images (5.3GB RAM)", "train: Caching images (5.3GB)"},
		},
	} {
		bar := func(name, edge, percent, sample string) pattern.Pattern {
			p := pattern.Pattern{
				Name: name, Literals: b.literals, Expr: `(?:^|[\s\])])` + b.description + `:\s{1,4}` + percent + `%\|`,
				Marker: "phase", Set: parser.Fields{"phase": b.phase, "edge": edge, "label": b.label}, Source: b.source,
			}
			for _, s := range b.samples {
				p.Match = append(p.Match, lines(s+sample)...)
			}
			return p
		}
		out = append(out, bar("bar."+b.label, "open", `\d{1,2}`, ":   9%|9         | 9/100 [00:09<01:30,  1.00it/s]"),
			bar("bar."+b.label+"_done", "close", "100", ": 100%|##########| 100/100 [01:40<00:00,  1.00it/s]"))
	}
	return append(out, pattern.Pattern{
		// Bars of training steps are redrawn for most of a log: only their beginning is read.
		Name:     "bar.training",
		Literals: []string{":   0%|   "},
		Expr:     `\b(?:Epoch(?: \d{1,6}(?:/\d{1,6})?)?|[Ss]teps|Train(?:ing)?):\s{1,4}0%`,
		Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "point", "label": "fit"}, Source: "PyTorch Lightning 1.x-2.x, callbacks/progress; scripts of diffusers and kohya",
		Match: lines("Epoch 0:   0%|          | 0/500 [00:00<?, ?it/s]", "Epoch 1/3:   0%|          | 0/500 [00:00<?, ?it/s]", "Steps:   0%|          | 0/1000 [00:00<?, ?it/s]"),
	}, pattern.Pattern{
		Name: "monai.cache", Literals: []string{"Loading dataset: "}, Expr: `^Loading dataset:\s{1,4}\d{1,3}%\|`,
		Gauge: true, Source: "MONAI 1.x, monai/data/dataset.py CacheDataset",
		Match: lines("Loading dataset:  36%|###       | 26/72 [01:49<03:13,  4.02s/it]"), NoMatch: []string{"Loading dataset: imdb"},
	}, pattern.Pattern{
		Name: "tensorflow.shuffle", Literals: []string{"Filling up shuffle buffer"}, Expr: `\bFilling up shuffle buffer\b`,
		Marker: "phase", Set: opens("data", "shuffle buffer"), Source: "TensorFlow 2, core/kernels/data/shuffle_dataset_op.cc",
		Match: lines("I tensorflow/core/kernels/data/shuffle_dataset_op.cc:450] ShuffleDatasetV3:1: Filling up shuffle buffer (this may take a while): 18211 of 100000"),
		Also:  []string{"tensorflow.shuffle_buffer"},
	}, pattern.Pattern{
		Name: "tensorflow.shuffled", Literals: []string{"Shuffle buffer filled."}, Expr: `\bShuffle buffer filled\.`,
		Marker: "phase", Set: closes("data", "shuffle buffer"), Source: "TensorFlow 2, core/kernels/data/shuffle_dataset_op.cc",
		Match: lines("I tensorflow/core/kernels/data/shuffle_dataset_op.cc:480] Shuffle buffer filled."),
	}, pattern.Pattern{
		Name: "tensorflow.shuffle_buffer", Literals: []string{"Filling up shuffle buffer"}, Expr: `\bFilling up shuffle buffer\b[^:]{0,80}: (?<filled>\d{1,12}) of (?<capacity>\d{1,12})\b`,
		Gauge: true, Tells: map[string]string{"buffer_size": "capacity"}, Source: "TensorFlow 2, core/kernels/data/shuffle_dataset_op.cc: how full Dataset.shuffle's buffer is",
		Match: []pattern.Sample{{
			Line: "I tensorflow/core/kernels/data/shuffle_dataset_op.cc:181] Filling up shuffle buffer (this may take a while): 3102 of 100000", Want: parser.Fields{"filled": "3102", "capacity": "100000"},
		}},
		NoMatch: []string{"I tensorflow/core/kernels/data/shuffle_dataset_op.cc:230] Shuffle buffer filled."},
	}, pattern.Pattern{
		Name: "ctranslate2.float32", Literals: []string{"Selected compute type: float32", "converted to use the float32"}, Expr: `\bSelected compute type: float32\b|\bconverted to use the float32 compute type\b`,
		Gauge: true, Source: "CTranslate2 3-4, src/models/model.cc: the weights have four bytes each on the device",
		Match: lines("[info]  - Selected compute type: float32",
			"[warning] The compute type inferred from the saved model is float16, but the target device or backend do not support efficient float16 computation. The model weights have been automatically converted to use the float32 compute type instead."),
	}, pattern.Pattern{
		Name: "script.no_grad", Literals: []string{"torch.no_grad()", "torch.inference_mode()"}, Expr: `^\s{0,40}(?:with |@)torch\.(?:no_grad|inference_mode)\(\)(?: ?:|, [^#\n]{1,200}:|\s*$)`,
		Gauge: true, Source: "scripts that a log shows",
		Match:   lines("    with torch.no_grad():", "@torch.inference_mode()", "with torch.inference_mode(), torch.autocast(\"cuda\"):"),
		NoMatch: []string{"# with torch.no_grad():", "use torch.no_grad() for inference"},
	}, pattern.Pattern{
		Name: "script.plain_step", Literals: []string{" train_time:", ", episodic_return=", "). Total num frames: "},
		Expr: `^step:(?<step>\d{1,9})/\d{1,9} (?:\w{1,40}:\S{1,40} ){0,8}train_time:\d|^global_step=(?<step>\d{1,12}), episodic_return=` +
			`|\bFps is \(.{1,200}\)\. Total num frames: (?<step>\d{1,12})\.`,
		Marker: "step", Common: true, Source: "modded-nanogpt 2024-2026, train_gpt.py; CleanRL 1-2, ppo.py and others; Sample Factory 1-2, algo/runners/runner.py",
		Match: []pattern.Sample{
			{Line: "step:889/1770 train_time:84632ms step_avg:95.24ms", Want: parser.Fields{"step": "889"}},
			{Line: "Fps is (10 sec: 50618.5, 60 sec: 48002.7, 300 sec: 49215.2). Total num frames: 231453. Throughput: 0: 11561.1. Samples: 12500", Want: parser.Fields{"step": "231453"}},
			{Line: "global_step=24576, episodic_return=[228.0]", Want: parser.Fields{"step": "24576"}},
		},
	}, pattern.Pattern{
		Name:     "script.loss",
		Literals: []string{" loss: ", " loss = ", " Loss: ", "train_loss", "train loss", "Train Loss", "ms, mfu "},
		Expr: `(?i)^(?!.{0,200}\b(?:val(?:id(?:ation)?)?|eval|test)[_ /]?loss\b)(?!.{0,200}\d%\|)(?:.{0,60}[\s\[(|])?(?:global[_ ])?(?:step|iter|iteration|batch|update)s?[ \[:=#|]{1,4}\d{1,9}\b(?!%)` +
			`.{0,160}?\b(?:train[_ ]?|lm )?loss[ :=|]{1,3}\d`,
		Marker: "phase", Set: parser.Fields{"phase": "training", "edge": "point", "label": "loss"}, Source: "scripts that print the loss of a step, nanoGPT among them",
		Match: lines(
			"iter 10: loss 9.1034, time 300.12ms, mfu 30.00%", "step 120 | loss: 2.31 | lr 1e-4", "Iteration 120, loss = 2.31", "Epoch [1/10], Step [100/500], Loss: 0.1234", "[step 120] train_loss=2.31",
		),
		NoMatch: []string{"step 0: val loss 10.97", "using step loss: cross_entropy", "batch 8 is too large, no loss yet", "Epoch 3: val_loss=0.3"},
	})
}
