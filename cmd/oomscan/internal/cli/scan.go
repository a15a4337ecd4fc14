package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goccy/go-yaml"
	yamlparser "github.com/goccy/go-yaml/parser"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
	"oomscan/parser/source"
	"oomscan/parser/stream"
)

// gcPercent lets a scan, whose live memory is a few megabytes, collect garbage half as often as Go does by default. A large input
// makes garbage for so long that memory counts more: it has longGCPercent, which costs about 4 % of the time.
const (
	gcPercent     = 200
	longGCPercent = 40
)

// run answers a call: the paths become inputs, the inputs results of logs, the results jobs, and each job a report.
func (o *options) run(paths []string, s Streams) (int, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	piped := slices.Equal(paths, []string{source.Stdin})
	if err := o.checkOutput(paths, s); err != nil {
		return exitTrouble, err
	}
	j, err := o.start(paths, s, o.follow || piped)
	if err != nil {
		return exitTrouble, err
	}
	j.paths = paths
	if o.follow && !piped {
		return j.finish(j.follow(paths))
	}
	list := source.List
	if o.merging {
		list = source.ListObservations
	}
	inputs, problems := list(paths)
	results := j.unlisted(problems, len(inputs) > 0)
	var read []logResult
	if len(inputs) == 1 && inputs[0].Name == source.Stdin && !o.merging {
		read, err = j.stream()
	} else {
		read = j.files(inputs)
	}
	j.tellSkipped(problems)
	results = append(read, results...) // there are many logs, and few that could not be opened
	return j.finish(append(results, j.mergeRecords(results)...), err)
}

// scan is one call's work.
type scan struct {
	options  *options
	streams  Streams
	out      io.Writer
	close    func() error // of the output
	reporter report.Reporter
	state    streamState
	extra    []parser.Setting // of --run-config
	begin    time.Time
	paths    []string // of the command line
	query    report.JobQuery
	folder   *folder          // of -o DIR/; nil: all reports go to out
	redactor *report.Redactor // nil: nothing is redacted

	progress *progress   // nil: nobody reads along
	status   *statusLine // nil: the same
	// followed says that an interrupt is the end that following has, and not the end of a scan that was not finished.
	followed bool

	seams map[string]seam // of inputs that are parts of one log, by their names

	logs  atomic.Int64 // that were read
	rooms sync.Pool    // of *stream.Buffer

	skipped map[string]source.Skipped // in archives, by the path of the command line
	order   []string                  // those paths
	records []record                  // what files of observations gave
}

// logResult is what one log gave. One that could not be opened has an input with an error and nothing else.
type logResult struct {
	input     report.Input
	collector *classifier.Collector // nil: nothing was found, or it is packed
	from      string                // the input of the command line, for a log that is in an archive; empty: the log itself
	version   int                   // of a log that is still being written: it grows with each change of what is known

	packed classifier.Packed
	clues  *classifier.Clues // of what is packed
	size   int               // that it takes unpacked
}

// manyLogs is from how many logs on what they gave is packed: it is needed again when the jobs are known. Packed, thousands
// of events take a fraction of the memory; those of a few logs are not worth the milliseconds.
const manyLogs = 8

// pack makes a result small.
func (p *logResult) pack() {
	switch {
	case p.collector == nil:
	case p.collector.Empty():
		p.collector = nil
	default:
		clues := p.collector.Clues()
		p.size = p.collector.Size()
		p.clues, p.packed, p.collector = &clues, p.collector.Pack(), nil
	}
}

func (j *scan) packIfMany(p *logResult) {
	if j.logs.Add(1) > manyLogs {
		p.pack()
	}
}

// facts returns what was found in the log, nil for nothing.
func (p *logResult) facts() *classifier.Collector {
	if p.packed != nil {
		return p.packed.Unpack()
	}
	return p.collector
}

// jobClues are what a log says about its job, nil for nothing.
func (p *logResult) jobClues() *classifier.Clues {
	if p.clues == nil && p.collector != nil {
		clues := p.collector.Clues()
		return &clues
	}
	return p.clues
}

// start opens the output and reads what the user tells beside the logs. What it opened is closed by [scan.finish].
func (o *options) start(paths []string, s Streams, live bool) (*scan, error) {
	begin := time.Now()
	query, err := o.query(begin)
	if err != nil {
		return nil, err
	}
	var dir *folder
	table := *o
	if o.isOutputFolder() && !o.quiet {
		if dir, err = o.newFolder(paths, s); err != nil {
			return nil, err
		}
		table.output, table.format = "", defaultFormat // the table of the jobs goes to standard output
	}
	out, closeOut, err := table.sink(s, !live)
	if err != nil {
		return nil, err
	}
	extra, err := o.settings()
	if err != nil {
		return nil, err
	}
	status := o.newStatusLine(s)
	if status != nil {
		s.Err = status.above(s.Err)
		if s.OutTerminal && out == s.Out {
			out = status.above(out)
		}
	}
	j := &scan{options: o, streams: s, out: out, close: closeOut, extra: extra, begin: begin, status: status, query: query, folder: dir}
	j.reporter = formats()[table.format].reporter(report.Output{Writer: out, Style: table.style(s)})
	if j.state.out, _ = j.reporter.(report.Live); j.options.redact {
		j.redactor, j.state.out = report.NewRedactor(), nil // what a host is called may be known at the end
	}
	return j, nil
}

// interrupted reports whether not everything was read that was there.
func (j *scan) interrupted() bool { return closed(j.streams.Interrupt) && !j.followed }

// bigFile is from which size on a file has all workers to itself.
const bigFile = 32 << 20

// big reports whether an input is worth all workers, and can be read in parts.
func big(in *source.Input) bool { return in.Size >= bigFile && !in.Packed }

// files scans inputs. Each log has a collector of its own, so that the answer does not depend on which ends first.
func (j *scan) files(inputs []source.Input) []logResult {
	u := j.unpacker(j.streams.In)
	j.seams = seams(inputs)
	j.progress = j.newProgress(len(inputs), sum(inputs))
	type result struct {
		input int
		inputResult
	}
	results, left := make(chan result), make(chan struct{})
	defer close(left)
	go j.everyInput(inputs, func(i, workers int) {
		select {
		case results <- result{i, j.one(u, inputs[i], workers)}:
		case <-left:
		}
	})
	all, early := make([]logResult, 0, len(inputs)), map[int]inputResult{} // and what is ready before those ahead of it
	interrupt, tired := j.streams.Interrupt, (<-chan time.Time)(nil)
	for next := 0; next < len(inputs); {
		select {
		case r := <-results:
			early[r.input] = r.inputResult
		case <-interrupt:
			// All readers stop at once, but for those that the system lets wait: for a pipe's writer, for a server.
			interrupt, tired = nil, time.After(patience)
		case <-tired:
			for i := next; i < len(inputs); i++ {
				if h, ok := early[i]; !ok {
					h.read(report.Input{Name: inputs[i].Name}, nil, errInterrupted)
					early[i] = h
				}
			}
		}
		for h, ok := early[next]; ok; h, ok = early[next] {
			delete(early, next)
			all = append(all, j.take(&inputs[next], &h)...)
			next++
		}
	}
	j.progress.close()
	return all
}

// everyInput calls do for inputs, which begin in order: for small ones several at a time, for a big one alone, to be read
// by all workers. What is packed can only be read from its beginning on, by one.
func (j *scan) everyInput(inputs []source.Input, do func(i, workers int)) {
	for i := 0; i < len(inputs); {
		if big(&inputs[i]) {
			do(i, j.options.jobs)
			i++
			continue
		}
		next := make(chan int)
		var wg sync.WaitGroup
		for range min(j.options.jobs, len(inputs)-i) {
			wg.Go(func() {
				for i := range next {
					do(i, 1)
				}
			})
		}
		for ; i < len(inputs) && !big(&inputs[i]); i++ {
			next <- i
		}
		close(next)
		wg.Wait()
	}
}

// minParts is from which size on a regular file is read in parts.
const minParts = 1 << 20

// whole scans r from where it is to its end, and on to the end of its last line, which may be in the next part of a log.
func (j *scan) whole(name string, r io.Reader, workers int, emit func(parser.Observation), m *meter) (report.Input, error) {
	s, ok := j.seams[name]
	if !ok {
		return j.readLog(name, r, workers, emit, m)
	}
	r, more := s.joined(r)
	in, err := j.readLog(name, r, workers, emit, m)
	if err == nil {
		in.Bytes -= more
	}
	return in, err
}

// readLog scans r from where it is to its end.
func (j *scan) readLog(name string, r io.Reader, workers int, emit func(parser.Observation), m *meter) (report.Input, error) {
	var st parser.Counts
	var err error
	add := emit
	if m != nil {
		m.log()
		add = func(o parser.Observation) {
			if e, ok := o.(parser.Event); ok && e.Role == parser.Evidence {
				m.evidence()
			}
			emit(o)
		}
	}
	options := j.options.reading()
	f, from, size := regular(r)
	var data io.Reader
	if size >= minParts {
		data = source.SkipHoles(f)
	}
	if size >= minParts && data == nil {
		if size >= bigFile {
			debug.SetGCPercent(longGCPercent)
		}
		in := interruptibleAt{io.NewSectionReader(f, from, size), j.streams.Interrupt, m}
		st, err = stream.ReadFile(name, in, size, workers, add, options...)
	} else {
		in := interruptible{r, j.streams.Interrupt, m}
		if data != nil {
			in.Reader = data
		}
		if _, plain := r.(*os.File); !plain {
			in.meter = nil // what it is packed in is counted
		}
		room, _ := j.rooms.Get().(*stream.Buffer)
		if room == nil {
			room = new(stream.Buffer)
		}
		st, err = room.Read(name, in, add, options...)
		j.rooms.Put(room)
	}
	if data != nil && err == nil {
		st.Bytes = size
	}
	if f != nil && err == nil {
		if now, failed := f.Stat(); failed == nil && now.Size() < from+size {
			err = errShorter
		}
	}
	return report.Input{Name: name, Counts: st}, err
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

// mostConfig is how large a file with settings may be; a log that prints them is larger than that only if it is long.
const mostConfig = 256 << 20

var (
	errNoFile  = errors.New("no regular file")
	errShorter = errors.New("became shorter while it was read")
	errEmpty   = errors.New("empty")
	errTooBig  = errors.New("larger than " + size(mostConfig))
)

// settings reads --run-config.
func (o *options) settings() ([]parser.Setting, error) {
	if o.runConfig == "" {
		return nil, nil
	}
	info, err := os.Stat(o.runConfig)
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = errNoFile
	case err == nil && info.Size() == 0:
		err = errEmpty // files in /proc look empty, and reading some of them never ends
	case err == nil && info.Size() > mostConfig:
		err = errTooBig
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(o.runConfig)
	}
	if err != nil {
		return nil, problem{where: o.runConfig, what: cause(err), hint: "--run-config takes the run's YAML or a log that prints it"}
	}
	defer f.Close()
	if err := checkYAML(f); err != nil {
		return nil, problem{where: o.runConfig, what: "is not valid YAML\n" + strings.TrimSpace(yaml.FormatError(err, false, false)), hint: "a log that prints the configuration also works"}
	}
	var out []parser.Setting
	_, err = stream.Read(o.runConfig, f, func(ob parser.Observation) {
		if s, ok := ob.(parser.Setting); ok {
			out = append(out, s)
		}
	})
	if err != nil {
		return nil, problem{where: o.runConfig, what: cause(err)}
	}
	if len(out) == 0 {
		return nil, problem{where: o.runConfig, what: "no settings found", hint: "--run-config takes the run's YAML or a log that prints it"}
	}
	return out, nil
}

// checkYAML says what is wrong with a file whose name says that it is YAML. The file is left at its beginning.
func checkYAML(f *os.File) error {
	if ext := filepath.Ext(f.Name()); ext != ".yaml" && ext != ".yml" {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxYAML))
	if err != nil || len(text) == maxYAML || nesting(text) > maxNesting {
		return nil // reading it for the settings says what is wrong
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = yamlparser.ParseBytes(text, 0)
	return err
}

// Bounds of the configuration that is checked. The parser's work and memory grow faster than the text.
const (
	maxYAML    = 64 << 10
	maxNesting = 100
)

// nesting returns how many brackets are open at once, at most.
func nesting(text []byte) (most int) {
	open := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			open++
			most = max(most, open)
		case ']', '}':
			open--
		}
	}
	return most
}
