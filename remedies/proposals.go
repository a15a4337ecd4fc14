package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/cause"
)

// Proposal is a set of changes that go together, and what they are expected to do in the failing phase.
type Proposal struct {
	Remedies      []string // items of the checklist that it is made of; empty for what no list has
	Changes       []Change
	Fits          *bool // now; nil when a figure is missing
	FitsWorstCase *bool // at the longest samples that the settings allow
	FreesBytes    *int64
	MarginBytes   *int64 // what is left over once it fits
	WorstCase     string
	Costs, Needs  []string
	Text          string
}

// mostProposals is how many a reader is shown.
const mostProposals = 5

// fewProposals are too few to choose from: then what attacks the rivals of the cause is an alternative.
const fewProposals = 2

// option is an item that attacks the cause, with its place in the order of the proposals.
type option struct {
	Proposal
	lever     string
	class     int // what is known to fail stands behind what may fit
	place     int // of its lever among those against the cause
	supported bool
}

// The classes of options, best first.
const (
	mayFit       = iota
	unknownNow   // the log does not tell the value now
	withoutValue // nor the next one
	notAtWorst
	tooLittle
)

// proposalsFor makes the proposals against a cause from the items of the lists and from the fixes that no list has. Items
// that this run rules out are none, nor those that do nothing against the cause. Where that is a guess, what the evidence
// supports comes first, and other items last; where nothing attacks it, what attacks the next rival.
func proposalsFor(ctx *Context, best *cause.Cause, rivals []cause.Cause, items []assessment) []option {
	out := optionsFor(ctx, leversFor(ctx, best.ID), best, items)
	for i := range rivals {
		r := &rivals[i]
		if len(r.Against) > 0 || r.Confidence == "low" {
			continue
		}
		for _, o := range optionsFor(ctx, leversFor(ctx, r.ID), r, items) {
			same := func(p option) bool {
				return changed(p.Changes) == changed(o.Changes) && slices.Equal(p.Remedies, o.Remedies)
			}
			if len(out) < fewProposals && !slices.ContainsFunc(out, same) {
				out = append(out, o)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b option) int { return a.class - b.class })
	return out
}

// optionsFor is proposalsFor for levers in an order.
func optionsFor(ctx *Context, order []string, best *cause.Cause, items []assessment) []option {
	guess := best.Confidence == "low"
	started := rank(items)
	var options []option
	for _, a := range slices.Concat(items, fixesFor(ctx)) {
		o, ok := optionOf(ctx, &a)
		if !ok {
			continue
		}
		o.place = slices.Index(order, o.lever)
		if o.place < 0 {
			at := slices.Index(started, a.ID)
			if at < 0 || !guess && (o.lever != "" || !a.supported) {
				continue
			}
			o.place = len(order) + at
		}
		options = append(options, o)
	}
	if len(options) == 0 && !guess && best.Confidence != "high" {
		return optionsFor(ctx, order, &cause.Cause{Confidence: "low"}, items) // nothing attacks it: what the evidence supports
	}
	options = nameFixes(options)
	if !slices.ContainsFunc(options, func(o option) bool { return o.FitsWorstCase != nil && *o.FitsWorstCase }) {
		for i := range options {
			if options[i].class == notAtWorst { // nothing is known to do better
				options[i].class = mayFit
			}
		}
	}
	slices.SortStableFunc(options, func(a, b option) int {
		switch {
		case a.class != b.class:
			return a.class - b.class
		case guess && a.supported != b.supported:
			return map[bool]int{true: -1, false: 1}[a.supported]
		}
		return a.place - b.place
	})
	var out []option
	keys, levers := map[string]bool{}, map[string]bool{}
	for _, o := range options {
		key := changed(o.Changes)
		if len(out) == mostProposals || key != "" && keys[key] || o.class == withoutValue && o.lever != "" && levers[o.lever] {
			continue // one before it changes the same setting, or says more of the same lever
		}
		keys[key], levers[o.lever] = true, true
		out = append(out, o)
	}
	return out
}

// nameFixes gives a fix the name of the list's item that pulls the same lever in words alone, and leaves that out.
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

// changed names the setting that a proposal changes first and its direction.
func changed(changes []Change) string {
	if len(changes) == 0 {
		return ""
	}
	return strings.Join(split(changes[0].Key), ".") + " " + changes[0].Direction
}

// optionOf makes an option of an item, when the run does not rule it out.
func optionOf(ctx *Context, a *assessment) (option, bool) {
	if a.Applies != nil && !*a.Applies || a.late || otherLauncher(ctx, a.Changes) {
		return option{}, false
	}
	o := option{supported: a.supported}
	o.Proposal = Proposal{Changes: a.Changes, FreesBytes: a.Freed, Fits: a.Enough}
	if a.Order > 0 {
		o.Remedies = []string{a.ID}
	}
	if l := leverOf(a.topic, a.Changes); l != nil {
		o.lever = l.id
		if l.costs != "" {
			o.Costs = []string{l.costs}
		}
	}
	if a.Caution != "" {
		o.Needs = []string{a.Caution}
	}
	margin(ctx, &o.Proposal)
	worstCase(ctx, &o.Proposal)
	o.Text = textOf(a, &o.Proposal)
	o.class = classOf(a, &o.Proposal)
	return o, true
}

// classOf says how much is known of a proposal.
func classOf(a *assessment, p *Proposal) int {
	switch {
	case p.Fits != nil && !*p.Fits:
		return tooLittle
	case p.FitsWorstCase != nil && !*p.FitsWorstCase:
		return notAtWorst
	case a.doubtful:
		return withoutValue
	case a.supported || a.movable:
		return mayFit
	case slices.ContainsFunc(p.Changes, func(c Change) bool { return c.To != nil }):
		return unknownNow
	}
	return withoutValue
}

// otherLauncher says that changes are for Slurm in a run that shows no sign of it.
func otherLauncher(ctx *Context, changes []Change) bool {
	slurm := ctx.run.Launcher == "slurm" || strings.HasPrefix(ctx.root.Pattern, "slurm") || ctx.messageContains("slurm", "oom_kill event") || ctx.settings.has("--mem")
	return !slurm && slices.ContainsFunc(changes, func(c Change) bool { return c.Syntax == "sbatch" })
}

// ruleOutExcluded marks the items that attack a cause which a figure excludes, and the allocator's where PyTorch's
// allocator did not fail: they do not apply.
func ruleOutExcluded(ctx *Context, best *cause.Cause, rivals []cause.Cause, items []assessment) {
	why := ""
	switch i := slices.IndexFunc(rivals, func(c cause.Cause) bool { return c.ID == "fragmentation" }); {
	case ctx.resource != "gpu" || best.ID == "fragmentation":
		return
	case i >= 0 && len(rivals[i].Against) > 0:
		why = rivals[i].Against[0]
	case i < 0 && ctx.incident.Kind != parser.GPUOOM:
		why = "PyTorch's allocator did not fail"
	default:
		return
	}
	for i := range items {
		if l := leverOf(items[i].topic, items[i].Changes); l != nil && slices.Contains(attacks["fragmentation"], l.id) {
			no := false
			items[i].Applies, items[i].AppliesWhy = &no, why
		}
	}
}

// margin compares what a proposal frees with what was missing. What is said to fit leaves something over.
func margin(ctx *Context, p *Proposal) {
	short, ok := ctx.shortfall()
	if p.FreesBytes == nil || !ok {
		return
	}
	left := *p.FreesBytes - short
	if p.Fits != nil && *p.Fits && left < 0 {
		return
	}
	p.MarginBytes = &left
	if left < 0 {
		fits := false
		p.Fits = &fits
	}
}

// worstCase asks whether a smaller micro-batch still fits when all of its samples have the longest length.
func worstCase(ctx *Context, p *Proposal) {
	l, r := ctx.limit, ctx.root
	if len(ctx.request) == 0 || ctx.request[0].Low <= 0 || l == nil || r.Free == nil || r.Requested == nil {
		return
	}
	i := slices.IndexFunc(p.Changes, func(c Change) bool { return c.To != nil && sameKey(c.Key, l.Key) })
	if i < 0 {
		return
	}
	to, ok := parseInt(*p.Changes[i].To)
	if !ok || to < 1 || to > mostTokens {
		return
	}
	tokens := max(to, l.Longest)
	if !l.Budget {
		if l.Samples < 1 {
			return
		}
		tokens = ceilDiv(l.Tokens*to, l.Samples)
	}
	asks := int64(float64(*r.Requested) / float64(ctx.request[0].High) * float64(tokens))
	fits := asks <= *r.Free
	p.FitsWorstCase = &fits
	p.WorstCase = fmt.Sprintf("at full length, %d tokens, the request is %s, and %s were free", tokens, classifier.GiB(asks), classifier.GiB(*r.Free))
}

// textOf says a proposal in a sentence.
func textOf(a *assessment, p *Proposal) string {
	s := a.Title
	switch {
	case a.EnoughWhy != "":
		s += ": " + a.EnoughWhy
	case p.FreesBytes != nil && p.MarginBytes != nil:
		s += fmt.Sprintf(": it frees about %s", classifier.GiB(*p.FreesBytes))
	}
	return s
}

// startsOf are the items that the proposals are made of, best first: those that this run speaks for, and a few of the
// others where there are none.
func startsOf(options []option) []string {
	var sure, open []string
	for _, o := range options {
		for _, id := range o.Remedies {
			switch {
			case o.class == mayFit && len(sure) < mostStarts:
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

// fixesFor are the fixes that the causes bring themselves, for programs whose lists lack them.
func fixesFor(ctx *Context) []assessment {
	g, err := fixes()
	if err != nil {
		return nil // the tests decode it
	}
	names := namingOf(ctx, g)
	var out []assessment
	list := &List{Heading: g.Title}
	for i := range g.Items {
		it := &g.Items[i]
		if _, here := ctx.confirmed(it.Only); len(it.Only) > 0 && !here {
			continue
		}
		a := assess(ctx, candidate{guide: g, list: list, item: it, names: names})
		if len(a.Changes) > 0 {
			out = append(out, a)
		}
	}
	return out
}
