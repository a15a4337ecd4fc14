package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// issue is the Markdown of reports.
func issue(t testing.TB, reports ...*Report) string {
	t.Helper()
	var b bytes.Buffer
	m := NewMarkdown(Output{Writer: &b})
	require.NoError(t, m.Begin(&Answer{}))
	for _, r := range reports {
		require.NoError(t, m.Job(&Job{Report: r}))
	}
	require.NoError(t, m.End())
	return b.String()
}

func TestAnIssueHasTheAnswerAndClosesWhatItOpens(t *testing.T) {
	t.Parallel()
	for name, r := range samples(t) {
		got := issue(t, r)
		assert.Equal(t, strings.Count(got, "<details>"), strings.Count(got, "</details>"), name)
		open := ""
		for l := range strings.Lines(got) {
			switch f := fenceOf(l); {
			case open == "" && f != "":
				open = f
			case open != "" && f == open:
				open = ""
			}
		}
		assert.Empty(t, open, name)
		for i := range r.Incidents {
			if x := r.Incidents[i].Cause; x != nil {
				assert.Contains(t, got, "**WHY**", name)
			}
		}
	}
}

func TestAnIssueIsNeverLongerThanOneMayBe(t *testing.T) {
	t.Parallel()
	r := samples(t)["gpu_oom"]
	many := *r
	for range 400 {
		many.Incidents = append(many.Incidents, r.Incidents[0])
	}
	got := issue(t, &many)
	assert.Less(t, utf8.RuneCountInString(got), 65_536)
	assert.Contains(t, got, wordCut)
	assert.Less(t, utf8.RuneCountInString(issue(t, hostile())), 65_536)
}
