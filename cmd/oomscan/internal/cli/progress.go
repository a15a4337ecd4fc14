package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cheggaaa/pb/v3"

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
	p := &progress{out: s.Err, width: s.ErrWidth, total: total, files: files, stop: make(chan struct{})}
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

// Templates of the line, for wide terminals, for narrow ones, and for narrow ones when the figures leave no room for a bar.
const (
	wideLine   = `{{string . "files"}}  {{bar . "[" "=" ">" " " "]"}}  {{counters . "%s of %s"}}  {{speed . "%s/s" "..."}}  {{string . "found"}}  {{rtime . "%s left" "%.0s" "..."}}`
	narrowLine = `{{string . "files"}} {{bar . "[" "=" ">" " " "]"}} {{counters . "%s of %s"}} {{speed . "%s/s" "..."}} {{string . "found"}} {{rtime . "%s left" "%.0s" "..."}}`
	tightLine  = `{{string . "files"}} {{counters . "%s/%s"}} {{speed . "%s/s" "..."}} {{string . "hits"}} {{rtime . "%s left" "%.0s" "..."}}`
	bareLine   = `{{string . "files"}} {{counters . "%s of %s"}} {{speed . "%s/s" "..."}} {{string . "found"}} {{rtime . "%s left" "%.0s" "..."}}`
	wideFrom   = 100
	leastBar   = 9 // columns of the shortest bar, and of what parts it from the rest
)

// show draws the line until it is stopped.
func (p *progress) show() {
	defer p.drawn.Done()
	l := p.layouts()
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	shown := 0 // columns of the line on the screen
	for {
		width := p.width()
		erase(p.out, shown, width)
		line := p.line(&l, width)
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

// bar is a line that is rendered when it is asked for.
func (p *progress) bar(layout string) *pb.ProgressBar {
	b := pb.New64(p.total).Set(pb.Static, true).Set(pb.Bytes, true).Set(pb.Terminal, false).Set(pb.Color, false).Set(pb.TimeRound, time.Second)
	return b.SetWriter(io.Discard).SetTemplateString(layout).Start()
}

// layouts are the forms that a line may take.
type layouts struct{ wide, narrow, bare, tight *pb.ProgressBar }

func (p *progress) layouts() layouts {
	return layouts{p.bar(wideLine), p.bar(narrowLine), p.bar(bareLine), p.bar(tightLine)}
}

// line is the progress by now, one column narrower than the terminal, for some wrap a full line. A bar that has no room
// gives way to the figures.
func (p *progress) line(l *layouts, width int) string {
	most := max(width-1, 1)
	files := fmt.Sprintf("%d/%d files", p.done.Load(), p.files)
	found, hits := "no incident", "none found"
	if n := p.found.Load(); n > 0 {
		found, hits = fmt.Sprintf("%d with incidents", n), fmt.Sprintf("%d found", n)
	}
	read := min(p.read.Load(), p.total)
	text := func(b *pb.ProgressBar, columns int) string {
		b.Set("files", files).Set("found", found).Set("hits", hits).SetCurrent(read).SetWidth(columns)
		return strings.TrimRight(b.String(), " ")
	}
	const unbound = 1000
	var line string
	switch bare := len(text(l.bare, unbound)); {
	case width >= wideFrom && bare+2*leastBar <= most:
		line = text(l.wide, most)
	case bare+leastBar <= most:
		line = text(l.narrow, most)
	case bare <= most:
		line = text(l.bare, most)
	default:
		line = text(l.tight, most)
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
