package remedies

import (
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/cause"
)

// Proposal is a set of changes to make together, and their expected effect in the failing phase.
type Proposal struct {
	Remedies      []string `json:"remedies"` // items of the checklist that it is made of; empty for what no list has
	Title         string   `json:"title"`    // what to do, in words
	Changes       []Change `json:"changes"`
	Fits          *bool    `json:"fits"`            // now; nil when a figure is missing
	FitsWorstCase *bool    `json:"fits_worst_case"` // at the longest samples that the settings allow
	FreesBytes    *int64   `json:"frees_bytes"`
	MarginBytes   *int64   `json:"margin_bytes"` // what is left over once it fits
	WorstCase     string   `json:"worst_case"`
	WhyNot        string   `json:"why_not"` // why a smaller change is not enough, empty if none was weighed
	Costs         []string `json:"costs"`
	Needs         []string `json:"needs"`
	Text          string   `json:"text"` // what it does, in sentences with figures
}

// A report shows shownProposals; mostProposals are weighed against each other.
const shownProposals, mostProposals = 3, 5

// fewProposals is how many are enough to choose from: with fewer, options without a value stay. With fewer than
// leastProposals, items against the cause's rivals are alternatives.
const fewProposals, leastProposals = 3, 2

// onStates lists levers that make room for anything in a training step.
var onStates = []string{"shard", "optimizer-offload", "param-offload", "train-tp"}

// ofBatches lists causes that grow with the batch. Where few levers are left against one, less states make room for it.
var ofBatches = []string{"activations", "attention_scores", "logits", "entropy_chain", "one_long_sample", "budget_not_binding", "moe_imbalance", "pipeline_in_flight"}

// largeStates reports whether a rank's part of the states may be more than what is missing and a twentieth of the card: not that of a
// small model, nor of a script that may train anything.
func largeStates(ctx *Context) bool {
	p := nominalParameters(ctx).Value
	short, _ := ctx.lacking()
	if p <= 0 {
		return !slices.Contains([]string{"", "torch", "lightning", "jax"}, programOf(ctx.run).ID)
	}
	gpus, _ := ctx.gpus()
	return 16*(min(p, mostParameters)/max(gpus, 1)) > max(short, deref(ctx.root.Total)/20)
}

// proposalsFor makes the proposals against a cause from the items of the lists and from the fixes that no list has. It leaves
// out items that this run rules out or that do nothing against the cause. If the cause is a guess, items with evidence come
// first and other items last. If nothing attacks the cause, it takes items against the next rival.
func proposalsFor(ctx *Context, best *cause.Cause, rivals []cause.Cause, items []assessment) []option {
	all := optionsOf(ctx, items)
	out := optionsFor(leversFor(ctx, best.ID), best, items, all)
	leaks := best.ID == "leak_over_steps" && best.Confidence == "high" // whatever else is saved only puts the failure off
	weak := !slices.ContainsFunc(out, func(o option) bool {
		return o.class != tooLittle && !slices.Contains(dearest, o.lever) && !(o.lever == "more-gpus" && o.class == withoutValue)
	})
	useless, _ := uselessLevers(ctx, best)
	for i := range rivals {
		r := &rivals[i]
		if leaks || len(r.Against) > 0 || r.Confidence == "low" {
			continue
		}
		for _, o := range optionsFor(leversFor(ctx, r.ID), r, items, all) {
			same := func(p option) bool {
				return (changed(p.Changes) == changed(o.Changes) || len(o.Changes) == 0 && len(o.Remedies) > 0) && slices.Equal(p.Remedies, o.Remedies)
			}
			if !weak && len(out) > 0 {
				o.class = max(o.class, out[0].class) // never before what attacks the cause
			}
			if len(out) < leastProposals && o.lever != "length" && !slices.Contains(useless, o.lever) && !slices.ContainsFunc(out, same) { // a suspicion is no reason to cut samples
				out = append(out, o)
			}
		}
	}
	if slices.Contains(ofBatches, best.ID) && trains(ctx) && !ctx.work.untrained() && largeStates(ctx) {
		for _, o := range optionsFor(onStates, best, items, all) {
			if o.class <= unknownNow && len(out) < fewProposals && slices.Contains(onStates, o.lever) && !slices.ContainsFunc(out, func(p option) bool { return p.lever == o.lever }) {
				if o.class = unknownNow; len(out) > 0 {
					o.class = max(o.class, out[0].class) // never before what attacks the cause
				}
				out = append(out, o)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b option) int { return a.class - b.class })
	out = withValues(enough(out))
	if set, ok := smallestSet(ctx, out); ok {
		at := 0
		if strings.Contains(set.lever, "length") { // a change of the task comes after what may be enough without one
			at = max(0, slices.IndexFunc(out, func(o option) bool { return o.class == tooLittle }))
		}
		out = slices.Insert(out, at, set)
		out = out[:min(len(out), mostProposals)]
	}
	if holds := slices.IndexFunc(rivals, func(c cause.Cause) bool {
		return c.ID == "fragmentation" && len(c.Against) == 0 && c.Confidence != "low"
	}); holds >= 0 {
		out = withHoles(ctx, out, optionsFor([]string{"segments"}, &rivals[holds], items, all))
	}
	if len(out) > 0 {
		setMoreGPUs(out[0].Changes)
	}
	return out
}

// withHoles puts what is against fragmentation among the options that are shown, where the unused reserve would hold the failed request
// once it is in one piece, whatever the request is for.
func withHoles(ctx *Context, options, against []option) []option {
	r := ctx.root
	if len(against) == 0 || r.Requested == nil || r.ReservedUnallocated == nil || *r.ReservedUnallocated < *r.Requested ||
		slices.ContainsFunc(options[:min(len(options), shownProposals)], func(o option) bool { return o.lever == against[0].lever }) {
		return options
	}
	out := slices.Insert(slices.Clone(options), min(len(options), shownProposals-1), against[0])
	return out[:min(len(out), mostProposals)]
}

// setMoreGPUs gives a change to a tensor-parallel size its value, though the log does not show whether the GPUs are there: nothing better
// is left.
func setMoreGPUs(changes []Change) {
	for i := range changes {
		c := &changes[i]
		if c.To != nil || c.From == nil || !strings.HasSuffix(c.ComputedFrom, ifFree) {
			continue
		}
		if n, ok := parseInt(*c.From); ok && 2*n <= oneNode {
			c.To = new(itoa(2 * n))
		}
	}
}

// enough leaves out the options that are known to free too little, where another frees enough or may do so. A step from a value that the log
// does not show may be larger than it was taken for.
func enough(options []option) []option {
	has := func(class int) bool {
		return slices.ContainsFunc(options, func(o option) bool { return o.class <= class })
	}
	assumed := func(c Change) bool { return c.From == nil && c.Direction != "set" }
	return slices.DeleteFunc(options, func(o option) bool {
		return o.class == tooLittle && (has(fits) || has(mayFit) && !slices.ContainsFunc(o.Changes, assumed))
	})
}

// knowsBetter reports whether the list of the run's program has its own setting for a fix's topic, even one that needs no
// change.
func knowsBetter(ctx *Context, items []assessment, topic string) bool {
	g := guideOf(ctx)
	return topic != "" && g != nil && g.ID != "torch" && slices.ContainsFunc(items, func(a assessment) bool {
		it := g.item(a.ID)
		return it != nil && a.topic == topic && len(it.Parameters) > 0
	})
}

// smallestSet returns the first pair of options that are enough together if none is enough alone.
func smallestSet(ctx *Context, options []option) (option, bool) {
	short, ok := ctx.lacking()
	if !ok || slices.ContainsFunc(options, func(o option) bool { return o.class == fits || o.Fits != nil && *o.Fits }) {
		return option{}, false
	}
	for j := range options {
		for i := range j {
			a, b := &options[i], &options[j]
			if a.Fits == nil || b.Fits == nil || a.lever == b.lever {
				continue // what it brings is not known
			}
			o := outcomeOf(ctx, slices.Concat(a.Changes, b.Changes))
			if o.frees == nil || o.moves != "" || *o.frees < short {
				continue
			}
			set := option{lever: a.lever + " " + b.lever, class: fits}
			set.Proposal = Proposal{
				Remedies: slices.Concat(a.Remedies, b.Remedies), Title: a.Title + "; " + b.Title, Changes: slices.Concat(a.Changes, b.Changes),
				Costs: slices.Concat(a.Costs, b.Costs), Needs: slices.Concat(a.Needs, b.Needs),
			}
			set.weigh(ctx, &o, o.effect(ctx))
			set.Text = "Neither is enough alone. " + textOf(ctx, &set.Proposal, &o)
			return set, true
		}
	}
	return option{}, false
}

// changed returns the first setting that a proposal changes, with the direction.
func changed(changes []Change) string {
	if len(changes) == 0 {
		return ""
	}
	return plain(changes[0].Key) + " " + changes[0].Direction
}

// dearest lists the levers that change the task, need another machine, or gain almost nothing. Cheaper or stronger levers come
// first, set or not.
var dearest = []string{"length", "fsdp2", "host-node"}

// typed reports whether a change has a value, not only words for one.
func typed(c Change) bool { return c.To != nil && (c.Syntax != "words" || c.From != nil) }

// ruleOutExcluded marks items that do not apply because the causes exclude them.
func ruleOutExcluded(ctx *Context, best *cause.Cause, rivals []cause.Cause, items []assessment) {
	if why := notFragmented(ctx, best, rivals); why != "" {
		ruleOut(items, attacks["fragmentation"], why)
	}
	if n := ctx.root.Requested; ctx.resource == "host" && n != nil && *n >= cause.LargeRequest {
		why := "the request is a single allocation of " + classifier.GiB(*n)
		if ruleOut(items, []string{"workers", "malloc"}, why); !ctx.is("node_full") {
			ruleOut(items, []string{"host-node"}, why)
		}
	}
	if i := slices.IndexFunc(rivals, func(c cause.Cause) bool { return c.ID == "engine_share_too_large" && len(c.Against) > 0 }); i >= 0 && !ctx.is("engine_process") && ctx.phase == "init" {
		ruleOut(items, []string{"share-down", "sleep"}, rivals[i].Against[0])
	}
	if levers, why := uselessLevers(ctx, best); len(levers) > 0 {
		ruleOut(items, levers, why)
	}
}

// uselessLevers returns the levers without effect against a proved cause, and why.
func uselessLevers(ctx *Context, best *cause.Cause) (levers []string, why string) {
	id := best.ID
	if id == "wrong_dtype" && ctx.phase == "optimizer" {
		id = "optimizer_first_step" // whose states are wider than they need to be
	}
	if v, ok := inVain[id]; ok && best.Confidence == "high" && (best.ID != "states_too_big" || ctx.beyond > 0) {
		return v.levers, v.why
	}
	return nil, ""
}

func ruleOut(items []assessment, levers []string, why string) {
	for i := range items {
		if l := leverOf(items[i].topic, items[i].Changes); l != nil && slices.Contains(levers, l.id) {
			items[i].exclude(why)
		}
	}
}

// exclude says that an item does not apply, so that what it would free is no longer of interest.
func (r *Remedy) exclude(why string) {
	no := false
	r.Applies, r.AppliesWhy = &no, why
	r.Freed, r.Enough, r.EnoughWhy = nil, nil, ""
}

// notFragmentedWord begins the reason; the page shows only this.
const notFragmentedWord = "not fragmented: "

// notFragmented returns why nothing against fragmentation helps: a figure excludes it, or no allocation by PyTorch failed.
func notFragmented(ctx *Context, best *cause.Cause, rivals []cause.Cause) string {
	switch i := slices.IndexFunc(rivals, func(c cause.Cause) bool { return c.ID == "fragmentation" }); {
	case ctx.resource != "gpu" || best.ID == "fragmentation":
		return ""
	case i >= 0 && len(rivals[i].Against) > 0:
		return notFragmentedWord + rivals[i].Against[0]
	case i < 0 && ctx.incident.Kind != parser.GPUOOM:
		return "no allocation by PyTorch failed"
	case ctx.is("engine_process") && ctx.phase == "init" && ctx.root.Requested == nil && ctx.root.Allocated == nil && ctx.root.Total != nil:
		return "the message is the engine's own, and shows no memory that PyTorch holds unused"
	}
	return ""
}

// startsOf returns the items to start with, best first: those that this run supports, or a few others if there are none.
func startsOf(options []option) []string {
	var sure, open []string
	for _, o := range options {
		for _, id := range o.Remedies {
			switch {
			case o.class <= mayFit && len(sure) < mostStarts:
				sure = append(sure, id)
			case len(open) < fewStarts:
				open = append(open, id)
			}
		}
	}
	if len(sure) > 0 {
		return sure
	}
	return open
}

// fixesFor returns the causes' own fixes, for programs whose lists lack them, without those that the run rules out by what they require.
func fixesFor(ctx *Context) []*assessment {
	g := fixes()
	names := namingOf(ctx, g)
	var out []*assessment
	list := &List{Heading: g.Title}
	for i := range g.Items {
		it := &g.Items[i]
		if _, here := ctx.confirmed(it.Only); len(it.Only) > 0 && !here {
			continue
		}
		if _, bad := ctx.denied(it.Requires); bad || !slices.Contains(orGPU(it.Resources), ctx.resource) {
			continue
		}
		a := assess(ctx, candidate{guide: g, list: list, item: it, names: names})
		if len(a.Changes) > 0 {
			out = append(out, &a)
		}
	}
	return out
}
