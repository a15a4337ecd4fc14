package cli

import (
	"embed"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// topicFiles are the help topics: a file a topic.
//
//go:embed help/*.md
var topicFiles embed.FS

func topics() []string {
	files, _ := topicFiles.ReadDir("help") // it is embedded
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".md")
	}
	return names
}

// helpCmd shows a topic, or the help of a command. The topics are no commands, for then no folder could have their names.
func helpCmd(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:       "help [COMMAND | TOPIC]",
		Short:     "Help about a command or a topic",
		ValidArgs: topics(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Contains(topics(), args[0]) {
				text, err := topicFiles.ReadFile(path.Join("help", args[0]+".md"))
				if err != nil {
					return err
				}
				_, err = s.Out.Write(text)
				return err
			}
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noTopic(cmd.Root(), strings.Join(args, " "))
			}
			return found.Help()
		},
	}
}

// noTopic is the complaint about a word that is neither a command nor a topic.
func noTopic(root *cobra.Command, word string) error {
	names := topics()
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return problem{where: "help " + word, what: "no such command or topic", hint: hintFor(word, names, "")}
}
