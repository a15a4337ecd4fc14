package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// NewProm returns the reporter of counters in the exposition format of Prometheus, for the textfile collector of
// node_exporter: what was found in the logs that were given.
func NewProm(o Output) Reporter {
	return &prom{out: o.Writer, incidents: map[promLabels]int{}}
}

type prom struct {
	out       io.Writer
	answer    *Answer
	jobs      int
	incidents map[promLabels]int
}

// promLabels tell counters apart. There are few of each, whatever the number of jobs.
type promLabels struct {
	verdict, kind, phase, framework, cause, host string
	survived                                     bool
}

func (l promLabels) String() string {
	labels := []string{"verdict", l.verdict, "kind", l.kind, "phase", l.phase, "framework", l.framework, "cause", l.cause, "host", l.host}
	var b strings.Builder
	for i := 0; i < len(labels); i += 2 {
		fmt.Fprintf(&b, `%s="%s",`, labels[i], promEscape.Replace(printableText(labels[i+1])))
	}
	return fmt.Sprintf(`%ssurvived="%t"`, &b, l.survived)
}

// promEscape writes a label's value.
var promEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// Begin implements [Reporter].
func (p *prom) Begin(a *Answer) error { p.answer = a; return nil }

// Job implements [Reporter].
func (p *prom) Job(j *Job) error {
	if !j.Shared {
		p.jobs++
	}
	for i := range j.Report.Incidents {
		in := &j.Report.Incidents[i]
		l := promLabels{
			verdict: in.Verdict, kind: in.Kind, phase: in.Phase, framework: j.Report.Run.Framework, cause: "unknown",
			host: deref(in.Root.Host), survived: in.Survived,
		}
		if in.Cause != nil {
			l.cause = in.Cause.ID
		}
		p.incidents[l]++
	}
	return nil
}

// End implements [Reporter].
func (p *prom) End() error {
	var b strings.Builder
	head := func(name string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s counter\n", name, promHelp[name], name) }
	head("oomscan_incidents_total")
	for _, l := range slices.SortedFunc(maps.Keys(p.incidents), func(x, y promLabels) int { return cmp.Compare(x.String(), y.String()) }) {
		fmt.Fprintf(&b, "oomscan_incidents_total{%s} %d\n", l, p.incidents[l])
	}
	for _, x := range []struct {
		name  string
		value int64
	}{
		{"oomscan_jobs_total", int64(p.jobs)},
		{"oomscan_inputs_total", int64(p.answer.Inputs)},
		{"oomscan_unread_inputs_total", int64(len(p.answer.Failed))},
		{"oomscan_read_bytes_total", p.answer.Stats.Bytes},
	} {
		head(x.name)
		fmt.Fprintf(&b, "%s %d\n", x.name, x.value)
	}
	_, err := io.WriteString(p.out, b.String())
	return err
}
