package envelope

import (
	"fmt"
	"strconv"
	"strings"
)

// A template is the form of one line prefix, compact enough to be read beside its samples. Its syntax:
//
//	text            these bytes; a backslash quotes the next one
//	{rank}          a field, see [fields]
//	{pid:2-9}       the same with other bounds; {pad:10} has one
//	{vllm}          a part that several templates share, see [parts]
//	{a|b}           the first alternative that fits; each is a template
//	{?text}         a template that may be missing, {?a|b} one of several
//	{*text}         a template any number of times
//	{stream=a|b}    keeps what the alternatives took as that field
//	{!listing}      what follows, or what was taken, must not be that, see [checks]
//
// A choice that was made is not made again when what stands behind it does not fit.

// slot is where a field's value goes.
type slot uint8

const (
	nowhere slot = iota
	slotTime
	slotLevel
	slotRank
	slotLocal
	slotTask
	slotJob
	slotPID
	slotDevice
	slotTP
	slotDP
	slotPP
	slotEP
	slotHost
	slotProcess
	slotLogger
	slotName
	slotValue
	slotPartial
)

// capture is a value that a template took: a number, or bytes of the line.
type capture struct {
	slot slot
	n    int
	text []byte
}

// maxCaptures is the most values of one prefix.
const maxCaptures = 16

// step is one step of a compiled template.
type step struct {
	kind     kind
	lit      string
	field    field
	alts     []alternative
	optional bool
	repeated bool
	refuses  func(*matcher) bool
}

// alternative is one of a choice.
type alternative struct {
	steps []step
	first byteSet // with which a text that fits begins
	empty bool    // the empty text fits, too
}

func newAlternative(steps []step) alternative {
	a := alternative{steps: steps}
	a.empty = firstBytes(steps, &a.first)
	return a
}

type kind uint8

const (
	literal kind = iota
	number
	run
	call
	choice
	refusal
)

// matcher is a text that a template is tried on.
type matcher struct {
	scanner         // what is left
	whole   []byte  // the text
	header  *Header // what earlier prefixes said
	time    stamp   // of slotTime
	tried   triedTime
	found   int // how many captures there are
	caught  [maxCaptures]capture
}

// try matches the whole text from its start with a template.
func (m *matcher) try(steps []step) bool {
	m.b, m.found = m.whole, 0
	return m.match(steps)
}

func (m *matcher) match(steps []step) bool {
	for i := range steps {
		s := &steps[i]
		ok := false
		switch s.kind {
		case literal:
			ok = m.lit(s.lit)
		case number:
			var n int
			if n, ok = m.number(s.field.least, s.field.most); ok {
				m.keep(s.field.into, n)
			}
		case run:
			if s.field.first != 0 && !is(m.peek(), s.field.first) {
				return false
			}
			text := m.while(s.field.class, s.field.most)
			if ok = len(text) >= s.field.least && (s.field.check == nil || s.field.check(text)); ok {
				m.keepText(s.field.into, text)
			}
		case call:
			ok = (s.field.least == 0 || is(m.peek(), s.field.first)) && s.field.call(m, s.field.most)
		case choice:
			ok = m.choose(s)
		case refusal:
			ok = !s.refuses(m)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (m *matcher) choose(s *step) bool {
	from := m.scanner
	chosen := m.alternative(s)
	for again := chosen && s.repeated; again && len(m.b) > 0; {
		again = m.alternative(s)
	}
	if chosen && s.field.into != nowhere {
		m.keepText(s.field.into, from.b[:len(from.b)-len(m.b)])
	}
	return chosen || s.optional
}

// alternative takes the first alternative that fits.
func (m *matcher) alternative(s *step) bool {
	from, found, next := m.scanner, m.found, m.peek()
	for i := range s.alts {
		alt := &s.alts[i]
		if !alt.empty && !alt.first.has(next) {
			continue
		}
		if m.match(alt.steps) {
			return true
		}
		m.scanner, m.found = from, found
	}
	return false
}

func (m *matcher) keep(to slot, n int) {
	if to != nowhere && m.found < maxCaptures {
		m.caught[m.found] = capture{slot: to, n: n}
		m.found++
	}
}

func (m *matcher) keepText(to slot, text []byte) {
	if to != nowhere && m.found < maxCaptures {
		m.caught[m.found] = capture{slot: to, text: text}
		m.found++
	}
}

// last is the latest capture of a slot, nil when there is none.
func (m *matcher) last(of slot) *capture {
	for i := m.found - 1; i >= 0; i-- {
		if m.caught[i].slot == of {
			return &m.caught[i]
		}
	}
	return nil
}

// taken is what the template took so far.
func (m *matcher) taken() []byte { return m.whole[:len(m.whole)-len(m.b)] }

// appendLabel appends a label by its template, `t{job} {task}`. A number that was not in the line is 0.
func (m *matcher) appendLabel(b []byte, label []step) []byte {
	for i := range label {
		s := &label[i]
		if s.kind == literal {
			b = append(b, s.lit...)
			continue
		}
		c := m.last(s.field.into)
		switch {
		case s.field.into < slotHost && c == nil:
			b = append(b, '0')
		case s.field.into < slotHost:
			b = strconv.AppendInt(b, int64(c.n), 10)
		case c != nil:
			b = append(b, c.text...)
		}
	}
	return b
}

// compile reads a template. Templates are constants of this package: a mistake in one is a panic at start.
func compile(template string) []step { return compiled{}.compile(template) }

// compiled are parts that templates have called.
type compiled map[string]step

func (parts compiled) compile(template string) []step {
	c := compiler{rest: template, template: template, parts: parts}
	return c.sequence(false)
}

type compiler struct {
	rest, template string
	parts          compiled
}

func (c *compiler) wrong(what string) {
	panic(fmt.Sprintf("envelope: template %q: %s before %q", c.template, what, c.rest))
}

// sequence reads steps, inside braces up to the `|` or `}` behind them.
func (c *compiler) sequence(inside bool) (steps []step) {
	var text []byte
	flush := func() {
		if len(text) > 0 {
			steps = append(steps, step{kind: literal, lit: string(text)})
			text = nil
		}
	}
	for c.rest != "" && !(inside && (c.rest[0] == '|' || c.rest[0] == '}')) {
		if c.rest[0] == '{' {
			flush()
			c.rest = c.rest[1:]
			steps = append(steps, c.braces())
			continue
		}
		if c.rest[0] == '\\' {
			c.rest = c.rest[1:]
		}
		text = append(text, c.rest[0])
		c.rest = c.rest[1:]
	}
	flush()
	return steps
}

// braces reads what stands in braces, the first of which is read.
func (c *compiler) braces() step {
	n := strings.IndexFunc(c.rest, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_+*!", r) })
	if n < 0 {
		c.wrong("brace that is not closed")
	}
	name, next := c.rest[:n], c.rest[n]
	switch {
	case next == '}' && n > 0:
		c.rest = c.rest[n+1:]
		return c.named(name, "")
	case next == ':' && n > 0 && is(c.rest[n+1], digit):
		bounds, rest, _ := strings.Cut(c.rest[n+1:], "}")
		c.rest = rest
		return c.named(name, bounds)
	case next == '=' && fields[name].into != nowhere:
		c.rest = c.rest[n+1:]
		s := c.alternatives()
		s.field.into = fields[name].into
		return s
	case next == '?' && n == 0, strings.HasPrefix(name, "*"):
		c.rest = c.rest[1:]
		s := c.alternatives()
		s.optional, s.repeated = true, next != '?'
		return s
	}
	return c.alternatives()
}

// alternatives reads templates up to the closing brace.
func (c *compiler) alternatives() step {
	s := step{kind: choice}
	for {
		s.alts = append(s.alts, newAlternative(c.sequence(true)))
		if c.rest == "" {
			c.wrong("brace that is not closed")
		}
		end := c.rest[0] == '}'
		c.rest = c.rest[1:]
		if end {
			return s
		}
	}
}

// named makes the step of a field, a part or a check.
func (c *compiler) named(name, bounds string) step {
	if check, ok := strings.CutPrefix(name, "!"); ok {
		if checks[check] == nil {
			c.wrong("no check " + check)
		}
		return step{kind: refusal, refuses: checks[check]}
	}
	if parts[name] != nil {
		return c.part(name)
	}
	f, ok := fields[name]
	if !ok {
		c.wrong("no field " + name)
	}
	if bounds != "" {
		if least, most, two := strings.Cut(bounds, "-"); two {
			f.least, _ = strconv.Atoi(least)
			bounds = most
		}
		f.most, _ = strconv.Atoi(bounds)
	}
	switch {
	case f.call != nil:
		return step{kind: call, field: f}
	case f.class == digit:
		return step{kind: number, field: f}
	}
	return step{kind: run, field: f}
}

// part makes the step of a part, once for all templates that share the compiled parts.
func (c *compiler) part(name string) step {
	s, ok := c.parts[name]
	if !ok {
		s.kind = choice
		for _, alt := range parts[name] {
			s.alts = append(s.alts, newAlternative(c.parts.compile(alt)))
		}
		c.parts[name] = s
	}
	return s
}

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

func (s *byteSet) add(c byte) { s[c>>6] |= 1 << (c & 63) }

func (s *byteSet) addAll(k class) {
	for c := range 256 {
		if is(byte(c), k) {
			s.add(byte(c))
		}
	}
}

// firstBytes adds the bytes with which a text can begin that fits the steps. It reports whether the empty text fits, too.
func firstBytes(steps []step, set *byteSet) (empty bool) {
	for i := range steps {
		s := &steps[i]
		empty = false
		switch s.kind {
		case literal:
			set.add(s.lit[0])
		case number, run, call:
			if set.addAll(s.field.first); s.field.first == 0 {
				set.addAll(s.field.class)
			}
			empty = s.field.least == 0
		case choice:
			empty = s.optional
			for i := range s.alts {
				empty = firstBytes(s.alts[i].steps, set) || empty
			}
		case refusal:
			empty = true
		}
		if !empty {
			return false
		}
	}
	return true
}
