package classifier

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
	"oomscan/parser/stream"
	"oomscan/parser/traceback"
)

// thinned holds a collector of everything against one of what another one passed on, and returns how many bytes of texts
// and tracebacks were told and passed on.
func thinned(t *testing.T, name, log string) (all, passed int) {
	t.Helper()
	weigh := func(o parser.Observation) int {
		switch o := o.(type) {
		case parser.Event:
			return len(o.Text) + o.Trace.Size()
		case parser.Marker:
			return len(o.Text)
		}
		return 0
	}
	want, first, second := NewCollector(), NewCollector(), NewCollector()
	s := stream.NewReader(name, func(o parser.Observation) {
		all += weigh(o)
		want.Add(o)
	})
	_, _ = s.Write([]byte(log))
	s.Close()
	s = stream.NewReader(name, func(o parser.Observation) {
		o = first.Compact(o)
		passed += weigh(o)
		second.Add(o)
	})
	_, _ = s.Write([]byte(log))
	s.Close()
	require.Equal(t, want.Result(), first.Result())
	require.Equal(t, want, second, "%s", name)
	return all, passed
}

func TestWhatIsThinnedIsCollectedAlike(t *testing.T) {
	t.Parallel()
	for path, log := range smallLogs(t) {
		thinned(t, path, log)
	}
}

func TestAFloodIsThinned(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes it slow, and it has one goroutine")
	}
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.00 GiB. GPU 1 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
	stack := "Traceback (most recent call last):\n" + strings.Repeat("  File \"/app/train.py\", line 7, in f\n    loss = g(x)\n", 20)
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "(WorkerDict pid=%d) [rank%d] starting\n%sValueError: bad %d\n", 1000+i, i, stack, i)
		fmt.Fprintf(&b, "%sOSError: [Errno 28] No space left on device: '/dev/shm/torch_%d'\n", stack, i)
		if i%3 == 0 {
			fmt.Fprintf(&b, stack+oom+"step:%d - train/loss:0.1\n", i%70+2, i)
		}
		fmt.Fprintf(&b, "ray.exceptions.RayTaskError(ValueError): \x1b[36mray::W.f()\x1b[39m (pid=%d, ip=10.0.0.%d, actor_id=1)\n%sValueError: bad\n", i, i%200, stack)
	}
	all, passed := thinned(t, "flood.log", b.String())
	assert.Less(t, passed, all/5)
}

func TestOfTextsBeyondTheBoundLittleIsPassedOn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes it slow, and it has one goroutine")
	}
	long := strings.Repeat("x", 4<<10)
	trace := &traceback.Trace{Frames: make([]traceback.Frame, 100)}
	for i := range trace.Frames {
		trace.Frames[i].Code = long
	}
	one, two := NewCollector(), NewCollector()
	for i := range 60 {
		for k := range 5 {
			o := one.Compact(parser.Event{
				At: parser.Position{Source: "a", Line: 50*i + k}, Pattern: fmt.Sprint("p", i), Kind: parser.Exception, Role: parser.Context,
				Text: long, Fields: parser.Fields{"class": long}, Trace: trace,
			}).(parser.Event)
			two.Add(o)
			if i > 50 {
				assert.LessOrEqual(t, len(o.Text), shortText)
				assert.Nil(t, o.Trace)
			}
		}
	}
	assert.Equal(t, one, two)
}
