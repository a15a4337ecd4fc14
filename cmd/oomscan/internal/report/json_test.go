package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheDocumentIsWhatEncodingJSONWrites holds a report that is written field by field against the whole of it.
func TestTheDocumentIsWhatEncodingJSONWrites(t *testing.T) {
	t.Parallel()
	name := "verl <&>"
	for _, rep := range []Report{
		{Inputs: []Input{}, Incidents: []Incident{}, Job: "of several"},
		{Incidents: make([]Incident, 100)},
		{
			Schema: Schema, Inputs: []Input{{Name: "a", Error: &name}, {Name: "b"}}, Partial: true,
			Run:       Run{Engine: &name, Config: map[string]Setting{"b": {}, "a": {Value: "\"{", Earlier: []Earlier{{}}}}},
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
	require.EqualError(t, JSON(brokenPipe{}, &Report{}), "broken pipe")
}

// TestEveryKeyOfAReportIsWritten fails when a field is added to Report and not to the document.
func TestEveryKeyOfAReportIsWritten(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, JSON(&b, &Report{}))
	var keys map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(b.Bytes(), &keys))
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Report]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			assert.Contains(t, keys, name)
		}
	}
}
