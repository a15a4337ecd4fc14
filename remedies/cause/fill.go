package cause

import (
	"fmt"

	"oomscan/classifier"
)

// statesMeasured reports that what DeepSpeed had allocated when it was set up leaves little of the card for a first step, whose request is
// small: neither the batch nor its length matters much.
func statesMeasured(in *Input) string {
	if in.SetUp <= 0 || in.Total == nil || in.Requested == nil || *in.Requested > *in.Total/50 || in.Infers || in.offloads() {
		return ""
	}
	gradients := in.gradientsToCome()
	if in.SetUp+gradients < *in.Total*17/20 {
		return ""
	}
	text := classifier.GiB(in.SetUp) + " was allocated before the first batch"
	if gradients > 0 {
		text += ", and gradients take " + classifier.GiB(gradients)
	}
	return fmt.Sprintf("%s; the card has %s", text, gib(in.Total))
}

// gradientsToCome returns what the gradients take on a card that ZeRO allocates in the first backward pass, 0 if unknown. A run that has
// allocated the states of all parameters trains all of them.
func (in *Input) gradientsToCome() int64 {
	of := func(p int64) int64 {
		switch in.number(zeroKeys...) {
		case 1:
			return 2 * p
		case 2:
			return 2 * p / max(in.GPUs, 1)
		}
		return 0
	}
	p, all := in.Trains(), in.Parameters.Value
	if p == 0 && all < 1<<40 && !in.Adapters && !in.Quantized {
		if states, _ := in.states(all); in.SetUp >= (states-of(all))/20*19 {
			p = all
		}
	}
	if p <= 0 || p > 1<<40 || in.Phase == "optimizer" {
		return 0
	}
	return of(p)
}

// statesFill reports that the training states alone fill the card.
func statesFill(in *Input) string {
	least, how := in.statesOnCard()
	card := in.capacity()
	if card == 0 || least < card/10*9 {
		return ""
	}
	return fmt.Sprintf("weights, gradients and optimizer states take %s or more on each card (%s); the card has %s", classifier.GiB(least), how, classifier.GiB(card))
}

// WeightsStay reports that ZeRO's stages 1 and 2 keep all weights on each card, and that they leave next to nothing of it: to offload the
// optimizer's states moves no weights.
func WeightsStay(in *Input) string {
	p, stage := in.Parameters.Value, in.number(zeroKeys...)
	parts := in.number("tensor_model_parallel_size", "model_parallel_size", "pipe_parallel_size", "pipeline_model_parallel_size")
	if in.Backend != "deepspeed" || stage < 1 || stage > 2 || !in.training() || in.Quantized || parts > 1 || in.Total == nil || p <= 0 || p > 1<<40 || 2*p < *in.Total*17/20 {
		return ""
	}
	return fmt.Sprintf("%s parameters x 2 bytes = %s of the card's %s: ZeRO stage %d keeps all weights on each card", count(p), classifier.GiB(2*p), gib(in.Total), stage)
}

// statesMost reports that the states take so much of the card that a step which recomputes its layers had little room, which a small request
// then lacked.
func statesMost(in *Input) string {
	recomputes := is("", RecomputeKeys, "true", "full")
	if in.Total == nil || in.Requested == nil || !in.training() || *in.Requested > *in.Total/50 || in.States < *in.Total/5*4 || in.Allocated == nil || in.States > *in.Allocated || recomputes(in) == "" {
		return ""
	}
	return fmt.Sprintf("weights, gradients and optimizer states take %s of %s", classifier.GiB(in.States), gib(in.Total))
}

// frozenFill reports that frozen weights leave so little of the card that a small request of a training step found no room.
func frozenFill(in *Input) string {
	if in.Frozen == 0 || in.Total == nil || in.Requested == nil || !in.training() || *in.Requested > *in.Total/50 || in.Frozen < *in.Total*17/20 || in.Allocated == nil || in.Frozen > *in.Allocated {
		return ""
	}
	return fmt.Sprintf("the frozen weights, in 16 bits, take %s of %s", classifier.GiB(in.Frozen), gib(in.Total))
}

// pipelineFill reports that all parts of a pipeline are on the card, and leave so little of it that a small request of a step found no room.
func pipelineFill(in *Input) string {
	if in.Pipeline == 0 || in.Total == nil || in.Requested == nil || *in.Requested > *in.Total/50 || in.Pipeline < *in.Total*17/20 || in.Allocated == nil || *in.Allocated < in.Pipeline/20*19 {
		return ""
	}
	return fmt.Sprintf("the parts of the pipeline, all on the card in 16 bits, take %s of %s", classifier.GiB(in.Pipeline), gib(in.Total))
}

// statesStay reports that what Megatron had allocated between two steps, when no activations are there, leaves little of the card for one.
func statesStay(in *Input) string {
	if in.Total == nil || in.BetweenSteps < *in.Total/5*4 || !in.training() || in.Allocated == nil || in.BetweenSteps > *in.Allocated {
		return ""
	}
	return fmt.Sprintf("weights, gradients and optimizer states take %s of %s, as Megatron says between two steps", classifier.GiB(in.BetweenSteps), gib(in.Total))
}
