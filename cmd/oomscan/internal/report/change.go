package report

import (
	"cmp"
	"slices"
	"strings"
)

// writeProposals shows the change to make first, and what would do instead: whole proposals, never mixed.
func writeProposals(p *page, r *Report, in *Incident, full bool) {
	if len(in.Proposals) == 0 && (in.Verdict == "other" || len(in.Remedies) == 0) {
		return
	}
	p.section(tryHeading(in))
	if len(in.Proposals) == 0 {
		p.para(block{indent: 3, hang: 3}, span{plain, wordNoProposal})
		writeNextStep(p, nextStep(r, in))
	}
	p.shown = len(in.Proposals)
	for i := range in.Proposals {
		switch {
		case i == 1:
			p.section(wordInstead)
		case i > 1:
			p.blank()
		}
		if !full && (i == maxProposals || i > 1 && p.lines() > maxBeforeLast) {
			p.shown = i
			p.more(len(in.Proposals)-i, "alternative"+wordInFull, "alternatives"+wordInFull)
			return
		}
		x := in.Proposals[i]
		if slices.ContainsFunc(in.Proposals[:i], func(y Proposal) bool { return y.Text == x.Text }) {
			x.Text = "" // said already
		}
		x.Text = onInputs(r, x.Text)
		writeProposal(p, in, &x, i == 0 || full)
		if i == 0 {
			writeNextStep(p, nextStep(r, in))
		}
	}
}

// writeNextStep shows the command that finds the missing figure, if there is one.
func writeNextStep(p *page, x *check) {
	if x == nil {
		return
	}
	writeCheck(p, x, span{dim, wordNext})
}

// writeCheck shows a command and how to read what it prints.
func writeCheck(p *page, x *check, lead ...span) {
	p.para(block{indent: 3, hang: 5, full: true}, append(lead, span{code, x.Command})...)
	p.para(block{indent: 5, hang: 5, lines: 3}, span{plain, x.Reading})
}

// tryHeading introduces the first change.
func tryHeading(in *Incident) string {
	switch {
	case len(in.Proposals) == 0:
		return wordNoFix
	case in.Verdict == "suspect":
		return wordTrySuspect
	case in.Survived:
		return wordTrySurvived
	}
	return wordTry
}

// writeProposal shows what to change, what that does, and what it costs. Alternatives are shorter.
func writeProposal(p *page, in *Incident, x *Proposal, whole bool) {
	var above []string // the snippet above
	for i := range x.Changes {
		if i == maxChanges {
			p.more(len(x.Changes)-i, "change", "changes")
			break
		}
		above = writeChange(p, &x.Changes[i], above)
	}
	at := block{indent: 3, hang: 3, lines: 4}
	if !whole {
		at.lines = 2
	}
	text, command := question(x.Text)
	switch {
	case command != "":
		p.para(at, span{plain, closed(x.Title)})
		if whole {
			p.para(at, withCommand(p, at, text, command)...)
		}
	case x.FreesBytes == nil:
		p.para(at, span{plain, strings.TrimSpace(closed(x.Title) + " " + text)})
	default:
		p.para(at, span{plain, text})
	}
	if x.WhyNot != "" && whole {
		p.para(at, span{plain, "(" + x.WhyNot + ")"})
	}
	if len(x.Changes) == 0 {
		p.para(at, span{dim, p.sentences(at, closed(detail(in, x)))})
	}
	for _, s := range x.Needs {
		switch text, command := question(s); {
		case command != "":
			p.para(at, withCommand(p, at, text, command)...)
		case whole:
			p.para(at, span{dim, wordFirst}, span{plain, text})
		default:
			p.para(at, span{dim, wordFirst}, span{plain, firstSentence(text)})
		}
	}
	if x.WorstCase != "" && whole && !strings.Contains(x.Text, wordFullLength) {
		p.para(at, span{plain, closed(sentence(x.WorstCase))})
	}
	if len(x.Costs) > 0 {
		p.para(at, span{dim, wordCosts}, span{plain, closed(inSentence(strings.Join(x.Costs, " ")))})
	}
}

// commandMark parts a sentence from the command that answers it.
const commandMark = "  "

// question parts a text from the command that answers it; other texts are sentences without a command.
func question(s string) (text, command string) {
	text, command, ok := strings.Cut(s, commandMark)
	if ok {
		return text + commandMark, command
	}
	return closed(text), ""
}

// withCommand puts a command behind its question. A note behind the command goes to a line of its own where both are wider than the page: what
// is to be pasted is not broken.
func withCommand(p *page, at block, text, command string) []span {
	spans := []span{{plain, text}, {code, command}}
	if short, note, ok := strings.Cut(command, commandMark); ok && measure(command)+at.hang > p.width {
		spans = []span{{plain, text}, {code, short}, {dim, commandMark + unbroken(note)}}
	}
	return spans
}

// firstSentence is the first of several sentences.
func firstSentence(s string) string { return s[:sentenceEnd(s, 0)] }

// sentenceEnd is where the sentence ends that begins at a position.
func sentenceEnd(s string, from int) int {
	for i := from; i+2 < len(s); i++ {
		if s[i] == '.' && s[i+1] == ' ' && s[i+2] >= 'A' && s[i+2] <= 'Z' {
			return i + 1
		}
	}
	return len(s)
}

// sentences are as many whole sentences of a text as a block has room for, at least one.
func (p *page) sentences(b block, s string) string {
	end := sentenceEnd(s, 0)
	for end < len(s) {
		next := sentenceEnd(s, end+1)
		if p.linesOf(b, []span{{plain, s[:next]}}) > b.lines {
			break
		}
		end = next
	}
	return s[:end]
}

// inSentence begins with a small letter where a text stands behind another one. What begins with an abbreviation keeps it.
func inSentence(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && (s[1] == ' ' || s[1] >= 'a' && s[1] <= 'z') {
		return string(s[0]|0x20) + s[1:]
	}
	return s
}

// detail says how to do what no setting does.
func detail(in *Incident, x *Proposal) string {
	i := slices.IndexFunc(in.Remedies, func(y Remedy) bool { return slices.Contains(x.Remedies, y.ID) })
	if i < 0 {
		return ""
	}
	return in.Remedies[i].Detail
}

// changeColumn is where what a setting was stands, at the latest.
const changeColumn = 76

// noteOf says as a comment what a setting was: its value, that it was not set, or a default that the log does not show.
func noteOf(c *Change) string {
	byDefault, rest, ok := strings.Cut(c.ComputedFrom, wordByDefault)
	switch {
	case removes(c): // the snippet's own comment says it
		return ""
	case ok && strings.HasPrefix(rest, wordRecent):
		return wordRecentDefault + clip(byDefault)
	case ok:
		return wordDefault + clip(byDefault)
	case c.From != nil && unset(*c.From):
		return wordWasUnset
	case c.From != nil:
		return wordWas + shortened(*c.From, 40)
	}
	return ""
}

// writeChange writes a setting as it is to be pasted, with its old value as a comment. It returns the lines of its snippet:
// a section that the snippet above has opened is not opened again.
func writeChange(p *page, c *Change, above []string) []string {
	note := noteOf(c)
	lines := strings.Split(strings.TrimRight(c.Snippet, "\n"), "\n")
	switch {
	case c.Key == "" && c.Snippet == "":
	case c.Snippet == "":
		spans := []span{{code, cmp.Or(keyWords[c.Key], c.Key)}}
		verb := verbs[c.Direction]
		if c.From != nil && unset(*c.From) {
			verb = verbs["set"]
		}
		step := c.ComputedFrom
		if short := steps[step]; c.To == nil && c.From == nil && short != "" {
			verb, step = short, ""
		}
		if verb != "" {
			spans = append(spans, span{plain, ": " + verb})
		}
		switch {
		case c.To != nil && !strings.HasPrefix(step, "to "+*c.To+" if "):
			spans = append(spans, span{plain, " to "}, span{code, clip(*c.To)})
		case step != "":
			spans = append(spans, span{plain, " " + step})
		}
		spans = append(spans, span{dim, nowText(c)})
		p.para(block{indent: 3, hang: 5, full: true, lines: 4}, spans...)
	default:
		opened := 0
		for opened < min(len(lines), len(above))-1 && lines[opened] == above[opened] {
			opened++
		}
		writePasted(p, lines[opened:], note)
		return lines
	}
	return nil
}

// removes reports whether a change takes an argument out.
func removes(c *Change) bool { return strings.HasPrefix(c.Snippet, "# remove ") }

// unset reports whether a value means that nobody set it.
func unset(value string) bool { return value == "None" || value == "null" || value == "" }

// nowText says what a setting is now, empty where that is unknown.
func nowText(c *Change) string {
	switch {
	case c.From == nil:
		return ""
	case unset(*c.From):
		return wordNotSetNow
	}
	return ", " + wordNow + clip(*c.From)
}

// writePasted writes the lines of a snippet with their own indentation, and a note behind the last one.
func writePasted(p *page, lines []string, note string) {
	const indent = 3
	for i, l := range lines {
		if i == maxPasted {
			p.para(block{indent: indent, hang: indent}, span{dim, p.g.ellipsis})
			return
		}
		text := strings.TrimLeft(l, " \t")
		in := indent + min(len(l)-len(text), 12)
		spans := []span{{code, text}}
		if note != "" && i == len(lines)-1 {
			room := min(p.width, changeColumn) - in - measure(text) - measure(note)
			spans = append(spans, span{dim, pad("", max(2, room)) + unbroken(note)})
		}
		p.para(block{indent: in, hang: in + 2, full: true, lines: 4}, spans...)
	}
}

// value is from what to what a setting goes, or in which direction when the next value is not known.
func value(g *glyphs, c *Change) []span {
	verb := verbs[c.Direction]
	switch {
	case c.To != nil && c.From != nil:
		return []span{{dim, clip(*c.From) + string(nbsp) + g.arrow + string(nbsp)}, {good, clip(*c.To)}}
	case c.To != nil:
		return []span{{good, clip(*c.To)}}
	case verb == "" && c.From == nil:
		return nil
	case verb == "":
		return []span{{dim, wordNow + clip(*c.From)}}
	case c.From == nil:
		return []span{{good, verb}}
	}
	return []span{{good, verb}, {dim, ", " + wordNow + clip(*c.From)}}
}

// clip bounds a value that a log wrote.
func clip(s string) string { return shortened(s, 80) }

// shortened cuts a value to so many bytes at most, and shows that it did.
func shortened(s string, most int) string {
	for i := range s {
		if i >= most {
			return s[:i] + "..."
		}
	}
	return s
}

// closed ends in a period.
func closed(s string) string {
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") || strings.Contains(s, commandMark) { // a command answers
		return s
	}
	return s + "."
}

// sentence begins with a capital letter, unless it begins with a name: those of settings, programs and files keep
// their case.
func sentence(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if first = strings.TrimRight(first, ".,;:"); first == "" || ownName[first] {
		return s
	}
	for i := range len(first) {
		if c := first[i]; (c < 'a' || c > 'z') && (i == 0 || c != '\'') {
			return s
		}
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// ownName are programs whose names are written small everywhere.
var ownName = map[string]bool{"verl": true, "slime": true, "torchrun": true, "dmesg": true, "sacct": true, "srun": true, "slurmstepd": true, "systemd": true, "containerd": true}
