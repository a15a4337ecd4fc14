package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"oomscan/cmd/oomscan/internal/report"
)

func schemaCmd(s Streams) *cobra.Command {
	names := report.SchemaNames()
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of a report, or of another document for programs",
		Long: `schema prints the JSON Schema (draft 2020-12) of a document that oomscan writes:

  report   oomscan --format json, one job or several (the default)
  ndjson   a line of oomscan --format ndjson
  guide    oomscan guide --format json
  plan     oomscan plan --format json

Later versions may add keys, and words of frameworks and rules: let them pass.`,
		Example:   "  oomscan schema > report.schema.json",
		Args:      atMostOne("NAME"),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			name := "report"
			if len(args) > 0 {
				var ok bool
				if name, ok = resolve(args[0], names); !ok {
					return problem{where: "schema " + args[0], what: "there is no schema of that name", hint: hintFor(name, names, "")}
				}
			}
			enc := json.NewEncoder(s.Out)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			return enc.Encode(report.SchemaOf(name))
		},
	}
}
