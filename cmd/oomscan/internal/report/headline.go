package report

import (
	"fmt"
	"strings"
)

// writeOverview names each incident in a line when there are several.
func writeOverview(p *page, r *Report) {
	n := len(r.Incidents)
	if n < 2 {
		return
	}
	for i := range r.Incidents {
		if i == maxOverview {
			p.more(n-i, "incident", "incidents")
			break
		}
		in := &r.Incidents[i]
		badge, word := verdict(in)
		lead := unbroken(fmt.Sprintf("%2d. ", i+1))
		spans := []span{{plain, lead}, {badge, unbroken(" " + word + " ")}, {plain, " " + subject(r, in)}}
		if at := p.at(in.Root.File, in.Root.Line); 1+measure(plainText(spans))+2+measure(at.text) <= p.width { // else its evidence has it
			spans = append(spans, span{plain, "  "}, at)
		}
		p.para(block{indent: 1, hang: 5, full: true, lines: 2}, spans...)
	}
	p.para(block{indent: 1, hang: 1}, span{plain, lastText(r)})
	p.blank()
}

// verdict is how sure it is that memory ran out and whether it ended the run, as a badge.
func verdict(in *Incident) (ink, string) {
	switch {
	case in.Survived:
		return badgeSurvived, badgeWordSurvived
	case in.Verdict == "suspect":
		return badgeSuspect, badgeWordSuspect
	case in.Verdict != "memory":
		return badgeSuspect, badgeWordOther
	}
	return badgeMemory, badgeWordMemory
}

// writeHeadline says what ran out, where, and when; below it, how much was missing.
func writeHeadline(p *page, r *Report, in *Incident, i int) {
	badge, word := verdict(in)
	spans := []span{{bold, subject(r, in)}}
	if n := len(r.Incidents); n > 1 {
		spans = append(spans, span{dim, fmt.Sprintf("  (%d%cof%c%d)", i+1, nbsp, nbsp, n)})
	}
	p.badge(badge, word, spans...)
	for _, s := range leads(r, in) {
		p.para(block{indent: 1, hang: 1}, span{plain, s})
	}
}

// subject is what ran out, with its place and phase. Kinds without words of their own keep the classifier's sentence.
func subject(r *Report, in *Incident) string {
	if in.Verdict == "suspect" {
		if s := suspects[in.Kind].subject; s != "" {
			return withPlace(in.device(s), in)
		}
	}
	s := subjects[in.Kind]
	switch {
	case s == "":
		return strings.TrimSuffix(in.Summary, ".")
	case in.Verdict == "other":
		return s
	case in.Kind == "kv_cache":
		s = cacheSubject(in)
	case in.Kind == "oom_kill":
		return hostSubject(r, in)
	case in.Resource == "shm":
		s = subjects["shm_exhausted"]
	case in.Resource == "gpu" && in.Root.Device != nil:
		gpu := fmt.Sprintf("GPU %d", *in.Root.Device)
		if s == subjects["gpu_oom"] {
			s = gpu
		} else {
			s += " on " + gpu
		}
		if card := visibleCard(r, *in.Root.Device); card >= 0 {
			return withPlace(in.device(s), in, nodeCard(card))
		}
	}
	return withPlace(in.device(s), in)
}

// withPlace adds which process failed, and when.
func withPlace(s string, in *Incident, known ...string) string {
	if x := placeText(&in.Root); x != "" {
		known = append(known, x)
	}
	if len(known) > 0 {
		s += " (" + strings.Join(known, ", ") + ")"
	}
	switch x := phaseText(in); {
	case x != "" && in.Confidence == "low":
		s += ", " + x
	case x != "":
		s += " " + x
	}
	return s
}

// leads are the sentences below the headline.
func leads(r *Report, in *Incident) []string {
	var out []string
	switch {
	case in.Verdict == "suspect":
		out = append(out, suspects[in.Kind].meaning)
	case in.Verdict == "memory" && in.Kind == "oom_kill":
		out = append(out, killText(r, in))
	}
	out = append(out, requestText(in))
	if in.Survived {
		out = append(out, survivedText(in))
	}
	return kept(out, func(s *string) bool { return *s != "" })
}

// phased reports whether the phase is known.
func (in *Incident) phased() bool { return in.Phase != "" && in.Phase != "unknown" }

// limitOf is the limit of host memory that was reached, nil when the log shows none.
func limitOf(in *Incident) *int64 {
	if in.Resource == "gpu" || in.Root.Limit == nil || *in.Root.Limit <= 0 {
		return nil
	}
	return in.Root.Limit
}

// stepIsFact reports whether the run's last step tells when the incident was: of two incidents it tells nothing, and a
// run that went on took further steps.
func stepIsFact(r *Report) bool { return len(r.Incidents) == 1 && !r.Incidents[0].Survived }
