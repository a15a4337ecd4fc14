package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"oomscan/cmd/oomscan/internal/epilog"
)

// Args are the arguments of a call. Under the name oomscan-epilog, which slurm.conf may name without arguments, the program is
// the hook.
func Args(argv []string) []string {
	if len(argv) > 0 && filepath.Base(argv[0]) == epilog.WrapperName {
		return append([]string{"epilog"}, argv[1:]...)
	}
	return argv[min(1, len(argv)):]
}

// hooked reports whether Slurm calls: then nothing is printed and the status is 0, whatever the arguments are. Another one would drain
// the node.
func hooked(args []string, s Streams) bool {
	return len(args) > 0 && args[0] == "epilog" && s.Env != nil && strings.HasPrefix(s.Env("SLURM_SCRIPT_CONTEXT"), "epilog_")
}

func epilogCmd(s Streams) *cobra.Command {
	var config, install string
	var check bool
	cmd := &cobra.Command{
		Use:   "epilog [--check [JOBID] | --install DIR]",
		Short: "The Slurm hook: leave the report beside a job's log when it ends",
		Long: `epilog is what Slurm calls when a job ends: it reads the job's logs, as the job's
user, and leaves a report beside them if memory ran out. It takes its facts from
Slurm's environment, prints nothing, and always ends with status 0.

In slurm.conf, with the wrapper that --install writes (Slurm gives a hook no
arguments):

  Epilog=/etc/oomscan/oomscan-epilog     on every node, as root: the one to use
  TaskEpilog=...                         as the user: the finding into the log
  EpilogSlurmctld=...                    on the controller: what Slurm itself knows`,
		Example: `  oomscan epilog --install /etc/oomscan     wrapper and configuration
  oomscan epilog --check                    would it work on this node?
  oomscan epilog --check 4242               what would it do for this job?`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			program, err := os.Executable()
			if err != nil {
				return err
			}
			switch {
			case len(args) > 0 && !check:
				return problem{where: args[0], what: "epilog takes a job's number with --check only"}
			case check && install != "":
				return problem{where: "--check, --install", what: "one at a time"}
			case install != "":
				return installHook(s, install, program)
			case check:
				job := ""
				if len(args) > 0 {
					job = args[0]
				}
				c := epilog.Check{Out: s.Out, Width: s.Width, Config: config, Program: program, Version: version(), Self: self, Env: s.Env, Job: job}
				if !c.Run() {
					return problem{where: "epilog --check", what: "the hook would not work here as it should", hint: "the lines marked with NO say why"}
				}
				return nil
			}
			return problem{
				where: "epilog", what: "SLURM_SCRIPT_CONTEXT is not set: Slurm calls this command when a job ends",
				hint: "oomscan epilog --check JOBID shows what it would do",
			}
		},
	}
	f := cmd.Flags()
	f.StringVar(&config, "config", "", "the hook's configuration `FILE`, which only root may be able\nto write (default "+epilog.DefaultConfig+")")
	f.BoolVar(&check, "check", false, "say whether the hook would work on this node; with a job's\nnumber, what it would do for it")
	f.StringVar(&install, "install", "", "write the wrapper for slurm.conf and a configuration into `DIR`")
	cmd.AddCommand(&cobra.Command{
		Use: "child", Hidden: true, Args: cobra.NoArgs, Short: "the part of the hook that runs as the job's user",
		Run: func(*cobra.Command, []string) { epilog.Child(s.In, s.Out) },
	})
	return cmd
}

// self starts this program as the hook's child.
var self = []string{"oomscan", "epilog", "child"}

// runHook is a call by Slurm.
func runHook(args []string, s Streams) int {
	h := epilog.Hook{Env: s.Env, Version: version(), Self: self}
	if f, ok := s.Err.(*os.File); ok {
		h.Stderr = f
	}
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--config="); ok {
			h.Config = v
		} else if a == "--config" && i+1 < len(args) {
			h.Config = args[i+1]
		}
	}
	h.Run()
	return exitClean
}

func installHook(s Streams, dir, program string) error {
	written, err := epilog.Install(dir, program)
	for _, w := range written {
		fmt.Fprintf(s.Out, "wrote %s\n", printable(w))
	}
	if err != nil {
		return problem{where: dir, what: cause(err), hint: "choose a folder such as /etc/oomscan, and write to it as root"}
	}
	if len(written) == 0 {
		return errors.New("nothing written")
	}
	fmt.Fprintf(s.Out, `
Into slurm.conf, on every node and the controller, then `+"`scontrol reconfigure`"+`:

  Epilog=%s
  PrologEpilogTimeout=60

Where Epilog=/etc/slurm/epilog.d/* is set already, link it there instead:

  ln -s %[1]s /etc/slurm/epilog.d/50-oomscan

To check it on a node:  %[2]s epilog --check
To remove it:           take the line out of slurm.conf (or the link out of
                        epilog.d), scontrol reconfigure, rm -r %[3]s
`, printable(written[0]), printable(program), printable(filepath.Dir(written[0])))
	if why := epilog.Unreachable(program); why != "" {
		complain(s.Err, problem{
			where: program, what: "users cannot start it: " + why, hint: "the hook reads a job's logs as its user; copy oomscan to a place such as /usr/local/bin and run this again from there",
		})
	}
	return nil
}
