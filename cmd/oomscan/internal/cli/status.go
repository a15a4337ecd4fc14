package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"oomscan/parser/source"
)

// statusEvery is how often the status line is drawn, if it has changed.
const statusEvery = time.Second

// statusLine says on a terminal what was read of logs that are still being written: without it, a screen on which nothing
// happens looks like a program that hangs. A nil one shows nothing. It belongs to one goroutine.
type statusLine struct {
	out   io.Writer
	width func() int
	shown string
}

// newStatusLine returns a status line if a person reads along.
func (o *options) newStatusLine(s Streams) *statusLine {
	if !s.ErrTerminal || o.quiet || s.Env("TERM") == "dumb" || s.ErrWidth == nil {
		return nil
	}
	return &statusLine{out: s.Err, width: s.ErrWidth}
}

// ticks are the times at which the line is drawn.
func (s *statusLine) ticks() <-chan time.Time {
	if s == nil {
		return nil
	}
	return time.Tick(statusEvery)
}

// show puts a text in the place of the one that is shown.
func (s *statusLine) show(text string) {
	text = runewidth.Truncate(text, max(s.width()-1, 1), "")
	if text != s.shown {
		_, _ = io.WriteString(s.out, "\r\x1b[2K"+text)
		s.shown = text
	}
}

// hide takes the line away.
func (s *statusLine) hide() {
	if s != nil && s.shown != "" {
		_, _ = io.WriteString(s.out, "\r\x1b[2K")
		s.shown = ""
	}
}

// above is a writer to the same terminal: the line is taken away before anything is written.
func (s *statusLine) above(w io.Writer) io.Writer { return writerAbove{w, s} }

type writerAbove struct {
	io.Writer
	status *statusLine
}

func (w writerAbove) Write(p []byte) (int, error) {
	w.status.hide()
	return w.Writer.Write(p)
}

// fewLogs is of how many logs the steps are looked for.
const fewLogs = 20

// statusOf says what was read of logs.
func (j *scan) statusOf(logs []*tailedLog) string {
	lines, step, found := 0, -1, false
	for _, g := range logs {
		lines += g.lines
		if len(logs) <= fewLogs {
			step = max(step, g.lastStep())
		}
		found = found || g.evidence
	}
	name := fmt.Sprintf("%d files", len(logs))
	if len(logs) == 1 {
		name = printable(spoken(logs[0].name))
	}
	parts := []string{fmt.Sprintf("%s: %d lines", name, lines)}
	if lines == 0 {
		parts[0] = name + ": waiting for input"
	}
	if step >= 0 {
		parts = append(parts, fmt.Sprintf("step %d", step))
	}
	switch n := len(j.state.all); {
	case n == 1:
		parts = append(parts, "1 incident")
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d incidents", n))
	case found:
		parts = append(parts, "an out-of-memory error was found")
	default:
		parts = append(parts, "no out-of-memory error so far")
	}
	return strings.Join(parts, ", ")
}

// spoken is the name of an input for people.
func spoken(name string) string {
	if name == source.Stdin {
		return "stdin"
	}
	return name
}
