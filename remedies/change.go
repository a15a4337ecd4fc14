package remedies

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"oomscan/remedies/memory"
)

// change is a parameter filled in with the run's values.
type change struct {
	Change
	satisfied string // not empty: nothing is left to do, and why
	unset     string // not empty: nobody set it, and what tells that
	freed     *int64
	missing   string // not empty: the run's version does not know the setting, and why
}

// absolute are the rules whose value follows from the run's other settings alone, whatever it was so far.
var absolute = map[string]bool{"budget_areal": true, "budget_start": true}

// aboveValue says that what a setting is when nobody sets it is larger than the value that is advised.
func aboveValue(byDefault, advised string) bool {
	d, ok1 := parseNumber(byDefault)
	v, ok2 := parseNumber(advised)
	return ok1 && ok2 && d > v
}

// changeOf fills a parameter in. The second result is false when the parameter is not for this run.
func (s *scene) changeOf(p *Parameter, alone bool) (change, bool) {
	if _, bad := s.denied(p.When); bad || len(p.Only) > 0 && !s.allTrue(p.Only) {
		return change{}, false
	}
	c := change{Change: Change{Key: p.Key, Direction: p.Direction, Syntax: p.Surface}}
	found, at := s.current(p, &c, alone)
	if p.Found && (!found || p.Direction != "set" && isNone(*c.From)) {
		return change{}, false
	}
	switch {
	case !found && p.Direction == "set" && p.Value != "":
		c.To = &p.Value
		if group := s.emptyGroup(p.Key); group != "" {
			c.unset = group + " is empty in this run"
		} else if s.absent(p, &c) {
			c.unset = c.Key + " is not on this run's command line"
		}
	case found && p.Next == "" && p.Direction == "set":
		if equal(*c.From, p.Value) {
			c.satisfied = fmt.Sprintf("%s is %s already (%s)", c.Key, shown(*c.From), at)
		} else {
			c.To = &p.Value
		}
	case !found && (absolute[p.Next] || p.Next == "cap" && aboveValue(p.Default, p.Value)):
		if n := rules()[p.Next](&question{scene: s, p: p, cur: "None"}); n.to != "" {
			c.To, c.ComputedFrom = &n.to, n.how
		}
	case found && p.Next != "":
		n := rules()[p.Next](&question{scene: s, p: p, cur: *c.From})
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

// leastFlags is how many flags a command line must have for one that is not among them to count as not given: a program
// with fewer may take the others from a file.
const leastFlags = 8

// absent says that a switch which is off by default is not among the flags of the command line that the log shows.
func (s *scene) absent(p *Parameter, c *change) bool {
	if c.Syntax != "flag" || !isNone(p.Default) && !strings.EqualFold(p.Default, "False") {
		return false
	}
	n := 0
	for k, v := range s.run.Config {
		if v.Form == "command" && strings.HasPrefix(k, "--") {
			n++
		}
		if v.Form == "megatron" || v.Form == "repr" || v.Form == "yaml" || k == "--config" || k == "--args" {
			return false // the settings are told elsewhere
		}
	}
	return n >= leastFlags
}

// eraOf tells the versions of a run from the names it uses: those of the only older spellings of a guide's parameters
// that the log has, where no current name stands beside them. Empty when they do not agree.
func (s *scene) eraOf(g *Guide) string {
	if e, ok := s.eras[g]; ok {
		return e
	}
	era, mixed := "", false
	has := func(key string) bool { f, ok := s.settings.find(key, false); return ok && f.rank == exact }
	for i := range g.Items {
		for j := range g.Items[i].Parameters {
			p := &g.Items[i].Parameters[j]
			for _, sp := range p.Spellings {
				switch {
				case sp.Versions == "" || sp.Read || sp.Key == p.Key:
				case has(p.Key):
					mixed = true
				case has(sp.Key):
					mixed = mixed || era != "" && era != sp.Versions
					era = sp.Versions
				}
			}
		}
	}
	if mixed {
		era = ""
	}
	s.eras[g] = era
	return era
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
			in, ok := versionIn(s.run.FrameworkVersion, sp.Versions)
			if !ok && s.run.FrameworkVersion == "" && s.era != "" {
				in, ok = sp.Versions == s.era, true
			}
			if ok && in && !sp.Read {
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
	if best.rank == 0 || isNone(best.value.Value) {
		if ok, at := s.told(p, c); ok || best.rank == 0 {
			return ok, at
		}
	}
	if k := strings.TrimLeft(best.key, "+~"); best.rank == longer && strings.Contains(k, ".") && len(split(p.Key)) == 1 {
		if d, ok := dialects[s.run.Framework]; ok { // an engine's setting, as the framework around it writes it
			c.Key, c.Syntax = k, d
		} else if best.value.Form == "yaml" {
			c.Key, c.Syntax = k, "yaml"
		} else if best.value.Form == "overrides" || best.value.Form == "command" && !strings.HasPrefix(k, "-") {
			c.Key, c.Syntax = k, "hydra"
		}
	}
	own := s.run.Framework == "torch" || s.run.Framework == "unknown" || s.run.Framework == "deepspeed"
	switch form := best.value.Form; {
	case c.Syntax == "flag" && own && (form == "pprint" || form == "repr") && !strings.HasPrefix(best.key, "-"):
		c.Key, c.Syntax = best.key, "python" // a script of one's own: as it writes it itself
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

// The engine's own words for what it was told: its share of the card, the number of sequences of a step, the longest
// sequence (vllm/v1/worker/gpu_worker.py, gpu_model_runner.py, v1/core/kv_cache_utils.py).
var (
	toldShare = expression(`desired gpu memory utilization \((0?\.[0-9]{1,6}|1(?:\.0)?), `)
	toldSeqs  = expression(`warming up sampler with ([0-9]{1,6}) dummy requests`)
)

// told takes the current value from the failure itself, or from what an engine said at its start, where these print it.
func (s *scene) told(p *Parameter, c *change) (bool, string) {
	said := func(v, where string) (bool, string) {
		c.From = &v
		return true, where
	}
	last := split(p.Key)[len(split(p.Key))-1]
	switch {
	case strings.HasSuffix(last, "gpu_memory_utilization"):
		if m := toldShare().FindStringSubmatch(s.words); m != nil {
			return said(m[1], "the engine's own message")
		}
		for _, name := range []string{"vllm.usage", "vllm.budget"} {
			if g, ok := memory.Reading(s.run, s.in, name); ok && g.Fields["fraction"] != "" {
				return said(g.Fields["fraction"], g.At.String())
			}
		}
		return false, ""
	case strings.HasSuffix(last, "max_num_seqs"):
		if m := toldSeqs().FindStringSubmatch(s.words); m != nil {
			return said(m[1], "the engine's own message")
		}
		return false, ""
	case p.Next == "fit_length":
		if m := longest().FindStringSubmatch(s.in.Root.Message); m != nil {
			return said(m[1], "the engine's own message")
		}
		return false, ""
	case p.Next != "host_memory":
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

// expression is a regular expression that is compiled when it is first asked for: most runs need few of them.
func expression(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
