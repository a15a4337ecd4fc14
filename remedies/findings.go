package remedies

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

// findingsOf returns the findings about the failure.
func findingsOf(ctx *Context, items []assessment) []string {
	return slices.DeleteFunc([]string{
		memory.Words(ctx.request), firstStep(ctx), oneSequence(ctx), engineParts(ctx), shareRange(ctx, items), smallestChange(ctx, items),
	}, func(s string) bool { return s == "" })
}

// smallestChange names the change that frees the least but is still expected to be enough.
func smallestChange(ctx *Context, items []assessment) string {
	short, ok := ctx.shortfall()
	if !ok || ctx.incident.Kind != parser.GPUOOM && ctx.incident.Kind != parser.KVCache {
		return ""
	}
	best := -1
	for i := range items {
		j := &items[i]
		if j.Enough == nil || !*j.Enough || j.Applies == nil || !*j.Applies || j.late || j.Freed == nil {
			continue
		}
		if best < 0 || *j.Freed < *items[best].Freed {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	j := &items[best]
	c := &j.Changes[slices.IndexFunc(j.Changes, func(c Change) bool { return c.To != nil })]
	from := "unset"
	if c.From != nil {
		from = shown(*c.From)
	}
	return fmt.Sprintf("The smallest change expected to make this request fit: %s %s to %s; %s, a margin of %s.", c.Key, from, shown(*c.To), j.EnoughWhy, classifier.GiB(*j.Freed-short))
}

// engineParts lists the memory that the engine reported at its start, if it is on the card in this phase.
func engineParts(ctx *Context) string {
	if ctx.resource != "gpu" || engineAwake(ctx) != yes {
		return ""
	}
	l := memory.Account(ctx.run, ctx.incident)
	if l == nil || len(l.Engine) == 0 {
		return ""
	}
	parts := make([]string, len(l.Engine))
	for i, p := range l.Engine {
		parts[i] = p.Name + " " + classifier.GiB(p.Bytes)
	}
	first := &l.Engine[0]
	return fmt.Sprintf("At start-up the engine reported: %s (%s:%d).", strings.Join(parts, ", "), first.File, first.Line)
}

// oneSequence checks an engine's figure for one sequence against the model's sizes: two tensors per layer, for every key-value
// head. It is empty if a size is unknown or the product differs.
func oneSequence(ctx *Context) string {
	each, words := oneToken(ctx)
	if each <= 0 {
		return ""
	}
	r := ctx.root
	tokens, _ := plannedLength(ctx)
	return fmt.Sprintf("One sequence of %s tokens takes %s: %s.", memory.Thousands(tokens), classifier.GiB(*r.Requested), words)
}

// oneToken returns the cache of one token by the model's sizes, and the arithmetic, if the engine's figure for one sequence
// agrees. It is 0 if it does not or a size is unknown.
func oneToken(ctx *Context) (each int64, words string) {
	r := ctx.root
	tokens, ok := plannedLength(ctx)
	if ctx.incident.Kind != parser.KVCache || r.Requested == nil || !ok || latentAttention(ctx) {
		return 0, ""
	}
	each, words = tokenBytes(ctx)
	if tokens < 1 || each <= 0 || float64(each)*float64(tokens) > 1<<60 || !memory.Printed(*r.Requested, r.Message).Holds(each*tokens) {
		return 0, ""
	}
	return each, words
}

// tokenBytes returns the size of one token in a 16-bit cache, by the model's sizes: two tensors per layer, for every key-value
// head of a rank. It is 0 if a size is unknown.
func tokenBytes(ctx *Context) (each int64, words string) {
	const most = 1 << 12
	f := ctx.model
	tp := int64(1)
	if n, ok := ctx.settings.integer(engineTP...); ok {
		tp = n
	}
	layers, kv, dim := f.Layers.Value, f.KVHeads.Value, f.HeadDim.Value
	if latentAttention(ctx) || min(layers, kv, dim) <= 0 || max(layers, kv, dim) > most || kv%tp != 0 {
		return 0, ""
	}
	named := ""
	if f.Layers.Named || f.KVHeads.Named || f.HeadDim.Named {
		named = " (sizes from the model's name)"
	}
	each = 2 * layers * kv / tp * dim * 2
	return each, fmt.Sprintf("2 x %d layers x %d key-value heads x %d x 2 bytes = %s bytes a token%s", layers, kv/tp, dim, memory.Thousands(each), named)
}

// shareRange states the range in which an engine's share works, if both ends are known.
func shareRange(ctx *Context, items []assessment) string {
	for i := range items {
		for _, c := range items[i].Changes {
			if !engineShare(c.Key) || c.From == nil {
				continue
			}
			f, ok := parseNumber(*c.From)
			if !ok || f <= 0 || f > 1 {
				continue
			}
			b := feasibleShare(ctx, c.Key, f)
			if b.low <= 0 || b.high >= 1 || b.empty() {
				return ""
			}
			return fmt.Sprintf("Safe range for %s: %s (%s) to %s (%s); now %s.", c.Key, fraction(math.Ceil(b.low*100)/100), b.lowHow, fraction(math.Floor(b.high*100)/100), b.highHow, fraction(f))
		}
	}
	return ""
}
