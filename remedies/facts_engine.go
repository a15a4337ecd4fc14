package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/lazyre"
	"oomscan/remedies/memory"
)

// sleepAllocator reports whether the failing process uses an allocator with its own pool of virtual memory: vLLM's sleep mode,
// which asserts that expandable segments are off (vllm/device_allocator/cumem.py), or torch_memory_saver.
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
			return verdict{no, "SGLang runs in its own processes"}
		case known && in && !inEngine:
			return verdict{no, "since verl 0.7 the engine runs in its own processes"}
		case ctx.run.Engine == "vllm" && t == unknown:
			return verdict{}
		case ctx.run.Engine == "vllm":
			return verdict{yes, "vLLM's sleep mode is on (" + f.key + ")"}
		}
	case "relax", "slime":
		if f, t := ctx.settings.flag("offload_train"); t != unknown && !inEngine {
			return verdict{t, fmt.Sprintf("%s is %s: torch_memory_saver holds the trainer's memory only when it is on", f.key, map[truth]string{yes: "on", no: "off"}[t])}
		}
		// Both turn --offload-train on unless it is set (slime/utils/arguments.py).
		if f, t := ctx.settings.flag("offload", "colocate"); t == yes && !inEngine && ctx.run.Backend == "megatron" {
			return verdict{yes, f.key + " is on, and torch_memory_saver then holds the trainer's memory"}
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

// engineProcess reports whether an inference engine's own process failed.
func engineProcess(ctx *Context, _ string) verdict {
	if containsAny(strings.ToLower(ctx.root.Process), []string{"enginecore", "sglang", "vllm", "llmrayactor", "scheduler", "rolloutrayactor", "tritonserver", "llama-server", "ollama", "text-generation"}) {
		return verdict{yes, "the engine's process " + ctx.root.Process + " failed"}
	}
	if isServer(programOf(ctx.run).ID) {
		return verdict{yes, "the program is an inference engine"}
	}
	if why := graphsLeft(ctx); why != "" {
		return verdict{yes, why}
	}
	t := ctx.root.Trace
	if t == nil || len(t.Frames) == 0 {
		return verdict{}
	}
	for i := max(0, len(t.Frames)-12); i < len(t.Frames); i++ {
		if containsAny(slashed(t.Frames[i].File), []string{"/vllm/", "/sglang/"}) {
			return verdict{yes, "the stack ends inside the inference engine"}
		}
	}
	return verdict{no, "the stack does not end inside an inference engine"}
}

// kvSizing reports whether an engine found no room for its cache at its start: it needs more memory, not less.
func kvSizing(ctx *Context, _ string) verdict {
	if ctx.incident.Kind != parser.KVCache {
		return verdict{no, "no engine failed to size its cache"}
	}
	if ctx.is("less_than_desired") || ctx.is("kv_runtime") || ctx.recognized("sglang.unbalanced") || ctx.messageContains(stepReserve) {
		return verdict{no, "the cache was not too small at start-up"}
	}
	return verdict{yes, "the engine has too little room for its KV cache: a smaller share makes that worse"}
}

// engineLeaks reports whether the run's vLLM keeps host memory of every rollout (vllm #15085; EasyR1 #158 and its README), or, as a
// server, of prefixes that it caches (#28726, #44175).
func engineLeaks(ctx *Context, _ string) verdict {
	if in, ok := versionIn(ctx.run.EngineVersion, ">=0.11.1 <0.23"); ctx.run.Framework == "vllm" && ok && in {
		_, caches := ctx.settings.flag("enable_prefix_caching")
		_, off := ctx.settings.flag("no_enable_prefix_caching")
		return stated(caches != no && off != yes, "vLLM "+ctx.run.EngineVersion+" keeps some host memory of prefixes that it caches", "no prefix is cached")
	}
	if in, ok := versionIn(ctx.run.EngineVersion, ">=0.8.0 <0.8.3"); ctx.run.Engine == "vllm" && ok && in {
		return verdict{yes, "vLLM " + ctx.run.EngineVersion + " keeps some host memory of every rollout"}
	}
	// LLMEngine.seq_id_to_seq_group keeps each request of several answers (vLLM #14326).
	if in, ok := versionIn(ctx.run.EngineVersion, ">=0.6.4 <0.8.0"); ctx.run.Engine == "vllm" && ok && in {
		n, set := ctx.settings.integer("actor_rollout_ref.rollout.n", "worker.rollout.n", "num_generations")
		return stated(set && n > 1, "vLLM "+ctx.run.EngineVersion+" keeps each request of several answers in host memory", "one answer to a prompt is sampled")
	}
	return verdict{no, "the engine is not known to leak"}
}

// seesImages matches names of models that take images.
var seesImages = lazyre.New(`(?i)(?:^|[-_./\d])(?:vl|vlm|vision|llava|pixtral|internvl|minicpm-v|paligemma|idefics|molmo|qvq|omni|multimodal)(?:$|[-_./\d])`)

// keepsImages reports whether vLLM keeps what its processor makes of images. Before 0.10.1 a switch turns that off
// (disable_mm_preprocessor_cache; #15085), and that ends reports of memory that keeps growing.
func keepsImages(ctx *Context, _ string) verdict {
	if later, ok := versionIn(ctx.run.EngineVersion, ">=0.10.1"); ctx.run.Engine != "vllm" || ok && later || !seesImages().MatchString(ctx.model.name) || slices.Contains(training, ctx.phase) || ctx.is("engine_leaks") {
		return verdict{}
	}
	_, off := ctx.settings.flag("disable_mm_preprocessor_cache")
	return verdict{truthOf(off != yes), "vLLM keeps what it makes of images in host memory"}
}

// ncclPeers reports whether NCCL's request is that of connections: ten MiB for each of a channel (src/init.cc, computeBuffSizes). NVLink
// SHARP and other transports take their memory in other sizes.
func ncclPeers(ctx *Context, _ string) verdict {
	const connection = 10 << 20
	n := ctx.root.Requested
	if ctx.incident.Kind != parser.NCCLOOM || n == nil || *n <= 0 {
		return verdict{}
	}
	return verdict{truthOf(*n%connection == 0), "NCCL asked for the buffers of connections, which NVLink SHARP does not use"}
}

// stepReserve is how LMDeploy says that the memory for one step's work, which it sets aside before the cache, is not there.
const stepReserve = "memory for runtime"

// kvRuntime reports whether a serving engine ran out of cache slots.
func kvRuntime(ctx *Context, _ string) verdict {
	if ctx.incident.Kind != parser.KVCache {
		return verdict{no, "no cache ran full"}
	}
	return verdict{truthOf(cacheRanFull.seen(ctx)), "the cache of a serving engine was full"}
}

// Engine functions: some measure activations at startup, some run once the cache exists, some wake a sleeping engine.
var (
	profiling  = []string{"profile_run", "profile_num_available_blocks", "determine_num_available_blocks", "determine_available_memory"}
	afterCache = []string{"capture_model", "compile_or_warm_up", "init_cuda_graphs", "init_all_cuda_graphs", "init_device_graphs", "capture_one_shape", "wake_up", "resume"}
	wakes      = []string{"wake_up", "resume_memory", "resume_kv"}
)

// graphsByPhase reports whether an SGLang has flags for the graphs of each phase, as 0.5.15 has (srt/model_executor/cuda_graph_config.py).
func graphsByPhase(ctx *Context, _ string) verdict {
	const why = "SGLang's flags for graphs name the phase"
	for _, key := range []string{"cuda_graph_max_bs_decode", "cuda_graph_backend_decode", "cuda_graph_bs_decode", "cuda_graph_config.decode.backend"} {
		if ctx.settings.has(key) {
			return verdict{yes, why}
		}
	}
	return verdict{truthOf(ctx.messageContains("cuda-graph-max-bs-decode") || ctx.passesThrough("sglang/srt/model_executor/runner/")), why}
}

// prefillGraphs reports whether graphs of prompts were being captured, which no SGLang before these flags does.
func prefillGraphs(ctx *Context, _ string) verdict {
	return verdict{truthOf(ctx.messageContains("capture prefill cuda graph failed") || ctx.passesThrough("model_executor/runner/prefill_cuda_graph_runner.py")), "it failed while graphs of prompts were captured"}
}

// engineDepth is the number of frames of an engine's stack that count.
const engineDepth = 80

// beforeCache reports whether an engine failed before it took the rest of its share for the cache: while it loaded weights or
// measured activations. The share has no effect yet (vllm/v1/worker/gpu_worker.py,
// determine_available_memory; srt/model_executor/model_runner.py, load_model).
func beforeCache(ctx *Context, _ string) verdict {
	switch {
	case ctx.incident.Kind == parser.KVCache || ctx.stackContains(engineDepth, afterCache...):
		return verdict{no, "the cache was there"}
	case !ctx.is("engine_process"):
		return verdict{}
	case ctx.is("makes_decoder"):
		return verdict{yes, "the engine failed while it made its decoder, before it allocates the KV cache"}
	case ctx.stackContains(engineDepth, profiling...):
		return verdict{yes, "the engine failed in its profiling run, before it allocates the KV cache: its share does not matter yet"}
	case ctx.phase == "init" && ctx.is("adapter_slots"):
		return verdict{yes, "the engine failed while it made room for adapters, before it allocates the KV cache"}
	case ctx.is("engine_loads"):
		return ctx.holds("engine_loads")
	}
	return verdict{}
}

// profileRun reports whether an engine failed in the run of dummy inputs that measures its activations. A smaller run helps;
// graphs are captured later (vllm/v1/worker/gpu_worker.py, determine_available_memory).
func profileRun(ctx *Context, _ string) verdict {
	if ctx.root.Trace == nil {
		return verdict{}
	}
	if ctx.is("before_cache") && ctx.stackContains(engineDepth, profiling...) {
		return verdict{yes, "it failed in the run that measures the engine's activations: its size is what the engine is set to plan for"}
	}
	return verdict{no, "it did not fail in the engine's profiling run"}
}

// farTooSmall reports whether an engine's cache would not hold one sequence at twice its size, and lacks more than smaller steps
// or no graphs could free. An 8-bit cache takes half of the bytes.
func farTooSmall(ctx *Context, _ string) verdict {
	const small = 2 << 30
	const why = "one sequence needs more than twice the cache that is there"
	fits, ok := estimatedLength(ctx)
	planned, known := plannedLength(ctx)
	need, short := deref(ctx.root.Requested), int64(0)
	if n, ok := ctx.shortfall(); ok {
		short = n
	}
	switch {
	case ctx.incident.Kind != parser.KVCache:
		return verdict{}
	case need > 0 && short > 0:
		return verdict{truthOf(short > small && need > 2*(need-short)), why}
	case ok && known:
		return verdict{truthOf(planned > 2*fits), why}
	}
	return verdict{}
}

// chunkedProfile reports whether vLLM failed in a profiling run that does not depend on the longest sequence, or had no memory left
// for a cache after it: it splits prompts into chunks, V1's default, or measures pictures (vllm/worker/model_runner.py, profile_run).
// Only how much V1 plans for a video depends on the length, as the number of frames fills it (models/qwen2_vl.py).
func chunkedProfile(ctx *Context, _ string) verdict {
	if ctx.is("enable_chunked_prefill=False") {
		return verdict{}
	}
	_, v1 := lastReading(ctx.run, "vllm.kv_available")
	if ctx.is("nothing_for_cache") && (v1 || ctx.passesThrough("/vllm/v1/")) {
		g, _ := lastReading(ctx.run, "vllm.encoder_cache")
		return verdict{truthOf(g.Fields["media"] != "video"), "what is taken before the cache does not depend on the longest sequence"}
	}
	if !ctx.is("profile_run") {
		return verdict{}
	}
	if ctx.passesThrough("/vllm/v1/") || ctx.is("vision") || ctx.is("encoder_batch") || ctx.is("enable_chunked_prefill=True") {
		return verdict{yes, "the profiling run does not depend on the longest sequence"}
	}
	return verdict{}
}

// builtContext reports whether TensorRT-LLM failed where it makes the context of an engine that was built before: its activations, for the
// largest batch and length of the build. The session of the Python runtime makes its cache after that (tensorrt_llm/runtime/generation.py,
// _Runtime.__prepare), by the lengths that it is given: it finds too little where the activations take much of the card.
func builtContext(ctx *Context, _ string) verdict {
	if g, ok := memory.Reading(ctx.run, ctx.incident, "tensorrt.context"); ok && ctx.root.Total != nil && programOf(ctx.run).ID == "trtllm" {
		if n, _ := g.Fields.Int("used"); n > *ctx.root.Total/4 {
			return verdict{yes, "the activations that the engine was built for take " + classifier.GiB(n)}
		}
	}
	_, loaded := memory.Reading(ctx.run, ctx.incident, "tensorrt.on_card")
	inContext := ctx.stackContains(3, "device_memory_size") || loaded && ctx.recognisedAs("tensorrt.")
	return verdict{truthOf(inContext && programOf(ctx.run).ID == "trtllm"), "the weights are on the card, and the activations that the engine was built for are next"}
}

// encodesMedia reports whether vLLM's V1 printed what it plans for pictures, video or sound (v1/worker/gpu_model_runner.py,
// profile_run).
func encodesMedia(ctx *Context, _ string) verdict {
	_, ok := lastReading(ctx.run, "vllm.encoder_cache")
	return verdict{truthOf(ok), "memory for the largest inputs of an encoder is planned for"}
}

// oneInput reports whether an encoder failed for which a single input is planned: it is encoded whole, however few tokens a step takes
// (v1/core/encoder_cache_manager.py, compute_mm_encoder_budget).
func oneInput(ctx *Context, _ string) verdict {
	g, ok := lastReading(ctx.run, "vllm.encoder_cache")
	_, alone := lastReading(ctx.run, "vllm.profiles_one")
	return verdict{truthOf((ok && g.Fields["items"] == "1" || alone) && ctx.is("vision")), "the inputs of one sequence are not split over steps"}
}

// oneOfImages matches a limit of one image per prompt, in JSON, as a dict, and as vLLM wrote it before 0.8.5.
var oneOfImages = lazyre.New(`\bimage['"]?\s{0,4}[:=]\s{0,4}1\b`)

// oneImage reports whether vLLM's V0 failed, which plans for one image or video per prompt unless a setting allows more
// (vllm/multimodal/registry.py, init_mm_limits_per_prompt). V1 plans for as many as the longest prompt has room for.
func oneImage(ctx *Context, _ string) verdict {
	if g, ok := lastReading(ctx.run, "vllm.encoder_cache"); ok && g.Fields["media"] == "image" && g.Fields["items"] == "1" {
		return verdict{yes, "the engine plans for one image already"}
	}
	if f, ok := ctx.settings.find("limit_mm_per_prompt", true); ok && oneOfImages().MatchString(f.value.Value) || ctx.is("limit_mm_per_prompt.image=1") {
		return verdict{yes, "one image per prompt is the limit already"}
	}
	if !ctx.passesThrough("/vllm/worker/") || ctx.is("set:limit_mm_per_prompt") || ctx.is("set:limit_mm_per_prompt.image") {
		return verdict{}
	}
	return verdict{yes, "this version plans for one image per prompt anyway"}
}

// encoderBatch reports whether an engine failed in the encoder of a model that also has a decoder. It encodes one input for each
// sequence, a clip or a picture of the greatest size (vllm/worker/enc_dec_model_runner.py, profile_run).
func encoderBatch(ctx *Context, _ string) verdict {
	return verdict{truthOf(ctx.is("engine_process") && ctx.passesThrough("enc_dec_model_runner", "/models/whisper")), "the encoder works on one input for each sequence"}
}

// wholeProfile reports whether vLLM's V0 processes whole prompts. It then refuses to take fewer tokens in a step than one prompt
// may have (vllm/config.py, SchedulerConfig), and profiles prompts of the greatest length.
func wholeProfile(ctx *Context, _ string) verdict {
	const chunkedAbove = 32768 // by default, since 0.5.4
	tokens, set := ctx.settings.integer("max_num_batched_tokens")
	longest, known := ctx.settings.integer("max_model_len", "max_seq_len")
	switch {
	case !ctx.passesThrough("/vllm/worker/") && !ctx.recognized("vllm.max_len_blocks"), ctx.is("enable_chunked_prefill=True"), set && (!known || tokens/2 >= longest):
		return verdict{no, "the tokens of a step are limited"}
	case set, ctx.is("profile_run"), known && longest <= chunkedAbove, ctx.is("before:vllm 0.5.4"):
		return verdict{yes, "a step has as many tokens as the longest prompt"}
	}
	return verdict{no, "the tokens of a step are limited"}
}

// largeCard reports whether vLLM's V1 runs on a card of 70 GiB or more that is no A100, where its defaults are larger
// (vllm/engine/arg_utils.py).
func largeCard(ctx *Context, _ string) verdict {
	const certain = 85 << 30 // no A100 has as much
	const least = 70 << 30
	total := deref(ctx.root.Total)
	named := slices.ContainsFunc(ctx.run.Gauges, func(g classifier.Gauge) bool {
		return g.Name == "gpu.card" && containsAny(g.Fields["card"], []string{"H100", "H200", "H800", "B200", "B300", "MI3"})
	})
	large := ctx.passesThrough("/vllm/v1/") && (total >= certain || total >= least && named)
	return verdict{truthOf(large), "the card is large"}
}

// drafts reports whether a draft model failed at the engine's start: its weights, its cache or its buffers, but not its graphs.
func drafts(ctx *Context, _ string) verdict {
	const why = "what failed is the draft model's"
	inStack := ctx.is("engine_process") && (ctx.stackContains(engineDepth, "draft_worker", "eagle_worker") || ctx.passesThrough("/spec_decode/"))
	v := read(ctx, "ggml.draft", why)
	return verdict{truthOf(ctx.phase == "init" && !ctx.is("graph_capture") && (inStack || v.truth == yes)), why}
}

// serving reports whether an engine failed at work after its start: it left too little memory beside its cache.
func serving(ctx *Context, _ string) verdict {
	if ctx.incident.Kind != parser.GPUOOM || ctx.phase != "rollout" && (ctx.phase != "forward" || !isServer(programOf(ctx.run).ID)) || !ctx.is("engine_process") || ctx.is("before_cache") ||
		ctx.stackContains(engineDepth, "wake_up", "resume_memory", "update_weights") {
		return verdict{}
	}
	return verdict{yes, "the engine ran out while it served: its share leaves too little for what a step needs"}
}

// cacheCovers reports whether the cache that Ollama plans is what failed, or takes more than what was missing: a model without one would
// fit (memory.required.kv of llm/memory.go, the sum of all slots).
func cacheCovers(ctx *Context, _ string) verdict {
	size := ollamaCache(ctx)
	if n := deref(ctx.root.Requested); size > 0 && n > size-size/20 && n < size+size/20 {
		return verdict{yes, "the request is the cache, which takes " + classifier.GiB(size)}
	}
	short, known := ctx.shortfall()
	if !known || size <= short {
		return verdict{}
	}
	return verdict{yes, fmt.Sprintf("the cache takes %s, and %s was missing", classifier.GiB(size), classifier.GiB(short))}
}

// ollamaCache returns what the cache takes that Ollama plans, 0 if unknown.
func ollamaCache(ctx *Context) int64 {
	f, _ := ctx.settings.find("memory.required.kv", true)
	size, ok := parseSize(f.value.Value)
	if g, printed := lastReading(ctx.run, "ggml.cache_on_host"); !ok && printed { // of later versions
		size, _ = g.Fields.Int("used")
	}
	return max(size, 0)
}

// cacheFillsCard reports whether llama.cpp's cache takes several times what it computes with: smaller pieces of a prompt then free little.
func cacheFillsCard(ctx *Context, _ string) verdict {
	const several = 4
	cache, ok1 := lastReading(ctx.run, "ggml.cache_on_card")
	compute, ok2 := lastReading(ctx.run, "ggml.compute_on_card")
	has, _ := cache.Fields.Int("used")
	works, _ := compute.Fields.Int("used")
	if !ok1 || !ok2 || has < several*works || ctx.root.Requested != nil {
		return verdict{}
	}
	return verdict{yes, fmt.Sprintf("the cache takes %s of the card, and the buffers that this shrinks take %s", classifier.GiB(has), classifier.GiB(works))}
}

// outsidePool reports whether the failed library allocates outside of the pool that JAX reserves: NCCL or another of CUDA's
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

// longSequence reports whether one sequence of the planned length needs more than the whole cache.
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
