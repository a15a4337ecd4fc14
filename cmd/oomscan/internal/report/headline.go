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
	p.para(block{}, span{bold, count(n, "incident", "incidents") + ", in order of occurrence"})
	for i := range r.Incidents {
		if i == maxOverview {
			p.more(n-i, "incident", "incidents")
			break
		}
		in := &r.Incidents[i]
		badge, word := verdict(in)
		parts := [][]span{{{badge, unbroken(" " + word + " ")}, {plain, " " + strings.TrimSuffix(title(in), wentOn)}}}
		if who := who(p.g, &Root{Rank: in.Root.Rank, Device: in.Root.Device, Host: in.Root.Host}); who != nil {
			parts = append(parts, who)
		}
		parts = append(parts, []span{{plain, position(in.Root.File, in.Root.Line)}})
		lead := unbroken(fmt.Sprintf("%2d. ", i+1))
		p.para(block{indent: 1, hang: 5, full: true, lines: 2}, append([]span{{plain, lead}}, p.g.join(parts)...)...)
	}
	p.rule()
}

// verdict is how sure it is that memory ran out and whether it killed the run, as a badge.
func verdict(in *Incident) (ink, string) {
	badge, word := badgeMemory, "OUT OF MEMORY"
	switch {
	case in.Survived:
		badge, word = badgeSurvived, "SURVIVED"
	case in.Verdict == "suspect":
		badge, word = badgeSuspect, "SUSPECT, NOT PROVEN"
	case in.Verdict != "memory":
		badge, word = badgeSuspect, "NOT MEMORY"
	}
	return badge, word
}

// writeHeadline says with what certainty what ran out, and in which phase.
func writeHeadline(p *page, in *Incident, i, n int) {
	badge, word := verdict(in)
	spans := []span{{bold, title(in)}}
	if n > 1 {
		spans = append(spans, span{dim, fmt.Sprintf("  (%d%cof%c%d)", i+1, nbsp, nbsp, n)})
	}
	p.badge(badge, word, spans...)
}

const wentOn = "; the run went on"

// title is the headline's sentence. Kinds that it has no words for keep the classifier's own sentence.
func title(in *Incident) string {
	w, ok := kindWords()[in.Kind]
	if in.Verdict == "suspect" {
		w, ok = suspectWords()[in.Kind]
	}
	if !ok {
		return strings.TrimSuffix(in.Summary, ".")
	}
	s := w.headline
	if in.Kind == "nccl_oom" && in.Resource == "shm" {
		s = "A collective found no room in /dev/shm"
	}
	ph := phaseWords()[in.Phase]
	if ph != "" && (in.Kind != "nccl_oom" || in.Phase != "nccl") {
		ph = " " + ph
	} else {
		ph = ""
	}
	s, tail, _ := strings.Cut(s, "|")
	s += ph + tail
	if in.Survived {
		s += wentOn
	}
	return s
}
