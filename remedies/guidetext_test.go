package remedies

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGuidesAreReadAsAGeneralDecoderReadsThem(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"guides/*.yaml", "guides/manual/*.yaml"} {
		names, err := fs.Glob(files, pattern)
		require.NoError(t, err)
		require.NotEmpty(t, names)
		for _, name := range names {
			text, err := files.ReadFile(name)
			require.NoError(t, err)
			if strings.Contains(name, "/manual/") {
				sameAsYAML[Manual](t, name, text)
			} else {
				sameAsYAML[Guide](t, name, text)
			}
		}
	}
}

func sameAsYAML[T any](t *testing.T, name string, text []byte) {
	t.Helper()
	var want, got T
	require.NoError(t, yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&want), name)
	require.NoError(t, decodeText(name, text, &got))
	assert.Equal(t, want, got, name)
}

func TestWhatGuidesMayNotHoldIsAnErrorWithItsLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"id: g\nname: \"open\n":                 "g.yaml:2: a quote is open",
		"id: g\nname: 'open\n":                  "g.yaml:2: a quote is open",
		"id: g\nname: \"a\" b\n":                "g.yaml:2: \"\\\"a\\\" b\": more than one value",
		"id: g\nname:\n":                        "g.yaml:2: name has no value",
		"id: g\n  name: a\n":                    "g.yaml:2: this line does not belong here",
		"id: g\nlists:\n  - {id: a\n":           "g.yaml:3: a bracket is open",
		"id: g\nlists:\n  - {id: a, items: [,]": "g.yaml:3: a value is missing",
		"id: g\nlists:\n  - {A: a}\n":           "g.yaml:3: no key in braces",
		"id: g\ndocument: perhaps\n":            "g.yaml:1:",
		"id: " + strings.Repeat("[", 1<<18):     "g.yaml:1: brackets are nested too deep",
	} {
		err := decodeText("g.yaml", []byte(text), &Guide{})
		require.Error(t, err, text)
		assert.True(t, strings.HasPrefix(err.Error(), want), "%s: %v", text, err)
	}
}

func FuzzReadGuide(f *testing.F) {
	f.Add([]byte(acme))
	f.Add([]byte("- a\n- {b: [c, 'd', \"e\"]}\n"))
	f.Add([]byte("id: >-\n  a\n\n  b\nlists:\n"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if g, err := ReadGuide("acme.yaml", text); err == nil {
			assert.Equal(t, "acme", g.ID)
		} else {
			assert.True(t, strings.HasPrefix(err.Error(), "acme.yaml:"), err)
		}
	})
}
