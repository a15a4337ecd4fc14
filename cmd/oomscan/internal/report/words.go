package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
	"oomscan/parser/source"
)

// Every word that a report says of its own stands in this file: headings, labels, and the sentences that are filled in with
// a run's figures. The other files of the package lay out; a test looks for sentences there.

// Headings and labels.
const (
	wordWhy         = "WHY"
	wordConfirm     = "CONFIRM FIRST"
	wordTry         = "TRY THIS FIRST"
	wordTrySuspect  = "IF IT WAS MEMORY, TRY THIS FIRST"
	wordTrySurvived = "SO THAT IT DOES NOT HAPPEN AGAIN"
	wordInstead     = "OR INSTEAD"
	wordHolders     = "WHO HELD IT"
	wordEvidence    = "EVIDENCE"
	wordChecklist   = "CHECKLIST"
	wordBudget      = "WHERE THE MEMORY SHOULD BE"
	wordFindings    = "FIGURES"
	wordRivals      = "WHAT ELSE IT COULD BE"
	wordTrace       = "TRACEBACK"
	wordLog         = "IN THE LOG"

	labelPhase         = "phase: "
	labelAfter         = "afterwards"
	labelConfidence    = " confidence"
	labelRun           = "run"
	labelMissing       = "not in the log"
	labelFigures       = "figures disagree"
	wordInnermost      = ", innermost last"
	wordCosts          = "Costs: "
	wordFirst          = "Note: "
	wordNext           = "Next: "
	wordByDefault      = " by default"
	wordWas            = "# was "
	wordNow            = "now "
	wordProcess        = "process"
	wordProcesses      = "processes"
	wordHost           = "host RAM"
	wordRest           = "rest of this process"
	wordThisProcess    = "this process"
	wordKilledProcess  = "the killed process"
	wordOtherProcesses = "other processes"
	wordInUse          = "in use, the log does not say by whom"
	wordInUseShort     = "in use"
	wordShm            = "/dev/shm"
	wordPageCache      = "page cache"
	wordKernel         = "not itemized"
	wordOthersOrFree   = "others or free"
	wordOthers         = "others"
	wordNotGPU         = "This is not GPU memory."
	wordNotProven      = "The log does not prove that memory ran out."
	wordSurvived       = "The program caught the error and went on."
	wordOvershot       = "The request alone is larger than the whole card."
	wordKilled         = "killed"
	wordNotShown       = "The log does not show what"
	wordNoFix          = "NO SINGLE FIX FOUND"
	wordNotSetNow      = ", not set now"
	wordStarred        = "try first"
	wordOther          = "or instead"
	wordNotHere        = "Not applicable  "
	wordFullLength     = "full length"
	wordNoProposal     = "Work through the checklist below, from the top."
	wordCut            = "Cut here: an issue can hold no more. The HTML report has everything."
	wordEvidenceFolded = "Evidence"
	wordAlso           = "Also possible: "
)

// badges say how sure it is that memory ran out, and whether that ended the run.
const (
	badgeWordMemory   = "OUT OF MEMORY"
	badgeWordSurvived = "SURVIVED"
	badgeWordSuspect  = "SUSPECTED"
	badgeWordOther    = "NOT MEMORY"
)

// sureness qualifies a cause by its confidence.
var sureness = map[string]string{"medium": "Probably: ", "low": "Perhaps: "}

// subjects say what ran out, by kind; a place and a phase follow. For suspects they say what happened and what that may mean.
var subjects = map[string]string{
	"gpu_oom": "GPU memory", "gpu_driver_oom": "GPU memory", "kv_cache": "no room for the KV cache", "nccl_oom": "NCCL could not allocate GPU memory",
	"host_oom": "host RAM", "oom_kill": "host RAM", "shm_exhausted": "/dev/shm is full", "nccl_failure": "an NCCL call failed",
	"illegal_access": "illegal memory access: a bug in GPU code, not a lack of memory", "process_exit": "a process ended",
}

var suspects = map[string]struct{ subject, meaning string }{
	"oom_kill":       {"a process was killed, perhaps for lack of host RAM", "It got SIGKILL; a time limit, scancel or preemption also does that."},
	"host_oom":       {"an allocation of host memory failed", "A limit on locked memory (ulimit -l) also does that."},
	"gpu_oom":        {"a GPU operation failed, perhaps for lack of GPU memory", "Other errors print the same message."},
	"gpu_driver_oom": {"a GPU operation failed, perhaps for lack of GPU memory", "Other errors print the same message."},
	"shm_exhausted":  {"a process died of a bus error, perhaps because /dev/shm was full", "It got SIGBUS, and the log gives no reason."},
	"nccl_failure":   {"an NCCL call failed", "It failed or timed out; nothing shows that memory ran out."},
}

// phases say when, behind what ran out.
var phaseWords = map[string]string{
	"init": "at start-up", "rollout": "during generation", "logprob": "in the log-prob pass", "forward": "in the forward pass",
	"backward": "in the backward pass", "optimizer": "in the optimizer step", "training": "in a training step",
	"weight_update": "during the weight update", "nccl": "in a collective", "checkpoint": "while saving or loading a checkpoint",
	"data": "in data loading",
}

// consequenceWords name what followed.
var consequenceWords = map[string]string{
	"gpu_oom": "out of GPU memory", "gpu_driver_oom": "out of GPU memory", "kv_cache": "no room for the KV cache",
	"nccl_oom": "NCCL out of memory", "nccl_failure": "NCCL failed or timed out", "host_oom": "host allocation failed",
	"oom_kill": "a process was killed", "shm_exhausted": "/dev/shm full", "illegal_access": "illegal memory access", "process_exit": "a process ended",
	"job_cancelled": "job cancelled", "exception": "an exception", "restart": "workers restarted", "recovered": "recovered", "pressure": "low memory",
}

// manyFollowed name what followed more than once, where that is more than the same word with a number.
var manyFollowed = map[string]string{"oom_kill": "processes were killed", "process_exit": "processes ended", "exception": "exceptions"}

// followedText says what followed, and how often.
func followedText(kind string, n int) string {
	switch many := manyFollowed[kind]; {
	case n == 1:
		return named(consequenceWords, kind)
	case many != "":
		return grouped(n) + string(nbsp) + many
	}
	return fmt.Sprintf("%s %s times", named(consequenceWords, kind), grouped(n))
}

// killers name who kills for memory; see classifier.Kill.
var killers = map[string]string{
	"kernel": "The kernel's OOM killer", "ray": "Ray's memory monitor", "kubelet": "The kubelet", "systemd-oomd": "systemd-oomd", "earlyoom": "earlyoom",
	"pbs": "PBS", "lsf": "LSF", "sge": "Grid Engine", "condor": "HTCondor",
}

// partWords name the parts of a memory bar.
var partWords = map[ink]string{
	partAllocated: "tensors", partReserved: "reserved but unused", partProcess: "CUDA and NCCL", partOthers: "other processes", partFree: "free",
	partUnknown: "unexplained",
}

// verbs say in which direction a setting goes.
var verbs = map[string]string{"up": "raise it", "down": "lower it", "set": "set it"}

// shareNotFree reports whether an engine found less free memory than its whole share when it started: its cache is not meant.
func shareNotFree(in *Incident) bool {
	return in.Kind == "kv_cache" && in.Root.Request != nil && in.Root.Total != nil && in.Root.Free != nil && in.Shortfall != nil
}

// cacheSubject is what ran out when an engine could not have the KV cache that its settings need.
func cacheSubject(in *Incident) string {
	switch r := in.Root.Request; {
	case shareNotFree(in):
		return "not enough free GPU memory for the engine"
	case r != nil && in.Shortfall != nil && *in.Shortfall < *r:
		return "the KV cache is too small"
	}
	return subjects["kv_cache"]
}

// requestText says what the program tried to allocate and what was free.
func requestText(in *Incident) string {
	r := &in.Root
	if r.Request == nil {
		return ""
	}
	var b strings.Builder
	if shareNotFree(in) {
		return fmt.Sprintf("The engine wants %s of the GPU's %s; %s was free: %s short.", size(*r.Request), size(*r.Total), size(*r.Free), size(*in.Shortfall))
	}
	if in.Kind == "kv_cache" {
		fmt.Fprintf(&b, "It needs %s of KV cache", size(*r.Request))
		if in.Shortfall != nil {
			fmt.Fprintf(&b, "; %s is left: %s short", size(*r.Request-*in.Shortfall), size(*in.Shortfall))
		}
		return b.String() + "."
	}
	fmt.Fprintf(&b, "Tried to allocate %s", size(*r.Request))
	switch {
	case r.Free != nil && r.Total != nil:
		fmt.Fprintf(&b, "; %s were free", sizeOf(*r.Free, *r.Total))
	case r.Free != nil:
		fmt.Fprintf(&b, "; %s was free", size(*r.Free))
	case r.Total != nil:
		fmt.Fprintf(&b, "; the card has %s", size(*r.Total))
	case in.Resource == "gpu":
		b.WriteString("; how much was free is not in the log")
	}
	if in.Shortfall != nil {
		fmt.Fprintf(&b, ": %s short", size(*in.Shortfall))
	}
	b.WriteByte('.')
	if in.Resource == "gpu" && r.Total != nil && *r.Request > *r.Total {
		b.WriteString(" " + wordOvershot)
	}
	return b.String()
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
	if in.Root.Time != nil {
		b.WriteString(" at " + clock(*in.Root.Time))
	}
	switch ph := phaseText(in); {
	case ph != "" && (in.Root.Time != nil || in.Confidence == "low"):
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
	if in.Confidence == "low" {
		return "probably " + w
	}
	return w
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

// check is a command that settles a suspicion, and how to read what it prints.
type check struct{ Command, Reading string }

// checks are the commands that settle a suspicion.
func checks(r *Report, in *Incident) []check {
	switch {
	case in.Resource == "shm":
		return []check{{"df -h /dev/shm", "In the container or on the node, while it runs: full, or only Docker's 64 MB, confirms it."}}
	case in.Resource == "gpu":
		return []check{{"nvidia-smi --loop=1", "On the node, until it fails: a GPU with almost nothing free confirms it."}}
	case in.Kind == "host_oom":
		return []check{{"free -g; ulimit -l", "On the node, while it runs: less available than it asks for confirms it."}}
	}
	var out []check
	if deref(r.Run.Launcher) == "k8s" {
		out = append(out, check{"kubectl describe pod POD", "OOMKilled, or an eviction for memory, confirms it."})
	} else {
		out = append(out, check{
			"sacct -j " + jobID(r) + " --format=JobID,State,ExitCode,MaxRSS,ReqMem",
			"OUT_OF_MEMORY confirms it; TIMEOUT, CANCELLED or PREEMPTED refutes it.",
		})
	}
	where := "the node"
	if h := deref(in.Root.Host); h != "" {
		where = h
	}
	what := "the job's process"
	if in.Root.PID != nil {
		what = "pid " + strconv.Itoa(*in.Root.PID)
	}
	return append(out, check{
		"dmesg -T | grep -iE 'oom-kill|killed process'", "As root on " + where + ": a line about " + what + " confirms it.",
	})
}

// jobID is the job's id if it can be pasted into a shell, else a word in its place: it comes from a log.
func jobID(r *Report) string {
	id := deref(r.Run.JobID)
	if id == "" || len(id) > 40 || strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.+") != "" {
		return "JOBID"
	}
	return id
}

// killedInAll says how many processes a storm of kills took.
func killedInAll(n int) string { return count(n, "process", "processes") + " killed in all" }

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
	if own := in.Root.OwnBytes; n < 2 && own != nil {
		groups := othersByName(in, nil)
		for _, g := range groups {
			switch {
			case g.bytes <= 2*(*own) || g.bytes > *limit:
			case g.count > 1:
				return fmt.Sprintf("%d %s processes hold %s, the killed process %s", g.count, g.name, sizeOf(g.bytes, *limit), size(*own))
			default:
				return fmt.Sprintf("%s holds %s, the killed process %s", g.name, sizeOf(g.bytes, *limit), size(*own))
			}
		}
	}
	if n < 2 || bytes > *limit {
		return ""
	}
	return fmt.Sprintf("%d %s processes hold %s (%.0f %%)", n, name, size(bytes), 100*float64(bytes)/float64(*limit))
}

// killedName is the name of the killed process, if only the list of processes has it.
func killedName(in *Incident) string {
	if name := deref(in.Root.Process); name != "" || in.Root.PID == nil || in.Ledger == nil {
		return name
	}
	for _, x := range in.Ledger.Tasks {
		if x.PID != nil && *x.PID == *in.Root.PID {
			return x.Name
		}
	}
	return ""
}

// timesText says how often the first failure was seen, empty for once.
func timesText(in *Incident) string {
	switch n := len(in.Victims); {
	case n > 1:
		return killedInAll(n)
	case in.Repeats > 0:
		return sameError(in, in.Repeats)
	}
	return ""
}

// sameError says how often the first failure was reported again: by other ranks, or raised once more.
func sameError(in *Incident, n int) string {
	what := "same error "
	if in.Kind == "oom_kill" {
		what = "reported "
	}
	return what + count(n, "more time", "more times")
}

// against says in few words why an item does not apply: settings by their last word.
func against(why string) string { return words(strings.TrimPrefix(why, "it is "), lastPart) }

// inBrief is [against] without what explains it further: the full report has that, and the place in the log.
func inBrief(why string) string {
	why, _, _ = strings.Cut(against(why), ": ")
	return strings.ReplaceAll(settingPlace().ReplaceAllString(why, ""), "; ", ", ")
}

// settingPlace is where the log tells a setting, behind it.
var settingPlace = lazyre.New(` \([^() ]+:\d+\)`)

// closing is the report's last line: how many incidents, the first change, and where the first one stands.
func closing(r *Report) string {
	n := len(r.Incidents)
	if n == 0 {
		return ""
	}
	in := &r.Incidents[0]
	file := in.Root.File
	if file == source.Stdin {
		file = "stdin"
	}
	parts := []string{position(file, in.Root.Line)}
	if len(in.Proposals) > 0 {
		parts = append([]string{firstStep(in)}, parts...)
	}
	return count(n, "incident", "incidents") + ": " + strings.Join(parts, ", ")
}

// firstStep is what to do first, in a line: a fix only where the cause is proved and the change is known to be enough.
func firstStep(in *Incident) string {
	x := in.Proposals[0]
	sure := in.Verdict == "memory" && in.Cause != nil && in.Cause.Confidence == "high" && x.Fits != nil && *x.Fits
	more, typed := len(x.Changes)-1, slices.ContainsFunc(x.Changes, func(c Change) bool { return c.To != nil })
	x.Changes = x.Changes[:min(1, len(x.Changes))] // the others stand above
	fix := inSentence(fixOf(&x))
	switch {
	case typed && sure:
		fix = "fix " + fix
	case typed:
		fix = "try " + fix
	}
	if more > 0 {
		fix += fmt.Sprintf(" and %d more", more)
	}
	return fix
}

// fixOf is a proposal in a few words: what to type, which setting to move, or what it says; empty when it says nothing.
func fixOf(x *Proposal) string {
	var parts []string
	for _, c := range x.Changes {
		switch {
		case c.Key == "":
		case c.To == nil:
			parts = append(parts, strings.TrimSuffix(cmp.Or(verbs[c.Direction], verbs["set"]), " it")+" "+c.Key)
		case c.Snippet == "" || strings.Contains(c.Snippet, "\n") && !strings.Contains(*c.To, " "):
			parts = append(parts, c.Key+"="+*c.To)
		default:
			snippet := strings.TrimPrefix(strings.TrimPrefix(c.Snippet, "export "), "# ") // a comment says what to take out
			parts = append(parts, strings.ReplaceAll(snippet, "\n", " "))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), cmp.Or(x.Title, x.Text))
}

// named is the word for an identifier, or the identifier itself when there is none.
func named(words map[string]string, id string) string {
	if w := words[id]; w != "" {
		return w
	}
	return strings.ReplaceAll(id, "_", " ")
}

// unbroken keeps a text on one line.
func unbroken(s string) string { return strings.ReplaceAll(s, " ", string(nbsp)) }

// size prints bytes as the findings' sentences do, without decimals that say nothing, never broken from their unit.
func size(n int64) string {
	figure, unit, _ := strings.Cut(classifier.GiB(n), " ")
	if whole, decimals, ok := strings.Cut(figure, "."); ok && strings.Trim(decimals, "0") == "" {
		figure = whole
	}
	return figure + string(nbsp) + unit
}

// sizeOf prints a part and its whole, with one unit where both have the same.
func sizeOf(part, whole int64) string {
	if part >= 1<<30 && whole >= 1<<30 {
		figure, _, _ := strings.Cut(size(part), string(nbsp))
		return figure + unbroken(" of ") + size(whole)
	}
	return size(part) + " of " + size(whole)
}

// column prints bytes for a column of figures, which must share one unit: that of the whole.
func column(n, whole int64) string {
	if whole < 1<<30 {
		return fmt.Sprintf("%.1f%cMiB", float64(n)/(1<<20), nbsp)
	}
	return fmt.Sprintf("%.2f%cGiB", float64(n)/(1<<30), nbsp)
}

// count prints a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1" + string(nbsp) + one
	}
	return grouped(n) + string(nbsp) + many
}

// grouped prints a number with separators between the thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// lineText is a place in the log that was named before.
func lineText(n int) string { return fmt.Sprintf("line%c%d", nbsp, n) }

// position is a place in a log.
func position(file string, line int) string {
	if file == "" {
		return ""
	}
	if line <= 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

// deref is a pointer's value, empty for nil.
func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
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

// Names in reports for CI servers.
const (
	wordOnlyJob    = "job"
	wordNoIncident = "no incident"
)

// promHelp says what each counter counts.
var promHelp = map[string]string{
	"oomscan_incidents_total":     "Incidents that the logs show.",
	"oomscan_jobs_total":          "Jobs whose logs were read.",
	"oomscan_inputs_total":        "Logs that were read.",
	"oomscan_unread_inputs_total": "Logs that could not be read to their end.",
	"oomscan_read_bytes_total":    "Bytes of logs that were read.",
}
