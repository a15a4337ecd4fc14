package epilog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
	"oomscan/parser/lazyre"
	"oomscan/parser/stream"
)

// unknownLine is added to the numbers of lines that are not known, so that a file's lines stay in order until the
// report is made: more than any log has, and not a round number of bytes. See [dropUnknownLines].
const unknownLine = 2_000_000_000

// file scans a log from an offset to its end within the budget: all of it, or a long one's head, with the
// configuration, and tail, with the failure. Lines have true numbers or none. It returns a note for the report's
// reader if part was skipped.
func (m *meter) file(name string, f *os.File, from, end int64, emit func(parser.Observation)) (in report.Input, note string) {
	in.Name = name
	lines, known := m.count(f, 0, from, int64(m.budget.Tail))
	part := func(from, to int64) error {
		shift := lines
		if !known {
			shift += unknownLine
		}
		r := m.reader(io.NewSectionReader(f, from, to-from))
		st, err := stream.Read(name, r, func(o parser.Observation) { emit(parser.Shift(o, shift, from)) }, m.options...)
		in.Add(st)
		lines += st.Lines
		if to != end && !endsLine(f, to) {
			in.Lines-- // the rest of the line is counted with the next part
			lines--
		}
		return err
	}
	head, tail := int64(m.budget.Head), int64(m.budget.Tail)
	var err error
	if end-from <= head+tail {
		err = part(from, end)
	} else {
		stop := lastLine(f, from, from+head)
		begin := nextLine(f, end-tail, end)
		if err = part(from, stop); err == nil {
			gap, ok := m.count(f, stop, begin, tail)
			lines, known = lines+gap, known && ok
			note = fmt.Sprintf("of %s only the first %s and the last %s were read", classifier.GiB(end), classifier.GiB(stop-from), classifier.GiB(end-begin))
			if !known {
				note += ", and the lines of the last are not numbered"
			}
			err = part(begin, end)
		}
	}
	if err != nil {
		what := why(err)
		in.Error = &what
	}
	return in, note
}

// endsLine reports whether a line ends before an offset.
func endsLine(f io.ReaderAt, at int64) bool {
	var b [1]byte
	n, _ := f.ReadAt(b[:], at-1)
	return n == 1 && b[0] == '\n'
}

// edge is how far around a cut a line end is searched for.
const edge = 64 << 10

// lastLine returns the offset after the last newline before to, or to if there is none nearby.
func lastLine(f io.ReaderAt, from, to int64) int64 {
	b := make([]byte, min(edge, to-from))
	n, _ := f.ReadAt(b, to-int64(len(b)))
	if i := bytes.LastIndexByte(b[:n], '\n'); n == len(b) && i >= 0 {
		return to - int64(len(b)) + int64(i) + 1
	}
	return to
}

// nextLine returns the offset after the first newline at or after from, or from if there is none nearby.
func nextLine(f io.ReaderAt, from, to int64) int64 {
	b := make([]byte, min(edge, to-from))
	n, _ := f.ReadAt(b, from)
	if i := bytes.IndexByte(b[:n], '\n'); i >= 0 {
		return from + int64(i) + 1
	}
	return from
}

// maxExtents bounds the fragments of a sparse file.
const maxExtents = 4096

// count counts the newlines in a part of a file that is not scanned, skipping holes. It gives up and returns
// known=false if that would leave less than keep of the budget for the scan.
func (m *meter) count(f *os.File, from, to, keep int64) (lines int, known bool) {
	if from >= to {
		return 0, true
	}
	data, ok := extents(f, from, to)
	var sum int64
	for _, d := range data {
		sum += d[1] - d[0]
	}
	if !ok || sum > m.left-keep {
		return 0, false
	}
	late := time.Now().Add((time.Duration(m.budget.Wall) - time.Since(m.began)) / 2)
	buf := make([]byte, 256<<10)
	for _, d := range data {
		r := m.reader(io.NewSectionReader(f, d[0], d[1]-d[0]))
		for {
			n, err := r.Read(buf)
			lines += bytes.Count(buf[:n], []byte{'\n'})
			if err == io.EOF {
				break
			}
			if err != nil || time.Now().After(late) {
				return 0, false
			}
		}
	}
	return lines, true
}

// extents returns the parts of a file that contain data.
func extents(f *os.File, from, to int64) (data [][2]int64, ok bool) {
	fd := int(f.Fd())
	for from < to {
		begin, err := unix.Seek(fd, from, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return data, true // a hole up to the end
		}
		if err != nil {
			begin = from
		}
		end, err := unix.Seek(fd, begin, unix.SEEK_HOLE)
		if err != nil || end <= begin {
			end = to
		}
		if begin >= to {
			return data, true
		}
		if len(data) == maxExtents {
			return nil, false
		}
		data = append(data, [2]int64{begin, min(end, to)})
		from = end
	}
	return data, true
}

// lineNumber matches the number of a quoted line at or above [unknownLine].
var lineNumber = lazyre.New(`(?: \(line |:)(\d{10,})\)?`)

// dropUnknownLines removes unknown line numbers from a report: values become 0, and sentences lose them.
func dropUnknownLines(r *report.Report) {
	report.Rewrite(r, func(s string) string {
		return lineNumber().ReplaceAllStringFunc(s, func(m string) string {
			digits := lineNumber().FindStringSubmatch(m)[1]
			if n, err := strconv.ParseInt(digits, 10, 64); err != nil || n < unknownLine || n > math.MaxInt32 {
				return m
			}
			return ""
		})
	}, func(name string, v reflect.Value) bool {
		unknown := name == "Line" && v.CanInt() && v.Int() >= unknownLine
		if unknown {
			v.SetInt(0)
		}
		return unknown
	})
}
