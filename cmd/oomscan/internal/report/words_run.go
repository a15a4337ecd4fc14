package report

import (
	"fmt"
	"strings"
)

// This file has the words for what was read, for a job without an incident, for updates of an incident, and for the short report.

const (
	badgeWordNone    = "NO MEMORY INCIDENT"
	badgeWordUnread  = "NOTHING SCANNED"
	badgeWordEmpty   = "NOTHING TO READ"
	badgeWordPartial = "PARTIAL"

	wordEnd         = "Other failures in the log"
	wordLookNext    = "If the job died anyway, look here next"
	wordNothingRead = "no input could be read"
	wordUnfinished  = "no input could be read to its end; no out-of-memory error in the part that was read"
	wordEmpty       = "the input is empty; a job that is killed early may never flush its output"
	wordInterrupted = "interrupted before everything was read"
	wordTooLong     = " too long to be read whole (--max-line)"

	formatNotInFull   = "; %s could not be read in full"
	formatNotToTheEnd = ": %s of %s not read, or not to the end"

	labelModel     = "model"
	labelRead      = "read"
	labelQuoted    = "quoted"
	labelShortened = "shortened"
	labelErrors    = "errors"
	labelUpdate    = "update"
	labelThen      = "then"

	wordWentOn       = "survived: the run went on"
	wordDidNotGoOn   = "not survived: the run ended"
	wordSeeTheReport = "see the report"
)

// endingWords name what may have ended a job.
var endingWords = map[string]string{
	"time_limit": "the time limit was reached", "preemption": "the job was preempted", "node_failure": "a node failed", "requeue": "the job was requeued",
	"hardware": "a hardware error", "disk_full": "the disk is full", "quota": "the disk quota is used up", "exception": "a Python exception",
	"illegal_access": "an illegal memory access on the GPU (usually a bug, not a lack of memory)", "nccl_failure": "communication between ranks failed or timed out",
	"cancelled": "the job was cancelled", "signal": "the job was ended by a signal", "task_failure": "a task failed", "failed": "the job failed",
	"process_exit": "a process exited",
}

// nextPlaces say where to look when the log does not show what ended a job, by the launcher. JOB stands for the job's id.
var nextPlaces = map[string][]check{
	"slurm": {
		{"sacct -j JOB --format=JobID,State,ExitCode,MaxRSS,NodeList", "how it ended"},
		{"scontrol show job JOB | grep Std", "the names of its output files; give oomscan all of them"},
	},
	"ray": {
		{"/tmp/ray/session_latest/logs/", "on the node that died: worker-*.err, raylet.out"},
		{"ray list actors --filter state=DEAD", "which actor died, and why"},
	},
	"k8s": {
		{"kubectl describe pod POD", "last state, reason and exit code"},
		{"kubectl logs POD --previous", "the output of the container that ended"},
	},
	"torchrun": {
		{"", "the log directory (--log-dir): attempt_*/RANK/stderr.log of the rank that failed first"},
	},
	"": {
		{"", "the output of the other ranks and nodes"},
		{"dmesg -T", "on the node, as root: a line about the job's processes"},
		{"", "what the scheduler says about the job"},
	},
}

// noneText says that nothing was found, and in how much.
func noneText(r *Report) string {
	return "no out-of-memory error in " + count(r.Stats.Lines, "line", "lines")
}

// quotedText says how many messages are text that a log quotes.
func quotedText(n int) string {
	return count(n, "memory message", "memory messages") + " that the log only quotes, not counted as failures"
}

// shortenedText says how many messages are kept in part only, or counted only.
func shortenedText(n int) string {
	return count(n, "message", "messages") + " without traceback or only counted: this job has more than are kept"
}

// runWords are the facts of a run that have a label, in the order in which they are shown.
func runWords(c *Run) []struct{ label, value string } {
	return []struct{ label, value string }{
		{"", deref(c.Backend)}, {"engine ", deref(c.Engine)}, {"launched by ", deref(c.Launcher)}, {"job ", deref(c.JobID)},
	}
}

// lastStepText names the last step of a run.
func lastStepText(n int) string { return fmt.Sprintf("last step%c%d", nbsp, n) }

// moreIncidents says how many incidents there are beside the one that is shown.
func moreIncidents(n int) string {
	return fmt.Sprintf(" (and %s)", count(n, "more incident", "more incidents"))
}

// figuresText are an incident's figures in one line.
func figuresText(in *Incident) string {
	r := &in.Root
	var out []string
	for _, x := range []struct {
		before, after string
		value         *int64
	}{
		{"tried to allocate ", "", r.Request},
		{"", " free", r.Free},
		{"", " in total", r.Total},
		{"", " short", in.Shortfall},
		{"the process held ", "", r.OwnBytes},
		{"limit ", "", r.Limit},
	} {
		if x.value != nil {
			out = append(out, x.before+size(*x.value)+x.after)
		}
	}
	return strings.Join(out, ", ")
}

// answer is what an incident says that a person acts on, as far as it is known.
func (in *Incident) answer() []Fact {
	r := &in.Root
	var process []string
	for _, x := range []struct {
		name  string
		value *int
	}{{"rank", r.Rank}, {"GPU", r.Device}, {"pid", r.PID}} {
		if x.value != nil {
			process = append(process, fmt.Sprintf("%s %d", x.name, *x.value))
		}
	}
	facts := []Fact{{"what", in.Kind}, {"process", on(strings.Join(process, ", "), deref(r.Host))}, {"figures", figuresText(in)}}
	if in.Verdict == "suspect" {
		facts[0].Text += ", not proven"
	}
	if in.phased() {
		facts = append(facts, Fact{"phase", in.Phase})
	}
	if in.Cause != nil && in.Cause.ID != "unknown" {
		facts = append(facts, Fact{"why", in.Cause.Text})
	}
	if len(in.Proposals) > 0 {
		facts = append(facts, Fact{"try first", fixOf(&in.Proposals[0])})
	}
	return kept(facts, func(f *Fact) bool { return f.Text != "" })
}

func on(process, host string) string {
	if host == "" {
		return process
	}
	return strings.TrimSpace(process + " on " + host)
}
