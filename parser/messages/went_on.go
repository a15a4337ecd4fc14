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
	literals := []string{"retrying", "Retrying", "alling back to", "witching to ", "oving to ", "using CPU", "using the CPU", "batch removed", "batch size to", "batch_size to", "batchsize to"}
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
		label = `^(?:\||!|` + mark + `){0,12}(?:# (?=.{1,200} #$))?(?:(?:\[[^\]"']{1,60}\]:?|(?:WARN(?:ING)?|[Ww]arning|ERROR|[Ee]rror|INFO)\b:?|(?:[Ss]tep|[Bb]atch|[Ee]poch|[Ii]ter(?:ation)?) \d{1,9}(?:/\d{1,9})?[,:]|[Cc]aught(?: an?)?|(?:[^\s:]{1,200}\.py:\d{1,7}: )?\w{1,40}Warning:)` + mark + `{0,8}){0,4}`
		where = `(?: [Ee]rror)?(?: (?:caught|detected|encountered))?(?: (?:in|on|at|during|for|when|while) [^"',;!:]{1,80}?)?(?:[,;:.!]{1,3}| -{1,2}) `
		off   = `(?! (?:may|might|can|could|will|would|does|is)\b)`
	)
	expr := label + `(?:` + maybe + where + `(?:(?:[Ss]kipp(?:ing|ed)|[Rr]etrying|[Dd]ropp(?:ing|ed)) ` + object + `|batch removed)` + off +
		`|` + sure + where + `(?:[Ss]kipping\W*$|[Rr]etrying` + off + `|(?:[Ff]alling back|[Ss]witching|[Mm]oving) to\b|using (?:the )?CPU\b|(?:[Rr]educing|[Hh]alving|[Dd]ecreasing|[Ll]owering) (?:the )?(?:micro[- ]?)?batch[ _]?size to:? \d)` +
		`|[Rr]etrying after (?:an? )?` + sure + off + `|[Ss]kipp(?:ing|ed) ` + object + `(?: [\w.#/-]{1,40}){0,3} due to (?:an? )?` + sure + `\b)`
	return pattern.Pattern{
		Name:     "trainer.went_on",
		Literals: literals,
		Requires: []string{"OOM", "ut of memory", "OutOfMemory", "ut of GPU memory", "ut of CUDA memory"},
		Expr:     expr,
		Kind:     parser.GPUOOM, Role: parser.Evidence, Set: map[string]string{"retries": "infinite"}, Also: []string{"veto.caught"},
		Source: "Ultralytics 8.3-8.4, utils/tal.py; ai-toolkit, jobs/process/BaseSDTrainProcess.py; fairseq 0.5-0.12, trainer.py, and Boltz, main.py, OpenNMT-py, trainer.py and others after it; common wording of user code",
		Match: lines(
			"WARNING ⚠️ CUDA OutOfMemoryError in TaskAlignedAssigner, using CPU",
			"WARNING: CUDA OutOfMemoryError in TaskAlignedAssigner, using CPU",
			"# OOM during training step, skipping batch 1/3 #",
			"| WARNING: ran out of memory, skipping batch",
			"| WARNING: ran out of memory, retrying batch",
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
			"GPU out of memory, exiting",
			"skipping batch 12: the loss is not finite",
			"Caught OutOfMemoryError, skipping record.",
			"SKIPPED [1] tests/test_x.py:12: Skipping due to OOM",
		},
	}
}
