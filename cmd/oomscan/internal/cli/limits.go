package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

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
	f.Var((*bytesFlag)(&l.Expanded), "max-expanded", "how much an archive may expand to, such as 500M or 2T")
	f.Int64Var(&l.Ratio, "max-ratio", l.Ratio, "how many times its size it may expand to, beyond the\nfirst 64 MiB")
	f.IntVar(&l.Members, "max-members", l.Members, "how many members an archive may have")
}

// logFlags are the flags that bound how logs are read.
func logFlags(f *pflag.FlagSet, o *options) {
	f.Var((*bytesFlag)(&o.line), "max-line", "how long a line is read as a whole, from "+size(stream.LeastLine)+" to "+size(stream.MostLine)+";\na longer one is read in parts")
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
		{"--max-depth", int64(l.Depth)}, {"--max-expanded", l.Expanded}, {"--max-ratio", l.Ratio}, {"--max-members", int64(l.Members)}, {"--max-open", int64(o.open)},
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
func size(n int64) string { return (*bytesFlag)(&n).String() }

// lineLimit is what --max-line asks of the parser.
func (o *options) lineLimit() stream.Option { return stream.LineLimit(int(o.line)) }

// bytesFlag is a flag's number of bytes, with a unit of 1024 if any.
type bytesFlag int64

const units = "KMGTP"

func (b *bytesFlag) Type() string { return "size" }

func (b *bytesFlag) String() string {
	n, unit := int64(*b), ""
	for i := 0; i < len(units) && n >= 1024 && n%1024 == 0; i++ {
		n, unit = n/1024, units[i:i+1]
	}
	return strconv.FormatInt(n, 10) + unit
}

func (b *bytesFlag) Set(s string) error {
	digits := strings.TrimRight(strings.ToUpper(s), "IBKMGTP")
	unit := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s)[len(digits):], "B"), "I")
	shift := 0
	if unit != "" {
		at := strings.Index(units, unit)
		if at < 0 || len(unit) > 1 {
			return fmt.Errorf("%q has no unit of K, M, G, T or P", s)
		}
		shift = 10 * (at + 1)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return fmt.Errorf("%q is no number of bytes", s)
	}
	*b = bytesFlag(n << shift)
	return nil
}
