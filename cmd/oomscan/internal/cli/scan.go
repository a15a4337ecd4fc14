package cli

import (
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
	p := &printer{options: o, out: out, streams: s, printed: map[report.Begin]bool{}}
	j := &scan{options: o, streams: s, printer: p, extra: extra, begin: begin}
	failed := j.unlisted(problems, len(inputs) > 0)
	if len(inputs) == 1 && inputs[0].Name == source.Stdin {
		err = j.stream()
	} else {
		j.files(inputs)
	}
	j.tellSkipped(problems)
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
	skipped   map[string]source.Skipped // in archives, by the path of the command line
	order     []string                  // those paths
}

// bigFile is from which size on a file has all workers to itself.
const bigFile = 32 << 20

// files scans inputs: the small ones several at a time, the big ones one after the other, each in parts. What is packed
// can only be read from its beginning on, by one. Each input has a collector of its own, so that the answer does not
// depend on which ends first.
func (j *scan) files(inputs []source.Input) {
	u := j.unpacker(j.streams.In)
	parts := make([]part, len(inputs))
	var small, big []int
	for i := range inputs {
		if inputs[i].Size >= bigFile && !inputs[i].Packed {
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
				parts[i] = j.one(u, inputs[i], 1)
			}
		})
	}
	for _, i := range small {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, i := range big {
		parts[i] = j.one(u, inputs[i], j.options.jobs)
	}
	j.collector = classifier.NewCollector()
	for i := range parts {
		j.take(&inputs[i], &parts[i])
	}
}

// minParts is from which size on a regular file is read in parts.
const minParts = 1 << 20

// whole scans r from where it is to its end.
func (j *scan) whole(name string, r io.Reader, workers int, c *classifier.Collector) (report.Input, error) {
	var st parser.Stats
	var err error
	if f, from, size := regular(r); size >= minParts {
		in := io.NewSectionReader(interruptibleAt{f, j.streams.Interrupt}, from, size)
		st, err = parser.ScanAt(name, in, size, workers, c.Add)
	} else {
		st, err = parser.Scan(name, interruptible{r, j.streams.Interrupt}, c.Add)
	}
	return report.Input{Name: name, Bytes: st.Bytes, Lines: st.Lines, Truncated: st.Truncated}, err
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
