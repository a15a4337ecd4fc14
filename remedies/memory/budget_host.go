package memory

import "slices"

// host adds what the processes of one node hold in host memory.
func (e *estimate) host() {
	if !e.have("host_processes", OnNode, input{"GPUs of a node", e.GPUsPerNode.Known}) {
		return
	}
	g := float64(e.GPUsPerNode.Value)
	if e.Trainer != "" {
		e.add("host_processes", PoolHost, gibs(1.5, 2.5, 4).times(g), "%s training processes x 1.5 to 4 GiB: interpreter, CUDA, libraries", count(g))
	}
	if e.Engine != "" && (e.Trainer == "" || e.Colocated.Or(false)) {
		e.add("host_engine_processes", PoolHost, gibs(4, 6, 10).times(g), "%s engine processes x 4 to 10 GiB", count(g))
		pool := float64(e.SwapBytes.Or(0) + e.CPUOffloadBytes.Or(0))
		e.add("host_engine_pools", PoolHost, exactly(pool*g), "%s of pinned pools x %s ranks", GiB(int64(pool)), count(g))
	}
	e.hostStates(g)
	e.hostSleep(g)
	e.hostData(g)
	if e.phase == PhaseInit {
		e.hostLoad(g)
	}
	if e.phase == PhaseCheckpoint {
		e.hostSave(g)
	}
}

// hostStates adds offloaded states. Pinned blocks are rounded up to powers of two (torch's host allocator): at most twice.
func (e *estimate) hostStates(g float64) {
	if e.Trainer == "" || !e.ParamOffload.Or(false) && !e.referenceOnHost() && e.OptimizerOffload.Or(0) == 0 {
		return
	}
	h, known := e.rankHolding()
	w, _, o := e.split()
	if !e.have("host_offload", OnNode, input{"model sizes or number of parameters", known}, input{"number of ranks (world size)", e.shards().Known}) {
		return
	}
	r := e.recipe()
	each := 0.0
	if e.referenceOnHost() {
		n, _ := e.onRank(h, w)
		each += n * r.weights.mid
	}
	if e.ParamOffload.Or(false) {
		n, _ := e.onRank(h, w)
		each += n * r.weights.mid
	}
	early := slices.Contains([]string{ZeRO1, ZeRO2, ZeRO3}, e.Trainer) // DeepSpeed makes them when it is set up (runtime/zero/stage3.py, initialize_optimizer_states)
	if x := e.OptimizerOffload.Or(0); x > 0 && (early || e.phase != PhaseInit) {
		n, _ := e.onRank(h, o)
		b := r.optimizer.mid
		if e.Trainer == Megatron && e.Framework != VeRL { // pinned gradients, too (optimizer/cpu_offloading)
			b += 4
		}
		each += x * n * b
	}
	e.add("host_offload", PoolHost, span{each * g, each * g, 2 * each * g}, "%s of offloaded states x %s ranks; pinned blocks may take twice that", GiB(int64(each)), count(g))
}

// hostSleep adds the weights of an engine that sleeps at level 1: pinned, one copy for each replica.
func (e *estimate) hostSleep(g float64) {
	if e.Engine == "" || !e.Colocated.Or(false) || e.SleepLevel.Or(0) != 1 || !slices.Contains(trainerPhases, e.phase) {
		return
	}
	if w, how, ok := e.engineWeights(); ok {
		e.add("host_sleep", PoolHost, span{w * g, w * g, 2 * w * g}, "weights of the sleeping engine: %s, x %s ranks of the node", how, count(g))
	}
}

// hostLoad adds the model while it is loaded: read by every rank, or by one rank of the node.
func (e *estimate) hostLoad(g float64) {
	p := e.Model.parameters()
	every := e.LoadOnEveryRank
	if !every.Known && e.Framework == VeRL && e.Trainer != Megatron {
		every = Some(e.Model.Tied) // meta tensors only where embeddings are not tied (verl utils/fsdp_utils.py)
	}
	if e.Trainer == "" || !e.have("host_loading", OnNode, input{"number of parameters", p.Known}, input{"whether every rank loads the whole model", every.Known}) {
		return
	}
	b, n := e.recipe().weights.times(p.Value), 1.0
	if every.Value {
		n = g
	}
	e.add("host_loading", PoolHost, b.times(n), "%s parameters x %s bytes x %s processes", count(p.Value), factor(b.mid/p.Value), count(n))
}

// hostSave adds a checkpoint: the whole state dict on one rank, or each rank's shard with a copy that is being written.
func (e *estimate) hostSave(g float64) {
	p := e.Model.parameters()
	h, known := e.rankHolding()
	if e.Trainer == "" || !e.have("host_checkpoint", OnNode, input{"number of parameters", p.Known && known},
		input{"whether the state dict is gathered on one rank", e.CheckpointGather.Known}, input{"number of ranks (world size)", e.shards().Known}) {
		return
	}
	r := e.recipe()
	if e.CheckpointGather.Value {
		b := r.weights.mid
		if e.CheckpointOptim.Or(false) {
			b += r.optimizer.mid
		}
		e.add("host_checkpoint", PoolHost, exactly(b*p.Value), "%s parameters x %s bytes, whole on one rank", count(p.Value), factor(b))
		return
	}
	w, _, o := e.split()
	nw, _ := e.onRank(h, w)
	no, _ := e.onRank(h, o)
	each := nw * r.weights.mid
	if e.CheckpointOptim.Or(true) {
		each += no * r.optimizer.mid
	}
	e.add("host_checkpoint", PoolHost, span{each * g, each * g, 2 * each * g}, "%s of shards x %s ranks, and a copy while they are serialized", GiB(int64(each)), count(g))
}

// hostData adds batches, loaders and Ray's object store, which is in /dev/shm and counts as shared memory of the job.
func (e *estimate) hostData(g float64) {
	if e.RolloutSamples.Known {
		// ids, masks, positions and three kinds of log-probs of a padded token, copied by driver, store and workers
		length := max(e.SequenceMax.Or(0), e.SequenceNow.Or(0))
		if e.have("host_rollout", OnNode, input{"longest sample", length > 0}) {
			n := float64(e.RolloutSamples.Value) * float64(length)
			e.add("host_rollout", PoolHost, span{40 * n, 150 * n, 180 * n}, "%s samples x %s tokens x 40 to 60 bytes x 3 copies", Thousands(e.RolloutSamples.Value), Thousands(length))
		}
	}
	if e.LoaderWorkers.Or(0) > 0 && e.have("host_loaders", OnNode, input{"memory of a loader worker", e.LoaderWorkerBytes.Known}) {
		n := float64(e.LoaderWorkers.Value) * g
		e.add("host_loaders", PoolHost, exactly(n*float64(e.LoaderWorkerBytes.Value)), "%s loader workers x %s", count(n), GiB(e.LoaderWorkerBytes.Value))
	}
	if !slices.Contains([]string{VeRL, OpenRLHF, Slime}, e.Framework) {
		return
	}
	most := Opt[float64]{}
	if e.ObjectStoreBytes.Known {
		most = Some(float64(e.ObjectStoreBytes.Value))
	} else if e.NodeBytes.Known { // Ray takes 30 % of the node, at most 200 GB
		most = Some(min(0.3*float64(e.NodeBytes.Value), 200e9))
	}
	if e.have("host_object_store", OnNode, input{"Ray's object store or the node's memory", most.Known}) {
		e.add("host_object_store", PoolHost, span{0, 0, most.Value}, "Ray's object store, at most %s before it spills", GiB(int64(most.Value)))
	}
}
