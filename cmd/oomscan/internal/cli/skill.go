package cli

import (
	_ "embed" // of the skill
	"io"

	"github.com/spf13/cobra"
)

// skill tells a coding agent how to use the program.
//
//go:embed skill.md
var skill string

func skillCmd(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "skill",
		Short:   "Print a SKILL.md that shows a coding agent how to use oomscan",
		Example: "  oomscan skill > skills/oomscan/SKILL.md",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(s.Out, skill)
			return err
		},
	}
}
