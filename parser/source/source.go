// Package source says what to read: it expands the paths of a command line into inputs, and hands out the logs in them,
// unpacked from whatever they are packed in. The first bytes distinguish a log from an archive, a checkpoint or a picture; names
// do not matter.
package source

import (
	"errors"
	"strconv"
	"strings"
)

// Stdin is the path, and the name, of the standard input.
const Stdin = "-"

// Input is a log, or an archive of logs, not yet opened: see [Unpacker.Walk].
type Input struct {
	Name   string // as given on the command line; members of a folder: the folder's path and theirs, joined
	Path   string // of the file; empty for the standard input
	Size   int64  // bytes when it was listed; -1 if unknown (pipes, devices, the standard input)
	From   string // the folder of the command line that it was found in; empty if it was named itself
	Packed bool   // it is compressed, an archive, or in UTF-16: it is read as a stream
	// Count is told how many more bytes of a packed file were read. A log that is none counts its own reading. It may be
	// nil.
	Count func(n int64)
}

// Problem is a path, or a member of a folder, that is not among the inputs.
type Problem struct {
	Name string // as [Input.Name]
	Err  error  // does not repeat the name; wraps one of the errors of this package or of the system
	Hint string // what to do about it, one line; may be empty
	// Note says that nothing went wrong: a folder's files that are no logs were passed over, as they should be. It is
	// worth a line in a report and no more.
	Note bool
}

// What [Problem.Err] wraps besides the system's errors.
var (
	// ErrBinary says that a file's content is no text: a program, a picture, a checkpoint.
	ErrBinary = errors.New("binary file")
	// ErrCompressed says that a file is compressed in a way that is not known here.
	ErrCompressed = errors.New("compressed file")
	// ErrEmptyArchive says that an archive holds no text file.
	ErrEmptyArchive = errors.New("no logs in this archive")
	// ErrNoLogs says that a folder holds no text file.
	ErrNoLogs = errors.New("no logs in this folder")
	// ErrNothingObserved says that a folder or an archive holds no observations, where only those are wanted.
	ErrNothingObserved = errors.New("no observations in it")
	// ErrObservations says that a file holds observations where logs are wanted.
	ErrObservations = errors.New("holds observations, not a log")
	// ErrNoObservations says that a file is a log where observations are wanted.
	ErrNoObservations = errors.New("holds no observations of oomscan")
	// ErrKind says that a path is a socket, a block device or the like.
	ErrKind = errors.New("neither a file, a folder nor a pipe")
)

// Skipped counts the files of a folder or an archive that were passed over because of their content. It is an error so
// that a [Problem] can carry it.
type Skipped struct {
	Binary     int
	Compressed int // in a way that is not known here
	Reports    int // of oomscan itself
	// Observations are files that oomscan wrote to be merged; Logs are logs where only those are wanted.
	Observations, Logs int
}

// Add adds what another count has.
func (s *Skipped) Add(t Skipped) {
	s.Binary += t.Binary
	s.Compressed += t.Compressed
	s.Reports += t.Reports
	s.Observations += t.Observations
	s.Logs += t.Logs
}

func (s *Skipped) Error() string {
	var parts []string
	if s.Binary > 0 {
		parts = append(parts, count(s.Binary, "binary file"))
	}
	if s.Compressed > 0 {
		parts = append(parts, count(s.Compressed, "compressed file"))
	}
	if s.Reports > 0 {
		parts = append(parts, count(s.Reports, "report")+" of oomscan")
	}
	if s.Observations > 0 {
		parts = append(parts, count(s.Observations, "file")+" of observations")
	}
	if s.Logs > 0 {
		parts = append(parts, count(s.Logs, "log"))
	}
	return "passed over " + strings.Join(parts, " and ")
}

// Hint says what to do about what was passed over; empty if nothing.
func (s *Skipped) Hint() string {
	switch {
	case s.Compressed > 0:
		return "unpack the compressed ones, or pipe them in: 7z x -so FILE | oomscan"
	case s.Observations > 0:
		return "oomscan merge reads observations"
	case s.Logs > 0:
		return "oomscan PATH reads logs"
	}
	return ""
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}
