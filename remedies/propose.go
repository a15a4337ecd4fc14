package remedies

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
	"oomscan/remedies/cause"
)

// change is a parameter of an item with the run's values.
type change struct {
	Change
	parameter *Parameter
	satisfied string // not empty: nothing is left to do, and why
	unset     string // if not empty, it is not set, and this is the evidence
	assumed   bool   // the present value is not in the log: the next one follows from a default
	missing   string // not empty: the run's version does not know the setting, and why
	note      string // what the setting is called in other versions
	freed     *int64 // bytes, if the value's arithmetic has them
}

// naming is the match of a guide's names of parameters with those of the log.
type naming struct {
	era      string // the versions whose names the log uses, as the guide writes them; empty if unknown
	defaults bool   // what the run does not set is as the guide's program has it by default
	own      bool   // the guide is that of the run's program
	flags    bool   // the run writes as flags what the guide writes in YAML
	path     string // the run writes in YAML, below this, what the guide writes as flags
}

func namingOf(ctx *Context, g *Guide) *naming {
	p := programOf(ctx.run)
	n := &naming{defaults: p.Guide == g.ID && (p.Is(classifier.Engine) || p.NoTorch) || g.ID == "jax", own: p.Guide == g.ID}
	mixed, asFlags, inYAML := false, 0, 0
	paths := map[string]int{}
	for i := range g.Items {
		for j := range g.Items[i].Parameters {
			p := &g.Items[i].Parameters[j]
			f, ok := ctx.settings.find(p.Key, true)
			switch {
			case !ok:
			case p.Surface == "flag":
				paths[f.key[:strings.LastIndexByte(f.key, '.')+1]]++
			case p.Surface == "yaml" && strings.HasPrefix(f.key, "--"):
				asFlags++
			case p.Surface == "yaml" && f.value.Form != "repr": // as the program prints its arguments, wherever they come from
				inYAML++
			}
			for _, sp := range p.Spellings {
				switch {
				case sp.Versions == "" || sp.Read || sp.Key == p.Key:
				case ctx.settings.has(p.Key):
					mixed = true
				case ctx.settings.has(sp.Key):
					mixed = mixed || n.era != "" && n.era != sp.Versions
					n.era = sp.Versions
				}
			}
		}
	}
	if mixed {
		n.era = ""
	}
	n.flags = asFlags > 1 && inYAML == 0
	if len(paths) == 1 {
		n.path = slices.Collect(maps.Keys(paths))[0]
	}
	return n
}

// propose fills in an item's parameters, without those that do not suit this run, and each change once.
func propose(ctx *Context, names *naming, it *Item) []change {
	var out []change
	for i := range it.Parameters {
		c, ok := proposeChange(ctx, names, &it.Parameters[i])
		if ok && !slices.ContainsFunc(out, func(o change) bool { return c.Snippet != "" && o.Snippet == c.Snippet }) {
			out = append(out, c)
		}
	}
	return withValue(alike(ofFailed(ctx, out)))
}

// withValue drops settings that the run leaves null if another setting of the item can go down.
func withValue(changes []change) []change {
	if !slices.ContainsFunc(changes, func(c change) bool { return c.Direction == "down" && c.To != nil }) {
		return changes
	}
	return slices.DeleteFunc(changes, func(c change) bool { return c.To == nil && c.From != nil && isNone(*c.From) })
}

// ofFailed leaves out the changes for other processes if the failed one has a block of the configuration with the same setting.
func ofFailed(ctx *Context, changes []change) []change {
	for _, own := range changes {
		name, in := strings.CutPrefix(plain(own.Key), ctx.settings.block)
		if !in || ctx.settings.block == "" {
			continue
		}
		changes = slices.DeleteFunc(slices.Clone(changes), func(c change) bool {
			key := plain(c.Key)
			return !ctx.settings.failed(key) && endsIn(key, name)
		})
	}
	return changes
}

// alike writes what a guide has as flags as the log writes another setting of the same item: with the path before it.
func alike(changes []change) []change {
	i := slices.IndexFunc(changes, func(c change) bool {
		return c.From != nil && c.parameter.Surface == "flag" && c.Syntax != "flag" && strings.Contains(c.Key, ".")
	})
	if i < 0 {
		return changes
	}
	path := changes[i].Key[:strings.LastIndexByte(changes[i].Key, '.')+1]
	for j := range changes {
		c := &changes[j]
		if c.From != nil || c.Syntax != "flag" && c.Key != path+plain(c.parameter.Key) {
			continue
		}
		name := c.Key
		if s := slices.IndexFunc(changes[i].parameter.Spellings, func(s Spelling) bool { return lastWord(s.Key) == lastWord(changes[i].Key) }); s >= 0 && s < len(c.parameter.Spellings) {
			name = c.parameter.Spellings[s].Key // of the same program
		}
		c.Key, c.Syntax = path+plain(name), changes[i].Syntax
		if c.To != nil && c.Snippet != "" {
			c.Snippet = snippet(&c.Change, false)
		}
	}
	return changes
}

// open returns the changes that are still to be made.
func open(changes []change) []change {
	return slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return c.satisfied != "" })
}

// satisfied returns why the other changes are done already.
func satisfied(changes []change) []string {
	var out []string
	for _, c := range changes {
		if c.satisfied != "" {
			out = append(out, c.satisfied)
		}
	}
	return out
}

// typeBits are the bits of an element of a type, by how its name begins.
var typeBits = []struct {
	name string
	bits int
}{{"float32", 32}, {"fp32", 32}, {"f32", 32}, {"float16", 16}, {"bfloat16", 16}, {"fp16", 16}, {"bf16", 16}, {"f16", 16}, {"half", 16}, {"fp8", 8}, {"int8", 8}, {"q8", 8}, {"q5", 5}, {"iq4", 4}, {"q4", 4}, {"int4", 4}, {"fp4", 4}, {"nvfp4", 4}}

// namedBits matches the bits in the name of a quantization: turboquant_3bit_nc.
var namedBits = lazyre.New(`(?i)(?:^|[_-])([1-9])[_-]?bits?(?:[_-]|$)`)

// noWider reports whether a type has at most the bits of another.
func noWider(name, other string) bool {
	bits := func(s string) int {
		for _, t := range typeBits {
			if strings.HasPrefix(strings.ToLower(s), t.name) {
				return t.bits
			}
		}
		if m := namedBits().FindStringSubmatch(s); m != nil {
			return int(m[1][0] - '0')
		}
		return 0
	}
	a, b := bits(name), bits(other)
	return a > 0 && b > 0 && a <= b
}

// absolute lists rules whose value depends only on other settings.
var absolute = map[string]bool{"budget_areal": true, "budget_start": true, "object_store": true, "fit_length": true, "free_card": true, "one_slot": true, "pod_request": true, "card_share": true, "card_limit": true, "trial_cpus": true}

// aboveValue reports whether a setting's default is larger than the advised value.
func aboveValue(byDefault, advised string) bool {
	d, ok1 := parseNumber(byDefault)
	v, ok2 := parseNumber(advised)
	return ok1 && ok2 && d > v
}

// proposeChange fills in a parameter. The second result is false if the parameter is not for this run.
func proposeChange(ctx *Context, names *naming, p *Parameter) (change, bool) {
	if _, bad := ctx.denied(p.When); bad || len(p.Only) > 0 && !ctx.allTrue(p.Only) {
		return change{}, false
	}
	now := presentValue(ctx, names, p)
	found := now.from != nil
	if p.Found && (!found || p.Direction != "set" && (isNone(*now.from) || strings.HasPrefix(*now.from, "-"))) { // -1: the program decides
		return change{}, false
	}
	c := change{parameter: p, Change: Change{Key: now.key, From: now.from, Direction: p.Direction, Syntax: now.syntax}}
	if found {
		c.replace(ctx, now.at)
	} else {
		c.setAnew(ctx, names)
	}
	if c.satisfied == "" {
		c.note = otherNames(ctx, names, &c)
	}
	if c.To == nil {
		switch n, ok := ctx.settings.integer(p.Key); {
		case !found && c.ComputedFrom == "" && p.Next == "double_tp" && p.Default == "1":
			c.ComputedFrom = doubleStep + ", 2 where it is not set"
		case !found && c.ComputedFrom == "":
			c.ComputedFrom = usualStep(ctx, p)
		case found && ok && p.Next == "double_tp" && n < mostSamples:
			c.ComputedFrom = fmt.Sprintf("to %d if %[1]d", 2*n) + ifFree
		}
		return c, true
	}
	c.spellAsLogged()
	if !found && !p.Plus {
		c.missing = unknownToVersion(ctx, names, p, c.Key)
	}
	if c.missing == "" {
		c.Snippet = c.pasted(p.Plus && !found)
	}
	if whereSet(ctx, []Change{c.Change}) != "" {
		c.Snippet = strings.TrimPrefix(c.Snippet, "export ") // no shell starts the program
	}
	return c, true
}

// presentValue returns a parameter's value in the log, without one that says nothing of what the program did.
func presentValue(ctx *Context, names *naming, p *Parameter) current {
	now := currentValue(ctx, names, p)
	if slices.Contains([]string{"torch_dtype", "dtype"}, lastWord(p.Key)) && loadsWide(ctx) != "" && !strings.HasPrefix(now.key, "--") {
		now.from = nil // that of the checkpoint, not of what was loaded; a flag is what the user asks for
	}
	if n, ok := ctx.settings.integer("n_ctx"); ok && p.Key == "--ctx-size" && now.from != nil && *now.from == "0" {
		now.from = new(itoa(n)) // as long as the model allows
	}
	if n, _ := imagesSeen(ctx); p.Next == "images" && now.from == nil && n > 0 {
		now.from = new(itoa(n))
	}
	if p.Next == "state_cards" && now.from == nil && ctx.is("one_gpu") {
		now.from = new("1")
	}
	if _, number := parseNumber(p.Default); now.from != nil && p.Next != "" && (isNone(*now.from) && number || p.Next == "one_slot") {
		now.from = nil // the program takes its default, or chooses
	}
	return now
}

// replace chooses a value instead of the one in the log, at a place.
func (c *change) replace(ctx *Context, at string) {
	p := c.parameter
	switch {
	case p.Next != "":
		v := nextValue(&paramQuery{ctx, p, *c.From})
		if v.bound != "" {
			c.satisfied = strings.Replace(v.bound, p.Key, c.Key, 1) // as the log calls it
		} else if v.to != "" && allowed(p, *c.From, v.to) {
			c.To, c.ComputedFrom, c.freed = &v.to, v.how, v.freed
		}
	case p.Direction != "set":
	case strings.HasSuffix(p.Key, "dtype") && ctx.is("made_wide"): // what the log has is the type of a checkpoint or an engine
		c.From, c.To = nil, new(advisedValue(ctx, p))
	case equal(*c.From, p.Value), cause.KeepsNoMore(*c.From, p.Value), noWider(*c.From, p.Value) && p.Key != "--save_precision": // any other type is converted to
		c.satisfied = fmt.Sprintf("%s is %s already (%s)", c.Key, shown(*c.From), at)
	default:
		c.To = new(advisedValue(ctx, p))
	}
}

// advisedValue returns the value that a parameter is set to. A card without bf16 computes in float16,
// which MaxText's weight_dtype is not known to take.
func advisedValue(ctx *Context, p *Parameter) string {
	if strings.HasSuffix(p.Value, "bfloat16") && lastWord(p.Key) != "weight_dtype" && withoutBF16(ctx) != "" {
		return strings.TrimSuffix(p.Value, "bfloat16") + "float16"
	}
	return p.Value
}

// usualSteps maps rules, or their first words, to the usual first step of a value that is not in the log.
var usualSteps = map[string]string{
	"halve": halfStep, "toward_default": halfStep, "budget_tokens": halfStep, "budget_packed": halfStep, "budget_verl": halfStep, "prefill_chunk": halfStep, "prefill_tgi": halfStep, "bucket": halfStep, "fit_length": halfStep, "context": halfStep,
	"quarter": "to a quarter of what it is now",
	"double":  doubleStep, "ulysses": doubleStep,
	"raise_stage": "to 3, which also splits the parameters",
	"host_memory": "by half, as a first guess",
	"share_up":    "by 0.05",
	"free_card":   "to the number of a card that nvidia-smi shows free",
	"backend_cp":  "to a layout with context parallelism, such as fsdp:d2c2",
	"backend_tp":  "to a layout with tensor parallelism, such as fsdp:d2t2",
}

const (
	halfStep   = "to half of what it is now"
	doubleStep = "to twice what it is now"
	ifFree     = " GPUs are free (nvidia-smi -L)"
)

// usualStep returns the usual first step of a value that is not in the log, in words, or "" if there is none.
func usualStep(ctx *Context, p *Parameter) string {
	if p.Next == "share_down" {
		step, _ := shareFor(&paramQuery{Context: ctx, p: p}, 1)
		if f, ok := parseNumber(p.Default); ok && step < f {
			return fmt.Sprintf("by %.2f (from %s, the default, to %s)", math.Ceil(step*100-1e-6)/100, p.Default, fraction(f-math.Ceil(step*100-1e-6)/100))
		}
		return fmt.Sprintf("by %.2f", math.Ceil(step*100-1e-6)/100)
	}
	name, _, _ := strings.Cut(p.Next, "_")
	return cmp.Or(usualSteps[p.Next], usualSteps[name])
}

// unsetBecause returns why a setting missing from the log is certainly not set, or "" if it may be.
func unsetBecause(ctx *Context, p *Parameter, c *change) string {
	if group := emptyGroup(ctx, p.Key); group != "" {
		return group + " is empty in this run"
	}
	if group := groupWithout(ctx, c.Key); group != "" && (isNone(p.Default) || strings.EqualFold(p.Default, "False")) {
		return "the log prints " + group + " without it"
	}
	if notOnCommandLine(ctx, p, c) {
		return c.Key + " is not on this run's command line"
	}
	return ""
}

// allowed is the final check of a computed value: it differs from the present one, is zero only where that is the minimum, and moves in the parameter's
// direction within its bounds.
func allowed(p *Parameter, from, to string) bool {
	if equal(from, to) {
		return false
	}
	t, ok := parseNumber(to)
	if !ok {
		return true
	}
	if t < 0 || t == 0 && p.Min != "0" {
		return false
	}
	if low, ok := parseNumber(p.Min); ok && t < low {
		return false
	}
	if hi, ok := parseNumber(p.Max); ok && t > hi {
		return false
	}
	if f, ok := parseNumber(from); ok && f > 0 {
		return p.Direction == "set" || p.Direction == "down" && t < f || p.Direction == "up" && t > f
	}
	return true
}
