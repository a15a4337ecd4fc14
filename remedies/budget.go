package remedies

import (
	"oomscan/remedies/memory"
)

// BudgetPart is what one component of a run takes, computed, and what the log measured of it.
type BudgetPart struct {
	Part             string // an id of package memory: weights, logits, kv_cache
	Bytes, Low, High int64
	Measured         *int64 // nil when the log does not print it
	Resource         string // gpu or host
	How              string // the formula with its numbers
}

// budget is what should be on the card or the node that ran full, in the phase in which it did.
type budget struct {
	setup   memory.Setup
	phase   memory.Phase
	parts   []BudgetPart
	missing []memory.UnknownPart // what is there, too, and cannot be computed
	// unexplained is what was in use, the failed request included, beyond the sum of the parts; nil where the log does not
	// tell what was in use, or where the largest parts cannot be computed.
	unexplained *int64
}

// budgetPhases are the phases of an incident that a budget knows. A failure in "training" is that of the fullest one.
var budgetPhases = map[string][]memory.Phase{
	"init": {memory.PhaseInit}, "rollout": {memory.PhaseRollout}, "logprob": {memory.PhaseLogProb}, "forward": {memory.PhaseForward}, "backward": {memory.PhaseBackward},
	"optimizer": {memory.PhaseOptimizer}, "training": {memory.PhaseForward, memory.PhaseBackward, memory.PhaseOptimizer},
	"weight_update": {memory.PhaseWeightUpdate}, "checkpoint": {memory.PhaseCheckpoint}, "data": {memory.PhaseData},
}

// budgetResources are the budget's names of what can run full.
var budgetResources = map[string]string{"gpu": memory.OnCard, "host": memory.OnNode}

// budgetOf computes the budget of the failing phase and sets it beside what the log measured. It is empty where the phase
// is unknown, and for models that no formula here is about.
func budgetOf(ctx *Context) budget {
	resource, phases := budgetResources[ctx.resource], budgetPhases[ctx.phase]
	if resource == "" || len(phases) == 0 || ctx.is("role:critic") || ctx.is("role:reward") {
		return budget{}
	}
	out := budget{setup: setupOf(ctx)}
	var full memory.Budget
	for i, p := range phases {
		if b := withRange(out.setup, p); i == 0 || b.Total(resource).Bytes > full.Total(resource).Bytes {
			full = b
		}
	}
	out.phase = full.Phase
	measured := measuredParts(ctx)
	for _, p := range full.Parts {
		if p.Resource == resource {
			out.parts = append(out.parts, BudgetPart{p.ID, p.Bytes, p.Low, p.High, measured[p.ID], ctx.resource, p.How})
		}
	}
	whole := out.setup.Trainer != "" || out.setup.Engine != ""
	for _, u := range full.Unknown {
		if u.Resource == resource {
			out.missing = append(out.missing, u)
			whole = whole && u.ID != "states" && u.ID != "engine" && u.ID != "engine_weights"
		}
	}
	if whole {
		out.unexplained = unexplained(ctx, out.parts)
	}
	return out
}

// withRange is the budget of a phase. Settings tell how many tokens a micro-batch has at most. Where the failed one may have
// had fewer, the parts that they decide are a bound: they reach down to what one token takes, and say so.
func withRange(s memory.Setup, phase memory.Phase) memory.Budget {
	out := s.Budget(phase)
	if s.TokensNow.Known || s.Padded.Or(false) && s.MicroBatch.Known {
		return out
	}
	s.TokensNow, s.LossTokens = memory.Some(int64(1)), memory.Opt[int64]{}
	few := s.Budget(phase)
	for i := range out.Parts {
		p := &out.Parts[i]
		q, _ := few.Part(p.ID) // nothing where one token takes none
		if q.Bytes < p.Bytes {
			p.Low, p.How = min(p.Low, q.Low), "at most "+p.How
		}
	}
	return out
}

// readingParts are the parts that engines tell of at their start, by the ledger's names.
var readingParts = map[string]string{"weights": "engine_weights", "KV cache": "kv_cache", "activation peak": "engine_activations", "CUDA graphs": "cuda_graphs"}

// measuredParts are what the log prints of single parts.
func measuredParts(ctx *Context) map[string]*int64 {
	out := map[string]*int64{}
	l := memory.Account(ctx.run, ctx.incident)
	if l == nil {
		return out
	}
	for i := range l.Engine {
		if id := readingParts[l.Engine[i].Name]; id != "" {
			out[id] = &l.Engine[i].Bytes
		}
	}
	if !ctx.is("engine_process") {
		out["idle_reserve"] = l.ReservedUnallocated
	}
	return out
}

// unexplained is what was in use beyond the sum of the parts.
func unexplained(ctx *Context, parts []BudgetPart) *int64 {
	r := ctx.root
	var used int64
	switch {
	case ctx.resource == "gpu" && r.Total != nil && r.Free != nil:
		used = *r.Total - *r.Free
		if r.Requested != nil {
			used += *r.Requested
		}
	case ctx.resource == "host" && r.Used != nil:
		used = *r.Used
	default:
		return nil
	}
	for _, p := range parts {
		if p.Measured != nil {
			used -= *p.Measured
		} else {
			used -= p.Bytes
		}
	}
	used = max(used, 0)
	return &used
}
