package remedies

import (
	"fmt"
	"math"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// chunk starts at the guide's value if everything is computed at once, and halves from there.
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

// halveLength halves the longest length of a sample until the failed ones would have been cut, and by as much as the request has to
// shrink. Half of a length that is no setting but that of a dataset's longest sample is rounded down.
func halveLength(q *paramQuery, n int64) proposedValue {
	const usual = 64 // which lengths in settings are multiples of, when they are this long
	v := halve(q, n)
	to, ok := parseInt(v.to)
	if ok && to > 2*tokenStep && n%usual != 0 && n%100 != 0 {
		to = to / tokenStep * tokenStep
		v = proposedValue{to: itoa(to), how: fmt.Sprintf("%d / 2, rounded down to %d", n, to)}
	}
	l, tokens, r := q.limit, q.setup.TokensNow, q.root
	if !ok || l == nil || l.Budget || l.Samples < 1 || !tokens.Known || r.Requested == nil || r.Free == nil {
		return v
	}
	had := tokens.Value / l.Samples
	low := max(q.least(), 1)
	fits := max(low, int64(float64(had)*min(1, float64(*r.Free)/float64(*r.Requested))))
	if to <= fits {
		return v
	}
	for to > fits {
		to /= 2
	}
	return proposedValue{to: itoa(max(to, low)), how: fmt.Sprintf("the failed samples had about %s tokens each, and %s of the %s requested was free", memory.Thousands(had), classifier.GiB(*r.Free), classifier.GiB(*r.Requested))}
}

// capAt goes to the guide's value, or halves the value if the run is there already.
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

// prefillChunk follows SGLang's advice: 4096, then 2048. A value below 1 means that prompts are not split.
func prefillChunk(q *paramQuery) proposedValue {
	n, ok := parseInt(q.cur)
	if r := q.root; ok && n > 4096 && q.is("logits") && r.Requested != nil && r.Free != nil && *r.Requested/n*4096 > *r.Free {
		return proposedValue{to: "2048", how: fmt.Sprintf("the logits of 4096 tokens would not fit into the %s that was free", classifier.GiB(*r.Free))}
	}
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

// fitLength takes the length that fits by the engine's message, unless the trainer's sequences are longer.
func fitLength(q *paramQuery) proposedValue {
	n := q.estimated()
	to, ok := parseInt(n.to)
	if low, how := q.longest(); ok && to < low {
		return atBound("%s must hold prompt and response, %s = %d tokens, and %s", q.p.Key, how, low, n.how)
	}
	return n
}

// longest returns the longest sequence that a trainer's settings request from its engine, prompt and response together, or 0
// if they do not set it.
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

// estimated returns the length that fits by the engine's estimate, or by the sizes that it prints.
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

// shorter returns the length that fits in the cache if the failure prints the size of one sequence and the model's sizes
// predict the same, so that all tokens are equal. In a profiling run, and without a figure, it halves the length.
func (q *paramQuery) shorter() proposedValue {
	n, ok := q.int()
	if !ok || n > mostTokens {
		return proposedValue{}
	}
	r := q.root
	if q.is("profile_run") || q.incident.Kind == parser.KVCache && r.Requested == nil {
		v := halve(q, n)
		for to, ok := parseInt(v.to); ok && !q.leavesCache(to, n); {
			if to /= 2; to < q.least() {
				return proposedValue{}
			}
			v = proposedValue{to: itoa(to), how: fmt.Sprintf("%d / %d, which leaves room for the cache of one sequence", n, n/to)}
		}
		return v
	}
	each, words := oneToken(q.Context)
	short, ok := q.shortfall()
	if !q.is("long_sequence") || !ok || *r.Requested <= short {
		return proposedValue{}
	}
	const page = 16 // vLLM's cache has pages of 16 tokens or of a multiple
	have := *r.Requested - short
	if each <= 0 {
		return q.inProportion(n, have)
	}
	fits := memory.Printed(have, r.Message).Low / each / page * page
	if fits < 1 || fits >= n {
		return proposedValue{}
	}
	return proposedValue{to: itoa(fits), how: fmt.Sprintf("%s for the cache, and %s: room for %d, in pages of %d", classifier.GiB(have), words, fits, page)}
}

// windowed lists parts of the names of models most of whose layers keep only a window of the sequence.
var windowed = []string{"gemma", "command", "c4ai", "aya-"}

// inProportion returns the part of n tokens that fits into have bytes of cache, in steps of 1024. Before vLLM 0.9.1, which estimates the
// length itself, the cache of one sequence grew with its length alone unless layers had a window (vllm/v1/core/kv_cache_utils.py,
// check_enough_kv_cache_memory).
func (q *paramQuery) inProportion(n, have int64) proposedValue {
	const step = 1024
	need := *q.root.Requested
	to := int64(float64(n)/float64(need)*float64(memory.Printed(have, q.root.Message).Low)) / step * step
	if to < step || to >= n || !q.is("before:vllm 0.9.1") || containsAny(strings.ToLower(q.run.Model.Name), windowed) {
		return proposedValue{}
	}
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%s of the %s for %s tokens, rounded down to a multiple of %d", classifier.GiB(have), classifier.GiB(need), memory.Thousands(n), step)}
}

// usualCache is what the cache of a model without known sizes takes for a token: half of that of a model of 8 billion parameters with 8
// key-value heads.
const usualCache = 64 << 10

// leavesCache reports whether the engine's share holds the weights, the activations of a profiling run of a length, which grow with it, and
// the cache of one such sequence, and at least a twentieth of the card. The run had n tokens. It is true where another figure is missing.
func (q *paramQuery) leavesCache(length, n int64) bool {
	r := q.root
	if q.incident.Kind == parser.KVCache && !q.is("quantized") {
		if holds, known := q.setup.HoldsSequence(length); known {
			return holds
		}
	}
	loaded, ok1 := memory.Reading(q.run, q.incident, "vllm.weights")
	weights, ok2 := loaded.Fields.Int("used")
	if !ok1 && q.why != nil {
		weights, ok1 = q.why.EngineWeights, q.why.EngineWeights > 0
		ok2 = ok1
	}
	each, ok3 := q.setup.CacheBytesPerToken()
	if !q.is("profile_run") || !ok1 || !ok2 || r.Total == nil || r.Allocated == nil || r.Requested == nil {
		return true
	}
	share := usualShare
	if f, ok := q.settings.find("gpu_memory_utilization", true); ok {
		if v, ok := parseNumber(f.value.Value); ok && v > 0 && v <= 1 {
			share = v
		}
	}
	activations := float64(*r.Allocated+*r.Requested*3/2-weights) / float64(n) // the product of a gated MLP's halves is still to come
	if !ok3 {
		each = usualCache
	}
	cache := max(each*float64(length), float64(*r.Total)/20)
	return float64(weights)+activations*float64(length)+cache <= share*float64(*r.Total)
}

// prefillTGI halves the prompt tokens per step, or lowers them to the longest prompt if that saves at least a quarter. TGI
// refuses a step smaller than a prompt (launcher/src/main.rs), which then shrinks too.
func prefillTGI(q *paramQuery, n int64) proposedValue {
	if v := downTo(q, n, "max_input_tokens", "max_input_length"); v.to != "" {
		if to, ok := parseInt(v.to); ok && to <= n/4*3 {
			return v
		}
	}
	return halve(q, n)
}

// promptTGI is the longest prompt where the prompt tokens of a step get fewer than it has.
func promptTGI(q *paramQuery, n int64) proposedValue {
	step, ok := q.settings.integer("max_batch_prefill_tokens")
	if !ok || step < 2 || step > mostTokens {
		return atBound("a step may hold such a prompt")
	}
	to, ok := parseInt(prefillTGI(q, step).to)
	if !ok || n <= to {
		return atBound("a step holds such a prompt")
	}
	return proposedValue{to: itoa(to), how: "a prompt has no more tokens than a step"}
}

// totalTGI halves the tokens of a batch, but not below one request.
// poolTGI is as many tokens as the cache has, or half of what one request may have where nothing prints that.
func poolTGI(q *paramQuery, n int64) proposedValue {
	g, ok := memory.Reading(q.run, q.incident, "tgi.blocks")
	blocks, _ := g.Fields.Int("count")
	size, _ := g.Fields.Int("size")
	if to := blocks * size; ok && to > 0 && to < n {
		return proposedValue{to: itoa(to), how: fmt.Sprintf("%d blocks of %d tokens are all that the cache has", blocks, size)}
	}
	return halve(q, n)
}

func totalTGI(q *paramQuery, n int64) proposedValue { return downTo(q, n, "max_total_tokens") }

// downTo halves a value, but not below another setting's value.
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

// contextLength returns the context whose cache fits next to the weights, in steps, or half of the current one without figures.
// If it is not set, it is the length the model was trained for, and the rule takes a usual one.
func contextLength(q *paramQuery) proposedValue {
	const usual = 8192
	n, ok := parseInt(q.cur)
	if ok && n == 0 { // as many as the model was trained for
		n, ok = q.settings.integer("n_ctx")
	}
	if !ok || n <= 0 {
		return proposedValue{}
	}
	if v := q.contextThatFits(n); v.to != "" || v.bound != "" {
		return v
	}
	set, _ := q.settings.integer("ctx_size", "c")
	if trained, ok := q.settings.integer("n_ctx_train"); ok && trained == n && n > 2*usual && set == 0 {
		return proposedValue{to: itoa(usual), how: "so far the length that the model was trained for; this is enough for most conversations"}
	}
	const step = 8192
	if g, ok := lastReading(q.run, "ggml.prompt"); ok {
		prompt, _ := g.Fields.Int("count")
		to := (prompt/step + 2) * step
		if to >= n && prompt > n/2 {
			return atBound("%s is %d, and the last prompt has %d tokens", q.p.Key, n, prompt)
		}
		if prompt > n/2 && prompt < mostTokens {
			return proposedValue{to: itoa(to), how: fmt.Sprintf("the last prompt has %s tokens, and its answer needs room", memory.Thousands(prompt))}
		}
	}
	if in := q.input(); cause.CacheBytes(in) > 0 {
		cache, limit, of := cause.CacheBytes(in), in.HostLimit, "the limit"
		if limit == nil {
			limit, of = in.NodeRAM, "the machine's memory"
		}
		to, part := n, *limit/3 // weights and buffers need the rest
		for to > 1 && float64(cache)/float64(n)*float64(to) > float64(part) {
			to /= 2
		}
		return proposedValue{to: itoa(max(to, q.least())), how: fmt.Sprintf("a cache of %s or less, a third of %s; now it takes %s", classifier.GiB(part), of, classifier.GiB(cache))}
	}
	return halve(q, n)
}

// side shrinks a picture's side by a fifth, or to what was free: the request grows with the area. Steps of 32. Where the card is simply
// full, the request tells little of the whole, and half of the area is enough.
func side(q *paramQuery) proposedValue {
	const step = 32
	parts := strings.Split(strings.Trim(q.cur, `"'[]() `), ",") // one side, height and width, or those of a volume
	if len(parts) > 3 {
		return proposedValue{}
	}
	ratio, how, what := 0.8, "a fifth less", "area of an image"
	if r := q.root; r.Requested != nil && r.Free != nil && *r.Free > 0 && *r.Requested > 0 {
		fit, root := math.Sqrt(float64(*r.Free)/float64(*r.Requested)), "square"
		if len(parts) == 3 {
			fit, root, what = math.Cbrt(float64(*r.Free)/float64(*r.Requested)), "cube", "volume"
		}
		if half := math.Sqrt(0.5); simplyFull(r) {
			fit = max(fit, half)
		}
		if fit < ratio {
			ratio, how = fit, fmt.Sprintf("the %s root of %s free / %s requested", root, classifier.GiB(*r.Free), classifier.GiB(*r.Requested))
		}
	}
	to, low := make([]string, len(parts)), q.least()
	for i, part := range parts {
		n, ok := parseInt(part)
		if !ok || n > 1<<20 {
			return proposedValue{}
		}
		if n <= low {
			return atBound("%s is %s, which is no size of an image to lower", q.p.Key, q.cur)
		}
		to[i] = itoa(max(int64(float64(n)*ratio)/step*step, low))
	}
	sep := ","
	if strings.Contains(q.cur, ", ") {
		sep = ", "
	}
	v := proposedValue{to: strings.Join(to, sep), how: fmt.Sprintf("%s, in steps of %d: the %s decides", how, step, what)}
	if open := q.cur[:1]; open == "(" || open == "[" {
		v.to = open + v.to + q.cur[len(q.cur)-1:]
	}
	return v
}
