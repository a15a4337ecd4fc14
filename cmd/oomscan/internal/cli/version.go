package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// licences are those of the modules that are built into the program, on any system.
var licences = map[string]string{
	"github.com/VividCortex/ewma":            "MIT",
	"github.com/cheggaaa/pb/v3":              "BSD-3-Clause",
	"github.com/clipperhouse/uax29/v2":       "MIT",
	"github.com/dlclark/regexp2/v2":          "MIT",
	"github.com/fatih/color":                 "MIT",
	"github.com/fsnotify/fsnotify":           "BSD-3-Clause",
	"github.com/goccy/go-yaml":               "MIT",
	"github.com/google/jsonschema-go":        "MIT",
	"github.com/inconshreveable/mousetrap":   "Apache-2.0",
	"github.com/klauspost/compress":          "BSD-3-Clause, Apache-2.0, MIT",
	"github.com/mattn/go-colorable":          "MIT",
	"github.com/mattn/go-isatty":             "MIT",
	"github.com/mattn/go-runewidth":          "MIT",
	"github.com/mikelolasagasti/xz":          "0BSD",
	"github.com/modelcontextprotocol/go-sdk": "Apache-2.0, MIT",
	"github.com/pierrec/lz4/v4":              "BSD-3-Clause",
	"github.com/segmentio/asm":               "MIT",
	"github.com/segmentio/encoding":          "MIT",
	"github.com/spf13/cobra":                 "Apache-2.0",
	"github.com/spf13/pflag":                 "BSD-3-Clause",
	"github.com/yosida95/uritemplate/v3":     "BSD-3-Clause",
	"go.yaml.in/yaml/v3":                     "MIT, Apache-2.0",
	"golang.org/x/oauth2":                    "BSD-3-Clause",
	"golang.org/x/sync":                      "BSD-3-Clause",
	"golang.org/x/sys":                       "BSD-3-Clause",
	"golang.org/x/term":                      "BSD-3-Clause",
	"golang.org/x/text":                      "BSD-3-Clause",
	"golang.org/x/time":                      "BSD-3-Clause",
}

// versionCmd says which version this is, and of what it is made.
func versionCmd(s Streams) *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what the program is built from",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return s.atOnce(func(w io.Writer) { printVersion(w, full) })
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "list the modules it is built from, their versions and licences")
	return cmd
}

// printVersion writes the version, in full with the modules that the program is built from.
func printVersion(w io.Writer, full bool) {
	fmt.Fprintf(w, "oomscan %s\n", version())
	info, ok := debug.ReadBuildInfo()
	if !full || !ok {
		return
	}
	fmt.Fprintf(w, "built with %s for %s/%s\n\n", info.GoVersion, runtime.GOOS, runtime.GOARCH)
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if licence := licences[m.Path]; licence != "" {
			fmt.Fprintf(w, "%-37s %-10s %s\n", m.Path, m.Version, licence)
		}
	}
}
