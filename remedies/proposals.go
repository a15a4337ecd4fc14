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

// option is an item that attacks the cause, with its place in the order of the proposals.
type option struct {
	Proposal
	place int // of its lever among those against the cause
	class int // what is known to fail stands behind what may fit
}

// The classes of options, best first.
const (
	mayFit       = iota
	withoutValue // nothing tells the next value
	notAtWorst
	tooLittle
)

// proposalsFor makes the proposals against a cause from the items of the lists and from the fixes that no list has. Items
// that this run rules out are none. Without a known cause they are what the evidence supports best.
func proposalsFor(ctx *Context, best *cause.Cause, items []assessment) []Proposal {
	order := leversFor(ctx, best.ID)
	var options []option
	for _, a := range slices.Concat(items, fixesFor(ctx)) {
		if o, ok := optionOf(ctx, &a, order); ok {
			options = append(options, o)
		}
	}
	slices.SortStableFunc(options, func(a, b option) int {
		if a.class != b.class {
			return a.class - b.class
		}
		return a.place - b.place
	})
	var out []Proposal
	keys, places := map[string]bool{}, map[int]bool{}
	for _, o := range options {
		key := changed(o.Changes)
		if len(out) == mostProposals || key != "" && keys[key] || o.class == withoutValue && places[o.place] {
			continue // one before it changes the same setting, or says more of the same lever
		}
		keys[key], places[o.place] = true, true
		out = append(out, o.Proposal)
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

// optionOf makes an option of an item, when it attacks the cause and the run does not rule it out.
func optionOf(ctx *Context, a *assessment, order []string) (option, bool) {
	if a.Applies != nil && !*a.Applies || a.late && len(a.Changes) == 0 {
		return option{}, false
	}
	l := leverOf(a.topic, a.Changes)
	if l == nil || otherLauncher(ctx, a.Changes) {
		return option{}, false
	}
	place := slices.Index(order, l.id)
	if place < 0 {
		return option{}, false
	}
	o := option{place: place}
	o.Proposal = Proposal{Changes: a.Changes, FreesBytes: a.Freed, Fits: a.Enough}
	if a.ID != "" && a.Order > 0 {
		o.Remedies = []string{a.ID}
	}
	if l.costs != "" {
		o.Costs = []string{l.costs}
	}
	if a.Caution != "" {
		o.Needs = []string{a.Caution}
	}
	margin(ctx, &o.Proposal)
	worstCase(ctx, &o.Proposal)
	o.Text = textOf(a, &o.Proposal)
	switch {
	case o.Fits != nil && !*o.Fits:
		o.class = tooLittle
	case o.FitsWorstCase != nil && !*o.FitsWorstCase:
		o.class = notAtWorst
	case !slices.ContainsFunc(o.Changes, func(c Change) bool { return c.To != nil }):
		o.class = withoutValue
	}
	return o, true
}

// otherLauncher says that changes are for Slurm in a run that shows no sign of it.
func otherLauncher(ctx *Context, changes []Change) bool {
	slurm := ctx.run.Launcher == "slurm" || slices.ContainsFunc(ctx.incident.Evidence, func(e classifier.Evidence) bool { return strings.HasPrefix(e.Pattern, "slurm") })
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

// startsOf are the items that the proposals are made of, best first.
func startsOf(proposals []Proposal) []string {
	var out []string
	for _, p := range proposals {
		for _, id := range p.Remedies {
			if len(out) < mostStarts && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
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
