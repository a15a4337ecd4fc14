package remedies

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuidesDecode(t *testing.T) {
	t.Parallel()
	gs, err := Guides()
	require.NoError(t, err)
	require.NotEmpty(t, gs)
}
