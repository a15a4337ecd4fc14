// Package envelope strips the line prefixes that loggers, launchers and collectors put in front of a program's own
// words.
//
// A line of a training log often has several: a container runtime's record, the Ray driver's
// `(WorkerDict pid=123, ip=10.0.0.1)`, a torch `[rank3]: `, an engine's time stamp. [Peel] takes them off, outermost
// first, and returns what they said in a [Header]. A prefix comes off only when it parses as a whole; otherwise the text
// stays as it is.
//
// To add one, add a row with samples to launchers (launchers.go) or programs (programs.go); the syntax of
// its template is in template.go.
package envelope

import (
	"strings"
	"time"
)

// Unknown is the value of every integer of a [Header] that no prefix gives.
const Unknown = -1

// Header is what the prefixes of one line said about it. Unknown values are the zero value for strings and times
// and [Unknown] for integers; nothing is guessed.
type Header struct {
	// Time is when the line was written, by the prefix whose stamp has most of the date (a full one before one without a year
	// before a time of day before seconds since boot), the outermost of equals. A stamp without a year has year 0, one
	// without a zone is taken as UTC: compare times of one Clock only.
	Time time.Time
	// Clock says which kind of stamp Time came from: "iso" (full date and zone), "local" (full date, no zone), "dmesg"
	// (dmesg -T), "vllm", "syslog", "glog", "c10" (no year), "clock" (time of day only), "monotonic" (dmesg's seconds,
	// counted from the zero Unix time); empty when Time is not known. Stamps of different clocks need not be comparable.
	Clock string
	// Host is a node name, pod name or address.
	Host string
	// Rank is the global rank (`[rank3]: `, Ray's `[rank=9]` inside an actor label); LocalRank the local one
	// (`[default3]:`); Task the task id of `srun -l`.
	Rank, LocalRank, Task int
	// TP, DP, PP and EP are the parallel ranks inside an inference engine (`[2026-01-01 10:00:00 TP0]`, `(Worker_TP1 pid=..)`).
	TP, DP, PP, EP int
	// Device is the CUDA ordinal that NCCL prints in brackets.
	Device int
	// PID is the process id of the innermost prefix that gives one, 0 when none does.
	PID int
	// Parent is the process id of the prefix around that one, 0 when there is none: the actor of
	// `(vLLMHttpServer pid=1) (EngineCore_DP0 pid=2) text`.
	Parent int
	// Process is the innermost process label, without its pid ("WorkerDict", "EngineCore_DP0", "raylet"); Actor the
	// outermost one (they differ for `(vLLMHttpServer pid=1) (EngineCore_DP0 pid=2) text`).
	Process, Actor string
	// Level is D, I, W, E or F (C counts as F), 0 when no prefix gives one.
	Level byte
	// Logger is where the logger says the line was printed: "core.py:844", "ProcessGroupNCCL.cpp:607", "root".
	Logger string
	// Repeats is the n of Ray's "[repeated nx across cluster]", 0 when there is none.
	Repeats int
	// Partial is set if a container runtime split the line here: the next line of the same stream continues it. Then only the
	// runtime's prefix was taken off; the whole is to be peeled again, by [Peeler.PeelInherit].
	Partial bool
	// Stream distinguishes the writers of one source: two lines belong together only when source and
	// Stream are equal. It is made of the labels (process and pid, rank, task, container), never of times or levels.
	Stream string
}

// unknown is a header that knows nothing.
var unknown = Header{
	Rank: Unknown, LocalRank: Unknown, Task: Unknown, TP: Unknown, DP: Unknown, PP: Unknown, EP: Unknown,
	Device: Unknown,
}

// NewHeader returns a header that knows nothing.
func NewHeader() Header { return unknown }

// Collected reports whether no label tells the process: there is none, or only those that whoever collected the log put before all that a
// container, a host or a file printed. by is what they name; a program's two streams are one.
func (h *Header) Collected() (by string, ok bool) {
	for label := range strings.SplitSeq(h.Stream, labelSep) {
		switch {
		case label == "", label == string(classContainer)+"stdout", label == string(classContainer)+"stderr":
		case label[0] == classContainer, label[0] == classFile, label[0] == classHost:
			by += labelSep + label
		default:
			return "", false
		}
	}
	return by, true
}

// OfActor reports whether a label tells which of a run's processes wrote the line, as Ray's do.
func (h *Header) OfActor() bool {
	for label := range strings.SplitSeq(h.Stream, labelSep) {
		if label != "" && label[0] == classProcess {
			return true
		}
	}
	return false
}

// Launched is the label that whoever started several programs put before the line (`[rank3]: `, `3: `, a container's or
// a host's name): a part of Stream, the same for all processes below it. It is empty for a line that has none, and for
// one whose outermost label is a process's own, as Ray's is: such processes are of one job.
func (h *Header) Launched() string {
	outer, _, _ := strings.Cut(h.Stream, labelSep)
	if outer == "" || outer[0] == classProcess || outer[0] == classEngine {
		return ""
	}
	return outer
}

// Within reports whether a stream is another one or part of it: the labels of the other stand before its own. All are part of the empty one.
func Within(stream, of string) bool {
	rest, ok := strings.CutPrefix(stream, of)
	return ok && (of == "" || rest == "" || strings.HasPrefix(rest, labelSep))
}

// Inherit completes the prefix of a message's later line by that of the line which opened its traceback. A stamp of the program itself
// begins a message of its own; one that a collector put on every line stands before the frames, too: within is the prefix of one of these.
func (h Header) Inherit(first, within *Header) Header {
	bare := h.Time.IsZero() || h.Clock == within.Clock && h.Level == within.Level && h.Logger == within.Logger && h.Stream == within.Stream
	for _, t := range []struct{ to, from *int }{{&h.TP, &first.TP}, {&h.DP, &first.DP}, {&h.PP, &first.PP}, {&h.EP, &first.EP}, {&h.Rank, &first.Rank}} {
		if *t.to < 0 && bare {
			*t.to = *t.from
		}
	}
	if h.Time.IsZero() {
		h.Time, h.Clock = first.Time, first.Clock
	}
	return h
}
