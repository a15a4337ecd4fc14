package remedies

import (
	"slices"
	"strings"

	"oomscan/parser/lazyre"
	"oomscan/remedies/memory"
)

// sign is a fact that a message or a function of the failing stack shows.
type sign struct {
	patterns []string // by which the message is recognized
	read     fieldValue
	texts    []string // parts of messages by many programs, in lower case
	frames   []string // parts of functions, in lower case
	near     int      // how many of the innermost frames are asked
	why      string
	not      string // why it is not so; if empty, it is unknown without the sign
}

// fieldValue is a required field of one of the patterns. Without a key there is no requirement.
type fieldValue struct {
	key, value string
	patterns   []string
}

func (f fieldValue) seen(ctx *Context) bool {
	return f.key != "" && readField(ctx, f.key, f.patterns...) == f.value
}

func (s sign) seen(ctx *Context) bool {
	return slices.ContainsFunc(s.patterns, ctx.recognized) || s.read.seen(ctx) || ctx.messageContains(s.texts...) || ctx.stackContains(s.near, s.frames...)
}

func (s sign) ask(ctx *Context, _ string) verdict {
	switch {
	case s.seen(ctx):
		return verdict{yes, s.why}
	case s.not != "":
		return verdict{no, s.not}
	}
	return verdict{}
}

var (
	lessThanDesired = sign{
		patterns: []string{"vllm.free_memory"},
		why:      "the engine found less free memory at its start than its share asks for", not: "no such message",
	}
	nothingForCache  = sign{patterns: []string{"vllm.no_cache_blocks", "vllm.kv_negative", "sglang.not_enough_memory", "sglang.weights_leave_nothing"}, why: "there is no room for a KV cache of any type", not: "something is left for a cache"}
	cacheRanFull     = sign{patterns: []string{"sglang.batch_out_of_memory", "sglang.retract_all", "sglang.request_slots", "vllm.no_swap_space"}}
	inSleepAllocator = sign{
		patterns: []string{"vllm.cumem", "vllm.cumem_cascade", "tms.fatal", "tms.resume", "tms.refused", "tms.cpu_backup"},
		why:      "the failing allocation went through a sleep-mode allocator",
	}
	cudaLibrary = sign{patterns: []string{"cuda.library_alloc", "cuda.library_init", "cuda.cudnn_disguised"}}
	// The kernel names the cgroup if a group's limit was reached, and none if the node was full.
	limitReached = sign{
		patterns: []string{"slurm.oom_kill", "slurm.job_state", "slurm.sacct", "slurm.mail", "kernel.constraint", "kernel.cgroup"},
		read:     fieldValue{"scope", "cgroup", []string{"kernel.killed", "kernel.killed_cut", "kernel.sacrifice", "kernel.report"}},
	}
	dataLoader = sign{patterns: []string{
		"dataloader.killed", "dataloader.bus_error", "dataloader.bus_line", "dataloader.signal", "dataloader.exited", "dataloader.gone", "dataloader.pin_memory",
	}}
	ncclSegment = sign{
		patterns: []string{"nccl.shm_segment", "nccl.shm_extend", "nccl.shm_map", "nccl.shm_peer", "nccl.shm_register", "nccl.posix_fallocate"},
		why:      "NCCL could not get a shared memory segment",
	}
	pythonSegment = sign{texts: []string{"/psm_"}, why: "it is a segment that Python shares between processes, not a data-loading worker's", not: "not such a segment"}
	objectStore   = sign{
		patterns: []string{"ray.object_store_full", "ray.object_store_pinned"},
		why:      "Ray's object store is full", not: "Ray's object store is not what was full",
	}
	pinned  = sign{texts: []string{"pin_memory", "pinned", "cudahostalloc"}, why: "pinned host memory was requested"}
	evicted = sign{
		patterns: []string{"kubernetes.evicted"},
		why:      "the node ran out of memory and the pod was evicted; its own limit was not reached", not: "no pod was evicted",
	}
	saverMargin = sign{
		patterns: []string{"tms.refused"},
		why:      "torch_memory_saver refused the request because of its margin", not: "the margin of torch_memory_saver did not cause it",
	}
	graphCapture = sign{
		texts: []string{"capture cuda graph", "capture prefill cuda graph", "cuda graph capture", "capturing cuda graph"}, near: 40,
		frames: []string{"capture_model", "init_cuda_graphs", "init_all_cuda_graphs", "init_device_graphs", "capture_one_batch_size", "capture_one_shape", "capture_graph", "cuda_graph_warmup"},
		why:    "it failed while CUDA graphs were captured",
	}
	rowsFailed = sign{frames: []string{"req_to_token = "}, near: 3, why: "SGLang keeps a row of the longest context for each request that may run"}
	sampler    = sign{
		read: fieldValue{"method", "sampler", []string{"vllm.warm_up"}}, frames: []string{"sampler.py", "sampler(", "top_k_top_p", "topk_topp", "_dummy_sampler_run"}, near: 6, // not sampler_output = ...
		why: "the sampler's buffers, which grow with the number of sequences, did not fit",
	}
	foreachStep = sign{frames: []string{"_multi_tensor_", "_foreach_"}, near: 6, why: "the optimizer makes intermediates of all parameters at once", not: "no such step is in the stack"}
	// The optimizer's state does not exist yet.
	loadingWeights = sign{frames: []string{"from_pretrained", "load_state_dict", "model_state_dict", "load_checkpoint", "caching_allocator_warmup", "convert return", "_apply", "checkpoints.py restore"}, near: 6, why: "the weights were being read or moved to the card"}
	pairs          = sign{frames: []string{"concatenated_forward", "concatenated_inputs", "run_dpo("}, near: 20, why: "each sample is a pair of answers, and the loss takes their log-probabilities from the logits"}
	inVAE          = sign{frames: []string{"vae", "first_stage_model", "decode_first_stage", "autoencoder"}, near: 20, why: "the VAE holds the whole image at full resolution"}
	prefill        = sign{
		read: fieldValue{"method", "Prefill", []string{"sglang.batch_out_of_memory"}}, frames: []string{"forward_extend", "prefill"}, near: 40,
		why: "it failed during prefill",
	}
	decode = sign{
		patterns: []string{"sglang.retract_all"}, read: fieldValue{"method", "Decode", []string{"sglang.batch_out_of_memory"}}, frames: []string{"forward_decode"}, near: 40,
		why: "it failed during decoding",
	}
	// torch_npu's allocator has its own variable; XLA's settings for GPUs have no effect on a TPU.
	// transformers' Trainer joins the outputs of all batches (trainer_pt_utils.py), so the batch size does not matter.
	joinedEvaluation = sign{
		frames: []string{"nested_concat", "torch_pad_and_concatenate", "evalloopcontainer"}, near: 12,
		why: "the evaluation keeps the logits of all its batches, whatever the size of one", not: "no outputs of several batches were joined",
	}
	npu        = sign{patterns: []string{"npu.oom", "npu.oom_workspace", "npu.oom_rejected", "npu.oom_device"}, why: "the device is an NPU", not: "the device is no NPU"}
	tpu        = sign{patterns: []string{"xla.hbm", "xla.tpu_allocate"}, why: "the accelerator is a TPU", not: "the accelerator is no TPU"}
	rayMonitor = sign{
		patterns: []string{"ray.memory_monitor", "ray.low_memory", "ray.memory_advice", "ray.raylet_sum", "ray.node_out_of_memory", "ray.old_monitor"},
		why:      "Ray's memory monitor ended the worker", not: "Ray's memory monitor said nothing",
	}
)

// onTPU reports whether the accelerator is a TPU: a message says so, or JAX lists its devices.
func onTPU(ctx *Context, given string) verdict {
	if _, listed := lastReading(ctx.run, "jax.tpu_devices"); listed {
		return verdict{yes, tpu.why}
	}
	if ctx.root.Accelerator == "TPU" {
		return verdict{yes, tpu.why}
	}
	return tpu.ask(ctx, given)
}

// readField returns the field of one of the patterns, from the message or a line of the evidence, or "".
func readField(ctx *Context, key string, patterns ...string) string {
	if v := ctx.root.Fields[key]; v != "" && slices.Contains(patterns, ctx.root.Pattern) {
		return v
	}
	for _, e := range ctx.incident.Evidence {
		if v := e.Fields[key]; v != "" && slices.Contains(patterns, e.Pattern) {
			return v
		}
	}
	return ""
}

// plannedLength returns the sequence length for which an engine found no room.
func plannedLength(ctx *Context) (tokens int64, ok bool) {
	return parseInt(readField(ctx, "tokens", "vllm.kv_needed", "vllm.max_len_blocks"))
}

// estimatedLength returns the longest sequence that fits by the engine's own message: its estimate, or before vLLM 0.11 the
// tokens of the cache.
func estimatedLength(ctx *Context) (tokens int64, ok bool) {
	return parseInt(readField(ctx, "tokens_available", "vllm.kv_needed", "vllm.kv_needed_rest", "vllm.max_len_blocks", "trtllm.one_sequence"))
}

// plannedSequence returns what a sequence of the planned length takes of each card's cache, 0 if unknown: by the model's sizes, or else by
// what the engine has for all the tokens that it says the cache holds.
func plannedSequence(ctx *Context, held, planned int64) int64 {
	each, ok := ctx.setup.CacheBytesPerToken()
	if !ok && held > 0 && ctx.root.Pattern == "vllm.max_len_blocks" {
		for _, name := range []string{"vllm.kv_available", "vllm.profile"} {
			if g, read := memory.Reading(ctx.run, ctx.incident, name); read {
				n, _ := g.Fields.Int("available")
				each, ok = float64(n)/float64(held), n > 0
			}
		}
	}
	if bytes := each * float64(planned); ok && bytes < 1<<50 {
		return int64(bytes)
	}
	return 0
}

var shape = lazyre.New(`with shape\[(\d{1,9}(?:,\d{1,9}){2,7})\]`)

// batchOfShape returns the first dimension of the tensor that TensorFlow could not allocate, which is the batch for
// activations. A convolution's kernel begins with its two sides, an embedding has two dimensions. An atrous convolution folds pieces
// of its images into the first dimension: no batch of images is as large.
func batchOfShape(message string) (n int64, ok bool) {
	m := shape().FindStringSubmatch(message)
	if m == nil || containsAny(message, []string{"spacetobatch", "batchtospace"}) {
		return 0, false
	}
	const least, most, mostImages = 4, 8192, 1024
	sizes := strings.Split(m[1], ",")
	n, ok = parseInt(sizes[0])
	return n, ok && n >= least && n <= most && (len(sizes) < 4 || sizes[0] != sizes[1] && n <= mostImages)
}
