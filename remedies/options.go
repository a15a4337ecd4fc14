package remedies

import (
	"regexp"
	"slices"

	"oomscan/parser/lazyre"
	"oomscan/remedies/cause"
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
	if !a.splits() {
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

func (a *assessment) splits() bool {
	l := leverOf(a.topic, a.Changes)
	return l != nil && l.id == "offload-off" && len(a.Changes) > 1
}

// keepProposed leaves of an item that was split the changes that are proposed: the others may not fit.
func keepProposed(items []assessment, proposals []Proposal) {
	for i := range items {
		a := &items[i]
		if !a.splits() {
			continue
		}
		var kept []Change
		for _, p := range proposals {
			if slices.Contains(p.Remedies, a.ID) {
				kept = append(kept, p.Changes...)
			}
		}
		if len(kept) > 0 && len(kept) < len(a.Changes) {
			a.Changes, a.Freed, a.Enough, a.EnoughWhy = kept, nil, nil, ""
		}
	}
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
	if o.class == mayFit && o.place == 0 && sure && o.lever == "attention" && best.ID == "attention_scores" && len(o.Changes) > 0 && o.Changes[0].From != nil && !isNone(*o.Changes[0].From) {
		o.class = fits // it never builds what did not fit, at no cost, and the other was somebody's choice
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
