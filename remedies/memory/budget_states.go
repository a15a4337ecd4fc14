package memory

import "slices"

// updates lists the phases of a weight update.
var updates = []Phase{PhaseForward, PhaseBackward, PhaseOptimizer}

// bytesEach is the bytes of a trained parameter before sharding.
type bytesEach struct{ weights, grads, optimizer span }

// halfTrainers and wholeTrainers keep parameters in bf16 and in fp32 by default. Those of transformers' Trainer have the type that they were loaded in.
var (
	halfTrainers  = []string{AReaL, TorchTune, LitGPT}
	wholeTrainers = []string{VeRL, TorchTitan, TRL}
)

// loadBack are the frameworks that load offloaded parameters back for every pass. With others only gathered units are on the
// card.
var loadBack = []string{VeRL, Slime}

// recipe returns the bytes of a parameter by trainer:
//   - Megatron 2 + 4 + 12 (megatron/training/theoretical_memory_usage.py; docs/user-guide/features/dist_optimizer.md),
//   - ZeRO 2 + 2 + 12 (deepspeed/runtime/zero/stage_1_and_2.py, stage3.py),
//   - FSDP and DDP in fp32 4 + 4 + 8 (verl trainer/config/engine/fsdp.yaml; accelerate utils/fsdp_utils.py), in bf16
//     2 + 2 + 4, for torch's AdamW keeps its states in the parameter's type (AReaL engine/fsdp_engine.py).
func (s *Setup) recipe() bytesEach {
	var r bytesEach
	switch s.Trainer {
	case Megatron:
		r = bytesEach{exactly(2), exactly(4), exactly(12)}
	case ZeRO1, ZeRO2, ZeRO3:
		r = bytesEach{exactly(2), exactly(2), exactly(12)}
	default:
		w := span{2, 4, 4}
		switch {
		case slices.Contains(halfTrainers, s.Framework):
			w = exactly(2)
		case slices.Contains(wholeTrainers, s.Framework):
			w = exactly(4)
		}
		w = given(s.WeightBytes, w)
		r = bytesEach{w, w, w.times(2)}
	}
	master := r.optimizer.high - 8
	switch s.Optimizer {
	case "adamw_8bit": // two moments of one byte, and a scale for each 2,048 values (bitsandbytes)
		r.optimizer = exactly(max(master, 0) + 2 + 2*4.0/2048)
	case "adam_bf16": // Kahan compensation is on (AReaL engine/fsdp_utils/optimizer.py)
		r.optimizer = exactly(6)
	case "sgd":
		r.optimizer = exactly(max(master, 0))
	}
	r.weights = given(s.WeightBytes, r.weights)
	r.grads = given(s.GradBytes, r.grads)
	r.optimizer = given(s.OptimizerBytes, r.optimizer)
	return r
}

// given returns a known value, or the default.
func given(o Opt[float64], other span) span {
	if o.Known {
		return exactly(o.Value)
	}
	return other
}

// split returns which states the trainer shards over its data-parallel ranks.
func (s *Setup) split() (weights, grads, optimizer bool) {
	switch s.Trainer {
	case FSDP1, FSDP2, ZeRO3:
		return true, true, true
	case ZeRO2:
		return false, true, true
	case ZeRO1:
		return false, false, true
	case Megatron: // verl, AReaL and slime always switch it on; Megatron's own default is off
		return false, false, s.DistributedOptimizer.Or(s.Framework != "" && s.Framework != MegatronLM)
	}
	return false, false, false
}

// onRank returns the elements of a state on one rank: dense parameters over data-parallel ranks, experts over theirs.
func (s *Setup) onRank(h holding, sharded bool) (elements float64, how string) {
	if !sharded {
		return h.all(), count(h.all()) + " parameters on this rank"
	}
	n := float64(s.shards().Or(1))
	if h.experts > 0 && s.Trainer == Megatron {
		ne := float64(s.expertParallel().Or(1))
		return h.dense/n + h.experts/ne, "(" + count(h.dense) + " dense parameters / " + count(n) + " ranks + " + count(h.experts) + " of experts / " + count(ne) + ")"
	}
	return h.all() / n, count(h.all()) + " parameters / " + count(n) + " ranks"
}

// rankHolding returns what a rank holds before sharding. If layer sizes are unknown, it splits parameters evenly.
func (s *Setup) rankHolding() (h holding, ok bool) {
	if s.Model.sized() {
		return s.holds(), true
	}
	p := s.Model.parameters()
	return holding{dense: p.Value / float64(s.tp()*s.pp())}, p.Known
}

// states adds weights, gradients and the optimizer's states in the phases that hold them.
func (e *estimate) states() {
	h, known := e.rankHolding()
	w, g, o := e.split()
	ranks := input{"number of ranks (world size)", e.shards().Known || !(w || g || o)}
	if !e.have("states", OnCard, input{"model sizes or number of parameters", known}, ranks) {
		return
	}
	r := e.recipe()
	if e.Adapters.Known {
		e.adapterStates(h, r)
		return
	}
	idle := e.phase == PhaseRollout || e.phase == PhaseData
	trains := slices.Contains(updates, e.phase)
	away := e.ParamOffload.Or(false) && (idle || e.OptimizerOnHost.Or(false) || !slices.Contains(loadBack, e.Framework))
	if n, how := e.onRank(h, w); !away {
		e.add("weights", PoolAllocated, r.weights.times(n), "%s x %s bytes", how, factor(r.weights.mid))
	}
	switch n, how := e.onRank(h, g); {
	case !trains && e.Trainer != Megatron: // Megatron's buffer is made at start and stays (distributed_data_parallel.py)
	case idle && e.ParamOffload.Or(false):
	case e.Trainer != Megatron && e.ParamOffload.Or(false) && e.OptimizerOnHost.Or(false): // FSDP2's offload policy moves them, too
	default:
		e.add("gradients", PoolAllocated, r.grads.times(n), "%s x %s bytes", how, factor(r.grads.mid))
	}
	n, how := e.onRank(h, o)
	e.optimizerStates(r.optimizer, n, how)
	if trains {
		e.buffers(h, r)
	}
	e.otherModels(h, r)
	if e.phase == PhaseInit && e.Framework == AReaL && w { // unless memory_efficient_load (AReaL engine/fsdp_engine.py)
		e.add("loading", PoolAllocated, span{0, 2 * h.all(), 2 * h.all()}, "%s parameters x 2 bytes: every rank loads the whole model on its card first", count(h.all()))
	}
}

// offloadsReference reports whether a reference model, if there is one, waits on the host: verl's FSDP workers always offload it.
func (s *Setup) offloadsReference() bool {
	return s.ReferenceOffload.Or(s.Framework == VeRL && s.Trainer != Megatron)
}

// referenceOnHost reports whether a reference model waits on the host.
func (s *Setup) referenceOnHost() bool { return s.Reference.Or(false) && s.offloadsReference() }

// otherModels adds the models of reinforcement learning other than the actor: a reference model, whose weights are only
// read, and a critic, which is trained like the actor and about as large.
func (e *estimate) otherModels(h holding, r bytesEach) {
	if !slices.Contains([]string{VeRL, AReaL, Slime, OpenRLHF}, e.Framework) && e.Task != "grpo" {
		return
	}
	w, _, o := e.split()
	n, how := e.onRank(h, w)
	where := OnCard
	if e.offloadsReference() {
		where = OnNode // see hostStates
	}
	if e.have("reference", where, input{"whether a reference model is loaded", e.Reference.Known}) && e.Reference.Value && where == OnCard {
		e.add("reference", PoolAllocated, r.weights.times(n), "reference model: %s x %s bytes", how, factor(r.weights.mid))
	}
	if !e.have("critic", OnCard, input{"whether a critic is trained on the same cards", e.Critic.Known}) || !e.Critic.Value {
		return
	}
	states := exactly(0)
	if !e.ParamOffload.Or(false) {
		states = r.weights.times(n)
	}
	if e.phase != PhaseInit {
		m, _ := e.onRank(h, o)
		states = states.plus(r.optimizer.times(m * (1 - e.OptimizerOffload.Or(0))))
	}
	e.add("critic", PoolAllocated, states, "critic's weights and optimizer, offloaded like the actor's: %s x %s bytes", how, factor(states.mid/max(n, 1)))
}

// optimizerStates adds the optimizer's states, which exist after the first step. verl loads offloaded ones before the
// forward pass of an update (workers/engine, update_actor); DeepSpeed and Megatron step on the host.
func (e *estimate) optimizerStates(each span, n float64, how string) {
	if e.phase == PhaseInit || !e.have("optimizer", OnCard, input{"bytes of the optimizer's states", e.Optimizer != OtherOptimizer || e.OptimizerBytes.Known}) {
		return
	}
	stay := 1 - e.OptimizerOffload.Or(0)
	update := slices.Contains(updates, e.phase)
	if e.Framework == VeRL && update && !e.OptimizerOnHost.Or(false) {
		stay = 1
	}
	part := ""
	if stay < 1 {
		part = " x " + factor(stay) + " that stays on the card"
	}
	e.add("optimizer", PoolAllocated, each.times(n*stay), "%s x %s bytes%s", how, factor(each.mid), part)
	if e.phase != PhaseOptimizer {
		return
	}
	switch e.Trainer {
	case Megatron: // its fused Adam makes no copy
	case ZeRO1, ZeRO2, ZeRO3: // sub_group_size 1e9 (runtime/zero/config.py)
		const group = 1e9
		m := min(n, group)
		e.add("optimizer_temporaries", PoolAllocated, exactly(4*m).times(stay), "one group of fp32 gradients, %s elements x 4 bytes", count(m))
	default: // torch's foreach implementation makes one temporary of all parameters for an operation
		w := e.recipe().weights.times(n)
		if !e.Foreach.Known {
			w.low = 0
		}
		if e.Foreach.Or(true) && e.Optimizer != "adamw_8bit" {
			e.add("optimizer_temporaries", PoolAllocated, w, "one temporary of torch's foreach step, %s x %s bytes", how, factor(w.mid/max(n, 1)))
		}
	}
}

// adapterStates adds the states of LoRA: a frozen base, and all states of the adapters. Quantized bases keep embedding,
// head and norms in two bytes (bitsandbytes).
func (e *estimate) adapterStates(h holding, r bytesEach) {
	w, _, _ := e.split()
	n, how := e.onRank(h, w)
	base := r.weights
	if !e.WeightBytes.Known {
		base = span{2, 2, r.weights.high}
	}
	if e.QuantizedBytes.Known && h.all() > 0 {
		share := h.root / h.all()
		base = exactly(2*share + e.QuantizedBytes.Value*(1-share))
	}
	e.add("weights", PoolAllocated, base.times(n), "frozen: %s x %s bytes", how, factor(base.mid))
	each := span{8, 16, 16} // PEFT keeps adapters in fp32 (autocast_adapter_dtype)
	if slices.Contains(halfTrainers, e.Framework) {
		each = exactly(8)
	}
	e.add("adapters", PoolAllocated, each.times(float64(e.Adapters.Value)), "%s adapter parameters x %s bytes of all states", Thousands(e.Adapters.Value), factor(each.mid))
	if e.QuantizedBytes.Known && h.matrix > 0 && e.phase != PhaseInit {
		e.add("dequantised", PoolAllocated, exactly(2*h.matrix), "the largest matrix, %s elements x 2 bytes, dequantized at work", count(h.matrix))
	}
}

// buffers adds DeepSpeed's buckets, DDP's second copy of the gradients, autocast's bf16 copies of fp32 weights, and a weight
// gradient before it is accumulated.
func (e *estimate) buffers(h holding, r bytesEach) {
	const bucket, prefetch, live = 5e8, 5e7, 1e9 // runtime/zero/config.py
	reduce := float64(e.ReduceBucket.Or(bucket))
	copies := 1.0
	if e.OverlapComm.Or(e.Trainer == ZeRO3) {
		copies = 2
	}
	switch e.Trainer {
	case ZeRO1, ZeRO2:
		gather := float64(e.GatherBucket.Or(bucket))
		e.add("comm_buckets", PoolAllocated, span{min(reduce*copies, h.all()) * 2, 2 * (reduce*copies + gather), 9 * (reduce + gather)}, "reduce bucket %s x %s and gather bucket %s, x 2 bytes", count(reduce), factor(copies), count(gather))
	case ZeRO3:
		l := min(live, h.all())
		e.add("comm_buckets", PoolAllocated, span{2 * reduce, 2 * (reduce*copies + prefetch), 2 * (reduce*copies + prefetch + l)}, "reduce bucket %s x %s and prefetch bucket %s, x 2 bytes; at most %s live parameters x 2 bytes besides", count(reduce), factor(copies), count(prefetch), count(l))
	case DDP: // gradient_as_bucket_view is off by default (torch/nn/parallel/distributed.py)
		g := r.grads.times(h.all())
		g.low = 0
		e.add("comm_buckets", PoolAllocated, g, "DDP's buckets hold all gradients once more: %s parameters x %s bytes", count(h.all()), factor(r.grads.mid))
	case Megatron:
		if !e.GradAccumulationFusion.Or(true) && e.phase == PhaseBackward {
			e.add("comm_buckets", PoolAllocated, exactly(2*h.matrix), "the largest weight gradient, %s elements x 2 bytes, before it is accumulated", count(h.matrix))
		}
	}
	if (e.Trainer == DDP || e.Trainer == SingleDevice) && r.weights.mid == 4 && e.phase != PhaseOptimizer {
		c := exactly(2 * max(h.all()-h.root, 0))
		c.low = 0
		e.add("autocast_copies", PoolAllocated, c, "bf16 copies that autocast keeps of %s fp32 weights x 2 bytes", count(h.all()-h.root))
	}
}
