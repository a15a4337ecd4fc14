// Package cli is the command line: one cobra command a file. It is the only package that knows the environment, the
// clock, goroutines and the terminal.
package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/jobs"
	"oomscan/cmd/oomscan/internal/pack"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser/source"
)

// options are the flags of the root command.
type options struct {
	format    string
	output    string
	color     string
	full      bool
	noPager   bool
	framework string
	runConfig string
	rules     []string  // paths of packs
	pack      pack.Pack // what they hold
	prefix    string    // of the names in observations
	merging   bool      // inputs are observations, not logs
	jobs      int
	limits    source.Limits
	follow    bool
	line      int64 // bytes of a line that is read as a whole
	open      int
	quiet     bool
	redact    bool
	each      bool
	oneJob    bool
	job       string
	sort      string
	all       bool
	kind      string
	host      string
	since     string
	commands  []string // the names of the commands, for who mistypes one
}

// colors and frameworks are the words that --color and --framework take.
var (
	colors     = []string{"auto", "always", "never"}
	frameworks = classifier.IDs(classifier.Framework)
)

// Main runs the program and returns its exit status.
func Main(args []string, s Streams) int {
	if hooked(args, s) {
		return runHook(args, s)
	}
	status := exitClean
	cmd := root(s, &status)
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		if brokenPipe(err) {
			return status
		}
		var p problem
		var failed *os.PathError
		switch {
		case errors.As(err, &p):
		case errors.As(err, &failed):
			err = problem{where: failed.Path, what: "cannot be written: " + cause(err), hint: "what is there is not complete: free some space, or write it elsewhere"}
		default:
			err = problem{what: err.Error(), hint: "oomscan --help lists the flags"}
		}
		complain(s.Err, err)
		return cmp.Or(p.status, exitTrouble)
	}
	return status
}

func root(s Streams, status *int) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "oomscan [flags] [PATH ...]",
		Short: "Say why a job ran out of memory, and what to change first",
		Long: `oomscan reads the logs of a dead or dying machine-learning job and says what ran
out of memory, in which phase, which rank first, how much was missing, why, and
what to change first. The checklist of the framework's own out-of-memory guide
follows, filled in with the run's values.

A folder is read with everything below it. Archives and compressed files (gzip,
zstd, xz, bzip2, lz4, tar, zip, nested) are read without unpacking them to disk.
Without paths, or for the path -, standard input is read as it arrives. With
--follow, files and folders are read as they grow.

Files given by their names are one job, unless the names carry different job ids.
What is found in folders and archives may be several: by job ids in the names of
files and folders, by ids in the logs, or by folders that each hold a run. Then a
table of the jobs is shown, and --job NAME reports on one.

Exit status: 0 no memory incident; 1 at least one; 2 wrong usage, or an input
could not be read and nothing was found in the rest; 130 the scan was interrupted.

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
			return o.execute(cmd, args, s, status)
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on reading what is written to the paths, until\ninterrupted")
	logFlags(cmd.Flags(), &o)
	cmd.Flags().StringVar(&o.prefix, "prefix", "", "with --format obs: `TEXT` to put before the names of\nlogs, such as the node's")
	cmd.AddCommand(guideCmd(s, status), planCmd(s), rulesCmd(s), explainCmd(s), epilogCmd(s), mergeCmd(s, status), schemaCmd(s), manCmd(s), skillCmd(s), mcpCmd(s), versionCmd(s))
	for _, c := range cmd.Commands() {
		o.commands = append(o.commands, c.Name())
	}
	cmd.SetHelpCommand(helpCmd(s))
	cmd.SetIn(s.In)
	cmd.SetOut(s.Out)
	cmd.SetErr(s.Err)
	cmd.InitDefaultCompletionCmd() // it prints to where the command does by now
	describeCompletion(cmd)
	suggestFlags(cmd)
	return cmd
}

// execute checks the flags and answers. Without arguments it reads the standard input, unless nobody feeds it.
func (o *options) execute(cmd *cobra.Command, args []string, s Streams, status *int) error {
	if err := o.check(s); err != nil {
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
	code, err := do(o, args, s)
	*status = code
	return err
}

// flags are those of the commands that answer with a report.
func (o *options) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	names := formatNames(o.merging)
	f.StringVar(&o.format, "format", defaultFormat, "output: "+strings.Join(names, "|"))
	f.StringVarP(&o.output, "output", "o", "", "write the report to `FILE` instead of standard output;\na folder (DIR/) gets a report for each job")
	f.BoolVar(&o.full, "full", false, "show everything: reasons, figures, traceback, log lines")
	f.BoolVar(&o.noPager, "no-pager", false, "do not show a long report through $PAGER")
	f.StringVar(&o.color, "color", "auto", "color: "+strings.Join(colors, "|")+"\n(auto honors NO_COLOR)")
	f.StringVar(&o.framework, "framework", "", "the framework, when it is detected wrongly:\n"+columns(frameworks, 50))
	f.StringVar(&o.runConfig, "run-config", "", "the run's own configuration `FILE` (YAML), when the\nlog does not print it")
	packFlag(f, o)
	f.IntVar(&o.jobs, "jobs", min(runtime.GOMAXPROCS(0), maxJobs), "processors to search with; they change the time only")
	f.BoolVar(&o.each, "each", false, "every input is its own job")
	f.BoolVar(&o.oneJob, "one-job", false, "all inputs are one job")
	f.StringVar(&o.job, "job", "", "of several jobs, report on the one with this `NAME`,\nor whose name ends so")
	f.BoolVar(&o.all, "all", false, "list every job with incidents")
	f.StringVar(&o.sort, "sort", "", "order of several jobs: "+columns(report.Sorts(), 30))
	f.StringVar(&o.kind, "kind", "", "of several jobs, only those with this kind of\nincident: "+columns(kindNames, 41))
	f.StringVar(&o.host, "host", "", "of several jobs, only those with an incident on `HOST`")
	f.StringVar(&o.since, "since", "", "of several jobs, only those with an incident since\n`TIME`: 2026-05-24, 2026-05-24T19:00, 36h or 7d ago")
	cmd.MarkFlagsMutuallyExclusive("each", "one-job")
	cmd.MarkFlagsMutuallyExclusive("job", "one-job")
	limitFlags(f, o)
	f.BoolVar(&o.redact, "redact", false, "replace hosts, e-mail addresses and the folders of paths,\nin a report that goes to others")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no report, only set the exit status")
	for name, words := range map[string][]string{
		"format": names, "color": colors, "framework": frameworks, "sort": report.Sorts(), "kind": kindNames,
	} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	_ = cmd.RegisterFlagCompletionFunc("job", func(_ *cobra.Command, paths []string, _ string) ([]string, cobra.ShellCompDirective) {
		return jobsByName(paths), cobra.ShellCompDirectiveNoFileComp
	})
}

// jobsByName are the jobs that the names of files tell apart.
func jobsByName(paths []string) []string {
	inputs, _ := source.List(paths)
	logs := make([]jobs.Log, len(inputs))
	for i := range inputs {
		logs[i].Name = inputs[i].Name
	}
	var names []string
	for _, j := range jobs.Group(logs) {
		names = append(names, j.Name)
	}
	return names
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

// check refuses what no flag takes, and reads the packs: they add words that a flag may take.
func (o *options) check(s Streams) error {
	if err := o.readPacks(s); err != nil {
		return err
	}
	if o.format == "" || o.color == "" {
		return problem{where: "--format, --color", what: "need a value", hint: "leave them out for text and auto"}
	}
	if err := oneOf(choice{"--format", &o.format, formatNames(o.merging)}, choice{"--color", &o.color, colors}, choice{"--framework", &o.framework, o.frameworks()},
		choice{"--sort", &o.sort, report.Sorts()}, choice{"--kind", &o.kind, kindNames}); err != nil {
		return err
	}
	if o.jobs < 1 {
		return problem{where: "--jobs", what: fmt.Sprintf("%d is not a number of processors", o.jobs), hint: "1 or more"}
	}
	if o.redact && (o.follow || o.format == "obs") {
		return problem{where: "--redact", what: "is for a finished report", hint: "leave out --follow and --format obs; merge also has --redact"}
	}
	if err := o.checkObs(); err != nil {
		return err
	}
	return o.checkLimits()
}

// frameworks are the words of --framework, those of packs among them.
func (o *options) frameworks() []string { return slices.Concat(frameworks, o.pack.Programs()) }

// query is which of several jobs are reported.
func (o *options) query(now time.Time) (report.JobQuery, error) {
	since, err := timeOf(o.since, now)
	return report.JobQuery{Kind: o.kind, Host: o.host, Since: since}, err
}

// timeOf reads a time of --since: a date, a date with a time of day, or how long ago. Times without a zone are local.
func timeOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	ago := text
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil {
			ago = strconv.Itoa(24*n) + "h"
		}
	}
	if d, err := time.ParseDuration(ago); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, problem{where: "--since", what: fmt.Sprintf("%q is neither a time nor a duration", text), hint: "2026-05-24, 2026-05-24T19:00, 36h or 7d"}
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

// checkOutput refuses to write the report over an input: a file that the command line names, or a log below a folder that it names.
func (o *options) checkOutput(paths []string, s Streams) error {
	if o.quiet || !isInput(o.output, paths, s) {
		return nil
	}
	return problem{where: "-o " + o.output, what: "is an input, which the report would overwrite", hint: "choose another file with -o"}
}

// isInput reports whether a file is one of the inputs, by whatever name.
func isInput(file string, paths []string, s Streams) bool {
	target, err := os.Stat(file)
	if err != nil || !target.Mode().IsRegular() {
		return false
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		st, err := os.Stat(path)
		if path == source.Stdin && s.In != nil {
			st, err = s.In.Stat()
		}
		return err == nil && (os.SameFile(st, target) || st.IsDir() && isLogBelow(path, file))
	})
}

// isLogBelow reports whether a file is below a folder and looks like a log. An earlier report may be replaced.
func isLogBelow(folder, file string) bool {
	for _, path := range []*string{&folder, &file} {
		real, err := filepath.EvalSymlinks(*path)
		if err == nil {
			*path, err = filepath.Abs(real)
		}
		if err != nil {
			return false
		}
	}
	if below, err := filepath.Rel(folder, file); err != nil || !filepath.IsLocal(below) {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return true // and it cannot be replaced either
	}
	defer f.Close()
	head := make([]byte, 4<<10)
	n, _ := io.ReadFull(f, head)
	return n > 0 && source.IsLog(head[:n])
}

// sink opens where the report goes. On a terminal, text that is complete before it is shown goes through the pager.
func (o *options) sink(s Streams, complete bool) (io.Writer, func() error, error) {
	if o.quiet {
		return io.Discard, func() error { return nil }, nil
	}
	if p := o.pagerFor(s); p != nil && complete && o.output == "" && o.format == defaultFormat {
		return p, p.Close, nil
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

// write writes a text that is complete to where the report goes.
func (o *options) write(s Streams, text func(io.Writer) error) error {
	out, done, err := o.sink(s, true)
	if err != nil {
		return err
	}
	err = text(out)
	if e := done(); err == nil && e != nil {
		err = problem{where: o.output, what: "cannot be written: " + cause(e), hint: "choose another file with -o"}
	}
	return err
}

// cause is the last part of a path error: the path is said elsewhere.
func cause(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
