package epilog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"oomscan/parser/lazyre"
)

// series are a textfile's counters, by name with labels.
type series map[string]float64

const (
	jobsTotal      = "oomscan_epilog_jobs_total"
	secondsTotal   = "oomscan_epilog_seconds_total"
	incidentsTotal = "oomscan_incidents_total"
)

// counters lists the counters in the order of the file.
var counters = []struct{ name, help string }{
	{jobsTotal, "Jobs whose epilog ran, by result: clean, suspect, memory."},
	{secondsTotal, "Time that the epilogs took."},
	{incidentsTotal, "Incidents found in the logs of jobs that ended on this node."},
}

var sampleLine = lazyre.New(`^((?:` + jobsTotal + `|` + secondsTotal + `|` + incidentsTotal + `)` +
	`(?:\{(?:[a-z_]{1,20}="[a-z_]{1,40}",?){1,6}\})?) ([0-9.e+]{1,30})$`)

// readSeries reads a file written by [series.text]. It drops all other lines, because node_exporter would reject the
// whole file for one of them.
func readSeries(text string) series {
	s := series{}
	for line := range strings.Lines(text) {
		m := sampleLine().FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		if v, err := strconv.ParseFloat(m[2], 64); err == nil && v >= 0 && v < 1e15 {
			s[m[1]] = v
		}
	}
	return s
}

// add counts one job. All labels are words of fixed vocabularies, nothing that a user wrote.
func (s series) add(result string, list []Finding, took time.Duration) {
	s[fmt.Sprintf(`%s{result="%s"}`, jobsTotal, result)]++
	s[secondsTotal] += took.Seconds()
	for _, f := range list {
		s[fmt.Sprintf(`%s{verdict="%s",kind="%s",phase="%s",framework="%s"}`, incidentsTotal, f.Verdict, f.Kind, f.Phase, f.Framework)]++
	}
}

// text returns the file in Prometheus's text format, in a fixed order.
func (s series) text() string {
	names := slices.Sorted(maps.Keys(s))
	var b strings.Builder
	for _, m := range counters {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s counter\n", m.name, m.help, m.name)
		for _, n := range names {
			if base, _, _ := strings.Cut(n, "{"); base == m.name {
				fmt.Fprintf(&b, "%s %s\n", n, strconv.FormatFloat(s[n], 'g', -1, 64))
			}
		}
	}
	return b.String()
}
