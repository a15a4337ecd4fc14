package traceback

import "math/bits"

// state is where an [Assembler] is between two lines. States are bits, so that a row of the table can have several.
type state uint16

const (
	// idle: no traceback is open, and nothing is pending.
	idle state = 1 << iota

	// announced: after a line above a header, or above the frames themselves.
	//   line:  -- Process 3 terminated with the following error:
	//   line:  ray::WorkerDict.update_actor() (pid=311860, ip=10.20.4.17)
	announced

	// headed: after a header, before the first frame.
	//   line:  Traceback (most recent call last):
	headed

	// frames: after a frame or the source line quoted below it.
	//   line:    File "train.py", line 12, in main
	frames

	// threads: in faulthandler's list of one thread's frames, innermost first. A blank line ends it.
	//   line:  Thread 0x00007f12 (most recent call first):
	threads

	// box: in rich's box. The exception line follows the box.
	//   line:  ╭──── Traceback (most recent call last) ────╮
	box

	// notebook: in IPython's traceback. Its header names the exception's class.
	//   line:  RuntimeError                      Traceback (most recent call last)
	notebook

	// tested: in pytest's report of a test that failed. The error is behind an E.
	//   line:  ____________ TestTrainer.test_fit ____________
	tested

	// message: after an exception line, or another line of its message.
	//   line:  RuntimeError: CUDA error: out of memory
	message

	// emptyMessage: after an exception line that ends with the class's colon. The message begins on the next line.
	//   line:  torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
	emptyMessage

	// colonMessage: after a line of a message that ends with a colon. The next line belongs to the message even if it reads
	// like an exception.
	//   line:  torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:
	colonMessage

	// ended: after the end of a message. The sentence that chains the next traceback may follow.
	ended

	// chained: after that sentence. The next traceback's cause is the last one.
	//   line:  During handling of the above exception, another exception occurred:
	chained

	// told: after a message outside of a traceback. Its frames may follow.
	//   line:  ... OutOfMemoryError: CUDA out of memory. ...
	told

	// below: in the frames below a message. Any other line ends them.
	//   line:  Stack Trace:
	below
)

const (
	python   = announced | headed | frames // as the interpreter prints it
	open     = python | threads | box | notebook | tested | below
	messages = message | emptyMessage | colonMessage
	outside  = idle | messages | ended | chained | told
	anywhere = open | outside
)

type transition struct {
	from state
	line func(*Assembler) bool // the form of the line; nil: any
	do   func(*Assembler)      // nil: nothing
	to   state                 // 0: unchanged, unless do drops the traceback; of several states, do chooses one
	is   State
}

// restart means that the line must be looked up again in the new state.
const restart State = -1

// headers are the rows for lines that open a traceback in any state. They come before [transitions].
var headers = [...]transition{
	{messages | ended, form(isNativeStack), (*Assembler).awaitSummary, messages | ended, Continuation},
	{anywhere, header(suffix("Exception Group Traceback (most recent call last):")), (*Assembler).beginGroup, headed, Header},
	{anywhere, header(suffix("Original Traceback (most recent call last):")), (*Assembler).beginNested, headed, Header},
	{anywhere, header(suffix("Traceback (most recent call last):")), (*Assembler).begin, headed, Header},
	{anywhere, header(isScriptHeader), (*Assembler).beginScript, headed, Header},
	{anywhere, header(suffix("Traceback of where the remote call failed (most recent call last):")), (*Assembler).begin, headed, Header}, // Monarch, actor_mesh.py
	{anywhere, header(suffix("(most recent call first):")), (*Assembler).beginThread, threads, Header},
	{anywhere, header(isProcessHeader), (*Assembler).beginNested, announced, Header},
	{anywhere, header(prefix("Fatal Python error: ")), (*Assembler).noteFatal, 0, Header},
	{anywhere, header(isBoxHeader), (*Assembler).begin, box, Header},
	{anywhere, header(isNotebookHeader), (*Assembler).beginNotebook, notebook, Header},
	{outside | tested, header(isTestHeading), (*Assembler).begin, tested, Header},
	{outside, header(isTestBreak), (*Assembler).begin, tested, Header},
	{messages | ended | told, form(isBelow), (*Assembler).begin, below, Header},
}

// transitions is the grammar of tracebacks: in which states a line of a form may occur, what to do with it, the next
// state, and what the line is to the caller. The first row that fits applies.
var transitions = [...]transition{
	{anywhere, (*Assembler).isRemoteHeader, (*Assembler).beginRemote, announced, Header},

	{box, (*Assembler).isBoxFrame, (*Assembler).addBoxFrame, 0, FrameLine},
	{box, form(isBoxRow), (*Assembler).quoteBox, 0, Code},

	{notebook, (*Assembler).isNotebookFrame, (*Assembler).addFrame, 0, FrameLine},
	{notebook, (*Assembler).isNotebookCode, (*Assembler).quoteCell, 0, Code},
	{notebook, (*Assembler).isNotebookGap, nil, 0, Code},
	{notebook, (*Assembler).isNotebookError, (*Assembler).finish, messages | ended, Final},

	{tested, (*Assembler).isTestFrame, (*Assembler).addFrame, 0, FrameLine},
	{tested, (*Assembler).isTestCode, (*Assembler).quote, 0, Code},
	{tested, (*Assembler).isTestError, (*Assembler).finish, messages | ended, Final},
	{tested, (*Assembler).isHeadlessFrame, (*Assembler).beginAtFrame, frames, FrameLine},

	{below, (*Assembler).isFrame, (*Assembler).addFrame, 0, FrameLine},
	{below, (*Assembler).isCall, (*Assembler).addCall, 0, FrameLine},
	{below, form(isMarks), (*Assembler).stay, 0, Code},
	{below, (*Assembler).isSource, (*Assembler).quote, 0, Code},
	{below, (*Assembler).endsBelow, (*Assembler).endBelow, idle, restart},

	{python, (*Assembler).isFrame, (*Assembler).addFrame, frames, FrameLine},
	{threads, (*Assembler).isFrame, (*Assembler).addFrame, 0, FrameLine},
	{threads, (*Assembler).endsThread, (*Assembler).endThread, idle, Final},
	{open, form(isOnly("")), (*Assembler).skip, 0, Outside},
	{open &^ notebook, form(isMarks), (*Assembler).stay, 0, Code},
	{threads, form(isOnly("...")), nil, 0, Code},
	{threads, nil, (*Assembler).abandon, idle, restart},
	{open, form(isChain), (*Assembler).chainUnfinished, chained, Outside},
	{frames | box, (*Assembler).isSource, (*Assembler).quote, 0, Code},
	{python | box, (*Assembler).isException, (*Assembler).finish, messages | ended, Final},
	{python | box, (*Assembler).isGroupBorder, nil, 0, Outside},
	{python | box, (*Assembler).isExceptionAfterBar, (*Assembler).finish, messages | ended, Final},
	{python | box, form(isBar), (*Assembler).skip, 0, Outside},
	{frames | box, (*Assembler).isText, (*Assembler).finishForNow, messages, Final},
	{open, nil, (*Assembler).skip, 0, Outside},

	{outside, (*Assembler).isResumedFrame, (*Assembler).addFrame, frames, FrameLine},
	{outside, (*Assembler).isResumedException, (*Assembler).finish, messages | ended, Final},
	{outside, form(isChain), (*Assembler).chain, idle | chained, Outside},
	{outside, (*Assembler).isHeadlessFrame, (*Assembler).beginAtFrame, frames, FrameLine},

	{messages | ended, form(isSummary), (*Assembler).continueSummary, emptyMessage, Continuation},
	{emptyMessage, form(isOnly("")), nil, 0, Outside},
	{messages, form(isOnly("")), nil, ended, Outside},
	{message, form(isError), nil, ended, Outside},
	{messages, (*Assembler).isNoMessage, nil, ended, Outside},
	{messages, nil, (*Assembler).continueMessage, message | colonMessage, Continuation},
	{anywhere, nil, nil, 0, Outside},
}

func (a *Assembler) next() *transition {
	if mayBeHeader(a.line.body) {
		if t := a.row(headers[:]); t != nil {
			return t
		}
	}
	return a.row(transitions[:])
}

// row returns the first row that fits, or nil.
func (a *Assembler) row(rows []transition) *transition {
	for i := range rows {
		t := &rows[i]
		if t.from&a.state != 0 && (t.line == nil || t.line(a)) {
			return t
		}
	}
	return nil
}

// take applies a row.
func (a *Assembler) take(t *transition) {
	if t.do != nil {
		t.do(a)
	}
	if bits.OnesCount16(uint16(t.to)) == 1 {
		a.enter(t.to)
	}
}

// enter changes the state and sets how many lines it lasts.
func (a *Assembler) enter(s state) {
	a.state = s
	switch s {
	case ended, told:
		a.until = a.fed + maxChainGap
	case chained:
		a.until = a.fed + maxForeign
	}
}
