package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
)

// Kinds of logs.
const (
	healthy  = "healthy"  // hours of a run without failures, except for a few exceptions that were caught
	noisy    = "noisy"    // the same, but one line in twenty mentions memory, kills and collectives without a failure
	oom      = "oom"      // healthy; after every 50,000 lines something runs out of memory
	longline = "longline" // mostly one line: the text of healthy, with carriage returns
)

var all = []string{healthy, noisy, oom, longline}

// event is a failure.
type event struct {
	Kind   string `json:"kind"`
	Line   int    `json:"line"`   // 1-based, of the line that names the failure
	Offset int64  `json:"offset"` // of that line; in a long line, of the message itself
}

type writer struct {
	out    io.Writer
	r      *rand.Rand
	buf    bytes.Buffer
	end    byte // of a record
	every  int  // lines between two failures
	bytes  int64
	line   int
	step   int
	second int
	events []event
}

// log writes a log of a kind, of at least size bytes.
func (w *writer) log(kind string, size int64) {
	w.end = '\n'
	next := w.every
	head := w.bytes + size/100
	for w.bytes < size {
		if kind == longline && w.bytes >= head && w.end == '\n' && len(w.events) == 0 {
			w.end = '\r'
		}
		if w.end == '\r' && len(w.events) == 0 && w.bytes > size*6/10 {
			w.fail(0)
			w.flush()
		}
		if kind == oom && w.line > next {
			w.fail(next / w.every)
			w.flush()
			next += w.every
		}
		w.record(kind)
		w.flush()
	}
	w.end = '\n'
	if kind == longline {
		w.buf.WriteByte('\n')
		w.flush()
		w.fail(0)
	}
	w.flush()
}

// flush writes the composed text.
func (w *writer) flush() {
	b := w.buf.Bytes()
	_, _ = w.out.Write(b) // a bufio.Writer keeps the error for Flush
	w.bytes += int64(len(b))
	w.line += bytes.Count(b, []byte{'\n'})
	w.buf.Reset()
}

// say composes one record.
func (w *writer) say(format string, args ...any) {
	fmt.Fprintf(&w.buf, format, args...)
	w.buf.WriteByte(w.end)
}

// n returns a random number below the bound.
func (w *writer) n(bound int) int { return w.r.IntN(bound) }

// clock returns the next timestamp.
func (w *writer) clock() string {
	if w.n(40) == 0 {
		w.second++
	}
	s := w.second
	return fmt.Sprintf("2026-03-%02d %02d:%02d:%02d", 1+s/86400%28, s/3600%24, s/60%60, s%60)
}

// record writes a record of a healthy run, or noise.
func (w *writer) record(kind string) {
	if kind == noisy && w.n(20) == 0 {
		w.noise()
		return
	}
	switch k := w.n(1000); {
	case k < 420:
		w.say("[%s TP%d] Decode batch, #running-req: %d, #token: %d, token usage: 0.%02d, cuda graph: True, gen throughput (token/s): %d.%02d, #queue-req: %d",
			w.clock(), w.n(8), w.n(250), w.n(900_000), w.n(100), 500+w.n(8000), w.n(100), w.n(60))
	case k < 520:
		w.say("[%s TP%d] Prefill batch, #new-seq: %d, #new-token: %d, #cached-token: %d, token usage: 0.%02d, #running-req: %d, #queue-req: %d",
			w.clock(), w.n(8), 1+w.n(30), w.n(9000), w.n(9000), w.n(100), w.n(250), w.n(60))
	case k < 640:
		w.say(`(HttpServer pid=%d) INFO:     10.4.%d.%d:%d - "POST /generate HTTP/1.1" 200 OK`, 4000+w.n(16), w.n(32), w.n(250), 30000+w.n(9999))
	case k < 740:
		w.say("INFO 03-09 11:%02d:%02d [loggers.py:161] Engine %03d: Avg prompt throughput: %d.%d tokens/s, Running: %d reqs, GPU KV cache usage: %d.%d%%, Prefix cache hit rate: %d.%d%%",
			w.n(60), w.n(60), w.n(8), w.n(9000), w.n(10), w.n(300), w.n(100), w.n(10), w.n(100), w.n(10))
	case k < 830:
		w.say("node%02d:%d:%d [%d] NCCL INFO Channel %02d/0 : %d[%d] -> %d[%d] [send] via NET/IB/%d/GDRDMA", w.n(8), 4000+w.n(64), 5000+w.n(64), w.n(8),
			w.n(32), w.n(64), w.n(8), w.n(64), w.n(8), w.n(8))
	case k < 910:
		w.say("Rollout: %3d%%|####      | %d/512 [%02d:%02d<%02d:%02d, %d.%02dit/s]", w.n(100), w.n(512), w.n(60), w.n(60), w.n(60), w.n(60), w.n(40), w.n(100))
	case k < 940:
		w.say(" iteration %8d/  500000 | consumed samples: %12d | elapsed time per iteration (ms): %d.%d | learning rate: 1.%04dE-05 | lm loss: 1.%06dE+00 | grad norm: 0.%03d |",
			w.step, 256*w.step, 1000+w.n(900), w.n(10), w.n(9999), w.n(999_999), w.n(999))
	case k < 970:
		w.say("(WorkerDict pid=%d) INFO:%s:After update policy, memory allocated (GB): %d.%02d, memory reserved (GB): %d.%02d", 6000+w.n(64), w.clock(), w.n(40), w.n(100), 40+w.n(39), w.n(100))
	case k < 985:
		w.step++
		w.say("(TaskRunner pid=3901) step:%d - actor/entropy:0.%05d - actor/grad_norm:0.%05d - critic/score/mean:0.%04d - response_length/mean:%d.%02d - prompt_length/mean:%d.%02d - timing_s/gen:%d.%03d - timing_s/update_actor:%d.%03d - perf/max_memory_allocated_gb:%d.%03d",
			w.step, w.n(99_999), w.n(99_999), w.n(9999), w.n(4000), w.n(100), w.n(900), w.n(100), w.n(90), w.n(1000), w.n(90), w.n(1000), 40+w.n(39), w.n(1000))
	case k < 999:
		w.say(`(TaskRunner pid=3901) [prompt] What is %d^%d modulo %d? Think first.`, w.n(99), w.n(99), 2+w.n(99))
		w.say("(TaskRunner pid=3901) [response] The powers repeat with a period of %d, and so the answer is %d.", 1+w.n(40), w.n(99))
		w.say("(TaskRunner pid=3901) [score] %d.0", w.n(2))
	default:
		if w.n(4) == 0 {
			w.caught()
		}
	}
}

// caught writes an exception that was caught.
func (w *writer) caught() {
	label := fmt.Sprintf("(RewardWorker pid=%d) ", 7000+w.n(32))
	w.say("%sTraceback (most recent call last):", label)
	w.say(`%s  File "/srv/env/lib/python3.12/concurrent/futures/thread.py", line %d, in run`, label, 50+w.n(40))
	w.say("%s    result = self.fn(*self.args, **self.kwargs)", label)
	w.say(`%s  File "/srv/rewards/check.py", line %d, in check`, label, 10+w.n(90))
	w.say("%s    return verify(answer)", label)
	w.say("%sValueError: %d is no answer", label, w.n(9999))
}

// noise writes a line with the words of a failure.
func (w *writer) noise() {
	switch w.n(12) {
	case 0:
		w.say("(TaskRunner pid=3901) hint: should you see CUDA out of memory, lower the micro-batch from %d", 1+w.n(64))
	case 1:
		w.say("handler for torch.cuda.OutOfMemoryError registered, at most %d retries", w.n(9))
	case 2:
		w.say("[%s TP%d] KV Cache is allocated. #tokens: %d, K size: %d.%02d GB", w.clock(), w.n(8), w.n(900_000), w.n(40), w.n(100))
	case 3:
		w.say("[%s TP%d] Memory pool end. avail mem=%d.%02d GB", w.clock(), w.n(8), w.n(40), w.n(100))
	case 4:
		w.say("node%02d:%d:%d [%d] NCCL INFO comm %#x rank %d nranks 64 cudaDev %d - Init COMPLETE", w.n(8), 4000+w.n(64), 5000+w.n(64), w.n(8), w.n(1<<30), w.n(64), w.n(8))
	case 5:
		w.say("tmpfs on /dev/shm type tmpfs (rw,nosuid,nodev,size=%dk)", w.n(1<<28))
	case 6:
		w.say("memory pressure: 0.%02d of the threshold, nothing to do", w.n(100))
	case 7:
		w.say("sandbox %d: process Killed after its %d s, as it should be", w.n(999), 1+w.n(30))
	case 8:
		w.say("test_bad_alloc_is_told[%d] PASSED, test_MemoryError_is_told[%d] PASSED", w.n(99), w.n(99))
	case 9:
		w.say("kernel watch: 0 lines with 'invoked oom-killer' in the last %d s", w.n(600))
	case 10:
		w.say("signals: SIGTERM drains for %d s, SIGKILL cannot be caught", w.n(60))
	default:
		w.say("flag XLA_PYTHON_CLIENT_MEM_FRACTION=.%02d, RESOURCE_EXHAUSTED retries=%d", w.n(100), w.n(9))
	}
}

// fail writes the n-th failure. The kinds are used in turn.
func (w *writer) fail(n int) {
	kind, root := "", 0
	rank := w.n(8)
	switch n % 5 {
	case 0:
		kind, root = "gpu_oom", 3
		w.say("[rank%d]: Traceback (most recent call last):", rank)
		w.say(`[rank%d]:   File "/srv/train/loop.py", line %d, in train_step`, rank, 100+w.n(90))
		w.say("[rank%d]:     loss.backward()", rank)
		w.say("[rank%d]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.%02d GiB. GPU %d has a total capacity of 79.11 GiB of which %d.%02d GiB is free. Process %d has 77.90 GiB memory in use. Of the allocated memory 61.20 GiB is allocated by PyTorch, and 1.37 GiB is reserved by PyTorch but unallocated.",
			rank, 2+w.n(9), w.n(100), rank, w.n(2), w.n(100), 4000+w.n(64))
	case 1:
		kind = "kv_cache"
		w.say("(EngineCore_0 pid=%d) ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", 4000+w.n(64))
	case 2:
		kind = "host_oom"
		w.say("[rank%d]: RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate %d bytes. Error code 12 (Cannot allocate memory)", rank, 1_000_000*(1+w.n(9000)))
	case 3:
		kind = "oom_kill"
		w.say("slurmstepd: error: Detected %d oom_kill event in StepId=%d.0. Some of the step tasks have been OOM Killed.", 1+w.n(4), 4000+w.n(999))
	case 4:
		kind = "nccl_oom"
		w.say("node%02d:%d:%d [%d] transport/shm.cc:590 NCCL WARN Cuda failure 2 'out of memory'", w.n(8), 4000+w.n(64), 5000+w.n(64), rank)
	}
	at, line := 0, w.line
	for range root {
		at += bytes.IndexByte(w.buf.Bytes()[at:], w.end) + 1
	}
	if w.end == '\n' {
		line += root
	}
	w.events = append(w.events, event{kind, line, w.bytes + int64(at)})
}
