package report

import (
	"fmt"
	"slices"
	"strings"
)

// This file has the sentences about an incident: what ran out, where, how much was missing, what followed.

// followedText says what followed, and how often.
func followedText(kind string, n int) string {
	switch many := manyFollowed[kind]; {
	case n == 1:
		return named(consequenceWords, kind)
	case many != "":
		return fmt.Sprintf(many, grouped(n))
	}
	return fmt.Sprintf("%s %s times", named(consequenceWords, kind), grouped(n))
}

// shareNotFree reports whether an engine found less free memory than its whole share when it started: its cache is not meant.
func shareNotFree(in *Incident) bool {
	return in.Kind == "kv_cache" && in.Root.Request != nil && in.Root.Total != nil && in.Root.Free != nil && in.Shortfall != nil
}

// cacheSubject is what ran out when an engine could not have the KV cache that its settings need.
func cacheSubject(in *Incident) string {
	switch r := in.Root.Request; {
	case shareNotFree(in):
		return "GPU too full for the engine"
	case r != nil && in.Shortfall != nil && *in.Shortfall < *r:
		return "the KV cache is too small"
	}
	return subjects["kv_cache"]
}

// requestText says what the program tried to allocate and what was free.
func requestText(in *Incident) string {
	r := &in.Root
	switch {
	case r.Request != nil:
	case in.Kind == "kv_cache" && in.Shortfall != nil:
		return in.device(fmt.Sprintf("Without any KV cache, the engine needs %s more than its share of the GPU.", size(*in.Shortfall)))
	case r.Needed != nil && r.Total != nil && in.Shortfall != nil:
		return in.device(fmt.Sprintf("The compiled program needs %s; the GPU has %s: %s short.", size(*r.Needed), size(*r.Total), size(*in.Shortfall)))
	default:
		return hostUseText(r)
	}
	var b strings.Builder
	if shareNotFree(in) {
		return fmt.Sprintf("The engine wants %s of the GPU's %s; %s was free: %s short.", size(*r.Request), size(*r.Total), size(*r.Free), size(*in.Shortfall))
	}
	if in.Kind == "kv_cache" {
		fmt.Fprintf(&b, "The engine needs %s of KV cache", size(*r.Request))
		if in.Shortfall != nil {
			fmt.Fprintf(&b, "; %s is left: %s short", size(*r.Request-*in.Shortfall), size(*in.Shortfall))
		}
		return b.String() + "."
	}
	fmt.Fprintf(&b, "Tried to allocate %s", size(*r.Request))
	switch {
	case r.Free != nil && r.Total != nil:
		fmt.Fprintf(&b, "; %s was free", sizeOf(*r.Free, *r.Total))
	case r.Free != nil:
		fmt.Fprintf(&b, "; %s was free", size(*r.Free))
	case r.Total != nil && in.Resource == "host":
		fmt.Fprintf(&b, "; the host has %s", size(*r.Total))
	case r.Total != nil:
		fmt.Fprintf(&b, "; the card has %s", size(*r.Total))
	case in.Resource == "gpu":
		b.WriteString("; the log does not show how much was free")
	}
	if in.Shortfall != nil {
		fmt.Fprintf(&b, ": %s short", size(*in.Shortfall))
	}
	b.WriteByte('.')
	if in.Resource == "gpu" && r.Total != nil && *r.Request > *r.Total {
		b.WriteString(" " + wordOvershot)
	}
	return in.device(b.String())
}

// hostUseText says how much of a host's memory was in use, empty where the log does not show it.
func hostUseText(r *Root) string {
	switch {
	case r.Used != nil && r.Limit != nil && *r.Used > *r.Limit:
		return fmt.Sprintf("%s was in use: %s over the limit.", size(*r.Used), size(*r.Used-*r.Limit))
	case r.Used == nil && r.Limit == nil && r.NodeUsed != nil && r.NodeTotal != nil && *r.NodeUsed >= *r.NodeTotal/2: // else it is from long before
		return fmt.Sprintf("At the last reading before it, %s of the node's memory was in use.", sizeOf(*r.NodeUsed, *r.NodeTotal))
	}
	return ""
}

// killText says who killed what, and when.
func killText(r *Report, in *Incident) string {
	by := killers[deref(in.Root.KilledBy)]
	victim := victimText(&in.Root)
	var b strings.Builder
	if by == "" {
		if pid, ok := strings.CutPrefix(victim, "pid "); ok {
			victim = "Process " + pid
		} else if in.Root.Process == nil || in.Root.Rank != nil { // a program's name stays as it is
			victim = strings.ToUpper(victim[:1]) + victim[1:]
		}
		b.WriteString(victim + " was killed")
	} else {
		fmt.Fprintf(&b, "%s killed %s", by, victim)
	}
	when := unbroken(in.Root.Day)
	if in.Root.Time != nil {
		when = clock(*in.Root.Time)
	}
	if when != "" {
		b.WriteString(" at " + when)
	}
	switch ph := phaseText(in); {
	case ph != "" && (when != "" || in.Confidence == "low"):
		b.WriteString(", " + ph)
	case ph != "":
		b.WriteString(" " + ph)
	}
	if r.Run.LastStep != nil && stepIsFact(r) {
		fmt.Fprintf(&b, " (last step %d)", *r.Run.LastStep)
	}
	return b.String() + ". " + wordNotGPU
}

// victimText names a killed process by rank, name and pid.
func victimText(x *Root) string {
	var known []string
	if p := deref(x.Process); p != "" {
		known = append(known, p)
	}
	if x.PID != nil {
		known = append(known, fmt.Sprintf("pid %d", *x.PID))
	}
	if x.Rank != nil {
		known = append([]string{fmt.Sprintf("rank %d", *x.Rank)}, known...)
	}
	switch len(known) {
	case 0:
		return "a process"
	case 1:
		return known[0]
	}
	return fmt.Sprintf("%s (%s)", known[0], strings.Join(known[1:], ", "))
}

// hostSubject says whose host memory was full.
func hostSubject(r *Report, in *Incident) string {
	of := ""
	if n := limitOf(in); n != nil {
		of = ", " + size(*n) + ","
	}
	on := ""
	if h := deref(in.Root.Host); h != "" {
		on = " on " + h
	}
	switch deref(in.Root.LimitOf) {
	case "job":
		job := "the job"
		if id := deref(r.Run.JobID); id != "" {
			job = "job " + id
		}
		return strings.TrimSuffix(fmt.Sprintf("host RAM: %s reached its own limit%s%s", job, of, on), ",")
	case "container":
		return strings.TrimSuffix(fmt.Sprintf("host RAM: the container reached its limit%s%s", of, on), ",")
	case "group":
		return strings.TrimSuffix(fmt.Sprintf("host RAM: a control group reached its limit%s%s", of, on), ",")
	case "node":
		return "host RAM: the whole node was full" + on
	}
	return "host RAM" + on
}

// phaseText says when it happened, probably where that is a guess.
func phaseText(in *Incident) string {
	w := phaseWords[in.Phase]
	if w == "" || in.Kind == "nccl_oom" && in.Phase == "nccl" {
		return ""
	}
	switch {
	case in.Phase == "checkpoint":
		w = checkpointText(in)
	case in.Phase == "weight_update" && wakes(in):
		w = "as the engine woke up"
	}
	if in.Confidence == "low" {
		return "probably " + w
	}
	return w
}

// wakes reports whether an engine took its memory back, and nothing else of a weight update had begun.
func wakes(in *Incident) bool {
	for _, f := range slices.Backward(in.Root.Trace) {
		name := strings.ToLower(f.Function)
		switch {
		case strings.Contains(name, "weights"):
			return false
		case strings.HasPrefix(name, "wake_up"), strings.HasPrefix(name, "resume"):
			return true
		}
	}
	return strings.Contains(in.PhaseWhy, "wakes")
}

// checkpointText tells saving a checkpoint from loading one where what shows the phase names only one of them.
func checkpointText(in *Incident) string {
	both := strings.TrimPrefix(phaseWords["checkpoint"], "while ") // how the classifier names the phase
	why := strings.ReplaceAll(strings.ToLower(in.PhaseWhy+" "+reason(in)), both, "")
	saves := strings.Contains(why, "save") || strings.Contains(why, "saving")
	loads := strings.Contains(why, "load") || strings.Contains(why, "restor") || strings.Contains(why, "resum")
	switch {
	case saves && !loads:
		return "while saving a checkpoint"
	case loads && !saves:
		return "while loading a checkpoint"
	}
	return phaseWords["checkpoint"]
}

// survivedText says how a run outlived an incident: it caught the error, or a process died without ending it.
func survivedText(in *Incident) string {
	died := func(c Consequence) bool { return c.Kind == "process_exit" || c.Kind == "oom_kill" }
	if in.Kind == "oom_kill" || slices.ContainsFunc(in.Consequences, died) {
		return "A process died, and the run went on without it or restarted it."
	}
	return "The program caught the error and went on."
}

// lastText says which of several incidents ended the run, empty where that is not known.
func lastText(r *Report) string {
	ended := 0
	for i := range r.Incidents {
		switch {
		case r.Incidents[i].Survived:
		case ended > 0:
			return ""
		default:
			ended = i + 1
		}
	}
	if ended == 0 || r.Run.Framework == "" || r.Run.Framework == "unknown" {
		return ""
	}
	return fmt.Sprintf("Incident %d ended the run.", ended)
}

// placeText names the process that failed first, as far as the log tells: its rank and host, else its pid.
func placeText(x *Root) string {
	var parts []string
	if x.Rank != nil {
		parts = append(parts, fmt.Sprintf("rank %d", *x.Rank))
	}
	if h := deref(x.Host); h != "" {
		parts = append(parts, h)
	}
	if len(parts) == 0 && x.PID != nil {
		parts = append(parts, fmt.Sprintf("pid %d", *x.PID))
	}
	return strings.Join(parts, ", ")
}

// missing lists what the log does not tell of an incident.
func missing(in *Incident) string {
	var out []string
	if !in.phased() {
		out = append(out, "the phase")
	}
	x := &in.Root
	if x.Rank == nil && x.PID == nil && x.Device == nil && deref(x.Host) == "" {
		out = append(out, "which process failed")
	}
	if requestText(in) == "" && limitOf(in) == nil && x.Used == nil && x.OwnBytes == nil {
		out = append(out, "memory figures")
	}
	return strings.Join(out, ", ")
}

// others counts further processes of a name.
func others(n int) string { return count(n, "other", "others") }

// heldText says how much of a host's limit the processes of the killed one's name held, empty where the log does not show that.
func heldText(in *Incident) string {
	limit, n, bytes := limitOf(in), 0, int64(0)
	if in.Resource != "host" || in.Ledger == nil || limit == nil {
		return ""
	}
	name := killedName(in)
	for _, x := range in.Ledger.Tasks {
		if x.Name == name {
			n, bytes = n+1, bytes+x.Bytes
		}
	}
	if own := in.Root.OwnBytes; own != nil {
		for _, g := range othersByName(in, nil) {
			switch {
			case g.name == name || g.bytes <= 2*max(*own, bytes) || g.bytes > *limit:
			case g.count > 1:
				return fmt.Sprintf("%d %s processes hold %s; the killed process held only %s", g.count, g.name, sizeOf(g.bytes, *limit), size(*own))
			default:
				return fmt.Sprintf("%s holds %s; the killed process held only %s", g.name, sizeOf(g.bytes, *limit), size(*own))
			}
		}
	}
	if n < 2 || bytes > *limit {
		return ""
	}
	return fmt.Sprintf("%d %s processes hold %s (%.0f%%)", n, name, size(bytes), 100*float64(bytes)/float64(*limit))
}

// killedName is the name of the killed process: that in the list of processes, beside which it is counted, else that of the message.
func killedName(in *Incident) string {
	if in.Root.PID != nil && in.Ledger != nil {
		for _, x := range in.Ledger.Tasks {
			if x.PID != nil && *x.PID == *in.Root.PID && x.Name != "" {
				return x.Name
			}
		}
	}
	return deref(in.Root.Process)
}

// timesText says how often the first failure was seen, empty for once.
func timesText(in *Incident) string {
	switch n := len(in.Victims); {
	case n > 1:
		return count(n, "process", "processes") + " killed in all"
	case in.Repeats > 0:
		return sameError(in, in.Repeats)
	}
	return ""
}

// sameError says how often the first failure was reported again: by other ranks, or raised once more.
func sameError(in *Incident, n int) string {
	what := "same error "
	if in.Kind == "oom_kill" {
		what = "same kill reported "
	}
	if n == 1 {
		return what + "once more"
	}
	return what + grouped(n) + unbroken(" more times")
}

// gist says in three lines what an incident is, why, and what to try first, for viewers that show a few lines of plain text.
func gist(in *Incident) []string {
	lines := []string{in.Summary}
	if in.Cause != nil && in.Cause.ID != "unknown" {
		lines = append(lines, whyText(in))
	}
	if len(in.Proposals) > 0 {
		lines = append(lines, tryHeading(in)+": "+fixOf(&in.Proposals[0]))
	}
	return lines
}
