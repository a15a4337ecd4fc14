package main

import "slices"

// lookBroken is why a log in several forms is hidden.
const lookBroken = "rows of the log itself look broken at another width, or too few are broken to show it"

// hidden are answers that cannot be told from a log in a form, or are not yet.
var hidden = []struct {
	why         string
	forms, logs []string
}{
	{
		"a pager cut off what tells it",
		[]string{"a pager that chops lines"},
		[]string{
			"gpu_driver_oom/vllm-wake-up-bare-line", "gpu_oom/torch-cudamallocasync-seven-lines", "gpu_oom/torch-libtorch-cpp-terminate-conv-backward-mpirun",
			"gpu_oom/verl-0.8-megatron-backward-srun-l-cut", "gpu_oom/verl-fully-async-bucket-cupy", "oom_kill/deepspeed-slurm-zero-to-fp32-merge-killed",
			"oom_kill/openrlhf-ray-job-tail-memory-text-repeated", "oom_kill/ray-memory-monitor-task", "oom_kill/torch-ray-2.49-lease-train-v2-rank-3",
		},
	},
	{
		"a shell with two launches is not one process",
		[]string{"Ray", "Ray, with node", "Ray twice", "mpirun -tag-output", "mpirun -tag-output of a task"},
		[]string{"gpu_oom/torch-two-launches-at-a-prompt"},
	},
	{
		"two lines do not show in which order they came, nor whether a number counts them",
		[]string{"line numbers", "newest first", "newest record first"},
		[]string{"gpu_oom/vllm-workers-without-a-stack"},
	},
	{
		"a task's number looks like grep's number of a line",
		[]string{"grep's name", "grep's path"},
		[]string{"gpu_oom/deepspeed-srun-l-rocm-zero2-backward"},
	},
	{
		"Ray's table has tabs of its own",
		[]string{"tabs between messages"},
		[]string{"oom_kill/openrlhf-ray-job-tail-memory-text-repeated"},
	},
	{
		"lines that differ only in their numbers look like states of a progress bar",
		[]string{"carriage returns"},
		[]string{"host_oom/polars-rust-allocation-abort"},
	},
	{
		"the halves of a line without a word that is looked for are passed over",
		[]string{"halves of Docker's messages", "halves in the journal"},
		[]string{"gpu_driver_oom/infra-caffe-glog-stack", "none/slurm-handbook-example-errors", "nccl_oom/verl-nccl-calloc-out-of-memory", "oom_kill/torch-olmo-lumi-save-checkpoint-oom-kill"},
	},
	{
		"few words of the log are whole elsewhere: where the box broke them is not told",
		[]string{"box that breaks words", "narrow box that breaks words"},
		[]string{
			"gpu_driver_oom/relax-train-wake-up-memory-saver-fatal", "gpu_driver_oom/torch-xpu-lightning-sycl-abort", "gpu_oom/areal-sft-evaluate-lm",
			"gpu_oom/habana-rank-in-message", "gpu_oom/relax-init-distributed-optimizer", "gpu_oom/relax-sft-loss-oom", "gpu_oom/relax-update-weights-gather",
			"gpu_oom/sglang-cuda-graph-capture", "gpu_oom/slime-ref-log-probs-in-train-actor", "gpu_oom/torch-1.10-fairseq-0.12-batch-survived",
			"gpu_oom/torch-2.14-minimind-attention-forward", "gpu_oom/torch-composer-auto-microbatch-decreased-survived", "gpu_oom/torch-fairseq-oversized-batch-survived",
			"gpu_oom/torch-fairseq-survived-then-fatal-validation", "gpu_oom/torch-kohya-rich-box-foreach-adamw", "gpu_oom/torch-mps-whisper-backward",
			"gpu_oom/torch-torchtitan-oom-only-in-error-block", "gpu_oom/vllm-0.11-moe-create-weights-tp4", "gpu_oom/vllm-0.12-mm-encoder-docker-json",
			"gpu_oom/vllm-workers-without-a-stack", "host_oom/polars-rust-memory-allocation-failed", "host_oom/pyarrow-realloc-failed",
			"host_oom/sglang-hicache-150gb-per-rank", "nccl_oom/verl-nccl-calloc-out-of-memory", "oom_kill/verl-0.8-ray-monitor-new-text-init",
			"shm_exhausted/torch-semlock-enospc-dev-shm", "gpu_oom/deepspeed-ascend-npu-gbk-bytes",
			"gpu_driver_oom/trtllm-executor-kv-cache-pool",
		},
	},
	{
		lookBroken,
		[]string{"100 columns, between words"},
		[]string{
			"gpu_driver_oom/torch-hami-limit-in-backward", "gpu_oom/verl-vllm-sampler-oom-engine-dead", "gpu_oom/vllm-0.11-moe-create-weights-tp4", "gpu_oom/vllm-0.12-mm-encoder-docker-json",
			"none/trl-grpo-completions-about-oom",
		},
	},
	{
		lookBroken,
		[]string{"160 columns, between words"},
		[]string{"gpu_driver_oom/cudf-rmm-bad-alloc-is-gpu", "gpu_driver_oom/triton-trtllm-0.8-cudamallocasync-context", "host_oom/verl-0.7-multimodal-object-store-full"},
	},
	{
		lookBroken,
		[]string{"a mail that was quoted twice"},
		[]string{"gpu_oom/verl-fsdp2-load-full-state-dict", "gpu_oom/verl-sglang-prefill-logprobs-docker-json", "host_oom/polars-rust-allocation-abort", "oom_kill/lsf-term-memlimit-tokenise"},
	},
	{
		lookBroken,
		[]string{"a flowed mail"},
		[]string{"gpu_oom/torch-torchtitan-oom-only-in-error-block"},
	},
	{
		"the cut is inside of a report or of what quotes it, or what the log tells of a launcher or an engine's start is in the first file only",
		[]string{"rotated"},
		[]string{
			"none/verl-debug-dataset-oom-in-samples", "none/torch-sft-eval-samples-quote-oom", "nccl_oom/torch-nccl-shm-posix-fallocate", "host_oom/polars-rust-memory-allocation-failed",
			"host_oom/polars-rust-allocation-abort", "gpu_oom/vllm-lora-method-of-another-worker", "gpu_oom/torch-rlinf-sync-function-without-traceback",
			"gpu_oom/slime-two-attempts-adam-then-pinned-host", "gpu_oom/deepspeed-pdsh-zero3-optimizer-states", "gpu_driver_oom/torch-hami-limit-in-backward",
			"gpu_driver_oom/verl-sglang-resume-memory-saver", "gpu_driver_oom/openrlhf-broadcast-wake-up-cumem", "gpu_driver_oom/ollama-serving-is-not-loading",
		},
	},
	{
		"a short list of strings may be data",
		[]string{"a list of strings"},
		[]string{"gpu_oom/torch-kohya-rich-box-foreach-adamw", "gpu_oom/torch-torchscript-backward-op", "none/slurm-handbook-example-errors"},
	},
	{
		"a log of few kinds of lines, or with many blanks, does not show where it was broken",
		[]string{"mail of 72 columns", "quoted mail of 76 columns", "a flowed mail", "box", "120 columns"},
		[]string{
			"gpu_oom/roll-reload-optimizer-states-leak", "gpu_oom/torch-asr-skip-batch-survived", "gpu_oom/torch-glm4v-lora-rich-box-wrapped", "gpu_oom/torch-metaseq-oom-survived",
			"gpu_oom/torch-sft-split-batch-survived", "gpu_oom/torch-torchscript-backward-op", "gpu_oom/trl-sft-oom-guard-survived", "gpu_oom/verl-sglang-prefill-logprobs-docker-json",
			"host_oom/polars-rust-allocation-abort", "oom_kill/lsf-term-memlimit-tokenise",
		},
	},
}

// isHidden reports whether a log in a form is one of these.
func isHidden(form, log string) bool {
	for _, h := range hidden {
		if slices.Contains(h.forms, form) && slices.Contains(h.logs, log) {
			return true
		}
	}
	return false
}
