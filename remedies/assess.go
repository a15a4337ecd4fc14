package remedies

import (
	"cmp"
	"slices"
	"strings"

	"oomscan/classifier/phase"
)

// candidate is an item of a list that may go into the answer.
type candidate struct {
	guide *Guide
	list  *List
	item  *Item
	own   bool // on the list for the incident's phase, as opposed to general advice
	names *naming
}

// decision says whether an item applies.
type decision struct {
	applies   truth
	why       string
	supported bool // a fact of the incident speaks for it
	doubtful  bool // something it needs is not known to be there
}

// assessment is a remedy with the data that ranks it.
type assessment struct {
	Remedy
	own        bool
	supported  bool
	doubtful   bool
	lastResort bool   // it costs more than it gains, or changes the task
	movable    bool   // a value is known and another one is to be had
	assumed    bool   // the value now is assumed to be the default
	topic      string // of the item
	result     outcome
	late       bool // only diagnoses or is a last resort: not to start with
}

// assess runs an item through the pipeline: its changes, their expected effect, and whether it applies.
func assess(ctx *Context, c candidate) assessment {
	changes := inProgramsWords(ctx, c.guide.ID, propose(ctx, c.names, c.item))
	left := open(changes)
	e := estimateOf(ctx, left)
	return combine(ctx, c, changes, left, e, check(ctx, c, changes, e))
}

// combine combines the results of the steps. What is left of the changes is still to be made.
func combine(ctx *Context, c candidate, changes, left []change, e estimate, d decision) assessment {
	it := c.item
	a := assessment{own: c.own, supported: d.supported, doubtful: d.doubtful, topic: it.Topic, result: e.result, late: it.Effect == "diagnose" || it.LastResort, lastResort: it.LastResort}
	_, a.movable = movable(changes)
	a.assumed = slices.ContainsFunc(changes, func(c change) bool { return c.assumed })
	a.Remedy = Remedy{ID: it.ID, List: c.list.Heading, Title: it.Title, Detail: it.Detail, Why: it.Why, Source: sourceOf(c.guide, it)}
	if _, ok := ctx.confirmed(it.CautionOnly); ok || len(it.CautionOnly) == 0 {
		a.Caution = it.Caution
	}
	noted := false // one setting's other name shows those of the rest
	for _, ch := range left {
		if ch.To != nil && ch.ComputedFrom == "" {
			ch.ComputedFrom, e.how = e.how, ""
		}
		a.Changes = append(a.Changes, ch.Change)
		if ch.note != "" && !noted {
			a.Caution, noted = strings.TrimSpace(ch.note+" "+a.Caution), true
		}
	}
	if d.applies != unknown {
		applies := d.applies == yes
		a.Applies, a.AppliesWhy = &applies, d.why
	}
	if d.applies != no {
		a.Freed = e.freed
		if e.enough != unknown {
			enough := e.enough == yes
			a.Enough, a.EnoughWhy = &enough, e.why
		}
	}
	return a
}

// sourceOf returns the source of an item.
func sourceOf(g *Guide, it *Item) Source {
	s := Source{Section: it.Section}
	if u := cmp.Or(it.URL, g.URL); u != "" {
		s.URL = &u
	}
	if g.Document && !it.Addition {
		s.Guide = &g.ID
	}
	return s
}

// movable reports whether a setting is not yet where it helps most.
func movable(changes []change) (why string, ok bool) {
	for i := range changes {
		switch c := &changes[i]; {
		case c.To == nil:
		case c.From != nil:
			return room(&c.Change), true
		case c.unset != "":
			return c.unset, true
		}
	}
	return "", false
}

func room(c *Change) string {
	where := map[string]string{"down": "go down", "up": "go up"}[c.Direction]
	if on, ok := parseBool(*c.From); ok {
		where = "be switched on"
		if on {
			where = "be switched off"
		}
	}
	return shown(*c.From) + " now, and it can " + cmp.Or(where, "be changed")
}

// check tests first what rules an item out, then what supports it.
func check(ctx *Context, c candidate, changes []change, e estimate) decision {
	if why := ruledOut(ctx, c.item, changes, e); why != "" {
		return decision{applies: no, why: why}
	}
	if doubtful(ctx, c.item.Requires) {
		return decision{doubtful: true}
	}
	if v, ok := decidesSize(ctx, changes); ok {
		return decision{applies: yes, why: v.why, supported: true}
	}
	if v, ok := ctx.confirmed(c.item.Supports); ok {
		return decision{applies: yes, why: v.why, supported: true}
	}
	why, canMove := movable(changes)
	if c.own && canMove {
		return decision{applies: yes, why: why}
	}
	if v := ctx.holds("shares_card"); canMove && ctx.resource == "gpu" && slices.Contains(cardTopics, c.item.Topic) && v.truth == yes {
		return decision{applies: yes, why: v.why}
	}
	return decision{}
}

// doubtful reports whether a requirement of an item is not confirmed.
func doubtful(ctx *Context, requires []string) bool {
	return slices.ContainsFunc(requires, func(c string) bool {
		return !strings.HasPrefix(c, "not ") && !strings.ContainsAny(c, "=<>") && ctx.holds(c).truth == unknown
	})
}

// certain reports whether a phase is known well enough to rule out items of other phases: an unspecified part of a step may
// be any part.
func certain(ctx *Context, acts []string) bool {
	switch ctx.phase {
	case "unknown", "":
		return false
	case "training":
		return !slices.ContainsFunc(acts, func(p string) bool {
			return p == "forward" || p == "backward" || p == "optimizer" || p == "logprob" && ctx.incident.Confidence != "high"
		})
	case "forward", "backward", "optimizer":
		return !slices.Contains(acts, "training")
	}
	return true
}

// freesForCollective reports whether an item frees memory in the training step whose collective found none.
func freesForCollective(ctx *Context, it *Item) bool {
	return it.Effect == "frees" && !slices.Contains(chunkTopics, it.Topic) && slices.Contains(it.Phases, "backward") && collectiveOfStep(ctx)
}

// collectiveOfStep reports whether a collective of a training step failed.
func collectiveOfStep(ctx *Context) bool {
	return ctx.phase == "nccl" && ctx.stackContains(60, inStep...)
}

// inStep lists functions that every training step passes through.
var inStep = []string{"train_step", "training_step", "finalize_model_grads", "start_grad_sync", "forward_backward", "optimizer_step", "optim_step"}

// beforeSteps reports whether a collective that copies weights between ranks, or to an engine, failed before the first step.
func beforeSteps(ctx *Context) bool {
	return (ctx.run.LastStep == nil || *ctx.run.LastStep < 1) && !collectiveOfStep(ctx) &&
		(ctx.passesThrough("/update_weight/") || ctx.stackContains(60, "update_weights", "sync_weights", "broadcast_weights", "sync_params_and_buffers", "load_checkpoint", "load_state_dict"))
}

// readsCheckpoint reports whether a trainer restores a checkpoint, and saves none.
func readsCheckpoint(ctx *Context) bool {
	return ctx.stackContains(80, "load_checkpoint", "_load_from_checkpoint", "_load_optimizer_and_scheduler", "load_state_dict") && !ctx.stackContains(80, "save")
}

// acts states where else an item acts. If these are many phases, it names only the one where it does not.
func acts(in []string, failed string) string {
	in = slices.DeleteFunc(slices.Clone(in), func(p string) bool { return p == "unknown" })
	if len(in) > 2 {
		if failed == string(phase.Init) {
			return "no effect at start-up"
		}
		return "no effect in " + phaseNames([]string{failed})
	}
	return "only for " + phaseNames(in)
}

func resourceNames(res []string) string {
	names := map[string]string{"gpu": "GPU", "shm": "shared"}
	return joined(res, " or ", func(id string) string { return names[id] })
}

func phaseNames(phases []string) string {
	return joined(phases, " or ", func(id string) string { return phase.ByID(id).Name })
}

// joined joins the names of words. Words without a name stay as they are.
func joined(words []string, sep string, name func(id string) string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = cmp.Or(name(w), w)
	}
	return strings.Join(out, sep)
}
