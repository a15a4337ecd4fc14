package remedies

import (
	"fmt"
	"strings"
)

// change is a parameter filled in with the run's values.
type change struct {
	Change
	satisfied string // not empty: nothing is left to do, and why
	unset     string // not empty: the group that it belongs to is known to be empty
	freed     *int64
	missing   string // not empty: the run's version does not know the setting, and why
}

// absolute are the rules whose value follows from the run's other settings alone, whatever it was so far.
var absolute = map[string]bool{"budget_areal": true, "budget_start": true}

// changeOf fills a parameter in. The second result is false when the parameter is not for this run.
func (s *scene) changeOf(p *Parameter, alone bool) (change, bool) {
	if _, bad := s.denied(p.When); bad || len(p.Only) > 0 && !s.allTrue(p.Only) {
		return change{}, false
	}
	c := change{Change: Change{Key: p.Key, Direction: p.Direction, Syntax: p.Surface}}
	found, at := s.current(p, &c, alone)
	if !found && p.Found {
		return change{}, false
	}
	switch {
	case !found && p.Direction == "set" && p.Value != "":
		c.To = &p.Value
		c.unset = s.emptyGroup(p.Key)
	case found && p.Next == "" && p.Direction == "set":
		if equal(*c.From, p.Value) {
			c.satisfied = fmt.Sprintf("%s is %s already (%s)", c.Key, shown(*c.From), at)
		} else {
			c.To = &p.Value
		}
	case !found && absolute[p.Next]:
		if n := rules[p.Next](&question{scene: s, p: p, cur: "None"}); n.to != "" {
			c.To, c.ComputedFrom = &n.to, n.how
		}
	case found && p.Next != "":
		n := rules[p.Next](&question{scene: s, p: p, cur: *c.From})
		if n.bound != "" {
			c.satisfied = n.bound
		} else if n.to != "" && settled(p, *c.From, n.to) {
			c.To, c.ComputedFrom, c.freed = &n.to, n.how, n.freed
		}
	}
	if c.To != nil && c.freed == nil {
		if n, how, ok := s.stateBytes(&c); ok {
			c.freed = &n
			if c.ComputedFrom == "" {
				c.ComputedFrom = how
			}
		}
	}
	if c.To != nil && !found && !p.Plus {
		c.missing = s.missing(c.Key)
	}
	if c.To != nil {
		c.Snippet = snippet(&c.Change, p.Plus && !found)
	}
	return c, true
}

// emptyGroup finds the group of settings that a dotted key belongs to, printed as empty: then the key is not set.
func (s *scene) emptyGroup(key string) string {
	i := strings.LastIndexByte(key, '.')
	if i < 0 || !strings.Contains(key[:i], ".") {
		return ""
	}
	f, ok := s.settings.find(key[:i], false)
	if !ok || f.rank != exact || !isNone(f.value.Value) && strings.TrimSpace(f.value.Value) != "{}" {
		return ""
	}
	return f.key
}

// leastSiblings is how many settings of a group a log must print before one that is not among them counts as unknown to
// the run's version.
const leastSiblings = 3

// missing says that a run printed the group that a dotted key belongs to in full, and the key is not in it: a program of
// this version would refuse it or ignore it. Command lines and overrides are never full.
func (s *scene) missing(key string) string {
	i := strings.LastIndexByte(key, '.')
	if i < 0 || s.run.Framework != "verl" {
		return ""
	}
	n, parent := 0, key[:i+1]
	for k, v := range s.run.Config {
		if v.Form == "pprint" && strings.HasPrefix(k, parent) && !strings.Contains(k[len(parent):], ".") {
			n++
		}
	}
	if n < leastSiblings {
		return ""
	}
	return fmt.Sprintf("this run's version has no %s: the log prints the %d settings of %s, and it is not among them", key[i+1:], n, key[:i])
}

// current looks a parameter's value up under all its names, and settles under which name it is advised: the one that
// the log uses, when that is a name for the whole path, else the one of the run's version.
func (s *scene) current(p *Parameter, c *change, alone bool) (found bool, at string) {
	var best setting
	var by *Spelling
	look := func(name string, sp *Spelling) {
		if f, ok := s.settings.find(name, alone); ok && f.rank > best.rank {
			best, by = f, sp
		}
	}
	look(p.Key, nil)
	for i := range p.Spellings {
		look(p.Spellings[i].Key, &p.Spellings[i])
	}
	use := by
	if best.rank == 0 || by != nil && by.Read {
		use = nil
		for i := range p.Spellings {
			sp := &p.Spellings[i]
			if in, ok := versionIn(s.run.FrameworkVersion, sp.Versions); ok && in && !sp.Read {
				use = sp
				break
			}
		}
	}
	if use != nil {
		c.Key = use.Key
		if use.Surface != "" {
			c.Syntax = use.Surface
		}
	}
	if best.rank == 0 {
		return s.told(p, c)
	}
	if k := strings.TrimLeft(best.key, "+~"); best.rank == longer && strings.Contains(k, ".") && len(split(p.Key)) == 1 {
		if d, ok := dialects[s.run.Framework]; ok { // an engine's setting, as the framework around it writes it
			c.Key, c.Syntax = k, d
		}
	}
	switch form := best.value.Form; {
	case c.Syntax == "yaml" && strings.HasPrefix(best.key, "--"):
		c.Key, c.Syntax = best.key, "flag" // as the command line of this run writes it
	case c.Syntax == "yaml" && form == "overrides" && strings.Contains(best.key, "."):
		c.Key, c.Syntax = strings.TrimLeft(best.key, "+~"), "hydra"
	}
	v := best.value.Value
	c.From = &v
	if best.value.At.Source == "" {
		return true, best.key
	}
	return true, best.value.At.String()
}

// dialects are the surfaces of frameworks whose settings are dotted paths.
var dialects = map[string]string{"verl": "hydra", "nemo_rl": "hydra", "areal": "yaml"}

// told takes the current value from the failure itself where that prints it: the limit that Slurm enforced.
func (s *scene) told(p *Parameter, c *change) (bool, string) {
	if p.Next != "host_memory" {
		return false, ""
	}
	limit := s.in.Root.Limit
	if limit == nil || *limit < 1<<20 || s.holds("cgroup").truth != yes {
		return false, ""
	}
	v := itoa(*limit>>20) + "M"
	if *limit%(1<<30) == 0 {
		v = itoa(*limit>>30) + "G"
	}
	c.From = &v
	return true, "the limit that was enforced"
}

// settled is the last word on a computed value: it differs from the present one, is never zero, and moves in the
// parameter's direction within its bounds.
func settled(p *Parameter, from, to string) bool {
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
		return nested(key, to)
	case "flag":
		if !strings.HasPrefix(key, "-") {
			key = "--" + key // a log may print arguments without their dashes
		}
		if on, ok := parseBool(to); ok {
			if on {
				return key
			}
			return "# remove " + key
		}
		return key + " " + to
	case "env":
		return "export " + key + "=" + to
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

// nested writes a dotted key as YAML.
func nested(key, value string) string {
	var b strings.Builder
	parts := strings.Split(key, ".")
	for i, p := range parts {
		b.WriteString(strings.Repeat("  ", i))
		b.WriteString(p)
		b.WriteByte(':')
		if i < len(parts)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String() + " " + scalar(value)
}

// scalar quotes a value that YAML would read as something else.
func scalar(value string) string {
	if strings.ContainsAny(value, ":#{}[]+ ") && !strings.HasPrefix(value, "[") {
		return `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
	}
	return value
}
