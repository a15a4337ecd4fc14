package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// written is what a reporter makes of reports: one job, or several with names.
func written(t testing.TB, reporter func(Output) Reporter, reports ...*Report) []byte {
	t.Helper()
	var b bytes.Buffer
	m := reporter(Output{Writer: &b})
	require.NoError(t, m.Begin(&Answer{Version: "v1", Several: len(reports) > 1, Inputs: len(reports)}))
	for i, r := range reports {
		j := Job{Report: r}
		if len(reports) > 1 {
			j.Name = fmt.Sprintf("job %d", i)
		}
		require.NoError(t, m.Job(&j))
	}
	require.NoError(t, m.End())
	return b.Bytes()
}

// inputsForCI are single reports, all of them together, a hostile one, and one of thousands of incidents.
func inputsForCI(t testing.TB) map[string][]*Report {
	t.Helper()
	in := map[string][]*Report{"hostile": {hostile()}, "healthy": {{Run: Run{Framework: "verl"}}}, "nothing": {}}
	for name, r := range samples(t) {
		in[name] = []*Report{r}
		in["all"] = append(in["all"], r)
	}
	many, most := *samples(t)["gpu_oom"], 5000
	if testing.Short() { // the race detector makes it slow
		most = 500
	}
	for len(many.Incidents) < most {
		many.Incidents = append(many.Incidents, many.Incidents[0])
	}
	in["many"] = []*Report{&many}
	return in
}

// TestSARIFHasAResultForEachIncident checks what the schema of SARIF 2.1.0 asks of the keys that are used.
func TestSARIFHasAResultForEachIncident(t *testing.T) {
	t.Parallel()
	for name, reports := range inputsForCI(t) {
		var log struct {
			Schema  string `json:"$schema"`
			Version string `json:"version"`
			Runs    []struct {
				Tool    sarifTool     `json:"tool"`
				Results []sarifResult `json:"results"`
			} `json:"runs"`
		}
		strict := json.NewDecoder(bytes.NewReader(written(t, NewSARIF, reports...)))
		strict.DisallowUnknownFields()
		require.NoError(t, strict.Decode(&log), name)
		assert.Equal(t, "2.1.0", log.Version)
		require.Len(t, log.Runs, 1, name)
		run, n := log.Runs[0], 0
		require.NotNil(t, run.Results, name)
		for _, rule := range run.Tool.Driver.Rules {
			assert.NotEmpty(t, rule.Short.Text, rule.ID)
		}
		for _, r := range reports {
			for i := range r.Incidents {
				in, x := &r.Incidents[i], run.Results[n]
				assert.Equal(t, in.Kind, x.Rule, name)
				assert.Equal(t, in.Verdict == "memory" && !in.Survived, x.Level == "error", name)
				assert.Contains(t, []string{"error", "warning", "note"}, x.Level, name)
				assert.True(t, in.Summary == "" || x.Message.Text != "", name)
				require.Len(t, x.Locations, 1, name)
				for k := range x.Related {
					assert.NotContains(t, x.Related[:k], x.Related[k], "%s: the schema wants them unique", name)
				}
				for _, at := range append(x.Related, x.Locations...) {
					_, err := url.Parse(at.Place.Artifact.URI)
					assert.NoError(t, err, name)
					assert.True(t, at.Place.Region == nil || at.Place.Region.Start >= 1, name)
				}
				n++
			}
		}
		assert.Len(t, run.Results, n, name)
	}
}

// TestSARIFFitsItsSchema validates with the schema of OASIS, which is not in this repository: OOMSCAN_SARIF_SCHEMA names the file
// sarif-schema-2.1.0.json.
func TestSARIFFitsItsSchema(t *testing.T) {
	t.Parallel()
	name := os.Getenv("OOMSCAN_SARIF_SCHEMA")
	if name == "" {
		t.Skip("OOMSCAN_SARIF_SCHEMA names no schema of SARIF")
	}
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("sarif.json", doc))
	schema, err := c.Compile("sarif.json")
	require.NoError(t, err)
	for name, reports := range inputsForCI(t) {
		got, err := jsonschema.UnmarshalJSON(bytes.NewReader(written(t, NewSARIF, reports...)))
		require.NoError(t, err)
		assert.NoError(t, schema.Validate(got), name)
	}
}

func TestJUnitCountsWhatFailed(t *testing.T) {
	t.Parallel()
	for name, reports := range inputsForCI(t) {
		var got struct {
			XMLName xml.Name     `xml:"testsuites"`
			Suites  []junitSuite `xml:"testsuite"`
		}
		require.NoError(t, xml.Unmarshal(written(t, NewJUnit, reports...), &got), name)
		require.Len(t, got.Suites, len(reports), name)
		for i, s := range got.Suites {
			died, unread := 0, len(failures(reports[i]))
			for k := range reports[i].Incidents {
				if in := &reports[i].Incidents[k]; in.Verdict == "memory" && !in.Survived {
					died++
				}
			}
			assert.Equal(t, died, s.Failures, name)
			assert.Equal(t, unread, s.Errors, name)
			assert.Len(t, s.Cases, max(len(reports[i].Incidents)+unread, 1), name)
			assert.Equal(t, len(s.Cases), s.Tests, name)
		}
	}
}

var (
	promComment = regexp.MustCompile(`^# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.+)$`)
	promSample  = regexp.MustCompile(`^([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_][a-z0-9_]*="(?:[^"\\]|\\[\\"n])*",?)+)\})? (\d+)$`)
)

// TestCountersAreAnExposition checks what promtool check metrics does: help and type before the samples of a metric, all of
// them together, labels escaped, no series twice, counters that end in _total.
func TestCountersAreAnExposition(t *testing.T) {
	t.Parallel()
	for name, reports := range inputsForCI(t) {
		text := string(written(t, NewProm, reports...))
		problems, err := promlint.New(strings.NewReader(text)).Lint() // what promtool check metrics runs
		require.NoError(t, err, name)
		assert.Empty(t, problems, name)
		require.True(t, strings.HasSuffix(text, "\n"), name)
		help, kind, seen, current, total := map[string]bool{}, map[string]bool{}, map[string]bool{}, "", 0
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			if m := promComment.FindStringSubmatch(line); m != nil {
				set := help
				if m[1] == "TYPE" {
					set = kind
					assert.Equal(t, "counter", m[3])
				}
				assert.False(t, set[m[2]], "%s: %s twice", name, line)
				set[m[2]], current = true, m[2]
				continue
			}
			m := promSample.FindStringSubmatch(line)
			require.NotNil(t, m, "%s: %q", name, line)
			assert.Equal(t, current, m[1], "a sample below the head of another metric")
			assert.True(t, help[m[1]] && kind[m[1]] && strings.HasSuffix(m[1], "_total"), line)
			series := m[1] + "{" + m[2]
			assert.False(t, seen[series], "%s: %s twice", name, series)
			seen[series] = true
			if m[1] == "oomscan_incidents_total" {
				n := 0
				_, err := fmt.Sscan(m[3], &n)
				require.NoError(t, err)
				total += n
			}
		}
		want := 0
		for _, r := range reports {
			want += len(r.Incidents)
		}
		assert.Equal(t, want, total, name)
	}
}

// TestTheDashboardShowsCountersThatExist holds the queries of fixtures/grafana to the metrics and labels that are written.
func TestTheDashboardShowsCountersThatExist(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../../fixtures/grafana/oomscan.json")
	require.NoError(t, err)
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(raw, &d))
	require.NotEmpty(t, d.Panels)
	for _, p := range d.Panels {
		require.Len(t, p.Targets, 1, p.Title)
		for _, m := range regexp.MustCompile(`oomscan_[a-z_]+`).FindAllString(p.Targets[0].Expr, -1) {
			assert.Contains(t, promHelp, m, p.Title)
		}
		for _, m := range regexp.MustCompile(`(?:by \(|[{,])([a-z]+)(?:\)|=)`).FindAllStringSubmatch(p.Targets[0].Expr, -1) {
			assert.Contains(t, promLabels{}.String(), m[1]+`="`, p.Title)
		}
	}
}
