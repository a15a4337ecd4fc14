package phase

import (
	"fmt"

	"oomscan/parser/traceback"
)

// sign is what one frame said.
type sign struct {
	phase Phase
	by    strength
	frame *traceback.Frame
	note  string
	code  bool // the quoted line decided, not the file and function
}

func (s sign) set() bool { return s.frame != nil }

// walk is the state of going down a stack.
type walk struct {
	job   sign // the innermost job
	part  sign // the outermost part of it
	again bool // further frames said the same part
	moved bool // below a frame that only moves state
}

// FromFrames finds the phase from a Python stack, outermost frame first. It gives false when no frame means anything,
// or when only frames that every phase shares are to be seen.
//
// The message of the failure is not known here: an allocation that failed inside NCCL is for the caller to see. Frames
// of torch's collectives therefore mean the phase around them, and NCCL, with low confidence, only when nothing else
// is on the stack.
func FromFrames(frames []traceback.Frame) (Verdict, bool) {
	var w walk
	var collective *traceback.Frame
	for i := range frames {
		f := &frames[i]
		at := locate(f)
		x := find(&at)
		if x != nil && x.phase == NCCL {
			collective = f
			continue
		}
		w.visit(f, &at, x)
	}
	return w.verdict(collective)
}

// visit takes one frame into account: what its file and function mean, then what its quoted line means.
func (w *walk) visit(f *traceback.Frame, at *location, x *rule) {
	var flags flag
	if x != nil {
		flags = x.flags
		w.moved = w.moved || flags&mover != 0
		if x.phase != "" && w.counts(flags) {
			w.take(sign{phase: x.phase, by: x.by, frame: f, note: x.note})
		}
	}
	if flags&mover == 0 {
		w.read(f, at, x, flags&opaque != 0)
	}
	if w.part.phase == Optimizer && entersClosure(at) {
		w.part, w.again = sign{}, false // LBFGS and Lightning run the whole forward and backward pass from inside optimizer.step
	}
}

// read takes a frame's quoted line into account, unless its function is known to be something definite: then the line
// adds nothing.
func (w *walk) read(f *traceback.Frame, at *location, x *rule, library bool) {
	if x != nil && x.phase != "" && x.phase != Training {
		return
	}
	c := quoted(at, library)
	if c == nil || !w.counts(c.flags) {
		return
	}
	w.take(sign{phase: c.phase, by: c.by, frame: f, code: true})
}

// counts reports whether a rule of such flags counts after what the frames further out said.
func (w *walk) counts(flags flag) bool {
	silent := !w.job.set() && !w.part.set() && !w.moved
	hints := !w.moved && (!w.job.set() || w.job.by == weak) && (!w.part.set() || w.part.by == weak)
	return (flags&alone == 0 || silent) && (flags&yields == 0 || hints)
}

func (w *walk) take(s sign) {
	if part(s.phase) {
		switch {
		case w.part.phase == s.phase:
			w.part.by = max(w.part.by, s.by)
			w.again = w.again || w.part.frame != s.frame
		case !w.part.set(), w.part.by == weak && s.by > weak, w.part.phase == Backward && s.phase == Optimizer && s.by == decisive:
			w.part, w.again = s, false // the last: a hook of the backward pass takes an optimizer's step for each parameter
		}
		return
	}
	if w.job.phase == s.phase {
		if s.by > w.job.by || s.by == w.job.by && s.note != "" {
			w.job = s
		}
		w.part, w.again = sign{}, false
		return
	}
	if w.job.set() && !w.replaces(s) {
		return
	}
	w.job, w.part, w.again = s, sign{}, false
}

// replaces reports whether a job met further in takes the place of the one met further out.
func (w *walk) replaces(s sign) bool {
	switch {
	case s.by == weak && w.job.by > weak:
		return false
	case w.job.phase == Init && w.job.by == strong && s.phase == Data && s.by > weak:
		return true // trainers tokenize their dataset in their constructor
	case w.job.phase == Init && w.job.by > weak:
		return false // profiling runs, warm-ups and loads belong to start-up however deep they go
	case s.phase == Init && s.by < decisive && w.job.phase == WeightUpdate && w.job.by > weak:
		return false // an engine takes new weights by the code that loaded the first ones
	case s.phase == Checkpoint && (w.job.phase == WeightUpdate || w.job.phase == Data || w.job.phase == Init):
		return false // a state dict is how weights are handed over; models and datasets are read with torch.load
	case s.phase == Training && s.by == weak && w.part.set():
		return false
	}
	return true
}

func (w *walk) verdict(collective *traceback.Frame) (Verdict, bool) {
	switch {
	case w.job.set() && w.job.phase != Training && !w.overruled():
		return Verdict{w.job.phase, w.job.by.confidence(), because(w.job), w.job.frame}, true
	case w.part.set():
		by := w.part.by
		if by == weak && (w.again || w.job.phase == Training && w.job.by > weak) {
			by = strong // several frames, or one inside a known training step, are no mere hint
		}
		return Verdict{w.part.phase, by.confidence(), w.because(), w.part.frame}, true
	case w.job.set():
		return Verdict{Training, w.job.by.confidence(), because(w.job), w.job.frame}, true
	case collective != nil:
		s := sign{phase: NCCL, by: weak, frame: collective}
		return Verdict{NCCL, Low, because(s), collective}, true
	}
	return Verdict{Phase: Unknown, Confidence: Low}, false
}

// overruled: a job that was only guessed from a name gives way to the autograd engine or an optimizer below it.
func (w *walk) overruled() bool {
	return w.job.by == weak && w.part.by > weak && w.part.phase != Forward
}

func (w *walk) because() string {
	if w.job.phase != Training {
		return because(w.part)
	}
	return fmt.Sprintf("Inside the training step (%s), %s is on the stack: %s%s.",
		place(w.job), place(w.part), means(w.part.phase), aside(w.part.note))
}

func because(s sign) string {
	return fmt.Sprintf("%s is on the stack: %s%s.", place(s), means(s.phase), aside(s.note))
}

func aside(note string) string {
	if note == "" {
		return ""
	}
	return ", " + note
}

// place names a frame in a sentence.
func place(s sign) string {
	if s.frame.Func == "" && s.frame.Code == "" {
		return shortPath(s.frame.File)
	}
	if s.code || s.frame.Func == "" {
		return fmt.Sprintf("the line `%s` of %s", show(s.frame.Code), shortPath(s.frame.File))
	}
	return fmt.Sprintf("`%s` of %s", show(s.frame.Func), shortPath(s.frame.File))
}
