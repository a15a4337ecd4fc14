// Package cli is the command line: one cobra command a file. It is the only package that knows the environment, the
// clock, goroutines and the terminal.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oomscan/classifier"
	"oomscan/parser/source"
)

// options are the flags of the root command.
type options struct {
	format    string
	output    string
	color     string
	framework string
	runConfig string
	prefix    string // of the names in observations
	merging   bool   // inputs are observations, not logs
	jobs      int
	limits    source.Limits
	follow    bool
	line      int64 // bytes of a line that is read as a whole
	open      int
	quiet     bool
	each      bool
	oneJob    bool
	job       string
}

// colors and frameworks are the words that --color and --framework take.
var (
	colors     = []string{"auto", "always", "never"}
	frameworks = classifier.Frameworks()
)

// Main runs the program and returns its exit status.
func Main(args []string, s Streams) int {
	if hooked(args, s) {
		return runHook(args, s)
	}
	status := exitClean
	cmd := root(s, &status)
	cmd.SetArgs(args)
	cmd.SetIn(s.In)
	cmd.SetOut(s.Out)
	cmd.SetErr(s.Err)
	if err := cmd.Execute(); err != nil {
		if brokenPipe(err) {
			return status
		}
		var p problem
		if !errors.As(err, &p) {
			err = problem{what: err.Error(), hint: "oomscan --help lists the flags"}
		}
		complain(s.Err, err)
		return exitTrouble
	}
	return status
}

func root(s Streams, status *int) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "oomscan [flags] [PATH ...]",
		Short: "Say what ran out of memory in a job's logs, when, who first, and what to change",
		Long: `oomscan reads the logs of a dead or dying machine-learning job and says what ran
out of memory, in which phase, which rank first, how much was missing, and what
to change: the checklist of the framework's own out-of-memory guide, filled in
with the run's values.

A folder is read with everything below it, and what is packed (gzip, zstd, xz,
bzip2, lz4, tar, zip, in each other) is read without unpacking it to disk.
Without paths, or for the path -, standard input is read as it comes. With
--follow, files and folders are read on as they grow.

Files given by their names are one job. What is found in folders and archives may
be several: by job ids in the names of files and folders, by ids in the logs, or
by folders that each hold a run. Then a table of the jobs comes first.

Exit status: 0 no memory incident, 1 at least one, 2 wrong usage, or an input
could not be read and nothing was found in the rest, 130 a scan was interrupted.

More: oomscan help TOPIC, with TOPIC one of
` + strings.Join(topics(), ", ") + ".",
		Example: `  oomscan logs/                                  every file of a job
  oomscan slurm-4242.err slurm-4242.out          some of them
  oomscan --follow logs/                         a job that still runs
  tail -f slurm-4242.err | oomscan               the same through a pipe
  oomscan --format json logs/ > report.json      for other programs
  oomscan --format obs -o node7.obs /tmp/logs    for oomscan merge`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if len(args) == 0 && s.InTerminal {
				return cmd.Help()
			}
			if len(args) == 0 {
				args = []string{"-"}
			}
			do := (*options).run
			if own := formats()[o.format].run; own != nil {
				do = own
			}
			code, err := do(&o, args, s)
			*status = code
			return err
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on reading what is written to the paths, until\ninterrupted")
	logFlags(cmd.Flags(), &o)
	cmd.Flags().StringVar(&o.prefix, "prefix", "", "with --format obs: `TEXT` to put before the names of\nlogs, such as the node's")
	cmd.AddCommand(guideCmd(s), planCmd(s), rulesCmd(s), epilogCmd(s), mergeCmd(s, status))
	cmd.SetHelpCommand(helpCmd(s))
	return cmd
}

// flags are those of the commands that answer with a report.
func (o *options) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	names := formatNames(o.merging)
	f.StringVar(&o.format, "format", defaultFormat, "output: "+strings.Join(names, "|"))
	f.StringVarP(&o.output, "output", "o", "", "write the report to `FILE` instead of standard output")
	f.StringVar(&o.color, "color", "auto", "colour: "+strings.Join(colors, "|")+"\n(auto honours NO_COLOR)")
	f.StringVar(&o.framework, "framework", "", "the framework, when it is detected wrongly:\n"+columns(frameworks, 50))
	f.StringVar(&o.runConfig, "run-config", "", "the run's own configuration `FILE` (YAML), when the\nlog does not print it")
	f.IntVar(&o.jobs, "jobs", min(runtime.GOMAXPROCS(0), maxJobs), "processors to search with; they change the time only")
	f.BoolVar(&o.each, "each", false, "every input is a job of its own")
	f.BoolVar(&o.oneJob, "one-job", false, "all inputs are one job")
	f.StringVar(&o.job, "job", "", "of several jobs, report on the one with this `NAME`,\nor whose name ends so")
	cmd.MarkFlagsMutuallyExclusive("each", "one-job")
	cmd.MarkFlagsMutuallyExclusive("job", "one-job")
	limitFlags(f, o)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no report; the exit status tells")
	for name, words := range map[string][]string{"format": names, "color": colors, "framework": frameworks} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
}

// columns lists the words that a flag takes in lines of at most so many columns.
func columns(list []string, most int) string {
	var b strings.Builder
	used := 0
	for i, w := range list {
		if used+len(w) > most {
			b.WriteByte('\n')
			used = 0
		}
		b.WriteString(w)
		used += len(w) + 1
		if i < len(list)-1 {
			b.WriteByte('|')
		}
	}
	return b.String()
}

// choice is a flag's value and the words that it takes. An empty value is always one.
type choice struct {
	flag, value string
	words       []string
}

// oneOf refuses words that a flag does not take.
func oneOf(choices ...choice) error {
	for _, t := range choices {
		if t.value == "" || slices.Contains(t.words, t.value) {
			continue
		}
		hint := "one of " + strings.Join(t.words, ", ")
		if near, ok := source.Closest(t.value, t.words); ok {
			hint = fmt.Sprintf("did you mean %q? It takes %s", near, hint)
		}
		return problem{where: t.flag, what: fmt.Sprintf("unknown value %q", t.value), hint: hint}
	}
	return nil
}

// check refuses what no flag takes.
func (o *options) check() error {
	if o.format == "" || o.color == "" {
		return problem{where: "--format, --color", what: "need a value", hint: "leave them out for text and auto"}
	}
	if err := oneOf(choice{"--format", o.format, formatNames(o.merging)}, choice{"--color", o.color, colors}, choice{"--framework", o.framework, frameworks}); err != nil {
		return err
	}
	if o.jobs < 1 {
		return problem{where: "--jobs", what: fmt.Sprintf("%d is not a number of processors", o.jobs), hint: "1 or more"}
	}
	if err := o.checkObs(); err != nil {
		return err
	}
	return o.checkLimits()
}

// maxJobs bounds the processors that are used unless the user says otherwise: a log is read faster than most disks are
// long before.
const maxJobs = 16

// version is the module's version as the build recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// sink opens where the report goes.
func (o *options) sink(s Streams) (io.Writer, func() error, error) {
	if o.quiet {
		return io.Discard, func() error { return nil }, nil
	}
	if o.output == "" || o.output == "-" {
		return s.Out, func() error { return nil }, nil
	}
	f, err := os.Create(o.output)
	if err != nil {
		return nil, nil, problem{where: o.output, what: "cannot be written: " + cause(err), hint: "choose another file with -o"}
	}
	return f, f.Close, nil
}

// cause is the last part of a path error: the path is said elsewhere.
func cause(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
