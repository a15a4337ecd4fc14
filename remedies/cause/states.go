package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

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

// wideStates reports that transformers made a model in float32 whose states would leave room on the card in 16 bits.
func wideStates(in *Input) string {
	p := in.Parameters.Value
	if !in.MadeWide || p <= 0 || p > 1<<40 || in.Total == nil || in.Adapters || in.Quantized || !in.training() && in.Phase != "optimizer" ||
		in.GPUs > 1 && in.Backend != "ddp" || 16*p < *in.Total/10*6 || 8*p > *in.Total/10*8 {
		return ""
	}
	return fmt.Sprintf("the model was made in float32: its weights, gradients and Adam states take %s x 16 bytes = %s, in 16 bits half as much", count(p), classifier.GiB(16*p))
}

// statesOnCard returns the least that the states take on a card in a training step, or 0 if unknown.
func (in *Input) statesOnCard() (least int64, how string) {
	if _, _, printed := in.Setting("use_distributed_optimizer"); printed && in.Framework == "megatron" && in.Application == "" && in.training() {
		return in.States, in.StatesHow // its arguments say how each of them is split
	}
	p := in.Trains()
	if p <= 0 || p > 1<<40 || in.capacity() == 0 || in.Infers || !in.training() && in.Phase != "optimizer" && !in.passes(8, "initialize_optimizer_states") || in.on("optimizer_in_bwd") || in.offloads() {
		return 0, ""
	}
	if in.GPUs == 0 && (in.Backend != "" && in.Backend != "ddp" || in.Rank != nil && *in.Rank > 0) {
		return 0, "" // the number of shards is unknown
	}
	return in.states(p)
}

// capacity returns the size of the failed card: what its message says, or else the most that a card of its name has; 0 if unknown.
func (in *Input) capacity() int64 {
	if in.Total != nil {
		return *in.Total
	}
	return in.CardMost
}

// GradientsFill reports that weights and gradients, whole on each of several GPUs, leave no room there for an optimizer's states of so many
// bytes per parameter, 0 for paged ones. DDP's buckets hold the gradients once more (torch/nn/parallel/distributed.py,
// gradient_as_bucket_view is off by default), if more than one copy was there before any step.
func GradientsFill(in *Input, moments int64) string {
	p, width, what := in.Trains(), in.trainedBytes(), "weights and gradients"
	least, _ := in.statesOnCard()
	if least == 0 || in.Total == nil || !in.Unsharded || in.GPUs < 2 {
		return ""
	}
	held := 2 * width * p
	if (in.Backend == "" || in.Backend == "ddp") && in.Rank != nil && in.Phase == "backward" && (in.LastStep == nil || *in.LastStep < 1) && in.Allocated != nil && *in.Allocated > held {
		held, what = held+width*p, "weights, gradients and DDP's buckets"
	}
	switch {
	case held+moments*p < *in.Total:
		return ""
	case moments == 0:
		return fmt.Sprintf("%s alone take %s of %s", what, classifier.GiB(held), gib(in.Total))
	}
	return fmt.Sprintf("%s alone take %s of %s, and the states in 8 bits %s more", what, classifier.GiB(held), gib(in.Total), classifier.GiB(moments*p))
}

// Beyond returns by how much the training states, or the whole weights where all of them are gathered, exceed the card at least; 0 if
// they fit or it is unknown. What another model of the run holds counts.
func Beyond(in *Input) int64 {
	card := in.capacity()
	if card == 0 {
		return 0
	}
	least, _ := in.statesOnCard()
	if p := in.Parameters.Value; p > 0 && p < 1<<40 && !in.Quantized && in.passes(12, "partition_parameters.py __enter__") {
		least = max(least, 2*p)
		if in.passes(20, "sync_target_model") { // of the policy and its reference
			least = max(least, 4*p)
		}
	}
	if least > 0 && modelsBeside(in) != "" {
		least += *in.Others
	}
	return max(least-card, 0)
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
	if why := secondCopy(in); why != "" {
		return why + "; by then, " + gib(in.Allocated) + " was allocated", in.Allocated
	}
	if why := cmp.Or(modelsBeside(in), instancesBeside(in)); why != "" {
		return why, in.Others
	}
	if why := EngineWeightsFill(in); why != "" {
		return why, &in.EngineWeights
	}
	if why := LayersFill(in); why != "" {
		return why, &in.LayersOnCard
	}
	if why := WideAdapters(in); why != "" && in.training() {
		return why, nil
	}
	if in.Draft {
		return "the draft model does not fit beside the main model", nil
	}
	if adapterSlots(in) != "" {
		return in.slotsText(), nil
	}
	if why := statesStay(in); why != "" {
		return why, &in.BetweenSteps
	}
	if why := pipelineFill(in); why != "" {
		return why, &in.Pipeline
	}
	if why := frozenFill(in); why != "" {
		return why, &in.Frozen
	}
	if why := statesMeasured(in); why != "" && statesFill(in) == "" {
		return why, &in.SetUp
	}
	if statesFill(in) == "" {
		if why := WeightsStay(in); why != "" {
			n := 2 * in.Parameters.Value
			return why, &n
		}
		if why := statesMost(in); why != "" {
			return why, &in.States
		}
		if memory.WideParameter(in.Request) || WideEngine(in) != "" {
			return weightsFigure(4, "the weights alone, in float32")(in)
		}
		return weightsFigure(2, "the weights alone, in 16 bits")(in)
	}
	least, how := in.statesOnCard()
	where := ""
	if in.Unsharded && in.GPUs > 1 {
		where = fmt.Sprintf(", whole on each of %d GPUs", in.GPUs)
	}
	return sized("weights, gradients and optimizer states%s: %s", least, where, how)
}

// secondCopy reports that a script copied its model, as for a reference or an average, and the copy found no room beside it.
var secondCopy = both(frames(3, "a second copy of the model was being made on the GPU", "parameter.py __deepcopy__"), (*Input).gpu)

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
	full = full || in.WideTraining && in.Framework == "torch" && in.Application == ""
	if key, _, _ := in.Setting("per_device_train_batch_size"); strings.HasPrefix(key, "--") && in.passes(80, "trl/scripts/", "trl/examples/scripts/") {
		full = true // the command line has no use_peft (trl, trainer/utils.py, get_peft_config)
	}
	if _, _, listed := in.Setting("base_model"); listed && in.Application == "axolotl" {
		full = true // its configuration, which it prints, has an adapter otherwise
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

var microBatchKeys = []string{"per_device_train_batch_size", "train_micro_batch_size_per_gpu", "micro_batch_size", "micro_train_batch_size"}

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

// EngineWeightsFill reports that an engine's weights leave nothing of the card for a step and a cache, however small those are. A driver
// that moves to host memory what does not fit, as Windows' does, lets such an engine come as far as its cache.
func EngineWeightsFill(in *Input) string {
	if in.Kind == "kv_cache" && in.CardMost > 0 && in.EngineWeights >= in.CardMost && !in.Quantized {
		return fmt.Sprintf("the weights take %s, and the GPU has %s: nothing is left for a step and a KV cache", classifier.GiB(in.EngineWeights), classifier.GiB(in.CardMost))
	}
	if !in.Profiling || in.Total == nil || in.Allocated == nil || in.EngineWeights < *in.Total*95/100 || *in.Allocated < *in.Total*95/100 {
		return ""
	}
	return fmt.Sprintf("the weights take about %s of the GPU's %s: nothing is left for a step and a KV cache", classifier.GiB(min(in.EngineWeights, *in.Allocated)), gib(in.Total))
}

// LayersFill says that llama.cpp's layers leave not even room for a compute buffer that is small beside them: fewer layers make room,
// where a smaller step cannot make much.
func LayersFill(in *Input) string {
	const small = 30
	if in.LayersOnCard == 0 || in.Requested == nil || *in.Requested <= 0 || *in.Requested > in.LayersOnCard/small || !strings.Contains(in.Text, "gallocr") {
		return ""
	}
	return fmt.Sprintf("the layers on the GPU take %s, and not even %s was left beside them", classifier.GiB(in.LayersOnCard), gib(in.Requested))
}

// WideAdapters says that what is trained beside frozen weights takes most of the card. Low-rank adapters do not: these are modules that
// are trained whole, as the embeddings and the head are where a script names them. A parameter takes two bytes each of weight, gradient
// and moments at least.
func WideAdapters(in *Input) string {
	const each = 6
	if !in.Adapters || in.Total == nil || in.Trained <= 0 || in.Trained > 1<<40 || in.GPUs > 1 || each*in.Trained < *in.Total/2 || in.offloads() {
		return ""
	}
	return fmt.Sprintf("%s parameters are trained beside the frozen ones: at least %s of weights, gradients and moments", count(in.Trained), classifier.GiB(each*in.Trained))
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

// megatronParts is how many GPUs Megatron's trainer splits a model over by tensor and pipeline parallelism, or 0.
func (in *Input) megatronParts() int64 {
	if in.Backend != "megatron" || in.EngineFailed || !in.gpu() {
		return 0
	}
	parts := int64(1)
	for _, k := range []string{"tensor_model_parallel_size", "pipeline_model_parallel_size"} {
		parts *= max(in.number("actor_rollout_ref.actor.megatron."+k, k), 1) // verl's engine has one of its own
	}
	return parts
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
		if parts := in.megatronParts(); parts > 1 {
			split, n = fmt.Sprintf(" / %d GPUs", parts), parts
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
