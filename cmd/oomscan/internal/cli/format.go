package cli

import (
	"slices"

	"oomscan/cmd/oomscan/internal/report"
)

// defaultFormat is for people.
const defaultFormat = "text"

// format is what a word of --format stands for: the reporter that writes a report, or a run without a report.
type format struct {
	reporter func(report.Output) report.Reporter
	run      func(o *options, paths []string, s Streams) (int, error)
}

// formats returns what the words of --format stand for.
func formats() map[string]format {
	return map[string]format{
		defaultFormat: {reporter: report.NewText},
		"json":        {reporter: report.NewJSON},
		"ndjson":      {reporter: report.NewNDJSON},
		formatObs:     {run: (*options).observe},
	}
}

// formatNames returns the words of --format. merge makes reports only.
func formatNames(merging bool) []string {
	var names []string
	for name, f := range formats() {
		if f.reporter != nil || !merging {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// style is how text is laid out for this output.
func (o *options) style(s Streams) report.Style {
	st := report.Style{Width: s.Width}
	switch o.color {
	case "always":
		st.Color = true
	case "auto":
		st.Color = s.OutTerminal && o.output == "" && s.Env("NO_COLOR") == "" && s.Env("TERM") != "dumb"
	}
	return st
}
