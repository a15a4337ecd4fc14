package cause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestProcessesOfOneNameAreToldTogether covers a kernel's table of a machine whose memory is known.
func TestProcessesOfOneNameAreToldTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held []Holder
		want string
	}{
		"several that hold most of it":        {[]Holder{{"java", 30 << 30}, {"python", 25 << 30}, {"python", 20 << 30}, {"python", 21 << 30}}, "3 processes named python held 66.00 GiB of 100.00 GiB together; the log does not show why"},
		"several that hold little":            {[]Holder{{"java", 30 << 30}, {"python", 15 << 30}, {"python", 10 << 30}}, ""},
		"more than there is, which is shared": {[]Holder{{"python", 60 << 30}, {"python", 60 << 30}}, ""},
		"each another":                        {[]Holder{{"java", 50 << 30}, {"python", 45 << 30}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := failure("host", "training", func(in *Input) { in.Holders, in.NodeRAM = c.held, bytes(100) })
			assert.Equal(t, c.want, in.together())
		})
	}
}
