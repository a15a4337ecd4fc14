package remedies

import (
	"fmt"
	"math"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// still is memory that the failed process would have taken after the failed request, and what for.
type still struct {
	bytes int64
	why   string
}

// graphsToCome returns what the graphs that were still to be captured take: their part of what the captured ones hold, or as much again as
// the first had taken when it failed. They are captured in one pool, the largest first, so that the rest takes no more than what came before (vLLM, v1/worker/gpu_model_runner.py,
// capture_model; SGLang, model_executor/cuda_graph_runner.py, capture).
func graphsToCome(ctx *Context) still {
	g, ok := memory.Reading(ctx.run, ctx.incident, "engine.graphs_done")
	done, ok1 := g.Fields.Int("done")
	total, ok2 := g.Fields.Int("total")
	held, _ := ctx.root.Fields.Int("private_pools")
	if !ok || !ok1 || !ok2 || done >= total || !ctx.is("graph_capture") {
		return still{}
	}
	if n := takenSince(ctx, "sglang.mem_available"); done == 0 && n > held {
		return still{n, fmt.Sprintf("for the first of %d graphs, which had taken as much and was not done", total)}
	}
	if held <= 0 {
		return still{}
	}
	rest := held
	if done > total-done {
		rest = held / done * (total - done)
	}
	return still{rest, fmt.Sprintf("for %d of %d graphs still to be captured (the others held %s)", total-done, total, classifier.GiB(held))}
}

// takenSince returns what was taken of the failed card since the engine said last what was free, 0 if that is unknown.
func takenSince(ctx *Context, gauge string) int64 {
	g, ok := memory.Reading(ctx.run, ctx.incident, gauge)
	before, known := g.Fields.Int("free")
	if !ok || !known || ctx.root.Free == nil {
		return 0
	}
	return max(before-*ctx.root.Free, 0)
}

// scoresToCome returns the softmax of attention scores that an engine builds in full: it is made beside them. A failed request is the scores
// where less than as much was taken since the engine said what was free.
func scoresToCome(ctx *Context) still {
	g, ok := memory.Reading(ctx.run, ctx.incident, "sglang.mem_available")
	before, _ := g.Fields.Int("free")
	n, free := deref(ctx.root.Requested), deref(ctx.root.Free)
	if !ok || n <= 0 || before-free >= n || !ctx.is("full_scores") || !ctx.is("serving") {
		return still{}
	}
	return still{n, "for the softmax of the scores"}
}

// moreLogits returns the copies of the logits that a trainer makes after the one that failed, beside an engine that stays awake.
func moreLogits(ctx *Context) still {
	if len(ctx.request) == 0 || ctx.request[0].What != "logits" || !trains(ctx) || ctx.is("engine_process") || engineAwake(ctx) != yes {
		return still{}
	}
	return still{ctx.copiesAfter() * deref(ctx.root.Requested), "for further copies of the logits"}
}

// idleCache returns half of the part of SGLang's cache that was unused when it failed at work, at most what its guide wants free. A
// larger step of the share costs nothing then.
func idleCache(ctx *Context) (bytes int64, how string) {
	const wanted = 5 << 30 // docs, hyperparameter_tuning.md
	pool, ok1 := memory.Reading(ctx.run, ctx.incident, "sglang.mem_kv_pool")
	batch, ok2 := memory.Reading(ctx.run, ctx.incident, "sglang.prefill")
	used, _ := pool.Fields.Int("used")
	part, known := parseNumber(batch.Fields["usage"])
	if !ok1 || !ok2 || !known || part > 1 || !ctx.is("serving") {
		return 0, ""
	}
	return min(int64(float64(used)*(1-part)/2), wanted), fmt.Sprintf("margin, because only %s of the cache was in use,", fraction(part))
}

// sharePerRank divides a share of the machine's memory by the ranks that each take it.
func sharePerRank(q *paramQuery) proposedValue {
	f, ok := parseNumber(q.cur)
	ranks, known := q.settings.integer("tp_size", "tensor_parallel_size", "tp")
	if !ok || !known || ranks < 2 {
		return proposedValue{}
	}
	to := math.Floor(f/float64(ranks)*100) / 100
	if to < q.floor(0.02) {
		return proposedValue{}
	}
	return proposedValue{to: fraction(to), how: fmt.Sprintf("%s / %d ranks", fraction(f), ranks)}
}
