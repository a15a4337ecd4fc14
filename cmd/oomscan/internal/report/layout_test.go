package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLayoutIsThatOfTheLibrary lays documents out that are cut anywhere, and holds them against [json.Indent].
func TestLayoutIsThatOfTheLibrary(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, doc := range []string{
		`{}`, `[]`, `[[],{}]`, `{"a":{},"b":[],"c":[1,2.5e-3,null,true],"d":{"e":[{"f":"g"}]}}`, ` { "a" : [ 1 , "b" ] , "c" : "" } `, `"text"`, `12`,
		`{"a\"b":"{[,:]}\\","\\":"\\\"","é":"\u00e9 \n"}`, `[[[[[[{"a":[[]]}]]]]]]`,
	} {
		for _, prefix := range []string{"", "    "} {
			var want bytes.Buffer
			require.NoError(t, json.Indent(&want, []byte(doc), prefix, "  "))
			for range 20 {
				var got bytes.Buffer
				l := newLayout(&got, prefix)
				for rest := []byte(doc); len(rest) > 0; {
					n := 1 + r.IntN(len(rest))
					_, err := l.Write(rest[:n])
					require.NoError(t, err)
					rest = rest[n:]
				}
				require.NoError(t, l.out.Flush())
				assert.Equal(t, string(bytes.TrimSpace(want.Bytes())), got.String())
			}
		}
	}
}

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
