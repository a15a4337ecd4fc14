package remedies

import (
	"fmt"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

// Facts that the words of the evidence and the functions of the stack tell.

// kvSizing says that an engine found no room for its cache when it started: it wants more, not less.
func kvSizing(s *scene, _ string) verdict {
	if s.in.Kind != parser.KVCache {
		return verdict{no, "no engine failed to size its cache"}
	}
	if lessThanDesired(s, "").truth == yes || kvRuntime(s, "").truth == yes {
		return verdict{no, "the cache was not too small at start-up"}
	}
	return verdict{yes, "the engine has too little room for its KV cache: a smaller share makes that worse"}
}

// kvRuntime says that a serving engine ran out of cache slots.
func kvRuntime(s *scene, _ string) verdict {
	if s.in.Kind != parser.KVCache {
		return verdict{no, "no cache ran full"}
	}
	on := s.says("prefill out of memory", "decode out of memory", "retracting all other requests", "max-running-requests`", "max_running_requests")
	return verdict{truthOf(on), "the cache of a serving engine ran full"}
}

// lessThanDesired is vLLM's check of free memory at start-up (vllm/v1/worker/gpu_worker.py).
func lessThanDesired(s *scene, _ string) verdict {
	if s.says("less than desired gpu memory utilization") {
		return verdict{yes, "the engine found less free memory at its start than it was told to take"}
	}
	return verdict{no, "no such message"}
}

// evicted is the kubelet's word for a pod that it ended for want of the node's memory (pkg/kubelet/eviction/helpers.go).
func evicted(s *scene, _ string) verdict {
	if s.says("low on resource: memory") {
		return verdict{yes, "the node ran out of memory and the pod was evicted; its own limit was not reached"}
	}
	return verdict{no, "no pod was evicted"}
}

func lengthEstimate(s *scene, _ string) verdict {
	return verdict{truthOf(estimatedLength().MatchString(s.words)), "the engine printed how long a sequence would fit"}
}

// saverMargin is torch_memory_saver's refusal: request plus margin exceed what is free (torch_memory_saver, csrc).
func saverMargin(s *scene, _ string) verdict {
	if s.says("memory_margin_bytes=") {
		return verdict{yes, "torch_memory_saver refused the request because of its margin"}
	}
	return verdict{no, "torch_memory_saver printed no refusal, so the margin is not what failed"}
}

func graphCapture(s *scene, _ string) verdict {
	if s.says("capture cuda graph", "cuda graph capture", "capturing cuda graph") || s.inner(40, "capture_model", "init_cuda_graphs", "init_device_graphs", "capture_one_batch_size", "capture_graph") {
		return verdict{yes, "it failed while CUDA graphs were captured"}
	}
	return verdict{}
}

// beforeCache says that an engine failed before it took the rest of its share for the cache: while weights were loaded,
// or in the run that measures activations. The share decides nothing yet (vllm/v1/worker/gpu_worker.py,
// determine_available_memory; srt/model_executor/model_runner.py, load_model).
func beforeCache(s *scene, _ string) verdict {
	const deep = 80
	if s.in.Kind == parser.KVCache || s.inner(deep, "capture_model", "compile_or_warm_up", "init_cuda_graphs", "init_device_graphs", "wake_up", "resume") {
		return verdict{no, "the cache was there"}
	}
	if engineProcess(s, "").truth != yes {
		return verdict{}
	}
	switch {
	case s.inner(deep, "profile_run", "determine_num_available_blocks", "determine_available_memory"):
		return verdict{yes, "the engine failed in its profiling run, before it takes its cache: its share does not matter yet"}
	case s.phase == "init" && s.inner(deep, "create_weights", "load_model", "load_weights", "get_model"):
		return verdict{yes, "the engine failed while it loaded the weights, before it takes its cache: its share does not matter yet"}
	}
	return verdict{}
}

// profileRun says that an engine failed in the run of dummy inputs with which it measures its activations: what makes
// that run smaller helps, and graphs are captured later (vllm/v1/worker/gpu_worker.py, determine_available_memory).
func profileRun(s *scene, _ string) verdict {
	if s.in.Root.Trace == nil {
		return verdict{}
	}
	if beforeCache(s, "").truth == yes && s.inner(80, "profile_run", "determine_num_available_blocks", "determine_available_memory") {
		return verdict{yes, "it failed in the run that measures the engine's activations: its size is what the engine is told to plan for"}
	}
	return verdict{no, "it did not fail in the engine's profiling run"}
}

// serving says that an engine which was up failed while it worked: what it leaves beside its cache was too little.
func serving(s *scene, _ string) verdict {
	if s.in.Kind != parser.GPUOOM || s.phase != "rollout" || engineProcess(s, "").truth != yes || beforeCache(s, "").truth == yes {
		return verdict{}
	}
	if s.inner(80, "wake_up", "resume_memory", "update_weights") {
		return verdict{}
	}
	return verdict{yes, "the engine ran out while it served: its share leaves too little for what a step needs"}
}

// outsidePool says that what failed allocates outside of the pool that JAX reserves: NCCL, or another of CUDA's
// libraries. A larger pool leaves it less.
func outsidePool(s *scene, _ string) verdict {
	if s.run.Framework != "jax" {
		return verdict{no, "no framework reserves a pool up front"}
	}
	switch {
	case s.in.Kind == parser.NCCLOOM || s.in.Kind == parser.NCCLFailure:
		return verdict{yes, "NCCL allocates outside of the pool that JAX reserves"}
	case s.in.Kind == parser.GPUDriverOOM || s.says("cudnn", "cublas", "cusolver"):
		return verdict{yes, "what failed allocates outside of the pool that JAX reserves"}
	}
	return verdict{no, "the pool itself ran out"}
}

// fullScores says that attention built its scores in full: samples x heads x length x length.
func fullScores(s *scene, _ string) verdict {
	if at, _ := s.place(); at == memory.Attention {
		return verdict{yes, "attention builds its scores in full, which grow with the square of the length"}
	}
	return verdict{}
}

// longSequence says that one sequence of the planned length needs more cache than there is.
func longSequence(s *scene, _ string) verdict {
	r := &s.in.Root
	if s.in.Kind != parser.KVCache || !longest().MatchString(s.words) || kvSizing(s, "").truth != yes {
		return verdict{}
	}
	short, ok := s.shortfall()
	if r.Requested == nil || !ok {
		return verdict{yes, "one sequence of the planned length does not fit into the cache"}
	}
	return verdict{yes, fmt.Sprintf("one sequence of the planned length needs %s of cache, and there are %s", classifier.GiB(*r.Requested), classifier.GiB(max(*r.Requested-short, 0)))}
}

// onNPU says that the device is one of Ascend's: torch_npu's allocator has a variable of its own.
func onNPU(s *scene, _ string) verdict {
	if s.says("npu out of memory") {
		return verdict{yes, "the device is an NPU"}
	}
	return verdict{no, "the device is no NPU"}
}

// onTPU says that the accelerator is one of Google's, to which XLA's settings for GPUs mean nothing.
func onTPU(s *scene, _ string) verdict {
	if s.says("xla:tpu", "memory space hbm", "tpu_") {
		return verdict{yes, "the accelerator is a TPU"}
	}
	return verdict{no, "the accelerator is no TPU"}
}

func sampler(s *scene, _ string) verdict {
	if s.says("warming up sampler") || s.inner(6, "sampler", "top_k_top_p", "topk_topp", "_dummy_sampler_run") {
		return verdict{yes, "the sampler's buffers, which grow with the number of sequences, did not fit"}
	}
	return verdict{}
}

func prefill(s *scene, _ string) verdict {
	if s.says("prefill out of memory") || s.inner(40, "forward_extend", "prefill") {
		return verdict{yes, "it failed while prompts were processed"}
	}
	return verdict{}
}

func decoding(s *scene, _ string) verdict {
	if s.says("decode out of memory", "retracting all other requests") || s.inner(40, "forward_decode") {
		return verdict{yes, "it failed while tokens were generated"}
	}
	return verdict{}
}

func rayMonitor(s *scene, _ string) verdict {
	if s.says("memory pressure (oom)", "node running low on memory", "ray.exceptions.outofmemoryerror", "memory_usage_threshold", "memory usage threshold") {
		return verdict{yes, "Ray's memory monitor ended the worker"}
	}
	return verdict{no, "Ray's memory monitor said nothing"}
}

func cgroup(s *scene, _ string) verdict {
	if s.says("oom_kill event", "oom-kill:", "memcg", "memory cgroup", "cgroup out-of-memory", "out_of_memory", "out-of-memory handler") {
		return verdict{yes, "a memory limit of the job was reached"}
	}
	if s.in.Kind == parser.OOMKill && s.in.Root.Limit != nil && rayMonitor(s, "").truth != yes {
		return verdict{yes, "a limit of " + classifier.GiB(*s.in.Root.Limit) + " was reached"}
	}
	return verdict{}
}

func dataWorkers(s *scene, _ string) verdict {
	if s.phase == "data" || s.says("dataloader", "one of the subprocesses has abruptly died") {
		return verdict{yes, "it failed in data loading"}
	}
	return verdict{}
}

func pinned(s *scene, _ string) verdict {
	if s.says("pin_memory", "pinned", "cudahostalloc") {
		return verdict{yes, "pinned host memory was asked for"}
	}
	return verdict{}
}

func ncclSHM(s *scene, _ string) verdict {
	if s.in.Kind == parser.SHMExhausted && s.says("nccl") || s.says("error while creating shared memory segment", "error while attaching to shared memory segment") {
		return verdict{yes, "NCCL could not get a shared memory segment"}
	}
	return verdict{}
}

// fullState says that a checkpoint gathers the whole model in one place.
func fullState(s *scene, _ string) verdict {
	if s.phase == "checkpoint" || s.inner(40, "full_state_dict", "state_dict", "save_checkpoint", "gather_16bit") {
		return verdict{yes, "a checkpoint was being put together"}
	}
	return verdict{}
}

func mixture(s *scene, _ string) verdict {
	if n, ok := s.settings.integer("num_experts", "num_local_experts", "n_routed_experts"); ok {
		return verdict{truthOf(n > 1), "the model has experts"}
	}
	return verdict{}
}

// evaluating says that the failing stack passes through a trainer's evaluation.
func evaluating(s *scene, _ string) verdict {
	const deep = 80
	if s.in.Root.Trace == nil {
		return verdict{}
	}
	if s.inner(deep, "evaluation_loop", "prediction_step", "nested_gather", "validation_step", "_maybe_log_save_evaluate") {
		return verdict{yes, "it failed in evaluation, which has a batch of its own"}
	}
	return verdict{no, "it did not fail in evaluation"}
}

// movesPeak is for settings that people change first and that do not help: AReaL's guides say so of the batch size, and
// the micro-batch decides in every trainer that accumulates gradients.
func movesPeak(*scene, string) verdict {
	return verdict{no, "micro-batches set the peak, not this"}
}

// batchUntold says that a step failed which holds the activations of its batch, and that the log does not tell how large
// the batch is: nothing speaks for a smaller one but that.
func batchUntold(s *scene, _ string) verdict {
	if s.phase != "forward" && s.phase != "backward" {
		return verdict{}
	}
	for _, k := range []string{"per_device_train_batch_size", "train_micro_batch_size_per_gpu", "micro_batch_size", "micro_batch", "local_batch_size", "batch_size"} {
		if isTold(s, k).truth == yes {
			return verdict{no, "the batch size is told"}
		}
	}
	return verdict{yes, fmt.Sprintf("it failed in %s, which holds the activations of a whole batch", words([]string{s.phase}))}
}
