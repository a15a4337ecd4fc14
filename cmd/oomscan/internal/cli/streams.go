package cli

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"
)

// Streams are what the program reads and writes, and what it may know of them.
type Streams struct {
	In       *os.File
	Out, Err io.Writer
	Env      func(string) string
	// OutTerminal and InTerminal say whether a person sits there; Width and Height are the columns and lines of the terminal that
	// Out is, 0 when it is none.
	OutTerminal, InTerminal, ErrTerminal bool
	Width, Height                        int
	ErrWidth                             func() int      // the columns of the terminal that Err is, as it is now
	Interrupt                            <-chan struct{} // closed when the user interrupts; nil: never
}

// OS returns the process's own streams.
func OS() Streams {
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Interrupt: notify()}
	s.InTerminal = term.IsTerminal(int(os.Stdin.Fd()))
	if fd := int(os.Stderr.Fd()); term.IsTerminal(fd) {
		s.ErrTerminal = true
		s.ErrWidth = func() int {
			if w, _, err := term.GetSize(fd); err == nil && w > 0 {
				return w
			}
			return 80
		}
	}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		s.OutTerminal = true
		if w, h, err := term.GetSize(fd); err == nil {
			s.Width, s.Height = w, h
		}
	}
	return s
}

// atOnce writes all that a function prints to Out, and returns the error of that: the disk may be full.
func (s Streams) atOnce(print func(io.Writer)) error {
	var b bytes.Buffer
	print(&b)
	_, err := s.Out.Write(b.Bytes())
	return err
}
