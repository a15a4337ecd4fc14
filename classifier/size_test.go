package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSizesHaveTheUnitThatFits(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", -1: "-1 byte", 2: "2 bytes", 2048: "2 KiB", 3 << 19: "1.5 MiB", 5 << 29: "2.50 GiB"} {
		assert.Equal(t, want, GiB(n))
	}
}
