package phase_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier/phase"
	"oomscan/parser/traceback"
)

// The reader below is naive on purpose: it only serves to get stacks out of the labelled logs.
var (
	fixAnsi   = regexp.MustCompile("\x1b\\[[0-9;]*m|\\[(?:36|39|0)m")
	fixPrefix = regexp.MustCompile(`^(?:\([^)]*pid=[^)]*\) ?|\([A-Za-z_0-9 ]+\) |\[rank\d+\]:(?: |$)|\d+: |ERROR [\d-]+ [\d:.]+ (?:\[[^\]]+\] )?|\[\d{4}-[^\]]+\] )`)
	fixFile   = regexp.MustCompile(`^\s*File "(.+)", line (\d+)(?:, in (\S.*))?$`)
	fixOOM    = regexp.MustCompile(`^\S*(?:OutOfMemoryError|MemoryError|RuntimeError|XlaRuntimeError)\b.*(?i:out of memory|unable to allocate|can't allocate memory|resource_exhausted)`)
)

// fixStacks returns the stacks that end in a line about memory, per stream.
func fixStacks(log string) [][]traceback.Frame {
	open := map[string][]traceback.Frame{}
	var found [][]traceback.Frame
	for _, text := range strings.Split(log, "\n") {
		text = fixAnsi.ReplaceAllString(strings.TrimRight(text, "\r"), "")
		stream := ""
		for range 4 {
			p := fixPrefix.FindString(text)
			if p == "" {
				break
			}
			if !strings.HasPrefix(p, "ERROR") && !strings.HasPrefix(p, "[2") {
				stream += p
			}
			text = text[len(p):]
		}
		stream = strings.TrimSpace(stream)
		switch frames := open[stream]; {
		case strings.Contains(text, "Traceback (most recent call last)"),
			strings.Contains(text, "ray::") && strings.Contains(text, "pid="):
			open[stream] = []traceback.Frame{}
		case frames == nil:
		case fixFile.MatchString(text):
			m := fixFile.FindStringSubmatch(text)
			open[stream] = append(frames, traceback.Frame{File: m[1], Func: m[3]})
		case fixOOM.MatchString(strings.TrimSpace(text)):
			if len(frames) > 0 {
				found = append(found, frames)
			}
			delete(open, stream)
		case len(frames) > 0 && frames[len(frames)-1].Code == "" && strings.HasPrefix(text, "    "):
			frames[len(frames)-1].Code = strings.TrimSpace(text)
		}
	}
	return found
}

func TestStacksOfTheLabelledLogsGetTheirPhase(t *testing.T) {
	t.Parallel()
	labels, err := filepath.Glob("../../fixtures/cases/*/expect.json")
	require.NoError(t, err)
	if len(labels) == 0 {
		t.Skip("no labelled logs here")
	}
	stacks := 0
	for _, label := range labels {
		raw, err := os.ReadFile(label)
		require.NoError(t, err)
		var want struct {
			Incidents []struct {
				Phase   string   `json:"phase"`
				PhaseOK []string `json:"phase_ok"`
				File    string   `json:"file"`
			} `json:"incidents"`
		}
		require.NoError(t, json.Unmarshal(raw, &want))
		for _, name := range logsOf(t, filepath.Dir(label)) {
			var allowed, exact []string
			for _, in := range want.Incidents {
				if in.File == filepath.Base(name) {
					allowed = append(append(allowed, in.Phase), in.PhaseOK...)
					exact = append(exact, in.Phase)
				}
			}
			if allowed == nil {
				continue
			}
			log, err := os.ReadFile(name)
			require.NoError(t, err)
			for i, frames := range fixStacks(string(log)) {
				stacks++
				got, ok := phase.FromFrames(frames)
				last := frames[len(frames)-1]
				if !assert.True(t, ok, "%s: stack %d ending in %s %s", name, i, last.File, last.Func) {
					continue
				}
				assert.Contains(t, allowed, got.Phase, "%s: stack %d: %s", name, i, got.Why)
				t.Logf("%-55s %-13s %-6s exact=%v %s", filepath.Base(filepath.Dir(name)), got.Phase, got.Confidence, slices.Contains(exact, got.Phase), got.Why)
			}
		}
	}
	assert.Greater(t, stacks, 20, "the reader found hardly any stack")
}

func logsOf(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	return slices.DeleteFunc(names, func(n string) bool { return filepath.Base(n) == "expect.json" })
}
