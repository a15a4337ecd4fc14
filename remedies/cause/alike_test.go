package cause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestProcessesOfOneNameAreToldTogether covers a kernel's table of a machine whose memory is known.
func TestProcessesOfOneNameAreToldTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held    []Holder
		want    string
		biggest Processes
	}{
		"many that hold little each":          {[]Holder{{"java", 30 << 30}, {"python", 5 << 30}}, "12 processes named python held 60.00 GiB of 100.00 GiB together; the log does not show why", Processes{"python", 12, 60 << 30}},
		"several that hold most of it":        {[]Holder{{"java", 30 << 30}, {"python", 25 << 30}, {"python", 20 << 30}, {"python", 21 << 30}}, "3 processes named python held 66.00 GiB of 100.00 GiB together; the log does not show why", Processes{}},
		"several that hold little":            {[]Holder{{"java", 30 << 30}, {"python", 15 << 30}, {"python", 10 << 30}}, "", Processes{}},
		"more than there is, which is shared": {[]Holder{{"python", 60 << 30}, {"python", 60 << 30}}, "", Processes{}},
		"each another":                        {[]Holder{{"java", 50 << 30}, {"python", 45 << 30}}, "", Processes{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := failure("host", "training", func(in *Input) { in.Holders, in.NodeRAM, in.Biggest = c.held, bytes(100), c.biggest })
			assert.Equal(t, c.want, in.together())
		})
	}
}
