package remedies

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// proposedValue is what a rule says of a parameter.
type proposedValue struct {
	to    string // empty: no value can be computed
	how   string // the arithmetic, for a person to check
	bound string // not empty: the value is at its bound, and why
	freed *int64 // bytes
}

// paramQuery is one parameter of one incident.
type paramQuery struct {
	*Context
	p   *Parameter
	cur string // the value now, never empty; it may be None
}

// rules compute the next value of a parameter from the one it has. None of them is asked when the log does not tell
// the value. What they return is checked once more against the parameter's direction and bounds: see allowed.
var rules = sync.OnceValue(func() map[string]func(q *paramQuery) proposedValue {
	return map[string]func(q *paramQuery) proposedValue{
		"halve":               whole(halve),
		"halve_micro":         whole(halveMicro),
		"accumulate":          whole(accumulate),
		"halve_micro_divisor": whole(halveMicroDivisor),
		"halve_micro_global":  whole(halveMicroGlobal),
		"budget_verl":         whole(budgetVerl),
		"budget_areal":        budgetAReaL,
		"budget_tokens":       whole(budgetTokens),
		"budget_start":        budgetStart,
		"share_down":          shareDown,
		"share_up":            shareUp,
		"share_fit":           shareFit,
		"offload_state":       offloadState,
		"concurrency":         whole(concurrency),
		"double_tp":           whole(doubleTP),
		"double":              double,
		"allocation_tp":       allocationTP,
		"backend_cp":          backendCP,
		"ulysses":             whole(ulysses),
		"double_gpus":         whole(doubleGPUs),
		"raise_stage":         raiseStage,
		"chunk":               chunk,
		"cap":                 capAt,
		"prefill_chunk":       prefillChunk,
		"fit_length":          fitLength,
		"bucket":              whole(bucket),
		"prefill_tgi":         whole(prefillTGI),
		"total_tgi":           whole(totalTGI),
		"side":                whole(side),
		"context":             whole(contextLength),
		"layers":              whole(layersThatFit),
		"fewer_layers":        whole(fewerLayers),
		"allocator":           allocator,
		"host_memory":         hostMemory,
		"object_store":        objectStoreMemory,
	}
})

// nextValue asks the rule of a parameter. A rule that does not exist proposes nothing: the guides' check names it.
func nextValue(q *paramQuery) proposedValue {
	if rule := rules()[q.p.Next]; rule != nil {
		return rule(q)
	}
	return proposedValue{}
}

// whole is a rule for settings that are whole numbers of at least 1. Of other values it says nothing.
func whole(rule func(q *paramQuery, n int64) proposedValue) func(q *paramQuery) proposedValue {
	return func(q *paramQuery) proposedValue {
		n, ok := q.int()
		if !ok {
			return proposedValue{}
		}
		return rule(q, n)
	}
}

func (q *paramQuery) int() (int64, bool) { n, ok := parseInt(q.cur); return n, ok && n > 0 }

// least is the parameter's lower bound, 1 when it has none.
func (q *paramQuery) least() int64 {
	if n, ok := parseInt(q.p.Min); ok {
		return n
	}
	return 1
}

func (q *paramQuery) most(d float64) float64 {
	if f, ok := parseNumber(q.p.Max); ok {
		return f
	}
	return d
}

func (q *paramQuery) floor(d float64) float64 {
	if f, ok := parseNumber(q.p.Min); ok {
		return f
	}
	return d
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// fraction prints a share with at most two decimals, as people write it.
func fraction(f float64) string {
	return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64)
}

func atBound(format string, args ...any) proposedValue {
	return proposedValue{bound: fmt.Sprintf(format, args...)}
}

// halve goes half way down, not below the parameter's minimum.
func halve(q *paramQuery, n int64) proposedValue {
	low := q.least()
	if n <= low {
		return atBound("%s is %d already, the least that makes sense", q.p.Key, n)
	}
	k, why := 1, ""
	if r := q.root; q.is("profile_run") && r.Requested != nil && r.Free != nil && *r.Free > 0 && *r.Requested > *r.Free {
		// The engine plans for as many as it is told: the request grows with them.
		ratio := float64(*r.Requested) / float64(*r.Free)
		k, why = int(math.Ceil(math.Log2(ratio))), fmt.Sprintf("%s requested / %s free = %.2f: ", classifier.GiB(*r.Requested), classifier.GiB(*r.Free), ratio)
	}
	raw := n >> min(k, 62)
	to := max(raw, low)
	return proposedValue{to: itoa(to), how: why + fmt.Sprintf("%d / %d = %d", n, int64(1)<<min(k, 62), raw) + clamped(raw, to, "the least that makes sense")}
}

func clamped(raw, to int64, why string) string {
	if raw == to {
		return ""
	}
	return fmt.Sprintf(", not below %d, %s", to, why)
}

// halvings is how often a request that grows with the batch must be halved to fit into what was free: once when the
// figures are unknown or the phase's requests do not grow with the batch.
func (q *paramQuery) halvings() (k int, how string) {
	r := q.root
	switch q.phase {
	case "forward", "backward", "logprob", "training":
	default:
		return 1, ""
	}
	if r.Requested == nil || r.Free == nil || *r.Free <= 0 || *r.Requested <= *r.Free {
		return 1, ""
	}
	const small = 100
	if r.Total != nil && *r.Requested < *r.Total/small {
		return 1, "the request is less than a hundredth of the card, which is simply full, so halve once"
	}
	ratio := float64(*r.Requested) / float64(*r.Free)
	k = max(1, int(math.Ceil(math.Log2(ratio))))
	return k, fmt.Sprintf("%s requested / %s free = %.2f, so ", classifier.GiB(*r.Requested), classifier.GiB(*r.Free), ratio) + times(k)
}

func times(k int) string {
	switch k {
	case 1:
		return "halve once"
	case 2:
		return "halve twice"
	}
	return fmt.Sprintf("halve %d times", k)
}

// halvingsAtFullLength is how often the batch must be halved for samples of the longest length to fit as well, or for one
// sample to be left; false where that is not known.
func (q *paramQuery) halvingsAtFullLength(key string) (k int, asks int64, ok bool) {
	l, r := q.limit, q.root
	if l == nil || l.Budget || l.Samples < 2 || !sameKey(l.Key, key) || len(q.request) == 0 || q.request[0].High <= 0 || r.Free == nil || *r.Free <= 0 {
		return 0, 0, false
	}
	full := float64(*r.Requested) / float64(q.request[0].High) * float64(l.Tokens)
	k = int(math.Ceil(math.Log2(full / float64(*r.Free))))
	return min(max(k, 0), bits.Len64(uint64(l.Samples))-1), int64(full), true
}

// halveMicro halves a micro-batch until the request fits, also when all samples have the longest length that the settings
// allow.
func halveMicro(q *paramQuery, m int64) proposedValue {
	if m <= q.least() {
		return atBound("%s is %d already", q.p.Key, m)
	}
	k, how := q.halvings()
	if n, asks, ok := q.halvingsAtFullLength(q.p.Key); ok && n > k {
		k, how = n, how+fmt.Sprintf(" for this batch; at full length it asks for %s, so %s", classifier.GiB(asks), times(n))
	}
	to := max(m>>min(k, 62), q.least())
	if how != "" {
		how += ": "
	}
	how += fmt.Sprintf("%d / %d = %d", m, int64(1)<<min(k, 62), m>>min(k, 62)) + clamped(m>>min(k, 62), to, "one sample")
	if before := m >> min(k-1, 62); k > 1 && before > to {
		asks := int64(float64(*q.root.Requested) * float64(before) / float64(m))
		if asks <= *q.root.Free {
			how += fmt.Sprintf(" (%d fits this batch, %s, but not full length)", before, classifier.GiB(asks))
		} else {
			how += fmt.Sprintf(" (%d would still ask for %s)", before, classifier.GiB(asks))
		}
	}
	return proposedValue{to: itoa(to), how: how}
}

// microBatches are what trainers call the samples of one pass on one GPU.
var microBatches = []string{"per_device_train_batch_size", "micro_batch_size", "micro_train_batch_size_per_gpu", "train_batch_size", "Instantaneous batch size per device", "Batch size per device", "batch_size"}

// accumulate makes up for a micro-batch that halveMicro makes smaller, so that a step sees as many samples as before.
func accumulate(q *paramQuery, n int64) proposedValue {
	i := slices.IndexFunc(microBatches, func(name string) bool { _, ok := q.settings.integer(name); return ok })
	if i < 0 || n > mostSamples {
		return proposedValue{}
	}
	m, _ := q.settings.integer(microBatches[i])
	if m > mostSamples {
		return proposedValue{}
	}
	k, _ := q.halvings()
	if full, _, ok := q.halvingsAtFullLength(microBatches[i]); ok {
		k = max(k, full)
	}
	to := max(m>>min(k, 62), 1)
	switch {
	case m == 1:
		return atBound("the batch is 1 already, so %s stays", q.p.Key)
	case m%to != 0:
		return proposedValue{}
	}
	return proposedValue{to: itoa(n * (m / to)), how: fmt.Sprintf("%d x %d / %d = %d, for the same number of samples per step", n, m, to, n*(m/to))}
}

// halveMicroDivisor is halveMicro for verl, where the micro-batch must divide the mini-batch of one data-parallel
// rank (verl 0.6.1: workers/fsdp_workers.py, workers/megatron_workers.py).
func halveMicroDivisor(q *paramQuery, n int64) proposedValue {
	v := halveMicro(q, n)
	to, ok := parseInt(v.to)
	share, how, known := q.miniBatchPerRank()
	if !ok || !known {
		return v
	}
	d := to
	for d > 1 && share%d != 0 {
		d--
	}
	v.to = itoa(d)
	if d == to {
		v.how += fmt.Sprintf("; it divides the %d samples of one rank's mini-batch (%s)", share, how)
	} else {
		v.how += fmt.Sprintf("; the next divisor of the %d samples of one rank's mini-batch (%s) is %d", share, how, d)
	}
	return v
}

// halveMicroGlobal is halveMicroDivisor for a micro-batch that counts the samples of all ranks together: each gets its
// part, so the value stays a multiple of them.
func halveMicroGlobal(q *paramQuery, n int64) proposedValue {
	ranks, ok := q.gpus()
	if !ok || ranks < 1 || n > mostSamples {
		return proposedValue{}
	}
	if n <= ranks {
		return atBound("%s is %d already, one sample for each of %d ranks", q.p.Key, n, ranks)
	}
	each := n / ranks
	k, how := q.halvings()
	to := max(each>>min(k, 62), 1)
	if share, _, ok := q.miniBatchPerRank(); ok {
		for to > 1 && share%to != 0 {
			to--
		}
	}
	if how != "" {
		how += ": "
	}
	return proposedValue{to: itoa(to * ranks), how: how + fmt.Sprintf("%d / %d ranks = %d samples each, %d x %d = %d", n, ranks, each, to, ranks, to*ranks)}
}

// mostSamples keeps the search for divisors short whatever the log claims.
const mostSamples = 1 << 24

func (q *paramQuery) miniBatchPerRank() (share int64, how string, ok bool) {
	owner := "actor_rollout_ref.actor"
	if strings.HasPrefix(q.p.Key, "critic.") {
		owner = "critic"
	}
	mini, ok1 := q.settings.integer(owner + ".ppo_mini_batch_size")
	samples, ok2 := q.settings.integer("actor_rollout_ref.rollout.n")
	if !ok2 {
		samples = 1
	}
	gpus, ok3 := q.gpus()
	if !ok1 || !ok3 || mini > mostSamples || samples > mostSamples || gpus > mostSamples {
		return 0, "", false
	}
	apart := int64(1)
	if q.is("backend:megatron") {
		for _, k := range []string{"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"} {
			if n, ok := q.settings.integer(owner + ".megatron." + k); ok {
				apart *= min(n, gpus)
			}
		}
	} else if sp, ok := q.settings.integer(owner+".ulysses_sequence_parallel_size", owner+".fsdp_config.ulysses_sequence_parallel_size"); ok {
		apart = sp
	}
	if apart <= 0 || gpus/apart == 0 {
		return 0, "", false
	}
	share = mini * samples / (gpus / apart)
	if share < 1 || share > mostSamples {
		return 0, "", false
	}
	return share, fmt.Sprintf("%d x %d / %d", mini, samples, gpus/apart), true
}

// double goes up by a factor of two.
func double(q *paramQuery) proposedValue {
	n, ok := q.int()
	if zero, isInt := parseInt(q.cur); isInt && zero == 0 && q.p.Value != "" {
		return proposedValue{to: q.p.Value, how: "none so far; the usual value"}
	}
	if !ok || n > 1<<50 {
		return proposedValue{}
	}
	if hi := int64(q.most(1 << 60)); n*2 > hi {
		return atBound("%s is %d already, twice that is more than %d", q.p.Key, n, hi)
	}
	return proposedValue{to: itoa(2 * n), how: fmt.Sprintf("2 x %d = %d", n, 2*n)}
}

// raiseStage goes one stage up.
func raiseStage(q *paramQuery) proposedValue {
	n, ok := parseInt(q.cur)
	if !ok || n < 0 {
		return proposedValue{}
	}
	if n >= int64(q.most(3)) {
		return atBound("%s is %d already", q.p.Key, n)
	}
	return proposedValue{to: itoa(n + 1), how: fmt.Sprintf("%d + 1 = %d", n, n+1)}
}

// chunk starts at the guide's value when everything is computed at once, and halves from there.
func chunk(q *paramQuery) proposedValue {
	n, ok := parseInt(q.cur)
	start, okStart := parseInt(q.p.Value)
	if isNone(q.cur) || strings.Trim(q.cur, `"'`) == "disabled" || ok && n <= 0 {
		if !okStart {
			return proposedValue{}
		}
		return proposedValue{to: itoa(start), how: "not in chunks so far; the guide's value"}
	}
	if !ok {
		return proposedValue{}
	}
	return halve(q, n)
}

// capAt goes to the guide's value, and half way down when the run is there already.
func capAt(q *paramQuery) proposedValue {
	limit, ok := parseNumber(q.p.Value)
	if !ok {
		return proposedValue{}
	}
	n, ok := parseNumber(q.cur)
	switch {
	case isNone(q.cur), ok && n > limit:
		return proposedValue{to: q.p.Value, how: "the guide's value"}
	case !ok:
		return proposedValue{}
	}
	return whole(halve)(q)
}

// prefillChunk follows SGLang's advice: 4096, then 2048. A value below 1 means that prompts are not cut at all.
func prefillChunk(q *paramQuery) proposedValue {
	n, ok := parseInt(q.cur)
	switch {
	case isNone(q.cur), ok && (n <= 0 || n > 4096):
		return proposedValue{to: "4096", how: "SGLang's documents: 4096, then 2048"}
	case ok && n > 2048:
		return proposedValue{to: "2048", how: "SGLang's documents: 4096, then 2048"}
	case ok:
		return atBound("%s is %d already", q.p.Key, n)
	}
	return proposedValue{}
}

// fitLength takes the length that the engine says it has room for, unless the trainer's sequences are longer.
func fitLength(q *paramQuery) proposedValue {
	n := q.estimated()
	to, ok := parseInt(n.to)
	if low, how := q.longest(); ok && to < low {
		return atBound("%s must hold prompt and response, %s = %d tokens, and %s", q.p.Key, how, low, n.how)
	}
	return n
}

// longest is the longest sequence that a trainer's own settings ask its engine for, prompt and response together; 0 when
// they do not tell.
func (q *paramQuery) longest() (low int64, how string) {
	for _, k := range [][2]string{
		{"data.max_prompt_length", "data.max_response_length"}, {"max_prompt_length", "max_completion_length"}, {"prompt_max_len", "generate_max_len"},
	} {
		prompt, ok1 := q.settings.integer(k[0])
		answer, ok2 := q.settings.integer(k[1])
		if ok1 && ok2 && prompt <= mostTokens && answer <= mostTokens {
			return prompt + answer, fmt.Sprintf("%d + %d", prompt, answer)
		}
	}
	return 0, ""
}

// estimated is the length that fits as the engine estimates it, or as the sizes that it prints tell.
func (q *paramQuery) estimated() proposedValue {
	n, ok := estimatedLength(q.Context)
	if !ok {
		return q.shorter()
	}
	if n < 1 {
		return proposedValue{}
	}
	return proposedValue{to: itoa(n), how: fmt.Sprintf("the engine's own estimate of what fits is %d tokens", n)}
}

// shorter is the length that the cache has room for when the failure tells how much one sequence needs, and that is what
// the model's sizes predict, so that every token takes the same. In a profiling run it is half of the length.
func (q *paramQuery) shorter() proposedValue {
	n, ok := q.int()
	if !ok || n > mostTokens {
		return proposedValue{}
	}
	if q.is("profile_run") {
		return halve(q, n)
	}
	r := q.root
	each, words := oneToken(q.Context)
	short, ok := q.shortfall()
	if !q.is("long_sequence") || !ok || each <= 0 || *r.Requested <= short {
		return proposedValue{}
	}
	const page = 16 // vLLM's cache has pages of 16 tokens or of a multiple
	have := *r.Requested - short
	fits := memory.Printed(have, r.Message).Low / each / page * page
	if fits < 1 || fits >= n {
		return proposedValue{}
	}
	return proposedValue{to: itoa(fits), how: fmt.Sprintf("%s for the cache, and %s: room for %d, in pages of %d", classifier.GiB(have), words, fits, page)}
}

// prefillTGI is half of the prompt tokens of a step, not less than one prompt: TGI refuses that (launcher/src/main.rs).
func prefillTGI(q *paramQuery, n int64) proposedValue {
	return downTo(q, n, "max_input_tokens", "max_input_length")
}

// totalTGI is half of the tokens of a batch, not less than one request.
func totalTGI(q *paramQuery, n int64) proposedValue { return downTo(q, n, "max_total_tokens") }

// downTo is half of a value, not below that of another setting.
func downTo(q *paramQuery, n int64, names ...string) proposedValue {
	least, ok := q.settings.integer(names...)
	if ok && n <= least {
		return atBound("%s is %d already, and %s is %d", q.p.Key, n, names[0], least)
	}
	v := halve(q, n)
	if to, isInt := parseInt(v.to); ok && isInt && to < least {
		return proposedValue{to: itoa(least), how: fmt.Sprintf("%s, not below %s", v.how, names[0])}
	}
	return v
}

// contextLength is half of a context's length. Where nobody chose it, it is the length that the model was trained for: then
// a usual one is taken.
func contextLength(q *paramQuery, n int64) proposedValue {
	const usual = 8192
	_, chosen := q.settings.integer("ctx_size", "c")
	if trained, ok := q.settings.integer("n_ctx_train"); ok && trained == n && n > 2*usual && !chosen {
		return proposedValue{to: itoa(usual), how: "so far the length that the model was trained for; this is enough for most conversations"}
	}
	return halve(q, n)
}

// layersThatFit are the layers whose weights fit into what llama.cpp found free, where the buffer for all of them was refused.
func layersThatFit(q *paramQuery, _ int64) proposedValue {
	const beside = 2 << 30 // the cache and the compute buffer of a context of a few thousand tokens
	card, ok1 := memory.Reading(q.run, q.incident, "ggml.device")
	plan, ok2 := memory.Reading(q.run, q.incident, "ggml.layers")
	if !ok1 || !ok2 || q.root.Requested == nil || *q.root.Requested <= 0 || !q.recognised("ggml.load") {
		return proposedValue{}
	}
	free, _ := card.Fields.Int("free")
	layers, _ := plan.Fields.Int("count")
	to := (free - beside) * layers / *q.root.Requested
	if to < 1 || layers < 1 || layers > 1<<12 || free > 1<<50 || to >= layers {
		return proposedValue{}
	}
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%s free less 2 GiB for cache and buffers, of %s for %d layers", classifier.GiB(free), classifier.GiB(*q.root.Requested), layers)}
}

// fewerLayers is a tenth of the layers less than Ollama planned with, and at least one.
func fewerLayers(_ *paramQuery, n int64) proposedValue {
	const most = 1 << 10 // no model has more: the log is wrong
	if n > most {
		return proposedValue{}
	}
	to := n - max(n/10, 1)
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%d planned, a tenth less", n)}
}

// side is a picture's side with a fifth less or what was free for the request, whose size follows the area, in steps of 32.
func side(q *paramQuery, n int64) proposedValue {
	const step = 32
	ratio, how := 0.8, "a fifth less"
	if r := q.root; r.Requested != nil && r.Free != nil && *r.Free > 0 && *r.Requested > 0 {
		if fit := math.Sqrt(float64(*r.Free) / float64(*r.Requested)); fit < ratio {
			ratio, how = fit, fmt.Sprintf("the square root of %s free / %s requested", classifier.GiB(*r.Free), classifier.GiB(*r.Requested))
		}
	}
	to := int64(float64(n)*ratio) / step * step
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%s, in steps of %d: the area of a picture decides", how, step)}
}

// bucket goes to the next smaller power of two.
func bucket(q *paramQuery, n int64) proposedValue {
	low := q.least()
	if n <= max(low, 1) {
		return atBound("%s is %d already", q.p.Key, n)
	}
	to := int64(1) << (bits.Len64(uint64(n-1)) - 1) // the largest power of two below n
	if to < low {
		return atBound("%s is %d already", q.p.Key, n)
	}
	how := fmt.Sprintf("the next smaller power of two below %d", n)
	if to*2 == n {
		how = fmt.Sprintf("%d / 2 = %d", n, to)
	}
	freed := n - to
	out := proposedValue{to: itoa(to), how: how}
	if strings.Contains(q.p.Key, "buffer-size") { // bytes
		out.freed = &freed
	} else if strings.Contains(q.p.Key, "mega") || strings.Contains(q.p.Key, "_mb") {
		freed <<= 20
		out.freed = &freed
	}
	return out
}

// allocator adds a setting of PyTorch's allocator to those that are set.
func allocator(q *paramQuery) proposedValue {
	if isNone(q.cur) {
		return proposedValue{to: q.p.Value}
	}
	name, _, _ := strings.Cut(q.p.Value, ":")
	var kept []string
	for part := range strings.SplitSeq(strings.Trim(q.cur, `"'`), ",") {
		k, _, _ := strings.Cut(strings.TrimSpace(part), ":")
		if strings.EqualFold(strings.TrimSpace(part), q.p.Value) {
			return atBound("%s holds %s already", q.p.Key, q.p.Value)
		}
		if k != name && k != "" {
			kept = append(kept, strings.TrimSpace(part))
		}
	}
	return proposedValue{to: strings.Join(append(kept, q.p.Value), ","), how: "added to what is set"}
}

// hostMemory asks for half as much again, in steps that people write: of 8 GiB for a node, of 4 for a small container, of one
// for a part of it.
func hostMemory(q *paramQuery) proposedValue {
	now, ok := parseSize(q.cur)
	if !ok {
		return proposedValue{}
	}
	step := int64(8)
	switch {
	case strings.Contains(q.p.Key, "-per-"): // of a processor or a GPU
		step = 1
	case now < 16<<30:
		step = 4
	}
	to := ceilDiv(now+now/2, step<<30) * step
	return proposedValue{to: itoa(to) + cmp.Or(q.p.Value, "G"), how: fmt.Sprintf("1.5 x %s, rounded up to a multiple of %d GiB", classifier.GiB(now), step)}
}

// objectStoreMemory doubles Ray's store, or makes it four times the object for which there was no room.
func objectStoreMemory(q *paramQuery) proposedValue {
	if n, ok := q.int(); ok && n < 1<<50 {
		return proposedValue{to: itoa(2 * n), how: "twice as much as now"}
	}
	r := q.root.Requested
	if r == nil || *r < 1<<30 || *r > 1<<45 {
		return proposedValue{}
	}
	to := ceilDiv(4**r, 1<<30) << 30
	return proposedValue{to: itoa(to), how: fmt.Sprintf("room for four objects like the one of %s", classifier.GiB(*r))}
}

// size is a memory amount as Slurm's options take it: MiB when there is no suffix (sbatch(1)).
var size = expression(`(?i)^([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*([kmgt]?)(?:ib?|b|n|c)?$`)

func parseSize(v string) (int64, bool) {
	m := size().FindStringSubmatch(strings.Trim(v, `"' `))
	if m == nil {
		return 0, false
	}
	f, ok := parseNumber(m[1])
	if !ok || f <= 0 {
		return 0, false
	}
	shift := map[string]int{"k": 10, "": 20, "m": 20, "g": 30, "t": 40}[strings.ToLower(m[2])]
	n := f * float64(int64(1)<<shift)
	return int64(n), n < 1<<50
}
