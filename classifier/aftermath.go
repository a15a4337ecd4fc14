package classifier

import (
	"cmp"
	"slices"
	"strings"

	"oomscan/classifier/phase"
	"oomscan/parser"
	"oomscan/parser/lazyre"
	"oomscan/parser/pattern"
	"oomscan/parser/traceback"
)

// survived reports whether the run went on: it recovered, or reported training steps after the root.
func (c *conclusion) survived() bool {
	f, last := c.root.file, c.lastEvidence()
	end := f.Steps
	if last.Attempt < len(f.Done) {
		end = f.Done[last.Attempt]
	}
	if !c.diedAtFirst(last) && (c.behind(f.Steppers, last.StepsBy, end-last.Steps, last) >= c.enoughSteps(last) || c.goesOn(last)) || c.failsAgain(last) || c.retried() || c.warned() || c.usesAnother(last) || c.stepsElsewhere() || c.endsWell(last) || f.Succeeded > last.At.Line {
		return true
	}
	for _, e := range c.job.index.recovered {
		if e.Attempt != last.Attempt && e.file == f || c.another(e) || e.fields["status"] != "" && uncaught(last.Trace) {
			continue
		}
		if e.fields["announces"] != "" {
			if e.file == f && announces(e, last) {
				return !c.diedAfter()
			}
			continue
		}
		if e.file == f && e.At.Line >= last.At.Line {
			return !c.fatalAfter(e)
		}
		if e.file != f && e.Clock != "" && e.Clock == last.Clock && e.When.After(last.When) {
			return true
		}
	}
	return false
}

// announces reports whether a program says right above the traceback of a failure, or right below a failure that it caught, that it goes on.
func announces(e, failure *event) bool {
	const above, below = 2, 3
	t := failure.Trace
	if e.fields["announces"] == "below" {
		return e.At.Line > failure.At.Line && e.At.Line-failure.At.Line <= below && !uncaught(t)
	}
	return t != nil && t.Line-e.At.Line >= 0 && t.Line-e.At.Line <= above
}

// enoughSteps is how many steps behind an event show that the run went on: one of those under way may still be reported. A message that came
// before each of several steps, with no traceback, harms none.
func (c *conclusion) enoughSteps(last *event) int {
	const steps, lookBack = 3, 60
	harmless, step := 0, last.Steps
	all := c.job.index.evidences[last.file]
	at, _ := slices.BinarySearchFunc(all, last.At.Line, func(x *event, line int) int { return cmp.Compare(x.At.Line, line) })
	for _, x := range slices.Backward(all[max(0, at-lookBack):at]) {
		if x.Pattern == last.Pattern && x.Trace == nil && last.Trace == nil && x.Header.Stream == last.Header.Stream && x.Steps < step {
			harmless, step = harmless+1, x.Steps
		}
	}
	if harmless >= steps {
		return 1
	}
	return 2
}

// lastEvidence is what was reported last of the failure, in the root's input. A controller repeats it once it has decided to go on.
func (c *conclusion) lastEvidence() *event {
	last := c.evidence[0]
	for _, e := range c.evidence {
		if e.file == c.root.file && e.At.Line > last.At.Line && (sameWriter(c.root, e) || !echo(c.root, e)) {
			last = e
		}
	}
	return last
}

// endsWell reports whether a log goes on and ends as if nothing had happened, behind a message that is nobody's own word of a death.
func (c *conclusion) endsWell(last *event) bool {
	return !slices.ContainsFunc(c.evidence, tellsOfDeath) && (beforeTheRun(last) || c.endedWell(last))
}

// quoted reports whether something only shows what a node or a scheduler says of a kill: who is killed says nothing. Programs that kill a worker
// of their own and go on speak themselves.
func (c *conclusion) quoted() bool {
	others := func(e *event) bool { return !e.pattern.Node && e.pattern.Scheduler == "" }
	return c.root.Kind == parser.OOMKill && !slices.ContainsFunc(c.evidence, others) && c.endsWell(c.lastEvidence())
}

// beforeTheRun reports whether the first program that the input shows started behind a message and then counted on: the message is one
// that a command of the job's script printed, such as a list of packages, a diff or the state of other nodes.
func beforeTheRun(last *event) bool {
	f := last.file
	return f.Begins > last.At.Line && last.unlabelled() && (f.Progress-last.Progress >= 3 || f.Steps-last.Steps >= 2)
}

// endedWell reports whether a program or its script said behind a message that it ended well, and nobody saw a process end. A script may go on
// behind an engine, which prints no traceback.
func (c *conclusion) endedWell(last *event) bool {
	if last.file.EndedWell <= last.At.Line || isServer(c.root.pattern.Framework) || c.root.pattern.Application != "" {
		return false
	}
	return !c.diedAfter() && !slices.ContainsFunc(c.job.index.followers, func(e *event) bool {
		return e != c.root && (c.follows(e) || e.file == c.root.file && c.root.At.Line-e.At.Line <= 2) // C++ says first that it terminates
	})
}

// tellsOfDeath reports whether the program that failed speaks itself, with a traceback that nothing caught or a record of an error, or who killed
// it: Slurm by its name, another scheduler, Kubernetes, the kernel or a daemon in its log.
func tellsOfDeath(e *event) bool {
	switch by := e.pattern.Program; {
	case uncaught(e.Trace), e.Header.Level == 'E', e.Header.Level == 'F':
		return true
	case by.Scheduler != "" && by.Authority != pattern.Counted: // its accounting, or another's report, which stands before the job's output
		return true
	case by.Scheduler != "":
		return strings.HasPrefix(e.Text, "slurmstepd: ") || strings.HasPrefix(e.Text, "srun: ")
	case by.Killer != "":
		return by.Launcher == "k8s" || e.Header.Clock != "" || e.Header.Process != ""
	}
	return false
}

// failsAgain reports whether the run counted on until it failed in another way: an incident of its own.
func (c *conclusion) failsAgain(last *event) bool {
	for _, x := range c.job.index.evidences[last.file] {
		if x.At.Line > last.At.Line && x.cluster != last.cluster {
			return x.Attempt == last.Attempt && countedOn(last, x)
		}
	}
	return false
}

// diedAtFirst reports whether the only program in the input died of an uncaught failure before its first training step. Later steps
// then belong to another launch.
func (c *conclusion) diedAtFirst(e *event) bool {
	before := 0
	if e.Attempt > 0 && e.Attempt <= len(e.file.Done) {
		before = e.file.Done[e.Attempt-1]
	}
	return e.unlabelled() && uncaught(e.Trace) && e.Steps == before && e.file.PlainSteps && !e.file.distributed()
}

// stepsElsewhere reports whether training steps were reported after a kill had been noticed, in a log that is not the
// kernel's, or weaker signs that a run goes on after the end of the very process that was killed.
func (c *conclusion) stepsElsewhere() bool {
	if c.root.Kind != parser.OOMKill || c.root.file.Steps > 0 {
		return false
	}
	last := map[*file]*event{}
	for _, x := range c.job.index.kills {
		if x.file != c.root.file && x.Attempt == x.file.Attempt {
			last[x.file] = x
		}
	}
	for f, x := range last {
		if f.Steps-x.Steps >= 2 || x.fields["pid"] != "" && x.fields["pid"] == c.root.fields["pid"] && c.goesOn(x) {
			return true
		}
	}
	return false
}

// skips matches a trainer that skips the batch, or a program that answers the request with an error or goes on with the next query, on the line of
// the failure itself: ComfyUI, InvokeAI, Triton's Python backend, Celery, ColabFold (colabfold/batch.py); CodeFormer (inference_codeformer.py) and
// GFPGAN (gfpgan/utils.py), which keep a face as it was.
var skips = lazyre.New(`\b[Ss]kipp(?:ing|ed) (?:this |the )?(?:batch|sample|step|update|iteration)\b|\b[Rr]etrying with (?:a )?(?:smaller |reduced )?(?:micro[- ]?)?batch|^!!! Exception during processing !!! ` +
	`|\bError while invoking session [\w-]{1,40}, invocation |\bFailed to process the request\(s\) for model |\bTask [\w.]{1,200}\[[\w-]{1,40}\] raised unexpected: |\bCould not predict \S{1,200}\. Not Enough GPU memory\? |^\s{0,4}Failed inference for (?:CodeFormer|GFPGAN)\b`)

// retried reports whether the failed process tries again or goes on without the batch, and nothing died afterwards.
func (c *conclusion) retried() bool {
	retries := false
	for _, e := range c.evidence {
		switch r := e.fields["retries"]; {
		case r != "":
			retries = r != "0"
		case e.Kind == parser.GPUOOM && skips().MatchString(e.Text):
			retries = true
		case e.file != c.root.file || e.At.Line <= c.root.At.Line, echo(c.root, e) && !uncaught(e.Trace): // it prints the traceback, too
		case e.Trace != nil && len(e.Trace.Frames) > 0, e.Kind == parser.OOMKill && e.pattern.Program != c.root.pattern.Program:
			retries = false // it failed, too, or somebody else killed all
		}
	}
	return retries && !c.diedAfter()
}

// caught matches the output of Python's warnings module: a program that warns has caught the error and goes on.
var caught = lazyre.New(`^(?:[^\s:]{1,300}\.py:\d{1,7}: |)\w{0,40}Warning: |\bstate_dict entry could point to invalid memory regions\b`)

// warned reports whether only warnings mention the failure, and nothing died after them.
func (c *conclusion) warned() bool {
	return !slices.ContainsFunc(c.evidence, func(e *event) bool { return !caught().MatchString(e.Text) }) && !c.diedAfter()
}

// usesAnother reports whether the program said right above the traceback what it uses instead, and nothing died after that.
func (c *conclusion) usesAnother(last *event) bool {
	t := last.Trace
	return t != nil && last.Instead > 0 && t.Line-last.Instead >= 0 && t.Line-last.Instead <= 2 && !uncaught(t) && !c.diedAfter()
}

// diedAfter reports whether something in the input ended after the root.
func (c *conclusion) diedAfter() bool {
	return slices.ContainsFunc(c.job.index.byFile[c.root.file], func(x *event) bool {
		return x.At.Line > c.root.At.Line && !c.another(x) && (isFatal(x) || x.pattern.GaveUp || x.Kind == parser.ProcessExit && x.Role == parser.Consequence)
	})
}

// isFatal reports whether an exception may have ended its program. One without the end of its traceback did not, nor one after
// which the program says that it goes on.
func isFatal(x *event) bool {
	return x.Kind == parser.Exception && (x.Trace == nil || x.Trace.EndLine > 0) && !skips().MatchString(x.Text)
}

// goesOn reports whether the input shows progress after an event (bars that count on, losses) and then nothing that died: a
// bar printed late, by a buffer that is flushed as the process ends, is followed by the death.
func (c *conclusion) goesOn(e *event) bool {
	if uncaught(e.Trace) && e.file.ProgressAt-e.At.Offset < outputBuffer && e.file.OldBars-e.OldBars < 3 && !c.trained(e) {
		return false // later lines were waiting in the buffer of standard output, where tqdm draws no bars
	}
	if c.behind(e.file.Signs, e.SignsBy, e.file.Progress-e.Progress, e) < 3 || e.Attempt != e.file.Attempt {
		return false
	}
	return !slices.ContainsFunc(c.job.index.byFile[e.file], func(x *event) bool {
		return x.Progress > e.Progress && !c.another(x) && (x.Role == parser.Evidence || x.Role == parser.Consequence || x.Kind == parser.Exception)
	})
}

// trainingLoop is a function that only the loop of a training calls, or that loop itself.
var trainingLoop = lazyre.New(`^(?:_inner_training_loop|train(?:ing)?_step|train_one_epoch|train_epoch)$`)

// trained reports whether the training in which an event happened counted on from there and came to its end: then its lines behind the
// event did not wait in a buffer. Those of an evaluation or a save behind the training may have.
func (c *conclusion) trained(e *event) bool {
	if f := e.file; f.WentOn <= e.At.Line || f.Trained <= f.WentOn {
		return false
	}
	p := c.phase().Phase
	return p == phase.Backward || p == phase.Optimizer || slices.ContainsFunc(e.Trace.Frames, func(f traceback.Frame) bool { return trainingLoop().MatchString(f.Func) })
}

// another reports whether an event comes from a different program than the root, in an input that both write to.
func (c *conclusion) another(x *event) bool {
	return x.file == c.root.file && c.job.otherJob(x.file, c.root.Header.Launched(), x.Header.Launched())
}

// outputBuffer is how many buffered bytes a dying process may still print: twice the buffers of Python and the C library.
const outputBuffer = 16 << 10

// uncaught reports whether nothing caught a failure: its traceback reaches the script itself. The traceback of a caught
// exception begins where it was caught. A process that multiprocessing started has a parent, which may go on. What Ray's driver
// raises ends with the traceback of the worker.
func uncaught(t *traceback.Trace) bool {
	for t != nil && t.Origin != nil {
		t = t.Cause
	}
	return t != nil && len(t.Frames) > 0 && t.Frames[0].Func == "<module>" && t.Frames[0].File != "<string>"
}

// fatalAfter reports whether the job still died after e, without another step.
func (c *conclusion) fatalAfter(e *event) bool {
	return slices.ContainsFunc(c.job.index.byFile[e.file], func(x *event) bool {
		return x.At.Line > e.At.Line && !c.another(x) && (c.next == 0 || x.At.Line < c.next-40) && x.Steps == e.file.Steps && x.Attempt == e.Attempt &&
			(isFatal(x) || x.pattern.GaveUp)
	})
}

// consequences lists what followed. Equal messages of one kind are listed once, with a count.
func (c *conclusion) consequences() []Consequence {
	var out []Consequence
	seen := map[string]int{}
	for _, e := range c.job.index.followers {
		if e == c.root || e.Attempt != c.root.Attempt || !c.follows(e) {
			continue
		}
		key := string(e.Kind) + "\x00" + e.Pattern
		if i, ok := seen[key]; ok {
			out[i].Count++
			continue
		}
		if len(out) >= maxConsequences {
			break
		}
		seen[key] = len(out)
		w := c.job.identify(e)
		out = append(out, Consequence{
			Kind: e.Kind, At: e.At, Rank: ptr(w.Rank), Host: w.Host, Time: e.Header.Time, Message: clean(e.Text, 300), Count: 1,
		})
	}
	slices.SortStableFunc(out, func(a, b Consequence) int {
		return cmp.Or(cmp.Compare(a.At.Source, b.At.Source), cmp.Compare(a.At.Line, b.At.Line))
	})
	return out
}

// follows reports whether an event is a consequence of the root.
func (c *conclusion) follows(e *event) bool {
	switch e.Role {
	case parser.Consequence, parser.Suspicion:
	case parser.Context:
		return e.Kind == parser.Exception && !technical(e) && e.file == c.root.file && e.At.Line > c.root.At.Line
	default:
		return false
	}
	if e.file == c.root.file {
		return e.At.Line > c.root.At.Line || c.root.Kind == parser.OOMKill
	}
	return true
}
