package epilog

import (
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
	"oomscan/parser/stream"
	"oomscan/remedies"
)

// slurmWord is the name under which reports quote what Slurm's environment says about the end of the job.
const slurmWord = "Slurm's exit codes"

// scan reads one job's logs: the same way as the command does, parser to classifier to report, but through descriptors
// that [openFile] checked, and within a budget.
type scan struct {
	meter      *meter
	collector  *classifier.Collector
	inputs     []report.Input
	notes      []string // for the reader of the report
	cancelled  bool     // a log says that the job was cancelled
	unnumbered bool     // some lines have unknown numbers
	job        string
	guides     []remedies.Guide // of the administrator's own
}

func newScan(m *meter, job uint32) *scan {
	return &scan{meter: m, collector: classifier.NewCollector(), job: strconv.FormatUint(uint64(job), 10)}
}

// log reads one of the job's own logs from an offset on.
func (s *scan) log(l *logFile, from int64) {
	in, note := s.meter.file(l.path, l.File, from, l.stat.Size, func(o parser.Observation) {
		if e, ok := o.(parser.Event); ok && e.Kind == parser.JobCancelled {
			s.cancelled = true
		}
		s.add(o)
	})
	s.addInput(in, note, l.path)
	if from > 0 {
		s.notes = append(s.notes, l.path+": the part of an earlier run was left out")
	}
	if l.guess {
		s.notes = append(s.notes, l.path+": the only file that the job's name for its log fits")
	}
}

// beside reads a file beside the log. If its name does not tell whose it is and its text names other jobs of Slurm,
// it is left out.
func (s *scan) beside(l *logFile) {
	c := classifier.NewCollector()
	foreign := false
	in, note := s.meter.file(l.path, l.File, 0, l.stat.Size, func(o parser.Observation) {
		if e, ok := o.(parser.Event); ok && !l.own && e.Fields["job"] != "" && e.Fields["job"] != s.job {
			foreign = true
		}
		if !foreign {
			s.unnumbered = s.unnumbered || o.Place().Line >= unknownLine
			c.Add(o)
		}
	})
	if foreign {
		return
	}
	s.collector.Merge(c)
	s.addInput(in, note, l.path)
	if !l.own {
		s.notes = append(s.notes, l.path+": beside the job's log, may be another job's")
	}
}

// text reads what is in memory: an excerpt of a log, or what stands in none, so that its lines have no numbers.
func (s *scan) text(name, text string) {
	st, _ := stream.Read(name, strings.NewReader(text), func(o parser.Observation) { s.add(parser.Shift(o, unknownLine, 0)) }, s.meter.options...)
	s.inputs = append(s.inputs, report.Input{Name: name, Bytes: st.Bytes, Lines: st.Lines})
}

func (s *scan) add(o parser.Observation) {
	s.unnumbered = s.unnumbered || o.Place().Line >= unknownLine
	s.collector.Add(o)
}

func (s *scan) addInput(in report.Input, note, path string) {
	s.inputs = append(s.inputs, in)
	if note != "" {
		s.notes = append(s.notes, path+": "+note)
	}
}

// report is the answer to what was read.
func (s *scan) report(version string) report.Report {
	r := report.New(version, s.inputs, s.collector.Result(), s.guides...)
	if s.unnumbered {
		dropUnknownLines(reflect.ValueOf(&r))
	}
	r.Run.JobID = &s.job
	r.Stats.DurationMS = time.Since(s.meter.began).Milliseconds()
	return r
}

// markOf notes how far a log was read.
func markOf(l *logFile) mark {
	m := mark{Dev: uint64(l.stat.Dev), Ino: l.stat.Ino, Size: l.stat.Size}
	b := make([]byte, min(lastLen, m.Size))
	if n, err := l.ReadAt(b, m.Size-int64(len(b))); err == nil || errors.Is(err, io.EOF) {
		m.Last = b[:n]
	}
	return m
}

// resume is where in a log this run of the job begins.
func resume(l *logFile, marks []mark) int64 {
	for _, m := range marks {
		if m.Dev != uint64(l.stat.Dev) || m.Ino != l.stat.Ino || m.Size > l.stat.Size || m.Size < int64(len(m.Last)) {
			continue
		}
		b := make([]byte, len(m.Last))
		if _, err := l.ReadAt(b, m.Size-int64(len(b))); err == nil && slices.Equal(b, m.Last) {
			return m.Size
		}
	}
	return 0
}

// why says in one line why something failed, without the path that an error of the system repeats.
func why(err error) string {
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
