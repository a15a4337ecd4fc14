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
			j := s.judge(c.guide, c.list, it, c.own)
			j.Order = len(out) + 1
			ids[id] = true
			if it.Topic != "" {
				topics[it.Topic] = true
			}
			out = append(out, j)
		}
	}
	list := Checklist{Title: title(chosen[0]), StartWith: s.start(out)}
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

// shelfMark is the guide of a framework where the names differ.
var shelfMark = map[string]string{"nemo_rl": "nemo-rl", "unknown": "torch", "": "torch"}

// lists picks the lists in the order they are printed.
func (s *scene) lists() []choice {
	name := s.run.Framework
	if n, ok := shelfMark[name]; ok {
		name = n
	}
	own := guide(name)
	if own == nil {
		own, name = guide("torch"), "torch"
	}
	var out []choice
	add := func(g *Guide, specific, general bool) {
		if g == nil {
			return
		}
		if specific {
			out = append(out, s.matching(g)...)
		}
		if general {
			out = append(out, s.general(g)...)
		}
	}
	if s.resource != "gpu" && name == "torch" && len(s.matching(own)) == 0 {
		own = nil
	}
	add(own, true, false)
	for _, extra := range s.extras(name) {
		n := len(out)
		add(guide(extra), true, true)
		for i := n; i < len(out) && s.resource == "gpu" && len(out[:n]) > 0; i++ {
			out[i].own = false // the framework's own levers come first
		}
	}
	add(own, false, true)
	if s.resource == "gpu" {
		if name == "verl" {
			n := len(out)
			add(guide("field-note"), true, false)
			for i := n; i < len(out); i++ {
				out[i].own = false
			}
		}
		out = append(out, s.card()...)
	}
	return out
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
	var out []choice
	for i := range g.Lists {
		if l := &g.Lists[i]; l.General && slices.Contains(l.Resources, s.resource) && (len(l.Kinds) == 0 || slices.Contains(l.Kinds, string(s.in.Kind))) {
			out = append(out, choice{g, l, false})
		}
	}
	return out
}

// card is PyTorch's advice on the card itself, which no framework's guide has: who else is on it, fragmentation.
func (s *scene) card() []choice {
	if s.run.Framework == "jax" {
		return nil
	}
	g := guide("torch")
	if g == nil {
		return nil
	}
	for i := range g.Lists {
		if g.Lists[i].ID == "card" {
			return []choice{{g, &g.Lists[i], false}}
		}
	}
	return nil
}
