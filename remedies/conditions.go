package remedies

import (
	"cmp"
	"fmt"
	"strings"

	"oomscan/remedies/cause"
)

// truth is yes, no or unknown.
type truth int8

const (
	no      truth = -1
	unknown truth = 0
	yes     truth = 1
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// condition is one line of a guide's requires, supports, satisfied_when or when:
//
//	fact            a name of facts.go: fragmented
//	fact:word       one with a word: backend:fsdp
//	KEY=VALUE       the run's setting has that value; also != and, for numbers, > and <
//	not CONDITION
type condition struct {
	negated        bool
	fact, word     string
	key, op, value string
}

func parseCondition(text string) (condition, error) {
	var c condition
	if rest, ok := strings.CutPrefix(text, "not "); ok {
		c.negated, text = true, rest
	}
	for _, op := range []string{"!=", "=", ">", "<"} {
		if k, v, ok := strings.Cut(text, op); ok {
			c.key, c.op, c.value = strings.TrimSpace(k), op, strings.TrimSpace(v)
			if c.key == "" || c.value == "" {
				return c, fmt.Errorf("condition %q: needs a key and a value", text)
			}
			return c, nil
		}
	}
	c.fact, c.word, _ = strings.Cut(text, ":")
	if _, ok := facts[c.fact]; !ok {
		return c, fmt.Errorf("condition %q: no such fact", text)
	}
	return c, nil
}

// verdict is a truth value and its reason, a clause without a period.
type verdict struct {
	truth truth
	why   string
}

// stated returns the verdict of a fact that is known, and why.
func stated(is bool, yes, no string) verdict {
	if is {
		return verdict{truthOf(true), yes}
	}
	return verdict{truthOf(false), no}
}

// usuallyAsked is about how many conditions are asked for one incident, so that the map of their verdicts need not grow.
const usuallyAsked = 256

// holds evaluates one condition, once. A condition that does not parse is unknown: the check of the guides reports it.
func (ctx *Context) holds(text string) verdict {
	if v, asked := ctx.held[text]; asked {
		return v
	}
	var v verdict
	switch c, err := parseCondition(text); {
	case err != nil:
	case c.negated:
		v = ctx.holds(strings.TrimPrefix(text, "not "))
		v.truth = -v.truth
	case c.key != "":
		v = ctx.compare(c)
	default:
		v = facts[c.fact].ask(ctx, c.word)
	}
	if ctx.held != nil {
		ctx.held[text] = v
	}
	return v
}

// is reports whether a condition is certainly true.
func (ctx *Context) is(text string) bool { return ctx.holds(text).truth == yes }

// compare evaluates a condition on a setting.
func (ctx *Context) compare(c condition) verdict {
	f, ok := ctx.settings.find(c.key, true)
	if !ok {
		return verdict{}
	}
	got := f.value.Value
	why := fmt.Sprintf("%s is %s in this run", f.key, shown(got))
	switch c.op {
	case "=":
		return verdict{truthOf(equal(got, c.value)), why}
	case "!=":
		return verdict{truthOf(!equal(got, c.value)), why}
	}
	a, okA := parseNumber(got)
	b, okB := parseNumber(c.value)
	if !okA || !okB {
		return verdict{}
	}
	return verdict{truthOf(c.op == ">" && a > b || c.op == "<" && a < b), why}
}

// denied returns the first condition that is certainly false.
func (ctx *Context) denied(conds []string) (verdict, bool) {
	return ctx.first(conds, no)
}

// confirmed returns the first condition that is certainly true.
func (ctx *Context) confirmed(conds []string) (verdict, bool) {
	return ctx.first(conds, yes)
}

func (ctx *Context) first(conds []string, t truth) (verdict, bool) {
	for _, c := range conds {
		if v := ctx.holds(c); v.truth == t {
			return v, true
		}
	}
	return verdict{}, false
}

// allTrue reports whether there are conditions and every one is certainly true.
func (ctx *Context) allTrue(conds []string) bool {
	for _, c := range conds {
		if !ctx.is(c) {
			return false
		}
	}
	return len(conds) > 0
}

// inWords phrases a condition for readers without a run. Conditions that do not parse, which no guide has, stay as they
// are.
func inWords(cond string) string {
	c, err := parseCondition(cond)
	if err != nil {
		return cond
	}
	if c.key != "" {
		op := map[string]string{"=": "is", "!=": "is not", ">": "is more than", "<": "is less than"}[c.op]
		if c.negated {
			return fmt.Sprintf("not: %s %s %s", c.key, op, c.value)
		}
		return fmt.Sprintf("%s %s %s", c.key, op, c.value)
	}
	f := facts[c.fact]
	words := f.words
	if c.negated {
		words = f.negated
	}
	if strings.Contains(words, "%s") {
		return fmt.Sprintf(words, c.word)
	}
	return words
}

// found answers yes where a clue of package cause finds something, with what it says as the reason, and otherwise no.
func found(clue func(*cause.Input) string, no string) func(*Context, string) verdict {
	return func(ctx *Context, _ string) verdict {
		why := clue(ctx.input())
		return verdict{truthOf(why != ""), cmp.Or(why, no)}
	}
}
