package epilog

import (
	"errors"
	"io"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"oomscan/parser/stream"
)

// Why reading stopped early.
var (
	errWall   = errors.New("the time for this job's logs is used up")
	errCPU    = errors.New("the processor time for this job's logs is used up")
	errBytes  = errors.New("the bytes that are read of a job's logs are used up")
	errMemory = errors.New("the memory for this job's logs is used up")
)

// meter measures the cost of reading a job's logs and enforces the budget.
type meter struct {
	budget Budget
	began  time.Time
	left   int64       // bytes
	full   atomic.Bool // too much memory is in use
	stop   chan struct{}
	// options of the reader, such as additional messages.
	options []stream.Option
}

func newMeter(b Budget) *meter {
	m := &meter{budget: b, began: time.Now(), left: int64(b.Bytes), stop: make(chan struct{})}
	go m.watch()
	return m
}

func (m *meter) close() { close(m.stop) }

// watch checks the memory in use, which reads cannot know.
func (m *meter) watch() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for {
		select {
		case <-m.stop:
			return
		case <-tick.C:
			metrics.Read(sample)
			if sample[0].Value.Uint64()-sample[1].Value.Uint64() > uint64(m.budget.Memory) {
				m.full.Store(true)
			}
		}
	}
}

// check returns the reason to stop, or nil.
func (m *meter) check() error {
	switch {
	case m.full.Load():
		return errMemory
	case time.Since(m.began) > time.Duration(m.budget.Wall):
		return errWall
	case cpuTime() > time.Duration(m.budget.CPU):
		return errCPU
	case m.left <= 0:
		return errBytes
	}
	return nil
}

// cpuTime returns the processor time used by this process.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reader reads r until the budget is used up.
func (m *meter) reader(r io.Reader) io.Reader { return &metered{m, r} }

type metered struct {
	m *meter
	r io.Reader
}

func (r *metered) Read(p []byte) (int, error) {
	if err := r.m.check(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p[:min(int64(len(p)), r.m.left)])
	r.m.left -= int64(n)
	return n, err
}
