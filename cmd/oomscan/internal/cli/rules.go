package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/pattern"
	"oomscan/parser/secret"
	"oomscan/parser/stream"
)

// rulesOptions are the flags of the rules command.
type rulesOptions struct{ options }

// fewRules is how many rules are shown in full without being asked.
const fewRules = 3

// rulesCmd shows what is recognized.
func rulesCmd(s Streams) *cobra.Command {
	var o rulesOptions
	cmd := &cobra.Command{
		Use:   "rules [WORD ...]",
		Short: "List the messages that are recognized, or show some in full",
		Long: `rules lists the messages that oomscan recognizes: the name of the rule, what the message
means, and the program that prints it. With words it lists the rules whose name, meaning or
program contains one of them. Up to three rules are shown in full: the pattern, and lines that
it matches.

With --rules or $OOMSCAN_RULES the rules of your own are among them; oomscan help rules
says how to write some.

The exit status is 1 when no rule is found.`,
		Example: `  oomscan rules deepspeed
  oomscan rules --kind shm_exhausted
  oomscan rules --full torch.oom
  oomscan rules try 'RuntimeError: CUDA out of memory. Tried to allocate 1.15 GiB'
  oomscan rules check ~/oomscan-rules`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cmp.Or(oneOf(choice{"--kind", &o.kind, kindNames}), o.readPacks(s)); err != nil {
				return err
			}
			found := o.find(args)
			if len(found) == 0 {
				return o.noRule(args)
			}
			if o.full || len(found) <= fewRules {
				return s.atOnce(func(w io.Writer) {
					for i := range found {
						showRule(w, &found[i])
					}
				})
			}
			return s.atOnce(func(w io.Writer) { listRules(w, s.Width, found) })
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return o.names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringVar(&o.kind, "kind", "", "only rules about this kind of failure:\n"+columns(kindNames, 50))
	cmd.Flags().BoolVar(&o.full, "full", false, "show every rule in full")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kindNames, cobra.ShellCompDirectiveNoFileComp))
	packFlag(cmd.Flags(), &o.options)
	cmd.AddCommand(tryCmd(s), checkCmd(s))
	return cmd
}

// tryCmd shows what is read out of a line.
func tryCmd(s Streams) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "try LINE",
		Short: "Show what is read from a line (- reads lines from standard input)",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return problem{where: "rules try", what: "takes one line in quotes", hint: "oomscan rules try 'LINE', or oomscan rules try - to read lines from standard input"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.readPacks(s); err != nil {
				return err
			}
			text := []byte(args[0])
			if args[0] == "-" {
				endAtOnce()
				var err error
				if text, err = io.ReadAll(io.LimitReader(s.In, 1<<20)); err != nil {
					return err
				}
			}
			return o.try(s.Out, text)
		},
	}
	packFlag(cmd.Flags(), &o)
	return cmd
}

// kindNames are the kinds of failures.
var kindNames = report.Kinds()

func (o *rulesOptions) sorted() []pattern.Pattern {
	all := o.pack.All()
	slices.SortFunc(all, func(a, b pattern.Pattern) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (o *rulesOptions) names() []string {
	var names []string
	for _, p := range o.sorted() {
		names = append(names, p.Name)
	}
	return names
}

// find returns the rules of the kind that contain one of the words.
func (o *rulesOptions) find(words []string) []pattern.Pattern {
	return slices.DeleteFunc(o.sorted(), func(p pattern.Pattern) bool {
		text := folded(strings.Join([]string{p.Name, meaning(&p), p.Source}, "\n"))
		contains := func(word string) bool { return strings.Contains(text, folded(word)) }
		return o.kind != "" && string(p.Kind) != o.kind || len(words) > 0 && !slices.ContainsFunc(words, contains)
	})
}

// noRule is the complaint about words that are in no rule.
func (o *rulesOptions) noRule(words []string) error {
	p := problem{where: "rules", what: "none found", hint: "oomscan rules lists them all", status: exitNothingFound}
	if len(words) > 0 {
		p.where, p.what = strings.Join(words, " "), "no rule has this in its name, meaning or program"
		names := append(o.names(), "check", "try")
		for _, name := range names {
			program, _, _ := strings.Cut(name, ".")
			names = append(names, program)
		}
		p.hint = hintFor(words[0], names, p.hint)
	}
	return p
}

// meaning says in a few words what a message means that a rule recognizes.
func meaning(p *pattern.Pattern) string {
	switch {
	case p.Veto:
		return "ignored"
	case p.Marker != "":
		return "progress: " + p.Marker
	case p.Gauge:
		return "memory reading"
	case p.Role == parser.Evidence:
		return string(p.Kind)
	}
	return fmt.Sprintf("%s (%s)", p.Kind, p.Role)
}

// listRules writes a line a rule.
func listRules(w io.Writer, width int, rules []pattern.Pattern) {
	const line = "%-30s  %-28s  %s\n"
	fmt.Fprintf(w, line, "RULE", "MEANING", "PRINTED BY")
	room := max(cmp.Or(width, 100)-62, 18)
	for i := range rules {
		p := &rules[i]
		by := printable(p.Source)
		if len(by) > room {
			by = by[:room-3] + "..."
		}
		fmt.Fprintf(w, line, p.Name, meaning(p), by)
	}
	fmt.Fprintf(w, "\n%d rules. oomscan rules NAME shows one in full.\n", len(rules))
}

// showRule writes a rule in full.
func showRule(w io.Writer, p *pattern.Pattern) {
	fmt.Fprintf(w, "%s: %s\n  printed by  %s\n  literals    %q\n  pattern     %s\n", p.Name, meaning(p), p.Source, p.Literals, p.Expr)
	for _, m := range p.Match {
		fmt.Fprintf(w, "  matches     %s\n", printable(m.Line))
		if yields := p.Yields(m); len(yields) > 0 {
			fmt.Fprintf(w, "  fields      %s\n", fields(yields))
		}
	}
	for _, n := range p.NoMatch {
		fmt.Fprintf(w, "  not         %s\n", printable(n))
	}
	fmt.Fprintln(w)
}

// try prints the envelope of each line and what the parser makes of the text.
func (o *options) try(w io.Writer, text []byte) error {
	for line := range strings.Lines(string(text)) {
		body, h := envelope.Peel([]byte(strings.TrimRight(line, "\r\n")))
		fmt.Fprintf(w, "message  %s\n", printable(secret.Stable(string(body))))
		if s := header(&h); s != "" {
			fmt.Fprintf(w, "envelope %s\n", s)
		}
	}
	n := 0
	_, err := stream.Read("line", strings.NewReader(string(text)), func(o parser.Observation) {
		n++
		switch o := o.(type) {
		case parser.Event:
			fmt.Fprintf(w, "event    line %d: %s of %s, by %s %s\n", o.At.Line, o.Role, o.Kind, o.Pattern, fields(o.Fields))
		case parser.Setting:
			fmt.Fprintf(w, "setting  line %d: %s = %s (%s)\n", o.At.Line, printable(o.Key), printable(o.Value), o.Form)
		case parser.Marker:
			fmt.Fprintf(w, "marker   line %d: %s %s\n", o.At.Line, o.Name, fields(o.Fields))
		case parser.Gauge:
			fmt.Fprintf(w, "gauge    line %d: %s %s\n", o.At.Line, o.Name, fields(o.Fields))
		}
	}, o.pack.Options()...)
	if n == 0 {
		fmt.Fprintln(w, "no rule matches")
	}
	return err
}

func fields(f parser.Fields) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(&b, "%s=%s ", k, printable(secret.Stable(f[k])))
	}
	return strings.TrimSpace(b.String())
}

// header prints what an envelope told.
func header(h *envelope.Header) string {
	var parts []string
	add := func(name, v string) {
		if v != "" {
			parts = append(parts, name+"="+printable(v))
		}
	}
	num := func(name string, n int) {
		if n != envelope.Unknown {
			parts = append(parts, fmt.Sprintf("%s=%d", name, n))
		}
	}
	if !h.Time.IsZero() {
		add("time", h.Time.Format("2006-01-02T15:04:05.999Z07:00"))
		add("clock", h.Clock)
	}
	add("host", h.Host)
	add("process", h.Process)
	add("actor", h.Actor)
	add("logger", h.Logger)
	if h.PID > 0 {
		num("pid", h.PID)
	}
	num("rank", h.Rank)
	num("local_rank", h.LocalRank)
	num("task", h.Task)
	num("device", h.Device)
	num("tp", h.TP)
	if h.Level != 0 {
		add("level", string(h.Level))
	}
	return strings.Join(parts, " ")
}
