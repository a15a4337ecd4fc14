package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser/obs"
)

func TestJSONEscapesWhatControlsATerminal(t *testing.T) {
	t.Parallel()
	const codes = "\x1b\x7f\u009b\u202e\u2066\u2069\u200f\u061c\U000e0049\U000e0067"
	const text = "a[2J" + codes + "1m ß 漢 <&>"
	for _, indent := range []string{"", "  "} {
		out, err := newEncoder().encode(map[string]string{"x": text}, "", indent)
		require.NoError(t, err)
		assert.False(t, bytes.ContainsAny(out, codes), "%q", out)
		assert.Contains(t, string(out), "ß 漢 <&>")
		var back map[string]string
		require.NoError(t, json.Unmarshal(out, &back))
		assert.Equal(t, text, back["x"])
	}
}

// FuzzEncode writes any text as JSON, reads it again, and indents it as the standard library does.
func FuzzEncode(f *testing.F) {
	f.Add("a\u009b\u202e\\u0000\"")
	f.Add(`{"[\\", : ]}`)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		v := []any{text, map[string]any{text: []any{}, "a": map[string]any{}, "b": 1.5, "c": []any{nil, true}}}
		out, err := newEncoder().encode(v, "", "")
		require.NoError(t, err)
		assert.Equal(t, out, obs.EscapeCodes(out))
		var back []any
		require.NoError(t, json.Unmarshal(out, &back))
		assert.Equal(t, text, back[0])
		var want bytes.Buffer
		require.NoError(t, json.Indent(&want, out, "  ", "\t"))
		indented, err := newEncoder().encode(v, "  ", "\t")
		require.NoError(t, err)
		assert.Equal(t, want.String(), string(indented))
	})
}
