package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"sync"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
	"oomscan/parser/obs"
	"oomscan/parser/source"
)

// formatObs is the format that is no report.
const formatObs = "obs"

// checkObs refuses flags that do not go together.
func (o *options) checkObs() error {
	switch {
	case o.format == formatObs && (o.framework != "" || o.runConfig != ""):
		return problem{where: "--format obs", what: "takes no --framework and no --run-config", hint: "give them to oomscan merge, which judges"}
	case o.format != formatObs && o.prefix != "":
		return problem{where: "--prefix", what: "goes with --format obs", hint: "names in a report are those on the command line"}
	}
	return nil
}

// observe writes the observations of all inputs instead of a report, for [options.merge].
func (o *options) observe(paths []string, s Streams) (int, error) {
	if o.follow {
		return exitTrouble, problem{where: "--format obs", what: "is written when all is read, and --follow reads on", hint: "leave --follow out"}
	}
	if s.OutTerminal && (o.output == "" || o.output == "-") && !o.quiet {
		return exitTrouble, problem{where: "--format obs", what: "is packed and nothing for a terminal", hint: "write it to a file with -o"}
	}
	if err := o.checkOutput(paths, s); err != nil {
		return exitTrouble, err
	}
	inputs, problems := source.List(paths)
	out, closeOut, err := o.sink(s, false)
	if err != nil {
		return exitTrouble, err
	}
	inputs = o.withoutOutput(inputs)
	w, err := obs.NewWriter(out, version())
	if err != nil {
		return exitTrouble, err
	}
	j := &observer{scan: scan{options: o, streams: s}, out: w, full: make(chan struct{})}
	stop, release := either(s.Interrupt, j.full)
	defer release()
	j.streams.Interrupt = stop
	results := j.unlisted(problems, len(inputs) > 0)
	j.put(results, "")
	j.seams = seams(inputs)
	j.progress = j.newProgress(len(inputs), sum(inputs))
	u, all := j.unpacker(j.stdin(inputs)), make([]inputResult, len(inputs))
	j.everyInput(inputs, func(i, workers int) { all[i] = j.observed(u, inputs[i], workers) })
	j.progress.close()
	results = append(results, j.takeAll(inputs, all)...)
	j.tellSkipped(problems)
	err = cmp.Or(j.err, w.Close(), closeOut())
	switch {
	case closed(s.Interrupt):
		return exitInterrupted, err
	case brokenPipe(err): // unlike half a report, half of this is of no use to a reader
		return exitTrouble, problem{where: cmp.Or(o.output, "standard output"), what: "was closed before all was written", hint: "what the reader got is not complete"}
	case err != nil, unread(results):
		return exitTrouble, err
	}
	return exitClean, nil
}

// withoutOutput drops the file that is being written from the inputs: it may be in a folder of them.
func (o *options) withoutOutput(inputs []source.Input) []source.Input {
	target, err := os.Stat(o.output)
	if o.output == "" || o.quiet || err != nil {
		return inputs
	}
	kept := inputs[:0]
	for _, in := range inputs {
		if st, err := os.Stat(in.Path); in.From == "" || err != nil || !os.SameFile(st, target) {
			kept = append(kept, in)
		}
	}
	return kept
}

// either is closed with the first of two channels, or released when neither matters any more.
func either(a, b <-chan struct{}) (first <-chan struct{}, release func()) {
	ctx, cancel := context.WithCancel(context.Background())
	if closed(a) {
		cancel()
	}
	go func() {
		defer cancel()
		select {
		case <-a:
		case <-b:
		case <-ctx.Done():
		}
	}()
	return ctx.Done(), cancel
}

// observer is a scan that writes observations down. Each log is written in one piece, whichever ends first.
type observer struct {
	scan
	mu   sync.Mutex // guards what follows
	out  *obs.Writer
	err  error
	full chan struct{} // closed with the first error
}

// maxWaiting is how much of a log waits for its end in memory. A longer one has the output to itself from then on.
const maxWaiting = 1 << 20

// logText is what is written of one log.
type logText struct {
	to      *observer
	waiting bytes.Buffer
	locked  bool // the output
}

func (t *logText) Write(p []byte) (int, error) {
	if n, err := t.waiting.Write(p); t.waiting.Len() < maxWaiting {
		return n, err
	}
	return len(p), t.flush()
}

// flush writes what waits, and keeps the output locked until the log ends.
func (t *logText) flush() error {
	if !t.locked {
		t.to.mu.Lock()
		t.locked = true
	}
	if t.to.err == nil {
		if _, t.to.err = t.to.out.Write(t.waiting.Bytes()); t.to.err != nil {
			close(t.to.full)
		}
	}
	t.waiting.Reset()
	return t.to.err
}

// end ends the log with what was read of it. The observer keeps errors.
func (t *logText) end(l *obs.Log, in *report.Input, digest string) {
	r := obs.Read{Counts: in.Counts, Digest: digest}
	if in.Error != nil {
		r.Error = *in.Error
	}
	_ = l.Close(r)
	_ = t.flush()
	t.to.mu.Unlock()
}

// put writes down inputs of which nothing was read.
func (j *observer) put(results []logResult, from string) {
	for i := range results {
		t := &logText{to: j}
		t.end(j.log(t, results[i].input.Name, from), &results[i].input, "")
	}
}

// log begins a log of an input.
func (j *observer) log(out io.Writer, name, from string) *obs.Log {
	if from == name {
		from = ""
	} else if from != "" {
		from = j.options.prefix + from
	}
	return obs.NewLog(out, j.options.prefix+name, from)
}

// observed scans one input and writes down what its logs contain.
func (j *observer) observed(u *source.Unpacker, in source.Input, workers int) inputResult {
	var h inputResult
	m := j.progress.meter(in.Size)
	defer m.end()
	missing := j.walk(u, in, &h, source.Visits{Log: func(name string, r io.Reader) {
		t := &logText{to: j}
		l := j.log(t, name, in.Name)
		r, digest := sampled(r)
		c := classifier.NewCollector()
		res, err := j.whole(name, r, workers, func(o parser.Observation) { l.Add(c.Compact(o)) }, m)
		h.read(res, nil, err)
		t.end(l, &h.results[len(h.results)-1].input, digest())
	}}, m)
	j.put(missing, in.Name)
	return h
}

// stdin is the standard input such that an interrupt ends a read that blocks.
func (j *observer) stdin(inputs []source.Input) io.Reader {
	for _, in := range inputs {
		if st, err := j.streams.In.Stat(); in.Name == source.Stdin && in.Path == "" && (err != nil || !st.Mode().IsRegular()) {
			chunks, free := j.read()
			return &chunkReader{chunks: chunks, free: free, done: j.streams.Interrupt}
		}
	}
	return j.streams.In
}

// sampleLen is how much of a log's beginning and of its end tells it from others of its name and size.
const sampleLen = 4 << 10

// sampled returns a reader of the same log, and what tells a digest of its beginning and its end once it was read.
func sampled(r io.Reader) (io.Reader, func() string) {
	var s sample
	f, from, left := regular(r)
	if left == 0 {
		s.Reader = r
		return &s, s.digest
	}
	n := min(left, sampleLen)
	s.head, s.tail = make([]byte, n), make([]byte, n)
	h, _ := f.ReadAt(s.head, from)
	t, _ := f.ReadAt(s.tail, from+left-n)
	s.head, s.tail = s.head[:h], s.tail[:t]
	return r, s.digest
}

// sample keeps the beginning and the end of what is read.
type sample struct {
	io.Reader
	head, tail []byte
}

func (s *sample) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if k := min(n, sampleLen-len(s.head)); k > 0 {
		s.head = append(s.head, p[:k]...)
	}
	s.tail = append(s.tail, p[max(0, n-sampleLen):n]...)
	if over := len(s.tail) - sampleLen; over > 0 {
		s.tail = append(s.tail[:0], s.tail[over:]...)
	}
	return n, err
}

func (s *sample) digest() string {
	h := sha256.New()
	h.Write(s.head)
	h.Write(s.tail)
	return hex.EncodeToString(h.Sum(nil)[:8])
}
