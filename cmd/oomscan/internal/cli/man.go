package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func manCmd(s Streams) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man",
		Short: "Write the manual page",
		Long: `man writes the manual page, made from the help of all commands: to standard output, or
as oomscan.1 into the folder of -o.`,
		Example: `  oomscan man | man -l -
  oomscan man -o ~/.local/share/man/man1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := manual(cmd.Root())
			if dir == "" {
				_, err := io.WriteString(s.Out, text)
				return err
			}
			path := filepath.Join(dir, "oomscan.1")
			err := os.MkdirAll(dir, 0o755)
			if err == nil {
				err = os.WriteFile(path, []byte(text), 0o644)
			}
			if err != nil {
				return problem{where: path, what: "cannot be written: " + cause(err), hint: "choose another folder with -o"}
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "write to the folder `DIR` instead of standard output")
	return cmd
}

// describeCompletion says in the help of cobra's completion command how to install the scripts and the manual page.
func describeCompletion(root *cobra.Command) {
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	cmd.Short = "Print a script that lets the Tab key complete commands, flags and names"
	cmd.Long = `completion prints a script for your shell: with it, the Tab key completes commands,
flags and their values, and the names of guides, rules and jobs. New shells load it
from where the examples put it.`
	cmd.Example = `  oomscan completion bash > ~/.local/share/bash-completion/completions/oomscan
  oomscan man -o ~/.local/share/man/man1

  oomscan completion zsh > "${fpath[1]}/_oomscan"
  oomscan completion fish > ~/.config/fish/completions/oomscan.fish`
}

// manual is the manual page in man(7): the root command, then a section for each other one.
func manual(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH OOMSCAN 1\n.ad l\n.SH NAME\n%s \\- %s\n", root.Name(), roff(root.Short))
	manCommand(&b, root, func(title string) string { return ".SH " + strings.ToUpper(title) })
	b.WriteString(".SH COMMANDS\n")
	var below func(c *cobra.Command)
	below = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".SS %s\n", roff(sub.CommandPath()))
				manCommand(&b, sub, func(string) string { return ".PP" })
				below(sub)
			}
		}
	}
	below(root)
	return b.String()
}

// manCommand writes what the help of a command says, each part below what heading makes of its title.
func manCommand(b *strings.Builder, c *cobra.Command, heading func(title string) string) {
	fmt.Fprintf(b, "%s\n.B %s\n", heading("synopsis"), roff(c.UseLine()))
	fmt.Fprintf(b, "%s\n", heading("description"))
	manLines(b, cmp.Or(c.Long, c.Short))
	if c.LocalFlags().HasAvailableFlags() {
		fmt.Fprintf(b, "%s\n", heading("options"))
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fP \\fI%s\\fP\n%s\n", roff(name), roff(value), strings.ReplaceAll(roff(strings.ReplaceAll(usage, "|\n", "|")), "|", `|\:`))
	})
	if c.Example != "" {
		fmt.Fprintf(b, "%s\n", heading("examples"))
		manLines(b, c.Example)
	}
}

// manLines writes a text as it is laid out.
func manLines(b *strings.Builder, text string) {
	fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff(text))
}

// roff escapes a text: what begins a request, hyphens that one copies, and the escape character itself.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	for _, sign := range []string{".", "'"} {
		text = strings.ReplaceAll("\n"+text, "\n"+sign, "\n\\&"+sign)[1:]
	}
	return text
}
