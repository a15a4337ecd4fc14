package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJSONEscapesWhatControlsATerminal(t *testing.T) {
	t.Parallel()
	const text = "a\x1b[2J\x7f\u009b1m\u202egnp\u2066\u2069\u200f\u061c ß 漢 <&>"
	for _, indent := range []string{"", "  "} {
		out, err := newEncoder().encode(map[string]string{"x": text}, "", indent)
		require.NoError(t, err)
		assert.False(t, bytes.ContainsFunc(out, isCode), "%q", out)
		assert.Contains(t, string(out), "ß 漢 <&>")
		var back map[string]string
		require.NoError(t, json.Unmarshal(out, &back))
		assert.Equal(t, text, back["x"])
	}
}

// FuzzEncode writes any text as JSON and reads it again.
func FuzzEncode(f *testing.F) {
	f.Add("a\u009b\u202e\\u0000\"")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		out, err := newEncoder().encode(text, "", "")
		require.NoError(t, err)
		assert.False(t, bytes.ContainsFunc(out, isCode), "%q", out)
		var back string
		require.NoError(t, json.Unmarshal(out, &back))
		assert.Equal(t, text, back)
	})
}
