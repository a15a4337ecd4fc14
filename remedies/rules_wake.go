package remedies

import (
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

// roomBeforeWake returns what was free on a card before a sleeping engine took its memory back, and the card's size, also in words: from the
// card's last reading, or from what the trainer's allocator held and the sleeping engine keeps.
func roomBeforeWake(ctx *Context) (room, total int64, size string, ok bool) {
	wakes := ctx.is("engine_wakes")
	for _, g := range slices.Backward(ctx.run.Gauges) {
		label := strings.ToLower(g.Fields["label"])
		used, ok1 := g.Fields.Int("used")
		all, ok2 := g.Fields.Int("total")
		engine := containsAny(label, []string{"resume", "wake", "onload", "update"})
		if (g.Name == "reading.device" || g.Name == "smi.card") && ok1 && ok2 && used < all && (wakes && !engine || engine && strings.Contains(label, "before")) {
			return all - used, all, classifier.GiB(all), true
		}
	}
	reserved, ok1 := trainerReserved(ctx)
	total, _, ok3 := cardCapacity(ctx)
	if card, found := lastReading(ctx.run, "reading.device"); found && !ok3 {
		total, ok3 = card.Fields.Int("total")
	}
	size = classifier.GiB(total)
	if !ok3 {
		total, ok3 = cardOfShare(ctx)
		size = "a card of " + classifier.GiB(total) + ", the smallest with this share,"
	}
	states := statesOnCard(ctx)
	if !wakes || states == 0 && !ok1 || !ok3 {
		return 0, 0, "", false
	}
	in := max(reserved, states) + usualResidue
	if g, slept := lastReading(ctx.run, "vllm.slept"); slept {
		n, _ := g.Fields.Int("used")
		in = max(in, n)
	}
	return total - in, total, size, in < total
}

// trainerReserved returns what the trainer's allocator held of a card, by its last reading, or the largest of the actors that DeepSpeed made
// in processes of their own, with the reference model in another.
func trainerReserved(ctx *Context) (most int64, ok bool) {
	if g, found := lastReading(ctx.run, "reading.reserved"); found {
		return g.Fields.Int("reserved")
	}
	for _, g := range ctx.run.Gauges {
		if n, known := g.Fields.Int("reserved"); g.Name == "deepspeed.memory" && known && n > most {
			most, ok = n, true
		}
	}
	if ref, known := ctx.setup.Budget(memory.PhaseRollout).Part("reference"); known && ok {
		most += ref.Low
	}
	return most, ok
}

// cardOfShare returns the size of the smallest card of which vLLM's share holds what it freed when it went to sleep.
func cardOfShare(ctx *Context) (int64, bool) {
	g, slept := lastReading(ctx.run, "vllm.slept")
	freed, known := g.Fields.Int("freed")
	share, ok := ctx.settings.find("*gpu_memory_utilization", false) // OpenRLHF's, TRL's and ms-swift's begin with vllm_
	f, isShare := parseNumber(share.value.Value)
	if !slept || !known || !ok || !isShare || f <= 0 || f > 1 {
		return 0, false
	}
	return memory.CardOfAtLeast(int64(float64(freed) / f))
}

// wakeLacks returns about how much a sleeping vLLM lacked when it took back what it had freed.
func wakeLacks(ctx *Context) (int64, bool) {
	g, slept := lastReading(ctx.run, "vllm.slept")
	freed, known := g.Fields.Int("freed")
	room, _, _, ok := roomBeforeWake(ctx)
	return freed - room, slept && known && ok && freed > room
}

// wakesWith returns how much a sleeping vLLM had still to take back, as it said when it went to sleep, of a card that was read since and had
// this room: weights and cache or, where the new weights were there, the cache alone (verl/workers/sharding_manager/fsdp_vllm.py, __enter__).
func wakesWith(ctx *Context, room int64) (bytes int64, at parser.Position, ok bool) {
	g, slept := lastReading(ctx.run, "vllm.slept")
	bytes, known := g.Fields.Int("freed")
	card, read := lastReading(ctx.run, "reading.device")
	used, _ := card.Fields.Int("used")
	total, _ := card.Fields.Int("total")
	switch {
	case total-used != room, !slept || !known || !read || !ctx.is("engine_wakes") || card.At.Source != g.At.Source || card.At.Line < g.At.Line:
		return 0, g.At, false
	case !strings.Contains(strings.ToLower(card.Fields["label"]), "sync model weights"):
		return bytes, g.At, true
	}
	weights, read := lastReading(ctx.run, "vllm.weights")
	n, known := weights.Fields.Int("used")
	return bytes - n, g.At, read && known
}

// statesOnCard returns the least that the trainer's states take of a card during a rollout. A reading from before the first update lacks
// the optimizer's. NeMo-RL moves all of them to host memory before that (its policy workers' offload_before_refit and offload_after_refit).
func statesOnCard(ctx *Context) (n int64) {
	if programOf(ctx.run).ID == "nemo_rl" {
		return 0
	}
	b := ctx.setup.Budget(memory.PhaseRollout)
	for _, id := range []string{"weights", "optimizer", "reference", "critic"} {
		p, _ := b.Part(id)
		n += p.Low
	}
	return n
}

// usualResidue is the memory of a card that a sleeping engine keeps, with contexts and NCCL's buffers.
const usualResidue = 4 << 30

// trainerLacks returns how much of the trainer's states found no room when a trainer of slime took its memory back, and the card's size:
// its last reading is from just before (slime/backends/megatron_utils/actor.py, wake_up).
func trainerLacks(ctx *Context) (lacks, total int64, ok bool) {
	g, found := lastReading(ctx.run, "slime.memory")
	total, ok1 := g.Fields.Int("total")
	free, ok2 := g.Fields.Int("free")
	if !found || !ok1 || !ok2 || !takesMemory(ctx) || !strings.Contains(g.Fields["label"], "before wake_up") {
		return 0, 0, false
	}
	b := ctx.setup.Budget(memory.PhaseForward)
	for _, id := range []string{"weights", "gradients", "optimizer"} {
		p, _ := b.Part(id)
		lacks += p.Low
	}
	return lacks - free, total, lacks > free
}

// cacheToCome returns how much of its share vLLM had yet to take for its cache, which it allocates layer by layer, beyond what was free; 0 if
// that is unknown (vllm/worker/cache_engine.py, vllm/v1/worker/gpu_model_runner.py, _allocate_kv_cache).
func cacheToCome(q *paramQuery, share float64) int64 {
	r := q.root
	if !q.stackContains(3, "_allocate_kv_cache") || ofWhatIsFree(q.p.Key) || r.Total == nil || r.ProcessBytes == nil || r.Free == nil {
		return 0
	}
	return int64(share*float64(*r.Total)) - *r.ProcessBytes - *r.Free
}
