package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"oomscan/cmd/oomscan/internal/pack"
	"oomscan/parser/stream"
)

// rulesVariable names the packs of who does not want to repeat --rules.
const rulesVariable = "OOMSCAN_RULES"

// packFlag is the flag of the commands that use packs.
func packFlag(f *pflag.FlagSet, o *options) {
	f.StringArrayVar(&o.rules, "rules", nil, "use the patterns and guides of this `FILE|DIR` too; may be\nrepeated (default $"+rulesVariable+")")
}

// readPacks reads the packs of --rules or, without it, of the environment. A pack with a fault is refused as a whole: half of one
// would make reports that nobody expects.
func (o *options) readPacks(s Streams) error {
	paths := o.rules
	if paths == nil {
		paths = filepath.SplitList(s.Env(rulesVariable))
	}
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == "" })
	if len(paths) == 0 {
		return nil
	}
	p, faults := pack.Load(paths)
	if len(faults) == 0 {
		o.pack = p
		return nil
	}
	for _, err := range faults[:min(len(faults), maxListed)] {
		complain(s.Err, err)
	}
	return problem{where: strings.Join(paths, ", "), what: faultsOf(faults) + ": nothing was read", hint: "oomscan rules check " + paths[0]}
}

func faultsOf(faults []error) string {
	if len(faults) == 1 {
		return "1 fault"
	}
	return fmt.Sprintf("%d faults", len(faults))
}

// reading is how logs are read: as --max-line and the packs ask for.
func (o *options) reading() []stream.Option {
	return append(o.pack.Options(), stream.LineLimit(int(o.line)))
}

// checkCmd proves packs.
func checkCmd(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "check PACK ...",
		Short: "Say what is wrong with packs of patterns and guides of your own",
		Long: `check reads packs as --rules does, and lists every fault with its file and line: broken
YAML, a sample that is not recognized or with other fields, a line that must not match and
does, a literal that no sample holds, a name that is taken, an expression that does not
compile or has no bounds. See oomscan help rules for how to write one.

The exit status is 2 when there is a fault.`,
		Example: "  oomscan rules check ~/oomscan-rules",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, paths []string) error {
			p, faults := pack.Load(paths)
			for _, err := range faults {
				complain(s.Err, err)
			}
			if len(faults) > 0 {
				return problem{where: strings.Join(paths, ", "), what: faultsOf(faults), hint: "oomscan help rules explains the keys"}
			}
			samples := 0
			for i := range p.Patterns {
				samples += len(p.Patterns[i].Match) + len(p.Patterns[i].NoMatch)
			}
			_, err := fmt.Fprintf(s.Out, "%s: sound\npatterns %d, samples %d, guides %d\n", strings.Join(paths, ", "), len(p.Patterns), samples, len(p.Guides))
			return err
		},
	}
}
