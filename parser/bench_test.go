package parser

import (
	"bytes"
	"os"
	"strings"
	"testing"
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

// BenchmarkScan measures a whole scan: the finder, line numbers and what the patterns make of candidate lines.
func BenchmarkScan(b *testing.B) {
	texts := map[string][]byte{"healthy": healthyLog()}
	if raw, err := os.ReadFile("../fixtures/cases/rl-021-neg-verl-healthy-long/train.log"); err == nil {
		texts["verl"] = raw
	}
	if raw, err := os.ReadFile("../fixtures/cases/infra-004-zero3-step-inside-backward-interleaved/train.log"); err == nil {
		texts["traceback"] = raw
	}
	texts["flood"] = bytes.Repeat([]byte("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 6.00 GiB already allocated; 1.00 GiB free; 512.00 MiB cached)\n"), 1<<15)
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Scan("bench", bytes.NewReader(text), func(Observation) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
