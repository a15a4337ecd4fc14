package stream

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestKernelWordsLeadToTheirLines keeps reports of the kernel from being skipped: each word is part of a literal or holds one.
func TestKernelWordsLeadToTheirLines(t *testing.T) {
	t.Parallel()
	for _, w := range []string{"oom-kill:constraint=", "Killed process 1 ", "Kill process 1 (a) score 1 or sacrifice child"} {
		assert.NotEmpty(t, builtin().finder.Scan([]byte(w), 0, len(w), nil), w)
	}
}
