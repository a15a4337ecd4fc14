package remedies

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// contextThatFits returns the context whose cache fits into the memory llama.cpp found free, minus the weights, the cache of layers with a
// sliding window and a GiB for computing. llama.cpp allocates the cache for the whole context at once, and without flash attention the scores
// of a step as well.
func (q *paramQuery) contextThatFits(n int64) proposedValue {
	const step, long, longStep = 1024, 32768, 4096
	has, of, ok1 := roomOnCard(q.Context)
	takes, ok2 := loadedWeights(q.Context)
	r := q.root
	if !ok1 || !ok2 || r.Requested == nil || *r.Requested <= 0 || r.Fields["method"] != "kv cache" || n > mostTokens || has > 1<<50 {
		return proposedValue{}
	}
	each, beside := float64(*r.Requested)/float64(n), ""
	if scores := scoresPerToken(q.Context); scores > 0 {
		each, beside = each+float64(scores), fmt.Sprintf(" and of the attention scores, which flash attention would not build, %s", classifier.GiB(scores*n))
	}
	to := int64(float64(has-takes-slidingCache(q.Context)-forComputing)/each) / step * step
	if to > long {
		to = to / longStep * longStep
	}
	if to < 2*step {
		return atBound("%s of weights leave too little of %s for the cache of a useful context", classifier.GiB(takes), classifier.GiB(has))
	}
	if to >= n {
		return proposedValue{}
	}
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%s %s, less %s of weights and 1 GiB for what is computed, of %s for %s tokens%s",
		classifier.GiB(has), of, classifier.GiB(takes), classifier.GiB(*r.Requested), memory.Thousands(n), beside)}
}

// widest is more than the window of a layer, a step or the keys of a token have.
const widest = 1 << 20

// slidingCache returns the most that the cache of layers with a sliding window takes, which comes after that of the others: a window and a
// step of tokens for each (src/llama-kv-cache-iswa.cpp).
func slidingCache(ctx *Context) int64 {
	window, ok := ctx.settings.integer("n_swa")
	step, _ := ctx.settings.integer("n_ubatch")
	layers, _ := ctx.settings.integer("n_layer")
	k, _ := ctx.settings.integer("n_embd_k_gqa")
	v, _ := ctx.settings.integer("n_embd_v_gqa")
	if !ok || window < 1 || min(step, layers, k, v) < 0 || max(window, step, k, v) > widest || layers > mostLayers {
		return 0
	}
	return 2 * (k + v) * layers * (window + step)
}

// forComputing is what llama.cpp's compute buffers may take beside weights and cache.
const forComputing = 1 << 30

// loadedWeights returns what llama.cpp's weights take of the failed card.
func loadedWeights(ctx *Context) (int64, bool) {
	g, ok := memory.Reading(ctx.run, ctx.incident, "ggml.weights")
	n, known := g.Fields.Int("used")
	return n, ok && known
}

// narrowCacheTooLarge says that the failed KV cache does not fit in 8 bits either. Each change narrows the keys or the values, a half of
// it: 32 elements take 34 bytes in q8_0 and 64 in f16 (ggml-common.h).
func narrowCacheTooLarge(q *question) string {
	has, _, ok1 := roomOnCard(q.Context)
	takes, ok2 := loadedWeights(q.Context)
	r := q.root
	if !ok1 || !ok2 || r.Requested == nil || r.Fields["method"] != "kv cache" || has > 1<<50 || q.is("set:cache_type_k") {
		return ""
	}
	needs, left := *r.Requested-*r.Requested/128*30*int64(min(len(q.changes), 2)), has-takes-forComputing
	if needs <= left {
		return ""
	}
	return fmt.Sprintf("an 8-bit cache takes %s, and only about %s is left for it", classifier.GiB(needs), classifier.GiB(max(left, 0)))
}

// cacheExceedsRoom says that the failed KV cache is larger than all that the weights leave of the card: the compute buffers, which a smaller
// step makes smaller, come after it.
func cacheExceedsRoom(q *question) string {
	has, of, ok1 := roomOnCard(q.Context)
	takes, ok2 := loadedWeights(q.Context)
	asks := deref(q.root.Requested)
	if !ok1 || !ok2 || q.root.Fields["method"] != "kv cache" || asks <= has-takes || has > 1<<50 {
		return ""
	}
	return fmt.Sprintf("the cache alone takes %s, and the weights leave %s of %s %s", classifier.GiB(asks), classifier.GiB(max(has-takes, 0)), classifier.GiB(has), of)
}

// scoresPerToken returns what llama.cpp's compute buffer takes for each token of the context where flash attention is off: a float32 for
// each head and each token of a step, and one in the mask (src/llama-graph.cpp, build_attn_mha). It is 0 where that is unknown.
func scoresPerToken(ctx *Context) int64 {
	step, ok := ctx.settings.integer("n_ubatch")
	if !ctx.is("flash_attn=false") || !ok || step > mostTokens || ctx.model.Heads.Value > 1<<16 {
		return 0
	}
	return 4 * step * (ctx.model.Heads.Value + 1)
}

// perSlot returns the context of one of Ollama's slots: its runner gets the sum of all slots.
func perSlot(ctx *Context, context string) string {
	n, ok1 := parseInt(context)
	slots, ok2 := ctx.settings.integer("--parallel")
	if !ok1 || !ok2 || slots < 1 || slots > n {
		return context
	}
	return itoa(n / slots)
}

// split is how a model is divided among cards, and what llama.cpp found free on each.
type split struct {
	set, free   []float64
	parts, room float64 // their sums
}

// splitOf reads a split; its parts and the room are 0 where one is not known.
func splitOf(ctx *Context, value string) split {
	const most = 16
	words := strings.FieldsFunc(strings.Trim(value, `"' `), func(r rune) bool { return r == ',' || r == '/' })
	if len(words) < 2 || len(words) > most {
		return split{}
	}
	s := split{set: make([]float64, len(words)), free: make([]float64, len(words))}
	for i, w := range words {
		s.set[i], _ = parseNumber(w)
		s.parts += s.set[i]
	}
	for _, g := range ctx.run.Gauges {
		d, ok1 := g.Fields.Int("device")
		n, ok2 := g.Fields.Int("free")
		if g.Name == "ggml.device" && ok1 && ok2 && d < int64(len(words)) && n > 0 && s.free[d] == 0 {
			s.free[d] = float64(n)
			s.room += s.free[d]
		}
	}
	if slices.Contains(s.free, 0) || s.parts <= 0 {
		return split{}
	}
	return s
}

// uneven reports whether a card has more than its part by what is free.
func (s *split) uneven(card *int) bool {
	return s.parts > 0 && card != nil && *card < len(s.set) && s.set[*card]/s.parts > s.free[*card]/s.room
}

// splitByFree gives cards parts of the model in proportion to what llama.cpp found free on each, if the split that is set gives the card
// that failed more than that.
func splitByFree(q *paramQuery) proposedValue {
	const alike = 0.02
	s, d := splitOf(q.Context, q.cur), q.root.Device
	if !s.uneven(d) {
		return proposedValue{}
	}
	to := make([]string, len(s.set))
	same := slices.Max(s.free)-slices.Min(s.free) < alike*slices.Max(s.free)
	for i := range to {
		to[i] = "1"
		if !same {
			to[i] = itoa(int64(math.Round(s.free[i] / (1 << 30))))
		}
	}
	return proposedValue{to: strings.Join(to, ","), how: fmt.Sprintf("%s of %s free on card %d, which gets %.0f %% of the model", classifier.GiB(int64(s.free[*d])), classifier.GiB(int64(s.room)), *d, 100*s.set[*d]/s.parts)}
}

// unevenSplit reports whether all of the model that llama.cpp could not load fits on the cards with another split.
func unevenSplit(ctx *Context, _ string) verdict {
	f, ok := ctx.settings.find("tensor_split", true)
	if !ok {
		f, ok = ctx.settings.find("ts", true)
	}
	s, d := splitOf(ctx, f.value.Value), ctx.root.Device
	if !ok || !s.uneven(d) {
		return verdict{}
	}
	const beside = 1.2 // the cache and the compute buffers
	model := float64(deref(ctx.root.Requested)) * s.parts / s.set[*d]
	return verdict{truthOf(model > 0 && beside*model < s.room), fmt.Sprintf("the model takes about %s, and %s was free on all cards", classifier.GiB(int64(model)), classifier.GiB(int64(s.room)))}
}

// stepLogits reports whether a compute buffer of llama.cpp is mostly the logits of one step: four bytes for each token and word.
func stepLogits(ctx *Context) bool {
	step, ok := ctx.settings.integer("n_ubatch")
	words, known := ctx.settings.integer("n_vocab")
	n := deref(ctx.root.Requested)
	return ok && known && step < 1<<20 && words < 1<<24 && n > 0 && 10*4*step*words > 9*n && 4*step*words <= n
}

// oneSlot replaces the number of slots that Ollama chooses itself: four on a processor before 0.12 (server/sched.go).
func oneSlot(*paramQuery) proposedValue {
	return proposedValue{to: "1", how: "0 lets Ollama choose, which may be four"}
}

// layersThatFit returns how many layers' weights fit into the memory that llama.cpp found free, or into a card of that name, if
// the buffer for all of them failed. If the card is unknown, it is a tenth less. Unless it is set, all layers go on the card.
func layersThatFit(q *paramQuery) proposedValue {
	n, ok := q.int()
	if !ok {
		n = mostLayers
	}
	layers, ok := q.layers(n)
	if ok && q.root.Fields["method"] == "kv cache" {
		return layersBesideCache(q, layers)
	}
	if !ok || q.root.Requested == nil || *q.root.Requested <= 0 || !q.recognized("ggml.load") && !q.recognized("ggml.malloc") || q.root.Fields["method"] != "" {
		return proposedValue{}
	}
	if q.is("copies_weights") { // the pipeline needs the output layer on a card, too (src/llama-context.cpp)
		return proposedValue{to: itoa(layers - 1), how: "the layers of the model without the output layer, with which no pipeline is made"}
	}
	if q.messageContains("gallocr") {
		return layersForBuffer(q, layers)
	}
	free, of, ok := roomOnCard(q.Context)
	if !ok {
		return fewerLayers(q, layers)
	}
	if v := layersBesidePlan(q, free); v.to != "" {
		return v
	}
	const few = 2 << 30 // the cache and the compute buffer of a context of a few thousand tokens
	to, beside := (free-few)*layers / *q.root.Requested, "less 2 GiB for cache and buffers"
	if each := layersCache(q); each > 0 && layers > 0 {
		to, beside = (free-forComputing)/(*q.root.Requested/layers+each), fmt.Sprintf("less 1 GiB for what is computed, at %s of cache a layer", classifier.GiB(each))
	}
	if to < 1 || free > 1<<50 || to >= layers {
		return proposedValue{}
	}
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%s %s %s, of %s for %d layers", classifier.GiB(free), of, beside, classifier.GiB(*q.root.Requested), layers)}
}

// layersCache returns what the cache of the context that is set takes for one layer in 16 bits, 0 if that is unknown.
func layersCache(q *paramQuery) int64 {
	length, ok1 := q.settings.integer("--ctx-size", "-c")
	k, ok2 := q.settings.integer("n_embd_k_gqa")
	v, ok3 := q.settings.integer("n_embd_v_gqa")
	if !ok1 || !ok2 || !ok3 || length < 1 || length > mostTokens || min(k, v) < 0 || max(k, v) > widest || q.is("set:cache_type_k") {
		return 0
	}
	return 2 * length * (k + v)
}

// layersBesideCache returns how many layers leave room for their cache and a GiB for computing, if the cache of all of them failed.
func layersBesideCache(q *paramQuery, layers int64) proposedValue {
	has, of, ok1 := roomOnCard(q.Context)
	takes, ok2 := loadedWeights(q.Context)
	cache := deref(q.root.Requested)
	if !ok1 || !ok2 || has > 1<<50 || layers < 1 || takes <= 0 || cache <= 0 || cache > 1<<50 || has-takes-forComputing > cache/8 { // a shorter context fits
		return proposedValue{}
	}
	each := (takes + cache) / layers
	to := (has - forComputing) / each
	if to < 1 || to >= layers {
		return proposedValue{}
	}
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%s %s less 1 GiB for what is computed, at %s a layer with its cache", classifier.GiB(has), of, classifier.GiB(each))}
}

// layersBesidePlan returns how many layers fit beside the cache and the buffers that Ollama planned, if the weights of those on the card
// turned out larger than planned.
func layersBesidePlan(q *paramQuery, free int64) proposedValue {
	model, _ := q.settings.integer("layers.model")
	split, _ := q.settings.find("layers.split", true)
	parts := strings.Split(strings.Trim(split.value.Value, `"[] `), ",")
	d := q.root.Device
	if model < 1 || d == nil || *d < 0 || *d >= len(parts) {
		return proposedValue{}
	}
	on, ok := parseInt(parts[*d])
	buffers := max(q.planned("memory.graph.full"), q.planned("memory.graph.partial"))
	if !ok || on < 1 || buffers < 1 {
		return proposedValue{}
	}
	each := *q.root.Requested/on + q.planned("memory.required.kv")/model
	const margin = 20 // of it is left
	to := (free - free/margin - buffers) / each * layeredCards(q.Context)
	if asked, _ := q.layers(mostLayers); to < 1 || to >= asked {
		return proposedValue{}
	}
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%s free less %s for buffers, at %s a layer with its cache", classifier.GiB(free), classifier.GiB(buffers), classifier.GiB(each))}
}

// planned returns a size that Ollama planned, 0 if it did not.
func (q *paramQuery) planned(key string) int64 {
	f, _ := q.settings.find(key, true)
	n, _ := parseSize(strings.Trim(f.value.Value, `"`))
	return n
}

// layersForBuffer returns how many layers leave room for a compute buffer that failed, where all of them are on one card and it is small
// beside them. How much of it was missing is not known: at most all of it, and a quarter more for what follows.
func layersForBuffer(q *paramQuery, layers int64) proposedValue {
	all, asks := q.input().LayersOnCard, *q.root.Requested
	if cause.LayersFill(q.input()) == "" || layeredCards(q.Context) > 1 || slices.ContainsFunc(q.run.Gauges, func(g classifier.Gauge) bool { return g.Name == "ggml.weights" && g.Fields["device"] != "0" }) {
		return proposedValue{}
	}
	less := (asks+asks/4)*layers/all + 1
	return proposedValue{to: itoa(layers - less), how: fmt.Sprintf("%d layers take %s, and the buffer %s", layers, classifier.GiB(all), classifier.GiB(asks))}
}

// mostLayers is more than any model has.
const mostLayers = 1 << 10

// layers returns how many layers were to go on the card, by llama.cpp's message or by the setting, with the output layer.
func (q *paramQuery) layers(asked int64) (int64, bool) {
	const most = 1 << 12
	if plan, ok := memory.Reading(q.run, q.incident, "ggml.layers"); ok {
		n, _ := plan.Fields.Int("count")
		return n, n > 0 && n <= most
	}
	all, ok := q.settings.integer("n_layer")
	return min(asked, all+1), ok && all <= most
}

// freeAtLoad returns what llama.cpp found free on the failed card before it loaded the model.
func freeAtLoad(ctx *Context) (int64, bool) {
	g, ok := memory.Reading(ctx.run, ctx.incident, "ggml.device")
	n, known := g.Fields.Int("free")
	return n, ok && known
}

// roomOnCard returns what llama.cpp found free on the card, else the card's size, else the least size of cards of its name.
func roomOnCard(ctx *Context) (n int64, of string, ok bool) {
	if n, ok = freeAtLoad(ctx); ok {
		return n, "free", ok
	}
	if g, found := memory.Reading(ctx.run, ctx.incident, "ggml.card"); found {
		n, ok = g.Fields.Int("total")
		return n, "of the card", ok
	}
	size, name, ok := memory.CardSize(ctx.run, ctx.incident)
	if name == memory.BySMI {
		return size.Low, "of the card", ok
	}
	return size.Low, "of an " + name, ok
}

// plannedLayers returns how many layers' weights fit if their buffer failed, whose size Ollama's plan did not foresee; otherwise a
// tenth fewer than it planned.
func plannedLayers(q *paramQuery) proposedValue {
	if v := layersThatFit(q); v.to != "" {
		return v
	}
	return whole(fewerLayers)(q)
}

// fewerLayers returns as many layers as Ollama planned where more are asked for, which it then loads all the same (llm/server.go). Else it
// returns so many fewer as a buffer needs that is larger than planned, or a tenth fewer than planned, but at least one for each card that has
// some: any of them may be the one that was full.
func fewerLayers(q *paramQuery, n int64) proposedValue {
	const most = 1 << 10 // no model has more: the log is wrong
	if n > most {
		return proposedValue{}
	}
	if planned, ok := q.settings.integer("layers.offload"); ok && planned > 0 && planned < n {
		return proposedValue{to: itoa(planned), how: fmt.Sprintf("Ollama computed that %d fit", planned)}
	}
	cards := layeredCards(q.Context)
	if less := n / 10; cards > less && cards > 1 && cards < n {
		return proposedValue{to: itoa(n - cards), how: fmt.Sprintf("%d planned, one less for each of %d cards", n, cards)}
	}
	if all := q.input().LayersOnCard; all > 0 && cards <= 1 {
		asks, planned := plannedBuffer(q)
		if less := (asks-planned)*n/all + 1; planned > 0 && asks > planned && asks < 1<<40 && less < n {
			return proposedValue{to: itoa(n - less), how: fmt.Sprintf("%d layers take %s, and the buffer %s where %s was planned", n, classifier.GiB(all), classifier.GiB(asks), classifier.GiB(planned))}
		}
	}
	to := n - max(n/10, 1)
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%d planned, a tenth less", n)}
}

// layeredCards returns on how many cards Ollama puts layers, 0 if it does not say: "33,17" of llm/memory.go, LogValue.
func layeredCards(ctx *Context) (cards int64) {
	f, _ := ctx.settings.find("layers.split", true)
	for part := range strings.SplitSeq(strings.Trim(f.value.Value, `"[] `), ",") {
		if n, ok := parseInt(part); ok && n > 0 {
			cards++
		}
	}
	return cards
}

// unplanned returns what Ollama is to leave of each card for a compute buffer that is larger than planned: the difference, in whole GiB
// (llm/memory.go, memory.graph).
func unplanned(q *paramQuery) proposedValue {
	asks, planned := plannedBuffer(q)
	if planned <= 0 || asks <= planned {
		return proposedValue{to: q.p.Value}
	}
	return proposedValue{to: itoa(ceilDiv(asks-planned, 1<<30) << 30), how: fmt.Sprintf("%s for a buffer that Ollama plans with %s, in whole GiB", classifier.GiB(asks), classifier.GiB(planned))}
}

// plannedBuffer returns the size of a compute buffer that did not fit, and what Ollama planned for it; 0 if either is unknown.
func plannedBuffer(q *paramQuery) (asks, planned int64) {
	planned = max(q.planned("memory.graph.full"), q.planned("memory.graph.partial"))
	if !q.messageContains("gallocr") {
		return 0, 0
	}
	return deref(q.root.Requested), planned
}
