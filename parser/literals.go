package parser

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of [literals].
const (
	minLiteral  = 4  // bytes: shorter ones are in most lines
	maxClauses  = 4  // of an expression
	maxChoices  = 12 // texts of a clause
	mostInClass = 4  // characters of a class whose texts are told
)

// clause is a choice of texts, of which each match of an expression holds one.
type clause [][]byte

// in says whether a text holds one of them.
func (c clause) in(text []byte) bool {
	for _, lit := range c {
		if bytes.Contains(text, lit) {
			return true
		}
	}
	return false
}

// literals returns what each match of a regexp2 expression holds: of every clause a text. What cannot be told, as under
// options, is left out; an expression that is not understood has none. Searching for texts is far cheaper than matching.
func literals(expr string) []clause {
	if strings.Contains(expr, "(?i") || strings.Contains(expr, "(?x") || strings.Contains(expr, "(?n") ||
		strings.ContainsRune(expr, utf8.RuneError) { // which bytes match that is not told
		return nil
	}
	r := exprReader{rest: expr}
	n := r.choice(0)
	if r.failed || r.rest != "" {
		return nil
	}
	n.end(n.exact)
	slices.SortStableFunc(n.clauses, func(a, b []string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(shortest(b), shortest(a)))
	})
	all := slices.CompactFunc(n.clauses, slices.Equal)
	var out []clause
	for _, c := range all[:min(len(all), maxClauses)] {
		var texts clause
		for _, lit := range c {
			if !slices.ContainsFunc(c, func(other string) bool { return other != lit && strings.Contains(lit, other) }) {
				texts = append(texts, []byte(lit))
			}
		}
		out = append(out, texts)
	}
	return out
}

// need is what each match of a part of an expression holds.
type need struct {
	exact   []string // all texts that the part matches, when they are few; nil: they are not
	clauses [][]string
}

// end takes the texts of a run as a clause.
func (n *need) end(run []string) {
	if len(run) > 0 && shortest(run) >= minLiteral {
		slices.Sort(run)
		n.clauses = append(n.clauses, slices.Compact(run))
	}
}

// best is the clause that tells most, the part's own texts among them.
func (n *need) best() []string {
	var best []string
	for _, c := range append(n.clauses, n.exact) {
		if len(c) > 0 && shortest(c) > shortest(best) {
			best = c
		}
	}
	return best
}

func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	least := len(texts[0])
	for _, t := range texts {
		least = min(least, len(t))
	}
	return least
}

// exprReader reads an expression from its front.
type exprReader struct {
	rest   string
	failed bool // something is not understood
}

// maxNested bounds the groups in each other.
const maxNested = 50

// choice reads alternatives up to the end of their group.
func (r *exprReader) choice(depth int) need {
	one := r.sequence(depth)
	if r.failed || !strings.HasPrefix(r.rest, "|") {
		return one
	}
	all := need{exact: one.exact}
	texts := slices.Clone(one.best())
	known := len(texts) > 0
	for !r.failed && strings.HasPrefix(r.rest, "|") {
		r.rest = r.rest[1:]
		one = r.sequence(depth)
		if all.exact != nil && one.exact != nil && len(all.exact)+len(one.exact) <= maxChoices {
			all.exact = append(slices.Clone(all.exact), one.exact...)
		} else {
			all.exact = nil
		}
		best := one.best()
		known = known && len(best) > 0
		texts = append(texts, best...)
	}
	if known && shortest(texts) >= minLiteral && len(texts) <= maxChoices && all.exact == nil {
		all.clauses = append(all.clauses, texts)
	}
	return all
}

// sequence reads one alternative.
func (r *exprReader) sequence(depth int) need {
	var all need
	run, whole := []string{""}, true // the texts since the last part that is not known, and whether that is all
	cut := func() {
		all.end(run)
		run, whole = []string{""}, false
	}
	for !r.failed && r.rest != "" && r.rest[0] != '|' && r.rest[0] != ')' {
		part, width := r.part(depth)
		n, optional := quantifier(r.rest)
		r.rest = r.rest[n:]
		switch {
		case width == 0 && n == 0:
			continue // between two characters
		case optional:
			cut()
			continue
		}
		all.clauses = append(all.clauses, part.clauses...)
		if part.exact == nil || len(part.exact)*len(run) > maxChoices {
			cut()
			if part.exact == nil {
				continue
			}
		}
		run = product(run, part.exact)
		if n > 0 {
			cut()
		}
	}
	if whole {
		all.exact = run
	} else {
		all.end(run)
	}
	return all
}

// product is every text of a with every one of b behind it.
func product(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

// part reads a character, a class, a group or an assertion. width 0: it takes no character.
func (r *exprReader) part(depth int) (n need, width int) {
	c, size := utf8.DecodeRuneInString(r.rest)
	switch {
	case c == '(':
		return r.group(depth)
	case c == '[':
		end := classLen(r.rest)
		if end == 0 {
			r.failed = true
			return need{}, 1
		}
		n.exact = fewChars(r.rest[1 : end-1])
		r.rest = r.rest[end:]
		return n, 1
	case c == '^' || c == '$':
		r.rest = r.rest[1:]
		return need{}, 0
	case c == '\\' && len(r.rest) > 1:
		e, m := utf8.DecodeRuneInString(r.rest[1:])
		r.rest = r.rest[1+m:]
		switch {
		case strings.ContainsRune("xucpPk", e):
			r.failed = true // what follows belongs to it
		case strings.ContainsRune("bBAzZG", e):
			return need{}, 0
		case !unicode.IsLetter(e) && !unicode.IsDigit(e):
			n.exact = []string{string(e)}
		}
		return n, 1
	case strings.ContainsRune("*+?{\\", c):
		r.failed = true
		return need{}, 1
	}
	r.rest = r.rest[size:]
	if c != '.' {
		n.exact = []string{string(c)}
	}
	return n, 1
}

// group reads a group. Of what an assertion looks at nothing is told.
func (r *exprReader) group(depth int) (n need, width int) {
	inside := r.rest[1:]
	width = 1
	if strings.HasPrefix(inside, "?") {
		switch end := strings.IndexByte(inside, '>'); {
		case strings.HasPrefix(inside, "?:"):
			inside = inside[2:]
		case strings.HasPrefix(inside, "?="), strings.HasPrefix(inside, "?!"):
			width, inside = 0, inside[2:]
		case strings.HasPrefix(inside, "?<="), strings.HasPrefix(inside, "?<!"):
			width, inside = 0, inside[3:]
		case strings.HasPrefix(inside, "?<") && end > 0, strings.HasPrefix(inside, "?>"):
			inside = inside[end+1:]
		default:
			r.failed = true
		}
	}
	if depth == maxNested {
		r.failed = true
	}
	if r.failed {
		return need{}, 1
	}
	r.rest = inside
	n = r.choice(depth + 1)
	if !strings.HasPrefix(r.rest, ")") {
		r.failed = true
		return need{}, 1
	}
	r.rest = r.rest[1:]
	if width == 0 {
		n = need{}
	}
	return n, width
}

// fewChars are the characters of a class, when they are few and plain: nil else.
func fewChars(class string) []string {
	if strings.ContainsAny(class, `^\-[`) {
		return nil
	}
	var all []string
	for _, c := range class {
		all = append(all, string(c))
	}
	if len(all) > mostInClass {
		return nil
	}
	return all
}

// quantifier returns the length of the quantifier that s begins with, 0: none, and whether what it repeats may be missing.
func quantifier(s string) (n int, optional bool) {
	if s == "" {
		return 0, false
	}
	switch s[0] {
	case '?', '*':
		n, optional = 1, true
	case '+':
		n = 1
	case '{':
		n = 1
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == ',' && n > 1) {
			n++
		}
		if n == 1 || n == len(s) || s[n] != '}' {
			return 0, false // a bracket, not a quantifier
		}
		n++
		optional = strings.HasPrefix(s, "{0")
	default:
		return 0, false
	}
	if n < len(s) && (s[n] == '?' || s[n] == '+') {
		n++ // lazy, or possessive
	}
	return n, optional
}

// classLen returns the length of the character class that s begins with, 0 when it has no end.
func classLen(s string) int {
	i := 1
	if i < len(s) && s[i] == '^' {
		i++
	}
	for first := i; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ']':
			if i > first {
				return i + 1
			}
		}
	}
	return 0
}
