package remedies

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// change is a parameter of an item, filled in with the run's values.
type change struct {
	Change
	parameter *Parameter
	satisfied string // not empty: nothing is left to do, and why
	unset     string // not empty: nobody set it, and what tells that
	assumed   bool   // the log does not tell the value now: the next one follows from a default
	missing   string // not empty: the run's version does not know the setting, and why
	note      string // what the setting is called in other versions
	freed     *int64 // bytes, where the value's arithmetic tells
}

// naming is what a guide's names of parameters and those of the log tell together.
type naming struct {
	era       string         // the versions whose names the log uses, as the guide writes them; empty when it does not tell
	lastWords map[string]int // how many parameters of the guide end in the same word
	defaults  bool           // what the run does not set is as the guide's program has it by default
}

func namingOf(ctx *Context, g *Guide) *naming {
	p := programOf(ctx.run)
	n := &naming{lastWords: map[string]int{}, defaults: p.Guide == g.ID && (p.Is(classifier.Engine) || p.NoTorch) || g.ID == "jax"}
	mixed := false
	seen := map[string]bool{}
	for i := range g.Items {
		for j := range g.Items[i].Parameters {
			p := &g.Items[i].Parameters[j]
			if !seen[p.Key] {
				seen[p.Key] = true
				n.lastWords[lastWord(p.Key)]++
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
	return n
}

func lastWord(key string) string {
	parts := split(key)
	return parts[len(parts)-1]
}

// propose fills the parameters of an item in. Those that are not for this run are left out.
func propose(ctx *Context, names *naming, it *Item) []change {
	var out []change
	for i := range it.Parameters {
		if c, ok := proposeChange(ctx, names, &it.Parameters[i]); ok {
			out = append(out, c)
		}
	}
	return out
}

// open are the changes that leave something to do.
func open(changes []change) []change {
	return slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return c.satisfied != "" })
}

// satisfied are the reasons why nothing is left to do of the others.
func satisfied(changes []change) []string {
	var out []string
	for _, c := range changes {
		if c.satisfied != "" {
			out = append(out, c.satisfied)
		}
	}
	return out
}

// absolute are the rules whose value follows from the run's other settings alone, whatever it was so far.
var absolute = map[string]bool{"budget_areal": true, "budget_start": true, "object_store": true, "fit_length": true, "free_card": true, "pod_request": true}

// aboveValue reports whether what a setting is when nobody sets it is larger than the value that is advised.
func aboveValue(byDefault, advised string) bool {
	d, ok1 := parseNumber(byDefault)
	v, ok2 := parseNumber(advised)
	return ok1 && ok2 && d > v
}

// proposeChange fills a parameter in. The second result is false when the parameter is not for this run.
func proposeChange(ctx *Context, names *naming, p *Parameter) (change, bool) {
	if _, bad := ctx.denied(p.When); bad || len(p.Only) > 0 && !ctx.allTrue(p.Only) {
		return change{}, false
	}
	now := currentValue(ctx, names, p)
	found := now.from != nil
	if p.Found && (!found || p.Direction != "set" && isNone(*now.from)) {
		return change{}, false
	}
	c := change{parameter: p, Change: Change{Key: now.key, From: now.from, Direction: p.Direction, Syntax: now.syntax}}
	switch {
	case !found && p.Direction == "set" && p.Value != "" && strings.EqualFold(p.Default, p.Value):
		c.satisfied = fmt.Sprintf("%s is %s by default", c.Key, p.Value)
	case !found && p.Direction == "set" && p.Value != "":
		c.To, c.unset = &p.Value, unsetBecause(ctx, p, &c)
	case found && p.Next == "" && p.Direction == "set":
		if equal(*c.From, p.Value) {
			c.satisfied = fmt.Sprintf("%s is %s already (%s)", c.Key, shown(*c.From), now.at)
		} else {
			c.To = &p.Value
		}
	case !found && (absolute[p.Next] || p.Next == "cap" && aboveValue(p.Default, p.Value)):
		if v := nextValue(&paramQuery{ctx, p, "None"}); v.to != "" {
			c.To, c.ComputedFrom = &v.to, v.how
		}
	case found && p.Next != "":
		v := nextValue(&paramQuery{ctx, p, *c.From})
		if v.bound != "" {
			c.satisfied = v.bound
		} else if v.to != "" && allowed(p, *c.From, v.to) {
			c.To, c.ComputedFrom, c.freed = &v.to, v.how, v.freed
		}
	case p.Next != "" && !found:
		c.assume(ctx, names)
	}
	if c.satisfied == "" {
		c.note = otherNames(ctx, names, &c)
	}
	if c.From != nil && c.To != nil && isNone(*c.From) && p.Direction == "set" && strings.EqualFold(*c.To, "false") {
		c.From = nil // nobody set it: that is not the value
	}
	if c.To == nil {
		if !found && c.ComputedFrom == "" {
			c.ComputedFrom = usualStep(ctx, p)
		}
		return c, true
	}
	if !found && !p.Plus {
		c.missing = unknownToVersion(ctx, c.Key)
	}
	if c.missing == "" {
		c.Snippet = snippet(&c.Change, p.Plus && !found)
	}
	return c, true
}

// usualStep is how far a value goes at first where the log does not tell what it is now, in words; empty where nothing is usual.
func usualStep(ctx *Context, p *Parameter) string {
	switch name, _, _ := strings.Cut(p.Next, "_"); {
	case name == "halve", p.Next == "budget_tokens", p.Next == "budget_packed", p.Next == "budget_verl", p.Next == "prefill_chunk", p.Next == "prefill_tgi", p.Next == "bucket", p.Next == "fit_length", p.Next == "context":
		return "to half of what it is now"
	case name == "quarter":
		return "to a quarter of what it is now"
	case name == "double", p.Next == "ulysses", p.Next == "double_cp":
		return "to twice what it is now"
	case p.Next == "raise_stage":
		return "to 3, which also splits the parameters"
	case p.Next == "host_memory":
		return "to 1.5 times what it is now"
	case p.Next == "share_down":
		step, _ := shareFor(&paramQuery{Context: ctx, p: p}, 1)
		return fmt.Sprintf("by %.2f", math.Ceil(step*100-1e-6)/100)
	case p.Next == "share_up":
		return "by 0.05"
	case p.Next == "free_card":
		return "to the number of a card that nvidia-smi shows free"
	case p.Next == "double_tp":
		return "to twice what it is now, where there are as many GPUs (nvidia-smi -L)"
	case p.Next == "backend_cp":
		return "to a layout with context parallelism, such as fsdp:d2c2"
	}
	return ""
}

// unsetBecause says why a setting that the log does not have is known not to be set; empty when it may be.
func unsetBecause(ctx *Context, p *Parameter, c *change) string {
	if group := emptyGroup(ctx, p.Key); group != "" {
		return group + " is empty in this run"
	}
	if notOnCommandLine(ctx, p, c) {
		return c.Key + " is not on this run's command line"
	}
	return ""
}

// otherNames says what a setting is called in other versions, when neither the log's own words nor its version tell
// which name is this run's.
func otherNames(ctx *Context, names *naming, c *change) string {
	if c.From != nil || ctx.run.FrameworkVersion != "" {
		return ""
	}
	var others []string
	for _, sp := range c.parameter.Spellings {
		if names.era != "" && sp.Versions == names.era {
			return "" // the run's other settings tell which name is its own
		}
		if sp.Versions != "" && !sp.Read && sp.Key != c.Key {
			others = append(others, fmt.Sprintf("%s (%s)", sp.Key, versionWords(sp.Versions)))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return "Also written " + strings.Join(others, ", ") + "."
}

// versionWords says a range of versions in words: ">=0.3 <1.0" is "from 0.3, before 1.0".
func versionWords(versions string) string {
	words := strings.Fields(versions)
	for i, w := range words {
		for _, x := range [][2]string{{">=", "from "}, {"<=", "up to "}, {"<", "before "}, {"=", "in "}} {
			if v, ok := strings.CutPrefix(w, x[0]); ok {
				words[i] = x[1] + v
				break
			}
		}
	}
	return strings.Join(words, ", ")
}

// emptyGroup finds the group of settings that a dotted key belongs to, printed as empty: then the key is not set.
func emptyGroup(ctx *Context, key string) string {
	i := strings.LastIndexByte(key, '.')
	if i < 0 || !strings.Contains(key[:i], ".") {
		return ""
	}
	f, ok := ctx.settings.find(key[:i], false)
	if !ok || f.rank != exact || !isNone(f.value.Value) && strings.TrimSpace(f.value.Value) != "{}" {
		return ""
	}
	return f.key
}

// notOnCommandLine reports whether a switch which is off by default is not among the flags of the command line that the log shows.
func notOnCommandLine(ctx *Context, p *Parameter, c *change) bool {
	if c.Syntax != "flag" && c.Syntax != "hydra" || !isNone(p.Default) && !strings.EqualFold(p.Default, "False") {
		return false
	}
	return shownWhole(ctx)
}

// leastSiblings is how many settings of a group a log must print before one that is not among them counts as unknown to
// the run's version.
const leastSiblings = 3

// unknownToVersion says that a run printed the group that a dotted key belongs to in full, and the key is not in it: a program of
// this version would refuse it or ignore it. Command lines and overrides are never full.
func unknownToVersion(ctx *Context, key string) string {
	i := strings.LastIndexByte(key, '.')
	if i < 0 || ctx.run.Framework != "verl" {
		return ""
	}
	n, parent := 0, key[:i+1]
	for k, v := range ctx.run.Config {
		if v.Form == "pprint" && strings.HasPrefix(k, parent) && !strings.Contains(k[len(parent):], ".") {
			n++
		}
	}
	if n < leastSiblings {
		return ""
	}
	return fmt.Sprintf("this run's version has no %s: the log prints the %d settings of %s, and it is not among them", key[i+1:], n, key[:i])
}

// current is how a run writes a parameter.
type current struct {
	key, syntax string
	from        *string // the value; nil when the log does not tell
	at          string  // where it tells
}

// currentValue looks a parameter's value up under all its names, and settles under which name it is advised: the one that
// the log uses, when that is a name for the whole path, else the one of the run's version.
func currentValue(ctx *Context, names *naming, p *Parameter) current {
	if p.Surface == "words" && p.Next == "" {
		return current{key: p.Key, syntax: p.Surface} // what no setting holds
	}
	best, by := bestName(ctx, names, p)
	onlyRead := by != nil && by.Read
	if best.rank > 0 && p.Next == "slot_context" {
		best.value.Value = perSlot(ctx, best.value.Value)
	}
	if best.rank == 0 || onlyRead {
		by = spellingOf(ctx, names, p)
	}
	c := current{key: p.Key, syntax: p.Surface}
	if by != nil {
		c.key, c.syntax = by.Key, cmp.Or(by.Surface, p.Surface)
	}
	if best.rank == 0 || isNone(best.value.Value) {
		if v, at := printedValue(ctx, p); v != "" || best.rank == 0 {
			if v != "" {
				c.from, c.at = &v, at
			}
			return c
		}
	}
	if !onlyRead {
		c.key, c.syntax = asWritten(ctx, p, best, c.key, c.syntax)
	}
	c.from, c.at = &best.value.Value, best.key
	if best.value.At.Source != "" {
		c.at = best.value.At.String()
	}
	return c
}

// bestName finds the setting of the log that fits one of a parameter's names best; the spelling is nil for the name today.
func bestName(ctx *Context, names *naming, p *Parameter) (best setting, by *Spelling) {
	alone := names.lastWords[lastWord(p.Key)] <= 1 // a bare key can only mean this parameter
	best, _ = ctx.settings.find(p.Key, alone)
	for i := range p.Spellings {
		if f, ok := ctx.settings.find(p.Spellings[i].Key, alone); ok && (f.rank > best.rank || isNone(best.value.Value) && !isNone(f.value.Value)) {
			best, by = f, &p.Spellings[i]
		}
	}
	return best, by
}

// spellingOf is how the run's version writes a parameter; nil for the name today.
func spellingOf(ctx *Context, names *naming, p *Parameter) *Spelling {
	for i := range p.Spellings {
		sp := &p.Spellings[i]
		in, ok := versionIn(ctx.run.FrameworkVersion, sp.Versions)
		if !ok && ctx.run.FrameworkVersion == "" && names.era != "" {
			in, ok = sp.Versions == names.era, true
		}
		if ok && in && !sp.Read {
			return sp
		}
	}
	return nil
}

// asWritten is the key and the surface of a parameter as the log writes the setting that was found for it.
func asWritten(ctx *Context, p *Parameter, f setting, key, syntax string) (string, string) {
	form, plain := f.value.Form, strings.TrimLeft(f.key, "+~")
	framework := programOf(ctx.run)
	if f.rank == longer && strings.Contains(plain, ".") && len(split(p.Key)) == 1 {
		if d := framework.Dialect; d == "hydra" || d == "yaml" { // an engine's setting, as the framework around it writes it
			key, syntax = plain, d
		} else if form == "yaml" {
			key, syntax = plain, "yaml"
		} else if form == "overrides" || form == "command" && !strings.HasPrefix(plain, "-") {
			key, syntax = plain, "hydra"
		}
	}
	own := framework.Dialect == "" && (framework.Library || framework.ID == "")
	switch {
	case syntax == "flag" && own && (form == "pprint" || form == "repr") && !strings.HasPrefix(f.key, "-"):
		return f.key, "python" // a script of one's own: as it writes it itself
	case syntax == "flag" && own && form != "command" && !strings.HasPrefix(f.key, "-"):
		return f.key, "yaml" // or of its own file
	case syntax == "flag" && strings.HasPrefix(f.key, "--") && sameKey(f.key, key):
		return f.key, syntax // with its own dashes or underscores
	case syntax == "yaml" && strings.HasPrefix(f.key, "--"):
		return f.key, "flag" // as the command line of this run writes it
	case syntax == "yaml" && (form == "overrides" || form == "command" && !strings.HasPrefix(plain, "-")) && strings.Contains(f.key, "."):
		return plain, "hydra"
	}
	return key, syntax
}

// printedValue takes the current value from the failure itself, or from what an engine said at its start, where these
// print it; empty when they do not.
func printedValue(ctx *Context, p *Parameter) (value, at string) {
	const message = "the engine's own message"
	switch last := lastWord(p.Key); {
	case strings.HasSuffix(last, "gpu_memory_utilization"):
		if share := readField(ctx, "fraction", "vllm.free_memory"); share != "" {
			return share, message
		}
		for _, name := range []string{"vllm.usage", "vllm.budget"} {
			if g, ok := memory.Reading(ctx.run, ctx.incident, name); ok && g.Fields["fraction"] != "" {
				return g.Fields["fraction"], g.At.String()
			}
		}
	case strings.HasSuffix(last, "mem_fraction_static"):
		if share := readField(ctx, "fraction", "sglang.weights_leave_nothing", "sglang.not_enough_memory"); share != "" {
			return share, message
		}
	case strings.HasSuffix(last, "max_total_tokens") && ctx.recognized("tgi.max_total"):
		return readField(ctx, "tokens", "tgi.max_total"), message
	case last == "num_proc":
		if g, ok := memory.Reading(ctx.run, ctx.incident, "trainer.dataset_processes"); ok {
			return g.Fields["count"], g.At.String()
		}
	case last == "batch_size" && ctx.recognized("tf.tensor"):
		if n, ok := batchOfShape(ctx.text); ok {
			return itoa(n), "the first size of the tensor"
		}
	case strings.HasSuffix(last, "max_num_seqs"):
		if n := readField(ctx, "count", "vllm.warm_up", "vllm.mamba_blocks"); n != "" {
			return n, message
		}
	case p.Next == "fit_length":
		if n, ok := plannedLength(ctx); ok {
			return itoa(n), message
		}
	case p.Next == "host_memory":
		limit := ctx.root.Limit
		if limit == nil || *limit < 1<<20 || !ctx.is("cgroup") && !ctx.is("ray_monitor") {
			return "", ""
		}
		unit := cmp.Or(p.Value, "G")
		switch {
		case strings.HasPrefix(unit, " "): // in words, not to be pasted
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(*limit)/(1<<30)), ".0") + unit, "the limit that was enforced"
		case *limit%(1<<30) == 0:
			return itoa(*limit>>30) + unit, "the limit that was enforced"
		}
		return itoa(*limit>>20) + strings.NewReplacer("G", "M", "g", "m").Replace(unit), "the limit that was enforced"
	}
	return "", ""
}

// allowed is the last word on a computed value: it differs from the present one, is never zero, and moves in the
// parameter's direction within its bounds.
func allowed(p *Parameter, from, to string) bool {
	if equal(from, to) {
		return false
	}
	t, ok := parseNumber(to)
	if !ok {
		return true
	}
	if t <= 0 {
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

// snippet is a change as it is pasted.
func snippet(c *Change, plus bool) string {
	key, to := c.Key, *c.To
	switch c.Syntax {
	case "hydra":
		if plus {
			key = "+" + key
		}
		if strings.ContainsAny(to, "[]{}, ") {
			return "'" + key + "=" + to + "'"
		}
		return key + "=" + to
	case "yaml":
		return tree([]Change{*c}, false)
	case "flag":
		if !strings.HasPrefix(key, "-") {
			key = "--" + key // a log may print arguments without their dashes
		}
		if on, ok := parseBool(to); ok && (to != "on" || c.From != nil && *c.From == "0") { // llama.cpp's switches took no value once
			if on {
				return key
			}
			return "# remove " + key
		}
		if strings.ContainsAny(to, `{"`) {
			to = "'" + to + "'" // for the shell
		}
		return key + " " + to
	case "env":
		return "export " + key + "=" + to
	case "words": // of what no program reads
		return ""
	case "qsub":
		return "#PBS -l " + key + "=" + to
	case "bsub":
		return "#BSUB " + key + " " + to
	case "sbatch":
		return "#SBATCH " + key + "=" + to
	case "python":
		if strings.HasSuffix(key, ")") || strings.Contains(to, "(") {
			return to
		}
		return key + " = " + to
	}
	return to
}

// scalar quotes a value that YAML would read as something else.
func scalar(value string) string {
	if strings.ContainsAny(value, ":#{}[]+ ") && !strings.HasPrefix(value, "[") {
		return `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
	}
	return value
}
