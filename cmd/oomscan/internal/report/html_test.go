package report

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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
	byLine := timelineOf(&Incident{Kind: "gpu_oom", Phase: "backward", Root: Root{File: "a.log", Line: 40, Rank: new(2)}, Consequences: followed})
	require.NotNil(t, byLine)
	require.Len(t, byLine.Rows, 2, "another file's lines are on no axis, and what stands before did not follow")
	assert.Equal(t, "rank 2: out of GPU memory", byLine.Rows[0].Label)
	assert.Equal(t, "in the backward pass", byLine.Phase)
	assert.InDelta(t, lastPercent, byLine.Rows[1].Marks[0], 0.01)
	assert.InDelta(t, (rootPercent+lastPercent)/2.0, byLine.Rows[1].Marks[1], 0.01)
	assert.Contains(t, byLine.Caption, "lines 40 to 60 of a.log")

	byTime := timelineOf(&Incident{Kind: "gpu_oom", Root: Root{File: "c.log", Line: 40, Time: at(0)}, Consequences: followed})
	require.NotNil(t, byTime)
	assert.InDelta(t, rootPercent+(lastPercent-rootPercent)/3.0, byTime.Rows[1].Marks[1], 0.01)
	assert.Empty(t, byTime.Phase, "an unknown phase has no band")

	assert.Nil(t, timelineOf(&Incident{Kind: "gpu_oom", Root: Root{File: "c.log", Line: 40}, Consequences: followed}), "no axis: no drawing")
}

// TestTheBudgetIsDrawnBeforeAndAfterTheFirstChange leaves out what says little: less than half of the card.
func TestTheBudgetIsDrawnBeforeAndAfterTheFirstChange(t *testing.T) {
	t.Parallel()
	capacity, free, frees := int64(80<<30), int64(1<<30), int64(10<<30)
	in := Incident{
		Resource: "gpu", Ledger: &memory.Ledger{Capacity: &capacity, Free: &free}, Proposals: []Proposal{{Frees: &frees}},
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

// TestABrowserShowsThePage has a headless browser run the page's script. What it complains about goes to its log.
func TestABrowserShowsThePage(t *testing.T) {
	t.Parallel()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Log("without chromium nothing shows the page")
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	var b strings.Builder
	h := NewHTML(Output{Writer: &b})
	a := &Answer{Version: "v1", Several: true}
	require.NoError(t, h.Begin(a))
	for _, name := range []string{"gpu_oom", "suspect"} {
		r := samples(t)[name]
		require.NoError(t, h.Job(&Job{Name: name, Report: r}))
		a.Briefs = append(a.Briefs, r.Brief(name, "", ""))
	}
	a.Summary = Summarize(a.Briefs)
	require.NoError(t, h.End())
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--user-data-dir="+dir, "--dump-dom", "file://"+path)
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	require.NoError(t, cmd.Run(), log.String())
	assert.NotContains(t, log.String(), "CONSOLE", "a complaint about the page")
	assert.NotRegexp(t, `<button[^>]* hidden`, out.String(), "the script shows the buttons")
	assert.Contains(t, out.String(), `<th><button type="button">first failure</button></th>`)
}

func TestThePageAsksNoNetworkForAnything(t *testing.T) {
	t.Parallel()
	for name, r := range samples(t) {
		assert.NotRegexp(t, regexp.MustCompile(`(?:src|url\()\s*=?\s*["']?https?:`), htmlPage(t, r), name)
	}
	assert.Contains(t, pageTemplate, "default-src 'none'")
}
