package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
)

// Bytes of a parameter's states under mixed precision with Adam: a master copy and two moments of four bytes each, and
// weights and gradients of two (DeepSpeed's memory estimators, deepspeed/runtime/zero/stage_1_and_2.py and stage3.py;
// Megatron, megatron/core/optimizer).
const (
	adamBytes   = 12
	weightBytes = 2
	gradBytes   = 2
)

// zeroStages are what a stage of ZeRO splits over the ranks, by the stage before and after.
var zeroStages = map[string]struct {
	bytes int64 // of a parameter
	what  string
}{"0 1": {adamBytes, "master copy and moments"}, "1 2": {gradBytes, "gradients"}, "2 3": {weightBytes, "weights"}}

// stateBytes is what a change of how the model's states are split or kept takes off one GPU. It is false where the
// number of parameters or of ranks is unknown, and for mixtures of experts under Megatron, which split in other ways.
func stateBytes(ctx *Context, c *change) (freed int64, how string, ok bool) {
	params := ctx.model.Parameters
	ranks, known := ctx.gpus()
	if params.Value <= 0 || params.Value > 1<<45 || !known || ranks < 1 || ctx.resource != "gpu" || trainsAdapters(ctx) {
		return 0, "", false
	}
	key := strings.Join(split(c.Key), ".")
	share := func(bytes int64, what string) (int64, string, bool) {
		n := bytes * params.Value / ranks
		return n, fmt.Sprintf("%s: %d bytes x %.3g parameters%s / %d GPUs = %s per GPU", what, bytes, float64(params.Value), fromName(params), ranks, classifier.GiB(n)), n > 0
	}
	switch {
	case strings.HasSuffix(key, "offload_optimizer.device") && *c.To == "cpu", strings.HasSuffix(key, "adam_offload") && on(*c.To):
		return share(adamBytes, "master copy and moments")
	case strings.HasSuffix(key, "offload_param.device") && *c.To == "cpu":
		if stage, ok := ctx.settings.integer("zero_optimization.stage", "zero_stage", "zero_config.stage"); ok && stage == 3 {
			return share(weightBytes, "weights")
		}
	case strings.HasSuffix(key, "optimizer_cpu_offload") && on(*c.To):
		f, ok := ctx.settings.find("use_distributed_optimizer", true)
		if ok && on(f.value.Value) && !ctx.is("moe") && !strings.Contains(strings.ToLower(ctx.run.Model.Name), "-a") {
			return share(adamBytes, "master copy and moments, split by the distributed optimizer")
		}
	case strings.HasSuffix(key, "zero_optimization.stage"), strings.HasSuffix(key, "zero_stage"), strings.HasSuffix(key, "zero_config.stage"):
		if c.From == nil || ranks < 2 {
			return 0, "", false
		}
		split, ok := zeroStages[*c.From+" "+*c.To]
		if !ok {
			return 0, "", false
		}
		n := split.bytes * params.Value / ranks * (ranks - 1)
		return n, fmt.Sprintf("%s are split: %d bytes x %.3g parameters%s x %d / %d = %s per GPU", split.what, split.bytes, float64(params.Value), fromName(params), ranks-1, ranks, classifier.GiB(n)), true
	}
	return 0, "", false
}

// offloads are topics of items that move states of the model into host memory.
var offloads = []string{"offload-fsdp", "offload-megatron", "optimizer-offload", "param-offload", "cpu-optimizer"}

// hostNeed is how much host memory of a node an offload of so many bytes per GPU takes.
func hostNeed(ctx *Context, freed int64) (need, gpus int64, ok bool) {
	gpus, ok = ctx.gpusPerNode()
	if !ok || gpus > 1<<10 || freed > 1<<50 {
		return 0, 0, false
	}
	return freed * gpus, gpus, true
}

// hostShort says that the job did not ask for as much host memory as an offload takes; empty when it did, or when one of
// the two is unknown.
func hostShort(ctx *Context, topic string, freed *int64) string {
	if freed == nil || !slices.Contains(offloads, topic) {
		return ""
	}
	need, gpus, ok := hostNeed(ctx, *freed)
	f, found := ctx.settings.find("--mem", true)
	if !ok || !found {
		return ""
	}
	has, ok := parseSize(f.value.Value)
	if !ok || need <= has {
		return ""
	}
	return fmt.Sprintf("it takes %s of host memory (%s for each of %d GPUs of a node), and the job asks for %s", classifier.GiB(need), classifier.GiB(*freed), gpus, classifier.GiB(has))
}

// trainsAdapters says that adapters are trained, not the model: there are no states of all its parameters.
func trainsAdapters(ctx *Context) bool {
	for _, k := range []string{"lora_rank", "lora_r", "peft_lora_rank"} {
		if n, ok := ctx.settings.integer(k); ok && n > 0 {
			return true
		}
	}
	for _, k := range []string{"use_peft", "use_lora", "load_in_4bit", "load_in_8bit", "qlora"} {
		if _, t := ctx.settings.flag(k); t == yes {
			return true
		}
	}
	f, ok := ctx.settings.find("finetuning_type", true)
	return ok && strings.EqualFold(f.value.Value, "lora")
}

// on says that a switch is written as on; a flag without a value is.
func on(v string) bool {
	b, ok := parseBool(v)
	return ok && b
}
