// Package source says what to read: it expands the paths of a command line into inputs. It looks at the first bytes of
// a file to tell a log from a checkpoint or a picture, and reads nothing else.
package source

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
)

// Stdin is the path, and the name, of the standard input.
const Stdin = "-"

// Input is one stream of log lines, not yet opened.
type Input struct {
	Name string // as given on the command line; members of a folder: the folder's path and theirs, joined
	Path string // of the file; empty for the standard input
	Size int64  // bytes when it was listed; -1 if unknown (pipes, devices, the standard input)
}

// Open opens the input for reading. The caller closes it; closing the standard input does nothing. Opening a FIFO blocks
// until somebody writes to it.
func (in Input) Open() (io.ReadCloser, error) {
	if in.Path == "" {
		return io.NopCloser(os.Stdin), nil
	}
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, bare(err) // not a nil *os.File in an interface
	}
	return f, nil
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
	// ErrCompressed says that a file is compressed or an archive.
	ErrCompressed = errors.New("compressed file")
	// ErrUTF16 says that a file is text of two bytes a character, as PowerShell's redirection writes it.
	ErrUTF16 = errors.New("UTF-16 text")
	// ErrNoLogs says that a folder holds no text file.
	ErrNoLogs = errors.New("no logs in this folder")
	// ErrKind says that a path is a socket, a block device or the like.
	ErrKind = errors.New("neither a file, a folder nor a pipe")
)

// Skipped counts the files of a folder that were passed over because of their content. It is an error so that a
// [Problem] can carry it.
type Skipped struct {
	Binary     int // and text in UTF-16
	Compressed int
}

func (s *Skipped) Error() string {
	var parts []string
	if s.Binary > 0 {
		parts = append(parts, count(s.Binary, "binary file"))
	}
	if s.Compressed > 0 {
		parts = append(parts, count(s.Compressed, "compressed file"))
	}
	return "passed over " + strings.Join(parts, " and ")
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}
