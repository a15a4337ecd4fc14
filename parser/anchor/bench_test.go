package anchor

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// healthyBlock returns n bytes of lines as serving engines and trainers print them when all is well.
func healthyBlock(n int) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		switch i % 6 {
		case 0:
			fmt.Fprintf(&b, "[2026-03-09 14:%02d:%02d TP0] Decode batch, #running-req: %d, #token: %d, token usage: 0.%02d, cuda graph: True, gen throughput (token/s): %.2f, #queue-req: 0\n",
				r.IntN(60), r.IntN(60), r.IntN(200), r.IntN(600_000), r.IntN(100), 4000*r.Float64())
		case 1:
			fmt.Fprintf(&b, "(TaskRunner pid=%d) step:%d - actor/entropy:%.6f - actor/grad_norm:%.6f - perf/max_memory_allocated_gb:%.4f - timing_s/gen:%.3f - response_length/mean:%.2f\n",
				r.IntN(90_000), i, r.Float64(), r.Float64(), 70*r.Float64(), 90*r.Float64(), 8000*r.Float64())
		case 2:
			fmt.Fprintf(&b, "INFO 12-03 11:%02d:%02d [loggers.py:161] Engine 000: Avg prompt throughput: %.1f tokens/s, Running: %d reqs, GPU KV cache usage: %.1f%%, Prefix cache hit rate: %.1f%%\n",
				r.IntN(60), r.IntN(60), 9000*r.Float64(), r.IntN(300), 100*r.Float64(), 100*r.Float64())
		case 3:
			fmt.Fprintf(&b, "\rUpdate policy:  %d%%|███   | %d/32 [00:%02d<00:%02d,  %.2fs/it]", r.IntN(100), r.IntN(32), r.IntN(60), r.IntN(60), 9*r.Float64())
		case 4:
			fmt.Fprintf(&b, "node%02d:%d:%d [%d] NCCL INFO Channel %02d/0 : %d[%d] -> %d[%d] [send] via NET/IB/%d/GDRDMA\n",
				r.IntN(64), r.IntN(90_000), r.IntN(90_000), r.IntN(8), r.IntN(32), r.IntN(64), r.IntN(8), r.IntN(64), r.IntN(8), r.IntN(8))
		case 5:
			fmt.Fprintf(&b, "{'loss': %.4f, 'grad_norm': %.6f, 'learning_rate': 1e-06, 'epoch': %.2f}\n", r.Float64(), r.Float64(), r.Float64())
		}
	}
	return b.Bytes()[:n]
}

func TestSearchDoesNotAllocate(t *testing.T) {
	f := newFinder(t, append([]string{"OOM:"}, typical...)...)
	b := append(healthyBlock(8<<10), "\nCUDA out of memory\n"...)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		f.Next(b, 0)
		f.Needles(b, func(int) bool { return true })
	}))
}

// TestFilterIsSelective keeps the filter worth having: it slows down with the share of look-ups that hit.
func TestFilterIsSelective(t *testing.T) {
	t.Parallel()
	f := newFinder(t, typical...)
	b := healthyBlock(1 << 20)
	samples, hits := 0, 0
	for x := 0; x+gramLen <= len(b); x += stride {
		samples++
		if f.table[gramAt(b, x)*f.mul>>tableShift] != 0 {
			hits++
		}
	}
	require.Less(t, float64(hits)/float64(samples), 0.02)
}

func BenchmarkNext(b *testing.B) {
	f := newFinder(b, typical...)
	for _, size := range []int{64 << 10, 8 << 20} {
		text := healthyBlock(size)
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if pos, ok := f.Next(text, 0); ok {
					b.Fatalf("a healthy log holds a needle: %q", text[pos:pos+20])
				}
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	f := newFinder(b, typical...)
	text := healthyBlock(256 << 10)
	var hits []Hit
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		hits = f.Scan(text, 0, len(text), All, hits[:0])
	}
}

func BenchmarkNeedles(b *testing.B) {
	f := newFinder(b, typical...)
	line := []byte("[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB of which 1.2 GiB is free.")
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		f.Needles(line, func(int) bool { return true })
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(typical); err != nil {
			b.Fatal(err)
		}
	}
}
