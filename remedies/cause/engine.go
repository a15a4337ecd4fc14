package cause

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// engines lists the causes that lie in an inference engine, or in how a trainer and its engine share a card.
var engines = []hypothesis{
	{
		id: "engine_share_too_small",
		evidence: []weighed{
			{2 * proof, when("the engine found no room for its KV cache", func(in *Input) bool { return in.NoRoomForCache })},
			{proof, contextCache},
			{3 * proof, both(CacheOnHost, func(in *Input) bool { return in.HostLimit == nil })},
			{proof, both(layerCache, (*Input).gpu)},
			{proof, both(frames(6, "the cache for the whole context is allocated when the model is loaded", "exllamav2/cache", "exllamav3/cache"), (*Input).engineGPU)},
			{2 * proof, when("the cache for all tokens of a batch did not fit", func(in *Input) bool { return strings.Contains(in.Text, "total tokens with") })},
			{sign, when("the cache of a serving engine was full", func(in *Input) bool { return in.CacheRan })},
		},
		figure: func(in *Input) (string, *int64) {
			if in.CacheTokens > 0 && in.CacheTokens < in.PlannedTokens {
				text := fmt.Sprintf("the KV cache has room for %s tokens; one sequence may have up to %s", memory.Thousands(in.CacheTokens), memory.Thousands(in.PlannedTokens))
				if in.Requested == nil && in.OneSequence > 0 {
					return text + ", about " + classifier.GiB(in.OneSequence) + " on each GPU", &in.OneSequence
				}
				return text, in.Requested
			}
			if in.CacheBlocks > 0 && in.CacheBlocks < in.PlannedSequences {
				return fmt.Sprintf("the cache has %s Mamba blocks, one per sequence; max_num_seqs is %s", memory.Thousands(in.CacheBlocks), memory.Thousands(in.PlannedSequences)), nil
			}
			if why := layerCache(in); why != "" {
				return why, in.Requested
			}
			if why, n := CacheOnHost(in), CacheBytes(in); why != "" {
				return why, &n
			}
			if in.Requested == nil || in.Shortfall == nil {
				if in.Requested != nil && contextCache(in) != "" && in.Draft {
					return "the draft model's KV cache for the whole context takes " + gib(in.Requested) + " beside the main model's", in.Requested
				}
				if in.Requested != nil && contextCache(in) != "" {
					return "the KV cache for the whole context takes " + gib(in.Requested), in.Requested
				}
				if in.CountedAgainst > 0 {
					return in.share() + " leaves no room for the KV cache: this vLLM also counts the " + classifier.GiB(in.CountedAgainst) + " that other processes hold on the GPU", &in.CountedAgainst
				}
				return in.share() + " leaves no room for the KV cache", nil
			}
			if slices.Contains(wholeCard, in.Application) {
				return "weights and KV cache do not fit on the GPU together", in.Requested
			}
			if n := in.number("max_model_len", "max_seq_len", "context_length"); n > 1 {
				return in.share() + " leaves too little for the KV cache of one sequence of " + memory.Thousands(n) + " tokens", in.Requested
			}
			return in.share() + " leaves too little for the KV cache", in.Requested
		},
	},
	{
		id: "graph_capture",
		evidence: []weighed{
			{proof + hint, both(when("it failed while CUDA graphs were captured", func(in *Input) bool { return in.GraphCapture }), (*Input).gpu)},
			{proof, when("what comes after the cache did not fit: graphs and workspaces", func(in *Input) bool {
				return in.executor("additional executor resources") && !strings.Contains(in.Part, "temporary")
			})},
			{3 * proof, RecordsGraphs},
		},
		figure: func(in *Input) (string, *int64) {
			if RecordsGraphs(in) != "" {
				return "CUDA graphs of a compiled model hold " + classifier.GiB(in.GraphPools) + ": one more is recorded for each new size of its input", &in.GraphPools
			}
			const why = "the CUDA graphs do not fit next to weights and cache"
			if in.GraphPools < 1<<30 {
				return plain(why)(in)
			}
			return why + ": those captured so far hold " + classifier.GiB(in.GraphPools), &in.GraphPools
		},
	},
	{
		id: "engine_activation",
		evidence: []weighed{
			{proof, when("it failed in the run that measures the engine's activations", func(in *Input) bool { return in.Profiling })},
			{2 * proof, when("the table of the requests' tokens does not fit beside the cache", func(in *Input) bool { return in.RequestRows })},
			{3 * proof, when("the activations that the engine was built for did not fit beside its weights", func(in *Input) bool { return in.BuiltContext })},
			{2 * proof, when("the decoder's buffers did not fit, which come before the cache", func(in *Input) bool { return in.MakesDecoder })},
			{proof, both(when("the sampler's buffers did not fit", func(in *Input) bool { return in.Sampler }), (*Input).engineGPU)},
			{sign + hint, both(frames(12, "the stack ends in a step's own tensors", "forward_extend", "logits_processor", "prompt_logprob", "visual", "vision", "get_topk", "compute_logits", "lm_head", "fused_moe", "mm_encoder", "execute_model", "prefill"), (*Input).servingEngine)},
			{sign, both(largeStep, (*Input).servingEngine)},
			{proof, both(frames(12, "it failed while the engine warmed up", "warmup"), (*Input).engineGPU)},
			{proof, both(when("it failed while the engine warmed up", func(in *Input) bool { return strings.Contains(in.Text, "warmup{") }), (*Input).engineGPU)},
			{proof + hint, both(frames(12, "the log-probabilities of a prompt have a row for each of its tokens", "prompt_logprob", "input_logprob", "input_token_logprob", "normalized_logprobs"), (*Input).engineGPU)},
			{2 * proof, when("the memory for one step's work was not there", func(in *Input) bool { return strings.Contains(in.Text, "gpu memory for runtime") })},
			{proof, both(when("the request is that of the logits of one step", func(in *Input) bool {
				return len(in.Request) > 0 && in.Request[0].What == "logits" && in.Request[0].Seen && in.Tokens != nil && in.Request[0].Low <= in.Tokens.Tokens
			}), (*Input).servingEngine)},
			{2 * proof, both(when("the prompt tokens of one step did not fit", func(in *Input) bool { return strings.Contains(in.Text, "prefill tokens") }), (*Input).engineGPU)},
			{proof, both(poolGrew, (*Input).gpu)},
			{proof, temporary(false)},
			{sign, both(when("it failed while speech was decoded", func(in *Input) bool { return in.Transcribes && in.Phase == "rollout" }), (*Input).gpu)},
			{sign, both(embeds, (*Input).gpu)},
			{2 * proof, both(embeds, warmsUpOnHost)},
			{sign, when("building an engine tries its kernels at the largest planned sizes", func(in *Input) bool {
				return containsAny(in.Text, []string{"buildserializednetwork", "bytes of scratch space"})
			})},
			{proof, when("it was creating buffers that grow with the requests in a batch", func(in *Input) bool { return in.executor("sampler", "drafter", "speculative") })},
			{sign, both(when("ONNX Runtime's arena could not grow", func(in *Input) bool { return strings.Contains(in.Text, "bfcarena::allocaterawinternal") }), (*Input).gpu)},
			{proof, both(when("the engine's compute buffer did not fit", func(in *Input) bool { return strings.Contains(in.Text, "gallocr") }), (*Input).engineGPU)},
			{hint, when("the engine failed while it served", func(in *Input) bool { return in.Serving })},
		},
		figure: func(in *Input) (string, *int64) {
			if warmsUpOnHost(in) && embeds(in) != "" {
				return warmUpFigure(in)
			}
			return requestFigure(in.stepPart())(in)
		},
	},
	{
		id: "engine_share_too_large",
		evidence: []weighed{
			{proof, when("less memory was free than the engine's share needs", func(in *Input) bool { return in.LessThanDesired })},
			{proof, when("the planned cache did not fit", func(in *Input) bool {
				return in.Part == "kv cache" && strings.Contains(in.Text, "insufficient gpu memory")
			})},
			{2 * proof, when("the engine announced its cache, and then found too little", func(in *Input) bool { return in.PlannedCache > 0 && in.Kind == "gpu_driver_oom" })},
			{proof, temporary(true)},
			{3 * proof, when("another model of this server had made its cache before", func(in *Input) bool { return in.OtherCache > 0 })},
			{2 * proof, MakesCache},
			{proof, both(when("a kernel library found no room for its workspace, which is outside the engine's pool", func(in *Input) bool {
				return in.Kind == "gpu_driver_oom" && containsAny(in.Message, []string{"flashinfer", "cudamallocasync"})
			}), (*Input).servingEngine)},
			{sign + hint, both(when("the engine failed with its cache in place", func(in *Input) bool { return in.CacheTaken && !in.NoRoomForCache && in.Phase != "weight_update" }), (*Input).engineGPU)},
			{sign + hint, both(frames(3, "the stack ends where the engine makes its cache", "_create_buffers", "_allocate_kv_cache", "initialize_kv_cache_tensors"), (*Input).engineGPU)},
			{2 * proof, TowerAfterCache},
			{4 * proof, CPUPools},
			{sign, both(when("TurboMind gives its cache most of what the weights leave, and then found too little", func(in *Input) bool { return strings.Contains(in.Text, "[tm]") }), (*Input).gpu)},
			{proof, func(in *Input) string {
				if !in.SharesCard || in.EngineAsleep || in.Others == nil || in.Shortfall == nil || *in.Others < *in.Shortfall || *in.Others < leastNeighbour || in.NoRoomForCache {
					return ""
				}
				return fmt.Sprintf("the engine on the same card holds up to %s, and %s was missing", gib(in.Others), gib(in.Shortfall))
			}},
			{sign, both(when("trainer and engine share the card, and the engine is awake", func(in *Input) bool { return in.SharesCard && in.EngineAwake && !in.NoRoomForCache }), (*Input).gpu)},
			{2 * hint, both(when("the engine does not sleep while the model trains", func(in *Input) bool { return in.SharesCard && in.EngineAwake }), (*Input).training)},
			{2*proof + hint, both(keepsMostOfTheCard, (*Input).training)},
			{sign, both(wakes, (*Input).gpu)},
			{sign, unmapped},
			{sign, func(in *Input) string {
				key, v, ok := in.Setting(shareKeys...)
				switch {
				case in.Kind != "gpu_driver_oom" || in.NoRoomForCache:
					return ""
				case in.Framework == "jax" && ok:
					return fmt.Sprintf("%s is %s, and what failed allocates outside of JAX's pool", key, v)
				case in.Framework == "jax" && in.gpu() && !in.off("XLA_PYTHON_CLIENT_PREALLOCATE"):
					return "JAX reserves most of the card when it starts, and what failed allocates outside of that pool"
				case !ok || !in.engineGPU():
					return ""
				}
				return fmt.Sprintf("%s is %s, and the engine found too little next to its cache", key, v)
			}},
			{sign, when("the engine failed while it served, with its cache in place", func(in *Input) bool { return in.Serving })},
			{sign, aboveUsualShare},
			{sign, both(when("it failed at the engine's start, with its cache in place", func(in *Input) bool { return in.Phase == "init" && in.EngineFailed && in.GraphCapture }), (*Input).gpu)},
		},
		excludes: []clue{
			when("the engine had not taken its cache yet", func(in *Input) bool { return in.BeforeCache }),
			when("the cache of a serving engine was full", func(in *Input) bool { return in.CacheRan }),
			both(ownFills, (*Input).engineElsewhere),
		},
		figure: func(in *Input) (string, *int64) {
			switch {
			case CPUPools(in) != "":
				return CPUPools(in), nil
			case MakesCache(in) != "":
				return "the cache planned for " + memory.Thousands(in.number(cacheKeys...)) + " tokens does not fit beside the weights", nil
			case in.PlannedCache > 0:
				return "the KV cache of " + classifier.GiB(in.PlannedCache) + " that is planned does not fit beside the weights", &in.PlannedCache
			case in.OtherCache > 0:
				return "the cache of another model of this server takes " + classifier.GiB(in.OtherCache) + ", and this one's engine does not fit beside it", &in.OtherCache
			case in.LessThanDesired && in.Free != nil && in.Total != nil:
				return in.share() + " asks for more than was free", in.Free
			case wakes(in) != "" && unmapped(in) != "":
				return in.share() + " is more than was free when the engine took its memory back", nil
			case strings.Contains(in.Stage, "[blockmanager]"):
				return "the KV cache that " + in.share() + " plans did not fit: another process on the GPU may have taken memory since it was planned", nil
			}
			return in.share() + " leaves too little for " + in.besideCache(), in.Shortfall
		},
	},
	{
		id: "weight_update",
		evidence: []weighed{
			{2 * proof, both(failedIn("it failed while sending weights from the trainer to the engine", "weight_update"), (*Input).gpu)},
			{hint, both(failedIn("it failed while sending weights from the trainer to the engine", "weight_update"), (*Input).host)},
			{proof + 2*hint, both(frames(12, "the stack ends where the model's weights move to the engine", "_move_model_to_vllm"), (*Input).trainerGPU)},
			{sign, both(frames(8, "the stack ends in the transfer of weights", "update_weights", "sync_weights", "load_weights_from", "update_bucket"), (*Input).trainerGPU)},
		},
		excludes: []clue{
			both(wakes, func(in *Input) bool { return !in.passes(8, "update_weights", "sync_weights", "load_weights") }),
			both(unmapped, func(in *Input) bool { return len(in.Patterns) > 0 && slices.Contains(pools, in.Patterns[0]) }),
		},
		figure: func(in *Input) (string, *int64) {
			if text, n := wholeHandOver(in); n != nil {
				return text, n
			}
			return requestFigure("the incoming weights need memory on top of what the GPU already holds")(in)
		},
	},
}

var (
	wakes     = frames(40, "the engine failed while waking up", "wake_up", "resume_memory", "resume_kv")
	pools     = []string{"vllm.cumem", "tms.resume", "tms.fatal"}
	unmapped  = saw("the engine's memory could not be mapped again", pools...)
	shareKeys = []string{"cache_max_entry_count", "free_gpu_memory_fraction", "kv_cache_free_gpu_mem_fraction", "gpu_memory_utilization", "vllm_gpu_memory_utilization", "mem_fraction_static", "sglang_mem_fraction_static", "XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION"}
)

// aboveUsualShare reports that an engine that served was given more of the card than vLLM takes by default, in a version whose profile
// covers the largest step: what a step takes beyond that, such as a reserve in pieces, has a margin too small.
func aboveUsualShare(in *Input) string {
	const usual = 0.93
	key, v, ok := in.Setting("gpu_memory_utilization")
	f, err := strconv.ParseFloat(v, 64)
	if !ok || err != nil || f < usual || f > 1 || !in.Serving || !in.gpu() || in.Picture || in.passes(12, "sampler", "prompt_logprob", "visual", "vision", "mm_encoder") {
		return ""
	}
	return fmt.Sprintf("%s is %s, and the engine had measured its largest step", key, v)
}

// wholeCard are engines without a setting for their share of the GPU.
var wholeCard = []string{"exllama", "llamacpp", "ollama"}

// cacheKeys are names that programs give to the number of tokens for which they make a cache when they start.
var cacheKeys = []string{
	"max_total_token_num", "max_total_tokens", "max_batch_total_tokens", "cache_size", "kv_cache_tokens", "max_num_tokens", "max_seq_len", "max_seq_length", "max_sequence_length", "max_model_len",
	"max_context_length", "max_context_len", "context_length", "context_size", "ctx_size", "n_ctx", "ctx", "max_length", "max_len", "length",
}

// MakesCache reports that a program without a guide failed where it makes its cache of keys and values, which it does once,
// for as many tokens as its settings say.
func MakesCache(in *Input) string {
	if in.number(cacheKeys...) < 2 || in.OwnCache || in.EngineFailed || !in.gpu() || len(in.Stack) == 0 || in.passes(80, "backward", "train", "cache_utils.py") {
		return ""
	}
	made := strings.Contains(in.Stack[len(in.Stack)-1], "torch.") && in.passes(1, "torch.zeros(", "torch.empty(", "torch.full(", "torch.ones(")
	if !made || !in.passes(1, "__init__", "init", "alloc", "create", "setup", "listcomp") || !in.passes(3, cacheWords...) {
		return ""
	}
	return "the stack ends where the cache of keys and values is made"
}

// cacheWords are parts of the names of such caches.
var cacheWords = []string{"kv_cache", "kvcache", "key_cache", "cache(", "cache.py", "mem_manager", "memorymanager", "key_buffer", "value_buffer", "kv_buffer", "key_states", "past_key"}

// share names the setting of the engine's share of the GPU with its value, if the log has it.
func (in *Input) share() string {
	name, v, share := in.shareSet()
	if share == 0 {
		return "the engine's share of the GPU"
	}
	return name + "=" + v
}

// shareSet returns the setting of the engine's share of the GPU, its value as the log has it, and as a number; 0 if unknown.
func (in *Input) shareSet() (name, value string, share float64) {
	key, value, ok := in.Setting(shareKeys...)
	value = strings.Trim(value, `"' `)
	f, err := strconv.ParseFloat(value, 64)
	if !ok || err != nil || !(f > 0 && f <= 1) { // nor NaN
		return "", "", 0
	}
	return key[strings.LastIndexByte(key, '.')+1:], value, f
}

// poolGrew reports that llama.cpp found no memory for a computation. Its messages for weights, cache and reserved buffers
// differ.
func poolGrew(in *Input) string {
	if !containsAny(in.Text, []string{"ggml-cuda.cu", "ggml-cuda/"}) || saw("refused", "ggml.malloc", "ggml.load", "ggml.load_backend", "ggml.buffer", "ggml.not_loaded")(in) != "" {
		return ""
	}
	return "llama.cpp's compute pool had to grow"
}

// executor reports whether TensorRT-LLM could not create one of the named components.
func (in *Input) executor(names ...string) bool {
	return strings.Contains(in.Text, "insufficient gpu memory") && containsAny(in.Part, names)
}

// temporary reports that TensorRT-LLM failed while it measured its activations: they did not fit, or the temporary cache had
// left no room.
func temporary(full bool) clue {
	const nothing = 2 << 30
	return func(in *Input) string {
		if !in.executor("temporary", "created during usage") || full != (in.Free != nil && *in.Free < nothing) {
			return ""
		}
		if full {
			return "the temporary cache of the run that measures activations left only " + gib(in.Free)
		}
		return "it failed in the run that measures the engine's activations"
	}
}

// WholeScores says that a compute buffer of llama.cpp is mostly the attention scores of one step over the whole context, which flash
// attention does not keep. The scores take four bytes (src/llama-graph.cpp, build_attn_mha).
func WholeScores(in *Input) string {
	step, length, heads := in.number("n_ubatch"), in.number("n_ctx"), in.number("n_head")
	if step > 1<<20 || length > 1<<30 || heads > 1<<12 || in.Requested == nil || is("", []string{"flash_attn"}, "0", "disabled")(in) == "" {
		return ""
	}
	n := float64(step) * float64(length) * float64(heads) * 4
	if n < float64(*in.Requested)*0.8 || n > float64(*in.Requested) {
		return ""
	}
	return fmt.Sprintf("attention scores without flash attention: %s tokens a step x %s of context x %d heads x 4 bytes = %s", memory.Thousands(step), memory.Thousands(length), heads, classifier.GiB(int64(n)))
}

// contextCache reports that llama.cpp could not allocate its cache: its message names it, or the request is 16 bits for each
// value of all layers over the whole context (src/llama-kv-cache.cpp).
func contextCache(in *Input) string {
	if in.Part == "kv cache" && in.Kind == "gpu_driver_oom" {
		return "the cache for the whole context did not fit"
	}
	n, how := in.contextBytes()
	if in.Requested == nil || n <= 0 || math.Abs(float64(*in.Requested)-n) > n/100 {
		return ""
	}
	return how + " are the " + gib(in.Requested)
}

// contextBytes computes what llama.cpp's cache takes in 16 bits for the context that it prints, 0 when a size is unknown.
func (in *Input) contextBytes() (n float64, how string) {
	length, layers := in.number("n_ctx"), in.number("n_layer")
	k, v := in.number("n_embd_k_gqa"), in.number("n_embd_v_gqa")
	return float64(length) * float64(layers) * float64(k+v) * 2, fmt.Sprintf("%d tokens of context x %d layers x (%d + %d) x 2 bytes", length, layers, k, v)
}

// layerCache reports that the request is the keys or values of one layer for the whole context.
func layerCache(in *Input) string {
	if len(in.Request) == 0 || in.Request[0].What != memory.LayerCache {
		return ""
	}
	return trimmed(in.Request[0].Text)
}

// TowerAfterCache reports that LMDeploy failed in its vision tower, which is PyTorch's, while most of the process's memory is not: it is
// TurboMind's, which took its weights and its cache before (lmdeploy/serve/vl_async_engine.py; from 0.4 on the tower is loaded first).
func TowerAfterCache(in *Input) string {
	if !in.gpu() || !in.passes(60, "lmdeploy/vl/") || in.Process == nil || in.Allocated == nil || *in.Process-*in.Allocated < *in.Process/2 {
		return ""
	}
	return gib(in.Process) + " is this process's and little of it PyTorch's: TurboMind has its weights and its cache there"
}

// keepsMostOfTheCard reports that an engine stays awake beside the trainer with at least half of the card.
func keepsMostOfTheCard(in *Input) string {
	name, v, share := in.shareSet()
	if share <= 0.5 || !in.SharesCard || !in.EngineAwake || in.EngineAsleep || in.EngineFailed || !in.gpu() {
		return ""
	}
	return fmt.Sprintf("the engine stays awake on the trainer's card, and %s is %s", name, v)
}

// besideCache names what did not fit beside the engine's cache.
func (in *Input) besideCache() string {
	switch {
	case in.Draft:
		return "the draft model and its cache, which come after the main model's cache"
	case in.GraphCapture:
		return "the CUDA graphs"
	case in.Sampler:
		return "the sampler's temporary tensors"
	case TowerAfterCache(in) != "":
		return "the vision tower, which comes after the cache"
	case in.EngineFailed:
		return "the engine's temporary tensors"
	case in.Framework == "jax":
		return "the libraries that allocate outside of JAX's pool"
	case in.Infers || in.loading():
		return "the process beside it"
	}
	return "the training process"
}

// engineElsewhere reports whether a trainer failed whose engine is another process, so that nothing of its own is the engine's.
func (in *Input) engineElsewhere() bool {
	return !in.EngineFailed && slices.Contains([]string{"nemo_rl", "slime", "relax", "areal", "openrlhf"}, in.Framework)
}

func (in *Input) engineGPU() bool { return in.gpu() && in.EngineFailed }

func (in *Input) servingEngine() bool { return in.engineGPU() && in.Phase != "init" }

// wideFigure says what weights in float32 take.
func wideFigure(in *Input) (string, *int64) {
	if why := wideStates(in); why != "" {
		n := 16 * in.Parameters.Value
		return why, &n
	}
	if in.WideWeights {
		return "CTranslate2 holds the weights in float32, twice the size of the 16 bits in which models are saved", nil
	}
	if why := noHalf(in); why != "" {
		return why, nil
	}
	if in.TypeIgnored != "" {
		return in.TypeIgnored + ", twice the size of 16 bits", nil
	}
	if pipelineByDefault(in) != "" && in.Parameters.Value <= 0 {
		return "the pipeline is loaded without torch_dtype, so all its weights are float32, twice the size of 16 bits", nil
	}
	return weightsFigure(4, "weights in float32")(in)
}

// decoded says how much speech is decoded at a time, as far as the log has it.
func (in *Input) decoded() string {
	n, beams := in.number("batch_size"), in.number("beam_size")
	switch {
	case n > 1 && beams > 1:
		return fmt.Sprintf(": %d segments at a time, with %d beams each", n, beams)
	case n > 1:
		return fmt.Sprintf(": %d segments at a time", n)
	}
	return ""
}

// stepPart names the part of an engine's step that did not fit, as far as it is known.
func (in *Input) stepPart() string {
	switch {
	case (in.passes(30, "visual", "vision", "mm_encoder", "image_encoder") || in.passes(2, "_vl.py", "_vl/")) && in.Profiling:
		return "the vision tower's activations do not fit, for as many and as large pictures as the engine plans for"
	case in.passes(30, "visual", "vision", "mm_encoder", "image_encoder"):
		return "the vision tower's activations do not fit"
	case in.EncoderBatch:
		if n := in.number("max_num_seqs"); n > 1 {
			return fmt.Sprintf("the encoder's activations do not fit: one input for each of up to %d sequences (max_num_seqs)", n)
		}
		return "the encoder's activations do not fit: one input for each sequence (max_num_seqs)"
	case in.Transcribes:
		return "what the model of speech needs to decode does not fit" + in.decoded()
	case in.RequestRows:
		return "the table of the requests' tokens does not fit: a row of the longest context for each request that may run"
	case in.Picture:
		return "the image encoder's working memory does not fit beside the model"
	case in.BuiltContext:
		return "the activations do not fit beside the weights: they are sized by the largest batch and length that the engine was built for"
	case in.MakesDecoder:
		return "the decoder's buffers do not fit: several rows of the longest sequence for each request that may run (max_batch_size)"
	case in.Draft:
		return "the draft model's compute buffer does not fit beside the main model" + in.stepSize()
	case in.Sampler && in.passes(12, draftSampler):
		return "the sampler's probabilities (sequences x drafted tokens x vocabulary) do not fit"
	case in.Sampler:
		return "the sampler's probabilities (sequences x vocabulary) do not fit"
	}
	if why := WholeScores(in); why != "" {
		return why
	}
	if n := in.PrefillTokens; n > 0 && poolGrew(in) != "" {
		return "llama.cpp's working memory grows with the filled context: the last prompt has " + memory.Thousands(n) + " tokens"
	}
	return "the activations of one engine step do not fit" + in.stepSize()
}

// draftSampler is the file of vLLM's sampler that accepts or rejects drafted tokens.
const draftSampler = "rejection_sampler.py"

// ofPrompts reports that an engine's sampler failed on more rows than sequences: those of the log-probabilities of prompts, which the
// run that measures its memory does not have (vllm/model_executor/layers/sampler.py).
func ofPrompts(in *Input) string {
	most := cmp.Or(in.number("max_num_seqs", "max_running_requests"), 1024)
	if !in.Serving || in.Place != memory.Sampler || in.passes(12, draftSampler) || len(in.Request) == 0 || in.Request[0].Low <= most {
		return ""
	}
	return "the sampler has a row for each token of the prompts: their log-probabilities are computed"
}

// largeStep reports that a step asked for a twentieth of the card or more in one piece.
func largeStep(in *Input) string {
	if in.Requested == nil || in.Total == nil || *in.Requested < *in.Total/20 {
		return ""
	}
	return "a step asked for " + gib(in.Requested) + " in one piece, on a GPU of " + gib(in.Total)
}
