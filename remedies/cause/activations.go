package cause

import (
	"cmp"
	"fmt"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// oneSample reports whether the request has no more tokens than one sample may have.
func (in *Input) oneSample() bool {
	return in.Tokens != nil && in.Tokens.OneSample(in.Request[0].High) != ""
}

// keepsOutputs reports that transformers' Trainer was evaluating and moves the logits of all batches to the host.
func keepsOutputs(in *Input) string {
	key, v, ok := in.Setting("eval_accumulation_steps")
	if !ok || !strings.Contains(in.Stage, "running evaluation") || in.on("prediction_loss_only") {
		return ""
	}
	return fmt.Sprintf("%s is %s: the logits of all batches of an evaluation are kept in host RAM", key, v)
}

// batchOfTensor reports that the failed tensor is as long as the batch: TensorFlow prints its shape.
func batchOfTensor(in *Input) string {
	batch := in.number("batch_size")
	if batch < 2 || !in.gpu() || !strings.Contains(in.Message, fmt.Sprintf("with shape[%d,", batch)) {
		return ""
	}
	return fmt.Sprintf("the failed tensor's first dimension is the batch of %d", batch)
}

// RecomputeKeys are what programs call the switch that recomputes activations in the backward pass, Megatron's first.
var RecomputeKeys = []string{
	"recompute_granularity", "gradient_checkpointing", "enable_gradient_checkpointing", "activation_checkpointing", "enable_activation_checkpointing", "use_gradient_checkpointing",
	"use_activation_checkpointing", "gradient_checkpoint", "grad_checkpoint", "grad_checkpointing", "fsdp_activation_checkpointing", "checkpoint_activations", "use_checkpoint", "use_checkpointing",
	"with_cp", "recompute_layer",
}

// keepsActivations reports that recomputation is off.
func keepsActivations(in *Input) string {
	if in.Application == "unsloth" {
		return "" // it has a switch of its own, which is on by default
	}
	if _, v, ok := in.Setting("train_micro_batch_size"); ok && v == "0" {
		return "" // SkyRL tx takes the whole batch through the model at once, which counts for more
	}
	keys := RecomputeKeys
	if in.Backend == "megatron" { // which reads no other
		keys = RecomputeKeys[:1]
	}
	why := is(", so every layer keeps its activations", keys, "false", "none")(in)
	return why[strings.LastIndexByte(why[:max(strings.IndexByte(why, ' '), 0)], '.')+1:]
}

// BatchNegatives says that a loss of sentence-transformers compares each sample with all others of its batch, which accumulation does not
// make up for. Its cached losses hold a part of the batch at a time.
var BatchNegatives = frames(60, "the loss compares each sample with the whole batch, which it embeds at once", "sentence_transformers/losses/multiplenegatives", "sentence_transformers/losses/gistembedloss")

// microBatch describes the activations by what the settings say about the micro-batch and recomputation.
func (in *Input) microBatch() string {
	text := in.batch()
	switch l := in.Tokens; {
	case in.Infers && (in.NoGradSeen || in.Phase != "forward" || !classifier.IsTorch(in.Framework)):
		return text
	case in.Infers:
		return text + "; unless gradients are off, every layer keeps its own for a backward pass"
	case l == nil || in.EngineFailed:
	case l.Samples > 0 && l.Longest > 0:
		text = fmt.Sprintf("the activations of a micro-batch of %d x up to %s tokens do not fit", l.Samples, memory.Thousands(l.Longest))
	case l.Samples > 0:
		text = fmt.Sprintf("the activations of a micro-batch of %d do not fit", l.Samples)
	case l.Budget:
		text = fmt.Sprintf("the activations of a micro-batch of up to %s tokens do not fit", memory.Thousands(l.Tokens))
	}
	if why := cmp.Or(BatchNegatives(in), keepsActivations(in)); why != "" {
		text += "; " + why
	}
	return text
}

// productFigure is requestFigure for a tensor whose size is a product of unknown factors.
func productFigure(tensor string) func(in *Input) (string, *int64) {
	return func(in *Input) (string, *int64) {
		text := tensor + " do not fit"
		if in.Requested != nil && *in.Requested > 0 {
			text = tensor + " need " + gib(in.Requested) + " in one piece"
		}
		return requestFigure(text)(in)
	}
}

// requestFigure returns the arithmetic of the request if it is known.
func requestFigure(text string) func(in *Input) (string, *int64) {
	return func(in *Input) (string, *int64) {
		if len(in.Request) > 0 && (in.Request[0].Seen || in.Request[0].Met) {
			return in.tensor(text), in.Requested
		}
		return plain(text)(in)
	}
}

// tensor returns the arithmetic of the request or, where no more than its shape is known, a text and the shape.
func (in *Input) tensor(text string) string {
	if len(in.Request) == 0 || !in.Request[0].Seen && !in.Request[0].Met {
		return text
	}
	if w := in.Request[0].What; w == memory.Tensor || w == string(memory.Unpacked) {
		return text + "; the failed request is " + trimmed(in.Request[0].Text)
	}
	return trimmed(in.Request[0].Text)
}

// peaksAlone reports that the failed rank had held far more than the others, which have as many layers.
func peaksAlone(in *Input) string {
	if in.Peak < in.OthersPeak+in.OthersPeak/5 || in.OthersPeak <= 0 {
		return ""
	}
	return fmt.Sprintf("this rank had held up to %s, the others %s", classifier.GiB(in.Peak), classifier.GiB(in.OthersPeak))
}

// inExperts reports that a rank failed in the experts' part of a layer, whose ranks get different numbers of tokens.
var inExperts = both(frames(6, "the stack ends in the experts or in routing tokens to them", "moe_permute", "permute_tokens", "token_permut", "grouped_gemm", "groupedmlp", "token_dispatcher", "moe/", "moe_layer", "experts.py"), func(in *Input) bool {
	return in.training() && (in.Rank != nil || in.GPUs > 1 || in.number(expertKeys...) > 1) && !in.passes(2, "/transformers/models/") // whose ranks hold all experts
})

// CropsProtein says which setting cuts samples out of proteins with their alignments, as AlphaFold's descendants do.
func CropsProtein(in *Input) string {
	key, v, ok := in.Setting("max_extra_msa")
	if !ok || in.number("crop_size") == 0 {
		return ""
	}
	return fmt.Sprintf("a sample is a crop of a protein with its alignment (%s is %s)", key, v)
}

// scoresOfResidues says that the request is what attention over the rows of an alignment, or that of the triangles, scores: each pair of a
// crop's residues, for each sequence or each residue (openfold/config.py: 8 and 4 heads).
func scoresOfResidues(in *Input) string {
	crop, rows := in.number("crop_size"), in.number("max_extra_msa")
	if CropsProtein(in) == "" || !in.gpu() || in.Requested == nil || crop > 1<<12 || rows > 1<<16 {
		return ""
	}
	for _, of := range []struct {
		what        string
		rows, heads int64
	}{{"sequences", rows, 8}, {"residues", crop, 4}} {
		for _, size := range []int64{2, 4} {
			if n := of.rows * of.heads * crop * crop * size; n>>20 == *in.Requested>>20 && n > 0 {
				return fmt.Sprintf("attention scores: %s %s x %d heads x %d x %d residues x %d bytes = %s", memory.Thousands(of.rows), of.what, of.heads, crop, crop, size, classifier.GiB(n))
			}
		}
	}
	return ""
}
