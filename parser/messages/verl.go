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
	of := func(m markers) func(name string, set parser.Fields, heads string, literals []string, printed ...string) pattern.Pattern {
		return func(name string, set parser.Fields, heads string, literals []string, printed ...string) pattern.Pattern {
			for i := range printed {
				printed[i] += reading
			}
			return m.line(name, set, verlHead(heads), literals, printed...)
		}
	}
	once := of(markers{kind: "phase", source: src})
	each := of(markers{kind: "phase", source: src, common: true}) // every worker prints these at every step
	return []pattern.Pattern{
		once("verl.init_model", point("init", "model"),
			`(?:Before|After) init (?:\w{1,24} )?from HF AutoModel|(?:Before|After) (?:\w{1,24} )?FSDP(?: init)?|After init_model finish|After MegatronPPOActor init|(?:Before|After) \w{2,24}Engine init`,
			[]string{"Engine init,", "from HF AutoModel", "FSDP init,", "Before FSDP", "After FSDP", "critic FSDP", "Actor FSDP", "ref FSDP", "After init_model finish", "After MegatronPPOActor init"},
			"Before init actor from HF AutoModel", "After init model from HF AutoModel", "After ref FSDP init", "Before critic FSDP", "After MegatronEngine init"),
		once("verl.init_optimizer", point("init", "optimizer"), `After \w{1,24} optimizer init|After offload [\w/ ]{1,40} during init`,
			[]string{" optimizer init", " during init"}, "After actor optimizer init", "After offload actor optimizer during init", "After offload model/optimizer/grad during init"),
		once("verl.init_rollout", point("init", "engine"), `(?:Before|After) building \w{1,24} rollout|After building sharding manager|After rollout init`,
			[]string{"Before building ", "After building ", "After rollout init"}, "Before building vllm rollout", "After building sharding manager"),
		// Entering the sharding manager, to 0.6.
		each("verl.shard_enter", opens("weight_update", "sharding manager"),
			`Before state_dict\(\) in sharding manager(?: memory)?|After state_dict\(\) in sharding manager(?: memory)?|After sync model weights in sharding manager|Before __enter__`,
			[]string{"state_dict() in sharding manager", "After sync model weights in sharding", "Before __enter__"},
			"Before state_dict() in sharding manager memory", "fsdp vllm sharding_manager Before __enter__"),
		each("verl.shard_entered", closes("weight_update", "sharding manager"),
			`After del state_dict and empty_cache in sharding manager|After entering rollout sharding manager|After __enter__`,
			[]string{"After del state_dict and empty_cache", "After entering rollout sharding", "After __enter__"},
			"After del state_dict and empty_cache in sharding manager"),
		// Switching to rollout mode, since 0.6. The engine layout prints the loading of parameters on behalf of the update.
		each("verl.update_open", opens("weight_update", "rollout mode"),
			`(?:Before|After) load_fsdp_model_to_gpu|(?:Before|After) offload_fsdp_model_to_cpu|(?:Before|After) resume weights|Before update_weights|After update_weights|Before resume kv_cache`,
			[]string{"load_fsdp_model_to_gpu", "offload_fsdp_model_to_cpu", " resume weights", " update_weights,", "Before resume kv_cache"},
			"Before load_fsdp_model_to_gpu", "After resume weights"),
		each("verl.update_close", closes("weight_update", "rollout mode"), `After resume kv_cache|After switch to rollout mode`,
			[]string{"After resume kv_cache", "After switch to rollout mode"}, "After resume kv_cache"),
		each("verl.rollout_open", opens("rollout", "generate"),
			`After entering rollout sharding manager|After resume kv_cache|After switch to rollout mode|Before generate_sequences`,
			[]string{"After entering rollout sharding", "After resume kv_cache", "After switch to rollout mode", "Before generate_sequences"},
			"After entering rollout sharding manager", "vllm rollout spmd Before generate_sequences"),
		each("verl.rollout_close", closes("rollout", "generate"),
			`After rollout generation|After generate_sequences|After switch to trainer mode|(?:Before|After) rollout offload|(?:Before|After) (?:vllm|SGLang) offload in sharding manager`,
			[]string{"After rollout generation", "After generate_sequences", "After switch to trainer mode", " rollout offload", " offload in sharding manager"},
			"After rollout generation", "Before rollout offload", "Before vllm offload in sharding manager"),
		each("verl.logprob_open", opens("logprob", "compute_log_prob"), `Before compute_(?:ref_)?log_probs?|Before compute_values`,
			[]string{"Before compute_"}, "dp actor Before compute_log_prob"),
		each("verl.logprob_close", closes("logprob", "compute_log_prob"),
			`After compute_(?:ref_)?log_probs?|After compute_values|After recompute log prob|After offload actor model during compute_log_prob`,
			[]string{"After compute_", "After recompute log prob", "during compute_log_prob"}, "dp actor After compute_log_prob", "After recompute log prob"),
		each("verl.update_policy_open", opens("training", "update_actor"),
			`Before update[_ ]policy|Before update_actor|After load actor \w{1,12} during update_actor`, []string{"Before update", "After load actor "},
			"dp actor Before update_policy", "Before update policy"),
		each("verl.update_policy_close", closes("training", "update_actor"),
			`After update[_ ]policy|After update_actor|After offload actor \w{1,12} during update_actor`, []string{"After update", "during update_actor"},
			"After offload actor optimizer during update_actor"),
		each("verl.update_critic_open", opens("training", "update_critic"), `Before update_critic`, []string{"Before update_critic"},
			"dp critic Before update_critic"),
		each("verl.update_critic_close", closes("training", "update_critic"), `After update_critic`, []string{"After update_critic"},
			"dp critic After update_critic"),
		// The SFT trainer, to 0.6: forward and backward lie between zero_grad and the step.
		each("verl.sft_forward", opens("training", "train_batch"), `After optimizer zero_grad`, []string{"After optimizer zero_grad"},
			"After optimizer zero_grad"),
		each("verl.sft_step", opens("optimizer", "optimizer step"), `Before optimizer step`, []string{"Before optimizer step"},
			"Before optimizer step"),
		each("verl.sft_stepped", closes("optimizer", "optimizer step"), `After optimizer step`, []string{"After optimizer step"},
			"After optimizer step"),
	}
}

// verlSteps are the lines of the driver and of the checkpoint manager.
func verlSteps() []pattern.Pattern {
	const src = "verl 0.1-0.9, trainer/ppo/ray_trainer.py, utils/checkpoint, utils/tracking.py"
	stage := markers{kind: "phase", source: src}
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
		stage.line("verl.validation_open", opens("rollout", "validation"), `test_gen_batch meta info`, []string{"test_gen_batch meta info"},
			"test_gen_batch meta info: {'eos_token_id': 151645}"),
		stage.line("verl.validation_close", closes("rollout", "validation"), `validation generation end`, []string{"validation generation end"}, "validation generation end"),
		stage.line("verl.save", point("checkpoint", "save"), `(?:local_global_step_folder: |\[[Rr]ank[- ]\d{1,6}\]:? Sav(?:ing|ed) (?:model|optim|extra|fsdp|hf_model))`,
			[]string{"local_global_step_folder: ", "]: Saving ", "] Saved "}, "local_global_step_folder: /ckpt/global_step_20",
			"[rank-0]: Saving model to /ckpt/global_step_20/actor/model_world_size_8_rank_0.pt"),
		stage.line("verl.load", point("checkpoint", "load"), `(?:Load from checkpoint folder: |Setting global step to \d)`,
			[]string{"Load from checkpoint folder: ", "Setting global step to "}, "Load from checkpoint folder: /ckpt/global_step_20"),
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
			Name:     "verl.steps",
			Literals: []string{"Running step: ", "Training Progress: "},
			Expr:     `\b(?:Running step|Training Progress):\s{1,4}\d{1,3}%\|[^|\n]{0,120}\|\s{0,4}(?<step>\d{1,9})/\d{1,9} \[`,
			Marker:   "step", Common: true, Source: "EasyR1 and verl 0.1-0.9, trainer/ray_trainer.py, trainer/ppo/ray_trainer.py: the driver's tqdm",
			Match: []pattern.Sample{
				{Line: "Running step:  10%|█         | 6/60 [36:21<5:26:58, 363.3s/it]", Want: parser.Fields{"step": "6"}},
				{Line: "Training Progress:   0%|          | 1/670 [07:44<86:21:03, 464.67s/it]", Want: parser.Fields{"step": "1"}},
			},
		},
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
