package memory

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTheSmallestCardHasAtLeastAsMuch asks for cards by what they must hold.
func TestTheSmallestCardHasAtLeastAsMuch(t *testing.T) {
	t.Parallel()
	for gib, want := range map[int64]float64{70: 79, 79: 79, 80: 95, 40: 44.3, 200: 0} {
		size, ok := CardOfAtLeast(gib << 30)
		assert.Equal(t, want > 0, ok)
		assert.Equal(t, int64(want*(1<<30)), size)
	}
}
