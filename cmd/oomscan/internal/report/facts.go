package report

import (
	"fmt"
	"strings"
	"time"
)

// headline says with what certainty what ran out, and in which phase.
func (p *page) headline(in *Incident, i, n int) {
	badge, word := badgeMemory, "OUT OF MEMORY"
	switch {
	case in.Survived:
		badge, word = badgeSurvived, "SURVIVED"
	case in.Verdict == "suspect":
		badge, word = badgeSuspect, "SUSPECT"
	case in.Verdict != "memory":
		badge, word = badgeSuspect, "NOT MEMORY"
	}
	word = strings.ReplaceAll(" "+word+" ", " ", string(nbsp))
	spans := []span{{badge, word}, {plain, " "}, {bold, title(in)}}
	if n > 1 {
		spans = append(spans, span{dim, fmt.Sprintf("  (%d%cof%c%d)", i+1, nbsp, nbsp, n)})
	}
	p.para(block{hang: measure(word) + 1}, spans...)
}

// title is the headline's sentence. Kinds that it has no words for keep the classifier's own sentence.
func title(in *Incident) string {
	w, ok := kindWords[in.Kind]
	if in.Verdict == "suspect" {
		w, ok = suspectWords[in.Kind]
	}
	if !ok {
		return strings.TrimSuffix(in.Summary, ".")
	}
	s := w.headline
	if in.Kind == "nccl_oom" && in.Resource == "shm" {
		s = "A collective found no room in /dev/shm"
	}
	if ph := phaseWords[in.Phase]; ph != "" && (in.Kind != "nccl_oom" || in.Phase != "nccl") {
		s += " " + ph
	}
	if in.Survived {
		s += "; the run went on"
	}
	return s
}

// facts is the block that answers what, when, who first, how much and where.
func (p *page) facts(r *Report, in *Incident) {
	w := kindWords[in.Kind]
	if in.Verdict == "suspect" {
		w = suspectWords[in.Kind]
	}
	what := []span{{bold, in.Kind}}
	if w.meaning != "" {
		what = append(what, span{plain, ": " + w.meaning})
	} else {
		what = append(what, span{plain, ": " + named(resourceWords, in.Resource)})
	}
	p.row("what", what...)
	p.row("when", p.when(r, in)...)
	p.row("who first", p.who(&in.Root)...)
	p.row("how much", p.howMuch(in)...)
	p.row("where", span{plain, position(in.Root.File, in.Root.Line)})
	if in.PhaseWhy != "" {
		p.row("phase by", span{dim, strings.TrimSuffix(sentence(in.PhaseWhy), ".") + "."})
	}
}

// when is the phase with its certainty, the last step and the time.
func (p *page) when(r *Report, in *Incident) []span {
	var parts [][]span
	if in.Phase == "" || in.Phase == "unknown" {
		parts = append(parts, []span{{plain, "phase unknown"}})
	} else {
		ph := []span{{bold, in.Phase}}
		if in.Confidence != "" {
			ph = append(ph, span{plain, fmt.Sprintf(" (%s confidence)", in.Confidence)})
		}
		parts = append(parts, ph)
	}
	if r.Run.LastStep != nil && stepIsFact(r) {
		parts = append(parts, []span{{plain, fmt.Sprintf("last step%c%d", nbsp, *r.Run.LastStep)}})
	}
	if in.Root.Time != nil {
		parts = append(parts, []span{{plain, clock(*in.Root.Time)}})
	}
	return p.join(parts)
}

// stepIsFact says whether the run's last step tells when the incident was: of two incidents it tells nothing, and a
// run that went on took further steps.
func stepIsFact(r *Report) bool { return len(r.Incidents) == 1 && !r.Incidents[0].Survived }

// clock prints a time, with its zone where the log tells one.
func clock(t time.Time) string {
	layout := "2006-01-02 15:04:05"
	if _, offset := t.Zone(); offset != 0 {
		layout += " -07:00"
	}
	return strings.ReplaceAll(t.Format(layout), " ", string(nbsp))
}

// who is the process that failed first, as far as the log tells.
func (p *page) who(r *Root) []span {
	var parts [][]span
	add := func(label string, v *int) {
		if v != nil {
			parts = append(parts, []span{{bold, fmt.Sprintf("%s%c%d", label, nbsp, *v)}})
		}
	}
	add("rank", r.Rank)
	add("GPU", r.Device)
	if h := deref(r.Host); h != "" {
		parts = append(parts, []span{{plain, "host" + string(nbsp)}, {bold, h}})
	}
	if r.PID != nil {
		parts = append(parts, []span{{plain, fmt.Sprintf("pid%c%d", nbsp, *r.PID)}})
	}
	if s := deref(r.Process); s != "" {
		parts = append(parts, []span{{plain, s}})
	}
	if len(parts) == 0 {
		return []span{{dim, "the log does not tell"}}
	}
	return p.join(parts)
}

// howMuch is the request against what was there.
func (p *page) howMuch(in *Incident) []span {
	r := &in.Root
	var parts [][]span
	if r.Request != nil {
		parts = append(parts, []span{{bold, size(*r.Request)}, {plain, " asked for"}})
	}
	of := ""
	if r.Total != nil {
		of = " of " + size(*r.Total)
	}
	switch {
	case r.Free != nil:
		parts = append(parts, []span{{bold, size(*r.Free)}, {plain, " free" + of}})
	case r.Limit != nil && in.Resource != "gpu":
		parts = append(parts, []span{{plain, "limit "}, {bold, size(*r.Limit)}})
	case r.Total != nil && in.Resource != "gpu":
		parts = append(parts, []span{{bold, size(*r.Total)}, {plain, " in all"}})
	case r.Total != nil:
		parts = append(parts, []span{{plain, "the device has "}, {bold, size(*r.Total)}})
	}
	if r.OwnBytes != nil && (in.Resource != "gpu" || in.Ledger == nil) {
		whose := " in this process"
		if in.Kind == "oom_kill" {
			whose = " in the killed process"
		}
		parts = append(parts, []span{{bold, size(*r.OwnBytes)}, {plain, whose}})
	}
	if in.Shortfall != nil {
		parts = append(parts, []span{{short, size(*in.Shortfall) + string(nbsp) + "short"}})
	}
	if len(parts) == 0 {
		return []span{{dim, "the log gives no figures"}}
	}
	return p.join(parts)
}

// sentence begins with a capital letter.
func sentence(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
