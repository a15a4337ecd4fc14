package remedies

import (
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

// option is an item against the cause, with its place in the order of the proposals.
type option struct {
	Proposal
	id        string // of its item
	lever     string
	class     int // changes known to fail come after those that may fit
	place     int // of its lever among those against the cause
	supported bool
	beside    bool // a neighbor leaves most of the card
	refused   bool // an engine refused to start with what was free
	planned   bool // what an engine or generator plans for at its start: a fact of the failure speaks for planning less
}

// The classes of options, best first.
const (
	fits = iota // now, and also at full length, with a margin
	mayFit
	unknownNow   // the present value is not in the log
	withoutValue // nor the next one
	notAtWorst
	tooLittle
)

// optionOf makes an option of an item unless the run rules it out or it moves the failure elsewhere.
func optionOf(ctx *Context, a *assessment) (option, bool) {
	l := leverOf(a.topic, a.Changes)
	if barred(ctx, a, l) {
		return option{}, false
	}
	o := option{id: a.ID, supported: a.supported, beside: mostlyFree(ctx), refused: ctx.is("less_than_desired")}
	o.Proposal = Proposal{Title: a.Title, Changes: a.Changes}
	if a.Order > 0 {
		o.Remedies = []string{a.ID}
	}
	costs := ""
	if l != nil {
		o.lever, costs = l.id, l.costs
	}
	if o.lever == "micro-batch" && (ctx.phase == "rollout" || ctx.work.untrained()) {
		costs = "fewer at a time"
	}
	o.planned = o.supported && (ctx.phase == "init" && strings.HasPrefix(o.lever, "engine-") || o.lever == "generator-cache")
	caution, costs := once(a.Caution, costs)
	result, e := itemEffect(ctx, a, o.lever)
	o.weigh(ctx, &result, e)
	if a.assumed { // what is there now is not known, nor what a change frees
		o.Fits, o.FitsWorstCase, o.FreesBytes, o.MarginBytes = nil, nil, nil, nil
	}
	o.class = classOf(ctx, a, &o.Proposal, o.lever)
	if copiesMayFail(ctx, &o.Proposal, &result) { // it is ranked by the request, and not said to fit
		o.Fits, o.FitsWorstCase, o.WorstCase = nil, nil, ""
	}
	if at := atBest(ctx, a, o.lever, &result); at > o.class {
		o.class = at
	}
	o.supported = o.supported && !adapts(a, o.lever)
	o.Costs = costsOf(ctx, o.lever, costs, a.Changes, &result)
	o.Needs = needsOf(ctx, a.Changes, caution, &result)
	o.WhyNot = lessIsNotEnough(ctx, a.Changes)
	if o.Text = textOf(ctx, &o.Proposal, &result); o.Text == "" && e.why != "" {
		o.Text = sentence(e.why)
	}
	if shareOfFree(ctx) && slices.ContainsFunc(a.Changes, func(c Change) bool { return strings.HasSuffix(lastWord(c.Key), "utilization") }) {
		o.FreesBytes, o.MarginBytes = nil, nil
		o.Text = "In this vLLM version, it is a share of what was free at the start; the log does not show how much that was."
		o.Needs = slices.DeleteFunc(o.Needs, func(s string) bool { return strings.Contains(s, "0.7.0") })
	}
	return o, true
}

// barred reports whether the run rules an item out, its launcher does not know it, or it moves the failure elsewhere.
func barred(ctx *Context, a *assessment, l *lever) bool {
	if a.Applies != nil && !*a.Applies || a.result.moves != "" || a.result.void || otherLauncher(ctx, a.Changes) {
		return true
	}
	id := ""
	if l != nil {
		id = l.id
	}
	switch id {
	case "offload-off":
		return a.late || statesOutgrowCards(ctx, a.Changes)
	case "optimizer-offload", "param-offload":
		return a.late || engineAlone(ctx) // no trainer's states are on this card
	}
	return a.late && !adapts(a, id)
}

// adapts reports whether an item trains adapters instead of the model: what fits where nothing else does.
func adapts(a *assessment, lever string) bool { return a.lastResort && lever == "adapters" }

// itemEffect returns what the changes of an item do by the settings, and how much they free by all that is known.
func itemEffect(ctx *Context, a *assessment, lever string) (outcome, effect) {
	result, e := a.result, effect{freed: a.Freed, why: a.EnoughWhy}
	if a.Enough != nil {
		e.enough = truthOf(*a.Enough)
	}
	if n := asleepFrees(ctx); lever == "sleep" && n != nil && deref(e.freed) < *n { // what the log measured, not the least by the settings
		result.frees, e = n, effect{}
	}
	if e.freed == nil && e.enough == unknown {
		e = result.effect(ctx)
	}
	if lever == "fused-loss" && logitsToCome(ctx) {
		result.frees, e = nil, effect{} // what it saves was not there yet
	}
	return result, e
}

// atBest returns the best class that an option may have, whatever its figures.
func atBest(ctx *Context, a *assessment, lever string, result *outcome) int {
	brings := lever == "offload-off" && !ctx.setup.CardBytes.Known && result.onCard > usualCard/2 &&
		slices.ContainsFunc(a.Changes, func(c Change) bool { return strings.Contains(c.Key, "optim") }) // the states are the most that a card may be given back
	if brings || lever == "offload-off" && result.fillsCard() || adapts(a, lever) {
		return withoutValue
	}
	return fits
}

// fillsCard reports whether a change brings so much back to a card that little is left there for what no budget has.
func (o *outcome) fillsCard() bool {
	if o.after == nil || !o.after.CardBytes.Known || o.onCard <= rounding {
		return false
	}
	most := held(fullest(*o.after, memory.Phases, memory.OnCard), memory.OnCard).Bytes
	return most > o.after.CardBytes.Value/20*17
}

// needsOf lists what must be so for the changes to work.
func needsOf(ctx *Context, changes []Change, caution string, result *outcome) (needs []string) {
	for _, n := range []string{caution, atTheNode(ctx, changes), whereSet(ctx, changes)} {
		if n != "" && !(result.onNode > rounding && strings.HasPrefix(n, "Host memory grows")) { // the costs have the figure
			needs = append(needs, n)
		}
	}
	return needs
}

// statesOutgrowCards reports whether a switch would bring all states of a large model back to cards that cannot hold their part: weights,
// gradients and an optimizer take 8 bytes of each parameter at least.
func statesOutgrowCards(ctx *Context, changes []Change) bool {
	gpus, known := ctx.gpus()
	all := slices.ContainsFunc(changes, func(c Change) bool {
		return strings.Contains(c.Key, "cpu_offload") || strings.Contains(c.Key, "offload_policy")
	})
	card := int64(usualCard)
	if c := ctx.setup.CardBytes; c.Known {
		card = c.Value
	}
	return all && known && gpus > 0 && !trainsAdapters(ctx) && min(nominalParameters(ctx).Value, mostParameters)*8/gpus > card/4*3
}

// dear lists the levers that take more GPUs or change what is trained. They do not come before cheaper ones if they fit.
var dear = []string{"more-gpus", "apart", "engine-tp", "train-tp", "train-pp", "adapters"}

// classOf ranks a proposal by what is known about it.
func classOf(ctx *Context, a *assessment, p *Proposal, lever string) int {
	switch {
	case p.Fits != nil && *p.Fits && (p.FitsWorstCase == nil || *p.FitsWorstCase) && !slices.Contains(dear, lever) &&
		(p.MarginBytes == nil && ctx.incident.Kind == parser.KVCache || p.MarginBytes != nil && *p.MarginBytes >= leastMargin(ctx)): // an engine's own arithmetic has no margin
		return fits
	case shrinksTooLittle(ctx, p, lever):
		return tooLittle
	case a.supported && slices.ContainsFunc(p.Changes, relative):
		return unknownNow
	case !slices.ContainsFunc(p.Changes, typed):
		return withoutValue
	case lever == "update-bucket" && p.Fits != nil && *p.Fits && len(ctx.request) > 0 && sameKey(ctx.request[0].Key, p.Changes[0].Key):
		return fits // the request is the bucket: nothing else grows with it
	case p.Fits != nil && !*p.Fits:
		return tooLittle
	case p.FitsWorstCase != nil && !*p.FitsWorstCase:
		return notAtWorst
	case a.doubtful, a.assumed && ctx.resource != "gpu":
		return withoutValue
	case lever == "sequence-parallel" && a.assumed && unknownGPUs(ctx), lever == "more-gpus" && p.Fits == nil: // there may be no more
		return withoutValue
	case lever == "image-size", lever == "frames": // what costs quality comes after what does not
		return unknownNow
	case a.supported || a.movable, lever == "shard" && ctx.beyond > 0 && ctx.is("unsharded"): // what exceeds the card is whole on each
		return mayFit
	case a.Order == 0 && p.Changes[0].From == nil && p.Changes[0].Syntax != "env" && p.Changes[0].Syntax != "shell" && withoutTrainersSettings(ctx):
		return withoutValue // of no list: the program may not know it
	}
	return unknownNow
}

// relative reports whether a change has a step from whatever the value is now: to half of it.
func relative(c Change) bool { return c.From == nil && c.To == nil && c.ComputedFrom != "" }

// shrinksTooLittle reports whether a request would still exceed what was free if it shrank as much as the token budget does. A request for a
// part of the micro-batch stays as it is, while all the rest shrinks.
func shrinksTooLittle(ctx *Context, p *Proposal, lever string) bool {
	r := ctx.root
	if len(p.Changes) != 1 || lever != "token-budget" || failedInPart(ctx) || r.Requested == nil || r.Free == nil || p.Changes[0].From == nil || p.Changes[0].To == nil {
		return false
	}
	from, ok1 := parseNumber(*p.Changes[0].From)
	to, ok2 := parseNumber(*p.Changes[0].To)
	return ok1 && ok2 && to > 0 && to < from && float64(*r.Requested)*to/from > float64(*r.Free)
}

// unknownGPUs reports whether nothing in the log speaks of a second GPU.
func unknownGPUs(ctx *Context) bool {
	_, known := ctx.gpus()
	return !known && ctx.root.Rank == nil && ctx.run.Backend == "" // a backend is there to use several
}

// withoutTrainersSettings reports whether a program may lack trainers' settings.
func withoutTrainersSettings(ctx *Context) bool {
	p := programOf(ctx.run)
	if ctx.settings.has("per_device_train_batch_size") {
		return false
	}
	return ctx.is("other_allocator") || p.Is(classifier.Engine) || p.Is(classifier.Application)
}

// otherLauncher reports whether changes are for Slurm but the run shows no sign of it.
func otherLauncher(ctx *Context, changes []Change) bool {
	slurm := ctx.run.Launcher == "slurm" || ctx.run.Scheduler == "slurm" || strings.HasPrefix(ctx.root.Pattern, "slurm") || ctx.messageContains("slurm", "oom_kill event") || ctx.settings.has("--mem")
	return !slurm && slices.ContainsFunc(changes, func(c Change) bool { return c.Syntax == "sbatch" })
}

// shareOfFree reports whether the engine is vLLM before 0.7, whose share is of what is free at the start: verl has an adapter for
// each of its versions.
func shareOfFree(ctx *Context) bool {
	return slices.ContainsFunc(wholeStack(ctx), func(frame string) bool {
		return containsAny(frame, []string{"vllm_v_0_3", "vllm_v_0_4", "vllm_v_0_5", "vllm_v_0_6"})
	})
}

// engineAlone reports whether an engine failed at its start on a card whose figures leave no room for a trainer's states beside it.
func engineAlone(ctx *Context) bool {
	const contexts = 3 << 30 // of processes that sleep, and NCCL's
	r := ctx.root
	if !ctx.is("engine_process") || ctx.phase != "init" || r.Total == nil || r.Free == nil || r.Allocated == nil || r.ReservedUnallocated == nil {
		return false
	}
	return *r.Total-*r.Free-*r.Allocated-*r.ReservedUnallocated < contexts
}

// mostlyFree reports whether an engine found most of the card free, so that an expected neighbor leaves it enough. Who gives it less than
// half of a card expects neighbors, too.
func mostlyFree(ctx *Context) bool {
	const half = 0.5
	r := ctx.root
	if r.Total == nil || !ctx.is("engine_process") {
		return false
	}
	set, _ := ctx.settings.find("gpu_memory_utilization", true)
	if share, ok := parseNumber(set.value.Value); ok && share < half && ctx.is("less_than_desired") {
		return true
	}
	if ctx.is("less_than_desired") {
		return r.Free != nil && *r.Free >= *r.Total/4*3
	}
	n := deref(r.OtherProcesses)
	for _, p := range listedProcesses(ctx) {
		n = max(n, p.Bytes)
	}
	return n > 0 && n <= *r.Total/4
}
