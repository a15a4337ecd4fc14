package cause

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
)

// kept is the least an optimizer stores per trained parameter: some values of the parameter's type plus some bytes. Mixed
// precision in DeepSpeed and Megatron stores more.
type kept struct {
	name          string // or a part of it
	values, bytes int64
}

// bytesOf returns what the optimizer stores for a parameter of this many bytes.
func (k kept) bytesOf(weight int64) int64 { return k.values*weight + k.bytes }

// optimizers is searched in order. Paged optimizers move their states to the host; what those based on projections store is
// unknown.
var optimizers = []kept{
	{name: "paged"},
	{name: "galore"},
	{name: "apollo"},
	{name: "lomo"},
	{name: "badam"},
	{name: "adafactor"},
	{name: "sgd"},
	{name: "8bit", bytes: 2},
	{name: "_bnb", bytes: 2},
	{name: "4bit", bytes: 1},
	{name: "bf16", bytes: 4},
	{name: "lion", values: 1},
	{name: "muon", values: 1},
	{name: "rmsprop", values: 1},
	{name: "adagrad", values: 1},
	{name: "adam", values: 2},
}

// optimizer returns the optimizer that the settings or the failing stack name, by default Adam.
func (in *Input) optimizer() kept {
	if o, ok := in.namedOptimizer(); ok {
		return o
	}
	return kept{values: 2}
}

// namedOptimizer returns the optimizer that the settings name or, if none does, the innermost file of one in the failing stack.
func (in *Input) namedOptimizer() (kept, bool) {
	if in.on("use_8bit_adam") { // of Diffusers' scripts
		return optimizerNamed("adamw8bit")
	}
	if _, name, ok := in.Setting("optim", "optimizer.type", "optimizer._component_", "optimizer", "optimizer_type"); ok {
		return optimizerNamed(strings.ToLower(name))
	}
	for _, f := range slices.Backward(in.Stack) {
		for _, folder := range []string{"/optim", "/ops/"} { // torch/optim, optimizers, deepspeed/ops/adam
			if _, file, ok := strings.Cut(f, folder); ok {
				file, _, _ = strings.Cut(file, " ")
				if o, ok := optimizerNamed(file); ok {
					return o, true
				}
			}
		}
	}
	return kept{}, false
}

func optimizerNamed(name string) (kept, bool) {
	i := slices.IndexFunc(optimizers, func(o kept) bool { return strings.Contains(name, o.name) })
	if i < 0 {
		return kept{}, false
	}
	return optimizers[i], true
}

// KeepsNoMore reports whether an optimizer keeps no more of a float32 parameter than another one does, on the card or paged.
func KeepsNoMore(name, other string) bool {
	o, ok := optimizerNamed(strings.ReplaceAll(strings.ToLower(name), "paged_", ""))
	p, known := optimizerNamed(strings.ToLower(other))
	return ok && known && o.bytesOf(4) <= p.bytesOf(4)
}

// deepSpeedCopies says that DeepSpeed's optimizer was making its copy of the weights.
var deepSpeedCopies = both(frames(6, "DeepSpeed copies its part of the weights in 32 bits", "fp32_groups", "fp32_partition"), (*Input).gpu)

// keepsMaster reports whether FSDP's mixed precision computes in 16 bits on shards of 32.
func (in *Input) keepsMaster() bool {
	if in.Application == "torchtitan" {
		return true
	}
	_, v, _ := in.Setting("mixed_precision")
	return (in.on("mixed_precision", "bf16", "fp16") || v == "bf16" || v == "fp16") && !in.on("pure_bf16")
}

// optimizerFigure states the size of the optimizer's states, from the request if it is one state of every parameter.
func optimizerFigure(in *Input) (string, *int64) {
	p, o := in.Parameters.Value, in.optimizer()
	_, named := in.namedOptimizer()
	states := in.statesAppear(named && o.values == 2)
	if r := in.Requested; r != nil && *r >= 4<<30 && (p <= 0 || *r > 39*p/10 && *r < 41*p/10) {
		return fmt.Sprintf("%s: %s / 4 bytes = one float32 state of %s parameters", states, gib(r), count(*r/4)), r
	}
	weight := in.trainedBytes()
	if in.Backend == "deepspeed" || in.Backend == "megatron" && !in.on("use_precision_aware_optimizer") {
		weight = 4 // of the copy that the optimizer updates
	}
	if t, each := in.Trains(), o.bytesOf(weight); t > 0 && t < 1<<45 && each > 0 && in.GPUs == 1 {
		return sized("%s: %s trained parameters x %d bytes or more", each*t, states, count(t), each)
	}
	if each := o.bytesOf(4); p > 0 && p < 1<<45 && each > 0 && !in.Adapters && (in.Unsharded || in.GPUs > 1) {
		states = in.statesAppear(o.values == 2)
		if in.Unsharded {
			return sized("%s, on every GPU: %d bytes x %s parameters", each*p, states, each, count(p))
		}
		text, size := sized("%s: %d bytes x %s parameters / %d GPUs", each*p/in.GPUs, states, each, count(p), in.GPUs)
		if in.Total != nil && in.States > *in.Total {
			text += "; with weights and gradients, at least " + classifier.GiB(in.States)
		}
		return text, size
	}
	if in.passes(6, "_multi_tensor_", "_foreach_") && !in.passes(8, "initialize_optimizer_states") {
		return plain("the optimizer works on all parameters at once, with temporary copies of them")(in)
	}
	if each := o.bytesOf(weight); named && each > 0 {
		least := "at least "
		if weight == 4 {
			least = ""
		}
		states += fmt.Sprintf(", %s%d bytes per trained parameter", least, each)
	}
	return plain(states)(in)
}

// statesAppear says when the optimizer's states come to the GPU: in its first step, unless the program creates or loads them earlier.
func (in *Input) statesAppear(adam bool) string {
	whose, what := "the optimizer", "states"
	if adam {
		whose, what = "Adam", "two moments"
	}
	switch {
	case in.passes(8, "initialize_optimizer_states"):
		return fmt.Sprintf("DeepSpeed allocates %s's %s at start-up", whose, what)
	case in.passes(8, "_initialize_state", "init_state", "set_scaled_state", "optimizer.py load_state_dict", "fused_adam.py load_state_dict") && in.passes(80, "load_state_dict", "load_checkpoint"):
		return fmt.Sprintf("loading the checkpoint brings %s's %s to the GPU", whose, what)
	}
	return fmt.Sprintf("%s allocates its %s in the first step", whose, what)
}
