package stream

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/messages"
)

// healthyLog is what a training run and its engine print for hours.
func healthyLog() []byte {
	var b bytes.Buffer
	for i := range 4000 {
		b.WriteString(strings.Replace("[2026-03-09 14:44:05] Decode batch, #running-req: 61, #token: 523939, token usage: 0.87, cuda graph: True, gen throughput (token/s): 3238.39, #queue-req: 0, \n", "61", string(rune('0'+i%10)), 1))
		b.WriteString("(WorkerDict pid=51030) INFO 12-03 11:20:00 [loggers.py:161] Engine 000: Avg prompt throughput: 2852.9 tokens/s, Running: 250 reqs, GPU KV cache usage: 66.2%\n")
		b.WriteString("{'loss': 0.0005, 'grad_norm': 0.256167, 'learning_rate': 1e-06, 'num_tokens': 1100000.0, 'epoch': 0.1}\n")
	}
	return b.Bytes()
}

// noisyLog is healthyLog with words of failures that are none: a line in 60.
func noisyLog() []byte {
	var b bytes.Buffer
	i := 0
	for line := range bytes.Lines(healthyLog()) {
		b.Write(line)
		if i++; i%60 == 0 {
			fmt.Fprintf(&b, "(TaskRunner pid=3901) hint %d: should you see CUDA out of memory, lower the micro-batch; SIGKILL cannot be caught\n", i)
		}
	}
	return b.Bytes()
}

const allocatorMessage = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free. Of the allocated memory 50.00 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated."

// tracebackLog is one traceback after the other.
func tracebackLog() []byte {
	one := "[rank3]: Traceback (most recent call last):\n" + strings.Repeat(`[rank3]:   File "/srv/train/loop.py", line 120, in train_step
[rank3]:     loss.backward()
`, 12) + "[rank3]: " + allocatorMessage + "\n"
	return bytes.Repeat([]byte(one), 2000)
}

func scanBench(b *testing.B, t *Table, text []byte) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s := NewReader("bench", func(parser.Observation) {}, Patterns(t))
		_, _ = s.Write(text)
		s.Close()
	}
}

// BenchmarkScan measures a whole scan: the finder, line numbers and what the patterns make of candidate lines.
func BenchmarkRead(b *testing.B) {
	texts := map[string][]byte{
		"healthy": healthyLog(), "noisy": noisyLog(), "traceback": tracebackLog(),
		"flood": bytes.Repeat([]byte("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 6.00 GiB already allocated; 1.00 GiB free; 512.00 MiB cached)\n"), 1<<15),
	}
	if raw, err := os.ReadFile("../../fixtures/cases/none/verl-healthy-long/train.log"); err == nil {
		texts["verl"] = raw
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) { scanBench(b, headless(), text) })
	}
}

// BenchmarkStart is what every run pays before the first byte.
func BenchmarkStart(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, err := NewTable(messages.All())
		require.NoError(b, err)
	}
}

// BenchmarkShortLog is a log of 200 KB, a good part of which is the head in which every line is read.
func BenchmarkShortLog(b *testing.B) {
	text := healthyLog()[:200_000]
	var room Buffer
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := room.Read("bench", bytes.NewReader(text), func(parser.Observation) {})
		require.NoError(b, err)
	}
}

func BenchmarkMatch(b *testing.B) {
	r := newMessageReader("bench", builtin(), DefaultLine, func(parser.Observation) {})
	body, h := envelope.Peel([]byte("[rank3]: " + allocatorMessage))
	w := r.writer(&h)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		clear(r.alike)
		clear(r.memo.known)
		r.find(body)
		require.True(b, r.match(parser.Position{Line: 1}, body, h, w, nil))
	}
}

// BenchmarkEvents is a log in which something happens now and then, what was deferred is read then.
func BenchmarkEvents(b *testing.B) {
	var text bytes.Buffer
	for i := range 20 {
		for j := range 2000 {
			fmt.Fprintf(&text, "(WorkerDict pid=%d) INFO:2026-01-01 10:00:00,000:After update policy, memory allocated (GB): 2.31, memory reserved (GB): 40.10\n", 7000+j%64)
			fmt.Fprintf(&text, "(TaskRunner pid=3901) step:%d - actor/entropy:0.281 - critic/score/mean:0.9637\n", 2000*i+j)
		}
		text.WriteString("[rank3]: " + allocatorMessage + "\n")
	}
	r := bytes.NewReader(text.Bytes())
	b.SetBytes(r.Size())
	b.ReportAllocs()
	for b.Loop() {
		_, err := ReadFile("bench", r, r.Size(), 1, func(parser.Observation) {})
		require.NoError(b, err)
	}
}
