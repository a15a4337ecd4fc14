// Package phase finds in which part of a training run a failure happened: from a Python stack, from the name of the
// remote method that was pending, from an open timer, from a process label or from the name of a log file.
//
// A stack is the best evidence. It is walked from the outermost frame to the innermost while two things are kept: the job that was
// running (start-up, rollout, log-probabilities, training, weight update, checkpoint, data) and the part of it (forward,
// backward, optimizer step). The innermost job wins, the outermost part wins: a forward pass that recomputes activations
// inside the autograd engine is backward, a forward pass inside a log-probability pass is logprob.
//
// All functions are pure and safe for concurrent use. They keep nothing of their arguments except the frame that a
// verdict points to, and they read at most a fixed number of bytes of each string.
package phase

import (
	"strings"

	"oomscan/parser/traceback"
)

// How sure a verdict is.
const (
	High   = "high"   // a frame or name that means one phase and nothing else
	Medium = "medium" // one that means the phase unless something stronger contradicts
	Low    = "low"    // a hint
)

// Verdict is a phase with its reason.
type Verdict struct {
	Phase      string
	Confidence string // High, Medium or Low
	Why        string // one sentence for people; it may quote the log, so escape it before showing it
	// Frame is the deciding frame, pointing into the slice that was given; nil when no frame decided.
	Frame *traceback.Frame
}

// strength is the weight of a sign. A weak sign never overrules a sign of another kind.
type strength uint8

const (
	neutral strength = iota
	weak
	strong
	decisive
)

func (s strength) confidence() string {
	switch s {
	case decisive:
		return High
	case strong:
		return Medium
	default:
		return Low
	}
}

// part reports whether a phase is part of a training step.
func part(p Phase) bool { return p == Forward || p == Backward || p == Optimizer }

const (
	maxPath = 512 // bytes read of a path, from its end
	maxCode = 400 // bytes read of a quoted source line or a name
	maxShow = 80  // bytes of the log that a sentence repeats
)

// head returns at most n bytes of s, cut at a rune.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// show quotes a part of the log in a sentence.
func show(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if short := head(s, maxShow); len(short) < len(s) {
		return short + "..."
	}
	return s
}

// shortPath shortens a path: to the part below site-packages, else to its last components.
func shortPath(file string) string {
	comps := SplitPath(file)
	if comps[0] == Installed {
		return show(strings.Join(comps[1:], "/"))
	}
	return show(strings.Join(comps[max(0, len(comps)-3):], "/"))
}
