package cause

import (
	"cmp"
	"fmt"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// moreThanAShare reports that one of several GPUs holds far more than its share of a model that is too large for one, or the whole of a
// model that takes half of it. Megatron's ranks build only their part, of several models in RL.
func moreThanAShare(in *Input) string {
	p := in.Parameters.Value
	if p <= 0 || in.GPUs < 2 || in.Quantized || in.EngineFailed || in.Backend == "megatron" || in.Allocated == nil || in.Total == nil || !in.loading() || !in.gpu() ||
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
	if least, _ := in.states(p); in.Backend == "deepspeed" && least > *in.Allocated*4/5 || in.splitsOptimizer() {
		return "" // as ZeRO's stage, or Megatron's distributed optimizer, leaves it
	}
	return fmt.Sprintf("this card holds %s in the optimizer step, %d bytes per parameter: the states are not split over the %d GPUs", gib(in.Allocated), *in.Allocated/p, in.GPUs)
}

// splitsOptimizer reports that Megatron splits the optimizer's states over its data-parallel ranks, each of which keeps whole weights and
// gradients. Its own scripts do so only on demand; the programs that use it always do.
func (in *Input) splitsOptimizer() bool {
	const key = "use_distributed_optimizer"
	return in.Backend == "megatron" && (in.on(key) || in.Framework != "megatron" && !in.off(key))
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
		p <= 0 || p > 1<<40 || in.Total == nil || 2*p < *in.Total/3, Beyond(in) > 0,
		in.Place == memory.Attention && in.Requested != nil && *in.Requested > *in.Total/8: // one layer's scores, of several that it keeps
		return "" // or the states do not fit even where all of them are split
	}
	return fmt.Sprintf("gradient_accumulation_steps is %d: every GPU keeps whole gradients until the last micro-batch, %s parameters x 2 bytes or more", steps, count(p))
}

// wholeGradientsFigure states the size of whole gradients, which a pipeline divides.
func wholeGradientsFigure(in *Input) (string, *int64) {
	const text = "every GPU keeps whole gradients, not only its part, until the last micro-batch"
	if p := in.Parameters.Value; p > 0 && p < 1<<40 && in.number("gradient_accumulation_steps") > 1 {
		width := int64(2)
		if in.passes(6, "to_accumulated_grad_if_needed") && is("", []string{"reduce_dtype"}, "float32", "fp32", "torch.float32")(in) != "" {
			width = 4 // to which FSDP2 converts what it adds up
		}
		return sized(fmt.Sprintf("%s: %%s parameters x %d bytes", text, width), width*p, count(p))
	}
	return text, nil
}

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
	fsdp := in.trainerGPU() && strings.HasPrefix(in.Backend, "fsdp")
	return cmp.Or(AllShards(in.Requested, in.Trained, in.GPUs, fsdp), AllReduced(in.Requested, in.Parameters.Value, fsdp && in.GPUs > 1 && in.passes(4, "foreach_reduce")))
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

// Replicates reports that MaxText's mesh is data-parallel only (configs/base.yml), so that each card gets the whole state.
func Replicates(in *Input) string {
	if in.Framework != "jax" || !in.gpu() || in.Phase != "init" || in.number("ici_data_parallelism") < 2 || in.number("ici_fsdp_parallelism") != 1 || in.number("ici_tensor_parallelism") > 1 {
		return ""
	}
	return fmt.Sprintf("every card holds the whole state: ici_data_parallelism is %d, and ici_fsdp_parallelism 1", in.number("ici_data_parallelism"))
}

// AllReduced reports that FSDP2 failed where it joins gradients to reduce them (_fsdp_collectives.py, foreach_reduce), and that they are those
// of all parameters.
func AllReduced(requested *int64, parameters int64, reduces bool) string {
	if !reduces || requested == nil || parameters <= 0 || parameters > 1<<40 {
		return ""
	}
	for _, width := range []int64{2, 4} {
		if whole := width * parameters; max(whole-*requested, *requested-whole) < whole/100 {
			return fmt.Sprintf("one request of %s is the gradients of all %s parameters, %d bytes each: FSDP shards the model in one piece", gib(requested), count(parameters), width)
		}
	}
	return ""
}

// OneReplica reports that the GPUs of a run, all together, hold one replica of the model. ZeRO splits states over replicas, in each of its
// stages, so that each GPU keeps all states of its part.
func OneReplica(in *Input) string {
	parts := max(in.number("tensor_model_parallel_size", "model_parallel_size"), 1) * max(in.number("pipe_parallel_size", "pipeline_model_parallel_size"), 1)
	stage := in.number(zeroKeys...)
	if in.Backend != "deepspeed" || !in.gpu() || in.EngineFailed || in.GPUs < 2 || parts != in.GPUs || stage < 1 {
		return ""
	}
	return fmt.Sprintf("ZeRO stage %d splits states over replicas of the model, and its parts on all %d GPUs are one replica: data parallelism is 1", stage, parts)
}

// wholeHandOver says that ZeRO-3 gathers the whole model on each card to hand it to an engine: ms-swift unless it does so in pieces, TRL to
// merge adapters (swift/rlhf_trainers/rollout_mixin.py; swift/trainers/rlhf_trainer/grpo_trainer.py before it; trl/trainer/grpo_trainer.py).
func wholeHandOver(in *Input) (string, *int64) {
	p := in.Parameters.Value
	moves := in.Phase == "weight_update" || in.Phase == "rollout" && in.passes(12, "_move_model_to_vllm")
	if p <= 0 || p > 1<<40 || !in.gpu() || in.Quantized || !moves || in.number("move_model_batches") > 0 ||
		!in.passes(12, "gather_if_zero3(parameters)", "gather_if_zero3(list(", "gatheredparameters(parameters)", "gatheredparameters(model.parameters())") || !in.passes(12, "zero/partition_parameters.py") {
		return "", nil
	}
	return sized("ZeRO-3 gathers the whole model on each GPU to hand it to the engine: %s parameters x 2 bytes", 2*p, count(p))
}

// GatheredBeside returns why an engine that keeps this share of the card has no room for the whole model that ZeRO-3 gathers beside it, or "".
func GatheredBeside(in *Input, share float64) string {
	_, whole := wholeHandOver(in)
	if whole == nil || in.Total == nil || share > 1 {
		return ""
	}
	part := *whole / max(in.GPUs, 1) // which each card keeps
	if int64(share*float64(*in.Total))+*whole+part <= *in.Total {
		return ""
	}
	return fmt.Sprintf("the whole model, %s, is gathered beside the engine: with its share of %g and this card's part of the weights, %s, that exceeds %s", gib(whole), share, classifier.GiB(part), gib(in.Total))
}

// wholeModel reports that one request is as large as the whole model although ranks share it.
func wholeModel(in *Input) string {
	p := in.Parameters.Value
	if p <= 0 || in.GPUs < 2 || in.Requested == nil || in.EngineFailed || *in.Requested < 19*p/10 || in.Place != memory.Gather && in.Place != memory.Weights && !in.passes(12, "flat_param", "_init_param_handle") {
		return ""
	}
	return fmt.Sprintf("one request of %s is the whole model of %s parameters, although %d GPUs share it", gib(in.Requested), count(p), in.GPUs)
}

// wholeOptimizer reports that every data-parallel rank of Megatron keeps the whole optimizer, which fills the card.
func wholeOptimizer(in *Input) string {
	copies := in.number("data_parallel_size")
	if copies < 2 || !in.off("use_distributed_optimizer") || statesStay(in) == "" {
		return ""
	}
	return fmt.Sprintf("each of %d data-parallel ranks keeps the whole optimizer: with weights and gradients, %s of %s", copies, classifier.GiB(in.BetweenSteps), gib(in.Total))
}
