package lazyre_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/lazyre"
)

func TestNewCompilesOnceAndOnFirstUse(t *testing.T) {
	t.Parallel()
	digits := lazyre.New(`^\d+$`)
	assert.True(t, digits().MatchString("12"))
	assert.False(t, digits().MatchString("x"))
	assert.Same(t, digits(), digits())
	broken := lazyre.New(`(`)
	assert.Panics(t, func() { broken() })
}
