package report

import (
	"fmt"
	"strings"
	"time"
)

// writeFacts is the block that answers what, when, who first, how much and where.
func writeFacts(p *page, r *Report, in *Incident) {
	w := kindWords()[in.Kind]
	if in.Verdict == "suspect" {
		w = suspectWords()[in.Kind]
	}
	what := []span{{bold, in.Kind}}
	if w.meaning != "" {
		what = append(what, span{plain, ": " + w.meaning})
	} else {
		what = append(what, span{plain, ": " + named(resourceWords, in.Resource)})
	}
	when, who, much := when(p.g, r, in), who(p.g, &in.Root), howMuch(p.g, in)
	p.row("what", what...)
	p.row("when", when...)
	p.row("who first", who...)
	p.row("how much", much...)
	p.row("where", span{plain, position(in.Root.File, in.Root.Line)})
	var unknown []string
	if in.phased() {
		writeReason(p, in.PhaseWhy)
	} else {
		unknown = append(unknown, "the phase")
	}
	if who == nil {
		unknown = append(unknown, "which process it was")
	}
	if much == nil {
		unknown = append(unknown, "any figures")
	}
	if len(unknown) > 0 {
		p.row("not told", span{dim, strings.Join(unknown, ", ")})
	}
}

// phased says that the phase is known.
func (in *Incident) phased() bool { return in.Phase != "" && in.Phase != "unknown" }

// writeReason says by what the phase is known. What the phase means stands above it, so only a note on that is kept.
func writeReason(p *page, why string) {
	if why == "" {
		return
	}
	why = strings.TrimSuffix(sentence(why), ".")
	if lead, tail, ok := strings.Cut(why, ", which is "); ok {
		why = lead
		if _, note, ok := strings.Cut(tail, ": "); ok {
			why += "; " + note
		}
	}
	p.rowOf(3, "phase by", span{dim, why + "."})
}

// when is the phase with its certainty, the last step and the time; nothing when none of them is known.
func when(g *glyphs, r *Report, in *Incident) []span {
	var parts [][]span
	if in.phased() {
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
	return g.join(parts)
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
	return unbroken(t.Format(layout))
}

// who is the process that failed first, nothing when the log does not tell.
func who(g *glyphs, r *Root) []span {
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
	return g.join(parts)
}

// used is how much of a limit of host memory was in use, nil when one of the two is unknown.
func used(in *Incident) *int64 {
	r := &in.Root
	if in.Resource == "gpu" || r.Limit == nil || *r.Limit <= 0 || r.Used == nil || *r.Used < 0 {
		return nil
	}
	return r.Used
}

// howMuch is the request against what was there, nothing when no figure is known.
func howMuch(g *glyphs, in *Incident) []span {
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
	case used(in) != nil:
		parts = append(parts, []span{{bold, size(*used(in))}, {plain, " in use of "}, {bold, size(*r.Limit)}})
	case r.Free != nil:
		parts = append(parts, []span{{bold, size(*r.Free)}, {plain, " free" + of}})
	case r.Used != nil && *r.Used > 0 && r.Limit == nil && in.Resource != "gpu":
		parts = append(parts, []span{{bold, size(*r.Used)}, {plain, " in use"}})
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
	return g.join(parts)
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
