package cli

import (
	"io"
	"time"

	"oomscan/parser/source"
)

// stream reads standard input as it comes and reports incidents as they settle: nothing waits for more input than there
// is. It returns what it read; the error is the output's.
func (j *scan) stream() (results []logResult, err error) {
	if st, serr := j.streams.In.Stat(); serr == nil && st.Mode().IsRegular() {
		return j.unpack(j.streams.In, j.options.jobs), nil
	}
	chunks, free := j.read()
	head, form, end := j.head(chunks, free)
	if form == source.Packed {
		return j.unpack(&chunkReader{head: head, err: end, chunks: chunks, free: free, done: j.streams.Interrupt}, 1), nil
	}
	log := newTailedLog(source.Stdin, j.options.reading())
	if form == source.Wide {
		log.wide = source.NewDecoder(head)
	}
	l := newLive(j)
	feed := func(p []byte) {
		if len(p) > 0 {
			log.feed(p)
			l.read(log)
		}
	}
	known := func() []logResult {
		if log.events == 0 {
			return nil
		}
		return []logResult{log.result()}
	}
	feed(head)
	reports, draws := time.NewTimer(l.wait()), j.status.ticks()
	defer j.status.hide()
	for end == nil && err == nil {
		select {
		case b, ok := <-chunks:
			switch {
			case !ok:
				end = io.EOF
			case b.err != nil:
				end = b.err
			default:
				feed(b.data)
				free <- b.data[:cap(b.data)]
			}
		case <-reports.C:
			err = l.report(known)
		case <-draws:
			j.status.show(j.statusOf([]*tailedLog{log}))
		case <-j.streams.Interrupt:
			end, j.followed = io.EOF, true // who writes may go on: the user has seen enough
		}
		reports.Reset(l.wait())
	}
	r := log.close()
	var h inputResult
	h.read(r.input, r.collector, end)
	return j.take(&source.Input{Name: source.Stdin}, &h), err
}

// chunk is what one read gave.
type chunk struct {
	data []byte
	err  error
}

// Reading. Who reads a pipe as soon as there is something in it is woken for every page that is written, which takes far
// longer than to read it. So what was read is handed on at once, but a little time passes until the next read, unless
// there was much to read.
const (
	chunkSize = 256 << 10
	muchRead  = chunkSize / 4
	breath    = 200 * time.Microsecond
)

// read reads standard input into a few buffers in turn, so that a blocked read never holds up a timer.
func (j *scan) read() (<-chan chunk, chan<- []byte) {
	source.Widen(j.streams.In)
	chunks, free := make(chan chunk), make(chan []byte, 4)
	for range 3 {
		free <- make([]byte, chunkSize)
	}
	go func() {
		defer close(chunks)
		for b := range free {
			n, err := j.streams.In.Read(b)
			if n > 0 {
				chunks <- chunk{data: b[:n]}
			} else {
				free <- b
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				chunks <- chunk{err: err}
				return
			}
			if n < muchRead {
				time.Sleep(breath)
			}
		}
	}()
	return chunks, free
}

// head reads the first bytes of standard input, as many as it takes to tell what it is, and no longer than the stream
// is silent: a log is answered as it comes. It returns why there are no more.
func (j *scan) head(chunks <-chan chunk, free chan<- []byte) (head []byte, form source.Form, err error) {
	timer, draws := time.NewTimer(idle), j.status.ticks()
	defer timer.Stop()
	for {
		select {
		case b, ok := <-chunks:
			if !ok {
				return head, form, io.EOF
			}
			if b.err != nil {
				return head, form, b.err
			}
			head = append(head, b.data...)
			free <- b.data[:cap(b.data)]
			var sure bool
			if form, sure = source.Begins(head); sure {
				return head, form, nil
			}
			timer.Reset(idle)
		case <-timer.C:
			if len(head) > 0 {
				return head, form, nil
			}
			timer.Reset(idle)
		case <-draws:
			j.status.show("stdin: waiting for input")
		case <-j.streams.Interrupt:
			if len(head) == 0 {
				return nil, form, errInterrupted // nothing was read, so nothing is known
			}
			j.followed = true
			return head, form, io.EOF
		}
	}
}

// unpack scans standard input, which is a file or is packed, as any other input.
func (j *scan) unpack(r io.Reader, workers int) []logResult {
	in := source.Input{Name: source.Stdin, Size: -1}
	h := j.one(j.unpacker(r), in, workers)
	return j.take(&in, &h)
}

// chunkReader reads on where head stopped.
type chunkReader struct {
	head   []byte
	err    error
	chunks <-chan chunk
	free   chan<- []byte
	last   []byte // the buffer that head is in, to be given back
	done   <-chan struct{}
}

func (r *chunkReader) Read(p []byte) (int, error) {
	for len(r.head) == 0 {
		if r.last != nil {
			r.free <- r.last[:cap(r.last)]
			r.last = nil
		}
		if r.err != nil {
			return 0, r.err
		}
		select {
		case b, ok := <-r.chunks:
			switch {
			case !ok:
				r.err = io.EOF
			case b.err != nil:
				r.err = b.err
			default:
				r.head, r.last = b.data, b.data
			}
		case <-r.done:
			r.err = errInterrupted
		}
	}
	n := copy(p, r.head)
	r.head = r.head[n:]
	return n, nil
}
