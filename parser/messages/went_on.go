package messages

import (
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/parser/pattern"
)

// wentOn matches what a program says that caught the exception: that memory ran out, and what it does instead. Many print nothing else.
// The words for the memory tell that it is a device's, or else what is skipped or tried again does. Advice and source code have other
// words before it.
func wentOn() pattern.Pattern {
	// Literals of fewer words are in too many healthy lines.
	var (
		work   = []string{"batch", "microbatch", "micro-batch", "sample", "step", "update", "iteration", "example", "sequence", "image", "video", "frame", "prompt", "config", "candidate", "chunk", "entry"}
		which  = []string{"this ", "the ", "current "}
		object = `(?:this |the |current )?(?:` + strings.Join(work, "|") + `)\b`
	)
	literals := []string{"retrying", "Retrying", "alling back to", "witching to ", "oving to ", "using CPU", "using the CPU", "batch removed", "batch size to", "batch_size to", "batchsize to", "Failed (CUDA out of memory) "}
	for _, verb := range []string{"kipping ", "kipped ", "ropping ", "ropped "} {
		for _, what := range slices.Concat(which, work) {
			literals = append(literals, verb+what)
		}
	}
	literals = slices.Concat(literals, after(",;:!.-", " skipping"), after(",;:!.-", " Skipping"))
	const (
		full  = `(?:OOM|[Oo]ut of memory)`
		sure  = `(?:(?:CUDA|GPU|HIP|ROCm|NPU|XPU|MPS|cuda|gpu)[ -](?:` + full + `|OutOfMemoryError)|[Rr]an out of (?:GPU|CUDA) memory|torch\.(?:cuda\.)?OutOfMemoryError|OOM)`
		maybe = `(?:` + sure + `|[Rr]an out of memory|` + full + `)`
		mark  = `(?:\s|[^\x00-\x7f])`
		bar   = `(?:[^"']{0,300}\d(?:it/s|s/it)(?:, [^\]"']{0,300})?\])?` // a library that prints behind a bar as it stands
		label = `^` + bar + `(?:\||!|` + mark + `){0,12}(?:# (?=.{1,200} #$))?(?:(?:\[[^\]"']{1,60}\]:?|(?:WARN(?:ING)?|[Ww]arning|ERROR|[Ee]rror|INFO)\b:?|(?:[Ss]tep|[Bb]atch|[Ee]poch|[Ii]ter(?:ation)?) \d{1,9}(?:/\d{1,9})?[,:]|[Cc]aught(?: an?)?|(?:[^\s:]{1,200}\.py:\d{1,7}: )?\w{1,40}Warning:)` + mark + `{0,8}){0,4}`
		where = `(?: [Ee]rror)?(?: (?:caught|detected|encountered))?(?: (?:in|on|at|during|for|when|while) [^"',;!:]{1,80}?)?(?:[,;:.!]{1,3}| -{1,2}) `
		off   = `(?! (?:may|might|can|could|will|would|does|is)\b)`
	)
	expr := label + `(?:` + maybe + where + `(?:(?:[Ss]kipp(?:ing|ed)|[Rr]etrying|[Dd]ropp(?:ing|ed)) ` + object + `|batch removed)` + off +
		`|` + sure + where + `(?:[Ss]kipping\W*$|[Rr]etrying` + off + `|(?:[Ff]alling back|[Ss]witching|[Mm]oving) to\b|using (?:the )?CPU\b|(?:[Rr]educing|[Hh]alving|[Dd]ecreasing|[Ll]owering) (?:the )?(?:micro[- ]?)?batch[ _]?size to:? \d)` +
		`|[Rr]etrying after (?:an? )?` + sure + off + `|[Ss]kipp(?:ing|ed) ` + object + `(?: [\w.#/-]{1,40}){0,3} due to (?:an? )?` + sure + `\b|Failed \(CUDA out of memory\) (?:on sequence \S{1,200} of length \d|to predict batch of size \d))`
	return pattern.Pattern{
		Name:     "trainer.went_on",
		Literals: literals,
		Requires: []string{"OOM", "ut of memory", "OutOfMemory", "ut of GPU memory", "ut of CUDA memory"},
		Expr:     expr,
		Kind:     parser.GPUOOM, Role: parser.Evidence, Set: map[string]string{"retries": "infinite"}, Also: []string{"veto.caught"},
		Source: "Ultralytics 8.3-8.4, utils/tal.py; ai-toolkit, jobs/process/BaseSDTrainProcess.py; fairseq 0.5-0.12, trainer.py, and Boltz, main.py, OpenNMT-py, trainer.py and others after it; ESMFold, scripts/fold.py; common wording of user code",
		Match: lines(
			"WARNING ⚠️ CUDA OutOfMemoryError in TaskAlignedAssigner, using CPU",
			"WARNING: CUDA OutOfMemoryError in TaskAlignedAssigner, using CPU",
			"# OOM during training step, skipping batch 1/3 #",
			"| WARNING: ran out of memory, skipping batch",
			"| WARNING: ran out of memory, retrying batch",
			"Predicting DataLoader 0:  17%|█▋        | 4/24 [03:55<19:36,  0.02it/s]| WARNING: ran out of memory, skipping batch",
			"Ran out of memory, skipping batch. if this happens frequently, decrease batchsize or truncate the inputs to the model.",
			"OOM in all workers, skipping update",
			"Step 100, cuda OOM - batch removed",
			"OOM on batch 17, skipping",
			"OOM at step 12! Skipping batch.",
			"WARNING CUDA OOM Error during batch execution, skipping batch.",
			"CUDA out of memory at step 12, skipping this sample",
			"[OOM Warning] Skipping batch 4 due to CUDA OOM.",
			"⚠️ Skipping batch due to OOM",
			"Skipping config due to CUDA OOM.",
			"[cuda] CUDA OOM, falling back to CPU",
			"CUDA out of memory, falling back to CPU...",
			"⚠️ GPU out of memory, switching to CPU...",
			"GPU out of memory, retrying with smaller tiles...",
			"GPU out of memory, reducing batch size to 8",
			"[ImageReward] CUDA OOM, retrying with batch size 4",
			"Caught CUDA OOM, retrying with data split into 4 parts",
			"Retrying after OOM (attempt 2/3)",
			"/w/codec.py:412: UserWarning: CUDA OOM, falling back to CPU",
			"Warning: CUDA OOM encountered. Skipping batch 17",
			"Failed (CUDA out of memory) on sequence orf_045 of length 1183.",
			"Failed (CUDA out of memory) to predict batch of size 4. Try lowering `--max-tokens-per-batch`.",
		),
		NoMatch: []string{
			`        print("CUDA OOM, falling back to CPU")`,
			`  warnings.warn("CUDA OOM, falling back to CPU")`,
			"# OOM, skipping batch",
			"- CUDA OOM, falling back to CPU",
			"On CUDA OOM, retrying with a smaller batch",
			"If you run out of memory, skipping batches does not help",
			"CUDA out of memory, reducing the batch size may help",
			"CUDA out of memory, retrying will not help",
			"GPU out of memory, exiting", "Failed (CUDA out of memory) on rank 3",
			"skipping batch 12: the loss is not finite",
			"Caught OutOfMemoryError, skipping record.",
			"SKIPPED [1] tests/test_x.py:12: Skipping due to OOM",
		},
	}
}

// nextDone matches what a program says that does one thing after another, and goes on when one of them fails: that another one is done, or
// for W&B's agent, that it begins.
func nextDone() pattern.Pattern {
	return pattern.Pattern{
		Name: "trainer.next_done",
		Literals: []string{
			" finished with value: ", " completed after ", "Agent Starting Run: ", "= Validation score ", "inished in state Completed(", ": Job OK (", "] succeeded in ",
			"some_fits_failed_message, FitFailedWarning)",
		},
		Expr: `\bTrial \d{1,9} finished with value: |^Trial [\w.-]{1,200} completed after \d{1,9} iterations at |^Agent Starting Run: \w{1,64} with config:` +
			`|^\s{0,16}-?\d[\d.e+-]{0,24}\s{1,16}= Validation score |\b[Ff]inished in state Completed\(|: Job OK \([\w:.-]{1,200}\)|\bTask [\w.]{1,200}\[[\w-]{1,64}\] succeeded in \d[\d.]{0,16}s` +
			`|^\s{0,8}warnings\.warn\(some_fits_failed_message, FitFailedWarning\)`,
		Kind: parser.Recovered, Role: parser.Context,
		Source: "Optuna 1-4, optuna/study/study.py; Ray Tune 2.5-2.4x, tune/experimental/output.py; wandb 0.10-0.2x, agents/pyagent.py, wandb_agent.py; AutoGluon 0.1-1.x, core/trainer/abstract_trainer.py; " +
			"Prefect 2-3, engine.py, flow_engine.py; RQ 1-2, rq/worker.py; Celery 4-5, app/trace.py; scikit-learn 1.x, model_selection/_validation.py",
		Match: lines(
			"Trial 6 finished with value: 0.6720 and parameters: {'batch_size': 16}. Best is trial 6 with value: 0.6720.",
			"Trial train_fn_cadb3_00001 completed after 10 iterations at 2023-08-23 11:26:19. Total running time: 38s",
			"Agent Starting Run: q6m2wgj7 with config:",
			"\t0.8711\t = Validation score   (roc_auc)",
			"\t-512.3\t = Validation score   (-root_mean_squared_error)",
			"Task run 'embed-2' - Finished in state Completed()",
			"Flow run 'teal-otter' - Finished in state Completed('All states completed.')",
			"enrichment-jobs: Job OK (741cba7e-5d61-4d01-904f-fdd1731f6af2)",
			"Task app.predict[2b2c-11] succeeded in 1.25s: '/out/1.png'",
			"  warnings.warn(some_fits_failed_message, FitFailedWarning)",
		),
		NoMatch: []string{
			"Trial 5 failed with value None.", "Trial train_fn_cadb3_00002 errored after 0 iterations at 2023-08-23 11:26:19. Total running time: 31s", "Number of errored trials: 1",
			`            wandb.termlog(f"Agent Starting Run: {run_id} with config:")`, "Task run 'embed-2' - Finished in state Failed('Task run encountered an exception')",
			"Task app.predict[2b2c-11] received",
			"Task app.predict[2b2c-11] retry: Retry in 10s: OutOfMemoryError()",
		},
	}
}

// taskDone matches what a scheduler says of a task that ended well. Where the task is a list of commands, that is the status of the last one: of a
// program that died before it, this says nothing.
func taskDone() pattern.Pattern {
	return pattern.Pattern{
		Name: "trainer.task_done", Literals: []string{"Marking task as SUCCESS"}, Expr: `\bMarking task as SUCCESS\b`,
		Kind: parser.Recovered, Role: parser.Context, Set: parser.Fields{"status": "true"}, Source: "Airflow 1.10-2.x, models/taskinstance.py",
		Match:   lines("Marking task as SUCCESS. dag_id=train, task_id=fit, execution_date=20240501T000000, start_date=20240501T000001, end_date=20240501T010000"),
		NoMatch: []string{"Marking task as UP_FOR_RETRY. dag_id=train, task_id=fit"},
	}
}

// noMore matches what such a program says when it goes on no more.
func noMore() pattern.Pattern {
	return pattern.Pattern{
		Name:     "trainer.no_more",
		Literals: []string{" failed runs in ", "Trials did not complete: [", "inished in state Failed(", "inished in state Crashed("},
		Expr: `^(?:ERROR )?Detected \d{1,6} failed runs in (?:the first \d{1,6} seconds|a row)\b|\bTrials did not complete: \[` +
			`|^(?:Flow run '[^']{1,100}' - )?[Ff]inished in state (?:Failed|Crashed)\(["'](?:Flow run|\d{1,9}/\d{1,9} states)`,
		Kind: parser.ProcessExit, Role: parser.Consequence, GaveUp: true,
		Source: "wandb 0.10-0.2x, agents/pyagent.py, wandb_agent.py; Ray Tune 1.x-2.x, tune/tune.py; Prefect 2-3, flow_engine.py",
		Match: lines(
			"Detected 3 failed runs in the first 60 seconds, killing sweep.",
			"ERROR Detected 5 failed runs in a row, shutting down.",
			"Trials did not complete: [TorchTrainer_cb091_00000, TorchTrainer_cb091_00001]",
			"Flow run 'teal-otter' - Finished in state Failed(\"Flow run encountered an exception: OutOfMemoryError: CUDA out of memory.\")",
			"Finished in state Failed('1/3 states failed.')",
		),
		NoMatch: []string{
			"Task run 'embed-2' - Finished in state Failed('Task run encountered an exception: OutOfMemoryError')",
			`                    "Detected %i failed runs in the first %i seconds, shutting down.",`,
		},
	}
}

// announced matches what a program says above the traceback that it caught: that it goes on.
func announced() pattern.Pattern {
	var literals []string
	for _, what := range []string{"skipped", "going on", "continuing", "moving on", "carrying on", "ignored", "ignoring"} {
		literals = slices.Concat(literals, after(",;-", " "+what))
	}
	return pattern.Pattern{
		Name:     "trainer.announced",
		Literals: literals,
		Requires: []string{"ailed", "rror", "xception", "OOM", "ut of memory"},
		Expr: `^[^"']{0,300}\b(?:[Ff]ailed|[Ee]rror|[Ee]xception|OOM|out of memory)\b[^"']{0,120}[,;-] (?:skipped|going on|continuing|moving on|carrying on|ignor(?:ed|ing))` +
			`(?: (?:with|to|without)(?: [\w-]{1,20}){1,4}| (?:it|this|anyway))?[:.]?\s*$`,
		Kind: parser.Recovered, Role: parser.Context, Set: parser.Fields{"announces": "true"},
		Source: "scripts: logger.exception behind what they work through one by one",
		Match: lines(
			"[3/6] hearing.wav failed, going on with the next file", "side evaluation (hellaswag, batch 512) at step 885 failed, skipped:", "evaluation failed; continuing without it.", "upload error, ignored",
		),
		NoMatch: []string{
			"3 tests failed, skipped 2", "step 4 failed, retrying", "logger.error('failed, going on')", "failed, going on like this for 3 hours until the node was drained",
		},
	}
}

// insteadOf is what a program says that uses another thing, or another device, instead of what failed.
const insteadOf = `^[^"']{0,300}\b(?:[Ff]ailed|[Ee]rror|[Ee]xception|[Cc]annot|[Cc]ould not|[Uu]nable to)\b[^"']{0,120}[,;:.-] ` +
	`(?:(?:[Ff]alling back|[Ss]witching|[Rr]everting) to [\w./+-]{1,40}(?: [\w./+-]{1,40}){0,5}|[Uu]sing (?:[\w./+-]{1,40} ){1,5}instead|[A-Za-z]{2,20}ing (?:[\w./+-]{1,40} ){0,5}on (?:the )?(?:CPU|cpu)(?: instead)?)[:.]{0,3}\s*$`

// fellBack matches what a program says above the traceback that it caught: what it uses instead. Libraries say so at the start of healthy runs as
// well, so it is no event, and where a traceback follows that nothing caught, the program died of that.
func fellBack() pattern.Pattern {
	literals := []string{"g on CPU", "g on cpu", "t on CPU", "t on cpu", " on the CPU", " on the cpu"} // running on CPU, solving it on CPU
	for _, what := range []string{"falling back to ", "switching to ", "reverting to ", "using "} {
		literals = slices.Concat(literals, after(",;-:.", " "+what), after(":.", " "+strings.ToUpper(what[:1])+what[1:]))
	}
	return pattern.Pattern{
		Name:     "trainer.fell_back_from",
		Literals: literals,
		Requires: []string{"ailed", "rror", "xception", "annot ", "ould not ", "nable to "},
		Expr:     insteadOf,
		Marker:   "instead", Also: []string{"veto.pinned_fallback"},
		Source: "scripts: logger.exception or traceback.print_exc beside what they do instead",
		Match: lines(
			"GPU index failed, falling back to the CPU index", "CUDA graph capture failed: falling back to eager.", "Could not move the index to the GPU; using the CPU instead", "VAE decode failed. Switching to tiled decoding",
			"lm_head: svd on cuda:0 failed, doing this one on the cpu", "could not solve on the GPU, running on CPU instead",
		),
		NoMatch: []string{
			"falling back to the CPU index", "GPU index failed, falling back to the CPU index failed, too", "logger.error('GPU index failed, falling back to CPU')", "If it failed, using a smaller index instead helps, see the docs",
			"cuDNN failed, using 3 workers", "svd failed on the cpu", "svd failed, running on the cpu was slow", "svd failed, running on the card",
		},
	}
}

// fellBackBelow matches the same below the failure. A script that runs another program may say so of one that died.
func fellBackBelow() pattern.Pattern {
	return pattern.Pattern{
		Name:  "trainer.fell_back_below",
		After: []string{"torch.oom.paren", "torch.oom.of_which", "torch.oom.class", "torch.oom.cut"}, Within: 2,
		Expr: insteadOf,
		Kind: parser.Recovered, Role: parser.Context, Set: parser.Fields{"announces": "below"}, Also: []string{"trainer.fell_back_from"},
		Source:  "scripts, as above",
		Match:   lines("GPU index failed, falling back to the CPU index", "lm_head: the SVD failed on cuda:0; computing it on the CPU instead."),
		NoMatch: []string{"falling back to the CPU index", "svd failed on the cpu"},
	}
}

// nextImage matches what a program prints of the next image, right behind one for which memory ran out and how to avoid that. The first one is of
// another launch.
func nextImage() pattern.Pattern {
	return pattern.Pattern{
		Name:  "trainer.next_image",
		After: []string{"torch.oom.paren", "torch.oom.of_which", "torch.oom.class", "torch.oom.cut"}, Within: 3,
		Expr: `^Testing [1-9]\d{0,8} \S`,
		Kind: parser.Recovered, Role: parser.Context, Set: parser.Fields{"announces": "below"},
		Source:  "Real-ESRGAN 0.2-0.3, inference_realesrgan.py, and scripts after it",
		Match:   lines("Testing 22 0022_scan"),
		NoMatch: []string{"Testing 0 0000_scan", "Testing 22", "Testing the next image"},
	}
}

// tallied matches what a program says at its end that works through one thing after another: how many it got through, and how many not. Ranks,
// workers, trials and tests are no such things: one that failed is dead.
func tallied() pattern.Pattern {
	const (
		item  = `(?i:doc(?:ument)?|file|page|pdf|image|video|audio|clip|recording|sample|prompt|record|item|input|sequence|article|paper|text|chunk|example|entrie|book|report|scan|volume)s`
		tries = `[1-9]\d{0,2}(?:,?\d{3}){0,2}`
	)
	var literals []string
	for _, what := range []string{"succeeded", "successful", "converted", "processed", "transcribed", "completed", "done"} {
		literals = append(literals, " "+what+", ", " "+what+"; ", " "+what+" and ")
	}
	return pattern.Pattern{
		Name:     "trainer.tallied",
		Literals: append(literals, "rocessed "),
		Requires: []string{" failed"},
		Expr: `^(?!.{0,200}["'])(?:.{0,100}[\s:])?[Pp]rocessed (` + tries + `) ` + item + `(?:[,:;] (?:of which )?| \()(?!\1 )` + tries + ` (?:of them )?failed\b` +
			`|^(?!.{0,200}["'])(?=.{0,200}\b` + item + `\b)(?:.{0,100}[\s:(])?` + tries + ` (?:` + item + ` )?(?:succeeded|successful|converted|processed|transcribed|completed|done)(?:[,;]| and) ` + tries + ` (?:` + item + ` )?failed\b`,
		Kind: parser.Recovered, Role: parser.Context, Set: parser.Fields{"status": "true"},
		Source: "Docling 2, cli/main.py and examples; scripts that convert, transcribe or embed files",
		Match: lines(
			"Processed 59 docs, of which 1 failed and 0 were partially converted.", "Processed 59 docs, of which 1 failed", "done: 58 files converted, 1 failed", "Files: 1,058 succeeded, 2 failed, 1,060 in all", "12 images processed and 1 failed",
		),
		NoMatch: []string{
			"Processed 59 docs, of which 59 failed", "Processed 59 docs, of which 0 failed", "7 workers succeeded, 1 failed", "58 trials completed, 1 failed", "0 files converted, 1 failed", `print(f"Processed 59 docs, of which 1 failed")`,
		},
	}
}
