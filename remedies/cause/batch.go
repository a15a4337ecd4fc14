package cause

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/remedies/memory"
)

// Settings that size one forward pass. The names of plain ones do not say whether one GPU gets all of it.
var (
	microBatches = []string{
		"per_device_train_batch_size", "train_micro_batch_size_per_gpu", "micro_train_batch_size_per_gpu", "micro_batch_size_per_gpu", "micro_train_batch_size", "train_micro_batch_size",
		"micro_batch_size", "per_gpu_train_batch_size", "device_batch_size", "local_batch_size", "samples_per_gpu", "images_per_gpu",
	}
	plainBatches = []string{"mini_batch_size", "batch_duration", "ims_per_batch", "batch_size"}
	evalBatches  = []string{"per_device_eval_batch_size", "eval_batch_size"}
)

// batch names the batch whose activations did not fit, with the setting of its size if the log has one.
func (in *Input) batch() string {
	const micro, plain = "the activations of the micro-batch do not fit", "the activations of the batch do not fit"
	rest := plainBatches
	if in.Backend != "deepspeed" { // where it is the sum over all GPUs and steps of accumulation
		rest = append(slices.Clip(rest), "train_batch_size")
	}
	switch {
	case in.Framework == "verl" || in.Phase == "rollout" || in.Phase == "logprob": // each of several models has settings of that name
		if in.Infers {
			return plain
		}
		return micro
	case in.Infers:
		return plain + in.sizes(append(slices.Clip(evalBatches), "batch_size", "*batch_size")...)
	}
	if size := in.sizes(microBatches...); size != "" {
		return micro + size
	}
	if size := in.sizes(rest...); size != "" {
		return plain + size
	}
	return micro
}

// sizes returns the first of the settings that is a number, in parentheses.
func (in *Input) sizes(keys ...string) string {
	for _, k := range keys {
		key, _, _ := in.Setting(k)
		n := in.number(k)
		if evaluates := strings.Contains(k, "eval"); n == 0 || evaluates != in.Infers && containsAny(strings.ToLower(key), []string{"eval", "val.", "val_", "test"}) || in.Infers && strings.Contains(key, "train") {
			continue
		}
		return fmt.Sprintf(" (%s %d)", lastPart(key), n)
	}
	return ""
}

// stepSizes are settings of the most tokens that an engine processes in one step: vLLM, SGLang, TGI, TensorRT-LLM, LMDeploy, llama.cpp.
var stepSizes = []string{"max_num_batched_tokens", "chunked_prefill_size", "max_prefill_tokens", "max_batch_prefill_tokens", "max_num_tokens", "max_prefill_token_num", "n_ubatch", "ubatch_size", "ub"}

// stepSize says how many tokens an engine's step had, or may have, or returns "".
func (in *Input) stepSize() string {
	if in.PrefillTokens > 0 && in.passes(80, "extend", "prefill") {
		return fmt.Sprintf(": the last prefill batch had %s tokens", memory.Thousands(in.PrefillTokens))
	}
	for _, k := range stepSizes {
		if n := in.number(k); n > 1 {
			key, _, _ := in.Setting(k)
			return fmt.Sprintf(": up to %s tokens a step (%s)", memory.Thousands(n), lastPart(key))
		}
	}
	return ""
}

// lastPart returns a key without the path before it and without a flag's dashes.
func lastPart(key string) string {
	return strings.TrimLeft(key[strings.LastIndexByte(key, '.')+1:], "-")
}

// widerThanLayers reports that a gradient takes more per token of the micro-batch than the widest layer of the model or, where its
// size is unknown, of any model: only the vocabulary is that wide.
func widerThanLayers(in *Input) string {
	widest := int64(256 << 10) // bytes: 64k elements of four
	if in.Inner > 0 && !in.passes(12, "experts", "/moe/") && is("", eagerKeys, "eager", "disabled")(in) == "" {
		widest = min(widest, 4*in.Inner) // both halves of a gated layer in 16 bits, or one in float32
	}
	if in.Requested == nil || in.Tokens == nil || in.Tokens.Tokens < 1024 || in.Place != memory.Unnamed || len(in.Request) > 0 && in.Request[0].Over {
		return ""
	}
	tokens := in.Tokens.Tokens // of one rank, where several share a sample
	if in.Tokens.Budget {
		tokens = max(tokens, in.Tokens.Longest)
	}
	each := *in.Requested / tokens
	if each < widest {
		return ""
	}
	return fmt.Sprintf("%s for the %s tokens that a micro-batch may have are %d KiB each: no layer is so wide, only the vocabulary", gib(in.Requested), memory.Thousands(tokens), each>>10)
}

// languageTrainers lists programs that train language models.
var languageTrainers = []string{
	"areal", "axolotl", "easyr1", "llamafactory", "nemo_rl", "open_instruct", "openrlhf", "prime_rl", "relax", "roll", "skyrl", "slime", "swift", "torchtune", "trl", "unsloth", "verl",
}

// largeGradient reports that the backward pass itself asked for more in one piece than layers of language models do, where nothing
// shows how many tokens the micro-batch has. A critic has no logits.
func largeGradient(in *Input) string {
	const least = 3 << 30
	if in.Requested == nil || *in.Requested < least || in.Tokens != nil || len(in.Request) > 0 || in.Phase != "backward" || in.Place != memory.Unnamed || !in.passes(2, "run_backward") || in.passes(len(in.Stack), "critic") {
		return ""
	}
	if !slices.Contains(languageTrainers, in.Framework) && !slices.Contains(languageTrainers, in.Application) {
		return ""
	}
	if is("", eagerKeys, "eager", "disabled")(in) != "" {
		return ""
	}
	return "the backward pass asked for " + gib(in.Requested) + " in one piece, more than a layer usually takes"
}

// eagerKeys are settings whose values eager and disabled make attention build its scores in full.
var eagerKeys = []string{"flash_attn", "attn_implementation", "attn_impl"}

// eagerLayer reports that a layer which is recomputed asks for so much while its attention is not fused: the vocabulary's head is no part
// of such a layer in transformers. LLaMA-Factory's name for eager is disabled (model/model_utils/attention.py).
func eagerLayer(in *Input) string {
	eager := is(": attention builds its scores in full, in a layer that is recomputed", eagerKeys, "eager", "disabled")
	if widerThanLayers(in) == "" || !in.passes(12, "torch/utils/checkpoint.py backward") {
		return ""
	}
	return eager(in)
}

// gatherFigure says what of a sharded layer stands whole: its weights or, in FSDP1's hook after a backward pass, its gradients
// (torch/distributed/fsdp/_runtime_utils.py).
func gatherFigure(in *Input) (string, *int64) {
	if p := in.Parameters.Value; in.passes(20, "sync_target_model") && p > 0 && p < 1<<40 {
		return sized("the sync gathers the policy and its reference whole on every GPU: 2 models x %s parameters x 2 bytes", 4*p, count(p))
	}
	if in.passes(6, "_get_reduce_scatter_tensors") {
		return "FSDP copies the whole gradients of a unit before it splits them", in.Requested
	}
	return plain("sharded layers are gathered whole before use")(in)
}
