package remedies

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// setAnew chooses a value for a setting that is not in the log.
func (c *change) setAnew(ctx *Context, names *naming) {
	p := c.parameter
	switch {
	case p.Direction == "set" && p.Value != "" && strings.EqualFold(p.Default, p.Value):
		c.satisfied = fmt.Sprintf("%s is %s by default", c.Key, p.Value)
	case p.Direction == "set" && p.Value != "":
		c.To, c.unset = new(advisedValue(ctx, p)), unsetBecause(ctx, p, c)
	case absolute[p.Next], p.Next == "cap" && (strings.EqualFold(p.Default, "none") || aboveValue(p.Default, p.Value)):
		if v := nextValue(&paramQuery{ctx, p, "None"}); v.to != "" {
			c.To, c.ComputedFrom = &v.to, v.how
		}
	case p.Next != "":
		c.assume(ctx, names)
	}
}

// spellAsLogged writes switches as the log does, and leaves out a value that means that nothing is set.
func (c *change) spellAsLogged() {
	if c.From == nil {
		return
	}
	if isNone(*c.From) && c.Direction == "set" && strings.EqualFold(*c.To, "false") {
		c.From = nil
		return
	}
	if c.Syntax != "python" && (*c.From == "true" || *c.From == "false") && (*c.To == "True" || *c.To == "False") {
		c.To = new(strings.ToLower(*c.To))
	}
}

// otherNames returns the names of a setting in other versions, if neither the log's names nor its version decide which one
// this run uses.
func otherNames(ctx *Context, names *naming, c *change) string {
	if c.From != nil || ctx.run.FrameworkVersion != "" {
		return ""
	}
	var others []string
	for _, sp := range c.parameter.Spellings {
		if names.era != "" && sp.Versions == names.era {
			return "" // the run's other settings decide the name
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

// versionWords returns a range of versions in words: ">=0.3 <1.0" is "from 0.3, before 1.0".
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

// groupWithout returns the group of a dotted key if the log shows a YAML file with other settings of it: what its author
// set is there.
func groupWithout(ctx *Context, key string) string {
	i := strings.LastIndexByte(key, '.')
	if i < 0 {
		return ""
	}
	n, group := 0, key[:i]
	for k, v := range ctx.run.Config {
		if v.Form == "yaml" && strings.HasPrefix(k, group+".") {
			n++
		}
	}
	if n < leastSiblings {
		return ""
	}
	return group
}

// notOnCommandLine reports whether a switch that is off by default is missing from the command line in the log.
func notOnCommandLine(ctx *Context, p *Parameter, c *change) bool {
	if c.Syntax != "flag" && c.Syntax != "hydra" || !isNone(p.Default) && !strings.EqualFold(p.Default, "False") {
		return false
	}
	return ctx.whole
}

// leastSiblings is how many settings of a group a log must print for a missing one to count as unknown to the run's version.
const leastSiblings = 3

// leastArguments is how many arguments a program has that prints all of them in one line. People cut such lines when they quote them.
const leastArguments = 60

// unknownToVersion returns evidence that a run printed all settings of a parameter's group, or all arguments of its program, without
// the parameter: this version of the program would reject or ignore it. Command lines and overrides are never complete.
func unknownToVersion(ctx *Context, names *naming, p *Parameter, key string) string {
	i := strings.LastIndexByte(key, '.')
	switch {
	case names.own && strings.HasPrefix(p.Key, "--"):
		lines := map[string]int{}
		for k, v := range ctx.run.Config {
			if v.Form == "repr" {
				if lines[v.At.String()]++; sameKey(k, p.Key) || slices.ContainsFunc(p.Spellings, func(s Spelling) bool { return sameKey(k, s.Key) }) {
					return ""
				}
			}
		}
		if n := slices.Max(append(slices.Collect(maps.Values(lines)), 0)); n >= leastArguments {
			return fmt.Sprintf("this run's version has no %s: the log prints its %d arguments, and it is not among them", p.Key, n)
		}
		return ""
	case i < 0 || ctx.run.Framework != "verl":
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
