package remedies

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"oomscan/classifier"
	"oomscan/parser"
)

// leastMargin returns the margin that a change should leave: a twentieth of the card, at most 2 GiB.
func leastMargin(ctx *Context) int64 {
	if t := ctx.root.Total; t != nil && *t > 0 {
		return min(marginOf(*t), 2<<30)
	}
	return 0
}

// weigh fills in what a proposal frees, whether it fits now and at the longest samples the settings allow, and the margin.
func (o *option) weigh(ctx *Context, result *outcome, e effect) {
	p := &o.Proposal
	p.FreesBytes = e.freed
	if e.enough != unknown {
		is := e.enough == yes
		p.Fits = &is
	}
	if short, ok := ctx.lacking(); ok && e.freed != nil {
		left, more := *e.freed-short, int64(0)
		if result.asks == nil {
			more = nextLayer(ctx)
		}
		switch left -= more; {
		case left >= 0:
			p.MarginBytes = &left
		case result.shrinksMore(ctx): // its own size refutes nothing
		case p.Fits == nil || !*p.Fits || more > 0: // what is said to fit by the printed figures' last digits leaves nothing over
			is := false
			p.MarginBytes, p.Fits = &left, &is
		}
	}
	switch r := ctx.root; {
	case result.worst != nil && r.Free != nil && (*result.worst <= *r.Free || !result.shrinksMore(ctx)):
		is := *result.worst <= *r.Free
		switch more := *result.worst - deref(result.asks); {
		case p.Fits == nil || result.asks == nil:
		case more < *result.asks/100:
			is = *p.Fits // it is at full length
		case p.MarginBytes != nil:
			is = *p.MarginBytes >= more
		}
		p.FitsWorstCase = &is
		if result.tokens > 0 {
			p.WorstCase = fmt.Sprintf("at full length, %d tokens, the request is %s, and %s was free", result.tokens, classifier.GiB(*result.worst), classifier.GiB(*r.Free))
		}
	case p.Fits != nil && result.modelled && result.asks == nil:
		more, ok := growth(ctx, result)
		is := *p.Fits && p.MarginBytes != nil && *p.MarginBytes >= more
		if ok {
			p.FitsWorstCase = &is
		}
	}
}

// copiesMayFail reports whether logits fit after a change, but not with the copies that the loss makes of them.
func copiesMayFail(ctx *Context, p *Proposal, o *outcome) bool {
	m := p.MarginBytes
	return m != nil && *m >= 0 && o.asks != nil && !o.never && len(ctx.request) > 0 && ctx.request[0].What == "logits" && *m < ctx.copiesAfter()**o.asks
}

// nextLayer returns the size of a tensor like the failed one that the next layer keeps beside it, 0 if none is known to: the forward pass of
// a training step keeps each layer's tensors where nothing recomputes them.
func nextLayer(ctx *Context) int64 {
	if ctx.phase != "forward" || ctx.work.untrained() || !ctx.is("gradient_checkpointing=False") || !inLayer(ctx) && !ctx.is("full_scores") {
		return 0
	}
	return deref(ctx.root.Requested)
}

// growth returns how much more the failing phase takes at the longest samples, after the change.
func growth(ctx *Context, result *outcome) (more int64, ok bool) {
	phases, on := failedPhases(ctx), budgetResources[ctx.resource]
	if len(phases) == 0 || on == "" || tokensBounded(*result.after) {
		return 0, false
	}
	return held(fullest(result.after.WorstCase(), phases, on), on).Bytes - held(fullest(*result.after, phases, on), on).Bytes, true
}

// textOf describes the effect of a proposal in sentences, or the missing figure if it cannot be computed.
func textOf(ctx *Context, p *Proposal, o *outcome) string {
	r := ctx.root
	fit := ""
	if p.MarginBytes != nil && *p.MarginBytes >= 0 {
		fit = about(*p.MarginBytes) + " to spare"
	} else if p.MarginBytes != nil {
		fit = about(-*p.MarginBytes) + " short"
	}
	switch {
	case o.never && fit != "":
		return fmt.Sprintf("Never builds this tensor: about %s at a time instead of %s, %s.", about(*o.asks), classifier.GiB(*r.Requested), fit)
	case o.asks != nil && r.Requested != nil:
		s := fromTo(*r.Requested, *o.asks)
		if fit != "" {
			s += ", " + fit
		}
		switch w := p.FitsWorstCase; {
		case w == nil || o.tokens == 0:
		case *w && *o.worst-*o.asks < *o.asks/100:
			s += ", even at full length"
		default:
			s += "; at full length " + strings.TrimSuffix(classifier.GiB(*o.worst), " GiB") + map[bool]string{true: ", still fits", false: ", which does not fit"}[*w]
		}
		switch {
		case !copiesMayFail(ctx, p, o):
		case goesLower(ctx, p.Changes):
			s += ". If another copy of the logits then fails, go lower"
		default:
			s += ". The loss may then need another copy of the logits, which may not fit"
		}
		return s + "."
	case ctx.resource == "host" && p.FreesBytes != nil && o.onCard > rounding:
		return fmt.Sprintf("%s less on the node, %s more on each GPU.", about(*p.FreesBytes), about(o.onCard))
	case ctx.resource == "host" && p.FreesBytes != nil:
		return about(*p.FreesBytes) + " less on the node."
	case p.FreesBytes != nil && fit != "" && ctx.incident.Kind == parser.GPUOOM:
		short, _ := ctx.lacking()
		missing := classifier.GiB(short) + " was missing"
		if short == ctx.beyond {
			missing = about(short) + " is missing in all"
		}
		if *p.MarginBytes < 0 {
			missing += ": " + fit
		}
		text := "about "
		if o.frees != nil && *o.frees == *p.FreesBytes {
			text = "at least " // the budget's least
		}
		text += about(*p.FreesBytes) + " (" + missing + ")."
		if value, ok := assumedDefault(p.Changes); ok {
			return "If it is " + value + " now, frees " + text
		}
		return "Frees " + text
	case p.FreesBytes == nil && r.Requested == nil && ctx.incident.Kind == parser.KVCache && slices.ContainsFunc(p.Changes, raisesShare):
		if short, ok := ctx.shortfall(); ok {
			return growsBy(ctx, short, p.Changes)
		}
		return ""
	case p.Fits != nil, len(p.Changes) == 0:
		return "" // an engine's own arithmetic states it, or no change has a figure
	}
	return missingFigure(ctx, p, o)
}

// goesLower reports whether a change lowers a number that can go lower still. A budget below the longest sample, which it does not split,
// saves nothing.
func goesLower(ctx *Context, changes []Change) bool {
	if len(changes) == 0 || changes[0].Direction != "down" || changes[0].To == nil {
		return false
	}
	n, ok := parseInt(*changes[0].To)
	l := ctx.limit
	return ok && n > 1 && (l == nil || !l.Budget || !sameKey(l.Key, changes[0].Key) || n > l.AtLeast)
}

// fromTo prints two sizes with an arrow, and a unit that both have once.
func fromTo(from, to int64) string {
	before, after := classifier.GiB(from), classifier.GiB(to)
	if strings.HasSuffix(after, " GiB") {
		before = strings.TrimSuffix(before, " GiB")
	}
	return before + " -> " + after
}

// assumedDefault returns the default that a change starts from where the run's version, which may have another, is unknown.
func assumedDefault(changes []Change) (value string, ok bool) {
	for _, c := range changes {
		if value, _, ok = strings.Cut(c.ComputedFrom, recentDefault); ok && c.From == nil {
			return value, true
		}
	}
	return "", false
}

// growsBy states how much a share of a GPU must grow, and what the change adds or, on a GPU of unknown size, on which ones it adds that.
func growsBy(ctx *Context, short int64, changes []Change) string {
	text := "It must grow by more than " + classifier.GiB(short)
	c := changes[slices.IndexFunc(changes, raisesShare)]
	now, _ := assumedDefault(changes)
	if c.From != nil {
		now = *c.From
	}
	from, ok1 := parseNumber(now)
	to, ok2 := parseNumber(*c.To)
	if step := to - from; ok1 && ok2 && step > 0 {
		if total, _, known := cardCapacity(ctx); known {
			return fmt.Sprintf("%s: from %s to %s adds %s.", text, now, *c.To, classifier.GiB(int64(step*float64(total))))
		}
		return fmt.Sprintf("%s: from %s to %s is that much on a GPU of %d GiB or more.", text, now, *c.To, int64(math.Ceil(float64(short)/step/(1<<30))))
	}
	part := func(gib int64) float64 { return float64(short) / float64(gib<<30) }
	return fmt.Sprintf("%s: %.2f of an 80 GiB GPU, %.2f of a 24 GiB one.", text, part(80), part(24))
}

// raisesShare reports whether a change raises a share of the GPU.
func raisesShare(c Change) bool {
	if c.Direction != "up" || c.To == nil {
		return false
	}
	f, ok := parseNumber(*c.To)
	return ok && f > 0 && f < 1
}

// missingFigure states why the effect of a proposal cannot be computed, and what would show it.
func missingFigure(ctx *Context, p *Proposal, o *outcome) string {
	if i := slices.IndexFunc(p.Changes, isHostMemory); i >= 0 {
		return guess(ctx, &p.Changes[i])
	}
	switch {
	case len(o.missing) > 0:
		input := o.missing[0]
		if slices.ContainsFunc(o.missing, func(s string) bool { return slices.Contains(modelInputs, s) }) { // one file has them all
			return "Savings unknown. To estimate them:  oomscan plan LOGS --model config.json"
		}
		if keys := inputSettings(ctx, &ctx.setup, input); len(keys) > 0 {
			return "Savings unknown. To estimate them:  oomscan plan LOGS --set " + ExampleOf(keys[len(keys)-1])
		}
		return "The log does not show how much it frees."
	case p.FreesBytes != nil:
		return fmt.Sprintf("Frees about %s; the log does not show how much was missing.", about(*p.FreesBytes))
	}
	return ""
}

// factsToSet maps facts of a run that no setting shows to an example value and its meaning.
var factsToSet = map[string]string{
	"total_gpus": "N  # GPUs in all", "gpus_per_node": "N  # GPUs per node", "micro_batch_tokens": "N  # in the failed micro-batch",
	"longest_sample": "N  # its tokens", "reference": "true  # or false: is there a reference model?", "critic": "true  # or false: is there a critic?",
	"colocated": "true  # or false: does an engine share the card?", "engine_sleeps": "true  # or false: does it sleep during this phase?", "card": "80GiB  # the card's memory",
	"free_at_start": "70GiB  # free when the engine started", "update_bucket": "512MiB  # the weight update's buffer", "node_memory": "2T  # the node's memory",
}

// ExampleOf returns a setting or a fact with an example value.
func ExampleOf(key string) string {
	value, ok := factsToSet[key]
	if !ok {
		value = "VALUE  # this run's value"
	}
	return key + "=" + value
}

// about prints bytes in GiB to the precision that an estimate has.
func about(n int64) string {
	switch f := float64(n) / (1 << 30); {
	case f < .1:
		return classifier.GiB(n)
	case f < 10:
		return fmt.Sprintf("%.1f GiB", f)
	default:
		return fmt.Sprintf("%.0f GiB", f)
	}
}

// sentence begins with a capital and ends with a period.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	r := []rune(strings.TrimSuffix(s, "."))
	r[0] = unicode.ToUpper(r[0])
	return string(r) + "."
}

// leastOnNode is the least extra host memory that is worth a mention.
const leastOnNode = 1 << 30

// costsOf returns the costs of a change in sentences: passes, memory of the node and of the cards, and its lever's usual cost.
func costsOf(ctx *Context, lever, words string, changes []Change, o *outcome) []string {
	var out []string
	if n := timesAsMany(changes); n > 1 && lever == "micro-batch" && ctx.phase != "rollout" {
		passes := cmp.Or(map[string]string{"logprob": "log-prob passes"}[ctx.phase], "passes")
		out = append(out, sentence(asMany(n)+" as many "+passes))
		if p := programOf(ctx.run); !p.Is(classifier.Engine) && !ctx.work.untrained() {
			out = append(out, sameResults(ctx, n, changes))
		}
	} else if o.onNode > leastOnNode && lever != "more-gpus" { // whose processes copy nothing
		s := about(o.onNode) + " more host memory per node"
		if g := o.after.GPUsPerNode; g.Known && g.Value > 1 {
			s += fmt.Sprintf(" (%s per GPU)", about(o.onNode/g.Value))
		}
		out = append(out, s+", and time to copy.")
	} else if words != "" && o.onCard <= rounding {
		out = append(out, sentence(words))
	}
	if o.onCard > rounding && o.frees == nil { // otherwise the text has it
		out = append(out, about(o.onCard)+" more on each GPU.")
	}
	return out
}

// timesAsMany returns the factor by which a micro-batch shrinks, or 0 if it is not whole.
func timesAsMany(changes []Change) int64 {
	for _, c := range changes {
		if c.Direction != "down" || c.From == nil || c.To == nil {
			continue
		}
		from, ok1 := parseInt(*c.From)
		to, ok2 := parseInt(*c.To)
		if ok1 && ok2 && to > 0 && from%to == 0 {
			return from / to
		}
	}
	return 0
}

// derivesAccumulation lists the programs that keep the set batch of a step and accumulate over as many micro-batches as needed.
var derivesAccumulation = []string{"verl", "easyr1", "openrlhf", "nemo_rl", "skyrl", "slime", "relax", "areal", "megatron", "prime_rl"}

// sameResults states what keeps the results unchanged. A setting of the training step may size the passes before it, too.
func sameResults(ctx *Context, n int64, changes []Change) string {
	if ctx.phase == "logprob" && !strings.Contains(changes[0].Key, "train_batch") || slices.Contains(derivesAccumulation, programOf(ctx.run).ID) {
		return "Results do not change."
	}
	if programOf(ctx.run).ID == "torchtitan" { // trainer.py accumulates up to it; -1 is what all GPUs have at once
		key := "training.global_batch_size"
		if set, ok := ctx.settings.find(key, true); ok && !strings.HasPrefix(set.value.Value, "-") {
			return "Results do not change."
		}
		if now, ok := ctx.settings.integer("global_batch_size"); ok && now > 0 {
			return fmt.Sprintf("To keep the results, set --%s %d.", key, now)
		}
		return "To keep the results, set --" + key + " to what all GPUs have at once now."
	}
	for _, key := range []string{"gradient_accumulation_steps", "accumulate_grad_batches", "gradient_accumulation_iters"} {
		f, ok := ctx.settings.find(key, true)
		if steps, isInt := parseInt(f.value.Value); ok && isInt && steps > 0 && steps <= mostSamples {
			return fmt.Sprintf("To keep the results, set %s = %d (now %d).", f.key, steps*n, steps)
		}
	}
	return "To keep the results, use " + asMany(n) + " as many gradient accumulation steps."
}

// asMany returns a whole factor in words.
func asMany(n int64) string {
	if n == 2 {
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// lessIsNotEnough weighs the value in between, twice as large: a smaller change that readers may consider.
func lessIsNotEnough(ctx *Context, changes []Change) string {
	r := ctx.root
	if len(changes) == 0 || changes[0].From == nil || changes[0].To == nil || r.Free == nil || r.Requested == nil {
		return ""
	}
	from, ok1 := parseInt(*changes[0].From)
	to, ok2 := parseInt(*changes[0].To)
	if !ok1 || !ok2 || to < 1 || to > from/4 || from > mostTokens {
		return ""
	}
	larger := changes[0]
	value := itoa(2 * to)
	larger.To = &value
	o := outcomeOf(ctx, []Change{larger})
	switch {
	case o.asks == nil, o.shrinksMore(ctx):
		return ""
	case *o.asks > *r.Free:
		return fmt.Sprintf("%s would still ask for %s.", value, classifier.GiB(*o.asks))
	case o.worst != nil && *o.worst > *r.Free:
		return fmt.Sprintf("%s fits this batch, %s, but not full length, %s.", value, classifier.GiB(*o.asks), classifier.GiB(*o.worst))
	}
	return ""
}

// atTheNode returns the command that shows whether a Slurm node has more memory.
func atTheNode(ctx *Context, changes []Change) string {
	more := func(c Change) bool { return c.Direction == "up" && strings.HasPrefix(c.Key, "--mem") }
	if n := ctx.incident.Node; n != nil && slices.ContainsFunc(changes, more) {
		if used := n.Used; used > n.Total/10*9 {
			return fmt.Sprintf("This node has only %s, and %s of it was in use: the job needs a node with more.", classifier.GiB(n.Total), classifier.GiB(used))
		}
		return "The node has " + classifier.GiB(n.Total) + " in all."
	}
	if !slices.ContainsFunc(changes, func(c Change) bool { return c.Syntax == "sbatch" && strings.HasPrefix(c.Key, "--mem") && c.To != nil }) {
		return ""
	}
	if n := nodeRAM(ctx); n != nil {
		return "The node has " + classifier.GiB(*n) + " in all."
	}
	node := ctx.root.Host // comes from a log, and is pasted into a shell
	if node == "" || len(node) > 80 || strings.HasPrefix(node, "127.") || node == "localhost" || strings.Trim(node, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.-") != "" || node[0] == '-' {
		node = "NODE"
	}
	return "Does the node have it?  scontrol show node " + node + " | grep RealMemory"
}
