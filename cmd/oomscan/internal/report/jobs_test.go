package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// brief is a job that died of running out of GPU memory.
func brief(name, series, host string, change ...func(*Brief)) Brief {
	rank := 3
	b := Brief{Job: name, Series: series, Framework: "verl", Causes: []Cause{{
		Verdict: "memory", Kind: "gpu_oom", Resource: "gpu", Phase: "backward", Times: 1, Rank: &rank, Device: &rank, Host: host,
	}}}
	for _, f := range change {
		f(&b)
	}
	return b
}

func survived(b *Brief)              { b.Causes[0].Survived = true }
func suspected(b *Brief)             { b.Causes[0].Verdict = "suspect" }
func of(kind string) func(*Brief)    { return func(b *Brief) { b.Causes[0].Kind = kind } }
func world(n int) func(*Brief)       { return func(b *Brief) { b.World = n } }
func task(array string) func(*Brief) { return func(b *Brief) { b.Batch = array } }

func well(name, series string) Brief { return Brief{Job: name, Series: series, Framework: "verl"} }

func TestWhatToLookAtFirst(t *testing.T) {
	t.Parallel()
	s := Summarize([]Brief{
		brief("survivor", "", "", survived), brief("small", "", "", world(8)), brief("suspect", "", "", suspected), well("well", ""),
		brief("large", "", "", world(64)), brief("first try", "x", ""), brief("second try", "x", ""), brief("kern.log", "", "", func(b *Brief) { b.Node = true }),
	})
	assert.Equal(t, []string{"first try", "second try", "large", "small", "kern.log", "suspect", "survivor"}, s.First)
	assert.Equal(t, []int{7, 4, 1, 1, 1}, []int{s.Jobs, s.Memory, s.Suspect, s.Survived, s.Healthy})
	assert.Equal(t, map[string]int{"verl": 6}, s.Frameworks, "the node's log is no job")
	assert.Equal(t, map[string]int{"gpu_oom": 7}, s.Kinds)
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	twice := func(b *Brief) { b.Causes[0].Times = 2 }
	for _, c := range []struct {
		name string
		jobs []Brief
		want []string
	}{
		{"started again", []Brief{brief("1", "", "", twice), brief("2", "", "")}, []string{"1 restarted 2 of 2"}},
		{"started again and survived", []Brief{brief("1", "", "", twice, survived)}, nil},
		{"submitted again", []Brief{brief("1", "a", ""), brief("2", "a", ""), brief("3", "b", "")}, []string{"a resubmitted 2 of 2"}},
		{"of another cause", []Brief{brief("1", "a", ""), brief("2", "a", "", of("oom_kill"))}, nil},
		{"mostly well", []Brief{brief("1", "a", ""), brief("2", "a", ""), well("3", "a"), well("4", "a"), well("5", "a")}, nil},
		{"well once", []Brief{brief("1", "a", ""), brief("2", "a", ""), well("3", "a")}, []string{"a resubmitted 2 of 3"}},
		{"tasks of an array", []Brief{brief("7_1", "a", "", task("7")), brief("7_2", "a", "", task("7")), brief("7_3", "a", "", task("7"))}, []string{"7 array 3 of 3"}},
		{"two tasks of an array", []Brief{brief("7_1", "a", "", task("7")), brief("7_2", "a", "", task("7"))}, nil},
	} {
		var got []string
		for _, r := range Summarize(c.jobs).Repeats {
			got = append(got, fmt.Sprintf("%s %s %d of %d", r.Work, r.How, r.Times, r.Of))
		}
		assert.Equal(t, c.want, got, c.name)
	}
}

func TestManyRestartedJobsAreOneSentence(t *testing.T) {
	t.Parallel()
	var jobs []Brief
	for i := range 50 {
		jobs = append(jobs, brief(fmt.Sprint(4000+i), "", "", func(b *Brief) { b.Causes[0].Times = 2 }))
	}
	var b bytes.Buffer
	text := NewText(Output{&b, Style{Width: 120}})
	require.NoError(t, text.Begin(&Answer{Several: true, Live: true, Briefs: jobs, Summary: Summarize(jobs)}))
	require.NoError(t, text.End())
	assert.Contains(t, b.String(), "50 jobs were restarted and failed the same way: gpu_oom in backward (4000, 4001,")
	assert.Equal(t, 1, strings.Count(b.String(), "the same way"))
}

func TestJobsAreChosenByOneOfTheirIncidents(t *testing.T) {
	t.Parallel()
	b := brief("1", "", "n1.cluster")
	b.Causes = append(b.Causes, Cause{Kind: "oom_kill", Host: "n2"})
	for q, want := range map[JobQuery]bool{
		{}: true, {Kind: "gpu_oom"}: true, {Kind: "kv_cache"}: false, {Host: "n1"}: true, {Host: "n1.cluster"}: true, {Host: "n"}: false,
		{Kind: "gpu_oom", Host: "n2"}: false, {Kind: "oom_kill", Host: "n2"}: true, {Since: time.Unix(1, 0)}: false,
	} {
		assert.Equal(t, want, q.Takes(&b), q)
	}
	healthy := well("2", "")
	assert.True(t, JobQuery{}.Takes(&healthy))
	assert.False(t, JobQuery{Kind: "gpu_oom"}.Takes(&healthy))
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	var jobs []Brief
	add := func(host string, device int) {
		jobs = append(jobs, brief(fmt.Sprint(len(jobs)), "", host, func(b *Brief) { b.Causes[0].Device = &device }))
	}
	places := func() (out []string) {
		for _, p := range Summarize(jobs).Places {
			s := fmt.Sprintf("%s %d of %d", p.Host, len(p.Jobs), p.Of)
			if p.Device != nil {
				s = fmt.Sprintf("GPU %d of %s", *p.Device, s)
			}
			out = append(out, s)
		}
		return out
	}
	add("n1", 0)
	add("n1", 1)
	add("n2", 0)
	add("n3", 0)
	assert.Empty(t, places(), "two are no pattern")
	add("n1", 2)
	assert.Equal(t, []string{"n1 3 of 5"}, places())
	for range 3 {
		add("n4", 6)
	}
	assert.Equal(t, []string{"GPU 6 of n4 3 of 8"}, places(), "n1 is no longer worse than the others by far, and n4 is its one GPU")
	jobs = nil
	for i := range 40 {
		add(fmt.Sprintf("n%d", i%10), i%8)
	}
	assert.Empty(t, places(), "all have their share")
}

func TestTableFitsItsTerminal(t *testing.T) {
	t.Parallel()
	jobs := []Brief{brief("runs/alice/a-rather-long-name-of-an-experiment/2026-01-02/10-11-12", "", "gpu-node-with-a-long-name-0042.cluster.example.org", of("gpu_driver_oom"))}
	for i := range 60 {
		jobs = append(jobs, brief(fmt.Sprint(4000+i), "", "n1\x1b[31m"))
	}
	sum := Summarize(jobs)
	for _, width := range []int{60, 80, 120, 200} {
		var b bytes.Buffer
		text := NewText(Output{&b, Style{Width: width}})
		require.NoError(t, text.Begin(&Answer{Several: true, Live: true, Briefs: jobs, Summary: sum, Inputs: 1200, Again: "oomscan --job NAME logs"}))
		require.NoError(t, text.End())
		for line := range strings.Lines(b.String()) {
			assert.LessOrEqual(t, measure(strings.TrimSuffix(line, "\n")), width, line)
		}
		assert.NotContains(t, b.String(), "\x1b")
		assert.Contains(t, b.String(), "and 21 more jobs with incidents")
		assert.Contains(t, b.String(), "4001")
	}
}

func TestJobsJSONIsOneDocument(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ jobs, shared int }{{0, 0}, {2, 0}, {2, 2}} {
		var b bytes.Buffer
		doc := NewJSON(Output{Writer: &b})
		require.NoError(t, doc.Begin(&Answer{Several: true, Version: "v", Summary: Summarize(nil)}))
		for i := range c.jobs {
			require.NoError(t, doc.Job(&Job{Name: fmt.Sprint(i), Why: "why", Report: &Report{}}))
		}
		for i := range c.shared {
			require.NoError(t, doc.Job(&Job{Name: fmt.Sprint(i), Why: "why", Shared: true, Report: &Report{}}))
		}
		require.NoError(t, doc.End())
		var plain bytes.Buffer
		require.NoError(t, json.Indent(&plain, b.Bytes(), "", "  "))
		assert.Equal(t, plain.String(), b.String(), "indented as a whole")
		var got map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(b.Bytes(), &got))
		for _, key := range []string{"schema", "version", "inputs", "jobs", "unattributed", "summary", "partial", "stats"} {
			assert.Contains(t, got, key)
			assert.NotEqual(t, "null", string(got[key]), key)
		}
		var list []any
		require.NoError(t, json.Unmarshal(got["jobs"], &list))
		assert.Len(t, list, c.jobs)
	}
}
