package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// cacheAway returns why a smaller share of an engine frees nothing during a weight update, or "": its cache, which alone would shrink, is not on
// the card. vLLM says so when only its weights wake up; otherwise, the engine holds far less than its share.
func cacheAway(q *question) string {
	ctx, r, changes := q.Context, q.root, q.changes
	if g, woke := lastReading(ctx.run, "vllm.woke"); woke && g.Fields["tags"] == "'weights'" && ctx.phase == "weight_update" && !ctx.is("engine_wakes") && !ctx.is("engine_process") {
		return "vLLM woke up its weights alone: its cache is not on the card"
	}
	if ctx.phase != "weight_update" || ctx.is("engine_process") || r.Total == nil || r.OtherProcesses == nil || len(changes) == 0 || changes[0].From == nil {
		return ""
	}
	share, ok := parseNumber(*changes[0].From)
	if all := int64(share * float64(*r.Total)); ok && share < 1 && *r.OtherProcesses > 0 && *r.OtherProcesses < all/4*3 {
		return fmt.Sprintf("the engine holds %s of its share of %s: its cache is not on the card", classifier.GiB(*r.OtherProcesses), classifier.GiB(all))
	}
	return ""
}

// gatheredBeside returns why no setting of an engine makes room for a model that is gathered whole, or "": what the request lacked is only
// the next of its tensors, and vLLM fills its share, which is still too large.
func gatheredBeside(q *question) string {
	share, ok := q.settings.find("vllm_gpu_memory_utilization", true)
	value := share.value.Value
	if i := slices.IndexFunc(q.changes, func(c change) bool { return c.To != nil && q.lever == "share-down" }); i >= 0 {
		value = *q.changes[i].To
	}
	f, number := parseNumber(value)
	if !ok || !number {
		return ""
	}
	return cause.GatheredBeside(q.input(), f)
}

// engineUntouched returns why a setting of the engine has no effect yet, or "".
func engineUntouched(q *question) string {
	ctx, topic, changes := q.Context, q.item.Topic, q.changes
	switch {
	case !strings.HasPrefix(topic, "engine-"):
	case pullsOne([]string{"graphs", "eager"}, topic, changes) && ctx.is("eager"):
		return ctx.holds("eager").why
	case pullsOne([]string{"graphs", "eager"}, topic, changes) && ctx.is("uncounted_graphs"):
		return ctx.holds("uncounted_graphs").why
	case pullsOne([]string{"graphs", "eager"}, topic, changes) && engineApart(ctx) != "":
		return engineApart(ctx)
	case pullsOne([]string{"graphs", "eager"}, topic, changes) && ctx.stackContains(3, "_allocate_kv_cache"):
		return "it failed while the planned cache was taken, before any graph"
	case topic == "engine-sleep" && ctx.phase == "init" && ctx.is("engine_process") && !ctx.is("engine_wakes"):
		return "the engine failed as it started, before its first rollout"
	case (topic == "engine-max-len" || topic == "engine-kv-dtype") && ctx.is("nothing_for_cache") && ctx.recognisedAs("sglang."):
		return ctx.holds("nothing_for_cache").why // srt/model_executor/model_runner.py divides what is left by the bytes of a token
	case pullsOne([]string{"engine-chunk", "engine-seqs", "engine-length"}, topic, changes) && takesMemory(ctx):
		return "it failed while memory was taken as planned, before a step"
	case topic != "engine-share-up" && countedAgainst(ctx) > 0:
		return "another process's memory counts against the share: a larger one makes up for it"
	case pullsOne([]string{"engine-tp", "engine-quantization", "kv-dtype", "eager"}, topic, changes) && takesShare(ctx):
		return "the cache takes the same share of whatever is free"
	case topic == "engine-quantization" && ctx.run.Engine == "vllm" && ctx.stackContains(3, "_allocate_kv_cache"):
		return "the engine fills its share of each GPU: its cache takes what smaller weights leave"
	case topic == "engine-tp" && shareStays(ctx):
		return "the engine fills its share of each GPU: its cache takes what smaller weights leave"
	case (topic == "engine-tp" || topic == "engine-quantization") && smallWeights(ctx, topic) != "":
		return smallWeights(ctx, topic)
	case topic == "engine-quantization" && ctx.is("exceeds_in_4_bits"):
		return ctx.holds("exceeds_in_4_bits").why
	case topic == "engine-prefill-chunk" && chunkTooSmall(ctx, changes):
		return "a smaller step frees less than the cache lacks"
	case engineComes(ctx):
		return "the engine starts only after the trainer has loaded its model"
	case ctx.is("less_than_desired") && topic != "engine-share-down" && topic != "engine-sleep":
		return "the engine compares its share with the free memory before it loads anything"
	}
	return ""
}

// smallWeights returns why smaller weights, or half of them and of the cache on twice the GPUs, make no room for one sequence, or "".
func smallWeights(ctx *Context, topic string) string {
	q := &paramQuery{Context: ctx, p: &Parameter{}}
	short, lacks := ctx.shortfall()
	weights, how, ok := q.weights()
	all := deref(ctx.root.Requested)
	if n, has := q.oneSequence(); !lacks && n > 0 {
		all, short, lacks = n, n-has, true
	}
	if !lacks || !ok || ctx.incident.Kind != parser.KVCache || all == 0 {
		return ""
	}
	frees := int64(weights * 3 / 4) // in 4 bits
	if topic == "engine-tp" {       // half of the request must fit into the cache that is there and half of the weights
		frees = int64(weights) + all - short
	}
	if short <= frees {
		return ""
	}
	return fmt.Sprintf("the cache of one sequence lacks %s, more than this frees of %s", classifier.GiB(short), how)
}

// shareBelowWeights returns why a smaller step makes no room for a cache in vLLM's share, or "": the share lacks more than the activations
// take, which are all that a smaller step changes.
func shareBelowWeights(q *question) string {
	lacks := (&paramQuery{Context: q.Context, p: &Parameter{}}).lacking()
	g, ok := memory.Reading(q.run, q.incident, "vllm.profile")
	activations, known := g.Fields.Int("activations")
	if !ok || !known || q.incident.Kind != parser.KVCache || lacks <= activations {
		return ""
	}
	return fmt.Sprintf("the share lacks %s before any cache, more than the activations take, %s", classifier.GiB(lacks), classifier.GiB(activations))
}

// weightsExceedShare returns why nothing beside the weights makes room in the share of vLLM or SGLang, or "": the weights alone take all of
// it. It needs their size as measured, or as the model has it in 16 bits.
func weightsExceedShare(q *question) string {
	weights, how, ok1 := (&paramQuery{Context: q.Context, p: &Parameter{}}).weights()
	share, ok2 := q.settings.find(shareKeys[engineOf(q.Context)], true)
	f, ok3 := parseNumber(share.value.Value)
	total, by, ok4 := cardCapacity(q.Context)
	if size, _, ok := memory.CardSize(q.run, q.incident); ok && by != "" {
		total = size.High
	}
	if !ok1 || !ok2 || !ok3 || !ok4 || f <= 0 || f > 1 || q.incident.Kind != parser.KVCache || weights < f*float64(total) {
		return ""
	}
	return fmt.Sprintf("%s take all of the share: %s x %s = %s", how, fraction(f), classifier.GiB(total), classifier.GiB(int64(f*float64(total))))
}

// shareKeys maps engines to the setting of the share that holds weights and cache.
var shareKeys = map[string]string{memory.VLLM: "gpu_memory_utilization", memory.SGLang: "mem_fraction_static"}

// littleBesideCache returns why neither CUDA graphs nor a smaller step make room for one sequence in vLLM's cache, or "": all that its share
// holds beside weights and cache is less than the cache lacks.
func littleBesideCache(q *question) string {
	short, lacks := q.shortfall()
	total, by, ok1 := cardCapacity(q.Context)
	if size, _, ok := memory.CardSize(q.run, q.incident); ok && by != "" {
		total = size.High
	}
	g, ok2 := memory.Reading(q.run, q.incident, "vllm.weights")
	weights, ok3 := g.Fields.Int("used")
	share, ok4 := q.settings.find("gpu_memory_utilization", true)
	f, ok5 := parseNumber(share.value.Value)
	if !lacks || !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || f > 1 || q.incident.Kind != parser.KVCache || q.root.Requested == nil || engineOf(q.Context) != memory.VLLM {
		return ""
	}
	rest := int64(f*float64(total)) - weights - (*q.root.Requested - short)
	if rest < 0 || rest >= short {
		return ""
	}
	return fmt.Sprintf("the cache lacks %s, and the share holds only %s beside weights and cache", classifier.GiB(short), classifier.GiB(rest))
}

// exceedsIn4Bits says that an engine's weights, which must all be on its cards, do not fit in 4 bits either: with their scales those take 4.5.
func exceedsIn4Bits(ctx *Context, _ string) verdict {
	q := &paramQuery{Context: ctx, p: &Parameter{}}
	weights, how, ok := q.weights()
	total, _, known := cardCapacity(ctx)
	if !ok || !known || ctx.resource != "gpu" || ctx.is("framework:llamacpp") || ctx.is("framework:ollama") {
		return verdict{}
	}
	least := int64(weights / 16 * 4.5)
	return verdict{truthOf(least > total), fmt.Sprintf("%s take %s in 4 bits, and the card has %s", how, classifier.GiB(least), classifier.GiB(total))}
}

// engineApart returns why neither an engine's share nor its CUDA graphs are what a trainer lacks, or "": the engine runs in its own
// processes, which hold little of the card or less than was missing.
func engineApart(ctx *Context) string {
	const little = 1 << 30 // of CUDA contexts
	r := ctx.root
	if why := cacheReleased(ctx); why != "" {
		return why
	}
	if !trains(ctx) && ctx.phase != "checkpoint" || ctx.is("engine_process") || r.ProcessBytes == nil || !ownProcesses(ctx) {
		return ""
	}
	held, known := int64(0), false
	if others := ctx.input().Others; others != nil {
		held, known = *others, true
	} else if r.Total != nil && r.Free != nil {
		held, known = max(*r.Total-*r.Free-*r.ProcessBytes, 0), true
	}
	if short, ok := ctx.shortfall(); !known || held > little && (!ok || held >= short) {
		return ""
	}
	return fmt.Sprintf("the engine runs in its own processes, and all others hold only %s of this card", classifier.GiB(held))
}

// cacheReleased returns why the share of an engine that sleeps in the trainer's process does not matter in a weight update, or "": what is
// not PyTorch's is much less than the share, so the engine has its weights back and not its cache.
func cacheReleased(ctx *Context) string {
	const contexts = 4 << 30 // with no more than these, the engine's memory may be PyTorch's
	r := ctx.root
	share, ok := awakeShare(ctx)
	_, sleeps := ctx.settings.flag("free_cache_engine", "vllm_enable_sleep_mode", "vllm_enable_sleep")
	level, _ := ctx.settings.integer("sleep_level") // of ms-swift
	if ctx.phase != "weight_update" || ctx.is("engine_process") || sleeps != yes && level < 1 || !ok || r.Free == nil || r.Allocated == nil || r.ReservedUnallocated == nil {
		return ""
	}
	outside := *r.Total - *r.Free - *r.Allocated - *r.ReservedUnallocated
	if outside < contexts || outside > share/4*3 {
		return ""
	}
	return fmt.Sprintf("the engine has not taken its cache back: all that is not PyTorch's is %s, and its share is %s", classifier.GiB(outside), classifier.GiB(share))
}

// ownProcesses reports whether the run's engine never runs in the trainer's process: with Ray actors or servers of its own. verl runs
// SGLang so, and any engine since 0.7.
func ownProcesses(ctx *Context) bool {
	if ctx.run.Framework == "verl" {
		in, known := versionIn(ctx.run.FrameworkVersion, ">=0.7")
		return ctx.run.Engine == "sglang" || known && in
	}
	return slices.Contains([]string{"areal", "nemo_rl", "openrlhf", "relax", "slime"}, ctx.run.Framework) || ctx.is("vllm_mode=server")
}

// smallGraphs says that the CUDA graphs of an engine, whose size it printed after their capture, take far less than was missing. Phases and
// models have graphs of their own, which add up.
func smallGraphs(q *question) string {
	const others = 3
	about := ""
	short, ok := q.shortfall()
	if !ok {
		about = "about "
		short, ok = wakeLacks(q.Context)
	}
	if !ok || q.incident.Kind == parser.KVCache || q.phase == "init" {
		return ""
	}
	most := int64(0)
	for _, g := range q.run.Gauges {
		if n, read := g.Fields.Int("used"); read && (g.Name == "vllm.graphs" || g.Name == "sglang.mem_graphs") {
			most = max(most, n)
		}
	}
	if most <= 0 || most > short/others {
		return ""
	}
	return fmt.Sprintf("the graphs take %s, and %s%s was missing", classifier.GiB(most), about, classifier.GiB(short))
}
