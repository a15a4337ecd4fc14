package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
)

// For returns the checklist for an incident of a run: first the list that the framework's guide has for its phase,
// then those of the engine and of the other programs involved, then the guide's general list without what was already
// there. Every list keeps its order. The result is empty for failures that are no exhaustion of memory, and owns its
// memory except for the guides' texts. Neither argument may be changed meanwhile; both may be nil.
func For(run *classifier.Run, in *classifier.Incident) Checklist {
	if in == nil || in.Kind == parser.IllegalAccess || in.Kind == parser.ProcessExit {
		return Checklist{}
	}
	if run == nil {
		run = &classifier.Run{}
	}
	ctx := newContext(run, in)
	chosen := candidates(ctx, listsFor(ctx))
	if len(chosen) == 0 {
		return Checklist{}
	}
	names := map[string]naming{}
	items := make([]assessment, len(chosen))
	for i, c := range chosen {
		if _, ok := names[c.guide.ID]; !ok {
			names[c.guide.ID] = namingOf(ctx, c.guide)
		}
		items[i] = assess(ctx, names[c.guide.ID], c)
		items[i].Order = i + 1
	}
	out := Checklist{Title: title(chosen[0]), StartWith: rank(items), Findings: findingsOf(ctx, items)}
	out.Patch = patchOf(items, out.StartWith)
	for i := range items {
		out.Remedies = append(out.Remedies, items[i].Remedy)
	}
	return out
}

// candidates are the items of the lists that may go into the answer, each once, and of those that say the same the first.
func candidates(ctx *Context, lists []choice) []candidate {
	var out []candidate
	ids, topics := map[string]bool{}, map[string]bool{}
	for _, c := range lists {
		for _, id := range c.list.Items {
			it := c.guide.item(id)
			if it == nil || ids[id] || it.Topic != "" && topics[it.Topic] {
				continue
			}
			if _, here := ctx.confirmed(it.Only); len(it.Only) > 0 && !here {
				continue
			}
			ids[id], topics[it.Topic] = true, true
			out = append(out, candidate{c.guide, c.list, it, c.own})
		}
	}
	return out
}

func title(c candidate) string {
	t := strings.Replace(c.list.Heading, ", ", ": ", 1)
	if c.guide.Document {
		t += fmt.Sprintf(" (guide %q)", c.guide.Title)
	}
	return t
}

// choice is a list that goes into the answer.
type choice struct {
	guide *Guide
	list  *List
	own   bool // for this phase, as opposed to general advice
}

// guideOf returns the guide of a framework; PyTorch's for those that have none.
func guideOf(framework string) *Guide {
	name := framework
	if name == "nemo_rl" {
		name = "nemo-rl"
	}
	if g := guide(name); g != nil && g.Framework == framework && framework != "unknown" {
		return g
	}
	return guide("torch")
}

// listsFor picks the lists in the order they are printed.
func listsFor(ctx *Context) []choice {
	own := guideOf(ctx.run.Framework)
	if own == nil {
		return nil
	}
	out := matchingLists(ctx, own)
	known := len(out) > 0
	if ctx.phase == "nccl" && !slices.ContainsFunc(out, func(c choice) bool { return len(c.list.Phases)+len(c.list.Kinds) > 0 }) {
		known = false // advice for any failure says nothing of collectives
		for i := range out {
			out[i].own = false
		}
	}
	for _, name := range extraGuides(ctx, own.ID) {
		g := guide(name)
		for _, c := range append(matchingLists(ctx, g), generalLists(ctx, g)...) {
			c.own = ctx.resource != "gpu" || !known // the framework's own levers come first
			out = append(out, c)
		}
	}
	for _, c := range generalLists(ctx, own) {
		c.own = !known
		out = append(out, c)
	}
	if ctx.resource != "gpu" {
		return out
	}
	if own.ID == "verl" {
		for _, c := range matchingLists(ctx, guide("field-note")) {
			c.own = false
			out = append(out, c)
		}
	}
	return append(out, cardLists(ctx)...)
}

// extraGuides are the programs under the framework whose lists belong to this failure.
func extraGuides(ctx *Context, name string) []string {
	var out []string
	switch ctx.resource {
	case "host":
		return hostGuides(ctx)
	case "shm":
		out = append(out, "shm")
		if ctx.is("nccl_shm") {
			out = append(out, "nccl")
		}
		return out
	}
	switch ctx.phase {
	case "init", "rollout", "weight_update":
		if e := ctx.run.Engine; (e == "vllm" || e == "sglang") && e != name {
			out = append(out, e)
		}
	case "nccl":
		out = append(out, "nccl")
	default:
		if b := ctx.run.Backend; b == "deepspeed" && slices.Contains([]string{"torch", "trl", "openrlhf"}, name) || b == "megatron" && name == "torch" {
			out = append(out, b)
		}
	}
	return out
}

// hostGuides are those of whoever enforced the limit.
func hostGuides(ctx *Context) []string {
	var out []string
	if ctx.is("ray_monitor") {
		out = append(out, "ray-memory")
	}
	if ctx.run.Launcher == "k8s" {
		return append(out, "kubernetes")
	}
	if len(out) > 0 && ctx.run.Launcher != "slurm" && !ctx.is("cgroup") {
		return out
	}
	return append(out, "slurm-host")
}

// matchingLists returns a guide's lists for the incident: those that name its kind, else those that name its phase.
func matchingLists(ctx *Context, g *Guide) []choice {
	if g == nil {
		return nil
	}
	var byKind, byPhase []choice
	for i := range g.Lists {
		l := &g.Lists[i]
		if l.General || !slices.Contains(l.Resources, ctx.resource) {
			continue
		}
		if len(l.Phases) > 0 && !slices.Contains(l.Phases, ctx.phase) {
			continue
		}
		if _, bad := ctx.denied(l.When); bad {
			continue
		}
		c := choice{g, l, true}
		switch {
		case len(l.Kinds) == 0:
			byPhase = append(byPhase, c)
		case slices.Contains(l.Kinds, string(ctx.incident.Kind)):
			byKind = append(byKind, c)
		}
	}
	if len(byKind) > 0 {
		return byKind
	}
	return byPhase
}

// generalLists returns a guide's general lists for the resource.
func generalLists(ctx *Context, g *Guide) []choice {
	if g == nil {
		return nil
	}
	var out []choice
	for i := range g.Lists {
		if l := &g.Lists[i]; l.General && slices.Contains(l.Resources, ctx.resource) && (len(l.Kinds) == 0 || slices.Contains(l.Kinds, string(ctx.incident.Kind))) {
			out = append(out, choice{g, l, false})
		}
	}
	return out
}

// cardLists is PyTorch's advice on the card itself, which no framework's guide has: who else is on it, fragmentation. What
// evaluation takes is told where it failed there.
func cardLists(ctx *Context) []choice {
	if ctx.run.Framework == "jax" {
		return nil
	}
	g := guide("torch")
	if g == nil {
		return nil
	}
	var out []choice
	for i := range g.Lists {
		if l := &g.Lists[i]; l.ID == "card" || l.ID == "evaluation" && ctx.is("evaluating") {
			out = append(out, choice{g, l, false})
		}
	}
	return out
}
