package phase

// trainerRules: the general trainers, transformers, accelerate, Lightning, Ultralytics and the model libraries beside
// them. [unverified] against their sources; the names are long-standing.
//
// accelerate's backward is a hint only: for DeepSpeed it also runs the optimizer step.
func trainerRules() []rule {
	return []rule{
		r("transformers/modeling_utils.py", "from_pretrained from_config _from_config _load_pretrained_model "+
			"_load_state_dict_into_* _load_parameter_into_model caching_allocator_warmup", Init, decisive),
		r("transformers/models/auto/auto_factory.py", "from_pretrained from_config", Init, decisive),
		r("transformers/generation/utils.py", "", Rollout, decisive),
		r("transformers/generation_utils.py", "", Rollout, decisive), // before 4.21
		r("transformers/cache_utils.py", "update", Rollout, weak).with(alone),
		r("transformers/loss/", "", Forward, weak),
		r("*rainer*.py", "prediction_step evaluation_loop evaluate predict", Forward, strong).says("an evaluation"),
		r("*rainer*.py", "save_model _save_checkpoint save_checkpoint _save _save_optimizer_and_scheduler "+
			"_load_from_checkpoint _load_best_model _load_optimizer_and_scheduler", Checkpoint, strong),
		r("*rainer*.py", "training_step _inner_training_loop", Training, strong),
		r("*rainer*.py", "compute_loss", Forward, strong),
		r("*rainer*.py", "_prepare_dataset", Data, strong),
		r("*rainer*.py", "_wrap_model create_optimizer create_optimizer_and_scheduler create_accelerator_and_postprocess "+
			"_move_model_to_device", Init, strong),
		r("*rainer*.py", "__init__", Init, strong),

		// ROLL: a worker's methods are the stages of its pipelines; megatron's forward_step serves all of them.
		r("roll/pipeline/", "compute_log_probs", LogProb, decisive),
		r("roll/pipeline/", "compute_values compute_rewards", LogProb, strong),
		r("roll/pipeline/", "train_step train_step_lora", Training, decisive),
		r("roll/pipeline/", "generate start_server", Rollout, strong),
		r("roll/pipeline/", "model_update start_model_update broadcast_parameter", WeightUpdate, decisive),
		r("roll/pipeline/", "do_checkpoint", Checkpoint, decisive),
		r("roll/pipeline/", "initialize", Init, strong),
		r("roll/third_party/*/model_update.py", "", WeightUpdate, decisive),
		r("roll/", "start_model_update setup_model_update broadcast_parameter broadcast_bucket update_parameter*", WeightUpdate, decisive),
		r("roll/distributed/strategy/", "model_update", WeightUpdate, decisive),
		r("roll/distributed/strategy/", "generate generate_request", Rollout, strong),

		// Text Generation Inference measures its cache with the largest prefill before it serves.
		r("text_generation_server/", "warmup Warmup", Init, decisive),
		r("text_generation_server/", "get_model load_weights", Init, strong),
		r("text_generation_server/utils/weights.py", "", Init, strong),
		r("text_generation_server/server.py", "Prefill Decode", Rollout, strong),
		r("text_generation_server/models/", "generate_token", Rollout, strong),

		r("actors/reference_model.py", "", LogProb, strong), // torchforge
		r("torchtitan/components/checkpointer/", "", Checkpoint, strong),
		r("torchtitan/components/checkpoint.py", "", Checkpoint, strong),
		r("ppo/trainer.py", "batched_forward_pass get_rewards", LogProb, strong), // LLaMA-Factory

		// Chainer's optimizers run the loss themselves.
		r("chainer/variable.py", "backward _backward_main", Backward, decisive),
		r("chainer/training/updaters/", "", Training, strong),

		r("accelerate/accelerator.py", "backward", Backward, weak),
		r("accelerate/utils/deepspeed.py", "backward", Backward, weak),
		r("accelerate/utils/deepspeed.py", "step", Optimizer, strong),
		r("accelerate/accelerator.py", "prepare prepare_model _prepare*", Init, strong),
		r("accelerate/accelerator.py", "clip_grad_norm_ unscale_gradients", Optimizer, strong),
		r("accelerate/accelerator.py", "save_state load_state save_model get_state_dict", Checkpoint, strong),
		r("accelerate/optimizer.py", "step", Optimizer, strong),
		// Weights that live on the host come to the device before every forward pass of their module.
		r("accelerate/hooks.py", "pre_forward", Forward, weak).with(mover),
		shared("accelerate/utils/modeling.py", "get_state_dict_offloaded_model align_module_device").with(mover),
		r("accelerate/utils/modeling.py", "set_module_tensor_to_device", Init, decisive).with(yields),
		r("accelerate/big_modeling.py", "", Init, decisive),
		r("accelerate/utils/modeling.py", "load_checkpoint_in_model", Init, decisive),
		r("accelerate/utils/fsdp_utils.py", "save_fsdp_* load_fsdp_*", Checkpoint, strong),
		r("accelerate/utils/fsdp_utils.py", "fsdp2_*", Init, strong),
		r("*.py", "fsdp2_load_full_state_dict", Init, strong), // verl's, which others copied
		r("accelerate/data_loader.py", "__iter__ __next__", Data, weak),
		r("peft/*.py", "from_pretrained get_peft_model", Init, strong),
		r("peft/utils/other.py", "prepare_model_for_kbit_training", Init, strong),
		r("unsloth/save.py", "", Checkpoint, strong),
		r("MaxText/", "setup_training_state setup_initial_state setup_train_loop init_initial_state", Init, strong),
		r("site-packages/peft/", "merge_and_unload merge_adapter _unload_and_optionally_merge", Checkpoint, strong),
		r("mmengine/model/", "_run_forward", Forward, strong),
		r("*/detectors/", "forward_train", Forward, strong), // mmdet before 3.0, and what is built on it
		r("stable_baselines3/common/*.py", "collect_rollouts", Rollout, strong),
		r("stable_baselines3/*/*.py", "train", Training, strong),
		r("gaussian_renderer/", "render", Forward, strong), // 3D Gaussian splatting
		r("diffusers/pipelines/", "__call__", Rollout, weak),
		r("comfy/model_management.py", "load_models_gpu load_model_gpu model_load", Init, strong),
		r("comfy/samplers.py", "", Rollout, weak), // ComfyUI
		r("comfy/sd.py", "decode decode_tiled encode", Rollout, weak),
		r("modules/sd_samplers*.py", "", Rollout, weak), // stable-diffusion-webui
		r("diffusers/*/*.py", "from_pretrained", Init, decisive),
		r("faster_whisper/transcribe.py", "__init__", Init, strong).says("a model of CTranslate2 is loaded"),
		r("faster_whisper/transcribe.py", "generate_segments generate_with_fallback encode detect_language* forward", Rollout, strong),
		r("ultralytics/utils/autobatch.py", "", Init, strong).says("a batch size is being probed"),
		r("ultralytics/engine/validator.py", "__call__", Forward, strong).says("an evaluation"),

		// Quantizers calibrate: samples pass through the model, layer by layer.
		r("llmcompressor/pipelines/", "", Forward, decisive),
		r("awq/quantize/quantizer.py", "", Forward, decisive),
		r("auto_gptq/modeling/_base.py", "quantize", Forward, decisive),
		r("gptqmodel/looper/", "", Forward, decisive),
		r("gptqmodel/models/base.py", "quantize", Forward, decisive),
		r("optimum/gptq/quantizer.py", "quantize_model", Forward, decisive),
		r("auto_round/", "quantize* quant_* _quantize* calib*", Forward, decisive),
		r("quantization/model_quant.py", "quantize calibrate auto_quantize", Forward, decisive), // modelopt/torch/

		r("loops/fit_loop.py", "setup_data", Data, weak),
		r("loops/training_epoch_loop.py", "", Training, weak),
		r("loops/prediction_loop.py", "", Forward, strong).says("a prediction"),
		r("accelerators/*.py", "setup setup_environment", Init, strong),
		r("strategies/*.py", "setup setup_environment model_to_device", Init, strong),
		r("loops/evaluation_loop.py", "", Forward, strong).says("an evaluation"),
		r("trainer/connectors/checkpoint_connector.py", "", Checkpoint, strong),
		r("callbacks/model_checkpoint.py", "", Checkpoint, strong),
		r("tuner/batch_size_scaling.py", "", Init, strong).says("a batch size is being probed"),
		r("loops/optimization/*.py", "_optimizer_step", Optimizer, weak),

		shared("site-packages/accelerate/", "").with(opaque),
		shared("site-packages/lightning/", "").with(opaque),
		shared("site-packages/pytorch_lightning/", "").with(opaque),
	}
}
