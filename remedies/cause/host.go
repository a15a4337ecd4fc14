package cause

import (
	"cmp"
	"fmt"
	"strings"

	"oomscan/classifier"
)

// host lists the causes that lie in a node's memory.
var host = []hypothesis{
	{
		id: "shm",
		evidence: []weighed{
			{2 * proof, when("/dev/shm is full", func(in *Input) bool { return in.Resource == "shm" })},
			{4 * proof, when("Ray's object store, which is in /dev/shm, is full", (*Input).storeFull)},
		},
		figure: func(in *Input) (string, *int64) {
			if in.storeFull() {
				return plain("Ray's object store is full of objects still in use")(in)
			}
			if key, v, ok := in.Setting("shm_size", "shm-size"); ok {
				return fmt.Sprintf("/dev/shm has its own size limit: %s is %s", key, v), in.SHMUsed
			}
			return "/dev/shm has its own size limit, 64 MB in a container by default", in.SHMUsed
		},
	},
	{
		id: "checkpoint_gather",
		evidence: []weighed{
			{proof, failedIn("it failed while a checkpoint was saved", "checkpoint")},
			{proof, BroadcastsState},
			{sign, both(frames(12, "the stack ends where a state dict is gathered", "full_state_dict", "_gather_full_param", "save_checkpoint", "save_pretrained", "gather_16bit", "consolidated"), func(in *Input) bool { return in.Phase != "weight_update" && in.Phase != "init" })},
			{sign + 2*hint, both(gathersOnOne, func(in *Input) bool { return in.host() && in.Phase == "unknown" })},
			{2 * proof, both(wholeStateInOne, func(in *Input) bool { return gathersOnOne(in) != "" })},
			{proof, wholeInEach},
		},
		excludes: []clue{both(readsCheckpoint, (*Input).gpu), ReadsIntoHost, mergesAdapters},
		figure: func(in *Input) (string, *int64) {
			if why := wholeStateInOne(in); why != "" {
				return why + ": saving gathers the whole state there", nil
			}
			if why := wholeInEach(in); why != "" {
				return why + ": each gathers it to save it", nil
			}
			if why := BroadcastsState(in); why != "" {
				return why, in.Requested
			}
			if in.gpu() {
				return "the checkpoint needs memory on a GPU that training has filled", nil
			}
			if n := in.wholeFile(); n > 0 {
				return sized("saving copies the weights to host memory, more than once where it converts them: %s parameters x 2 bytes", 2*n, count(n))
			}
			return "saving gathers the checkpoint in host memory", nil
		},
	},
	{
		id: "loader_workers",
		evidence: []weighed{
			{2 * proof, when("a process that prepares data was killed", func(in *Input) bool { return in.DataWorkers && in.host() })},
			{sign, both(failedIn("it failed while data was loaded", "data"), (*Input).host)},
			{sign, ManyWorkers},
			{2 * proof, LoadersHold},
			{2 * proof, LoaderHolds},
			{sign, prefetches},
			{sign, driverHolds},
			{proof, KeepsData},
			{sign + 2*hint, shuffles},
			{proof, HelpersHold},
			{sign + 2*hint, RoutedExperts},
			{sign + hint, both(trainersHold, func(in *Input) bool { return RoutedExperts(in) != "" })},
		},
		excludes: []clue{failedIn("no data is loaded in this phase", "init", "weight_update", "checkpoint"), tinyLimit, oneLargeRequest},
		figure: func(in *Input) (string, *int64) {
			if why := cmp.Or(fillsBuffer(in), KeepsData(in), HelpersHold(in), shuffles(in), RoutedExperts(in)); why != "" {
				return why, nil
			}
			if why := LoaderHolds(in); why != "" {
				return "a worker of the data loader holds the batches that it prepares", nil
			}
			if why := LoadersHold(in); why != "" {
				return why + ", each with its own copy of what it touched of the data", &in.Biggest.Bytes
			}
			return in.dataProcesses(), nil
		},
	},
	{
		id: "host_load",
		evidence: []weighed{
			{proof, both(when("it failed while weights were read", (*Input).loading), (*Input).host)},
			{sign, both(failedIn("it failed at start-up", "init"), func(in *Input) bool { return in.host() && !in.ownActor() })},
			{proof, holdsWeights},
			{sign, Copies},
			{proof, numaCopies},
			{sign, mergesModels},
			{proof, ReadsIntoHost},
			{proof, loadsNext},
			{proof, saw("the model and its context need more than memory and swap hold", "ollama.system_memory")},
		},
		excludes: []clue{hierarchicalCache, swapSpace, rankCaches, offloadsWeights, createsStates, builds, oneRankReads, belowGiB, SleepersHold, LoadersHold, LoaderHolds},
		figure: func(in *Input) (string, *int64) {
			if saw("needs", "ollama.system_memory")(in) != "" && in.Requested != nil && in.Free != nil {
				return fmt.Sprintf("the model with its context takes %s; memory and swap have %s", gib(in.Requested), gib(in.Free)), in.Requested
			}
			if why := cmp.Or(numaCopies(in), mergesModels(in), converts(in), loadsNext(in)); why != "" {
				return why, nil
			}
			if text, n := oneLoads(in); n != nil {
				return text, n
			}
			if ReadsIntoHost(in) != "" {
				if in.GPUs > 1 {
					return "every rank reads its whole checkpoint into host RAM", nil
				}
				return "the whole file is read into host RAM", nil
			}
			switch {
			case in.CacheCovers:
				return "the model's cache, for the whole context of all requests, does not fit into host RAM", nil
			case in.EngineFailed:
				return "the weights pass through host RAM while they load", nil
			}
			if why := Copies(in); why != "" {
				return why, nil
			}
			if n := RankCopies(in); n > 0 {
				p := in.Parameters.Value
				return sized("every rank loads the whole model: %d ranks per node x %s parameters x %d bytes", n, in.PerNode, count(p), n/p/in.PerNode)
			}
			if n := in.MegatronShard; n > 0 && in.GPUs == 1 {
				return sized("one copy of the model in host RAM takes %s parameters x 2 bytes", 2*n, count(n))
			}
			if in.GPUs == 1 || in.GPUs < 2 && in.Rank == nil {
				return "the model does not fit into host RAM while it loads", nil
			}
			return "every rank loads the whole model into host RAM", nil
		},
	},
	{
		id: "host_offload",
		evidence: []weighed{
			{sign + hint, both(offloads, (*Input).host)},
			{proof, both(frames(6, "blocks of the model were being moved to host memory", "block_swap ", "self.offload_device"), (*Input).host)},
			{sign, trainersHold},
			{proof, both(createsStates, (*Input).host)},
			{sign + 2*hint, both(func(in *Input) string {
				key, v, ok := in.Setting("deepspeed", "deepspeed_config")
				if !ok || !strings.Contains(strings.ToLower(v), "offload") {
					return ""
				}
				return fmt.Sprintf("%s is %s: model states are kept in host memory", key, v)
			}, (*Input).host)},
			{sign, both(func(in *Input) string {
				if containsAny(in.Text, []string{"load_states", "offload_states"}) {
					return "the worker was moving states between the card and host memory"
				}
				return ""
			}, (*Input).host)},
			{proof, both(frames(8, "the stack ends in an optimizer that keeps its states in host memory", cpuOptimizers...), (*Input).host)},
			{hint, both(saw("pinned host memory was requested", "host.npu_pinned", "tms.cpu_backup"), (*Input).host)},
			{2 * proof, both(calibrates, (*Input).host)},
			{2 * proof, hierarchicalCache},
			{2 * proof, swapSpace},
			{3 * proof, hostTier},
			{proof, swapsBlocks},
			{2 * proof, PinsModels},
			{2 * proof, rankCaches},
			{proof, offloadsCache},
			{2 * proof, offloadsWeights},
			{proof, engineKeeps},
			{2 * proof, SleepersHold},
			{proof + hint, both(frames(6, "pinned host memory for offloaded weights was refused", ".data.pin_memory()"), (*Input).host)},
			{proof + hint, both(frames(6, "pinned host memory for offloaded states was refused", "pin_memory"), func(in *Input) bool { return in.host() && in.Backend == "deepspeed" })},
		},
		excludes: []clue{driverHolds}, // workers keep what is offloaded
		figure: func(in *Input) (string, *int64) {
			if in.Calibrates {
				return in.calibration("in host memory")
			}
			if SleepersHold(in) != "" {
				return "engines that sleep keep their weights in host memory", nil
			}
			if swapSpace(in) != "" {
				if in.GPUs > 1 {
					return "the swap space of all GPUs adds up to more than the host has", nil
				}
				return "the engine's swap space, 4 GiB for each GPU unless it is set, does not fit into host memory", nil
			}
			if why := hostTier(in); why != "" {
				return why, &in.HostTier
			}
			if why := PinsModels(in); why != "" {
				if n := in.ToPin; n > 0 {
					return why + ": all of them take " + classifier.GiB(n), &in.ToPin
				}
				return why, nil
			}
			if why := swapsBlocks(in); why != "" {
				return why, nil
			}
			if held := cmp.Or(rankCaches(in), offloadsCache(in), offloadsWeights(in)); held != "" {
				return held, nil
			}
			if hierarchicalCache(in) != "" {
				if each, ranks := in.number("hicache_size"), in.number("tp_size", "tensor_parallel_size")/max(in.number("nnodes"), 1); each > 0 && ranks > 1 {
					return fmt.Sprintf("the hierarchical caches of %d ranks take %d GB of host memory, %d GB each (hicache_size)", ranks, ranks*each, each), in.Requested
				}
				if in.HostPools > 0 {
					return "SGLang's hierarchical caches of all ranks take " + classifier.GiB(in.HostPools) + " of host memory", &in.HostPools
				}
				return "each rank's hierarchical cache is larger than the host memory left", in.Requested
			}
			if held := trainersHold(in); held != "" && offloads(in) == "" {
				return held + ", probably states moved off the GPUs", nil
			}
			p := in.Parameters.Value
			switch nodes := in.nodes(); {
			case p <= 0 || p >= 1<<40 || in.Adapters && (in.Quantized || nodes > 1):
			case !in.Adapters && in.on("optim_cpu_offload") && !in.on("fsdp_cpu_offload"): // prime-rl (trainer/optim/state_offload.py)
				how := count(p) + " parameters"
				if nodes > 1 {
					how += fmt.Sprintf(" / %d nodes", nodes)
				}
				return sized("Adam's states are moved to the host after a step: 8 bytes x %s", 8*p/max(nodes, 1), how)
			case in.Adapters: // the base is frozen
				return sized("offloaded weights: %s parameters x 2 bytes", 2*p, count(p))
			case nodes > 1:
				return sized("offloaded states take up to 16 bytes x %s parameters / %d nodes", 16*p/nodes, count(p), nodes)
			case nodes == 1:
				return sized("offloaded states take up to 16 bytes x %s parameters", 16*p, count(p))
			}
			return "states offloaded from the GPUs fill host RAM", nil
		},
	},
	{
		id: "leak_over_steps",
		evidence: []weighed{
			{sign, func(in *Input) string {
				if in.LastStep == nil || *in.LastStep < 50 || !in.host() || in.Phase == "checkpoint" {
					return ""
				}
				return fmt.Sprintf("%d steps fit before", *in.LastStep)
			}},
			{2 * proof, growing},
			{sign + 2*hint, Outgrown},
			{sign + hint, KeepsPredictions},
			{2 * proof, both(when("Ultralytics warned that results accumulate in host memory", func(in *Input) bool { return in.KeepsResults }), (*Input).host)},
			{2 * proof, KeepsMetric},
			{2 * proof, when("the stack ends where the outputs of all batches are joined", func(in *Input) bool { return in.JoinsOutputs && in.host() })},
			{sign, when("this version of the engine never frees some host memory", func(in *Input) bool { return in.LeakyEngine && in.stepped() })},
			{sign + 2*hint, coreGrows},
		},
		excludes: []clue{when("a process that prepares data was killed", func(in *Input) bool { return in.DataWorkers }), driverHolds},
		figure: func(in *Input) (string, *int64) {
			t, grows := in.growth()
			switch kept := "predict without stream=True keeps the result of every frame, with the frame itself"; {
			case in.KeepsResults && grows:
				text, n := growthFigure(&t)
				return kept + ": " + strings.TrimSuffix(text, ": something is never freed"), n
			case in.KeepsResults:
				return kept, nil
			case grows:
				return growthFigure(&t)
			}
			if why := Outgrown(in); why != "" {
				return why + ", so something is never freed", nil
			}
			if why := cmp.Or(KeepsMetric(in), KeepsPredictions(in), coreGrows(in)); why != "" {
				return why, nil
			}
			return "memory grows from step to step", nil
		},
	},
	{
		id: "limit_too_small",
		evidence: []weighed{
			{2 * hint, both(when("the job reached a memory limit", func(in *Input) bool { return in.LimitReached }), (*Input).host)},
			{2 * hint, both(when("Ray's memory monitor ended the worker", func(in *Input) bool { return in.RayMonitor }), (*Input).host)},
			{sign, tinyLimit},
			{3 * proof, belowWeights},
			{3 * proof, both(CacheOnHost, func(in *Input) bool { return in.HostLimit != nil })},
			{3 * proof, WeightsOnHost},
			{2 * proof, sharedOut},
			{2 * proof, both(RoomOnCard, func(in *Input) bool { return !in.SharesCard })}, // else the engine's allocator may have failed before
			{2 * proof, builds},
			{3 * proof, BoundToNodes},
			{sign + hint, Replays},
			{3 * proof, wholeBuffer},
			{hint, when("host memory ran out", (*Input).host)},
		},
		figure: func(in *Input) (string, *int64) {
			if sharedOut(in) != "" {
				text := "HAMi limits the container to " + gib(in.Total) + " of the GPU"
				if in.Used != nil && *in.Used > *in.Total {
					text += "; with this request it would use " + gib(in.Used)
				}
				return text, in.Total
			}
			if room := RoomOnCard(in); room != "" {
				return room, nil
			}
			if why := cmp.Or(BoundToNodes(in), builds(in), belowWeights(in), WeightsOnHost(in), CacheOnHost(in), Replays(in)); why != "" {
				return why, nil
			}
			if large := oneLargeRequest(in); large != "" {
				return large, in.Requested
			}
			if held := in.kept(); held != "" {
				return held, nil
			}
			if alone := in.alone(); alone != "" {
				return alone, nil
			}
			if n := in.SHMUsed; n != nil && in.HostLimit != nil && *n > *in.HostLimit/4 {
				return gib(n) + of(in.HostLimit) + " is shared memory, such as files in /dev/shm and pinned memory", n
			}
			if in.HostLimit == nil {
				return notShown + "took the memory", nil
			}
			if small := tinyLimit(in); small != "" {
				return small, in.HostLimit
			}
			return notShown + "filled the " + classifier.GiB(*in.HostLimit), in.HostLimit
		},
	},
}

// wholeFile returns how many parameters a script trains that writes all of them into one file, 0 if unknown: sd-scripts do.
func (in *Input) wholeFile() int64 {
	const adapters = 1 << 30 // have fewer
	if _, _, ok := in.Setting("save_precision"); !ok || in.Trained < adapters || in.Phase != "checkpoint" {
		return 0
	}
	return in.Trained
}

// BroadcastsState reports that ranks receive each whole tensor of a checkpoint on their cards and then keep their shards of it.
var BroadcastsState = both(frames(8, "each rank receives whole tensors of the state from rank 0, on its GPU, before it keeps its shards", "_broadcast_state_dict", "_broadcast_tensors", "_broadcast_processed_state"), (*Input).gpu)

// gathersOnOne says which setting makes one rank gather the whole state to save it.
var gathersOnOne = is(": one rank gathers the whole state", []string{"fsdp_state_dict_type", "fsdp_final_state_dict_type", "state_dict_type"}, "full_state_dict", "full")

// builds says that compilers filled the memory.
func builds(in *Input) string { return in.Build }

// notShown begins a sentence about a missing figure.
const notShown = "The log does not show what "

// ownActor reports whether Ray ended a worker of a program that is not known. Starting one does not show that it loads a model.
func (in *Input) ownActor() bool {
	return in.RayMonitor && in.Application == "" && (in.Framework == "" || in.Framework == "unknown") && in.Parameters.Value == 0
}

// createsStates reports that the log stops where DeepSpeed creates the optimizer's states, after the weights were loaded. They fill host
// memory only if they are offloaded to it.
var createsStates = when("the log stops where DeepSpeed creates the optimizer's states", func(in *Input) bool {
	return strings.Contains(in.Stage, "initializing optimizer states") || strings.Contains(in.Stage, "creating fp32 partitions")
})

// converts says that a program was killed that converts a checkpoint: most read all of it before they write anything. Those that put the
// parts of ranks together write a state that they gather.
var converts = both(when("a converter holds the whole checkpoint in host RAM", func(in *Input) bool {
	const ran = "the process ran `"
	return in.Phase == "checkpoint" && strings.HasPrefix(in.Stage, ran) && strings.Contains(in.Stage, "convert") && !containsAny(in.Stage, []string{"zero", "merge", "consolidat", "reshard"})
}), (*Input).host)

// ReadsIntoHost says that torch.load copies a file into host memory.
var ReadsIntoHost = both(func(in *Input) string {
	if why := converts(in); why != "" {
		return why
	}
	if in.passes(4, "torch/serialization.py", "torch.load(") || in.Phase == "checkpoint" && containsAny(in.Stage, []string{"loading states from", "restoring states from"}) || RestoresOnHost(in) != "" { // accelerate, Lightning
		return "a checkpoint is read into host RAM"
	}
	return ""
}, (*Input).host)

// mergesModels says that mergekit ran, which keeps the files that it reads and a shard of the result in host memory (mergekit/options.py).
var mergesModels = both(func(in *Input) string {
	_, _, set := in.Setting("lazy_unpickle", "out_shard_size", "out-shard-size")
	if !set && !strings.Contains(in.Text, "mergekit") {
		return ""
	}
	return "mergekit holds whole files of pickled models and a shard of the result, 5B parameters by default"
}, (*Input).host)

// RestoresOnHost says that the log stops where a script reads its checkpoint.
var RestoresOnHost = both(when("a script reads its checkpoint into host RAM", func(in *Input) bool {
	return in.Phase == "checkpoint" && strings.Contains(in.Stage, "loading checkpoint ")
}), (*Input).host)

func (in *Input) storeFull() bool {
	return in.host() && saw("full", "ray.object_store_full", "ray.object_store_pinned")(in) != ""
}

// LargeRequest is the size from which data loader workers no longer explain an allocation.
const LargeRequest = 32 << 30

func oneLargeRequest(in *Input) string {
	if in.Requested == nil || *in.Requested < LargeRequest {
		return ""
	}
	return fmt.Sprintf("one allocation alone asks for %s", classifier.GiB(*in.Requested))
}

var (
	cpuOptimizers = []string{"cpu_adam", "cpuadam", "cpu_adagrad", "cpu_lion", "hybrid_optimizer"}
	workerKeys    = []string{"dataloader_num_workers", "num_workers", "dataloader_workers", "data.num_workers", "workers"}
	mapKeys       = []string{"num_proc", "map_num_proc", "dataset_num_proc", "preprocessing_num_workers", "dataset_processes"}
	mapFrames     = []string{"arrow_dataset.py", "_prepare_dataset", "iflatmap_unordered", "_write_generator_to_queue"}
	offloadKeys   = []string{
		"optimizer_offload", "param_offload", "offload_optimizer.device", "offload_param.device", "adam_offload", "optimizer_cpu_offload", "offload_train", "fsdp_offload_params", "fsdp_cpu_offload", "cpu_offload",
		"optim_cpu_offload", "zero_optimization.offload_optimizer.device", "zero_optimization.offload_param.device", "offload_params", "offload_optimizer", "enable_cpu_offload", "offload_after_step", "ref.offload",
		"ref_reward_offload", "enable_offload", "offload_policy",
	}
)

// sharedOut reports that the container's share of a card was full: HAMi lets several containers use one card.
func sharedOut(in *Input) string {
	if in.Total == nil {
		return ""
	}
	return saw("HAMi refused memory beyond the container's share of the GPU", "cuda.hami")(in)
}

// RoomOnCard reports that PyTorch was refused a request although much of the card was free: something else limits the process. On Windows
// and in WSL the driver backs a card's memory with memory of the host.
func RoomOnCard(in *Input) string {
	if in.Kind != "gpu_oom" || in.Requested == nil || in.Free == nil || in.Total == nil || *in.Free < *in.Total/4 || *in.Free < 4**in.Requested {
		return ""
	}
	return gib(in.Requested) + " was refused although " + gib(in.Free) + " of the GPU was free: something else limits the process"
}

// BoundToNodes reports that the kernel ended a process because the memory nodes that a policy bound it to were full, as numactl --membind
// does (mm/oom_kill.c, constrained_alloc). Others of the machine may have room.
var BoundToNodes = both(when("a memory policy, such as that of numactl --membind, keeps the process on NUMA nodes whose memory was full", func(in *Input) bool {
	return strings.Contains(in.Text, MemoryPolicy)
}), (*Input).host)

// MemoryPolicy is how the kernel says that, in lower case.
const MemoryPolicy = "constraint=constraint_memory_policy"

// tinyLimit reports that the limit is less than a program with a model takes.
func tinyLimit(in *Input) string {
	const least = 12 << 30
	if !in.host() || in.EngineFailed && belowGiB(in) == "" || !in.LimitReached || in.HostLimit == nil || *in.HostLimit >= least {
		return ""
	}
	return "the limit is only " + gib(in.HostLimit) + "; a program that loads a model usually takes more"
}

// belowGiB says that a limit is too small for programs that load a model at all.
var belowGiB = both(when("the limit is below a GiB", func(in *Input) bool { return in.HostLimit != nil && *in.HostLimit < 1<<30 }), (*Input).host)

// belowWeights reports that the limit is less than half of the weights that were loading, in 16 bits: no way to load them needs so little.
func belowWeights(in *Input) string {
	if !in.host() || in.EngineFailed || !in.LimitReached || in.HostLimit == nil || in.Phase != "init" || in.Parameters.Value <= *in.HostLimit {
		return ""
	}
	return fmt.Sprintf("the limit is %s, and the weights alone take %s in 16 bits", gib(in.HostLimit), classifier.GiB(2*in.Parameters.Value))
}

// nodes returns the number of nodes that train, or 0 if it is unknown.
func (in *Input) nodes() int64 {
	if in.PerNode <= 0 || in.GPUs < in.PerNode {
		return 0
	}
	return in.GPUs / in.PerNode
}
