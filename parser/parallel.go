package parser

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// Sizes of [ScanAt].
const (
	partSize = 512 << 10 // searched at a time by one worker: the more, the less is read twice; more would leave the cache
	nearEnd  = 4 << 10   // behind a part, enough for the end of nearly every line
)

// ScanAt reads the first size bytes of r with so many workers, which search it in parts; what they find is read in order,
// and so the number of workers changes nothing but the time. It keeps two parts more than there are workers in memory.
// With one worker everything happens in the caller's goroutine; none outlives the call. An input that ends sooner is read
// as far as it goes. The only errors are r's; what was read before is emitted all the same.
func ScanAt(name string, r io.ReaderAt, size int64, workers int, emit func(Observation), options ...Option) (Stats, error) {
	return scanAt(newScanner(name, table(), emit, options...), r, size, workers, partSize)
}

func scanAt(s *Scanner, r io.ReaderAt, size int64, workers, length int) (Stats, error) {
	s.again, s.recall.look = r, s.lookBack
	n := int((size + int64(length) - 1) / int64(length))
	var err error
	if workers <= 1 || n <= 1 {
		p := part{block: block{maxLine: s.maxLine}, in: r, size: size, length: length}
		for k := 0; k < n && err == nil; k++ {
			p.fill(k, s.table)
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
	in     io.ReaderAt
	size   int64 // of the input
	length int   // of a part
	number int
	err    error // io.EOF: the input ended sooner than its size said
	ready  chan struct{}
}

// parallel hands parts to workers and takes them in order.
func (s *Scanner) parallel(r io.ReaderAt, size int64, workers, length, n int) error {
	workers = min(workers, n)
	todo := make(chan *part, workers+2)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(todo)
	for range workers {
		wg.Go(func() {
			for p := range todo {
				p.fill(p.number, s.table)
				p.ready <- struct{}{}
			}
		})
	}
	parts := make([]part, min(workers+2, n))
	for k := range parts {
		parts[k] = part{block: block{maxLine: s.maxLine}, in: r, size: size, length: length, number: k, ready: make(chan struct{}, 1)}
		todo <- &parts[k]
	}
	for k := range n {
		p := &parts[k%len(parts)]
		<-p.ready
		if err := s.part(p); err != nil {
			return err
		}
		if p.number += len(parts); p.number < n {
			todo <- p
		}
	}
	return nil
}

// part consumes a part and returns why no more of them can come.
func (s *Scanner) part(p *part) error {
	s.stats.Bytes += int64(p.hi - p.lo)
	if p.hi > p.lo {
		s.consume(&p.block)
	}
	return p.err
}

// fill reads and searches the part of that number.
func (p *part) fill(number int, t *compiled) {
	begin := int64(number) * int64(p.length)
	end := min(begin+int64(p.length), p.size)
	p.off = max(0, begin-behind)
	p.text, p.err = p.text[:0], nil
	p.read(min(end+nearEnd, p.size))
	if own := int(end - p.off); own < len(p.text) && bytes.IndexByte(p.text[own-1:], '\n') < 0 {
		p.read(min(end+int64(ahead(p.maxLine)), p.size))
	}
	p.lo = min(int(begin-p.off), len(p.text))
	p.hi = min(int(end-p.off), len(p.text))
	if p.off+int64(p.hi) == end {
		p.err = nil // the next part will meet it
	}
	p.survey(t, false)
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
