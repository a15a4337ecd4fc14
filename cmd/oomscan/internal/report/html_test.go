package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/remedies/memory"
)

// htmlPage is the page of a report.
func htmlPage(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	h := NewHTML(Output{Writer: &b})
	require.NoError(t, h.Begin(&Answer{Version: "v1.0.0"}))
	require.NoError(t, h.Job(&Job{Report: r}))
	require.NoError(t, h.End())
	return b.String()
}

func TestThePageHoldsTheAnswerInTheTextReportsWords(t *testing.T) {
	t.Parallel()
	for name, r := range samples(t) {
		got := htmlPage(t, r)
		for i := range r.Incidents {
			in := &r.Incidents[i]
			_, word := verdict(in)
			assert.Contains(t, got, word, name)
			for k := range in.Proposals {
				for _, c := range in.Proposals[k].Changes {
					if c.Snippet != "" && !strings.ContainsAny(c.Snippet, "<>&\"'+`\n") {
						assert.Contains(t, got, c.Snippet, name)
					}
				}
			}
		}
	}
}

func TestThePageSaysWhetherTheLogShowsWhatASettingWas(t *testing.T) {
	t.Parallel()
	eight, none := "8", "None"
	for _, c := range []struct {
		name, computed string
		from           *string
		want           string
	}{
		{"a value of the log", "8 / 4 = 2", &eight, "was 8"},
		{"a setting that the log shows unset", "", &none, "was not set"},
		{"a default", "8 by default: 8 / 4 = 2", &eight, "not in the log; default: 8"},
		{"a default of some versions", "8 by default in recent versions: 8 / 4 = 2", &eight, "not in the log; recent default: 8"},
		{"nothing known", "", nil, ""},
	} {
		x := &Proposal{Changes: []Change{{Key: "num_workers", Snippet: "num_workers=2", From: c.from, ComputedFrom: c.computed}}}
		assert.Equal(t, c.want, htmlProposalOf(&Incident{}, x).Snippets[0].Was, c.name)
	}
}

// tags are all that the page's own template may open.
var tags = regexp.MustCompile(`<\s*/?\s*([a-zA-Z][a-zA-Z0-9]*)`)

func TestAHostileReportAddsNoMarkupAndNoRequests(t *testing.T) {
	t.Parallel()
	r := hostile()
	evil := `<script src="https://evil.example/x.js"></script><img src=x onerror=alert(1)>"'><a href="javascript:alert(1)">`
	for i := range r.Incidents {
		in := &r.Incidents[i]
		in.Summary, in.Root.Message, in.Root.File = evil, evil, evil
		for k := range in.Remedies {
			in.Remedies[k].Title, in.Remedies[k].Source.URL = evil, &evil
		}
		for k := range in.Proposals {
			in.Proposals[k].Text = evil
		}
	}
	got := htmlPage(t, r)
	assert.NotContains(t, got, "<script src")
	assert.NotContains(t, got, "<img")
	assert.NotContains(t, got, `href="javascript:`)
	assert.Equal(t, 1, strings.Count(got, "<script"), "the page's own")
	own := map[string]bool{}
	for _, m := range tags.FindAllStringSubmatch(pageTemplate, -1) {
		own[strings.ToLower(m[1])] = true
	}
	for _, m := range tags.FindAllStringSubmatch(got, -1) {
		assert.True(t, own[strings.ToLower(m[1])], m[0])
	}
}

// TestTheTimelineShowsWhatFollowed draws along time where the log has it, else along the lines of the root's file.
func TestTheTimelineShowsWhatFollowed(t *testing.T) {
	t.Parallel()
	at := func(s int) *time.Time { x := time.Date(2026, 5, 24, 19, 0, s, 0, time.UTC); return &x }
	followed := []Consequence{
		{Kind: "process_exit", File: "a.log", Line: 60, Rank: new(3), Time: at(30)},
		{Kind: "nccl_failure", File: "a.log", Line: 50, Rank: new(3), Time: at(10)},
		{Kind: "process_exit", File: "b.log", Line: 70, Rank: new(4)},
		{Kind: "process_exit", File: "a.log", Line: 10, Rank: new(5), Time: at(-9)},
	}
	var run Run
	byLine := timelineOf(&run, &Incident{Kind: "gpu_oom", Phase: "backward", Root: Root{File: "a.log", Line: 40, Rank: new(2)}, Consequences: followed})
	require.NotNil(t, byLine)
	require.Len(t, byLine.Rows, 2, "another file's lines are on no axis, and what stands before did not follow")
	assert.Equal(t, "rank 2: out of GPU memory", byLine.Rows[0].Label)
	assert.Equal(t, []htmlBand{{Width: rootFirst, Class: "p-backward", Text: "in the backward pass"}}, byLine.Rows[0].Bands)
	assert.InDelta(t, lastPercent, byLine.Rows[1].Marks[0], 0.01)
	assert.InDelta(t, (rootFirst+lastPercent)/2.0, byLine.Rows[1].Marks[1], 0.01)
	assert.Contains(t, byLine.Caption, "lines 40 to 60 of a.log")

	byTime := timelineOf(&run, &Incident{Kind: "gpu_oom", Root: Root{File: "c.log", Line: 40, Time: at(0)}, Consequences: followed})
	require.NotNil(t, byTime)
	assert.InDelta(t, rootFirst+(lastPercent-rootFirst)/3.0, byTime.Rows[1].Marks[1], 0.01)
	assert.Empty(t, byTime.Phases, "an unknown phase has no band")

	assert.Nil(t, timelineOf(&run, &Incident{Kind: "gpu_oom", Root: Root{File: "c.log", Line: 40}, Consequences: followed}), "no axis: no drawing")
}

// TestTheTimelineHasABandForEachPhase is about what came before the first failure: its scale is its own.
func TestTheTimelineHasABandForEachPhase(t *testing.T) {
	t.Parallel()
	at := func(s int) *time.Time { x := time.Date(2026, 5, 24, 19, 0, s, 0, time.UTC); return &x }
	phases := []PhaseTrack{
		{File: "a.log", Rank: new(2), Host: new("n1"), Changes: []PhaseChange{{Phase: new("rollout"), Line: 10, Time: at(0)}, {Phase: new("logprob"), Line: 20, Time: at(20)}, {Line: 30, Time: at(25)}}},
		{File: "a.log", Process: new("TaskRunner"), Changes: []PhaseChange{{Phase: new("training"), Line: 35, Time: at(30)}}},
		{File: "b.log", Changes: []PhaseChange{{Phase: new("init"), Line: 1}}},
	}
	in := Incident{Kind: "gpu_oom", Root: Root{File: "a.log", Line: 50, Rank: new(2), Host: new("n1"), Time: at(40)}}

	alone := timelineOf(&Run{Phases: phases}, &in)
	require.NotNil(t, alone, "phases are worth a drawing when nothing followed")
	require.Len(t, alone.Rows, 2, "a file without stamps is on no axis of time")
	assert.InDelta(t, rootLast, alone.RootX, 0.01)
	assert.Equal(t, []htmlBand{
		{X: 0, Width: rootLast / 2.0, Class: "p-rollout", Text: "rollout"},
		{X: rootLast / 2.0, Width: rootLast / 8.0, Class: "p-logprob", Text: "log-prob"},
	}, alone.Rows[0].Bands, "the phases of the rank that failed; the last one was over before")
	assert.Equal(t, "TaskRunner", alone.Rows[1].Label)
	assert.InDelta(t, rootLast/4.0, alone.Rows[1].Bands[0].Width, 0.01, "nothing ended it before the failure")
	assert.Contains(t, alone.Caption, "from 2026-05-24")
	assert.False(t, alone.Followed)

	in.Consequences = []Consequence{{Kind: "process_exit", File: "a.log", Line: 60, Rank: new(5), Time: at(41)}}
	followed := timelineOf(&Run{Phases: phases}, &in)
	assert.InDelta(t, rootMiddle, followed.RootX, 0.01, "40 seconds before it and one after it share the width")
	assert.InDelta(t, lastPercent, followed.Rows[2].Marks[0], 0.01)

	in.Root.Time = at(5)
	byLine := timelineOf(&Run{Phases: phases}, &in)
	assert.Contains(t, byLine.Caption, "lines 10 to 50", "a clock that runs against the lines is no axis")
}

// TestReadingsAreDrawnOverTheirSteps draws a line a writer, on one scale.
func TestReadingsAreDrawnOverTheirSteps(t *testing.T) {
	t.Parallel()
	points := func(gib ...int64) (out []Reading) {
		for i, n := range gib {
			out = append(out, Reading{Line: 10 * (i + 1), Step: new(i), Bytes: n << 30})
		}
		return out
	}
	r := Report{
		Run: Run{Readings: []Readings{
			{Name: "reading.card", Measure: "allocated", Resource: "gpu", File: "a.log", Rank: new(0), Grows: true, Points: points(10, 20, 40)},
			{Name: "reading.card", Measure: "allocated", Resource: "gpu", File: "a.log", Rank: new(1), Points: points(20, 20, 20)},
			{Name: "reading.host", Measure: "used", Resource: "host", File: "b.log", Points: points(5, 5, 5)},
		}},
		Incidents: []Incident{{Root: Root{File: "a.log", Line: 50}}},
	}
	charts := readingCharts(&r)
	require.Len(t, charts, 2)
	assert.Equal(t, "GPU memory, allocated, 2 processes", charts[0].Title)
	assert.Equal(t, []string{"0.0,88.0 175.0,60.0 350.0,4.0", "0.0,60.0 175.0,60.0 350.0,60.0"}, charts[0].Lines)
	assert.InDelta(t, drawnWidth, charts[0].RootX, 0.01, "the axis reaches to the failure")
	assert.Equal(t, "step 0", charts[0].From)
	assert.Contains(t, charts[0].Text, "never lower")
	assert.Zero(t, charts[1].RootX, "another file's lines")
	assert.Contains(t, charts[1].Text, "always")
}

// TestTheBudgetIsDrawnBeforeAndAfterTheFirstChange leaves out what says little: less than half of the card.
func TestTheBudgetIsDrawnBeforeAndAfterTheFirstChange(t *testing.T) {
	t.Parallel()
	capacity, free, frees := int64(80<<30), int64(1<<30), int64(10<<30)
	in := Incident{
		Resource: "gpu", Ledger: &memory.Ledger{Capacity: &capacity, Free: &free}, Proposals: []Proposal{{FreesBytes: &frees}},
		Budget: []BudgetPart{{Part: "logits", Bytes: 20 << 30, Resource: "gpu"}, {Part: "weights", Bytes: 40 << 30, Resource: "gpu"}, {Part: "host_offload", Bytes: 90 << 30, Resource: "host"}},
	}
	s := stacksOf(&in)
	require.NotNil(t, s)
	require.Len(t, s.Bars, 2)
	assert.Contains(t, s.Bars[0].Parts[0].Text, "weights")
	assert.InDelta(t, 50, s.Bars[0].Parts[0].Width, 0.01)
	assert.InDelta(t, 62.5, s.Bars[1].Parts[0].Width, 0.01)
	assert.InDelta(t, 100, s.CapacityX, 0.01)
	in.Budget[1].Bytes = 1 << 30
	assert.Nil(t, stacksOf(&in))
}

func TestTheLogAroundTheRootIsInItsOrder(t *testing.T) {
	t.Parallel()
	in := Incident{
		Root:         Root{File: "a.log", Line: 40, Message: "out of memory"},
		Evidence:     []Evidence{{File: "a.log", Line: 12, Text: "a stage"}, {File: "b.log", Line: 13, Text: "elsewhere"}},
		Consequences: []Consequence{{File: "a.log", Line: 41, Message: "it ended"}, {File: "a.log", Line: 42}},
	}
	assert.Equal(t, []htmlLine{{12, "a stage", false}, {40, "out of memory", true}, {41, "it ended", false}}, linesAround(&in))
}

func TestThePageAsksNoNetworkForAnything(t *testing.T) {
	t.Parallel()
	for name, r := range samples(t) {
		assert.NotRegexp(t, regexp.MustCompile(`(?:src|url\()\s*=?\s*["']?https?:`), htmlPage(t, r), name)
	}
	assert.Contains(t, pageTemplate, "default-src 'none'")
}
