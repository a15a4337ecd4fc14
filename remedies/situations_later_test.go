package remedies

import (
	"oomscan/classifier"
	"oomscan/parser"
)

// formed is a run whose settings were printed in one form.
func formed(r *classifier.Run, form string) *classifier.Run {
	for k, v := range r.Config {
		v.Form = form
		r.Config[k] = v
	}
	return r
}

func fraction90(r *classifier.Run, name, value string) *classifier.Run {
	g := reading(name, nil)
	g.Fields["fraction"] = value
	r.Gauges = append(r.Gauges, g)
	return r
}

// laterSituations are those that were looked for after the rules were written, to see what they say at first contact.
func laterSituations() []situation {
	const hub = "https://github.com/"
	var (
		autograd = frames("/x/train.py|step|loss.backward()", "/x/torch/autograd/graph.py|_engine_run_backward|return Variable")
		profile  = frames("/x/vllm/worker/worker.py|determine_num_available_blocks|self.model_runner.profile_run()", "/x/vllm/worker/model_runner.py|profile_run|self.execute_model(",
			"/x/vllm/model_executor/models/minicpmv.py|get_vision_embedding|vision_embedding = self.vpm(")
		sampling  = frames("/x/vllm/engine/llm_engine.py|step|", "/x/vllm/worker/model_runner.py|execute_model|", "/x/vllm/model_executor/layers/sampler.py|forward|logprobs = torch.log_softmax(logits)")
		evaluate  = frames("/x/transformers/trainer.py|evaluation_loop|all_preds.add(logits)", "/x/transformers/trainer_pt_utils.py|nested_concat|return torch_pad_and_concatenate(")
		predict   = frames("/x/transformers/trainer.py|evaluation_loop|loss, logits, labels = self.prediction_step(model)", "/x/transformers/models/llama/modeling_llama.py|forward|key_states = torch.cat(")
		moments   = frames("/x/deepspeed/runtime/zero/stage_1_and_2.py|step|self._optimizer_step(i)", "/x/torch/optim/adamw.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like(")
		head      = frames("/x/megatron/core/models/gpt/gpt_model.py|forward|logits, _ = self.output_layer(", "/x/megatron/core/tensor_parallel/layers.py|linear_with_grad_accumulation_and_async_allreduce|return Linear.apply(")
		logps     = frames("/x/trl/trainer/grpo_trainer.py|_get_per_token_logps_and_entropies|logits = model(**inputs).logits", "/x/transformers/models/qwen3/modeling_qwen3.py|forward|logits = self.lm_head(hidden_states)")
		cacheInit = frames("/x/trl/trainer/grpo_trainer.py|__init__|self.llm = LLM(", "/x/vllm/engine/llm_engine.py|_initialize_kv_caches|", "/x/vllm/worker/cache_engine.py|_allocate_kv_cache|torch.zeros(shape)")
		scores    = frames("/x/openrlhf/trainer/dpo_trainer.py|concatenated_forward|", "/x/modeling_chatglm.py|forward|attention_scores = torch.baddbmm(")
		wakes     = frames("/x/vllm/worker/worker.py|wake_up|allocator.wake_up()", "/x/vllm/device_allocator/cumem.py|create_and_map|python_create_and_map(")
	)
	vllm := func(pairs ...string) *classifier.Run { return as(run("vllm", pairs...), "", "vllm", "") }
	torch := func(pairs ...string) *classifier.Run { return run("torch", pairs...) }
	old := func(in *classifier.Incident, allocated, reserved float64) *classifier.Incident {
		return with(in, func(r *classifier.Root) { r.Allocated, r.Reserved = gibs(allocated), gibs(reserved) })
	}
	needs := func(message string, requested, have float64) *classifier.Incident {
		in := with(cache(message), func(r *classifier.Root) { r.Requested = gibs(requested) })
		short := *gibs(requested) - *gibs(have)
		in.Shortfall = &short
		return in
	}
	said := func(in *classifier.Incident, m string) *classifier.Incident {
		r := rootOf(m)
		in.Root.Message, in.Root.Pattern, in.Root.Fields = r.Message, r.Pattern, r.Fields
		return in
	}
	driver := func(phase string) *classifier.Incident {
		return with(&classifier.Incident{Kind: parser.GPUDriverOOM, Resource: "gpu", Phase: phase}, func(r *classifier.Root) {
			r.Message, r.Trace = "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62", wakes
		})
	}
	collective := func(m string) *classifier.Incident {
		return &classifier.Incident{Kind: parser.NCCLOOM, Resource: "gpu", Phase: "nccl", Root: classifier.Root{Message: m}}
	}
	up, down := []string{"gpu_memory_utilization up"}, []string{"gpu_memory_utilization down"}
	const noCUDA = "NCCL WARN Cuda failure 'out of memory'"
	return []situation{
		// vLLM
		{
			thread: hub + "vllm-project/vllm/issues/7721", run: vllm("max_seq_len", "32768", "enforce_eager", "False", "gpu_memory_utilization", "0.8"), in: idle(gpu("init", 16, .18, 44.53, profile), 43.67, .33),
			right: []string{"max_model_len down", "max_num_seqs down"}, wrong: []string{"gpu_memory_utilization up", "gpu_memory_utilization down", "enforce_eager = True"},
		},
		{
			thread: hub + "vllm-project/vllm/issues/13882",
			run: func() *classifier.Run {
				r := fraction90(vllm("max_seq_len", "4096", "quantization", "awq"), "vllm.budget", "0.70")
				r.Gauges[0].Fields["total"] = "8589934592"
				r.Gauges = append(r.Gauges, reading("vllm.profile", map[string]float64{"weights": 5.20, "non_torch": .03, "activations": 1.42, "available": -1.05}))
				return r
			}(),
			in: func() *classifier.Incident {
				in := cache(noBlocks)
				in.Root.At = parser.Position{Source: "a.log", Line: 90}
				in.Root.Stream = "rank0"
				return in
			}(),
			right: []string{"gpu_memory_utilization = 0.86"}, wrong: down,
		},
		{
			thread: hub + "vllm-project/vllm/issues/16118", run: as(vllm("max_seq_len", "1048576", "tensor_parallel_size", "8"), "", "vllm", "meta-llama/Llama-4-Scout-17B-16E-Instruct"),
			in:    needs("To serve at least one request with the models's max seq len (1048576), (24.00 GiB KV cache is needed, which is larger than the available KV cache memory (9.97 GiB)", 24, 9.97),
			right: []string{"max_model_len down"}, wrong: append([]string{"max_model_len up"}, down...),
		},
		{
			thread: hub + "vllm-project/vllm/issues/34076", run: as(vllm("max_seq_len", "262144", "gpu_memory_utilization", "0.9"), "", "vllm", "Qwen/Qwen3-Coder-30B-A3B-Instruct-FP8"),
			in:    needs("To serve at least one request with the models's max seq len (262144), (24.0 GiB KV cache is needed, which is larger than the available KV cache memory (3.18 GiB). Based on the available memory, the estimated maximum model length is 34736.", 24, 3.18),
			right: []string{"max_model_len = 34736"}, wrong: down, notable: "98,304 bytes a token",
		},
		{
			thread: hub + "Alex8791-cyber/cognithor/pull/318", run: vllm("gpu_memory_utilization", "0.95"),
			in:    with(recognized("vllm.free_memory", cache("Free memory on device (30.12/31.84 GiB) on startup is less than desired GPU memory utilization (0.95, 30.25 GiB)")), func(r *classifier.Root) { r.Free, r.Total, r.Requested = gibs(30.12), gibs(31.84), gibs(30.25) }),
			right: down, wrong: append([]string{"max_model_len down"}, up...),
		},
		{
			thread: hub + "vllm-project/llm-compressor/pull/2319", run: vllm(), in: with(recognized("vllm.free_memory", cache("Free memory on device (61.2/79.11 GiB) on startup is less than desired GPU memory utilization (0.9, 71.20 GiB)")), func(r *classifier.Root) { r.Free, r.Total, r.Requested = gibs(61.2), gibs(79.11), gibs(71.2) }),
			right: []string{"gpu_memory_utilization = 0.75"}, wrong: up,
		},
		{
			thread: hub + "vllm-project/vllm-ascend/issues/5020", run: vllm("gpu_memory_utilization", "0.85", "max_model_len", "4096", "tensor_parallel_size", "4"),
			in:    old(said(gpu("init", 2, 1.8, 60.96, frames("/x/vllm_ascend/worker/worker_v1.py|compile_or_warm_up_model|self.model_runner.capture_model()")), "NPU out of memory. Tried to allocate 2.00 GiB"), 55.91, 58.73),
			right: down, wrong: up,
		},
		{
			thread: hub + "vllm-project/vllm/issues/15105", run: vllm("gpu_memory_utilization", "0.78", "max_num_seqs", "None", "tensor_parallel_size", "2"), in: said(idle(gpu("init", 1.74, .59, 23.57, nil), 20.21, .18), warmUp),
			right: []string{"max_num_seqs = 512"}, wrong: up,
		},
		{
			thread: hub + "vllm-project/vllm/issues/5424", run: vllm("enable_chunked_prefill", "False", "enforce_eager", "False"), in: gpu("rollout", 7.83, 5.2, 79.15, sampling),
			right: []string{"enable_chunked_prefill = True", "gpu_memory_utilization down"}, wrong: up,
		},
		{thread: hub + "vllm-project/vllm/issues/10439", run: vllm("gpu_memory_utilization", "0.4"), in: cache(noBlocks), right: []string{"gpu_memory_utilization up"}, wrong: down},
		{thread: hub + "vllm-project/vllm/issues/18124", run: vllm("gpu_memory_utilization", "0.3"), in: cache(noBlocks), right: up, wrong: down},
		{thread: hub + "netease-youdao/QAnything/issues/302", run: vllm("gpu_memory_utilization", "0.6", "max_seq_len", "4096"), in: cache(noBlocks), right: up, wrong: down},
		{thread: hub + "vllm-project/vllm/issues/13941", run: vllm("gpu_memory_utilization", "0.9", "enable_sleep_mode", "True"), in: driver("weight_update"), right: down, wrong: up},
		// SGLang
		{
			thread: hub + "sgl-project/sglang/issues/4895", run: as(run("sglang", "mem_fraction_static", "0.88", "context_length", "4096"), "", "sglang", "gemma-3-27b-it-int4-awq"), in: cache(notEnough),
			right: []string{"mem_fraction_static up"}, wrong: []string{"mem_fraction_static down"},
		},
		{
			thread: hub + "sgl-project/sglang/pull/4840", run: as(run("sglang", "mem_fraction_static", "0.88", "chunked_prefill_size", "2048"), "", "sglang", "google/gemma-3-4b-it"),
			in:    idle(gpu("rollout", 1, .68, 22.06, frames("/x/sglang/srt/model_executor/model_runner.py|forward_extend|", "/x/sglang/srt/models/gemma3_mm.py|get_image_feature|")), 19.8, .59),
			right: []string{"mem_fraction_static down"}, wrong: []string{"mem_fraction_static up"},
		},
		// TRL and transformers
		{
			thread: hub + "huggingface/trl/pull/5687", run: run("trl", "per_device_train_batch_size", "8", "gradient_checkpointing", "False"),
			in:    idle(gpu("forward", 2.35, 1.71, 14.74, frames("/x/transformers/loss/loss_utils.py|ForCausalLMLoss|logits = logits.float()")), 11.62, .12),
			right: []string{"per_device_train_batch_size down"}, wrong: []string{"per_device_train_batch_size up", "pytorch_cuda_alloc_conf set"},
		},
		{
			thread: hub + "huggingface/trl/issues/3678",
			run:    as(run("trl", "per_device_train_batch_size", "8", "max_prompt_length", "2048", "max_completion_length", "1024", "use_liger_kernel", "False", "use_vllm", "False"), "", "", "Qwen/Qwen3-0.6B"),
			in:     gpu("logprob", 2.32, 1.1, 19.67, logps), right: []string{"use_liger_kernel = true"}, wrong: []string{"per_device_train_batch_size up"},
		},
		{
			thread: hub + "huggingface/trl/issues/3456", run: as(run("trl", "per_device_train_batch_size", "4", "use_liger_loss", "False", "gradient_checkpointing", "True"), "", "", "Qwen/Qwen3-4B"),
			in:    gpu("forward", .58, .4, 79.25, frames("/x/trl/trainer/utils.py|selective_log_softmax|row_logps = F.log_softmax(row_logits, dim=-1)")),
			right: []string{"use_liger_loss = true"}, wrong: []string{"per_device_train_batch_size up"},
		},
		{
			thread: "https://home.mlops.community/public/blogs/stop-guessing-a-systematic-guide-to-fixing-cuda-out-of-memory-errors-in-grpo-training",
			run:    run("trl", "vllm_mode", "colocate", "vllm_gpu_memory_utilization", "0.6", "per_device_train_batch_size", "8", "num_generations", "8"), in: gpu("logprob", 6.01, 2.72, 22.03, nil),
			right: []string{"vllm_gpu_memory_utilization down", "per_device_train_batch_size down"}, wrong: []string{"vllm_gpu_memory_utilization up"},
		},
		{
			thread: hub + "modelscope/ms-swift/issues/4594", run: as(run("trl", "vllm_mode", "colocate", "vllm_gpu_memory_utilization", "0.5", "max_completion_length", "2048"), "", "vllm", "Qwen/Qwen2.5-7B-Instruct"),
			in: gpu("init", 1.24, .79, 79.25, cacheInit), right: []string{"vllm_gpu_memory_utilization down"}, wrong: []string{"vllm_gpu_memory_utilization up", "max_completion_length down"},
		},
		{
			thread: hub + "huggingface/trl/issues/3128", run: as(run("trl", "vllm_gpu_memory_utilization", "0.9", "max_completion_length", "1024"), "", "vllm", ""), in: gpu("init", 1.88, 1.4, 79.1, cacheInit),
			right: []string{"vllm_gpu_memory_utilization down"}, wrong: []string{"vllm_gpu_memory_utilization up", "max_completion_length down"},
		},
		{
			thread: hub + "EuroEval/EuroEval/pull/973", run: torch("per_device_train_batch_size", "32", "per_device_eval_batch_size", "32", "eval_accumulation_steps", "None", "gradient_checkpointing", "False"),
			in: gpu("forward", 3.1, 1.2, 23.65, evaluate), right: []string{"eval_accumulation_steps = 1"}, wrong: []string{"per_device_train_batch_size down", "gradient_checkpointing = True"},
		},
		{
			thread: hub + "hiyouga/LlamaFactory/issues/1191", run: as(torch("per_device_eval_batch_size", "8"), "", "", "Llama-2-7b-hf"), in: old(gpu("forward", .0625, .031, 23.7, predict), 22.01, 22.6),
			right: []string{"per_device_eval_batch_size down"}, wrong: []string{"per_device_train_batch_size down", "gradient_checkpointing = True"},
		},
		{
			thread: hub + "axolotl-ai-cloud/axolotl/issues/814", run: formed(torch("micro_batch_size", "2", "gradient_checkpointing", "true", "load_in_8bit", "true"), "yaml"), in: gpu("backward", 0, 0, 0, autograd),
			right: []string{"micro_batch_size = 1"}, wrong: []string{"micro_batch_size up", "gradient_checkpointing = True"},
		},
		{
			thread: hub + "NVIDIA-NeMo/Automodel/pull/2585",
			run:    formed(torch("distributed.activation_checkpointing", "false", "step_scheduler.local_batch_size", "8", "model.attn_implementation", "eager"), "yaml"), in: gpu("backward", 1.72, 1.01, 79.11, autograd),
			right: []string{"activation_checkpointing = True"}, wrong: []string{"local_batch_size up"},
		},
		{
			thread: hub + "NVIDIA-NeMo/Automodel/pull/2634", run: formed(torch("distributed.activation_checkpointing", "false", "step_scheduler.local_batch_size", "1"), "yaml"), in: gpu("backward", .96, .5, 79.11, autograd),
			right: []string{"activation_checkpointing = True"}, wrong: []string{"local_batch_size down"},
		},
		{
			thread: hub + "benchflow-ai/posttrainarena/pull/29", run: run("trl", "per_device_train_batch_size", "1", "max_length", "24576", "gradient_checkpointing", "True"), in: idle(gpu("backward", 11.66, 6.9, 79.18, autograd), 61.2, 10.41),
			right: []string{"pytorch_cuda_alloc_conf set"}, wrong: []string{"per_device_train_batch_size down", "gradient_checkpointing set"},
		},
		{
			thread: hub + "hiyouga/LlamaFactory/issues/2744", run: as(torch("--per_device_train_batch_size", "4", "--gradient_checkpointing", "True"), "deepspeed", "", "Qwen/Qwen1.5-7B-Chat"),
			in: idle(gpu("forward", 2.32, .72, 23.69, frames("/x/transformers/models/qwen2/modeling_qwen2.py|forward|shift_logits = logits[..., :-1, :].contiguous()")), 11.74, 9.96), right: []string{"pytorch_cuda_alloc_conf set"},
		},
		{
			thread: hub + "om-ai-lab/VLM-R1/issues/93", run: torch("--gradient_checkpointing", "false", "--per_device_train_batch_size", "1"), in: gpu("forward", .51, .29, 79.33, nil),
			right: []string{"gradient_checkpointing = True"}, wrong: []string{"per_device_train_batch_size down"},
		},
		{
			thread: hub + "NVIDIA-BioNeMo/bionemo-recipes/pull/1278", run: formed(torch("dataset.micro_batch_size", "64"), "overrides"), in: gpu("backward", 4, 2.31, 79.11, autograd),
			right: []string{"micro_batch_size = 32"}, wrong: []string{"micro_batch_size up"},
		},
		{
			thread: hub + "Lightning-AI/litgpt/pull/182", run: formed(torch("micro_batch_size", "4", "batch_size", "128"), "pprint"), in: old(gpu("backward", .0625, .0117, 39.59, autograd), 38.2, 38.9),
			right: []string{"micro_batch_size = 2"}, wrong: []string{"micro_batch_size up", "batch_size down"},
		},
		// DeepSpeed
		{
			thread: hub + "deepspeedai/DeepSpeed/issues/3208", run: as(run("deepspeed", "--per_device_train_batch_size", "16", "--per_device_eval_batch_size", "16", "--zero_stage", "0"), "deepspeed", "", "facebook/opt-1.3b"),
			in: old(gpu("forward", .25, .225, 14.56, nil), 13.3, 13.65), right: []string{"per_device_train_batch_size = 8", "per_device_train_batch_size = 4"}, wrong: []string{"zero_stage down", "per_device_eval_batch_size down"},
		},
		{
			thread: hub + "deepseek-ai/DeepSeek-Coder/issues/78",
			run: as(run("deepspeed", "zero_optimization.stage", "3", "zero_optimization.offload_optimizer.device", "none", "zero_optimization.offload_param.device", "none", "train_micro_batch_size_per_gpu", "1"),
				"deepspeed", "", "deepseek-coder-33b-instruct"),
			in: old(gpu("backward", 3.5, .405, 79.35, autograd), 77.08, 77.54), right: []string{"device = cpu"}, wrong: []string{"stage down", "pytorch_cuda_alloc_conf set", "train_micro_batch_size_per_gpu down"},
		},
		{
			thread: hub + "allenai/open-instruct/issues/393", run: as(run("deepspeed", "zero_optimization.stage", "2", "--per_device_train_batch_size", "1"), "deepspeed", "", "meta-llama/Llama-2-7b-hf"),
			in: gpu("optimizer", 6.15, 4.1, 93, moments), right: []string{"stage = 3"}, wrong: []string{"stage down", "per_device_train_batch_size up"},
		},
		// Megatron-LM and what runs on it
		{
			thread: hub + "NVIDIA/Megatron-LM/issues/818",
			run: as(run("megatron", "micro_batch_size", "1", "seq_length", "8192", "padded_vocab_size", "128256", "hidden_size", "4096", "tensor_model_parallel_size", "1", "recompute_granularity", "None", "use_distributed_optimizer", "False"),
				"megatron", "", ""),
			in: gpu("forward", 1.96, 1.2, 79.15, head), right: []string{"recompute_granularity = full"}, wrong: []string{"micro_batch_size down", "tensor_model_parallel_size down"},
			notable: "8,192 tokens x 128,256 vocabulary x 2 bytes = 1.96 GiB; the most the settings allow",
		},
		{
			thread: hub + "NovaSky-AI/SkyRL/pull/368", run: as(run("megatron", "recompute_granularity", "null", "micro_train_batch_size_per_gpu", "1"), "megatron", "", "Qwen/Qwen3-30B-A3B"), in: gpu("backward", .76, .39, 79.11, autograd),
			right: []string{"recompute_granularity = full"}, wrong: []string{"micro_train_batch_size_per_gpu up"},
		},
		{
			thread: hub + "THUDM/slime/pull/1086",
			run: as(run("slime", "offload_train", "True", "train_memory_margin_bytes", "0", "sglang_mem_fraction_static", "0.7", "use_dynamic_batch_size", "True", "max_tokens_per_gpu", "8192", "rollout_max_response_len", "8192"),
				"megatron", "sglang", ""),
			in: collective("Failed to CUDA calloc 10485760 bytes"), right: []string{"train_memory_margin_bytes = 1073741824"}, wrong: []string{"train_memory_margin_bytes down", "max_tokens_per_gpu up"},
		},
		// JAX and NCCL
		{
			thread: hub + "jax-ml/jax/issues/4950", run: run("jax", "XLA_PYTHON_CLIENT_MEM_FRACTION", ".90"), in: collective(noCUDA),
			right: []string{"xla_python_client_mem_fraction down"}, wrong: []string{"xla_python_client_mem_fraction up", "xla_client_mem_fraction up"},
		},
		{thread: hub + "apax-hub/apax/issues/111", run: run("jax"), in: said(gpu("training", 1.91, 0, 0, nil), "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2048000000 bytes."), right: []string{"xla_python_client_preallocate = false"}},
		{
			thread: hub + "AI-Hypercomputer/maxtext/pull/4409", run: run("jax", "per_device_batch_size", "16"),
			in:    said(gpu("training", 0, 0, 0, nil), "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 111.02G of 94.74G hbm."),
			right: []string{"per_device_batch_size down"}, wrong: []string{"xla_python_client_preallocate set", "xla_client_mem_fraction up"},
		},
		{thread: hub + "NVIDIA/nccl/issues/295", run: torch(), in: collective(noCUDA), right: []string{"nccl_buffsize down"}},
		// verl and EasyR1
		{
			thread: hub + "verl-project/verl/issues/328",
			run: as(run("verl", "actor_rollout_ref.actor.ppo_micro_batch_size", "64", "actor_rollout_ref.actor.ppo_mini_batch_size", "256", "actor_rollout_ref.rollout.n", "64", "data.train_batch_size", "4",
				"trainer.n_gpus_per_node", "4", "trainer.nnodes", "1", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.6"), "fsdp", "vllm", "Qwen/Qwen2.5-7B-Instruct"),
			in: gpu("backward", 8.7, 5.01, 79.1, autograd), right: []string{"ppo_micro_batch_size = 32"}, wrong: []string{"train_batch_size down", "ppo_micro_batch_size up", "gpu_memory_utilization up"},
		},
		{
			thread: hub + "hiyouga/EasyR1/issues/50", run: as(run("verl", "worker.actor.offload.offload_params", "true", "worker.actor.offload.offload_optimizer", "true"), "fsdp", "vllm", ""), in: killed("checkpoint", rayLow),
			right: []string{"offload_params = False"}, wrong: []string{"offload_params = True", "gpu_memory_utilization down"},
		},
		// OpenRLHF, NeMo-RL
		{
			thread: hub + "TideDra/lmm-r1/issues/43", run: as(run("openrlhf", "--vllm_gpu_memory_utilization", "0.6", "--colocate_all_models", "True", "--vllm_enable_sleep", "True", "--micro_train_batch_size", "2"), "deepspeed", "vllm", ""),
			in: driver("training"), right: []string{"vllm_gpu_memory_utilization down"}, wrong: []string{"vllm_gpu_memory_utilization up", "micro_train_batch_size down"},
		},
		{
			thread: hub + "OpenRLHF/OpenRLHF/issues/384", run: as(run("openrlhf", "--micro_train_batch_size", "1", "--zero_stage", "3", "--gradient_checkpointing", "True", "--max_len", "2048"), "deepspeed", "", "glm-4-9b-chat"),
			in: gpu("forward", 1, .6, 79.35, scores), right: []string{"openrlhf.flash-attention"}, wrong: []string{"micro_train_batch_size down", "zero_stage down"},
		},
		{
			thread: hub + "NVIDIA-NeMo/RL/issues/191", run: as(run("nemo_rl", "policy.generation.vllm_cfg.gpu_memory_utilization", "0.7", "policy.train_micro_batch_size", "4"), "", "vllm", "Qwen/Qwen2.5-7B"), in: driver("weight_update"),
			right: down, wrong: append([]string{"train_micro_batch_size down"}, up...),
		},
		// host memory and shared memory
		{
			thread: hub + "ymoslem/OpenNMT-Tutorial/issues/6", run: torch("num_workers", "2"), in: recognized("dataloader.killed", killed("data", "Memory cgroup out of memory: Killed process 629 (onmt_train) anon-rss:6538204kB")),
			right: []string{"num_workers down"}, wrong: []string{"gpu_memory_utilization down"},
		},
		{
			thread: hub + "open-mmlab/mmdetection/issues/2406", run: torch("num_workers", "8"), in: recognized("dataloader.killed", killed("data", "RuntimeError: DataLoader worker (pid 14647) is killed by signal: Killed.")),
			right: []string{"num_workers = 4", "num_workers = 2"}, wrong: []string{"num_workers up"},
		},
		{
			thread: hub + "pytorch/pytorch/issues/8976", run: torch("--mem-per-cpu", "4G", "--cpus-per-task", "2"), in: killed("data", oomKill),
			right: []string{"mem_per_cpu = 6G"}, wrong: []string{"mem up", "mem_per_cpu down"},
		},
		{
			thread: hub + "eps696/aphantasia/issues/22", run: torch(), in: old(gpu("backward", .0586, .034, 6, autograd), 4.11, 4.42),
			right: []string{"torch.batch"}, wrong: down,
		},
		{thread: hub + "nathanweeks/exonerate/issues/31", run: run("unknown", "--mem", "4g"), in: killed("unknown", oomKill), right: []string{"mem = 8G"}, wrong: []string{"mem down"}},
		{
			thread: hub + "jchengai/planTF/issues/28", run: run("unknown"), in: recognized("ray.raylet_sum", killed("unknown", "12 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons")), right: []string{"ray-memory.concurrency"}, wrong: down,
		},
		{
			thread: hub + "defilantech/LLMKube/pull/40", run: func() *classifier.Run { r := run("unknown"); r.Launcher = "k8s"; return r }(), in: killed("unknown", "Reason: OOMKilled"), right: []string{"kubernetes.limit"}, wrong: []string{"mem down"},
		},
		{
			thread: hub + "pytorch/pytorch/issues/16979", run: torch(), in: &classifier.Incident{Kind: parser.SHMExhausted, Resource: "shm", Phase: "data", Root: classifier.Root{Message: busError}}, right: []string{"shm.size"}, wrong: []string{"num_workers up"},
		},
		{
			thread: "https://blog.gitcode.com/b8ec7f55eca44c1ea375b0102d4246dc.html", run: torch(),
			in: &classifier.Incident{Kind: parser.SHMExhausted, Resource: "shm", Phase: "nccl", Root: classifier.Root{Message: "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-NzwJ7O (size 9637888)"}}, right: []string{"shm.size"},
		},
	}
}
