package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWordings holds short logs of many programs against what a reader concludes from them. Each case of a file of
// fixtures/wordings begins with a line `== NAME | KEY=VALUE | ...`: a key of the run, of its first incident or of that
// one's root, as the JSON report has them, with the values that are right. `set:NAME` is a setting, `has` is
// text that the report of the incident holds, and \r in a log is a carriage return.
func TestWordings(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../fixtures/wordings/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		cases := strings.Split("\n"+string(raw), "\n== ")[1:]
		require.GreaterOrEqual(t, len(cases), 10, name)
		for i, c := range cases {
			if testing.Short() && i%8 != 0 {
				continue // the race detector sees enough of them
			}
			head, log, _ := strings.Cut(c, "\n")
			labels := strings.Split(head, " | ")
			t.Run(filepath.Base(name)+"/"+labels[0], func(t *testing.T) {
				t.Parallel()
				require.Greater(t, len(labels), 1)
				says := reported(t, strings.ReplaceAll(log, `\r`, "\r")+"\n")
				for _, l := range labels[1:] {
					key, want, ok := strings.Cut(l, "=")
					require.True(t, ok, l)
					if key == "has" {
						assert.Contains(t, norm(says[key]), want)
					} else {
						var right []any
						for w := range strings.SplitSeq(want, ",") {
							right = append(right, w)
						}
						assert.Contains(t, texts(right), norm(says[key]), key)
					}
				}
			})
		}
	}
}

// reported is what the JSON report of a log says, under the keys of the labels.
func reported(t *testing.T, log string) map[string]any {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.log"), []byte(log), 0o600))
	_, r := scan(t, dir, "run.log")
	says := map[string]any{"verdict": "none"}
	add := func(v any) []byte {
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &says))
		return raw
	}
	add(r.Run)
	for name, s := range r.Run.Config {
		says["set:"+name] = s.Value
	}
	if len(r.Incidents) > 0 {
		in := &r.Incidents[0]
		raw := add(in)
		add(in.Root)
		if in.Ledger != nil {
			says["contradiction"] = value(in.Ledger.Contradiction)
		}
		says["has"] = string(raw)
	}
	says["incidents"] = len(r.Incidents)
	return says
}
