package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// trainerPatterns are the markers of trainers that several frameworks share: Hugging Face, DeepSpeed, Megatron,
// OpenRLHF, NeMo-RL, torchtitan, Lightning. Recoveries from exhausted memory are here, too.
var trainerPatterns = []table{trainerRecoveries, fairseqMarkers, huggingFaceMarkers, deepspeedPatterns, megatronPatterns, openrlhfMarkers, nemoMarkers, torchtitanPatterns, torchtunePatterns}

// trainerRecoveries are failures that a trainer caught.
func trainerRecoveries() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "trainer.autobatch",
			Literals: []string{"Using batch-size "},
			Expr:     `Using batch-size (?<count>\d{1,9}) for \w{2,8}:(?<device>\d{1,3})`,
			Kind:     parser.Recovered, Role: parser.Context,
			Source: "Ultralytics YOLOv5-YOLO11, utils/autobatch.py: the sizes that did not fit were only tried",
			Match: []pattern.Sample{{
				Line: "AutoBatch: Using batch-size 6 for CUDA:0 13.59G/22.20G (61%) ✅", Want: parser.Fields{"count": "6", "device": "0"},
			}},
			NoMatch: []string{"AutoBatch: Computing optimal batch size for imgsz=1280"},
		},
		{
			Name:     "trainer.batch_size_scaled",
			Literals: []string{" failed, trying batch size "},
			Expr:     `Batch size \d{1,9} failed, trying batch size (?<count>\d{1,9})`,
			Kind:     parser.Recovered, Role: parser.Context,
			Source: "PyTorch Lightning, tuner/batch_size_scaling.py",
			Match:  []pattern.Sample{{Line: "Batch size 64 failed, trying batch size 32", Want: parser.Fields{"count": "32"}}},
		},
		{
			// The exception itself is not printed.
			Name:     "trainer.composer_oom",
			Literals: []string{"CUDA out of memory detected. "},
			Expr:     `CUDA out of memory detected\. (?:Train microbatch size will be decreased from \d{1,9} -> \d{1,9}|Gradient Accumulation increased from \d{1,9} -> \d{1,9})`,
			Kind:     parser.GPUOOM, Role: parser.Evidence, Set: map[string]string{"retries": "infinite"},
			Source: "Composer 0.8-0.3x, composer/trainer/trainer.py, with device_train_microbatch_size=auto",
			Match: []pattern.Sample{
				{Line: "CUDA out of memory detected. Train microbatch size will be decreased from 16 -> 8.", Want: parser.Fields{"retries": "infinite"}},
				{Line: "CUDA out of memory detected. Gradient Accumulation increased from 1 -> 2, and the batch will be retrained.", Want: parser.Fields{"retries": "infinite"}},
			},
			NoMatch: []string{"CUDA out of memory detected. Aborting."},
		},
		{
			// A study goes on after a trial that failed.
			Name:     "trainer.optuna_trial",
			Literals: []string{" finished with value: "},
			Expr:     `\bTrial \d{1,9} finished with value: `,
			Kind:     parser.Recovered, Role: parser.Context,
			Source:  "Optuna 1-4, optuna/study/study.py",
			Match:   []pattern.Sample{{Line: "Trial 6 finished with value: 0.6720 and parameters: {'batch_size': 16}. Best is trial 6 with value: 0.6720.", Want: parser.Fields{}}},
			NoMatch: []string{"Trial 5 failed with value None."},
		},
		{
			Name: "trainer.oom_retried",
			Literals: []string{
				"etrying after OOM", "etrying after CUDA", "attempting to recover from OOM", "ran out of memory, retrying batch",
				"ran out of memory, skipping batch", "kipping batch", "kipping this ", "OOM - batch removed", "OOM in all workers, skipping update", "Got an OOM, unloading all loaded models",
				"etrying with batch", "etrying with a ", "etrying with smaller", "etrying with reduced", "batch size to", "batch_size to", ", skipping", ", retrying",
			},
			Requires: []string{"OOM", "out of memory", "atch"}, // requests are retried, too
			Expr: `(?:[Rr]etrying after (?:CUDA )?(?:OOM|out of memory)|attempting to recover from OOM` +
				`|ran out of memory, (?:retrying|skipping) batch|[Ss]kipping batch due to (?:CUDA )?(?:OOM|out of memory)|OOM in all workers, skipping update|Got an OOM, unloading all loaded models` +
				`|\b[Ss]kipping (?:this (?:sample|step|update)|(?:this )?batch)\b.{0,160}\bout of memory` +
				`|\bOOM\b.{0,80}\b[Ss]kipping (?:this )?batch\b|\bcuda OOM - batch removed` +
				`|\bout of memory\b.{0,1500}\b[Ss]kipping (?:this (?:sample|step|update)|(?:this )?batch)\b` +
				`|\bOOM (?:on|in|at|for|during) (?:\w{1,16} )?(?:batch|step|sample)(?: \d{1,9})?, (?:skipping|retrying)` +
				`|[Rr]etrying with (?:a )?(?:smaller |reduced )?(?:micro[- ]?)?batch[ _-]?size` +
				`|\b(?:[Hh]alving|[Rr]educing|[Dd]ecreasing|[Ll]owering) (?:the )?(?:micro[- ]?)?batch[ _-]size to:? \d)`,
			Kind: parser.Recovered, Role: parser.Context,
			Source: "fairseq, trainer.py; accelerate, utils/memory.py find_executable_batch_size; OpenNMT-py, trainer.py; ComfyUI, execution.py (the request is lost, the server goes on); common wording of user code",
			Match: []pattern.Sample{
				{Line: "Got an OOM, unloading all loaded models.", Want: parser.Fields{}},
				{Line: "OOM in all workers, skipping update", Want: parser.Fields{}},
				{Line: "| WARNING: ran out of memory, retrying batch", Want: parser.Fields{}},
				{Line: "attempting to recover from OOM in forward/backward pass", Want: parser.Fields{}},
				{Line: "Retrying after OOM (attempt 2/3)", Want: parser.Fields{}},
				{Line: "Decreasing batch size to: 8.", Want: parser.Fields{}},
				{Line: "2025-06-01 10:00:00 | WARNING | OOM on batch 17, skipping", Want: parser.Fields{}},
				{Line: "step 12: backward failed, skipping batch (max_len=39.8s): CUDA out of memory.", Want: parser.Fields{}},
				{Line: "OOM at step 12! Skipping batch.", Want: parser.Fields{}},
				{Line: "WARNING CUDA OOM Error during batch execution, skipping batch.", Want: parser.Fields{}},
				{Line: "Step 100, cuda OOM - batch removed", Want: parser.Fields{}},
				{Line: "CUDA out of memory at step 12, skipping this sample", Want: parser.Fields{}},
				{Line: "OutOfMemoryError caught, halving batch size to 4 and retrying", Want: parser.Fields{}},
				{Line: "Retrying with batch size 4", Want: parser.Fields{}},
			},
			NoMatch: []string{
				"use gradient checkpointing to avoid OOM", "oom_retry=True", "try reducing the batch size to fit", "Connection reset, retrying in 5 s",
				"Setting batch_size to 8", "skipping batch 12: the loss is not finite", "loss is nan, skipping step",
			},
		},
	}
}

// fairseqMarkers are those of fairseq's own log.
func fairseqMarkers() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "fairseq.step",
			Literals: []string{" num_updates="},
			Expr:     `^epoch \d{1,6}: {1,8}\d{1,9} / \d{1,9} .{0,400}num_updates=(?<step>\d{1,9})`,
			Marker:   "step", Common: true, Source: "fairseq 0.9-0.12, logging/progress_bar.py: the logger train_inner",
			Match: []pattern.Sample{{Line: "epoch 001:    420 / 612 loss=11.208, ppl=1103.36, wps=9906.4, ups=0.41, num_updates=420, lr=5.25e-05", Want: parser.Fields{"step": "420"}}},
		},
		{
			Name:     "fairseq.json_step",
			Literals: []string{`"num_updates": "`},
			Expr:     `^\{"epoch": .{0,600}"num_updates": "(?<step>\d{1,9})"`,
			Marker:   "step", Common: true, Source: "fairseq, metaseq with log_format json: the logger train_inner",
			Match: []pattern.Sample{{Line: `{"epoch": 1, "loss": "10.863", "ppl": "1892.50", "wps": "410381", "num_updates": "25", "lr": "4e-05", "train_wall": "52"}`, Want: parser.Fields{"step": "25"}}},
		},
	}
}

// huggingFaceMarkers are those of transformers, datasets, accelerate and of everything built on them. A bar is matched
// at 0 % only: it marks the beginning and is not redrawn.
func huggingFaceMarkers() []pattern.Pattern {
	const src = "transformers 4.x-5.x, trainer.py, modeling_utils.py; datasets, arrow_dataset.py"
	return []pattern.Pattern{
		{
			Name:     "trainer.load_weights",
			Literals: []string{"checkpoint shards:   0%"},
			Expr:     `Loading (?:safetensors |pt )?checkpoint shards:\s{1,4}0%`,
			Marker:   "phase", Set: parser.Fields{"phase": "init", "edge": "point", "label": "weights"}, Source: src,
			Match: lines(
				"Loading checkpoint shards:   0%|          | 0/17 [00:00<00:51,  2.90s/it]",
				"Loading safetensors checkpoint shards:   0% Completed | 0/4 [00:00<00:04,  1.18it/s]",
			),
		},
		{
			Name:     "trainer.datasets",
			Literals: []string{":   0%|   ", ": 0 examples"},
			Expr:     `(?:Tokenizing|Map|Filter|Filtering|Truncating|Packing|Converting|Applying|Adding EOS|Extracting prompt|Running tokenizer|Generating|Grouping)\b[^|\n]{0,100}:\s{1,4}0%`,
			Marker:   "phase", Set: parser.Fields{"phase": "data", "edge": "point", "label": "dataset"}, Source: src,
			Match: lines(
				"Tokenizing train dataset (num_proc=64):   0%|          | 0/1143205 [00:00<05:00, 3329.67 examples/s]",
				"Map:   0%|          | 0/1000 [00:00<?, ? examples/s]",
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
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "point", "label": "train"}, Source: src,
			Match: lines("***** Running training *****"),
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
			Literals: []string{"Saving model checkpoint to", "Saving current state to", "[Torch] Saving "},
			Expr:     `(?:Saving model checkpoint to|Saving current state to|\[Torch\] Saving )`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "point", "label": "save"}, Source: src + "; accelerate; DeepSpeed",
			Match: lines("Saving model checkpoint to /out/checkpoint-500"),
		},
		{
			Name:     "trainer.lightning_sanity",
			Literals: []string{"Sanity Checking"},
			Expr:     `Sanity Checking(?: DataLoader \d{1,3})?:\s{1,4}0%`,
			Marker:   "phase", Set: parser.Fields{"phase": "forward", "edge": "point", "label": "sanity check"}, Source: "PyTorch Lightning 1.x-2.x, callbacks/progress",
			Match: lines("Sanity Checking DataLoader 0:   0%|          | 0/2 [00:00<?, ?it/s]"),
		},
		{
			Name:     "trainer.lightning_epoch",
			Literals: []string{":   0%|   "},
			Expr:     `\bEpoch \d{1,6}:\s{1,4}0%`,
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "point", "label": "fit"}, Source: "PyTorch Lightning 1.x-2.x, callbacks/progress",
			Match: lines("Epoch 0:   0%|          | 0/500 [00:00<?, ?it/s]"),
		},
	}
}

// deepspeedPatterns are DeepSpeed's memory readings and set-up lines; its GB are 2^30 bytes.
func deepspeedPatterns() []pattern.Pattern {
	const src = "DeepSpeed 0.3-0.18, runtime/utils.py see_memory_usage, runtime/engine.py"
	return []pattern.Pattern{
		{
			Name:     "deepspeed.memory",
			Literals: []string{"Max_MA "},
			Expr: `\bMA (?<allocated_sz>\d+(?:\.\d+)? GB)\s{1,16}Max_MA (?<max_allocated_sz>\d+(?:\.\d+)? GB)` +
				`\s{1,16}CA (?<reserved_sz>\d+(?:\.\d+)? GB)`,
			Gauge: true, Source: src,
			Match: []pattern.Sample{{
				Line: "MA 7.75 GB         Max_MA 9.25 GB         CA 9.50 GB         Max_CA 9 GB ",
				Want: parser.Fields{"allocated": "8321499136", "max_allocated": "9932111872", "reserved": "10200547328"},
			}},
		},
		{
			// The percentage is that of the whole node.
			Name:     "deepspeed.host_memory",
			Literals: []string{"CPU Virtual Memory:"},
			Expr:     `CPU Virtual Memory:\s{1,4}used = (?<used_sz>\d+(?:\.\d+)? GB), percent = (?<percent>\d+(?:\.\d+)?)%`,
			Gauge:    true, Source: src,
			Match: []pattern.Sample{{
				Line: "CPU Virtual Memory:  used = 412.50 GB, percent = 82.1%", Want: parser.Fields{"used": "442918502400", "percent": "82.1"},
			}},
		},
		{
			Name:     "deepspeed.init",
			Literals: []string{" ZeRO stage ", "Before initializing optimizer states", "Before creating fp", "begin bf16_optimizer"},
			Expr:     `(?:Creating (?:torch\.\w{1,16}|fp16|bf16) ZeRO stage \d optimizer|Before (?:initializing optimizer states|creating fp(?:16|32) partitions)|begin bf16_optimizer)`,
			Marker:   "phase", Set: parser.Fields{"phase": "init", "edge": "point", "label": "optimizer"}, Source: src,
			Match: lines("Creating torch.bfloat16 ZeRO stage 3 optimizer", "Before initializing optimizer states"),
		},
		{
			Name:     "deepspeed.save",
			Literals: []string{" is about to be saved!"},
			Expr:     `\[Torch\] Checkpoint [^\n]{1,200} is about to be saved!`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "open", "label": "save_checkpoint"}, Source: src + "; checkpoint_engine/torch_checkpoint_engine.py",
			Match: lines("[Torch] Checkpoint global_step400 is about to be saved!"),
		},
		{
			Name:     "deepspeed.saved",
			Literals: []string{" is ready now!"},
			Expr:     `\[Torch\] Checkpoint [^\n]{1,200} is ready now!`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "close", "label": "save_checkpoint"}, Source: src + "; checkpoint_engine/torch_checkpoint_engine.py",
			Match: lines("[Torch] Checkpoint global_step400 is ready now!"),
		},
		{
			Name:     "deepspeed.step",
			Literals: []string{", skipped="},
			Expr:     `\bstep=(?<step>\d{1,9}), skipped=\d{1,9}, lr=`,
			Marker:   "step", Common: true, Source: src,
			Match: []pattern.Sample{{Line: "step=10, skipped=0, lr=[1e-06], mom=[(0.9, 0.95)]", Want: parser.Fields{"step": "10"}}},
		},
	}
}

// megatronPatterns are those of Megatron-LM and Megatron-Core.
func megatronPatterns() []pattern.Pattern {
	const src = "Megatron-LM, training/training.py, training/checkpointing.py, training/utils"
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
			Expr:     `> number of parameters on \(tensor, pipeline\) model parallel rank \(\d{1,5}, \d{1,5}\): (?<count>\d{1,16})`,
			Gauge:    true, Source: src,
			Match: []pattern.Sample{{Line: " > number of parameters on (tensor, pipeline) model parallel rank (1, 0): 4286349312", Want: parser.Fields{"count": "4286349312"}}},
		},
		{
			Name:     "megatron.init",
			Literals: []string{" model ...", "model parallel rank (", "start to load megatron"},
			Expr:     `(?:building (?:GPT|BERT|T5|\w{1,20}) model \.\.\.|number of parameters on \(tensor, pipeline\) model parallel rank|start to load megatron \w{1,16} from weights)`,
			Marker:   "phase", Set: parser.Fields{"phase": "init", "edge": "point", "label": "model"}, Source: src,
			Match: lines(
				"building GPT model ...",
				" > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 4286349312",
			),
		},
		{
			Name:     "megatron.data",
			Literals: []string{"building train, validation, and test"},
			Expr:     `building train, validation, and test datasets`,
			Marker:   "phase", Set: parser.Fields{"phase": "data", "edge": "point", "label": "dataset"}, Source: src,
			Match: lines("> building train, validation, and test datasets ..."),
		},
		{
			Name:     "megatron.train",
			Literals: []string{"[before the start of training step]"},
			Expr:     `\[before the start of training step\]`,
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "point", "label": "train"}, Source: src,
			Match: lines("[before the start of training step] datetime: 2025-06-19 03:04:10"),
		},
		{
			Name:     "megatron.save",
			Literals: []string{"saving checkpoint at iteration"},
			Expr:     `saving checkpoint at iteration`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "open", "label": "save"}, Source: src,
			Match: lines("saving checkpoint at iteration     500 to /ckpt in torch_dist format"),
		},
		{
			Name:     "megatron.saved",
			Literals: []string{"successfully saved checkpoint"},
			Expr:     `successfully saved checkpoint (?:from|at) iteration`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "close", "label": "save"}, Source: src,
			Match: lines("  successfully saved checkpoint from iteration     500 to /ckpt"),
		},
	}
}

// openrlhfMarkers are the bars of OpenRLHF, and the line its vLLM workers print for each parameter they receive.
func openrlhfMarkers() []pattern.Pattern {
	const src = "OpenRLHF 0.3-0.9, trainer/ppo_trainer.py, trainer/ray/vllm_worker_wrap.py"
	return []pattern.Pattern{
		{
			Name:     "openrlhf.train",
			Literals: []string{"]:   0%|"},
			Expr:     `Train epoch \[\d{1,6}/\d{1,6}\]:\s{1,4}0%`,
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "point", "label": "ppo_train"}, Source: src,
			Match: lines("Train epoch [1/1]:   0%|          | 0/256 [00:00<05:31,  1.35s/it, pg=-0.239]"),
		},
		{
			Name:     "openrlhf.step",
			Literals: []string{"Episode ["},
			Expr:     `Episode \[\d{1,6}/\d{1,6}\]:\s{1,4}\d{1,3}%\|[^|\n]{0,120}\|\s{0,4}(?<step>\d{1,9})/\d{1,9} \[`,
			Marker:   "step", Common: true, Source: src,
			Match: []pattern.Sample{{Line: "Episode [1/1]:   1%|          | 1/78 [09:20<11:59:11, 560.41s/it]", Want: parser.Fields{"step": "1"}}},
		},
		{
			Name:     "openrlhf.experience",
			Literals: []string{"make_experience"},
			Expr:     `make_experience:?\s{1,4}0%`,
			Marker:   "phase", Set: parser.Fields{"phase": "logprob", "edge": "point", "label": "make_experience"}, Source: src,
			Match: lines("make_experience:   0%|          | 0/16 [00:00<?, ?it/s]"),
		},
		{
			Name:     "openrlhf.update_weight",
			Literals: []string{"update weight: "},
			Expr:     `update weight: [\w.]{1,200}, dtype: `,
			Marker:   "phase", Set: parser.Fields{"phase": "weight_update", "edge": "point", "label": "update_weight"}, Source: src,
			Match: lines("update weight: model.embed_tokens.weight, dtype: torch.bfloat16, shape: torch.Size([152064, 3584])"),
		},
	}
}

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

// torchtitanPatterns are torchtitan's step line, with the peak of reserved memory, and its checkpoints.
func torchtitanPatterns() []pattern.Pattern {
	const src = "torchtitan 0.1-0.2, components/metrics.py, components/checkpoint.py"
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
		{
			Name:     "torchtitan.train",
			Literals: []string{"Training starts at step"},
			Expr:     `Training starts at step \d`,
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "point", "label": "train"}, Source: src,
			Match: lines("Training starts at step 1, with local batch size 8"),
		},
		{
			Name:     "torchtitan.save",
			Literals: []string{"Saving the checkpoint", "Saving the full checkpoint"},
			Expr:     `Saving the (?:full )?checkpoint`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "open", "label": "save"}, Source: src,
			Match: lines("Saving the checkpoint (or staging if async is enabled)."),
		},
		{
			Name:     "torchtitan.saved",
			Literals: []string{"Finished saving the checkpoint"},
			Expr:     `Finished saving the checkpoint`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "close", "label": "save"}, Source: src,
			Match: lines("Finished saving the checkpoint (or staging if async is enabled) in 4.10 seconds."),
		},
	}
}

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
