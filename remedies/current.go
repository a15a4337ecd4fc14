package remedies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"oomscan/remedies/memory"
)

// current is how a run writes a parameter.
type current struct {
	key, syntax string
	from        *string // the value; nil if it is not in the log
	at          string  // its place in the log
}

// currentValue looks up a parameter's value under all its names and chooses the name to advise: the log's, if it is a name for
// the whole path, else the one of the run's version.
func currentValue(ctx *Context, names *naming, p *Parameter) current {
	if p.Surface == "words" && p.Next == "" {
		return current{key: p.Key, syntax: p.Surface} // what no setting holds
	}
	best, by := bestName(ctx, p)
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
	if best.rank == 0 || isNone(best.value.Value) || best.value.Value == "auto" {
		if v, at := printedValue(ctx, p); v != "" || best.rank == 0 {
			if v != "" {
				c.from, c.at = &v, at
			}
			if names.flags && c.syntax == "yaml" && depth(c.key) == 0 {
				c.key, c.syntax = "--"+c.key, "flag"
			}
			if names.path != "" && c.syntax == "flag" {
				c.key, c.syntax = names.path+plain(c.key), "yaml"
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

// bestName finds the log's setting that matches one of a parameter's names best. The spelling is nil for the current name.
func bestName(ctx *Context, p *Parameter) (best setting, by *Spelling) {
	alone := !p.namesake // a bare key can only mean this parameter
	best, _ = ctx.settings.find(p.Key, alone)
	for i := range p.Spellings {
		if f, ok := ctx.settings.find(p.Spellings[i].Key, alone); ok && (f.rank > best.rank || saysLess(p, best.value.Value) && !saysLess(p, f.value.Value) || p.Next == "context" && !applied(best, f)) {
			best, by = f, &p.Spellings[i]
		}
	}
	return best, by
}

// applied reports whether a program took the context that was asked for, by the one that it printed: some wrappers of llama.cpp do not
// pass the flag on. What it prints may be rounded up.
func applied(asked, printed setting) bool {
	n, ok := parseInt(asked.value.Value)
	m, ok2 := parseInt(printed.value.Value)
	return !ok || !ok2 || n <= 0 || m < 2*n
}

// saysLess reports whether a value under one name does not have what a value under another may have. A zero where a size has a minimum
// leaves the choice to the program.
func saysLess(p *Parameter, value string) bool {
	return isNone(value) || value == "0" && p.Min != "" || strings.HasPrefix(p.Next, "backend_") && !laidOut(value)
}

// spellingOf returns the spelling of a parameter in the run's version, or nil for the current name.
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

// asWritten returns the key and the surface of a parameter in the log's spelling.
func asWritten(ctx *Context, p *Parameter, f setting, key, syntax string) (string, string) {
	form, plain := f.value.Form, strings.TrimLeft(f.key, "+~")
	if name := identifier(plain); strings.Contains(plain, " ") && (strings.HasPrefix(key, "*") || sameKey(name, key)) {
		return name, "python" // where the script has a name, it prints words for people
	}
	if strings.HasPrefix(key, "*") {
		return plain, surfaceOf(f)
	}
	framework := programOf(ctx.run)
	if f.rank == longer && strings.Contains(plain, ".") && depth(p.Key) == 0 {
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
	case syntax == "flag" && framework.Dialect == "yaml" && form != "command" && !strings.HasPrefix(f.key, "-"):
		return f.key, "yaml"
	case syntax == "flag" && form == "toml" && strings.Contains(f.key, "."):
		return f.key, "toml" // in the file that the run was started with
	case syntax == "flag" && strings.HasPrefix(f.key, "-") && sameKey(f.key, key):
		return f.key, syntax // with its own dashes or underscores
	case (syntax == "yaml" || syntax == "python") && strings.HasPrefix(f.key, "-"):
		return f.key, "flag" // as the command line of this run writes it
	case syntax == "yaml" && (form == "overrides" || form == "command" && !strings.HasPrefix(plain, "-")) && strings.Contains(f.key, "."):
		return plain, "hydra"
	}
	return key, syntax
}

// surfaceOf returns where a setting of an unknown program is changed.
func surfaceOf(f setting) string {
	switch f.value.Form {
	case "command":
		return "flag"
	case "overrides":
		return "hydra"
	case "pprint", "repr", "script":
		return "python"
	}
	return "yaml"
}

// printedValue returns the present value from the failure itself or from an engine's messages at its start, or "" if neither
// prints it.
func printedValue(ctx *Context, p *Parameter) (value, at string) {
	const message = "the engine's own message"
	switch last := lastWord(p.Key); {
	case strings.HasSuffix(last, "gpu_memory_utilization"):
		if share := readField(ctx, "fraction", "vllm.free_memory"); share != "" {
			return share, message
		}
		for _, name := range []string{"unsloth.standby", "vllm.usage", "vllm.budget"} {
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
	case strings.HasSuffix(last, "num_proc"):
		if g, ok := memory.Reading(ctx.run, ctx.incident, "trainer.dataset_processes"); ok {
			return g.Fields["count"], g.At.String()
		}
	case last == "batch_size" && ctx.passesThrough("/lm_eval/"):
		if g, ok := memory.Reading(ctx.run, ctx.incident, "lmeval.batch"); ok {
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
		limit, whose := ctx.root.Limit, "the limit that was enforced"
		switch {
		case ctx.is("virtual_machine"):
			limit, whose = nodeRAM(ctx), "the virtual machine's memory"
		case ctx.is("cgroup"), ctx.is("ray_monitor"):
		case p.Surface == "words" && ctx.is("node_full"):
			limit, whose = nodeRAM(ctx), "the machine's memory"
		default:
			return "", ""
		}
		if limit == nil || *limit < 1<<20 {
			return "", ""
		}
		unit := cmp.Or(p.Value, "G")
		switch {
		case strings.HasPrefix(unit, " "): // in words, not to be pasted
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(*limit)/(1<<30)), ".0") + unit, whose
		case *limit%(1<<30) == 0:
			return itoa(*limit>>30) + unit, whose
		}
		return itoa(*limit>>20) + strings.NewReplacer("G", "M", "g", "m").Replace(unit), whose
	}
	return "", ""
}

// instances returns how many instances of the same model Triton had begun on the card, at least, or 0.
func instances(ctx *Context) int64 {
	g, ok := memory.Reading(ctx.run, ctx.incident, "triton.instance")
	n, read := g.Fields.Int("index")
	if !ok || !read {
		return 0
	}
	return n + 1
}

// nodeRAM returns the memory of the machine by the kernel's report, which counts pages, or by another reading, or nil. Readings that
// differ are of several machines.
func nodeRAM(ctx *Context) *int64 {
	const page = 4 << 10
	if g, ok := memory.Reading(ctx.run, ctx.incident, "kernel.ram"); ok {
		if n, read := g.Fields.Int("pages"); read {
			n *= page
			return &n
		}
	}
	if n := ctx.incident.Node; n != nil {
		return &n.Total
	}
	var total *int64
	for i := range ctx.run.Gauges {
		n, ok := ctx.run.Gauges[i].Fields.Int("host_total")
		switch {
		case !ok || n <= 0:
		case total == nil:
			total = &n
		case n > *total+*total/16 || n < *total-*total/16: // the units of free round
			return nil
		}
	}
	if g, ok := lastReading(ctx.run, "reading.free_coarse"); ok && total == nil { // GiB where the job has more than so many MiB
		n, _ := g.Fields.Int("count")
		if job := max(deref(ctx.root.Limit), deref(ctx.root.Used), deref(requestedMemory(ctx))); job < 1<<50 && job > n<<20 {
			return new(n << 30)
		}
	}
	return total
}

// missingFromVersion says that the run's version has none of the settings that are left to change.
func missingFromVersion(q *question) string {
	if left := open(q.changes); len(left) > 0 && !slices.ContainsFunc(left, func(c change) bool { return c.missing == "" }) {
		return left[0].missing
	}
	why := ""
	for i := range q.item.Parameters {
		when := slices.DeleteFunc(slices.Clone(q.item.Parameters[i].When), func(c string) bool { return !strings.HasPrefix(c, "since:") })
		v, older := q.denied(when)
		if !older {
			return ""
		}
		why = v.why
	}
	return why
}
