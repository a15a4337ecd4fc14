package phase

// openrlhfRules: OpenRLHF 0.8.5 and 2026. Older versions ran everything below PolicyModelActor.fit, so inner
// frames override its frame.
func openrlhfRules() []rule {
	return []rule{
		r("trainer/ray/launcher.py", "init_model_from_pretrained", Init, decisive),
		r("trainer/ray/ppo_*.py", "init_model_from_pretrained", Init, decisive),
		r("trainer/ray/vllm_engine*.py", "__init__", Init, decisive),
		r("trainer/ray/ppo_*.py", "broadcast_to_vllm _broadcast_to_vllm _broadcast_param _handle_cuda_ipc", WeightUpdate, decisive),
		r("openrlhf/trainer/ppo_trainer*.py", "broadcast_to_vllm", WeightUpdate, strong),
		r("trainer/ray/vllm_*.py", "update_weight*", WeightUpdate, decisive),
		r("trainer/ray/vllm_*.py", "wake_up", WeightUpdate, strong),
		r("trainer/ray/ppo_*.py", "reload_states", Training, strong).says("it brings the optimizer state back to the GPU"),
		r("trainer/ray/ppo_*.py", "forward", LogProb, decisive),
		r("trainer/ray/launcher.py", "forward execute_batch", LogProb, decisive),
		r("trainer/ray/ppo_*.py", "training_step training_step_actor training_step_critic ppo_train fit", Training, decisive),
		r("trainer/ray/ppo_*.py", "save_checkpoint save_model", Checkpoint, strong),
		r("trainer/ray/vllm_engine*.py", "generate* add_requests* get_responses*", Rollout, decisive),
		r("*experience_maker.py", "_generate* generate_samples*", Rollout, decisive),
		r("*samples_generator.py", "", Rollout, decisive),
		r("*experience_maker.py", "make_experience* _dispatch_forward", LogProb, decisive),
		r("openrlhf/models/actor.py", "generate", Rollout, decisive),

		r("openrlhf/utils/deepspeed/deepspeed.py", "backward", Backward, strong),
		r("openrlhf/utils/deepspeed/deepspeed.py", "optimizer_step", Optimizer, strong),
		r("openrlhf/utils/deepspeed/deepspeed.py", "prepare ds_init_* _ds_init_*", Init, strong),
		r("openrlhf/utils/deepspeed/deepspeed.py", "save_model save_ckpt load_ckpt load_model", Checkpoint, strong),

		r("openrlhf/trainer/ppo_trainer.py", "training_step* ppo_train", Training, decisive),
		r("openrlhf/trainer/*_trainer.py", "save_logs_and_checkpoints", Checkpoint, strong),
		r("openrlhf/trainer/*_trainer.py", "evaluate", Forward, strong).says("an evaluation"),
		r("openrlhf/trainer/*_trainer.py", "concatenated_forward _get_batch_logps", Forward, strong),
		r("openrlhf/trainer/*_trainer.py", "fit", Training, weak),
		r("openrlhf/datasets/", "", Data, strong),
	}
}
