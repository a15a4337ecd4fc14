package cause

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// loadingAnywhere reports whether weights were read, on the card or on the host.
func (in *Input) loadingAnywhere() bool { return in.loading() && (in.gpu() || in.host()) }

// ofFrozen returns the name of the model that was being read if that is not the trained one, to print after what it is about.
func (in *Input) ofFrozen() string {
	if in.Reads == "" {
		return ""
	}
	return " of " + in.Reads[strings.LastIndexByte(in.Reads, '/')+1:]
}

// loadsNext says that ComfyUI was loading one more model of its workflow when the machine's memory was full: it keeps those that it has loaded
// in host memory, for the next run of the workflow.
func loadsNext(in *Input) string {
	if !in.host() || !in.LoadsNext || in.LimitReached {
		return ""
	}
	held := ""
	if one := in.OneHolder(); one != "" {
		held = ": " + one
	}
	return "ComfyUI was loading one more model, and keeps those of the whole workflow in host RAM" + held
}

// loadedTwice reports that more is allocated during weight loading than the weights take in 16 bits.
func loadedTwice(in *Input) string {
	p := in.Parameters.Value
	if !in.loading() || in.EngineFailed || in.Allocated == nil || p <= 0 || *in.Allocated < p*5/2 || in.Adapters || deepSpeedCopies(in) != "" || in.severalModels() {
		return "" // a copy in 32 bits, or a second model, is there by design
	}
	return fmt.Sprintf("%s is allocated while the weights load; in 16 bits they take %s", gib(in.Allocated), classifier.GiB(2*p))
}

// movedWide reports that more is allocated while a Trainer of transformers moves its model to the card, its first work there, than the
// weights take in 16 bits, which would fit. They are wider then: adapters on them are a fiftieth at most.
func movedWide(in *Input) string {
	p := in.Parameters.Value
	if !in.Adapters || !in.loading() || !in.gpu() || !in.passes(80, "_move_model_to_device") || in.EngineFailed || in.SharesCard || in.Total == nil || in.Allocated == nil || p <= 0 || p > 1<<40 ||
		*in.Allocated < p/2*5 || 2*p > *in.Total/4*3 {
		return ""
	}
	return fmt.Sprintf("%s is allocated while the model moves to the card; in 16 bits its weights take %s", gib(in.Allocated), classifier.GiB(2*p))
}

// loadsNarrow reports that the failed code loads in 16 bits. transformers warms up its allocator in float16, whatever it loads.
func loadsNarrow(in *Input) string {
	for _, f := range in.Stack {
		if !strings.Contains(f, "/transformers/") && containsAny(f, []string{"dtype=torch.bfloat16", "dtype=torch.float16", "dtype=torch.half"}) {
			return "the code that failed loads in 16 bits"
		}
	}
	return ""
}

// castWide reports that a script of diffusers moves frozen weights to the card in the type that its mixed precision has, which is float32
// without one.
func castWide(in *Input) string {
	if !in.FullPrecision || !in.passes(8, "dtype=weight_dtype") {
		return ""
	}
	return "mixed_precision is no: the weights go to the card in float32"
}

// noHalf says that Stable Diffusion's web UI was told to keep its weights in float32.
var noHalf = is(": the weights stay in float32, twice the size of 16 bits", []string{"--no-half"}, "true")

// wideWeight reports that a weight is loaded in four bytes where nothing trains it in parts: the size of the request shows it.
func wideWeight(in *Input) string {
	if !memory.WideParameter(in.Request) || !in.loading() || in.EngineFailed || in.Backend != "" || in.Place != memory.Weights {
		return ""
	}
	return "the failed request is a weight in float32: " + trimmed(in.Request[0].Text)
}

// WideEngine reports that an engine on one card was still loading its weights when it had allocated more than they take in 16 bits.
func WideEngine(in *Input) string {
	const other = 30 // of what is allocated, as a divisor: little else is there by then
	p := in.Parameters.Value
	if !in.EngineFailed || !in.gpu() || !in.loading() || in.Quantized || in.Adapters || in.Allocated == nil || p <= 0 || p > 1<<40 || in.number("tensor_parallel_size", "tp_size", "tp") > 1 ||
		*in.Allocated-*in.Allocated/other < 2*p || in.Draft {
		return ""
	}
	return fmt.Sprintf("%s was allocated before all weights were there; in 16 bits they take %s", gib(in.Allocated), classifier.GiB(2*p))
}

// loadsByDefault reports that the failed code loads a model without a dtype: transformers before 5 then uses float32.
func loadsByDefault(in *Input) string {
	for _, f := range in.Stack {
		if strings.Contains(f, "from_pretrained(") && strings.Contains(f, `"`) && !containsAny(f, []string{"dtype", "load_in_", "quantization", "half()"}) {
			return "from_pretrained is called without a dtype, which means float32 before transformers 5"
		}
	}
	return ""
}

// pipelineByDefault reports that a script loads a pipeline of Diffusers without a dtype, and that the failed code gives it none either.
func pipelineByDefault(in *Input) string {
	if !in.DefaultType || in.Application != "diffusers" || in.passes(len(in.Stack), "float16", ".half()") {
		return ""
	}
	return "the pipeline is loaded without torch_dtype: Diffusers then makes float32 of all weights"
}

// resumed reports that a script resumed from a checkpoint and failed before its first step. The run that saved the checkpoint
// fit, so only the load is new. Library trainers load it into host memory. A script that only evaluates resumes nothing.
func resumed(in *Input) string {
	key, v, ok := in.Setting("resume", "resume_from", "resume_path", "resume_checkpoint", "init_from", "load_checkpoint")
	off := slices.Contains([]string{"", "false", "none", "no", "0", "scratch", "null", "true", "yes", "auto"}, strings.ToLower(strings.Trim(v, `"' `))) // true: if there is one
	if !ok || off || key == "init_from" && !strings.Contains(v, "resume") || in.Framework != "torch" || in.Backend != "" && in.Backend != "ddp" ||
		in.LastStep != nil && *in.LastStep > 1 || !in.gpu() || in.Phase == "init" || in.Infers || in.EngineFailed || in.passes(60, "/transformers/trainer", "/lightning/", "/pytorch_lightning/") {
		return ""
	}
	return fmt.Sprintf("%s is %s: the run resumes from a checkpoint, whose tensors may still be on the card", key, v)
}
