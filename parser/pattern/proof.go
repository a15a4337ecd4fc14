package pattern

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dlclark/regexp2/v2/syntax"

	"oomscan/parser"
	"oomscan/parser/literal"
)

// Fault is what is wrong with a part of a pattern: "expression", "literals[1]", "match[0]". Part is empty for all of it.
type Fault struct{ Part, What string }

// Prove returns what is wrong with a pattern by its own samples: its expression, its literals, a line that it must match and does
// not, or with other fields, and a line that it must not match.
func (p *Pattern) Prove() []Fault {
	m := Matcher{Pattern: p}
	if err := m.Compile(); err != nil {
		return []Fault{{"expression", err.Error()}}
	}
	var faults []Fault
	fault := func(part, format string, args ...any) {
		faults = append(faults, Fault{part, fmt.Sprintf(format, args...)})
	}
	if len(p.Match) == 0 {
		fault("", "a pattern without a sample proves nothing")
	}
	if len(p.Literals) == 0 && !p.Veto && (len(p.After) == 0 || p.Within == 0) {
		fault("", "no literal leads to this pattern")
	}
	for i, lit := range p.Literals {
		if len(lit) < literal.MinLen {
			fault(fmt.Sprintf("literals[%d]", i), "literal %q is too short to be rare", lit)
		}
	}
	for i, s := range p.Match {
		part := fmt.Sprintf("match[%d]", i)
		got, ok := m.FieldsOf([]rune(s.Line))
		switch {
		case !ok:
			fault(part, "must match %q", s.Line)
		case !maps.Equal(got, p.Yields(s)):
			fault(part, "%q has the fields %s, not %s", s.Line, p.written(got), p.written(s.Want))
		}
		if len(p.Literals) > 0 && !holdsOne([]byte(s.Line), p.Literals) {
			fault(part, "no literal in %q", s.Line)
		}
		if !p.MayMatch([]byte(s.Line)) {
			fault(part, "holds none of Requires: %q", s.Line)
		}
	}
	for i, line := range p.NoMatch {
		if _, ok := m.FieldsOf([]rune(line)); ok {
			fault(fmt.Sprintf("no_match[%d]", i), "must not match %q", line)
		}
	}
	if (p.Kind != "") != (p.Role != parser.Role("")) {
		fault("", "events have a role, nothing else has")
	}
	return faults
}

// written writes the fields that are not constant as the samples of a pack do.
func (p *Pattern) written(fields parser.Fields) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if _, constant := p.Set[name]; !constant {
			list = append(list, fmt.Sprintf("%s: %q", name, fields[name]))
		}
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// Bounded reports whether every repeat of an expression has an upper bound. It is for expressions that nobody reviews: what
// repeats without one can take the square of a message's length, or far more.
func Bounded(expr string) (bool, error) {
	tree, err := syntax.Parse(expr, syntax.ParseOptions{})
	return err == nil && bounded(tree.Root), err
}

func bounded(n *syntax.RegexNode) bool {
	return n.N != math.MaxInt32 && !slices.ContainsFunc(n.Children, func(c *syntax.RegexNode) bool { return !bounded(c) })
}
