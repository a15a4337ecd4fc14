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

// engineLoads reports whether an engine failed while it read its weights: nothing has been planned yet.
func engineLoads(ctx *Context, _ string) verdict {
	if ctx.incident.Kind == parser.KVCache || !ctx.is("engine_process") || ctx.stackContains(engineDepth, afterCache...) || ctx.stackContains(engineDepth, profiling...) {
		return verdict{no, "the weights were loaded"}
	}
	if strings.EqualFold(ctx.root.Fields["method"], "model") || ctx.messageContains("executing load_single_module") { // TensorRT-LLM names what it could not create, or load
		return verdict{yes, "the engine failed while it loaded the weights, before it allocates the KV cache: its share does not matter yet"}
	}
	if ctx.stackContains(engineDepth, "draft_worker", "eagleworker", "load_draft") && cacheTaken(ctx) {
		return verdict{no, "the weights were loaded, and the cache was there: a draft model was read"}
	}
	if ctx.is("adapter_slots") {
		return verdict{no, "the weights were loaded, and room was made for adapters"}
	}
	if ctx.phase == "init" && ctx.stackContains(engineDepth, "create_weight", "create_shared_weights", "load_model", "load_weights", "_build_model", "get_model", "get_sharded", "get_partial_sharded", "get_multi_weights", "get_weights_") {
		return verdict{yes, "the engine failed while it loaded the weights, before it allocates the KV cache: its share does not matter yet"}
	}
	return verdict{}
}

// resumes reports whether a script read a checkpoint of its own to go on from, by a setting or because it said so.
func resumes(ctx *Context, _ string) verdict {
	if v := isSet(ctx, "resume"); v.truth == yes {
		return v
	}
	return read(ctx, "script.resumed", "the script said that it goes on from a checkpoint")
}

// merges reports whether a program failed that merges adapters into a model: axolotl's, ms-swift's, LLaMA-Factory's, and PEFT's merge
// alone.
func merges(ctx *Context, _ string) verdict {
	if ctx.passesThrough("axolotl/cli/merge_lora.py", "/export/merge_lora.py") || ctx.stackContains(80, "export_model", "merge_and_unload") {
		return verdict{yes, "adapters are merged into the model, and nothing is trained"}
	}
	return verdict{no, "no adapters are merged"}
}

// loadsLean reports whether from_pretrained reads a checkpoint shard by shard already: it creates the model without weights, which
// device_map and quantization imply, too.
func loadsLean(ctx *Context, _ string) verdict {
	const why = "the checkpoint is loaded shard by shard already"
	if ctx.stackContains(40, "_load_state_dict_into_meta_model", "_load_parameter_into_model", "set_module_tensor_to_device", "low_cpu_mem_usage=true", "device_map=", "quantization_config=") || ctx.passesThrough("/transformers/core_model_loading.py") || quantized(ctx) {
		return verdict{yes, why}
	}
	if _, t := ctx.settings.flag("low_cpu_mem_usage", "cpu_ram_efficient_loading", "fsdp_cpu_ram_efficient_loading"); t == yes {
		return verdict{yes, why}
	}
	// Since its pull request 36963 transformers takes the argument and ignores it.
	f, _ := ctx.settings.find("transformers_version", true)
	if in, ok := versionIn(strings.Trim(f.value.Value, `"`), ">=4.52"); ok && in {
		return verdict{yes, "transformers " + shown(f.value.Value) + " loads every checkpoint shard by shard"}
	}
	return verdict{}
}

// ownCache reports whether a script's model failed to create its key-value cache, which has room for the most and the longest
// sequences from the start.
func ownCache(ctx *Context, _ string) verdict {
	if ctx.is("set:max_batch_size") && ctx.is("set:max_seq_len") && ctx.phase == "init" && ctx.stackContains(8, "model.cuda(", "model.to(") { // Meta's llama and scripts after it
		return verdict{yes, "the key-value cache for max_batch_size sequences of max_seq_len tokens moves to the card with the model"}
	}
	if ctx.holds("engine_process").truth != yes && cachesMade().MatchString(strings.Join(ctx.stack[max(0, len(ctx.stack)-3):], "\n")) {
		return verdict{yes, "the key-value cache is created for the most sequences at once, each of the longest length"}
	}
	return verdict{}
}

var cachesMade = lazyre.New(`(?:\b(?:cache_[kv]|[kv]_cache|kv_cache|(?:key|value)_cache)\b[^\n]{0,60}\b(?:torch\.)?(?:zeros|empty|ones)\(|\b(?:setup_caches?|set_kv_cache) )`)

// adapterSlots reports whether an engine failed while it made room for LoRA adapters, as much for each that may be active
// as the highest rank takes, or whether such room for a high rank leaves none for a cache.
func adapterSlots(ctx *Context, _ string) verdict {
	if ctx.is("engine_process") && ctx.passesThrough("/vllm/lora/", "/sglang/srt/lora/") {
		return verdict{yes, "room is made for as many adapters as may be active, each of the highest rank"}
	}
	const high = 32
	if rank, ok := ctx.settings.integer("max_lora_rank"); ok && rank > high && ctx.is("kv_sizing") {
		return verdict{yes, fmt.Sprintf("room is made for adapters of rank %d before the cache", rank)}
	}
	return verdict{}
}

// tokenBound reports whether an engine's step failed whose size is its tokens, however many sequences they belong to: the
// forward pass of the profiling run, in which V0 only counts pictures by sequences, or prompts
// (vllm/worker/model_runner.py, profile_run; srt/model_executor/model_runner.py, forward_extend).
func tokenBound(ctx *Context, _ string) verdict {
	const rows, tokens = "what failed has a row for each sequence", "a step is sized by its tokens, not by the number of requests"
	const mostRequests = 4096 // that SGLang runs at once unless it is set, and more than vLLM does
	most, ok := ctx.settings.integer("max_num_seqs", "max_running_requests")
	if !ok {
		most = mostRequests
	}
	if drafts, ok := draftTokens(ctx); ok {
		most *= drafts + 1 // a row for each of them, and one for the token after them
	}
	switch {
	case ctx.stackContains(12, "prompt_logprobs"), len(ctx.request) > 0 && ctx.request[0].Low > most: // the logits of prompts
		return verdict{yes, tokens}
	case ctx.is("sampler"), ctx.is("encoder_batch"), ctx.stackContains(8, "compute_logits", "lm_head"):
		return verdict{no, rows}
	case ctx.is("profile_run") && (ctx.passesThrough("/vllm/v1/") || !ctx.is("vision")), ctx.incident.Kind == parser.GPUOOM && ctx.is("prefill"):
		return verdict{yes, tokens}
	}
	return verdict{}
}

// uncountedGraphs reports whether graphs take nothing from an engine's cache: vLLM captures them once it is there
// (worker/worker.py, initialize_cache), and leaves room for them from 0.20 on (v1/worker/gpu_worker.py, determine_available_memory).
func uncountedGraphs(ctx *Context, _ string) verdict {
	if !ctx.is("kv_sizing") {
		return verdict{no, "graphs hold memory beside the cache"}
	}
	counted := since(ctx, "vllm 0.20").truth
	switch {
	case counted == yes:
		return verdict{no, "the engine leaves room for graphs when it sizes its cache"}
	case counted == no, ctx.passesThrough("/vllm/v1/", "/vllm/worker/"), ctx.recognized("vllm.max_len_blocks"):
		return verdict{yes, "CUDA graphs are captured later, after the KV cache is allocated"}
	}
	return verdict{}
}

// modelNamed reports whether the model's name has a word.
func modelNamed(ctx *Context, word string) verdict {
	if ctx.run.Model.Name == "" {
		return verdict{}
	}
	return verdict{truthOf(strings.Contains(strings.ToLower(ctx.run.Model.Name), word)), "the model is " + ctx.run.Model.Name}
}

// capturesGraphs reports whether CUDA graphs were captured; SGLang has a file for it, which also replays them.
func capturesGraphs(ctx *Context, _ string) verdict {
	if ctx.phase == "init" && ctx.passesThrough("cuda_graph_runner.py") {
		return verdict{yes, graphCapture.why}
	}
	if why := graphsLeft(ctx); why != "" {
		return verdict{yes, why}
	}
	return graphCapture.ask(ctx, "")
}

// graphsLeft reports that an engine's bar of CUDA graphs stopped before its end, and PyTorch says that graphs hold memory: whoever wraps the
// engine may raise the error anew, without the frames below (unsloth_zoo/vllm_utils.py, load_vllm).
func graphsLeft(ctx *Context) string {
	g, ok := memory.Reading(ctx.run, ctx.incident, "engine.graphs_done")
	done, read := g.Fields.Int("done")
	total, read2 := g.Fields.Int("total")
	if !ok || !read || !read2 || done >= total || ctx.phase != "init" || ctx.root.Fields["private_pools"] == "" {
		return ""
	}
	if slices.ContainsFunc(ctx.run.Gauges, func(later classifier.Gauge) bool { // the engine went on
		return later.At.Source == g.At.Source && later.At.Line > g.At.Line && (strings.HasPrefix(later.Name, "vllm.") || strings.HasPrefix(later.Name, "sglang."))
	}) {
		return ""
	}
	return fmt.Sprintf("%d of %d CUDA graphs were captured", done, total)
}

// samples reports whether buffers of the sampler did not fit. It also works on the log-probabilities of prompts, which have
// a row for each of a step's tokens.
func samples(ctx *Context, _ string) verdict {
	if ctx.stackContains(12, "prompt_logprobs") {
		return verdict{no, "log-probabilities of prompts have a row for each of a step's tokens"}
	}
	if strings.EqualFold(ctx.root.Fields["method"], "sampler") { // as TensorRT-LLM names what it could not create
		return verdict{yes, sampler.why}
	}
	return sampler.ask(ctx, "")
}

// fitsItself reports whether a build of llama.cpp finds out itself how much of a model fits on the card: those since
// December 2025 do (common/fit.cpp, #16653).
func fitsItself(ctx *Context, _ string) verdict {
	const since = 7410
	if v := ctx.holds("flash_switch"); v.truth == yes {
		return verdict{no, v.why}
	}
	g, ok := lastReading(ctx.run, "ggml.build")
	n, read := g.Fields.Int("count")
	if !ok || !read {
		return verdict{}
	}
	return verdict{truthOf(n >= since), fmt.Sprintf("build %d", n)}
}

// copiesWeights reports whether the compute buffer that failed holds copies of weights: those that stay in host memory are copied to the
// card for a step, and a pipeline keeps several copies of each until the step ends (ggml/src/ggml-backend.cpp,
// ggml_backend_sched_split_graph). llama.cpp makes no pipeline with overridden tensors since 2025; ik_llama.cpp went on longer.
func copiesWeights(ctx *Context, _ string) verdict {
	if read(ctx, "ggml.copies", "").truth == yes && ctx.messageContains("gallocr") {
		for _, key := range []string{"-ot", "--override-tensor", "-cmoe", "--cpu-moe", "-ncmoe", "--n-cpu-moe"} {
			if ctx.is("set:" + key) {
				return verdict{yes, "the compute buffer holds the pipeline's copies of the weights that " + key + " keeps in host memory"}
			}
		}
	}
	return verdict{}
}

// readsTensors reports whether the last that llama.cpp said was about the weights (src/llama-model.cpp load_tensors).
func readsTensors(ctx *Context, _ string) verdict {
	return verdict{truthOf(strings.Contains(ctx.incident.PhaseWhy, "load_tensors: ")), "llama.cpp was reading the weights"}
}

// cardsHaveRoom reports whether llama.cpp put weights on less than half of what it found free on the cards.
func cardsHaveRoom(ctx *Context, _ string) verdict {
	var free, used int64
	for _, g := range ctx.run.Gauges {
		n, _ := g.Fields.Int("free")
		m, _ := g.Fields.Int("used")
		switch g.Name {
		case "ggml.device":
			free += n
		case "ggml.weights":
			used += m
		}
	}
	if free <= 0 || used <= 0 {
		return verdict{}
	}
	return verdict{truthOf(used < free/2), fmt.Sprintf("weights take %s of %s on the cards", classifier.GiB(used), classifier.GiB(free))}
}
