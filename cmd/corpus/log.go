package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Kinds of logs.
const (
	healthy  = "healthy"  // hours of a run without failures, except for a few exceptions that were caught
	noisy    = "noisy"    // the same, but one line in twenty mentions memory, kills and collectives without a failure
	oom      = "oom"      // healthy; after every 50,000 lines something runs out of memory
	longline = "longline" // mostly one line: the text of healthy, with carriage returns
)

var all = []string{healthy, noisy, oom, longline}

// template is one or more lines of a log. In them, @ is the time, $ the step, each ~ a random digit, and ^ a digit that
// is the same in the whole template: a rank.
type template struct {
	weight int    // of 4000 records
	kind   string // of a failure
	text   string
}

// records are what a healthy run prints.
var records = []template{
	{1680, "", "[@ TP^] Decode batch, #running-req: 1~~, #token: ~~~~~~, token usage: 0.~~, cuda graph: True, gen throughput (token/s): 5~~~.~~, #queue-req: ~~"},
	{400, "", "[@ TP^] Prefill batch, #new-seq: ~~, #new-token: ~~~~, #cached-token: ~~~~, token usage: 0.~~, #running-req: 1~~, #queue-req: ~~"},
	{480, "", `(HttpServer pid=40~~) INFO:     10.4.~.1~~:3~~~~ - "POST /generate HTTP/1.1" 200 OK`},
	{400, "", "INFO 03-09 11:4~:5~ [loggers.py:161] Engine 00^: Avg prompt throughput: ~~~~.~ tokens/s, Running: 1~~ reqs, GPU KV cache usage: ~~.~%, Prefix cache hit rate: ~~.~%"},
	{360, "", "node0^:40~~:50~~ [^] NCCL INFO Channel ~~/0 : ~~[~] -> ~~[~] [send] via NET/IB/~/GDRDMA"},
	{320, "", "Rollout:  ~~%|####      | ~~~/999 [0~:1~<0~:2~, 1~.~~it/s]"},
	{120, "", " iteration     $/  500000 | consumed samples:       ~~~~~~ | elapsed time per iteration (ms): 1~~~.~ | learning rate: 1.~~~~E-05 | lm loss: 1.~~~~~~E+00 | grad norm: 0.~~~ |"},
	{120, "", "(WorkerDict pid=60~~) INFO:@:After update policy, memory allocated (GB): 3~.~~, memory reserved (GB): 6~.~~"},
	{60, "", "(TaskRunner pid=3901) step:$ - actor/entropy:0.~~~~~ - actor/grad_norm:0.~~~~~ - critic/score/mean:0.~~~~ - response_length/mean:3~~~.~~ - prompt_length/mean:8~~.~~ - timing_s/gen:~~.~~~ - timing_s/update_actor:~~.~~~ - perf/max_memory_allocated_gb:6~.~~~"},
	{56, "", "(TaskRunner pid=3901) [prompt] What is ~~**~~ modulo 1~? Think first.\n(TaskRunner pid=3901) [response] The powers repeat with a period of ~~, and so the answer is ~~.\n(TaskRunner pid=3901) [score] 1.0"},
	{4, "", `(RewardWorker pid=70^0) Traceback (most recent call last):
(RewardWorker pid=70^0)   File "/srv/env/lib/python3.12/concurrent/futures/thread.py", line 5~, in run
(RewardWorker pid=70^0)     result = self.fn(*self.args, **self.kwargs)
(RewardWorker pid=70^0)   File "/srv/rewards/check.py", line 1~, in check
(RewardWorker pid=70^0)     return verify(answer)
(RewardWorker pid=70^0) ValueError: ~~~~ is no answer`},
}

// noise has the words of failures.
var noise = []string{
	"(TaskRunner pid=3901) hint: should you see CUDA out of memory, lower the micro-batch from ~~",
	"handler for torch.cuda.OutOfMemoryError registered, at most ~ retries",
	"[@ TP^] KV Cache is allocated. #tokens: ~~~~~~, K size: ~~.~~ GB",
	"[@ TP^] Memory pool end. avail mem=3~.~~ GB",
	"node0^:40~~:50~~ [^] NCCL INFO comm 0x1~~~~~ rank ~~ nranks 64 cudaDev ^ - Init COMPLETE",
	"tmpfs on /dev/shm type tmpfs (rw,nosuid,nodev,size=1~~~~~~~k)",
	"memory pressure: 0.~~ of the threshold, nothing to do",
	"sandbox ~~~: process Killed after its 1~ s, as it should be",
	"test_bad_alloc_is_told[~~] PASSED, test_MemoryError_is_told[~~] PASSED",
	"kernel watch: 0 lines with 'invoked oom-killer' in the last ~~~ s",
	"signals: SIGTERM drains for ~~ s, SIGKILL cannot be caught",
	"flag XLA_PYTHON_CLIENT_MEM_FRACTION=.~~, RESOURCE_EXHAUSTED retries=~",
}

// failures are used in turn. The last line of each names the failure.
var failures = []template{
	{kind: "gpu_oom", text: `[rank^]: Traceback (most recent call last):
[rank^]:   File "/srv/train/loop.py", line 1~~, in train_step
[rank^]:     loss.backward()
[rank^]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.~~ GiB. GPU ^ has a total capacity of 79.11 GiB of which 1.~~ GiB is free. Process 40~~ has 77.90 GiB memory in use. Of the allocated memory 61.20 GiB is allocated by PyTorch, and 1.37 GiB is reserved by PyTorch but unallocated.`},
	{kind: "kv_cache", text: "(EngineCore_0 pid=40~~) ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine."},
	{kind: "host_oom", text: "[rank^]: RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 1~~~000000 bytes. Error code 12 (Cannot allocate memory)"},
	{kind: "oom_kill", text: "slurmstepd: error: Detected 1 oom_kill event in StepId=4~~~.0. Some of the step tasks have been OOM Killed."},
	{kind: "nccl_oom", text: "node0^:40~~:50~~ [^] transport/shm.cc:590 NCCL WARN Cuda failure 2 'out of memory'"},
}

// event is a failure.
type event struct {
	Kind string `json:"kind"`
	Line int    `json:"line"` // 1-based, of the line that names the failure
}

type writer struct {
	out    io.Writer
	r      *rand.Rand
	end    string // of a line
	every  int    // lines between two failures
	bytes  int64
	line   int
	second int
	events []event
}

// log writes a log of a kind, of at least size bytes.
func (w *writer) log(kind string, size int64) {
	w.end = "\n"
	for w.bytes < size {
		switch {
		case kind == longline && w.end == "\n" && w.bytes >= size/100 && len(w.events) == 0:
			w.end = "\r"
		case w.end == "\r" && len(w.events) == 0 && w.bytes > size*6/10:
			w.fail()
		case kind == oom && w.line > w.every*(len(w.events)+1):
			w.fail()
		case kind == noisy && w.r.IntN(20) == 0:
			w.say(noise[w.r.IntN(len(noise))])
		}
		n := w.r.IntN(4000)
		i := 0
		for ; n >= records[i].weight; i++ {
			n -= records[i].weight
		}
		w.say(records[i].text)
	}
	if kind == longline {
		w.end = "\n"
		w.say("")
		w.fail()
	}
}

// say writes a template filled in.
func (w *writer) say(text string) {
	if w.r.IntN(40) == 0 {
		w.second++
	}
	clock := fmt.Sprintf("2026-03-%02d %02d:%02d:%02d", 1+w.second/86400%28, w.second/3600%24, w.second/60%60, w.second%60)
	same := byte('0' + w.r.IntN(8))
	line := []byte(strings.NewReplacer("\n", w.end, "@", clock, "$", strconv.Itoa(w.line/500)).Replace(text) + w.end)
	for i, c := range line {
		switch c {
		case '~':
			line[i] = byte('0' + w.r.IntN(10))
		case '^':
			line[i] = same
		}
	}
	_, _ = w.out.Write(line) // a bufio.Writer keeps the error for Flush
	w.bytes += int64(len(line))
	w.line += bytes.Count(line, []byte{'\n'})
}

func (w *writer) fail() {
	f := failures[len(w.events)%len(failures)]
	w.say(f.text)
	line := w.line - 1
	if w.end == "\r" { // that line goes on
		line = w.line
	}
	w.events = append(w.events, event{f.kind, line})
}
