package remedies

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
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
	if room, total, found := roomBeforeWake(q.Context); found && !ok {
		m := marginOf(total)
		if to := float64(room-m) / float64(total); to < f-firstGuess {
			return f - to, fmt.Sprintf(": about %s of %s was free before it woke, less %s of margin", classifier.GiB(room), classifier.GiB(total), classifier.GiB(m))
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

// samplerCopies returns how many copies of the failed request vLLM makes after it, for the log-probs of whole prompts and for drafted tokens. The first engine
// casts the logits, then keeps their softmax, their log-softmax and the rows of the latter that it ranks beside them
// (model_executor/layers/sampler.py, 0.4 to 0.8); V1 takes a log-softmax in float32 of logits in 16 bits
// (v1/worker/gpu_model_runner.py, _get_prompt_logprobs_dict). For drafted tokens it divides the logits by their temperatures, and takes the
// softmax of that (v1/sample/rejection_sampler.py).
func samplerCopies(ctx *Context) int64 {
	const large = 1 << 30
	first := ctx.passesThrough("/vllm/model_executor/layers/sampler.py")
	switch {
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

// weights returns what the weights take of each card: the engine's figure, else two bytes per parameter. Quantized models have fewer
// bytes, but no name shows exactly how many.
func (q *paramQuery) weights() (bytes float64, how string, ok bool) {
	if g, ok := memory.Reading(q.run, q.incident, "vllm.weights"); ok {
		if n, ok := g.Fields.Int("used"); ok && n > 0 {
			return float64(n), fmt.Sprintf("%s of weights per GPU (%s)", classifier.GiB(n), g.At), true
		}
	}
	params := q.model.Parameters
	if params.Value <= 0 || quantized(q.Context) {
		return 0, "", false
	}
	tp := int64(1)
	if n, ok := q.settings.integer(engineTP...); ok {
		tp = n
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

// usualShare is the share that engines take by default. Only present values exceed it.
const usualShare = 0.9

// shareUp gives the engine what its cache lacks and a margin, up to the usual share, or to the parameter's maximum if the
// engine needs it. If it is unknown how much is lacking, a tenth of the card is a first guess.
func shareUp(q *paramQuery) proposedValue {
	f, ok := parseNumber(q.cur)
	if !ok || f <= 0 || f > 1 {
		return proposedValue{}
	}
	hi := q.most(0.9)
	b := feasibleShare(q.Context, q.p.Key, f)
	if b.low > f && b.high < hi && b.low+leastRoom > b.high {
		return proposedValue{bound: b.none(q.p.Key)}
	}
	hi = math.Min(hi, math.Floor(b.high*100)/100)
	if lacks := q.lacking(); float64(lacks) > (hi-f)*q.cardAtMost(f) {
		return atBound("%s lacks %s before any cache, more than a share of %s adds on any card", q.p.Key, classifier.GiB(lacks), fraction(hi))
	}
	if b.low > hi {
		b.high, b.highHow = hi, "the most that leaves room for anything else"
		return proposedValue{bound: b.none(q.p.Key)}
	}
	short, ok := q.shortfall()
	if all, has := q.oneSequence(); !ok && all > 0 {
		short, ok = all-has, true
	}
	if ok && q.incident.Kind == parser.KVCache && float64(short) > (hi-f)*q.cardAtMost(f) {
		return atBound("the cache lacks %s, more than a share of %s adds", classifier.GiB(short), fraction(hi))
	}
	if f >= hi-1e-9 {
		return atBound("%s is %s already; more leaves no room for anything else", q.p.Key, fraction(f))
	}
	usual := hi
	if f < usualShare-1e-9 && b.low <= usualShare {
		usual = math.Min(hi, usualShare)
	}
	if b.low > f && b.low < usualShare && q.root.Requested == nil && !b.cache {
		// Not even the memory before the cache fits. How much cache is needed is unknown.
		to := math.Min(math.Floor((b.low+usualShare)*50)/100, usual)
		return proposedValue{to: fraction(to), how: fmt.Sprintf("the middle between %s (%s) and the usual %s", fraction(math.Ceil(b.low*100)/100), b.lowHow, fraction(usualShare))}
	}
	if b.low > f {
		room, roomHow := 0.0, ""
		if !b.cache {
			room, roomHow = q.cacheRoom()
		}
		if total, _, ok := cardCapacity(q.Context); ok {
			room, roomHow = room+float64(min(marginOf(total), 2<<30))/float64(total), roomHow+", and a margin"
		}
		to := math.Max(math.Min(math.Ceil((b.low+room)*100-1e-6)/100, usual), math.Ceil(b.low*100-1e-6)/100)
		return proposedValue{to: fraction(math.Min(to, hi)), how: fmt.Sprintf("at least %s: %s%s", fraction(math.Ceil(b.low*100)/100), b.lowHow, roomHow)}
	}
	if to := math.Floor((f+usualShare)*50) / 100; to > f+firstGuess && to <= usual && !mayShareCard(q.Context) {
		return proposedValue{to: fraction(to), how: fmt.Sprintf("the middle between %s and the usual %s: the log does not show what is missing", fraction(f), fraction(usualShare))}
	}
	to := math.Min(f+firstGuess, usual)
	if weights, how, ok := q.weights(); ok && weights*usualWeights > to*commonCard && weights*usualWeights <= usual*commonCard {
		to = math.Ceil(weights*usualWeights/commonCard*100) / 100
		return proposedValue{to: fraction(to), how: fmt.Sprintf("%s, and half of that beside them, on a GPU of 80 GiB: the log does not show the card", how)}
	}
	return proposedValue{to: fraction(to), how: fmt.Sprintf("%s + %s, a first guess: the log does not show what is missing", fraction(f), fraction(to-f))}
}

// usualWeights is how much an engine takes at least for each byte of weights, with a step and some cache, and commonCard the largest of the
// common cards, in bytes.
const (
	usualWeights = 1.5
	commonCard   = 79 << 30
)

// weightsBeyond returns how many GiB of the weights must leave the card so that a quarter of it is free. Beyond a card's size
// nearly every layer would be copied in each step.
func weightsBeyond(q *paramQuery) proposedValue {
	const most = 0.75
	share, how, ok := q.weightShare()
	total, _, known := cardCapacity(q.Context)
	if !ok || !known || share <= most || share > 1+most {
		return proposedValue{}
	}
	return proposedValue{to: itoa(ceilDiv(int64((share-most)*float64(total)), 1<<30)), how: fmt.Sprintf("%s, less three quarters of %s", how, classifier.GiB(total))}
}

// cardsUp raises a share that counts cards, as unified memory has them: it doubles until the request fits.
func cardsUp(q *paramQuery) proposedValue {
	f, ok := parseNumber(q.cur)
	if !ok || f <= 0 || f > 64 {
		return proposedValue{}
	}
	to, how := 2*max(f, 1), ""
	if r := q.root; r.Requested != nil && r.Total != nil && *r.Total > 0 {
		for float64(*r.Requested) > (to-1)*float64(*r.Total) {
			to *= 2
		}
		how = fmt.Sprintf(": %s were requested on a card of %s", classifier.GiB(*r.Requested), classifier.GiB(*r.Total))
	}
	if to > q.most(64) {
		return proposedValue{}
	}
	return proposedValue{to: strconv.FormatFloat(to, 'f', 1, 64), how: fmt.Sprintf("%s / %s = %s times as much%s", strconv.FormatFloat(to, 'f', 1, 64), fraction(f), fraction(to/f), how)}
}

// largestCard is the most memory that a card has in 2026, in bytes.
const largestCard = 288 << 30

// lacking returns what the engine says it lacks before any cache, or 0.
func (q *paramQuery) lacking() int64 {
	for _, name := range []string{"vllm.kv_available", "vllm.profile"} {
		if g, ok := memory.Reading(q.run, q.incident, name); ok {
			left, _ := g.Fields.Int("available")
			return max(-left, 0)
		}
	}
	return 0
}

// oneSequence returns what one sequence of the planned length takes of each card's cache, and what the cache has, by the tokens in the
// engine's message and the model's layers; 0 where they are unknown.
func (q *paramQuery) oneSequence() (all, has int64) {
	in := q.input()
	if q.incident.Kind != parser.KVCache || in.OneSequence <= 0 || in.CacheTokens <= 0 || in.CacheTokens >= in.PlannedTokens {
		return 0, 0
	}
	return in.OneSequence, int64(float64(in.OneSequence) * float64(in.CacheTokens) / float64(in.PlannedTokens))
}

// cardAtMost returns the most memory that the card can have: as logged or, with what vLLM measures beside its cache taken for no more than
// a quarter of weights and cache, by the share f.
func (q *paramQuery) cardAtMost(f float64) float64 {
	if total, _, ok := cardCapacity(q.Context); ok {
		return float64(total)
	}
	used, _, ok1 := q.weights()
	cache, ok2 := memory.Reading(q.run, q.incident, "vllm.kv_available")
	left, _ := cache.Fields.Int("available")
	if short, ok := q.shortfall(); !ok2 && ok && q.root.Requested != nil {
		left, ok2 = *q.root.Requested-short, true
	}
	if all, has := q.oneSequence(); !ok2 && all > 0 {
		left, ok2 = has, true
	}
	if !ok1 || !ok2 || used*5/4+float64(left) <= 0 {
		return largestCard
	}
	return min((used*5/4+float64(left))/f, largestCard)
}

// leastRoom is the share of the card for a cache of unknown size.
const leastRoom = 0.02

// cacheRoom returns the share of the card for the cache of one sequence, if the engine's bounds leave out the cache.
func (q *paramQuery) cacheRoom() (share float64, how string) {
	if q.root.Requested != nil {
		return 0, "" // what the cache lacks is counted already
	}
	total, _, ok := cardCapacity(q.Context)
	length, okLength := q.settings.integer("max_model_len", "max_seq_len", "actor_rollout_ref.rollout.max_model_len")
	each, _ := tokenBytes(q.Context)
	if !ok || !okLength || length > mostTokens || each <= 0 || float64(each)*float64(length) > float64(total) {
		return leastRoom, ", and room for the cache"
	}
	return max(float64(each*length)/float64(total), leastRoom), fmt.Sprintf(", and %s for the cache of one sequence of %s tokens", classifier.GiB(each*length), memory.Thousands(length))
}

// shareFit returns the memory that was free at the engine's start as a share, in steps of 0.05. Below the parameter's minimum it takes
// steps of 0.01, if the weights are known to fit.
func shareFit(q *paramQuery) proposedValue {
	r := q.root
	f, ok := parseNumber(q.cur)
	if !ok || r.Free == nil || r.Total == nil || *r.Free <= 0 || *r.Total <= 0 {
		return proposedValue{}
	}
	b := feasibleShare(q.Context, q.p.Key, f)
	if b.empty() {
		return proposedValue{bound: b.none(q.p.Key)}
	}
	had := float64(*r.Free) / float64(*r.Total)
	to := math.Floor(had*20) / 20
	step := "0.05"
	if low := q.floor(0.3); to < low {
		to, step = math.Floor(had*100)/100, "0.01"
		if b.low == 0 || to < b.low {
			return proposedValue{}
		}
	}
	if to >= f {
		return proposedValue{}
	}
	return proposedValue{to: fraction(to), how: fmt.Sprintf("%s free / %s = %.3f, rounded down to a multiple of %s", classifier.GiB(*r.Free), classifier.GiB(*r.Total), had, step)}
}

// offloadState turns on an offload.
func offloadState(q *paramQuery) proposedValue {
	if on, ok := parseBool(q.cur); ok && on {
		return atBound("%s is %s already", q.p.Key, q.cur)
	}
	return proposedValue{to: q.p.Value}
}

// adapterRank returns the least rank that vLLM takes for the adapter whose rank the log has: a power of two from 8 on.
func adapterRank(q *paramQuery, n int64) proposedValue {
	r, ok := q.settings.integer("r", "lora_rank")
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
		rows := max(int64(float64(n)*float64(*r.Free+*r.Requested)/float64(2**r.Requested)), 1)
		to := int64(1) << (bits.Len64(uint64(rows)) - 1)
		freed := 2 * *r.Requested / n * (n - to)
		return proposedValue{to: itoa(to), freed: &freed, how: fmt.Sprintf("%s for %d sequences beside as much of logits, and %s was free", classifier.GiB(*r.Requested), n, classifier.GiB(*r.Free))}
	}
	if q.is("graph_capture") && n > 256 {
		return proposedValue{to: "128", how: "graphs are captured for up to twice as many sequences, and for 512 at most"} // vllm/config/vllm.py
	}
	if q.is("makes_decoder") && n > 256 {
		return proposedValue{to: "256", how: "the decoder has several buffers with a row of the longest sequence for each request"}
	}
	if q.is("profile_run") && (q.is("vision") || q.is("encoder_batch")) { // a layer holds several tensors like the one that failed
		return quarter(q, n)
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
