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

// effect is what one change is expected to do, as far as a model of it exists.
type effect struct {
	freed  *int64 // bytes
	enough truth  // whether it makes room for what failed
	why    string // the comparison
}

// estimate is what an item is expected to do: the most that one of its changes frees, and whether one of them is enough.
type estimate struct {
	effect
	how   string // the arithmetic of recomputation
	howOf int    // the change that it is about
}

// estimateOf estimates what the changes of an item do.
func estimateOf(ctx *Context, it *Item, changes []change) estimate {
	var effects []effect
	for i := range changes {
		if e := effectOf(ctx, &changes[i]); e.freed != nil || e.enough != unknown {
			effects = append(effects, e)
		}
	}
	out := estimate{howOf: -1}
	if it.Topic == "gradient-checkpointing" {
		if e, how, ok := recomputationEffect(ctx); ok {
			if i := slices.IndexFunc(changes, func(c change) bool { return c.To != nil }); i >= 0 {
				effects = append(effects, e)
				out.how, out.howOf = how, i
			}
		}
	}
	out.effect = best(effects, len(changes))
	return out
}

// best is what an item frees and whether it is enough, of the effects of its changes.
func best(effects []effect, changes int) effect {
	var out effect
	for _, e := range effects {
		if e.freed != nil && (out.freed == nil || *e.freed > *out.freed) {
			out.freed = e.freed
		}
		if e.enough != unknown && out.enough != yes {
			out.enough, out.why = e.enough, e.why
		}
	}
	if out.enough == no && len(effects) < changes {
		out.enough, out.why = unknown, "" // what its other changes bring is not known
	}
	return out
}

// sameKey says that two names are the same setting.
func sameKey(a, b string) bool { return slices.Equal(split(a), split(b)) }

// effectOf models a change: a request that grows with the tokens of a micro-batch shrinks with them; shares, buffers and
// states are freed as the rules computed.
func effectOf(ctx *Context, c *change) effect {
	if c.To == nil {
		return effect{}
	}
	if ctx.incident.Kind == parser.KVCache {
		return cacheEffect(ctx, c)
	}
	if by, ok := shrinkFactor(ctx, c); ok {
		return smallerRequest(ctx, by)
	}
	if c.freed == nil || !onCard(ctx, c) {
		return effect{}
	}
	if t := ctx.root.Total; t != nil && *c.freed > *t {
		return effect{} // more than the card holds: something about the run is not as it seems
	}
	e := effect{freed: c.freed}
	if c.parameter.Next == "bucket" {
		// A buffer is one tensor: a smaller one helps when it is what failed, else it is not known to be there.
		if v, ok := decidesSize(ctx, []change{*c}); ok && ctx.root.Requested != nil {
			to, _ := parseNumber(*c.To)
			from, _ := parseNumber(*c.From)
			e = smallerRequest(ctx, to/from)
			e.why = strings.TrimSuffix(v.why+"; "+e.why, "; ")
		}
		return e
	}
	if c.parameter.Next == "offload_state" && ctx.run.Framework == "verl" && slices.Contains(training, ctx.phase) {
		return e // verl loads them back for the actor's update (workers/fsdp_workers.py, update_actor)
	}
	if short, ok := ctx.shortfall(); ok && ctx.incident.Kind == parser.GPUOOM {
		e.enough = truthOf(*c.freed >= short)
		e.why = fmt.Sprintf("it frees about %s, %s were missing", classifier.GiB(*c.freed), classifier.GiB(short))
	}
	return e
}

// recomputationEffect is what switching recomputation on is expected to save.
func recomputationEffect(ctx *Context) (e effect, how string, ok bool) {
	saved, how, ok := recomputationSaves(ctx)
	if !ok {
		return effect{}, "", false
	}
	e.freed = &saved.Low
	if short, ok := ctx.shortfall(); ok && saved.Low >= short {
		e.enough = yes
		e.why = fmt.Sprintf("it saves at least %s, %s were missing", classifier.GiB(saved.Low), classifier.GiB(short))
	}
	return e, how, true
}

// shrinkFactor is the factor by which a change makes the failed request smaller, when that is known to grow with the tokens
// of a micro-batch and the change acts on these.
func shrinkFactor(ctx *Context, c *change) (float64, bool) {
	list := ctx.request
	if len(list) == 0 || list[0].Low <= 0 || !list[0].Seen && !list[0].Met || c.From == nil {
		return 0, false
	}
	from, ok1 := parseNumber(*c.From)
	to, ok2 := parseNumber(*c.To)
	if !ok1 || !ok2 || from <= 0 || to <= 0 {
		return 0, false
	}
	l := ctx.limit
	switch c.parameter.Next {
	case "halve_micro", "halve_micro_divisor":
		return to / from, l != nil && !l.Budget && sameKey(l.Key, c.parameter.Key) && to < from
	case "budget_verl", "budget_areal", "budget_tokens":
		// The micro-batch may have been below its budget; what counts is how it compares with the new one.
		if l == nil || !l.Budget || !sameKey(l.Key, c.parameter.Key) || list[0].Over {
			return 0, false
		}
		return to / float64(list[0].Low), to < float64(list[0].Low)
	case "budget_start":
		return to / float64(list[0].Low), to < float64(list[0].Low)
	case "ulysses":
		// A budget of tokens is one per GPU, however many share a sequence.
		return from / to, to > from && (l == nil || !l.Budget)
	}
	return 0, false
}

// smallerRequest compares the request, made smaller by a factor, with what was free.
func smallerRequest(ctx *Context, by float64) effect {
	r := ctx.root
	asks := int64(math.Ceil(float64(*r.Requested) * by))
	freed := *r.Requested - asks
	e := effect{freed: &freed}
	if r.Free == nil {
		return e
	}
	printed := memory.Printed(*r.Free, r.Message)
	if asks <= printed.Low {
		e.enough = yes
		e.why = fmt.Sprintf("the request becomes %s, and %s were free", classifier.GiB(asks), classifier.GiB(*r.Free))
		return e
	}
	// The other activations of the micro-batch shrink with it.
	if less := int64(float64(leastActivations(ctx)) * (1 - by)); less > 0 && asks <= printed.Low+less {
		all := freed + less
		e.freed, e.enough = &all, yes
		e.why = fmt.Sprintf("the request becomes %s, activations give back at least %s, and %s were free", classifier.GiB(asks), classifier.GiB(less), classifier.GiB(*r.Free))
	}
	return e
}

// onCard says that what a change takes from is on the card in the phase that failed: an engine that sleeps while the
// model trains gives nothing back, and states that are loaded for the step are there.
func onCard(ctx *Context, c *change) bool {
	switch c.parameter.Next {
	case "share_down", "share_fit":
		return engineAwake(ctx) == yes
	case "offload_state":
		return ctx.phase != "forward" && ctx.phase != "backward"
	}
	return true
}

// engineAwake says whether the inference engine holds its share of the card in the phase that failed.
func engineAwake(ctx *Context) truth {
	switch ctx.phase {
	case "init", "rollout", "weight_update", "nccl":
		return yes
	}
	if ctx.is("engine_process") {
		return yes
	}
	_, sleeps := ctx.settings.flag("actor_rollout_ref.rollout.free_cache_engine", "vllm_enable_sleep_mode", "vllm_enable_sleep", "vllm.enable_sleep", "offload_rollout")
	return -sleeps
}

// cacheEffect models changes for an engine whose cache did not fit.
func cacheEffect(ctx *Context, c *change) effect {
	r := ctx.root
	if ctx.is("less_than_desired") {
		if to, ok := parseNumber(*c.To); ok && c.parameter.Next == "share_fit" && r.Free != nil && r.Total != nil {
			takes := int64(to * float64(*r.Total))
			return effect{enough: truthOf(takes <= *r.Free), why: fmt.Sprintf("it takes %s, and %s were free", classifier.GiB(takes), classifier.GiB(*r.Free))}
		}
		return effect{}
	}
	if c.parameter.Next == "fit_length" {
		return effect{enough: yes, why: "the engine's own estimate of what fits"}
	}
	short, ok := ctx.shortfall()
	if !ok || c.From == nil || r.Requested == nil {
		return effect{}
	}
	from, ok1 := parseNumber(*c.From)
	to, ok2 := parseNumber(*c.To)
	if !ok1 || !ok2 {
		return effect{}
	}
	switch c.parameter.Next {
	case "share_up":
		total, by, ok := cardCapacity(ctx)
		if !ok {
			return effect{}
		}
		gain := int64((to - from) * float64(total))
		return effect{freed: &gain, enough: truthOf(gain >= short), why: fmt.Sprintf("it adds %s%s, %s were missing", classifier.GiB(gain), by, classifier.GiB(short))}
	case "double_tp":
		have := *r.Requested - short
		if need := *r.Requested / 2; have > 0 && need <= have && !latentAttention(ctx) {
			return effect{enough: yes, why: fmt.Sprintf("half of the heads need %s, and %s are there before the weights halve", classifier.GiB(need), classifier.GiB(have))}
		}
	}
	return effect{}
}

// latentAttention says that the cache may not split with tensor parallelism: DeepSeek's latent attention keeps one copy per rank,
// and so does a model with fewer key-value heads than ranks.
func latentAttention(ctx *Context) bool {
	name := strings.ToLower(ctx.run.Model.Name)
	kv := ctx.model.KVHeads.Value
	return kv < 2 || strings.Contains(name, "deepseek-v") || strings.Contains(name, "deepseek-r1") && !strings.Contains(name, "distill") || strings.Contains(name, "kimi")
}

// limitNotApplied says why it is in vain to lower a limit that is shown not to be applied; empty when nothing shows it.
func limitNotApplied(ctx *Context, changes []change) string {
	l := ctx.limit
	if len(ctx.request) == 0 || !ctx.request[0].Over || l == nil || !slices.ContainsFunc(open(changes), func(c change) bool { return sameKey(c.Key, l.Key) }) {
		return ""
	}
	return ctx.request[0].OverWhy
}

// decidesSize says that one of the changes is of the very setting that gave the request its size.
func decidesSize(ctx *Context, changes []change) (verdict, bool) {
	if len(ctx.request) == 0 || !ctx.request[0].Met || ctx.request[0].Key == "" {
		return verdict{}, false
	}
	for _, c := range changes {
		if c.To != nil && sameKey(c.Key, ctx.request[0].Key) {
			return verdict{yes, fmt.Sprintf("the request is %s: %s decides its size", ctx.request[0].What, c.Key)}, true
		}
	}
	return verdict{}, false
}
