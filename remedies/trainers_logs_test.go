package remedies

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWhatTrainersLogsAreToldFirst pairs logs with the changes of the first proposal, and with changes of none.
func TestWhatTrainersLogsAreToldFirst(t *testing.T) {
	t.Parallel()
	full := func(asked, total, free, process, allocated string) string {
		return "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + asked + ". GPU 0 has a total capacity of " + total + " GiB of which " + free + " is free. Including non-PyTorch memory, this process has " + process +
			" GiB memory in use. Of the allocated memory " + allocated + " GiB is allocated by PyTorch, and 200.00 MiB is reserved by PyTorch but unallocated."
	}
	const (
		wrapped = "distributed_type: FSDP\nfsdp_config:\n  fsdp_activation_checkpointing: false\n  fsdp_auto_wrap_policy: NO_WRAP\n  fsdp_sharding_strategy: FULL_SHARD\n" +
			"+ accelerate launch --num_processes 8 ft.py --model_name_or_path meta-llama/Llama-2-13b-hf --bf16 True --per_device_train_batch_size 2 --gradient_checkpointing True\n"
		trainer = "transformers/trainer.py|training_step|self.accelerator.backward(loss, **kwargs)"
		layer   = "transformers/models/qwen2/modeling_qwen2.py|forward|layer_outputs = decoder_layer("
		mlp     = "transformers/models/qwen2/modeling_qwen2.py|forward|down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))"
		grpo    = "+ accelerate launch grpo.py --model_name_or_path Qwen/Qwen2.5-3B-Instruct --per_device_train_batch_size 8 --num_generations 8 --max_prompt_length 512 --max_completion_length 1024\n" +
			"GRPOConfig(gradient_checkpointing=False, use_liger_loss=False, per_device_train_batch_size=8)\n"
		areal = "$ python3 -m areal.launcher.local gsm8k_grpo.py\nallocation_mode: sglang:d4+fsdp:d4\nactor:\n  path: Qwen/Qwen3-4B\n  gradient_checkpointing: true\n  mb_spec:\n    max_tokens_per_mb: 32768\n  backend: fsdp\ngconfig:\n  max_new_tokens: 31744\ntrain_dataset:\n  max_length: 1024\n"
		slime = "+ python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 2 --colocate --hf-checkpoint /root/Qwen2.5-7B-Instruct --tensor-model-parallel-size 2 --use-dynamic-batch-size --max-tokens-per-gpu 4096 --recompute-granularity full --sglang-mem-fraction-static 0.6\n" +
			"(MegatronTrainRayActor pid=2187)   accumulate_allreduce_grads_in_fp32 .............. True\n(MegatronTrainRayActor pid=2187)   data_parallel_size .............................. 1\n(MegatronTrainRayActor pid=2187)   optimizer_cpu_offload ........................... False\n" +
			"(MegatronTrainRayActor pid=2187)   use_distributed_optimizer ....................... True\n(MegatronTrainRayActor pid=2187)   world_size ...................................... 2\n(MegatronTrainRayActor pid=2187)  > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 3808000000\n"
		dpo   = "+ python trl/scripts/dpo.py --model_name_or_path mistralai/Mistral-7B-Instruct-v0.3 --per_device_train_batch_size 1 --gradient_checkpointing --bf16 True --torch_dtype bfloat16 --max_length 1024\n"
		fit   = "/x/lib/python3.11/site-packages/pytorch_lightning/trainer/trainer.py|fit|call._call_and_handle_interrupt("
		zero2 = "$ deepspeed --num_gpus=1 finetune_trainer.py --model_name_or_path t5-11b --per_device_train_batch_size 1 --fp16 --deepspeed ds.json\n[2021-01-11 14:28:40,771] [INFO] [logging.py:60:log_dist] [Rank 0] DeepSpeed info: version=0.3.10, git-hash=unknown, git-branch=unknown\n" +
			"[2021-01-11 14:31:22,709] [INFO] [config.py:624:print]   zero_config .................. {\n    "
		replica = "$ python -m torch.distributed.launch --nproc_per_node 8 --nnodes 1 pretrain_gpt2.py --deepspeed\n[2020-05-27 10:33:01,206] [INFO] [deepspeed_light.py:70:print_configuration]   zero_config .................. {'stage': 2, 'reduce_bucket_size': 200000000}\n" +
			"[2020-05-27 10:33:01,206] [INFO] [deepspeed_light.py:70:print_configuration]   zero_optimization_stage ...... 2\n"
		validates = "GPU available: True (cuda), used: True\nUsing 16bit Automatic Mixed Precision (AMP)\n+ python train.py fit --data.batch_size 4 --trainer.devices 1\n"
		flux      = "+ accelerate launch flux_train_network.py --pretrained_model_name_or_path /m/flux1-dev.safetensors --network_module networks.lora_flux --network_dim 16 --train_batch_size 1 --gradient_checkpointing --cache_latents_to_disk --optimizer_type adamw8bit --mixed_precision bf16 "
		titan     = "[titan] 2025-10-02 10:02:18,772 - root - INFO - Running with args: {'activation_checkpoint': {'mode': 'selective'}, 'training': {'local_batch_size': 8, 'seq_len': 4096}, 'parallelism': {'context_parallel_degree': 1}}\n" +
			"[titan] 2025-10-02 10:02:31,330 - root - INFO - Building deepseek_v3 16B with DeepSeekV3ModelArgs(max_seq_len=4096, use_flex_attn=True)\n"
	)
	search := func(model, trained string) string {
		return "+ nvidia-smi --query-gpu=name,memory.total,memory.used --format=csv,noheader\nNVIDIA H100 80GB HBM3, 81559 MiB, 1 MiB\n+ python run_clm.py --model_name_or_path " + model + " --torch_dtype bfloat16 --do_train --bf16 " +
			"--gradient_checkpointing --block_size 2048 --per_device_train_batch_size 8 --auto_find_batch_size\n05/06/2025 13:02:10 - WARNING - __main__ - Process rank: 0, device: cuda:0, n_gpu: 1, distributed training: False, 16-bits training: True\nTraining/evaluation parameters TrainingArguments(\n_n_gpu=1,\nauto_find_batch_size=True,\noptim=OptimizerNames.ADAMW_TORCH,\n)\n" +
			"***** Running training *****\n  Num examples = 20,914\n  Instantaneous batch size per device = 8\n  Gradient Accumulation steps = 4\n  Number of trainable parameters = " + trained + "\n  0%|          | 0/1306 [00:00<?, ?it/s]\n" +
			stackOf("RuntimeError: No executable batch size found, reached zero.", "/w/run_clm.py|main|train_result = trainer.train(resume_from_checkpoint=checkpoint)", "transformers/trainer.py|train|return inner_training_loop(", "accelerate/utils/memory.py|decorator|raise RuntimeError(\"No executable batch size found, reached zero.\")")
	}
	clips := stackOf(full("126.00 MiB", "22.03", "67.12 MiB", "21.96", "21.47"), "/w/F5-TTS/src/f5_tts/model/trainer.py|train|loss, cond, pred = self.model(", "/w/F5-TTS/src/f5_tts/model/cfm.py|forward|pred = self.transformer(",
		"/w/F5-TTS/src/f5_tts/model/backbones/dit.py|forward|x = block(x, t, mask=mask, rope=rope)", "/w/F5-TTS/src/f5_tts/model/modules.py|forward|return self.ff(x)", "torch/nn/modules/activation.py|forward|return F.gelu(input, approximate=self.approximate)")
	qwenImage := "$ accelerate launch --mixed_precision bf16 src/musubi_tuner/qwen_image_train_network.py --dit /m/qwen_image_bf16.safetensors --sdpa --network_module networks.lora_qwen_image --gradient_checkpointing\n" +
		"INFO:musubi_tuner.hv_train_network:DiT precision: torch.bfloat16, weight precision: torch.bfloat16\n" +
		stackOf(full("72.00 MiB", "31.36", "34.81 MiB", "31.31", "30.78"), "/w/musubi-tuner/src/musubi_tuner/qwen_image_train_network.py|main|trainer.train(args)", "/w/musubi-tuner/src/musubi_tuner/hv_train_network.py|train|transformer = self.load_transformer(",
			"/w/musubi-tuner/src/musubi_tuner/qwen_image_train_network.py|load_transformer|model = qwen_image_model.load_qwen_image_model(", "/w/musubi-tuner/src/musubi_tuner/utils/safetensors_utils.py|get_tensor|gpu_tensor = cpu_tensor.to(device=device, dtype=target_dtype)")
	setUp := func(gib string) string {
		return "[2024-11-09 10:32:06,244] [INFO] [utils.py:782:see_memory_usage] MA " + gib + " GB         Max_MA 15.00 GB         CA 17.01 GB         Max_CA 17 GB \n"
	}
	evaluates := stackOf(full("128.00 MiB", "23.69", "51.75 MiB", "23.63", "23.10"), "lightning/pytorch/loops/evaluation_loop.py|_evaluation_step|output = call._call_strategy_hook(trainer, hook_name, *step_args)", "/w/lit.py|validation_step|logits = self.net(x)", "torch/nn/modules/conv.py|_conv_forward|return F.conv2d(")
	denoises := "\n" + stackOf(full("190.00 MiB", "23.64", "39.31 MiB", "23.60", "23.08"), "/s/flux_train_network.py|call_dit|model_pred = unet(", "/s/library/flux_models.py|_forward|qkv, mlp = torch.split(self.linear1(x_mod), [3 * self.hidden_size, self.mlp_hidden_dim], dim=-1)")
	states := stackOf(full("12.83 GiB", "31.75", "11.36 GiB", "19.60", "19.27"), "/w/pretrain_gpt2.py|setup_model_and_optimizer|dist_init_required=False", "deepspeed/__init__.py|initialize|collate_fn=collate_fn)", "deepspeed/pt/deepspeed_zero_optimizer.py|initialize_optimizer_states|device=torch.cuda.current_device())")
	rows := stackOf(full("1.56 GiB", "15.90", "236.75 MiB", "14.60", "13.66"), "pytorch_lightning/trainer/trainer.py|fit|self._call_and_handle_interrupt(", "/w/piper_train/vits/lightning.py|training_step_g|) = self.model_g(x, x_lengths)", "/w/piper_train/vits/attentions.py|attention|rel_logits = self._matmul_with_relative_keys(", "/w/piper_train/vits/attentions.py|_matmul_with_relative_keys|ret = torch.matmul(x, y.unsqueeze(0))")
	for _, c := range []struct {
		name, log    string
		first, never []string
	}{
		{
			"a model that FSDP gathers whole leaves no room for any batch", wrapped + stackOf(full("136.00 MiB", "44.40", "81.92 MiB", "44.32", "41.61"), trainer, "torch/_tensor.py|backward|torch.autograd.backward("),
			[]string{"fsdp_auto_wrap_policy = TRANSFORMER_BASED_WRAP"},
			[]string{"per_device_train_batch_size down", "fsdp_activation_checkpointing set"},
		},
		{
			"in a layer, the logits are still to come", grpo + stackOf(full("254.00 MiB", "79.15", "143.36 MiB", "79.01", "77.14"), "trl/trainer/grpo_trainer.py|_get_per_token_logps|logits = model(", layer, mlp),
			[]string{"gradient_checkpointing = true"},
			[]string{"use_liger_loss set"},
		},
		{
			"Accelerate's switch offloads already", "accelerate_config: distributed_type=DEEPSPEED zero_stage=2 offload_optimizer_device=cpu offload_param_device=none num_processes=4\n+ accelerate launch ppo.py --batch_size 4\n" +
				stackOf(full("2.44 GiB", "79.20", "1.31 GiB", "77.40", "75.16"), "/w/ppo_trainer.py|train_step|self.accelerator.backward(total_loss)", "torch/_tensor.py|backward|torch.autograd.backward("),
			[]string{"batch_size = 2"},
			[]string{"device set"},
		},
		{
			"half of a batch whose logits would fill what is free", "***** Running Evaluation *****\n  Num examples = 15140\n  Batch size = 8\n" +
				stackOf(full("14.00 GiB", "23.52", "7.41 GiB", "16.10", "14.92"), "transformers/trainer.py|evaluation_loop|losses, logits, labels = self.prediction_step(", "/w/model.py|forward|logits = self.lm_head(hidden_states)", "torch/nn/modules/linear.py|forward|return F.linear(input, self.weight, self.bias)"),
			[]string{"per_device_eval_batch_size = 2"},
			nil,
		},
		{
			"the layout stands where the backend has none", areal + stackOf(full("9.09 GiB", "79.11", "2.71 GiB", "76.40", "74.15"), "/w/areal/engine/fsdp_engine.py|train_batch|loss.backward()", "torch/_tensor.py|backward|torch.autograd.backward("),
			[]string{"allocation_mode = sglang:d4+fsdp:d2c2"},
			[]string{"max_length down"},
		},
		{
			"states in a stage of ZeRO that Lightning names", "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4\nTrainer(strategy='ddp', devices=4, precision='bf16-mixed')\n3.2 B     Trainable params\n0         Non-trainable params\n3.2 B     Total params\n" +
				stackOf(full("96.00 MiB", "39.38", "50.31 MiB", "39.30", "38.10"), fit, "/x/lib/python3.11/site-packages/pytorch_lightning/strategies/ddp.py|optimizer_step|optimizer_output = super().optimizer_step(", "torch/optim/adamw.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like("),
			[]string{`strategy = "deepspeed_stage_2"`},
			nil,
		},
		{
			"a cache that vLLM takes layer by layer", "+ python3 -m openrlhf.cli.train_ppo_ray --vllm_gpu_memory_utilization 0.75 --colocate_all_models --pretrain Qwen/Qwen2.5-0.5B --micro_train_batch_size 4\n" +
				stackOf(full("1.14 GiB", "39.38", "732.31 MiB", "21.70", "20.92"), "vllm/worker/worker.py|initialize_cache|self._init_cache_engine()", "vllm/worker/cache_engine.py|_allocate_kv_cache|torch.zeros(kv_cache_shape,"),
			[]string{"vllm_gpu_memory_utilization = 0.51"},
			nil,
		},
		{
			"states that slime takes back", "+ python3 train.py --colocate --hf-checkpoint /m/Qwen3-14B --tensor-model-parallel-size 4 --sglang-mem-fraction-static 0.82 --actor-num-nodes 1 --actor-num-gpus-per-node 8 --use-distributed-optimizer\n" +
				"(MegatronTrainRayActor pid=21877)   data_parallel_size .............................. 2\n(MegatronTrainRayActor pid=21877)   world_size ...................................... 8\n" +
				"(MegatronTrainRayActor pid=21877)  > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 3692478464\n" +
				"(MegatronTrainRayActor pid=21877) [Rank 0] Memory-Usage before wake_up model: {'gpu': '0', 'total_GB': 79.11, 'free_GB': 33.47, 'used_GB': 45.64, 'allocated_GB': 1.22, 'reserved_GB': 1.3}\n" +
				"(MegatronTrainRayActor pid=21877) [torch_memory_saver.cpp] CUresult error: 2 (out of memory)  file=csrc/utils.h func=cu_mem_create line=104\n",
			[]string{"sglang_mem_fraction_static = 0.67"},
			nil,
		},
		{
			"the next layer's scores do not fit either", "+ torchrun --nproc_per_node 8 grpo.py --model_name_or_path Qwen/Qwen2.5-VL-3B-Instruct --per_device_train_batch_size 1 --gradient_checkpointing false --attn_implementation sdpa --max_pixels 401408\nDeepSpeed zero_stage: 3\n" +
				stackOf(full("8.00 GiB", "79.33", "7.54 GiB", "71.79", "68.94"), "transformers/trainer.py|training_step|loss = self.compute_loss(model, inputs)", "deepspeed/runtime/engine.py|forward|loss = self.module(*inputs, **kwargs)",
					"transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py|forward|attn_output = F.scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), attention_mask)"),
			[]string{"attn_implementation = flash_attention_2"},
			[]string{"device set"},
		},
		{
			"states that leave little room for any batch", slime + stackOf(full("418.00 MiB", "79.11", "200.00 MiB", "76.00", "72.10"), "/root/slime/slime/backends/megatron_utils/model.py|train_one_step|losses_reduced = forward_backward_func(",
				"torch/autograd/graph.py|_engine_run_backward|return Variable._execution_engine.run_backward("),
			[]string{"optimizer_cpu_offload = True"},
			nil,
		},
		{
			"states that leave room", strings.ReplaceAll(strings.ReplaceAll(slime, "3808000000", "1543000000"), "2.5-7B", "2.5-3B") + stackOf(full("418.00 MiB", "79.11", "200.00 MiB", "76.00", "72.10"), "/root/slime/slime/backends/megatron_utils/model.py|train_one_step|losses_reduced = forward_backward_func(",
				"torch/autograd/graph.py|_engine_run_backward|return Variable._execution_engine.run_backward("),
			[]string{"max_tokens_per_gpu = 512"},
			nil,
		},
		{
			"weights that ZeRO-2 keeps on the card", zero2 + "\"cpu_offload\": true,\n    \"stage\": 2\n}\n" + stackOf(full("64.00 MiB", "23.70", "29.56 MiB", "22.70", "22.41"), "transformers/trainer.py|training_step|loss = self.compute_loss(model, inputs)", "deepspeed/runtime/engine.py|forward|loss = self.module(*inputs, **kwargs)", "torch/nn/functional.py|linear|output = input.matmul(weight.t())"),
			[]string{"stage = 3", "device = cpu"},
			[]string{"gradient_checkpointing set", "optim set"},
		},
		{
			"parts of the only replica under ZeRO", replica + "  model_parallel_size .......... 8\n" + states,
			[]string{"device = cpu"},
			[]string{"stage up"},
		},
		{
			"two replicas under ZeRO", replica + "  model_parallel_size .......... 4\n" + states,
			[]string{"stage = 3"},
			nil,
		},
		{
			"sentences of any length", "$ python3 -m piper_train --dataset-dir /d --batch-size 1 --precision 32\n" + rows,
			[]string{"max_phoneme_ids = 400"},
			nil,
		},
		{
			"sentences that are left out above a length", "$ python3 -m piper_train --dataset-dir /d --batch-size 1 --precision 32 --max-phoneme-ids 300\n" + rows,
			[]string{"max_phoneme_ids = 150"},
			nil,
		},
		{
			"states beyond one card, of a script that trains all weights", "+ python trl/scripts/sft.py --model_name_or_path Qwen/Qwen2.5-7B-Instruct --per_device_train_batch_size 1 --gradient_checkpointing --bf16 True\n" +
				stackOf(full("3.73 GiB", "21.98", "2.20 GiB", "19.70", "18.90"), "/w/trl/scripts/sft.py|<module>|trainer.train()", "torch/optim/adamw.py|step|state['exp_avg'] = torch.zeros_like(p.data)"),
			[]string{"use_peft = true"},
			[]string{"dtype set", "deepspeed set"},
		},
		{
			"a reference model beside its policy is no float32", dpo + stackOf(full("112.00 MiB", "21.98", "50.20 MiB", "21.90", "21.50"), "/w/trl/scripts/dpo.py|<module>|trainer = DPOTrainer(", "trl/trainer/dpo_trainer.py|__init__|self.ref_model = self.accelerator.prepare_model(self.ref_model, evaluation_mode=True)",
				"accelerate/accelerator.py|prepare_model|model = model.to(self.device)", "torch/nn/modules/module.py|convert|return t.to("),
			[]string{"use_peft = true"},
			[]string{"torch_dtype set"},
		},
		{
			"one rank's part of a sample tells that it is the logits", "{'policy': {'model_name': 'nvidia/x', 'train_micro_batch_size': 1, 'max_total_sequence_length': 81920, 'dtensor_cfg': {'enabled': True, 'context_parallel_size': 4, 'tensor_parallel_size': 1, 'activation_checkpointing': True}}}\n" +
				stackOf(full("9.94 GiB", "79.11", "5.61 GiB", "73.50", "69.46"), "/opt/nemo-rl/nemo_rl/models/policy/workers/dtensor_policy_worker.py|train|loss.backward()", "torch/_tensor.py|backward|torch.autograd.backward("),
			[]string{"context_parallel_size = 8"},
			nil,
		},
		{
			"a share that frees enough comes before GPUs that nobody counted", "GRPOConfig(per_device_train_batch_size=1, num_generations=4, use_vllm=True, vllm_mode='colocate', vllm_gpu_memory_utilization=0.7, gradient_checkpointing=True)\n" +
				"+ accelerate launch --num_processes=1 grpo.py --model_name_or_path Qwen/Qwen2.5-1.5B --deepspeed zero3.json\n" +
				stackOf(full("3.73 GiB", "79.15", "3.49 GiB", "75.66", "74.12"), "trl/trainer/grpo_trainer.py|__init__|self.model = self.accelerator.prepare(self.model)", "deepspeed/runtime/zero/stage3.py|initialize_optimizer_states|self._optimizer_step(i)", "deepspeed/ops/adam/fused_adam.py|step|state['exp_avg'] = torch.zeros_like(p.data)"),
			[]string{"vllm_gpu_memory_utilization = 0.4"},
			nil,
		},
		{
			"no gradients are there to split while DeepSpeed makes the optimizer's states", "+ deepspeed --num_gpus 4 train.py\n{\n    \"train_micro_batch_size_per_gpu\": 1,\n    \"zero_optimization\": {\n        \"stage\": 1,\n        \"offload_optimizer\": {\"device\": \"cpu\"}\n    }\n}\n" +
				stackOf(full("6.28 GiB", "31.75", "6.15 GiB", "25.60", "25.11"), "/w/train.py|main|model, optimizer, _, _ = deepspeed.initialize(", "deepspeed/runtime/zero/stage_1_and_2.py|initialize_optimizer_states|self.optimizer.step()", "torch/optim/adamw.py|_init_group|state['exp_avg'] = torch.zeros_like("),
			[]string{"stage = 3"},
			[]string{"stage = 2"},
		},
		{
			"DeepSpeed with a model of transformers in a loop of one's own", "+ deepspeed --num_gpus 2 train.py\n{\n    \"train_micro_batch_size_per_gpu\": 1,\n    \"zero_optimization\": {\n        \"stage\": 3\n    }\n}\n" +
				stackOf(full("74.00 MiB", "79.11", "52.56 MiB", "78.90", "77.89"), "/w/train.py|train|loss = engine(ids)", "deepspeed/runtime/engine.py|forward|loss = self.module(*inputs, **kwargs)", mlp),
			[]string{"gradient_checkpointing_enable() = True"},
			nil,
		},
		{
			"weights that do not fit in 8 bits either", "base_model: Qwen/Qwen2-72B-Instruct\nadapter: lora\nload_in_8bit: false\nload_in_4bit: false\ndeepspeed: deepspeed_configs/zero2.json\n[2026-03-01 10:00:00,000] [INFO] [axolotl.train.train:120] [PID:9] [RANK:0] loading model\n" +
				stackOf(full("462.00 MiB", "63.43", "382.12 MiB", "63.05", "62.48"), "axolotl/utils/models.py|load_model|model = AutoModelForCausalLM.from_pretrained(", "transformers/modeling_utils.py|from_pretrained|) = cls._load_pretrained_model("),
			nil,
			[]string{"load_in_8bit set"},
		},
		{
			"a batch that minibatches divide is no setting", "$ python ppo.py --num-envs 4 --num-steps 32 --num-minibatches 4\nNamespace(batch_size=128, minibatch_size=32, num_envs=4, num_minibatches=4, num_steps=32)\n" +
				stackOf(full("808.00 MiB", "79.15", "539.62 MiB", "78.40", "77.61"), "/w/ppo.py|<module>|loss.backward()", "torch/_tensor.py|backward|torch.autograd.backward("),
			[]string{"num_minibatches = 8"},
			[]string{"batch_size down"},
		},
		{
			"what DeepSpeed allocates while it is set up is no leak", "$ llamafactory-cli train full.yaml\nstage: sft\nfinetuning_type: full\ndeepspeed: examples/deepspeed/ds_z3_config.json\ncutoff_len: 2048\nper_device_train_batch_size: 1\n" +
				strings.Join([]string{setUp("1.87"), setUp("1.87"), setUp("5.61"), setUp("13.09"), setUp("14.99")}, "") +
				stackOf(full("1002.00 MiB", "23.69", "337.69 MiB", "23.36", "22.60"), "/w/LLaMA-Factory/src/llamafactory/train/sft/workflow.py|run_sft|train_result = trainer.train(", trainer, "deepspeed/runtime/zero/stage3.py|backward|self.loss_scaler.backward(loss.float(), retain_graph=retain_graph)"),
			nil,
			[]string{"llamafactory version set", "resume_from_checkpoint set"},
		},
		{
			"what a module of Lightning keeps of each batch", validates + "Validation DataLoader 0:   4%|4         | 10/250 [00:03<01:48,  3.12it/s, alloc_gib=2.71]\nValidation DataLoader 0:   8%|8         | 20/250 [00:06<01:46,  3.12it/s, alloc_gib=4.35]\n" +
				"Validation DataLoader 0:  12%|#2        | 30/250 [00:09<01:44,  3.12it/s, alloc_gib=5.99]\nValidation DataLoader 0:  16%|#6        | 40/250 [00:12<01:42,  3.12it/s, alloc_gib=7.63]\nValidation DataLoader 0:  20%|##        | 50/250 [00:15<01:40,  3.12it/s, alloc_gib=9.27]\n" + evaluates,
			[]string{"validation_step_outputs = self.validation_step_outputs.append(logits.argmax(1).cpu())  # and .clear() in on_validation_epoch_end"},
			[]string{"batch_size down", "precision set", "strategy set"},
		},
		{
			"an evaluation of Lightning that keeps nothing", validates + evaluates,
			[]string{"batch_size = 2"},
			[]string{"validation_step_outputs set", "precision set", "strategy set"},
		},
		{
			"frozen weights of a diffusion transformer", flux + denoises,
			[]string{"fp8_base = true"},
			[]string{"cache_latents set", "optimizer_type set", "train_batch_size down"},
		},
		{
			"frozen weights of a diffusion transformer, on their way to the card", flux + "--fp8_base --cache_text_encoder_outputs_to_disk\n" + stackOf(full("64.00 MiB", "11.76", "38.21 MiB", "11.23", "10.98"), "/s/sd-scripts/flux_train_network.py|prepare_unet_with_accelerator|return super().prepare_unet_with_accelerator(args, accelerator, unet)",
				"/s/sd-scripts/train_network.py|prepare_unet_with_accelerator|return accelerator.prepare(unet)", "accelerate/accelerator.py|prepare_model|model = model.to(self.device)", "torch/nn/modules/module.py|convert|return t.to("),
			[]string{"blocks_to_swap = 20"},
			[]string{"fp8_base set", "train_batch_size down", "cache_text_encoder_outputs set"},
		},
		{
			"frozen weights of a diffusion transformer in 8 bits", flux + "--fp8_base " + denoises,
			[]string{"blocks_to_swap = 20"},
			[]string{"fp8_base set"},
		},
		{
			"frozen weights of a diffusion transformer, while they are read", qwenImage,
			[]string{"fp8_base = true", "fp8_scaled = true"},
			[]string{"model.half set", "torch_dtype set", "batch_size down"},
		},
		{
			"which musubi-tuner reads in 8 bits already", strings.Replace(qwenImage, "--sdpa", "--fp8_base --fp8_scaled", 1),
			[]string{"blocks_to_swap = 20"},
			[]string{"fp8_base set", "model.half set"},
		},
		{
			"a search for a batch size that ends at zero, with states beyond the card", search("Qwen/Qwen2.5-14B", "14,770,033,664"),
			[]string{"nproc_per_node = 2"},
			[]string{"per_device_train_batch_size down", "block_size down", "gradient_accumulation_steps up", "pytorch_cuda_alloc_conf set"},
		},
		{
			"with states that would fit", search("Qwen/Qwen2.5-1.5B", "1,543,714,304"),
			[]string{"optim = adamw_8bit"},
			[]string{"per_device_train_batch_size down"},
		},
		{
			"clips of many lengths in one batch", "$ accelerate launch --mixed_precision=fp16 src/f5_tts/train/finetune_cli.py --batch_size_per_gpu 31 --batch_size_type sample --max_samples 64\n" + clips,
			[]string{"batch_size_type = frame", "batch_size_per_gpu = 3200"},
			[]string{"max_samples down"},
		},
		{
			"a batch of so many frames", "$ accelerate launch --mixed_precision=fp16 src/f5_tts/train/finetune_cli.py --batch_size_per_gpu 32000 --batch_size_type frame --max_samples 64\n" + clips,
			[]string{"batch_size_per_gpu = 8000"},
			[]string{"batch_size_type set"},
		},
		{
			"TorchTitan's selective mode recomputes little", titan + stackOf(full("1.50 GiB", "79.11", "1.16 GiB", "77.94", "75.26"), "/w/torchtitan/train.py|forward_backward_step|pred = model_parts[0](inputs, **extra_inputs)",
				"torch/distributed/algorithms/_checkpoint/checkpoint_wrapper.py|forward|return self.checkpoint_fn(", "torch/utils/checkpoint.py|checkpoint|ret = function(*args, **kwargs)", "/w/torchtitan/models/moe.py|forward|routed_output.to(torch.float32)"),
			[]string{"mode = full"},
			[]string{"context_parallel_degree up"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			proposes(t, For(incidentOf(t, c.log)), c.first, c.never)
		})
	}
}

// TestAnItemThatIsRuledOutHidesNoOther has a trainer whose guide proposes ZeRO where none is on, and DeepSpeed's own list, which raises the
// stage.
func TestAnItemThatIsRuledOutHidesNoOther(t *testing.T) {
	t.Parallel()
	for stage, raised := range map[string]bool{"2": true, "3": false} {
		log := "+ deepspeed --num_gpus 4 train.py --deepspeed ds.json --model_name_or_path mistralai/Mistral-7B-v0.1 --per_device_train_batch_size 1 --gradient_checkpointing True --bf16 True\n" +
			"{\n    \"zero_optimization\": {\n        \"stage\": " + stage + "\n    }\n}\nMA 33.72 GB         Max_MA 33.72 GB         CA 33.75 GB         Max_CA 34 GB\n" +
			stackOf("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU 1 has a total capacity of 39.39 GiB of which 60.31 MiB is free. Including non-PyTorch memory, this process has 39.33 GiB memory in use.",
				"transformers/trainer.py|training_step|self.accelerator.backward(loss)", "deepspeed/runtime/zero/stage_1_and_2.py|backward|self.loss_scaler.backward(loss.float())")
		changes := changesOf(For(incidentOf(t, log)))
		assert.Equal(t, raised, slices.Contains(changes, "zero_optimization.stage=3"), "stage %s: %v", stage, changes)
	}
}

// TestASpeechModelsSamplesAreCutBySeconds has the flag of transformers' example, which counts no tokens.
func TestASpeechModelsSamplesAreCutBySeconds(t *testing.T) {
	t.Parallel()
	const flags = "+ torchrun --nproc_per_node 4 run_speech_recognition_ctc.py --model_name_or_path facebook/wav2vec2-large-xlsr-53 --per_device_train_batch_size 24 --max_duration_in_seconds 30 --num_train_epochs 15\n"
	a := answerTo(t, flags+stackOf(oomOf("1.65 GiB", "1.02 GiB", "46.00"), "/home/a/run.py|main|trainer.train()", "transformers/trainer.py|training_step|loss = self.compute_loss(model, inputs)", "transformers/models/wav2vec2/modeling_wav2vec2.py|forward|hidden_states = self.intermediate_dense(hidden_states)"))
	assert.Contains(t, settingsChanged(a), "--max_duration_in_seconds=15")
}
