package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"oomscan/classifier"
	"oomscan/parser/source"
)

// Times of the progress line.
const (
	patient = time.Second // work that takes no longer shows none
	redraw  = 200 * time.Millisecond
)

// progress shows on a terminal how far a scan is. A nil one shows nothing and costs nothing. All of it may be called from
// several goroutines.
type progress struct {
	out   io.Writer
	width func() int // of the terminal now
	total int64
	files int
	begun time.Time

	read  atomic.Int64 // bytes of the inputs, packed ones as they are
	done  atomic.Int64 // inputs
	found atomic.Int64 // logs with evidence of an incident

	timer *time.Timer
	stop  chan struct{} // closed: draw no more
	drawn sync.WaitGroup
	once  sync.Once
}

// sum is how many bytes inputs have, as far as that is known.
func sum(inputs []source.Input) int64 {
	var n int64
	for i := range inputs {
		n += max(inputs[i].Size, 0)
	}
	return n
}

// newProgress returns what shows the scan of so many inputs of so many bytes together, if a person reads along and the
// work is not over in a moment.
func (j *scan) newProgress(files int, total int64) *progress {
	s := &j.streams
	if !s.ErrTerminal || j.options.quiet || s.Env("TERM") == "dumb" || s.ErrWidth == nil {
		return nil
	}
	p := &progress{out: s.Err, width: s.ErrWidth, total: total, files: files, begun: time.Now(), stop: make(chan struct{})}
	p.drawn.Add(1)
	p.timer = time.AfterFunc(patient, p.show)
	return p
}

// close takes the line away.
func (p *progress) close() {
	if p == nil {
		return
	}
	p.once.Do(func() {
		close(p.stop)
		if p.timer.Stop() {
			p.drawn.Done() // it never began
		}
		p.drawn.Wait()
	})
}

// show draws the line until it is stopped.
func (p *progress) show() {
	defer p.drawn.Done()
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	shown := 0 // columns of the line on the screen
	for {
		width := p.width()
		erase(p.out, shown, width)
		line := p.line(width)
		shown = len(line)
		_, _ = io.WriteString(p.out, line)
		select {
		case <-ticker.C:
		case <-p.stop:
			erase(p.out, shown, p.width())
			return
		}
	}
}

// leastBar is how many columns the shortest bar has.
const leastBar = 5

// line is the progress by now, one column narrower than the terminal, for some wrap a full line. A bar takes the room that the
// figures leave.
func (p *progress) line(width int) string {
	most := max(width-1, 1)
	read, files := min(p.read.Load(), p.total), fmt.Sprintf("%d/%d files", p.done.Load(), p.files)
	found, hits := "no incident", "none found"
	if n := p.found.Load(); n > 0 {
		found, hits = fmt.Sprintf("%d with incidents", n), fmt.Sprintf("%d found", n)
	}
	speed, left := "...", "..."
	if rate := float64(read) / time.Since(p.begun).Seconds(); rate >= 1 {
		speed = classifier.GiB(int64(rate)) + "/s"
		left = time.Duration(float64(p.total-read)/rate*float64(time.Second)).Round(time.Second).String() + " left"
	}
	line := fmt.Sprintf(" %s of %s %s %s %s", classifier.GiB(read), classifier.GiB(p.total), speed, found, left)
	if room := most - len(files+" []"+line); room >= leastBar {
		bar := strings.Repeat("=", int(float64(room)*float64(read)/float64(max(p.total, 1))))
		line = fmt.Sprintf(" [%-*s]%s", room, bar, line)
	}
	if line = files + line; len(line) > most {
		line = fmt.Sprintf("%s %s/%s %s %s", files, classifier.GiB(read), classifier.GiB(p.total), hits, left)
	}
	return line[:min(len(line), most)] // all of it is ASCII
}

// erase takes a line of so many columns away, on a terminal that may have become narrower and broken it since.
func erase(w io.Writer, shown, width int) {
	if shown == 0 {
		return
	}
	const line, up = "\r\x1b[2K", "\x1b[1A\x1b[2K"
	_, _ = io.WriteString(w, line+strings.Repeat(up, (shown-1)/max(width, 1)))
}

// meter counts what is read of one input.
type meter struct {
	progress *progress
	left     atomic.Int64 // bytes of it that were not counted yet
	high     atomic.Int64 // the offset up to which it was read: parts that overlap are read twice
	found    atomic.Bool
}

// meter begins an input of that size.
func (p *progress) meter(size int64) *meter {
	if p == nil {
		return nil
	}
	m := &meter{progress: p}
	m.left.Store(max(size, 0))
	return m
}

// add counts bytes that were read.
func (m *meter) add(n int64) {
	if m == nil {
		return
	}
	if n = min(n, m.left.Load()); n > 0 {
		m.left.Add(-n)
		m.progress.read.Add(n)
	}
}

// reach counts bytes that were read at an offset.
func (m *meter) reach(end int64) {
	if m == nil {
		return
	}
	for {
		high := m.high.Load()
		if end <= high {
			return
		}
		if m.high.CompareAndSwap(high, end) {
			m.add(end - high)
			return
		}
	}
}

// evidence notes that a log tells of an incident.
func (m *meter) evidence() {
	if m != nil && !m.found.Swap(true) {
		m.progress.found.Add(1)
	}
}

// log begins another log of the same input.
func (m *meter) log() {
	if m != nil {
		m.found.Store(false)
	}
}

// end counts the input as done, whatever was read of it.
func (m *meter) end() {
	if m == nil {
		return
	}
	m.progress.read.Add(m.left.Swap(0))
	m.progress.done.Add(1)
}
