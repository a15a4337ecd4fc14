package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/remedies/cause"
)

func TestFixesReadAndNameFactsThatExist(t *testing.T) {
	g := fixes()
	require.NotEmpty(t, g.Items)
	for _, it := range g.Items {
		conditions := append(append([]string{}, it.Only...), it.Requires...)
		changes := make([]Change, 0, len(it.Parameters))
		for _, p := range it.Parameters {
			conditions = append(append(conditions, p.When...), p.Only...)
			changes = append(changes, Change{Key: p.Key, Direction: p.Direction})
			assert.Contains(t, append(ruleNames(), ""), p.Next, it.ID)
		}
		for _, c := range conditions {
			_, err := parseCondition(c)
			assert.NoError(t, err, it.ID)
		}
		assert.NotNil(t, leverOf(it.Topic, changes), "%s attacks nothing", it.ID)
	}
}

func ruleNames() []string {
	var out []string
	for name := range rules() {
		out = append(out, name)
	}
	return out
}

func TestEveryCauseHasLeversThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, l := range levers {
		assert.False(t, known[l.id], "%s stands twice", l.id)
		known[l.id] = true
	}
	for _, id := range cause.IDs() {
		assert.NotEmpty(t, attacks[id], id)
		for _, l := range attacks[id] {
			assert.True(t, known[l], "%s: no lever %s", id, l)
		}
	}
	assert.Len(t, attacks, len(cause.IDs()))
}
