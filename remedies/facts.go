package remedies

import (
	"fmt"
	"strings"
	"sync"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// facts are what a guide's conditions may ask about an incident. A fact takes the word after its colon, and gives a
// clause that says why.
var facts = sync.OnceValue(func() map[string]func(s *scene, word string) verdict {
	return map[string]func(s *scene, word string) verdict{
		"backend": backend, "engine": engine, "launcher": launcher, "role": role, "framework": framework, "resource": resource, "phase": phaseIs,
		"since": since, "before": before,
		"dynamic_batch": dynamicBatch, "sleep_allocator": sleepAllocator, "engine_process": engineProcess,
		"fragmented": fragmented, "others": others, "co_tenant": coTenant, "shares_card": sharesCard, "stray": stray, "oversized": oversized, "logits": logits,
		"kv_sizing": kvSizing, "kv_runtime": kvRuntime, "less_than_desired": lessThanDesired, "length_estimate": lengthEstimate,
		"saver_margin": saverMargin, "before_cache": beforeCache, "graph_capture": graphCapture, "sampler": sampler, "prefill": prefill, "decode": decoding,
		"ray_monitor": rayMonitor, "evicted": evicted, "cgroup": cgroup, "data_workers": dataWorkers, "pin_memory": pinned, "nccl_shm": ncclSHM,
		"limit_below_card": limitBelowCard, "full_state": fullState, "moe": mixture,
		"moves_peak": movesPeak, "npu": onNPU, "evaluating": evaluating,
		"told": isTold, "tpu": onTPU, "profile_run": profileRun, "serving": serving, "outside_pool": outsidePool, "full_scores": fullScores, "long_sequence": longSequence, "batch_untold": batchUntold,
	}
})

// named compares a word that may be unknown.
func named(have, want, what string) verdict {
	if have == "" {
		return verdict{}
	}
	return verdict{truthOf(have == want), fmt.Sprintf("the %s is %s", what, have)}
}

func backend(s *scene, word string) verdict {
	have := strings.ToLower(s.run.Backend)
	if have == "" {
		switch s.run.Framework {
		case "megatron", "deepspeed":
			have = s.run.Framework
		}
	}
	v := named(have, word, "backend")
	if word == "fsdp" && (have == "fsdp2" || have == "fsdp") {
		v.truth = yes
	}
	return v
}

func engine(s *scene, word string) verdict {
	return named(strings.ToLower(s.run.Engine), word, "engine")
}
func launcher(s *scene, word string) verdict  { return named(s.run.Launcher, word, "launcher") }
func framework(s *scene, word string) verdict { return named(s.run.Framework, word, "framework") }

func resource(s *scene, word string) verdict {
	return verdict{truthOf(s.resource == word), resourceNames([]string{s.resource}) + " memory ran out"}
}

func phaseIs(s *scene, word string) verdict {
	return verdict{truthOf(s.phase == word), "it failed in " + words([]string{s.phase})}
}

// since and before compare the framework's release with a word such as 0.6.
func since(s *scene, word string) verdict {
	in, ok := versionIn(s.run.FrameworkVersion, ">="+word)
	if !ok {
		return verdict{}
	}
	return verdict{truthOf(in), fmt.Sprintf("this run uses %s %s", s.run.Framework, s.run.FrameworkVersion)}
}

func before(s *scene, word string) verdict {
	v := since(s, word)
	v.truth = -v.truth
	return v
}

// role tells whose pass failed where several models share a worker: actor, critic, ref or reward.
func role(s *scene, word string) verdict {
	have := ""
	if t := s.in.Root.Trace; t != nil {
		for c, n := t, 0; c != nil && n < 4 && have == ""; c, n = c.Cause, n+1 {
			if c.Origin != nil {
				have = roleOf(c.Origin.Method)
			}
			for i := 0; i < len(c.Frames) && have == ""; i++ {
				have = roleOf(c.Frames[i].Func)
			}
		}
	}
	return named(have, word, "failing model")
}

func roleOf(name string) string {
	n := strings.ToLower(name)
	switch {
	case strings.Contains(n, "update_critic"), strings.Contains(n, "compute_values"), strings.Contains(n, "critic_"):
		return "critic"
	case strings.Contains(n, "ref_log_prob"):
		return "ref"
	case strings.Contains(n, "compute_rm_score"):
		return "reward"
	case strings.Contains(n, "update_actor"), strings.Contains(n, "update_policy"), strings.Contains(n, "compute_log_prob"), strings.Contains(n, "train_actor"):
		return "actor"
	}
	return ""
}

func dynamicBatch(s *scene, _ string) verdict {
	for _, k := range []string{
		"actor_rollout_ref.actor.use_dynamic_bsz", "use_dynamic_batch_size", "use_dynamic_batch", "train.dynamic_batch_enable",
		"policy.dynamic_batching.enabled",
	} {
		if f, ok := s.settings.find(k, true); ok {
			if on, ok := parseBool(f.value.Value); ok {
				return verdict{truthOf(on), fmt.Sprintf("%s is %s", f.key, f.value.Value)}
			}
		}
	}
	return verdict{}
}

// sleepAllocator says that the failing process holds an allocator that takes its own pool of virtual memory: vLLM's
// sleep mode, which asserts that expandable segments are off (vllm/device_allocator/cumem.py), or torch_memory_saver.
func sleepAllocator(s *scene, _ string) verdict {
	on := func(keys ...string) (string, truth) {
		for _, k := range keys {
			if f, ok := s.settings.find(k, true); ok {
				if b, ok := parseBool(f.value.Value); ok {
					return f.key, truthOf(b)
				}
			}
		}
		return "", unknown
	}
	inEngine := engineProcess(s, "").truth
	switch s.run.Framework {
	case "verl":
		key, t := on("actor_rollout_ref.rollout.free_cache_engine")
		if t == no {
			return verdict{no, key + " is off"}
		}
		if s.run.Engine == "sglang" && inEngine != yes {
			return verdict{no, "SGLang runs in processes of its own"}
		}
		// Since 0.7 the engine's workers are processes of their own.
		if in, ok := versionIn(s.run.FrameworkVersion, ">=0.7"); ok && in && inEngine != yes {
			return verdict{no, "since verl 0.7 the engine runs in processes of its own"}
		}
		if s.run.Engine == "vllm" && (t == yes || key == "") {
			if t == unknown {
				return verdict{}
			}
			return verdict{yes, "vLLM's sleep mode is on (" + key + ")"}
		}
	case "relax", "slime":
		if key, t := on("offload_train"); t != unknown && inEngine != yes {
			return verdict{t, fmt.Sprintf("%s is %s: torch_memory_saver holds the trainer's memory only when it is on", key, map[truth]string{yes: "on", no: "off"}[t])}
		}
	case "areal":
		if key, t := on("enable_offload"); t != unknown {
			return verdict{t, key + " decides whether torch_memory_saver is loaded"}
		}
	case "trl", "openrlhf":
		if key, t := on("vllm_enable_sleep_mode", "vllm_enable_sleep", "vllm.enable_sleep"); t == yes && (s.run.Framework == "trl" || inEngine == yes) {
			return verdict{yes, key + " is on"}
		}
	}
	if key, t := on("enable_memory_saver", "enable_sleep_mode"); t == yes && inEngine == yes {
		return verdict{yes, key + " is on"}
	}
	if s.says("torch_memory_saver", "cumem_allocator") {
		return verdict{yes, "the failing allocation went through a sleep-mode allocator"}
	}
	return verdict{}
}

// engineProcess says that an inference engine's own process failed.
func engineProcess(s *scene, _ string) verdict {
	p := strings.ToLower(s.in.Root.Process)
	for _, w := range []string{"enginecore", "sglang", "vllm", "llmrayactor", "scheduler", "rolloutrayactor"} {
		if strings.Contains(p, w) {
			return verdict{yes, "the engine's process " + s.in.Root.Process + " failed"}
		}
	}
	if s.run.Framework == "vllm" || s.run.Framework == "sglang" {
		return verdict{yes, "the program is an inference engine"}
	}
	if t := s.in.Root.Trace; t != nil && len(t.Frames) > 0 {
		for i := max(0, len(t.Frames)-12); i < len(t.Frames); i++ {
			f := t.Frames[i].File
			if strings.Contains(f, "/vllm/") || strings.Contains(f, "/sglang/") {
				return verdict{yes, "the stack ends inside the inference engine"}
			}
		}
		return verdict{no, "the stack does not end inside an inference engine"}
	}
	return verdict{}
}

// fragmented says that what PyTorch holds without using it would have covered what was missing, and that it is more
// than the slack every allocator has (5 % of the card).
func fragmented(s *scene, _ string) verdict {
	r := &s.in.Root
	short, ok := s.shortfall()
	if r.Total == nil || *r.Total <= 0 {
		return verdict{}
	}
	u := int64(0)
	switch {
	case r.ReservedUnallocated != nil:
		u = *r.ReservedUnallocated
	case r.Reserved != nil && r.Allocated != nil && *r.Reserved >= *r.Allocated:
		u = *r.Reserved - *r.Allocated // messages before PyTorch 2.1 print the sum
	default:
		return verdict{}
	}
	if !ok {
		if r.Requested != nil && r.Free != nil { // free memory covered the request
			return verdict{no, "free memory covered the request"}
		}
		return verdict{}
	}
	why := fmt.Sprintf("PyTorch held %s without using it, and %s were missing", classifier.GiB(u), classifier.GiB(short))
	if u < short || u < *r.Total/20 {
		return verdict{no, why + ": no sign of fragmentation"}
	}
	return verdict{yes, why}
}

// others says that other processes hold at least what was missing, and more than the CUDA contexts that any
// neighbour leaves there.
func others(s *scene, _ string) verdict {
	const context = 1 << 30
	r := &s.in.Root
	if lessThanDesired(s, "").truth == yes {
		return verdict{yes, "the engine found less free memory at its start than it was told to take"}
	}
	if r.OtherProcesses == nil {
		if r.ProcessBytes != nil && r.Total != nil && r.Free != nil {
			return verdict{no, "the message lists no other process on this card"}
		}
		return verdict{}
	}
	if r.ProcessBytes == nil {
		return verdict{} // inside a container PyTorch may list itself among the others, under a pid nobody knows
	}
	o := *r.OtherProcesses
	short, ok := s.shortfall()
	why := fmt.Sprintf("other processes hold %s of this card", classifier.GiB(o))
	if ok {
		why += fmt.Sprintf(", and %s were missing", classifier.GiB(short))
	}
	return verdict{truthOf(o > context && (!ok || o >= short)), why}
}

// coTenant is others where the neighbour is expected: a framework that puts trainer and engine on one card.
func coTenant(s *scene, _ string) verdict {
	v := others(s, "")
	switch s.run.Framework {
	case "verl", "relax", "slime", "trl", "openrlhf", "nemo_rl":
		return v
	}
	return verdict{no, "this framework does not share a card between trainer and engine"}
}

// stray says that a process which has no business there holds so much of a trainer's card that nothing else matters: more
// than was asked for, and more than the contexts that a job's own ranks leave on each other's cards.
func stray(s *scene, _ string) verdict {
	switch s.run.Framework {
	case "torch", "deepspeed", "megatron", "areal", "unknown", "":
	default:
		return verdict{no, "trainer and engine may share the card"}
	}
	r := &s.in.Root
	v := others(s, "")
	if v.truth != yes || r.OtherProcesses == nil || r.Requested == nil || r.Total == nil || lessThanDesired(s, "").truth == yes {
		return verdict{no, "no other process holds what was missing"}
	}
	if o := *r.OtherProcesses; o < *r.Requested || o < *r.Total/10 {
		return verdict{no, "other processes hold too little to matter"}
	}
	return verdict{yes, "another process holds the card: " + v.why}
}

// sharesCard says that trainer and inference engine live on the same GPUs: verl's trainers do unless they are the
// asynchronous ones, the others when their settings say so.
func sharesCard(s *scene, _ string) verdict {
	together := verdict{yes, "trainer and engine share the card in this run"}
	switch s.run.Framework {
	case "verl":
		if s.inner(200, "fully_async", "one_step_off") || strings.Contains(strings.ToLower(s.in.Root.Process), "detach") {
			return verdict{no, "trainer and engine have GPUs of their own"}
		}
		for _, k := range []string{"async_training", "rollout.n_gpus_per_node"} {
			if f, ok := s.settings.find(k, false); ok && f.rank == exact {
				return verdict{no, "trainer and engine have GPUs of their own"}
			}
		}
		if e := s.run.Engine; e == "vllm" || e == "sglang" {
			return together
		}
	case "trl":
		return s.compare(condition{key: "vllm_mode", op: "=", value: "colocate"})
	case "slime", "relax", "openrlhf", "nemo_rl":
		for _, k := range []string{"colocate", "colocate_all_models", "train.colocate_all", "policy.generation.colocated.enabled"} {
			if f, ok := s.settings.find(k, true); ok {
				if on, ok := parseBool(f.value.Value); ok && on {
					return together
				} else if ok {
					return verdict{no, f.key + " is " + f.value.Value}
				}
			}
		}
	}
	return verdict{}
}

// oversized says that the request alone exceeds the card.
func oversized(s *scene, _ string) verdict {
	r := &s.in.Root
	if r.Requested == nil || r.Total == nil {
		return verdict{}
	}
	return verdict{
		truthOf(*r.Requested > *r.Total),
		fmt.Sprintf("%s were asked for on a card of %s: what only frees memory cannot help", classifier.GiB(*r.Requested), classifier.GiB(*r.Total)),
	}
}

// logits says that a tensor of tokens times vocabulary failed: the head, a softmax, a loss or an entropy over it.
func logits(s *scene, _ string) verdict {
	if s.in.Root.Trace == nil {
		return verdict{}
	}
	const depth = 8
	switch at, _ := s.place(); at {
	case memory.Elsewhere, memory.Unnamed, memory.Logits:
	default:
		return verdict{no, "the stack does not end in the logits"}
	}
	if !s.inner(depth, "logits", "lm_head", "log_softmax", "logprobs", "log_probs", "logps", "cross_entropy", "entropy", "vocab_parallel", "logsumexp") {
		return verdict{no, "the stack does not end in the logits"}
	}
	why := "the request came from the logits, the tensor of tokens times vocabulary"
	if v := s.model().Vocab; v.Value > 0 {
		why += fmt.Sprintf(" (%s)", v)
	}
	return verdict{yes, why}
}

// isTold says that the log tells the value of a setting.
func isTold(s *scene, word string) verdict {
	f, ok := s.settings.find(word, true)
	if !ok || isNone(f.value.Value) {
		return verdict{no, word + " is not told"}
	}
	return verdict{yes, fmt.Sprintf("%s is %s", f.key, shown(f.value.Value))}
}

// limitBelowCard says that the request was refused although the card had room for it.
func limitBelowCard(s *scene, _ string) verdict {
	r := &s.in.Root
	if r.Requested == nil || r.Free == nil {
		return verdict{}
	}
	return verdict{truthOf(*r.Free >= *r.Requested), "the card had room for the request: a limit refused it"}
}
