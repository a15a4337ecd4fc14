package remedies

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

// Plan is the memory budget of a run in each phase, with the largest micro-batch that its settings allow.
type Plan struct {
	Framework, Trainer, Engine, Model string // the budget's names; empty if unknown
	Card, Node                        *int64 // bytes of a card and of a node, nil when unknown
	Phases                            []PlanPhase
	Missing                           []PlanMissing
}

// PlanPhase is the memory of a card and of a node in one phase.
type PlanPhase struct {
	Phase string  `json:"phase"`
	Card  PlanSum `json:"card"`
	Node  PlanSum `json:"node"`
}

// PlanSum is the sum of all parts of a resource. Whole is true if no large part is missing.
type PlanSum struct {
	Bytes int64        `json:"bytes"`
	Low   int64        `json:"low"`
	High  int64        `json:"high"`
	Whole bool         `json:"complete"`
	Fits  *bool        `json:"fits"` // nil where the range or a missing part leaves it open, or where the size is unknown
	Parts []BudgetPart `json:"parts"`
}

// PlanMissing is an unknown input.
type PlanMissing struct {
	Input    string   `json:"input"`
	Parts    []string `json:"parts"`    // that cannot be computed without it
	Settings []string `json:"settings"` // that would set it, in the run's dialect; empty if no single one does
}

// modelInputs lists the budget's words for values of a model's configuration.
var modelInputs = []string{"model sizes or number of parameters", "number of parameters", "sizes of the model's layers", "vocabulary"}

// PlanOf computes a run's budget. A given model replaces the run's.
func PlanOf(run *classifier.Run, incidents []classifier.Incident, model *memory.Model) Plan {
	var out Plan
	for _, phase := range memory.Phases {
		ctx := newContext(run, planIncident(run, incidents, phase))
		ctx.given = model
		s := setupOf(ctx)
		if phase == memory.Phases[0] {
			out.Framework, out.Trainer, out.Engine, out.Model = run.Framework, s.Trainer, s.Engine, s.Model.Name
			out.Card, out.Node = s.CardBytes.Pointer(), s.NodeBytes.Pointer()
		}
		if !runs(s, phase) {
			continue
		}
		b := s.WorstCase().Budget(phase)
		out.Phases = append(out.Phases, PlanPhase{string(phase), planSum(b, "gpu", s.CardBytes), planSum(b, "host", s.NodeBytes)})
		for _, u := range b.Unknown {
			for _, input := range u.Missing {
				out.miss(input, u.ID, inputSettings(ctx, &s, input))
			}
		}
	}
	return out
}

// planIncident represents the planned moment. It has the position in the log and the card size of the run's own failure.
func planIncident(run *classifier.Run, incidents []classifier.Incident, phase memory.Phase) *classifier.Incident {
	in := &classifier.Incident{Kind: parser.GPUOOM, Resource: "gpu", Phase: string(phase)}
	for i := range incidents {
		if r := &incidents[i].Root; incidents[i].Kind == parser.GPUOOM && r.Total != nil {
			in.Root.At, in.Root.Total = r.At, r.Total
			return in
		}
	}
	if n := len(run.Gauges); n > 0 {
		in.Root.At = parser.Position{Source: run.Gauges[n-1].At.Source, Line: math.MaxInt}
	}
	return in
}

// runs reports whether a run has a phase.
func runs(s memory.Setup, phase memory.Phase) bool {
	switch phase {
	case memory.PhaseInit:
		return s.Trainer != "" || s.Engine != ""
	case memory.PhaseRollout:
		return s.Engine != ""
	case memory.PhaseWeightUpdate:
		return s.Engine != "" && s.Trainer != ""
	case memory.PhaseLogProb:
		return s.Trainer != "" && (s.Task == "grpo" || slices.Contains([]string{memory.VeRL, memory.AReaL, memory.Slime, memory.OpenRLHF}, s.Framework))
	case memory.PhaseData:
		return false
	}
	return s.Trainer != ""
}

// planSum adds up the parts of a resource and states whether they fit.
func planSum(b memory.Budget, resource string, size memory.Opt[int64]) PlanSum {
	on := budgetResources[resource]
	t := b.Total(on)
	out := PlanSum{Low: t.Low, Bytes: t.Bytes, High: t.High, Whole: true, Parts: []BudgetPart{}}
	for _, p := range b.Parts {
		if p.Resource == on {
			out.Parts = append(out.Parts, BudgetPart{Part: p.ID, Bytes: p.Bytes, Low: p.Low, High: p.High, Resource: resource, How: p.How})
		}
	}
	for _, u := range b.Unknown {
		if u.Resource == on {
			out.Whole = out.Whole && !slices.Contains(largeParts, u.ID)
		}
	}
	switch fits, no := true, false; {
	case !size.Known:
	case t.Low > size.Value:
		out.Fits = &no
	case t.High <= size.Value && out.Whole:
		out.Fits = &fits
	}
	return out
}

// miss records that a part lacks an input.
func (p *Plan) miss(input, part string, settings []string) {
	if slices.Contains(modelInputs, input) {
		input = "sizes of the model"
	}
	i := slices.IndexFunc(p.Missing, func(m PlanMissing) bool { return m.Input == input })
	if i < 0 {
		i = len(p.Missing)
		p.Missing = append(p.Missing, PlanMissing{Input: input, Settings: settings})
	}
	if m := &p.Missing[i]; !slices.Contains(m.Parts, part) {
		m.Parts = append(m.Parts, part)
	}
}

// batchInput is the budget's word for the size of a micro-batch.
const batchInput = "tokens of a micro-batch (samples and lengths, or a token budget)"

// batchSettings returns the settings that limit the micro-batch of this phase.
func batchSettings(ctx *Context) []string {
	out := []string{}
	for _, b := range boundsOf(ctx) {
		if b.phases != nil && !slices.Contains(b.phases, ctx.phase) || len(b.when) > 0 && !ctx.allTrue(b.when) || b.samples == "" {
			continue
		}
		out = append(out, strings.TrimLeft(b.samples, "-"))
		for _, names := range b.lengths {
			out = append(out, names[0])
		}
		break
	}
	return out
}

// modelSettings are the settings that name the model, by framework.
var modelSettings = map[string]string{
	"verl": "actor_rollout_ref.model.path", "slime": "hf_checkpoint", "relax": "hf_checkpoint", "openrlhf": "pretrain", "nemo_rl": "policy.model_name",
	"skyrl": "trainer.policy.model.path", "areal": "actor.path", "vllm": "model_path", "sglang": "model_path",
}

// inputSettings returns the settings for an input of the budget in the run's dialect, oomscan's own word last.
func inputSettings(ctx *Context, s *memory.Setup, input string) []string {
	out := []string{}
	if input == batchInput {
		out = batchSettings(ctx)
	}
	for i := range setupRows {
		if setupRows[i].input != input {
			continue
		}
		for _, d := range dialectsOf(ctx, s.Trainer) {
			for key := range strings.FieldsSeq(setupRows[i].keys[d]) {
				key, _, _ = strings.Cut(key, "=")
				if !slices.Contains(out, key) {
					out = append(out, key)
				}
			}
		}
	}
	if slices.Contains(modelInputs, input) {
		return []string{cmp.Or(modelSettings[ctx.run.Framework], "model_name_or_path")}
	}
	return out
}

// OwnInput reports whether a setting is oomscan's own word for a fact of the run rather than a setting of the run.
func OwnInput(key string) bool {
	return slices.ContainsFunc(setupRows, func(r setupRow) bool { return slices.Contains(strings.Fields(r.keys["oomscan"]), key) })
}
