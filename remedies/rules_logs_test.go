package remedies

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTheNextValueComesFromTheLogsFigures pairs logs with the first change, and with that of the same log but for one figure.
func TestTheNextValueComesFromTheLogsFigures(t *testing.T) {
	t.Parallel()
	full := func(asked string, total, free, allocated, reserved float64) string {
		return fmt.Sprintf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %s. GPU 0 has a total capacity of %.2f GiB of which %.2f GiB is free. Including non-PyTorch memory, this process has %.2f GiB memory in use. "+
			"Of the allocated memory %.2f GiB is allocated by PyTorch, and %.2f GiB is reserved by PyTorch but unallocated.", asked, total, free, allocated+reserved+0.67, allocated, reserved)
	}
	const (
		generate = "transformers/generation/utils.py|generate|result = decoding_method("
		layer    = "transformers/models/qwen2/modeling_qwen2.py|forward|hidden_states = decoder_layer("
		norm     = "transformers/models/qwen2/modeling_qwen2.py|forward|hidden_states = hidden_states.to(torch.float32)"
		linear   = "torch/nn/modules/linear.py|forward|return F.linear(input, self.weight, self.bias)"
		grpo     = "trl/trainer/grpo_trainer.py|__init__|self.ref_model = self.accelerator.prepare_model(self.ref_model, evaluation_mode=True)"
		loads    = "transformers/modeling_utils.py|_load_state_dict_into_meta_model|set_module_tensor_to_device(model, param_name, param_device)"
		moves    = "accelerate/utils/modeling.py|set_module_tensor_to_device|new_value = value.to(device)"
		capture  = "/opt/venv/lib/python3.12/site-packages/sglang/srt/model_executor/cuda_graph_runner.py|capture_one_batch_size|run_once()"
		policy   = "/root/slime/slime/backends/megatron_utils/loss.py|policy_loss_function|log_probs_and_entropy = get_log_probs_and_entropy("
		clone    = "/root/slime/slime/utils/ppo_utils.py|calculate_log_probs_and_entropy|log_prob = compute_log_probs(logits.clone(), tokens, tp_group)"
		slime    = "+ ray job submit -- python3 train.py --colocate --hf-checkpoint /root/Qwen3-8B --tensor-model-parallel-size 2 --vocab-size 151936 --rollout-max-response-len 8192 --use-dynamic-batch-size --max-tokens-per-gpu 32768 --actor-num-nodes 1 --actor-num-gpus-per-node 8\n"
		server   = "$ python3 -m sglang.launch_server --model-path RadixArk/Qwen3.8-27B-NVFP4 --mem-fraction-static 0.92\n[2026-08-24 10:41:20] Load weight end. elapsed=8.02 s, type=Qwen3_5ForConditionalGeneration, avail mem=11.20 GB, mem usage=19.61 GB.\n" +
			"[2026-08-24 10:41:21] Capture cuda graph begin. This can take up to several minutes. avail mem=2.41 GB\n"
		capturing = "Capturing batches (bs=24 avail_mem=2.37 GB):   0%%|          | %d/7 [00:14<?, ?it/s]\n"
		prompts   = "Namespace(model='Qwen/Qwen2.5-7B', batch_size=256, prompt_length=8192)\n"
		fsdp      = "distributed_type: FSDP\nfsdp_config:\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n  fsdp_sharding_strategy: FULL_SHARD\n+ torchrun --nproc_per_node 8 sft.py --model_name_or_path meta-llama/Llama-3.1-70B-Instruct --torch_dtype bfloat16\n"
	)
	fraction := "Namespace(batch_size=16, memory_fraction=0.15)\n"
	for name, c := range map[string]struct{ log, first, otherwise, other string }{
		"what a prompt's layer makes next does not fit, either": {
			prompts + stackOf(full("28.00 GiB", 139.80, 25.84, 75.28, 38.00), generate, layer, norm), "batch_size=64",
			prompts + stackOf(full("7.00 GiB", 139.80, 5.84, 75.28, 58.00), generate, layer, norm), "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
		},
		"a share that the script sets is raised": {
			fraction + stackOf(full("3.07 GiB", 139.80, 119.49, 19.60, 0.03), linear), "memory_fraction=0.25",
			fraction + stackOf(full("3.07 GiB", 139.80, 1.49, 136.60, 0.03), linear), "batch_size=4",
		},
		"the reference model of a penalty is not loaded": {
			"beta=0.04,\n" + stackOf(full("270.00 MiB", 79.10, 0.21, 78.19, 0.12), grpo, "torch/nn/modules/module.py|convert|return t.to("), "beta=0.0",
			"beta=0.04,\n" + stackOf(full("270.00 MiB", 79.10, 0.21, 78.19, 0.12), "trl/trainer/grpo_trainer.py|__init__|model = AutoModelForCausalLM.from_pretrained(model)", "torch/nn/modules/module.py|convert|return t.to("), "deepspeed=ds_config_zero3.json",
		},
		"a cache that moves with the model is made smaller": {
			"+ python example.py --max_seq_len=512 --max_batch_size=32\n" + stackOf(full("68.00 MiB", 23.65, 0.04, 22.68, 0.46), "/home/u/example.py|load|model.cuda()", "torch/nn/modules/module.py|cuda|return self._apply(lambda t: t.cuda(device))"), "--max_batch_size=16",
			"+ python example.py --max_seq_len=512\n" + stackOf(full("68.00 MiB", 23.65, 0.04, 22.68, 0.46), "/home/u/example.py|load|model.cuda()", "torch/nn/modules/module.py|cuda|return self._apply(lambda t: t.cuda(device))"), "",
		},
		"fewer objects are assigned on the card": {
			"Namespace(gpu_assign_thr=300, samples_per_gpu=1)\n" + stackOf(full("1.60 GiB", 10.92, 1.09, 8.61, 0.70), "/home/u/mmdetection/mmdet/models/detectors/two_stage.py|forward_train|rpn_losses = self.rpn_head.forward_train(", "/home/u/mmdetection/mmdet/core/bbox/assigners/max_iou_assigner.py|assign|overlaps = self.iou_calculator(gt_bboxes, bboxes)"), "gpu_assign_thr=75",
			"Namespace(gpu_assign_thr=300, samples_per_gpu=1)\n" + stackOf(full("1.60 GiB", 10.92, 1.09, 8.61, 0.70), "/home/u/mmdetection/mmdet/models/detectors/two_stage.py|forward_train|x = self.extract_feat(img)", "torch/nn/modules/conv.py|_conv_forward|return F.conv2d("), "",
		},
		"the first of several graphs was being captured": {
			server + fmt.Sprintf(capturing, 0) + stackOf(full("32.00 MiB", 31.36, 0.02, 28.44, 0.26), capture, linear), "--mem-fraction-static=0.79",
			server + fmt.Sprintf(capturing, 6) + stackOf(full("32.00 MiB", 31.36, 0.02, 28.44, 0.26), capture, linear), "--mem-fraction-static=0.86",
		},
		"a pack of several samples keeps the tensors of each": {
			slime + stackOf(full("2.32 GiB", 79.11, 2.06, 70.97, 0.61), policy, "/root/slime/slime/backends/megatron_utils/loss.py|get_log_probs_and_entropy|log_prob, entropy = calculate_log_probs_and_entropy(", clone), "--max-tokens-per-gpu=16384",
			slime + stackOf(full("2.32 GiB", 79.11, 2.06, 70.97, 0.61), "/root/Megatron-LM/megatron/core/transformer/mlp.py|forward|intermediate_parallel = self.activation_func(intermediate_parallel)"), "",
		},
		"a sharded model is not mapped onto each card": {
			fsdp + stackOf(full("448.00 MiB", 79.15, 0.39, 78.18, 0.06), "transformers/modeling_utils.py|from_pretrained|cls._load_pretrained_model(", loads, moves), "device_map=None",
			fsdp + stackOf(full("448.00 MiB", 79.15, 0.39, 78.18, 0.06), "torch/distributed/fsdp/fully_sharded_data_parallel.py|__init__|_init_param_handle_from_module(", "torch/nn/modules/module.py|convert|return t.to("), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.first, firstChange(For(incidentOf(t, c.log))))
			other := firstChange(For(incidentOf(t, c.otherwise)))
			if c.other == "" {
				assert.NotEqual(t, c.first, other)
				return
			}
			assert.Equal(t, c.other, other)
		})
	}
}

// TestAPictureShrinksAsItsScoresDo covers scores that grow with the square of the pixels.
func TestAPictureShrinksAsItsScoresDo(t *testing.T) {
	t.Parallel()
	log := func(last string) string {
		return "Namespace(model='Qwen/Qwen2.5-VL-7B-Instruct', max_pixels=12845056)\n" + stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 909.78 GiB. GPU 0 has a total capacity of 79.32 GiB of which 3.03 GiB is free. "+
			"Including non-PyTorch memory, this process has 76.29 GiB memory in use. Of the allocated memory 75.41 GiB is allocated by PyTorch, and 317.40 MiB is reserved by PyTorch but unallocated.",
			"transformers/generation/utils.py|generate|result = decoding_method(", "transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py|forward|image_embeds = self.visual(pixel_values, grid_thw=image_grid_thw)", last)
	}
	scores := "transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py|forward|attn_weights = torch.matmul(q, k.transpose(1, 2)) / math.sqrt(self.head_dim)"
	assert.Contains(t, changesOf(For(incidentOf(t, log(scores)))), "max_pixels=740880")
	assert.NotContains(t, changesOf(For(incidentOf(t, log("torch/nn/modules/linear.py|forward|return F.linear(input, self.weight, self.bias)")))), "max_pixels=740880")
}

// TestOllamasZeroIsItsOwnChoice covers a context that is not set: the server says what it chose.
func TestOllamasZeroIsItsOwnChoice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ cache, first string }{
		"the cache takes most of the machine": {"48.0 GiB", "OLLAMA_CONTEXT_LENGTH=65536"},
		"the cache is small":                  {"512.0 MiB", "OLLAMA_CONTEXT_LENGTH=131072"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := "time=2026-02-07T09:13:10.000Z level=INFO source=routes.go:1518 msg=\"server config\" env=\"map[OLLAMA_CONTEXT_LENGTH:0 OLLAMA_NUM_PARALLEL:1]\"\n" +
				"time=2026-02-07T09:13:11.000Z level=INFO source=routes.go:1612 msg=\"vram-based default context\" total_vram=\"64.0 GiB\" default_num_ctx=262144\n" +
				"time=2026-02-07T09:13:12.000Z level=INFO source=sched.go:452 msg=\"system memory\" total=\"59.2 GiB\" free=\"58.0 GiB\" free_swap=\"0 B\"\n" +
				"time=2026-02-07T09:13:23.413Z level=INFO source=device.go:256 msg=\"kv cache\" device=CPU size=\"" + c.cache + "\"\n" +
				"kernel: ollama invoked oom-killer: gfp_mask=0x140dca, order=0, oom_score_adj=0\nkernel: 15466496 pages RAM\n" +
				"kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/system.slice/ollama.service,task=ollama,pid=2391,uid=0\n" +
				"kernel: Out of memory: Killed process 2391 (ollama) total-vm:98304000kB, anon-rss:56000000kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:9000kB oom_score_adj:0\n"
			assert.Equal(t, c.first, firstChange(For(incidentOf(t, log))))
		})
	}
}
