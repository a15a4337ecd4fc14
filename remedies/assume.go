package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// assume fills in the next value of a setting that is not in the log: from the size of the failed request, from the program's
// default, or the lowest value that works. It skips lengths: every task sets its own, so defaults do not matter.
func (c *change) assume(ctx *Context, names *naming) {
	p := c.parameter
	if l := leverOf("", []Change{c.Change}); l != nil && l.id == "length" && !names.defaults {
		return
	}
	now, from := p.Default, p.Default+" by default: "
	if ctx.run.FrameworkVersion == "" {
		from = p.Default + recentDefault
	}
	if n, ok := tokensAsked(ctx); ok && strings.HasPrefix(p.Next, "budget_") {
		now, from = itoa(n), fmt.Sprintf("the failed micro-batch had about %s tokens: ", memory.Thousands(n))
	}
	if n, ok := packedDefault(ctx); ok && p.Next == "budget_packed" {
		now, from = itoa(n), "sequence length x micro-batch by default: "
	}
	if n, ok := cacheLength(ctx); ok && p.Next == "halve" && slices.Contains([]string{"max_seq_len", "max_model_len", "context_length"}, lastWord(p.Key)) {
		now, from = itoa(n), fmt.Sprintf("the cache was made for %s tokens: ", memory.Thousands(n))
	}
	if g, ok := memory.Reading(ctx.run, ctx.incident, "sglang.prefill"); ok && p.Next == "prefill_chunk" {
		if n, _ := g.Fields.Int("tokens"); aboveValue(itoa(n), now) {
			now, from = itoa(n), fmt.Sprintf("the last prefill had %s tokens: ", memory.Thousands(n))
		}
	}
	if p.Next == "raise_stage" && !ctx.whole {
		now = "" // DeepSpeed's own file may set it
	}
	if f, ok := parseNumber(now); ok && f > sharedShare && p.Next == "share_down" && !names.defaults && !ofWhatIsFree(p.Key) && !ctx.whole {
		now, from = fraction(sharedShare), "the log does not show it, and trainers beside an engine give it about half: "
	}
	if _, ok := parseNumber(now); !ok && (now == "" || !names.defaults) && (p.Next != "chunk" || !isNone(now)) {
		c.leastValue(ctx)
		return
	}
	v := nextValue(&paramQuery{ctx, p, now})
	inForce := names.own && now == p.Default && ctx.whole
	switch {
	case v.to != "" && allowed(p, now, v.to):
		c.To, c.ComputedFrom, c.freed, c.assumed = &v.to, from+v.how, v.freed, !names.defaults
		if inForce {
			c.From, c.assumed = &p.Default, false
		}
	case v.bound != "" && (inForce || p.Next == "budget_packed" || names.defaults && p.Next == "share_up"):
		c.satisfied = v.bound + ", by default"
	}
}

// recentDefault follows a default that the run's unknown version may not have.
const recentDefault = " by default in recent versions: "

// packedDefault returns how many tokens NeMo-RL packs into a micro-batch unless a setting says otherwise.
func packedDefault(ctx *Context) (int64, bool) {
	length, ok1 := ctx.settings.integer("policy.max_total_sequence_length")
	samples, ok2 := ctx.settings.integer("policy.train_micro_batch_size")
	return length * samples, ok1 && ok2 && samples > 0 && samples < mostSamples && length < mostTokens
}

// cacheLength returns for how many tokens the cache was made, if the size of the request shows that.
func cacheLength(ctx *Context) (int64, bool) {
	if len(ctx.request) == 0 || ctx.request[0].What != memory.LayerCache {
		return 0, false
	}
	return ctx.settings.integer(ctx.request[0].Key)
}

// sharedShare is the usual share of an engine on a card that it shares with a trainer. Few runs use a default above it.
const sharedShare = 0.5

// leastValue sets a value that helps whatever the setting is now, unless it is already set.
func (c *change) leastValue(ctx *Context) {
	switch p := c.parameter; {
	case strings.HasPrefix(p.Next, "halve_micro") && p.Min == "1" && p.Next != "halve_micro_global":
		if len(ctx.request) > 0 && ctx.request[0].Samples == 1 {
			c.satisfied = "the failed micro-batch is one sample"
			return
		}
		one := "1"
		c.To, c.ComputedFrom = &one, "one sample, the least there is; the log does not show what it is now"
	case slices.Contains([]string{"quarter", "main_process"}, p.Next) && slices.Contains([]string{"num_workers", "dataloader_num_workers"}, lastWord(p.Key)):
		none := "0"
		c.To, c.ComputedFrom = &none, "none, so that the main process loads the data; the log does not show what it is now"
	case p.Next == "raise_stage" && p.Max == "3":
		three := "3"
		c.To, c.ComputedFrom = &three, "stage 3 also splits the parameters"
	}
}

// tokensAsked returns how many tokens the failed micro-batch had, if the size of its request shows that.
func tokensAsked(ctx *Context) (int64, bool) {
	if len(ctx.request) == 0 || !ctx.request[0].Seen || ctx.request[0].Low < tokenStep {
		return 0, false
	}
	return ctx.request[0].Low, true
}

// leastFlags is the number of flags from which a command line counts as complete: a program with fewer may read the others
// from a file.
const leastFlags = 8

// shownWhole reports whether the log shows the run's command line with its settings, and no file with more of them.
func shownWhole(run *classifier.Run) bool {
	n := 0
	for k, v := range run.Config {
		plain := strings.TrimLeft(k, "-")
		switch {
		case strings.HasPrefix(plain, "zero_config"), plain == "config_file", v.Form == "megatron" && run.Backend == "deepspeed" && run.Framework == "openrlhf": // DeepSpeed's own, whoever starts it, and accelerate's
		case v.Form == "megatron", v.Form == "repr", v.Form == "yaml", plain == "args", strings.HasPrefix(plain, "config"):
			return false // the settings come from somewhere else
		case v.Form == "overrides", v.Form == "command" && (strings.HasPrefix(k, "--") || strings.Contains(k, ".")):
			n++
		}
	}
	return n >= leastFlags
}
