package epilog

import (
	"errors"
	"io"
	"os"
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

// slurmWord is the source of Slurm's exit codes in reports.
const slurmWord = "Slurm's exit codes"

// scan reads one job's logs as the command does, from parser to classifier to report, but through file descriptors
// that [openFile] has checked, and within a budget.
type scan struct {
	meter      *meter
	collector  *classifier.Collector
	inputs     []report.Input
	notes      []string // for the report's reader
	cancelled  bool     // a log says that the job was cancelled
	unnumbered bool     // some lines have unknown numbers
	job        string
	guides     []remedies.Guide // the administrator's own
}

func newScan(m *meter, job uint32) *scan {
	return &scan{meter: m, collector: classifier.NewCollector(), job: strconv.FormatUint(uint64(job), 10)}
}

// log reads one of the job's own logs, beginning at from.
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

// beside reads a file beside the log. It drops it if the job's id is not in its name and its text names other Slurm
// jobs.
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

// text reads text that is not a file, so its lines have no numbers.
func (s *scan) text(name, text string) {
	st, _ := stream.Read(name, strings.NewReader(text), func(o parser.Observation) { s.add(parser.Shift(o, unknownLine, 0)) }, s.meter.options...)
	s.inputs = append(s.inputs, report.Input{Name: name, Counts: st})
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

func (s *scan) report(version string) report.Report {
	r := report.New(version, s.inputs, s.collector.Result(), s.guides...)
	if s.unnumbered {
		dropUnknownLines(&r)
	}
	r.Run.JobID = &s.job
	r.Stats.DurationMS = time.Since(s.meter.began).Milliseconds()
	return r
}

// markOf returns how far a log was read.
func markOf(l *logFile) mark {
	m := mark{Dev: uint64(l.stat.Dev), Ino: l.stat.Ino, Size: l.stat.Size}
	b := make([]byte, min(lastLen, m.Size))
	if n, err := l.ReadAt(b, m.Size-int64(len(b))); err == nil || errors.Is(err, io.EOF) {
		m.Last = b[:n]
	}
	return m
}

// resume returns the offset in a log at which this run of the job begins.
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

// why describes an error in one line, without the path.
func why(err error) string {
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
