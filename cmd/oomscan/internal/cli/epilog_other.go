//go:build !linux

package cli

import "github.com/spf13/cobra"

// Args are the arguments of a call.
func Args(argv []string) []string { return argv[min(1, len(argv)):] }

func hooked([]string, Streams) bool { return false }

func runHook([]string, Streams) int { return exitTrouble }

// epilogCmd says that Slurm's nodes run Linux.
func epilogCmd(Streams) *cobra.Command {
	return &cobra.Command{
		Use: "epilog", Short: "The Slurm hook (on Linux only)",
		RunE: func(*cobra.Command, []string) error {
			return problem{where: "epilog", what: "this program was built for a system on which Slurm has no epilog", hint: "build it for Linux: GOOS=linux"}
		},
	}
}
