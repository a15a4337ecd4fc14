package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"oomscan/parser/source"
)

// folded is a word without what users mix up: case, dashes and underscores.
func folded(word string) string { return strings.ReplaceAll(strings.ToLower(word), "_", "-") }

// resolve returns the word of a list that is meant by one in another case, or with dashes for underscores.
func resolve(word string, words []string) (string, bool) {
	i := slices.IndexFunc(words, func(w string) bool { return folded(w) == folded(word) })
	if i < 0 {
		return word, false
	}
	return words[i], true
}

// nearest returns the words that a mistyped one may stand for: the closest spelling, or the words that it is a part of.
func nearest(word string, words []string) []string {
	forms := make([]string, len(words))
	for i, w := range words {
		forms[i] = folded(w)
	}
	if near, ok := source.Closest(folded(word), forms); ok {
		return []string{words[slices.Index(forms, near)]}
	}
	var out []string
	for i, form := range forms {
		if len(word) > 2 && strings.Contains(form, folded(word)) {
			out = append(out, words[i])
		}
	}
	return out
}

// fewWords is how many words a hint lists.
const fewWords = 15

// hintFor says which of the words a mistyped one may stand for. Where none is near, it lists them if they are few, and says
// how to list them otherwise.
func hintFor(word string, words []string, listing string) string {
	if near := nearest(word, words); len(near) > 0 && len(near) <= fewWords {
		for i := range near {
			near[i] = fmt.Sprintf("%q", near[i])
		}
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	if len(words) <= fewWords || listing == "" {
		return "one of " + strings.Join(words, ", ")
	}
	return listing
}

// choice is a flag's value and the words that it takes. An empty value is always one.
type choice struct {
	flag  string
	value *string
	words []string
}

// oneOf spells the values of flags as their lists of words do, and refuses those that are in none.
func oneOf(choices ...choice) error {
	for _, c := range choices {
		word, ok := resolve(*c.value, c.words)
		if !ok && word != "" {
			return problem{where: c.flag, what: fmt.Sprintf("unknown value %q", word), hint: hintFor(word, c.words, "")}
		}
		*c.value = word
	}
	return nil
}

// suggestFlags makes flags forgiving: case and underscores do not matter, and an unknown one is answered with the flag that was
// meant, or with the commands that have it.
func suggestFlags(root *cobra.Command) {
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(folded(name))
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		p := problem{what: err.Error(), hint: cmd.CommandPath() + " --help lists the flags"}
		var invalid *pflag.InvalidValueError
		if errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "int" {
			return problem{where: "--" + invalid.GetFlag().Name, what: fmt.Sprintf("%q is not a whole number", invalid.GetValue()), hint: p.hint}
		}
		var unknown *pflag.NotExistError
		if !errors.As(err, &unknown) {
			return p
		}
		name := unknown.GetSpecifiedName()
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		var others []string
		for _, c := range append(root.Commands(), root) {
			if c != cmd && c.Flags().Lookup(name) != nil {
				others = append(others, c.CommandPath())
			}
		}
		switch near := nearest(name, names); {
		case len(near) > 0 && len(name) > 1:
			p.hint = "did you mean --" + strings.Join(near, " or --") + "?"
		case len(others) > 0:
			p.hint = fmt.Sprintf("--%s is a flag of %s", name, strings.Join(others, " and "))
		}
		return p
	})
}

// atMostOne refuses a second argument of a command, and says what the command takes.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return problem{where: cmd.Name(), what: fmt.Sprintf("takes one %s, not %d arguments", what, len(args)), hint: cmd.CommandPath() + " --help shows how to call it"}
		}
		return nil
	}
}
