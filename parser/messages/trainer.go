package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// trainerRecoveries are failures that a trainer caught, in the words of several trainers.
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
			// The loop of a process that is started again says more before it does this.
			Name:  "trainer.batch_found",
			After: []string{"torch.oom.paren", "torch.oom.of_which", "torch.oom.class", "torch.oom.cut"}, Within: 4,
			Expr: `^Currently training with a batch size of: (?<count>\d{1,9})$`,
			Kind: parser.Recovered, Role: parser.Context,
			Source:  "transformers 4.x-5.x, trainer.py, with auto_find_batch_size",
			Match:   []pattern.Sample{{Line: "Currently training with a batch size of: 14", Want: parser.Fields{"count": "14"}}},
			NoMatch: []string{"  Instantaneous batch size per device = 14"},
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
			Match: lines(
				"CUDA out of memory detected. Train microbatch size will be decreased from 16 -> 8.",
				"CUDA out of memory detected. Gradient Accumulation increased from 1 -> 2, and the batch will be retrained.",
			),
			NoMatch: []string{"CUDA out of memory detected. Aborting."},
		},
		{
			// The exception itself is not printed.
			Name:     "trainer.fell_back",
			Literals: []string{"etrying with tiled ", " to CPU due to CUDA OOM"},
			Expr:     `^(?:Warning: )?Ran out of memory when [^,"]{1,60}, retrying with tiled |^(?:\[[\d/]{5} [\d:]{8} [\w.]{1,60}\]: )?Attempting to copy inputs of <.{1,400}> to CPU due to CUDA OOM`,
			Kind:     parser.GPUOOM, Role: parser.Evidence, Set: map[string]string{"retries": "infinite"},
			Source: "ComfyUI 0.0-0.10, comfy/sd.py; Detectron2 0.1-0.6, utils/memory.py retry_if_cuda_oom",
			Match: lines(
				"Warning: Ran out of memory when regular VAE decoding, retrying with tiled VAE decoding.",
				"[08/14 05:31:11 d2.utils.memory]: Attempting to copy inputs of <function pairwise_iou at 0x7f2148b0> to CPU due to CUDA OOM",
			),
			NoMatch: []string{
				`                logging.warning("Warning: Ran out of memory when regular VAE decoding, retrying with tiled VAE decoding.")`,
				`            logger.info("Attempting to copy inputs of {} to CPU due to CUDA OOM".format(str(func)))`,
			},
		},
		nextImage(),
		wentOn(),
		{
			Name:     "trainer.gave_up",
			Literals: []string{"OOM during training step "},
			Expr:     `^(?:\w{1,40}(?: \w{1,16}){0,3}: )?OOM during training step \d{1,3} times in a row, aborting training`,
			Kind:     parser.GPUOOM, Role: parser.Evidence, Phase: "training", Set: map[string]string{"retries": "0"},
			Source:  "ai-toolkit, jobs/process/BaseSDTrainProcess.py",
			Match:   lines("RuntimeError: OOM during training step 3 times in a row, aborting training", "Error running job: OOM during training step 3 times in a row, aborting training"),
			NoMatch: []string{`    raise RuntimeError("OOM during training step 3 times in a row, aborting training")`, "# OOM during training step, skipping batch 3/3 #"},
		},
		nextDone(),
		taskDone(),
		noMore(),
		announced(),
		fellBack(),
		fellBackBelow(),
		tallied(),
		{
			// It catches what it prints behind that: the request is lost, the server goes on.
			Name:     "trainer.caught",
			Literals: []string{"!!! Exception during processing !!!", "Error completing request", "*** Error ", "*** API error: ", "failed due to insufficient GPU memory. Falling back to "},
			Expr: `^(?:!!! Exception during processing !!!|(?:\*\*\* )?Error completing request)\s*$|^\*\*\* (?:Error (?:running|executing|calling) \w|API error: )` +
				`|^Prediction with perform_everything_on_\w{1,20}=True failed due to insufficient GPU memory\. Falling back to `,
			Kind: parser.Recovered, Role: parser.Context, Set: parser.Fields{"announces": "true"},
			Source: "ComfyUI 0.0-0.10, execution.py; Stable Diffusion WebUI 1.0-1.10 and Forge, modules/call_queue.py, errors.py; nnU-Net 1-2, inference/predict_from_raw_data.py",
			Match: lines(
				"!!! Exception during processing !!!",
				"*** Error completing request",
				"Error completing request",
				"*** Error running postprocess: /sd/extensions/x/scripts/y.py",
				"*** API error: POST: http://127.0.0.1:7860/sdapi/v1/txt2img {'error': 'OutOfMemoryError', 'detail': '', 'body': ''}",
				"Prediction with perform_everything_on_device=True failed due to insufficient GPU memory. Falling back to perform_everything_on_device=False. Not a big deal, just slower...",
			),
			NoMatch: []string{"!!! Exception during processing !!! Allocation on device", "*** Error in `python': free(): invalid pointer: 0x7f2e", "HTTP 500: Error completing request"},
		},
		{
			Name: "trainer.oom_retried",
			Literals: []string{
				"etrying after OOM", "etrying after CUDA", "ran out of memory, retrying batch",
				"ran out of memory, skipping batch", "kipping batch", "kipping this ", "OOM - batch removed", "OOM in all workers, skipping update", "Got an OOM, unloading all loaded models",
				"etrying with batch", "etrying with a ", "etrying with smaller", "etrying with reduced", "etrying with n_ctx", "etrying with max_", "batch size to", "batch_size to", ", skipping", ", retrying",
				"etermined largest batch size: ", " not fit",
			},
			Requires: []string{"OOM", "out of memory", "atch", "bs", "ctx", "max_"}, // requests are retried, too
			Expr: `(?:[Rr]etrying after (?:CUDA )?(?:OOM|out of memory)` +
				`|ran out of memory, (?:retrying|skipping) batch|[Ss]kipping batch due to (?:CUDA )?(?:OOM|out of memory)|OOM in all workers, skipping update|Got an OOM, unloading all loaded models` +
				`|\b[Ss]kipping (?:this (?:sample|step|update)|(?:this )?batch)\b.{0,160}\bout of memory` +
				`|\bOOM\b.{0,80}\b[Ss]kipping (?:this )?batch\b|\bcuda OOM - batch removed` +
				`|\bout of memory\b.{0,1500}\b[Ss]kipping (?:this (?:sample|step|update)|(?:this )?batch)\b` +
				`|\bOOM (?:on|in|at|for|during) (?:\w{1,16} )?(?:batch|step|sample)(?: \d{1,9})?, (?:skipping|retrying)` +
				`|[Rr]etrying with (?:a )?(?:smaller |reduced )?(?:(?:micro[- ]?)?batch[ _-]?size|(?:n_ctx|max_model_len|max_seq_len(?:gth)?) ?[=:] ?\d)` +
				`|^(?:(?:[Mm]icro[ _-]?)?[Bb]atch[ _-]?size|(?:micro_?)?bs)(?:[:=]| of)? ?\d{1,9} {1,4}(?:does|did) not fit(?:[,;:.] ?|,? (?:so|and) )(?:trying|retrying|skipping|moving on|going on|(?:on to )?(?:the )?next)\b` +
				`|\b[Dd]etermined largest batch size: \d|^\s?Skipping batch\s*$` +
				`|\b(?:[Hh]alving|[Rr]educing|[Dd]ecreasing|[Ll]owering) (?:the )?(?:micro[- ]?)?batch[ _-]size to:? \d)`,
			Kind: parser.Recovered, Role: parser.Context, Also: []string{"trainer.went_on"},
			Source: "fairseq, trainer.py; accelerate, utils/memory.py find_executable_batch_size; OpenNMT-py, trainer.py; ComfyUI, execution.py (the request is lost, the server goes on); lm-eval, models/huggingface.py; common wording of user code",
			Match: lines(
				"Got an OOM, unloading all loaded models.",
				"Decreasing batch size to: 8.",
				"step 12: backward failed, skipping batch (max_len=39.8s): CUDA out of memory.",
				"OutOfMemoryError caught, halving batch size to 4 and retrying",
				"Retrying with batch size 4",
				"wrapper: retrying with n_ctx = 32768",
				" Skipping batch",
				"Determined largest batch size: 8",
				"bs=128 does not fit, next", "bs=16  does not fit, trying with flash loss",
				"Batch size 64 did not fit, trying 32",
				"batch_size=64 did not fit; skipping",
			),
			NoMatch: []string{
				"use gradient checkpointing to avoid OOM", "oom_retry=True", "try reducing the batch size to fit", "Connection reset, retrying in 5 s", "retrying with max_retries=5", "Retrying with a smaller context",
				"Setting batch_size to 8", "skipping batch 12: the loss is not finite", "loss is nan, skipping step",
				"bs=128 does not fit", "bs=128 does not fit, exiting", "batch size 128 does not fit in memory, try the next smaller one", "if batch size 64 does not fit, trying 32 may help",
				"bs=128 does not fit, giving up",
			},
		},
	}
}
