package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/report"
)

// failure is an incident with evidence on these lines of a.log.
func failure(id string, lines ...int) report.Incident {
	in := report.Incident{ID: id, Kind: "gpu_oom", Verdict: "memory", Resource: "gpu", Phase: "unknown", Repeats: len(lines) - 1}
	for _, n := range lines {
		in.Reports = append(in.Reports, report.At{File: "a.log", Line: n})
	}
	in.Root.File, in.Root.Line = "a.log", lines[0]
	return in
}

func followed(in report.Incident, kind string, line, count int) report.Incident {
	in.Consequences = append(in.Consequences, report.Consequence{Kind: kind, File: "a.log", Line: line, Count: count})
	return in
}

// newState is the state of a stream that is reported in a format, and what was written.
func newState(format string) (*streamState, *bytes.Buffer) {
	var b bytes.Buffer
	return &streamState{out: formats()[format].reporter(report.Output{Writer: &b, Style: report.Style{ASCII: true}}).(report.Live)}, &b
}

// lines are the ids of the lines of ndjson that were written, those of updates with a + before them.
func lines(t *testing.T, b *bytes.Buffer) string {
	t.Helper()
	var ids []string
	for line := range strings.Lines(b.String()) {
		var in struct {
			ID     string `json:"id"`
			Update *bool  `json:"update"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &in))
		require.NotNil(t, in.Update, "the key is always there")
		if *in.Update {
			in.ID = "+" + in.ID
		}
		ids = append(ids, in.ID)
	}
	b.Reset()
	return strings.Join(ids, " ")
}

func tell(t *testing.T, p *streamState, all bool, ins ...report.Incident) {
	t.Helper()
	require.NoError(t, p.printNew(&report.Report{Incidents: ins}, all))
}

func TestAnIncidentKeepsTheNameThatItWasToldUnder(t *testing.T) {
	t.Parallel()
	p, b := newState("ndjson")
	tell(t, p, true, failure("x", 5))
	assert.Equal(t, "x", lines(t, b))
	tell(t, p, true, failure("x", 5))
	assert.Empty(t, lines(t, b), "nothing is new")
	tell(t, p, true, failure("y", 3, 5)) // an earlier line turns out to tell of it: another root, another id
	assert.Equal(t, "+x", lines(t, b))
	tell(t, p, true, failure("y", 3, 5, 9), failure("z", 20))
	assert.Equal(t, "+x z", lines(t, b))
	tell(t, p, true, failure("y", 3, 5, 9, 20))
	assert.Equal(t, "+x", lines(t, b), "two that turn out to be one go on as the first")
}

func TestTwoIncidentsOfOneLineStayTwo(t *testing.T) {
	t.Parallel()
	p, b := newState("ndjson")
	for range 3 {
		tell(t, p, true, failure("x", 5), failure("y", 5))
	}
	assert.Equal(t, "x y", lines(t, b))
}

func TestWhatWasSuspectedMayBeAConsequenceLater(t *testing.T) {
	t.Parallel()
	p, b := newState("ndjson")
	s := failure("oom_kill@a.log:5", 5)
	s.Verdict = "suspect"
	tell(t, p, true, s)
	tell(t, p, true, followed(failure("gpu_oom@a.log:3", 3), "process_exit", 5, 1))
	assert.Equal(t, "oom_kill@a.log:5 +oom_kill@a.log:5", lines(t, b))
}

func TestUpdatesComeInIntervals(t *testing.T) {
	t.Parallel()
	p, b := newState("ndjson")
	tell(t, p, false, failure("x", 5))
	tell(t, p, false, failure("x", 5, 6))
	assert.Equal(t, "x", lines(t, b), "it was told a moment ago")
	assert.WithinDuration(t, time.Now().Add(updateEvery), p.updateDue, updateEvery/2)
	tell(t, p, true, failure("x", 5, 6))
	assert.Equal(t, "+x", lines(t, b), "at the end everything is told")
}

func TestTextTellsWhatHasCome(t *testing.T) {
	t.Parallel()
	p, b := newState("text")
	tell(t, p, true, failure("x", 5))
	assert.Equal(t, 1, strings.Count(b.String(), "OUT OF MEMORY"))
	b.Reset()
	in := followed(failure("x", 5, 6, 7), "process_exit", 9, 3)
	tell(t, p, true, in)
	assert.Equal(t, "  update    a.log:5 (gpu_oom): same error 2 more times, process exits logged 3 times at a.log:9\n", b.String())
	b.Reset()
	in.Consequences[0].Count = 4
	in.Survived = true
	tell(t, p, true, in)
	assert.Equal(t, "  update    a.log:5 (gpu_oom): a process exited, survived: the run went on\n", b.String())
	b.Reset()
	in.Findings = []string{"a sentence"}
	tell(t, p, true, in)
	assert.Empty(t, b.String(), "what people would not notice is told in the final answer alone")
}

func TestAnUpdateSaysTheChangedPartsUnderTheFirstName(t *testing.T) {
	t.Parallel()
	p, b := newState("text")
	in := failure("x", 5)
	in.Verdict, in.Root.File = "memory", "a.log"
	tell(t, p, true, in)
	b.Reset()
	in.Root.File, in.Root.Line = "dmesg.txt", 77 // the kernel's log tells more
	in.Root.PID, in.Root.OwnBytes, in.Root.Host = new(4711), new(int64(3<<30)), new("node7")
	in.Cause = &report.Why{ID: "host_load", Text: "Every rank loads the whole model."}
	in.Proposals = []report.Proposal{{Changes: []report.Change{{Key: "low_cpu_mem", To: new("true")}}}}
	tell(t, p, true, in)
	assert.Equal(t, `  update    a.log:5 (gpu_oom)
  process   pid 4711 on node7
  figures   the process held 3 GiB
  why       Every rank loads the whole model.
  try first low_cpu_mem=true
`, strings.ReplaceAll(b.String(), "\u00a0", " "))
	b.Reset()
	tell(t, p, true, in)
	assert.Empty(t, b.String(), "nothing is new")
}

func TestWhatIsProvenNowIsTold(t *testing.T) {
	t.Parallel()
	p, b := newState("text")
	s := failure("x", 5)
	s.Verdict = "suspect"
	tell(t, p, true, s)
	b.Reset()
	tell(t, p, true, failure("x", 5, 8))
	assert.Contains(t, b.String(), "OUT OF MEMORY")
	assert.Contains(t, b.String(), "update")
}
