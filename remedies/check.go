package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier/phase"
)

// ReadGuide reads a user's guide from the text of a file, whose name is the guide's id, and checks it like the built-in ones.
// Errors begin with the file and the line.
func ReadGuide(name string, text []byte) (*Guide, error) {
	var g Guide
	return &g, checked(name, text, &g)
}

// checked decodes a guide or a manual and checks it.
func checked(name string, text []byte, to interface{ check(id string) *fault }) error {
	if err := decodeYAML(name, text, to); err != nil {
		return err
	}
	if f := to.check(idOf(name)); f != nil {
		return fmt.Errorf("%s:%d: %s", name, lineOf(text, f.near), f.what)
	}
	return nil
}

// fault is a mistake in a guide's file and a text near it.
type fault struct{ near, what string }

// The words that a guide may use; the design's, in its order.
var (
	phaseWords    = append(phase.Known(), phase.Unknown)
	resourceWords = []string{"gpu", "host", "shm"}
	kindWords     = []string{"gpu_oom", "gpu_driver_oom", "kv_cache", "nccl_oom", "nccl_failure", "host_oom", "oom_kill", "shm_exhausted"}
	surfaces      = []string{"hydra", "yaml", "flag", "python", "env", "sbatch", "qsub", "bsub", "shell", "words"}
	directions    = []string{"up", "down", "set"}
	effects       = []string{"", "shrinks", "frees", "host", "diagnose"}
)

// check returns the first mistake in a guide, or nil.
func (g *Guide) check(id string) *fault {
	if g.ID != id {
		return &fault{"id:", fmt.Sprintf("the guide's id is %q, its file says %q", g.ID, id)}
	}
	if g.Name == "" || g.Title == "" {
		return &fault{"id:", "a guide needs a name and a title"}
	}
	if !strings.ContainsAny(g.Seen, "0123456789") {
		return &fault{"id:", "in which versions were the parameters seen?"}
	}
	seen := map[string]bool{}
	for i := range g.Items {
		it := &g.Items[i]
		if !strings.HasPrefix(it.ID, g.ID+".") || seen[it.ID] {
			return &fault{"id: " + it.ID + "\n", fmt.Sprintf("item id %q: not unique, or without the prefix %q", it.ID, g.ID+".")}
		}
		seen[it.ID] = true
		if f := it.check(); f != nil {
			return &fault{"id: " + it.ID + "\n", fmt.Sprintf("item %s: %s", it.ID, f.what)}
		}
	}
	lists := map[string]bool{}
	for i := range g.Lists {
		l := &g.Lists[i]
		if l.ID == "" || lists[l.ID] || l.Heading == "" || len(l.Items) == 0 || len(l.Resources) == 0 {
			return &fault{"id: " + l.ID, fmt.Sprintf("list %q: needs an id of its own, a heading, resources and items", l.ID)}
		}
		lists[l.ID] = true
		for _, want := range l.Items {
			if !seen[want] {
				return &fault{want, fmt.Sprintf("list %s: there is no item %q", l.ID, want)}
			}
		}
		for _, w := range []struct{ words, known []string }{{l.Phases, phaseWords}, {l.Resources, resourceWords}, {l.Kinds, kindWords}} {
			if bad := unknownWord(w.words, w.known); bad != "" {
				return &fault{"id: " + l.ID, fmt.Sprintf("list %s: unknown word %q", l.ID, bad)}
			}
		}
		if bad := badCondition(l.When); bad != "" {
			return &fault{bad, fmt.Sprintf("list %s: unknown condition %q", l.ID, bad)}
		}
	}
	return nil
}

func (it *Item) check() *fault {
	bad := func(format string, args ...any) *fault { return &fault{what: fmt.Sprintf(format, args...)} }
	if it.Title == "" || it.Why == "" && it.Detail == "" {
		return bad("needs a title, and a detail or a reason")
	}
	if w := unknownWord(it.Resources, resourceWords); w != "" {
		return bad("unknown resource %q", w)
	}
	if w := unknownWord(it.Phases, phaseWords); w != "" {
		return bad("unknown phase %q", w)
	}
	if !slices.Contains(effects, it.Effect) {
		return bad("unknown effect %q", it.Effect)
	}
	if e := it.Example; e != nil && (!slices.Contains(surfaces, e.Syntax) || e.Text == "") {
		return bad("example: needs a syntax and a text")
	}
	for _, conds := range [][]string{it.Only, it.CautionOnly, it.Requires, it.Supports, it.SatisfiedWhen} {
		if w := badCondition(conds); w != "" {
			return bad("unknown condition %q", w)
		}
	}
	for i := range it.Parameters {
		p := &it.Parameters[i]
		if p.Key == "" || !slices.Contains(surfaces, p.Surface) || !slices.Contains(directions, p.Direction) {
			return bad("parameter %q: needs a key, a surface and a direction", p.Key)
		}
		if _, ok := rules()[p.Next]; !ok && p.Next != "" {
			return bad("parameter %s: there is no rule %q", p.Key, p.Next)
		}
		if p.Next == "" && p.Direction == "set" && p.Value == "" {
			return bad("parameter %s: set to what?", p.Key)
		}
		if w := badCondition(slices.Concat(p.When, p.Only)); w != "" {
			return bad("parameter %s: unknown condition %q", p.Key, w)
		}
		if s := badSpelling(p.Spellings); s != "" {
			return bad("parameter %s: spelling %q: bad versions or surface", p.Key, s)
		}
	}
	return nil
}

// Patterns returns the names of the messages in the guide's conditions.
func (g *Guide) Patterns() []string {
	var conds, names []string
	for i := range g.Lists {
		conds = append(conds, g.Lists[i].When...)
	}
	for i := range g.Items {
		it := &g.Items[i]
		conds = slices.Concat(conds, it.Only, it.CautionOnly, it.Requires, it.Supports, it.SatisfiedWhen)
		for k := range it.Parameters {
			conds = slices.Concat(conds, it.Parameters[k].When, it.Parameters[k].Only)
		}
	}
	for _, cond := range conds {
		if c, err := parseCondition(cond); err == nil && c.fact == "pattern" {
			names = append(names, c.word)
		}
	}
	return names
}

// unknownWord returns the first word that is not known.
func unknownWord(words, known []string) string {
	for _, w := range words {
		if !slices.Contains(known, w) {
			return w
		}
	}
	return ""
}

// badCondition returns the first condition that does not parse.
func badCondition(conds []string) string {
	for _, c := range conds {
		if _, err := parseCondition(c); err != nil {
			return c
		}
	}
	return ""
}

// badSpelling returns the first spelling with unknown versions or an unknown surface.
func badSpelling(list []Spelling) string {
	for _, s := range list {
		if _, ok := versionIn("1.0", s.Versions); !ok && s.Versions != "" || s.Surface != "" && !slices.Contains(surfaces, s.Surface) {
			return s.Key
		}
	}
	return ""
}
