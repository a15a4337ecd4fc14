package remedies

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/cause"
)

// ForAll returns the checklist for each incident of a run: first the framework guide's list for its phase, then those of the engine
// and of the other programs involved, then the guide's general list without repetitions. Every list keeps its order, and the
// lists of the user's own guides come before the built-in ones. It is empty if memory was not exhausted. Several are computed at a
// time, and in the end each is compared with those before it. They own their memory except for the guides' texts. Neither the run
// nor the incidents may change meanwhile.
func ForAll(run *classifier.Run, incidents []classifier.Incident, own ...Guide) []Checklist {
	lists := make([]Checklist, len(incidents))
	printed := newSettings(run.Config)
	var computing sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		computing.Go(func() {
			for i := w; i < len(lists); i += workers {
				lists[i] = answer(run, &incidents[i], printed, own)
			}
		})
	}
	computing.Wait()
	reconcile(lists)
	return lists
}

// answer returns the checklist for one incident of a run with these settings.
func answer(run *classifier.Run, in *classifier.Incident, printed *settings, own []Guide) Checklist {
	if in.Kind == parser.IllegalAccess || in.Kind == parser.ProcessExit {
		return Checklist{}
	}
	ctx := contextOf(run, in, printed)
	b := budgetOf(ctx)
	why := causeInput(ctx)
	ctx.why = why
	ctx.beyond = cause.Beyond(why)
	best, rivals := cause.Rank(why)
	out := Checklist{Cause: &best, Rivals: rivals, Budget: b.parts, Unexplained: b.unexplained}
	chosen := candidates(ctx, listsFor(ctx, own))
	if len(chosen) == 0 {
		return out
	}
	items := make([]assessment, len(chosen))
	for i, c := range chosen {
		items[i] = assess(ctx, c)
		items[i].Order = i + 1
	}
	ruleOutExcluded(ctx, &best, rivals, items)
	out.Title, out.Findings = title(chosen[0]), findingsOf(ctx, items)
	options := proposalsFor(ctx, &best, rivals, items)
	options = options[:min(len(options), shownProposals)]
	for i := range options {
		out.Proposals = append(out.Proposals, options[i].Proposal)
	}
	keepProposed(items, out.Proposals)
	out.StartWith = startsOf(options)
	if len(options) == 0 && best.ID == cause.Unknown { // only diagnosis
		out.StartWith = rank(items)
	}
	for i := 0; i < len(out.StartWith) && len(out.Patch) == 0; i++ { // proposals are alternatives: never two in one block
		out.Patch = patchOf(items, out.StartWith[i:i+1])
	}
	out.Remedies = make([]Remedy, 0, len(items))
	for i := range items {
		out.Remedies = append(out.Remedies, items[i].Remedy)
	}
	return out
}

// candidates returns the items of the lists that may go into the answer, each once. Of equivalent ones, that is the first, and the first that
// the run does not rule out.
func candidates(ctx *Context, lists []choice) []candidate {
	var out []candidate
	ids, topics, names := map[string]bool{}, map[string]truth{}, map[string]*naming{}
	for _, c := range lists {
		if names[c.guide.ID] == nil {
			names[c.guide.ID] = namingOf(ctx, c.guide)
		}
		for _, id := range c.list.Items {
			it := c.guide.item(id)
			if it == nil || ids[id] {
				continue
			}
			if _, here := ctx.confirmed(it.Only); len(it.Only) > 0 && !here {
				continue
			}
			can := yes
			if _, bad := ctx.denied(it.Requires); bad {
				can = no // what another guide has for the topic may still apply
			}
			if had := topics[it.Topic]; it.Topic != "" && (had == yes || had == can) {
				continue
			}
			ids[id], topics[it.Topic] = true, can
			out = append(out, candidate{c.guide, c.list, it, c.own, names[c.guide.ID]})
		}
	}
	return out
}

func title(c candidate) string {
	t := strings.Replace(c.list.Heading, ", ", ": ", 1)
	if c.guide.Document {
		t += fmt.Sprintf(" (guide %q)", c.guide.Title)
	}
	return t
}
