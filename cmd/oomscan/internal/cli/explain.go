package cli

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// explainFiles explain the words of reports: a file a group, and in it a section a word.
//
//go:embed explain/*.md
var explainFiles embed.FS

// explanation is a section of these files.
type explanation struct {
	group string // kind, phase, cause
	word  string
	text  string // with its heading
}

// explanations are all sections, in the order of the files.
func explanations() []explanation {
	var out []explanation
	for _, group := range []string{"kind", "phase", "cause"} {
		text, _ := explainFiles.ReadFile("explain/" + group + "s.md") // it is embedded
		for _, section := range strings.Split(string(text), "\n## ")[1:] {
			word, _, _ := strings.Cut(section, ":")
			out = append(out, explanation{group, word, strings.TrimSpace(section) + "\n"})
		}
	}
	return out
}

// explainCmd says what a word of a report means.
func explainCmd(s Streams) *cobra.Command {
	var words []string
	for _, e := range explanations() {
		words = append(words, e.word)
	}
	return &cobra.Command{
		Use:   "explain [KIND | PHASE | CAUSE]",
		Short: "Say what a word of a report means, how it is recognized, and what helps",
		Long: `explain says in half a page what a kind of failure, a phase or a cause is, how oomscan
recognizes it, and what helps. Without a word it lists them all.`,
		Example: `  oomscan explain oom_kill
  oomscan explain logits`,
		Args:      atMostOne("word"),
		ValidArgs: words,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return s.atOnce(listExplanations)
			}
			word, ok := resolve(args[0], words)
			if !ok {
				return problem{where: "explain " + args[0], what: "not a kind, phase or cause", hint: hintFor(word, words, "oomscan explain lists them")}
			}
			return s.atOnce(func(w io.Writer) {
				gap := ""
				for _, e := range explanations() {
					if e.word == word { // a phase and a cause may have the same name
						fmt.Fprintf(w, "%s%s %s", gap, e.group, e.text)
						gap = "\n"
					}
				}
			})
		},
	}
}

// listExplanations writes a line a word.
func listExplanations(w io.Writer) {
	group := ""
	for _, e := range explanations() {
		if e.group != group {
			group = e.group
			fmt.Fprintf(w, "%s\n", strings.ToUpper(group))
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(e.text, e.word+": "), "\n")
		fmt.Fprintf(w, "  %-23s %s\n", e.word, title)
	}
}
