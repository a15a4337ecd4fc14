package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"oomscan/parser/source"
	"oomscan/parser/stream"
)

// limitFlags are the flags that bound what archives may hold. Those that bound how logs are read have their defaults only.
func limitFlags(f *pflag.FlagSet, o *options) {
	o.line, o.open = stream.DefaultLine, defaultOpen
	l := &o.limits
	*l = source.DefaultLimits()
	f.IntVar(&l.Depth, "max-depth", l.Depth, "how deep archives may be nested")
	f.Var((*source.Size)(&l.Expanded), "max-expanded", "how much an archive may expand to, such as 500M or 2T")
	f.Var((*source.Size)(&l.Total), "max-total", "how much all archives together may expand to")
	f.Int64Var(&l.Ratio, "max-ratio", l.Ratio, "how many times its size it may expand to, beyond the\nfirst 64 MiB")
	f.IntVar(&l.Members, "max-members", l.Members, "how many members an archive may have")
}

// logFlags are the flags that bound how logs are read.
func logFlags(f *pflag.FlagSet, o *options) {
	f.Var((*source.Size)(&o.line), "max-line", "how long a line is read as a whole, from "+size(stream.LeastLine)+" to "+size(stream.MostLine)+";\na longer one is read in parts")
	f.IntVar(&o.open, "max-open", defaultOpen, "how many files --follow keeps open")
}

// defaultOpen is how many files are kept open while they are followed: a process may have 1,024 on most machines.
const defaultOpen = 256

// checkLimits refuses limits that let nothing through.
func (o *options) checkLimits() error {
	l := &o.limits
	for _, x := range []struct {
		flag  string
		value int64
	}{
		{"--max-depth", int64(l.Depth)}, {"--max-expanded", l.Expanded}, {"--max-total", l.Total}, {"--max-ratio", l.Ratio}, {"--max-members", int64(l.Members)}, {"--max-open", int64(o.open)},
	} {
		if x.value < 1 {
			return problem{where: x.flag, what: fmt.Sprintf("%d lets nothing through", x.value), hint: "1 or more"}
		}
	}
	if o.line < stream.LeastLine || o.line > stream.MostLine {
		return problem{where: "--max-line", what: size(o.line) + " is out of bounds", hint: "from " + size(stream.LeastLine) + " to " + size(stream.MostLine)}
	}
	return nil
}

// size is a number of bytes as the flags take it.
func size(n int64) string { return source.Size(n).String() }
