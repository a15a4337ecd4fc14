package phase

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"oomscan/parser/lazyre"
	"oomscan/parser/traceback"
)

// method is the meaning of a remote method. Names that several frameworks use for different things are distinguished by the
// actor.
type method struct {
	names  []string
	globs  []string // patterns of names
	actors []string // parts of the actor's name, in lower case; empty: any actor
	phase  Phase
	by     strength
}

func m(names string, p Phase, by strength) method {
	whole, globs := splitNames(names)
	return method{names: whole, globs: globs, phase: p, by: by}
}

// of restricts a method to actors whose name contains one of these parts.
func (x method) of(actors string) method { x.actors = strings.Fields(actors); return x }

// engineActors are the processes of inference engines.
const engineActors = "httpserver engine llm vllm sglang rollout generation"

// methods are Ray method names and the methods of single controllers: verl 0.1 ... 0.9 (workers), AReaL (train
// controllers), slime and Relax (MegatronTrainRayActor, RolloutManager), OpenRLHF (ray actors), NeMo-RL (policy workers),
// RLinf (worker groups).
var methods = sync.OnceValue(func() []method {
	return []method{
		m("init_model init_model_from_pretrained init_workers init_worker_group initialize init_critic_model "+
			"init_worker_process_group init_engine create_model create_engine launch_server launch_servers build_* prime_optimizer_state", Init, decisive),
		m("__init__ init init_worker setup", Init, strong),
		// vLLM's workers.
		m("init_device load_model determine_num_available_blocks determine_available_memory initialize_cache initialize_from_config compile_or_warm_up_model", Init, decisive),
		m("start_worker_execution_loop", Rollout, strong), // while the engine serves

		m("resume_kv_cache onload_kv", Rollout, strong),
		m("update_weights* update_weight* upload_weights sync_rollout_weights sync_weights* sync_hf_weight "+
			"sync_model_to_* sync_model_from_* execute_checkpoint_engine "+
			"broadcast_to_vllm broadcast_to_inference_engines broadcast_weights* broadcast_parameter* init_weight_sync_state "+
			"pull_weights onload_weights post_process_weights begin_weight_update end_weight_update update_from_disk "+
			"setup_model_update start_model_update update_parameter_in_bucket load_lora_adapter_from_* save_weights_for_sampler stream_weights* recv_weight* refit_policy_generation "+
			"init_weights_update_group prepare_weights_for_ipc offload_before_refit offload_after_refit "+
			"prepare_for_generation set_actor_weights get_actor_weights_info async_update_weights "+
			"areal_update_weight* areal_set_weight_meta* areal_init_update_weight* awex_*weight* update_named_param receive_checkpoint_weights "+
			"send_checkpoint_weights init_checkpoint_process_group", WeightUpdate, decisive),
		m("wake_up wakeup sleep resume* release*", WeightUpdate, strong).of(engineActors + " workerdict"),
		m("rollout_mode trainer_mode", WeightUpdate, strong),
		m("wake_up onload reload_process_groups", Training, weak),

		m("compute_log_prob* compute_ref_log_prob* compute_old_log_prob* compute_logp compute_ref_logp get_logprobs "+
			"get_reference_policy_logprobs prepare_for_lp_inference infer_batch forward_only make_experience* "+
			"compute_actor_log_prob train_log_probs recompute_logp run_inference get_topk_logits get_full_logits_ipc", LogProb, decisive),
		m("compute_values compute_rm_score compute_rewards compute_reward_score get_values get_reward* forward_batch", LogProb, strong),
		m("forward execute_batch", LogProb, strong).of("modelactor modelrayactor model ref reward critic policy rayactor"),

		m("update_actor update_critic update_policy update_rm train_mini_batch train_batch train_lm train_rw train_dpo "+
			"ppo_update ppo_train forward_backward forward_backward_from_data training_step prepare_for_training train_step "+
			"run_training run_training_pipeline train_presharded", Training, decisive),
		m("optim_step optimizer_step optimizer_zero_grad", Optimizer, decisive),
		m("reload_states backload_to_gpu load_states", Training, weak),
		m("train async_train", Training, strong).of("policyworker policy_worker policy"),
		// In slime and Relax the log-probability passes run inside the same method.
		m("train async_train train_actor train_critic train_async train_hybrid fit", Training, weak).
			of("train actor critic policy trainer model"),

		m("generate_sequences* generate_samples* rollout_batch prepare_batch agenerate run_agent_loop "+
			"generate_rollout generate_one_epoch generate_request run_rollout_loop do_validate", Rollout, strong),
		m("generate* async_generate* add_requests* get_responses* eval chat_completion*", Rollout, strong).
			of(engineActors + " agentloop"),
		m("generate", Rollout, weak),

		m("evaluate_lm evaluate_rw evaluate_dpo val_step", Forward, strong),

		m("save_checkpoint load_checkpoint do_checkpoint save_hf_model save_merged_weights save_sampler_checkpoint finalize_pending_saves finalize_async_save save_model async_save_model save_ckpt load_ckpt _save_checkpoint _load_checkpoint",
			Checkpoint, decisive),
		m("save load", Checkpoint, weak),

		m("get_rollout_data data_preprocess", Data, weak),
	}
})

// dataTask matches tasks that only prepare data, such as Ray Data's operators.
var dataTask = lazyre.New(`(?i)^(?:map|flatmap|filter|mapbatches|read\w+|split\w*|write\w+|aggregate\w*|shuffle\w*)(?:\(|->|$)` +
	`|^mapworker|tokeni[sz]e|preprocess|read_parquet|load_data|_dataset`)

// roles are the prefixes that verl puts before a method when workers share a process, the longest first.
var roles = []string{
	"actor_rollout_ref_", "actor_rollout_", "actor_", "rollout_", "ref_", "critic_", "rm_", "reward_", "teacher_",
	"async_", "fit_", "_",
}

// FromMethod finds the phase from the remote method that was running, as Ray names it in `ray::Actor.method()`. The
// actor may be empty, or the method may carry it. Methods that run through several phases give a hint or nothing.
func FromMethod(actor, name string) (Verdict, bool) {
	actor, name = head(actor, maxCode), strings.TrimSuffix(head(name, maxCode), "()")
	name = strings.TrimPrefix(name, "ray::")
	if i := strings.LastIndexByte(name, '.'); i >= 0 && i+1 < len(name) && actor == "" {
		actor, name = name[:i], name[i+1:]
	}
	who := strings.ToLower(actor)
	for bare := range spellings(name) {
		for i, methods := 0, methods(); i < len(methods); i++ {
			if x := &methods[i]; x.fits(who, bare) {
				return Verdict{
					Phase: x.phase, Confidence: x.by.confidence(),
					Why: fmt.Sprintf("The pending remote method %s means %s.", quote(actor, name), means(x.phase)),
				}, true
			}
		}
	}
	if dataTask().MatchString(name) || dataTask().MatchString(actor) {
		return Verdict{Data, Low, fmt.Sprintf("The pending remote task %s is named after %s.", quote(actor, name), means(Data)), nil}, true
	}
	return Verdict{Phase: Unknown, Confidence: Low}, false
}

// spellings yields a method name as written, then without its prefixes, one by one.
func spellings(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for range 4 {
			if name == "" || !yield(name) {
				return
			}
			before := name
			for _, p := range roles {
				if rest, ok := strings.CutPrefix(name, p); ok {
					name = rest
					break
				}
			}
			if name == before {
				return
			}
		}
	}
}

func (x *method) fits(actor, name string) bool {
	ours := len(x.actors) == 0 || slices.ContainsFunc(x.actors, func(a string) bool { return strings.Contains(actor, a) })
	return ours && named(name, x.names, x.globs)
}

func quote(actor, name string) string {
	if actor == "" {
		return "`" + show(name) + "`"
	}
	return "`" + show(actor) + "." + show(name) + "`"
}

var (
	// called finds `receiver.method(` and `receiver.method.remote(`.
	called = lazyre.New(`(\w+)\.(\w+)(?:\.remote)?\(`)
	// byName finds the method that a driver passes by name: `method_name="broadcast_to_vllm"`.
	byName = lazyre.New(`(?:method_name\s*=\s*|run_method\w*\(\s*|execute_all\w*\(\s*|collective_rpc\(\s*)["'](\w+)["']`)
)

// FromDriver finds the phase from the driver's own stack, outermost frame first: the driver waits in a call such as
// `self.actor_rollout_wg.update_actor(batch)`, and its quoted line names the method. The innermost line that names a
// known method decides; confidence is at most medium, because several calls may have been pending.
func FromDriver(frames []traceback.Frame) (Verdict, bool) {
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		at := locate(f)
		v, ok := pending(&at)
		if !ok {
			continue
		}
		v.Frame = f
		v.Why = fmt.Sprintf("The driver was waiting in the line `%s` of %s, which means %s.",
			show(f.Code), shortPath(f.File), means(v.Phase))
		if v.Confidence == High {
			v.Confidence = Medium
		}
		return v, true
	}
	return Verdict{Phase: Unknown, Confidence: Low}, false
}

// pending reads the calls of a quoted line from the last to the first: the innermost is written last.
func pending(at *location) (Verdict, bool) {
	if n := byName().FindStringSubmatch(at.code); n != nil {
		if v, ok := FromMethod("modelactor", n[1]); ok {
			return v, true
		}
	}
	calls := called().FindAllStringSubmatch(at.code, 16)
	for i := len(calls) - 1; i >= 0; i-- {
		receiver, name := calls[i][1], calls[i][2]
		if v, ok := FromMethod(receiver, name); ok && !common(receiver, name) {
			return v, true
		}
	}
	return Verdict{}, false
}

// common filters calls of plain Python that share a name with a remote method.
func common(receiver, name string) bool {
	switch name {
	case "init", "setup", "load", "save", "resume", "release", "__init__", "sleep", "forward",
		"get", "wait", "put", "remote":
		return true
	}
	return receiver == "ray" || receiver == "np" || receiver == "torch" || receiver == "json" || receiver == "time"
}
