package remedies

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWhatAProgramPrintsDecides pairs logs with their cause and first change, and with those of the same log but for what decides.
func TestWhatAProgramPrintsDecides(t *testing.T) {
	t.Parallel()
	const (
		killed  = "Memory cgroup out of memory: Killed process 902113 (doc-serve) total-vm:71402316kB, anon-rss:16228472kB, file-rss:412880kB, shmem-rss:18432kB, UID:1001 pgtables:38120kB oom_score_adj:-997\n"
		oomd    = "Mar 07 15:00:26 h systemd-oomd[912]: Killed /user.slice/user-1000.slice/vte-spawn-8f3b.scope due to memory used (66009718784) / total (67322249216) and swap used (1932735283) / total (2147479552) being more than 90.00%\n"
		slurm   = "JobId=88 NumNodes=1 NumTasks=1\nReqTRES=cpu=16,mem=240G,node=1\nMinMemoryNode=240G\nGPU available: True (cuda), used: False\nInitializing distributed: GLOBAL_RANK: 0, MEMBER: 1/1\n%slurmstepd: error: Detected 1 oom_kill event in StepId=88.0. Some of the step tasks have been OOM Killed.\n"
		pod     = "INFO:     Started server process [1]\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:          16Gi\n"
		flux    = "$ accelerate launch flux_train.py --t5xxl /m/t5.safetensors --full_bf16 --save_precision %s --blocks_to_swap 18\nnumber of trainable parameters: 11901408320\n                    INFO     saving checkpoint: /out/x-000002.safetensors       train_util.py:5889\n"
		forge   = "Launching Web UI with arguments: --api\nTotal VRAM 7806 MB, total RAM 31916 MB\n%s"
		split   = "[GPU Setting] You will use 86.88% GPU memory (6782.00 MB) to load weights, and use 13.12% GPU memory (1024.00 MB) to do matrix computation.\n"
		sizes   = "CUDAGraph supports dynamic shapes by recording a new graph for each distinct input size. Recording too many CUDAGraphs may lead to extra overhead. We have observed 51 distinct sizes.\n"
		trainer = "TrainingArguments(\ngradient_checkpointing=False,\nper_device_train_batch_size=16,\ntorch_compile=True,\ntorch_compile_mode=reduce-overhead,\n)\n"
		fit     = "GPU available: True (cuda), used: True\nLOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0]\nNamespace(batch_size=8)\n"
		crop    = "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1,2,3]\n{\n  \"data.train.crop_size\": 640%s\n}\n"
	)
	readings := func(mebibytes ...string) string {
		out := ""
		for i, n := range mebibytes {
			out += "2026-06-16T" + []string{"08", "09", "10", "11", "12", "13", "14"}[i] + ":10:01Z doc-serve-7c9f6b8d5c-m4x2t   1894m   " + n + "Mi\n"
		}
		return out
	}
	in := func(format, with string) string { return strings.Replace(format, "%s", with, 1) }
	generates := stackOf(full("204.00 MiB", "7.62", "180.00 MiB", "6.90"), "/home/u/forge/modules/processing.py|process_images_inner|samples_ddim = p.sample(", "/home/u/forge/modules/sd_samplers_kdiffusion.py|sample|samples = self.launch_sampling(steps, lambda: self.func(")
	records := stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 256.00 MiB. GPU 0 has a total capacity of 22.03 GiB of which 77.12 MiB is free. Including non-PyTorch memory, this process has 21.95 GiB memory in use. Of the allocated memory 20.61 GiB is allocated by PyTorch, with 11.87 GiB allocated in private pools (e.g., CUDA Graphs), and 93.40 MiB is reserved by PyTorch but unallocated.",
		"transformers/trainer.py|training_step|self.accelerator.backward(loss, **kwargs)", "torch/_tensor.py|backward|torch.autograd.backward(", "torch/_inductor/cudagraph_trees.py|_run|return self.record_function(new_inputs, function_id)", "torch/_inductor/cudagraph_trees.py|_record|static_outputs = model(inputs)")
	curve := func(frames ...string) string {
		return stackOf(full("2.53 GiB", "23.69", "2.42 GiB", "20.66"), append(frames, "torchmetrics/metric.py|wrapped_func|value = _squeeze_if_scalar(compute(*args, **kwargs))",
			"torchmetrics/classification/average_precision.py|compute|return _binary_average_precision_compute(state, self.thresholds)", "torchmetrics/functional/classification/precision_recall_curve.py|_binary_clf_curve|fps = 1 + threshold_idxs - tps")...)
	}
	pairs := stackOf(full("12.50 GiB", "39.38", "8.61 GiB", "28.74"), "pytorch_lightning/core/module.py|backward|loss.backward(*args, **kwargs)", "torch/_tensor.py|backward|torch.autograd.backward(")
	for name, c := range map[string]contrast{
		"Forge fills the card with weights":        {in(forge, split) + generates, "activations", "forge_inference_memory=2048", in(forge, "") + generates, "activations", "--medvram=True"},
		"Forge leaves nothing to computation":      {in(forge, "[Low VRAM Warning] This means you will have 0% GPU memory (0.00 MB) to do matrix computation. Computations may fallback to CPU or go Out of Memory.\n") + generates, "activations", "forge_inference_memory=2048", in(forge, split) + generates, "activations", "forge_inference_memory=2048"},
		"weights are converted to be saved":        {in(flux, "fp16") + oomd, "checkpoint_gather", "--save_precision=bf16", in(flux, "bf16") + oomd, "checkpoint_gather", "--mem_eff_save=True"},
		"a service whose memory grows by the hour": {pod + readings("4512", "6048", "7591", "9126", "10667", "12193", "13738") + killed, "leak_over_steps", "kubectl rollout restart=kubectl rollout restart deployment/NAME  # from a CronJob, before it is full", pod + readings("4512", "4890", "4512", "4733", "4512", "4690", "4601") + killed, "limit_too_small", "resources.limits.memory=24Gi"},
		"Megatron makes its model itself": {
			in(slurm, "[NeMo I 2025-11-03 21:09:37 nemo_logging:393]  > number of parameters on (tensor, pipeline) model parallel rank (0 ,0): 70553706496\n"), "host_load", "--mem=360G",
			in(slurm, "Loading checkpoint shards:  50%|#####     | 7/14 [01:22<01:24, 12.07s/it]\n"), "host_load", "torch_dtype=bfloat16",
		},
		"a compiled model records graph after graph": {trainer + sizes + records, "graph_capture", "--torch_compile_mode=default", trainer + records, "activations", "--gradient_checkpointing=True"},
		"a metric of all batches, and of one":        {fit + curve("lightning/pytorch/loops/evaluation_loop.py|_on_evaluation_epoch_end|hook()", "/home/u/model.py|on_validation_epoch_end|value = self.val_ap.compute()"), "leak_over_steps", "compute_on_cpu=True", fit + curve("lightning/pytorch/loops/evaluation_loop.py|_evaluation_step|hook()", "torchmetrics/metric.py|_forward_full_state_update|batch_val = self.compute()"), "activations", ""},
		"a batch is one crop of a protein":           {in(crop, ",\n  \"data.train.max_extra_msa\": 2048") + pairs, "attention_scores", "crop_size=512", in(crop, "") + pairs, "activations", "batch_size=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

// TestChangesThatTheFiguresRefuteAreNotProposed pairs logs with a setting that no proposal changes, and with the same log but for one figure
// or frame, where one does.
func TestChangesThatTheFiguresRefuteAreNotProposed(t *testing.T) {
	t.Parallel()
	cache := func(tokens string) string {
		return "INFO 11-08 10:12:31 llm_engine.py:234] Initializing a V0 LLM engine (v0.7.3) with config: model='m/tts', max_seq_len=131072, tensor_parallel_size=1\n" +
			"INFO 11-08 10:12:45 worker.py:267] the current vLLM instance can use total_gpu_memory (15.60GiB) x gpu_memory_utilization (0.90) = 14.04GiB\n" +
			"INFO 11-08 10:12:45 worker.py:267] model weights take 6.18GiB; non_torch_memory takes 0.05GiB; PyTorch activation peak memory takes 1.44GiB; the rest of the memory reserved for KV Cache is 6.37GiB.\n" +
			stackOf("ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache ("+tokens+"). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.", "vllm/worker/worker.py|initialize_cache|raise_if_cache_size_invalid(")
	}
	windows := func(frames ...string) string {
		return "args: Namespace(batch_size=2, sw_batch_size=4)\n" + stackOf(full("22.55 GiB", "23.68", "20.80 GiB", "2.24"), append([]string{"/home/u/train.py|main|out = sliding_window_inference(inputs, roi, args.sw_batch_size, model)"}, frames...)...)
	}
	const inferer = "monai/inferers/utils.py|sliding_window_inference|"
	for name, c := range map[string]struct{ key, refuted, open string }{
		"a share that adds less than the cache lacks":  {"--gpu-memory-utilization", cache("59632"), cache("126000")},
		"fewer windows at a time for the whole volume": {"sw_batch_size", windows(inferer + "output_image_list.append(new_tensor(output_shape, dtype=compute_dtype, device=device))"), windows(inferer+"seg_prob_out = predictor(window_data)", "torch/nn/modules/conv.py|_conv_forward|return F.conv3d(")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for log, want := range map[string]bool{c.refuted: false, c.open: true} {
				proposals := answerTo(t, log).Proposals
				assert.NotEmpty(t, proposals)
				assert.Equal(t, want, slices.ContainsFunc(proposals, func(p Proposal) bool {
					return slices.ContainsFunc(p.Changes, func(x Change) bool { return x.Key == c.key })
				}), "%v", proposals)
			}
		})
	}
}
