package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReportsAreEncodedInPieces holds a report that is encoded list by list against the whole of it.
func TestReportsAreEncodedInPieces(t *testing.T) {
	t.Parallel()
	name := "verl <&>"
	for _, rep := range []Report{
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

// broken is a writer to which nothing can be written.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no room") }
