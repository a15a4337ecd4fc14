package cli

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
	"oomscan/parser/source"
)

// run scans the inputs as one job and writes the report.
func (o *options) run(paths []string, s Streams) (int, error) {
	begin := time.Now()
	out, closeOut, err := o.sink(s)
	if err != nil {
		return exitTrouble, err
	}
	extra, err := o.settings()
	if err != nil {
		return exitTrouble, err
	}
	inputs, problems := source.List(paths)
	failed := false
	for _, q := range problems {
		failed = failed || !q.Note
		hint := q.Hint
		if hint == "" && !q.Note && len(inputs) > 0 {
			hint = "it is missing in the report; the other inputs are read"
		}
		complain(s.Err, problem{where: q.Name, what: cause(q.Err), hint: hint})
	}
	p := &printer{options: o, out: out, streams: s, printed: map[report.Begin]bool{}}
	j := &scan{options: o, streams: s, printer: p, extra: extra, begin: begin}
	for _, q := range problems {
		if q.Note {
			continue
		}
		what := cause(q.Err)
		j.done = append(j.done, report.Input{Name: q.Name, Error: &what})
	}
	if len(inputs) == 1 && inputs[0].Name == "-" {
		err = j.stream()
	} else {
		j.files(inputs)
	}
	for _, in := range j.done {
		failed = failed || in.Error != nil
	}
	rep := j.report()
	if err == nil {
		err = p.final(&rep)
	}
	if cerr := closeOut(); err == nil {
		err = cerr
	}
	switch {
	case closed(s.Interrupt):
		return exitInterrupted, err
	case rep.Memory():
		return exitMemory, err
	case failed:
		return exitTrouble, err
	}
	return exitClean, err
}

// scan is one call's work.
type scan struct {
	options *options
	streams Streams
	printer *printer
	extra   []parser.Setting // of --run-config
	begin   time.Time

	collector *classifier.Collector
	done      []report.Input
}

// bigFile is from which size on a file has all workers to itself.
const bigFile = 32 << 20

// files scans regular inputs: the small ones several at a time, the big ones one after the other, each in parts. Each
// input has a collector of its own, so that the answer does not depend on which ends first.
func (j *scan) files(inputs []source.Input) {
	parts := make([]*classifier.Collector, len(inputs))
	done := make([]report.Input, len(inputs))
	var small, big []int
	for i := range inputs {
		if inputs[i].Size >= bigFile {
			big = append(big, i)
		} else {
			small = append(small, i)
		}
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(j.options.jobs, len(small)) {
		wg.Go(func() {
			for i := range next {
				parts[i], done[i] = j.one(inputs[i], 1)
			}
		})
	}
	for _, i := range small {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, i := range big {
		parts[i], done[i] = j.one(inputs[i], j.options.jobs)
	}
	j.collector = classifier.NewCollector()
	for i := range parts {
		j.collector.Merge(parts[i])
	}
	j.done = append(j.done, done...)
}

// one scans one input from its beginning to its end, with so many workers.
func (j *scan) one(in source.Input, workers int) (*classifier.Collector, report.Input) {
	if closed(j.streams.Interrupt) {
		return classifier.NewCollector(), j.failed(report.Input{Name: in.Name}, errInterrupted)
	}
	r, err := in.Open()
	if err != nil {
		return classifier.NewCollector(), j.failed(report.Input{Name: in.Name}, err)
	}
	defer r.Close()
	return j.whole(in.Name, r, workers)
}

// minParts is from which size on a regular file is read in parts.
const minParts = 1 << 20

// whole scans r from where it is to its end.
func (j *scan) whole(name string, r io.Reader, workers int) (*classifier.Collector, report.Input) {
	c := classifier.NewCollector()
	var st parser.Stats
	var err error
	if f, from, size := regular(r); size >= minParts {
		in := io.NewSectionReader(interruptibleAt{f, j.streams.Interrupt}, from, size)
		st, err = parser.ScanAt(name, in, size, workers, c.Add)
	} else {
		st, err = parser.Scan(name, interruptible{r, j.streams.Interrupt}, c.Add)
	}
	res := report.Input{Name: name, Bytes: st.Bytes, Lines: st.Lines, Truncated: st.Truncated}
	if err != nil {
		res = j.failed(res, err)
	}
	return c, res
}

// regular tells a regular file, where its reader is in it, and how much is left; 0 for everything else.
func regular(r io.Reader) (f *os.File, from, left int64) {
	f, ok := r.(*os.File)
	if !ok {
		return nil, 0, 0
	}
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return nil, 0, 0
	}
	from, err = f.Seek(0, io.SeekCurrent)
	if err != nil || from >= st.Size() {
		return nil, 0, 0
	}
	return f, from, st.Size() - from
}

// failed notes that an input could not be read to its end.
func (j *scan) failed(in report.Input, err error) report.Input {
	what := cause(err)
	in.Error = &what
	if !errors.Is(err, errInterrupted) { // the user knows
		complain(j.streams.Err, problem{where: in.Name, what: what, hint: "what was read before is in the report"})
	}
	return in
}

// Times of the stream: how long it must be silent before what is known is said, and how long a talkative one may
// keep an incident back.
const (
	idle = 200 * time.Millisecond
	late = 700 * time.Millisecond
)

// stream reads standard input as it comes and prints incidents as they settle: nothing waits for more input than
// there is.
func (j *scan) stream() error {
	j.collector = classifier.NewCollector()
	if st, serr := j.streams.In.Stat(); serr == nil && st.Mode().IsRegular() {
		c, in := j.whole("-", j.streams.In, j.options.jobs)
		j.collector, j.done = c, append(j.done, in)
		return nil
	}
	sc := parser.NewScanner("-", j.collector.Add)
	chunks, free := j.read()
	timer := time.NewTimer(idle)
	var since time.Time // when the first bytes came that have not been answered yet
	var rerr, err error
loop:
	for {
		select {
		case b, ok := <-chunks:
			if !ok {
				break loop
			}
			if b.err != nil {
				rerr = b.err
				break loop
			}
			_, _ = sc.Write(b.data)
			free <- b.data[:cap(b.data)]
			if since.IsZero() {
				since = time.Now()
			}
			if time.Since(since) > late {
				if err = j.tell(sc, nil); err != nil {
					break loop // nobody reads any more
				}
				since = time.Now()
			}
			timer.Reset(idle)
		case <-timer.C:
			if !since.IsZero() {
				var tail []parser.Observation
				sc.Peek(func(o parser.Observation) { tail = append(tail, o) })
				if err = j.tell(sc, tail); err != nil {
					break loop
				}
				since = time.Time{}
			}
		case <-j.streams.Interrupt:
			break loop
		}
	}
	st := sc.Close()
	in := report.Input{Name: "-", Bytes: st.Bytes, Lines: st.Lines, Truncated: st.Truncated}
	if rerr != nil {
		in = j.failed(in, rerr)
	}
	j.done = append(j.done, in)
	return err
}

// chunk is what one read gave.
type chunk struct {
	data []byte
	err  error
}

// read reads standard input into a few buffers in turn, so that a blocked read never holds up a timer.
func (j *scan) read() (<-chan chunk, chan<- []byte) {
	chunks, free := make(chan chunk), make(chan []byte, 4)
	for range 3 {
		free <- make([]byte, 128<<10)
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
		}
	}()
	return chunks, free
}

// tell prints the incidents that are known by now and were not printed before.
func (j *scan) tell(sc *parser.Scanner, tail []parser.Observation) error {
	c := j.collector
	if len(tail) > 0 {
		c = c.Clone()
		for _, o := range tail {
			c.Add(o)
		}
	}
	st := sc.Stats()
	rep := j.build(c, []report.Input{{Name: "-", Bytes: st.Bytes, Lines: st.Lines, Truncated: st.Truncated}})
	return j.printer.fresh(&rep)
}

// report is the answer to everything that was read.
func (j *scan) report() report.Report { return j.build(j.collector, j.done) }

func (j *scan) build(c *classifier.Collector, inputs []report.Input) report.Report {
	res := c.ResultWith(classifier.Overrides{Framework: j.options.framework, Settings: j.extra})
	rep := report.New(version(), inputs, res)
	rep.Stats.DurationMS = time.Since(j.begin).Milliseconds()
	return rep
}

// settings reads --run-config.
func (o *options) settings() ([]parser.Setting, error) {
	if o.runConfig == "" {
		return nil, nil
	}
	f, err := os.Open(o.runConfig)
	if err != nil {
		return nil, problem{where: o.runConfig, what: cause(err), hint: "--run-config takes the run's YAML or a log that prints it"}
	}
	defer f.Close()
	var out []parser.Setting
	_, err = parser.Scan(o.runConfig, f, func(ob parser.Observation) {
		if s, ok := ob.(parser.Setting); ok {
			out = append(out, s)
		}
	})
	if err != nil {
		return nil, problem{where: o.runConfig, what: cause(err)}
	}
	if len(out) == 0 {
		return nil, problem{where: o.runConfig, what: "holds no settings", hint: "--run-config takes the run's YAML or a log that prints it"}
	}
	return out, nil
}
