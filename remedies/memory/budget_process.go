package memory

import "strings"

const mib = 1 << 20

// workspaces adds the workspaces of cuBLAS and Transformer Engine, which PyTorch counts as allocated: 71 to 106 MB for Megatron
// with any model (golden values of its functional tests), otherwise 8 to 32 MiB for each handle. Megatron's
// pipelines held up to 6 % more between steps than their states.
func (e *estimate) workspaces() {
	size := span{8 * mib, 32 * mib, 64 * mib}
	if e.Trainer == Megatron {
		size = span{71e6, 90e6, 106e6}
	}
	if e.Trainer == Megatron && e.pp() > 1 {
		size.high += 0.06 * e.allocated()
	}
	e.add("workspaces", PoolAllocated, size, "workspaces of cuBLAS and Transformer Engine")
}

// idle adds what PyTorch reserves but does not use: blocks of another moment, with other sizes, and holes in the allocator,
// up to about 15 % of the allocated memory if shapes are equal.
func (e *estimate) idle(other float64, what string) {
	e.add("idle_reserve", PoolReserved, span{0, other, other + 0.15*e.allocated()}, "cached blocks of %s, %s, and holes of the allocator", strings.ReplaceAll(what, "_", " "), GiB(int64(other)))
}

// process adds the CUDA context and NCCL. NCCL's buffers appear with the first collective of a group: 0.7 to 1.5 GB a
// group on NVLink, more where ranks exchange all to all (nccl #964, #864, #1685).
func (e *estimate) process() {
	if e.Trainer != "" {
		e.workspaces()
	}
	e.add("context", PoolOutside, gibs(0.3, 0.6, 1.4), "CUDA context and loaded kernels")
	groups := 0
	if e.Trainer != "" {
		for _, n := range []Opt[int64]{e.dataParallel(), e.TP, e.PP, e.CP, e.EP} {
			if n.Or(1) > 1 {
				groups++
			}
		}
	}
	if e.Engine != "" && e.EngineTP.Or(1) > 1 {
		groups++
	}
	if groups == 0 || e.phase == PhaseInit {
		return
	}
	size := gibs(0.1, 0.9, 1.5).times(float64(groups))
	if e.ep() > 1 {
		size = size.plus(gibs(0, 1, 2.5))
	}
	e.add("nccl", PoolOutside, size, "NCCL buffers, about 0.9 GiB for each group of ranks (%d)", groups)
}
