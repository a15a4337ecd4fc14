package cli

import (
	"io"
	"sync"
)

// maxAhead is how much of what is written out of turn waits in memory, all writers together.
const maxAhead = 32 << 20

// order puts what several writers make at the same time into one stream, in the order of their numbers. What the first of
// them writes goes through; what others write waits, in memory up to a bound, beyond that with its writer. So the writers
// must begin in order, and none may hold what an earlier one needs.
type order struct {
	out io.Writer

	mu    sync.Mutex
	moved *sync.Cond
	first int            // whose turn it is
	ahead int            // bytes that wait
	ended map[int][]byte // what writers wrote that have ended before their turn
	err   error          // of out
	full  chan struct{}  // closed with the first error
}

func newOrder(out io.Writer) *order {
	o := &order{out: out, ended: map[int][]byte{}, full: make(chan struct{})}
	o.moved = sync.NewCond(&o.mu)
	return o
}

// turn is one writer. It serves one goroutine.
type turn struct {
	order  *order
	number int
	buf    []byte
}

// writer returns the writer of that number, from 0 on.
func (o *order) writer(number int) *turn { return &turn{order: o, number: number} }

func (t *turn) Write(p []byte) (int, error) {
	o := t.order
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && t.number != o.first && o.ahead+len(p) > maxAhead {
		o.moved.Wait()
	}
	switch {
	case o.err != nil:
	case t.number == o.first:
		t.pass()
		o.write(p)
	default:
		t.buf = append(t.buf, p...)
		o.ahead += len(p)
	}
	if o.err != nil {
		return 0, o.err
	}
	return len(p), nil
}

// wait returns when it is this writer's turn, or nothing can be written any more.
func (t *turn) wait() {
	o := t.order
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && t.number != o.first {
		o.moved.Wait()
	}
}

// end says that this writer is done.
func (t *turn) end() {
	o := t.order
	o.mu.Lock()
	defer o.mu.Unlock()
	if t.number != o.first {
		o.ended[t.number] = t.buf
		return
	}
	t.pass()
	for {
		o.first++
		buf, ok := o.ended[o.first]
		if !ok {
			break
		}
		delete(o.ended, o.first)
		o.ahead -= len(buf)
		o.write(buf)
	}
	o.moved.Broadcast()
}

// pass writes what has waited. The order is locked.
func (t *turn) pass() {
	if len(t.buf) > 0 {
		t.order.write(t.buf)
		t.order.ahead -= len(t.buf)
		t.buf = nil
		t.order.moved.Broadcast()
	}
}

// write writes, unless that has failed before. The order is locked.
func (o *order) write(p []byte) {
	if o.err == nil && len(p) > 0 {
		if _, o.err = o.out.Write(p); o.err != nil {
			close(o.full)
			o.moved.Broadcast()
		}
	}
}

// failed is why nothing can be written any more, nil when it can.
func (o *order) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
