package cause

import (
	"fmt"
	"strconv"
	"strings"

	"oomscan/classifier"
)

// JAX and TensorFlow reserve a part of the card for a pool of their own.

// besidePool reports that less of the card is free than JAX leaves outside of its pool, which is three quarters of it by default.
func besidePool(in *Input) string {
	const contexts = 2 << 30 // and libraries' workspaces
	if in.Framework != "jax" || !in.gpu() || in.Free == nil || in.Total == nil {
		return ""
	}
	share := 0.75
	if _, v, ok := in.Setting("XLA_PYTHON_CLIENT_MEM_FRACTION"); ok {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || n > 1 {
			return ""
		}
		share = n
	}
	rest := int64((1 - share) * float64(*in.Total))
	if *in.Free >= rest-contexts {
		return ""
	}
	return fmt.Sprintf("JAX leaves %s of the GPU to others, and only %s was free: another process holds the rest", classifier.GiB(rest), gib(in.Free))
}

// poolRefused says that XLA was refused the pool that it reserves at its start, and then an allocation far smaller than that.
func poolRefused(in *Input) string {
	if in.Application == "tensorflow" || in.Requested == nil || *in.Requested > 1<<30 {
		return ""
	}
	return saw("the pool reserved at the start was refused: too little of the GPU was free", "xla.from_device")(in)
}

// tensorFlowBeside reports that TensorFlow reserved most of the card in the process of another library.
func tensorFlowBeside(in *Input) string {
	pool := in.TensorFlowPool
	if pool <= 0 || !in.gpu() || in.Application == "tensorflow" || in.Framework == "tensorflow" || in.Total != nil && pool < *in.Total/2 ||
		in.Total != nil && in.Allocated != nil && pool+*in.Allocated > *in.Total*21/20 {
		return ""
	}
	return "TensorFlow reserved " + classifier.GiB(pool) + " of the GPU before the failed library took its memory"
}

// tensorFlowStarved reports that TensorFlow, which takes what is free of a card, found a few per cent of one when it started.
func tensorFlowStarved(in *Input) string {
	const least = 1 << 30
	pool := in.TensorFlowPool
	switch {
	case pool <= 0 || pool >= least || !in.gpu() || in.Application != "tensorflow" && in.Framework != "tensorflow":
		return ""
	case in.TensorFlowOther >= 8*pool:
		return "TensorFlow found " + classifier.GiB(pool) + " free on this GPU when it started, and " + classifier.GiB(in.TensorFlowOther) + " on another"
	case in.CardSize >= 16*pool:
		return "TensorFlow found " + classifier.GiB(pool) + " free on a GPU of " + classifier.GiB(in.CardSize) + " when it started"
	}
	return ""
}

// ScoresOfXLA says which of the largest buffers of a program holds a score for each pair of tokens, by XLA's name of its shape.
func ScoresOfXLA(in *Input) string {
	element, dims, ok := strings.Cut(strings.TrimSuffix(in.Scores, "]"), "[")
	if !ok {
		return ""
	}
	size := int64(2)
	if element == "f32" {
		size = 4
	}
	for d := range strings.SplitSeq(dims, ",") {
		n, err := strconv.ParseInt(d, 10, 64)
		if err != nil || n <= 0 || size > 1<<50/n {
			return ""
		}
		size *= n
	}
	return fmt.Sprintf("attention builds its scores in full: XLA's largest buffers have the shape %s, %s each", in.Scores, classifier.GiB(size))
}

// RecordsGraphs says that a model compiled with CUDA graphs recorded one more after many steps, or after PyTorch warned of too many, and
// that those it has hold much of what is allocated: it records one for each size of its input, and keeps them all
// (torch/_inductor/cudagraph_trees.py).
var RecordsGraphs = both(frames(8, "a compiled model was recording a CUDA graph for one more size of its input", "/_inductor/cudagraph_trees.py record_function", "/_inductor/cudagraph_trees.py _record"), func(in *Input) bool {
	const warm = 10 // steps that record the graphs of the first sizes
	_, grows := in.growth()
	late := in.GraphSizes > 0 || grows || in.LastStep != nil && *in.LastStep >= warm
	return late && in.gpu() && !in.EngineFailed && in.Allocated != nil && in.GraphPools >= *in.Allocated/4
})
