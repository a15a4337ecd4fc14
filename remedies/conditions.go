package remedies

import (
	"fmt"
	"slices"
	"strings"
)

// truth is yes, no, or nobody can tell from this log.
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
	if _, ok := facts()[c.fact]; !ok {
		return c, fmt.Errorf("condition %q: no such fact", text)
	}
	return c, nil
}

// verdict is the truth of something and the reason, a clause without a period.
type verdict struct {
	truth truth
	why   string
}

// holds evaluates one condition. Guides are checked when they are decoded, so a condition that does not parse is
// unknown.
func (s *scene) holds(text string) verdict {
	if v, ok := s.held[text]; ok {
		return v
	}
	v := verdict{}
	if c, err := parseCondition(text); err == nil {
		if c.key != "" {
			v = s.compare(c)
		} else {
			v = facts()[c.fact](s, c.word)
		}
		if c.negated {
			v.truth = -v.truth
		}
	}
	s.held[text] = v
	return v
}

// compare evaluates a condition on a setting.
func (s *scene) compare(c condition) verdict {
	f, ok := s.settings.find(c.key, true)
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

// shown is a value from the log, short enough for a sentence.
func shown(v string) string {
	const most = 80
	if len(v) > most {
		cut := most
		for cut > 0 && v[cut]&0xc0 == 0x80 {
			cut--
		}
		v = v[:cut] + "..."
	}
	if v == "" {
		return "empty"
	}
	return v
}

// denied returns the first condition that is certainly false.
func (s *scene) denied(conds []string) (verdict, bool) {
	for _, c := range conds {
		if v := s.holds(c); v.truth == no {
			return v, true
		}
	}
	return verdict{}, false
}

// confirmed returns the first condition that is certainly true.
func (s *scene) confirmed(conds []string) (verdict, bool) {
	i := slices.IndexFunc(conds, func(c string) bool { return s.holds(c).truth == yes })
	if i < 0 {
		return verdict{}, false
	}
	return s.holds(conds[i]), true
}

// allTrue says that there are conditions and every one is certainly true.
func (s *scene) allTrue(conds []string) bool {
	for _, c := range conds {
		if s.holds(c).truth != yes {
			return false
		}
	}
	return len(conds) > 0
}
