package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
	"oomscan/remedies/memory"
)

// Engines keep caches, weights and layers in host memory.

// coreGrows says that the core process of a server filled host memory, in a version of the engine whose core grows as it serves.
func coreGrows(in *Input) string {
	if h := in.largest(); !in.LeakyEngine || in.Phase == "init" || !strings.Contains(strings.ToLower(h.Name), "enginecor") {
		return ""
	}
	return in.OneHolder() + ", and in this version of vLLM it grows as prefixes are cached"
}

// shape is that of an array which NumPy could not allocate.
var shape = lazyre.New(`array with shape \((\d{1,9}), (\d{1,9})\)`)

// KeepsScores says that llama-cpp-python was making its array of logits in host memory, as it starts: a row for each token of the context, or
// of a batch in later releases without logits_all (llama_cpp/llama.py, Llama.scores).
func KeepsScores(in *Input) string {
	m := shape().FindStringSubmatch(in.Message)
	if !in.host() || m == nil || !in.passes(2, "self.scores") {
		return ""
	}
	rows, _ := strconv.ParseInt(m[1], 10, 64)
	vocabulary, _ := strconv.ParseInt(m[2], 10, 64)
	return fmt.Sprintf("the logits of all tokens are kept in host memory: %s tokens x %s vocabulary x 4 bytes = %s",
		memory.Thousands(rows), memory.Thousands(vocabulary), classifier.GiB(4*rows*vocabulary))
}

// engineKeeps reports that an engine is set to keep weights in host memory.
func engineKeeps(in *Input) string {
	key, v, ok := in.Setting("cpu_offload_gb")
	switch {
	case !in.host():
		return ""
	case ok && in.number(key) > 0:
		return fmt.Sprintf("%s is %s: that many GiB of each GPU's weights are kept in host memory", key, v)
	case in.EngineAsleep && in.EngineFailed, in.SleptOnHost:
		return "a sleeping engine keeps its weights in host memory"
	}
	return ""
}

// hostTier says that TensorRT-LLM keeps a part of its cache in host memory. Without host_cache_size a rank takes as much as its cache on the card
// has, up to half of what it finds free, and does not count the other ranks of the node.
func hostTier(in *Input) string {
	if !in.host() || in.HostTier < 1<<30 {
		return ""
	}
	return "each rank keeps up to " + classifier.GiB(in.HostTier) + " of its key-value cache in host memory"
}

// SleepersHold says that the processes of engines that have slept held most of a node's memory, each more than its part of the weights: the
// first level of vLLM's sleep keeps them in pinned host memory. vLLM starts its engines, and their workers, by spawning processes.
func SleepersHold(in *Input) string {
	if !in.EngineSlept && !in.SleptOnHost || len(in.Holders) == 0 || in.Holders[0].Bytes < max(in.EngineWeights, 1<<30) {
		return ""
	}
	if held := in.HeldBy("multiprocessing.spawn", "enginecore", "vllm::", "llmrayactor", "rayworkerwrapper"); held != "" {
		return held + ": engines that sleep keep their weights in host memory"
	}
	return ""
}

// offloadsWeights says that the weights which each rank keeps in host memory, in GiB for each GPU (vllm/config/cache.py), are more than
// half of the memory that was there.
var offloadsWeights = both(func(in *Input) string {
	n, ranks, limit := in.number("cpu_offload_gb"), max(in.number("tensor_parallel_size", "tp_size"), 1), cmp.Or(in.HostLimit, in.NodeRAM)
	if n < 1 || n > 1<<12 || ranks > 1<<10 || limit == nil || n*ranks<<30 < *limit/2 {
		return ""
	}
	if ranks == 1 {
		return fmt.Sprintf("cpu_offload_gb: %d GiB of weights are kept in host memory; there was %s", n, gib(limit))
	}
	return fmt.Sprintf("cpu_offload_gb: each of %d ranks keeps %d GiB of weights in host memory, %d GiB in all; there was %s", ranks, n, n*ranks, gib(limit))
}, (*Input).host)

// CPUPools says that SGLang runs on CPUs, where each rank takes its share of the memory of the whole machine for its cache
// (srt/model_executor/model_runner.py, profile_max_num_token), and that the shares together exceed it.
func CPUPools(in *Input) string {
	_, device, _ := in.Setting("device")
	name, v, share := in.shareSet()
	ranks := in.number("tp_size", "tensor_parallel_size", "tp")
	if in.Framework != "sglang" || !in.host() || strings.Trim(device, `"' `) != "cpu" || ranks < 2 || ranks > 1<<10 || share*float64(ranks) <= 1 {
		return ""
	}
	return fmt.Sprintf("each of %d ranks takes %s=%s of the machine's memory for its weights and its cache", ranks, name, v)
}

// swapSpace says that the part of the cache which vLLM keeps in host memory is too large.
var swapSpace = both(when("the engine's swap space did not fit into host memory", func(in *Input) bool {
	return saw("refused", "vllm.swap_space")(in) != "" || in.EngineFailed && in.passes(4, "_allocate_kv_cache")
}), (*Input).host)

// swapsBlocks says that layers on their way off the card found no pinned host memory.
var swapsBlocks = both(frames(12, "layers move to pinned host memory, and the host has no more of it", "offload_device, non_blocking=", "\"cpu\", non_blocking=", "\"cpu\", non_blocking ="), (*Input).host)

// PinsModels says that CUDA, not PyTorch's allocator, ran out where mmgp copies parts of a model to the card: it pins the models in host
// memory, which the driver maps for the card and has only so much of.
func PinsModels(in *Input) string {
	if !in.Pins || in.Requested != nil || !in.passes(8, "mmgp/offload.py") {
		return ""
	}
	return "mmgp pinned the models in host memory, and the driver had no more"
}

// rankCaches says that each rank keeps a cache of a set size in host memory, and that they fill it: the largest process is nearly that
// large or, if no process is known, the caches together exceed the memory that was there. LMCache pins the whole size in each worker
// when it starts (lmcache/v1/storage_backend/local_cpu_backend.py).
var rankCaches = both(func(in *Input) string {
	key, v, ok := in.Setting("max_local_cpu_size", "LMCACHE_MAX_LOCAL_CPU_SIZE") // GB for each worker
	size, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(v, "GB")), 64)
	if !ok || err != nil || !(size >= 1 && size <= 1<<16) {
		return ""
	}
	limit, ranks := cmp.Or(in.HostLimit, in.NodeRAM), cmp.Or(in.GPUs, in.number("tensor_parallel_size"))
	held := slices.IndexFunc(in.Holders, func(h Holder) bool { return float64(h.Bytes) < 0.6*size*(1<<30) }) // the largest come first
	if held == 0 || len(in.Holders) == 0 && (limit == nil || float64(max(ranks, 1))*size*(1<<30) <= float64(*limit)) {
		return ""
	}
	each := fmt.Sprintf("%s is %s", key, v)
	if ranks = cmp.Or(ranks, int64(max(held, 0))); ranks < 2 {
		return each + ": the cache in host memory"
	}
	text := fmt.Sprintf("%s: %d ranks each keep such a cache in host memory, %.0f GiB", each, ranks, float64(ranks)*size)
	if limit != nil {
		text += "; there was " + gib(limit)
	}
	return text
}, (*Input).host)

// offloadsCache says that vLLM pins a cache of a set size in host memory, in GiB for all ranks of an engine (vllm/config/cache.py), and that
// it is a large part of the memory that was there.
var offloadsCache = both(func(in *Input) string {
	key, v, ok := in.Setting("kv_offloading_size", "kv-offloading-size")
	n, limit := in.number(key), cmp.Or(in.HostLimit, in.NodeRAM)
	if !ok || n < 1 || n > 1<<16 || limit == nil || n<<30 < *limit/4 {
		return ""
	}
	return fmt.Sprintf("%s is %s: vLLM pins that many GiB for the cache, of %s", key, v, gib(limit))
}, (*Input).host)

// hierarchicalCache reports that SGLang's cache in host memory did not fit.
var hierarchicalCache = both(func(in *Input) string {
	if in.on("enable_hierarchical_cache") {
		return "SGLang's hierarchical cache is kept in host memory"
	}
	return saw("the request came from the hierarchical cache", "sglang.hicache")(in)
}, (*Input).host)
