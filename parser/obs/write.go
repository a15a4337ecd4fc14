package obs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/traceback"
)

// A Writer writes one file. Between [NewWriter] and [Writer.Close] it is given the output of any number of [Log]s,
// each log's in one piece. It uses a few MiB, however much is written.
type Writer struct {
	pack  *zstd.Encoder
	lines int64
}

// NewWriter begins a file. version is the program's own. The caller closes out.
func NewWriter(out io.Writer, version string) (*Writer, error) {
	// One goroutine and a window of 1 MiB, because what is written is a small part of what was read.
	pack, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, err
	}
	w := &Writer{pack: pack}
	var t texts
	_, err = w.Write(encode(&line{Schema: new(Schema), Version: t.out(version, maxName)}))
	return w, err
}

// Write takes whole lines or parts of them.
func (w *Writer) Write(p []byte) (int, error) {
	w.lines += int64(bytes.Count(p, []byte{'\n'}))
	return w.pack.Write(p)
}

// Close ends the file. Without it, readers report that the file is cut short.
func (w *Writer) Close() error {
	_, err := w.Write(encode(&line{End: &end{Lines: w.lines}}))
	if cerr := w.pack.Close(); err == nil {
		err = cerr
	}
	return err
}

func encode(l *line) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		panic(err) // only texts, numbers and lists of them
	}
	return EscapeCodes(b.Bytes())
}

// A Log encodes the observations of one log. It is not safe for concurrent use, but several Logs may be written at
// the same time, each to a writer of its own, to be joined by a [Writer].
type Log struct {
	texts
	out    *bufio.Writer    // keeps the first error
	last   *envelope.Header // of the previous observation
	traces recent[*traceback.Trace]
}

// NewLog begins a log. in is the archive that contains it, if any.
func NewLog(out io.Writer, name, in string) *Log {
	l := &Log{out: bufio.NewWriterSize(out, 32<<10)}
	l.writeLine(&line{Input: new(l.texts.out(name, maxInput)), In: l.texts.out(in, maxInput)})
	return l
}

// Add writes an observation of this log. [Log.Close] returns errors of the writer.
func (l *Log) Add(o parser.Observation) {
	at := o.Place()
	x := line{Line: max(0, at.Line), Offset: max(0, at.Offset), Passed: max(0, at.Passed)}
	switch o := o.(type) {
	case parser.Event:
		x.Event, x.Kind, x.Role, x.Phase = l.name(o.Pattern), string(o.Kind), string(o.Role), l.texts.out(o.Phase, maxName)
		x.From, x.Trace = l.from(&o.Header), l.trace(o.Trace)
		x.Fields, x.Text = l.fieldsOut(o.Fields), l.texts.out(o.Text, maxText)
	case parser.Setting:
		x.Setting, x.From = l.name(o.Key), l.from(&o.Header)
		x.Value, x.Form = l.texts.out(o.Value, maxValue), l.texts.out(o.Form, maxName)
	case parser.Marker:
		x.Marker, x.From = l.name(o.Name), l.from(&o.Header)
		x.Fields, x.Text = l.fieldsOut(o.Fields), l.texts.out(o.Text, maxText)
	case parser.Gauge:
		x.Gauge, x.From = l.name(o.Name), l.from(&o.Header)
		x.Fields, x.Text = l.fieldsOut(o.Fields), l.texts.out(o.Text, maxText)
	}
	l.writeLine(&x)
}

func (l *Log) name(s string) *string { return new(l.texts.out(s, maxName)) }

// Close ends the log and returns the writer's first error. The names in r are ignored.
func (l *Log) Close(r Read) error {
	l.writeLine(&line{Read: &read{r.Counts, l.texts.out(r.Error, maxText), l.texts.out(r.Digest, maxName)}})
	return l.out.Flush()
}

// from encodes an observation's envelope, nil if it equals the previous one.
func (l *Log) from(h *envelope.Header) *header {
	if l.last != nil && sameHeader(l.last, h) {
		return nil
	}
	l.last = new(*h)
	return l.headerOf(h)
}

// trace writes a traceback and its causes, unless they were written recently, and returns its number.
func (l *Log) trace(t *traceback.Trace) int {
	if t == nil {
		return 0
	}
	var chain []*traceback.Trace
	number := 0
	for c := t; c != nil && len(chain) < maxChain; c = c.Cause {
		if i := slices.Index(l.traces.list, c); i >= 0 {
			number = l.traces.dropped + i + 1
			break
		}
		chain = append(chain, c)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		x := l.traceOut(chain[i])
		x.Cause = number
		l.writeLine(&line{Traceback: x})
		number = l.traces.add(chain[i])
	}
	return number
}

// recent are the tracebacks of a log that can still be referred to, by their numbers from 1.
type recent[T any] struct {
	list    []T
	dropped int
}

// add keeps a traceback and returns its number.
func (r *recent[T]) add(t T) int {
	if len(r.list) == maxTraces {
		r.list = slices.Delete(r.list, 0, 1)
		r.dropped++
	}
	r.list = append(r.list, t)
	return r.dropped + len(r.list)
}

func (l *Log) writeLine(x *line) { _, _ = l.out.Write(encode(x)) }
