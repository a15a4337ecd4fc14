package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	ansi  = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]`)
	coats = regexp.MustCompile(`^(?:\([A-Za-z][^()]*(?:\([^()]*\)[^()]*)* pid=\d+[^)]*\) ?|\[rank\d+\]: ?)+`)
	tails = regexp.MustCompile(` \[repeated \d+x across cluster\].*$`)
)

// TestLabelledCases reads whole logs with their coats taken off roughly, and wants every labelled setting.
func TestLabelledCases(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("../../fixtures/cases/*/expect.json")
	require.NoError(t, err)
	if len(folders) == 0 {
		t.Skip("no labelled cases here")
	}
	for _, file := range folders {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			labels := struct {
				Config   map[string]any   `json:"config"`
				ConfigOK map[string][]any `json:"config_ok"`
			}{}
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(raw, &labels))
			got := readCase(t, dir)
			for key, want := range labels.Config {
				value, ok := lookup(got, key)
				if !assert.True(t, ok, "%s is not told", key) {
					continue
				}
				accepted := []string{norm(want)}
				for _, v := range labels.ConfigOK[key] {
					accepted = append(accepted, norm(v))
				}
				assert.Contains(t, accepted, norm(value), key)
			}
		})
	}
}

// readCase returns the settings of all logs of a case, the last one of each key.
func readCase(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	logs, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, log := range logs {
		if log.Name() == "expect.json" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, log.Name()))
		require.NoError(t, err)
		streams := map[string]*Reader{}
		for i, line := range bytes.Split(raw, []byte("\n")) {
			line = tails.ReplaceAll(ansi.ReplaceAll(line, nil), nil)
			coat := coats.Find(line)
			r := streams[string(coat)]
			if r == nil {
				r = &Reader{}
				streams[string(coat)] = r
			}
			for _, p := range r.Feed(i+1, line[len(coat):]) {
				got[p.Key] = p.Value
				if os.Getenv("SETTINGS_VERBOSE") != "" {
					fmt.Printf("%s:%d %s %s = %s\n", filepath.Base(dir), p.Line, p.Form, p.Key, p.Value)
				}
			}
		}
	}
	return got
}

func lookup(got map[string]string, key string) (string, bool) {
	if v, ok := got[key]; ok {
		return v, true
	}
	want := normKey(key)
	for k, v := range got {
		if k := normKey(k); k == want || strings.HasSuffix(k, "."+want) || strings.HasSuffix(want, "."+k) {
			return v, true
		}
	}
	return "", false
}

func normKey(k string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.TrimLeft(strings.ToLower(k), "-+"))
}

func norm(v any) string {
	s := strings.Trim(strings.TrimSpace(fmt.Sprint(v)), `'"`)
	switch low := strings.ToLower(s); low {
	case "true", "false", "none":
		return low
	case "null", "<nil>":
		return "none"
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return s
}
