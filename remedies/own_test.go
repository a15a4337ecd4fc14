package remedies

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const acme = `id: acme
name: Acme
title: Acme's own checklist
framework: acme
seen: acme-rl 2.3
lists:
  - id: gpu
    heading: Acme, GPU memory
    resources: [gpu]
    items: [acme.pool]
items:
  - id: acme.pool
    title: Make the pool smaller
    why: The pool is never given back.
    section: runbook
    parameters:
      - {key: pool_gib, surface: yaml, direction: down, next: halve}
`

func TestTheUsersOwnGuideStandsFirst(t *testing.T) {
	t.Parallel()
	g, err := ReadGuide("rules/acme.yaml", []byte(acme))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		framework, application string
		own, builtin           bool // whose items are listed
	}{
		"a run of the application": {"verl", "acme", true, true},
		"another run":              {"verl", "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(c.framework, "pool_gib", "8")
			r.Application = c.application
			list := For(r, gpuOOM("backward"), *g)
			require.NotEmpty(t, list.Remedies)
			assert.Equal(t, c.own, list.Remedies[0].ID == "acme.pool")
			if c.own {
				require.NotEmpty(t, list.Remedies[0].Changes)
				assert.Equal(t, "4", *list.Remedies[0].Changes[0].To)
			}
			assert.Equal(t, c.builtin, slices.ContainsFunc(list.Remedies, func(r Remedy) bool { return r.ID == "verl.gradient-checkpointing" }))
		})
	}
}

func TestTheUsersOwnGuideIsShownAndFound(t *testing.T) {
	t.Parallel()
	g, err := ReadGuide("acme.yaml", []byte(acme))
	require.NoError(t, err)
	b, err := Browse("acme", Query{Phase: "backward"}, *g)
	require.NoError(t, err)
	require.Len(t, b.Chapters, 1)
	require.Len(t, Search("pool_gib", *g), 1)
	all := Guides(*g)
	assert.Equal(t, "acme", all[len(all)-1].ID)
	_, err = Browse("acme", Query{})
	assert.Error(t, err)
}

func TestAGuideIsYAML(t *testing.T) {
	t.Parallel()
	want, err := ReadGuide("acme.yaml", []byte(acme))
	require.NoError(t, err)
	commented := strings.NewReplacer("[gpu]\n", "[gpu] # the card\n", "[acme.pool]\n", "[acme.pool]   # in order\n", "halve}\n", "halve} # safe\n").Replace(acme)
	for name, text := range map[string]string{
		"comments behind lists": commented,
		"a list over two lines": strings.Replace(acme, "[acme.pool]", "[\n      acme.pool,\n    ]", 1),
		"no blank in brackets":  strings.Replace(acme, "surface: yaml, ", "surface: yaml,\n         ", 1),
	} {
		got, err := ReadGuide("acme.yaml", []byte(text))
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
}

func TestAMistakeInAGuideIsAnErrorWithItsLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "acme.yaml:1: the file is empty",
		acme + "---\n" + acme:     "acme.yaml: more than one document",
		acme + "  - id: \"open\n": "acme.yaml:18: found unexpected end of stream",
		acme + "    caution: a\n    caution: b\n": "acme.yaml:19: mapping key \"caution\" already defined at line 18",
		acme + "    warning: a\n":                 "acme.yaml:18: unknown field \"warning\"",
		acme + "    addition: perhaps\n":          "acme.yaml:18: cannot unmarshal",
		"id: " + strings.Repeat("[", 1<<18):       "acme.yaml:1: exceeded max depth",
	} {
		_, err := ReadGuide("acme.yaml", []byte(text))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want)
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
