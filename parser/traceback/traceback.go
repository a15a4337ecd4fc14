// Package traceback assembles reports that programs print over many lines: Python tracebacks (plain ones, Ray's
// remote ones, nested ones of DataLoader workers), torchrun's failure block and the kernel's OOM report.
//
// Lines come without line prefixes. Because ranks interleave line by line, each writer (source, rank, process label)
// has its own assemblers. Nothing here fails on content or grows without bound.
package traceback

// Limits of a [Trace]. Texts are cut between runes.
const (
	maxHeadFrames = 80  // outermost frames kept as printed
	maxTailFrames = 120 // last frames kept as printed
	maxPath       = 1 << 10
	maxFunc       = 256
	maxCode       = 512
	maxMessage    = 4 << 10
	maxClass      = 256
	maxRepr       = 256

	frameBytes = 80 // of a frame without its texts
)

// Frame is one entry of a Python traceback.
type Frame struct {
	File string // as printed
	Line int    // 0 if the frame has no line number
	Func string // empty if not printed
	Code string // the quoted source line, trimmed; empty if not printed
}

// Origin is the process that a remote traceback comes from, according to Ray's header
// `ray::WorkerDict.actor_rollout_update_actor() (pid=311860, ip=10.20.4.17, actor_id=.., repr=..)`.
type Origin struct {
	Actor  string // "WorkerDict"; empty for a plain task
	Method string // "actor_rollout_update_actor"
	PID    int    // 0 if not printed
	IP     string
	Repr   string // cut to a limit; "MegatronPolicyWorker[rank=9]" names a rank
	Rank   int    // the rank in Repr, or -1
}

// Trace is a Python traceback. Texts are copies with limited length.
type Trace struct {
	Line      int     // 1-based physical line of its header
	EndLine   int     // line of the exception message; 0 while unfinished
	Frames    []Frame // outermost first
	Dropped   int     // frames in the middle that exceeded the limit
	Exception string  // class as printed: "torch.OutOfMemoryError"; empty if the message has none
	Message   string  // first line of the message, without the class
	Origin    *Origin // nil for a local traceback
	// Reversed means that the frames were printed innermost first, as faulthandler does; Frames has the usual order.
	// Exception is then "Fatal Python error" for the thread that crashed, and empty for others.
	Reversed bool
	// Headless means that the header was lost, and possibly some frames after it.
	Headless bool
	// Cause is the previous traceback, tied by "The above exception was the direct cause of" or "During handling of
	// the above exception", or the driver's traceback that contains this remote one. It may be nil.
	Cause *Trace
}

// Size estimates how many bytes t takes in memory, including its causes.
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
