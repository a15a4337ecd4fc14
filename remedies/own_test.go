package remedies

import (
	"slices"
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
	hits, err := Search("pool_gib", *g)
	require.NoError(t, err)
	require.Len(t, hits, 1)
	all, err := Guides(*g)
	require.NoError(t, err)
	assert.Equal(t, "acme", all[len(all)-1].ID)
	_, err = Browse("acme", Query{})
	assert.Error(t, err)
}
