package parser

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2/v2"

	"oomscan/parser/envelope"
)

// Pattern is one message of one program: what it looks like, what it yields, where it comes from, and the lines that
// prove it. Exactly one of Kind, Marker, Gauge and Veto says what a match yields.
//
// A named group of Expr becomes a field of that name. A suffix of the name tells the unit and is dropped:
//
//	x_sz   number and unit, KB/MB/GB meaning powers of 1024   x_dsz  the same, meaning powers of 1000
//	x_b    bytes   x_kib, x_mib, x_gib  number of KiB, MiB, GiB
//	x_sum_sz  as x_sz, summed over all captures of the group
//
// A group that took no part in the match, or took nothing, yields no field.
type Pattern struct {
	Name string // "program.message", unique
	// Needles are literals, case-sensitive: every match of Expr contains at least one. They gate Expr: without one of
	// them in the line it is never tried. At least 6 bytes each; rare in healthy logs (under 1 % of lines).
	Needles []string
	// Expr is a regexp2 expression, tried on one message without its envelope (a line cut at \r, of at most
	// [MaxMessage] bytes). It should begin with a literal and must not nest unbounded repeats.
	Expr string

	// Gate are literals of which every match holds at least one, however common they are: they spare an expression that looks
	// far around from most messages with a needle. None: the expression is tried at once.
	Gate []string

	Kind   Kind // an Event of this kind
	Role   Role
	Phase  string // the phase that the message itself settles
	Marker string // a Marker of this name
	Gauge  bool   // a Gauge
	// Common is set on a Marker "step" or "phase" whose lines may be a good part of a healthy log. Its needles need not be rare:
	// the lines are looked for when something happened, backwards.
	Common bool
	Veto   bool // looks like memory trouble and is none: no event comes from this line
	// Whole is set on a Veto whose match at the beginning of a message speaks for all of it, however long it is.
	Whole bool

	// After names a pattern that must have matched at most Within lines before, by the same writer. Such a pattern needs no
	// needle: the lines behind the other one are read anyway.
	After  []string
	Within int

	Set    map[string]string // constant fields
	Source string            // program, versions, source file: where the wording was seen
	Match  []Sample
	// NoMatch are the nearest lines that must not match this pattern.
	NoMatch []string
	// Also names patterns that may claim the same line, knowingly.
	Also []string

	engine *engine
}

// Sample is a line that a [Pattern] must match, as a program prints it but without an envelope, and the fields that
// must come out, exactly.
type Sample struct {
	Line string
	Want Fields
}

// MaxMessage bounds the bytes of one message that patterns see. Longer messages are cut around the needle.
const MaxMessage = 16 << 10

// matchTimeout bounds one match. Expressions are written not to run away; this catches the one that does. It is a time on
// the wall, and so much longer than any match: a process that has to wait for a processor must not lose events.
const matchTimeout = 3 * time.Second

// engine is what is made of a pattern's expression when it is first needed: most runs need few of them.
type engine struct {
	compiling, reading sync.Once

	re     *regexp2.Regexp
	err    error
	groups []group  // those with names
	sums   bool     // one of them adds up
	holds  []clause // literals of Expr, of all of which every match holds one
}

// prepare gives each pattern its engine. holds are the literals of their expressions where they are known.
func prepare(all []Pattern, holds [][]clause) {
	engines := make([]engine, len(all))
	for i := range all {
		all[i].engine = &engines[i]
		if holds != nil {
			engines[i].reading.Do(func() { engines[i].holds = holds[i] })
		}
	}
}

func (p *Pattern) compile() (*regexp2.Regexp, error) {
	e := p.engine
	e.compiling.Do(func() {
		re, err := regexp2.Compile(p.Expr, regexp2.None)
		if err != nil {
			e.err = fmt.Errorf("pattern %s: %w", p.Name, err)
			return
		}
		re.MatchTimeout = matchTimeout
		for _, number := range re.GetGroupNumbers() {
			if name := re.GroupNameFromNumber(number); named(name) {
				g := groupOf(number, name)
				e.groups, e.sums = append(e.groups, g), e.sums || g.sum
			}
		}
		e.re = re
	})
	return e.re, e.err
}

func (p *Pattern) holds() []clause {
	e := p.engine
	e.reading.Do(func() { e.holds = literals(p.Expr) })
	return e.holds
}

// match tries the pattern on a message and returns its fields, which may be the pattern's own where it yields no event. A
// time-out counts as no match.
func (p *Pattern) match(text []rune) (Fields, bool) {
	re, err := p.compile()
	if err != nil {
		return nil, false // the table's test compiles every expression: not reached
	}
	e := p.engine
	if len(e.groups) == 0 {
		if found, err := re.MatchRunes(text); !found || err != nil {
			return nil, false
		}
		if p.Kind == "" && p.Set != nil {
			return p.Set, true
		}
		f := make(Fields, len(p.Set))
		maps.Copy(f, p.Set)
		return f, true
	}
	if e.sums {
		return p.matchSums(re, text)
	}
	var f Fields
	err = re.FindRunesMatches(text, 0, func(m regexp2.MatchView) bool {
		f = make(Fields, len(p.Set)+len(e.groups))
		maps.Copy(f, p.Set)
		for i := range e.groups {
			g := &e.groups[i]
			at, n, ok := m.GroupRange(g.number)
			if !ok || n == 0 {
				continue
			}
			if val, ok := g.value(string(text[at : at+n])); ok {
				f[g.key] = val
			}
		}
		return false
	})
	return f, f != nil && err == nil
}

// matchSums is match of a pattern that adds up what a group captured.
func (p *Pattern) matchSums(re *regexp2.Regexp, text []rune) (Fields, bool) {
	m, err := re.FindRunesMatch(text)
	if err != nil || m == nil {
		return nil, false
	}
	f := make(Fields, len(p.Set)+len(p.engine.groups))
	maps.Copy(f, p.Set)
	for i := range p.engine.groups {
		g := &p.engine.groups[i]
		found := m.GroupByNumber(g.number)
		if len(found.Captures) == 0 || found.RuneLength == 0 {
			continue
		}
		val, ok := g.value(found.String())
		if g.sum {
			val, ok = sumOf(found.Captures)
		}
		if ok {
			f[g.key] = val
		}
	}
	return f, true
}

// sumOf adds up sizes.
func sumOf(captures []regexp2.Capture) (string, bool) {
	var n int64
	for i := range captures {
		one, ok := ParseSize(captures[i].String(), true)
		if !ok {
			return "", false
		}
		n += one
	}
	return strconv.FormatInt(n, 10), true
}

// named says whether a group has a name of its own.
func named(name string) bool { return name != "" && (name[0] < '0' || name[0] > '9') }

// passes says whether the pattern's expression need be tried at all.
func (p *Pattern) passes(body []byte, of scope) bool {
	for _, c := range p.holds() {
		if !c.in(body, of) {
			return false
		}
	}
	return p.gated(body)
}

// gated says whether a message holds one of the literals of which the pattern asks for one.
func (p *Pattern) gated(body []byte) bool {
	return len(p.Gate) == 0 || slices.ContainsFunc(p.Gate, func(lit string) bool { return bytes.Contains(body, []byte(lit)) })
}

// observed is what a match yields that is no event.
func (p *Pattern) observed(at Position, body []byte, h envelope.Header, f Fields) Observation {
	if p.Marker != "" {
		return Marker{At: at, Header: h, Name: p.Marker, Fields: f, Text: clip(body)}
	}
	return Gauge{At: at, Header: h, Name: p.Name, Fields: f, Text: clip(body)}
}

// found says whether the pattern matches a message. A time-out counts as no match.
func (p *Pattern) found(text []rune) bool {
	re, err := p.compile()
	if err != nil {
		return false
	}
	ok, err := re.MatchRunes(text)
	return ok && err == nil
}

// group is a named group of an expression, which becomes a field.
type group struct {
	number int
	key    string // of the field
	unit   string
	sum    bool // of all its captures
}

func groupOf(number int, name string) group {
	g := group{number: number, key: name}
	if i := strings.LastIndexByte(name, '_'); i > 0 && units[name[i+1:]] {
		g.key, g.unit = name[:i], name[i+1:]
	}
	if g.unit == "sz" {
		g.key, g.sum = strings.CutSuffix(g.key, "_sum")
	}
	return g
}

// units are the suffixes of groups' names.
var units = map[string]bool{"sz": true, "dsz": true, "b": true, "kib": true, "mib": true, "gib": true}

// value is what the field says when that is what the group captured last.
func (g *group) value(text string) (string, bool) {
	var n int64
	ok := false
	switch g.unit {
	case "":
		return text, true
	case "sz", "b":
		n, ok = ParseSize(text, true)
	case "dsz":
		n, ok = ParseSize(text, false)
	case "kib":
		n, ok = ParseSize(text+"KiB", true)
	case "mib":
		n, ok = ParseSize(text+"MiB", true)
	case "gib":
		n, ok = ParseSize(text+"GiB", true)
	}
	return strconv.FormatInt(n, 10), ok
}
