package cli

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
	all := map[string]format{formatObs: {run: (*options).observe}}
	for name, of := range report.Formats() {
		all[name] = format{reporter: of}
	}
	return all
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
	st := report.Style{Width: s.Width, Full: o.full, ASCII: !s.OutTerminal || o.output != "" || s.Env("TERM") == "dumb" || !utf8Locale(s.Env)}
	if n, err := strconv.Atoi(s.Env("COLUMNS")); err == nil && n > 0 && !s.OutTerminal {
		st.Width = n
	}
	if s.OutTerminal && o.output == "" && showsLinks(s.Env) {
		st.Link = fileLink
	}
	switch o.color {
	case "always":
		st.Color = true
	case "auto":
		st.Color = s.OutTerminal && o.output == "" && s.Env("NO_COLOR") == "" && s.Env("TERM") != "dumb"
	}
	return st
}

// utf8Locale reports whether the locale's characters are UTF-8 (setlocale(3): the first of these that is set decides).
func utf8Locale(env func(string) string) bool {
	locale := strings.ToLower(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// showsLinks reports whether the terminal is known to show OSC 8 links. Others may print them as text.
func showsLinks(env func(string) string) bool {
	if env("TMUX") != "" || env("STY") != "" {
		return false // the multiplexer decides, and does not say
	}
	vte, _ := strconv.Atoi(env("VTE_VERSION"))
	return vte >= 5000 || env("KITTY_WINDOW_ID") != "" || env("WT_SESSION") != "" ||
		slices.Contains([]string{"iTerm.app", "WezTerm", "vscode", "ghostty"}, env("TERM_PROGRAM"))
}

// fileLink is the address of a log, empty for a member of an archive, which no program can open by its name.
func fileLink(name string) string {
	path, err := filepath.Abs(name)
	if err != nil || strings.Contains(name, "!") || name == "-" {
		return ""
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
