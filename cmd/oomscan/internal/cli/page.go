package cli

import (
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// pageFlags are the flags of the commands that show a page about settings: a guide, a plan.
func (o *options) pageFlags(f *pflag.FlagSet, formats []string) {
	f.StringVar(&o.runConfig, "run-config", "", "the run's own configuration `FILE` (YAML, or a log)")
	packFlag(f, o)
	f.StringVar(&o.format, "format", "text", "output: "+strings.Join(formats, "|"))
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of standard output")
	f.StringVar(&o.color, "color", "auto", "colour: "+strings.Join(colors, "|"))
}

// write writes a page to where -o says.
func (o *options) write(s Streams, page func(io.Writer) error) error {
	out, done, err := o.sink(s, true)
	if err != nil {
		return err
	}
	err = page(out)
	if e := done(); err == nil && e != nil {
		err = problem{where: o.output, what: "cannot be written: " + cause(e)}
	}
	return err
}

// keyValue reads a value of --set.
func keyValue(kv, example string) (key, value string, err error) {
	key, value, ok := strings.Cut(kv, "=")
	if key = strings.TrimSpace(key); !ok || key == "" {
		return "", "", problem{where: "--set " + kv, what: "is no setting", hint: "--set KEY=VALUE, for example --set " + example}
	}
	return key, strings.TrimSpace(value), nil
}
