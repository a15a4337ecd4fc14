package remedies

import (
	"slices"
	"sort"

	"oomscan/remedies/memory"
)

// BudgetPart is the computed memory of one component of a run, and the memory that the log reports for it.
type BudgetPart struct {
	Part     string `json:"part"` // an id of package memory: weights, logits, kv_cache
	Bytes    int64  `json:"bytes"`
	Low      int64  `json:"low"`
	High     int64  `json:"high"`
	Measured *int64 `json:"measured_bytes"` // nil when the log does not print it
	Resource string `json:"resource"`       // gpu or host
	How      string `json:"how"`            // the formula with its numbers
}

// budget is the computed memory of the card or node that ran full, in the failing phase.
type budget struct {
	setup   memory.Setup
	parts   []BudgetPart
	missing []memory.UnknownPart // what is there, too, and cannot be computed
	// unexplained is the memory in use beyond the sum of the parts, including the failed request. Nil if the log does not
	// report memory in use, or if the largest parts cannot be computed.
	unexplained *int64
}

// budgetPhases maps an incident's phases to a budget's. For a failure in "training", the fullest one counts.
var budgetPhases = map[string][]memory.Phase{
	"init": {memory.PhaseInit}, "rollout": {memory.PhaseRollout}, "logprob": {memory.PhaseLogProb}, "forward": {memory.PhaseForward}, "backward": {memory.PhaseBackward},
	"optimizer": {memory.PhaseOptimizer}, "training": {memory.PhaseForward, memory.PhaseBackward, memory.PhaseOptimizer},
	"weight_update": {memory.PhaseWeightUpdate}, "checkpoint": {memory.PhaseCheckpoint}, "data": {memory.PhaseData},
}

// budgetResources maps resources to the budget's names.
var budgetResources = map[string]string{"gpu": memory.OnCard, "host": memory.OnNode}

// budgetOf computes the budget of the failing phase and compares it with the log's figures. It is empty if the phase is
// unknown or no formula covers the model.
func budgetOf(ctx *Context) budget {
	resource, phases := budgetResources[ctx.resource], failedPhases(ctx)
	if resource == "" || len(phases) == 0 {
		return budget{}
	}
	out := budget{setup: ctx.setup}
	var full memory.Budget
	bound := false
	for i, p := range phases {
		b, most := withRange(ctx, out.setup, p)
		if i == 0 || b.Total(resource).Bytes > full.Total(resource).Bytes {
			full, bound = b, most
		}
	}
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
			whole = whole && !slices.Contains(largeParts, u.ID)
		}
	}
	if rest, ok := unexplained(ctx, out.parts); ok && whole && (rest > 0 || !bound) {
		out.unexplained = &rest
	}
	return out
}

// largeParts lists the parts without which a budget explains nothing.
var largeParts = []string{
	"states", "optimizer", "activations", "logits", "reference", "critic", "engine", "engine_weights", "kv_cache",
	"host_processes", "host_offload", "host_loading", "host_checkpoint",
}

// inUse returns the memory in use on the card or node at the failure, and the request.
func inUse(ctx *Context) (int64, bool) {
	r := ctx.root
	switch {
	case ctx.resource == "gpu" && r.Total != nil && r.Free != nil:
		n := *r.Total - *r.Free
		if r.Requested != nil {
			n += *r.Requested
		}
		return n, true
	case ctx.resource == "host" && r.Used != nil:
		return *r.Used, true
	}
	return 0, false
}

// withRange returns the budget of a phase. Settings limit the tokens of a micro-batch. If the failed one may have had fewer,
// the parts that depend on them are ranges, marked as such: from the size for one token to what fits beside the rest of the
// memory in use.
func withRange(ctx *Context, s memory.Setup, phase memory.Phase) (b memory.Budget, bound bool) {
	most := s.WorstCase().TokensNow
	if s.TokensNow.Known || !most.Known || s.Padded.Or(false) && s.MicroBatch.Known {
		return s.Budget(phase), false
	}
	of := func(tokens int) memory.Budget {
		v := s
		v.TokensNow = memory.Some(int64(tokens))
		if v.LossTokens.Known {
			v.LossTokens.Value = max(s.LossTokens.Value*int64(tokens)/most.Value, 1)
		}
		return v.Budget(phase)
	}
	tokens := int(most.Value)
	if n, ok := inUse(ctx); ok && ctx.resource == "gpu" && of(1).Total(memory.OnCard).Bytes <= n {
		tokens = sort.Search(tokens, func(t int) bool { return of(t+1).Total(memory.OnCard).Bytes > n })
	}
	few, out := of(1), of(tokens)
	for i := range out.Parts {
		p := &out.Parts[i]
		q, _ := few.Part(p.ID) // zero if one token takes no memory
		if q.Bytes < p.Bytes {
			p.Low, p.How, bound = min(p.Low, q.Low), "at most "+p.How, true
		}
	}
	return out, bound
}

// readingParts maps the parts that engines report at their start to the ledger's names.
var readingParts = map[string]string{"weights": "engine_weights", "KV cache": "kv_cache", "activation peak": "engine_activations", "CUDA graphs": "cuda_graphs"}

// measuredParts returns the log's figures of single parts.
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

// unexplained returns the memory in use beyond the sum of the parts.
func unexplained(ctx *Context, parts []BudgetPart) (rest int64, ok bool) {
	rest, ok = inUse(ctx)
	for _, p := range parts {
		if p.Measured != nil {
			rest -= *p.Measured
		} else {
			rest -= p.Bytes
		}
	}
	return max(rest, 0), ok
}
