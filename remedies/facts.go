package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/traceback"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// fact is what a guide's conditions may ask about an incident.
type fact struct {
	words, negated string // what it means where no run is known that could be asked; %s is the fact's word
	ask            func(ctx *Context, word string) verdict
}

// facts are all facts by their names. Those with %s in their words take a word behind a colon.
var facts map[string]fact

func init() { // facts ask conditions, and these ask facts: a variable's value may not refer to itself
	facts = map[string]fact{
		"backend":  {"the %s backend", "a backend other than %s", backend},
		"engine":   {"the %s engine", "an engine other than %s", func(ctx *Context, w string) verdict { return named(strings.ToLower(ctx.run.Engine), w, "engine") }},
		"launcher": {"started by %s", "not started by %s", launcher},
		"framework": {"the %s framework", "a framework other than %s", func(ctx *Context, w string) verdict {
			if ctx.run.Application == w {
				return verdict{yes, "the program is " + programOf(ctx.run).Name}
			}
			return named(ctx.run.Framework, w, "framework")
		}},
		"role": {"the %s fails", "not when only the %s fails", role},
		"resource": {"%s memory ran out", "not %s memory", func(ctx *Context, w string) verdict {
			return verdict{truthOf(ctx.resource == w), resourceNames([]string{ctx.resource}) + " memory ran out"}
		}},
		"phase": {"it failed in %s", "it did not fail in %s", func(ctx *Context, w string) verdict {
			return verdict{truthOf(ctx.phase == w), "it failed in " + phaseNames([]string{ctx.phase})}
		}},
		"since":  {"version %s or later", "a version before %s", since},
		"before": {"a version before %s", "version %s or later", func(ctx *Context, w string) verdict { v := since(ctx, w); return verdict{-v.truth, v.why} }},
		"pattern": {"the log has the message %s", "the log does not have the message %s", func(ctx *Context, w string) verdict {
			return verdict{truthOf(ctx.recognised(w)), "the log has the message " + w}
		}},
		"names": {"the failure names %s", "the failure does not name %s", func(ctx *Context, w string) verdict {
			return verdict{truthOf(ctx.messageContains(w)), "the failure names " + w}
		}},
		"set": {"%s is set", "%s is not set", isSet},

		"dynamic_batch":   {"micro-batches cut by tokens (dynamic batch size)", "micro-batches of a fixed number of samples", dynamicBatch},
		"other_allocator": {"an allocator other than PyTorch's", "PyTorch's allocator", otherAllocator},
		"fixed_segments":  {"PyTorch's segments cannot grow, or grow already", "PyTorch's segments can grow", fixedSegments},
		"fixed_allocator": {"PyTorch's allocator takes no settings", "PyTorch's allocator takes settings", fixedAllocator.ask},
		"unsharded":       {"every GPU holds the whole model", "the model is split over the GPUs", unsharded},
		"offload_file":    {"a DeepSpeed configuration that offloads, by its name", "no DeepSpeed configuration that offloads, by its name", offloadFile},
		"zero3":           {"ZeRO stage 3", "a ZeRO stage below 3", zero3},
		"loading_weights": {"a trainer's weights were being read or moved to the card", "not while a trainer's weights were read", loadingWeights.ask},
		"weights_loaded":  {"the engine failed after its weights were loaded", "the engine failed while it loaded its weights", weightsLoaded},
		"data_parallel":   {"one process works with several GPUs (DataParallel)", "one process for each GPU", dataParallel},
		"vision":          {"it failed in a vision tower, or in a run that measures one", "not in a vision tower", vision},
		"foreach_step":    {"the optimizer works on all parameters at once", "the optimizer works on one parameter at a time", foreachStep.ask},
		"in_no_grad":      {"gradients are off already", "gradients are on", inNoGrad},
		"growing": {"what is allocated grows from step to step", "what is allocated does not grow", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(len(ctx.run.Growth) > 0), "what is in use grows from reading to reading"}
		}},
		"jax_pool": {"JAX took a pool on the same card", "no pool of JAX on the card", func(ctx *Context, _ string) verdict { return read(ctx, "xla.pool", "JAX took a pool on the card") }},
		"prompt_cache": {"finished prompts are kept in host memory", "no prompts are kept in host memory", func(ctx *Context, _ string) verdict {
			return read(ctx, "ggml.prompt_cache", "finished prompts are kept in host memory")
		}},
		"picture": {"it failed while a picture was encoded", "no picture was encoded", func(ctx *Context, _ string) verdict {
			return read(ctx, "ggml.image", "it failed while a picture was encoded")
		}},
		"sixteen_bits":     {"the weights are loaded in 16 bits", "the weights are not known to be loaded in 16 bits", sixteenBits},
		"moved_whole":      {"a whole model is moved to one card", "no whole model is moved to one card", movedWhole},
		"recompute_switch": {"the model has a switch for recomputation", "no such switch is known", hasSwitch},
		"vae":              {"it failed in the VAE", "not in the VAE", vae.ask},
		"sleep_allocator":  {"an engine that sleeps by cuMem", "no engine that sleeps by cuMem: it cannot do with expandable segments", sleepAllocator},
		"engine_process":   {"the engine's own process fails", "the trainer's process fails, not the engine's", engineProcess},
		"fragmented":       {"reserved but unallocated memory would cover what was missing", "memory that is not fragmented", fragmented},
		"others":           {"other processes on the card", "no other process on the card", others},
		"co_tenant":        {"an engine or another process shares the card", "nobody else on the card", coTenant},
		"shares_card":      {"trainer and engine share the card", "trainer and engine have cards of their own", sharesCard},
		"stray":            {"a stray process holds memory of the card", "not when a stray process holds the card", stray},
		"oversized":        {"a request larger than the card", "a request that the card could hold", oversized},
		"logits":           {"the request is that of the logits", "a request other than that of the logits", logits},
		"full_scores":      {"attention builds its scores in full", "attention does not build its scores in full", fullScores},
		"limit_below_card": {"a limit below the card's size is set for the process", "no limit below the card's size", limitBelowCard},
		"moe":              {"a model with experts", "a model without experts", experts},
		"batch_unknown":    {"it failed in a training step of a batch whose size is not told", "the batch size is told", batchUnknown},
		"moves_peak":       {"never a lever: micro-batches set the peak, not this", "micro-batches set the peak", movesPeak},

		"kv_sizing":         {"the engine found no room for its KV cache at start-up", "not when the engine found no room for its KV cache: that wants more", kvSizing},
		"kv_runtime":        {"a serving engine's cache was full", "not when a serving engine's cache was full", kvRuntime},
		"less_than_desired": {"less memory was free than the engine was told to take", "not when less memory was free than the engine was told to take", lessThanDesired.ask},
		"length_estimate":   {"the engine printed how long a sequence would fit", "the engine printed no length that would fit", lengthEstimate},
		"long_sequence":     {"one sequence of the planned length does not fit into the cache", "one sequence of the planned length fits into the cache", longSequence},
		"saver_margin":      {"torch_memory_saver refused the request because of its margin", "not when torch_memory_saver refused the request because of its margin", saverMargin.ask},
		"before_cache":      {"an engine failed before it took memory for its cache", "not when an engine failed before it took memory for its cache", beforeCache},
		"profile_run":       {"an engine failed in the run that measures its activations", "not in an engine's profiling run", profileRun},
		"chunked_profile":   {"the profiling run does not depend on the longest sequence", "the profiling run has sequences of the greatest length", chunkedProfile},
		"serving":           {"an engine ran out while it served", "not while an engine served", serving},
		"graph_capture":     {"it failed while CUDA graphs were captured", "not while CUDA graphs were captured", graphCapture.ask},
		"sampler":           {"the sampler's buffers did not fit", "not in the sampler", sampler.ask},
		"prefill":           {"it failed while prompts were processed", "not while prompts were processed", prefill.ask},
		"decode":            {"it failed while tokens were generated", "not while tokens were generated", decode.ask},
		"outside_pool":      {"what failed allocates outside of the pool that JAX reserves", "the pool that JAX reserves ran out", outsidePool},
		"npu":               {"an Ascend NPU", "not on an Ascend NPU", npu.ask},
		"tpu":               {"a TPU", "not on a TPU", tpu.ask},
		"evaluating":        {"it failed in an evaluation", "not in an evaluation", evaluating},
		"joined_evaluation": {"an evaluation kept the logits of all its batches", "not where an evaluation keeps the logits of all its batches", joinedEvaluation.ask},

		"ray_monitor":  {"Ray's memory monitor ended a worker", "not when Ray's memory monitor ended the worker", rayMonitor.ask},
		"evicted":      {"the kubelet evicted the pod", "not when the kubelet evicted the pod", evicted.ask},
		"node_full":    {"the machine itself was full", "a limit was reached, the machine was not full", nodeFull},
		"cgroup":       {"a memory limit of the job was reached", "no memory limit of the job was reached", cgroup},
		"data_workers": {"it failed in data loading", "not in data loading", dataWorkers},
		"object_store": {"Ray's object store is full", "Ray's object store is not full", objectStore.ask},
		"pin_memory":   {"pinned host memory was requested", "no pinned host memory was requested", pinned.ask},
		"nccl_shm":     {"NCCL could not get a shared memory segment", "not NCCL's shared memory", ncclSegment.ask},
		"full_state":   {"a checkpoint was being gathered", "no checkpoint was being put together", fullState},
	}
}

// factsOf asks the facts that take no word.
func factsOf(ctx *Context) map[string]verdict {
	out := make(map[string]verdict, len(facts))
	for name, f := range facts {
		if !strings.Contains(f.words, "%s") {
			out[name] = f.ask(ctx, "")
		}
	}
	return out
}

// named compares a word that may be unknown.
func named(have, want, what string) verdict {
	if have == "" {
		return verdict{}
	}
	return verdict{truthOf(have == want), fmt.Sprintf("the %s is %s", what, have)}
}

// passesThrough says that the failing stack passes through a file whose path has one of the parts.
func (ctx *Context) passesThrough(parts ...string) bool {
	t := ctx.root.Trace
	return t != nil && slices.ContainsFunc(t.Frames, func(f traceback.Frame) bool { return containsAny(slashed(f.File), parts) })
}

// launcher says who started the job. A scheduler behind Ray or torchrun counts, too.
func launcher(ctx *Context, word string) verdict {
	if ctx.run.Scheduler == word {
		return verdict{yes, "the job runs under " + word}
	}
	return named(ctx.run.Launcher, word, "launcher")
}

func backend(ctx *Context, word string) verdict {
	have := strings.ToLower(ctx.run.Backend)
	if f := ctx.run.Framework; have == "" && (f == "megatron" || f == "deepspeed") {
		have = f
	}
	v := named(have, word, "backend")
	if word == "fsdp" && (have == "fsdp2" || have == "fsdp") {
		v.truth = yes
	}
	return v
}

// since compares the framework's release with a word such as 0.6.
func since(ctx *Context, word string) verdict {
	in, ok := versionIn(ctx.run.FrameworkVersion, ">="+word)
	if !ok {
		return verdict{}
	}
	return verdict{truthOf(in), fmt.Sprintf("this run uses %s %s", ctx.run.Framework, ctx.run.FrameworkVersion)}
}

// role says whose pass failed where several models share a worker: actor, critic, ref or reward.
func role(ctx *Context, word string) verdict {
	have := ""
	for t, n := ctx.root.Trace, 0; t != nil && n < 4 && have == ""; t, n = t.Cause, n+1 {
		if t.Origin != nil {
			have = roleOf(t.Origin.Method)
		}
		for i := 0; i < len(t.Frames) && have == ""; i++ {
			have = roleOf(t.Frames[i].Func)
		}
	}
	return named(have, word, "failing model")
}

// roles are the models of a worker and parts of the functions that only they run. The first that fits tells.
var roles = []struct {
	name      string
	functions []string
}{
	{"critic", []string{"update_critic", "compute_values", "critic_"}},
	{"ref", []string{"ref_log_prob"}},
	{"reward", []string{"compute_rm_score"}},
	{"actor", []string{"update_actor", "update_policy", "compute_log_prob", "train_actor"}},
}

func roleOf(function string) string {
	function = strings.ToLower(function)
	for _, r := range roles {
		if containsAny(function, r.functions) {
			return r.name
		}
	}
	return ""
}

// isSet says that the log has the value of a setting.
func isSet(ctx *Context, word string) verdict {
	f, ok := ctx.settings.find(word, true)
	if !ok || isNone(f.value.Value) {
		return verdict{no, word + " is not told"}
	}
	return verdict{yes, fmt.Sprintf("%s is %s", f.key, shown(f.value.Value))}
}

func dynamicBatch(ctx *Context, _ string) verdict {
	f, t := ctx.settings.flag("actor_rollout_ref.actor.use_dynamic_bsz", "data.use_dynamic_bsz", "use_dynamic_batch_size", "use_dynamic_batch", "train.dynamic_batch_enable", "policy.dynamic_batching.enabled")
	if t == unknown {
		return verdict{}
	}
	return verdict{t, fmt.Sprintf("%s is %s", f.key, f.value.Value)}
}

// sleepAllocator says that the failing process holds an allocator that takes its own pool of virtual memory: vLLM's
// sleep mode, which asserts that expandable segments are off (vllm/device_allocator/cumem.py), or torch_memory_saver.
func sleepAllocator(ctx *Context, _ string) verdict {
	inEngine := ctx.is("engine_process")
	switch ctx.run.Framework {
	case "verl":
		f, t := ctx.settings.flag("actor_rollout_ref.rollout.free_cache_engine")
		in, known := versionIn(ctx.run.FrameworkVersion, ">=0.7")
		switch {
		case t == no:
			return verdict{no, f.key + " is off"}
		case ctx.run.Engine == "sglang" && !inEngine:
			return verdict{no, "SGLang runs in processes of its own"}
		case known && in && !inEngine:
			return verdict{no, "since verl 0.7 the engine runs in processes of its own"}
		case ctx.run.Engine == "vllm" && t == unknown:
			return verdict{}
		case ctx.run.Engine == "vllm":
			return verdict{yes, "vLLM's sleep mode is on (" + f.key + ")"}
		}
	case "relax", "slime":
		if f, t := ctx.settings.flag("offload_train"); t != unknown && !inEngine {
			return verdict{t, fmt.Sprintf("%s is %s: torch_memory_saver holds the trainer's memory only when it is on", f.key, map[truth]string{yes: "on", no: "off"}[t])}
		}
	case "areal":
		if f, t := ctx.settings.flag("enable_offload"); t != unknown {
			return verdict{t, f.key + " decides whether torch_memory_saver is loaded"}
		}
	case "trl", "openrlhf":
		if f, t := ctx.settings.flag("vllm_enable_sleep_mode", "vllm_enable_sleep", "vllm.enable_sleep"); t == yes && (ctx.run.Framework == "trl" || inEngine) {
			return verdict{yes, f.key + " is on"}
		}
	}
	if f, t := ctx.settings.flag("enable_memory_saver", "enable_sleep_mode"); t == yes && inEngine {
		return verdict{yes, f.key + " is on"}
	}
	return inSleepAllocator.ask(ctx, "")
}

// engineProcess says that an inference engine's own process failed.
func engineProcess(ctx *Context, _ string) verdict {
	if containsAny(strings.ToLower(ctx.root.Process), []string{"enginecore", "sglang", "vllm", "llmrayactor", "scheduler", "rolloutrayactor"}) {
		return verdict{yes, "the engine's process " + ctx.root.Process + " failed"}
	}
	if isServer(programOf(ctx.run).ID) {
		return verdict{yes, "the program is an inference engine"}
	}
	t := ctx.root.Trace
	if t == nil || len(t.Frames) == 0 {
		return verdict{}
	}
	for i := max(0, len(t.Frames)-12); i < len(t.Frames); i++ {
		if containsAny(t.Frames[i].File, []string{"/vllm/", "/sglang/"}) {
			return verdict{yes, "the stack ends inside the inference engine"}
		}
	}
	return verdict{no, "the stack does not end inside an inference engine"}
}

// fragmented says that what PyTorch holds without using it would have covered what was missing, and that it is more
// than the slack every allocator has.
func fragmented(ctx *Context, _ string) verdict {
	r := ctx.root
	in := &cause.Input{Requested: r.Requested, Total: r.Total, Free: r.Free, Idle: idleReserve(ctx), Shortfall: pointer(ctx.shortfall())}
	if in.Idle == nil || in.Total == nil || *in.Total <= 0 || in.Shortfall == nil && (in.Requested == nil || in.Free == nil) {
		return verdict{}
	}
	if why := cause.Fragmented(in); why != "" {
		return verdict{yes, why}
	}
	if in.Shortfall == nil {
		return verdict{no, "free memory covered the request"}
	}
	return verdict{no, fmt.Sprintf("PyTorch held %s without using it, and %s was missing: no sign of fragmentation", classifier.GiB(*in.Idle), classifier.GiB(*in.Shortfall))}
}

// foreign are beginnings of the names of messages whose allocators are not PyTorch's.
var foreign = []string{"ggml.", "ollama.", "paddle.", "xla.", "tf.", "tensorrt.", "trtllm.", "rmm.", "cupy.", "onnxruntime."}

// otherAllocator says that the memory which ran out is not PyTorch's: the program has an allocator of its own, or the message
// is one of another library's and nothing says that PyTorch was there.
func otherAllocator(ctx *Context, _ string) verdict {
	p := programOf(ctx.run)
	if p.NoTorch {
		return verdict{yes, p.Name + " has an allocator of its own"}
	}
	said := slices.ContainsFunc(foreign, func(prefix string) bool { return strings.HasPrefix(ctx.root.Pattern, prefix) })
	if said && !classifier.IsTorch(ctx.run.Framework) {
		return verdict{yes, "the allocator that failed is not PyTorch's"}
	}
	return verdict{no, "PyTorch allocates the memory"}
}

// fixedSegments says that PyTorch's segments cannot be let grow: before 2.1, whose message still told the reserved total, on
// Windows, and under cudaMallocAsync; and that two programs let them grow without being asked.
func fixedSegments(ctx *Context, _ string) verdict {
	switch {
	case ctx.is("npu"):
		return verdict{} // torch_npu kept the message of PyTorch 2.0
	case ctx.messageContains("reserved in total by pytorch"):
		return verdict{yes, "the message is one of PyTorch before 2.1, whose segments cannot grow"}
	case ctx.messageContains("would exceed allowed memory"):
		return verdict{yes, "cudaMallocAsync is the allocator, which has no segments"}
	case ctx.run.Application == "axolotl", ctx.run.Application == "unsloth":
		return verdict{yes, programOf(ctx.run).Name + " switches it on itself"}
	}
	if t := ctx.root.Trace; t != nil && slices.ContainsFunc(t.Frames, func(f traceback.Frame) bool { return strings.Contains(f.File, `:\`) }) {
		return verdict{yes, "segments cannot grow on Windows"}
	}
	if ctx.run.Framework == "torch" {
		if in, ok := versionIn(ctx.run.FrameworkVersion, "<2.1"); ok && in {
			return verdict{yes, "segments cannot grow before PyTorch 2.1"}
		}
	}
	return verdict{}
}

// zero3 says that the run's settings ask for ZeRO stage 3, by its number or by the name of a configuration.
func zero3(ctx *Context, _ string) verdict {
	if n, ok := ctx.settings.integer("zero_optimization.stage", "zero_stage", "zero_config.stage"); ok {
		return verdict{truthOf(n == 3), fmt.Sprintf("the ZeRO stage is %d", n)}
	}
	f, ok := ctx.settings.find("deepspeed", true)
	if !ok {
		if f, ok = ctx.settings.find("deepspeed_config", true); !ok {
			return verdict{}
		}
	}
	name := strings.ToLower(f.value.Value)
	return verdict{truthOf(containsAny(name, []string{"z3", "zero3", "zero_3", "stage3"})), fmt.Sprintf("%s is %s", f.key, shown(f.value.Value))}
}

// unsharded says that several GPUs train and nothing splits the model over them.
func unsharded(ctx *Context, _ string) verdict {
	n, ok := ctx.gpus()
	if b := ctx.run.Backend; ok && n > 1 && (b == "" || b == "ddp") && !ctx.settings.has("deepspeed") && !ctx.settings.has("fsdp") && isSet(ctx, "zero_stage").truth != yes {
		return verdict{yes, fmt.Sprintf("nothing splits the model over the %d GPUs", n)}
	}
	return verdict{}
}

// offloadFile says that the run was given a DeepSpeed configuration whose name speaks of offloading.
func offloadFile(ctx *Context, _ string) verdict {
	for _, key := range []string{"deepspeed", "deepspeed_config"} {
		if f, ok := ctx.settings.find(key, true); ok && strings.Contains(strings.ToLower(f.value.Value), "offload") {
			return verdict{yes, fmt.Sprintf("%s is %s", f.key, shown(f.value.Value))}
		}
	}
	return verdict{}
}

// weightsLoaded says that an engine failed after its weights were on the card. TensorRT-LLM names the component that it could
// not create (tensorrt_llm/_torch/pyexecutor/py_executor_creator.py); TensorRT fails while it reads an engine.
func weightsLoaded(ctx *Context, _ string) verdict {
	if ctx.messageContains("could not be created: model\n", "deserialize", "requested amount of gpu memory") {
		return verdict{no, "the weights were not loaded yet"}
	}
	return verdict{yes, "the weights were loaded"}
}

// dataParallel says that the failing stack passes through DataParallel, which gathers outputs on its first card.
func dataParallel(ctx *Context, _ string) verdict {
	if ctx.passesThrough("nn/parallel/data_parallel.py", "nn/parallel/scatter_gather.py", "nn/parallel/replicate.py") {
		return verdict{yes, "one process works with several GPUs and gathers their outputs on the first"}
	}
	return verdict{no, "no DataParallel in the stack"}
}

// others says that other processes hold at least what was missing, and more than the CUDA contexts that any
// neighbour leaves there.
func others(ctx *Context, _ string) verdict {
	const context = 1 << 30
	r := ctx.root
	holder := &cause.Input{
		PID: r.PID, Device: r.Device, Listed: listedProcesses(ctx), Allocated: r.Allocated, Idle: idleReserve(ctx), Total: r.Total,
		Shortfall: pointer(ctx.shortfall()), SharesCard: mayShareCard(ctx),
	}
	switch {
	case ctx.is("less_than_desired"):
		return ctx.holds("less_than_desired")
	case cause.ListedHolder(holder) != "":
		return verdict{yes, cause.ListedHolder(holder)}
	case r.OtherProcesses == nil && r.ProcessBytes != nil && r.Total != nil && r.Free != nil:
		return verdict{no, "the message lists no other process on this card"}
	case r.OtherProcesses == nil, r.ProcessBytes == nil:
		return verdict{} // inside a container PyTorch may list itself among the others, under a pid nobody knows
	}
	o := *r.OtherProcesses
	short, ok := ctx.shortfall()
	why := fmt.Sprintf("other processes hold %s on this GPU", classifier.GiB(o))
	if ok {
		why += fmt.Sprintf(", and %s was missing", classifier.GiB(short))
	}
	return verdict{truthOf(o > context && (!ok || o >= short)), why}
}

// coTenant is others where the neighbour is expected: a framework that puts trainer and engine on one card.
func coTenant(ctx *Context, _ string) verdict {
	if programOf(ctx.run).Colocate {
		return ctx.holds("others")
	}
	return verdict{no, "this framework does not share a card between trainer and engine"}
}

// stray says that a process which has no business there holds so much of a trainer's card that nothing else matters: more
// than was asked for, and more than the contexts that a job's own ranks leave on each other's cards.
func stray(ctx *Context, _ string) verdict {
	if p := programOf(ctx.run); p.Colocate || p.Is(classifier.Engine) {
		return verdict{no, "trainer and engine may share the card"}
	}
	r := ctx.root
	v := ctx.holds("others")
	if v.truth != yes || r.OtherProcesses == nil || r.Requested == nil || r.Total == nil || ctx.is("less_than_desired") {
		return verdict{no, "no other process holds what was missing"}
	}
	if o := *r.OtherProcesses; o < *r.Requested || o < *r.Total/10 {
		return verdict{no, "other processes hold too little to matter"}
	}
	return verdict{yes, "another process holds the card: " + v.why}
}

// sharesCard says that trainer and inference engine live on the same GPUs: verl's trainers do unless they are the
// asynchronous ones, the others when their settings say so.
func sharesCard(ctx *Context, _ string) verdict {
	const together, apart = "trainer and engine share the card in this run", "trainer and engine have GPUs of their own"
	switch ctx.run.Framework {
	case "verl":
		if ctx.stackContains(200, "fully_async", "one_step_off") || strings.Contains(strings.ToLower(ctx.root.Process), "detach") ||
			ctx.settings.has("async_training") || ctx.settings.has("rollout.n_gpus_per_node") {
			return verdict{no, apart}
		}
		if isServer(ctx.run.Engine) {
			return verdict{yes, together}
		}
	case "trl":
		return ctx.compare(condition{key: "vllm_mode", op: "=", value: "colocate"})
	case "slime", "relax", "openrlhf", "nemo_rl":
		switch f, t := ctx.settings.flag("colocate", "colocate_all_models", "train.colocate_all", "policy.generation.colocated.enabled"); t {
		case yes:
			return verdict{yes, together}
		case no:
			return verdict{no, f.key + " is " + f.value.Value}
		}
	}
	return verdict{}
}

// oversized says that the request alone exceeds the card.
func oversized(ctx *Context, _ string) verdict {
	r := ctx.root
	if r.Requested == nil || r.Total == nil {
		return verdict{}
	}
	return verdict{
		truthOf(*r.Requested > *r.Total),
		fmt.Sprintf("%s was requested on a GPU of %s: freeing memory cannot help", classifier.GiB(*r.Requested), classifier.GiB(*r.Total)),
	}
}

// logits says that a tensor of tokens times vocabulary failed: the head, a softmax, a loss or an entropy over it.
func logits(ctx *Context, _ string) verdict {
	if ctx.root.Trace == nil {
		return verdict{}
	}
	at, _ := failedPlace(ctx)
	if at != memory.Elsewhere && at != memory.Unnamed && at != memory.Logits ||
		!ctx.stackContains(8, "logits", "lm_head", "log_softmax", "logprobs", "log_probs", "logps", "cross_entropy", "entropy", "vocab_parallel", "logsumexp") {
		return verdict{no, "the stack does not end in the logits"}
	}
	why := "the request came from the logits, the tensor of tokens times vocabulary"
	if v := ctx.model.Vocab; v.Value > 0 {
		why += fmt.Sprintf(" (%s)", v)
	}
	return verdict{yes, why}
}

// fullScores says that attention built its scores in full: samples x heads x length x length.
func fullScores(ctx *Context, _ string) verdict {
	if at, _ := failedPlace(ctx); at == memory.Attention {
		return verdict{yes, "attention builds its scores in full, which grow with the square of the length"}
	}
	return verdict{}
}

// limitBelowCard says that the request was refused although the card had room for it.
func limitBelowCard(ctx *Context, _ string) verdict {
	r := ctx.root
	if r.Requested == nil || r.Free == nil {
		return verdict{}
	}
	return verdict{truthOf(*r.Free >= *r.Requested), "the card had room for the request: a limit refused it"}
}

func experts(ctx *Context, _ string) verdict {
	if n, ok := ctx.settings.integer("num_experts", "num_local_experts", "n_routed_experts"); ok {
		return verdict{truthOf(n > 1), "the model has experts"}
	}
	return verdict{}
}

// movesPeak is for settings that people change first and that do not help: AReaL's guides say so of the batch size, and
// the micro-batch decides in every trainer that accumulates gradients.
func movesPeak(*Context, string) verdict {
	return verdict{no, "micro-batches set the peak, not this"}
}

// batchUnknown says that a step failed which holds the activations of its batch, and that the log does not tell how large
// the batch is: nothing speaks for a smaller one but that.
func batchUnknown(ctx *Context, _ string) verdict {
	if ctx.phase != "forward" && ctx.phase != "backward" {
		return verdict{}
	}
	for _, k := range []string{"per_device_train_batch_size", "train_micro_batch_size_per_gpu", "micro_batch_size", "micro_batch", "local_batch_size", "batch_size"} {
		if isSet(ctx, k).truth == yes {
			return verdict{no, "the batch size is told"}
		}
	}
	return verdict{yes, fmt.Sprintf("it failed in %s, which holds the activations of a whole batch", phaseNames([]string{ctx.phase}))}
}

// kvSizing says that an engine found no room for its cache when it started: it wants more, not less.
func kvSizing(ctx *Context, _ string) verdict {
	if ctx.incident.Kind != parser.KVCache {
		return verdict{no, "no engine failed to size its cache"}
	}
	if ctx.is("less_than_desired") || ctx.is("kv_runtime") {
		return verdict{no, "the cache was not too small at start-up"}
	}
	return verdict{yes, "the engine has too little room for its KV cache: a smaller share makes that worse"}
}

// kvRuntime says that a serving engine ran out of cache slots.
func kvRuntime(ctx *Context, _ string) verdict {
	if ctx.incident.Kind != parser.KVCache {
		return verdict{no, "no cache ran full"}
	}
	return verdict{truthOf(cacheRanFull.seen(ctx)), "the cache of a serving engine was full"}
}

// Functions of an engine's start: those that measure its activations, and those that run once the cache is there.
var (
	profiling  = []string{"profile_run", "determine_num_available_blocks", "determine_available_memory"}
	afterCache = []string{"capture_model", "compile_or_warm_up", "init_cuda_graphs", "init_device_graphs", "wake_up", "resume"}
)

// engineDepth is how many frames of an engine's stack are asked.
const engineDepth = 80

// beforeCache says that an engine failed before it took the rest of its share for the cache: while weights were loaded,
// or in the run that measures activations. The share decides nothing yet (vllm/v1/worker/gpu_worker.py,
// determine_available_memory; srt/model_executor/model_runner.py, load_model).
func beforeCache(ctx *Context, _ string) verdict {
	switch {
	case ctx.incident.Kind == parser.KVCache || ctx.stackContains(engineDepth, afterCache...):
		return verdict{no, "the cache was there"}
	case !ctx.is("engine_process"):
		return verdict{}
	case ctx.stackContains(engineDepth, profiling...):
		return verdict{yes, "the engine failed in its profiling run, before it takes its cache: its share does not matter yet"}
	case ctx.phase == "init" && ctx.stackContains(engineDepth, "create_weights", "load_model", "load_weights", "get_model"):
		return verdict{yes, "the engine failed while it loaded the weights, before it takes its cache: its share does not matter yet"}
	}
	return verdict{}
}

// profileRun says that an engine failed in the run of dummy inputs with which it measures its activations: what makes
// that run smaller helps, and graphs are captured later (vllm/v1/worker/gpu_worker.py, determine_available_memory).
func profileRun(ctx *Context, _ string) verdict {
	if ctx.root.Trace == nil {
		return verdict{}
	}
	if ctx.is("before_cache") && ctx.stackContains(engineDepth, profiling...) {
		return verdict{yes, "it failed in the run that measures the engine's activations: its size is what the engine is told to plan for"}
	}
	return verdict{no, "it did not fail in the engine's profiling run"}
}

// chunkedProfile says that vLLM failed in a profiling run whose tokens the longest sequence does not decide: prompts are cut
// into chunks, as V1 does unless it is told otherwise, or pictures are measured (vllm/worker/model_runner.py, profile_run).
func chunkedProfile(ctx *Context, _ string) verdict {
	if !ctx.is("profile_run") || ctx.is("enable_chunked_prefill=False") {
		return verdict{}
	}
	if ctx.passesThrough("/vllm/v1/") || ctx.is("vision") || ctx.is("enable_chunked_prefill=True") {
		return verdict{yes, "the profiling run does not depend on the longest sequence"}
	}
	return verdict{}
}

// serving says that an engine which was up failed while it worked: what it leaves beside its cache was too little.
func serving(ctx *Context, _ string) verdict {
	if ctx.incident.Kind != parser.GPUOOM || ctx.phase != "rollout" || !ctx.is("engine_process") || ctx.is("before_cache") ||
		ctx.stackContains(engineDepth, "wake_up", "resume_memory", "update_weights") {
		return verdict{}
	}
	return verdict{yes, "the engine ran out while it served: its share leaves too little for what a step needs"}
}

// outsidePool says that what failed allocates outside of the pool that JAX reserves: NCCL, or another of CUDA's
// libraries. A larger pool leaves it less.
func outsidePool(ctx *Context, _ string) verdict {
	const outside = "allocates outside of the pool that JAX reserves"
	switch k := ctx.incident.Kind; {
	case ctx.run.Framework != "jax":
		return verdict{no, "no framework reserves a pool up front"}
	case k == parser.NCCLOOM, k == parser.NCCLFailure:
		return verdict{yes, "NCCL " + outside}
	case k == parser.GPUDriverOOM, cudaLibrary.seen(ctx):
		return verdict{yes, "what failed " + outside}
	}
	return verdict{no, "the pool itself ran out"}
}

// longSequence says that one sequence of the planned length needs more cache than there is.
func longSequence(ctx *Context, _ string) verdict {
	r := ctx.root
	if _, ok := plannedLength(ctx); !ok || ctx.incident.Kind != parser.KVCache || !ctx.is("kv_sizing") {
		return verdict{}
	}
	short, ok := ctx.shortfall()
	if r.Requested == nil || !ok {
		return verdict{yes, "one sequence of the planned length does not fit into the cache"}
	}
	return verdict{yes, fmt.Sprintf("one sequence of the planned length needs %s of cache, and there are %s", classifier.GiB(*r.Requested), classifier.GiB(max(*r.Requested-short, 0)))}
}

func lengthEstimate(ctx *Context, _ string) verdict {
	_, ok := estimatedLength(ctx)
	return verdict{truthOf(ok), "the engine printed how long a sequence would fit"}
}

// nodeFull says that the kernel found the whole machine full: no limit was reached, and none can be raised (mm/oom_kill.c,
// dump_oom_summary). Kernels 5.0 and 5.1 print CONSTRAINT_NONE for groups, too, so that the group's name decides.
func nodeFull(ctx *Context, _ string) verdict {
	const full = "the machine itself was full, no limit of the job was reached"
	switch {
	case ctx.messageContains("oom_memcg=", "memory cgroup out of memory"):
		return verdict{no, "a control group reached its limit"}
	case ctx.messageContains("global_oom"), evicted.seen(ctx), ctx.recognisedAs("kernel.") && ctx.messageContains("out of memory: kill"):
		return verdict{yes, full}
	}
	return verdict{}
}

func cgroup(ctx *Context, _ string) verdict {
	if v := ctx.holds("node_full"); v.truth == yes {
		return verdict{no, v.why}
	}
	if limitReached.seen(ctx) {
		return verdict{yes, "a memory limit of the job was reached"}
	}
	if ctx.incident.Kind == parser.OOMKill && ctx.root.Limit != nil && !ctx.is("ray_monitor") {
		return verdict{yes, "a limit of " + classifier.GiB(*ctx.root.Limit) + " was reached"}
	}
	return verdict{}
}

func dataWorkers(ctx *Context, _ string) verdict {
	if ctx.phase == "data" || dataLoader.seen(ctx) {
		return verdict{yes, "it failed in data loading"}
	}
	return verdict{}
}

// fullState says that a checkpoint gathers the whole model in one place.
func fullState(ctx *Context, _ string) verdict {
	if ctx.phase == "checkpoint" || ctx.stackContains(40, "full_state_dict", "state_dict", "save_checkpoint", "gather_16bit") {
		return verdict{yes, "a checkpoint was being gathered"}
	}
	return verdict{}
}

// evaluating says that the failing stack passes through a trainer's evaluation.
func evaluating(ctx *Context, _ string) verdict {
	if ctx.root.Trace == nil {
		return verdict{}
	}
	if ctx.stackContains(80, "evaluation_loop", "prediction_step", "nested_gather", "validation_step", "_maybe_log_save_evaluate", " validate ", "validate ") {
		return verdict{yes, "it failed in evaluation, which has a batch of its own"}
	}
	return verdict{no, "it did not fail in evaluation"}
}

// sixteenBits says that the dtype of the weights is set to 16 bits, in a setting or in the code that failed.
func sixteenBits(ctx *Context, _ string) verdict {
	if p := nominalParameters(ctx).Value; p > 0 && ctx.phase == "init" && ctx.root.Allocated != nil && *ctx.root.Allocated > 5*p/2 {
		return verdict{no, "more is allocated than the weights take in 16 bits"}
	}
	words := []string{"bfloat16", "float16", "bf16", "fp16", "half"}
	for _, key := range []string{"torch_dtype", "dtype", "model_dtype", "param_dtype"} {
		if f, ok := ctx.settings.find(key, true); ok && containsAny(strings.ToLower(f.value.Value), words) {
			return verdict{yes, fmt.Sprintf("%s is %s", f.key, shown(f.value.Value))}
		}
	}
	if ctx.stackContains(40, "dtype=torch.bfloat16", "dtype=torch.float16", "dtype=torch.half") {
		return verdict{yes, "the code that failed loads in 16 bits"}
	}
	return verdict{}
}

// movedWhole says that code moves a model that it has just loaded to one card.
func movedWhole(ctx *Context, _ string) verdict {
	if ctx.stackContains(40, "from_pretrained(") && ctx.stackContains(12, ".cuda(", "cuda return self._apply", ".to(device", "to return self._apply") && !ctx.is("launcher:torchrun") {
		return verdict{yes, "the model is moved whole to one card"}
	}
	return verdict{}
}

// hasSwitch says that the model or its program knows a setting that recomputes activations: models of transformers do, and
// whatever prints one.
func hasSwitch(ctx *Context, _ string) verdict {
	for _, key := range []string{"gradient_checkpointing", "activation_checkpointing", "enable_activation_checkpointing", "per_device_train_batch_size", "attn_implementation", "fsdp"} {
		if v := isSet(ctx, key); v.truth == yes {
			return v
		}
	}
	if ctx.run.Framework != "torch" && ctx.run.Framework != "unknown" || ctx.model.name != "" {
		return verdict{yes, "its trainer has a switch for it"}
	}
	if ctx.passesThrough("/transformers/", "/models/llama", "attention", "train_ft") {
		return verdict{yes, "the model is one of transformers"}
	}
	return verdict{}
}

// read says that the run printed a reading.
func read(ctx *Context, gauge, why string) verdict {
	if slices.ContainsFunc(ctx.run.Gauges, func(g classifier.Gauge) bool { return g.Name == gauge }) {
		return verdict{yes, why}
	}
	return verdict{}
}

// vision says that the failing stack passes through a model's vision tower, or through the run in which an engine measures
// what pictures take.
func vision(ctx *Context, _ string) verdict {
	const why = "images take memory for each of their patches"
	parts := []string{"visual", "vision", "/vit", "mllama", "_vl/", "_vl.py", "encode_image", "image_encoder", "multimodal", "mm_encoder", "enc_dec_model_runner"}
	if ctx.stackContains(30, parts...) {
		return verdict{yes, why}
	}
	if t := ctx.root.Trace; t != nil && slices.ContainsFunc(t.Frames[max(0, len(t.Frames)-12):], func(f traceback.Frame) bool { return containsAny(slashed(f.File), parts) }) {
		return verdict{yes, why}
	}
	return verdict{}
}

// inNoGrad says that no gradients are computed: the stack passes through PyTorch's context for that or through the
// evaluation of a trainer that sees to it, or the program is ComfyUI, which never trains.
func inNoGrad(ctx *Context, _ string) verdict {
	if ctx.stackContains(60, "no_grad", "inference_mode") || programOf(ctx.run).ID == "comfyui" {
		return verdict{yes, "gradients are off already"}
	}
	if ctx.passesThrough("torch/utils/_contextlib.py", "/transformers/trainer", "/lightning/", "/pytorch_lightning/", "/fairseq/", "/composer/", "/mmengine/") {
		return verdict{yes, "gradients are off already"}
	}
	return verdict{}
}

// nominalParameters are the model's, or what its name tells.
func nominalParameters(ctx *Context) memory.Figure {
	if n, ok := memory.NominalParameters(ctx.run.Model.Name); ok && ctx.model.Parameters.Value == 0 {
		return memory.Figure{Value: n, Named: true}
	}
	return ctx.model.Parameters
}
