package pack

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2/v2"

	"oomscan/classifier/phase"
	oom "oomscan/parser"
	"oomscan/parser/literal"
	"oomscan/parser/messages"
	"oomscan/parser/pattern"
)

// Limits of a pattern.
const (
	maxLiterals   = 32
	maxSamples    = 50
	maxExpression = 4 << 10
)

var (
	nameForm    = regexp.MustCompile(`^[a-z0-9]+(\.[a-z0-9_]+)+$`)
	programForm = regexp.MustCompile(`^[a-z0-9_]+$`)
	roles       = []string{"", string(oom.Evidence), string(oom.Detail), string(oom.Suspicion), string(oom.Consequence)}
	markers     = []string{"", "launch", "step", "phase"}
)

// knownFields returns the names of fields in the built-in patterns. Nothing uses others.
var knownFields = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, p := range messages.All() {
		for _, s := range p.Match {
			for name := range p.Yields(s) {
				m[name] = true
			}
		}
	}
	return m
})

// check validates an entry's words.
func (e *entry) check() []pattern.Fault {
	var faults []pattern.Fault
	refuse := func(wrong bool, part, format string, args ...any) {
		if wrong {
			faults = append(faults, pattern.Fault{Part: part, What: fmt.Sprintf(format, args...)})
		}
	}
	oneOf := func(part, value string, words []string) {
		refuse(!slices.Contains(words, value), part, "%s %q is none of %s", part, value, strings.Join(words, " "))
	}
	var kinds []string
	for _, k := range oom.Kinds() {
		kinds = append(kinds, string(k))
	}
	yields := 0
	for _, y := range []bool{e.Kind != "", e.Marker != "", e.Ignore} {
		if y {
			yields++
		}
	}
	refuse(!nameForm.MatchString(e.Name), "name", "a name is PROGRAM.MESSAGE in small letters, digits and _")
	refuse(e.Program != "" && !programForm.MatchString(e.Program), "program", "a program is one word in small letters, digits and _")
	refuse(yields != 1, "", "it needs one of kind, marker and ignore")
	oneOf("kind", e.Kind, append(kinds, ""))
	oneOf("role", e.Role, roles)
	oneOf("phase", e.Phase, append(phase.Known(), ""))
	oneOf("marker", e.Marker, markers)
	refuse(e.Role != "" && e.Kind == "", "role", "only a pattern with a kind has a role")
	refuse(e.Marker == "phase" && e.Phase == "", "marker", "which phase? say phase: rollout")
	refuse(e.Marker == "launch" && e.Program == "", "marker", "which program? say program: NAME")
	refuse(len(e.Literals) > maxLiterals, "literals", "%d literals, and %d are the most", len(e.Literals), maxLiterals)
	refuse(len(e.Match)+len(e.NoMatch) > maxSamples, "match", "%d samples, and %d are the most", len(e.Match)+len(e.NoMatch), maxSamples)
	refuse(e.Expression == "" || len(e.Expression) > maxExpression, "expression", "an expression has 1 to %d bytes", maxExpression)
	return faults
}

// fits reports whether an entry is small enough to be checked further.
func (e *entry) fits() bool {
	return len(e.Literals) <= maxLiterals && len(e.Match)+len(e.NoMatch) <= maxSamples && e.Expression != "" && len(e.Expression) <= maxExpression
}

// checkLiterals validates an entry's literals.
func (e *entry) checkLiterals() []pattern.Fault {
	var faults []pattern.Fault
	for i, lit := range e.Literals {
		part := fmt.Sprintf("literals[%d]", i)
		if len(lit) > literal.MaxLen || strings.Contains(lit, "\n") {
			faults = append(faults, pattern.Fault{Part: part, What: fmt.Sprintf("a literal has at most %d bytes and no line feed", literal.MaxLen)})
		}
		if !slices.ContainsFunc(e.Match, func(s sample) bool { return strings.Contains(s.Line, lit) }) {
			faults = append(faults, pattern.Fault{Part: part, What: fmt.Sprintf("no sample holds the literal %q", lit)})
		}
	}
	return faults
}

// prove validates a pattern by itself.
func prove(p *pattern.Pattern) []pattern.Fault {
	expression := func(format string, args ...any) []pattern.Fault {
		return []pattern.Fault{{Part: "expression", What: fmt.Sprintf(format, args...)}}
	}
	re, err := regexp2.Compile(p.Expr, regexp2.None)
	if err != nil {
		return expression("%v", err)
	}
	if bounded, err := pattern.Bounded(p.Expr); err != nil || !bounded {
		return expression("a repeat without an upper bound: write {0,200} for *, {1,200} for +")
	}
	if line := slowLine(re, p); line != "" {
		return expression("it takes too long to match %.80q: let fewer repeats overlap", line)
	}
	faults := p.Prove()
	for _, group := range re.GetGroupNames() {
		if key := pattern.Key(group); key != "" && !knownFields()[key] {
			faults = append(faults, expression("nothing uses a field %q: oomscan help rules lists the names", key)...)
		}
	}
	return append(faults, overlaps(p)...)
}

// Time limits for matching one line, and all lines. Usual expressions take a thousandth of them.
const (
	maxMatch    = 200 * time.Millisecond
	maxMatching = 20 * maxMatch
)

// slowLine returns a line that an expression takes too long for, or "". It tries the samples and long lines made of
// parts of them.
func slowLine(re *regexp2.Regexp, p *pattern.Pattern) string {
	re.MatchTimeout = maxMatch
	lines := slices.Clone(p.NoMatch)
	for _, s := range p.Match {
		lines = append(lines, s.Line)
	}
	started := time.Now()
	for _, line := range lines {
		cut := line[:max(0, len(line)-1)]
		half := len(cut) / 2
		for _, text := range []string{line, cut, repeated(line), repeated(cut), cut[:half] + repeated(cut[half:])} {
			_, err := re.MatchString(text)
			if err != nil { // the process may only have waited for a processor
				_, err = re.MatchString(text)
			}
			if err != nil || time.Since(started) > maxMatching {
				return text
			}
		}
	}
	return ""
}

// repeated repeats a text to the length of a long message.
func repeated(text string) string {
	return strings.Repeat(text, pattern.MaxMessage/2/max(1, len(text)))
}

// overlaps finds samples of built-in patterns that this pattern would take from them.
func overlaps(p *pattern.Pattern) []pattern.Fault {
	if p.Kind == "" {
		return nil
	}
	m := pattern.Matcher{Pattern: p}
	var faults []pattern.Fault
	for i := range messages.All() {
		q := &messages.All()[i]
		if q.Kind == "" || slices.Contains(p.Also, q.Name) {
			continue
		}
		for _, s := range q.Match {
			if slices.ContainsFunc(p.Literals, func(l string) bool { return strings.Contains(s.Line, l) }) && m.Matches([]rune(s.Line)) {
				faults = append(faults, pattern.Fault{Part: "expression", What: fmt.Sprintf("it also matches what is %s: %q; make it narrower, or list that name under also", q.Name, s.Line)})
				break
			}
		}
	}
	return faults
}
