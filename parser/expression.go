package parser

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// item is a part of an expression, as far as it is told in which bytes of a text it matches.
type item struct {
	kind  itemKind
	text  string // of a text, or the anchor
	class *class
	// a text may be missing, a class matches so many bytes
	least, most int

	choices []string // texts, of which it matches one
	clauses []clause // what each match of something else holds
}

type itemKind int

const (
	otherItem itemKind = iota
	textItem
	choiceItem
	classItem
	anchorItem
	notItem // what follows is none of its choices
)

// many is more than any text has.
const many = math.MaxInt32

// class is a set of bytes. Those of other characters than ASCII are in it or not together: one of the characters may match.
type class [4]uint64

func (c *class) has(b byte) bool { return c[b>>6]&(1<<(b&63)) != 0 }

func (c *class) add(from, to rune) {
	for b := from; b <= to && b < utf8.RuneSelf; b++ {
		c[b>>6] |= 1 << (b & 63)
	}
	if to >= utf8.RuneSelf {
		c[2], c[3] = math.MaxUint64, math.MaxUint64
	}
}

// but is every byte that does not stand in the way of the class's opposite.
func (c *class) but() *class { return &class{^c[0], ^c[1], math.MaxUint64, math.MaxUint64} }

// classOf is the class of a letter behind a backslash, nil: it is none.
func classOf(letter rune) *class {
	var c class
	switch unicode.ToLower(letter) {
	case 'd':
		c.add('0', '9')
	case 'w':
		c.add('0', '9')
		c.add('A', 'Z')
		c.add('a', 'z')
		c.add('_', '_')
	case 's':
		c.add('\t', '\r')
		c.add(' ', ' ')
	default:
		return nil
	}
	if unicode.IsUpper(letter) {
		return c.but()
	}
	c.add(utf8.RuneSelf, utf8.RuneSelf)
	return &c
}

// need is what each match of a part of an expression holds.
type need struct {
	exact   []string // all texts that the part matches, when they are few; nil: they are not
	loose   bool     // an assertion stands in it, and so it may match less than its texts
	items   []item   // the parts of it that follow on each other
	clauses []clause // what is told of it else
}

// known are the clauses.
func (n *need) known() []clause { return append(slices.Clip(n.clauses), clausesOf(n.items)...) }

// best is the clause that tells most.
func (n *need) best() clause {
	var best clause
	for _, c := range n.known() {
		if len(best) == 0 || c.shortest() > best.shortest() {
			best = c
		}
	}
	return best
}

// clausesOf are the texts of parts that follow on each other, as long as they can be told, and what stands around them.
func clausesOf(items []item) []clause {
	var all []clause
	for i := 0; i < len(items); {
		all = append(all, items[i].clauses...)
		texts, end := []string{""}, i
		for ; end < len(items) && len(texts)*len(items[end].choices) <= maxChoices; end++ {
			if items[end].kind != choiceItem {
				break
			}
			texts = product(texts, items[end].choices)
		}
		if end == i {
			i++
			continue
		}
		if shortest(texts) >= minLiteral {
			before := around(items[:i], true)
			after := around(items[end:], false)
			slices.Sort(texts)
			var c clause
			for _, t := range slices.Compact(texts) {
				c = append(c, literal{[]byte(t), before, after})
			}
			all = append(all, c)
		}
		i = end
	}
	return all
}

// around are the parts next to a text, outwards, as far as they are told.
func around(items []item, back bool) []item {
	var all []item
	for i := range items {
		it := items[i]
		if back {
			it = items[len(items)-1-i]
		}
		if it.kind == choiceItem {
			it = it.aside()
		}
		if it.kind == otherItem || it.kind == choiceItem || len(all) == maxAround {
			break
		}
		if it.kind != textItem || it.text != "" {
			all = append(all, it)
		}
	}
	for len(all) > 0 && all[len(all)-1].kind == classItem && all[len(all)-1].least == 0 {
		all = all[:len(all)-1] // tells nothing
	}
	return all
}

// aside is a choice of texts as what stands beside another text, as far as that is told.
func (it *item) aside() item {
	if len(it.choices) == 1 {
		return item{kind: textItem, text: it.choices[0], least: 1}
	}
	var one class
	for _, t := range it.choices {
		if len(t) != 1 {
			return *it
		}
		one.add(rune(t[0]), rune(t[0]))
	}
	return item{kind: classItem, class: &one, least: 1, most: 1}
}

func shortest(texts []string) int {
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
	exact, loose, texts := one.exact, one.loose, slices.Clone(one.best())
	known := len(texts) > 0
	for !r.failed && strings.HasPrefix(r.rest, "|") {
		r.rest = r.rest[1:]
		one = r.sequence(depth)
		if exact != nil && one.exact != nil && len(exact)+len(one.exact) <= maxChoices {
			exact = append(slices.Clone(exact), one.exact...)
		} else {
			exact = nil
		}
		loose = loose || one.loose
		best := one.best()
		known = known && len(best) > 0
		texts = append(texts, best...)
	}
	all := need{exact: exact, loose: loose}
	if known && len(texts) <= maxTexts {
		all.clauses = []clause{texts}
	}
	return all
}

// sequence reads one alternative.
func (r *exprReader) sequence(depth int) need {
	all := need{exact: []string{""}}
	for !r.failed && r.rest != "" && r.rest[0] != '|' && r.rest[0] != ')' {
		part, width := r.part(depth)
		n, least, most := quantifier(r.rest)
		r.rest = r.rest[n:]
		all.loose = all.loose || part.loose || width == 0
		if width == 0 && n == 0 { // between two characters
			all.items = append(all.items, part.items...)
			continue
		}
		all.items = append(all.items, part.repeated(least, most)...)
		if least != 1 || most != 1 || part.exact == nil || all.exact == nil || len(all.exact)*len(part.exact) > maxChoices {
			all.exact = nil
		} else {
			all.exact = product(all.exact, part.exact)
		}
	}
	return all
}

// repeated are the parts of which a text consists that matches so often.
func (n *need) repeated(least, most int) []item {
	var one *item // of one class
	if len(n.items) == 1 && n.items[0].kind == classItem && n.items[0].least == 1 && n.items[0].most == 1 {
		one = &n.items[0]
	}
	run := func(least, most int) item {
		it := *one
		if it.least, it.most = least, most; it.class.has(utf8.RuneSelf) {
			it.most = many // bytes
		}
		return it
	}
	switch {
	case least == 1 && most == 1 && n.exact != nil:
		return []item{{kind: choiceItem, choices: n.exact}}
	case least == 1 && most == 1 && n.items != nil:
		if one != nil {
			return []item{run(1, 1)}
		}
		return n.items
	case least == 1 && most == 1:
		return []item{{clauses: n.clauses}}
	case least == 0 && one != nil:
		return []item{run(0, most)}
	case least == 0 && most == 1 && len(n.exact) == 1:
		return []item{{kind: textItem, text: n.exact[0], least: 0}}
	case least == 0:
		return []item{{}}
	case n.exact != nil && one != nil:
		return []item{{kind: choiceItem, choices: n.exact}, run(least-1, most-1)}
	case n.exact != nil:
		return []item{{kind: choiceItem, choices: n.exact}, {}}
	case one != nil:
		return []item{run(least, most)}
	}
	return []item{{clauses: n.known()}}
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
		inside := r.rest[1 : end-1]
		r.rest = r.rest[end:]
		n.exact = fewChars(inside)
		return n.ofClass(readClass(inside)), 1
	case c == '^' || c == '$':
		r.rest = r.rest[1:]
		return need{items: []item{{kind: anchorItem, text: string(c)}}}, 0
	case c == '\\' && len(r.rest) > 1:
		e, m := utf8.DecodeRuneInString(r.rest[1:])
		r.rest = r.rest[1+m:]
		switch {
		case strings.ContainsRune("xucpPk", e):
			r.failed = true // what follows belongs to it
		case strings.ContainsRune("bBAzZG", e):
			return need{}, 0
		case !unicode.IsLetter(e) && !unicode.IsDigit(e):
			return ofChar(e), 1
		}
		return n.ofClass(classOf(e)), 1
	case strings.ContainsRune("*+?{\\", c):
		r.failed = true
		return need{}, 1
	}
	r.rest = r.rest[size:]
	if c == '.' {
		var feed class
		feed.add('\n', '\n')
		return n.ofClass(feed.but()), 1
	}
	return ofChar(c), 1
}

// ofChar is the need of a character.
func ofChar(c rune) need {
	n := need{exact: []string{string(c)}}
	if c >= utf8.RuneSelf {
		return n
	}
	var one class
	one.add(c, c)
	return n.ofClass(&one)
}

// ofClass adds what one character of a class tells. nil: nothing.
func (n need) ofClass(c *class) need {
	if c != nil {
		n.items = []item{{kind: classItem, class: c, least: 1, most: 1}}
	}
	return n
}

// group reads a group. Of what an assertion looks at nothing is told, but for texts that must not follow.
func (r *exprReader) group(depth int) (n need, width int) {
	inside := r.rest[1:]
	width = 1
	not := false
	if strings.HasPrefix(inside, "?") {
		switch end := strings.IndexByte(inside, '>'); {
		case strings.HasPrefix(inside, "?:"):
			inside = inside[2:]
		case strings.HasPrefix(inside, "?="), strings.HasPrefix(inside, "?!"):
			width, not, inside = 0, inside[1] == '!', inside[2:]
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
	switch {
	case not && n.exact != nil && !n.loose:
		return need{items: []item{{kind: notItem, choices: n.exact}}}, 0
	case width == 0:
		return need{}, 0
	}
	return n, width
}

// mostInClass is how many characters of a class are told one by one.
const mostInClass = 4

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

// readClass is the class between brackets, nil when it is not understood.
func readClass(inside string) *class {
	rest, opposite := strings.CutPrefix(inside, "^")
	var all class
	for rest != "" {
		from, other, n := classChar(rest)
		if n == 0 {
			return nil
		}
		rest = rest[n:]
		if other != nil {
			for i := range all {
				all[i] |= other[i]
			}
			continue
		}
		to := from
		if len(rest) > 1 && rest[0] == '-' {
			if to, other, n = classChar(rest[1:]); n == 0 || other != nil || to < from {
				return nil
			}
			rest = rest[1+n:]
		}
		all.add(from, to)
	}
	if opposite {
		return all.but()
	}
	return &all
}

// classChar reads a character of a class, or a class in it, and returns its length, 0: it is not understood.
func classChar(s string) (c rune, of *class, n int) {
	c, n = utf8.DecodeRuneInString(s)
	switch {
	case c == '[':
		return 0, nil, 0 // may begin a class by its name, or what is taken away from this one
	case c != '\\':
		return c, nil, n
	}
	e, m := utf8.DecodeRuneInString(s[1:])
	if of = classOf(e); of == nil && (unicode.IsLetter(e) || unicode.IsDigit(e)) {
		return 0, nil, 0
	}
	return e, of, 1 + m
}

// quantifier returns the length of the quantifier that s begins with, 0: none, and how often what it repeats is there.
func quantifier(s string) (n, least, most int) {
	if s == "" {
		return 0, 1, 1
	}
	switch s[0] {
	case '?':
		n, least, most = 1, 0, 1
	case '*':
		n, least, most = 1, 0, many
	case '+':
		n, least, most = 1, 1, many
	case '{':
		end := strings.IndexByte(s, '}')
		if end < 0 {
			return 0, 1, 1 // a bracket, not a quantifier
		}
		from, to, pair := strings.Cut(s[1:end], ",")
		var ok bool
		if least, ok = count(from); !ok {
			return 0, 1, 1
		}
		n, most = end+1, least
		if pair && to == "" {
			most = many
		} else if pair {
			if most, ok = count(to); !ok {
				return 0, 1, 1
			}
		}
	default:
		return 0, 1, 1
	}
	if n < len(s) && (s[n] == '?' || s[n] == '+') {
		n++ // lazy, or possessive
	}
	return n, least, most
}

// count is a number of repetitions.
func count(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err == nil
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
