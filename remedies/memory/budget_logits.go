package memory

import "slices"

// chain is the peak memory of the logits and everything computed from them, in bytes per token and vocabulary column on this
// rank.
type chain struct {
	forward, backward span
	extra             span // additional bytes that do not depend on the tokens
	source            string
}

// lossChain returns the chain of the setup's framework, from its source.
func (e *estimate) lossChain() chain {
	if e.FusedLoss.Or(false) {
		return e.fusedChain()
	}
	switch {
	case e.Framework == VeRL && e.Trainer == Megatron:
		return e.verlMegatron()
	case e.Framework == VeRL:
		return e.verlFSDP()
	case e.Framework == Slime:
		return e.slime()
	case e.Framework == AReaL && (e.Trainer == Megatron || e.tp() > 1): // utils/functional/vocab_parallel.py
		return chain{span{6, 8, 8}, span{12, 14, 16}, span{}, "logits, and their softmax piece by piece"}
	case e.Framework == AReaL: // each slice's gradient is a full-size tensor
		return chain{exactly(2), span{2, 6, 6}, span{}, "bf16 logits, pieces of 1,024 rows"}
	case e.Framework == OpenRLHF: // models/actor.py, models/utils.py
		return chain{span{4, 6, 6}, exactly(10), span{}, "logits.to(float32)"}.entropy(e, span{0, 0, 4}, exactly(8))
	case e.Framework == TRL && e.Task == "grpo": // accelerate's wrapper returns fp32; 11 were measured in the forward pass
		return chain{span{6, 11, 11}, span{11, 13, 14}, span{}, "fp32 logits and their log-softmax"}
	case e.Framework == TorchTitan && e.tp() > 1: // torch/distributed/tensor/parallel/loss.py, which nothing fuses
		return chain{exactly(14), span{12, 16, 18}, span{}, "log-softmax, its exponential, gradient before and after scaling"}
	case e.Framework == TorchTitan:
		return chain{exactly(10), exactly(12), span{}, "bf16 logits, fp32 copy, log-softmax, gradient"}
	case e.Framework == TRL: // sft_trainer.py computes the loss in pieces by default since 2026
		return chain{span{0, 10, 10}, span{0, 12, 14}, span{}, "bf16 logits, fp32 copy, log-softmax, gradient"}
	case e.Framework == HFTrainer: // transformers loss/loss_utils.py; one more copy before 4.49
		return chain{span{10, 10, 14}, span{12, 12, 16}, span{}, "bf16 logits, fp32 copy, log-softmax, gradient"}
	case e.Framework == TorchTune:
		return chain{span{4, 8, 8}, exactly(8), span{}, "fp32 logits and log-softmax"}
	case e.Framework == LitGPT:
		return chain{exactly(4), exactly(6), span{}, "bf16 logits, log-softmax, gradient"}
	case e.Trainer == Megatron: // tensor_parallel/cross_entropy.py works in place
		return chain{exactly(6), exactly(6), span{}, "bf16 head output and fp32 softmax"}
	}
	return chain{span{2, 6, 14}, span{6, 12, 16}, span{}, "logits in bf16 and fp32, log-softmax"}
}

// fusedChain returns the chain of losses that never build the logits.
func (e *estimate) fusedChain() chain {
	h, v := float64(e.Model.Hidden), e.vocab()/float64(e.tp())
	switch {
	case e.Framework == MegatronLM && e.Trainer == Megatron: // Transformer Engine's cross entropy works in place
		return chain{span{2, 4, 4}, span{4, 4, 6}, span{}, "fused cross entropy of Transformer Engine"}
	case e.Framework == VeRL: // utils/experimental/torch_functional.py, pieces of 512 tokens; triton needs none
		piece := 512 * v * 14
		return chain{span{}, span{}, span{0, piece, piece + 6*v*h}, "fused linear cross entropy, pieces of 512 tokens"}
	}
	// Liger ops/fused_linear_cross_entropy.py: a piece has about tokens x hidden elements, and the head's gradient is whole.
	t := float64(e.lossTokens())
	return chain{span{}, span{}, span{2 * t * h, 4*t*h + 2*v*h, 8*t*h + 4*v*h}, "fused linear cross entropy, in pieces"}
}

// entropy adds what computing the entropy keeps.
func (c chain) entropy(e *estimate, forward, backward span) chain {
	switch {
	case !e.Entropy.Known:
		forward, backward = span{0, 0, forward.high}, span{0, 0, backward.high}
	case !e.Entropy.Value:
		return c
	default:
		c.source += ", entropy"
	}
	c.forward, c.backward = c.forward.plus(forward), c.backward.plus(backward)
	return c
}

// verlMegatron: workers/engine/megatron/transformer_impl.py, utils/megatron/tensor_parallel.py. The actor's log-prob
// stage always computes the entropy, even with coefficient 0; the reference's does not.
func (e *estimate) verlMegatron() chain {
	if e.phase == PhaseLogProb && e.Entropy.Or(true) {
		if e.ChunkedEntropy.Or(false) {
			return chain{exactly(8), exactly(8), span{}, "fp32 logits and their clone, entropy in pieces"}
		}
		return chain{exactly(12), exactly(12), span{}, "fp32 logits, their clone, the entropy's softmax"}
	}
	c := chain{span{4, 6, 6}, span{8, 9, 10}, span{}, "fp32 logits"}
	return c.entropy(e, span{6, 6, 8}, span{8, 9, 10})
}

// verlFSDP: workers/engine/fsdp/transformer_impl.py, utils/torch_functional.py. The compiled entropy fuses its
// intermediates; without compilation softmax and logsumexp run in fp32 under autocast.
func (e *estimate) verlFSDP() chain {
	c := chain{span{2, 4, 4}, span{4, 5, 6}, span{}, "logits divided by the temperature"}
	switch {
	case e.ChunkedEntropy.Or(false):
		c.extra = exactly(16 * 2048 * e.vocab())
		if e.EntropyCheckpointing.Or(false) {
			return c.entropy(e, span{}, span{0, 2, 4})
		}
		return c.entropy(e, span{}, exactly(8))
	case !e.CompiledLoss.Known:
		return c.entropy(e, span{0, 1, 16}, span{4, 4, 16})
	case e.CompiledLoss.Value:
		return c.entropy(e, span{0, 1, 2}, span{4, 4, 4})
	}
	return c.entropy(e, span{10, 14, 16}, exactly(15))
}

// slime: backends/megatron_utils/loss.py, utils/ppo_utils.py; rewritten on 2026-06-30 (#2144, #2152), before which every
// use cloned the logits.
func (e *estimate) slime() chain {
	after := chain{span{8, 8, 12}, span{12, 12, 20}, span{}, "fp32 logits and softmax"}
	before := chain{span{16, 18, 20}, exactly(20), span{}, "fp32 logits, a clone for each use, the entropy's softmax"}
	switch {
	case e.FrameworkDate == "":
		return chain{span{8, 8, 20}, span{12, 12, 20}, span{}, after.source}
	case e.FrameworkDate < "2026-06-30":
		return before
	}
	return after
}

// lossTokens returns the tokens whose logits are computed: by default the whole micro-batch (TRL takes the completions).
func (e *estimate) lossTokens() int64 { return e.LossTokens.Or(e.tokens().Or(0)) }

// Loss returns the memory of the logits and everything computed from them in a phase, even if that is not the peak.
func (s Setup) Loss(phase Phase) Range {
	size, _ := (&estimate{Setup: s, phase: phase}).logits()
	return Range{int64(size.low), int64(size.mid), int64(size.high)}
}

// logits returns the size of the chain in this phase and its formula; zero on stages without the head.
func (e *estimate) logits() (size span, how string) {
	if !e.last() {
		return span{}, ""
	}
	c := e.lossChain()
	each := c.forward
	if e.phase == PhaseBackward {
		each = c.backward
	}
	columns := e.vocab()
	part := ""
	if slices.Contains([]string{Megatron, FSDP2}, e.Trainer) && e.tp() > 1 {
		columns /= float64(e.tp())
		part = " of " + Thousands(e.tp()) + " ranks"
	}
	t := float64(e.lossTokens())
	if each.high == 0 {
		return c.extra, c.source
	}
	return each.times(t * columns).plus(c.extra), count(t) + " tokens x " + count(columns) + " vocabulary" + part + " x " + factor(each.mid) + " bytes (" + c.source + "; one fp32 copy is " + GiB(int64(4*t*columns)) + ")"
}
