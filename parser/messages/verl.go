package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// verlPatterns are the markers of verl and its forks. Its "GB" are 2^30 bytes.
//
// With VERL_LOGGING_LEVEL=DEBUG verl brackets its stages with lines of the form `HEAD, memory allocated (GB): ..`, on
// rank 0; a decorator puts a role in front of some heads (`dp actor Before update_policy`). A head ends at the comma.
var verlPatterns = []table{verlStages, verlSteps, easyBars}

// verlHead makes the expression of a memory line: one of heads, then the comma and the reading.
func verlHead(heads string) string {
	return `\b(?:` + heads + `),? memory allocated(?: \(GB\))?: ?\d`
}

// verlStages are the bracketed stages.
func verlStages() []pattern.Pattern {
	const (
		src     = "verl 0.1-0.9, workers/fsdp_workers.py, workers/megatron_workers.py, workers/sharding_manager, workers/engine_workers.py"
		reading = ", memory allocated (GB): 6.82, memory reserved (GB): 7.10, device memory used/total (GB): 15.77/79.11"
	)
	// Every worker prints these at every step, those of the start once.
	readings := func(heads ...string) []pattern.Sample {
		for i, head := range heads {
			heads[i] = head + reading
		}
		return lines(heads...)
	}
	return []pattern.Pattern{
		{
			Name:     "verl.init_model",
			Literals: []string{"Engine init,", "from HF AutoModel", "FSDP init,", "Before FSDP", "After FSDP", "critic FSDP", "Actor FSDP", "ref FSDP", "After init_model finish", "After MegatronPPOActor init"},
			Expr:     verlHead(`(?:Before|After) init (?:\w{1,24} )?from HF AutoModel|(?:Before|After) (?:\w{1,24} )?FSDP(?: init)?|After init_model finish|After MegatronPPOActor init|(?:Before|After) \w{2,24}Engine init`),
			Marker:   "phase", Set: parser.Fields{"phase": "init", "edge": "point", "label": "model"}, Source: src,
			Match: readings(
				"Before init actor from HF AutoModel",
				"After init model from HF AutoModel",
				"After ref FSDP init",
				"Before critic FSDP",
				"After MegatronEngine init",
			),
		},
		{
			Name:     "verl.init_optimizer",
			Literals: []string{" optimizer init", " during init"},
			Expr:     verlHead(`After \w{1,24} optimizer init|After offload [\w/ ]{1,40} during init`),
			Marker:   "phase", Set: parser.Fields{"phase": "init", "edge": "point", "label": "optimizer"}, Source: src,
			Match: readings(
				"After actor optimizer init",
				"After offload actor optimizer during init",
				"After offload model/optimizer/grad during init",
			),
		},
		{
			Name:     "verl.init_rollout",
			Literals: []string{"Before building ", "After building ", "After rollout init"},
			Expr:     verlHead(`(?:Before|After) building \w{1,24} rollout|After building sharding manager|After rollout init`),
			Marker:   "phase", Set: parser.Fields{"phase": "init", "edge": "point", "label": "engine"}, Source: src,
			Match: readings("Before building vllm rollout", "After building sharding manager"),
		},
		// Entering the sharding manager, to 0.6.
		{
			Name:     "verl.shard_enter",
			Literals: []string{"state_dict() in sharding manager", "After sync model weights in sharding", "Before __enter__"},
			Expr:     verlHead(`Before state_dict\(\) in sharding manager(?: memory)?|After state_dict\(\) in sharding manager(?: memory)?|After sync model weights in sharding manager|Before __enter__`),
			Marker:   "phase", Set: parser.Fields{"phase": "weight_update", "edge": "open", "label": "sharding manager"}, Source: src, Common: true,
			Match: readings("Before state_dict() in sharding manager memory", "fsdp vllm sharding_manager Before __enter__"),
		},
		{
			Name:     "verl.shard_entered",
			Literals: []string{"After del state_dict and empty_cache", "After entering rollout sharding", "After __enter__"},
			Expr:     verlHead(`After del state_dict and empty_cache in sharding manager|After entering rollout sharding manager|After __enter__`),
			Marker:   "phase", Set: parser.Fields{"phase": "weight_update", "edge": "close", "label": "sharding manager"}, Source: src, Common: true,
			Match: readings("After del state_dict and empty_cache in sharding manager"),
		},
		// Switching to rollout mode, since 0.6. The engine layout prints the loading of parameters on behalf of the update.
		{
			Name:     "verl.update_open",
			Literals: []string{"load_fsdp_model_to_gpu", "offload_fsdp_model_to_cpu", " resume weights", " update_weights,", "Before resume kv_cache"},
			Expr:     verlHead(`(?:Before|After) load_fsdp_model_to_gpu|(?:Before|After) offload_fsdp_model_to_cpu|(?:Before|After) resume weights|Before update_weights|After update_weights|Before resume kv_cache`),
			Marker:   "phase", Set: parser.Fields{"phase": "weight_update", "edge": "open", "label": "rollout mode"}, Source: src, Common: true,
			Match: readings("Before load_fsdp_model_to_gpu", "After resume weights"),
		},
		{
			Name:     "verl.update_close",
			Literals: []string{"After resume kv_cache", "After switch to rollout mode"},
			Expr:     verlHead(`After resume kv_cache|After switch to rollout mode`),
			Marker:   "phase", Set: parser.Fields{"phase": "weight_update", "edge": "close", "label": "rollout mode"}, Source: src, Common: true,
			Match: readings("After resume kv_cache"),
		},
		{
			Name:     "verl.rollout_open",
			Literals: []string{"After entering rollout sharding", "After resume kv_cache", "After switch to rollout mode", "Before generate_sequences"},
			Expr:     verlHead(`After entering rollout sharding manager|After resume kv_cache|After switch to rollout mode|Before generate_sequences`),
			Marker:   "phase", Set: parser.Fields{"phase": "rollout", "edge": "open", "label": "generate"}, Source: src, Common: true,
			Match: readings("After entering rollout sharding manager", "vllm rollout spmd Before generate_sequences"),
		},
		{
			Name:     "verl.rollout_close",
			Literals: []string{"After rollout generation", "After generate_sequences", "After switch to trainer mode", " rollout offload", " offload in sharding manager"},
			Expr:     verlHead(`After rollout generation|After generate_sequences|After switch to trainer mode|(?:Before|After) rollout offload|(?:Before|After) (?:vllm|SGLang) offload in sharding manager`),
			Marker:   "phase", Set: parser.Fields{"phase": "rollout", "edge": "close", "label": "generate"}, Source: src, Common: true,
			Match: readings("After rollout generation", "Before rollout offload", "Before vllm offload in sharding manager"),
		},
		{
			Name:     "verl.logprob_open",
			Literals: []string{"Before compute_"},
			Expr:     verlHead(`Before compute_(?:ref_)?log_probs?|Before compute_values`),
			Marker:   "phase", Set: parser.Fields{"phase": "logprob", "edge": "open", "label": "compute_log_prob"}, Source: src, Common: true,
			Match: readings("dp actor Before compute_log_prob"),
		},
		{
			Name:     "verl.logprob_close",
			Literals: []string{"After compute_", "After recompute log prob", "during compute_log_prob"},
			Expr:     verlHead(`After compute_(?:ref_)?log_probs?|After compute_values|After recompute log prob|After offload actor model during compute_log_prob`),
			Marker:   "phase", Set: parser.Fields{"phase": "logprob", "edge": "close", "label": "compute_log_prob"}, Source: src, Common: true,
			Match: readings("dp actor After compute_log_prob", "After recompute log prob"),
		},
		{
			Name:     "verl.update_policy_open",
			Literals: []string{"Before update", "After load actor "},
			Expr:     verlHead(`Before update[_ ]policy|Before update_actor|After load actor \w{1,12} during update_actor`),
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "open", "label": "update_actor"}, Source: src, Common: true,
			Match: readings("dp actor Before update_policy", "Before update policy"),
		},
		{
			Name:     "verl.update_policy_close",
			Literals: []string{"After update", "during update_actor"},
			Expr:     verlHead(`After update[_ ]policy|After update_actor|After offload actor \w{1,12} during update_actor`),
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "close", "label": "update_actor"}, Source: src, Common: true,
			Match: readings("After offload actor optimizer during update_actor"),
		},
		{
			Name:     "verl.update_critic_open",
			Literals: []string{"Before update_critic"},
			Expr:     verlHead(`Before update_critic`),
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "open", "label": "update_critic"}, Source: src, Common: true,
			Match: readings("dp critic Before update_critic"),
		},
		{
			Name:     "verl.update_critic_close",
			Literals: []string{"After update_critic"},
			Expr:     verlHead(`After update_critic`),
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "close", "label": "update_critic"}, Source: src, Common: true,
			Match: readings("dp critic After update_critic"),
		},
		// The SFT trainer, to 0.6: forward and backward lie between zero_grad and the step.
		{
			Name:     "verl.sft_forward",
			Literals: []string{"After optimizer zero_grad"},
			Expr:     verlHead(`After optimizer zero_grad`),
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "open", "label": "train_batch"}, Source: src, Common: true,
			Match: readings("After optimizer zero_grad"),
		},
		{
			Name:     "verl.sft_step",
			Literals: []string{"Before optimizer step"},
			Expr:     verlHead(`Before optimizer step`),
			Marker:   "phase", Set: parser.Fields{"phase": "optimizer", "edge": "open", "label": "optimizer step"}, Source: src, Common: true,
			Match: readings("Before optimizer step"),
		},
		{
			Name:     "verl.sft_stepped",
			Literals: []string{"After optimizer step"},
			Expr:     verlHead(`After optimizer step`),
			Marker:   "phase", Set: parser.Fields{"phase": "optimizer", "edge": "close", "label": "optimizer step"}, Source: src, Common: true,
			Match: readings("After optimizer step"),
		},
	}
}

// verlSteps are the lines of the driver and of the checkpoint manager.
func verlSteps() []pattern.Pattern {
	const src = "verl 0.1-0.9, trainer/ppo/ray_trainer.py, utils/checkpoint, utils/tracking.py"
	return []pattern.Pattern{
		// Printed when the step is over. The first metric's name varies with version and trainer.
		{
			Name: "verl.step",
			Literals: []string{
				" - actor/", " - critic/", " - global_seqlen/", " - train/", " - training/", " - val/", " - val-core/", " - val-aux/", " - timing_s/",
				" - perf/", " - response_length/", " - prompt_length/", " - reward",
			},
			Expr:   `\bstep:(?<step>\d{1,9}) - (?:actor|critic|global_seqlen|train(?:ing)?|val|val-core|val-aux|timing_s|perf|response_length|prompt_length|reward)[/_a-z]`,
			Marker: "step", Common: true, Source: src,
			Match: []pattern.Sample{
				{Line: "step:37 - global_seqlen/min:336810.057 - actor/entropy:0.281 - timing_s/gen:41.2", Want: parser.Fields{"step": "37"}},
				{Line: "step:4 - train/loss:0.81 - train/lr(1e-3):0.01", Want: parser.Fields{"step": "4"}},
			},
		},
		{
			Name:     "verl.epoch_step",
			Literals: []string{"epoch 0, step ", "epoch 1, step ", "epoch 2, step ", "epoch 3, step ", "epoch 4, step ", "epoch 5, step ", "epoch 6, step ", "epoch 7, step ", "epoch 8, step ", "epoch 9, step "},
			Expr:     `\bepoch \d{1,6}, step (?<step>\d{1,9})\s*$`,
			Marker:   "step", Common: true, Source: src + " (0.1-0.3)",
			Match: []pattern.Sample{{Line: "epoch 0, step 12", Want: parser.Fields{"step": "12"}}},
		},
		{
			Name:     "verl.validation_open",
			Literals: []string{"test_gen_batch meta info"},
			Expr:     `test_gen_batch meta info`,
			Marker:   "phase", Set: parser.Fields{"phase": "rollout", "edge": "open", "label": "validation"}, Source: src,
			Match: lines("test_gen_batch meta info: {'eos_token_id': 151645}"),
		},
		{
			Name:     "verl.validation_close",
			Literals: []string{"validation generation end"},
			Expr:     `validation generation end`,
			Marker:   "phase", Set: parser.Fields{"phase": "rollout", "edge": "close", "label": "validation"}, Source: src,
			Match: lines("validation generation end"),
		},
		{
			Name:     "verl.save",
			Literals: []string{"local_global_step_folder: ", "]: Saving ", "] Saved "},
			Expr:     `(?:local_global_step_folder: |\[[Rr]ank[- ]\d{1,6}\]:? Sav(?:ing|ed) (?:model|optim|extra|fsdp|hf_model))`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "point", "label": "save"}, Source: src,
			Match: lines(
				"local_global_step_folder: /ckpt/global_step_20",
				"[rank-0]: Saving model to /ckpt/global_step_20/actor/model_world_size_8_rank_0.pt",
			),
		},
		{
			Name:     "verl.load",
			Literals: []string{"Load from checkpoint folder: ", "Setting global step to "},
			Expr:     `(?:Load from checkpoint folder: |Setting global step to \d)`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "point", "label": "load"}, Source: src,
			Match: lines("Load from checkpoint folder: /ckpt/global_step_20"),
		},
		{
			Name:     "verl.rank",
			Literals: []string{"]: Saving ", "]: Saved ", "]: Loading ", "]: Loaded ", "] Saving ", "] Saved ", "] Loading ", "] Loaded "},
			Expr:     `\[[Rr]ank[- ](?<rank>\d{1,6})\]:? (?:Sav(?:ing|ed)|Load(?:ing|ed)) `,
			Marker:   "identity", Source: "verl 0.1-0.9, utils/checkpoint/fsdp_checkpoint_manager.py",
			Match: []pattern.Sample{
				{Line: "[rank-3]: Saving model to /ckpt/actor/model_world_size_8_rank_3.pt", Want: parser.Fields{"rank": "3"}},
				{Line: "[Rank 5] Saved model to /ckpt/actor/model_world_size_8_rank_5.pt", Want: parser.Fields{"rank": "5"}},
			},
			NoMatch: []string{"[rank3]: Traceback (most recent call last):"},
		},
		{
			Name:     "verl.task_runner",
			Literals: []string{"TaskRunner hostname: "},
			Expr:     `TaskRunner hostname: (?<host>[\w.-]{1,64}), PID: (?<pid>\d{1,10})`,
			Marker:   "identity", Source: "verl 0.4-0.9, trainer/main_ppo.py",
			Match: []pattern.Sample{{Line: "[ASYNC MAIN] TaskRunner hostname: gpu-b-07, PID: 88112", Want: parser.Fields{"host": "gpu-b-07", "pid": "88112"}}},
		},
	}
}

// easyBars are the progress bars of EasyR1's workers. A bar that is full ends its stage: the next one is another's. The bar
// of a mini-batch's pieces stands inside that of the mini-batches, and ends nothing.
func easyBars() []pattern.Pattern {
	const src = "EasyR1 0.2-0.3, verl/workers/actor/dp_actor.py, verl/workers/critic/dp_critic.py: tqdm of rank 0"
	probs, update := []string{"Compute log probs: ", "Compute values: "}, []string{"Train mini-batches: ", "Update policy: ", "Update critic: "}
	return []pattern.Pattern{
		{
			Name:     "easyr1.logprob_open",
			Literals: probs,
			Expr:     `\bCompute (?:log probs|values): {1,3}\d{1,2}%\|`,
			Marker:   "phase", Set: parser.Fields{"phase": "logprob", "edge": "open", "label": "compute_log_probs"}, Source: src, Common: true,
			Match: lines(
				"Compute log probs:  76%|███████▋  | 244/320 [08:56<02:05,  1.65s/it]",
				"Compute values:   0%|          | 0/64 [00:00<?, ?it/s]",
			),
			NoMatch: []string{"Compute log probs: 100%|██████████| 320/320 [08:48<00:00,  1.65s/it]"},
		},
		{
			Name:     "easyr1.logprob_close",
			Literals: probs,
			Expr:     `\bCompute (?:log probs|values): 100%\|`,
			Marker:   "phase", Set: parser.Fields{"phase": "logprob", "edge": "close", "label": "compute_log_probs"}, Source: src, Common: true,
			Match:   lines("Compute log probs: 100%|██████████| 320/320 [08:48<00:00,  1.65s/it]"),
			NoMatch: []string{"Compute log probs:  99%|█████████▉| 319/320 [08:46<00:01,  1.65s/it]"},
		},
		{
			Name:     "easyr1.update_open",
			Literals: update,
			Expr:     `\b(?:Train mini-batches: {1,3}\d{1,2}|Update (?:policy|critic): {1,3}\d{1,3})%\|`,
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "open", "label": "train_mini_batches"}, Source: src, Common: true,
			Match: lines(
				"Train mini-batches:  25%|██▌       | 1/4 [00:33<01:38, 32.81s/it]",
				"Update policy: 100%|██████████| 16/16 [00:32<00:00,  2.05s/it]",
			),
			NoMatch: []string{"Train mini-batches: 100%|██████████| 4/4 [02:11<00:00, 32.81s/it]"},
		},
		{
			Name:     "easyr1.update_close",
			Literals: update[:1],
			Expr:     `\bTrain mini-batches: 100%\|`,
			Marker:   "phase", Set: parser.Fields{"phase": "training", "edge": "close", "label": "train_mini_batches"}, Source: src, Common: true,
			Match:   lines("Train mini-batches: 100%|██████████| 4/4 [02:11<00:00, 32.81s/it]"),
			NoMatch: []string{"Update policy: 100%|██████████| 16/16 [00:32<00:00,  2.05s/it]"},
		},
	}
}
