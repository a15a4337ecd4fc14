package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
)

// TestReportsAreEncodedInPieces holds a report that is encoded list by list against the whole of it.
func TestReportsAreEncodedInPieces(t *testing.T) {
	t.Parallel()
	name := "verl <&>"
	many := make([]Incident, 100)
	for i := range many {
		many[i].ID = strconv.Itoa(i)
	}
	for _, rep := range []Report{
		{Incidents: many},
		{},
		{Inputs: []Input{}, Incidents: []Incident{}, Job: "not told"},
		{
			Schema: Schema, Inputs: []Input{{Name: "a", Error: &name}, {Name: "b"}}, Partial: true,
			Run:       Run{Engine: &name, Config: map[string]Setting{"b": {}, "a": {Value: "\"{", Earlier: []Told{{}}}}},
			Incidents: []Incident{{ID: "1", Reports: []At{{}}}, {ID: "2", Findings: []string{}}},
		},
	} {
		var want, got bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		require.NoError(t, enc.Encode(&rep))
		require.NoError(t, JSON(&got, &rep))
		assert.Equal(t, want.String(), got.String())
	}
	require.Error(t, JSON(broken{}, &Report{}))
}

// TestIncidentsAreJoinedWithTheirRemedies holds what is put together on all processors against one incident after the other.
func TestIncidentsAreJoinedWithTheirRemedies(t *testing.T) {
	t.Parallel()
	free := int64(1 << 30)
	res := classifier.Result{Run: classifier.Run{Framework: "verl", Engine: "sglang"}, Incidents: make([]classifier.Incident, 50)}
	for i := range res.Incidents {
		in := classifier.Incident{ID: strconv.Itoa(i), Verdict: classifier.Memory, Kind: "gpu_oom", Resource: "gpu", Phase: "actor_backward"}
		if i%2 > 0 {
			in.Phase = "rollout"
			in.Root.Free = &free
		}
		res.Incidents[i] = in
	}
	got := New("v", nil, res)
	require.Len(t, got.Incidents, len(res.Incidents))
	for i := range res.Incidents {
		assert.Equal(t, incident(&res.Run, &res.Incidents[i]), got.Incidents[i])
		assert.NotEmpty(t, got.Incidents[i].Remedies)
	}
}

// broken is a writer to which nothing can be written.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no room") }
