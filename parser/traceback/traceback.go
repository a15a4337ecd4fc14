// Package traceback assembles reports that programs print over many lines: Python tracebacks (plain, remote ones of
// Ray, nested ones of DataLoader workers), torchrun's failure block and the kernel's out-of-memory report.
//
// Lines arrive without their envelopes, one stream at a time: ranks interleave line by line, so every stream (source,
// rank, process label) owns its own assemblers. Nothing here fails on content, and nothing grows without bound.
package traceback

// The caps on what one [Trace] keeps. Texts are cut on a rune boundary.
const (
	maxHeadFrames = 80  // outermost frames kept as printed
	maxTailFrames = 120 // last frames kept as printed
	maxPath       = 1 << 10
	maxFunc       = 256
	maxCode       = 512
	maxMessage    = 4 << 10
	maxClass      = 256
	maxRepr       = 256

	frameBytes = 80 // of a frame, without its texts
)

// Frame is one entry of a Python traceback.
type Frame struct {
	File string // as printed
	Line int    // 0 when the frame names no line
	Func string // function name; empty when not printed
	Code string // the quoted source line, trimmed; empty when not printed
}

// Origin says which process a remote traceback comes from, by Ray's header
// `ray::WorkerDict.actor_rollout_update_actor() (pid=311860, ip=10.20.4.17, actor_id=.., repr=..)`.
type Origin struct {
	Actor  string // "WorkerDict"; empty for a plain task
	Method string // "actor_rollout_update_actor"
	PID    int    // 0: not printed
	IP     string
	Repr   string // capped; "MegatronPolicyWorker[rank=9]" names a rank
	Rank   int    // a rank that Repr names, else -1
}

// Trace is one Python traceback. Strings are copies, capped.
type Trace struct {
	Line      int     // 1-based physical line of its header
	EndLine   int     // line of the exception message; 0 while unfinished
	Frames    []Frame // outermost first
	Dropped   int     // frames left out in the middle by the cap
	Exception string  // class as printed: "torch.OutOfMemoryError"; empty when the message has none
	Message   string  // first line of the message, without the class
	Origin    *Origin // nil for a local traceback
	// Reversed is set if the frames were printed innermost first, as faulthandler does; Frames are in the usual order all
	// the same. Exception is then "Fatal Python error" for the thread that crashed, and empty for the others.
	Reversed bool
	// Cause is the traceback printed just before, tied by "The above exception was the direct cause of" or "During
	// handling of the above exception", or the driver's traceback that a remote one was printed inside of. nil: none.
	Cause *Trace
}

// Size is about how many bytes t takes in memory, its causes included.
func (t *Trace) Size() int {
	n := 0
	for ; t != nil; t = t.Cause {
		n += 256 + len(t.Exception) + len(t.Message)
		for i := range t.Frames {
			f := &t.Frames[i]
			n += frameBytes + len(f.File) + len(f.Func) + len(f.Code)
		}
	}
	return n
}
