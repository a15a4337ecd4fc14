package phase_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier/phase"
	"oomscan/parser/traceback"
)

const site = "/opt/conda/envs/vllm/lib/python3.11/site-packages/"

// stack builds frames from lines `file func` or `file func | code`.
func stack(lines ...string) []traceback.Frame {
	frames := make([]traceback.Frame, 0, len(lines))
	for i, l := range lines {
		where, code, _ := strings.Cut(l, " | ")
		file, fn, _ := strings.Cut(where, " ")
		frames = append(frames, traceback.Frame{File: file, Line: i + 1, Func: fn, Code: code})
	}
	return frames
}

const (
	tensorBackward = site + "torch/_tensor.py backward | torch.autograd.backward("
	engineBackward = site + "torch/autograd/graph.py _engine_run_backward | return Variable._execution_engine.run_backward("
	qwenForward    = site + "transformers/models/qwen2/modeling_qwen2.py forward | hidden_states = self.mlp(hidden_states)"
	updateActor    = "/root/verl/verl/workers/fsdp_workers.py update_actor | metrics = self.actor.update_policy(data=data)"
	updatePolicy   = "/root/verl/verl/workers/actor/dp_actor.py update_policy | entropy, log_prob = self._forward_micro_batch(micro_batch)"
	microBatch     = "/root/verl/verl/workers/actor/dp_actor.py _forward_micro_batch | output = self.actor_module("
	entropy        = "/root/verl/verl/utils/torch_functional.py entropy_from_logits | pd = torch.nn.functional.softmax(logits, dim=-1)"
	zeroEngine     = site + "deepspeed/runtime/engine.py "
	schedules      = "/root/Megatron-LM/megatron/core/pipeline_parallel/schedules.py "
	slimeActor     = "/root/slime/slime/backends/megatron_utils/actor.py "
	slimeModel     = "/root/slime/slime/backends/megatron_utils/model.py "
	grpoTrainer    = site + "trl/trainer/grpo_trainer.py "
	hfTrainer      = site + "transformers/trainer.py "
	gpuRunner      = site + "vllm/v1/worker/gpu_model_runner.py "
)

// examples are stacks whose phase is known, with the reasoning of their name.
var examples = []struct {
	name   string
	frames []traceback.Frame
	want   string
	sure   string
}{
	// Outermost part wins.
	{"recompute inside backward is backward", stack(updateActor, updatePolicy, tensorBackward, engineBackward,
		site+"torch/utils/checkpoint.py unpack_hook | frame.recompute_fn(*args)", qwenForward), phase.Backward, phase.High},
	{"reentrant recompute is backward", stack("train.py main | loss.backward()", tensorBackward, engineBackward,
		site+"torch/autograd/function.py apply | return user_fn(self, *args)",
		site+"torch/utils/checkpoint.py backward | outputs = ctx.run_function(*detached_inputs)", qwenForward), phase.Backward, phase.High},
	{
		"FSDP reduce-scatter is backward", stack(updateActor, updatePolicy, engineBackward,
			site+"torch/distributed/fsdp/_runtime_utils.py _post_backward_hook", site+"torch/distributed/fsdp/_runtime_utils.py _reduce_grad"),
		phase.Backward, phase.High,
	},
	{"FSDP2 gather in backward is backward", stack(updateActor, updatePolicy, engineBackward,
		site+"torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py pre_backward",
		site+"torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py foreach_all_gather"), phase.Backward, phase.High},
	{"ZeRO-3 fetch in backward is backward", stack(zeroEngine+"backward | self.optimizer.backward(loss)", tensorBackward,
		site+"deepspeed/runtime/zero/parameter_offload.py pre_sub_module_backward_function",
		site+"deepspeed/runtime/zero/partitioned_param_coordinator.py fetch_sub_module"), phase.Backward, phase.High},
	{"Megatron 1.x calls its backward pass from training.py", stack("/w/megatron/training.py pretrain", "/w/megatron/training.py train",
		"/w/megatron/training.py train_step | backward_step(optimizer, model, loss)", "/w/megatron/training.py backward_step",
		"/w/megatron/model/distributed.py allreduce_params"), phase.Backward, phase.High},
	{
		"TorchScript's own derivative is backward",
		[]traceback.Frame{{File: "<string>", Line: 83, Func: "<backward op>", Code: "result = torch.softmax(self, dim, dtype)"}},
		phase.Backward, phase.High,
	},
	{"MMEngine computes the losses of a detector", stack(site+"mmengine/runner/loops.py run_iter | outputs = self.runner.model.train_step(", site+"mmengine/model/base_model/base_model.py train_step | losses = self._run_forward(data, mode='loss')",
		site+"mmengine/model/base_model/base_model.py _run_forward", site+"mmdet/models/detectors/two_stage.py loss"), phase.Forward, phase.Medium},
	{"Stable Baselines collects", stack(site+"stable_baselines3/common/on_policy_algorithm.py learn", site+"stable_baselines3/common/on_policy_algorithm.py collect_rollouts | actions, values, log_probs = self.policy(obs_tensor)"), phase.Rollout, phase.Medium},
	{"Stable Baselines trains", stack(site+"stable_baselines3/common/on_policy_algorithm.py learn", site+"stable_baselines3/ppo/ppo.py train | loss.backward()", tensorBackward), phase.Backward, phase.High},
	{"Fabric launches the whole program", stack("/g/lora.py setup | fabric.launch(main, data_dir)", site+"lightning/fabric/fabric.py launch", "/g/lora.py main | train(fabric, model)", "/g/model.py forward | x = self.mlp(x) + x", "/g/model.py forward"), phase.Forward, phase.Medium},
	{"Gaussians are rendered", stack("train.py training | render_pkg = render(viewpoint_cam, gaussians, pipe, bg)", "/g/gaussian_renderer/__init__.py render"), phase.Forward, phase.Medium},
	{"kohya's trainer makes a sample", stack("/k/train_network.py train", "/k/library/train_util.py sample_images_common | latents = pipeline("), phase.Rollout, phase.Medium},
	{"adapters are merged", stack("merge.py main | model = model.merge_and_unload()", site+"peft/peft_model.py merge_and_unload", site+"peft/tuners/lora/layer.py merge"), phase.Checkpoint, phase.Medium},
	{"adapters are merged to be handed over", stack("/root/verl/verl/workers/fsdp_workers.py rollout_mode", site+"peft/tuners/lora/model.py merge_adapter"), phase.WeightUpdate, phase.High},
	{"slime wakes its trainer to save", stack(slimeActor+"save_model | self.wake_up()", slimeActor+"wake_up | torch_memory_saver.resume()"), phase.Checkpoint, phase.High},
	{"slime wakes its trainer to train", stack(slimeActor+"train | self.wake_up()", slimeActor+"wake_up | torch_memory_saver.resume()"), phase.Training, phase.Medium},
	{"slime converts weights to save them", stack(slimeActor+"save_model", "/root/slime/slime/backends/megatron_utils/hf_checkpoint_saver.py save_hf_model_to_path",
		"/root/slime/slime/backends/megatron_utils/update_weight/hf_weight_iterator_direct.py get_hf_weight_chunks",
		"/root/slime/slime/backends/megatron_utils/update_weight/common.py all_gather_params_async"), phase.Checkpoint, phase.High},
	{"slime converts weights to hand them over", stack("/root/slime/slime/backends/megatron_utils/update_weight/update_weight_from_tensor.py update_weights",
		"/root/slime/slime/backends/megatron_utils/update_weight/hf_weight_iterator_direct.py get_hf_weight_chunks"), phase.WeightUpdate, phase.High},
	{"slime converts weights, the rest is cut away", stack("/root/slime/slime/backends/megatron_utils/update_weight/hf_weight_iterator_bridge.py get_hf_weight_chunks"), phase.WeightUpdate, phase.Medium},
	{"a host-offloaded module's weights come to the GPU while it generates", stack(site+"transformers/generation/utils.py generate", site+"accelerate/hooks.py new_forward",
		site+"accelerate/hooks.py pre_forward | set_module_tensor_to_device(", site+"accelerate/utils/modeling.py set_module_tensor_to_device | new_value = value.to(device)"), phase.Rollout, phase.High},
	{"a host-offloaded module's weights come to the GPU, the caller is cut away", stack(site+"accelerate/hooks.py pre_forward | set_module_tensor_to_device(",
		site+"accelerate/utils/modeling.py set_module_tensor_to_device | new_value = value.to(device)"), phase.Forward, phase.Low},
	{"a model is dispatched over devices", stack("run.py main", site+"accelerate/big_modeling.py dispatch_model", site+"accelerate/hooks.py init_hook",
		site+"accelerate/utils/modeling.py set_module_tensor_to_device | new_value = value.to(device)"), phase.Init, phase.High},
	{"a reference model is swapped in by its state dict", stack("/n/nemo_rl/models/policy/workers/dtensor_policy_worker_v2.py get_reference_policy_logprobs",
		"/n/nemo_rl/models/policy/workers/dtensor_policy_worker_v2.py use_reference_model | self.model.state_dict().items(), pin_memory=True"), phase.LogProb, phase.High},
	{"a script takes a state dict", stack("train.py main | torch_state = model.state_dict()"), phase.Checkpoint, phase.Medium},
	{"SkyRL's dispatcher waits for log-probabilities", stack("/s/skyrl/backends/skyrl_train/workers/worker_dispatch.py forward"), phase.LogProb, phase.Medium},
	{"AReaL's client starts its engine", stack("/a/areal/engine/sglang_remote.py initialize"), phase.Init, phase.Medium},
	{"AReaL's client passes weights on", stack("/a/areal/engine/vllm_remote.py update_weights_from_distributed"), phase.WeightUpdate, phase.Medium},
	{"ROLL hands weights over in its strategy", stack("/r/roll/distributed/executor/worker.py start_model_update", "/r/roll/third_party/megatron/model_update.py gather_pp_stage_hf_weights",
		site+"torch/distributed/distributed_c10d.py all_gather"), phase.WeightUpdate, phase.High},
	{"Megatron's RL computes log-probabilities", stack("/w/megatron/rl/rl_utils.py compute_logprobs_batch | output_tensor = forward_backward_func(", schedules+"forward_backward_no_pipelining",
		schedules+"forward_step"), phase.LogProb, phase.High},
	{"torchtitan saves", stack("/t/torchtitan/components/checkpointer/dcp.py dcp_save | state_dict = self.sd_adapter.to_hf(state_dict)"), phase.Checkpoint, phase.Medium},
	{"LLaMA-Factory scores in PPO", stack("/l/llamafactory/train/ppo/trainer.py get_rewards | values = reward_model(**batch)", qwenForward), phase.LogProb, phase.Medium},
	{"ms-swift generates in its own process", stack("/s/swift/rlhf_trainers/rollout_mixin.py _colocate_rollout"), phase.Rollout, phase.Medium},
	{"ms-swift trains with Megatron", stack("/s/swift/megatron/trainers/base.py train_step", schedules+"forward_backward_no_pipelining", schedules+"backward_step"), phase.Backward, phase.High},
	{"RLinf acts in its environment", stack("/w/rlinf/workers/rollout/hf/huggingface_worker.py generate_one_epoch", "/w/rlinf/workers/rollout/hf/huggingface_worker.py predict", qwenForward), phase.Rollout, phase.High},
	{"RLinf computes log-probabilities", stack("/w/rlinf/workers/actor/fsdp_actor_worker.py run_inference", "/w/rlinf/workers/actor/fsdp_actor_worker.py forward_batch | outputs = self.model(", qwenForward), phase.LogProb, phase.High},
	{"RLinf trains", stack("/w/rlinf/workers/megatron_worker.py run_training", "/w/rlinf/workers/megatron_worker.py run_forward_backward", schedules+"backward_step"), phase.Backward, phase.High},
	{"RLinf loads its optimizer", stack("/w/rlinf/workers/actor/fsdp_actor_worker.py run_training", "/w/rlinf/workers/actor/fsdp_actor_worker.py _load_weight_and_optimizer",
		"/w/rlinf/hybrid_engines/fsdp/strategy/fsdp.py onload_optimizer"), phase.Optimizer, phase.Medium},
	{"RLinf gathers the weights for its rollout workers", stack("/w/rlinf/workers/actor/fsdp_actor_worker.py sync_model_to_rollout | state_dict = self.get_model_state_dict()",
		site+"torch/distributed/fsdp/_state_dict_utils.py _full_pre_state_dict_hook"), phase.WeightUpdate, phase.High},
	{"Megatron recompute is backward", stack(slimeModel+"train_one_step | losses_reduced = forward_backward_func(",
		schedules+"forward_backward_no_pipelining", schedules+"backward_step", schedules+"custom_backward",
		"/root/Megatron-LM/megatron/core/tensor_parallel/random.py backward",
		"/root/Megatron-LM/megatron/core/transformer/transformer_layer.py forward"), phase.Backward, phase.High},

	// TensorRT-LLM.
	{
		"a session is made from an engine's folder", stack("/TensorRT-LLM/examples/run.py <module> | main(args)",
			"/TensorRT-LLM/examples/run.py main | runner = runner_cls.from_dir(**runner_kwargs)",
			"/usr/local/lib/python3.10/dist-packages/tensorrt_llm/runtime/model_runner_cpp.py from_dir | session = GptSession(config=session_config,"),
		phase.Init, phase.High,
	},
	{
		"a script makes the session itself", stack("/work/serve.py main | session = tensorrt_llm.runtime.GenerationSession(model_config, buf, mapping)"),
		phase.Init, phase.Medium,
	},
	{"a session that answers generates", stack("/TensorRT-LLM/examples/run.py main | outputs = runner.generate(",
		site+"tensorrt_llm/runtime/model_runner.py generate | outputs = self.session.decode(",
		site+"tensorrt_llm/runtime/generation.py decode | self.setup_fake_prompts(batch_size)"), phase.Rollout, phase.Medium},
	{"the executor's warm-up is start-up", stack(site+"tensorrt_llm/executor/worker.py worker_main | worker = worker_cls(",
		site+"tensorrt_llm/_torch/pyexecutor/py_executor_creator.py create_py_executor | py_executor.start_worker()",
		site+"tensorrt_llm/_torch/pyexecutor/model_engine.py warmup | self.forward(batch)",
		site+"tensorrt_llm/_torch/pyexecutor/model_engine.py forward | outputs = self._forward_step(inputs)"), phase.Init, phase.High},
	{"the executor's loop generates", stack(site+"tensorrt_llm/_torch/pyexecutor/py_executor.py _executor_loop_overlap | batch_outputs = self._forward_step(",
		site+"tensorrt_llm/_torch/pyexecutor/model_engine.py forward | outputs = self._forward_step(inputs)"), phase.Rollout, phase.Medium},

	// Worked examples.
	{"actor update, autograd", stack(updateActor, updatePolicy, tensorBackward, engineBackward), phase.Backward, phase.High},
	{"optimizer state does not fit back", stack(updateActor,
		"/root/verl/verl/utils/fsdp_utils.py load_fsdp_optimizer | state[key] = value.to(device_id, non_blocking=True)"), phase.Optimizer, phase.Medium},
	{"optimizer states are called back by their owner", stack("/root/roll/pipeline/base_worker.py train_step | with state_offload_manger(",
		"/root/roll/utils/context_managers.py state_offload_manger | strategy.load_states(**load_kwargs)",
		"/root/roll/distributed/strategy/megatron_strategy.py load_states | self.optimizer.reload_states(non_blocking=non_blocking)",
		"/root/roll/third_party/megatron/offload_states_patch.py reload_states"), phase.Optimizer, phase.Medium},
	{"an optimizer's moments are brought back by a script", stack("train.py step | self.optim.onload(device)", "train.py onload | t = cpu.to(device)"), phase.Optimizer, phase.Medium},
	{"an optimizer that is read from a file is a checkpoint", stack("train.py main | optimizer.load_state_dict(ckpt['optimizer'])"), phase.Checkpoint, phase.Medium},
	{"parameters do not fit back", stack(updateActor,
		"/root/verl/verl/utils/fsdp_utils.py load_fsdp_model_to_gpu | model.to(device)",
		site+"torch/nn/modules/module.py to", site+"torch/nn/modules/module.py _apply"), phase.Training, phase.High},
	{"entropy in the log-prob pass", stack("/root/verl/verl/workers/fsdp_workers.py compute_log_prob",
		"/root/verl/verl/workers/actor/dp_actor.py compute_log_prob", microBatch, entropy), phase.LogProb, phase.High},
	{"entropy in the update", stack(updateActor, updatePolicy, microBatch, entropy), phase.Forward, phase.Medium},
	{"logits in the update", stack(updateActor, updatePolicy, microBatch, qwenForward,
		site+"transformers/loss/loss_utils.py ForCausalLMLoss", site+"torch/nn/functional.py cross_entropy"), phase.Forward, phase.Medium},
	{"engine wakes in the sharding manager", stack("/root/verl/verl/workers/fsdp_workers.py generate_sequences | with self.rollout_sharding_manager:",
		"/root/verl/verl/workers/sharding_manager/fsdp_vllm.py __enter__ | self.inference_engine.wake_up()",
		site+"vllm/entrypoints/llm.py wake_up", site+"vllm/device_allocator/cumem.py wake_up"), phase.WeightUpdate, phase.High},
	{"engine wakes its KV cache", stack("/root/verl/verl/workers/fsdp_workers.py generate_sequences | with self.rollout_sharding_manager:",
		`/root/verl/verl/workers/sharding_manager/fsdp_vllm.py __enter__ | self.inference_engine.wake_up(tags=["kv_cache"])`,
		site+"vllm/entrypoints/llm.py wake_up", site+"vllm/device_allocator/cumem.py wake_up"), phase.Rollout, phase.Medium},
	{"FSDP unshard in the forward pass", stack(updateActor, updatePolicy, microBatch,
		site+"torch/distributed/fsdp/fully_sharded_data_parallel.py forward",
		site+"torch/distributed/fsdp/_runtime_utils.py _pre_forward_unshard",
		site+"torch/distributed/fsdp/_flat_param.py _alloc_padded_unsharded_flat_param"), phase.Forward, phase.Medium},
	{"FSDP2 gather in the forward pass", stack(updateActor, updatePolicy,
		site+"torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py unshard",
		site+"torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py foreach_all_gather",
		site+"torch/distributed/fsdp/_fully_shard/_fsdp_param.py alloc_all_gather_outputs"), phase.Forward, phase.Medium},
	{"gathers of a weight update", stack("/root/verl/verl/workers/engine_workers.py update_weights",
		"/root/verl/verl/workers/engine/fsdp/transformer_impl.py get_per_tensor_param",
		site+"torch/distributed/tensor/_api.py full_tensor",
		site+"torch/distributed/distributed_c10d.py all_gather_into_tensor"), phase.WeightUpdate, phase.High},
	{"KV sizing", stack(site+"vllm/v1/engine/core.py _initialize_kv_caches",
		site+"vllm/v1/worker/gpu_worker.py determine_available_memory", gpuRunner+"profile_run", gpuRunner+"_dummy_run",
		site+"vllm/model_executor/models/qwen2.py forward"), phase.Init, phase.High},
	{"KV sizing below a rollout frame", stack("/root/verl/verl/workers/fsdp_workers.py generate_sequences",
		site+"vllm/v1/worker/gpu_worker.py determine_available_memory", gpuRunner+"execute_model"), phase.Init, phase.High},
	{"vLLM graph capture", stack(gpuRunner+"capture_model", gpuRunner+"_dummy_run", qwenForward), phase.Init, phase.High},
	{"SGLang graph capture", stack("/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py __init__",
		"/sgl-workspace/sglang/python/sglang/srt/model_executor/cuda_graph_runner.py capture",
		"/sgl-workspace/sglang/python/sglang/srt/model_executor/model_runner.py forward_decode"), phase.Init, phase.High},
	{"an engine that wakes up somewhere in a training loop", stack("<string> _fast_inner_training_loop",
		site+"vllm/entrypoints/llm.py wake_up", site+"vllm/device_allocator/cumem.py wake_up"), phase.WeightUpdate, phase.Medium},
	{"weights received through the loader of the first ones", stack(site+"vllm/v1/executor/multiproc_executor.py worker_busy_loop",
		"/app/src/prime_rl/inference/vllm/worker/nccl.py update_weights_from_path",
		site+"vllm/model_executor/model_loader/reload/layerwise.py load_weights",
		"/app/src/prime_rl/inference/vllm/worker/nccl.py receive_state_dict"), phase.WeightUpdate, phase.Medium},
	{"full state dict in a save", stack("/root/verl/verl/workers/fsdp_workers.py save_checkpoint",
		"/root/verl/verl/utils/checkpoint/fsdp_checkpoint_manager.py save_checkpoint",
		site+"torch/distributed/fsdp/_state_dict_utils.py _full_post_state_dict_hook"), phase.Checkpoint, phase.High},
	{"full state dict in a weight update", stack(
		"/root/verl/verl/workers/sharding_manager/fsdp_vllm.py __enter__ | params = self.module.state_dict()",
		site+"torch/distributed/fsdp/_state_dict_utils.py _full_pre_state_dict_hook"), phase.WeightUpdate, phase.High},
	{"first optimizer step", stack("train.py main | optimizer.step()", site+"torch/optim/optimizer.py wrapper",
		site+"torch/optim/adamw.py step", site+"torch/optim/adamw.py _init_group"), phase.Optimizer, phase.High},
	{"gradient clipping", stack(updateActor, updatePolicy, "/root/verl/verl/workers/actor/dp_actor.py _optimizer_step",
		site+"torch/nn/utils/clip_grad.py clip_grad_norm_"), phase.Optimizer, phase.High},
	{"reference pass below train_actor", stack(slimeActor+"train", slimeActor+"train_actor", slimeActor+"compute_log_prob",
		slimeModel+"forward_only", schedules+"forward_backward_no_pipelining", schedules+"forward_step", qwenForward), phase.LogProb, phase.High},

	// Nested jobs: the inner one wins.
	{"TRL generation", stack(hfTrainer+"training_step", grpoTrainer+"_prepare_inputs", grpoTrainer+"_generate_and_score_completions",
		grpoTrainer+"_generate_single_turn", site+"transformers/generation/utils.py _sample", qwenForward), phase.Rollout, phase.High},
	{"TRL old log-probabilities", stack(hfTrainer+"training_step", grpoTrainer+"_prepare_inputs",
		grpoTrainer+"_generate_and_score_completions", grpoTrainer+"_get_per_token_logps_and_entropies", qwenForward), phase.LogProb, phase.Medium},
	{"reference log-probabilities of Unsloth's copy", stack(hfTrainer+"training_step", "/w/unsloth_compiled_cache/UnslothGRPOTrainer.py _prepare_inputs | ref_per_token_logps = self._get_per_token_logps(",
		"/w/unsloth_compiled_cache/UnslothGRPOTrainer.py _get_per_token_logps | logits = model(", qwenForward), phase.LogProb, phase.Medium},
	{"TRL loss", stack(hfTrainer+"training_step", grpoTrainer+"compute_loss", grpoTrainer+"_compute_loss",
		grpoTrainer+"_get_per_token_logps_and_entropies", qwenForward), phase.Forward, phase.Medium},
	{"TRL hands weights over", stack(hfTrainer+"training_step", grpoTrainer+"_generate_and_score_completions",
		site+"trl/generation/vllm_generation.py sync_weights", site+"deepspeed/runtime/zero/partition_parameters.py __enter__"), phase.WeightUpdate, phase.High},
	{"a save below a weight update", stack("/root/AReaL/areal/engine/fsdp_engine.py update_weights",
		"/root/AReaL/areal/engine/fsdp_engine.py _update_weights_from_disk",
		"/root/AReaL/areal/engine/fsdp_engine.py _save_model_to_hf"), phase.WeightUpdate, phase.High},
	{"AReaL log-probabilities", stack("/root/AReaL/areal/trainer/ppo/actor.py compute_logp",
		"/root/AReaL/areal/engine/fsdp_engine.py forward_batch", "/root/AReaL/areal/engine/fsdp_engine.py forward_backward_batch", qwenForward), phase.LogProb, phase.High},
	{"AReaL update", stack("/root/AReaL/areal/trainer/ppo/actor.py ppo_update", "/root/AReaL/areal/engine/fsdp_engine.py train_batch",
		"/root/AReaL/areal/engine/fsdp_engine.py optimizer_step"), phase.Optimizer, phase.High},
	{"Relax loss that computes log-probabilities", stack("/root/Relax/relax/backends/megatron/actor.py train_actor",
		"/root/Relax/relax/backends/megatron/model.py train_one_step", schedules+"forward_step",
		"/root/Relax/relax/backends/megatron/loss.py sft_loss_function", "/root/Relax/relax/utils/training/ppo_utils.py compute_log_probs"), phase.Forward, phase.Medium},
	{"SkyRL's forward of a worker", stack("/w/skyrl/backends/skyrl_train/workers/worker.py forward",
		"/w/skyrl/backends/skyrl_train/workers/worker.py _forward_micro_batch", "/w/skyrl/backends/skyrl_train/workers/model_wrapper.py forward", qwenForward), phase.LogProb, phase.High},
	{"SkyRL's update", stack("/w/skyrl_train/workers/worker.py forward_backward", "/w/skyrl_train/workers/worker.py _forward_backward_micro",
		"/w/skyrl_train/distributed/fsdp_strategy.py backward", site+"torch/_tensor.py backward", site+"torch/autograd/graph.py _engine_run_backward"), phase.Backward, phase.High},
	{"SkyRL's weights", stack("/w/skyrl/backends/skyrl_train/workers/fsdp/fsdp_worker.py broadcast_to_inference_engines",
		"/w/skyrl/backends/skyrl_train/weight_sync/weight_extractor_utils.py yield_module_grouped_chunks",
		"/w/skyrl/backends/skyrl_train/workers/fsdp/fsdp_worker.py _gather_tensor | return param.full_tensor()"), phase.WeightUpdate, phase.High},
	{"SkyRL loads a checkpoint into FSDP2 at start-up", stack("/w/skyrl/backends/skyrl_train/workers/fsdp/fsdp_worker.py init_model",
		"/w/skyrl/backends/skyrl_train/distributed/fsdp_strategy.py prepare",
		"/w/skyrl/backends/skyrl_train/distributed/fsdp_utils.py fsdp2_load_full_state_dict"), phase.Init, phase.High},
	{"slime reads Hugging Face weights", stack("/root/slime/slime/backends/megatron_utils/hf_to_megatron/common.py load_model_hf_weights"), phase.Init, phase.High},
	{"AReaL's weights in vLLM", stack("/root/AReaL/areal/engine/vllm_ext/vllm_worker_extension.py areal_update_weight_xccl"), phase.WeightUpdate, phase.High},
	{"verl wakes the KV cache", stack("/v/verl/workers/rollout/vllm_rollout/vllm_async_server.py resume_kv_cache"), phase.Rollout, phase.Medium},
	{"OpenRLHF reference pass below fit", stack("/w/OpenRLHF/openrlhf/trainer/ray/ppo_actor.py fit",
		"/w/OpenRLHF/openrlhf/trainer/ppo_utils/experience_maker.py make_experience_list", qwenForward), phase.LogProb, phase.High},
	{"OpenRLHF weights", stack("/w/OpenRLHF/openrlhf/trainer/ray/ppo_actor.py ppo_train",
		"/w/OpenRLHF/openrlhf/trainer/ray/ppo_actor.py broadcast_to_vllm"), phase.WeightUpdate, phase.High},
	{"NeMo-RL refit", stack("/w/RL/nemo_rl/models/policy/workers/dtensor_policy_worker_v2.py stream_weights_via_ipc_zmq"), phase.WeightUpdate, phase.High},
	{"NeMo-RL training", stack("/w/RL/nemo_rl/models/policy/dtensor_policy_worker.py train | loss.backward()", tensorBackward), phase.Backward, phase.High},
	{"vLLM generation", stack(site+"vllm/v1/engine/core.py run_busy_loop", site+"vllm/v1/worker/gpu_worker.py execute_model",
		gpuRunner+"execute_model", qwenForward), phase.Rollout, phase.High},
	{"SGLang takes weights", stack("/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py event_loop_overlap",
		"/sgl-workspace/sglang/python/sglang/srt/managers/scheduler_update_weights_mixin.py update_weights_from_tensor",
		"/sgl-workspace/sglang/python/sglang/srt/model_executor/model_runner.py update_weights_from_tensor"), phase.WeightUpdate, phase.High},

	// Wrappers and closures.
	{"accelerate's backward that steps", stack(hfTrainer+"training_step | self.accelerator.backward(loss, **kwargs)",
		site+"accelerate/accelerator.py backward | self.deepspeed_engine_wrapped.backward(loss, **kwargs)",
		site+"accelerate/utils/deepspeed.py backward | self.engine.step()", zeroEngine+"step", zeroEngine+"_take_model_step",
		site+"deepspeed/runtime/zero/stage3.py step", site+"torch/optim/adamw.py _init_group"), phase.Optimizer, phase.High},
	{"accelerate's backward", stack(hfTrainer+"training_step | self.accelerator.backward(loss, **kwargs)",
		site+"accelerate/accelerator.py backward | loss.backward(**kwargs)", tensorBackward, engineBackward, qwenForward), phase.Backward, phase.High},
	{"ZeRO start-up is no step", stack(site+"deepspeed/__init__.py initialize", zeroEngine+"__init__",
		site+"deepspeed/runtime/zero/stage3.py initialize_optimizer_states", site+"deepspeed/ops/adam/fused_adam.py step"), phase.Init, phase.High},
	{"backward inside an optimizer's closure", stack("train.py main | opt.step(closure)", site+"torch/optim/optimizer.py wrapper",
		site+"torch/optim/lbfgs.py step | orig_loss = closure()", "train.py closure | loss.backward()", tensorBackward), phase.Backward, phase.High},
	{"Lightning's closure", stack(site+"pytorch_lightning/loops/optimization/automatic.py _optimizer_step",
		site+"torch/optim/adamw.py step | loss = closure()", site+"pytorch_lightning/plugins/precision/precision.py _wrap_closure | closure_result = closure()",
		site+"pytorch_lightning/loops/optimization/automatic.py closure | step_output = self._step_fn()",
		"/home/u/lit.py training_step | logits = self.model(x)", qwenForward), phase.Forward, phase.Medium},

	// Bare scripts.
	{"old torch backward", stack("train.py train | loss.backward()", "/usr/lib/python3/dist-packages/torch/tensor.py backward",
		"/usr/lib/python3/dist-packages/torch/autograd/__init__.py backward | Variable._execution_engine.run_backward("), phase.Backward, phase.High},
	{"only the quoted line", stack(`C:\Users\u\train.py <module> | loss.backward()`), phase.Backward, phase.Medium},
	{"optimizer by its line", stack("gan.py <module> | self.opt_g.step()"), phase.Optimizer, phase.Medium},
	{"scaler by its line", stack("run.py main | scaler.step(optimizer)"), phase.Optimizer, phase.Medium},
	{"model by its line", stack("run.py main | outputs = model(**batch)"), phase.Forward, phase.Low},
	{"model and its forward", stack("run.py main | outputs = model(**batch)", `C:\proj\net.py forward | x = self.conv1(x)`), phase.Forward, phase.Medium},
	{"module to the device", stack("run.py main | model = Net(cfg).to(device)", site+"torch/nn/modules/module.py to", site+"torch/nn/modules/module.py _apply"), phase.Init, phase.Medium},
	{"module by its line", stack("run.py <module> | model.cuda()"), phase.Init, phase.Medium},
	{"model from the hub", stack("run.py main | model = AutoModelForCausalLM.from_pretrained(path)",
		site+"transformers/modeling_utils.py from_pretrained", site+"torch/serialization.py load"), phase.Init, phase.High},
	{"resume", stack("run.py main | ckpt = torch.load(path)", site+"torch/serialization.py load"), phase.Checkpoint, phase.Medium},
	{"paddle's weights", stack("run.py main | state_dict = paddle.load(path)", site+"paddle/framework/io.py load",
		site+"paddle/framework/io.py _ndarray_to_tensor | return paddle.to_tensor(obj)"), phase.Checkpoint, phase.Medium},
	{"old lightning puts the model on the device", stack("run.py main | trainer.fit(model)", site+"pytorch_lightning/trainer/trainer.py fit | self.accelerator_backend.setup(model)",
		site+"pytorch_lightning/accelerators/gpu_accelerator.py setup | model.cuda(self.trainer.root_gpu)"), phase.Init, phase.Medium},
	{"lightning's strategy puts it there", stack("run.py main | trainer.fit(model)", site+"pytorch_lightning/strategies/ddp.py setup | self.model_to_device()",
		site+"pytorch_lightning/strategies/ddp.py model_to_device | self.model.to(self.root_device)"), phase.Init, phase.Medium},
	{"weights of a model that is built", stack("run.py main | net = load_model(path)", "run.py load_model | sd = torch.load(path)",
		site+"torch/serialization.py load"), phase.Init, phase.Low},
	{"compiled backward", stack("run.py main | loss.backward()", tensorBackward, site+"torch/autograd/function.py apply | return user_fn(self, *args)",
		site+"torch/_functorch/_aot_autograd/runtime_wrappers.py backward", "/tmp/torchinductor_u/ab/cab.py call"), phase.Backward, phase.High},
	{"trainer saves", stack("run.py main | trainer.save_checkpoint(path)"), phase.Checkpoint, phase.Medium},
	{"a data set of tensors", stack("run.py main | for batch in loader:", site+"torch/utils/data/dataloader.py __next__",
		"/w/ds.py __getitem__ | return torch.load(self.files[i])", site+"torch/serialization.py load"), phase.Data, phase.Medium},
	{"generation by its line", stack("infer.py main | out = model.generate(**inputs)"), phase.Rollout, phase.Low},
	{"logits over their temperatures", stack("src/prime_rl/trainer/rl/train.py train | scaled_logits = logits / temperatures.unsqueeze(-1)"), phase.Forward, phase.Low},
	{"logits in float32", stack("run.py main | logits = logits.float()"), phase.Forward, phase.Low},
	{"shifted logits", stack("run.py main | shift_logits = logits[..., :-1, :].contiguous()"), phase.Forward, phase.Low},
	{"log-probabilities of logits", stack("run.py main | logps = logits.log_softmax(-1).gather(2, ids)"), phase.Forward, phase.Low},
	{"a function of logits", stack("run.py main | per_token = selective_log_softmax(student_logits, ids)"), phase.Forward, phase.Low},
	{"verl's function of logits", stack("run.py main | lp = log_probs_from_logits(x, labels)"), phase.Forward, phase.Low},
	{"logits in a pass over the data", stack("run.py compute_ref_log_prob | logits = logits / self.temperature"), phase.LogProb, phase.Medium},
	{"an evaluation", stack("run.py main | acc = evaluate(model, loader)", "run.py evaluate | logits = model(x)"), phase.Forward, phase.Low},
	{"a jitted step", stack("run.py main | state, loss = train_step(state, batch)"), phase.Training, phase.Low},
	{"tokenizing in a trainer's constructor", stack(site+"trl/trainer/sft_trainer.py __init__", site+"trl/trainer/sft_trainer.py _prepare_dataset",
		site+"datasets/arrow_dataset.py map"), phase.Data, phase.Medium},
	{"DDP set-up", stack("run.py main | model = DDP(model, device_ids=[rank])", site+"torch/nn/parallel/distributed.py __init__"), phase.Init, phase.Medium},
	{"a bare collective", stack("run.py main | x = gather(x)", site+"torch/distributed/distributed_c10d.py all_gather"), phase.NCCL, phase.Low},
}

func TestFromFramesReadsKnownStacks(t *testing.T) {
	t.Parallel()
	for _, x := range examples {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			got, ok := phase.FromFrames(x.frames)
			assert.True(t, ok)
			assert.Equal(t, x.want, got.Phase, got.Why)
			assert.Equal(t, x.sure, got.Confidence, got.Why)
			assert.NotEmpty(t, got.Why)
			if assert.NotNil(t, got.Frame) {
				assert.True(t, slices.ContainsFunc(x.frames, func(f traceback.Frame) bool { return f == *got.Frame }))
			}
		})
	}
}

func TestFromFramesSaysNothingOfSharedFrames(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][]traceback.Frame{
		"none":           nil,
		"the driver":     stack("/root/verl/verl/trainer/main_ppo.py run", "/root/verl/verl/trainer/ppo/ray_trainer.py fit | x = self.wg.foo(y)", site+"ray/_private/worker.py get"),
		"shared passes":  stack("/root/verl/verl/workers/actor/dp_actor.py _forward_micro_batch | torch.cat(parts)", "/root/verl/verl/utils/torch_functional.py entropy_from_logits"),
		"train_actor":    stack(slimeActor+"train", slimeActor+"train_actor | rollout_data = unpack(x)"),
		"any user lines": stack("run.py main | x = y @ z"),
		"moving state":   stack("/root/AReaL/areal/engine/fsdp_engine.py onload | self.model.to(device)", site+"torch/nn/modules/module.py to"),
		"a parser":       stack("run.py main | model_config = parse_model(path)", "run.py run | self.update_policy(net_arch)"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := phase.FromFrames(frames)
			assert.False(t, ok, got.Why)
			assert.Equal(t, phase.Unknown, got.Phase)
			assert.Nil(t, got.Frame)
		})
	}
}

var neutralFrames = stack(
	"/usr/lib/python3.11/contextlib.py inner | return func(*args, **kwds)",
	site+"torch/nn/modules/module.py _wrapped_call_impl | return self._call_impl(*args, **kwargs)",
	site+"torch/nn/modules/module.py _call_impl | return forward_call(*args, **kwargs)",
	site+"torch/utils/_contextlib.py decorate_context | return func(*args, **kwargs)",
	site+"ray/_private/worker.py get | values = worker.get_objects(object_refs)",
	site+"ray/util/tracing/tracing_helper.py _resume_span | return method(self, *_args, **_kwargs)",
	"/root/verl/verl/single_controller/base/decorator.py inner | return func(*args, **kwargs)",
	"/root/verl/verl/utils/profiler/performance.py log | output = func(*args, **kwargs)",
	"/usr/lib/python3.11/concurrent/futures/thread.py run | result = self.fn(*self.args, **self.kwargs)",
	"/usr/lib/python3.11/asyncio/runners.py run | return self._loop.run_until_complete(task)",
	site+"accelerate/utils/operations.py forward | return model_forward(*args, **kwargs)",
	site+"deepspeed/utils/nvtx.py wrapped_fn | ret_val = func(*args, **kwargs)",
	"<frozen runpy> _run_module_as_main",
)

func TestNeutralFramesNeverChangeTheVerdict(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, x := range examples {
		want, ok := phase.FromFrames(x.frames)
		for range 20 {
			frames := slices.Clone(x.frames)
			for range 1 + rnd.IntN(6) {
				frames = slices.Insert(frames, rnd.IntN(len(frames)+1), neutralFrames[rnd.IntN(len(neutralFrames))])
			}
			got, gotOK := phase.FromFrames(frames)
			assert.Equal(t, ok, gotOK, x.name)
			assert.Equal(t, want.Phase, got.Phase, x.name)
			assert.Equal(t, want.Confidence, got.Confidence, x.name)
			assert.Equal(t, want.Why, got.Why, x.name)
		}
	}
}

func FuzzFromFrames(f *testing.F) {
	f.Add("/a/verl/workers/fsdp_workers.py", "update_actor", "self.actor.update_policy(data)")
	f.Add(`C:\x\train.py`, "<module>", "loss.backward()")
	f.Add("", "", "")
	f.Add("<frozen runpy>", "a.b.", "for x in loader")
	f.Add("site-packages/", "forward", "\xff\xfe(")
	f.Fuzz(func(t *testing.T, file, fn, code string) {
		one := traceback.Frame{File: file, Func: fn, Code: code}
		frames := append(stack(updateActor, tensorBackward), one, one)
		for _, fs := range [][]traceback.Frame{frames, {one}} {
			v, ok := phase.FromFrames(fs)
			assert.Equal(t, ok, v.Why != "")
			phase.FromDriver(fs)
		}
		phase.FromMethod(file, fn)
		phase.FromTimer(fn)
		phase.FromLabel(file, true)
		phase.FromFile(file, false)
	})
}

func BenchmarkFromFrames(b *testing.B) {
	frames := stack(updateActor, updatePolicy, tensorBackward, engineBackward)
	for range 12 {
		frames = append(frames, stack(qwenForward)...)
		frames = append(frames, neutralFrames...)
	}
	b.ReportAllocs()
	for b.Loop() {
		phase.FromFrames(frames)
	}
}
