package traceback

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// run feeds a text. It returns a letter for each line's state (o h f c F C) and the traces after Final or Header.
func run(t testing.TB, a *Assembler, text string) (states string, traces []*Trace) {
	t.Helper()
	for i, l := range strings.Split(text, "\n") {
		s := a.Feed(i+1, []byte(l))
		states += string("ohfcFC"[s])
		if tr := a.Trace(); tr != nil && s != Continuation {
			traces = append(traces, tr)
		}
	}
	return states, traces
}

func funcs(tr *Trace) string {
	names := make([]string, len(tr.Frames))
	for i, f := range tr.Frames {
		names[i] = f.Func
	}
	return strings.Join(names, ">")
}

const oneFrame = "  File \"/a/train.py\", line 12, in main\n    loss.backward()\n"

// samples are tracebacks as programs print them. Every row of the transition table is used by one of them.
var samples = []struct {
	name   string
	text   string
	states string
	want   []string // "line-end class|message|funcs" of each trace
}{
	{
		"plain", "Traceback (most recent call last):\n" + oneFrame + "torch.OutOfMemoryError: CUDA out of memory. Tried",
		"hfcF",
		[]string{"1-4 torch.OutOfMemoryError|CUDA out of memory. Tried|main"},
	},
	{
		"pytest", "____ TestTrainer.test_fit ____\ndef test_fit():\n_ _ _ _ _ _ _ _\n/a/train.py:12: in main\n    loss.backward()\nE   torch.OutOfMemoryError: CUDA out of memory.",
		"hoofcF",
		[]string{"1-6 torch.OutOfMemoryError|CUDA out of memory.|main"},
	},
	{
		"pytest after a long function", "_ _ _ _ _ _ _ _\n/a/train.py:12: in main\n    loss.backward()\nE   torch.OutOfMemoryError: CUDA out of memory.",
		"hfcF",
		[]string{"1-4 torch.OutOfMemoryError|CUDA out of memory.|main"},
	},
	{
		"a banner like pytest's", "____ Training ____\n" + oneFrame + "MemoryError",
		"hfcF",
		[]string{"2-4 MemoryError||main"},
	},
	{
		"blanks trimmed by a collector",
		"Traceback (most recent call last):\nFile \"/a/train.py\", line 12, in main\nloss = closure()\n" +
			"File \"/a/torch/optim/adam.py\", line 80, in step\n^^^^^\nFile \"/a/lib.py\", line 9, in g\nRuntimeError: no room",
		"hfcfcfF",
		[]string{"1-7 RuntimeError|no room|main>step>g"},
	},
	{
		"glued behind a bar", "16%|# | 49/304 [9:37:16<49:07:41, 1.44it/s]Traceback (most recent call last):\n" + oneFrame + "MemoryError",
		"hfcF",
		[]string{"1-4 MemoryError||main"},
	},
	{
		"quotes that a word processor bent", "Traceback (most recent call last):\n  File “/a/train.py”, line 12, in main\n    loss.backward()\n  File '/a/b.py', line 3, in f\nMemoryError",
		"hfcfF",
		[]string{"1-5 MemoryError||main>f"},
	},
	{
		"behind a sentence", "Scheduler hit an exception: Traceback (most recent call last):\n" + oneFrame + "KeyError: 3",
		"hfcF",
		[]string{"1-4 KeyError|3|main"},
	},
	{
		"windows line ends and a NUL", "\x00Traceback (most recent call last):\r\n  File \"c:\\x.py\", line 3, in f\r\nRuntimeError: x\r",
		"hfF",
		[]string{"1-3 RuntimeError|x|f"},
	},
	{
		"IPython 7", "---------------------------------------------------------------------------\nRuntimeError                              Traceback (most recent call last)\n<ipython-input-4-9f> in <module>\n      1 for x in data:\n----> 2     step(x)\n\n~/env/lib/python3.8/site-packages/torch/tensor.py in backward(self, gradient)\n    219 \n--> 221         torch.autograd.backward(self, gradient)\n    222 \n\nRuntimeError: CUDA out of memory. Tried",
		"ohfccofcccoF",
		[]string{"2-12 RuntimeError|CUDA out of memory. Tried|<module>>backward"},
	},
	{
		"copied from Colab", "OutOfMemoryError                          Traceback (most recent call last)\n[<ipython-input-9-cc>](https://localhost:8080/#) in <cell line: 0>()\n----> 3     save(x)\n\n3 frames\n[/usr/lib/unsloth/save.py](https://localhost:8080/#) in _merge_lora(layer, name)\n--> 177             m = torch.max(w)\n\nOutOfMemoryError: CUDA out of memory",
		"hfcocfcoF",
		[]string{"1-9 OutOfMemoryError|CUDA out of memory|<cell line: 0>>_merge_lora"},
	},
	{
		"IPython 8", "OutOfMemoryError                          Traceback (most recent call last)\nCell In[3], line 2\n      1 x = 1\n----> 2 fit(x)\n\nFile ~\\env\\lib\\x.py:104, in Model.fit(self, a, *b)\n    102 def f(\n   (...)\n--> 104     return g()\n    [... skipping hidden 1 frame]\n\nOutOfMemoryError: CUDA out of memory",
		"hfccofccccoF",
		[]string{"1-12 OutOfMemoryError|CUDA out of memory|>Model.fit"},
	},
	{
		"a notebook's class without an error's name", "KeyboardStop          Traceback (most recent call last)\nInput In [3], in <cell line: 1>()\n----> 1 fit(x)\n[I 10:11:12 app] saving\nKeyboardStop: x",
		"hfcoF",
		[]string{"1-5 KeyboardStop|x|<cell line: 1>"},
	},
	{
		"rich's box in a narrow terminal", "╭──── Traceback (most recent call last) ────╮\n│ /usr/lib/python3.9/dist-packages/diffusers/mo │\n│ dels/unet.py:407 in forward                   │\n│                                               │\n│   404 │   x                                   │\n│ ❱ 407 │   y = f(                              │\n│ /usr/lib/torch/nn/modules/module.py:1501 in   │\n│ _call_impl                                    │\n╰────╯\nMemoryError",
		"hcfccccfcF",
		[]string{"1-10 MemoryError||forward>_call_impl"},
	},
	{
		"header lost", oneFrame + "  File \"b.py\", line 1, in g\nRuntimeError: x",
		"fcfF",
		[]string{"1-4 RuntimeError|x|main>g"},
	},
	{
		"the first frame's beginning lost", "models/qwen2-vl.py\", line 273, in forward\n    w = q @ k\nRuntimeError: x",
		"fcF",
		[]string{"1-3 RuntimeError|x|forward"},
	},
	{
		"a sentence about a frame", "see \"models/qwen2.py\", line 273, in forward\nx = \"a.py\", line 2, in f\nmodels/a.py\", line 2\nRuntimeError: x",
		"oooo", nil,
	},
	{
		"compiled frames without source", "Traceback (most recent call last):\n  File \"python/ray/_raylet.pyx\", line 1862, in ray._raylet.execute_task\n  File \"x.pyx\", line 3, in ray._raylet.f\nValueError: x",
		"hffF",
		[]string{"1-4 ValueError|x|ray._raylet.execute_task>ray._raylet.f"},
	},
	{
		"marks of 3.11 to 3.13 and repeats", "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    main(\n    ~~~~^\n        1,\n    ...<2 lines>...\n    )\n    ^\n  File \"a.py\", line 2, in main\n    main()\n    ^^^^^^\n  [Previous line repeated 996 more times]\nRecursionError: maximum recursion depth exceeded",
		"hfcccccc" + "fcccF",
		[]string{"1-13 RecursionError|maximum recursion depth exceeded|<module>>main"},
	},
	{
		"a name in angle brackets with a blank", "Traceback of TorchScript (most recent call last):\n  File \"<string>\", line 83, in <backward op>\n            def backward(grad):\n                ~~~~ <--- HERE\nRuntimeError: x",
		"hfccF",
		[]string{"1-5 RuntimeError|x|<backward op>"},
	},
	{
		"TorchScript's frames are inside of Python's, and its original code says more than the serialized one",
		"Traceback (most recent call last):\n  File \"a.py\", line 1, in step\n    loss.backward()\nRuntimeError: The following operation failed in the TorchScript interpreter.\n" +
			"Traceback of TorchScript, serialized code (most recent call last):\n  File \"code/a.py\", line 7, in forward\n    x = y\n        ~ <--- HERE\n\n" +
			"Traceback of TorchScript, original code (most recent call last):\n  File \"/b.py\", line 9, in attend\n        y = x\n        z = softmax(y)\n            ~~~~~~~ <--- HERE\n        return z\nRuntimeError: CUDA out of memory.",
		"hfcF" + "hfcco" + "hfccccF",
		[]string{"1-4 RuntimeError|The following operation failed in the TorchScript interpreter.|step", "1-16 RuntimeError|CUDA out of memory.|step>attend"},
	},
	{
		"a name in angle brackets that is torn", "Traceback (most recent call last):\n  File \"a.py\", line 3, in <mod 7%|#\n  File \"a.py\", line 4, in <lambda> 9%|#\n  File \"a.py\", line 5, in f.<locals>.g\nKeyError: 3",
		"hfffF",
		[]string{"1-5 KeyError|3|<mod><lambda>>f.<locals>.g"},
	},
	{
		"syntax error's frame names no function", "Traceback (most recent call last):\n  File \"a.py\", line 1\n    x = \n        ^\nSyntaxError: invalid syntax",
		"hfccF",
		[]string{"1-5 SyntaxError|invalid syntax|"},
	},
	{
		"nested two blanks deeper", "  traceback : Traceback (most recent call last):\n    File \"a.py\", line 1, in f\n      x()\n  torch.OutOfMemoryError: CUDA out of memory.",
		"hfcF",
		[]string{"1-4 torch.OutOfMemoryError|CUDA out of memory.|f"},
	},
	{
		"multi-line message ends at a blank line", "Traceback (most recent call last):\n" + oneFrame + "Exception: Capture cuda graph failed: x\nPossible solutions:\n1. set --mem\n\nother",
		"hfcFCCoo",
		[]string{"1-4 Exception|Capture cuda graph failed: x|main"},
	},
	{
		"message starts on the next line", "Traceback (most recent call last):\n" + oneFrame + "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n=====\ntrain.py FAILED",
		"hfcFCC",
		[]string{"1-4 torch.distributed.elastic.multiprocessing.errors.ChildFailedError||main"},
	},
	{
		"exception inside a message", "Traceback (most recent call last):\n" + oneFrame + "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nOutOfMemoryError: CUDA out of memory.\nKeyError: 3",
		"hfcFCo",
		[]string{"1-4 torch._dynamo.exc.BackendCompilerFailed|backend='inductor' raised:|main"},
	},
	{
		"bar and log record in the middle", "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nEpoch 3:  45%|##   | 9/20 [00:10<00:12,  1.1s/it]\n    x()\n[2025-01-01 10:00:00,123] INFO beat\n  File \"a.py\", line 2, in g\n    y()\nINFO: slow\nRuntimeError: x",
		"hfocofcoF",
		[]string{"1-9 RuntimeError|x|f>g"},
	},
	{
		"a shell's prompt behind a message", "Traceback (most recent call last):\n" + oneFrame + "RuntimeError: x\nmore of x\n(dl) me@lab:~/net$ ls\ny",
		"hfcFCoo",
		[]string{"1-4 RuntimeError|x|main"},
	},
	{
		"foreign text in the middle", "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x()\nsaving model\n  File \"a.py\", line 2, in g\n    y()\nRuntimeError: x",
		"hfcFfcF",
		[]string{"1-4 |saving model|f", "1-7 RuntimeError|x|f>g"},
	},
	{
		"torn frame lines", "Traceback (most recent call last):\n  File \"/opt/lib/python3.1[rank2]:  x()\n  File \"/opt/li  File \"/b.py\", line 7, in g[rank3]: Traceback (most recent call last):\n  File \"a.py\", line 2, in g 50%|## | 1/2\nRuntimeError: x",
		"hoffF",
		[]string{"1-5 RuntimeError|x|g>g"},
	},
	{
		"exception glued behind a bar", "Traceback (most recent call last):\n" + oneFrame + "  3%|# | 1/30 [00:01<00:30, 1.1s/it]RuntimeError: CUDA out of memory.",
		"hfcF",
		[]string{"1-4 RuntimeError|CUDA out of memory.|main"},
	},
	{
		"exception that lost its place", "Traceback (most recent call last):\n" + oneFrame + "      RuntimeError: CUDA out of memory.",
		"hfcF",
		[]string{"1-4 RuntimeError|CUDA out of memory.|main"},
	},
	{
		"loguru", "Traceback (most recent call last):\n> File \"a.py\", line 2, in f\n    x(a)\n    | | \n    | -> 3\nZeroDivisionError: x",
		"hfcccF",
		[]string{"1-6 ZeroDivisionError|x|f"},
	},
	{
		"rich", "╭────────────── Traceback (most recent call last) ──────────────╮\n│ /home/u/train.py:12 in main                                   │\n│                                                               │\n│   11 │   a = 1                                                │\n│ ❱ 12 │   run()                                                │\n╰───────────────────────────────────────────────────────────────╯\nOutOfMemoryError: CUDA out of memory. Tried",
		"hfccccF",
		[]string{"1-7 OutOfMemoryError|CUDA out of memory. Tried|main"},
	},
	{
		"rich in a logger's column", "[10:00:00] ERROR    failed                          train.py:22\n" +
			"                    ╭─ Traceback (most recent call last) ─╮\n                    │ /home/u/train.py:12 in main         │\n                    │                                     │\n" +
			"                    │ ❱ 12 │   run()                      │\n                    ╰─────────────────────────────────────╯\n                    OutOfMemoryError: CUDA out of memory. Tried",
		"ohfcccF",
		[]string{"2-7 OutOfMemoryError|CUDA out of memory. Tried|main"},
	},
	{
		"exception group", "  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\", line 1, in f\n  |     x()\n  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"a.py\", line 2, in g\n    |     y()\n    | torch.OutOfMemoryError: CUDA out of memory.\n    +------------------------------------",
		"hfcFohfcFo",
		[]string{"1-4 ExceptionGroup|unhandled errors in a TaskGroup (1 sub-exception)|f", "6-9 torch.OutOfMemoryError|CUDA out of memory.|g"},
	},
	{
		"prose", "see the Traceback (most recent call last): above\nRuntimeError: x",
		"oo", nil,
	},
	{
		"shell's line after the end", "Traceback (most recent call last):\n" + oneFrame + "KeyError: 3\n/var/spool/job/slurm_script: line 31: 104790 Killed   python x.py",
		"hfcFo",
		[]string{"1-4 KeyError|3|main"},
	},
	{
		"faulthandler interrupts a traceback and lists its threads", "Traceback (most recent call last):\nFatal Python error: Bus error\n\nFatal Python error: Aborted\n\nThread 0x01 (most recent call first):\n  File \"t.py\", line 3 in wait\n  ...\n\nCurrent thread 0x02 (most recent call first):\n  File \"a.py\", line 3 in leaf\nTraceback (most recent call last):",
		"hhohohfcFhfh",
		[]string{"6-7 ||wait", "10-11 Fatal Python error|Aborted|leaf"},
	},
	{
		"other text ends a thread of faulthandler's", "Thread 0x01 (most recent call first):\n  File \"t.py\", line 3 in wait\nExtension modules: numpy",
		"hfo", nil,
	},
	{
		"traceback without an exception line is chained", "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nDuring handling of the above exception, another exception occurred:\n\n" + "Traceback (most recent call last):\n  File \"a.py\", line 2, in g\nKeyError: 3",
		"hfoohfF",
		[]string{"5-7 KeyError|3|g"},
	},
	{
		"chained behind a message", "Traceback (most recent call last):\n" + oneFrame + "KeyError: 3\n\nDuring handling of the above exception, another exception occurred:\n",
		"hfcFooo",
		[]string{"1-4 KeyError|3|main"},
	},
	{
		"exception of another writer's line behind the first", "Traceback (most recent call last):\n" + oneFrame + "saving model\nRuntimeError: x",
		"hfcFF",
		[]string{"1-4 |saving model|main", "1-5 RuntimeError|x|main"},
	},
	{
		"border inside an exception group", "  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\", line 1, in f\n  +-+---- 1 ----\n  | KeyError: 3",
		"hfoF",
		[]string{"1-4 KeyError|3|f"},
	},
	{
		"worker processes", "-- Process 3 terminated with the following error:\nOriginal Traceback (most recent call last):\n" + oneFrame + "KeyError: 3",
		"hhfcF",
		[]string{"1-5 KeyError|3|main"},
	},
	{
		"frames below a message", "Traceback (most recent call last):\n" + oneFrame + "KeyError: 3\n\nStack Trace:\n" + oneFrame + "         ^^^^\n  /m/model.py(41): load\ndone",
		"hfcFohfccfo",
		[]string{"1-4 KeyError|3|main"},
	},
	{
		"Monarch's header", " Traceback of where the remote call failed (most recent call last):\n" + oneFrame + "KeyError: 3",
		"hfcF",
		[]string{"1-4 KeyError|3|main"},
	},
	{
		"Ray's header", "ray::W.step() (pid=2, ip=10.0.0.2)\n" + oneFrame + "KeyError: 3",
		"hfcF",
		[]string{"1-4 KeyError|3|main"},
	},
	{
		"empty message and the blank line below it", "Traceback (most recent call last):\n" + oneFrame + "ValueError:\n\ntoo long",
		"hfcFoC",
		[]string{"1-4 ValueError||main"},
	},
	{
		"a summary below a stack of C++", "Traceback (most recent call last):\n" + oneFrame + "MemoryError: \n\n--------\nC++ Traceback (most recent call last):\n--------\n" +
			"0   egr::Backward()\n1   phi::Alloc()\n2   a()\n3   b()\n4   c()\n\n--------\nError Message Summary:\n--------\nResourceExhaustedError: \n\nOut of memory error",
		"hfcFoCCooooooooCCCoC",
		[]string{"1-4 MemoryError||main"},
	},
}

func TestAssembler(t *testing.T) {
	t.Parallel()
	for _, tt := range samples {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var a Assembler
			states, traces := run(t, &a, tt.text)
			var got []string
			for _, tr := range traces {
				got = append(got, fmt.Sprintf("%d-%d %s|%s|%s", tr.Line, tr.EndLine, tr.Exception, tr.Message, funcs(tr)))
			}
			assert.Equal(t, tt.states, states)
			assert.Equal(t, tt.want, got)
		})
	}
}

// TestEveryTransitionIsTaken cannot run in parallel because it changes the tables.
func TestEveryTransitionIsTaken(t *testing.T) {
	for name, rows := range map[string][]transition{"headers": headers[:], "transitions": transitions[:]} {
		table := slices.Clone(rows)
		defer copy(rows, table)
		taken := make([]bool, len(table))
		for i := range table {
			rows[i].do = func(a *Assembler) {
				taken[i] = true
				if table[i].do != nil {
					table[i].do(a)
				}
				if bits.OnesCount16(uint16(table[i].to)) > 1 {
					assert.NotZero(t, a.state&table[i].to, "row %d of %s", i, name)
				}
			}
		}
		for _, tt := range samples {
			var a Assembler
			run(t, &a, tt.text)
		}
		for i, ok := range taken {
			assert.True(t, ok, "no sample takes row %d of %s: %+v", i, name, table[i])
		}
	}
}

func TestAssemblerFrameFields(t *testing.T) {
	t.Parallel()
	var a Assembler
	_, traces := run(t, &a, "Traceback (most recent call last):\n  File \"/a/b.py\", line 12, in f\n    x = g(1)\n        ^^^^\nValueError: x")
	require.Len(t, traces, 1)
	assert.Equal(t, []Frame{{File: "/a/b.py", Line: 12, Func: "f", Code: "x = g(1)"}}, traces[0].Frames)
	assert.Nil(t, traces[0].Origin)
}

func TestAssemblerChains(t *testing.T) {
	t.Parallel()
	frame := func(f string) string {
		return "Traceback (most recent call last):\n  File \"a.py\", line 1, in " + f + "\n"
	}
	tests := []struct {
		name, text string
		want       []string // class<-cause class<-..
	}{
		{
			"direct cause",
			frame("f") + "KeyError: 3\n\nThe above exception was the direct cause of the following exception:\n\n" + frame("g") + "ValueError: x",
			[]string{"KeyError", "ValueError<-KeyError"},
		},
		{
			"context, three deep",
			frame("f") + "KeyError: 3\n\nDuring handling of the above exception, another exception occurred:\n\n" + frame("g") + "ValueError: x\n\nDuring handling of the above exception, another exception occurred:\n\n" + frame("h") + "TypeError: x",
			[]string{"KeyError", "ValueError<-KeyError", "TypeError<-ValueError<-KeyError"},
		},
		{"unrelated", frame("f") + "KeyError: 3\n" + frame("g") + "ValueError: x", []string{"KeyError", "ValueError"}},
		{
			"DataLoader's original traceback",
			frame("f") + "RuntimeError: Caught OSError in DataLoader worker process 17.\nOriginal " + frame("g") + "OSError: [Errno 28] No space left on device",
			[]string{"RuntimeError", "OSError<-RuntimeError"},
		},
		{
			"torch.multiprocessing.spawn",
			frame("f") + "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 3 terminated with the following error:\n" + frame("g") + "torch.OutOfMemoryError: CUDA out of memory.",
			[]string{"torch.multiprocessing.spawn.ProcessRaisedException", "torch.OutOfMemoryError<-torch.multiprocessing.spawn.ProcessRaisedException"},
		},
		{
			"pool's remote traceback",
			"multiprocessing.pool.RemoteTraceback: \n\"\"\"\n" + frame("f") + "MemoryError\n\"\"\"\n\nThe above exception was the direct cause of the following exception:\n\n" + frame("g") + "MemoryError",
			[]string{"MemoryError", "MemoryError<-MemoryError"},
		},
		{
			"Ray inside the driver's",
			frame("f") + "ray.exceptions.RayTaskError(OutOfMemoryError): ray::T.run() (pid=1, ip=10.0.0.1)\n  File \"b.py\", line 1, in g\nray.exceptions.RayTaskError(OutOfMemoryError): ray::W.step() (pid=2, ip=10.0.0.2)\n           ^^^^^\n  File \"c.py\", line 1, in h\ntorch.OutOfMemoryError: CUDA out of memory.",
			[]string{"ray.exceptions.RayTaskError(OutOfMemoryError)", "ray.exceptions.RayTaskError(OutOfMemoryError)<-ray.exceptions.RayTaskError(OutOfMemoryError)", "torch.OutOfMemoryError<-ray.exceptions.RayTaskError(OutOfMemoryError)<-ray.exceptions.RayTaskError(OutOfMemoryError)"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var a Assembler
			_, traces := run(t, &a, tt.text)
			var got []string
			for _, tr := range traces {
				s := tr.Exception
				for c := tr.Cause; c != nil; c = c.Cause {
					s += "<-" + c.Exception
				}
				got = append(got, s)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestAssemblerRayOrigin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		header string
		want   Origin
	}{
		{
			"ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_update_actor() (pid=311190, ip=10.20.4.17, actor_id=d2f2, repr=<verl.base.WorkerDict object at 0x7e>)",
			Origin{Actor: "WorkerDict", Method: "actor_rollout_update_actor", PID: 311190, IP: "10.20.4.17", Repr: "<verl.base.WorkerDict object at 0x7e>", Rank: -1},
		},
		{
			"Unhandled error (suppress with 'RAY_IGNORE_UNHANDLED_ERRORS=1'): ray::S.generate() (pid=7, ip=10.1.1.6)",
			Origin{Actor: "S", Method: "generate", PID: 7, IP: "10.1.1.6", Rank: -1},
		},
		{"ray.exceptions.RayTaskError(KeyError): ray::fn() (pid=6900, ip=10.0.2.2)", Origin{Method: "fn", PID: 6900, IP: "10.0.2.2", Rank: -1}},
		{
			"Health check failed. Killing actor. Exception: ray::Engine.health() (pid=1, ip=::1, repr=f(a) (b))",
			Origin{Actor: "Engine", Method: "health", PID: 1, IP: "::1", Repr: "f(a) (b)", Rank: -1},
		},
		{
			"ray::lm_policy-0-9:MegatronPolicyWorker.save()[39m (pid=41122, ip=10.65.3.71, actor_id=7e, repr=MegatronPolicyWorker[rank=9])",
			Origin{Actor: "MegatronPolicyWorker", Method: "save", PID: 41122, IP: "10.65.3.71", Repr: "MegatronPolicyWorker[rank=9]", Rank: 9},
		},
		{"ray::MapWorker(MapBatches(Clip)).submit() (pid=3, repr=W(local_rank=2, x=1))", Origin{Actor: "MapWorker(MapBatches(Clip))", Method: "submit", PID: 3, Repr: "W(local_rank=2, x=1)", Rank: -1}},
	}
	for _, tt := range tests {
		t.Run(tt.want.Method+tt.want.Actor, func(t *testing.T) {
			t.Parallel()
			var a Assembler
			states, traces := run(t, &a, tt.header+"\n  File \"a.py\", line 1, in f\ntorch.OutOfMemoryError: x")
			assert.Equal(t, "hfF", states)
			require.Len(t, traces, 1)
			assert.Equal(t, &tt.want, traces[0].Origin)
			assert.Equal(t, "torch.OutOfMemoryError", traces[0].Exception)
		})
	}
	var a Assembler
	assert.Equal(t, Outside, a.Feed(1, []byte("290411\t59.94\tray::WorkerDict.actor_rollout_generate_sequences")))
}

func TestAssemblerReadsADriversEchoOfARemoteCall(t *testing.T) {
	t.Parallel()
	const failure = "\ntorch.OutOfMemoryError: CUDA out of memory."
	for _, end := range []string{"", ".", ":"} {
		var a Assembler
		states, traces := run(t, &a, "Exception occurred while running FSDPActor's function run_training"+end+failure)
		assert.Equal(t, "hF", states)
		require.Len(t, traces, 1)
		assert.Equal(t, &Origin{Actor: "FSDPActor", Method: "run_training", Rank: -1}, traces[0].Origin)
		assert.Empty(t, traces[0].Frames)
	}
	for _, line := range []string{
		"Exception occurred while running command: make",
		"Exception occurred while running Actor's function f: exception is The actor died.",
		"Exception occurred while running the actor's function f.",
		"running FSDPActor's function run_training.",
	} {
		var a Assembler
		states, traces := run(t, &a, line+failure)
		assert.Equal(t, "oo", states, line)
		assert.Empty(t, traces, line)
	}
}

func TestAssemblerFaulthandler(t *testing.T) {
	t.Parallel()
	var a Assembler
	states, traces := run(t, &a, "Fatal Python error: Bus error\n\nThread 0x00007f12 (most recent call first):\n  File \"t.py\", line 302 in wait\n  File \"t.py\", line 9 in run\n\nCurrent thread 0x00007f13 (most recent call first):\n  File \"a.py\", line 3 in leaf\n  File \"a.py\", line 1 in <module>\n\nExtension modules: numpy")
	assert.Equal(t, "hohffFhffFo", states)
	require.Len(t, traces, 2)
	assert.Empty(t, traces[0].Exception)
	assert.Equal(t, "run>wait", funcs(traces[0]))
	assert.Equal(t, "Fatal Python error", traces[1].Exception)
	assert.Equal(t, "Bus error", traces[1].Message)
	assert.Equal(t, "<module>>leaf", funcs(traces[1]))
	assert.True(t, traces[1].Reversed)
	assert.Equal(t, 9, traces[1].EndLine)
}

func TestAssemblersKeepInterleavedStreamsApart(t *testing.T) {
	t.Parallel()
	var a, b Assembler
	one := []string{"Traceback (most recent call last):", `  File "a.py", line 1, in f`, "    x()", "KeyError: 1"}
	two := []string{"Traceback (most recent call last):", `  File "b.py", line 2, in g`, "    y()", "KeyError: 2"}
	for i := range one {
		a.Feed(2*i+1, []byte(one[i]))
		b.Feed(2*i+2, []byte(two[i]))
	}
	assert.Equal(t, "f", funcs(a.Trace()))
	assert.Equal(t, "g", funcs(b.Trace()))
	assert.Equal(t, 8, b.Trace().EndLine)
}

func TestAssemblerCaps(t *testing.T) {
	t.Parallel()
	var a Assembler
	a.Feed(1, []byte("Traceback (most recent call last):"))
	for i := range 500 {
		a.Feed(i+2, fmt.Appendf(nil, "  File \"%s\", line %d, in f", strings.Repeat("é", 600), i+1))
		a.Feed(i+2, []byte("    "+strings.Repeat("c", 600)))
	}
	a.Feed(900, []byte("ValueError: "+strings.Repeat("m", 10000)))
	tr := a.Trace()
	require.NotNil(t, tr)
	require.Equal(t, maxHeadFrames+maxTailFrames, len(tr.Frames))
	assert.Equal(t, 300, tr.Dropped)
	assert.Equal(t, 80, tr.Frames[79].Line)
	assert.Equal(t, 381, tr.Frames[80].Line)
	assert.Equal(t, 500, tr.Frames[199].Line)
	assert.Len(t, tr.Frames[199].Code, maxCode)
	assert.Len(t, tr.Frames[0].File, maxPath)
	assert.Len(t, tr.Message, maxMessage)
}

func TestAssemblerGivesUpOnEndlessTracebacks(t *testing.T) {
	t.Parallel()
	var a Assembler
	a.Feed(1, []byte("Traceback (most recent call last):"))
	for i := range maxTraceLines + 1 {
		a.Feed(i+2, []byte("  [Previous line repeated 3 more times]"))
	}
	assert.False(t, a.Open())
	a.Feed(1, []byte("Traceback (most recent call last):"))
	for range maxForeign + 1 {
		assert.Equal(t, Outside, a.Feed(1, []byte("[2025-01-01 10:00:00] INFO beat")))
	}
	assert.False(t, a.Open())
}

func TestAssemblerBoundsCauseChains(t *testing.T) {
	t.Parallel()
	var a Assembler
	for range 100 {
		run(t, &a, "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n")
	}
	n := 0
	for c := a.last; c != nil; c = c.Cause {
		n++
	}
	assert.LessOrEqual(t, n, maxCauses)
}

func TestAssemblerOpen(t *testing.T) {
	t.Parallel()
	var a Assembler
	assert.False(t, a.Open())
	run(t, &a, "Traceback (most recent call last):\n  File \"a.py\", line 1, in f")
	assert.True(t, a.Open())
	assert.Nil(t, a.Trace())
	a.Feed(3, []byte("ValueError: x"))
	assert.True(t, a.Open(), "the message may go on")
	a.EndMessage()
	assert.True(t, a.Open(), "a chain may follow")
	for range maxChainGap + 1 {
		assert.Equal(t, Outside, a.Feed(4, []byte("text")))
	}
	assert.False(t, a.Open())
}

func TestAssemblerCloseReturnsTheUnfinishedTrace(t *testing.T) {
	t.Parallel()
	var a Assembler
	run(t, &a, "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x()")
	tr := a.Close()
	require.NotNil(t, tr)
	assert.Zero(t, tr.EndLine)
	assert.Equal(t, "f", funcs(tr))
	assert.Nil(t, a.Close())
}

func TestTraceIsNotChangedAfterwards(t *testing.T) {
	t.Parallel()
	var a Assembler
	_, traces := run(t, &a, "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nsome text\n  File \"a.py\", line 2, in g\nValueError: x")
	require.Len(t, traces, 2)
	assert.Equal(t, "f", funcs(traces[0]))
	assert.Empty(t, traces[0].Exception)
	assert.Equal(t, "f>g", funcs(traces[1]))
}

func FuzzAssembler(f *testing.F) {
	f.Add("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x()\n    ^^^\nValueError: x\nmore\n\nThe above exception was the direct cause of the following exception:\n")
	f.Add("ray.exceptions.RayTaskError(X): ray::A.b() (pid=1, ip=1, repr=W[rank=3])\n> File \"x\", line 3, in g\n│ a:1 in b │\n[")
	f.Add("Fatal Python error: x\nThread 0x1 (most recent call first):\n  File \"a\", line 3 in b\n\n")
	f.Add("  + Exception Group Traceback (most recent call last):\n  | \n  |\n  +-+- 1 -\n╭─ Traceback (most recent call last) ─╮\n│❱ 1 │ x\n│\n╰─")
	f.Add("=====================\nx FAILED\n---------------------\nFailures:\n[0]:\n  rank : 1 (local_rank: -)\n  traceback : Traceback (most recent call last):\n    x\n=====================\n")
	f.Add("a invoked oom-killer: \nmemory: usage 9kB, limit 9kB\n[  pid  ] uid tgid total_vm rss x y name\n[ 1] 2 3 4 5 6 7 n\noom-kill:constraint=A,task=,pid=\nMemory cgroup out of memory: Killed process 1 (")
	f.Fuzz(func(t *testing.T, text string) {
		var a Assembler
		var e ElasticBlock
		var k KernelReport
		for i, l := range strings.Split(text, "\n") {
			a.Feed(i+1, []byte(l))
			e.Feed(i+1, []byte(l))
			k.Feed(i+1, []byte(l))
			if tr := a.Trace(); tr != nil {
				assert.LessOrEqual(t, len(tr.Frames), maxHeadFrames+maxTailFrames)
				assert.LessOrEqual(t, len(tr.Message), maxMessage)
			}
		}
		a.Close()
		e.Close()
		k.Close()
	})
}

func BenchmarkAssembler(b *testing.B) {
	lines := [][]byte{[]byte("Traceback (most recent call last):")}
	for i := range 20 {
		lines = append(lines, fmt.Appendf(nil, "  File \"/opt/conda/lib/python3.11/site-packages/torch/nn/modules/module.py\", line %d, in _call_impl", i+1),
			[]byte("    return forward_call(*args, **kwargs)"), []byte("           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"))
	}
	lines = append(lines, []byte("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB."))
	size := 0
	for _, l := range lines {
		size += len(l)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		var a Assembler
		for i, l := range lines {
			a.Feed(i+1, l)
		}
	}
}
