package obs

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/traceback"
)

// A Visitor receives the contents of files in order.
type Visitor interface {
	// File begins a file, written by that version of the program. Several files may follow each other.
	File(version string)
	// Log begins a log and returns the function that receives its observations.
	Log(name string) func(parser.Observation)
	// Done ends the log. Logs of the same name and content have the same digest. If the file contains only the
	// beginning of the log, whole is false and r has only its names.
	Done(r Read, whole bool)
}

// Error says what is wrong with a file and where.
type Error struct {
	Line int64 // of the uncompressed text, from 1
	Err  error // one of this package's, the reader's own, or what is wrong with the line
	Hint string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Errors that [Error.Err] wraps.
var (
	// ErrForm means that the file contains no observations at all.
	ErrForm = errors.New("holds no observations of oomscan")
	// ErrNewer means that a newer program wrote the file.
	ErrNewer = errors.New("written by a newer oomscan")
	// ErrCut means that the end of the file is missing.
	ErrCut = errors.New("cut short: the observations end in the middle")
	// ErrMembers means that the file contains more logs than the caller allows.
	ErrMembers = errors.New("too many logs")
)

// ReadFrom reads a decompressed file and passes its contents to v. It keeps one line and a few tracebacks in memory.
// After an error, v has received all complete logs before it and the beginning of the current one. limit is the
// maximum number of logs.
func ReadFrom(r io.Reader, limit int, v Visitor) error {
	d := decoder{visitor: v, limit: limit, in: bufio.NewReaderSize(r, 64<<10)}
	err := d.run()
	if d.add != nil {
		v.Done(Read{Name: d.name, In: d.inside}, false)
	}
	if err != nil {
		e := &Error{Line: max(1, d.line), Err: err}
		switch {
		case errors.Is(err, ErrNewer):
			e.Hint = "read it with that version, or scan the logs again with this one"
		case errors.Is(err, ErrCut):
			e.Hint = "the scan that wrote it did not end; what was there is read"
		case errors.Is(err, ErrForm):
			e.Hint = "oomscan --format obs writes such files"
		}
		return e
	}
	return nil
}

// decoder reads one file.
type decoder struct {
	texts
	visitor Visitor
	in      *bufio.Reader
	buf     []byte
	line    int64 // of the whole input
	lines   int64 // of this file, before the current one
	version string
	begun   bool // inside a file
	logs    int
	limit   int

	name   string // of the current log
	inside string // the archive that contains it
	add    func(parser.Observation)
	digest hash.Hash
	last   *envelope.Header
	traces recent[link]
}

// link is a traceback and the length of its chain of causes.
type link struct {
	trace *traceback.Trace
	depth int
}

func (d *decoder) run() error {
	for {
		raw, err := d.next()
		switch {
		case err == io.EOF && d.line == 0:
			return ErrForm
		case err == io.EOF && d.begun:
			return ErrCut
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := d.take(raw); err != nil {
			return err
		}
	}
}

func (d *decoder) next() ([]byte, error) {
	d.buf = d.buf[:0]
	for {
		part, err := d.in.ReadSlice('\n')
		if len(d.buf)+len(part) > maxLine {
			d.line++
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		d.buf = append(d.buf, part...)
		switch {
		case err == nil:
			d.line++
			return d.buf, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(d.buf) > 0:
			d.line++
			if d.line == 1 && !bytes.HasPrefix(d.buf, []byte("{")) {
				return nil, ErrForm
			}
			return nil, ErrCut
		default:
			return nil, err
		}
	}
}

func (d *decoder) take(raw []byte) error {
	var l line
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&l)
	if !d.begun {
		return d.begin(raw)
	}
	if err != nil {
		return d.explain(err)
	}
	if dec.InputOffset() != int64(len(raw))-1 {
		return errors.New("text after the JSON object")
	}
	err = d.record(&l, raw)
	if err == nil {
		err = d.texts.err
	}
	if err == nil {
		d.lines++
	}
	return err
}

// begin handles the first line of a file of any version.
func (d *decoder) begin(raw []byte) error {
	var l struct{ Schema, Version string }
	if err := json.Unmarshal(raw, &l); err != nil || !strings.HasPrefix(l.Schema, family) {
		if d.line > 1 {
			return errors.New("text after the end of the observations")
		}
		return ErrForm
	}
	d.version = d.texts.in(l.Version, maxName)
	if l.Schema != Schema {
		return fmt.Errorf("%w: schema %.80q, of version %.80q; this one reads %s", ErrNewer, l.Schema, d.version, Schema)
	}
	if d.texts.err != nil {
		return d.texts.err
	}
	d.begun, d.lines = true, 1
	d.visitor.File(d.version)
	return nil
}

// explain rewords errors of [encoding/json] for people who do not know Go.
func (d *decoder) explain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("not a JSON object: %v", err)
	case errors.As(err, &kind):
		return fmt.Errorf("wrong value of key %q: %s", kind.Field, kind.Value)
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown key %.80s", field)
	}
	return err
}

// record handles a line after the first.
func (d *decoder) record(l *line, raw []byte) error {
	what := 0
	for _, there := range []bool{
		l.Schema != nil, l.Input != nil, l.Event != nil, l.Setting != nil, l.Marker != nil, l.Gauge != nil, l.Traceback != nil, l.Read != nil, l.End != nil,
	} {
		if there {
			what++
		}
	}
	if what != 1 {
		return errors.New("unknown type of line")
	}
	switch {
	case l.Schema != nil:
		return fmt.Errorf("%w: another file begins", ErrCut)
	case l.Input != nil:
		return d.input(l)
	case l.End != nil:
		if d.add != nil {
			return errors.New("the file ends inside a log")
		}
		if l.End.Lines != d.lines {
			return fmt.Errorf("the file ends after %d lines instead of %d", d.lines, l.End.Lines)
		}
		d.begun = false
		return nil
	case d.add == nil:
		return errors.New("no log has begun")
	}
	d.digest.Write(raw)
	if l.Read != nil {
		return d.done(l.Read)
	}
	if l.Traceback != nil {
		return d.traceback(l.Traceback)
	}
	return d.observation(l)
}

// input begins a log.
func (d *decoder) input(l *line) error {
	if d.add != nil {
		return errors.New("a log begins inside another one")
	}
	if d.logs++; d.logs > d.limit {
		return fmt.Errorf("%w: more than %d", ErrMembers, d.limit)
	}
	d.name, d.inside = d.texts.in(*l.Input, maxInput), d.texts.in(l.In, maxInput)
	d.add, d.digest = d.visitor.Log(d.name), sha256.New()
	d.last, d.traces = nil, recent[link]{}
	return nil
}

// done ends a log.
func (d *decoder) done(r *read) error {
	if r.Bytes < 0 || r.Lines < 0 || r.Truncated < 0 || r.Quoted < 0 {
		return errors.New("negative count")
	}
	out := Read{
		Name: d.name, In: d.inside, Counts: r.Counts, Error: d.texts.in(r.Error, maxText),
		Digest: hex.EncodeToString(d.digest.Sum(nil)),
	}
	if d.texts.err == nil {
		d.add = nil
		d.visitor.Done(out, true)
	}
	return nil
}

// traceback keeps a traceback for later lines that refer to it.
func (d *decoder) traceback(x *trace) error {
	t := d.traceIn(x)
	if d.texts.err != nil {
		return nil
	}
	depth := 1
	if x.Cause != 0 {
		cause, err := d.traceByNumber(x.Cause)
		if err != nil {
			return err
		}
		if cause.depth >= maxChain {
			return fmt.Errorf("a traceback has more than %d causes", maxChain)
		}
		t.Cause, depth = cause.trace, cause.depth+1
	}
	d.traces.add(link{t, depth})
	return nil
}

func (d *decoder) traceByNumber(number int) (link, error) {
	if i := number - 1 - d.traces.dropped; i >= 0 && i < len(d.traces.list) {
		return d.traces.list[i], nil
	}
	return link{}, fmt.Errorf("no traceback %d", number)
}

// The values that an event may have.
var (
	kinds = append(parser.Kinds(), parser.JobCancelled, parser.DiskFull, parser.Exception, parser.Restart, parser.Recovered, parser.Pressure)
	roles = []parser.Role{parser.Evidence, parser.Detail, parser.Suspicion, parser.Consequence, parser.Context}
)

// observation decodes an observation and passes it on.
func (d *decoder) observation(l *line) error {
	at := parser.Position{Source: d.name, Line: d.number(l.Line), Offset: l.Offset, Passed: d.number(l.Passed)}
	if l.Offset < 0 || l.Offset > maxNumber {
		return fmt.Errorf("the number %d is out of range", l.Offset)
	}
	if l.From != nil {
		d.last = new(d.envelope(l.From))
	}
	if d.last == nil {
		return errors.New("the first observation of a log has no writer")
	}
	var o parser.Observation
	switch {
	case l.Event != nil:
		e := parser.Event{
			At: at, Header: *d.last, Pattern: d.texts.in(*l.Event, maxName), Kind: parser.Kind(l.Kind), Role: parser.Role(l.Role),
			Phase: d.texts.in(l.Phase, maxName), Fields: d.fieldsIn(l.Fields), Text: d.texts.in(l.Text, maxText),
		}
		if !slices.Contains(kinds, e.Kind) || !slices.Contains(roles, e.Role) {
			return fmt.Errorf("unknown kind %.80q or role %.80q of an event", l.Kind, l.Role)
		}
		if l.Trace != 0 {
			t, err := d.traceByNumber(l.Trace)
			if err != nil {
				return err
			}
			e.Trace = t.trace
		}
		o = e
	case l.Setting != nil:
		o = parser.Setting{At: at, Header: *d.last, Key: d.texts.in(*l.Setting, maxName), Value: d.texts.in(l.Value, maxValue), Form: d.texts.in(l.Form, maxName)}
	case l.Marker != nil:
		o = parser.Marker{At: at, Header: *d.last, Name: d.texts.in(*l.Marker, maxName), Fields: d.fieldsIn(l.Fields), Text: d.texts.in(l.Text, maxText)}
	default:
		o = parser.Gauge{At: at, Header: *d.last, Name: d.texts.in(*l.Gauge, maxName), Fields: d.fieldsIn(l.Fields), Text: d.texts.in(l.Text, maxText)}
	}
	if d.texts.err == nil {
		d.add(o)
	}
	return nil
}
