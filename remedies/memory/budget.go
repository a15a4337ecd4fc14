package memory

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Phase is the part of a run for which a budget is computed.
type Phase string

// The phases.
const (
	PhaseInit         Phase = "init"
	PhaseRollout      Phase = "rollout"
	PhaseLogProb      Phase = "logprob"
	PhaseForward      Phase = "forward"
	PhaseBackward     Phase = "backward"
	PhaseOptimizer    Phase = "optimizer"
	PhaseWeightUpdate Phase = "weight_update"
	PhaseCheckpoint   Phase = "checkpoint"
	PhaseData         Phase = "data"
)

// Phases are all of them, in the order of a step.
var Phases = []Phase{PhaseInit, PhaseData, PhaseRollout, PhaseLogProb, PhaseForward, PhaseBackward, PhaseOptimizer, PhaseWeightUpdate, PhaseCheckpoint}

// Resources and pools of a part.
const (
	OnCard = "card" // of one card, the fullest
	OnNode = "node" // host memory of one node, the fullest

	PoolAllocated = "allocated" // PyTorch counts it as allocated
	PoolReserved  = "reserved"  // PyTorch holds it, unused
	PoolOutside   = "outside"   // the driver, NCCL, graphs
	PoolHost      = "host"
)

// BudgetPart is what one component takes: at least Low, at most High, and Bytes by the best formula.
type BudgetPart struct {
	ID, Resource, Pool string
	Low, Bytes, High   int64
	How                string // the formula with its numbers
}

// UnknownPart is a component that cannot be computed because inputs are missing.
type UnknownPart struct {
	ID, Resource string
	Missing      []string
}

// Budget is the memory of a card and of a node in a phase, at the peak.
type Budget struct {
	Phase   Phase
	Parts   []BudgetPart
	Unknown []UnknownPart
}

// Range is a sum of parts.
type Range struct{ Low, Bytes, High int64 }

// Total sums the parts of a resource, of the pools named or of all.
func (b Budget) Total(resource string, pools ...string) Range {
	var r Range
	for _, p := range b.Parts {
		if p.Resource == resource && (len(pools) == 0 || slices.Contains(pools, p.Pool)) {
			r.Low, r.Bytes, r.High = r.Low+p.Low, r.Bytes+p.Bytes, r.High+p.High
		}
	}
	return r
}

// Part finds a part by its id.
func (b Budget) Part(id string) (BudgetPart, bool) {
	i := slices.IndexFunc(b.Parts, func(p BudgetPart) bool { return p.ID == id })
	if i < 0 {
		return BudgetPart{}, false
	}
	return b.Parts[i], true
}

// Budget computes the parts of a phase. Where the model or the pipeline stage is one of several, the fullest card of the
// first model counts, and the ranges hold the others.
func (s Setup) Budget(phase Phase) Budget {
	stages := []string{s.Stage}
	if s.Stage == "" && s.pp() > 1 {
		stages = []string{FirstStage, LastStage}
	}
	var all []Budget
	for _, m := range append([]Model{s.Model}, s.Candidates...) {
		var best Budget
		for i, stage := range stages {
			v := s
			v.Model, v.Stage = m, stage
			b := v.variant(phase)
			if i == 0 || b.Total(OnCard).Bytes > best.Total(OnCard).Bytes {
				best = b
			}
		}
		all = append(all, best)
	}
	out := all[0]
	for _, b := range all[1:] {
		for i := range out.Parts {
			if p, ok := b.Part(out.Parts[i].ID); ok {
				out.Parts[i].Low, out.Parts[i].High = min(out.Parts[i].Low, p.Low), max(out.Parts[i].High, p.High)
			}
		}
	}
	return out
}

// usualParts is about how many parts a budget has.
const usualParts = 16

// variant is the budget of one model at one stage.
func (s Setup) variant(phase Phase) Budget {
	e := &estimate{Setup: s, phase: phase, parts: make([]BudgetPart, 0, usualParts)}
	if s.Trainer != "" {
		e.states()
		e.handOver()
		e.computation()
	}
	e.engine()
	e.process()
	e.host()
	return Budget{Phase: phase, Parts: e.parts, Unknown: e.unknown}
}

// estimate collects the parts of one phase.
type estimate struct {
	Setup
	phase   Phase
	parts   []BudgetPart
	unknown []UnknownPart
}

// span is an amount with its range, in bytes.
type span struct{ low, mid, high float64 }

func exactly(x float64) span { return span{x, x, x} }

// gibs is a range in GiB.
func gibs(low, mid, high float64) span { return span{low, mid, high}.times(1 << 30) }

func (a span) plus(b span) span     { return span{a.low + b.low, a.mid + b.mid, a.high + b.high} }
func (a span) times(x float64) span { return span{a.low * x, a.mid * x, a.high * x} }

// mostPart is larger than any real part: beyond it, the inputs are wrong.
const mostPart = 1 << 50

// add adds a part, unless it is empty or impossible.
func (e *estimate) add(id, pool string, size span, how string, args ...any) {
	resource := OnCard
	if pool == PoolHost {
		resource = OnNode
	}
	if size.high <= 0 || size.high > mostPart || math.IsNaN(size.high) {
		return
	}
	e.parts = append(e.parts, BudgetPart{
		ID: id, Resource: resource, Pool: pool, How: fmt.Sprintf(how, args...),
		Low: int64(max(size.low, 0)), Bytes: int64(max(size.mid, size.low, 0)), High: int64(size.high),
	})
}

// allocated returns the sum so far of what PyTorch counts as allocated.
func (e *estimate) allocated() float64 {
	return float64(Budget{Parts: e.parts}.Total(OnCard, PoolAllocated).Bytes)
}

// input is a value that a formula needs.
type input struct {
	name  string
	known bool
}

// have reports whether all inputs of a part are known, and notes the part as unknown otherwise.
func (e *estimate) have(id, resource string, inputs ...input) bool {
	var missing []string
	for _, i := range inputs {
		if !i.known {
			missing = append(missing, i.name)
		}
	}
	if len(missing) > 0 {
		e.unknown = append(e.unknown, UnknownPart{id, resource, missing})
	}
	return len(missing) == 0
}

// count prints a number of parameters, tokens or bytes.
func count(x float64) string { return Thousands(int64(math.Round(x))) }

// factor prints a number of bytes of one element: 2, 1.5, 0.52.
func factor(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", x), "0"), ".")
}
