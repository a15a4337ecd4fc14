package remedies

import (
	"regexp"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/lazyre"
	"oomscan/remedies/cause"
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

// withValues leaves out options that the program may lack and options without a value, each if there are enough others, and puts
// those without a value last. The best option against the cause stays: to raise a limit is advice even without a number.
func withValues(options []option) []option {
	bare := func(o option) bool {
		return !slices.ContainsFunc(o.Changes, func(c Change) bool { return c.To != nil && c.Syntax != "words" })
	}
	unsure := func(o option) bool { return o.class == withoutValue && !bare(o) }
	unset := func(c Change) bool { return c.To == nil && c.From != nil && (isNone(*c.From) || c.ComputedFrom == "") } // neither a value nor a step
	valued := func(o option) bool { return slices.ContainsFunc(o.Changes, typed) }
	vague := func(o option) bool {
		return len(o.Changes) == 0 && !o.supported && slices.Contains([]string{"workers", "malloc"}, o.lever)
	}
	out := slices.DeleteFunc(slices.Clone(options), func(o option) bool {
		return o.place > 0 && (slices.ContainsFunc(o.Changes, unset) || vague(o) && slices.ContainsFunc(options, valued)) // neither a value nor a sign in the log
	})
	for _, drop := range []struct {
		what func(o option) bool
		from int
	}{{unsure, leastProposals}, {bare, fewProposals}} {
		if rest := slices.DeleteFunc(slices.Clone(out), drop.what); len(rest) >= drop.from {
			out = slices.DeleteFunc(out, func(o option) bool { return o.place > 0 && drop.what(o) })
		}
	}
	if len(out) > 1 {
		slices.SortStableFunc(out[1:], func(a, b option) int { return map[bool]int{true: 1}[bare(a)] - map[bool]int{true: 1}[bare(b)] })
	}
	return out
}

// optionsOf returns the options from the lists' items and from the fixes that no list has.
func optionsOf(ctx *Context, items []assessment) []option {
	var out []option
	add := func(a *assessment) {
		for _, part := range alone(ctx, a) {
			if o, ok := optionOf(ctx, part); ok {
				out = append(out, o)
			}
		}
	}
	for i := range items {
		add(&items[i])
	}
	for _, a := range fixesFor(ctx) {
		if !isRuledOut(a, items) && !isListed(a, items) && !knowsBetter(ctx, items, a.topic) {
			add(a)
		}
	}
	return out
}

// isRuledOut reports whether a list has the same item as a fix and the run rules it out there.
func isRuledOut(fix *assessment, items []assessment) bool {
	return fix.topic != "" && slices.ContainsFunc(items, func(a assessment) bool { return a.topic == fix.topic && a.Applies != nil && !*a.Applies })
}

// isListed reports whether an item of a list pulls the lever of a fix with a value: it has the program's name for it.
func isListed(fix *assessment, items []assessment) bool {
	l := leverOf(fix.topic, fix.Changes)
	return l != nil && slices.ContainsFunc(items, func(a assessment) bool {
		return len(a.Changes) > 0 && a.Changes[0].To != nil && (a.Applies == nil || *a.Applies) && !a.late && leverOf(a.topic, a.Changes) == l
	})
}

// alone splits an item whose changes work separately: one of several offloads may be enough.
func alone(ctx *Context, a *assessment) []*assessment {
	if l := leverOf(a.topic, a.Changes); l == nil || l.id != "offload-off" || len(a.Changes) < 2 {
		return []*assessment{a}
	}
	var out []*assessment
	for _, c := range a.Changes {
		one := *a
		one.Changes, one.Freed, one.Enough, one.result = []Change{c}, nil, nil, outcomeOf(ctx, []Change{c})
		out = append(out, &one)
	}
	return out
}

// optionsFor returns the options for some levers, in the order of the levers.
func optionsFor(order []string, best *cause.Cause, items []assessment, all []option) []option {
	guess := best.Confidence == "low"
	options := placed(order, best, items, all)
	if len(options) == 0 && !guess && best.Confidence != "high" {
		return optionsFor(order, &cause.Cause{Confidence: "low"}, items, all) // nothing attacks it: what the evidence supports
	}
	options = nameFixes(options)
	if !slices.ContainsFunc(options, func(o option) bool { return o.FitsWorstCase != nil && *o.FitsWorstCase }) {
		for i := range options {
			if options[i].class == notAtWorst { // nothing is known to do better
				options[i].class = mayFit
			}
		}
	}
	for i := range options {
		if options[i].lever == "offload-off" && best.ID == "checkpoint_gather" {
			options[i].class = max(options[i].class, notAtWorst) // what is offloaded is not what the save adds
		}
	}
	slices.SortStableFunc(options, func(a, b option) int {
		switch {
		case a.class != b.class:
			return a.class - b.class
		case (guess || a.class == withoutValue) && a.supported != b.supported:
			return map[bool]int{true: -1, false: 1}[a.supported]
		case a.class == withoutValue && slices.ContainsFunc(a.Changes, typed) != slices.ContainsFunc(b.Changes, typed):
			return map[bool]int{true: -1, false: 1}[slices.ContainsFunc(a.Changes, typed)] // values before words
		}
		return a.place - b.place
	})
	return distinct(options)
}

// placed returns the options that attack a cause, with their places and classes. Where the cause is a guess, the list's items that no
// lever of it pulls follow.
func placed(order []string, best *cause.Cause, items []assessment, all []option) []option {
	started := rank(items)
	var out []option
	for _, o := range all {
		if o.place = slices.Index(order, o.lever); o.place < 0 {
			at := slices.Index(started, o.id)
			if at < 0 || best.Confidence != "low" && (o.lever != "" || !o.supported) {
				continue
			}
			o.place = len(order) + at
		}
		if o.lever == "offload-off" && len(o.Changes) == 0 && best.ID != "host_offload" {
			continue // no sign of anything offloaded
		}
		o.classAgainst(best, all)
		out = append(out, o)
	}
	return out
}

// classAgainst changes the class of a placed option by what it does to the cause.
func (o *option) classAgainst(best *cause.Cause, all []option) {
	sure := best.Confidence == "high"
	switch {
	case o.lever == "share-down" && best.ID == "foreign_process" && o.refused && !o.beside:
		o.class = max(o.class, unknownNow) // what is free may be enough
	case o.lever == "share-down" && best.ID == "foreign_process" && !o.beside:
		o.class = max(o.class, withoutValue) // it leaves the cause where it is
	case o.class == fits && best.ID == "checkpoint_gather" && slices.Contains(onStates, o.lever):
		o.class = mayFit // not what the save adds
	}
	if slices.Contains(dearest, o.lever) && o.place > 0 {
		o.class, o.supported = max(o.class, unknownNow), false
	}
	if o.class == mayFit && o.place == 0 && sure && o.planned {
		o.class = fits // an engine that starts needs what it plans for, no margin
	}
	inWords := o.class == withoutValue && len(o.Changes) > 0 && o.Changes[0].To != nil
	switchedOn := o.lever == "recompute" && best.ID == "activations" && len(o.Changes) > 0 && o.Changes[0].Syntax != "python" &&
		!slices.ContainsFunc(all, func(p option) bool { return p.lever == o.lever && p.class < o.class }) // the run's own switch
	if (o.place == 0 || switchedOn) && o.class == unknownNow && sure || o.place == 0 && inWords && best.Confidence != "low" {
		o.class = mayFit // what attacks a cause that is proved comes first, set or not
	}
}

// distinct leaves out options after the first that change the same setting, or say less exactly what the same lever does.
func distinct(options []option) []option {
	var out []option
	keys, levers := map[string]bool{}, map[string]bool{}
	for _, o := range options {
		key := changed(o.Changes)
		if len(out) == mostProposals || key != "" && keys[key] || levers[o.lever] && (o.class == withoutValue || o.lever == "offload-off") {
			continue
		}
		keys[key], levers[o.lever] = true, o.lever != ""
		out = append(out, o)
	}
	return out
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

// nameFixes gives a fix the name of the list's item with the same lever but without values, and drops that item.
func nameFixes(options []option) []option {
	var out []option
	for _, o := range options {
		inWords := len(o.Remedies) > 0 && len(o.Changes) == 0 && o.lever != ""
		i := slices.IndexFunc(options, func(f option) bool { return f.lever == o.lever && len(f.Remedies) == 0 })
		if inWords && i >= 0 {
			o.Changes, o.class = options[i].Changes, options[i].class
		}
		out = append(out, o)
	}
	return out
}

// optionOf makes an option of an item unless the run rules it out or it moves the failure elsewhere.
func optionOf(ctx *Context, a *assessment) (option, bool) {
	l := leverOf(a.topic, a.Changes)
	adapts := a.lastResort && l != nil && l.id == "adapters" // what fits where nothing else does
	result := a.result
	if a.Applies != nil && !*a.Applies || a.late && !adapts || result.moves != "" || result.void || otherLauncher(ctx, a.Changes) ||
		l != nil && l.id == "offload-off" && statesOutgrowCards(ctx, a.Changes) ||
		l != nil && (l.id == "optimizer-offload" || l.id == "param-offload") && engineAlone(ctx) { // no trainer's states are on this card
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
	for _, n := range []string{caution, atTheNode(ctx, a.Changes), whereSet(ctx, a.Changes)} {
		if n != "" {
			o.Needs = append(o.Needs, n)
		}
	}
	e := effect{freed: a.Freed, why: a.EnoughWhy}
	if a.Enough != nil {
		e.enough = truthOf(*a.Enough)
	}
	if n := asleepFrees(ctx); o.lever == "sleep" && n != nil && deref(e.freed) < *n { // what the log measured, not the least by the settings
		result.frees, e = n, effect{}
	}
	if e.freed == nil && e.enough == unknown {
		e = result.effect(ctx)
	}
	if o.lever == "fused-loss" && logitsToCome(ctx) {
		result.frees, e = nil, effect{} // what it saves was not there yet
	}
	o.weigh(ctx, &result, e)
	if a.assumed { // what is there now is not known, nor what a change frees
		o.Fits, o.FitsWorstCase, o.FreesBytes, o.MarginBytes = nil, nil, nil, nil
	}
	o.class = classOf(ctx, a, &o.Proposal, o.lever)
	if copiesMayFail(ctx, &o.Proposal, &result) { // it is ranked by the request, and not said to fit
		o.Fits, o.FitsWorstCase, o.WorstCase = nil, nil, ""
	}
	o.Costs = costsOf(ctx, o.lever, costs, a.Changes, &result)
	if result.onNode > rounding { // the costs have the figure
		o.Needs = slices.DeleteFunc(o.Needs, func(s string) bool { return strings.HasPrefix(s, "Host memory grows") })
	}
	o.WhyNot = lessIsNotEnough(ctx, a.Changes)
	if o.Text = textOf(ctx, &o.Proposal, &result); o.Text == "" && e.why != "" {
		o.Text = sentence(e.why)
	}
	if o.lever == "offload-off" && !ctx.setup.CardBytes.Known && result.onCard > usualCard/2 && slices.ContainsFunc(a.Changes, func(c Change) bool { return strings.Contains(c.Key, "optim") }) {
		o.class = max(o.class, withoutValue) // the states are the most that a card may be given back
	}
	if adapts {
		o.class, o.supported = max(o.class, withoutValue), false
	}
	if shareOfFree(ctx) && slices.ContainsFunc(a.Changes, func(c Change) bool { return strings.HasSuffix(lastWord(c.Key), "utilization") }) {
		o.FreesBytes, o.MarginBytes = nil, nil
		o.Text = "In this vLLM version, it is a share of what was free at the start; the log does not show how much that was."
		o.Needs = slices.DeleteFunc(o.Needs, func(s string) bool { return strings.Contains(s, "0.7.0") })
	}
	return o, true
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

// withoutTrainersSettings reports whether a program may lack trainers' settings.
func withoutTrainersSettings(ctx *Context) bool {
	p := programOf(ctx.run)
	if ctx.settings.has("per_device_train_batch_size") {
		return false
	}
	return ctx.is("other_allocator") || p.Is(classifier.Engine) || p.Is(classifier.Application)
}

// relative reports whether a change has a step from whatever the value is now: to half of it.
func relative(c Change) bool { return c.From == nil && c.To == nil && c.ComputedFrom != "" }

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
	case a.supported || a.movable:
		return mayFit
	case a.Order == 0 && p.Changes[0].From == nil && p.Changes[0].Syntax != "env" && p.Changes[0].Syntax != "shell" && withoutTrainersSettings(ctx):
		return withoutValue // of no list: the program may not know it
	}
	return unknownNow
}

// shrinksTooLittle reports whether a request would still exceed what was free if it shrank as much as the token budget does.
func shrinksTooLittle(ctx *Context, p *Proposal, lever string) bool {
	r := ctx.root
	if len(p.Changes) != 1 || lever != "token-budget" || r.Requested == nil || r.Free == nil || p.Changes[0].From == nil || p.Changes[0].To == nil {
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

// costKinds are the kinds of costs, by the words for them. A caution and the usual cost of a lever often say the same.
var costKinds = []func() *regexp.Regexp{
	lazyre.New(`(?i)\b(?:slower|longer|throughput|time to)\b`),
	lazyre.New(`(?i)\b(?:may change|results differ|quality|less (?:exact|precise))\b`),
	lazyre.New(`(?i)\bhost (?:memory|must)\b`),
}

// once leaves out the caution or the costs if the other one has all that it says.
func once(caution, costs string) (string, string) {
	if caution == "" || costs == "" {
		return caution, costs
	}
	said := kindsOfCost(caution)
	if said == 0 {
		return caution, costs
	}
	switch costly := kindsOfCost(costs); {
	case said&costly == 0:
		return caution, costs
	case said&^costly == 0 && generalCost().MatchString(caution):
		return "", costs
	case costly&^said == 0:
		return caution, ""
	}
	return caution, costs
}

// kindsOfCost returns a bit for each kind of cost that a text is about.
func kindsOfCost(text string) (kinds int) {
	for i, k := range costKinds {
		if k().MatchString(text) {
			kinds |= 1 << i
		}
	}
	return kinds
}

// generalCost matches cautions that say no more than the usual cost does.
var generalCost = lazyre.New(`^(?:(?:(?:Much |A little |Generation (?:gets|is) )?[Ss]lower|(?:Answers|Images) may change(?: a little)?|The host must have room)\.)$`)
