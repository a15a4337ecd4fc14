package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// datasetBar is the description of a bar that the datasets library draws (arrow_dataset.py, builder.py), and of those that trainers give it.
const datasetBar = `(?:Tokenizing|Map|Filter|Filtering|Truncating|Packing|Converting|Applying|Adding EOS|Extracting prompt|Running tokenizer|Generating|Grouping)\b[^|\n]{0,100}:\s{1,4}`

// huggingFaceMarkers are those of transformers, datasets, accelerate and of everything built on them. A bar is matched
// at 0 % only: it marks the beginning and is not redrawn.
func huggingFaceMarkers() []pattern.Pattern {
	const src = "transformers 4.x-5.x, trainer.py, modeling_utils.py; datasets, arrow_dataset.py"
	stage := markers{kind: "phase", source: src}
	return []pattern.Pattern{
		stage.line("trainer.load_weights", point("init", "weights"), `Loading (?:(?:safetensors |pt )?checkpoint shards|pipeline components\.\.\.|weights):\s{1,4}\d{1,2}%(?:\|| Completed)`,
			[]string{"checkpoint shards: ", "Loading pipeline components...: ", "Loading weights: "},
			"Loading checkpoint shards:   0%|          | 0/17 [00:00<00:51,  2.90s/it]", "Loading safetensors checkpoint shards:   0% Completed | 0/4 [00:00<00:04,  1.18it/s]",
			"Loading pipeline components...:  57%|#####7    | 4/7 [00:30<00:20,  6.81s/it]", "Loading checkpoint shards:  43%|####3     | 13/30 [02:08<02:40,  9.1s/it]",
			"Loading weights:  38%|###7      | 74/197 [00:02<00:04, 27.1it/s, Materializing param=model.norm.weight]"),
		markers{kind: "phase", source: "LitGPT, generate/base.py, chat/base.py"}.line("litgpt.load_weights", point("init", "weights"), `^Loading model '[^']{1,400}' with \{'`, []string{"Loading model '"},
			"Loading model 'checkpoints/meta-llama/Llama-2-70b-hf/lit_model.pth' with {'org': 'meta-llama', 'name': 'Llama-2-70b-hf', 'block_size': 4096}"),
		{
			Name:     "trainer.loads_model",
			Literals: []string{"Loading the model using model_dir: ", "loading weights file "},
			Expr:     `(?:Loading the model using model_dir: (?<model>\S{1,400}?)/?\s*$|\bloading weights file (?<model>\S{1,400}?)/[\w.-]{1,60}\.(?:bin|index\.json|safetensors)\b)`,
			Gauge:    true, Source: "ms-swift 2-3, safe_snapshot_download; transformers 2.2-5, modeling_utils.py: which of a program's models is read",
			Match: []pattern.Sample{
				{Line: "[INFO:swift] Loading the model using model_dir: /data/models/Llama-3.1-70B-Instruct", Want: parser.Fields{"model": "/data/models/Llama-3.1-70B-Instruct"}},
				{Line: "[INFO|modeling_utils.py:3979] 2025-03-31 14:10:23,470 >> loading weights file /models/Qwen2.5-7B-Instruct/model.safetensors.index.json", Want: parser.Fields{"model": "/models/Qwen2.5-7B-Instruct"}},
			},
			NoMatch: []string{"loading weights file model.safetensors.index.json"},
		},
		{
			// Qwen's processors print patches of 14 or 16 pixels, two frames in three colors: of all images, or of each.
			Name:     "qwen.patches",
			Literals: []string{"pixel_values': ", "pixel_values torch.Size(", "pixel_values: torch.Size("},
			Expr:     `\bpixel_values(?:': |:? )(?:torch\.Size\()?[(\[](?:(?<count>\d{1,4}), )?(?<patches>\d{2,7}), (?<size>1176|1536)[)\]]`,
			Gauge:    true, Source: "scripts that print the shapes of what Qwen2VLProcessor and those after it return (transformers, models/qwen2_vl)",
			Match: []pattern.Sample{
				{Line: "{'input_ids': (15, 764), 'pixel_values': (15, 2976, 1176), 'image_grid_thw': (15, 3)}", Want: parser.Fields{"count": "15", "patches": "2976", "size": "1176"}},
				{Line: "pixel_values torch.Size([14308, 1176])", Want: parser.Fields{"patches": "14308", "size": "1176"}},
			},
			NoMatch: []string{"'pixel_values': (4, 3, 512, 512)", "{'pixel_values': tensor([[0.1]])}"},
		},
		{
			Name:     "trainer.dataset_processes",
			Literals: []string{" (num_proc="},
			Expr:     `^[A-Z][^|]{2,80} \(num_proc=(?<count>\d{1,4})\):`,
			Gauge:    true, Tells: map[string]string{"num_proc": "count"}, Source: src,
			Match: []pattern.Sample{
				{Line: "Running tokenizer on dataset (num_proc=64):  40%|####      | 400000/1000000 [01:00<01:30, 6666.67 examples/s]", Want: parser.Fields{"count": "64"}},
				{Line: `Unsloth: Tokenizing ["text"] (num_proc=20):   6%|6         | 60000/1000000 [00:20<04:30, 3466.67 examples/s]`, Want: parser.Fields{"count": "20"}},
			},
			NoMatch: []string{"dataset.map(tokenize, num_proc=64)"},
		},
		{
			Name:     "llamafactory.recomputes",
			Literals: []string{"Gradient checkpointing enabled."},
			Expr:     `\bGradient checkpointing enabled\.$`,
			Gauge:    true, Source: "LLaMA-Factory since October 2023, model/model_utils/checkpointing.py",
			Match: lines("07/02/2024 11:05:20 - INFO - llamafactory.model.model_utils.checkpointing - Gradient checkpointing enabled."),
		},
		{
			Name:     "lightning.mixed",
			Literals: []string{" Automatic Mixed Precision (AMP)", "Using native 16bit precision."},
			Expr:     `^Using (?:(?:16bit|bfloat16|bf16) (?<native>native |Native |None )?Automatic Mixed Precision \(AMP\)|native 16bit precision\.)`,
			Gauge:    true, Source: "Lightning 1.3-2.6, trainer/connectors/accelerator_connector.py",
			Match: append(lines("Using 16bit Automatic Mixed Precision (AMP)", "Using bfloat16 Automatic Mixed Precision (AMP)", "Using native 16bit precision."),
				pattern.Sample{Line: "Using 16bit native Automatic Mixed Precision (AMP)", Want: parser.Fields{"native": "native "}}),
			NoMatch: []string{"FSDPPlugin does not support Automatic Mixed Precision (AMP)"},
		},
		{
			Name:     "unsloth.offloads",
			Literals: []string{"Unsloth: Will smartly offload gradients to save VRAM!"},
			Expr:     `^Unsloth: Will smartly offload gradients to save VRAM!`,
			Gauge:    true, Source: "unsloth_zoo/gradient_checkpointing.py: use_gradient_checkpointing is \"unsloth\"",
			Match: lines("Unsloth: Will smartly offload gradients to save VRAM!"),
		},
		{
			// The share that standby mode takes, whatever the script asks for.
			Name:     "unsloth.standby",
			Literals: []string{"Unsloth: Standby mode is enabled. "},
			Expr:     "Unsloth: Standby mode is enabled\\. Changing `gpu_memory_utilization` to (?<fraction>0\\.\\d{1,20})",
			Gauge:    true, Source: "unsloth_zoo 2025-2026, vllm_utils.py, load_vllm",
			Match:   []pattern.Sample{{Line: "Unsloth: Standby mode is enabled. Changing `gpu_memory_utilization` to 0.875.", Want: parser.Fields{"fraction": "0.875"}}},
			NoMatch: []string{"Unsloth: vLLM loading unsloth/Qwen3-4B-Base with actual GPU utilization = 71.34%"},
		},
		{
			Name:     "lmeval.batch",
			Literals: []string{"Determined largest batch size: "},
			Expr:     `Determined largest batch size: (?<count>\d{1,6})`,
			Gauge:    true, Source: "lm-evaluation-harness, lm_eval/models/huggingface.py, with --batch_size auto",
			Match: []pattern.Sample{{Line: "Determined largest batch size: 64", Want: parser.Fields{"count": "64"}}},
		},
		stage.line("trainer.datasets", opens("data", "dataset"), datasetBar+`(?:0%|\d{1,2}%\|.{0,200} examples/s\])`,
			[]string{":   0%|   ", " examples/s]"}, "Tokenizing train dataset (num_proc=64):   0%|          | 0/1143205 [00:00<05:00, 3329.67 examples/s]",
			"Map:   0%|          | 0/1000 [00:00<?, ? examples/s]", "Filter (num_proc=64):  12%|#1        | 12000/100000 [00:10<05:00, 300.00 examples/s]"),
		stage.line("trainer.datasets_done", closes("data", "dataset"), datasetBar+`100%\|.{0,200} examples/s\]`,
			[]string{" examples/s]"}, "Map: 100%|##########| 49401/49401 [00:19<00:00, 2519.70 examples/s]"),
		stage.line("trainer.dataset_split", point("data", "dataset"), datasetBar+`\d{1,12} examples \[`,
			[]string{" examples/s]"}, "Generating train split: 120000 examples [00:30, 4000.00 examples/s]"),
		markers{kind: "phase", source: "transformers 3.x-5.x, trainer_callback.py: the metrics of some steps"}.line("trainer.loss", point("training", "loss"),
			`^\s{0,4}\{'loss': .{0,1000}'epoch': `, []string{"{'loss': "}, "{'loss': 0.9234, 'learning_rate': 0.0001, 'epoch': 1.38}",
			"{'loss': '0.9234', 'grad_norm': '1.25', 'learning_rate': '1e-05', 'epoch': '1.38'}"),
		stage.line("trainer.train", parser.Fields{"phase": "training", "edge": "point", "label": "train", "starts": "trainer"}, `\*\*\*\*\* Running training \*\*\*\*\*`,
			[]string{"***** Running training *****"}, "***** Running training *****"),
		markers{kind: "phase", source: "transformers 4.x-5.x, generation/utils.py: at each call without a padding token", common: true}.line("transformers.generate",
			point("rollout", "generate"), "Setting `pad_token_id` to `eos_token_id`: ?\\[?\\d", []string{"Setting `pad_token_id` to `eos_token_id`"},
			"Setting `pad_token_id` to `eos_token_id`:128001 for open-end generation.", "Setting `pad_token_id` to `eos_token_id`:50256 for open-end generation."),
		markers{kind: "phase", source: "timm, benchmark.py"}.line("timm.train_benchmark", point("training", "train benchmark"), `Running train benchmark on `,
			[]string{"Running train benchmark on "}, "Running train benchmark on maxvit_base_tf_512 for 40 steps w/ input size (3, 512, 512) and batch size 256."),
		markers{kind: "phase", source: "timm, benchmark.py"}.line("timm.inference_benchmark", point("forward", "inference benchmark"), `Running inference benchmark on `,
			[]string{"Running inference benchmark on "},
			"Running inference benchmark on vit_large_patch14_clip_336 for 40 steps w/ input size (3, 336, 336) and batch size 256."),
		stage.line("trainer.evaluate", point("forward", "evaluate"), `\*\*\*\*\* Running (?:[Ee]valuation|Prediction) \*\*\*\*\*`,
			[]string{"***** Running E", "***** Running e", "***** Running Prediction"}, "***** Running Evaluation *****"),
		markers{kind: "phase", source: "accelerate 0.x-1.x, accelerator.py, load_state"}.line("accelerate.load", point("checkpoint", "load"),
			`\bLoading states from \S`, []string{"Loading states from "}, "03/15/2023 09:14:31 - INFO - accelerate.accelerator - Loading states from out/step_42000"),
		markers{kind: "phase", source: "Lightning 1.x-2.x, trainer/connectors/checkpoint_connector.py"}.line("lightning.restore", opens("checkpoint", "load"),
			`\bRestoring states from the checkpoint path at \S`, []string{"Restoring states from the checkpoint path at "}, "Restoring states from the checkpoint path at /out/epoch=0-step=12000.ckpt"),
		markers{kind: "phase", source: "Lightning 1.x-2.x, trainer/connectors/checkpoint_connector.py"}.line("lightning.restored", closes("checkpoint", "load"),
			`\b(?:Restored all states|Loaded model weights) from (?:the )?checkpoint (?:file )?at \S`, []string{"Restored all states from ", "Loaded model weights from "},
			"Restored all states from the checkpoint at /out/epoch=0-step=12000.ckpt", "Restored all states from the checkpoint file at /out/last.ckpt", "Loaded model weights from the checkpoint at /out/last.ckpt"),
		markers{kind: "phase", source: "pytorch/examples, imagenet/main.py, and scripts after it"}.line("script.load_checkpoint", opens("checkpoint", "load"),
			`^(?:\[?rank ?\d{1,5}\]?:? )?(?:=> )?[Ll]oading checkpoint (?:from )?(?=\S*[/.]\S)(?!.{0,400} at iteration \d)`, []string{"oading checkpoint "},
			"=> loading checkpoint 'out/checkpoint_041.pth.tar'", "Loading checkpoint from /ckpt/step_12000.pt", "rank 3: => loading checkpoint 'last.pth'"),
		markers{kind: "phase", source: "pytorch/examples, imagenet/main.py, and scripts after it"}.line("script.loaded_checkpoint", closes("checkpoint", "load"),
			`=> loaded checkpoint '`, []string{"=> loaded checkpoint '"}, "=> loaded checkpoint 'out/checkpoint_041.pth.tar' (epoch 41)"),
		markers{kind: "phase", source: src + "; accelerate; DeepSpeed, utils/zero_to_fp32.py among it"}.line("trainer.save", point("checkpoint", "save"),
			`(?:Saving model checkpoint to|Saving current state to|\[Torch\] Saving |Saving Optimizer state to|Processing zero checkpoint ')`,
			[]string{"Saving model checkpoint to", "Saving current state to", "[Torch] Saving ", "Saving Optimizer state to", "Processing zero checkpoint '"},
			"Saving model checkpoint to /out/checkpoint-500", "Saving Optimizer state to out/optimizer.bin", "Processing zero checkpoint 'out/global_step500'"),
		{
			Name:     "script.resumed",
			Literals: []string{"Resuming training from ", "Resuming from ", "=> loading checkpoint", "Loading snapshot", "Resume checkpoint ", "Resumed from ", "resume from checkpoint "},
			Expr:     `^(?:\[[^\]]{1,40}\] ?)?(?:Resuming (?:training )?from (?:snapshot|checkpoint|epoch|step|\S{0,200}\.(?:pth?|tar|ckpt)\b)|=> loading checkpoint ['"]|Loading snapshot\s*$|Resumed? (?:from )?checkpoint |Resumed from \S{1,200}\.(?:pth?|tar|ckpt)\b|[Rr]esume from checkpoint )`,
			Gauge:    true, Source: "PyTorch's examples (ddp-tutorial-series/multigpu_torchrun.py, imagenet/main.py), MAE, Swin and scripts like them: torch.load follows",
			Match:   lines("Resuming training from snapshot at Epoch 3", "=> loading checkpoint 'model_best.pth.tar'", "Loading snapshot", "[08:12:57.219458] Resume checkpoint ./out/vitb/checkpoint-89.pth"),
			NoMatch: []string{"Resuming from suspend", "Loading snapshot of the dataset"},
		},
		{
			Name:     "hf.float32",
			Literals: []string{" model under default dtype torch.float32", " is torch.float32. You should run training or inference using Automatic Mixed-Precision"},
			Expr:     `\bInstantiating (?<model>\w{1,100}) model under default dtype torch\.float32\b|\bFlash ?Attention ?2 only supports .{1,80}, but the current dy?t?ype in (?<model>\w{1,100}) is torch\.float32\.`,
			Gauge:    true, Source: "transformers 4.2x-5.x, modeling_utils.py: at level INFO, and where FlashAttention is asked for",
			Match: []pattern.Sample{
				{Line: "[INFO|modeling_utils.py:2347] 2025-12-15 10:03:01,605 >> Instantiating Qwen3ForCausalLM model under default dtype torch.float32.", Want: parser.Fields{"model": "Qwen3ForCausalLM"}},
				{Line: "Flash Attention 2 only supports torch.float16 and torch.bfloat16 dtypes, but the current dype in Qwen3ForCausalLM is torch.float32. You should run training or inference using Automatic Mixed-Precision via the `with torch.autocast(device_type='torch_device'):` decorator", Want: parser.Fields{"model": "Qwen3ForCausalLM"}},
			},
			NoMatch: []string{"Instantiating Qwen3ForCausalLM model under default dtype torch.bfloat16."},
		},
		{
			Name:     "hf.sixteen_bits",
			Literals: []string{" model under default dtype torch.bfloat16", " model under default dtype torch.float16"},
			Expr:     `\bInstantiating (?<model>\w{1,100}) model under default dtype torch\.b?float16\b`,
			Gauge:    true, Source: "transformers 4.2x-5.x, modeling_utils.py, at level INFO",
			Match: []pattern.Sample{
				{Line: "[INFO|modeling_utils.py:2397] 2025-08-26 07:40:21,703 >> Instantiating LlamaForCausalLM model under default dtype torch.bfloat16.", Want: parser.Fields{"model": "LlamaForCausalLM"}},
			},
			NoMatch: []string{"Instantiating Qwen3ForCausalLM model under default dtype torch.float32."},
		},
		{
			Name:     "torch.weights_sixteen_bits",
			Literals: []string{"eight precision: torch.", "eight dtype: torch.", "eight dtype torch.", "type of weight: torch."},
			Expr:     `(?:\b[Ww]eight (?:precision:|dtype:?)|\b[Dd]type of weight:) torch\.b?float16\b`,
			Gauge:    true, Source: "musubi-tuner, musubi_tuner/hv_train_network.py and utils/lora_utils.py; ComfyUI, comfy/model_base.py",
			Match: []pattern.Sample{
				{Line: "INFO:musubi_tuner.hv_train_network:DiT precision: torch.bfloat16, weight precision: torch.bfloat16"},
				{Line: "INFO:musubi_tuner.utils.lora_utils:Loading state dict without FP8 optimization. Dtype of weight: torch.bfloat16, hook enabled: False"},
				{Line: "model weight dtype torch.float16, manual cast: None"},
			},
			NoMatch: []string{"INFO:musubi_tuner.hv_train_network:DiT precision: torch.bfloat16, weight precision: torch.float32", "model weight dtype torch.float8_e4m3fn, manual cast: torch.bfloat16"},
		},
		{
			Name:     "musubi.swap",
			Literals: []string{"Block swap enabled. Swapping "},
			Expr:     `\bBlock swap enabled\. Swapping (?<count>\d{1,4}) blocks out of (?<all>\d{1,4}) blocks\.`,
			Gauge:    true, Source: "musubi-tuner, musubi_tuner/wan/modules/model.py and the models beside it",
			Match: []pattern.Sample{
				{Line: "WanModel: Block swap enabled. Swapping 20 blocks out of 40 blocks. Supports backward: True", Want: parser.Fields{"count": "20", "all": "40"}},
			},
		},
		{
			Name:     "accelerate.precision",
			Literals: []string{"Mixed precision type: "},
			Expr:     `^Mixed precision type: (?<precision>no|fp16|bf16|fp8)$`,
			Gauge:    true, Source: "accelerate 0.1-1.x, state.py, which scripts of diffusers print",
			Match: []pattern.Sample{{Line: "Mixed precision type: no", Want: parser.Fields{"precision": "no"}}},
		},
		{
			// A script may train several models one after the other.
			Name:     "trainer.one_trained",
			Literals: []string{"{'train_runtime': ", "`Trainer.fit` stopped: `"},
			Expr:     "^\\s{0,4}\\{'train_runtime': |^`Trainer\\.fit` stopped: `max_(?:epochs|steps|time)=",
			Gauge:    true, Source: "transformers 4.x-5.x, trainer.py; Lightning, trainer/trainer.py", Also: []string{"trainer.trained"},
			Match: lines(
				"{'train_runtime': 4121.0221, 'train_samples_per_second': 11.648, 'train_steps_per_second': 0.182, 'train_loss': 1.4127, 'epoch': 3.0}",
				"`Trainer.fit` stopped: `max_epochs=1` reached.",
			),
			NoMatch: []string{"{'eval_runtime': 12.1, 'epoch': 1.0}"},
		},
		{
			Name: "trainer.trained",
			Literals: []string{
				"{'train_runtime': ", "Training Completed!!! Saving", "Training completed", "`Trainer.fit` stopped: `", "[after training is done] ", "Training completes! Total time elapsed", "Training done!",
				"raining complete in ", "Training time", " epochs completed in ", "done training in ", " reached, ", " reached. ", " reached; ",
			},
			Requires: []string{"rain", "epoch", "ax_", "ax "},
			Expr: `^\s{0,4}\{'train_runtime': |\bTraining completed\. Do not forget to share your model|\bTraining Completed!!! Saving (?:pre-)?trained model` +
				"|^Training (?:completed|done!)$|^`Trainer\\.fit` stopped: `max_(?:epochs|steps|time)=|^ ?\\[after training is done\\] |\\bTraining completes! Total time elapsed" +
				`|^[Tt]raining complete in \d{1,5}m \d{1,2}s$|^Training time:? (?:\d{1,3} days?, )?\d{1,2}:\d\d:\d\d$|^\d{1,6} epochs completed in \d[\d.]{0,8} hours\.$|^done training in \d[\d.]{0,12} seconds$` +
				`|^[Mm]ax[_ ](?:iter(?:ation)?|step|epoch|update)s? (?:\(?\d{1,9}\)? )?reached[,.;] (?:training )?(?:done|finished|completed?|stopp(?:ing|ed))\b`,
			Marker: "trained", Source: "transformers 4.x-5.x, trainer.py; axolotl, train.py; TorchTitan, train.py; Lightning, trainer/trainer.py; Megatron-LM, training.py; AReaL, trainer; SkyRL, trainer.py; " +
				"PyTorch's tutorials, transfer_learning_tutorial.py; torchvision's references, DeiT and MAE, main_pretrain.py; YOLOv5-YOLO11, engine/trainer.py; fairseq, fairseq_cli/train.py; scripts",
			Match: lines(
				"{'train_runtime': 4121.0221, 'train_samples_per_second': 11.648, 'train_steps_per_second': 0.182, 'train_loss': 1.4127, 'epoch': 3.0}",
				"{'train_runtime': '4121', 'train_samples_per_second': '11.65', 'train_loss': '1.413', 'epoch': '3'}",
				"Training completed. Do not forget to share your model on huggingface.co/models =)",
				"Training Completed!!! Saving pre-trained model to ./out",
				"`Trainer.fit` stopped: `max_epochs=1` reached.",
				" [after training is done] datetime: 2025-06-01 12:00:00 ",
				"Training completes! Total time elapsed 3301.2 s.",
				"Training completed", "Training done!",
				"Training complete in 12m 3s", "Training time 1 day, 2:03:44", "Training time: 0:41:07", "300 epochs completed in 6.120 hours.", "done training in 4121.4 seconds",
				"max_iters reached, done in 6822.1 s", "Max steps (5000) reached, stopping.",
			),
			NoMatch: []string{
				"[ASYNC MAIN] Training completed or interrupted", "{'eval_runtime': 12.1, 'epoch': 1.0}", "Training completed in 12 s for trial 4",
				"Training complete.", "Training time: 3.2 ms per step", "Agent stopped: max_iters reached.", "max_iters reached before it converged", "max_retries reached, stopping",
			},
		},
		{
			Name:     "trainer.saving",
			Literals: []string{"aving checkpoint to ", "aving checkpoint /", "saving checkpoint: ", "aving a checkpoint to ", "aving training state to ", "--> optim state call on rank ", "  done w model state_dict"},
			Expr: `^(?: {4,40}INFO {1,8}|\[[Rr]ank ?\d{1,5}\] )?(?:[Ss]tep \d{1,9}: )?[Ss]aving (?:(?:a )?checkpoint (?:to \S{0,400})?/|checkpoint: \S{1,400}\.(?:safetensors|ckpt|pt)\b|training state to \S{0,400}/)` +
				`|^(?:--> )?(?:optim state call on rank \d|saving process: rank \d{1,6}  done w model state_dict)`, // llama-recipes, model_checkpointing/checkpoint_handler.py
			Marker: "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "point", "label": "save"}, Source: "trainers of users; sd-scripts and musubi-tuner",
			Match:   lines("saving checkpoint to /out/step_20", "saving checkpoint: /train/out/x-000002.safetensors", "                    INFO     saving checkpoint: /out/x.safetensors         train_util.py:5889", "Saving a checkpoint to ./ckpt", "Saving training state to runs/1/state", "[rank0] step 500: saving checkpoint /out/step=500.ckpt", "saving process: rank 0  done w model state_dict", "--> optim state call on rank 0"),
			NoMatch: []string{"Saving checkpoint to disk is disabled", "Saving checkpoint took 61.20 secs", "It is saving checkpoint to /out each time", "saving checkpoint: disabled"},
		},
		markers{kind: "phase", source: "PyTorch Lightning 1.x-2.x, callbacks/progress"}.line("trainer.lightning_sanity", point("forward", "sanity check"),
			`Sanity Checking(?: DataLoader \d{1,3})?:\s{1,4}0%`, []string{"Sanity Checking"}, "Sanity Checking DataLoader 0:   0%|          | 0/2 [00:00<?, ?it/s]"),
	}
}
