package cli

import (
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
	j := &observer{scan: scan{options: o, streams: s}, order: newOrder(w)}
	stop, release := either(s.Interrupt, j.order.full)
	defer release()
	j.streams.Interrupt = stop
	results := j.missing(j.unlisted(problems, len(inputs) > 0))
	results = append(results, j.inputs(inputs)...)
	j.tellSkipped(problems)
	err = cmp.Or(j.order.failed(), w.Close(), closeOut())
	switch {
	case closed(s.Interrupt):
		return exitInterrupted, err
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

// observer is a scan that writes observations down.
type observer struct {
	scan
	order *order
}

// missing writes down what is not among the inputs, first of all.
func (j *observer) missing(results []logResult) []logResult {
	t := j.order.writer(0)
	defer t.end()
	for i := range results {
		j.put(t, &results[i].input, "")
	}
	return results
}

// put writes down an input that told nothing.
func (j *observer) put(out io.Writer, in *report.Input, from string) {
	_ = j.log(out, in.Name, from).Close(read(in, "")) // the order keeps the error
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

// read is what observations hold about an input besides.
func read(in *report.Input, digest string) obs.Read {
	r := obs.Read{Bytes: in.Bytes, Lines: in.Lines, Truncated: in.Truncated, Quoted: in.Quoted, Digest: digest}
	if in.Error != nil {
		r.Error = *in.Error
	}
	return r
}

// inputs scans all inputs, the small ones several at a time. They begin in order and are written in order.
func (j *observer) inputs(inputs []source.Input) []logResult {
	j.progress = j.newProgress(len(inputs), sum(inputs))
	defer j.progress.close()
	all := make([]inputResult, len(inputs))
	u := j.unpacker(j.stdin(inputs))
	var mu sync.Mutex
	turns := map[string]*turn{} // of the inputs that are being read
	u.Turn = func(in source.Input) {
		mu.Lock()
		t := turns[in.Name]
		mu.Unlock()
		t.wait()
	}
	j.everyInput(inputs, func(i, workers int) {
		t := j.order.writer(1 + i)
		mu.Lock()
		turns[inputs[i].Name] = t
		mu.Unlock()
		all[i] = j.observed(u, inputs[i], workers, t)
		t.end()
		mu.Lock()
		delete(turns, inputs[i].Name)
		mu.Unlock()
	})
	return j.takeAll(inputs, all)
}

// observed scans one input and writes down what its logs tell.
func (j *observer) observed(u *source.Unpacker, in source.Input, workers int, out io.Writer) inputResult {
	var h inputResult
	m := j.progress.meter(in.Size)
	defer m.end()
	missing := j.walk(u, in, &h, source.Visits{Log: func(name string, r io.Reader) {
		l := j.log(out, name, in.Name)
		r, digest := sampled(r)
		c := classifier.NewCollector()
		res, err := j.whole(name, r, workers, func(o parser.Observation) { l.Add(c.Compact(o)) }, m)
		h.read(res, nil, err)
		_ = l.Close(read(&h.results[len(h.results)-1].input, digest())) // the order keeps the error
	}}, m)
	for i := range missing {
		j.put(out, &missing[i].input, in.Name)
	}
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
