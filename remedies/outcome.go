package remedies

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"oomscan/classifier"
	"oomscan/classifier/phase"
	"oomscan/remedies/memory"
)

// outcome is the effect of changed settings on the run, by its budgets before and after. Nil means unknown.
type outcome struct {
	modelled bool   // the budget or the failed request depends on the settings that change
	frees    *int64 // at least, of what ran out, in the phase that failed
	asks     *int64 // what the failed request becomes
	shrinks  int64  // by how much the failed request shrinks at most, if it is unknown what it was
	never    bool   // the tensor is not built any more; asks is about what is taken instead
	void     bool   // the failed micro-batch stays as it was, below the limit that changes
	worst    *int64 // what it becomes at the longest samples that the settings allow
	tokens   int64  // of a micro-batch then
	how      string // the formula of the part that changes most
	onNode   int64  // what it takes more of a node, at most, and of a card where the node ran out
	onCard   int64
	moves    string        // why the failure would only move, empty when it does not
	movesTo  string        // the resource that would run out then
	missing  []string      // inputs without which nothing can be computed
	after    *memory.Setup // the run with the changed settings; nil if none is computed
}

// rounding is smaller than any relevant change of a budget.
const rounding = 1 << 20

// with returns the same failure in a run with other settings. What the log says, its own settings included, stays.
func (ctx *Context) with(changes []Change) *Context {
	out := *ctx
	changed := map[string]classifier.Value{}
	for _, c := range changes {
		if c.To == nil {
			continue
		}
		key := c.Key
		if f, ok := ctx.settings.find(key, true); ok && c.From != nil && equal(f.value.Value, *c.From) {
			key = f.key // as the log writes it
		}
		changed[key] = classifier.Value{Value: *c.To}
	}
	out.settings = ctx.settings.with(changed)
	out.held, out.worst, out.why = map[string]verdict{}, map[memory.Phase]memory.Budget{}, nil
	out.limit = settingsLimit(&out) // the request is that of the settings before
	out.setup = setupOf(&out)
	if t := out.setup.TokensNow; t.Known && ctx.limit != nil && out.limit != nil {
		out.setup.TokensNow.Value = max(int64(math.Ceil(float64(t.Value)*tokenRatio(t.Value, ctx.limit, out.limit))), 1)
	}
	return &out
}

// worstBudget computes the budget of a phase at the longest samples, once.
func (ctx *Context) worstBudget(phase memory.Phase) memory.Budget {
	b, known := ctx.worst[phase]
	if !known {
		b = ctx.setup.WorstCase().Budget(phase)
		ctx.worst[phase] = b
	}
	return b
}

// tokenRatio returns how the tokens of a micro-batch change with their limit. A micro-batch below a budget does not change.
func tokenRatio(tokens int64, from, to *memory.Limit) float64 {
	switch {
	case *from == *to:
		return 1
	case to.Budget:
		return min(1, float64(to.Tokens)/float64(tokens))
	case from.Budget, from.Tokens <= 0, from.Longest <= 0, to.Longest <= 0:
		return 1
	}
	samples, more := float64(from.Tokens)/float64(from.Longest), float64(to.Tokens)/float64(to.Longest)
	mean := float64(tokens) / samples
	if to.Longest < from.Longest {
		mean = min(mean, float64(to.Longest))
	}
	return more * mean / float64(tokens)
}

// outcomeOf recomputes the budget with changed settings.
func outcomeOf(ctx *Context, changes []Change) outcome {
	if !slices.ContainsFunc(changes, func(c Change) bool { return c.To != nil }) || ctx.is("encoder_batch") { // no budget has an encoder
		return outcome{}
	}
	next := ctx.with(changes)
	out := outcome{after: &next.setup}
	out.request(ctx, next, changes)
	if out.asks == nil && reflect.DeepEqual(&ctx.setup, &next.setup) {
		return out
	}
	out.modelled, out.shrinks = true, mayShrink(ctx, changes)
	phases, on := failedPhases(ctx), budgetResources[ctx.resource]
	if len(phases) > 0 && on != "" {
		out.frees, out.how, out.missing = leastFreed(ctx.setup, next.setup, phases, on)
	}
	if out.asks != nil { // what else the moment of failure holds is not known to have been there
		n := *ctx.root.Requested - *out.asks
		out.frees = known(n, n > 0).Pointer()
	}
	if a := ctx.root.Allocated; out.frees != nil && on == memory.OnCard && (a != nil && *out.frees > *a+deref(ctx.root.Requested) || ctx.root.Total != nil && *out.frees > *ctx.root.Total) {
		out.frees = nil // more than was there: something about the run is not as it seems
	}
	out.elsewhere(ctx, phases, on)
	return out
}

// mayShrink returns by how much the failed request shrinks if it grows with a number of tokens or samples that is reduced.
func mayShrink(ctx *Context, changes []Change) int64 {
	ratio := 1.0
	for _, c := range changes {
		if c.Direction != "down" || c.From == nil || c.To == nil {
			continue
		}
		from, ok1 := parseInt(*c.From)
		to, ok2 := parseInt(*c.To)
		if ok1 && ok2 && to > 0 && to < from { // shares and switches shrink no request
			ratio = min(ratio, float64(to)/float64(from))
		}
	}
	return int64(float64(deref(ctx.root.Requested)) * (1 - ratio))
}

// deref returns a figure, or 0 if it is unknown.
func deref(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// failedPhases returns the incident's phases that a budget covers, none for models without formulas.
func failedPhases(ctx *Context) []memory.Phase {
	switch {
	case ctx.is("role:critic") || ctx.is("role:reward"):
		return nil
	case ctx.phase == "weight_update" && ctx.is("engine_wakes"): // it takes its memory back, and no weights are on their way
		return budgetPhases["rollout"]
	}
	return budgetPhases[ctx.phase]
}

// request computes the new size of the failed request if it grows with the tokens of a micro-batch or is the logits.
func (o *outcome) request(ctx, next *Context, changes []Change) {
	r, list := ctx.root, ctx.request
	if len(list) == 0 || !list[0].Seen && !list[0].Met || list[0].Over || failedInPart(ctx) {
		return
	}
	e := &list[0]
	scaled := func(by float64) *int64 {
		n := int64(math.Ceil(float64(*r.Requested) * by))
		return &n
	}
	if l, lever := ctx.limit, leverOf("", changes); l != nil && l.Budget && l.Longest > 0 && e.Low >= 2*l.Longest && lever != nil && lever.id == "length" {
		o.void = true // shorter samples fill the same budget
		return
	}
	ratio, columns := 1.0, 1.0
	if e.Low <= 0 { // a buffer: its setting is its size
		if by := bufferRatio(e, changes); by < 1 {
			o.asks = scaled(by)
		}
		return
	}
	// What exceeds the settings' bound shows that they do not limit a sample's length.
	exceeded := ctx.limit != nil && !ctx.limit.Budget && ctx.limit.Tokens > 0 && e.Low > ctx.limit.Tokens
	if exceeded && next.limit != nil && next.limit.Longest != ctx.limit.Longest {
		return
	}
	if ctx.limit != nil && next.limit != nil {
		ratio = tokenRatio(e.Low, ctx.limit, next.limit)
	}
	if e.What == "logits" {
		before, _ := rankVocabulary(ctx)
		after, _ := rankVocabulary(next)
		if before.Value > 0 && after.Value > 0 {
			columns = float64(after.Value) / float64(before.Value)
		}
		if next.setup.FusedLoss.Or(false) && !ctx.setup.FusedLoss.Or(false) { // the tensor is never built
			if n := next.setup.Loss(fusedPhase(ctx)).Bytes; n > 0 && n < *r.Requested {
				o.asks, o.never = &n, true
			}
			return
		}
	}
	if ratio*columns >= 1 {
		o.void = ctx.limit != nil && next.limit != nil && next.limit.Tokens < ctx.limit.Tokens
		return
	}
	o.asks = scaled(ratio * columns)
	if l := next.limit; l != nil && !exceeded && (l.Budget || l.Samples > 0) {
		o.tokens = max(l.Tokens, 1)
		if l.Budget {
			o.tokens = max(o.tokens, l.Longest)
		}
		o.worst = scaled(columns * float64(o.tokens) / float64(e.High))
	}
}

// bufferRatio returns by how much changes shrink a buffer that a setting sizes, 1 where none of them does.
func bufferRatio(e *memory.Explanation, changes []Change) float64 {
	i := slices.IndexFunc(changes, func(c Change) bool {
		return e.Met && e.Key != "" && c.To != nil && c.From != nil && sameKey(c.Key, e.Key)
	})
	if i < 0 {
		return 1
	}
	from, ok1 := parseNumber(*changes[i].From)
	to, ok2 := parseNumber(*changes[i].To)
	if ok1 && ok2 && from > 0 && to > 0 && to < from {
		return to / from
	}
	return 1
}

// fusedPhase returns the phase whose loss counts, the fullest of a step.
func fusedPhase(ctx *Context) memory.Phase {
	if p := budgetPhases[ctx.phase]; len(p) == 1 {
		return p[0]
	}
	return memory.PhaseBackward
}

// leastFreed returns the least that a change of the setup frees in the fullest of some phases, by the ends and the middle of
// the ranges. It is unknown if it depends on the tokens of the micro-batch and these are only bounded.
func leastFreed(before, after memory.Setup, phases []memory.Phase, on string) (freed *int64, how string, missing []string) {
	if before.Trainer != "" && after.Trainer == "" { // what the changed run holds is unknown, not nothing
		return nil, "", nil
	}
	least := func(b, a memory.Setup) (int64, memory.Budget, memory.Budget) {
		was, is := fullest(b, phases, on), fullest(a, phases, on)
		x, y := held(was, on), held(is, on)
		return min(x.Low-y.Low, x.Bytes-y.Bytes, x.High-y.High), was, is
	}
	n, was, is := least(before, after)
	if tokensBounded(before) {
		before.TokensNow, after.TokensNow = memory.Some(int64(1)), memory.Some(int64(1))
		if few, _, _ := least(before, after); few < n/2 {
			return nil, "", []string{batchInput}
		} else if few < n {
			n = few
		}
	}
	if n >= rounding {
		return &n, changedMost(was, is, on), nil
	}
	for _, u := range was.Unknown {
		if u.Resource == on {
			missing = append(missing, u.Missing...)
		}
	}
	slices.Sort(missing)
	return nil, "", slices.Compact(missing)
}

// tokensBounded reports whether settings limit the tokens of a micro-batch, but the failed one's tokens are unknown.
func tokensBounded(s memory.Setup) bool {
	return !s.TokensNow.Known && s.WorstCase().TokensNow.Known && !(s.Padded.Or(false) && s.MicroBatch.Known)
}

// fullest returns the budget of the phase with the highest use.
func fullest(s memory.Setup, phases []memory.Phase, on string) memory.Budget {
	var out memory.Budget
	for i, p := range phases {
		if b := s.Budget(p); i == 0 || held(b, on).Bytes > held(out, on).Bytes {
			out = b
		}
	}
	return out
}

// held returns a budget's use of a resource. PyTorch gives unused memory back if memory is short.
func held(b memory.Budget, on string) memory.Range {
	if on == memory.OnCard {
		return b.Total(on, memory.PoolAllocated, memory.PoolOutside)
	}
	return b.Total(on)
}

// changedMost returns the formula of the part that shrinks most.
func changedMost(was, is memory.Budget, on string) (how string) {
	most := int64(0)
	for _, p := range was.Parts {
		q, _ := is.Part(p.ID)
		if n := p.Bytes - q.Bytes; p.Resource == on && n > most {
			most, how = n, p.How+" = "+classifier.GiB(p.Bytes)
			if q.Bytes > 0 {
				how += "; then " + q.How + " = " + classifier.GiB(q.Bytes)
			}
		}
	}
	return how
}

// elsewhere compares all other phases and the other resource, at the longest samples: how much more they take, and whether
// the failure would only move there.
func (o *outcome) elsewhere(ctx *Context, failed []memory.Phase, on string) {
	is := o.after.WorstCase()
	more := map[string]int64{}
	for _, p := range memory.Phases {
		if !runs(*o.after, p) {
			continue
		}
		before, after := ctx.worstBudget(p), is.Budget(p)
		for _, res := range []string{memory.OnNode, memory.OnCard} {
			if res == on && slices.Contains(failed, p) {
				continue
			}
			size, takes := sizeOf(o.after, res), held(after, res).Bytes
			there := "there are "
			if res == memory.OnCard && !size.Known {
				size, there = memory.Opt[int64]{Known: true, Value: usualCard}, "most cards have "
			}
			n := takes - held(before, res).Bytes
			if n > more[res] && res != on {
				more[res] = n
			}
			full := res == on && takes-n > size.Value // it was too full before, by the same reckoning, and the run got there
			if n > rounding && size.Known && takes > size.Value && !full && o.moves == "" {
				where := map[string]string{memory.OnNode: "a node", memory.OnCard: "a GPU"}[res]
				o.moves, o.movesTo = fmt.Sprintf("%s would then take %s of %s, and %s%s", phase.ByID(string(p)).Name, classifier.GiB(takes), where, there, classifier.GiB(size.Value)), res
			}
		}
	}
	o.onNode, o.onCard = more[memory.OnNode], more[memory.OnCard]
}

// usualCard is the memory of most cards that train large models, in bytes.
const usualCard = 80 << 30

// sizeOf returns the size of a resource.
func sizeOf(s *memory.Setup, resource string) memory.Opt[int64] {
	if resource == memory.OnNode {
		return s.NodeBytes
	}
	return s.CardBytes
}

// shrinksMore reports whether what other layers keep shrinks with the failed request.
func (o *outcome) shrinksMore(ctx *Context) bool { return o.asks != nil && ctx.amongActivations() }

// amongActivations reports whether the request is a layer's activations, in a pass that keeps those of other layers.
func (ctx *Context) amongActivations() bool {
	return len(ctx.request) > 0 && ctx.request[0].What == "activations" && slices.Contains([]string{"forward", "backward", "training"}, ctx.phase) && !ctx.work.untrained()
}

// lessActivations returns the least that activations of a smaller micro-batch free, if the failed one's tokens are known.
func (o *outcome) lessActivations(ctx *Context) int64 {
	phases := failedPhases(ctx)
	if len(phases) == 0 || !ctx.setup.TokensNow.Known {
		return 0
	}
	was, ok := ctx.setup.Budget(phases[0]).Part("activations")
	is, _ := o.after.Budget(phases[0]).Part("activations")
	if a := ctx.root.Allocated; !ok || a != nil && was.Low > *a {
		return 0
	}
	return max(was.Low-is.Low, 0)
}
