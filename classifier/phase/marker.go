package phase

import (
	"fmt"
	"path"
	"strings"
	"sync"
)

// timers are the names of the timers around the stages of frameworks: slime and Relax (`Timer NAME start`), verl
// (`timing_s/NAME`, the heads of memory lines), SkyRL (`Started: 'NAME'`), AReaL (stats names, Memory-Usage heads), NeMo-RL, OpenRLHF (`timing/NAME`).
var timers = sync.OnceValue(func() map[string]struct {
	phase Phase
	by    strength
} {
	return map[string]struct {
		phase Phase
		by    strength
	}{
		"init": {Init, strong}, "init_actor": {Init, decisive}, "setup": {Init, strong},

		"gen": {Rollout, strong}, "gen_max": {Rollout, strong}, "generate": {Rollout, strong}, "generation": {Rollout, strong},
		"generate_async": {Rollout, strong}, "rollout": {Rollout, strong}, "testing": {Rollout, strong},
		"reward": {Rollout, weak}, "reward_calculation": {Rollout, weak}, "train_wait": {Rollout, weak},
		"wait_for_enough_samples": {Rollout, weak}, "dump_rollout_generations": {Rollout, weak},

		"ref_log_probs": {LogProb, decisive}, "log_probs": {LogProb, decisive}, "teacher_log_probs": {LogProb, decisive},
		"old_log_prob": {LogProb, decisive}, "ref_log_prob": {LogProb, decisive}, "ref": {LogProb, strong},
		"refpolicy": {LogProb, strong}, "values": {LogProb, strong}, "critic_values": {LogProb, decisive},
		"recompute_logp": {LogProb, decisive}, "ref_logp": {LogProb, decisive}, "teacher_logp": {LogProb, decisive},
		"policy_and_reference_logprobs": {LogProb, decisive}, "make_experience": {LogProb, weak},
		"logprob_inference_prep": {LogProb, strong},

		"actor_train": {Training, decisive}, "critic_train": {Training, decisive}, "update_actor": {Training, decisive},
		"update_critic": {Training, decisive}, "train_step": {Training, decisive}, "critic_train_step": {Training, decisive},
		"policy_training": {Training, decisive}, "training_prep": {Training, strong}, "ppo_train": {Training, decisive},
		"ppo_update": {Training, decisive}, "ppo_critic_update": {Training, decisive}, "update_policy": {Training, decisive},
		"adv": {Training, weak}, "compute_advantage": {Training, weak}, "compute_advantages": {Training, weak},
		"advantage_calculation": {Training, weak},
		// slime and Relax: the log-probability passes are timed inside of it, so alone it is a hint.
		"train":   {Training, weak},
		"wake_up": {Training, strong}, "sleep": {Training, weak}, "rollout_onload": {Rollout, weak},

		"update_weights": {WeightUpdate, decisive}, "weight_sync": {WeightUpdate, decisive}, "param_sync": {WeightUpdate, decisive},
		"sync_rollout_weights": {WeightUpdate, decisive}, "broadcast": {WeightUpdate, strong},
		"transfer_and_update_weights": {WeightUpdate, decisive}, "prepare_for_generation": {WeightUpdate, strong},
		"ref_model_update": {WeightUpdate, strong}, "switch_to_rollout": {WeightUpdate, strong},
		"switch_to_trainer": {WeightUpdate, weak},

		"save_model": {Checkpoint, decisive}, "save_checkpoint": {Checkpoint, decisive}, "save": {Checkpoint, strong},
		"checkpointing": {Checkpoint, decisive}, "checkpoint_for_recover": {Checkpoint, decisive},

		// SkyRL
		"fwd_logprobs_values_reward": {LogProb, decisive}, "train_critic_and_policy": {Training, decisive},
		"policy_train": {Training, decisive}, "compute_advantages_and_returns": {Training, weak},
		"sync_weights_to_inference_engines": {WeightUpdate, decisive}, "sync_weights": {WeightUpdate, decisive}, "setup_policy_and_generator": {Init, decisive},
		"init_weight_sync_state": {WeightUpdate, decisive}, "update_ref_with_policy": {WeightUpdate, strong},
		"load_checkpoints": {Checkpoint, decisive}, "save_checkpoints": {Checkpoint, decisive}, "save_hf_model": {Checkpoint, decisive},
		"convert_to_training_input": {Data, weak}, "data_loading": {Data, strong},

		// miles
		"update_weights_implementation": {WeightUpdate, decisive}, "finalize_and_resume_engines": {WeightUpdate, strong},
		"eval_rollout": {Rollout, strong},

		"data_preprocess": {Data, strong}, "data_processing": {Data, strong}, "train_get_data": {Data, weak},
		"eval": {Rollout, weak},
	}
})

// FromTimer finds the phase from the name of a timer that was started and not ended, in any of the frameworks' forms:
// `ref_log_probs`, `timing_s/old_log_prob`, `recompute logp`, `prepare_for_generation/transfer_and_update_weights`. The
// caller picks the innermost open timer.
func FromTimer(name string) (Verdict, bool) {
	name = head(strings.TrimSpace(name), maxCode)
	key := strings.ReplaceAll(strings.ToLower(name), " ", "_")
	key = strings.TrimPrefix(strings.TrimSuffix(key, "/total"), "timer_")
	if i := strings.LastIndexByte(key, '/'); i >= 0 {
		key = key[i+1:]
	}
	key = strings.TrimSuffix(strings.TrimPrefix(key, "role."), "_time")
	t, ok := timers()[key]
	if !ok {
		return Verdict{Phase: Unknown, Confidence: Low}, false
	}
	return Verdict{
		Phase: t.phase, Confidence: t.by.confidence(),
		Why: fmt.Sprintf("The timer `%s` was started and had not ended; it covers %s.", show(name), means(t.phase)),
	}, true
}

// engineLabels are parts of the labels of inference engines' processes, in lower case. Ray prints class names,
// vLLM and SGLang process titles.
var engineLabels = []string{
	"vllmhttpserver", "sglanghttpserver", "asyncvllmserver", "asyncsglangserver", "enginecore", "vllmworker", "worker_tp",
	"worker_dp", "sglang::", "rolloutrayactor", "llmrayactor", "sglangengine", "vllmgenerationworker", "vllmengine",
	"sglanggenerationworker", "apiserver",
}

// FromLabel finds the phase from the label of a process, such as Ray's `(vLLMHttpServer pid=7)` or `EngineCore_0`. An
// engine starts up until it says that it is ready, then it generates. Trainers run every phase in one process and
// give no verdict. All verdicts are hints.
func FromLabel(label string, ready bool) (Verdict, bool) {
	low := strings.ToLower(head(label, maxCode))
	for _, piece := range engineLabels {
		if strings.Contains(low, piece) {
			return engine("The process `"+show(label)+"`", ready)
		}
	}
	for _, x := range []struct {
		piece string
		phase Phase
	}{
		{"agentloop", Rollout},
		{"rewardloop", Rollout},
		{"rolloutmanager", Rollout},
		{"checkpointengine", WeightUpdate},
		{"referencemodel", LogProb},
		{"rewardmodel", LogProb},
		{"dataloader", Data},
		{"mapworker", Data},
	} {
		if strings.Contains(low, x.piece) {
			return hint(x.phase, fmt.Sprintf("The process `%s` is there for %s.", show(label), means(x.phase)))
		}
	}
	return Verdict{Phase: Unknown, Confidence: Low}, false
}

// files are prefixes of log file names and what writes them. Whether an engine is ready decides its phase.
var files = []struct {
	prefix string
	phase  Phase // empty: an inference engine
}{
	{"llm_server", ""},
	{"generation_server", ""},
	{"sglang", ""},
	{"vllm", ""},
	{"rollout", ""},
	{"trainer", Training},
	{"actor", Training},
	{"critic", Training},
	{"ref.", LogProb},
	{"ref-", LogProb},
	{"ref_", LogProb},
	{"teacher", LogProb},
	{"dataloader", Data},
}

// FromFile finds the phase from the name of the log file, if nothing in the log shows it: AReaL writes `llm_server.log` and
// `trainer.log`, or one file per role. All verdicts are hints; ready as in FromLabel.
func FromFile(name string, ready bool) (Verdict, bool) {
	base := strings.ToLower(path.Base(clean(name)))
	for _, x := range files {
		switch {
		case !strings.HasPrefix(base, x.prefix):
		case x.phase == "":
			return engine("The log file "+show(base), ready)
		default:
			return hint(x.phase, fmt.Sprintf("The log file %s is that of a process for %s.", show(base), means(x.phase)))
		}
	}
	return Verdict{Phase: Unknown, Confidence: Low}, false
}

func engine(subject string, ready bool) (Verdict, bool) {
	if ready {
		return hint(Rollout, subject+" belongs to an inference engine that had started.")
	}
	return hint(Init, subject+" belongs to an inference engine that had not said that it is ready.")
}

func hint(p Phase, why string) (Verdict, bool) {
	return Verdict{Phase: p, Confidence: Low, Why: why}, true
}
