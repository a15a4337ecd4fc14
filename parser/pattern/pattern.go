// Package pattern describes what one message of one program looks like and what a match yields.
package pattern

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"

	"oomscan/parser"
	"oomscan/parser/literal"
)

// Program is who prints a message and what that alone proves. Of a program about which nothing more is known it is zero.
type Program struct {
	Name      string
	Framework string // that runs wherever the message is printed
	Launcher  string // that runs there
	Scheduler string // the batch system that prints it; a job has one
	// Application that prints it, where the user configures that and not a framework.
	Application string
	Allocator   string    // the library whose allocator failed; the ranks of a job have one
	Vendor      string    // of the devices; CUDA and ROCm print the same words
	Device      string    // kind of device, where only one prints the message
	Child       string    // of a launcher that reports how its processes ended: the field that names the process
	Authority   Authority // of its reports of kills
	Node        bool      // logs for a node or a cluster, about any job there
	Killer      string    // who kills, where the program reports kills for memory: kernel, ray, kubelet ...
}

// Authority ranks who reports a kill: of several reports of one kill, the highest is the root.
type Authority int8

// The authorities.
const (
	Accounted Authority = iota - 2 // in the books of a scheduler
	Counted                        // found by who counts kills afterwards
	Noticed                        // by who lost a process
	Killed                         // by the killer itself
)

// Pattern is one message of one program: what it looks like, what it yields, where it comes from, and the lines that
// prove it. Exactly one of Kind, Marker, Gauge and Veto decides what a match yields.
//
// A named group of Expr becomes a field of that name. A suffix of the name is the unit and is dropped:
//
//	x_sz   number and unit, KB/MB/GB meaning powers of 1024   x_dsz  the same, meaning powers of 1000
//	x_b    bytes   x_kib, x_mib, x_gib  number of KiB, MiB, GiB
//	x_n    a count: 7,615,616,512 or 7.62 B   x_bn  billions
//	x_sum_sz  as x_sz, summed over all captures of the group
//
// A group that took no part in the match, or took nothing, yields no field.
type Pattern struct {
	Name string // "program.message", unique
	Program
	// Literals are case-sensitive: every match of Expr contains at least one of them, and Expr is never tried on a message
	// without one. They have at least 6 bytes; choose what healthy logs seldom hold (under 1 % of lines). A Veto without them is tried on
	// each message that an event pattern matches.
	Literals []string
	// Expr is a regexp2 expression, tried on one message without its line prefix (a line cut at \r, of at most
	// [MaxMessage] bytes). It should begin with a literal and must not nest unbounded repeats.
	Expr string
	// Requires are literals of which every match holds at least one, however common they are: they spare a costly expression
	// most messages that hold one of Literals. None: the expression is tried at once.
	Requires []string

	Kind   parser.Kind // an Event of this kind
	Role   parser.Role
	Phase  string // the phase that the message itself settles
	Marker string // a Marker of this name
	Gauge  bool   // a Gauge
	// Common is set on a Marker "step" or "phase" whose lines may be a good part of a healthy log. Fewer of them are kept.
	Common bool
	// Ends is set where a launcher reports that the attempt failed, GaveUp where the whole job died of it.
	Ends, GaveUp bool
	Veto         bool // looks like memory trouble and is none: no event comes from this message
	// Whole is set on a Veto whose match at the beginning of a message holds for all of it, however long it is.
	Whole bool

	// After names a pattern that must have matched at most Within lines before, by the same writer. Such a pattern needs no
	// literal: the lines after the other one are read anyway.
	After  []string
	Within int

	Set    map[string]string // constant fields
	Tells  map[string]string // settings whose values the fields under these names are, where nothing else prints them
	Source string            // program, versions, source file: where the wording was seen
	Match  []Sample
	// NoMatch are the nearest lines that must not match this pattern.
	NoMatch []string
	// Also names patterns that may claim the same line, knowingly.
	Also []string
}

// Sample is a line that a [Pattern] must match, as a program prints it but without a line prefix, and the fields that
// must be read from it, exactly.
type Sample struct {
	Line string
	Want parser.Fields
}

// Yields is what must come out of a sample of the pattern: the fields that are read from its line, and the constant ones.
func (p *Pattern) Yields(s Sample) parser.Fields {
	all := parser.Fields{}
	maps.Copy(all, p.Set)
	maps.Copy(all, s.Want)
	return all
}

// MaxMessage bounds the bytes of one message that patterns see. Longer messages are cut around the literal.
const MaxMessage = 16 << 10

// matchTimeout bounds one match. Expressions are written not to run away; this catches the one that does. It is wall-clock
// time, and so much longer than any match: a process that waits for a processor must not lose events.
const matchTimeout = 3 * time.Second

// maxTimeouts is how often a pattern may run into matchTimeout before it is tried no more: a log may hold a million lines like the
// first one.
const maxTimeouts = 3

// Matcher matches one [Pattern]. Its expression is compiled when it is first needed: most runs need few of them. It serves any
// number of goroutines.
type Matcher struct {
	*Pattern
	compiling sync.Once
	re        *regexp2.Regexp
	err       error
	groups    []group // those with names
	sums      bool    // one of them adds up
	timeouts  atomic.Int32
}

// Compile compiles the expression, once.
func (m *Matcher) Compile() error {
	m.compiling.Do(func() {
		re, err := regexp2.Compile(m.Expr, regexp2.None)
		if err != nil {
			m.err = fmt.Errorf("pattern %s: %w", m.Name, err)
			return
		}
		re.MatchTimeout = matchTimeout
		for _, number := range re.GetGroupNumbers() {
			if name := re.GroupNameFromNumber(number); isNamed(name) {
				g := groupOf(number, name)
				m.groups, m.sums = append(m.groups, g), m.sums || g.sum
			}
		}
		m.re = re
	})
	return m.err
}

// FieldsOf tries the pattern on a message (see [Runes]) and returns its fields, which may be the pattern's own where it yields no
// event. A time-out counts as no match.
func (m *Matcher) FieldsOf(text []rune) (parser.Fields, bool) {
	if !m.usable() {
		return nil, false
	}
	if len(m.groups) == 0 {
		if !m.Matches(text) {
			return nil, false
		}
		if m.Kind == "" && m.Set != nil {
			return m.Set, true
		}
		f := make(parser.Fields, len(m.Set))
		maps.Copy(f, m.Set)
		return f, true
	}
	if m.sums {
		return m.matchSums(text)
	}
	var f parser.Fields
	err := m.re.FindRunesMatches(text, 0, func(found regexp2.MatchView) bool {
		f = make(parser.Fields, len(m.Set)+len(m.groups))
		maps.Copy(f, m.Set)
		for i := range m.groups {
			g := &m.groups[i]
			at, n, ok := found.GroupRange(g.number)
			if !ok || n == 0 {
				continue
			}
			if val, ok := g.value(string(text[at : at+n])); ok {
				f[g.key] = val
			}
		}
		return false
	})
	return f, m.inTime(err) && f != nil
}

// matchSums is FieldsOf for a pattern that adds up what a group captured.
func (m *Matcher) matchSums(text []rune) (parser.Fields, bool) {
	found, err := m.re.FindRunesMatch(text)
	if !m.inTime(err) || found == nil {
		return nil, false
	}
	f := make(parser.Fields, len(m.Set)+len(m.groups))
	maps.Copy(f, m.Set)
	for i := range m.groups {
		g := &m.groups[i]
		captured := found.GroupByNumber(g.number)
		if len(captured.Captures) == 0 || captured.RuneLength == 0 {
			continue
		}
		val, ok := g.value(captured.String())
		if g.sum {
			val, ok = sumOf(captured.Captures)
		}
		if ok {
			f[g.key] = val
		}
	}
	return f, true
}

// Matches reports whether the pattern matches a message. A time-out counts as no match.
func (m *Matcher) Matches(text []rune) bool {
	if !m.usable() {
		return false
	}
	ok, err := m.re.MatchRunes(text)
	return m.inTime(err) && ok
}

// usable reports whether the expression compiles, which the proof of a pattern settles, and has not run out of time too often.
func (m *Matcher) usable() bool { return m.Compile() == nil && m.timeouts.Load() < maxTimeouts }

// inTime counts a time-out, the only error of a match.
func (m *Matcher) inTime(err error) bool {
	if err != nil {
		m.timeouts.Add(1)
	}
	return err == nil
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

// isNamed reports whether a group has a name of its own.
func isNamed(name string) bool { return name != "" && (name[0] < '0' || name[0] > '9') }

// MayMatch reports whether a message holds one of the literals that the pattern requires.
func (p *Pattern) MayMatch(message []byte) bool {
	return len(p.Requires) == 0 || holdsOne(message, p.Requires)
}

func holdsOne(message []byte, literals []string) bool {
	return slices.ContainsFunc(literals, func(lit string) bool { return bytes.Contains(message, []byte(lit)) })
}

// Vetoes are the patterns that are a Veto.
type Vetoes []veto

// veto is a pattern with its literals, one of which must be in a message, and one of those that it requires.
type veto struct {
	*Matcher
	literals, requires []literal.Word
}

// Add adds a pattern.
func (v *Vetoes) Add(m *Matcher) {
	*v = append(*v, veto{m, literal.Words(m.Literals...), literal.Words(m.Requires...)})
}

// Match reports whether one of them matches a message (see [Runes]). Few messages come so far, and the search for the literals of
// the other patterns is faster without those of vetoes. A text that a program quotes in front of its own words hides none of these.
func (v Vetoes) Match(message []byte, text []rune) bool {
	if !v.matches(message, text) {
		return false
	}
	own := OwnWords(message)
	return own == nil || v.matches(own, Runes(nil, own))
}

func (v Vetoes) matches(message []byte, text []rune) bool {
	pairs := literal.PairsOf(message)
	holds := func(words []literal.Word) bool {
		for i := range words {
			if w := &words[i]; pairs.Have(w) && bytes.Contains(message, []byte(w.Text)) {
				return true
			}
		}
		return len(words) == 0
	}
	return slices.ContainsFunc(v, func(m veto) bool { return holds(m.literals) && holds(m.requires) && m.Matches(text) })
}

// group is a named group of an expression, which becomes a field.
type group struct {
	number int
	key    string // of the field
	unit   string
	sum    bool // of all its captures
}

// Key is the name of the field that a group of that name becomes, "" for a group without a name.
func Key(name string) string {
	if !isNamed(name) {
		return ""
	}
	return groupOf(0, name).key
}

func groupOf(number int, name string) group {
	g := group{number: number, key: name}
	if i := strings.LastIndexByte(name, '_'); i > 0 && slices.Contains(units, name[i+1:]) {
		g.key, g.unit = name[:i], name[i+1:]
	}
	if g.unit == "sz" {
		g.key, g.sum = strings.CutSuffix(g.key, "_sum")
	}
	return g
}

// units are the suffixes of groups' names.
var units = []string{"sz", "dsz", "b", "kib", "mib", "gib", "n", "bn"}

// value is the field's value for the text that the group captured.
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
	case "n":
		n, ok = ParseCount(text)
	case "bn":
		n, ok = ParseCount(text + "B")
	case "kib":
		n, ok = ParseSize(text+"KiB", true)
	case "mib":
		n, ok = ParseSize(text+"MiB", true)
	case "gib":
		n, ok = ParseSize(text+"GiB", true)
	}
	return strconv.FormatInt(n, 10), ok
}

// Runes appends a message to dst as [Matcher] takes it: as runes, invalid bytes as U+FFFD.
func Runes(dst []rune, message []byte) []rune {
	n := 0
	for n < len(message) && message[n] < utf8.RuneSelf {
		n++
	}
	at := len(dst)
	dst = slices.Grow(dst, len(message))[:at+n]
	ascii := dst[at:]
	for i, c := range message[:len(ascii)] {
		ascii[i] = rune(c)
	}
	for _, r := range string(message[n:]) {
		dst = append(dst, r)
	}
	return dst
}
