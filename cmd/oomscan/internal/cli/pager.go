package cli

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
)

// pager keeps what is written, and shows it through the user's pager when it is longer than the screen, as git does.
type pager struct {
	buf     bytes.Buffer
	streams Streams
	command string
}

// pagerFor returns the pager for a report on the terminal, nil where there is none to use.
func (o *options) pagerFor(s Streams) *pager {
	command := cmp.Or(s.Env("PAGER"), "less")
	if o.noPager || !s.OutTerminal || s.Height == 0 || command == "cat" || s.Env("TERM") == "dumb" {
		return nil
	}
	return &pager{streams: s, command: command}
}

func (p *pager) Write(b []byte) (int, error) { return p.buf.Write(b) }

// Close shows what was written. A pager that cannot be started is no loss: the text is printed.
func (p *pager) Close() error {
	if bytes.Count(p.buf.Bytes(), []byte{'\n'}) >= p.streams.Height {
		cmd := exec.Command("sh", "-c", p.command) //nolint:gosec // the user's own command, as git, man and gh run it
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(p.buf.Bytes()), p.streams.Out, p.streams.Err
		cmd.Env = os.Environ()
		if p.streams.Env("LESS") == "" {
			cmd.Env = append(cmd.Env, "LESS=FRX")
		}
		if cmd.Start() == nil {
			_ = cmd.Wait() // its exit status says nothing about the report
			return nil
		}
	}
	_, err := p.streams.Out.Write(p.buf.Bytes())
	return err
}
