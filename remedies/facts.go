package remedies

import (
	"fmt"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
)

// facts are what a guide's conditions may ask about an incident. A fact takes the word after its colon, and gives a
// clause that says why.
var facts = map[string]func(s *scene, word string) verdict{
	"backend": backend, "engine": engine, "launcher": launcher, "role": role, "framework": framework, "resource": resource,
	"since": since, "before": before,
	"dynamic_batch": dynamicBatch, "sleep_allocator": sleepAllocator, "engine_process": engineProcess,
	"fragmented": fragmented, "others": others, "co_tenant": coTenant, "oversized": oversized, "logits": logits,
	"kv_sizing": kvSizing, "kv_runtime": kvRuntime, "less_than_desired": lessThanDesired, "length_estimate": lengthEstimate,
	"saver_margin": saverMargin, "graph_capture": graphCapture, "sampler": sampler, "prefill": prefill, "decode": decoding,
	"ray_monitor": rayMonitor, "cgroup": cgroup, "data_workers": dataWorkers, "pin_memory": pinned, "nccl_shm": ncclSHM,
	"limit_below_card": limitBelowCard, "full_state": fullState, "moe": mixture,
	"moves_peak": movesPeak,
}

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
	return verdict{truthOf(s.resource == word), s.resource + " memory ran out"}
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
	if r.ReservedUnallocated == nil || r.Total == nil || *r.Total <= 0 {
		return verdict{}
	}
	u := *r.ReservedUnallocated
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
	if !s.inner(depth, "logits", "lm_head", "log_softmax", "logprobs", "log_probs", "logps", "cross_entropy", "entropy", "vocab_parallel", "logsumexp") {
		return verdict{no, "the stack does not end in the logits"}
	}
	why := "the request came from the logits, the tensor of tokens times vocabulary"
	if v := s.run.Model.VocabSize; v != nil {
		why += fmt.Sprintf(" (%d)", *v)
	}
	return verdict{yes, why}
}

// kvSizing says that an engine found no room for its cache when it started: it wants more, not less.
func kvSizing(s *scene, _ string) verdict {
	if s.in.Kind != parser.KVCache {
		return verdict{no, "no engine failed to size its cache"}
	}
	if lessThanDesired(s, "").truth == yes || kvRuntime(s, "").truth == yes {
		return verdict{no, "the cache was not too small at start-up"}
	}
	return verdict{yes, "the engine has too little room for its KV cache: a smaller share makes that worse"}
}

// kvRuntime says that a serving engine ran out of cache slots.
func kvRuntime(s *scene, _ string) verdict {
	if s.in.Kind != parser.KVCache {
		return verdict{no, "no cache ran full"}
	}
	on := s.says("prefill out of memory", "decode out of memory", "retracting all other requests", "max-running-requests`", "max_running_requests")
	return verdict{truthOf(on), "the cache of a serving engine ran full"}
}

// lessThanDesired is vLLM's check of free memory at start-up (vllm/v1/worker/gpu_worker.py).
func lessThanDesired(s *scene, _ string) verdict {
	if s.says("less than desired gpu memory utilization") {
		return verdict{yes, "the engine found less free memory at its start than it was told to take"}
	}
	return verdict{no, "no such message"}
}

func lengthEstimate(s *scene, _ string) verdict {
	return verdict{truthOf(estimatedLength.MatchString(s.words)), "the engine printed how long a sequence would fit"}
}

// saverMargin is torch_memory_saver's refusal: request plus margin exceed what is free (torch_memory_saver, csrc).
func saverMargin(s *scene, _ string) verdict {
	if s.says("memory_margin_bytes=") {
		return verdict{yes, "torch_memory_saver refused the request because of its margin"}
	}
	return verdict{no, "torch_memory_saver printed no refusal, so the margin is not what failed"}
}

func graphCapture(s *scene, _ string) verdict {
	if s.says("capture cuda graph", "cuda graph capture", "capturing cuda graph") || s.inner(40, "capture_model", "init_cuda_graphs", "init_device_graphs", "capture_one_batch_size", "capture_graph") {
		return verdict{yes, "it failed while CUDA graphs were captured"}
	}
	return verdict{}
}

func sampler(s *scene, _ string) verdict {
	if s.says("warming up sampler") || s.inner(6, "sampler", "top_k_top_p", "topk_topp", "_dummy_sampler_run") {
		return verdict{yes, "the sampler's buffers, which grow with the number of sequences, did not fit"}
	}
	return verdict{}
}

func prefill(s *scene, _ string) verdict {
	if s.says("prefill out of memory") || s.inner(40, "forward_extend", "prefill") {
		return verdict{yes, "it failed while prompts were processed"}
	}
	return verdict{}
}

func decoding(s *scene, _ string) verdict {
	if s.says("decode out of memory", "retracting all other requests") || s.inner(40, "forward_decode") {
		return verdict{yes, "it failed while tokens were generated"}
	}
	return verdict{}
}

func rayMonitor(s *scene, _ string) verdict {
	if s.says("memory pressure (oom)", "node running low on memory", "ray.exceptions.outofmemoryerror", "memory_usage_threshold", "memory usage threshold") {
		return verdict{yes, "Ray's memory monitor ended the worker"}
	}
	return verdict{no, "Ray's memory monitor said nothing"}
}

func cgroup(s *scene, _ string) verdict {
	if s.says("oom_kill event", "oom-kill", "memory cgroup", "cgroup out-of-memory", "out_of_memory", "out-of-memory handler") {
		return verdict{yes, "a memory limit of the job was reached"}
	}
	return verdict{}
}

func dataWorkers(s *scene, _ string) verdict {
	if s.phase == "data" || s.says("dataloader", "one of the subprocesses has abruptly died") {
		return verdict{yes, "it failed in data loading"}
	}
	return verdict{}
}

func pinned(s *scene, _ string) verdict {
	if s.says("pin_memory", "pinned", "cudahostalloc") {
		return verdict{yes, "pinned host memory was asked for"}
	}
	return verdict{}
}

func ncclSHM(s *scene, _ string) verdict {
	if s.in.Kind == parser.SHMExhausted && s.says("nccl") || s.says("error while creating shared memory segment", "error while attaching to shared memory segment") {
		return verdict{yes, "NCCL could not get a shared memory segment"}
	}
	return verdict{}
}

// limitBelowCard says that the request was refused although the card had room for it.
func limitBelowCard(s *scene, _ string) verdict {
	r := &s.in.Root
	if r.Requested == nil || r.Free == nil {
		return verdict{}
	}
	return verdict{truthOf(*r.Free >= *r.Requested), "the card had room for the request: a limit refused it"}
}

// fullState says that a checkpoint gathers the whole model in one place.
func fullState(s *scene, _ string) verdict {
	if s.phase == "checkpoint" || s.inner(40, "full_state_dict", "state_dict", "save_checkpoint", "gather_16bit") {
		return verdict{yes, "a checkpoint was being put together"}
	}
	return verdict{}
}

func mixture(s *scene, _ string) verdict {
	if n, ok := s.settings.integer("num_experts", "num_local_experts", "n_routed_experts"); ok {
		return verdict{truthOf(n > 1), "the model has experts"}
	}
	return verdict{}
}

// movesPeak is for settings that people change first and that do not help: AReaL's guides say so of the batch size, and
// the micro-batch decides in every trainer that accumulates gradients.
func movesPeak(*scene, string) verdict {
	return verdict{no, "micro-batches set the peak, not this"}
}
