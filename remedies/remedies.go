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
	s := newScene(run, in)
	chosen := s.lists()
	if len(chosen) == 0 {
		return Checklist{}
	}
	var out []judged
	ids, topics := map[string]bool{}, map[string]bool{}
	for _, c := range chosen {
		for _, id := range c.list.Items {
			it := c.guide.item(id)
			if it == nil || ids[id] || it.Topic != "" && topics[it.Topic] {
				continue
			}
			if _, here := s.confirmed(it.Only); len(it.Only) > 0 && !here {
				continue
			}
			j := s.judge(c.guide, c.list, it, c.own)
			j.Order = len(out) + 1
			ids[id] = true
			if it.Topic != "" {
				topics[it.Topic] = true
			}
			out = append(out, j)
		}
	}
	list := Checklist{Title: title(chosen[0]), StartWith: s.start(out), Findings: s.findings(out)}
	list.Patch = s.patch(out, list.StartWith)
	for i := range out {
		list.Remedies = append(list.Remedies, out[i].Remedy)
	}
	return list
}

func title(c choice) string {
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

// lists picks the lists in the order they are printed.
func (s *scene) lists() []choice {
	own := guideOf(s.run.Framework)
	if own == nil {
		return nil
	}
	out := s.matching(own)
	known := len(out) > 0
	if s.phase == "nccl" && !slices.ContainsFunc(out, func(c choice) bool { return len(c.list.Phases)+len(c.list.Kinds) > 0 }) {
		known = false // advice for any failure says nothing of collectives
		for i := range out {
			out[i].own = false
		}
	}
	for _, name := range s.extras(own.ID) {
		g := guide(name)
		for _, c := range append(s.matching(g), s.general(g)...) {
			c.own = s.resource != "gpu" || !known // the framework's own levers come first
			out = append(out, c)
		}
	}
	for _, c := range s.general(own) {
		c.own = !known
		out = append(out, c)
	}
	if s.resource != "gpu" {
		return out
	}
	if own.ID == "verl" {
		for _, c := range s.matching(guide("field-note")) {
			c.own = false
			out = append(out, c)
		}
	}
	return append(out, s.card()...)
}

// extras are the programs under the framework whose lists belong to this failure.
func (s *scene) extras(name string) []string {
	var out []string
	switch s.resource {
	case "host":
		return s.hostLists()
	case "shm":
		out = append(out, "shm")
		if s.holds("nccl_shm").truth == yes {
			out = append(out, "nccl")
		}
		return out
	}
	switch s.phase {
	case "init", "rollout", "weight_update":
		if e := s.run.Engine; (e == "vllm" || e == "sglang") && e != name {
			out = append(out, e)
		}
	case "nccl":
		out = append(out, "nccl")
	default:
		if b := s.run.Backend; b == "deepspeed" && slices.Contains([]string{"torch", "trl", "openrlhf"}, name) || b == "megatron" && name == "torch" {
			out = append(out, b)
		}
	}
	return out
}

// hostLists are those of whoever enforced the limit.
func (s *scene) hostLists() []string {
	var out []string
	if s.holds("ray_monitor").truth == yes {
		out = append(out, "ray-memory")
	}
	if s.run.Launcher == "k8s" {
		return append(out, "kubernetes")
	}
	if len(out) > 0 && s.run.Launcher != "slurm" && s.holds("cgroup").truth != yes {
		return out
	}
	return append(out, "slurm-host")
}

// matching returns a guide's lists for the incident: those that name its kind, else those that name its phase.
func (s *scene) matching(g *Guide) []choice {
	if g == nil {
		return nil
	}
	var byKind, byPhase []choice
	for i := range g.Lists {
		l := &g.Lists[i]
		if l.General || !slices.Contains(l.Resources, s.resource) {
			continue
		}
		if len(l.Phases) > 0 && !slices.Contains(l.Phases, s.phase) {
			continue
		}
		if _, bad := s.denied(l.When); bad {
			continue
		}
		c := choice{g, l, true}
		switch {
		case len(l.Kinds) == 0:
			byPhase = append(byPhase, c)
		case slices.Contains(l.Kinds, string(s.in.Kind)):
			byKind = append(byKind, c)
		}
	}
	if len(byKind) > 0 {
		return byKind
	}
	return byPhase
}

// general returns a guide's general lists for the resource.
func (s *scene) general(g *Guide) []choice {
	if g == nil {
		return nil
	}
	var out []choice
	for i := range g.Lists {
		if l := &g.Lists[i]; l.General && slices.Contains(l.Resources, s.resource) && (len(l.Kinds) == 0 || slices.Contains(l.Kinds, string(s.in.Kind))) {
			out = append(out, choice{g, l, false})
		}
	}
	return out
}

// card is PyTorch's advice on the card itself, which no framework's guide has: who else is on it, fragmentation. What
// evaluation takes is told where it failed there.
func (s *scene) card() []choice {
	if s.run.Framework == "jax" {
		return nil
	}
	g := guide("torch")
	if g == nil {
		return nil
	}
	var out []choice
	for i := range g.Lists {
		if l := &g.Lists[i]; l.ID == "card" || l.ID == "evaluation" && evaluating(s, "").truth == yes {
			out = append(out, choice{g, l, false})
		}
	}
	return out
}
