package classifier_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser/messages"
	"oomscan/parser/stream"
)

// Sizes of the hostile inputs, and what may be alive while they are read. The bound is on the live heap of scanner and
// collector together, right after a collection; the collector's default pace doubles it, which stays below 64 MiB.
const (
	hostileBytes = 4 << 20
	sampleEvery  = 1 << 20
	maxLive      = 26 << 20
)

// endless yields the lines that next makes until it gave size bytes, and samples the live heap on the way.
type endless struct {
	next  func(n int) string
	size  int
	n     int
	given int
	rest  string
	peak  uint64
	since int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.since >= sampleEvery {
		e.since = 0
		e.peak = max(e.peak, live())
	}
	if e.given >= e.size {
		return 0, io.EOF
	}
	for len(e.rest) == 0 {
		e.rest = e.next(e.n)
		e.n++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	e.given += n
	e.since += n
	return n, nil
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

const (
	frameLine = "  File \"/opt/app/a_rather_long_path_of_a_module/model_%d.py\", line %d, in forward_%d\n"
	failLine  = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
)

// samples are the lines of the whole table: every message that the parser knows.
func samples() []string {
	var out []string
	for _, p := range messages.All() {
		for _, s := range p.Match {
			out = append(out, strings.ReplaceAll(s.Line, "\n", " ")+"\n")
		}
	}
	return out
}

// TestMemoryStaysBounded is not parallel: it measures the heap of the process.
func TestMemoryStaysBounded(t *testing.T) { //nolint:paralleltest // see above
	if testing.Short() {
		t.Skip("streams of many megabytes")
	}
	known := samples()
	require.Greater(t, len(known), 200)
	filler := strings.Repeat("x", 900)
	for name, next := range map[string]func(n int) string{
		"distinct writers": func(n int) string { return fmt.Sprintf("(Worker%d pid=%d) hello\n", n, n) },
		"distinct writers with open tracebacks": func(n int) string {
			l := fmt.Sprintf("(WorkerDict pid=%d) ", n/20)
			if n%20 == 0 {
				return l + "Traceback (most recent call last):\n"
			}
			return l + fmt.Sprintf(frameLine, n, n, n)
		},
		"distinct writers with failures": func(n int) string {
			l := fmt.Sprintf("(WorkerDict pid=%d) ", n)
			return l + "Traceback (most recent call last):\n" + l + fmt.Sprintf(frameLine, n, n, n) + l + fmt.Sprintf(failLine, n)
		},
		"distinct writers with settings": func(n int) string {
			return fmt.Sprintf("(TaskRunner pid=%d) {'actor_rollout_ref': {'actor': {'key_%d': '%s',\n", n, n, filler[:400])
		},
		"distinct writers with records cut in two": func(n int) string {
			return fmt.Sprintf("2026-01-01T00:00:00.%09dZ stderr P %s CUDA out of memory\n[rank%d]: x CUDA out of memory\n", n, filler, n)
		},
		"distinct tasks with lines that srun cut": func(n int) string {
			return fmt.Sprintf("%d: CUDA out of memory %s\n", n, strings.Repeat("y", 1024-len(" CUDA out of memory ")+1))
		},
		"distinct writers with failure blocks": func(n int) string {
			l := fmt.Sprintf("[rank%d]: ", n/8)
			return l + []string{"Failures:\n", "[0]:\n", "  time      : " + filler[:500] + "\n", "  host      : " + filler[:500] + "\n", "  rank      : 1 (local_rank: 1)\n", "  error_file: " + filler[:500] + "\n", "  traceback : " + filler[:500] + "\n", "[1]:\n"}[n%8]
		},
		"a traceback without end": func(n int) string {
			if n == 0 {
				return "Traceback (most recent call last):\n"
			}
			return fmt.Sprintf(frameLine, n, n, n) + "    " + filler + "\n"
		},
		"tracebacks that cause each other": func(n int) string {
			return "Traceback (most recent call last):\n" + fmt.Sprintf(frameLine, n, n, n) + "ValueError: " + filler +
				"\n\nDuring handling of the above exception, another exception occurred:\n\n"
		},
		"settings without end": func(n int) string {
			if n == 0 {
				return "{'actor_rollout_ref': {'actor': {\n"
			}
			return fmt.Sprintf(" 'key_%d': {'value_%d': '%s',\n", n, n, filler[:300])
		},
		"free settings without end": func(n int) string {
			return fmt.Sprintf("Namespace(key_%d='%s', other_%d=5)\n", n, filler[:400], n)
		},
		"a line without end": func(n int) string {
			if n%100 == 0 {
				return "CUDA out of memory. Tried to allocate 2.00 GiB" + filler
			}
			return filler
		},
		"many failures in a bar": func(n int) string { return fmt.Sprintf("\r%d%%|###| %d/100 CUDA out of memory", n%100, n) },
		"many failures":          func(n int) string { return fmt.Sprintf(failLine, n) },
		"failures with tracebacks": func(n int) string {
			var b strings.Builder
			b.WriteString("Traceback (most recent call last):\n")
			for i := range 150 {
				fmt.Fprintf(&b, frameLine+"    %s\n", n, i, n, filler[:300])
			}
			fmt.Fprintf(&b, failLine, n)
			return b.String()
		},
		"restarts": func(n int) string {
			return fmt.Sprintf("[rank%d]: step:%d - actor/loss:1\nRestarting worker group; %d/3 attempts left; will restart worker group\n", n, n, n)
		},
		"every message there is": func(n int) string {
			return fmt.Sprintf("(W pid=%d) ", n%5000) + strings.TrimSuffix(known[n%len(known)], "\n") + filler[:200] + "\n"
		},
		"every message there is, in tracebacks": func(n int) string {
			l := fmt.Sprintf("(W pid=%d) ", n%5000)
			return l + "Traceback (most recent call last):\n" + strings.Repeat(l+fmt.Sprintf(frameLine, n, n, n), 20) + l + known[n%len(known)]
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := live()
			in := &endless{next: next, size: hostileBytes}
			if strings.HasPrefix(name, "many ") {
				in.size /= 8 // every line is matched in full, which takes its time
			}
			c := classifier.NewCollector()
			_, err := stream.Read("in", in, c.Add)
			require.NoError(t, err)
			in.peak = max(in.peak, live())
			assert.Less(t, in.peak-min(before, in.peak), uint64(maxLive))
			t.Logf("%.1f MiB alive at most", float64(in.peak-min(before, in.peak))/(1<<20))
			c.Result()
		})
	}
}
