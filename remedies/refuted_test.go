package remedies

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatSavesOrHoldsDecidesTheFirstChange has each change beside a log without the fact that calls for it.
func TestWhatSavesOrHoldsDecidesTheFirstChange(t *testing.T) {
	t.Parallel()
	const killed = "[Tue May  7 10:00:00 2024] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice/s.scope,task=python,pid=503,uid=1000\n" +
		"[Tue May  7 10:00:00 2024] Out of memory: Killed process 503 (python) total-vm:225829120kB, anon-rss:125829120kB, file-rss:1024kB, shmem-rss:0kB, UID:1000 pgtables:20000kB oom_score_adj:0\n"
	composer := "global_seed: 17\ndevice_train_microbatch_size: 1\nfsdp_config:\n  sharding_strategy: FULL_SHARD\n  state_dict_type: full\nsave_interval: 20ba\n" + killed
	receives := stackOf(onCardOf("1.96 GiB", "39.39", "1.69 GiB", "36.40"), "/w/train.py|main|strategy.load_checkpoint(path)", "torch/distributed/checkpoint/state_dict.py|_load_model_state_dict|_broadcast_state_dict(", "torch/distributed/_state_dict_utils.py|_broadcast_tensors|full_tensor = torch.empty(")
	boxes := "Namespace(samples_per_gpu=1, max_epochs=12)\n" + stackOf(onCardOf("1.81 GiB", "10.76", "497.00 MiB", "9.52"), "/w/mmdetection/tools/train.py|main|train_detector(", "/w/mmdetection/mmdet/models/detectors/base.py|forward|return self.forward_train(img, img_metas, **kwargs)", "/w/mmdetection/mmdet/models/dense_heads/rpn_head.py|loss|losses = super().loss(", "/w/mmdetection/mmdet/core/bbox/iou_calculators/iou2d_calculator.py|bbox_overlaps|wh = (rb - lt).clamp(min=0)")
	moved := "Total VRAM 6144 MB, total RAM 32536 MB\n### ComfyUI Revision: 2737\n" + stackOf(onCardOf("25.00 MiB", "6.00", "0 bytes", "4.79"), "C:/ComfyUI/execution.py|execute|output_data = get_output_data(", "C:/ComfyUI/custom_nodes/outpaint/unit.py|samples|pipe.to(device)", "diffusers/pipelines/pipeline_utils.py|to|module.to(device, dtype)", "torch/nn/modules/module.py|convert|return t.to(")
	for name, c := range map[string]struct{ log, first, without string }{
		"Composer gathers what it saves": {composer, "fsdp_config.state_dict_type=sharded", strings.Replace(composer, "state_dict_type: full", "state_dict_type: sharded", 1)},
		"rank 0 sends a whole state":     {receives, "broadcast_from_rank0=False", strings.ReplaceAll(receives, "_broadcast_", "_distribute_")},
		"boxes of an image":              {boxes, "gpu_assign_thr=300", strings.ReplaceAll(boxes, "mmdet/core/bbox", "mmdet/models/layers")},
		"a pipeline in a node":           {moved, "pipe.enable_sequential_cpu_offload=pipe.enable_sequential_cpu_offload()  # instead of pipe.to(device)", strings.ReplaceAll(moved, "diffusers/pipelines/", "comfy/ldm/")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.first, firstChange(answerTo(t, c.log)))
			assert.NotContains(t, settingsChanged(answerTo(t, c.without)), c.first)
		})
	}
}

// TestNothingIsSaidThatTheFiguresRefute has figures that speak against a change or a sentence.
func TestNothingIsSaidThatTheFiguresRefute(t *testing.T) {
	t.Parallel()
	const trainer = "TrainingArguments(\nper_device_train_batch_size=1,\n)\n"
	lora := func(allocated string) string {
		return "[INFO] model_name_or_path: meta-llama/Llama-2-70b-hf\ntrainable params: 142,000,000 || all params: 69,000,000,000 || trainable%: 0.2058\n" + trainer +
			stackOf(onCardOf("1.30 GiB", "79.15", "1.05 GiB", allocated), "/w/ft.py|main|trainer.train()", "transformers/trainer.py|training_step|loss.backward()", "transformers/models/llama/modeling_llama.py|forward|attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32)")
	}
	joins := stackOf(onCardOf("10.49 GiB", "23.65", "10.10 GiB", "12.42"), "/w/cls.py|main|trainer.evaluate()", "transformers/trainer.py|prediction_loop|preds = logits if preds is None else nested_concat(preds, logits)", "transformers/trainer_utils.py|nested_concat|return torch.cat((tensors, new_tensors), dim=0)")
	vllm := func(missing, left string) string {
		return "INFO 08-04 03:14:33 [gpu_model_runner.py:1892] Model loading took 70.2314 GiB and 156.774211 seconds\nINFO 08-04 03:15:52 [gpu_worker.py:255] Available KV cache memory: " + left + " GiB\n" +
			"ERROR 08-04 03:15:53 [core.py:632] ValueError: To serve at least one request with the models's max seq len (262144), (" + missing + " GiB KV cache is needed, which is larger than the available KV cache memory (" + left + " GiB). Based on the available memory, the estimated maximum model length is 205728. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n"
	}
	short := func(share string) string {
		return "$ vllm serve /m --max-model-len 1024 --gpu-memory-utilization " + share + "\nERROR 03-05 13:46:50 core.py:291] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n"
	}
	verl := "+ python3 -m verl.trainer.main_ppo data.max_prompt_length=4096 data.max_response_length=500 actor_rollout_ref.model.path=Qwen/Qwen2.5-14B actor_rollout_ref.actor.use_dynamic_bsz=False actor_rollout_ref.actor.ppo_micro_batch_size=4 trainer.n_gpus_per_node=4 trainer.nnodes=1\n" +
		stackOf(onCardOf("2.60 GiB", "79.32", "1.18 GiB", "72.41"), "/w/verl/workers/actor/dp_actor.py|_forward_micro_batch|entropy = verl_F.entropy_from_logits(logits)", "/w/verl/utils/torch_functional.py|entropy_from_logits|pd = torch.nn.functional.softmax(logits, dim=-1)")
	one := "{'train_batch_size': 8, 'gradient_accumulation_steps': 1, 'zero_optimization': {'stage': 1}}\nNamespace(micro_batch_size=1, seq_length=16384, vocab_size=152064)\n" +
		stackOf(onCardOf("9.28 GiB", "60.97", "1.32 GiB", "55.00"), "/w/train.py|step|out = model(**batch)", "deepspeed/runtime/engine.py|forward|loss = self.module(*inputs, **kwargs)", "transformers/models/qwen2/modeling_qwen2.py|forward|logits = logits.float()")
	gguf := func(layers string) string {
		return "$ llama-server -m /m/coder.gguf" + layers + " -c 32768\nbuild: 7540 (85c40c9b0) with GNU 13.3.0 for Linux x86_64\nllama_model_load_from_file_impl: using device CUDA0 (NVIDIA GeForce RTX 5070 Ti) (0000:01:00.0) - 15337 MiB free\nprint_info: n_layer          = 48\n" +
			"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 17524.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_model_load: error loading model: unable to allocate CUDA0 buffer\n"
	}
	const smi = "$ nvidia-smi --query-gpu=index,name,memory.used,memory.total --format=csv\n0, NVIDIA GeForce RTX 4090, 14412 MiB, 24564 MiB\n1, NVIDIA GeForce RTX 4090, 2 MiB, 24564 MiB\n"
	taken := func(model string) string {
		return "INFO 12-03 19:42:06 [utils.py:253] non-default args: {'model': '" + model + "'}\nINFO 12-03 19:42:29 [parallel_state.py:1208] world_size=1 rank=0 local_rank=0 distributed_init_method=tcp://172.19.0.3:44719 backend=nccl\n" +
			"ERROR 12-03 19:42:31 [core.py:842] ValueError: Free memory on device (9.05/23.52 GiB) on startup is less than desired GPU memory utilization (0.9, 21.17 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.\n"
	}
	cells := func(weights string) string {
		return "$ llama-server -m /m/llama.gguf -ngl 99 -c 131072\nllama_model_load_from_file_impl: using device CUDA0 (NVIDIA GeForce RTX 4080) - 15048 MiB free\nload_tensors:        CUDA0 model buffer size =  " + weights + " MiB\nllama_context: n_ubatch      = 512\n" +
			"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 10240.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache\n"
	}
	padded := func(padding string) string {
		return "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-14B-Instruct actor_rollout_ref.model.use_remove_padding=" + padding + " data.max_prompt_length=1024 data.max_response_length=5120 actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8\n" +
			stackOf(onCardOf("23.20 GiB", "79.11", "3.79 GiB", "70.52"), "/w/verl/workers/fsdp_workers.py|compute_log_prob|output = self.actor.compute_log_prob(data)", "/w/verl/workers/actor/dp_actor.py|_forward_micro_batch|entropy = verl_F.entropy_from_logits(logits)", "/w/verl/utils/torch_functional.py|entropy_from_logits|pd = torch.nn.functional.softmax(logits, dim=-1)")
	}
	answers := func(length string) string {
		return "$ NPROC_PER_NODE=8 swift rlhf --rlhf_type grpo --model Qwen/Qwen3-4B --tuner_type full --max_length 4096" + length + " --per_device_train_batch_size 1 --gradient_checkpointing true\n" +
			stackOf(onCardOf("18.55 GiB", "79.25", "15.81 GiB", "57.02"), "swift/cli/rlhf.py|<module>|rlhf_main()", "transformers/trainer.py|training_step|self.accelerator.backward(loss, **kwargs)", "deepspeed/runtime/engine.py|backward|self.optimizer.backward(loss)")
	}
	tower := func(own string) string {
		return "2025-08-12 10:31:09,114 - lmdeploy - INFO - async_engine.py:266 - input backend=turbomind, backend_config=TurbomindEngineConfig(dtype='auto', tp=1, session_len=16384, cache_max_entry_count=0.8, quant_policy=0)\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 418.00 MiB. GPU 0 has a total capacity of 22.06 GiB of which 291.44 MiB is free. Including non-PyTorch memory, this process has 21.77 GiB memory in use. Of the allocated memory "+own+" GiB is allocated by PyTorch, and 40.66 MiB is reserved by PyTorch but unallocated.",
				"lmdeploy/vl/engine.py|forward|outputs = self.model.forward(inputs)", "lmdeploy/vl/model/internvl.py|forward|outputs = self._forward_func(inputs, max_batch_size)", "transformers/models/internvl/modeling_internvl.py|forward|attn = ((q * self.scale) @ k.transpose(-2, -1))")
	}
	loading := func(version, made string) string {
		return "#SBATCH --mem=48G\nper_device_train_batch_size=1\nModel config Qwen2Config {\n  \"model_type\": \"qwen2\",\n  \"transformers_version\": \"" + version + "\",\n  \"vocab_size\": 152064\n}\n\n" + made + "Loading checkpoint shards:  76%|███████▋  | 13/17 [00:51<00:17,  4.30s/it]\n" +
			"slurmstepd: error: Detected 1 oom_kill event in StepId=42.0. Some of the step tasks have been OOM Killed.\n"
	}
	const made = "[INFO|modeling_utils.py:2239] 2025-07-03 10:44:10,034 >> Instantiating Qwen2ForCausalLM model under default dtype torch.bfloat16.\n"
	ollama := func(weights, cache, whole string) string {
		return "Error: 500 Internal Server Error: model requires more system memory (" + whole + " GiB) than is available (7.9 GiB)\n" +
			"time=2026-03-09T19:19:31.806Z level=INFO source=server.go:431 msg=\"starting runner\" cmd=\"/usr/bin/ollama runner --ollama-engine --model /m --port 41527\"\n" +
			"time=2026-03-09T19:19:31.808Z level=INFO source=sched.go:484 msg=\"system memory\" total=\"7.7 GiB\" free=\"6.9 GiB\" free_swap=\"1024.0 MiB\"\n" +
			"time=2026-03-09T19:19:31.838Z level=INFO source=runner.go:1284 msg=load request=\"{Operation:fit LoraPath:[] Parallel:1 BatchSize:512 FlashAttention:Disabled KvSize:32768 KvCacheType: NumThreads:8 GPULayers:[]}\"\n" +
			"time=2026-03-09T19:19:32.015Z level=INFO source=device.go:245 msg=\"model weights\" device=CPU size=\"" + weights + " GiB\"\n" +
			"time=2026-03-09T19:19:32.015Z level=INFO source=device.go:256 msg=\"kv cache\" device=CPU size=\"" + cache + " GiB\"\n"
	}
	const swift = "run sh: `torchrun --nproc_per_node 8 swift/cli/sft.py --model Qwen/Qwen2.5-7B-Instruct --dataset_num_proc 64`\n[INFO:swift] Setting args\n"
	const killed = "slurmstepd: error: Detected 1 oom_kill event in StepId=42.0. Some of the step tasks have been OOM Killed.\n"
	beside := func(card string) string {
		return "+ torchrun --nproc_per_node 4 train.py --epochs 3\n[rank" + card + "]: Traceback (most recent call last):\n[rank" + card + "]:   File \"/w/train.py\", line 9, in <module>\n[rank" + card + "]:     model.to(device)\n" +
			"[rank" + card + "]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 136.00 MiB. GPU " + card + " has a total capacity of 79.25 GiB of which 102.81 MiB is free. Process 211642 has 62.04 GiB memory in use. " +
			"Including non-PyTorch memory, this process has 17.11 GiB memory in use. Of the allocated memory 16.60 GiB is allocated by PyTorch, and 2.10 MiB is reserved by PyTorch but unallocated.\n"
	}
	for name, c := range map[string]struct{ log, never, other string }{
		"processes that had prepared the data before": {swift + "{'loss': 1.8421, 'grad_norm': 9.1, 'learning_rate': 4.3e-07, 'epoch': 0.01, 'global_step/max_steps': '10/2310'}\n" + killed, "dataset_num_proc", swift + killed},
		"a rank beside a stranger on its own card":    {beside("1"), "set_device", beside("0")},
		"weights of as many layers as are set":        {gguf(" -ngl 99"), "32768 now, and it can go down", gguf("")},
		"a share below the weights as published":      {taken("openai/gpt-oss-20b"), "--gpu-memory-utilization=0.35", taken("/m/adapted")},
		"a card that is known to be taken":            {taken("openai/gpt-oss-20b"), "CUDA_VISIBLE_DEVICES=1", smi + taken("openai/gpt-oss-20b")},
		"a step where the cache alone is too large":   {cells("4880.00"), "512 now, and it can go down", cells("4780.00")},
		"what transformers does by itself":            {loading("4.52.4", ""), "low_cpu_mem_usage=True", loading("4.46.3", "")},
		"weights that were made in 16 bits":           {loading("4.46.3", made), "torch_dtype=bfloat16", loading("4.46.3", "")},
		"chunks of a pass with padding":               {padded("False"), "entropy_from_logits_with_chunking=True", padded("True")},
		"a length that answers do not have":           {answers(" --max_completion_length 65536"), "--max_length=2048", answers("")},
		"a session where the cache is a share":        {tower("1.17"), "--session-len=8192", tower("17.17")},
		"weights that do not fit with any context":    {ollama("8.6", "0.6", "9.8"), "OLLAMA_CONTEXT_LENGTH=", ollama("4.6", "4.6", "9.8")},
		"a budget that allows what failed":            {verl, "ppo_max_token_len_per_gpu=", strings.Replace(verl, "max_prompt_length=4096", "max_prompt_length=2048", 1)},
		"one sample":                                  {one, "train_micro_batch_size_per_gpu=1", ""},
		"frozen weights that the card does not hold":  {lora("75.62"), "frozen ones", ""},
		"rows of all batches are no tokens":           {"BertConfig {\n  \"hidden_size\": 768,\n  \"model_type\": \"bert\",\n  \"vocab_size\": 30522\n}\n\n***** Running Evaluation *****\n" + joins, "vocabulary x", ""},
		"more than a share adds":                      {vllm("62.00", "48.66"), "utilization=0.95", vllm("49.00", "48.66")},
		"a share that is small on purpose":            {short("0.2"), "fp8", short("0.9")},
		"a training loop that also evaluates":         {trainer + stackOf(oomOf("400.00 MiB", "200.00 MiB", "46.00"), "/w/train.py|train_and_evaluate|state = step(batch)", "/w/net.py|__call__|y = conv(x)"), "it failed in evaluation", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.log)
			require.NotNil(t, a.Cause)
			assert.NotContains(t, said(a), c.never)
			if c.other != "" {
				assert.Contains(t, said(answerTo(t, c.other)), c.never)
			}
		})
	}
}

// onCardOf is PyTorch's message on a card of some size.
func onCardOf(asked, total, free, allocated string) string {
	return strings.NewReplacer("47.40", total).Replace(oomOf(asked, free, allocated))
}

// said is what the answer says of the cause and proposes.
func said(a Checklist) string {
	texts := append([]string{a.Cause.Text}, settingsChanged(a)...)
	for i := range a.Remedies {
		texts = append(texts, a.Remedies[i].AppliesWhy)
	}
	return strings.Join(texts, "\n")
}
