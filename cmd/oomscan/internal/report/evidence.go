package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fact is a row of the evidence: where it stands or what it is about, and what it says.
type fact struct {
	label span
	text  []span
	lines int // at most
}

// writeEvidence lists what the answer rests on: the first failure, how the phase is known, what followed, and the run.
func writeEvidence(p *page, r *Report, in *Incident) {
	facts := []fact{rootFact(p, in)}
	if in.phased() {
		facts = append(facts, fact{span{plain, labelPhase + in.Confidence + labelConfidence}, []span{{plain, reason(in)}}, 3})
	}
	if l := in.Ledger; l != nil && l.Contradiction != nil {
		facts = append(facts, fact{span{plain, labelFigures}, []span{{plain, *l.Contradiction}}, 3})
	}
	if s := notFragmented(in); s != "" {
		facts = append(facts, fact{span{plain, labelRuledOut}, []span{{plain, s}}, 2})
	}
	if s := missing(in); s != "" {
		facts = append(facts, fact{span{plain, labelMissing}, []span{{plain, s}}, 2})
	}
	earlier, later := followers(in)
	if s := happened(p, in, earlier); s != nil {
		facts = append(facts, fact{span{plain, labelBefore}, s, 2})
	}
	after := happened(p, in, later)
	if s := timesText(in); s != "" && len(facts[0].text) == 1 {
		rest := after
		after = []span{{plain, s}}
		if rest != nil {
			after = append(append(after, span{dim, p.g.separator}), rest...)
		}
	}
	if after != nil {
		facts = append(facts, fact{span{plain, labelAfter}, after, 3})
	}
	if run := runFacts(p.g, r); run != nil {
		if m := deref(r.Run.Model.Name); m != "" {
			run = append(run, span{dim, p.g.separator}, span{plain, m})
		}
		facts = append(facts, fact{span{plain, labelRun}, run, 2})
	}
	p.section(wordEvidence)
	width := 0
	for _, f := range facts {
		width = max(width, measure(f.label.text))
	}
	width = min(width, p.prose*2/5)
	for _, f := range facts {
		if measure(f.label.text) > width {
			p.para(block{indent: 3, hang: 5, full: true}, f.label)
			f.label.text = ""
		}
		lead := f.label
		lead.text = pad(lead.text, width+3)
		p.para(block{indent: 3, hang: 6 + width, lines: f.lines}, append([]span{lead}, f.text...)...)
	}
}

// rootFact is the first failure: where it stands, its own words, and how often the same was reported again.
func rootFact(p *page, in *Incident) fact {
	message := in.Root.Message
	if name, rest, ok := strings.Cut(message, ": "); ok && in.Root.Request != nil && len(name) < 60 && rest != "" && !strings.Contains(name, " ") {
		message = name // its figures stand above
		if name == "RuntimeError" {
			message += ": " + firstSentence(rest)
		}
	}
	text := []span{{plain, message}}
	if s := timesText(in); s != "" && len(message) <= maxShortMessage {
		text = append(text, span{plain, ", " + s})
	}
	return fact{p.at(in.Root.File, in.Root.Line), text, 3}
}

// maxShortMessage is how long a message may be that says how often it was reported; behind longer ones that would be cut off.
const maxShortMessage = 60

// reason says by what the phase is known: the frame that shows it, else the classifier's sentence.
func reason(in *Incident) string {
	for i := len(in.Root.Trace) - 1; i >= 0; i-- {
		f := &in.Root.Trace[i]
		text := fmt.Sprintf("%s:%d in %s", f.File, f.Line, f.Function)
		if slices.ContainsFunc(in.Evidence, func(e Evidence) bool { return e.Text == text }) {
			return fmt.Sprintf("%s in %s", f.Function, position(f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line))
		}
	}
	return sentence(in.PhaseWhy)
}

// sameKill is the kind of another report of a kill that is the incident itself.
const sameKill = "same_kill"

// followers are the consequences, in the order of the log: a kill's are often printed before the report of the kill.
func followers(in *Incident) (earlier, later []Consequence) {
	for _, c := range in.Consequences {
		if c.Kind == in.Kind && in.Kind == "oom_kill" && in.Root.PID != nil && namesNumber(c.Message, *in.Root.PID) {
			c.Kind = sameKill
		}
		if c.File == in.Root.File && c.Line < in.Root.Line {
			earlier = append(earlier, c)
		} else {
			later = append(later, c)
		}
	}
	return earlier, later
}

// namesNumber reports whether a message has a number, not as a part of another one.
func namesNumber(message string, n int) bool {
	digit := func(c rune) bool { return c >= '0' && c <= '9' }
	return slices.Contains(strings.FieldsFunc(message, func(c rune) bool { return !digit(c) }), strconv.Itoa(n))
}

// afterwards sums up what followed.
func afterwards(p *page, in *Incident) []span {
	_, later := followers(in)
	return happened(p, in, later)
}

// happened sums up what followed, by kind, in the order of the first of each; nil for nothing.
func happened(p *page, in *Incident, cs []Consequence) []span {
	var parts [][]span
	for i, g := range groups(cs) {
		if i == maxAfter {
			break
		}
		at := span{plain, fmt.Sprintf("line%c%d", nbsp, g.first.Line)}
		if g.first.File != in.Root.File {
			at = p.at(g.first.File, g.first.Line)
		}
		parts = append(parts, []span{{plain, followedText(g.first.Kind, g.count) + unbroken(" (")}, at, {plain, ")"}})
	}
	return p.g.join(parts)
}

// group is the consequences of one kind.
type group struct {
	first *Consequence
	count int
}

func groups(cs []Consequence) []group {
	var out []group
	for i := range cs {
		c := &cs[i]
		n := slices.IndexFunc(out, func(g group) bool { return g.first.Kind == c.Kind })
		if n < 0 {
			out = append(out, group{first: c})
			n = len(out) - 1
		}
		out[n].count += max(1, c.Count)
	}
	return out
}

// clock prints a time, with its zone where the log tells one.
func clock(t time.Time) string {
	layout := "2006-01-02 15:04:05"
	if _, offset := t.Zone(); offset != 0 {
		layout += " -07:00"
	}
	return unbroken(t.Format(layout))
}
