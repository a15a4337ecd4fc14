package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode"

	"oomscan/parser/secret"
)

// Exit statuses.
const (
	exitClean        = 0   // no incident with verdict memory (suspects are printed all the same)
	exitMemory       = 1   // at least one
	exitNothingFound = 1   // a search in the guides or rules found nothing
	exitTrouble      = 2   // usage error, or an input could not be read and nothing was found in the rest
	exitInterrupted  = 130 // interrupted by the user; what was read until then is reported
)

// problem is an error with a word on what to do next.
type problem struct {
	where string // input, flag or command; may be empty
	what  string // may have several lines, as the hint may
	hint  string
	// status is the exit status, where it is not exitTrouble.
	status int
}

func (p problem) Error() string {
	if p.where == "" {
		return p.what
	}
	return spoken(p.where) + ": " + p.what
}

// complain writes an error as every message of this program is written: `oomscan: WHERE: WHAT`, then a hint. Credentials are masked:
// names of files and a quoted configuration may hold some, and what is written here is collected.
func complain(w io.Writer, err error) {
	text := "oomscan: " + err.Error()
	var p problem
	if errors.As(err, &p) && p.hint != "" {
		text += "\nhint: " + p.hint
	}
	for line := range strings.SplitSeq(secret.Stable(text), "\n") {
		fmt.Fprintln(w, printable(line))
	}
}

// printable keeps names of files from writing control codes to the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// lastWait is how long the process may take to answer after an interrupt, wherever it is.
const lastWait = 10 * time.Second

// notify returns a channel that the first interrupt closes; the second one ends the process, or time does. It keeps a broken pipe from
// killing the process: a reader that had enough is no error.
func notify() <-chan struct{} {
	signal.Ignore(syscall.SIGPIPE)
	c, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-c
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		close(done)
		time.Sleep(lastWait)
		os.Exit(exitInterrupted)
	}()
	return done
}

// endAtOnce lets the first interrupt end the process, where a command waits for its input and has no answer to finish.
func endAtOnce() { signal.Reset(os.Interrupt, syscall.SIGTERM) }

// errInterrupted is the end of an input that the user did not want to wait for.
var errInterrupted = errors.New("interrupted, not read to its end")

// interruptible is a reader that ends with [errInterrupted] once done is closed. A read that blocks goes on blocking.
type interruptible struct {
	io.Reader
	done  <-chan struct{}
	meter *meter
}

func (r interruptible) Read(p []byte) (int, error) {
	if closed(r.done) {
		return 0, errInterrupted
	}
	n, err := r.Reader.Read(p)
	r.meter.add(int64(n))
	return n, err
}

// interruptibleAt is the same for a file at offsets.
type interruptibleAt struct {
	io.ReaderAt
	done  <-chan struct{}
	meter *meter
}

func (r interruptibleAt) ReadAt(p []byte, off int64) (int, error) {
	if closed(r.done) {
		return 0, errInterrupted
	}
	n, err := r.ReaderAt.ReadAt(p, off)
	r.meter.reach(off + int64(n))
	return n, err
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// brokenPipe reports whether the reader of our output went away.
func brokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
