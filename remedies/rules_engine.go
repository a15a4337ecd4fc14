package remedies

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// firstGuess is the step of an engine's share of the card if the log does not show how much was missing.
const firstGuess = 0.1

// marginOf returns the margin that a change leaves on a card: a twentieth of it.
func marginOf(total int64) int64 { return total / 20 }

// shareFor returns the missing part of a share plus a margin, or a first guess if that is unknown.
func shareFor(q *paramQuery, f float64) (step float64, how string) {
	short, ok := q.shortfall()
	t := q.root.Total
	if room, total, size, found := roomBeforeWake(q.Context); found && !ok {
		m := marginOf(total)
		if back, at, known := wakesWith(q.Context, room); known && back > room {
			return float64(back-room+m) / float64(total), fmt.Sprintf(": it takes back %s (%s), about %s of %s was free, and %s of margin", classifier.GiB(back), at, classifier.GiB(room), size, classifier.GiB(m))
		}
		if to := float64(room-m) / float64(total); to < f-firstGuess {
			return f - to, fmt.Sprintf(": about %s of %s was free before it woke, less %s of margin", classifier.GiB(room), size, classifier.GiB(m))
		}
	}
	if lacks, total, found := trainerLacks(q.Context); found && !ok {
		m := marginOf(total)
		return math.Max(float64(lacks+m)/float64(total), firstGuess), fmt.Sprintf(" for %s that the trainer's states were short of when it woke up, and %s of margin", classifier.GiB(lacks), classifier.GiB(m))
	}
	if cache := cacheOfAnother(q.Context); cache > 0 && ofWhatIsFree(q.p.Key) && q.root.Requested != nil {
		free := float64(cache) / f
		if need := 1.25*float64(*q.root.Requested) + 2<<30; need < free*(1-q.leastShare()) { // its activations and a cache of its own
			return f - (free-need)/free, fmt.Sprintf(" for the other engine of %s, a quarter more and 2.00 GiB, of the %s that were free", classifier.GiB(*q.root.Requested), classifier.GiB(int64(free)))
		}
	}
	if !ok || t == nil || *t <= 0 || q.incident.Kind != parser.GPUOOM {
		if v, ok := parseNumber(q.p.Value); ok && v > 0 && v < f && ofWhatIsFree(q.p.Key) {
			return f - v, ", the document's value: the log does not show how much was missing"
		}
		if q.passesThrough("/vllm/device_allocator/cumem.py") {
			return math.Max(firstGuess, f/4), ", a quarter, as a first guess: the log does not show what the trainer left free"
		}
		return firstGuess, ", a first guess: the log does not show how much was missing"
	}
	base, of, known := shareBase(q)
	if !known {
		return f / 3, ", a third, as a first guess: the log does not show what the weights leave"
	}
	if ofWhatIsFree(q.p.Key) && q.phase == "init" && q.passesThrough("/accelerate/big_modeling.py", "/transformers/modeling_utils.py") {
		return f / 3, ", a third, as a first guess: the log does not show how much of the vision tower was still to come"
	}
	why := "that was missing"
	if n := samplerCopies(q.Context); n > 0 {
		short, why = short+n**q.root.Requested, fmt.Sprintf("that was missing, with %d more copies that the sampler makes,", n)
	}
	if n := cacheToCome(q, f); n > short {
		short, why = n, "of a cache that was still to come"
	}
	if n := weightsToCome(q.Context); n > short {
		short, why = n, "of weights that were still to come back"
	}
	for _, more := range []still{graphsToCome(q.Context), scoresToCome(q.Context), moreLogits(q.Context)} {
		if more.bytes > 0 {
			short, why = short+more.bytes, fmt.Sprintf("that was missing, with another %s %s,", classifier.GiB(more.bytes), more.why)
		}
	}
	m, what := marginOf(*t), "margin"
	if n, how := idleCache(q.Context); n > m {
		m, what = n, how
	}
	if n := deref(q.root.Requested); n > m && deref(q.root.OtherProcesses) > 0 && trains(q.Context) && !q.is("engine_process") {
		m, what = n, "another tensor like it" // of those so large, as logits are, a step has several
	}
	return float64(short+m) / float64(base), fmt.Sprintf(" for %s %s and %s of %s%s", classifier.GiB(short), why, classifier.GiB(m), what, of)
}

// samplerCopies returns how many copies of the failed request vLLM makes after it. torch's sort has two more buffers like its
// indices while it is at work (aten/src/ATen/native/cuda/SortStable.cu). For the log-probs of whole prompts, the first engine
// casts the logits, then keeps their softmax, their log-softmax and the rows of the latter that it ranks beside them
// (model_executor/layers/sampler.py, 0.4 to 0.8); V1 takes a log-softmax in float32 of logits in 16 bits
// (v1/worker/gpu_model_runner.py, _get_prompt_logprobs_dict). For drafted tokens it divides the logits by their temperatures, and takes the
// softmax of that (v1/sample/rejection_sampler.py).
func samplerCopies(ctx *Context) int64 {
	const large = 1 << 30
	first := ctx.passesThrough("/vllm/model_executor/layers/sampler.py")
	switch {
	case ctx.is("sampler") && ctx.stackContains(1, "logits.sort("):
		return 2
	case deref(ctx.root.Requested) < large:
		return 0
	case first && ctx.stackContains(1, "logits.to(torch.float"):
		return 3
	case ctx.passesThrough("/vllm/v1/sample/rejection_sampler.py") && ctx.stackContains(1, "/ temperature"):
		return 1 // their softmax
	case first && ctx.stackContains(1, "torch.softmax("), ctx.stackContains(12, "_get_prompt_logprobs_dict") && ctx.stackContains(8, "compute_logits("):
		return 2
	}
	return 0
}

// weightsToCome returns how much of a rank's offloaded weights was still on the host when verl loaded them back to the card
// (utils/fsdp_utils.py), 0 if that is unknown.
func weightsToCome(ctx *Context) int64 {
	if ctx.root.Allocated == nil || !ctx.stackContains(8, "load_fsdp_model_to_gpu") {
		return 0
	}
	all, _ := ctx.setup.Budget(memory.PhaseForward).Part("weights")
	return max(all.Low-*ctx.root.Allocated, 0)
}

// freeShares lists settings that are a share of the memory left after loading the weights, not of the card (TensorRT-LLM
// kv_cache_config, lmdeploy's documents).
var freeShares = []string{"free_gpu_memory_fraction", "free_gpu_mem_fraction", "cache_max_entry_count"}

func ofWhatIsFree(key string) bool {
	name := strings.ReplaceAll(plain(key), ".", "_")
	return slices.ContainsFunc(freeShares, func(k string) bool { return strings.HasSuffix(name, k) })
}

// shareBase returns what a setting is a share of: the card, or what the weights leave, which may be unknown.
func shareBase(q *paramQuery) (base int64, of string, known bool) {
	t := *q.root.Total
	if !ofWhatIsFree(q.p.Key) {
		if left, weights, _, ok := sglangLoaded(q.Context); ok && trains(q.Context) { // an engine may have read a draft model's weights last
			return left + weights, fmt.Sprintf(", of the %s that SGLang found free", classifier.GiB(left+weights)), true
		}
		return t, "", true
	}
	weights, how, ok := q.weightShare()
	if !ok || weights >= 1 {
		return 0, "", false
	}
	base = int64(float64(t) * (1 - weights))
	return base, fmt.Sprintf(", of the %s that %s leave", classifier.GiB(base), how), true
}

// leastShare is how little of a card an engine is told to take, and of what the weights leave.
func (q *paramQuery) leastShare() float64 {
	if ofWhatIsFree(q.p.Key) {
		return q.floor(0.1)
	}
	return q.floor(0.3)
}

// shareDown takes what was missing from the engine, but not below the parameter's minimum or the engine's needs. If too little
// would remain, it takes the middle of the working range.
func shareDown(q *paramQuery) proposedValue {
	if n, ok := q.int(); ok && n > 1 { // a number of sequences: LMDeploy before 0.1
		return halve(q, n)
	}
	f, ok := parseNumber(q.cur)
	if !ok || f <= 0 || f > 1 {
		return proposedValue{}
	}
	b := feasibleShare(q.Context, q.p.Key, f)
	if b.empty() {
		return proposedValue{bound: b.none(q.p.Key)}
	}
	low, why := q.leastShare(), "the floor of this advice"
	if need := b.low; need > low {
		low, why = need, b.lowHow
		if !b.cache { // the cache of one sequence is unknown
			low, why = need*1.05, "1.05 x "+b.lowHow
		}
	}
	if f <= math.Max(b.low, q.leastShare())+1e-9 {
		return atBound("%s is %s already (%s is %s)", q.p.Key, fraction(f), why, fraction(low))
	}
	step, short := shareFor(q, f)
	to := f - step
	how := ""
	if q.phase == "init" && (!q.is("engine_process") || q.passesThrough("_trainer.py")) && b.low > 0 && to > low {
		to = (low + to) / 2
		how = fmt.Sprintf("the middle between %s (%s) and %s, because the first step's tensors are still to come", fraction(math.Ceil(low*100)/100), why, fraction(f-step))
	}
	if to < low {
		to = low
		if middle := (b.low + math.Min(b.high, f)) / 2; low >= math.Min(b.high, f) {
			to, how = middle, fmt.Sprintf("the middle between %s (%s) and %s", fraction(math.Ceil(b.low*100)/100), b.lowHow, fraction(math.Min(b.high, f)))
		}
	}
	if how == "" { // less is safer, as long as the engine has what it needs
		to = math.Max(math.Floor(to*100+1e-6)/100, low)
	}
	to = math.Ceil(to*100-1e-6) / 100
	if to > b.high {
		to = math.Floor(b.high*100) / 100
	}
	if to >= f || to < b.low {
		return atBound("%s is %s already (%s is %s)", q.p.Key, fraction(f), why, fraction(low))
	}
	out := proposedValue{to: fraction(to), how: fmt.Sprintf("%s - %s", fraction(f), fraction(f-to)) + short}
	if how != "" {
		out.how = how
	} else if f-step < low {
		out.how += fmt.Sprintf(", not below %s (%s)", fraction(low), why)
	}
	if t := q.root.Total; t != nil && *t > 0 {
		if base, _, known := shareBase(q); known {
			freed := int64(math.Round((f - to) * float64(base)))
			out.freed = &freed
			out.how += fmt.Sprintf(": frees %s of %s", classifier.GiB(freed), classifier.GiB(*t))
		}
	}
	return out
}

// weightShare returns the share of the card that the weights need.
func (q *paramQuery) weightShare() (share float64, how string, ok bool) {
	total, _, ok1 := cardCapacity(q.Context)
	bytes, how, ok2 := q.weights()
	if !ok1 || !ok2 {
		return 0, "", false
	}
	return bytes / float64(total), how, true
}

// published returns what the weights of a model take that its publisher quantized, 0 for others and for those that somebody stored otherwise.
func published(name string) int64 {
	known, ok := memory.KnownModel(name)
	if !ok || containsAny(strings.ToLower(name), []string{"bf16", "gguf", "bnb", "awq", "gptq", "int4", "int8", "w4a", "w8a", "fp4", "1.58", "iq"}) {
		return 0
	}
	return known.Published
}

// weights returns what the weights take of each card: the engine's figure, else the size of a checkpoint that is published quantized, else two
// bytes per parameter. Other quantized models have fewer bytes, but no name shows exactly how many.
func (q *paramQuery) weights() (bytes float64, how string, ok bool) {
	if g, ok := memory.Reading(q.run, q.incident, "vllm.weights"); ok {
		if n, ok := g.Fields.Int("used"); ok && n > 0 {
			return float64(n), fmt.Sprintf("%s of weights per GPU (%s)", classifier.GiB(n), g.At), true
		}
	}
	tp := int64(1)
	if n, ok := q.settings.integer(engineTP...); ok {
		tp = n
	}
	if n := published(q.run.Model.Name) / max(tp, 1); n > 0 {
		return float64(n), classifier.GiB(n) + " of weights per GPU, as published", true
	}
	params := q.model.Parameters
	if params.Value <= 0 || quantized(q.Context) {
		return 0, "", false
	}
	bytes = 2 * float64(params.Value) / float64(tp)
	wide := ""
	if cause.WideEngine(q.input()) != "" {
		bytes, wide = 2*bytes, " in float32"
	}
	how = fmt.Sprintf("%s of weights%s per GPU", classifier.GiB(int64(bytes)), wide)
	if params.Named {
		how += ", by the model's name"
	}
	return bytes, how, true
}

// offloadState turns on an offload.
func offloadState(q *paramQuery) proposedValue {
	if on, ok := parseBool(q.cur); ok && on {
		return atBound("%s is %s already", q.p.Key, q.cur)
	}
	return proposedValue{to: q.p.Value}
}

// adapterRank returns the least rank that vLLM takes for the adapter whose rank the log has: a power of two from 8 on. Without one, it is a
// quarter of what is set where the cache lacks room.
func adapterRank(q *paramQuery, n int64) proposedValue {
	r, ok := q.settings.integer("r", "lora_rank")
	if !ok && n > 64 && q.is("kv_sizing") {
		return proposedValue{to: itoa(n / 4), how: "a quarter of it: the log does not show the adapters' ranks, and vLLM refuses an adapter of a higher one"}
	}
	if !ok || r < 1 {
		return proposedValue{}
	}
	if r >= n {
		return atBound("an adapter in the log has rank %d", r)
	}
	to := max(int64(1)<<bits.Len64(uint64(r-1)), q.least())
	return proposedValue{to: itoa(to), how: fmt.Sprintf("an adapter in the log has rank %d", r)}
}

// fewerSequences returns half as many, or the largest power of two for which each sequence gets a cache block or the sampler's
// rows fit; the logits before them shrink too.
func fewerSequences(q *paramQuery, n int64) proposedValue {
	if r := q.root; q.is("sampler") && r.Requested != nil && r.Free != nil && *r.Free > 0 && *r.Free < *r.Requested && n < mostTokens {
		each := 2 + samplerCopies(q.Context)
		rows := max(int64(float64(n)*float64(*r.Free+*r.Requested)/float64(each**r.Requested)), 1)
		to := int64(1) << (bits.Len64(uint64(rows)) - 1)
		freed := each * *r.Requested / n * (n - to)
		return proposedValue{to: itoa(to), freed: &freed, how: fmt.Sprintf("%s for %d sequences beside %s of logits and copies, and %s was free", classifier.GiB(*r.Requested), n, classifier.GiB((each-1)**r.Requested), classifier.GiB(*r.Free))}
	}
	if q.is("graph_capture") && n > 256 {
		return proposedValue{to: "128", how: "graphs are captured for up to twice as many sequences, and for 512 at most"} // vllm/config/vllm.py
	}
	if q.is("makes_decoder") && n > 256 {
		return proposedValue{to: "256", how: "the decoder has several buffers with a row of the longest sequence for each request"}
	}
	if q.is("profile_run") && (q.is("vision") || q.is("encoder_batch")) { // a layer holds several tensors like the one that failed, and later ones more
		to := max(n/8, q.least(), 1)
		return proposedValue{to: itoa(to), how: fmt.Sprintf("%d / 8: each sequence comes with a picture or a recording", n)}
	}
	blocks, ok := parseInt(readField(q.Context, "blocks", "vllm.mamba_blocks"))
	if !ok || blocks < 1 || blocks >= n {
		return halve(q, n)
	}
	to := int64(1) << (bits.Len64(uint64(blocks)) - 1)
	return proposedValue{to: itoa(to), how: fmt.Sprintf("each takes one of the cache's %d blocks", blocks)}
}

// concurrency takes the guide's step from 256 to 200, and powers of two below it.
func concurrency(q *paramQuery, n int64) proposedValue {
	switch {
	case n == 1:
		return atBound("%s is 1 already", q.p.Key)
	case n >= 256:
		return proposedValue{to: itoa(n / 32 * 25), how: fmt.Sprintf("the guide's step (256 to 200): %d x 200 / 256", n)}
	}
	to := int64(1) << (bits.Len64(uint64(n-1)) - 1)
	return proposedValue{to: itoa(to), how: fmt.Sprintf("the next smaller power of two below %d", n)}
}
