package source

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAHeadingBetweenSignsWasNotBroken(t *testing.T) {
	t.Parallel()
	assert.False(t, isSurelyBroken([]byte("== build info =="), []byte("torch 2.7.1")))
	assert.True(t, isSurelyBroken([]byte("    assert self.batch_size =="), []byte("other.batch_size")))
}
