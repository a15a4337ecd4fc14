package epilog

import "io"

type Check struct {
	Out     io.Writer
	Width   int
	Config  string
	Program string
	Version string
	Self    []string
	Env     func(string) string
	Job     string
}

func (c *Check) Run() bool { return true }
