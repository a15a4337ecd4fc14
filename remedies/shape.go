package remedies

import (
	"fmt"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

// rankShape returns the layout of the model's parameters on a rank of the failed process, or nil if a size or a split that it
// depends on is unknown.
func rankShape(ctx *Context) *memory.Shape {
	m := ctx.model
	out := &memory.Shape{Hidden: m.Hidden, Inner: m.Inner, Heads: m.Heads, KVHeads: m.KVHeads, HeadDim: m.HeadDim, Vocab: m.Vocab, TP: 1}
	if out.Hidden.Value <= 0 {
		return nil
	}
	for _, e := range []struct {
		to   *memory.Figure
		keys []string
	}{{&out.Experts, []string{"num_experts", "num_local_experts", "n_routed_experts"}}, {&out.ExpertInner, []string{"moe_intermediate_size", "moe_ffn_hidden_size"}}} {
		if n, ok := ctx.settings.integer(e.keys...); ok && n < mostSize {
			e.to.Value = n
		}
	}
	if m.mixed && out.Experts.Value == 0 {
		out.Inner = memory.Figure{} // of experts: number and size unknown
	}
	// Its models keep their matrices apart, but for Phi-3's and its successors.
	out.Apart = ctx.passesThrough("/transformers/trainer.py") && !ctx.is("engine_process") && !strings.Contains(strings.ToLower(ctx.run.Model.Name), "phi")
	var keys []string
	switch {
	case ctx.is("engine_process"):
		keys = engineTP
	case ctx.is("backend:megatron"):
		keys = megatronTP
		out.Vocab = paddedVocabulary(ctx, out.Vocab)
		for _, k := range []string{"expert_model_parallel_size", "expert_tensor_parallel_size"} {
			if n, ok := ctx.settings.integer(k); ok && n > 1 {
				out.Experts = memory.Figure{} // split in a way of their own
			}
		}
	case ctx.is("backend:fsdp"), ctx.is("backend:deepspeed"):
		out.Flat = strings.EqualFold(ctx.run.Backend, "fsdp")
		if n, ok := ctx.gpus(); ok {
			out.Ranks = n
		}
		return out
	default:
		return out
	}
	n, ok := ctx.settings.integer(keys...)
	if !ok || n > 1024 {
		return nil
	}
	out.TP = n
	return out
}

// engineTP lists the names of an engine's tensor-parallel size.
var engineTP = []string{"actor_rollout_ref.rollout.tensor_model_parallel_size", "vllm_tensor_parallel_size", "vllm.tensor_parallel_size", "rollout_num_gpus_per_engine", "tensor_parallel_size", "tp_size", "tp", "num_shard"}

// megatronTP lists the names of Megatron's tensor-parallel size.
var megatronTP = []string{"actor_rollout_ref.actor.megatron.tensor_model_parallel_size", "policy.megatron_cfg.tensor_model_parallel_size", "tensor_model_parallel_size"}

// paddedVocabulary returns a vocabulary padded as in Megatron: to a multiple of 128 per rank of tensor parallelism.
func paddedVocabulary(ctx *Context, v memory.Figure) memory.Figure {
	if n, ok := ctx.settings.integer("padded_vocab_size"); ok && n < mostSize {
		return memory.Figure{Value: n}
	}
	tp, ok := ctx.settings.integer(megatronTP...)
	if !ok || tp > 1024 || v.Value <= 0 {
		return v
	}
	by := int64(128)
	if n, ok := ctx.settings.integer("make_vocab_size_divisible_by"); ok && n < mostSize {
		by = n
	}
	v.Value = ceilDiv(v.Value, by*tp) * by * tp
	return v
}

// makings maps words of the innermost frames to the model's tensor that they create.
var makings = []struct {
	kind  string
	words []string
}{
	{"experts", []string{"fused_moe", "moe", "expert"}},
	{"embedding", []string{"embedding", "lm_head", "embed_tokens"}},
	{"qkv", []string{"qkv"}},
}

// fresh lists words of frames that create weights or an optimizer's state.
var fresh = []string{"zeros_like", "_init_group", "initialize_state", "init_state", "create_weights", "torch.empty(", "parameter(", "torch.zeros("}

// newTensor returns the kind of the tensor that the innermost frames create, and whether it is new.
func newTensor(ctx *Context) (kind string, isNew bool) {
	const near = 4
	for _, m := range makings {
		if kind == "" && ctx.stackTouches(near, m.words...) {
			kind = m.kind
		}
	}
	return kind, ctx.stackContains(near, fresh...)
}

// stackTouches is like stackContains but includes the names of files and skips frames that only pass calls on.
func (ctx *Context) stackTouches(n int, words ...string) bool {
	for i := max(0, len(ctx.stack)-n); i < len(ctx.stack); i++ {
		file := ctx.root.Trace.Frames[i].File
		if !passes(file) && containsAny(strings.ToLower(slashed(file))+" "+ctx.stack[i], words) {
			return true
		}
	}
	return false
}

// firstStep states the total of Adam's state if the request failed as the first step created it.
func firstStep(ctx *Context) string {
	at, _ := failedPlace(ctx)
	if at != memory.Optimizer || !ctx.stackContains(4, fresh...) || !ctx.stackTouches(8, "adam") || ctx.incident.Kind != parser.GPUOOM || trainsAdapters(ctx) {
		return ""
	}
	n, how, ok := rankParameters(ctx)
	if !ok {
		return ""
	}
	const moments = 8
	total := moments * n
	t := fmt.Sprintf("The first step creates Adam's state, two moments of 4 bytes for each of %s: %s in all, of which this request is a part", how, classifier.GiB(total))
	if r := ctx.root; r.Total != nil && total > *r.Total {
		t += fmt.Sprintf("; the card has %s", classifier.GiB(*r.Total))
	}
	return t + ". It stays from then on."
}

// rankParameters returns for how many parameters one rank keeps the optimizer's state.
func rankParameters(ctx *Context) (n int64, how string, ok bool) {
	if g, ok := memory.Reading(ctx.run, ctx.incident, "megatron.parameters"); ok {
		n, ok := g.Fields.Int("count")
		if !ok || n <= 0 || n > mostParameters {
			return 0, "", false
		}
		how := fmt.Sprintf("%s parameters of this rank (%s)", memory.Thousands(n), g.At)
		f, found := ctx.settings.find("use_distributed_optimizer", true)
		if !found {
			return 0, "", false
		}
		if !on(f.value.Value) {
			return n, how, true
		}
		if dp, ok := ctx.settings.integer("data_parallel_size"); ok && dp <= n && !ctx.is("moe") {
			return n / dp, fmt.Sprintf("%s / %d data-parallel ranks", how, dp), true
		}
		return 0, "", false
	}
	p := ctx.model.Parameters
	ranks, known := ctx.gpus()
	if p.Value <= 0 || !known || ranks < 1 || !ctx.is("backend:fsdp") && !ctx.is("backend:deepspeed") {
		return 0, "", false
	}
	if stage, ok := ctx.settings.integer("zero_optimization.stage", "zero_stage", "zero_config.stage"); ctx.is("backend:deepspeed") && (!ok || stage < 1) {
		return 0, "", false
	}
	return p.Value / ranks, fmt.Sprintf("%s parameters%s / %d ranks", p, fromName(p), ranks), true
}
