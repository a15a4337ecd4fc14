package cause

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
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
	if _, name, ok := in.Setting("optim", "optimizer.type", "optimizer._component_", "optimizer"); ok {
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

// states returns the least that weights, gradients and optimizer states take on a card, and the arithmetic. DeepSpeed keeps
// optimizer states in 32 bits; it splits weights in stage 3, gradients from stage 2, the rest from stage 1. Frozen weights take
// two bytes unless quantized.
func (in *Input) states(p int64) (bytes int64, how string) {
	n := max(in.GPUs, 1)
	each := func(bytes int64) string {
		return fmt.Sprintf("%s trained parameters x %d bytes", count(p), bytes)
	}
	stage := in.number(zeroKeys...)
	switch {
	case in.Backend == "deepspeed" && stage == 1:
		bytes, how = 4*p+12*p/n, fmt.Sprintf("%s trained parameters x (4 + 12 / %d) bytes in ZeRO stage 1", count(p), n)
	case in.Backend == "deepspeed" && stage == 2:
		bytes, how = 2*p+14*p/n, fmt.Sprintf("%s trained parameters x (2 + 14 / %d) bytes in ZeRO stage 2", count(p), n)
	case in.Backend == "deepspeed" && stage == 3:
		bytes, how = 16*p/n, each(16)
	default:
		o, w := in.optimizer(), in.trainedBytes()
		if in.Unsharded || in.Backend == "ddp" {
			n = 1
		}
		all := w + w + o.bytesOf(w)
		bytes, how = all*p/n, each(all)
	}
	split := n > 1 && (in.Backend != "deepspeed" || stage == 3)
	if split {
		how += fmt.Sprintf(" / %d GPUs", n)
	}
	if frozen := in.Parameters.Value - p; frozen > 0 && !in.Parameters.Named && !in.Quantized && in.Parameters.Value < 1<<40 {
		if !split {
			n = 1
		}
		if in.Allocated != nil && 2*frozen/n > *in.Allocated {
			return bytes, how // the card holds less: they are quantized or split
		}
		bytes, how = bytes+2*frozen/n, how+fmt.Sprintf(" + %s frozen ones x 2", count(frozen))
	}
	return bytes, how
}

// trainedBytes returns the bytes of a trained weight: four if the log says float32, otherwise at least two.
func (in *Input) trainedBytes() int64 {
	if in.WideTraining || strings.HasPrefix(in.Backend, "fsdp") && in.GPUs > 0 && in.keepsMaster() || is("", dtypeKeys, "float32", "fp32", "torch.float32", "float")(in) != "" {
		return 4
	}
	return 2
}

// statesOnCard returns the least that the states take on a card in a training step, or 0 if unknown.
func (in *Input) statesOnCard() (least int64, how string) {
	p := in.Trains()
	if p <= 0 || p > 1<<40 || in.Total == nil || in.Infers || !in.training() && in.Phase != "optimizer" && !in.passes(8, "initialize_optimizer_states") || in.on("optimizer_in_bwd") || in.offloads() {
		return 0, ""
	}
	if in.GPUs == 0 && (in.Backend != "" && in.Backend != "ddp" || in.Rank != nil && *in.Rank > 0) {
		return 0, "" // the number of shards is unknown
	}
	return in.states(p)
}

// Beyond returns by how much the training states, or the whole weights where all of them are gathered, exceed the card at least; 0 if
// they fit or it is unknown.
func Beyond(in *Input) int64 {
	if in.Total == nil {
		return 0
	}
	least, _ := in.statesOnCard()
	if p := in.Parameters.Value; p > 0 && p < 1<<40 && !in.Quantized && in.passes(12, "partition_parameters.py __enter__") {
		least = max(least, 2*p)
	}
	return max(least-*in.Total, 0)
}

// statesFigure states the size of the training states if they do not fit, otherwise that of the weights.
func statesFigure(in *Input) (string, *int64) {
	if why := DispatchedFills(in); why != "" {
		return why, in.Allocated
	}
	if in.training() && wholeDelta(in) != "" {
		return "PEFT builds the change of an adapted weight as a whole, in the size of the weight: " + gib(in.Requested) + " in one request, whatever the batch", in.Requested
	}
	if in.Phase == "init" && len(in.Request) > 0 && in.Request[0].Met && in.Place == memory.Optimizer {
		return "the optimizer's copy of the weights: " + trimmed(in.Request[0].Text), in.Requested
	}
	if why := wholeBeside(in); why != "" {
		return why, nil
	}
	if in.OwnCache {
		return "the key-value cache, with room for the most and the longest sequences, does not fit next to the weights", nil
	}
	if why := modelsBeside(in); why != "" {
		return why, in.Others
	}
	if in.Draft {
		return "the draft model does not fit beside the main model", nil
	}
	if adapterSlots(in) != "" {
		return in.slotsText(), nil
	}
	if why := statesMeasured(in); why != "" && statesFill(in) == "" {
		return why, &in.SetUp
	}
	if statesFill(in) == "" {
		if why := statesMost(in); why != "" {
			return why, &in.States
		}
		if memory.WideParameter(in.Request) {
			return weightsFigure(4, "the weights alone, in float32")(in)
		}
		return weightsFigure(2, "the weights alone, in 16 bits")(in)
	}
	least, how := in.statesOnCard()
	return sized("weights, gradients and optimizer states: %s", least, how)
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

// trainAll lists programs that train all parameters unless a setting mentions adapters.
var trainAll = []string{"openrlhf", "torchtitan", "verl"}

// Trains returns how many parameters a run trains: the banner's number, or the whole model if it says that all are trained.
func (in *Input) Trains() int64 {
	if in.Trained > 0 {
		return in.Trained
	}
	_, tuning, _ := in.Setting("finetuning_type", "tuner_type", "train_type")
	full := strings.EqualFold(strings.Trim(tuning, `"' `), "full") || strings.Contains(in.Text+strings.Join(in.Stack, " "), "full_finetune")
	full = full || slices.Contains(trainAll, in.Framework) || slices.Contains(trainAll, in.Application) || in.off("use_peft", "use_lora", "enable_lora")
	if key, _, _ := in.Setting("per_device_train_batch_size"); strings.HasPrefix(key, "--") && in.passes(80, "trl/scripts/", "trl/examples/scripts/") {
		full = true // the command line has no use_peft (trl, trainer/utils.py, get_peft_config)
	}
	if n := max(in.GPUs, 1); in.Requested != nil && in.passes(8, "initialize_optimizer_states") && *in.Requested >= in.Parameters.Value/n {
		full = true // one state of a rank's part of all parameters
	}
	if !full || in.Adapters || in.Quantized {
		return 0
	}
	return in.Parameters.Value
}

// severalModels reports whether a trainer has a reward model, a critic or a reference beside its policy.
func (in *Input) severalModels() bool {
	_, _, set := in.Setting("reward_pretrain", "critic_pretrain", "reward_model_path", "sft_model_path")
	return set || in.passes(12, "ref_model")
}

// moreThanAShare reports that one of several GPUs holds far more than its share of a model that is too large for one, or the whole of a
// model that takes half of it.
func moreThanAShare(in *Input) string {
	p := in.Parameters.Value
	if p <= 0 || in.GPUs < 2 || in.Quantized || in.EngineFailed || in.Allocated == nil || in.Total == nil || !in.loading() || !in.gpu() ||
		2*p < *in.Total/2 || 2*p < *in.Total*9/10 && *in.Allocated < 2*p || *in.Allocated < 4*p/in.GPUs {
		return ""
	}
	return fmt.Sprintf("this card holds %s while the model loads; 1/%d of its weights is %s", gib(in.Allocated), in.GPUs, classifier.GiB(2*p/in.GPUs))
}

// wholeStates reports that one of several GPUs holds almost all of the model's states at the optimizer's step.
func wholeStates(in *Input) string {
	p := in.Parameters.Value
	if p <= 0 || p > 1<<40 || in.GPUs < 2 || in.Adapters || in.Quantized || in.passes(40, "deepspeed/runtime/zero", "critic") || in.Allocated == nil || in.Total == nil || !in.gpuOptimizer() || *in.Allocated < 10*p || 16*p < *in.Total*9/10 {
		return ""
	}
	if least, _ := in.states(p); in.Backend == "deepspeed" && least > *in.Allocated*4/5 {
		return "" // as ZeRO's stage leaves it
	}
	return fmt.Sprintf("this card holds %s in the optimizer step, %d bytes per parameter: the states are not split over the %d GPUs", gib(in.Allocated), *in.Allocated/p, in.GPUs)
}

// WholeGradients reports that every GPU keeps the gradients of all parameters until the last micro-batch: FSDP splits them only then, in
// pipelines and under no_sync, which Accelerate uses when gradients accumulate (GradientAccumulationPlugin).
func WholeGradients(in *Input) string {
	p, steps := in.Parameters.Value, in.number("gradient_accumulation_steps")
	switch {
	case !in.trainerGPU() || !in.training():
		return ""
	case in.passes(6, "to_accumulated_grad_if_needed"):
		return "the stack ends where FSDP adds up gradients that are not split"
	case !strings.HasPrefix(in.Backend, "fsdp") || steps < 2 || !in.passes(80, "/accelerate/") || in.on("sync_each_batch") || in.Adapters || in.Quantized,
		p <= 0 || p > 1<<40 || in.Total == nil || 2*p < *in.Total/3, Beyond(in) > 0:
		return "" // or the states do not fit even where all of them are split
	}
	return fmt.Sprintf("gradient_accumulation_steps is %d: every GPU keeps whole gradients until the last micro-batch, %s parameters x 2 bytes or more", steps, count(p))
}

// wholeGradientsFigure states the size of whole gradients, which a pipeline divides.
func wholeGradientsFigure(in *Input) (string, *int64) {
	const text = "every GPU keeps whole gradients, not only its part, until the last micro-batch"
	if p := in.Parameters.Value; p > 0 && p < 1<<40 && in.number("gradient_accumulation_steps") > 1 {
		return sized(text+": %s parameters x 2 bytes", 2*p, count(p))
	}
	return text, nil
}

var microBatchKeys = []string{"per_device_train_batch_size", "train_micro_batch_size_per_gpu", "micro_batch_size", "micro_train_batch_size"}

// statesOnEach reports that the states which every GPU holds whole leave little of the card even for a micro-batch of one sample.
func statesOnEach(in *Input) string {
	least, how := in.statesOnCard()
	if in.Total == nil || in.GPUs < 2 || !in.Unsharded || in.number(microBatchKeys...) != 1 || in.LastStep != nil && *in.LastStep > 1 || least < *in.Total/4*3 {
		return ""
	}
	return fmt.Sprintf("each of %d GPUs holds all of the model's states, %s or more of %s (%s), and the micro-batch is one sample", in.GPUs, classifier.GiB(least), gib(in.Total), how)
}

// weightsOnEach reports that ZeRO below stage 3 leaves all weights on each of several GPUs, where they take half of the card, and that
// the micro-batch cannot be smaller.
func weightsOnEach(in *Input) string {
	p, stage := in.Parameters.Value, in.number(zeroKeys...)
	if p <= 0 || p > 1<<40 || in.GPUs < 2 || in.Adapters || in.Quantized || in.Backend != "deepspeed" || stage < 1 || stage > 2 || in.number(microBatchKeys...) != 1 || in.Total == nil || 2*p < *in.Total/2 {
		return ""
	}
	return fmt.Sprintf("ZeRO stage %d leaves all weights on each of %d GPUs, %s of %s, and the micro-batch is one sample", stage, in.GPUs, classifier.GiB(2*p), gib(in.Total))
}

// oneUnit reports that FSDP shards the model as a whole, so that a pass gathers all of it: by Accelerate's setting, or by a request that
// is as large as the shards of all ranks.
func oneUnit(in *Input) string {
	if noWrap(in) != "" {
		return noWrap(in)
	}
	return AllShards(in.Requested, in.Trained, in.GPUs, in.trainerGPU() && strings.HasPrefix(in.Backend, "fsdp"))
}

var noWrap = both(is(": FSDP shards the model in one piece", []string{"fsdp_auto_wrap_policy"}, "no_wrap"), (*Input).trainerGPU)

// unitFills reports that the weights of a model that FSDP gathers as one unit do not fit beside its shards and its whole gradients,
// whatever the batch is.
func unitFills(in *Input) string {
	p := in.Parameters.Value
	if p <= 0 || p > 1<<40 || in.Total == nil || in.Adapters || in.Quantized || !in.training() || noWrap(in) == "" || in.offloads() {
		return ""
	}
	shards, _ := in.states(p)
	if all := shards + 2*p + 2*p; all > *in.Total {
		return fmt.Sprintf("the whole model's weights and gradients take %s beside its shards; the card has %s", classifier.GiB(4*p), gib(in.Total))
	}
	return ""
}

// AllShards reports that a request under FSDP is as large as the shards of all ranks, whose parameters Lightning counts on one rank.
func AllShards(requested *int64, shard, ranks int64, fsdp bool) string {
	if !fsdp || requested == nil || shard <= 0 || shard > 1<<40 || ranks < 2 || ranks > 1<<16 {
		return ""
	}
	for _, width := range []int64{2, 4} {
		if whole := width * shard * ranks; max(whole-*requested, *requested-whole) < whole/100 {
			return fmt.Sprintf("one request of %s is the shards of all %d ranks, %s parameters of %d bytes each", gib(requested), ranks, count(shard), width)
		}
	}
	return ""
}

// wholeModel reports that one request is as large as the whole model although ranks share it.
func wholeModel(in *Input) string {
	p := in.Parameters.Value
	if p <= 0 || in.GPUs < 2 || in.Requested == nil || in.EngineFailed || *in.Requested < 19*p/10 || in.Place != memory.Gather && in.Place != memory.Weights && !in.passes(12, "flat_param", "_init_param_handle") {
		return ""
	}
	return fmt.Sprintf("one request of %s is the whole model of %s parameters, although %d GPUs share it", gib(in.Requested), count(p), in.GPUs)
}

// statesExceedCard reports that the weights alone, in 16 bits, do not fit on one card.
func statesExceedCard(in *Input) string {
	p := in.Parameters.Value
	if in.EngineFailed {
		p /= max(in.number("tensor_parallel_size", "tp_size", "tp"), 1)
	}
	if p <= 0 || !in.loading() || !in.gpu() || in.Total == nil || in.Quantized || !in.EngineFailed && in.GPUs > 1 || 2*p < *in.Total*9/10 {
		return ""
	}
	return fmt.Sprintf("the weights take %s in 16 bits; the card has %s", classifier.GiB(2*p), gib(in.Total))
}

// offloads reports whether states may be in host memory.
func (in *Input) offloads() bool {
	if in.Framework == "verl" { // brings all of them back for the step, unless FSDP2's policy keeps them away
		return in.on("offload_policy")
	}
	for _, k := range offloadKeys {
		if _, v, ok := in.Setting(k); ok && (in.on(k) || v == "cpu") {
			return true
		}
	}
	_, v, _ := in.Setting("deepspeed", "deepspeed_config", "strategy")
	return strings.Contains(strings.ToLower(v), "offload")
}

// weightsFigure multiplies the parameters by bytes.
func weightsFigure(bytes int64, what string) func(in *Input) (string, *int64) {
	return func(in *Input) (string, *int64) {
		p := in.Parameters.Value
		if p <= 0 || p > 1<<45 || bytes == 16 && in.Adapters || in.Quantized || slices.Contains([]string{"llamacpp", "ollama"}, in.Application) {
			if bytes == 4 && wideWeight(in) != "" {
				return "weights in float32; the failed request is " + trimmed(in.Request[0].Text), in.Requested
			}
			if in.EngineFailed && bytes == 2 && !in.loading() && in.Part != "model" && !slices.Contains(in.Patterns, "ggml.load") { // which of them came last is not known
				return plain("weights, buffers and KV cache do not fit on the GPU together")(in)
			}
			if in.FreeAtLoad > 0 && in.Requested != nil && *in.Requested > in.FreeAtLoad {
				return fmt.Sprintf("the model does not fit on the GPU: %s was free before it was loaded", classifier.GiB(in.FreeAtLoad)), nil
			}
			return plain("the model does not fit on the GPU")(in)
		}
		split, n := "", int64(1)
		if in.GPUs > 1 && bytes < 16 && (strings.HasPrefix(in.Backend, "fsdp") || in.Backend == "deepspeed" && in.number(zeroKeys...) == 3) && in.gpu() {
			split, n = fmt.Sprintf(" / %d GPUs", in.GPUs), in.GPUs
		}
		text, size := sized("%s: %s parameters x %d bytes%s", bytes*p/n, what, count(p), bytes, split)
		if bytes == 2 && in.Allocated != nil && *size < *in.Allocated/5 {
			return plain("the model does not fit on the GPU with what else is there")(in) // its weights are the least of it
		}
		if bytes == 4 {
			text += "; in 16 bits, " + classifier.GiB(2*p/n)
		}
		return text, size
	}
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
		return sized("%s: %d bytes x %s parameters / %d GPUs", each*p/in.GPUs, states, each, count(p), in.GPUs)
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

// pipelineFills reports that the parts of a pipeline, all of them on the card, leave nothing for the first of them to work with.
func pipelineFills(in *Input) string {
	moves := in.Infers && in.passes(6, "module.py convert", "module.py _apply")
	if !in.trainerGPU() || in.Phase == "init" || !moves && !(in.passes(40, "diffusers/pipelines/") && in.passes(30, "encode_prompt", "text_encoder", "_prompt_embeds")) ||
		in.Allocated == nil || in.Total == nil || in.Requested == nil || *in.Allocated < *in.Total*9/10 || *in.Requested > *in.Total/50 {
		return ""
	}
	if moves {
		return fmt.Sprintf("%s were allocated when another model was moved to the card", gib(in.Allocated))
	}
	return fmt.Sprintf("%s were allocated before the first part of the pipeline had done its work", gib(in.Allocated))
}

// DispatchedFills reports that the layers of a model that accelerate spread over devices (device_map) fill a card, so that it has no room
// for a step's tensors: what nothing trains holds is mostly weights, and the request is small.
func DispatchedFills(in *Input) string {
	if !in.Infers || !in.passes(80, "accelerate/hooks.py new_forward") || in.passes(12, "pre_forward") || in.passes(80, "diffusers/") ||
		in.Allocated == nil || in.Total == nil || in.Requested == nil || *in.Allocated < *in.Total*19/20 || *in.Requested > *in.Total/50 {
		return ""
	}
	return fmt.Sprintf("the layers that device_map put on this GPU leave too little for a step: %s of %s is allocated", gib(in.Allocated), gib(in.Total))
}
