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

// effect is what a change is expected to do, as far as a model of it exists.
type effect struct {
	freed  *int64 // bytes
	enough truth
	why    string // the comparison
}

func (e effect) known() bool { return e.freed != nil || e.enough != unknown }

// sameKey says that two names are the same setting.
func sameKey(a, b string) bool { return slices.Equal(split(a), split(b)) }

// effect models a change: a request that grows with the tokens of a micro-batch shrinks with them; shares, buffers and
// states are freed as the rules computed.
func (s *scene) effect(p *Parameter, c *change) effect {
	if c.To == nil || c.satisfied != "" {
		return effect{}
	}
	if s.in.Kind == parser.KVCache {
		return s.kvEffect(p, c)
	}
	if by, ok := s.shrinks(p, c); ok {
		return s.smaller(by)
	}
	if c.freed == nil || !s.there(p) {
		return effect{}
	}
	if t := s.in.Root.Total; t != nil && *c.freed > *t {
		return effect{} // more than the card holds: something about the run is not as it seems
	}
	e := effect{freed: c.freed}
	if p.Next == "bucket" {
		// A buffer is one tensor: a smaller one helps when it is what failed, else it is not known to be there.
		if v, ok := s.decides([]Change{c.Change}); ok && s.in.Root.Requested != nil {
			to, _ := parseNumber(*c.To)
			from, _ := parseNumber(*c.From)
			e = s.smaller(to / from)
			e.why = strings.TrimSuffix(v.why+"; "+e.why, "; ")
		}
		return e
	}
	if p.Next == "offload_state" && s.run.Framework == "verl" && slices.Contains(training, s.phase) {
		return e // verl loads them back for the actor's update (workers/fsdp_workers.py, update_actor)
	}
	if short, ok := s.shortfall(); ok && s.in.Kind == parser.GPUOOM {
		e.enough = truthOf(*c.freed >= short)
		e.why = fmt.Sprintf("it frees about %s, %s were missing", classifier.GiB(*c.freed), classifier.GiB(short))
	}
	return e
}

// recomputes adds what an item that switches recomputation on is expected to save.
func (s *scene) recomputes(j *judged) {
	i := slices.IndexFunc(j.Changes, func(c Change) bool { return c.To != nil })
	saved, how, ok := s.recomputed()
	if i < 0 || !ok {
		return
	}
	if j.Changes[i].ComputedFrom == "" {
		j.Changes[i].ComputedFrom = how
	}
	e := effect{freed: &saved.Low}
	if short, ok := s.shortfall(); ok && saved.Low >= short {
		e.enough = yes
		e.why = fmt.Sprintf("it saves at least %s, %s were missing", classifier.GiB(saved.Low), classifier.GiB(short))
	}
	j.effects = append(j.effects, e)
}

// shrinks is the factor by which a change makes the failed request smaller, when that is known to grow with the tokens
// of a micro-batch and the change acts on these.
func (s *scene) shrinks(p *Parameter, c *change) (float64, bool) {
	list := s.explained()
	if len(list) == 0 || list[0].Low <= 0 || !list[0].Seen && !list[0].Met || c.From == nil {
		return 0, false
	}
	from, ok1 := parseNumber(*c.From)
	to, ok2 := parseNumber(*c.To)
	if !ok1 || !ok2 || from <= 0 || to <= 0 {
		return 0, false
	}
	l := s.limit()
	switch p.Next {
	case "halve_micro", "halve_micro_divisor":
		return to / from, l != nil && !l.Budget && sameKey(l.Key, p.Key) && to < from
	case "budget_verl", "budget_areal", "budget_tokens":
		// The micro-batch may have been below its budget; what counts is how it compares with the new one.
		if l == nil || !l.Budget || !sameKey(l.Key, p.Key) || list[0].Over {
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

// smaller compares the request, made smaller by a factor, with what was free.
func (s *scene) smaller(by float64) effect {
	r := &s.in.Root
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
	if less := int64(float64(s.activations()) * (1 - by)); less > 0 && asks <= printed.Low+less {
		all := freed + less
		e.freed, e.enough = &all, yes
		e.why = fmt.Sprintf("the request becomes %s, activations give back at least %s, and %s were free", classifier.GiB(asks), classifier.GiB(less), classifier.GiB(*r.Free))
	}
	return e
}

// there says that what a change takes from is on the card in the phase that failed: an engine that sleeps while the
// model trains gives nothing back, and states that are loaded for the step are there.
func (s *scene) there(p *Parameter) bool {
	switch p.Next {
	case "share_down", "share_fit":
		return s.engineAwake() == yes
	case "offload_state":
		return s.phase != "forward" && s.phase != "backward"
	}
	return true
}

// engineAwake says whether the inference engine holds its share of the card in the phase that failed.
func (s *scene) engineAwake() truth {
	switch s.phase {
	case "init", "rollout", "weight_update", "nccl":
		return yes
	}
	if engineProcess(s, "").truth == yes {
		return yes
	}
	for _, k := range []string{"actor_rollout_ref.rollout.free_cache_engine", "vllm_enable_sleep_mode", "vllm_enable_sleep", "vllm.enable_sleep", "offload_rollout"} {
		if f, ok := s.settings.find(k, true); ok {
			if on, ok := parseBool(f.value.Value); ok {
				return truthOf(!on)
			}
		}
	}
	return unknown
}

// kvEffect models changes for an engine whose cache did not fit.
func (s *scene) kvEffect(p *Parameter, c *change) effect {
	r := &s.in.Root
	if lessThanDesired(s, "").truth == yes {
		if to, ok := parseNumber(*c.To); ok && p.Next == "share_fit" && r.Free != nil && r.Total != nil {
			takes := int64(to * float64(*r.Total))
			return effect{enough: truthOf(takes <= *r.Free), why: fmt.Sprintf("it takes %s, and %s were free", classifier.GiB(takes), classifier.GiB(*r.Free))}
		}
		return effect{}
	}
	if p.Next == "fit_length" {
		return effect{enough: yes, why: "the engine's own estimate of what fits"}
	}
	short, ok := s.shortfall()
	if !ok || c.From == nil || r.Requested == nil {
		return effect{}
	}
	from, ok1 := parseNumber(*c.From)
	to, ok2 := parseNumber(*c.To)
	if !ok1 || !ok2 {
		return effect{}
	}
	switch p.Next {
	case "share_up":
		total, by, ok := s.capacity()
		if !ok {
			return effect{}
		}
		gain := int64((to - from) * float64(total))
		return effect{freed: &gain, enough: truthOf(gain >= short), why: fmt.Sprintf("it adds %s%s, %s were missing", classifier.GiB(gain), by, classifier.GiB(short))}
	case "double_tp":
		have := *r.Requested - short
		if need := *r.Requested / 2; have > 0 && need <= have && !s.latent() {
			return effect{enough: yes, why: fmt.Sprintf("half of the heads need %s, and %s are there before the weights halve", classifier.GiB(need), classifier.GiB(have))}
		}
	}
	return effect{}
}

// latent says that the cache may not split with tensor parallelism: DeepSeek's latent attention keeps one copy per rank,
// and so does a model with fewer key-value heads than ranks.
func (s *scene) latent() bool {
	name := strings.ToLower(s.run.Model.Name)
	kv := s.model().KVHeads.Value
	return kv < 2 || strings.Contains(name, "deepseek-v") || strings.Contains(name, "deepseek-r1") && !strings.Contains(name, "distill") || strings.Contains(name, "kimi")
}

// weigh settles what an item frees and whether it is enough on its own: the best of its changes.
func (j *judged) weigh() {
	for _, e := range j.effects {
		if e.freed != nil && (j.Freed == nil || *e.freed > *j.Freed) {
			j.Freed = e.freed
		}
		if e.enough == unknown || j.Enough != nil && *j.Enough {
			continue
		}
		enough := e.enough == yes
		j.Enough, j.EnoughWhy = &enough, e.why
	}
	if j.Enough != nil && !*j.Enough && len(j.effects) < len(j.Changes) {
		j.Enough, j.EnoughWhy = nil, "" // what its other changes bring is not known
	}
}

// unbound says that an item lowers a limit that is shown not to be applied.
func (s *scene) unbound(changes []Change) (verdict, bool) {
	list := s.explained()
	l := s.limit()
	if len(list) == 0 || !list[0].Over || l == nil {
		return verdict{}, false
	}
	if !slices.ContainsFunc(changes, func(c Change) bool { return sameKey(c.Key, l.Key) }) {
		return verdict{}, false
	}
	return verdict{no, list[0].OverWhy}, true
}

// decides says that an item changes the very setting that gave the request its size.
func (s *scene) decides(changes []Change) (verdict, bool) {
	list := s.explained()
	if len(list) == 0 || !list[0].Met || list[0].Key == "" {
		return verdict{}, false
	}
	for i := range changes {
		if sameKey(changes[i].Key, list[0].Key) && changes[i].To != nil {
			return verdict{yes, fmt.Sprintf("the request is %s: %s decides its size", list[0].What, changes[i].Key)}, true
		}
	}
	return verdict{}, false
}
