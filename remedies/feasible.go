package remedies

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

// feasibleShare is the range in which an engine's share works: below it, weights and cache do not fit; above it, the memory
// outside of the share does not fit. Unknown bounds are 0 and 1.
type feasibleRange struct {
	low, high       float64
	lowHow, highHow string
	cache           bool // the lower end holds the cache of one sequence
}

func (b *feasibleRange) empty() bool { return b.low > b.high }

func (b *feasibleRange) atLeast(f float64, how string) {
	if f > b.low {
		b.low, b.lowHow = f, how
	}
}

func (b *feasibleRange) atMost(f float64, how string) {
	if f < b.high {
		b.high, b.highHow = f, how
	}
}

// none states that no value works, and what does.
func (b *feasibleRange) none(key string) string {
	return fmt.Sprintf("no value of %s leaves room for everything: at least %s for %s, at most %s for %s; more tensor parallelism, quantized weights or a shorter context do",
		key, fraction(math.Ceil(b.low*100)/100), b.lowHow, fraction(math.Floor(b.high*100)/100), b.highHow)
}

// feasibleShare derives the range from the failure and the engine's own readings. The share is now f.
func feasibleShare(ctx *Context, key string, f float64) feasibleRange {
	b := feasibleRange{high: 1, highHow: "the whole card"}
	if !engineShare(key) {
		return b
	}
	q := &paramQuery{Context: ctx, p: &Parameter{}}
	boundByVLLM(ctx, &b, f)
	if draft := ctx.is("draft"); draft || !boundBySGLang(ctx, &b, f) { // the last weights that were read are the draft model's
		if share, how, ok := q.weightShare(); ok {
			b.atLeast(share, how)
			if g, read := lastReading(ctx.run, "sglang.mem_weights"); draft && read && !ctx.stackContains(engineDepth, "load_model") {
				used, _ := g.Fields.Int("used")
				b.besideDraft(share, float64(used)/float64(max(deref(ctx.root.Total), 1)), used)
			}
		}
		if draft && draftsItself(ctx) {
			b.besideItself(ctx)
		}
		b.afterCache(ctx)
	}
	if least, ok := parseNumber(readField(ctx, "least", "sglang.weights_leave_nothing")); ok && least < 1 {
		b.atLeast(least, "the weights, as the engine says")
	}
	b.oneSequence(ctx)
	b.besideOthers(ctx)
	r := ctx.root
	short, ok := ctx.shortfall()
	if ok && r.Total != nil && *r.Total > 0 && ctx.incident.Kind == parser.GPUOOM && ctx.is("engine_process") && !ctx.is("before_cache") {
		b.atMost(f-float64(short)/float64(*r.Total), classifier.GiB(short)+" more outside of it")
	}
	return b
}

// besideDraft leaves room for a draft model of at least half the main model's size. Its cache takes as much of the main model's
// cache as its weights of the main model's weights.
func (b *feasibleRange) besideDraft(weights, draft float64, bytes int64) {
	if draft > weights/2 && draft < 1 {
		b.atMost(0.95*weights/(weights+draft), "a draft model with "+classifier.GiB(bytes)+" of weights, and its cache")
	}
}

// besideItself leaves room for the whole model a second time.
func (b *feasibleRange) besideItself(ctx *Context) {
	if left, weights, at, ok := sglangLoaded(ctx); ok {
		share := float64(weights) / float64(left+weights)
		b.atLeast(share, fmt.Sprintf("%s of weights (%s)", classifier.GiB(weights), at))
		b.besideDraft(share, share, weights)
	}
}

// draftsItself reports whether SGLang was reading the model again as its own draft model, all of it: where it knows how to draft with a
// part of the model, the file of that part is named for it (srt/models, glm4_moe_nextn.py, mimo_mtp.py).
func draftsItself(ctx *Context) bool {
	draft, ok1 := ctx.settings.find("speculative_draft_model_path", true)
	model, ok2 := ctx.settings.find("model_path", true)
	return ok1 && ok2 && draft.value.Value == model.value.Value && ctx.stackContains(engineDepth, "load_model") && !ctx.passesThrough("_nextn.py", "_mtp.py")
}

// afterCache leaves room for the draft model of vLLM's V0, whose weights are not in the profile by which the cache is planned
// (vllm/spec_decode/spec_decode_worker.py, determine_num_available_blocks, before 0.8).
func (b *feasibleRange) afterCache(ctx *Context) {
	g, read := lastReading(ctx.run, "vllm.weights")
	draft, ok := g.Fields.Int("used")
	r := ctx.root
	idle := idleReserve(ctx)
	if !read || !ok || idle == nil || r.Total == nil || *r.Total <= 0 || r.ProcessBytes == nil || r.Allocated == nil || !ctx.passesThrough("/spec_decode/spec_decode_worker") || !ctx.is("draft") {
		return
	}
	context := *r.ProcessBytes - *r.Allocated - *idle
	b.atMost(float64(*r.Total-draft-context)/float64(*r.Total), fmt.Sprintf("%s of the draft model's weights (%s) and %s outside of PyTorch", classifier.GiB(draft), g.At, classifier.GiB(context)))
}

// besideOthers subtracts what other programs hold of the card from the share.
func (b *feasibleRange) besideOthers(ctx *Context) {
	total, r := ctx.root.Total, ctx.root
	if total == nil || *total <= 0 || mayShareCard(ctx) || ctx.incident.Kind != parser.GPUOOM {
		return
	}
	n := deref(r.OtherProcesses)
	if idle := idleReserve(ctx); n == 0 && r.ProcessBytes == nil && r.Allocated != nil && idle != nil && r.Free != nil {
		n = *total - *r.Free - *r.Allocated - *idle
	}
	const contexts = 4 << 30
	if n > contexts && n < *total {
		b.atMost(float64(*total-n)/float64(*total), fmt.Sprintf("%s less the %s that other programs hold", classifier.GiB(*total), classifier.GiB(n)))
	}
}

// oneSequence adds the cache of one sequence to a lower bound without one: engines do not start with less. SGLang does, and refuses
// longer requests.
func (b *feasibleRange) oneSequence(ctx *Context) {
	total, _, ok1 := cardCapacity(ctx)
	one, how, ok2 := ctx.setup.OneSequence()
	if engineOf(ctx) == memory.SGLang && b.low+float64(one)/float64(max(total, 1)) > usualShare {
		return
	}
	if b.low > 0 && !b.cache && ok1 && ok2 && one < total {
		b.low, b.cache = b.low+float64(one)/float64(total), true
		b.lowHow += fmt.Sprintf(" and %s for the cache of one sequence (%s)", classifier.GiB(one), how)
	}
}

// engineShare reports whether a setting is the share of the card that an inference engine takes.
func engineShare(key string) bool {
	key = strings.ReplaceAll(strings.ToLower(key), "-", "_")
	return strings.HasSuffix(key, "gpu_memory_utilization") || strings.HasSuffix(key, "mem_fraction_static")
}

// boundBySGLang follows how SGLang sizes its cache: memory free after loading, minus the part of the memory free before that
// the share leaves out (srt/model_executor/model_runner.py, profile_max_num_token).
func boundBySGLang(ctx *Context, b *feasibleRange, f float64) bool {
	if table, total := requestTable(ctx), deref(ctx.root.Total); ctx.is("request_rows") && table > 0 && total > table {
		b.atMost(f-float64(table)/float64(total), classifier.GiB(table)+" of the table of the requests' tokens")
	}
	left, weights, at, ok := sglangLoaded(ctx)
	if !ok {
		return false
	}
	before := float64(left + weights)
	how := fmt.Sprintf("%s of weights on a card that had %s free (%s)", classifier.GiB(weights), classifier.GiB(left+weights), at)
	if draft, is := draftBeside(ctx); is != "" {
		b.atMost(1-float64(draft)/before, is)
	}
	if g, ok := memory.Reading(ctx.run, ctx.incident, "sglang.multimodal_share"); ok {
		if share, ok := parseNumber(g.Fields["share"]); ok && share > 0 && share < f {
			before *= share / f
			how += fmt.Sprintf(", of whose share this SGLang takes %s for a multimodal model (%s)", fraction(share/f), g.At)
		}
	}
	b.atLeast(float64(weights)/before, how)
	// A cache smaller than one sequence of the requested length is useless.
	pool, ok := memory.Reading(ctx.run, ctx.incident, "sglang.mem_kv_pool")
	length, okLength := ctx.settings.integer("context_length")
	if !ok || !okLength || length > mostTokens {
		return true
	}
	used, ok1 := pool.Fields.Int("used")
	tokens, ok2 := pool.Fields.Int("tokens")
	if ok1 && ok2 && tokens >= length && used > 0 {
		one := float64(used) / float64(tokens) * float64(length)
		b.cache = true
		b.atLeast((float64(weights)+one)/before, how+fmt.Sprintf(" and %s of cache for %s tokens", classifier.GiB(int64(one)), memory.Thousands(length)))
	}
	return true
}

// draftFollows reports that SGLang found no room for its cache and has a draft model still to load: that comes after the cache, and
// outside of the share (srt/speculative/eagle_worker.py).
func draftFollows(ctx *Context, _ string) verdict {
	f, _ := ctx.settings.find("speculative_algorithm", true)
	if engineOf(ctx) != memory.SGLang || isNone(f.value.Value) || strings.EqualFold(f.value.Value, "NGRAM") || !ctx.is("kv_sizing") {
		return verdict{}
	}
	return verdict{yes, "SGLang loads the draft model after it has made the cache"}
}

// draftBeside returns the memory for such a draft model with its graphs and workspaces. An EAGLE head has an embedding, an output matrix
// and a layer of the main model's sizes. For others it is what SGLang reserves when it chooses the share itself (srt/server_args.py).
func draftBeside(ctx *Context) (bytes int64, how string) {
	if !ctx.is("draft_follows") {
		return 0, ""
	}
	const reserve, graphs = 2 << 30, 1 << 30
	draft, m := int64(reserve), ctx.model
	if f, _ := ctx.settings.find("speculative_algorithm", true); equal(f.value.Value, "EAGLE") && len(ctx.setup.Candidates) == 0 {
		layer := (2*m.Heads.Value+2*m.KVHeads.Value)*m.HeadDim.Value*m.Hidden.Value + 3*m.Hidden.Value*m.Inner.Value
		draft = max(draft, 2*(2*m.Vocab.Value*m.Hidden.Value+layer)/max(ctx.setup.EngineTP.Or(1), 1))
	}
	return draft + graphs, fmt.Sprintf("a draft model of %s and its graphs, which come after the cache", classifier.GiB(draft))
}

// requestTable returns the bytes of SGLang's table of the requests' tokens, 0 if unknown: four bytes for each token of the longest
// context, for each request that may run. Unless they are set, at least 2,048 may (srt/model_executor/model_runner.py, init_memory_pool).
func requestTable(ctx *Context) int64 {
	length, ok := ctx.settings.integer("context_length")
	rows, set := ctx.settings.integer("max_running_requests")
	if !set {
		rows = 2048
	}
	if !ok || engineOf(ctx) != memory.SGLang || length > mostTokens || rows > mostTokens {
		return 0
	}
	return rows * length * 4
}

// requestRows reports whether the table of the requests' tokens did not fit, or took at least half of what the share leaves for all
// that is no weights and no cache: the cache is planned before the table is made, and is made after it.
func requestRows(ctx *Context, _ string) verdict {
	if v := rowsFailed.ask(ctx, ""); v.truth == yes {
		return v
	}
	set, _ := ctx.settings.find("mem_fraction_static", true)
	f, ok := parseNumber(set.value.Value)
	table, total := requestTable(ctx), deref(ctx.root.Total)
	if !ok || table == 0 || ctx.incident.Kind != parser.GPUOOM || ctx.is("draft") || !ctx.stackContains(engineDepth, "init_memory_pool") || float64(table) < (1-f)*float64(total)/2 {
		return verdict{no, "not the table of the requests' tokens"}
	}
	return verdict{yes, fmt.Sprintf("the table of the requests' tokens takes %s, and the cache was planned before it", classifier.GiB(table))}
}

// sequenceOf returns the part of vLLM's cache that one sequence of the planned length takes, by the tokens that the whole cache holds, 0 if
// unknown.
func sequenceOf(ctx *Context, cache int64) int64 {
	g, ok := memory.Reading(ctx.run, ctx.incident, "vllm.kv_tokens")
	tokens, ok1 := g.Fields.Int("tokens")
	length, ok2 := ctx.settings.integer("max_model_len", "max_seq_len")
	if !ok || !ok1 || !ok2 || length <= 0 || length > tokens {
		return 0
	}
	return int64(float64(cache) / float64(tokens) * float64(length))
}

// sglangLoaded returns what SGLang's weights left free, what they take, and where the log says so.
func sglangLoaded(ctx *Context) (left, weights int64, at string, ok bool) {
	g, found := memory.Reading(ctx.run, ctx.incident, "sglang.mem_weights")
	left, ok1 := g.Fields.Int("free")
	weights, ok2 := g.Fields.Int("used")
	return left, weights, fmt.Sprint(g.At), found && ok1 && ok2 && left > 0 && weights > 0
}

// boundByVLLM uses vLLM's measurements: it takes weights, the peak of activations and memory outside of PyTorch from its share
// before the cache (vllm/v1/worker/gpu_worker.py, determine_available_memory).
func boundByVLLM(ctx *Context, b *feasibleRange, f float64) {
	total, by, okTotal := cardCapacity(ctx)
	if !okTotal {
		return
	}
	t := float64(total)
	r := ctx.root
	taken := ctx.is("less_than_desired")
	if taken && r.Free != nil {
		b.atMost(float64(*r.Free)/t, classifier.GiB(*r.Free)+" that was free at the start")
	}
	if short, ok := ctx.shortfall(); ok && !taken && ctx.incident.Kind == parser.KVCache && r.Requested != nil {
		b.cache = true
		b.atLeast(f+float64(short)/t, fmt.Sprintf("%s that the cache lacks beside the %s of the share now", classifier.GiB(short), fraction(f)))
	}
	if g, ok := memory.Reading(ctx.run, ctx.incident, "vllm.profile"); ok {
		sum, parts := int64(0), make([]string, 0, 3)
		for _, k := range []string{"weights", "non_torch", "activations"} {
			n, ok := g.Fields.Int(k)
			if !ok {
				return
			}
			sum += max(n, 0)
			parts = append(parts, classifier.GiB(n))
		}
		b.atLeast(float64(sum)/t, strings.Join(parts, " + ")+fmt.Sprintf(" of weights, non-PyTorch memory and activations (%s)", g.At))
	} else if g, ok := memory.Reading(ctx.run, ctx.incident, "vllm.kv_available"); ok && !taken {
		left, ok := g.Fields.Int("available")
		switch {
		case !ok:
		case left > 0: // what the share holds besides the cache: weights, activations and the rest
			beside := ""
			if one := sequenceOf(ctx, left); one > 0 {
				left, b.cache, beside = left-one, true, " beside one sequence"
			}
			b.atLeast(f-float64(left)/t, fmt.Sprintf("%s x %s%s less the %s of cache%s (%s)", fraction(f), classifier.GiB(total), by, classifier.GiB(left), beside, g.At))
		case ctx.incident.Kind == parser.KVCache:
			b.atLeast(f-float64(left)/t, fmt.Sprintf("%s that the share lacks before any cache%s (%s)", classifier.GiB(-left), by, g.At))
		}
	}
	if g, ok := memory.Reading(ctx.run, ctx.incident, "vllm.kv_tokens"); ok && b.low == 0 && !taken {
		tokens, ok1 := g.Fields.Int("tokens")
		each, ok2 := ctx.setup.CacheBytesPerToken()
		if cache := float64(tokens) * each; ok1 && ok2 && tokens > 0 && cache < f*t {
			b.atLeast(f-cache/t, fmt.Sprintf("%s x %s%s less the cache of %s tokens (%s)", fraction(f), classifier.GiB(total), by, memory.Thousands(tokens), g.At))
		}
	}
	if g, ok := memory.Reading(ctx.run, ctx.incident, "vllm.usage"); ok {
		free, ok1 := g.Fields.Int("free")
		graphs, ok2 := g.Fields.Int("graphs")
		if ok1 && ok2 && free > 0 && graphs >= 0 && free > graphs {
			b.atMost(float64(free-graphs)/t, fmt.Sprintf("%s that was free at the start less %s of CUDA graphs (%s)", classifier.GiB(free), classifier.GiB(graphs), g.At))
		}
	}
}

// cardCapacity returns the size of the card in bytes: the failure's figure, else the engine's, else the least that cards of the
// logged name have. In the last case the second result is a phrase about it, otherwise "".
func cardCapacity(ctx *Context) (total int64, by string, ok bool) {
	if t := ctx.root.Total; t != nil && *t > 0 && ctx.resource == "gpu" {
		return *t, "", true
	}
	for _, name := range []string{"vllm.usage", "vllm.budget", "vllm.kv_available", "reading.device"} {
		if g, ok := memory.Reading(ctx.run, ctx.incident, name); ok {
			if n, ok := g.Fields.Int("total"); ok && n > 0 {
				return n, "", true
			}
		}
	}
	if size, name, ok := memory.CardSize(ctx.run, ctx.incident); ok && name == memory.BySMI {
		return size.Low, " (" + name + ")", true
	} else if ok {
		return size.Low, " (an " + name + ", by its name)", true
	}
	return 0, "", false
}

// quantized reports whether the weights may have fewer than two bytes.
func quantized(ctx *Context) bool {
	name := strings.ToLower(ctx.run.Model.Name)
	if quantizedByName(ctx, &memory.Setup{}) || containsAny(name, []string{"bnb", "w4a", "w8a", "nvfp4", "gguf", "gpt-oss"}) {
		return true
	}
	if ctx.stackContains(8, "dequantize_4bit", "matmul_4bit", "bnb.matmul") || ctx.stackContains(40, "load_quantized(") || ctx.passesThrough("/bitsandbytes/nn/", "/auto_gptq/", "/gptqmodel/", "/awq/", "/hqq/", "/compressed_tensors/", "/quantization/fp8", "/quantization/awq", "/quantization/gptq", "/quantization/modelopt", "/quantization/mxfp4") || quantizesNow(ctx, "").truth == yes {
		return true
	}
	for _, k := range []string{"quantization", "load_in_4bit", "load_in_8bit", "qlora", "use_4bit", "use_8bit", "quantize", "quant_method"} {
		if f, ok := ctx.settings.find(k, true); ok && !isNone(f.value.Value) && !strings.EqualFold(f.value.Value, "false") {
			return true
		}
	}
	if f, ok := ctx.settings.find("model_format", true); ok && slices.Contains([]string{"awq", "gptq", "fp8", "mxfp4"}, strings.ToLower(f.value.Value)) { // LMDeploy's
		return true
	}
	for _, k := range []string{"bits", "wbits", "quantization_bit", "quant_bits"} {
		if n, ok := ctx.settings.integer(k); ok && n > 0 && n <= 8 {
			return true
		}
	}
	f, _ := ctx.settings.find("adapter", true)
	return equal(f.value.Value, "qlora")
}
