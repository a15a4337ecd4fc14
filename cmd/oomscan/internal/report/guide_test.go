package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/remedies"
)

// every calls a test for each guide, whole and narrowed.
func every(t *testing.T, test func(t *testing.T, g *Guide)) {
	t.Helper()
	gs := remedies.Guides()
	for i := range gs {
		for name, q := range map[string]remedies.Query{
			"whole": {}, "backward": {Phase: "backward"}, "host": {Resource: "host"},
			"hostile settings": {Settings: map[string]classifier.Value{
				"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": {Value: "8```\x1b[31m|<b>"}, "enable_gradient_checkpointing": {Value: "True"},
			}},
		} {
			t.Run(gs[i].ID+"/"+name, func(t *testing.T) {
				t.Parallel()
				b, err := remedies.Browse(gs[i].ID, q)
				require.NoError(t, err)
				g := NewGuide(b, q)
				test(t, &g)
			})
		}
	}
}

func TestGuideTextFitsTheScreenAndHoldsEveryItem(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, g *Guide) {
		whole := g.wholes()
		for _, width := range []int{60, 80, 120} {
			var b bytes.Buffer
			require.NoError(t, guideText(&b, g.Page(), Style{Width: width}))
			for l := range strings.Lines(b.String()) {
				long := measure(strings.TrimRight(l, "\n")) > width && !strings.Contains(whole, strings.TrimSpace(l))
				assert.False(t, long, l)
			}
			assert.NotContains(t, b.String(), "\x1b")
			flat := strings.Join(strings.Fields(b.String()), " ")
			for _, list := range g.Lists {
				for _, x := range list.Items {
					assert.Contains(t, flat, x.Title)
				}
			}
		}
	})
}

// wholes is what is to be pasted or clicked, which is never broken over lines.
func (g *Guide) wholes() string {
	var b strings.Builder
	for _, s := range g.Page().sections {
		for _, e := range s.entries {
			b.WriteString(e.code + "\n")
			for _, l := range e.lines {
				if l.kind == pasted || l.kind == link {
					b.WriteString(l.text + "\n")
				}
			}
		}
	}
	return b.String()
}

func TestGuideMarkdownClosesItsFencesAndEscapes(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, g *Guide) {
		var b bytes.Buffer
		require.NoError(t, guideMarkdown(&b, g.Page(), Style{}))
		open := ""
		for l := range strings.Lines(b.String()) {
			switch f := fenceOf(l); {
			case open == "" && f != "":
				open = f
			case open != "" && f == open:
				open = ""
			case open == "":
				assert.NotContains(t, strings.ReplaceAll(strings.ReplaceAll(l, "<http", ""), "`", ""), "<b>")
			}
		}
		assert.Empty(t, open, "an open fence")
		assert.NotContains(t, b.String(), "\x1b")
	})
}

// fenceOf is the fence that a line begins with.
func fenceOf(l string) string {
	l = strings.TrimLeft(l, " ")
	n := len(l) - len(strings.TrimLeft(l, "`"))
	if n < 3 {
		return ""
	}
	return l[:n]
}

func TestGuideJSONHasNoNullLists(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, g *Guide) {
		var b bytes.Buffer
		require.NoError(t, guideJSON(&b, g.Page(), Style{}))
		var back map[string]any
		require.NoError(t, json.Unmarshal(b.Bytes(), &back))
		for _, k := range []string{"lists", "diagnosis", "parameters", "steps", "templates", "messages", "goals", "compared", "notes"} {
			assert.IsType(t, []any{}, back[k], k)
		}
		assert.NotContains(t, b.String(), `"items": null`)
		assert.NotContains(t, b.String(), `"spellings": null`)
	})
}
