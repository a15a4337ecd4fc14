// Package source finds what to read: it expands the paths of a command line into inputs and opens the logs in them,
// unpacking archives and compressed files. It detects formats by a file's first bytes, not by its name.
package source

import (
	"errors"
	"strconv"
	"strings"
)

// Stdin is the path and the name of the standard input.
const Stdin = "-"

// Input is a log, or an archive of logs, that is not open yet: see [Unpacker.Walk].
type Input struct {
	Name   string // as given on the command line; for members of a folder, joined with the folder's path
	Path   string // of the file; empty for the standard input
	Size   int64  // bytes when it was listed; -1 if unknown (pipes, devices, the standard input)
	From   string // the folder of the command line that it was found in; empty if the file itself was named
	Packed bool   // compressed, an archive, or UTF-16 or -32: it is read as a stream
	// Count is called with the number of bytes just read of a packed file; readers of plain logs do their own
	// counting. It may be nil.
	Count func(n int64)

	id identity // of the file that was listed
}

// identity is a file's, whatever its name. The zero one is unknown.
type identity struct{ device, inode uint64 }

// Problem is a path, or a member of a folder, that is not among the inputs.
type Problem struct {
	Name string // as [Input.Name]
	Err  error  // without the name; wraps an error of this package or the system
	Hint string // what to do about it, one line; may be empty
	// Note marks a remark, not a failure: files of a folder that are not logs were skipped, as they should be.
	Note bool
}

// Errors that [Problem.Err] wraps, besides the system's.
var (
	// ErrBinary means that the file is a program, a picture, a checkpoint or the like.
	ErrBinary = errors.New("binary file")
	// ErrCompressed means that oomscan cannot unpack this format.
	ErrCompressed = errors.New("compressed file")
	// ErrEmptyArchive means that the archive contains no text file.
	ErrEmptyArchive = errors.New("no logs in this archive")
	// ErrNoLogs means that the folder contains no text file.
	ErrNoLogs = errors.New("no logs in this folder")
	// ErrNothingObserved means that the folder or archive contains no observations.
	ErrNothingObserved = errors.New("no observations in it")
	// ErrObservations means that the file contains observations, but a log was expected.
	ErrObservations = errors.New("holds observations, not a log")
	// ErrNoObservations means that the file is a log, but observations were expected.
	ErrNoObservations = errors.New("holds no observations of oomscan")
	// ErrKind means that the path is a socket, a block device or the like.
	ErrKind = errors.New("neither a file, a folder nor a pipe")
	// errReplaced means that it was a file when it was listed.
	errReplaced = errors.New("a pipe, a folder or a device took the place of this file")
)

// Skipped counts the files of a folder or an archive that were skipped because of their content. It is an error so
// that a [Problem] can carry it.
type Skipped struct {
	Binary     int
	Compressed int // in a format that oomscan cannot unpack
	Reports    int // written by oomscan itself
	// Observations were skipped where logs are wanted, Logs where observations are wanted.
	Observations, Logs int
}

// Add adds the counts of t.
func (s *Skipped) Add(t Skipped) {
	s.Binary += t.Binary
	s.Compressed += t.Compressed
	s.Reports += t.Reports
	s.Observations += t.Observations
	s.Logs += t.Logs
}

func (s *Skipped) Error() string {
	var parts []string
	for _, x := range []struct {
		n          int
		what, more string
	}{{s.Binary, "binary file", ""}, {s.Compressed, "compressed file", ""}, {s.Reports, "report", " of oomscan"}, {s.Observations, "file", " of observations"}, {s.Logs, "log", ""}} {
		if x.n > 0 {
			parts = append(parts, count(x.n, x.what)+x.more)
		}
	}
	return "passed over " + strings.Join(parts, " and ")
}

// Hint says what to do about the skipped files; empty if nothing.
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
