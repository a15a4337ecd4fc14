package report

import "strings"

// writeWhy says why memory ran out, as surely as the evidence allows, and what else may be why: in a line where several incidents
// share the page.
func writeWhy(p *page, in *Incident) {
	if in.Cause == nil || in.Verdict == "suspect" && isOpen(in) {
		return // a suspicion says how to confirm it
	}
	p.blank()
	const hang = 1 + len(wordWhy) + 3
	lead := []span{{bold, wordWhy}, {plain, pad("", hang-1-len(wordWhy))}}
	p.para(block{indent: 1, hang: hang, lines: 6}, append(lead, span{plain, whyText(in)})...)
	also := block{indent: hang, hang: hang, lines: 2}
	if in.Verdict != "suspect" {
		p.para(also, span{dim, alsoText(in)})
	}
}

// whyText is the cause in a sentence, qualified by how sure it is.
func whyText(in *Incident) string {
	held, sure := heldText(in), sureness[in.Cause.Confidence]
	if in.Verdict == "suspect" {
		sure = sureness["low"] // nothing proves that it was memory
	}
	switch open := isOpen(in); {
	case open && held != "":
		return closed(held)
	case open:
		return closed(in.Cause.Text)
	case strings.Contains(in.Cause.Text, " processes ("):
		held = "" // the cause counts them itself
	case held != "" && sure != "":
		held += ". " // a fact: only what follows is a guess
	case held != "":
		held += ": "
	}
	return closed(held + sure + in.Cause.Text)
}

// isOpen reports whether nothing tells the cause.
func isOpen(in *Incident) bool {
	return in.Cause.ID == "unknown" || strings.HasPrefix(in.Cause.Text, wordNotShown) || strings.HasSuffix(in.Cause.Text, wordNotWhy)
}

// alsoText is the first rival that nothing speaks against, empty for none or where the cause is sure.
func alsoText(in *Incident) string {
	if in.Cause.Confidence == "high" {
		return ""
	}
	for i := range in.Rivals {
		x := &in.Rivals[i]
		if x.Confidence != "low" && len(x.Against) == 0 && x.Text != in.Cause.Text {
			return closed(wordAlso + x.Text)
		}
	}
	return ""
}

// notFragmented says why it was not fragmentation, which PyTorch's own message suggests; empty where nothing does.
func notFragmented(in *Incident) string {
	for i := range in.Rivals {
		if x := &in.Rivals[i]; x.ID == "fragmentation" && len(x.Against) > 0 {
			return x.ID + ": " + x.Against[0]
		}
	}
	return ""
}

// writeConfirm says how to find out whether a suspicion is true: nothing in the log proves it.
func writeConfirm(p *page, r *Report, in *Incident) {
	p.section(wordConfirm, span{dim, "  " + wordNotProven})
	for _, c := range checks(r, in) {
		writeCheck(p, &c)
	}
}

// writeRivals lists every cause that was weighed, with what speaks for and against it.
func writeRivals(p *page, in *Incident) {
	if in.Cause == nil {
		return
	}
	p.section(wordRivals)
	for _, x := range append([]Why{*in.Cause}, in.Rivals...) {
		p.para(block{indent: 3, hang: 5}, span{bold, x.ID}, span{dim, " (" + x.Confidence + ")  "}, span{plain, x.Text})
		for _, s := range x.For {
			p.para(block{indent: 5, hang: 7}, span{good, p.g.plus + " "}, span{plain, s})
		}
		for _, s := range x.Against {
			p.para(block{indent: 5, hang: 7}, span{short, p.g.minus + " "}, span{plain, s})
		}
	}
}
