package parser

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
)

// Sizes of [ScanAt].
const (
	readSize = 1 << 20 // of a part that is read: searched at a time by one worker
	// windowSize is that of a part that is looked at where it is. Where a system keeps files in huge pages (Linux 6.18 with
	// ext4 does), one is mapped at once, and not in 32 steps, if all of it is asked for.
	windowSize = 2 << 20
	nearEnd    = 4 << 10 // behind a part, enough for the end of nearly every line
	// farAhead is how many parts may be searched before their turn where they need not be kept in memory: workers go on for as
	// long as it takes to read what a failure makes worth reading.
	farAhead = 64
	// nearBy is how many of them are kept in memory all the same: the one whose turn it is.
	nearBy = 1
	// manySpots is how many places of interest a part may have to be searched long before its turn.
	manySpots = 1 << 10
)

// Windowed is an input whose bytes can be looked at where they are, which spares copying them.
type Windowed interface {
	io.ReaderAt
	// Window returns n bytes of the input from off on, which stay until release is called. They may fault should the input
	// become shorter meanwhile; [ScanAt] expects that. It is not ok where they are to be read instead.
	Window(off int64, n int) (text []byte, release func(), ok bool)
}

// ScanAt reads the first size bytes of r with so many workers, which search it in parts; what they find is read in order,
// and so the number of workers changes nothing but the time. It keeps two parts more than there are workers in memory. If
// r is [Windowed], they are looked at there, and of parts further ahead nothing is kept but what was found in them. With one
// worker everything happens in the caller's goroutine; none outlives the call. An input that ends sooner is read as far as it
// goes. The only errors are r's; what was read before is emitted all the same.
func ScanAt(name string, r io.ReaderAt, size int64, workers int, emit func(Observation), options ...Option) (Stats, error) {
	length := readSize
	if size > int64(workers)*windowSize && windows(r) {
		length = windowSize
	}
	return scanAt(newScanner(name, table(), emit, options...), r, size, workers, length)
}

// windows says whether an input can be looked at where it is.
func windows(r io.ReaderAt) bool {
	w, ok := r.(Windowed)
	if !ok {
		return false
	}
	_, release, ok := w.Window(0, 1)
	if ok {
		release()
	}
	return ok
}

func scanAt(s *Scanner, r io.ReaderAt, size int64, workers, length int) (Stats, error) {
	s.again, s.size, s.recall.look = r, size, s.lookBack
	n := int((size + int64(length) - 1) / int64(length))
	var err error
	if workers <= 1 || n <= 1 {
		p, by := newPart(s, r, size, length, 0), newSurveyor(s.table)
		for k := 0; k < n && err == nil; k++ {
			p.fill(k, by)
			err = s.part(&p)
		}
	} else {
		err = s.parallel(r, size, workers, length, n)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return s.close(), err
}

// part is a part of an input, as one worker reads it.
type part struct {
	block
	in      io.ReaderAt
	windows Windowed // in, if it is
	release func()   // ends the use of the text; nil: it is in buf
	buf     []byte
	size    int64 // of the input
	length  int   // of a part
	number  int
	away    int   // bytes of text that were let go after they had been searched
	err     error // io.EOF: the input ended sooner than its size said
	ready   chan struct{}
}

func newPart(s *Scanner, r io.ReaderAt, size int64, length, number int) part {
	windows, _ := r.(Windowed)
	return part{block: block{maxLine: s.maxLine}, in: r, windows: windows, size: size, length: length, number: number}
}

// parallel hands parts to workers and takes them in order.
func (s *Scanner) parallel(r io.ReaderAt, size int64, workers, length, n int) error {
	workers = min(workers, n)
	todo := make(chan *part, farAhead)
	q, places := newQueue(r, workers)
	parts := make([]part, min(places, n))
	var wg sync.WaitGroup
	defer func() {
		close(todo)
		q.take(n)
		wg.Wait()
		for k := range parts {
			parts[k].free()
		}
	}()
	for range workers {
		wg.Go(func() {
			by := newSurveyor(s.table)
			for p := range todo {
				p.fill(p.number, by)
				if q.far(p.number) {
					p.wait(q)
				}
				p.ready <- struct{}{}
				runtime.Gosched() // who reads goes first: what waits for him longer is mapped twice
			}
		})
	}
	for k := range parts {
		parts[k] = newPart(s, r, size, length, k)
		parts[k].ready = make(chan struct{}, 1)
		todo <- &parts[k]
	}
	for k := range n {
		p := &parts[k%len(parts)]
		q.take(k)
		<-p.ready
		if err := s.part(p); err != nil {
			return err
		}
		if places == farAhead {
			p.buf = nil // too many to have one each
		}
		if p.number += len(parts); p.number < n {
			todo <- p
		}
	}
	return nil
}

// queue is where parts stand that were searched before their turn.
type queue struct {
	near  int // how many of them may be in memory
	mu    sync.Mutex
	moved sync.Cond
	turn  int // the part that is read next, or is being read
}

// newQueue returns the queue for an input, and how many parts may stand in it: those that have to be read are all in memory.
func newQueue(r io.ReaderAt, workers int) (q *queue, length int) {
	q, length = &queue{near: workers + 2}, workers+2
	q.moved.L = &q.mu
	if windows(r) {
		q.near, length = nearBy, farAhead
	}
	return q, length
}

// take says that it is a part's turn.
func (q *queue) take(number int) {
	q.mu.Lock()
	q.turn = number
	q.mu.Unlock()
	q.moved.Broadcast()
}

// far says that a part must not be in memory yet.
func (q *queue) far(number int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return number >= q.turn+q.near
}

// await waits until a part may be in memory.
func (q *queue) await(number int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for number >= q.turn+q.near {
		q.moved.Wait()
	}
}

// wait keeps what was found in a part until its turn, and lets go of its text. Too much of that has to wait itself.
func (p *part) wait(q *queue) {
	if p.release == nil || len(p.spots) > manySpots {
		q.await(p.number)
		return
	}
	p.away = len(p.text)
	p.free()
}

// back gets text again that was let go.
func (p *part) back(t *compiled) {
	text, release, ok := p.windows.Window(p.off, p.away)
	if p.away = 0; ok {
		p.text, p.release = text, release
		return
	}
	p.windows = nil
	p.fill(p.number, newSurveyor(t))
}

// part consumes a part and returns why no more of them can come.
func (s *Scanner) part(p *part) error {
	if p.away > 0 && (len(p.spots) > 0 || len(p.long) > 0 || s.inLong || s.alert(s.next)) {
		p.back(s.table)
	}
	if p.release != nil {
		return s.windowed(p)
	}
	s.stats.Bytes += int64(p.hi - p.lo)
	if p.hi > p.lo {
		s.consume(&p.block)
	}
	s.reading = nil
	return p.err
}

// windowed is [Scanner.part] where the text is not our own. Where it faults the input ends: it was truncated after a worker
// had seen it.
func (s *Scanner) windowed(p *part) (err error) {
	defer p.free()
	from := s.stats.Bytes
	if !unfaulted(func() {
		s.stats.Bytes += int64(p.hi - p.lo)
		s.consume(&p.block)
	}) {
		s.stats.Bytes, s.first, s.begun = max(from, s.next), s.line, false
		err = io.EOF
	}
	s.reading = nil
	return err
}

// unfaulted calls do and says whether it ran to its end: it did not if memory faulted.
func unfaulted(do func()) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			if _, fault := e.(interface{ Addr() uintptr }); !fault {
				panic(e)
			}
		}
	}()
	do()
	return true
}

// fill reads and searches the part of that number.
func (p *part) fill(number int, by *surveyor) {
	begin := int64(number) * int64(p.length)
	end := min(begin+int64(p.length), p.size)
	p.off, p.err, p.away = max(0, begin-behind), nil, 0
	if cap(p.spots) > manySpots {
		p.spots = nil
	}
	if p.windows != nil && end > begin {
		if unfaulted(func() { p.look(begin, end, by) }) && p.release != nil {
			return
		}
		p.free()
	}
	p.text = p.buf[:0]
	p.read(min(end+nearEnd, p.size))
	if p.unended(end) {
		p.read(min(end+int64(ahead(p.maxLine)), p.size))
	}
	p.buf = p.text
	p.lo = min(int(begin-p.off), len(p.text))
	p.hi = min(int(end-p.off), len(p.text))
	if p.off+int64(p.hi) == end {
		p.err = nil // the next part will meet it
	}
	p.survey(by, false)
}

// look searches the bytes between two offsets where they are. It leaves release nil where that cannot be.
func (p *part) look(begin, end int64, by *surveyor) {
	text, release, ok := p.windows.Window(p.off, int(min(end+int64(ahead(p.maxLine)), p.size)-p.off))
	if !ok {
		return
	}
	p.text, p.release = text, release
	p.lo, p.hi = int(begin-p.off), int(end-p.off)
	p.survey(by, false)
}

// unended says whether the line in which the part ends goes on behind the text.
func (p *part) unended(end int64) bool {
	own := int(end - p.off)
	return own < len(p.text) && bytes.IndexByte(p.text[own-1:], '\n') < 0
}

// free ends the use of text that is not our own.
func (p *part) free() {
	if p.release != nil {
		p.release()
		p.release, p.text = nil, nil
	}
}

// read reads the input up to an offset, as far as it goes.
func (p *part) read(to int64) {
	have := len(p.text)
	n := int(to - p.off)
	if cap(p.text) < n {
		p.text = append(make([]byte, 0, behind+p.length+ahead(p.maxLine)), p.text...)
	}
	got, err := p.in.ReadAt(p.text[have:n], p.off+int64(have))
	p.text = p.text[:have+got]
	if have+got < n {
		if p.err = err; err == nil {
			p.err = io.ErrUnexpectedEOF
		}
	}
}
