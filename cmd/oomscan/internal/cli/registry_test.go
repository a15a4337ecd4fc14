package cli

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/remedies"
)

func TestGuidesAndFrameworksKnowEachOther(t *testing.T) {
	t.Parallel()
	guides := remedies.Guides()
	for _, g := range guides {
		if g.Framework != "unknown" {
			assert.Equal(t, g.Framework, classifier.FrameworkByID(g.Framework).ID, "guide %s: add its framework to classifier/framework.go", g.ID)
		}
	}
	for _, id := range append(classifier.IDs(classifier.Framework), classifier.IDs(classifier.Application)...) {
		want := classifier.FrameworkByID(id).Guide
		assert.True(t, slices.ContainsFunc(guides, func(g remedies.Guide) bool {
			owner := classifier.FrameworkByID(g.Framework)
			return g.ID == want && (g.Framework == id || owner.Library || owner.Guide == want)
		}),
			"%s: there is no guide %q that says framework: %s, that of a library, or that of another program with this guide", id, want, id)
	}
}
