package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/messages"
	"oomscan/parser/pattern"
	"oomscan/parser/stream"
)

// rulesCmd shows what is recognised.
func rulesCmd(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules [NAME ...]",
		Short: "List the messages that are recognised, or show some in full",
		Long: `rules lists the messages that oomscan recognises: name, what a match yields, and the program
that prints it. With names (or the beginnings of names) it shows these in full, with the lines that
prove them. "rules try LINE" shows what is read out of a line.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			all := messages.All()
			slices.SortFunc(all, func(a, b pattern.Pattern) int { return strings.Compare(a.Name, b.Name) })
			found := false
			for i := range all {
				p := &all[i]
				switch {
				case len(args) == 0:
					fmt.Fprintf(s.Out, "%-34s %-28s %s\n", p.Name, yields(p), printable(p.Source))
				case slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(p.Name, a) }):
					found = true
					showPattern(s.Out, p)
				}
			}
			if len(args) > 0 && !found {
				return problem{where: args[0], what: "no rule of that name", hint: "oomscan rules lists them all"}
			}
			return nil
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "try LINE",
		Short: "Show what is read out of a line (- reads lines from standard input)",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			text := []byte(args[0])
			if args[0] == "-" {
				var err error
				if text, err = io.ReadAll(io.LimitReader(s.In, 1<<20)); err != nil {
					return err
				}
			}
			return try(s.Out, text)
		},
	})
	return cmd
}

// yields says in words what a match of p is.
func yields(p *pattern.Pattern) string {
	switch {
	case p.Veto:
		return "nothing: only looks like it"
	case p.Marker != "":
		return "marker " + p.Marker
	case p.Gauge:
		return "gauge"
	}
	return string(p.Role) + " of " + string(p.Kind)
}

func showPattern(w io.Writer, p *pattern.Pattern) {
	fmt.Fprintf(w, "%s: %s\n  printed by  %s\n  needles     %q\n  expression  %s\n", p.Name, yields(p), p.Source, p.Literals, p.Expr)
	for _, m := range p.Match {
		fmt.Fprintf(w, "  reads       %s\n  as          %s\n", printable(m.Line), fields(m.Want))
	}
	for _, n := range p.NoMatch {
		fmt.Fprintf(w, "  leaves      %s\n", printable(n))
	}
	fmt.Fprintln(w)
}

// try prints the envelope of each line and what the parser makes of the text.
func try(w io.Writer, text []byte) error {
	for line := range strings.Lines(string(text)) {
		body, h := envelope.Peel([]byte(strings.TrimRight(line, "\r\n")))
		fmt.Fprintf(w, "message  %s\n", printable(string(body)))
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
	})
	if n == 0 {
		fmt.Fprintln(w, "nothing is read out of it")
	}
	return err
}

func fields(f parser.Fields) string {
	keys := make([]string, 0, len(f))
	for k := range f {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%s=%s ", k, printable(f[k]))
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
