package classifier

import (
	"strings"

	"oomscan/parser"
)

// Ending is a line that may explain how a job ended when memory did not run out. It is information, not a verdict.
type Ending struct {
	What string // time_limit, preemption, disk_full, exception ...
	At   parser.Position
	Text string
}

// endings may have ended a job. The most informative come first: ended on purpose, then a failure, then its consequences.
var endings = []string{
	"time_limit", "preemption", "node_failure", "requeue", "hardware", "disk_full", "quota", "exception", "illegal_access", "nccl_failure",
	"cancelled", "signal", "task_failure", "failed", "process_exit",
}

// mostEndings bounds how many are reported.
const mostEndings = 4

// ended returns what may have ended the job, the first of each kind. That a process ended only counts if there is nothing else.
func (j *job) ended() []Ending {
	first := map[string]*event{}
	for _, e := range j.events {
		what := endingOf(e)
		if known := first[what]; what != "" && (known == nil || what == "exception" && uncaught(e.Trace) && !uncaught(known.Trace)) {
			first[what] = e
		}
	}
	var out []Ending
	for _, what := range endings {
		if e := first[what]; e != nil && len(out) < mostEndings && (what != string(parser.ProcessExit) || len(out) == 0) {
			out = append(out, Ending{What: what, At: e.At, Text: clean(e.Text, 300)})
		}
	}
	return out
}

// endingOf is what an event says about the end of the job; empty: nothing.
func endingOf(e *event) string {
	switch e.Kind {
	case parser.JobCancelled, parser.DiskFull:
		return e.fields["reason"]
	case parser.NCCLFailure, parser.IllegalAccess:
		return string(e.Kind)
	case parser.ProcessExit:
		if e.fields["reason"] == "hardware" {
			return "hardware"
		}
		return string(e.Kind)
	case parser.Exception:
		switch {
		case technical(e) || e.Steps < e.file.Steps: // the run went on
			return ""
		case strings.Contains(e.Text, "No space left on device"), strings.Contains(e.Text, "OutOfDiskError"):
			return "disk_full"
		case strings.Contains(e.Text, "Disk quota exceeded"):
			return "quota"
		}
		return string(e.Kind)
	}
	return ""
}
