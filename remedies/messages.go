package remedies

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// sign is a fact that a message tells, or functions of the failing stack.
type sign struct {
	patterns []string // by which the message is recognised
	texts    []string // words of a message that no field of its pattern carries, in lower case
	frames   []string // parts of functions, in lower case
	near     int      // how many of the innermost frames are asked
	why      string
	not      string // why it is not so; empty: without the sign nobody can tell
}

func (s sign) seen(ctx *Context) bool {
	return slices.ContainsFunc(s.patterns, ctx.recognised) || ctx.messageContains(s.texts...) || ctx.stackContains(s.near, s.frames...)
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
		why:      "the engine found less free memory at its start than it was told to take", not: "no such message",
	}
	cacheRanFull     = sign{patterns: []string{"sglang.batch_out_of_memory", "sglang.retract_all", "sglang.request_slots"}}
	inSleepAllocator = sign{
		patterns: []string{"vllm.cumem", "vllm.cumem_cascade", "tms.fatal", "tms.resume", "tms.refused", "tms.cpu_backup"},
		why:      "the failing allocation went through a sleep-mode allocator",
	}
	cudaLibrary = sign{patterns: []string{"cuda.library_alloc", "cuda.library_init", "cuda.cudnn_disguised"}}
	// The kernel writes "Memory cgroup out of memory" where a group's limit was reached, "Out of memory" where the node's was.
	limitReached = sign{
		patterns: []string{"slurm.oom_kill", "kernel.constraint", "kernel.cgroup"},
		texts:    []string{"memory cgroup out of memory", "out_of_memory"}, // the latter is the state of Slurm's job
	}
	dataLoader = sign{patterns: []string{
		"dataloader.killed", "dataloader.bus_error", "dataloader.bus_line", "dataloader.signal", "dataloader.exited", "dataloader.gone", "dataloader.pin_memory",
	}}
	ncclSegment = sign{
		patterns: []string{"nccl.shm_segment", "nccl.shm_extend", "nccl.shm_map", "nccl.shm_peer", "nccl.shm_register", "nccl.posix_fallocate"},
		why:      "NCCL could not get a shared memory segment",
	}
	pinned  = sign{texts: []string{"pin_memory", "pinned", "cudahostalloc"}, why: "pinned host memory was asked for"}
	evicted = sign{
		patterns: []string{"kubernetes.evicted"},
		why:      "the node ran out of memory and the pod was evicted; its own limit was not reached", not: "no pod was evicted",
	}
	saverMargin = sign{
		patterns: []string{"tms.refused"},
		why:      "torch_memory_saver refused the request because of its margin", not: "torch_memory_saver printed no refusal, so the margin is not what failed",
	}
	graphCapture = sign{
		texts: []string{"capture cuda graph", "cuda graph capture", "capturing cuda graph"}, near: 40,
		frames: []string{"capture_model", "init_cuda_graphs", "init_device_graphs", "capture_one_batch_size", "capture_graph"},
		why:    "it failed while CUDA graphs were captured",
	}
	sampler = sign{
		texts: []string{"warming up sampler"}, frames: []string{"sampler", "top_k_top_p", "topk_topp", "_dummy_sampler_run"}, near: 6,
		why: "the sampler's buffers, which grow with the number of sequences, did not fit",
	}
	prefill = sign{texts: []string{"prefill out of memory"}, frames: []string{"forward_extend", "prefill"}, near: 40, why: "it failed while prompts were processed"}
	decode  = sign{
		patterns: []string{"sglang.retract_all"}, texts: []string{"decode out of memory"}, frames: []string{"forward_decode"}, near: 40,
		why: "it failed while tokens were generated",
	}
	// torch_npu's allocator has a variable of its own; XLA's settings for GPUs mean nothing to a TPU.
	// transformers' Trainer joins the outputs of all batches (trainer_pt_utils.py): the batch's size changes nothing.
	joinedEvaluation = sign{
		frames: []string{"nested_concat", "torch_pad_and_concatenate", "evalloopcontainer"}, near: 12,
		why: "the evaluation keeps the logits of all its batches, whatever the size of one", not: "no outputs of several batches were joined",
	}
	npu        = sign{patterns: []string{"npu.oom", "npu.oom_workspace", "npu.oom_rejected", "npu.oom_device"}, why: "the device is an NPU", not: "the device is no NPU"}
	tpu        = sign{patterns: []string{"xla.hbm", "xla.tpu_allocate"}, why: "the accelerator is a TPU", not: "the accelerator is no TPU"}
	rayMonitor = sign{
		patterns: []string{"ray.memory_monitor", "ray.low_memory", "ray.memory_advice", "ray.raylet_sum", "ray.node_out_of_memory"},
		why:      "Ray's memory monitor ended the worker", not: "Ray's memory monitor said nothing",
	}
)

// What engines print of themselves and no field of an incident carries (vllm/v1/worker/gpu_worker.py,
// gpu_model_runner.py, v1/core/kv_cache_utils.py).
var (
	shareText  = expression(`desired gpu memory utilization \((0?\.[0-9]{1,6}|1(?:\.0)?), `)
	seqsText   = expression(`warming up sampler with ([0-9]{1,6}) dummy requests`)
	lengthText = expression(`max seq len \(([0-9]{1,9})\)`)
	// Since 0.8.4 vLLM prints the length that it reckons would fit, before 0.11 how many tokens the cache holds
	// (vllm/worker/worker.py).
	estimateText = expression(`(?:estimated maximum model length is |tokens that can be stored in kv cache \()([0-9][0-9,]{0,11})`)
)

// plannedLength is the sequence for which an engine found no room.
func plannedLength(text string) (tokens int64, ok bool) { return number(lengthText(), text) }

// estimatedLength is the longest sequence for which an engine says that it has room.
func estimatedLength(text string) (tokens int64, ok bool) { return number(estimateText(), text) }

// number is the first group of an expression, found in a text.
func number(re *regexp.Regexp, text string) (n int64, ok bool) {
	m := re.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	return parseInt(strings.ReplaceAll(m[1], ",", ""))
}

// expression is a regular expression that is compiled when it is first asked for: most runs need few of them.
func expression(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
